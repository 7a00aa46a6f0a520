//! Clients that are not there at the beginning, and clients that go back to an old master: histories and worlds that are
//! worked out by hand (docs/facts/redis.md#a-client-that-starts-or-goes-back).

use lockstep_model::trace::{ClientMode, ClientState, SubscriptionState};
use lockstep_model::{Action, Property, Reply, Verdict};
use lockstep_sim::check::Engine;
use lockstep_sim::scenario::Scenario;

use crate::by_hand::{history, is_refused, last, scenario_of};
use crate::{exhaust, scenario, verdict};

const B_ASKS: Action = Action::Acquire { client: 1, thread: 0 };
const B_DISCOVERS: Action = Action::Discover { client: 1 };
const FAILOVER: [Action; 2] = [Action::CrashNode { node: 0 }, Action::Promote { node: 1 }];
const RESTART: Action = Action::RestartNode { node: 0 };
const TICK: Action = Action::Tick;

const fn start_of_b(node: u8) -> Action {
    Action::StartClient { client: 1, node }
}

const fn way_back_of_b(node: u8) -> Action {
    Action::GoBack { client: 1, node }
}

/// Two clients, a master and a replica.
fn world(cluster: &str, rest: &str) -> Scenario {
    let text = format!(
        "story = 'Starts.'\nlock = 'reentrant'\n[time]\nlease = 3\nwait_limit = 4\nhold_at_most = 2\n[clients]\ncount = 2\nacquires = 4\n\
         [cluster]\nreplicas = 1\n{cluster}\n{rest}"
    );
    scenario_of(&text)
}

/// B after these actions, each possible where it stands.
fn b_after(scenario: &Scenario, actions: &[Action]) -> ClientState {
    last(&history(&scenario.config, actions)).clients[1].clone()
}

fn holds(scenario: &Scenario, property: Property) -> bool {
    verdict(&exhaust(scenario, Engine::Native), property) == Verdict::Holds
}

#[test]
fn a_client_that_has_not_started_does_nothing_and_starts_once() {
    let late = world("", "[faults]\nstart_client = 1\npause_client = 1\ncrash_client = 1\nforce_release = 1");
    let trace = history(&late.config, &[TICK]);
    assert_eq!(trace.initial.clients[0].mode, ClientMode::Running);
    assert_eq!(trace.initial.clients[1].mode, ClientMode::NotStarted);
    for action in [
        B_ASKS,
        Action::PauseClient { client: 1 },
        Action::CrashClient { client: 1 },
        Action::ForceRelease { client: 1 },
    ] {
        assert!(is_refused(&late.config, &[action]), "{action:?}");
        assert!(!is_refused(&late.config, &[start_of_b(0), action]), "{action:?}");
    }
    assert!(is_refused(&late.config, &[start_of_b(1)]), "a replica does not say that it is master");
    assert!(is_refused(&late.config, &[Action::StartClient { client: 0, node: 0 }]), "it is there already");
    assert!(is_refused(&late.config, &[start_of_b(0), start_of_b(0)]), "it is there now");
}

/// A process that is started in the place of a crashed one is another client, with another name in Redis.
#[test]
fn a_crashed_client_never_starts_again() {
    let late = world("", "[faults]\nstart_client = 1\ncrash_client = 1");
    let crash = Action::CrashClient { client: 0 };
    assert!(is_refused(&late.config, &[crash, Action::StartClient { client: 0, node: 0 }]));
    assert!(!is_refused(&late.config, &[crash, start_of_b(0)]));
}

/// It did not know the old master: nothing tells it that there was a failover.
#[test]
fn a_client_that_starts_after_a_failover_asks_at_once() {
    let late = world("lock_delay = 4", "[faults]\nstart_client = 1\ncrash_node = 1");
    let [crash, promote] = FAILOVER;
    assert!(is_refused(&late.config, &[crash, start_of_b(0)]), "a dead master answers nobody");
    let started = b_after(&late, &[crash, promote, start_of_b(1)]);
    assert_eq!((started.master.as_str(), started.asks_in), ("n2", None));
    assert!(!is_refused(&late.config, &[crash, promote, start_of_b(1), B_ASKS]));
    // One that was there before the failover waits, at whatever moment it started.
    let there = [start_of_b(0), crash, promote, B_DISCOVERS];
    assert_eq!(b_after(&late, &there).asks_in, Some(4));
    assert!(is_refused(&late.config, &[&there[..], &[B_ASKS]].concat()));
}

#[test]
fn a_client_waits_at_its_start_and_the_longer_delay_counts() {
    for (start_delay, lock_delay, left) in [(3, 1, 2), (2, 4, 4), (3, 0, 2), (0, 2, 2)] {
        let cluster = format!("start_delay = {start_delay}\nlock_delay = {lock_delay}");
        let late = world(&cluster, "[faults]\nstart_client = 1\ncrash_node = 1");
        let started = b_after(&late, &[start_of_b(0)]);
        assert_eq!(started.asks_in, Some(start_delay).filter(|ticks| *ticks > 0));
        let [crash, promote] = FAILOVER;
        let discovers = b_after(&late, &[start_of_b(0), TICK, crash, promote, B_DISCOVERS]);
        assert_eq!(discovers.asks_in, Some(left), "{start_delay} and {lock_delay}");
    }
}

/// It is no client yet that could learn of the new master.
#[test]
fn a_failover_does_not_wait_for_a_client_that_has_not_started() {
    let late = world("failover_within = 0", "[faults]\nstart_client = 1\ncrash_node = 1");
    let [crash, promote] = FAILOVER;
    let a_discovers = Action::Discover { client: 0 };
    assert!(is_refused(&late.config, &[crash, promote, TICK]));
    assert!(!is_refused(&late.config, &[crash, promote, a_discovers, TICK]));
    assert!(is_refused(&late.config, &[start_of_b(0), crash, promote, a_discovers, TICK]));
}

/// With a sentinel that is up to date nobody goes back.
#[test]
fn a_client_goes_back_only_where_the_scenario_says_so_and_only_to_a_node_that_says_it_is_master() {
    let faults = "[faults]\ncrash_node = 1\nrestart_node = 1";
    let [crash, promote] = FAILOVER;
    let back = [crash, promote, B_DISCOVERS, RESTART, way_back_of_b(0)];
    assert!(is_refused(&world("", faults).config, &back));
    let any = world("discovery = 'any-master'", faults);
    assert!(!is_refused(&any.config, &back));
    assert!(is_refused(&any.config, &[crash, promote, B_DISCOVERS, way_back_of_b(0)]), "it is dead");
    assert!(is_refused(&any.config, &[crash, promote, RESTART, way_back_of_b(0)]), "B never left it");
    let demoted = [crash, promote, B_DISCOVERS, RESTART, Action::Demote { node: 0 }, way_back_of_b(0)];
    assert!(is_refused(&any.config, &demoted), "it is a replica");
    // And on: there and back, as often as the old master is there.
    assert!(!is_refused(&any.config, &[&back[..], &[B_DISCOVERS, way_back_of_b(0)]].concat()));
}

/// It compares masters, so its lock delay begins anew each time; its subscription ends with the connection.
#[test]
fn a_client_that_goes_back_waits_for_its_lock_delay_and_subscribes_anew() {
    let any = world("discovery = 'any-master'\nlock_delay = 2\nlag = 0", "[faults]\ncrash_node = 1\nrestart_node = 1");
    let [crash, promote] = FAILOVER;
    let there = [crash, promote, B_DISCOVERS, Action::Discover { client: 0 }, TICK, TICK];
    let back = [&there[..], &[RESTART, way_back_of_b(0)]].concat();
    let waiting = b_after(&any, &back);
    assert_eq!((waiting.master.as_str(), waiting.asks_in), ("n1", Some(2)));
    assert!(is_refused(&any.config, &[&back[..], &[B_ASKS]].concat()));
    let subscribes = Action::Subscribe { client: 1, thread: 0 };
    let refused = [&there[..], &[Action::Acquire { client: 0, thread: 0 }, B_ASKS, subscribes]].concat();
    assert_eq!(b_after(&any, &refused).subscription, Some(SubscriptionState::Node("n2".to_owned())));
    let sleeper = [&refused[..], &[RESTART, way_back_of_b(0)]].concat();
    assert_eq!(b_after(&any, &sleeper).subscription, Some(SubscriptionState::Lost));
    let again = [&sleeper[..], &[Action::Resubscribe { client: 1 }]].concat();
    assert_eq!(b_after(&any, &again).subscription, Some(SubscriptionState::Node("n1".to_owned())));
}

/// The new master stores the lock, and so does the old one, for another holder.
#[test]
fn an_old_master_without_data_grants_what_the_new_one_has_granted() {
    let any = world("discovery = 'any-master'\nlag = 0", "[faults]\ncrash_node = 1\nrestart_node = 1");
    let [crash, promote] = FAILOVER;
    let a = [Action::Acquire { client: 0, thread: 0 }, crash, promote, B_DISCOVERS];
    let trace = history(&any.config, &[&a[..], &[B_ASKS]].concat());
    assert!(matches!(trace.steps[4].answer, Reply::Busy { .. }), "{:?}", trace.steps[4].answer);
    let trace = history(&any.config, &[&a[..], &[RESTART, way_back_of_b(0), B_ASKS]].concat());
    assert_eq!(trace.steps[6].answer, Reply::Acquired);
}

/// A client may start on the side of an old master that was cut off as well, and with it no delay begins.
#[test]
fn a_client_starts_at_an_old_master_only_where_it_may_go_back_to_one() {
    let faults = "[faults]\nstart_client = 1\ncut_link = 1";
    let apart = [Action::CutLink { node: 0 }, Action::Promote { node: 1 }, start_of_b(0)];
    assert!(is_refused(&world("lock_delay = 2", faults).config, &apart));
    let any = world("lock_delay = 2\ndiscovery = 'any-master'", faults);
    assert_eq!(b_after(&any, &apart).asks_in, None);
}

/// The failover may have lost a grant in the moment before the start.
#[test]
fn a_start_delay_shorter_than_a_lease_is_too_short() {
    let with_delay = |ticks| {
        let mut late = scenario("late-client-waits-at-its-start");
        late.config.cluster.start_delay = ticks;
        late
    };
    let held: Vec<_> = (0..=3).map(|ticks| holds(&with_delay(ticks), Property::OneBeliever)).collect();
    assert_eq!(held, [false, false, false, true]);
}

/// A partition: the old master stops to write in time, and whoever comes back to it delays again.
#[test]
fn min_replicas_and_a_lock_delay_hold_where_clients_go_back() {
    let mut any = scenario("old-master-is-outwaited");
    any.config.cluster.discovery = lockstep_model::config::Discovery::AnyMaster;
    assert!(holds(&any, Property::OneBeliever));
    any.config.cluster.min_replicas = 0;
    assert!(!holds(&any, Property::OneBeliever));
}
