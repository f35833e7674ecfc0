//! The port in the place of C: the library's own tests and programs are built twice, with C alone and with the port, and
//! must do the same. What is not ported yet stays C, in the same program.
//!
//! `plan` says which C functions are replaced and how the text of a source is edited for it, `port` builds the port for a
//! program that has C's functions and variables, `wrapper` is the compiler that links it in, `runtime` counts in the
//! program, `side` runs the commands, `compare` tells what differs.

mod arguments;
mod compare;
mod names;
mod plan;
mod port;
mod runtime;
mod side;
pub mod wrapper;

pub use compare::{Compared, Difference};
pub use side::shown;

use crate::c::copy_sources;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::judge::Judge;
use crate::llm;
use crate::platform::toolchain::Search;
use crate::project::Project;
use crate::symbol::SymbolName;
use camino::Utf8Path;
use fs_err as fs;
use plan::{PortedFunction, Route};
use port::PortSide;
use runtime::Counts;
use side::{Place, Ran, Who};
use std::path::PathBuf;
use std::time::Duration;
use wrapper::Settings;

/// What came of it.
#[derive(Debug, Clone)]
pub struct Report {
    pub commands: Vec<Compared>,
    /// Every function that has a body in Rust.
    pub functions: Vec<Counted>,
    /// Variables of which C and the port have one each.
    pub apart: Vec<String>,
    /// Programs and shared libraries that got the port.
    pub linked: usize,
    /// How often a program with the port was started.
    pub started: u64,
}

/// A port, and who ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    pub symbol: SymbolName,
    /// Why C callers stay with the C function, where they do.
    pub kept_by_c: Option<String>,
    /// Calls of the port by C; absent where C callers stay with C.
    pub calls: Option<u64>,
    /// How often the C function ran; absent where its text could not be marked.
    pub ran_as_c: Option<u64>,
}

/// What it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Verdict {
    Same,
    /// A command ends or says something else with the port.
    Differs,
    /// C functions ran that the port replaces.
    RanAsC,
    /// No program called any port.
    NothingCalled,
}

impl Verdict {
    /// One word, as in JSON.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

impl Counted {
    /// The C function ran although the port replaces it.
    pub fn leaked(&self) -> bool {
        self.kept_by_c.is_none() && self.ran_as_c.is_some_and(|count| count > 0)
    }
}

impl Report {
    /// The worst that is in it.
    pub fn verdict(&self) -> Verdict {
        match () {
            () if self.commands.iter().any(|command| command.difference.is_some()) => Verdict::Differs,
            () if self.functions.iter().any(Counted::leaked) => Verdict::RanAsC,
            () if self.calls() == 0 => Verdict::NothingCalled,
            () => Verdict::Same,
        }
    }

    /// Calls of ports by C.
    pub fn calls(&self) -> u64 {
        self.functions.iter().filter_map(|one| one.calls).sum()
    }
}

/// Builds and runs the configured commands with C alone and with the port.
///
/// # Errors
/// Where nothing is configured or nothing is ported, and where a build fails.
pub fn run(judge: &Judge, reporter: &mut dyn Reporter) -> Result<Report> {
    let (project, interrupt) = (judge.project, judge.interrupt);
    let commands = &project.config.dropin;
    if commands.run.is_empty() {
        return Err(Error::new(ErrorKind::Config, "implfuzz.toml does not say what to run")
            .help("write into it, for instance:\n[dropin]\nbuild = [[\"make\", \"all\"]]\nrun = [[\"make\", \"test\"]]"));
    }
    let ported = plan::ported(project);
    if !ported.iter().any(PortedFunction::is_intercepted) {
        return Err(nothing_ported(&ported));
    }
    let dir = project.workspace.cache().join("dropin");
    drop(fs::remove_dir_all(dir.join("bin")));
    fs::create_dir_all(dir.join("bin"))?;
    reporter.event(Event::StepStarted { step: "building the port for C programs".into(), total: None });
    let port = port::build(judge, &dir, &ported)?;
    reporter.event(Event::StepFinished { message: String::new() });
    let work = Work { judge, dir, ported };
    let place = work.place()?;
    let both = (&commands.build[..], &commands.run[..]);
    work.prepare_c(&place)?;
    let c = place.run(both, Who::C, interrupt, reporter)?;
    work.prepare_port(&place, &port)?;
    let with_port = place.run(both, Who::Port, interrupt, reporter)?;
    work.report(&c, &with_port, &port)
}

fn nothing_ported(ported: &[PortedFunction]) -> Error {
    let help = "write one, or `cargo implfuzz port SYMBOL`; `cargo implfuzz list` shows all";
    let why = match ported.first().map(|one| (&one.planned.function.name, &one.route)) {
        Some((name, Route::C(why))) => format!(": `{name}` is {why}"),
        _ => String::new(),
    };
    Error::new(ErrorKind::Usage, format!("there is no port that a C program could call{why}")).help(help)
}

/// Everything below `.implfuzz/cache/dropin/`.
struct Work<'a, 'p> {
    judge: &'a Judge<'p>,
    dir: PathBuf,
    ported: Vec<PortedFunction<'p>>,
}

impl<'p> Work<'_, 'p> {
    fn project(&self) -> &'p Project {
        self.judge.project
    }

    /// Both sides work at the same place, so that what they say of paths is the same.
    fn place(&self) -> Result<Place> {
        let config = &self.project().config;
        let bin = self.dir.join("bin");
        // By its name alone it is found in `bin`, and a blank in our path is in nobody's way.
        let compilers = ["CC", "CXX"].into_iter().filter_map(|variable| {
            let (path, arguments) = side::named(variable)?;
            let mut value = path.file_name()?.to_owned();
            value.push(arguments);
            Some((variable, value))
        });
        let compilers = compilers.collect();
        Ok(Place {
            tree: self.dir.join("tree"),
            bin,
            compilers,
            secrets: llm::key_variables(&config.llm),
            timeout: Duration::from_secs(config.dropin.timeout),
        })
    }

    fn copy(&self, place: &Place) -> Result<()> {
        let utf8 = |path| Utf8Path::from_path(path).ok_or_else(|| Error::new(ErrorKind::Config, NOT_UTF8));
        copy_sources(utf8(self.project().workspace.root())?, utf8(&place.tree)?, u64::MAX)
    }

    fn install(&self, place: &Place, settings: Option<&PathBuf>) -> Result<()> {
        let named = ["CC", "CXX"].into_iter().filter_map(side::named);
        let named: Vec<PathBuf> = named.map(|(path, _)| path).collect();
        let compilers = wrapper::compilers(&Search::from_env().path, &named);
        wrapper::install(&place.bin, &compilers, settings.map(PathBuf::as_path))
    }

    fn prepare_c(&self, place: &Place) -> Result<()> {
        self.copy(place)?;
        self.install(place, None)
    }

    fn prepare_port(&self, place: &Place, port: &PortSide) -> Result<()> {
        self.copy(place)?;
        let project = self.project();
        for (unit, edit) in plan::edits(project, &self.ported, &port.needed) {
            let path = place.tree.join(&unit.0);
            if !path.is_file() {
                // A build makes it; its functions are not intercepted.
                continue;
            }
            let time = fs::metadata(&path)?.modified()?;
            fs::write(&path, edit.apply(&fs::read(&path)?))?;
            // To make it is the source that it was.
            fs::OpenOptions::new().append(true).open(&path)?.file().set_modified(time)?;
        }
        let [counts, runtime, log, settings] =
            ["counts", "runtime.o", "log", "settings.json"].map(|name| self.dir.join(name));
        drop(fs::remove_file(&log));
        Counts::reset(&counts, self.ported.len())?;
        let text = runtime::source(self.ported.len(), &port.needed, &counts);
        let toolchain = project.toolchain(self.judge.interrupt)?;
        runtime::compile(&toolchain.cc.path, &text, &runtime, self.judge.interrupt)?;
        let functions = self.ported.iter().filter(|one| one.is_intercepted());
        let value = Settings {
            tree: place.tree.canonicalize()?,
            units: project.library.units.iter().map(|unit| unit.file.clone()).collect(),
            functions: functions.map(|one| one.planned.function.c_name.clone()).collect(),
            archive: port.archive.clone(),
            runtime,
            native: port.native.clone(),
            log,
        };
        fs::write(&settings, serde_json::to_vec(&value).expect("plain data"))?;
        self.install(place, Some(&settings))
    }

    fn report(&self, c: &[Ran], with_port: &[Ran], port: &PortSide) -> Result<Report> {
        let counts = Counts::read(&self.dir.join("counts"))?;
        let run = &self.project().config.dropin.run;
        let pairs = run.iter().zip(c.iter().zip(with_port));
        let commands = pairs.map(|(command, (c, port))| Compared::of(command, c, port)).collect();
        let functions = self.ported.iter().zip(&counts.functions).map(|(one, (calls, ran))| Counted {
            symbol: one.planned.function.name.clone(),
            kept_by_c: match &one.route {
                Route::Port => None,
                Route::C(why) => Some(why.clone()),
            },
            calls: one.is_intercepted().then_some(*calls),
            ran_as_c: one.body.map(|_| *ran),
        });
        let functions = functions.collect();
        let (apart, linked, started) =
            (port.apart.clone(), wrapper::linked(&self.dir.join("log")), counts.programs);
        Ok(Report { commands, functions, apart, linked, started })
    }
}

const NOT_UTF8: &str = "the path of the repository is not valid UTF-8";
