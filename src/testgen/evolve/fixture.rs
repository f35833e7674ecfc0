//! Runs for tests.

use super::history::Past;
use super::reasoner::ROLE;
use super::resources::Resources;
use crate::config::Config;
use crate::event::{Event, Reporter};
use crate::llm::Usage;
use crate::llm::model_session::{Asks, ModelSession};
use crate::platform::process::Interrupt;
use crate::platform::workspace::Workspace;
use crate::store::{Store, SymbolRow};
use crate::symbol::{Function, SymbolKey};
use crate::test_record::{TestGenConfig, TestGenRun, fixture};
use crate::testgen::fixture::function;
use serde_json::json;
use std::path::Path;

/// A run of configuration 1 that has a score and no other measurements.
pub fn run(number: u32, symbol: &str, score: Option<u32>) -> TestGenRun {
    fixture::run(number, SymbolKey(format!("c:@F@{symbol}")), score)
}

/// A past run under the default configuration.
pub fn past(run: TestGenRun) -> Past {
    let name = run.symbol.0.trim_start_matches("c:@F@").to_owned();
    Past { run, name, config: TestGenConfig::default() }
}

/// A directory with a database that knows the functions `f` and `g`, a model session with recorded replies, and a
/// reporter that keeps its events.
pub struct Bench {
    _dir: tempfile::TempDir,
    pub store: Store,
    pub models: ModelSession,
    pub functions: Vec<Function>,
    pub heard: Heard,
}

#[derive(Default)]
pub struct Heard(pub Vec<Event>);

impl Reporter for Heard {
    fn event(&mut self, event: Event) {
        self.0.push(event);
    }
}

impl Bench {
    /// `replies` are the answers to the first question about `f`, the second one, and so on; `None` is not
    /// recorded.
    pub fn new(replies: &[Option<&str>]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(dir.path().join("recorded/f")).unwrap();
        for (attempt, reply) in (1..).zip(replies) {
            record(&dir.path().join("recorded"), attempt, *reply);
        }
        let mut config = Config::default();
        config.llm.replay_dir = Some("recorded".into());
        let workspace = Workspace::create(dir.path()).unwrap();
        let mut store = Store::open(&dir.path().join("state.db")).unwrap();
        let functions: Vec<Function> = ["f", "g"].map(|name| function(name, "int f(void);", vec![])).into();
        let rows: Vec<SymbolRow> = functions.iter().map(SymbolRow::of).collect();
        store.save_symbols(&rows).unwrap();
        let asks = Asks { command: "testgen evolve", roles: &[ROLE], config: &config, workflow: None };
        let models = ModelSession::open(&workspace, &mut store, asks, &Interrupt::none()).unwrap();
        Self { _dir: dir, store, models, functions, heard: Heard::default() }
    }

    pub fn resources(&mut self) -> Resources<'_> {
        Resources { store: &mut self.store, models: &mut self.models, reporter: &mut self.heard }
    }
}

fn record(dir: &Path, attempt: u32, reply: Option<&str>) {
    let Some(text) = reply else { return };
    let usage = serde_json::to_value(Usage::default()).unwrap();
    let reply = json!({"text": text, "stop": "end", "usage": usage, "model": "recorded", "latency_ms": 1});
    let recording = json!({
        "version": 1, "symbol": "f", "role": ROLE, "attempt": attempt, "enlarged": false, "prompt_sha256": "",
        "system": [], "messages": [], "max_tokens": 1, "outcome": {"reply": reply},
    });
    fs_err::write(dir.join(format!("f/{attempt:02}-{ROLE}.json")), recording.to_string()).unwrap();
}
