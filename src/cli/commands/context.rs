//! `cargo implfuzz context`: prints prompts without asking a model, building or changing anything.

use crate::cli::session::Session;
use crate::cli::session::Which;
use crate::error::{ExitCode, Result};
use crate::llm::Prompt;
use crate::port::plan::first_prompt::{Asked, to_prototyper};
use crate::project::init;
use crate::report::printable;
use serde_json::{Value, json};

/// Show the prompt that `port` would send for a function, without asking a model
///
/// The prompt contains the rules for ports, the C text, the contract, the types and the callees: what a person or a coding
/// agent needs to write the port. For a function that has a port, the prompt is that of `port --redo`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    let (project, store) = session.look()?;
    init::warn(&project, session.reporter().as_mut());
    let all = to_prototyper(&project, &store, &args.which.select(&project)?)?;
    for one in &all {
        session.screen.result("context", &value(one), || text(one));
    }
    let complete = all.iter().all(|one| one.prompt.is_ok());
    Ok(if complete { ExitCode::Ok } else { ExitCode::Incomplete })
}

fn value(one: &Asked) -> Value {
    let (prompt, refusal) = (one.prompt.as_ref().ok(), one.prompt.as_ref().err());
    let user = |prompt: &Prompt| {
        prompt.messages.iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n\n")
    };
    json!({
        "symbol": one.symbol,
        "system": prompt.map(|prompt| prompt.system_text()),
        "prompt": prompt.map(user),
        "estimated_tokens": prompt.map(|prompt| prompt.estimate().0),
        "reason": refusal.map(|refusal| &refusal.reason),
        "help": refusal.map(|refusal| &refusal.help),
    })
}

fn text(one: &Asked) -> String {
    match &one.prompt {
        // C text has tabs, which are safe.
        Ok(prompt) => prompt.to_markdown().split('\t').map(printable).collect::<Vec<_>>().join("\t") + "\n",
        Err(refusal) => format!(
            "{}: no model is asked for a port: {}\n  help: {}\n",
            one.symbol,
            printable(&refusal.reason),
            printable(&refusal.help)
        ),
    }
}
