//! Ports in the Rust that people write: traits, macros, modules, collections, functions as values. Each is audited,
//! judged and graded like any other.

use crate::support::{MEASURED, of_numbers};
use serde_json::Value;

/// Name, body in C, and port.
const IDIOMS: [(&str, &str, &str); 10] = [
    (
        "trait_for_numbers",
        "unsigned n = 0; for (; x; x >>= 1) n += x & 1; return n;",
        "trait Ones {\n    fn ones(self) -> u32;\n}\n\nimpl Ones for u32 {\n    fn ones(self) -> u32 {\n        self.count_ones()\n    }\n}\n\npub fn trait_for_numbers(x: u32) -> u32 {\n    x.ones()\n}\n",
    ),
    (
        "macro_of_steps",
        "x ^= x << 13; x ^= x >> 17; x ^= x << 5; return x;",
        "macro_rules! macro_of_steps_do {\n    ($x:ident, $($shift:ident $by:literal),+) => {\n        $($x ^= $x.$shift($by);)+\n    };\n}\n\npub fn macro_of_steps(mut x: u32) -> u32 {\n    macro_of_steps_do!(x, wrapping_shl 13, wrapping_shr 17, wrapping_shl 5);\n    x\n}\n",
    ),
    (
        "module_of_tables",
        "static const unsigned char t[4] = {7, 1, 8, 2}; return t[x & 3] + t[(x >> 2) & 3];",
        "mod module_of_tables_own {\n    pub const TABLE: [u8; 4] = [7, 1, 8, 2];\n\n    pub fn at(x: u32) -> u32 {\n        u32::from(TABLE[(x & 3) as usize])\n    }\n}\n\npub fn module_of_tables(x: u32) -> u32 {\n    module_of_tables_own::at(x) + module_of_tables_own::at(x >> 2)\n}\n",
    ),
    (
        "trait_with_constants",
        "return (x & 15) * 100 + (x >> 4 & 255);",
        "trait Field {\n    const AT: u32;\n    const BITS: u32;\n\n    fn of(x: u32) -> u32 {\n        (x >> Self::AT) & ((1 << Self::BITS) - 1)\n    }\n}\n\nstruct Low;\nstruct Middle;\n\nimpl Field for Low {\n    const AT: u32 = 0;\n    const BITS: u32 = 4;\n}\n\nimpl Field for Middle {\n    const AT: u32 = 4;\n    const BITS: u32 = 8;\n}\n\npub fn trait_with_constants(x: u32) -> u32 {\n    Low::of(x) * 100 + Middle::of(x)\n}\n",
    ),
    (
        "table_of_functions",
        "switch (x & 3) { case 0: return x + 1; case 1: return x ^ 21; case 2: return ~x; default: return x * 3; }",
        "pub fn table_of_functions(x: u32) -> u32 {\n    let steps = [|x: u32| x.wrapping_add(1), |x: u32| x ^ 21, |x: u32| !x, |x: u32| x.wrapping_mul(3)];\n    // SAFETY: the index is at most 3.\n    let step = unsafe { steps.get_unchecked((x & 3) as usize) };\n    step(x)\n}\n",
    ),
    (
        "map_of_digits",
        "unsigned seen = 0, n = 0; for (; x; x /= 10) { if (!(seen >> (x % 10) & 1)) n++; seen |= 1u << (x % 10); } return n;",
        "pub fn map_of_digits(mut x: u32) -> u32 {\n    use std::collections::HashMap;\n    let mut seen: HashMap<u32, u32> = HashMap::new();\n    while x > 0 {\n        *seen.entry(x % 10).or_default() += 1;\n        x /= 10;\n    }\n    seen.len() as u32\n}\n",
    ),
    (
        "macro_of_impls",
        "return (unsigned char)(x + 1) + (unsigned short)(x + 1);",
        "trait Next {\n    fn next_of(self) -> u32;\n}\n\nmacro_rules! macro_of_impls_for {\n    ($($number:ty),+) => {\n        $(impl Next for $number {\n            fn next_of(self) -> u32 {\n                u32::from(self.wrapping_add(1))\n            }\n        })+\n    };\n}\n\nmacro_of_impls_for!(u8, u16);\n\npub fn macro_of_impls(x: u32) -> u32 {\n    (x as u8).next_of() + (x as u16).next_of()\n}\n",
    ),
    (
        "module_with_types",
        "unsigned a = x & 0xffff, b = x >> 16; return a * 31 + (b ^ 7);",
        "mod module_with_types_own {\n    #[derive(Debug, Clone, Copy)]\n    pub struct Halves {\n        low: u32,\n        high: u32,\n    }\n\n    impl From<u32> for Halves {\n        fn from(x: u32) -> Self {\n            Self { low: x & 0xffff, high: x >> 16 }\n        }\n    }\n\n    impl Halves {\n        pub fn mixed(self) -> u32 {\n            self.low * super::MODULE_WITH_TYPES_FACTOR + (self.high ^ 7)\n        }\n    }\n}\n\nconst MODULE_WITH_TYPES_FACTOR: u32 = 31;\n\npub fn module_with_types(x: u32) -> u32 {\n    module_with_types_own::Halves::from(x).mixed()\n}\n",
    ),
    (
        "dynamic_objects",
        "return x % 2 ? x * 5 : x + 9;",
        "trait Rule {\n    fn apply(&self, x: u32) -> u32;\n}\n\nstruct Odd;\nstruct Even;\n\nimpl Rule for Odd {\n    fn apply(&self, x: u32) -> u32 {\n        x.wrapping_mul(5)\n    }\n}\n\nimpl Rule for Even {\n    fn apply(&self, x: u32) -> u32 {\n        x.wrapping_add(9)\n    }\n}\n\npub fn dynamic_objects(x: u32) -> u32 {\n    let rule: Box<dyn Rule> = if x % 2 == 1 { Box::new(Odd) } else { Box::new(Even) };\n    rule.apply(x)\n}\n",
    ),
    (
        "macro_in_body",
        "if (x > 1000) x -= 1000; if (x > 100) x -= 100; if (x > 10) x -= 10; return x;",
        "pub fn macro_in_body(mut x: u32) -> u32 {\n    macro_rules! lower {\n        ($($by:expr),+) => {\n            $(if x > $by {\n                x -= $by;\n            })+\n        };\n    }\n    lower!(1000, 100, 10);\n    x\n}\n",
    ),
];

#[test]
#[ignore = "a minute: cargo test --test suite idiomatic -- --ignored"]
fn ports_in_ordinary_rust_are_verified() {
    let repo = of_numbers("", &IDIOMS);
    let budget = ["--config", "fuzz.accept_seconds=2", "--config", "fuzz.accept_executions=20000"];
    let ran = repo.run(&[&["verify", "--all", "--format", "json"][..], &budget, &MEASURED].concat());
    let judged = ran.json("verify");
    let all = judged["symbols"].as_array().unwrap();
    let others: Vec<&Value> = all.iter().filter(|one| one["grade"] != "verified").collect();
    assert!(others.is_empty() && all.len() == IDIOMS.len(), "{others:#?}");
    // `check` reads the same text without a build.
    repo.run(&["check"]).ok();
}
