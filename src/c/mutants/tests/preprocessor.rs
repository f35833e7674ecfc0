//! Mutants of text that the preprocessor makes: macros and included files.

use super::*;

#[test]
fn a_result_type_in_a_macro_belongs_to_the_function() {
    let text = "#define API(type) type\nAPI(int)\nplus(int a, int b) { return a + b; }\n";
    let made = mutants_in(text, "gcc", 100);
    assert!(made.without.is_empty(), "{:?}", made.without);
    assert!(!made.of[&SymbolName::new("plus")].is_empty());
}

#[test]
fn functions_of_an_included_file_have_mutants_with_its_macros() {
    let text = "#define N(x) one_##x\n#define STEP 1\n#include \"t.inc\"\n#undef N\n#undef STEP\n\
        #define N(x) two_##x\n#define STEP 2\n#include \"t.inc\"\n#undef N\n#undef STEP\n\
        #define plain lib_plain\nint plain(int x) { return x + 5; }\n";
    let included = "#define OWN(x) ((x) + STEP)\nint N(step)(int x) { return OWN(x) * 3; }\n#undef OWN\n\
        static int N(sum)(int x) { return N(step)(x) + 4; }\nint N(all)(int x) { return N(sum)(x); }\n";
    let (_dir, root) = project(&[("a.c", text), ("t.inc", included)]);
    let library = load(&root, "gcc").unwrap().library;
    let made = made_of(&root, &library, "gcc", (100, Plant::Nothing));
    assert!(made.without.is_empty(), "{:?}", made.without);
    for name in ["one_step", "two_step", "one_sum", "two_sum", "lib_plain"] {
        let told: Vec<&str> = made.of[&SymbolName::new(name)].iter().map(|m| m.what.as_str()).collect();
        assert!(told.iter().any(|what| what.ends_with(" + 1)`")), "{name}: {told:?}");
    }
    let made = made_of(&root, &library, "gcc", (100, Plant::ForTests));
    assert!(made.without.is_empty(), "{:?}", made.without);
}

#[test]
fn an_included_file_that_must_be_included_stays_one() {
    let text = "int own(int x) { return x + 1; }\n#include \"t.inc\"\n";
    let included = "#if __INCLUDE_LEVEL__ == 0\n#error\n#endif\nint step(int x) { return x + 2; }\n\
        #define N(x) of_##x\nint N(it)(int x) { return x + 3; }\n";
    let (_dir, root) = project(&[("a.c", text), ("t.inc", included)]);
    let library = load(&root, "gcc").unwrap().library;
    let made = made_of(&root, &library, "gcc", (100, Plant::Nothing));
    assert_eq!(made.without.keys().map(SymbolName::as_str).collect::<Vec<_>>(), ["of_it"]);
    assert_eq!(made.of.len(), 2);
}

#[test]
fn a_function_of_macros_alone_loses_whole_statements() {
    let text = "struct s { int *m_a; };\n#define a (s->m_a)\n#define SET(x, y) do { x = y; } while (0)\n\
        #define ID(x) x\nvoid set(struct s *s, int *p) { a = p; }\nvoid also(struct s *s, int *p) { SET(s->m_a, p); }\n\
        int *get(struct s *s) { return ID(a); }\nvoid nothing(void) { }\n";
    let made = mutants_in(text, "gcc", 100);
    let told = |name| made.of[&SymbolName::new(name)].iter().map(|m| m.what.as_str()).collect::<Vec<_>>();
    assert_eq!(told("set"), ["`a = p` dropped"]);
    assert_eq!(told("also"), ["`SET(s->m_a, p)` dropped"]);
    assert_eq!(told("get"), ["`ID(a)` → `((void *)0)`"]);
    assert_eq!(made.without.keys().map(SymbolName::as_str).collect::<Vec<_>>(), ["nothing"]);
}

#[test]
fn a_macro_that_ends_behind_the_function_is_known_to_its_mutants() {
    const C: &str = "\
#define STEP(x) ((x) + by)
unsigned walk(unsigned x, unsigned by) { return STEP(x) * 2; }
#undef STEP
#define x nothing of use
";
    for cc in crate::c::data::tests::compilers() {
        let all = mutants_in(C, &cc, 100);
        assert!(all.without.is_empty(), "{cc}: {:?}", all.without);
        assert!(!all.of[&SymbolName::new("walk")].is_empty(), "{cc}");
    }
}

#[test]
fn a_unit_that_includes_another_one_includes_it_as_it_is() {
    let common = "static int half(int x) { return x / 2; }\n\
                  #ifndef COMMON_ONLY\nint whole(int x) { return half(x) + x; }\n#endif\n";
    let user = "#define COMMON_ONLY\n#include \"a.c\"\nint user(int x) { return half(x) - 1; }\n";
    for cc in crate::c::data::tests::compilers() {
        let (_dir, root) = project(&[("a.c", common), ("b.c", user)]);
        let library = load(&root, &cc).unwrap().library;
        // The first pass leaves copies of both units where the second one works.
        for _ in 0..2 {
            let all = made_of(&root, &library, &cc, (100, Plant::Nothing));
            assert!(all.without.is_empty(), "{cc}: {:?}", all.without);
            assert!(!all.of[&SymbolName::new("user")].is_empty(), "{cc}");
        }
    }
}

#[test]
fn a_macro_may_say_extern() {
    let text = "#define API extern\nAPI int f(int x) { return x + 1; }\n";
    let made = mutants_in(text, "gcc", 20);
    assert!(!made.of[&SymbolName::new("f")].is_empty() && made.without.is_empty(), "{made:?}");
}
