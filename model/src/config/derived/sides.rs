//! Locks whose clients do not all ask for the same: readers and writers, sets of values; and what renews each of them.

use crate::config::clients::ClientRole;
use crate::config::sections::Config;
use crate::config::switches::{ReadRenewal, RenewalTimer};

impl Config {
    /// Whether several may hold the lock at once ([`Facts::sharing`](crate::locks::Facts::sharing)).
    pub const fn shares(&self) -> bool {
        self.lock.facts().sharing.is_there()
    }

    /// Whether each client names a set of values, and takes all of them or none.
    pub const fn names_values(&self) -> bool {
        self.lock.facts().value_sets.is_there()
    }

    /// Whether the wall clock of some client is wrong, in kinds whose holds end by it.
    pub(crate) fn has_wrong_clocks(&self) -> bool {
        self.lock.facts().caller_clock.ends_holds()
            && (0..self.clients.count).any(|client| self.clock_ahead_of(client) > 0)
    }

    /// Whether this thread ever begins a call: of a lock with two sides a client may use one only, and of one with several parts it asks
    /// for its first one.
    pub(crate) const fn may_ask_as(&self, thread: u8) -> bool {
        if self.has_parts() {
            return self.clients.parts.first() == thread;
        }
        match (self.shares(), self.clients.role) {
            (false, _) | (true, ClientRole::Both) => true,
            (true, ClientRole::Writer) => thread == 0,
            (true, ClientRole::Reader) => thread != 0,
        }
    }

    /// Whether a client has a timer for each of several locks.
    pub(crate) const fn has_timer_per_thread(&self) -> bool {
        self.shares() || self.clients.names > 1 && matches!(self.protocol.renewal_timer, RenewalTimer::PerLock)
    }

    /// Whether each thread of a client is renewed apart from the others: it has a lock of its own, or is one side of a lock that has
    /// two.
    pub(crate) const fn renews_threads_apart(&self) -> bool {
        self.shares() || self.clients.names > 1
    }

    /// Whether some client's renewal fails at a reader that has entered twice. The order in which readers entered matters then.
    pub fn has_failing_renewals(&self) -> bool {
        let fails =
            |own: &Self| own.time.renew_every.is_some() && own.protocol.read_renewal == ReadRenewal::FailsNested;
        self.shares() && self.some_client(fails)
    }
}
