use super::*;
use crate::c::build_system::Programs;
use crate::c::front_tests::{load, project};
use crate::platform::process::Interrupt;
use std::collections::BTreeMap;

mod calls;
mod preprocessor;

const C: &str = "\
#define TWICE(x) ((x) * 2)
static int count(const unsigned char *p, unsigned n) {
    unsigned seen = 0;
    for (unsigned i = 0; i < n; i++) {
        if (p[i] == 'a') seen++;
    }
    return (int)(TWICE(seen) + 3);
}
int plain(const unsigned char *p) { return count(p, 4); }
#define NAMED(n) int n(int x) { return x + 1; }
NAMED(by_macro)
";

fn mutants_of(cc: &str, most: usize) -> Mutants {
    mutants_in(C, cc, most)
}

fn mutants_in(text: &str, cc: &str, most: usize) -> Mutants {
    made_in(text, cc, (most, Plant::Nothing), |_| ()).0
}

/// Makes the mutants of a file, and calls `then` on its folder.
fn made_in<T>(
    text: &str,
    cc: &str,
    wanted: (usize, Plant),
    then: impl FnOnce(&Utf8Path) -> T,
) -> (Mutants, T) {
    let (_dir, root) = project(&[("a.c", text)]);
    let library = load(&root, cc).unwrap().library;
    let made = made_of(&root, &library, cc, wanted);
    (made, then(&root))
}

fn made_of(root: &Utf8Path, library: &Library, cc: &str, wanted: (usize, Plant)) -> Mutants {
    let interrupt = Interrupt::none();
    let programs = || Ok(Programs { cc: cc.into(), build_tools: BTreeMap::new() });
    let scratch = root.join(".implfuzz/scratch");
    let tools =
        Tools { identity: "", programs: &programs, scratch: scratch.as_std_path(), interrupt: &interrupt };
    let functions: Vec<&Function> = library.functions.iter().collect();
    mutants(root, library, &functions, wanted, tools).unwrap()
}

#[test]
fn every_kind_of_change_is_made_and_macros_are_left_alone() {
    let all = mutants_of("gcc", 100);
    let count = &all.of[&SymbolName::new("count")];
    let told: Vec<&str> = count.iter().map(|m| m.what.as_str()).collect();
    for wanted in ["`<` → `<=`", "`==` → `!=`", "`'a'` → `('a' + 1)`", "`seen++` dropped", "`++` → `--`"]
    {
        assert!(told.contains(&wanted), "{wanted} in {told:?}");
    }
    assert!(told.iter().any(|what| what.contains("`seen` with 8 bits")), "{told:?}");
    assert!(told.iter().any(|what| what.contains("turned round")), "{told:?}");
    assert!(!told.iter().any(|what| what.contains("* 2")), "{told:?}");
    assert!(count.iter().all(|m| (3..=7).contains(&m.line)), "{count:?}");
    let ids: BTreeSet<&str> = count.iter().map(|m| m.id.as_str()).collect();
    assert_eq!(ids.len(), count.len(), "each has a name of its own");
    assert!(!all.of.contains_key(&SymbolName::new("by_macro")));
}

#[test]
fn few_are_spread_over_the_text_and_keep_their_names() {
    let all = mutants_of("gcc", 100).of;
    let few = mutants_of("gcc", 3).of;
    let name = SymbolName::new("count");
    assert_eq!(few[&name].len(), 3);
    assert!(few[&name].iter().all(|m| all[&name].contains(m)));
    assert!(few[&name][0].line < few[&name][2].line);
}

#[test]
fn copies_stand_behind_their_function_and_tables_behind_the_unit() {
    let text = mutants_of("gcc", 100).units.into_values().next().unwrap();
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words} in {text}"));
    let (copy, next, table) =
        (at("implfuzz_mutant_count_1("), at("int plain("), at("void *const implfuzz_mutants_count"));
    assert!(at("#define IMPLFUZZ_MUTANT") < copy && copy < next && next < table, "{text}");
    assert_eq!(text.matches("void *const implfuzz_mutants_").count(), 2);
}

#[test]
fn more_errors_than_a_compiler_shows_take_no_mutants_away() {
    // Narrowed, a variable whose address is passed has the wrong type, which newer compilers refuse.
    let takes = |n: usize| format!("unsigned f{n}(unsigned a) {{ unsigned v = a; put(&v); return v; }}\n");
    let c: String =
        std::iter::once("void put(unsigned *v);\n".to_owned()).chain((0..30).map(takes)).collect();
    for cc in crate::c::data::tests::compilers() {
        let (_dir, root) = project(&[("a.c", &c)]);
        let mut library = load(&root, &cc).unwrap().library;
        library.units[0].flags.push("-Werror=incompatible-pointer-types".into());
        let all = made_of(&root, &library, &cc, (100, Plant::Nothing));
        assert_eq!(all.of.len(), 30, "{cc}: {:?}", all.without);
    }
}

#[test]
fn mutants_that_are_compiled_to_the_same_code_are_told() {
    const C: &str = "\
#define VERSION \"1.0\"
unsigned long bound(unsigned long n) {
    unsigned long b = n + 13;
    return b != (unsigned long)b ? (unsigned long)-1 : b;
}
const char *version(void) { return VERSION; }
";
    for cc in crate::c::data::tests::compilers() {
        let all = mutants_in(C, &cc, 100);
        let bound = SymbolName::new("bound");
        let told = |same: bool| -> Vec<&str> {
            let numbered = all.of[&bound].iter().enumerate();
            let wanted = numbered.filter(|(at, _)| all.same[&bound].contains(&(at + 1)) == same);
            wanted.map(|(_, mutant)| mutant.what.as_str()).collect()
        };
        // Code that only runs if `b` differs from `b` is dead; code that adds to `n` is not.
        assert!(told(true).contains(&"`1` → `(1 + 1)`"), "{cc}: {:?}", told(true));
        assert!(told(false).contains(&"`13` → `(13 + 1)`"), "{cc}: {:?}", told(false));
        assert!(told(false).contains(&"`+` → `-`"), "{cc}: {:?}", told(false));
        let version: Vec<&str> =
            all.of[&SymbolName::new("version")].iter().map(|m| m.what.as_str()).collect();
        assert_eq!(version, ["`VERSION` → `((void *)0)`", "`VERSION` → `(VERSION + 1)`"]);
        assert!(all.same[&SymbolName::new("version")].is_empty());
    }
}

const WRAPS: &str = "\
#include <stdint.h>
#include <stddef.h>
#define PRIME 16777619u
#define ADDED(x, y) ((x) + (y))
struct flags { unsigned low : 3; unsigned plain; uint64_t wide; };
uint32_t add(uint32_t a, uint32_t b) { return a + b; }
uint32_t nested(uint32_t a, uint32_t b) { return (a - b) * 2 + b * PRIME; }
uint64_t compound(uint64_t a, unsigned b) { a += b; a *= 3; a -= b; return a; }
unsigned steps(unsigned n) { unsigned seen = n--; return seen ? --n : n; }
unsigned memory(struct flags *f, unsigned by) { f->plain += by; f->low += by; f->wide++; return f->plain; }
int narrow(unsigned short a, unsigned short b) { return (unsigned short)(a + b); }
unsigned macros(unsigned a, unsigned b) { return ADDED(a * b, 1u); }
const char *pointers(const char *p, size_t n) { return p + n; }
unsigned fixed(unsigned n) {
    static const unsigned table[2 + 1u] = { 4u + 5u, 1, 2 };
    switch (n) { case 1u + 1u: return table[2]; default: return table[0]; }
}
double floats(unsigned a) { a += 0.5; return a; }
";

/// The numbers that a program prints when it is built from the file, its mutants, and calls of the last
/// entries of tables.
fn printed(made: &Mutants, root: &Utf8Path, cc: &str, main: &str) -> Vec<u64> {
    let unit = made.units.values().next().unwrap();
    let text = format!("{unit}\n#include <stdio.h>\nint main(void) {{\n{main}\nreturn 0; }}\n");
    fs_err::write(root.join("main.c"), text).unwrap();
    let interrupt = Interrupt::none();
    let run = |job: crate::platform::process::Job| {
        let output = job.dir(root.as_std_path()).run(&interrupt).unwrap();
        assert!(output.exit.success(), "{cc}: {}", output.stderr_text());
        output.stdout_text()
    };
    let options = ["-w", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover", "-o", "main", "main.c"];
    run(crate::platform::process::Job::new(cc).args(options));
    let out = run(crate::platform::process::Job::new(root.join("main").as_std_path()));
    out.split_whitespace().map(|word| word.parse().unwrap()).collect()
}

#[test]
fn a_planted_cheat_saturates_where_c_wraps() {
    const MAX: u64 = u32::MAX as u64;
    for cc in crate::c::data::tests::compilers() {
        let call = |name: &str, ty: &str, args: &str, numbers: &BTreeMap<SymbolName, usize>| {
            let number = numbers[&SymbolName::new(name)];
            format!(
                "printf(\"%llu\\n\", (unsigned long long)((uint64_t (*){ty})implfuzz_mutants_{name}[{number}])({args}));"
            )
        };
        let (made, root) = {
            let (made, dir) = made_in(WRAPS, &cc, (2, Plant::ForTests), |_| tempfile::tempdir().unwrap());
            (made, dir)
        };
        let at = Utf8Path::from_path(root.path()).unwrap();
        fs_err::write(at.join("a.c"), WRAPS).unwrap();
        let planted: Vec<&str> = made.planted.keys().map(SymbolName::as_str).collect();
        assert_eq!(planted, ["add", "compound", "memory", "nested", "steps"], "{cc}");
        for (name, number) in &made.planted {
            let last = made.of[name].last().unwrap();
            assert_eq!((*number, last.id.as_str()), (made.of[name].len(), SATURATING));
        }
        let told = |name: &str| made.of[&SymbolName::new(name)].last().unwrap().what.clone();
        assert_eq!(told("add"), "saturates where C wraps (1 place)");
        assert_eq!(told("nested"), "saturates where C wraps (4 places)");
        assert_eq!(told("steps"), "saturates where C wraps (2 places)");
        assert_eq!(told("memory"), "saturates where C wraps (2 places)", "a bit-field stays as it is");
        let two = "(uint32_t, uint32_t)";
        let wide = "(uint64_t, unsigned)";
        let n = &made.planted;
        let main = [
            call("add", two, "4294967295u, 2", n).replace("((uint64_t (*)", "((uint32_t (*)"),
            call("add", two, "40, 2", n).replace("((uint64_t (*)", "((uint32_t (*)"),
            call("nested", two, "1, 2", n).replace("((uint64_t (*)", "((uint32_t (*)"),
            call("nested", two, "3000000000u, 1", n).replace("((uint64_t (*)", "((uint32_t (*)"),
            call("compound", wide, "18446744073709551615ull, 5", n),
            call("compound", wide, "7, 5", n),
            call("steps", "(unsigned)", "0", n).replace("((uint64_t (*)", "((unsigned (*)"),
            call("steps", "(unsigned)", "9", n).replace("((uint64_t (*)", "((unsigned (*)"),
            "struct flags f = { 1, 4294967290u, 18446744073709551615ull };".into(),
            call("memory", "(struct flags *, unsigned)", "&f, 9", n)
                .replace("((uint64_t (*)", "((unsigned (*)"),
            "printf(\"%u %llu\\n\", f.low, (unsigned long long)f.wide);".into(),
        ];
        let got = printed(&made, at, &cc, &main.join("\n"));
        let prime = 16_777_619;
        let wanted =
            [MAX, 42, 2 * prime, MAX, u64::MAX - 5, (7 + 5) * 3 - 5, 0, 7, MAX, (1 + 9) % 8, u64::MAX];
        assert_eq!(got, wanted, "{cc}");
    }
}

#[test]
fn the_cheat_is_beside_the_mutants_and_changes_none_of_them() {
    let plain = mutants_in(WRAPS, "gcc", 100);
    let (with, ()) = made_in(WRAPS, "gcc", (100, Plant::ForTests), |_| ());
    assert!(plain.planted.is_empty());
    for (name, list) in &with.of {
        let over = &with.over_callees[name];
        let is_over = |number: usize| over.contains_key(&number) || over.values().any(|of| *of == number);
        let beside = (1..).zip(list).filter(|(number, _)| !is_over(*number)).map(|(_, mutant)| mutant);
        let (own, cheats): (Vec<&Mutant>, Vec<&Mutant>) = beside.partition(|mutant| mutant.id != SATURATING);
        assert_eq!(own, plain.of.get(name).into_iter().flatten().collect::<Vec<_>>(), "{name}");
        assert_eq!(cheats.len(), usize::from(with.planted.contains_key(name)), "{name}");
    }
}

const LAYERS: &str = "\
static unsigned twice(unsigned x);
static unsigned mix(unsigned x, unsigned by) { return twice(x) + by; }
static unsigned twice(unsigned x) { return x * 2; }
static unsigned dead(unsigned x) { unsigned b = x; return b != x ? 7u : b; }
unsigned top(unsigned x) { return mix(x, 1) ^ dead(x); }
unsigned lone(unsigned x) { return x + 1; }
unsigned thin(unsigned x) { return twice(x); }
#define hidden(x) hidden_(x)
unsigned hidden_(unsigned x) { return x + 5; }
unsigned named(unsigned x) { return hidden(x); }
static unsigned down(unsigned x) {
    unsigned b = x;
    if (b != x) return 7u;
    return b < 2 ? b : down(b - 2) * down(b - 1);
}
unsigned deep(unsigned x) { return down(x) + 1; }
struct with { unsigned member; };
static unsigned member(unsigned x) { return x + 3; }
unsigned clash(const struct with *w) { return member(w->member); }
";

#[test]
fn a_function_is_changed_in_what_it_calls() {
    for cc in crate::c::data::tests::compilers() {
        let (made, root) = made_in(LAYERS, &cc, (100, Plant::ForTests), |_| tempfile::tempdir().unwrap());
        let at = Utf8Path::from_path(root.path()).unwrap();
        fs_err::write(at.join("a.c"), LAYERS).unwrap();
        let over = |name: &str| -> Vec<(usize, &Mutant)> {
            let name = SymbolName::new(name);
            let numbers = made.over_callees.get(&name).into_iter().flatten();
            numbers.map(|(number, _)| (*number, &made.of[&name][number - 1])).collect()
        };
        let number = |name: &str, what: &str| {
            over(name).iter().find(|(_, mutant)| mutant.what == what).map(|(number, _)| *number)
        };
        let added = number("top", "in `mix`: `+` → `-`").unwrap();
        let doubled = number("top", "in `twice`: `*` → `+`").unwrap();
        let dead = number("top", "in `dead`: `7u` → `(7u + 1)`").unwrap();
        assert!(made.same[&SymbolName::new("top")].contains(&dead), "{cc}: what is dead tells nothing");
        assert!(!made.same[&SymbolName::new("top")].contains(&added));
        assert!(over("lone").is_empty() && !over("named").is_empty(), "{cc}");
        assert!(over("clash").is_empty(), "{cc}: the macro takes the member");
        let dead = number("deep", "in `down`: `7u` → `(7u + 1)`").unwrap();
        let told = number("deep", "in `down`: `<` → `<=`").unwrap();
        let same = &made.same[&SymbolName::new("deep")];
        assert!(same.contains(&dead) && !same.contains(&told), "{cc}: the copies call themselves: {same:?}");
        let plain = made.over_callees[&SymbolName::new("top")][&doubled];
        assert_eq!(made.of[&SymbolName::new("top")][plain - 1].id, "twice:unchanged");
        let by = number("named", "in `hidden_`: `+` → `-`").unwrap();
        let thin = number("thin", "in `twice`: `*` → `+`").unwrap();
        let call = |name: &str, number: usize, x: u32| {
            format!("printf(\"%u\\n\", ((unsigned (*)(unsigned))implfuzz_mutants_{name}[{number}])({x}));")
        };
        let main = [
            call("top", added, 5),
            call("top", doubled, 5),
            call("top", plain, 5),
            call("named", by, 9),
            call("thin", thin, 7),
            // The macros that redirect calls are undefined again.
            "printf(\"%u %u %u\\n\", top(5), named(9), twice(7));".into(),
        ];
        let got = printed(&made, at, &cc, &main.join("\n"));
        assert_eq!(got, [9 ^ 5, 8 ^ 5, 11 ^ 5, 4, 9, 11 ^ 5, 14, 14].map(|n: u64| n), "{cc}");
        let own = made.of[&SymbolName::new("top")].iter().filter(|mutant| !mutant.what.starts_with("in `"));
        assert!(own.count() > 0, "{cc}: its own text is changed, too");
    }
}

#[test]
fn changes_of_callees_are_few_and_have_names_of_their_own() {
    let (made, ()) = made_in(LAYERS, "gcc", (3, Plant::ForTests), |_| ());
    assert_eq!(made.over_callees[&SymbolName::new("top")].len(), 3);
    for list in made.of.values() {
        let ids: BTreeSet<&str> = list.iter().map(|mutant| mutant.id.as_str()).collect();
        assert_eq!(ids.len(), list.len());
    }
    let (plain, ()) = made_in(LAYERS, "gcc", (3, Plant::Nothing), |_| ());
    assert!(plain.over_callees.values().all(BTreeMap::is_empty));
}
