//! A trace as a Mermaid sequence diagram, for documents.

use std::fmt::Write as _;

use lockstep_model::trace::Trace;

use super::rows::{Lane, rows};
use super::words;

/// The diagram, without a fence around it.
pub fn diagram(trace: &Trace) -> String {
    let config = &trace.config;
    let lanes = Lane::all(config);
    let mut text = String::from("sequenceDiagram\n");
    let _ = writeln!(text, "    title {}: {}", escaped(&trace.scenario), escaped(&words::about(&trace.about)));
    for lane in &lanes {
        let title = match lane {
            Lane::Node(node) => {
                format!("{} ({})", lane.name(config), trace.initial.nodes[usize::from(*node)].role.name())
            }
            Lane::Thread { .. } | Lane::Resource => lane.name(config),
        };
        let _ = writeln!(text, "    participant {} as {}", id(*lane), escaped(&title));
    }
    let everybody = match lanes.as_slice() {
        [only] => id(*only),
        [first, .., last] => format!("{},{}", id(*first), id(*last)),
        [] => String::new(),
    };
    let mut is_in_loop = false;
    for row in rows(trace) {
        let what = escaped(&row.what);
        if !is_in_loop && trace.loop_start.is_some_and(|start| row.first > start) {
            let _ = writeln!(text, "    loop for ever");
            is_in_loop = true;
        }
        if let Some(arrow) = &row.arrow {
            let line = match (arrow.arrives, arrow.is_answer) {
                (false, _) => "-x",
                (true, false) => "->>",
                (true, true) => "-->>",
            };
            let says = escaped(&arrow.says);
            let _ = writeln!(text, "    {}{line}{}: {says}", id(arrow.from), id(arrow.to));
        }
        // A request that was sent says enough by its arrow; what came of it is told with the answer.
        if row.closes {
            let over = match row.cells.first() {
                Some((lane, _, _)) if !is_time(trace, row.last) => id(*lane),
                _ => everybody.clone(),
            };
            let _ = writeln!(text, "    Note over {over}: {what}");
        }
    }
    if is_in_loop {
        let _ = writeln!(text, "    end");
    }
    if let Some(why) = words::why(trace) {
        let _ = writeln!(text, "    Note over {everybody}: {}", escaped(&why));
    }
    text
}

fn is_time(trace: &Trace, step: usize) -> bool {
    trace.steps.get(step - 1).is_some_and(|step| step.action == lockstep_model::Action::Tick)
}

/// A participant's id: no colon, and no word of the language.
fn id(lane: Lane) -> String {
    match lane {
        Lane::Thread { client, thread } => format!("c{client}t{thread}"),
        Lane::Node(node) => format!("n{}", node + 1),
        Lane::Resource => "res".to_owned(),
    }
}

/// Text that Mermaid takes as text: no entity, no comment, no end of statement, no line break, and `end` never alone.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '#' | ';' | '<' | '>' | '&' | '%' | '"' | '\\' | '`' | '{' | '}' => {
                let _ = write!(safe, "#{};", u32::from(character));
            }
            _ if character.is_control() => safe.push(' '),
            _ => safe.push(character),
        }
    }
    let is_end = safe.trim().eq_ignore_ascii_case("end");
    if is_end { format!("({})", safe.trim()) } else { safe }
}

#[cfg(test)]
mod tests {
    use super::escaped;

    /// A story is anybody's text: it must not be able to end a statement or to start one.
    #[test]
    fn text_cannot_break_out_of_its_statement() {
        assert_eq!(escaped("a;b\nNote over c: #x"), "a#59;b Note over c: #35;x");
        assert_eq!(escaped(" End "), "(End)");
    }
}
