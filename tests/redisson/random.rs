//! Worlds that no author wrote: in each the version of Redisson that it names does what the model's clients do.

use lockstep_sim::fuzz::FuzzFailure;
use lockstep_sim::replay::redisson::{Deployment, has_rules_of_its_version, refuse_world};
use lockstep_sim::replay::{ReplayError, suited};
use lockstep_sim::scenario::Scenario;
use lockstep_tests::at_once::at_once;
use lockstep_tests::drawn::{any_text_for_redisson, drawn, from_environment, read};
use lockstep_tests::servers::servers;

use crate::scenarios::{try_random_histories, version_of};

/// How many worlds, and how many random histories of each; `LOCKSTEP_REDISSON_WORLDS` asks for more of them, and
/// `LOCKSTEP_DRAW_SEED` for others.
const WORLDS: usize = 3;
const HISTORIES: u32 = 5;

const DEPLOYMENTS: [Deployment; 3] = [Deployment::AsScenario, Deployment::Cluster, Deployment::Sentinel];

struct DrawnWorld {
    text: String,
    scenario: Scenario,
    deployment: Deployment,
    /// The seed of its histories.
    seed: u64,
}

/// A world, if Redisson can follow it, and a deployment in which it can: each world has its turn in another one first.
fn followed(text: &str, turn: usize) -> Option<(Scenario, Deployment)> {
    let scenario = read(text).ok()?;
    let config = suited(&scenario.config, &servers()[0]);
    let may_be = |deployment: &Deployment| refuse_world(&config, &version_of(&config).deployed_in(*deployment)).is_ok();
    let deployments = DEPLOYMENTS.into_iter().cycle().skip(turn % DEPLOYMENTS.len()).take(DEPLOYMENTS.len());
    let deployment = deployments.filter(|_| has_rules_of_its_version(&config)).find(may_be)?;
    Some((Scenario { config, ..scenario }, deployment))
}

#[test]
fn redisson_does_what_the_clients_of_the_model_do_in_worlds_that_nobody_thought_of() {
    let worlds = from_environment("LOCKSTEP_REDISSON_WORLDS", WORLDS);
    let first = from_environment("LOCKSTEP_DRAW_SEED", 0);
    let texts = drawn(any_text_for_redisson(), first).enumerate();
    let texts = texts.filter_map(|(turn, text)| Some((followed(&text, turn)?, text)));
    let of = |(seed, ((scenario, deployment), text))| DrawnWorld { text, scenario, deployment, seed };
    let worlds: Vec<_> = (1u64..).zip(texts).take(worlds).map(of).collect();
    let replayed = at_once(&worlds, |DrawnWorld { text, scenario, deployment, seed }| {
        let program = version_of(&scenario.config).deployed_in(*deployment);
        let (cases, left, difference) = match try_random_histories(scenario, program, HISTORIES, *seed) {
            Ok(found) => (found.cases, found.left, found.counterexample.map(|(_, one)| format!("{one:#?}"))),
            Err(FuzzFailure::AtStart(ReplayError::NotForRedisson { .. })) => (0, 0, None),
            Err(error) => (0, 0, Some(error.to_string())),
        };
        let in_world =
            |difference| format!("--- with seed {seed}{}, in this world\n{text}\n{difference}", deployment.words());
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
