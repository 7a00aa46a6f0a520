//! Callers that ask whether they hold the lock: worlds and histories that were worked out by hand.

use lockstep_model::client::Phase;
use lockstep_model::trace::{About, Trace};
use lockstep_model::{Action, Config, LockKind, Property, Reply, Verdict};
use lockstep_sim::recorder::{self, TraceError};
use lockstep_sim::scenario::Scenario;

use crate::verdict_on;

const A: u8 = 0;
const B: u8 = 1;

/// Two clients that try once, and ask whether they hold after that.
fn world(rest: &str) -> Scenario {
    let kind = LockKind::ALL.iter().find(|kind| kind.facts().held_query.is_there()).expect("a kind that is asked");
    let text = format!(
        "story = 'Questions.'\nlock = '{}'\n[time]\nlease = 3\nrenew_every = 1\nwait_limit = 0\nhold_at_most = 4\n[clients]\n\
         after_refusal = 'ask-if-held'\n{rest}",
        kind.name()
    );
    Scenario::parse("questions", &text).unwrap_or_else(|error| panic!("{}", error.report(false)))
}

/// Both name the same value.
const ONE_VALUE: &str = "acquires = 2\n[[client]]\nvalues = [1]\n[[client]]\nvalues = [1]\n";

const fn asks(client: u8) -> Action {
    Action::Acquire { client, thread: 0 }
}

const fn asks_if_held(client: u8) -> Action {
    Action::AskIfHeld { client, thread: 0 }
}

const fn releases(client: u8) -> Action {
    Action::Release { client, thread: 0 }
}

fn recorded(config: &Config, actions: &[Action]) -> Result<Trace, TraceError> {
    recorder::record("by-hand", "", config, About::Drawn, actions, "")
}

fn answers(trace: &Trace) -> Vec<Reply> {
    trace.steps.iter().map(|step| step.answer).collect()
}

const BUSY: Reply = Reply::Busy { remaining_ticks: None };

/// Nothing renews what its client was not granted, and its release finds nothing.
#[test]
fn who_is_told_that_it_holds_believes_it_until_its_release_throws() {
    let config = world(ONE_VALUE).config;
    let told = [asks(A), asks(B), asks_if_held(B)];
    let trace = recorded(&config, &[&told[..], &[Action::Tick, Action::Renew { client: A }, releases(B)]].concat());
    let trace = trace.expect("each can happen");
    assert_eq!(answers(&trace), [Reply::Acquired, BUSY, Reply::SaysHeld, Reply::Done, Reply::Renewed, Reply::NotHeld]);
    let holds = |after: usize| trace.state_after(after).clients[1].threads[0].holds;
    assert_eq!((holds(2), holds(3), holds(5), holds(6)), (0, 1, 1, 0));
    let renews = [&told[..], &[Action::Tick, Action::Renew { client: B }]].concat();
    assert!(recorded(&config, &renews).is_err(), "B has no timer");
    let every = world(&format!("{ONE_VALUE}[protocol]\nheld_query = 'every-value'\n")).config;
    let trace = recorded(&every, &told).expect("each can happen");
    assert_eq!(answers(&trace)[2], Reply::SaysNotHeld);
    assert_eq!(trace.state_after(3).clients[1].threads[0].holds, 0);
}

/// Its call is over, so it asks before time passes, and does nothing else before that.
#[test]
fn a_refused_caller_asks_at_once_or_when_it_runs_again() {
    let config =
        world(&format!("{ONE_VALUE}[faults]\npause_client = 1\nforeign_release = 1\ncrash_client = 1\n")).config;
    let refused = [asks(A), asks(B)];
    let after = |more: &[Action]| recorded(&config, &[&refused[..], more].concat());
    for action in [Action::Tick, asks(B), Action::ForeignRelease { client: B, thread: 0 }] {
        assert!(after(&[action]).is_err(), "{action:?}");
    }
    let pause = Action::PauseClient { client: B };
    let paused = after(&[pause, Action::Tick, Action::Resume { client: B }, asks_if_held(B)]).expect("each can happen");
    assert_eq!(answers(&paused).last(), Some(&Reply::SaysHeld));
    assert!(after(&[pause, asks_if_held(B)]).is_err(), "it does not run");
    let crashed = after(&[Action::CrashClient { client: B }, Action::Tick]).expect("each can happen");
    assert_eq!(crashed.state_after(4).clients[1].threads[0].phase, Phase::Dead);
}

/// A caller that has a hold has nothing to find out: a nested call that is refused tells it nothing new.
#[test]
fn a_caller_that_has_a_hold_does_not_ask() {
    let config = world("acquires = 2\nmax_holds = 2\n[[client]]\nvalues = [1]\nclock_ahead = 4\n[[client]]\n").config;
    // By the clock of A the deadline of B is over.
    let trace = recorded(&config, &[asks(B), asks(A), asks(B)]).expect("each can happen");
    assert_eq!(answers(&trace), [Reply::Acquired, Reply::Acquired, BUSY]);
    assert_eq!(trace.state_after(3).clients[1].threads[0].phase, Phase::Idle);
    assert!(recorded(&config, &[asks(B), asks(A), asks(B), asks_if_held(B)]).is_err());
}

#[test]
fn a_question_that_no_master_answers_ends_with_an_exception() {
    let config = world(&format!("{ONE_VALUE}[cluster]\nreplicas = 1\n[faults]\ncrash_node = 1\n")).config;
    let trace = recorded(&config, &[asks(A), asks(B), Action::CrashNode { node: 0 }, asks_if_held(B)]);
    let trace = trace.expect("each can happen");
    assert_eq!(answers(&trace).last(), Some(&Reply::Unreachable));
    let asker = &trace.state_after(4).clients[1].threads[0];
    assert_eq!((asker.phase, asker.holds), (Phase::Idle, 0));
}

/// A deadline is over after its own instant, by the clock of whoever asks: B lost its first value, and knows it.
#[test]
fn the_deadline_of_a_value_that_is_left_decides() {
    let keys = "acquires = 3\n[[client]]\nvalues = [1]\nclock_ahead = 4\n[[client]]\n[protocol]\nmissed_renewal = 'tell-holder'\n";
    let config = world(keys).config;
    let lost = [asks(B), asks(A), Action::Tick, Action::Renew { client: A }, Action::Renew { client: B }];
    for (ticks, told) in [(1, Reply::SaysHeld), (2, Reply::SaysHeld), (3, Reply::SaysNotHeld)] {
        let mut actions = lost.to_vec();
        for tick in 0..ticks {
            actions.extend([Action::Tick, Action::Renew { client: A }]);
            // The timer of B finds nothing to renew, and ends.
            actions.extend(Some(Action::Renew { client: B }).filter(|_| tick == 0));
        }
        actions.extend([asks(B), asks_if_held(B)]);
        let answers = recorded(&config, &actions).map(|trace| answers(&trace));
        let answers = answers.unwrap_or_else(|error| panic!("{ticks}: {error:?}"));
        assert_eq!(answers[4], Reply::RenewalMissed);
        assert_eq!(answers.last(), Some(&told), "{ticks} ticks later");
    }
}

/// The process of a dead thread renews for ever. That others are told that they hold does not give them the lock.
#[test]
fn who_only_believes_to_hold_has_not_got_the_lock() {
    for acquires in [1, 2] {
        let keys = ONE_VALUE.replace("acquires = 2", &format!("acquires = {acquires}"));
        let scenario = world(&format!("{keys}[faults]\ncrash_thread = 1\n"));
        assert_eq!(verdict_on(&scenario, Property::Obtainable), Verdict::Violated, "{acquires} acquires");
        assert_eq!(verdict_on(&world(&keys), Property::Obtainable), Verdict::Holds, "{acquires} acquires");
    }
}
