//! Which form the calls and scripts of the lock have: what a script is given, and what pictures call it.

use crate::config::sections::Config;
use crate::config::switches::{AcquireRule, Downgrade, ExtendRule, HeldQuery, ReadRenewal, ReleaseRule, TokenRule};
use crate::locks::contract::{LockContext, LockRequest};
use crate::locks::facts::CallNames;
use crate::locks::holder::Holder;
use crate::locks::value_set::ValueSet;

impl Config {
    /// What the scripts of the lock are given besides their keys, where nobody asks: time passes, and sets no lease.
    pub(crate) const fn lock_context(&self) -> LockContext {
        let has_bare_release = matches!(self.protocol.release, ReleaseRule::Delete);
        let sets_ttl_apart = self.sets_ttl_apart();
        LockContext {
            lease_ticks: self.time.lease,
            queue_wait_ticks: 0,
            may_queue: false,
            leaves_receipts: false,
            has_bare_release,
            has_bare_extend: self.has_bare_extend(),
            sets_ttl_apart,
            sets_own_ttl: false,
            takes_own: matches!(self.protocol.acquire, AcquireRule::OwnOrFree),
            tells_of_downgrade: false,
            read_renewal: ReadRenewal::OwnHolds,
            values: ValueSet::ALL,
            held_query: HeldQuery::LaterValues,
            clock_ahead_ticks: 0,
            keeps_order: false,
            mutant: self.active_mutant(),
        }
    }

    /// The same for a request, which brings the lease of the client that makes it. `brings_named`: it brings the one that
    /// some of its calls name.
    pub(crate) fn lock_context_for(&self, request: LockRequest, brings_named: bool) -> LockContext {
        let lease_of = |client| {
            let named = if brings_named { self.named_lease_of(client) } else { None };
            named.unwrap_or_else(|| self.lease_of(client))
        };
        let caller = request.caller().map(Holder::client);
        if let Some(client) = caller.filter(|_| self.has_parts() || self.asks_master_locks()) {
            let lease_ticks = self.part_lease_of(client, request, brings_named);
            return LockContext { lease_ticks, sets_own_ttl: self.checks_final_lease(client), ..self.lock_context() };
        }
        let lease_ticks = caller.map_or(self.time.lease, lease_of);
        let sets_own_ttl = caller.is_some_and(|client| self.checks_final_lease(client));
        let context = LockContext { lease_ticks, sets_own_ttl, ..self.lock_context() };
        if !self.lock.facts().queue.is_there() && !self.shares() && !self.lock.facts().caller_clock.is_read() {
            return context;
        }
        let Some(own) = caller.map(|client| self.settings_of(client)) else { return context };
        let own_limit = own.wait_limit.filter(|limit| *limit > 0);
        LockContext {
            queue_wait_ticks: own_limit.or(self.time.queue_wait).unwrap_or(0),
            may_queue: self.asks_as_waiter(own),
            leaves_receipts: own.protocol.receipts,
            tells_of_downgrade: own.protocol.downgrade == Downgrade::Publishes,
            read_renewal: own.protocol.read_renewal,
            values: own.values,
            held_query: own.protocol.held_query,
            clock_ahead_ticks: own.clock_ahead,
            keeps_order: self.has_failing_renewals(),
            ..context
        }
    }

    /// Whether an acquire sets the TTL of the lock by a command of its own.
    pub const fn sets_ttl_apart(&self) -> bool {
        matches!(self.protocol.acquire, AcquireRule::SetnxExpire)
    }

    /// Whether an extension of the lease takes whatever lock is there.
    pub const fn has_bare_extend(&self) -> bool {
        matches!(self.protocol.extend, ExtendRule::Overwrite)
    }

    /// The calls by which a thread of an application uses the lock, as pictures show them.
    pub fn call_names(&self, thread: u8) -> CallNames {
        let facts = self.lock.facts();
        let names = facts.reader_calls.filter(|_| thread > 0).unwrap_or(facts.calls);
        let names = match self.protocol.token {
            TokenRule::ReadLater if self.issues_tokens() => {
                CallNames { acquire: "lock()", try_acquire: "tryLock()", ..names }
            }
            TokenRule::WithGrant | TokenRule::ReadLater => names,
        };
        let names = match self.protocol.release {
            ReleaseRule::Compare => names,
            ReleaseRule::Delete => CallNames { release: "DEL", ..names },
        };
        let names = match self.protocol.extend {
            ExtendRule::Compare => names,
            ExtendRule::Overwrite => CallNames { renew: "SET XX PX", ..names },
        };
        match self.protocol.acquire {
            AcquireRule::SetNxPx => names,
            AcquireRule::OwnOrFree => CallNames { acquire: "obtain", try_acquire: "obtain", ..names },
            AcquireRule::SetnxExpire => CallNames { acquire: "SETNX", try_acquire: "SETNX", ..names },
        }
    }
}
