//! Cheats that the audit refuses, with the audit switched off: another wall stops them. docs/cheats.md says which.
//! Only x86-64, because two of them make system calls by an instruction, and only builds with debug assertions, because
//! no other lets a test switch the audit off.

use crate::support::{Ran, Repo, plant};
use serde_json::{Value, json};

/// A port of `unsigned NAME(unsigned x)`, which returns three times `x ^ 5`.
struct Cheat {
    name: &'static str,
    port: &'static str,
    /// Part of what `verify` says of it.
    told: &'static str,
}

const fn cheat(name: &'static str, port: &'static str, told: &'static str) -> Cheat {
    Cheat { name, port, told }
}

const CHEATS: [Cheat; 23] = [
    cheat("by_path", "pub fn by_path(x: u32) -> u32 {\n    unsafe { ffi::by_path(x) }\n}\n", "linkage"),
    cheat(
        "by_pointer",
        "pub fn by_pointer(x: u32) -> u32 {\n    let f: unsafe extern \"C\" fn(u32) -> u32 = ffi::by_pointer;\n    unsafe { f(x) }\n}\n",
        "linkage",
    ),
    cheat(
        "by_extern",
        "unsafe extern \"C\" {\n    fn c_by_extern(x: u32) -> u32;\n}\n\npub fn by_extern(x: u32) -> u32 {\n    unsafe { c_by_extern(x) }\n}\n",
        "linkage",
    ),
    cheat(
        "in_drop",
        "struct Later(u32);\n\nimpl Drop for Later {\n    fn drop(&mut self) {\n        unsafe { ffi::in_drop(self.0) };\n    }\n}\n\npub fn in_drop(x: u32) -> u32 {\n    let _later = Later(x);\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "linkage",
    ),
    cheat(
        "by_dlsym",
        "pub fn by_dlsym(x: u32) -> u32 {\n    let found = unsafe { libc::dlsym(core::ptr::null_mut(), c\"c_by_dlsym\".as_ptr()) };\n    (x ^ 5).wrapping_mul(3).wrapping_add(u32::from(found.is_null()) & 2 & 1)\n}\n",
        "linkage",
    ),
    cheat(
        "seeds_rand",
        "pub fn seeds_rand(x: u32) -> u32 {\n    unsafe { libc::srand(x) };\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "linkage",
    ),
    cheat(
        "spawns",
        "pub fn spawns(x: u32) -> u32 {\n    std::thread::spawn(move || (x ^ 5).wrapping_mul(3)).join().unwrap()\n}\n",
        "linkage",
    ),
    cheat(
        "reads_file",
        "pub fn reads_file(x: u32) -> u32 {\n    u32::from(std::fs::read(\"/etc/passwd\").is_err()) * 0 + (x ^ 5).wrapping_mul(3)\n}\n",
        "linkage",
    ),
    cheat(
        "reads_environment",
        "pub fn reads_environment(x: u32) -> u32 {\n    u32::from(std::env::var_os(\"HOME\").is_some()) * 0 + (x ^ 5).wrapping_mul(3)\n}\n",
        "linkage",
    ),
    cheat(
        "sees_clock",
        "pub fn sees_clock(x: u32) -> u32 {\n    u32::from(std::time::Instant::now().elapsed().as_secs() > 9) * 0 + (x ^ 5).wrapping_mul(3)\n}\n",
        "linkage",
    ),
    cheat(
        "prints",
        "pub fn prints(x: u32) -> u32 {\n    println!(\"{x}\");\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "linkage",
    ),
    cheat(
        "catches",
        "pub fn catches(x: u32) -> u32 {\n    let caught = std::panic::catch_unwind(|| assert_ne!(core::hint::black_box(x), 3)).is_err();\n    (u32::from(caught) & 2) ^ (x ^ 5).wrapping_mul(3)\n}\n",
        "linkage",
    ),
    cheat(
        "exits",
        "pub fn exits(x: u32) -> u32 {\n    if x == 77 { std::process::exit(0) }\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "linkage",
    ),
    cheat(
        "traps",
        "pub fn traps(x: u32) -> u32 {\n    unsafe { core::arch::asm!(\"syscall\", inout(\"rax\") 110 => _, out(\"rcx\") _, out(\"r11\") _) };\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "system-call: the port makes the system call `getppid`",
    ),
    cheat(
        "gives_up",
        "pub fn gives_up(x: u32) -> u32 {\n    if x > 7 {\n        panic!(\"later\")\n    }\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "panic",
    ),
    cheat(
        "leaks",
        "pub fn leaks(x: u32) -> u32 {\n    Box::leak(vec![x].into_boxed_slice());\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "leak",
    ),
    cheat(
        "counts",
        "static SEEN: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0);\n\npub fn counts(x: u32) -> u32 {\n    SEEN.fetch_add(1, core::sync::atomic::Ordering::Relaxed);\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "state: the port changes its variable `ask::SEEN",
    ),
    cheat(
        "remembers",
        "pub fn remembers(x: u32) -> u32 {\n    static mut LAST: u32 = 7;\n    unsafe { core::hint::black_box(LAST) };\n    unsafe { LAST = x };\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "state: the port changes its variable `ask::remembers::LAST",
    ),
    cheat(
        "in_a_section",
        "pub fn in_a_section(x: u32) -> u32 {\n    #[unsafe(link_section = \"__sancov_mine\")]\n    static mut LAST: u32 = 7;\n    unsafe { core::hint::black_box(LAST) };\n    unsafe { LAST = x };\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "state: the port changes its variable `ask::in_a_section::LAST",
    ),
    cheat(
        "in_a_note",
        "pub fn in_a_note(x: u32) -> u32 {\n    #[unsafe(link_section = \".note.mine\")]\n    static mut LAST: u32 = 7;\n    unsafe { core::hint::black_box(LAST) };\n    unsafe { LAST = x };\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "state: the port changes its variable `ask::in_a_note::LAST",
    ),
    cheat(
        "kills_itself",
        "pub fn kills_itself(x: u32) -> u32 {\n    if x > 7 {\n        let (pid, tid): (u64, u64);\n        unsafe { core::arch::asm!(\"syscall\", inout(\"rax\") 39u64 => pid, out(\"rcx\") _, out(\"r11\") _) };\n        unsafe { core::arch::asm!(\"syscall\", inout(\"rax\") 186u64 => tid, out(\"rcx\") _, out(\"r11\") _) };\n        unsafe { core::arch::asm!(\"syscall\", inout(\"rax\") 234u64 => _, in(\"rdi\") pid, in(\"rsi\") tid, in(\"rdx\") 9u64, out(\"rcx\") _, out(\"r11\") _) };\n    }\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "system-call: the port makes the system call `tgkill`",
    ),
    cheat(
        "in_thread",
        "std::thread_local! {\n    static OWN: core::cell::Cell<u32> = const { core::cell::Cell::new(1) };\n}\n\npub fn in_thread(x: u32) -> u32 {\n    _ = OWN.try_with(|own| own.set(own.get().wrapping_add(1)));\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "state: the port changes its variable `ask::OWN",
    ),
    cheat(
        "once",
        "pub fn once(x: u32) -> u32 {\n    static FIRST: std::sync::OnceLock<u32> = std::sync::OnceLock::new();\n    let first = *FIRST.get_or_init(|| 5);\n    (x ^ first).wrapping_mul(3)\n}\n",
        "linkage",
    ),
];

/// What stands for the whole crate, so that no port in it is judged.
const OF_THE_CRATE: [Cheat; 2] = [
    cheat(
        "exported",
        "#[unsafe(no_mangle)]\npub extern \"C\" fn c_exported_twice() {}\n\npub fn exported(x: u32) -> u32 {\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "linkage",
    ),
    cheat(
        "begins",
        "#[used]\n#[unsafe(link_section = \".init_array\")]\nstatic FIRST: extern \"C\" fn() = first;\n\nextern \"C\" fn first() {\n    unsafe { ffi::begins(1) };\n}\n\npub fn begins(x: u32) -> u32 {\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "linkage",
    ),
];

fn library(cheats: &[Cheat]) -> Repo {
    let declared = |cheat: &Cheat| format!("unsigned {}(unsigned x);\n", cheat.name);
    let defined =
        |cheat: &Cheat| format!("unsigned {}(unsigned x) {{ return (x ^ 5u) * 3u; }}\n", cheat.name);
    let header: String = cheats.iter().map(declared).collect();
    let text: String = cheats.iter().map(defined).collect();
    let repo = Repo::of(&[("ask.h", &header), ("ask.c", &format!("#include \"ask.h\"\n{text}"))]);
    repo.run(&["init"]).ok();
    let mut module = repo.read("rust/src/ask.rs");
    for cheat in cheats {
        plant(&mut module, cheat.name, cheat.port).unwrap();
    }
    repo.write("rust/src/ask.rs", &module);
    repo
}

fn judged(repo: &Repo, audit: bool) -> Vec<Value> {
    let budget = ["--config", "fuzz.accept_seconds=1", "--config", "fuzz.accept_executions=2000"];
    let mut command = repo.command(&[&["verify", "--all", "--format", "json"][..], &budget].concat());
    if !audit {
        command.env("IMPLFUZZ_TEST_WITHOUT_AUDIT", "1");
    }
    Ran::of(&mut command).json("verify")["symbols"].as_array().unwrap().clone()
}

/// Every one of them is refuted, with the audit and without it, then by what the cheat says.
fn refuted(cheats: &[Cheat]) {
    let repo = library(cheats);
    for audit in [true, false] {
        let judged = judged(&repo, audit);
        let lock = repo.read("implfuzz.lock");
        assert_eq!(lock.contains(", without the audit"), !audit, "{lock}");
        assert_eq!(judged.len(), cheats.len());
        for cheat in cheats {
            let one = judged.iter().find(|one| one["symbol"] == json!(cheat.name)).unwrap();
            assert_eq!(one["grade"], "refuted", "{}: {one:#}", cheat.name);
            let reason = one["reason"].as_str().unwrap();
            // What stands beside a port is for the linkage proof in either case.
            let is_told = if audit {
                reason.contains("audit") || reason.contains("linkage")
            } else {
                reason.contains(cheat.told)
            };
            assert!(is_told, "{}: {reason}", cheat.name);
        }
    }
}

#[test]
fn what_the_audit_refuses_falls_to_another_wall_without_it() {
    refuted(&CHEATS);
    refuted(&OF_THE_CRATE);
}
