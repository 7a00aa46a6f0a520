//! An acquire by two commands, step by step: histories that are worked out by hand (docs/locks/plain.md#setnx-then-expire).

use lockstep_model::client::{Phase, Slot, Verb};
use lockstep_model::trace::{Hold, State, ThreadState};
use lockstep_model::{Action, Reply};
use lockstep_sim::scenario::Scenario;

use crate::by_hand::{history, is_refused, last, last_answer, scenario_of};

const ACQUIRE: Action = Action::Acquire { client: 0, thread: 0 };
const SET_TTL: Action = Action::SetTtl { client: 0, thread: 0 };
const RELEASE: Action = Action::Release { client: 0, thread: 0 };
const OTHER_ACQUIRES: Action = Action::Acquire { client: 1, thread: 0 };
const OTHER_SETS_TTL: Action = Action::SetTtl { client: 1, thread: 0 };
const EXECUTE: Action = Action::Execute { client: 0, slot: Slot::Call1 };
const ANSWER: Action = Action::Answer { client: 0, slot: Slot::Call1 };

fn world(rest: &str) -> Scenario {
    let text = "story = 'Two commands.'\nlock = 'plain'\n[time]\nlease = 3\nwait_limit = 0\n[clients]\ncount = 2\nacquires = 1\n\
                [protocol]\nacquire = 'setnx-expire'\n";
    scenario_of(&format!("{text}{rest}"))
}

fn a(state: &State) -> &ThreadState {
    &state.clients[0].threads[0]
}

fn hold_on(state: &State, node: usize) -> Option<&Hold> {
    state.nodes[node].stored.holders.first()
}

#[test]
fn a_thread_holds_once_its_lock_has_a_ttl_and_not_before() {
    let trace = history(&world("").config, &[ACQUIRE, SET_TTL]);
    let between = trace.state_after(1);
    assert_eq!((a(between).phase, a(between).believes()), (Phase::SettingTtl, false));
    assert_eq!(hold_on(between, 0).expect("A has it").ttl_ms, None);
    assert_eq!(last_answer(&trace), Reply::TtlSet);
    assert_eq!((a(last(&trace)).phase, a(last(&trace)).believes()), (Phase::Idle, true));
    assert_eq!(hold_on(last(&trace), 0).expect("A has it").ttl_ms, Some(30_000));
}

#[test]
fn time_waits_for_the_second_command_and_nothing_is_released_before_it() {
    let config = world("").config;
    assert!(is_refused(&config, &[ACQUIRE, Action::Tick]));
    assert!(is_refused(&config, &[ACQUIRE, RELEASE]));
}

#[test]
fn a_lock_whose_client_ends_in_between_never_expires() {
    let crash = Action::CrashClient { client: 0 };
    let config = world("[faults]\ncrash_client = 1").config;
    let ticks = [Action::Tick; 8];
    let trace = history(&config, &[&[ACQUIRE, crash], &ticks[..], &[OTHER_ACQUIRES]].concat());
    assert_eq!(last_answer(&trace), Reply::Busy { remaining_ticks: None });
    let thread_dies = Action::CrashThread { client: 0, thread: 0 };
    let config = world("[faults]\ncrash_thread = 1").config;
    assert_eq!(
        hold_on(last(&history(&config, &[ACQUIRE, thread_dies, Action::Tick])), 0).expect("it stays").ttl_ms,
        None
    );
}

/// The call fails, and nobody gives the lock back.
#[test]
fn a_second_command_that_is_refused_or_has_no_answer_leaves_a_lock_without_a_ttl() {
    let replica = "[cluster]\nreplicas = 1\nlag = 0\n";
    let config = world(&format!("{replica}[faults]\ncrash_node = 1")).config;
    let trace = history(&config, &[ACQUIRE, Action::CrashNode { node: 0 }, SET_TTL]);
    assert_eq!((last_answer(&trace), a(last(&trace)).believes()), (Reply::Unreachable, false));
    assert_eq!(a(last(&trace)).phase, Phase::Idle);
    assert_eq!(hold_on(last(&trace), 1).expect("the replica has it").ttl_ms, None);

    let config = world("[faults]\nrefuse_writes = 1").config;
    let trace = history(&config, &[ACQUIRE, Action::RefuseWrites { node: 0 }, SET_TTL]);
    assert_eq!((last_answer(&trace), a(last(&trace)).believes()), (Reply::SaveFailed, false));
    assert_eq!(hold_on(last(&trace), 0).expect("it stays").ttl_ms, None);
}

/// Nobody looks at what the second command is answered, nor whose lock it finds.
#[test]
fn after_a_failover_the_second_command_finds_no_lock_or_that_of_another_client() {
    let config = world("[cluster]\nreplicas = 1\n[faults]\ncrash_node = 1").config;
    let failover = [Action::CrashNode { node: 0 }, Action::Promote { node: 1 }];
    let [a_learns, b_learns] = [0, 1].map(|client| Action::Discover { client });
    let trace = history(&config, &[&[ACQUIRE], &failover[..], &[a_learns, SET_TTL]].concat());
    assert_eq!((last_answer(&trace), a(last(&trace)).believes()), (Reply::NoTtlSet, true));

    let taken = [b_learns, OTHER_ACQUIRES, a_learns, SET_TTL];
    let trace = history(&config, &[&[ACQUIRE], &failover[..], &taken].concat());
    let of_b = hold_on(last(&trace), 1).expect("B has it");
    assert_eq!((of_b.holder.as_str(), of_b.ttl_ms), ("B", Some(30_000)));
    assert!(a(last(&trace)).believes());
    let trace = history(&config, &[&[ACQUIRE], &failover[..], &taken, &[OTHER_SETS_TTL]].concat());
    assert!(last(&trace).clients[1].threads[0].believes(), "both do");
}

#[test]
fn where_requests_travel_the_answer_to_the_first_command_sends_the_second() {
    let config = world("[network]\nmode = 'split'\n[faults]\nlose_request = 1").config;
    let trace = history(&config, &[ACQUIRE, EXECUTE, ANSWER, EXECUTE, ANSWER]);
    let [sent] = &trace.state_after(3).clients[0].requests[..] else { panic!("one request") };
    assert_eq!((sent.verb, a(trace.state_after(3)).believes()), (Verb::SetTtl, false));
    assert_eq!(a(trace.state_after(4)).phase, Phase::SettingTtl);
    assert!(a(last(&trace)).believes());

    let lost = Action::LoseRequest { client: 0, slot: Slot::Call1 };
    let given_up = Action::Abandon { client: 0, slot: Slot::Call1 };
    let trace = history(&config, &[ACQUIRE, EXECUTE, ANSWER, lost, Action::Tick, given_up]);
    assert_eq!((last_answer(&trace), a(last(&trace)).phase), (Reply::Unknown, Phase::Idle));
    assert!(!a(last(&trace)).believes());
    assert_eq!(hold_on(last(&trace), 0).expect("it stays").ttl_ms, None);
}
