//! Findings of differences in place.

use crate::drivers::{self, Report};
use crate::error::Result;
use crate::in_place::run::{Difference, Told};
use crate::verdict::{CallInPlace, Finding, FindingClass};

/// The finding of a difference, with the driver whose input it is.
pub(super) fn found(report: &Report, told: &Told, path: Option<String>) -> Result<Finding> {
    let has_input = |driven: &&drivers::Driven| {
        let corpus = &driven.corpus;
        corpus.inputs.contains(&told.input) || corpus.more.contains(&told.input)
    };
    let driver = report.drivers.iter().find(has_input).map(|driven| driven.driver.file.to_string());
    Ok(finding(&driver.unwrap_or_default(), (told, path), fs_err::read(&told.input)?))
}

/// The finding of a difference, with the place of it where that is known.
pub(super) fn finding(driver: &str, (told, path): (&Told, Option<String>), input: Vec<u8>) -> Finding {
    let (class, what) = match told.difference {
        Difference::Memory | Difference::Stack if path.is_some() => {
            (FindingClass::Mismatch, path.unwrap_or_default())
        }
        Difference::Exit if !told.said.is_empty() => (FindingClass::Panic, told.said.clone()),
        Difference::Exit => (FindingClass::SilentExit, "it ends the process".to_owned()),
        Difference::Crash => (FindingClass::Abort, "it crashes".to_owned()),
        Difference::Hang => (FindingClass::Timeout, "it does not return in ten times C's time".to_owned()),
        Difference::RustHeap => (FindingClass::Leak, "it keeps memory of Rust's allocator".to_owned()),
        Difference::Result => (FindingClass::Mismatch, "return value".to_owned()),
        Difference::Memory => {
            (FindingClass::Mismatch, "memory that the library or the driver allocated".to_owned())
        }
        Difference::Variable => (FindingClass::Mismatch, "a variable".to_owned()),
        Difference::Stack => (FindingClass::Mismatch, "memory on the caller's stack".to_owned()),
        Difference::Errno => (FindingClass::Mismatch, "errno".to_owned()),
        Difference::Allocation => (FindingClass::Mismatch, "the number of allocated blocks".to_owned()),
        Difference::Outside if !told.said.is_empty() => (FindingClass::Mismatch, told.said.clone()),
        Difference::Outside => {
            (FindingClass::Mismatch, "its calls of the system are not those of C".to_owned())
        }
        Difference::Whole => (FindingClass::Mismatch, "how the driver ends with it in C's place".to_owned()),
    };
    let place = CallInPlace { driver: driver.to_owned(), call: told.call, failing: told.failing };
    let (args, oracle, subject) = (Vec::new(), Vec::new(), Vec::new());
    Finding { class, what, input, args, oracle, subject, place: Some(place) }
}
