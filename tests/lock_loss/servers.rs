//! Real servers run deterministically: by our clock, through our gates, and only as long as we do.
//!
//! Every test runs on every server in `LOCKSTEP_TEST_SERVERS` (paths separated by colons), or on the one on `PATH`. Without a
//! server the tests fail.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lockstep_sim::replay::{Error, Flavour, Gate, Server, ServerConnection, ServerNode, ServerRole};
use lockstep_tests::servers::{START_MS, for_every_version as on_every_server, servers};
use redis::{Commands, Value, cmd};

fn start(server: &Server) -> ServerNode {
    ServerNode::start(server, START_MS).unwrap_or_else(|error| panic!("{error}"))
}

/// A master, a replica without data, and the gate between them.
struct ReplicatedPair {
    master: ServerNode,
    replica: ServerNode,
    gate: Gate,
}

fn pair(server: &Server) -> ReplicatedPair {
    let (master, replica) = (start(server), start(server));
    let gate = Gate::open(master.socket()).unwrap();
    replica.follow(&gate).unwrap_or_else(|error| panic!("{server}: {error}"));
    ReplicatedPair { master, replica, gate }
}

impl ReplicatedPair {
    /// One step that writes.
    fn write(&self, command: &redis::Cmd) {
        let _: Value = command.query(&mut self.master.connect().unwrap()).unwrap();
        self.gate.mark(self.master.offset().unwrap());
    }
}

fn set(key: &str, value: &str) -> redis::Cmd {
    let mut command = cmd("SET");
    command.arg(key).arg(value);
    command
}

fn get(node: &ServerNode, key: &str) -> Option<String> {
    node.connect().unwrap().get(key).unwrap()
}

fn ttl_ms(redis: &mut ServerConnection, key: &str) -> i64 {
    redis.pttl(key).unwrap()
}

fn words(commands: &[Vec<Vec<u8>>]) -> Vec<String> {
    commands.iter().map(|command| String::from_utf8_lossy(&command[0]).to_uppercase()).collect()
}

// Time.

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

// Replication.

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
        assert!(matches!(pair.gate.release_one(), Err(Error::NothingHeld)));
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
        assert!(matches!(pair.gate.release_one(), Err(Error::NotAnEffect { .. })));
    });
}

/// A sync wait asks the replica for its offset through the stream, and the gate must not hold this request back.
#[test]
fn a_wait_is_answered_once_the_effect_is_released() {
    on_every_server(|server| {
        let pair = pair(server);
        let mut client = pair.master.connect().unwrap();
        let _: () = client.set("lock", "a").unwrap();
        pair.gate.mark(pair.master.offset().unwrap());
        thread::scope(|scope| {
            let waiting = scope.spawn(|| cmd("WAIT").arg(1).arg(60_000).query::<i64>(&mut client).unwrap());
            thread::sleep(Duration::from_millis(50));
            assert!(!waiting.is_finished());
            pair.gate.release_one().unwrap();
            assert_eq!(waiting.join().unwrap(), 1);
        });
    });
}

/// The timeout of WAIT is measured on the server's clock, which only the harness moves.
#[test]
fn a_wait_ends_when_the_clock_says_so() {
    on_every_server(|server| {
        let pair = pair(server);
        let mut client = pair.master.connect().unwrap();
        let _: () = client.set("lock", "a").unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| cmd("WAIT").arg(1).arg(1000).query::<i64>(&mut client).unwrap());
            thread::sleep(Duration::from_millis(50));
            assert!(!waiting.is_finished());
            pair.master.advance_clock(1001).unwrap();
            assert_eq!(waiting.join().unwrap(), 0);
        });
    });
}

/// Two effects are held, and a client waits for the first: the request for the offset must not queue behind the second.
#[test]
fn a_wait_for_the_first_effect_needs_no_second_one() {
    on_every_server(|server| {
        let pair = pair(server);
        let mut client = pair.master.connect().unwrap();
        let _: () = client.set("lock", "a").unwrap();
        pair.gate.mark(pair.master.offset().unwrap());
        pair.write(&set("other", "b"));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| cmd("WAIT").arg(1).arg(60_000).query::<i64>(&mut client).unwrap());
            thread::sleep(Duration::from_millis(50));
            assert!(!waiting.is_finished());
            pair.gate.release_one().unwrap();
            assert_eq!(waiting.join().unwrap(), 1);
        });
        assert_eq!(get(&pair.replica, "other"), None);
    });
}

/// The master counts a replica as good while its last acknowledgement is recent by the master's clock. Real time does not
/// matter, though servers count and acknowledge by real seconds.
#[test]
fn a_replica_is_good_for_ten_seconds_after_it_acknowledged() {
    on_every_server(|server| {
        let pair = pair(server);
        pair.master.require_replicas(1, 10).unwrap();
        let mut client = pair.master.connect().unwrap();
        let mut write = || client.set::<_, _, ()>("lock", "a");
        for _ in 0..10 {
            write().unwrap();
            pair.master.advance_clock(10_000).unwrap();
            write().unwrap();
            pair.master.advance_clock(1000).unwrap();
            let refused = write().unwrap_err();
            assert_eq!(refused.code(), Some("NOREPLICAS"), "{server}");
            pair.gate.acknowledge().unwrap();
        }
        pair.master.advance_clock(11_000).unwrap();
        thread::sleep(Duration::from_millis(1500));
        assert!(write().is_err(), "{server}: the replica acknowledged by itself");
    });
}

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

// Processes.

#[test]
fn a_node_restarts_empty_or_with_its_data() {
    on_every_server(|server| {
        let node = start(server);
        let _: () = node.connect().unwrap().pset_ex("lock", "a", 30_000).unwrap();
        node.kill_keeping_data().unwrap();
        node.advance_clock(10_000).unwrap();
        node.restart().unwrap();
        assert_eq!(ttl_ms(&mut node.connect().unwrap(), "lock"), 20_000);
        node.kill().unwrap();
        node.restart().unwrap();
        assert_eq!(get(&node, "lock"), None);
        assert_eq!(node.clock().now_ms(), START_MS + 10_000);
    });
}

/// A replica takes its master's data, even if there are none.
#[test]
fn a_master_that_restarts_empty_wipes_its_replica() {
    on_every_server(|server| {
        let ReplicatedPair { master, replica, gate } = pair(server);
        let _: () = master.connect().unwrap().set("lock", "a").unwrap();
        gate.mark(master.offset().unwrap());
        gate.release_one().unwrap();
        gate.close();
        master.kill().unwrap();
        master.restart().unwrap();
        let gate = Gate::open(master.socket()).unwrap();
        replica.follow(&gate).unwrap();
        assert_eq!(get(&replica, "lock"), None);
    });
}

const THE_VICTIM: &str = "LOCKSTEP_TEST_VICTIM";

/// This test program, which runs one test; `THE_VICTIM` makes that test play the other part.
fn this_program(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(THE_VICTIM, "yes");
    command
}

fn is_the_victim() -> bool {
    std::env::var_os(THE_VICTIM).is_some()
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A replay that is killed in CI must not leave servers behind, though none of our code runs after SIGKILL.
#[test]
fn killing_the_harness_leaves_no_server() {
    if is_the_victim() {
        let node = start(&servers()[0]);
        println!("\npid {}", node.pid());
        loop {
            thread::park();
        }
    }
    let mut command = this_program("servers::killing_the_harness_leaves_no_server");
    // SIGKILL leaves a few files behind, which are deleted with this folder.
    let folder = tempfile::tempdir().unwrap();
    let mut harness = Killed(command.env("TMPDIR", folder.path()).stdout(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(harness.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    let found = lines.find_map(|line| line.strip_prefix("pid ")?.parse::<u32>().ok());
    let pid = found.expect("the harness starts a server");
    assert!(lives(pid));
    drop(harness);
    let begin = Instant::now();
    while lives(pid) {
        assert!(begin.elapsed() < Duration::from_secs(5), "the server outlives its harness");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A process that has ended and was not collected by its new parent yet is dead too.
fn lives(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// For the kernel the death of the thread that forked is the death of the parent.
#[test]
fn a_server_outlives_the_thread_that_asked_for_it() {
    on_every_server(|server| {
        let server = server.clone();
        let node = thread::spawn(move || start(&server)).join().unwrap();
        thread::sleep(Duration::from_millis(50));
        assert!(node.is_running());
    });
}

#[test]
fn a_dropped_node_leaves_no_process_and_no_folder() {
    on_every_server(|server| {
        let node = start(server);
        let (pid, folder) = (node.pid(), node.socket().parent().unwrap().to_owned());
        assert!(folder.exists());
        drop(node);
        assert!(!lives(pid));
        assert!(!folder.exists());
    });
}

#[test]
fn without_a_server_the_error_says_how_to_install_one() {
    if is_the_victim() {
        println!("\nfound: {}", Server::find(None).map_or_else(|error| error.to_string(), |server| server.to_string()));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let find = |name: &str, value: &Path| {
        let mut command = this_program("servers::without_a_server_the_error_says_how_to_install_one");
        command.env_remove("LOCKSTEP_REDIS_SERVER").env(name, value);
        let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
        output.lines().find_map(|line| line.strip_prefix("found: ").map(str::to_owned)).unwrap()
    };
    let nothing = find("PATH", folder.path());
    assert!(nothing.contains("apt-get install redis-server"), "{nothing}");
    let named = find("LOCKSTEP_REDIS_SERVER", &folder.path().join("gone"));
    assert!(named.contains("LOCKSTEP_REDIS_SERVER names"), "{named}");
    let valkey = fake(folder.path(), "valkey-server", "Valkey server v=8.1.0 sha=00000000:0");
    assert_eq!(find("PATH", valkey.parent().unwrap()), "Valkey 8.1.0");
    fake(folder.path(), "redis-server", "Redis server v=7.2.4 sha=00000000:0");
    assert_eq!(find("PATH", folder.path()), "Redis 7.2.4");
    assert_eq!(find("LOCKSTEP_REDIS_SERVER", &valkey), "Valkey 8.1.0");
}

#[test]
fn a_server_that_is_too_old_or_none_at_all_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let old = fake(folder.path(), "old", "Redis server v=5.0.7 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64");
    let error = Server::find(Some(&old)).unwrap_err();
    assert!(matches!(error, Error::WrongVersion { flavour: Flavour::Redis, .. }));
    assert!(error.to_string().ends_with("is Redis 5.0.7; 6.2.0 or newer is needed"), "{error}");
    let other = fake(folder.path(), "other", "PostgreSQL 16");
    assert!(matches!(Server::find(Some(&other)), Err(Error::NotAServer { .. })));
    let named = Server::find(Some(&folder.path().join("gone"))).unwrap_err();
    assert!(named.to_string().contains("--server names"), "{named}");
}

#[test]
fn a_server_that_does_not_start_shows_the_end_of_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let script = "case $1 in --version) echo Redis server v=7.0.0;; *) echo the disk is full; exit 1;; esac";
    let broken = script_file(folder.path(), "broken", script);
    let error = ServerNode::start(&Server::find(Some(&broken)).unwrap(), START_MS).unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
}

/// The times of a server that uses another clock would mean nothing.
#[test]
fn a_server_that_escapes_the_clock_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let real = servers().swap_remove(0);
    let escaped =
        script_file(folder.path(), "escaped", &format!("unset LD_PRELOAD\nexec '{}' \"$@\"", real.path().display()));
    let error = ServerNode::start(&Server::find(Some(&escaped)).unwrap(), START_MS).unwrap_err();
    assert!(matches!(error, Error::ClockNotInForce { set_ms: START_MS, .. }), "{error}");
}

fn fake(folder: &Path, name: &str, version: &str) -> PathBuf {
    script_file(folder, name, &format!("echo '{version}'"))
}

/// A separate process writes the file: a program that is open for writing cannot be run, and every fork of this process
/// would keep our open file for a moment.
fn script_file(folder: &Path, name: &str, script: &str) -> PathBuf {
    let path = folder.join(name);
    let write = r#"printf '#!/bin/sh\n%s\n' "$2" > "$1" && chmod +x "$1""#;
    let status = Command::new("/bin/sh").args(["-c", write, "sh"]).arg(&path).arg(script).status().unwrap();
    assert!(status.success());
    path
}
