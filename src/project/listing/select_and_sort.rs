//! Selects and sorts the rows of a listing.

use super::{Listing, Row};
use crate::c::glob;
use crate::contract::tier::Tier;
use crate::symbol::RelPath;
use std::cmp::Reverse;

/// Sort orders of a listing; equal rows stay in porting order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Sort {
    /// Callees before callers.
    Order,
    Name,
    /// Easiest first.
    Tier,
    /// Most callers first.
    FanIn,
}

impl Listing {
    /// Keeps the rows that a pattern matches, by symbol, C name, file, or `file:name`. Without patterns all rows
    /// stay. Returns a pattern that matches nothing.
    pub fn keep<'p>(&mut self, patterns: &'p [String]) -> Option<&'p str> {
        if patterns.is_empty() {
            return None;
        }
        let mut used = vec![false; patterns.len()];
        let mut any = |file: &RelPath, names: Option<(&str, &str)>| {
            let mut kept = false;
            for (used, pattern) in used.iter_mut().zip(patterns) {
                let hit = matches(pattern, file, names);
                *used |= hit;
                kept |= hit;
            }
            kept
        };
        self.symbols.retain(|row| any(&row.file, Some((row.symbol.as_str(), &row.c_name))));
        self.unsupported.retain(|one| any(&one.file, Some((one.symbol.as_str(), &one.c_name))));
        self.left_out.retain(|left| any(&left.file, None));
        self.gaps.retain(|gap| any(&RelPath(gap.what.clone().into()), Some((&gap.what, &gap.what))));
        self.definitions.retain(|found| any(&found.file, Some((&found.name, &found.name))));
        used.iter().position(|used| !used).map(|at| patterns[at].as_str())
    }

    /// Keeps the functions of these tiers; with no tiers, all.
    pub fn keep_tiers(&mut self, tiers: &[Tier]) {
        self.symbols.retain(|row| tiers.is_empty() || tiers.contains(&row.tier));
    }

    /// Sorts the functions in this order.
    pub fn sort(&mut self, by: Sort) {
        match by {
            Sort::Order => self.symbols.sort_by_key(|row| row.order),
            Sort::Name => self.symbols.sort_by(|a, b| a.symbol.cmp(&b.symbol)),
            Sort::Tier => self.symbols.sort_by_key(|row| (row.tier, row.order)),
            Sort::FanIn => self.symbols.sort_by_key(|row| (Reverse(row.fan_in), row.order)),
        }
    }

    /// The number of functions of each tier, easiest first.
    pub fn per_tier(&self) -> [(Tier, usize); 5] {
        Tier::ALL.map(|tier| (tier, self.count(|row| row.tier == tier)))
    }

    /// The number of functions with this property.
    pub fn count(&self, like: impl Fn(&Row) -> bool) -> usize {
        self.symbols.iter().filter(|row| like(row)).count()
    }
}

/// Whether a pattern matches a file, or one of these names (the symbol's and C's) in it.
pub fn matches(pattern: &str, file: &RelPath, names: Option<(&str, &str)>) -> bool {
    let in_file = |pattern: &str| {
        glob::matches(pattern, file.0.as_str())
            || file.0.file_name().is_some_and(|name| glob::matches(pattern, name))
    };
    let named = |(symbol, c_name): (&str, &str)| {
        let both = |(file, name): (&str, &str)| in_file(file) && glob::matches(name, c_name);
        glob::matches(pattern, symbol)
            || glob::matches(pattern, c_name)
            || pattern.split_once(':').is_some_and(both)
    };
    in_file(pattern) || names.is_some_and(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_name_c_name_file_or_both() {
        let file = RelPath("src/deflate.c".into());
        let names = Some(("deflate__longest_match", "longest_match"));
        for yes in ["deflate__longest_match", "longest*", "deflate.c", "src/*", "deflate.c:long*", "*"] {
            assert!(matches(yes, &file, names), "{yes}");
        }
        for no in ["longest", "deflate", "inflate.c:longest_match", "deflate.c:x", ""] {
            assert!(!matches(no, &file, names), "{no}");
        }
        assert!(matches("*.c", &file, None) && !matches("longest*", &file, None));
    }
}
