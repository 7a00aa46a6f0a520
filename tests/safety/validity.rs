//! Callers that look at their own clock (`stops_at = "validity"`): histories that are worked out by hand
//! (docs/facts/redis.md#a-caller-that-looks-at-its-clock).

use lockstep_model::client::Slot;
use lockstep_model::trace::{State, ThreadState};
use lockstep_model::{Action, Config, Happening, Reply};
use lockstep_sim::scenario::Scenario;

use crate::by_hand::{history, is_refused, last, last_answer, scenario_of};

const ACQUIRE: Action = Action::Acquire { client: 0, thread: 0 };
const RELEASE: Action = Action::Release { client: 0, thread: 0 };
const RENEW: Action = Action::Renew { client: 0 };
const PAUSE: Action = Action::PauseClient { client: 0 };
const RESUME: Action = Action::Resume { client: 0 };
const EXECUTE: Action = Action::Execute { client: 0, slot: Slot::Call1 };
const ANSWER: Action = Action::Answer { client: 0, slot: Slot::Call1 };
const TICK: Action = Action::Tick;

/// A lease of three ticks.
fn world(lock: &str, time: &str, clients: &str, rest: &str) -> Config {
    let text = format!(
        "story = 'Looks at its clock.'\nlock = {lock}\n[time]\nlease = 3\nwait_limit = 0\n{time}\n[clients]\ncount = 2\n\
         stops_at = 'validity'\n{clients}\n{rest}"
    );
    scenario_of(&text).config
}

fn a(state: &State) -> &ThreadState {
    &state.clients[0].threads[0]
}

#[test]
fn a_caller_stops_when_its_lease_is_over_and_releases_before_time_passes() {
    let config = world("'plain'", "", "", "");
    let trace = history(&config, &[ACQUIRE, TICK, TICK]);
    assert_eq!((a(last(&trace)).valid_left, a(last(&trace)).believes()), (Some(1), true));
    let trace = history(&config, &[ACQUIRE, TICK, TICK, TICK]);
    assert_eq!((a(last(&trace)).has_stopped, a(last(&trace)).believes()), (true, false));
    assert!(trace.steps.last().expect("it ticks").happenings.contains(&Happening::ValidityOver));
    assert!(is_refused(&config, &[ACQUIRE, TICK, TICK, TICK, TICK]), "it releases first");
    let trace = history(&config, &[ACQUIRE, TICK, TICK, TICK, RELEASE]);
    assert_eq!((last_answer(&trace), a(last(&trace)).holds, a(last(&trace)).valid_left), (Reply::Released, 0, None));
}

#[test]
fn a_paused_caller_believes_until_it_looks_again() {
    let config = world("'plain'", "", "", "[faults]\npause_client = 1");
    let ticks = [TICK; 4];
    let trace = history(&config, &[&[ACQUIRE, PAUSE], &ticks[..]].concat());
    assert!(a(last(&trace)).believes(), "it looks at nothing");
    let trace = history(&config, &[&[ACQUIRE, PAUSE], &ticks[..], &[RESUME]].concat());
    assert!(a(last(&trace)).has_stopped && !a(last(&trace)).believes());
    let in_time = history(&config, &[ACQUIRE, PAUSE, TICK, TICK, RESUME]);
    assert_eq!((a(last(&in_time)).valid_left, a(last(&in_time)).believes()), (Some(1), true));
}

#[test]
fn a_renewal_makes_it_valid_for_a_whole_lease_and_none_begins_again_after_a_stop() {
    let config = world("'reentrant'", "renew_every = 1", "", "[faults]\npause_client = 1");
    let trace = history(&config, &[ACQUIRE, TICK, RENEW]);
    assert_eq!(a(last(&trace)).valid_left, Some(3));
    // Its process stood still, and the lock is still there at the instant at which it runs again.
    let stopped = history(&config, &[ACQUIRE, PAUSE, TICK, TICK, TICK, RESUME, RENEW]);
    assert_eq!((last_answer(&stopped), a(last(&stopped)).has_stopped), (Reply::Renewed, true));
}

#[test]
fn each_hold_of_a_caller_that_has_stopped_is_released() {
    let config = world("'reentrant'", "", "max_holds = 2", "");
    let both = [ACQUIRE, TICK, ACQUIRE];
    let trace = history(&config, &both);
    assert_eq!((a(last(&trace)).holds, a(last(&trace)).valid_left), (2, Some(3)), "the second one is a whole lease");
    let stops = [&both[..], &[TICK, TICK, TICK, RELEASE]].concat();
    let trace = history(&config, &stops);
    let between = a(last(&trace));
    assert_eq!((last_answer(&trace), between.holds, between.believes()), (Reply::StillHeld, 1, false));
    assert!(is_refused(&config, &[&stops[..], &[TICK]].concat()));
    let trace = history(&config, &[&stops[..], &[RELEASE]].concat());
    assert_eq!((last_answer(&trace), a(last(&trace)).holds), (Reply::Released, 0));
}

#[test]
fn a_lease_is_counted_from_the_ask_and_a_late_answer_finds_it_over() {
    let config = world("'plain'", "answer_within = 4", "", "[network]\nmode = 'split'\ndelay = 3");
    let in_time = history(&config, &[ACQUIRE, TICK, EXECUTE, TICK, ANSWER]);
    assert_eq!((a(last(&in_time)).valid_left, a(last(&in_time)).believes()), (Some(1), true));
    let late = history(&config, &[ACQUIRE, EXECUTE, TICK, TICK, TICK, ANSWER]);
    assert_eq!((a(last(&late)).holds, a(last(&late)).believes()), (1, false));
    assert!(is_refused(&config, &[ACQUIRE, EXECUTE, TICK, TICK, TICK, ANSWER, TICK]), "it releases first");
    let refused = history(&config, &[ACQUIRE, EXECUTE, Action::Acquire { client: 1, thread: 0 }]);
    let b = Action::Execute { client: 1, slot: Slot::Call1 };
    let told = Action::Answer { client: 1, slot: Slot::Call1 };
    assert_eq!(last(&refused).clients[1].threads[0].valid_left, Some(3), "it counts from its ask");
    let refused = history(&config, &[ACQUIRE, EXECUTE, Action::Acquire { client: 1, thread: 0 }, b, told]);
    assert_eq!(last(&refused).clients[1].threads[0].valid_left, None, "and was granted nothing");
}

#[test]
fn a_renewal_is_counted_from_when_it_was_sent() {
    let rest = "[network]\nmode = 'split'\ndelay = 2";
    let config = world("'reentrant'", "renew_every = 1\nanswer_within = 4", "acquires = 1", rest);
    let (executed, answered) =
        (Action::Execute { client: 0, slot: Slot::Renewal }, Action::Answer { client: 0, slot: Slot::Renewal });
    let granted = [ACQUIRE, EXECUTE, Action::Register { client: 0, thread: 0 }, ANSWER];
    let renewed = [&granted[..], &[TICK, RENEW, executed, TICK, answered]].concat();
    let trace = history(&config, &renewed);
    assert_eq!(a(last(&trace)).valid_left, Some(2));
}

#[test]
fn who_has_stopped_enters_no_more() {
    let config = world("'reentrant'", "", "max_holds = 2\nacquires = 3", "");
    assert!(is_refused(&config, &[ACQUIRE, TICK, TICK, TICK, ACQUIRE]));
}

#[test]
fn a_renewal_that_is_answered_at_the_last_moment_counts() {
    let config = world("'plain'", "renew_every = 1", "acquires = 1", "[network]\nmode = 'split'\ndelay = 1");
    let (executed, answered) =
        (Action::Execute { client: 0, slot: Slot::Renewal }, Action::Answer { client: 0, slot: Slot::Renewal });
    let granted = [ACQUIRE, EXECUTE, Action::Register { client: 0, thread: 0 }, ANSWER];
    let trace = history(&config, &[&granted[..], &[TICK, RENEW, executed, TICK, answered]].concat());
    assert_eq!(a(last(&trace)).valid_left, Some(2), "answer_within is one tick");
}

/// Each of two locks in one renewal, and neither if its own lock is gone.
#[test]
fn a_renewal_of_several_locks_extends_each_that_is_still_held() {
    let text = "story = 'Two locks.'\nlock = 'reentrant'\n[time]\nlease = 3\nrenew_every = 1\nwait_limit = 0\n[clients]\ncount = 1\n\
                threads = 2\nnames = 2\nstops_at = 'validity'\n[faults]\noverwrite_key = 1\n";
    let config = scenario_of(text).config;
    let other = Action::Acquire { client: 0, thread: 1 };
    let trace = history(&config, &[ACQUIRE, other, TICK, RENEW]);
    let left = |state: &State| state.clients[0].threads.iter().map(|thread| thread.valid_left).collect::<Vec<_>>();
    assert_eq!(left(last(&trace)), [Some(3), Some(3)]);
    let gone = Action::OverwriteKey { node: 0, name: 1 };
    let trace = history(&config, &[ACQUIRE, other, gone, TICK, RENEW]);
    assert_eq!(left(last(&trace)), [Some(2), Some(2)], "the script ends with an error");
}

/// Each side is valid for a lease from its own grant; one that stops leaves the other as it is.
#[test]
fn each_side_of_a_read_write_lock_counts_its_own_lease() {
    let config = world("'read-write'", "", "threads = 2", "");
    let read = Action::Acquire { client: 0, thread: 1 };
    let trace = history(&config, &[ACQUIRE, TICK, read, TICK, TICK]);
    let [write, read] = [0, 1].map(|thread| &last(&trace).clients[0].threads[thread]);
    assert!(write.has_stopped && !write.believes());
    assert_eq!((read.valid_left, read.believes()), (Some(1), true));
    assert!(is_refused(&config, &[ACQUIRE, TICK, Action::Acquire { client: 0, thread: 1 }, TICK, TICK, TICK]));
}

/// Each part is valid from its own ask, and anew when the lease at the end is set. A part that is over in the call stops nobody in it: its
/// caller looks when it has all.
#[test]
fn each_part_of_a_multi_lock_counts_its_own_lease_and_a_call_is_not_left_half_way() {
    let config = world("'multi'", "", "", "[faults]\npause_client = 1");
    let next = Action::NextPart { client: 0, thread: 1 };
    let [set_first, set_second] = [0, 1].map(|thread| Action::SetTtl { client: 0, thread });
    let left = |state: &State| state.clients[0].threads.iter().map(|thread| thread.valid_left).collect::<Vec<_>>();
    let trace = history(&config, &[ACQUIRE, next, set_first, set_second, TICK]);
    assert_eq!(left(last(&trace)), [Some(2), Some(2)]);
    let late = [ACQUIRE, PAUSE, TICK, TICK, TICK, RESUME, next];
    let trace = history(&config, &late);
    assert!(a(last(&trace)).has_stopped, "its first lease is over, and the call goes on");
    let trace = history(&config, &[&late[..], &[set_first, set_second]].concat());
    assert!(a(last(&trace)).has_stopped, "what has stopped does not begin again");
    assert!(is_refused(&config, &[&late[..], &[set_first, set_second, TICK]].concat()), "it releases first");
}

/// What a call remembers of interrupts, a wall clock that jumps, and the clock that a caller looks at have nothing in common.
#[test]
fn a_caller_that_looks_may_swallow_interrupts_and_its_wall_clock_may_jump() {
    let swallows = "story = 'Looks.'\nlock = 'reentrant'\n[time]\nlease = 3\n[clients]\ncount = 2\nstops_at = 'validity'\n\
                    interrupted_wait = 'swallow'\n[faults]\ninterrupt = 1";
    let config = scenario_of(swallows).config;
    let [b_asks, b_subscribes, b_asks_again, b_interrupted] = [
        Action::Acquire { client: 1, thread: 0 },
        Action::Subscribe { client: 1, thread: 0 },
        Action::SecondAsk { client: 1, thread: 0 },
        Action::Interrupt { client: 1, thread: 0 },
    ];
    let trace = history(&config, &[ACQUIRE, TICK, b_asks, b_subscribes, b_asks_again, b_interrupted, TICK]);
    assert_eq!((a(last(&trace)).valid_left, a(last(&trace)).believes()), (Some(1), true));
    assert_eq!(last(&trace).clients[1].threads[0].valid_left, None, "it was refused");
    let jumps = "story = 'Looks.'\nlock = 'reentrant'\n[time]\nlease = 3\nwait_limit = 4\njump = 4\n[clients]\ncount = 2\n\
                 stops_at = 'validity'\n[faults]\nclient_clock_jump = 1";
    let config = scenario_of(jumps).config;
    let jump = Action::ClientClockJump { client: 1 };
    let b_asks = Action::Acquire { client: 1, thread: 0 };
    let trace = history(&config, &[ACQUIRE, TICK, b_asks, jump]);
    let b = &last(&trace).clients[1].threads[0];
    assert_eq!((a(last(&trace)).valid_left, b.wait_left, b.limit_left), (Some(2), Some(0), Some(4)));
}

#[test]
fn what_is_not_modelled_beside_a_look_at_the_clock_is_refused() {
    let base = |time: &str, clients: &str, rest: &str| {
        format!(
            "story = 'x'\nlock = 'reentrant'\n[time]\nlease = 3\nrenew_every = 1\n{time}\n[clients]\ncount = 2\nstops_at = 'validity'\n\
             {clients}\n{rest}"
        )
    };
    for (key, text) in [
        ("hold_for_ever", base("", "hold_for_ever = true", "")),
        ("named_lease", base("named_lease = 2", "threads = 2", "")),
        ("reentry_lease", base("reentry_lease = 2", "max_holds = 2", "")),
    ] {
        let refused = Scenario::parse("by-hand", &text).expect_err(key);
        let told = refused.report(false);
        assert!(
            refused.is_not_modelled() && told.contains(&format!("together with {key} is not modelled yet")),
            "{told}"
        );
    }
    let text = "story = 'x'\nlock = 'reentrant'\n[time]\nlease = 3\njump = -4\n[clients]\ncount = 2\n[faults]\nclock_jump = 1\npause_node = 1\n";
    let refused = Scenario::parse("by-hand", text).expect_err("a server that stands still deletes nothing");
    assert!(
        refused.is_not_modelled() && refused.report(false).contains("may be there again"),
        "{}",
        refused.report(false)
    );
}
