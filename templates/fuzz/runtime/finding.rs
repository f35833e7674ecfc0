//! Ends a run that has a finding, and reports the smallest input that shows it.
//! Written by cargo-implfuzz.

use super::driver::{Found, Judged, judge_without_errno};
use super::function::Function;
use super::guard;
use super::report::{self, Json, Parts};
use super::shrink::shrink;
use super::counts::send_stats;

/// Reports the smallest input with the same class of finding, and ends the process.
pub(super) fn stop(function: &dyn Function, data: &[u8], found: Found) -> ! {
    // Report it now, because a smaller input may end the process. The last report counts.
    tell(function, data, &found);
    let (data, mut found) = shrink(function, data.to_vec(), found);
    found.errno_decides = errno_decides(function, &data);
    if report::listening() {
        tell(function, &data, &found);
        send_stats("stats");
        // SAFETY: ends the process without the handlers that would report a regular end.
        unsafe { libc::_exit(77) };
    }
    eprintln!("{}: {}", found.class, found.what);
    let args = shown(function, &data, &found);
    for (title, parts) in [("argument", args), ("C", found.oracle), ("Rust", found.subject)] {
        for (name, value) in parts {
            eprintln!("  {title} {name} = {value}");
        }
    }
    eprintln!("  input {}", report::hex(&data));
    std::process::abort();
}

fn tell(function: &dyn Function, data: &[u8], found: &Found) {
    let fields = [
        ("class", Json::Text(found.class.into())),
        ("what", Json::Text(found.what.clone())),
        ("input", Json::Text(report::hex(data))),
        ("args", Json::Parts(shown(function, data, found))),
        ("oracle", Json::Parts(found.oracle.clone())),
        ("subject", Json::Parts(found.subject.clone())),
    ];
    report::send("finding", &fields);
}

/// The arguments, and the `errno` before the calls if the finding depends on it.
fn shown(function: &dyn Function, data: &[u8], found: &Found) -> Parts {
    let mut parts = function.show(&*function.args(data));
    if let Some(errno) = found.errno_decides {
        parts.push(("errno before the call".into(), errno.to_string()));
    }
    parts
}

/// The `errno` before the calls, if there is no finding with 0.
fn errno_decides(function: &dyn Function, data: &[u8]) -> Option<i32> {
    guard::choose_errno(data);
    let errno = guard::errno_on_entry();
    let is_found = |judged| matches!(judged, Judged::Found(_));
    (errno != 0 && !is_found(judge_without_errno(function, data))).then_some(errno)
}
