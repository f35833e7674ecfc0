//! What the page shows of a library and of a function, as values for the template.

use super::{diff, marks};
use crate::count::count;
use crate::judge::coverage::{Missed, Reach, Side, Way};
use crate::judge::findings::Kept;
use crate::judge::mutation_score::{Fate, Tried};
use crate::judge::verify::Judgement;
use crate::port::history::Taken;
use crate::report::printable;
use crate::store::Totals;
use crate::survey::{Known, Survey, Text};
use crate::verdict::{Measured, Share};
use serde::Serialize;
use std::collections::BTreeMap;

/// The library as a whole.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    ported: usize,
    functions: usize,
    /// Of the bar and its legend.
    states: Vec<State>,
    facts: Vec<Fact>,
    /// What is missing for a port without C.
    missing: Vec<Fact>,
}

/// Functions in one state.
#[derive(Debug, Serialize)]
struct State {
    word: &'static str,
    class: &'static str,
    sign: char,
    count: usize,
}

/// A value with its name.
#[derive(Debug, Serialize)]
struct Fact {
    name: String,
    value: String,
}

fn fact(name: &str, value: impl Into<String>) -> Fact {
    Fact { name: name.to_owned(), value: value.into() }
}

impl Summary {
    pub(super) fn of(survey: &Survey) -> Self {
        let of = &survey.overview;
        let mut states: Vec<State> = Vec::new();
        for known in &survey.functions {
            let word = marks::word(known);
            match states.iter_mut().find(|state| state.word == word) {
                Some(state) => state.count += 1,
                None => states.push(State {
                    word,
                    class: marks::class(known),
                    sign: marks::sign(known),
                    count: 1,
                }),
            }
        }
        states.sort_by_key(|state| std::cmp::Reverse(state.count));
        let facts = vec![
            fact("judged by harnesses", of.by_harness.to_string()),
            fact("judged at the calls of drivers", of.by_drivers.to_string()),
            fact("judged by both", of.by_both.to_string()),
            fact("safe signatures", of.safe_signatures.to_string()),
            fact("unsafe", format!("{} in {}", of.unsafe_count, count(of.with_unsafe, "port"))),
            fact("models", spent(&survey.spent)),
        ];
        let missing =
            of.missing.iter().map(|cause| fact(&printable(&cause.cause), cause.functions.len().to_string()));
        Self { ported: of.ported, functions: of.functions, states, facts, missing: missing.collect() }
    }
}

/// Who calls each function.
pub(super) fn callers(functions: &[Known]) -> BTreeMap<&str, Vec<String>> {
    let mut callers: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for known in functions {
        for callee in &known.row.calls {
            callers.entry(callee.as_str()).or_default().push(known.row.symbol.to_string());
        }
    }
    callers
}

/// One function.
#[derive(Debug, Serialize)]
pub(super) struct FunctionView {
    name: String,
    class: &'static str,
    sign: char,
    word: &'static str,
    file: String,
    line: usize,
    lacks: Option<String>,
    facts: Vec<Fact>,
    calls: Vec<String>,
    callers: Vec<String>,
    c: CodeView,
    rust: Option<CodeView>,
    contract: Option<String>,
    mutants: Vec<MutantView>,
    findings: Vec<FindingView>,
    steps: Vec<StepView>,
    attempts: Vec<AttemptView>,
}

impl FunctionView {
    pub(super) fn of(known: &Known, callers: &BTreeMap<&str, Vec<String>>) -> Self {
        let name = known.row.symbol.as_str();
        let mutants: Vec<MutantView> =
            known.harness.iter().flat_map(|one| &one.mutants).map(mutant).collect();
        let missed =
            |side: fn(&Reach) -> &Side| known.reach.as_ref().map_or(&[][..], |reach| missed(side(reach)));
        let old = |at: usize| at.checked_sub(1).map(|before| known.attempts[before].candidate.as_str());
        let attempts = known.attempts.iter().enumerate().map(|(at, attempt)| AttemptView {
            title: attempt.title.clone(),
            lines: diff::lines(old(at), &attempt.candidate),
        });
        Self {
            class: marks::class(known),
            sign: marks::sign(known),
            word: marks::word(known),
            file: known.c.file.clone(),
            line: known.c.first,
            lacks: known.judgement.as_ref().and_then(|one| one.reason.as_deref()).map(printable),
            facts: facts(known),
            calls: known.row.calls.iter().map(ToString::to_string).collect(),
            callers: callers.get(name).cloned().unwrap_or_default(),
            c: CodeView::of(&known.c, missed(|reach| &reach.c), &mutants),
            rust: known.rust.as_ref().map(|text| CodeView::of(text, missed(|reach| &reach.rust), &[])),
            contract: known.contract.as_deref().map(printable),
            findings: known.findings.iter().map(finding).collect(),
            steps: known.history.iter().flat_map(|history| &history.steps).map(step).collect(),
            attempts: attempts.collect(),
            name: name.to_owned(),
            mutants,
        }
    }
}

/// Who decided which inputs are tried, where the C text alone did not.
pub(super) fn contract_origin(judgement: &Judgement) -> Option<&'static str> {
    match (judgement.contract_edited, judgement.contract_learned) {
        (true, _) => Some("edited by hand"),
        (false, true) => Some("from calls of drivers"),
        (false, false) => None,
    }
}

fn facts(known: &Known) -> Vec<Fact> {
    let mut facts = vec![fact("harness", printable(&known.row.harness))];
    let mut push = |name: &str, value: Option<String>| facts.extend(value.map(|value| fact(name, value)));
    if let Some(one) = &known.judgement {
        push("executions", one.executions.map(|n| n.to_string()));
        push("calls of drivers", one.in_place.map(|n| n.to_string()));
        push("inputs that C accepts", one.accept_rate.map(|rate| format!("{:.1} %", 100.0 * rate)));
        push("mutants of C killed", share(&one.proofs.kills));
        push("branches of C reached", share(&one.proofs.branches));
        push("inputs that agree in isolation", share(&one.proofs.apart));
        push("contract", contract_origin(one).map(str::to_owned));
        let in_c: Vec<&str> = one.callees_in_c.iter().map(|name| name.as_str()).collect();
        push("still calls C", (!in_c.is_empty()).then(|| in_c.join(", ")));
        push("written by", one.provenance.as_deref().map(printable));
        push("last run", one.last_run.as_deref().map(printable));
    }
    push("drivers", known.row.drivers.as_deref().map(printable));
    push("models", (known.spent.calls > 0).then(|| spent(&known.spent)));
    facts
}

fn share(measured: &Measured<Share>) -> Option<String> {
    measured.value().map(|share| format!("{} of {}", share.reached, share.total))
}

fn spent(totals: &Totals) -> String {
    let about = if totals.estimated { ", partly estimated" } else { "" };
    let cost = totals.cost.map_or("cost unknown".to_owned(), |cost| format!("cost {cost:.4}"));
    let (calls, tokens) = (count(totals.calls, "call"), count(totals.tokens(), "token"));
    format!("{calls}, {tokens}{about}, {cost}")
}

/// The text of one side.
#[derive(Debug, Serialize)]
struct CodeView {
    file: String,
    lines: Vec<LineView>,
}

#[derive(Debug, Serialize)]
struct LineView {
    number: usize,
    text: String,
    /// What no input reaches there.
    missed: Option<String>,
    killed: usize,
    survived: usize,
}

impl CodeView {
    fn of(text: &Text, missed: &[Missed], mutants: &[MutantView]) -> Self {
        let lines = text.lines.iter().enumerate().map(|(at, line)| {
            let number = text.first + at;
            let here = missed.iter().filter(|one| one.line as usize == number && !one.impossible);
            let here: Vec<String> = here.map(unreached).collect();
            let fates =
                |class: &str| mutants.iter().filter(|one| one.line == number && one.class == class).count();
            LineView {
                number,
                text: printable(line),
                missed: (!here.is_empty()).then(|| here.join("; ")),
                killed: fates("killed"),
                survived: fates("survived"),
            }
        });
        Self { file: text.file.clone(), lines: lines.collect() }
    }
}

fn missed(side: &Side) -> &[Missed] {
    match side {
        Side::Measured(covered) => &covered.missed,
        Side::Unmeasured { .. } => &[],
    }
}

fn unreached(missed: &Missed) -> String {
    let code = printable(&missed.code);
    match missed.way {
        Way::Run => "no input runs this".to_owned(),
        Way::True => format!("no input makes `{code}` true"),
        Way::False => format!("no input makes `{code}` false"),
    }
}

/// A mutant of C.
#[derive(Debug, Serialize)]
struct MutantView {
    line: usize,
    what: String,
    /// `killed`, `survived` or `equivalent`.
    class: &'static str,
    /// The difference that killed it, or why it is equivalent.
    why: String,
}

fn mutant(tried: &Tried) -> MutantView {
    let (class, why) = match &tried.fate {
        Fate::Killed { by } => ("killed", by.as_str()),
        Fate::Survived => ("survived", ""),
        Fate::Equivalent { reason } => ("equivalent", reason.as_str()),
    };
    let (line, what) = (tried.mutant.line as usize, printable(&tried.mutant.what));
    MutantView { line, what, class, why: printable(why) }
}

/// A counterexample, or a fault of C.
#[derive(Debug, Serialize)]
struct FindingView {
    id: i64,
    about: &'static str,
    class: String,
    what: String,
    state: Option<&'static str>,
    arguments: Vec<Fact>,
    /// Part, C's value, the port's value.
    results: Vec<(String, String, String)>,
}

fn finding(kept: &Kept) -> FindingView {
    let found = &kept.row.finding;
    let other = |part: &str| {
        let value = found.subject.iter().find(|(name, _)| name == part);
        value.map_or_else(|| "-".to_owned(), |(_, value)| printable(value))
    };
    FindingView {
        id: kept.row.id.0,
        about: kept.row.side.word(),
        class: found.class.to_string(),
        what: printable(&found.what),
        state: kept.state.map(crate::judge::findings::State::text),
        arguments: found.args.iter().map(|(name, value)| fact(&printable(name), printable(value))).collect(),
        results: found
            .oracle
            .iter()
            .map(|(part, value)| (printable(part), printable(value), other(part)))
            .collect(),
    }
}

/// A step of the last port.
#[derive(Debug, Serialize)]
struct StepView {
    step: String,
    outcome: String,
    by: String,
    seconds: String,
}

fn step(taken: &Taken) -> StepView {
    let row = &taken.row;
    let first = row.detail.lines().next().unwrap_or_default();
    let outcome = row.outcome.as_deref().unwrap_or("never ended");
    StepView {
        step: row.step.clone(),
        outcome: printable(&if first.is_empty() {
            outcome.to_owned()
        } else {
            format!("{outcome}: {first}")
        }),
        by: taken.by.as_deref().map(printable).unwrap_or_default(),
        seconds: row.millis.map_or_else(String::new, |millis| format!("{:.1} s", millis as f64 / 1000.0)),
    }
}

/// A candidate, beside the one before.
#[derive(Debug, Serialize)]
struct AttemptView {
    title: String,
    lines: Vec<diff::Line>,
}
