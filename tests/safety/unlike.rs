//! Clients that are not alike: who loses what, and that nobody takes one for the other.

use lockstep_model::config::ClientTables;
use lockstep_model::{Action, Config, Property, Verdict};
use lockstep_sim::check::native::Options;
use lockstep_sim::check::{CheckOutcome, Engine};
use lockstep_sim::scenario::{Scenario, builtin};

use crate::{exhaust, exhaust_as, scenario, verdict};

/// Scenarios in which only client A is at fault.
const UNLIKE: [&str; 3] =
    ["explicit-lease-beside-a-watchdog", "old-client-beside-a-new-one", "lock-delay-shorter-than-one-lease"];

fn alike(scenario: &Scenario) -> Scenario {
    Scenario { config: Config { client: ClientTables::NONE, ..scenario.config }, ..scenario.clone() }
}

fn actions(outcome: &CheckOutcome, property: Property) -> Vec<Action> {
    let found = outcome.properties.iter().find(|found| found.property == property).expect("it applies");
    found.trace.as_ref().expect("it is violated").actions()
}

/// What is wrong comes from A's own settings, and a rule that read B's for A would not show it.
#[test]
fn client_a_loses_the_lock_to_client_b_and_with_the_settings_of_b_nobody_would() {
    for name in UNLIKE {
        let unlike = scenario(name);
        let outcome = exhaust(&unlike, Engine::Native);
        let steps = actions(&outcome, Property::OneBeliever);
        let (first, last) = (steps.first().copied(), steps.last().copied());
        assert_eq!(first, Some(Action::Acquire { client: 0, thread: 0 }), "{name}: {steps:?}");
        assert_eq!(last, Some(Action::Acquire { client: 1, thread: 0 }), "{name}: {steps:?}");
        let same = exhaust(&alike(&unlike), Engine::Native);
        assert_eq!(verdict(&same, Property::OneBeliever), Verdict::Holds, "{name}");
    }
}

#[test]
fn a_short_explicit_lease_ends_while_the_watchdog_of_another_client_changes_nothing() {
    let outcome = exhaust(&scenario("explicit-lease-beside-a-watchdog"), Engine::Native);
    let expected = [
        Action::Acquire { client: 0, thread: 0 },
        Action::Tick,
        Action::Expire { node: 0 },
        Action::Acquire { client: 1, thread: 0 },
    ];
    assert_eq!(actions(&outcome, Property::OneBeliever), expected);
}

/// Exchanging the names of unlike clients would change what can happen.
#[test]
fn symmetry_is_off_where_clients_are_unlike() {
    let states = |scenario: &Scenario, symmetry| {
        exhaust_as(scenario, Options { symmetry, normal_forms: false, threads: 1, ..Options::default() }).states
    };
    // Three clients that are alike, and of which each reads and writes, have millions of states.
    let is_small = |config: &Config| !config.shares() || config.clients.count < 3;
    // That of several masters stays on.
    let is_meant = |config: &Config| !config.clients_are_alike() && is_small(config) && !config.asks_masters();
    for scenario in builtin().into_iter().filter(|scenario| is_meant(&scenario.config)) {
        assert_eq!(states(&scenario, true), states(&scenario, false), "{}", scenario.name);
        let alike = alike(&scenario);
        assert!(states(&alike, true) < states(&alike, false), "{}: where they are alike it is on", scenario.name);
    }
}

/// Only a client with a watchdog renews, and only one that waits can wake.
#[test]
fn the_actions_of_a_client_are_those_of_its_own_settings() {
    let config = scenario("explicit-lease-beside-a-watchdog").config;
    let renewing: Vec<_> =
        Action::all(&config).into_iter().filter(|action| matches!(action, Action::Renew { .. })).collect();
    assert_eq!(renewing, [Action::Renew { client: 1 }]);
}
