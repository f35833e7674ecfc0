//! The demonstration: copies the fixture library to a scratch directory and ports it there with recorded replies.
//! The binary contains the library and the recordings, so that the demonstration needs no other files.

use crate::config::PORT_ROLES;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::judge::verify::{self, Judgement};
use crate::judge::{Judge, Judging};
use crate::llm::model_session::{Asks, ModelSession};
use crate::platform::process::Interrupt;
use crate::port::function::result::PortResult;
use crate::port::function::session::Session;
use crate::port::function::worker::places;
use crate::port::plan::{redo, resume};
use crate::port::prompt::Templates;
use crate::port::run::one_pass;
use crate::project::init;
use crate::project::ported::Ported;
use crate::project::{FunctionPlan, Options, Project};
use crate::store::{Store, Totals};
use fs_err as fs;
use include_dir::{Dir, DirEntry, include_dir};
use std::path::{Path, PathBuf};

static LIBRARY: Dir = include_dir!("$CARGO_MANIFEST_DIR/fixtures/c-lib");
static RECORDINGS: Dir = include_dir!("$CARGO_MANIFEST_DIR/fixtures/recordings/c-lib");

/// The results that the demonstration shows.
#[derive(Debug)]
pub struct Shown {
    /// The directory of the ported library.
    pub dir: PathBuf,
    pub ports: Vec<PortResult>,
    /// Functions with a harness but without a recorded reply, which are not ported.
    pub unrecorded: Vec<String>,
    pub judgements: Vec<Judgement>,
    pub totals: Totals,
}

/// How to run the demonstration.
#[derive(Debug)]
pub struct Wishes<'a> {
    /// Time of each fuzzing run, seconds.
    pub seconds: u64,
    /// The functions to port; all if there are none.
    pub only: &'a [String],
    pub overrides: &'a [String],
}

/// Runs init, port and verify in `dir`, which must be empty or absent.
pub fn demo(
    dir: &Path,
    wishes: &Wishes,
    interrupt: &Interrupt,
    reporter: &mut dyn Reporter,
) -> Result<Shown> {
    if dir.exists() && fs::read_dir(dir)?.next().is_some() {
        return Err(Error::new(ErrorKind::Usage, format!("{} is not empty", dir.display()))
            .help("name another directory: cargo implfuzz demo DIR"));
    }
    are_recorded(wishes.only)?;
    let (library, recordings) = (dir.join("c-lib"), dir.join("recordings"));
    unpack(&LIBRARY, &library)?;
    unpack(&RECORDINGS, &recordings)?;
    reporter
        .event(Event::Note { text: format!("the C library of the demonstration: {}", library.display()) });
    let (replay, seconds) = (recordings.canonicalize()?, wishes.seconds);
    let mut all = vec![
        "llm.provider=\"replay\"".to_owned(),
        format!("llm.replay_dir={:?}", replay.display().to_string()),
        format!("fuzz.loop_seconds={seconds}"),
        format!("fuzz.accept_seconds={seconds}"),
        "fuzz.accept_executions=100000".to_owned(),
        format!("grade.mutant_seconds={seconds}"),
    ];
    all.extend(wishes.overrides.iter().cloned());
    // As when the replies were recorded, and also on machines without make; `init` writes the detected
    // configuration.
    let from = "c.from=\"includes\"".to_owned();
    let first = Options {
        dir: Some(library.clone()),
        overrides: [vec![from], all.clone()].concat(),
        ..Options::default()
    };
    drop(init::init(&library, &first, interrupt, reporter)?);
    let options = Options { overrides: all, ..first };
    // Open the project again, as every later command does, because the evidence depends on the implfuzz.toml that
    // `init` wrote.
    let project = Project::open(&options, interrupt)?;
    project.can_run(reporter)?;
    let mut store = Store::open(&project.workspace.state_db())?;
    verify::save_symbols(&project, &mut store)?;
    let is_wanted = |planned: &&FunctionPlan| {
        wishes.only.is_empty() || wishes.only.iter().any(|name| name == planned.function.name.as_str())
    };
    // Functions with a harness but without a recorded reply stay stubs.
    let (wanted, unrecorded): (Vec<_>, Vec<_>) = project.planned.iter().filter(is_wanted).partition(|p| {
        p.judgeable.contract().is_none() || RECORDINGS.get_dir(p.function.name.as_str()).is_some()
    });
    // Recorded replies take no time. With more workers than build directories, most ports would only be built and run
    // once more, because another one entered the tree meanwhile.
    let jobs = places(std::thread::available_parallelism().map_or(1, usize::from));
    let asks = Asks {
        command: "demo: port --all",
        roles: &PORT_ROLES,
        config: &project.config,
        workflow: Some(project.config.port.workflow),
    };
    let templates = Templates::load(None)?;
    let plans = resume::plan(&project, &store, &wanted, None, redo::Redo::No)?;
    let mut models = ModelSession::open(&project.workspace, &mut store, asks, interrupt)?;
    let porting = Judge::new(&project, interrupt);
    let session = Session::new(porting, &mut store, reporter, &mut models, &templates, None);
    let ports = session.port(&wanted, plans, jobs);
    let mut ports = models.or_finish(&mut store, ports)?;
    let totals = one_pass::finish((&project, &mut store), &models, &mut ports, false)?;
    let ported: Vec<_> = wanted.into_iter().filter(|p| project.ported(&p.function) == Ported::Yes).collect();
    let judge = Judge::new(&project, interrupt);
    let mut judging = Judging { judge: &judge, store: &mut store, reporter, run: None };
    let judgements = judging.verify(&ported, "demo: verify --all", None)?;
    let unrecorded = unrecorded.iter().map(|p| p.function.name.to_string()).collect();
    Ok(Shown { dir: library, ports, unrecorded, judgements, totals })
}

/// The demonstration can port only functions with a recorded reply.
fn are_recorded(only: &[String]) -> Result<()> {
    match only.iter().find(|name| RECORDINGS.get_dir(name).is_none()) {
        None => Ok(()),
        Some(name) => {
            let text = format!("the demonstration has no recorded reply for a function `{name}`");
            let help = "`cargo implfuzz demo` without `--only` ports all its functions and shows their names";
            Err(Error::new(ErrorKind::Usage, text).help(help))
        }
    }
}

fn unpack(from: &Dir, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in from.entries() {
        let path = to.join(entry.path().file_name().unwrap_or_default());
        match entry {
            DirEntry::Dir(dir) => unpack(dir, &path)?,
            DirEntry::File(file) => fs::write(path, file.contents())?,
        }
    }
    Ok(())
}
