//! When a client believes that it holds: worlds whose verdict is worked out by hand.

use lockstep_model::client::Slot;
use lockstep_model::trace::{About, State};
use lockstep_model::{Action, Property, Verdict};
use lockstep_sim::check::Engine;
use lockstep_sim::recorder::{self, TraceError};
use lockstep_sim::scenario::Scenario;

use crate::{exhaust, verdict};

fn read(text: &str) -> Scenario {
    Scenario::parse("a-world", text).unwrap_or_else(|error| panic!("{}", error.report(false)))
}

/// Two clients, one node that dies and returns: `cluster` and `network` say with what, and how clients reach it.
fn restart(hold: u8, cluster: &str, network: &str) -> Scenario {
    read(&format!(
        "story = 'The only node dies and returns.'\nlock = 'reentrant'\n\
         [time]\nlease = 3\nwait_limit = 0\nhold_at_most = {hold}\n[clients]\ncount = 2\nacquires = 1\n\
         [cluster]\n{cluster}\n{network}\n[faults]\ncrash_node = 1\nrestart_node = 1\n"
    ))
}

const SPLIT: &str = "[network]\nmode = 'split'\n[protocol]\nreceipts = false\nresend = 'none'";

/// Whoever holds for 20 s at most does not believe after 40 s that it holds, also if it reaches no node to tell: with every
/// grant on the disk, or a restart after the lease, one client at a time believes.
#[test]
fn a_critical_section_ends_when_its_code_ends() {
    for cluster in ["fsync = 'always'", "restart_after = 4"] {
        let of =
            |hold, network| verdict(&exhaust(&restart(hold, cluster, network), Engine::Native), Property::OneBeliever);
        for network in ["", SPLIT] {
            for hold in [1, 2] {
                assert_eq!(of(hold, network), Verdict::Holds, "{cluster} {network}: held for {hold} ticks");
            }
        }
        // Its own lease is over before it is done: that is its own fault.
        assert_eq!(of(4, ""), Verdict::Violated, "{cluster}: held for longer than the lease");
    }
}

/// The release did not reach the node, so what is stored stays until its lease is over, and a second acquire of the same
/// thread counts two.
#[test]
fn what_a_release_in_vain_leaves_behind_ends_with_its_lease() {
    let mut scenario = restart(2, "fsync = 'always'", SPLIT);
    scenario.config.clients.acquires = Some(2);
    let outcome = exhaust(&scenario, Engine::Native);
    assert_eq!(verdict(&outcome, Property::NoOrphan), Verdict::Holds);
    assert_eq!(verdict(&outcome, Property::CountsAgree), Verdict::Violated);
    assert_eq!(verdict(&outcome, Property::OneBeliever), Verdict::Holds);
}

const LOCK: Action = Action::Acquire { client: 0, thread: 0 };
const UNLOCK: Action = Action::Release { client: 0, thread: 0 };
const EXECUTE: Action = Action::Execute { client: 0, slot: Slot::Call1 };
const ANSWER: Action = Action::Answer { client: 0, slot: Slot::Call1 };
const LOSE_REPLY: Action = Action::LoseReply { client: 0, slot: Slot::Call1 };
const ABANDON: Action = Action::Abandon { client: 0, slot: Slot::Call1 };

/// One client that may enter three times and holds for 10 s at most; a reply may be lost, which it notices after 10 s.
fn nested(actions: &[Action]) -> Result<State, TraceError> {
    let text = "story = 'Nested calls.'\nlock = 'reentrant'\n[time]\nlease = 9\nwait_limit = 0\nhold_at_most = 1\n\
                [clients]\ncount = 1\nmax_holds = 3\n[network]\nmode = 'split'\n[protocol]\nreceipts = false\n\
                resend = 'none'\n[faults]\nlose_reply = 1\n";
    let trace = recorder::record("nested", "", &read(text).config, About::Drawn, actions, "")?;
    Ok(trace.state_after(actions.len()).clone())
}

fn believes(actions: &[Action]) -> bool {
    nested(actions).expect("each action can happen").believers().next().is_some()
}

/// At its limit the code may still call `lock()` once more, and what it calls it cannot leave before the call returns. From
/// then on it only gives back: otherwise one call after the other would keep it going for ever.
#[test]
fn code_that_is_past_its_limit_enters_no_more() {
    let at_the_limit = [LOCK, EXECUTE, ANSWER, Action::Tick];
    let entering = [&at_the_limit[..], &[LOCK, EXECUTE, LOSE_REPLY, Action::Tick]].concat();
    assert!(believes(&entering), "it is inside lock()");
    let left = [&entering[..], &[ABANDON]].concat();
    assert!(believes(&left));
    for forbidden in [LOCK, Action::Tick] {
        let step = left.len() + 1;
        let tried = nested(&[&left[..], &[forbidden]].concat());
        assert_eq!(tried.err(), Some(TraceError::NotEnabled { step, action: forbidden }));
    }
    assert!(!believes(&[&left[..], &[UNLOCK]].concat()), "it has called unlock() for the last time");

    // The same where the limit passes in unlock(), which gives back one of two holds.
    let leaving = [&at_the_limit[..3], &[LOCK, EXECUTE, ANSWER, Action::Tick, UNLOCK, EXECUTE, LOSE_REPLY]].concat();
    let left = [&leaving[..], &[Action::Tick, ABANDON]].concat();
    assert!(believes(&leaving), "one hold is left");
    assert!(believes(&left));
    assert!(nested(&[&left[..], &[LOCK]].concat()).is_err());
    assert!(!believes(&[&left[..], &[UNLOCK]].concat()));
}
