//! Locks of several parts, and on several masters: how long one round takes, and by which lease they are asked for.

use crate::config::sections::Config;
use crate::config::switches::{FinalLease, NeededMasters, RoundLease};
use crate::limits::FAR_TICKS;
use crate::locks::contract::LockRequest;
use crate::mutants::Mutant;

impl Config {
    /// Whether the lock is taken in parts ([`Facts::parts`](crate::locks::Facts::parts)).
    #[inline]
    pub const fn has_parts(&self) -> bool {
        self.lock.facts().parts.is_there()
    }

    /// Whether a client of this scenario takes more than one part. One that takes one only uses that as a lock of its own.
    #[inline]
    pub const fn takes_several(&self) -> bool {
        self.has_parts() && self.clients.parts.count() > 1
    }

    /// Whether a call takes several locks of Redisson, one after the other: parts, or one on each of several masters.
    const fn joins_locks(&self) -> bool {
        self.takes_several() || self.asks_master_locks()
    }

    /// How many these are.
    pub const fn joined_locks(&self) -> u8 {
        if self.asks_master_locks() { self.cluster.groups } else { self.clients.parts.count() }
    }

    /// Whether a call without a limit takes them in rounds: when one is over it gives back what it has, and begins anew.
    pub const fn takes_in_rounds(&self) -> bool {
        self.joins_locks() && self.time.wait_limit.is_none()
    }

    /// Whether this thread ever begins a release: of a lock with parts it is that of the first one.
    pub(crate) const fn may_release_as(&self, thread: u8) -> bool {
        !self.has_parts() || self.clients.parts.first() == thread
    }

    /// For how long a call waits until it leaves, or until its round is over; `None`: without end, or not at all.
    pub(crate) fn call_limit(&self) -> Option<u8> {
        let limit = self.time.wait_limit.filter(|limit| *limit > 0);
        if self.takes_in_rounds() { self.time.round_wait } else { limit }
    }

    /// Whether a call sets its lease when it has all parts: one that names a lease (docs/facts/family.md#the-lease-at-the-end).
    pub const fn sets_final_lease(&self) -> bool {
        self.takes_several() && self.time.renew_every.is_none()
    }

    /// Whether a call that takes several locks of Redisson names their lease, and sets it when it has them.
    pub(crate) const fn names_lease_of_all(&self) -> bool {
        self.joins_locks() && self.time.renew_every.is_none()
    }

    /// For how long a call that waits asks for the lock of one master, ticks: for its share of the wait, or, where every master is needed,
    /// as long as it has (docs/facts/family.md#redlock). `is_later`: in a later round. `None`: it does not wait.
    pub(crate) fn wait_at_master(&self, is_later: bool) -> Option<u8> {
        let limit = self.call_limit().filter(|_| self.asks_master_locks())?;
        match self.protocol.needed_masters {
            _ if is_later && self.multiplies_round_lease() => Some(FAR_TICKS),
            NeededMasters::All => Some(limit),
            _ if self.is_mutated(Mutant::WholeWaitAtOneMaster) => Some(limit),
            NeededMasters::Most => Some(limit / self.cluster.groups),
        }
    }

    /// Whether the later rounds of a call have another lease than the first one.
    pub(crate) fn multiplies_round_lease(&self) -> bool {
        let multiplies = matches!(self.protocol.round_lease, RoundLease::Multiplied);
        self.takes_in_rounds() && self.names_lease_of_all() && multiplies
    }

    /// The lease that a request of this client for a part brings, ticks. A part is asked for, and a hold of it that is left by a
    /// release set, by twice the wait of the call, so that the lease outlives the call (docs/facts/family.md#multi).
    /// `is_later`: of a later round.
    pub(super) fn part_lease_of(&self, client: u8, request: LockRequest, is_later: bool) -> u8 {
        let own = self.of_client(client);
        match request {
            _ if is_later && own.multiplies_round_lease() => FAR_TICKS,
            _ if !own.names_lease_of_all() => own.time.lease,
            LockRequest::SetTtl(_) => own.time.lease,
            _ => own.part_lease(),
        }
    }

    /// The lease by which a client of this scenario asks for a part, in the first round, ticks.
    pub fn part_lease(&self) -> u8 {
        let wait = self.call_limit().filter(|_| self.names_lease_of_all());
        wait.map_or(self.time.lease, |wait| wait.saturating_mul(2))
    }

    /// From here on a time is longer than any run, ms ([`FAR_TICKS`]): the model tells none of them apart.
    pub fn far_ms(&self) -> i64 {
        i64::from(FAR_TICKS) * i64::from(self.time.tick_ms)
    }

    /// Whether the script that sets the lease at the end leaves a hold of somebody else as it is.
    pub(super) fn checks_final_lease(&self, client: u8) -> bool {
        (self.has_parts() || self.asks_master_locks())
            && matches!(self.settings_of(client).protocol.final_lease, FinalLease::OwnHold)
    }
}
