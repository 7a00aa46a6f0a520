//! Fencing tokens that the lock stores in Redis: worlds and histories that were worked out by hand.

use lockstep_model::mutants::Mutant;
use lockstep_model::notes::Capacity;
use lockstep_model::trace::About;
use lockstep_model::{Action, Config, LockKind, Property, Reply, Verdict};
use lockstep_sim::check::Engine;
use lockstep_sim::recorder;
use lockstep_sim::scenario::Scenario;

use crate::{exhaust, scenario, verdict};

const A: u8 = 0;
const B: u8 = 1;

const fn asks(client: u8) -> Action {
    Action::Acquire { client, thread: 0 }
}

const fn works(client: u8) -> Action {
    Action::Work { client, thread: 0 }
}

const fn reads(client: u8) -> Action {
    Action::ReadToken { client, thread: 0 }
}

/// The answers to these actions, one after the other.
fn answers(config: &Config, actions: &[Action]) -> Vec<Reply> {
    let trace = recorder::record("by-hand", "", config, About::Drawn, actions, "").expect("each can happen");
    trace.steps.iter().map(|step| step.answer).collect()
}

fn with_tokens(rest: &str) -> Scenario {
    let kind = LockKind::ALL.iter().find(|kind| kind.facts().tokens.is_there()).expect("a kind that issues tokens");
    let lock = kind.name();
    let text = format!("story = 'Tokens.'\nlock = '{lock}'\n[time]\nlease = 2\nhold_at_most = 1\n{rest}");
    Scenario::parse("tokens", &text).unwrap_or_else(|error| panic!("{}", error.report(false)))
}

/// A master that crashes before its replica has heard of a grant: the next one has the same token.
const FAILOVER: [Action; 6] = [
    asks(A),
    Action::CrashNode { node: 0 },
    Action::Promote { node: 1 },
    Action::Discover { client: B },
    asks(B),
    works(B),
];

#[test]
fn of_two_holders_with_one_token_a_resource_accepts_both_or_the_first_alone() {
    let late = [&FAILOVER[..], &[works(A)]].concat();
    let of = |name: &str| *answers(&scenario(name).config, &late).last().expect("a step");
    assert_eq!(of("fenced-failover-repeats-a-token"), Reply::Accepted);
    assert_eq!(of("fenced-strict-resource-after-failover"), Reply::Rejected);
}

/// Then the newer holder is refused, although nobody is ahead of it.
#[test]
fn a_strict_resource_refuses_the_newer_holder_if_the_older_one_was_faster() {
    let [grant, crash, promote, discover, other, work] = FAILOVER;
    let early = [grant, works(A), crash, promote, discover, other, work];
    let strict = scenario("fenced-strict-resource-after-failover");
    assert_eq!(*answers(&strict.config, &early).last().expect("a step"), Reply::Rejected);
    let lax = scenario("fenced-failover-repeats-a-token");
    assert_eq!(*answers(&lax.config, &early).last().expect("a step"), Reply::Accepted);
}

#[test]
fn a_token_that_is_read_late_is_that_of_the_newest_grant() {
    let late = scenario("fenced-token-is-read-late").config;
    let stale = [
        asks(A),
        Action::PauseClient { client: A },
        Action::Tick,
        Action::Tick,
        Action::Resume { client: A },
        Action::Expire { node: 0 },
        asks(B),
        reads(A),
        reads(B),
    ];
    let told = answers(&late, &stale);
    assert_eq!(told[7..], [Reply::TokenRead { number: 2 }, Reply::TokenRead { number: 2 }]);
}

/// Nobody writes to the resource before it has a token, and nobody reads one twice.
#[test]
fn a_holder_reads_its_token_before_it_writes_and_once() {
    let late = scenario("fenced-token-is-read-late").config;
    let fails = |actions: &[Action]| recorder::record("by-hand", "", &late, About::Drawn, actions, "").is_err();
    assert!(fails(&[asks(A), works(A)]));
    assert!(fails(&[asks(A), reads(A), reads(A)]));
    assert!(fails(&[reads(A)]), "it holds nothing");
    assert!(!fails(&[asks(A), reads(A), works(A)]));
}

/// A refused acquire of a lock without a TTL is a grant to its caller, and with a token that the resource accepts only if it has
/// seen none.
#[test]
fn an_answer_without_a_ttl_is_taken_for_a_grant_with_the_smallest_token() {
    let config = scenario("fenced-holder-without-ttl").config;
    let persisted = [asks(A), Action::PersistKey { node: 0 }, asks(B)];
    let [first, second] = [[works(B), works(A)], [works(A), works(B)]]
        .map(|order| answers(&config, &[&persisted[..], &order[..]].concat())[3..].to_vec());
    assert_eq!(first, [Reply::Accepted, Reply::Accepted]);
    assert_eq!(second, [Reply::Accepted, Reply::Rejected]);
    let refused = scenario("fenced-no-ttl-read-as-refusal").config;
    assert!(
        recorder::record("by-hand", "", &refused, About::Drawn, &[&persisted[..], &[works(B)]].concat(), "").is_err()
    );
}

/// However often the lock is acquired: what can never be set back is known by its order alone.
#[test]
fn a_counter_that_nothing_sets_back_leaves_worlds_finite() {
    for resource in ["", "[resource]\nfencing = 'stored'\n"] {
        let world = with_tokens(&format!("[clients]\ncount = 2\n{resource}[faults]\npause_client = 1\n"));
        let found = exhaust(&world, Engine::Native);
        assert!(found.complete, "{resource}");
        assert_eq!(verdict(&found, Property::WaiterServed), Verdict::Violated, "an immediate retry is always faster");
    }
}

#[test]
fn a_counter_that_grows_without_end_and_may_be_set_back_is_inconclusive_and_names_its_bound() {
    let world = with_tokens(
        "wait_limit = 0\n[clients]\ncount = 1\n[resource]\nfencing = 'stored'\n[faults]\nvanish_token = 1\n",
    );
    let found = exhaust(&world, Engine::Native);
    assert!(!found.complete);
    let touched: Vec<_> = found.coverage.touched().map(|(capacity, _)| capacity).collect();
    assert_eq!(touched, [Capacity::Tokens]);
    assert_eq!(verdict(&found, Property::TokensIncrease), Verdict::Violated, "a witness stands");
    assert_eq!(verdict(&found, Property::OneBeliever), Verdict::Inconclusive);
}

/// A counter that is not raised breaks the property, as an ideal one does.
#[test]
fn a_grant_that_raises_no_counter_is_seen() {
    let mut world = scenario("fenced-two-clients");
    world.config.mutant = Some(Mutant::TokenReused);
    let found = exhaust(&world, Engine::Native);
    assert_eq!(verdict(&found, Property::TokensIncrease), Verdict::Violated);
    world.config.mutant = Some(Mutant::FenceIgnored);
    let mut late = scenario("fenced-stored-token-stops-late-writer");
    late.config.mutant = Some(Mutant::FenceIgnored);
    assert_eq!(verdict(&exhaust(&late, Engine::Native), Property::EffectsInOrder), Verdict::Violated);
}
