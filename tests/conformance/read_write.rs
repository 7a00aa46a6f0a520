//! The read-write lock on real servers. Same rule: `model/src/locks/read_write.rs`.

use lockstep_model::LockKind;
use lockstep_redis::locks::read_write::{
    self, Access, DowngradeMessage, ReadWriteAcquireReply, ReadWriteForceReleaseReply, ReadWriteLock,
    ReadWriteReleaseReply, ReadWriteRenewReply, RenewedHolds,
};
use lockstep_redis::{Call, Names, ReleaseReceipt, Scripts};
use lockstep_sim::replay::ServerConnection;
use lockstep_tests::servers::{TestServer, for_every_version_at_once, on_every_server};
use lockstep_tests::slot_cluster::SlotCluster;
use redis::Value;

use crate::counted_hold::{EXECUTED_AGAIN, PARTIAL_LEAVES_NO_RECEIPT};
use crate::histories::random_histories_of;
use crate::kinds::{KindProofs, WrongScript};
use crate::{holder, lease};

/// What the proofs for every kind need.
pub const PROOFS: KindProofs = KindProofs {
    kind: LockKind::ReadWrite,
    calls: one_call_of_each,
    reading: &[],
    wrong_scripts: &WRONG,
    scenario: |_| None,
    has_every_fault: false,
};

/// The prefix that it names is a key of its own, which is never there, or the name of the lock (docs/facts/cluster.md).
#[test]
fn a_reader_is_renewed_while_its_slot_is_moved_if_the_name_of_its_lock_has_a_hash_tag() {
    for_every_version_at_once(|server| {
        let cluster = SlotCluster::start(server, 2, false);
        let scripts = Scripts::built_in();
        for script in scripts.iter() {
            (0..2).for_each(|node| drop(cluster.ask(node, &script.load()).expect("it is loaded")));
        }
        for (name, is_served) in [("orders", false), ("orders{1}", true)] {
            let (names, reader) = (Names::of(name), holder("A"));
            let slot = names.slot().expect("all its names are in one");
            let from = cluster.master_of(slot);
            let acquire = read_write::acquire(&scripts, &names, Access::Read, &reader, lease(60_000)).evalsha();
            let renew =
                read_write::renew(&scripts, &names, Access::Read, &reader, lease(60_000), RenewedHolds::Own).evalsha();
            assert_eq!(cluster.ask(from, &acquire), Ok(Value::Nil), "{name}");
            cluster.begin_migration(slot, from, 1 - from);
            let told = match cluster.ask(from, &renew) {
                Err(error) if error.code() == Some("ASK") => cluster.ask_as_sent(1 - from, &renew),
                told => told,
            };
            assert_eq!(told == Ok(Value::Int(1)), is_served, "{name}: {told:?}");
            assert!(is_served || told.is_err_and(|error| error.code() == Some("TRYAGAIN")), "{name}");
            cluster.give_up_migration(slot, from, 1 - from);
        }
    });
}

const WRONG: [WrongScript; 28] = [
    WrongScript {
        script: "read_write/read_acquire",
        rule: "a reader enters beside a writer",
        right: "if mode and not is_shared then",
        instead: "if false then",
        scenario: "read-write-readers-share",
        caught_by: "reply",
    },
    WrongScript {
        script: "read_write/read_acquire",
        rule: "readers exclude each other",
        right: "mode == 'read' or (",
        instead: "(",
        scenario: "read-write-readers-share",
        caught_by: "reply",
    },
    WrongScript {
        script: "read_write/read_acquire",
        rule: "a writer cannot read inside its own lock",
        right: "redis.call('hexists', lock, writer) == 1)",
        instead: "false)",
        scenario: "read-write-downgrade-tells-nobody",
        caught_by: "reply",
    },
    WrongScript {
        script: "read_write/read_acquire",
        rule: "a hold has no key of its own",
        right: "redis.call('set', hold .. ':' .. holds, 1, 'px', lease_ms)",
        instead: "",
        scenario: "read-write-readers-share",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "read_write/read_acquire",
        rule: "a shorter lease cuts a longer one",
        right: "math.max(left_ms, lease_ms)",
        instead: "lease_ms",
        scenario: "read-write-a-reader-with-a-shorter-lease",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "read_write/write_acquire",
        rule: "a writer enters beside readers",
        right: "if not mode then",
        instead: "if mode ~= 'write' then",
        scenario: "read-write-readers-share",
        caught_by: "reply",
    },
    WrongScript {
        script: "read_write/write_acquire",
        rule: "entering again restarts the lease",
        right: "redis.call('pttl', lock) + lease_ms",
        instead: "lease_ms",
        scenario: "read-write-writer-enters-again",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "read_write/write_acquire",
        rule: "a writer enters beside another one",
        right: " and redis.call('hexists', lock, writer) == 1",
        instead: "",
        scenario: "read-write-reader-waits-for-itself",
        caught_by: "reply",
    },
    WrongScript {
        script: "read_write/read_release",
        rule: "the key of the hold stays",
        right: "redis.call('del', hold .. ':' .. holds + 1)",
        instead: "",
        scenario: "read-write-readers-share",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "read_write/read_release",
        rule: "the lease of the others is not cut",
        right: "redis.call('pexpire', lock, longest_ms)",
        instead: "",
        scenario: "read-write-a-reader-with-a-shorter-lease",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "read_write/read_release",
        rule: "a lock that is held for writing is freed",
        right: "if mode == 'write' then",
        instead: "if false then",
        scenario: "read-write-downgrade-tells-nobody",
        caught_by: "reply",
    },
    WrongScript {
        script: "read_write/read_release",
        rule: "nothing is published",
        right: "redis.call('del', lock)\nredis.call('publish', channel, message)",
        instead: "redis.call('del', lock)",
        scenario: "read-write-readers-share",
        caught_by: "messages to C",
    },
    WrongScript {
        script: "read_write/read_release",
        rule: "released by any caller",
        right: "if redis.call('hexists', lock, reader) == 0 then",
        instead: "if false then",
        scenario: "read-write-release-of-an-expired-lock",
        caught_by: "reply",
    },
    WrongScript {
        script: "read_write/write_release",
        rule: "a writer that reads as well frees the lock",
        right: "if redis.call('hlen', lock) == 1 then",
        instead: "if true then",
        scenario: "read-write-downgrade-tells-nobody",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "read_write/write_release",
        rule: "a downgrade is told",
        right: "  redis.call('hset', lock, 'mode', 'read')",
        instead: "  redis.call('hset', lock, 'mode', 'read')\n  redis.call('publish', channel, message)",
        scenario: "read-write-downgrade-tells-nobody",
        caught_by: "messages to B",
    },
    WrongScript {
        script: "read_write/write_release_told",
        rule: "a downgrade is told to nobody",
        right: "  redis.call('hset', lock, 'mode', 'read')\nend\nredis.call('publish', channel, message)",
        instead: "  redis.call('hset', lock, 'mode', 'read')\nend",
        scenario: "read-write-downgrade-wakes-readers",
        caught_by: "messages to B",
    },
    WrongScript {
        script: "read_write/write_release_told",
        rule: "a writer that reads as well frees the lock",
        right: "if redis.call('hlen', lock) == 1 then",
        instead: "if true then",
        scenario: "read-write-downgrade-wakes-readers",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "read_write/write_release",
        rule: "a partial release keeps the added leases",
        right: "redis.call('pexpire', lock, lease_ms)",
        instead: "",
        scenario: "read-write-writer-enters-again",
        caught_by: "keys on n1",
    },
    EXECUTED_AGAIN.of("read_write/read_release", "read-write-readers-share"),
    PARTIAL_LEAVES_NO_RECEIPT.of("read_write/read_release", "read-write-readers-share"),
    EXECUTED_AGAIN.of("read_write/write_release", "read-write-writer-enters-again"),
    PARTIAL_LEAVES_NO_RECEIPT.of("read_write/write_release", "read-write-writer-enters-again"),
    EXECUTED_AGAIN.of("read_write/write_release_told", "read-write-downgrade-wakes-readers"),
    WrongScript {
        script: "read_write/read_renew",
        rule: "the holds are not renewed",
        right: "for number = holds, 1, -1 do",
        instead: "for number = 0, 1, -1 do",
        scenario: "read-write-readers-share",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "read_write/read_renew_all",
        rule: "a reader renews its own holds only",
        right: "ipairs(redis.call('hkeys', lock))",
        instead: "ipairs({ reader })",
        scenario: "read-write-dead-reader-is-renewed",
        caught_by: "keys on n1",
    },
    WrongScript {
        script: "read_write/read_renew_failing",
        rule: "it does not fail",
        right: "redis.call('pexpire', KEYS[number + 1] ..",
        instead: "redis.call('pexpire', KEYS[2] ..",
        scenario: "read-write-nested-reads-are-not-renewed",
        caught_by: "reply",
    },
    WrongScript {
        script: "read_write/write_renew",
        rule: "renewed for any caller",
        right: "if redis.call('hexists', lock, writer) == 0 then",
        instead: "if redis.call('exists', lock) == 0 then",
        scenario: "read-write-renewed-in-vain",
        caught_by: "reply",
    },
    WrongScript {
        script: "read_write/force_release",
        rule: "readers are removed as well",
        right: "if redis.call('hget', lock, 'mode') ~= mode then",
        instead: "if redis.call('exists', lock) == 0 then",
        scenario: "read-write-force-release",
        caught_by: "reply",
    },
];

fn one_call_of_each(scripts: &Scripts) -> Vec<Call> {
    let (a, ten_seconds, names) = (holder("A"), lease(10_000), Names::of("read-write"));
    let receipt = |id: &str| ReleaseReceipt::new(id, ten_seconds);
    let (read, write) = (Access::Read, Access::Write);
    vec![
        read_write::acquire(scripts, &names, write, &a, ten_seconds),
        read_write::acquire(scripts, &names, read, &a, ten_seconds),
        read_write::renew(scripts, &names, read, &a, ten_seconds, RenewedHolds::Own),
        read_write::renew(scripts, &names, read, &a, ten_seconds, RenewedHolds::OfAll),
        read_write::renew(scripts, &names, read, &a, ten_seconds, RenewedHolds::UntilNested),
        read_write::renew(scripts, &names, write, &a, ten_seconds, RenewedHolds::Own),
        read_write::release(scripts, &names, read, &a, ten_seconds, &receipt("r1"), DowngradeMessage::None),
        read_write::release(scripts, &names, write, &a, ten_seconds, &receipt("r2"), DowngradeMessage::None),
        read_write::release(scripts, &names, write, &a, ten_seconds, &receipt("r3"), DowngradeMessage::ToAll),
        read_write::acquire(scripts, &names, write, &a, ten_seconds),
        read_write::force_release(scripts, &names, write),
    ]
}

fn lock_on(server: &TestServer) -> ReadWriteLock<ServerConnection> {
    ReadWriteLock::new(server.connect(), Names::of("lock"), Scripts::built_in())
}

fn ttl_ms(server: &TestServer, key: &str) -> i64 {
    server.ask(&format!("PTTL {key}"))
}

const READ: Access = Access::Read;
const WRITE: Access = Access::Write;
const ACQUIRED: ReadWriteAcquireReply = ReadWriteAcquireReply::Acquired;

const fn busy(ttl_ms: i64) -> ReadWriteAcquireReply {
    ReadWriteAcquireReply::Busy { ttl_ms }
}

#[test]
fn random_histories_of_the_read_write_lock_agree_on_every_server() {
    random_histories_of(LockKind::ReadWrite);
}

/// The numbers are those of a run of Redisson 4.7.0 (docs/facts/family.md#read-write).
#[test]
fn answers_and_ttls_are_those_of_redisson() {
    on_every_server(|server| {
        let (mut lock, mut receipts) = (lock_on(server), 0);
        let (a, b, c) = (holder("A"), holder("B"), holder("C"));
        let mut release = |access, who| {
            receipts += 1;
            let receipt = ReleaseReceipt::new(format!("r{receipts}"), lease(20_000));
            lock_on(server).release(access, who, lease(8_000), &receipt).unwrap()
        };
        assert_eq!(lock.acquire(READ, &a, lease(10_000)).unwrap(), ACQUIRED);
        assert_eq!(lock.acquire(READ, &b, lease(5_000)).unwrap(), ACQUIRED);
        assert_eq!(ttl_ms(server, "lock"), 10_000, "a shorter lease cuts nothing");
        assert_eq!(lock.acquire(WRITE, &c, lease(8_000)).unwrap(), busy(10_000));
        assert_eq!(lock.acquire(WRITE, &a, lease(8_000)).unwrap(), busy(10_000), "it waits for itself");
        assert_eq!(release(READ, &a), ReadWriteReleaseReply::StillHeld);
        assert_eq!(ttl_ms(server, "lock"), 5_000, "the longest hold that is left");
        assert_eq!(release(READ, &a), ReadWriteReleaseReply::NotHeld);
        assert_eq!(release(READ, &b), ReadWriteReleaseReply::Released);
        assert_eq!(server.ask::<Vec<String>>("KEYS *"), Vec::<String>::new());

        assert_eq!(lock.acquire(WRITE, &a, lease(8_000)).unwrap(), ACQUIRED);
        server.wait_ms(69);
        assert_eq!(lock.acquire(WRITE, &a, lease(8_000)).unwrap(), ACQUIRED);
        assert_eq!(ttl_ms(server, "lock"), 15_931, "what is left and the lease");
        assert_eq!(lock.acquire(READ, &b, lease(8_000)).unwrap(), busy(15_931));
        assert_eq!(lock.acquire(READ, &a, lease(3_000)).unwrap(), ACQUIRED);
        assert_eq!((ttl_ms(server, "lock"), ttl_ms(server, "{lock}:A:1:rwlock_timeout:1")), (15_931, 3_000));
        assert_eq!(lock.acquire(READ, &a, lease(3_000)).unwrap(), ACQUIRED);
        assert_eq!(release(READ, &a), ReadWriteReleaseReply::StillHeld);
        assert_eq!(ttl_ms(server, "lock"), 3_000, "a write lease is cut");
        assert_eq!(release(WRITE, &a), ReadWriteReleaseReply::StillHeld);
        assert_eq!(release(WRITE, &a), ReadWriteReleaseReply::Released, "and the lock is one of readers");
        assert_eq!(lock.acquire(READ, &b, lease(8_000)).unwrap(), ACQUIRED);
        assert_eq!(lock.force_release(WRITE).unwrap(), ReadWriteForceReleaseReply::WasNot);
        assert_eq!(lock.force_release(READ).unwrap(), ReadWriteForceReleaseReply::Released);
        assert_eq!(ttl_ms(server, "{lock}:B:1:rwlock_timeout:1"), 8_000, "the holds stay");
    });
}

#[test]
fn a_renewal_of_a_reader_sets_the_lock_and_each_of_its_holds_that_is_left() {
    on_every_server(|server| {
        let (mut lock, a) = (lock_on(server), holder("A"));
        lock.acquire(READ, &a, lease(1_000)).unwrap();
        lock.acquire(READ, &a, lease(5_000)).unwrap();
        server.wait_ms(1_001);
        assert_eq!(lock.renew(READ, &a, lease(9_000)).unwrap(), ReadWriteRenewReply::Renewed);
        let of_hold = |number| ttl_ms(server, &format!("{{lock}}:A:1:rwlock_timeout:{number}"));
        assert_eq!((ttl_ms(server, "lock"), of_hold(1), of_hold(2)), (9_000, -2, 9_000));
        assert_eq!(lock.renew(WRITE, &a, lease(9_000)).unwrap(), ReadWriteRenewReply::NotHeld);
        assert_eq!(lock.renew(READ, &holder("B"), lease(9_000)).unwrap(), ReadWriteRenewReply::NotHeld);
    });
}

/// A reader that crashed is stored as long as others read, and its own hold does not keep the lock.
#[test]
fn the_last_reader_whose_hold_is_not_over_frees_the_lock() {
    on_every_server(|server| {
        let (mut lock, receipt) = (lock_on(server), ReleaseReceipt::new("r1", lease(20_000)));
        lock.acquire(READ, &holder("A"), lease(1_000)).unwrap();
        lock.acquire(READ, &holder("B"), lease(5_000)).unwrap();
        server.wait_ms(1_001);
        assert_eq!(lock.acquire(WRITE, &holder("C"), lease(1_000)).unwrap(), busy(3_999));
        let released = lock.release(READ, &holder("B"), lease(1_000), &receipt).unwrap();
        assert_eq!(released, ReadWriteReleaseReply::Released, "although the field of A is there");
    });
}
