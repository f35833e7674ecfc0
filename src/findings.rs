//! Findings that were kept: each kind of them once, and any of them run again.

use crate::error::{Error, ErrorKind, Result};
use crate::fuzz::once::Once;
use crate::judge::Judge;
use crate::project::{Planned, Project};
use crate::store::{FindingRow, Store};
use crate::symbol::SymbolName;

/// A finding with the name of its function, and how many inputs show the same.
#[derive(Debug, Clone)]
pub struct Kept {
    pub symbol: SymbolName,
    pub row: FindingRow,
    pub inputs: usize,
}

/// What was found out about these functions, or about all (absent): of the findings that differ in nothing but numbers, the
/// one with the shortest input.
///
/// # Errors
/// Those of reading the store.
pub fn list(project: &Project, store: &Store, wanted: Option<&[&Planned]>) -> Result<Vec<Kept>> {
    let mut kinds: Vec<(String, Kept)> = Vec::new();
    for row in store.findings(None)? {
        if wanted.is_some_and(|all| all.iter().all(|p| p.function.key != row.symbol)) {
            continue;
        }
        let kind = format!("{} {} {}", row.symbol.0, row.finding.class, without_numbers(&row.finding.what));
        match kinds.iter_mut().find(|(other, _)| *other == kind) {
            None => kinds.push((kind, Kept { symbol: name(project, &row), row, inputs: 1 })),
            Some((_, kept)) => {
                kept.inputs += 1;
                if row.finding.input.len() < kept.row.finding.input.len() {
                    kept.row = row;
                }
            }
        }
    }
    Ok(kinds.into_iter().map(|(_, kept)| kept).collect())
}

/// The finding with this number.
///
/// # Errors
/// `Usage` where there is none.
pub fn find(project: &Project, store: &Store, id: i64) -> Result<Kept> {
    let row = store.findings(None)?.into_iter().find(|row| row.id.0 == id);
    let row = row.ok_or_else(|| {
        Error::new(ErrorKind::Usage, format!("there is no finding {id}"))
            .help("`cargo implfuzz findings list` shows all")
    })?;
    Ok(Kept { symbol: name(project, &row), row, inputs: 1 })
}

/// Runs its input through the C original and the port as it stands in the tree.
///
/// # Errors
/// `Usage` where the function has no port or harness any more; those of the build and of running the fuzz process.
pub fn replay(project: &Project, judge: &Judge, kept: &Kept) -> Result<Once> {
    let planned = project.find(kept.symbol.as_str())?;
    let binary = judge.by_hand(planned)?;
    judge.campaign(&binary, planned).once(&kept.row.finding.input, judge.interrupt)
}

/// As on the command line; the key where the library has the function no more.
fn name(project: &Project, row: &FindingRow) -> SymbolName {
    let function = project.library.function(&row.symbol);
    function.map_or_else(|| SymbolName::new(&row.symbol.0), |f| f.name.clone())
}

/// What differs, without the numbers in it; the place of a panic stays whole.
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
    use super::without_numbers;

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
