//! The semaphore of one permit on real servers. Same rule: `model/src/locks/semaphore.rs`.

use lockstep_model::LockKind;
use lockstep_redis::locks::semaphore::{
    self, PermitHolder, SemaphoreAcquireReply, SemaphoreReleaseReply, SemaphoreRenewReply,
};
use lockstep_redis::{Call, HolderId, Names, Scripts};
use lockstep_tests::servers::{TestServer, for_every_version_at_once, on_every_server};
use lockstep_tests::slot_cluster::SlotCluster;
use redis::{Value, cmd};

use crate::histories::random_histories_of;
use crate::kinds::{KindProofs, WrongScript};
use crate::{holder, lease};

/// What the proofs for every kind need.
pub const PROOFS: KindProofs = KindProofs {
    kind: LockKind::Semaphore,
    calls: one_call_of_each,
    reading: &[],
    wrong_scripts: &WRONG,
    scenario: |_| None,
    has_every_fault: false,
};

const QUIET: &str = "semaphore-two-clients-one-node";
const STOLEN: &str = "semaphore-clock-ahead-takes-the-permit";
const OUTLIVED: &str = "semaphore-pause-longer-than-lease";

const WRONG: [WrongScript; 11] = [
    WrongScript {
        script: "semaphore/acquire",
        rule: "taken although another holder has it",
        right: ">= permits",
        instead: "> permits",
        scenario: QUIET,
        caught_by: "reply",
    },
    WrongScript {
        script: "semaphore/acquire",
        rule: "nobody is removed whose time is over by the caller's clock",
        right: "redis.call('zremrangebyscore', lock, '-inf', now_ms - lease_ms)",
        instead: "",
        scenario: STOLEN,
        caught_by: "reply",
    },
    WrongScript {
        script: "semaphore/acquire",
        rule: "removed a moment too late",
        right: "now_ms - lease_ms)",
        instead: "now_ms - lease_ms - 1)",
        scenario: "semaphore-clock-ahead-by-a-lease",
        caught_by: "reply",
    },
    WrongScript {
        script: "semaphore/acquire",
        rule: "no TTL",
        right: "redis.call('pexpire', lock, lease_ms)",
        instead: "",
        scenario: QUIET,
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "semaphore/acquire",
        rule: "the time by which it ends is stored",
        right: "redis.call('zadd', lock, now_ms, holder)",
        instead: "redis.call('zadd', lock, now_ms + lease_ms, holder)",
        scenario: QUIET,
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "semaphore/renew",
        rule: "a lost permit is taken again",
        right: "return 0",
        instead: "",
        scenario: OUTLIVED,
        caught_by: "reply",
    },
    WrongScript {
        script: "semaphore/renew",
        rule: "the lease does not begin anew",
        right: "redis.call('pexpire', lock, lease_ms)",
        instead: "",
        scenario: QUIET,
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "semaphore/renew",
        rule: "the time of the grant stays",
        right: "redis.call('zadd', lock, now_ms, holder)",
        instead: "",
        scenario: QUIET,
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "semaphore/renew",
        rule: "nobody is removed whose time is over by the caller's clock",
        right: "redis.call('zremrangebyscore', lock, '-inf', now_ms - lease_ms)",
        instead: "",
        scenario: "semaphore-persisted-permit-is-over",
        caught_by: "reply",
    },
    WrongScript {
        script: "semaphore/release",
        rule: "the permit of any holder is given back",
        right: "return redis.call('zrem', lock, holder)",
        instead: "return redis.call('del', lock)",
        scenario: "semaphore-foreign-release",
        caught_by: "reply",
    },
    WrongScript {
        script: "semaphore/release",
        rule: "the permit is kept",
        right: "redis.call('zrem', lock, holder)",
        instead: "redis.call('zcard', lock)",
        scenario: QUIET,
        caught_by: "keys on n1",
    },
];

/// A caller with a lease of ten seconds.
fn caller(holder: &HolderId, now_ms: u64) -> PermitHolder<'_> {
    PermitHolder { holder, lease: lease(10_000), now_ms }
}

fn one_call_of_each(scripts: &Scripts) -> Vec<Call> {
    let (a, names) = (holder("A"), Names::of("semaphore"));
    vec![
        semaphore::acquire(scripts, &names, 1, caller(&a, 1000)),
        semaphore::renew(scripts, &names, caller(&a, 1000)),
        semaphore::release(scripts, &names, &a),
    ]
}

/// Asks a server for one semaphore, with times that a test names.
struct Asks<'s> {
    server: &'s TestServer,
    permits: u32,
}

impl Asks<'_> {
    fn acquire(&self, who: &str, now_ms: u64) -> SemaphoreAcquireReply {
        let (scripts, names) = (Scripts::built_in(), Names::of("lock"));
        let call = semaphore::acquire(&scripts, &names, self.permits, caller(&holder(who), now_ms));
        call.ask(&mut self.server.connect()).unwrap()
    }

    fn renew(&self, who: &str, now_ms: u64) -> SemaphoreRenewReply {
        let (scripts, names) = (Scripts::built_in(), Names::of("lock"));
        semaphore::renew(&scripts, &names, caller(&holder(who), now_ms)).ask(&mut self.server.connect()).unwrap()
    }

    fn release(&self, who: &str) -> SemaphoreReleaseReply {
        let (scripts, names) = (Scripts::built_in(), Names::of("lock"));
        semaphore::release(&scripts, &names, &holder(who)).ask(&mut self.server.connect()).unwrap()
    }
}

fn on_each(permits: u32, proof: impl Fn(Asks<'_>) + Sync) {
    on_every_server(|server| proof(Asks { server, permits }));
}

#[test]
fn a_permit_is_free_a_lease_after_its_grant_by_the_clock_of_whoever_asks() {
    on_each(1, |asks| {
        assert_eq!(asks.acquire("A", 100_000), SemaphoreAcquireReply::Acquired);
        assert_eq!(asks.acquire("B", 109_999), SemaphoreAcquireReply::Busy);
        assert_eq!(asks.acquire("B", 110_000), SemaphoreAcquireReply::Acquired);
        assert_eq!(asks.renew("A", 100_000), SemaphoreRenewReply::NotHeld);
    });
}

#[test]
fn its_own_holder_is_refused_and_a_renewal_begins_the_lease_anew() {
    on_each(1, |asks| {
        assert_eq!(asks.acquire("A", 100_000), SemaphoreAcquireReply::Acquired);
        assert_eq!(asks.acquire("A", 100_001), SemaphoreAcquireReply::Busy);
        assert_eq!(asks.renew("A", 109_999), SemaphoreRenewReply::Renewed);
        assert_eq!(asks.acquire("B", 119_998), SemaphoreAcquireReply::Busy);
    });
}

#[test]
fn a_renewal_that_is_over_by_its_own_clock_removes_itself() {
    on_each(1, |asks| {
        assert_eq!(asks.acquire("A", 100_000), SemaphoreAcquireReply::Acquired);
        assert_eq!(asks.renew("A", 110_000), SemaphoreRenewReply::NotHeld);
        assert_eq!(asks.acquire("B", 100_001), SemaphoreAcquireReply::Acquired);
    });
}

#[test]
fn a_release_gives_back_the_own_permit_only_and_once() {
    on_each(1, |asks| {
        assert_eq!(asks.acquire("A", 100_000), SemaphoreAcquireReply::Acquired);
        assert_eq!(asks.release("B"), SemaphoreReleaseReply::NotHeld);
        assert_eq!(asks.release("A"), SemaphoreReleaseReply::Released);
        assert_eq!(asks.release("A"), SemaphoreReleaseReply::NotHeld);
    });
}

/// The model has one permit; the scripts have as many as the caller says.
#[test]
fn of_two_permits_the_third_caller_gets_none() {
    on_each(2, |asks| {
        assert_eq!(asks.acquire("A", 100_000), SemaphoreAcquireReply::Acquired);
        assert_eq!(asks.acquire("B", 105_000), SemaphoreAcquireReply::Acquired);
        assert_eq!(asks.acquire("C", 109_999), SemaphoreAcquireReply::Busy);
        assert_eq!(asks.acquire("C", 110_000), SemaphoreAcquireReply::Acquired);
    });
}

#[test]
fn a_holder_of_one_of_two_permits_gets_no_second_one() {
    on_each(2, |asks| {
        assert_eq!(asks.acquire("A", 100_000), SemaphoreAcquireReply::Acquired);
        assert_eq!(asks.acquire("A", 105_000), SemaphoreAcquireReply::Acquired);
        // Its lease has begun anew.
        assert_eq!(asks.acquire("B", 114_999), SemaphoreAcquireReply::Acquired);
        assert_eq!(asks.acquire("C", 114_999), SemaphoreAcquireReply::Busy);
        assert_eq!(asks.release("A"), SemaphoreReleaseReply::Released);
        assert_eq!(asks.release("A"), SemaphoreReleaseReply::NotHeld);
    });
}

/// By the clock of the caller the other one's time is over.
#[test]
fn a_renewal_that_finds_nothing_of_its_own_removes_another_holder() {
    on_each(1, |asks| {
        assert_eq!(asks.acquire("A", 100_000), SemaphoreAcquireReply::Acquired);
        assert_eq!(asks.renew("B", 110_000), SemaphoreRenewReply::NotHeld);
        assert_eq!(asks.release("A"), SemaphoreReleaseReply::NotHeld);
    });
}

/// Its first command frees memory, and what follows it in a script passes.
#[test]
fn a_server_without_memory_grants_a_permit() {
    on_each(1, |asks| {
        asks.server.ask::<()>("CONFIG SET maxmemory 1");
        assert_eq!(asks.acquire("A", 100_000), SemaphoreAcquireReply::Acquired);
    });
}

/// It misses its key at its next command (docs/facts/cluster.md#while-a-slot-is-moved): so the model has no slot that is moved beside it.
#[test]
fn while_a_slot_is_moved_an_acquire_that_removes_the_holder_fails_and_the_removal_stays() {
    for_every_version_at_once(|server| {
        let cluster = SlotCluster::start(server, 2, false);
        let (scripts, names) = (Scripts::built_in(), Names::of("invoices"));
        let acquire =
            |who: &str, now_ms| semaphore::acquire(&scripts, &names, 1, caller(&holder(who), now_ms)).evalsha();
        let slot = names.slot().expect("its name has no braces");
        let from = cluster.master_of(slot);
        cluster.ask(from, &scripts.get("semaphore/acquire").load()).expect("it is loaded");
        assert_eq!(cluster.ask(from, &acquire("A", 100_000)), Ok(Value::Int(1)));
        cluster.begin_migration(slot, from, 1 - from);
        assert_eq!(cluster.ask(from, &acquire("B", 109_999)), Ok(Value::Int(0)));
        let failed = cluster.ask(from, &acquire("B", 110_000)).expect_err("its key is gone");
        assert!(failed.to_string().contains("non local key"), "{failed}");
        cluster.give_up_migration(slot, from, 1 - from);
        assert_eq!(cluster.ask(from, cmd("EXISTS").arg(names.lock())), Ok(Value::Int(0)));
    });
}

#[test]
fn random_histories_agree_on_every_server() {
    random_histories_of(LockKind::Semaphore);
}
