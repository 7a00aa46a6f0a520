//! Model and real servers agree: on every counterexample, on histories that take every kind of action, on histories
//! drawn at random, and on those that are kept because they tell a story or once differed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::config::{Faults, Ttls};
use lockstep_model::trace::{About, Trace};
use lockstep_model::{Action, LockKind};
use lockstep_redis::Scripts;
use lockstep_sim::check::{Engine, Limits, check, covering};
use lockstep_sim::fuzz::{Options, fuzz};
use lockstep_sim::replay::{Difference, Player, Server, ServerNode, suited};
use lockstep_sim::scenario::{Scenario, builtin};
use lockstep_tests::servers::for_every_version;
use redis::RedisResult;

/// Random histories of each kind, on one node.
const CASES_PER_KIND: u32 = 1_000;
/// Random histories with replicas and failovers.
const CASES_WITH_REPLICAS: u32 = 200;

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/histories")
}

fn assert_agrees(player: &mut Player, trace: &Trace) {
    let result = player.replay(trace, false).unwrap_or_else(|error| panic!("{}: {error}", trace.scenario));
    if let Some(difference) = result.difference {
        panic!("{}: model and redis differ:\n{}", trace.scenario, told(&difference, trace));
    }
    assert_eq!(result.steps, trace.steps.len());
}

fn told(difference: &Difference, trace: &Trace) -> String {
    let Difference { step, what, model, redis, .. } = difference;
    let story = lockstep_sim::render::short::list(trace);
    format!("step {step}, {what}\n  model  {model}\n  redis  {redis}\n{story}")
}

/// What the model says can go wrong goes wrong on real servers, in exactly those steps.
#[test]
fn every_counterexample_and_covering_history_agrees_on_every_server() {
    for_every_version(|version| {
        for scenario in builtin().into_iter().filter(|scenario| can_replay(version, scenario)) {
            let scenario = on(version, scenario);
            let mut player = start(version, &scenario);
            for trace in counterexamples(&scenario).iter().chain(&covering_histories(&scenario)) {
                assert_agrees(&mut player, trace);
            }
        }
    });
}

#[test]
fn random_histories_of_the_plain_lock_agree_on_every_server() {
    random_histories(CASES_PER_KIND, |scenario| {
        scenario.config.lock == LockKind::Plain && scenario.config.cluster.replicas == 0
    });
}

#[test]
fn random_histories_of_the_reentrant_lock_agree_on_every_server() {
    random_histories(CASES_PER_KIND, |scenario| {
        scenario.config.lock == LockKind::Reentrant && scenario.config.cluster.replicas == 0
    });
}

#[test]
fn random_histories_with_replicas_and_failovers_agree_on_every_server() {
    random_histories(CASES_WITH_REPLICAS, |scenario| scenario.config.cluster.replicas > 0);
}

/// All faults there are, in two worlds that have every one of them between them: a jump of a clock does not go with
/// `WAIT`, nor do a jump and an eviction with receipts. 1 000 histories in all.
#[test]
fn random_histories_of_split_worlds_with_every_fault_agree_on_every_server() {
    const CASES: u32 = 167;
    let worlds = [EVERY_FAULT.to_owned(), every_fault_without_receipts()]
        .map(|text| Scenario::parse("every-fault", &text).expect("it is a scenario"));
    let budgets = worlds.iter().flat_map(|scenario| scenario.config.faults.budgets());
    let there: BTreeSet<_> = budgets.filter(|(_, budget)| *budget > 0).map(|(kind, _)| kind).collect();
    assert_eq!(there.len(), Faults::default().budgets().len(), "every fault is in one of the worlds");
    for_every_version(|version| {
        for (seed, scenario) in (0..).zip(&worlds) {
            let mut scenario = on(version, scenario.clone());
            if version.shows_scripts_what_has_expired() {
                // Nothing that makes a master a replica while a client may still ask it.
                let faults = &mut scenario.config.faults;
                (faults.cut_link, faults.hand_over, faults.restart_node) = (0, 0, 0);
            }
            assert_fuzz_agrees(version, &scenario, Options { cases: CASES, seed });
        }
    });
}

const EVERY_FAULT: &str = r#"
story = "Everything that can go wrong where requests and answers are late, in one world."
lock = "reentrant"
[time]
lease = 3
renew_every = 1
wait_limit = 4
hold_at_most = 4
jump = 2
[clients]
count = 2
threads = 2
max_holds = 2
acquires = 100
[cluster]
replicas = 1
wait_for = 1
[network]
mode = "split"
delay = "any"
[protocol]
resend = "all"
[faults]
crash_client = 1
crash_thread = 1
pause_client = 1
crash_node = 1
restart_node = 1
cut_link = 1
hand_over = 1
lose_message = 1
lose_request = 1
lose_reply = 1
interrupt = 1
foreign_release = 1
force_release = 1
client_clock_jump = 1
"#;

fn every_fault_without_receipts() -> String {
    EVERY_FAULT.replace("wait_for = 1\n", "").replace("[protocol]", "[protocol]\nreceipts = false")
        + "vanish_key = 1\nclock_jump = 1\n"
}

/// Pairs of keys on which model and servers, or the harness, once differed.
#[test]
fn random_histories_of_worlds_that_once_differed_agree_on_every_server() {
    let world = |cluster: &str, rest: &str| {
        let text = format!(
            "story = \"x\"\nlock = \"reentrant\"\n[time]\nlease = 3\nwait_limit = 0\nhold_at_most = 2\n[clients]\n\
             count = 2\nacquires = 1\n[cluster]\n{cluster}\n{rest}"
        );
        Scenario::parse("once-differed", &text).unwrap_or_else(|error| panic!("{error}"))
    };
    let worlds = [
        world("replicas = 1\nlag = 0\nwait_for = 1", "[faults]\ncrash_node = 1"),
        world("replicas = 1\nlag = 0", "[faults]\ncut_link = 1\n[network]\nmode = \"split\""),
        world("replicas = 1\nmin_replicas = 1", "[faults]\ncut_link = 1\ncrash_node = 1"),
        world(
            "replicas = 1\nmin_replicas = 1",
            "[faults]\ncut_link = 2\ncrash_node = 1\n[network]\nmode = \"split\"\n[protocol]\nresend = \"release\"",
        ),
        world("replicas = 2\nwait_for = 1", "[faults]\ncut_link = 2\ncrash_node = 1\nrestart_node = 1\nhand_over = 1"),
    ];
    for_every_version(|version| {
        for (seed, scenario) in (0..).zip(&worlds).filter(|(_, scenario)| can_replay(version, scenario)) {
            let mut scenario = on(version, scenario.clone());
            if version.shows_scripts_what_has_expired() {
                scenario.config.faults.hand_over = 0;
            }
            assert_fuzz_agrees(version, &scenario, Options { cases: 40, seed });
        }
    });
}

/// What is in a master's stream and is no effect must not be taken for one; and what is over by a new master's clock it
/// deletes, wherever it is not over yet. Both once differed.
#[test]
fn histories_with_clocks_that_jump_agree_on_every_server() {
    let world = |rule: &str| {
        format!(
            "story = \"x\"\nlock = \"reentrant\"\n[time]\nlease = 1\nwait_limit = 0\njump = 2\n[clients]\ncount = 2\n\
             [cluster]\nreplicas = 1\npromote = \"{rule}\"\n[faults]\nclock_jump = 1\nforce_release = 1\nhand_over = 1\n"
        )
    };
    let acquire = Action::Acquire { client: 0, thread: 0 };
    let (jump, hand_over) = (Action::ClockJump { node: 1 }, Action::HandOver { node: 1 });
    let replicate = Action::Replicate { node: 1 };
    for (rule, actions) in [
        ("any", vec![Action::ForceRelease { client: 1 }, acquire, Action::Tick, replicate]),
        ("any", vec![acquire, replicate, jump, hand_over, Action::Demote { node: 0 }]),
        ("coordinated", vec![acquire, replicate, jump, hand_over, Action::Replicate { node: 0 }]),
    ] {
        for_every_version(|version| {
            let scenario = on(version, Scenario::parse("jumps", &world(rule)).expect("it is a scenario"));
            let trace = Trace::record("jumps", "", &scenario.config, About::Covering, &actions, "").unwrap();
            assert_agrees(&mut start(version, &scenario), &trace);
        });
    }
}

/// Stories told by hand, and histories on which model and Redis once differed.
#[test]
fn every_kept_history_agrees_on_every_server() {
    let traces = kept_histories();
    assert!(!traces.is_empty(), "there are kept histories");
    for_every_version(|version| {
        for trace in &traces {
            let Trace { scenario, story, config, about, .. } = trace;
            let config = suited(config, version);
            let trace = Trace::record(scenario, story, &config, about.clone(), &trace.actions(), "").unwrap();
            let mut player = Player::start(version, &config, Scripts::built_in()).expect("servers start");
            assert_agrees(&mut player, &trace);
        }
    });
}

/// A replay is a measurement that can be repeated: the same answers, to the last byte.
#[test]
fn a_replay_has_the_same_answers_every_time() {
    for_every_version(|version| {
        let scenario = builtin().into_iter().find(|scenario| scenario.name == "failover-while-waiting").unwrap();
        let scenario = on(version, scenario);
        let trace = counterexamples(&scenario).swap_remove(0);
        let first = start(version, &scenario).replay(&trace, true).expect("servers answer");
        let mut again = start(version, &scenario);
        for _ in 0..5 {
            assert_eq!(again.replay(&trace, true).expect("servers answer"), first);
        }
    });
}

/// The scenario in the world that this version makes.
pub(crate) fn on(version: &Server, scenario: Scenario) -> Scenario {
    Scenario { config: suited(&scenario.config, version), ..scenario }
}

/// Whether the version has what the scenario needs; the one thing that one lacks has a test of its own, below.
fn can_replay(version: &Server, scenario: &Scenario) -> bool {
    scenario.config.cluster.min_replicas == 0 || version.counts_replicas_in_scripts()
}

/// Redis 6.2 writes from a script where it refuses a SET. A repair that does nothing must not look like one that works.
#[test]
fn a_server_that_asks_scripts_for_no_replicas_is_refused_where_the_scenario_needs_them() {
    for_every_version(|version| {
        let node = ServerNode::start(version, 0).expect("a server starts");
        node.require_replicas(1, 10).expect("a setting it has");
        let mut client = node.connect().expect("a connection");
        let plain: RedisResult<()> = redis::cmd("SET").arg("key").arg(1).query(&mut client);
        assert_eq!(plain.unwrap_err().code(), Some("NOREPLICAS"), "{version}");
        let script = "return redis.call('set', 'key', 1)";
        let scripted: RedisResult<()> = redis::cmd("EVAL").arg(script).arg(0).query(&mut client);
        assert_eq!(scripted.is_err(), version.counts_replicas_in_scripts(), "{version}");

        let scenario = builtin().into_iter().find(|scenario| scenario.config.cluster.min_replicas > 0).unwrap();
        let started = Player::start(version, &on(version, scenario).config, Scripts::built_in());
        match started {
            Ok(_) => assert!(version.counts_replicas_in_scripts(), "{version}"),
            Err(error) => {
                assert!(!version.counts_replicas_in_scripts(), "{version}: {error}");
                assert!(error.to_string().contains("min-replicas-to-write to SET but not to scripts"), "{error}");
            }
        }
    });
}

/// A difference between versions that is known is refused, with what to do, and not replayed as if it were none.
#[test]
fn a_server_that_sends_ttls_in_another_way_than_the_scenario_says_is_refused() {
    for_every_version(|version| {
        let mut scenario = builtin().into_iter().find(|scenario| scenario.config.cluster.replicas > 0).unwrap();
        let other = if version.ttls() == Ttls::Absolute { Ttls::Relative } else { Ttls::Absolute };
        scenario.config.cluster.ttls = other;
        let Err(error) = Player::start(version, &scenario.config, Scripts::built_in()) else { panic!("not refused") };
        assert!(error.to_string().contains("sends TTLs to its replicas as"), "{error}");
    });
}

fn start(version: &Server, scenario: &Scenario) -> Player {
    Player::start(version, &scenario.config, Scripts::built_in())
        .unwrap_or_else(|error| panic!("{}: {error}", scenario.name))
}

fn counterexamples(scenario: &Scenario) -> Vec<Trace> {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits { max_states: None, max_bytes: None, time_limit: None, stop: &stop, progress: &progress };
    let outcome = check(scenario, Engine::Native, &limits).unwrap_or_else(|error| panic!("{error}"));
    outcome.properties.into_iter().filter_map(|found| found.trace).collect()
}

fn covering_histories(scenario: &Scenario) -> Vec<Trace> {
    let Scenario { name, story, config, .. } = scenario;
    let record = |actions: Vec<_>| Trace::record(name, story, config, About::Covering, &actions, "").unwrap();
    covering(config).into_iter().map(record).collect()
}

fn random_histories(cases: u32, is_meant: impl Fn(&Scenario) -> bool) {
    let scenarios: Vec<_> = builtin().into_iter().filter(|scenario| is_meant(scenario)).collect();
    let each = cases.div_ceil(u32::try_from(scenarios.len()).unwrap());
    for_every_version(|version| {
        for (seed, scenario) in (0..).zip(&scenarios).filter(|(_, scenario)| can_replay(version, scenario)) {
            assert_fuzz_agrees(version, &on(version, scenario.clone()), Options { cases: each, seed });
        }
    });
}

pub(crate) fn assert_fuzz_agrees(version: &Server, scenario: &Scenario, options: Options) {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let found = fuzz(scenario, version, Scripts::built_in(), options, &stop, &progress)
        .unwrap_or_else(|error| panic!("{}: {error}", scenario.name));
    if let Some((trace, difference)) = found.counterexample {
        let file = keep(&trace, options.seed);
        panic!("kept as {}\n{}", file.display(), told(&difference, &trace));
    }
    assert_eq!(found.cases, options.cases);
}

/// Keeps a history on which model and Redis differ: as a trace, since a seed draws other histories once the model changes.
fn keep(trace: &Trace, seed: u64) -> PathBuf {
    let file = kept().join(format!("{}-{seed}.json", trace.scenario));
    fs::write(&file, lockstep_sim::render::json::document(trace)).expect("the folder of kept histories is writable");
    file
}

fn kept_histories() -> Vec<Trace> {
    let mut files: Vec<_> = fs::read_dir(kept()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
        .iter()
        .map(|file| {
            let text = fs::read_to_string(file).unwrap();
            let trace: Trace =
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            assert_eq!(trace.retrace(), Ok(()), "{}: the model says something else by now", file.display());
            trace
        })
        .collect()
}
