//! The guard around the C original (`templates/fuzz/runtime/guard.c`), compiled into a small program of its own.

use crate::support::clib::scratch;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// `main` guards a call that waits for another thread. That thread breaks or ends the process, as the argument says;
/// without one it keeps the processor busy: all of the timer's signals interrupt it, and none the guarded thread.
const PROGRAM: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct implfuzz_broke { const char *reason, *file; unsigned line; };
int implfuzz_guard(void (*)(void *), void *, struct implfuzz_broke *);
void implfuzz_guard_ticks(unsigned, int);

static void *other(void *how) {
    if (how && strcmp(how, "breaks") == 0) __builtin_trap();
    if (how) exit(5);
    for (volatile unsigned long n = 0; n < 20000000000ul; n++) {}
    return NULL;
}

static void call(void *how) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, other, how) == 0) pthread_join(thread, NULL);
}

void __wrap___ubsan_handle_add_overflow(void *, void *, void *);

/* Undefined behaviour at a place in this column. */
static void tell(unsigned column) {
    struct { const char *file; unsigned line, column; } place = {"some/sum.c", 3, column};
    __wrap___ubsan_handle_add_overflow(&place, NULL, NULL);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "tells") == 0) tell(7);
    if (argc > 1 && strcmp(argv[1], "has-told") == 0) tell(-1u);
    struct implfuzz_broke broke = {"nothing", NULL, 0};
    implfuzz_guard_ticks(25, 1);
    int broken = implfuzz_guard(call, argc > 1 ? argv[1] : NULL, &broke);
    _exit(broken && strcmp(broke.reason, "hang") == 0 ? 7 : 1);
}
"#;

#[expect(clippy::disallowed_methods, reason = "a program of this test")]
fn run(program: &Path, args: &[&str]) -> ExitStatus {
    Command::new(program).args(args).status().unwrap()
}

/// What the program says where nothing is skipped.
#[expect(clippy::disallowed_methods, reason = "a program of this test")]
fn told(program: &Path, how: &str) -> String {
    let output = Command::new(program).arg(how).env("IMPLFUZZ_UNGUARDED", "1").output().unwrap();
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn only_the_guarded_thread_leaves_a_call() {
    let program = program("guard");
    assert_eq!(run(&program, &[]).code(), Some(7));
    let broken = run(&program, &["breaks"]);
    assert_eq!(run(&program, &["exits"]).code(), Some(5));
    assert!(matches!(broken.signal(), Some(libc::SIGILL | libc::SIGTRAP)), "{broken}");
}

#[test]
fn undefined_behaviour_is_told_once() {
    let program = program("guard-tells");
    assert_eq!(told(&program, "tells"), "sum.c:3:7: undefined behaviour: add_overflow\n");
    assert_eq!(told(&program, "has-told"), "");
}

/// The program, built in a folder of this name.
fn program(name: &str) -> PathBuf {
    let (dir, templates) = (scratch(name), Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/fuzz"));
    std::fs::write(dir.join("main.c"), PROGRAM).unwrap();
    let wraps = std::fs::read_to_string(templates.join("wraps.txt")).unwrap();
    let wraps = wraps.split_whitespace().map(|name| format!("-Wl,--wrap={name}"));
    let mut build = cc();
    build.arg("-O2").arg("-o").arg(dir.join("guard")).arg(dir.join("main.c")).args(wraps);
    build
        .args(["guard.c", "ledger.c", "chance.c"].map(|file| templates.join("runtime").join(file)))
        .arg("-pthread");
    let built = build.output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    dir.join("guard")
}

#[expect(clippy::disallowed_methods, reason = "a compiler, as the tests of compiled libraries start it")]
fn cc() -> Command {
    Command::new("cc")
}
