//! What a grant stores: with a value per acquire, what an earlier acquire left behind is nobody's, and a late request of it
//! changes nothing; with one value per client both take effect on the next acquire of the same thread.

use lockstep_model::config::ValueRule;
use lockstep_model::locks::{Facts, Support};
use lockstep_model::notes::Breach;
use lockstep_model::trace::{About, Trace};
use lockstep_model::{Action, Config, LockKind, Property, Reply, Verdict};
use lockstep_sim::check::{CheckOutcome, Engine};
use lockstep_sim::recorder;
use lockstep_sim::scenario::{Scenario, builtin};

use crate::{every_world, exhaust, scenario, verdict};

const ACQUIRE: Action = Action::Acquire { client: 0, thread: 0 };
const RELEASE: Action = Action::Release { client: 0, thread: 0 };

fn read(text: &str) -> Scenario {
    Scenario::parse("a-world", text).unwrap_or_else(|error| panic!("{}", error.report(false)))
}

fn with(rule: ValueRule, mut scenario: Scenario) -> Scenario {
    scenario.config.protocol.value = rule;
    scenario
}

/// One client with a watchdog, a master and a replica.
fn failover(rule: ValueRule) -> Config {
    let text = "story = 'A failover.'\nlock = 'plain'\n[time]\nlease = 3\nrenew_every = 1\nwait_limit = 0\n\
                [clients]\ncount = 1\n[cluster]\nreplicas = 1\n[faults]\ncrash_node = 1\n";
    with(rule, read(text)).config
}

/// The replica has the first grant, and has heard neither of its release nor of the second grant, when it is promoted.
const SECOND_GRANT_LOST: [Action; 7] = [
    ACQUIRE,
    Action::Replicate { node: 1 },
    RELEASE,
    ACQUIRE,
    Action::CrashNode { node: 0 },
    Action::Promote { node: 1 },
    Action::Discover { client: 0 },
];

fn record(config: &Config, actions: &[Action]) -> Trace {
    recorder::record("a-world", "", config, About::Drawn, actions, "").expect("each action can happen")
}

fn last_answer(config: &Config, actions: &[&[Action]]) -> Reply {
    record(config, &actions.concat()).steps.last().expect("there are steps").answer
}

fn length(outcome: &CheckOutcome, property: Property) -> Option<usize> {
    let found = outcome.properties.iter().find(|found| found.property == property)?;
    found.trace.as_ref().map(|trace| trace.steps.len())
}

/// Derived by hand: A acquires (sent, executed, answered), releases, waits a tick and sends the release again; the copy is
/// executed and answered; A acquires anew (3 steps). Then the first copy is executed: the master stores nothing of what A
/// believes (12). B acquires (15).
#[test]
fn a_late_release_frees_the_next_lock_of_its_own_thread_unless_values_are_unique() {
    let per_client = scenario("plain-late-release-takes-the-next-grant");
    let outcome = exhaust(&per_client, Engine::Native);
    assert_eq!(length(&outcome, Property::CountsAgree), Some(12));
    assert_eq!(length(&outcome, Property::OneBeliever), Some(15));
    let outcome = exhaust(&with(ValueRule::PerAcquire, per_client), Engine::Native);
    assert_eq!(verdict(&outcome, Property::CountsAgree), Verdict::Holds);
    assert_eq!(verdict(&outcome, Property::OneBeliever), Verdict::Holds);
}

#[test]
fn the_two_scenarios_of_a_late_release_differ_in_the_value_alone() {
    let mut violated = scenario("plain-late-release-takes-the-next-grant").config;
    let holds = scenario("plain-late-release-meets-another-value").config;
    assert_ne!(violated, holds);
    violated.protocol.value = ValueRule::PerAcquire;
    assert_eq!(violated, holds);
}

#[test]
fn an_earlier_grant_that_a_failover_revives_can_not_be_released() {
    let answer = |rule| last_answer(&failover(rule), &[&SECOND_GRANT_LOST, &[RELEASE]]);
    assert_eq!(answer(ValueRule::PerAcquire), Reply::NotHeld);
    assert_eq!(answer(ValueRule::PerClient), Reply::Released);
}

#[test]
fn an_earlier_grant_that_a_failover_revives_is_not_renewed() {
    let renewal = [Action::Tick, Action::Renew { client: 0 }];
    let answer = |rule| last_answer(&failover(rule), &[&SECOND_GRANT_LOST, &renewal]);
    assert_eq!(answer(ValueRule::PerAcquire), Reply::RenewalMissed);
    assert_eq!(answer(ValueRule::PerClient), Reply::Renewed);
}

/// The key that the new master has is not the one that was granted last.
#[test]
fn a_grant_vanishes_although_an_earlier_one_of_its_holder_is_left() {
    let breaches = |rule| record(&failover(rule), &SECOND_GRANT_LOST).steps[5].state.breaches.clone();
    assert_eq!(breaches(ValueRule::PerAcquire), [Breach::GrantVanished]);
    assert_eq!(breaches(ValueRule::PerClient), []);
}

/// The trace tells the acquires apart as the server does.
#[test]
fn a_trace_says_of_which_acquire_a_key_is() {
    let stored = |rule| {
        let trace = record(&failover(rule), &SECOND_GRANT_LOST[..4]);
        let nodes = &trace.steps[3].state.nodes;
        let text =
            |node: usize| serde_json::to_value(&nodes[node].stored.keys[0]).expect("a key is JSON")["content"].clone();
        [text(0), text(1)]
    };
    assert_eq!(stored(ValueRule::PerAcquire), ["A:1:2", "A:1:1"]);
    assert_eq!(stored(ValueRule::PerClient), ["A:1", "A:1"]);
}

/// An old master stores the first grant of a thread, and the new one its second.
#[test]
fn two_acquires_of_one_thread_on_two_masters_are_two_holders() {
    let text = "story = 'A partition.'\nlock = 'plain'\n[time]\nlease = 3\nwait_limit = 0\nhold_at_most = 2\n\
                [clients]\ncount = 1\nacquires = 2\n[cluster]\nreplicas = 1\n[faults]\ncut_link = 1\n";
    let of = |rule| verdict(&exhaust(&with(rule, read(text)), Engine::Both), Property::OneServerHolder);
    assert_eq!(of(ValueRule::PerAcquire), Verdict::Violated);
    assert_eq!(of(ValueRule::PerClient), Verdict::Holds);
}

/// A thread without a hold has no value to send, not even that of its own orphan: here the node comes back with a grant whose
/// release reached nobody.
#[test]
fn a_release_without_a_hold_frees_nothing_of_its_own() {
    let text = "story = 'A restart.'\nlock = 'plain'\n[time]\nlease = 3\nwait_limit = 0\n[clients]\ncount = 1\n\
                [cluster]\nfsync = 'always'\n[faults]\ncrash_node = 1\nrestart_node = 1\nforeign_release = 1\n";
    let actions = [
        ACQUIRE,
        Action::CrashNode { node: 0 },
        RELEASE,
        Action::RestartNode { node: 0 },
        Action::ForeignRelease { client: 0, thread: 0 },
    ];
    let answer = |rule| last_answer(&with(rule, read(text)).config, &[&actions]);
    assert_eq!(answer(ValueRule::PerAcquire), Reply::NotHeld);
    assert_eq!(answer(ValueRule::PerClient), Reply::Released);
}

/// Elsewhere the numbers would only make states of the same future differ.
#[test]
fn values_are_counted_only_where_an_earlier_acquire_can_still_be_met() {
    let counted: Vec<_> =
        builtin().into_iter().filter(|scenario| scenario.config.has_values()).map(|scenario| scenario.name).collect();
    assert_eq!(
        counted,
        [
            "plain-failover-loses-the-grant",
            "plain-late-release-meets-another-value",
            "plain-old-master-serves-its-side",
            "plain-requests-in-another-order",
            "plain-wait-for-the-replica",
        ]
    );
}

/// One node that finds all its data again never stores what an earlier acquire left behind where a later one is believed:
/// here values are counted, and make no difference.
#[test]
fn on_one_node_without_late_requests_values_make_no_difference() {
    for more in ["", "renew_every = 1\n", "renew_every = 1\nhold_at_most = 2\n"] {
        let text = format!(
            "story = 'A restart.'\nlock = 'plain'\n[time]\nlease = 3\nwait_limit = 1\n{more}[clients]\ncount = 2\n\
             [cluster]\nfsync = 'always'\n[faults]\ncrash_node = 1\nrestart_node = 1\n"
        );
        let told = |rule| {
            let scenario = with(rule, read(&text));
            assert_eq!(scenario.config.has_values(), rule == ValueRule::PerAcquire);
            let outcome = exhaust(&scenario, Engine::Both);
            outcome.properties.iter().map(|found| (found.property, found.verdict)).collect::<Vec<_>>()
        };
        assert_eq!(told(ValueRule::PerAcquire), told(ValueRule::PerClient), "{more}");
    }
}

/// Numbers are used again, so that states stay finite without a bound on the acquires; and which number a value has makes no
/// difference, so that the normal form gives the smallest.
#[test]
fn acquires_without_bound_have_few_values() {
    let text = "story = 'One client, late requests.'\nlock = 'plain'\n[time]\nlease = 2\nhold_at_most = 1\nwait_limit = 0\n\
                [clients]\ncount = 1\n[network]\nmode = 'split'\ndelay = 1\n[protocol]\nresend = 'release'\n";
    let (normal, full) = (exhaust(&read(text), Engine::Native), every_world(&read(text), None));
    assert!(normal.complete);
    assert!(full.complete);
    assert!(normal.states < full.states, "{} of {}", normal.states, full.states);
}

/// What a kind stores is said by its facts: a key for something that it does not have is refused with its reason.
#[test]
fn a_kind_without_values_refuses_the_key() {
    for kind in LockKind::ALL {
        let text = format!(
            "story = 's'\nlock = '{}'\n[time]\nlease = 3\n[clients]\ncount = 2\n[protocol]\nvalue = 'per-client'\n",
            kind.name()
        );
        let refused = Scenario::parse("a-world", &text).err().map(|error| error.report(false));
        let Facts { value, .. } = kind.facts();
        match (value, refused) {
            (Support::Yes, None) => {}
            (Support::No { why }, Some(report)) => assert!(report.contains(why), "{report}"),
            (_, refused) => panic!("{}: {refused:?}", kind.name()),
        }
    }
}
