//! The multi lock on real Redisson: random histories, and what contradicts another value of its switches.

use lockstep_model::trace::{About, Trace};
use lockstep_model::{Action, Config, LockKind};
use lockstep_sim::recorder;
use lockstep_sim::replay::{Player, suited};
use lockstep_sim::scenario::Scenario;
use lockstep_tests::at_once::at_once;
use lockstep_tests::drawn::from_environment;
use lockstep_tests::servers::servers;

use crate::redisson;
use crate::scenarios::random_histories;

/// Random histories of each world; `LOCKSTEP_REDISSON_HISTORIES` asks for another number.
const HISTORIES: u32 = 4;

/// Calls without a limit, in opposite orders: a round of Redisson takes 3 s for two locks.
const IN_ROUNDS: &str = "tick_ms = 3000\nlease = 3\nrenew_every = 1\nround_wait = 1\nhold_at_most = 1\n\
                         [[client]]\nacquires = 2\n[[client]]\nacquires = 2\nparts = \"reversed\"";
/// Calls with a limit that name their lease, beside one that uses a part alone.
const WITH_LIMIT: &str = "lease = 2\nwait_limit = 1\nhold_at_most = 1\n[clients]\nacquires = 3\n[[client]]\n[[client]]\n[[client]]\nparts = \"second-only\"";
/// A call that names its lease in seconds, and another client that keeps one of its locks for longer than a round.
const NAMES_SECONDS: &str = "tick_ms = 1000\nlease = 4\nround_wait = 3\nhold_at_most = 4\n[clients]\nacquires = 3\n\
                             [[client]]\nhold_at_most = 1\n[[client]]\nlease = 6\nparts = \"second-only\"";
/// Holds that are longer than the lease of the one who has them.
const TOO_LONG: &str = "lease = 2\nwait_limit = 0\nhold_at_most = 4\n[clients]\ncount = 2\nacquires = 3";

fn world(profile: &str, keys: &str, protocol: &str) -> Scenario {
    let kind = LockKind::ALL.iter().find(|kind| kind.facts().parts.is_there()).expect("a kind with parts");
    let text = format!(
        "story = \"s\"\nlock = \"{}\"\n[time]\n{keys}\n[protocol]\nprofile = \"{profile}\"\n{protocol}\n",
        kind.name()
    );
    let scenario = Scenario::parse("parts", &text).unwrap_or_else(|error| panic!("{error}"));
    let config = suited(&scenario.config, &servers()[0]);
    Scenario { config, ..scenario }
}

#[test]
fn redisson_takes_and_gives_back_parts_as_the_model_does() {
    let worlds = [
        ("redisson-4.7", "4.7.0", IN_ROUNDS),
        ("redisson-4.7", "4.7.0", WITH_LIMIT),
        ("redisson-4.7", "4.7.0", NAMES_SECONDS),
        ("redisson-4.7", "4.7.0", TOO_LONG),
        ("redisson-4.3", "4.3.1", WITH_LIMIT),
        ("redisson-3.52", "3.52.0", IN_ROUNDS),
        ("redisson-3.43", "3.43.0", NAMES_SECONDS),
    ];
    let cases = from_environment("LOCKSTEP_REDISSON_HISTORIES", HISTORIES);
    at_once(&worlds, |(profile, version, keys)| {
        let found = random_histories(&world(profile, keys, ""), redisson(version), cases, 1);
        assert_eq!(found.counterexample.map(|(_, difference)| difference), None, "{version}");
        assert!(found.left < found.cases, "{version}: none was followed to its end");
    });
}

fn replayed(version: &str, config: &Config, actions: &[Action]) -> (Trace, Option<String>) {
    let trace = recorder::record("parts", "", config, About::Drawn, actions, "").expect("it can happen");
    let mut player = Player::start(&servers()[0], config, redisson(version)).expect("it starts");
    let result = player.replay(&trace, false).expect("it answers");
    assert_eq!(result.left, None, "{version}");
    (trace, result.difference.map(|found| found.what))
}

const ASKS: Action = Action::Acquire { client: 0, thread: 0 };
const ASKS_ON: Action = Action::NextPart { client: 0, thread: 1 };
const SETS: Action = Action::SetTtl { client: 0, thread: 0 };
const SETS_ON: Action = Action::SetTtl { client: 0, thread: 1 };
const RELEASES: Action = Action::Release { client: 0, thread: 0 };
const GIVES_BACK: Action = Action::GiveBack { client: 0, thread: 1 };
const FIRST_GIVES_BACK: Action = Action::GiveBack { client: 0, thread: 0 };
const OTHER_TAKES: Action = Action::Acquire { client: 1, thread: 1 };
const ASKS_ANEW: Action = Action::NextPart { client: 0, thread: 0 };

/// The lease of the second round (docs/facts/family.md#the-lease-of-a-later-round).
#[test]
fn a_later_round_asks_by_a_lease_that_is_multiplied() {
    let waits = [
        OTHER_TAKES,
        ASKS,
        ASKS_ON,
        Action::Subscribe { client: 0, thread: 1 },
        Action::SecondAsk { client: 0, thread: 1 },
        Action::Tick,
        Action::Tick,
        Action::Tick,
        Action::GiveUp { client: 0, thread: 1 },
        FIRST_GIVES_BACK,
        ASKS_ANEW,
    ];
    at_once(&[("redisson-4.7", "4.7.0"), ("redisson-3.43", "3.43.0")], |(profile, version)| {
        let difference = |rule| replayed(version, &world(profile, NAMES_SECONDS, rule).config, &waits).1;
        assert_eq!(difference("round_lease = \"multiplied\""), None, "{version}");
        assert_eq!(difference("round_lease = \"kept\"").as_deref(), Some("request of A"), "{version}");
    });
}

/// The script at the end has no holder among its arguments (docs/facts/family.md#the-lease-at-the-end).
#[test]
fn the_lease_at_the_end_is_set_whoever_holds() {
    let takes = [ASKS, ASKS_ON, SETS, SETS_ON];
    at_once(&[("redisson-4.7", "4.7.0"), ("redisson-3.43", "3.43.0")], |(profile, version)| {
        let difference = |rule| replayed(version, &world(profile, TOO_LONG, rule).config, &takes).1;
        assert_eq!(difference("final_lease = \"any-hold\""), None, "{version}");
        assert_eq!(difference("final_lease = \"own-hold\"").as_deref(), Some("request of A"), "{version}");
    });
}

/// The first part is gone, and the second one is not released (docs/facts/family.md#a-release-that-stops).
#[test]
fn a_release_stops_at_a_part_that_is_gone() {
    let too_late = [ASKS, ASKS_ON, SETS, SETS_ON, Action::Tick, Action::Tick, Action::Tick, RELEASES];
    let goes_on = [&too_late[..], &[GIVES_BACK]].concat();
    at_once(&[("redisson-4.7", "4.7.0"), ("redisson-3.43", "3.43.0")], |(profile, version)| {
        let of = |rule: &str| world(profile, TOO_LONG, rule).config;
        assert_eq!(replayed(version, &of("failed_part = \"stops\""), &too_late).1, None, "{version}");
        let (_, difference) = replayed(version, &of("failed_part = \"goes-on\""), &goes_on);
        assert_eq!(difference.as_deref(), Some("what A:1 is told"), "{version}");
    });
}

/// The waiter begins anew, and its caller is told nothing (docs/facts/family.md#a-call-that-nothing-ends).
#[test]
fn an_interrupt_ends_no_call() {
    const WAITS: &str = "lease = 3\nrenew_every = 1\nwait_limit = 3\nhold_at_most = 2\n[clients]\ncount = 2\nacquires = 3\n[faults]\ninterrupt = 1";
    let waits = [
        Action::Acquire { client: 1, thread: 0 },
        Action::NextPart { client: 1, thread: 1 },
        ASKS,
        Action::Subscribe { client: 0, thread: 0 },
        Action::SecondAsk { client: 0, thread: 0 },
        Action::Interrupt { client: 0, thread: 0 },
    ];
    let goes_on = [&waits[..], &[ASKS_ANEW]].concat();
    at_once(&[("redisson-4.7", "4.7.0"), ("redisson-3.43", "3.43.0")], |(profile, version)| {
        let of = |rule: &str| world(profile, WAITS, rule).config;
        assert_eq!(replayed(version, &of("interrupted_call = \"goes-on\""), &goes_on).1, None, "{version}");
        let (_, difference) = replayed(version, &of("interrupted_call = \"ends\""), &waits);
        assert_eq!(difference.as_deref(), Some("what A:1 is told"), "{version}");
    });
}
