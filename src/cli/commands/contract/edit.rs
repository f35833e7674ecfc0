//! `cargo implfuzz contract --edit`: the user edits a copy, which replaces the contract only if the repository opens with it.

use crate::cli::session::Session;
use crate::error::{Error, ErrorKind, ExitCode, Page, Result};
use crate::event::{Event, Reporter};
use crate::platform::process::{Exit, Job};
use crate::platform::workspace::{Trial, Workspace, find_root, write_atomic};
use crate::project::{FunctionPlan, Project};
use fs_err as fs;
use std::path::{Path, PathBuf};

/// An edit of a contract.
struct Draft {
    symbol: String,
    /// The contract file.
    path: PathBuf,
    /// Its text before the edit.
    before: String,
    /// The file that the editor opens.
    copy: PathBuf,
    root: PathBuf,
}

/// Opens the contract of one function in the user's editor.
///
/// # Errors
/// `Usage` if there is no contract; `Config` with the reason if the edited text is invalid, and then the contract
/// is unchanged.
pub fn edit(session: &Session, symbols: &[String], reporter: &mut dyn Reporter) -> Result<ExitCode> {
    let [symbol] = symbols else {
        return Err(Error::new(ErrorKind::Usage, "--edit takes exactly one function")
            .help("cargo implfuzz contract --edit NAME"));
    };
    let draft = draft(session, symbol, reporter)?;
    if fs::read_to_string(&draft.copy).is_ok_and(|text| text != draft.before) {
        let text = format!(
            "the editor opens the text that was rejected last time; to start from the contract: rm {}",
            draft.shown(&draft.copy)
        );
        reporter.event(Event::Note { text });
    } else {
        write_atomic(&draft.copy, draft.before.as_bytes())?;
    }
    run_editor(session, &draft).map_err(|error| draft.not_taken(error))?;
    let text = fs::read_to_string(&draft.copy).map_err(Error::from);
    let text = text.map_err(|error| draft.not_taken(error))?;
    let workspace =
        Workspace::open(session.options.dir.as_deref()).map_err(|error| draft.not_taken(error))?;
    let now = fs::read_to_string(&draft.path).unwrap_or_default();
    if now != draft.before {
        if text != draft.before && text != now {
            return Err(draft.overtaken());
        }
        // The user changed nothing, so a change by another process stays.
        fs::remove_file(&draft.copy)?;
        return Ok(ExitCode::Ok);
    }
    // An error is reported now, and a contract that the repository does not open with never stays in the tree.
    let trial = Trial { path: draft.path.clone(), text };
    let (project, _) =
        session.open_in(workspace, Some(&trial), reporter).map_err(|error| draft.not_taken(error))?;
    project.workspace.keep()?;
    fs::remove_file(&draft.copy)?;
    Ok(ExitCode::Ok)
}

impl Draft {
    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }

    /// Adds the path of the user's text to the error; an unchanged copy is removed.
    fn not_taken(&self, error: Error) -> Error {
        if fs::read_to_string(&self.copy).is_ok_and(|text| text == self.before) {
            drop(fs::remove_file(&self.copy));
            return error;
        }
        let (path, copy) = (self.shown(&self.path), self.shown(&self.copy));
        Error::new(error.kind(), format!("{error}\n{path} is unchanged; your text is in {copy}")).help(
            format!(
                "to correct it: cargo implfuzz contract --edit {}; to discard it: rm {copy}",
                self.symbol
            ),
        )
    }

    /// The error if the contract changed while the editor was open: both texts are kept.
    fn overtaken(&self) -> Error {
        let (path, copy) = (self.shown(&self.path), self.shown(&self.copy));
        let text =
            format!("{path} was changed during the edit and was not overwritten; your text is in {copy}");
        Error::new(ErrorKind::Config, text).help(format!(
            "to add the other change to {copy}: cargo implfuzz contract --edit {}; to discard your text: rm {copy}",
            self.symbol
        ))
    }
}

/// The contract to edit, even if it is invalid already.
fn draft(session: &Session, symbol: &str, reporter: &mut dyn Reporter) -> Result<Draft> {
    let (root, path, before) = match session.open(reporter) {
        // The repository is not locked while the editor is open.
        Ok((project, _)) => {
            let path = editable(&project, project.find(symbol)?)?;
            let before = fs::read_to_string(&path)?;
            (project.workspace.root().to_owned(), path, before)
        }
        Err(error) => match broken(session, symbol, &error)? {
            Some(found) => {
                reporter.event(Event::Warning { text: error.to_string(), help: None });
                let before = fs::read_to_string(&found.1)?;
                (found.0, found.1, before)
            }
            None => return Err(error),
        },
    };
    let copy = Workspace::draft(&root, symbol);
    Ok(Draft { symbol: symbol.to_owned(), path, before, copy, root })
}

/// The root and this function's contract, if that contract is the error's cause.
fn broken(session: &Session, symbol: &str, error: &Error) -> Result<Option<(PathBuf, PathBuf)>> {
    if error.kind() != ErrorKind::Config || !error.to_string().contains(&format!("contracts/{symbol}.toml")) {
        return Ok(None);
    }
    let root = find_root(session.options.dir.as_deref())?;
    let path = Project::contract_below(&root.join(session.config(&root)?.rust.dir), symbol);
    Ok(path.is_file().then_some((root, path)))
}

fn editable(project: &Project, planned: &FunctionPlan) -> Result<PathBuf> {
    let path = project.contract_path(planned.function.name.as_str());
    if !path.exists() {
        let why = planned.judgeable.reason().unwrap_or("it was not written yet");
        let text = format!("`{}` has no contract to edit: {why}", planned.function.name);
        return Err(Error::new(ErrorKind::Usage, text).help(format!(
            "write {} by hand; {} lists its keys",
            path.display(),
            Page::Formats
        )));
    }
    Ok(path)
}

fn run_editor(session: &Session, draft: &Draft) -> Result<()> {
    let editor =
        ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    let editor = editor.ok_or_else(|| {
        Error::new(ErrorKind::Usage, "neither VISUAL nor EDITOR is set")
            .help(format!("EDITOR=vi cargo implfuzz contract --edit {}", draft.symbol))
    })?;
    let mut words = editor.split_whitespace();
    let job = Job::new(Path::new(words.next().unwrap_or("vi"))).args(words).arg(&draft.copy).inherit();
    let starting = |error: Error| error.context(format!("starting {editor}"));
    let ended = job.run(&session.interrupt).map_err(starting)?.exit;
    match ended {
        Exit::Code(0) => Ok(()),
        _ => Err(Error::new(ErrorKind::Environment, format!("{editor} ended with an error"))),
    }
}
