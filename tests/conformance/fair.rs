//! The fair lock on real servers. Same rule: `model/src/locks/fair.rs`.

use lockstep_model::LockKind;
use lockstep_redis::locks::fair::{
    self, FairAcquireOnceReply, FairAcquireReply, FairForceReleaseReply, FairLock, FairReleaseReply, FairRenewReply,
    Queueing,
};
use lockstep_redis::{Call, Lease, Names, ReleaseReceipt, Scripts};
use lockstep_sim::replay::{Player, ServerConnection, suited};
use lockstep_tests::refused_release::refused_release;
use lockstep_tests::servers::{TestServer, for_every_version_at_once, on_every_server};

use crate::counted_hold::{EXECUTED_AGAIN, LEASE_NOT_RENEWED, PARTIAL_LEAVES_NO_RECEIPT, REENTRY_DOES_NOT_COUNT};
use crate::histories::{assert_agrees, random_histories_of};
use crate::kinds::{KindProofs, WrongScript};
use crate::{holder, lease};

/// What the proofs for every kind need.
pub const PROOFS: KindProofs = KindProofs {
    kind: LockKind::Fair,
    calls: one_call_of_each,
    reading: &[],
    wrong_scripts: &WRONG,
    scenario: |_| None,
    has_every_fault: false,
};

const WRONG: [WrongScript; 24] = [
    WrongScript {
        script: "fair/acquire",
        rule: "taken past the first in the queue",
        right: "if is_free and (not first or first == holder) then",
        instead: "if is_free then",
        scenario: "fair-dead-waiter-holds-up-the-queue",
        caught_by: "reply",
    },
    WrongScript {
        script: "fair/acquire",
        rule: "a dead waiter stays",
        right: "if not deadline or tonumber(deadline) > now_ms then",
        instead: "if true then",
        scenario: "fair-dead-waiter-holds-up-the-queue",
        caught_by: "reply",
    },
    WrongScript {
        script: "fair/acquire",
        rule: "a deadline is over one millisecond later",
        right: "tonumber(deadline) > now_ms",
        instead: "tonumber(deadline) >= now_ms",
        scenario: "fair-dead-waiter-holds-up-the-queue",
        caught_by: "reply",
    },
    WrongScript {
        script: "fair/acquire",
        rule: "whoever takes it stays in the queue",
        right: "  redis.call('lpop', queue)\n  redis.call('zrem', deadlines, holder)\n",
        instead: "",
        scenario: "fair-two-clients-one-node",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "fair/acquire",
        rule: "those behind do not wait less",
        right: "redis.call('zincrby', deadlines, -wait_ms, waiter)",
        instead: "redis.call('zincrby', deadlines, 0, waiter)",
        scenario: "fair-three-clients-queue",
        caught_by: "keys on n1",
    },
    REENTRY_DOES_NOT_COUNT.of("fair/acquire", "fair-reentry-and-partial-release"),
    EXECUTED_AGAIN.of("fair/release", "fair-reentry-and-partial-release"),
    PARTIAL_LEAVES_NO_RECEIPT.of("fair/release", "fair-reentry-and-partial-release"),
    WrongScript {
        script: "fair/acquire",
        rule: "whoever asks again goes to the end of the queue",
        right: "local is_queued = redis.call('zscore', deadlines, holder)",
        instead: "local is_queued = false",
        scenario: "fair-two-clients-one-node",
        caught_by: "reply",
    },
    WrongScript {
        script: "fair/acquire",
        rule: "a waiter beside a free lock is told -2",
        right: "math.max(0, redis.call('pttl', lock))",
        instead: "redis.call('pttl', lock)",
        scenario: "fair-dead-waiter-holds-up-the-queue",
        caught_by: "reply",
    },
    WrongScript {
        script: "fair/acquire",
        rule: "a deadline is reckoned from the lock alone",
        right: "left_ms = tonumber(last_deadline) - now_ms",
        instead: "",
        scenario: "fair-three-clients-queue",
        caught_by: "reply",
    },
    WrongScript {
        script: "fair/acquire_once",
        rule: "taken past the first in the queue",
        right: "if is_free and (not first or first == holder) then",
        instead: "if is_free then",
        scenario: "fair-single-try-beside-a-queue",
        caught_by: "reply",
    },
    WrongScript {
        script: "fair/acquire_once",
        rule: "whoever is refused queues",
        right: "return 1",
        instead: "redis.call('rpush', queue, holder)\nreturn 1",
        scenario: "fair-single-try-beside-a-queue",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "fair/leave_queue",
        rule: "those behind do not wait less",
        right: "redis.call('zincrby', deadlines, -wait_ms, waiter)",
        instead: "redis.call('zincrby', deadlines, 0, waiter)",
        scenario: "fair-waiters-give-up",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "fair/leave_queue",
        rule: "it stays in the list",
        right: "redis.call('lrem', queue, 0, holder)",
        instead: "",
        scenario: "fair-waiters-give-up",
        caught_by: "keys on n1",
    },
    LEASE_NOT_RENEWED.of("fair/renew", "fair-two-clients-one-node"),
    WrongScript {
        script: "fair/release",
        rule: "nothing is published",
        right: "redis.call('publish', channel .. ':' .. first, message)",
        instead: "",
        scenario: "fair-two-clients-one-node",
        caught_by: "messages to B",
    },
    WrongScript {
        script: "fair/release",
        rule: "published to everybody",
        right: "redis.call('publish', channel .. ':' .. first, message)",
        instead: "redis.call('publish', channel, message)",
        scenario: "fair-two-clients-one-node",
        caught_by: "messages to B",
    },
    WrongScript {
        script: "fair/release",
        rule: "a dead waiter is told",
        right: "if not deadline or tonumber(deadline) > now_ms then",
        instead: "if true then",
        scenario: "fair-waiter-outlives-its-deadline",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "fair/release",
        rule: "a release of a free lock is told that it was not held",
        right: "local is_free = redis.call('exists', lock) == 0",
        instead: "local is_free = false",
        scenario: "fair-release-of-a-free-lock",
        caught_by: "reply",
    },
    WrongScript {
        script: "fair/release",
        rule: "released by any caller",
        right: "if not is_mine then",
        instead: "if false then",
        scenario: "fair-release-of-a-free-lock",
        caught_by: "reply",
    },
    WrongScript {
        script: "fair/release_without_receipt",
        rule: "nothing is published",
        right: "redis.call('publish', channel .. ':' .. first, message)",
        instead: "",
        scenario: "fair-release-without-receipts",
        caught_by: "messages to B",
    },
    WrongScript {
        script: "fair/force_release",
        rule: "nothing is published",
        right: "redis.call('publish', channel .. ':' .. first, message)",
        instead: "",
        scenario: "fair-force-release",
        caught_by: "messages to B",
    },
    WrongScript {
        script: "fair/force_release",
        rule: "the queue is deleted as well",
        right: "local was_held = redis.call('del', lock) == 1",
        instead: "local was_held = redis.call('del', lock, queue, deadlines) == 1",
        scenario: "fair-force-release",
        caught_by: "reply",
    },
];

/// A caller that queues for five seconds, so long after the beginning.
const fn at(now_ms: u64) -> Queueing {
    Queueing { wait_ms: 5_000, now_ms }
}

fn one_call_of_each(scripts: &Scripts) -> Vec<Call> {
    let (a, b, ten_seconds, names) = (holder("A"), holder("B"), lease(10_000), Names::of("fair"));
    vec![
        fair::acquire(scripts, &names, &a, ten_seconds, at(0)),
        fair::acquire(scripts, &names, &b, ten_seconds, at(0)),
        fair::leave_queue(scripts, &names, &b, 5_000),
        fair::renew(scripts, &names, &a, ten_seconds),
        fair::release(scripts, &names, (&a, 0), ten_seconds, &ReleaseReceipt::new("r1", ten_seconds)),
        fair::acquire_once(scripts, &names, &a, ten_seconds, at(0)),
        fair::release_without_receipt(scripts, &names, (&a, 0), ten_seconds),
        fair::acquire(scripts, &names, &a, ten_seconds, at(0)),
        fair::force_release(scripts, &names, 0),
    ]
}

fn lock_on(server: &TestServer) -> FairLock<ServerConnection> {
    FairLock::new(server.connect(), Names::of("lock"), Scripts::built_in())
}

fn queue(server: &TestServer) -> Vec<String> {
    server.ask("LRANGE redisson_lock_queue:{lock} 0 -1")
}

fn deadline(server: &TestServer, waiter: &str) -> Option<u64> {
    server.ask(&format!("ZSCORE redisson_lock_timeout:{{lock}} {waiter}"))
}

const LEASE_MS: u64 = 30_000;

fn half_a_minute() -> Lease {
    lease(LEASE_MS)
}

fn asks_again_in(ask_in_ms: i64) -> FairAcquireReply {
    FairAcquireReply::Queued { ask_in_ms }
}

fn receipt() -> ReleaseReceipt {
    ReleaseReceipt::new("r1", lease(20_000))
}

#[test]
fn random_histories_of_the_fair_lock_agree_on_every_server() {
    random_histories_of(LockKind::Fair);
}

/// The numbers are those of a run of Redisson 4.7.0 (docs/facts/family.md#fair).
#[test]
fn answers_and_deadlines_are_those_of_redisson() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        let with = |wait_ms, now_ms| Queueing { wait_ms, now_ms };
        let mut ask =
            |who: &str, wait_ms, now_ms| lock.acquire(&holder(who), half_a_minute(), with(wait_ms, now_ms)).unwrap();
        assert_eq!(ask("A", 300_000, 0), FairAcquireReply::Acquired);
        assert_eq!(ask("B", 5_000, 0), asks_again_in(30_000));
        assert_eq!(ask("C", 7_000, 0), asks_again_in(35_000));
        assert_eq!((deadline(server, "B:1"), deadline(server, "C:1")), (Some(35_000), Some(42_000)));
        server.wait_ms(1_000);
        assert_eq!((ask("B", 5_000, 1_000), ask("C", 7_000, 1_000)), (asks_again_in(29_000), asks_again_in(29_000)));
        assert_eq!((deadline(server, "B:1"), deadline(server, "C:1")), (Some(35_000), Some(42_000)));
        assert_eq!(ask("A", 300_000, 1_000), FairAcquireReply::Acquired, "once more");
        assert_eq!(server.ask::<u64>("PTTL lock"), LEASE_MS);
        let mut lock = lock_on(server);
        let mut release = || lock.release(&holder("A"), 1_000, half_a_minute(), &receipt()).unwrap();
        assert_eq!((release(), release()), (FairReleaseReply::StillHeld, FairReleaseReply::Released));
        let mut lock = lock_on(server);
        assert_eq!(lock.acquire(&holder("C"), half_a_minute(), with(7_000, 1_000)).unwrap(), asks_again_in(0));
        let once = lock.acquire_once(&holder("D"), half_a_minute(), with(300_000, 1_000)).unwrap();
        assert_eq!(once, FairAcquireOnceReply::Refused);
        assert_eq!(lock.acquire(&holder("A"), half_a_minute(), with(300_000, 1_000)).unwrap(), asks_again_in(41_000));
        assert_eq!(deadline(server, "A:1"), Some(342_000));
        assert_eq!(
            lock.acquire(&holder("B"), half_a_minute(), with(5_000, 1_000)).unwrap(),
            FairAcquireReply::Acquired
        );
        assert_eq!((deadline(server, "C:1"), deadline(server, "A:1")), (Some(37_000), Some(337_000)));
        assert_eq!(queue(server), ["C:1", "A:1"]);
    });
}

#[test]
fn a_dead_head_is_removed_by_whoever_comes_at_its_deadline_and_no_other_deadline_changes() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        lock.acquire(&holder("A"), half_a_minute(), at(0)).unwrap();
        lock.acquire(&holder("B"), half_a_minute(), at(0)).unwrap();
        lock.acquire(&holder("C"), half_a_minute(), at(0)).unwrap();
        assert_eq!(lock.force_release(34_999).unwrap(), FairForceReleaseReply::Released);
        assert_eq!(lock.acquire(&holder("C"), half_a_minute(), at(34_999)).unwrap(), asks_again_in(0));
        assert_eq!(queue(server), ["B:1", "C:1"]);
        assert_eq!(lock.force_release(35_000).unwrap(), FairForceReleaseReply::WasFree);
        assert_eq!(queue(server), ["C:1"], "a forced release of nothing removes it as well");
        assert_eq!(deadline(server, "C:1"), Some(40_000));
        assert_eq!(lock.acquire(&holder("C"), half_a_minute(), at(35_000)).unwrap(), FairAcquireReply::Acquired);
        assert_eq!(queue(server), Vec::<String>::new());
    });
}

#[test]
fn whoever_leaves_the_queue_brings_those_behind_it_forward_and_nobody_else() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        for who in ["A", "B", "C", "D"] {
            lock.acquire(&holder(who), half_a_minute(), at(0)).unwrap();
        }
        lock.leave_queue(&holder("C"), 5_000).unwrap();
        assert_eq!(queue(server), ["B:1", "D:1"]);
        assert_eq!((deadline(server, "B:1"), deadline(server, "D:1")), (Some(35_000), Some(40_000)));
        lock.leave_queue(&holder("C"), 5_000).unwrap();
        assert_eq!((deadline(server, "B:1"), deadline(server, "D:1")), (Some(35_000), Some(40_000)), "it was gone");
    });
}

#[test]
fn a_release_of_a_free_lock_is_told_that_it_has_released_it() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        assert_eq!(
            lock.release(&holder("A"), 0, half_a_minute(), &receipt()).unwrap(),
            FairReleaseReply::Released,
            "unlike that of a lock without a queue"
        );
        lock.acquire(&holder("B"), half_a_minute(), at(0)).unwrap();
        let of_a = lock.release(&holder("A"), 0, half_a_minute(), &ReleaseReceipt::new("r2", lease(20_000))).unwrap();
        assert_eq!(of_a, FairReleaseReply::NotHeld);
    });
}

/// `PUBLISH` is no write, and comes before the receipt, which is refused.
#[test]
fn a_refused_release_of_a_free_lock_has_told_the_first_waiter() {
    for_every_version_at_once(|version| {
        let trace = refused_release(|config| suited(config, version));
        assert_eq!(trace.state_after(6).clients[1].messages, 1);
        let mut player = Player::start(version, &trace.config, Scripts::built_in()).expect("servers start");
        assert_agrees(&mut player, &trace);
    });
}

#[test]
fn only_the_holder_renews() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        lock.acquire(&holder("A"), half_a_minute(), at(0)).unwrap();
        assert_eq!(lock.renew(&holder("B"), lease(60_000)).unwrap(), FairRenewReply::NotHeld);
        assert_eq!(lock.renew(&holder("A"), lease(60_000)).unwrap(), FairRenewReply::Renewed);
        assert_eq!(server.ask::<u64>("PTTL lock"), 60_000);
    });
}

/// As long as somebody queues, nobody's deadline moves: whoever joins reckons its own from the last one, and whoever takes the lock
/// brings the others forward by as much as it has waited.
#[test]
fn under_load_the_deadline_of_the_queue_stands_still() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        lock.acquire(&holder("A"), half_a_minute(), at(0)).unwrap();
        lock.acquire(&holder("B"), half_a_minute(), at(0)).unwrap();
        let first = deadline(server, "B:1").expect("B queues");
        let mut holding = "A";
        for turn in 1..10 {
            let (now_ms, next) = (turn * 3_000, if holding == "A" { "B" } else { "A" });
            lock.release(&holder(holding), now_ms, half_a_minute(), &receipt()).unwrap();
            lock.acquire(&holder(holding), half_a_minute(), at(now_ms)).unwrap();
            let taken = lock.acquire(&holder(next), half_a_minute(), at(now_ms)).unwrap();
            assert_eq!(taken, FairAcquireReply::Acquired);
            assert_eq!(deadline(server, &format!("{holding}:1")), Some(first), "turn {turn}");
            holding = next;
        }
        // So the one who waits is taken out of the queue for dead, however lately it came.
        let waiting = if holding == "A" { "B" } else { "A" };
        lock.acquire(&holder(waiting), half_a_minute(), at(first - 1)).unwrap();
        lock.release(&holder(holding), first, half_a_minute(), &receipt()).unwrap();
        assert_eq!(queue(server), Vec::<String>::new());
    });
}
