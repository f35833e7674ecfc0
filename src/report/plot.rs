//! Plots the scores of TestGen runs as plain SVG, without scripts, fonts or external files. The crate `plotters` writes
//! no titles, by which a reader learns the run and the score of a point.

use super::printable::printable;
use crate::symbol::SymbolKey;
use crate::test_record::Moment;
use std::collections::BTreeMap;
use std::fmt::Write;

const WIDTH: f64 = 960.0;
/// Edges of the plotting area.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 936.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 408.0;
/// Position of the first line of the legend, and distance of the lines.
const LEGEND: f64 = 476.0;
const LEGEND_LINE: f64 = 22.0;
const LEGEND_COLUMNS: usize = 3;
/// Number of characters of a name in a column of the legend; the tooltip has the whole name.
const NAME_CHARS: usize = 28;

/// Colours that people with colour blindness can distinguish (Okabe and Ito). After the last colour, the first one
/// is used again with other dashes.
const COLORS: [&str; 7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"];
const DASHES: [&str; 4] = ["none", "7 3", "2 3", "9 3 2 3"];

/// Plots the scores of runs in order of time: one line for each symbol, labelled by `name`. A run without a score
/// leaves a gap in the line, and a cross on the axis marks it. `None` without any run.
pub fn plot(moments: &[Moment], name: impl Fn(&SymbolKey) -> String) -> Option<String> {
    let mut moments: Vec<&Moment> = moments.iter().collect();
    moments.sort_by_key(|moment| moment.created_at);
    let (first, last) = (moments.first()?, moments.last()?);
    let lines = lines(&moments, name);
    let unscored = moments.iter().any(|moment| moment.score.is_none());
    let entries = lines.len() + usize::from(unscored);
    let height = LEGEND + LEGEND_LINE * entries.div_ceil(LEGEND_COLUMNS) as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         role=\"img\" font-family=\"sans-serif\" font-size=\"13\">\n<title>Scores of TestGen runs</title>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    let day = |moment: &Moment| moment.created_at.strftime("%Y-%m-%d %H:%M").to_string();
    axes(&mut svg, moments.len(), (&day(first), &day(last)));
    for (number, line) in lines.iter().enumerate() {
        line.draw(&mut svg, number, moments.len());
    }
    lines.iter().enumerate().for_each(|(number, line)| line.explain(&mut svg, number));
    if unscored {
        let (x, y) = legend_place(lines.len());
        cross(&mut svg, x + 14.0, y - 4.0, "#000000", "");
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{y}\">run without a score</text>", x + 36.0);
    }
    Some(svg + "</svg>\n")
}

/// The runs of one symbol.
struct Line<'a> {
    name: String,
    /// Each run with its position in the order of all runs.
    runs: Vec<(usize, &'a Moment)>,
}

/// The lines, sorted by name.
fn lines<'a>(moments: &[&'a Moment], name: impl Fn(&SymbolKey) -> String) -> Vec<Line<'a>> {
    let mut by_symbol: BTreeMap<(String, &str), Vec<(usize, &Moment)>> = BTreeMap::new();
    for (place, moment) in moments.iter().enumerate() {
        let symbol = (name(&moment.symbol), moment.symbol.0.as_str());
        by_symbol.entry(symbol).or_default().push((place, moment));
    }
    by_symbol.into_iter().map(|((name, _), runs)| Line { name, runs }).collect()
}

impl Line<'_> {
    fn draw(&self, svg: &mut String, number: usize, runs: usize) {
        let (color, dashes) = style(number);
        let _ = writeln!(svg, "<g fill=\"none\" stroke=\"{color}\" stroke-width=\"2\">");
        for part in self.runs.split(|(_, run)| run.score.is_none()) {
            let points: Vec<String> = part
                .iter()
                .filter_map(|(place, run)| Some(format!("{:.1},{:.1}", x(*place, runs), y(run.score?))))
                .collect();
            if points.len() > 1 {
                let points = points.join(" ");
                let _ = writeln!(svg, "<polyline stroke-dasharray=\"{dashes}\" points=\"{points}\"/>");
            }
        }
        for (place, run) in &self.runs {
            let at = x(*place, runs);
            let told = run.score.map_or_else(|| "no score".to_owned(), |score| score.to_string());
            let title = format!("<title>{}, {}: {told}</title>", text(&self.name), run.run_id);
            match run.score {
                // The point makes a run visible even between two gaps, where it has no line.
                Some(score) => {
                    let score = y(score);
                    let _ = writeln!(
                        svg,
                        "<circle cx=\"{at:.1}\" cy=\"{score:.1}\" r=\"3.5\" fill=\"{color}\">{title}</circle>"
                    );
                }
                None => cross(svg, at, BOTTOM, color, &title),
            }
        }
        svg.push_str("</g>\n");
    }

    fn explain(&self, svg: &mut String, number: usize) {
        let (color, dashes) = style(number);
        let (x, y) = legend_place(number);
        let (end, words, middle) = (x + 28.0, x + 36.0, y - 4.0);
        let short = match self.name.char_indices().nth(NAME_CHARS) {
            Some((cut, _)) => format!("{}…", &self.name[..cut]),
            None => self.name.clone(),
        };
        let _ = writeln!(
            svg,
            "<path d=\"M{x} {middle} H{end}\" stroke=\"{color}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"/>\
             <text x=\"{words}\" y=\"{y}\">{}<title>{}</title></text>",
            text(&short),
            text(&self.name)
        );
    }
}

fn style(number: usize) -> (&'static str, &'static str) {
    (COLORS[number % COLORS.len()], DASHES[number / COLORS.len() % DASHES.len()])
}

fn legend_place(number: usize) -> (f64, f64) {
    let width = (RIGHT - LEFT) / LEGEND_COLUMNS as f64;
    let (row, column) = (number / LEGEND_COLUMNS, number % LEGEND_COLUMNS);
    (LEFT + (column as f64 * width).round(), LEGEND + row as f64 * LEGEND_LINE)
}

fn cross(svg: &mut String, x: f64, y: f64, color: &str, title: &str) {
    let (left, right, above, below) = (x - 4.0, x + 4.0, y - 4.0, y + 4.0);
    let _ = writeln!(
        svg,
        "<path d=\"M{left:.1} {above:.1} L{right:.1} {below:.1} M{right:.1} {above:.1} L{left:.1} {below:.1}\" \
         stroke=\"{color}\" stroke-width=\"2\">{title}</path>"
    );
}

/// The position of a run, counted from 0; a single run is in the middle.
fn x(place: usize, runs: usize) -> f64 {
    match runs {
        0 | 1 => f64::midpoint(LEFT, RIGHT),
        _ => LEFT + (RIGHT - LEFT) * place as f64 / (runs - 1) as f64,
    }
}

fn y(score: u32) -> f64 {
    BOTTOM - (BOTTOM - TOP) * f64::from(score.min(1_000)) / 1_000.0
}

fn axes(svg: &mut String, runs: usize, (first, last): (&str, &str)) {
    for score in (0..=1_000).step_by(200) {
        let at = y(score);
        let shade = if score == 0 { "#000000" } else { "#d0d0d0" };
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {at:.1} H{RIGHT}\" stroke=\"{shade}\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{score}</text>",
            LEFT - 8.0,
            at + 4.5
        );
    }
    let _ = writeln!(svg, "<path d=\"M{LEFT} {TOP} V{BOTTOM}\" stroke=\"#000000\"/>");
    for number in ticks(runs) {
        let (at, below, words) = (x(number - 1, runs), BOTTOM + 6.0, BOTTOM + 22.0);
        let _ = writeln!(
            svg,
            "<path d=\"M{at:.1} {BOTTOM} V{below}\" stroke=\"#000000\"/>\
             <text x=\"{at:.1}\" y=\"{words}\" text-anchor=\"middle\">{number}</text>"
        );
    }
    let middle = f64::midpoint(LEFT, RIGHT);
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\">score, 0 to 1000</text>\n\
         <text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">runs in the order of time, {} to {} UTC</text>",
        LEFT - 8.0,
        TOP - 20.0,
        BOTTOM + 42.0,
        text(first),
        text(last)
    );
}

/// The first run, and at most ten others at a round distance.
fn ticks(runs: usize) -> Vec<usize> {
    let steps = (0..).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_usize.saturating_pow(power)));
    let step = steps.into_iter().find(|step| runs / step <= 10).unwrap_or(runs);
    (1..=runs).filter(|number| *number == 1 || number % step == 0).collect()
}

/// Text for XML, which allows no control characters and excludes a few others.
fn text(text: &str) -> String {
    let mut out = String::new();
    for c in printable(text).chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\n' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_record::{ConfigId, RunId};
    use jiff::{SignedDuration, Timestamp};

    /// Runs at intervals of one minute, by the symbol's key and the score.
    fn moments(runs: &[(&str, Option<u32>)]) -> Vec<Moment> {
        let begin: Timestamp = "2026-01-31T23:58:00Z".parse().unwrap();
        let moment = |(number, (symbol, score)): (u32, &(&str, Option<u32>))| {
            let created_at = begin + SignedDuration::from_mins(number.into());
            Moment {
                run_id: RunId::new(created_at, number),
                created_at,
                symbol: SymbolKey((*symbol).to_owned()),
                config: ConfigId(1),
                score: *score,
                comprehensiveness: None,
            }
        };
        (0..).zip(runs).map(moment).collect()
    }

    fn drawn(runs: &[(&str, Option<u32>)]) -> String {
        let svg = plot(&moments(runs), |key| key.0.clone()).unwrap();
        well_formed(&svg);
        svg
    }

    /// Asserts that tags match, attributes are quoted, and text has only characters that XML allows.
    fn well_formed(svg: &str) {
        let mut open: Vec<&str> = Vec::new();
        let (mut rest, mut roots) = (svg, 0);
        while let Some((before, tag)) = rest.split_once('<') {
            characters(before);
            assert!(!open.is_empty() || before.trim().is_empty(), "text outside of the root: {before:?}");
            let (tag, after) = tag.split_once('>').expect("a tag ends");
            rest = after;
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name));
                continue;
            }
            roots += usize::from(open.is_empty());
            let (inner, closed) = tag.strip_suffix('/').map_or((tag, false), |inner| (inner, true));
            let name = inner.split(' ').next().unwrap();
            let attributes: Vec<&str> = inner[name.len()..].split('"').collect();
            assert_eq!(attributes.len() % 2, 1, "{tag}");
            for (at, part) in attributes.iter().enumerate() {
                characters(part);
                assert!(
                    at % 2 == 1 || part.is_empty() || part.starts_with(' ') && part.ends_with('='),
                    "{tag}"
                );
            }
            if !closed {
                open.push(name);
            }
        }
        assert_eq!((open.len(), roots, rest.trim()), (0, 1, ""));
    }

    fn characters(text: &str) {
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
        for entity in text.split('&').skip(1) {
            let name = entity.split(';').next().unwrap();
            assert!(["amp", "lt", "gt", "quot", "#39"].contains(&name), "{text:?}");
        }
    }

    #[test]
    fn two_symbols_with_a_gap_and_a_legend() {
        let runs = [
            ("twice", Some(0)),
            ("sum", Some(250)),
            ("twice", Some(500)),
            ("twice", None),
            ("twice", Some(1_000)),
        ];
        insta::assert_snapshot!(drawn(&runs));
    }

    #[test]
    fn nothing_is_no_picture_and_one_run_is_a_point() {
        assert_eq!(plot(&[], |key| key.0.clone()), None);
        let one = drawn(&[("f", Some(700))]);
        assert_eq!((one.matches("<circle").count(), one.matches("<polyline").count()), (1, 0));
        let none = drawn(&[("f", None)]);
        assert_eq!(none.matches("<circle").count(), 0);
        assert!(none.contains("f, tg-20260131-235800-000000: no score"), "{none}");
    }

    #[test]
    fn a_gap_divides_the_line_and_a_point_between_gaps_is_seen() {
        let (a, b) = (Some(100), None);
        let scores = [a, a, b, a, b, a, a, a];
        let svg = drawn(&scores.map(|score| ("f", score)));
        assert_eq!((svg.matches("<polyline").count(), svg.matches("<circle").count()), (2, 6));
        assert!(svg.contains("run without a score"));
    }

    #[test]
    fn the_order_is_that_of_time() {
        let mut runs = moments(&[("f", Some(0)), ("f", Some(1_000))]);
        let told = plot(&runs, |key| key.0.clone());
        runs.reverse();
        assert_eq!(plot(&runs, |key| key.0.clone()), told);
    }

    #[test]
    fn names_from_outside_are_text() {
        let svg = drawn(&[("<script>&\"'\u{1b}[2J\u{ffff}\n", Some(1))]);
        assert!(svg.contains("&lt;script&gt;&amp;&quot;&#39;\\u{1b}[2J\u{fffd} "), "{svg}");
        let long = drawn(&[(&"é".repeat(60), Some(1))]);
        assert!(long.contains(&format!(">{}…<title>{}</title>", "é".repeat(28), "é".repeat(60))), "{long}");
    }

    #[test]
    fn many_symbols_have_a_line_each_in_the_legend_and_differ() {
        let names: Vec<String> = (0..30).map(|n| format!("f{n:02}")).collect();
        let runs: Vec<_> = names.iter().flat_map(|name| [(name.as_str(), Some(5)); 2]).collect();
        let svg = drawn(&runs);
        assert!(names.iter().all(|name| svg.contains(&format!(">{name}<title>"))), "{svg}");
        let styles: std::collections::BTreeSet<_> = (0..28).map(style).collect();
        assert_eq!(styles.len(), 28);
    }

    #[test]
    fn ticks_are_few_and_round() {
        for (runs, wanted) in [
            (1, vec![1]),
            (3, vec![1, 2, 3]),
            (11, vec![1, 2, 4, 6, 8, 10]),
            (23, vec![1, 5, 10, 15, 20]),
            (1_000, vec![1, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000]),
        ] {
            assert_eq!(ticks(runs), wanted, "{runs}");
        }
    }
}
