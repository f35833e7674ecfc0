//! `--shard i/n`: one part of the symbols for each of several machines.

use std::collections::BTreeSet;
use std::str::FromStr;

/// Part `index` (from 1) of `count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Self { index, count }),
            _ => Err("write it as 2/5: the second of five parts".into()),
        }
    }
}

impl Shard {
    /// Keeps this part. It depends on the names alone, so that all machines agree; neighbouring names go to
    /// different machines.
    pub fn keep<T>(self, all: &mut Vec<T>, name: impl Fn(&T) -> &str) {
        let mut names: Vec<&str> = all.iter().map(&name).collect();
        names.sort_unstable();
        let own = names.into_iter().skip(self.index - 1).step_by(self.count);
        let own: BTreeSet<String> = own.map(str::to_owned).collect();
        all.retain(|item| own.contains(name(item)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_symbol_is_in_exactly_one_part(names in prop::collection::btree_set("[a-z]{1,4}", 0..20), count in 1usize..6) {
            let mut seen = Vec::new();
            for index in 1..=count {
                let mut part: Vec<String> = names.iter().rev().cloned().collect();
                Shard { index, count }.keep(&mut part, String::as_str);
                prop_assert!(part.len() <= names.len().div_ceil(count));
                seen.extend(part);
            }
            seen.sort();
            prop_assert_eq!(seen, names.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn parts_are_counted_from_one() {
        assert_eq!("2/5".parse(), Ok(Shard { index: 2, count: 5 }));
        for wrong in ["0/3", "4/3", "1/0", "1", "a/b", "-1/2"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
