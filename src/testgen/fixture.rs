//! A small library for tests: one function over bytes, and functions on a handle.

pub use crate::contract::fixture::contract;
use crate::contract::fixture::sequence;
use crate::contract::parameter_roles;
use crate::contract::types::{Contract, Direction, GlobalUse, Life, Role, Sequence};
pub use crate::symbol::fixture::{int, place};
use crate::symbol::{fixture, *};

pub fn pointer(spelling: &str, to: CType) -> CType {
    CType { spelling: spelling.into(), is_const: false, kind: TypeKind::Pointer(Box::new(to)) }
}

pub fn record(key: &str) -> CType {
    CType { spelling: key.into(), is_const: false, kind: TypeKind::Record(key.into()) }
}

pub fn function(name: &str, text: &str, params: Vec<(&str, CType)>) -> Function {
    let params = params.into_iter().map(|(name, ty)| Param { name: name.into(), ty, uses: Vec::new() });
    Function { text: text.into(), params: params.collect(), ..fixture::function(name) }
}

pub fn buffer(direction: Direction, length: &str, nullable: bool) -> Role {
    Role::Buffer(parameter_roles::Buffer { direction, length: length.into(), max: 4096, nullable })
}

/// `kit_digest(dst, cap, data, n, mode)`, which calls `mix` and is called by `twice`.
pub fn digest() -> (Function, Contract) {
    let byte = || int("uint8_t", false, 8);
    let size = || int("size_t", false, 64);
    let text = "uint32_t kit_digest(uint8_t *dst, size_t cap, const uint8_t *data, int n, unsigned mode)\n{\n    \
                uint32_t s = START;\n    for (int i = 0; data && i < n; i++)\n        s += mix(data[i]) * mode;\n    \
                return s;\n}";
    let params = vec![
        ("dst", pointer("uint8_t *", byte())),
        ("cap", size()),
        ("data", pointer("const uint8_t *", byte())),
        ("n", int("int", true, 32)),
        ("mode", int("unsigned int", false, 32)),
    ];
    let mut function = function("kit_digest", text, params);
    function.calls = vec![SymbolKey("c:@F@mix".into())];
    function.macros = vec!["START".into()];
    let mut contract = contract(
        "kit_digest",
        vec![
            ("dst", buffer(Direction::Out, "cap", false)),
            ("cap", Role::Length(parameter_roles::Length)),
            ("data", buffer(Direction::In, "n", true)),
            ("n", Role::Length(parameter_roles::Length)),
            ("mode", Role::Value(parameter_roles::Value { min: Some(0), max: Some(9) })),
        ],
    );
    contract.errno = true;
    contract.chance = true;
    contract.require = vec!["mode <= cap".into()];
    contract.globals = vec![GlobalUse {
        name: SymbolName::new("table"),
        direction: Direction::InOut,
        vary: true,
        functions: false,
        values: Vec::new(),
        reason: String::new(),
    }];
    (function, contract)
}

/// `s_init`, `s_add` and `s_end` on a `struct s` of the caller's.
pub fn steps() -> Vec<(Function, Contract)> {
    let handle = || pointer("struct s *", record("struct s"));
    let role = |life| Role::Handle(parameter_roles::Handle { life, through: None, nullable: false });
    let sequence = Sequence {
        by_caller: true,
        buffers: vec![("next".into(), "avail".into())],
        makers: vec![SymbolName::new("s_init")],
        operations: vec![SymbolName::new("s_add")],
        enders: vec![SymbolName::new("s_end")],
        ..sequence("s")
    };
    let mode = CType {
        spelling: "enum mode".into(),
        is_const: false,
        kind: TypeKind::Enum {
            name: "mode".into(),
            signed: false,
            bits: 32,
            values: vec![("FAST".into(), 0), ("SLOW".into(), 4)],
        },
    };
    let mut all = vec![
        (
            function(
                "s_init",
                "int s_init(struct s *s, enum mode m) { return 0; }",
                vec![("s", handle()), ("m", mode)],
            ),
            contract(
                "s_init",
                vec![
                    ("s", role(Life::Makes)),
                    ("m", Role::OneOf(parameter_roles::OneOf { values: vec![0, 4] })),
                ],
            ),
        ),
        (
            function(
                "s_add",
                "int s_add(struct s *s, const struct p *at) { return 0; }",
                vec![("s", handle()), ("at", pointer("const struct p *", record("struct p")))],
            ),
            contract(
                "s_add",
                vec![
                    ("s", role(Life::Uses)),
                    (
                        "at",
                        Role::Pointer(parameter_roles::Pointer { direction: Direction::In, nullable: true }),
                    ),
                ],
            ),
        ),
        (
            function("s_end", "void s_end(struct s *s) {}", vec![("s", handle())]),
            contract("s_end", vec![("s", role(Life::Ends))]),
        ),
    ];
    for (_, contract) in &mut all {
        contract.sequence = Some(Box::new(sequence.clone()));
    }
    all
}

pub fn library() -> Library {
    let (digest, _) = digest();
    let mut twice = function(
        "twice",
        "uint32_t twice(const uint8_t *p)\n{\n    return kit_digest(0, 0, p, 2, 1) * 2;\n}",
        vec![],
    );
    twice.calls = vec![digest.key.clone()];
    let field = |name: &str, ty| Field { name: name.into(), ty, bits: None, offset: Some(0) };
    let made = |fields| Record {
        rust_name: "p".into(),
        c_name: "struct p".into(),
        is_union: false,
        complete: true,
        opaque: false,
        size: 16,
        align: 8,
        fields,
    };
    let float = CType { spelling: "double".into(), is_const: false, kind: TypeKind::Float { bits: 64 } };
    let list = CType {
        spelling: "short[2]".into(),
        is_const: false,
        kind: TypeKind::Array { of: Box::new(int("short", true, 16)), len: Some(2) },
    };
    let table = Global {
        key: SymbolKey("c:@table".into()),
        name: SymbolName::new("table"),
        c_name: "table".into(),
        module: "sum".into(),
        place: place(3),
        linkage: Linkage::Static,
        ty: int("unsigned int", false, 32),
        is_const: false,
        is_thread_local: false,
        never_written: false,
        is_in_each_unit: false,
        local_to: None,
        unsupported: None,
    };
    let start = Macro {
        key: SymbolKey("START".into()),
        name: "START".into(),
        place: place(1),
        is_function_like: false,
        text: "START 7".into(),
        comment: String::new(),
    };
    let unit = Unit { file: RelPath("src/sum.c".into()), module: "sum".into(), flags: Vec::new() };
    let other = Unit { file: RelPath("src/other.c".into()), module: "other".into(), flags: Vec::new() };
    let mix = function(
        "mix",
        "uint32_t mix(uint32_t a) { return a * 3; }",
        vec![("a", int("uint32_t", false, 32))],
    );
    Library {
        units: vec![other, unit],
        functions: vec![mix, digest, twice],
        globals: vec![table],
        macros: vec![start],
        records: [("struct p".to_owned(), made(vec![field("x", float), field("at", list)]))].into(),
        ..Library::default()
    }
}
