//! `cargo implfuzz export oss-fuzz` and `cargo implfuzz export clusterfuzzlite`

use crate::cli::ci_files::within_git;
use crate::cli::session::Session;
use crate::drivers::has_drivers;
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::export::continuous::{Integration, Service, WORKFLOW, workflow};
use crate::export::repository::{Published, contact, is_address, name};
use crate::export::{self, Change};
use crate::fuzz::campaign::ASAN_OPTIONS;
use crate::in_place::dictionary;
use crate::judge::Judge;
use crate::platform::workspace::git_root;
use crate::project::{FunctionPlan, Project};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Write the files that a service needs to fuzz the ports continuously
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folder to write [default: in the git repository, `oss-fuzz` for OSS-Fuzz and `.clusterfuzzlite` for ClusterFuzzLite]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// E-mail address to which reports go [default: git's user.email; ClusterFuzzLite needs none]
    #[arg(long, value_name = "ADDRESS")]
    contact: Option<String>,
    /// Replace existing files that have different content
    #[arg(long)]
    force: bool,
    /// Print the files and write nothing
    #[arg(long, conflicts_with_all = ["out", "force"])]
    print: bool,
}

/// Runs the command.
pub fn run(session: &Session, service: Service, args: &Args) -> Result<ExitCode> {
    let (project, _) = session.look()?;
    let files = files(session, &project, service, args)?;
    let target = service.to_string();
    if args.print {
        let all: Vec<_> = files.iter().map(|(path, text)| json!({ "path": path, "text": text })).collect();
        session.screen.result("export", &json!({ "target": target, "files": all }), || {
            files.iter().map(|(path, text)| format!("==> {} <==\n{text}\n", path.display())).collect()
        });
        return Ok(ExitCode::Ok);
    }
    let again = format!("cargo implfuzz export {target}");
    let mut changes = Vec::new();
    for (path, text) in &files {
        changes.push((path, export::write(path, text, args.force, &again)?));
    }
    let all: Vec<_> =
        changes.iter().map(|(path, change)| json!({ "path": path, "change": change })).collect();
    session.screen.result("export", &json!({ "target": target, "files": all }), || {
        let line = |(path, change): &(&PathBuf, Change)| {
            let change = match change {
                Change::Written => "written",
                Change::Unchanged => "exists already",
            };
            format!("{}: {change}\n", path.display())
        };
        changes.iter().map(line).collect::<String>() + next(service)
    });
    Ok(ExitCode::Ok)
}

/// What to do with the files.
fn next(service: Service) -> &'static str {
    match service {
        Service::OssFuzz => {
            "send these files to https://github.com/google/oss-fuzz as a folder of projects/\n"
        }
        Service::ClusterFuzzLite => "commit them, and GitHub fuzzes each pull request\n",
    }
}

/// The files, with the paths to which they are written.
fn files(
    session: &Session,
    project: &Project,
    service: Service,
    args: &Args,
) -> Result<Vec<(PathBuf, String)>> {
    let root = project.workspace.root();
    let git = git_root(root);
    let published = Published::of(root, &project.rust_dir(), &session.interrupt)?;
    let contact = match (&args.contact, service) {
        (Some(given), _) if !is_address(given) => {
            let text = format!("--contact {given}: this is no e-mail address");
            return Err(Error::new(ErrorKind::Usage, text).help("--contact NAME@EXAMPLE.ORG"));
        }
        (Some(given), _) => Some(given.clone()),
        (None, Service::OssFuzz) => Some(contact(root, &session.interrupt)?),
        (None, Service::ClusterFuzzLite) => None,
    };
    if service == Service::OssFuzz && published.main_repo.is_none() {
        let text = "OSS-Fuzz clones the repository, and neither a remote of git nor the port's Cargo.toml says from where";
        return Err(Error::new(ErrorKind::Config, text).help(format!(
            "git remote add origin URL (git remote set-url origin URL where there is one), or `repository` in {}",
            project.shown(&project.rust_dir().join("Cargo.toml"))
        )));
    }
    let words = dictionary::of(&project.library, project.root()?)?;
    let rust = project.rust_dir();
    let flags = || project.library.units.iter().flat_map(|unit| &unit.flags);
    let all = Integration {
        service,
        name: &name(published.main_repo.as_deref(), git),
        main_repo: published.main_repo.as_deref(),
        homepage: published.homepage.as_deref(),
        contact: contact.as_deref(),
        within: within_git(root),
        rust: rust.strip_prefix(root).unwrap_or(&rust),
        left_out: &left_out(session, project),
        has_drivers: has_drivers(project)?,
        is_configured: flags().any(|flag| flag.contains(".implfuzz/cache/")),
        max_len: max_len(session, project),
        asan: &asan(),
        words: words.as_deref(),
    };
    let folder = args.out.clone().unwrap_or_else(|| git.join(service.folder()));
    let mut files: Vec<_> = all.files()?.into_iter().map(|(path, text)| (folder.join(path), text)).collect();
    if service == Service::ClusterFuzzLite {
        files.push((git.join(WORKFLOW), workflow()?));
    }
    Ok(files)
}

/// Functions with a harness.
fn judgeable(project: &Project) -> impl Iterator<Item = &FunctionPlan> {
    project.planned.iter().filter(|planned| planned.judgeable.contract().is_some())
}

/// Functions whose ports may ask the operating system for more than memory, because C does: their targets would report that.
fn left_out(session: &Session, project: &Project) -> Vec<String> {
    let judge = Judge::new(project, &session.interrupt);
    let asking = judgeable(project).filter(|planned| judge.campaign(Path::new(""), planned).asks_system);
    asking.map(|planned| planned.function.name.to_string()).collect()
}

/// Bytes of an input that are enough for every contract.
fn max_len(session: &Session, project: &Project) -> u64 {
    let judge = Judge::new(project, &session.interrupt);
    let of_each = judgeable(project).map(|planned| judge.campaign(Path::new(""), planned).max_len);
    of_each.max().unwrap_or(0).max(project.config.fuzz.max_len)
}

/// The options of `AddressSanitizer` that change what is judged. A person wants its whole report, and the usual exit code.
fn asan() -> Vec<&'static str> {
    let own = ["symbolize=", "exitcode=", "malloc_context_size="];
    ASAN_OPTIONS.split(':').filter(|option| !own.iter().any(|own| option.starts_with(own))).collect()
}
