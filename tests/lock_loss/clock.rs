//! Servers run by our clock: deadlines are exact, and no time passes by itself.

use std::fs;
use std::thread;
use std::time::Duration;

use lockstep_tests::servers::{START_MS, for_every_version as on_every_server};
use redis::{Commands, cmd};

use crate::harness::{get, pair, start, ttl_ms};

/// All comparisons to the millisecond depend on this.
#[test]
fn a_frozen_clock_makes_a_ttl_exact_and_stands_still() {
    on_every_server(|server| {
        let node = start(server);
        let mut redis = node.connect().unwrap();
        let _: () = redis.pset_ex("lock", "a", 30_000).unwrap();
        thread::sleep(Duration::from_millis(30));
        assert_eq!(ttl_ms(&mut redis, "lock"), 30_000);
        node.advance_clock(10_000).unwrap();
        assert_eq!(ttl_ms(&mut redis, "lock"), 20_000);
        node.set_clock(START_MS - 5000).unwrap();
        assert_eq!(ttl_ms(&mut redis, "lock"), 35_000);
        assert_eq!(node.clock().now_ms(), START_MS - 5000);
    });
}

/// Newer servers cache the time for up to a millisecond: setting the clock must wait until they read it again.
#[test]
fn the_command_after_a_move_runs_at_the_new_time() {
    on_every_server(|server| {
        let node = start(server);
        let mut redis = node.connect().unwrap();
        for step in 1..=300 {
            node.advance_clock(1).unwrap();
            let (seconds, microseconds): (i64, i64) = cmd("TIME").query(&mut redis).unwrap();
            assert_eq!(seconds * 1000 + microseconds / 1000, START_MS + step, "{server}");
        }
    });
}

/// Time must not pass between the commands of one pipeline.
#[test]
fn time_stands_still_through_a_long_pipeline() {
    on_every_server(|server| {
        let node = start(server);
        let mut redis = node.connect().unwrap();
        let _: () = redis.pset_ex("lock", "a", 30_000).unwrap();
        let mut pipeline = redis::pipe();
        for _ in 0..5000 {
            pipeline.cmd("PTTL").arg("lock");
        }
        let ttls: Vec<i64> = pipeline.query(&mut redis).unwrap();
        assert!(ttls.iter().all(|&ttl| ttl == 30_000), "{server}");
    });
}

/// Keys expire exactly when they should.
#[test]
fn a_key_is_there_at_its_deadline_and_gone_one_millisecond_later() {
    on_every_server(|server| {
        let node = start(server);
        let mut redis = node.connect().unwrap();
        let _: () = redis.pset_ex("lock", "a", 30_000).unwrap();
        node.advance_clock(30_000).unwrap();
        assert_eq!(ttl_ms(&mut redis, "lock"), 0);
        assert_eq!(get(&node, "lock").as_deref(), Some("a"));
        node.advance_clock(1).unwrap();
        assert_eq!(ttl_ms(&mut redis, "lock"), -2);
        assert_eq!(get(&node, "lock"), None);
    });
}

/// What a replay does where a key is gone at the instant at which it is due: a master deletes it for good, a replica hides it
/// for as long as its clock is beyond that, and what its master sends treats it as alive.
#[test]
fn a_key_that_a_master_deleted_at_a_tie_stays_away_and_one_that_a_replica_hides_can_be_renewed() {
    on_every_server(|server| {
        let pair = pair(server);
        for key in ["lock", "other"] {
            pair.write(cmd("PSETEX").arg(key).arg(30_000).arg("a"));
        }
        pair.gate.release_all().unwrap();
        for node in [&pair.master, &pair.replica] {
            node.advance_clock(30_000).unwrap();
        }
        pair.master.advance_clock(1).unwrap();
        assert_eq!(get(&pair.master, "other"), None);
        pair.master.advance_clock(-1).unwrap();
        assert_eq!(get(&pair.master, "other"), None, "deleted");
        assert_eq!(get(&pair.master, "lock").as_deref(), Some("a"), "not looked at");

        pair.replica.advance_clock(1).unwrap();
        assert_eq!(get(&pair.replica, "lock"), None, "hidden");
        pair.write(cmd("PEXPIRE").arg("lock").arg(30_000));
        pair.gate.release_all().unwrap();
        assert_eq!(get(&pair.replica, "lock").as_deref(), Some("a"));
        assert_eq!(get(&pair.replica, "other"), None, "its master has sent the deletion");
    });
}

#[test]
fn each_node_has_its_own_clock() {
    on_every_server(|server| {
        let (one, other) = (start(server), start(server));
        for node in [&one, &other] {
            let _: () = node.connect().unwrap().pset_ex("lock", "a", 30_000).unwrap();
        }
        one.advance_clock(30_001).unwrap();
        assert_eq!(get(&one, "lock"), None);
        assert_eq!(get(&other, "lock").as_deref(), Some("a"));
    });
}

/// A server that spins because its clock stands still would make every measurement of speed wrong.
#[test]
fn a_server_at_rest_does_not_run() {
    on_every_server(|server| {
        let node = start(server);
        let used = || {
            let stat = fs::read_to_string(format!("/proc/{}/stat", node.pid())).unwrap();
            let fields: Vec<u64> = stat.split_whitespace().filter_map(|field| field.parse().ok()).collect();
            // utime and stime, in hundredths of a second; the name and the state are no numbers.
            fields[11] + fields[12]
        };
        let before = used();
        thread::sleep(Duration::from_millis(500));
        assert!(used() - before < 20, "{server} used {} of 50 hundredths", used() - before);
    });
}
