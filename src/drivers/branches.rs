//! Counts the branches that C takes in the calls on which ports are judged.

use super::{Report, Work};
use crate::digest::of_parts;
use crate::error::Result;
use crate::event::{Event, Reporter};
use crate::fuzz::coverage::{Counters, Tables, counters};
use crate::in_place::build::{Parts, program};
use crate::in_place::candidates::Candidates;
use crate::in_place::run::{self, Number};
use crate::platform::process::Interrupt;
use crate::platform::workspace::write_atomic;
use crate::project::Project;
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use std::path::{Path, PathBuf};

/// What was counted.
#[derive(Debug)]
pub struct Branches {
    pub tables: Tables,
    /// In the order of the functions.
    pub counters: Vec<Counters>,
}

/// Counts for each function in as many calls of each driver as were judged.
///
/// # Errors
/// `C` if the library cannot be built, `Environment` if the counts are not understood, and Ctrl-C.
pub fn branches(
    project: &Project,
    report: &Report,
    judged: &[(Number, Vec<u64>)],
    interrupt: &Interrupt,
    reporter: &mut dyn Reporter,
) -> Result<Branches> {
    let work = Work::of(project, interrupt)?;
    let step = "counting branches of C in place".into();
    reporter.event(Event::StepStarted { step, total: None });
    let entries = work.entries()?;
    let parts = work.parts(&entries, Candidates::Branches);
    let dir = work.dir("branches");
    let programs = programs(&work, report, parts, &dir)?;
    let one = |(function, calls): &(Number, Vec<u64>)| {
        let mut profiles = Vec::new();
        for ((driven, program), calls) in report.drivers.iter().zip(&programs).zip(calls) {
            let inputs = driven.judged_on(*function)?;
            let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
            if *calls > 0 && !inputs.is_empty() {
                let file = dir.join(format!("{function}-{}.profraw", driven.driver.name));
                run::count_branches(program, *function, &inputs, (*calls, &file), interrupt)?;
                profiles.push(file);
            }
        }
        profiles.retain(|profile| profile.exists());
        let counted = counters(&profiles)?;
        profiles.iter().try_for_each(fs_err::remove_file)?;
        Ok(counted)
    };
    let counters = judged.par_iter().map(one).collect::<Result<_>>()?;
    let tables = Tables::read(programs.first().expect("a report has a driver"))?;
    reporter.event(Event::StepFinished { message: String::new() });
    Ok(Branches { tables, counters })
}

/// The file with the hash of what the programs are made of.
const MADE_OF: &str = "made-of";

/// The programs that count; those of an earlier port if nothing changed that they are made of, for C alone runs in them.
fn programs(work: &Work, report: &Report, parts: Parts, dir: &Path) -> Result<Vec<PathBuf>> {
    let texts = report.drivers.iter().map(|driven| work.made_of(&driven.driver));
    let linked = format!("{:?} {:?}", parts.link, parts.settings.link);
    let (analysis, tools) = (work.project.fingerprint.clone(), work.project.identity());
    let made_of = of_parts(texts.chain([analysis, tools, linked]));
    let file = dir.join(MADE_OF);
    let known: Vec<PathBuf> = report.drivers.iter().map(|driven| program(dir, &driven.driver)).collect();
    let is_known = std::fs::read_to_string(&file).is_ok_and(|kept| kept == made_of);
    if is_known && known.iter().all(|program| program.is_file()) {
        return Ok(known);
    }
    drop(std::fs::remove_file(&file));
    let built = work.programs(report, parts, dir)?;
    write_atomic(&file, made_of.as_bytes())?;
    Ok(built)
}
