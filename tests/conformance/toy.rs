//! The toy lock on real servers. Same rule: `model/src/locks/toy.rs`.

use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::LockKind;
use lockstep_redis::locks::toy::{self, ToyReply};
use lockstep_redis::{Call, Names, Scripts};
use lockstep_sim::check::{Engine, Limits, check};
use lockstep_sim::fuzz::FuzzOptions;
use lockstep_sim::render::short;
use lockstep_tests::servers::{for_every_version, on_every_server};

use crate::histories::{assert_fuzz_agrees, builtin_scenario, on};
use crate::kinds::{KindProofs, WrongScript};
use crate::{holder, lease};

/// What the proofs for every kind need.
pub const PROOFS: KindProofs = KindProofs {
    kind: LockKind::Toy,
    calls: one_call_of_each,
    reading: &[],
    wrong_scripts: &WRONG,
    scenario: |_| None,
    has_every_fault: false,
};

const SCENARIO: &str = "toy-refuses-every-second-acquire";

const WRONG: [WrongScript; 3] = [
    WrongScript {
        script: "toy/acquire",
        rule: "no acquire is refused in turn",
        right: "if refuses or is_held then",
        instead: "if is_held then",
        scenario: SCENARIO,
        caught_by: "reply",
    },
    WrongScript {
        script: "toy/renew",
        rule: "the lease is not renewed",
        right: "redis.call('pexpire', lock, lease_ms)",
        instead: "",
        scenario: SCENARIO,
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "toy/release",
        rule: "the key is deleted, and with it the turn",
        right: "return redis.call('hdel', lock, holder)",
        instead: "return redis.call('del', lock)",
        scenario: SCENARIO,
        caught_by: "keys on n1",
    },
];

fn one_call_of_each(scripts: &Scripts) -> Vec<Call> {
    let (a, ten_seconds, names) = (holder("A"), lease(10_000), Names::of("toy"));
    vec![
        toy::acquire(scripts, &names, &a, ten_seconds),
        toy::renew(scripts, &names, &a, ten_seconds),
        toy::release(scripts, &names, &a),
    ]
}

#[test]
fn every_second_acquire_is_refused_even_if_the_lock_is_free() {
    on_every_server(|server| {
        let (scripts, names) = (Scripts::built_in(), Names::of("lock"));
        let acquire = || toy::acquire(&scripts, &names, &holder("A"), lease(60_000));
        let release = || toy::release(&scripts, &names, &holder("A"));
        let replies = [acquire(), release(), acquire(), acquire(), release()]
            .map(|call| call.ask::<ToyReply>(&mut server.connect()).unwrap());
        assert_eq!(replies, [ToyReply::Done, ToyReply::Done, ToyReply::Refused, ToyReply::Done, ToyReply::Done]);
    });
}

/// Both engines check it, its counterexamples are drawn as text, and real servers replay its histories.
#[test]
fn the_toy_lock_is_checked_drawn_and_replayed() {
    let scenario = builtin_scenario(SCENARIO);
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits::none(&stop, &progress);
    let lengths = [Engine::Native, Engine::Stateright].map(|engine| {
        let outcome = check(&scenario, engine, &limits).unwrap_or_else(|error| panic!("{error}"));
        let traces: Vec<_> = outcome.properties.iter().filter_map(|found| found.trace.as_ref()).collect();
        assert!(!traces.is_empty(), "a failover loses the grant");
        assert!(traces.iter().all(|trace| short::list(trace).contains("n1")));
        traces.iter().map(|trace| trace.steps.len()).collect::<Vec<_>>()
    });
    assert_eq!(lengths[0], lengths[1], "the engines agree");
    for_every_version(|version| {
        let scenario = on(version, scenario.clone());
        assert_fuzz_agrees(version, &scenario, FuzzOptions { cases: 200, seed: 7 });
    });
}
