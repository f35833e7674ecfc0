//! Mutants of ports: copies of a function and of the private items that it reaches, each with one small change,
//! appended to its module. The function itself first checks which copy is selected. This is pure text to text, for
//! a copy of the crate that is built and run once; the tree never has mutants.

mod edits;

use super::item::{self, find_fn};
use super::splice::take_apart;
use crate::c::mutants::{Edit, Mutant, spread};
use crate::digest::of_parts;
use edits::edits;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Text appended to `lib.rs` of the copied crate: the number of the selected mutant.
pub const SELECTED: &str = "\n/// Which mutant is meant; 0 is the port as it is.\npub mod implfuzz_selected {\n    \
    pub static NUMBER: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0);\n}\n";

/// Lints that a mutant may violate.
const LINTS: &str = "warnings, arithmetic_overflow, overflowing_literals, unconditional_panic, \
                     clippy::all, unsafe_op_in_unsafe_fn, unused_unsafe";

/// The mutants of one function.
#[derive(Debug, Clone)]
pub struct Mutated {
    /// Byte position after the opening brace of its body.
    at: usize,
    /// A call of it with its own parameters.
    call: String,
    is_unsafe: bool,
    copies: Vec<Copy>,
}

#[derive(Debug, Clone)]
struct Copy {
    number: u32,
    mutant: Mutant,
    text: String,
}

impl Mutated {
    /// At most `most` mutants of the function `ident` of the module `text`, numbered from `first`. `Err` says why
    /// there are none.
    pub fn of(text: &str, ident: &str, most: usize, first: u32) -> Result<Self, String> {
        let place = find_fn(text, ident).ok_or("there is no such function in its module")?;
        let call = call(&place.item.sig)?;
        let at = item::bytes_of(&place.item.block).start + 1;
        let (own, _) = take_apart(text, ident);
        let file = item::parse(&own).map_err(|error| error.to_string())?;
        let edits = edits(&file, &own, ident);
        let ids = ids(&own, &edits);
        let edits = spread(edits.into_iter().zip(ids).collect(), most);
        let copies = (first..).zip(edits).map(|(number, (edit, id))| {
            let mut text = own.clone();
            text.replace_range(edit.range.clone(), &edit.by);
            // `take_apart` blanked the other items.
            let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
            let name = format!("implfuzz_mutant_{number}");
            let text = format!("mod {name} {{\nuse super::*;\n{}\n}}\n", lines.join("\n"));
            Copy { number, mutant: Mutant { id, line: edit.line, what: edit.what }, text }
        });
        let copies: Vec<Copy> = copies.collect();
        let is_unsafe = matches!(place.item.sig.safety, syn::Safety::Unsafe(_));
        match copies.is_empty() {
            true => Err("its text has nothing to change".into()),
            false => Ok(Self { at, call, is_unsafe, copies }),
        }
    }

    /// The mutants by their numbers.
    pub fn mutants(&self) -> impl Iterator<Item = (u32, &Mutant)> {
        self.copies.iter().map(|copy| (copy.number, &copy.mutant))
    }

    /// Removes mutants that do not compile.
    pub fn without(&mut self, numbers: &BTreeSet<u32>) {
        self.copies.retain(|copy| !numbers.contains(&copy.number));
    }
}

/// A module with the mutants of some of its functions.
#[derive(Debug)]
pub struct Module {
    pub text: String,
    /// The lines of each copy, by its number.
    pub lines: BTreeMap<u32, Range<usize>>,
}

/// The module `text` with mutants of all `functions`, which belong to this text.
pub fn module(text: &str, functions: &[&Mutated]) -> Module {
    let mut all = text.to_owned();
    let mut places: Vec<&&Mutated> = functions.iter().collect();
    // Insert from the end, so that earlier positions stay valid.
    places.sort_by_key(|mutated| std::cmp::Reverse(mutated.at));
    for mutated in places {
        all.insert_str(mutated.at, &mutated.choice());
    }
    if !all.ends_with('\n') {
        all.push('\n');
    }
    let mut lines = BTreeMap::new();
    let mut line = all.lines().count() + 1;
    for copy in functions.iter().flat_map(|mutated| &mutated.copies) {
        let count = copy.text.lines().count() + 1;
        lines.insert(copy.number, line..line + count);
        line += count;
        all += &format!("#[allow({LINTS})]\n{}", copy.text);
    }
    Module { text: all, lines }
}

impl Mutated {
    /// The selection code at the start of the function; on one line, so that the following lines keep their
    /// numbers.
    fn choice(&self) -> String {
        let arms = self.copies.iter().map(|copy| {
            let (number, call) = (copy.number, &self.call);
            match self.is_unsafe {
                true => format!("{number} => return unsafe {{ implfuzz_mutant_{number}::{call} }},"),
                false => format!("{number} => return implfuzz_mutant_{number}::{call},"),
            }
        });
        let number = "crate::implfuzz_selected::NUMBER.load(::core::sync::atomic::Ordering::Relaxed)";
        format!(" match {number} {{ {} _ => {{}} }} ", arms.collect::<String>())
    }
}

/// A call of a function from its own body, with its own parameters.
fn call(signature: &syn::Signature) -> Result<String, String> {
    let names: Result<Vec<String>, String> = signature
        .inputs
        .iter()
        .map(|input| match input {
            syn::FnArg::Typed(typed) => match &*typed.pat {
                syn::Pat::Ident(pat) if pat.subpat.is_none() => Ok(pat.ident.to_string()),
                _ => Err("a parameter of it is a pattern".to_owned()),
            },
            syn::FnArg::Receiver(_) => Err("it is a method".to_owned()),
        })
        .collect();
    Ok(format!("{}({})", signature.ident, names?.join(", ")))
}

/// A name for each edit that does not change when other text changes.
fn ids(text: &str, edits: &[Edit]) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let id = |edit: &Edit| {
        let start = text[..edit.range.start].rfind('\n').map_or(0, |at| at + 1);
        let line = text[start..].lines().next().unwrap_or_default().trim();
        let what = of_parts(["rust", line, edit.what.as_str()]);
        let nth = seen.entry(what.clone()).or_default();
        *nth += 1;
        of_parts([what.as_str(), &nth.to_string()])[..8].to_owned()
    };
    edits.iter().map(id).collect()
}

#[cfg(test)]
mod tests;
