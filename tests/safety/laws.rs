//! Laws: a world in which more may happen breaks at least what the narrower one breaks. No engine knows them, so they find
//! what all engines have in common: a rule of the model that forbids what it should allow.

use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::config::{
    Bound, ClientSettings, Clients, Discovery, Fault, MAX_CLIENTS, MAX_CLIENTS_OF_MASTERS, MAX_JUMP, MAX_TICKS,
    MessageDelay,
};
use lockstep_model::limits::MAX_READ_HOLDS;
use lockstep_model::mutants::Mutant;
use lockstep_model::properties::PropertyKind;
use lockstep_model::{Config, LockKind, Property, Verdict};
use lockstep_sim::check::{CheckOutcome, Limits, PropertyOutcome, check_as};
use lockstep_sim::scenario::{Scenario, builtin};
use lockstep_tests::drawn::{ShownIfItFails, from_environment, read, texts};

use crate::NO_SHORTER_SOUGHT;

/// Random scenarios, including those that are refused; `LOCKSTEP_DRAW_SCENARIOS` asks for others.
const SCENARIOS: u32 = 130;
/// A scenario that has more states is not widened.
const MOST_STATES: u64 = 1_500;
/// The search of a wider world ends here; what is not known then is not compared.
const MOST_WIDER: u64 = 40_000;

fn checked(scenario: &Scenario, max_states: u64) -> CheckOutcome {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let max_states = Some(max_states);
    let limits = Limits { max_states, ..Limits::none(&stop, &progress) };
    check_as(scenario, NO_SHORTER_SOUGHT, &limits).unwrap_or_else(|error| panic!("{}: {error}", scenario.name))
}

/// A world in which more may happen, and what.
type Wider = (String, Config);

/// One more of each fault that may happen, and one of some that may not.
fn one_fault_more(config: &Config) -> Vec<Wider> {
    let also = [Fault::CrashClient, Fault::PauseClient, Fault::CrashNode];
    let can_be_added = |(fault, budget): &(Fault, u8)| *budget > 0 || also.contains(fault);
    let budgets = config.faults.budgets().into_iter().filter(can_be_added);
    budgets
        .map(|(fault, budget)| {
            let mut wider = *config;
            *wider.faults.left_mut(fault) = budget + 1;
            (format!("{} = {}", fault.name(), budget + 1), wider)
        })
        .collect()
}

/// The same world with other settings of each client. `None`: they cannot be so.
fn with_each_client(config: &Config, change: impl Fn(ClientSettings) -> Option<ClientSettings>) -> Option<Config> {
    let own = (0..config.clients.count).map(|client| change(config.settings_of(client)));
    let common = config.with_settings(&[change(config.common_settings())?]);
    Some(common.with_settings(&own.collect::<Option<Vec<_>>>()?))
}

/// One more acquire for each client whose acquires are bounded.
fn one_acquire_more(config: &Config) -> Vec<Wider> {
    let more =
        |own: ClientSettings| Some(ClientSettings { acquires: own.acquires.map(|acquires| acquires + 1), ..own });
    let wider = with_each_client(config, more).filter(|wider| wider != config);
    wider.map(|wider| ("one more acquire".to_owned(), wider)).into_iter().collect()
}

/// One more hold for each thread, where a holder may enter again.
fn one_hold_more(config: &Config) -> Vec<Wider> {
    if !config.lock.facts().reentry.is_there() {
        return Vec::new();
    }
    let mut wider = *config;
    wider.clients.max_holds += 1;
    vec![(format!("max_holds = {}", wider.clients.max_holds), wider)]
}

/// Messages and replicas may be late by one tick more, and a failover may take one more.
fn later_by_a_tick(config: &Config) -> Vec<Wider> {
    let mut all = Vec::new();
    if let MessageDelay::Ticks(delay) = config.network.delay {
        let mut wider = *config;
        wider.network.delay = MessageDelay::Ticks(delay + 1);
        all.push((format!("delay = {}", delay + 1), wider));
    }
    if config.cluster.replicas == 0 {
        return all;
    }
    if let Bound::Ticks(lag) = config.cluster.lag {
        let mut wider = *config;
        wider.cluster.lag = Bound::Ticks(lag + 1);
        all.push((format!("lag = {}", lag + 1), wider));
    }
    if let Bound::Ticks(within) = config.cluster.failover_within {
        let mut wider = *config;
        wider.cluster.failover_within = Bound::Ticks(within + 1);
        all.push((format!("failover_within = {}", within + 1), wider));
    }
    all
}

/// A client may go back to an old master, where one runs.
fn any_master(config: &Config) -> Vec<Wider> {
    // Without a bound on acquires it may enter its own lock without end there.
    let is_bounded = !config.some_client(|own| own.clients.acquires.is_none());
    if !config.can_demote() || config.can_go_back() || !is_bounded {
        return Vec::new();
    }
    let mut wider = *config;
    wider.cluster.discovery = Discovery::AnyMaster;
    vec![("any master".to_owned(), wider)]
}

/// The same world on a clock that ticks twice as often: every time has twice as many ticks, each half as long. `None`: a tick
/// is too short for that, or a time too long.
fn on_a_finer_clock(config: &Config) -> Option<Config> {
    let mut finer = *config;
    let twice = |ticks: u8| ticks.checked_mul(2).filter(|ticks| *ticks <= MAX_TICKS);
    let bound = |bound| match bound {
        Bound::Ticks(ticks) => twice(ticks).map(Bound::Ticks),
        Bound::Any => Some(bound),
    };
    let time = &mut finer.time;
    time.tick_ms = Some(time.tick_ms / 2).filter(|_| time.tick_ms.is_multiple_of(2))?;
    time.poll_every = twice(time.poll_every)?;
    // A key with 0 ticks left is gone one tick later, however long that is: only what a waiter sleeps beyond is a time.
    time.ask_again_after = twice(time.ask_again_after)? - 1;
    // So what it sleeps may outlive its place in a queue by the one clock and not by the other (docs/approximations.md).
    if config.lock.facts().queue.is_there() && time.queue_wait.is_some_and(|wait| wait <= config.time.ask_again_after) {
        return None;
    }
    for ticks in [&mut time.queue_wait, &mut time.round_wait].into_iter().flatten() {
        *ticks = twice(*ticks)?;
    }
    time.jump = time.jump.checked_mul(2).filter(|jump| jump.abs() <= MAX_JUMP)?;
    let cluster = &mut finer.cluster;
    for ticks in [
        &mut cluster.fsync_within,
        &mut cluster.restart_after,
        &mut cluster.min_replicas_max_lag,
        &mut cluster.min_replicas_slack,
        &mut cluster.lock_delay,
        &mut cluster.start_delay,
        &mut cluster.shutdown_timeout,
        &mut cluster.aof_rewrite_within,
    ] {
        *ticks = twice(*ticks)?;
    }
    cluster.lag = bound(cluster.lag)?;
    cluster.failover_within = bound(cluster.failover_within)?;
    cluster.hand_over_timeout = bound(cluster.hand_over_timeout)?;
    if let MessageDelay::Ticks(ticks) = &mut finer.network.delay {
        *ticks = twice(*ticks)?;
    }
    with_each_client(&finer, |mut own| {
        for ticks in [&mut own.lease, &mut own.calls.answer_within, &mut own.calls.receipt] {
            *ticks = twice(*ticks)?;
        }
        for ticks in [&mut own.reentry_lease, &mut own.renew_every, &mut own.wait_limit, &mut own.hold_at_most]
            .into_iter()
            .flatten()
        {
            *ticks = twice(*ticks)?;
        }
        own.clock_ahead = twice(own.clock_ahead)?;
        Some(own)
    })
}

/// Every safety and liveness verdict is the same on the finer clock. The verdicts compared, or what differs.
fn compare_finer(scenario: &Scenario, most_states: u64) -> Result<u32, String> {
    let Some(config) = on_a_finer_clock(&scenario.config) else { return Ok(0) };
    let coarse = checked(scenario, most_states);
    if !coarse.complete {
        return Ok(0);
    }
    let fine = checked(&Scenario { config, ..scenario.clone() }, MOST_WIDER);
    let mut compared = 0;
    for found in coarse.properties.iter().filter(|found| is_kept(found.property)) {
        let Some(other) = fine.properties.iter().find(|other| other.property == found.property) else { continue };
        if other.verdict != Verdict::Inconclusive {
            let (property, coarse, fine) = (found.property, found.verdict, other.verdict);
            // A key is still there when its lease is due, and gone a tick later. Whether somebody can be in time to see that
            // depends on the tick: so an antecedent may come true on one clock only, and nothing else may differ.
            let is_same = coarse == fine || [coarse, fine].iter().all(|verdict| *verdict != Verdict::Violated);
            let name = &scenario.name;
            if !is_same {
                return Err(format!("{name}: {property} {coarse:?}, on a clock that ticks twice as often {fine:?}"));
            }
            compared += 1;
        }
    }
    Ok(compared)
}

/// Whether a property that is broken must be broken in the wider world as well. Not whether something can still be had: who
/// may ask once more may get what nobody could any more. Nor whether everything happens.
fn is_kept(property: Property) -> bool {
    matches!(property.kind(), PropertyKind::Safety | PropertyKind::Liveness)
}

/// Whether a node has room for every hold that a reader may have there: the reader of scenarios refuses worlds in which it has not.
fn has_room_for_readers(config: &Config) -> bool {
    let most = config.faults.most_holds(config.clients.max_holds);
    !config.lock.facts().sharing.is_there() || most <= u32::from(MAX_READ_HOLDS)
}

/// What breaks in the narrow world breaks in each wider one. The verdicts compared, or what is repaired.
fn compare_wider(scenario: &Scenario, widened: impl Fn(&Config) -> Vec<Wider>) -> Result<u32, String> {
    let narrow = checked(scenario, MOST_STATES);
    if !narrow.complete {
        return Ok(0);
    }
    let broken: Vec<_> = narrow
        .properties
        .iter()
        .filter(|found| found.verdict == Verdict::Violated && is_kept(found.property))
        .map(|found| found.property)
        .collect();
    if broken.is_empty() {
        return Ok(0);
    }
    let mut compared = 0;
    for (what, config) in widened(&scenario.config).into_iter().filter(|(_, wider)| has_room_for_readers(wider)) {
        let wide = checked(&Scenario { config, ..scenario.clone() }, MOST_WIDER);
        for &property in &broken {
            let found = wide.properties.iter().find(|found| found.property == property);
            let verdict = found.map(|found| found.verdict);
            let is_broken = matches!(verdict, Some(Verdict::Violated | Verdict::Inconclusive));
            if !is_broken {
                return Err(format!("{}: {property} is violated, and with {what} {verdict:?}", scenario.name));
            }
            compared += u32::from(verdict == Some(Verdict::Violated));
        }
    }
    Ok(compared)
}

/// A law that holds: the verdicts compared.
fn kept(law: Result<u32, String>) -> u32 {
    law.unwrap_or_else(|difference| panic!("{difference}"))
}

/// The verdicts compared in random scenarios.
fn of_drawn(compare: impl Fn(&Scenario) -> u32) -> u32 {
    let seed = from_environment("LOCKSTEP_DRAW_SEED", 0);
    let mut compared = 0;
    for text in texts(seed, from_environment("LOCKSTEP_DRAW_SCENARIOS", SCENARIOS)) {
        let _shown = ShownIfItFails(&text);
        compared += read(&text).map_or(0, |scenario| compare(&scenario));
    }
    compared
}

fn of_built_in(widened: fn(&Config) -> Vec<Wider>) {
    let compared: u32 = builtin().iter().map(|scenario| kept(compare_wider(scenario, widened))).sum();
    assert!(compared > 10, "only {compared} verdicts compared");
}

/// One client more, which never asks. `None` where it may do something all the same, or where the model has no room for it: it
/// may delete a lock that is not its own, and a bounded failover waits until it knows the new master.
fn with_an_idle_client(config: &Config) -> Option<Config> {
    let faults = &config.faults;
    let waits_for_it = config.can_fail_over() && config.cluster.failover_within != Bound::Any;
    let count = config.clients.count;
    let most = if config.asks_masters() { MAX_CLIENTS_OF_MASTERS } else { MAX_CLIENTS };
    let is_left_out = config.is_split() || count == most || waits_for_it;
    // Those that start late are the last ones: the idle client would be one of them, in the place of one that asks.
    if is_left_out || faults.start_client > 0 || faults.force_release > 0 || faults.foreign_release > 0 {
        return None;
    }
    let settings: Vec<_> = (0..count).map(|client| config.settings_of(client)).collect();
    // Otherwise as a client that is there: a watchdog that nobody else has would be put to the test.
    let idle = ClientSettings { acquires: Some(0), ..config.settings_of(count - 1) };
    let clients = Clients { count: count + 1, ..config.clients };
    Some(Config { clients, ..*config }.with_settings(&[settings, vec![idle]].concat()))
}

/// A client that never asks need not be there: each safety verdict stays, and so does the length of each shortest trace. The
/// verdicts compared, or what differs.
fn compare_beside_an_idle_client(scenario: &Scenario) -> Result<u32, String> {
    let Some(config) = with_an_idle_client(&scenario.config) else { return Ok(0) };
    let narrow = checked(scenario, MOST_STATES);
    if !narrow.complete {
        return Ok(0);
    }
    let wide = checked(&Scenario { config, ..scenario.clone() }, MOST_WIDER);
    if !wide.complete {
        return Ok(0);
    }
    let mut compared = 0;
    for alone in narrow.properties.iter().filter(|found| found.property.kind() == PropertyKind::Safety) {
        let beside = wide.properties.iter().find(|found| found.property == alone.property);
        let Some(beside) = beside else { return Err(format!("{}: {} is not judged", scenario.name, alone.property)) };
        let told = |found: &PropertyOutcome| (found.verdict, found.trace.as_ref().map(|trace| trace.steps.len()));
        let (alone, beside, property) = (told(alone), told(beside), alone.property);
        if alone != beside {
            let name = &scenario.name;
            return Err(format!("{name}: {property} {alone:?}, and beside a client that never asks {beside:?}"));
        }
        compared += 1;
    }
    Ok(compared)
}

#[test]
fn a_client_that_never_asks_changes_no_safety_verdict() {
    let compared: u32 = builtin().iter().map(|scenario| kept(compare_beside_an_idle_client(scenario))).sum();
    assert!(compared > 20, "only {compared} verdicts compared");
}

#[test]
fn one_more_fault_repairs_nothing() {
    of_built_in(one_fault_more);
}

#[test]
fn one_more_acquire_repairs_nothing() {
    of_built_in(one_acquire_more);
}

#[test]
fn one_more_hold_repairs_nothing() {
    of_built_in(one_hold_more);
}

#[test]
fn what_may_come_later_repairs_nothing() {
    of_built_in(later_by_a_tick);
}

/// Every time is an "at most" or an "at least". So whatever can happen between two ticks can happen at one of them too.
#[test]
fn a_clock_that_ticks_twice_as_often_changes_no_verdict() {
    let compared: u32 = builtin().iter().map(|scenario| kept(compare_finer(scenario, MOST_STATES))).sum();
    assert!(compared > 100, "only {compared} verdicts compared");
}

#[test]
fn a_clock_that_ticks_twice_as_often_changes_no_verdict_in_worlds_that_nobody_thought_of() {
    let compared = of_drawn(|scenario| kept(compare_finer(scenario, MOST_STATES)));
    assert!(compared > 50, "only {compared} verdicts compared");
}

#[test]
fn nothing_wider_repairs_a_world_that_nobody_thought_of() {
    let laws = [one_fault_more, one_acquire_more, one_hold_more, later_by_a_tick, any_master];
    let widened = |config: &Config| laws.iter().flat_map(|law| law(config)).collect();
    let compared = of_drawn(|scenario| kept(compare_wider(scenario, widened)));
    assert!(compared > 0, "no verdict compared");
}

#[test]
fn a_client_that_never_asks_changes_no_safety_verdict_in_worlds_that_nobody_thought_of() {
    let compared = of_drawn(|scenario| kept(compare_beside_an_idle_client(scenario)));
    assert!(compared > 0, "no verdict compared");
}

/// A failover that can lose a grant, bounded enough to be searched with one fault more.
const FAILOVER: &str = r#"
story = "The grant may be lost with its master."
lock = "reentrant"
[time]
lease = 3
wait_limit = 0
hold_at_most = 1
[clients]
count = 2
acquires = 1
[cluster]
replicas = 1
lag = 1
[faults]
crash_node = 1
"#;

/// A waiter's second request sets out at the instant at which its limit is due.
const SECOND_REQUEST_AT_THE_LIMIT: &str = r#"
story = "The limit passes while the second request is in flight."
lock = "plain"
[time]
lease = 3
wait_limit = 1
answer_within = 1
[clients]
count = 2
acquires = 1
[network]
mode = "split"
delay = 1
"#;

fn with_mutant(text: &str, mutant: Mutant) -> Scenario {
    let right = read(text).unwrap_or_else(|problems| panic!("{problems:?}"));
    Scenario { config: right.config.with_mutant(mutant), ..right }
}

#[test]
fn each_law_notices_a_rule_that_reads_a_number_it_should_not() {
    let one_acquire_only = &FAILOVER.replace("crash_node = 1", "crash_node = 0");
    let laws = [
        (Mutant::NoFailoverBesideCrashes, FAILOVER, one_fault_more as fn(&Config) -> Vec<Wider>),
        (Mutant::OnlyRefusalBelieved, one_acquire_only, one_acquire_more),
        (Mutant::LateReplicaLosesNothing, FAILOVER, later_by_a_tick),
    ];
    for (mutant, text, widened) in laws {
        let right = read(text).unwrap_or_else(|problems| panic!("{problems:?}"));
        assert!(compare_wider(&right, widened).is_ok(), "{mutant:?}");
        let noticed = compare_wider(&with_mutant(text, mutant), widened);
        assert!(noticed.is_err(), "{mutant:?}: {noticed:?}");
    }
    let crowd = with_mutant(one_acquire_only, Mutant::CrowdBelievesRefusals);
    let noticed = compare_beside_an_idle_client(&crowd);
    assert!(noticed.is_err(), "{noticed:?}");
    // Its waiters ask a second time at once, not at the next tick of a poll.
    let publishing = LockKind::ALL.iter().find(|kind| kind.facts().publishes()).expect("a kind with messages");
    let mut scenario = with_mutant(SECOND_REQUEST_AT_THE_LIMIT, Mutant::LimitComesFirst);
    scenario.config.lock = *publishing;
    let noticed = compare_finer(&scenario, MOST_WIDER);
    assert!(noticed.is_err(), "{noticed:?}");
}

/// Right is that it is violated: the limit passes while the second request, sent when it was due, is in flight.
#[test]
fn a_request_that_is_sent_when_the_limit_is_due_outlasts_the_limit() {
    let scenario = read(SECOND_REQUEST_AT_THE_LIMIT).unwrap_or_else(|problems| panic!("{problems:?}"));
    let found = checked(&scenario, MOST_WIDER);
    let limit = found.properties.iter().find(|found| found.property == Property::WaitLimitKept);
    let limit = limit.unwrap_or_else(|| panic!("not judged"));
    let steps = limit.trace.as_ref().map(|trace| trace.steps.len());
    assert_eq!((limit.verdict, steps), (Verdict::Violated, Some(9)));
}
