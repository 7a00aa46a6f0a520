//! The two sides of a lock with readers: each client is one thread of an application, which writes as thread 0 of the model and
//! reads as thread 1.
//!
//! Older versions keep another table for them (docs/facts/family.md#read-write).

use lockstep_model::config::Profile;
use lockstep_model::trace::ClientState;
use lockstep_model::{Action, Reply};

use crate::replay::history_step::HistoryStep;

/// What a client is as a writer.
pub const WRITER: u8 = 0;
/// What it is as a reader.
pub const READER: u8 = 1;

/// An entry of a renewal table as older versions keep it: up to 3.43 both sides of a client share one, in 3.52 it is that of the
/// reader. Each acquire adds its thread to a queue, and only the release with which the count is 0 takes one out.
#[derive(Clone, Copy, Debug, Default)]
pub struct OldEntry {
    /// Whose script its timer sends: the side that has made it.
    side: usize,
    count: u8,
    queue: u8,
}

impl OldEntry {
    /// A step was done by this client.
    pub(super) fn follow(&mut self, step: HistoryStep<'_>, client: u8, profile: Profile) {
        let of = |clients: &[ClientState]| clients[usize::from(client)].renewal_counts.clone();
        let (before, after) = (of(&step.before.clients), of(&step.step.state.clients));
        let is_shared = profile == Profile::Redisson343;
        match step.step.action {
            Action::Release { client: of, thread } | Action::ForeignRelease { client: of, thread } if of == client => {
                if is_shared || thread == READER {
                    let holds = step.before.clients[usize::from(client)].threads[usize::from(thread)].holds;
                    let releases = if step.step.answer == Reply::NotHeld { holds.max(1) } else { 1 };
                    (0..releases).for_each(|_| self.lower());
                }
            }
            Action::Renew { client: of } if of == client && after != before && is_shared => *self = Self::default(),
            Action::Renew { client: of }
                if of == client && after[usize::from(READER)] < before[usize::from(READER)] =>
            {
                self.lower();
            }
            Action::ForceRelease { client: of } if of == client && is_shared => *self = Self::default(),
            _ => {
                let is_counted = |side: &usize| is_shared || *side == usize::from(READER);
                for side in (0..after.len()).filter(is_counted).filter(|side| after[*side] > before[*side]) {
                    self.side = if self.queue == 0 { side } else { self.side };
                    (self.count, self.queue) = (self.count + 1, self.queue + 1);
                }
            }
        }
    }

    fn lower(&mut self) {
        if self.count > 0 {
            self.count -= 1;
            self.queue -= u8::from(self.count == 0);
        }
    }

    /// Whether it renews what the model does.
    pub(super) fn is_as_modelled(self, client: &ClientState, profile: Profile) -> bool {
        let is_shared = profile == Profile::Redisson343;
        let mut counts =
            (0..).zip(&client.renewal_counts).filter(|(side, _)| is_shared || *side == usize::from(READER));
        counts.all(|(side, count)| (*count > 0) == (self.queue > 0 && self.side == side))
    }
}
