//! Reruns the C original alone, in separate processes, on the inputs of findings and of C faults. `attribution`
//! decides from the results.

use super::attribution::{CRun, attribute, class, disagree};
use super::campaign::{ASAN_OPTIONS, Campaign, Subject};
use super::isolated_replay::{PRECONDITION, framed};
use super::libfuzzer_process::reported;
use super::report::{AloneOutcome, Found, Told};
use super::sanitizer_report::{tidy, with_names};
use crate::error::Result;
use crate::platform::process::{Exit, Interrupt, Kind, Output, time_limits};
use crate::verdict::{Attribution, CFault, CFaultKind, Finding, FindingClass, RunStats, Verdict};
use std::time::Duration;

/// A slow call may be slow by chance: C alone gets this many times the time limit of the campaign.
const PATIENCE: u64 = 4;
/// Maximum number of distinct C faults that are examined after a run.
const LOOKED_AT: usize = 8;

impl Campaign {
    /// The verdict on a run's finding. The port is refuted only if C always answers the input in the same
    /// way. If C does not do so on the smallest input, the input that was found first decides.
    pub fn refuted(&self, found: Found, stats: RunStats, interrupt: &Interrupt) -> Result<Verdict> {
        let Some(c_fault) = self.c_fault(&found.smallest, interrupt)? else {
            return Ok(Verdict::Refuted { finding: Box::new(found.smallest), stats });
        };
        let larger = found.first.filter(|first| first.input != found.smallest.input);
        if let Some(first) = larger
            && self.c_fault(&first, interrupt)?.is_none()
        {
            return Ok(Verdict::Refuted { finding: Box::new(first), stats });
        }
        Ok(Verdict::CFault { found: Box::new(c_fault), stats })
    }

    /// The C fault on the input of a finding; `None` if C is not at fault.
    pub(super) fn c_fault(&self, finding: &Finding, interrupt: &Interrupt) -> Result<Option<CFault>> {
        // The process ended outside of any input, so there is no input to run C on.
        if self.subject != Subject::Port || finding.input.is_empty() && finding.args.is_empty() {
            return Ok(None);
        }
        self.c_alone(&finding.input, interrupt)
    }

    /// Adds to a verdict the results of C alone on the inputs of new C faults, if the campaign has
    /// `known_breaks`.
    pub(super) fn with_c(&self, mut verdict: Verdict, interrupt: &Interrupt) -> Result<Verdict> {
        let Some(known) = &self.known_breaks else { return Ok(verdict) };
        let new = verdict.stats().broken.iter().filter(|(reason, _)| !known.contains(*reason));
        let new: Vec<_> =
            new.take(LOOKED_AT).map(|(reason, input)| (reason.clone(), input.clone())).collect();
        for (reason, input) in new {
            let small = self.small(&reason, input, interrupt)?;
            verdict.stats_mut().c_faults.extend(self.c_alone(&small, interrupt)?);
        }
        Ok(verdict)
    }

    /// The C fault on an input; `None` if C always answers it in the same way.
    pub fn c_alone(&self, input: &[u8], interrupt: &Interrupt) -> Result<Option<CFault>> {
        let runs = self.c_runs(input, interrupt)?;
        let Attribution::CFault(kind) = attribute(&runs) else { return Ok(None) };
        let broke = runs.iter().find_map(|run| match run {
            CRun::Broke(reason) => Some(reason.clone()),
            CRun::Returned { .. } | CRun::Hung | CRun::Late | CRun::RuledOut => None,
        });
        let (args, _) = self.show(input, interrupt)?;
        let (mut oracle, mut subject, mut report) = (Vec::new(), Vec::new(), String::new());
        let (class, what) = match (kind, broke) {
            (CFaultKind::Breaks, Some(what)) => {
                report = self.report(input, interrupt)?;
                (class(&what, &report), what)
            }
            (CFaultKind::Breaks | CFaultKind::Hangs, _) => (FindingClass::Timeout, "hang".to_owned()),
            (CFaultKind::Differs, _) => {
                let part = match disagree(&runs) {
                    Some((first, second, part)) => {
                        (oracle, subject) = (first.clone(), second.clone());
                        part
                    }
                    None => "it returns in time only sometimes".to_owned(),
                };
                (FindingClass::NonDeterminism, part)
            }
        };
        let finding = Finding { class, what, input: input.to_vec(), args, oracle, subject, place: None };
        Ok(Some(CFault { kind, finding, report }))
    }

    /// Whether the contract now excludes the input.
    pub fn is_ruled_out(&self, input: &[u8], interrupt: &Interrupt) -> Result<bool> {
        Ok(self.c_runs(input, interrupt)?.contains(&CRun::RuledOut))
    }

    /// Runs C twice in one process, with other inputs in between that leave different data on the stack, and
    /// once in another process, where addresses differ.
    fn c_runs(&self, input: &[u8], interrupt: &Interrupt) -> Result<Vec<CRun>> {
        let flipped = input.iter().map(|byte| !byte).collect();
        let between = [1, 2];
        let (output, told) =
            self.alone_on(&[&input.to_vec(), &Vec::new(), &flipped, &input.to_vec()], false, interrupt)?;
        let mut runs: Vec<CRun> = run(0, &output, &told).into_iter().collect();
        // A call that was cut short may leave any state behind, so later results in that process mean
        // nothing.
        let is_clean =
            |at: usize| matches!(run(at, &output, &told), Some(CRun::Returned { .. } | CRun::RuledOut));
        runs.extend(between.into_iter().all(is_clean).then(|| run(3, &output, &told)).flatten());
        // If something else ended a process, another one is started, up to this number of times.
        for _ in 0..3 {
            if runs.len() > 2 {
                break;
            }
            let (output, told) = self.alone_on(&[&input.to_vec()], false, interrupt)?;
            runs.extend(run(0, &output, &told));
        }
        Ok(runs)
    }

    fn alone_on(
        &self,
        inputs: &[&Vec<u8>],
        unguarded: bool,
        interrupt: &Interrupt,
    ) -> Result<(Output, Told)> {
        let call_timeout_ms = self.call_timeout_ms.saturating_mul(PATIENCE);
        let own = Campaign { subject: Subject::Original, call_timeout_ms, ..self.clone() };
        // The wall-time limit catches inputs that wait without using processor time.
        let timeout = Duration::from_secs(own.call_timeout_seconds() * inputs.len() as u64 + 10);
        let job = own.job_on("apart", "inputs-c-alone", framed(inputs))?;
        let mut job = job.env("IMPLFUZZ_SHOWN", "1").timeout(timeout);
        if unguarded {
            // The sanitizer starts a program that finds names and lines.
            let sandbox = own.sandbox(Kind::Driver);
            job = with_names(job.env("IMPLFUZZ_UNGUARDED", "1").sandbox(sandbox), ASAN_OPTIONS);
        }
        self.told(job, interrupt)
    }

    /// The smallest input on which C breaks in the same way.
    fn small(&self, reason: &str, input: Vec<u8>, interrupt: &Interrupt) -> Result<Vec<u8>> {
        let job = self.job_on("broken", "broken-input", &input)?;
        let (_, mut told) = self.told(job.timeout(time_limits::ONE_INPUT), interrupt)?;
        Ok(told.stats.broken.remove(reason).unwrap_or(input))
    }

    /// The sanitizer's report from an unguarded run, in which it ends the process.
    fn report(&self, input: &[u8], interrupt: &Interrupt) -> Result<String> {
        let (output, _) = self.alone_on(&[&input.to_vec()], true, interrupt)?;
        Ok(tidy(&output.stderr_text()))
    }
}

/// The result of the input with this number; `None` if the process did not reach it.
fn run(at: usize, output: &Output, told: &Told) -> Option<CRun> {
    if let Some(alone) = told.alone.iter().find(|alone| alone.number == at) {
        return Some(match &alone.outcome {
            AloneOutcome::Done(record) => {
                CRun::Returned { record: record.clone(), shown: alone.shown.clone() }
            }
            AloneOutcome::Rejected(why) => match why.as_str() {
                PRECONDITION => CRun::RuledOut,
                "hang" | "calls back without end" => CRun::Hung,
                _ => CRun::Broke(why.clone()),
            },
            AloneOutcome::Failed(_, what) => CRun::Broke(what.clone()),
        });
    }
    // If the process ended early, the first input without a result ended it.
    let ended = told.alone.len() == at && !told.alone_done;
    let broke = || reported(&output.stderr_text()).unwrap_or_else(|| "C ended the process".to_owned());
    match output.exit {
        _ if !ended => None,
        // SIGKILL comes from outside: the kernel when memory runs out, or a person.
        Exit::Signal(libc::SIGKILL) => None,
        Exit::TimedOut => Some(CRun::Late),
        Exit::Code(70) => Some(CRun::Hung),
        Exit::Code(_) | Exit::Signal(_) => Some(CRun::Broke(broke())),
    }
}
