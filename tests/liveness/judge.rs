//! The judge trusts no lasso.

use lockstep_model::{Action, Config, Property};
use lockstep_sim::check::judge::{LassoWitness, Rejection, judge_lassos};

use crate::{lasso, scenario};

const STARVED: Property = Property::WaiterServed;

fn judged(config: &Config, actions: &[Action], loop_start: usize) -> Result<(), Rejection> {
    judge_lassos(config, &[LassoWitness { property: STARVED, actions, loop_start }])
}

fn starvation() -> (Config, Vec<Action>, usize) {
    let trace = lasso("newcomers-starve-a-waiter", STARVED);
    (trace.config, trace.actions(), trace.loop_start.expect("a lasso"))
}

#[test]
fn a_true_lasso_is_accepted_and_so_are_two_rounds_of_it() {
    let (config, mut actions, start) = starvation();
    assert_eq!(judged(&config, &actions, start), Ok(()));
    actions.extend_from_within(start..);
    assert_eq!(judged(&config, &actions, start), Ok(()));
}

#[test]
fn a_loop_that_does_not_close_is_rejected() {
    let (config, actions, start) = starvation();
    let unclosed = Err(Rejection::NotClosed { property: STARVED });
    assert_eq!(judged(&config, &actions[..actions.len() - 1], start), unclosed);
    assert_eq!(judged(&config, &actions, start - 1), unclosed);
    assert_eq!(judged(&config, &actions, actions.len() + 1), unclosed);
}

#[test]
fn a_loop_in_which_nobody_is_owed_anything_is_rejected() {
    let (config, ..) = starvation();
    let idle = [Action::Tick];
    assert_eq!(judged(&config, &idle, 0), Err(Rejection::NotOwed { property: STARVED }));
}

/// A run cannot end where B waits and some action must still happen.
#[test]
fn doing_nothing_is_rejected_where_something_must_happen() {
    let (config, actions, start) = starvation();
    let found = judged(&config, &actions[..start], start);
    assert!(matches!(found, Err(Rejection::NotFair { .. })), "{found:?}");
}

/// A holder that need not release starves the waiter; one that must release does not, with the very same steps.
#[test]
fn a_loop_that_never_takes_what_it_always_could_is_rejected() {
    let trace = lasso("holder-never-releases", STARVED);
    let (actions, start) = (trace.actions(), trace.loop_start.expect("a lasso"));
    assert_eq!(judged(&trace.config, &actions, start), Ok(()));
    let mut config = trace.config;
    config.clients.hold_for_ever = false;
    let action = Action::Release { client: 0, thread: 0 };
    assert_eq!(judged(&config, &actions, start), Err(Rejection::NotFair { property: STARVED, action }));
}

/// A holder and a waiter can act endlessly at one moment, so that time can never pass: that is no valid run.
#[test]
fn a_loop_that_takes_no_time_is_rejected() {
    let config = scenario("newcomers-starve-a-waiter").config;
    let (a, b) = (0, 1);
    let acquire = Action::Acquire { client: a, thread: 0 };
    let release = Action::Release { client: a, thread: 0 };
    let stem = [
        acquire,
        Action::Acquire { client: b, thread: 0 },
        Action::Subscribe { client: b, thread: 0 },
        Action::SecondAsk { client: b, thread: 0 },
    ];
    let turn = [release, acquire, Action::Deliver { client: b }, Action::WakeByMessage { client: b, thread: 0 }];
    let actions = [&stem[..], &turn].concat();
    assert_eq!(
        judged(&config, &actions, stem.len()),
        Err(Rejection::NotFair { property: STARVED, action: Action::Tick })
    );
}

#[test]
fn a_lasso_that_cannot_be_executed_is_rejected() {
    let (config, mut actions, start) = starvation();
    actions.swap(0, 3);
    assert!(matches!(judged(&config, &actions, start), Err(Rejection::NotEnabled { .. })));
}
