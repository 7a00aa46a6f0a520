//! The parts of a multi lock on real servers. Same rule: `model/src/locks/multi.rs`.

use lockstep_model::LockKind;
use lockstep_model::config::ClientSettings;
use lockstep_redis::locks::multi::{
    self, MultiAcquireReply, MultiLeaseReply, MultiLock, MultiReleaseReply, PartAcquireReply,
};
use lockstep_redis::{Call, Names, ReleaseReceipt, Scripts};
use lockstep_sim::scenario::Scenario;
use lockstep_tests::servers::{TestServer, on_every_server};

use crate::histories::{builtin_scenario, random_histories_of};
use crate::kinds::{KindProofs, WrongScript};
use crate::{holder, lease};

/// What the proofs for every kind need.
pub const PROOFS: KindProofs = KindProofs {
    kind: LockKind::Multi,
    calls: one_call_of_each,
    reading: &[],
    wrong_scripts: &WRONG,
    scenario: variant_of_a_scenario,
    has_every_fault: false,
};

const WRONG: [WrongScript; 6] = [
    WrongScript {
        script: "multi/set_lease",
        rule: "no lease is set",
        right: "redis.call('pexpire', KEYS[1], ARGV[1])",
        instead: "redis.call('exists', KEYS[1])",
        scenario: "multi-pause-longer-than-lease",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "multi/set_lease",
        rule: "a lock that is not there is told to have a lease",
        right: "return redis.call('pexpire', KEYS[1], ARGV[1])",
        instead: "redis.call('pexpire', KEYS[1], ARGV[1])\nreturn 1",
        scenario: "multi-pause-longer-than-lease",
        caught_by: "reply",
    },
    WrongScript {
        script: "multi/set_lease",
        rule: "a lease is never cut",
        right: "redis.call('pexpire', KEYS[1], ARGV[1])",
        instead: "(redis.call('pttl', KEYS[1]) > tonumber(ARGV[1]) and 1 or redis.call('pexpire', KEYS[1], ARGV[1]))",
        scenario: "multi-final-lease-cuts-another-hold",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "multi/set_own_lease",
        rule: "the lease of any holder is set",
        right: "redis.call('hexists', part, holder) == 1",
        instead: "redis.call('exists', part) == 1",
        scenario: OFTEN_PAUSED,
        caught_by: "reply",
    },
    WrongScript {
        script: "multi/set_own_lease",
        rule: "no lease is set",
        right: "redis.call('pexpire', part, lease_ms)",
        instead: "1",
        scenario: "multi-final-lease-of-its-own-hold",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "multi/set_own_lease",
        rule: "a lost lock is told to have a lease",
        right: "if not is_mine then\n  return 0\nend",
        instead: "if not is_mine then\n  return 1\nend",
        scenario: "multi-final-lease-of-its-own-hold",
        caught_by: "reply",
    },
];

/// The same world as that scenario, in which the caller stands still again and again before it sets its lease.
const OFTEN_PAUSED: &str = "multi-final-lease-of-its-own-hold, often paused";

fn variant_of_a_scenario(name: &str) -> Option<Scenario> {
    let of = name.strip_suffix(", often paused")?;
    let mut scenario = builtin_scenario(of);
    scenario.config.faults.pause_client = 8;
    scenario.config = scenario.config.with_settings(&[0, 1].map(|client| ClientSettings {
        acquires: None,
        hold_at_most: Some(6),
        ..scenario.config.settings_of(client)
    }));
    scenario.config.clients.count = 2;
    Some(scenario)
}

fn one_call_of_each(scripts: &Scripts) -> Vec<Call> {
    let (a, ten_seconds, part) = (holder("A"), lease(10_000), Names::of("part"));
    vec![
        multi::acquire(scripts, &part, &a, ten_seconds),
        multi::set_lease(scripts, &part, ten_seconds),
        multi::set_own_lease(scripts, &part, &a, ten_seconds),
    ]
}

fn receipt(part: usize) -> ReleaseReceipt {
    ReleaseReceipt::new(format!("r{part}"), ReleaseReceipt::LEASE)
}

fn two_parts(server: &TestServer) -> MultiLock<impl redis::ConnectionLike> {
    MultiLock::new(server.connect(), vec![Names::of("p"), Names::of("q")], Scripts::built_in())
}

#[test]
fn the_lease_at_the_end_is_set_of_any_hold_and_of_no_lost_lock() {
    on_every_server(|server| {
        let (scripts, mut connection) = (Scripts::built_in(), server.connect());
        let part = Names::of("p");
        let call = multi::set_lease(&scripts, &part, lease(500));
        assert_eq!(call.ask::<MultiLeaseReply>(&mut connection).unwrap(), MultiLeaseReply::NotSet);
        let _: PartAcquireReply =
            multi::acquire(&scripts, &part, &holder("B"), lease(60_000)).ask(&mut connection).unwrap();
        assert_eq!(call.ask::<MultiLeaseReply>(&mut connection).unwrap(), MultiLeaseReply::Set);
        assert!(server.ask::<i64>("PTTL p") <= 500);
    });
}

#[test]
fn the_lease_of_its_own_hold_is_set_and_that_of_another_one_is_not() {
    on_every_server(|server| {
        let (scripts, mut connection) = (Scripts::built_in(), server.connect());
        let part = Names::of("p");
        let _: PartAcquireReply =
            multi::acquire(&scripts, &part, &holder("B"), lease(60_000)).ask(&mut connection).unwrap();
        let mut set = |who: &str| {
            let call = multi::set_own_lease(&scripts, &part, &holder(who), lease(500));
            call.ask::<MultiLeaseReply>(&mut connection).unwrap()
        };
        assert_eq!(set("A"), MultiLeaseReply::NotSet);
        assert!(server.ask::<i64>("PTTL p") > 500);
        assert_eq!(set("B"), MultiLeaseReply::Set);
        assert!(server.ask::<i64>("PTTL p") <= 500);
    });
}

#[test]
fn a_refused_part_leaves_none_behind() {
    on_every_server(|server| {
        let mut other = MultiLock::new(server.connect(), vec![Names::of("q")], Scripts::built_in());
        assert_eq!(other.acquire(&holder("B"), lease(60_000), receipt).unwrap(), MultiAcquireReply::Acquired);
        let mut lock = two_parts(server);
        let refused = lock.acquire(&holder("A"), lease(60_000), receipt).unwrap();
        assert!(matches!(refused, MultiAcquireReply::Busy { part: 1, ttl_ms: 1..=60_000 }), "{refused:?}");
        assert_eq!(server.ask::<i64>("EXISTS p"), 0);
        assert_eq!(other.release(&holder("B"), lease(60_000), receipt).unwrap(), MultiReleaseReply::Released);
        assert_eq!(lock.acquire(&holder("A"), lease(60_000), receipt).unwrap(), MultiAcquireReply::Acquired);
        assert_eq!(lock.release(&holder("A"), lease(60_000), receipt).unwrap(), MultiReleaseReply::Released);
        assert_eq!(server.ask::<i64>("DBSIZE"), 0);
    });
}

#[test]
fn a_part_that_is_gone_does_not_keep_the_others_from_being_released() {
    on_every_server(|server| {
        let mut lock = two_parts(server);
        lock.acquire(&holder("A"), lease(60_000), receipt).unwrap();
        assert_eq!(server.ask::<i64>("DEL p"), 1);
        let released = lock.release(&holder("A"), lease(60_000), receipt).unwrap();
        assert_eq!(released, MultiReleaseReply::NotHeld { part: 0 });
        assert_eq!(server.ask::<i64>("EXISTS q"), 0);
    });
}

#[test]
fn random_histories_of_the_multi_lock_agree_on_every_server() {
    random_histories_of(LockKind::Multi);
}
