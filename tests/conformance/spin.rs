//! The spin lock on real servers. Same rule: `model/src/locks/spin.rs`.

use std::collections::BTreeMap;

use lockstep_model::LockKind;
use lockstep_redis::locks::spin::{
    self, SpinAcquireReply, SpinForceReleaseReply, SpinLock, SpinReleaseReply, SpinRenewReply,
};
use lockstep_redis::{Call, Error, HolderId, Names, ReleaseReceipt, Scripts};
use lockstep_sim::replay::ServerConnection;
use lockstep_tests::servers::{TestServer, on_every_server};

use crate::histories::random_histories_of;
use crate::kinds::{KindProofs, WrongScript};
use crate::{holder, lease};

/// What the proofs for every kind need.
pub const PROOFS: KindProofs = KindProofs {
    kind: LockKind::Spin,
    calls: one_call_of_each,
    reading: &[],
    wrong_scripts: &WRONG,
    scenario: |_| None,
    has_every_fault: false,
};

const WRONG: [WrongScript; 18] = [
    WrongScript {
        script: "spin/acquire",
        rule: "taken although another holder has it",
        right: "if is_free or is_mine then",
        instead: "if true then",
        scenario: "spin-two-clients-one-node",
        caught_by: "reply",
    },
    WrongScript {
        script: "spin/acquire",
        rule: "no re-entry",
        right: "if is_free or is_mine then",
        instead: "if is_free then",
        scenario: "spin-reentry-and-partial-release",
        caught_by: "reply",
    },
    WrongScript {
        script: "spin/acquire",
        rule: "a re-entry does not count",
        right: "redis.call('hincrby', lock, holder, 1)",
        instead: "redis.call('hset', lock, holder, 1)",
        scenario: "spin-reentry-and-partial-release",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "spin/acquire",
        rule: "a re-entry does not reset the TTL",
        right: "redis.call('pexpire', lock, lease_ms)",
        instead: "if is_free then redis.call('pexpire', lock, lease_ms) end",
        scenario: "spin-reentry-and-partial-release",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "spin/acquire",
        rule: "the TTL is answered in seconds",
        right: "redis.call('pttl', lock)",
        instead: "redis.call('ttl', lock)",
        scenario: "spin-two-clients-one-node",
        caught_by: "reply",
    },
    WrongScript {
        script: "spin/renew",
        rule: "a lost lock is created again",
        right: "local is_held = redis.call('hexists', lock, holder) == 1",
        instead: "local is_held = redis.call('hsetnx', lock, holder, 1) >= 0",
        scenario: "spin-pause-longer-than-lease",
        caught_by: "reply",
    },
    WrongScript {
        script: "spin/renew",
        rule: "renewed for any caller",
        right: "redis.call('hexists', lock, holder) == 1",
        instead: "redis.call('exists', lock) == 1",
        scenario: "spin-pause-longer-than-lease",
        caught_by: "reply",
    },
    WrongScript {
        script: "spin/renew",
        rule: "the lease is not renewed",
        right: "redis.call('pexpire', lock, lease_ms)",
        instead: "",
        scenario: "spin-two-clients-one-node",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "spin/release",
        rule: "released by any caller",
        right: "if not is_mine then",
        instead: "if redis.call('exists', lock) == 0 then",
        scenario: "spin-foreign-release",
        caught_by: "reply",
    },
    WrongScript {
        script: "spin/release",
        rule: "deleted before the count reaches 0",
        right: "if holds > 0 then",
        instead: "if false then",
        scenario: "spin-reentry-and-partial-release",
        caught_by: "reply",
    },
    WrongScript {
        script: "spin/release",
        rule: "a partial release leaves the lease as it was",
        right: "  redis.call('pexpire', lock, lease_ms)\n",
        instead: "",
        scenario: "spin-reentry-and-partial-release",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "spin/release",
        rule: "the key stays",
        right: "redis.call('del', lock)",
        instead: "",
        scenario: "spin-two-clients-one-node",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "spin/release_without_receipt",
        rule: "released by any caller",
        right: "if not is_mine then",
        instead: "if redis.call('exists', lock) == 0 then",
        scenario: "spin-late-release-without-receipts",
        caught_by: "reply",
    },
    WrongScript {
        script: "spin/release_without_receipt",
        rule: "a partial release deletes the lock",
        right: "if holds > 0 then",
        instead: "if false then",
        scenario: "spin-release-without-receipts",
        caught_by: "reply",
    },
    WrongScript {
        script: "spin/release_without_receipt",
        rule: "a partial release leaves the lease as it was",
        right: "  redis.call('pexpire', lock, lease_ms)\n",
        instead: "",
        scenario: "spin-release-without-receipts",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "spin/release_without_receipt",
        rule: "a receipt is stored",
        right: "redis.call('del', lock)",
        instead: "redis.call('del', lock) redis.call('set', 'receipt', 1)",
        scenario: "spin-release-without-receipts",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "spin/force_release",
        rule: "the key stays",
        right: "redis.call('del', lock)",
        instead: "redis.call('exists', lock)",
        scenario: "spin-force-release",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "spin/force_release",
        rule: "it always answers that there was a lock",
        right: "return redis.call('del', lock)",
        instead: "redis.call('del', lock) return 1",
        scenario: "spin-force-release",
        caught_by: "reply",
    },
];

fn one_call_of_each(scripts: &Scripts) -> Vec<Call> {
    let (a, ten_seconds, names) = (holder("A"), lease(10_000), Names::of("spin"));
    vec![
        spin::acquire(scripts, &names, &a, ten_seconds),
        spin::renew(scripts, &names, &a, ten_seconds),
        spin::release(scripts, &names, &a, ten_seconds, &ReleaseReceipt::new("r1", ten_seconds)),
        spin::acquire(scripts, &names, &a, ten_seconds),
        spin::release_without_receipt(scripts, &names, &a, ten_seconds),
        spin::acquire(scripts, &names, &a, ten_seconds),
        spin::force_release(scripts, &names),
    ]
}

/// Where a lock that publishes does so: nothing of this one may come there.
const CHANNEL: &str = "redisson_lock__channel:{lock}";

fn lock_on(server: &TestServer) -> SpinLock<ServerConnection> {
    SpinLock::new(server.connect(), Names::of("lock"), Scripts::built_in())
}

/// Sends one release, without deleting its receipt: so it can be sent twice and the receipt can be read.
fn send_release(server: &TestServer, holder: &HolderId, lease_ms: u64, release_id: &str) -> SpinReleaseReply {
    let receipt = ReleaseReceipt::new(release_id, lease(20_000));
    let call = spin::release(&Scripts::built_in(), &Names::of("lock"), holder, lease(lease_ms), &receipt);
    call.ask(&mut server.connect()).unwrap()
}

fn receipt_of(server: &TestServer, release_id: &str) -> Option<String> {
    server.ask(&format!("GET redisson_unlock_latch:{{lock}}:{release_id}"))
}

fn holds(holder: &str, count: i64) -> BTreeMap<String, i64> {
    BTreeMap::from([(holder.to_owned(), count)])
}

#[test]
fn a_free_lock_is_taken_with_one_hold_and_its_lease() {
    on_every_server(|server| {
        assert_eq!(lock_on(server).acquire(&holder("A"), lease(60_000)).unwrap(), SpinAcquireReply::Acquired);
        assert_eq!(server.fields("lock"), holds("A:1", 1));
        assert_eq!(server.ask::<i64>("PTTL lock"), 60_000);
    });
}

/// The last lease counts, not the longest.
#[test]
fn entering_again_counts_and_makes_the_lease_whole_again() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        for (count, lease_ms) in [(1, 60_000), (2, 90_000), (3, 30_000)] {
            assert_eq!(lock.acquire(&holder("A"), lease(lease_ms)).unwrap(), SpinAcquireReply::Acquired);
            assert_eq!(server.fields("lock"), holds("A:1", count));
            assert_eq!(server.ask::<i64>("PTTL lock"), lease_ms.cast_signed());
        }
    });
}

#[test]
fn another_client_is_answered_the_remaining_lease() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        for stranger in [holder("B"), HolderId::new("A", 2)] {
            let reply = lock.acquire(&stranger, lease(90_000)).unwrap();
            let SpinAcquireReply::Busy { ttl_ms } = reply else { panic!("{stranger}: {reply:?}") };
            assert_eq!(ttl_ms, 60_000);
        }
        assert_eq!(server.fields("lock"), holds("A:1", 1));
        assert_eq!(server.ask::<i64>("PTTL lock"), 60_000);
    });
}

#[test]
fn a_lock_without_a_lease_is_busy_without_end() {
    on_every_server(|server| {
        server.ask::<()>("HSET lock A:1 1");
        assert_eq!(
            lock_on(server).acquire(&holder("B"), lease(60_000)).unwrap(),
            SpinAcquireReply::Busy { ttl_ms: -1 }
        );
    });
}

#[test]
fn a_lock_whose_lease_has_run_out_can_be_taken_and_publishes_nothing() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        let mut listener = server.listen(CHANNEL);
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        server.wait_ms(60_000);
        assert_eq!(lock.acquire(&holder("B"), lease(60_000)).unwrap(), SpinAcquireReply::Busy { ttl_ms: 0 });
        server.wait_ms(1);
        assert_eq!(lock.acquire(&holder("B"), lease(60_000)).unwrap(), SpinAcquireReply::Acquired);
        assert_eq!(server.fields("lock"), holds("B:1", 1));
        assert_eq!(listener.messages(), [""; 0]);
    });
}

#[test]
fn a_release_of_one_hold_of_two_keeps_the_lock_and_makes_the_lease_whole_again() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        let mut listener = server.listen(CHANNEL);
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        assert_eq!(send_release(server, &holder("A"), 90_000, "r1"), SpinReleaseReply::StillHeld);
        assert_eq!(server.fields("lock"), holds("A:1", 1));
        assert_eq!(server.ask::<i64>("PTTL lock"), 90_000);
        assert_eq!(receipt_of(server, "r1").as_deref(), Some("0"));
        assert_eq!(listener.messages(), [""; 0]);
    });
}

#[test]
fn the_last_release_frees_the_lock_and_tells_nobody() {
    on_every_server(|server| {
        let mut listener = server.listen(CHANNEL);
        lock_on(server).acquire(&holder("A"), lease(60_000)).unwrap();
        assert_eq!(send_release(server, &holder("A"), 60_000, "r1"), SpinReleaseReply::Released);
        assert_eq!(server.ask::<i64>("EXISTS lock"), 0);
        assert_eq!(listener.messages(), [""; 0]);
        assert_eq!(receipt_of(server, "r1").as_deref(), Some("1"));
        assert_eq!(server.ask::<i64>("PTTL redisson_unlock_latch:{lock}:r1"), 20_000);
    });
}

/// After a lost reply the release is sent again: the second hold must not be released.
#[test]
fn a_release_sent_again_releases_one_hold_only() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        assert_eq!(send_release(server, &holder("A"), 60_000, "r1"), SpinReleaseReply::StillHeld);
        assert_eq!(send_release(server, &holder("A"), 60_000, "r1"), SpinReleaseReply::StillHeld);
        assert_eq!(server.fields("lock"), holds("A:1", 1));
    });
}

/// The lock was taken again in between, even by the same holder: the old release must not affect it.
#[test]
fn a_last_release_sent_again_does_not_affect_the_next_grant() {
    on_every_server(|server| {
        for next in ["B", "A"] {
            let mut lock = lock_on(server);
            let mut listener = server.listen(CHANNEL);
            let release_id = format!("before-{next}");
            lock.acquire(&holder("A"), lease(60_000)).unwrap();
            assert_eq!(send_release(server, &holder("A"), 60_000, &release_id), SpinReleaseReply::Released);
            lock.acquire(&holder(next), lease(60_000)).unwrap();
            assert_eq!(send_release(server, &holder("A"), 60_000, &release_id), SpinReleaseReply::Released);
            assert_eq!(server.fields("lock"), holds(&format!("{next}:1"), 1));
            assert_eq!(listener.messages(), [""; 0]);
            lock.force_release().unwrap();
        }
    });
}

/// Redisson 3.15, and the reason for receipts: one release that is sent twice releases two holds.
#[test]
fn without_a_receipt_a_release_sent_again_releases_another_hold() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        let mut listener = server.listen(CHANNEL);
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        let call = spin::release_without_receipt(&Scripts::built_in(), &Names::of("lock"), &holder("A"), lease(90_000));
        let send = || -> SpinReleaseReply { call.ask(&mut server.connect()).unwrap() };
        assert_eq!(send(), SpinReleaseReply::StillHeld);
        assert_eq!(server.ask::<i64>("PTTL lock"), 90_000);
        assert_eq!(send(), SpinReleaseReply::Released);
        assert_eq!(send(), SpinReleaseReply::NotHeld);
        assert_eq!(listener.messages(), [""; 0]);
        assert_eq!(server.ask::<i64>("DBSIZE"), 0);
    });
}

#[test]
fn a_foreign_release_changes_nothing_and_leaves_no_receipt() {
    on_every_server(|server| {
        let mut listener = server.listen(CHANNEL);
        lock_on(server).acquire(&holder("A"), lease(60_000)).unwrap();
        assert_eq!(send_release(server, &holder("B"), 90_000, "r1"), SpinReleaseReply::NotHeld);
        assert_eq!(server.fields("lock"), holds("A:1", 1));
        assert_eq!(server.ask::<i64>("PTTL lock"), 60_000);
        assert_eq!(receipt_of(server, "r1"), None);
        assert_eq!(listener.messages(), [""; 0]);
    });
}

#[test]
fn the_client_deletes_the_receipt_once_it_has_the_reply() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        let receipt = ReleaseReceipt::new("r1", ReleaseReceipt::LEASE);
        assert_eq!(lock.release(&holder("A"), lease(60_000), &receipt).unwrap(), SpinReleaseReply::Released);
        assert_eq!(server.ask::<i64>("DBSIZE"), 0);
    });
}

#[test]
fn renewing_makes_the_lease_whole_again_and_counts_nothing() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        assert_eq!(lock.renew(&holder("A"), lease(90_000)).unwrap(), SpinRenewReply::Renewed);
        assert_eq!(server.fields("lock"), holds("A:1", 1));
        assert_eq!(server.ask::<i64>("PTTL lock"), 90_000);
    });
}

#[test]
fn renewing_a_lost_lock_does_not_create_it() {
    on_every_server(|server| {
        assert_eq!(lock_on(server).renew(&holder("A"), lease(60_000)).unwrap(), SpinRenewReply::NotHeld);
        assert_eq!(server.ask::<i64>("EXISTS lock"), 0);
    });
}

#[test]
fn a_forced_release_frees_the_lock_of_any_holder_and_tells_nobody() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        let mut listener = server.listen(CHANNEL);
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        assert_eq!(lock.force_release().unwrap(), SpinForceReleaseReply::Released);
        assert_eq!(server.ask::<i64>("EXISTS lock"), 0);
        assert_eq!(lock.force_release().unwrap(), SpinForceReleaseReply::WasFree);
        assert_eq!(listener.messages(), [""; 0]);
    });
}

#[test]
fn random_histories_of_the_spin_lock_agree_on_every_server() {
    random_histories_of(LockKind::Spin);
}

/// Only writes are refused. A client that still asks an old master that is a replica now is answered "busy" or "not yours"
/// from the replica's data, however old they are.
#[test]
fn a_replica_still_answers_what_needs_no_write() {
    on_every_server(|server| {
        let (scripts, names) = (Scripts::built_in(), Names::of("lock"));
        let mut connection = server.connect();
        let acquire = |client: &str| spin::acquire(&scripts, &names, &holder(client), lease(60_000));
        acquire("A").run(&mut connection).expect("acquire");
        server.make_replica();
        let busy = acquire("B").ask(&mut connection).expect("a reply");
        assert!(matches!(busy, SpinAcquireReply::Busy { .. }), "{busy:?}");
        let receipt = ReleaseReceipt::new("r1", ReleaseReceipt::LEASE);
        let release = spin::release(&scripts, &names, &holder("B"), lease(60_000), &receipt);
        let foreign: SpinReleaseReply = release.ask(&mut connection).expect("a reply");
        assert_eq!(foreign, SpinReleaseReply::NotHeld);
    });
}

/// The outcome of a script that runs into an error is known; only a missing answer leaves it unknown.
#[test]
fn a_key_of_another_type_is_an_error_of_redis_and_no_unknown_outcome() {
    on_every_server(|server| {
        server.ask::<()>("SET lock text");
        let acquire = spin::acquire(&Scripts::built_in(), &Names::of("lock"), &holder("A"), lease(10_000));
        let error = acquire.run(&mut server.connect()).unwrap_err();
        assert!(matches!(error, Error::Redis { script: "spin/acquire", .. }), "{error}");
    });
}
