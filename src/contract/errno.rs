//! What a function does to `errno`, as far as its text and the table of libc functions say.

use crate::libc_facts as libc;
use crate::symbol::{Function, LibraryIndex};

/// Whether `errno` is part of the function's result: it, or what it calls, names `errno` or calls what sets it.
pub fn sets_errno(index: &LibraryIndex, function: &Function) -> bool {
    index.reached(function).any(|reached| {
        reached.externs.iter().any(|name| libc::sets_errno(name))
            || reached.macros.iter().any(|m| m == "errno")
    })
}

/// Whether `errno` says nothing of the function: libc's `atoi` and `sqrt` change it on some arguments as a side effect, and
/// a port need not call them. Calls that open, read or write files report failure through `errno`.
pub fn errno_says_nothing(index: &LibraryIndex, function: &Function) -> bool {
    let externs = || index.reached(function).flat_map(|reached| &reached.externs);
    let may_change = |name: &String| {
        libc::only_computes(name) && !libc::leaves_errno(name) && !libc::allocates(name) && !libc::frees(name)
    };
    let reports = |name: &String| libc::opens(name) || libc::reports_errno(name);
    !sets_errno(index, function) && !externs().any(reports) && externs().any(may_change)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol::Library;
    use crate::symbol::fixture::function;

    #[test]
    fn side_effects_of_libc_are_no_result() {
        let of = |externs: &[&str], macros: &[&str]| {
            let one = Function {
                externs: externs.iter().map(ToString::to_string).collect(),
                macros: macros.iter().map(ToString::to_string).collect(),
                ..function("one")
            };
            let library = Library { functions: vec![one], ..Library::default() };
            errno_says_nothing(&LibraryIndex::of(&library), &library.functions[0])
        };
        assert!(of(&["atoi"], &[]) && of(&["sqrt"], &[]) && of(&["memcpy", "atof"], &[]));
        assert!(!of(&[], &[]) && !of(&["memcpy", "malloc", "free"], &[]) && !of(&["read"], &[]));
        assert!(!of(&["atoi", "strtol"], &[]) && !of(&["sqrt"], &["errno"]) && !of(&["open", "atoi"], &[]));
        assert!(of(&["printf", "sqrt"], &[]));
        assert!(!of(&["floorf", "__assert_fail", "__builtin_clz", "_mm_add_epi8"], &[]));
    }
}
