//! The runs of a candidate: in the loop, the one that accepts it, both sides apart, and the hidden gate.

use super::{Attempting, Done, Progress};
use crate::digest::sha256;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::findings;
use crate::fuzz::run::{Budget, Campaign};
use crate::port::feedback;
use crate::port::pool::{Need, Told};
use crate::port::session::Session;
use crate::port::supervisor::{Outcome, SMOKE_EXECUTIONS, Step};
use crate::ported::PortModule;
use crate::proofs;
use crate::verdict::{Measured, RunStats, Share, Verdict};
use std::path::PathBuf;

/// Whether the model may be told what a run found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inputs {
    Shown,
    Hidden,
}

/// What the acceptance brought.
#[derive(Debug)]
pub struct Judged {
    verdict: Verdict,
    apart: Measured<Share>,
    /// Absent where the run before decided, or nothing was held back.
    gate: Option<Verdict>,
}

/// The runs of a binary, with all that they need on a thread of their own.
struct Runs {
    campaign: Campaign,
    points: Option<u64>,
    hidden: PathBuf,
    stop: crate::process::Interrupt,
}

impl Runs {
    fn run(&self, budget: Budget, tell: &dyn Fn(Told)) -> Result<Verdict> {
        let mut see = |stats: &RunStats| tell(Told::Stats(stats.clone()));
        self.campaign.judge_with(self.points, budget, &self.stop, &mut see)
    }

    /// The acceptance: `known` is a run that was as large already.
    fn accept(&self, known: Option<Verdict>, budget: Budget, tell: &dyn Fn(Told)) -> Result<Judged> {
        let verdict = match known {
            Some(verdict) => verdict,
            None => self.run(budget, tell)?,
        };
        let (verdict, apart) = proofs::apart(&self.campaign, verdict, &self.stop)?;
        // Where all was run, nothing was held back.
        let is_over = !matches!(&verdict, Verdict::Unrefuted(stats) if stats.space.is_none());
        if is_over {
            return Ok(Judged { verdict, apart, gate: None });
        }
        tell(Told::Step("hidden gate".into()));
        let part = |n: u64| (n / 4).max(1);
        let budget = Budget { seconds: part(budget.seconds), executions: budget.executions.map(part) };
        // What the run before found out about C is no news.
        let known = self.campaign.known_breaks.iter().flatten().chain(verdict.stats().broken.keys());
        let campaign = Campaign { known_breaks: Some(known.cloned().collect()), ..self.campaign.clone() };
        let mut see = |stats: &RunStats| tell(Told::Stats(stats.clone()));
        let gate = campaign.gate(budget, self.hidden.clone(), &self.stop, &mut see)?;
        Ok(Judged { verdict, apart, gate: Some(gate) })
    }
}

impl<'p> Attempting<'p> {
    fn runs(&self, run: &Session<'p>) -> Result<Runs> {
        let internal = || Error::new(ErrorKind::Internal, "fuzzing before building");
        let binary = self.binary.as_ref().ok_or_else(internal)?;
        let judge = &run.judge;
        let held_back = Some(judge.held_back(self.planned)?);
        let known_breaks = Some(findings::known_breaks(run.store, self.planned)?);
        Ok(Runs {
            campaign: Campaign { held_back, known_breaks, ..judge.campaign(binary, self.planned) },
            points: judge.points(self.planned),
            hidden: judge.hidden_seeds(&self.planned.function.name),
            stop: run.stop.clone(),
        })
    }

    fn run_with(&self, run: &mut Session<'p>, budget: Budget) -> Result<Progress<'p>> {
        self.say(run, "fuzzing");
        let runs = self.runs(run)?;
        let job = move |tell: &dyn Fn(Told), _| Done::Ran(runs.run(budget, tell));
        Ok(Progress::Job(Need::Core, Box::new(job)))
    }

    /// The run before the real one.
    pub(super) fn smoke(&mut self, run: &mut Session<'p>) -> Result<Progress<'p>> {
        self.run_with(run, Budget { seconds: 5, executions: Some(SMOKE_EXECUTIONS) })
    }

    /// The run of the loop.
    pub(super) fn fuzz(&mut self, run: &mut Session<'p>) -> Result<Progress<'p>> {
        let budget = run.judge.loop_budget();
        self.run_with(run, budget)
    }

    /// What came of either.
    pub(super) fn ran(
        &mut self,
        run: &mut Session<'p>,
        step: &Step,
        verdict: Verdict,
    ) -> Result<Progress<'p>> {
        let outcome = self.outcome(run, &verdict, Inputs::Shown, Outcome::Unrefuted, Outcome::Refuted)?;
        let (budget, asked) = (run.judge.loop_budget(), run.judge.acceptance_budget());
        if *step == Step::Fuzz {
            self.learn_constraint(run, verdict.stats())?;
            // Same binary, same inputs, same seed: the acceptance run would be this one once more.
            self.looped = budget.covers(&asked).then_some(verdict);
            // What it says about C is kept already.
            self.looped.iter_mut().for_each(|verdict| verdict.stats_mut().of_c.clear());
        }
        Ok(Progress::Outcome(outcome))
    }

    /// The acceptance run, both sides apart, the hidden gate.
    pub(super) fn accept(&mut self, run: &mut Session<'p>) -> Result<Progress<'p>> {
        self.say(run, "acceptance run");
        let (runs, known, budget) = (self.runs(run)?, self.looped.take(), run.judge.acceptance_budget());
        let job = move |tell: &dyn Fn(Told), _| Done::Judged(runs.accept(known, budget, tell));
        Ok(Progress::Job(Need::Core, Box::new(job)))
    }

    /// What came of all that.
    pub(super) fn judged(&mut self, run: &mut Session<'p>, judged: Judged) -> Result<Progress<'p>> {
        let Judged { verdict, apart, gate } = judged;
        let (good, bad) = (Outcome::AcceptanceUnrefuted, Outcome::AcceptanceRefuted);
        let mut outcome = self.outcome(run, &verdict, Inputs::Shown, good.clone(), bad)?;
        if let Some(gate) = gate.filter(|_| outcome == good) {
            outcome = self.outcome(run, &gate, Inputs::Hidden, good, bad)?;
        }
        self.accepted = Some((verdict, apart));
        Ok(Progress::Outcome(outcome))
    }

    fn outcome(
        &mut self,
        run: &mut Session<'p>,
        verdict: &Verdict,
        inputs: Inputs,
        good: Outcome,
        bad: fn(String) -> Outcome,
    ) -> Result<Outcome> {
        let mut kept = Vec::new();
        for found in verdict.of_c() {
            kept.push(run.keep_of_c(self.planned, found)?);
        }
        match verdict {
            Verdict::OfC { found, .. } => {
                let (name, id) = (&self.planned.function.name, kept.first().map_or(0, |id| id.0));
                self.trouble = format!(
                    "{} (`cargo implfuzz findings show {id}`, `cargo implfuzz contract --edit {name}`)",
                    found.fault.told()
                );
                Ok(Outcome::NotThePort(found.fault))
            }
            Verdict::Unrefuted(_) => Ok(good),
            Verdict::Vacuous { reason, .. } => {
                self.feedback = Some(feedback::vacuous(reason));
                Ok(Outcome::Vacuous)
            }
            Verdict::Refuted { finding, .. } => {
                let symbol = self.planned.function.name.clone();
                run.reporter.event(Event::Found { symbol: symbol.clone(), finding: finding.clone() });
                // As the tree would have it: `status` asks whether what stands there was refuted once.
                let hash = PortModule::read(self.spliced.clone()).hash(&self.planned.function);
                let hash = hash.map(|hash| hash.as_str().to_owned()).unwrap_or_default();
                let judge = &run.judge;
                let (dir, feedback) = match inputs {
                    Inputs::Shown => (judge.private_seeds(&symbol), feedback::refuted(finding)),
                    Inputs::Hidden => (judge.hidden_seeds(&symbol), feedback::refuted_unseen(finding.class)),
                };
                run.record_finding(self.planned, (finding, &hash), &dir)?;
                self.feedback = Some(feedback);
                self.finding = Some((**finding).clone());
                self.trouble = format!("{}: {}", finding.class, finding.what);
                // Another input that tells both apart is another failure.
                let key = format!("{} {}", feedback::normalised(&self.trouble), sha256(&finding.input));
                Ok(bad(key))
            }
        }
    }
}
