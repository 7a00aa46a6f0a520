//! Worlds that no author wrote: in each the version of Redisson that it names does what the model's clients do.

use lockstep_sim::fuzz::FuzzFailure;
use lockstep_sim::replay::redisson::{has_rules_of_its_version, refuse_world};
use lockstep_sim::replay::{ReplayError, suited};
use lockstep_sim::scenario::Scenario;
use lockstep_tests::drawn::{any_text_for_redisson, drawn, from_environment, read};
use lockstep_tests::servers::servers;

use crate::scenarios::{try_random_histories, version_of};
use crate::switches::at_once;

/// How many worlds, and how many random histories of each; `LOCKSTEP_REDISSON_WORLDS` asks for more of them, and
/// `LOCKSTEP_DRAW_SEED` for others.
const WORLDS: usize = 16;
const HISTORIES: u32 = 5;

struct DrawnWorld {
    text: String,
    scenario: Scenario,
    /// The seed of its histories.
    seed: u64,
}

/// A world, if Redisson can follow it.
fn followed(text: &str) -> Option<Scenario> {
    let scenario = read(text).ok()?;
    let config = suited(&scenario.config, &servers()[0]);
    let is_followed = has_rules_of_its_version(&config) && refuse_world(&config, &version_of(&config)).is_ok();
    is_followed.then_some(Scenario { config, ..scenario })
}

#[test]
fn redisson_does_what_the_clients_of_the_model_do_in_worlds_that_nobody_thought_of() {
    let worlds = from_environment("LOCKSTEP_REDISSON_WORLDS", WORLDS);
    let first = from_environment("LOCKSTEP_DRAW_SEED", 0);
    let texts = drawn(any_text_for_redisson(), first).filter_map(|text| Some((followed(&text)?, text)));
    let of = |(seed, (scenario, text))| DrawnWorld { text, scenario, seed };
    let worlds: Vec<_> = (1u64..).zip(texts).take(worlds).map(of).collect();
    let replayed = at_once(&worlds, |DrawnWorld { text, scenario, seed }| {
        let (cases, left, difference) =
            match try_random_histories(scenario, version_of(&scenario.config), HISTORIES, *seed) {
                Ok(found) => (found.cases, found.left, found.counterexample.map(|(_, one)| format!("{one:#?}"))),
                Err(FuzzFailure::AtStart(ReplayError::NotForRedisson { .. })) => (0, 0, None),
                Err(error) => (0, 0, Some(error.to_string())),
            };
        let in_world = |difference| format!("--- with seed {seed}, in this world\n{text}\n{difference}");
        (cases, left, difference.map(in_world))
    });
    let histories: u32 = replayed.iter().map(|(cases, ..)| cases).sum();
    let left: u32 = replayed.iter().map(|(_, left, _)| left).sum();
    let differences: Vec<_> = replayed.iter().filter_map(|(.., difference)| difference.as_deref()).collect();
    println!("{} worlds, {histories} histories, {left} of them not followed to their end", worlds.len());
    assert!(
        differences.is_empty(),
        "{} of {} worlds differ\n{}",
        differences.len(),
        worlds.len(),
        differences.join("\n")
    );
    assert!(left * 2 < histories, "{left} of {histories} were not followed to their end");
}
