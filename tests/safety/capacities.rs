//! No verdict rests on a capacity of the model unsaid: ordinary worlds need less than there is room for, and where one needs
//! more, the verdict is inconclusive and says so.

use std::fmt::Write as _;

use lockstep_model::config::{Bounds, Config, Ttls};
use lockstep_model::notes::Capacity;
use lockstep_model::{Property, Verdict};
use lockstep_sim::check::native::Options;
use lockstep_sim::check::{CheckOutcome, Engine};
use lockstep_sim::scenario::Scenario;

use crate::{BUILT_IN, compared, exhaust, exhaust_as, scenario, verdict};

fn read(text: &str) -> Scenario {
    Scenario::parse("a-world", text).unwrap_or_else(|error| panic!("{}", error.report(false)))
}

fn exceeded(outcome: &CheckOutcome) -> Vec<Capacity> {
    outcome.coverage.touched().map(|(capacity, _)| capacity).collect()
}

fn why(outcome: &CheckOutcome, property: Property) -> &str {
    let found = outcome.properties.iter().find(|found| found.property == property);
    found.and_then(|found| found.why.as_deref()).unwrap_or_default()
}

#[test]
fn no_built_in_scenario_exceeds_a_capacity() {
    for outcome in BUILT_IN.iter() {
        assert_eq!(exceeded(outcome), [], "{}", outcome.scenario);
    }
}

/// `WAIT` covers the grant, and the renewals need never reach the replica: when the lease that the replica knows is over, it
/// is promoted. Each longer lease needs more renewals under way.
#[test]
fn wait_does_not_cover_the_renewals_of_any_lease() {
    for lease in 2..=12 {
        let scenario = read(&format!(
            "story = 'WAIT covers the grant.'\nlock = 'reentrant'\n\
             [time]\nlease = {lease}\nrenew_every = 1\nwait_limit = 0\n\
             [clients]\ncount = 2\nacquires = 1\n\
             [cluster]\nreplicas = 1\nwait_for = 1\nfailover_within = 0\n\
             [protocol]\nwait_rule = 'any'\n[faults]\ncrash_node = 1\n"
        ));
        let outcome = exhaust(&scenario, Engine::Both);
        assert_eq!(verdict(&outcome, Property::OneBeliever), Verdict::Violated, "lease {lease}");
        assert!(outcome.complete, "lease {lease}");
    }
}

/// A full queue of effects once kept a release from happening at one moment of a loop, and the loop was taken for fair.
#[test]
fn a_lag_of_any_length_starves_no_waiter() {
    for lag in ["0", "1", "2", "3", "4", "5", "6", "9", "12", "'any'"] {
        let scenario = read(&format!(
            "story = 'No fault.'\nlock = 'reentrant'\n[time]\nlease = 3\nrenew_every = 1\n\
             [clients]\ncount = 2\nacquires = 1\n[cluster]\nreplicas = 1\nlag = {lag}\n"
        ));
        let outcome = exhaust(&scenario, Engine::Both);
        assert_eq!(verdict(&outcome, Property::WaiterServed), Verdict::Holds, "lag {lag}");
    }
}

/// The fourth receipt once stopped time, and the standstill was taken for a lock that stays for ever.
#[test]
fn releases_that_are_interrupted_have_room_enough_for_their_receipts() {
    for interrupts in 0..=3 {
        let scenario = read(&format!(
            "story = 'Interrupts.'\nlock = 'reentrant'\n[time]\nlease = 3\nhold_at_most = 2\n\
             [clients]\ncount = 1\nacquires = 4\n[network]\nmode = 'split'\n\
             [protocol]\nresend = 'release'\nreceipts = true\n[faults]\ninterrupt = {interrupts}\n"
        ));
        let outcome = exhaust(&scenario, Engine::Native);
        assert_eq!(verdict(&outcome, Property::NoOrphan), Verdict::Holds, "{interrupts} interrupts");
        assert!(outcome.complete, "{interrupts} interrupts");
    }
}

/// Clients that acquire without bound write and publish without bound within one tick, and no ordinary world of them has too
/// little room.
#[test]
fn ordinary_worlds_have_room_enough() {
    let mut worlds = Vec::new();
    for clients in [2, 3] {
        for replicas in [0, 1] {
            if (clients, replicas) == (3, 1) {
                continue;
            }
            for wait_limit in ["", "wait_limit = 0\n", "wait_limit = 2\n"] {
                for renew_every in ["", "renew_every = 1\n"] {
                    let mut text = format!(
                        "story = 'An ordinary world.'\nlock = 'reentrant'\n\
                         [time]\nlease = 3\n{wait_limit}{renew_every}[clients]\ncount = {clients}\n"
                    );
                    let _ = write!(text, "[cluster]\nreplicas = {replicas}\n");
                    if replicas > 0 && clients == 2 {
                        text.push_str("failover_within = 1\n[faults]\ncrash_node = 1\n");
                    }
                    worlds.push(text);
                }
            }
        }
    }
    for text in worlds {
        let outcome = exhaust(&read(&text), Engine::Native);
        assert_eq!(exceeded(&outcome), [], "{text}");
    }
}

/// The registrations of 2021 come at any time: with acquires without bound the table may count more and more holds.
#[test]
fn a_world_that_needs_more_is_inconclusive_and_says_what_it_needs() {
    let scenario = read(
        "story = 'More and more holds are registered.'\nlock = 'reentrant'\n\
         [time]\nlease = 2\nrenew_every = 1\nwait_limit = 0\n[clients]\ncount = 1\n\
         [network]\nmode = 'split'\n[protocol]\nreceipts = false\nregistration = 'unordered'\n",
    );
    let outcome = exhaust(&scenario, Engine::Both);
    assert_eq!(exceeded(&outcome), [Capacity::Registrations]);
    assert!(!outcome.complete);
    assert_eq!(verdict(&outcome, Property::OneBeliever), Verdict::Inconclusive);
    let says = why(&outcome, Property::OneBeliever);
    assert!(says.contains("room for grants of one thread that its renewal table has not heard of is 3"), "{says}");
    assert!(says.contains("set registrations = 5 in [bounds] (at most 16), or set acquires in [clients]"), "{says}");
}

/// Where both `WAIT` and the choice of the fullest replica count effects, none takes the place of another.
#[test]
fn effects_that_are_counted_need_room_and_say_so() {
    let scenario = read(
        "story = 'Every effect counts.'\nlock = 'reentrant'\n\
         [time]\nlease = 2\nwait_limit = 0\nhold_at_most = 1\n[clients]\ncount = 1\n\
         [cluster]\nreplicas = 2\nwait_for = 1\npromote = 'most-data'\nfailover_within = 0\n[faults]\ncrash_node = 1\n",
    );
    let outcome = exhaust(&scenario, Engine::Both);
    assert_eq!(exceeded(&outcome), [Capacity::Effects]);
    assert_eq!(verdict(&outcome, Property::OneBeliever), Verdict::Inconclusive);
    assert!(why(&outcome, Property::OneBeliever).contains("effects under way to one replica"));
}

/// Before Redis 7.0 a TTL counts from its arrival: an effect is dropped only where an equal one follows.
#[test]
fn an_ordinary_world_of_an_old_server_has_room_enough() {
    for wait_for in [0, 1] {
        let scenario = read(&format!(
            "story = 'Before Redis 7.0.'\nlock = 'reentrant'\n[time]\nlease = 3\nrenew_every = 1\n\
             [clients]\ncount = 2\n[cluster]\nreplicas = 1\nwait_for = {wait_for}\nttls = 'relative'\n"
        ));
        assert_eq!(exceeded(&exhaust(&scenario, Engine::Native)), [], "wait_for {wait_for}");
    }
}

/// Each other capacity has a world that needs more of it, and what is exceeded is said.
#[test]
fn every_capacity_is_noted_where_it_is_exceeded() {
    let interrupted = read(
        "story = 'Every release is interrupted.'\nlock = 'reentrant'\n\
         [time]\nlease = 3\nhold_at_most = 1\nwait_limit = 0\n[clients]\ncount = 1\nacquires = 7\n\
         [network]\nmode = 'split'\n[protocol]\nresend = 'release'\nreceipts = true\n[faults]\ninterrupt = 7\n",
    );
    assert_eq!(exceeded(&exhaust(&interrupted, Engine::Native)), [Capacity::LateRequests]);
    // Each client waits for the answer to its release, and may send that again: until then its receipt is needed.
    let unanswered = read(
        "story = 'Both releases are unanswered.'\nlock = 'reentrant'\n\
         [time]\nlease = 3\nhold_at_most = 1\nwait_limit = 0\n[clients]\ncount = 2\nacquires = 1\n\
         [network]\nmode = 'split'\n[protocol]\nresend = 'release'\nreceipts = true\n[bounds]\nreceipts = 1\n",
    );
    assert_eq!(exceeded(&exhaust(&unanswered, Engine::Native)), [Capacity::Receipts]);
    let unread = read(
        "story = 'Unlock messages arrive at any time.'\nlock = 'reentrant'\n\
         [time]\nlease = 1\n[clients]\ncount = 2\nacquires = 5\n[network]\ndelay = 'any'\n",
    );
    assert_eq!(exceeded(&exhaust(&unread, Engine::Native)), [Capacity::Messages]);
    assert_eq!(exceeded(&exhaust(&read(&multiplying(3)), Engine::Native)), [], "a timer for each acquire");
    assert_eq!(exceeded(&exhaust(&read(&multiplying(4)), Engine::Native)), [Capacity::RenewalTimers]);
}

/// Two clients take the parts in opposite orders. A part whose lease is over is gone when its call gives it back, and the call ends
/// there: the other part stays, and the next call enters it once more.
#[test]
fn holds_that_are_left_behind_are_counted_as_far_as_there_is_room() {
    for (room, bounds, raised) in [(12, "", 18), (2, "[bounds]\nholds = 2\n", 3)] {
        let outcome = exhaust(
            &read(&format!(
                "story = 'Opposite orders, and leases that end.'\nlock = 'multi'\n[time]\nlease = 2\nround_wait = 2\n\
                 [clients]\ncount = 2\n{bounds}[[client]]\nparts = 'in-order'\n[[client]]\nparts = 'reversed'\n"
            )),
            Engine::Both,
        );
        assert_eq!(exceeded(&outcome), [Capacity::Holds], "{bounds}");
        assert!(!outcome.complete, "{bounds}");
        assert_eq!(verdict(&outcome, Property::NoOrphan), Verdict::Inconclusive, "{bounds}");
        let says = why(&outcome, Property::NoOrphan);
        let noun = "holds of one thread that a node counts, with those that its client has left behind";
        assert!(says.contains(&format!("room for {noun} is {room}")), "{says}");
        assert!(says.contains(&format!("set holds = {raised} in [bounds] (at most 60)")), "{says}");
    }
}

/// One client, each of whose acquires may start one more renewal timer.
fn multiplying(acquires: u8) -> String {
    format!(
        "story = 'Timers multiply.'\nlock = 'reentrant'\n[time]\nlease = 3\nrenew_every = 1\nhold_at_most = 2\n\
         wait_limit = 0\n[clients]\ncount = 1\nacquires = {acquires}\n[protocol]\nrenewal_timer = 'multiplying'\n"
    )
}

/// Worlds that have room enough as they are, each with a bound that gives it too little, and what is said then. Of messages
/// there is never less room than usual.
fn worlds_with_a_bound() -> [(Scenario, Bounds, Capacity, &'static str); 5] {
    const NONE: Bounds = Bounds::NONE;
    let one_client = "story = 'One client.'\nlock = 'reentrant'\n[time]\nlease = 3\nhold_at_most = 2\nwait_limit = 0\n";
    let split = "[network]\nmode = 'split'\n[protocol]\nresend = 'release'\n";
    let effects = format!(
        "{one_client}[clients]\ncount = 1\nacquires = 2\n\
         [cluster]\nreplicas = 2\nwait_for = 1\npromote = 'most-data'\nfailover_within = 0\n[faults]\ncrash_node = 1\n"
    );
    let interrupted =
        format!("{one_client}[clients]\ncount = 1\nacquires = 3\n{split}receipts = true\n[faults]\ninterrupt = 2\n");
    let registered = format!(
        "{one_client}[clients]\ncount = 1\nacquires = 2\n[network]\nmode = 'split'\n\
                    [protocol]\nreceipts = false\nregistration = 'unordered'\n"
    )
    .replace("lease = 3", "lease = 3\nrenew_every = 1");
    [
        (
            read(&effects),
            Bounds { effects_under_way: Some(2), ..NONE },
            Capacity::Effects,
            "set effects_under_way = 3 in [bounds] (at most 12)",
        ),
        (
            read(&interrupted),
            Bounds { receipts: Some(1), ..NONE },
            Capacity::Receipts,
            "set receipts = 2 in [bounds] (at most 8)",
        ),
        (
            read(&interrupted),
            Bounds { late_requests: Some(1), ..NONE },
            Capacity::LateRequests,
            "set late_requests = 2 in [bounds] (at most 4)",
        ),
        (
            read(&registered),
            Bounds { registrations: Some(1), ..NONE },
            Capacity::Registrations,
            "set registrations = 2 in [bounds] (at most 16)",
        ),
        (
            read(&multiplying(2)),
            Bounds { renewal_timers: Some(1), ..NONE },
            Capacity::RenewalTimers,
            "set renewal_timers = 2 in [bounds] (at most 3)",
        ),
    ]
}

fn with_bounds(scenario: &Scenario, bounds: Bounds) -> Scenario {
    Scenario { config: Config { bounds, ..scenario.config }, ..scenario.clone() }
}

/// A bound that is touched leaves nothing unsaid: what a trace breaks is violated, what was reached is reached, and of
/// everything else nothing is known.
#[test]
fn a_lowered_bound_makes_a_settled_world_inconclusive_and_names_the_key_that_raises_it() {
    for (world, bounds, capacity, says) in worlds_with_a_bound() {
        let settled = exhaust(&world, Engine::Both);
        assert_eq!(exceeded(&settled), [], "{capacity:?}");
        assert!(settled.complete, "{capacity:?}");
        let lowered = exhaust(&with_bounds(&world, bounds), Engine::Both);
        assert_eq!(exceeded(&lowered), [capacity]);
        assert!(!lowered.complete, "{capacity:?}");
        let mut unknown = 0;
        for (found, before) in lowered.properties.iter().zip(&settled.properties) {
            match found.verdict {
                Verdict::Inconclusive => {
                    let why = found.why.as_deref().unwrap_or_default();
                    unknown += u32::from(why.contains(says));
                }
                Verdict::Violated => assert_eq!(before.verdict, Verdict::Violated, "{capacity:?}: {}", found.property),
                Verdict::Holds => assert_eq!(found.property, Property::ActionsReached, "{capacity:?}"),
                other => panic!("{capacity:?}: {} is {other}", found.property),
            }
        }
        assert!(unknown > 0, "{capacity:?}: nobody is told {says:?}");
    }
}

/// Five effects are under way where there is room for four, and never a seventh.
#[test]
fn a_raised_bound_settles_a_world_that_has_too_little_room() {
    let [(two_acquires, ..), ..] = worlds_with_a_bound();
    let mut world = two_acquires;
    world.config.clients.acquires = Some(3);
    let too_little = exhaust(&world, Engine::Both);
    assert_eq!(exceeded(&too_little), [Capacity::Effects]);
    let says = why(&too_little, Property::OneBeliever);
    assert!(says.contains("set effects_under_way = 6 in [bounds] (at most 12)"), "{says}");

    let bound = |effects| with_bounds(&world, Bounds { effects_under_way: Some(effects), ..Bounds::NONE });
    let (six, twelve) = (exhaust(&bound(6), Engine::Both), exhaust(&bound(12), Engine::Both));
    assert_eq!(exceeded(&six), []);
    assert!(six.complete);
    assert_eq!(verdict(&six, Property::OneBeliever), Verdict::Holds);
    assert_eq!((six.states, six.depth), (twelve.states, twelve.depth), "more room than is needed changes nothing");
    assert!(six.states > too_little.states);

    let unread = read(
        "story = 'Unlock messages arrive at any time.'\nlock = 'reentrant'\n\
         [time]\nlease = 1\n[clients]\ncount = 2\nacquires = 4\n[network]\ndelay = 'any'\n",
    );
    assert_eq!(exceeded(&exhaust(&unread, Engine::Both)), [Capacity::Messages]);
    let four = exhaust(&with_bounds(&unread, Bounds { messages: Some(4), ..Bounds::NONE }), Engine::Both);
    assert_eq!(exceeded(&four), [], "one for each release of the other client");
    assert!(four.complete);
}

/// Room that no step needs changes no state, in the roomiest layout as in the usual ones; and where wake-ups saturate, more
/// of them change no verdict.
#[test]
fn more_room_than_a_world_needs_changes_no_verdict() {
    let verdicts = |outcome: &CheckOutcome| -> Vec<_> {
        outcome.properties.iter().map(|found| (found.property, found.verdict)).collect()
    };
    let most = |capacity: Capacity| Some(capacity.most());
    let roomiest = Bounds {
        effects_under_way: most(Capacity::Effects),
        messages: None,
        receipts: most(Capacity::Receipts),
        late_requests: most(Capacity::LateRequests),
        registrations: most(Capacity::Registrations),
        renewal_timers: most(Capacity::RenewalTimers),
        tokens: most(Capacity::Tokens),
        holds: most(Capacity::Holds),
    };
    let mut seen = 0;
    for scenario in compared() {
        let usual = exhaust_as(scenario, Options::default());
        let roomy = exhaust_as(&with_bounds(scenario, roomiest), Options::default());
        assert_eq!((usual.states, usual.depth), (roomy.states, roomy.depth), "{}", scenario.name);
        assert_eq!(verdicts(&usual), verdicts(&roomy), "{}", scenario.name);
        let wakeful =
            exhaust_as(&with_bounds(scenario, Bounds { messages: Some(5), ..Bounds::NONE }), Options::default());
        assert_eq!(verdicts(&usual), verdicts(&wakeful), "{}", scenario.name);
        seen += 1;
    }
    assert!(seen > 20, "{seen} scenarios are small enough");
}

/// Each of four acquires leads to a grant, a release and a receipt that is dropped, and all of them may be under way.
#[test]
fn wait_in_one_batch_has_room_enough_before_redis_7_0() {
    let mut old = scenario("wait-in-one-batch");
    old.config.cluster.ttls = Ttls::Relative;
    assert_eq!(old.config.room_for(Capacity::Effects), 12);
    let outcome = exhaust(&old, Engine::Native);
    assert_eq!(exceeded(&outcome), []);
    assert!(outcome.complete);
    let usual = Bounds { effects_under_way: Some(4), ..Bounds::NONE };
    let with_four = exhaust(&with_bounds(&old, usual), Engine::Native);
    assert_eq!(exceeded(&with_four), [Capacity::Effects], "it is the longer queue that settles it");
    // Without a bound on acquires no queue is long enough, and a longer one is only slower.
    old.config.clients.acquires = None;
    assert_eq!(old.config.room_for(Capacity::Effects), 4);
}

/// A claim that is bounded rests on bounds alone: a limit of the search leaves it inconclusive, and what was never put to
/// the test within the bounds does not hold there.
#[test]
fn holds_within_bounds_is_said_where_it_is_claimed_and_tested_and_nothing_but_a_bound_is_in_the_way() {
    let [(world, bounds, ..), ..] = worlds_with_a_bound();
    let mut bounded = with_bounds(&world, bounds);
    for property in [Property::OneBeliever, Property::OneServerHolder] {
        assert_ne!(verdict(&exhaust(&world, Engine::Native), property), Verdict::Violated);
        bounded.expect.insert(property, Verdict::HoldsWithinBounds);
    }
    let outcome = exhaust(&bounded, Engine::Both);
    assert_eq!(verdict(&outcome, Property::OneBeliever), Verdict::HoldsWithinBounds);
    assert_eq!(verdict(&outcome, Property::NoOrphan), Verdict::Inconclusive, "nobody claims it");
    assert_eq!(verdict(&outcome, Property::OneServerHolder), Verdict::Inconclusive, "there are never two masters");
    let says = why(&outcome, Property::OneServerHolder);
    assert!(says.starts_with("within the bounds it was never put to the test; the model's room for "), "{says}");

    let outright = exhaust(&Scenario { config: world.config, ..bounded }, Engine::Native);
    assert_eq!(verdict(&outright, Property::OneBeliever), Verdict::Holds);
    assert_eq!(verdict(&outright, Property::OneServerHolder), Verdict::Vacuous);
    let as_declared = |property| {
        let found = outright.properties.iter().find(|found| found.property == property);
        found.is_some_and(lockstep_sim::check::PropertyOutcome::is_as_declared)
    };
    assert!(as_declared(Property::OneBeliever), "what holds outright holds within any bounds");
    assert!(!as_declared(Property::OneServerHolder), "what was never put to the test does not");
}
