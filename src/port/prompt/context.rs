//! The content of a prompt about one function: immutable, built once, hashed.
//!
//! `prompt` turns it into text.

use crate::contract::types::{Contract, Judgeable, Signature};
use crate::error::{Error, ErrorKind, Result};
use crate::port::prompt::c_variables::CVariable;
use crate::port::prompt::describe_contract;
use crate::port::prompt::ffi_items;
use crate::rust::signature::ident;
use crate::rust::unsafe_code::UnsafeCode;
use crate::symbol::{Function, Global, Library, SymbolKey, SymbolName, Unit};
use serde::Serialize;
use std::collections::BTreeSet;

/// The beginnings of flags that change what C text means.
const MEANINGFUL: [&str; 13] = [
    "-D", "-U", "-std", "-m", "-ffast-math", "-funsafe-math", "-ffinite-math", "-ffp-", "-frounding-math",
    "-fsigned-", "-funsigned-", "-fwrapv", "-ftrapv",
];

/// Bytes of a callee's C text that is shown, and of all of them.
const SHORT: usize = 400;
const SHORT_ONES: usize = 1_600;

/// Facts about a callee besides its C side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalleeState {
    /// Its stub or port, which shows its signature.
    pub rust: String,
    /// Whether it has a body in Rust.
    pub ported: bool,
}

/// The inputs from which a context is built.
pub struct Sources<'a> {
    pub library: &'a Library,
    pub function: &'a Function,
    pub judgeable: &'a Judgeable,
    /// The text of the stub.
    pub stub: &'a str,
    /// The text of `ffi.rs`.
    pub ffi: &'a str,
    /// The text of `globals.rs`.
    pub globals: &'a str,
    /// A variable that Rust has no static for.
    pub c_variable: &'a dyn Fn(&Global) -> Result<CVariable>,
    /// The Rust side of a library function.
    pub callee: &'a dyn Fn(&Function) -> Option<CalleeState>,
}

/// A library function that this one calls or takes the address of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Callee {
    /// The path for a call: `callee::<name>`.
    pub path: String,
    pub c_name: String,
    pub signature: String,
    pub ported: bool,
    /// The path to its address, `crate::capi::<name>`, if C takes that and the function is ported.
    pub address: Option<String>,
}

/// A C file and the Rust module of its port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Module {
    pub file: String,
    pub name: String,
}

/// The part that all functions of a library share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shared {
    pub modules: Vec<Module>,
    /// Flags of the compiled configuration that change what C means: macros, the standard, floats, the target.
    pub flags: Vec<String>,
}

/// One function, as its author sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PortContext {
    symbol: SymbolName,
    shared: Shared,
    c_name: String,
    c_file: String,
    c_line: u32,
    comment: String,
    c_text: String,
    /// `crate::<module>`.
    module: String,
    signature: String,
    /// Whether the signature is safe.
    safe: bool,
    contract: Vec<String>,
    types: String,
    macros: Vec<String>,
    callees: Vec<Callee>,
    /// The C texts of callees that are short: behaviour may depend on them.
    short_callees: Vec<String>,
    globals: Vec<String>,
    /// Variables that Rust has no static for.
    c_variables: Vec<CVariable>,
    externs: Vec<String>,
    recursive: bool,
    /// The port that is to be replaced by a safer one.
    old: Option<OldPort>,
}

/// A port of which a safer one is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct OldPort {
    text: String,
    /// `unsafe` blocks and bodies in it.
    unsafe_places: usize,
    unsafe_tokens: usize,
}

impl PortContext {
    /// Builds the context. `Err` when something is missing: no contract, a callee without a signature, a global
    /// without a binding, a generated file that does not parse.
    pub fn build(sources: &Sources) -> Result<Self> {
        let function = sources.function;
        match sources.judgeable {
            Judgeable::Yes(contract) => Self::gather(sources, Some(contract)),
            Judgeable::NotYet(reason) => {
                Err(Error::new(ErrorKind::Usage, format!("no harness can judge it yet: {reason}"))
                    .help(format!("write it by hand, then: cargo implfuzz verify {}", function.name)))
            }
        }
        .map_err(|error| error.context(format!("the context of `{}`", function.name)))
    }

    /// The context of a function that has no contract yet.
    pub fn without_contract(sources: &Sources) -> Result<Self> {
        Self::gather(sources, None)
            .map_err(|error| error.context(format!("the context of `{}`", sources.function.name)))
    }

    /// The same for a function that has no contract, and that drivers judge.
    #[must_use]
    pub fn judged_in_place(self) -> Self {
        let contract = describe_contract::IN_PLACE.map(str::to_owned).to_vec();
        Self { contract, ..self }
    }

    /// The same for a question about a safer port than this.
    #[must_use]
    pub fn instead_of(self, text: String, code: UnsafeCode) -> Self {
        let old = OldPort { text, unsafe_places: code.places, unsafe_tokens: code.tokens };
        Self { old: Some(old), ..self }
    }

    fn gather(sources: &Sources, contract: Option<&Contract>) -> Result<Self> {
        let function = sources.function;
        if function.text.trim().is_empty() {
            return Err(Error::new(ErrorKind::C, format!("its C text at {} is empty", function.place.file)));
        }
        let signature = ffi_items::signature(sources.stub, function.name.as_str())?;
        let callees = callees(sources)?;
        let (globals, c_variables) = globals(sources)?;
        let macros = macros(sources.library, function);
        let seen = [&function.text, &signature].into_iter();
        let seen = seen.chain(&macros).chain(&globals).chain(callees.iter().map(|callee| &callee.signature));
        let words: BTreeSet<String> = seen.flat_map(|text| ffi_items::identifiers(text)).collect();
        Ok(Self {
            symbol: function.name.clone(),
            shared: Shared::of(sources.library),
            c_name: function.c_name.clone(),
            c_file: function.place.file.to_string(),
            c_line: function.place.line,
            comment: function.comment.clone(),
            c_text: function.text.clone(),
            module: format!("crate::{}", function.module),
            signature,
            safe: contract.is_some_and(|contract| contract.signature == Signature::Safe),
            contract: contract
                .map(|contract| describe_contract::describe(contract, function))
                .unwrap_or_default(),
            types: ffi_items::types(sources.ffi, &words)?,
            macros,
            callees,
            short_callees: short_callees(sources),
            globals,
            c_variables,
            externs: function.externs.clone(),
            recursive: function.calls.contains(&function.key),
            old: None,
        })
    }

    /// The function's name on the Rust side.
    pub fn symbol(&self) -> &SymbolName {
        &self.symbol
    }

    /// The part that all functions of the library share.
    pub fn shared(&self) -> &Shared {
        &self.shared
    }
}

impl Shared {
    fn of(library: &Library) -> Self {
        let has_functions = |unit: &&Unit| library.functions.iter().any(|f| f.module == unit.module);
        let modules = library
            .units
            .iter()
            .filter(has_functions)
            .map(|unit| Module { file: unit.file.to_string(), name: unit.module.clone() });
        let meaningful = |flag: &&String| MEANINGFUL.iter().any(|start| flag.starts_with(start));
        let flags: BTreeSet<&String> =
            library.units.iter().flat_map(|unit| &unit.flags).filter(meaningful).collect();
        Self { modules: modules.collect(), flags: flags.into_iter().cloned().collect() }
    }
}

fn callees(sources: &Sources) -> Result<Vec<Callee>> {
    let function = sources.function;
    let keys: BTreeSet<&SymbolKey> = function.calls.iter().chain(&function.address_taken).collect();
    let others = keys.into_iter().filter(|key| **key != function.key);
    let mut callees = Vec::new();
    for key in others {
        let missing = || {
            let text = format!("its callee `{}` has no definition in the library", key.0);
            Error::new(ErrorKind::C, text).help("cargo implfuzz init")
        };
        let callee = sources.library.function(key).ok_or_else(missing)?;
        // Rust cannot express all signatures; the port does itself what such a function does.
        let Some(state) = (sources.callee)(callee) else { continue };
        let signature = ffi_items::signature(&state.rust, callee.name.as_str())?;
        callees.push(Callee {
            path: format!("callee::{}", ident(callee)),
            c_name: callee.c_name.clone(),
            signature,
            ported: state.ported,
            address: (state.ported && function.address_taken.contains(key))
                .then(|| format!("crate::capi::{}", ident(callee))),
        });
    }
    callees.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(callees)
}

/// The C texts of callees: of those that Rust cannot call, because the port does what they do, and then of others, the shortest
/// first, as far as there is room.
fn short_callees(sources: &Sources) -> Vec<String> {
    let function = sources.function;
    let keys: BTreeSet<&SymbolKey> = function.calls.iter().chain(&function.address_taken).collect();
    let others = keys.into_iter().filter(|key| **key != function.key);
    let others = others.filter_map(|key| sources.library.function(key));
    let (others, own): (Vec<&Function>, Vec<&Function>) =
        others.partition(|callee| (sources.callee)(callee).is_some());
    let mut texts: Vec<&str> = others.into_iter().map(|callee| callee.text.as_str()).collect();
    texts.retain(|text| text.len() <= SHORT);
    texts.sort_by_key(|text| text.len());
    let mut room = SHORT_ONES;
    texts.retain(|text| {
        let fits = text.len() <= room;
        room -= if fits { text.len() } else { 0 };
        fits
    });
    own.into_iter().map(|callee| callee.text.as_str()).chain(texts).map(str::to_owned).collect()
}

/// The Rust statics of the variables that the body mentions, and those that have none.
fn globals(sources: &Sources) -> Result<(Vec<String>, Vec<CVariable>)> {
    let function = sources.function;
    let keys: BTreeSet<&SymbolKey> = function.globals_read.iter().chain(&function.globals_written).collect();
    let (mut lines, mut others) = (Vec::new(), Vec::new());
    for key in keys {
        let missing =
            || Error::new(ErrorKind::C, format!("the global `{}` is not defined in the library", key.0));
        let global = sources.library.global(key).ok_or_else(missing)?;
        let bound = match global.unsupported {
            None => ffi_items::global(sources.globals, global.name.as_str())?,
            Some(_) => None,
        };
        match bound {
            Some(line) => lines.push(line),
            None => others.push((sources.c_variable)(global)?),
        }
    }
    for name in function.streams() {
        lines.extend(ffi_items::global(sources.globals, name)?);
    }
    Ok((lines, others))
}

/// The library's macros that the body expands, directly or through other macros, as written.
fn macros(library: &Library, function: &Function) -> Vec<String> {
    let mut names = BTreeSet::new();
    let mut open = function.macros.clone();
    while let Some(name) = open.pop() {
        let found: Vec<_> = library.macros.iter().filter(|m| m.name == name).collect();
        if !found.is_empty() && names.insert(name) {
            open.extend(found.iter().flat_map(|m| ffi_items::identifiers(&m.text)));
        }
    }
    let used = library.macros.iter().filter(|m| names.contains(&m.name));
    // Several files may define it alike, but for the blanks.
    let mut seen = BTreeSet::new();
    used.filter(|m| seen.insert(m.text.split_whitespace().collect::<String>()))
        .map(|m| format!("#define {}", m.text))
        .collect()
}

#[cfg(test)]
pub(crate) mod tests;
