//! What the walls add to `verify --all` of the fixture: the sandbox, and the last part of the isolated replay, with the port
//! as it ships. `cargo bench --bench walls`; with `-- --write` the table goes into docs/walls.md, `-- --rounds N` measures
//! so often.
//!
//! Rounds with and without a sandbox alternate. A round without one runs below a seccomp filter that hides Landlock and
//! seccomp, as old kernels do. The time of the last part is what `verify` says of it.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark fails by panicking, and prints")]
#![allow(clippy::disallowed_methods, reason = "it starts the tool that it measures")]

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use serde_json::Value;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

const HEAD: &str = "# What the sandbox and the replay as it ships cost

Written by `cargo bench --bench walls -- --write`. It measures `verify --all --seconds SECONDS` of all ports of the fixture,
with stored mutation scores and warm builds, in rounds with and without a sandbox. The default is 60 seconds for each
function, where the last part weighs less.

- *sandbox, time*: the median of the ratios of a round with a sandbox and the round without one after it.
- *sandbox, calls*: how much more a call costs with a sandbox: the median over all functions whose inputs were fuzzed.
- *last part*: the share of a round that the last part of the isolated replay takes, in which the port runs as it ships (docs/verdicts.md), all processors together.

";

/// Seconds of fuzzing for each function: a third of the default, so the walls weigh more than they usually do.
const SECONDS: u64 = 20;
/// Seconds of the run that builds and measures what is not stored.
const FIRST_SECONDS: u64 = 2;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let rounds = args.iter().position(|arg| arg == "--rounds").map_or(1, |at| args[at + 1].parse().unwrap());
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dir = scratch.path().join("demo");
    done(&tool(&["demo", dir.to_str().unwrap(), "--seconds", "1"], scratch.path()).output().unwrap());
    let library = dir.join("c-lib");
    // The first one builds for the ports as they are now, and measures what is not stored.
    verified(&library, FIRST_SECONDS, true);
    let (mut ratios, mut calls, mut shares, mut all) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for _ in 0..rounds {
        let (with, symbols) = verified(&library, SECONDS, true);
        let (without, outside) = verified(&library, SECONDS, false);
        ratios.push(with / without);
        let slower = symbols.iter().zip(&outside).filter_map(|(with, without)| {
            assert_eq!(with["symbol"], without["symbol"]);
            Some(calls_a_second(without)? / calls_a_second(with)?)
        });
        calls.push(median(&slower.collect::<Vec<_>>()));
        let spent: u64 = symbols.iter().filter_map(|symbol| symbol["shipped_millis"].as_u64()).sum();
        let processors = std::thread::available_parallelism().unwrap().get() as f64;
        shares.push(spent as f64 / 1000.0 / processors / with);
        all = symbols.len();
    }
    let percent = |ratio: f64| format!("{:+.1} %", 100.0 * ratio);
    let text = format!(
        "| part | adds |\n|---|--:|\n| sandbox, time | {} |\n| sandbox, calls | {} |\n| last part | {} |\n\n{all} ports, \
         {SECONDS} s of fuzzing for each port, rounds: {rounds}.\n",
        percent(median(&ratios) - 1.0),
        percent(median(&calls) - 1.0),
        percent(median(&shares)),
    );
    print!("{text}");
    if args.iter().any(|arg| arg == "--write") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/walls.md");
        let head = HEAD.replace("SECONDS", &SECONDS.to_string());
        std::fs::write(path, format!("{head}{text}")).unwrap();
    }
}

/// Calls of a function in a second of its campaign; none where every input was run.
fn calls_a_second(symbol: &Value) -> Option<f64> {
    let fuzzed = symbol["space"].is_null();
    fuzzed.then(|| Some(symbol["executions"].as_f64()? / symbol["millis"].as_f64()?))?
}

/// The seconds of a run, and its symbols.
fn verified(library: &Path, seconds: u64, sandbox: bool) -> (f64, Vec<Value>) {
    let seconds = seconds.to_string();
    let mut command = tool(&["verify", "--all", "--seconds", &seconds, "--format", "json"], library);
    if !sandbox {
        hide_sandboxes(&mut command);
    }
    let started = Instant::now();
    let output = command.output().unwrap();
    let spent = started.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let warned = events
        .iter()
        .any(|event| event["type"] == "warning" && event["text"].to_string().contains("Landlock"));
    assert_eq!(warned, !sandbox, "{text}");
    let last = events.last().unwrap();
    (spent, last["symbols"].as_array().unwrap_or_else(|| panic!("{last}")).clone())
}

fn tool(args: &[&str], dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-implfuzz"));
    command.arg("implfuzz").args(args).current_dir(dir).env_remove("CARGO_TARGET_DIR");
    command
}

/// Lets a process and all that it starts find no Landlock and no seccomp.
fn hide_sandboxes(command: &mut Command) {
    let calls = [libc::SYS_landlock_create_ruleset, libc::SYS_seccomp];
    let missing = SeccompAction::Errno(u32::try_from(libc::ENOSYS).unwrap());
    let rules = calls.map(|call| (call, Vec::new())).into_iter().collect();
    let arch = std::env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, missing, arch).unwrap();
    let program: BpfProgram = filter.try_into().unwrap();
    // SAFETY: between fork and exec it makes only system calls.
    unsafe {
        command.pre_exec(move || {
            seccompiler::apply_filter(&program).map_err(|_| std::io::Error::last_os_error())
        });
    }
}

fn done(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}
