//! Measures the harness of a function without a port or a model: the C original against itself must never differ,
//! and its mutants should.
//!
//! The mutants are built into a C side and a port crate of their own, outside the tree.

mod bench;
mod builds;
pub mod port;

pub use bench::Bench;

use crate::c::mutants::{Mutant, Mutants, Plant};
use crate::config::Grades;
use crate::count::count;
use crate::digest::sha256;
use crate::error::{ErrorKind, Result};
use crate::event::Event;
use crate::evidence::grade;
use crate::fuzz::campaign::{Budget, Campaign};
use crate::fuzz::isolated_replay::PRECONDITION;
use crate::fuzz::mutants::{AgainstItself, MutantRun};
use crate::fuzz::parallel::{Word, abreast};
use crate::judge::{Judge, Judging};
use crate::platform::process::Interrupt;
use crate::project::FunctionPlan;
use crate::store::{Measure, Store};
use crate::symbol::{SymbolKey, SymbolName};
use crate::verdict::{CFault, Finding, Measured, RunStats, Share};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

/// Largest number of mutants of one function.
const MOST: usize = crate::drivers::MOST;
/// The budget of the run of the original against itself.
const ITSELF: Budget = Budget { seconds: 3, executions: Some(20_000) };
/// Largest number of mutants in one build, which compiles the text of each once more.
const BATCH: usize = 60;
/// Why an equivalent mutant needs no killing input.
pub(super) const SAME: &str = "it compiles to the code of the original";
/// Changes when the measurement changes, so that stored results are not reused.
const EDITION: u32 = 5;

/// The result of running a mutant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "fate")]
pub enum Fate {
    /// The difference that killed it.
    Killed {
        by: String,
    },
    Survived,
    /// It behaves as the original, according to a person or the compiler.
    Equivalent {
        reason: String,
    },
}

/// A mutant and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    #[serde(flatten)]
    pub mutant: Mutant,
    #[serde(flatten)]
    pub fate: Fate,
}

/// The measurements of a harness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Adequacy {
    pub key: SymbolKey,
    pub symbol: SymbolName,
    pub file: String,
    pub executions: u64,
    /// From 0 to 1; `None` when nothing ran.
    pub accept_rate: Option<f64>,
    pub executions_per_second: Option<u64>,
    /// Inputs on which C crashed or that the contract excludes, by reason, most frequent first.
    pub rejected: Vec<(String, u64)>,
    /// A difference of C from itself, which makes judging impossible.
    pub difference: Option<String>,
    pub mutants: Vec<Tried>,
    /// Wall time of the mutant runs, milliseconds.
    pub mutant_millis: u64,
    /// Why there are no mutants, or why their results are inconclusive.
    pub without: Option<String>,
}

/// Why nothing is known of mutants where C broke on each input, or the contract excludes it.
const NONE_ACCEPTED: &str = "the original accepted no input";
/// Why nothing is known of mutants where even an unchanged copy of C is killed, with what killed it.
const COPY_DIFFERS: &str = "a plain copy of its text differs from it: ";
/// Why nothing is known of mutants where the time was over too early.
const NONE_RUN: &str =
    "no input was run to its end in the time; `--seconds` or grade.mutant_seconds gives more";

impl Adequacy {
    /// With the mutants killed that another measurement killed.
    #[must_use]
    pub fn with_kills_of(&self, other: &Self) -> Self {
        let is_killed = |tried: &Tried| matches!(tried.fate, Fate::Killed { .. });
        let killed = |own: &Tried| {
            let same =
                other.mutants.iter().find(|tried| tried.mutant.id == own.mutant.id && is_killed(tried));
            same.filter(|_| own.fate == Fate::Survived).unwrap_or(own).clone()
        };
        Self { mutants: self.mutants.iter().map(killed).collect(), ..self.clone() }
    }

    /// Whether more time or another moment may give another result, which is worth nothing later.
    fn is_out_of_time(&self) -> bool {
        self.without.as_deref() == Some(NONE_RUN)
    }

    /// Killed mutants of those that are not equivalent.
    pub fn kills(&self) -> Measured<Share> {
        kills(&self.mutants, self.without.as_ref())
    }

    /// Why the harness can judge no port, whatever that does: C differs from itself in it, or breaks on all inputs. Or C
    /// reads memory that is there by chance, so that an unchanged copy of it breaks, and so may a right port. A contract that
    /// a person edited must not turn the harness off by leaving C no input.
    pub fn unsound(&self, is_edited: bool) -> Option<String> {
        if let Some(difference) = &self.difference {
            return Some(format!("C differs from itself: {difference}"));
        }
        let broke = self.without.as_deref().and_then(|why| why.strip_prefix(COPY_DIFFERS));
        if let Some(what) = broke.filter(|what| is_break(what)) {
            return Some(format!("a plain copy of C breaks where C does not: {what}"));
        }
        let why = self.rejected.first().map_or(String::new(), |(why, _)| format!(" ({why})"));
        (!is_edited && self.without.as_deref() == Some(NONE_ACCEPTED))
            .then(|| format!("C accepts no input{why}: the contract is wrong or too wide"))
    }

    /// The reasons not to trust the harness.
    pub fn shortcomings(&self, asked: &Grades) -> Vec<String> {
        if let Some(what) = &self.difference {
            return vec![format!("C differs from itself: {what}")];
        }
        let accepted = grade::accepted(self.accept_rate, asked).map(|text| match self.rejected.first() {
            Some((why, _)) if why == PRECONDITION => {
                format!("{text}: its contract excludes the others; use `min` and `max`, which limit the generated values, rather than `require`, which filters them")
            }
            Some((why, _)) => format!("{text} ({why}): the contract is wrong or too wide"),
            None => text,
        });
        accepted.into_iter().chain(grade::kills(&self.kills(), asked)).collect()
    }
}

impl Judging<'_, '_> {
    /// The measurements of the harnesses of `wanted`, which must have one: from the store, else measured now and
    /// stored.
    pub fn adequacy(&mut self, wanted: &[&FunctionPlan]) -> Result<BTreeMap<SymbolKey, Adequacy>> {
        let mut all = BTreeMap::new();
        let mut unknown = Vec::new();
        for planned in wanted {
            match stored(self.judge, self.store, planned)? {
                Some(adequacy) => drop(all.insert(planned.function.key.clone(), adequacy)),
                None => unknown.push(*planned),
            }
        }
        let grade = &self.judge.project.config.grade;
        if grade.measure {
            let measured = self.measure_harnesses(&unknown, grade.mutant_seconds, Faults::Kept)?;
            all.extend(measured.into_iter().map(|adequacy| (adequacy.key.clone(), adequacy)));
        }
        Ok(all)
    }

    /// Measures the harnesses of `wanted`, which must have one, and stores the results; each gets this number of
    /// seconds for its mutants.
    pub fn measure_harnesses(
        &mut self,
        wanted: &[&FunctionPlan],
        seconds: u64,
        faults: Faults,
    ) -> Result<Vec<Adequacy>> {
        let (mut all, judge, interrupt) = (Vec::new(), self.judge, self.judge.interrupt);
        for batch in wanted.chunks(BATCH) {
            self.reporter.event(judge.building("mutants of C")?);
            let made = builds::make(judge, batch, Plant::Nothing)?;
            let binary = builds::build(judge, batch, &made)?;
            let mutants: usize = made.of.values().map(Vec::len).sum();
            let message = format!("{} of {} built", count(mutants, "mutant"), count(batch.len(), "function"));
            self.reporter.event(Event::StepFinished { message });
            let jobs: Vec<Job> =
                batch.iter().map(|planned| Job::of(judge, planned, &binary, &made)).collect();
            let work = |job: &Job, see: &mut dyn FnMut(&RunStats)| job.run(seconds, interrupt, see);
            let before = all.len();
            abreast(&jobs, &work, interrupt, &mut |at, word| {
                let planned = batch[at];
                let symbol = planned.function.name.clone();
                match word {
                    Word::Begun => self.reporter.event(Event::SymbolStarted {
                        symbol,
                        work: "harness",
                        index: before + at + 1,
                        total: wanted.len(),
                    }),
                    Word::Stats(stats) => self.reporter.event(Event::Fuzzing { symbol, stats }),
                    Word::Ended(ran) => {
                        if let Some(found) = ran.c_fault.as_ref().filter(|_| faults == Faults::Kept) {
                            self.keep_c_fault(planned, found, None)?;
                        }
                        // A harness that did not start may start next time. And C may have changed.
                        let is_passing =
                            ran.did_not_start || judge.had_other_c() || judge.changed_c()?.is_some();
                        let adequacy = adequacy(planned, &made, ran);
                        let about = about(judge, planned)?;
                        if !adequacy.is_out_of_time() && !is_passing {
                            let of = (&adequacy.key, Measure::Harness);
                            self.store.put_mutation_score(of, &about, &adequacy)?;
                        }
                        self.reporter.event(finished(symbol, &adequacy, &judge.project.config.grade));
                        all.push(adequacy);
                    }
                }
                Ok(())
            })?;
        }
        Ok(all)
    }
}

/// The stored measurement of a function's harness, if it fits the tree; `None` without a harness, too.
pub fn stored(judge: &Judge, store: &Store, planned: &FunctionPlan) -> Result<Option<Adequacy>> {
    let Some(_) = planned.judgeable.contract() else { return Ok(None) };
    store.mutation_score((&planned.function.key, Measure::Harness), &about(judge, planned)?)
}

/// The hash of everything that the measurement of a harness depends on.
fn about(judge: &Judge, planned: &FunctionPlan) -> Result<String> {
    let hashes = judge.harness_hashes(planned)?;
    Ok(sha256(format!("{EDITION} {} {} {}", hashes.c, hashes.contract, hashes.harness)))
}

/// What to do with inputs on which C disagrees with itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Faults {
    Kept,
    /// The contract is a tentative file: faults of C under a wrong contract are no C faults.
    Dropped,
}

fn finished(symbol: SymbolName, adequacy: &Adequacy, asked: &Grades) -> Event {
    let shortcomings = adequacy.shortcomings(asked);
    let summary = match (shortcomings.is_empty(), adequacy.kills()) {
        (true, Measured::Yes(Share { reached, total })) => format!("{reached} of {total} mutants killed"),
        _ => shortcomings.join("; "),
    };
    Event::SymbolFinished { symbol, ok: shortcomings.is_empty(), grade: None, summary }
}

/// The runs for one function.
struct Job {
    campaign: Campaign,
    /// Numbers of the mutants that compile to the original's code; `None` if it has no mutants.
    same: Option<BTreeSet<usize>>,
}

/// The results of these runs.
struct Ran {
    /// Statistics of the run of the original against itself.
    stats: RunStats,
    difference: Option<Finding>,
    /// The result of C alone on an input of a difference.
    c_fault: Option<CFault>,
    mutants: MutantRun,
    mutant_millis: u64,
    /// The harness could not be run at all.
    did_not_start: bool,
}

impl Job {
    fn of(judge: &Judge, planned: &FunctionPlan, binary: &Path, made: &Mutants) -> Self {
        let name = &planned.function.name;
        let same = made.of.contains_key(name).then(|| made.same.get(name).cloned().unwrap_or_default());
        Self { campaign: judge.campaign(binary, planned), same }
    }

    fn run(&self, seconds: u64, interrupt: &Interrupt, see: &mut dyn FnMut(&RunStats)) -> Result<Ran> {
        let AgainstItself { stats, difference, c_fault } =
            match self.campaign.against_itself(ITSELF, interrupt, see) {
                // A harness that cannot be run must not stop the measurement of the others.
                Err(error) if error.kind() == ErrorKind::Internal => {
                    let broken = Some(format!("the harness cannot be run: {error}"));
                    let mutants = MutantRun { broken, ..MutantRun::default() };
                    let stats = RunStats::default();
                    let (difference, c_fault, mutant_millis, did_not_start) = (None, None, 0, true);
                    return Ok(Ran { stats, difference, c_fault, mutants, mutant_millis, did_not_start });
                }
                other => other?,
            };
        let start = Instant::now();
        let mutants = match &self.same {
            Some(same) if difference.is_none() => {
                let budget = Budget { seconds, executions: None };
                self.campaign.against_mutants(same, budget, interrupt, see)?
            }
            _ => MutantRun::default(),
        };
        let mutant_millis = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(Ran { stats, difference, c_fault, mutants, mutant_millis, did_not_start: false })
    }
}

fn adequacy(planned: &FunctionPlan, made: &Mutants, ran: Ran) -> Adequacy {
    let Ran { stats, difference, mutants: run, mutant_millis, .. } = ran;
    let name = &planned.function.name;
    let list = made.of.get(name);
    let same = made.same.get(name).cloned().unwrap_or_default();
    let without = match (&difference, list) {
        (Some(_), _) => Some("C differs from itself".to_owned()),
        (None, None) => made.without.get(name).cloned().or(Some("no unit defines it".to_owned())),
        (None, Some(_)) => unusable(&run),
    };
    let fates = |(at, mutant): (usize, &Mutant)| match same.contains(&(at + 1)) {
        true => Tried { mutant: mutant.clone(), fate: Fate::Equivalent { reason: SAME.to_owned() } },
        false => tried(planned, mutant, run.killed.get(&(at + 1)).map(|kill| kill.what.clone())),
    };
    let mut rejected = stats.rejected.clone();
    rejected.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Adequacy {
        key: planned.function.key.clone(),
        symbol: name.clone(),
        file: planned.function.place.file.to_string(),
        executions: stats.executions,
        accept_rate: stats.accept_rate(),
        executions_per_second: (stats.executions * 1000).checked_div(stats.millis),
        rejected,
        difference: difference.map(|finding| finding.what),
        mutants: match without {
            None => list.into_iter().flatten().enumerate().map(fates).collect(),
            Some(_) => Vec::new(),
        },
        mutant_millis,
        without,
    }
}

/// The result of a mutant; `by` is the difference that killed it, if any.
pub(super) fn tried(planned: &FunctionPlan, mutant: &Mutant, by: Option<String>) -> Tried {
    let marked = planned.judgeable.contract().into_iter().flat_map(|c| &c.equivalent);
    let marked = marked.filter(|e| e.mutant == mutant.id).map(|e| e.reason.clone()).next();
    let fate = match (by, marked) {
        (Some(by), _) => Fate::Killed { by },
        (None, Some(reason)) => Fate::Equivalent { reason },
        (None, None) => Fate::Survived,
    };
    Tried { mutant: mutant.clone(), fate }
}

/// Killed mutants of those that are not equivalent.
fn kills(mutants: &[Tried], without: Option<&String>) -> Measured<Share> {
    if let Some(why) = without {
        return Measured::No(why.clone());
    }
    let of = |is: fn(&Fate) -> bool| mutants.iter().filter(|m| is(&m.fate)).count() as u64;
    let equivalent = of(|fate| matches!(fate, Fate::Equivalent { .. }));
    let reached = of(|fate| matches!(fate, Fate::Killed { .. }));
    Measured::Yes(Share { reached, total: mutants.len() as u64 - equivalent })
}

/// Why a mutant run in which no input reached the mutants is inconclusive. Executions are counted when they begin.
fn without_calls(stats: &RunStats) -> Option<String> {
    match (stats.oracle_calls, stats.rejected.is_empty()) {
        (0, true) => Some(NONE_RUN.to_owned()),
        (0, false) => Some(NONE_ACCEPTED.to_owned()),
        _ => None,
    }
}

/// Whether the guard left the call: what it says begins with the sanitizer or the signal.
fn is_break(what: &str) -> bool {
    ["asan ", "ubsan ", "SIG", "hang"].iter().any(|start| what.starts_with(start))
}

/// Why a mutant run is inconclusive.
fn unusable(run: &MutantRun) -> Option<String> {
    match run.killed.get(&0) {
        Some(kill) => Some(format!("{COPY_DIFFERS}{}", kill.what)),
        None => run.broken.clone().or_else(|| without_calls(&run.stats)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_time_says_nothing_of_the_contract() {
        let run = |executions, oracle_calls, rejected: &[(String, u64)]| {
            let rejected = rejected.to_vec();
            let stats = RunStats { executions, oracle_calls, rejected, ..RunStats::default() };
            unusable(&MutantRun { stats, ..MutantRun::default() })
        };
        let rejected = [("asan load8".to_owned(), 6)];
        assert_eq!(run(0, 0, &[]).as_deref(), Some(NONE_RUN));
        // The first report comes before the first input runs.
        assert_eq!(run(1, 0, &[]).as_deref(), Some(NONE_RUN));
        assert_eq!(run(7, 0, &rejected).as_deref(), Some(NONE_ACCEPTED));
        assert_eq!(run(7, 1, &rejected), None);
    }

    #[test]
    fn a_harness_in_which_a_copy_of_c_breaks_judges_no_port() {
        let with = |without: String| Adequacy {
            key: SymbolKey("c:@F@f".into()),
            symbol: SymbolName::new("f"),
            file: "f.c".into(),
            executions: 9,
            accept_rate: Some(1.0),
            executions_per_second: None,
            rejected: Vec::new(),
            difference: None,
            mutants: Vec::new(),
            mutant_millis: 0,
            without: Some(without),
        };
        let why = with(format!("{COPY_DIFFERS}asan load1")).unsound(true).unwrap();
        assert_eq!(why, "a plain copy of C breaks where C does not: asan load1");
        // A copy may have a constant of its own at another address.
        assert_eq!(with(format!("{COPY_DIFFERS}return value")).unsound(false), None);
    }
}
