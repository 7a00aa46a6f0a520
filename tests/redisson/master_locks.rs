//! Real Redisson's lock on several masters (`RedissonRedLock`): what its runs showed (docs/facts/family.md#redlock) it does again in
//! histories of the model, on as many real masters, and it contradicts a model that does otherwise.

use lockstep_model::config::{Clients, StopsAt};
use lockstep_model::mutants::Mutant;
use lockstep_model::trace::About;
use lockstep_model::{Action, Config};
use lockstep_sim::recorder;
use lockstep_sim::replay::{Difference, Player, ReplayError, suited};
use lockstep_sim::scenario::Scenario;
use lockstep_tests::at_once::at_once;
use lockstep_tests::drawn::from_environment;
use lockstep_tests::servers::servers;

use crate::redisson;
use crate::scenarios::histories_on;

/// Random histories of each world on each server; `LOCKSTEP_REDISSON_HISTORIES` asks for another number.
const HISTORIES: u32 = 3;

/// The profile and the version of each client, and the keys of its times: with a watchdog the version whose timers do not multiply.
const WITH_LEASE: [(&str, &str); 3] =
    [("redisson-4.7", "4.7.0"), ("redisson-3.52", "3.52.0"), ("redisson-3.43", "3.43.0")];
const WATCHED: (&str, &str) = ("redisson-3.43", "3.43.0");

fn world(masters: u8, profile: &str, time: &str, rest: &str) -> Scenario {
    // Nested calls beside the watchdog of 3.43 are not modelled.
    let holds = if time.is_empty() || time.starts_with("jump") { 2 } else { 1 };
    let text = format!(
        "story = 'Several masters.'\nlock = 'redisson-red'\n[time]\nlease = 3\nwait_limit = 0\n{time}\n[clients]\ncount = 2\nmax_holds = {holds}\n\
         [cluster]\ngroups = {masters}\n[protocol]\nprofile = '{profile}'\n{rest}"
    );
    let scenario = Scenario::parse("masters", &text).unwrap_or_else(|error| panic!("{}", error.report(false)));
    let config = suited(&scenario.config, &servers()[0]);
    Scenario { config, ..scenario }
}

const fn acquire(client: u8) -> Action {
    Action::Acquire { client, thread: 0 }
}

const fn unlock(client: u8) -> Action {
    Action::Release { client, thread: 0 }
}

const fn ask(client: u8, node: u8) -> Action {
    Action::AskMaster { client, node }
}

const fn set_lease(client: u8, node: u8) -> Action {
    Action::SetTtlAt { client, node }
}

const fn release(client: u8, node: u8) -> Action {
    Action::ReleaseAt { client, node }
}

/// What Redisson does otherwise in this history.
fn difference(scenario: &Scenario, mutant: Option<Mutant>, version: &str, actions: &[Action]) -> Option<Difference> {
    let config = Config { mutant, ..scenario.config };
    let trace = recorder::record("masters", "", &config, About::Drawn, actions, "").expect("it can happen");
    let mut player = Player::start(&servers()[0], &config, redisson(version)).expect("it starts");
    let result = player.replay(&trace, false).expect("it answers");
    assert_eq!(result.left, None, "{version}");
    result.difference
}

/// Of five masters, four are asked: the fourth fails when most have granted, and the fifth is not asked.
#[test]
fn a_master_that_fails_when_most_have_granted_ends_the_asking() {
    for (profile, version) in WITH_LEASE {
        let five = world(5, profile, "", "");
        let taken = [acquire(1), ask(1, 3), acquire(0), ask(0, 0), ask(0, 1), ask(0, 2), ask(0, 3)];
        let ended = [set_lease(0, 0), set_lease(0, 1), set_lease(0, 2), unlock(0)];
        let releases = (0..5).map(|node| release(0, node));
        let actions: Vec<_> = taken.into_iter().chain(ended).chain(releases).collect();
        assert_eq!(difference(&five, None, version, &actions), None, "{version}");
    }
}

/// A failure too many gives back what was granted, in the order in which it was.
#[test]
fn a_failure_too_many_gives_back_what_was_granted() {
    let three = world(3, "redisson-4.7", "", "");
    let split = [acquire(0), acquire(1), ask(0, 0), ask(1, 1), ask(1, 0), ask(0, 1), ask(1, 2), ask(0, 2)];
    // B has two of three, and A one.
    let ended = [release(0, 0), set_lease(1, 1), set_lease(1, 2)];
    assert_eq!(difference(&three, None, "4.7.0", &[&split[..], &ended].concat()), None);
}

/// A reply that is late by more than the lease: two holders.
#[test]
fn nobody_looks_at_the_time_that_an_acquire_took() {
    for (profile, version) in [WITH_LEASE[0], WITH_LEASE[2]] {
        let three = world(3, profile, "", "[faults]\nslow_reply = 1");
        let late = [acquire(0), ask(0, 0), Action::SlowReply { client: 0, node: 1 }];
        let over = [Action::Tick; 4];
        let other = [acquire(1), ask(1, 0), ask(1, 1), ask(1, 2), set_lease(1, 0), set_lease(1, 1), set_lease(1, 2)];
        // It has two grants, which are over, and cuts the leases of the other one.
        let ends = [Action::HearMaster { client: 0, node: 1 }, ask(0, 2), set_lease(0, 0), set_lease(0, 1)];
        let actions = [&late[..], &over, &other, &ends].concat();
        assert_eq!(difference(&three, None, version, &actions), None, "{version}");
    }
}

/// The table of docs/facts/family.md#a-release-of-every-part: a master refuses to write while an inner call asks it.
fn inner_calls() -> Vec<Action> {
    let mut actions = vec![acquire(0), ask(0, 0), ask(0, 1), ask(0, 2)];
    let set_on = |nodes: &[u8]| nodes.iter().map(|node| set_lease(0, *node)).collect::<Vec<_>>();
    actions.extend(set_on(&[0, 1, 2]));
    for (refusing, others) in [(0, [1, 2]), (1, [0, 2])] {
        actions.extend([Action::RefuseWrites { node: refusing }, acquire(0), ask(0, refusing)]);
        actions.extend(others.map(|node| ask(0, node)));
        actions.extend(set_on(&others));
        actions.extend([Action::AcceptWrites { node: refusing }, unlock(0)]);
        actions.extend((0..3).map(|node| release(0, node)));
    }
    actions.extend([acquire(1), ask(1, 0), ask(1, 1), ask(1, 2)]);
    actions
}

#[test]
fn an_inner_release_takes_back_more_than_the_inner_call_took() {
    let faults = "[faults]\nrefuse_writes = 2";
    for (profile, version) in WITH_LEASE {
        let leased = world(3, profile, "", faults);
        assert_eq!(difference(&leased, None, version, &inner_calls()), None, "{version}");
    }
}

/// A master that has granted refuses the lease at the end.
#[test]
fn an_error_at_the_end_ends_the_call_and_gives_nothing_back() {
    for (profile, version) in WITH_LEASE {
        let three = world(3, profile, "", "[faults]\nrefuse_writes = 1");
        let granted = [acquire(0), ask(0, 0), ask(0, 1), ask(0, 2), Action::RefuseWrites { node: 1 }];
        let actions = [&granted[..], &[set_lease(0, 0), set_lease(0, 1), Action::Tick]].concat();
        assert_eq!(difference(&three, None, version, &actions), None, "{version}");
    }
}

/// Each by a timer of its own, from its grant on.
#[test]
fn each_master_is_renewed_by_a_watchdog_of_its_own() {
    let watched = world(3, WATCHED.0, "renew_every = 1", "[faults]\nvanish_key = 1");
    let renew = |node| Action::ExtendAt { client: 0, node };
    let taken = [acquire(0), ask(0, 0), ask(0, 1), ask(0, 2), Action::VanishKey { node: 1 }, Action::Tick];
    let renewed = [renew(0), renew(1), renew(2), Action::Tick, renew(0), renew(2), unlock(0)];
    let actions: Vec<_> = taken.into_iter().chain(renewed).chain((0..3).map(|node| release(0, node))).collect();
    assert_eq!(difference(&watched, None, WATCHED.1, &actions), None);
}

#[test]
fn redisson_contradicts_a_model_that_needs_fewer_masters_or_gives_nothing_back() {
    let three = world(3, "redisson-4.7", "", "");
    let first = [acquire(1), ask(1, 2), acquire(0), ask(0, 0), ask(0, 1), ask(0, 2), set_lease(0, 0), set_lease(0, 1)];
    assert_eq!(difference(&three, None, "4.7.0", &first), None);
    // By the model one of three is most, and the second failure ends the asking.
    let split = [acquire(1), ask(1, 1), acquire(0), ask(0, 0), ask(0, 1)];
    assert_eq!(difference(&three, None, "4.7.0", &split), None);
    let half = [&split[..], &[set_lease(0, 0)]].concat();
    let found = difference(&three, Some(Mutant::HalfIsMost), "4.7.0", &half).expect("it asks the third one");
    assert!(found.what == "request of A" && found.redis.starts_with("n3: "), "{found:#?}");
    let gives_back = [acquire(1), ask(1, 1), ask(1, 2), acquire(0), ask(0, 0), ask(0, 1), ask(0, 2)];
    let found = difference(&three, Some(Mutant::PartsKept), "4.7.0", &gives_back).expect("it gives the first one back");
    assert!(found.what == "what A:1 is told" && found.model == "it does not have the lock", "{found:#?}");
}

/// A multi lock of clients of several masters: the first one that does not grant ends the call.
#[test]
fn a_multi_lock_needs_every_master_and_gives_back_what_it_was_granted() {
    for (profile, version) in WITH_LEASE {
        let every = world(3, profile, "", "needed_masters = 'all'");
        let refused =
            [acquire(1), ask(1, 2), acquire(0), ask(0, 0), ask(0, 1), ask(0, 2), release(0, 0), release(0, 1)];
        let granted = [ask(1, 1), ask(1, 0), set_lease(1, 2), set_lease(1, 1), set_lease(1, 0)];
        let ended = [unlock(1), release(1, 0), release(1, 1), release(1, 2)];
        assert_eq!(difference(&every, None, version, &[&refused[..], &granted, &ended].concat()), None, "{version}");
    }
    let most = world(3, "redisson-4.7", "", "");
    let two_of_three = [acquire(1), ask(1, 2), acquire(0), ask(0, 0), ask(0, 1), ask(0, 2), set_lease(0, 0)];
    assert_eq!(difference(&most, None, "4.7.0", &two_of_three), None);
    let few = world(3, "redisson-4.7", "", "needed_masters = 'all'");
    let found = difference(&few, Some(Mutant::HalfIsMost), "4.7.0", &two_of_three).expect("it gives all back");
    assert_eq!(found.what, "request of A");
}

/// Its release ends with the first master that raises: the ones behind it keep the lock.
#[test]
fn a_release_of_a_multi_lock_on_several_masters_stops_at_an_error() {
    let faults = "needed_masters = 'all'\n[faults]\nrefuse_writes = 1\nvanish_key = 1";
    let taken = [acquire(0), ask(0, 0), ask(0, 1), ask(0, 2), set_lease(0, 0), set_lease(0, 1), set_lease(0, 2)];
    let refuses = [Action::RefuseWrites { node: 1 }, unlock(0), release(0, 0), release(0, 1)];
    let other = [Action::AcceptWrites { node: 1 }, acquire(1), ask(1, 0), ask(1, 2), release(1, 0)];
    let lost = [Action::VanishKey { node: 1 }, unlock(0), release(0, 0), release(0, 1), acquire(1), ask(1, 2)];
    for (profile, version) in WITH_LEASE {
        let every = world(3, profile, "", faults);
        assert_eq!(difference(&every, None, version, &[&taken[..], &refuses, &other].concat()), None, "{version}");
        assert_eq!(difference(&every, None, version, &[&taken[..], &lost].concat()), None, "{version}");
    }
    // What it has not come to is renewed from then on, and nothing else.
    let watched = world(3, WATCHED.0, "renew_every = 1", faults);
    let renewed =
        [Action::AcceptWrites { node: 1 }, Action::Tick, Action::ExtendAt { client: 0, node: 2 }, Action::Tick];
    let again = [Action::ExtendAt { client: 0, node: 2 }, Action::Tick];
    let actions = [&taken[..4], &refuses, &renewed, &again].concat();
    assert_eq!(difference(&watched, None, WATCHED.1, &actions), None);
    let goes_on = world(3, "redisson-4.7", "", &format!("failed_part = 'goes-on'\n{faults}"));
    let released = [&taken[..], &refuses, &[release(0, 2)]].concat();
    let found = difference(&goes_on, None, "4.7.0", &released).expect("it has ended with an error");
    assert_eq!(found.what, "what A:1 is told");
}

/// Its command sets the lease whoever has the lock.
#[test]
fn redisson_contradicts_a_lease_at_the_end_that_is_set_only_of_its_own_hold() {
    let own = world(3, "redisson-4.7", "", "final_lease = 'own-hold'");
    let actions = [acquire(0), ask(0, 0), ask(0, 1), ask(0, 2), set_lease(0, 0)];
    let found = difference(&own, None, "4.7.0", &actions).expect("it sends another request");
    assert_eq!(found.what, "request of A");
}

/// Calls that name a lease, of a lock that needs most masters or each, and watchdogs.
#[test]
fn redisson_does_what_the_clients_of_the_model_do_on_several_masters() {
    let faults = "[faults]\nslow_reply = 1\nrefuse_writes = 1\nclock_jump = 1\nvanish_key = 1\npause_client = 1";
    let jumps = "jump = 2";
    let leased = WITH_LEASE.map(|(profile, version)| {
        let faults =
            if profile == "redisson-3.52" { faults.replace("slow_reply = 1\n", "") } else { faults.to_owned() };
        (world(3, profile, jumps, &faults), version)
    });
    let servers = servers();
    let every = world(3, "redisson-4.7", jumps, &format!("needed_masters = 'all'\n{faults}"));
    let watched = faults.replace("slow_reply = 1\n", "");
    let watched = world(3, WATCHED.0, &format!("renew_every = 1\n{jumps}"), &watched);
    let leased: Vec<_> = leased.into_iter().chain([(every, "4.7.0"), (watched, WATCHED.1)]).collect();
    let all: Vec<_> = servers.iter().flat_map(|server| leased.iter().map(move |world| (server, world))).collect();
    let cases = from_environment("LOCKSTEP_REDISSON_HISTORIES", HISTORIES);
    let ends = at_once(&all, |(server, (scenario, version))| {
        let scenario = Scenario { config: suited(&scenario.config, server), ..scenario.clone() };
        let found = histories_on(server, &scenario, redisson(version), cases, 1);
        let found = found.unwrap_or_else(|error| panic!("{version} on {server}: {error}"));
        assert_eq!(found.counterexample.map(|(_, difference)| difference), None, "{version} on {server}");
        found.cases - found.left
    });
    let followed: u32 = ends.iter().sum();
    let drawn = cases * u32::try_from(all.len()).unwrap_or(0);
    println!("{followed} of {drawn} histories followed to their end");
    // A quarter, as a rule: most others set leases in another order than that of the grants.
    assert!(followed * 10 >= drawn, "{followed} of {drawn}");
}

/// Calls that wait at each master for their share: with a limit and in rounds, by a lease of their own and under a watchdog, for most masters
/// or each.
#[test]
fn redisson_waits_at_several_masters_as_the_clients_of_the_model_do() {
    let faults = "[faults]\nlose_message = 1\nrefuse_writes = 1\nvanish_key = 1";
    let slow = format!("{faults}\nslow_reply = 1");
    let every = format!("needed_masters = 'all'\n{slow}");
    let paused = format!("{faults}\npause_client = 1");
    let worlds = [
        (waiting("redisson-4.7", 5_000, "wait_limit = 3", &slow), "4.7.0"),
        (waiting("redisson-4.3", 5_000, "wait_limit = 6", &paused), "4.3.1"),
        (waiting("redisson-3.52", 5_000, "wait_limit = 3", faults), "3.52.0"),
        (by_its_clock(waiting("redisson-4.7", 5_000, "wait_limit = 3", &slow)), "4.7.0"),
        (waiting("redisson-4.7", 1_500, "round_wait = 3", &slow), "4.7.0"),
        (waiting("redisson-4.7", 1_500, "round_wait = 3", &every), "4.7.0"),
        (waiting(WATCHED.0, 5_000, "wait_limit = 3\nrenew_every = 1", &slow), WATCHED.1),
        (waiting(WATCHED.0, 1_500, "round_wait = 3\nrenew_every = 1", faults), WATCHED.1),
    ];
    let servers = servers();
    // Each world on one of them; `make soak` draws more.
    let all: Vec<_> = worlds.iter().zip(servers.iter().cycle()).collect();
    let cases = from_environment("LOCKSTEP_REDISSON_HISTORIES", HISTORIES) * 3;
    let ends = at_once(&all, |((scenario, version), server)| {
        let scenario = Scenario { config: suited(&scenario.config, server), ..scenario.clone() };
        let found = histories_on(server, &scenario, redisson(version), cases, 2);
        let found = found.unwrap_or_else(|error| panic!("{version} on {server}: {error}"));
        assert_eq!(found.counterexample.map(|(_, difference)| difference), None, "{version} on {server}");
        found.cases - found.left
    });
    let (followed, drawn) = (ends.iter().sum::<u32>(), cases * u32::try_from(all.len()).unwrap_or(0));
    println!("{followed} of {drawn} histories followed to their end");
    assert!(followed * 2 >= drawn, "{followed} of {drawn}");
}

/// Its callers stop, and release, when their leases are over by their own clocks.
fn by_its_clock(scenario: Scenario) -> Scenario {
    let clients = Clients { stops_at: StopsAt::Validity, ..scenario.config.clients };
    Scenario { config: Config { clients, ..scenario.config }, ..scenario }
}

fn waiting(profile: &str, tick_ms: u32, time: &str, rest: &str) -> Scenario {
    // Redisson renews at a third of the lease, and calls of rounds name theirs in seconds.
    let lease = if time.contains("renew_every") { 3 } else { 4 };
    let text = format!(
        "story = 'Waits.'\nlock = 'redisson-red'\n[time]\ntick_ms = {tick_ms}\nlease = {lease}\n{time}\nhold_at_most = 1\n[clients]\n\
         count = 2\n[cluster]\ngroups = 3\n[protocol]\nprofile = '{profile}'\n{rest}"
    );
    let scenario = Scenario::parse("masters", &text).unwrap_or_else(|error| panic!("{}", error.report(false)));
    let config = suited(&scenario.config, &servers()[0]);
    Scenario { config, ..scenario }
}

/// Two of three have granted, and the refusal of the third one is late: Redisson goes on although its wait is over.
#[test]
fn a_late_refusal_is_heard_without_a_look_at_the_clock_when_most_have_granted() {
    let slow = "[faults]\nslow_reply = 1\ncrash_client = 1";
    for (profile, version) in [WITH_LEASE[0], WITH_LEASE[2]] {
        let three = waiting(profile, 5_000, "wait_limit = 3", slow);
        // B has the third one, and leaves it before its own call is over.
        let busy = [acquire(1), ask(1, 2), acquire(0), ask(0, 0), ask(0, 1), Action::SlowReply { client: 0, node: 2 }];
        let late = [&busy[..], &[Action::CrashClient { client: 1 }], &[Action::Tick; 4]].concat();
        let heard = [Action::HearMaster { client: 0, node: 2 }];
        let actions = [&late[..], &heard, &[set_lease(0, 0), set_lease(0, 1)]].concat();
        assert_eq!(difference(&three, None, version, &actions), None, "{version}");
        // Where every master is needed it looks at its clock, and gives back what it was granted.
        let every = waiting(profile, 5_000, "wait_limit = 3", &format!("needed_masters = 'all'\n{slow}"));
        let actions = [&late[..], &heard, &[release(0, 0), release(0, 1)]].concat();
        assert_eq!(difference(&every, None, version, &actions), None, "{version}");
    }
}

/// A call that was refused waits for a message, at one master after the other.
#[test]
fn a_waiter_is_woken_at_the_master_for_which_it_waits_and_nowhere_else() {
    let three = waiting("redisson-4.7", 5_000, "wait_limit = 6", "");
    let thread = 0;
    let granted = [acquire(0), ask(0, 0), ask(0, 1), ask(0, 2), set_lease(0, 0), set_lease(0, 1), set_lease(0, 2)];
    let waits =
        [acquire(1), ask(1, 1), Action::Subscribe { client: 1, thread }, Action::SecondAsk { client: 1, thread }];
    let freed = [unlock(0), release(0, 0), release(0, 1), Action::Deliver { client: 1 }];
    let woken = [Action::WakeByMessage { client: 1, thread }, ask(1, 2), Action::Subscribe { client: 1, thread }];
    let next = [release(0, 2), Action::SecondAsk { client: 1, thread }, ask(1, 0)];
    let actions = [&granted[..], &waits, &freed, &woken, &next].concat();
    assert_eq!(difference(&three, None, "4.7.0", &actions), None);
}

#[test]
fn worlds_on_several_masters_that_redisson_is_not_replayed_in_are_refused() {
    for (what, time, rest) in
        [("renewal_timer", "renew_every = 1", ""), ("a master that ends", "", "[faults]\ncrash_node = 1")]
    {
        let config = world(3, "redisson-4.7", time, rest).config;
        let refused = Player::start(&servers()[0], &config, redisson("4.7.0")).err();
        assert!(matches!(refused, Some(ReplayError::NotForRedisson { .. })), "{what}: {refused:?}");
    }
}

/// From its second round on a call that names its lease asks by one that is a thousand times as long.
#[test]
fn redisson_contradicts_a_later_round_that_keeps_the_lease() {
    let thread = 0;
    let wait = |node| {
        [
            ask(0, node),
            Action::Subscribe { client: 0, thread },
            Action::SecondAsk { client: 0, thread },
            Action::Tick,
            Action::GiveUp { client: 0, thread },
        ]
    };
    let taken = [acquire(1), ask(1, 0), ask(1, 1), ask(1, 2), Action::CrashClient { client: 1 }, acquire(0)];
    // Two failures are one too many: it begins anew, and its round is over at the first master.
    let actions = [&taken[..], &wait(0), &wait(1), &wait(0), &[ask(0, 0)]].concat();
    let world = |rule: &str| {
        waiting("redisson-4.7", 1_500, "round_wait = 3", &format!("round_lease = '{rule}'\n[faults]\ncrash_client = 1"))
    };
    assert_eq!(difference(&world("multiplied"), None, "4.7.0", &actions), None);
    let found = difference(&world("kept"), None, "4.7.0", &actions).expect("it asks by another lease");
    assert_eq!(found.what, "request of A");
}
