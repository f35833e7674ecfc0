#![allow(clippy::unwrap_used, reason = "test code")]

use super::*;
use proptest::prelude::*;

fn names(text: &str) -> Vec<String> {
    chunks(text.as_bytes()).into_iter().map(|chunk| chunk.name).collect()
}

/// The chunks with different hashes, or that only one of the texts has.
fn changed(before: &str, after: &str) -> Vec<String> {
    let hashes = |text: &str| -> BTreeMap<String, String> {
        chunks(text.as_bytes()).into_iter().map(|chunk| (chunk.name, chunk.hash)).collect()
    };
    let (before, after) = (hashes(before), hashes(after));
    let all: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    all.into_iter().filter(|name| before.get(*name) != after.get(*name)).cloned().collect()
}

#[test]
fn every_kind_of_item_has_its_name() {
    let text = "#include <a.h>\n#define ONE 1\n#define F(x) (x)\ntypedef struct s { int x; } s_t, *s_p;\n\
        struct tag { int y; };\nenum { RED, GREEN };\nenum kind { A };\nint *table[] = { 1, 2 };\n\
        static int (*hook)(int a);\ntypedef int (*call_t)(int);\nstruct s *make(int n) { return 0; }\n\
        int __attribute__((cold)) slow(void);\nint old(a, b) int a; char *b; { return a; }\n\
        extern \"C\" {\nint inside(void) { struct x { int a; } v = { 1 }; return v.a; }\n}\nint last;\n";
    let want = [
        DIRECTIVES, "ONE", "F", "s_t", "tag", "RED", "kind", "table", "hook", "call_t", "make", "slow",
        "old", "(nameless)", "inside", "last",
    ];
    assert_eq!(names(text), want);
}

#[test]
fn declarations_behind_each_other_are_no_parameters() {
    assert_eq!(names("int f(int a) ATTR;\nint x; int y;\nint g(void) { }"), ["f", "x", "y", "g"]);
    assert_eq!(names("int f(a) int a; { }\nint g(b, c) int b; { }"), ["f", "g"]);
}

#[test]
fn macros_around_a_name_or_a_type_are_not_the_name() {
    let text = "int API(f) ( int a ) { return a; }\nint API(g)(int a) { return a; }\nPUBLIC(char *) h(void) { }\n\
        static PUBLIC(int) API(i)(void);\nint j(char *, ...) LIKE(1, 2);\nDECLARE(x)\nint k(void) { }\n\
        int (*l(int a))(int);\nint PASTE(m, n)(void);\n";
    assert_eq!(names(text), ["f", "g", "h", "i", "j", "k", "l", "PASTE"]);
}

#[test]
fn branches_of_one_name_are_one_chunk_and_conditions_count() {
    let text = "#ifdef A\nint f(void) { return 1; }\n#else\nint f(void) { return 2; }\n#endif\nint g;\n";
    assert_eq!(names(text), ["f", "g"]);
    assert_eq!(changed(text, &text.replace("ifdef A", "ifdef B")), ["f"]);
    let split = "#ifdef A\nint f(int x) {\n#else\nint f(long x) {\n#endif\n  return x; }\nint g;\n";
    assert_eq!(names(split), ["f", "g"]);
    assert_eq!(changed(split, &split.replace("long", "short")), ["f"]);
}

#[test]
fn braces_that_do_not_close_make_one_chunk_of_the_file() {
    assert_eq!(names("int f(void) {\nint g;\n"), [WHOLE_FILE]);
    assert_eq!(names("}\nint g;\n#define X 1"), [WHOLE_FILE]);
    assert!(chunks(b"}\n#define X 1")[0].macros.contains("X"));
}

#[test]
fn a_blank_that_means_something_counts_and_others_do_not() {
    assert_eq!(changed("#define f(x) x", "#define f (x) x"), ["f"]);
    assert_eq!(changed("#define f(x) x", "#define f( x )  x // y"), [""; 0]);
    assert_eq!(changed("int a = 1 + +b;", "int a = 1 ++b;"), ["a"]);
    assert_eq!(changed("char *s = \"a  b\";", "char *s = \"a b\";"), ["s"]);
    assert_eq!(
        changed("int f(void){\n#if A\nx();\n#endif\n}", "int f(void){\n#if A x();\n\n#endif\n}"),
        ["f"]
    );
    assert_eq!(changed("#define A 1 \\\n + 2\nint b;", "#define A 1 + 2\n\n\nint\nb;"), [""; 0]);
}

#[test]
fn includes_and_places_are_known() {
    let text = "#include \"x.h\"\nint t[] = {\n#include <t.inc>\n};\n";
    let all = chunks(text.as_bytes());
    assert_eq!((all[0].includes.join(" "), all[1].includes.join(" ")), ("\"x.h\"".into(), "<t.inc>".into()));
    assert!(all[1].overlaps(&(20..21)) && !all[1].overlaps(&(0..15)));
}

/// Items whose tokens the tests change one by one.
const ITEMS: &[&str] = &[
    "static int n0 ( int a ) { if ( a > 3 ) { return a + 1 ; } return 0 ; }",
    "struct n1 { int x ; char y [ 4 ] ; } ;",
    "static const unsigned n2 [ ] = { 1 , 2 , 3 } ;",
    "enum n3 { P = 1 , Q } ;",
    "\n#define n4 ( 7 << 2 )\n",
    "typedef unsigned long n5 ;",
];

proptest! {
    #[test]
    fn any_bytes_are_cut_without_a_panic_and_nothing_is_lost(text in proptest::collection::vec(any::<u8>(), 0..200)) {
        check_cover(&text);
    }

    #[test]
    fn any_broken_c_is_cut_and_nothing_is_lost(
        parts in proptest::collection::vec(prop::sample::select(vec![
            "{", "}", ";", "(", ")", "=", ",", "\n#if A\n", "\n#else\n", "\n#elif B\n", "\n#endif\n", "\n#define X",
            "f", "struct", "int", "\"s", "'", "\\\n", "/*", "*/", "//", "\n", "extern \"C\" {", "#include <", "0x1p+", "*", "[",
        ]), 0..40),
    ) {
        check_cover(parts.join(" ").as_bytes());
    }

    #[test]
    fn comments_and_layout_change_nothing(gaps in proptest::collection::vec(
        prop::sample::select(vec![" ", "\t", "  ", "/* c { */", " /* # */ ", "\\\n "]), 80)) {
        let text = ITEMS.join("\n");
        let mut gaps = gaps.iter().cycle();
        let relaid: String = text.chars().map(|c| if c == ' ' { (*gaps.next().unwrap()).to_owned() } else { c.to_string() }).collect();
        // In `#define n4 (`, the blank before the parenthesis is significant, so the gap must contain one.
        prop_assert_eq!(changed(&text, &relaid.replace("n4\\\n", "n4 \\\n")), [""; 0]);
    }

    #[test]
    fn a_changed_token_changes_its_chunk_and_no_other(item in 0..ITEMS.len(), place in 0usize..40) {
        let text = ITEMS.join("\n");
        let words: Vec<&str> = ITEMS[item].split(' ').collect();
        let at = place % words.len();
        let is_free = |w: &str| w.chars().all(|c| c.is_ascii_digit()) || ["a", "x", "y", "P", "Q", ">", "+", "<<", "char", "long"].contains(&w);
        prop_assume!(is_free(words[at]));
        let mut new = words.clone();
        let other = format!("{}9", words[at]);
        new[at] = if words[at].chars().all(char::is_alphanumeric) { &other } else { "-" };
        let after = text.replace(ITEMS[item], &new.join(" "));
        prop_assert_eq!(changed(&text, &after), [format!("n{item}")]);
    }
}

/// Checks that every token outside conditions is in exactly one piece.
fn check_cover(text: &[u8]) {
    let joined = Joined::of(text);
    let tokens = tokens(&joined);
    let all = chunks(text);
    let mut conditional = false;
    for token in &tokens {
        if token.first {
            let next = tokens.iter().find(|t| t.bytes.start > token.bytes.start);
            let word = next.map_or("", |t| &*t.text);
            conditional = token.is("#") && ["if", "ifdef", "ifndef", "elif", "else", "endif"].contains(&word);
        }
        let holders: usize =
            all.iter().flat_map(|c| &c.bytes).filter(|b| b.contains(&token.bytes.start)).count();
        assert!(holders == 1 || conditional && holders == 0, "{token:?} is in {holders} pieces");
    }
}
