//! Writes that arrive at the resource late: after the release, the death of their sender, or the next holder's.

use lockstep_model::action::ActionKind;
use lockstep_model::notes::Breach;
use lockstep_model::{Action, Config, Reply};
use lockstep_sim::recorder::TraceError;

use crate::by_hand::{record, scenario_of};

const A: u8 = 0;
const B: u8 = 1;

const fn acquire(client: u8) -> Action {
    Action::Acquire { client, thread: 0 }
}

const fn work(client: u8) -> Action {
    Action::Work { client, thread: 0 }
}

const fn arrive(client: u8) -> Action {
    Action::Arrive { client, thread: 0 }
}

const fn release(client: u8) -> Action {
    Action::Release { client, thread: 0 }
}

/// Two clients, one node, and a resource, with these lines.
fn world(resource: &str) -> Config {
    let text = format!(
        "story = 'Late writes.'\nlock = 'reentrant'\n[time]\nlease = 2\nwait_limit = 0\n[clients]\ncount = 2\n\
         [faults]\ncrash_client = 1\ncrash_thread = 1\n[resource]\n{resource}\n"
    );
    scenario_of(&text).config
}

/// The answer to the last action, and the rules that it broke.
fn last(resource: &str, actions: &[Action]) -> (Reply, Vec<Breach>) {
    let trace = record(&world(resource), actions).expect("each action can happen");
    let step = trace.steps.last().expect("there are steps");
    (step.answer, step.state.breaches.clone())
}

const FAR: &str = "delay = 'any'";
const FAR_AND_FENCED: &str = "delay = 'any'\nfencing = 'ideal'";

#[test]
fn a_write_arrives_after_the_release_and_after_the_next_holders() {
    let actions = [acquire(A), work(A), release(A), acquire(B), work(B), arrive(B), arrive(A)];
    assert_eq!(last(FAR, &actions), (Reply::Accepted, vec![Breach::EffectOutOfOrder]));
    assert_eq!(last(FAR_AND_FENCED, &actions), (Reply::Rejected, vec![]));
    let in_order = [acquire(A), work(A), release(A), acquire(B), work(B), arrive(A), arrive(B)];
    assert_eq!(last(FAR, &in_order), (Reply::Accepted, vec![]));
}

#[test]
fn a_write_arrives_after_the_death_of_its_client_or_thread() {
    for death in [Action::CrashClient { client: A }, Action::CrashThread { client: A, thread: 0 }] {
        let (tick, stale) = (Action::Tick, (Reply::Accepted, vec![Breach::EffectOutOfOrder]));
        let next_holder = [tick, tick, tick, acquire(B), work(B), arrive(B), arrive(A)];
        let actions = [&[acquire(A), work(A), death][..], &next_holder].concat();
        assert_eq!(last(FAR, &actions), stale, "{death:?}");
    }
}

/// One write under way for each thread is enough: the second one does not wait for it.
#[test]
fn a_later_write_of_the_same_thread_overtakes() {
    let actions = [acquire(A), work(A), release(A), acquire(A), work(A)];
    assert_eq!(last(FAR, &actions), (Reply::Accepted, vec![]));
    let actions = [&actions[..], &[arrive(A)]].concat();
    assert_eq!(last(FAR, &actions), (Reply::Accepted, vec![Breach::EffectOutOfOrder]));
    assert_eq!(last(FAR_AND_FENCED, &actions), (Reply::Rejected, vec![]));
}

#[test]
fn a_write_is_sent_once_and_arrives_once() {
    let config = world(FAR);
    assert_eq!(last(FAR, &[acquire(A), work(A)]), (Reply::Done, vec![]));
    let twice = record(&config, &[acquire(A), work(A), work(A)]);
    assert_eq!(twice.err(), Some(TraceError::NotEnabled { step: 3, action: work(A) }));
    let again = record(&config, &[acquire(A), work(A), arrive(A), arrive(A)]);
    assert_eq!(again.err(), Some(TraceError::NotEnabled { step: 4, action: arrive(A) }));
}

#[test]
fn a_late_write_may_be_lost_and_a_near_resource_has_none() {
    let far = world(FAR);
    assert!(Action::all(&far).contains(&arrive(A)));
    assert!(!ActionKind::Arrive.is_fair(&far), "it need not arrive");
    let near = world("delay = 'none'");
    assert!(!Action::all(&near).iter().any(|action| action.kind() == ActionKind::Arrive));
    assert_eq!(near.resource, world("").resource, "it is the default");
}
