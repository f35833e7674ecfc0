//! `cargo implfuzz explain`

use crate::cli::session::Session;
use crate::error::{Code, Error, ErrorKind, ExitCode, Result};
use serde_json::{Value, json};
use strum::IntoEnumIterator;

/// Explain the code (such as E0102) of an error, a problem with a port, or a finding
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The code [default: list all codes]
    code: Option<String>,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    match &args.code {
        Some(word) => {
            let code: Code = word.parse().map_err(|_| {
                Error::new(ErrorKind::Usage, format!("there is no code `{word}`"))
                    .help("`cargo implfuzz explain` lists all codes")
            })?;
            let json = json!({ "code": code, "title": code.title(), "text": code.page() });
            session.screen.result("explain", &json, || code.page().to_owned());
        }
        None => {
            let all: Vec<Value> =
                Code::iter().map(|code| json!({ "code": code, "title": code.title() })).collect();
            session.screen.result("codes", &json!({ "codes": all }), || {
                Code::iter().map(|code| format!("{}  {}\n", code.word(), code.title())).collect()
            });
        }
    }
    Ok(ExitCode::Ok)
}
