//! Redisson's lock on several masters, on real servers. Same rule: `model/src/locks/redisson_red.rs` and
//! `model/src/client/master_locks.rs`.

use lockstep_model::LockKind;
use lockstep_redis::locks::redisson_red::{self, RedissonRedLock, RedissonRedReply};
use lockstep_redis::{Call, Names, Scripts};
use lockstep_sim::replay::{ServerConnection, ServerNode};
use lockstep_tests::servers::{START_MS, for_every_version_at_once};

use crate::histories::{builtin_scenario, random_histories_among};
use crate::kinds::{KindProofs, WrongScript};
use crate::{holder, lease};

/// What the proofs for every kind need.
pub const PROOFS: KindProofs = KindProofs {
    kind: LockKind::RedissonRed,
    calls: one_call_of_each,
    reading: &[],
    wrong_scripts: &WRONG,
    scenario: |name| Some(builtin_scenario(name)),
    has_every_fault: false,
};

/// It has no script of its own: those of other kinds that each of its masters executes, made wrong, are caught beside several masters too.
const WRONG: [WrongScript; 7] = [
    WrongScript {
        script: "reentrant/acquire",
        rule: "taken although another client holds",
        right: "if not (is_free or is_mine) then",
        instead: "if false then",
        scenario: "redisson-red-three-masters-two-clients",
        caught_by: "reply",
    },
    WrongScript {
        script: "reentrant/acquire",
        rule: "an entry is not counted",
        right: "redis.call('hincrby', lock, holder, 1)",
        instead: "redis.call('hset', lock, holder, 1)",
        scenario: "redisson-red-entered-again",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "reentrant/release",
        rule: "an inner release frees the lock",
        right: "if holds > 0 then",
        instead: "if false then",
        scenario: "redisson-red-entered-again",
        caught_by: "reply",
    },
    WrongScript {
        script: "reentrant/renew",
        rule: "no TTL is set",
        right: "redis.call('pexpire', lock, lease_ms)",
        instead: "",
        scenario: "redisson-red-one-master-dies",
        caught_by: "keys on n2",
    },
    WrongScript {
        script: "multi/set_lease",
        rule: "no lease is set",
        right: "redis.call('pexpire', KEYS[1], ARGV[1])",
        instead: "redis.call('exists', KEYS[1])",
        scenario: "redisson-red-reply-past-the-lease",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "multi/set_lease",
        rule: "a lease is never cut",
        right: "redis.call('pexpire', KEYS[1], ARGV[1])",
        instead: "(redis.call('pttl', KEYS[1]) > tonumber(ARGV[1]) and 1 or redis.call('pexpire', KEYS[1], ARGV[1]))",
        scenario: "redisson-red-lease-cuts-another-hold",
        caught_by: "keys on n2",
    },
    WrongScript {
        script: "multi/set_own_lease",
        rule: "the lease of any holder is set",
        right: "redis.call('hexists', part, holder) == 1",
        instead: "redis.call('exists', part) == 1",
        scenario: "redisson-red-lease-of-its-own-hold",
        caught_by: "reply",
    },
];

fn one_call_of_each(scripts: &Scripts) -> Vec<Call> {
    let (a, ten_seconds, names) = (holder("A"), lease(10_000), Names::of("lock"));
    vec![
        redisson_red::acquire(scripts, &names, &a, ten_seconds),
        redisson_red::set_lease(scripts, &names, ten_seconds),
        redisson_red::set_own_lease(scripts, &names, &a, ten_seconds),
    ]
}

#[test]
fn random_histories_agree_on_every_server() {
    // Each scenario needs servers of its own.
    const SCENARIOS: [&str; 10] = [
        "redisson-red-three-masters-two-clients",
        "redisson-red-five-masters-two-clients",
        "redisson-red-entered-again",
        "redisson-red-reply-past-the-lease",
        "redisson-red-error-at-the-end",
        "redisson-red-master-refuses-writes",
        "redisson-red-every-master",
        "redisson-red-release-stops",
        "redisson-red-clock-jump",
        "redisson-red-failover-of-one-master",
    ];
    random_histories_among(LockKind::RedissonRed, |scenario| SCENARIOS.contains(&scenario.name.as_str()));
}

/// Three masters that know nothing of each other, on every server version.
fn on_three_masters(proof: impl Fn(Vec<ServerNode>) + Sync) {
    for_every_version_at_once(|version| {
        let start = |_| ServerNode::start(version, START_MS).unwrap_or_else(|error| panic!("{error}"));
        proof((0..3).map(start).collect());
    });
}

/// The lock of one client on these masters.
fn lock_on(masters: &[ServerNode]) -> RedissonRedLock<ServerConnection> {
    let connections = masters.iter().map(|master| master.connect().expect("a connection to our own server"));
    RedissonRedLock::new(connections, &Names::of("lock"), &Scripts::built_in())
}

/// How often a client has the lock on each master; 0: not at all.
fn holds_of(masters: &[ServerNode], client: &str) -> Vec<u32> {
    let field = holder(client).to_string();
    let on = |master: &ServerNode| {
        let mut connection = master.connect().expect("a connection");
        let holds: redis::RedisResult<Option<u32>> = redis::cmd("HGET").arg("lock").arg(&field).query(&mut connection);
        holds.expect("an answer of HGET").unwrap_or_default()
    };
    masters.iter().map(on).collect()
}

/// A release of this name, on each master.
fn once(name: &str) -> impl Fn(usize) -> String {
    move |master| format!("{name}-{master}")
}

/// A master refuses every write, or accepts them again.
fn refuses_writes(master: &ServerNode, refuses: bool) {
    let limit = if refuses { "1" } else { "0" };
    let set =
        redis::cmd("CONFIG").arg("SET").arg("maxmemory").arg(limit).exec(&mut master.connect().expect("a connection"));
    set.expect("CONFIG SET is a command");
}

#[test]
fn whoever_has_most_masters_holds_and_nobody_beside_it() {
    on_three_masters(|masters| {
        let [mut first, mut second] = [(); 2].map(|()| lock_on(&masters));
        let (a, b, minute) = (holder("A"), holder("B"), lease(60_000));
        assert_eq!(first.try_acquire(&a, minute, once("a")), RedissonRedReply::Held { granted: 3 });
        assert_eq!(second.try_acquire(&b, minute, once("b")), RedissonRedReply::NotHeld { granted: 0 });
        assert_eq!((holds_of(&masters, "A"), holds_of(&masters, "B")), (vec![1, 1, 1], vec![0, 0, 0]));
        assert_eq!((first.renew(&a, minute), second.renew(&b, minute)), (3, 0));
        first.release(&a, minute, once("a1"));
        assert_eq!(second.try_acquire(&b, minute, once("b1")), RedissonRedReply::Held { granted: 3 });
    });
}

#[test]
fn a_call_that_does_not_get_most_masters_gives_back_what_it_was_granted() {
    on_three_masters(|masters| {
        let mut alone = lock_on(&masters[1..]);
        let minute = lease(60_000);
        assert_eq!(alone.try_acquire(&holder("C"), minute, once("c")), RedissonRedReply::Held { granted: 2 });
        let mut lock = lock_on(&masters);
        assert_eq!(lock.try_acquire(&holder("A"), minute, once("a")), RedissonRedReply::NotHeld { granted: 1 });
        assert_eq!((holds_of(&masters, "A"), holds_of(&masters, "C")), (vec![0, 0, 0], vec![0, 1, 1]));
    });
}

/// One that fails when most have granted ends the asking, and one that is dead is passed over.
#[test]
fn a_master_that_is_dead_counts_as_one_that_refuses() {
    on_three_masters(|mut masters| {
        let (a, minute) = (holder("A"), lease(60_000));
        let mut lock = lock_on(&masters);
        drop(masters.pop());
        assert_eq!(lock.try_acquire(&a, minute, once("a")), RedissonRedReply::Held { granted: 2 });
        lock.release(&a, minute, once("a1"));
        assert_eq!(holds_of(&masters, "A"), [0, 0]);
        drop(masters.pop());
        assert_eq!(lock.try_acquire(&a, minute, once("a2")), RedissonRedReply::NotHeld { granted: 1 });
        assert_eq!(holds_of(&masters, "A"), [0]);
    });
}

/// What Redisson does in docs/facts/family.md#a-release-of-every-part, and what a caller of this client must know.
#[test]
fn an_inner_release_takes_the_outer_hold_where_the_inner_call_got_none() {
    on_three_masters(|masters| {
        let (a, minute) = (holder("A"), lease(60_000));
        let mut lock = lock_on(&masters);
        assert_eq!(lock.try_acquire(&a, minute, once("outer")), RedissonRedReply::Held { granted: 3 });
        for (inner, refusing) in [("first", 0), ("second", 1)] {
            refuses_writes(&masters[refusing], true);
            assert_eq!(lock.try_acquire(&a, minute, once(inner)), RedissonRedReply::Held { granted: 2 });
            refuses_writes(&masters[refusing], false);
            lock.release(&a, minute, once(&format!("{inner}-release")));
        }
        assert_eq!(holds_of(&masters, "A"), [0, 0, 1]);
        let mut other = lock_on(&masters);
        assert_eq!(other.try_acquire(&holder("B"), minute, once("b")), RedissonRedReply::Held { granted: 2 });
    });
}
