//! What the renewal of a reader renews, step by step: histories that are worked out by hand
//! (docs/facts/family.md#older-versions-of-the-read-write-lock).

use lockstep_model::trace::{KeySlot, State};
use lockstep_model::{Action, Config, Reply};

use crate::by_hand::{history, last, last_answer, scenario_of};

const WRITER: u8 = 0;
const READER: u8 = 1;

const fn reads(client: u8) -> Action {
    Action::Acquire { client, thread: READER }
}

/// Clients that write and read with this rule.
fn world(read_renewal: &str) -> Config {
    scenario_of(&format!(
        "story = 'Readers.'\nlock = 'read-write'\n[time]\nlease = 3\nrenew_every = 1\n[clients]\ncount = 2\nthreads = 2\nmax_holds \
         = 2\n[protocol]\nread_renewal = '{read_renewal}'\n"
    ))
    .config
}

/// Of each hold of this client on the master, the ticks until it is over.
fn holds_of(state: &State, client: u8) -> Vec<u64> {
    let keys = state.nodes[0].stored.keys.iter();
    let of = |slot: &KeySlot| matches!(slot, KeySlot::Hold { holder, .. } if holder.client() == client);
    keys.filter(|key| of(&key.slot)).filter_map(|key| key.ttl_ms).map(|ms| ms / 10_000).collect()
}

/// These enter, time passes, and the watchdog of client 0 renews: its answer, the ticks of the lock, and those of the holds of both.
fn renewed_after(read_renewal: &str, enter: &[Action]) -> (Reply, Option<u64>, [Vec<u64>; 2]) {
    let config = world(read_renewal);
    let trace = history(&config, &[enter, &[Action::Tick, Action::Renew { client: 0 }]].concat());
    let state = last(&trace);
    let lock = state.nodes[0].stored.keys.iter().find(|key| key.slot == KeySlot::Lock);
    let ticks = lock.and_then(|key| key.ttl_ms).map(|ms| ms / 10_000);
    (last_answer(&trace), ticks, [0, 1].map(|client| holds_of(state, client)))
}

#[test]
fn a_reader_renews_its_own_holds_or_those_of_all() {
    let enter = [reads(0), reads(1)];
    assert_eq!(renewed_after("own-holds", &enter), (Reply::Renewed, Some(3), [vec![3], vec![2]]));
    assert_eq!(renewed_after("all-holds", &enter), (Reply::Renewed, Some(3), [vec![3], vec![3]]));
    assert_eq!(renewed_after("fails-nested", &enter), (Reply::Renewed, Some(3), [vec![3], vec![3]]));
    let nested = [reads(1), reads(0), reads(0)];
    assert_eq!(renewed_after("all-holds", &nested), (Reply::Renewed, Some(3), [vec![3, 3], vec![3]]));
}

#[test]
fn the_renewal_of_3_52_fails_at_the_first_who_has_entered_twice() {
    let renewed = |enter: &[Action]| renewed_after("fails-nested", enter);
    let failed = |own: &[u64], other: &[u64]| (Reply::RenewalFailed, Some(3), [own.to_vec(), other.to_vec()]);
    assert_eq!(renewed(&[reads(0), reads(0)]), failed(&[2, 2], &[]));
    assert_eq!(renewed(&[reads(0), reads(0), reads(1)]), failed(&[2, 2], &[2]), "it does not come to the other one");
    assert_eq!(renewed(&[reads(1), reads(0), reads(0)]), failed(&[2, 2], &[3]), "the other one comes first");
    assert_eq!(renewed(&[reads(1), reads(0), reads(1)]), failed(&[2], &[2, 2]), "it fails at somebody else's");
    // Who leaves and comes back is the last in the hash.
    let leaves = Action::Release { client: 1, thread: READER };
    assert_eq!(renewed(&[reads(1), reads(0), leaves, reads(1), reads(1)]), failed(&[3], &[2, 2]));
    assert_eq!(renewed(&[reads(1), reads(0), leaves, reads(1), reads(0)]), failed(&[2, 2], &[2]));
}

/// Its field is there before anybody reads inside it. Of both sides of the client the timer of the writer fires first.
#[test]
fn a_writer_who_has_entered_twice_makes_the_renewal_of_its_reads_fail() {
    let writes = Action::Acquire { client: 0, thread: WRITER };
    let config = world("fails-nested");
    let renew = Action::Renew { client: 0 };
    let trace = history(&config, &[writes, writes, reads(0), Action::Tick, renew, renew]);
    let answers: Vec<_> = trace.steps.iter().rev().take(2).map(|step| step.answer).collect();
    assert_eq!(answers, [Reply::RenewalFailed, Reply::Renewed]);
    assert_eq!(holds_of(last(&trace), 0), [2]);
}

/// The client tries again after a period, also where others have left by then.
#[test]
fn after_a_renewal_that_failed_the_watchdog_tries_again() {
    let config = world("fails-nested");
    let renew = Action::Renew { client: 0 };
    let begin = [reads(0), reads(0), Action::Tick, renew];
    let release = Action::Release { client: 0, thread: READER };
    let trace = history(&config, &[&begin[..], &[release, Action::Tick, renew]].concat());
    assert_eq!(last_answer(&trace), Reply::Renewed);
    assert_eq!(holds_of(last(&trace), 0), [3]);
}
