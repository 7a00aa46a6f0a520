//! What happens to nodes and reaches their clients as well: a crash, a demotion, a hand-over, a jump of a clock.

use super::context::Context;
use super::layout::Layout;
use super::network::clients;
use crate::notes::{Breach, Happening};
use crate::reply::Reply;

impl<Y: Layout> Context<'_, Y> {
    /// A node dies.
    pub(crate) fn crash_node(&mut self, node: u8) -> Option<Reply> {
        self.server().crash(node)?;
        self.lose_connections(node);
        for client in clients::<Y>() {
            self.process(client, |process| process.lose_all_to(node));
        }
        Some(Reply::Done)
    }

    /// A replica applies the next effect.
    pub(crate) fn replicate(&mut self, node: u8) -> Option<Reply> {
        let answers = self.server().replicate(node)?;
        self.hear_wait_answers(answers);
        Some(Reply::Done)
    }

    /// A replica begins to follow the new master and takes its data.
    pub(crate) fn resync(&mut self, node: u8) -> Option<Reply> {
        let answers = self.server().resync(node)?;
        self.hear_wait_answers(answers);
        Some(Reply::Done)
    }

    /// An old master is made a replica of the new one, and takes its data.
    pub(crate) fn demote(&mut self, node: u8) -> Option<Reply> {
        let answers = self.server().demote(node)?;
        self.hear_wait_answers(answers);
        self.lose_connections(node);
        Some(Reply::Done)
    }

    /// A replica becomes the master while the master runs.
    pub(crate) fn hand_over(&mut self, node: u8) -> Option<Reply> {
        let old = self.world.group().master;
        let (closes_connections, answers) = self.server().hand_over(node)?;
        self.hear_wait_answers(answers);
        if closes_connections {
            self.lose_connections(old);
            self.server().delete_expired_after_hand_over(old)?;
        }
        Some(Reply::Done)
    }

    /// A node that stood still goes on.
    pub(crate) fn resume_node(&mut self, node: u8) -> Option<Reply> {
        let answers = self.server().resume(node)?;
        self.hear_wait_answers(answers);
        Some(Reply::Done)
    }

    /// A master that stood still counts its replicas anew.
    pub(crate) fn count_anew(&mut self, node: u8) -> Option<Reply> {
        let answers = self.server().count_anew(node)?;
        self.hear_wait_answers(answers);
        Some(Reply::Done)
    }

    /// The clock of a node jumps.
    pub(crate) fn jump_clock(&mut self, node: u8) -> Option<Reply> {
        if !self.server().can_jump(node) {
            return None;
        }
        if node == self.world.group().master && self.server().expires_by_jump(node) {
            self.note_lost_lease();
        }
        self.server().jump(node)?;
        Some(Reply::Done)
    }

    /// Notes that the acting master's key expires, and whether a holder has a watchdog that should have prevented it.
    pub(super) fn note_lost_lease(&mut self) {
        let Some(stored) = self.world.acting_master().map(|master| master.stored) else { return };
        for hold in stored.holders() {
            self.notes.happened(Happening::Expired);
            let client = self.world.client(hold.by.holder.client());
            let master = self.world.group().master;
            let is_connected = client.master() == master && !self.world.node(master).is_paused();
            // What expires may be left over from an earlier acquire of the same holder.
            let is_its_own = self.world.requester(hold.by.holder) == hold.by;
            let is_held = client.is_running() && is_its_own && self.world.thread(hold.by.holder).believes();
            let has_watchdog = self.config.settings_of(hold.by.holder.client()).renew_every.is_some();
            if has_watchdog && is_connected && is_held {
                self.notes.broke(Breach::LeaseLost);
            }
        }
    }
}
