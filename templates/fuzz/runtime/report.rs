//! Reports to the parent: one JSON object per line over an inherited pipe, each with the run's nonce.

use std::fs::File;
use std::io::Write;
use std::os::fd::FromRawFd;
use std::sync::{Mutex, OnceLock};

/// Names with values as text, in order.
pub type Parts = Vec<(String, String)>;

/// A JSON value, as far as reports need it.
pub enum Json {
    Text(String),
    Number(u64),
    Parts(Parts),
    Counts(Vec<(String, u64)>),
}

struct Pipe {
    file: Mutex<File>,
    nonce: String,
}

fn pipe() -> Option<&'static Pipe> {
    static PIPE: OnceLock<Option<Pipe>> = OnceLock::new();
    PIPE.get_or_init(|| {
        let number = std::env::var("IMPLFUZZ_REPORT_FD").ok()?.parse().ok()?;
        let nonce = std::env::var("IMPLFUZZ_NONCE").ok()?;
        // SAFETY: the parent opened this descriptor for this process, and no other code uses it.
        let file = Mutex::new(unsafe { File::from_raw_fd(number) });
        Some(Pipe { file, nonce })
    })
    .as_ref()
}

/// Whether there is a parent to report to.
pub fn listening() -> bool {
    pipe().is_some()
}

/// Sends one line; does nothing without a parent.
pub fn send(kind: &str, fields: &[(&str, Json)]) {
    let Some(pipe) = pipe() else { return };
    let mut line = format!("{{\"nonce\":{},\"type\":{}", quote(&pipe.nonce), quote(kind));
    for (name, value) in fields {
        line.push_str(&format!(",{}:{}", quote(name), json(value)));
    }
    line.push_str("}\n");
    if let Ok(mut file) = pipe.file.lock() {
        // If the parent is gone, there is nothing to do.
        _ = file.write_all(line.as_bytes());
    }
}

fn json(value: &Json) -> String {
    match value {
        Json::Text(text) => quote(text),
        Json::Number(number) => number.to_string(),
        Json::Parts(parts) => {
            list(parts.iter().map(|(name, text)| format!("[{},{}]", quote(name), quote(text))))
        }
        Json::Counts(counts) => list(counts.iter().map(|(name, n)| format!("[{},{n}]", quote(name)))),
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
