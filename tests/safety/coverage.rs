//! Branches that were never reached are reported by name, and the reports are correct: the table of branches is
//! compared with the counts in both directions.

use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use lockstep_model::Happening;
use lockstep_model::config::{
    AcceptedTokens, Bound, ClientTables, Fault, Faults, Fencing, NetworkMode, Profile, PromoteRule, Resend, Resource,
    WaitRule, WriteDelay,
};
use lockstep_model::mutants::Mutant;
use lockstep_model::outcomes::SWITCH_VALUES;
use lockstep_model::{Action, ActionKind, Config, LockKind, ReplyKind};
use lockstep_sim::any_world::AnyWorld;
use lockstep_sim::check::memory::MemoryLimit;
use lockstep_sim::check::{Coverage, Engine, Limits, check, covering};
use lockstep_sim::scenario::{Scenario, builtin};
use lockstep_tests::drawn::{any_scenario, worlds_at_random};
use proptest::prelude::*;

use crate::{BUILT_IN, every_world, scenario};

type ActionAnswer = (ActionKind, ReplyKind);

fn pairs() -> impl Iterator<Item = ActionAnswer> {
    ActionKind::ALL.into_iter().flat_map(|kind| ReplyKind::ALL.map(|reply| (kind, reply)))
}

fn assert_within_the_table(config: &Config, coverage: &Coverage, name: &str) {
    for (kind, reply) in pairs().filter(|&(kind, reply)| coverage.answered(kind, reply) > 0) {
        assert!(kind.can_be_answered(reply, config), "{kind:?} is answered {reply:?} in {name}: {config:?}");
    }
    for happening in coverage.happenings.iter() {
        assert!(happening.is_possible(config), "{happening:?} happens in {name}: {config:?}");
    }
}

#[test]
fn nobody_gets_an_answer_that_is_not_in_the_table() {
    for outcome in BUILT_IN.iter() {
        assert_within_the_table(&outcome.config, &outcome.coverage, &outcome.scenario);
    }
}

const PROMOTE_RULES: [PromoteRule; 5] =
    [PromoteRule::Any, PromoteRule::MostData, PromoteRule::Priority, PromoteRule::Coordinated, PromoteRule::Forced];

const WAIT_RULES: [WaitRule; 3] = [WaitRule::Any, WaitRule::All, WaitRule::Ignored];

/// The coverage of a search that stops after this many states.
fn looked_at(config: &Config, max_states: u64) -> Coverage {
    let scenario = Scenario { config: *config, ..scenario("two-clients-one-node") };
    let (stop, progress) = Default::default();
    let limits = Limits { max_states: Some(max_states), ..Limits::none(&stop, &progress) };
    check(&scenario, Engine::Native, &limits).unwrap_or_else(|error| panic!("{error}")).coverage
}

/// In a large world the search for rare actions would take minutes.
#[test]
fn the_search_for_covering_histories_obeys_limits() {
    let config = scenario("third-client-is-woken").config;
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits::none(&stop, &progress);
    let taken = |limits: &Limits<'_>| covering(&config, limits).histories.concat().len();
    let all = taken(&limits);
    assert!(progress.load(Ordering::Relaxed) > 0);
    let few = taken(&Limits { max_states: Some(2), ..limits });
    assert!((1..all).contains(&few), "{few} of {all}");
    assert_eq!(covering(&config, &limits).stopped, None);
    for short in [Limits { max_bytes: Some(1), ..limits }, Limits { resident: Some(MemoryLimit::given(1)), ..limits }] {
        let found = covering(&config, &short);
        assert!(found.histories.is_empty(), "there is no memory for the first step");
        assert!(found.stopped.is_some(), "and that is said");
    }
    stop.store(true, Ordering::Relaxed);
    assert_eq!(taken(&limits), 0);
}

proptest! {
    #![proptest_config(worlds_at_random(150))]

    #[test]
    fn nobody_gets_such_an_answer_in_worlds_that_nobody_thought_of(Scenario { config, .. } in any_scenario()) {
        assert_within_the_table(&config, &looked_at(&config, 2_000), "a world at random");
    }
}

/// Worlds that together contain everything that the table asks for, for each lock kind and each value of a switch.
fn rich() -> Vec<Config> {
    let with_special_keys = [
        "replicas-leave-one-by-one",
        "renewal-timers-multiply",
        "release-is-made-again",
        "refused-acquire-is-granted-later",
        "unanswered-ask-is-told-as-refused",
        "lost-renewals-beside-a-validity",
        "value-multi-asks-if-it-holds",
        "value-multi-asks-of-every-value",
    ];
    let mut all = with_special_keys.map(|name| scenario(name).config).to_vec();
    let mut named = scenario("paused-client-loses-one-of-two-locks").config;
    (named.faults.overwrite_key, named.faults.foreign_release) = (1, 1);
    all.push(named);
    all.push(one_of_two_acknowledged());
    for &lock in LockKind::ALL {
        for profile in Profile::ALL {
            for promote in PROMOTE_RULES {
                let mut config = scenario("failover-to-the-wrong-replica").config;
                config.lock = lock;
                config.clients.max_holds = if lock.facts().reentry.is_there() { 2 } else { 1 };
                config.clients.count = 2;
                config.time.renew_every = Some(1);
                config.time.wait_limit = Some(2);
                config.cluster.promote = promote;
                config.resource = Some(Resource {
                    fencing: if lock.facts().tokens.is_there() { Fencing::Stored } else { Fencing::Ideal },
                    delay: WriteDelay::None,
                    accepts: AcceptedTokens::EqualOrNewer,
                });
                config.protocol = profile.protocol();
                config.faults = Faults {
                    crash_client: 1,
                    crash_thread: 1,
                    pause_client: 1,
                    start_client: 1,
                    crash_node: 2,
                    lose_message: 1,
                    foreign_release: 1,
                    force_release: 1,
                    restart_node: 1,
                    kill_node: 1,
                    shutdown_node: 1,
                    cut_link: 1,
                    pause_node: 1,
                    vanish_key: 1,
                    clock_jump: 1,
                    client_clock_jump: 1,
                    hand_over: 1,
                    refuse_writes: 1,
                    break_link: 1,
                    persist_key: 1,
                    vanish_token: u8::from(lock.facts().tokens.is_there()),
                    ..Faults::default()
                };
                config.time.jump = 2;
                config.cluster.min_replicas = 1;
                (config.cluster.min_replicas_max_lag, config.cluster.min_replicas_slack) = (1, 1);
                all.push(config);
                for wait_rule in WAIT_RULES {
                    let mut waiting = config;
                    (waiting.cluster.wait_for, waiting.protocol.wait_rule) = (1, wait_rule);
                    all.push(waiting);
                }
                config.network.mode = NetworkMode::Split;
                config.calls.resend = Resend::Release;
                (config.faults.lose_request, config.faults.lose_reply, config.faults.interrupt) = (1, 1, 1);
                all.push(config);
                for wait_rule in WAIT_RULES {
                    let mut waiting = config;
                    (waiting.cluster.wait_for, waiting.protocol.wait_rule) = (1, wait_rule);
                    all.push(waiting);
                }
            }
        }
    }
    all
}

/// One of two locks is gone when a renewal of both is acknowledged by a late replica.
fn one_of_two_acknowledged() -> Config {
    let mut config = scenario("late-replica-ends-other-renewals").config;
    (config.protocol.renewal_batch, config.clients.count, config.faults.pause_client) = (2, 1, 1);
    config
}

/// Branches that no built-in scenario reaches, each with a small world that does.
fn elsewhere() -> Vec<(&'static str, Config)> {
    let failover = scenario("failover-loses-the-grant").config;
    let mut by_priority = failover;
    by_priority.cluster.promote = PromoteRule::Priority;
    let mut released = failover;
    released.faults.foreign_release = 1;
    let mut half_released = released;
    half_released.clients.max_holds = 2;
    let mut demoted = scenario("old-master-serves-its-side").config;
    (demoted.time.wait_limit, demoted.clients.acquires) = (Some(3), Some(2));
    (demoted.faults.foreign_release, demoted.faults.force_release) = (1, 1);
    let mut counting = demoted;
    (counting.cluster.min_replicas, counting.cluster.min_replicas_max_lag) = (1, 1);
    let mut renewing = counting;
    renewing.time.renew_every = Some(1);
    let mut waiting = demoted;
    (waiting.cluster.wait_for, waiting.protocol.wait_rule) = (1, WaitRule::All);
    let mut waiting_for_the_counted = counting;
    (waiting_for_the_counted.cluster.wait_for, waiting_for_the_counted.protocol.wait_rule) = (1, WaitRule::All);
    let mut sent_to_demoted = scenario("old-master-serves-its-side").config;
    sent_to_demoted.network.mode = NetworkMode::Split;
    let mut sent_to_counting = sent_to_demoted;
    (sent_to_counting.cluster.min_replicas, sent_to_counting.cluster.min_replicas_max_lag) = (1, 1);
    let mut refusing = scenario("refused-renewal-ends-the-lease").config;
    (refusing.time.wait_limit, refusing.clients.acquires) = (Some(3), Some(2));
    (refusing.faults.foreign_release, refusing.faults.force_release) = (1, 1);
    let mut waiting_for_refusing = scenario("refused-writes-lead-to-a-failover").config;
    (waiting_for_refusing.cluster.lag, waiting_for_refusing.cluster.wait_for) = (Bound::Any, 1);
    waiting_for_refusing.protocol.wait_rule = WaitRule::All;
    let mut sent_to_refusing = scenario("refused-renewal-and-a-bounded-hold").config;
    (sent_to_refusing.network.mode, sent_to_refusing.time.renew_every) = (NetworkMode::Split, None);
    let mut overwritten = scenario("overwritten-lock-ends-other-renewals").config;
    overwritten.faults.foreign_release = 1;
    let queueing = scenario("fair-waiters-give-up").config;
    let mut leaving = queueing;
    (leaving.faults.crash_node, leaving.faults.refuse_writes, leaving.clients.count) = (1, 1, 2);
    let [leaving_demoted, leaving_counting] = [demoted, counting].map(|mut config| {
        (config.lock, config.time.wait_limit, config.clients.acquires) = (queueing.lock, Some(1), Some(1));
        config
    });
    let [parts_of_demoted, parts_of_counting] = [demoted, counting].map(|config| {
        let mut parts = scenario("multi-tries-once").config;
        (parts.clients.count, parts.client, parts.time.renew_every) = (1, ClientTables::NONE, None);
        (parts.cluster, parts.network, parts.faults) = (config.cluster, config.network, config.faults);
        (parts.faults.foreign_release, parts.faults.force_release) = (0, 0);
        parts
    });
    let mut left_behind = scenario("multi-tries-once").config;
    (left_behind.clients.count, left_behind.client, left_behind.time.renew_every) = (1, ClientTables::NONE, None);
    (left_behind.clients.acquires, left_behind.time.hold_at_most) = (Some(2), None);
    let mut extending = scenario("red-extension").config;
    (extending.clients.count, extending.cluster.groups) = (1, 2);
    (extending.faults.pause_node, extending.faults.refuse_writes) = (1, 1);
    let mut handed_over = scenario("redisson-red-failover-of-one-master").config;
    (handed_over.clients.count, handed_over.cluster.groups) = (1, 2);
    (handed_over.faults.crash_node, handed_over.faults.hand_over) = (0, 1);
    let mut renewing_at_demoted = handed_over;
    renewing_at_demoted.time.renew_every = Some(1);
    let mut timed = scenario("redisson-red-lost-message").config;
    (timed.time.lease, timed.time.wait_limit, timed.cluster.groups) = (1, Some(6), 2);
    (timed.faults.lose_message, timed.faults.crash_node) = (0, 1);
    vec![
        ("whoever wakes by its timer and asks one of several masters that is dead", timed),
        ("whoever sets its lease on one of several masters that was demoted", handed_over),
        ("whoever renews on one of several masters that was demoted", renewing_at_demoted),
        ("whoever extends on a master that stands still, or whose last save failed", extending),
        ("whoever takes a part again that the release before did not get to", left_behind),
        ("whoever takes or gives back parts on a master that was demoted", parts_of_demoted),
        ("whoever takes or gives back parts on a master that hears of no replica", parts_of_counting),
        ("whoever leaves the queue of a master that is dead, or whose last save failed", leaving),
        ("whoever leaves the queue of a master that was demoted", leaving_demoted),
        ("whoever leaves the queue of a master that hears of no replica", leaving_counting),
        ("whoever releases what another program has overwritten", overwritten),
        ("a late replica that acknowledges the renewal of one of two locks", one_of_two_acknowledged()),
        ("whoever asks a master whose last save failed", refusing),
        ("whoever gives back what too few have, to such a master", waiting_for_refusing),
        ("a request that finds that its master's last save failed", sent_to_refusing),
        ("whoever gives back what too few have, to a master that was demoted", waiting),
        ("the same, of a master that hears of no replica", waiting_for_the_counted),
        ("a request that finds its master demoted", sent_to_demoted),
        ("a request that finds that its master hears of no replica", sent_to_counting),
        ("a watchdog whose master hears of no replica", renewing),
        ("whoever still asks a master that was demoted", demoted),
        ("whoever asks a master that hears of no replica", counting),
        ("promotion by priority", by_priority),
        ("who was forgotten to have released does so again", released),
        ("the same of two holds", half_released),
    ]
}

#[test]
fn every_branch_is_come_to_in_a_scenario_or_in_a_world_that_is_named_here() {
    let extra: Vec<_> =
        elsewhere().into_iter().map(|(name, config)| (name, config, looked_at(&config, 200_000))).collect();
    let builtin = BUILT_IN.iter().map(|outcome| (outcome.scenario.as_str(), outcome.config, &outcome.coverage));
    let runs: Vec<(&str, Config, &Coverage)> =
        builtin.chain(extra.iter().map(|(name, config, coverage)| (*name, *config, coverage))).collect();
    let rich = rich();

    let mut missing: Vec<String> = Vec::new();
    for (kind, reply) in pairs().filter(|(kind, reply)| rich.iter().any(|config| kind.can_be_answered(*reply, config)))
    {
        if !runs.iter().any(|(_, _, coverage)| coverage.answered(kind, reply) > 0) {
            missing.push(format!("{} -> {}", kind.name(), reply.name()));
        }
    }
    for happening in Happening::ALL {
        assert!(rich.iter().any(|config| happening.is_possible(config)), "{happening:?} is possible nowhere");
        if !runs.iter().any(|(_, _, coverage)| coverage.happenings.has(happening)) {
            missing.push(happening.name().to_owned());
        }
    }
    for way in &SWITCH_VALUES {
        assert!(rich.iter().any(|config| way.is_possible(config)), "{way:?} is possible nowhere");
        if !runs.iter().any(|(_, config, coverage)| way.is_set_for_all(config) && coverage.has_gone(way)) {
            missing.push(format!("{} = {}", way.switch, way.value));
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}

/// A wrong rule may make a branch unreachable while every verdict stays as declared: coverage then names the branch.
#[test]
fn a_branch_that_a_wrong_rule_closes_is_missed() {
    let missed = |name: &str, mutant: Mutant| {
        let right = scenario(name);
        let coverage = |config: &Config| looked_at(config, 200_000);
        let never = |config: Config| coverage(&config).answers_never_given(&config).collect::<BTreeSet<_>>();
        let wrong = right.config.with_mutant(mutant);
        never(wrong).difference(&never(right.config)).copied().collect::<Vec<_>>()
    };
    assert_eq!(missed("lease-ends-fenced", Mutant::FenceIgnored), [(ActionKind::Work, ReplyKind::Rejected)]);
    assert_eq!(
        missed("reentry-and-partial-release", Mutant::ReleaseDropsAllHolds),
        [(ActionKind::Release, ReplyKind::StillHeld)]
    );
    let never_delivered = missed("two-clients-one-node", Mutant::MessagesNeverArrive);
    assert!(never_delivered.contains(&(ActionKind::Deliver, ReplyKind::Done)), "{never_delivered:?}");
    let forgotten = scenario("failover-loses-the-grant").config.with_mutant(Mutant::ReplicaDropsEffect);
    let never: Vec<_> = looked_at(&forgotten, 200_000).never_happened(&forgotten).collect();
    let right = scenario("failover-loses-the-grant").config;
    assert_ne!(never, looked_at(&right, 200_000).never_happened(&right).collect::<Vec<_>>());
}

/// Reports a fault budget that no path can spend, with what is left of it, and a switch value that is never reached.
#[test]
fn a_budget_that_is_never_spent_and_a_way_that_is_never_gone_are_told() {
    let mut config = scenario("failover-loses-the-grant").config;
    config.faults.crash_node = 4;
    let coverage = looked_at(&config, 200_000);
    assert_eq!(coverage.unspent().collect::<Vec<_>>(), [(Fault::CrashNode, 2)], "there are two nodes");
    // The watchdog of a dead thread goes on renewing, and no other client takes its lock, so no renewal is missed.
    let mut config = scenario("missed-renewal-of-2021").config;
    let ways = |config: &Config| -> Vec<_> {
        let coverage = looked_at(config, 200_000);
        coverage.ways_never_gone(config).map(|way| (way.switch, way.value)).collect()
    };
    assert_eq!(ways(&config), []);
    config.clients.count = 1;
    config.faults = Faults { crash_thread: 1, ..Faults::default() };
    assert_eq!(ways(&config), [("missed_renewal", "stop-timer")]);
}

/// Counts again, state by state; this count shares only the model with the engine.
#[test]
fn as_many_states_are_counted_as_an_action_can_happen_in() {
    for scenario in builtin() {
        let outcome = every_world(&scenario, Some(5_000));
        if !outcome.complete {
            continue;
        }
        let (enabled, taken) = enabled_and_taken(&outcome.config);
        assert_eq!(outcome.coverage.enabled, enabled, "{}", outcome.scenario);
        assert_eq!(ActionKind::ALL.map(|kind| outcome.coverage.taken(kind)), taken, "{}", outcome.scenario);
    }
}

type Counts = [u64; ActionKind::ALL.len()];

/// In how many states each kind of action can happen, and how often it does.
fn enabled_and_taken(config: &Config) -> (Counts, Counts) {
    let all = Action::all(config);
    let first = AnyWorld::initial(config);
    let (mut met, mut waiting) = (HashSet::from([first.clone()]), vec![first]);
    let (mut states, mut times) = ([0; ActionKind::ALL.len()], [0; ActionKind::ALL.len()]);
    while let Some(world) = waiting.pop() {
        let possible = world.enabled(config, &all);
        for kind in possible.iter().map(|(action, _)| action.kind()).collect::<BTreeSet<_>>() {
            states[kind as usize] += 1;
        }
        for (action, next) in possible {
            times[action.kind() as usize] += 1;
            let world = next.world.up_to_token_numbers(config);
            if met.insert(world.clone()) {
                waiting.push(world);
            }
        }
    }
    (states, times)
}
