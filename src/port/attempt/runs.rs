//! The runs of a candidate: in the loop, the one that accepts it, both sides apart, and the hidden gate.

use super::Attempting;
use crate::digest::sha256;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::fuzz::gate::HeldBack;
use crate::fuzz::run::{Budget, Campaign};
use crate::port::feedback;
use crate::port::supervisor::{Outcome, SMOKE_EXECUTIONS};
use crate::proofs;
use crate::verdict::{Measured, RunStats, Share, Verdict};

/// Whether the model may be told what a run found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inputs {
    Shown,
    Hidden,
}

impl Attempting<'_, '_> {
    fn judge(&mut self, budget: Budget, inputs: Inputs) -> Result<Verdict> {
        let binary =
            self.binary.clone().ok_or_else(|| Error::new(ErrorKind::Internal, "fuzzing before building"))?;
        let name = self.planned.function.name.clone();
        let (judge, reporter) = (&self.run.judge, &mut self.run.reporter);
        let mut see = |stats: &RunStats| {
            reporter.event(Event::Fuzzing { symbol: name.clone(), stats: stats.clone() });
        };
        let held_back = Some(HeldBack { key: judge.harness_hashes(self.planned)?.contract });
        let campaign = Campaign { held_back, ..judge.campaign(&binary, self.planned) };
        match inputs {
            Inputs::Shown => judge.run(&campaign, self.planned, budget, &mut see),
            Inputs::Hidden => campaign.gate(budget, judge.hidden_seeds(&name), judge.interrupt, &mut see),
        }
    }

    /// The run before the real one.
    pub(super) fn smoke(&mut self) -> Result<Outcome> {
        Ok(self.fuzz(Budget { seconds: 5, executions: Some(SMOKE_EXECUTIONS) })?.1)
    }

    /// A run of which everything may be shown.
    fn fuzz(&mut self, budget: Budget) -> Result<(Verdict, Outcome)> {
        self.say("fuzzing");
        let verdict = self.judge(budget, Inputs::Shown)?;
        let outcome = self.outcome(&verdict, Inputs::Shown, Outcome::Unrefuted, Outcome::Refuted)?;
        Ok((verdict, outcome))
    }

    /// The run of the loop.
    pub(super) fn fuzz_in_loop(&mut self) -> Result<Outcome> {
        let judge = &self.run.judge;
        let (budget, asked) = (judge.loop_budget(), judge.acceptance_budget());
        let (verdict, outcome) = self.fuzz(budget)?;
        self.looped = budget.covers(&asked).then_some(verdict);
        Ok(outcome)
    }

    /// The acceptance run, both sides apart, the hidden gate.
    pub(super) fn accept(&mut self) -> Result<Outcome> {
        self.say("acceptance run");
        let budget = self.run.judge.acceptance_budget();
        // Same binary, same inputs, same seed: where the loop's run was as large, this would be that run once more.
        let verdict = match self.looped.take() {
            Some(verdict) => verdict,
            None => self.judge(budget, Inputs::Shown)?,
        };
        let (verdict, apart) = self.apart(verdict)?;
        let outcome =
            self.outcome(&verdict, Inputs::Shown, Outcome::AcceptanceUnrefuted, Outcome::AcceptanceRefuted)?;
        if outcome != Outcome::AcceptanceUnrefuted {
            return Ok(outcome);
        }
        let is_all = verdict.stats().space.is_some();
        self.accepted = Some((verdict, apart));
        if is_all {
            // Nothing was held back.
            return Ok(outcome);
        }
        self.say("hidden gate");
        let part = |n: u64| (n / 4).max(1);
        let budget = Budget { seconds: part(budget.seconds), executions: budget.executions.map(part) };
        let verdict = self.judge(budget, Inputs::Hidden)?;
        self.outcome(&verdict, Inputs::Hidden, Outcome::AcceptanceUnrefuted, Outcome::AcceptanceRefuted)
    }

    /// Both sides apart, over what the run before used.
    fn apart(&mut self, verdict: Verdict) -> Result<(Verdict, Measured<Share>)> {
        let binary = self.binary.clone().unwrap_or_default();
        let campaign = self.run.judge.campaign(&binary, self.planned);
        proofs::apart(&campaign, verdict, self.run.judge.interrupt)
    }

    fn outcome(
        &mut self,
        verdict: &Verdict,
        inputs: Inputs,
        good: Outcome,
        bad: fn(String) -> Outcome,
    ) -> Result<Outcome> {
        match verdict {
            Verdict::Unrefuted(_) => Ok(good),
            Verdict::Vacuous { reason, .. } => {
                self.feedback = Some(feedback::vacuous(reason));
                Ok(Outcome::Vacuous)
            }
            Verdict::Refuted { finding, .. } => {
                let symbol = self.planned.function.name.clone();
                self.run.reporter.event(Event::Found { symbol: symbol.clone(), finding: finding.clone() });
                let hash = sha256(self.state.candidate().unwrap_or_default());
                let judge = &self.run.judge;
                let (dir, feedback) = match inputs {
                    Inputs::Shown => (judge.private_seeds(&symbol), feedback::refuted(finding)),
                    Inputs::Hidden => (judge.hidden_seeds(&symbol), feedback::refuted_unseen(finding.class)),
                };
                self.run.record_finding(self.planned, (finding, &hash), &dir)?;
                self.feedback = Some(feedback);
                self.finding = Some((**finding).clone());
                Ok(bad(format!("{}: {}", finding.class, finding.what)))
            }
        }
    }
}
