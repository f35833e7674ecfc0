//! Fuzzes on for single functions, where the inputs of a corpus are not enough to judge them.

use super::side_by_side::side_by_side;
use super::{Driven, Report, Work};
use crate::count::count;
use crate::error::Result;
use crate::event::{Event, Reporter};
use crate::in_place::candidates::Candidates;
use crate::in_place::corpus;
use crate::in_place::focus::{Focus, NEW_TIME, Wanted};
use crate::in_place::run::Number;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// Fuzzes on for these functions, with each driver that reaches them, unless that was done since the last campaign.
/// Returns those that have new inputs. All share the time of a campaign, but a function gets a second at least, and at most
/// the time for judging it.
///
/// # Errors
/// `C` if a driver cannot be built, `Io` if the disk is full, and Ctrl-C.
pub(super) fn fuzz_on(
    work: &Work,
    report: &Report,
    (functions, wanted): (&[Number], Wanted),
    reporter: &mut dyn Reporter,
) -> Result<Vec<Number>> {
    let is_open = |driven: &Driven, number: Number| {
        !wanted.folder(&driven.corpus, number).is_dir() && !driven.inputs_of(number).is_empty()
    };
    let numbered = report.drivers.iter().enumerate();
    let open: Vec<(usize, Number)> = numbered
        .flat_map(|(at, driven)| {
            functions.iter().filter(move |number| is_open(driven, **number)).map(move |number| (at, *number))
        })
        .collect();
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let settings = &work.project.config.drivers;
    let shared = Duration::from_secs(settings.seconds) * rayon::current_num_threads() as u32;
    let second = Duration::from_secs(1);
    let time = (shared / open.len() as u32).clamp(second, settings.time_for_function().max(second));
    let numbers: BTreeSet<Number> = open.iter().map(|(_, number)| *number).collect();
    let step = format!("fuzzing on for {}, {} s each", count(numbers.len(), "function"), time.as_secs());
    fuzz(step, (work, report), (&open, wanted, time), reporter)?;
    Ok(numbers.into_iter().collect())
}

/// Makes new inputs with each driver that reaches one of these functions, in so many times the usual second. A port may have
/// been written for the kept ones.
///
/// # Errors
/// `C` if a driver cannot be built, `Io` if the disk is full, and Ctrl-C.
pub(super) fn fuzz_anew(
    work: &Work,
    report: &Report,
    (functions, times): (&[Number], u32),
    reporter: &mut dyn Reporter,
) -> Result<()> {
    let reaches = |at: usize, number: &Number| !report.drivers[at].inputs_of(*number).is_empty();
    let of = |at: usize| {
        functions.iter().filter(move |number| reaches(at, number)).map(move |number| (at, *number))
    };
    let wanted: Vec<(usize, Number)> = (0..report.drivers.len()).flat_map(of).collect();
    let step = format!("making new inputs for {}", count(functions.len(), "port"));
    fuzz(step, (work, report), (&wanted, Wanted::New, NEW_TIME * times), reporter)
}

/// Fuzzes for functions, each with a driver. Where libFuzzer ends early, there may be crashes of C, or no inputs.
fn fuzz(
    step: String,
    (work, report): (&Work, &Report),
    (open, wanted, time): (&[(usize, Number)], Wanted, Duration),
    reporter: &mut dyn Reporter,
) -> Result<()> {
    let programs = programs(work, report)?;
    let words = corpus::words(&work.dir("fuzz"));
    let (drivers, interrupt, library) = (&report.drivers, work.interrupt, &work.project.library);
    let fuzz = |(at, number): &(usize, Number)| {
        let corpus = &drivers[*at].corpus;
        let breaking = corpus.breaking_folder();
        let focus = Focus { program: &programs[*at], words: words.as_deref(), breaking: &breaking };
        let seeds = drivers[*at].inputs_of(*number);
        let to = wanted.folder(corpus, *number);
        focus.fuzz(&library.functions[*number].c_name, (&seeds, &to), (wanted, time), interrupt)
    };
    let ran = side_by_side(step, open, reporter, fuzz)?;
    let early = ran.iter().filter(|ran| !**ran).count();
    // A run of a second may end without any input that reaches the function.
    let is_short = matches!(wanted, Wanted::New);
    let failed = open.iter().zip(&ran).find(|(_, ran)| !**ran && !is_short);
    if let Some(((at, number), _)) = failed {
        let (driver, function) = (&drivers[*at].driver.file, &library.functions[*number].name);
        let folder = drivers[*at].corpus.breaking_folder();
        let folder = folder.strip_prefix(work.root).unwrap_or(&folder).display();
        let text =
            format!("libFuzzer ended early when it made more inputs for {early} of {} functions", ran.len());
        let help = format!(
            "either C breaks on too many new inputs, or none of them reaches the function. The first such function is `{function}`, with the driver \
             {driver}; its inputs on which C breaks are in {folder}. These functions are judged on the inputs so far"
        );
        reporter.event(Event::Warning { text, help: Some(help) });
    }
    Ok(())
}

/// The drivers with the sanitised library. A campaign leaves them; where they are gone, they are built again.
fn programs(work: &Work, report: &Report) -> Result<Vec<PathBuf>> {
    let dir = work.dir("fuzz");
    let known: Vec<PathBuf> =
        report.drivers.iter().map(|driven| corpus::program(&dir, &driven.driver)).collect();
    if known.iter().all(|program| program.is_file()) {
        return Ok(known);
    }
    let entries = work.entries()?;
    let (parts, place) = (work.parts(&entries, Candidates::None), work.place(&dir)?);
    let sanitised = corpus::sanitised(parts, place)?;
    report.drivers.iter().map(|driven| sanitised.program(&driven.driver, parts, place)).collect()
}
