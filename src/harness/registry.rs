//! The list of fuzz targets in a fuzz crate. The tree lists all; a build lists those that it will run, because each
//! target takes rustc about a second.

use std::collections::BTreeSet;

/// The path of the list below `rust/`.
pub const REGISTRY_FILE: &str = "fuzz/src/harness/mod.rs";

/// The text of the list.
pub fn print<S: AsRef<str>>(targets: &[S]) -> String {
    let modules: String = targets.iter().map(|target| format!("pub mod {};\n", target.as_ref())).collect();
    let items: String = targets.iter().map(|target| format!("{INDENT}{}{ITEM}\n", target.as_ref())).collect();
    format!(
        "//! One module per function that a harness can judge. Written by cargo-implfuzz.\n\n\
         use crate::runtime::driver::{{Mutants, Target}};\n\n\
         pub mod implfuzz_mutants;\npub mod implfuzz_port_mutants;\npub mod implfuzz_values;\n{modules}\n\
         /// All targets.\npub const TARGETS: &[Target] = &[\n{items}];\n\n\
         /// The target of a symbol.\npub fn find(name: &str) -> Option<&'static Target> {{\n    \
         TARGETS.iter().find(|target| target.name == name)\n}}\n\n\
         /// What stands in the place of the port where a harness is measured.\npub const MUTANTS: Mutants =\n    \
         Mutants {{\n        of_c: implfuzz_mutants::of,\n        of_port: implfuzz_port_mutants::of,\n        select: implfuzz_port_mutants::select,\n    }};\n"
    )
}

const INDENT: &str = "    ";
const ITEM: &str = "::TARGET,";

/// The targets in a list, in its order.
pub fn targets(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.strip_prefix(INDENT)?.strip_suffix(ITEM)).collect()
}

/// The modules beside it that the text of a harness names: call sequences use the functions of other harnesses.
pub fn neighbours(harness: &str) -> BTreeSet<&str> {
    let end = |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    harness.split("super::").skip(1).map(|after| &after[..end(after)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_list_names_the_targets_that_it_was_made_of(names in prop::collection::vec("[a-z_][a-z0-9_]{0,12}", 0..8)) {
            let text = print(&names);
            prop_assert_eq!(targets(&text), names.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_harness_names_the_modules_that_it_uses() {
        let text = "use super::implfuzz_values::*;\nmakers: &[&super::map_new::OPERATION],\n0 => super::list_2::made(r)";
        assert_eq!(neighbours(text), BTreeSet::from(["implfuzz_values", "map_new", "list_2"]));
    }
}
