//! The fenced lock on real servers. Same rule: `model/src/locks/fenced.rs`.

use std::collections::BTreeMap;

use lockstep_model::LockKind;
use lockstep_redis::locks::fenced::{
    self, FencedAcquireReply, FencedForceReleaseReply, FencedLock, FencedReleaseReply, FencedRenewReply,
    FencedTokenReply, NewestFencedToken,
};
use lockstep_redis::{Call, Names, ReleaseReceipt, Scripts};
use lockstep_sim::replay::ServerConnection;
use lockstep_tests::servers::{TestServer, on_every_server};

use crate::counted_hold::{
    ALWAYS_WAS_HELD, DELETED_TOO_EARLY, EXECUTED_AGAIN, LEASE_NOT_RENEWED, NO_REENTRY, NOTHING_PUBLISHED,
    PARTIAL_LEAVES_NO_RECEIPT, REENTRY_DOES_NOT_COUNT, REENTRY_KEEPS_TTL, RELEASED_BY_ANY, TAKEN_FROM_ANOTHER,
    TTL_IN_SECONDS,
};
use crate::histories::random_histories_of;
use crate::kinds::{KindProofs, WrongScript};
use crate::{holder, lease};

/// What the proofs for every kind need.
pub const PROOFS: KindProofs = KindProofs {
    kind: LockKind::Fenced,
    calls: one_call_of_each,
    reading: &["fenced/read_token"],
    wrong_scripts: &WRONG,
    scenario: |_| None,
    has_every_fault: false,
};

const WITH_TOKEN: &str = "fenced/acquire_with_token";
const LATER: &str = "fenced/acquire";
const TWO: &str = "fenced-two-clients";
const READ_LATE: &str = "fenced-token-is-read-late";

const fn wrong(
    script: &'static str,
    rule: &'static str,
    (right, instead): (&'static str, &'static str),
    scenario: &'static str,
    caught_by: &'static str,
) -> WrongScript {
    WrongScript { script, rule, right, instead, scenario, caught_by }
}

const WRONG: [WrongScript; 24] = [
    TAKEN_FROM_ANOTHER.of(WITH_TOKEN, TWO),
    NO_REENTRY.of(WITH_TOKEN, TWO),
    REENTRY_DOES_NOT_COUNT.of(WITH_TOKEN, TWO),
    REENTRY_KEEPS_TTL.of(WITH_TOKEN, TWO),
    wrong(
        WITH_TOKEN,
        "a re-entry raises no token",
        (
            "local token = redis.call('incr', counter)",
            "local token = is_free and redis.call('incr', counter) or tonumber(redis.call('get', counter))",
        ),
        TWO,
        "reply",
    ),
    wrong(
        WITH_TOKEN,
        "the token before this grant is answered",
        ("return { -1, token }", "return { -1, token - 1 }"),
        TWO,
        "reply",
    ),
    wrong(
        WITH_TOKEN,
        "a refusal raises the counter",
        (
            "  return { redis.call('pttl', lock), -1 }",
            "  redis.call('incr', counter)\n  return { redis.call('pttl', lock), -1 }",
        ),
        TWO,
        "keys on n1",
    ),
    wrong(
        WITH_TOKEN,
        "the counter expires with the lock",
        (
            "redis.call('pexpire', lock, lease_ms)",
            "redis.call('pexpire', lock, lease_ms) redis.call('pexpire', counter, lease_ms)",
        ),
        TWO,
        "keys on n1",
    ),
    TAKEN_FROM_ANOTHER.of(LATER, READ_LATE),
    wrong(LATER, "no token is raised", ("redis.call('incr', counter)", ""), READ_LATE, "keys on n1"),
    wrong(
        LATER,
        "the hold is not counted",
        ("redis.call('hincrby', lock, holder, 1)", "redis.call('hset', lock, holder, 0)"),
        READ_LATE,
        "keys on n1",
    ),
    wrong(LATER, "the lease is not set", ("redis.call('pexpire', lock, lease_ms)", ""), READ_LATE, "keys on n1"),
    TTL_IN_SECONDS.of(LATER, READ_LATE),
    wrong(
        "fenced/read_token",
        "reading the counter raises it",
        ("redis.call('get', KEYS[1])", "redis.call('incr', KEYS[1])"),
        READ_LATE,
        "reply",
    ),
    wrong(
        "fenced/renew",
        "renewed for any caller",
        ("redis.call('hexists', lock, holder) == 1", "true"),
        "fenced-holder-without-ttl",
        "reply",
    ),
    LEASE_NOT_RENEWED.of("fenced/renew", TWO),
    RELEASED_BY_ANY.of("fenced/release", "fenced-force-release"),
    DELETED_TOO_EARLY.of("fenced/release", TWO),
    NOTHING_PUBLISHED.of("fenced/release", TWO),
    EXECUTED_AGAIN.of("fenced/release", TWO),
    PARTIAL_LEAVES_NO_RECEIPT.of("fenced/release", TWO),
    wrong(
        "fenced/release",
        "the counter is deleted with the lock",
        ("redis.call('del', lock)", "redis.call('del', lock, 'redisson_lock_token:{' .. lock .. '}')"),
        TWO,
        "keys on n1",
    ),
    NOTHING_PUBLISHED.of("fenced/force_release", "fenced-force-release"),
    ALWAYS_WAS_HELD.of("fenced/force_release", "fenced-force-release"),
];

fn one_call_of_each(scripts: &Scripts) -> Vec<Call> {
    let (a, ten_seconds, names) = (holder("A"), lease(10_000), Names::of("fenced"));
    vec![
        fenced::acquire_with_token(scripts, &names, &a, ten_seconds),
        fenced::renew(scripts, &names, &a, ten_seconds),
        fenced::release(scripts, &names, &a, ten_seconds, &ReleaseReceipt::new("r1", ten_seconds)),
        fenced::acquire(scripts, &names, &a, ten_seconds),
        fenced::read_token(scripts, &names),
        fenced::force_release(scripts, &names),
    ]
}

fn lock_on(server: &TestServer) -> FencedLock<ServerConnection> {
    FencedLock::new(server.connect(), Names::of("lock"), Scripts::built_in())
}

#[test]
fn random_histories_of_the_fenced_lock_agree_on_every_server() {
    random_histories_of(LockKind::Fenced);
}

/// The counter is raised first, also on re-entry; a refusal raises nothing (docs/facts/family.md#fenced-lock).
#[test]
fn each_grant_and_each_re_entry_has_a_token_of_its_own() {
    on_every_server(|server| {
        let (mut lock, a, b) = (lock_on(server), holder("A"), holder("B"));
        assert_eq!(lock.read_token().unwrap(), NewestFencedToken::None);
        assert_eq!(lock.acquire(&a, lease(60_000)).unwrap(), FencedTokenReply::Acquired { token: 1 });
        assert_eq!(lock.acquire(&a, lease(30_000)).unwrap(), FencedTokenReply::Acquired { token: 2 });
        assert_eq!(lock.acquire(&b, lease(30_000)).unwrap(), FencedTokenReply::Busy { ttl_ms: 30_000 });
        assert_eq!(lock.acquire_without_token(&b, lease(30_000)).unwrap(), FencedAcquireReply::Busy { ttl_ms: 30_000 });
        assert_eq!(lock.read_token().unwrap(), NewestFencedToken::Token(2));
        assert_eq!(server.fields("lock"), BTreeMap::from([("A:1".to_owned(), 2)]));
        assert_eq!(lock.acquire_without_token(&a, lease(30_000)).unwrap(), FencedAcquireReply::Acquired);
        assert_eq!(server.ask::<String>("GET redisson_lock_token:{lock}"), "3");
    });
}

/// Whoever takes the lock next has a larger token, whatever has become of the holder.
#[test]
fn the_counter_outlives_release_and_force_and_expiry() {
    on_every_server(|server| {
        let (mut lock, a) = (lock_on(server), holder("A"));
        let token_of = |reply| match reply {
            FencedTokenReply::Acquired { token } => token,
            FencedTokenReply::Busy { .. } => panic!("{reply:?}"),
        };
        assert_eq!(token_of(lock.acquire(&a, lease(1_000)).unwrap()), 1);
        let receipt = ReleaseReceipt::new("r1", lease(20_000));
        assert_eq!(lock.release(&a, lease(1_000), &receipt).unwrap(), FencedReleaseReply::Released);
        assert_eq!(token_of(lock.acquire(&a, lease(1_000)).unwrap()), 2);
        assert_eq!(lock.force_release().unwrap(), FencedForceReleaseReply::Released);
        assert_eq!(token_of(lock.acquire(&a, lease(1_000)).unwrap()), 3);
        server.wait_ms(1_001);
        assert_eq!(lock.renew(&a, lease(1_000)).unwrap(), FencedRenewReply::NotHeld);
        assert_eq!(token_of(lock.acquire(&holder("B"), lease(1_000)).unwrap()), 4);
        assert_eq!(server.ask::<i64>("PTTL redisson_lock_token:{lock}"), -1);
    });
}

/// A stranger would take that for a grant with the token -1 (docs/facts/family.md#a-holder-without-a-ttl-looks-like-a-grant).
#[test]
fn a_holder_without_a_ttl_is_answered_by_minus_one_twice() {
    on_every_server(|server| {
        let (mut lock, a) = (lock_on(server), holder("A"));
        lock.acquire(&a, lease(1_000)).unwrap();
        server.ask::<()>("PERSIST lock");
        let call = fenced::acquire_with_token(&Scripts::built_in(), &Names::of("lock"), &holder("B"), lease(1_000));
        let answer: Vec<i64> = redis::from_redis_value(call.run(&mut server.connect()).unwrap()).unwrap();
        assert_eq!(answer, [-1, -1]);
        assert_eq!(lock.acquire(&holder("B"), lease(1_000)).unwrap(), FencedTokenReply::Busy { ttl_ms: -1 });
    });
}
