use super::*;
use crate::c::front_tests::{load, project};
use crate::c::keeper::Programs;
use crate::process::Interrupt;

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
    let (_dir, root) = project(&[("a.c", text)]);
    let library = load(&root, cc).unwrap().library;
    let interrupt = Interrupt::none();
    let programs = || Ok(Programs { cc: cc.into(), cmake: None, make: None });
    let scratch = root.join(".implfuzz/scratch");
    let tools =
        Tools { identity: "", programs: &programs, scratch: scratch.as_std_path(), interrupt: &interrupt };
    let functions: Vec<&Function> = library.functions.iter().collect();
    mutants(&root, &library, &functions, most, tools).unwrap()
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
fn what_stands_behind_the_unit_is_c() {
    let lines = mutants_of("gcc", 100).lines.into_values().next().unwrap();
    assert!(lines[0].contains("IMPLFUZZ_MUTANT"));
    let tables = lines.iter().filter(|line| line.starts_with("void *const implfuzz_mutants_")).count();
    assert_eq!(tables, 2);
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
        // What only stands where `b` is not `b` is dead; what is added to `n` is not.
        assert!(told(true).contains(&"`1` → `(1 + 1)`"), "{cc}: {:?}", told(true));
        assert!(told(false).contains(&"`13` → `(13 + 1)`"), "{cc}: {:?}", told(false));
        assert!(told(false).contains(&"`+` → `-`"), "{cc}: {:?}", told(false));
        let version: Vec<&str> =
            all.of[&SymbolName::new("version")].iter().map(|m| m.what.as_str()).collect();
        assert_eq!(version, ["`VERSION` → `((void *)0)`", "`VERSION` → `(VERSION + 1)`"]);
        assert!(all.same[&SymbolName::new("version")].is_empty());
    }
}
