//! The spin lock on real servers. Same rule: `model/src/locks/spin.rs`.

use lockstep_model::LockKind;
use lockstep_redis::locks::spin::{
    self, SpinAcquireReply, SpinForceReleaseReply, SpinLock, SpinReleaseReply, SpinRenewReply,
};
use lockstep_redis::{Call, Names, ReleaseReceipt, Scripts};
use lockstep_tests::servers::on_every_server;

use crate::counted_hold::{
    self, CountedHoldCalls, DELETED_TOO_EARLY, EXECUTED_AGAIN, KEY_STAYS, LEASE_NOT_RENEWED, LOST_LOCK_CREATED_AGAIN,
    PARTIAL_LEAVES_NO_RECEIPT, PARTIAL_RELEASE_KEEPS_TTL, RECEIPT_STORED, REENTRY_DOES_NOT_COUNT, REENTRY_KEEPS_TTL,
    RELEASED_BY_ANY, RENEWED_FOR_ANY, TTL_IN_SECONDS, prove,
};
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

const WRONG: [WrongScript; 20] = [
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
    REENTRY_DOES_NOT_COUNT.of("spin/acquire", "spin-reentry-and-partial-release"),
    REENTRY_KEEPS_TTL.of("spin/acquire", "spin-reentry-and-partial-release"),
    TTL_IN_SECONDS.of("spin/acquire", "spin-two-clients-one-node"),
    LOST_LOCK_CREATED_AGAIN.of("spin/renew", "spin-pause-longer-than-lease"),
    RENEWED_FOR_ANY.of("spin/renew", "spin-pause-longer-than-lease"),
    LEASE_NOT_RENEWED.of("spin/renew", "spin-two-clients-one-node"),
    RELEASED_BY_ANY.of("spin/release", "spin-foreign-release"),
    DELETED_TOO_EARLY.of("spin/release", "spin-reentry-and-partial-release"),
    PARTIAL_RELEASE_KEEPS_TTL.of("spin/release", "spin-reentry-and-partial-release"),
    EXECUTED_AGAIN.of("spin/release", "spin-reentry-and-partial-release"),
    PARTIAL_LEAVES_NO_RECEIPT.of("spin/release", "spin-reentry-and-partial-release"),
    KEY_STAYS.of("spin/release", "spin-two-clients-one-node"),
    RELEASED_BY_ANY.of("spin/release_without_receipt", "spin-late-release-without-receipts"),
    WrongScript {
        script: "spin/release_without_receipt",
        rule: "a partial release deletes the lock",
        right: "if holds > 0 then",
        instead: "if false then",
        scenario: "spin-release-without-receipts",
        caught_by: "reply",
    },
    PARTIAL_RELEASE_KEEPS_TTL.of("spin/release_without_receipt", "spin-release-without-receipts"),
    RECEIPT_STORED.of("spin/release_without_receipt", "spin-release-without-receipts"),
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

const CALLS: CountedHoldCalls = CountedHoldCalls {
    acquire: spin::acquire,
    renew: spin::renew,
    release: spin::release,
    release_without_receipt: spin::release_without_receipt,
    force_release: spin::force_release,
    unlock_messages: &[],
};

prove!(CALLS);

#[test]
fn the_last_release_frees_the_lock_and_tells_nobody() {
    counted_hold::the_last_release_frees_the_lock(&CALLS);
}

#[test]
fn a_forced_release_frees_the_lock_of_any_holder_and_tells_nobody() {
    counted_hold::a_forced_release_frees_the_lock_of_any_holder(&CALLS);
}

#[test]
fn the_client_deletes_the_receipt_once_it_has_the_reply() {
    on_every_server(|server| {
        let mut lock = SpinLock::new(server.connect(), Names::of("lock"), Scripts::built_in());
        assert_eq!(lock.acquire(&holder("A"), lease(60_000)).unwrap(), SpinAcquireReply::Acquired);
        assert_eq!(lock.renew(&holder("A"), lease(60_000)).unwrap(), SpinRenewReply::Renewed);
        let receipt = ReleaseReceipt::new("r1", ReleaseReceipt::LEASE);
        assert_eq!(lock.release(&holder("A"), lease(60_000), &receipt).unwrap(), SpinReleaseReply::Released);
        assert_eq!(server.ask::<i64>("DBSIZE"), 0);
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        assert_eq!(lock.force_release().unwrap(), SpinForceReleaseReply::Released);
    });
}

#[test]
fn random_histories_of_the_spin_lock_agree_on_every_server() {
    random_histories_of(LockKind::Spin);
}
