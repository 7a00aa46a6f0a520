//! How an application calls: lock objects that threads share, and interrupts that a waiter swallows. Worlds and histories that were
//! worked out by hand (docs/facts/redisson.md#explicit-lease, #an-interrupted-wait).

use lockstep_model::client::Phase;
use lockstep_model::trace::State;
use lockstep_model::{Action, Config, Reply};

use crate::by_hand::{history, last, scenario_of};

const NAMES: Action = Action::Acquire { client: 0, thread: 0 };
const NAMES_NONE: Action = Action::Acquire { client: 0, thread: 1 };
const RELEASE: Action = Action::Release { client: 0, thread: 0 };
const OTHER_RELEASE: Action = Action::Release { client: 0, thread: 1 };
const FOREIGN: Action = Action::ForeignRelease { client: 0, thread: 1 };
const EXPIRE: Action = Action::Expire { node: 0 };

/// One client with two threads that share a lock object, of which the first names a lease of one tick.
fn shared(protocol: &str) -> Config {
    let text = format!(
        "story = 'A shared lock object.'\nlock = 'reentrant'\n[time]\ntick_ms = 1000\nlease = 3\nrenew_every = 1\n\
         named_lease = 1\nwait_limit = 0\n[clients]\ncount = 1\nthreads = 2\nmax_holds = 2\nlock_objects = 'shared'\n\
         [protocol]\n{protocol}\n[faults]\nforeign_release = 1\nforce_release = 1\n"
    );
    scenario_of(&text).config
}

fn after(config: &Config, actions: &[Action]) -> State {
    last(&history(config, actions)).clone()
}

fn ttl(state: &State) -> Option<u64> {
    state.nodes[0].stored.holders.first().expect("the node stores the lock").ttl_ms
}

#[test]
fn a_call_without_a_lease_takes_over_the_one_that_its_lock_object_remembers() {
    let config = shared("");
    let named = after(&config, &[NAMES]);
    assert_eq!((ttl(&named), named.clients[0].remembers_lease), (Some(1000), true));
    assert_eq!(named.clients[0].renewal_counts, [0, 0], "nothing renews it");
    let taken_over = after(&config, &[NAMES, Action::Tick, EXPIRE, NAMES_NONE]);
    assert_eq!(ttl(&taken_over), Some(1000));
    assert_eq!(taken_over.clients[0].renewal_counts, [0, 1], "it is renewed, too late");
    let alone = after(&config, &[NAMES_NONE]);
    assert_eq!((ttl(&alone), alone.clients[0].remembers_lease), (Some(3000), false));
}

/// The object of threads that have one each remembers nothing for the others.
#[test]
fn a_call_without_a_lease_brings_the_usual_one_where_objects_are_not_shared() {
    let mut config = shared("");
    config.clients.lock_objects = lockstep_model::config::LockObjects::PerCall;
    let taken = after(&config, &[NAMES, Action::Tick, EXPIRE, NAMES_NONE]);
    assert_eq!((ttl(&taken), taken.clients[0].remembers_lease), (Some(3000), false));
}

#[test]
fn a_lock_object_forgets_with_a_release_that_leaves_no_hold_or_fails() {
    let remembers = |protocol: &str, actions: &[Action]| after(&shared(protocol), actions).clients[0].remembers_lease;
    let force = Action::ForceRelease { client: 0 };
    for forgets in [&[NAMES, RELEASE][..], &[NAMES, FOREIGN], &[NAMES, force], &[NAMES, Action::Tick, EXPIRE, RELEASE]]
    {
        assert!(!remembers("", forgets), "{forgets:?}");
        assert!(remembers("remembered_lease = 'for-good'", forgets), "{forgets:?}");
    }
    assert!(remembers("", &[NAMES, NAMES, RELEASE]), "a partial release");
}

/// As in 3.43.0; from 3.44 on the watchdog has nothing to do with the lock object.
#[test]
fn a_lock_object_forgets_with_a_renewal_that_finds_no_hold_where_that_ends_every_renewal() {
    let missed = [NAMES, Action::Tick, EXPIRE, NAMES_NONE, Action::Tick, EXPIRE, Action::Renew { client: 0 }];
    let remembers = |protocol: &str, actions: &[Action]| after(&shared(protocol), actions).clients[0].remembers_lease;
    assert!(remembers("missed_renewal = 'forget'", &missed[..6]));
    assert!(!remembers("missed_renewal = 'forget'", &missed));
    assert!(remembers("missed_renewal = 'lower-first'", &missed));
}

/// What the object remembers is the lease of every release by it, and so of a hold that another call has begun.
#[test]
fn a_partial_release_brings_what_the_lock_object_remembers() {
    let config = shared("");
    let left = after(&config, &[NAMES_NONE, NAMES_NONE, OTHER_RELEASE]);
    assert_eq!(ttl(&left), Some(3000));
    let lost = [NAMES, Action::Tick, EXPIRE, NAMES_NONE, NAMES_NONE, OTHER_RELEASE];
    assert_eq!(ttl(&after(&config, &lost)), Some(1000));
}

const SLEEPER: (u8, u8) = (1, 0);

/// A holds with a lease of three ticks, and B sleeps in `lock()`.
fn asleep(key: &str, then: &[Action]) -> (Vec<Reply>, State) {
    let text = format!(
        "story = 'An interrupt.'\nlock = 'reentrant'\n[time]\ntick_ms = 1000\nlease = 3\n\
         [clients]\ncount = 2\n{key}\n[faults]\ninterrupt = 4\n"
    );
    let config = scenario_of(&text).config;
    let (client, thread) = SLEEPER;
    let falls_asleep = [
        NAMES,
        Action::Acquire { client, thread },
        Action::Subscribe { client, thread },
        Action::SecondAsk { client, thread },
    ];
    let trace = history(&config, &[&falls_asleep[..], then].concat());
    (trace.steps.iter().map(|step| step.answer).collect(), last(&trace).clone())
}

const INTERRUPT: Action = Action::Interrupt { client: SLEEPER.0, thread: SLEEPER.1 };
const WAKE: Action = Action::WakeByTimer { client: SLEEPER.0, thread: SLEEPER.1 };

#[test]
fn a_swallowed_interrupt_begins_the_sleep_anew_and_a_second_one_ends_it() {
    let swallow = "interrupted_wait = 'swallow'";
    let sleeper = |key: &str, then: &[Action]| asleep(key, then).1.clients[1].threads[0].clone();
    let late = sleeper(swallow, &[Action::Tick, Action::Tick, INTERRUPT]);
    assert_eq!((late.phase, late.wake_in, late.has_swallowed), (Phase::Waiting, Some(3), true));
    assert_eq!(sleeper("", &[Action::Tick, Action::Tick, INTERRUPT]).phase, Phase::Idle, "it leaves");
    let twice = sleeper(swallow, &[INTERRUPT, INTERRUPT]);
    assert_eq!((twice.phase, twice.has_swallowed), (Phase::Idle, false), "it leaves with an exception");
    // It oversleeps the end of the lease by what it had slept before.
    let ticks = [Action::Tick; 3];
    let overslept = [&[Action::Tick, INTERRUPT][..], &ticks, &[WAKE]].concat();
    let (answers, in_lock) = asleep(swallow, &overslept);
    assert_eq!(answers.last(), Some(&Reply::Acquired));
    assert!(in_lock.clients[1].threads[0].has_swallowed, "it holds, and nobody was told of the interrupt");
}

/// A waiter that was woken and refused swallows one interrupt of its next sleep too.
#[test]
fn each_sleep_swallows_one_interrupt() {
    let swallow = "interrupted_wait = 'swallow'";
    let refused = [Action::Tick, Action::Tick, Action::Tick, WAKE, INTERRUPT];
    let (_, again) = asleep(swallow, &[&[INTERRUPT][..], &refused].concat());
    let sleeper = &again.clients[1].threads[0];
    assert_eq!((sleeper.phase, sleeper.has_swallowed), (Phase::Waiting, true));
}
