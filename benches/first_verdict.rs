//! How long the first verdict of a repository takes, with an empty build cache and with one that another repository has
//! filled: `cargo bench --bench first_verdict`. With `-- --write` the table goes into docs/first-verdict.md.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark fails by panicking, and prints")]
#![allow(clippy::disallowed_methods, reason = "it starts the tool that it measures")]

use std::path::Path;
use std::process::Command;
use std::time::Instant;

const C: &str = "#include <stddef.h>
#include <stdint.h>
uint32_t mix(const uint8_t *data, size_t len) {
  uint32_t hash = 17;
  for (size_t i = 0; i < len; i++) hash = hash * 31 + data[i];
  return hash;
}
uint32_t twice(uint32_t x) { return 2 * x; }
uint32_t next(uint32_t x) { return x + 1; }
uint32_t half(uint32_t x) { return x / 2; }
uint32_t low(uint32_t x) { return x & 255; }
uint32_t high(uint32_t x) { return x >> 24; }
uint32_t odd(uint32_t x) { return x & 1; }
";

const PORT: &str =
    "data.iter().fold(17u32, |hash, &byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte)))";

/// What one repository may keep for itself.
const OWN_MIB: u64 = 30;

const HEAD: &str = "# The first verdict

Written by `cargo bench --bench first_verdict -- --write`. It measures `verify` of one function, with two seconds of
fuzzing, in a new repository of seven functions.

- *cold*: the user's build cache is empty, so libFuzzer, the harness runtime and the dependencies are compiled.
- *warm*: the tool has already judged another repository of the same user.
- *again*: the same command a second time.

";

fn main() {
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let cache = scratch.path().join("cache");
    let mut rows = Vec::new();
    for (name, first) in [("one", "cold"), ("two", "warm")] {
        let dir = scratch.path().join(name);
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(dir.join("lib.c"), C).unwrap();
        std::fs::write(dir.join("lib.h"), header()).unwrap();
        tool(&dir, &cache, &["init", "-q"]);
        let module = dir.join("rust/src/lib_c.rs");
        let text = std::fs::read_to_string(&module).unwrap();
        std::fs::write(&module, text.replace("unimplemented!(\"mix\")", PORT)).unwrap();
        for kind in [first, "again"] {
            let started = Instant::now();
            tool(&dir, &cache, &["verify", "mix", "--seconds", "2"]);
            rows.push((kind, started.elapsed().as_secs_f64(), mib(&dir.join(".implfuzz")), mib(&cache)));
        }
    }
    assert!(rows.iter().all(|row| row.2 < OWN_MIB), "a repository's own cache is too large: {rows:?}");
    let cold = rows[0].1;
    let mut text =
        "| run | time | share of cold | `.implfuzz` | build cache |\n|---|--:|--:|--:|--:|\n".to_owned();
    for (kind, seconds, own, shared) in &rows {
        text += &format!(
            "| {kind} | {seconds:.1} s | {:.0} % | {own} MiB | {shared} MiB |\n",
            100.0 * seconds / cold
        );
    }
    let cores = std::thread::available_parallelism().unwrap();
    text += &format!("\n{cores} cores.\n");
    print!("{text}");
    if std::env::args().any(|arg| arg == "--write") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/first-verdict.md");
        std::fs::write(path, format!("{HEAD}{text}")).unwrap();
    }
}

fn header() -> String {
    let prototypes = C.lines().filter(|line| line.starts_with("uint32_t"));
    let prototypes = prototypes.map(|line| format!("{};\n", line.split(" {").next().unwrap()));
    format!("#include <stddef.h>\n#include <stdint.h>\n{}", prototypes.collect::<String>())
}

/// The tool as a user starts it: no target directory of their own.
fn tool(dir: &Path, cache: &Path, args: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-implfuzz"));
    command.current_dir(dir).arg("implfuzz").args(args);
    command.env_remove("CARGO_TARGET_DIR").env("XDG_CACHE_HOME", cache);
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{args:?}: {}{}", text(&output.stdout), text(&output.stderr));
}

fn mib(dir: &Path) -> u64 {
    cargo_implfuzz::fuzz::build::cache::size(dir) >> 20
}
