//! Real nodes behave under faults as the model assumes: power cuts, partitions, evictions.

use std::thread;
use std::time::Duration;

use lockstep_sim::replay::{Gate, NodeSettings, ServerConnection, ServerNode, ServerProgram, Version};
use lockstep_tests::servers::{START_MS, for_every_version as on_every_server};
use redis::{Commands, Value, cmd};

fn start(server: &ServerProgram, fsync: Option<&'static str>) -> ServerNode {
    ServerNode::start_with(server, START_MS, NodeSettings { fsync, ..NodeSettings::default() })
        .unwrap_or_else(|error| panic!("{server}: {error}"))
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

/// Without an AOF a node finds its last snapshot: a lock that was released since is back, and a later grant is gone.
#[test]
fn a_node_with_snapshots_finds_the_last_one_unless_it_is_told_to_end() {
    on_every_server(|server| {
        let settings = NodeSettings { has_snapshots: true, ..NodeSettings::default() };
        let node = ServerNode::start_with(server, START_MS, settings).unwrap();
        take_lock(&node, "a");
        node.save_snapshot().unwrap();
        let _: i64 = node.connect().unwrap().del("lock").unwrap();
        node.kill().unwrap();
        node.advance_clock(10_000).unwrap();
        node.restart().unwrap();
        assert_eq!(lock_of(&node).as_deref(), Some("a"), "{server}: a released lock is back");
        assert_eq!(node.connect().unwrap().pttl::<_, i64>("lock").unwrap(), 20_000, "{server}");
        take_lock(&node, "b");
        node.kill().unwrap();
        node.restart().unwrap();
        assert_eq!(lock_of(&node).as_deref(), Some("a"), "{server}: a grant since the snapshot is lost");
        take_lock(&node, "c");
        node.begin_shutdown().unwrap();
        node.wait_shutdown(|| ()).unwrap();
        node.restart().unwrap();
        assert_eq!(lock_of(&node).as_deref(), Some("c"), "{server}: it saves before it ends");
    });
}

/// A child process writes the first AOF after a full copy. Here it takes 1000 s for a key: until it has ended, the files are
/// those of before, though the replica has acknowledged the write, and the node refuses to end by itself.
#[test]
fn an_aof_whose_rewrite_has_not_ended_has_the_data_of_before() {
    on_every_server(|server| {
        let (master, replica) = (start(server, None), start(server, Some("always")));
        take_lock(&replica, "old");
        take_lock(&master, "new");
        let slow = ["SET", "rdb-key-save-delay", "1000000000"];
        let _: Value = cmd("CONFIG").arg(&slow).query(&mut replica.connect().unwrap()).unwrap();
        let gate = Gate::open(master.socket()).unwrap();
        replica.follow(&gate).unwrap();
        assert_eq!(lock_of(&replica).as_deref(), Some("new"), "{server}: in memory");
        replica.kill().unwrap();
        replica.restart().unwrap();
        assert_eq!(lock_of(&replica).as_deref(), Some("old"), "{server}: on the disk");
    });
}

/// Since 7.0 a master that is told to end waits for its replicas, and writes are not answered meanwhile.
#[test]
fn a_master_that_is_told_to_end_waits_for_the_replica_that_lags() {
    on_every_server(|server| {
        let waits = server.version() >= Version { major: 7, minor: 0, patch: 0 };
        let settings = NodeSettings { shutdown_timeout_seconds: 20, ..NodeSettings::default() };
        let node = || ServerNode::start_with(server, START_MS, settings).unwrap();
        let (master, replica) = (node(), node());
        let gate = Gate::open(master.socket()).unwrap();
        replica.follow(&gate).unwrap();
        take_lock(&master, "a");
        gate.mark(master.offset().unwrap());
        master.begin_shutdown().unwrap();
        if !waits {
            master.wait_shutdown(|| ()).unwrap();
            assert_eq!(lock_of(&replica), None, "{server}: the grant is lost");
            return;
        }
        master.await_begun_shutdown().unwrap();
        gate.release_one().unwrap();
        // It has asked what the replica has, and the question is a part of what it waits for.
        master.wait_shutdown(|| gate.answer_idle()).unwrap();
        assert_eq!(lock_of(&replica).as_deref(), Some("a"), "{server}");
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
        let without_memory = |master: &ServerNode| master.drop_keys().unwrap();
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

/// Reads are answered, and what was written before still reaches the replica. `PING` is refused: for Sentinel the node is down.
#[test]
fn after_a_failed_save_a_master_refuses_every_write_until_a_save_succeeds() {
    on_every_server(|server| {
        let (master, replica, gate) = pair(server);
        take_lock(&master, "a");
        gate.mark(master.offset().unwrap());
        master.refuse_writes().unwrap();
        let mut client = master.connect().unwrap();
        let refused = |command: &mut redis::Cmd, client: &mut ServerConnection| {
            let error = command.query::<Value>(client).unwrap_err();
            assert!(error.to_string().contains("MISCONF"), "{server}: {error}");
        };
        refused(cmd("SET").arg("lock").arg("b"), &mut client);
        refused(cmd("DEL").arg("lock"), &mut client);
        refused(cmd("PEXPIRE").arg("lock").arg(1), &mut client);
        refused(&mut cmd("PING"), &mut client);
        refused(cmd("EVAL").arg("return redis.call('del', 'no key')").arg(0), &mut client);
        let read: String = cmd("EVAL").arg("return redis.call('get', 'lock')").arg(0).query(&mut client).unwrap();
        assert_eq!(read, "a", "{server}");
        assert_eq!(lock_of(&master).as_deref(), Some("a"), "{server}");
        gate.release_one().unwrap();
        assert_eq!(lock_of(&replica).as_deref(), Some("a"), "{server}: the link is as it was");
        master.accept_writes().unwrap();
        take_lock(&master, "b");
        assert_eq!(lock_of(&master).as_deref(), Some("b"), "{server}");
        master.refuse_writes().unwrap();
        master.kill().unwrap();
        master.restart().unwrap();
        assert_eq!(lock_of(&master), None, "{server}: nothing was saved");
        take_lock(&master, "c");
    });
}

/// A server has one child process at a time, and refuses `BGSAVE` while it rewrites its AOF, as after a full copy.
#[test]
fn a_save_waits_until_an_aof_is_rewritten() {
    on_every_server(|server| {
        let settings = NodeSettings { fsync: Some("always"), ..NodeSettings::default() };
        let node = ServerNode::start_with(server, START_MS, settings).unwrap();
        let mut client = node.connect().unwrap();
        take_lock(&node, "a");
        // A child sleeps so long for each key that it writes.
        let slow = ["SET", "rdb-key-save-delay", "500000"];
        cmd("CONFIG").arg(&slow).exec(&mut client).unwrap();
        let rewrite = |client: &mut ServerConnection| {
            cmd("BGREWRITEAOF").exec(client).unwrap();
            let refused = cmd("BGSAVE").exec(client).unwrap_err();
            assert!(refused.to_string().contains("AOF"), "{server}: {refused}");
        };
        rewrite(&mut client);
        node.refuse_writes().unwrap();
        let refused = cmd("SET").arg("lock").arg("b").exec(&mut client).unwrap_err();
        assert!(refused.to_string().contains("MISCONF"), "{server}: {refused}");
        rewrite(&mut client);
        node.accept_writes().unwrap();
        take_lock(&node, "b");
        rewrite(&mut client);
        node.save_snapshot().unwrap();
    });
}

/// A lock without a TTL outlives every lease on master and replica, until it is given a TTL again.
#[test]
fn a_persisted_key_outlives_its_lease_on_master_and_replica() {
    on_every_server(|server| {
        let (master, replica, gate) = pair(server);
        let pass = || {
            gate.mark(master.offset().unwrap());
            gate.release_all().unwrap();
        };
        take_lock(&master, "a");
        pass();
        let mut client = master.connect().unwrap();
        let persisted: i64 = cmd("PERSIST").arg("lock").query(&mut client).unwrap();
        assert_eq!(persisted, 1, "{server}");
        pass();
        for node in [&master, &replica] {
            node.advance_clock(60_000).unwrap();
            assert_eq!(node.connect().unwrap().pttl::<_, i64>("lock").unwrap(), -1, "{server}");
        }
        let _: i64 = client.pexpire("lock", 30_000).unwrap();
        pass();
        assert_eq!(replica.connect().unwrap().pttl::<_, i64>("lock").unwrap(), 30_000, "{server}");
    });
}

/// `volatile-ttl` takes what has the shortest TTL first, and a release receipt has a shorter one than its lock. How many keys
/// go depends on how much memory is needed; their order does not.
#[test]
fn a_server_without_memory_drops_a_receipt_before_its_lock() {
    on_every_server(|server| {
        let master = start(server, None);
        take_lock(&master, "a");
        let mut client = master.connect().unwrap();
        let _: () = client.pset_ex("receipt", "1", 16_000).unwrap();
        let _: () = cmd("CONFIG").arg(&["SET", "notify-keyspace-events", "Ee"]).query(&mut client).unwrap();
        let mut listener = master.connect().unwrap();
        let subscribe = cmd("PSUBSCRIBE").arg("__keyevent@0__:evicted").get_packed_command();
        let _: Value = redis::ConnectionLike::req_packed_command(&mut listener, &subscribe).unwrap();
        master.drop_keys().unwrap();
        let Value::Array(told) = listener.recv_response().unwrap() else { panic!("{server}: a message") };
        assert_eq!(told.last(), Some(&Value::BulkString(b"receipt".to_vec())), "{server}");
    });
}

/// A replica publishes what its master's script published, when the effect arrives; by a full copy nothing arrives.
#[test]
fn a_message_reaches_a_replica_with_its_effect_and_not_with_a_full_copy() {
    on_every_server(|server| {
        let (master, replica, gate) = pair(server);
        // A connection on which nothing comes in time is closed, so each is asked once.
        let listener = || {
            let mut listener = replica.connect().unwrap();
            listener.set_patience(Duration::from_millis(100));
            let subscribe = cmd("SUBSCRIBE").arg("free").get_packed_command();
            let _: Value = redis::ConnectionLike::req_packed_command(&mut listener, &subscribe).unwrap();
            listener
        };
        let release = || {
            take_lock(&master, "a");
            let script = "redis.call('DEL', KEYS[1]) redis.call('PUBLISH', 'free', '0')";
            let _: Value = cmd("EVAL").arg(script).arg(1).arg("lock").query(&mut master.connect().unwrap()).unwrap();
        };
        let (mut early, mut listening) = (listener(), listener());
        release();
        assert!(early.recv_response().is_err(), "{server}: it is held at the gate");
        gate.mark(master.offset().unwrap());
        gate.release_all().unwrap();
        assert!(listening.recv_response().is_ok(), "{server}");
        gate.close();
        let mut listening = listener();
        release();
        let _: Value = cmd("DEBUG").arg("CHANGE-REPL-ID").query(&mut master.connect().unwrap()).unwrap();
        let gate = Gate::open(master.socket()).unwrap();
        replica.follow(&gate).unwrap();
        assert_eq!(lock_of(&replica), None, "{server}");
        assert!(listening.recv_response().is_err(), "{server}: the message is lost");
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

/// Nothing tells it that it was replaced; only `min-replicas-to-write` keeps it from granting
/// (docs/facts/redis.md#a-client-that-starts-or-goes-back).
#[test]
fn an_old_master_that_restarts_says_it_is_master_and_grants_what_the_new_one_stores() {
    on_every_server(|server| {
        let (old, new, gate) = pair(server);
        take_lock(&old, "a");
        gate.mark(old.offset().unwrap());
        gate.release_one().unwrap();
        old.kill().unwrap();
        new.promote().unwrap();
        old.restart().unwrap();
        let mut client = old.connect().unwrap();
        let role: Vec<Value> = cmd("ROLE").query(&mut client).unwrap();
        assert_eq!(role[0], Value::BulkString(b"master".to_vec()), "{server}");
        let take = cmd("SET").arg("lock").arg("b").arg("NX").arg("PX").arg(30_000).clone();
        old.require_replicas(1, 10).unwrap();
        let refused: redis::RedisResult<Value> = take.query(&mut client);
        assert_eq!(refused.unwrap_err().code(), Some("NOREPLICAS"), "{server}");
        old.require_replicas(0, 10).unwrap();
        let granted: Value = take.query(&mut client).unwrap();
        assert_eq!(granted, Value::Okay, "{server}");
        assert_eq!([&old, &new].map(lock_of), [Some("b".to_owned()), Some("a".to_owned())], "{server}");
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
