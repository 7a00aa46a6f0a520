//! The fenced lock on real Redisson: random histories of callers that are told their token with the grant, and of those that read it
//! later.

use lockstep_model::mutants::Mutant;
use lockstep_model::trace::About;
use lockstep_model::{Action, Config, LockKind};
use lockstep_sim::recorder;
use lockstep_sim::replay::redisson::{Deployment, Jvm, refuse_world};
use lockstep_sim::replay::{Played, Player, ReplayError, suited};
use lockstep_sim::scenario::Scenario;
use lockstep_tests::at_once::at_once;
use lockstep_tests::drawn::from_environment;
use lockstep_tests::servers::{START_MS, servers};

use crate::history::RedissonStage;
use crate::redisson;
use crate::scenarios::random_histories;

/// What a caller is told that waits.
const INSIDE: &str = "it is still in the call";
/// What the driver calls such a lock.
const DRIVER_PREFIX: &str = "fenced:";
/// Random histories of each world; `LOCKSTEP_REDISSON_HISTORIES` asks for another number.
const HISTORIES: u32 = 6;

/// Two clients that wait for each other, renew and enter again.
const WATCHED: &str = "[time]\nlease = 3\nrenew_every = 1\nhold_at_most = 4\n[clients]\ncount = 2\nmax_holds = 2";
/// The same without a watchdog: what has no limit is a wait of -1.
const LEASED: &str = "[time]\nlease = 3\nhold_at_most = 4\n[clients]\ncount = 2\nmax_holds = 2";
/// They wait for a tick, and give up.
const LIMITED: &str = "[time]\nlease = 3\nrenew_every = 1\nwait_limit = 1\nhold_at_most = 4\n[clients]\ncount = 2";
/// They ask once.
const ONCE: &str = "[time]\nlease = 3\nrenew_every = 1\nwait_limit = 0\nhold_at_most = 4\n[clients]\ncount = 3";
/// Somebody takes the TTL away, deletes the lock, or the counter.
const FAULTS: &str = "[time]\nlease = 3\nrenew_every = 1\nhold_at_most = 4\n[clients]\ncount = 2\n[faults]\npersist_key = 1\n\
                      force_release = 1\nvanish_token = 1\nvanish_key = 1";
/// A replica, for which each grant waits.
const REPLICA: &str = "[time]\nlease = 3\nhold_at_most = 2\nwait_limit = 0\n[clients]\ncount = 2\nacquires = 2\n[cluster]\nreplicas = 1\nwait_for = 1";
/// The same, which may take the place of its master.
const FAILOVER: &str = "[time]\nlease = 3\nhold_at_most = 2\n[clients]\ncount = 2\n[cluster]\nreplicas = 1\n[faults]\ncrash_node = 1\n\
                        restart_node = 1";
/// Two threads of a client wait beside each other.
const THREADS: &str = "[time]\nlease = 3\nrenew_every = 1\nhold_at_most = 4\n[clients]\ncount = 2\nthreads = 2";

fn world(profile: &str, keys: &str, protocol: &str) -> Scenario {
    let kind = LockKind::ALL.iter().find(|kind| kind.facts().tokens.is_there()).expect("a kind that issues tokens");
    let text = format!(
        "story = \"s\"\nlock = \"{}\"\n{keys}\n[protocol]\nprofile = \"{profile}\"\n{protocol}\n\
         [resource]\nfencing = \"stored\"\n",
        kind.name()
    );
    let scenario = Scenario::parse("tokens", &text).unwrap_or_else(|error| panic!("{error}"));
    let config = suited(&scenario.config, &servers()[0]);
    Scenario { config, ..scenario }
}

const VERSIONS: [(&str, &str); 4] =
    [("redisson-4.7", "4.7.0"), ("redisson-4.3", "4.3.1"), ("redisson-3.52", "3.52.0"), ("redisson-3.43", "3.43.0")];
/// The newest version, and the oldest one whose rules the model has.
const BOTH_ENDS: [(&str, &str); 2] = [VERSIONS[0], VERSIONS[3]];
/// How a caller learns its token.
const TOKENS: [&str; 2] = ["with-grant", "read-later"];

/// Each world on the newest version, and those in which a caller waits on the others too.
#[test]
fn redisson_does_what_the_holders_of_tokens_do_in_the_model() {
    let worlds = [WATCHED, LEASED, LIMITED, ONCE, FAULTS, REPLICA, THREADS, FAILOVER];
    let in_newest = worlds.iter().map(|keys| (VERSIONS[0], *keys));
    let in_older = VERSIONS[1..].iter().flat_map(|version| [WATCHED, FAULTS].map(|keys| (*version, keys)));
    let all: Vec<_> =
        in_newest.chain(in_older).flat_map(|(version, keys)| TOKENS.map(|token| (version, keys, token))).collect();
    let cases = from_environment("LOCKSTEP_REDISSON_HISTORIES", HISTORIES);
    let counts = at_once(&all, |((profile, version), keys, token)| {
        let found =
            random_histories(&world(profile, keys, &format!("token = \"{token}\"")), redisson(version), cases, 1);
        assert_eq!(found.counterexample.map(|(_, difference)| difference), None, "{version}: {token}: {keys}");
        assert!(found.left < found.cases, "{version}: {token}: none was followed to its end: {keys}");
        (found.cases, found.left)
    });
    let (cases, left) = counts.into_iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    println!("{cases} histories, {left} of them not followed to their end");
    assert!(left * 3 < cases, "{left} of {cases} were not followed to their end");
}

/// A master without replicas that a client is told of by its cluster, or by a sentinel.
#[test]
fn redisson_does_the_same_in_a_cluster_and_under_sentinel() {
    for deployment in [Deployment::Cluster, Deployment::Sentinel] {
        for token in TOKENS {
            let program = redisson("4.7.0").deployed_in(deployment);
            let found = random_histories(
                &world("redisson-4.7", WATCHED, &format!("token = \"{token}\"")),
                program,
                HISTORIES,
                1,
            );
            assert_eq!(found.counterexample.map(|(_, difference)| difference), None, "{deployment:?}: {token}");
            assert!(found.left < found.cases, "{deployment:?}: {token}: none was followed to its end");
        }
    }
}

fn replayed((profile, version): (&str, &str), protocol: &str, mutant: Option<Mutant>, actions: &[Action]) -> Played {
    let config = Config { mutant, ..world(profile, FAULTS, protocol).config };
    let trace = recorder::record("tokens", "", &config, About::Drawn, actions, "").expect("it can happen");
    let mut player = Player::start(&servers()[0], &config, redisson(version)).expect("it starts");
    player.replay(&trace, false).expect("it answers")
}

/// Of a key without a TTL (docs/facts/family.md#a-holder-without-a-ttl-looks-like-a-grant).
#[test]
fn redisson_takes_an_answer_without_a_ttl_for_a_grant_and_not_for_a_refusal() {
    let actions = [
        Action::Acquire { client: 0, thread: 0 },
        Action::PersistKey { node: 0 },
        Action::Acquire { client: 1, thread: 0 },
    ];
    for version in BOTH_ENDS {
        let grant = replayed(version, "no_ttl_answer = \"grant\"", None, &actions);
        assert_eq!((grant.difference, grant.left), (None, None), "{version:?}");
        let refusal = replayed(version, "no_ttl_answer = \"refusal\"", None, &actions);
        let difference = refusal.difference.unwrap_or_else(|| panic!("{version:?}: it agrees"));
        assert_eq!((difference.what.as_str(), difference.model.as_str()), ("what B:1 is told", INSIDE), "{version:?}");
        assert_eq!(difference.redis, "it has the lock, with token -1", "{version:?}");
        // By `tryLock()` and `lock()` it is refused.
        let later = replayed(version, "token = \"read-later\"", None, &actions);
        assert_eq!((later.difference, later.left), (None, None), "{version:?}");
    }
}

/// By the rule of [`Mutant::TokenReused`] the second grant has the token of the first.
#[test]
fn a_counter_that_a_grant_does_not_raise_is_found_out_whenever_it_is_read() {
    let [first, second] = [0, 1].map(|client| {
        [
            Action::Acquire { client, thread: 0 },
            Action::ReadToken { client, thread: 0 },
            Action::Release { client, thread: 0 },
        ]
    });
    for version in BOTH_ENDS {
        for (token, is_read) in TOKENS.into_iter().zip([false, true]) {
            let asks = |action: &Action| is_read || !matches!(action, Action::ReadToken { .. });
            let actions: Vec<_> = first.into_iter().chain(second).filter(asks).collect();
            let protocol = format!("token = \"{token}\"");
            let right = replayed(version, &protocol, None, &actions);
            assert_eq!((right.difference, right.left), (None, None), "{version:?}: {token}");
            let wrong = replayed(version, &protocol, Some(Mutant::TokenReused), &actions);
            assert!(wrong.difference.is_some(), "{version:?}: {token}");
        }
    }
}

/// The calls that return a token undo nothing, unlike the others (docs/facts/family.md#fenced-lock).
#[test]
fn a_grant_that_no_replica_has_stays_where_the_caller_asked_for_a_token() {
    let acquire = Action::Acquire { client: 0, thread: 0 };
    let confirm = Action::Confirm { client: 0, thread: 0 };
    let undo = Action::Undo { client: 0, thread: 0 };
    for (token, actions) in TOKENS.into_iter().zip([&[acquire, confirm][..], &[acquire, confirm, undo]]) {
        let config = world("redisson-4.7", REPLICA, &format!("token = \"{token}\"")).config;
        let trace = recorder::record("tokens", "", &config, About::Drawn, actions, "").expect("it can happen");
        let mut player = Player::start(&servers()[0], &config, redisson("4.7.0")).expect("it starts");
        let result = player.replay(&trace, false).expect("it answers");
        assert_eq!((result.difference, result.left), (None, None), "{token}");
        let stored = &trace.state_after(actions.len()).nodes[0].stored;
        assert_eq!(stored.holders.is_empty(), token == "read-later", "{token}");
    }
}

/// What is not followed says why.
#[test]
fn callers_of_a_token_that_are_interrupted_and_versions_without_such_a_lock_are_refused() {
    let interrupted = format!("{LIMITED}\n[faults]\ninterrupt = 1");
    let reason = |keys: &str, token: &str, version: &str| {
        let config = world("redisson-4.7", keys, &format!("token = \"{token}\"")).config;
        match refuse_world(&config, &redisson(version)) {
            Err(ReplayError::NotForRedisson { reason, .. }) => reason,
            Err(error) => panic!("{error}"),
            Ok(()) => String::new(),
        }
    };
    assert!(reason(&interrupted, "with-grant", "4.7.0").contains("stays subscribed"));
    assert_eq!(reason(&interrupted, "read-later", "4.7.0"), "");
    assert!(reason(LIMITED, "with-grant", "3.15.6").contains("has no fenced lock"));
}

/// It subtracts what has passed from the longest time there is. The sum is negative once the clock has gone back by more than has
/// passed since the call began, and the call ends without the lock (docs/facts/family.md#a-wall-clock-that-is-set-back).
#[test]
fn a_wall_clock_that_is_set_back_ends_a_call_that_has_no_limit() {
    const JUMP_MS: i64 = -60_000;
    let server = servers().remove(0);
    for version in ["4.7.0", "3.43.0"] {
        for jump_ms in [0, JUMP_MS] {
            let program = redisson(version);
            let mut jvm = Jvm::start(program.driver(), START_MS).unwrap_or_else(|error| panic!("{error}"));
            let mut stage = RedissonStage::begin(&mut jvm, &server);
            let call = |stage: &mut RedissonStage<'_>, client, verb| stage.call_of_kind(client, verb, DRIVER_PREFIX);
            let holder = call(&mut stage, 'A', "lock-token");
            stage.settle();
            assert_eq!(stage.end_of(holder).as_deref(), Some("clear returned 1"), "{version}");
            let waiter = call(&mut stage, 'B', "lock-token");
            stage.settle();
            assert_eq!(stage.end_of(waiter), None, "{version}: it waits");
            stage.jump_wall_clock(jump_ms);
            let release = call(&mut stage, 'A', "unlock");
            stage.settle();
            assert_eq!(stage.end_of(release).as_deref(), Some("clear returned nothing"), "{version}");
            let told = if jump_ms == 0 { "clear returned 2" } else { "clear returned null" };
            assert_eq!(stage.end_of(waiter).as_deref(), Some(told), "{version}: the clock has jumped by {jump_ms} ms");
            stage.end();
        }
    }
}
