//! TestGen runs interrupted at a given moment, within this process: the results that C has already given are kept.

use crate::support::{Repo, clib};
use cargo_implfuzz::config::TEST_ROLES;
use cargo_implfuzz::error::ErrorKind;
use cargo_implfuzz::event::{Event, Reporter};
use cargo_implfuzz::judge::Judge;
use cargo_implfuzz::llm::model_session::{Asks, ModelSession};
use cargo_implfuzz::platform::process::Interrupt;
use cargo_implfuzz::project::{Options, Project};
use cargo_implfuzz::store::Store;
use cargo_implfuzz::test_record::{
    ConfigId, TestCategory, TestGenConfig, TestGenContext, TestGenEvent, TestVerdict,
};
use cargo_implfuzz::testgen::run::generate::{Generated, Request, generate};
use cargo_implfuzz::testgen::run::models::settings;
use cargo_implfuzz::testgen::run::results::run_id;
use serde_json::json;

/// When a run breaks off.
#[derive(Clone, Copy, PartialEq)]
enum At {
    /// C has answered a reply, whose last test is none.
    Dropped,
    /// The model did not answer.
    Silence,
}

/// Does something at that moment.
struct Breaker<'a> {
    at: At,
    deed: &'a dyn Fn(),
}

impl Reporter for Breaker<'_> {
    fn event(&mut self, event: Event) {
        let at = match event {
            Event::TestGen { event: TestGenEvent::Error { .. }, .. } => At::Silence,
            Event::TestGen {
                event: TestGenEvent::Test { verdict: TestVerdict::Dropped { .. }, .. }, ..
            } => At::Dropped,
            _ => return,
        };
        if at == self.at {
            (self.deed)();
        }
    }
}

/// A run on `mixed`, whose model answers once; its harnesses are there already.
fn broken(repo: &Repo, (at, deed): (At, &dyn Fn()), interrupt: &Interrupt) -> Generated {
    let options = Options { dir: Some(repo.root().to_owned()), ..Options::default() };
    let project = Project::open(&options, interrupt).unwrap();
    let cache = project.workspace.cache().join("target");
    drop(std::fs::remove_file(&cache));
    std::os::unix::fs::symlink(clib::target_dir().join("implfuzz"), &cache).unwrap();
    let mut store = Store::open(&project.workspace.state_db()).unwrap();
    let config = TestGenConfig::default();
    let set = settings(&project.config, &config);
    let asks = Asks { command: "a test", roles: &TEST_ROLES[..2], config: &set, workflow: None };
    let mut models = ModelSession::open(&project.workspace, &mut store, asks, interrupt).unwrap();
    let judge = Judge::new(&project, interrupt);
    let context = TestGenContext::Custom(vec![TestCategory::Correctness]);
    let (number, session) = (ConfigId(1), models.id.0);
    let request = Request { run_id: &run_id(), session, number, config: &config, context: &context };
    let planned = project.find("mixed").unwrap();
    let mut breaker = Breaker { at, deed };
    generate((&project, &mut store), (&judge, planned), &mut models, request, &mut breaker).unwrap()
}

/// Lets the model give one answer, a test and one that is none, and fail then.
fn answers_once(repo: &Repo) {
    let good = json!({"id": "first", "input": {"seed": 1, "data": "abc"}});
    let all = json!([good, {"id": "first", "input": {"seed": -1, "data": "abc"}}]);
    repo.model(&[&all.to_string()]);
    let script = repo.aside().join("model/model.sh");
    let text = std::fs::read_to_string(&script).unwrap();
    std::fs::write(&script, text.replace("[ -f", "[ $n = 1 ] || exit 3\n[ -f")).unwrap();
    let config = repo.read("implfuzz.toml");
    repo.write("implfuzz.toml", &config.replace("[llm]\n", "[llm]\nretries = 0\n"));
}

/// In a repository with `mixed`, whose harnesses were built.
pub fn nothing_that_c_has_answered_is_lost(repo: &Repo) {
    for at in [At::Dropped, At::Silence] {
        answers_once(repo);
        let interrupt = Interrupt::none();
        let generated = broken(repo, (at, &|| interrupt.set()), &interrupt);
        assert_eq!(generated.broken_off.as_ref().map(|error| error.kind()), Some(ErrorKind::Interrupted));
        let [test] = &generated.suite.tests[..] else { panic!("{:?}", generated.suite) };
        assert_eq!((test.kills.is_some(), generated.score.total), (at == At::Silence, None));
        assert!(test.cheats.is_empty() && !generated.has_cheats && generated.run.tokens > 0, "{generated:?}");
        // As it is told and kept: the second has a name of its own.
        assert_eq!(generated.suite.dropped[0].test.id, "first-2");
    }
    // The harness is gone: that is told, behind what there is.
    answers_once(repo);
    let bin = repo.root().join(".implfuzz/cache/mutants");
    let generated =
        broken(repo, (At::Dropped, &|| std::fs::remove_dir_all(&bin).unwrap()), &Interrupt::none());
    let why = generated.broken_off.as_ref().unwrap();
    assert!(why.kind() != ErrorKind::Interrupted && generated.why.starts_with("it broke off: "), "{why}");
    assert_eq!((generated.suite.tests.len(), generated.is_whole), (1, false));
}
