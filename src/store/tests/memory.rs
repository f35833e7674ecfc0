//! Lessons: merging, doubting, deleting.

use super::*;
use crate::store::lesson::{Confidence, Iteration, Kind, Lesson, Scope};

fn lesson(kind: Kind, at: &str, key: &str) -> Lesson {
    Lesson {
        kind,
        scope: Scope::Symbol(symbol(at).key),
        key: key.into(),
        text: format!("learned at {at}"),
        source: "enhancer".into(),
        proven: true,
    }
}

#[test]
fn lessons_of_one_kind_and_key_are_one() {
    let (_dir, mut store) = fresh();
    store.save_symbols(&[symbol("a"), symbol("b")]).unwrap();
    assert_eq!(store.iteration().unwrap(), Iteration(0));
    begin(&mut store, "a");
    assert_eq!(store.iteration().unwrap(), Iteration(1), "two steps of one port are one iteration");
    let first = store.learn(lesson(Kind::KnownFix, "a", "E0308 m")).unwrap();
    let other = store.learn(lesson(Kind::Decision, "a", "E0308 m")).unwrap();
    begin(&mut store, "b");
    assert_eq!(store.learn(lesson(Kind::KnownFix, "b", "E0308 m")).unwrap(), first);
    let rows = store.memory().unwrap();
    assert_eq!(rows.iter().map(|row| row.id).collect::<Vec<_>>(), [first, other], "the last confirmed first");
    let item = &rows[0].item;
    assert_eq!((item.created, item.last_used), (Iteration(1), Iteration(2)));
    assert_eq!((&item.lesson.scope, item.lesson.text.as_str()), (&Scope::Library, "learned at a"));
    assert!((item.confidence.share() - 0.65).abs() < 1e-12);
}

#[test]
fn lessons_are_doubted_and_forgotten_and_outlive_the_process() {
    let (dir, mut store) = fresh();
    store.save_symbols(&[symbol("a")]).unwrap();
    let (first, other) = (
        store.learn(lesson(Kind::KnownFix, "a", "one")).unwrap(),
        store.learn(lesson(Kind::KnownFix, "a", "two")).unwrap(),
    );
    store.doubt(first).unwrap();
    store.forget(&[other]).unwrap();
    store.doubt(other).unwrap();
    drop(store);
    let [row] = &Store::open(&dir.path().join("state.db")).unwrap().memory().unwrap()[..] else {
        panic!("one is left")
    };
    assert_eq!((row.id, row.item.confidence), (first, Confidence::new(0.25)));
    assert_eq!(row.item.lesson, lesson(Kind::KnownFix, "a", "one"));
}
