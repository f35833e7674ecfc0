//! Callees of C whose work no comparison shows: they erase memory, access volatile memory, or are weak, so that a program
//! may define them anew. If the text of a port does not name such a callee, the port may leave that work out.

use super::Judge;
use crate::error::Result;
use crate::libc_facts as libc;
use crate::project::FunctionPlan;
use crate::rust::signature::ident;
use crate::symbol::{Function, LibraryIndex};
use std::collections::BTreeSet;

impl Judge<'_> {
    /// Why the port may leave out work of C that no run compares; `None` where it calls what C calls.
    ///
    /// # Errors
    /// If the module is not valid Rust.
    pub(super) fn left_out(&self, planned: &FunctionPlan) -> Result<Option<String>> {
        let module = self.project.module(&planned.function.module)?;
        let mentioned = module.mentioned(&planned.function);
        let index = LibraryIndex::of(&self.project.library);
        let tree = &self.c_side()?.tree;
        let found = unmentioned(&planned.function, &index, &mentioned, &|name| tree.is_weak(name));
        Ok(found.map(|(name, why)| {
            format!("C calls `{name}`, which {why}; the port does not, and no run compares that")
        }))
    }
}

/// The first function that C calls, directly or in callees that the port does without, and that the port does not name.
fn unmentioned(
    function: &Function,
    index: &LibraryIndex<'_>,
    mentioned: &BTreeSet<String>,
    is_weak: &dyn Fn(&str) -> bool,
) -> Option<(String, &'static str)> {
    let mut seen = BTreeSet::from([&function.key]);
    let mut open = vec![function];
    while let Some(next) = open.pop() {
        let erases = |name: &&String| libc::erases(name) && !mentioned.contains(name.as_str());
        if let Some(name) = next.externs.iter().find(erases) {
            return Some((name.clone(), "erases memory"));
        }
        for callee in next.calls.iter().filter_map(|key| index.function(key)) {
            if mentioned.contains(&ident(callee).to_string()) || !seen.insert(&callee.key) {
                continue;
            }
            if callee.volatile {
                return Some((callee.name.to_string(), "accesses volatile or atomic memory"));
            }
            if is_weak(&callee.c_name) {
                return Some((callee.name.to_string(), "is weak, so that a program may define it anew"));
            }
            open.push(callee);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol::Library;
    use crate::symbol::fixture::function;

    fn library() -> Library {
        let (mut burn, mut end, mut scrub, mut f) =
            (function("burn"), function("end"), function("scrub"), function("f"));
        burn.volatile = true;
        end.calls = vec![burn.key.clone()];
        scrub.externs = vec!["explicit_bzero".into()];
        f.calls = vec![end.key.clone(), scrub.key.clone()];
        Library { functions: vec![burn, end, scrub, f], ..Library::default() }
    }

    fn told(mentioned: &[&str]) -> Option<String> {
        told_where("none", mentioned)
    }

    /// The same where this function is weak.
    fn told_where(weak: &str, mentioned: &[&str]) -> Option<String> {
        let library = library();
        let mentioned = mentioned.iter().map(|name| (*name).to_owned()).collect();
        let index = LibraryIndex::of(&library);
        unmentioned(&library.functions[3], &index, &mentioned, &|name| name == weak).map(|(name, _)| name)
    }

    #[test]
    fn what_c_erases_has_to_be_called_by_the_port_or_by_its_callees() {
        assert_eq!(told(&["end", "scrub"]), None, "these are judged on their own");
        assert_eq!(told(&["scrub"]).as_deref(), Some("burn"));
        assert_eq!(told(&["scrub", "burn"]), None);
        assert_eq!(told(&["end"]).as_deref(), Some("explicit_bzero"));
        assert_eq!(told(&["end", "explicit_bzero"]), None);
    }

    #[test]
    fn what_a_program_may_define_anew_has_to_be_called() {
        assert_eq!(told_where("scrub", &["end", "explicit_bzero"]).as_deref(), Some("scrub"));
        assert_eq!(told_where("scrub", &["end", "scrub"]), None);
    }
}
