//! Redisson in other deployments than a single server or a master with replicas: the same histories, by other commands.

use lockstep_model::Action::{Acquire, Deliver, Release, SecondAsk, Subscribe, WakeByMessage};
use lockstep_model::config::Profile;
use lockstep_model::trace::{About, Trace};
use lockstep_model::{Action, Config};
use lockstep_sim::replay::redisson::{Deployment, PubSubCommands, RedissonProgram};
use lockstep_sim::replay::{Played, Player, ReplayError, ServerProgram, Version};
use lockstep_sim::scenario::Scenario;
use lockstep_tests::drawn::from_environment;
use lockstep_tests::servers::servers;

use crate::redisson;
use crate::scenarios::{built_in, random_histories, version_of};
use crate::switches::{at_once, world_of};

/// Scenarios of one server, of which each history below is followed to its end: on an atomic network with threads that wait for
/// messages, messages and receipts that are lost, and nested holds; and on a split one with requests that are sent again.
const WORLDS: [&str; 10] = [
    "two-clients-one-node",
    "lost-unlock-message",
    "wait-limit-ends",
    "force-release",
    "evicted-lock",
    "reentry-and-partial-release",
    "a-split-network",
    "resent-requests",
    "resent-acquire-counts-twice",
    "renewals-that-fail",
];
/// Random histories of each.
const HISTORIES: u32 = 3;

const NEWER: Version = Version { major: 7, minor: 0, patch: 0 };

fn in_cluster(config: &Config) -> RedissonProgram {
    version_of(config).deployed_in(Deployment::Cluster)
}

fn recorded(config: &Config, actions: &[Action]) -> Trace {
    Trace::record("deployments", "", config, About::Drawn, actions, "").expect("it can happen")
}

/// B waits for the lock that A has, and is woken by the message of the release.
fn waiter_is_woken(config: &Config) -> Trace {
    let (client, thread) = (1, 0);
    recorded(
        config,
        &[
            Acquire { client: 0, thread },
            Acquire { client, thread },
            Subscribe { client, thread },
            SecondAsk { client, thread },
            Release { client: 0, thread },
            Deliver { client },
            WakeByMessage { client, thread },
            Release { client, thread },
        ],
    )
}

fn played(trace: &Trace, server: &ServerProgram, program: RedissonProgram) -> Played {
    let mut player = Player::start(server, &trace.config, program).unwrap_or_else(|error| panic!("{error}"));
    player.replay(trace, true).unwrap_or_else(|error| panic!("{error}"))
}

fn world(name: &str, profile: Profile) -> Scenario {
    world_of(name, profile).scenario
}

#[test]
fn redisson_in_a_cluster_does_what_the_clients_of_the_model_do() {
    let cases = from_environment("LOCKSTEP_REDISSON_HISTORIES", HISTORIES);
    let followed = at_once(&WORLDS, |name| {
        let scenario = built_in(name);
        let found = random_histories(&scenario, in_cluster(&scenario.config), cases, 1);
        assert_eq!(found.counterexample.map(|(_, difference)| difference), None, "{name}");
        found.cases - found.left
    });
    println!("{followed:?} of {cases} each were followed to their end");
    if cases == HISTORIES {
        assert_eq!(followed, [HISTORIES; WORLDS.len()]);
    }
}

/// A message of `PUBLISH` would not reach who has sent `SSUBSCRIBE`: the waiter would sleep on.
#[test]
fn in_a_cluster_a_waiter_is_woken_by_the_command_that_server_and_version_have() {
    let program_of = |version| redisson(version).deployed_in(Deployment::Cluster);
    let today = Profile::Redisson47;
    let of_servers = servers().into_iter().map(|server| (server, today, "4.7.0"));
    let of_versions = [
        (Profile::Redisson43, "4.3.1"),
        (Profile::Redisson352, "3.52.0"),
        (Profile::Redisson343, "3.43.0"),
        (Profile::Redisson315, "3.15.6"),
    ];
    let newest = servers().into_iter().find(|server| server.version() >= NEWER).expect("there is one");
    let of_versions = of_versions.into_iter().map(|(profile, version)| (newest.clone(), profile, version));
    let all: Vec<_> = of_servers.chain(of_versions).collect();
    at_once(&all, |(server, profile, version)| {
        let scenario = world("two-clients-one-node", *profile);
        let trace = waiter_is_woken(&scenario.config);
        let played = played(&trace, server, program_of(version));
        assert_eq!((&played.difference, played.left), (&None, None), "{server}, {version}");
        assert_eq!(played.steps, trace.steps.len());
        let is_sharded = server.version() >= NEWER && *profile != Profile::Redisson315;
        let commands = if is_sharded { PubSubCommands::SHARDED } else { PubSubCommands::ORDINARY };
        let seen: Vec<_> = played.answers.concat();
        for command in [commands.subscribe, commands.unsubscribe] {
            let line = format!("B: {command} redisson_lock__channel:{{lock}}");
            assert!(seen.contains(&line), "{server}, {version}: {line} is not in {seen:?}");
        }
        assert!(seen.contains(&"message 0".to_owned()), "{server}, {version}: {seen:?}");
    });
}

/// Otherwise the tests above would show nothing of the commands.
#[test]
fn the_commands_of_a_single_server_are_a_difference_in_a_cluster() {
    let scenario = built_in("two-clients-one-node");
    let server = servers().into_iter().find(|server| server.version() >= NEWER).expect("there is one");
    let wrong = || in_cluster(&scenario.config).expected_to_use(PubSubCommands::ORDINARY);
    let (client, thread) = (0, 0);

    let release = recorded(&scenario.config, &[Acquire { client, thread }, Release { client, thread }]);
    let found = played(&release, &server, wrong()).difference.expect("the script publishes otherwise");
    assert_eq!((found.step, found.what.as_str()), (2, "request of A"));
    assert!(found.redis.contains("SPUBLISH"), "{found:?}");
    assert_eq!(found.redis.replace(" SPUBLISH", ""), found.model);

    let found =
        played(&waiter_is_woken(&scenario.config), &server, wrong()).difference.expect("it subscribes otherwise");
    let channel = "redisson_lock__channel:{lock}";
    assert_eq!((found.step, found.what.as_str()), (3, "request of B"));
    assert_eq!((found.model, found.redis), (format!("SUBSCRIBE {channel}"), format!("SSUBSCRIBE {channel}")));
}

#[test]
fn what_a_cluster_of_one_master_cannot_show_is_refused_with_the_reason() {
    let refused = |name: &str| {
        let scenario = built_in(name);
        match Player::start(&servers()[0], &scenario.config, in_cluster(&scenario.config)) {
            Err(ReplayError::NotForRedisson { reason, .. }) => reason,
            Err(error) => panic!("{name}: {error}"),
            Ok(_) => panic!("{name} is followed"),
        }
    };
    for (name, reason) in [
        ("failover-loses-the-grant", "use replicas = 0"),
        ("restart-loses-the-grant", "executes nothing for 2 s; remove crash_node"),
        ("two-locks-in-one-renewal", "set names to 1"),
        ("lost-acquire-is-not-resent", "set resend to \"all\""),
    ] {
        let said = refused(name);
        assert!(said.contains(reason), "{name}: {said}");
        assert!(said.contains("--deployment cluster"), "{name}: {said}");
    }
}
