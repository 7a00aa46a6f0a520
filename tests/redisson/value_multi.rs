//! The lock over several values on real Redisson: random histories, its own scripts against ours, and what it does that is not modelled.

use lockstep_model::trace::About;
use lockstep_model::{Action, LockKind};
use lockstep_sim::recorder;
use lockstep_sim::replay::redisson::{Deployment, Jvm, refuse_world};
use lockstep_sim::replay::{Player, ReplayError, suited};
use lockstep_sim::scenario::Scenario;
use lockstep_tests::at_once::at_once;
use lockstep_tests::drawn::from_environment;
use lockstep_tests::servers::{START_MS, servers};

use crate::history::RedissonStage;
use crate::redisson;
use crate::scenarios::random_histories;

/// Random histories of each world; `LOCKSTEP_REDISSON_HISTORIES` asks for another number.
const HISTORIES: u32 = 6;

/// Two clients that wait for each other, renew and enter again.
const WATCHED: &str = "[time]\nlease = 3\nrenew_every = 1\nhold_at_most = 4\n[clients]\nacquires = 3\nmax_holds = 2\n[[client]]\n[[client]]\nvalues = [2]";
/// The same without a watchdog: leases end.
const LEASED: &str = "[time]\nlease = 3\nhold_at_most = 4\n[clients]\nacquires = 3\nmax_holds = 2\n[[client]]\n[[client]]\nvalues = [1]\nlease = 2\n[[client]]\nvalues = [2]";
/// They wait for a tick, and give up.
const LIMITED: &str =
    "[time]\nlease = 3\nrenew_every = 1\nwait_limit = 1\nhold_at_most = 4\n[clients]\ncount = 2\nacquires = 3";
/// They ask once, under a watchdog or with a lease.
const ONCE: &str = "[time]\nlease = 3\nrenew_every = 1\nwait_limit = 0\nhold_at_most = 4\n[clients]\nacquires = 3\n[[client]]\n[[client]]\nvalues = [1]\n[[client]]\nvalues = [2]\nrenew_every = \"none\"";
/// The clock of one is more than a lease ahead, that of another one a little.
const CLOCKS: &str = "[time]\nlease = 3\nrenew_every = 1\nhold_at_most = 4\n[clients]\nacquires = 3\n[[client]]\n[[client]]\nvalues = [2]\nclock_ahead = 5\n[[client]]\nclock_ahead = 1";
/// Somebody takes the TTL away or deletes the hash, a client dies or stands still, one releases without a hold.
const FAULTS: &str = "[time]\nlease = 3\nrenew_every = 1\nhold_at_most = 4\n[clients]\nacquires = 3\n[[client]]\n[[client]]\nvalues = [2]\n[faults]\npersist_key = 1\nvanish_key = 1\ncrash_client = 1\npause_client = 1\nforeign_release = 1";
/// A replica, which may take the place of its master.
const FAILOVER: &str = "[time]\nlease = 3\nhold_at_most = 2\n[clients]\nacquires = 3\n[[client]]\n[[client]]\nvalues = [1]\n[cluster]\nreplicas = 1\n[faults]\ncrash_node = 1\nrestart_node = 1";

/// Who is refused, or gives up, asks whether it holds: one value, or two.
const ASKS: &str = "[time]\nlease = 3\nrenew_every = 1\nwait_limit = 0\nhold_at_most = 2\n[clients]\nacquires = 3\nafter_refusal = \"ask-if-held\"\n[[client]]\nvalues = [1]\n[[client]]\nvalues = [1]\n[[client]]\nwait_limit = 1";

fn world(profile: &str, keys: &str) -> Scenario {
    world_with(profile, "", keys)
}

/// The same with another line in `[protocol]`.
fn world_with(profile: &str, switch: &str, keys: &str) -> Scenario {
    let kind =
        LockKind::ALL.iter().find(|kind| kind.facts().value_sets.is_there()).expect("a kind with sets of values");
    let text =
        format!("story = \"s\"\nlock = \"{}\"\n{keys}\n[protocol]\nprofile = \"{profile}\"\n{switch}\n", kind.name());
    let scenario = Scenario::parse("values", &text).unwrap_or_else(|error| panic!("{error}"));
    let config = suited(&scenario.config, &servers()[0]);
    Scenario { config, ..scenario }
}

const VERSIONS: [(&str, &str); 3] = [("redisson-4.7", "4.7.0"), ("redisson-4.3", "4.3.1"), ("redisson-3.52", "3.52.0")];

/// Each world on the newest version, and some on the others too.
#[test]
fn redisson_does_what_the_clients_that_name_values_do_in_the_model() {
    let worlds = [WATCHED, LEASED, LIMITED, ONCE, CLOCKS, FAULTS, FAILOVER, ASKS];
    let in_newest = worlds.iter().map(|keys| (VERSIONS[0], *keys));
    let in_older = VERSIONS[1..].iter().flat_map(|version| [WATCHED, CLOCKS, ASKS].map(|keys| (*version, keys)));
    let all: Vec<_> = in_newest.chain(in_older).collect();
    let cases = from_environment("LOCKSTEP_REDISSON_HISTORIES", HISTORIES);
    let counts = at_once(&all, |((profile, version), keys)| {
        let found = random_histories(&world(profile, keys), redisson(version), cases, 1);
        assert_eq!(found.counterexample.map(|(_, difference)| difference), None, "{version}: {keys}");
        assert!(found.left < found.cases, "{version}: none was followed to its end: {keys}");
        (found.cases, found.left)
    });
    let (cases, left) = counts.into_iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    println!("{cases} histories, {left} of them not followed to their end");
    assert!(left * 3 < cases, "{left} of {cases} were not followed to their end");
}

/// A master without replicas that a client is told of by its cluster, or by a sentinel.
#[test]
fn redisson_does_the_same_for_values_in_a_cluster_and_under_sentinel() {
    for deployment in [Deployment::Cluster, Deployment::Sentinel] {
        let program = redisson("4.7.0").deployed_in(deployment);
        let found = random_histories(&world("redisson-4.7", CLOCKS), program, HISTORIES, 1);
        assert_eq!(found.counterexample.map(|(_, difference)| difference), None, "{deployment:?}");
        assert!(found.left < found.cases, "{deployment:?}: none was followed to its end");
    }
}

/// What is not followed says why.
#[test]
fn versions_without_such_a_lock_or_with_another_renewal_are_refused() {
    let reason = |version: &str| match refuse_world(&world("redisson-4.7", WATCHED).config, &redisson(version)) {
        Err(ReplayError::NotForRedisson { reason, .. }) => reason,
        Err(error) => panic!("{error}"),
        Ok(()) => String::new(),
    };
    assert!(reason("3.15.6").contains("has no lock over several values"));
    assert!(reason("3.43.0").contains("in another order"));
    assert_eq!(reason("3.52.0"), "");
}

/// A timer that is not the model's is a tenth of a second later each time. What it sends must not wait until the next tick, with the
/// clock of the one before.
#[test]
fn a_second_timer_is_followed_however_late_it_has_become() {
    const PERIODS: usize = 8;
    let (acquire, release) = (Action::Acquire { client: 0, thread: 0 }, Action::Release { client: 0, thread: 0 });
    let renew = Action::Renew { client: 0 };
    let mut actions = vec![acquire, release, Action::Tick, acquire];
    actions.extend([renew, Action::Tick].repeat(PERIODS));
    let config = world("redisson-4.7", "[time]\nlease = 3\nrenew_every = 1\n[clients]\ncount = 1\nacquires = 2").config;
    let trace = recorder::record("two timers", "", &config, About::Drawn, &actions, "").expect("it can happen");
    let mut player = Player::start(&servers()[0], &config, redisson("4.7.0")).expect("it starts");
    let result = player.replay(&trace, false).expect("it answers");
    assert_eq!((result.difference, result.left), (None, None));
}

/// A model whose clients ask about every value is contradicted, by a reply (museum H12b).
#[test]
fn no_version_looks_at_the_first_value_where_it_is_asked_whether_it_is_held() {
    const ENOUGH: u32 = 30;
    at_once(&VERSIONS, |(profile, version)| {
        let wrong = world_with(profile, "held_query = \"every-value\"", ASKS);
        let found = random_histories(&wrong, redisson(version), ENOUGH, 1);
        let difference = found.counterexample.map(|(_, difference)| difference.what);
        assert_eq!(difference.as_deref(), Some("reply"), "{version}");
    });
}

/// H12b: its script looks at the values from the second one on (docs/facts/family.md#multi-lock-over-values).
#[test]
fn a_client_that_has_no_lock_over_one_value_is_told_that_it_holds_it() {
    let server = servers().remove(0);
    for (kind, told) in [("values:value1:", "clear returned true"), ("values:value1,value2:", "clear returned false")] {
        let mut jvm = Jvm::start(redisson("4.7.0").driver(), START_MS).unwrap_or_else(|error| panic!("{error}"));
        let mut stage = RedissonStage::begin(&mut jvm, &server);
        let asked_before = stage.call_of_kind('B', "is-held", kind);
        stage.settle();
        assert_eq!(stage.end_of(asked_before).as_deref(), Some("clear returned false"), "{kind}: there is no hash");
        let locked = stage.call_of_kind('A', "lock", kind);
        stage.settle();
        assert_eq!(stage.end_of(locked).as_deref(), Some("clear returned nothing"), "{kind}");
        let asked = stage.call_of_kind('B', "is-held", kind);
        stage.settle();
        assert_eq!(stage.end_of(asked).as_deref(), Some(told), "{kind}: B has never locked");
        stage.end();
    }
}

/// The table of renewals is by the name of the group, and has the values of the first object
/// (docs/facts/family.md#multi-lock-over-values).
#[test]
fn the_values_of_a_second_lock_object_of_a_process_are_not_renewed() {
    let server = servers().remove(0);
    let mut jvm = Jvm::start(redisson("4.7.0").driver(), START_MS).unwrap_or_else(|error| panic!("{error}"));
    let mut stage = RedissonStage::begin(&mut jvm, &server);
    let mut named = Vec::new();
    for kind in ["values:value1:", "values:value2:"] {
        stage.call_of_kind('A', "lock", kind);
        let asked = stage.held('A').remove(0);
        named.push(asked.words.last().expect("a value").clone());
        stage.settle();
    }
    assert_ne!(named[0], named[1]);
    stage.pass_ms(10_200);
    let renewed: Vec<_> = stage.held('A').into_iter().map(|held| held.words.last().expect("a value").clone()).collect();
    assert_eq!(renewed, [named[0].clone()]);
    stage.settle();
    // 30 s after its grant another client has the second value.
    stage.pass_ms(20_000);
    stage.settle();
    let taken = stage.call_of_kind('B', "try", "values:value2:");
    stage.settle();
    assert_eq!(stage.end_of(taken).as_deref(), Some("clear returned true"));
    stage.end();
}
