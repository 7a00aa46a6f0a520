//! What a client makes again because of an answer: a release that too few replicas have acknowledged, and a request that a server
//! refuses. Histories that are worked out by hand (docs/facts/redisson.md#undone-tries-lower-the-renewal-count,
//! #readonly-can-leave-an-orphan, #noreplicas-and-readonly-are-retried).

use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::client::{Phase, Slot};
use lockstep_model::notes::Breach;
use lockstep_model::trace::{RequestStage, RequestState, State, Trace};
use lockstep_model::{Action, Property, Reply, Verdict};
use lockstep_sim::check::{Engine, How, Limits, check_as};
use lockstep_sim::scenario::Scenario;

use crate::by_hand::{history, last, scenario_of};

const CALL: Slot = Slot::Call1;
const ACQUIRE: Action = Action::Acquire { client: 0, thread: 0 };
const RELEASE: Action = Action::Release { client: 0, thread: 0 };
const EXECUTE: Action = Action::Execute { client: 0, slot: CALL };
const TIME_OUT: Action = Action::Confirm { client: 0, thread: 0 };
const REPLICATE: Action = Action::Replicate { node: 1 };
const REGISTER: Action = Action::Register { client: 0, thread: 0 };
const UNREGISTER: Action = Action::Unregister { client: 0, thread: 0 };
const ANSWER: Action = Action::Answer { client: 0, slot: CALL };
const AGAIN: Action = Action::Resend { client: 0, slot: CALL };

/// One thread, a master and a replica, and a `WAIT` behind every call.
fn world(protocol: &str, rest: &str) -> Scenario {
    scenario_of(&format!(
        "story = 'Again.'\nlock = 'reentrant'\n[time]\nlease = 3\nrenew_every = 1\nwait_limit = 0\n[clients]\ncount = 1\n\
         max_holds = 2\nacquires = 2\n[cluster]\nreplicas = 1\nwait_for = 1\n[network]\nmode = 'split'\ndelay = 0\n\
         [protocol]\nresend = 'all'\n{protocol}\n{rest}"
    ))
}

fn acquire() -> [Action; 5] {
    [ACQUIRE, EXECUTE, REPLICATE, REGISTER, ANSWER]
}

fn played(protocol: &str, parts: &[&[Action]]) -> Trace {
    history(&world(&format!("wait_after = 'every-call'\n{protocol}"), "").config, &parts.concat())
}

/// What the watchdog renews, what the thread believes, and what the master stores.
fn counts(state: &State) -> (u8, u8, u8) {
    let stored = state.nodes[0].stored.holder().map_or(0, |hold| hold.count);
    (state.clients[0].renewal_counts[0], state.clients[0].threads[0].holds, stored)
}

fn call(state: &State) -> &RequestState {
    &state.clients[0].requests[0]
}

#[test]
fn a_release_that_too_few_replicas_have_is_made_again_and_lowers_the_renewal_count_each_time() {
    let twice: &[Action] = &[acquire(), acquire()].concat();
    let first = [RELEASE, EXECUTE, TIME_OUT, UNREGISTER, ANSWER];
    let trace = played("", &[twice, &first, &[AGAIN, EXECUTE, REPLICATE, UNREGISTER, ANSWER]]);
    let after_first = trace.state_after(twice.len() + first.len());
    assert_eq!(trace.steps[twice.len() + 4].answer, Reply::TooFewReplicas { replicas: 0 });
    assert_eq!((call(after_first).stage, call(after_first).repeats_left), (RequestStage::Lost, 0));
    assert_eq!(after_first.clients[0].threads[0].phase, Phase::Releasing, "its caller is told nothing");
    assert_eq!(counts(after_first), (1, 2, 1));
    // The receipt is found, and the node counts no hold less.
    assert_eq!(last(&trace).clients[0].threads[0].phase, Phase::Idle);
    assert_eq!(trace.steps.last().map(|step| step.answer), Some(Reply::StillHeld));
    assert_eq!(counts(last(&trace)), (0, 1, 1));
}

#[test]
fn a_release_that_was_made_again_as_often_as_may_be_fails_and_leaves_its_receipt() {
    let twice: &[Action] = &[acquire(), acquire()].concat();
    let fails = [EXECUTE, TIME_OUT, UNREGISTER, ANSWER];
    let config = world("wait_after = 'every-call'", "").config;
    let trace = history(&config, &[twice, &[RELEASE], &fails, &[AGAIN], &fails].concat());
    assert_eq!(last(&trace).clients[0].requests, []);
    assert_eq!(counts(last(&trace)), (0, 1, 1));
    assert_eq!(last(&trace).nodes[0].stored.receipts(&config).len(), 1);
}

#[test]
fn an_attempt_with_an_id_of_its_own_finds_no_receipt_and_drops_a_second_hold() {
    let twice: &[Action] = &[acquire(), acquire()].concat();
    let first = [RELEASE, EXECUTE, TIME_OUT, UNREGISTER, ANSWER];
    let trace = played("request_id = 'per-try'", &[twice, &first, &[AGAIN, EXECUTE]]);
    assert_eq!(trace.steps.last().map(|step| step.answer), Some(Reply::Released));
    assert_eq!(counts(last(&trace)), (1, 2, 0));
}

/// `WAIT` is for all that its master had written: a client that writes nothing waits for what was written before.
#[test]
fn a_refused_acquire_that_too_few_replicas_acknowledge_is_undone_too() {
    let config = world("wait_after = 'every-call'", "[faults]\nforce_release = 1").config;
    let is_behind = [&acquire()[..], &[RELEASE, EXECUTE]].concat();
    let trace = history(&config, &is_behind);
    assert_eq!(
        (call(last(&trace)).stage, call(last(&trace)).answer),
        (RequestStage::Confirming, Some(Reply::Released))
    );
    let answered = history(&config, &[&is_behind[..], &[REPLICATE]].concat());
    let told = call(last(&answered));
    assert_eq!(
        (told.stage, told.answer, told.acknowledged_by),
        (RequestStage::Executed, Some(Reply::Released), Some(1))
    );
}

#[test]
fn behind_acquires_only_no_release_is_made_again() {
    let trace = history(&world("", "").config, &[&acquire()[..], &[RELEASE, EXECUTE]].concat());
    assert_eq!((call(last(&trace)).stage, call(last(&trace)).asks_for), (RequestStage::Executed, None));
}

/// The master becomes a replica while an acquire is on its way there.
fn read_only(refused_call: &str) -> Vec<Action> {
    let handed_over = [Action::HandOver { node: 1 }, Action::Demote { node: 0 }, EXECUTE, ANSWER];
    let then = [Action::Discover { client: 0 }, AGAIN, EXECUTE, Action::Resync { node: 0 }, ANSWER];
    let then: &[Action] = if refused_call == "retry" { &then } else { &[] };
    [&[ACQUIRE][..], &handed_over, then].concat()
}

#[test]
fn who_is_told_of_read_only_may_have_been_granted_the_lock() {
    let of = |refused_call: &str| {
        let protocol = format!("wait_after = 'every-call'\nrefused_call = '{refused_call}'");
        history(&world(&protocol, "[faults]\nhand_over = 1").config, &read_only(refused_call))
    };
    let retried = of("retry");
    let refused = retried.state_after(5);
    assert_eq!(retried.steps[4].answer, Reply::ReadOnly);
    assert_eq!((call(refused).stage, call(refused).has_failed), (RequestStage::Lost, true));
    assert_eq!(retried.steps.last().map(|step| step.answer), Some(Reply::Acknowledged { replicas: 1 }));
    let end = last(&retried);
    assert!(!end.clients[0].threads[0].believes() && end.clients[0].requests.is_empty());
    assert_eq!(end.clients[0].renewal_counts, [0], "nothing renews it");
    assert_eq!(end.nodes[1].stored.holder().map(|hold| hold.count), Some(1));
    let thrown = of("throw");
    assert!(last(&thrown).clients[0].requests.is_empty());
    assert!(last(&thrown).nodes.iter().all(|node| node.stored.holder().is_none()));
}

/// The lock is taken also where too few replicas have it, and nobody is told where the thread has died meanwhile.
#[test]
fn a_refusal_is_untrue_where_a_living_caller_is_told_of_it_and_a_node_has_its_grant() {
    let breaches = |faults: &str, then: &[Action]| {
        let text =
            world("wait_after = 'every-call'\nrefused_call = 'retry'", &format!("[faults]\nhand_over = 1\n{faults}"));
        let refused = &read_only("retry")[..7];
        last(&history(&text.config, &[refused, then].concat())).breaches.clone()
    };
    let dies = Action::CrashThread { client: 0, thread: 0 };
    assert_eq!(breaches("", &[EXECUTE, TIME_OUT, ANSWER]), [Breach::RefusedAndGranted]);
    assert_eq!(breaches("", &[EXECUTE, Action::Resync { node: 0 }, ANSWER]), [Breach::RefusedAndGranted]);
    assert_eq!(breaches("crash_thread = 1", &[EXECUTE, dies, Action::Resync { node: 0 }, ANSWER]), []);
}

/// After `NOREPLICAS` a later success is told.
#[test]
fn who_was_refused_for_lack_of_replicas_is_told_of_the_grant_that_follows() {
    let cluster = "[faults]\nbreak_link = 1";
    let text = world("refused_call = 'retry'", cluster);
    let mut config = text.config;
    config.cluster.min_replicas = 1;
    let breaks = Action::BreakLink { node: 1 };
    let trace = history(&config, &[breaks, ACQUIRE, EXECUTE, ANSWER, AGAIN, Action::Resync { node: 1 }, EXECUTE]);
    assert_eq!(trace.steps[3].answer, Reply::NotEnoughReplicas);
    let granted = call(last(&trace));
    assert_eq!((granted.answer, granted.has_failed), (Some(Reply::Acquired), false));
}

/// An attempt that was refused is used up as one is that was lost. A caller whose last attempt is lost gives up, and time goes on:
/// the lease of what it was granted ends.
#[test]
fn who_has_used_up_its_attempts_by_a_refusal_gives_up_when_the_last_one_is_lost() {
    let scenario = scenario_of(
        "story = 'Given up.'\nlock = 'reentrant'\n[time]\nlease = 3\nhold_at_most = 2\nwait_limit = 0\nanswer_within = 1\n\
         [clients]\ncount = 1\nacquires = 1\n[cluster]\nreplicas = 1\nlag = 0\nmin_replicas = 1\n[network]\nmode = 'split'\n\
         delay = 0\n[protocol]\nresend = 'all'\nrefused_call = 'retry'\n[faults]\nbreak_link = 1\nlose_reply = 1",
    );
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits::none(&stop, &progress);
    let outcome = check_as(&scenario, How::by(Engine::Native), &limits).expect("it is small");
    for property in [Property::NoOrphan, Property::Obtainable] {
        let found = outcome.properties.iter().find(|found| found.property == property).expect("it is judged");
        assert_eq!(found.verdict, Verdict::Holds, "{property}");
    }
}
