//! Runs the port in place of C: the library's own tests and programs are built twice, with C alone and with the
//! port, and must behave the same. Functions without a port stay C in the same program.
//!
//! `plan` selects the C functions to replace and edits the sources; `port` builds the port for a program that has
//! C's functions and variables; `wrapper` is the compiler that links it; `runtime` counts calls in the program;
//! `side` runs the commands; `compare` finds differences.

mod arguments;
mod compare;
mod names;
mod plan;
pub mod port;
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
use side::{CommandEnvironment, Ran, Who};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use wrapper::Settings;

/// The result of a comparison of both sides.
#[derive(Debug, Clone)]
pub struct Report {
    pub commands: Vec<Compared>,
    /// Every function that has a body in Rust.
    pub functions: Vec<Counted>,
    /// Variables of which C and the port have separate copies.
    pub apart: Vec<String>,
    /// Number of programs and shared libraries linked with the port.
    pub linked: usize,
    /// Number of starts of programs with the port.
    pub started: u64,
}

/// A port with its call counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    pub symbol: SymbolName,
    /// Why C callers keep the C function, if they do.
    pub kept_by_c: Option<String>,
    /// Calls of the port by C; `None` where C callers keep the C function.
    pub calls: Option<u64>,
    /// Number of runs of the C function; `None` where its source could not be marked.
    pub ran_as_c: Option<u64>,
}

/// The verdict of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Verdict {
    Same,
    /// A command's exit or output differs with the port.
    Differs,
    /// C functions ran although the port replaces them.
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
    /// The worst verdict that applies.
    pub fn verdict(&self) -> Verdict {
        match () {
            () if self.commands.iter().any(|command| command.difference.is_some()) => Verdict::Differs,
            () if self.functions.iter().any(Counted::leaked) => Verdict::RanAsC,
            () if self.calls() == 0 => Verdict::NothingCalled,
            () => Verdict::Same,
        }
    }

    /// Number of calls of ports by C.
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
    let ported = plan::ported(project, &project.entries(interrupt)?);
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
    work.prepare_c(&place)?;
    let c = place.run(commands, Who::C, interrupt, reporter)?;
    work.prepare_port(&place, &port)?;
    let with_port = place.run(commands, Who::Port, interrupt, reporter)?;
    work.report(&c, &with_port, &port)
}

fn nothing_ported(ported: &[PortedFunction]) -> Error {
    let help = "write a port by hand, or run `cargo implfuzz port SYMBOL`; `cargo implfuzz list` shows all functions";
    let why = match ported.first().map(|one| (&one.planned.function.name, &one.route)) {
        Some((name, Route::C(why))) => format!(": `{name}` is {why}"),
        _ => String::new(),
    };
    Error::new(ErrorKind::Usage, format!("there is no port that a C program could call{why}")).help(help)
}

/// The directory `.implfuzz/cache/dropin/`, and what the run needs.
struct Work<'a, 'p> {
    judge: &'a Judge<'p>,
    dir: PathBuf,
    ported: Vec<PortedFunction<'p>>,
}

impl<'p> Work<'_, 'p> {
    fn project(&self) -> &'p Project {
        self.judge.project
    }

    /// Prepares the directory. Both sides use the same one, so that paths in their output are the same.
    fn place(&self) -> Result<CommandEnvironment> {
        let config = &self.project().config;
        let bin = self.dir.join("bin");
        // A bare name is found in `bin`, and spaces in the repository's path cause no trouble.
        let compilers = ["CC", "CXX"].into_iter().filter_map(|variable| {
            let (path, arguments) = side::named(variable)?;
            let mut value = path.file_name()?.to_owned();
            value.push(arguments);
            Some((variable, value))
        });
        let compilers = compilers.collect();
        Ok(CommandEnvironment {
            tree: self.dir.join("tree"),
            dir: self.dir.clone(),
            write: config.dropin.write.clone(),
            bin,
            compilers,
            secrets: llm::key_variables(&config.llm),
            timeout: Duration::from_secs(config.dropin.timeout),
        })
    }

    fn copy(&self, place: &CommandEnvironment) -> Result<()> {
        let tree =
            Utf8Path::from_path(&place.tree).expect("the cache is in the repository, whose path is UTF-8");
        copy_sources(self.project().root()?, tree, u64::MAX)
    }

    fn install(&self, place: &CommandEnvironment, settings: Option<&PathBuf>) -> Result<()> {
        let named = ["CC", "CXX"].into_iter().filter_map(side::named);
        let named: Vec<PathBuf> = named.map(|(path, _)| path).collect();
        let compilers = wrapper::compilers(&Search::from_env().path, &named);
        wrapper::install(&place.bin, &compilers, settings.map(PathBuf::as_path))
    }

    fn prepare_c(&self, place: &CommandEnvironment) -> Result<()> {
        self.copy(place)?;
        self.install(place, None)
    }

    fn prepare_port(&self, place: &CommandEnvironment, port: &PortSide) -> Result<()> {
        self.copy(place)?;
        let project = self.project();
        let mut patched = BTreeMap::new();
        for (unit, edit) in plan::edits(project, &self.ported, &port.needed) {
            let path = place.tree.join(&unit.0);
            if !path.is_file() {
                // A file that the build generates; its functions are not intercepted.
                continue;
            }
            if !edit.entries.is_empty() {
                patched.insert(unit, plan::object_name(edit.number));
            }
            let time = fs::metadata(&path)?.modified()?;
            fs::write(&path, edit.apply(&fs::read(&path)?))?;
            // The time stays, so that make does not rebuild.
            fs::OpenOptions::new().append(true).open(&path)?.file().set_modified(time)?;
        }
        let [counts, runtime, log, settings] =
            ["counts", "runtime.o", "log", "settings.json"].map(|name| self.dir.join(name));
        drop(fs::remove_file(&log));
        Counts::reset(&counts, self.ported.len())?;
        let intercepted = self.ported.iter().take_while(|one| one.is_intercepted()).enumerate();
        let ports: Vec<String> = intercepted.map(|(number, one)| one.port_name(number)).collect();
        let text = runtime::source((self.ported.len(), &ports), &port.needed, &counts);
        let toolchain = project.toolchain(self.judge.interrupt)?;
        runtime::compile(&toolchain.cc.path, &text, &runtime, self.judge.interrupt)?;
        let functions = self.ported.iter().filter(|one| one.route == Route::Linker);
        let functions = functions.map(|one| one.planned.function.c_name.clone());
        let value = Settings {
            tree: place.tree.canonicalize()?,
            units: project.library.units.iter().map(|unit| unit.file.clone()).collect(),
            functions: functions.chain(patched.values().cloned()).collect(),
            patched: patched.into_keys().collect(),
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
                Route::Linker | Route::Entry => None,
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
