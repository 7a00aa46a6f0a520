//! The picture of a trace in a terminal: one lane per party, time from top to bottom.
//!
//! Every line is a row of cells, one per lane, and at most one arrow over them. The widths are made from the cells;
//! only where the lanes leave no room for a sentence beside them are cells cut, and a cut shows as `…`.

mod key;

use std::fmt::Write as _;

use lockstep_model::Verdict;
use lockstep_model::trace::{About, ClientMode, State, Trace};

use super::paint::{Paint, Tone};
use super::prose::{hanging, wrapped};
use super::rows::{Lane, Row, rows};
use super::words;
use crate::check::PropertyOutcome;

/// Columns of a page that is not on a terminal.
pub const WIDTH: usize = 100;

/// How to draw.
#[derive(Clone, Debug)]
pub struct TextOptions {
    /// Colour or none.
    pub paint: Paint,
    /// Columns of the terminal.
    pub width: usize,
    /// What the scenario declares of the property of the trace.
    pub declared: Declared,
    /// The next command to run; `None`: the one that reproduces the trace.
    pub next: Option<String>,
    /// What the search found beside the trace, such as the faults that would help.
    pub found: Option<String>,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { paint: Paint::Plain, width: WIDTH, declared: Declared::Unknown, next: None, found: None }
    }
}

/// What is known of the scenario's declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declared {
    /// Nothing: only the trace is there.
    Unknown,
    /// The scenario declares this, or nothing.
    As(Option<Verdict>),
    /// The scenario claims nothing of this property, and does not expect it to hold.
    NotClaimed,
}

impl Declared {
    /// What the scenario declares of a property that was checked.
    pub const fn of(found: &PropertyOutcome) -> Self {
        if found.is_required { Self::As(found.declared) } else { Self::NotClaimed }
    }
}

/// The picture, with a headline, and below it why and what next.
pub fn picture(trace: &Trace, options: &TextOptions) -> String {
    let grid = Grid::of(trace);
    let mut text = headline(trace, options);
    grid.draw(options, &mut text);
    for (label, line) in footer(trace, &grid, options) {
        let label = options.paint.paint(Tone::Strong, &format!("{label:<6}"));
        // A command is copied in one piece.
        let line = if label.contains("next") { line } else { hanging(&line, 6, options.width) };
        let _ = writeln!(text, "{label}{line}");
    }
    text
}

fn headline(trace: &Trace, options: &TextOptions) -> String {
    let paint = options.paint;
    let mut parts = vec![paint.paint(Tone::Strong, &trace.scenario)];
    match &trace.about {
        About::Counterexample { property, verdict, .. } => {
            let verdict_word = verdict.name().to_uppercase();
            let (claim, tone) = match options.declared {
                Declared::Unknown => (verdict_word, Tone::Bad),
                Declared::As(Some(declared)) if declared == *verdict => {
                    (format!("{verdict_word}, as declared"), Tone::Strong)
                }
                Declared::As(Some(declared)) => (format!("{verdict_word}, but declared {declared}"), Tone::Bad),
                Declared::As(None) => (format!("{verdict_word}, but not declared"), Tone::Bad),
                Declared::NotClaimed => (format!("{verdict_word}, not claimed"), Tone::Strong),
            };
            parts.push(paint.paint(tone, &claim));
            parts.push(property.to_string());
        }
        about @ (About::Covering | About::Drawn) => parts.push(words::about(about)),
    }
    parts.push(words::count(trace.steps.len(), "step"));
    let line = parts.join("   ");
    if visible_width(&line) <= options.width {
        return line + "\n";
    }
    // The name, and below it what fits.
    let mut lines = parts.into_iter();
    let name = lines.next().unwrap_or_default();
    let rest = lines.collect::<Vec<_>>();
    let rest = if visible_width(&rest.join("   ")) + INDENT <= options.width { vec![rest.join("   ")] } else { rest };
    rest.into_iter().fold(name + "\n", |text, line| format!("{text}{:INDENT$}{line}\n", ""))
}

fn footer(trace: &Trace, grid: &Grid, options: &TextOptions) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let needs = grid.layout(options.width).needs();
    if needs <= options.width {
        lines.push(("key", grid.key()));
    } else {
        let says = format!("a lane for each party needs {needs} columns: set COLUMNS={needs}, or use --format svg");
        lines.push(("lanes", says));
    }
    if let Some(why) = words::why(trace) {
        let found = options.found.as_deref().map_or_else(String::new, |found| format!(" {}.", capitalised(found)));
        lines.push(("why", why + &found));
    }
    lines.extend(words::goes_on(trace).map(|goes_on| ("loop", goes_on)));
    for (index, line) in words::fairness(trace).into_iter().enumerate() {
        lines.push((if index == 0 { "fair" } else { "" }, line));
    }
    lines.push(("next", options.next.clone().unwrap_or_else(|| trace.reproduce.clone())));
    lines
}

/// A reason as a sentence.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A line of the picture, cells in the order of the lanes.
struct TextRow {
    mark: RowMark,
    time: String,
    number: String,
    cells: Vec<TextCell>,
    arrow: Option<Shaft>,
    what: String,
}

/// The sign before a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowMark {
    None,
    /// The property breaks here.
    Breaks,
    /// The line is part of the loop.
    Repeats,
}

#[derive(Clone, Default)]
struct TextCell {
    text: String,
    tone: Tone,
    is_at_rest: bool,
}

/// An arrow between two lanes, by their positions.
struct Shaft {
    from: usize,
    to: usize,
    arrives: bool,
}

struct Grid {
    titles: Vec<TextCell>,
    rows: Vec<TextRow>,
    /// What the names of the nodes stand for.
    nodes: Option<String>,
}

/// Columns before the second line of the headline.
const INDENT: usize = 4;
/// Blanks between two lanes.
const GAP: usize = 2;
/// The shortest arrow, with a blank on each side of it: ` --> `.
const SHORTEST_ARROW: usize = 5;
/// Columns that are kept for the sentence: lanes are cut to leave them. If lanes of the least width leave fewer, the
/// sentences stand below the lanes.
const LEAST_WHAT: usize = 28;
/// No lane is cut below this width, which fits every request with its arrow. If that is still too much, there are no lanes:
/// each event is a sentence.
const LEAST_LANE: usize = 14;

impl Grid {
    fn of(trace: &Trace) -> Self {
        let lanes = Lane::all(&trace.config);
        let titles = lanes
            .iter()
            .map(|lane| TextCell { text: title(trace, *lane), tone: Tone::Strong, is_at_rest: false })
            .collect();
        let breaks_at_end = matches!(trace.about, About::Counterexample { .. }) && trace.loop_start.is_none();
        let rows = rows(trace)
            .into_iter()
            .map(|content| {
                let state = trace.state_after(if content.closes { content.last } else { content.last - 1 });
                let mark = match trace.loop_start {
                    Some(start) if content.first > start => RowMark::Repeats,
                    None if breaks_at_end && content.closes && content.last == trace.steps.len() => RowMark::Breaks,
                    _ => RowMark::None,
                };
                TextRow::of(trace, &lanes, state, content, mark)
            })
            .collect();
        let nodes: Vec<_> =
            lanes.iter().filter(|lane| matches!(lane, Lane::Node(_))).map(|lane| lane.name(&trace.config)).collect();
        let nodes = match nodes.len() {
            0 => None,
            1 => Some(format!("{} a Redis node", nodes[0])),
            _ => Some(format!("{} Redis nodes", nodes.join(", "))),
        };
        Self { titles, rows, nodes }
    }

    /// How its lines are divided in so many columns.
    fn layout(&self, columns: usize) -> GridLayout {
        let time = self.rows.iter().map(|row| width(&row.time)).max().unwrap_or(0).max(4);
        let number = self.rows.iter().map(|row| width(&row.number)).max().unwrap_or(0).max(1);
        // Mark, two blanks, time, blanks, number, two blanks.
        let margin = 3 + time + GAP + number + GAP;
        let room = columns.saturating_sub(margin);
        let mut lanes = self.widths(room.saturating_sub(LEAST_WHAT));
        let is_beside = lanes.iter().sum::<usize>() + LEAST_WHAT <= room;
        if !is_beside {
            lanes = self.widths(room);
        }
        GridLayout { time, number, margin, lanes, is_beside }
    }

    fn draw(&self, options: &TextOptions, text: &mut String) {
        let layout = self.layout(options.width);
        let has_lanes = layout.needs() <= options.width;
        let GridLayout { time, number, margin, lanes, is_beside } = layout;
        let room = options.width.saturating_sub(margin);
        let beside = margin + lanes.iter().sum::<usize>();
        let lane_text = |cells: &[TextCell], arrow: Option<&Shaft>| {
            if has_lanes { canvas(cells, arrow, &lanes).paint(options.paint) } else { String::new() }
        };
        let head = lane_text(&self.titles, None);
        let title = if is_beside || !has_lanes { "what happens" } else { "" };
        let line = format!("   {:<time$}{:gap$}{:>number$}  {head}{title}", "  t", "", "#", gap = GAP);
        let _ = writeln!(text, "{}", line.trim_end());
        for row in &self.rows {
            let mark = match row.mark {
                RowMark::None => " ".to_owned(),
                RowMark::Breaks => options.paint.paint(Tone::Bad, "!"),
                RowMark::Repeats => options.paint.paint(Tone::Bad, "|"),
            };
            let body = lane_text(&row.cells, row.arrow.as_ref());
            let line = format!("{mark}  {:>time$}{:gap$}{:>number$}  {body}", row.time, "", row.number, gap = GAP);
            let (indent, line, says) = if is_beside || !has_lanes {
                let indent = if has_lanes { beside } else { margin };
                let mut says = wrapped(&row.what, options.width.saturating_sub(indent).max(LEAST_WHAT)).into_iter();
                (indent, line + &says.next().unwrap_or_default(), says)
            } else {
                (margin, line, wrapped(&row.what, room.max(LEAST_WHAT)).into_iter())
            };
            let _ = writeln!(text, "{}", line.trim_end());
            for more in says {
                let mark = if row.mark == RowMark::Repeats { mark.as_str() } else { " " };
                let _ = writeln!(text, "{mark}{:rest$}{more}", "", rest = indent - 1);
            }
        }
    }

    /// The width of each lane, including the blanks behind it. If there is too little room, the widest are cut first.
    fn widths(&self, room: usize) -> Vec<usize> {
        let mut lanes: Vec<usize> = self.titles.iter().map(|title| width(&title.text) + GAP).collect();
        for row in &self.rows {
            for (index, cell) in row.cells.iter().enumerate() {
                let starts_arrow = row.arrow.as_ref().is_some_and(|arrow| arrow.from.min(arrow.to) == index);
                let behind = if starts_arrow { SHORTEST_ARROW } else { GAP };
                lanes[index] = lanes[index].max(width(&cell.text) + behind);
            }
        }
        while lanes.iter().sum::<usize>() > room {
            let Some(widest) = lanes.iter_mut().max().filter(|widest| **widest > LEAST_LANE) else { break };
            *widest -= 1;
        }
        lanes
    }
}

/// How the lines of a picture are divided.
struct GridLayout {
    /// Columns of the times.
    time: usize,
    /// Columns of the numbers.
    number: usize,
    /// Columns before the lanes.
    margin: usize,
    /// Columns of each lane.
    lanes: Vec<usize>,
    /// Whether the sentences stand beside the lanes, and not below them.
    is_beside: bool,
}

impl GridLayout {
    /// Columns of the lanes and of what stands before them, without the blanks behind the last one.
    fn needs(&self) -> usize {
        (self.margin + self.lanes.iter().sum::<usize>()).saturating_sub(GAP)
    }
}

impl TextRow {
    fn of(trace: &Trace, lanes: &[Lane], state: &State, content: Row, mark: RowMark) -> Self {
        let cell = |lane: &Lane| match content.cells.iter().rev().find(|(shown, _, _)| shown == lane) {
            Some((_, text, tone)) => TextCell { text: text.clone(), tone: *tone, is_at_rest: false },
            None => at_rest(*lane, state),
        };
        let position = |lane: Lane| lanes.iter().position(|other| *other == lane);
        let arrow = content.arrow.as_ref().and_then(|arrow| {
            Some(Shaft { from: position(arrow.from)?, to: position(arrow.to)?, arrives: arrow.arrives })
        });
        let number = match (content.opens, content.first == content.last) {
            (false, _) => String::new(),
            (true, true) => content.first.to_string(),
            (true, false) => format!("{}-{}", content.first, content.last),
        };
        Self {
            mark,
            time: words::time(&trace.config, content.at_tick),
            number,
            cells: lanes.iter().map(cell).collect(),
            arrow,
            what: content.what,
        }
    }
}

/// `A`, `n1 master`: the role is that at the start, a lane keeps its node.
fn title(trace: &Trace, lane: Lane) -> String {
    let name = lane.name(&trace.config);
    match lane {
        Lane::Node(node) => format!("{name} {}", trace.initial.nodes[usize::from(node)].role.name()),
        Lane::Thread { .. } | Lane::Resource => name,
    }
}

/// The sign of a lane without an event. Belief comes first: it is what the picture is about.
fn at_rest(lane: Lane, state: &State) -> TextCell {
    let (sign, tone) = match lane {
        Lane::Thread { client, thread } => {
            let client = &state.clients[usize::from(client)];
            let thread = &client.threads[usize::from(thread)];
            match client.mode {
                ClientMode::Crashed | ClientMode::NotStarted => ("", Tone::Faint),
                ClientMode::Running | ClientMode::Paused if thread.is_dead() => ("", Tone::Faint),
                ClientMode::Paused if thread.believes() => ("#=", Tone::Good),
                ClientMode::Running if thread.believes() => ("#", Tone::Good),
                ClientMode::Paused => ("=", Tone::Odd),
                ClientMode::Running if thread.is_in_lock() => ("?", Tone::Odd),
                ClientMode::Running => (".", Tone::Faint),
            }
        }
        Lane::Node(node) if state.nodes[usize::from(node)].is_down() => ("", Tone::Faint),
        Lane::Node(node) if state.nodes[usize::from(node)].is_paused => ("=", Tone::Odd),
        Lane::Node(_) | Lane::Resource => (".", Tone::Faint),
    };
    TextCell { text: sign.to_owned(), tone, is_at_rest: true }
}

/// A line of characters, each with its tone.
struct Canvas(Vec<(char, Tone)>);

/// The cells side by side, each in its lane, with the arrow between its ends.
fn canvas(cells: &[TextCell], arrow: Option<&Shaft>, lanes: &[usize]) -> Canvas {
    let mut canvas = Canvas(vec![(' ', Tone::Plain); lanes.iter().sum()]);
    let starts: Vec<usize> = lanes
        .iter()
        .scan(0, |next, width| {
            let start = *next;
            *next += width;
            Some(start)
        })
        .collect();
    let mut ends = Vec::with_capacity(cells.len());
    for (index, cell) in cells.iter().enumerate() {
        let starts_arrow = arrow.is_some_and(|arrow| arrow.from.min(arrow.to) == index);
        let behind = if starts_arrow { SHORTEST_ARROW } else { GAP };
        let shown = cut(&cell.text, lanes[index].saturating_sub(behind));
        canvas.write(starts[index], &shown, cell.tone);
        ends.push(starts[index] + width(&shown));
    }
    let Some(arrow) = arrow else { return canvas };
    let (left, right) = (arrow.from.min(arrow.to), arrow.from.max(arrow.to));
    let shaft = ends[left] + 1..starts[right].saturating_sub(1);
    for column in shaft.clone() {
        canvas.0[column] = ('-', Tone::Faint);
    }
    let head = match (arrow.arrives, arrow.from < arrow.to) {
        (false, _) => 'x',
        (true, true) => '>',
        (true, false) => '<',
    };
    let tip = if arrow.from < arrow.to { shaft.end.saturating_sub(1) } else { shaft.start };
    canvas.0[tip] = (head, if arrow.arrives { Tone::Faint } else { Tone::Odd });
    canvas
}

impl Canvas {
    fn write(&mut self, at: usize, text: &str, tone: Tone) {
        for (place, character) in self.0[at..].iter_mut().zip(text.chars()) {
            *place = (character, tone);
        }
    }

    fn paint(&self, paint: Paint) -> String {
        let runs = self.0.chunk_by(|one, next| one.1 == next.1);
        runs.map(|run| paint.paint(run[0].1, &run.iter().map(|(character, _)| *character).collect::<String>()))
            .collect()
    }
}

/// The text in so many columns: first without what can be spared (`A:1 x2 ttl 30 s` is `A:1x2 30s`), then cut, which
/// shows as `…`.
fn cut(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let spare = text
        .replace(" ttl ", " ")
        .replace(" x", "x")
        .replace(" ms", "ms")
        .replace(" s", "s")
        .replace("(empty)", "empty");
    if width(&spare) <= room {
        return spare;
    }
    spare.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}

/// Columns of a text without its escape sequences.
fn visible_width(text: &str) -> usize {
    width(&anstream::adapter::strip_str(text).to_string())
}

/// Columns: all our own words are of single width, and names that are not are only shifted by it.
fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cut must be visible: the text is not the whole state.
    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(cut("A:1 ttl 30 s", 12), "A:1 ttl 30 s");
        assert_eq!(cut("A:1 ttl 30 s", 8), "A:1 30s");
        assert_eq!(cut("A:1 ttl 30 s", 6), "A:1 3…");
    }
}
