//! The runs of a candidate: in the loop, the acceptance run, isolated replay; `hidden_gate` has the last one.

use super::{FunctionPort, hidden_gate};
use crate::digest::sha256;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::fuzz::campaign::Budget;
use crate::judge::PortRun;
use crate::judge::proofs::{AsShipped, Ran};
use crate::platform::process::Interrupt;
use crate::port::function::session::Session;
use crate::port::prompt::feedback;
use crate::port::supervisor::{Outcome, Step};
use crate::project::ported::PortModule;
use crate::verdict::{Finding, Measured, RunStats, Verdict};
use std::path::{Path, PathBuf};

/// Whether prompts may show the inputs of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inputs {
    Shown,
    Hidden,
}

/// The runs of a candidate, and where the counterexamples are that no prompt may show.
pub struct Runs {
    pub port: PortRun,
    hidden: PathBuf,
}

impl Runs {
    /// The hidden gate, after a run with this verdict.
    pub fn gate(
        &self,
        budget: Budget,
        before: &Verdict,
        stop: &Interrupt,
        see: &mut dyn FnMut(&RunStats),
    ) -> Result<Verdict> {
        hidden_gate::run(&self.port.campaign, self.hidden.clone(), budget, before, stop, see)
    }
}

/// What is to be done with a candidate as it ships.
pub enum Ships {
    /// Its isolated replay, after a run with this verdict.
    Run(Box<PortRun>, Verdict),
    /// Nothing: there is an outcome.
    Done(Outcome),
}

impl<'p> FunctionPort<'p> {
    /// The runs of the last binary.
    pub fn runs(&self, session: &Session<'p>) -> Result<Runs> {
        let internal = || Error::new(ErrorKind::Internal, "fuzzing before building");
        let binary = self.binary.as_ref().ok_or_else(internal)?;
        let judge = &session.judge;
        let module = PortModule::read(self.spliced.clone());
        let mut port = judge.port_run(binary, self.planned, &module, session.store)?;
        port.campaign.held_back = Some(judge.held_back(self.planned)?);
        Ok(Runs { port, hidden: judge.hidden_seeds(&self.planned.function.name) })
    }

    /// Reads the verdict of a run in the loop.
    pub fn ran(&mut self, session: &mut Session<'p>, step: &Step, verdict: Verdict) -> Result<Outcome> {
        let outcome = self.outcome(session, &verdict, Inputs::Shown, Outcome::Unrefuted, Outcome::Refuted)?;
        let (budget, asked) = (session.judge.loop_budget(), session.judge.acceptance_budget());
        let is_inconclusive = matches!(verdict, Verdict::Vacuous { .. }) && *step == Step::Fuzz;
        if is_inconclusive || matches!(verdict, Verdict::CFault { .. }) {
            // Drivers may go on with the candidate.
            self.accepted = Some((verdict, Measured::default()));
        } else if *step == Step::Fuzz {
            // With the same binary, inputs and seed, the acceptance run would repeat this run.
            self.looped = budget.covers(&asked).then_some(verdict);
            // Its C faults are already stored.
            self.looped.iter_mut().for_each(|verdict| verdict.stats_mut().c_faults.clear());
        }
        Ok(outcome)
    }

    /// The runs and the budget for acceptance, and the loop's verdict if its run was as large.
    pub fn acceptance(&mut self, session: &mut Session<'p>) -> Result<(Runs, Option<Verdict>, Budget)> {
        Ok((self.runs(session)?, self.looped.take(), session.judge.acceptance_budget()))
    }

    /// Reads the verdicts of the acceptance run and of the hidden gate, which does not run if the acceptance run
    /// decided.
    pub fn judged(&mut self, session: &mut Session<'p>, ran: Ran, gate: Option<Verdict>) -> Result<Outcome> {
        let (good, bad) = (Outcome::AcceptanceUnrefuted, Outcome::AcceptanceRefuted);
        let mut outcome = self.outcome(session, &ran.0, Inputs::Shown, good.clone(), bad)?;
        let gate = gate.filter(|_| outcome == good);
        if let Some(gate) = &gate {
            outcome = self.outcome(session, gate, Inputs::Hidden, good, bad)?;
        }
        self.accepted = Some(hidden_gate::with_gate(ran, gate));
        Ok(outcome)
    }

    /// Builds the accepted candidate as it ships.
    pub fn shipped(&mut self, session: &mut Session<'p>) -> Result<Ships> {
        let Some((verdict @ Verdict::Unrefuted(_), _)) = &self.accepted else {
            return Ok(Ships::Done(Outcome::AcceptanceUnrefuted));
        };
        let verdict = verdict.clone();
        let (bin, files) = (format!("{}/shipped", self.bin), self.files(session)?);
        self.say(session, "as it ships");
        let built = session.grounds.candidate_shipped(&session.judge, (&bin, self.planned), &files)?;
        let shipped = match built {
            AsShipped::NotAsked => return Ok(Ships::Done(Outcome::AcceptanceUnrefuted)),
            AsShipped::Built(shipped) => shipped,
            AsShipped::Refused(reason) => {
                self.trouble = format!("as it ships: {reason}");
                self.say(session, self.trouble.clone());
                self.feedback = Some(feedback::refused_as_shipped(&reason));
                let key = feedback::normalised(&self.trouble);
                return Ok(Ships::Done(Outcome::AcceptanceRefuted(key)));
            }
        };
        let mut runs = self.runs(session)?;
        // The gate has shown all boundary inputs to the candidate by now.
        runs.port.campaign.held_back = None;
        runs.port.campaign.regressions.push(runs.hidden);
        runs.port.shipped = Some(shipped);
        Ok(Ships::Run(Box::new(runs.port), verdict))
    }

    /// Reads the isolated replay of the candidate as it ships.
    pub fn judged_as_shipped(&mut self, session: &mut Session<'p>, ran: Ran) -> Result<Outcome> {
        let (good, bad) = (Outcome::AcceptanceUnrefuted, Outcome::AcceptanceRefuted);
        let outcome = self.outcome(session, &ran.0, Inputs::Hidden, good, bad)?;
        if let Verdict::Refuted { finding, .. } = &ran.0 {
            self.feedback = Some(feedback::refuted_as_shipped(finding.class));
        }
        self.accepted = Some(ran);
        Ok(outcome)
    }

    fn outcome(
        &mut self,
        session: &mut Session<'p>,
        verdict: &Verdict,
        inputs: Inputs,
        good: Outcome,
        bad: fn(String) -> Outcome,
    ) -> Result<Outcome> {
        let (mut kept, run) = (Vec::new(), Some(session.models.id));
        for found in verdict.c_faults() {
            kept.push(session.judging().keep_c_fault(self.planned, found, run)?);
        }
        match verdict {
            Verdict::CFault { found, .. } => {
                let (name, id) = (&self.planned.function.name, kept.first().map_or(0, |id| id.0));
                self.trouble = format!(
                    "{} (`cargo implfuzz findings show {id}`, `cargo implfuzz contract --edit {name}`)",
                    found.kind.told()
                );
                Ok(Outcome::CFault(found.kind))
            }
            Verdict::Unrefuted(_) => Ok(good),
            Verdict::Vacuous { reason, .. } => {
                self.feedback = Some(feedback::vacuous(reason));
                Ok(Outcome::Vacuous)
            }
            Verdict::Refuted { finding, .. } => {
                let (judge, symbol) = (&session.judge, &self.planned.function.name);
                let (dir, feedback) = match inputs {
                    Inputs::Shown => (judge.private_seeds(symbol), feedback::refuted(finding)),
                    Inputs::Hidden => (judge.hidden_seeds(symbol), feedback::refuted_unseen(finding.class)),
                };
                self.feedback = Some(feedback);
                self.refuted(session, finding, &dir).map(bad)
            }
        }
    }

    /// Stores a finding about the candidate, and its input in this folder. Returns the key of the failure.
    pub(super) fn refuted(
        &mut self,
        session: &mut Session<'p>,
        finding: &Finding,
        dir: &Path,
    ) -> Result<String> {
        let symbol = self.planned.function.name.clone();
        session.reporter.event(Event::Found { symbol, finding: Box::new(finding.clone()) });
        // The hash that the tree would have: `status` checks whether the text in the tree was ever refuted.
        let hash = PortModule::read(self.spliced.clone()).hash(&self.planned.function);
        let hash = hash.map(|hash| hash.as_str().to_owned()).unwrap_or_default();
        session.judging().record_finding(self.planned, finding, &hash, dir)?;
        self.finding = Some(finding.clone());
        self.trouble = format!("{}: {}", finding.class, finding.what);
        // Another input with a difference is another failure.
        Ok(format!("{} {}", feedback::normalised(&self.trouble), sha256(&finding.input)))
    }
}
