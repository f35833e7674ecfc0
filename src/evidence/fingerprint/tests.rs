#![allow(clippy::unwrap_used, reason = "test code")]

use super::crate_files::{ABSENT, parse_units};
use super::*;
use crate::digest::sha256;
use crate::project::ported::PortModule;
use std::collections::BTreeMap;
use std::rc::Rc;

#[test]
fn the_units_are_read_as_init_writes_them() {
    let text = "// Generated\nconst UNITS: &[Unit] = &[Unit { file: \"a.c\", flags: &[\"-DX=\\\"1\\\"\", \"-Iinc\"], lines: &[] }];\n\
        const LINK: &[&str] = &[];";
    let units = parse_units(text).unwrap();
    assert_eq!(units, [UnitFlags { file: "a.c".into(), flags: vec!["-DX=\"1\"".into(), "-Iinc".into()] }]);
    assert_eq!(parse_units("const UNITS: u8 = 1;"), None);
}

/// Two units with a header of their own each, and one that both see.
const FILES: [(&str, &str); 5] = [
    ("inc/all.h", "#ifndef ALL\n#define ALL\n#define TWO 2\n#define FOUR (TWO + TWO)\n#endif\n"),
    ("a/own.h", "#define LOCAL 1\n"),
    ("b/own.h", "#define LOCAL 2\n"),
    (
        "a/a.c",
        "#include \"own.h\"\n#include <all.h>\nint f(void) { return FOUR + g(); }\nint h(void) { return LOCAL; }\n",
    ),
    (
        "b/b.c",
        "#include \"own.h\"\n#include <all.h>\nint g(void) { return LOCAL; }\nint t[] = {\n#include \"t.inc\"\n};\n",
    ),
];

/// The roots whose hash changes when one file changes.
fn changed(file: &str, from: &str, to: &str) -> Vec<&'static str> {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        std::fs::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
        std::fs::write(dir.path().join(name), text).unwrap();
    };
    FILES.iter().for_each(|(name, text)| write(name, text));
    write("b/t.inc", "1, 2\n");
    let flags = vec!["-Iinc".to_owned()];
    let units = ["a/a.c", "b/b.c"].map(|file| UnitFlags { file: file.into(), flags: flags.clone() });
    let set = |name: &str| BTreeSet::from([name.to_owned()]);
    let calls = Links { calls: set("b/b.c:g"), outside: set("strlcpy"), ..Links::default() };
    let links = BTreeMap::from([("a/a.c:f".to_owned(), calls)]);
    let names = ["f", "h", "g", "t"];
    let hashes = || {
        let chunks = ["a/a.c:f", "a/a.c:h", "b/b.c:g", "b/b.c:t"].map(|id| vec![id.to_owned()]);
        let roots: Vec<Root> = chunks
            .iter()
            .map(|c| Root {
                chunks: c,
                also: &[],
                unit: if c[0].starts_with('a') { "a/a.c" } else { "b/b.c" },
            })
            .collect();
        let tree = CTree::read(dir.path(), &units);
        DependencyGraph::of(&tree, &|id| links.get(id), &roots).digests()
    };
    let before = hashes();
    assert_eq!(before, hashes());
    let text = std::fs::read_to_string(dir.path().join(file)).unwrap_or_default();
    assert!(text.contains(from));
    write(file, &text.replacen(from, to, 1));
    let after = hashes();
    (0..names.len()).filter(|at| before[*at] != after[*at]).map(|at| names[at]).collect()
}

#[test]
fn a_change_reaches_exactly_what_leads_to_it() {
    assert_eq!(changed("inc/all.h", "TWO 2", "TWO 2 /* two */"), [""; 0]);
    assert_eq!(changed("inc/all.h", "TWO 2", "TWO 3"), ["f"]);
    assert_eq!(changed("a/own.h", "1", "7"), ["h"]);
    // `<all.h>` does not mean the file beside the one that includes it.
    assert_eq!(changed("a/all.h", "", "#define TWO 3\n"), [""; 0]);
    // `f` calls `g`, which has the `LOCAL` of its own unit.
    assert_eq!(changed("b/own.h", "2", "7"), ["f", "g"]);
    assert_eq!(changed("b/t.inc", "2", "3"), ["t"]);
    assert_eq!(changed("a/own.h", "#define", "#pragma pack(1)\n#define"), ["f", "h"]);
    // The library now defines a function that was a system function before: evidence of every caller must notice.
    assert_eq!(changed("a/own.h", "", "int strlcpy(void) { return 1; }\n"), ["f"]);
    assert_eq!(changed("b/b.c", "int g(void)", "int strlcpy(void) { return 1; }\nint g(void)"), ["f"]);
    assert_eq!(changed("b/b.c", "int g(void)", "int strlcat(void) { return 1; }\nint g(void)"), [""; 0]);
    // A word becomes a macro.
    assert_eq!(changed("inc/all.h", "#define TWO", "#define g() 5\n#define TWO"), ["f", "g"]);
    assert_eq!(changed("inc/own.h", "", "#define LOCAL 3\n"), [""; 0]);
}

#[test]
fn ports_that_are_called_are_found_through_others() {
    let module = |text: &str| Rc::new(PortModule::read(text.into()));
    let text =
        |g: &str| format!("pub fn f() {{ callee::g() }}\npub fn g() {{ {g} }}\npub fn stub() {{ todo!() }}");
    let (one, two) = (module(&text("if on { stub() } h(1)")), module("pub fn h(x: u8) { f() }"));
    let module_of = |name: &str| match name {
        "f" | "g" | "stub" => Some(Rc::clone(&one)),
        "h" => Some(Rc::clone(&two)),
        _ => None,
    };
    let called = ports_called("f", |name| port_mentions(module_of(name)?.as_ref(), name));
    assert_eq!(called, BTreeSet::from(["g", "h"].map(str::to_owned)));
    let without = BTreeSet::from(["h".to_owned()]);
    let other = module(&text("if on { stub() } h(2)"));
    let changed = |name: &str| if name == "g" { Some(Rc::clone(&other)) } else { module_of(name) };
    let hash = |names: &BTreeSet<String>, module_of: &dyn Fn(&str) -> Option<Rc<PortModule>>| {
        ports::hash(names, &|name| port_hash(module_of(name)?.as_ref(), name))
    };
    assert_ne!(hash(&called, &module_of), hash(&called, &changed));
    assert_eq!(hash(&without, &module_of), hash(&without, &changed));
    assert_eq!(port_hash(&one, "stub"), None);
}

#[test]
fn a_contract_need_not_be_read_while_its_text_has_the_mark() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("contracts/f.toml");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = "version = 1\nsymbol = \"f\"\nsignature = \"safe\"\nreturns = \"value\"\n";
    let write = |text: &str| std::fs::write(&path, text).unwrap();
    write(text);
    let files = Crate::new(dir.path().to_owned());
    let again = |known: &str, mark: &str| files.hashes("f", KnownContract { hash: known, mark }).contract;
    let hash = again("", "");
    let mark = files.contract_mark("f", &hash);
    assert_eq!(again(&hash, &mark), hash);
    // Without a mark, or with one of another hash, the text is read.
    assert_eq!(again(&hash, ""), hash);
    let other = sha256("other");
    assert_eq!(again(&other, &mark), hash);
    assert_eq!(again(&other, &files.contract_mark("f", &other)), other);
    // Another text is read too, and says the same or not.
    write(&format!("# Why.\n{text}"));
    assert_eq!(again(&hash, &mark), hash);
    write(&format!("{text}errno = true\n"));
    assert_ne!(again(&hash, &mark), hash);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(again(&hash, &mark), sha256(ABSENT));
}

#[test]
fn every_file_of_the_runtime_is_part_of_what_a_harness_is() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let files = crate::harness::files::fuzz_crate("kit", &["f".to_owned()]).unwrap();
    let files: Vec<_> = files.into_iter().filter(|(path, _)| path.starts_with("fuzz/runtime/")).collect();
    files.iter().for_each(|(path, text)| write(path, text));
    write("fuzz/src/harness/f.rs", "// a harness\n");
    let hash = || Crate::new(dir.path().to_owned()).hashes("f", KnownContract::default()).harness;
    let before = hash();
    for (path, text) in &files {
        write(path, &format!("{text}\n"));
        assert_ne!(hash(), before, "{path}");
        write(path, text);
    }
    assert_eq!(hash(), before);
    assert!(files.len() > 40);
}

#[test]
fn without_a_harness_what_decides_the_build_counts() {
    let dir = tempfile::tempdir().unwrap();
    let hash = |edition: &str, build: &str| {
        let manifest = format!("[package]\nname = \"kit\"\nversion = \"0.1.0\"\nedition = \"{edition}\"\n");
        std::fs::write(dir.path().join("Cargo.toml"), manifest).unwrap();
        std::fs::write(dir.path().join("build.rs"), build).unwrap();
        Crate::new(dir.path().to_owned()).hashes("f", KnownContract::default()).harness
    };
    let before = hash("2024", "fn main() {}");
    assert_eq!(hash("2024", "fn main() {}"), before);
    assert_ne!(hash("2021", "fn main() {}"), before);
    assert_ne!(hash("2024", "fn main() { }"), before);
}

/// Whether the hash of `k` in `k.c` changes with the text of a file, which may be a new one.
fn is_noticed(text: &str, file: &str, changed: &str) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write("k.c", text);
    write("w.c", "");
    let units = ["k.c", "w.c"].map(|file| UnitFlags { file: file.into(), flags: Vec::new() });
    let chunks = ["k.c:k".to_owned()];
    let hash = || {
        let tree = CTree::read(dir.path(), &units);
        DependencyGraph::of(&tree, &|_| None, &[Root { chunks: &chunks, also: &[], unit: "k.c" }]).digests()
    };
    let before = hash();
    write(file, changed);
    before != hash()
}

#[test]
fn what_no_token_of_a_function_shows_is_noticed() {
    let edited = |text: &str, from: &str, to: &str| is_noticed(text, "k.c", &text.replacen(from, to, 1));
    let pasted = "#define K_LIMIT 7\n#define PASTE(a, b) a##b\nint k(void) { return PASTE(K_, LIMIT); }\n";
    assert!(edited(pasted, "7", "8"), "a macro whose name is made of parts");
    let said = "#define SAID(x) #x\nconst char *k(void) { return SAID(a+b); }\n";
    assert!(edited(said, "a+b", "a + b"), "text that becomes a string");
    let lines = "int k(void) { return __LINE__; }\n";
    assert!(edited(lines, "int", "// a line\nint"), "the number of a line");
    let plain = "#define TWO 2\nint k(void) { return TWO; }\n";
    assert!(!edited(plain, "int", "// a line\nint"));
    let asked =
        "#if __has_include(\"more.h\")\n#include \"more.h\"\n#endif\nint k(void) { return sizeof(MORE); }\n";
    let within = "int k(void) {\n#if __has_include(\"more.h\")\nreturn 2;\n#endif\nreturn 1; }\n";
    for text in [asked, within] {
        assert!(is_noticed(text, "more.h", "#define MORE\n"), "a file that appears");
    }
    let defined = "#if __has_include(\"more.h\")\n#define TWO 2\n#else\n#define TWO 3\n#endif\nint k(void) { return TWO; }\n";
    for text in [within, defined] {
        assert!(is_noticed(text, "more.h", "/* nothing */\n"), "a file without text that appears");
    }
    let cleans = "static void tidy(int *p) { *p = 1; }\n\
        #define TIDY __attribute__((cleanup(tidy)))\n#define TIDIED(by) __attribute__((cleanup(by)))\n";
    for by in ["__attribute__((__cleanup__(tidy)))", "TIDY", "TIDIED(tidy)"] {
        let text = format!("{cleans}int k(int x) {{ int kept {by} = x; return kept; }}\n");
        assert!(edited(&text, "*p = 1", "*p = 2"), "{by}");
    }
    let strong = "int k(void) { return 2; }\n";
    for weak in
        ["__attribute__((weak)) int k(void)", "#define WEAK __attribute__((__weak__))\nWEAK int k(void)"]
    {
        assert!(is_noticed(&format!("{weak} {{ return 1; }}\n"), "w.c", strong), "{weak}");
    }
    assert!(!is_noticed("int k(void) { return 1; }\n", "w.c", strong));
}

#[test]
fn the_order_of_macros_includes_and_pragmas_is_noticed() {
    let k = "int k(int x) { return x % N; }\n";
    let small = "#ifdef LIB_SMALL\n#define N 4\n#else\n#define N 8\n#endif\n";
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    let units = [UnitFlags { file: "k.c".into(), flags: Vec::new() }];
    let chunks = ["k.c:k".to_owned()];
    let hash = || {
        let tree = CTree::read(dir.path(), &units);
        DependencyGraph::of(&tree, &|_| None, &[Root { chunks: &chunks, also: &[], unit: "k.c" }]).digests()
    };
    let differ = |one: &str, other: &str| {
        write("k.c", one);
        let before = hash();
        write("k.c", other);
        before != hash()
    };
    write("lib.h", small);
    let (define, include) = ("#define LIB_SMALL 1\n", "#include \"lib.h\"\n");
    assert!(differ(&format!("{define}{include}{k}"), &format!("{include}{define}{k}")));
    let (first, end, second) = ("#define N 3\n", "#undef N\n", "#define N 5\n");
    assert!(differ(&format!("{first}{k}{end}{second}"), &format!("{first}{end}{second}{k}")));
    assert!(differ(&format!("{first}{k}{end}"), &format!("{end}{first}{k}")));
    assert!(differ(&format!("#define N(x) x\n{k}"), &format!("{k}#define N(x) x\n")));
    let (packed, own) =
        ("#pragma pack(1)\n", "struct s { char a; int b; };\nint k(struct s *s) { return s->b; }\n");
    assert!(differ(&format!("{packed}{own}"), &format!("{own}{packed}")));
    write("list.h", "E(1)\n");
    let (one, two) = ("int k[] = {\n#include \"list.h\"\n};\n", "int t[] = {\n#include \"list.h\"\n};\n");
    let twice = |first: &str, second: &str| {
        format!("#define E(a) a,\n{first}#undef E\n#define E(a) 2 * a,\n{second}")
    };
    assert!(differ(&twice(one, two), &twice(two, one)));
    write("b.h", "#undef N\n#define N 8\n");
    write("a.h", "#define N 4\n");
    let (a, b) = ("#include \"a.h\"\n", "#include \"b.h\"\n");
    assert!(differ(&format!("{a}{k}{b}"), &format!("{a}{b}{k}")));
    // What does not matter: another macro, another function, an order among macros.
    assert!(!differ(&format!("{first}{k}"), &format!("#define M 1\n{first}int other;\n{k}#define L 2\n")));
    assert!(!differ(&format!("{include}{first}{k}"), &format!("{include}#define M 1\n{first}{k}")));
    // The macros in the conditions around an include line.
    let chosen = "#include \"config.h\"\n#ifdef FAST\n#include \"fast.h\"\n#else\n#include \"slow.h\"\n#endif\nint k(int x) { return helper(x); }\n";
    write("k.c", chosen);
    write("fast.h", "static int helper(int x) { return x; }\n");
    write("slow.h", "static int helper(int x) { return x + 1; }\n");
    write("config.h", "#define FAST 1\n");
    let before = hash();
    write("config.h", "");
    assert_ne!(hash(), before);
}

#[test]
fn what_writes_a_variable_that_nothing_wrote_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let units = [UnitFlags { file: "k.c".into(), flags: Vec::new() }];
    let chunks = ["k.c:k".to_owned()];
    let names = ["level", "high"].map(str::to_owned);
    let constant = Links { constants: BTreeSet::from(names), ..Links::default() };
    let uses = Links { uses: BTreeSet::from(["k.c:level".to_owned()]), ..Links::default() };
    let links = BTreeMap::from([("k.c:level".to_owned(), constant), ("k.c:k".to_owned(), uses)]);
    let hash = |text: &str| {
        std::fs::write(dir.path().join("k.c"), text).unwrap();
        let tree = CTree::read(dir.path(), &units);
        let root = [Root { chunks: &chunks, also: &[], unit: "k.c" }];
        DependencyGraph::of(&tree, &|id| links.get(id), &root).digests()
    };
    let text = "static int level = 7, high = 9;\nint k(int x) { return x ^ level; }\nint other(int x) { return level + x; }\n";
    let before = hash(text);
    assert_ne!(hash(&format!("{text}void set(int to) {{ level = to; }}\n")), before);
    assert_ne!(hash(&format!("{text}void set(int to) {{ high = to; }}\n")), before);
    assert_ne!(hash(&text.replace("level + x", "level += x")), before);
    assert_eq!(hash(&format!("{text}int more(int x) {{ return x; }}\n")), before);
}

#[test]
fn functions_that_make_the_states_of_a_harness_are_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let units = [UnitFlags { file: "k.c".into(), flags: Vec::new() }];
    let (chunks, also) = (["k.c:k".to_owned()], ["k.c:make".to_owned()]);
    let hash = |text: &str| {
        std::fs::write(dir.path().join("k.c"), text).unwrap();
        let tree = CTree::read(dir.path(), &units);
        let root = [Root { chunks: &chunks, also: &also, unit: "k.c" }];
        DependencyGraph::of(&tree, &|_| None, &root).digests()
    };
    let text = "int k(int *x) { return *x; }\nint make(void) { return 7; }\nint other(void) { return 7; }\n";
    assert_ne!(hash(&text.replacen("7", "8", 1)), hash(text));
    assert_eq!(hash(&text.replace("other(void) { return 7", "other(void) { return 8")), hash(text));
}

#[test]
fn a_function_is_weak_by_an_attribute_alone() {
    let dir = tempfile::tempdir().unwrap();
    let text = "#define HOOK __attribute__((__weak__))\n__attribute__((weak)) void one(void) {}\nHOOK void two(void) {}\n\
        [[gnu::weak]] void three(void) {}\nint four(int weak) { return weak; }\nvoid five(void);\n";
    std::fs::write(dir.path().join("a.c"), text).unwrap();
    let tree = CTree::read(dir.path(), &[UnitFlags { file: "a.c".into(), flags: Vec::new() }]);
    let weak = ["one", "two", "three", "four", "five", "six"].map(|name| tree.is_weak(name));
    assert_eq!(weak, [true, true, true, false, false, false]);
}
