//! The tasks of the process other than fuzzing: writing boundary inputs, decoding and showing inputs.
//! Written by cargo-implfuzz.

use super::function::Function;
use super::guard::{self, Broke};
use super::plain::Plain;
use super::report::{self, Json};
use super::stretch;
use std::path::Path;

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

pub(super) fn write_seeds(function: &dyn Function, dir: &Path) {
    let mut all = function.boundaries();
    all.extend(stretch::at_literals(function, &all));
    write(&all, dir);
}

pub(super) fn write_long(function: &dyn Function, dir: &Path) {
    write(&stretch::long(function, &function.boundaries()), dir);
}

pub(super) fn show_input(function: &dyn Function, data: &[u8]) {
    guard::choose_errno(data);
    let args = function.args(data);
    let tell = |oracle| {
        let args = Json::Parts(function.show(&*args));
        report::send("shown", &[("args", args), ("oracle", Json::Parts(oracle))]);
    };
    // C may end the process, so report the arguments first. The last report counts.
    tell(Vec::new());
    tell(match function.original(&*args) {
        Ok(effects) => function.effects(&*effects),
        Err(Broke(reason)) => vec![("rejected".into(), reason)],
    });
}

/// Reports for each line the input that it denotes, or why it is invalid.
pub(super) fn read_inputs(function: &dyn Function, lines: &str) {
    for (number, line) in lines.lines().enumerate() {
        let read = Plain::of_text(line).ok_or_else(|| "it is no text of this tool".to_owned());
        let (input, plain, what) = match read.and_then(|plain| encoded(function, &plain)) {
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
fn encoded(function: &dyn Function, plain: &Plain) -> Result<(Vec<u8>, Plain), String> {
    let args = function.of_plain(plain)?;
    let input = function.encode(&*args);
    let (meant, back) = (function.plain(&*args), function.plain(&*function.decode(&input)));
    match meant == back {
        true => Ok((input, back)),
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
