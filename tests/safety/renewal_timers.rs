//! Renewal timers that multiply: when one starts, when it ends, and which renewal comes too soon
//! (docs/facts/redisson.md#renewal-timers-multiply).

use lockstep_model::notes::Breach;
use lockstep_model::trace::{State, Trace};
use lockstep_model::{Action, Reply};
use lockstep_sim::recorder::TraceError;

use crate::by_hand::{record, scenario_of};

const ACQUIRE: Action = Action::Acquire { client: 0, thread: 0 };
const RELEASE: Action = Action::Release { client: 0, thread: 0 };
const RENEW: Action = Action::Renew { client: 0 };
const TICK: Action = Action::Tick;
const PAUSE: Action = Action::PauseClient { client: 0 };
const RESUME: Action = Action::Resume { client: 0 };
const VANISH: Action = Action::VanishKey { node: 0 };

/// One client that renews every two ticks.
fn history(timer: &str, actions: &[Action]) -> Result<Trace, TraceError> {
    let text = format!(
        "story = 'Renewal timers.'\nlock = 'reentrant'\n[time]\nlease = 6\nrenew_every = 2\nwait_limit = 0\n\
         [clients]\ncount = 1\n[protocol]\nrenewal_timer = '{timer}'\n[faults]\nvanish_key = 1\npause_client = 1\n"
    );
    record(&scenario_of(&text).config, actions)
}

fn after(timer: &str, actions: &[Action]) -> State {
    let trace = history(timer, actions).expect("each action can happen");
    trace.state_after(actions.len()).clone()
}

/// How long each timer of the client has left, in the order in which they fire.
fn timers(state: &State) -> Vec<u8> {
    let client = &state.clients[0];
    client.renewal_due_in.into_iter().chain(client.later_renewals_due_in.iter().copied()).collect()
}

fn answer(timer: &str, actions: &[Action]) -> Reply {
    history(timer, actions).expect("each action can happen").steps.last().expect("there are steps").answer
}

/// A lock that is taken, given back and taken again one tick later.
const AGAIN: [Action; 4] = [ACQUIRE, TICK, RELEASE, ACQUIRE];

#[test]
fn a_timer_starts_whenever_there_is_something_to_renew_again() {
    assert_eq!(timers(&after("multiplying", &AGAIN)), [1, 2]);
    assert_eq!(timers(&after("shared", &AGAIN)), [1], "the older timer renews for the new hold");
    assert_eq!(timers(&after("per-lock", &AGAIN)), [2], "the older timer ended with its hold");
    let more = [&AGAIN[..], &[RELEASE, ACQUIRE]].concat();
    assert_eq!(timers(&after("multiplying", &more)), [1, 2, 2]);
}

/// The first renewal of a timer is not too soon after the start of another one: only renewals count.
#[test]
fn a_renewal_comes_too_soon_if_another_timer_has_renewed_less_than_a_period_ago() {
    let first = [&AGAIN[..], &[TICK, RENEW]].concat();
    let state = after("multiplying", &first);
    assert!(state.breaches.is_empty());
    assert_eq!(timers(&state), [1, 2], "it is set again behind the other one");
    let second = [&first[..], &[TICK, RENEW]].concat();
    let state = after("multiplying", &second);
    assert_eq!(state.breaches, [Breach::RenewedTooSoon], "one tick later, of two");
    assert_eq!(timers(&state), [1, 2]);
    for timer in ["shared", "per-lock"] {
        assert!(history(timer, &second).is_err(), "{timer}: no timer is due");
    }
}

#[test]
fn one_timer_renews_at_the_end_of_each_period_and_never_too_soon() {
    let held = [ACQUIRE, TICK, TICK, RENEW, TICK, TICK, RENEW];
    for timer in ["multiplying", "shared", "per-lock"] {
        let state = after(timer, &held);
        assert_eq!((timers(&state), state.breaches), (vec![2], vec![]), "{timer}");
    }
}

#[test]
fn a_timer_ends_when_it_finds_nothing_to_renew() {
    let empty = [&AGAIN[..], &[RELEASE, TICK, RENEW]].concat();
    assert_eq!(answer("multiplying", &empty), Reply::NothingToRenew);
    assert_eq!(timers(&after("multiplying", &empty)), [1], "the other one is not due yet");
    let ended = [&empty[..], &[TICK, RENEW]].concat();
    assert!(timers(&after("multiplying", &ended)).is_empty(), "a period without any lock ends them all");
}

/// Redisson sets a timer again after the answer, and only while there is something to renew.
#[test]
fn a_timer_ends_with_a_renewal_that_leaves_nothing_to_renew() {
    let missed = [ACQUIRE, VANISH, TICK, TICK, RENEW];
    assert_eq!(answer("multiplying", &missed), Reply::RenewalMissed);
    assert!(timers(&after("multiplying", &missed)).is_empty());
    assert_eq!(timers(&after("shared", &missed)), [2], "the simplification: it goes on");
}

/// A process that stood still finds all its timers overdue, and the second of them renews at the instant of the first.
#[test]
fn overdue_timers_renew_one_after_the_other() {
    let paused = [&AGAIN[..], &[PAUSE, TICK, TICK, TICK, RESUME, RENEW]].concat();
    let state = after("multiplying", &paused);
    assert_eq!((timers(&state), state.breaches), (vec![0, 2], vec![]));
    let state = after("multiplying", &[&paused[..], &[RENEW]].concat());
    assert_eq!((timers(&state), state.breaches), (vec![2, 2], vec![Breach::RenewedTooSoon]));
}
