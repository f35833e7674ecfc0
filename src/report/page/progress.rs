//! The grades of the port over time, as a picture of stacked steps in the colours of the page.

use super::marks;
use crate::survey::Milestone;
use crate::verdict::Grade;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::fmt::Write;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 240.0;
/// Edges of the area with the steps.
const LEFT: f64 = 44.0;
const RIGHT: f64 = 940.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 208.0;

/// The grades, the best one at the bottom.
const ORDER: [Grade; 8] = [
    Grade::Exhaustive,
    Grade::Verified,
    Grade::Weak,
    Grade::Unverifiable,
    Grade::Unjudged,
    Grade::Stale,
    Grade::Stub,
    Grade::Refuted,
];

/// A milestone in words, for a table beside the picture.
#[derive(Debug, serde::Serialize)]
pub(super) struct Words {
    date: String,
    grades: String,
}

pub(super) fn words(milestones: &[Milestone]) -> Vec<Words> {
    let words = |one: &Milestone| Words { date: day(one.when), grades: in_words(&one.grades) };
    milestones.iter().map(words).collect()
}

fn day(when: Timestamp) -> String {
    when.strftime("%Y-%m-%d %H:%M").to_string()
}

fn in_words(grades: &BTreeMap<Grade, usize>) -> String {
    let known = ORDER.iter().filter_map(|grade| Some(format!("{} {}", grades.get(grade)?, grade.word())));
    let words = known.collect::<Vec<_>>().join(", ");
    if words.is_empty() { "no port".to_owned() } else { words }
}

/// The picture, up to `now`; `None` where there is no change to show.
pub(super) fn svg(milestones: &[Milestone], now: Timestamp) -> Option<String> {
    let (first, last) = (milestones.first()?, milestones.last()?);
    let most =
        milestones.iter().map(|one| one.grades.values().sum::<usize>()).max().filter(|most| *most > 0)?;
    if milestones.len() < 2 {
        return None;
    }
    let (start, end) = (first.when.as_second(), now.max(last.when).as_second());
    let span = (end - start).max(1) as f64;
    let x = |when: Timestamp| LEFT + (RIGHT - LEFT) * (when.as_second() - start) as f64 / span;
    let y = |count: usize| BOTTOM - (BOTTOM - TOP) * count as f64 / most as f64;
    let mut svg = format!(
        "<svg class=\"progress\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Grades over time; the last commit has {}\">\n",
        in_words(&last.grades)
    );
    for count in [0, most] {
        let _ = writeln!(
            svg,
            "<path class=\"axis\" d=\"M{LEFT} {0:.1}H{RIGHT}\"/><text x=\"{1}\" y=\"{2:.1}\" text-anchor=\"end\">{count}</text>",
            y(count),
            LEFT - 6.0,
            y(count) + 4.0
        );
    }
    let mut below = vec![0; milestones.len()];
    for grade in ORDER.iter().filter(|grade| milestones.iter().any(|one| one.grades.contains_key(grade))) {
        let above: Vec<usize> = milestones
            .iter()
            .zip(&below)
            .map(|(one, below)| below + one.grades.get(grade).copied().unwrap_or(0))
            .collect();
        let mut path = String::new();
        for (at, one) in milestones.iter().enumerate() {
            let command = if at == 0 { 'M' } else { 'H' };
            match command {
                'M' => drop(write!(path, "M{:.1} {:.1}", x(one.when), y(above[at]))),
                _ => drop(write!(path, "H{:.1}V{:.1}", x(one.when), y(above[at]))),
            }
        }
        let _ = write!(path, "H{RIGHT}");
        for (at, one) in milestones.iter().enumerate().rev() {
            let _ = write!(path, "V{:.1}H{:.1}", y(below[at]), x(one.when));
        }
        let (class, sign) = (marks::class_of(*grade), marks::sign_of(*grade));
        let _ = writeln!(
            svg,
            "<path class=\"{class}\" d=\"{path}Z\"><title>{sign} {}</title></path>",
            grade.word()
        );
        below = above;
    }
    for (anchor, place, when) in [("start", LEFT, first.when), ("end", RIGHT, now.max(last.when))] {
        let _ = writeln!(
            svg,
            "<text x=\"{place}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            BOTTOM + 22.0,
            day(when)
        );
    }
    Some(svg + "</svg>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn milestone(seconds: i64, grades: &[(Grade, usize)]) -> Milestone {
        Milestone { when: Timestamp::from_second(seconds).unwrap(), grades: grades.iter().copied().collect() }
    }

    #[test]
    fn steps_are_stacked_and_go_on_to_now() {
        let all = [
            milestone(1_800_000_000, &[(Grade::Weak, 1)]),
            milestone(1_800_500_000, &[(Grade::Weak, 1), (Grade::Verified, 3)]),
        ];
        let now = Timestamp::from_second(1_801_000_000).unwrap();
        let svg = svg(&all, now).unwrap();
        // Verified from the middle on, up to three quarters of the height; weak above it.
        assert!(
            svg.contains("class=\"good\" d=\"M44.0 208.0H492.0V61.0H940V208.0H492.0V208.0H44.0Z\""),
            "{svg}"
        );
        assert!(
            svg.contains("class=\"weak\" d=\"M44.0 159.0H492.0V12.0H940V61.0H492.0V208.0H44.0Z\""),
            "{svg}"
        );
        assert!(svg.contains("the last commit has 3 verified, 1 weak"), "{svg}");
        assert!(svg.contains(">2027-01-15 08:00<") && svg.contains(">2027-01-26 21:46<"), "{svg}");
        assert_eq!(words(&all)[1].grades, "3 verified, 1 weak");
    }

    #[test]
    fn one_commit_is_no_progress() {
        let now = Timestamp::from_second(1_801_000_000).unwrap();
        let one = milestone(1_800_000_000, &[(Grade::Weak, 1)]);
        let none = milestone(1_800_000_000, &[]);
        assert_eq!(svg(&[], now), None);
        assert_eq!(svg(&[one], now), None);
        assert_eq!(svg(&[none.clone(), none], now), None);
    }
}
