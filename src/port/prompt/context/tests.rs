use super::*;
use crate::contract::parameter_roles;
use crate::contract::types::{Contract, Direction, Role};
use crate::symbol::fixture::{self, int, place};
use crate::symbol::{Global, Linkage, Macro, Param, RelPath, SourceRange, Unit};

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
        place: SourceRange { file: RelPath("src/sum.h".into()), start: 0, end: 0, line: 1, end_line: 1 },
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
            never_written: false,
            is_in_each_unit: false,
            local_to: None,
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
        Role::Buffer(parameter_roles::Buffer { direction, length: length.into(), max: 4096, nullable })
    };
    let params = vec![
        ("dst", buffer(Direction::Out, "cap", false)),
        ("cap", Role::Length(parameter_roles::Length)),
        ("data", buffer(Direction::In, "n", true)),
        ("n", Role::Length(parameter_roles::Length)),
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
        c_variable: &|global| Ok(only_c(global)),
        callee: &callee,
    })
}

fn only_c(global: &Global) -> CVariable {
    CVariable { name: global.c_name.clone(), text: "static unsigned only_c = 5;".into(), constant: true }
}

#[test]
fn a_variable_without_a_rust_static_is_shown_in_c() {
    let renamed =
        |library: &mut Library, _: &mut Function| library.globals[0].name = SymbolName::new("only_c");
    let unbound =
        |library: &mut Library, _: &mut Function| library.globals[0].unsupported = Some("vector".into());
    for change in [renamed as fn(&mut Library, &mut Function), unbound] {
        let context = with(change, PortContext::build).unwrap();
        assert_eq!((context.globals.len(), context.c_variables.len()), (0, 1));
    }
}

#[test]
fn everything_that_the_function_mentions_is_there() {
    let context = with(|_, _| {}, PortContext::build).unwrap();
    assert!(context.types.contains("type kit_sum") && context.types.contains("KIT_SEED"));
    assert!(!context.types.contains("kit_other") && !context.types.contains("fn mix"));
    assert_eq!(context.macros, ["#define START (KIT_SEED + ONE)", "#define ONE 1"]);
    assert_eq!(context.callees[0].signature, "pub fn mix(a: ffi::kit_sum) -> ffi::kit_sum");
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
    let fails =
        |change: fn(&mut Library, &mut Function)| with(change, PortContext::build).unwrap_err().to_string();
    for (text, part) in [
        (fails(|library, _| library.globals.clear()), "`c:@table` is not defined"),
        (fails(|library, _| library.functions.clear()), "`c:@F@mix` has no definition"),
        (fails(|_, function| function.text.clear()), "C text"),
        (fails(|_, function| function.name = SymbolName::new("zz")), "stub of `zz`"),
    ] {
        assert!(text.contains(part) && text.starts_with("the context of"), "{text}");
    }
    let not_yet = Judgeable::NotYet("takes a callback".into());
    let error = with(|_, _| {}, |s| PortContext::build(&Sources { judgeable: &not_yet, ..*s })).unwrap_err();
    assert!(error.to_string().contains("takes a callback") && error.help_text().is_some());
}
