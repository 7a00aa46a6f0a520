//! How the caller of an acquire gives it up: its thread is interrupted, or the future is cancelled.

use std::collections::BTreeSet;

use lockstep_model::Action;
use lockstep_model::client::Slot;
use lockstep_model::trace::Trace;
use serde::Deserialize;

/// How the caller of an acquire gives it up, where a history says that it is interrupted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interruption {
    /// Its thread is interrupted while it waits for the answer.
    #[default]
    Thread,
    /// The interrupt flag of its thread is set before it calls (docs/facts/redisson.md#the-interrupt-flag-is-enough).
    Flag,
    /// It holds the future of `tryLockAsync()`, and cancels it.
    Cancel,
}

/// The acquires of a history whose callers are interrupted before they are answered, by their steps.
pub fn flagged(trace: &Trace, interruption: Interruption) -> BTreeSet<usize> {
    if interruption != Interruption::Flag {
        return BTreeSet::new();
    }
    let is_interrupted = |asking: usize, client: u8, thread: u8| {
        let next = trace.steps[asking + 1..].iter().map(|step| step.action).find(|action| match *action {
            Action::Answer { client: of, slot } | Action::Abandon { client: of, slot } => {
                of == client && slot == Slot::of_thread(thread)
            }
            Action::Acquire { client: of, thread: asks } => (of, asks) == (client, thread),
            other => other == Action::Interrupt { client, thread },
        });
        next == Some(Action::Interrupt { client, thread })
    };
    let acquires = trace.steps.iter().enumerate().filter_map(|(index, step)| match step.action {
        Action::Acquire { client, thread } => is_interrupted(index, client, thread).then_some(step.number),
        _ => None,
    });
    acquires.collect()
}
