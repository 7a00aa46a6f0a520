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

#[test]
fn times_that_make_too_many_ticks_are_refused_with_the_reason() {
    for lines in [
        "lease = \"1h\"\nrenew_every = \"1s\"",
        "lease = \"61s\"\nrenew_every = \"1s\"",
        "lease = \"0s\"\nrenew_every = \"1s\"",
    ] {
        assert_eq!(codes(&timed(lines)), [Code::OutOfBounds], "{lines}");
    }
    let line = picture(&timed("lease = \"1h\"\nrenew_every = \"1s\"")).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(line.contains("this is 3600") && line.contains("a tick is 1s here"), "{line}");
}
