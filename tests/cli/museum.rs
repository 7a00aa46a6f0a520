//! `lockstep museum`: what a user sees without Redisson; with it, see tests/redisson/museum.rs.

use crate::command::{lockstep, run, words};

#[test]
fn the_museum_is_listed_without_running_anything() {
    let listed = run(&["museum", "--list"]);
    assert_eq!(listed.code, 0);
    for id in ["D4", "I1", "I2", "I3", "N1"] {
        assert!(listed.stdout.lines().any(|line| line.starts_with(id)), "{id}");
    }
}

#[test]
fn an_exhibit_that_does_not_exist_is_answered_with_those_that_do() {
    let refused = run(&["museum", "D5"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("`D5`") && refused.stderr.contains("D4, I1, I2, I3, I5, N1"), "{}", refused.stderr);
}

#[test]
fn without_the_driver_of_redisson_a_line_says_how_to_build_it() {
    let nowhere = tempfile::tempdir().expect("a folder");
    let asked = lockstep(&["museum", "D4"]).env("LOCKSTEP_REDISSON", nowhere.path()).output().expect("it starts");
    let told = words(&String::from_utf8_lossy(&asked.stderr));
    assert_eq!(asked.status.code(), Some(5), "{told}");
    assert!(told.contains("tools/redisson/install"), "{told}");
}
