//! The versions of Redisson as data: each does what its profile says, and contradicts other values of a switch.

use std::collections::BTreeSet;
use std::env;
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::config::Profile;
use lockstep_model::trace::About;
use lockstep_sim::check::Limits;
use lockstep_sim::fuzz::{Agreement, FuzzOptions, agreement};
use lockstep_sim::other_protocols::{OtherProtocol, agreeing, other_protocol, other_protocols};
use lockstep_sim::recorder;
use lockstep_sim::replay::{Player, ReplayError, suited};
use lockstep_sim::scenario::{BuiltIn, Scenario};
use lockstep_sim::telling_apart::{Apart, ApartLimits, histories_apart};
use lockstep_tests::at_once::at_once;
use lockstep_tests::drawn::from_environment;
use lockstep_tests::page::{self, NOTHING, table};
use lockstep_tests::servers::servers;

use crate::redisson;
use crate::scenarios::random_histories;

/// Scenarios that together show the switches: renewals that are missed, nested holds, answers that come late, callers that are
/// interrupted, lock objects that threads share, requests that are lost and sent again, renewals that fail, several locks in one
/// renewal, and waiters that ask again and have no answer.
const WORLDS: [&str; 10] = [
    "missed-renewal-of-2026",
    "nested-release-of-4-7",
    "nested-holds-that-are-lost",
    "late-renewal-after-release",
    "interrupted-acquire-is-renewed-for-ever",
    "shared-lock-object",
    "resent-requests",
    "renewals-that-fail",
    "two-locks-in-one-renewal",
    "unanswered-ask-is-told-as-refused",
];
/// So many of them, from the first, are replayed on each version by an ordinary test. The others are when the page is made, and with
/// their own profiles among all scenarios.
const ALWAYS: usize = 6;
/// Random histories of each world on each version; and as many where none of those can be followed to its end.
const HISTORIES: u32 = 3;
const MOST_HISTORIES: u32 = 10;
/// How many histories are tried for each value of a switch, by `make soak`; without it only the rows of the page are compared.
const ASKED: &str = "LOCKSTEP_SWITCH_HISTORIES";
/// How far histories are searched for that tell two values of a switch apart, and how many of them are replayed.
const APART: ApartLimits<'_> = ApartLimits { most_histories: 12, most_pairs: 60_000, stop: &GOES_ON };
static GOES_ON: AtomicBool = AtomicBool::new(false);
/// The key of which nothing contradicts the other value of 4.7.0: it says that two callbacks run in either order, so all that
/// Redisson of today does is among what it says.
const NEVER_SEEN: [&str; 1] = ["registration"];

/// A world as a version of Redisson has it.
pub fn world_of(name: &str, profile: Profile) -> OtherProtocol {
    let text = BuiltIn::named(name).unwrap_or_else(|| panic!("there is no scenario {name}")).text;
    other_protocol(name, text, "profile", &format!("\"{}\"", profile.name())).expect("it is a scenario")
}

fn versions() -> impl Iterator<Item = (Profile, &'static str)> {
    Profile::ALL.into_iter().filter_map(|profile| Some((profile, profile.redisson_version()?)))
}

fn agreement_of(scenario: &Scenario, version: &str, cases: u32) -> Result<Agreement, ReplayError> {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let options = FuzzOptions { cases, seed: 1 };
    agreement(scenario, &servers()[0], redisson(version), options, &Limits::none(&stop, &progress))
}

#[test]
fn every_version_does_what_its_profile_says() {
    let worlds = &WORLDS[..ALWAYS];
    let all: Vec<_> = versions().flat_map(|version| worlds.iter().map(move |world| (version, *world))).collect();
    let cases = from_environment("LOCKSTEP_REDISSON_HISTORIES", HISTORIES);
    at_once(&all, |(version, world)| assert_agrees(*version, world, cases));
}

/// No profile is named after 4.1.0, and the model was not made from runs of it: it does what the newest profile says that is not
/// newer. Held against another one, it is told with which it agrees.
#[test]
fn a_version_that_no_profile_is_named_after_does_what_the_one_before_it_does_or_is_told_so() {
    const VERSION: &str = "4.1.0";
    const OPTIONS: FuzzOptions = FuzzOptions { cases: 3, seed: 1 };
    assert!(versions().all(|(_, version)| version != VERSION));
    let library = redisson(VERSION);
    assert_eq!(library.profile(), Profile::Redisson352);
    at_once(&WORLDS, |world| assert_agrees((Profile::Redisson352, VERSION), world, HISTORIES));

    let of_today = world_of("missed-renewal-of-2026", Profile::Redisson47);
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let (server, limits) = (&servers()[0], Limits::none(&stop, &progress));
    let found = agreement(&of_today.scenario, server, library.clone(), OPTIONS, &limits).expect("it is replayed");
    assert!(found.differs_in.is_some(), "{found:?}");
    let others = other_protocols(&of_today.scenario, &of_today.text);
    let found = agreeing(others, None, (server, &library), OPTIONS, &limits).expect("they are replayed");
    let lines: Vec<_> = found.into_iter().map(|(other, _)| other.line).collect();
    assert_eq!(lines, ["profile = \"redisson-3.52\"", "answered_receipt = \"keep\""]);
}

/// Up to 3.51 the source reads as if each attempt of a release had an id of its own (docs/facts/redisson.md#release-receipt).
#[test]
fn a_release_that_is_sent_again_keeps_its_id_also_in_3_43() {
    const WORLD: &str = "resent-requests";
    const ENOUGH: u32 = 8;
    let (profile, version) = (Profile::Redisson343, "3.43.0");
    assert_agrees((profile, version), WORLD, ENOUGH);
    let own = world_of(WORLD, profile);
    let wrong = other_protocol(WORLD, &own.text, "request_id", "\"per-try\"").expect("it is a scenario");
    let found = agreement_of(&wrong.scenario, version, ENOUGH).expect("it is replayed");
    assert!(found.differs_in.is_some(), "{found:?}");
}

/// No profile has these switches, as not every world can have what Redisson does.
#[test]
fn redisson_waits_behind_every_call_and_sends_refused_requests_again() {
    const ENOUGH: u32 = 30;
    for (world, key, wrong) in [
        ("release-is-made-again", "wait_after", "\"grants\""),
        ("refused-acquire-is-sent-again", "refused_call", "\"throw\""),
    ] {
        let own = world_of(world, Profile::Redisson47);
        assert_agrees((Profile::Redisson47, "4.7.0"), world, HISTORIES);
        let wrong = other_protocol(world, &own.text, key, wrong).expect("it is a scenario");
        let found = agreement_of(&wrong.scenario, "4.7.0", ENOUGH).expect("it is replayed");
        assert!(found.differs_in.is_some(), "{world}: {found:?}");
    }
}

fn assert_agrees((profile, version): (Profile, &str), world: &str, cases: u32) {
    let scenario = world_of(world, profile).scenario;
    let drawn = |cases| random_histories(&scenario, redisson(version), cases, 1);
    let found = Some(drawn(cases)).filter(|found| found.left < found.cases).unwrap_or_else(|| drawn(MOST_HISTORIES));
    let difference = found.counterexample.map(|(_, difference)| difference);
    assert_eq!(difference, None, "{world} on {version}");
    assert!(found.left < found.cases, "{world} on {version}: none of {} was followed to its end", found.cases);
}

/// With one timer for each lock the model is not what Redisson of today does, and with one for all it is; with timers that multiply
/// it is too, as they are there.
#[test]
fn the_switch_in_which_redisson_differs_is_found() {
    const OPTIONS: FuzzOptions = FuzzOptions { cases: 15, seed: 1 };
    let text = BuiltIn::named("missed-renewal-of-2026").expect("it is built in").text;
    let wrong = other_protocol("one-switch-is-wrong", text, "renewal_timer", "\"per-lock\"").expect("it is a scenario");
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let (server, library, limits) = (&servers()[0], redisson("4.7.0"), Limits::none(&stop, &progress));
    let found = agreement(&wrong.scenario, server, library.clone(), OPTIONS, &limits).expect("it is replayed");
    assert!(found.differs_in.is_some(), "{found:?}");
    let others = other_protocols(&wrong.scenario, &wrong.text);
    let found = agreeing(others, None, (server, &library), OPTIONS, &limits);
    let lines: Vec<_> = found.expect("they are replayed").into_iter().map(|(other, _)| other.line).collect();
    assert_eq!(lines, ["renewal_timer = \"shared\"", "renewal_timer = \"multiplying\""]);
}

/// `reports/redisson.md`. Its cells are made by `make soak`, in a quarter of an hour; here its rows are those of today.
#[test]
fn the_page_on_versions_has_a_row_for_every_value_of_a_switch() {
    if env::var_os(ASKED).is_some() {
        page::write("reports/redisson.md", &page_on_versions(from_environment(ASKED, HISTORIES)));
    }
    let page = page::committed("reports/redisson.md");
    for line in all_values() {
        assert!(page.contains(&format!("| `{line}` |")), "reports/redisson.md lacks {line}: run `make soak`");
    }
    for (profile, version) in versions() {
        assert!(page.contains(version) && page.contains(profile.name()), "{version}");
    }
}

/// Every value of a switch that some world of some version can have, as a file writes it.
fn all_values() -> BTreeSet<String> {
    let worlds = versions().flat_map(|(profile, _)| WORLDS.map(|world| world_of(world, profile)));
    let lines =
        worlds.flat_map(|world| other_protocols(&world.scenario, &world.text).into_iter().map(|other| other.line));
    lines.filter(|line| !line.starts_with("profile")).collect()
}

/// It is a setting (`lockWatchdogBatchSize`): the replay sets what the scenario says, and the requests are compared.
#[test]
fn one_renewal_of_redisson_of_today_carries_as_many_locks_as_it_is_told() {
    const WORLD: &str = "two-locks-in-one-renewal";
    let seen = cell("renewal_batch = 1", Profile::Redisson47, "4.7.0", APART);
    assert!(matches!(seen, ValueSeen::NotSeen { world: WORLD }), "histories that need it are followed: {seen:?}");
    let text = BuiltIn::named(WORLD).expect("it is built in").text;
    for locks in ["1", "2"] {
        let world = other_protocol(WORLD, text, "renewal_batch", locks).expect("it is a scenario");
        let found = agreement_of(&world.scenario, "4.7.0", HISTORIES).expect("it is replayed");
        assert!(found.is_there(), "{locks}: {found:?}");
    }
}

/// The column of 4.7.0 is made again: each value of a switch that Redisson does not follow is contradicted by a short history.
#[test]
fn redisson_of_today_contradicts_every_value_that_the_page_says_it_does() {
    let page = page::committed("reports/redisson.md");
    let head: Vec<_> = versions().map(|(_, version)| version).collect();
    let column = 2 + head.iter().position(|version| *version == "4.7.0").expect("it has a column");
    let written = |value: &str| {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{value}` |")));
        row.and_then(|row| row.split('|').nth(column)).map_or("no row", str::trim).to_owned()
    };
    let values: Vec<_> = all_values().into_iter().collect();
    let found = at_once(&values, |value| cell(value, Profile::Redisson47, "4.7.0", APART));
    let differs = values.iter().zip(&found).filter(|(value, found)| written(value) != found.to_string());
    let differs: Vec<_> = differs.map(|(value, found)| format!("{value}: {found}, not {}", written(value))).collect();
    assert!(differs.is_empty(), "{}\nreports/redisson.md is stale: run `make soak`", differs.join("\n"));
    let key_of = |value: &str| value.split_once(" = ").expect("it is a line of a file").0.to_owned();
    let is_seen = |found: &&ValueSeen| matches!(found, ValueSeen::Contradicted { .. });
    let seen: BTreeSet<_> =
        values.iter().zip(&found).filter(|(_, found)| is_seen(found)).map(|(value, _)| key_of(value)).collect();
    let keys: BTreeSet<_> = values.iter().map(|value| key_of(value)).collect();
    let unseen: Vec<_> = keys.difference(&seen).collect();
    assert_eq!(unseen, NEVER_SEEN, "the keys of which no wrong value is contradicted");
}

fn page_on_versions(cases: u32) -> String {
    let own: Vec<_> = versions().flat_map(|version| WORLDS.map(|world| (version, world))).collect();
    at_once(&own, |(version, world)| assert_agrees(*version, world, cases));
    let values: Vec<_> = all_values().into_iter().collect();
    let cells: Vec<_> = values.iter().flat_map(|value| versions().map(move |version| (value, version))).collect();
    let found = at_once(&cells, |(value, (profile, version))| cell(value, *profile, version, APART).to_string());
    let head: Vec<_> = versions().map(|(_, version)| version).collect();
    let head: Vec<&str> = ["switch"].into_iter().chain(head).collect();
    let rows: Vec<_> = values
        .iter()
        .zip(found.chunks(versions().count()))
        .map(|(value, cells)| [vec![format!("`{value}`")], cells.to_vec()].concat())
        .collect();
    let mut made = format!(
        "# Versions of Redisson\n\n\
         Made by `make soak` from runs of the unmodified library; `make test` compares the rows.\n\n\
         A profile is what a version of Redisson was seen to do. Each version was driven through {cases} random histories of each of \
         these worlds with its own profile, and agrees. Then, for each other value of one switch, the shortest histories were \
         searched for in which a world with that value shows something that the profile's own world does not, and replayed on it:\n\n"
    );
    for world in WORLDS {
        let _ = writeln!(made, "- `{world}`");
    }
    let profiles: Vec<_> = versions().map(|(profile, version)| format!("{version}: `{}`", profile.name())).collect();
    let _ = write!(
        made,
        "\nThe profiles: {}. **own** is the value of the profile. *world*, n steps: in a history of so many steps of that \
         world Redisson does not do what this value says. \"same\": in these worlds every history with this value is one of the \
         profile's own, and shows the same (searched completely). \"not seen\": the worlds differ, and Redisson could not be \
         followed into the difference. \"not found\": no such history among the first {} pairs of states. \"–\": the value says nothing \
         there. A value that every version has is in no row. `registration = \"unordered\"` allows more than it forbids: all that Redisson \
         of today does is among what it says, and nothing can contradict it. That 3.44 and newer multiply their timers is shown by exhibit \
         N1; \"own\" is `renewal_timer = \"shared\"` in their profiles, which is smaller (departure `timers-that-multiply`).\n\n",
        profiles.join(", "),
        page::thousands(APART.most_pairs as u64)
    );
    made + &table(&head, &rows)
}

/// What becomes of a value on a version: the histories that tell it from the profile's own value, shortest first, until one in which
/// Redisson does not do what it says.
fn cell(value: &str, profile: Profile, version: &str, limits: ApartLimits<'_>) -> ValueSeen {
    let (mut seen, mut is_tried) = (None, false);
    for name in WORLDS {
        let own = world_of(name, profile);
        let (key, word) = value.split_once(" = ").expect("it is a line of a file");
        let Some(other) = other_protocol(name, &own.text, key, word) else { continue };
        let [own, other] = [own, other].map(|one| suited(&one.scenario.config, &servers()[0]));
        if own == other {
            return ValueSeen::Own;
        }
        let mut player = match Player::start(&servers()[0], &other, redisson(version)) {
            Ok(player) => player,
            Err(ReplayError::NotForRedisson { .. }) => continue,
            Err(error) => panic!("{name} with {value} on {version}: {error}"),
        };
        is_tried = true;
        match histories_apart(&other, &own, limits) {
            Apart::Nowhere => {}
            Apart::NotWithin(_) => seen = seen.or(Some(ValueSeen::NotFound)),
            Apart::Histories(histories) => {
                for actions in histories {
                    let trace = recorder::record(name, "", &other, About::Drawn, &actions, "").expect("it can happen");
                    let result = player.replay(&trace, false);
                    let result = result.unwrap_or_else(|error| panic!("{name} with {value} on {version}: {error}"));
                    if result.difference.is_some() {
                        return ValueSeen::Contradicted { world: name, steps: actions.len() };
                    }
                    seen = Some(ValueSeen::NotSeen { world: name });
                }
            }
        }
    }
    seen.unwrap_or(if is_tried { ValueSeen::Same } else { ValueSeen::Nothing })
}

/// What runs of a version say of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueSeen {
    /// It is the value of the profile.
    Own,
    /// In a history of so many steps Redisson does something else.
    Contradicted { world: &'static str, steps: usize },
    /// The worlds differ, and Redisson was not followed into the difference.
    NotSeen { world: &'static str },
    /// No history was found within the limit of the search.
    NotFound,
    /// No history of these worlds tells it from the profile's own value.
    Same,
    /// It says nothing on this version.
    Nothing,
}

impl fmt::Display for ValueSeen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own => f.write_str("**own**"),
            Self::Contradicted { world, steps } => write!(f, "`{world}`, {steps} steps"),
            Self::NotSeen { world } => write!(f, "not seen (`{world}`)"),
            Self::NotFound => f.write_str("not found"),
            Self::Same => f.write_str("same"),
            Self::Nothing => f.write_str(NOTHING),
        }
    }
}
