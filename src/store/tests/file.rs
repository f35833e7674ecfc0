//! The database as a file: older and newer versions of it, and damage.

use super::*;
use crate::test_record::{TestGenConfig, TestGenRun, fixture};

fn names(store: &Store) -> Vec<String> {
    store.names().unwrap().into_values().map(|name| name.to_string()).collect()
}

/// A database with these rows, as an earlier version of the tool left it.
fn of_version(version: usize, rows: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    let old = Connection::open(&path).unwrap();
    for sql in &migrate::MIGRATIONS[..version] {
        old.execute_batch(sql).unwrap();
    }
    old.pragma_update(None, "user_version", version as i64).unwrap();
    old.execute_batch(rows).unwrap();
    (dir, path)
}

#[test]
fn a_database_of_the_first_version_keeps_what_it_holds() {
    let (_dir, path) = of_version(
        1,
        "INSERT INTO symbols VALUES ('c:@F@f', 'f', 'a.c', 1, 'a', 'function', NULL, '00', 0, 1);",
    );
    let store = Store::open(&path).unwrap();
    assert_eq!(names(&store), ["f"]);
    assert_eq!(store.kept(AnalysisKind::Library, "", "").unwrap(), None);
}

#[test]
fn calls_from_before_phases_were_kept_have_none() {
    let (_dir, path) = of_version(
        3,
        "INSERT INTO symbols VALUES ('c:@F@a', 'a', 'a.c', 1, 'a', 'function', NULL, '00', 0, 1);
         INSERT INTO runs VALUES (7, 'port a', 'unified', 'p', 'm', '0', 1, '1', '2026-01-01T00:00:00Z', NULL, 'done');
         INSERT INTO attempts VALUES
             (1, 7, 'c:@F@a', 1, 'prototyper', 'accepted', '', NULL, 9, '2026-01-01T00:00:00Z');
         INSERT INTO model_calls VALUES (1, 7, 'c:@F@a', 'prototyper', 1, 'p', 'm', 100, 10, 0, 0, 1, NULL, 5, 'end', 'ff',
             NULL, '2026-01-01T00:00:00Z');",
    );
    let mut store = Store::open(&path).unwrap();
    let [paid] = &store.calls(None, None).unwrap()[..] else { panic!("there was one call") };
    assert_eq!((paid.run, paid.call.input_tokens), (RunId(7), 100));
    assert_eq!((&paid.call.phase, paid.call.step, paid.call.retries), (&None, None, None));
    assert_eq!(store.attempts(Some(RunId(7))).unwrap()[0].outcome, "accepted");
    assert_eq!(store.steps(None, None).unwrap(), []);
    let new = NewStep {
        run: RunId(7),
        symbol: &SymbolKey("c:@F@a".into()),
        phase: "compilation",
        step: "build",
        why: "",
    };
    store.begin_step(&new).unwrap();
}

#[test]
fn a_database_of_version_8_gets_the_tables_and_keeps_what_it_holds() {
    let (_dir, path) = of_version(
        8,
        "INSERT INTO symbols VALUES ('c:@F@a', 'a', 'a.c', 1, 'a', 'function', NULL, '00', 0, 1);
         INSERT INTO runs VALUES (7, 'port a', 'unified', 'p', 'm', '0', 1, '1', '2026-01-01T00:00:00Z', NULL, 'done');",
    );
    let mut store = Store::open(&path).unwrap();
    assert_eq!((names(&store), store.runs().unwrap()[0].id), (vec!["a".to_owned()], RunId(7)));
    let config = store.save_testgen_config(&TestGenConfig::default()).unwrap();
    let run = TestGenRun { session: Some(7), config, ..fixture::run(1, symbol("a").key, Some(1)) };
    store.save_testgen_run(&run, &[]).unwrap();
    assert_eq!(store.testgen_stats().unwrap().overall.runs, 1);
}

#[test]
fn lessons_that_no_prompt_ever_had_go() {
    let (_dir, path) = of_version(
        13,
        "INSERT INTO memory (kind, key, text, confidence, source, proven, created, last_used) VALUES
             ('archetype', 'a', '', 0.5, '', 1, 1, 1), ('constraint', 'b', '', 0.5, '', 1, 1, 1),
             ('insight', 'c', '', 0.5, '', 1, 1, 1), ('known_fix', 'd', 'this', 0.5, '', 1, 1, 1);",
    );
    let rows = Store::open(&path).unwrap().memory().unwrap();
    assert_eq!(rows.iter().map(|row| row.item.lesson.key.as_str()).collect::<Vec<_>>(), ["d"]);
}

#[test]
fn a_database_of_version_15_keeps_the_last_verdicts() {
    let (_dir, path) = of_version(
        15,
        "INSERT INTO symbols VALUES ('c:@F@a', 'a');
         INSERT INTO evidence VALUES ('c:@F@a', 'ab', 'cd', 'ef', '01', 'weak', 7, 0.5, '[]', 'hand', '2026-01-01T00:00:00Z',
             '[\"too few inputs\"]', '{}');",
    );
    let store = Store::open(&path).unwrap();
    // Without a seal it confirms no record.
    let before = LastVerdict { seal: String::new(), ..verdict(&symbol("a").key, Grade::Weak) };
    assert_eq!(store.last_verdict(&symbol("a").key).unwrap(), Some(before));
}

#[test]
fn an_empty_database_is_migrated_and_stays_at_its_version() {
    let (dir, store) = fresh();
    drop(store);
    let path = dir.path().join("state.db");
    let version = |path: &Path| -> i64 {
        let connection = Connection::open(path).unwrap();
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
    };
    assert_eq!(version(&path), 18);
    let mut store = Store::open(&path).unwrap();
    store.save_symbols(&[symbol("a")]).unwrap();
    drop(store);
    assert_eq!(names(&Store::open(&path).unwrap()), ["a"], "a second open loses nothing");
}

#[test]
fn a_newer_database_is_left_alone() {
    let (dir, store) = fresh();
    drop(store);
    let path = dir.path().join("state.db");
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let error = Store::open(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Store);
    assert!(error.to_string().contains("version 99"), "{error}");
    assert!(error.help_text().unwrap().contains("cargo install --locked --path ."));
}

#[test]
fn damage_is_an_error_with_the_mending_command() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    std::fs::write(&path, "this is no database, and long enough to be looked at".repeat(100)).unwrap();
    let error = Store::open(&path).unwrap_err();
    assert!(error.to_string().contains("is damaged"), "{error}");
    assert!(error.help_text().unwrap().starts_with("mv "), "{error}");
}

#[test]
fn damage_inside_is_found_by_the_query_that_meets_it() {
    let (dir, mut store) = fresh();
    let rows: Vec<_> = (0..500).map(|i| symbol(&format!("f{i}"))).collect();
    store.save_symbols(&rows).unwrap();
    drop(store);
    let path = dir.path().join("state.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let from = bytes.len() / 2;
    bytes[from..].fill(0x5a);
    std::fs::write(&path, bytes).unwrap();
    let error = Store::open(&path).and_then(|store| store.names()).unwrap_err();
    assert!(error.to_string().contains("is damaged"), "{error}");
}
