//! The fenced lock on real Redisson: random histories of callers that are told their token with the grant, and of those that read it
//! later.

use lockstep_model::LockKind;
use lockstep_sim::replay::redisson::Jvm;
use lockstep_sim::replay::suited;
use lockstep_sim::scenario::Scenario;
use lockstep_tests::drawn::from_environment;
use lockstep_tests::servers::{START_MS, servers};

use crate::history::RedissonStage;
use crate::redisson;
use crate::scenarios::random_histories;
use crate::switches::at_once;

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
/// The same without a watchdog.
const LIMITED_LEASE: &str = "[time]\nlease = 3\nwait_limit = 1\nhold_at_most = 4\n[clients]\ncount = 2";
/// They ask once.
const ONCE: &str = "[time]\nlease = 3\nrenew_every = 1\nwait_limit = 0\nhold_at_most = 4\n[clients]\ncount = 3";
/// Somebody takes the TTL away, deletes the lock, or the counter.
const FAULTS: &str = "[time]\nlease = 3\nrenew_every = 1\nhold_at_most = 4\n[clients]\ncount = 2\n[faults]\npersist_key = 1\n\
                      force_release = 1\nvanish_token = 1\nvanish_key = 1";
/// A replica, for which each grant waits.
const REPLICA: &str =
    "[time]\nlease = 3\nhold_at_most = 2\nwait_limit = 0\n[clients]\ncount = 2\n[cluster]\nreplicas = 1\nwait_for = 1";
/// Two threads of a client wait beside each other.
const THREADS: &str = "[time]\nlease = 3\nrenew_every = 1\nhold_at_most = 4\n[clients]\ncount = 2\nthreads = 2";

fn world(profile: &str, keys: &str, token: &str) -> Scenario {
    let kind = LockKind::ALL.iter().find(|kind| kind.facts().tokens.is_there()).expect("a kind that issues tokens");
    let text = format!(
        "story = \"s\"\nlock = \"{}\"\n{keys}\n[protocol]\nprofile = \"{profile}\"\ntoken = \"{token}\"\n\
         [resource]\nfencing = \"stored\"\n",
        kind.name()
    );
    let scenario = Scenario::parse("fenced", &text).unwrap_or_else(|error| panic!("{error}"));
    let config = suited(&scenario.config, &servers()[0]);
    Scenario { config, ..scenario }
}

#[test]
fn redisson_does_what_the_holders_of_tokens_do_in_the_model() {
    let versions = [
        ("redisson-4.7", "4.7.0"),
        ("redisson-4.3", "4.3.1"),
        ("redisson-3.52", "3.52.0"),
        ("redisson-3.43", "3.43.0"),
    ];
    let worlds = [WATCHED, LEASED, LIMITED, LIMITED_LEASE, ONCE, FAULTS, REPLICA, THREADS];
    let all: Vec<_> = versions
        .iter()
        .flat_map(|version| {
            worlds.iter().flat_map(move |keys| ["with-grant", "read-later"].map(|token| (*version, *keys, token)))
        })
        .collect();
    let cases = from_environment("LOCKSTEP_REDISSON_HISTORIES", HISTORIES);
    at_once(&all, |((profile, version), keys, token)| {
        let found = random_histories(&world(profile, keys, token), redisson(version), cases, 1);
        eprintln!(
            "{version} {token} {keys:?}: {} of {} left; {:?}",
            found.left,
            found.cases,
            found.counterexample.as_ref().map(|(_, d)| d)
        );
    });
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
