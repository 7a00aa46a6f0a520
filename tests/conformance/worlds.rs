//! Worlds that no built-in scenario has: with every fault at once, and those on which model and servers once differed.

use std::collections::BTreeSet;

use lockstep_model::client::Slot;
use lockstep_model::config::Faults;
use lockstep_model::locks::StoringMasters;
use lockstep_model::mutants::Mutant;
use lockstep_model::trace::About;
use lockstep_model::{Action, LockKind};
use lockstep_sim::fuzz::FuzzOptions;
use lockstep_sim::recorder;
use lockstep_sim::scenario::Scenario;
use lockstep_tests::drawn::from_environment;
use lockstep_tests::servers::for_every_version_at_once as for_every_version;

use crate::KINDS;
use crate::histories::{assert_agrees, assert_fuzz_agrees, can_replay, on, start};

/// The word in the texts below that stands for the kind of lock.
const KIND: &str = "KIND";

/// The scenario of this text, with the kind of lock whose scenarios may have every fault.
fn scenario(name: &str, text: &str) -> Scenario {
    let kind = KINDS.iter().find(|kind| kind.has_every_fault).expect("a kind with every fault").kind;
    Scenario::parse(name, &text.replace(KIND, kind.name())).unwrap_or_else(|error| panic!("{error}"))
}

/// Worlds that have every fault between them: a scenario cannot have both a clock that jumps and `WAIT`, nor both
/// receipts and a clock that jumps or an eviction, a key of a wrong type only on an atomic network, with two lock names, and a
/// counter of tokens only beside a lock that issues them; an ask of one of several masters only where there are some; these have replicas beside
/// fewer faults; and a slot is moved beside few other faults of nodes. `LOCKSTEP_WORLD_HISTORIES` asks for another number of histories of each, which is smaller where each starts several
/// servers anew.
#[test]
fn random_histories_of_split_worlds_with_every_fault_agree_on_every_server() {
    const CASES: u32 = 30;
    let most = from_environment("LOCKSTEP_WORLD_HISTORIES", CASES);
    let texts = [EVERY_FAULT.to_owned(), every_fault_without_receipts(), TWO_NAMES.to_owned()];
    let issues = LockKind::ALL.iter().find(|kind| kind.facts().tokens.is_there()).expect("a kind that issues tokens");
    let mut worlds = texts.map(|text| scenario("every-fault", &text)).to_vec();
    worlds.push(scenario("every-fault", &COUNTED.replace(KIND, issues.name())));
    let masters =
        LockKind::ALL.iter().find(|kind| kind.facts().masters.are_several()).expect("a kind on several masters");
    worlds.push(scenario("every-fault", &ON_MASTERS.replace(KIND, masters.name())));
    let on_masters = LockKind::ALL.iter().filter(|kind| kind.facts().masters.are_several());
    worlds.extend(on_masters.flat_map(|kind| {
        let is_of_rounds = kind.facts().masters == StoringMasters::Rounds;
        let own = if is_of_rounds { "[protocol]\nprofile = \"lockstep\"" } else { "" };
        ["2", "5"].map(|groups| {
            let text = MASTERS_WITH_REPLICAS.replace("PROTOCOL", own).replace("GROUPS", groups);
            scenario("masters-with-replicas", &text.replace(KIND, kind.name()))
        })
    }));
    let of_locks = LockKind::ALL.iter().filter(|kind| kind.facts().masters == StoringMasters::Locks);
    worlds.extend(of_locks.flat_map(|kind| {
        WAITS_AT_MASTERS.map(|(waits, stops)| {
            let text = WAITING_AT_MASTERS.replace("WAITS", waits).replace("STOPS", stops).replace(KIND, kind.name());
            scenario("waits-at-masters", &text)
        })
    }));
    worlds.extend([MOVED, MOVED_CHANNELS].map(|text| scenario("every-fault", text)));
    let budgets = worlds.iter().flat_map(|scenario| scenario.config.faults.budgets());
    let there: BTreeSet<_> = budgets.filter(|(_, budget)| *budget > 0).map(|(kind, _)| kind).collect();
    assert_eq!(there.len(), Faults::default().budgets().len(), "every fault is in one of the worlds");
    for_every_version(|version| {
        for (seed, world) in (0..).zip(&worlds).filter(|(_, world)| can_replay(version, world)) {
            let mut scenario = on(version, world.clone());
            if version.shows_scripts_what_has_expired() {
                // Without the faults that make a master a replica while a client may still ask it.
                let faults = &mut scenario.config.faults;
                (faults.cut_link, faults.hand_over, faults.restart_node, faults.refuse_writes) = (0, 0, 0, 0);
            }
            let cases = match scenario.config.cluster.groups {
                1 if scenario.config.is_split() => most,
                // Each history starts a cluster anew.
                1 if scenario.config.faults.move_slot > 0 => (most / 4).max(1),
                1 => (most / 2).max(1),
                // Each history starts several servers anew that have died in the one before.
                _ => (most / 4).max(1),
            };
            assert_fuzz_agrees(version, &scenario, FuzzOptions { cases, seed });
        }
    });
}

const COUNTED: &str = r#"
story = "A lock whose counter of tokens is evicted, replicated and lost."
lock = "KIND"
[time]
lease = 3
renew_every = 1
wait_limit = 4
hold_at_most = 3
[clients]
count = 2
max_holds = 2
acquires = 20
[cluster]
replicas = 1
[resource]
fencing = "stored"
delay = "any"
[faults]
vanish_token = 2
vanish_key = 1
persist_key = 1
crash_node = 1
restart_node = 1
break_link = 1
pause_client = 1
force_release = 1
"#;

const ON_MASTERS: &str = r#"
story = "Clients that ask three masters, which crash, restart, stand still, refuse and forget."
lock = "KIND"
[time]
lease = 4
renew_every = 1
wait_limit = 6
hold_at_most = 2
drift = 1
jump = 2
[clients]
count = 3
stops_at = "validity"
[cluster]
groups = 3
fsync = "always"
[protocol]
profile = "lockstep"
[faults]
lose_ask = 2
slow_reply = 2
late_ask = 2
pause_client = 1
crash_client = 1
crash_node = 1
kill_node = 1
shutdown_node = 1
restart_node = 2
pause_node = 1
refuse_writes = 1
vanish_key = 1
clock_jump = 1
"#;

const MASTERS_WITH_REPLICAS: &str = r#"
story = "A lock on several masters, each with a replica that takes its place when it dies, refuses to write, or runs on."
lock = "KIND"
[time]
lease = 4
renew_every = 1
wait_limit = 0
hold_at_most = 3
[clients]
count = 2
acquires = 2
[cluster]
groups = GROUPS
replicas = 1
PROTOCOL
[faults]
lose_ask = 1
crash_client = 1
crash_node = 1
restart_node = 1
refuse_writes = 1
break_link = 1
hand_over = 1
"#;

/// With a limit, and in rounds whose leases grow; one of them of callers that look at their own clocks.
const WAITS_AT_MASTERS: [(&str, &str); 4] = [
    ("renew_every = 1\nwait_limit = 3", "never"),
    ("wait_limit = 6", "never"),
    ("wait_limit = 3", "validity"),
    ("round_wait = 3", "never"),
];

const WAITING_AT_MASTERS: &str = r#"
story = "Clients wait for a lock on three masters, which crash, restart, refuse and forget; messages are lost, and replies are late."
lock = "KIND"
[time]
lease = 4
WAITS
hold_at_most = 2
jump = 2
[clients]
count = 3
acquires = 3
stops_at = "STOPS"
[cluster]
groups = 3
[faults]
lose_message = 1
lose_ask = 1
slow_reply = 1
pause_client = 1
crash_client = 1
crash_node = 1
restart_node = 1
refuse_writes = 1
vanish_key = 1
clock_jump = 1
"#;

const MOVED: &str = r#"
story = "The slot of the lock is moved while clients wait, die and are interrupted, and the old master dies."
lock = "KIND"
[time]
lease = 3
renew_every = 1
wait_limit = 5
hold_at_most = 4
[clients]
count = 3
max_holds = 2
[cluster]
replicas = 1
channels = "global"
[faults]
move_slot = 1
crash_node = 1
crash_client = 1
crash_thread = 1
pause_client = 1
lose_message = 1
foreign_release = 1
force_release = 1
interrupt = 1
"#;

const MOVED_CHANNELS: &str = r#"
story = "The slot of the lock is moved, and with it the channel on which clients wait."
lock = "KIND"
[time]
lease = 4
renew_every = 1
hold_at_most = 3
[clients]
count = 3
[cluster]
channels = "sharded"
[faults]
move_slot = 1
crash_client = 1
pause_client = 1
lose_message = 1
force_release = 1
"#;

/// The same of a kind whose requests name several keys, without a replica.
const MOVED_KEYS: &str = r#"
story = "The slot of the lock is moved, and requests of several keys are refused meanwhile."
lock = "KIND"
[time]
lease = 3
renew_every = 1
hold_at_most = 4
TIME
[clients]
count = 2
acquires = 3
CLIENTS
[cluster]
channels = "global"
[faults]
move_slot = 1
crash_client = 1
pause_client = 1
lose_message = 1
force_release = 1
"#;

/// `LOCKSTEP_WORLD_HISTORIES` asks for another number of histories of each kind.
#[test]
fn random_histories_of_kinds_whose_requests_name_several_keys_agree_while_their_slot_moves() {
    const CASES: u32 = 6;
    let cases = from_environment("LOCKSTEP_WORLD_HISTORIES", CASES);
    let has_several = |kind: &&LockKind| kind.facts().has_one_slot() && !kind.facts().acquires_by_one_key();
    let worlds = LockKind::ALL.iter().filter(has_several).map(|kind| {
        let (time, clients) = match kind.facts() {
            facts if facts.sharing.is_there() => ("", "threads = 2"),
            facts if facts.queue.is_there() => ("queue_wait = 5\nwait_limit = 4", ""),
            _ => ("", "max_holds = 2"),
        };
        let text = MOVED_KEYS.replace("TIME", time).replace("CLIENTS", clients).replace(KIND, kind.name());
        Scenario::parse("moved-keys", &text).unwrap_or_else(|error| panic!("{error}"))
    });
    let worlds: Vec<_> = worlds.collect();
    assert_eq!(worlds.len(), 3, "a queue, readers, a counter");
    // What is refused: the acquire of a reader, and of anybody who finds no queue or no lock.
    let refused = |world: &Scenario| {
        let thread = u8::from(world.config.shares());
        [Action::MoveSlot { node: 0 }, Action::Acquire { client: 0, thread }]
    };
    for_every_version(|version| {
        for (seed, world) in (0..).zip(&worlds) {
            let world = on(version, world.clone());
            assert_fuzz_agrees(version, &world, FuzzOptions { cases, seed });
            let record = |config| recorder::record("moved-keys", "", config, About::Covering, &refused(&world), "");
            assert_agrees(&mut start(version, &world), &record(&world.config).expect("it can happen"));
            let wrong = world.config.with_mutant(Mutant::MovingSlotGrants);
            let told =
                start(version, &world).replay(&record(&wrong).expect("it can happen"), false).expect("an answer");
            assert_eq!(told.difference.map(|found| found.redis).as_deref(), Some("try again"), "{version}");
        }
    });
}

const TWO_NAMES: &str = r#"
story = "Two locks that one renewal carries, and another program that stores a string under their names."
lock = "KIND"
[time]
lease = 3
renew_every = 1
wait_limit = 0
[clients]
count = 2
threads = 2
names = 2
max_holds = 2
[faults]
overwrite_key = 2
pause_client = 1
crash_thread = 1
foreign_release = 1
"#;

const EVERY_FAULT: &str = r#"
story = "Every fault of a network on which requests and answers are late, in one world."
lock = "KIND"
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
discovery = "any-master"
[network]
mode = "split"
delay = "any"
[protocol]
resend = "all"
[faults]
crash_client = 1
crash_thread = 1
pause_client = 1
start_client = 1
crash_node = 1
restart_node = 1
kill_node = 1
shutdown_node = 1
cut_link = 1
pause_node = 1
hand_over = 1
lose_message = 1
lose_request = 1
lose_reply = 1
interrupt = 1
foreign_release = 1
force_release = 1
client_clock_jump = 1
refuse_writes = 1
break_link = 1
persist_key = 1
vanish_receipts = 1
"#;

fn every_fault_without_receipts() -> String {
    EVERY_FAULT
        .replace("wait_for = 1\n", "")
        .replace("[protocol]", "[protocol]\nreceipts = false")
        .replace("vanish_receipts = 1\n", "")
        + "vanish_key = 1\nclock_jump = 1\n"
}

/// Combinations of keys on which model and servers once differed, or the harness failed; `LOCKSTEP_WORLD_HISTORIES` asks for another
/// number of histories of each.
#[test]
fn random_histories_of_worlds_that_once_differed_agree_on_every_server() {
    const CASES: u32 = 4;
    let cases = from_environment("LOCKSTEP_WORLD_HISTORIES", CASES);
    let world = |seed, cluster: &str, rest: &str| {
        let text = format!(
            "story = \"x\"\nlock = \"KIND\"\n[time]\nlease = 3\nwait_limit = 0\nhold_at_most = 2\n[clients]\n\
             count = 2\nacquires = 1\n[cluster]\n{cluster}\n{rest}"
        );
        (seed, scenario("once-differed", &text))
    };
    let worlds = [
        world(0, "replicas = 1\nlag = 0\nwait_for = 1", "[faults]\ncrash_node = 1"),
        world(1, "replicas = 1\nlag = 0", "[faults]\ncut_link = 1\n[network]\nmode = \"split\""),
        world(2, "replicas = 1\nmin_replicas = 1", "[faults]\ncut_link = 1\ncrash_node = 1"),
        world(
            3,
            "replicas = 1\nmin_replicas = 1",
            "[faults]\ncut_link = 2\ncrash_node = 1\n[network]\nmode = \"split\"\n[protocol]\nresend = \"release\"",
        ),
        world(4, "replicas = 1\nlag = 0", "[faults]\nrefuse_writes = 2\ncrash_node = 1\nrestart_node = 1"),
        world(5, "replicas = 2\nmin_replicas = 1", "[faults]\nrefuse_writes = 1\ncut_link = 2"),
        world(6, "replicas = 1\nlag = 0\nmin_replicas = 1", "[faults]\npause_node = 2\ncut_link = 1"),
        world(7, "replicas = 2\nwait_for = 1", "[faults]\npause_node = 2\ncrash_node = 1\n[network]\nmode = \"split\""),
        world(
            8,
            "replicas = 2\nwait_for = 1",
            "[faults]\ncut_link = 2\ncrash_node = 1\nrestart_node = 1\nhand_over = 1",
        ),
        world(
            9,
            "replicas = 2\nlag = 1\nmin_replicas = 1\nmin_replicas_max_lag = 1\nwait_for = 1\nfsync = \"always\"",
            "[protocol]\nwait_rule = \"all\"\n[faults]\ncrash_node = 2\nkill_node = 1\ncut_link = 1\nrestart_node = 2",
        ),
        world(
            10,
            "replicas = 2\nlag = 1\nmin_replicas = 1\nmin_replicas_max_lag = 1",
            "[faults]\ncrash_node = 1\nhand_over = 1\ncut_link = 1\nrestart_node = 1",
        ),
        world(11, "replicas = 1\nlag = \"any\"\nshutdown_timeout = 2", "[faults]\nshutdown_node = 1"),
        // A lock expires, and its deletion reaches the heir before that takes over.
        world(
            11,
            "replicas = 1\npromote = \"forced\"\nhand_over_timeout = 1",
            "[faults]\ncrash_client = 2\nhand_over = 2",
        ),
        world(
            13,
            "replicas = 1\nmin_replicas = 1\nshutdown_timeout = 3",
            "[faults]\ncrash_client = 1\nshutdown_node = 1",
        ),
    ];
    for_every_version(|version| {
        for (seed, world) in worlds.iter().filter(|(_, world)| can_replay(version, world)) {
            assert_fuzz_agrees(version, &on(version, world.clone()), FuzzOptions { cases, seed: *seed });
        }
    });
}

/// Each client uses its own lease, receipts and rule for `WAIT`: a server would show the lease of another client in its TTL.
#[test]
fn random_histories_of_clients_that_differ_agree_on_every_server() {
    let atomic = "story = \"x\"\nlock = \"KIND\"\n[time]\nlease = 3\nrenew_every = 1\nwait_limit = 2\nhold_at_most = 2\n\
                  [clients]\nmax_holds = 2\n[[client]]\nlease = 1\nrenew_every = \"none\"\n[[client]]\nprofile = \"lockstep\"\n\
                  wait_limit = 0\n[[client]]\nlease = 2\nprofile = \"redisson-3.15\"\n[cluster]\nreplicas = 1\nwait_for = 1\n\
                  [faults]\ncrash_node = 1\nforce_release = 1\n";
    let split = "story = \"x\"\nlock = \"KIND\"\n[time]\nlease = 3\nrenew_every = 1\nwait_limit = 2\nhold_at_most = 2\n\
                 [clients]\ncount = 2\nacquires = 3\n[network]\nmode = \"split\"\n[protocol]\nresend = \"release\"\n\
                 [[client]]\nlease = 2\nprofile = \"redisson-3.15\"\n[[client]]\nanswer_within = 2\nretry_attempts = 2\n\
                 [faults]\nlose_request = 1\nlose_reply = 2\n";
    let worlds = [atomic, split].map(|text| scenario("clients-that-differ", text));
    assert!(worlds.iter().all(|world| !world.config.clients_are_alike()));
    for_every_version(|version| {
        for (seed, world) in (0..).zip(&worlds).filter(|(_, world)| can_replay(version, world)) {
            assert_fuzz_agrees(version, &on(version, world.clone()), FuzzOptions { cases: 60, seed });
        }
    });
}

/// Commands in a master's stream that change no data are no effect; and a new master deletes what has expired by its clock,
/// even where it has not expired by the clocks of its replicas. A master that stood still deletes also what its replicas have not
/// heard of yet. On each the model and the servers once differed.
#[test]
fn histories_with_clocks_that_jump_agree_on_every_server() {
    let world = |rule: &str| {
        format!(
            "story = \"x\"\nlock = \"KIND\"\n[time]\nlease = 1\nwait_limit = 0\njump = 2\n[clients]\ncount = 2\n\
             [cluster]\nreplicas = 1\npromote = \"{rule}\"\n[faults]\nclock_jump = 1\nforce_release = 1\nhand_over = 1\npause_node = 1\n"
        )
    };
    let acquire = Action::Acquire { client: 0, thread: 0 };
    let (jump, hand_over) = (Action::ClockJump { node: 1 }, Action::HandOver { node: 1 });
    let b_acquires = Action::Acquire { client: 1, thread: 0 };
    let [still, goes_on] = [Action::PauseNode { node: 0 }, Action::ResumeNode { node: 0 }];
    let (replicate, finish) = (Action::Replicate { node: 1 }, Action::FinishHandOver { node: 1 });
    for (rule, actions) in [
        ("any", vec![Action::ForceRelease { client: 1 }, acquire, Action::Tick, replicate]),
        ("any", vec![acquire, replicate, jump, hand_over, Action::Demote { node: 0 }]),
        ("coordinated", vec![acquire, replicate, jump, hand_over, finish, Action::Replicate { node: 0 }]),
        ("forced", vec![acquire, hand_over, finish]),
        ("any", vec![acquire, still, Action::ClockJump { node: 0 }, goes_on, b_acquires, replicate]),
    ] {
        for_every_version(|version| {
            let scenario = on(version, scenario("jumps", &world(rule)));
            let trace = recorder::record("jumps", "", &scenario.config, About::Covering, &actions, "").unwrap();
            assert_agrees(&mut start(version, &scenario), &trace);
        });
    }
}

/// What it wrote last is in the sockets of a replica that stands still: it ends at its time-out, or once that replica goes on
/// (docs/facts/redis.md#shutdown). Servers once failed in each of these histories, or the model let the master end at once.
#[test]
fn a_master_that_was_told_to_end_waits_for_a_replica_that_stands_still() {
    let text = "story = \"x\"\nlock = \"KIND\"\n[time]\nlease = 2\nwait_limit = 0\n[clients]\ncount = 1\nacquires = 1\n[cluster]\n\
                replicas = 1\nmin_replicas = 1\nshutdown_timeout = 3\n[faults]\nshutdown_node = 1\npause_node = 1\n";
    let world = scenario("shutdown", text);
    let (client, thread) = (0, 0);
    let [acquire, release] = [Action::Acquire { client, thread }, Action::Release { client, thread }];
    let [end, has_ended] = [Action::ShutdownNode { node: 0 }, Action::FinishShutdown { node: 0 }];
    let [still, goes_on] = [Action::PauseNode { node: 1 }, Action::ResumeNode { node: 1 }];
    let [pause, resume] = [Action::PauseNode { node: 0 }, Action::ResumeNode { node: 0 }];
    let applies = Action::Replicate { node: 1 };
    let record = |actions: &[Action]| recorder::record("shutdown", "", &world.config, About::Covering, actions, "");
    let (tick, behind) = (Action::Tick, [still, acquire, release, end]);
    assert!(
        record(&[&behind[..], &[has_ended]].concat()).is_err(),
        "the model lets n1 end while n2 stands still and has not heard of its writes"
    );
    for actions in [
        [&behind[..], &[tick, tick, tick, has_ended]].concat(),
        [&behind[..], &[tick, goes_on, applies, has_ended]].concat(),
        vec![end, tick, still, tick, goes_on, has_ended],
        vec![acquire, end, applies, still, has_ended],
        // The key expires, and its deletion is no effect here.
        vec![still, acquire, tick, tick, tick, release, end, tick, goes_on, applies, has_ended],
        vec![pause, resume, acquire, applies, end, Action::CountReplicas { node: 0 }, has_ended],
        vec![pause, tick, Action::Promote { node: 1 }, resume, acquire, release, end, tick],
    ] {
        let trace = record(&actions).unwrap_or_else(|error| panic!("{actions:?}: {error:?}"));
        for_every_version(|version| {
            if can_replay(version, &world) {
                assert_agrees(&mut start(version, &on(version, world.clone())), &trace);
            }
        });
    }
}

/// What passes between nodes that stand still, are cut off, or end. On each the model and the servers once differed: a replica
/// ends whose replaced master stands still; a replica that stands still keeps its connection through the partition of its
/// master; what a replaced master that stands still was told before it is cut off waits in its sockets.
#[test]
fn histories_of_links_that_nobody_reads_agree_on_every_server() {
    let world = |cluster: &str| {
        format!(
            "story = \"x\"\nlock = \"KIND\"\n[time]\nlease = 3\nhold_at_most = 2\ntick_ms = 1000\n[clients]\ncount = 1\n\
             acquires = 2\n[network]\nmode = \"split\"\ndelay = 1\n[cluster]\nreplicas = 2\n{cluster}\n\
             [faults]\npause_node = 2\ncut_link = 2\nkill_node = 1\nshutdown_node = 1\n"
        )
    };
    let [cut, heal] = [Action::CutLink { node: 0 }, Action::Heal { node: 0 }];
    let [pause, resume] = [Action::PauseNode { node: 0 }, Action::ResumeNode { node: 0 }];
    let count = Action::CountReplicas { node: 0 };
    let promote = Action::Promote { node: 2 };
    let acquire = Action::Acquire { client: 0, thread: 0 };
    let execute = Action::Execute { client: 0, slot: Slot::Call1 };
    let one_by_one = "wait_for = 1\nlag = 2\nreplicas_leave = \"one-by-one\"";
    let [kill, end] = [Action::KillNode { node: 2 }, Action::ShutdownNode { node: 1 }];
    let [still, goes_on] = [Action::PauseNode { node: 1 }, Action::ResumeNode { node: 1 }];
    for (cluster, actions) in [
        (format!("{one_by_one}\ncut_together = [\"n2\"]"), vec![cut, pause, promote, kill, end, heal, resume, acquire]),
        (one_by_one.to_owned(), vec![still, cut, promote, heal, acquire, goes_on]),
        ("wait_for = 1".to_owned(), vec![pause, promote, cut, resume, count, acquire]),
        ("min_replicas = 1".to_owned(), vec![pause, promote, acquire, cut, resume, count, execute]),
        (one_by_one.to_owned(), vec![Action::CutLink { node: 1 }, pause, promote, resume, count, acquire]),
    ] {
        for_every_version(|version| {
            let scenario = scenario("links", &world(&cluster));
            if can_replay(version, &scenario) {
                let scenario = on(version, scenario);
                let trace = recorder::record("links", "", &scenario.config, About::Covering, &actions, "").unwrap();
                assert_agrees(&mut start(version, &scenario), &trace);
            }
        });
    }
}

/// Where a script on a replica still finds what has expired, a release there is refused and not told that the lock is not its own,
/// and an acquire is told that no time is left and not that it cannot write. Both are named as known, on that server alone.
#[test]
fn a_script_that_finds_an_expired_key_on_a_demoted_master_differs_for_a_known_reason() {
    let text = "story = \"x\"\nlock = \"KIND\"\n[time]\nlease = 1\nwait_limit = 0\n[clients]\ncount = 2\n[cluster]\n\
                replicas = 1\n[faults]\npause_node = 1\n";
    let (thread, node) = (0, 0);
    let acquire = |client| Action::Acquire { client, thread };
    let promoted = [Action::PauseNode { node }, Action::Promote { node: 1 }, Action::ResumeNode { node }];
    let over = [acquire(0), Action::Demote { node }, Action::Tick, Action::Expire { node }];
    for last in [Action::Release { client: 0, thread }, acquire(1)] {
        for_every_version(|version| {
            let scenario = on(version, scenario("demoted", text));
            let actions = [&promoted[..], &over, &[last]].concat();
            let trace = recorder::record("demoted", "", &scenario.config, About::Covering, &actions, "").unwrap();
            let difference = start(version, &scenario).replay(&trace, false).unwrap().difference;
            assert_eq!(difference.is_some(), version.shows_scripts_what_has_expired(), "{version}: {difference:?}");
            assert!(difference.is_none_or(|found| found.step == actions.len() && found.known.is_some()), "{version}");
        });
    }
}
