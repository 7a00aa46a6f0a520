//! `lockstep museum`: what a user sees without Redisson; with it, see tests/redisson/museum.rs.

use crate::command::{lockstep, run, words};
use crate::redisson::driver_that;

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
    assert!(
        refused.stderr.contains("`D5`")
            && refused
                .stderr
                .contains("D4, E9, F6, F7, F8, FR, H10, H12, H12b, I1, I2, I3, I4, I5, I6, K2, K3, L1, L2, L3, L4, N1"),
        "{}",
        refused.stderr
    );
}

#[test]
fn without_the_driver_of_redisson_a_line_says_how_to_build_it() {
    let nowhere = tempfile::tempdir().expect("a folder");
    let asked = lockstep(&["museum", "D4"]).env("LOCKSTEP_REDISSON", nowhere.path()).output().expect("it starts");
    let told = words(&String::from_utf8_lossy(&asked.stderr));
    assert_eq!(asked.status.code(), Some(5), "{told}");
    assert!(told.contains("tools/redisson/install"), "{told}");
}

/// A driver that another state of the project built may read other commands, or leave out words that it does not know.
#[test]
fn a_driver_of_another_version_of_lockstep_is_refused() {
    for said in ["ready redisson 4.7.0 java 17", "ready 1 redisson 4.7.0 java 17", "ready 1000 redisson 4.7.0 java 17"]
    {
        let driver = driver_that(&format!("echo '{said}'\nexec cat > /dev/null"));
        let asked = lockstep(&["museum", "D4"]).env("LOCKSTEP_REDISSON", driver.path()).output().expect("it starts");
        let told = words(&String::from_utf8_lossy(&asked.stderr));
        assert_eq!(asked.status.code(), Some(5), "{told}");
        assert!(told.contains("is of another version of lockstep"), "{told}");
        assert!(told.contains("tools/redisson/install 4.7.0"), "{told}");
    }
}
