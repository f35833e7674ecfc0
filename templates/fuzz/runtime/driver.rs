//! Runs one input on both sides: decode, C original, port, comparison. `counts` keeps count, `finding` ends the run
//! with a finding, and `tasks` has the other tasks of the process.

use super::codec::{Reader, Writer};
use super::finding::stop;
use super::function::{Function, Of};
use super::guard::{self, Broke};
use super::tasks::{read_inputs, show_input, write_long, write_seeds};
use super::plain::Plain;
use super::points::Digits;
use super::record::Record;
use super::report::Parts;
use super::counts::{
    EXECUTIONS, IN_SUBJECT, ORACLE_CALLS, PRECONDITION, SUBJECT_CALLS, at_exit, progress, reject, send_stats,
};
use super::stretch::{self, Extent};
use super::{one_side, breaking_input, run_deadline, exhaustive, mutants, port_mutants, port_variables, replay, system_calls};
use libfuzzer_sys::Corpus;
use std::any::Any;
use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// The generated code for one function.
pub trait Case: 'static {
    type Args: 'static;
    type Effects: 'static;
    fn decode(reader: &mut Reader) -> Self::Args;
    fn encode(args: &Self::Args, writer: &mut Writer);
    fn show(args: &Self::Args) -> Parts;
    /// Conversions between arguments and the parent's text.
    fn plain(args: &Self::Args) -> Plain;
    fn of_plain(plain: &Plain) -> Result<Self::Args, String>;
    /// Boundary inputs.
    fn boundaries() -> Vec<Self::Args>;
    /// The parts of the arguments with a variable length.
    fn extents() -> &'static [Extent] {
        &[]
    }
    /// Resizes a part to `n` elements, by truncation or repetition.
    fn resize(_args: &mut Self::Args, _part: usize, _n: usize) {}
    /// Whether the contract's preconditions are met.
    fn admits(args: &Self::Args) -> bool;
    /// The address of the C original.
    fn original() -> *const c_void;
    /// Calls the C original, or `callee` with the same signature, on separate memory.
    fn oracle(args: &Self::Args, callee: *const c_void) -> Result<Self::Effects, Broke>;
    /// Calls the port on separate memory; `Err` names memory that it wrote out of bounds.
    fn subject(args: &Self::Args) -> Result<Self::Effects, String>;
    /// The first difference.
    fn differs(oracle: &Self::Effects, subject: &Self::Effects) -> Option<String>;
    fn effects(effects: &Self::Effects) -> Parts;
    /// The arguments that C finally received, in the form of [`Case::plain`].
    fn given(args: &Self::Args, _effects: &Self::Effects) -> Plain {
        Self::plain(args)
    }
    /// The effects, for the parent.
    fn left(effects: &Self::Effects) -> Plain;
    /// Hashes of all effects, for comparison with another process: equal if there is no difference.
    fn record(effects: &Self::Effects) -> Record;
    /// Whether there is output memory, whose content before the call is not an input.
    const OUTPUTS: bool = false;
    /// The arguments of a point, if there are few enough inputs to enumerate.
    fn point(_digits: &mut Digits) -> Option<Self::Args> {
        None
    }
}

/// A function under test in the list of harnesses.
pub struct Target {
    pub name: &'static str,
    /// Runs an input of the fuzzer.
    pub fuzz: fn(&[u8]) -> Corpus,
    /// Runs a range of points, or writes the input of a point.
    points: fn(exhaustive::Task),
    /// For everything else.
    pub(super) function: &'static dyn Function,
}

impl Target {
    pub const fn of<C: Case>(name: &'static str) -> Self {
        Self { name, fuzz: fuzz::<C>, points: exhaustive::run::<C>, function: Of::<C>::FUNCTION }
    }
}

/// The mutants that replace the port when a harness is measured; the generated crate provides them.
pub struct Mutants {
    /// The unchanged copy of the C function, and its mutants.
    pub of_c: fn(&str) -> Vec<mutants::Function>,
    /// The numbers of the mutants of a port.
    pub of_port: fn(&str) -> &'static [u32],
    /// Activates the mutant with this number; 0 is the unchanged port.
    pub select: fn(u32),
}

thread_local! {
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

pub enum Judged {
    Same,
    Rejected(String),
    Found(Found),
}

pub struct Found {
    pub(super) class: &'static str,
    pub(super) what: String,
    pub(super) oracle: Parts,
    pub(super) subject: Parts,
    /// The value of `errno` before the calls, if the finding depends on it.
    pub(super) errno_decides: Option<i32>,
}

/// Runs an input on both sides, with the `errno` that it chooses before the calls.
pub(super) fn judge(function: &dyn Function, data: &[u8]) -> Judged {
    guard::choose_errno(data);
    function.judge(data)
}

/// The same with `errno` set to 0 before the calls.
pub(super) fn judge_without_errno(function: &dyn Function, data: &[u8]) -> Judged {
    guard::keep_errno_zero();
    judge(function, data)
}

pub(super) fn judge_args<C: Case>(args: &C::Args, input: &dyn Fn() -> Vec<u8>) -> Judged {
    if !C::admits(args) {
        return Judged::Rejected(PRECONDITION.into());
    }
    guard::begin();
    let oracle = match C::oracle(args, C::original()) {
        Ok(effects) => effects,
        Err(Broke(reason)) => return Judged::Rejected(reason),
    };
    ORACLE_CALLS.fetch_add(1, Ordering::Relaxed);
    replay::original_returned();
    match SUBJECT.get() {
        None | Some(Subject::Port) => {}
        Some(Subject::Nobody) => return Judged::Same,
        Some(Subject::Original) => return again(Of::<C>::FUNCTION, args, &oracle),
        Some(Subject::Mutants) => return told(mutants::run(Of::<C>::FUNCTION, args, &oracle, &input())),
        Some(Subject::PortMutants) => return told(port_mutants::run(Of::<C>::FUNCTION, args, &oracle, &input())),
    }
    let held = guard::held();
    let subject = call_port(|| C::subject(args));
    let found = |class, what, subject| {
        Judged::Found(Found { class, what, oracle: C::effects(&oracle), subject, errno_decides: None })
    };
    if let Some(what) = system_calls::made() {
        return found("system-call", what, Vec::new());
    }
    if let Some(what) = port_variables::changed() {
        return found("state", what, Vec::new());
    }
    match subject {
        Err(_) => found("panic", panic_text(), Vec::new()),
        Ok(Err(where_)) => found("out-of-bounds", format!("the port wrote outside of {where_}"), Vec::new()),
        Ok(Ok(subject)) => {
            SUBJECT_CALLS.fetch_add(1, Ordering::Relaxed);
            if let Some(what) = C::differs(&oracle, &subject) {
                return found("mismatch", what, C::effects(&subject));
            }
            drop(subject);
            if guard::held() > held && leaks(Of::<C>::FUNCTION, args) {
                return found("leak", "the port leaks memory that C frees".into(), Vec::new());
            }
            Judged::Same
        }
    }
}

/// Calls the port; the error is a panic.
fn call_port<T>(call: impl FnOnce() -> T) -> std::thread::Result<T> {
    IN_SUBJECT.store(true, Ordering::Relaxed);
    let subject = catch_unwind(AssertUnwindSafe(call));
    IN_SUBJECT.store(false, Ordering::Relaxed);
    subject
}

/// Whether the port keeps more memory than C in each of three more calls. A one-time allocation is not a
/// leak.
fn leaks(function: &dyn Function, args: &dyn Any) -> bool {
    (0..3).all(|_| {
        let before = guard::held();
        drop(function.original(args));
        let between = guard::held();
        drop(call_port(|| function.subject(args)));
        guard::held() - between > between - before
    })
}

/// The message of this thread's last panic.
pub fn panic_text() -> String {
    PANIC.with(|p| p.borrow().clone())
}

/// What the original is compared with.
#[derive(Debug, Clone, Copy)]
enum Subject {
    Port,
    /// Nothing: the original runs alone.
    Nobody,
    /// The original again: a difference shows an error in the harness.
    Original,
    /// Mutants of the original: a mutant without a difference shows a gap in the harness.
    Mutants,
    /// Mutants of the port.
    PortMutants,
}

static SUBJECT: OnceLock<Subject> = OnceLock::new();

fn again(function: &dyn Function, args: &dyn Any, oracle: &dyn Any) -> Judged {
    SUBJECT_CALLS.fetch_add(1, Ordering::Relaxed);
    let (what, subject) = match guard::patiently(|| function.original(args)) {
        Ok(second) => match function.differs(oracle, &*second) {
            Some(what) => (what, function.effects(&*second)),
            None => return Judged::Same,
        },
        Err(Broke(reason)) => (format!("C breaks when it is called again: {reason}"), Vec::new()),
    };
    let oracle = function.effects(oracle);
    Judged::Found(Found { class: "mismatch", what, oracle, subject, errno_decides: None })
}

/// Continues after an input has run on all mutants; ends the process if no mutant is left.
fn told(none_left: bool) -> Judged {
    if none_left {
        SUBJECT_CALLS.store(mutants::CALLS.load(Ordering::Relaxed), Ordering::Relaxed);
        send_stats("done");
        // SAFETY: all mutants are killed, so there is nothing left to do.
        unsafe { libc::_exit(0) };
    }
    SUBJECT_CALLS.store(mutants::CALLS.load(Ordering::Relaxed), Ordering::Relaxed);
    Judged::Same
}

/// Runs the fuzz target once.
fn fuzz<C: Case>(data: &[u8]) -> Corpus {
    guard::choose_errno(data);
    execute::<C>(&stretch::args::<C>(data), &|| data.to_vec())
}

/// Runs one input, counts it, and ends the process on a finding. The caller has chosen `errno`.
pub(super) fn execute<C: Case>(args: &C::Args, input: &dyn Fn() -> Vec<u8>) -> Corpus {
    let executions = EXECUTIONS.fetch_add(1, Ordering::Relaxed) + 1;
    // Some harnesses run a few inputs in a second: their first counts must not be the last ones.
    if executions < 256 || executions % 256 == 0 {
        progress();
    }
    run_deadline::end_if_over(executions);
    match judge_args::<C>(args, input) {
        Judged::Same => Corpus::Keep,
        Judged::Rejected(reason) => {
            reject(reason, input);
            Corpus::Reject
        }
        Judged::Found(found) => stop(Of::<C>::FUNCTION, &input(), found),
    }
}

/// Runs the same arguments again, with the `errno` that another input chose. Does not count it.
pub(super) fn repeat<C: Case>(args: &C::Args, input: &[u8]) {
    if let Judged::Found(found) = judge_args::<C>(args, &|| input.to_vec()) {
        stop(Of::<C>::FUNCTION, input, found);
    }
}

/// Prepares the process: records panics, reports its end, and answers `show` and `seeds` requests.
pub fn init(target: &Target, known: &Mutants) {
    std::panic::set_hook(Box::new(|info| {
        let text = info.to_string().replace('\n', " ");
        PANIC.with(|p| *p.borrow_mut() = text);
    }));
    let millis = std::env::var("IMPLFUZZ_CALL_MS").ok().and_then(|v| v.parse().ok()).unwrap_or(100);
    guard::allow(millis);
    run_deadline::set();
    if std::env::var_os("IMPLFUZZ_ERRNO").is_some_and(|value| value == "0") {
        guard::keep_errno_zero();
    }
    let path = std::env::var_os("IMPLFUZZ_PATH").unwrap_or_default();
    let (function, file) = (target.function, || std::fs::read(&path).unwrap_or_default());
    match std::env::var("IMPLFUZZ_MODE").as_deref() {
        Ok("seeds") => write_seeds(function, Path::new(&path)),
        Ok("long") => write_long(function, Path::new(&path)),
        Ok("show") => show_input(function, &file()),
        Ok("read") => read_inputs(function, &String::from_utf8_lossy(&file())),
        Ok("replay") => {
            if std::env::var_os("IMPLFUZZ_SUBJECT").is_some_and(|subject| subject == "nobody") {
                _ = SUBJECT.set(Subject::Nobody);
            }
            replay::run(target, &path);
        }
        Ok("kills") => {
            mutants::take((known.of_c)(target.name));
            mutants::each(function, &file());
        }
        Ok("apart") => one_side::run(function, &file()),
        Ok("broken") => breaking_input::run(function, &file()),
        Ok(mode @ ("range" | "point")) => {
            let task = exhaustive::Task::from_env(mode, Path::new(&path));
            choose_subject(target, known);
            (target.points)(task);
        }
        _ => return choose_subject(target, known),
    }
    // SAFETY: the request is answered, so there is nothing left to do.
    unsafe { libc::_exit(0) };
}

/// Selects what is compared with the original. From now on the end of the process is reported.
fn choose_subject(target: &Target, known: &Mutants) {
    _ = SUBJECT.set(match std::env::var("IMPLFUZZ_SUBJECT").as_deref() {
        Ok("original") => Subject::Original,
        Ok("mutants") => {
            mutants::take((known.of_c)(target.name));
            Subject::Mutants
        }
        Ok("port-mutants") => {
            port_mutants::take((known.of_port)(target.name), known.select);
            Subject::PortMutants
        }
        _ => {
            system_calls::watch();
            port_variables::watch();
            Subject::Port
        }
    });
    // SAFETY: the registered function lives as long as the process.
    unsafe { libc::atexit(at_exit) };
}
