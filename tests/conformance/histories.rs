//! Model and real servers agree: on every counterexample, on histories with every kind of action, on random histories, and
//! on the histories that are kept as examples or because model and server once differed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, OnceLock, PoisonError};

use lockstep_model::config::{Channels, Ttls, WaitAfter};
use lockstep_model::trace::{About, Trace};
use lockstep_model::{Action, Config, LockKind};
use lockstep_redis::Scripts;
use lockstep_sim::any_world::AnyWorld;
use lockstep_sim::check::{Limits, covering};
use lockstep_sim::fuzz::{FuzzOptions, fuzz};
use lockstep_sim::recorder;
use lockstep_sim::replay::{Difference, Player, ServerNode, ServerProgram, suited};
use lockstep_sim::scenario::{Scenario, builtin};
pub(crate) use lockstep_tests::built_in::scenario as builtin_scenario;
use lockstep_tests::counterexamples::counterexamples;
use lockstep_tests::drawn::from_environment;
use lockstep_tests::servers::{for_every_version_at_once as for_every_version, servers};
use redis::RedisResult;

/// Random histories of each kind of lock, on one node and for each server version; `LOCKSTEP_KIND_HISTORIES` asks for others.
const CASES_PER_KIND: u32 = 100;
/// Random histories with replicas and failovers, of all kinds together, as many of each; `LOCKSTEP_REPLICA_HISTORIES` asks for others.
const CASES_WITH_REPLICAS: u32 = 100;

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/histories")
}

pub(crate) fn assert_agrees(player: &mut Player, trace: &Trace) {
    let result = player.replay(trace, false).unwrap_or_else(|error| panic!("{}: {error}", trace.scenario));
    if let Some(difference) = result.difference {
        panic!("{}: model and Redis differ:\n{}", trace.scenario, report(&difference, trace));
    }
    assert_eq!(result.steps, trace.steps.len());
}

fn report(difference: &Difference, trace: &Trace) -> String {
    let Difference { step, what, model, redis, .. } = difference;
    let story = lockstep_sim::render::short::list(trace);
    format!("step {step}, {what}\n  model  {model}\n  redis  {redis}\n{story}")
}

/// What can go wrong in the model goes wrong on real servers, in exactly those steps: each on one of the servers, by turns, and on every
/// one with `LOCKSTEP_EVERY_SERVER=1`.
#[test]
fn every_counterexample_and_covering_history_agrees_on_real_servers() {
    let on_every_server = from_environment("LOCKSTEP_EVERY_SERVER", 0) > 0;
    // Of each scenario as a server makes it, once: most servers make the same of it, and the search takes longer than a replay.
    let mut searched: Vec<(Scenario, OnceLock<Vec<Trace>>)> = Vec::new();
    for scenario in servers().iter().flat_map(|version| builtin().into_iter().map(|scenario| on(version, scenario))) {
        if searched.iter().all(|(known, _)| !is_same_world(known, &scenario)) {
            searched.push((scenario, OnceLock::new()));
        }
    }
    let all = servers();
    let replayed = Mutex::new(BTreeSet::new());
    for_every_version(|version| {
        let mut scenarios: Vec<_> = builtin().into_iter().enumerate().collect();
        // Each begins elsewhere, so that none waits for what another one searches for.
        let place = all.iter().position(|other| other.to_string() == version.to_string()).unwrap_or_default();
        let first = scenarios.len() * place / all.len();
        scenarios.rotate_left(first);
        for (number, scenario) in scenarios {
            let able: Vec<_> = (0..all.len()).filter(|server| can_replay(&all[*server], &scenario)).collect();
            let is_its_turn = !able.is_empty() && able[number % able.len()] == place;
            if !(is_its_turn || on_every_server && able.contains(&place)) {
                continue;
            }
            let scenario = on(version, scenario);
            let (_, traces) = searched.iter().find(|(known, _)| is_same_world(known, &scenario)).expect("it is listed");
            let traces = traces.get_or_init(|| [counterexamples(&scenario), covering_histories(&scenario)].concat());
            let mut player = start(version, &scenario);
            for trace in traces {
                assert_agrees(&mut player, trace);
            }
            replayed.lock().unwrap_or_else(PoisonError::into_inner).insert(scenario.name);
        }
    });
    let can_be = builtin().into_iter().filter(|scenario| all.iter().any(|server| can_replay(server, scenario)));
    let can_be: BTreeSet<_> = can_be.map(|scenario| scenario.name).collect();
    let replayed = replayed.into_inner().unwrap_or_else(PoisonError::into_inner);
    let missed: Vec<_> = can_be.difference(&replayed).collect();
    assert!(missed.is_empty(), "scenarios whose histories no server has replayed, though one could: {missed:?}");
}

fn is_same_world(one: &Scenario, other: &Scenario) -> bool {
    one.name == other.name && one.config == other.config
}

/// In these worlds a lock or a receipt expires before a request that finds nothing, whose `WAIT` is for the deletion too.
#[test]
fn the_deletion_of_what_has_expired_is_waited_for_as_the_model_says() {
    const CLIENT: &str = "wait_limit = 0\n[clients]\ncount = 1\n";
    const REPLICA: &str = "[cluster]\nreplicas = 1\nwait_for = 1\n";
    const EVERY_CALL: &str = "max_holds = 2\nacquires = 3\n[network]\nmode = \"split\"\n[protocol]\nwait_after = \"every-call\"\n\
         resend = \"all\"";
    let worlds = [
        (
            "missed-renewal-waits",
            format!(
                "[time]\nlease = 3\nrenew_every = 1\nhold_at_most = 5\n{CLIENT}{REPLICA}[protocol]\n\
             wait_after = \"grants-and-renewals\"\n[faults]\npause_client = 1"
            ),
        ),
        ("release-of-nothing-waits", format!("[time]\nlease = 2\nhold_at_most = 4\n{CLIENT}{EVERY_CALL}\n{REPLICA}")),
        (
            "receipt-expires",
            format!(
                "[time]\nlease = 3\nrenew_every = 1\nhold_at_most = 4\n{CLIENT}{EVERY_CALL}\nrefused_call = \"retry\"\n{REPLICA}[faults]\n\
             lose_reply = 1"
            ),
        ),
    ];
    for_every_version(|version| {
        for (name, text) in &worlds {
            let text = format!("story = \"s\"\nlock = \"reentrant\"\n{text}");
            let scenario = Scenario::parse(name, &text).unwrap_or_else(|error| panic!("{error}"));
            if can_replay(version, &scenario) {
                assert_fuzz_agrees(version, &on(version, scenario), FuzzOptions { cases: 60, seed: 1 });
            }
        }
    });
}

#[test]
fn random_histories_with_replicas_and_failovers_agree_on_every_server() {
    let cases = from_environment("LOCKSTEP_REPLICA_HISTORIES", CASES_WITH_REPLICAS);
    let kinds: BTreeSet<_> = builtin().into_iter().filter(has_replicas).map(|scenario| scenario.config.lock).collect();
    let of_each = cases.div_ceil(u32::try_from(kinds.len()).expect("a few"));
    // One after the other: each is replayed on every server at once.
    for kind in kinds {
        random_histories(of_each, |scenario| scenario.config.lock == kind && has_replicas(scenario));
    }
}

fn has_replicas(scenario: &Scenario) -> bool {
    scenario.config.cluster.replicas > 0
}

/// Hand-written histories, and histories on which model and Redis once differed.
#[test]
fn every_kept_history_agrees_on_every_server() {
    let traces = kept_histories();
    assert!(!traces.is_empty(), "there are kept histories");
    for_every_version(|version| {
        // Before 7.0 scripts are executed whatever a master hears of its replicas, and the harness refuses such a world there.
        let counts = |trace: &&Trace| trace.config.cluster.min_replicas == 0 || version.counts_replicas_in_scripts();
        for trace in traces.iter().filter(counts) {
            let Trace { scenario, story, config, about, .. } = trace;
            let config = suited(config, version);
            let actions = possible(&config, &trace.actions());
            let trace = recorder::record(scenario, story, &config, about.clone(), &actions, "").unwrap();
            let mut player = Player::start(version, &config, Scripts::built_in()).expect("servers start");
            assert_agrees(&mut player, &trace);
        }
    });
}

/// The actions of a history, without those that apply an effect where it was applied with another: how many effects there are
/// depends on how TTLs travel.
fn possible(config: &Config, actions: &[Action]) -> Vec<Action> {
    let mut world = AnyWorld::initial(config);
    let mut possible = Vec::new();
    for &action in actions {
        match world.step(config, action) {
            Some(next) => {
                world = next.world;
                possible.push(action);
            }
            None => assert!(matches!(action, Action::Replicate { .. }), "{action:?} cannot happen"),
        }
    }
    possible
}

/// A replay can be repeated: it gets the same answers, to the last byte.
#[test]
fn a_replay_has_the_same_answers_every_time() {
    for_every_version(|version| {
        let scenario = on(version, builtin_scenario("failover-while-waiting"));
        let trace = counterexamples(&scenario).swap_remove(0);
        let first = start(version, &scenario).replay(&trace, true).expect("servers answer");
        let mut again = start(version, &scenario);
        for _ in 0..5 {
            assert_eq!(again.replay(&trace, true).expect("servers answer"), first);
        }
    });
}

/// The scenario in the variant that this version runs.
pub(crate) fn on(version: &ServerProgram, scenario: Scenario) -> Scenario {
    Scenario { config: suited(&scenario.config, version), ..scenario }
}

/// Whether the version has what the scenario needs. The features that a version lacks have tests of their own, below.
pub(crate) fn can_replay(version: &ServerProgram, scenario: &Scenario) -> bool {
    let cluster = &scenario.config.cluster;
    // Before 7.0 each resync is a full copy with a new replication id, and FAILOVER asks for the same one.
    let asks_for_one_id = cluster.promote.is_by_the_master() && cluster.replicas > 1;
    let has_several_keys = scenario.config.clients.names > 1 || scenario.config.shares();
    let is_told_of_moves = scenario.config.faults.move_slot > 0 && cluster.replicas > 0;
    (cluster.min_replicas == 0 || version.counts_replicas_in_scripts())
        && (cluster.channels == Channels::Global || version.has_sharded_channels())
        && !(is_told_of_moves && version.tells_replicas_of_moves())
        && (cluster.shutdown_timeout == 0 || version.waits_for_replicas_when_it_ends())
        && (scenario.config.protocol.wait_after == WaitAfter::Grants || version.waits_for_all_writes())
        && !((asks_for_one_id || has_several_keys && cluster.replicas > 0) && version.ttls() == Ttls::Relative)
}

#[test]
fn several_keys_of_clients_beside_replicas_are_refused_where_ttls_count_from_their_arrival() {
    let scenarios = ["late-replica-ends-other-renewals", "read-write-failover-loses-a-reader"];
    for_every_version(|version| {
        for name in scenarios {
            let mut scenario = on(version, builtin_scenario(name));
            scenario.config.protocol.wait_after = WaitAfter::Grants;
            match Player::start(version, &scenario.config, Scripts::built_in()) {
                Ok(_) => assert_eq!(version.ttls(), Ttls::Absolute, "{version}"),
                Err(error) => {
                    assert_eq!(version.ttls(), Ttls::Relative, "{version}: {error}");
                    assert!(error.to_string().contains("not modelled beside several lock names"), "{error}");
                }
            }
        }
    });
}

/// What it has not, or makes of a failover, is measured in `cluster`.
#[test]
fn a_server_that_moves_slots_in_another_way_than_the_scenario_says_is_refused() {
    for_every_version(|version| {
        for (name, is_other, words) in [
            ("moved-slot-silences-its-waiters", !version.has_sharded_channels(), "no sharded channels"),
            ("failover-while-the-slot-moves", version.tells_replicas_of_moves(), "tells its replicas"),
        ] {
            match Player::start(version, &on(version, builtin_scenario(name)).config, Scripts::built_in()) {
                Ok(_) => assert!(!is_other, "{version}: {name}"),
                Err(error) => assert!(is_other && error.to_string().contains(words), "{version}: {name}: {error}"),
            }
        }
    });
}

/// That it does not is measured in `lock_loss`.
#[test]
fn a_server_that_ends_at_once_is_refused_where_the_scenario_lets_it_wait_for_its_replicas() {
    for_every_version(|version| {
        let scenario = on(version, builtin_scenario("shutdown-waits-for-its-replica"));
        match Player::start(version, &scenario.config, Scripts::built_in()) {
            Ok(_) => assert!(version.waits_for_replicas_when_it_ends(), "{version}"),
            Err(error) => {
                assert!(!version.waits_for_replicas_when_it_ends(), "{version}: {error}");
                assert!(error.to_string().contains("does not wait for its replicas"), "{error}");
            }
        }
    });
}

/// Behind a release that finds its receipt Valkey answers for what was written before, by that connection.
#[test]
fn a_server_whose_wait_is_for_own_writes_is_refused_where_clients_wait_behind_every_call() {
    for_every_version(|version| {
        let scenario = on(version, builtin_scenario("release-is-made-again"));
        match Player::start(version, &scenario.config, Scripts::built_in()) {
            Ok(_) => assert!(version.waits_for_all_writes(), "{version}"),
            Err(error) => {
                assert!(!version.waits_for_all_writes(), "{version}: {error}");
                assert!(error.to_string().contains("has written itself"), "{error}");
            }
        }
    });
}

/// Redis 6.2 accepts the write of a script where it refuses a SET. A repair without effect must not look like one that works.
#[test]
fn a_server_that_requires_no_replicas_for_scripts_is_refused_where_the_scenario_needs_that() {
    for_every_version(|version| {
        let node = ServerNode::start(version, 0).expect("a server starts");
        node.require_replicas(1, 10).expect("a setting it has");
        let mut client = node.connect().expect("a connection");
        let single: RedisResult<()> = redis::cmd("SET").arg("key").arg(1).query(&mut client);
        assert_eq!(single.unwrap_err().code(), Some("NOREPLICAS"), "{version}");
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

/// A known difference between versions is refused, with what to do about it, and not found again by a replay.
#[test]
fn a_server_that_replicates_ttls_in_another_way_than_the_scenario_says_is_refused() {
    for_every_version(|version| {
        let mut scenario = builtin().into_iter().find(|scenario| scenario.config.cluster.replicas > 0).unwrap();
        let other = if version.ttls() == Ttls::Absolute { Ttls::Relative } else { Ttls::Absolute };
        scenario.config.cluster.ttls = other;
        let Err(error) = Player::start(version, &scenario.config, Scripts::built_in()) else { panic!("not refused") };
        assert!(error.to_string().contains("sends TTLs to its replicas as"), "{error}");
    });
}

pub(crate) fn start(version: &ServerProgram, scenario: &Scenario) -> Player {
    Player::start(version, &scenario.config, Scripts::built_in())
        .unwrap_or_else(|error| panic!("{}: {error}", scenario.name))
}

fn covering_histories(scenario: &Scenario) -> Vec<Trace> {
    let Scenario { name, story, config, .. } = scenario;
    let record = |actions: Vec<_>| recorder::record(name, story, config, About::Covering, &actions, "").unwrap();
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits::none(&stop, &progress);
    covering(config, &limits).histories.into_iter().map(record).collect()
}

/// Random histories of all built-in scenarios with one node and this kind of lock.
pub(crate) fn random_histories_of(kind: LockKind) {
    random_histories_among(kind, |_| true);
}

/// The same in some of its scenarios.
pub(crate) fn random_histories_among(kind: LockKind, is_meant: impl Fn(&Scenario) -> bool) {
    let cases = from_environment("LOCKSTEP_KIND_HISTORIES", CASES_PER_KIND);
    let is_of_kind = |scenario: &Scenario| scenario.config.lock == kind && scenario.config.cluster.replicas == 0;
    random_histories(cases, |scenario| is_of_kind(scenario) && is_meant(scenario));
}

fn random_histories(cases: u32, is_meant: impl Fn(&Scenario) -> bool) {
    let scenarios: Vec<_> = builtin().into_iter().filter(|scenario| is_meant(scenario)).collect();
    for_every_version(|version| {
        let possible = || (0..).zip(&scenarios).filter(|(_, scenario)| can_replay(version, scenario));
        // A version may be able to replay none of them.
        let each = cases.div_ceil(u32::try_from(possible().count()).unwrap().max(1));
        for (seed, scenario) in possible() {
            assert_fuzz_agrees(version, &on(version, scenario.clone()), FuzzOptions { cases: each, seed });
        }
    });
}

pub(crate) fn assert_fuzz_agrees(version: &ServerProgram, scenario: &Scenario, options: FuzzOptions) {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits::none(&stop, &progress);
    let found = fuzz(scenario, version, Scripts::built_in(), options, &limits)
        .unwrap_or_else(|error| panic!("{}: {error}", scenario.name));
    if let Some((trace, difference)) = found.counterexample {
        let file = keep(&trace, options.seed);
        panic!("kept as {}\n{}", file.display(), report(&difference, &trace));
    }
    assert_eq!(found.cases, options.cases);
}

/// Keeps a history on which model and Redis differ. It is kept as a trace: a seed draws other histories once the model changes.
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
            assert_eq!(recorder::retrace(&trace), Ok(()), "{}: the model has changed since", file.display());
            trace
        })
        .collect()
}
