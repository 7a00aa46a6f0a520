//! Normal forms: worlds that can never again be told apart are one state, with every verdict and every shortest length as in
//! full worlds.

use std::sync::atomic::{AtomicBool, AtomicU64};

use std::collections::{HashSet, VecDeque};

use lockstep_model::config::Bound;
use lockstep_model::trace::Trace;
use lockstep_model::{Action, Config, Happening, NormalForm, Property, Reply, Verdict};
use lockstep_sim::any_world::{AnyStep, AnyWorld};
use lockstep_sim::check::native::Options;
use lockstep_sim::check::{CheckOutcome, Engine, How, Limits, PropertyOutcome, check_as};
use lockstep_sim::scenario::{Scenario, builtin};
use lockstep_tests::drawn::{ShownIfItFails, from_environment, read, texts};

use crate::{compared, scenario, verdict};

/// Random scenarios, including those that are refused; `LOCKSTEP_DRAW_SCENARIOS` asks for others.
const SCENARIOS: u32 = 90;
/// A random world that has more is not compared.
const MOST_STATES: u64 = 20_000;

fn exhaust(scenario: &Scenario, normal_forms: bool, max_states: Option<u64>) -> CheckOutcome {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits { max_states, ..Limits::none(&stop, &progress) };
    let native = Options { normal_forms, ..Options::default() };
    // What is found among full worlds is judged; the lengths are then compared.
    let how = How { native, seeks_shorter: !normal_forms, ..How::by(Engine::Native) };
    check_as(scenario, how, &limits).unwrap_or_else(|error| panic!("{}: {error}", scenario.name))
}

/// What must not depend on normal forms: each property with its verdict, the reason, and the length of a shortest trace; and
/// what happens at all.
type FormVerdicts = (Vec<(Property, Verdict, Option<String>, Option<usize>)>, Vec<Happening>);

fn told(outcome: &CheckOutcome) -> FormVerdicts {
    // A loop has to close in full worlds, which can take more steps.
    let length = |trace: &Trace| trace.loop_start.is_none().then_some(trace.steps.len());
    let told = |found: &PropertyOutcome| {
        (found.property, found.verdict, found.why.clone(), found.trace.as_ref().and_then(length))
    };
    (outcome.properties.iter().map(told).collect(), outcome.coverage.happenings.iter().collect())
}

#[test]
fn normal_forms_change_no_verdict_and_no_shortest_length() {
    for scenario in compared() {
        let (normal, full) = (exhaust(scenario, true, None), exhaust(scenario, false, None));
        assert_eq!(told(&normal), told(&full), "{}: a normal form leaves out what can still be seen", scenario.name);
        assert!(!normal.left_normal_forms, "{}: a witness among normal forms cannot be executed", scenario.name);
        assert!(normal.states <= full.states, "{}: {} of {}", scenario.name, normal.states, full.states);
    }
}

#[test]
fn normal_forms_change_nothing_in_worlds_that_nobody_thought_of() {
    let (mut compared, mut smaller) = (0, 0);
    let seed = from_environment("LOCKSTEP_DRAW_SEED", 0);
    for text in texts(seed, from_environment("LOCKSTEP_DRAW_SCENARIOS", SCENARIOS)) {
        let _shown = ShownIfItFails(&text);
        let Ok(scenario) = read(&text) else { continue };
        let full = exhaust(&scenario, false, Some(MOST_STATES));
        if full.complete {
            let normal = exhaust(&scenario, true, None);
            assert_eq!(told(&normal), told(&full), "a normal form leaves out what can still be seen");
            compared += 1;
            smaller += u32::from(normal.states < full.states);
        }
    }
    println!("{compared} worlds compared, {smaller} of them smaller");
    assert!(smaller > 0, "no world is smaller");
}

/// The steps of the first worlds of a scenario, each taken in the full world and in its normal form. The steps compared, or the
/// first that differs.
fn steps_of_forms(config: &Config, most_worlds: usize) -> Result<u32, String> {
    let first = AnyWorld::initial(config);
    let (mut met, mut waiting) = (HashSet::from([first.clone()]), VecDeque::from([first]));
    let (actions, mut compared) = (Action::all(config), 0);
    while let Some(full) = waiting.pop_front() {
        let (small, left_out) = full.normal(config);
        for &action in &actions {
            let is_left_out = || left_out.kinds().any(|kind| kind == action.kind());
            let (large, little) = (full.attempt(config, action), small.attempt(config, action));
            let normal = |step: &AnyStep| step.world.normal(config).0;
            let is_same = match (&large, &little) {
                (Ok(large), Ok(little)) => {
                    (normal(large), but_for_numbers(large.reply)) == (normal(little), but_for_numbers(little.reply))
                }
                // It changes nothing that is kept.
                (Ok(large), Err(_)) => is_left_out() && normal(large) == small,
                // The model may have no room in a full world for what a normal form leaves out.
                (Err(touched), Ok(_)) => touched.any(),
                (Err(_), Err(_)) => true,
            };
            if !is_same {
                return Err(format!("{action:?} leads elsewhere from the normal form of {full:?}"));
            }
            compared += 1;
            let next = large.ok().map(|step| step.world.without_breaches());
            waiting.extend(next.filter(|next| met.len() < most_worlds && met.insert(next.clone())));
        }
    }
    Ok(compared)
}

/// What is told, but for the number of a token: a normal form keeps the order of tokens.
fn but_for_numbers(reply: Reply) -> Reply {
    match reply {
        Reply::TokenRead { number } => Reply::TokenRead { number: number.min(1) },
        other => other,
    }
}

/// The steps compared. Numbers of receipts are not compared, and that of a dropped one is free again: there are none.
fn steps_compared(scenario: &Scenario, most_worlds: usize) -> u32 {
    let mut config = scenario.config;
    config.protocol.receipts = false;
    if !NormalForm::of(&config).is_there() || config.leaves_receipts() {
        return 0;
    }
    let compared = steps_of_forms(&config, most_worlds);
    compared.unwrap_or_else(|differs| panic!("{}: {differs}", scenario.name))
}

/// A step may depend on nothing that a normal form leaves out, wherever it is taken.
#[test]
fn a_step_from_a_normal_form_leads_where_it_leads_from_the_full_world() {
    let compared: u32 = builtin().iter().map(|scenario| steps_compared(scenario, 50_000)).sum();
    assert!(compared > 1_000_000, "{compared} steps");
}

#[test]
fn a_step_from_a_normal_form_leads_to_the_same_in_worlds_that_nobody_thought_of() {
    let seed = from_environment("LOCKSTEP_DRAW_SEED", 0);
    let mut compared = 0;
    for text in texts(seed, from_environment("LOCKSTEP_DRAW_SCENARIOS", SCENARIOS)) {
        let _shown = ShownIfItFails(&text);
        compared += read(&text).map_or(0, |scenario| steps_compared(&scenario, 3_000));
    }
    assert!(compared > 100_000, "{compared} steps");
}

/// The gain is in worlds with several replicas and in clients that have nothing left to do.
#[test]
fn a_failover_among_two_replicas_has_a_fifth_of_the_states() {
    let scenario = scenario("failover-to-the-wrong-replica");
    let (normal, full) = (exhaust(&scenario, true, None), exhaust(&scenario, false, None));
    assert!(normal.states * 5 < full.states, "{} of {}", normal.states, full.states);
}

/// A client that has not heard of the new master, and a request under way, still read what a replica stores: if that were left
/// out, a holder's own release would be one of somebody else.
#[test]
fn who_still_asks_a_replica_reads_its_data() {
    let scenario = scenario("hand-over-waits-for-the-replica");
    let outcome = exhaust(&scenario, true, None);
    assert_eq!(verdict(&outcome, Property::OnlyHolderReleases), Verdict::Vacuous);
}

/// How long a queue is tells time where the lag is bounded: nothing is left out there, and every verdict is as before.
#[test]
fn a_bounded_lag_is_kept_to() {
    let mut scenario = scenario("failover-to-the-wrong-replica");
    for lag in 0..4 {
        scenario.config.cluster.lag = Bound::Ticks(lag);
        assert_eq!(told(&exhaust(&scenario, true, None)), told(&exhaust(&scenario, false, None)), "lag {lag}");
    }
}

/// A caller that takes a refusal for a grant waits until a replica has all that somebody else has written: also what nobody waited for.
#[test]
fn what_a_caller_waits_for_that_has_written_nothing_is_kept() {
    let text = "story = \"s\"\nlock = \"fenced\"\n[time]\nlease = 2\nhold_at_most = 2\n[clients]\ncount = 2\nacquires = 1\n[cluster]\n\
                replicas = 1\nwait_for = 1\n[network]\ndelay = \"any\"\n[protocol]\ntoken = \"with-grant\"\n[faults]\npersist_key = 1\n";
    let scenario = Scenario::parse("told-no-ttl", text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(told(&exhaust(&scenario, true, None)), told(&exhaust(&scenario, false, None)));
    let compared = steps_of_forms(&scenario.config, 20_000);
    assert!(compared.as_ref().is_ok_and(|steps| *steps > 1_000), "{compared:?}");
}

/// A master that has stood still reads what a replica has acknowledged meanwhile when it counts anew, or with the next effect that the
/// replica applies, whoever waits for that.
#[test]
fn what_tells_a_master_that_stood_still_is_kept() {
    for replicas in ["replicas = 1\nwait_for = 1", "replicas = 2\nwait_for = 2\n[protocol]\nwait_rule = \"all\""] {
        // With two replicas one takes its place while it stands still, and the other one has told it everything.
        let text = format!(
            "story = \"s\"\nlock = \"fair\"\n[time]\nlease = 1\nwait_limit = 4\nqueue_wait = 2\n[clients]\ncount = 2\nacquires = 1\n\
             [cluster]\n{replicas}\n[faults]\npause_node = 1\n"
        );
        let scenario = Scenario::parse("stood-still", &text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(told(&exhaust(&scenario, true, None)), told(&exhaust(&scenario, false, None)), "{replicas}");
        let compared = steps_of_forms(&scenario.config, 20_000);
        assert!(compared.as_ref().is_ok_and(|steps| *steps > 1_000), "{compared:?}");
    }
}
