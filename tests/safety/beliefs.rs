//! When a client believes that it holds: worlds whose verdict is worked out by hand.

use lockstep_model::{Property, Verdict};
use lockstep_sim::check::Engine;
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
