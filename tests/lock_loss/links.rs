//! Links are cut, healed and turned round, and break only when we say so.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use lockstep_sim::replay::{Gate, ServerNode, ServerRole};
use lockstep_tests::servers::for_every_version as on_every_server;
use redis::{Commands, Value, cmd};

use crate::harness::{ReplicatedPair, get, pair, set, start};

/// After a partition the replica receives what it missed, still one effect at a time.
#[test]
fn a_healed_link_continues_where_it_was_cut() {
    on_every_server(|server| {
        let mut pair = pair(server);
        pair.write(&set("lock", "a"));
        pair.gate.release_one().unwrap();
        pair.write(&set("lock", "b"));
        pair.gate.cut();
        pair.write(&set("lock", "c"));
        pair.gate.heal().unwrap();
        pair.replica.follow(&pair.gate).unwrap();
        assert_eq!(pair.gate.held(), 2);
        assert_eq!(get(&pair.replica, "lock").as_deref(), Some("a"));
        pair.gate.release_one().unwrap();
        assert_eq!(get(&pair.replica, "lock").as_deref(), Some("b"));
        pair.gate.release_one().unwrap();
        assert_eq!(get(&pair.replica, "lock").as_deref(), Some("c"));
    });
}

/// A master sends what it writes during a copy once the copy is acknowledged, and a sentinel may publish at any time.
#[test]
fn a_replica_follows_a_master_that_writes_during_the_copy() {
    on_every_server(|server| {
        let master = start(server);
        let (mut publisher, has_followed) = (master.connect().unwrap(), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                while !has_followed.load(Ordering::Relaxed) {
                    let _: Value = cmd("PUBLISH").arg("channel").arg("x").query(&mut publisher).unwrap();
                }
            });
            let gate = Gate::open(master.socket()).unwrap();
            let followed = start(server).follow(&gate);
            has_followed.store(true, Ordering::Relaxed);
            followed.unwrap_or_else(|error| panic!("{server}: {error}"));
        });
    });
}

/// An old master that went on writing loses what the new one does not have.
#[test]
fn a_demoted_master_loses_its_own_suffix() {
    on_every_server(|server| {
        let ReplicatedPair { master, replica, gate } = pair(server);
        let _: () = master.connect().unwrap().set("lock", "a").unwrap();
        gate.close();
        replica.promote().unwrap();
        let _: () = replica.connect().unwrap().set("lock", "b").unwrap();
        let back = Gate::open(replica.socket()).unwrap();
        master.follow(&back).unwrap();
        assert_eq!(master.role().unwrap(), ServerRole::Replica);
        assert_eq!(get(&master, "lock").as_deref(), Some("b"));
    });
}

/// A replica that nobody has told follows the old master, which counts it; told, it counts for the new one alone, and what
/// it had of the old one is gone.
#[test]
fn a_replica_counts_for_the_old_master_until_it_is_told_of_the_new_one() {
    on_every_server(|server| {
        let ReplicatedPair { master: old, replica: stays, gate } = pair(server);
        let heir = start(server);
        let to_heir = Gate::open(old.socket()).unwrap();
        heir.follow(&to_heir).unwrap();
        to_heir.close();
        heir.promote().unwrap();
        for node in [&old, &heir] {
            node.require_replicas(1, 10).unwrap();
        }
        let take = |node: &ServerNode, value: &str| set("lock", value).query::<()>(&mut node.connect().unwrap());
        take(&old, "a").unwrap();
        gate.mark(old.offset().unwrap());
        gate.release_one().unwrap();
        assert_eq!(get(&stays, "lock").as_deref(), Some("a"), "{server}");
        assert_eq!(take(&heir, "b").unwrap_err().code(), Some("NOREPLICAS"), "{server}");
        let port = gate.port().unwrap();
        gate.close();
        old.wait_without(port).unwrap();
        let moved = Gate::open(heir.socket()).unwrap();
        stays.follow(&moved).unwrap();
        assert_eq!(get(&stays, "lock"), None, "{server}");
        take(&heir, "b").unwrap();
        assert_eq!(take(&old, "c").unwrap_err().code(), Some("NOREPLICAS"), "{server}");
        assert_eq!(get(&old, "lock").as_deref(), Some("a"), "{server}: both are granted");
    });
}

/// Links end when nothing was received for `repl-timeout` seconds, and our clocks jump by years.
#[test]
fn a_jump_of_years_breaks_no_link() {
    on_every_server(|server| {
        let pair = pair(server);
        pair.write(&set("lock", "a"));
        for node in [&pair.master, &pair.replica] {
            node.advance_clock(10 * 365 * 86_400_000).unwrap();
        }
        // The servers look for dead links once a second of the real clock.
        thread::sleep(Duration::from_millis(1200));
        pair.write(&set("lock", "b"));
        pair.gate.release_all().unwrap();
        assert_eq!(get(&pair.replica, "lock").as_deref(), Some("b"));
    });
}
