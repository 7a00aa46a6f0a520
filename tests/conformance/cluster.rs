//! A lock in a real cluster: in which slot it is, and what becomes of it while its slot is moved to another master.
//!
//! docs/facts/cluster.md says the same in words.

use std::cell::RefCell;
use std::collections::BTreeSet;

use lockstep_redis::slots::slot_of;
use lockstep_redis::{Call, Names, ReleaseReceipt, Scripts};
use lockstep_sim::replay::Flavour;
use lockstep_tests::free_nodes::wait_until;
use lockstep_tests::servers::{for_every_version_at_once, servers};
use lockstep_tests::slot_cluster::SlotCluster;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use redis::{Cmd, ConnectionLike as _, RedisResult, Value, cmd};

use crate::counted_hold::CountedHoldCalls;
use crate::kinds::KindProofs;
use crate::{KINDS, holder, lease};

/// An error by its first word; else what was answered.
fn answer(answer: RedisResult<Value>) -> Result<Value, String> {
    answer.map_err(|error| error.code().unwrap_or("no answer of a server").to_owned())
}

fn refused(word: &str) -> Result<Value, String> {
    Err(word.to_owned())
}

/// The nodes know every script.
fn know_scripts(cluster: &SlotCluster, nodes: usize) {
    for node in 0..nodes {
        for script in Scripts::built_in().iter() {
            cluster.ask(node, &script.load()).expect("it is loaded");
        }
    }
}

/// A lock of a kind, and calls of its scripts.
struct ClusterLock<'a> {
    calls: &'a CountedHoldCalls,
    scripts: Scripts,
    names: Names,
}

impl<'a> ClusterLock<'a> {
    fn new(calls: &'a CountedHoldCalls, name: &str) -> Self {
        Self { calls, scripts: Scripts::built_in(), names: Names::of(name) }
    }

    fn slot(&self) -> u16 {
        self.names.slot().expect("its name has no braces")
    }

    fn acquire(&self, client: &str) -> Cmd {
        (self.calls.acquire)(&self.scripts, &self.names, &holder(client), lease(60_000)).evalsha()
    }

    fn renew(&self, client: &str) -> Cmd {
        (self.calls.renew)(&self.scripts, &self.names, &holder(client), lease(60_000)).evalsha()
    }

    fn release(&self, client: &str) -> Cmd {
        let receipt = ReleaseReceipt::new("r1", lease(10_000));
        (self.calls.release)(&self.scripts, &self.names, &holder(client), lease(60_000), &receipt).evalsha()
    }
}

fn is_busy(answer: &Result<Value, String>) -> bool {
    matches!(answer, Ok(Value::Int(ttl_ms)) if *ttl_ms > 0)
}

#[test]
fn the_slot_of_every_name_is_what_a_cluster_says() {
    for_every_version_at_once(|server| {
        let cluster = SlotCluster::start(server, 1, false);
        let connection = RefCell::new(cluster.connect(0));
        let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(1000) });
        let drawn = runner.run(&prop_oneof!["[{}ab]{0,8}", ".{0,30}"], |key| {
            let said = connection.borrow_mut().req_command(cmd("CLUSTER").arg("KEYSLOT").arg(&key)).expect("an answer");
            prop_assert_eq!(said, Value::Int(slot_of(&key).into()));
            Ok(())
        });
        drawn.unwrap_or_else(|error| panic!("{error}"));
    });
}

/// The cluster refuses a script that declares keys in several slots. What a script stores without declaring it is looked for.
#[test]
fn every_script_of_every_kind_has_its_keys_in_the_slots_of_its_locks() {
    for_every_version_at_once(|server| {
        let cluster = SlotCluster::start(server, 1, false);
        for KindProofs { calls, .. } in KINDS {
            cluster.told(0, &cmd("FLUSHALL"));
            let mut slots = BTreeSet::new();
            for call in calls(&Scripts::built_in()) {
                let script = call.script.name();
                call.run(&mut cluster.connect(0)).unwrap_or_else(|error| panic!("{error}"));
                slots.extend(call.keys.iter().map(|key| slot_of(key)));
                let stored = cluster.ask(0, cmd("KEYS").arg("*")).expect("an answer");
                let stored: Vec<String> = redis::from_redis_value(stored).expect("names of keys");
                let elsewhere: Vec<_> = stored.iter().filter(|key| !slots.contains(&slot_of(key))).collect();
                assert!(
                    elsewhere.is_empty(),
                    "{script} stores {elsewhere:?}, which are in slots of no key that it declares"
                );
            }
        }
    });
}

/// Its key is one, so it is granted; its release has another key, or a channel.
pub fn a_lock_whose_name_has_half_a_hash_tag_is_granted_and_never_released(calls: &CountedHoldCalls) {
    for_every_version_at_once(|server| {
        let cluster = SlotCluster::start(server, 1, false);
        know_scripts(&cluster, 1);
        for name in ["invoices{", "invoices}", "{}invoices"] {
            let lock = ClusterLock::new(calls, name);
            assert_eq!(lock.names.slot(), None, "{name}");
            assert_eq!(answer(cluster.ask(0, &lock.acquire("A"))), Ok(Value::Nil), "{name}");
            assert_eq!(answer(cluster.ask(0, &lock.release("A"))), refused("CROSSSLOT"), "{name}");
        }
    });
}

/// The old master misses some of the keys of the release, the new one has none of them, and neither answers.
pub fn while_a_slot_is_moved_its_locks_are_granted_and_renewed_and_no_release_is_possible(calls: &CountedHoldCalls) {
    for_every_version_at_once(|server| {
        let cluster = SlotCluster::start(server, 3, false);
        know_scripts(&cluster, 3);
        let lock = ClusterLock::new(calls, "invoices");
        let from = cluster.master_of(lock.slot());
        let (to, third) = ((from + 1) % 3, (from + 2) % 3);
        let at = |node: usize, command: &Cmd| answer(cluster.ask(node, command));
        let as_sent = |command: &Cmd| answer(cluster.ask_as_sent(to, command));
        assert_eq!(at(third, &lock.acquire("A")), refused("MOVED"));
        assert_eq!(at(from, &lock.acquire("A")), Ok(Value::Nil));

        cluster.begin_migration(lock.slot(), from, to);
        // Before 7.0 the old master sends whoever misses a key to the new one.
        let at_old = if server.has_sharded_channels() { "TRYAGAIN" } else { "ASK" };
        assert!(is_busy(&at(from, &lock.acquire("B"))));
        assert_eq!(at(from, &lock.renew("A")), Ok(Value::Array(vec![Value::Int(1)])));
        assert_eq!(at(from, &lock.release("A")), refused(at_old));
        assert_eq!(as_sent(&lock.release("A")), refused("TRYAGAIN"));

        cluster.move_key(lock.names.lock(), from, to);
        assert_eq!(at(from, &lock.acquire("B")), refused("ASK"));
        assert!(is_busy(&as_sent(&lock.acquire("B"))));
        assert_eq!(as_sent(&lock.renew("A")), Ok(Value::Array(vec![Value::Int(1)])));
        assert_eq!(at(from, &lock.release("A")), refused("ASK"));
        assert_eq!(as_sent(&lock.release("A")), refused("TRYAGAIN"));

        cluster.end_migration(lock.slot(), from, to);
        assert_eq!(at(from, &lock.release("A")), refused("MOVED"));
        assert_eq!(at(to, &lock.release("A")), Ok(Value::Int(1)));
    });
}

/// Its keys decide, and not what it does: so no release of a lock is served, nor what takes or leaves a fair lock whose queue is not there.
#[test]
fn while_a_slot_is_moved_a_script_is_served_that_has_one_key_or_finds_all_of_its_keys() {
    for_every_version_at_once(|server| {
        let cluster = SlotCluster::start(server, 2, false);
        know_scripts(&cluster, 2);
        for KindProofs { calls, .. } in KINDS {
            for call in calls(&Scripts::built_in()) {
                let slot = slot_of(&call.keys[0]);
                let from = cluster.master_of(slot);
                let keys: BTreeSet<_> = call.keys.iter().collect();
                let found = cluster.ask(from, cmd("EXISTS").arg(keys.iter().collect::<Vec<_>>())).expect("an answer");
                let finds_all = found == Value::Int(keys.len().try_into().expect("they are few"));
                cluster.begin_migration(slot, from, 1 - from);
                let is_served = is_served(&cluster, &call, from);
                cluster.give_up_migration(slot, from, 1 - from);
                assert_eq!(is_served, keys.len() == 1 || finds_all, "{}: {:?}", call.script.name(), call.keys);
                if !is_served {
                    cluster.ask(from, &call.evalsha()).expect("the slot is whole again");
                }
            }
        }
    });
}

/// Whether a client that goes where it is sent gets an answer.
fn is_served(cluster: &SlotCluster, call: &Call, from: usize) -> bool {
    match answer(cluster.ask(from, &call.evalsha())).as_ref().map_err(String::as_str) {
        Ok(_) => true,
        Err("TRYAGAIN") => false,
        Err("ASK") => answer(cluster.ask_as_sent(1 - from, &call.evalsha())) != refused("TRYAGAIN"),
        other => panic!("{}: {other:?}", call.script.name()),
    }
}

/// A release of somebody who does not hold changes nothing, and has as many keys as any other.
pub fn while_valkey_moves_a_slot_in_one_step_it_answers_releases(calls: &CountedHoldCalls) {
    let valkey: Vec<_> = servers().into_iter().filter(|server| server.flavour() == Flavour::Valkey).collect();
    assert!(!valkey.is_empty(), "LOCKSTEP_TEST_SERVERS names no Valkey");
    for server in &valkey {
        let cluster = SlotCluster::start(server, 2, false);
        know_scripts(&cluster, 2);
        let lock = ClusterLock::new(calls, "invoices");
        let from = cluster.master_of(lock.slot());
        let to = 1 - from;
        assert_eq!(answer(cluster.ask(from, &lock.acquire("A"))), Ok(Value::Nil));
        cluster.begin_migration_in_one_step(lock.slot(), from, to);
        wait_until("the slot has moved", || match answer(cluster.ask(from, &lock.release("B"))) {
            Ok(Value::Nil) => false,
            other => other == refused("MOVED") || panic!("{other:?}"),
        });
        assert_eq!(answer(cluster.ask(to, &lock.release("A"))), Ok(Value::Int(1)));
    }
}

/// A lock that every replica had acknowledged, at the old master and at the new one.
pub fn a_failover_while_a_slot_is_moved_grants_its_lock_again_unless_replicas_know_of_the_move(
    calls: &CountedHoldCalls,
) {
    for_every_version_at_once(|server| {
        let mut cluster = SlotCluster::start(server, 2, true);
        know_scripts(&cluster, 4);
        let lock = ClusterLock::new(calls, "invoices");
        let from = cluster.master_of(lock.slot());
        let to = 1 - from;
        let acknowledged = |cluster: &SlotCluster, node: usize, command: &Cmd| {
            let mut connection = cluster.connect(node);
            let told = answer(connection.req_command(command).and_then(Value::extract_error));
            let wait = connection.req_command(cmd("WAIT").arg(1).arg(20_000)).expect("an answer");
            assert_eq!(wait, Value::Int(1), "the replica has it");
            told
        };
        assert_eq!(acknowledged(&cluster, from, &lock.acquire("A")), Ok(Value::Nil));
        cluster.begin_migration(lock.slot(), from, to);
        cluster.move_key(lock.names.lock(), from, to);
        assert_eq!(answer(cluster.ask(from, &lock.acquire("B"))), refused("ASK"));
        // Each waits for all that was written before: the key that has gone, and the key that has come.
        for node in [from, to] {
            acknowledged(&cluster, node, cmd("WAIT").arg(1).arg(20_000)).expect("an answer");
        }
        cluster.fail_over(from);
        let promoted = cluster.replica_of(from);
        let second = answer(cluster.ask(promoted, &lock.acquire("B")));
        if server.flavour() == Flavour::Valkey {
            assert_eq!(second, refused("ASK"));
        } else {
            assert_eq!(second, Ok(Value::Nil), "B has it");
            assert!(
                is_busy(&answer(cluster.ask_as_sent(to, &lock.acquire("C")))),
                "and A has it, where it was moved to"
            );
        }
    });
}

/// A sharded channel belongs to a slot: the old master ends the subscription. A plain one goes by all nodes.
#[test]
fn a_subscription_to_a_sharded_channel_ends_with_the_move_of_its_slot() {
    for_every_version_at_once(|server| {
        let cluster = SlotCluster::start(server, 2, false);
        let names = Names::of("invoices");
        let (channel, slot) = (names.channel(), names.slot().expect("its name has no braces"));
        let from = cluster.master_of(slot);
        let to = 1 - from;
        let subscribe = |verb: &str| {
            let mut connection = cluster.connect(from);
            connection.req_packed_command(&cmd(verb).arg(&channel).get_packed_command()).expect("it is subscribed");
            connection
        };
        let mut plain = subscribe("SUBSCRIBE");
        let sharded = server.has_sharded_channels().then(|| subscribe("SSUBSCRIBE"));
        cluster.begin_migration(slot, from, to);
        cluster.end_migration(slot, from, to);
        if let Some(mut sharded) = sharded {
            let told: Vec<Value> = redis::from_redis_value(sharded.recv_response().expect("a push")).expect("an array");
            assert_eq!(told[0], Value::BulkString(b"sunsubscribe".to_vec()));
            assert_eq!(cluster.subscribers(&channel, true), 0);
            assert_eq!(answer(cluster.ask(to, cmd("SPUBLISH").arg(&channel).arg("0"))), Ok(Value::Int(0)));
        }
        cluster.ask(to, cmd("PUBLISH").arg(&channel).arg("0")).expect("it is published");
        let told: (String, String, String) =
            redis::from_redis_value(plain.recv_response().expect("a message")).expect("a message");
        assert_eq!(told, ("message".to_owned(), channel, "0".to_owned()));
    });
}
