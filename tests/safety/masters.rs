//! A lock on several independent masters, in worlds whose verdicts can be worked out by hand.

use lockstep_model::{Property, Verdict};
use lockstep_sim::check::{CheckOutcome, Engine};
use lockstep_sim::scenario::Scenario;

use crate::{exhaust, verdict};

/// Two clients that hold for as long as their validity, on so many masters.
fn on_masters(groups: u8, time: &str, cluster: &str, faults: &str) -> CheckOutcome {
    let text = format!(
        "story = 'Masters.'\nlock = 'red'\n[time]\nlease = 4\n{time}\n[clients]\ncount = 2\nacquires = 1\nstops_at = 'validity'\n\
         [cluster]\ngroups = {groups}\n{cluster}\n[protocol]\nprofile = 'lockstep'\n[faults]\n{faults}"
    );
    let scenario = Scenario::parse("masters", &text).unwrap_or_else(|error| panic!("{}", error.report(false)));
    exhaust(&scenario, Engine::Native)
}

const RESTART: &str = "crash_node = 1\nrestart_node = 1\n";

/// Two majorities of an odd number have one master in common, and of an even number two: one that forgets is then not enough.
#[test]
fn one_master_that_forgets_is_enough_for_two_majorities_of_an_odd_number_of_masters_only() {
    for (groups, expected) in [(2, Verdict::Holds), (3, Verdict::Violated), (4, Verdict::Holds), (5, Verdict::Violated)]
    {
        let time = "hold_at_most = 1";
        assert_eq!(
            verdict(&on_masters(groups, time, "", RESTART), Property::OneBeliever),
            expected,
            "{groups} restart"
        );
        let jump = on_masters(groups, "hold_at_most = 1\njump = 4", "", "clock_jump = 1\n");
        assert_eq!(verdict(&jump, Property::OneBeliever), expected, "{groups} jump");
    }
}

/// What a holder may rely on ends with the lease without the drift: a master that stays away for so long has granted nothing by then that
/// still counts.
#[test]
fn a_delayed_restart_must_be_as_long_as_the_validity() {
    for (drift, delay, expected) in
        [(0, 3, Verdict::Violated), (0, 4, Verdict::Holds), (1, 2, Verdict::Violated), (1, 3, Verdict::Holds)]
    {
        let found = on_masters(3, &format!("drift = {drift}"), &format!("restart_after = {delay}"), RESTART);
        assert_eq!(verdict(&found, Property::OneBeliever), expected, "drift {drift}, delay {delay}");
    }
}

/// A late ask leaves a key behind a call that has ended, and none behind a client that is dead.
#[test]
fn a_late_ask_leaves_a_key_behind_a_call_and_nobody_holds_twice() {
    let found = on_masters(3, "hold_at_most = 1", "", "late_ask = 1\n");
    assert_eq!(verdict(&found, Property::AllOrNone), Verdict::Violated);
    assert_eq!(verdict(&found, Property::OneBeliever), Verdict::Holds);
    assert_eq!(verdict(&found, Property::NoOrphan), Verdict::Holds, "the key ends with its lease");
}
