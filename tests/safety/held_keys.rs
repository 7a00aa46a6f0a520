//! Worlds that are worked out by hand: a key without a TTL, a lease that only a nested call has, messages that come by a
//! replica, and receipts that are evicted.

use lockstep_model::trace::State;
use lockstep_model::{Action, Config, Reply};

use crate::by_hand::{history, last, record, scenario_of};

const ACQUIRE: Action = Action::Acquire { client: 0, thread: 0 };
const RELEASE: Action = Action::Release { client: 0, thread: 0 };
const RENEW: Action = Action::Renew { client: 0 };
const PERSIST: Action = Action::PersistKey { node: 0 };
const REPLICATE: Action = Action::Replicate { node: 1 };

/// Two clients of a reentrant lock; `time` and `rest` are lines of the file.
fn world(time: &str, rest: &str) -> Config {
    let text = format!(
        "story = 'A world by hand.'\nlock = 'reentrant'\n[time]\n{time}\n[clients]\ncount = 2\nmax_holds = 2\n{rest}\n"
    );
    scenario_of(&text).config
}

/// The state after these actions, each of which can happen.
fn after(config: &Config, actions: &[Action]) -> State {
    last(&history(config, actions)).clone()
}

/// The TTL of the lock's key on a node, which has the key; `None`: it has no TTL.
fn ttl_on(state: &State, node: usize) -> Option<u64> {
    state.nodes[node].stored.holders.first().expect("the node stores the lock").ttl_ms
}

#[test]
fn a_key_without_a_ttl_stays_until_a_renewal_gives_it_one() {
    let config = world("tick_ms = 1000\nlease = 2\nrenew_every = 1", "[faults]\npersist_key = 1");
    assert_eq!(ttl_on(&after(&config, &[ACQUIRE]), 0), Some(2000));
    assert_eq!(ttl_on(&after(&config, &[ACQUIRE, PERSIST, Action::Tick]), 0), None);
    assert_eq!(ttl_on(&after(&config, &[ACQUIRE, PERSIST, Action::Tick, RENEW]), 0), Some(2000));
    let unheld = record(&config, &[PERSIST]);
    assert!(unheld.is_err(), "there is no key");
    let crash = Action::CrashClient { client: 0 };
    let config = world("lease = 2", "[faults]\npersist_key = 1\ncrash_client = 1");
    let mut actions = vec![ACQUIRE, PERSIST, crash];
    actions.extend([Action::Tick; 20]);
    assert_eq!(ttl_on(&after(&config, &actions), 0), None, "nobody frees it");
}

/// In both forms of a replicated TTL: that a key has none is told like any other write.
#[test]
fn a_replica_is_told_that_a_key_has_no_ttl() {
    for ttls in ["absolute", "relative"] {
        let rest = format!("[cluster]\nreplicas = 1\nttls = '{ttls}'\n[faults]\npersist_key = 1\n");
        let config = world("tick_ms = 1000\nlease = 3", &rest);
        let before = [ACQUIRE, REPLICATE, PERSIST];
        assert_eq!(ttl_on(&after(&config, &before), 1), Some(3000), "{ttls}: not yet");
        assert_eq!(ttl_on(&after(&config, &[&before[..], &[REPLICATE]].concat()), 1), None, "{ttls}");
    }
}

#[test]
fn a_waiter_of_a_key_without_a_ttl_has_no_timer() {
    let config = world("lease = 2", "[faults]\npersist_key = 1");
    let b = |action: fn(u8, u8) -> Action| action(1, 0);
    let asks = [
        b(|client, thread| Action::Acquire { client, thread }),
        b(|client, thread| Action::Subscribe { client, thread }),
        b(|client, thread| Action::SecondAsk { client, thread }),
    ];
    let trace = history(&config, &[&[ACQUIRE, PERSIST][..], &asks].concat());
    assert_eq!(trace.steps[2].answer, Reply::Busy { remaining_ticks: None });
    let waiter = &trace.state_after(5).clients[1].threads[0];
    assert_eq!(waiter.wake_in, None);
}

/// Its release sets the lease of the nested call again; the renewal of the outer hold gives the full one.
#[test]
fn a_nested_call_brings_its_own_lease_and_ends_the_renewal_of_the_outer_one() {
    let config = world("tick_ms = 1000\nlease = 3\nreentry_lease = 1\nrenew_every = 1", "");
    let nested = after(&config, &[ACQUIRE, ACQUIRE]);
    assert_eq!(ttl_on(&nested, 0), Some(1000));
    assert_eq!(nested.clients[0].renewal_counts, [1], "the watchdog does not hear of it");
    let renewed = after(&config, &[ACQUIRE, ACQUIRE, Action::Tick, RENEW]);
    assert_eq!(ttl_on(&renewed, 0), Some(3000));
    let left = after(&config, &[ACQUIRE, ACQUIRE, Action::Tick, RENEW, RELEASE]);
    assert_eq!(ttl_on(&left, 0), Some(1000));
    assert_eq!(left.clients[0].renewal_counts, [0], "and nobody renews the outer hold");
    assert_eq!(left.clients[0].threads[0].holds, 1);
}

/// The same where request and answer are steps of their own: the request carries its lease, also when it is executed late.
#[test]
fn a_nested_request_carries_its_own_lease() {
    let slot = lockstep_model::client::Slot::Call1;
    let round = |action| [action, Action::Execute { client: 0, slot }];
    let answer = Action::Answer { client: 0, slot };
    let config = world("tick_ms = 1000\nlease = 3\nreentry_lease = 1", "[network]\nmode = 'split'");
    let outer = [&round(ACQUIRE)[..], &[answer]].concat();
    let inner = [&outer[..], &round(ACQUIRE)].concat();
    assert_eq!(ttl_on(&after(&config, &outer), 0), Some(3000));
    assert_eq!(ttl_on(&after(&config, &inner), 0), Some(1000));
    assert!(after(&config, &[&outer[..], &[ACQUIRE]].concat()).clients[0].requests[0].names_lease);
}

/// A waits on the replica: the message comes with the effect of the release, or not at all.
#[test]
fn a_message_reaches_a_replica_with_its_effect_and_is_lost_with_its_link() {
    let rest = "[cluster]\nreplicas = 1\n[protocol]\nsubscribe_to = 'replica'\n[faults]\nbreak_link = 1\n";
    let config = world("lease = 3", rest);
    let (client, thread) = (1, 0);
    let asleep = [
        ACQUIRE,
        REPLICATE,
        Action::Acquire { client, thread },
        Action::Subscribe { client, thread },
        Action::SecondAsk { client, thread },
        RELEASE,
    ];
    let messages = |more: &[Action]| after(&config, &[&asleep[..], more].concat()).clients[1].messages;
    assert_eq!(messages(&[]), 0, "it is under way to the replica");
    assert_eq!(messages(&[REPLICATE]), 1);
    let (lost, resync) = (Action::BreakLink { node: 1 }, Action::Resync { node: 1 });
    let state = after(&config, &[&asleep[..], &[lost, resync]].concat());
    assert_eq!(state.clients[1].messages, 0, "the data came by a full copy");
    assert!(!state.nodes[1].stored.is_held());
}

/// Two releases in a row: each effect carries its own message, and none takes the place of another.
#[test]
fn effects_with_messages_are_not_merged() {
    let rest = "[cluster]\nreplicas = 1\n[protocol]\nsubscribe_to = 'replica'\n";
    let config = world("lease = 3", rest);
    let under_way = |actions: &[Action]| after(&config, actions).nodes[1].under_way.len();
    assert_eq!(under_way(&[ACQUIRE, RELEASE]), 1, "a grant without a message is merged");
    assert_eq!(under_way(&[ACQUIRE, RELEASE, ACQUIRE, RELEASE]), 2);
}
