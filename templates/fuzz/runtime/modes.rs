//! What the process answers beside fuzzing: inputs worth trying first, what an input means, one input of a replay. Written by cargo-implfuzz.

use super::codec::{Reader, Writer};
use super::driver::{Case, Judged, judge};
use super::guard::Broke;
use super::report::{self, Json};
use super::tally::SUBJECT_CALLS;
use std::path::Path;
use std::sync::atomic::Ordering;

pub(super) fn write_seeds<C: Case>(dir: &Path) {
    for (index, args) in C::boundaries().iter().enumerate() {
        let mut writer = Writer::default();
        C::encode(args, &mut writer);
        _ = std::fs::write(dir.join(format!("boundary-{index:04}")), writer.bytes);
    }
}

pub(super) fn show_input<C: Case>(data: &[u8]) {
    let args = C::decode(&mut Reader::new(data));
    let tell = |oracle| report::send("shown", &[("args", Json::Parts(C::show(&args))), ("oracle", Json::Parts(oracle))]);
    // C may end the process; what is told last counts.
    tell(Vec::new());
    tell(match C::oracle(&args, C::original()) {
        Ok(effects) => C::effects(&effects),
        Err(Broke(reason)) => vec![("rejected".into(), reason)],
    });
}

/// What came of an input in a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replayed {
    /// C rejected it, the port was left in its middle, or nothing stands beside C.
    NotReturned,
    Same,
    Differs,
}

pub(super) fn replay_input<C: Case>(data: &[u8]) -> Replayed {
    let before = SUBJECT_CALLS.load(Ordering::Relaxed);
    let judged = judge::<C>(data);
    match (SUBJECT_CALLS.load(Ordering::Relaxed) > before, judged) {
        (false, _) => Replayed::NotReturned,
        (true, Judged::Found(_)) => Replayed::Differs,
        (true, _) => Replayed::Same,
    }
}
