//! What an interrupt of `lock()` or `unlock()` changes: histories that are worked out by hand
//! (docs/facts/redisson.md#an-interrupted-acquire-is-renewed-for-ever, #an-interrupted-release-that-is-lost).

use lockstep_model::Action;
use lockstep_model::client::Slot;
use lockstep_model::trace::{About, State};
use lockstep_sim::recorder;
use lockstep_sim::scenario::Scenario;

const CALL: Slot = Slot::Call1;
const EXECUTE: Action = Action::Execute { client: 0, slot: CALL };
const ACQUIRE: Action = Action::Acquire { client: 0, thread: 0 };
const REGISTER: Action = Action::Register { client: 0, thread: 0 };
const ANSWER: Action = Action::Answer { client: 0, slot: CALL };
const EXECUTE_LATE: Action = Action::Execute { client: 0, slot: Slot::Late };
const ANSWER_LATE: Action = Action::Answer { client: 0, slot: Slot::Late };
const RELEASE: Action = Action::Release { client: 0, thread: 0 };
const INTERRUPT: Action = Action::Interrupt { client: 0, thread: 0 };
/// A request is executed, its reply is lost, its caller is interrupted, and the process sends it again.
const SENT_AGAIN: [Action; 6] = [
    EXECUTE,
    Action::LoseReply { client: 0, slot: CALL },
    INTERRUPT,
    Action::Tick,
    Action::Resend { client: 0, slot: Slot::Late },
    EXECUTE_LATE,
];

/// A acquires, calls `unlock()`, and then this happens; the state at the end.
fn after(protocol: &str, then: &[Action]) -> State {
    at_the_end(protocol, &[&[ACQUIRE, EXECUTE, REGISTER, ANSWER, RELEASE], then].concat())
}

/// The state after these.
fn at_the_end(protocol: &str, actions: &[Action]) -> State {
    in_time("lease = 3\nrenew_every = 2", protocol, actions)
}

fn in_time(time: &str, protocol: &str, actions: &[Action]) -> State {
    in_world(time, protocol, "", actions)
}

fn in_world(time: &str, protocol: &str, fault: &str, actions: &[Action]) -> State {
    let text = format!(
        "story = 'An interrupt.'\nlock = 'reentrant'\n[time]\n{time}\nwait_limit = 0\n\
         [clients]\ncount = 1\n[network]\nmode = 'split'\n[protocol]\n{protocol}\n\
         [faults]\ninterrupt = 1\nlose_request = 1\nlose_reply = 1\n{fault}\n"
    );
    let scenario = Scenario::parse("interrupted", &text).unwrap_or_else(|error| panic!("{}", error.report(false)));
    let trace = recorder::record("by-hand", "", &scenario.config, About::Drawn, actions, "");
    trace.expect("each action can happen").state_after(actions.len()).clone()
}

fn renewed(state: &State) -> u8 {
    state.clients[0].renewal_counts.iter().sum()
}

/// The hold count that the node stores.
fn stored(state: &State) -> u8 {
    state.nodes[0].stored.holder().map_or(0, |hold| hold.count)
}

/// Nobody believes that he holds, and the watchdog renews.
#[test]
fn an_interrupted_acquire_that_is_granted_is_renewed() {
    for then in [[INTERRUPT, EXECUTE_LATE, ANSWER_LATE], [EXECUTE, INTERRUPT, ANSWER_LATE]] {
        let granted = at_the_end("", &[&[ACQUIRE], &then[..]].concat());
        assert!(!granted.clients[0].threads[0].believes());
        assert_eq!((renewed(&granted), stored(&granted)), (1, 1));
    }
}

/// A lock and unlock of the same thread leaves the count at one, and the key stays.
#[test]
fn the_next_release_of_the_thread_does_not_free_what_an_interrupted_acquire_has_taken() {
    let next =
        [ACQUIRE, EXECUTE, REGISTER, ANSWER, RELEASE, EXECUTE, Action::Unregister { client: 0, thread: 0 }, ANSWER];
    let interrupted = [ACQUIRE, INTERRUPT, EXECUTE_LATE, ANSWER_LATE];
    let released = at_the_end("", &[&interrupted[..], &next].concat());
    assert!(!released.clients[0].threads[0].believes());
    assert_eq!((renewed(&released), stored(&released)), (1, 1));
}

/// Each `unlock()` takes one entry out of the renewal table, also one that finds no hold.
#[test]
fn a_release_that_finds_no_hold_leaves_the_entry_of_an_interrupted_acquire() {
    let unregister = Action::Unregister { client: 0, thread: 0 };
    let interrupted = [ACQUIRE, INTERRUPT, EXECUTE_LATE, ANSWER_LATE];
    let lost =
        [ACQUIRE, EXECUTE, REGISTER, ANSWER, Action::VanishKey { node: 0 }, RELEASE, EXECUTE, unregister, ANSWER];
    let actions = [&interrupted[..], &lost].concat();
    let released = in_world("lease = 3\nrenew_every = 2", "receipts = false", "vanish_key = 1", &actions);
    assert_eq!((renewed(&released), stored(&released)), (1, 0));
}

#[test]
fn an_interrupted_acquire_whose_reply_comes_too_late_is_not_renewed() {
    let late = Action::Abandon { client: 0, slot: Slot::Late };
    let lose_reply = Action::LoseReply { client: 0, slot: CALL };
    let unheard = at_the_end("", &[ACQUIRE, EXECUTE, lose_reply, INTERRUPT, Action::Tick, late]);
    assert_eq!((renewed(&unheard), stored(&unheard)), (0, 1));
    assert_eq!(unheard.clients[0].requests, []);
}

#[test]
fn an_interrupted_acquire_is_not_renewed_where_the_process_forgets_the_call() {
    let kept = at_the_end("interrupted_acquire = 'keep'", &[ACQUIRE, INTERRUPT, EXECUTE_LATE]);
    assert_eq!((renewed(&kept), stored(&kept)), (0, 1));
}

/// The caller gives up its hold at once, the process at the timeout.
#[test]
fn the_hold_of_an_interrupted_release_that_is_lost_is_renewed_until_no_answer_is_expected() {
    let lost = [Action::LoseRequest { client: 0, slot: CALL }, INTERRUPT, Action::Tick];
    let waiting = after("", &lost);
    assert!(!waiting.clients[0].threads[0].believes());
    assert_eq!(renewed(&waiting), 1);
    let late = Action::Abandon { client: 0, slot: Slot::Late };
    assert_eq!(renewed(&after("", &[&lost[..], &[late]].concat())), 0);
}

#[test]
fn the_process_hears_the_answer_to_an_interrupted_release() {
    let late = Slot::Late;
    let [execute, answer] = [Action::Execute { client: 0, slot: late }, Action::Answer { client: 0, slot: late }];
    assert_eq!(renewed(&after("", &[INTERRUPT, execute])), 1);
    let heard = after("", &[INTERRUPT, execute, answer]);
    assert_eq!(renewed(&heard), 0);
    assert_eq!(heard.clients[0].requests, []);
    // It was executed before the interrupt.
    assert_eq!(renewed(&after("", &[EXECUTE, INTERRUPT, answer])), 0);
}

/// Redisson 3.15.6 was seen to do so.
#[test]
fn an_interrupted_release_is_sent_again_like_any_other() {
    assert_eq!(renewed(&after("resend = 'release'", &SENT_AGAIN)), 1);
    assert_eq!(renewed(&after("resend = 'release'", &[&SENT_AGAIN[..], &[ANSWER_LATE]].concat())), 0);
}

/// Also where its call names a lease, and no watchdog hears of the grant (Redisson 3.15.6, 4.3.1 and 4.7.0 were seen to do so).
#[test]
fn an_interrupted_acquire_is_sent_again_like_any_other() {
    let sent_again = [&[ACQUIRE], &SENT_AGAIN[..], &[ANSWER_LATE]].concat();
    let named = in_time("lease = 3", "resend = 'all'", &sent_again);
    assert_eq!((stored(&named), renewed(&named)), (2, 0));
    assert_eq!(named.clients[0].requests, []);
    let renewed_twice = at_the_end("resend = 'all'", &sent_again);
    assert_eq!((stored(&renewed_twice), renewed(&renewed_twice)), (2, 1));
}

/// The thread does something else by then: what is heard of the old release does not concern its new hold.
#[test]
fn an_interrupted_release_that_is_abandoned_leaves_the_next_hold_alone() {
    let again = [
        Action::LoseRequest { client: 0, slot: CALL },
        INTERRUPT,
        Action::Acquire { client: 0, thread: 0 },
        EXECUTE,
        Action::Register { client: 0, thread: 0 },
        Action::Answer { client: 0, slot: CALL },
        Action::Tick,
        RELEASE,
        Action::Abandon { client: 0, slot: Slot::Late },
    ];
    let state = after("", &again);
    assert_eq!(renewed(&state), 1);
    assert_eq!(state.clients[0].threads[0].holds, 1, "its second release is still in flight");
}
