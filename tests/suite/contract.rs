//! `contract`: how it shows a harness, and the harness's mutation score, measured on the C original alone.

use crate::support::{Ran, Repo};
use std::os::unix::fs::PermissionsExt;

#[test]
fn roles_come_with_the_lines_that_they_were_seen_in() {
    let repo = Repo::initialised();
    repo.run(&["contract", "sum_bytes"]).ok().shows("in buffer of `len` elements").shows("sum += data[i]");
    repo.run(&["contract", "--all", "--edit"]).code(2);
}

#[test]
fn a_tab_of_the_c_text_is_a_space_in_a_contract() {
    let repo = Repo::empty();
    repo.write(
        "box.h",
        "#include <stddef.h>\ntypedef struct box { unsigned n; } box;\nbox *box_new(void);\nvoid box_free(box *b);\n\
         void box_add(box *b, const unsigned char *data, size_t len);\n\
         unsigned sum(const unsigned char *data, size_t len);\n",
    );
    repo.write(
        "box.c",
        "#include \"box.h\"\n#include <stdlib.h>\nbox *box_new(void) { return calloc(1, sizeof(box)); }\n\
         void box_free(box *b) { free(b); }\nvoid box_add(box *b, const unsigned char *data, size_t len)\n{\n\
         \tfor (size_t i = 0; i < len; i++)\tb->n\t+= data[i];\n}\n\
         unsigned sum(const unsigned char *data, size_t len)\n{\n\tunsigned n = 0;\n\
         \tfor (size_t i = 0; i < len; i++)\tn\t+= data[i];\n\treturn n;\n}\n",
    );
    repo.run(&["init"]).ok();
    for (function, line) in [("sum", "i++) n += data[i];"), ("box_add", "i++) b->n += data[i];")] {
        let contract = repo.read(&format!("rust/contracts/{function}.toml"));
        assert!(contract.contains(line) && !contract.contains("\\t"), "{contract}");
    }
}

/// `contract --edit SYMBOL`, where this shell script is the editor and gets the file as `$1`.
fn edited(repo: &Repo, symbol: &str, script: &str) -> Ran {
    let editor = repo.aside().join("editor");
    std::fs::create_dir_all(repo.aside()).unwrap();
    std::fs::write(&editor, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o755)).unwrap();
    Ran::of(repo.command(&["contract", "--edit", symbol]).env("EDITOR", &editor).env_remove("VISUAL"))
}

#[test]
fn an_edited_contract_is_read_again_at_once() {
    let repo = Repo::initialised();
    edited(&repo, "twice", "echo '# seen by a person' >> \"$1\"").ok();
    repo.run(&["contract", "twice"]).ok().shows("edited by hand");
    edited(&repo, "twice", "echo 'nonsense = 1' >> \"$1\"").code(2).shows("nonsense");
    // An editor that fails leaves everything as it is, and so does one that changes nothing.
    drop(std::fs::remove_dir_all(repo.root().join(".implfuzz/edit")));
    let before = repo.tree();
    edited(&repo, "twice", "exit 1").code(1);
    edited(&repo, "twice", "true").ok();
    crate::support::assert_same(&before, &repo.tree());
    assert_eq!(std::fs::read_dir(repo.root().join(".implfuzz/edit")).unwrap().count(), 0);
}

#[test]
fn what_does_not_open_the_repository_never_takes_the_place_of_a_contract() {
    let repo = Repo::initialised();
    let before = repo.tree();
    let line = |line: &str| format!("sed -i 's/^errno = false/errno = false\\n{line}/' \"$1\"");
    for (script, why) in [
        (line("require = [\"x.fill < 16\"]"), "x.fill"),
        (line("require = [\"y < 16\"]"), "`y` is not an integer parameter"),
        ("sed -i 's/^name = \"x\"/name = \"y\"/' \"$1\"".to_owned(), "C has (x)"),
        ("echo 'made_by = [\"thrice\"]' >> \"$1\"".to_owned(), "made_by"),
        ("echo '= 1' > \"$1\"".to_owned(), "expected"),
    ] {
        let ran = edited(&repo, "twice", &script);
        ran.fails(2, &[why, "rust/contracts/twice.toml is unchanged", ".implfuzz/edit/twice.toml"]);
        crate::support::assert_same(&before, &repo.tree());
        repo.run(&["contract", "twice"]).ok();
        std::fs::remove_file(repo.root().join(".implfuzz/edit/twice.toml")).unwrap();
    }
    // What was written is not lost: it is opened again, and taken when it is right.
    edited(&repo, "twice", &line("require = [\"y < 16\"]")).code(2);
    edited(&repo, "twice", "sed -i 's/y < 16/x < 16/' \"$1\"")
        .ok()
        .shows("the text that was rejected last time");
    assert!(repo.read("rust/contracts/twice.toml").contains("x < 16"));
    assert!(!repo.root().join(".implfuzz/edit/twice.toml").exists());
}

#[test]
fn what_changed_while_the_editor_was_open_is_not_overwritten() {
    let repo = Repo::initialised();
    let (contract, copy) = ("rust/contracts/twice.toml", ".implfuzz/edit/twice.toml");
    let other = format!("echo '# by another one' >> {}", repo.root().join(contract).display());
    let ran = edited(&repo, "twice", &format!("{other}\necho '# by a person' >> \"$1\""));
    ran.fails(2, &["was changed during the edit", copy]);
    let text = repo.read(contract);
    assert!(text.contains("# by another one") && !text.contains("# by a person"), "{text}");
    // What was written is there, and is taken when it has both.
    assert!(repo.read(copy).contains("# by a person"));
    edited(&repo, "twice", "echo '# by another one' >> \"$1\"")
        .ok()
        .shows("the text that was rejected last time");
    let text = repo.read(contract);
    assert!(text.contains("# by another one") && text.contains("# by a person"), "{text}");
    // Who wrote nothing takes nothing back.
    edited(&repo, "twice", &other.replace("another one", "a third one")).ok();
    assert!(repo.read(contract).contains("# by a third one"));
    assert!(!repo.root().join(copy).exists());
}

#[test]
fn a_draft_that_says_what_the_contract_says_is_none() {
    let repo = Repo::initialised();
    // As the tool leaves it that is killed while the editor is open.
    std::fs::create_dir_all(repo.root().join(".implfuzz/edit")).unwrap();
    repo.write(".implfuzz/edit/twice.toml", &repo.read("rust/contracts/twice.toml"));
    let ran = edited(&repo, "twice", "echo '# by a person' >> \"$1\"");
    ran.ok();
    assert!(!ran.to_string().contains("the text that was rejected last time"), "{ran}");
    assert!(repo.read("rust/contracts/twice.toml").contains("# by a person"));
}

#[test]
fn a_contract_that_was_broken_by_hand_can_be_edited() {
    let repo = Repo::initialised();
    let good = repo.read("rust/contracts/twice.toml");
    for bad in ["errno = 3", "errno = false\nrequire = [\"x.fill < 16\"]"] {
        repo.write("rust/contracts/twice.toml", &good.replace("errno = false", bad));
        repo.run(&["contract", "twice"]).code(2);
        // Not in the way of what is wrong, and no way around it.
        edited(&repo, "thrice", "true").fails(2, &["rust/contracts/twice.toml"]);
        let still = edited(&repo, "twice", "echo '# tried' >> \"$1\"");
        still.fails(2, &["rust/contracts/twice.toml is unchanged"]);
        edited(&repo, "twice", "sed -i '/^require/d; s/^errno = .*/errno = false/' \"$1\"").ok();
        repo.run(&["contract", "twice"]).ok().shows("edited by hand");
    }
}

#[test]
fn a_port_whose_contract_changes_below_it_is_told_what_it_is_to_look_like() {
    let repo = Repo::initialised();
    repo.replace("rust/src/sum.rs", "unimplemented!(\"twice\")", "x.wrapping_mul(2)");
    repo.replace("rust/contracts/twice.toml", "signature = \"safe\"", "signature = \"c\"");
    let told = "`twice` is ported, but its signature must now be pub unsafe fn twice(x: u32) -> u32";
    for _ in 0..2 {
        let ran = repo.run(&["contract", "twice"]);
        assert!(ran.stderr.contains(told), "{ran}");
    }
}

#[test]
fn a_harness_kills_mutants_and_one_that_sees_too_little_is_told_with_its_survivors() {
    let repo = Repo::initialised();
    let before = repo.tree();
    let ran = repo.run(&["contract", "--check", "--all", "--seconds", "2", "--format", "json"]);
    let told = ran.ok().json("contract-check");
    let symbols = told["symbols"].as_array().unwrap();
    assert_eq!(symbols.len(), 3);
    for symbol in symbols {
        assert_eq!(symbol["accept_rate"], 1.0, "{symbol}");
        assert!(symbol["executions"].as_u64().unwrap() > 0, "{symbol}");
        assert_eq!(symbol["difference"], serde_json::Value::Null, "{symbol}");
        assert!(symbol["to_kill"].as_u64().unwrap() > 0, "{symbol}");
        assert_eq!(symbol["shortcomings"], serde_json::json!([]), "{symbol}");
    }
    crate::support::assert_same(&before, &repo.tree());

    // Only zero is tried: twice zero is zero whatever the factor is.
    repo.replace("rust/contracts/twice.toml", "role = \"value\"", "role = \"value\"\nmin = 0\nmax = 0");
    let blind = repo.run(&["contract", "--check", "twice", "--seconds", "1"]);
    blind
        .code(11)
        .shows("mutants of C killed")
        .shows("survivors of twice:")
        .shows("sum.c:4: `2u` → `(2u + 1)`");
    let told = repo.run(&["contract", "--check", "twice", "--seconds", "1", "--format", "json"]);
    let told = told.code(11).json("contract-check");
    let survivor = told["symbols"][0]["mutants"].as_array().unwrap().iter().find(|m| m["fate"] == "survived");
    let id = survivor.unwrap()["id"].as_str().unwrap().to_owned();

    // What a person calls equivalent counts for nobody, and only with a reason.
    let mark = |reason: &str| format!("\n[[equivalent]]\nmutant = \"{id}\"\nreason = \"{reason}\"\n");
    let text = repo.read("rust/contracts/twice.toml");
    repo.write("rust/contracts/twice.toml", &(text.clone() + &mark("")));
    repo.run(&["contract", "twice"]).fails(2, &["without a reason"]);
    repo.write("rust/contracts/twice.toml", &(text + &mark("only zero is tried")));
    let marked = repo.run(&["contract", "--check", "twice", "--seconds", "1", "--format", "json"]);
    let marked = marked.code(11).json("contract-check");
    assert_eq!(
        marked["symbols"][0]["to_kill"].as_u64().unwrap() + 1,
        told["symbols"][0]["to_kill"].as_u64().unwrap()
    );
}

#[test]
fn memory_that_nothing_measures_is_lent_and_what_is_beside_what_c_touches_is_compared() {
    let repo = Repo::empty();
    repo.write(
        "room.h",
        "#include <stdint.h>\nvoid put32(void *p, uint32_t v);\nuint16_t first16(const void *p);\n",
    );
    let c = "#include \"room.h\"\n#include <string.h>\n\
        void put32(void *p, uint32_t v) { v ^= 1u; memcpy(p, &v, sizeof v); }\n\
        uint16_t first16(const void *p) { uint16_t v; memcpy(&v, p, sizeof v); return (uint16_t)(v ^ 0x55aa); }\n";
    repo.write("room.c", c);
    repo.run(&["init"]).ok();
    let shown = repo.run(&["contract", "put32", "first16"]);
    shown.ok().shows("out memory of unknown size, 128 elements").shows("in memory of unknown size");
    let body = |symbol: &str, body: &str| {
        repo.replace(
            "rust/src/room.rs",
            &format!("unimplemented!(\"{symbol}\")"),
            &format!("unsafe {{ {body} }}"),
        );
    };
    body("put32", "p.cast::<u32>().write_unaligned(v ^ 1)");
    body("first16", "p.cast::<u16>().read_unaligned() ^ 0x55aa");
    let (judged, findings) = repo.verified(&["--all"], 0);
    assert_eq!(findings.len(), 0, "{findings:#?}");
    assert!(judged.values().all(|row| row["grade"] == "weak"), "{judged:#?}");
    repo.replace(
        "rust/src/room.rs",
        "write_unaligned(v ^ 1)",
        "write_unaligned(v ^ 1); p.cast::<u8>().add(4).write(0)",
    );
    let (judged, findings) = repo.verified(&["put32"], 10);
    assert_eq!(judged["put32"]["grade"], "refuted");
    assert!(findings["put32"]["finding"]["what"].as_str().unwrap().contains("`p[4]`"), "{findings:#?}");
}

#[test]
fn a_wrong_contract_is_told_with_its_file_what_is_wrong_and_the_command_that_mends_it() {
    let repo = Repo::initialised();
    let path = "rust/contracts/twice.toml";
    let good = repo.read(path);
    let wrong = |from: &str, to: &str, said: &str| {
        assert!(good.contains(from), "{good}");
        repo.write(path, &good.replace(from, to));
        let ran = repo.run(&["contract", "--check", "twice", "--seconds", "1"]);
        ran.fails(2, &[path, said, "cargo implfuzz contract --edit twice"]);
        let text = ran.to_string();
        assert!(!text.contains("defect of cargo-implfuzz") && text.lines().count() < 8, "{text}");
    };
    let role = "role = \"value\"";
    wrong(role, "role = \"c-string\"\nmax = 9", "parameter `x`: role \"c-string\" needs a pointer to `char`");
    wrong("returns = \"value\"", "returns = \"handle\"", "needs [sequence]");
    wrong("returns = \"value\"", "returns = \"nothing\"", "it needs `void`, and C returns `uint32_t`");
    // What only the compiler finds.
    let sequence = "\n[sequence]\nof = \"nosuch\"\nby-caller = true\nmakers = [\"twice\"]\n";
    repo.write(path, &(good.replace("signature = \"safe\"", "signature = \"c\"") + sequence));
    let ran = repo.run(&["contract", "--check", "twice", "--seconds", "1"]);
    ran.fails(2, &[path, "nosuch", "cargo implfuzz contract --edit twice"]);
    let text = ran.to_string();
    assert!(
        !text.contains("defect of") && text.lines().filter(|line| line.starts_with("  ")).count() <= 5,
        "{text}"
    );
}

#[test]
fn a_fuzz_target_is_offered_where_it_could_judge() {
    let repo = Repo::empty();
    repo.write(
        "k.h",
        "struct node { struct node *next; };\nint next(void);\nint depth(const struct node *node);\n",
    );
    let depth =
        "int depth(const struct node *node) { int n = 0; for (; node; node = node->next) n++; return n; }\n";
    let next = "int next(void) { static int kept; return ++kept; }\n";
    repo.write("k.c", &format!("#include \"k.h\"\n{next}{depth}"));
    repo.run(&["init"]).ok();
    let offer = "cargo implfuzz contract --new";
    repo.run(&["contract", "depth"]).ok().shows("no harness: ").shows(offer);
    let told = repo.run(&["contract", "next"]);
    told.ok().shows("no harness: keeps state");
    assert!(!told.stdout.contains(offer), "{told}");
    repo.run(&["contract", "--new", "next"]).fails(2, &["no fuzz target can judge `next`: keeps state"]);
    assert!(!repo.root().join("rust/fuzz/targets/next.rs").exists());
}
