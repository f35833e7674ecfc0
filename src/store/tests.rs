//! Tests of the database as a whole.

mod file;
mod memory;
mod testgen;

use super::*;
use crate::symbol::{SymbolKey, SymbolName};
use crate::verdict::{CFaultKind, Finding, FindingClass, Grade};

fn fresh() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("state.db")).unwrap();
    (dir, store)
}

fn symbol(name: &str) -> SymbolRow {
    SymbolRow { key: SymbolKey(format!("c:@F@{name}")), name: SymbolName::new(name) }
}

fn call(symbol: &SymbolRow, cost: Option<f64>) -> ModelCall {
    ModelCall {
        symbol: Some(symbol.key.clone()),
        input_tokens: 100,
        output_tokens: 10,
        cost,
        ..ModelCall::default()
    }
}

fn finding() -> Finding {
    Finding {
        class: FindingClass::OutOfBounds,
        what: "buffer dst[3]".into(),
        input: vec![0, 255, 1],
        args: vec![("n".into(), "3".into())],
        oracle: vec![("return value".into(), "0".into())],
        subject: vec![],
        place: None,
    }
}

fn verdict(symbol: &SymbolKey, grade: Grade) -> LastVerdict {
    LastVerdict {
        symbol: symbol.clone(),
        c_hash: "ab".into(),
        contract_hash: "cd".into(),
        harness_hash: "ef".into(),
        rust_hash: "01".into(),
        seal: "23".into(),
        grade,
        shortcomings: vec!["too few inputs".into()],
    }
}

fn begin(store: &mut Store, name: &str) -> RunId {
    let run = store.start_run(&NewRun::default()).unwrap();
    let symbol = &symbol(name).key;
    for step in ["ask-prototyper", "audit"] {
        store.begin_step(&NewStep { run, symbol, phase: "compilation", step, why: "" }).unwrap();
    }
    run
}

#[test]
fn symbols_that_are_lost_keep_their_history() {
    let (_dir, mut store) = fresh();
    let (a, b) = (symbol("a"), symbol("b"));
    store.save_symbols(&[b.clone(), a.clone()]).unwrap();
    assert_eq!(store.names().unwrap()[&a.key], a.name);
    let last = verdict(&a.key, Grade::Weak);
    store.put_verdict(&last).unwrap();
    store.save_symbols(std::slice::from_ref(&b)).unwrap();
    let renamed = SymbolRow { name: SymbolName::new("c"), ..b.clone() };
    store.save_symbols(std::slice::from_ref(&renamed)).unwrap();
    let names = store.names().unwrap();
    assert_eq!((names.len(), &names[&a.key], &names[&b.key]), (2, &a.name, &renamed.name));
    assert_eq!(store.last_verdict(&a.key).unwrap(), Some(last));
}

#[test]
fn a_verdict_comes_back_as_it_was_and_the_newest_stays() {
    let (_dir, mut store) = fresh();
    let a = symbol("a");
    store.save_symbols(std::slice::from_ref(&a)).unwrap();
    assert_eq!(store.last_verdict(&a.key).unwrap(), None);
    for grade in [Grade::Stub, Grade::Unjudged, Grade::Stale, Grade::Weak, Grade::Verified, Grade::Refuted] {
        let last = verdict(&a.key, grade);
        store.put_verdict(&last).unwrap();
        assert_eq!(store.last_verdict(&a.key).unwrap(), Some(last));
    }
}

#[test]
fn a_verdict_on_an_unknown_symbol_is_refused() {
    let (_dir, mut store) = fresh();
    let last = verdict(&SymbolKey("none".into()), Grade::Stub);
    assert_eq!(store.put_verdict(&last).unwrap_err().kind(), ErrorKind::Store);
}

#[test]
fn a_finding_is_kept_once() {
    let (_dir, mut store) = fresh();
    let (a, b) = (symbol("a"), symbol("b"));
    store.save_symbols(&[a.clone(), b.clone()]).unwrap();
    let finding = finding();
    let new = NewFinding {
        symbol: &a.key,
        side: Side::Port,
        finding: &finding,
        run: None,
        candidate_sha256: Some("ff".into()),
        c_fault: None,
    };
    let id = store.add_finding(&new).unwrap();
    assert_eq!(store.add_finding(&new).unwrap(), id);
    let other = Finding { input: vec![1], ..finding.clone() };
    assert_ne!(store.add_finding(&NewFinding { finding: &other, ..new.clone() }).unwrap(), id);
    store.add_finding(&NewFinding { symbol: &b.key, ..new.clone() }).unwrap();
    let rows = store.findings(Some(&a.key)).unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!((&rows[0].finding, rows[0].side), (&finding, Side::Port));
    assert_eq!(store.findings(None).unwrap().len(), 3);
}

#[test]
fn every_class_of_finding_comes_back() {
    let (_dir, mut store) = fresh();
    let a = symbol("a");
    store.save_symbols(std::slice::from_ref(&a)).unwrap();
    use FindingClass::*;
    let of_ports =
        [Mismatch, Panic, Abort, Timeout, OutOfMemory, OutOfBounds, Leak, SilentExit, SystemCall, State];
    let c_fault = [HeapBufferOverflow, StackBufferOverflow, GlobalBufferOverflow, UseAfterFree, DoubleFree];
    let rest = [NullDeref, IntegerUb, NonDeterminism];
    for class in of_ports.into_iter().chain(c_fault).chain(rest) {
        let finding = Finding { class, ..finding() };
        let new = NewFinding {
            symbol: &a.key,
            side: Side::C,
            finding: &finding,
            run: None,
            candidate_sha256: None,
            c_fault: Some(CFaultNote { fault: CFaultKind::Breaks, report: "stack" }),
        };
        store.add_finding(&new).unwrap();
        let row = store.findings(None).unwrap().pop().unwrap();
        assert_eq!(
            (row.finding, row.fault, row.report.as_str()),
            (finding, Some(CFaultKind::Breaks), "stack")
        );
    }
}

#[test]
fn totals_count_what_was_spent_and_say_what_is_unknown() {
    let (_dir, mut store) = fresh();
    let (a, b) = (symbol("a"), symbol("b"));
    store.save_symbols(&[a.clone(), b.clone()]).unwrap();
    let run = store.start_run(&NewRun::default()).unwrap();
    let other = store.start_run(&NewRun::default()).unwrap();
    assert_eq!(store.totals(Some(run)).unwrap(), Totals::default());
    store.add_model_call(run, &call(&a, Some(0.25))).unwrap();
    store.add_model_call(run, &call(&a, None)).unwrap();
    store.add_model_call(other, &ModelCall { estimated: true, ..call(&b, None) }).unwrap();
    let totals = store.totals(Some(run)).unwrap();
    assert_eq!((totals.calls, totals.input_tokens), (2, 200));
    assert_eq!((totals.cost, totals.unpriced, totals.estimated), (Some(0.25), 1, false));
    let spent = |run, symbol: &SymbolRow| store.totals_of(run, &symbol.key).unwrap();
    assert_eq!((spent(Some(run), &a).calls, spent(Some(run), &b).calls), (2, 0));
    let all = spent(None, &b);
    assert_eq!((all.calls, all.cost, all.estimated), (1, None, true));
}

#[test]
fn calls_and_attempts_come_back_as_they_were() {
    let (_dir, mut store) = fresh();
    let (a, b) = (symbol("a"), symbol("b"));
    store.save_symbols(&[a.clone(), b.clone()]).unwrap();
    let run = store.start_run(&NewRun::default()).unwrap();
    let new = NewStep { run, symbol: &a.key, phase: "optimization", step: "ask-enhancer", why: "w" };
    let step = store.begin_step(&new).unwrap();
    let call = ModelCall {
        role: "enhancer".into(),
        phase: Some("optimization".into()),
        step: Some(step),
        cached_tokens: 3,
        cache_write_tokens: 4,
        latency_ms: 5,
        retries: Some(1),
        stop_reason: Some("end".into()),
        error: Some("e".into()),
        ..call(&a, Some(0.5))
    };
    store.add_model_call(run, &call).unwrap();
    assert_eq!(store.calls(Some(run), Some(&a.key)).unwrap(), [PaidCall { run, call }]);
    assert_eq!(store.calls(None, Some(&b.key)).unwrap(), []);
    let attempt = Attempt {
        maker: Some("c2rust".into()),
        run,
        symbol: a.key.clone(),
        role: "prototyper".into(),
        outcome: "accepted".into(),
        millis: 5,
    };
    store.add_attempt(&attempt).unwrap();
    assert_eq!(store.attempts(None).unwrap(), [attempt]);
    assert_eq!(store.attempts(Some(RunId(run.0 + 1))).unwrap(), []);
}

#[test]
fn steps_are_numbered_per_symbol_and_run_and_stay_open_until_they_end() {
    let (_dir, mut store) = fresh();
    let (a, b) = (symbol("a"), symbol("b"));
    store.save_symbols(&[a.clone(), b.clone()]).unwrap();
    let [first, second] = [0; 2].map(|_| store.start_run(&NewRun::default()).unwrap());
    let mut begin = |run, symbol: &SymbolRow, step| {
        let new = NewStep { run, symbol: &symbol.key, phase: "compilation", step, why: "because" };
        store.begin_step(&new).unwrap()
    };
    let audit = begin(first, &a, "audit");
    let build = begin(first, &a, "build");
    begin(first, &b, "audit");
    begin(second, &a, "audit");
    store.end_step(audit, ("passed", "all of it"), 12).unwrap();
    let rows = store.steps(Some(first), Some(&a.key)).unwrap();
    let told: Vec<_> = rows.iter().map(|r| (r.number, r.step.as_str(), r.outcome.as_deref())).collect();
    assert_eq!(told, [(1, "audit", Some("passed")), (2, "build", None)]);
    assert_eq!(
        (rows[0].detail.as_str(), rows[0].millis, rows[0].why.as_str()),
        ("all of it", Some(12), "because")
    );
    assert_eq!((rows[1].id, rows[1].millis), (build, None));
    let numbers: Vec<_> = store.steps(None, None).unwrap().iter().map(|r| (r.run, r.number)).collect();
    assert_eq!(numbers, [(first, 1), (first, 2), (first, 1), (second, 1)]);
    let unknown = NewStep { run: first, symbol: &a.key, phase: "later", step: "audit", why: "" };
    assert_eq!(store.begin_step(&unknown).unwrap_err().kind(), ErrorKind::Store);
}

#[test]
fn how_the_last_run_on_a_function_ended_is_kept_until_it_has_a_port() {
    let (dir, mut store) = fresh();
    let (a, b) = (symbol("a"), symbol("b"));
    store.save_symbols(&[a.clone(), b.clone()]).unwrap();
    let run = store.start_run(&NewRun::default()).unwrap();
    let end = |word: &str, reason: &str| LastEnd { run, word: word.into(), reason: reason.into() };
    store.put_end(&a.key, Some(&end("failed", "it loops\nfor ever"))).unwrap();
    store.put_end(&b.key, Some(&end("skipped", ""))).unwrap();
    store.put_end(&b.key, Some(&end("stopped by C", ""))).unwrap();
    drop(store);
    let mut store = Store::open(&dir.path().join("state.db")).unwrap();
    let told = |store: &Store| store.ends().unwrap().values().map(LastEnd::text).collect::<Vec<_>>();
    assert_eq!(told(&store), ["run 1: failed: it loops", "run 1: stopped by C"]);
    store.put_end(&a.key, None).unwrap();
    assert_eq!(told(&store), ["run 1: stopped by C"]);
}

#[test]
fn a_run_ends_once_and_a_killed_one_is_interrupted() {
    let (dir, mut store) = fresh();
    let [done, killed, reused, alive] = [0; 4].map(|_| store.start_run(&NewRun::default()).unwrap());
    store.finish_run(done, RunOutcome::Done).unwrap();
    store.finish_run(done, RunOutcome::Failed).unwrap();
    // No process has this id; another process has the id of the other run.
    let gone = "UPDATE runs SET process = 4194999 WHERE id = ?1";
    store.connection.execute(gone, [killed.0]).unwrap();
    store.connection.execute("UPDATE runs SET process_start = '1' WHERE id = ?1", [reused.0]).unwrap();
    let runs = Store::open(&dir.path().join("state.db")).unwrap().runs().unwrap();
    let outcome = |id| runs.iter().find(|run| run.id == id).unwrap().outcome;
    assert_eq!(outcome(done), Some(RunOutcome::Done));
    assert_eq!(outcome(killed), Some(RunOutcome::Interrupted));
    assert_eq!(outcome(reused), Some(RunOutcome::Interrupted));
    assert_eq!(outcome(alive), None);
}

#[test]
fn many_writers_wait_for_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let mut store = Store::open(&path).unwrap();
                store.save_symbols(&[symbol("a")]).unwrap();
                let run = store.start_run(&NewRun::default()).unwrap();
                for _ in 0..20 {
                    store.add_model_call(run, &call(&symbol("a"), Some(1.0))).unwrap();
                }
                store.finish_run(run, RunOutcome::Done).unwrap();
            });
        }
    });
    let store = Store::open(&path).unwrap();
    assert_eq!(store.totals(None).unwrap().calls, 120);
    assert!(store.runs().unwrap().iter().all(|run| run.outcome == Some(RunOutcome::Done)));
}
