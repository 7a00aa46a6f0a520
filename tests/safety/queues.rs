//! A lock with a queue, step by step: histories that are worked out by hand (docs/facts/family.md#fair).

use lockstep_model::client::Phase;
use lockstep_model::trace::State;
use lockstep_model::{Action, Config, Happening, Property, Reply};
use lockstep_sim::check::Engine;
use lockstep_sim::scenario::Scenario;

use crate::by_hand::{history, is_refused, last, last_answer, scenario_of};
use crate::exhaust;

const fn asks(client: u8) -> Action {
    Action::Acquire { client, thread: 0 }
}

const fn waits(client: u8) -> [Action; 3] {
    [asks(client), Action::Subscribe { client, thread: 0 }, Action::SecondAsk { client, thread: 0 }]
}

const fn releases(client: u8) -> Action {
    Action::Release { client, thread: 0 }
}

const fn gives_up(client: u8) -> Action {
    Action::GiveUp { client, thread: 0 }
}

/// Three clients, a lease of three ticks and a queue of two; what follows may be tables or keys of [clients].
fn world(time: &str, rest: &str) -> Scenario {
    scenario_of(&format!(
        "story = 'A queue.'\nlock = 'fair'\n[time]\nlease = 3\n{time}\n[clients]\ncount = 3\nacquires = 2\n{rest}"
    ))
}

fn unlimited(rest: &str) -> Config {
    world("queue_wait = 2", rest).config
}

/// Who queues on the master, and the ticks until each deadline.
fn queue(state: &State) -> Vec<(String, i64)> {
    let stored = &state.nodes[0].stored;
    stored.queue().iter().cloned().zip(stored.queue_left_ms()).map(|(who, ms)| (who, ms / 10_000)).collect()
}

fn of(all: &[(&str, i64)]) -> Vec<(String, i64)> {
    all.iter().map(|(who, left)| ((*who).to_owned(), *left)).collect()
}

#[test]
fn each_waiter_is_told_what_the_one_before_it_has_left_and_then_what_the_lock_has() {
    let config = unlimited("");
    let trace = history(&config, &[&[asks(0)], &waits(1)[..], &waits(2)].concat());
    let answers: Vec<_> = trace.steps.iter().map(|step| step.answer).collect();
    let busy = |ticks| Reply::Busy { remaining_ticks: Some(ticks) };
    assert_eq!(answers, [Reply::Acquired, busy(3), Reply::Done, busy(3), busy(5), Reply::Done, busy(3)]);
    assert_eq!(queue(last(&trace)), of(&[("B:1", 5), ("C:1", 7)]));
}

#[test]
fn only_the_first_in_the_queue_is_told_and_takes_it_and_those_behind_it_wait_less() {
    let config = unlimited("");
    let queued = [&[asks(0)], &waits(1)[..], &waits(2), &[releases(0)]].concat();
    let released = history(&config, &queued);
    let messages: Vec<_> = last(&released).clients.iter().map(|client| client.messages).collect();
    assert_eq!(messages, [0, 1, 0]);
    let woken =
        [&queued[..], &[Action::Deliver { client: 1 }, Action::WakeByMessage { client: 1, thread: 0 }]].concat();
    let trace = history(&config, &woken);
    assert_eq!(last_answer(&trace), Reply::Acquired);
    assert_eq!(queue(last(&trace)), of(&[("C:1", 5)]));
    assert!(trace.steps.last().expect("a step").happenings.contains(&Happening::QueueServed));
}

#[test]
fn a_newcomer_does_not_overtake_and_is_told_to_ask_again_after_the_last_deadline() {
    let config = unlimited("");
    let trace = history(&config, &[&[asks(0)], &waits(1)[..], &[releases(0), asks(0)]].concat());
    assert_eq!(last_answer(&trace), Reply::Busy { remaining_ticks: Some(5) });
    assert_eq!(queue(last(&trace)), of(&[("B:1", 5), ("A:1", 7)]));
}

/// Three ticks of the lease and two of its own wait.
#[test]
fn a_dead_head_stays_until_its_deadline_and_is_removed_by_whoever_acts_at_it() {
    let config = unlimited("[faults]\ncrash_client = 1");
    let dead = [asks(0), asks(1), Action::CrashClient { client: 1 }];
    let ticks = |number: usize| [Action::Tick].repeat(number);
    let hold = Action::Expire { node: 0 };
    let asked = |number: usize| history(&config, &[&dead[..], &ticks(3), &[hold], &ticks(number), &[asks(2)]].concat());
    let early = asked(1);
    assert_eq!(last_answer(&early), Reply::Busy { remaining_ticks: Some(1) }, "what the dead one has left");
    assert_eq!(queue(last(&early)), of(&[("B:1", 1), ("C:1", 3)]));
    let in_time = asked(2);
    assert_eq!(last_answer(&in_time), Reply::Acquired);
    assert_eq!(queue(last(&in_time)), of(&[]));
    assert!(in_time.steps.last().expect("a step").happenings.contains(&Happening::DeadHeadRemoved));
}

#[test]
fn whoever_asks_once_is_refused_beside_a_queue_and_does_not_join_it() {
    let config = world("queue_wait = 2", "[[client]]\n[[client]]\n[[client]]\nwait_limit = 0").config;
    let trace = history(&config, &[&[asks(0)], &waits(1)[..], &[releases(0), asks(2)]].concat());
    assert_eq!(last_answer(&trace), Reply::Busy { remaining_ticks: None });
    assert_eq!(last(&trace).clients[2].threads[0].phase, Phase::Idle);
    assert_eq!(queue(last(&trace)), of(&[("B:1", 5)]));
}

#[test]
fn whoever_gives_up_leaves_the_queue_brings_those_behind_forward_and_wakes_nobody() {
    let config = world("wait_limit = 2", "").config;
    let queued = [&[asks(0)], &waits(1)[..], &[Action::Tick], &waits(2), &[Action::Tick]].concat();
    let trace = history(&config, &[&queued[..], &[releases(0), gives_up(1)]].concat());
    assert_eq!(last_answer(&trace), Reply::LeftQueue);
    assert_eq!(queue(last(&trace)), of(&[("C:1", 3)]), "five ticks left, and two of B's wait less");
    assert_eq!(last(&trace).clients[2].messages, 0, "the message was B's");
    assert!(is_refused(&config, &[&queued[..], &[gives_up(2)]].concat()), "its own limit is not over");
}

#[test]
fn an_interrupted_waiter_keeps_its_place() {
    let config = unlimited("[faults]\ninterrupt = 1");
    let interrupt = Action::Interrupt { client: 1, thread: 0 };
    let trace = history(&config, &[&[asks(0)], &waits(1)[..], &waits(2), &[interrupt, releases(0)]].concat());
    assert_eq!(queue(last(&trace)), of(&[("B:1", 5), ("C:1", 7)]));
    assert!(last(&trace).clients.iter().all(|client| client.messages == 0), "it was for B, which is not subscribed");
}

/// No version of Redisson does: it repairs I4 of the museum (docs/facts/family.md#fair).
#[test]
fn an_interrupted_waiter_that_leaves_the_queue_makes_room_for_the_next_one() {
    let rule = "[faults]\ninterrupt = 1\n[protocol]\ninterrupted_waiter = 'leaves-queue'";
    let config = unlimited(rule);
    let interrupt = Action::Interrupt { client: 1, thread: 0 };
    let queued = [&[asks(0)], &waits(1)[..], &waits(2), &[interrupt]].concat();
    let left = history(&config, &queued);
    assert_eq!(last_answer(&left), Reply::LeftQueue);
    assert_eq!(queue(last(&left)), of(&[("C:1", 5)]), "seven ticks left, and two of B's wait less");
    let released = history(&config, &[&queued[..], &[releases(0)]].concat());
    assert_eq!(last(&released).clients[2].messages, 1, "C is the first now");
    let before_its_subscription = history(&config, &[asks(0), asks(1), interrupt]);
    assert_eq!(queue(last(&before_its_subscription)), of(&[]));
}

/// A node that is away is told nothing: the place stays until its deadline, as that of a waiter that gives up.
#[test]
fn an_interrupted_waiter_cannot_leave_the_queue_of_a_node_that_is_away() {
    let rule =
        "[faults]\ninterrupt = 1\nkill_node = 1\nrestart_node = 1\n[protocol]\ninterrupted_waiter = 'leaves-queue'";
    let interrupt = Action::Interrupt { client: 1, thread: 0 };
    let trace = history(&unlimited(rule), &[asks(0), asks(1), Action::KillNode { node: 0 }, interrupt]);
    assert_eq!(last_answer(&trace), Reply::Unreachable);
    assert_eq!(last(&trace).clients[1].threads[0].phase, Phase::Idle);
}

#[test]
fn a_release_of_a_free_lock_is_told_that_it_has_released_it_and_wakes_the_first() {
    let config = unlimited("[faults]\nforeign_release = 1");
    let foreign = Action::ForeignRelease { client: 2, thread: 0 };
    let beside_a_holder = history(&config, &[asks(0), foreign]);
    assert_eq!(last_answer(&beside_a_holder), Reply::NotHeld);
    let trace = history(&config, &[&[asks(0)], &waits(1)[..], &[releases(0), foreign]].concat());
    assert_eq!(last_answer(&trace), Reply::Released);
    assert_eq!(last(&trace).clients[1].messages, 2);
}

/// Relative TTLs: what is written of the queue alone leaves the replica's own lease, and the deadlines are the same everywhere.
#[test]
fn the_queue_reaches_a_replica_and_does_not_touch_its_lease() {
    let config = unlimited("[cluster]\nreplicas = 1\nttls = 'relative'");
    let late = [asks(0), Action::Tick, Action::Replicate { node: 1 }, asks(1), Action::Replicate { node: 1 }];
    let trace = history(&config, &late);
    let (master, replica) = (&last(&trace).nodes[0].stored, &last(&trace).nodes[1].stored);
    assert_eq!((master.holders[0].ttl_ms, replica.holders[0].ttl_ms), (Some(20_000), Some(30_000)));
    assert_eq!((replica.queue(), replica.queue_left_ms()), (master.queue(), master.queue_left_ms()));
    assert_eq!(master.queue_left_ms(), [40_000]);
}

/// The clock of a node ends leases. Deadlines are by the clocks of the clients.
#[test]
fn a_node_whose_clock_jumps_ends_the_lease_and_no_place_in_the_queue() {
    let config = world("queue_wait = 2\njump = 4", "[faults]\nclock_jump = 1").config;
    let trace = history(&config, &[asks(0), asks(1), Action::ClockJump { node: 0 }]);
    assert_eq!(last(&trace).nodes[0].stored.holders, []);
    assert_eq!(queue(last(&trace)), of(&[("B:1", 5)]));
}

/// As long as somebody queues the first deadline stands where it was when the queue was last empty.
#[test]
fn under_load_the_deadlines_stand_still() {
    let config = scenario_of(
        "story = 'Load.'\nlock = 'fair'\n[time]\nlease = 3\nqueue_wait = 4\n[clients]\ncount = 2\nacquires = 4\n",
    )
    .config;
    let turn = |holds: u8, waits: u8| {
        [
            releases(holds),
            asks(holds),
            Action::Subscribe { client: holds, thread: 0 },
            Action::Deliver { client: waits },
            Action::WakeByMessage { client: waits, thread: 0 },
            Action::SecondAsk { client: holds, thread: 0 },
            Action::Tick,
        ]
    };
    let first = [&[asks(0)], &waits(1)[..], &[Action::Tick]].concat();
    let turns = [&first[..], &turn(0, 1), &turn(1, 0), &turn(0, 1)].concat();
    let left: Vec<_> = [4, 11, 18, 25].iter().map(|at| queue(history(&config, &turns).state_after(at + 1))).collect();
    let times: Vec<_> = left.iter().map(|queue| queue[0].1).collect();
    assert_eq!(times, [6, 5, 4, 3], "seven ticks from the beginning, whoever waits");
}

/// With both engines, and in a search without reductions: the order in the queue is no matter of symmetry.
#[test]
fn both_engines_see_the_same_queues() {
    let scenario = world("queue_wait = 2\nhold_at_most = 1", "[faults]\ncrash_client = 1");
    let [native, other] = [Engine::Native, Engine::Stateright].map(|engine| exhaust(&scenario, engine));
    let verdicts = |found: &lockstep_sim::check::CheckOutcome| {
        found
            .properties
            .iter()
            .map(|one| (one.property, one.verdict))
            .filter(|(one, _)| is_safety(*one))
            .collect::<Vec<_>>()
    };
    assert_eq!(verdicts(&native), verdicts(&other));
}

fn is_safety(property: Property) -> bool {
    Property::SAFETY.contains(&property)
}
