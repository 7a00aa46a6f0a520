//! The slot of the lock is moved to another master: histories that are worked out by hand (docs/facts/cluster.md).

use lockstep_model::client::Phase;
use lockstep_model::config::Profile;
use lockstep_model::mutants::Mutant;
use lockstep_model::trace::{KeySlot, SlotMove, State, SubscriptionState, Trace};
use lockstep_model::{Action, Config, Reply};

use crate::by_hand::{history, is_refused, last, last_answer, scenario_of};

const ACQUIRE: Action = Action::Acquire { client: 0, thread: 0 };
const ACQUIRE_OF_B: Action = Action::Acquire { client: 1, thread: 0 };
const RELEASE: Action = Action::Release { client: 0, thread: 0 };
const RENEW: Action = Action::Renew { client: 0 };
const FORCE: Action = Action::ForceRelease { client: 1 };
const MOVE: Action = Action::MoveSlot { node: 0 };
const KEYS: Action = Action::MoveKeys { node: 0 };
const FINISH: Action = Action::FinishMove { node: 0 };
const CRASH: Action = Action::CrashNode { node: 0 };
const PROMOTE: Action = Action::Promote { node: 1 };
const DISCOVER: Action = Action::Discover { client: 1 };
const REPLICATE: Action = Action::Replicate { node: 1 };
const TICK: Action = Action::Tick;
/// B is refused, subscribes and waits.
const WAIT_OF_B: [Action; 3] =
    [ACQUIRE_OF_B, Action::Subscribe { client: 1, thread: 0 }, Action::SecondAsk { client: 1, thread: 0 }];

/// Its release names the lock and the channel, and the receipt if it leaves one.
const PUBLISHES: &str = "lock = 'reentrant'";
/// Its release names the lock, and the receipt if it leaves one.
const SPINS: &str = "lock = 'spin'";
/// Its release names the lock.
const ONE_KEY: &str = "lock = 'plain'";

fn world(lock: &str, time: &str, rest: &str) -> Config {
    let text = format!(
        "story = 'A slot is moved.'\n{lock}\n[time]\nlease = 3\n{time}\n[clients]\ncount = 2\n\
         [cluster]\n{rest}\nmove_slot = 1\n"
    );
    scenario_of(&text).config
}

fn alone(lock: &str) -> Config {
    world(lock, "wait_limit = 0\nrenew_every = 1", "[faults]\nforeign_release = 1")
}

fn read_write() -> Config {
    scenario_of(
        "story = 'A slot is moved.'\nlock = 'read-write'\n[time]\nlease = 3\nwait_limit = 0\nrenew_every = 1\n[clients]\ncount = 2\n\
         threads = 2\n[faults]\nmove_slot = 1\n",
    )
    .config
}

fn slot_move(state: &State) -> Option<SlotMove> {
    state.nodes[0].slot_move
}

#[test]
fn a_release_is_refused_until_the_move_is_over_and_its_caller_believes_no_more() {
    let config = alone(PUBLISHES);
    let refused = history(&config, &[ACQUIRE, MOVE, RELEASE]);
    assert_eq!(last_answer(&refused), Reply::TryAgain);
    assert_eq!((last(&refused).believers().count(), last(&refused).nodes[0].stored.is_held()), (0, true));
    assert_eq!(slot_move(last(&refused)), Some(SlotMove::Begun));
    // Nobody renews it any more.
    assert_eq!(last_answer(&history(&config, &[ACQUIRE, MOVE, RELEASE, TICK, RENEW])), Reply::NothingToRenew);
    let over = history(&config, &[ACQUIRE, MOVE, FINISH, RELEASE]);
    assert_eq!((last_answer(&over), slot_move(last(&over))), (Reply::Released, None));
}

#[test]
fn requests_of_one_key_are_served_while_a_slot_is_moved() {
    let config = alone(PUBLISHES);
    let acquired = history(&config, &[MOVE, ACQUIRE]);
    assert_eq!(last_answer(&acquired), Reply::Acquired);
    let busy = history(&config, &[MOVE, ACQUIRE, ACQUIRE_OF_B]);
    assert!(matches!(last_answer(&busy), Reply::Busy { .. }));
    let renewed = history(&config, &[ACQUIRE, MOVE, TICK, RENEW]);
    assert_eq!(last_answer(&renewed), Reply::Renewed);
}

/// The keys that a release names: of a plain lock its own; of a spin lock the receipt too, which 3.15 does not leave; otherwise the channel.
#[test]
fn what_is_refused_depends_on_the_keys_that_a_release_names() {
    for (lock, profile, expected) in [
        (ONE_KEY, "redisson-4.7", Reply::Released),
        (SPINS, "redisson-4.7", Reply::TryAgain),
        (SPINS, "redisson-3.15", Reply::Released),
        (PUBLISHES, "redisson-4.7", Reply::TryAgain),
        (PUBLISHES, "redisson-3.15", Reply::TryAgain),
    ] {
        let rest = format!("[protocol]\nprofile = '{profile}'\n[faults]");
        let config = world(lock, "wait_limit = 0", &rest);
        assert_eq!(last_answer(&history(&config, &[ACQUIRE, MOVE, RELEASE])), expected, "{lock}, {profile}");
    }
}

/// An acquire of a fair lock names the queue too, one of a fenced lock its counter, and one of a reader the prefix of its holds, which never
/// exists; a writer names the lock alone.
#[test]
fn an_acquire_of_several_keys_is_served_while_all_of_them_exist() {
    let (writer, reader) = (ACQUIRE, Action::Acquire { client: 1, thread: 1 });
    let (fair, sharded) = ("lock = 'fair'", "channels = 'sharded'\n[faults]");
    let queues = world(fair, "queue_wait = 9\nhold_at_most = 2", sharded);
    let again = Action::Acquire { client: 0, thread: 0 };
    for (config, actions, expected) in [
        (&queues, vec![MOVE, ACQUIRE], Reply::TryAgain),
        (&queues, vec![ACQUIRE, MOVE, ACQUIRE_OF_B], Reply::TryAgain),
        (
            &queues,
            [&[ACQUIRE][..], &WAIT_OF_B[..2], &[MOVE, WAIT_OF_B[2]]].concat(),
            Reply::Busy { remaining_ticks: Some(3) },
        ),
        (&alone("lock = 'fenced'"), vec![MOVE, ACQUIRE], Reply::TryAgain),
        (&alone("lock = 'fenced'"), vec![ACQUIRE, RELEASE, MOVE, ACQUIRE_OF_B], Reply::TryAgain),
        (&alone("lock = 'fenced'"), vec![ACQUIRE, MOVE, ACQUIRE_OF_B], Reply::Busy { remaining_ticks: Some(3) }),
        (&read_write(), vec![MOVE, reader], Reply::TryAgain),
        (&read_write(), vec![writer, MOVE, Action::Acquire { client: 0, thread: 1 }], Reply::TryAgain),
        (&read_write(), vec![MOVE, writer], Reply::Acquired),
        (&alone("lock = 'value-multi'"), vec![MOVE, again], Reply::Acquired),
    ] {
        assert_eq!(last_answer(&history(config, &actions)), expected, "{actions:?}");
        if expected == Reply::TryAgain {
            let served = config.with_mutant(Mutant::MovingSlotGrants);
            assert_ne!(last_answer(&history(&served, &actions)), expected, "{actions:?}");
        }
    }
}

/// Its place is there until its deadline.
#[test]
fn a_waiter_leaves_a_queue_while_its_slot_is_moved_and_one_whose_request_is_refused_stays() {
    let config =
        world("lock = 'fair'", "queue_wait = 9\nwait_limit = 3\nhold_at_most = 3", "channels = 'sharded'\n[faults]");
    let queued = [&[ACQUIRE][..], &WAIT_OF_B, &[MOVE]].concat();
    let gives_up = Action::GiveUp { client: 1, thread: 0 };
    let left = history(&config, &[&queued[..], &[TICK, TICK, TICK, gives_up]].concat());
    assert_eq!((last_answer(&left), has_queue(&left)), (Reply::LeftQueue, false));
    let asks = Action::WakeByTimer { client: 1, thread: 0 };
    let refused = history(&config, &[&queued[..], &[TICK, TICK, TICK, asks]].concat());
    assert_eq!((last_answer(&refused), has_queue(&refused)), (Reply::Busy { remaining_ticks: Some(0) }, true));
    let gone = history(&config, &[&queued[..], &[TICK, TICK, TICK, Action::Expire { node: 0 }, asks]].concat());
    assert_eq!((last_answer(&gone), has_queue(&gone)), (Reply::TryAgain, true));
    assert_eq!(last(&gone).clients[1].threads[0].phase, Phase::Idle);
}

fn has_queue(history: &Trace) -> bool {
    last(history).nodes[0].stored.keys.iter().any(|key| key.slot == KeySlot::Queue)
}

/// That of a reader is refused for as long as the slot moves, and that of a writer is not.
#[test]
fn a_reader_is_not_renewed_while_its_slot_is_moved() {
    let config = read_write();
    let reads = [Action::Acquire { client: 1, thread: 1 }, MOVE, TICK];
    let renewed = [&reads[..], &[Action::Renew { client: 1 }]].concat();
    assert_eq!(last_answer(&history(&config, &renewed)), Reply::TryAgain);
    let served = config.with_mutant(Mutant::MovingSlotRenews);
    assert_eq!(last_answer(&history(&served, &renewed)), Reply::Renewed);
    assert_eq!(last_answer(&history(&config, &[ACQUIRE, MOVE, TICK, RENEW])), Reply::Renewed);
    let over =
        [&reads[..], &[Action::Renew { client: 1 }, Action::FinishMove { node: 0 }, TICK, Action::Renew { client: 1 }]];
    assert_eq!(last_answer(&history(&config, &over.concat())), Reply::Renewed, "it is tried again");
    let of_2024 = Config { protocol: Profile::Redisson343.protocol(), ..config };
    assert!(is_refused(&of_2024, &over.concat()), "3.43 renews no more after an error");
}

/// Also of a thread that does not hold: the keys are looked at before the script is run.
#[test]
fn foreign_and_forced_releases_are_refused_too() {
    let config = world(PUBLISHES, "wait_limit = 0", "[faults]\nforeign_release = 1\nforce_release = 1");
    assert_eq!(last_answer(&history(&config, &[MOVE, FORCE])), Reply::TryAgain);
    let foreign = Action::ForeignRelease { client: 1, thread: 0 };
    assert_eq!(last_answer(&history(&config, &[MOVE, foreign])), Reply::TryAgain);
    assert_eq!(last_answer(&history(&config, &[foreign])), Reply::NotHeld);
    let config = world(SPINS, "wait_limit = 0", "[faults]\nforce_release = 1");
    assert_eq!(last_answer(&history(&config, &[MOVE, FORCE])), Reply::NothingToRelease);
}

/// What A could not release counts in its next hold: two, of which it knows of one.
#[test]
fn a_thread_that_was_refused_enters_its_own_lock_once_more() {
    let config = alone(PUBLISHES);
    let again = history(&config, &[ACQUIRE, MOVE, RELEASE, ACQUIRE, FINISH, RELEASE]);
    assert_eq!(last_answer(&again), Reply::StillHeld);
    assert!(last(&again).nodes[0].stored.is_held());
}

#[test]
fn a_subscription_outlives_the_move_unless_its_channel_is_one_of_the_slot() {
    let steps = [&[ACQUIRE][..], &WAIT_OF_B, &[MOVE, FINISH, RELEASE]].concat();
    let global = history(&world(PUBLISHES, "hold_at_most = 2", "channels = 'global'\n[faults]"), &steps);
    assert_eq!(last(&global).clients[1].messages, 1);
    let sharded = history(&world(PUBLISHES, "hold_at_most = 2", "channels = 'sharded'\n[faults]"), &steps);
    assert_eq!(last(&sharded).clients[1].messages, 0);
    assert_eq!(last(&sharded).clients[1].subscription, Some(SubscriptionState::Ended));
}

/// It never learns that it has ended, and those who wait after it subscribe anew.
#[test]
fn an_ended_subscription_is_made_anew_by_the_next_call_only() {
    let config = world(PUBLISHES, "hold_at_most = 2", "channels = 'sharded'\n[faults]");
    let waits = [&[ACQUIRE][..], &WAIT_OF_B, &[MOVE, FINISH, RELEASE]].concat();
    assert!(is_refused(&config, &[&waits[..], &[Action::Resubscribe { client: 1 }]].concat()));
    let timer = Action::WakeByTimer { client: 1, thread: 0 };
    let served = [&waits[..], &[TICK, TICK, TICK, timer]].concat();
    let release_of_b = Action::Release { client: 1, thread: 0 };
    let next = [&served[..], &[release_of_b, ACQUIRE], &WAIT_OF_B, &[RELEASE]].concat();
    let next = history(&config, &next);
    assert_eq!(last(&next).clients[1].messages, 1);
}

/// Its replica has the lock, and is told that the key is gone from the old master.
#[test]
fn a_replica_that_is_promoted_while_the_slot_moves_has_no_key() {
    let config = world(PUBLISHES, "wait_limit = 0", "replicas = 1\nlag = 0\n[faults]\ncrash_node = 1");
    let fails_over = [CRASH, PROMOTE, DISCOVER, ACQUIRE_OF_B];
    let stays = history(&config, &[&[ACQUIRE, MOVE], &fails_over[..]].concat());
    assert!(matches!(last_answer(&stays), Reply::Busy { .. }), "its key is still at the old master");
    let moved = history(&config, &[&[ACQUIRE, MOVE, KEYS], &fails_over[..]].concat());
    assert_eq!((last_answer(&moved), last(&moved).believers().count()), (Reply::Acquired, 2));
    let over = history(&config, &[&[ACQUIRE, MOVE, KEYS, FINISH], &fails_over[..]].concat());
    assert!(matches!(last_answer(&over), Reply::Busy { .. }), "the replica follows the new master");
    assert!(is_refused(&config, &[ACQUIRE, MOVE, FINISH]), "its keys are not moved yet");
}

/// Who finds no key at the old master is sent to the new one, where the lock is taken.
#[test]
fn a_lock_that_is_taken_while_its_slot_moves_is_at_the_new_master() {
    let config = world(PUBLISHES, "wait_limit = 0", "replicas = 1\nlag = 0\n[faults]\ncrash_node = 1");
    let taken = history(&config, &[MOVE, ACQUIRE]);
    assert_eq!(slot_move(last(&taken)), Some(SlotMove::KeysMoved));
    assert!(!last(&taken).nodes[1].stored.is_held());
    let lost = history(&config, &[MOVE, ACQUIRE, CRASH, PROMOTE, DISCOVER, ACQUIRE_OF_B]);
    assert_eq!(last(&lost).believers().count(), 2);
}

/// That the key is gone reaches a late replica as any write does; what is written at the new master does not.
#[test]
fn a_replica_hears_late_that_the_keys_have_moved_and_of_nothing_after_it() {
    let config = world(PUBLISHES, "wait_limit = 0\nrenew_every = 1", "replicas = 1\n[faults]\ncrash_node = 1");
    let moved = history(&config, &[ACQUIRE, REPLICATE, MOVE, KEYS]);
    assert!(last(&moved).nodes[1].stored.is_held());
    assert_eq!(last(&moved).nodes[1].under_way.len(), 1);
    let written = history(&config, &[ACQUIRE, REPLICATE, MOVE, KEYS, REPLICATE, TICK, RENEW]);
    assert_eq!((last_answer(&written), last(&written).nodes[1].under_way.len()), (Reply::Renewed, 0));
    assert!(!last(&written).nodes[1].stored.is_held());
}

/// `MIGRATE` would give it a millisecond.
#[test]
fn a_key_without_time_is_not_moved() {
    let config = world(PUBLISHES, "wait_limit = 0", "[faults]");
    assert!(is_refused(&config, &[ACQUIRE, MOVE, TICK, TICK, TICK, FINISH]));
    history(&config, &[ACQUIRE, MOVE, TICK, TICK, TICK, TICK, FINISH]);
}
