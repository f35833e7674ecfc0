//! Where C breaks on inputs of drivers: some of the inputs run again, and their reports are grouped by place.

use super::{Report, Work};
use crate::error::Result;
use crate::in_place::{breaking, corpus};
use crate::platform::process::Interrupt;
use crate::project::Project;
use camino::{Utf8Path, Utf8PathBuf};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// How many inputs of a driver run again.
const SAMPLED: usize = 24;

/// A place where C breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultPlace {
    pub driver: Utf8PathBuf,
    /// What the sanitizer calls it.
    pub what: String,
    /// Function and line in the library, as far as they are known.
    pub place: String,
    /// Where the driver called the library.
    pub from: String,
    /// How many of the inputs that ran again break there.
    pub inputs: usize,
    pub first: PathBuf,
}

/// The places where C breaks, those of most inputs first.
///
/// # Errors
/// Those of running the drivers, and Ctrl-C.
pub fn fault_places(project: &Project, report: &Report, interrupt: &Interrupt) -> Result<Vec<FaultPlace>> {
    let work = Work::of(project, interrupt)?;
    let files = project.library.functions.iter().filter_map(|function| function.place.file.0.file_name());
    let files: BTreeSet<&str> = files.collect();
    let mut all = Vec::new();
    for driven in &report.drivers {
        let driver = &driven.driver;
        let program = corpus::program(&work.dir("fuzz"), driver);
        if !program.is_file() {
            continue;
        }
        let breaking = &driven.corpus.breaking;
        let step = breaking.len().div_ceil(SAMPLED).max(1);
        let sample: Vec<&PathBuf> = breaking.iter().step_by(step).collect();
        let told = sample.par_iter().map(|input| breaking::report(&program, input, interrupt));
        let told = told.collect::<Result<Vec<_>>>()?;
        let mut places: BTreeMap<(String, String, String), (usize, PathBuf)> = BTreeMap::new();
        for (input, report) in sample.into_iter().zip(told) {
            let not_again =
                || ("it ran to its end when it was tried again".to_owned(), String::new(), String::new());
            let name = driver.file.file_name().unwrap_or_default();
            let place = report.map_or_else(not_again, |report| place(&report, name, &files));
            places.entry(place).or_insert((0, input.clone())).0 += 1;
        }
        all.extend(places.into_iter().map(|((what, place, from), (inputs, first))| FaultPlace {
            driver: driver.file.clone(),
            what,
            place,
            from,
            inputs,
            first,
        }));
    }
    all.sort_by_key(|one| std::cmp::Reverse(one.inputs));
    Ok(all)
}

/// What a report is about: the kind of fault, the first place in a file of the library, and the driver's line. The C library
/// may have debug information, too: a failed assertion ends there.
fn place(report: &str, driver: &str, files: &BTreeSet<&str>) -> (String, String, String) {
    let error = report.lines().find_map(|line| line.split_once("ERROR: ")).map(|(_, rest)| rest);
    let kind = error.and_then(|rest| rest.split_once(": ")).map_or(report, |(_, kind)| kind);
    let what = kind.split(" on ").next().unwrap_or_default().lines().next().unwrap_or_default();
    // `#1 0x5 in function file.c:3:9`
    let frames: Vec<(&str, &str)> = report
        .lines()
        .filter(|line| line.trim_start().starts_with('#'))
        .filter_map(|line| line.split_once(" in ")?.1.split_once(' '))
        .filter(|(_, at)| {
            at.contains(".c:") || at.contains(".h:") || at.contains(".cc:") || at.contains(".cpp:")
        })
        .collect();
    let is_of_driver = |at: &str| at.split(':').next() == Some(driver);
    let without_column = |at: &str| at.split(':').take(2).collect::<Vec<_>>().join(":");
    let is_of_library = |at: &str| {
        let path = at.split(':').next().unwrap_or_default();
        files.contains(Utf8Path::new(path).file_name().unwrap_or_default())
    };
    let own = frames.iter().find(|(_, at)| is_of_library(at));
    let own = own.or_else(|| frames.iter().find(|(_, at)| !is_of_driver(at)));
    let from = frames.iter().find(|(_, at)| is_of_driver(at));
    (
        what.trim().to_owned(),
        own.map(|(function, at)| format!("{function}, {}", without_column(at))).unwrap_or_default(),
        from.map(|(_, at)| without_column(at)).unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_grouped_by_the_place_in_the_library_and_in_the_driver() {
        let report = "==7==ERROR: AddressSanitizer: SEGV on unknown address 0x8 (pc 0x1)\n\
            ==7==The signal is caused by a READ memory access.\n    #0 0x56 in strlen\n    \
            #1 0x57 in store_merge store.c:161:36\n    #2 0x58 in LLVMFuzzerTestOneInput calls.c:11:9";
        let files = BTreeSet::from(["store.c"]);
        let all = place(report, "calls.c", &files);
        assert_eq!(all, ("SEGV".into(), "store_merge, store.c:161".into(), "calls.c:11".into()));
        let late = place("==7==ERROR: libFuzzer: timeout after 2 seconds\n", "calls.c", &files);
        assert_eq!(late, ("timeout after 2 seconds".into(), String::new(), String::new()));
        assert_eq!(place("it does not return", "calls.c", &files).0, "it does not return");
        let failed = "==7==ERROR: libFuzzer: deadly signal\n    #1 0x1 in raise nptl/pthread_kill.c:43:3\n    \
            #2 0x57 in store_merge lib/store.c:161:36\n    #3 0x58 in driver_call calls.c:11:9";
        assert_eq!(place(failed, "calls.c", &files).1, "store_merge, lib/store.c:161");
    }
}
