//! The re-entrant lock on real servers. Same rule: `model/src/locks/reentrant.rs`.

use lockstep_model::LockKind;
use lockstep_redis::locks::reentrant::{
    self, ReentrantAcquireReply, ReentrantForceReleaseReply, ReentrantLock, ReentrantReleaseReply, ReentrantRenewReply,
};
use lockstep_redis::{Call, Names, ReleaseReceipt, Scripts};
use lockstep_tests::servers::on_every_server;

use crate::counted_hold::{
    self, ALWAYS_WAS_HELD, CountedHoldCalls, DELETED_TOO_EARLY, EXECUTED_AGAIN, KEY_STAYS, LEASE_NOT_RENEWED,
    LOST_LOCK_CREATED_AGAIN, NO_REENTRY, NOTHING_PUBLISHED, PARTIAL_LEAVES_NO_RECEIPT, PARTIAL_RELEASE_KEEPS_TTL,
    RECEIPT_STORED, REENTRY_DOES_NOT_COUNT, REENTRY_KEEPS_TTL, RELEASED_BY_ANY, RENEWED_FOR_ANY, TAKEN_FROM_ANOTHER,
    TTL_IN_SECONDS, prove,
};
use crate::histories::random_histories_of;
use crate::kinds::{KindProofs, WrongScript};
use crate::{holder, lease};

/// What the proofs for every kind need.
pub const PROOFS: KindProofs = KindProofs {
    kind: LockKind::Reentrant,
    calls: one_call_of_each,
    reading: &[],
    wrong_scripts: &WRONG,
    scenario: |_| None,
    has_every_fault: true,
};

const WRONG: [WrongScript; 23] = [
    TAKEN_FROM_ANOTHER.of("reentrant/acquire", "two-clients-one-node"),
    NO_REENTRY.of("reentrant/acquire", "reentry-and-partial-release"),
    REENTRY_DOES_NOT_COUNT.of("reentrant/acquire", "reentry-and-partial-release"),
    REENTRY_KEEPS_TTL.of("reentrant/acquire", "reentry-and-partial-release"),
    TTL_IN_SECONDS.of("reentrant/acquire", "two-clients-one-node"),
    LOST_LOCK_CREATED_AGAIN.of("reentrant/renew", "pause-longer-than-lease"),
    RENEWED_FOR_ANY.of("reentrant/renew", "pause-longer-than-lease"),
    LEASE_NOT_RENEWED.of("reentrant/renew", "two-clients-one-node"),
    WrongScript {
        script: "reentrant/renew",
        rule: "only the first of several locks is renewed",
        right: "if is_held then",
        instead: "if is_held and i == 1 then",
        scenario: "two-locks-in-one-renewal",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "reentrant/renew",
        rule: "a key of a wrong type is a lock that is gone",
        right: "redis.call('hexists', lock, holder) == 1",
        instead: "redis.pcall('hexists', lock, holder) == 1",
        scenario: "overwritten-lock-ends-other-renewals",
        caught_by: "reply",
    },
    RELEASED_BY_ANY.of("reentrant/release", "foreign-release"),
    DELETED_TOO_EARLY.of("reentrant/release", "reentry-and-partial-release"),
    PARTIAL_RELEASE_KEEPS_TTL.of("reentrant/release", "reentry-and-partial-release"),
    EXECUTED_AGAIN.of("reentrant/release", "reentry-and-partial-release"),
    PARTIAL_LEAVES_NO_RECEIPT.of("reentrant/release", "reentry-and-partial-release"),
    NOTHING_PUBLISHED.of("reentrant/release", "two-clients-one-node"),
    WrongScript {
        script: "reentrant/release",
        rule: "published on another channel",
        right: "redis.call('publish', channel, message)",
        instead: "redis.call('publish', lock, message)",
        scenario: "two-clients-one-node",
        caught_by: "messages to B",
    },
    WrongScript {
        script: "reentrant/release",
        rule: "another message",
        right: "redis.call('publish', channel, message)",
        instead: "redis.call('publish', channel, '1')",
        scenario: "two-clients-one-node",
        caught_by: "messages to B",
    },
    KEY_STAYS.of("reentrant/release", "two-clients-one-node"),
    RELEASED_BY_ANY.of("reentrant/release_without_receipt", "missed-renewal-of-2021"),
    RECEIPT_STORED.of("reentrant/release_without_receipt", "missed-renewal-of-2021"),
    NOTHING_PUBLISHED.of("reentrant/force_release", "force-release"),
    ALWAYS_WAS_HELD.of("reentrant/force_release", "force-release"),
];

fn one_call_of_each(scripts: &Scripts) -> Vec<Call> {
    let (a, ten_seconds, names) = (holder("A"), lease(10_000), Names::of("reentrant"));
    vec![
        reentrant::acquire(scripts, &names, &a, ten_seconds),
        reentrant::renew(scripts, [(&names, &a)], ten_seconds),
        reentrant::release(scripts, &names, &a, ten_seconds, &ReleaseReceipt::new("r1", ten_seconds)),
        reentrant::acquire(scripts, &names, &a, ten_seconds),
        reentrant::release_without_receipt(scripts, &names, &a, ten_seconds),
        reentrant::acquire(scripts, &names, &a, ten_seconds),
        reentrant::force_release(scripts, &names),
    ]
}

const CALLS: CountedHoldCalls = CountedHoldCalls {
    acquire: reentrant::acquire,
    renew: |scripts, names, holder, lease| reentrant::renew(scripts, [(names, holder)], lease),
    release: reentrant::release,
    release_without_receipt: reentrant::release_without_receipt,
    force_release: reentrant::force_release,
    unlock_messages: &["0"],
};

prove!(CALLS);

#[test]
fn the_last_release_frees_the_lock_and_wakes_a_waiter() {
    counted_hold::the_last_release_frees_the_lock(&CALLS);
}

#[test]
fn a_forced_release_frees_the_lock_of_any_holder_and_wakes_a_waiter() {
    counted_hold::a_forced_release_frees_the_lock_of_any_holder(&CALLS);
}

/// If one lock is lost, the others are still renewed.
#[test]
fn a_batch_is_answered_lock_by_lock_in_its_order() {
    on_every_server(|server| {
        let scripts = Scripts::built_in();
        let (a, b) = (holder("A"), holder("B"));
        let mine = [Names::of("first"), Names::of("lost"), Names::of("taken"), Names::of("last")];
        for (names, holder) in [(&mine[0], &a), (&mine[2], &b), (&mine[3], &a)] {
            reentrant::acquire(&scripts, names, holder, lease(60_000)).run(&mut server.connect()).unwrap();
        }
        let call = reentrant::renew(&scripts, mine.iter().map(|names| (names, &a)), lease(90_000));
        let replies: Vec<ReentrantRenewReply> = call.ask(&mut server.connect()).unwrap();
        assert_eq!(
            replies,
            [
                ReentrantRenewReply::Renewed,
                ReentrantRenewReply::NotHeld,
                ReentrantRenewReply::NotHeld,
                ReentrantRenewReply::Renewed
            ]
        );
        assert_eq!(server.ask::<i64>("PTTL first"), 90_000);
        assert_eq!(server.ask::<i64>("PTTL taken"), 60_000);
        assert_eq!(server.ask::<i64>("PTTL last"), 90_000);
        assert_eq!(server.ask::<i64>("EXISTS lost"), 0);
    });
}

#[test]
fn the_client_deletes_the_receipt_once_it_has_the_reply() {
    on_every_server(|server| {
        let mut lock = ReentrantLock::new(server.connect(), Names::of("lock"), Scripts::built_in());
        assert_eq!(lock.acquire(&holder("A"), lease(60_000)).unwrap(), ReentrantAcquireReply::Acquired);
        assert_eq!(lock.renew(&holder("A"), lease(60_000)).unwrap(), ReentrantRenewReply::Renewed);
        let receipt = ReleaseReceipt::new("r1", ReleaseReceipt::LEASE);
        assert_eq!(lock.release(&holder("A"), lease(60_000), &receipt).unwrap(), ReentrantReleaseReply::Released);
        assert_eq!(server.ask::<i64>("DBSIZE"), 0);
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        assert_eq!(lock.force_release().unwrap(), ReentrantForceReleaseReply::Released);
    });
}

#[test]
fn random_histories_of_the_reentrant_lock_agree_on_every_server() {
    random_histories_of(LockKind::Reentrant);
}
