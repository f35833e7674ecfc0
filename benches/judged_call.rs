//! What judging a call in place costs, beside `fork`: `cargo bench --bench judged_call`. With `-- --write` the table goes into
//! docs/judged-call.md.
//!
//! The program of a driver is built by the tool. It is run twice on the same inputs: once it only counts calls, once it
//! judges them. So the difference is what judging adds: keeping and putting back memory, the run of the port, and the
//! comparison.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark fails by panicking, and prints")]
#![allow(clippy::disallowed_methods, reason = "it starts the tool that it measures")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Mebibytes of memory that the driver uses.
const SIZES: [usize; 4] = [1, 4, 16, 64];
/// At this size a judged call costs so many microseconds at most.
const GOAL: (usize, f64) = (4, 100.0);
/// Calls in one run of the driver; all are judged.
const CALLS: usize = 200;
const RUNS: usize = 20;
/// Each is measured so often, and the least counts.
const TIMES: usize = 3;

const HEADER: &str = "#include <stddef.h>\nstruct store { unsigned char *bytes; size_t size; };\nunsigned touch(struct store **at, size_t where);\n";

/// It writes to four pages, as `fork`'s child does.
const LIBRARY: &str = "#include \"store.h\"
unsigned touch(struct store **at, size_t where)
{
    struct store *store = *at;
    unsigned sum = 0;
    for (size_t page = 0; page < 4; page++) {
        unsigned char *byte = &store->bytes[(where + page * 40961) % store->size];
        sum += *byte;
        *byte += 1;
    }
    return sum;
}
";

const PORT: &str = "unsafe {
        let store = *at;
        (0..4usize).fold(0, |sum, page| {
            let byte = (*store).bytes.add(where_.wrapping_add(page * 40961) % (*store).size as usize);
            let before = *byte;
            *byte = before.wrapping_add(1);
            sum + ::core::ffi::c_uint::from(before)
        })
    }";

const HEAD: &str = "# What a judged call costs

`cargo bench --bench judged_call -- --write` wrote this page. It measures judging *in place*, at the calls that a
[driver](drivers.md) makes: here a driver allocates the given amount of memory and calls a function that writes to four
pages of it. *judged* is the time that judging adds to one such call: the tool saves and restores memory, runs the port,
and compares both results. *fork* is the time to fork a child process that writes to four pages of the same amount of
memory and exits.

";

fn main() {
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut text = "| memory | judged | fork | fork / judged |\n|--:|--:|--:|--:|\n".to_owned();
    for mebibytes in SIZES {
        let (judged, fork) = (judged_call(scratch.path(), mebibytes), forked_call(scratch.path(), mebibytes));
        text += &format!("| {mebibytes} MiB | {judged:.0} µs | {fork:.0} µs | {:.1} |\n", fork / judged);
        if mebibytes == GOAL.0 {
            assert!(judged <= GOAL.1, "a judged call costs {judged:.0} µs at {mebibytes} MiB");
        }
    }
    print!("{text}");
    if std::env::args().any(|arg| arg == "--write") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/judged-call.md");
        std::fs::write(path, format!("{HEAD}{text}")).unwrap();
    }
}

/// Microseconds that judging adds to a call.
fn judged_call(scratch: &Path, mebibytes: usize) -> f64 {
    let program = built(&scratch.join(mebibytes.to_string()), mebibytes);
    let input = scratch.join("input");
    std::fs::write(&input, b"any").unwrap();
    let inputs = format!("input {}\n", input.display()).repeat(RUNS);
    let least = |first: &str| {
        let runs = (0..TIMES).map(|_| ran(&program, &format!("{first}\n{inputs}")));
        runs.reduce(|best, run| if run.0 < best.0 { run } else { best }).unwrap()
    };
    let (counted, _) = least("count");
    let (with_judging, report) = least("function 0 600000 600000 1000000000");
    let words: Vec<&str> =
        report.lines().find(|line| line.starts_with("judged ")).unwrap().split(' ').collect();
    assert_eq!(words[3], (CALLS * RUNS).to_string(), "not all calls were judged: {report}");
    assert!(!report.contains("killed"), "the port differs: {report}");
    (with_judging - counted) * 1e6 / (CALLS * RUNS) as f64
}

/// The program in which the port runs beside C.
fn built(dir: &Path, mebibytes: usize) -> PathBuf {
    let driver = format!(
        "#include \"../store.h\"\n#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n\
         int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)\n{{\n\
         struct store *store = malloc(sizeof *store);\n\
         unsigned sum = 0;\n\
         (void)data, (void)size;\n\
         store->size = (size_t){mebibytes} << 20;\n\
         store->bytes = malloc(store->size);\n\
         memset(store->bytes, 7, store->size);\n\
         for (size_t call = 0; call < {CALLS}; call++) sum += touch(&store, call * 7919);\n\
         free(store->bytes);\nfree(store);\nreturn sum == 1;\n}}\n"
    );
    std::fs::create_dir_all(dir.join("fuzz")).unwrap();
    for (file, text) in [("store.h", HEADER), ("store.c", LIBRARY), ("fuzz/run.c", driver.as_str())] {
        std::fs::write(dir.join(file), text).unwrap();
    }
    tool(dir, &["init", "-q"]);
    let module = dir.join("rust/src/store.rs");
    let text = std::fs::read_to_string(&module).unwrap();
    std::fs::write(&module, text.replace("unimplemented!(\"touch\")", PORT)).unwrap();
    tool(dir, &["drivers", "--ports", "--seconds", "5"]);
    dir.join(".implfuzz/cache/drivers/ports/in-place-run")
}

fn tool(dir: &Path, args: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-implfuzz"));
    let output = command.current_dir(dir).arg("implfuzz").args(args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{args:?}: {}{}", text(&output.stdout), text(&output.stderr));
}

/// Seconds that the program takes with this on its standard input, and its report.
fn ran(program: &Path, script: &str) -> (f64, String) {
    let start = Instant::now();
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).env_clear().spawn().unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
    (start.elapsed().as_secs_f64(), String::from_utf8(output.stdout).unwrap())
}

/// Microseconds of a child that writes to four pages.
fn forked_call(scratch: &Path, mebibytes: usize) -> f64 {
    let (source, program) = (scratch.join("fork.c"), scratch.join("fork"));
    let text = format!(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/wait.h>\n#include <time.h>\n\
         #include <unistd.h>\n\
         int main(void)\n{{\n\
         size_t size = (size_t){mebibytes} << 20;\n\
         volatile unsigned char *bytes = malloc(size);\n\
         struct timespec from, to;\n\
         memset((void *)bytes, 7, size);\n\
         clock_gettime(CLOCK_MONOTONIC, &from);\n\
         for (size_t call = 0; call < {CALLS}; call++) {{\n\
         pid_t child = fork();\n\
         if (child == 0) {{\n\
         for (size_t page = 0; page < 4; page++) bytes[(call * 7919 + page * 40961) % size] += 1;\n\
         _exit(0);\n}}\n\
         waitpid(child, NULL, 0);\n}}\n\
         clock_gettime(CLOCK_MONOTONIC, &to);\n\
         printf(\"%f\", ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / 1e3 / {CALLS});\n\
         return 0;\n}}\n"
    );
    std::fs::write(&source, text).unwrap();
    let cc = cargo_implfuzz::platform::toolchain::Search::from_env().program(&["cc", "clang"]).unwrap();
    assert!(Command::new(cc).args(["-O2", "-o"]).arg(&program).arg(&source).status().unwrap().success());
    let once = || -> f64 {
        String::from_utf8(Command::new(&program).output().unwrap().stdout).unwrap().parse().unwrap()
    };
    (0..TIMES).map(|_| once()).fold(f64::INFINITY, f64::min)
}
