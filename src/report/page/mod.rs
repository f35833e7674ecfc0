//! The report of a library: one HTML file that needs no network, and a summary in Markdown. `view` chooses what is shown,
//! the templates say how. All text from outside is escaped by the template engine.

mod diff;
mod graph;
mod markdown;
mod marks;
mod progress;
mod view;

pub use markdown::markdown;

use super::plot::plot;
use crate::survey::Survey;
use jiff::Timestamp;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};
use view::{FunctionView, Summary};

const PAGE: &str = include_str!("../../../templates/report/page.html.j2");
const STYLE: &str = include_str!("../../../templates/report/page.css");
const SCRIPT: &str = include_str!("../../../templates/report/page.js");

/// The page about a library, made at this time.
pub fn html(survey: &Survey, now: Timestamp) -> String {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment
        .add_template("page", PAGE)
        .expect("the template is part of the program, and a test renders it");
    let callers = view::callers(&survey.functions);
    let functions: Vec<FunctionView> =
        survey.functions.iter().map(|known| FunctionView::of(known, &callers)).collect();
    let name = |key: &crate::symbol::SymbolKey| survey.names.get(&key.0).cloned().unwrap_or_default();
    let values = context! {
        name => survey.name.as_str(),
        version => env!("CARGO_PKG_VERSION"),
        made => now.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        summary => Value::from(Serde(Summary::of(survey))),
        map => Value::from_safe_string(graph::svg(&survey.functions)),
        progress => progress::svg(&survey.milestones, now).map(Value::from_safe_string),
        milestones => Value::from(Serde(progress::words(&survey.milestones))),
        scores => plot(&survey.moments, name).map(Value::from_safe_string),
        functions => Value::from(Serde(functions)),
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
    };
    let page = environment.get_template("page").expect("it was added above");
    page.render(values).expect("the template asks only for what there is, and a test renders it")
}
