//! The picture of a trace in space and time: one lifeline a party, time from top to bottom.
//!
//! A bar on a client's line is how long it believes it holds, a bar on a node's line is whose lock it stores, in the
//! same colour: that two bars of two colours stand side by side is what the picture is about. Colour repeats what a
//! word says.

use lockstep_model::Action;
use lockstep_model::config::Resource;
use lockstep_model::trace::{Hold, NodeRole, SlotMove, State, ThreadState, Trace, client_name};

use super::paint::Tone;
use super::rows::{Arrow, Lane, Row, rows};
use super::words;
use flight::{Flight, FlightEnd, Kind, flights};
use legend::{Sign, signs};
use life::{Life, life};
pub(crate) use svg_writer::escaped;
use svg_writer::{Point, SvgWriter};

mod flight;
mod legend;
mod life;
mod svg_writer;

/// The texts around the picture.
#[derive(Clone, Debug)]
pub struct SvgOptions {
    /// Below the title.
    pub caption: String,
    /// What is broken in the last state, one sentence each.
    pub broken: Vec<String>,
    /// Whether only a trace file tells the story: nothing in the trace can show that it is true.
    pub is_story_claimed: bool,
}

impl SvgOptions {
    /// The texts of the trace itself.
    pub fn of(trace: &Trace) -> Self {
        let mut caption = format!("{}, {}", words::about(&trace.about), words::count(trace.steps.len(), "step"));
        if let Some(goes_on) = words::goes_on(trace) {
            caption = format!("{caption}; {goes_on}");
        }
        Self { caption, broken: words::why(trace).into_iter().collect(), is_story_claimed: false }
    }
}

/// The picture: a whole SVG document.
pub fn picture(trace: &Trace, options: &SvgOptions) -> String {
    let sheet = Sheet::of(trace, options);
    let mut writer = SvgWriter::default();
    sheet.heading(&mut writer, options);
    sheet.bands(&mut writer, options);
    sheet.lifelines(&mut writer);
    let flights = flights(trace);
    for flight in &flights {
        sheet.flight(&mut writer, flight);
    }
    for (index, row) in sheet.rows.iter().enumerate() {
        sheet.row(&mut writer, index, row, options);
    }
    let rows: Vec<_> = sheet.rows.iter().map(|row| &row.content).collect();
    let signs = signs(trace, &rows, &flights);
    let height = sheet.footing(&mut writer, &signs, options);
    writer.finish(sheet.width, height, &format!("{}: {}", trace.scenario, options.caption))
}

/// A picture that contains one sentence only.
pub fn note(text: &str) -> String {
    let mut writer = SvgWriter::default();
    writer.text(Point { x: MARGIN, y: 30.0 }, "", text);
    writer.finish(2.0 * MARGIN + columns(text, SANS), 50.0, text)
}

// Pixels.
const MARGIN: f64 = 20.0;
/// Columns of the time and of the step's number.
const TIMES: f64 = 96.0;
/// Between two lifelines, at least.
const LEAST_GAP: f64 = 100.0;
const HEAD: f64 = 40.0;
/// A row of one line, and each line more.
const ROW: f64 = 32.0;
const LINE: f64 = 16.0;
/// From the top of a row to where its texts stand and its arrows leave.
const ANCHOR: f64 = 18.0;
/// How far an arrow falls on its way: transmission takes time.
const FALL: f64 = 8.0;
/// Half the width of a bar: of a believer, of a node's stored lock.
const BELIEF: f64 = 6.0;
const STORED: f64 = 4.5;
/// From a lifeline to what is written beside it.
const BESIDE: f64 = 12.0;
/// Width of a letter in sentences and in labels; an upper bound, because fonts differ.
const SANS: f64 = 6.6;
const MONO: f64 = 6.7;
/// Letters of a line of a sentence.
const SENTENCE: usize = 56;

/// The layout of the picture.
struct Sheet<'a> {
    trace: &'a Trace,
    lanes: Vec<Lane>,
    rows: Vec<PlacedRow>,
    gap: f64,
    /// Where the first lifeline stands.
    left: f64,
    /// Where the sentences begin.
    sentences: f64,
    width: f64,
    story: Vec<String>,
    /// Where the lifelines begin and end.
    top: f64,
    bottom: f64,
}

/// A content, and where it is.
struct PlacedRow {
    content: Row,
    what: Vec<String>,
    top: f64,
    bottom: f64,
}

impl PlacedRow {
    fn anchor(&self) -> f64 {
        self.top + ANCHOR
    }

    fn is_time(&self, trace: &Trace) -> bool {
        trace.steps.get(self.content.last - 1).is_some_and(|step| step.action == Action::Tick)
    }
}

impl<'a> Sheet<'a> {
    fn of(trace: &'a Trace, options: &SvgOptions) -> Self {
        let lanes = Lane::all(&trace.config);
        let rows = rows(trace);
        let gap = gap(trace, &rows);
        let left = MARGIN + TIMES + gap / 2.0;
        let sentences = left + gap * (to_f64(lanes.len()) - 0.5) + MARGIN;
        let heading = columns(&trace.scenario, 10.5).max(columns(&options.caption, SANS)) + 2.0 * MARGIN;
        let width = (sentences + SANS * to_f64(SENTENCE) + MARGIN).max(heading);
        let says = if options.is_story_claimed && !trace.story.is_empty() { "The trace file says: " } else { "" };
        let story = wrapped(&format!("{says}{}", trace.story), letters((width - 2.0 * MARGIN) / SANS));
        let top = MARGIN + 2.0 * 22.0 + LINE * to_f64(story.len()) + HEAD + 12.0;
        let mut at = top + 6.0;
        let place = |content: Row| {
            let what = wrapped(&content.what, SENTENCE);
            let row =
                PlacedRow { top: at, bottom: at + ROW + LINE * to_f64(what.len().saturating_sub(1)), content, what };
            at = row.bottom;
            row
        };
        let rows: Vec<PlacedRow> = rows.into_iter().map(place).collect();
        Self { trace, lanes, rows, gap, left, sentences, width, story, top, bottom: at + 24.0 }
    }

    fn x(&self, lane: Lane) -> f64 {
        let index = self.lanes.iter().position(|other| *other == lane).unwrap_or_default();
        self.left + self.gap * to_f64(index)
    }

    /// The row in which a step is done.
    fn row_of(&self, step: usize) -> Option<&PlacedRow> {
        self.rows.iter().find(|row| row.content.closes && row.content.first <= step && step <= row.content.last)
    }

    /// From where to where something is so.
    fn spans(&self, is_so: impl Fn(&State) -> bool, offset: f64) -> Vec<(f64, f64)> {
        let mut spans = Vec::new();
        let mut since = is_so(&self.trace.initial).then_some(self.top);
        for row in self.rows.iter().filter(|row| row.content.closes) {
            let (is_so_now, at) = (is_so(self.trace.state_after(row.content.last)), row.anchor() + offset);
            match since {
                Some(start) if !is_so_now => {
                    spans.push((start, at));
                    since = None;
                }
                None if is_so_now => since = Some(at),
                _ => {}
            }
        }
        spans.extend(since.map(|start| (start, self.bottom)));
        spans
    }

    fn heading(&self, writer: &mut SvgWriter, options: &SvgOptions) {
        let mut at = Point { x: MARGIN, y: MARGIN + 14.0 };
        writer.text(at, "title", &self.trace.scenario);
        at.y += 20.0;
        writer.text(at, if options.broken.is_empty() { "strong" } else { "bad" }, &options.caption);
        for line in &self.story {
            at.y += LINE;
            writer.text(at, "faint", line);
        }
        let (high, low) = (self.top - HEAD, self.top);
        writer.text(Point { x: MARGIN, y: low - 8.0 }, "faint", "time");
        writer.text(Point { x: MARGIN + TIMES - 22.0, y: low - 8.0 }, "faint end", "step");
        writer.text(Point { x: self.sentences, y: low - 8.0 }, "faint", "what happens");
        for &lane in &self.lanes {
            let x = self.x(lane);
            let half = self.gap / 2.0 - 8.0;
            let class = match lane {
                Lane::Thread { client, .. } => format!("head s{client}"),
                Lane::Node(_) | Lane::Resource => "head".to_owned(),
            };
            writer.rect(Point { x: x - half, y: high }, Point { x: x + half, y: low }, 8.0, &class);
            writer.text(Point { x, y: high + 17.0 }, "middle strong", &lane.name(&self.trace.config));
            writer.text(Point { x, y: high + 32.0 }, "middle faint", &self.role(lane));
        }
    }

    /// What a lane is, at the start.
    fn role(&self, lane: Lane) -> String {
        match lane {
            Lane::Thread { client, .. } if self.trace.config.clients.threads > 1 => {
                format!("client {}", client_name(client))
            }
            Lane::Thread { .. } => "client".to_owned(),
            Lane::Node(node) => self.trace.initial.nodes[usize::from(node)].role.name().to_owned(),
            Lane::Resource if self.trace.config.resource.is_some_and(Resource::is_fenced) => "fenced".to_owned(),
            Lane::Resource => "not fenced".to_owned(),
        }
    }

    /// The background: time that passes, and intervals with more than one believer.
    fn bands(&self, writer: &mut SvgWriter, options: &SvgOptions) {
        let (left, right) = (MARGIN + TIMES, self.sentences - MARGIN / 2.0);
        for row in self.rows.iter().filter(|row| row.is_time(self.trace)) {
            writer.rect(Point { x: left, y: row.top + 2.0 }, Point { x: right, y: row.bottom - 2.0 }, 4.0, "time");
        }
        for (from, to) in self.spans(|state| state.believers().count() > 1, FALL) {
            writer.rect(Point { x: left, y: from }, Point { x: right, y: to }, 4.0, "clash");
        }
        if let (Some(row), false) = (self.rows.last(), options.broken.is_empty()) {
            let (from, to) =
                (Point { x: self.sentences - 6.0, y: row.top }, Point { x: self.width - 8.0, y: row.bottom });
            writer.rect(from, to, 4.0, "clash");
        }
    }

    fn lifelines(&self, writer: &mut SvgWriter) {
        for &lane in &self.lanes {
            let x = self.x(lane);
            let bar = |writer: &mut SvgWriter, half: f64, (from, to): (f64, f64), class: &str| {
                writer.rect(Point { x: x - half, y: from }, Point { x: x + half, y: to }, half.min(4.0), class);
            };
            for (is_alive, class) in [(Life::Runs, "life"), (Life::Paused, "asleep")] {
                for (from, to) in self.spans(|state| life(state, lane) == is_alive, 0.0) {
                    writer.line(Point { x, y: from }, Point { x, y: to }, class);
                }
            }
            match lane {
                Lane::Thread { client, thread } => {
                    let is = |so: fn(&ThreadState) -> bool| {
                        move |state: &State| {
                            life(state, lane) != Life::IsOver
                                && so(&state.clients[usize::from(client)].threads[usize::from(thread)])
                        }
                    };
                    for span in self.spans(is(ThreadState::is_in_lock), FALL) {
                        bar(writer, BELIEF - 1.5, span, &format!("waits s{client}"));
                    }
                    for span in self.spans(is(ThreadState::believes), FALL) {
                        bar(writer, BELIEF, span, &format!("f{client}"));
                    }
                    let sleeps = |state: &State| life(state, lane) == Life::Paused && is(ThreadState::believes)(state);
                    for (from, to) in self.spans(sleeps, 0.0) {
                        writer.line(Point { x, y: from }, Point { x, y: to }, "within");
                    }
                }
                Lane::Node(node) => {
                    for client in 0..self.trace.config.clients.count {
                        let stores = |state: &State| {
                            let holders = &state.nodes[usize::from(node)].stored.holders;
                            holders.iter().any(|hold| hold.holder.starts_with(client_name(client)))
                        };
                        for span in self.spans(stores, 0.0) {
                            bar(writer, STORED, span, &format!("stored f{client}"));
                        }
                    }
                }
                Lane::Resource => {}
            }
        }
    }

    fn flight(&self, writer: &mut SvgWriter, flight: &Flight) {
        let class = match flight.kind {
            Kind::Effect => "effect",
            Kind::Message => "message",
        };
        let (from, to) = (self.x(flight.from), self.x(flight.to));
        let side = (to - from).signum();
        let Some(row) = self.row_of(flight.sent) else { return };
        // Below what the node stores now, which is written beside it.
        let start = Point { x: from + side * STORED, y: row.anchor() + 10.0 };
        // Just before the lane of its receiver: further away the cross would seem to belong to another node.
        let nearly = |y| Point { x: to - side * self.gap / 2.0, y };
        let arrival = |step| self.row_of(step).map(|row| row.anchor() - 1.0);
        match flight.end {
            FlightEnd::Arrived(step) => {
                let Some(y) = arrival(step) else { return };
                let half = if flight.kind == Kind::Effect { STORED } else { BELIEF };
                writer.arrow(start, Point { x: to - side * half, y }, class);
            }
            FlightEnd::Lost(step) => {
                let Some(y) = arrival(step) else { return };
                writer.line(start, nearly(y), class);
                writer.cross(nearly(y));
            }
            FlightEnd::UnderWay => writer.line(start, nearly(self.bottom), class),
        }
    }

    fn row(&self, writer: &mut SvgWriter, index: usize, row: &PlacedRow, options: &SvgOptions) {
        let (content, y) = (&row.content, row.anchor());
        let breaks = !options.broken.is_empty() && index + 1 == self.rows.len();
        let earlier = self.rows[..index].iter().rev().find(|other| !other.is_time(self.trace));
        if !row.is_time(self.trace) && earlier.is_none_or(|other| other.content.at_tick != content.at_tick) {
            writer.text(Point { x: MARGIN, y: y + 4.0 }, "m strong", &words::time(&self.trace.config, content.at_tick));
        }
        if content.opens {
            let number = if content.first == content.last {
                content.first.to_string()
            } else {
                format!("{}-{}", content.first, content.last)
            };
            writer.text(Point { x: MARGIN + TIMES - 22.0, y: y + 4.0 }, "m faint end", &number);
        }
        for (number, line) in row.what.iter().enumerate() {
            let at = Point { x: self.sentences, y: y + 4.0 + LINE * to_f64(number) };
            writer.text(at, if breaks { "bad" } else { "" }, line);
        }
        if let Some(arrow) = content.arrow.as_ref().filter(|arrow| !arrow.is_effect()) {
            self.arrow(writer, y, content, arrow);
        }
        if content.closes {
            for &lane in &self.lanes {
                self.marks(writer, row, lane);
            }
        }
    }

    fn arrow(&self, writer: &mut SvgWriter, y: f64, content: &Row, arrow: &Arrow) {
        let half = |lane| if matches!(lane, Lane::Thread { .. }) { BELIEF } else { STORED };
        let side = (self.x(arrow.to) - self.x(arrow.from)).signum();
        let from = Point { x: self.x(arrow.from) + side * half(arrow.from), y };
        let to = Point { x: self.x(arrow.to) - side * half(arrow.to), y: y + FALL };
        if arrow.arrives {
            writer.arrow(from, to, if arrow.is_answer { "answer" } else { "sent" });
        } else {
            let end = Point { x: from.x + (to.x - from.x) * 0.6, y: y + FALL * 0.6 };
            writer.line(from, end, "sent");
            writer.cross(end);
        }
        // At the client's end of the arrow.
        let (lane, away) = if arrow.is_answer { (arrow.to, -side) } else { (arrow.from, side) };
        let tone =
            content.cells.iter().find(|(_, text, _)| *text == arrow.says).map_or(Tone::Plain, |(_, _, tone)| *tone);
        self.label(writer, lane, y - 5.0, away, tone, &arrow.says);
    }

    /// What is written beside a lifeline; `side` is 1 for its right.
    fn label(&self, writer: &mut SvgWriter, lane: Lane, y: f64, side: f64, tone: Tone, text: &str) {
        let tone = match tone {
            Tone::Plain | Tone::Faint => "",
            Tone::Strong => " strong",
            Tone::Good => " good",
            Tone::Odd => " odd",
            Tone::Bad => " bad",
        };
        let anchor = if side < 0.0 { " end" } else { "" };
        writer.text(Point { x: self.x(lane) + side * BESIDE, y }, &format!("m halo{tone}{anchor}"), text);
    }

    /// What a step changes in a lane.
    fn marks(&self, writer: &mut SvgWriter, row: &PlacedRow, lane: Lane) {
        let (content, y) = (&row.content, row.anchor());
        let before = self.trace.state_after(content.first - 1);
        let after = self.trace.state_after(content.last);
        if life(before, lane) != Life::IsOver && life(after, lane) == Life::IsOver {
            writer.cross(Point { x: self.x(lane), y });
        }
        let arrow = content.arrow.as_ref().filter(|arrow| !arrow.is_effect());
        // Away from the arrow that leaves or reaches it.
        let other_end = arrow.and_then(|arrow| match lane {
            _ if arrow.from == lane => Some(arrow.to),
            _ if arrow.to == lane => Some(arrow.from),
            _ => None,
        });
        let inwards = if self.x(lane) > self.left + self.gap * to_f64(self.lanes.len() / 2) { -1.0 } else { 1.0 };
        let side = other_end.map_or(inwards, |other| -(self.x(other) - self.x(lane)).signum());
        if let Lane::Node(node) = lane {
            let (was, is) = (&before.nodes[usize::from(node)], &after.nodes[usize::from(node)]);
            let becomes = match (was.role, is.role) {
                (was, is) if was == is => None,
                (_, NodeRole::Master) => Some("MASTER"),
                (NodeRole::Unsynced, NodeRole::Replica) => Some("synced"),
                _ => None,
            };
            let mut lower = 4.0;
            if let Some(role) = becomes {
                let half = columns(role, MONO) / 2.0 + 6.0;
                let x = self.x(lane);
                writer.rect(Point { x: x - half, y: y - 14.0 }, Point { x: x + half, y: y + 2.0 }, 8.0, "pill");
                writer.text(Point { x, y: y - 2.0 }, "m white middle", role);
                lower += 10.0;
            }
            if was.is_cut != is.is_cut {
                let text = if is.is_cut { "cut off" } else { "healed" };
                return self.label(writer, lane, y + lower, side, Tone::Odd, text);
            }
            if was.is_paused != is.is_paused {
                let text = if is.is_paused { "stands still" } else { "goes on" };
                return self.label(writer, lane, y + lower, side, Tone::Odd, text);
            }
            if was.refuses_writes != is.refuses_writes && !is.is_down() {
                let text = if is.refuses_writes { "refuses writes" } else { "accepts writes" };
                return self.label(writer, lane, y + lower, side, Tone::Odd, text);
            }
            if was.slot_move != is.slot_move && !is.is_down() {
                let text = match is.slot_move {
                    Some(SlotMove::Begun) => "slot moves",
                    Some(SlotMove::KeysMoved) => "keys moved",
                    None => "slot moved",
                };
                return self.label(writer, lane, y + lower, side, Tone::Odd, text);
            }
            let is_new = |lock: &&Hold| becomes.is_some() || !was.stored.holders.contains(lock);
            let is_less = is.stored.holders.len() < was.stored.holders.len();
            let text = match is.stored.holders.iter().find(is_new) {
                Some(lock) if !is_less => words::stored(&self.trace.config, lock),
                None if is.is_down() => return,
                _ if is_less && row.is_time(self.trace) => "expired".to_owned(),
                _ if is_less && is.stored.is_held() => "one lock less".to_owned(),
                _ if is_less || becomes.is_some() => "no lock".to_owned(),
                _ => return,
            };
            self.label(writer, lane, y + lower, side, Tone::Plain, &text);
            return;
        }
        for (_, text, tone) in content.cells.iter().filter(|(shown, _, _)| *shown == lane) {
            let is_said = arrow.is_some_and(|arrow| arrow.says == *text && other_end.is_some());
            // Below the arrow of a message, which ends here.
            let (text, lower) = match text.as_str() {
                "message" => ("message", 14.0),
                "x message" => ("message lost", 18.0),
                text => (text.strip_prefix("x ").unwrap_or(text), 4.0),
            };
            if !is_said {
                self.label(writer, lane, y + lower, side, *tone, text);
            }
        }
    }

    /// The legend, and what is broken. Returns the height of the picture.
    fn footing(&self, writer: &mut SvgWriter, signs: &[Sign], options: &SvgOptions) -> f64 {
        let mut at = Point { x: MARGIN, y: self.bottom + 22.0 };
        for text in options.broken.iter().flat_map(|text| wrapped(text, letters((self.width - 4.0 * MARGIN) / SANS))) {
            let (from, to) = (Point { x: at.x, y: at.y - 14.0 }, Point { x: self.width - MARGIN, y: at.y + 8.0 });
            writer.rect(from, to, 5.0, "why");
            writer.text(Point { x: at.x + 10.0, y: at.y + 2.0 }, "bad", &text);
            at.y += 26.0;
        }
        for sign in signs {
            let says = sign.says();
            let width = 40.0 + columns(says, SANS) + 14.0;
            if at.x + width > self.width - MARGIN && at.x > MARGIN {
                at = Point { x: MARGIN, y: at.y + 22.0 };
            }
            sign.draw(writer, at);
            writer.text(Point { x: at.x + 38.0, y: at.y + 4.0 }, "faint", says);
            at.x += width;
        }
        at.y + MARGIN
    }
}

/// Between two lifelines: what stands beside one must not touch the next.
fn gap(trace: &Trace, rows: &[Row]) -> f64 {
    let stored = trace.steps.iter().flat_map(|step| &step.state.nodes).flat_map(|node| &node.stored.holders);
    let stored = stored.map(|lock| columns(&words::stored(&trace.config, lock), MONO));
    let sent = rows.iter().filter_map(|content| content.arrow.as_ref()).map(|arrow| columns(&arrow.says, MONO));
    let beside = rows.iter().flat_map(|content| &content.cells).filter(|(lane, _, _)| !matches!(lane, Lane::Node(_)));
    let beside = beside.map(|(_, text, _)| columns(text, MONO));
    stored.chain(sent).chain(beside).fold(LEAST_GAP, |gap, width| gap.max(width + 2.0 * BESIDE + 2.0))
}

/// The text in lines of so many letters, broken between words.
fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn columns(text: &str, letter: f64) -> f64 {
    to_f64(text.chars().count()) * letter
}

/// Pictures are small: their counts fit.
fn to_f64(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "widths are positive, and small")]
fn letters(count: f64) -> usize {
    count as usize
}
