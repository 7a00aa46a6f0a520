//! What a file claims, and what its run is held to.

use std::fs;

use lockstep_tests::command::{Ran, run};
use tempfile::TempDir;

/// A replica that may lack the grant: `one-believer` and `counts-agree` are violated, `only-holder-releases` holds.
const WORLD: &str = "story = \"s\"\nlock = \"reentrant\"\n[time]\nlease = 3\nwait_limit = 0\nhold_at_most = 2\n\
                     [clients]\ncount = 2\nacquires = 1\n[cluster]\nreplicas = 1\n[faults]\ncrash_node = 1\n";

fn checked(claims: &str, options: &[&str]) -> Ran {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("my_lock.toml");
    fs::write(&file, format!("{WORLD}{claims}")).expect("a file");
    let file = file.to_str().expect("a path of letters").to_owned();
    run(&[&["check", &file], options].concat())
}

#[test]
fn a_property_without_a_claim_is_reported_and_fails_no_run_with_claims() {
    let claimed = "[expect]\none-believer = \"violated\"\n";
    let ran = checked(claimed, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let row = ran.stdout.lines().find(|line| line.starts_with("my_lock ") && line.contains(" counts-agree "));
    assert!(row.is_some_and(|row| row.contains("not claimed")), "{}", ran.stdout);
    assert!(ran.stdout.lines().count() < 30, "a screen is enough:\n{}", ran.stdout);
    assert!(ran.stdout.ends_with("1 passed, 0 failed, 0 skipped\n"), "{}", ran.stdout);

    let all = checked("[expect]\nothers = \"holds\"\none-believer = \"violated\"\n", &[]);
    assert_eq!(all.code, 1, "{}", all.stdout);
    assert_eq!(checked("", &[]).code, 1, "without a claim, everything is expected to hold");
    assert_eq!(checked("[expect]\none-believer = \"holds\"\n", &[]).code, 1);
}

/// A limit that keeps only what nobody claimed from being known changes nothing.
#[test]
fn an_unknown_verdict_matters_only_where_one_is_claimed() {
    let few = ["--max-states", "100"];
    assert_eq!(checked("[expect]\nonly-holder-releases = \"holds\"\n", &few).code, 3);
    let violated = checked("[expect]\none-believer = \"violated\"\n", &["--max-states", "1000"]);
    assert_eq!(violated.code, 0, "{}", violated.stdout);
}

#[test]
fn one_property_can_be_looked_at_alone() {
    let ran = checked("[expect]\none-believer = \"violated\"\n", &["--property", "counts-agree"]);
    assert_eq!(ran.code, 1, "what is asked for is held to hold: {}", ran.stdout);
    assert!(!ran.stdout.contains("one-believer"), "{}", ran.stdout);
    let ran = checked("[expect]\ncounts-agree = \"violated\"\n", &["--property", "counts-agree"]);
    assert_eq!(ran.code, 0, "or to its claim: {}", ran.stdout);
    let ran = checked("", &["--property", "only-holder-releases"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let ran = checked("", &["--property", "effects-in-order"]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(ran.stderr.contains("the scenario has no [resource]"), "{}", ran.stderr);
}
