//! How Sentinel is led to promote the replica that a history promotes, by its own setting.

use lockstep_model::Action;
use lockstep_model::trace::Trace;

/// Of all others none (`replica-priority 0`).
const NEVER: u32 = 0;
/// The server's own default.
const DEFAULT: u32 = 100;

/// The replicas that a history promotes, in its order.
pub fn heirs(trace: &Trace) -> impl Iterator<Item = u8> {
    trace.steps.iter().filter_map(|step| if let Action::Promote { node } = step.action { Some(node) } else { None })
}

/// The `replica-priority` of a node while Sentinel is to promote this heir. That is a real setting, and the only one: among
/// equal priorities Sentinel compares offsets and then run ids, which are random. A lower number than that of the others is not
/// enough: Sentinel passes over a replica that is slow to answer when it chooses, as on a busy machine
/// (docs/facts/redis.md#choice-of-the-replica). If it can choose nobody else, it tries again.
///
/// Where the history promotes nobody any more, the choice is Sentinel's own.
pub fn priority(node: u8, heir: Option<u8>) -> u32 {
    if heir.is_none_or(|heir| heir == node) { DEFAULT } else { NEVER }
}
