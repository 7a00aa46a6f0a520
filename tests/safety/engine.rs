//! The native engine finds the same results with any number of threads, with or without client symmetry, with or
//! without skipping idle time, and with wide or narrow fingerprints.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::trace::Trace;
use lockstep_model::{Property, Verdict};
use lockstep_sim::check::memory::MemoryLimit;
use lockstep_sim::check::native::Options;
use lockstep_sim::check::{CheckOutcome, Engine, How, Limits, Width, check_as};
use lockstep_sim::scenario::Scenario;
use lockstep_tests::drawn::from_environment;

use crate::{NO_SHORTER_SOUGHT, compared, scenario};

const ONE_THREAD: Options = Options { threads: 1, normal_forms: true, symmetry: false, skip_idle: false, until: None };

fn exhaust_as(scenario: &Scenario, native: Options, fingerprint: Width) -> CheckOutcome {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits::none(&stop, &progress);
    // `make soak` has shorter traces sought, too: whatever the options, there are none.
    let seeks_shorter = from_environment("LOCKSTEP_COMPARED_STATES", 0) > 0;
    let how = How { native, fingerprint, seeks_shorter, ..NO_SHORTER_SOUGHT };
    check_as(scenario, how, &limits).unwrap_or_else(|error| panic!("{error}"))
}

fn verdicts(outcome: &CheckOutcome) -> Vec<Verdict> {
    outcome.properties.iter().map(|found| found.verdict).collect()
}

/// How long the trace to each broken property of single states is. A loop has to close in full worlds, which can take more steps.
fn lengths(outcome: &CheckOutcome) -> Vec<Option<usize>> {
    let length = |trace: &Trace| trace.loop_start.is_none().then_some(trace.steps.len());
    outcome.properties.iter().map(|found| found.trace.as_ref().and_then(length)).collect()
}

/// What one thread finds in each scenario that is compared.
static BY_ONE_THREAD: LazyLock<Vec<CheckOutcome>> =
    LazyLock::new(|| compared().map(|scenario| exhaust_as(scenario, ONE_THREAD, Width::Bits64)).collect());

fn compared_with_one_thread() -> impl Iterator<Item = (&'static Scenario, &'static CheckOutcome)> {
    compared().zip(BY_ONE_THREAD.iter())
}

/// Everything reported about a run except its time and its memory.
fn told(outcome: &CheckOutcome) -> String {
    let CheckOutcome { states, generated, depth, coverage, properties, .. } = outcome;
    format!("{states} {generated} {depth} {coverage:?} {properties:?}")
}

#[test]
fn any_number_of_threads_finds_the_same_to_the_last_step_of_every_trace() {
    for (scenario, one) in compared_with_one_thread() {
        let one = told(one);
        for threads in [2, 3, 4] {
            let many = told(&exhaust_as(scenario, Options { threads, ..ONE_THREAD }, Width::Bits64));
            assert_eq!(many, one, "{} on {threads} threads", scenario.name);
        }
    }
}

/// Whoever wants to see one counterexample does not wait for the rest of the search.
#[test]
fn a_search_for_one_violation_ends_with_the_trace_of_the_whole_search() {
    let scenario = scenario("failover-loses-the-grant");
    let whole = exhaust_as(&scenario, ONE_THREAD, Width::Bits64);
    let until = Some(Property::OneBeliever);
    let part = exhaust_as(&scenario, Options { until, ..ONE_THREAD }, Width::Bits64);
    assert!(part.states < whole.states, "{} of {}", part.states, whole.states);
    assert!(!part.complete);
    let trace = |outcome: &CheckOutcome| {
        let found = outcome.properties.iter().find(|found| Some(found.property) == until);
        found.and_then(|found| found.trace.clone()).expect("it is violated")
    };
    assert_eq!(trace(&part), trace(&whole));
    let held = Options { until: Some(Property::OnlyHolderReleases), ..ONE_THREAD };
    assert_eq!(told(&exhaust_as(&scenario, held, Width::Bits64)), told(&whole));
}

#[test]
fn wide_fingerprints_find_the_same() {
    for (scenario, narrow) in compared_with_one_thread() {
        assert_eq!(told(&exhaust_as(scenario, ONE_THREAD, Width::Bits128)), told(narrow), "{}", scenario.name);
    }
}

/// The judge executes the traces, in which the clients have their own names again.
#[test]
fn clients_that_are_alike_are_taken_for_one_and_no_verdict_changes() {
    for scenario in compared() {
        let full = Options { normal_forms: false, ..ONE_THREAD };
        let apart = exhaust_as(scenario, full, Width::Bits64);
        let alike = exhaust_as(scenario, Options { symmetry: true, ..full }, Width::Bits64);
        assert_eq!(verdicts(&alike), verdicts(&apart), "{}", scenario.name);
        assert_eq!(lengths(&alike), lengths(&apart), "{}", scenario.name);
        assert_eq!(alike.depth, apart.depth, "{}", scenario.name);
        // One state represents at least itself and at most all permutations of its clients, and of several masters.
        let orders_of = |count: u8| -> u64 { (1..=u64::from(count)).product() };
        let orders = orders_of(scenario.config.clients.count) * orders_of(scenario.config.cluster.groups);
        assert!(alike.states <= apart.states && alike.states * orders >= apart.states, "{}", scenario.name);
        let threads = Options { symmetry: true, threads: 3, ..full };
        assert_eq!(told(&exhaust_as(scenario, threads, Width::Bits64)), told(&alike), "{}", scenario.name);
    }
}

/// A state in which only time can pass has one successor: everything reachable from it is also reachable from the end
/// of the idle period, and the state is checked when it is skipped.
#[test]
fn idle_time_is_passed_through_and_no_verdict_changes() {
    let mut saved = 0;
    for (scenario, kept) in compared_with_one_thread() {
        let passed = exhaust_as(scenario, Options { skip_idle: true, ..ONE_THREAD }, Width::Bits64);
        assert_eq!(verdicts(&passed), verdicts(kept), "{}", scenario.name);
        assert!(passed.states <= kept.states, "{}", scenario.name);
        saved += kept.states - passed.states;
    }
    assert!(saved > 0, "some scenario has idle time");
}

#[test]
fn a_limit_of_memory_makes_what_is_not_known_inconclusive() {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits { max_bytes: Some(1 << 20), ..Limits::none(&stop, &progress) };
    let outcome = check_as(&scenario("third-client-is-woken"), How::by(Engine::Native), &limits).unwrap();
    assert!(!outcome.complete);
    assert!(outcome.is_inconclusive());
    assert!(
        outcome.properties.iter().any(|found| found.why.as_deref().is_some_and(|why| why.contains("--max-memory")))
    );
}

/// The second opinion counts no bytes of its own: the memory of the process is what limits it.
#[test]
fn a_limit_on_the_memory_of_the_process_stops_every_engine() {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let resident = Some(MemoryLimit::given(1));
    let limits = Limits { resident, ..Limits::none(&stop, &progress) };
    let scenario = scenario("third-client-is-woken");
    for engine in [Engine::Native, Engine::Stateright, Engine::Both] {
        let outcome = check_as(&scenario, How::by(engine), &limits).unwrap();
        assert!(!outcome.complete, "{engine:?}");
        assert!(outcome.is_inconclusive(), "{engine:?}");
        let says = |why: &str| why.contains("--max-memory is 1;");
        assert!(outcome.properties.iter().any(|found| found.why.as_deref().is_some_and(says)), "{engine:?}");
    }
}
