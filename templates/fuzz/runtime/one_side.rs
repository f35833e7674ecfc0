//! Runs one side alone in a process, so that it cannot change the memory of the other side or of the code
//! that judges. The parent compares the reports of both processes.
//! Written by cargo-implfuzz.

use super::driver::panic_text;
use super::function::Function;
use super::guard::{self, Broke};
use super::plain::Plain;
use super::record::Record;
use super::report::{self, Json, Parts};
use super::counts::PRECONDITION;
use super::{c_code, call_time_limit, port_variables, system_calls};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Details that are reported on request: the effects for people, and for the parent the arguments and the
/// effects.
struct Told {
    parts: Parts,
    given: Plain,
    left: Plain,
}

enum End {
    Done(Record, Option<Told>),
    Rejected(String),
    Panic(String),
    OutOfBounds(String),
    SystemCall(String),
    State(String),
}

/// Runs the side that IMPLFUZZ_SUBJECT names on the inputs in `file`, from number IMPLFUZZ_FROM on, for
/// IMPLFUZZ_SECONDS seconds; reports the effects of each call. Each input in the file follows its length.
pub(super) fn run(function: &dyn Function, file: &[u8]) {
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let from = number("IMPLFUZZ_FROM").unwrap_or(0) as usize;
    let end = Instant::now() + Duration::from_secs(number("IMPLFUZZ_SECONDS").unwrap_or(60));
    let is_original = std::env::var("IMPLFUZZ_SUBJECT").as_deref() == Ok("original");
    let shown = std::env::var_os("IMPLFUZZ_SHOWN").is_some();
    if !is_original {
        c_code::remove();
        system_calls::watch();
        port_variables::watch();
        call_time_limit::start((number("IMPLFUZZ_CALL_MS").unwrap_or(100) * 10).max(10_000));
    }
    for (at, input) in inputs(file).enumerate().skip(from) {
        if Instant::now() >= end {
            break;
        }
        let outcome = match is_original {
            true => oracle(function, input, shown),
            false => subject(function, input, shown),
        };
        let (state, what, done) = match outcome {
            End::Done(record, told) => ("done", String::new(), Some((record.parts(), told))),
            End::Rejected(why) => ("rejected", why, None),
            End::Panic(text) => ("panic", text, None),
            End::OutOfBounds(place) => ("out-of-bounds", place, None),
            End::SystemCall(what) => ("system-call", what, None),
            End::State(what) => ("state", what, None),
        };
        let (record, told) = done.unwrap_or_default();
        let mut fields = vec![
            ("number", Json::Number(at as u64)),
            ("class", Json::Text(state.to_owned())),
            ("what", Json::Text(what)),
            ("record", Json::Parts(record)),
        ];
        if let Some(Told { parts, given, left }) = told {
            fields.push(("subject", Json::Parts(parts)));
            fields.push(("given", Json::Text(given.text())));
            fields.push(("plain", Json::Text(left.text())));
        }
        report::send("alone", &fields);
    }
    report::send("alone-done", &[]);
}

/// Each input follows its length, four bytes.
pub(super) fn inputs(mut rest: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, tail) = rest.split_first_chunk::<4>()?;
        let (input, tail) = tail.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        rest = tail;
        Some(input)
    })
}

fn done(function: &dyn Function, args: &dyn Any, effects: &dyn Any, shown: bool) -> End {
    let told = || Told {
        parts: function.effects(effects),
        given: function.given(args, effects),
        left: function.left(effects),
    };
    End::Done(function.record(effects), shown.then(told))
}

/// The stack of the harness, bytes.
const ROOMY: libc::rlim_t = 64 << 20;

/// Decodes an input with more stack than a call of a side gets: large structs move through it. Of what was used the kernel
/// takes nothing back, so that the call may have as much.
fn args(function: &dyn Function, input: &[u8]) -> Box<dyn Any> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: writes to the struct, and sets a number for this process.
    let raised = unsafe {
        libc::getrlimit(libc::RLIMIT_STACK, &mut limit) == 0
            && limit.rlim_cur < ROOMY
            && libc::setrlimit(libc::RLIMIT_STACK, &libc::rlimit { rlim_cur: ROOMY.min(limit.rlim_max), ..limit }) == 0
    };
    let args = function.args(input);
    if raised {
        // SAFETY: as above.
        unsafe { libc::setrlimit(libc::RLIMIT_STACK, &limit) };
    }
    args
}

fn oracle(function: &dyn Function, input: &[u8], shown: bool) -> End {
    let args = args(function, input);
    if !function.admits(&*args) {
        return End::Rejected(PRECONDITION.into());
    }
    guard::choose_errno(input);
    match function.original(&*args) {
        Ok(effects) => done(function, &*args, &*effects, shown),
        Err(Broke(reason)) => End::Rejected(reason),
    }
}

/// Overwrites the stack that the next call will use, so that what earlier calls left there helps no port.
#[inline(never)]
fn overwrite_stack() {
    std::hint::black_box(&mut [0xa5_u8; 256 << 10]);
}

fn subject(function: &dyn Function, input: &[u8], shown: bool) -> End {
    let args = args(function, input);
    guard::choose_errno(input);
    overwrite_stack();
    let ended = call_time_limit::watched(|| catch_unwind(AssertUnwindSafe(|| function.subject(&*args))));
    if let Some(what) = system_calls::made() {
        return End::SystemCall(what);
    }
    if let Some(what) = port_variables::changed() {
        return End::State(what);
    }
    match ended {
        Ok(Ok(effects)) => done(function, &*args, &*effects, shown),
        Ok(Err(place)) => End::OutOfBounds(format!("the port wrote outside of {place}")),
        Err(_) => End::Panic(panic_text()),
    }
}
