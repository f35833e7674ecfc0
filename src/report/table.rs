//! Tables without borders, so that lines can be cut and searched.

use super::printable::printable;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table as Grid, presets};

/// No table fits into fewer characters. Some terminals say that they have none.
const NARROWEST: u16 = 10;

/// A table of rows, to which columns are added one by one.
pub struct Table<R> {
    rows: Vec<R>,
    headings: Vec<(String, CellAlignment)>,
    cells: Vec<Vec<String>>,
}

impl<R> Table<R> {
    /// A table of these rows, without columns.
    pub fn of(rows: impl IntoIterator<Item = R>) -> Self {
        let rows: Vec<R> = rows.into_iter().collect();
        let cells = rows.iter().map(|_| Vec::new()).collect();
        Self { rows, headings: Vec::new(), cells }
    }

    /// Adds a column of words.
    #[must_use]
    pub fn left(self, heading: impl Into<String>, cell: impl Fn(&R) -> String) -> Self {
        self.column(heading.into(), CellAlignment::Left, cell)
    }

    /// Adds a column of numbers.
    #[must_use]
    pub fn right(self, heading: impl Into<String>, cell: impl Fn(&R) -> String) -> Self {
        self.column(heading.into(), CellAlignment::Right, cell)
    }

    /// Adds a column of words if `is_shown`.
    #[must_use]
    pub fn left_if(self, is_shown: bool, heading: &str, cell: impl Fn(&R) -> String) -> Self {
        if is_shown { self.left(heading, cell) } else { self }
    }

    /// Adds a column of numbers if `is_shown`.
    #[must_use]
    pub fn right_if(self, is_shown: bool, heading: &str, cell: impl Fn(&R) -> String) -> Self {
        if is_shown { self.right(heading, cell) } else { self }
    }

    fn column(mut self, heading: String, align: CellAlignment, cell: impl Fn(&R) -> String) -> Self {
        self.headings.push((heading, align));
        for (row, cells) in self.rows.iter().zip(&mut self.cells) {
            cells.push(cell(row));
        }
        self
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table; long cells wrap at the terminal's width.
    pub fn text(&self) -> String {
        self.wrapped(None)
    }

    /// The table with one line per row, which the terminal's width cuts with `…`.
    pub fn lines(&self) -> String {
        self.cut(None)
    }

    /// Without a terminal and a width, nothing is wrapped.
    fn wrapped(&self, width: Option<u16>) -> String {
        let mut grid = self.grid(printable);
        grid.set_content_arrangement(ContentArrangement::Dynamic);
        match width.or_else(|| grid.width()) {
            Some(width) if width >= NARROWEST => drop(grid.set_width(width)),
            _ => drop(grid.set_content_arrangement(ContentArrangement::Disabled)),
        }
        let lines: Vec<String> = grid.lines().map(|line| line.trim_end().to_owned()).collect();
        lines.join("\n") + "\n"
    }

    fn cut(&self, width: Option<u16>) -> String {
        let mut grid = self.grid(|text| printable(&text.replace('\n', " ")));
        grid.set_content_arrangement(ContentArrangement::Disabled);
        let width = width.or_else(|| grid.width()).filter(|width| *width >= NARROWEST);
        let width = width.map_or(usize::MAX, usize::from);
        grid.lines().map(|line| cut(line.trim_end(), width) + "\n").collect()
    }

    fn grid(&self, shown: impl Fn(&str) -> String) -> Grid {
        let mut grid = Grid::new();
        let cell = |text: &str, align: CellAlignment| Cell::new(shown(text)).set_alignment(align);
        grid.load_style(presets::NOTHING);
        grid.set_header(self.headings.iter().map(|(heading, align)| cell(heading, *align)));
        for row in &self.cells {
            grid.add_row(row.iter().zip(&self.headings).map(|(text, (_, align))| cell(text, *align)));
        }
        for column in grid.column_iter_mut() {
            column.set_padding((0, 2));
        }
        grid
    }
}

/// At most `max` characters of a text; if it is longer, the last one is `…`.
fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some(_) => text.chars().take(max.saturating_sub(1)).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(rows: [(&str, &str); 2]) -> Table<(String, String)> {
        let table = Table::of(rows.map(|(a, b)| (a.to_owned(), b.to_owned())));
        table.left("a", |row| row.0.clone())
    }

    #[test]
    fn tables_have_no_borders_and_numbers_stand_right() {
        let table = pairs([("adler32", "7"), ("f", "1234")]).right("calls", |row| row.1.clone());
        assert_eq!(table.text(), "a        calls\nadler32      7\nf         1234\n");
    }

    #[test]
    fn long_cells_are_wrapped_at_the_width() {
        let table = || {
            let table = Table::of(["many words that do not fit into it"]);
            table.left("a", |_| "f".into()).left("b", |row| (*row).to_owned())
        };
        let text = table().wrapped(Some(20));
        assert!(text.lines().count() > 2 && text.lines().all(|line| line.len() <= 20), "{text}");
        for width in [None, Some(0)] {
            assert_eq!(table().wrapped(width), "a  b\nf  many words that do not fit into it\n");
        }
    }

    #[test]
    fn lines_stay_lines() {
        let table = pairs([("f", "many words\nthat do not fit"), ("g", "few")]);
        let table = table.left("b", |row| row.1.clone()).left_if(false, "c", |_| "no".into());
        assert_eq!(table.cut(Some(16)), "a  b\nf  many words t…\ng  few\n");
        assert_eq!(table.cut(None), "a  b\nf  many words that do not fit\ng  few\n");
    }
}
