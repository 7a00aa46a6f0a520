//! Redisson's own scripts, taken from what it sends, against ours: on random start states they reply the same, leave the same
//! keys and publish the same messages. Nothing of Redisson's is kept: each run takes its scripts anew.

use std::env;

use lockstep_redis::Scripts;
use lockstep_sim::replay::ServerConnection;
use lockstep_sim::replay::redisson::{HeldCommand, Jvm};
use lockstep_tests::servers::{Listener, START_MS, TestServer, on_every_server, servers};
use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};
use redis::{ConnectionLike as _, Value, cmd};

use crate::history::RedissonStage;
use crate::redisson;

/// Start states for each script on each server version in an ordinary test.
const CASES: usize = 100;
/// The lease that Redisson sends in the history from which its scripts are taken, ms: that of its watchdog.
const LEASE: &[u8] = b"30000";
/// A part of Redisson's scripts takes this as an argument; ours publish by themselves
/// (docs/facts/redisson.md#publish-command).
const PUBLISH: &[u8] = b"PUBLISH";
/// How many locks one script renews in these runs at most.
const MOST_LOCKS: u32 = 3;

/// A script with what it is called with.
#[derive(Clone)]
struct ScriptCall {
    text: String,
    keys: Vec<String>,
    args: Vec<Vec<u8>>,
}

/// A script of Redisson's, and the name of ours that does the same.
struct TakenScript {
    ours: &'static str,
    call: ScriptCall,
    /// Whether it is called with several locks: a renewal since 3.44.
    takes_many_locks: bool,
}

/// A version and one of its locks, and the scripts of ours that do what that one does.
#[derive(Clone, Copy)]
struct LookedAt {
    version: &'static str,
    /// The lock object, as the driver names it.
    object: &'static str,
    acquire: &'static str,
    renew: &'static str,
    release: &'static str,
    force_release: &'static str,
    renews_many: bool,
}

const TODAY: LookedAt = LookedAt {
    version: "4.7.0",
    object: "lock",
    acquire: "reentrant/acquire",
    renew: "reentrant/renew",
    release: "reentrant/release",
    force_release: "reentrant/force_release",
    renews_many: true,
};
const IN_2021: LookedAt =
    LookedAt { version: "3.15.6", release: "reentrant/release_without_receipt", renews_many: false, ..TODAY };
const SPINS_TODAY: LookedAt = LookedAt {
    version: "4.7.0",
    object: "spin:1000:lock",
    acquire: "spin/acquire",
    renew: "spin/renew",
    release: "spin/release",
    force_release: "spin/force_release",
    renews_many: false,
};
const SPINS_IN_2021: LookedAt = LookedAt { version: "3.15.6", release: "spin/release_without_receipt", ..SPINS_TODAY };

/// What can be seen of a script that was run.
#[derive(Debug, PartialEq)]
struct ScriptEffects {
    reply: String,
    /// Each key, as it is stored, and its TTL in ms.
    keys: Vec<(Value, i64)>,
    number_of_keys: i64,
    messages: Vec<String>,
}

/// The script that a client has sent and no server has received.
fn sent(held: &[HeldCommand]) -> ScriptCall {
    let is_script = |command: &&HeldCommand| command.words.first().is_some_and(|name| &name[..] == b"EVAL");
    let command = held.iter().find(is_script).unwrap_or_else(|| panic!("no script is held: {held:?}"));
    let text = |word: &[u8]| String::from_utf8(word.to_vec()).expect("scripts and names of keys are text");
    let number: usize = text(&command.words[2]).parse().expect("the number of keys");
    let (keys, args) = command.words[3..].split_at(number);
    ScriptCall { text: text(&command.words[1]), keys: keys.iter().map(|key| text(key)).collect(), args: args.to_vec() }
}

/// What a version of Redisson sends when a thread takes its lock, renews it, releases it, and frees it by force.
fn taken_from(looked_at: LookedAt) -> Vec<TakenScript> {
    let LookedAt { version, object, renew, release, renews_many, .. } = looked_at;
    let (program, server) = (redisson(version), servers().remove(0));
    let mut jvm = Jvm::start(program.driver(), START_MS).unwrap_or_else(|error| panic!("{error}"));
    let mut stage = RedissonStage::begin(&mut jvm, &server);
    let mut taken = Vec::new();
    let mut take = |ours, stage: &RedissonStage<'_>| {
        let takes_many_locks = renews_many && ours == renew;
        taken.push(TakenScript { ours, call: sent(&stage.held('A')), takes_many_locks });
    };
    for (verb, ours) in [("lock", looked_at.acquire), ("unlock", release), ("force-unlock", looked_at.force_release)] {
        stage.call_by('A', verb, object);
        take(ours, &stage);
        stage.settle();
        if verb == "lock" {
            stage.pass_ms(10_200);
            take(renew, &stage);
            stage.settle();
        }
    }
    stage.end();
    taken
}

fn below(random: &mut TestRng, bound: u32) -> u32 {
    random.next_u32() % bound
}

fn ms(random: &mut TestRng) -> Vec<u8> {
    (1 + below(random, 60_000)).to_string().into_bytes()
}

/// The same call with another lease, and with more locks where it takes several.
fn varied(TakenScript { call, takes_many_locks, .. }: &TakenScript, random: &mut TestRng) -> ScriptCall {
    let lease = ms(random);
    let mut varied = call.clone();
    for arg in varied.args.iter_mut().filter(|arg| arg.as_slice() == LEASE) {
        arg.clone_from(&lease);
    }
    if *takes_many_locks {
        for number in 1..=below(random, MOST_LOCKS) {
            varied.keys.push(format!("{}-{number}", call.keys[0]));
            varied.args.push(call.args[1].clone());
        }
    }
    varied
}

/// Commands that store something under a key: a lock that is free, held by the caller, by another or by both, or no lock at all.
fn stored_lock(key: &str, holder: &[u8], random: &mut TestRng) -> Vec<redis::Cmd> {
    let mut commands = Vec::new();
    let kind = below(random, 12);
    if kind == 0 {
        commands.push(cmd("SET").arg(key).arg("oops").to_owned());
    }
    let count = |random: &mut TestRng| 1 + below(random, 3);
    if [1, 2, 3, 4, 5].contains(&kind) {
        commands.push(cmd("HSET").arg(key).arg(holder).arg(count(random)).to_owned());
    }
    if [5, 6, 7, 8].contains(&kind) {
        commands.push(cmd("HSET").arg(key).arg("somebody:1").arg(count(random)).to_owned());
    }
    if !commands.is_empty() && below(random, 4) > 0 {
        commands.push(cmd("PEXPIRE").arg(key).arg(ms(random)).to_owned());
    }
    commands
}

/// Commands that store the reply of the same release, if it was executed before.
fn stored_receipt(key: &str, random: &mut TestRng) -> Vec<redis::Cmd> {
    match below(random, 4) {
        0 => vec![cmd("SET").arg(key).arg(below(random, 2)).arg("PX").arg(ms(random)).to_owned()],
        _ => Vec::new(),
    }
}

fn run(
    start: &[redis::Cmd],
    call: &ScriptCall,
    connection: &mut ServerConnection,
    listener: &mut Listener,
) -> ScriptEffects {
    let mut ask = |command: &redis::Cmd| connection.req_command(command).unwrap_or_else(|error| panic!("{error}"));
    ask(&cmd("FLUSHALL"));
    for command in start {
        ask(command);
    }
    let ScriptCall { text, keys, args } = call;
    let reply = match connection.req_command(cmd("EVAL").arg(text).arg(keys.len()).arg(keys).arg(args)) {
        // The text of an error names the script.
        Ok(Value::ServerError(error)) => error.code().to_owned(),
        Err(error) => error.code().unwrap_or_else(|| panic!("{error}")).to_owned(),
        // Until 3.44 a renewal is a script for one lock, which replies with a number.
        Ok(Value::Array(numbers)) if numbers.len() == 1 => format!("{:?}", numbers[0]),
        Ok(value) => format!("{value:?}"),
    };
    let mut ask = |command: &redis::Cmd| connection.req_command(command).unwrap_or_else(|error| panic!("{error}"));
    let mut state = |key: &String| {
        let Value::Int(ttl_ms) = ask(cmd("PTTL").arg(key)) else { panic!("a TTL is a number") };
        (ask(cmd("DUMP").arg(key)), ttl_ms)
    };
    let keys = keys.iter().map(&mut state).collect();
    let Value::Int(number_of_keys) = ask(&cmd("DBSIZE")) else { panic!("a number of keys is a number") };
    ScriptEffects { reply, keys, number_of_keys, messages: listener.messages() }
}

/// The first start state in which the two scripts do not do the same, of so many.
fn difference(taken: &TakenScript, ours: &Scripts, server: &TestServer, cases: usize) -> Option<String> {
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut connection = server.connect();
    let channel = taken.call.keys.get(1).map_or("nobody publishes here", |channel| channel.as_str());
    let mut listener = server.listen(channel);
    (0..cases).find_map(|_| {
        let theirs = varied(taken, &mut random);
        let args = theirs.args.iter().filter(|arg| arg.as_slice() != PUBLISH).cloned().collect();
        let text = ours.get(taken.ours).text().to_owned();
        let our = ScriptCall { text, keys: theirs.keys.clone(), args };
        let holder = our.args.iter().find(|arg| arg.contains(&b':')).map_or(&b"nobody"[..], Vec::as_slice).to_vec();
        let locks = if taken.takes_many_locks { theirs.keys.as_slice() } else { &theirs.keys[..1] };
        let mut start: Vec<_> = locks.iter().flat_map(|key| stored_lock(key, &holder, &mut random)).collect();
        // It is the last key of a release that leaves one.
        if let Some(receipt) = theirs.keys.last().filter(|key| key.contains("unlock_latch")) {
            start.extend(stored_receipt(receipt, &mut random));
        }
        let seen = run(&start, &theirs, &mut connection, &mut listener);
        let ours = run(&start, &our, &mut connection, &mut listener);
        let packed: Vec<_> = start
            .iter()
            .map(|command| String::from_utf8_lossy(&command.get_packed_command()).replace("\r\n", " "))
            .collect();
        (seen != ours).then(|| format!("after {packed:?}\n{seen:?} by Redisson's script\n{ours:?} by {}", taken.ours))
    })
}

fn cases() -> usize {
    env::var("LOCKSTEP_REDISSON_SCRIPTS")
        .map_or(CASES, |number| number.parse().unwrap_or_else(|_| panic!("{number:?}")))
}

fn do_the_same(looked_at: LookedAt) {
    let taken = taken_from(looked_at);
    on_every_server(|server| {
        for taken in &taken {
            if let Some(difference) = difference(taken, &Scripts::built_in(), server, cases()) {
                panic!("{}: {difference}", taken.ours);
            }
        }
    });
}

#[test]
fn the_scripts_of_redisson_of_today_do_what_ours_do() {
    do_the_same(TODAY);
    do_the_same(SPINS_TODAY);
}

#[test]
fn the_scripts_of_redisson_of_2021_do_what_ours_do() {
    do_the_same(IN_2021);
    do_the_same(SPINS_IN_2021);
}

/// So the comparison can fail: a small mistake in each of our scripts is seen.
#[test]
fn a_wrong_script_of_ours_does_something_else() {
    let mistakes = [
        ("reentrant/acquire", "holder, 1)", "holder, 2)"),
        ("reentrant/acquire", "is_free or is_mine", "is_free"),
        ("reentrant/acquire", "'pttl'", "'ttl'"),
        ("reentrant/renew", "is_held and 1 or 0", "1"),
        ("reentrant/renew", "if is_held then", "if true then"),
        ("reentrant/release", "holds > 0", "holds > 1"),
        ("reentrant/release", "return tonumber(replied)", "return 1"),
        ("reentrant/release", "redis.call('set', receipt, 1, 'px', receipt_lease_ms)", ""),
        ("reentrant/force_release", "redis.call('publish', channel, message)", ""),
        ("reentrant/release_without_receipt", "redis.call('pexpire', lock, lease_ms)", ""),
        ("spin/acquire", "holder, 1)", "holder, 2)"),
        ("spin/acquire", "is_free or is_mine", "is_free"),
        ("spin/acquire", "'pttl'", "'ttl'"),
        ("spin/renew", "is_held and 1 or 0", "1"),
        ("spin/renew", "if is_held then", "if true then"),
        ("spin/release", "holds > 0", "holds > 1"),
        ("spin/release", "return tonumber(replied)", "return 1"),
        ("spin/release", "redis.call('set', receipt, 0, 'px', receipt_lease_ms)", ""),
        ("spin/release", "redis.call('set', receipt, 1, 'px', receipt_lease_ms)", ""),
        ("spin/force_release", "return redis.call('del', lock)", "redis.call('del', lock) return 1"),
        ("spin/release_without_receipt", "redis.call('pexpire', lock, lease_ms)", ""),
        ("spin/release_without_receipt", "if not is_mine then", "if false then"),
    ];
    let taken: Vec<_> = [TODAY, IN_2021, SPINS_TODAY, SPINS_IN_2021].into_iter().flat_map(taken_from).collect();
    on_every_server(|server| {
        for (name, right, wrong) in mistakes {
            let right_text = Scripts::built_in().get(name).text().to_owned();
            assert!(right_text.contains(right), "{name} has no {right}");
            let ours = Scripts::built_in().replace(name, &right_text.replacen(right, wrong, 1));
            let mut same = taken.iter().filter(|taken| taken.ours == name);
            assert!(
                same.any(|taken| difference(taken, &ours, server, CASES).is_some()),
                "{name}: {wrong:?} in place of {right:?}"
            );
        }
    });
}
