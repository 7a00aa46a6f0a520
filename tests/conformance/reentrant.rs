//! The re-entrant lock on real servers. Same rule: `model/src/locks/reentrant.rs`.

use std::collections::BTreeMap;

use lockstep_redis::locks::reentrant::{self, AcquireReply, ForceReleaseReply, Reentrant, ReleaseReply, RenewReply};
use lockstep_redis::{Holder, Names, Receipt, Scripts};
use lockstep_tests::servers::{Server, on_every_server};
use redis::Connection;

use crate::{holder, lease};

const CHANNEL: &str = "redisson_lock__channel:{lock}";

fn lock_on(server: &Server) -> Reentrant<Connection> {
    Reentrant::new(server.connect(), Names::of("lock"), Scripts::built_in())
}

/// One release as it goes over the wire, so that it can be sent twice and its receipt be seen.
fn send_release(server: &Server, holder: &Holder, lease_ms: u64, release_id: &str) -> ReleaseReply {
    let receipt = Receipt::new(release_id, lease(20_000));
    let call = reentrant::release(&Scripts::built_in(), &Names::of("lock"), holder, lease(lease_ms), &receipt);
    call.ask(&mut server.connect()).unwrap()
}

fn receipt_of(server: &Server, release_id: &str) -> Option<String> {
    server.ask(&format!("GET redisson_unlock_latch:{{lock}}:{release_id}"))
}

fn holds(holder: &str, count: i64) -> BTreeMap<String, i64> {
    BTreeMap::from([(holder.to_owned(), count)])
}

#[test]
fn a_free_lock_is_taken_with_one_hold_and_its_lease() {
    on_every_server(|server| {
        assert_eq!(lock_on(server).acquire(&holder("A"), lease(60_000)).unwrap(), AcquireReply::Acquired);
        assert_eq!(server.fields("lock"), holds("A:1", 1));
        assert_eq!(server.ask::<i64>("PTTL lock"), 60_000);
    });
}

/// Shorter or longer: the last lease counts, not the longest.
#[test]
fn entering_again_counts_and_begins_the_lease_anew() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        for (count, lease_ms) in [(1, 60_000), (2, 90_000), (3, 30_000)] {
            assert_eq!(lock.acquire(&holder("A"), lease(lease_ms)).unwrap(), AcquireReply::Acquired);
            assert_eq!(server.fields("lock"), holds("A:1", count));
            assert_eq!(server.ask::<i64>("PTTL lock"), lease_ms.cast_signed());
        }
    });
}

#[test]
fn somebody_else_is_told_how_long_the_lease_in_the_way_lives() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        for stranger in [holder("B"), Holder::new("A", 2)] {
            let reply = lock.acquire(&stranger, lease(90_000)).unwrap();
            let AcquireReply::Busy { ttl_ms } = reply else { panic!("{stranger}: {reply:?}") };
            assert_eq!(ttl_ms, 60_000);
        }
        assert_eq!(server.fields("lock"), holds("A:1", 1));
        assert_eq!(server.ask::<i64>("PTTL lock"), 60_000);
    });
}

/// What a waiter would wait for: nothing but the unlock message.
#[test]
fn a_lock_without_a_lease_is_busy_with_no_end() {
    on_every_server(|server| {
        server.ask::<()>("HSET lock A:1 1");
        assert_eq!(lock_on(server).acquire(&holder("B"), lease(60_000)).unwrap(), AcquireReply::Busy { ttl_ms: -1 });
    });
}

#[test]
fn a_lease_that_ran_out_leaves_the_lock_to_the_next_and_says_nothing() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        let mut listener = server.listen(CHANNEL);
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        server.wait_ms(60_000);
        assert_eq!(lock.acquire(&holder("B"), lease(60_000)).unwrap(), AcquireReply::Busy { ttl_ms: 0 });
        server.wait_ms(1);
        assert_eq!(lock.acquire(&holder("B"), lease(60_000)).unwrap(), AcquireReply::Acquired);
        assert_eq!(server.fields("lock"), holds("B:1", 1));
        assert_eq!(listener.heard(), [""; 0]);
    });
}

#[test]
fn a_release_of_one_hold_of_two_keeps_the_lock_and_begins_the_lease_anew() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        let mut listener = server.listen(CHANNEL);
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        assert_eq!(send_release(server, &holder("A"), 90_000, "r1"), ReleaseReply::StillHeld);
        assert_eq!(server.fields("lock"), holds("A:1", 1));
        assert_eq!(server.ask::<i64>("PTTL lock"), 90_000);
        assert_eq!(receipt_of(server, "r1").as_deref(), Some("0"));
        assert_eq!(listener.heard(), [""; 0]);
    });
}

#[test]
fn the_last_release_frees_the_lock_and_wakes_a_waiter() {
    on_every_server(|server| {
        let mut listener = server.listen(CHANNEL);
        lock_on(server).acquire(&holder("A"), lease(60_000)).unwrap();
        assert_eq!(send_release(server, &holder("A"), 60_000, "r1"), ReleaseReply::Released);
        assert_eq!(server.ask::<i64>("EXISTS lock"), 0);
        assert_eq!(listener.heard(), ["0"]);
        assert_eq!(receipt_of(server, "r1").as_deref(), Some("1"));
        assert_eq!(server.ask::<i64>("PTTL redisson_unlock_latch:{lock}:r1"), 20_000);
    });
}

/// A lost reply, a second try: the second hold must survive it.
#[test]
fn a_release_sent_again_takes_back_one_hold_only() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        assert_eq!(send_release(server, &holder("A"), 60_000, "r1"), ReleaseReply::StillHeld);
        assert_eq!(send_release(server, &holder("A"), 60_000, "r1"), ReleaseReply::StillHeld);
        assert_eq!(server.fields("lock"), holds("A:1", 1));
    });
}

/// The lock has moved on meanwhile, even to the same holder: the old release is over.
#[test]
fn a_last_release_sent_again_leaves_the_next_grant_alone() {
    on_every_server(|server| {
        for next in ["B", "A"] {
            let mut lock = lock_on(server);
            let mut listener = server.listen(CHANNEL);
            let release_id = format!("before-{next}");
            lock.acquire(&holder("A"), lease(60_000)).unwrap();
            assert_eq!(send_release(server, &holder("A"), 60_000, &release_id), ReleaseReply::Released);
            lock.acquire(&holder(next), lease(60_000)).unwrap();
            assert_eq!(send_release(server, &holder("A"), 60_000, &release_id), ReleaseReply::Released);
            assert_eq!(server.fields("lock"), holds(&format!("{next}:1"), 1));
            assert_eq!(listener.heard(), ["0"]);
            lock.force_release().unwrap();
        }
    });
}

/// Redisson 3.15, and why receipts came: one release, sent twice, gives both holds away.
#[test]
fn without_a_receipt_a_release_sent_again_takes_back_another_hold() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        let mut listener = server.listen(CHANNEL);
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        let call =
            reentrant::release_without_receipt(&Scripts::built_in(), &Names::of("lock"), &holder("A"), lease(90_000));
        let send = || -> ReleaseReply { call.ask(&mut server.connect()).unwrap() };
        assert_eq!(send(), ReleaseReply::StillHeld);
        assert_eq!(server.ask::<i64>("PTTL lock"), 90_000);
        assert_eq!(send(), ReleaseReply::Released);
        assert_eq!(send(), ReleaseReply::NotHeld);
        assert_eq!(listener.heard(), ["0"]);
        assert_eq!(server.ask::<i64>("DBSIZE"), 0);
    });
}

#[test]
fn a_foreign_release_changes_nothing_and_leaves_no_receipt() {
    on_every_server(|server| {
        let mut listener = server.listen(CHANNEL);
        lock_on(server).acquire(&holder("A"), lease(60_000)).unwrap();
        assert_eq!(send_release(server, &holder("B"), 90_000, "r1"), ReleaseReply::NotHeld);
        assert_eq!(server.fields("lock"), holds("A:1", 1));
        assert_eq!(server.ask::<i64>("PTTL lock"), 60_000);
        assert_eq!(receipt_of(server, "r1"), None);
        assert_eq!(listener.heard(), [""; 0]);
    });
}

#[test]
fn the_client_drops_the_receipt_once_it_has_the_reply() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        let receipt = Receipt::new("r1", Receipt::LEASE);
        assert_eq!(lock.release(&holder("A"), lease(60_000), &receipt).unwrap(), ReleaseReply::Released);
        assert_eq!(server.ask::<i64>("DBSIZE"), 0);
    });
}

#[test]
fn renewing_begins_the_lease_anew_and_counts_nothing() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        assert_eq!(lock.renew(&holder("A"), lease(90_000)).unwrap(), RenewReply::Renewed);
        assert_eq!(server.fields("lock"), holds("A:1", 1));
        assert_eq!(server.ask::<i64>("PTTL lock"), 90_000);
    });
}

#[test]
fn renewing_a_lost_lock_does_not_bring_it_back() {
    on_every_server(|server| {
        assert_eq!(lock_on(server).renew(&holder("A"), lease(60_000)).unwrap(), RenewReply::NotHeld);
        assert_eq!(server.ask::<i64>("EXISTS lock"), 0);
    });
}

/// One lost lock must not cost the others their lease.
#[test]
fn a_batch_is_answered_lock_by_lock_in_its_order() {
    on_every_server(|server| {
        let scripts = Scripts::built_in();
        let (a, b) = (holder("A"), holder("B"));
        let mine = [Names::of("first"), Names::of("lost"), Names::of("taken"), Names::of("last")];
        for (names, holder) in [(&mine[0], &a), (&mine[2], &b), (&mine[3], &a)] {
            reentrant::acquire(&scripts, names, holder, lease(60_000)).run(&mut server.connect()).unwrap();
        }
        let call = reentrant::renew(&scripts, mine.iter().map(|names| (names, &a)), lease(90_000));
        let replies: Vec<RenewReply> = call.ask(&mut server.connect()).unwrap();
        assert_eq!(replies, [RenewReply::Renewed, RenewReply::NotHeld, RenewReply::NotHeld, RenewReply::Renewed]);
        assert_eq!(server.ask::<i64>("PTTL first"), 90_000);
        assert_eq!(server.ask::<i64>("PTTL taken"), 60_000);
        assert_eq!(server.ask::<i64>("PTTL last"), 90_000);
        assert_eq!(server.ask::<i64>("EXISTS lost"), 0);
    });
}

#[test]
fn a_forced_release_frees_the_lock_of_anybody_and_wakes_a_waiter() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        let mut listener = server.listen(CHANNEL);
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        assert_eq!(lock.force_release().unwrap(), ForceReleaseReply::Released);
        assert_eq!(server.ask::<i64>("EXISTS lock"), 0);
        assert_eq!(lock.force_release().unwrap(), ForceReleaseReply::WasFree);
        assert_eq!(listener.heard(), ["0"]);
    });
}
