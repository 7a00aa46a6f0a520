//! Writes reach a replica through our gate, one effect at a time.

use std::thread;
use std::time::Duration;

use lockstep_sim::replay::{Gate, ReplayError, ServerRole};
use lockstep_tests::servers::for_every_version as on_every_server;
use redis::{Commands, cmd};

use crate::harness::{get, pair, set, start, ttl_ms, words};

#[test]
fn a_replica_sees_a_write_only_when_the_gate_releases_it() {
    on_every_server(|server| {
        let pair = pair(server);
        pair.write(&set("lock", "a"));
        pair.write(&set("lock", "b"));
        thread::sleep(Duration::from_millis(30));
        assert_eq!(get(&pair.replica, "lock"), None);
        assert_eq!(pair.gate.held(), 2);
        let effect = pair.gate.release_one().unwrap();
        assert_eq!(effect.to_string(), "SELECT 0; SET lock a".replace("SET", &verb_as_sent(&effect.commands)));
        assert_eq!(get(&pair.replica, "lock").as_deref(), Some("a"));
        assert_eq!(pair.gate.held(), 1);
        assert_eq!(pair.gate.release_all().unwrap().len(), 1);
        assert_eq!(get(&pair.replica, "lock").as_deref(), Some("b"));
        assert_eq!(pair.replica.offset().unwrap(), pair.master.offset().unwrap());
        assert!(matches!(pair.gate.release_one(), Err(ReplayError::NothingHeld)));
    });
}

/// Servers send the command as the client wrote it, in upper or lower case.
fn verb_as_sent(commands: &[Vec<Vec<u8>>]) -> String {
    String::from_utf8_lossy(&commands[1][0]).into_owned()
}

#[test]
fn what_was_there_before_the_replica_comes_with_its_copy() {
    on_every_server(|server| {
        let (master, replica) = (start(server), start(server));
        let _: () = master.connect().unwrap().set("lock", "a".repeat(100_000)).unwrap();
        let gate = Gate::open(master.socket()).unwrap();
        replica.follow(&gate).unwrap();
        assert_eq!(get(&replica, "lock").map(|value| value.len()), Some(100_000));
        assert_eq!(replica.role().unwrap(), ServerRole::Replica);
        assert_eq!(gate.held(), 0);
    });
}

/// Redisson's scripts rely on it: no client ever sees the hash without its TTL.
#[test]
fn the_writes_of_a_script_are_one_effect() {
    on_every_server(|server| {
        let pair = pair(server);
        let script = "redis.call('hincrby', KEYS[1], 'a', 1) redis.call('pexpire', KEYS[1], 30000) \
                      redis.call('publish', 'channel', 'x')";
        pair.write(cmd("EVAL").arg(script).arg(1).arg("lock"));
        let effect = pair.gate.release_one().unwrap();
        let sent = words(&effect.commands);
        // Redis selects the database before the block, Valkey within it.
        assert!(sent[..2].contains(&"MULTI".to_owned()), "{effect}");
        assert_eq!(sent.last().map(String::as_str), Some("EXEC"));
        assert!(sent.contains(&"HINCRBY".to_owned()), "{effect}");
        assert!(sent.contains(&"PUBLISH".to_owned()), "{effect}");
        assert_eq!(ttl_ms(&mut pair.replica.connect().unwrap(), "lock"), 30_000);
        assert_eq!(pair.gate.held(), 0);
    });
}

/// Two replicas of one master lag independently of each other.
#[test]
fn each_replica_has_its_own_gate() {
    on_every_server(|server| {
        let pair = pair(server);
        let second = start(server);
        let second_gate = Gate::open(pair.master.socket()).unwrap();
        second.follow(&second_gate).unwrap();
        pair.write(&set("lock", "a"));
        second_gate.mark(pair.master.offset().unwrap());
        second_gate.release_one().unwrap();
        assert_eq!(get(&second, "lock").as_deref(), Some("a"));
        assert_eq!(get(&pair.replica, "lock"), None);
    });
}

/// The known hole, on a real server.
#[test]
fn what_was_not_released_dies_with_the_master() {
    on_every_server(|server| {
        let pair = pair(server);
        pair.write(&set("before", "a"));
        pair.gate.release_one().unwrap();
        pair.write(&set("lock", "a"));
        pair.master.kill().unwrap();
        assert!(!pair.master.is_running());
        pair.gate.close();
        pair.replica.promote().unwrap();
        assert_eq!(pair.replica.role().unwrap(), ServerRole::Master);
        assert_eq!(get(&pair.replica, "before").as_deref(), Some("a"));
        assert_eq!(get(&pair.replica, "lock"), None);
        let taken: bool = pair.replica.connect().unwrap().set_nx("lock", "b").unwrap();
        assert!(taken);
    });
}

/// No client can see a difference: the key has expired by both clocks.
#[test]
fn the_delete_of_an_expired_key_travels_with_the_next_effect() {
    on_every_server(|server| {
        let pair = pair(server);
        pair.write(cmd("SET").arg("lock").arg("a").arg("PX").arg(1000));
        pair.gate.release_one().unwrap();
        let offset = pair.master.offset().unwrap();
        for node in [&pair.master, &pair.replica] {
            node.advance_clock(1001).unwrap();
        }
        thread::sleep(Duration::from_millis(150));
        assert_eq!(pair.master.offset().unwrap(), offset, "{server} looks for expired keys by itself");
        assert_eq!(get(&pair.replica, "lock"), None);
        // A read makes the master find and delete it.
        assert_eq!(get(&pair.master, "lock"), None);
        assert!(pair.master.offset().unwrap() > offset);
        pair.write(&set("other", "b"));
        assert_eq!(pair.gate.held(), 1);
        let effect = pair.gate.release_one().unwrap();
        let sent = words(&effect.commands);
        assert!(matches!(sent[0].as_str(), "DEL" | "UNLINK"), "{effect}");
        assert_eq!(sent.last().map(String::as_str), Some("SET"));
    });
}

/// A client that still asks a demoted master sees more in scripts than in plain reads. The model does not do this
/// (`shows_scripts_what_has_expired`); this test notices when servers change.
#[test]
fn before_7_0_a_script_on_a_replica_still_sees_a_key_that_has_expired() {
    on_every_server(|server| {
        let pair = pair(server);
        pair.write(cmd("SET").arg("lock").arg("a").arg("PX").arg(1000));
        pair.gate.release_one().unwrap();
        pair.replica.advance_clock(1001).unwrap();
        let mut client = pair.replica.connect().unwrap();
        let read: bool = client.exists("lock").unwrap();
        assert!(!read, "{server}");
        let script = "return redis.call('exists', KEYS[1])";
        let seen: bool = cmd("EVAL").arg(script).arg(1).arg("lock").query(&mut client).unwrap();
        assert_eq!(seen, server.shows_scripts_what_has_expired(), "{server}");
    });
}

#[test]
fn a_mark_in_the_middle_of_a_command_is_refused() {
    on_every_server(|server| {
        let pair = pair(server);
        let _: () = pair.master.connect().unwrap().set("lock", "a").unwrap();
        pair.gate.mark(pair.master.offset().unwrap() - 1);
        assert!(matches!(pair.gate.release_one(), Err(ReplayError::NotAnEffect { .. })));
    });
}
