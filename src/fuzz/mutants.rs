//! Runs that measure a harness: the C original against itself, which must never differ, and against its
//! mutants, which should.

use super::campaign::{Budget, Campaign, Leg, Mutated, Subject, Written, sum};
use super::libfuzzer_process::Ended;
use super::report::Kill;
use crate::error::Result;
use crate::platform::process::{Exit, Interrupt, time_limits};
use crate::verdict::{CFault, CFaultKind, Finding, RunStats};
use fs_err as fs;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// The result of a run over mutants.
#[derive(Debug, Clone, Default)]
pub struct MutantRun {
    pub stats: RunStats,
    /// Killed mutants by number. Number 0 is the unchanged copy, which should not be among them.
    pub killed: BTreeMap<usize, Kill>,
    /// Why the run ended early, if so.
    pub broken: Option<String>,
}

/// The result of a run of the original against itself.
#[derive(Debug, Clone, Default)]
pub struct AgainstItself {
    pub stats: RunStats,
    pub difference: Option<Finding>,
    /// What C alone does on an input of a difference.
    pub c_fault: Option<CFault>,
}

/// How often the original is run against itself while inputs end the runs on which C alone crashes or hangs.
const TURNS: u32 = 3;
/// Maximum number of mutants that may end the process; after that the others are given up.
const ENDS: usize = 16;
/// Maximum number of stalls while the original runs.
pub(super) const STALLS: usize = 2;
/// An upper bound for the size of tables of mutants.
const TABLE: usize = 1 << 12;
/// A mutant that takes longer than this hangs, if the original takes less. Milliseconds of processor time.
pub(super) const CALL_TIMEOUT_MS: u64 = 200;

impl Campaign {
    /// Runs the original against itself, from an empty corpus. An input on which C alone crashes or hangs in any of its
    /// runs says nothing of the harness: then other inputs are tried.
    pub fn against_itself(
        &self,
        budget: Budget,
        interrupt: &Interrupt,
        see: &mut dyn FnMut(&RunStats),
    ) -> Result<AgainstItself> {
        let stats = RunStats { seed: self.seed, ..RunStats::default() };
        let mut ran = AgainstItself { stats, ..AgainstItself::default() };
        let mut broke: Vec<Vec<u8>> = Vec::new();
        for turn in 0..TURNS {
            // A turn takes a second seed where its first one finds nothing out.
            let seed = self.seed.wrapping_add(2 * turn);
            let own = Campaign { subject: Subject::Original, seed, ..self.clone() };
            own.write_boundaries(Written::Usual, interrupt)?;
            own.forget_boundaries(&broke)?;
            let (stats, ended) = own.leg_looked_at(budget.into(), interrupt, see)?;
            ran.stats = sum(&ran.stats, &stats);
            let Ended::Found(found) = ended else { return Ok(AgainstItself { difference: None, ..ran }) };
            ran.c_fault = self.c_alone(&found.smallest.input, interrupt)?;
            broke.extend(found.first.map(|first| first.input));
            broke.push(found.smallest.input.clone());
            ran.difference = Some(found.smallest);
            if ran.c_fault.as_ref().is_none_or(|fault| fault.kind == CFaultKind::Differs) {
                break;
            }
        }
        Ok(ran)
    }

    /// Removes these inputs from the boundary inputs, which do not depend on the seed.
    fn forget_boundaries(&self, inputs: &[Vec<u8>]) -> Result<()> {
        if inputs.is_empty() {
            return Ok(());
        }
        for entry in fs::read_dir(self.boundaries())? {
            let path = entry?.path();
            if inputs.contains(&fs::read(&path)?) {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    /// Runs all mutants, without those in `equal`, side by side on the same inputs, starting with those of
    /// the last run, until all are killed or the budget is used up. Every mutant runs on every input until it
    /// is killed.
    pub fn against_mutants(
        &self,
        equal: &BTreeSet<usize>,
        budget: Budget,
        interrupt: &Interrupt,
        see: &mut dyn FnMut(&RunStats),
    ) -> Result<MutantRun> {
        self.kill(Mutated::Original, ENDS, equal, budget, interrupt, see)
    }

    /// Runs all mutants of the port side by side, on the inputs that the last run kept and on new ones.
    /// `count` is their number: each may end the process once.
    pub fn against_port_mutants(
        &self,
        count: usize,
        budget: Budget,
        interrupt: &Interrupt,
        see: &mut dyn FnMut(&RunStats),
    ) -> Result<MutantRun> {
        // Use another directory: these findings must not change the inputs on which the port itself was
        // judged.
        let mut regressions = self.regressions.clone();
        regressions.push(self.corpus());
        let own = Campaign { work: self.work.join("port-mutants"), regressions, ..self.clone() };
        own.write_boundaries(Written::Usual, interrupt)?;
        own.kill(Mutated::Port, count + 1, &BTreeSet::new(), budget, interrupt, see)
    }

    fn kill(
        &self,
        of: Mutated,
        ends: usize,
        equal: &BTreeSet<usize>,
        budget: Budget,
        interrupt: &Interrupt,
        see: &mut dyn FnMut(&RunStats),
    ) -> Result<MutantRun> {
        let mut run = MutantRun::default();
        // Mutants that ran when a process ended but do not end it alone.
        let (mut aside, mut stalls) = (BTreeSet::new(), 0);
        // How C ended the last process.
        let mut broken = None;
        let deadline = Instant::now() + Duration::from_secs(budget.seconds.max(1));
        for _ in 0..ends {
            let skipped: Vec<String> =
                run.killed.keys().chain(equal).chain(&aside).map(usize::to_string).collect();
            let time = deadline.saturating_duration_since(Instant::now());
            if time.is_zero() {
                break;
            }
            let current = self.work.join("current-mutant");
            drop(fs::remove_file(&current));
            let subject = Subject::Mutants { of, skipped: skipped.join(","), current: current.clone() };
            let own = Campaign { subject, call_timeout_ms: CALL_TIMEOUT_MS, ..self.clone() };
            let left = Leg { time, ..budget.into() };
            let (output, told) = own.run(left, self.seed.wrapping_add(stalls as u32), interrupt, see)?;
            run.stats = sum(&run.stats, &told.stats);
            run.killed.extend(told.killed);
            if told.done && output.exit.success() {
                return Ok(run);
            }
            let Some(number) = ran_last(&current) else {
                let how = if output.exit == Exit::Code(70) { "hangs" } else { "breaks" };
                let why = format!("the C original {how} in a way that the guard does not see");
                if stalls == STALLS {
                    run.broken = Some(why);
                    return Ok(run);
                }
                // A busy machine can be the cause, or an input on which C breaks: others may say more.
                let is_slow = is_ended_from_outside(output.exit) || output.exit == Exit::Code(70);
                broken = (!is_slow).then_some(why);
                stalls += 1;
                continue;
            };
            broken = None;
            let number = number as usize;
            let what = if output.exit == Exit::Code(70) { "does not return" } else { "ends the process" };
            match own.repeats(number, of, output.exit, interrupt)? {
                Some(kill) => drop(run.killed.insert(number, kill.unwrap_or(Kill { what: what.into() }))),
                None => drop(aside.insert(number)),
            }
        }
        run.broken = broken;
        Ok(run)
    }

    /// Runs a mutant that ran when the process ended alone on the same input, because the time and memory
    /// were shared with all mutants before it. `None` if it is not killed; `Some(None)` if it ends the
    /// process again, or if it left no input, because then it ended the process itself, unless that was killed from
    /// outside; else how it was killed.
    fn repeats(
        &self,
        number: usize,
        of: Mutated,
        exit: Exit,
        interrupt: &Interrupt,
    ) -> Result<Option<Option<Kill>>> {
        let Ok(input) = fs::read(self.artifact()) else {
            return Ok((!is_ended_from_outside(exit)).then_some(None));
        };
        let path = self.written("ending-input", input)?;
        let current = self.work.join("current-mutant");
        let subject = Subject::Mutants { of, skipped: all_but(number), current };
        let alone = Campaign { subject, ..self.clone() };
        let job = alone.watched(&alone.artifact()).arg(&path);
        let time = Duration::from_secs(alone.call_timeout_seconds()) + time_limits::BEYOND_CALL;
        let (output, mut told) = alone.told(job.timeout(time), interrupt)?;
        Ok(match told.killed.remove(&number) {
            Some(kill) => Some(Some(kill)),
            None if output.exit.success() => None,
            None => Some(None),
        })
    }
}

/// A busy machine ends processes, too.
fn is_ended_from_outside(exit: Exit) -> bool {
    matches!(exit, Exit::TimedOut | Exit::Signal(libc::SIGKILL))
}

/// The entry that ran when the process ended, read from a file that survives the process; `None` if none ran.
pub(super) fn ran_last(current: &Path) -> Option<u64> {
    let number = u64::from_ne_bytes(fs::read(current).ok()?.try_into().ok()?);
    (number != u64::MAX).then_some(number)
}

/// All numbers except one, in the format of the list of skipped mutants.
pub(super) fn all_but(number: usize) -> String {
    (0..TABLE).filter(|n| *n != number).map(|n| n.to_string()).collect::<Vec<_>>().join(",")
}
