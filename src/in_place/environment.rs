//! Values that a variable of the environment may have where C asks for one: texts and numbers of the library's C text, with
//! which it may compare them. `templates/in_place/answers.c` gives them.

use crate::c::text::{integers, literals};
use crate::error::Result;
use crate::symbol::Library;
use camino::Utf8Path;
use fs_err as fs;
use std::collections::BTreeSet;

/// The longest value, and how many there are, the shortest first.
const LONGEST: usize = 24;
const MOST: usize = 400;

/// A line of C for each value.
///
/// # Errors
/// `Io`.
pub(super) fn lines(library: &Library, root: &Utf8Path) -> Result<String> {
    let mut found: BTreeSet<Vec<u8>> = BTreeSet::new();
    for unit in &library.units {
        let text = fs::read(root.join(&unit.file.0))?;
        found.extend(literals(&text));
        let numbers = integers(&text).into_iter().flat_map(|number| [number, number.saturating_add(1)]);
        found.extend(numbers.map(|number| number.to_string().into_bytes()));
    }
    let mut values: Vec<Vec<u8>> =
        found.into_iter().filter(|value| value.len() <= LONGEST && !value.contains(&0)).collect();
    values.sort_by_key(Vec::len);
    values.truncate(MOST);
    Ok(values.iter().map(|value| line(value)).collect())
}

fn line(value: &[u8]) -> String {
    // Three octal digits end an escape, whatever follows.
    let escaped: String = value.iter().map(|byte| format!("\\{byte:03o}")).collect();
    format!("\"{escaped}\",\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_literals_of_c() {
        assert_eq!(line(b"a9\""), "\"\\141\\071\\042\",\n");
    }
}
