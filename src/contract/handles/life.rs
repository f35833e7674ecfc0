//! Whether a function makes, uses or ends the handle that it gets.

use super::Handles;
use crate::contract::constructors::{COPIES, is_named, words};
use crate::contract::parameter_roles::Life;
use crate::symbol::{CType, Function, UseKind};

/// Words in the name of a destructor.
const ENDS: [&str; 13] = [
    "destroy", "free", "delete", "close", "end", "fini", "release", "dispose", "term", "destruct", "cleanup",
    "deinit", "uninit",
];

/// Words of functions that only name a destructor, such as `set_free_func`.
const TELLS: [&str; 7] = ["set", "get", "func", "callback", "handler", "hook", "fn"];

/// Whether the name is that of a destructor.
pub fn is_named_as_end(function: &Function) -> bool {
    has_word(function, &ENDS) && !words(&function.c_name).iter().any(|own| TELLS.contains(&own.as_str()))
}

fn has_word(function: &Function, wanted: &[&str]) -> bool {
    // `gzclose`: a word of five letters or more may follow a prefix without a separator.
    let fits = |own: &str, word: &str| own == word || word.len() >= 5 && own.ends_with(word);
    words(&function.c_name).iter().any(|own| wanted.iter().any(|word| fits(own, word)))
}

impl Handles<'_> {
    /// Whether the function makes, uses or ends its first handle.
    pub(super) fn life(&self, of: &str, function: &Function) -> Life {
        let Some(first) = self.first_handle(of, function) else {
            return if self.returns_new(function, of) { Life::Makes } else { Life::Uses };
        };
        let named = |wanted: &[&str]| has_word(function, wanted);
        let is_maker = self.constructors.of_record(of).iter().any(|f| f.key == function.key);
        // A maker cannot fill what is `const`: it copies it.
        let is_original = function.params[first].ty.target().is_some_and(|to| to.is_const);
        let takes =
            function.params.iter().filter(|p| p.ty.target().and_then(CType::record_key) == Some(of)).count();
        if self.facts.of(function, first).freed
            || is_named_as_end(function) && takes == 1 && !self.only_lends(function, first)
        {
            Life::Ends
        } else if is_maker && !is_original && !named(&["reset"]) || takes == 2 && first == 0 && named(&COPIES)
        {
            Life::Makes
        } else {
            Life::Uses
        }
    }

    /// Whether the function does no more with an argument than to pass it to functions of the library that end nothing:
    /// `delete(detach(list, at))` ends what was in the list.
    fn only_lends(&self, function: &Function, index: usize) -> bool {
        let ends = |name: &str| is_named(name, &ENDS);
        let lends = |kind: &UseKind| match kind {
            UseKind::NullCheck => true,
            UseKind::Argument { callee, position, .. } => {
                let called = self.library.functions.iter().find(|other| other.c_name == *callee);
                called.is_some_and(|other| !ends(callee) && !self.facts.of(other, *position).freed)
            }
            // What is done with another function's result says nothing of the argument.
            UseKind::FromCall { .. } => true,
            _ => false,
        };
        let uses = &function.params[index].uses;
        uses.iter().any(|used| matches!(used.kind, UseKind::Argument { .. }))
            && uses.iter().all(|used| lends(&used.kind))
    }
}
