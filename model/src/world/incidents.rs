//! What happens to nodes and reaches their clients as well: a crash, a demotion, a hand-over, a jump of a clock, a lease that
//! is due.

use super::context::Context;
use super::layout::{Layout, clients};
use super::normal_form::asked_nodes;
use crate::locks::contract::{Lock as _, StoredHold};
use crate::locks::holder::Holder;
use crate::notes::{Breach, Happening};
use crate::redis::group::Death;
use crate::reply::Reply;
use crate::time::Timer;

impl<Y: Layout> Context<'_, Y> {
    /// A node dies.
    pub(crate) fn crash_node(&mut self, node: u8) -> Option<Reply> {
        self.server().crash(node, Death::OfMachine)?;
        self.lose_all_to(node);
        Some(Reply::Done)
    }

    /// The process of a node is killed.
    pub(crate) fn kill_node(&mut self, node: u8) -> Option<Reply> {
        self.server().kill(node)?;
        self.lose_all_to(node);
        Some(Reply::Done)
    }

    /// A node is told to end. One that waits for its replicas keeps its connections meanwhile.
    pub(crate) fn shut_down_node(&mut self, node: u8) -> Option<Reply> {
        let has_ended = self.server().shut_down(node)?;
        if has_ended {
            self.lose_all_to(node);
        }
        Some(Reply::Done)
    }

    /// A node that was told to end has waited for its replicas.
    pub(crate) fn finish_shutdown(&mut self, node: u8) -> Option<Reply> {
        self.server().finish_shutdown(node)?;
        self.lose_all_to(node);
        Some(Reply::Done)
    }

    /// Every connection to a node ends with it.
    fn lose_all_to(&mut self, node: u8) {
        self.lose_connections(node);
        for client in clients::<Y>() {
            self.process(client, |process| process.lose_all_to(node));
        }
    }

    /// A replica applies the next effect.
    pub(crate) fn replicate(&mut self, node: u8) -> Option<Reply> {
        let (answers, is_published) = self.server().replicate(node)?;
        self.hear_wait_answers(answers);
        if is_published {
            self.notes.happened(Happening::Published);
            self.publish_on(node, 0, false);
        }
        Some(Reply::Done)
    }

    /// A replica begins to follow the new master and takes its data.
    pub(crate) fn resync(&mut self, node: u8) -> Option<Reply> {
        let answers = self.server().resync(node)?;
        self.hear_wait_answers(answers);
        Some(Reply::Done)
    }

    /// A dead node restarts.
    pub(crate) fn restart_node(&mut self, node: u8) -> Option<Reply> {
        let answers = self.server().restart(node)?;
        self.hear_wait_answers(answers);
        Some(Reply::Done)
    }

    /// A node that was cut off reaches the others again.
    pub(crate) fn heal(&mut self, node: u8) -> Option<Reply> {
        let answers = self.server().heal(node)?;
        self.hear_wait_answers(answers);
        Some(Reply::Done)
    }

    /// A node that refused writes accepts them again.
    pub(crate) fn accept_writes(&mut self, node: u8) -> Option<Reply> {
        let answers = self.server().accept_writes(node)?;
        self.hear_wait_answers(answers);
        Some(Reply::Done)
    }

    /// The slot of the lock has moved to another master.
    pub(crate) fn finish_move(&mut self, node: u8) -> Option<Reply> {
        let answers = self.server().finish_move(node)?;
        self.hear_wait_answers(answers);
        Some(Reply::Done)
    }

    /// An old master is made a replica of the new one.
    pub(crate) fn demote(&mut self, node: u8) -> Option<Reply> {
        self.server().demote(node)?;
        self.lose_connections(node);
        Some(Reply::Done)
    }

    /// A replica becomes the master while the master runs, or the master begins to hand over to it.
    pub(crate) fn hand_over(&mut self, node: u8) -> Option<Reply> {
        let answers = self.server().hand_over(node)?;
        self.hear_wait_answers(answers);
        Some(Reply::Done)
    }

    /// The heir of a master that hands over takes its place. The old master closes its connections.
    pub(crate) fn finish_hand_over(&mut self, node: u8) -> Option<Reply> {
        let old = self.world.group().master();
        let answers = self.server().finish_hand_over(node)?;
        self.hear_wait_answers(answers);
        self.lose_connections(old);
        self.server().delete_expired_after_hand_over(old)?;
        Some(Reply::Done)
    }

    /// A master that hands over gives up.
    pub(crate) fn give_up_hand_over(&mut self, node: u8) -> Option<Reply> {
        let answers = self.server().give_up_hand_over(node)?;
        self.hear_wait_answers(answers);
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
        if node == self.world.group().master() && self.server().expires_by_jump(node) {
            self.note_lost_lease(self.config.time.jump);
        }
        self.server().jump(node)?;
        Some(Reply::Done)
    }

    /// The lock's key of a node has no time left, and is gone before the others who act at this instant.
    pub(crate) fn expire(&mut self, node: u8) -> Option<Reply> {
        if !self.server().lock_is_due(node) || !self.is_read(node) {
            return None;
        }
        // Of a lock with readers a hold may be over that is not the last one.
        if node == self.world.group().master() && self.server().expires(1) {
            self.note_lost_lease(1);
        }
        self.server().expire(node)?;
        Some(Reply::Done)
    }

    /// Of two parts of a lock that have no time left on a master one is gone.
    pub(crate) fn expire_part(&mut self, node: u8, name: u8) -> Option<Reply> {
        if !self.server().lock_is_due(node) || !self.is_read(node) || !self.world.node(node).is_master() {
            return None;
        }
        let due = |hold: &StoredHold| hold.remaining.is_due();
        if self.world.node(node).stored.holders().filter(due).count() < 2 {
            return None;
        }
        self.server().expire_part(node, name)?;
        self.notes.happened(Happening::Expired);
        Some(Reply::Done)
    }

    /// Receipts of a node have no time left, and are gone. A replica hides them together with the lock, if that is due as well:
    /// it does so by its clock alone.
    pub(crate) fn expire_receipts(&mut self, node: u8) -> Option<Reply> {
        let is_hidden_with_lock = !self.world.node(node).is_master() && self.server().lock_is_due(node);
        if is_hidden_with_lock || !self.is_read(node) {
            return None;
        }
        self.server().expire_receipts(node)?;
        Some(Reply::Done)
    }

    /// Whether it makes a difference at this instant that a key of this node is gone: it accepts writes, or a client asks it. A
    /// replica that nobody asks shows it when it has been promoted, and then it is a master that finds a key with no time left.
    fn is_read(&self, node: u8) -> bool {
        let reading = self.world.node(node);
        // One that stands still answers nobody before it goes on.
        let is_asked = || asked_nodes(self.config, self.world, self.front) >> node & 1 != 0;
        reading.is_working() && (reading.is_master() || is_asked())
    }

    /// Notes that a key of the acting master expires when `ticks` pass, and whether a holder has a watchdog that should have
    /// prevented it.
    pub(super) fn note_lost_lease(&mut self, ticks: i8) {
        let Some(stored) = self.world.acting_master().map(|master| master.stored) else { return };
        // Of several locks only those whose time is over.
        let is_over = |hold: &StoredHold| Y::Lock::NAMES == 1 || hold.remaining.moved(ticks).is_none();
        for hold in stored.holders().filter(is_over) {
            self.notes.happened(Happening::Expired);
            let client = self.world.client(hold.by.holder.client());
            let master = self.world.group().master();
            let is_connected = client.master() == master && self.world.node(master).is_working();
            // What expires may be left over from an earlier acquire of the same holder.
            let is_its_own = self.world.requester(hold.by.holder) == hold.by;
            let has_all = !Y::Lock::FACTS.parts.is_there() || !client.is_in_call();
            let believes = self.world.thread(hold.by.holder).believes() && has_all;
            let is_held = client.is_running() && is_its_own && believes;
            let names_lease = self.config.names_each_lease(hold.by.holder.thread());
            let has_watchdog = self.config.settings_of(hold.by.holder.client()).renew_every.is_some() && !names_lease;
            // It was paused when it should have renewed, and has resumed at this very instant: what is lost, the pause lost.
            let was_paused = self.renewal_due_in(hold.by.holder) == Timer::OVERDUE;
            // What one of several masters loses is not the lock.
            if has_watchdog && is_connected && is_held && !was_paused && !Y::Lock::HAS_SEVERAL_MASTERS {
                self.notes.broke(Breach::LeaseLost);
            }
        }
    }
    /// When the timer fires that renews a holder's lock: where each lock has its own, its own.
    fn renewal_due_in(&self, holder: Holder) -> Timer {
        let table = &self.world.client(holder.client()).renewal;
        let config = self.config.of_client(holder.client());
        if config.has_timer_per_thread() { table.due_in_of(holder.thread()) } else { table.due_in() }
    }
}
