//! The scenarios, compared with what fairness means.

use std::collections::{HashMap, HashSet};

use lockstep_model::properties::PropertyKind;
use lockstep_model::trace::{About, InLoop};
use lockstep_model::{Action, Config, LockKind, Property, Verdict};
use lockstep_sim::any_world::AnyWorld;
use lockstep_sim::check::Engine;
use lockstep_sim::check::liveness::{Found, Liveness, LivenessQuestion, Whom};
use lockstep_sim::scenario::{Scenario, builtin};

use crate::{SMALL, exhaust, lasso, limited, pass, pass_as, scenario};

/// Where all clients are alike, and there from the beginning, checking one is enough; this test verifies that assumption.
#[test]
fn what_is_true_of_one_client_is_true_of_each() {
    let is_meant = |config: &Config| config.clients_are_alike() && config.late_clients() == 0;
    for scenario in SMALL.iter().filter(|scenario| is_meant(&scenario.config)) {
        let sorts = |whom| {
            let found = pass(scenario, whom, None).expect("no limit").found;
            found.into_iter().map(|found| match found {
                Found::Holds => Verdict::Holds,
                Found::Vacuous => Verdict::Vacuous,
                Found::OutOfReach(_) => Verdict::Violated,
                Found::Stopped(why) => panic!("{why:?}"),
                Found::Violated(run) => {
                    assert!(run.loop_start > 0, "in the first state nothing is owed");
                    Verdict::Violated
                }
            })
        };
        let (one, all): (Vec<_>, Vec<_>) = (sorts(Whom::OneClient).collect(), sorts(Whom::Everybody).collect());
        assert_eq!(one, all, "{}", scenario.name);
    }
}

/// The complete graph covers the same states as the second opinion on safety, which knows no normal forms.
#[test]
fn the_graph_has_the_states_that_the_search_finds() {
    for scenario in SMALL.iter() {
        let outcome = exhaust(scenario, Engine::Stateright);
        let asked = LivenessQuestion { properties: &Property::LIVENESS, whom: Whom::OneClient, normal_forms: false };
        let graph = pass_as(scenario, asked, None).expect("no limit");
        assert_eq!((graph.states, graph.generated), (outcome.states, outcome.generated), "{}", scenario.name);
    }
}

/// A run of full worlds is fair exactly if the run of their normal forms is.
#[test]
fn normal_forms_change_no_verdict_of_a_small_scenario() {
    let mut saved = 0;
    for scenario in SMALL.iter() {
        let found = |normal_forms| {
            let asked = LivenessQuestion { properties: &Property::LIVENESS, whom: Whom::OneClient, normal_forms };
            pass_as(scenario, asked, None).expect("no limit")
        };
        let (normal, full) = (found(true), found(false));
        let verdicts = |passed: &Liveness| passed.found.iter().map(std::mem::discriminant).collect::<Vec<_>>();
        assert_eq!(verdicts(&normal), verdicts(&full), "{}", scenario.name);
        saved += full.states - normal.states;
    }
    assert!(saved > 0, "some world has a normal form that is another");
}

/// A property that does not apply to a scenario would be vacuous in it.
#[test]
fn where_a_property_does_not_apply_nothing_is_owed() {
    for scenario in SMALL.iter() {
        let found = pass(scenario, Whom::Everybody, None).expect("no limit").found;
        for (property, found) in Property::LIVENESS.into_iter().zip(found) {
            if property.applies(&scenario.config).is_err() {
                assert_eq!(found, Found::Vacuous, "{property} in {}", scenario.name);
            }
        }
    }
}

/// What no fault that is modelled breaks where there is a queue: no key stays without a TTL, and each deadline comes.
const NEVER_BROKEN_BESIDE_A_QUEUE: [Property; 2] = [Property::FreedAfterCrash, Property::NoDeadHead];

/// What has a deadline by the clocks of clients is free after it, also where the key has lost its TTL.
const NEVER_BROKEN_BY_CLOCKS: [Property; 1] = [Property::FreedAfterCrash];

/// A key that is set with its TTL by one command ends, unless a holder extends it that believes.
const NEVER_BROKEN_OF_MASTERS: [Property; 2] = [Property::FreedAfterCrash, Property::NoOrphan];

/// For every lock kind, each property that says something of it holds in some scenario and is violated in another.
#[test]
fn each_property_is_seen_from_both_sides() {
    for &kind in LockKind::ALL {
        let declared = |property, verdict| {
            let of_kind = builtin().into_iter().filter(|scenario| scenario.config.lock == kind);
            of_kind.filter(|scenario| scenario.expect.get(&property) == Some(&verdict)).count()
        };
        let mut all = builtin().into_iter().filter(|scenario| scenario.config.lock == kind);
        let speaks = |property: &Property| all.any(|scenario| property.applies(&scenario.config).is_ok());
        let has_queue = kind.facts().queue.is_there();
        for property in Property::LIVENESS.into_iter().filter(speaks) {
            assert!(declared(property, Verdict::Holds) > 0, "{property} holds nowhere for {}", kind.name());
            if has_queue && NEVER_BROKEN_BESIDE_A_QUEUE.contains(&property) {
                continue;
            }
            if kind.facts().caller_clock.ends_holds() && NEVER_BROKEN_BY_CLOCKS.contains(&property) {
                continue;
            }
            if kind.facts().masters.are_several() && NEVER_BROKEN_OF_MASTERS.contains(&property) {
                continue;
            }
            assert!(declared(property, Verdict::Violated) > 0, "{property} is violated nowhere for {}", kind.name());
        }
    }
}

/// Of those that are small; `make check` does this for all.
#[test]
fn every_verdict_on_a_built_in_scenario_is_as_declared() {
    for scenario in SMALL.iter() {
        for found in exhaust(scenario, Engine::Native).properties {
            let (property, verdict, declared) = (found.property, found.verdict, found.declared);
            assert!(found.is_as_declared(), "{property} in {}: {verdict:?}, declared {declared:?}", scenario.name);
        }
    }
}

#[test]
fn newcomers_starve_a_waiter() {
    let trace = lasso("newcomers-starve-a-waiter", Property::WaiterServed);
    let start = trace.loop_start.expect("a lasso");
    let turn: Vec<_> = trace.actions().split_off(start);
    for happens in [
        Action::Release { client: 0, thread: 0 },
        Action::Acquire { client: 0, thread: 0 },
        Action::Deliver { client: 1 },
        Action::WakeByMessage { client: 1, thread: 0 },
        Action::Tick,
    ] {
        assert!(turn.contains(&happens), "{happens:?} is not in {turn:?}");
    }
    assert_eq!(start, 4, "both ask, and B subscribes and asks again: there is no shorter stem");
}

/// The watchdog belongs to the process: no thread believes that it holds, and time and renewals continue for ever.
#[test]
fn an_orphan_is_renewed_for_ever() {
    let trace = lasso("thread-dies-and-its-process-renews", Property::NoOrphan);
    let expected = [
        Action::Acquire { client: 0, thread: 0 },
        Action::CrashThread { client: 0, thread: 0 },
        Action::Tick,
        Action::Renew { client: 0 },
    ];
    assert_eq!(trace.actions(), expected);
    assert_eq!(trace.loop_start, Some(2));
}

/// A holder that need not release and one that must: the worlds are otherwise the same.
#[test]
fn a_holder_must_release_unless_the_scenario_says_otherwise() {
    let mut scenario = scenario("holder-never-releases");
    let verdict = |scenario: &Scenario| {
        let outcome = exhaust(scenario, Engine::Native);
        outcome.properties.iter().find(|found| found.property == Property::WaiterServed).expect("it applies").verdict
    };
    assert_eq!(verdict(&scenario), Verdict::Violated);
    scenario.config.clients.hold_for_ever = false;
    assert_eq!(verdict(&scenario), Verdict::Holds);
}

/// Every fair action has its line, and no other action has one.
#[test]
fn a_lasso_says_of_every_fair_action_what_becomes_of_it() {
    for (name, property) in
        [("newcomers-starve-a-waiter", Property::WaiterServed), ("orphan-starves-a-waiter", Property::NoOrphan)]
    {
        let trace = lasso(name, property);
        let config = &trace.config;
        let fairness = trace.fairness.as_ref().expect("a lasso");
        let said: Vec<_> = fairness.iter().map(|fair| fair.action).collect();
        // Nobody has to ask, and no key has to be gone at the very instant at which it is due.
        let need_not_happen = |action: &Action| matches!(action, Action::Acquire { .. } | Action::Expire { .. });
        let all =
            Action::all(config).into_iter().filter(|action| !action.kind().is_fault() && !need_not_happen(action));
        assert_eq!(said, all.collect::<Vec<_>>(), "{name}");
        let tick = fairness.last().expect("time is last");
        assert!(matches!(tick.in_loop, InLoop::TakenAt(_)), "{tick:?}");
        assert!(matches!(trace.about, About::Counterexample { shortest: false, .. }));
    }
}

/// stateright does not analyse cycles, so liveness is always checked by our own engine, and the output says so.
#[test]
fn liveness_is_checked_natively_whoever_checks_safety() {
    let scenario = scenario("two-clients-one-node");
    for engine in [Engine::Native, Engine::Stateright, Engine::Both] {
        for found in exhaust(&scenario, engine).properties {
            let is_about_runs = matches!(found.property.kind(), PropertyKind::Liveness | PropertyKind::Possible);
            assert_eq!(found.engine, if is_about_runs { Engine::Native } else { engine }, "{}", found.property);
            assert_eq!(Some(found.verdict), found.declared, "{}", found.property);
        }
    }
}

/// A partial graph proves nothing: a state that looks like a standstill may only be unexplored.
#[test]
fn a_limit_makes_liveness_inconclusive() {
    let outcome = limited(&scenario("two-clients-one-node"), Engine::Native, Some(1_000));
    let found = outcome.properties.iter().find(|found| found.property == Property::WaiterServed).expect("it applies");
    assert_eq!(found.verdict, Verdict::Inconclusive);
    assert!(found.why.as_ref().is_some_and(|why| why.contains("--max-states")), "{:?}", found.why);
}

/// A world in which time is blocked for good would seem to satisfy every property, because no fair run leads there.
#[test]
fn from_every_state_time_can_go_on_by_what_must_happen() {
    for scenario in SMALL.iter() {
        assert_time_goes_on(scenario);
    }
}

fn assert_time_goes_on(Scenario { name, config, .. }: &Scenario) {
    let all = Action::all(config);
    let initial = AnyWorld::initial(config);
    let mut met = HashSet::from([initial.clone()]);
    let mut queue = vec![initial];
    // For each state, the states from which a fair action leads to it; and the states in which time can pass.
    let mut before: HashMap<AnyWorld, Vec<AnyWorld>> = HashMap::new();
    let mut goes_on = Vec::new();
    while let Some(world) = queue.pop() {
        for &action in &all {
            let Some(next) = world.step(config, action).map(|next| next.world) else { continue };
            if action == Action::Tick {
                goes_on.push(world.clone());
            } else if action.kind().is_fair(config) {
                before.entry(next.clone()).or_default().push(world.clone());
            }
            if met.insert(next.clone()) {
                queue.push(next);
            }
        }
    }
    let mut reach: HashSet<_> = goes_on.iter().cloned().collect();
    while let Some(world) = goes_on.pop() {
        let new = before.get(&world).into_iter().flatten().filter(|world| reach.insert((*world).clone()));
        goes_on.extend(new.cloned());
    }
    assert_eq!(reach.len(), met.len(), "in {name} time stands still for good in some state");
}
