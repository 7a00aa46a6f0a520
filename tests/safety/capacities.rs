//! No verdict rests on a capacity of the model unsaid: ordinary worlds need less than there is room for, and where one needs
//! more, the verdict is inconclusive and says so.

use std::fmt::Write as _;

use lockstep_model::notes::Capacity;
use lockstep_model::{Property, Verdict};
use lockstep_sim::check::{CheckOutcome, Engine};
use lockstep_sim::scenario::{Scenario, builtin};

use crate::{exhaust, verdict};

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
    for scenario in builtin() {
        assert_eq!(exceeded(&exhaust(&scenario, Engine::Native)), [], "{}", scenario.name);
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
    assert!(says.contains("room for 3 grants of one thread"), "{says}");
    assert!(says.contains("acquires"), "{says}");
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
    // The client deletes the receipt of a release that it has the answer to.
    let unanswered = read(
        "story = 'The answer to every release is lost.'\nlock = 'reentrant'\n\
         [time]\nlease = 3\nhold_at_most = 1\nwait_limit = 0\nreceipt = 8\n[clients]\ncount = 1\nacquires = 7\n\
         [network]\nmode = 'split'\n[protocol]\nresend = 'none'\nreceipts = true\n[faults]\nlose_reply = 7\n",
    );
    assert_eq!(exceeded(&exhaust(&unanswered, Engine::Native)), [Capacity::Receipts]);
    let unread = read(
        "story = 'Unlock messages arrive at any time.'\nlock = 'reentrant'\n\
         [time]\nlease = 1\n[clients]\ncount = 2\nacquires = 5\n[network]\ndelay = 'any'\n",
    );
    assert_eq!(exceeded(&exhaust(&unread, Engine::Native)), [Capacity::Messages]);
}
