//! A lasso in words: where its loop closes, and why the loop is fair.

use std::collections::{BTreeMap, BTreeSet};

use lockstep_model::Action;
use lockstep_model::trace::{InLoop, Trace};

use super::actions::{actor, does};
use super::prose::unbroken;

/// Where the loop of a lasso closes. `None`: the trace is no lasso.
pub fn goes_on(trace: &Trace) -> Option<String> {
    let (start, last) = (trace.loop_start?, trace.steps.len());
    Some(match last - start {
        0 => format!("after step {last} nothing more has to happen, so it can stay like this for ever"),
        1 => format!("after step {last} everything is as it was before, so this step can repeat for ever"),
        _ => format!(
            "after step {last} everything is as it was after step {start}, so steps {} to {last} can repeat for ever",
            start + 1
        ),
    })
}

/// Why the loop is fair: for every action that must happen, why it need not happen in a way that ends the loop. One line
/// for each reason, after one that says what the lines are about.
pub fn fairness(trace: &Trace) -> Vec<String> {
    let mut happens: BTreeMap<usize, String> = BTreeMap::new();
    let mut passed_over: BTreeMap<Option<usize>, Passed> = BTreeMap::new();
    for fair in trace.fairness.iter().flatten() {
        let does = does(fair.action);
        let who = actor(&trace.config, fair.action);
        let excused = match fair.in_loop {
            InLoop::TakenAt(step) => {
                let says = if fair.action == Action::Tick { does.to_owned() } else { format!("{who} {does}") };
                happens.insert(step, format!("{says} (step {step})"));
                continue;
            }
            InLoop::DisabledAfter(step) => Some(step),
            InLoop::NeverPossible => None,
        };
        passed_over.entry(excused).or_default().entry(does).or_default().insert(who);
    }
    if happens.is_empty() && passed_over.is_empty() {
        return Vec::new();
    }
    let excuse =
        if trace.config.strong_fairness { "is never possible in it" } else { "is impossible at some point of it" };
    let mut lines = vec![format!(
        "the loop neglects no action: each action that must happen sooner or later happens in it, or {excuse} ({})",
        unbroken("see `lockstep explain fairness`")
    )];
    if !happens.is_empty() {
        lines.push(format!("these happen: {}", happens.into_values().collect::<Vec<_>>().join("; ")));
    }
    lines.extend(passed_over.into_iter().map(|(after, actions)| {
        let each = actions
            .into_iter()
            .map(|(does, who)| format!("{does} ({})", who.into_iter().collect::<Vec<_>>().join(", ")));
        let each = each.collect::<Vec<_>>().join("; ");
        match after {
            Some(step) => format!("these are impossible after step {step}: {each}"),
            None => format!("these are never possible in the loop: {each}"),
        }
    }));
    lines
}

/// What is passed over, and by whom.
type Passed = BTreeMap<&'static str, BTreeSet<String>>;
