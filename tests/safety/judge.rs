//! The judge trusts no engine.

use lockstep_model::{Action, Property};
use lockstep_sim::check::judge::{Rejection, Witness, judge, judge_within};

use crate::scenario;

/// The shortest trace to two believers in `failover-loses-the-grant`.
const LOSS: [Action; 5] = [
    Action::Acquire { client: 0, thread: 0 },
    Action::CrashNode { node: 0 },
    Action::Promote { node: 1 },
    Action::Discover { client: 1 },
    Action::Acquire { client: 1, thread: 0 },
];

fn judged(actions: &[Action]) -> Result<bool, Rejection> {
    let config = scenario("failover-loses-the-grant").config;
    let witness = Witness { property: Property::OneBeliever, actions };
    judge(&config, &[witness], &|_| false).map(|judgement| judgement.is_shortest)
}

#[test]
fn a_true_witness_is_accepted_and_found_to_be_shortest() {
    assert_eq!(judged(&LOSS), Ok(true));
}

#[test]
fn a_witness_that_breaks_nothing_is_rejected() {
    assert_eq!(judged(&LOSS[..4]), Err(Rejection::NotBroken { property: Property::OneBeliever }));
}

#[test]
fn a_witness_that_cannot_be_executed_is_rejected() {
    let promoted_too_early = [LOSS[0], LOSS[2], LOSS[1], LOSS[3], LOSS[4]];
    let rejection = Rejection::NotEnabled { property: Property::OneBeliever, step: 2, action: LOSS[2] };
    assert_eq!(judged(&promoted_too_early), Err(rejection));
}

#[test]
fn a_witness_that_is_longer_than_need_be_is_rejected() {
    // Client A does not need to discover the new master.
    let detour = [&LOSS[..3], &[Action::Discover { client: 0 }], &LOSS[3..]].concat();
    let rejection = Rejection::NotShortest { property: Property::OneBeliever, claimed: 6, found: 5 };
    assert_eq!(judged(&detour), Err(rejection));
}

/// With too little room the judge says nothing about shorter ones, and a false witness stays false.
#[test]
fn a_judge_that_has_too_little_room_does_not_confirm_the_length() {
    let config = scenario("failover-loses-the-grant").config;
    let judged = |actions| {
        let witness = Witness { property: Property::OneBeliever, actions };
        judge_within(10, &config, &[witness], &|_| false).map(|judgement| judgement.is_shortest)
    };
    assert_eq!(judged(&LOSS), Ok(false));
    assert_eq!(judged(&LOSS[..4]), Err(Rejection::NotBroken { property: Property::OneBeliever }));
}
