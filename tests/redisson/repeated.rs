//! The same history again and again: one order on the wire, and the same results.

use std::env;

use lockstep_sim::replay::ServerProgram;
use lockstep_sim::replay::redisson::{Jvm, RedissonProgram};
use lockstep_tests::servers::{START_MS, servers};

use crate::history::RedissonStage;
use crate::redisson;

/// How often the history is run in an ordinary test: with a JVM of its own each, and in one that has run it before.
const FRESH: usize = 2;
const WARM: usize = 8;

fn jvm(program: &RedissonProgram) -> Jvm {
    Jvm::start(program.driver(), START_MS).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs under a watchdog, with a waiter: everything that is sent on its own, by a timer or by a message.
fn a_waiter_is_woken(jvm: &mut Jvm, server: &ServerProgram) -> Vec<String> {
    let mut stage = RedissonStage::begin(jvm, server);
    let lock = stage.call('A', "lock");
    assert_eq!(stage.end_of(lock), None, "the request is held");
    stage.settle();
    assert_eq!(stage.end_of(lock).as_deref(), Some("clear returned nothing"));
    let waiter = stage.call('B', "lock");
    stage.settle();
    assert_eq!(stage.end_of(waiter), None, "another client has the lock");
    for _ in 0..2 {
        stage.pass_ms(10_200);
        assert_eq!(stage.held('A').len(), 1, "one renewal for each third of the lease");
        stage.settle();
    }
    let unlock = stage.call('A', "unlock");
    stage.settle();
    assert_eq!(stage.end_of(unlock).as_deref(), Some("clear returned nothing"));
    assert_eq!(stage.end_of(waiter).as_deref(), Some("clear returned nothing"), "the message has woken the waiter");
    let last = stage.call('B', "unlock");
    stage.settle();
    assert_eq!(stage.end_of(last).as_deref(), Some("clear returned nothing"));
    stage.end()
}

fn number(variable: &str, ordinary: usize) -> usize {
    env::var(variable).map_or(ordinary, |number| number.parse().unwrap_or_else(|_| panic!("{variable}={number}")))
}

/// A difference between two runs would be a difference from the model that nobody could explain.
fn every_run_is_equal(version: &str) {
    let (program, server) = (redisson(version), servers().remove(0));
    let (fresh, warm) = (number("LOCKSTEP_REDISSON_FRESH", FRESH), number("LOCKSTEP_REDISSON_WARM", WARM));
    let begin = std::time::Instant::now();
    let first = a_waiter_is_woken(&mut jvm(&program), &server);
    println!("{}", first.join("\n"));
    for run in 1..fresh {
        assert_eq!(a_waiter_is_woken(&mut jvm(&program), &server), first, "fresh JVM {run}");
    }
    println!("{fresh} runs with a JVM each: {:?}", begin.elapsed());
    let begin = std::time::Instant::now();
    let mut warmed = jvm(&program);
    for run in 0..warm {
        assert_eq!(a_waiter_is_woken(&mut warmed, &server), first, "run {run} of one JVM");
    }
    println!("{warm} runs in one JVM: {:?}", begin.elapsed());
}

#[test]
fn redisson_of_today_does_the_same_each_time() {
    every_run_is_equal("4.7.0");
}

#[test]
fn redisson_of_2021_does_the_same_each_time() {
    every_run_is_equal("3.15.6");
}

/// Nothing is sent while time stands still, however long that is on the machine's clock.
#[test]
fn redisson_sends_nothing_while_time_stands_still() {
    let mut jvm = jvm(&redisson("4.7.0"));
    let server = servers().remove(0);
    let mut stage = RedissonStage::begin(&mut jvm, &server);
    let lock = stage.call('A', "lock");
    stage.settle();
    assert_eq!(stage.end_of(lock).as_deref(), Some("clear returned nothing"));
    std::thread::sleep(std::time::Duration::from_millis(1500));
    stage.settle();
    assert!(stage.held('A').is_empty());
    stage.pass_ms(10_200);
    assert_eq!(stage.held('A').len(), 1, "the renewal is due by the moved clock");
}
