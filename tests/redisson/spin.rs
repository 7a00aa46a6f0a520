//! The spin lock on real Redisson: random histories, and what a refused call leaves in its lock object.

use lockstep_model::trace::{About, Trace};
use lockstep_model::{Action, Config, LockKind, Reply};
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

/// Clients that wait without a limit, and enter twice.
const WITHOUT_LIMIT: &str = "poll_every = 2\n[clients]\ncount = 2\nmax_holds = 2";
/// Clients whose limit is over in a sleep.
const WITH_LIMIT: &str = "poll_every = 2\nwait_limit = 3\n[clients]\ncount = 3";
/// Threads that share a lock object, of which the first names a lease that is over before the watchdog first renews.
const SHARED: &str = "named_lease = 1\nwait_limit = 0\n[clients]\ncount = 2\nthreads = 2\nlock_objects = \"shared\"";

fn world(profile: &str, keys: &str, protocol: &str) -> Scenario {
    let kind = LockKind::ALL.iter().find(|kind| kind.facts().spins()).expect("a kind that spins");
    let text = format!(
        "story = \"s\"\nlock = \"{}\"\n[time]\nlease = 3\nrenew_every = 1\nhold_at_most = 4\n{keys}\n\
         [protocol]\nprofile = \"{profile}\"\n{protocol}\n",
        kind.name()
    );
    let scenario = Scenario::parse("spinners", &text).unwrap_or_else(|error| panic!("{error}"));
    let config = suited(&scenario.config, &servers()[0]);
    Scenario { config, ..scenario }
}

#[test]
fn redisson_does_what_the_spinners_of_the_model_do() {
    let worlds = [
        ("redisson-4.7", "4.7.0", WITHOUT_LIMIT),
        ("redisson-4.7", "4.7.0", WITH_LIMIT),
        ("redisson-4.3", "4.3.1", WITH_LIMIT),
        ("redisson-3.52", "3.52.0", WITH_LIMIT),
        ("redisson-3.43", "3.43.0", WITH_LIMIT),
        ("redisson-3.43", "3.43.0", SHARED),
        ("redisson-3.15", "3.15.6", WITHOUT_LIMIT),
    ];
    let cases = from_environment("LOCKSTEP_REDISSON_HISTORIES", HISTORIES);
    at_once(&worlds, |(profile, version, keys)| {
        let found = random_histories(&world(profile, keys, ""), redisson(version), cases, 1);
        assert_eq!(found.counterexample.map(|(_, difference)| difference), None, "{version}");
        assert!(found.left < found.cases, "{version}: none was followed to its end");
    });
}

fn replayed(version: &str, config: &Config, actions: &[Action]) -> (Trace, Option<String>) {
    let trace = recorder::record("spinners", "", config, About::Drawn, actions, "").expect("it can happen");
    let mut player = Player::start(&servers()[0], config, redisson(version)).expect("it starts");
    let result = player.replay(&trace, false).expect("it answers");
    assert_eq!(result.left, None, "{version}");
    (trace, result.difference.map(|found| found.what))
}

const ASKS: Action = Action::Acquire { client: 0, thread: 0 };
const OTHER_TAKES: Action = Action::Acquire { client: 1, thread: 0 };
const SLEEPER_ASKS: Action = Action::WakeByTimer { client: 0, thread: 0 };
const OTHER_RELEASES: Action = Action::Release { client: 1, thread: 0 };

/// The limit of three ticks is over in the second sleep of two: the client asks at four, and is told what that was answered
/// (docs/facts/family.md#the-back-off-of-a-spin-lock).
#[test]
fn a_spinner_asks_once_more_after_its_limit() {
    let asleep = [OTHER_TAKES, ASKS, Action::Tick, Action::Tick, SLEEPER_ASKS, Action::Tick];
    let refused = [&asleep[..], &[Action::Tick, SLEEPER_ASKS]].concat();
    let granted = [&asleep[..], &[OTHER_RELEASES, Action::Tick, SLEEPER_ASKS]].concat();
    let config = |profile: &str| {
        let text =
            "story = \"s\"\nlock = \"KIND\"\n[time]\nlease = 9\nwait_limit = 3\npoll_every = 2\n[clients]\ncount = 2\n";
        let kind = LockKind::ALL.iter().find(|kind| kind.facts().spins()).expect("a kind that spins");
        let text = text.replace("KIND", kind.name());
        let scenario = Scenario::parse("spinners", &format!("{text}[protocol]\nprofile = \"{profile}\"\n"));
        suited(&scenario.unwrap_or_else(|error| panic!("{error}")).config, &servers()[0])
    };
    at_once(&[("redisson-4.7", "4.7.0"), ("redisson-3.43", "3.43.0")], |(profile, version)| {
        let config = config(profile);
        let (trace, difference) = replayed(version, &config, &refused);
        assert!(matches!(trace.steps.last().expect("a step").answer, Reply::Busy { .. }));
        assert_eq!(difference, None, "{version}");
        let (trace, difference) = replayed(version, &config, &granted);
        assert_eq!(trace.steps.last().expect("a step").answer, Reply::Acquired);
        assert_eq!(difference, None, "{version}");
    });
}

/// Of an object by which a thread was refused that named its lease (docs/facts/family.md#the-lease-of-a-refused-ask).
#[test]
fn a_refused_call_leaves_its_lease_in_a_spin_lock_object() {
    const REMEMBERED: &str = "refused_lease = \"remembered\"";
    const IGNORED: &str = "refused_lease = \"ignored\"";
    let taken_over = [
        Action::Acquire { client: 1, thread: 1 },
        ASKS,
        Action::Release { client: 1, thread: 1 },
        Action::Acquire { client: 0, thread: 1 },
    ];
    at_once(&[("redisson-4.7", "4.7.0"), ("redisson-3.43", "3.43.0")], |(profile, version)| {
        let difference = |rule| replayed(version, &world(profile, SHARED, rule).config, &taken_over).1;
        assert_eq!(difference(REMEMBERED), None, "{version}");
        assert_eq!(difference(IGNORED).as_deref(), Some("request of A"), "{version}");
    });
}
