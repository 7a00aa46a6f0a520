//! Intervals: who believed, and which node stored whom, from which step to which.

use super::format::{ClaimInterval, Claims, TraceStep};

impl Claims {
    /// The intervals of a whole run.
    pub fn of(steps: &[TraceStep]) -> Self {
        let mut claims = Self::default();
        for step in steps {
            let believed = step.state.believers().map(|thread| (thread.name.clone(), thread.name.clone()));
            extend(&mut claims.believed, step.number, believed.collect());
            let stored = step
                .state
                .nodes
                .iter()
                .flat_map(|node| node.stored.holders.iter().map(|hold| (node.name.clone(), hold.holder.clone())));
            extend(&mut claims.stored, step.number, stored.collect());
        }
        claims
    }
}

/// Ends the intervals of what is not true any more, and begins new ones.
fn extend(claims: &mut Vec<ClaimInterval>, step: usize, now: Vec<(String, String)>) {
    for claim in claims.iter_mut().filter(|claim| claim.to_step.is_none()) {
        if !now.iter().any(|(by, holder)| *by == claim.by && *holder == claim.holder) {
            claim.to_step = Some(step);
        }
    }
    for (by, holder) in now {
        let is_open = |claim: &ClaimInterval| claim.to_step.is_none() && claim.by == by && claim.holder == holder;
        if !claims.iter().any(is_open) {
            claims.push(ClaimInterval { by, holder, from_step: step, to_step: None });
        }
    }
}
