//! Findings of differences in place.

use crate::drivers::{self, Report};
use crate::error::Result;
use crate::fuzz::report::readable;
use crate::in_place::difference::{Difference, Told};
use crate::in_place::values::Differing;
use crate::verdict::{CallInPlace, Finding, FindingClass};

/// The finding of a difference, with the driver whose input it is.
pub(super) fn found(report: &Report, told: &Told, differing: Option<&Differing>) -> Result<Finding> {
    let has_input = |driven: &&drivers::Driven| driven.corpus.has(&told.input);
    let driver = report.drivers.iter().find(has_input).map(|driven| driven.driver.file.to_string());
    Ok(finding(&driver.unwrap_or_default(), (told, differing), fs_err::read(&told.input)?))
}

/// The finding of a difference, with what differs where that is known.
pub(super) fn finding(
    driver: &str,
    (told, differing): (&Told, Option<&Differing>),
    input: Vec<u8>,
) -> Finding {
    let (class, what) = match (told.difference, differing) {
        (_, Some(differing)) => (FindingClass::Mismatch, differing.path.clone()),
        (difference, None) => of_kind(difference, &told.said),
    };
    let part = |value: &str| vec![(what.clone(), value.to_owned())];
    let values = differing.and_then(|differing| differing.values.as_ref());
    let (oracle, subject) = values.map(|values| (part(&values.c), part(&values.port))).unwrap_or_default();
    let place = CallInPlace {
        driver: driver.to_owned(),
        call: told.call,
        failing: told.failing,
        other_answer: told.other_answer.clone(),
    };
    Finding { class, what, input, args: Vec::new(), oracle, subject, place: Some(place) }
}

/// Class and text of a difference of this kind; `said` is what a panic printed.
fn of_kind(difference: Difference, said: &str) -> (FindingClass, String) {
    match difference {
        Difference::Exit if !said.is_empty() => (FindingClass::Panic, readable(said)),
        Difference::Exit => (FindingClass::SilentExit, "it ends the process".to_owned()),
        Difference::Crash if !said.is_empty() => (FindingClass::Abort, said.to_owned()),
        Difference::Crash => (FindingClass::Abort, "it crashes".to_owned()),
        Difference::Hang => (FindingClass::Timeout, "it does not return in ten times C's time".to_owned()),
        Difference::RustHeap => (FindingClass::Leak, "it keeps memory of Rust's allocator".to_owned()),
        Difference::Result => (FindingClass::Mismatch, "return value".to_owned()),
        Difference::Memory if !said.is_empty() => (FindingClass::Mismatch, said.to_owned()),
        Difference::Memory => {
            (FindingClass::Mismatch, "memory that the library or the driver allocated".to_owned())
        }
        Difference::Variable => (FindingClass::Mismatch, "a variable".to_owned()),
        Difference::Stack => (FindingClass::Mismatch, "memory on the caller's stack".to_owned()),
        Difference::Errno => (FindingClass::Mismatch, "errno".to_owned()),
        Difference::Allocation => (FindingClass::Mismatch, "the number of allocated blocks".to_owned()),
        Difference::Outside if !said.is_empty() => (FindingClass::Mismatch, said.to_owned()),
        Difference::Outside => {
            (FindingClass::Mismatch, "its calls of the system are not those of C".to_owned())
        }
        Difference::Callbacks => {
            (FindingClass::Mismatch, "its calls of the program's own functions are not those of C".to_owned())
        }
        Difference::Whole => (FindingClass::Mismatch, "how the driver ends with it in C's place".to_owned()),
    }
}
