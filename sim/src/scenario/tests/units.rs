//! Times with units.

use super::*;

fn timed(lines: &str) -> String {
    SMALLEST.replace("lease = 3", lines)
}

/// The length of a tick in ms, and the lease and the renewal period in ticks.
fn times(lines: &str) -> (u32, u8, Option<u8>) {
    let time = read(&timed(lines)).config.time;
    (time.tick_ms, time.lease, time.renew_every)
}

#[test]
fn the_tick_is_what_all_times_have_in_common() {
    assert_eq!(times("lease = \"30s\""), (30_000, 1, None));
    assert_eq!(times("lease = \"30s\"\nrenew_every = \"10s\""), (10_000, 3, Some(1)));
    assert_eq!(times("lease = \"1m 30s\"\nrenew_every = \"20 s\""), (10_000, 9, Some(2)));
    assert_eq!(times("lease = \"500ms\"\nrenew_every = \"200ms\""), (100, 5, Some(2)));
    assert_eq!(times("lease = \"61s\""), (61_000, 1, None));
    assert_eq!(times("lease = \"2h\""), (3_600_000, 2, None), "a tick is an hour at most");
    assert_eq!(times("lease = \"30s\"\nwait_limit = 0"), (30_000, 1, None), "0 is 0 in every unit");
    let text =
        timed("lease = \"30s\"\njump = \"-20s\"") + "[cluster]\nreplicas = 1\nlag = \"5s\"\n[faults]\nclock_jump = 1\n";
    let config = read(&text).config;
    assert_eq!((config.time.tick_ms, config.time.lease, config.time.jump), (5_000, 6, -4));
    assert_eq!(config.cluster.lag, Bound::Ticks(1));
}

#[test]
fn with_a_given_tick_both_ways_of_writing_times_go_together() {
    assert_eq!(times("tick_ms = 5000\nlease = \"30s\"\nrenew_every = 2"), (5_000, 6, Some(2)));
}

#[test]
fn a_time_without_a_unit_beside_others_needs_a_tick() {
    let text = timed("lease = \"30s\"\nrenew_every = 1");
    assert_eq!(codes(&text), [Code::WrongType]);
    let line = picture(&text).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(line.contains("or add tick_ms to [time]"), "{line}");
}

/// The lines of a message are broken between words.
fn one_line(text: &str) -> String {
    picture(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn times_that_make_too_many_ticks_are_refused_with_the_reason() {
    for lines in [
        "lease = \"1h\"\nrenew_every = \"1s\"",
        "lease = \"61s\"\nrenew_every = \"1s\"",
        "lease = \"0s\"\nrenew_every = \"1s\"",
    ] {
        assert_eq!(codes(&timed(lines)), [Code::OutOfBounds], "{lines}");
    }
    let says = one_line(&timed("lease = \"1h\"\nrenew_every = \"1s\""));
    assert!(says.contains("`renew_every` has too little in common with the other times"), "{says}");
    assert!(says.contains("this makes a tick 1s, and lease 3600 ticks"), "{says}");
    assert!(says.contains("choose times that have a longer one in common"), "an hour is no rounded second: {says}");
}

/// Each of the other times would be too many ticks, and none of them is wrong.
#[test]
fn one_awkward_time_is_one_problem_which_names_it() {
    let times = "lease = \"30s\"\nrenew_every = \"10s\"\nhold_at_most = \"20s\"\nwait_limit = \"7001ms\"";
    let text =
        timed(times) + "[cluster]\nreplicas = 1\nlag = \"10s\"\nfailover_within = \"60s\"\n[faults]\ncrash_node = 1\n";
    assert_eq!(codes(&text), [Code::OutOfBounds]);
    let says = one_line(&text);
    assert!(says.contains("`wait_limit` has too little in common with the other times"), "{says}");
    assert!(says.contains("this makes a tick 1ms, and failover_within 60000 ticks"), "{says}");
    assert!(says.contains("write wait_limit = \"10s\" instead of \"7s 1ms\": a tick is then 10s"), "{says}");
    // The same awkward time of two clients is still one.
    let twice = SMALLEST.replace("lease = 3", "lease = \"30s\"\nrenew_every = \"10s\"")
        + "[[client]]\nlease = \"29s 999ms\"\n[[client]]\nlease = \"29s 999ms\"\n";
    assert_eq!(codes(&twice), [Code::OutOfBounds]);
    assert!(one_line(&twice).contains("write lease = \"30s\" instead of \"29s 999ms\": a tick is then 10s"));
}

#[test]
fn times_of_which_no_single_one_is_to_blame_are_one_problem() {
    let text = timed("lease = \"30s\"\nrenew_every = \"7001ms\"\nhold_at_most = \"11003ms\"");
    assert_eq!(codes(&text), [Code::OutOfBounds]);
    let says = one_line(&text);
    assert!(says.contains("the times of this file have too little in common: a tick is 1ms"), "{says}");
    assert!(says.contains("this is 30000 ticks"), "{says}");
}

/// What no tick makes possible is named beside a time that makes the tick short.
#[test]
fn a_time_that_is_too_long_for_every_tick_is_a_problem_of_its_own() {
    let text = timed("lease = \"100h\"\nrenew_every = \"10s\"");
    assert_eq!(codes(&text), [Code::OutOfBounds]);
    assert!(one_line(&text).contains("the longest time is 60h"), "{}", one_line(&text));
    let both = timed("lease = \"100h\"\nrenew_every = \"10s\"\nwait_limit = \"1h\"");
    assert_eq!(codes(&both), [Code::OutOfBounds; 2]);
}

/// As `explain` says: the names of the library that reads them, fractions and sums.
#[test]
fn a_time_may_be_spelt_in_every_way_that_is_documented() {
    for lease in ["30s", "30sec", "30 seconds", "0.5m", "0m 30s", "30000ms"] {
        assert_eq!(times(&format!("lease = \"{lease}\"\nrenew_every = \"10s\"")), (10_000, 3, Some(1)), "{lease}");
    }
    // M is a month, and no typing mistake is taken for a minute.
    assert!(one_line(&timed("lease = \"1M\"")).contains("the longest time is 60h"));
}
