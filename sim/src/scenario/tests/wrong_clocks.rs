//! Clients whose wall clock is ahead: where that can be said, and where it is refused.

use lockstep_model::LockKind;
use lockstep_model::limits::MAX_TICKS;
use lockstep_model::locks::Facts;

use super::*;

const ONE_AHEAD: &str = "[[client]]\n[[client]]\nclock_ahead = 1\n";

/// The first kind like this, with these keys in `[time]` and these tables below its clients.
fn world(is_meant: fn(&Facts) -> bool, time: &str, rest: &str) -> String {
    let kind = LockKind::ALL.iter().find(|kind| is_meant(kind.facts())).expect("there is one").name();
    format!("story = \"s\"\nlock = \"{kind}\"\n[time]\nlease = 3\n{time}\n[clients]\ncount = 2\n{rest}")
}

fn with_queue(rest: &str) -> String {
    world(|facts| facts.queue.is_there(), "queue_wait = 5", rest)
}

#[test]
fn a_clock_can_be_ahead_where_scripts_are_told_the_time() {
    let config = read(&with_queue(ONE_AHEAD)).config;
    assert_eq!([0, 1].map(|client| config.clock_ahead_of(client)), [0, 1]);
    assert_eq!(codes(&world(|facts| !facts.caller_clock.is_read(), "", ONE_AHEAD)), [Code::Impossible]);
}

#[test]
fn a_forced_release_beside_a_queue_is_of_no_client_whose_clock_could_be_ahead() {
    let forced = "[faults]\nforce_release = 1\n";
    assert_eq!(codes(&with_queue(&format!("{ONE_AHEAD}{forced}"))), [Code::NotModelled]);
    assert_eq!(codes(&with_queue(forced)), []);
    assert_eq!(codes(&with_queue(&format!("{ONE_AHEAD}[faults]\nforce_release = 0\n"))), []);
}

#[test]
fn what_a_clock_is_ahead_counts_in_the_longest_deadline() {
    let with = |queue_wait: u8, clients: &str| {
        let text = with_queue(clients).replace("queue_wait = 5", &format!("queue_wait = {queue_wait}"));
        codes(&text.replace("count = 2", "count = 4"))
    };
    let right = "[[client]]\n".repeat(4);
    let longest =
        (1..=MAX_TICKS).take_while(|wait| with(*wait, &right).is_empty()).last().expect("one is short enough");
    let ahead = format!("{}{ONE_AHEAD}", "[[client]]\n".repeat(2)).replace("= 1", "= 4");
    assert_eq!(with(longest, &ahead), [Code::NotModelled]);
    assert_eq!(with(longest - 2, &ahead), []);
}
