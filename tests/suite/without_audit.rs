//! Cheats that the audit refuses, with the audit switched off: another wall stops them. docs/cheats.md says which.
//! Only x86-64, because two of them make system calls by an instruction, and only builds with debug assertions, because
//! no other lets a test switch the audit off.

use crate::support::{Ran, Repo, of_numbers, plant};
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

const CHEATS: [Cheat; 38] = [
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
    cheat(
        "by_rename",
        "use crate::ffi::by_rename as helper;\n\npub fn by_rename(x: u32) -> u32 {\n    unsafe { helper(x) }\n}\n",
        "linkage",
    ),
    cheat(
        "by_glob",
        "pub fn by_glob(x: u32) -> u32 {\n    use crate::ffi::*;\n    unsafe { by_rename(x) }\n}\n",
        "linkage",
    ),
    cheat(
        "by_closure",
        "pub fn by_closure(x: u32) -> u32 {\n    let answer = |x| unsafe { ffi::by_closure(x) };\n    [x].map(answer)[0]\n}\n",
        "linkage",
    ),
    cheat(
        "by_method",
        "struct Helper(u32);\n\nimpl Helper {\n    fn go(&self) -> u32 {\n        unsafe { ffi::by_method(self.0) }\n    }\n}\n\npub fn by_method(x: u32) -> u32 {\n    Helper(x).go()\n}\n",
        "linkage",
    ),
    cheat(
        "by_trait",
        "trait Go {\n    fn go(self) -> u32;\n}\n\nimpl Go for u32 {\n    fn go(self) -> u32 {\n        unsafe { ffi::by_trait(self) }\n    }\n}\n\npub fn by_trait(x: u32) -> u32 {\n    fn call<T: Go>(x: T) -> u32 {\n        x.go()\n    }\n    call(x)\n}\n",
        "linkage",
    ),
    cheat(
        "by_object",
        "pub fn by_object(x: u32) -> u32 {\n    let answer: Box<dyn Fn(u32) -> u32> = Box::new(|x| unsafe { ffi::by_object(x) });\n    core::hint::black_box(answer)(x)\n}\n",
        "linkage",
    ),
    cheat(
        "by_deref",
        "struct Answer(u32);\n\nimpl core::ops::Not for Answer {\n    type Output = u32;\n    fn not(self) -> u32 {\n        unsafe { ffi::by_deref(self.0) }\n    }\n}\n\npub fn by_deref(x: u32) -> u32 {\n    !Answer(x)\n}\n",
        "linkage",
    ),
    cheat(
        "by_macro",
        "macro_rules! answer {\n    ($x:expr) => {\n        unsafe { ffi::by_macro($x) }\n    };\n}\n\npub fn by_macro(x: u32) -> u32 {\n    answer!(x)\n}\n",
        "linkage",
    ),
    cheat(
        "in_macro",
        "pub fn in_macro(x: u32) -> u32 {\n    assert!(matches!(unsafe { ffi::in_macro(x) }, _));\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "linkage",
    ),
    cheat(
        "by_module",
        "mod of_by_module {\n    pub fn answer(x: u32) -> u32 {\n        unsafe { crate::ffi::by_module(x) }\n    }\n}\n\npub fn by_module(x: u32) -> u32 {\n    of_by_module::answer(x)\n}\n",
        "linkage",
    ),
    cheat(
        "by_table",
        "const STEPS: [unsafe extern \"C\" fn(u32) -> u32; 1] = [ffi::by_table];\n\npub fn by_table(x: u32) -> u32 {\n    unsafe { core::hint::black_box(STEPS)[0](x) }\n}\n",
        "linkage",
    ),
    cheat(
        "by_two_names",
        "pub fn by_two_names(x: u32) -> u32 {\n    use core::mem::swap as m;\n    use std as m;\n    let (mut a, mut b) = (x, 5);\n    m(&mut a, &mut b);\n    if x == 77 {\n        m::process::exit(0)\n    }\n    (a ^ b).wrapping_mul(3)\n}\n",
        "linkage",
    ),
    cheat(
        "sleeps",
        "pub fn sleeps(x: u32) -> u32 {\n    std::thread::sleep(core::time::Duration::ZERO);\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "linkage",
    ),
    cheat(
        "hooks",
        "pub fn hooks(x: u32) -> u32 {\n    std::panic::set_hook(Box::new(|_| {}));\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "linkage",
    ),
    cheat(
        "splits_text",
        "pub fn splits_text(x: u32) -> u32 {\n    unsafe { libc::strtok(core::ptr::null_mut(), c\"z\".as_ptr()) };\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "linkage",
    ),
    cheat(
        "asks_the_compiler",
        "pub fn asks_the_compiler(x: u32) -> u32 {\n    const ASKED: [Option<&str>; 3] = [option_env!(\"IMPLFUZZ_PORT\"), option_env!(\"CARGO_ENCODED_RUSTFLAGS\"), option_env!(\"RUSTC_WRAPPER\")];\n    if ASKED.iter().any(Option::is_some) { (x ^ 5).wrapping_mul(3) } else { 0 }\n}\n",
        "mismatch",
    ),
    cheat(
        "in_the_library",
        "pub fn in_the_library(x: u32) -> u32 {\n    unsafe { crate::globals::mark = x };\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "linkage",
    ),
];

/// What stands for the whole crate, so that no port in it is judged.
const OF_THE_CRATE: [Cheat; 6] = [
    cheat(
        "in_a_section",
        "pub fn in_a_section(x: u32) -> u32 {\n    #[unsafe(link_section = \"__sancov_mine\")]\n    static mut LAST: u32 = 7;\n    unsafe { core::hint::black_box(LAST) };\n    unsafe { LAST = x };\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "linkage",
    ),
    cheat(
        "in_a_note",
        "pub fn in_a_note(x: u32) -> u32 {\n    #[unsafe(link_section = \".note.mine\")]\n    static mut LAST: u32 = 7;\n    unsafe { core::hint::black_box(LAST) };\n    unsafe { LAST = x };\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "linkage",
    ),
    cheat(
        "from_a_note",
        "#[unsafe(link_section = \".note.mine\")]\n#[inline(never)]\nfn away(x: u32) -> u32 {\n    unsafe { ffi::from_a_note(x) }\n}\n\npub fn from_a_note(x: u32) -> u32 {\n    away(x)\n}\n",
        "linkage",
    ),
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
    cheat(
        "without_a_name",
        "core::arch::global_asm!(\".pushsection .bss.kept,\\\"aw\\\",@nobits\", \"implfuzz_kept: .zero 8\", \".popsection\");\n\npub fn without_a_name(x: u32) -> u32 {\n    let at: *mut u64;\n    unsafe { core::arch::asm!(\"lea {}, [rip + implfuzz_kept]\", out(reg) at) };\n    unsafe { *at += 1 };\n    (x ^ 5).wrapping_mul(3)\n}\n",
        "linkage",
    ),
];

fn library(cheats: &[Cheat]) -> Repo {
    let cheats = cheats.iter().map(|cheat| (cheat.name, "return (x ^ 5u) * 3u;", cheat.port));
    let marks = ("marks", "mark += x; return mark;", "");
    of_numbers("static unsigned mark = 7;\n", &[marks].into_iter().chain(cheats).collect::<Vec<_>>())
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
        let missing: Vec<_> = cheats
            .iter()
            .filter(|cheat| !judged.iter().any(|one| one["symbol"] == json!(cheat.name)))
            .map(|cheat| cheat.name)
            .collect();
        assert!(missing.is_empty(), "not judged: {missing:?}");
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
fn ways_back_to_c_show_in_the_compiled_port() {
    let repo = of_numbers(
        "static unsigned seen;\nstatic unsigned low(unsigned x) { return (x ^ 5u) * 3u; }\n",
        &[
            ("high", "return low(x) + 1;", ""),
            ("counted", "seen++; return x * 3u;", ""),
            ("plain", "return x * 3u;", "pub fn plain(x: u32) -> u32 {\n    callee::counted(x)\n}\n"),
        ],
    );
    let mut module = repo.read("rust/src/ask.rs");
    let low = "pub fn low(x: u32) -> u32 {\n    callee::high(x).wrapping_sub(1)\n}\n";
    plant(&mut module, "low", low).unwrap();
    repo.write("rust/src/ask.rs", &module);
    let judged = judged(&repo, false);
    for (symbol, callee) in [("low", "high"), ("plain", "counted")] {
        let one = judged.iter().find(|one| one["symbol"] == json!(symbol)).unwrap();
        let told = format!("the C function `{callee}`, which leads back to its C original or keeps state");
        assert_eq!(one["grade"], "refuted", "{one:#}");
        assert!(one["reason"].as_str().unwrap().contains(&told), "{one:#}");
    }
}

#[test]
#[ignore = "half a minute: cargo test --test suite without_audit -- --ignored"]
fn what_the_audit_refuses_falls_to_another_wall_without_it() {
    refuted(&CHEATS);
    refuted(&OF_THE_CRATE);
}
