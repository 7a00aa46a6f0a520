//! How long a tick is where the times of a file decide it, and which of them make it short.

use super::units::{duration, list};
use crate::scenario::{Scenario, awkward, common_divisor};

/// A lease of so many ticks makes most worlds large: every tick multiplies the number of states.
const MANY_TICKS: u8 = 12;

/// What the times with units make of the scenario, one sentence for each fact. Empty where the file says how long a tick is,
/// or counts in ticks.
pub fn tick_length(scenario: &Scenario) -> Vec<String> {
    let units = &scenario.units;
    if !units.decide_the_tick {
        return Vec::new();
    }
    let tick_ms = u64::from(scenario.config.time.tick_ms);
    let times: Vec<u64> = units.times_ms.iter().map(|(_, ms)| ms.unsigned_abs()).filter(|ms| *ms > 0).collect();
    let mut distinct = times.clone();
    distinct.sort_unstable_by(|one, other| other.cmp(one));
    distinct.dedup();
    let shown = list(&distinct.iter().map(|ms| duration(*ms)).collect::<Vec<_>>());
    let why = if times.into_iter().reduce(common_divisor) != Some(tick_ms) {
        format!("the longest tick that there is and that divides {shown}")
    } else if distinct.len() == 1 {
        "the only time in the file".to_owned()
    } else {
        format!("the greatest common divisor of {shown}")
    };
    let tick = duration(tick_ms);
    let mut says = vec![format!("a tick is {tick} ({why})")];
    let left_out = &units.of_one_tick;
    if !left_out.is_empty() {
        let verb = if left_out.len() == 1 { "is" } else { "are" };
        let each = if left_out.len() == 1 { "it is" } else { "each is" };
        says.push(format!("{} {verb} left out: {each} one tick, so {tick}", list(left_out)));
    }
    let lease = scenario.config.time.lease;
    if lease >= MANY_TICKS {
        let advice = match awkward(&units.times_ms, tick_ms).filter(|time| time.keeps_to_leases(&units.times_ms)) {
            Some(time) => {
                format!("{} would make a tick {} and the world smaller", time.rewritten(), duration(time.tick_ms))
            }
            None => "choose times that have a longer one in common".to_owned(),
        };
        says.push(format!("the lease is {lease} ticks, and every tick multiplies the number of states: {advice}"));
    }
    says
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(times: &str) -> Vec<String> {
        let text =
            format!("story = \"s\"\nlock = \"reentrant\"\n[time]\n{times}\n[clients]\ncount = 2\nacquires = 1\n");
        tick_length(&Scenario::parse("mine", &text).unwrap_or_else(|error| panic!("{error}")))
    }

    #[test]
    fn a_derived_tick_is_named_with_the_times_that_make_it() {
        assert_eq!(
            says("lease = \"30s\"\nrenew_every = \"10s\"\nhold_at_most = \"20s\""),
            ["a tick is 10 s (the greatest common divisor of 30 s, 20 s and 10 s)"]
        );
        assert_eq!(says("lease = \"30s\""), ["a tick is 30 s (the only time in the file)"]);
        assert_eq!(
            says("lease = \"2h\""),
            ["a tick is 3600 s (the longest tick that there is and that divides 7200 s)"]
        );
        assert!(says("lease = 3").is_empty());
        assert!(says("tick_ms = 5000\nlease = \"30s\"").is_empty());
    }

    #[test]
    fn an_awkward_time_is_named_with_what_to_write_instead() {
        let told = says("lease = \"30s\"\nrenew_every = \"10s\"\nwait_limit = \"7s\"");
        assert_eq!(told[0], "a tick is 1 s (the greatest common divisor of 30 s, 10 s and 7 s)");
        assert_eq!(
            told[1],
            "the lease is 30 ticks, and every tick multiplies the number of states: wait_limit = \"10s\" instead of \"7s\" \
             would make a tick 10 s and the world smaller"
        );
        let two = says("lease = \"30s\"\nrenew_every = \"7s\"\nwait_limit = \"11s\"");
        assert!(two[1].ends_with("choose times that have a longer one in common"), "{two:?}");
    }

    /// A renewal every 30 s of a lease of 31 s is in time; of a lease of 30 s it may be too late.
    #[test]
    fn no_time_is_advised_that_takes_away_what_is_left_of_a_lease() {
        for times in ["lease = \"31s\"\nrenew_every = \"30s\"", "lease = \"30s\"\nhold_at_most = \"29s\""] {
            let told = says(times);
            assert!(told[1].ends_with("choose times that have a longer one in common"), "{told:?}");
        }
    }

    /// Its length depends on the other times of the file.
    #[test]
    fn a_default_of_one_tick_is_told_in_units() {
        let split = "lease = \"30s\"\nhold_at_most = \"20s\"\n[network]\nmode = \"split\"";
        assert_eq!(says(split)[1], "answer_within is left out: it is one tick, so 10 s");
        let given = split.replace("lease", "answer_within = \"10s\"\nlease");
        assert_eq!(says(&given).len(), 1);
    }
}
