//! A client and several masters, each of which stores a lock of its own: whom it asks, what each of them stores then, and what a watchdog
//! renews there. The rules of the client stand in `client/master_locks`; asks, late replies and failovers are those of
//! `world/masters`.
//!
//! A part is an `RLock` of a client of its own: each master has a renewal table, and its timer. The rules of the watchdog know one table: the
//! one that a step is about takes its place for as long as the rule takes.

use core::mem::swap;

use super::context::Context;
use super::layout::Layout;
use super::masters::own;
use super::state::World;
use crate::client::RenewalTable;
use crate::client::master_locks::LocksDecision;
use crate::client::masters::ONLY_THREAD;
use crate::client::process::Process;
use crate::client::watchdog::Firing;
use crate::config::sections::Config;
use crate::limits::MAX_GROUPS;
use crate::locks::contract::{Lock as _, LockRequest};
use crate::locks::master_calls::MastersCall;
use crate::notes::{Breach, Happening};
use crate::reply::Reply;

impl<Y: Layout> World<Y> {
    /// Whether a timer of this client fires, for one of several masters, before time passes.
    pub(super) fn has_due_watchdog(&self, config: &Config, client: u8) -> bool {
        Y::Lock::HAS_MASTER_LOCKS
            && self.client(client).is_running()
            && (0..config.cluster.groups).any(|master| self.watchdog(client, master).due_in().is_due())
    }

    /// A client is dead, and renews nothing any more.
    pub(super) fn forget_watchdogs(&mut self, client: u8) {
        for master in (0..MAX_GROUPS).filter(|_| Y::Lock::HAS_MASTER_LOCKS) {
            self.set_watchdog(client, master, RenewalTable::EMPTY);
        }
    }
}

impl<Y: Layout> Context<'_, Y> {
    /// One tick on the timers of a client, for each master, and on what is left of its call.
    pub(super) fn tick_at_masters(&mut self, client: u8) {
        if !Y::Lock::HAS_MASTER_LOCKS || !self.world.client(client).is_alive() {
            return;
        }
        for master in 0..self.config.cluster.groups {
            let mut table = self.world.watchdog(client, master);
            table.tick();
            self.world.set_watchdog(client, master, table);
        }
        let call = self.world.call(client);
        self.world.set_call(client, MastersCall { left: call.left.later(), ..call });
    }

    /// A rule of the watchdog that renews on this master.
    fn at_watchdog<T>(&mut self, client: u8, master: u8, rule: impl FnOnce(&mut Process<'_, Y::InFlight>) -> T) -> T {
        let mut table = self.world.watchdog(client, master);
        swap(&mut self.world.clients.as_mut()[usize::from(client)].renewal, &mut table);
        let result = self.process(client, rule);
        swap(&mut self.world.clients.as_mut()[usize::from(client)].renewal, &mut table);
        self.world.set_watchdog(client, master, table);
        result
    }

    /// A client calls the lock.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "a path is not general enough over lifetimes")]
    pub(super) fn begin_asking_locks(&mut self, client: u8) -> Reply {
        self.in_call(client, |process, call| process.begin_asking_locks(call));
        Reply::Done
    }

    /// A client has heard a master, or does not reach it.
    pub(super) fn hear_lock(&mut self, client: u8, master: u8, is_granted: bool) {
        if is_granted {
            self.at_watchdog(client, master, |process| process.register_hold(ONLY_THREAD));
        }
        // Its subscription, if it has one, is at this master.
        let decision = self.with_front(master, |context| {
            context.in_call(client, |process, call| process.hear_of_lock(call, master, is_granted))
        });
        self.note_decision(client, decision);
    }

    /// A client sets its lease on a master. Whoever has the lock there by then has it.
    pub(crate) fn set_ttl_at(&mut self, client: u8, node: u8) -> Option<Reply> {
        let master = self.group_where_known(client, node)?;
        if !self.in_call(client, |process, call| process.can_set_lease_at(*call, master)) {
            return None;
        }
        let reply = self.at_master(node, LockRequest::SetTtl(own(client)))?;
        self.hear_lease_at(client, master, reply);
        Some(reply)
    }

    /// A client has heard a master that was asked for that, or does not reach it.
    pub(super) fn hear_lease_at(&mut self, client: u8, master: u8, reply: Reply) {
        let decision = self.in_call(client, |process, call| process.hear_lease_at(call, master, reply));
        self.note_decision(client, decision);
    }

    /// The timer of a client for one master fires, and what that has granted is renewed there.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "a path is not general enough over lifetimes")]
    pub(super) fn renew_lock_at(&mut self, client: u8, node: u8) -> Option<Reply> {
        let master = self.group_where_known(client, node)?;
        let (thread, is_too_soon) = match self.at_watchdog(client, master, |process| process.fire_renewal())? {
            Firing::Nothing => return Some(Reply::NothingToRenew),
            Firing::Renews { thread, is_too_soon } => (thread, is_too_soon),
        };
        let reply = self.at_master(node, LockRequest::Renew(own(client)))?;
        if reply == Reply::Unreachable {
            self.at_watchdog(client, master, |process| process.renewal_failed());
            return Some(reply);
        }
        if is_too_soon {
            self.notes.broke(Breach::RenewedTooSoon);
        }
        match reply {
            Reply::Renewed => self.notes.happened(Happening::LeaseRenewed),
            Reply::RenewalMissed => self.notes.happened(Happening::RenewalWasMissed),
            _ => {}
        }
        self.at_watchdog(client, master, |process| process.hear_renewal(thread, reply, false));
        Some(reply)
    }

    /// A holder calls `unlock()`.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "a path is not general enough over lifetimes")]
    pub(super) fn begin_release_of_locks(&mut self, client: u8) -> Reply {
        self.in_call(client, |process, call| process.begin_release_of_locks(call));
        Reply::Done
    }

    /// A client releases on a master. What that answers is looked at by its watchdog, and by an `unlock()` that stops at an error.
    pub(super) fn release_lock_at(&mut self, client: u8, node: u8, master: u8) -> Option<Reply> {
        if !self.in_call(client, |process, call| process.can_release_lock_at(*call, master)) {
            return None;
        }
        let reply = self.at_master(node, LockRequest::Release(own(client)))?;
        self.at_watchdog(client, master, |process| process.hear_release_in_watchdog(reply));
        let decision = self.in_call(client, |process, call| process.has_released_lock_at(call, master, reply));
        self.note_decision(client, decision);
        Some(reply)
    }

    /// A client begins to believe, or its call has ended.
    fn note_decision(&mut self, client: u8, decision: LocksDecision) {
        let stored = self.world.masters_that_store(client);
        let holder = own(client).holder;
        match decision {
            LocksDecision::GoesOn => {}
            LocksDecision::Believes => {
                if self.world.thread(holder).holds() == 1 {
                    // As for other locks on several masters: grants are in the order in which their callers begin to believe.
                    let token = self.issue_token();
                    self.world.thread_mut(holder).token = token;
                    if stored < usize::from(self.config.of_client(client).needed_masters()) {
                        self.notes.broke(Breach::GrantInvalid);
                    }
                }
            }
            LocksDecision::Ended => {
                if !self.world.thread(holder).has_hold() && stored > 0 {
                    self.notes.broke(Breach::KeyLeft);
                }
            }
        }
    }
}
