//! Where Redisson differs from the model, the switch is named that makes them agree.

use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_sim::check::Limits;
use lockstep_sim::fuzz::{FuzzOptions, agrees};
use lockstep_sim::other_protocols::{agreeing, other_protocols};
use lockstep_sim::scenario::{BuiltIn, Scenario};
use lockstep_tests::servers::servers;

use crate::redisson;

/// With one timer for each lock the model is not what Redisson of today does, and with one for all it is.
#[test]
fn the_switch_in_which_redisson_differs_is_found() {
    const OPTIONS: FuzzOptions = FuzzOptions { cases: 60, seed: 1 };
    let text = BuiltIn::named("missed-renewal-of-2026").expect("it is built in").text;
    let wrong = text.replace("[protocol]\n", "[protocol]\nrenewal_timer = \"per-lock\"\n");
    let scenario = Scenario::parse("one-switch-is-wrong", &wrong).expect("it is a scenario");
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let (server, library, limits) = (&servers()[0], redisson("4.7.0"), Limits::none(&stop, &progress));
    assert!(!agrees(&scenario, server, library.clone(), OPTIONS, &limits).expect("it is replayed"));
    let found = agreeing(other_protocols(&scenario, &wrong), server, &library, OPTIONS, &limits);
    let lines: Vec<_> = found.expect("they are replayed").into_iter().map(|other| other.line).collect();
    assert_eq!(lines, ["renewal_timer = \"shared\""]);
}
