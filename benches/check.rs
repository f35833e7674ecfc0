//! How long `check` takes on 1,000 ported symbols, warm, against a search for stubs over the same tree:
//! `cargo bench --bench check`. Behind `--` another number of symbols may stand.
//!
//! The tree is generated, with 20 functions a file; each calls the one before, uses macros, a type and a table, and has a
//! contract, a harness and evidence that holds.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark fails by panicking, and prints")]
#![allow(clippy::disallowed_methods, reason = "it starts the tools that it measures")]

use cargo_implfuzz::config::Config;
use cargo_implfuzz::contract::file;
use cargo_implfuzz::evidence::fingerprint::{
    CTree, Constants, Crate, DependencyGraph, Fingerprint, KnownContract, Links, port_hash, port_mentions,
    short,
};
use cargo_implfuzz::evidence::lock::{ChunkLine, Entry, Lock, roots};
use cargo_implfuzz::project::ported::PortModule;
use cargo_implfuzz::verdict::Grade;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PER_FILE: usize = 20;
const RUNS: usize = 21;
const GOAL_MS: u32 = 100;
const CONFIG: &str = "version = 1\n\n[c]\nsources = []\n\n[rust]\ncrate_name = \"port\"\n";

fn main() {
    let number = std::env::args().skip(1).find_map(|arg| arg.parse().ok());
    let files = number.unwrap_or(1000_usize).div_ceil(PER_FILE);
    let dir = tempfile::tempdir().unwrap();
    generate(dir.path(), files);
    let ran = Command::new(env!("CARGO_BIN_EXE_cargo-implfuzz"))
        .args(["implfuzz", "check"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
    print!("{}", String::from_utf8_lossy(&ran.stdout));
    let program = env!("CARGO_BIN_EXE_cargo-implfuzz");
    let notes = dir.path().join(cargo_implfuzz::evidence::status::NOTES);
    let first = time(dir.path(), program, &["implfuzz", "check"], || drop(std::fs::remove_file(&notes)));
    // A comment changes the text of a module, and nothing that it was judged on.
    let edited = dir.path().join("rust/src/m0.rs");
    let edit = || std::fs::write(&edited, std::fs::read_to_string(&edited).unwrap() + "// again\n").unwrap();
    let after_edit = time(dir.path(), program, &["implfuzz", "check"], edit);
    let before = processors();
    let check = time(dir.path(), program, &["implfuzz", "check"], || ());
    let busy = (processors() - before) / RUNS as u32;
    let has_rg =
        Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_ok_and(|s| s.success());
    let (tool, args): (&str, &[&str]) =
        if has_rg { ("rg", &["-c", "unimplemented!"]) } else { ("grep", &["-rc", "unimplemented!", "."]) };
    let search = time(dir.path(), tool, args, || ());
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let lock = std::fs::metadata(dir.path().join("implfuzz.lock")).unwrap().len() / 1024;
    println!(
        "{} symbols in {files} C files, lock {lock} KiB; median of {RUNS} runs of the program, warm",
        files * PER_FILE
    );
    println!("check: {:.1} ms (goal: under {GOAL_MS} ms); {:.1} ms of the processors", ms(check), ms(busy));
    println!(
        "after an edit of one module: {:.1} ms; without notes of an earlier check: {:.1} ms",
        ms(after_edit),
        ms(first)
    );
    println!("{tool} {}: {:.1} ms; ratio {:.1}", args.join(" "), ms(search), ms(check) / ms(search));
    if has_rg {
        return;
    }
    println!("(rg is not installed here, so grep -rc took its place)");
}

/// The time that processors have spent on ended child processes: a busy machine changes it less than the time on the clock.
fn processors() -> Duration {
    // SAFETY: a `rusage` is plain numbers, and the call writes one.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let of = |time: libc::timeval| {
        Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
    };
    of(usage.ru_utime) + of(usage.ru_stime)
}

/// The median time of a program in a folder, with something done before each run.
fn time(dir: &Path, program: &str, args: &[&str], prepare: impl Fn()) -> Duration {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            prepare();
            let started = Instant::now();
            Command::new(program).args(args).current_dir(dir).stdout(Stdio::null()).status().unwrap();
            started.elapsed()
        })
        .collect();
    times.sort();
    times[RUNS / 2]
}

fn name(file: usize, at: usize) -> String {
    format!("mix_{file}_{at}")
}

fn generate(root: &Path, files: usize) {
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let macros: String = (0..200).map(|n| format!("#define LIMIT_{n} {}u\n", n * 7919)).collect();
    let types = "typedef struct mix_state { uint32_t low; uint32_t high; } mix_state;\nenum mix_kind { MIX_NONE, MIX_SOME };\n";
    write(
        "include/all.h",
        &format!(
            "#ifndef ALL_H\n#define ALL_H\n#include <stdint.h>\n#include <stddef.h>\n{macros}{types}#endif\n"
        ),
    );
    write("implfuzz.toml", CONFIG);
    std::fs::create_dir(root.join(".implfuzz")).unwrap();
    let mut ffi = "pub const MIX_NONE: u32 = 0;\nunsafe extern \"C\" {\n".to_owned();
    let (mut units, mut globals) = (String::new(), String::new());
    for file in 0..files {
        write(&format!("src/m{file}.c"), &c_file(file));
        write(&format!("rust/src/m{file}.rs"), &rust_file(file));
        writeln!(units, "Unit {{ file: \"src/m{file}.c\", flags: &[\"-Iinclude\"], lines: &[] }},").unwrap();
        writeln!(globals, "pub static TABLE_{file}: [u32; 8] = [1, 2, 3, 4, 5, 6, 7, 8];").unwrap();
        for at in 0..PER_FILE {
            let name = name(file, at);
            writeln!(
                ffi,
                "#[link_name = \"c_{name}\"]\npub fn {name}(data: *const u8, len: usize, seed: u32) -> u32;"
            )
            .unwrap();
            let contract = contract(&name);
            write(&format!("rust/contracts/{name}.toml"), &contract);
            write(&format!("rust/fuzz/src/harness/{name}.rs"), &format!("// {name}\n").repeat(60));
        }
    }
    write("rust/c_units.rs", &format!("const UNITS: &[Unit] = &[{units}];\n"));
    write("rust/src/ffi.rs", &(ffi + "}\n"));
    write("rust/src/globals.rs", &globals);
    for runtime in ["codec", "driver", "guard", "memory"] {
        write(&format!("rust/fuzz/runtime/src/{runtime}.rs"), &"// runtime\n".repeat(200));
    }
    record(root, files);
}

fn c_file(file: usize) -> String {
    let mut text = format!(
        "#include \"all.h\"\n#define SALT_{file} 0x9e37u\nstatic const uint32_t TABLE_{file}[8] = {{ 1, 2, 3, 4, 5, 6, 7, 8 }};\n"
    );
    for at in 0..PER_FILE {
        let (own, before) = (name(file, at), name(file, at.saturating_sub(1)));
        let limit = (file * PER_FILE + at) % 200;
        write!(
            text,
            "\n/* Mixes the bytes, number {at} of file {file}. */\nuint32_t {own}(const uint8_t *data, size_t len, uint32_t seed) {{\n    \
             mix_state state = {{ seed ^ SALT_{file}, MIX_SOME }};\n    for (size_t i = 0; i < len; i++) {{\n        \
             state.low = (state.low ^ data[i]) * 16777619u + TABLE_{file}[state.low & 7];\n        \
             if (state.low == LIMIT_{limit}) return {before}(data, i, state.low);\n    }}\n    return state.low + state.high;\n}}\n"
        )
        .unwrap();
    }
    text
}

fn rust_file(file: usize) -> String {
    let mut text = "//! Port.\n\n#[allow(unused_imports)]\nuse crate::{callee, ffi, globals};\n\n\
        const SALT: u32 = 0x9e37;\n"
        .to_owned();
    for at in 0..PER_FILE {
        let (own, before) = (name(file, at), name(file, at.saturating_sub(1)));
        let limit = (file * PER_FILE + at) % 200 * 7919;
        let call = if at == 0 { "i as u32".to_owned() } else { format!("callee::{before}(&data[..i], low)") };
        write!(
            text,
            "\n/// Mixes the bytes, number {at} of file {file}.\npub fn {own}(data: &[u8], seed: u32) -> u32 {{\n    \
             let mut low = seed ^ SALT;\n    for (i, byte) in data.iter().enumerate() {{\n        \
             low = (low ^ u32::from(*byte)).wrapping_mul(16_777_619).wrapping_add(globals::TABLE_{file}[(low & 7) as usize]);\n        \
             if low == {limit} {{\n            return {call};\n        }}\n    }}\n    low.wrapping_add(1)\n}}\n"
        )
        .unwrap();
    }
    text
}

fn contract(name: &str) -> String {
    let text = format!(
        "version = 1\nsymbol = \"{name}\"\nsignature = \"safe\"\nreturns = \"value\"\nerrno = false\n\n\
         [[param]]\nname = \"data\"\nrole = \"buffer\"\ndirection = \"in\"\nlength = \"len\"\nmax = 512\nreason = \"a.c:1: data[i]\"\n\n\
         [[param]]\nname = \"len\"\nrole = \"length\"\nreason = \"a.c:1: i < len\"\n\n\
         [[param]]\nname = \"seed\"\nrole = \"value\"\nreason = \"a.c:1: seed\"\n"
    );
    file::render(&file::parse(&text, name).unwrap())
}

/// Writes the lock, as if every port had been judged.
fn record(root: &Path, files: usize) {
    let config = Config::load(&root.join("implfuzz.toml"), &[], &|_| None).unwrap();
    let port = Crate::new(root.join("rust"));
    let tree = CTree::read(root, &port.units(&config.c).unwrap());
    let mut lock = Lock::default();
    let mut links: BTreeMap<String, Links> = BTreeMap::new();
    let constants = Constants::read(&root.join("rust")).unwrap();
    for file in 0..files {
        let text = std::fs::read_to_string(root.join(format!("rust/src/m{file}.rs"))).unwrap();
        let module = PortModule::read(text);
        for at in 0..PER_FILE {
            let (own, before) = (name(file, at), name(file, at.saturating_sub(1)));
            let id = |name: &str| format!("src/m{file}.c:{name}");
            let calls = BTreeSet::from([id(&before)]);
            let uses = ["include/all.h:mix_state", "include/all.h:mix_kind", &id(&format!("TABLE_{file}"))];
            links.insert(id(&own), Links { calls, uses: uses.map(str::to_owned).into(), ..Links::default() });
            let fingerprint = Fingerprint::of(
                &own,
                String::new(),
                port.hashes(&own, KnownContract::default()),
                &constants,
                (|name: &str| port_hash(&module, name), |name: &str| port_mentions(&module, name)),
            );
            let entry = Entry {
                contract_text: port.contract_mark(&own, &fingerprint.contract),
                grade: Grade::Verified,
                module: format!("m{file}"),
                unit: format!("src/m{file}.c"),
                chunks: vec![id(&own)],
                signature: format!("fn {own} (data : & [u8] , seed : u32) -> u32"),
                fingerprint,
                executions: 100_000,
                accept_rate: Some(1.0),
                provenance: "hand".into(),
                tools: "cargo-implfuzz 0.1.0, rustc 1.95.0, clang 22.1.8".into(),
                date: "2026-01-01T00:00:00Z".into(),
                ..Entry::default()
            };
            lock.symbols.insert(own, entry);
        }
    }
    let graph = DependencyGraph::of(&tree, &|id| links.get(id), &roots(lock.symbols.values()));
    let (digests, all) = (graph.digests(), (0..lock.symbols.len()).flat_map(|root| graph.closure(root)));
    let all: BTreeMap<String, String> = all.collect();
    let line = |(id, hash): (&String, &String)| {
        let links = links.get(id).cloned().unwrap_or_default();
        (id.clone(), ChunkLine { hash: short(hash).to_owned(), links })
    };
    lock.c = all.iter().map(line).collect();
    for (entry, digest) in lock.symbols.values_mut().zip(digests) {
        entry.fingerprint.c = digest;
        *entry = std::mem::take(entry).sealed();
    }
    lock.save(root, &all.into_keys().collect()).unwrap();
}
