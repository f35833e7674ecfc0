//! Stored findings: lists each kind once, and replays any of them.

use crate::digest::sha256;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::evidence::status::{Status, SymbolStatus, status};
use crate::fuzz::confirm::Once;
use crate::fuzz::isolated_replay::PRECONDITION;
use crate::judge::{Judge, Judging};
use crate::platform::workspace::write_atomic;
use crate::project::{FunctionPlan, Project};
use crate::store::{CFaultNote, FindingId, FindingRow, NewFinding, RunId, Side, Store};
use crate::symbol::SymbolName;
use crate::verdict::{CFault, Finding, Grade};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

/// A finding with the name of its function, and the number of inputs with the same result.
#[derive(Debug, Clone)]
pub struct Kept {
    pub symbol: SymbolName,
    pub row: FindingRow,
    pub inputs: usize,
    /// Set for a finding about a port.
    pub state: Option<State>,
}

/// The relation of a finding to the port that is now in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// The finding is about the present text.
    Stands,
    /// The finding is about the present text, which a later run did not refute: the contract or C has changed.
    Excluded,
    /// The text has changed, and no known input refutes it.
    Mended,
    /// The text has changed, and was not judged since.
    NotJudgedSince,
    /// The function has no port: the text was a candidate, or is gone.
    NoPort,
}

impl State {
    /// The words in tables.
    pub fn text(self) -> &'static str {
        match self {
            Self::Stands => "stands",
            Self::Excluded => "excluded",
            Self::Mended => "mended",
            Self::NotJudgedSince => "not judged since",
            Self::NoPort => "no port",
        }
    }

    /// The state of a finding about the text with this hash. `now` is the hash of the text in the tree, and its grade.
    fn of(text: Option<&str>, now: Option<(&str, Grade)>) -> Self {
        match now {
            None => Self::NoPort,
            Some((now, grade)) if text == Some(now) && grade.holds() => Self::Excluded,
            Some((now, _)) if text == Some(now) => Self::Stands,
            Some((_, grade)) if grade.holds() => Self::Mended,
            Some(_) => Self::NotJudgedSince,
        }
    }
}

/// The ports in the tree, which determine the state of findings.
struct Tree<'p> {
    project: &'p Project,
    status: Status,
}

impl<'p> Tree<'p> {
    fn of(project: &'p Project) -> Result<Self> {
        Ok(Self { project, status: status(project.workspace.root(), &project.config, None)? })
    }

    fn kept(&self, row: FindingRow) -> Kept {
        let project = self.project;
        let state = (row.side == Side::Port).then(|| {
            let function = project.library.function(&row.symbol);
            let module = function.and_then(|function| project.module(&function.module).ok());
            let hash = module.zip(function).and_then(|(module, function)| module.hash(function));
            let grade = function.and_then(|function| self.status.of(function.name.as_str()));
            let now =
                hash.as_ref().map(|hash| (hash.as_str(), grade.map_or(Grade::Unjudged, SymbolStatus::grade)));
            State::of(row.candidate_sha256.as_deref(), now)
        });
        Kept { symbol: name(project, &row), row, inputs: 1, state }
    }
}

/// The result of replaying a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Again {
    /// For a finding about a port.
    Port(Once),
    /// For a finding about C: the C fault, if it still occurs.
    C(Option<CFault>),
}

/// The findings about the ports and C originals of these functions, or of all (`None`). Of findings that differ
/// only in numbers, the one with the shortest input is listed.
pub fn list(
    project: &Project,
    store: &Store,
    wanted: Option<&[&FunctionPlan]>,
    side: Side,
) -> Result<Vec<Kept>> {
    let mut kinds: Vec<(String, Kept)> = Vec::new();
    let tree = Tree::of(project)?;
    for row in store.findings(None)?.into_iter().filter(|row| row.side == side) {
        if wanted.is_some_and(|all| all.iter().all(|p| p.function.key != row.symbol)) {
            continue;
        }
        let kind = format!("{} {} {}", row.symbol.0, row.finding.class, without_numbers(&row.finding.what));
        match kinds.iter_mut().find(|(other, _)| *other == kind) {
            None => kinds.push((kind, tree.kept(row))),
            Some((_, kept)) => {
                let (inputs, other) = (kept.inputs + 1, tree.kept(row));
                // Prefer a finding about the present text to a shorter one about an earlier text.
                let rank = |kept: &Kept| (kept.state != Some(State::Stands), kept.row.finding.input.len());
                if rank(&other) < rank(kept) {
                    *kept = other;
                }
                kept.inputs = inputs;
            }
        }
    }
    Ok(kinds.into_iter().map(|(_, kept)| kept).collect())
}

/// The finding with this id.
///
/// # Errors
/// `Usage` if there is none.
pub fn find(project: &Project, store: &Store, id: i64) -> Result<Kept> {
    let row = store.findings(None)?.into_iter().find(|row| row.id.0 == id);
    let row = row.ok_or_else(|| {
        Error::new(ErrorKind::Usage, format!("there is no finding {id}"))
            .help("`cargo implfuzz findings list` shows all")
    })?;
    Ok(Tree::of(project)?.kept(row))
}

/// Replays a finding's input: through the C original and the port in the tree, or, for a finding about C, through
/// the original alone.
///
/// # Errors
/// `Usage` if the function no longer has a port or harness.
pub fn replay(judge: &Judge, kept: &Kept, reporter: &mut dyn Reporter) -> Result<Again> {
    let planned = judge.project.find(kept.symbol.as_str())?;
    let (input, interrupt) = (&kept.row.finding.input, judge.interrupt);
    if let Some(place) = &kept.row.finding.place {
        let found = judge.again_in_place(planned, (place, input), reporter)?;
        return Ok(Again::Port(found.map_or(Once::Same, Once::Differs)));
    }
    if kept.row.side == Side::Port {
        let binary = judge.by_hand(planned, reporter)?;
        return judge.campaign(&binary, planned).once(input, interrupt).map(Again::Port);
    }
    if planned.judgeable.contract().is_none() {
        let text = format!("`{}` has no harness any more", kept.symbol);
        return Err(Error::new(ErrorKind::Usage, text)
            .help(format!("`cargo implfuzz contract {}` shows why", kept.symbol)));
    }
    let binary = judge.harnesses(&[planned], reporter)?;
    let campaign = judge.campaign(&binary, planned);
    if campaign.is_ruled_out(input, interrupt)? {
        return Ok(Again::Port(Once::Rejected(PRECONDITION.into())));
    }
    campaign.c_alone(input, interrupt).map(Again::C)
}

impl Judging<'_, '_> {
    /// Stores a C fault and reports it as a warning: it is not the port's fault, so no model is asked for a fix. A
    /// fault that the measurement of a harness found belongs to no run.
    pub fn keep_c_fault(
        &mut self,
        planned: &FunctionPlan,
        found: &CFault,
        run: Option<RunId>,
    ) -> Result<FindingId> {
        let id = self.store.add_finding(&NewFinding {
            symbol: &planned.function.key,
            side: Side::C,
            finding: &found.finding,
            run,
            candidate_sha256: None,
            c_fault: Some(CFaultNote { fault: found.kind, report: &found.report }),
        })?;
        let (class, what) = (found.finding.class, &found.finding.what);
        let what = format!("{class}: {what}: {}", found.kind.told());
        self.reporter.event(Event::CFault { symbol: planned.function.name.clone(), id: id.0, what });
        Ok(id)
    }

    /// Stores a finding about the port text with this hash, and its input as a seed in `dir`.
    pub fn record_finding(
        &mut self,
        planned: &FunctionPlan,
        finding: &Finding,
        text: &str,
        dir: &Path,
    ) -> Result<FindingId> {
        let id = self.store.add_finding(&NewFinding {
            symbol: &planned.function.key,
            side: Side::Port,
            finding,
            run: self.run,
            candidate_sha256: Some(text.to_owned()),
            c_fault: None,
        })?;
        if !finding.input.is_empty() {
            write_atomic(&dir.join(&sha256(&finding.input)[..16]), &finding.input)?;
        }
        Ok(id)
    }
}

/// The known C faults of a function's original, by description.
pub fn known_breaks(store: &Store, planned: &FunctionPlan) -> Result<BTreeSet<String>> {
    let rows = store.findings(Some(&planned.function.key))?;
    Ok(rows.into_iter().filter(|row| row.side == Side::C).map(|row| row.finding.what).collect())
}

/// The name on the command line, or the key if the library no longer has the function.
fn name(project: &Project, row: &FindingRow) -> SymbolName {
    let function = project.library.function(&row.symbol);
    function.map_or_else(|| SymbolName::new(&row.symbol.0), |f| f.name.clone())
}

/// A description without its numbers; the position of a panic stays whole.
fn without_numbers(what: &str) -> String {
    let word = |word: &str| match word.contains(".rs:") {
        true => word.to_owned(),
        false => {
            let parts: Vec<&str> = word.split(|c: char| c.is_ascii_digit()).collect();
            let starts = parts.iter().filter(|part| !part.is_empty()).copied();
            starts.collect::<Vec<_>>().join("#")
        }
    };
    what.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{Grade, State, without_numbers};

    #[test]
    fn a_finding_says_whether_the_port_that_stands_is_meant() {
        let state = |now| State::of(Some("a"), now);
        assert_eq!(state(None), State::NoPort);
        assert_eq!(state(Some(("a", Grade::Refuted))), State::Stands);
        assert_eq!(state(Some(("a", Grade::Verified))), State::Excluded);
        assert_eq!(state(Some(("b", Grade::Weak))), State::Mended);
        assert_eq!(state(Some(("b", Grade::Refuted))), State::NotJudgedSince);
        assert_eq!(state(Some(("b", Grade::Stale))), State::NotJudgedSince);
    }

    #[test]
    fn findings_that_differ_in_numbers_are_of_one_kind() {
        assert_eq!(without_numbers("`out[200]`"), without_numbers("`out[7]`"));
        assert_ne!(without_numbers("`out[200]`"), without_numbers("`in[200]`"));
        let panic = |line: u32, len: u32| {
            without_numbers(&format!(
                "panicked at rust/src/x.rs:{line}:9: index out of bounds: the len is {len}"
            ))
        };
        assert_eq!(panic(3, 4), panic(3, 5));
        assert_ne!(panic(3, 4), panic(4, 4));
    }
}
