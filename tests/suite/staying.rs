//! Functions that stay C, because Rust cannot express them: ports may call them.

use crate::support::{Repo, plant, reply};

const HEADER: &str = "\
int note(const char *format, ...);
int stays(int value);
int noted(int value);
int doubled(int value);
";

/// `note` has a variable number of arguments, and `stays` has assembly.
const LIBRARY: &str = "\
#include \"note.h\"
#include <stdarg.h>
#include <stdio.h>
static char last[64];
int note(const char *format, ...) {
    va_list all;
    va_start(all, format);
    int bytes = vsnprintf(last, sizeof last, format, all);
    va_end(all);
    return bytes;
}
int stays(int value) {
    __asm__ volatile(\"\" : \"+r\"(value));
    return (value & 0xffff) * 2;
}
int noted(int value) { return note(\"%d of %s\", value, \"all\") + (value & 7) + last[0]; }
int doubled(int value) { return stays(value) + 1; }
";

const DRIVER: &str = "\
#include \"../note.h\"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int value = 0;
    for (size_t i = 0; i + 4 <= size && i < 64; i += 4) {
        memcpy(&value, data + i, sizeof value);
        noted(value);
        doubled(value);
    }
    return 0;
}
";

const NOTED: &str = "pub unsafe fn noted(value: i32) -> i32 {
    let bytes = unsafe { callee::note(c\"%d of %s\".as_ptr(), value, c\"all\".as_ptr()) };
    bytes + (value & 7) + i32::from(unsafe { globals::last[0] })
}";

const DOUBLED: &str = "{ unsafe { callee::stays(value) + 1 } }";

#[test]
fn ports_call_functions_that_stay_c() {
    let repo = Repo::of(&[("note.h", HEADER), ("note.c", LIBRARY), ("fuzz/run.c", DRIVER)]);
    let config = repo.read("implfuzz.toml");
    repo.write("implfuzz.toml", &format!("{config}\n[drivers]\nseconds = 2\n[grade]\nexecutions = 100\n"));
    let mut module = repo.read("rust/src/note.rs");
    plant(&mut module, "noted", NOTED).unwrap();
    repo.write("rust/src/note.rs", &module);
    let from = module.find("fn doubled(").unwrap();
    let head = &module[module[..from].rfind("pub ").unwrap()..from + module[from..].find('{').unwrap()];
    repo.model(&[&reply(&format!("{head}{DOUBLED}"))]);
    let quick = ["--config", "fuzz.accept_seconds=2", "--config", "grade.measure=true"];
    repo.run(&[&["port", "doubled"], &quick[..]].concat()).ok();
    let prompt = repo.prompt(1);
    assert!(prompt.contains("callee::stays"), "{prompt}");
    let json = repo.run(&[&["verify", "--all", "--format", "json"], &quick[..]].concat());
    let json = json.json("verify");
    let rows = json["symbols"].as_array().unwrap();
    for (symbol, callee) in [("noted", "note"), ("doubled", "stays")] {
        let row = rows.iter().find(|row| row["symbol"] == symbol).unwrap();
        assert_eq!((&row["grade"], &row["callees_in_c"][0]), (&"weak".into(), &callee.into()), "{json:#}");
        assert!(row["reason"].as_str().unwrap().contains("calls C"), "{json:#}");
    }
    assert!(repo.run(&["context", "noted"]).ok().stdout.contains("callee::note"));
}
