//! Runs drivers to their ends with a port in C's place: what they leave is compared, not the calls.

use super::difference::{Difference, Told};
use super::run::{Number, broke, nth, report, script, scripted, started};
use crate::error::Result;
use crate::platform::process::Interrupt;
use std::path::Path;
use std::time::Duration;

/// How long a program may take, which ends by itself after three minutes by the clock.
const LIMIT: Duration = Duration::from_secs(210);

/// What whole runs with a port in C's place gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replaced {
    /// Inputs on which the driver leaves the same as with C.
    pub agreed: u64,
    /// Inputs on which the driver does not even leave the same with C twice.
    pub unsteady: u64,
    /// The first one on which it does not; the end of a run only where nothing else differs.
    pub differs: Option<Told>,
    pub broke: Option<String>,
}

impl Replaced {
    /// With what runs of another driver gave.
    pub fn add(&mut self, one: Self) {
        self.agreed += one.agreed;
        self.unsteady += one.unsteady;
        let is_end = |told: &Told| told.difference == Difference::Whole;
        self.differs = match (self.differs.take(), one.differs) {
            (Some(first), Some(other)) if is_end(&first) => Some(other),
            (first, other) => first.or(other),
        };
        self.broke = self.broke.take().or(one.broke);
    }
}

/// Runs a driver on inputs with the port in C's place.
///
/// # Errors
/// `Internal` if the program does not start, and Ctrl-C.
pub fn replace(
    program: &Path,
    function: Number,
    inputs: &[&Path],
    interrupt: &Interrupt,
) -> Result<Replaced> {
    let output =
        scripted(program, (script(&format!("replace {function}"), inputs), inputs), LIMIT, interrupt)?;
    let mut replaced = Replaced::default();
    for words in report(&String::from_utf8_lossy(&output.report)) {
        match words[..] {
            ["agrees", _] => replaced.agreed += 1,
            ["unsteady", _] => replaced.unsteady += 1,
            // The run with the port has only a guess of how long C takes.
            ["replaced", _, how, ..] if how.parse() == Ok(Difference::Hang as u8) => {
                replaced.broke = Some("it does not return in two seconds".to_owned());
            }
            ["replaced", input, how, ref said @ ..] if how != "0" || replaced.differs.is_none() => {
                let how = how.parse().ok().and_then(Difference::from_repr);
                replaced.differs = Some(Told {
                    difference: how.unwrap_or(Difference::Whole),
                    input: nth(inputs, input),
                    call: 0,
                    failing: None,
                    other_answer: None,
                    excuse: None,
                    places: Vec::new(),
                    excused: Vec::new(),
                    results: None,
                    said: said.join(" "),
                });
            }
            _ => {}
        }
    }
    started(program, &output)?;
    replaced.broke = replaced.broke.take().or_else(|| broke(&output, inputs));
    Ok(replaced)
}
