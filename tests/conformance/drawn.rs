//! Model and real servers agree in random worlds: the scenarios are drawn at random, and then their histories.

use std::collections::BTreeSet;

use lockstep_sim::fuzz::FuzzOptions;
use lockstep_sim::replay::ServerProgram;
use lockstep_sim::scenario::{Code, KEYS, Scenario};
use lockstep_tests::drawn::{ShownIfItFails, from_environment, read, texts};
use lockstep_tests::servers::for_every_version_at_once as for_every_version;

use crate::histories::{assert_fuzz_agrees, can_replay, on};

/// Scenarios, including those that are refused.
const SCENARIOS: u32 = 40;
/// Random histories of each.
const HISTORIES: u32 = 3;

/// The same scenarios in every run. To draw others, or more:
///
/// - `LOCKSTEP_DRAW_SEED`: the seed, any number; 0 by default,
/// - `LOCKSTEP_DRAW_SCENARIOS`: how many scenarios are drawn, including those that are refused,
/// - `LOCKSTEP_DRAW_HISTORIES`: how many histories are drawn of each.
#[test]
fn random_scenarios_agree_on_every_server() {
    let histories = from_environment("LOCKSTEP_DRAW_HISTORIES", HISTORIES);
    let seed: u64 = from_environment("LOCKSTEP_DRAW_SEED", 0);
    let texts = texts(seed, from_environment("LOCKSTEP_DRAW_SCENARIOS", SCENARIOS));
    let accepted = texts.iter().filter_map(|text| scenario_of(text)).count();
    println!("{accepted} of {} scenarios are accepted", texts.len());
    assert!(accepted >= texts.len() / 2, "most texts are refused");
    for_every_version(|version| {
        for (index, text) in (0..).zip(&texts) {
            let text = suited_text(version, text);
            let Some(scenario) = scenario_of(&text).filter(|scenario| can_replay(version, scenario)) else { continue };
            let _shown = ShownIfItFails(&text);
            // The name of a kept history contains the seed.
            let scenario = Scenario { name: format!("drawn-{seed}"), ..on(version, scenario) };
            assert_fuzz_agrees(version, &scenario, FuzzOptions { cases: histories, seed: index });
        }
    });
}

/// A key or value that is never drawn is never tested.
#[test]
fn every_key_and_every_word_of_the_table_is_drawn_in_a_scenario_that_is_accepted_or_not_modelled_yet() {
    let mut said = BTreeSet::new();
    for text in texts(0, 12_000) {
        if read(&text).err().is_none_or(|refused| refused.is_not_modelled()) {
            said.extend(text.lines().map(str::to_owned));
        }
    }
    let mut missing = Vec::new();
    for key in KEYS {
        let values: BTreeSet<_> =
            said.iter().filter_map(|line| line.strip_prefix(key.name)?.strip_prefix(" = ")).collect();
        if values.is_empty() {
            missing.push(key.name.to_owned());
        }
        let words = key.takes.split('"').skip(1).step_by(2).map(|word| format!("\"{word}\""));
        // A list contains its words.
        missing.extend(
            words
                .filter(|word| !values.iter().any(|value| value.contains(&**word)))
                .map(|word| format!("{} = {word}", key.name)),
        );
    }
    assert_eq!(missing, Vec::<String>::new());
}

/// The others are refused only for combinations that are impossible or not modelled.
#[test]
fn most_random_scenarios_are_accepted_and_the_others_are_refused_with_a_code() {
    let texts = texts(0, 2_000);
    let accepted = texts.iter().filter_map(|text| scenario_of(text)).count();
    assert!(accepted * 10 > texts.len() * 6, "{accepted} of {} are accepted", texts.len());
}

/// The scenario; `None` if it is refused with an expected code.
fn scenario_of(text: &str) -> Option<Scenario> {
    let _shown = ShownIfItFails(text);
    let refused = match read(text) {
        Ok(scenario) => return Some(scenario),
        Err(refused) => refused,
    };
    assert_ne!(refused.problems().count(), 0, "it is refused without a reason");
    for problem in refused.problems() {
        assert!(matches!(problem.code(), Code::Impossible | Code::NotModelled), "{refused}");
    }
    None
}

/// The text without what the version lacks; where the scripts of a replica see expired keys, without what makes a master a
/// replica while a client may still ask it; and without a hand-over by FAILOVER to one of two replicas where a resync must be
/// a full copy (`ReplayError::HandOverNeedsOneId`).
fn suited_text(version: &ServerProgram, text: &str) -> String {
    let counting = ["min_replicas = ", "min_replicas_max_lag = ", "min_replicas_slack = "];
    let demoting = [
        "cut_link = ",
        "hand_over",
        "refuse_writes = ",
        "promote = \"coordinated\"",
        "restart_node = ",
        "fsync",
        "aof_rewrite_within = ",
        "no_appendfsync_on_rewrite = ",
        "restart_after = ",
    ];
    let begins = |line: &str, keys: &[&str]| keys.iter().any(|key| line.starts_with(key));
    let says = |keys: &[&str]| text.lines().any(|line| begins(line, keys));
    let hands_over_to_one_of_two = says(&["replicas = 2"])
        && says(&["promote = \"coordinated\"", "promote = \"forced\""])
        && says(&["break_link = ", "subscribe_to = \"replica\"", "ttls = \"relative\""]);
    text.split_inclusive('\n')
        .filter(|line| version.counts_replicas_in_scripts() || !begins(line, &counting))
        .filter(|line| version.waits_for_replicas_when_it_ends() || !begins(line, &["shutdown_timeout = "]))
        .filter(|line| version.waits_for_all_writes() || !begins(line, &["wait_after = "]))
        .filter(|line| !version.shows_scripts_what_has_expired() || !begins(line, &demoting))
        .filter(|line| !hands_over_to_one_of_two || !begins(line, &["hand_over", "promote = "]))
        .collect()
}
