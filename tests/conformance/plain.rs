//! The plain lock on real servers. Same rule: `model/src/locks/plain.rs`.

use lockstep_model::LockKind;
use lockstep_redis::locks::plain::{self, PlainAcquireReply, PlainExtendReply, PlainLock, PlainReleaseReply};
use lockstep_redis::{Call, HoldValue, Names, Scripts};
use lockstep_sim::replay::ServerConnection;
use lockstep_sim::scenario::Scenario;
use lockstep_tests::servers::{TestServer, on_every_server};

use crate::histories::{builtin_scenario, random_histories_of};
use crate::kinds::{KindProofs, WrongScript};
use crate::{holder, lease};

/// What the proofs for every kind need.
pub const PROOFS: KindProofs = KindProofs {
    kind: LockKind::Plain,
    calls: one_call_of_each,
    reading: &[],
    wrong_scripts: &WRONG,
    scenario: variant_of_a_scenario,
    has_every_fault: false,
};

const WRONG: [WrongScript; 21] = [
    WrongScript {
        script: "plain/acquire",
        rule: "taken although it is held",
        right: "'nx', ",
        instead: "",
        scenario: "plain-two-clients-one-node",
        caught_by: "reply",
    },
    WrongScript {
        script: "plain/acquire",
        rule: "no TTL",
        right: ", 'px', lease_ms",
        instead: "",
        scenario: "plain-two-clients-one-node",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "plain/extend",
        rule: "extended for any caller",
        right: "if not is_mine then",
        instead: "if redis.call('exists', lock) == 0 then",
        scenario: "missed-renewal",
        caught_by: "reply",
    },
    WrongScript {
        script: "plain/extend",
        rule: "a lost lock is created again",
        right: "if not is_mine then\n  return 0\nend",
        instead: "if not is_mine then\n  redis.call('set', lock, value)\nend",
        scenario: "missed-renewal",
        caught_by: "reply",
    },
    WrongScript {
        script: "plain/extend",
        rule: "the lease is not extended",
        right: "redis.call('pexpire', lock, lease_ms)",
        instead: "",
        scenario: "plain-two-clients-one-node",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "plain/release",
        rule: "an unconditional DEL",
        right: "if not is_mine then",
        instead: "if false then",
        scenario: "plain-foreign-release",
        caught_by: "reply",
    },
    WrongScript {
        script: "plain/release",
        rule: "nothing is deleted",
        right: "redis.call('del', lock)",
        instead: "",
        scenario: "plain-foreign-release",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "plain/setnx",
        rule: "taken although it is held",
        right: "redis.call('setnx', KEYS[1], ARGV[1]) == 0",
        instead: "redis.call('set', KEYS[1], ARGV[1]) == 0",
        scenario: "plain-setnx-then-expire",
        caught_by: "reply",
    },
    WrongScript {
        script: "plain/setnx",
        rule: "taken with a TTL at once",
        right: "return redis.status_reply('OK')",
        instead: "redis.call('pexpire', KEYS[1], 30000)\nreturn redis.status_reply('OK')",
        scenario: "plain-setnx-then-expire",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "plain/expire",
        rule: "no TTL is set",
        right: "redis.call('pexpire', KEYS[1], ARGV[1])",
        instead: "redis.call('exists', KEYS[1])",
        scenario: "plain-setnx-then-expire",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "plain/expire",
        rule: "a lock that is not there is told to have a TTL",
        right: "return redis.call('pexpire', KEYS[1], ARGV[1])",
        instead: "redis.call('pexpire', KEYS[1], ARGV[1])\nreturn 1",
        scenario: "plain-late-expire-meets-another-lock",
        caught_by: "reply",
    },
    WrongScript {
        script: "plain/delete",
        rule: "nothing is deleted",
        right: "redis.call('del', KEYS[1])",
        instead: "redis.call('exists', KEYS[1])",
        scenario: "plain-release-by-delete",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "plain/delete",
        rule: "a release of nothing is told to have released",
        right: "return redis.call('del', KEYS[1])",
        instead: "redis.call('del', KEYS[1])\nreturn 1",
        scenario: "plain-release-by-delete",
        caught_by: "reply",
    },
    WrongScript {
        script: "plain/release",
        rule: "a late release frees the next lock of its own thread",
        right: "redis.call('get', lock) == value",
        instead: "(redis.call('get', lock) or ''):match('^%w+:%d+') == value:match('^%w+:%d+')",
        scenario: "late-release",
        caught_by: "reply",
    },
    WrongScript {
        script: "plain/acquire_own_or_free",
        rule: "taken although it is held",
        right: "if stored then",
        instead: "if false then",
        scenario: "plain-resent-acquire-finds-its-own-value",
        caught_by: "reply",
    },
    WrongScript {
        script: "plain/acquire_own_or_free",
        rule: "its own value is refused",
        right: "if stored == value then",
        instead: "if false then",
        scenario: "plain-resent-acquire-finds-its-own-value",
        caught_by: "reply",
    },
    WrongScript {
        script: "plain/acquire_own_or_free",
        rule: "the lease of the own value does not begin anew",
        right: "redis.call('pexpire', lock, lease_ms)",
        instead: "",
        scenario: "plain-resent-acquire-finds-its-own-value",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "plain/acquire_own_or_free",
        rule: "no TTL",
        right: "value, 'px', lease_ms",
        instead: "value",
        scenario: "plain-resent-acquire-finds-its-own-value",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "plain/overwrite",
        rule: "the value is not stored",
        right: "redis.call('set', lock, value, 'xx', 'px', lease_ms) and 1 or 0",
        instead: "redis.call('pexpire', lock, lease_ms)",
        scenario: "plain-late-extension-takes-the-next-lock",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "plain/overwrite",
        rule: "a lost lock is created again",
        right: "'xx', ",
        instead: "",
        scenario: "plain-late-extension-takes-the-next-lock",
        caught_by: "reply",
    },
    WrongScript {
        script: "plain/extend",
        rule: "a late renewal extends the next lock of its own thread",
        right: "redis.call('get', lock) == value",
        instead: "(redis.call('get', lock) or ''):match('^%w+:%d+') == value:match('^%w+:%d+')",
        scenario: "late-renewal",
        caught_by: "reply",
    },
];

fn one_call_of_each(scripts: &Scripts) -> Vec<Call> {
    let (a, ten_seconds, names) = (value("A"), lease(10_000), Names::of("plain"));
    vec![
        plain::acquire(scripts, &names, &a, ten_seconds),
        plain::acquire_own_or_free(scripts, &names, &a, ten_seconds),
        plain::extend(scripts, &names, &a, ten_seconds),
        plain::overwrite(scripts, &names, &a, ten_seconds),
        plain::release(scripts, &names, &a),
        plain::delete(scripts, &names),
        plain::acquire_without_ttl(scripts, &names, &a),
        plain::set_ttl(scripts, &names, ten_seconds),
    ]
}

/// Variants of built-in scenarios, with this lock: `missed-renewal`; and `late-renewal` and `late-release`, in which a request
/// that is on its way meets the next acquire of its own thread, with one client that meets it often.
fn variant_of_a_scenario(name: &str) -> Option<Scenario> {
    let (original, count, acquires) = match name {
        "missed-renewal" => ("missed-renewal-of-2026", 2, None),
        "late-renewal" => ("late-renewal-after-release", 1, Some(4)),
        "late-release" => ("plain-late-release-meets-another-value", 1, Some(4)),
        _ => return None,
    };
    let mut scenario = builtin_scenario(original);
    scenario.config.lock = LockKind::Plain;
    scenario.config.clients.count = count;
    scenario.config.clients.acquires = acquires;
    Some(scenario)
}

#[test]
fn random_histories_of_the_plain_lock_agree_on_every_server() {
    random_histories_of(LockKind::Plain);
}

/// The value of the first acquire of a client.
fn value(client: &str) -> HoldValue {
    HoldValue::of_acquire(&holder(client), 1)
}

fn lock_on(server: &TestServer) -> PlainLock<ServerConnection> {
    PlainLock::new(server.connect(), Names::of("lock"), Scripts::built_in())
}

#[test]
fn the_first_takes_it_and_the_second_is_refused() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        assert_eq!(lock.acquire(&value("A"), lease(60_000)).unwrap(), PlainAcquireReply::Acquired);
        assert_eq!(lock.acquire(&value("B"), lease(90_000)).unwrap(), PlainAcquireReply::Busy);
        assert_eq!(server.ask::<String>("GET lock"), "A:1:1");
        assert_eq!(server.ask::<i64>("PTTL lock"), 60_000);
    });
}

/// Re-entry belongs to another kind of lock: here a holder that asks again waits for itself.
#[test]
fn the_holder_is_refused_too_and_its_lease_does_not_change() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        lock.acquire(&value("A"), lease(60_000)).unwrap();
        assert_eq!(lock.acquire(&value("A"), lease(90_000)).unwrap(), PlainAcquireReply::Busy);
        assert_eq!(server.ask::<i64>("PTTL lock"), 60_000);
    });
}

#[test]
fn only_the_holder_releases() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        lock.acquire(&value("A"), lease(60_000)).unwrap();
        assert_eq!(lock.release(&value("B")).unwrap(), PlainReleaseReply::NotHeld);
        assert_eq!(server.ask::<String>("GET lock"), "A:1:1");
        assert_eq!(lock.release(&value("A")).unwrap(), PlainReleaseReply::Released);
        assert_eq!(server.ask::<i64>("EXISTS lock"), 0);
        assert_eq!(lock.release(&value("A")).unwrap(), PlainReleaseReply::NotHeld);
    });
}

/// Many services release like this, and it deletes the lock of another holder.
#[test]
fn a_release_by_del_alone_frees_the_lock_of_another_holder() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        let mut connection = server.connect();
        let mut delete = || {
            plain::delete(&Scripts::built_in(), &Names::of("lock")).ask::<PlainReleaseReply>(&mut connection).unwrap()
        };
        lock.acquire(&value("B"), lease(60_000)).unwrap();
        assert_eq!(delete(), PlainReleaseReply::Released);
        assert_eq!(delete(), PlainReleaseReply::NotHeld);
        assert_eq!(lock.acquire(&value("C"), lease(60_000)).unwrap(), PlainAcquireReply::Acquired);
    });
}

#[test]
fn only_the_holder_extends_and_the_lease_is_whole_again() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        lock.acquire(&value("A"), lease(60_000)).unwrap();
        assert_eq!(lock.extend(&value("B"), lease(90_000)).unwrap(), PlainExtendReply::NotHeld);
        assert_eq!(server.ask::<i64>("PTTL lock"), 60_000);
        assert_eq!(lock.extend(&value("A"), lease(90_000)).unwrap(), PlainExtendReply::Extended);
        assert_eq!(server.ask::<i64>("PTTL lock"), 90_000);
    });
}

#[test]
fn extending_a_lost_lock_does_not_create_it() {
    on_every_server(|server| {
        assert_eq!(lock_on(server).extend(&value("A"), lease(60_000)).unwrap(), PlainExtendReply::NotHeld);
        assert_eq!(server.ask::<i64>("EXISTS lock"), 0);
    });
}

/// The Redis documentation's reason for a value per acquire: the release of a hold that is over must not end the next one.
#[test]
fn a_late_release_or_renewal_of_an_earlier_acquire_changes_nothing() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        let [earlier, later] = [1, 2].map(|number| HoldValue::of_acquire(&holder("A"), number));
        lock.acquire(&earlier, lease(60_000)).unwrap();
        lock.release(&earlier).unwrap();
        lock.acquire(&later, lease(60_000)).unwrap();
        assert_eq!(lock.extend(&earlier, lease(90_000)).unwrap(), PlainExtendReply::NotHeld);
        assert_eq!(lock.release(&earlier).unwrap(), PlainReleaseReply::NotHeld);
        assert_eq!(server.ask::<String>("GET lock"), "A:1:2");
        assert_eq!(server.ask::<i64>("PTTL lock"), 60_000);
        assert_eq!(lock.release(&later).unwrap(), PlainReleaseReply::Released);
    });
}

/// What happens otherwise: one value for all acquires of a thread.
#[test]
fn with_one_value_per_client_a_late_release_frees_the_next_lock() {
    on_every_server(|server| {
        let mut lock = lock_on(server);
        let of_all = HoldValue::of_holder(&holder("A"));
        lock.acquire(&of_all, lease(60_000)).unwrap();
        lock.release(&of_all).unwrap();
        lock.acquire(&of_all, lease(60_000)).unwrap();
        assert_eq!(lock.release(&of_all).unwrap(), PlainReleaseReply::Released, "the copy that came late");
        assert_eq!(lock.acquire(&value("B"), lease(60_000)).unwrap(), PlainAcquireReply::Acquired);
    });
}
