//! Helpers of the tests through the binary: a small C library in a directory of its own, runs of the tool in it, a
//! model that answers from a list, and the state of a tree for comparison. `server` is the scripted HTTP server,
//! `wire` the protocols of model servers, `clib` and `real` have whole C libraries, `builds` removes build
//! products, `python` installs programs with pip, `shape` reduces JSON to its structure, `compiled` finds the functions
//! that a compiler sees, and `abi` compares how C and Rust call them.

#![allow(clippy::unwrap_used, dead_code, reason = "test code; the benches take parts of it")]

pub mod abi;
pub mod builds;
pub mod clib;
pub mod compiled;
pub mod git;
pub mod python;
pub mod real;
pub mod server;
pub mod shape;
pub mod wire;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;

/// Header of the small library.
pub const HEADER: &str = "#ifndef SUM_H\n#define SUM_H\n#include <stddef.h>\n#include <stdint.h>\n\
    uint32_t twice(uint32_t x);\nuint32_t thrice(uint32_t x);\n\
    uint32_t sum_bytes(const uint8_t *data, size_t len);\n#endif\n";

/// The small library.
pub const SOURCE: &str = "#include \"sum.h\"\n\n/* Doubles. */\nuint32_t twice(uint32_t x) { return x * 2u; }\n\n\
    /* Triples. */\nuint32_t thrice(uint32_t x) { return twice(x) + x; }\n\n\
    /* Adds the bytes up. */\nuint32_t sum_bytes(const uint8_t *data, size_t len) {\n    uint32_t sum = 0;\n    \
    for (size_t i = 0; i < len; i++) sum += data[i];\n    return sum;\n}\n";

/// Harnesses are not measured, which takes a build of its own, and weak ports will do: what most tests are not about.
/// What stands behind it on a command line, as in [`MEASURED`], counts.
const UNMEASURED: [&str; 4] = ["--config", "grade.measure=false", "--config", "grade.least='weak'"];

/// Harnesses compile in a quarter of the time: most of what a test waits for.
const UNOPTIMISED: [&str; 2] = ["--config", "fuzz.optimise=false"];

/// Undoes [`UNMEASURED`].
pub const MEASURED: [&str; 4] = ["--config", "grade.measure=true", "--config", "grade.least='verified'"];

/// A short campaign, as `--config` arguments.
pub const QUICK: [&str; 6] = [
    "--config", "fuzz.loop_executions=4000", "--config", "fuzz.accept_executions=8000", "--config",
    "fuzz.accept_seconds=4",
];

/// Variables of the machine that would change what the tool does.
const FOREIGN: [&str; 6] = [
    "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "IMPLFUZZ_LLM_PROVIDER", "IMPLFUZZ_LLM_MODEL",
    "IMPLFUZZ_LLM_BASE_URL", "CARGO_TERM_COLOR",
];

/// A target repository that is removed with the value.
pub struct Repo {
    dir: TempDir,
    /// Beside the repository: what the tests keep for themselves.
    aside: TempDir,
}

/// A file's content and when it was written.
pub type Tree = BTreeMap<PathBuf, (SystemTime, Vec<u8>)>;

/// How a run ended.
#[derive(Debug)]
pub struct Ran {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Drop for Repo {
    fn drop(&mut self) {
        builds::forget(self.root());
    }
}

impl Repo {
    /// An empty directory.
    pub fn empty() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), aside: tempfile::tempdir().unwrap() }
    }

    /// The small library, not initialised.
    pub fn library() -> Self {
        let repo = Self::empty();
        repo.write("sum.h", HEADER);
        repo.write("sum.c", SOURCE);
        repo
    }

    /// The small library after `init`.
    pub fn initialised() -> Self {
        let repo = Self::library();
        repo.run(&["init"]).ok();
        repo
    }

    /// A repository with these files and their texts, after `init`.
    pub fn of(files: &[(&str, &str)]) -> Self {
        let repo = Self::empty();
        for (path, text) in files {
            repo.write(path, text);
        }
        repo.run(&["init"]).ok();
        repo
    }

    /// What `verify` says of this port in the place of its stub; `stubs` is the text of its module without ports.
    pub fn judged(&self, (module, stubs): (&str, &str), symbol: &str, port: &str) -> serde_json::Value {
        let mut text = stubs.to_owned();
        plant(&mut text, symbol, port).unwrap_or_else(|| panic!("{symbol} has no stub"));
        self.write(&format!("rust/src/{module}.rs"), &text);
        let quick = ["verify", symbol, "--runs", "4000", "--seconds", "5", "--format", "json"];
        self.run(&quick).json("verify")["symbols"][0].clone()
    }

    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    /// A directory outside of the repository.
    pub fn aside(&self) -> &Path {
        self.aside.path()
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).unwrap()
    }

    /// Replaces the one place where `from` stands in a file.
    pub fn replace(&self, path: &str, from: &str, to: &str) {
        let text = self.read(path);
        assert_eq!(text.matches(from).count(), 1, "{from:?} in {path}:\n{text}");
        self.write(path, &text.replace(from, to));
    }

    /// The tool, in the repository, with this test's build directory.
    pub fn command(&self, args: &[&str]) -> Command {
        #[expect(clippy::disallowed_methods, reason = "tests start the tool itself")]
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-implfuzz"));
        // Behind the subcommand, because settings there hide those in front of it.
        let graded = |arg: &&str| ["port", "verify", "status"].contains(arg);
        let (front, rest) = args.split_at(args.iter().position(graded).map_or(0, |at| at + 1));
        let unmeasured: &[&str] = if front.is_empty() { &[] } else { &UNMEASURED };
        let plain: &[&str] = if front.is_empty() { &[] } else { &UNOPTIMISED };
        command.arg("implfuzz").args(front).args(unmeasured).args(plain).args(rest);
        command.current_dir(self.root()).stdin(Stdio::null());
        command.env("CARGO_TARGET_DIR", clib::target_dir()).env("XDG_CACHE_HOME", clib::user_cache());
        for name in FOREIGN {
            command.env_remove(name);
        }
        command
    }

    /// Runs the tool to its end.
    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(&mut self.command(args))
    }

    /// `port` of these symbols with the model of `Repo::model` and a short campaign.
    pub fn port(&self, symbols: &[&str]) -> Ran {
        self.run(&[&["port"], symbols, &QUICK].concat())
    }

    /// Grades and findings of a short `verify` that ends with this code, by symbol.
    pub fn verified(
        &self,
        symbols: &[&str],
        code: i32,
    ) -> (BTreeMap<String, serde_json::Value>, BTreeMap<String, serde_json::Value>) {
        let quick = ["--runs", "20000", "--seconds", "3", "--format", "json"];
        let ran = self.run(&[&["verify"], symbols, &quick].concat());
        let json = ran.code(code).json("verify");
        let by_symbol = |list: &str| {
            let all = json[list].as_array().unwrap();
            all.iter().map(|one| (one["symbol"].as_str().unwrap().to_owned(), one.clone())).collect()
        };
        (by_symbol("symbols"), by_symbol("findings"))
    }

    /// Whether the tests that `testgen` has written for a function pass on its port as it stands: in a copy of the crate, with no C
    /// near it.
    pub fn exported_tests_pass(&self, symbol: &str) -> bool {
        let alone = self.aside().join("alone");
        drop(std::fs::remove_dir_all(&alone));
        clib::copy_tree(&self.root().join("rust"), &alone);
        let mut command = assert_cmd::Command::new(std::env::var_os("CARGO").unwrap());
        command.current_dir(&alone).args(["test", "--offline", "--no-default-features"]);
        command.args(["--test", &format!("testgen_{symbol}")]);
        command.env("CARGO_TARGET_DIR", clib::target_dir());
        let output = command.output().unwrap();
        let said = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
        // A port that breaks ends the process before there is a result.
        assert!(said.contains("\nrunning "), "{said}");
        // A process that ends itself may call that a success.
        output.status.success() && said.contains("test result: ok. ")
    }

    /// Lets a script be the model: it gives these replies one after the other, the last one for ever.
    pub fn model(&self, replies: &[&str]) {
        let dir = self.aside().join("model");
        drop(std::fs::remove_dir_all(&dir));
        std::fs::create_dir_all(&dir).unwrap();
        for (index, reply) in replies.iter().enumerate() {
            std::fs::write(dir.join(format!("{}.md", index + 1)), reply).unwrap();
        }
        let script = format!(
            "cd {}\nn=$(($(cat count 2>/dev/null || echo 0) + 1))\necho $n >count\ncat >$n.prompt\n\
             [ -f $n.md ] || n={}\ncat $n.md\n",
            dir.display(),
            replies.len()
        );
        std::fs::write(dir.join("model.sh"), script).unwrap();
        let shown = dir.join("model.sh").display().to_string();
        let text = self.read("implfuzz.toml");
        // The table in the file, if there is one; others may follow it.
        let start = text.find("\n[llm]").unwrap_or(text.len());
        let rest = text.get(start + 1..).unwrap_or_default();
        let behind = rest.find("\n[").map_or("", |at| &rest[at..]);
        let table = format!("\n[llm]\nprovider = \"command\"\ncommand = [\"sh\", {shown:?}]\n");
        self.write("implfuzz.toml", &format!("{}{table}{behind}", &text[..start]));
    }

    /// How often the script was asked.
    pub fn asked(&self) -> usize {
        let count = std::fs::read_to_string(self.aside().join("model/count")).unwrap_or_default();
        count.trim().parse().unwrap_or(0)
    }

    /// What the script was asked, from 1.
    pub fn prompt(&self, number: usize) -> String {
        std::fs::read_to_string(self.aside().join(format!("model/{number}.prompt"))).unwrap()
    }

    /// Everything in the repository but the tool's private directory.
    pub fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        collect(self.root(), &mut tree);
        tree.retain(|path, _| !path.starts_with(self.root().join(".implfuzz")));
        tree
    }

    /// Every file, the private ones included.
    pub fn all_files(&self) -> Tree {
        let mut tree = Tree::new();
        collect(self.root(), &mut tree);
        tree
    }

    /// `status` of one symbol as JSON.
    pub fn status(&self, symbol: &str) -> serde_json::Value {
        let ran = self.run(&["status", "--format", "json"]);
        let value = ran.json("status");
        let found = value["symbols"].as_array().unwrap().iter().find(|s| s["symbol"] == symbol);
        found.unwrap_or_else(|| panic!("{symbol} is in no row of {value}")).clone()
    }

    /// The number that a query over `state.db` answers.
    pub fn count(&self, query: &str) -> i64 {
        let db = rusqlite::Connection::open(self.root().join(".implfuzz/state.db")).unwrap();
        db.query_row(query, [], |row| row.get(0)).unwrap()
    }

    /// Processes that work in the repository or run a program of it.
    pub fn processes(&self) -> Vec<String> {
        let root = self.root().to_str().unwrap();
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let numbers = entries.filter(|e| e.file_name().to_string_lossy().bytes().all(|b| b.is_ascii_digit()));
        let lines = numbers.filter_map(|e| std::fs::read(e.path().join("cmdline")).ok());
        lines.map(|l| String::from_utf8_lossy(&l).replace('\0', " ")).filter(|l| l.contains(root)).collect()
    }
}

/// Replaces the stub of a function, if it is in this module.
pub fn plant(module: &mut String, function: &str, port: &str) -> Option<()> {
    let stub = module.find(&format!("unimplemented!(\"{function}\")"))?;
    let start = module[..stub].rfind("\npub ")? + 1;
    let end = stub + module[stub..].find("\n}")? + 2;
    module.replace_range(start..end, port.trim_end());
    Some(())
}

/// A change of a port: function, old text, new text.
pub type Change = (&'static str, &'static str, &'static str);

/// What `drivers --ports` says of each port of the library in a folder of `tests/suite`. Its right ports, for this module,
/// stand behind empty lines; some of them are changed.
#[track_caller]
pub fn judged_in_place(
    folder: &str,
    (module, right): (&str, &str),
    changes: &[Change],
    code: i32,
) -> BTreeMap<String, serde_json::Value> {
    let repo = Repo::empty();
    clib::copy_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite").join(folder), repo.root());
    repo.run(&["init"]).ok();
    let path = format!("rust/src/{module}.rs");
    let mut module = repo.read(&path);
    for port in right.split("\n\n").skip(1) {
        let name = port.split("fn ").nth(1).unwrap().split('(').next().unwrap();
        let mut port = port.to_owned();
        for (_, old, new) in changes.iter().filter(|(function, ..)| *function == name) {
            assert!(port.contains(old), "{name}: {old}");
            port = port.replace(old, new);
        }
        plant(&mut module, name, &port).unwrap_or_else(|| panic!("{name} has no stub"));
    }
    repo.write(&path, &module);
    let ran = repo.run(&[
        "drivers", "--seconds", "1", "--ports", "--config", "drivers.function_seconds=1", "--format", "json",
    ]);
    let json = ran.code(code).json("drivers");
    let all = json["ports"].as_array().unwrap().iter();
    all.map(|one| (one["symbol"].as_str().unwrap().to_owned(), one.clone())).collect()
}

/// A library of functions `unsigned NAME(unsigned x)`, each with its body in C and its port, or an empty text for a stub;
/// `statics` stand in front of them.
pub fn of_numbers(statics: &str, functions: &[(&str, &str, &str)]) -> Repo {
    let header: String =
        functions.iter().map(|(name, ..)| format!("unsigned {name}(unsigned x);\n")).collect();
    let defined =
        |(name, body, _): &(&str, &str, &str)| format!("unsigned {name}(unsigned x) {{ {body} }}\n");
    let text: String = functions.iter().map(defined).collect();
    let repo = Repo::of(&[("ask.h", &header), ("ask.c", &format!("#include \"ask.h\"\n{statics}{text}"))]);
    repo.run(&["init"]).ok();
    let mut module = repo.read("rust/src/ask.rs");
    for (name, _, port) in functions.iter().filter(|(.., port)| !port.is_empty()) {
        plant(&mut module, name, port).unwrap();
    }
    repo.write("rust/src/ask.rs", &module);
    repo
}

/// The texts of two trees are the same.
#[track_caller]
pub fn assert_same(before: &Tree, after: &Tree) {
    let names = |tree: &Tree| tree.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(before), names(after));
    for (path, (_, text)) in before {
        assert!(*text == after[path].1, "{} changed", path.display());
    }
}

fn collect(dir: &Path, tree: &mut Tree) {
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            collect(&path, tree);
        } else if kind.is_file() {
            let written = entry.metadata().unwrap().modified().unwrap();
            tree.insert(path.clone(), (written, std::fs::read(&path).unwrap()));
        }
    }
}

impl Ran {
    pub fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let ran = Self { status: output.status, stdout: text(&output.stdout), stderr: text(&output.stderr) };
        ran.no_panic();
        ran
    }

    #[track_caller]
    pub fn no_panic(&self) {
        // A finding may say that the *port* panicked; Rust's own report of a panic has this wording.
        assert!(!self.stderr.contains("' panicked at "), "{self}");
        assert!(!self.stderr.contains(") panicked at "), "{self}");
        assert_eq!(self.status.signal(), None, "{self}");
    }

    #[track_caller]
    pub fn ok(&self) -> &Self {
        self.code(0)
    }

    #[track_caller]
    pub fn code(&self, code: i32) -> &Self {
        assert_eq!(self.status.code(), Some(code), "{self}");
        self
    }

    /// Fails with this code and says these things; errors that the user can mend have a help line.
    #[track_caller]
    pub fn fails(&self, code: i32, says: &[&str]) {
        self.code(code);
        for text in says {
            assert!(self.stderr.contains(text), "no {text:?} in:\n{self}");
        }
        assert!(self.stderr.contains("help:"), "no help in:\n{self}");
    }

    #[track_caller]
    pub fn shows(&self, text: &str) -> &Self {
        assert!(self.stdout.contains(text) || self.stderr.contains(text), "no {text:?} in:\n{self}");
        self
    }

    /// All JSON objects of this type on standard output, as a list.
    pub fn every(&self, kind: &str) -> serde_json::Value {
        let objects = self.stdout.lines().map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap());
        objects.filter(|o| o["type"] == kind).collect()
    }

    /// The one JSON object of this type on standard output.
    #[track_caller]
    pub fn json(&self, kind: &str) -> serde_json::Value {
        let objects = self.stdout.lines().map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap());
        objects.rev().find(|o| o["type"] == kind).unwrap_or_else(|| panic!("no {kind} in:\n{self}"))
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\n--- stdout\n{}--- stderr\n{}", self.status, self.stdout, self.stderr)
    }
}

/// A fenced reply as the rules ask for it.
pub fn reply(rust: &str) -> String {
    format!("```rust implementation\n{rust}\n```\n")
}

/// The tool while it runs.
pub struct Running {
    child: Child,
    lines: Receiver<String>,
    heard: String,
}

impl Running {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (send, lines) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                // Nobody listens any more when the test has failed.
                drop(send.send(line));
            }
        });
        Self { child, lines, heard: String::new() }
    }

    /// Waits until it has said this on standard error.
    #[track_caller]
    pub fn says(&mut self, text: &str) {
        let deadline = Instant::now() + Duration::from_secs(90);
        while !self.heard.contains(text) {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line.unwrap_or_else(|_| panic!("it never said {text:?}:\n{}", self.heard));
            self.heard += &(line + "\n");
        }
    }

    /// Ctrl-C; then how it ended and after how long.
    pub fn interrupt(self) -> (Ran, Duration) {
        let pid = i32::try_from(self.child.id()).unwrap();
        // SAFETY: a plain system call; the process is a child that nobody has waited for yet.
        unsafe { libc::kill(pid, libc::SIGINT) };
        self.ends()
    }

    /// How it ends, and after how long.
    pub fn ends(mut self) -> (Ran, Duration) {
        let started = Instant::now();
        let status = self.child.wait().unwrap();
        let took = started.elapsed();
        let mut stdout = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        while let Ok(line) = self.lines.recv_timeout(Duration::from_secs(1)) {
            self.heard += &(line + "\n");
        }
        let ran = Ran { status, stdout, stderr: std::mem::take(&mut self.heard) };
        ran.no_panic();
        (ran, took)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
