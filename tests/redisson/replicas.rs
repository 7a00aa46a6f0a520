//! Redisson with replicas: it waits for them, gives a grant back that none has, and follows a change of the master.

use lockstep_model::Action::{
    Acquire, Answer, Confirm, CrashNode, Demote, Discover, Execute, HandOver, NoticeDeath, Promote, Release, Renew,
    Replicate, Resend, RestartNode, Resync, Tick, Undo,
};
use lockstep_model::client::Slot;
use lockstep_model::config::WaitRule;
use lockstep_model::trace::{About, Trace};
use lockstep_model::{Action, Config, Happening, Reply};
use lockstep_sim::recorder;
use lockstep_sim::replay::{Played, Player, suited};
use lockstep_sim::scenario::Scenario;
use lockstep_tests::refused_release::refused_release;
use lockstep_tests::servers::servers;

use crate::scenarios::{built_in, random_histories, replayed_counterexamples, version_of};

/// Redisson's script of a fair lock too publishes before it writes.
#[test]
fn a_release_that_a_server_refuses_has_told_the_first_waiter() {
    let trace = refused_release(|config| suited(config, &servers()[0]));
    let played = player(&trace.config).replay(&trace, false).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((played.difference, played.left), (None, None));
    // Without that message in the history it is a difference.
    let mut silent = trace;
    silent.steps[5].state.clients[1].messages = 0;
    silent.steps[5].happenings.retain(|one| *one != Happening::Published);
    let played = player(&silent.config).replay(&silent, false).unwrap_or_else(|error| panic!("{error}"));
    let found = played.difference.expect("a message too many").beside_scripts(&servers()[0], &silent);
    assert_eq!((found.step, found.what.as_str(), found.redis.as_str()), (6, "messages to B", "1 under way"));
    assert_eq!(found.scripts.as_deref(), Some("1 published"), "our scripts do what Redisson does");
}

/// How often a history is run.
const RUNS: usize = 10;
/// How many of these have a JVM of their own.
const FRESH: usize = 3;

/// A client waits for a replica, as Redisson does by default.
fn waits_for_a_replica() -> Scenario {
    let mut scenario = built_in("wait-for-the-replica");
    scenario.config.protocol.wait_rule = WaitRule::Any;
    scenario
}

fn recorded(config: &Config, actions: &[Action]) -> Trace {
    recorder::record("replicas", "", config, About::Drawn, actions, "").expect("it can happen")
}

fn player(config: &Config) -> Player {
    Player::start(&servers()[0], config, version_of(config)).unwrap_or_else(|error| panic!("{error}"))
}

/// The first grant is given back, because the replica does not have it in time; the second one is confirmed.
pub fn grant_given_back() -> Trace {
    let (client, thread) = (0, 0);
    recorded(
        &waits_for_a_replica().config,
        &[
            Acquire { client, thread },
            Confirm { client, thread },
            Undo { client, thread },
            Replicate { node: 1 },
            Acquire { client: 1, thread },
            Replicate { node: 1 },
            Confirm { client: 1, thread },
            Release { client: 1, thread },
            Replicate { node: 1 },
            Tick,
        ],
    )
}

/// A failover loses a grant whose holder still believes.
fn grant_lost() -> Trace {
    let thread = 0;
    recorded(
        &built_in("failover-loses-the-grant").config,
        &[
            Acquire { client: 0, thread },
            CrashNode { node: 0 },
            Promote { node: 1 },
            Discover { client: 1 },
            Acquire { client: 1, thread },
            Discover { client: 0 },
            Release { client: 0, thread },
            Tick,
            Renew { client: 0 },
            Renew { client: 1 },
            Release { client: 1, thread },
        ],
    )
}

/// What a replay has seen, without what Redisson draws at random. What a replica applies has the time of the server in it, which
/// goes on from history to history; what it stores then is compared.
fn seen(played: &Played) -> Vec<String> {
    let masked = |line: &String| {
        let (kind, id) = line.split_once("redisson_unlock_latch:{lock}:")?;
        Some(format!("{kind}ID{}", id.get(32..)?))
    };
    let lines = played.answers.iter().flatten().filter(|line| !line.contains(" applies "));
    lines.map(|line| masked(line).unwrap_or_else(|| line.clone())).collect()
}

#[test]
fn redisson_follows_a_failover_and_a_grant_that_is_given_back_the_same_way_each_time() {
    for trace in [grant_given_back(), grant_lost()] {
        let mut warm = player(&trace.config);
        let first = warm.replay(&trace, true).expect("it answers");
        assert_eq!((&first.difference, first.left, first.steps), (&None, None, trace.steps.len()));
        println!("{}", seen(&first).join("\n"));
        for run in 1..RUNS {
            let played =
                if run < FRESH { player(&trace.config).replay(&trace, true) } else { warm.replay(&trace, true) };
            let played = seen(&played.expect("it answers"));
            for (line, (again, first)) in played.iter().zip(&seen(&first)).enumerate() {
                assert_eq!(again, first, "line {line} of run {run}");
            }
            assert_eq!(played.len(), seen(&first).len(), "run {run}");
        }
    }
}

/// Redisson sends `WAIT` in one batch with its script, and believes a grant that a replica has.
#[test]
fn redisson_waits_for_replicas_as_the_clients_of_the_model_do() {
    let scenario = waits_for_a_replica();
    let found = random_histories(&scenario, version_of(&scenario.config), 30, 1);
    assert_eq!(found.counterexample.map(|(_, difference)| difference), None);
    println!("{} of {} were not followed to their end", found.left, found.cases);
    assert!(found.left < found.cases);
}

/// The shortest history of each property that a failover breaks is what Redisson does, step by step.
#[test]
fn redisson_loses_a_grant_with_its_master_as_the_model_says() {
    let replayed = replayed_counterexamples(&built_in("failover-loses-the-grant"));
    assert!(!replayed.is_empty());
    for (difference, left) in replayed {
        assert_eq!((difference, left), (None, None));
    }
}

/// Defect B8: a client that has read once that its master has no replica sends no `WAIT` any more. Its grant is believed and lost
/// although a replica is there; a client that reads the number later waits, and does not believe.
#[test]
fn redisson_waits_for_no_replica_any_more_once_there_was_none() {
    let mut config = built_in("wait-knows-of-no-replica").config;
    config.clients.acquires = Some(2);
    let (client, thread) = (0, 0);
    let away = [CrashNode { node: 1 }, NoticeDeath { node: 1 }];
    let first = [Acquire { client, thread }, Release { client, thread }];
    let back = [RestartNode { node: 1 }, Resync { node: 1 }];
    let grant = [Acquire { client, thread }, CrashNode { node: 0 }, Promote { node: 1 }, Discover { client: 1 }];
    let other = [Acquire { client: 1, thread }];
    let with_first: Vec<_> = [&away[..], &first, &back, &grant, &other].concat();
    let without = [&away[..], &back, &grant, &other].concat();
    for (actions, believers) in [(with_first, 2), (without, 1)] {
        let trace = recorded(&config, &actions);
        let last = trace.state_after(trace.steps.len());
        let holds = last.clients.iter().flat_map(|client| &client.threads).filter(|thread| thread.holds > 0);
        assert_eq!(holds.count(), believers, "of the model");
        let played = player(&config).replay(&trace, true).expect("it answers");
        println!("{}\n", seen(&played).join("\n"));
        assert_eq!((&played.difference, played.left), (&None, None));
    }
}

/// With the number of replicas that have the grant it is no other exception, and nothing is given back
/// (docs/facts/redisson.md#readonly-can-leave-an-orphan).
#[test]
fn redisson_tells_of_read_only_whatever_the_next_attempt_is_answered_and_by_how_many_replicas() {
    let config = built_in("refused-acquire-is-granted-later").config;
    let (client, thread, slot) = (0, 0, Slot::Call1);
    let [execute, answer] = [Execute { client, slot }, Answer { client, slot }];
    let refused = [Acquire { client, thread }, HandOver { node: 1 }, Demote { node: 0 }, execute, answer];
    let again = [Discover { client }, Resend { client, slot }, execute];
    let mut driven = player(&config);
    for (then, told) in [
        (Resync { node: 0 }, Reply::Acknowledged { replicas: 1 }),
        (Confirm { client, thread }, Reply::TooFewReplicas { replicas: 0 }),
    ] {
        let trace = recorded(&config, &[&refused[..], &again, &[then, answer]].concat());
        assert_eq!(trace.steps.last().map(|step| step.answer), Some(told));
        let played = driven.replay(&trace, false).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((played.difference, played.left, played.steps), (None, None, trace.steps.len()), "{told:?}");
    }
}
