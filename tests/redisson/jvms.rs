//! JVMs that end, or are not what they are said to be.

use std::thread;
use std::time::Duration;

use lockstep_sim::replay::ReplayError;
use lockstep_sim::replay::redisson::Jvm;
use lockstep_tests::servers::START_MS;
use rustix::process::{Pid, Signal, kill_process};

use crate::redisson;

fn kill(process: u32) {
    let process = Pid::from_raw(process.try_into().expect("it is small")).expect("it is not 0");
    kill_process(process, Signal::KILL).expect("it is ours");
}

fn reason(error: ReplayError) -> String {
    match error {
        ReplayError::JvmFailed { reason, .. } => reason,
        other => panic!("{other}"),
    }
}

/// Its threads are no more asleep than awake: without a look at the process that would be waited for.
#[test]
fn a_jvm_that_is_killed_is_not_waited_for() {
    let mut jvm = Jvm::start(redisson("4.7.0").driver(), START_MS).expect("it starts");
    kill(jvm.process_id());
    let error = jvm.wait_until_quiet(&mut []).expect_err("it has ended");
    assert_eq!(reason(error), "it has ended");
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

#[test]
fn a_driver_of_another_version_than_its_folder_says_is_refused() {
    let mut driver = redisson("4.7.0").driver().clone();
    driver.version = "3.43.0".to_owned();
    let error = Jvm::start(&driver, START_MS).expect_err("it is 4.7.0");
    let reason = reason(error);
    assert!(reason.contains("of Redisson 4.7.0, not 3.43.0"), "{reason}");
}
