//! A slot that is moved under real Redisson: it asks where it is sent, and contradicts a model in which a move does less.

use lockstep_model::config::Channels;
use lockstep_model::mutants::Mutant;
use lockstep_model::trace::About;
use lockstep_model::{Action, Config};
use lockstep_sim::recorder;
use lockstep_tests::at_once::at_once;

use lockstep_sim::replay::{Difference, Player, ReplayError, ServerProgram, suited};
use lockstep_sim::scenario::Scenario;
use lockstep_tests::drawn::from_environment;
use lockstep_tests::servers::servers;

use crate::redisson;
use crate::scenarios::histories_on;

/// Random histories of each world on each server; `LOCKSTEP_REDISSON_HISTORIES` asks for another number.
const HISTORIES: u32 = 2;

/// Its callers wait for messages, by channels of each sort.
const WAITS: &str = "lock = 'reentrant'\n[time]\nlease = 3\nrenew_every = 1\nhold_at_most = 2";
/// They try once.
const TRIES: &str = "lock = 'reentrant'\n[time]\nlease = 3\nrenew_every = 1\nwait_limit = 0\nhold_at_most = 2";
/// They enter again, and each exception leaves the `unlock()` calls around it.
const NESTED: &str = "lock = 'reentrant'\n[time]\nlease = 3\nrenew_every = 1\nwait_limit = 0\nhold_at_most = 4";
/// They spin, and have no channel: a release names the lock and its receipt, or the lock alone where there are no receipts.
const SPINS: &str = "lock = 'spin'\n[time]\nlease = 3\nrenew_every = 1\nhold_at_most = 2\npoll_every = 1";

/// A reader's requests name the prefix of its holds as well, and a writer's do not.
const READS: &str = "lock = 'read-write'\n[time]\nlease = 3\nrenew_every = 1\nwait_limit = 0\nhold_at_most = 4";
/// An acquire names the queue, and the deadlines of those in it.
const QUEUES: &str =
    "lock = 'fair'\n[time]\nlease = 3\nrenew_every = 1\nqueue_wait = 5\nwait_limit = 4\nhold_at_most = 2";
/// An acquire names the counter of its tokens.
const COUNTS: &str = "lock = 'fenced'\n[time]\nlease = 3\nrenew_every = 1\nwait_limit = 0\nhold_at_most = 2";
/// One hash for all values.
const VALUES: &str = "lock = 'value-multi'\n[time]\nlease = 3\nrenew_every = 1\nwait_limit = 0\nhold_at_most = 2";

const EVERY_WORLD: [&str; 8] = [WAITS, TRIES, SPINS, NESTED, READS, QUEUES, COUNTS, VALUES];

const MOVE: Action = Action::MoveSlot { node: 0 };
const FINISH: Action = Action::FinishMove { node: 0 };
const ACQUIRE: Action = Action::Acquire { client: 0, thread: 0 };
const RELEASE: Action = Action::Release { client: 0, thread: 0 };
const WAIT_OF_B: [Action; 3] = [
    Action::Acquire { client: 1, thread: 0 },
    Action::Subscribe { client: 1, thread: 0 },
    Action::SecondAsk { client: 1, thread: 0 },
];

fn world(keys: &str, profile: &str, server: &ServerProgram, channels: Channels) -> Scenario {
    let channels = match channels {
        Channels::Sharded => "[cluster]\nchannels = 'sharded'\n",
        Channels::Global if [WAITS, QUEUES].contains(&keys) => "[cluster]\nchannels = 'global'\n",
        Channels::Global => "",
    };
    let more = match keys {
        NESTED => "max_holds = 2",
        READS => "threads = 2",
        _ => "",
    };
    let text = format!(
        "story = 'A slot is moved.'\n{keys}\n[clients]\ncount = 2\nacquires = 3\n{more}\n{channels}[protocol]\nprofile = '{profile}'\n\
         [faults]\nmove_slot = 1"
    );
    let scenario = Scenario::parse("moved-slot", &text).unwrap_or_else(|error| panic!("{error}"));
    let config = suited(&scenario.config, server);
    Scenario { config, ..scenario }
}

/// Whether the model has this kind of lock with the protocol of this version.
fn has_version(keys: &str, version: &str) -> bool {
    match keys {
        VALUES => version == "4.7.0",
        READS | QUEUES | COUNTS => version != "3.15.6",
        _ => true,
    }
}

/// The channels by which a version publishes on a server.
fn channels_of(version: &str, server: &ServerProgram) -> Channels {
    let is_sharded = redisson(version).publishes_in_shards() && server.has_sharded_channels();
    if is_sharded { Channels::Sharded } else { Channels::Global }
}

#[test]
fn redisson_does_what_the_clients_of_the_model_do_while_a_slot_is_moved() {
    let versions = [("redisson-4.7", "4.7.0"), ("redisson-3.43", "3.43.0"), ("redisson-3.15", "3.15.6")];
    let servers = servers();
    let all: Vec<_> = servers
        .iter()
        .flat_map(|server| versions.into_iter().map(move |version| (server, version)))
        .flat_map(|(server, version)| EVERY_WORLD.map(|keys| (server, version, keys)))
        .filter(|(_, (_, version), keys)| has_version(keys, version))
        .collect();
    let cases = from_environment("LOCKSTEP_REDISSON_HISTORIES", HISTORIES);
    let ends = at_once(&all, |(server, (profile, version), keys)| {
        let waits = [WAITS, QUEUES].contains(keys);
        let channels = if waits { channels_of(version, server) } else { Channels::Global };
        let scenario = world(keys, profile, server, channels);
        let found = histories_on(server, &scenario, redisson(version), cases, 1);
        let found = found.unwrap_or_else(|error| panic!("{version} on {server}: {keys}: {error}"));
        assert_eq!(found.counterexample.map(|(_, difference)| difference), None, "{version} on {server}: {keys}");
        found.cases - found.left
    });
    let (followed, histories) = (ends.iter().sum::<u32>(), cases * u32::try_from(all.len()).expect("a few"));
    assert!(followed * 2 > histories, "{followed} of {histories} histories were followed to their end");
}

fn difference(mutant: Option<Mutant>, keys: &str, actions: &[Action]) -> Option<Difference> {
    let server = &servers()[0];
    let channels = if keys == WAITS { Channels::Sharded } else { Channels::Global };
    let config = Config { mutant, ..world(keys, "redisson-4.7", server, channels).config };
    let trace = recorder::record("moved-slot", "", &config, About::Drawn, actions, "").expect("it can happen");
    let mut player = Player::start(server, &config, redisson("4.7.0")).expect("it starts");
    let result = player.replay(&trace, false).expect("it answers");
    assert_eq!(result.left, None);
    result.difference
}

/// The rules of [`Mutant::MovingSlotReleases`] and [`Mutant::MovedSubscriptionLives`].
#[test]
fn redisson_contradicts_a_move_that_refuses_no_release_and_one_that_ends_no_subscription() {
    for keys in [TRIES, SPINS] {
        let releases = [ACQUIRE, MOVE, RELEASE];
        assert_eq!(difference(None, keys, &releases), None);
        let found = difference(Some(Mutant::MovingSlotReleases), keys, &releases).expect("it is refused");
        assert_eq!((found.what.as_str(), found.model.as_str()), ("reply", "released"), "{keys}");
        assert_eq!(found.redis, "try again", "{keys}");
    }
    let hears = [&[ACQUIRE], &WAIT_OF_B[..], &[MOVE, FINISH]].concat();
    assert_eq!(difference(None, WAITS, &hears), None);
    let found = difference(Some(Mutant::MovedSubscriptionLives), WAITS, &hears).expect("it has ended");
    let words = (found.what.as_str(), found.model.as_str(), found.redis.as_str());
    assert_eq!(words, ("subscriptions of B", "0 ended", "1 ended"));
}

/// The rules of [`Mutant::MovingSlotGrants`] and [`Mutant::MovingSlotRenews`].
#[test]
fn redisson_contradicts_a_move_that_refuses_no_acquire_and_no_renewal_of_several_keys() {
    let reads = Action::Acquire { client: 0, thread: 1 };
    for (keys, acquire) in [(READS, reads), (COUNTS, ACQUIRE)] {
        assert_eq!(difference(None, keys, &[MOVE, acquire]), None, "{keys}");
        let found = difference(Some(Mutant::MovingSlotGrants), keys, &[MOVE, acquire]).expect("it is refused");
        assert_eq!((found.what.as_str(), found.redis.as_str()), ("reply", "try again"), "{keys}");
    }
    let renewed = [reads, MOVE, Action::Tick, Action::Renew { client: 0 }];
    assert_eq!(difference(None, READS, &renewed), None);
    let found = difference(Some(Mutant::MovingSlotRenews), READS, &renewed).expect("it is refused");
    let words = (found.what.as_str(), found.model.as_str(), found.redis.as_str());
    assert_eq!(words, ("reply", "renewed", "try again"));
}

/// As `finally` does: each `unlock()` is refused, and none is left to renew.
#[test]
fn the_exception_of_a_nested_release_leaves_each_unlock_around_it() {
    let actions = [ACQUIRE, ACQUIRE, MOVE, RELEASE, Action::Tick, Action::Renew { client: 0 }, Action::Tick];
    assert_eq!(difference(None, NESTED, &actions), None);
}

/// It subscribes at the master that it knows, and asks nowhere else (docs/facts/cluster.md#subscriptions).
#[test]
fn a_waiter_that_subscribes_where_the_slot_was_is_left() {
    let server = &servers()[0];
    let config = world(WAITS, "redisson-4.7", server, Channels::Sharded).config;
    let actions = [&[ACQUIRE, WAIT_OF_B[0], MOVE, FINISH], &WAIT_OF_B[1..]].concat();
    let trace = recorder::record("moved-slot", "", &config, About::Drawn, &actions, "").expect("it can happen");
    let mut player = Player::start(server, &config, redisson("4.7.0")).expect("it starts");
    let result = player.replay(&trace, false).expect("it answers");
    assert_eq!(result.difference, None);
    assert!(result.left.is_some_and(|left| left.contains("is sent away")));
}

#[test]
fn channels_by_which_a_version_does_not_publish_are_refused() {
    let refusal = |channels, version: &str, server: &ServerProgram| {
        let profile = if version == "3.15.6" { "redisson-3.15" } else { "redisson-4.7" };
        let config = world(WAITS, profile, server, channels).config;
        match Player::start(server, &config, redisson(version)) {
            Ok(_) => None,
            Err(error @ ReplayError::NotForRedisson { .. }) => Some(error.to_string()),
            Err(error) => panic!("{error}"),
        }
    };
    for server in &servers() {
        for version in ["4.7.0", "3.15.6"] {
            let own = channels_of(version, server);
            if own == Channels::Sharded || !server.has_sharded_channels() {
                assert_eq!(refusal(own, version, server), None, "{version} on {server}");
            }
            let other = if own == Channels::Sharded { Channels::Global } else { Channels::Sharded };
            // A server that has no such channels is refused before, by the scenario or with every target.
            let is_known = other == Channels::Global || server.has_sharded_channels() && version != "3.15.6";
            if is_known {
                let reason = refusal(other, version, server).expect("it is refused");
                let word = if own == Channels::Sharded { "sharded" } else { "global" };
                assert!(reason.contains(&format!("set channels to \"{word}\"")), "{version} on {server}: {reason}");
            }
        }
    }
}
