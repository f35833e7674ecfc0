//! The library as a map: the call graph as SVG. Callees stand left of their callers, each function in the column behind
//! the last of its callees; a long column continues beside itself.

use super::marks;
use crate::survey::Known;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Measures in pixels.
const ROW: usize = 26;
const HEIGHT: usize = 20;
const CHARACTER: usize = 7;
const PADDING: usize = 24;
const GAP: usize = 46;
const MARGIN: usize = 8;
/// Functions of one column before the next one begins.
const TALLEST: usize = 36;

/// Where a function stands.
struct Spot<'k> {
    known: &'k Known,
    x: usize,
    y: usize,
    width: usize,
}

/// The map of these functions, which stand in porting order.
pub(super) fn svg(functions: &[Known]) -> String {
    let spots = placed(functions);
    let width = spots.values().map(|spot| spot.x + spot.width).max().unwrap_or(0) + MARGIN;
    let height = spots.values().map(|spot| spot.y + ROW).max().unwrap_or(0) + MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" class=\"map\" role=\"group\" aria-label=\"Call graph\">\n"
    );
    for spot in spots.values() {
        for callee in &spot.known.row.calls {
            match spots.get(callee.as_str()) {
                Some(to) if to.known.row.symbol != spot.known.row.symbol => edge(&mut svg, spot, to),
                _ => {}
            }
        }
    }
    for spot in spots.values() {
        node(&mut svg, spot);
    }
    svg + "</svg>"
}

/// Columns by depth: a function without callees has depth 0. Where functions call each other, the order of porting says
/// which one comes first.
fn placed(functions: &[Known]) -> BTreeMap<&str, Spot<'_>> {
    let mut depths: BTreeMap<&str, usize> = BTreeMap::new();
    let mut columns: BTreeMap<usize, Vec<&Known>> = BTreeMap::new();
    for known in functions {
        let below = known.row.calls.iter().filter_map(|callee| depths.get(callee.as_str()));
        let depth = below.max().map_or(0, |depth| depth + 1);
        depths.insert(known.row.symbol.as_str(), depth);
        columns.entry(depth).or_default().push(known);
    }
    let (mut spots, mut x) = (BTreeMap::new(), MARGIN);
    for column in columns.values().flat_map(|column| column.chunks(TALLEST)) {
        let wide = |known: &Known| known.row.symbol.as_str().chars().count() * CHARACTER + PADDING;
        let widest = column.iter().map(|known| wide(known)).max().unwrap_or(0);
        for (row, known) in column.iter().enumerate() {
            let spot = Spot { known, x, y: MARGIN + row * ROW, width: wide(known) };
            spots.insert(known.row.symbol.as_str(), spot);
        }
        x += widest + GAP;
    }
    spots
}

fn edge(svg: &mut String, from: &Spot, to: &Spot) {
    let (x1, y1) = (from.x, from.y + HEIGHT / 2);
    let (x2, y2) = (to.x + to.width, to.y + HEIGHT / 2);
    // Towards a callee in the same column or behind, the line leaves on the other side.
    let bend = GAP / 2;
    let _ = writeln!(
        svg,
        "<path class=\"call\" d=\"M{x1} {y1}C{} {y1} {} {y2} {x2} {y2}\"/>",
        x1.saturating_sub(bend),
        x2 + bend
    );
}

fn node(svg: &mut String, spot: &Spot) {
    let Spot { known, x, y, width } = spot;
    let name = escaped(known.row.symbol.as_str());
    let _ = writeln!(
        svg,
        "<a href=\"#f-{name}\" class=\"{}\"><title>{name}: {}</title><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" \
         height=\"{HEIGHT}\" rx=\"4\"/><text x=\"{}\" y=\"{}\">{} {name}</text></a>",
        marks::class(known),
        marks::word(known),
        x + 6,
        y + 14,
        marks::sign(known),
    );
}

/// Names of C functions need no escape; those of modules with the same name twice may have a `<`.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
