//! What a caller is told, held against what a server has granted it.
//!
//! Source: docs/facts/redisson.md#readonly-can-leave-an-orphan, #a-later-ask-that-is-not-answered.

use super::context::Context;
use super::layout::Layout;
use crate::client::requests::{Request, Stage, Verb};
use crate::client::state::Phase;
use crate::locks::holder::Holder;
use crate::notes::{Breach, Happening};
use crate::reply::Reply;

impl<Y: Layout> Context<'_, Y> {
    /// A caller is told that a server refuses to write. Its node may have granted a later attempt, whatever it was answered: also
    /// too few replicas may have that grant.
    pub(super) fn note_refusal(&mut self, holder: Holder, answered: &Request) {
        let is_alive = self.world.thread(holder).phase != Phase::Dead;
        let is_refused = matches!(answered.stage, Stage::Executed(reply) if reply.is_refusal_to_write());
        if answered.verb == Verb::Acquire && is_alive && is_refused {
            self.notes.happened(Happening::AcquireFailed);
        }
        let is_told = answered.wait.has_failed() && is_alive;
        let is_granted = match answered.stage {
            Stage::Executed(Reply::Acquired | Reply::Acknowledged { .. }) => true,
            Stage::Executed(Reply::TooFewReplicas { .. }) => self.world.node(answered.node).stored.is_held_by(holder),
            _ => false,
        };
        if answered.verb == Verb::Acquire && is_told && is_granted {
            self.note_untrue_refusal();
        }
    }

    /// A caller is told this because its request had no answer. The model does not keep what a lost request was answered, nor
    /// which node it was sent to. So the acting master says who has the lock.
    pub(super) fn note_refusal_without_answer(&mut self, holder: Holder, told: Reply) {
        let is_granted = self.world.group().acting_master().is_some_and(|master| master.stored.is_held_by(holder));
        if told == Reply::ToldRefused && is_granted {
            self.note_untrue_refusal();
        }
    }

    /// Beside a resource it is not counted: a world has no bit for it.
    fn note_untrue_refusal(&mut self) {
        if self.config.resource.is_none() {
            self.notes.broke(Breach::RefusedAndGranted);
        }
    }
}
