//! Where the inputs of a corpus are not enough to judge a function, drivers fuzz on for it, guided by its own edges.

use crate::support::{Repo, plant};
use serde_json::Value;
use std::path::PathBuf;

const HEADER: &str = "\
struct state { unsigned sum; unsigned char **rows; };
void often(struct state **at, const unsigned char *text, unsigned long size);
void seldom(struct state *state, const unsigned char *text, unsigned long size);
";

/// `seldom` does nothing to most texts. No input is long enough for its last lines, so that most of its mutants survive.
const LIBRARY: &str = "\
#include \"state.h\"
void often(struct state **at, const unsigned char *text, unsigned long size) {
    for (unsigned long i = 0; i < size; i++)
        (*at)->sum = (*at)->sum * 31 + text[i];
}
void seldom(struct state *state, const unsigned char *text, unsigned long size) {
    if (text[0] == 'k') {
        state->sum ^= 3;
        if (size > 1 && text[1] == 'e') state->sum |= 0x1010;
    }
    if (size > 100000) {
        state->sum = state->sum * 3 + 1;
        state->sum ^= state->sum >> 5;
        state->sum -= state->sum << 7;
    }
}
";

/// What an input begins with that reaches `seldom`.
const OPEN: &[u8] = b"\x07\xc1\x9e\x52\xf3";

const DRIVER: &str = "\
#include \"../state.h\"
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct state state = {0, 0}, *at = &state;
    uint64_t open = 0;
    for (size_t i = 0; i < 5 && i < size; i++)
        open = open << 8 | data[i];
    if (size > 5 && (open ^ 0x5a5a5a5a5a) == (0x07c19e52f3 ^ 0x5a5a5a5a5a))
        seldom(&state, data + 5, size - 5);
    else
        often(&at, data, size);
    return 0;
}
";

fn repo() -> Repo {
    let repo = Repo::empty();
    for (path, text) in [("state.h", HEADER), ("state.c", LIBRARY), ("fuzz/run.c", DRIVER)] {
        repo.write(path, text);
    }
    std::fs::create_dir(repo.root().join("seeds")).unwrap();
    std::fs::write(repo.root().join("seeds/one"), [OPEN, b"kone"].concat()).unwrap();
    repo.run(&["init"]).ok();
    let config = repo.read("implfuzz.toml");
    repo.write(
        "implfuzz.toml",
        &format!("{config}\n[drivers]\nfunction_seconds = 3\nseconds = 2\nseeds = [\"seeds\"]\n"),
    );
    repo
}

/// The texts of the inputs that were made for single functions, a list for each; or those that were last made to judge ports.
fn focused(repo: &Repo, are_new: bool) -> Vec<Vec<Vec<u8>>> {
    let folder = repo.root().join(".implfuzz/cache/drivers/corpora/run/focused");
    let entries =
        |dir: PathBuf| std::fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path());
    let folders = entries(folder).filter(|dir| dir.to_str().unwrap().ends_with("-new") == are_new);
    folders.map(|dir| entries(dir).map(|file| std::fs::read(file).unwrap()).collect()).collect()
}

fn row(json: &Value, key: &str, symbol: &str) -> Value {
    let rows = json[key].as_array().unwrap();
    rows.iter().find(|row| row["symbol"] == symbol).unwrap_or_else(|| panic!("{symbol}: {json:#}")).clone()
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_focus -- --ignored"]
fn drivers_fuzz_on_for_functions_with_too_few_inputs() {
    let repo = repo();
    let json = repo.run(&["drivers", "--check", "--format", "json"]).ok().json("drivers");
    let [often, seldom] = ["often", "seldom"].map(|symbol| row(&json, "in_place", symbol));
    let share = |one: &Value| one["killed"].as_f64().unwrap() / one["mutants"].as_f64().unwrap();
    assert!(share(&seldom) < 0.8 && share(&often) >= 0.8, "{json:#}");
    // Only `seldom` needed them, and each of them reaches it.
    let made = focused(&repo, false);
    assert_eq!(made.len(), 1, "{json:#}");
    assert!(made[0].len() > 5, "{}", made[0].len());
    assert!(made[0].iter().all(|input| input.starts_with(OPEN)), "{:?}", made[0]);
    assert!(made[0].iter().any(|input| input[OPEN.len()..].starts_with(b"ke")), "{:?}", made[0]);

    // A right port needs as many calls as a grade asks for.
    let mut module = repo.read("rust/src/state.rs");
    let port = "pub unsafe fn often(at: *mut *mut ffi::state, text: *const ::core::ffi::c_uchar, size: ::core::ffi::c_ulong) {
    for i in 0..size as usize {
        unsafe { (**at).sum = (**at).sum.wrapping_mul(31).wrapping_add(u32::from(*text.add(i))) };
    }
}";
    plant(&mut module, "often", port).unwrap();
    repo.write("rust/src/state.rs", &module);
    let verify = ["verify", "often", "--config", "grade.measure=true", "--config", "grade.executions=100000"];
    let json = repo.run(&[&verify[..], &["--format", "json"]].concat()).json("verify");
    assert_eq!(row(&json, "symbols", "often")["grade"], "weak", "{json:#}");
    let made = focused(&repo, false);
    assert!(made.len() == 2 && made.iter().all(|inputs| !inputs.is_empty()), "{json:#}");
    let is_of_often = |input: &Vec<u8>| input.len() <= OPEN.len() || !input.starts_with(OPEN);
    assert!(made.iter().any(|inputs| inputs.iter().all(is_of_often)), "{json:#}");
    assert_eq!(focused(&repo, true).len(), 1, "{json:#}");
}
