//! Several locks, each with a name of its own: who keeps whom out, what one renewal carries, and what a key of a wrong type does
//! (docs/facts/redisson.md#several-locks-in-one-renewal, #a-key-of-a-wrong-type).

use lockstep_model::notes::Breach;
use lockstep_model::trace::{State, Trace};
use lockstep_model::{Action, Happening, Reply};
use lockstep_sim::scenario::Scenario;

use crate::by_hand::{record, scenario_of};

const A: u8 = 0;
const B: u8 = 1;
const TICK: Action = Action::Tick;
const RENEW: Action = Action::Renew { client: A };

/// The thread of a client that uses this lock takes it.
const fn acquire(client: u8, lock: u8) -> Action {
    Action::Acquire { client, thread: lock }
}

const fn release(client: u8, lock: u8) -> Action {
    Action::Release { client, thread: lock }
}

const fn overwrite(lock: u8) -> Action {
    Action::OverwriteKey { node: 0, name: lock }
}

/// Two clients and two locks. `protocol`: what differs from Redisson 4.7.
fn history(protocol: &str, actions: &[Action]) -> Trace {
    let text = format!(
        "story = 'Two locks.'\nlock = 'reentrant'\n[time]\nlease = 3\nrenew_every = 1\nwait_limit = 0\n\
         [clients]\ncount = 2\nthreads = 2\nnames = 2\n[protocol]\n{protocol}\n[faults]\noverwrite_key = 2\npause_client = 1\n"
    );
    record(&scenario_of(&text).config, actions).expect("each action can happen")
}

fn after(protocol: &str, actions: &[Action]) -> State {
    history(protocol, actions).state_after(actions.len()).clone()
}

fn answer(protocol: &str, actions: &[Action]) -> Reply {
    history(protocol, actions).steps.last().expect("there are steps").answer
}

/// The holders that the node stores, and the ticks that each has left.
fn stored(state: &State) -> Vec<(&str, Option<u64>)> {
    let ticks = |ms: u64| ms / 10_000;
    state.nodes[0].stored.holders.iter().map(|hold| (hold.holder.as_str(), hold.ttl_ms.map(ticks))).collect()
}

const BOTH: [Action; 2] = [acquire(A, 0), acquire(A, 1)];

#[test]
fn a_lock_keeps_out_who_asks_for_the_same_name_and_nobody_else() {
    let state = after("", &[acquire(A, 0), acquire(B, 1)]);
    assert_eq!(stored(&state), [("A:1", Some(3)), ("B:2", Some(3))]);
    assert_eq!(answer("", &[acquire(A, 0), acquire(B, 0)]), Reply::Busy { remaining_ticks: Some(3) });
    assert_eq!(stored(&after("", &[acquire(A, 0), acquire(B, 1), release(A, 0)])), [("B:2", Some(3))]);
}

#[test]
fn one_renewal_carries_both_locks() {
    let renewed = [&BOTH[..], &[TICK, RENEW]].concat();
    assert_eq!(answer("", &renewed), Reply::Renewed);
    assert_eq!(stored(&after("", &renewed)), [("A:1", Some(3)), ("A:2", Some(3))]);
    assert_eq!(after("", &renewed).clients[0].renewal_due_in, Some(1));
}

/// The next renewal is sent at the same instant, and time waits for it.
#[test]
fn what_does_not_fit_into_one_renewal_is_sent_in_the_next() {
    let first = [&BOTH[..], &[TICK, RENEW]].concat();
    let state = after("renewal_batch = 1", &first);
    assert_eq!(stored(&state), [("A:1", Some(3)), ("A:2", Some(2))]);
    assert_eq!((state.clients[0].renewal_first, state.clients[0].renewal_due_in), (Some(1), Some(0)));
    let second = [&first[..], &[RENEW]].concat();
    let state = after("renewal_batch = 1", &second);
    assert_eq!(stored(&state), [("A:1", Some(3)), ("A:2", Some(3))]);
    assert_eq!((state.clients[0].renewal_first, state.clients[0].renewal_due_in), (Some(0), Some(1)));
}

#[test]
fn a_round_ends_when_the_rest_of_it_was_released() {
    let rest = [&BOTH[..], &[TICK, RENEW, release(A, 1), RENEW]].concat();
    assert_eq!(answer("renewal_batch = 1", &rest), Reply::NothingToRenew);
    let state = after("renewal_batch = 1", &rest);
    assert_eq!(state.clients[0].renewal_due_in, Some(1), "the first lock is renewed again after a period");
}

/// The locks before the bad one are renewed, those behind it are not, and the next period tries the same again.
#[test]
fn a_key_of_a_wrong_type_ends_the_renewal_of_the_locks_behind_it() {
    let spoilt = |lock| [&BOTH[..], &[overwrite(lock), TICK, RENEW]].concat();
    assert_eq!(answer("", &spoilt(0)), Reply::WrongType);
    assert_eq!(stored(&after("", &spoilt(0))), [("A:2", Some(2))], "nothing is renewed");
    assert_eq!(stored(&after("", &spoilt(1))), [("A:1", Some(3))], "the one before it is");
    let again = [&spoilt(0)[..], &[TICK, RENEW, TICK, RENEW, TICK]].concat();
    let state = after("", &again);
    assert_eq!(state.breaches, [Breach::LeaseLost], "its holder works, and its watchdog runs");
    assert_eq!(stored(&state), []);
    let in_turn = [&BOTH[..], &[overwrite(0), TICK, RENEW]].concat();
    let state = after("renewal_batch = 1", &in_turn);
    assert_eq!(state.clients[0].renewal_due_in, Some(1), "what comes after the error is not sent in this period");
}

/// `unlock()` throws, and takes the bad lock out of the table.
#[test]
fn after_its_holder_has_released_it_the_bad_lock_keeps_no_other_from_being_renewed() {
    let released = [&BOTH[..], &[overwrite(0), TICK, RENEW, release(A, 0)]].concat();
    assert_eq!(answer("", &released), Reply::WrongType);
    let renewed = [&released[..], &[TICK, RENEW]].concat();
    assert_eq!(answer("", &renewed), Reply::Renewed);
    assert_eq!(stored(&after("", &renewed)), [("A:2", Some(3))]);
}

#[test]
fn a_key_of_a_wrong_type_has_no_ttl_and_is_nobodys_lock() {
    let taken = [acquire(A, 0), overwrite(0), TICK, RENEW, TICK, RENEW, TICK, RENEW, TICK, RENEW, acquire(B, 0)];
    assert_eq!(answer("", &taken), Reply::WrongType);
    let state = after("", &taken);
    assert!(state.nodes[0].stored.is_overwritten(0));
    assert!(!state.clients[1].threads[0].phase.uses_wakeup_entry() && state.clients[1].threads[0].holds == 0);
}

/// Redisson up to 3.43: the entry of the bad lock is dropped, and the other one is renewed as before.
#[test]
fn with_a_timer_per_lock_each_is_renewed_by_itself() {
    let own = "profile = 'redisson-3.43'";
    let started = [acquire(A, 1), TICK, acquire(A, 0)];
    let due = |state: &State| (state.clients[0].renewal_due_in, state.clients[0].later_renewals_due_in.clone());
    let state = after(own, &started);
    assert_eq!(due(&state), (Some(0), vec![1]), "the second lock was the first to be acquired");
    let renewed = [&started[..], &[RENEW]].concat();
    assert_eq!(stored(&after(own, &renewed)), [("A:1", Some(3)), ("A:2", Some(3))]);
    let spoilt = [&BOTH[..], &[overwrite(0), TICK, RENEW, RENEW]].concat();
    let state = after(own, &spoilt);
    assert_eq!(stored(&state), [("A:2", Some(3))]);
    assert_eq!((due(&state), state.clients[0].renewal_counts.clone()), ((Some(1), vec![]), vec![0, 1]));
    let released = [&BOTH[..], &[release(A, 0), TICK, RENEW]].concat();
    assert_eq!(stored(&after(own, &released)), [("A:2", Some(3))], "its timer did not end with the other one");
}

#[test]
fn a_renewal_that_finds_one_of_two_locks_gone_says_which() {
    let pause = [Action::PauseClient { client: A }, TICK, TICK, Action::Resume { client: A }, RENEW];
    let first_is_over = [&[acquire(A, 0), TICK, RENEW, acquire(A, 1)][..], &[TICK, RENEW]].concat();
    assert_eq!(answer("", &first_is_over), Reply::Renewed, "both are there");
    let late = [&[acquire(A, 0), TICK, acquire(A, 1)][..], &pause, &[][..]].concat();
    // The first lock is due at this instant, and gone.
    let gone = [&late[..late.len() - 1], &[Action::Expire { node: 0 }, RENEW]].concat();
    assert_eq!(answer("", &gone), Reply::RenewedInPart { missed: 0 });
    let state = after("", &gone);
    assert_eq!(stored(&state), [("A:2", Some(3))]);
    assert_eq!(state.clients[0].renewal_counts, [0, 1]);
}

/// What the reader says about a file.
fn errors(rest: &str) -> String {
    let text = format!("story = 'Two locks.'\nlock = 'reentrant'\n{rest}");
    Scenario::parse("names", &text).expect_err("it is refused").report(false)
}

#[test]
fn what_is_not_modelled_beside_several_names_is_refused() {
    let time = "[time]\nlease = 3\nrenew_every = 1\nwait_limit = 0\n";
    let clients = "[clients]\ncount = 2\nthreads = 2\nnames = 2\n";
    for (more, word) in [
        ("[network]\nmode = 'split'\n", "split network"),
        ("[cluster]\nreplicas = 1\nlag = 2\n", "lag"),
        ("[resource]\n", "resource"),
        ("[faults]\nforce_release = 1\n", "force_release"),
        ("[faults]\nvanish_key = 1\n", "vanish_key"),
        ("[faults]\npersist_key = 1\n", "persist_key"),
        ("[faults]\nclock_jump = 1\n[time]\njump = 1\n", "clock_jump"),
        ("[protocol]\nrenewal_timer = 'multiplying'\nrenewal_batch = 1\n", "several timers"),
    ] {
        let (time, more) = match more.strip_suffix("[time]\njump = 1\n") {
            Some(more) => (format!("{time}jump = 1\n"), more),
            None => (time.to_owned(), more),
        };
        let said = errors(&format!("{time}{clients}{more}"));
        assert!(said.contains("S008") && said.contains(word), "{said}");
    }
    let said = errors(&format!("{}{clients}", time.replace("wait_limit = 0\n", "")));
    assert!(said.contains("S008") && said.contains("waits"), "{said}");
    let said = errors(&format!("{time}[clients]\ncount = 2\n[faults]\noverwrite_key = 1\n"));
    assert!(said.contains("S008") && said.contains("one lock name"), "{said}");
}

#[test]
fn names_that_no_thread_uses_and_batches_that_nobody_sends_are_contradictions() {
    let time = "[time]\nlease = 3\nrenew_every = 1\nwait_limit = 0\n";
    for (rest, word) in [
        ("[clients]\ncount = 2\nnames = 2\n", "a lock name of its own"),
        ("[clients]\ncount = 2\n[protocol]\nrenewal_batch = 2\n", "one lock"),
        (
            "[clients]\ncount = 2\nthreads = 2\nnames = 2\n[protocol]\nrenewal_timer = 'per-lock'\nrenewal_batch = 2\n",
            "a timer and a renewal of its own",
        ),
    ] {
        let said = errors(&format!("{time}{rest}"));
        assert!(said.contains("S009") && said.contains(word), "{said}");
    }
}

const REPLICATE: Action = Action::Replicate { node: 1 };

const fn confirm(lock: u8) -> Action {
    Action::Confirm { client: A, thread: lock }
}

/// The same beside a replica, for which grants wait, and renewals too if `wait_after` says so. One renewal carries one lock.
fn beside_a_replica(wait_after: &str, actions: &[Action]) -> Trace {
    let text = format!(
        "story = 'Two locks and a replica.'\nlock = 'reentrant'\n[time]\nlease = 3\nrenew_every = 1\nwait_limit = 0\n\
         [clients]\ncount = 2\nthreads = 2\nnames = 2\n[cluster]\nreplicas = 1\nwait_for = 1\n\
         [protocol]\nwait_rule = 'any'\nrenewal_batch = 1\nwait_after = '{wait_after}'\n"
    );
    record(&scenario_of(&text).config, actions).expect("each action can happen")
}

const BOTH_CONFIRMED: [Action; 6] = [acquire(A, 0), REPLICATE, confirm(0), acquire(A, 1), REPLICATE, confirm(1)];

/// The replica has applied the first grant and not the second, which holds the first lock as well.
#[test]
fn a_wait_is_for_the_grant_of_its_own_thread_whatever_else_is_under_way() {
    let granted = [acquire(A, 0), acquire(A, 1), REPLICATE, confirm(1), confirm(0)];
    let trace = beside_a_replica("grants", &granted);
    assert_eq!(trace.steps[3].answer, Reply::TooFewReplicas { replicas: 0 });
    assert_eq!(trace.steps[4].answer, Reply::Acknowledged { replicas: 1 });
    let other_way = [acquire(A, 0), acquire(A, 1), confirm(0), REPLICATE, confirm(1)];
    let trace = beside_a_replica("grants", &other_way);
    assert_eq!(trace.steps[2].answer, Reply::TooFewReplicas { replicas: 0 });
    assert_eq!(trace.steps[4].answer, Reply::Acknowledged { replicas: 1 });
}

#[test]
fn a_renewal_that_no_replica_acknowledges_ends_its_round_and_the_next_one_begins_with_the_same_lock() {
    let renewed = [&BOTH_CONFIRMED[..], &[TICK, RENEW]].concat();
    let trace = beside_a_replica("grants-and-renewals", &renewed);
    let step = trace.steps.last().expect("there are steps");
    assert_eq!((step.answer, step.happenings.contains(&Happening::RenewalUnacknowledged)), (Reply::Renewed, true));
    assert_eq!(stored(&step.state), [("A:1", Some(3)), ("A:2", Some(2))]);
    assert_eq!((step.state.clients[0].renewal_first, step.state.clients[0].renewal_due_in), (Some(0), Some(1)));
    let again = [&renewed[..], &[TICK, RENEW, TICK]].concat();
    let state = beside_a_replica("grants-and-renewals", &again).state_after(again.len()).clone();
    assert_eq!(stored(&state), [("A:1", Some(2)), ("A:2", Some(0))]);
    // Without a WAIT behind it the other lock is renewed at the same instant.
    let state = beside_a_replica("grants", &renewed).state_after(renewed.len()).clone();
    assert_eq!((state.clients[0].renewal_first, state.clients[0].renewal_due_in), (Some(1), Some(0)));
}

#[test]
fn a_renewal_that_a_late_replica_acknowledges_in_time_goes_on_with_the_next_lock() {
    let acknowledged = Action::RenewAcknowledged { client: A };
    let first = [&BOTH_CONFIRMED[..], &[TICK, acknowledged]].concat();
    let trace = beside_a_replica("grants-and-renewals", &first);
    let state = trace.state_after(first.len());
    assert!(!trace.steps.last().expect("there are steps").happenings.contains(&Happening::RenewalUnacknowledged));
    assert!(state.nodes[1].under_way.is_empty(), "the replica has applied all");
    assert_eq!((state.clients[0].renewal_first, state.clients[0].renewal_due_in), (Some(1), Some(0)));
    let second = [&first[..], &[acknowledged]].concat();
    let state = beside_a_replica("grants-and-renewals", &second).state_after(second.len()).clone();
    assert_eq!(stored(&state), [("A:1", Some(3)), ("A:2", Some(3))]);
    assert_eq!((state.clients[0].renewal_first, state.clients[0].renewal_due_in), (Some(0), Some(1)));
}
