//! Tables that fit a terminal: columns two blanks apart; where that is too wide, a long name stands on a line of its own;
//! where that is still too wide, each row becomes a paragraph.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets::NOTHING};

use super::prose::{hanging, unbroken};

/// No first column is narrower: below that most names would stand on lines of their own.
const LEAST_FIRST: usize = 20;
/// Columns before the second line of a paragraph.
const MARGIN: usize = 4;

/// A table in pieces, so that something can stand below each row.
pub(super) struct Rows {
    /// The line above the rows; empty where the rows are paragraphs, which repeat its words.
    pub(super) head: String,
    /// The rows, each in one or more lines.
    pub(super) rows: Vec<String>,
}

impl Rows {
    /// The rows within so many columns. `right`: the columns that are aligned on the right.
    pub(super) fn within<const COLUMNS: usize>(
        head: [&str; COLUMNS],
        rows: &[[String; COLUMNS]],
        right: &[usize],
        width: usize,
    ) -> Self {
        let whole = lines(head, rows, right);
        let longest = |lines: &[String]| lines.iter().map(|line| line.chars().count()).max().unwrap_or_default();
        if longest(&whole) <= width {
            return Self::of_lines(whole);
        }
        let is_long = |row: &[String; COLUMNS], most: usize| row[0].chars().count() > most;
        let without_names = rows.iter().map(without_name).collect::<Vec<_>>();
        // The first column still has its heading, and the gap behind it.
        let others = longest(&lines(head, &without_names, right)).saturating_sub(head[0].chars().count());
        let most = width.saturating_sub(others);
        if most < LEAST_FIRST.max(head[0].chars().count()) {
            let rows = rows.iter().map(|row| paragraph(head, row, width)).collect();
            return Self { head: String::new(), rows };
        }
        let shown: Vec<_> =
            rows.iter().map(|row| if is_long(row, most) { without_name(row) } else { row.clone() }).collect();
        let mut fitted = Self::of_lines(lines(head, &shown, right));
        for (line, row) in fitted.rows.iter_mut().zip(rows).filter(|(_, row)| is_long(row, most)) {
            line.insert_str(0, &format!("{}\n", row[0]));
        }
        fitted
    }

    fn of_lines(lines: Vec<String>) -> Self {
        let mut lines = lines.into_iter().map(|line| line + "\n");
        Self { head: lines.next().unwrap_or_default(), rows: lines.collect() }
    }

    /// All of it.
    pub(super) fn text(self) -> String {
        self.head + &self.rows.concat()
    }
}

fn without_name<const COLUMNS: usize>(row: &[String; COLUMNS]) -> [String; COLUMNS] {
    let mut row = row.clone();
    row[0].clear();
    row
}

fn lines<const COLUMNS: usize>(head: [&str; COLUMNS], rows: &[[String; COLUMNS]], right: &[usize]) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(head);
    table.add_rows(rows);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if right.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}

/// The name, with what has no heading beside it, and below it each other cell after its heading.
fn paragraph<const COLUMNS: usize>(head: [&str; COLUMNS], row: &[String; COLUMNS], width: usize) -> String {
    let cells = || head.iter().zip(row).skip(1).filter(|(_, cell)| !cell.is_empty());
    let beside = cells().filter(|(head, _)| head.is_empty()).map(|(_, cell)| format!("   {cell}"));
    // A piece is broken only where it fills a line by itself.
    let whole = |piece: &str| {
        if piece.chars().count() + MARGIN <= width { unbroken(piece) } else { piece.to_owned() }
    };
    let first = hanging(&(whole(&row[0]) + &beside.collect::<String>()), MARGIN, width);
    let below = cells().filter(|(head, _)| !head.is_empty()).map(|(head, cell)| whole(&format!("{head} {cell}")));
    let below = below.collect::<Vec<_>>().join("   ");
    if below.is_empty() {
        return first + "\n";
    }
    format!("{first}\n{:MARGIN$}{}\n", "", hanging(&below, MARGIN, width))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: [&str; 4] = ["scenario", "states", "found", ""];

    fn text(width: usize) -> String {
        let row = |cells: [&str; 4]| cells.map(str::to_owned);
        let rows = [
            row(["short", "9", "3 hold", "as declared"]),
            row(["a-name-that-is-quite-long-indeed", "12 345", "3 hold, 1 violated", "NOT as declared"]),
        ];
        let text = Rows::within(HEAD, &rows, &[1], width).text();
        assert!(text.lines().all(|line| line.chars().count() <= width), "{width}\n{text}");
        text
    }

    #[test]
    fn a_table_is_as_narrow_as_the_terminal() {
        let lines = |width| text(width).lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            lines(80),
            [
                "scenario                          states  found",
                "short                                  9  3 hold              as declared",
                "a-name-that-is-quite-long-indeed  12 345  3 hold, 1 violated  NOT as declared",
            ]
        );
        assert_eq!(
            lines(68),
            [
                "scenario  states  found",
                "short          9  3 hold              as declared",
                "a-name-that-is-quite-long-indeed",
                "          12 345  3 hold, 1 violated  NOT as declared",
            ]
        );
        assert_eq!(
            lines(48),
            [
                "short   as declared",
                "    states 9   found 3 hold",
                "a-name-that-is-quite-long-indeed   NOT as",
                "    declared",
                "    states 12 345   found 3 hold, 1 violated",
            ]
        );
    }
}
