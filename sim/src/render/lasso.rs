//! A lasso in words: where its loop closes, and why the loop is fair.

use lockstep_model::Action;
use lockstep_model::trace::{InLoop, Trace};

/// Where the loop of a lasso closes. `None`: the trace is no lasso.
pub fn goes_on(trace: &Trace) -> Option<String> {
    let (start, last) = (trace.loop_start?, trace.steps.len());
    Some(if start == last {
        format!("after step {last} nothing more must happen")
    } else {
        format!("after step {last} it continues with step {}, for ever", start + 1)
    })
}

/// Why the loop is fair: for every action that must happen, why it need not happen in a way that ends the loop. One line
/// for each reason.
pub fn fairness(trace: &Trace) -> Vec<String> {
    let mut reasons: Vec<(InLoop, Vec<String>)> = Vec::new();
    for fair in trace.fairness.iter().flatten() {
        let mut verb = fair.action.kind().name().replace('_', " ");
        if let Some(slot) = fair.action.slot() {
            verb = format!("{verb} {}", slot.name());
        }
        let does = if fair.action == Action::Tick { verb } else { format!("{} {verb}", fair.lane) };
        match reasons.iter_mut().find(|(reason, _)| *reason == fair.in_loop) {
            Some((_, actions)) => actions.push(does),
            None => reasons.push((fair.in_loop, vec![does])),
        }
    }
    reasons.sort_by_key(|(reason, _)| match *reason {
        InLoop::TakenAt(step) => (0, step),
        InLoop::DisabledAfter(step) => (1, step),
        InLoop::NeverPossible => (2, 0),
    });
    let lines = reasons.into_iter().map(|(reason, actions)| match reason {
        InLoop::TakenAt(step) => format!("taken at step {step}: {}", actions.join(", ")),
        InLoop::DisabledAfter(step) => format!("disabled after step {step}: {}", actions.join(", ")),
        InLoop::NeverPossible => format!("never possible in the loop: {}", actions.join(", ")),
    });
    lines.collect()
}
