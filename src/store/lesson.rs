//! Lessons from earlier ports, and their confidence. Plain data; `port::lessons` decides when to learn and use them.

use crate::symbol::SymbolKey;
use serde::{Deserialize, Serialize};

/// The kind of a lesson.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "kebab-case")]
pub enum Kind {
    /// A change that fixed a failure.
    #[strum(serialize = "known_fix")]
    KnownFix,
    /// Models proposed nothing useful for a function, so none is asked again. It never enters a prompt.
    Decision,
}

impl Kind {
    /// One word, as in tables, JSON and the database.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// Where a lesson was learned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Option<SymbolKey>", into = "Option<SymbolKey>")]
pub enum Scope {
    /// At several functions.
    #[default]
    Library,
    Symbol(SymbolKey),
}

impl Scope {
    /// The scope of a lesson that was learned in both scopes.
    fn joined(&self, other: &Self) -> Self {
        if self == other { self.clone() } else { Self::Library }
    }
}

impl From<Option<SymbolKey>> for Scope {
    fn from(key: Option<SymbolKey>) -> Self {
        key.map_or(Self::Library, Self::Symbol)
    }
}

impl From<Scope> for Option<SymbolKey> {
    fn from(scope: Scope) -> Self {
        if let Scope::Symbol(key) = scope { Some(key) } else { None }
    }
}

/// The number of ports tried so far in this repository, from 1. Lessons age by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Iteration(pub u64);

/// The confidence of a lesson, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Confidence(f64);

impl Confidence {
    /// The confidence of a lesson seen once.
    pub const START: Self = Self(0.5);

    /// The nearest valid confidence; NaN becomes 0.
    pub fn new(share: f64) -> Self {
        Self(if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) })
    }

    pub fn share(self) -> f64 {
        self.0
    }

    /// Seen again: removes three tenths of the doubt.
    fn confirmed(self) -> Self {
        Self::new(self.0 + (1.0 - self.0) * 0.3)
    }

    /// The lesson was in a prompt and did not help: halves the confidence.
    fn failed(self) -> Self {
        Self::new(self.0 * 0.5)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lesson {
    pub kind: Kind,
    #[serde(default)]
    pub scope: Scope,
    /// The normalised subject: lessons with the same kind and key are merged.
    pub key: String,
    /// One line.
    pub text: String,
    /// The author of the lesson.
    pub source: String,
    /// Confirmed by a run. An unproven lesson never enters a prompt.
    pub proven: bool,
}

/// A lesson and its history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    #[serde(flatten)]
    pub lesson: Lesson,
    pub confidence: Confidence,
    pub created: Iteration,
    /// When it was last confirmed.
    pub last_used: Iteration,
}

impl Item {
    /// A new lesson.
    pub fn new(lesson: Lesson, now: Iteration) -> Self {
        Self { lesson, confidence: Confidence::START, created: now, last_used: now }
    }

    /// Records that the same lesson was learned again. An unproven lesson confirms nothing.
    pub fn merge(&mut self, lesson: Lesson, now: Iteration) {
        let is_first_proof = !self.lesson.proven;
        let scope = self.lesson.scope.joined(&lesson.scope);
        if !lesson.proven {
            self.lesson.scope = scope;
            return;
        }
        self.last_used = self.last_used.max(now);
        if is_first_proof {
            self.lesson = Lesson { scope, ..lesson };
        } else if self.lesson.text == lesson.text || self.confidence >= Confidence::START {
            // Keep a text that never failed: another text must not inherit its confidence.
            self.lesson.scope = scope;
            self.confidence = self.confidence.confirmed();
        } else {
            self.lesson = Lesson { scope, ..lesson };
            self.confidence = Confidence::START;
        }
    }

    /// Records that the lesson was in a prompt and the failure that it should prevent occurred again.
    pub fn fail(&mut self) {
        self.confidence = self.confidence.failed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lesson(at: Option<&str>, proven: bool) -> Lesson {
        Lesson {
            kind: Kind::KnownFix,
            scope: at.map_or(Scope::Library, |name| Scope::Symbol(SymbolKey(name.into()))),
            key: "E0308 mismatched types".into(),
            text: "cast".into(),
            source: "enhancer".into(),
            proven,
        }
    }

    fn item(confidence: f64, last_used: u64) -> Item {
        let new = Item::new(lesson(Some("a"), true), Iteration(1));
        Item { confidence: Confidence::new(confidence), last_used: Iteration(last_used), ..new }
    }

    #[test]
    fn confidence_rises_with_each_confirmation_and_falls_with_each_failure() {
        for (before, confirmed, failed) in
            [(0.0, 0.3, 0.0), (0.5, 0.65, 0.25), (0.65, 0.755, 0.325), (1.0, 1.0, 0.5)]
        {
            let confidence = Confidence::new(before);
            assert!((confidence.confirmed().share() - confirmed).abs() < 1e-12, "{before}");
            assert!((confidence.failed().share() - failed).abs() < 1e-12, "{before}");
        }
        for (given, kept) in [(-1.0, 0.0), (2.0, 1.0), (f64::NAN, 0.0), (0.4, 0.4)] {
            assert!((Confidence::new(given).share() - kept).abs() < 1e-12, "{given}");
        }
    }

    #[test]
    fn only_what_is_proven_confirms() {
        let mut item = Item::new(lesson(Some("a"), false), Iteration(3));
        item.merge(lesson(Some("a"), false), Iteration(4));
        assert_eq!(
            (item.confidence, item.last_used, item.lesson.proven),
            (Confidence::START, Iteration(3), false)
        );
        item.merge(lesson(Some("a"), true), Iteration(5));
        assert_eq!(
            (item.confidence, item.last_used, item.lesson.proven),
            (Confidence::START, Iteration(5), true)
        );
        item.merge(lesson(Some("a"), false), Iteration(6));
        assert_eq!((item.last_used, item.lesson.proven), (Iteration(5), true));
        item.merge(Lesson { text: "newer".into(), ..lesson(Some("b"), true) }, Iteration(7));
        assert_eq!((&item.lesson.scope, item.lesson.text.as_str()), (&Scope::Library, "cast"));
        assert!(item.confidence > Confidence::START);
        assert_eq!(item.created, Iteration(3));
    }

    #[test]
    fn a_text_that_failed_gives_way_to_another_which_begins_anew() {
        let mut item = item(0.9, 1);
        item.fail();
        let newer = |text: &str| Lesson { text: text.into(), ..lesson(Some("a"), true) };
        item.merge(newer("newer"), Iteration(2));
        assert_eq!((item.lesson.text.as_str(), item.confidence), ("newer", Confidence::START));
        item.merge(newer("newer"), Iteration(3));
        assert!(item.confidence > Confidence::START);
    }

    proptest! {
        #[test]
        fn confidence_never_leaves_its_bounds(start in any::<f64>(), ways in prop::collection::vec(any::<bool>(), 0..60)) {
            let mut now = Confidence::new(start);
            for is_good in ways {
                let next = if is_good { now.confirmed() } else { now.failed() };
                prop_assert!((0.0..=1.0).contains(&next.share()));
                let (low, high) = if is_good { (now, next) } else { (next, now) };
                prop_assert!(low <= high);
                now = next;
            }
        }

        #[test]
        fn merging_in_any_order_is_the_same(
            all in prop::collection::vec((prop::option::of(0..3_u8), any::<bool>(), 1..50_u64), 1..8),
            turn in any::<prop::sample::Index>(),
        ) {
            let made = |list: &[(Option<u8>, bool, u64)]| {
                let one = |(at, proven, _): &(Option<u8>, bool, u64)| {
                    lesson(at.map(|n| n.to_string()).as_deref(), *proven)
                };
                let mut item = Item::new(one(&list[0]), Iteration(0));
                list[1..].iter().for_each(|next| item.merge(one(next), Iteration(next.2)));
                item
            };
            let first = made(&all);
            let mut turned = all.clone();
            turned[1..].rotate_left(if all.len() > 1 { turn.index(all.len() - 1) } else { 0 });
            let other = made(&turned);
            prop_assert!((0.0..=1.0).contains(&first.confidence.share()));
            prop_assert!((first.confidence.share() - other.confidence.share()).abs() < 1e-12);
            prop_assert_eq!(first.lesson.proven, all.iter().any(|(_, proven, _)| *proven));
            prop_assert_eq!((&first.lesson.scope, first.last_used), (&other.lesson.scope, other.last_used));
            let is_one = all.iter().all(|(at, ..)| *at == all[0].0 && at.is_some());
            prop_assert_eq!(is_one, first.lesson.scope != Scope::Library);
            prop_assert!(first.created <= first.last_used);
        }
    }
}
