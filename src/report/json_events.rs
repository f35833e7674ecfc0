//! Events and results as JSON: one object per line, each with its `type` and the `version` of the format.

use super::settle;
use crate::error::{Error, ErrorKind};
use crate::event::{Event, Reporter};
use crate::verdict::{Finding, RunStats};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::io::Write;

/// Version of every object; it increases when a field changes its meaning or disappears.
pub const FORMAT_VERSION: u32 = 1;

/// Writes events to standard output.
pub struct Json {
    out: Box<dyn Write>,
}

impl Json {
    /// Writes to standard output.
    pub fn stdout() -> Self {
        Self::to(Box::new(std::io::stdout()))
    }

    /// Writes to any stream.
    pub fn to(out: Box<dyn Write>) -> Self {
        Self { out }
    }
}

impl Reporter for Json {
    fn event(&mut self, event: Event) {
        let (kind, fields) = object(event);
        settle(self.out.write_all(line(kind, &fields).as_bytes()).and_then(|()| self.out.flush()));
    }
}

/// One object with its line break.
pub(super) fn line<T: Serialize>(kind: &str, value: &T) -> String {
    format!("{}\n", typed(kind, value))
}

/// An object with its type and version. A value that is not an object is put in the field `value`.
fn typed<T: Serialize>(kind: &str, value: &T) -> Value {
    let value =
        serde_json::to_value(value).unwrap_or_else(|error| json!({ "unprintable": error.to_string() }));
    let mut object = Map::new();
    object.insert("type".into(), kind.into());
    object.insert("version".into(), FORMAT_VERSION.into());
    match value {
        Value::Object(fields) => {
            object.extend(fields.into_iter().filter(|(key, _)| key != "type" && key != "version"))
        }
        other => drop(object.insert("value".into(), other)),
    }
    Value::Object(object)
}

/// An error as an object of type `error`, with its line break.
pub(super) fn error_line(error: &Error) -> String {
    format!("{}\n", error_json(error))
}

/// An error as an object of type `error`.
pub fn error_json(error: &Error) -> Value {
    let kind = match error.kind() {
        ErrorKind::Environment => "environment",
        ErrorKind::Usage => "usage",
        ErrorKind::Config => "config",
        ErrorKind::C => "c",
        ErrorKind::Build => "build",
        ErrorKind::Model => "model",
        ErrorKind::Store => "store",
        ErrorKind::Io => "io",
        ErrorKind::Budget => "budget",
        ErrorKind::Interrupted => "interrupted",
        ErrorKind::Internal => "internal",
    };
    let exit_code = error.kind().exit_code() as u8;
    let fields = json!({
        "kind": kind, "code": error.kind().code(), "message": error.to_string(), "help": error.help_text(), "exit_code": exit_code,
    });
    typed("error", &fields)
}

fn object(event: Event) -> (&'static str, Value) {
    match event {
        Event::StepStarted { step, total } => ("step-started", json!({ "step": step, "total": total })),
        Event::StepProgress { done, total } => ("step-progress", json!({ "done": done, "total": total })),
        Event::StepFinished { message } => ("step-finished", json!({ "message": message })),
        Event::Note { text } => ("note", json!({ "text": text })),
        Event::Warning { text, help } => ("warning", json!({ "text": text, "help": help })),
        Event::SymbolStarted { symbol, work, index, total } => {
            ("symbol-started", json!({ "symbol": symbol, "work": work, "index": index, "total": total }))
        }
        Event::SymbolStep { symbol, attempt, step } => {
            ("symbol-step", json!({ "symbol": symbol, "attempt": attempt, "step": step }))
        }
        Event::Fuzzing { symbol, stats } => {
            ("fuzzing", json!({ "symbol": symbol, "stats": stats_json(&stats) }))
        }
        Event::Found { symbol, finding } => {
            ("found", json!({ "symbol": symbol, "finding": finding_json(&finding) }))
        }
        Event::CFault { symbol, id, what } => {
            ("c-fault", json!({ "symbol": symbol, "id": id, "what": what }))
        }
        Event::TestGen { symbol, event } => ("testgen-event", json!({ "symbol": symbol, "what": event })),
        Event::Evolved { round, rounds } => ("evolved", json!({ "round": round, "rounds": rounds })),
        Event::SymbolFinished { symbol, ok, grade, summary } => {
            ("symbol-finished", json!({ "symbol": symbol, "ok": ok, "grade": grade, "summary": summary }))
        }
    }
}

/// A finding: its input in hexadecimal digits, its named parts as objects in order.
pub fn finding_json(finding: &Finding) -> Value {
    let input: String = finding.input.iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = |parts: &[(String, String)]| -> Value {
        parts.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect()
    };
    let mut value = json!({
        "class": finding.class.word(), "code": finding.class.code(), "what": finding.what, "input": input, "args": parts(&finding.args),
        "oracle": parts(&finding.oracle), "subject": parts(&finding.subject),
    });
    if let Some(place) = &finding.place {
        value["place"] = json!(place);
    }
    value
}

fn stats_json(stats: &RunStats) -> Value {
    let rejected: Value =
        stats.rejected.iter().map(|(reason, count)| json!({ "reason": reason, "count": count })).collect();
    json!({
        "executions": stats.executions, "oracle_calls": stats.oracle_calls, "subject_calls": stats.subject_calls,
        "rejected": rejected, "accept_rate": stats.accept_rate(), "millis": stats.millis, "edges": stats.edges,
        "seed": stats.seed, "space": stats.space,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::progress::tests::{Buffer, all_events};

    #[test]
    fn every_event_is_one_line_with_type_and_version() {
        let buffer = Buffer::default();
        let mut json = Json::to(Box::new(buffer.clone()));
        let events = all_events();
        let count = events.len();
        events.into_iter().for_each(|event| json.event(event));
        let text = buffer.text();
        let objects: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(objects.len(), count);
        assert!(objects.iter().all(|o| o["type"].is_string() && o["version"] == FORMAT_VERSION));
        let found = objects.iter().find(|o| o["type"] == "found").unwrap();
        assert_eq!((&found["finding"]["input"], &found["symbol"]), (&json!("00ff"), &json!("f")));
    }

    #[test]
    fn errors_carry_help_and_exit_code() {
        let error = Error::new(ErrorKind::Config, "bad").help("mend");
        let value: Value = serde_json::from_str(&error_line(&error)).unwrap();
        assert_eq!((&value["type"], &value["code"]), (&json!("error"), &json!("E0003")));
        assert_eq!((&value["help"], &value["exit_code"]), (&json!("mend"), &json!(2)));
    }

    #[test]
    fn values_that_are_no_objects_keep_their_type() {
        let value: Value = serde_json::from_str(&line("list", &vec![1, 2])).unwrap();
        assert_eq!(value, json!({ "type": "list", "version": 1, "value": [1, 2] }));
        let value: Value = serde_json::from_str(&line("x", &json!({ "type": "evil", "a": 1 }))).unwrap();
        assert_eq!((&value["type"], &value["a"]), (&json!("x"), &json!(1)));
    }
}
