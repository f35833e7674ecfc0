//! `cargo implfuzz memory`

use crate::cli::session::Session;
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::port::prompt::feedback::normalised;
use crate::project::Project;
use crate::report::{Table, printable};
use crate::store::lesson::{Lesson, Scope};
use crate::store::{MemoryId, MemoryRow};
use serde_json::{Value, json};

/// List or forget the lessons that later prompts may contain
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List lessons, most recently confirmed first
    List(Filter),
    /// Remove lessons by number, by filter, or all of them
    Forget {
        /// Numbers of lessons, as `memory list` shows them
        #[arg(value_name = "ID")]
        ids: Vec<i64>,
        #[command(flatten)]
        filter: Filter,
        /// Remove all lessons
        #[arg(long, conflicts_with_all = ["ids", "key", "symbol", "library"])]
        all: bool,
    },
}

/// Selects lessons; without any option, all of them.
#[derive(Debug, Default, clap::Args)]
struct Filter {
    /// Select lessons whose key (the normalised text of the failure) contains this text; numbers are ignored
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
    /// Select lessons learned from this function alone
    #[arg(long, value_name = "SYMBOL", conflicts_with = "library")]
    symbol: Option<String>,
    /// Select lessons learned from more than one function
    #[arg(long)]
    library: bool,
}

impl Filter {
    fn is_empty(&self) -> bool {
        self.key.is_none() && self.symbol.is_none() && !self.library
    }

    fn select(&self, project: &Project, mut rows: Vec<MemoryRow>) -> Result<Vec<MemoryRow>> {
        if let Some(text) = &self.key {
            let text = normalised(text);
            rows.retain(|row| row.item.lesson.key.contains(&text));
        }
        if let Some(name) = &self.symbol {
            let scope = Scope::Symbol(project.find(name)?.function.key.clone());
            rows.retain(|row| row.item.lesson.scope == scope);
        }
        if self.library {
            rows.retain(|row| row.item.lesson.scope == Scope::Library);
        }
        Ok(rows)
    }
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    match &args.what {
        What::List(filter) => list(session, filter),
        What::Forget { ids, filter, all } => forget(session, ids, filter, *all),
    }
}

fn list(session: &Session, filter: &Filter) -> Result<ExitCode> {
    let (project, store) = session.look()?;
    let now = store.iteration()?.0;
    let rows = filter.select(&project, store.memory()?)?;
    let values: Vec<Value> = rows.iter().map(|row| value(&project, row)).collect();
    session.screen.result("memory", &json!({ "iteration": now, "memory": values }), || {
        if rows.is_empty() { "nothing is remembered\n".into() } else { text(&project, &rows, now) }
    });
    Ok(ExitCode::Ok)
}

fn text(project: &Project, rows: &[MemoryRow], now: u64) -> String {
    let kind = |lesson: &Lesson| match lesson.proven {
        true => lesson.kind.word().to_owned(),
        false => format!("{} (unproven)", lesson.kind.word()),
    };
    let place = |scope: &Scope| place(project, scope).unwrap_or_else(|| "the library".into());
    let table = Table::of(rows)
        .right("id", |row| row.id.0.to_string())
        .left("kind", |row| kind(&row.item.lesson))
        .left("learned at", |row| place(&row.item.lesson.scope))
        .right("sure", |row| format!("{:.2}", row.item.confidence.share()))
        .right("age", |row| now.saturating_sub(row.item.last_used.0).to_string())
        .left("about", |row| printable(&row.item.lesson.key))
        .left("text", |row| printable(&row.item.lesson.text));
    format!("{}\nremove one: cargo implfuzz memory forget <id>\n", table.text())
}

fn forget(session: &Session, ids: &[i64], filter: &Filter, all: bool) -> Result<ExitCode> {
    if ids.is_empty() && filter.is_empty() && !all {
        return Err(Error::new(ErrorKind::Usage, "no lesson is selected")
            .help("give numbers from `cargo implfuzz memory list`, or --key, --symbol, --library or --all"));
    }
    let project = Project::open(&session.options, &session.interrupt)?;
    let mut store = session.store(&project)?;
    let known = store.memory()?;
    if let Some(id) = ids.iter().find(|id| known.iter().all(|row| row.id.0 != **id)) {
        return Err(Error::new(ErrorKind::Usage, format!("there is no lesson {id}"))
            .help("`cargo implfuzz memory list` shows all"));
    }
    let before = known.len();
    let mut gone = filter.select(&project, known)?;
    if !ids.is_empty() {
        gone.retain(|row| ids.contains(&row.id.0));
    }
    store.forget(&gone.iter().map(|row| row.id).collect::<Vec<MemoryId>>())?;
    let values: Vec<Value> = gone.iter().map(|row| value(&project, row)).collect();
    let left = before - gone.len();
    session.screen.result("memory-forget", &json!({ "forgotten": values, "left": left }), || {
        format!("forgotten: {}; left: {left}\n", gone.len())
    });
    Ok(ExitCode::Ok)
}

/// Where a lesson was learned; the key if the library no longer has the function; `None`: from more than one
/// function.
fn place(project: &Project, scope: &Scope) -> Option<String> {
    match scope {
        Scope::Library => None,
        Scope::Symbol(key) => {
            let function = project.library.function(key);
            Some(function.map_or_else(|| key.0.clone(), |function| function.name.to_string()))
        }
    }
}

fn value(project: &Project, row: &MemoryRow) -> Value {
    let (item, lesson) = (&row.item, &row.item.lesson);
    json!({
        "id": row.id.0, "kind": lesson.kind, "symbol": place(project, &lesson.scope), "key": lesson.key,
        "text": lesson.text, "confidence": item.confidence, "source": lesson.source, "proven": lesson.proven,
        "created": item.created, "last_used": item.last_used,
    })
}
