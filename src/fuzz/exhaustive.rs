//! The exhaustive engine: runs every input of a contract on both sides, in ranges, several concurrently.

use super::campaign::{Budget, Campaign, Written, sum};
use super::confirm::Once;
use super::parallel::each;
use super::report::Found;
use super::run_campaign::conclude;
use crate::error::{Error, ErrorKind, Result};
use crate::platform::process::{Exit, Interrupt, time_limits};
use crate::verdict::{Finding, RunStats, Verdict};
use fs_err as fs;
use std::time::{Duration, Instant};

/// Inputs per range: enough that the start of a process does not matter, few enough to share the work among
/// the cores.
const RANGE: u64 = 1 << 20;
/// Harness and contract disagree on the number of inputs.
const MISFIT: Exit = Exit::Code(3);

/// How the run of a range ended.
enum Ended {
    Regular,
    Found(Box<Found>),
    OutOfTime,
}

/// A message about a range: its first point, and either its statistics so far or how it ended.
enum Word {
    Stats(u64, RunStats),
    Ended(u64, Result<Ended>),
}

impl Campaign {
    /// Judges with the strongest engine that the budget allows. `points` is the number of inputs, if they can
    /// be enumerated.
    pub fn judge_with(
        &self,
        points: Option<u64>,
        budget: Budget,
        interrupt: &Interrupt,
        see: &mut dyn FnMut(&RunStats),
    ) -> Result<Verdict> {
        let is_paid = |points: &u64| budget.executions.is_none_or(|most| *points <= most);
        let enumerated = match points.filter(is_paid) {
            Some(points) => self.exhaust(points, budget.seconds, interrupt, see)?,
            None => None,
        };
        let verdict = match enumerated {
            // The enumeration stops at the contract's `max`, as a campaign does.
            Some(verdict) => self.also_on_long_inputs(verdict, budget, interrupt)?,
            None => self.judge(budget, interrupt, see)?,
        };
        self.with_c(verdict, interrupt)
    }

    /// Runs all `points` inputs of the contract. The finding is the first input on which the sides differ.
    /// `None` if time runs out before.
    ///
    /// # Errors
    /// `Internal` if the harness counts another number of inputs, and Ctrl-C.
    pub fn exhaust(
        &self,
        points: u64,
        seconds: u64,
        interrupt: &Interrupt,
        see: &mut dyn FnMut(&RunStats),
    ) -> Result<Option<Verdict>> {
        // Coverage replays these; the enumeration leaves no corpus.
        self.write_boundaries(Written::Usual, interrupt)?;
        let start = Instant::now();
        let deadline = start + Duration::from_secs(seconds);
        let (stop, mut all) = (Interrupt::none(), Enumerated::default());
        let one = |number: u64, send: &dyn Fn(Word)| {
            let from = number * RANGE;
            let mut see = |stats: &RunStats| send(Word::Stats(from, stats.clone()));
            let ended = self.range((from, (from + RANGE).min(points), points), deadline, interrupt, &mut see);
            if !matches!(ended, Ok(Ended::Regular)) {
                stop.set();
            }
            send(Word::Ended(from, ended));
        };
        // Ranges start in order: when a finding ends one, all ranges before it have started, and they run to
        // their end.
        let ends = || stop.is_set() || interrupt.is_set();
        each(points.div_ceil(RANGE), ends, one, |word| {
            all.hear(word);
            see(&all.stats(start));
        });
        interrupt.check()?;
        let stats = RunStats { seed: self.seed, ..all.stats(start) };
        if let Some(error) = all.failed {
            return Err(error);
        }
        if let Some((_, found)) = all.found {
            return self.refuted(found, stats, interrupt).map(Some);
        }
        if all.is_late {
            return Ok(None);
        }
        if stats.executions != points {
            return Err(miscounted(self, points, stats.executions));
        }
        Ok(Some(conclude(RunStats { space: Some(points), ..stats })))
    }

    fn range(
        &self,
        (from, to, of): (u64, u64, u64),
        deadline: Instant,
        interrupt: &Interrupt,
        see: &mut dyn FnMut(&RunStats),
    ) -> Result<Ended> {
        let current = self.work.join(format!("current-point-{from}"));
        drop(fs::remove_file(&current));
        let job = self
            .job()
            .env("IMPLFUZZ_MODE", "range")
            .env("IMPLFUZZ_FROM", from.to_string())
            .env("IMPLFUZZ_TO", to.to_string())
            .env("IMPLFUZZ_POINTS", of.to_string())
            .env("IMPLFUZZ_CURRENT", &current)
            // There is no libFuzzer here to watch the memory.
            .env(
                "ASAN_OPTIONS",
                format!("{}:hard_rss_limit_mb={}", super::campaign::ASAN_OPTIONS, self.rss_limit_mb),
            )
            .timeout(deadline.saturating_duration_since(Instant::now()));
        let (output, mut told) = self.listen(job, interrupt, see)?;
        let at = fs::read(&current).ok().and_then(|bytes| Some(u64::from_ne_bytes(bytes.try_into().ok()?)));
        drop(fs::remove_file(&current));
        if let Some(found) = told.found.take() {
            return Ok(Ended::Found(Box::new(found)));
        }
        if told.done && output.exit.success() && told.stats.executions == to - from {
            return Ok(Ended::Regular);
        }
        match (output.exit, at.filter(|point| (from..to).contains(point))) {
            (Exit::TimedOut, _) => Ok(Ended::OutOfTime),
            (MISFIT, _) => Err(miscounted(self, of, 0)),
            (_, Some(point)) => Ok(match self.broken_at(point, interrupt)? {
                Some(finding) => Ended::Found(Box::new(finding.into())),
                // The time or memory was used by all inputs before it.
                None => Ended::OutOfTime,
            }),
            (_, None) => {
                let text = output.stderr_text();
                Err(Error::new(
                    ErrorKind::Internal,
                    format!("the enumeration did not start: {}", text.trim()),
                ))
            }
        }
    }

    /// The finding at a point that ended the process, from a run of that input alone; `None` if the run shows
    /// none.
    fn broken_at(&self, point: u64, interrupt: &Interrupt) -> Result<Option<Finding>> {
        let path = self.work.join(format!("point-{point}"));
        let job = self
            .job()
            .env("IMPLFUZZ_MODE", "point")
            .env("IMPLFUZZ_FROM", point.to_string())
            .env("IMPLFUZZ_PATH", &path);
        job.timeout(time_limits::ONE_INPUT).run(interrupt)?;
        let input = fs::read(&path)?;
        drop(fs::remove_file(&path));
        // Other ranges may be looking at points of theirs.
        let own = Campaign { work: self.work.join(format!("at-point-{point}")), ..self.clone() };
        fs::create_dir_all(&own.work)?;
        let once = own.once(&input, interrupt)?;
        drop(fs::remove_dir_all(&own.work));
        Ok(match once {
            Once::Differs(finding) => Some(finding),
            Once::Same | Once::Rejected(_) => None,
        })
    }
}

/// The merged reports of all ranges.
#[derive(Default)]
struct Enumerated {
    parts: std::collections::BTreeMap<u64, RunStats>,
    /// The finding in the first range that has one.
    found: Option<(u64, Found)>,
    failed: Option<Error>,
    is_late: bool,
}

impl Enumerated {
    fn hear(&mut self, word: Word) {
        match word {
            Word::Stats(from, stats) => drop(self.parts.insert(from, stats)),
            Word::Ended(_, Ok(Ended::Regular)) => {}
            Word::Ended(_, Ok(Ended::OutOfTime)) => self.is_late = true,
            Word::Ended(from, Ok(Ended::Found(found))) => {
                if self.found.as_ref().is_none_or(|(first, _)| from < *first) {
                    self.found = Some((from, *found));
                }
            }
            Word::Ended(_, Err(error)) => self.failed = Some(error),
        }
    }

    fn stats(&self, start: Instant) -> RunStats {
        let total = self.parts.values().fold(RunStats::default(), |total, part| sum(&total, part));
        RunStats { millis: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX), ..total }
    }
}

fn miscounted(campaign: &Campaign, points: u64, run: u64) -> Error {
    let text = match run {
        0 => {
            format!(
                "the harness of `{}` and its contract disagree on the number of inputs ({points})",
                campaign.target
            )
        }
        _ => format!("of {points} inputs of `{}`, {run} were run", campaign.target),
    };
    Error::new(ErrorKind::Internal, text)
        .help("this is a defect of cargo-implfuzz; `--config fuzz.exhaustive_points=0` avoids it")
}
