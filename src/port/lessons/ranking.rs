//! The rank of lessons for a prompt: their scores, and how many of them there is room for. Formulas only.

use crate::store::lesson::{Item, Iteration};

/// The maximum number of lessons in a prompt.
const TOLD: usize = 3;
/// The number of iterations without confirmation after which a lesson's weight is halved.
const HALF_LIFE: f64 = 20.0;
/// Lessons below this confidence are not used.
const LEAST: f64 = 0.1;
/// Maximum bytes of all lessons in a prompt: 1,000 tokens of two bytes each, as budgets count them.
const MOST_BYTES: usize = 2_000;

/// How close the place where a lesson was learned is to the function that is ported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Nearness {
    /// Learned somewhere in the library.
    Library,
    /// Learned at a callee, or at a function of the same kind.
    Kin,
    /// Learned at this function.
    Same,
}

impl Nearness {
    /// The weight of a lesson at this distance.
    fn relevance(self) -> f64 {
        match self {
            Self::Library => 0.4,
            Self::Kin => 0.7,
            Self::Same => 1.0,
        }
    }
}

/// The score of a lesson for a function; `None` if it must not enter the prompt.
pub(super) fn score(of: &Item, now: Iteration, nearness: Nearness) -> Option<f64> {
    if !of.lesson.proven || of.confidence.share() < LEAST {
        return None;
    }
    Some(of.confidence.share() * faded(of.last_used, now) * nearness.relevance())
}

/// The factor for the time since: one half after each [`HALF_LIFE`].
fn faded(since: Iteration, now: Iteration) -> f64 {
    let age = now.0.saturating_sub(since.0) as f64;
    0.5_f64.powf(age / HALF_LIFE)
}

/// The [`TOLD`] items with the highest scores, best first; of equal ones, the first.
pub(super) fn best<T>(scored: impl IntoIterator<Item = (f64, T)>) -> Vec<T> {
    let mut all: Vec<(f64, T)> = scored.into_iter().collect();
    all.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    all.into_iter().take(TOLD).map(|(_, item)| item).collect()
}

/// The lines that fit into [`MOST_BYTES`] together; lines that do not fit are left out.
pub(super) fn within(lines: Vec<String>) -> Vec<String> {
    let mut room = MOST_BYTES;
    let fits = |line: &String| {
        let left = room.checked_sub(line.len() + 1);
        room = left.unwrap_or(room);
        left.is_some()
    };
    lines.into_iter().filter(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::lesson::{Confidence, Kind, Lesson, Scope};
    use proptest::prelude::*;

    fn lesson(proven: bool) -> Lesson {
        Lesson {
            kind: Kind::KnownFix,
            scope: Scope::Library,
            key: "E0308 mismatched types".into(),
            text: "cast".into(),
            source: "enhancer".into(),
            proven,
        }
    }

    fn item(confidence: f64, last_used: u64) -> Item {
        let new = Item::new(lesson(true), Iteration(1));
        Item { confidence: Confidence::new(confidence), last_used: Iteration(last_used), ..new }
    }

    #[test]
    fn a_lesson_counts_half_after_each_half_life() {
        for (since, now, left) in
            [(1, 1, 1.0), (1, 21, 0.5), (1, 41, 0.25), (7, 17, 0.5_f64.sqrt()), (9, 3, 1.0)]
        {
            assert!((faded(Iteration(since), Iteration(now)) - left).abs() < 1e-9, "{since} {now}");
        }
    }

    #[test]
    fn a_score_is_confidence_by_age_by_relevance() {
        for (confidence, age, nearness, wanted) in [
            (1.0, 0, Nearness::Same, 1.0),
            (1.0, 0, Nearness::Kin, 0.7),
            (1.0, 0, Nearness::Library, 0.4),
            (0.5, 0, Nearness::Same, 0.5),
            (0.5, 20, Nearness::Kin, 0.175),
            (0.8, 40, Nearness::Library, 0.08),
        ] {
            let told = score(&item(confidence, 10), Iteration(10 + age), nearness).unwrap();
            assert!((told - wanted).abs() < 1e-12, "{confidence} {age} {nearness:?}");
        }
    }

    #[test]
    fn what_is_not_proven_or_hardly_sure_is_not_told() {
        assert_eq!(score(&item(0.09, 1), Iteration(1), Nearness::Same), None);
        let unproven = Item::new(lesson(false), Iteration(1));
        assert_eq!(score(&unproven, Iteration(1), Nearness::Same), None);
    }

    #[test]
    fn the_three_best_are_told_best_first() {
        let told = best([(0.2, 'a'), (0.9, 'b'), (0.4, 'c'), (0.9, 'd'), (0.1, 'e')]);
        assert_eq!(told, ['b', 'd', 'c']);
    }

    #[test]
    fn what_has_no_room_is_left_out() {
        let long = "x".repeat(MOST_BYTES - 10);
        let kept = within(vec!["y".repeat(MOST_BYTES), long.clone(), "is too long".into(), "123456".into()]);
        assert_eq!(kept, [long, "123456".into()]);
    }

    proptest! {
        #[test]
        fn a_score_never_leaves_its_bounds(confidence in 0.0..=1.0_f64, since in any::<u64>(), now in any::<u64>()) {
            let mut last = 0.0;
            for nearness in [Nearness::Library, Nearness::Kin, Nearness::Same] {
                let now = score(&item(confidence, since), Iteration(now), nearness).unwrap_or(0.0);
                prop_assert!((0.0..=1.0).contains(&now) && now <= confidence && now >= last);
                last = now;
            }
        }

        #[test]
        fn what_is_told_has_room(lines in prop::collection::vec("[a-zé]{0,900}", 0..5)) {
            let told = within(lines).iter().map(|line| line.len() + 1).sum::<usize>();
            prop_assert!(told <= MOST_BYTES);
        }
    }
}
