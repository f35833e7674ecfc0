//! The content of a prompt about one function: immutable, built once, hashed.
//!
//! `prompt` turns it into text.

use super::describe_contract;
use super::items;
use crate::contract::types::{Contract, Judgeable, Signature};
use crate::error::{Error, ErrorKind, Result};
use crate::rust::signature::ident;
use crate::symbol::{Function, Library, SymbolKey, SymbolName};
use serde::Serialize;
use std::collections::BTreeSet;

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
    /// `-D`, `-U` and `-std` of the compiled configuration.
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
    globals: Vec<String>,
    externs: Vec<String>,
    local_statics: Vec<String>,
    recursive: bool,
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

    fn gather(sources: &Sources, contract: Option<&Contract>) -> Result<Self> {
        let function = sources.function;
        if function.text.trim().is_empty() {
            return Err(Error::new(ErrorKind::C, format!("its C text at {} is empty", function.place.file)));
        }
        let signature = items::signature(sources.stub, function.name.as_str())?;
        let callees = callees(sources)?;
        let globals = globals(sources)?;
        let macros = macros(sources.library, function);
        let seen = [&function.text, &signature].into_iter();
        let seen = seen.chain(&macros).chain(&globals).chain(callees.iter().map(|callee| &callee.signature));
        let words: BTreeSet<String> = seen.flat_map(|text| items::identifiers(text)).collect();
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
            types: items::types(sources.ffi, &words)?,
            macros,
            callees,
            globals,
            externs: function.externs.clone(),
            local_statics: function.local_statics.clone(),
            recursive: function.calls.contains(&function.key),
        })
    }

    /// The function's name on the Rust side.
    pub fn symbol(&self) -> &SymbolName {
        &self.symbol
    }

    /// The exact signature that a candidate must have, without a body.
    pub fn signature(&self) -> &str {
        &self.signature
    }

    /// The part that all functions of the library share.
    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Callees, under the paths that the candidate uses.
    pub fn callees(&self) -> &[Callee] {
        &self.callees
    }
}

impl Shared {
    fn of(library: &Library) -> Self {
        let modules = library
            .units
            .iter()
            .map(|unit| Module { file: unit.file.to_string(), name: unit.module.clone() });
        let meaningful = |flag: &&String| ["-D", "-U", "-std"].iter().any(|start| flag.starts_with(start));
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
        let missing = |what: &str| {
            Error::new(ErrorKind::C, format!("its callee `{}` has no {what}", key.0))
                .help("cargo implfuzz init")
        };
        let callee = sources.library.function(key).ok_or_else(|| missing("definition in the library"))?;
        let state = (sources.callee)(callee).ok_or_else(|| missing("signature on the Rust side"))?;
        let signature = items::signature(&state.rust, callee.name.as_str())?;
        callees.push(Callee {
            path: format!("callee::{}", ident(callee)),
            c_name: callee.c_name.clone(),
            signature,
            ported: state.ported,
        });
    }
    callees.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(callees)
}

fn globals(sources: &Sources) -> Result<Vec<String>> {
    let function = sources.function;
    let keys: BTreeSet<&SymbolKey> = function.globals_read.iter().chain(&function.globals_written).collect();
    let mut lines = Vec::new();
    for key in keys {
        let missing = |why: &str| Error::new(ErrorKind::C, format!("the global `{}` {why}", key.0));
        let global = sources.library.global(key).ok_or_else(|| missing("is not defined in the library"))?;
        if let Some(reason) = &global.unsupported {
            return Err(missing(&format!("has no Rust counterpart: {reason}")));
        }
        let line = items::global(sources.globals, global.name.as_str())?;
        lines.push(line.ok_or_else(|| missing("is not in globals.rs").help("cargo implfuzz init"))?);
    }
    Ok(lines)
}

/// The library's macros that the body expands, directly or through other macros, as written.
fn macros(library: &Library, function: &Function) -> Vec<String> {
    let mut names = BTreeSet::new();
    let mut open = function.macros.clone();
    while let Some(name) = open.pop() {
        let found: Vec<_> = library.macros.iter().filter(|m| m.name == name).collect();
        if !found.is_empty() && names.insert(name) {
            open.extend(found.iter().flat_map(|m| items::identifiers(&m.text)));
        }
    }
    let used = library.macros.iter().filter(|m| names.contains(&m.name));
    used.map(|m| format!("#define {}", m.text)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::contract::roles;
    use crate::contract::types::{Contract, Direction, Role};
    use crate::symbol::fixture::{self, int, place};
    use crate::symbol::{Global, Linkage, Macro, Param, Place, RelPath, Unit};

    pub const FFI: &str = "pub type kit_sum = u32;\npub const KIT_SEED: i32 = 7;\n\
        #[repr(C)] pub struct kit_other { pub a: u8 }\n\
        unsafe extern \"C\" { pub fn mix(a: kit_sum) -> kit_sum; }\n";
    pub const GLOBALS: &str = "/// `table` at sum.c:3.\npub static table: [u32; 3] = [1, 2, 3];\n";
    pub const STUB: &str = "/// Sums.\npub fn kit_digest(dst: &mut [u8], data: Option<&[u8]>) -> ffi::kit_sum {\n    \
        unimplemented!(\"kit_digest\")\n}\n";

    pub fn function(name: &str, text: &str) -> Function {
        Function { text: text.into(), ret: int("kit_sum", false, 32), ..fixture::function(name) }
    }

    pub fn digest() -> Function {
        let mut digest = function(
            "kit_digest",
            "kit_sum kit_digest(uint8_t *dst, size_t cap, const uint8_t *data, int n)\n{\n    \
             kit_sum s = START;\n    for (int i = 0; data && i < n; i++)\n        s += table[i % 3] ^ mix(data[i]);\n    \
             if (cap)\n        dst[0] = (uint8_t)s;\n    return s;\n}",
        );
        digest.calls = vec![SymbolKey("c:@F@mix".into())];
        digest.globals_read = vec![SymbolKey("c:@table".into())];
        digest.macros = vec!["START".into(), "NULL".into()];
        digest.externs = vec!["memcpy".into()];
        let names = [("dst", false), ("cap", false), ("data", false), ("n", true)];
        digest.params = names
            .map(|(name, signed)| Param { name: name.into(), ty: int("int", signed, 32), uses: Vec::new() })
            .into();
        digest
    }

    pub fn library() -> Library {
        let unit = Unit {
            file: RelPath("src/sum.c".into()),
            module: "sum".into(),
            flags: vec!["-Iinclude".into(), "-DKIT_FAST=1".into(), "-std=c99".into()],
        };
        let define = |name: &str, text: &str| Macro {
            key: SymbolKey(name.into()),
            name: name.into(),
            place: Place { file: RelPath("src/sum.h".into()), start: 0, end: 0, line: 1, end_line: 1 },
            is_function_like: false,
            text: text.into(),
            comment: String::new(),
        };
        Library {
            units: vec![unit],
            functions: vec![function("mix", "kit_sum mix(kit_sum a) { return a * 3; }"), digest()],
            globals: vec![Global {
                key: SymbolKey("c:@table".into()),
                name: SymbolName::new("table"),
                c_name: "table".into(),
                module: "sum".into(),
                place: place(3),
                linkage: Linkage::Static,
                ty: int("unsigned", false, 32),
                is_const: true,
                is_thread_local: false,
                unsupported: None,
            }],
            macros: vec![
                define("START", "START (KIT_SEED + ONE)"),
                define("ONE", "ONE 1"),
                define("UNUSED", "UNUSED 9"),
            ],
            ..Library::default()
        }
    }

    pub fn contract() -> Contract {
        let buffer = |direction, length: &str, nullable| {
            Role::Buffer(roles::Buffer { direction, length: length.into(), max: 4096, nullable })
        };
        let params = vec![
            ("dst", buffer(Direction::Out, "cap", false)),
            ("cap", Role::Length(roles::Length)),
            ("data", buffer(Direction::In, "n", true)),
            ("n", Role::Length(roles::Length)),
        ];
        Contract {
            signature: Signature::Safe,
            errno: true,
            require: vec!["n <= 100".into()],
            interesting: vec![5_552],
            ..crate::contract::fixture::contract("kit_digest", params)
        }
    }

    pub fn with<T>(change: impl FnOnce(&mut Library, &mut Function), then: impl FnOnce(&Sources) -> T) -> T {
        let (mut library, mut function) = (library(), digest());
        change(&mut library, &mut function);
        let callee = |callee: &Function| {
            let known = callee.c_name == "mix";
            known.then(|| CalleeState {
                rust: "pub fn mix(a: ffi::kit_sum) -> ffi::kit_sum { a }".into(),
                ported: true,
            })
        };
        let judgeable = Judgeable::Yes(contract());
        then(&Sources {
            library: &library,
            function: &function,
            judgeable: &judgeable,
            stub: STUB,
            ffi: FFI,
            globals: GLOBALS,
            callee: &callee,
        })
    }

    #[test]
    fn everything_that_the_function_mentions_is_there() {
        let context = with(|_, _| {}, PortContext::build).unwrap();
        assert!(context.types.contains("type kit_sum") && context.types.contains("KIT_SEED"));
        assert!(!context.types.contains("kit_other") && !context.types.contains("fn mix"));
        assert_eq!(context.macros, ["#define START (KIT_SEED + ONE)", "#define ONE 1"]);
        assert_eq!(context.callees()[0].signature, "pub fn mix(a: ffi::kit_sum) -> ffi::kit_sum");
        assert_eq!(context.globals, ["/// `table` at sum.c:3.\npub static table: [u32; 3];"]);
        assert_eq!(context.shared().flags, ["-DKIT_FAST=1", "-std=c99"]);
    }

    #[test]
    fn what_is_tried_first_is_not_told() {
        let context = with(|_, _| {}, PortContext::build).unwrap();
        assert!(!serde_json::to_string(&context).unwrap().contains("5552"));
    }

    #[test]
    fn every_change_is_seen() {
        let text_of = |change: fn(&mut Library, &mut Function)| {
            serde_json::to_string(&with(change, PortContext::build).unwrap()).unwrap()
        };
        let base = text_of(|_, _| {});
        assert_eq!(base, text_of(|_, _| {}));
        assert_ne!(base, text_of(|_, function| function.text += " "));
        assert_ne!(base, text_of(|library, _| library.macros[1].text = "ONE 2".into()));
        assert_ne!(base, text_of(|library, _| library.units[0].flags.clear()));
    }

    #[test]
    fn what_is_missing_is_said_at_once() {
        let fails = |change: fn(&mut Library, &mut Function)| {
            with(change, PortContext::build).unwrap_err().to_string()
        };
        for (text, part) in [
            (fails(|library, _| library.globals.clear()), "`c:@table` is not defined"),
            (fails(|library, _| library.globals[0].name = SymbolName::new("t2")), "not in globals.rs"),
            (fails(|library, _| library.globals[0].unsupported = Some("vector".into())), "vector"),
            (fails(|library, _| library.functions.clear()), "`c:@F@mix` has no definition"),
            (fails(|library, _| library.functions[0].c_name = "other".into()), "no signature"),
            (fails(|_, function| function.text.clear()), "C text"),
            (fails(|_, function| function.name = SymbolName::new("zz")), "stub of `zz`"),
        ] {
            assert!(text.contains(part) && text.starts_with("the context of"), "{text}");
        }
        let not_yet = Judgeable::NotYet("takes a callback".into());
        let error =
            with(|_, _| {}, |s| PortContext::build(&Sources { judgeable: &not_yet, ..*s })).unwrap_err();
        assert!(error.to_string().contains("takes a callback") && error.help_text().is_some());
    }
}
