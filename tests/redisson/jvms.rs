//! JVMs that end, or are not what they are said to be.

use std::fs;
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use lockstep_sim::replay::redisson::{ClientGate, Jvm};
use lockstep_sim::replay::{ReplayError, ServerNode};
use lockstep_tests::free_nodes::{Disk, FreeNode};
use lockstep_tests::servers::{START_MS, servers};
use rustix::process::{Pid, Signal, kill_process};

use crate::history::RedissonStage;
use crate::plain_driver::PlainDriver;
use crate::redisson;

fn kill(process: u32) {
    send(process, Signal::KILL);
}

fn send(process: u32, kind: Signal) {
    let process = Pid::from_raw(process.try_into().expect("it is small")).expect("it is not 0");
    kill_process(process, kind).expect("it is ours");
}

/// A thread that runs on another core stops a moment later than the signal is sent, and could answer until then.
fn wait_until_stopped(process: u32) {
    let state = |thread: PathBuf| {
        let line = fs::read_to_string(thread.join("stat")).ok()?;
        // The name before it may contain anything but a closing bracket at its end.
        line.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next())
    };
    let threads = || fs::read_dir(format!("/proc/{process}/task")).expect("it is there").flatten();
    let begin = Instant::now();
    while !threads().all(|thread| state(thread.path()).is_none_or(|state| state == 'T')) {
        assert!(begin.elapsed() < Duration::from_secs(30), "it goes on");
        thread::sleep(Duration::from_millis(1));
    }
}

fn reason(error: ReplayError) -> String {
    match error {
        ReplayError::JvmFailed { reason, .. } => reason,
        other => panic!("{other}"),
    }
}

/// Its threads are no more asleep than awake: without a look at the process that would be waited for. One that is told to end would
/// do so in its own way, and wait for times that stand still.
#[test]
fn a_jvm_that_is_killed_or_told_to_end_is_not_waited_for() {
    for (kind, said) in [(Signal::KILL, "signal: 9 (SIGKILL)"), (Signal::TERM, "signal: 15 (SIGTERM)")] {
        let mut jvm = Jvm::start(redisson("4.7.0").driver(), START_MS).expect("it starts");
        // Also one that nothing has reached since.
        jvm.wait_until_quiet(&mut []).expect("it waits for commands");
        send(jvm.process_id(), kind);
        let begin = Instant::now();
        while jvm.is_running() {
            assert!(begin.elapsed() < Duration::from_secs(30), "it goes on after {kind:?}");
            thread::sleep(Duration::from_millis(1));
        }
        let error = jvm.wait_until_quiet(&mut []).expect_err("it has ended");
        assert_eq!(reason(error), format!("it has ended ({said})"));
    }
}

#[test]
fn a_jvm_that_somebody_else_has_stopped_is_named_and_not_waited_for() {
    let mut jvm = Jvm::start(redisson("4.7.0").driver(), START_MS).expect("it starts");
    jvm.wait_until_quiet(&mut []).expect("it waits for commands");
    let process = jvm.process_id();
    send(process, Signal::STOP);
    wait_until_stopped(process);
    let error = jvm.command("ping", &mut []).expect_err("it does not answer");
    let said = format!("its process {process} was stopped by a signal, and nothing here has stopped it");
    assert_eq!(reason(error), said);
}

#[test]
fn a_jvm_that_has_ended_while_it_was_kept_is_not_used_again() {
    let program = redisson("4.7.0");
    let used = program.take_jvm(START_MS).expect("it starts");
    let first = used.jvm.process_id();
    program.keep_jvm(used);
    let used = program.take_jvm(START_MS).expect("it is there");
    assert_eq!(used.jvm.process_id(), first, "it was kept");
    kill(first);
    while used.jvm.is_running() {
        thread::sleep(Duration::from_millis(1));
    }
    program.keep_jvm(used);
    let used = program.take_jvm(START_MS).expect("another one starts");
    assert_ne!(used.jvm.process_id(), first);
    assert!(used.jvm.is_running());
}

/// Where time passes from timer to timer, a command comes between any two moves of it; a jump comes alone. Nothing else has reached the JVM
/// since it was quiet.
#[test]
fn a_jvm_whose_clocks_have_jumped_is_looked_at_before_it_is_taken_for_quiet() {
    let mut jvm = Jvm::start(redisson("4.7.0").driver(), START_MS).expect("it starts");
    let mut stage = RedissonStage::begin(&mut jvm, &servers()[0]);
    stage.call('A', "lock");
    stage.settle();
    assert_eq!(stage.held('A'), [], "it has its lock");
    stage.jump_ms(10_200);
    assert_eq!(stage.held('A').len(), 1, "the renewal is due");
}

/// It tries again by a timer, and before a history begins nobody else moves the time.
#[test]
fn a_client_whose_first_connection_breaks_connects_again() {
    let node = ServerNode::start(&servers()[0], START_MS).expect("it starts");
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("way-to-the-server");
    let listener = UnixListener::bind(&socket).expect("a socket");
    let server = node.socket().to_owned();
    thread::spawn(move || {
        drop(listener.accept());
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(server) = UnixStream::connect(&server) else { return };
            let ends = client.try_clone().and_then(|client| Ok((client, server.try_clone()?)));
            let Ok((back_to_client, back_from_server)) = ends else { return };
            for (mut from, mut to) in [(client, server), (back_from_server, back_to_client)] {
                thread::spawn(move || io::copy(&mut from, &mut to));
            }
        }
    });
    let mut gate = ClientGate::open(socket).expect("a port");
    let mut jvm = Jvm::start(redisson("4.7.0").driver(), START_MS).expect("it starts");
    let words = format!("client A redis://127.0.0.1:{} 3000 1 100 30000 1", gate.port());
    jvm.command_over_time(&words, &mut [&mut gate]).expect("it connects");
    jvm.close("A", &mut [&mut gate]).expect("it closes");
}

/// Else each JVM would load and verify them anew, and nobody would see more than that it takes longer. One that refuses an archive does
/// not map it (seen with that of another version).
#[test]
fn a_jvm_of_each_version_takes_its_classes_from_the_archive() {
    for version in ["4.7.0", "4.3.1", "4.1.0", "3.52.0", "3.43.0", "3.15.6"] {
        let program = redisson(version);
        let jvm = Jvm::start(program.driver(), START_MS).expect("it starts");
        let mapped = fs::read_to_string(format!("/proc/{}/maps", jvm.process_id())).expect("it runs");
        let archive = program.driver().folder.join("classes.jsa").display().to_string();
        assert!(
            mapped.lines().any(|line| line.ends_with(&archive)),
            "the JVM does not use {archive}; tools/redisson/install {version} makes it, or says why not"
        );
    }
}

#[test]
fn a_driver_of_another_version_than_its_folder_says_is_refused() {
    let mut driver = redisson("4.7.0").driver().clone();
    driver.version = "3.43.0".to_owned();
    let error = Jvm::start(&driver, START_MS).expect_err("it is 4.7.0");
    let reason = reason(error);
    assert!(reason.contains("of Redisson 4.7.0, not 3.43.0"), "{reason}");
}

/// By itself it would ask again and again without a wait, until the memory of its process is full. The lines come at once, and
/// no clock stands still: some calls have begun when their client is shut down, and others have not.
#[test]
fn a_call_that_swallows_every_exception_ends_with_its_client_also_where_it_has_only_just_begun() {
    const CLIENTS: usize = 20;

    let node = FreeNode::start(&servers()[0], Disk::None, |_| None);
    let mut driver = PlainDriver::start("4.7.0");
    for client in 0..CLIENTS {
        driver.tell(&format!("client {client} redis://127.0.0.1:{} 3000 1 100 30000 1", node.port()));
        let [takes, takes_too] =
            [1, 2].map(|thread| format!("call {client} {thread} lock-lease-seconds multi:one,other 30 3000 2"));
        let closes = driver.send(&[&takes, &takes_too, &format!("close {client}")]);
        driver.wait_until_obeyed(closes);
    }
    // Each is on its way: what it waits for has ended, and it is not waited for itself.
    let begin = Instant::now();
    let mut callers = callers_in(driver.id());
    while !callers.is_empty() && begin.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(10));
        callers = callers_in(driver.id());
    }
    assert_eq!(callers, Vec::<String>::new());
}

/// The names of a driver's threads that make calls.
fn callers_in(driver: u32) -> Vec<String> {
    let threads = fs::read_dir(format!("/proc/{driver}/task")).expect("it runs");
    let names = threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("comm")).ok());
    names.filter(|name| name.starts_with("application-")).collect()
}
