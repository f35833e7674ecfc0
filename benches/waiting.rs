//! How long `port --all` waits for models, one function at a time and eight: `cargo bench --bench waiting`. With `-- --write`
//! the table goes into docs/waiting.md; `--functions N`, `--latency SECONDS` and `--accept SECONDS` (of acceptance
//! runs) change what is asked.
//!
//! The library is made here, of functions that do not call each other. The model is a server of this machine that gives the
//! right answer to every question, after a while. When what went on is read from the trace that the tool keeps.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark fails by panicking, and prints"
)]
#![allow(clippy::disallowed_methods, reason = "it starts the tool that it measures")]

#[path = "../tests/suite/support/mod.rs"]
mod support;

use cargo_implfuzz::store::Store;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use support::server::{Answer, Server};
use support::wire::Wire;
use support::{clib, reply};

const JOBS: [usize; 2] = [1, 8];
/// Waiting becomes so much shorter, at least.
const SHORTER: f64 = 5.0;
/// Computing takes so much longer than all processors together would need, at most.
const ALLOWED: f64 = 1.2;

/// What is measured is the port, not what harnesses are worth.
const SETTINGS: [&str; 3] = ["grade.measure=false", "grade.least=\"weak\"", "fuzz.loop_executions=20000"];

/// What is ported, and against which server.
#[derive(Debug, Clone, Copy)]
struct Work {
    functions: usize,
    latency: Duration,
    /// Of the acceptance run of each function; shorter than by default, so that the bench ends some day.
    accept: u64,
}

/// From when to when, in seconds.
type Span = (f64, f64);

/// One run of `port --all`, in seconds.
struct Ran {
    jobs: usize,
    wall: f64,
    /// The time of all questions, each for itself.
    asked: f64,
    /// The time in which questions were out and nothing else was under way.
    waiting: f64,
    /// What the tool and all that it started took of the processors.
    processors: f64,
}

impl Ran {
    fn computing(&self) -> f64 {
        self.wall - self.waiting
    }

    /// How much longer computing took than it would with every core busy.
    fn over(&self, cores: usize) -> f64 {
        self.computing() / (self.processors / cores as f64)
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str| {
        let at = args.iter().position(|arg| arg == name)?;
        Some(args[at + 1].parse::<f64>().expect("a number"))
    };
    let work = Work {
        functions: number("--functions").unwrap_or(16.0) as usize,
        latency: Duration::from_secs_f64(number("--latency").unwrap_or(2.0)),
        accept: number("--accept").unwrap_or(10.0) as u64,
    };
    let cores = std::thread::available_parallelism().unwrap().get();
    let rans = JOBS.map(|jobs| {
        eprintln!("port --all -j {jobs}");
        measure(work, jobs)
    });
    let text = table(&rans, cores, work);
    print!("{text}");
    if args.iter().any(|arg| arg == "--write") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/waiting.md");
        std::fs::write(path, format!("{}\n{text}", head(work))).unwrap();
    }
}

fn head(Work { functions, latency, accept }: Work) -> String {
    format!(
        "# Waiting for models\n\n\
         `cargo bench --bench waiting -- --write` wrote this page. It measures `port --all` on {functions} generated functions that do not call each \
         other, with a local server that answers every prompt with a correct port after {} s, and with acceptance runs of {accept} s.\n\n\
         - *asked*: the sum of the durations of all model calls.\n\
         - *waiting*: the time during which at least one model call was open and no computing step ran or waited for a core.\n\
         - *computing*: the rest of the run time.\n\
         - *processors*: processor time of the tool and its child processes. If all cores were busy all the time, computing would take *processors* divided by the number of cores; *over* is *computing* divided by that time.\n",
        latency.as_secs_f32()
    )
}

fn table(rans: &[Ran; 2], cores: usize, Work { functions, latency, accept }: Work) -> String {
    let mut text = "| functions at a time | whole run | asked | waiting | computing | processors | over |\n|---|---|---|---|---|---|---|\n".to_owned();
    for ran in rans {
        writeln!(
            text,
            "| {} | {:.1} s | {:.1} s | {:.1} s | {:.1} s | {:.1} s | {:.2} |",
            ran.jobs,
            ran.wall,
            ran.asked,
            ran.waiting,
            ran.computing(),
            ran.processors,
            ran.over(cores)
        )
        .unwrap();
    }
    let [one, many] = rans;
    let shorter = one.waiting / many.waiting;
    writeln!(
        text,
        "\n{functions} functions, {} s per answer, {accept} s per acceptance run, {cores} cores. With {} functions at a time, the waiting time is {shorter:.1} times shorter (goal: at least \
         {SHORTER}{}), and computing takes {:.2} times as long as it would with all cores busy (goal: at most {ALLOWED}{}).",
        latency.as_secs_f32(),
        many.jobs,
        missed(shorter >= SHORTER),
        many.over(cores),
        missed(many.over(cores) <= ALLOWED)
    )
    .unwrap();
    text
}

fn missed(is_met: bool) -> &'static str {
    if is_met { "" } else { "; missed" }
}

/// `w0` is ported beforehand, so that everything but the functions is built; then all the others, so many at a time.
fn measure(Work { functions, latency, accept }: Work, jobs: usize) -> Ran {
    let dir = clib::scratch(&format!("waiting-{jobs}"));
    library(&dir, functions);
    tool(&dir, &["init", "-q"]);
    let server = Server::with(move |request, _| {
        let number = asked_about(&Wire::OpenAi.asked(request));
        let answer = Wire::OpenAi.says(&reply(&port(number)));
        if number == 0 { answer } else { Answer::Late(latency, Box::new(answer)) }
    });
    let config = Wire::OpenAi.config(&server);
    let accept = format!("fuzz.accept_seconds={accept}");
    let settings: Vec<&str> = SETTINGS
        .into_iter()
        .chain([accept.as_str()])
        .flat_map(|setting| ["--config", setting])
        .chain(config.iter().map(String::as_str))
        .collect();
    tool(&dir, &[&["port", "w0"], &settings[..]].concat());
    let (before, started) = (processors(), Instant::now());
    tool(&dir, &[&["port", "--all", "-j", &jobs.to_string()], &settings[..]].concat());
    let (wall, processors) = (started.elapsed().as_secs_f64(), processors() - before);
    let (asked, computed) = trace(&dir, functions);
    Ran {
        jobs,
        wall,
        asked: asked.iter().map(|(begin, end)| end - begin).sum(),
        waiting: length(&[&asked[..], &computed].concat()) - length(&computed),
        processors,
    }
}

fn library(dir: &Path, functions: usize) {
    let (mut header, mut source) = ("#include <stdint.h>\n".to_owned(), "#include \"w.h\"\n".to_owned());
    for n in 0..=functions {
        writeln!(header, "uint32_t w{n}(uint32_t x);").unwrap();
        writeln!(source, "\nuint32_t w{n}(uint32_t x) {{ return (x ^ {n}u) * 3u + {n}u; }}").unwrap();
    }
    std::fs::write(dir.join("w.h"), header).unwrap();
    std::fs::write(dir.join("w.c"), source).unwrap();
}

fn port(n: usize) -> String {
    format!("pub fn w{n}(x: u32) -> u32 {{\n    (x ^ {n}).wrapping_mul(3).wrapping_add({n})\n}}")
}

/// The number of the function that a prompt is about.
fn asked_about(prompt: &str) -> usize {
    let (_, rest) = prompt.split_once("function `w").unwrap();
    rest[..rest.find('`').unwrap()].parse().unwrap()
}

fn tool(dir: &Path, args: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-implfuzz"));
    command.current_dir(dir).arg("implfuzz").args(args);
    command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("waiting"));
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{args:?}: {}{}", text(&output.stdout), text(&output.stderr));
}

/// When questions were out, and when other steps were under way, in the last run, in seconds.
fn trace(dir: &Path, functions: usize) -> (Vec<Span>, Vec<Span>) {
    let store = Store::open(&dir.join(".implfuzz/state.db")).unwrap();
    let run = store.runs().unwrap().into_iter().map(|run| run.id).max();
    let steps = store.steps(run, None).unwrap();
    let done = steps.iter().filter(|step| step.outcome.as_deref() == Some("accepted") && step.step == "done");
    assert_eq!(done.count(), functions, "not every function was ported");
    let (asked, computed): (Vec<_>, Vec<_>) = steps.iter().partition(|step| step.step.starts_with("ask-"));
    let span = |step: &&cargo_implfuzz::store::StepRow| {
        let begin = step.created.as_millisecond() as f64 / 1e3;
        (begin, begin + step.millis.unwrap() as f64 / 1e3)
    };
    (asked.iter().map(span).collect(), computed.iter().map(span).collect())
}

/// How long any of these goes on.
fn length(spans: &[Span]) -> f64 {
    let mut spans = spans.to_vec();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut sum, mut until) = (0.0, f64::MIN);
    for (begin, end) in spans {
        sum += (end - begin.max(until)).max(0.0);
        until = until.max(end);
    }
    sum
}

/// What processes that this one has started and that have ended took of the processors, in seconds.
fn processors() -> f64 {
    // SAFETY: all zeros is a value of this struct of numbers, which the call fills.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
