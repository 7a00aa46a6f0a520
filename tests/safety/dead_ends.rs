//! Time can go on from every state in which a client waits for an answer. From a state in which it could not, nothing that is due
//! later would ever happen, and liveness properties would be judged wrongly.

use std::collections::{HashSet, VecDeque};

use lockstep_model::trace::{ClientMode, State};
use lockstep_model::{Action, Config};
use lockstep_sim::any_world::AnyWorld;
use lockstep_sim::scenario::builtin;
use lockstep_tests::drawn::{ShownIfItFails, from_environment, read, texts};

use crate::by_hand::scenario_of;

/// Random scenarios, including those that are refused; `LOCKSTEP_DRAW_SCENARIOS` asks for others.
const SCENARIOS: u32 = 150;
/// So many states of a world are looked at, from the first.
const MOST_STATES: usize = 5_000;

/// The states that were looked at, or the first in which nothing can happen although a client waits for an answer.
fn dead_ends(config: &Config) -> Result<usize, Box<State>> {
    let all = Action::all(config);
    let first = AnyWorld::initial(config);
    let (mut met, mut waiting) = (HashSet::from([first.clone()]), VecDeque::from([first]));
    let mut looked_at = 0;
    while let Some(world) = waiting.pop_front() {
        looked_at += 1;
        let mut goes_on = false;
        for &action in &all {
            match world.attempt(config, action) {
                Ok(step) => {
                    goes_on = true;
                    let next = step.world.without_breaches();
                    if met.len() < MOST_STATES && met.insert(next.clone()) {
                        waiting.push_back(next);
                    }
                }
                // The model has no room for it, and says so.
                Err(touched) => goes_on |= touched.any(),
            }
        }
        if goes_on {
            continue;
        }
        let state = world.state(config);
        let mut running = state.clients.iter().filter(|client| client.mode == ClientMode::Running);
        if running.any(|client| client.requests.iter().any(|one| one.answer_left.is_some())) {
            return Err(Box::new(state));
        }
    }
    Ok(looked_at)
}

fn looked_at(config: &Config, name: &str) -> usize {
    dead_ends(config).unwrap_or_else(|state| panic!("{name}: nothing can happen any more in {state:#?}"))
}

#[test]
fn a_client_that_waits_for_an_answer_is_never_left_where_nothing_can_happen() {
    let states: usize = builtin().iter().map(|scenario| looked_at(&scenario.config, &scenario.name)).sum();
    assert!(states > 100_000, "{states} states");
}

#[test]
fn nor_is_it_in_worlds_that_nobody_thought_of() {
    let seed = from_environment("LOCKSTEP_DRAW_SEED", 0);
    let mut states = 0;
    for text in texts(seed, from_environment("LOCKSTEP_DRAW_SCENARIOS", SCENARIOS)) {
        let _shown = ShownIfItFails(&text);
        states += read(&text).map_or(0, |scenario| looked_at(&scenario.config, &scenario.name));
    }
    assert!(states > 100_000, "{states} states");
}

/// Attempts that are used up by refusals, by each thing that refuses, and the last one lost in each way.
#[test]
fn nor_is_it_where_attempts_are_refused_and_the_last_one_is_lost() {
    for (cluster, refusing) in
        [("min_replicas = 1\n", "break_link = 1"), ("", "refuse_writes = 1"), ("", "hand_over = 1")]
    {
        for losing in ["lose_request = 1", "lose_reply = 1", "pause_client = 1", "crash_node = 1"] {
            for attempts in 1..=2 {
                let text = format!(
                    "story = 'Refused and lost.'\nlock = 'reentrant'\n[time]\nlease = 3\nhold_at_most = 2\nwait_limit = 0\n\
                     answer_within = 1\n[clients]\ncount = 1\nacquires = 1\n[cluster]\nreplicas = 1\nlag = 0\n{cluster}[network]\n\
                     mode = 'split'\ndelay = 0\n[protocol]\nresend = 'all'\nrefused_call = 'retry'\nretry_attempts = {attempts}\n\
                     [faults]\n{refusing}\n{losing}"
                );
                looked_at(&scenario_of(&text).config, &format!("{refusing}, {losing}"));
            }
        }
    }
}
