//! The tasks of the process other than fuzzing: writing boundary inputs, decoding inputs, running one input
//! of a replay.
//! Written by cargo-implfuzz.

use super::codec::{Reader, Writer};
use super::driver::{Case, Judged, judge};
use super::guard::{self, Broke};
use super::plain::Plain;
use super::report::{self, Json};
use super::stretch;
use super::tally::SUBJECT_CALLS;
use std::path::Path;
use std::sync::atomic::Ordering;

/// Writes one file for each input, and removes all others. Unchanged files are not rewritten, because file
/// systems are slow at creating many files where many were just removed.
fn write(inputs: &[Vec<u8>], dir: &Path) {
    let mut written = std::collections::BTreeSet::new();
    for (index, input) in inputs.iter().enumerate() {
        let path = dir.join(format!("boundary-{index:04}"));
        if std::fs::read(&path).ok().as_ref() != Some(input) {
            _ = std::fs::remove_file(&path);
            _ = std::fs::write(&path, input);
        }
        written.insert(path);
    }
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if !written.contains(&entry.path()) {
            _ = std::fs::remove_file(entry.path());
        }
    }
}

fn boundaries<C: Case>() -> Vec<Vec<u8>> {
    let encoded = |args: &C::Args| {
        let mut writer = Writer::default();
        C::encode(args, &mut writer);
        writer.bytes
    };
    C::boundaries().iter().map(encoded).collect()
}

pub(super) fn write_seeds<C: Case>(dir: &Path) {
    let mut all = boundaries::<C>();
    all.extend(stretch::at_literals::<C>(&all));
    write(&all, dir);
}

pub(super) fn write_long<C: Case>(dir: &Path) {
    write(&stretch::long::<C>(&boundaries::<C>()), dir);
}

pub(super) fn show_input<C: Case>(data: &[u8]) {
    guard::choose_errno(data);
    let args = stretch::args::<C>(data);
    let tell = |oracle| report::send("shown", &[("args", Json::Parts(C::show(&args))), ("oracle", Json::Parts(oracle))]);
    // C may end the process, so report the arguments first. The last report counts.
    tell(Vec::new());
    tell(match C::oracle(&args, C::original()) {
        Ok(effects) => C::effects(&effects),
        Err(Broke(reason)) => vec![("rejected".into(), reason)],
    });
}

/// Reports for each line the input that it denotes, or why it is invalid.
pub(super) fn read_inputs<C: Case>(lines: &str) {
    for (number, line) in lines.lines().enumerate() {
        let read = Plain::of_text(line).ok_or_else(|| "it is no text of this tool".to_owned());
        let (input, plain, what) = match read.and_then(|plain| encoded::<C>(&plain)) {
            Ok((input, plain)) => (report::hex(&input), plain.text(), String::new()),
            Err(why) => (String::new(), String::new(), why),
        };
        let fields = [
            ("number", Json::Number(number as u64)),
            ("input", Json::Text(input)),
            ("plain", Json::Text(plain)),
            ("what", Json::Text(what)),
        ];
        report::send("read", &fields);
    }
}

/// The encoded input, and its decoded form, which must equal `plain`; otherwise the input is invalid.
fn encoded<C: Case>(plain: &Plain) -> Result<(Vec<u8>, Plain), String> {
    let args = C::of_plain(plain)?;
    let mut writer = Writer::default();
    C::encode(&args, &mut writer);
    let (meant, back) = (C::plain(&args), C::plain(&C::decode(&mut Reader::new(&writer.bytes))));
    match meant == back {
        true => Ok((writer.bytes, back)),
        false => Err(format!("the contract has no such input: {}", unlike(&meant, &back, ""))),
    }
}

/// The first difference between the two, in words.
fn unlike(meant: &Plain, back: &Plain, place: &str) -> String {
    match (meant, back) {
        (Plain::Object(a), Plain::Object(b)) if a.len() == b.len() => {
            let other = a.iter().zip(b).find(|(a, b)| a != b);
            other.map_or_else(String::new, |((name, a), (_, b))| unlike(a, b, name))
        }
        // The decoded value does not show the valid range, because decoding maps other values into it; so it
        // is not mentioned.
        (Plain::Integer(a), Plain::Integer(_)) => format!("`{place}` cannot be {a}"),
        (Plain::Bytes(a), Plain::Bytes(b)) if a.contains(&0) && !b.contains(&0) => {
            format!("`{place}` is a text, and has a NUL")
        }
        (Plain::Bytes(a), Plain::Bytes(b)) => match a.len().cmp(&b.len()) {
            std::cmp::Ordering::Less => format!("`{place}` has {} bytes, which are too few", a.len()),
            std::cmp::Ordering::Equal => format!("`{place}` has bytes that cannot stand there"),
            std::cmp::Ordering::Greater => format!("`{place}` has {} bytes, which are too many", a.len()),
        },
        (Plain::List(a), Plain::List(b)) if a.len() == b.len() => {
            let other = a.iter().zip(b).enumerate().find(|(_, (a, b))| a != b);
            other.map_or_else(String::new, |(at, (a, b))| unlike(a, b, &format!("{place}[{at}]")))
        }
        (Plain::List(a), Plain::List(_)) => format!("`{place}` cannot have {} elements", a.len()),
        _ => format!("`{place}` is read as something else"),
    }
}

/// The result of an input in a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replayed {
    /// C rejected the input, the port did not return, or C runs alone.
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
