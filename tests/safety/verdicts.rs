//! The built-in scenarios declare every property that applies, and have the size they had.

use lockstep_model::{Action, Property, Verdict};
use lockstep_sim::check::Engine;
use lockstep_sim::scenario::{Others, builtin};

use crate::{BUILT_IN, exhaust, scenario};

/// Every claim of a built-in scenario is explicit.
#[test]
fn every_built_in_scenario_declares_every_property_that_applies() {
    for scenario in builtin() {
        assert_eq!(scenario.others, Others::Hold, "{}", scenario.name);
        for property in Property::ALL {
            let applies = property.applies(&scenario.config).is_ok();
            assert_eq!(scenario.expect.contains_key(&property), applies, "{property} in {}", scenario.name);
        }
    }
}

/// The known hole: a replica is promoted before the grant has reached it.
#[test]
fn promoting_a_replica_that_missed_the_grant_gives_the_lock_away_twice() {
    let outcome = exhaust(&scenario("failover-loses-the-grant"), Engine::Native);
    let found = outcome.properties.iter().find(|found| found.property == Property::OneBeliever).unwrap();
    let shortest = found.trace.as_ref().unwrap().actions();
    assert_eq!(
        shortest,
        [
            Action::Acquire { client: 0, thread: 0 },
            Action::CrashNode { node: 0 },
            Action::Promote { node: 1 },
            Action::Discover { client: 1 },
            Action::Acquire { client: 1, thread: 0 },
        ]
    );
}

/// For every safety property there is a scenario where it holds and one where it is violated, except for the property
/// that needs two masters and the one that only a broken counter can break.
#[test]
fn the_built_in_scenarios_show_each_property_from_both_sides() {
    let declared =
        |property, verdict| builtin().iter().any(|scenario| scenario.expect.get(&property) == Some(&verdict));
    for property in Property::SAFETY {
        assert!(declared(property, Verdict::Holds), "{property} holds nowhere");
    }
    let violated = [
        Property::OneBeliever,
        Property::GrantSurvives,
        Property::EffectsInOrder,
        Property::CountsAgree,
        Property::NoSleepingWaiter,
        Property::RenewedWhileHeld,
    ];
    for property in violated {
        assert!(declared(property, Verdict::Violated), "{property} is violated nowhere");
    }
}

/// A tripwire: a rule that changes what can happen changes these. Those of full worlds are in reports/state-space.md.
#[test]
fn the_state_spaces_have_the_size_they_had() {
    let found: Vec<String> =
        BUILT_IN.iter().map(|found| format!("{} {} {}", found.scenario, found.states, found.depth)).collect();
    insta::assert_snapshot!(found.join("\n"));
}
