//! Real nodes behave under faults as the model assumes: power cuts, partitions, evictions.

use std::thread;
use std::time::Duration;

use lockstep_sim::replay::{Gate, NodeSettings, ServerNode, ServerProgram};
use lockstep_tests::servers::{START_MS, for_every_version as on_every_server};
use redis::{Commands, Value, cmd};

fn start(server: &ServerProgram, fsync: Option<&'static str>) -> ServerNode {
    ServerNode::start_with(server, START_MS, NodeSettings { fsync }).unwrap_or_else(|error| panic!("{server}: {error}"))
}

fn lock_of(node: &ServerNode) -> Option<String> {
    node.connect().unwrap().get("lock").unwrap()
}

fn take_lock(node: &ServerNode, holder: &str) {
    let _: () = node.connect().unwrap().pset_ex("lock", holder, 30_000).unwrap();
}

/// A master and a replica that has all of its data.
fn pair(server: &ServerProgram) -> (ServerNode, ServerNode, Gate) {
    let (master, replica) = (start(server, None), start(server, None));
    let gate = Gate::open(master.socket()).unwrap();
    replica.follow(&gate).unwrap();
    (master, replica, gate)
}

/// No answered write is lost, and keys expire while the node is down.
#[test]
fn with_fsync_always_a_killed_node_finds_every_write_and_its_deadline() {
    on_every_server(|server| {
        let node = start(server, Some("always"));
        take_lock(&node, "a");
        node.kill().unwrap();
        node.advance_clock(10_000).unwrap();
        node.restart().unwrap();
        assert_eq!(lock_of(&node).as_deref(), Some("a"), "{server}");
        assert_eq!(node.connect().unwrap().pttl::<_, i64>("lock").unwrap(), 20_000, "{server}");
        node.kill().unwrap();
        node.advance_clock(20_001).unwrap();
        node.restart().unwrap();
        assert_eq!(lock_of(&node), None, "{server}: it expired while the node was down");
    });
}

/// If only the process is killed, the operating system still has what was written. After a power cut only what was synced
/// to the disk is left.
#[test]
fn with_fsync_every_second_a_power_cut_loses_what_was_written_since() {
    on_every_server(|server| {
        let node = start(server, Some("everysec"));
        take_lock(&node, "a");
        node.sync_disk().unwrap();
        take_lock(&node, "b");
        node.kill_without_power().unwrap();
        node.restart().unwrap();
        assert_eq!(lock_of(&node).as_deref(), Some("a"), "{server}");
        take_lock(&node, "c");
        node.kill().unwrap();
        node.restart().unwrap();
        assert_eq!(lock_of(&node).as_deref(), Some("c"), "{server}: a killed process loses nothing");
    });
}

/// A node that loads a full copy rewrites its AOF from it.
#[test]
fn a_full_copy_reaches_the_disk() {
    on_every_server(|server| {
        let (master, replica) = (start(server, None), start(server, Some("always")));
        take_lock(&replica, "old");
        take_lock(&master, "new");
        let gate = Gate::open(master.socket()).unwrap();
        replica.follow(&gate).unwrap();
        replica.wait_written().unwrap();
        replica.kill().unwrap();
        replica.restart().unwrap();
        assert_eq!(lock_of(&replica).as_deref(), Some("new"), "{server}");
    });
}

/// Evicting a key has the same effects as deleting it by hand: the deletion is replicated as any write is, and no message is
/// published.
#[test]
fn a_key_that_runs_out_of_memory_and_one_that_is_deleted_by_hand_vanish_alike() {
    on_every_server(|server| {
        let by_hand = |master: &ServerNode| {
            let _: i64 = master.connect().unwrap().del("lock").unwrap();
        };
        let without_memory = |master: &ServerNode| master.drop_one_key().unwrap();
        let ways: [&dyn Fn(&ServerNode); 2] = [&by_hand, &without_memory];
        for vanish in ways {
            let (master, replica, gate) = pair(server);
            let mut listener = master.connect().unwrap();
            listener.set_patience(Duration::from_millis(100));
            let subscribe = cmd("PSUBSCRIBE").arg("*").get_packed_command();
            let _: Value = redis::ConnectionLike::req_packed_command(&mut listener, &subscribe).unwrap();
            take_lock(&master, "a");
            gate.mark(master.offset().unwrap());
            gate.release_one().unwrap();
            vanish(&master);
            assert_eq!(lock_of(&master), None, "{server}");
            assert_eq!(lock_of(&replica).as_deref(), Some("a"), "{server}: not yet");
            gate.mark(master.offset().unwrap());
            assert_eq!(gate.held(), 1, "{server}: one effect");
            gate.release_one().unwrap();
            assert_eq!(lock_of(&replica), None, "{server}");
            assert!(listener.recv_response().is_err(), "{server}: something was published");
        }
    });
}

/// A master behind a partition counts its replica, even one that was promoted, until the last acknowledgement is too old.
#[test]
fn a_silent_gate_leaves_the_link_open_for_the_master() {
    on_every_server(|server| {
        let (master, replica, gate) = pair(server);
        master.require_replicas(1, 10).unwrap();
        gate.silence();
        replica.promote().unwrap();
        thread::sleep(Duration::from_millis(50));
        let mut client = master.connect().unwrap();
        let mut write = || client.set::<_, _, ()>("lock", "a");
        write().unwrap();
        master.advance_clock(10_000).unwrap();
        write().unwrap();
        master.advance_clock(1000).unwrap();
        assert_eq!(write().unwrap_err().code(), Some("NOREPLICAS"), "{server}");
        let port = gate.port().unwrap();
        gate.close();
        master.wait_without(port).unwrap();
    });
}

/// A key can have expired by one clock and not by another: so a failover without lag can lose a grant.
#[test]
fn a_replica_judges_a_deadline_by_its_own_clock_since_7_0() {
    on_every_server(|server| {
        let (master, replica, gate) = pair(server);
        master.advance_clock(-40_000).unwrap();
        take_lock(&master, "a");
        gate.mark(master.offset().unwrap());
        gate.release_one().unwrap();
        assert_eq!(lock_of(&master).as_deref(), Some("a"), "{server}");
        let travels_as_deadline = server.ttls() == lockstep_model::config::Ttls::Absolute;
        assert_eq!(lock_of(&replica).is_none(), travels_as_deadline, "{server}");
    });
}

/// Its clock goes on and its sockets fill: what waits is executed once it goes on, at the time that it is by then.
#[test]
fn a_node_that_stood_still_executes_what_waited_at_the_time_that_it_is_by_then() {
    on_every_server(|server| {
        let node = start(server, None);
        take_lock(&node, "a");
        let [mut impatient, mut waiting] = [node.connect().unwrap(), node.connect().unwrap()];
        node.pause().unwrap();
        node.advance_clock(30_001).unwrap();
        let set = cmd("SET").arg(&["lock", "b", "NX"]).get_packed_command();
        impatient.set_patience(Duration::from_millis(100));
        let ping = cmd("PING").get_packed_command();
        assert!(redis::ConnectionLike::req_packed_command(&mut impatient, &ping).is_err(), "{server}: it stands still");
        waiting.send_packed_command(&set).unwrap();
        node.resume().unwrap();
        assert_eq!(waiting.recv_response().unwrap(), Value::Okay, "{server}: it had expired");
        assert_eq!(lock_of(&node).as_deref(), Some("b"), "{server}");
    });
}

/// A node that stands still can be killed, and nothing waits for it.
#[test]
fn a_node_that_stands_still_can_be_killed_and_started_again() {
    on_every_server(|server| {
        let node = start(server, None);
        node.pause().unwrap();
        node.kill().unwrap();
        node.restart().unwrap();
        take_lock(&node, "a");
        assert_eq!(lock_of(&node).as_deref(), Some("a"), "{server}");
    });
}
