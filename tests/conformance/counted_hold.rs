//! One holder, who may enter again, on real servers: what is proved alike for several kinds. Same rule:
//! `model/src/locks/counted_hold.rs`.
//!
//! [`prove`] makes a test of each proof here, and of those of a lock in a cluster ([`cluster`](crate::cluster)); beside it, the file of a
//! kind has what is its own.

use std::collections::BTreeMap;

use lockstep_redis::locks::counted_hold::{AcquireReply, ForceReleaseReply, ReleaseReply, RenewReply};
use lockstep_redis::{Call, Error, HolderId, Lease, Names, ReleaseReceipt, ScriptReply, Scripts};
use lockstep_sim::replay::ServerConnection;
use lockstep_tests::servers::{TestServer, on_every_server};

use crate::kinds::WrongRule;
use crate::{holder, lease};

pub const TAKEN_FROM_ANOTHER: WrongRule = WrongRule {
    rule: "taken although another holder has it",
    right: "if not (is_free or is_mine) then",
    instead: "if false then",
    caught_by: "reply",
};

pub const NO_REENTRY: WrongRule = WrongRule {
    rule: "no re-entry",
    right: "if not (is_free or is_mine) then",
    instead: "if not is_free then",
    caught_by: "reply",
};

pub const REENTRY_DOES_NOT_COUNT: WrongRule = WrongRule {
    rule: "a re-entry does not count",
    right: "redis.call('hincrby', lock, holder, 1)",
    instead: "redis.call('hset', lock, holder, 1)",
    caught_by: "keys on n1",
};

pub const REENTRY_KEEPS_TTL: WrongRule = WrongRule {
    rule: "a re-entry does not reset the TTL",
    right: "redis.call('pexpire', lock, lease_ms)",
    instead: "if is_free then redis.call('pexpire', lock, lease_ms) end",
    caught_by: "keys on n1",
};

pub const TTL_IN_SECONDS: WrongRule = WrongRule {
    rule: "the TTL is answered in seconds",
    right: "redis.call('pttl', lock)",
    instead: "redis.call('ttl', lock)",
    caught_by: "reply",
};

pub const LOST_LOCK_CREATED_AGAIN: WrongRule = WrongRule {
    rule: "a lost lock is created again",
    right: "local is_held = redis.call('hexists', lock, holder) == 1",
    instead: "local is_held = redis.call('hsetnx', lock, holder, 1) >= 0",
    caught_by: "reply",
};

pub const RENEWED_FOR_ANY: WrongRule = WrongRule {
    rule: "renewed for any caller",
    right: "redis.call('hexists', lock, holder) == 1",
    instead: "redis.call('exists', lock) == 1",
    caught_by: "reply",
};

pub const LEASE_NOT_RENEWED: WrongRule = WrongRule {
    rule: "the lease is not renewed",
    right: "redis.call('pexpire', lock, lease_ms)",
    instead: "",
    caught_by: "keys on n1",
};

pub const RELEASED_BY_ANY: WrongRule = WrongRule {
    rule: "released by any caller",
    right: "if not is_mine then",
    instead: "if redis.call('exists', lock) == 0 then",
    caught_by: "reply",
};

pub const DELETED_TOO_EARLY: WrongRule = WrongRule {
    rule: "deleted before the count reaches 0",
    right: "if holds > 0 then",
    instead: "if false then",
    caught_by: "reply",
};

pub const PARTIAL_RELEASE_KEEPS_TTL: WrongRule = WrongRule {
    rule: "a partial release leaves the lease as it was",
    right: "  redis.call('pexpire', lock, lease_ms)\n",
    instead: "",
    caught_by: "keys on n1",
};

pub const NOTHING_PUBLISHED: WrongRule = WrongRule {
    rule: "nothing is published",
    right: "redis.call('publish', channel, message)",
    instead: "",
    caught_by: "messages to B",
};

pub const KEY_STAYS: WrongRule =
    WrongRule { rule: "the key stays", right: "redis.call('del', lock)", instead: "", caught_by: "keys on n1" };

pub const RECEIPT_STORED: WrongRule = WrongRule {
    rule: "a receipt is stored",
    right: "redis.call('del', lock)",
    instead: "redis.call('del', lock) redis.call('set', 'receipt', 1)",
    caught_by: "keys on n1",
};

pub const EXECUTED_AGAIN: WrongRule = WrongRule {
    rule: "a release that is sent again is executed again",
    right: "local replied = redis.call('get', receipt)",
    instead: "local replied = false",
    caught_by: "reply",
};

/// The rules of receipts: what breaks them shows where a release is sent again.
pub const OF_RECEIPTS: [&str; 3] = [EXECUTED_AGAIN.rule, PARTIAL_LEAVES_NO_RECEIPT.rule, LEAVES_NO_RECEIPT];
pub const LEAVES_NO_RECEIPT: &str = "a release leaves no receipt";

pub const PARTIAL_LEAVES_NO_RECEIPT: WrongRule = WrongRule {
    rule: "a partial release leaves no receipt",
    right: "redis.call('set', receipt, 0, 'px', receipt_lease_ms)",
    instead: "",
    caught_by: "reply",
};

pub const ALWAYS_WAS_HELD: WrongRule = WrongRule {
    rule: "it always answers that there was a lock",
    right: "  return 0\n",
    instead: "  return 1\n",
    caught_by: "reply",
};

/// What a kind sends, and what it publishes.
pub struct CountedHoldCalls {
    pub acquire: fn(&Scripts, &Names, &HolderId, Lease) -> Call,
    pub renew: fn(&Scripts, &Names, &HolderId, Lease) -> Call,
    pub release: fn(&Scripts, &Names, &HolderId, Lease, &ReleaseReceipt) -> Call,
    pub release_without_receipt: fn(&Scripts, &Names, &HolderId, Lease) -> Call,
    pub force_release: fn(&Scripts, &Names) -> Call,
    /// What is published when the lock becomes free.
    pub unlock_messages: &'static [&'static str],
}

/// Makes a test of each proof, for the kind with these calls.
macro_rules! prove {
    ($calls:expr) => {
        crate::counted_hold::prove! {
            counted_hold, $calls =>
            a_free_lock_is_taken_with_one_hold_and_its_lease
            entering_again_counts_and_makes_the_lease_whole_again
            another_client_is_answered_the_remaining_lease
            a_lock_without_a_lease_is_busy_without_end
            a_lock_whose_lease_has_run_out_can_be_taken_and_publishes_nothing
            a_release_of_one_hold_of_two_keeps_the_lock_and_makes_the_lease_whole_again
            a_release_sent_again_releases_one_hold_only
            a_last_release_sent_again_does_not_affect_the_next_grant
            without_a_receipt_a_release_sent_again_releases_another_hold
            a_foreign_release_changes_nothing_and_leaves_no_receipt
            renewing_makes_the_lease_whole_again_and_counts_nothing
            renewing_a_lost_lock_does_not_create_it
            a_replica_still_answers_what_needs_no_write
            a_key_of_another_type_is_an_error_of_redis_and_no_unknown_outcome
        }
        crate::counted_hold::prove! {
            cluster, $calls =>
            a_lock_whose_name_has_half_a_hash_tag_is_granted_and_never_released
            while_a_slot_is_moved_its_locks_are_granted_and_renewed_and_no_release_is_possible
            while_valkey_moves_a_slot_in_one_step_it_answers_releases
            a_failover_while_a_slot_is_moved_grants_its_lock_again_unless_replicas_know_of_the_move
        }
    };
    ($room:ident, $calls:expr => $($proof:ident)*) => {
        $(#[test]
        fn $proof() {
            crate::$room::$proof(&$calls);
        })*
    };
}
pub(crate) use prove;

/// Where those kinds publish that do.
const CHANNEL: &str = "redisson_lock__channel:{lock}";

/// The lock `lock` of a kind, on one server.
struct LockOn<'a> {
    calls: &'a CountedHoldCalls,
    scripts: Scripts,
    names: Names,
    connection: ServerConnection,
}

impl<'a> LockOn<'a> {
    fn new(calls: &'a CountedHoldCalls, server: &TestServer) -> Self {
        Self { calls, scripts: Scripts::built_in(), names: Names::of("lock"), connection: server.connect() }
    }

    fn ask<R: ScriptReply>(&mut self, call: &Call) -> R {
        call.ask(&mut self.connection).expect("a reply")
    }

    fn acquire(&mut self, holder: &HolderId, lease_ms: u64) -> AcquireReply {
        let call = (self.calls.acquire)(&self.scripts, &self.names, holder, lease(lease_ms));
        self.ask(&call)
    }

    fn renew(&mut self, holder: &HolderId, lease_ms: u64) -> RenewReply {
        let call = (self.calls.renew)(&self.scripts, &self.names, holder, lease(lease_ms));
        self.ask(&call)
    }

    /// Sends one release, without deleting its receipt: so it can be sent twice and the receipt can be read.
    fn release(&mut self, holder: &HolderId, lease_ms: u64, release_id: &str) -> ReleaseReply {
        let receipt = ReleaseReceipt::new(release_id, lease(20_000));
        let call = (self.calls.release)(&self.scripts, &self.names, holder, lease(lease_ms), &receipt);
        self.ask(&call)
    }

    fn release_without_receipt(&mut self, holder: &HolderId, lease_ms: u64) -> ReleaseReply {
        let call = (self.calls.release_without_receipt)(&self.scripts, &self.names, holder, lease(lease_ms));
        self.ask(&call)
    }

    fn force_release(&mut self) -> ForceReleaseReply {
        let call = (self.calls.force_release)(&self.scripts, &self.names);
        self.ask(&call)
    }
}

fn receipt_of(server: &TestServer, release_id: &str) -> Option<String> {
    server.ask(&format!("GET redisson_unlock_latch:{{lock}}:{release_id}"))
}

fn holds(holder: &str, count: i64) -> BTreeMap<String, i64> {
    BTreeMap::from([(holder.to_owned(), count)])
}

pub fn a_free_lock_is_taken_with_one_hold_and_its_lease(calls: &CountedHoldCalls) {
    on_every_server(|server| {
        assert_eq!(LockOn::new(calls, server).acquire(&holder("A"), 60_000), AcquireReply::Acquired);
        assert_eq!(server.fields("lock"), holds("A:1", 1));
        assert_eq!(server.ask::<i64>("PTTL lock"), 60_000);
    });
}

/// The last lease counts, not the longest.
pub fn entering_again_counts_and_makes_the_lease_whole_again(calls: &CountedHoldCalls) {
    on_every_server(|server| {
        let mut lock = LockOn::new(calls, server);
        for (count, lease_ms) in [(1, 60_000), (2, 90_000), (3, 30_000)] {
            assert_eq!(lock.acquire(&holder("A"), lease_ms), AcquireReply::Acquired);
            assert_eq!(server.fields("lock"), holds("A:1", count));
            assert_eq!(server.ask::<i64>("PTTL lock"), lease_ms.cast_signed());
        }
    });
}

pub fn another_client_is_answered_the_remaining_lease(calls: &CountedHoldCalls) {
    on_every_server(|server| {
        let mut lock = LockOn::new(calls, server);
        lock.acquire(&holder("A"), 60_000);
        for stranger in [holder("B"), HolderId::new("A", 2)] {
            let reply = lock.acquire(&stranger, 90_000);
            let AcquireReply::Busy { ttl_ms } = reply else { panic!("{stranger}: {reply:?}") };
            assert_eq!(ttl_ms, 60_000);
        }
        assert_eq!(server.fields("lock"), holds("A:1", 1));
        assert_eq!(server.ask::<i64>("PTTL lock"), 60_000);
    });
}

/// A waiter of a kind that publishes could then wait for nothing but the unlock message.
pub fn a_lock_without_a_lease_is_busy_without_end(calls: &CountedHoldCalls) {
    on_every_server(|server| {
        server.ask::<()>("HSET lock A:1 1");
        assert_eq!(LockOn::new(calls, server).acquire(&holder("B"), 60_000), AcquireReply::Busy { ttl_ms: -1 });
    });
}

pub fn a_lock_whose_lease_has_run_out_can_be_taken_and_publishes_nothing(calls: &CountedHoldCalls) {
    on_every_server(|server| {
        let mut lock = LockOn::new(calls, server);
        let mut listener = server.listen(CHANNEL);
        lock.acquire(&holder("A"), 60_000);
        server.wait_ms(60_000);
        assert_eq!(lock.acquire(&holder("B"), 60_000), AcquireReply::Busy { ttl_ms: 0 });
        server.wait_ms(1);
        assert_eq!(lock.acquire(&holder("B"), 60_000), AcquireReply::Acquired);
        assert_eq!(server.fields("lock"), holds("B:1", 1));
        assert_eq!(listener.messages(), [""; 0]);
    });
}

pub fn a_release_of_one_hold_of_two_keeps_the_lock_and_makes_the_lease_whole_again(calls: &CountedHoldCalls) {
    on_every_server(|server| {
        let mut lock = LockOn::new(calls, server);
        let mut listener = server.listen(CHANNEL);
        lock.acquire(&holder("A"), 60_000);
        lock.acquire(&holder("A"), 60_000);
        assert_eq!(lock.release(&holder("A"), 90_000, "r1"), ReleaseReply::StillHeld);
        assert_eq!(server.fields("lock"), holds("A:1", 1));
        assert_eq!(server.ask::<i64>("PTTL lock"), 90_000);
        assert_eq!(receipt_of(server, "r1").as_deref(), Some("0"));
        assert_eq!(listener.messages(), [""; 0]);
    });
}

/// Whom it tells is named by the test of each kind.
pub fn the_last_release_frees_the_lock(calls: &CountedHoldCalls) {
    on_every_server(|server| {
        let mut lock = LockOn::new(calls, server);
        let mut listener = server.listen(CHANNEL);
        lock.acquire(&holder("A"), 60_000);
        assert_eq!(lock.release(&holder("A"), 60_000, "r1"), ReleaseReply::Released);
        assert_eq!(server.ask::<i64>("EXISTS lock"), 0);
        assert_eq!(listener.messages(), calls.unlock_messages);
        assert_eq!(receipt_of(server, "r1").as_deref(), Some("1"));
        assert_eq!(server.ask::<i64>("PTTL redisson_unlock_latch:{lock}:r1"), 20_000);
    });
}

/// After a lost reply the release is sent again: the second hold must not be released.
pub fn a_release_sent_again_releases_one_hold_only(calls: &CountedHoldCalls) {
    on_every_server(|server| {
        let mut lock = LockOn::new(calls, server);
        lock.acquire(&holder("A"), 60_000);
        lock.acquire(&holder("A"), 60_000);
        assert_eq!(lock.release(&holder("A"), 60_000, "r1"), ReleaseReply::StillHeld);
        assert_eq!(lock.release(&holder("A"), 60_000, "r1"), ReleaseReply::StillHeld);
        assert_eq!(server.fields("lock"), holds("A:1", 1));
    });
}

/// The lock was taken again in between, even by the same holder: the old release must not affect it.
pub fn a_last_release_sent_again_does_not_affect_the_next_grant(calls: &CountedHoldCalls) {
    on_every_server(|server| {
        for next in ["B", "A"] {
            let mut lock = LockOn::new(calls, server);
            let mut listener = server.listen(CHANNEL);
            let release_id = format!("before-{next}");
            lock.acquire(&holder("A"), 60_000);
            assert_eq!(lock.release(&holder("A"), 60_000, &release_id), ReleaseReply::Released);
            lock.acquire(&holder(next), 60_000);
            assert_eq!(lock.release(&holder("A"), 60_000, &release_id), ReleaseReply::Released);
            assert_eq!(server.fields("lock"), holds(&format!("{next}:1"), 1));
            assert_eq!(listener.messages(), calls.unlock_messages);
            lock.force_release();
        }
    });
}

/// Redisson 3.15, and the reason for receipts: one release that is sent twice releases two holds.
pub fn without_a_receipt_a_release_sent_again_releases_another_hold(calls: &CountedHoldCalls) {
    on_every_server(|server| {
        let mut lock = LockOn::new(calls, server);
        let mut listener = server.listen(CHANNEL);
        lock.acquire(&holder("A"), 60_000);
        lock.acquire(&holder("A"), 60_000);
        assert_eq!(lock.release_without_receipt(&holder("A"), 90_000), ReleaseReply::StillHeld);
        assert_eq!(server.ask::<i64>("PTTL lock"), 90_000);
        assert_eq!(lock.release_without_receipt(&holder("A"), 90_000), ReleaseReply::Released);
        assert_eq!(lock.release_without_receipt(&holder("A"), 90_000), ReleaseReply::NotHeld);
        assert_eq!(listener.messages(), calls.unlock_messages);
        assert_eq!(server.ask::<i64>("DBSIZE"), 0);
    });
}

pub fn a_foreign_release_changes_nothing_and_leaves_no_receipt(calls: &CountedHoldCalls) {
    on_every_server(|server| {
        let mut lock = LockOn::new(calls, server);
        let mut listener = server.listen(CHANNEL);
        lock.acquire(&holder("A"), 60_000);
        assert_eq!(lock.release(&holder("B"), 90_000, "r1"), ReleaseReply::NotHeld);
        assert_eq!(server.fields("lock"), holds("A:1", 1));
        assert_eq!(server.ask::<i64>("PTTL lock"), 60_000);
        assert_eq!(receipt_of(server, "r1"), None);
        assert_eq!(listener.messages(), [""; 0]);
    });
}

pub fn renewing_makes_the_lease_whole_again_and_counts_nothing(calls: &CountedHoldCalls) {
    on_every_server(|server| {
        let mut lock = LockOn::new(calls, server);
        lock.acquire(&holder("A"), 60_000);
        assert_eq!(lock.renew(&holder("A"), 90_000), RenewReply::Renewed);
        assert_eq!(server.fields("lock"), holds("A:1", 1));
        assert_eq!(server.ask::<i64>("PTTL lock"), 90_000);
    });
}

pub fn renewing_a_lost_lock_does_not_create_it(calls: &CountedHoldCalls) {
    on_every_server(|server| {
        assert_eq!(LockOn::new(calls, server).renew(&holder("A"), 60_000), RenewReply::NotHeld);
        assert_eq!(server.ask::<i64>("EXISTS lock"), 0);
    });
}

/// Whom it tells is named by the test of each kind.
pub fn a_forced_release_frees_the_lock_of_any_holder(calls: &CountedHoldCalls) {
    on_every_server(|server| {
        let mut lock = LockOn::new(calls, server);
        let mut listener = server.listen(CHANNEL);
        lock.acquire(&holder("A"), 60_000);
        lock.acquire(&holder("A"), 60_000);
        assert_eq!(lock.force_release(), ForceReleaseReply::Released);
        assert_eq!(server.ask::<i64>("EXISTS lock"), 0);
        assert_eq!(lock.force_release(), ForceReleaseReply::WasFree);
        assert_eq!(listener.messages(), calls.unlock_messages);
    });
}

/// Only writes are refused. A client that still asks an old master that is a replica now is answered "busy" or "not yours"
/// from the replica's data, however old they are.
pub fn a_replica_still_answers_what_needs_no_write(calls: &CountedHoldCalls) {
    on_every_server(|server| {
        let mut lock = LockOn::new(calls, server);
        lock.acquire(&holder("A"), 60_000);
        server.make_replica();
        let busy = lock.acquire(&holder("B"), 60_000);
        assert!(matches!(busy, AcquireReply::Busy { .. }), "{busy:?}");
        assert_eq!(lock.release(&holder("B"), 60_000, "r1"), ReleaseReply::NotHeld);
    });
}

/// The outcome of a script that runs into an error is known; only a missing answer leaves it unknown.
pub fn a_key_of_another_type_is_an_error_of_redis_and_no_unknown_outcome(calls: &CountedHoldCalls) {
    on_every_server(|server| {
        server.ask::<()>("SET lock text");
        let acquire = (calls.acquire)(&Scripts::built_in(), &Names::of("lock"), &holder("A"), lease(10_000));
        let error = acquire.run(&mut server.connect()).unwrap_err();
        let Error::Redis { script, .. } = error else { panic!("{error}") };
        assert_eq!(script, acquire.script.name());
    });
}
