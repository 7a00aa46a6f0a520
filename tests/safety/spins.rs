//! How a client spins, and what a refused call leaves in its lock object. Worlds and histories that were worked out by hand
//! (docs/facts/family.md#the-back-off-of-a-spin-lock, #the-lease-of-a-refused-ask).

use lockstep_model::client::Phase;
use lockstep_model::trace::State;
use lockstep_model::{Action, Config, Reply};

use crate::by_hand::{history, last, last_answer, scenario_of};

const A: Action = Action::Acquire { client: 0, thread: 0 };
const B: Action = Action::Acquire { client: 1, thread: 0 };
const B_ASKS_AGAIN: Action = Action::WakeByTimer { client: 1, thread: 0 };
const A_RELEASES: Action = Action::Release { client: 0, thread: 0 };
const TICK: Action = Action::Tick;

/// Two clients that wait for three ticks, and ask every two.
fn spinners() -> Config {
    let text = "story = 'Spinners.'\nlock = 'spin'\n[time]\ntick_ms = 1000\nlease = 9\nwait_limit = 3\npoll_every = 2\n\
                [clients]\ncount = 2\n";
    scenario_of(text).config
}

fn b_after(actions: &[Action]) -> (Reply, Phase) {
    let history = history(&spinners(), actions);

    (last_answer(&history), last(&history).clients[1].threads[0].phase)
}

#[test]
fn a_client_sleeps_through_its_limit_and_gives_up_when_it_is_refused_after_that() {
    let asleep = [A, B, TICK, TICK, B_ASKS_AGAIN, TICK];
    assert_eq!(b_after(&asleep).1, Phase::Waiting, "its limit is due, and it sleeps");
    let refused = b_after(&[&asleep[..], &[TICK, B_ASKS_AGAIN]].concat());
    assert_eq!(refused, (Reply::Busy { remaining_ticks: Some(5) }, Phase::Idle));
}

#[test]
fn a_client_may_be_granted_the_lock_when_its_limit_is_over() {
    let late = [A, B, TICK, TICK, B_ASKS_AGAIN, TICK, A_RELEASES, TICK, B_ASKS_AGAIN];
    assert_eq!(b_after(&late), (Reply::Acquired, Phase::Idle));
}

const OTHER: Action = Action::Acquire { client: 0, thread: 1 };
const B_RELEASES: Action = Action::Release { client: 1, thread: 1 };
const B_NAMES_NONE: Action = Action::Acquire { client: 1, thread: 1 };

/// Two clients, whose threads share a lock object; the first thread of each names a lease of one tick.
fn shared(refused_lease: &str) -> Config {
    let text = format!(
        "story = 'A shared lock object.'\nlock = 'spin'\n[time]\ntick_ms = 1000\nlease = 3\nrenew_every = 1\n\
         named_lease = 1\nwait_limit = 0\n[clients]\ncount = 2\nthreads = 2\nlock_objects = 'shared'\n\
         [protocol]\nrefused_lease = '{refused_lease}'\n"
    );
    scenario_of(&text).config
}

#[test]
fn a_refused_call_leaves_its_lease_in_the_lock_object_unless_the_protocol_says_otherwise() {
    for (refused_lease, ttl_ms) in [("remembered", 1000), ("ignored", 3000)] {
        let history = history(&shared(refused_lease), &[B_NAMES_NONE, A, B_RELEASES, OTHER]);
        let state: &State = last(&history);
        let remembers = state.clients[0].remembers_lease;
        let holder = state.nodes[0].stored.holders.first().expect("it is stored");
        assert_eq!((holder.ttl_ms, remembers), (Some(ttl_ms), refused_lease == "remembered"));
        assert_eq!(state.clients[0].renewal_counts, [0, 1], "it is renewed, in time or not");
    }
}
