//! The list of findings: each kind once, with the relation to the port in the tree.

use crate::error::{Error, ErrorKind, Result};
use crate::evidence::status::{Status, SymbolStatus, status};
use crate::project::{FunctionPlan, Project};
use crate::store::{FindingRow, Side, Store};
use crate::symbol::SymbolName;
use crate::verdict::Grade;
use serde::Serialize;

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
