//! The read-write lock on real Redisson: random histories, and what the release of a reader does to the renewal of the writer.

use lockstep_model::trace::{About, Trace};
use lockstep_model::{Action, Config, LockKind, Reply};
use lockstep_sim::recorder;
use lockstep_sim::replay::{Player, suited};
use lockstep_sim::scenario::{BuiltIn, Scenario};
use lockstep_tests::at_once::at_once;
use lockstep_tests::drawn::from_environment;
use lockstep_tests::servers::servers;

use crate::redisson;
use crate::scenarios::random_histories;

/// Random histories of each world; `LOCKSTEP_REDISSON_HISTORIES` asks for another number.
const HISTORIES: u32 = 4;

/// Clients that write and read, re-enter, wait, and read beside each other.
const BOTH: &str = "[clients]\ncount = 2\nthreads = 2\nmax_holds = 2";
/// One client that reads, and one that writes: neither has a lock inside another one, and no reader is beside another one.
const APART: &str = "[clients]\ncount = 2\nthreads = 2\n[[client]]\nrole = \"reader\"\n[[client]]\nrole = \"writer\"";
/// Two clients that read, each as often as twice at once.
const READERS: &str =
    "[clients]\ncount = 2\nthreads = 2\nmax_holds = 2\n[[client]]\nrole = \"reader\"\n[[client]]\nrole = \"reader\"";
/// One client that writes and reads.
const ALONE: &str = "[clients]\ncount = 1\nthreads = 2";

fn world(profile: &str, keys: &str, protocol: &str) -> Scenario {
    let kind = LockKind::ALL.iter().find(|kind| kind.facts().sharing.is_there()).expect("a kind with readers");
    let text = format!(
        "story = \"s\"\nlock = \"{}\"\n[time]\nlease = 3\nrenew_every = 1\nhold_at_most = 4\n{keys}\n\
         [protocol]\nprofile = \"{profile}\"\n{protocol}\n",
        kind.name()
    );
    let scenario = Scenario::parse("readers-and-writers", &text).unwrap_or_else(|error| panic!("{error}"));
    let config = suited(&scenario.config, &servers()[0]);
    Scenario { config, ..scenario }
}

#[test]
fn redisson_does_what_the_readers_and_writers_of_the_model_do() {
    let worlds = [
        ("redisson-4.7", "4.7.0", BOTH),
        ("redisson-4.3", "4.3.1", APART),
        ("redisson-3.52", "3.52.0", APART),
        ("redisson-3.43", "3.43.0", APART),
    ];
    let cases = from_environment("LOCKSTEP_REDISSON_HISTORIES", HISTORIES);
    at_once(&worlds, |(profile, version, keys)| {
        let found = random_histories(&world(profile, keys, ""), redisson(version), cases, 1);
        assert_eq!(found.counterexample.map(|(_, difference)| difference), None, "{version}");
        assert!(found.left < found.cases, "{version}: none was followed to its end");
    });
}

/// Of a thread that writes, reads inside that and releases what it reads. From 3.44 on its write lock is renewed no more
/// (docs/facts/family.md#read-write).
#[test]
fn the_release_of_a_reader_ends_the_renewal_of_its_writer_since_3_44_and_not_before() {
    const ENDS: &str = "read_release = \"ends-write-renewal\"";
    const OWN: &str = "read_release = \"own-renewal\"";
    let versions = [("redisson-4.7", "4.7.0", ENDS, OWN), ("redisson-3.43", "3.43.0", OWN, ENDS)];
    at_once(&versions, |(profile, version, right, wrong)| {
        let difference = |rule: &str| {
            let config = world(profile, ALONE, rule).config;
            let mut player = Player::start(&servers()[0], &config, redisson(version)).expect("it starts");
            let result = player.replay(&reads_inside_a_write(&config), false).expect("it answers");
            (result.left, result.difference)
        };
        assert_eq!(difference(right), (None, None), "{version}: {right}");
        match difference(wrong) {
            (None, Some(found)) => assert_eq!(found.what, "request of A", "{version}: {wrong}"),
            other => panic!("{version}: {wrong}: {other:?}"),
        }
    });
}

fn reads_inside_a_write(config: &Config) -> Trace {
    const WRITER: u8 = 0;
    const READER: u8 = 1;
    let begin = [
        Action::Acquire { client: 0, thread: WRITER },
        Action::Acquire { client: 0, thread: READER },
        Action::Release { client: 0, thread: READER },
        Action::Tick,
    ];
    let recorded = |actions: &[Action]| recorder::record("readers-and-writers", "", config, About::Drawn, actions, "");
    // As many timers fire as there are by this rule.
    let mut actions = begin.to_vec();
    while recorded(&[&actions[..], &[Action::Renew { client: 0 }]].concat()).is_ok() {
        actions.push(Action::Renew { client: 0 });
    }
    recorded(&[&actions[..], &[Action::Tick]].concat()).expect("it can happen")
}

/// Of a writer that releases and reads on: a reader that waits is told nothing (docs/facts/family.md#read-write). A model in which it is
/// told is contradicted by each version, by the message that does not come.
#[test]
fn no_version_tells_a_waiting_reader_of_a_downgrade() {
    let versions = [
        ("redisson-4.7", "4.7.0"),
        ("redisson-4.3", "4.3.1"),
        ("redisson-3.52", "3.52.0"),
        ("redisson-3.43", "3.43.0"),
    ];
    at_once(&versions, |(profile, version)| {
        let difference = |rule: &str| {
            let text = BuiltIn::named("read-write-downgrade-tells-nobody").expect("it is built in").text;
            let protocol = format!("[protocol]\nprofile = \"{profile}\"\n{rule}\n\n[[client]]");
            let scenario = Scenario::parse("downgrade", &text.replacen("[[client]]", &protocol, 1));
            let config = suited(&scenario.unwrap_or_else(|error| panic!("{error}")).config, &servers()[0]);
            let mut player = Player::start(&servers()[0], &config, redisson(version)).expect("it starts");
            let result = player.replay(&downgrades_beside_a_reader(&config), false).expect("it answers");
            (result.left, result.difference.map(|found| found.what))
        };
        assert_eq!(difference(""), (None, None), "{version}");
        assert_eq!(difference("downgrade = \"publishes\""), (None, Some("messages to B".to_owned())), "{version}");
    });
}

fn downgrades_beside_a_reader(config: &Config) -> Trace {
    const WRITER: u8 = 0;
    const READER: u8 = 1;
    let actions = [
        Action::Acquire { client: 0, thread: WRITER },
        Action::Acquire { client: 0, thread: READER },
        Action::Acquire { client: 1, thread: READER },
        Action::Subscribe { client: 1, thread: READER },
        Action::SecondAsk { client: 1, thread: READER },
        Action::Release { client: 0, thread: WRITER },
    ];
    recorder::record("downgrade", "", config, About::Drawn, &actions, "").expect("it can happen")
}

/// What the renewal of a reader renews, by version (docs/facts/family.md#older-versions-of-the-read-write-lock): its own holds, those of
/// all readers, or those of the readers before the first who has entered twice. Each version contradicts the other two.
#[test]
fn a_reader_renews_what_its_version_renews_and_that_of_3_52_fails_at_a_nested_hold() {
    const RULES: [&str; 3] = ["own-holds", "all-holds", "fails-nested"];
    let versions = [
        ("redisson-4.7", "4.7.0", "own-holds"),
        ("redisson-4.3", "4.3.1", "all-holds"),
        ("redisson-3.52", "3.52.0", "fails-nested"),
        ("redisson-3.43", "3.43.0", "all-holds"),
    ];
    at_once(&versions, |(profile, version, own)| {
        for rule in RULES {
            let config = world(profile, READERS, &format!("read_renewal = \"{rule}\"")).config;
            let mut player = Player::start(&servers()[0], &config, redisson(version)).expect("it starts");
            // Client 0 enters twice and renews; client 1 has entered before it, or after it.
            let differences = [[1, 0, 0], [0, 0, 1]].map(|readers: [u8; 3]| {
                let result = player.replay(&renewed_beside(&config, &readers), false).expect("it answers");
                assert_eq!(result.left, None, "{version}: {rule}");
                result.difference.is_some()
            });
            assert_eq!(differences, [rule != *own; 2], "{version}: {rule}");
        }
    });
}

/// These clients read in this order; a period later the watchdog of the first client renews.
fn renewed_beside(config: &Config, readers: &[u8]) -> Trace {
    let reads = readers.iter().map(|client| Action::Acquire { client: *client, thread: 1 });
    let actions: Vec<_> = reads.chain([Action::Tick, Action::Renew { client: 0 }]).collect();
    recorder::record("readers-and-writers", "", config, About::Drawn, &actions, "").expect("it can happen")
}

/// `writeLock().forceUnlock()` answers that there was no write lock, and what its client reads is renewed on
/// (docs/facts/family.md#force-and-the-watchdog).
#[test]
fn a_forced_release_of_the_write_lock_leaves_the_renewal_of_a_reader() {
    const CLIENT: u8 = 0;
    let config = world("redisson-4.7", "[clients]\ncount = 1\nthreads = 2\n[faults]\nforce_release = 1", "").config;
    let renew = Action::Renew { client: CLIENT };
    let reads = Action::Acquire { client: CLIENT, thread: 1 };
    let actions = [reads, Action::ForceRelease { client: CLIENT }, Action::Tick, renew, Action::Tick, renew];
    let trace =
        recorder::record("readers-and-writers", "", &config, About::Drawn, &actions, "").expect("it can happen");
    assert_eq!(trace.steps.iter().filter(|step| step.answer == Reply::Renewed).count(), 2);
    let mut player = Player::start(&servers()[0], &config, redisson("4.7.0")).expect("it starts");
    let result = player.replay(&trace, false).expect("it answers");
    assert_eq!((result.left, result.difference), (None, None));
}
