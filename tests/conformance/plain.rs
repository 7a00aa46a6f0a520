//! The plain lock on real servers. Same rule: `model/src/locks/plain.rs`.

use lockstep_redis::locks::plain::{AcquireReply, ExtendReply, Plain, ReleaseReply};
use lockstep_redis::{Names, Scripts};
use lockstep_tests::servers::{Server, on_every_server};
use redis::Connection;

use crate::{holder, lease};

fn lock_on(server: &Server) -> Plain<Connection> {
    Plain::new(server.connect(), Names::of("lock"), Scripts::built_in())
}

#[test]
fn the_first_takes_it_and_the_second_is_refused() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        assert_eq!(lock.acquire(&holder("A"), lease(60_000)).unwrap(), AcquireReply::Acquired);
        assert_eq!(lock.acquire(&holder("B"), lease(90_000)).unwrap(), AcquireReply::Busy);
        assert_eq!(server.ask::<String>("GET lock"), "A:1");
        assert_eq!(server.ask::<i64>("PTTL lock"), 60_000);
    });
}

/// Re-entry is another kind of lock: here the holder waits for itself.
#[test]
fn the_holder_itself_is_refused_too_and_its_lease_stays() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        assert_eq!(lock.acquire(&holder("A"), lease(90_000)).unwrap(), AcquireReply::Busy);
        assert_eq!(server.ask::<i64>("PTTL lock"), 60_000);
    });
}

#[test]
fn only_the_holder_releases() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        assert_eq!(lock.release(&holder("B")).unwrap(), ReleaseReply::NotHeld);
        assert_eq!(server.ask::<String>("GET lock"), "A:1");
        assert_eq!(lock.release(&holder("A")).unwrap(), ReleaseReply::Released);
        assert_eq!(server.ask::<i64>("EXISTS lock"), 0);
        assert_eq!(lock.release(&holder("A")).unwrap(), ReleaseReply::NotHeld);
    });
}

/// The variant that many services run, and what it costs: B's lock is gone.
#[test]
fn a_release_by_bare_del_frees_a_lock_that_is_not_his() {
    on_every_server(|server| {
        let scripts = Scripts::built_in().replace("plain/release", "return redis.call('del', KEYS[1])");
        let mut lock = Plain::new(server.connect(), Names::of("lock"), scripts);
        lock.acquire(&holder("B"), lease(60_000)).unwrap();
        assert_eq!(lock.release(&holder("A")).unwrap(), ReleaseReply::Released);
        assert_eq!(lock.acquire(&holder("C"), lease(60_000)).unwrap(), AcquireReply::Acquired);
    });
}

#[test]
fn only_the_holder_extends_and_the_lease_begins_anew() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        lock.acquire(&holder("A"), lease(60_000)).unwrap();
        assert_eq!(lock.extend(&holder("B"), lease(90_000)).unwrap(), ExtendReply::NotHeld);
        assert_eq!(server.ask::<i64>("PTTL lock"), 60_000);
        assert_eq!(lock.extend(&holder("A"), lease(90_000)).unwrap(), ExtendReply::Extended);
        assert_eq!(server.ask::<i64>("PTTL lock"), 90_000);
    });
}

#[test]
fn extending_a_lost_lock_does_not_bring_it_back() {
    on_every_server(|server| {
        assert_eq!(lock_on(server).extend(&holder("A"), lease(60_000)).unwrap(), ExtendReply::NotHeld);
        assert_eq!(server.ask::<i64>("EXISTS lock"), 0);
    });
}
