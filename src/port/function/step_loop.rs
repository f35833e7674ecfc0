//! Ports one function, from the first question to its place in the tree, on a thread of its own.
//!
//! The supervisor, which is pure, chooses each step and interprets its outcome. This module takes the steps: work
//! that needs the session is a turn with it, and long work (models, builds, runs) happens between turns.

use crate::error::Result;
use crate::fuzz::build::fuzz_binary::Built;
use crate::fuzz::campaign::Budget;
use crate::judge::LaterBuild;
use crate::llm::{self, Asker, Chosen, Permit, Prompt};
use crate::port::function::result::PortResult;
use crate::port::function::steps::{AfterBuild, Finish, Room, Ships};
use crate::port::function::worker::Worker;
use crate::port::supervisor::{self, Outcome, SMOKE_EXECUTIONS, Step};
use crate::verdict::Verdict;
use std::sync::Arc;
use std::time::Duration;

/// Interval for checking the budget while other calls are under way.
const GLANCE: Duration = Duration::from_millis(50);

/// Interval for looking at a file that someone is writing.
const LOOK: Duration = Duration::from_secs(1);

/// Ports a function, and puts an accepted port into the tree.
///
/// # Errors
/// Those of the tool and of models, and Ctrl-C.
pub fn port_function(worker: &Worker) -> Result<PortResult> {
    let machine = worker.machine;
    // Held from the final check of the tree until the port is in it or has failed.
    let mut tree = None;
    loop {
        machine.stop.check()?;
        let (step, is_settling) = worker.turn(|port, _| (supervisor::next(&port.state), port.is_settling()));
        match step {
            Step::Stop(reason) => return worker.turn(move |port, session| port.stopped(session, reason)),
            Step::Done => {
                if tree.is_none() {
                    tree = Some(machine.tree.take(&machine.stop)?);
                }
                match worker.turn(|port, session| port.finish(session))? {
                    Finish::Done(result) => return Ok(*result),
                    Finish::Moved => {}
                    Finish::Unreadable => std::thread::sleep(LOOK),
                }
                continue;
            }
            _ if !is_settling => tree = None,
            _ => {}
        }
        let begun = step.clone();
        worker.turn(move |port, session| port.begin(session, &begun))?;
        let outcome = take(worker, &step);
        worker.turn(move |port, session| port.took(session, &step, outcome))?;
    }
}

/// Takes one step.
fn take(worker: &Worker, step: &Step) -> Result<Outcome> {
    match step {
        Step::Translate => translate(worker),
        Step::AskPrototyper { .. } | Step::AskEnhancer { .. } => ask(worker, step.clone()),
        Step::Audit => worker.turn(|port, session| port.audit_and_splice(session)),
        Step::Build => build(worker),
        Step::Smoke => fuzz(worker, step, Some(Budget { seconds: 5, executions: Some(SMOKE_EXECUTIONS) })),
        Step::Fuzz => fuzz(worker, step, None),
        Step::Accept => accept(worker),
        Step::Done | Step::Stop(_) => unreachable!("the port ends with either"),
    }
}

/// Has c2rust translate the function's unit.
fn translate(worker: &Worker) -> Result<Outcome> {
    let Some((transpiler, unit)) = worker.turn(|port, session| port.unit(session))? else {
        return Ok(Outcome::NotTranslated("no source of the library has it".into()));
    };
    let text = worker.compute(|stop| transpiler.unit(&unit, stop))?;
    worker.turn(move |port, session| port.translated(session, text))
}

/// Asks a model; a truncated answer is asked for once more with a larger limit.
fn ask(worker: &Worker, step: Step) -> Result<Outcome> {
    let mut prompt = worker.turn(move |port, session| port.prompt(session, &step))?;
    loop {
        let Some((chosen, permit)) = permit(worker, &prompt)? else { return Ok(Outcome::BudgetExhausted) };
        let tell = |text| worker.say(text);
        let exchange = llm::ask(&chosen, permit, &Asker { interrupt: &worker.machine.stop, tell: &tell });
        let longer = exchange.longer();
        let outcome = worker.turn(move |port, session| port.answered(session, exchange))?;
        match longer {
            Some(longer) => prompt = longer,
            None => return Ok(outcome),
        }
    }
}

/// Waits until the budget allows a question; `None` if it never will.
fn permit(worker: &Worker, prompt: &Prompt) -> Result<Option<(Arc<Chosen>, Permit)>> {
    loop {
        worker.machine.stop.check()?;
        let prompt = prompt.clone();
        match worker.turn(move |port, session| port.permit(session, prompt))? {
            Room::Now(chosen, permit) => return Ok(Some((chosen, permit))),
            Room::Never => return Ok(None),
            Room::Later => std::thread::sleep(GLANCE),
        }
    }
}

/// Builds the candidate in an overlay.
fn build(worker: &Worker) -> Result<Outcome> {
    loop {
        let build = worker.turn(|port, session| port.build(session))?;
        let built = build_in_a_place(worker, build)?;
        match worker.turn(move |port, session| port.built(session, built))? {
            AfterBuild::Outcome(outcome) => return Ok(outcome),
            AfterBuild::Again => {}
            AfterBuild::Elsewhere(errors) => {
                let build = worker.turn(|port, session| port.build_tree(session))?;
                let tree = build_in_a_place(worker, build)?;
                return worker.turn(move |port, session| port.blamed(session, &errors, &tree));
            }
        }
    }
}

/// Waits for a build directory and a core, and builds.
fn build_in_a_place(worker: &Worker, build: LaterBuild) -> Result<Built> {
    let place = worker.machine.places.take(&worker.machine.stop)?;
    worker.compute(|stop| build.run(place.number, stop))
}

/// Runs both sides, with the loop's budget unless another is given.
fn fuzz(worker: &Worker, step: &Step, budget: Option<Budget>) -> Result<Outcome> {
    worker.say("fuzzing");
    let runs = worker.turn(|port, session| port.runs(session))?;
    let budget = budget.unwrap_or_else(|| worker.turn(|_, session| session.judge.loop_budget()));
    let verdict = worker.compute(|stop| runs.port.run(budget, stop, &mut |stats| worker.see(stats)))?;
    let step = step.clone();
    worker.turn(move |port, session| port.ran(session, &step, verdict))
}

/// Runs the acceptance run of the harness, unless it was accepted before, then judges in place.
fn accept(worker: &Worker) -> Result<Outcome> {
    let outcome = match worker.turn(|port, _| port.state.has_harness() && !port.is_settling()) {
        true => accept_by_harness(worker)?,
        false => Outcome::AcceptanceUnrefuted,
    };
    if outcome != Outcome::AcceptanceUnrefuted {
        return Ok(outcome);
    }
    // The session's thread does it, because it owns the syntax trees.
    worker.compute(|_| worker.turn(|port, session| port.judge_in_place(session)))
}

/// Runs the acceptance run, isolated replay, and the hidden gate.
fn accept_by_harness(worker: &Worker) -> Result<Outcome> {
    worker.say("acceptance run");
    let (runs, known, budget) = worker.turn(|port, session| port.acceptance(session))?;
    let (ran, gate) = worker.compute(|stop| {
        let mut see = |stats: &_| worker.see(stats);
        let verdict = match known {
            // Binary, inputs and seed are the same, so this run would repeat the loop's.
            Some(verdict) => verdict,
            None => runs.port.run(budget, stop, &mut see)?,
        };
        let ran = runs.port.isolated(verdict, stop)?;
        // An exhaustive run leaves no held-back inputs.
        let gate = match &ran.0 {
            Verdict::Unrefuted(stats) if stats.space.is_none() => {
                worker.say("hidden gate");
                Some(runs.gate(budget, &ran.0, stop, &mut see)?)
            }
            _ => None,
        };
        Ok((ran, gate))
    })?;
    let outcome = worker.turn(move |port, session| port.judged(session, ran, gate))?;
    if outcome == Outcome::AcceptanceUnrefuted { accept_as_shipped(worker) } else { Ok(outcome) }
}

/// Repeats the isolated replay with the candidate as it ships.
fn accept_as_shipped(worker: &Worker) -> Result<Outcome> {
    match worker.compute(|_| worker.turn(|port, session| port.shipped(session)))? {
        Ships::Done(outcome) => Ok(outcome),
        Ships::Run(run, verdict) => {
            let ran = worker.compute(|stop| run.isolated(verdict, stop))?;
            worker.turn(move |port, session| port.judged_as_shipped(session, ran))
        }
    }
}
