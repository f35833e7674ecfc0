//! Drivers that break, hang, fork, fill the disk or take the process from the judge; `kill -9` while drivers run; a full
//! disk. Nothing is lost, and the message says what happened.

use crate::support::{MEASURED, Ran, Repo, plant};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, Hasher};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

const HEADER: &str = "\
#include <stddef.h>
struct node { struct node *next; unsigned value; };
unsigned mix(unsigned seed, unsigned char byte);
unsigned push(struct node **list, struct node *item, unsigned value);
unsigned rare(unsigned value);
";

const LIBRARY: &str = "\
#include \"node.h\"
unsigned mix(unsigned seed, unsigned char byte) { return (seed ^ byte) * 16777619u + (byte > 7 ? 3 : 5); }
unsigned push(struct node **list, struct node *item, unsigned value) {
    item->value = mix(value, value & 15);
    item->next = *list;
    *list = item;
    return item->value;
}
unsigned rare(unsigned value) { return value & 1 ? value * 3 : value / 2; }
";

/// Pointers to pointers keep it from having a harness.
const PORT: &str = "\
pub unsafe fn push(
    list: *mut *mut ffi::node,
    item: *mut ffi::node,
    value: ::core::ffi::c_uint,
) -> ::core::ffi::c_uint {
    unsafe {
        (*item).value = callee::mix(value, (value & 15) as u8);
        (*item).next = *list;
        *list = item;
        (*item).value
    }
}
";

/// What a driver is made of: what stands before its function, and what it does first.
type Parts = (&'static str, &'static str, &'static str);

fn text((_, before, first): &Parts) -> String {
    format!(
        "#define _GNU_SOURCE
#include \"../node.h\"
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>
{before}
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {{
    {first}
    struct node *list = NULL, *items = calloc(size + 1, sizeof *items);
    unsigned value = 1;
    for (size_t at = 0; at < size; at++)
        value = push(&list, &items[at], value + data[at]);
    free(items);
    return value == 12345 ? -1 : 0;
}}
"
    )
}

/// A library with these drivers, after `init`.
fn repo(drivers: &[Parts]) -> Repo {
    let repo = Repo::empty();
    repo.write("node.h", HEADER);
    repo.write("node.c", LIBRARY);
    for driver in drivers {
        repo.write(&format!("fuzz/{}.c", driver.0), &text(driver));
    }
    repo.run(&["init"]).ok();
    let config = repo.read("implfuzz.toml");
    let settings = "[drivers]\nseconds = 1\nfunction_seconds = 1\n[grade]\nexecutions = 100\n";
    repo.write("implfuzz.toml", &format!("{config}\n{settings}"));
    repo
}

/// The drivers in the output, by name.
fn by_name(json: &Value) -> BTreeMap<&str, &Value> {
    let drivers = json["drivers"].as_array().unwrap().iter();
    drivers.map(|driver| (driver["driver"].as_str().unwrap(), driver)).collect()
}

/// What was judged of a function.
fn judged<'j>(json: &'j Value, list: &str, symbol: &str) -> &'j Value {
    let all = json[list].as_array().unwrap();
    all.iter().find(|one| one["symbol"] == symbol).unwrap_or_else(|| panic!("{symbol}: {json:#}"))
}

/// No process of the repository is left after a few seconds, and no run's folder.
#[track_caller]
fn leaves_nothing(repo: &Repo) {
    let patience = Instant::now() + Duration::from_secs(5);
    while !repo.processes().is_empty() {
        assert!(Instant::now() < patience, "{:#?}", repo.processes());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The folders in which programs of drivers ran.
#[track_caller]
fn folders_are_removed(repo: &Repo) {
    for dir in ["fuzz", "reach", "mutants", "ports", "branches"] {
        let runs = repo.root().join(".implfuzz/cache/drivers").join(dir).join("runs");
        assert!(!runs.exists() || names(&runs).is_empty(), "{}: {:?}", runs.display(), names(&runs));
    }
}

fn names(dir: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(dir).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

fn corpus(repo: &Repo, driver: &str) -> PathBuf {
    repo.root().join(".implfuzz/cache/drivers/corpora").join(driver).join("corpus")
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_hostile -- --ignored"]
fn drivers_that_break_say_so() {
    let some = "if (size) switch (data[0] % 16) {
        case 1: *(volatile int *)0 = 1; break;
        case 2: abort();
        case 3: assert(size == 0);
        case 4: exit(3);
        case 5: *(char *)malloc(9) = 1; break;
        case 6: exit(0);
    }";
    let repo = repo(&[("always", "", "*(volatile int *)0 = 1;"), ("some", "", some)]);
    let ran = repo.run(&["drivers", "--check", "--format", "json"]);
    let json = ran.ok().json("drivers");
    let drivers = by_name(&json);
    let (always, some) = (drivers["always"], drivers["some"]);
    assert_eq!((&always["inputs"], &always["reached"]), (&json!(0), &json!([])), "{json:#}");
    assert!(!always["breaking"].as_array().unwrap().is_empty(), "{json:#}");
    assert!(!some["breaking"].as_array().unwrap().is_empty(), "{json:#}");
    // A busy machine may let any input time out.
    let crashes = some["breaking"].as_array().unwrap().iter().map(|path| path.as_str().unwrap());
    for path in crashes.filter(|path| path.contains("/crash-")) {
        let first = std::fs::read(path).unwrap()[0] % 16;
        assert!((1..=4).contains(&first) || first == 6, "{path}: {first}");
    }
    // The driver that judges nothing is named with its first input, and does not spoil what the other one judges.
    let push = judged(&json, "in_place", "push");
    assert_eq!((&push["broke"], &push["differs"]), (&Value::Null, &Value::Null), "{push:#}");
    assert!(push["judged"].as_u64().unwrap() > 20 && push["killed"].as_u64().unwrap() > 0, "{push:#}");
    let warning = ran.json("warning");
    let (said, help) = (warning["text"].as_str().unwrap(), warning["help"].as_str().unwrap());
    assert!(said.contains("C breaks on all inputs of the driver fuzz/always.c"), "{warning:#}");
    let words: Vec<&str> = help.split(' ').collect();
    assert!(Path::new(words[0]).is_file() && Path::new(words[1]).is_file(), "{warning:#}");
    leaves_nothing(&repo);
    folders_are_removed(&repo);
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_hostile -- --ignored"]
fn a_driver_that_hangs_on_some_inputs_is_used_with_others() {
    let repo = repo(&[("hangs", "", "if (size && data[0] % 64 == 33) for (;;) pause();")]);
    let json = repo.run(&["drivers", "--check", "--format", "json"]).ok().json("drivers");
    let push = judged(&json, "in_place", "push");
    assert_eq!(push["broke"], Value::Null, "{push:#}");
    assert!(push["judged"].as_u64().unwrap() > 20, "{push:#}");
    leaves_nothing(&repo);
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_hostile -- --ignored"]
fn drivers_that_always_hang_end() {
    let repo = repo(&[("spins", "", "for (;;) ;"), ("waits", "", "for (;;) pause();")]);
    let ran = repo.run(&["drivers", "--check"]);
    ran.ok().shows("all inputs of the driver fuzz/spins.c").shows("all inputs of the driver fuzz/waits.c");
    leaves_nothing(&repo);
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_hostile -- --ignored"]
fn what_a_driver_starts_ends_with_its_run() {
    let forks = "static int is_done;
    if (!is_done++ && fork() == 0) { sleep(60); _exit(0); }";
    let leaves = "static int is_done;
    if (!is_done++ && fork() == 0) { setsid(); if (fork()) _exit(0); daemon(0, 0); sleep(60); _exit(0); }";
    let thread = "static void *go(void *nothing) { for (;;) pause(); return nothing; }";
    let start = "pthread_t one; if (!pthread_create(&one, NULL, go, NULL)) pthread_detach(one);";
    let repo = repo(&[("forks", "", forks), ("leaves", "", leaves), ("threads", thread, start)]);
    let json = repo.run(&["drivers", "--check", "--format", "json"]).ok().json("drivers");
    let push = judged(&json, "in_place", "push");
    // Their memory would be put back, too.
    assert_eq!((&push["outside"], &push["judged"]), (&json!("fork"), &json!(0)), "{push:#}");
    assert!(push["calls"].as_u64().unwrap() > 0, "{push:#}");
    leaves_nothing(&repo);
    folders_are_removed(&repo);
}

#[test]
fn a_thread_that_the_library_of_another_language_starts_is_noticed() {
    let repo = repo(&[]);
    let driver = "\
#include <cstddef>
#include <cstdint>
#include <thread>
extern \"C\" {
#include \"../node.h\"
}
extern \"C\" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    node one = {}, other = {}, *list = nullptr, *second = nullptr;
    std::thread thread([&] { for (size_t at = 0; at < 100; at++) push(&second, &one, data[0] + at), second = nullptr; });
    for (size_t at = 0; at < 100; at++) push(&list, &other, data[0] + at), list = nullptr;
    thread.join();
    return 0;
}
";
    repo.write("fuzz/threads.cc", driver);
    let json = repo.run(&["drivers", "--seconds", "1", "--check", "--format", "json"]).ok().json("drivers");
    let push = judged(&json, "in_place", "push");
    assert_eq!((&push["outside"], &push["judged"]), (&json!("pthread_create"), &json!(0)), "{push:#}");
    assert!(push["calls"].as_u64().unwrap() > 0, "{push:#}");
}

#[test]
fn a_whole_run_says_nothing_once_a_thread_has_started() {
    // All calls of the first input come before its thread, so that enough of them are judged.
    let before = "static void *go(void *data) { return data; }";
    let first = "unsigned all = 1;
    for (unsigned at = 0; at < 400; at++) { struct node one, *list = NULL; all = push(&list, &one, all + at); }
    pthread_t thread; if (!pthread_create(&thread, NULL, go, NULL)) pthread_join(thread, NULL);";
    let repo = repo(&[("threads", before, first)]);
    let mut module = repo.read("rust/src/node.rs");
    plant(&mut module, "push", PORT).unwrap();
    repo.write("rust/src/node.rs", &module);
    let args = [&["verify", "push", "--seconds", "2", "--format", "json"][..], &MEASURED[..]].concat();
    let json = repo.run(&args).code(11).json("verify");
    let push = &json["symbols"][0];
    assert!(push["in_place"].as_u64().unwrap() > 100, "{push:#}");
    let why = push["proofs"]["apart"]["no"].as_str().unwrap_or_else(|| panic!("{push:#}"));
    assert!(why.contains("on 0 of "), "{why}");
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_hostile -- --ignored"]
fn files_of_a_driver_are_removed_and_do_not_fill_the_disk() {
    // Names that runs at the same time would share, those of the tool's own programs, and more than one file may have.
    let writes = "static int number;
    char name[64];
    snprintf(name, sizeof name, \"left-%d\", number++ % 50);
    const char *names[] = {name, \"in-place-writes\", \"fuzz-writes\", \"driver-writes.o\"};
    for (int at = 0; at < 4; at++) {
        FILE *file = fopen(names[at], \"wb\");
        if (file) { fwrite(data, 1, size, file); fclose(file); }
    }";
    let writes_repo = repo(&[("writes", "", writes)]);
    let json = writes_repo.run(&["drivers", "--check", "--format", "json"]).ok().json("drivers");
    let push = judged(&json, "in_place", "push");
    assert!(push["judged"].as_u64().unwrap() > 20, "{push:#}");
    folders_are_removed(&writes_repo);
    let left = names(&writes_repo.root().join(".implfuzz/cache/drivers/fuzz"));
    assert!(!left.iter().any(|name| name.starts_with("left-")), "{left:?}");

    let fills = "static char bytes[1 << 22];
    static int number;
    memset(bytes, 1, sizeof bytes);
    char name[64];
    snprintf(name, sizeof name, \"full-%d-%d\", (int)getpid(), number++);
    int file = open(name, O_WRONLY | O_CREAT, 0644);
    if (file >= 0 && write(file, bytes, sizeof bytes) > 0) close(file);";
    let repo = repo(&[("fills", "", fills)]);
    repo.run(&["drivers", "--seconds", "60"]).fails(
        1,
        &["the driver fuzz/fills.c: it wrote more than 1024 MiB of files", "let the driver remove the files"],
    );
    leaves_nothing(&repo);
    folders_are_removed(&repo);
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_hostile -- --ignored"]
fn output_without_end_is_stopped() {
    let prints = "static char line[1 << 16]; memset(line, 'a', sizeof line);
    for (int at = 0; size && data[0] % 64 == 33 && at < 4000; at++) if (write(1 + at % 2, line, sizeof line) < 0) break;";
    let repo = repo(&[("prints", "", prints)]);
    let json = repo.run(&["drivers", "--check", "--format", "json"]).ok().json("drivers");
    let push = judged(&json, "in_place", "push");
    assert!(push["judged"].as_u64().unwrap() > 20, "{push:#}");
    folders_are_removed(&repo);
}

#[test]
fn drivers_cannot_take_the_process_from_the_judge() {
    // It handles the judge's signals, stops its timer, closes what the judge reads, and goes elsewhere.
    let handler = "static void end(int number) { _exit(number); }";
    let takes = "struct sigaction action = {.sa_handler = end};
    signal(SIGSEGV, end); sigaction(SIGBUS, &action, NULL); signal(SIGPROF, SIG_DFL);
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &never, NULL);
    if (chdir(\"/\")) return 0;
    close(0);";
    let repo = repo(&[("takes", handler, takes)]);
    let json = repo.run(&["drivers", "--check", "--format", "json"]).ok().json("drivers");
    for symbol in ["push", "mix"] {
        let one = judged(&json, "in_place", symbol);
        assert_eq!((&one["broke"], &one["differs"]), (&Value::Null, &Value::Null), "{one:#}");
        assert!(one["judged"].as_u64().unwrap() > 100, "{one:#}");
        assert!(one["killed"].as_u64().unwrap() * 10 >= one["mutants"].as_u64().unwrap() * 7, "{one:#}");
    }
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_hostile -- --ignored"]
fn drivers_that_stop_libfuzzer_are_named() {
    let closes = "for (int at = 0; at < 1024; at++) close(at);";
    repo(&[("closes", "", closes)])
        .run(&["drivers"])
        .ok()
        .shows("when calls are judged, the driver fuzz/closes.c runs on only 0 of 1 inputs")
        .shows("it closes the judge's descriptors");
    let kills = "if (size) kill(0, SIGKILL);";
    let killed = repo(&[("kills", "", kills)]);
    let says = ["libFuzzer cannot run the driver fuzz/kills.c (signal 9)", "it should only call the library"];
    killed.run(&["drivers"]).fails(1, &says);
    leaves_nothing(&killed);
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_hostile -- --ignored"]
fn a_driver_that_does_not_compile_is_left_out() {
    let bad: Parts = ("bad", "#include \"missing.h\"", "");
    let both = repo(&[bad, ("good", "", "")]);
    let ran = both.run(&["drivers", "--format", "json"]);
    let json = ran.code(11).json("drivers");
    assert_eq!(by_name(&json).keys().copied().collect::<Vec<_>>(), ["good"], "{json:#}");
    assert_eq!(json["left_out"][0]["file"], json!("fuzz/bad.c"), "{json:#}");
    assert!(json["left_out"][0]["why"].as_str().unwrap().contains("missing.h"), "{json:#}");
    let said = ran.json("warning")["text"].as_str().unwrap().to_owned();
    assert!(said.contains("the driver fuzz/bad.c is left out") && said.contains("missing.h"), "{said}");
    let text = both.run(&["drivers"]).code(11).stdout.clone();
    assert!(
        text.contains("fuzz/bad.c") && text.contains("because") && text.contains("reached: 2 of 3 functions"),
        "{text}"
    );
    both.run(&["drivers", "--ports"]).code(11).shows("fuzz/bad.c");
    // What the other one reaches is known all the same.
    let list = both.run(&["list"]).ok().stdout.clone();
    assert!(list.contains("not reached") && !list.contains("not run yet"), "{list}");
    // Without one that compiles, it is an error, which is told once.
    repo(&[bad]).run(&["drivers"]).fails(1, &["missing.h"]);
    let worse: Parts = ("worse", "#include \"absent.h\"", "");
    let ran = repo(&[bad, worse]).run(&["drivers"]);
    ran.fails(1, &["missing.h", "the driver fuzz/worse.c is left out", "absent.h"]);
    assert_eq!(ran.stderr.matches("'missing.h' file not found").count(), 1, "{}", ran.stderr);
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_hostile -- --ignored"]
fn a_run_that_ends_early_says_on_which_input() {
    // Only where the judge runs it.
    let maps = "if (getenv(\"LLVM_PROFILE_FILE\") && size > 1)
        for (int at = 0; at < 1 << 14; at++) {
            char *page = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (page == MAP_FAILED) abort();
        }";
    let repo = repo(&[("maps", "", maps)]);
    repo.write(".implfuzz/cache/drivers/corpora/maps/corpus/one", "1");
    let ran = repo.run(&["drivers", "--check", "--format", "json"]);
    let warning = ran.ok().json("warning")["text"].as_str().unwrap().to_owned();
    assert!(warning.contains("the driver fuzz/maps.c runs on "), "{warning}");
    assert!(warning.contains(": signal 6 (abort) on input maps/corpus/"), "{warning}");
}

/// Reaches `rare` on one input, which nobody finds by trial.
const KEEPS: Parts = (
    "keeps",
    "static unsigned hash(const uint8_t *data) {
        unsigned hash = 2166136261u;
        for (int at = 0; at < 8; at++) hash = (hash ^ data[at]) * 16777619u;
        return hash;
    }",
    "if (size == 8 && hash(data) == 0xa31f4494u) rare(7);",
);

/// A library with that driver and a port, which knows the rare input.
fn kept(beforehand: impl FnOnce(&Repo)) -> Repo {
    let repo = repo(&[KEEPS]);
    beforehand(&repo);
    let mut module = repo.read("rust/src/node.rs");
    plant(&mut module, "push", PORT).unwrap();
    repo.write("rust/src/node.rs", &module);
    repo.write(".implfuzz/cache/drivers/corpora/keeps/corpus/rare", "rare-one");
    repo
}

const JUDGE: [&str; 5] = ["drivers", "--format", "json", "--check", "--ports"];
const VERIFY: [&str; 4] = ["verify", "push", "--format", "json"];

/// What a run that is left alone says: what is reached, how the port does, and its grade.
#[track_caller]
fn told(repo: &Repo) -> (Value, Vec<Value>, Value) {
    let json = repo.run(&JUDGE).ok().json("drivers");
    let (port, check) = (judged(&json, "ports", "push"), judged(&json, "in_place", "push"));
    assert!(port["judged"].as_u64().unwrap() > 20, "{json:#}");
    let port = ["differs", "outside", "broke"].map(|key| port[key].clone());
    let check = ["differs", "outside", "broke", "mutants"].map(|key| check[key].clone());
    let verified = repo.run(&VERIFY).ok().json("verify");
    let reached = json["drivers"][0]["reached"].clone();
    assert_eq!(reached, json!(["mix", "push", "rare"]), "the corpus was lost: {json:#}");
    (reached, [&port[..], &check].concat(), verified["symbols"][0]["grade"].clone())
}

/// What must hold whatever has happened.
#[track_caller]
fn nothing_is_lost(repo: &Repo) {
    repo.run(&["check"]).shows("evidence holds for 1 of 1 port");
    let kept = corpus(repo, "keeps");
    let whole = |dir: &Path| {
        names(dir).iter().any(|name| std::fs::read(dir.join(name)).is_ok_and(|text| text == b"rare-one"))
    };
    assert!(whole(&kept) || whole(&kept.with_file_name("earlier")), "{:?}", names(&kept));
    let db = rusqlite::Connection::open(repo.root().join(".implfuzz/state.db")).unwrap();
    let answer: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(answer, "ok");
}

fn random(most: u64) -> u64 {
    std::collections::hash_map::RandomState::new().build_hasher().finish() % most
}

/// Starts the tool and kills it when it has said so many lines, and some time later.
fn killed(repo: &Repo, args: &[&str], lines: u64, later: Duration) {
    let mut child = repo.command(args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let said = BufReader::new(child.stdout.take().unwrap()).lines();
    drop(said.take(usize::try_from(lines).unwrap()).map_while(Result::ok).last());
    std::thread::sleep(later);
    child.kill().unwrap();
    child.wait().unwrap();
}

fn kills(times: u32, together: u32) {
    let repo = kept(|_| ());
    let before = told(&repo);
    for kill in 1..=times {
        let commands: [&[&str]; 3] = [&JUDGE, &JUDGE[..4], &VERIFY];
        let (args, lines) = (commands[usize::try_from(random(3)).unwrap()], random(10));
        let later = Duration::from_millis(random(700));
        // The inputs of `verify` are made anew.
        drop(std::fs::remove_file(corpus(&repo, "keeps").with_file_name("made-of")));
        killed(&repo, args, lines, later);
        leaves_nothing(&repo);
        nothing_is_lost(&repo);
        if kill % together == 0 {
            assert_eq!(told(&repo), before);
            folders_are_removed(&repo);
        }
    }
}

#[test]
#[ignore = "a minute: cargo test --test suite drivers_hostile -- --ignored"]
fn nothing_is_lost_at_five_moments() {
    kills(5, 5);
}

#[test]
#[ignore = "a quarter of an hour: cargo test --test suite drivers_hostile -- --ignored"]
fn nothing_is_lost_at_a_hundred_moments() {
    kills(100, 5);
}

/// A disk of its own for the tool's folder.
struct SmallDisk(std::ffi::CString);

impl SmallDisk {
    /// `None` where this user may not mount one.
    fn mount(dir: &Path) -> Option<Self> {
        std::fs::create_dir_all(dir).unwrap();
        let path = std::ffi::CString::new(dir.to_str().unwrap()).unwrap();
        let size = c"size=384m".as_ptr().cast();
        // SAFETY: a plain system call with strings that live as long as it.
        let done = unsafe { libc::mount(c"none".as_ptr(), path.as_ptr(), c"tmpfs".as_ptr(), 0, size) };
        (done == 0).then_some(Self(path))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { libc::umount2(self.0.as_ptr(), libc::MNT_DETACH) };
    }
}

/// Leaves so many bytes free.
fn fill(dir: &Path, free: u64) {
    let file = std::fs::File::create(dir.join("ballast")).unwrap();
    let disk = rustix::fs::statvfs(dir).unwrap();
    let size = (disk.f_bavail * disk.f_frsize).saturating_sub(free);
    rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, size).unwrap();
}

/// Runs it so that no file may have more bytes than this, as if the disk were full.
fn with_small_files(repo: &Repo, args: &[&str]) -> Ran {
    use std::os::unix::process::CommandExt;
    let mut command = repo.command(args);
    // SAFETY: plain system calls.
    unsafe {
        command.pre_exec(|| {
            let limit = libc::rlimit { rlim_cur: 4096, rlim_max: 4096 };
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            libc::setrlimit(libc::RLIMIT_FSIZE, &limit);
            Ok(())
        });
    }
    Ran::of(&mut command)
}

#[test]
#[ignore = "a minute: cargo test --test suite drivers_hostile -- --ignored"]
fn a_full_disk_loses_nothing() {
    let mut disk = None;
    let repo = kept(|repo| {
        // `init` has kept nothing there that cannot be made again.
        let private = repo.root().join(".implfuzz");
        std::fs::remove_dir_all(&private).unwrap();
        disk = SmallDisk::mount(&private);
        repo.run(&["init"]).ok();
    });
    let before = told(&repo);
    let lock = repo.read("implfuzz.lock");
    let private = repo.root().join(".implfuzz");
    if disk.is_none() {
        eprintln!("this user may not mount a small disk: files are limited to 4096 bytes instead");
        for args in [&JUDGE[..1], &VERIFY[..2]] {
            let ran = with_small_files(&repo, args);
            assert!(
                ran.status.code().is_some_and(|code| code != 0) && ran.stderr.contains("error:"),
                "{ran}"
            );
            nothing_is_lost(&repo);
        }
    }
    for free in if disk.is_some() { &[0, 6 << 20][..] } else { &[] } {
        for args in [&JUDGE[..1], &VERIFY[..2]] {
            drop(std::fs::remove_file(corpus(&repo, "keeps").with_file_name("made-of")));
            fill(&private, *free);
            let ran = repo.run(args);
            ran.fails(1, &["error[E000", private.to_str().unwrap()]);
            assert!(ran.stderr.contains("space"), "{ran}");
            assert!(ran.stderr.contains("free disk space (`df -h"), "{ran}");
            std::fs::remove_file(private.join("ballast")).unwrap();
            assert_eq!(repo.read("implfuzz.lock"), lock);
            nothing_is_lost(&repo);
        }
        // JSON says the same.
        fill(&private, *free);
        let error = repo.run(&JUDGE).code(1).json("error");
        assert!(error["help"].as_str().unwrap().contains("df -h"), "{error:#}");
        std::fs::remove_file(private.join("ballast")).unwrap();
    }
    assert_eq!(told(&repo), before);
    drop(disk);
}
