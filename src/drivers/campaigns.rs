//! The inputs of drivers: campaigns with the sanitised library, and what the kept inputs reach.

use super::marks::Marks;
use super::{Driven, Inputs, Work, known};
use crate::c::entries::Entries;
use crate::count::count;
use crate::error::{ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::in_place::build::{self, Built, Parts};
use crate::in_place::candidates::Candidates;
use crate::in_place::corpus::{self, Corpus, Sanitised};
use crate::in_place::driver::Driver;
use crate::in_place::run::{self, Reached};
use fs_err as fs;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time for a corpus to run once.
const REPLAY: Duration = Duration::from_secs(120);

/// The library, built for its drivers.
pub(super) struct Campaigns<'w, 'p> {
    work: &'w Work<'p>,
    parts: Parts<'w>,
    /// The folder of `built`.
    watched: PathBuf,
    /// Counts which functions are called.
    built: Built,
    /// Built for the first campaign.
    sanitised: OnceCell<Sanitised>,
}

impl<'w, 'p> Campaigns<'w, 'p> {
    pub fn prepare(work: &'w Work<'p>, entries: &'w Entries, reporter: &mut dyn Reporter) -> Result<Self> {
        let (parts, watched) = (work.parts(entries, Candidates::None), work.dir("reach"));
        let step = "building the library for its drivers".into();
        reporter.event(Event::StepStarted { step, total: None });
        let built = build::library(parts, work.place(&watched)?)?;
        reporter.event(Event::StepFinished { message: String::new() });
        Ok(Self { work, parts, watched, built, sanitised: OnceCell::new() })
    }

    /// What goes into the programs.
    pub fn parts(&self) -> Parts<'w> {
        self.parts
    }

    /// A driver with its inputs and what they reach. The outcome is kept for the next run, also that the driver cannot be used.
    pub fn driven(&self, driver: Driver, inputs: Inputs, reporter: &mut dyn Reporter) -> Result<Driven> {
        let (dir, made_of) = (self.work.dir("corpora").join(&driver.name), self.work.made_of(&driver));
        let driven = self.run(driver, (&dir, &made_of), inputs, reporter);
        match &driven {
            Ok(driven) => known::keep(self.work.project, driven, &dir, &made_of)?,
            Err(error) if error.kind() == ErrorKind::C => known::keep_nothing(&dir, &made_of)?,
            Err(_) => {}
        }
        driven
    }

    fn run(
        &self,
        driver: Driver,
        (dir, made_of): (&Path, &str),
        inputs: Inputs,
        reporter: &mut dyn Reporter,
    ) -> Result<Driven> {
        let work = self.work;
        let (marks, committed) = (Marks { dir, made_of }, work.committed(&driver));
        let is_kept = inputs == Inputs::Kept && marks.is_done();
        let corpus = match is_kept || inputs == Inputs::Kept && marks.is_fuzzed() {
            true => Corpus::kept(dir)?,
            false => {
                marks.begin()?;
                let corpus = self.fuzzed(&driver, (dir, &committed), reporter)?;
                marks.fuzzed()?;
                corpus
            }
        };
        let program = self.built.program(&driver, self.parts, work.place(&self.watched)?)?;
        let corpus = match is_kept {
            true => corpus,
            false => {
                let corpus = self.without_breaking((&program, &driver), corpus, dir, reporter)?;
                marks.done()?;
                corpus
            }
        };
        let corpus = corpus.with(&committed)?;
        let Reached { all: reach, how, .. } = run::reach(&program, &corpus.inputs, REPLAY, work.interrupt)?;
        if let Some(how) = how {
            reporter.event(ends_early(&driver, (reach.len(), corpus.inputs.len()), &how));
        } else if reach.iter().all(|one| one.calls.is_empty()) {
            let (text, help) = useless(&driver, &corpus, &work.dir("fuzz"));
            reporter.event(Event::Warning { text, help: Some(help) });
        }
        Ok(Driven { driver, corpus, reach })
    }

    /// The corpus without inputs on which the driver breaks in a process of its own, with C alone. While it was fuzzed, what
    /// earlier inputs left in variables of the library may have kept it from that. One such input would end every run that
    /// judges a port.
    fn without_breaking(
        &self,
        (program, driver): (&Path, &Driver),
        corpus: Corpus,
        dir: &Path,
        reporter: &mut dyn Reporter,
    ) -> Result<Corpus> {
        let all: Vec<PathBuf> = corpus.inputs.iter().chain(&corpus.more).cloned().collect();
        let found = run::reach(program, &all, REPLAY, self.work.interrupt)?;
        let Some(how) = found.how.filter(|_| !found.all.is_empty()) else { return Ok(corpus) };
        reporter.event(ends_early(driver, (found.all.len(), all.len()), &how));
        for input in &found.breaking {
            if let Some(name) = input.file_name() {
                fs::rename(input, corpus.breaking_folder().join(name))?;
            }
        }
        Corpus::kept(dir)
    }

    fn fuzzed(&self, driver: &Driver, dirs: (&Path, &Path), reporter: &mut dyn Reporter) -> Result<Corpus> {
        let dir = self.work.dir("fuzz");
        let place = self.work.place(&dir)?;
        let sanitised = match self.sanitised.get() {
            Some(sanitised) => sanitised,
            None => {
                let made = corpus::sanitised(self.parts, place)?;
                self.sanitised.get_or_init(|| made)
            }
        };
        let step = format!("fuzzing {} for {} s", driver.file, self.parts.settings.seconds);
        reporter.event(Event::StepStarted { step, total: None });
        let corpus = sanitised.fuzz(driver, self.parts, place, dirs)?;
        reporter.event(Event::StepFinished { message: count(corpus.inputs.len(), "input") });
        Ok(corpus)
    }
}

/// The warning that a driver ends early on some inputs when calls are judged.
fn ends_early(driver: &Driver, (ran, all): (usize, usize), how: &str) -> Event {
    let file = &driver.file;
    let text = format!(
        "when calls are judged, the driver {file} runs on only {ran} of {all} inputs, because it ends early there: {how}"
    );
    let help = "let the driver do the same in all runs, whatever the environment, the memory, and what earlier inputs left in \
        variables of the library";
    Event::Warning { text, help: Some(help.to_owned()) }
}

/// Why a driver reaches nothing, and what to do.
fn useless(driver: &Driver, corpus: &Corpus, dir: &Path) -> (String, String) {
    let file = &driver.file;
    match corpus.breaking.first().filter(|_| corpus.inputs.is_empty()) {
        Some(first) => (
            format!("C breaks on all inputs of the driver {file}, so that nothing can be judged with it"),
            format!("{}/fuzz-{} {} shows how", dir.display(), driver.name, first.display()),
        ),
        None => (
            format!("no input of the driver {file} reaches anything in the library"),
            "call functions of the library in the driver".to_owned(),
        ),
    }
}
