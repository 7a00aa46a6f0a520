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

/// Who claims one thing looks for it first.
#[test]
fn claimed_properties_come_first() {
    let ran = checked("[expect]\nonly-holder-releases = \"holds\"\ncounts-agree = \"violated\"\n", &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let line = |start: &str| {
        let found = ran.stdout.lines().position(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("no {start:?} in\n{}", ran.stdout))
    };
    let claims = line("claimed  ");
    let told: Vec<_> = ran.stdout.lines().skip(claims).take(2).map(|line| &line[9..]).collect();
    assert_eq!(told, ["only-holder-releases: holds, as declared", "counts-agree: violated, as declared"]);
    assert!(claims < line("violated  "), "{}", ran.stdout);
    let rows: Vec<_> = ran.stdout.lines().filter(|line| line.starts_with("my_lock  ")).collect();
    assert!(rows[1].contains(" counts-agree "), "before one-believer, which nobody claims: {rows:?}");
    assert!(!ran.stdout.lines().nth(line("hold  ")).is_some_and(|line| line.contains("only-holder-releases")));

    // What is wrong is in the same place.
    let wrong = checked("[expect]\none-believer = \"holds\"\n", &[]);
    assert!(wrong.stdout.contains("\nclaimed  one-believer: violated, but declared holds\n"), "{}", wrong.stdout);
    // Where every property is expected to hold, each is claimed.
    assert!(!checked("", &[]).stdout.contains("\nclaimed "), "there is no claim");
    let all = checked("[expect]\nothers = \"holds\"\none-believer = \"violated\"\n", &[]);
    assert!(!all.stdout.contains("\nclaimed "), "{}", all.stdout);
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

/// One client, and replicas that count every effect: up to four are under way.
const COUNTED: &str = "story = \"s\"\nlock = \"reentrant\"\n[time]\nlease = 3\nwait_limit = 0\nhold_at_most = 2\n\
                       [clients]\ncount = 1\nacquires = 2\n[cluster]\nreplicas = 2\nwait_for = 1\n\
                       promote = \"most-data\"\nfailover_within = 0\n[faults]\ncrash_node = 1\n";

fn checked_whole(text: &str, options: &[&str]) -> Ran {
    run_on(text, "check", options)
}

fn run_on(text: &str, command: &str, options: &[&str]) -> Ran {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("my_lock.toml");
    fs::write(&file, text).expect("a file");
    let file = file.to_str().expect("a path of letters").to_owned();
    run(&[&[command, &file], options].concat())
}

/// What it prints, without the breaks of its lines.
fn words(ran: &Ran) -> String {
    ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Who refuses everybody gives the lock to nobody twice: that is not known where it was not looked at.
#[test]
fn one_believer_alone_is_said_to_leave_obtainable_open() {
    let note = "note obtainable was not looked at: one-believer would also hold if nobody got the lock any more";
    let alone = ["--property", "one-believer"];
    let held = checked_whole(COUNTED, &alone);
    assert_eq!(held.code, 0, "{}{}", held.stdout, held.stderr);
    assert!(words(&held).contains(note), "{}", held.stdout);
    // Where nothing goes wrong, where it is violated, for another property, and where obtainable was looked at: no note.
    let calm = checked_whole(&WORLD.replace("crash_node = 1", "crash_node = 0"), &alone);
    assert_eq!(calm.code, 0, "{}{}", calm.stdout, calm.stderr);
    for ran in [
        calm,
        checked("", &alone),
        checked_whole(COUNTED, &["--property", "only-holder-releases"]),
        checked_whole(COUNTED, &[]),
    ] {
        assert!(!words(&ran).contains("note obtainable was not"), "{}", ran.stdout);
    }
}

/// Who sets a bound may claim what is so within it, and nothing else is meant by it.
#[test]
fn a_file_that_sets_a_bound_may_claim_what_holds_within_it() {
    let bounded = |effects: u8, claim: &str| {
        format!("{COUNTED}[bounds]\neffects_under_way = {effects}\n[expect]\none-believer = \"{claim}\"\n")
    };
    let ran = checked_whole(&bounded(2, "holds-within-bounds"), &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let said =
        "my_lock: holds within the bounds of the file (the model's room for effects under way to one replica is 2";
    for part in [said, "set effects_under_way = 3 in [bounds] (at most 12)", "): one-believer", "1 hold within bounds"]
    {
        assert!(words(&ran).contains(part), "{part:?} is not in\n{}", ran.stdout);
    }

    let plain = checked_whole(&bounded(2, "holds"), &[]);
    assert_eq!(plain.code, 3, "{}", plain.stdout);
    assert!(words(&plain).contains("set effects_under_way = 3 in [bounds]"), "{}", plain.stdout);
    let stopped = checked_whole(&bounded(2, "holds-within-bounds"), &["--max-states", "10"]);
    assert_eq!(stopped.code, 3, "a limit is no bound: {}", stopped.stdout);

    let outright = checked_whole(&bounded(4, "holds-within-bounds"), &[]);
    assert_eq!(outright.code, 0, "{}", outright.stdout);
    let said = "my_lock: holds outright (no bound was touched, so \"holds\" can be claimed): one-believer";
    assert!(words(&outright).contains(said), "{}", outright.stdout);

    let broken = bounded(2, "holds-within-bounds").replace("one-believer", "grant-survives");
    let broken = checked_whole(&broken, &[]);
    assert_eq!(broken.code, 1, "{}", broken.stdout);
    assert!(words(&broken).contains("violated, but declared holds-within-bounds"), "{}", broken.stdout);
}

/// A bound that the file does not set is not one that it accepts.
#[test]
fn a_bound_that_the_file_does_not_set_is_not_accepted_by_it() {
    let late = "story = \"s\"\nlock = \"reentrant\"\n[time]\nlease = 1\nwait_limit = 0\nhold_at_most = 1\n[clients]\n\
                count = 1\nacquires = 5\n[network]\nmode = \"split\"\ndelay = 5\n[protocol]\nresend = \"none\"\n";
    let claimed = |bound: &str| {
        let text = format!("{late}[bounds]\n{bound}\n[expect]\nobtainable = \"holds-within-bounds\"\n");
        checked_whole(&text, &["--format", "json"])
    };
    let other = claimed("receipts = 8");
    assert_eq!(other.code, 3, "{}{}", other.stdout, other.stderr);
    let touched = claimed("late_requests = 4");
    assert_eq!(touched.code, 0, "{}{}", touched.stdout, touched.stderr);
}

#[test]
fn nobody_who_may_never_ask_is_said_to_obtain_anything() {
    let idle = "story = \"s\"\nlock = \"reentrant\"\n[time]\nlease = 2\n[clients]\ncount = 2\nacquires = 0\n";
    let ran = checked_whole(idle, &[]);
    assert!(!ran.stdout.contains("obtainable"), "{}", ran.stdout);
    let claimed = checked_whole(&format!("{idle}[expect]\nobtainable = \"holds\"\n"), &[]);
    assert_eq!(claimed.code, 2, "{}{}", claimed.stdout, claimed.stderr);
    assert!(claimed.stderr.contains("acquires is 0"), "{}", claimed.stderr);
}

#[test]
fn what_holds_within_bounds_is_refused_in_a_file_that_sets_none() {
    for bounds in ["", "[bounds]\n"] {
        let ran = checked_whole(&format!("{COUNTED}{bounds}[expect]\none-believer = \"holds-within-bounds\"\n"), &[]);
        assert_eq!(ran.code, 2, "{}", ran.stdout);
        for part in ["S012", "only in a file that sets a bound in [bounds]", "claim \"holds\", or set the bounds"] {
            assert!(ran.stderr.contains(part), "{part:?} is not in\n{}", ran.stderr);
        }
    }
}

#[test]
fn programs_learn_which_bound_was_touched_and_which_key_raises_it() {
    let text = format!("{COUNTED}[bounds]\neffects_under_way = 2\n[expect]\none-believer = \"holds-within-bounds\"\n");
    let ran = checked_whole(&text, &["--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let object: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let scenario = &object["scenarios"][0];
    assert_eq!(scenario["complete"], false);
    let exceeded = &scenario["coverage"]["capacities_exceeded"];
    assert_eq!(exceeded.as_array().map(Vec::len), Some(1), "{exceeded}");
    let exceeded = &exceeded[0];
    assert!(exceeded["action"].is_string(), "{exceeded}");
    let expected = serde_json::json!({
        "capacity": "effects", "room": 2, "action": exceeded["action"], "key": "bounds.effects_under_way", "try": 3, "most": 12
    });
    assert_eq!(*exceeded, expected);
    let property = scenario["properties"].as_array().and_then(|all| all.iter().find(|one| one["id"] == "one-believer"));
    let property = property.expect("it applies");
    let said = (&property["declared"], &property["verdict"], &property["as_declared"]);
    assert_eq!(said, (&"holds-within-bounds".into(), &"holds-within-bounds".into(), &true.into()));
    assert!(
        property["why"].as_str().is_some_and(|why| why.contains("set effects_under_way = 3 in [bounds]")),
        "{property}"
    );
}

/// Who reads what a scenario is about reads within which bounds.
#[test]
fn an_explanation_of_a_scenario_names_its_bounds() {
    let explained = run_on(&format!("{COUNTED}[bounds]\neffects_under_way = 2\n"), "explain", &[]);
    assert!(
        explained.stdout.contains("nothing is explored beyond 2 effects under way to one replica"),
        "{}",
        explained.stdout
    );
    let usual = run_on(COUNTED, "explain", &[]);
    assert_eq!(usual.code, 0, "{}", usual.stderr);
    assert!(!usual.stdout.contains("nothing is explored beyond"), "{}", usual.stdout);
}
