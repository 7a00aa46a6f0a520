//! What a node that restarts finds on its disk, and how long a write may wait until it is there.

use lockstep_model::trace::Trace;
use lockstep_model::{Action, Config};
use lockstep_sim::recorder::TraceError;

use crate::by_hand;
use crate::by_hand::scenario_of;

const ACQUIRE: Action = Action::Acquire { client: 0, thread: 0 };
const FSYNC: Action = Action::Fsync { node: 0 };

/// One client and one node, which writes to its disk within so many ticks.
fn late_disk(fsync_within: u8) -> Config {
    let text = format!(
        "story = 'A late disk.'\nlock = 'reentrant'\n[time]\nlease = 9\nwait_limit = 0\n[clients]\ncount = 1\n\
         [cluster]\nfsync = 'everysec'\nfsync_within = {fsync_within}\n[faults]\ncrash_node = 1\nrestart_node = 1\n"
    );
    scenario_of(&text).config
}

fn record(config: &Config, actions: &[&[Action]]) -> Result<Trace, TraceError> {
    by_hand::record(config, &actions.concat())
}

fn ticks(count: u8) -> Vec<Action> {
    vec![Action::Tick; usize::from(count)]
}

/// So many ticks can pass, and not one more: then time waits for the disk.
#[test]
fn a_write_waits_for_the_disk_as_long_as_the_scenario_says() {
    for within in 0..=3 {
        let config = late_disk(within);
        assert!(record(&config, &[&[ACQUIRE], &ticks(within)]).is_ok(), "{within} ticks");
        let step = usize::from(within) + 2;
        let too_late = record(&config, &[&[ACQUIRE], &ticks(within + 1)]);
        assert_eq!(too_late.err(), Some(TraceError::NotEnabled { step, action: Action::Tick }), "{within} ticks");
        // What is on the disk is late no more.
        let written = record(&config, &[&[ACQUIRE], &ticks(within), &[FSYNC, Action::Tick]]);
        assert!(written.is_ok(), "{within} ticks: {written:?}");
    }
}

#[test]
fn a_crash_loses_what_has_waited_for_the_disk_until_then() {
    let crash = [Action::CrashNode { node: 0 }, Action::RestartNode { node: 0 }];
    for within in 0..=3 {
        let config = late_disk(within);
        let holders = |actions: &[&[Action]]| {
            let trace = record(&config, actions).expect("each action can happen");
            trace.steps.last().expect("there are steps").state.nodes[0].stored.holders.len()
        };
        assert_eq!(holders(&[&[ACQUIRE], &ticks(within), &crash]), 0, "lost after {within} ticks");
        assert_eq!(holders(&[&[ACQUIRE], &ticks(within), &[FSYNC], &crash]), 1, "kept after {within} ticks");
    }
}
