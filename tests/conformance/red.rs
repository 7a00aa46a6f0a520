//! The lock on several masters, on real servers. Same rule: `model/src/locks/red.rs` and `model/src/client/masters.rs`.

use std::time::Duration;

use lockstep_model::LockKind;
use lockstep_redis::locks::red::{self, RedExtensionReply, RedLock, RedReply};
use lockstep_redis::{Call, HoldValue, Names, Scripts};
use lockstep_sim::replay::{ServerConnection, ServerNode};
use lockstep_sim::scenario::Scenario;
use lockstep_tests::servers::{START_MS, for_every_version_at_once};

use crate::histories::random_histories_among;
use crate::kinds::{KindProofs, WrongScript};
use crate::{holder, lease};

/// What the proofs for every kind need.
pub const PROOFS: KindProofs = KindProofs {
    kind: LockKind::Red,
    calls: one_call_of_each,
    reading: &[],
    wrong_scripts: &WRONG,
    scenario: worlds,
    has_every_fault: false,
};

const BESIDE_ANOTHER_KEY: &str = "an-extension-beside-another-key";

const WRONG: [WrongScript; 6] = [
    WrongScript {
        script: "red/acquire",
        rule: "taken although a key is there",
        right: "'nx', ",
        instead: "",
        scenario: "red-three-masters-two-clients",
        caught_by: "reply",
    },
    WrongScript {
        script: "red/acquire",
        rule: "no TTL",
        right: ", 'px', lease_ms",
        instead: "",
        scenario: "red-three-masters-two-clients",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "red/extend",
        rule: "whatever is there is extended",
        right: "if redis.call('get', lock) ~= value then",
        instead: "if redis.call('exists', lock) == 0 then",
        scenario: BESIDE_ANOTHER_KEY,
        caught_by: "reply",
    },
    WrongScript {
        script: "red/extend",
        rule: "no TTL is set",
        right: "redis.call('pexpire', lock, lease_ms)",
        instead: "",
        scenario: "red-extension",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "red/release",
        rule: "an unconditional DEL",
        right: "if redis.call('get', lock) ~= value then",
        instead: "if redis.call('exists', lock) == 0 then",
        scenario: "red-three-masters-two-clients",
        caught_by: "reply",
    },
    WrongScript {
        script: "red/release",
        rule: "nothing is deleted",
        right: "redis.call('del', lock)",
        instead: "",
        scenario: "red-three-masters-two-clients",
        caught_by: "keys on n1",
    },
];

/// A world of these proofs alone, by its name.
fn worlds(name: &str) -> Option<Scenario> {
    let text = "story = 'A client dies in the middle of a round, and leaves a key on one master beside a holder that extends.'\nlock = 'red'\n\
                [time]\nlease = 4\nrenew_every = 1\nhold_at_most = 3\n[clients]\ncount = 2\n[cluster]\ngroups = 3\n\
                [protocol]\nprofile = 'lockstep'\n[faults]\ncrash_client = 1\nlose_ask = 1\n";
    let parsed = || Scenario::parse(name, text).unwrap_or_else(|error| panic!("{}", error.report(false)));
    (name == BESIDE_ANOTHER_KEY).then(parsed)
}

fn one_call_of_each(scripts: &Scripts) -> Vec<Call> {
    let (names, value) = (Names::of("red"), value("A", 1));
    vec![
        red::acquire(scripts, &names, &value, lease(60_000)),
        red::extend(scripts, &names, &value, lease(60_000)),
        red::release(scripts, &names, &value),
    ]
}

fn value(client: &str, round: u64) -> HoldValue {
    HoldValue::of_acquire(&holder(client), round)
}

#[test]
fn random_histories_agree_on_every_server() {
    // Each scenario needs servers of its own, and one with every fault is played elsewhere (`worlds`).
    const SCENARIOS: [&str; 10] = [
        "red-three-masters-three-clients",
        "red-five-masters-two-clients",
        "red-restart-with-fsync",
        "red-clock-jump",
        "red-late-ask",
        "red-wait-limit-ends",
        "red-extension-loses-majority-never-stops",
        "red-failover-of-one-master",
        "red-hand-over-of-one-master",
        "red-delayed-restart-beside-a-replica",
    ];
    random_histories_among(LockKind::Red, |scenario| SCENARIOS.contains(&scenario.name.as_str()));
}

/// Three masters that know nothing of each other, on every server version.
fn on_three_masters(proof: impl Fn(Vec<ServerNode>) + Sync) {
    for_every_version_at_once(|version| {
        let start = |_| ServerNode::start(version, START_MS).unwrap_or_else(|error| panic!("{error}"));
        proof((0..3).map(start).collect());
    });
}

/// The lock of one client on these masters. Clocks differ by at most this much.
fn lock_on(masters: &[ServerNode], drift: Duration) -> RedLock<ServerConnection> {
    let connections = masters.iter().map(|master| master.connect().expect("a connection to our own server"));
    RedLock::new(connections, &Names::of("lock"), &Scripts::built_in(), drift)
}

/// What each master stores.
fn stored(masters: &[ServerNode]) -> Vec<Option<String>> {
    let on = |master: &ServerNode| redis::cmd("GET").arg("lock").query(&mut master.connect().expect("a connection"));
    masters.iter().map(|master| on(master).expect("an answer")).collect()
}

const DRIFT: Duration = Duration::from_millis(2);

#[test]
fn whoever_has_most_masters_holds_and_nobody_beside_it() {
    on_three_masters(|masters| {
        let [mut first, mut second] = [(); 2].map(|()| lock_on(&masters, DRIFT));
        let RedReply::Valid { left } = first.acquire(&value("A", 1), lease(60_000)) else { panic!("they are free") };
        assert!(
            left + DRIFT <= Duration::from_mins(1),
            "the lease without the drift, and without the time of the asks"
        );
        assert_eq!(second.acquire(&value("B", 1), lease(60_000)), RedReply::NotValid { granted: 0 });
        assert_eq!(
            stored(&masters),
            [(); 3].map(|()| Some("A:1:1".to_owned())),
            "a call that fails frees no lock of another"
        );
        first.release(&value("A", 1));
        assert_eq!(stored(&masters), [None, None, None]);
    });
}

#[test]
fn a_call_that_does_not_get_most_masters_leaves_nothing_behind() {
    on_three_masters(|masters| {
        for master in &masters[..2] {
            let set = redis::cmd("SET").arg("lock").arg("C").query::<()>(&mut master.connect().expect("a connection"));
            set.expect("it is a command");
        }
        let mut lock = lock_on(&masters, DRIFT);
        assert_eq!(lock.acquire(&value("A", 1), lease(60_000)), RedReply::NotValid { granted: 1 });
        assert_eq!(stored(&masters), [Some("C".to_owned()), Some("C".to_owned()), None]);
    });
}

#[test]
fn a_master_that_is_dead_counts_as_one_that_refuses() {
    on_three_masters(|mut masters| {
        let mut lock = lock_on(&masters, DRIFT);
        drop(masters.pop());
        assert!(
            matches!(lock.acquire(&value("A", 1), lease(60_000)), RedReply::Valid { .. }),
            "two of three are most of them"
        );
        lock.release(&value("A", 1));
        drop(masters.pop());
        assert_eq!(lock.acquire(&value("A", 2), lease(60_000)), RedReply::NotValid { granted: 1 });
        assert_eq!(stored(&masters), [None]);
    });
}

#[test]
fn a_grant_of_all_masters_is_none_if_nothing_is_left_of_the_lease() {
    on_three_masters(|masters| {
        let mut lock = lock_on(&masters, Duration::from_mins(1));
        assert_eq!(lock.acquire(&value("A", 1), lease(60_000)), RedReply::NotValid { granted: 3 });
        assert_eq!(stored(&masters), [None, None, None]);
    });
}

/// How long each master keeps the key, ms; less than 0: it has none.
fn left_ms(masters: &[ServerNode]) -> Vec<i64> {
    let on = |master: &ServerNode| redis::cmd("PTTL").arg("lock").query(&mut master.connect().expect("a connection"));
    masters.iter().map(|master| on(master).expect("an answer")).collect()
}

#[test]
fn an_extension_sets_the_lease_anew_where_most_masters_store_the_round() {
    on_three_masters(|masters| {
        let mut lock = lock_on(&masters, DRIFT);
        assert!(matches!(lock.acquire(&value("A", 1), lease(60_000)), RedReply::Valid { .. }));
        let extended = lock.extend(&value("A", 1), lease(90_000));
        assert!(matches!(extended, RedExtensionReply::Extended { left } if left + DRIFT <= Duration::from_secs(90)));
        assert_eq!(left_ms(&masters), [90_000; 3], "clocks stand still");
        // An older round, and another client, extend nothing.
        for other in [value("A", 2), value("B", 1)] {
            assert_eq!(lock.extend(&other, lease(120_000)), RedExtensionReply::NotExtended { extended: 0 });
        }
        assert_eq!(left_ms(&masters), [90_000; 3]);
    });
}

#[test]
fn an_extension_of_fewer_masters_than_most_does_not_count_and_releases_nothing() {
    on_three_masters(|masters| {
        let mut lock = lock_on(&masters, DRIFT);
        assert!(matches!(lock.acquire(&value("A", 1), lease(60_000)), RedReply::Valid { .. }));
        for master in &masters[..2] {
            redis::cmd("DEL").arg("lock").query::<()>(&mut master.connect().expect("a connection")).expect("a command");
        }
        assert_eq!(lock.extend(&value("A", 1), lease(90_000)), RedExtensionReply::NotExtended { extended: 1 });
        assert_eq!(stored(&masters), [None, None, Some("A:1:1".to_owned())]);
        assert_eq!(left_ms(&masters)[2], 90_000, "what one master has extended stays so");
    });
}
