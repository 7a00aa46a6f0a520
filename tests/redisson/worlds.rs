//! Worlds in which the replay once differed from Redisson, or failed, each with a seed that led there.

use lockstep_sim::scenario::Scenario;

use crate::scenarios::{built_in, random_histories, version_of};
use crate::switches::at_once;

const HISTORIES: u32 = 12;

/// One thread on a split network, beside a replica.
const BESIDE_REPLICA: &str = "[time]\nlease = 3\nwait_limit = 0\nhold_at_most = 2\n[clients]\ncount = 1\nacquires = 2\n[cluster]\nreplicas = 1\n\
     [network]\nmode = \"split\"\n";

const INTERRUPTED_AT_TIME_OUT: &str = "[time]\nlease = 3\nhold_at_most = 1\nwait_limit = 3\nanswer_within = 1\n[clients]\ncount = 2\n\
     acquires = 2\n[network]\nmode = \"split\"\ndelay = 1\n[faults]\nlose_reply = 1\ninterrupt = 1";

struct RandomWorld {
    scenario: Scenario,
    seed: u64,
    /// A reason for which a history of it is not followed to its end.
    left: Option<&'static str>,
}

fn worlds() -> Vec<RandomWorld> {
    let of = |name, text: &str, seed, left| {
        let text = format!("story = \"s\"\nlock = \"reentrant\"\n{text}");
        let scenario = Scenario::parse(name, &text).unwrap_or_else(|error| panic!("{error}"));
        RandomWorld { scenario, seed, left }
    };
    let built_in = |name, seed, left| RandomWorld { scenario: built_in(name), seed, left };
    vec![
        of(
            "a-later-ask-is-not-answered",
            "[time]\nlease = 3\nhold_at_most = 1\nwait_limit = 3\nanswer_within = 1\n[clients]\ncount = 2\nacquires = 1\n\
             [network]\nmode = \"split\"\ndelay = 0\n[faults]\nlose_reply = 1",
            5,
            None,
        ),
        of(
            "a-late-request-beside-a-replica",
            &format!("{BESIDE_REPLICA}delay = \"any\"\n[protocol]\nresend = \"all\""),
            1,
            None,
        ),
        of(
            "a-master-stands-still-before-it-is-asked",
            &format!("{BESIDE_REPLICA}[protocol]\nresend = \"all\"\n[faults]\npause_node = 1"),
            1,
            Some("the server that Redisson asks about its replicas stands still"),
        ),
        of(
            "a-forced-release-while-a-grant-waits",
            "[time]\nlease = 3\nwait_limit = 0\n[clients]\ncount = 1\n[cluster]\nreplicas = 1\nlag = 0\nwait_for = 1\n[faults]\n\
             force_release = 1",
            1,
            Some("Redisson sends two requests over its one connection in another order than the history"),
        ),
        of(
            "an-expired-lock-is-released-and-waited-for",
            "[time]\nlease = 2\nhold_at_most = 4\nwait_limit = 0\n[clients]\ncount = 1\nmax_holds = 2\nacquires = 3\n[cluster]\n\
             replicas = 1\nwait_for = 1\n[network]\nmode = \"split\"\n[protocol]\nwait_after = \"every-call\"\nresend = \"all\"",
            2,
            None,
        ),
        of(
            "an-acquire-of-2021-is-sent-again",
            "[time]\nlease = 3\nhold_at_most = 1\nwait_limit = 0\nanswer_within = 1\n[clients]\ncount = 2\nacquires = 1\n[network]\n\
             mode = \"split\"\ndelay = 0\n[protocol]\nprofile = \"redisson-3.15\"\n[faults]\nlose_reply = 1",
            1,
            Some("Redisson of 2021 sends an acquire again that is not answered in time"),
        ),
        of(
            "a-caller-is-interrupted-at-its-time-out",
            INTERRUPTED_AT_TIME_OUT,
            10,
            Some(
                "at the very instant of its time-out a caller is interrupted here, and in Redisson its call has timed out",
            ),
        ),
        of(
            "a-master-is-demoted-before-it-is-asked-to-wait",
            "[time]\nlease = 3\nhold_at_most = 1\nwait_limit = 3\nanswer_within = 1\n[clients]\ncount = 2\nacquires = 1\n\
             [cluster]\nreplicas = 1\nlag = 0\n[network]\nmode = \"split\"\ndelay = 0\n[protocol]\nresend = \"all\"\n\
             refused_call = \"retry\"\n[faults]\nhand_over = 1\nlose_reply = 1",
            1,
            Some("a server that has become a replica answers a WAIT with an error, and the call throws"),
        ),
        of("an-interrupted-release-is-executed-late", INTERRUPTED_AT_TIME_OUT, 3, None),
        of("a-call-is-answered-late-at-its-time-out", INTERRUPTED_AT_TIME_OUT, 37, None),
        built_in("evicted-receipt-and-no-resend", 2, None),
        built_in(
            "hand-over-waits-for-the-replica",
            1,
            Some("a waiter of Redisson asks while no server answers, and its call fails"),
        ),
        of(
            "a-renewal-is-due-when-an-unanswered-release-ends-its-hold",
            "[time]\nlease = 3\nrenew_every = 1\nhold_at_most = 1\nwait_limit = 3\nanswer_within = 1\n[clients]\ncount = 2\n\
             acquires = 1\n[network]\nmode = \"split\"\n[protocol]\nprofile = \"redisson-3.43\"\n[faults]\nlose_reply = 1",
            5,
            None,
        ),
        of(
            "a-wall-clock-jumps-while-a-caller-sleeps",
            "[time]\ntick_ms = 5000\nlease = \"20s\"\nwait_limit = \"15s\"\nhold_at_most = \"15s\"\njump = \"10s\"\n[clients]\ncount = 2\n\
             acquires = 2\n[faults]\nclient_clock_jump = 1",
            6,
            Some("a caller of Redisson looks at its wall clock once it has slept"),
        ),
        built_in("fsync-keeps-the-grant", 39, None),
        built_in("failover-of-half-a-renewal-period", 6, None),
    ]
}

#[test]
fn worlds_in_which_redisson_once_differed_are_followed_or_left_for_a_reason() {
    at_once(&worlds(), |RandomWorld { scenario, seed, left }| {
        let name = &scenario.name;
        let found = random_histories(scenario, version_of(&scenario.config), HISTORIES, *seed);
        assert_eq!(found.counterexample.map(|(_, difference)| difference), None, "{name}");
        assert!(found.left < found.cases, "{name}: {:?}", found.ends);
        assert!(left.is_none_or(|left| found.ends.contains_key(left)), "{name}: {:?}", found.ends);
    });
}
