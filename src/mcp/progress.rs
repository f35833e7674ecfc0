//! What a client hears while a command runs: the tool's own words about its events, and nothing if it did not ask.

use crate::count::count;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use serde_json::Value;
use std::time::Instant;

/// Tells one client how one command goes on.
pub struct Progress {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    started: Instant,
    last: String,
}

impl Progress {
    /// For the client that asked for this.
    pub fn of(context: &RequestContext<RoleServer>, command: &str) -> Self {
        let (peer, token) = (context.peer.clone(), context.meta.get_progress_token());
        Self { peer, token, started: Instant::now(), last: command.to_owned() }
    }

    /// Sends a message, or the last one again to show that the work goes on. The progress is the elapsed time in seconds,
    /// because the total is unknown.
    pub async fn tell(&mut self, message: Option<String>) {
        let Some(token) = &self.token else { return };
        self.last = message.unwrap_or_else(|| std::mem::take(&mut self.last));
        let seconds = self.started.elapsed().as_secs_f64();
        let told = ProgressNotificationParam::new(token.clone(), seconds).with_message(self.last.clone());
        // A client that has gone hears nothing; the session ends by itself.
        drop(self.peer.notify_progress(told).await);
    }
}

/// An event in words; `None` for those that tell nothing about the progress.
pub fn words(event: &Value) -> Option<String> {
    let text = |key: &str| event[key].as_str();
    let number = |key: &str| event[key].as_u64();
    let of = |words: &str| Some(format!("{}: {words}", text("symbol")?));
    match text("type")? {
        "step-started" => text("step").map(str::to_owned),
        "step-finished" => text("message").map(str::to_owned),
        "symbol-started" => of(&format!("{} ({} of {})", text("work")?, number("index")?, number("total")?)),
        "symbol-step" => of(text("step")?),
        "symbol-finished" => of(text("grade").unwrap_or("done")),
        "fuzzing" => of(&format!("fuzzing, {}", count(event["stats"]["executions"].as_u64()?, "execution"))),
        "found" => of(&format!("found: {}", event["finding"]["class"].as_str()?)),
        "c-fault" => of("C has a fault"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::words;
    use serde_json::json;

    #[test]
    fn events_are_told_in_words_without_their_data() {
        let told = |event| words(&event);
        assert_eq!(
            told(json!({ "type": "step-started", "step": "building", "total": 3 })).unwrap(),
            "building"
        );
        let started =
            json!({ "type": "symbol-started", "symbol": "f", "work": "verify", "index": 1, "total": 2 });
        assert_eq!(told(started).unwrap(), "f: verify (1 of 2)");
        let fuzzing = json!({ "type": "fuzzing", "symbol": "f", "stats": { "executions": 5000 } });
        assert_eq!(told(fuzzing).unwrap(), "f: fuzzing, 5000 executions");
        let found =
            json!({ "type": "found", "symbol": "f", "finding": { "class": "mismatch", "what": "data" } });
        assert_eq!(told(found).unwrap(), "f: found: mismatch");
        let finished = json!({ "type": "symbol-finished", "symbol": "f", "grade": null, "summary": "data" });
        assert_eq!(told(finished).unwrap(), "f: done");
        assert_eq!(told(json!({ "type": "warning", "text": "w" })), None);
        assert_eq!(told(json!({ "type": "verify", "symbols": [] })), None);
    }
}
