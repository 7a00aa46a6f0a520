//! Redisson in other deployments than a single server or a master with replicas: the same histories, by other commands.

use lockstep_model::Action::{
    Acquire, CrashNode, Deliver, Promote, Release, SecondAsk, StartClient, Subscribe, WakeByMessage,
};
use lockstep_model::Property::OneBeliever;
use lockstep_model::config::{Profile, Resend};
use lockstep_model::trace::{About, Trace};
use lockstep_model::{Action, Config};
use lockstep_sim::recorder;
use lockstep_sim::replay::redisson::{Deployment, PubSubCommands, RedissonProgram};
use lockstep_sim::replay::{Played, Player, ReplayError, ServerProgram, Version, suited};
use lockstep_sim::scenario::Scenario;
use lockstep_tests::at_once::at_once;
use lockstep_tests::counterexamples::counterexamples;
use lockstep_tests::drawn::from_environment;
use lockstep_tests::servers::servers;

use crate::redisson;
use crate::replicas::grant_given_back;
use crate::scenarios::{built_in, random_histories, version_of};
use crate::switches::world_of;

/// Scenarios of which each history below is followed to its end: on an atomic network with threads that wait for messages, and
/// messages that are lost; and on a split one with requests that are sent again. Then with replicas, `WAIT` and
/// failovers.
const IN_CLUSTER: [&str; 9] = [
    "two-clients-one-node",
    "lost-unlock-message",
    "force-release",
    "resent-requests",
    "resent-acquire-counts-twice",
    "renewals-that-fail",
    "a-master-and-a-replica",
    "shutdown-waits-for-its-replica",
    "failover-keeps-the-grant",
];
/// The same, with replicas, failovers and `WAIT`, and two locks in one renewal.
const UNDER_SENTINEL: [&str; 5] = [
    "two-clients-one-node",
    "resent-requests",
    "failover-keeps-the-grant",
    "wait-knows-of-no-replica",
    "two-locks-in-one-renewal",
];
/// Random histories of each.
const HISTORIES: u32 = 2;

const NEWER: Version = Version { major: 7, minor: 0, patch: 0 };

fn deployed_in(deployment: Deployment, config: &Config) -> RedissonProgram {
    version_of(config).deployed_in(deployment)
}

/// A server with sharded channels.
fn newer_server() -> ServerProgram {
    servers().into_iter().find(|server| server.version() >= NEWER).expect("there is one")
}

fn recorded(config: &Config, actions: &[Action]) -> Trace {
    recorder::record("deployments", "", config, About::Drawn, actions, "").expect("it can happen")
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

#[test]
fn redisson_in_a_cluster_and_under_a_sentinel_does_what_the_clients_of_the_model_do() {
    let cases = from_environment("LOCKSTEP_REDISSON_HISTORIES", HISTORIES);
    let in_cluster = IN_CLUSTER.map(|name| (Deployment::Cluster, name));
    let under_sentinel = UNDER_SENTINEL.map(|name| (Deployment::Sentinel, name));
    let all = [&in_cluster[..], &under_sentinel].concat();
    let followed = at_once(&all, |(deployment, name)| {
        let scenario = built_in(name);
        let found = random_histories(&scenario, deployed_in(*deployment, &scenario.config), cases, 1);
        assert_eq!(found.counterexample.map(|(_, difference)| difference), None, "{name}, {deployment:?}");
        found.cases - found.left
    });
    println!("{followed:?} of {cases} each were followed to their end");
    if cases == HISTORIES {
        assert_eq!(followed, vec![HISTORIES; all.len()]);
    }
}

/// A message that was sent by `PUBLISH` does not reach a client that has subscribed by `SSUBSCRIBE`: its waiter would go on sleeping.
#[test]
fn a_waiter_is_woken_by_the_command_that_deployment_server_and_version_have() {
    const TODAY: (Profile, &str) = (Profile::Redisson47, "4.7.0");
    const OTHERS: [(Profile, &str); 4] = [
        (Profile::Redisson43, "4.3.1"),
        (Profile::Redisson352, "3.52.0"),
        (Profile::Redisson343, "3.43.0"),
        (Profile::Redisson315, "3.15.6"),
    ];
    let of_servers = servers().into_iter().map(|server| (server, TODAY));
    let of_versions = OTHERS.into_iter().map(|version| (newer_server(), version));
    let all: Vec<_> = of_servers.chain(of_versions).collect();
    at_once(&all, |(server, (profile, version))| {
        for deployment in [Deployment::Cluster, Deployment::Sentinel] {
            let place = format!("{server}, redisson {version}{}", deployment.words());
            let trace = waiter_is_woken(&world_of("two-clients-one-node", *profile).scenario.config);
            let played = played(&trace, server, redisson(version).deployed_in(deployment));
            assert_eq!((&played.difference, played.left), (&None, None), "{place}");
            assert_eq!(played.steps, trace.steps.len(), "{place}");
            let has_sharded = server.version() >= NEWER && *profile != Profile::Redisson315;
            let is_sharded = deployment == Deployment::Cluster && has_sharded;
            let commands = if is_sharded { PubSubCommands::SHARDED } else { PubSubCommands::ORDINARY };
            let seen = played.answers.concat();
            for command in [commands.subscribe, commands.unsubscribe] {
                let line = format!("B: {command} redisson_lock__channel:{{lock}}");
                assert!(seen.contains(&line), "{place}: {line} is not in {seen:?}");
            }
            assert!(seen.contains(&"message 0".to_owned()), "{place}: {seen:?}");
        }
    });
}

/// Redisson sends `WAIT` behind each script, and gives a grant back that no replica has.
/// The same steps in the same world on this server.
fn suited_to(trace: &Trace, server: &ServerProgram) -> Trace {
    let actions: Vec<_> = trace.steps.iter().map(|step| step.action).collect();
    recorded(&suited(&trace.config, server), &actions)
}

fn followed_with(trace: &Trace, server: &ServerProgram, deployment: Deployment, lines: &[&str]) {
    let place = format!("{server}{}", deployment.words());
    let played = played(trace, server, deployed_in(deployment, &trace.config));
    assert_eq!((&played.difference, played.left, played.steps), (&None, None, trace.steps.len()), "{place}");
    let seen = played.answers.concat();
    for line in lines {
        assert!(seen.iter().any(|one| one == line), "{place}: {line} is not in {seen:?}");
    }
}

#[test]
fn in_a_cluster_and_under_a_sentinel_redisson_waits_for_the_replicas_of_its_master() {
    const LINES: [&str; 4] = ["A: WAIT 1", "A: WAIT 1 → 0", "B: WAIT 1", "B: WAIT 1 → 1"];
    let trace = grant_given_back();
    let under_sentinel = (Deployment::Sentinel, servers()[0].clone());
    // With an older one the model sends its effects otherwise.
    let newer = servers().into_iter().filter(|server| server.version() >= NEWER);
    let in_cluster = newer.map(|server| (Deployment::Cluster, server));
    let all: Vec<_> = in_cluster.chain([under_sentinel]).collect();
    at_once(&all, |(deployment, server)| followed_with(&trace, server, *deployment, &LINES));
}

/// A replica of a cluster takes over from a dead master, without what that had not sent it: two clients believe.
#[test]
fn a_failover_of_a_cluster_loses_the_grant_of_real_redisson() {
    const LINES: [&str; 3] = ["n2: CLUSTER FAILOVER TAKEOVER → OK", "A:1: it has the lock", "B:1: it has the lock"];
    let is_of_two = |trace: &Trace| matches!(trace.about, About::Counterexample { property: OneBeliever, .. });
    let traces = counterexamples(&built_in("failover-loses-the-grant"));
    let trace = traces.into_iter().find(is_of_two).expect("it is violated");
    at_once(&servers(), |server| {
        followed_with(&suited_to(&trace, server), server, Deployment::Cluster, &LINES);
    });
}

/// The nodes that a new client is told of are those of the new master.
#[test]
fn a_client_that_starts_after_a_failover_of_its_cluster_finds_the_new_master() {
    let text = "story = 's'\nlock = 'reentrant'\n[time]\nlease = 3\nwait_limit = 0\n[clients]\ncount = 2\n[cluster]\nreplicas = 2\n\
                [faults]\ncrash_node = 1\nstart_client = 1";
    let config = Scenario::parse("late", text).unwrap_or_else(|error| panic!("{error}")).config;
    let (client, thread) = (1, 0);
    let starts = StartClient { client, node: 1 };
    let trace = recorded(
        &config,
        &[CrashNode { node: 0 }, Promote { node: 1 }, starts, Acquire { client, thread }, Release { client, thread }],
    );
    at_once(&servers(), |server| {
        let lines = ["n2: CLUSTER FAILOVER TAKEOVER → OK", "B:1: it has the lock", "B:1: it has released"];
        followed_with(&suited_to(&trace, server), server, Deployment::Cluster, &lines);
    });
}

/// Otherwise the tests above would show nothing of the commands.
#[test]
fn the_commands_of_a_single_server_are_a_difference_in_a_cluster() {
    let scenario = built_in("two-clients-one-node");
    let server = newer_server();
    let wrong = || deployed_in(Deployment::Cluster, &scenario.config).expected_to_use(PubSubCommands::ORDINARY);
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

fn refused(deployment: Deployment, scenario: &Scenario) -> String {
    let (config, name) = (scenario.config, &scenario.name);
    match Player::start(&servers()[0], &config, deployed_in(deployment, &config)) {
        Err(ReplayError::NotForRedisson { reason, .. }) => reason,
        Err(error) => panic!("{name}: {error}"),
        Ok(_) => panic!("{name} is followed"),
    }
}

#[test]
fn what_a_deployment_cannot_show_is_refused_with_the_reason() {
    for (deployment, name, reason) in [
        (Deployment::Cluster, "forced-hand-over-loses-the-grant", "sends clients there (MOVED); remove hand_over"),
        (Deployment::Cluster, "message-of-a-replica-comes-late", "use subscribe_to = \"master\""),
        (Deployment::Cluster, "restart-loses-the-grant", "executes nothing for 2 s; remove restart_node"),
        (Deployment::Cluster, "two-locks-in-one-renewal", "set names to 1"),
        (Deployment::Sentinel, "message-lost-with-a-broken-link", "use subscribe_to = \"master\""),
    ] {
        let said = refused(deployment, &built_in(name));
        assert!(said.contains(reason), "{name}: {said}");
        let option = deployment.option().expect("it is asked for");
        assert!(said.ends_with(&format!(", or remove {option}")), "{name}: {said}");
    }
}

/// Without the deployment a single server would refuse it as well, where only releases are sent again.
#[test]
fn to_remove_the_deployment_is_advised_only_where_that_helps() {
    for deployment in [Deployment::Cluster, Deployment::Sentinel] {
        let mut scenario = built_in("lost-acquire-is-not-resent");
        let said = refused(deployment, &scenario);
        assert!(said.ends_with("set resend to \"all\""), "{said}");
        scenario.config.calls.resend = Resend::None;
        let said = refused(deployment, &scenario);
        let option = deployment.option().expect("it is asked for");
        assert!(said.ends_with(&format!("set resend to \"all\", or remove {option}")), "{said}");
    }
}

#[test]
fn the_result_names_the_version_of_every_client() {
    let text =
        "lock = \"reentrant\"\n[time]\nlease = 3\n[clients]\ncount = 3\n[[client]]\nprofile = \"redisson-3.15\"\n";
    let scenario =
        Scenario::parse("mixed", &format!("story = \"x\"\n{text}")).unwrap_or_else(|error| panic!("{error}"));
    let config = scenario.config;
    let named = |deployment| {
        let player = Player::start(&servers()[0], &config, deployed_in(deployment, &config)).expect("it starts");
        player.clients().expect("a library").to_owned()
    };
    assert_eq!(named(Deployment::AsScenario), "redisson 4.7.0 (A: 3.15.6)");
    assert_eq!(named(Deployment::Sentinel), "redisson 4.7.0 (A: 3.15.6) under a sentinel");
}

/// One subscribes to a channel of the shard, and the other publishes to a channel of the same name that every node knows.
#[test]
fn clients_of_a_cluster_that_do_not_wake_each_other_are_refused() {
    let text =
        "lock = \"reentrant\"\n[time]\nlease = 3\n[clients]\ncount = 2\n[[client]]\nprofile = \"redisson-3.15\"\n";
    let scenario =
        Scenario::parse("mixed", &format!("story = \"x\"\n{text}")).unwrap_or_else(|error| panic!("{error}"));
    let said = refused(Deployment::Cluster, &scenario);
    assert!(said.contains("do not wake each other, which is not modelled; give all clients one profile"), "{said}");
}
