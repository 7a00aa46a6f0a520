//! A client and several independent masters: whom it asks, and what each of them stores then. The rules of the client stand in
//! `client/masters`, those of a master in `redis`, as for any other.
//!
//! Where each master has a replica, a client asks that node of each group which it takes for the master, and learns of a failover
//! at any time after it, of each group by itself.

use super::context::Context;
use super::layout::Layout;
use super::state::World;
use crate::client::masters::{Decision, ONLY_THREAD};
use crate::client::process::Process;
use crate::client::state::Phase;
use crate::locks::contract::{Lock as _, LockRequest, Requester};
use crate::locks::holder::Holder;
use crate::locks::master_calls::MastersCall;
use crate::notes::Breach;
use crate::reply::Reply;

/// What a client has stored in the round of its call in which it is.
pub(super) const fn own(client: u8) -> Requester {
    Requester::of(Holder::new(client, ONLY_THREAD))
}

/// What it has stored in an earlier one.
const fn left(client: u8) -> Requester {
    Requester { value: 1, ..own(client) }
}

impl<Y: Layout> World<Y> {
    /// How many masters store what this client has stored in the round of its call in which it is.
    pub fn masters_that_store(&self, client: u8) -> usize {
        let stores = |group: &&crate::redis::group::Group<Y>| {
            group.acting_master().is_some_and(|master| master.stored.is_held_as(own(client)))
        };
        self.groups.as_ref().iter().filter(stores).count()
    }
}

impl<Y: Layout> Context<'_, Y> {
    /// A client begins a round of its call, with a value of its own: what it has stored before, or will have stored by an ask that is under
    /// way, is not of this one.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "a path is not general enough over lifetimes")]
    pub(super) fn begin_round(&mut self, client: u8) -> Reply {
        let is_left = |by: Requester| u8::from(by.value == left(client).value || by.holder.client() == client);
        for group in self.world.groups.as_mut() {
            for node in group.nodes.as_mut() {
                node.stored = node.stored.renumbered(is_left);
                node.disk = node.disk.renumbered(is_left);
                for effect in node.queue.effects_mut() {
                    effect.stored = effect.stored.renumbered(is_left);
                }
            }
        }
        let ended = self.world.call(client).ended();
        self.world.set_call(client, MastersCall { goes_on: self.config.waits(), ..ended });
        self.process(client, |process| process.begin_round());
        Reply::Done
    }

    /// A rule of the client side about its call.
    pub(super) fn in_call<T>(
        &mut self,
        client: u8,
        rule: impl FnOnce(&mut Process<'_, Y::InFlight>, &mut MastersCall) -> T,
    ) -> T {
        let mut call = self.world.call(client);
        let result = self.process(client, |process| rule(process, &mut call));
        self.world.set_call(client, call);
        result
    }

    /// One master executes a request. [`Reply::Unreachable`]: it is dead or stands still.
    pub(super) fn at_master(&mut self, node: u8, request: LockRequest) -> Option<Reply> {
        let (group, number) = self.config.place_of(node);
        // Of a later round that has another lease.
        let is_later = request.caller().is_some_and(|caller| self.world.call(caller.client()).is_later);
        self.with_front(group, |context| {
            if !context.world.node(number).is_working() {
                return Some(Reply::Unreachable);
            }
            let executed = context.server().execute(number, request, 0, is_later)?;
            if let Some(publish) = executed.published {
                context.publish(number, 0, publish);
            }
            Some(executed.reply)
        })
    }

    /// `None`: a client does not ask this node now; else its group, and whether the client asks for more time, and not for the lock.
    fn can_ask_master(&mut self, client: u8, node: u8) -> Option<(u8, bool)> {
        let group = self.group_where_known(client, node)?;
        self.in_call(client, |process, call| process.can_ask_master(*call, group).then(|| (group, process.extends())))
    }

    /// The group of a node that this client takes for its master.
    pub(super) fn group_where_known(&self, client: u8, node: u8) -> Option<u8> {
        let (group, number) = self.config.place_of(node);
        (self.world.call(client).master_in(group) == number).then_some(group)
    }

    /// A client learns that this node is the master of its group now.
    pub(crate) fn discover_master(&mut self, client: u8, node: u8) -> Option<Reply> {
        let (group, number) = self.config.place_of(node);
        let found = &self.world.groups.as_ref()[usize::from(group)];
        found.acting_master().filter(|_| found.master() == number)?;
        let call = self.world.call(client);
        if !self.world.client(client).is_running() || call.master_in(group) == number {
            return None;
        }
        self.world.set_call(client, call.turned_to(group, number));
        Some(Reply::Done)
    }

    /// A holder extends its lease: it will ask each master.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "a path is not general enough over lifetimes")]
    pub(super) fn begin_extension(&mut self, client: u8) -> Option<Reply> {
        if self.in_call(client, |process, call| process.begin_extension(call))? {
            self.notes.broke(Breach::RenewedTooSoon);
        }
        Some(Reply::Done)
    }

    /// A client asks a master for the lock, and hears the reply.
    pub(crate) fn ask_master(&mut self, client: u8, node: u8) -> Option<Reply> {
        let (group, _) = self.can_ask_master(client, node).filter(|(_, extends)| !extends)?;
        self.count_wait_at_master(client);
        let reply = self.at_master(node, LockRequest::Acquire(own(client)))?;
        self.hear_ask(client, group, reply);
        Some(reply)
    }

    /// A holder asks a master to set its lease anew, and hears the reply.
    pub(crate) fn extend_at(&mut self, client: u8, node: u8) -> Option<Reply> {
        if Y::Lock::HAS_MASTER_LOCKS {
            return self.renew_lock_at(client, node);
        }
        let (group, _) = self.can_ask_master(client, node).filter(|(_, extends)| *extends)?;
        let reply = self.at_master(node, LockRequest::Renew(own(client)))?;
        self.hear(client, group, reply == Reply::Renewed);
        Some(reply)
    }

    /// A client asks a master, whose reply is late.
    pub(crate) fn ask_slowly(&mut self, client: u8, node: u8) -> Option<Reply> {
        let (group, extends) = self.can_ask_master(client, node)?;
        let request = if extends { LockRequest::Renew(own(client)) } else { LockRequest::Acquire(own(client)) };
        self.count_wait_at_master(client);
        let reply = self.at_master(node, request)?;
        if reply == Reply::Unreachable {
            return None;
        }
        self.in_call(client, |process, call| {
            call.unheard = call.unheard.with(group);
            call.unheard_is_grant = matches!(reply, Reply::Acquired | Reply::Renewed);
            call.unheard_is_busy = call.goes_on && Y::Lock::HAS_MASTER_LOCKS && matches!(reply, Reply::Busy { .. });
            process.wait_for_reply();
        });
        Some(reply)
    }

    /// A late reply arrives.
    pub(crate) fn hear_master(&mut self, client: u8, node: u8) -> Option<Reply> {
        let group = self.group_where_known(client, node)?;
        if !self.in_call(client, |process, call| process.can_hear_master(*call, group)) {
            return None;
        }
        let MastersCall { unheard_is_grant, unheard_is_busy, .. } = self.world.call(client);
        // Where its share is over by then, it does not wait.
        let is_in_time = !self.world.thread(own(client).holder).wait_left.is_due();
        if !unheard_is_busy || !is_in_time || !self.begin_wait_at_master(client, group) {
            self.hear(client, group, unheard_is_grant);
        }
        Some(Reply::Done)
    }

    /// A client does not reach a master, and gives up on it.
    pub(crate) fn lose_ask(&mut self, client: u8, node: u8) -> Option<Reply> {
        if self.world.thread(own(client).holder).phase == Phase::SettingTtl {
            let master = self.group_where_known(client, node)?;
            if !self.in_call(client, |process, call| process.can_set_lease_at(*call, master)) {
                return None;
            }
            self.hear_lease_at(client, master, Reply::Unreachable);
            return Some(Reply::Unreachable);
        }
        let (group, _) = self.can_ask_master(client, node)?;
        self.hear(client, group, false);
        Some(Reply::Unreachable)
    }

    /// A client gives up on its ask of a master for the lock, which is under way. One ask for each master is.
    pub(crate) fn ask_late(&mut self, client: u8, node: u8) -> Option<Reply> {
        let (group, _) = self.can_ask_master(client, node).filter(|(_, extends)| !extends)?;
        let call = self.world.call(client);
        if call.late.with_all(call.late_of_earlier).has(group) {
            return None;
        }
        self.in_call(client, |_, call| call.late = call.late.with(group));
        self.hear(client, group, false);
        Some(Reply::Unknown)
    }

    /// An ask arrives on which its client has given up. One that does not reach its master is gone with the connection.
    pub(crate) fn arrive_late(&mut self, client: u8, node: u8) -> Option<Reply> {
        let group = self.group_where_known(client, node)?;
        let call = self.world.call(client);
        let requester = if call.late.has(group) {
            own(client)
        } else if call.late_of_earlier.has(group) {
            left(client)
        } else {
            return None;
        };
        let reply = self.at_master(node, LockRequest::Acquire(requester))?;
        let (late, late_of_earlier) = (call.late.without(group), call.late_of_earlier.without(group));
        self.world.set_call(client, MastersCall { late, late_of_earlier, ..call });
        let thread = self.world.thread(own(client).holder);
        let is_of_call = requester == own(client) && (thread.has_hold() || thread.phase != Phase::Idle);
        // Of a client that is dead no call has ended.
        if reply == Reply::Acquired && self.world.client(client).is_alive() && !is_of_call {
            self.notes.broke(Breach::KeyLeft);
        }
        Some(reply)
    }

    /// A client has heard a master, or gives up on it.
    pub(super) fn hear(&mut self, client: u8, group: u8, is_granted: bool) {
        if Y::Lock::HAS_MASTER_LOCKS {
            return self.hear_lock(client, group, is_granted);
        }
        let extends = self.world.thread(own(client).holder).has_hold();
        let decision = self.in_call(client, |process, call| process.hear_of_master(call, group, is_granted));
        if let Decision::Believes { is_valid } = decision {
            if !extends {
                // No master sees every grant, so grants are in the order in which their callers begin to believe. The algorithm has no
                // tokens (Kleppmann 2016, How to do distributed locking); an ideal counter would be asked at that moment.
                let token = self.issue_token();
                self.world.thread_mut(own(client).holder).token = token;
            }
            let is_stored = self.world.masters_that_store(client) >= usize::from(self.config.majority());
            if !is_valid || !is_stored {
                self.notes.broke(Breach::GrantInvalid);
            }
        }
    }

    /// A holder calls `unlock`.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "a path is not general enough over lifetimes")]
    pub(super) fn begin_release(&mut self, holder: Holder) -> Option<Reply> {
        let client = holder.client();
        if !self.process(client, |process| process.can_release(holder.thread())) {
            return None;
        }
        if Y::Lock::HAS_MASTER_LOCKS {
            return Some(self.begin_release_of_locks(client));
        }
        self.in_call(client, |process, call| process.begin_release_at_masters(call));
        Some(Reply::Done)
    }

    /// A client releases on a master. What that answers is not looked at, but for a lock on each of them.
    pub(crate) fn release_at(&mut self, client: u8, node: u8) -> Option<Reply> {
        let group = self.group_where_known(client, node)?;
        if Y::Lock::HAS_MASTER_LOCKS {
            return self.release_lock_at(client, node, group);
        }
        if !self.in_call(client, |process, call| process.can_release_at(*call, group)) {
            return None;
        }
        let reply = self.at_master(node, LockRequest::Release(own(client)))?;
        let has_ended = self.in_call(client, |process, call| process.has_released_at(call, group));
        if has_ended && self.world.masters_that_store(client) > 0 {
            self.notes.broke(Breach::KeyLeft);
        }
        Some(reply)
    }
}
