//! The commands that use real servers: their output when the servers agree and when no server is found, and that they
//! leave nothing behind.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use lockstep_sim::scenario::builtin;
use lockstep_tests::command::{Ran, lockstep, run};
use lockstep_tests::drawn::from_environment;
use lockstep_tests::servers::servers;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::interrupted::{WORK, worked};

/// How long a process may take to appear or to disappear.
const PATIENCE: Duration = Duration::from_secs(20);

fn with_server(arguments: &[&str], server: &Path) -> Ran {
    run(&[arguments, &["--server", server.to_str().expect("a path in UTF-8")]].concat())
}

/// The two grants before and after the failover are real: two holders, each confirmed by its own server.
#[test]
fn a_stranger_sees_real_redis_lose_the_lock() {
    for server in servers().iter().filter(|server| server.ttls() == lockstep_model::config::Ttls::Absolute) {
        let ran = with_server(&["replay", "failover-loses-the-grant"], server.path());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        for said in [
            "n1: reentrant/acquire lock | 30000 A:1 → nil",
            "SIGKILL to n1",
            "n2: REPLICAOF NO ONE → OK",
            "n2: reentrant/acquire lock | 30000 B:1 → nil",
            "A and B both believe they hold; at most 1 may.",
            &format!("on {server}"),
        ] {
            assert!(ran.stdout.contains(said), "{said:?} is not in\n{}", ran.stdout);
        }
    }
}

/// What `show` draws is replayed alone: a scenario can have many histories.
#[test]
fn one_counterexample_can_be_replayed_alone() {
    let server = servers().swap_remove(0);
    let replay =
        |arguments: &[&str]| with_server(&[&["replay", "failover-loses-the-grant"], arguments].concat(), server.path());
    let ran = replay(&["--property", "grant-survives", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let one: Value = serde_json::from_str(&ran.stdout).expect("one object");
    assert_eq!(one["agrees"], true, "{one}");
    let holds = replay(&["--property", "only-holder-releases"]);
    assert_eq!(holds.code, 2, "{}", holds.stderr);
    assert!(holds.stderr.contains("there is no counterexample to replay"), "{}", holds.stderr);
    let foreign = replay(&["--property", "tokens-increase"]);
    assert_eq!(foreign.code, 2, "{}", foreign.stderr);
    assert!(foreign.stderr.contains("does not apply to"), "{}", foreign.stderr);
}

#[test]
fn two_runs_are_the_same_to_the_last_byte() {
    let server = servers().swap_remove(0);
    let replay = ["replay", "two-threads-one-is-woken", "--format", "json"];
    let first = with_server(&replay, server.path());
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert_eq!(with_server(&replay, server.path()).stdout, first.stdout);
    let fuzz = || {
        let scenarios = ["third-client-is-woken", "lost-unlock-message"];
        let arguments = [&["fuzz"], &scenarios[..], &["--cases", "20", "--seed", "7", "--format", "json"]].concat();
        let ran = with_server(&arguments, server.path());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let mut object: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        // Only the pace may differ, and it is stored in one place.
        let paces =
            [object["pace"].take(), object["scenarios"][0]["pace"].take(), object["scenarios"][1]["pace"].take()];
        for pace in paces {
            assert!(pace["histories_per_second"].as_f64().is_some_and(|rate| rate > 0.0), "{pace}");
            assert!(pace["compared_steps_per_second"].as_f64().is_some_and(|rate| rate > 0.0), "{pace}");
        }
        object.to_string()
    };
    assert_eq!(fuzz(), fuzz());
    // Every tenth scenario, by kind of lock and name; `LOCKSTEP_CHECKED_EVERY=1` asks for all.
    let every = from_environment("LOCKSTEP_CHECKED_EVERY", 10);
    let names: Vec<_> = builtin().into_iter().step_by(every).map(|scenario| scenario.name).collect();
    let check = || {
        let names = names.iter().map(String::as_str);
        let arguments: Vec<_> = ["check"].into_iter().chain(names).chain(["--format", "json"]).collect();
        let mut object: Value = serde_json::from_str(&run(&arguments).stdout).expect("JSON");
        for scenario in object["scenarios"].as_array_mut().expect("scenarios") {
            scenario["seconds"] = Value::Null;
            scenario["liveness_seconds"] = Value::Null;
        }
        object
    };
    assert_eq!(check(), check());
}

#[test]
fn a_seed_draws_other_histories_than_another_seed() {
    let server = servers().swap_remove(0);
    let steps = |seed| {
        let ran = with_server(
            &["fuzz", "third-client-is-woken", "--cases", "20", "--seed", seed, "--format", "json"],
            server.path(),
        );
        serde_json::from_str::<Value>(&ran.stdout).expect("JSON")["steps"].as_u64().expect("a number")
    };
    assert_ne!(steps("1"), steps("2"));
}

#[test]
fn a_server_that_cannot_be_used_ends_with_5_and_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::write(&file, text).expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("a program");
        file
    };
    let old = program("old", "#!/bin/sh\necho 'Redis server v=5.0.7 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64'\n");
    let other = program("other", "#!/bin/sh\necho hello\n");
    let mute = program(
        "mute",
        "#!/bin/sh\n[ \"$1\" = --version ] && echo 'Redis server v=7.0.15 sha=0' && exit\necho no luck\nexit 3\n",
    );
    let cases = [
        (folder.path().join("nothing"), "install"),
        (old, "6.2.0 or newer is needed"),
        (other, "is not a Redis or Valkey server"),
        (mute, "no luck"),
    ];
    for (server, says) in cases {
        let ran = with_server(&["replay", "foreign-release"], &server);
        assert_eq!(ran.code, 5, "{}", ran.stderr);
        assert!(ran.stderr.contains(says), "{says:?} is not in\n{}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
}

/// Every version generates and replays histories of its own world: before Redis 7.0 TTLs are replicated as remaining
/// times.
#[test]
fn every_version_can_be_asked_about_replicas() {
    for server in servers() {
        let ran = with_server(&["fuzz", "failover-loses-the-grant", "--cases", "5", "--seed", "1"], server.path());
        assert_eq!(ran.code, 0, "{server}: {}", ran.stderr);
        assert!(ran.stdout.contains("1 passed, 0 failed, 0 skipped"), "{server}: {}", ran.stdout);
        let ran = with_server(&["replay", "wait-in-one-batch"], server.path());
        // Where a TTL counts from its arrival, fewer effects are one: the model gives such a world more room by itself.
        let is_relative = server.ttls() == lockstep_model::config::Ttls::Relative;
        assert_eq!(ran.code, 0, "{server}: {}", ran.stderr);
        assert!(!ran.stderr.contains("the model's room for"), "{server}: {}", ran.stderr);
        assert!(ran.stdout.contains("agree, 0 diverged, 0 skipped"), "{server}: {}", ran.stdout);
        assert_eq!(ran.stderr.contains("the histories are replayed accordingly"), is_relative, "{server}");
    }
}

/// The harness is killed as by the kernel's out-of-memory killer, so none of its own clean-up code runs.
#[test]
fn killing_the_harness_leaves_no_server_behind() {
    let server = servers().swap_remove(0);
    let path = server.path().to_str().expect("a path in UTF-8");
    let mut harness =
        lockstep(&["fuzz", "failover-loses-the-grant", "--cases", "1000000", "--server", path, "--quiet"])
            .spawn()
            .expect("the binary starts");
    let children = eventually("the harness starts servers", || {
        let children = children_of(harness.id());
        (!children.is_empty()).then_some(children)
    });
    harness.kill().expect("our own child");
    harness.wait().expect("our own child");
    eventually("its servers are gone", || children.iter().all(|&child| !is_server(child)).then_some(()));
}

/// Whatever is asked of it fails then, by a pipe that is broken: that would not say why.
#[test]
fn a_server_that_somebody_else_kills_or_stops_is_named() {
    let endings = [
        (Signal::KILL, "has ended (signal: 9 (SIGKILL)), and nothing here has ended it: "),
        (Signal::STOP, "was stopped by a signal, and nothing here has stopped it: "),
    ];
    for (kill, what) in endings {
        let server = servers().swap_remove(0);
        let path = server.path().to_str().expect("a path in UTF-8");
        let arguments = ["fuzz", "two-clients-one-node", "--cases", "1000000", "--server", path, "--quiet"];
        let harness = lockstep(&arguments).stderr(Stdio::piped()).spawn().expect("the binary starts");
        // Work and not time: it plays histories then, and has started its server.
        let id = eventually("the harness plays histories", || {
            let server = children_of(harness.id()).into_iter().find(|&child| is_server(child))?;
            (worked(&harness) >= WORK).then_some(server)
        });
        kill_process(Pid::from_raw(id.cast_signed()).expect("it is not 0"), kill).expect("it is there");
        let ended = harness.wait_with_output().expect("our own child");
        let said = String::from_utf8(ended.stderr).expect("text");
        assert_eq!(ended.status.code(), Some(5), "{said}");
        assert!(said.contains(&format!("n1 (process {id}) {what}")), "{said}");
    }
}

/// One history in a file: a scenario has several, and each failover takes Sentinel several seconds.
fn one_failover(folder: &Path) -> String {
    let shown = run(&["show", "failover-loses-the-grant", "--format", "json"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let file = folder.join("failover.json");
    fs::write(&file, shown.stdout).expect("a file");
    file.to_str().expect("a path in UTF-8").to_owned()
}

/// Users of Sentinel see their own failover lose the lock, with Sentinel's events during it.
#[test]
fn sentinels_failover_is_told_beside_the_history() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = one_failover(folder.path());
    for server in servers().iter().filter(|server| server.ttls() == lockstep_model::config::Ttls::Absolute) {
        let ran = with_server(&["replay", &file, "--sentinel"], server.path());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        for said in [
            "n2: Sentinel has promoted it, ",
            ": SENTINEL GET-MASTER-ADDR-BY-NAME → n2",
            "n2: reentrant/acquire lock | 30000 B:1 → nil",
            "events of Sentinel since the crash of n1",
            "+elected-leader",
            "+switch-master      n1 n2",
            "n2 is master, and every sentinel names it; the model allows any time",
            "A and B both believe they hold; at most 1 may.",
            &format!("on {server} under 3 sentinels"),
        ] {
            assert!(ran.stdout.contains(said), "{said:?} is not in\n{}", ran.stdout);
        }
    }
}

/// Two concurrent harnesses share neither ports nor files.
#[test]
fn two_replays_under_sentinel_at_once_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = one_failover(folder.path());
    let server = servers().swap_remove(0);
    thread::scope(|scope| {
        let replay = || with_server(&["replay", &file, "--sentinel", "--format", "json"], server.path());
        for replay in [scope.spawn(replay), scope.spawn(replay)] {
            let ran = replay.join().expect("it ends");
            assert_eq!(ran.code, 0, "{}", ran.stderr);
            let object: Value = serde_json::from_str(&ran.stdout).expect("JSON");
            assert_eq!(object["agrees"], true);
            let failover = &object["sentinel"]["failovers"][0];
            assert_eq!((&failover["died"], &failover["promoted"]), (&"n1".into(), &"n2".into()));
            assert!(failover["took_ms"].as_u64() >= object["sentinel"]["down_after_ms"].as_u64(), "{failover}");
        }
    });
}

#[test]
fn sentinel_where_it_has_nothing_to_do_is_a_usage_error() {
    for (scenario, says) in
        [("holder-crashes", "say replicas = 1"), ("old-master-serves-its-side", "say crash_node = 1")]
    {
        let ran = run(&["replay", scenario, "--sentinel"]);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains(says), "{says:?} is not in\n{}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
}

/// Sentinel can wait long, but Ctrl-C ends the wait at once; nodes and sentinels exit with the harness.
#[test]
fn ctrl_c_ends_a_wait_for_sentinel_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = one_failover(folder.path());
    let server = servers().swap_remove(0);
    let path = server.path().to_str().expect("a path in UTF-8");
    let mut harness = lockstep(&["replay", &file, "--sentinel", "--server", path, "--quiet"])
        .stdout(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let children = eventually("two nodes and three sentinels run", || {
        let children = children_of(harness.id());
        (children.len() == 5).then_some(children)
    });
    kill_process(Pid::from_child(&harness), Signal::INT).expect("our own child");
    assert_eq!(harness.wait().expect("our own child").code(), Some(130));
    eventually("its servers are gone", || children.iter().all(|&child| !is_server(child)).then_some(()));
}

/// Waits until it is so.
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(since.elapsed() < PATIENCE, "waited {PATIENCE:?}, and not: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// The server processes that are children of this process.
pub fn children_of(parent: u32) -> Vec<u32> {
    let processes =
        fs::read_dir("/proc").expect("Linux").filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    processes.filter(|&process: &u32| parent_of(process) == Some(parent) && is_server(process)).collect()
}

fn parent_of(process: u32) -> Option<u32> {
    // Format: pid (name) state ppid …; the name may contain spaces and parentheses.
    let line = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    line.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Whether this process runs a server.
pub fn is_server(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|name| name.contains("-server"))
}
