//! `cargo implfuzz man`

use crate::cli::session::Session;
use crate::count::count;
use crate::error::{ExitCode, Result};
use crate::platform::workspace::write_atomic;
use clap::Command;
use clap_mangen::Man;
use serde_json::json;
use std::path::PathBuf;

/// Print the manual page of `cargo implfuzz`, or write one page for each command
///
/// If the pages are in a folder that `man` searches, such as ~/.local/share/man/man1, `cargo help implfuzz` and `man
/// cargo-implfuzz-port` show them.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write the pages of all commands into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// A page: its file name and its text.
struct Page {
    file: String,
    text: Vec<u8>,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args, command: Command) -> Result<ExitCode> {
    // `cargo help implfuzz` opens the page with this name.
    let mut command = command.name("cargo-implfuzz").disable_help_subcommand(true);
    command.build();
    let Some(dir) = &args.out else {
        let text = page(&command)?.text;
        let text = String::from_utf8_lossy(&text);
        session.screen.result("man", &json!({ "text": text }), || text.to_string());
        return Ok(ExitCode::Ok);
    };
    let mut pages = Vec::new();
    collect(&command, &mut pages)?;
    fs_err::create_dir_all(dir)?;
    for page in &pages {
        write_atomic(&dir.join(&page.file), &page.text)?;
    }
    let files: Vec<&str> = pages.iter().map(|page| page.file.as_str()).collect();
    session.screen.result("man", &json!({ "dir": dir, "files": files }), || {
        format!("{} in {}\n", count(files.len(), "manual page"), dir.display())
    });
    Ok(ExitCode::Ok)
}

fn collect(command: &Command, pages: &mut Vec<Page>) -> Result<()> {
    pages.push(page(command)?);
    command.get_subcommands().filter(|sub| !sub.is_hide_set()).try_for_each(|sub| collect(sub, pages))
}

fn page(command: &Command) -> Result<Page> {
    let man = Man::new(command.clone());
    let mut text = Vec::new();
    man.render(&mut text)?;
    Ok(Page { file: man.get_filename(), text })
}
