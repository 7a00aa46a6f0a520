//! Real sentinels fail over as a history says, in their own time.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use lockstep_model::trace::{About, Trace};
use lockstep_model::{Action, Config};
use lockstep_redis::Scripts;
use lockstep_sim::recorder;
use lockstep_sim::replay::sentinel::{Failover, SENTINELS, Sentinels, priority, refuse_trace, refuse_world};
use lockstep_sim::replay::{
    Addresses, Gate, Played, Player, ReplayError, ServerNode, ServerProgram, ServerRole, suited,
};
use lockstep_sim::scenario::builtin;
use lockstep_tests::servers::{START_MS, for_every_version_at_once, servers};
use redis::{Value, cmd};

const ACQUIRE: [Action; 2] = [Action::Acquire { client: 0, thread: 0 }, Action::Acquire { client: 1, thread: 0 }];
const MASTER_DIES: Action = Action::CrashNode { node: 0 };

fn world(scenario: &str) -> Config {
    builtin().into_iter().find(|one| one.name == scenario).expect("a built-in scenario").config
}

fn trace(config: &Config, actions: &[Action]) -> Trace {
    recorder::record("hand-written", "", config, About::Drawn, actions, "").expect("each action can happen")
}

fn replay(server: &ServerProgram, trace: &Trace) -> Played {
    Player::start_under_sentinel(server, &trace.config, Scripts::built_in())
        .and_then(|mut player| player.replay(trace, false))
        .unwrap_or_else(|error| panic!("{server}: {error}"))
}

/// The shortest history in which a lock is lost.
fn the_grant_is_lost(server: &ServerProgram) -> Trace {
    let config = suited(&world("failover-loses-the-grant"), server);
    let [a_asks, b_asks] = ACQUIRE;
    trace(&config, &[a_asks, MASTER_DIES, Action::Promote { node: 1 }, Action::Discover { client: 1 }, b_asks])
}

/// The sentinels that published this event about the nodes, by name.
fn who_published(failover: &Failover, what: &str, about: &str) -> Vec<String> {
    let mut who: Vec<_> = failover.events.iter().filter(|event| event.what == what && event.about == about).collect();
    who.sort_by(|one, other| one.by.cmp(&other.by));
    who.into_iter().map(|event| event.by.clone()).collect()
}

// Histories.

/// Sentinel's own failover loses the lock in the same steps as a promotion by the harness.
#[test]
fn sentinels_own_failover_gives_the_lock_away_twice_on_every_server() {
    for_every_version_at_once(|server| {
        let trace = the_grant_is_lost(server);
        let played = replay(server, &trace);
        assert_eq!(played.difference, None);
        assert_eq!(played.steps, 5);
        let last = trace.state_after(5);
        assert!(last.clients.iter().all(|client| client.threads[0].holds == 1), "two believers at the end");

        let [failover] = &played.failovers[..] else { panic!("one failover: {:?}", played.failovers) };
        assert_eq!((failover.step, failover.died.as_str(), failover.promoted.as_str()), (3, "n1", "n2"));
        assert!(
            who_published(failover, "+sdown", "n1").len() >= 2,
            "a quorum considered the master down: {failover:?}"
        );
        assert_eq!(who_published(failover, "+promoted-slave", "n2").len(), 1, "one sentinel promoted: {failover:?}");
        assert_eq!(who_published(failover, "+switch-master", "n1 n2"), ["s1", "s2", "s3"]);
    });
}

/// A history decides which replica is promoted, by a real setting: Sentinel takes the lowest priority. The other replica
/// keeps its data until the history lets it follow.
#[test]
fn of_two_replicas_sentinel_promotes_the_one_of_the_history() {
    for_every_version_at_once(|server| {
        let config = suited(&world("failover-to-the-wrong-replica"), server);
        let [a_asks, b_asks] = ACQUIRE;
        let actions = [
            a_asks,
            Action::Replicate { node: 1 },
            MASTER_DIES,
            Action::Promote { node: 2 },
            Action::Discover { client: 1 },
            b_asks,
            Action::Resync { node: 1 },
        ];
        let played = replay(server, &trace(&config, &actions));
        assert_eq!(played.difference, None);
        let promoted: Vec<_> = played.failovers.iter().map(|failover| failover.promoted.as_str()).collect();
        assert_eq!(promoted, ["n3"]);
        assert_eq!(who_published(&played.failovers[0], "+slave-reconf-sent", "n2").len(), 1);
    });
}

/// The second failover works right after the first, whether or not the last replica has followed the second master by then.
#[test]
fn sentinel_fails_over_twice_in_one_history() {
    for_every_version_at_once(|server| {
        let mut config = suited(&world("failover-to-the-wrong-replica"), server);
        config.faults.crash_node = 2;
        let first = [ACQUIRE[0], Action::Replicate { node: 2 }, MASTER_DIES, Action::Promote { node: 1 }];
        let second =
            [Action::CrashNode { node: 1 }, Action::Promote { node: 2 }, Action::Discover { client: 1 }, ACQUIRE[1]];
        for follows in [&[Action::Resync { node: 2 }][..], &[]] {
            let played = replay(server, &trace(&config, &[&first, follows, &second].concat()));
            assert_eq!(played.difference, None, "{server}");
            let failovers = played.failovers.iter().map(|one| (one.died.as_str(), one.promoted.as_str()));
            assert_eq!(failovers.collect::<Vec<_>>(), [("n1", "n2"), ("n2", "n3")], "{server}");
        }
    });
}

/// The comparison can fail.
#[test]
fn a_history_in_which_a_client_finds_another_master_than_sentinel_names_differs() {
    let server = servers().swap_remove(0);
    let mut trace = the_grant_is_lost(&server);
    trace.steps[3].state.clients[1].master = "n1".to_owned();
    let difference = replay(&server, &trace).difference.expect("a difference");
    assert_eq!(difference.step, 4);
    assert!(difference.what.starts_with("the master that s"), "{difference:?}");
    assert_eq!((difference.model.as_str(), difference.redis.as_str()), ("n1", "n2"));
}

#[test]
fn a_history_without_work_for_sentinel_is_refused_with_what_to_change() {
    let reason = |refused: Result<(), ReplayError>| refused.expect_err("refused").to_string();
    assert!(reason(refuse_world(&world("two-clients-one-node"))).contains("say replicas = 1"));
    let mut nobody_dies = world("failover-loses-the-grant");
    nobody_dies.faults.crash_node = 0;
    assert!(reason(refuse_world(&nobody_dies)).contains("say crash_node = 1"));

    let config = world("failover-loses-the-grant");
    assert!(reason(refuse_trace(&trace(&config, &[MASTER_DIES]))).contains("nobody is promoted"));
    assert!(refuse_trace(&trace(&config, &[MASTER_DIES, Action::Promote { node: 1 }])).is_ok());

    let returns = world("empty-master-wipes-its-replica");
    let reason = reason(refuse_trace(&trace(&returns, &[MASTER_DIES, Action::RestartNode { node: 0 }])));
    assert!(reason.contains("in step 2 n1 returns"), "{reason}");
}

// Sentinels.

/// Nodes that follow the first one, each through its gate and by its address, and the sentinels that watch them.
struct WatchedGroup {
    sentinels: Sentinels,
    // Dropped after the sentinels, which use them.
    gates: Vec<Gate>,
    _addresses: Addresses,
    nodes: Vec<ServerNode>,
}

fn group(server: &ServerProgram, priorities: &[u32]) -> WatchedGroup {
    let nodes: Vec<_> = (0..=priorities.len()).map(|_| ServerNode::start(server, START_MS).expect("a node")).collect();
    let addresses = Addresses::open(&nodes).expect("addresses");
    let gates = (1..).zip(priorities).map(|(replica, &priority)| {
        let gate = Gate::open(nodes[0].socket()).expect("a gate");
        addresses.follow(&nodes[replica], replica, 0, &gate).unwrap_or_else(|error| panic!("{server}: {error}"));
        nodes[replica].set_priority(priority).expect("a setting");
        gate
    });
    let gates = gates.collect();
    let sentinels = Sentinels::start(server, &addresses, 0).unwrap_or_else(|error| panic!("{server}: {error}"));
    WatchedGroup { sentinels, gates, _addresses: addresses, nodes }
}

impl WatchedGroup {
    fn kill_master(&mut self) {
        self.sentinels.note_death(0).expect("sentinels take their settings");
        self.nodes[0].kill().expect("our own child");
    }

    /// Waits until so many of the sentinels have published this event about the nodes.
    fn wait_for(&self, what: &str, about: &str, sentinels: usize) {
        let begin = Instant::now();
        loop {
            let events = self.sentinels.events_since_death();
            let who = events.iter().filter(|event| event.what == what && event.about == about);
            if who.map(|event| &event.by).collect::<BTreeSet<_>>().len() >= sentinels {
                return;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "no {what} {about} from {sentinels}: {events:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn failover_to(&mut self, wanted: usize) -> Result<Failover, ReplayError> {
        let replicas: Vec<_> = self.nodes.iter().enumerate().skip(1).collect();
        self.sentinels.wait_for_failover(&replicas, wanted, 1)
    }
}

/// One sentinel may fail.
#[test]
fn two_of_three_sentinels_are_enough_for_a_failover() {
    for_every_version_at_once(|server| {
        let mut group = group(server, &[100]);
        group.kill_master();
        group.sentinels.kill(1).expect("our own child");
        let failover = group.failover_to(1).unwrap_or_else(|error| panic!("{server}: {error}"));
        assert_eq!(group.nodes[1].master_port().expect("it runs"), None);
        assert_eq!(who_published(&failover, "+switch-master", "n1 n2"), ["s1", "s3"]);
        let (asked, named) = group.sentinels.ask_for_master(1).expect("one is asked that runs");
        assert_eq!((asked.as_str(), named.as_str()), ("s3", "n2"));
    });
}

/// A single sentinel has no quorum and no majority.
#[test]
fn one_of_three_sentinels_promotes_nobody_and_the_error_says_what_it_reports() {
    for_every_version_at_once(|server| {
        let mut group = group(server, &[100]);
        // Time enough for a busy machine to find the master dead.
        group.sentinels = group.sentinels.with_patience(Duration::from_secs(15));
        group.sentinels.kill(0).expect("our own child");
        group.sentinels.kill(2).expect("our own child");
        group.kill_master();
        let error = group.failover_to(1).expect_err("nobody is promoted");
        assert!(matches!(error, ReplayError::NoFailover { .. }), "{error}");
        for said in
            ["no failover within 15 s of the death of n1", "s1: is dead", "s2: n1 is s_down", "NOQUORUM", "s3: is dead"]
        {
            assert!(error.to_string().contains(said), "{server}: {said:?} is not in {error}");
        }
        assert_eq!(group.nodes[1].role().expect("it runs"), ServerRole::Replica);
    });
}

#[test]
fn a_replica_that_sentinel_prefers_to_that_of_the_history_is_named() {
    for_every_version_at_once(|server| {
        let mut group = group(server, &[10, 20]);
        group.kill_master();
        let error = group.failover_to(2).expect_err("they choose n2");
        let ReplayError::SentinelChose { wanted, chosen, .. } = &error else { panic!("{error}") };
        assert_eq!((wanted.as_str(), chosen.as_str()), ("n3", "n2"));
    });
}

/// A replica that does not answer when the sentinels choose is passed over, whatever its priority. Where the history promotes
/// it, nobody else is chosen in its place: they try again, and it is promoted once it answers.
#[test]
fn a_replica_that_does_not_answer_when_sentinels_choose_is_promoted_all_the_same() {
    const WANTED: usize = 1;
    for_every_version_at_once(|server| {
        let mut group = group(server, &[priority(1, Some(1)), priority(2, Some(1))]);
        group.sentinels.note_death(0).expect("sentinels take their settings");
        group.nodes[WANTED].pause().expect("our own child");
        // Before that they would choose it, although it stands still.
        group.wait_for("+sdown", "n2", SENTINELS);
        group.nodes[0].kill().expect("our own child");
        group.wait_for("-failover-abort-no-good-slave", "n1", 1);
        group.nodes[WANTED].resume().expect("it goes on");
        let failover = group.failover_to(WANTED).unwrap_or_else(|error| panic!("{server}: {error}"));
        assert_eq!(failover.promoted, "n2");
    });
}

/// A node's address does not lead around its gate.
#[test]
fn by_its_address_too_a_replica_receives_only_what_its_gate_releases() {
    for_every_version_at_once(|server| {
        let group = group(server, &[100]);
        let read = || cmd("GET").arg("lock").query::<Option<String>>(&mut group.nodes[1].connect().unwrap()).unwrap();
        let _: Value = cmd("SET").arg("lock").arg("a").query(&mut group.nodes[0].connect().unwrap()).unwrap();
        group.gates[0].mark(group.nodes[0].offset().unwrap());
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(read(), None);
        let effect = group.gates[0].release_one().unwrap();
        assert_eq!(read().as_deref(), Some("a"));
        assert!(!effect.to_string().contains("__sentinel__"), "{effect}");
    });
}

/// Some builds of servers have no sentinel mode.
#[test]
fn a_server_without_sentinel_mode_is_refused() {
    let server = servers().swap_remove(0);
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("ordinary-server");
    let real = server.path().display();
    let text = format!(
        "#!/bin/sh\ncase \"$*\" in\n*--sentinel*) exec '{real}' --port 0 --unixsocket \"$PWD/s\" --save '' ;;\n\
         *) exec '{real}' \"$@\" ;;\nesac\n"
    );
    fs::write(&program, text).expect("a file");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
    let ordinary = ServerProgram::find(Some(&program)).expect("it is a server");
    let node = ServerNode::start(&server, START_MS).expect("a node");
    let addresses = Addresses::open([&node]).expect("an address");
    let error = Sentinels::start(&ordinary, &addresses, 0).expect_err("no sentinel");
    assert!(error.to_string().contains("it has no sentinel mode"), "{error}");
}
