//! A trace as a list: one line per step, for mails and greps.

use std::fmt::Write as _;

use lockstep_model::trace::Trace;

use super::words;

/// Number, lane, what it does, what is answered.
pub fn list(trace: &Trace) -> String {
    let config = &trace.config;
    let lines: Vec<_> = trace
        .steps
        .iter()
        .map(|step| (step.number, &step.lane, words::does_where(step.action), words::reply(config, step.answer)))
        .collect();
    let digits = lines.len().to_string().len();
    let lane = lines.iter().map(|(_, lane, _, _)| lane.chars().count()).max().unwrap_or(0);
    let does = lines.iter().map(|(_, _, does, _)| does.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (number, who, what, reply) in lines {
        let row = format!("{number:>digits$}  {who:<lane$}  {what:<does$}  {reply}");
        let _ = writeln!(text, "{}", row.trim_end());
    }
    if let Some(goes_on) = words::goes_on(trace) {
        let _ = writeln!(text, "{goes_on}");
    }
    text
}
