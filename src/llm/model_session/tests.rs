use super::*;
use crate::llm::{Message, Speaker, Usage};
use crate::store::SymbolRow;
use crate::testgen::fixture::function;
use serde_json::json;

/// A session whose model gives recorded replies, in a directory with a database.
struct Bench {
    dir: tempfile::TempDir,
    store: Store,
    session: ModelSession,
    function: Function,
}

const ROLE: &str = "testgen";

struct Deaf;

impl Reporter for Deaf {
    fn event(&mut self, _: Event) {}
}

impl Bench {
    fn new(max_tokens_per_run: Option<u64>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.llm.replay_dir = Some("recorded".into());
        config.llm.max_tokens_per_run = max_tokens_per_run;
        fs_err::create_dir_all(dir.path().join("recorded/f")).unwrap();
        let workspace = Workspace::create(dir.path()).unwrap();
        let mut store = Store::open(&dir.path().join("state.db")).unwrap();
        let function = function("f", "int f(void);", vec![]);
        store.save_symbols(&[SymbolRow::of(&function)]).unwrap();
        let asks = Asks { command: "a test", roles: &[ROLE], config: &config, workflow: None };
        let session = ModelSession::open(&workspace, &mut store, asks, &Interrupt::none()).unwrap();
        Self { dir, store, session, function }
    }

    fn record(&self, file: &str, outcome: serde_json::Value) {
        let recording = json!({
            "version": 1, "symbol": "f", "role": ROLE, "attempt": 1, "enlarged": file.contains("enlarged"), "prompt_sha256": "",
            "system": [], "messages": [], "max_tokens": 1, "outcome": outcome,
        });
        fs_err::write(self.dir.path().join(format!("recorded/f/01-{file}.json")), recording.to_string())
            .unwrap();
    }

    fn prompt(&self) -> Prompt {
        Prompt {
            role: ROLE.into(),
            symbol: self.function.name.clone(),
            attempt: 1,
            enlarged: false,
            system: Vec::new(),
            messages: vec![Message { speaker: Speaker::User, text: "tests".into() }],
            max_tokens: 1_000,
        }
    }

    /// What is answered, by both ways of asking.
    fn asked(&mut self) -> [std::result::Result<String, String>; 2] {
        [false, true].map(|parts| {
            let prompt = self.prompt();
            let ask = if parts { ModelSession::ask_for_parts } else { ModelSession::ask };
            let caller =
                Caller { store: &mut self.store, reporter: &mut Deaf, interrupt: &Interrupt::none() };
            let question = Question { function: &self.function, traced: Traced::default(), prompt };
            let answer = ask(&mut self.session, caller, question).unwrap();
            let is_silent = self.session.silence(&self.function).is_some();
            assert!(!is_silent || answer.is_err(), "{answer:?}");
            answer.map(|reply| reply.text)
        })
    }
}

fn reply(text: &str, stop: &str) -> serde_json::Value {
    let usage = serde_json::to_value(Usage::default()).unwrap();
    json!({"reply": {"text": text, "stop": stop, "usage": usage, "model": "recorded", "latency_ms": 1}})
}

#[test]
fn what_was_cut_off_is_asked_for_once_more() {
    let mut bench = Bench::new(None);
    bench.record(ROLE, reply("half", "max_tokens"));
    bench.record("testgen-enlarged", reply("whole", "end"));
    assert_eq!(bench.asked(), [Ok("whole".to_owned()), Ok("whole".to_owned())]);
}

#[test]
fn a_part_is_an_answer_only_to_whoever_can_use_one() {
    let mut bench = Bench::new(None);
    bench.record(ROLE, reply("half", "max_tokens"));
    let unrecorded = Err("no answer was recorded".to_owned());
    assert_eq!(bench.asked(), [unrecorded, Ok("half".to_owned())]);
    bench.record("testgen-enlarged", json!({"error": {"message": "HTTP 500"}}));
    let [whole, part] = bench.asked();
    assert!(whole.unwrap_err().contains("HTTP 500"));
    assert_eq!(part.as_deref(), Ok("half"));

    // Room for one answer, and none for the longer one.
    let mut bench = Bench::new(Some(1_500));
    bench.record(ROLE, reply("half", "max_tokens"));
    let [whole, part] = bench.asked();
    assert!(whole.unwrap_err().contains("budget"));
    assert_eq!(part.as_deref(), Ok("half"));

    // Of nothing there is no part.
    let mut bench = Bench::new(None);
    bench.record(ROLE, json!({"error": {"message": "HTTP 500"}}));
    assert!(bench.asked().iter().all(|answer| answer.as_ref().is_err_and(|why| why.contains("HTTP 500"))));
}

#[test]
fn a_question_that_finds_no_room_beside_others_is_asked_after_them() {
    let asked = |limit| {
        let mut bench = Bench::new(Some(limit));
        bench.record(ROLE, reply("whole", "end"));
        let (function, prompts) = (bench.function.clone(), [(); 3].map(|()| bench.prompt()));
        let question = |prompt| Question { function: &function, traced: Traced::default(), prompt };
        let questions = prompts.map(question).into();
        let caller = Caller { store: &mut bench.store, reporter: &mut Deaf, interrupt: &Interrupt::none() };
        let answers = bench.session.ask_all(caller, questions, 3).unwrap();
        answers.iter().filter(|answer| answer.as_ref().is_ok_and(|reply| reply.text == "whole")).count()
    };
    // Room for all three at once; for one at a time, which uses nothing of it; for none.
    assert_eq!([10_000, 1_500, 500].map(asked), [3, 3, 0]);
}

#[test]
fn a_run_that_ports_nothing_counts_under_no_workflow() {
    let bench = Bench::new(None);
    let run = bench.store.runs().unwrap().into_iter().find(|run| run.id == bench.session.id).unwrap();
    assert_eq!(run.workflow, None);
}
