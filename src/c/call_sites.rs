//! Call sites of a function in the library, with the lines around them.

use crate::symbol::{Function, Library};
use serde::Serialize;

/// Maximum number of call sites.
const SHOWN: usize = 3;
/// Number of lines shown before and after a call.
const AROUND: usize = 5;

/// A call in the C text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallSite {
    /// The calling function.
    pub caller: String,
    pub file: String,
    pub line: usize,
    pub text: String,
}

/// The first call of `function` in each of the first few functions that call it.
pub fn call_sites(library: &Library, function: &Function) -> Vec<CallSite> {
    let callers =
        library.functions.iter().filter(|f| f.key != function.key && f.calls.contains(&function.key));
    let site = |caller| {
        first(caller, &function.c_name, "(").or_else(|| through_macro(library, caller, &function.c_name))
    };
    callers.filter_map(site).take(SHOWN).collect()
}

/// A call that a macro makes, which the caller's text does not show.
fn through_macro(library: &Library, caller: &Function, name: &str) -> Option<CallSite> {
    let macros = library.macros.iter().filter(|own| caller.macros.contains(&own.name));
    let calls = macros.filter(|own| has_word(&own.text, name));
    calls.filter_map(|own| first(caller, &own.name, "")).next()
}

/// Whether the text contains the identifier `name`.
pub fn has_word(line: &str, name: &str) -> bool {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name)
}

/// The first line with the name and this text.
fn first(caller: &Function, name: &str, with: &str) -> Option<CallSite> {
    let lines: Vec<&str> = caller.text.lines().collect();
    let at = lines.iter().position(|line| line.contains(with) && has_word(line, name))?;
    let around = at.saturating_sub(AROUND)..(at + AROUND + 1).min(lines.len());
    Some(CallSite {
        caller: caller.c_name.clone(),
        file: caller.place.file.to_string(),
        line: caller.place.line as usize + at,
        text: lines[around].join("\n"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::prompt::context::tests::{digest, function, library};

    #[test]
    fn calls_come_with_their_place_and_the_lines_around_them() {
        let library = library();
        let sites = call_sites(&library, &function("mix", ""));
        assert_eq!(sites.len(), 1);
        let (site, caller) = (&sites[0], digest());
        let line = caller.text.lines().nth(site.line - 20).unwrap();
        assert!(line.contains("mix(data[i])"), "{line}");
        assert_eq!((site.caller.as_str(), site.file.as_str()), ("kit_digest", "src/sum.c"));
        assert!(site.text.lines().count() <= 2 * AROUND + 1 && site.text.contains("return s"));
        assert_eq!(call_sites(&library, &caller), Vec::new());

        let mut library = library;
        library.macros[0].text = "START (mix(KIT_SEED))".into();
        let text = library.functions[1].text.replace("mix(data[i])", "data[i]");
        library.functions[1].text = text;
        let sites = call_sites(&library, &function("mix", ""));
        assert!(sites.len() == 1 && sites[0].text.contains("s = START"), "{sites:?}");
    }
}
