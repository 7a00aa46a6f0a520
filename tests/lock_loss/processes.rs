//! Server processes live only as long as we do, and restart with the data that they should have.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lockstep_sim::replay::Gate;
use lockstep_tests::servers::{START_MS, for_every_version as on_every_server, servers};
use redis::Commands;

use crate::harness::{ReplicatedPair, get, is_the_victim, pair, start, this_program, ttl_ms};

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
    let mut command = this_program("processes::killing_the_harness_leaves_no_server");
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
