//! Real Redisson in a real cluster of three masters, by the machine's clock: what becomes of a lock while its slot is moved.
//!
//! docs/facts/cluster.md says the same in words.

use std::thread;
use std::time::Duration;

use lockstep_redis::Names;
use lockstep_redis::slots::slot_of;
use lockstep_tests::at_once::at_once;
use lockstep_tests::free_nodes::wait_until;
use lockstep_tests::servers::servers;
use lockstep_tests::slot_cluster::SlotCluster;
use redis::{Value, cmd};

use crate::plain_driver::PlainDriver;

const LOCK: &str = "invoices";
/// Looks at the cluster that a client makes while it waits, at least.
const LOOKS: i64 = 3;

/// Three masters, and two clients of this version of Redisson.
struct ClusterClients {
    cluster: SlotCluster,
    driver: PlainDriver,
    slot: u16,
    /// The master that has the slot of the lock.
    from: usize,
    /// The master that the slot is moved to.
    to: usize,
}

impl ClusterClients {
    fn start(version: &str, watchdog_ms: u32, look_every_ms: u32) -> Self {
        let cluster = SlotCluster::start(&servers()[0], 3, false);
        let mut driver = PlainDriver::start(version);
        let slot = Names::of(LOCK).slot().expect("its name has no braces");
        let from = cluster.master_of(slot);
        for client in ["A", "B"] {
            let address = format!("127.0.0.1:{}", cluster.port(0));
            driver.tell(&format!(
                "client {client} redis://{address} 3000 4 100 {watchdog_ms} 4 0 unchecked cluster {address} {look_every_ms}"
            ));
        }
        Self { cluster, driver, slot, from, to: (from + 1) % 3 }
    }

    /// How long the key of the lock lives, in milliseconds, at the master that has the slot or gets it; -2: it is not there.
    fn ttl_ms(&self, node: usize) -> i64 {
        match self.cluster.ask_as_sent(node, cmd("PTTL").arg(LOCK)) {
            Err(error) if error.code() == Some("ASK") => -2,
            answer => redis::from_redis_value(answer.expect("an answer")).expect("a number"),
        }
    }

    /// How often clients have looked at the nodes of the cluster.
    fn looks(&self) -> i64 {
        let of = |node| {
            let answer = self.cluster.ask(node, cmd("INFO").arg("commandstats")).expect("an answer");
            let text: String = redis::from_redis_value(answer).expect("text");
            // Before 7.0 the subcommands are counted together.
            let line = text
                .lines()
                .find(|line| line.starts_with("cmdstat_cluster|nodes:") || line.starts_with("cmdstat_cluster:"));
            line.and_then(|line| line.split_once("calls=")?.1.split(',').next()?.parse::<i64>().ok()).unwrap_or(0)
        };
        (0..3).map(of).sum()
    }
}

/// The server answers TRYAGAIN for as long as the slot is moved, and the client gives up before. It has stopped renewing by then: the
/// lock is free once its lease is over.
#[test]
fn no_release_succeeds_while_a_slot_is_moved_and_the_lock_is_not_renewed_any_more() {
    at_once(&[("4.7.0", false), ("4.7.0", true), ("3.15.6", false)], |(version, is_key_moved)| {
        let mut world = ClusterClients::start(version, 6000, 1_000_000);
        assert_eq!(world.driver.call(&format!("A 1 lock {LOCK}")), "returned nothing");
        world.cluster.begin_migration(world.slot, world.from, world.to);
        if *is_key_moved {
            world.cluster.move_key(LOCK, world.from, world.to);
        }
        let at = if *is_key_moved { world.to } else { world.from };
        assert_eq!(world.driver.call(&format!("B 1 try {LOCK}")), "returned false");
        // It is renewed: its TTL grows.
        let mut last_ms = world.ttl_ms(at);
        wait_until("it is renewed", || {
            let ttl_ms = world.ttl_ms(at);
            let has_grown = ttl_ms > last_ms;
            last_ms = ttl_ms;
            has_grown
        });
        let ended = world.driver.call(&format!("A 1 unlock {LOCK}"));
        assert!(ended.starts_with("threw org.redisson.client.RedisTryAgainException TRYAGAIN"), "{ended}");
        assert_eq!(world.driver.call(&format!("A 1 is-held {LOCK}")), "returned true");
        wait_until("its lease is over", || world.ttl_ms(at) < 0);
        // A lock of that slot that is taken meanwhile has the same fate.
        assert_eq!(world.driver.call(&format!("A 1 lock-lease {LOCK} 60000")), "returned nothing");
        let ended = world.driver.call(&format!("B 1 force-unlock {LOCK}"));
        assert!(ended.starts_with("threw org.redisson.client.RedisTryAgainException TRYAGAIN"), "{ended}");
        if !is_key_moved {
            // It was free at the old master: the new one has granted it.
            assert!(world.ttl_ms(world.to) > 0);
        }
        world.cluster.end_migration(world.slot, world.from, world.to);
        assert_eq!(world.driver.call(&format!("A 1 unlock {LOCK}")), "returned nothing");
        assert_eq!(world.ttl_ms(world.to), -2);
    });
}

/// What it could not release counts in its next hold, of which its release gives back one: the model's `counts-agree` had said so before
/// anybody ran it (scenario moved-slot-refuses-the-release).
#[test]
fn a_thread_whose_release_was_refused_enters_its_own_lock_and_does_not_free_it() {
    at_once(&["4.7.0", "3.15.6"], |version| {
        let mut world = ClusterClients::start(version, 60_000, 1_000_000);
        assert_eq!(world.driver.call(&format!("A 1 lock {LOCK}")), "returned nothing");
        world.cluster.begin_migration(world.slot, world.from, world.to);
        let ended = world.driver.call(&format!("A 1 unlock {LOCK}"));
        assert!(ended.starts_with("threw org.redisson.client.RedisTryAgainException"), "{version}: {ended}");
        assert_eq!(world.driver.call(&format!("A 1 lock {LOCK}")), "returned nothing");
        world.cluster.move_key(LOCK, world.from, world.to);
        world.cluster.end_migration(world.slot, world.from, world.to);
        assert_eq!(world.driver.call(&format!("A 1 unlock {LOCK}")), "returned nothing");
        assert!(world.ttl_ms(world.to) > 0, "{version}: it is still held");
        assert_eq!(world.driver.call(&format!("B 1 try {LOCK}")), "returned false");
        assert_eq!(world.driver.call(&format!("A 1 unlock {LOCK}")), "returned nothing");
        assert_eq!(world.ttl_ms(world.to), -2);
    });
}

/// Where the channel is of one slot the old master ends the subscription, and nobody begins a new one: however often the clients look at
/// the cluster, no message reaches the waiter, who sleeps for as long as the lock lives. A plain channel goes by all nodes.
#[test]
fn a_waiter_sleeps_to_the_end_of_the_lease_once_its_slot_has_moved_where_channels_are_of_one_slot() {
    at_once(&[("4.7.0", true), ("3.43.0", true), ("3.15.6", false)], |(version, is_sharded)| {
        let mut world = ClusterClients::start(version, 30_000, 200);
        let channel = Names::of(LOCK).channel();
        assert!(servers()[0].has_sharded_channels());
        assert_eq!(world.driver.call(&format!("A 1 lock-lease {LOCK} 15000")), "returned nothing");
        let waits = world.driver.tell(&format!("call B 1 lock {LOCK}"));
        wait_until("B is subscribed", || world.cluster.subscribers(&channel, *is_sharded) == 1);
        world.cluster.begin_migration(world.slot, world.from, world.to);
        world.cluster.move_key(LOCK, world.from, world.to);
        world.cluster.end_migration(world.slot, world.from, world.to);
        let before = world.looks();
        wait_until("both clients have looked at the cluster", || world.looks() >= before + 2 * LOOKS);
        if !is_sharded {
            assert_eq!(world.cluster.subscribers(&channel, false), 1, "{version}");
            assert_eq!(world.driver.call(&format!("A 1 unlock {LOCK}")), "returned nothing");
            assert_eq!(world.driver.end_of(waits), "returned nothing");
            return;
        }
        assert_eq!(world.cluster.subscribers(&channel, true), 0, "{version}");
        assert_eq!(world.driver.call(&format!("A 1 unlock {LOCK}")), "returned nothing");
        thread::sleep(Duration::from_millis(500));
        assert_eq!(world.ttl_ms(world.to), -2, "{version}: the lock is free, and B sleeps");
        assert_eq!(world.driver.end_of(waits), "returned nothing");
    });
}

/// Such a channel is not at the master that the client knows, and unlike a request the client does not send `SSUBSCRIBE` where it is sent
/// on to. A client that has looked at the cluster before the call is served.
#[test]
fn a_call_that_begins_to_wait_once_its_slot_has_moved_throws_unless_its_client_has_looked_at_the_cluster() {
    at_once(
        &[("4.7.0", 1_000_000), ("3.43.0", 1_000_000), ("4.7.0", 200), ("3.15.6", 1_000_000)],
        |(version, look_every_ms)| {
            let mut world = ClusterClients::start(version, 30_000, *look_every_ms);
            assert_eq!(world.driver.call(&format!("A 1 lock-lease {LOCK} 60000")), "returned nothing");
            world.cluster.begin_migration(world.slot, world.from, world.to);
            world.cluster.move_key(LOCK, world.from, world.to);
            world.cluster.end_migration(world.slot, world.from, world.to);
            let looks = *look_every_ms < 1_000_000;
            if looks {
                let before = world.looks();
                wait_until("both clients have looked at the cluster", || world.looks() >= before + 2 * LOOKS);
            }
            let waits = world.driver.tell(&format!("call B 1 lock {LOCK}"));
            if *version != "3.15.6" && !looks {
                let ended = world.driver.end_of(waits);
                assert!(ended.starts_with("threw org.redisson.client.RedisTimeoutException"), "{version}: {ended}");
                assert_eq!(world.driver.call(&format!("A 1 unlock {LOCK}")), "returned nothing", "{version}");
                return;
            }
            let (channel, is_sharded) = (Names::of(LOCK).channel(), *version != "3.15.6");
            wait_until("B is subscribed", || world.cluster.subscribers(&channel, is_sharded) == 1);
            assert_eq!(world.driver.call(&format!("A 1 unlock {LOCK}")), "returned nothing");
            assert_eq!(world.driver.end_of(waits), "returned nothing", "{version}");
        },
    );
}

/// Its acquire has one key, so it is granted; its release has several, but for that of a spin lock of 3.15, which publishes nothing. Every
/// call of a fair lock has several.
#[test]
fn a_lock_whose_name_has_half_a_hash_tag_is_granted_and_never_released() {
    let cross_slot = "threw org.redisson.client.RedisException CROSSSLOT";
    at_once(&["4.7.0", "3.15.6"], |version| {
        let mut world = ClusterClients::start(version, 1500, 1_000_000);
        for name in ["orders{", "orders}1", "orders{}"] {
            assert_eq!(Names::of(name).slot(), None);
            let mut call = |words: String| world.driver.call(&format!("A 1 {words}"));
            for kind in ["", "rw:write:write-"] {
                assert_eq!(call(format!("lock-lease {kind}{name} 60000")), "returned nothing");
                let ended = call(format!("unlock {kind}{name}"));
                assert!(ended.starts_with(cross_slot), "{version}: {kind}{name}: {ended}");
            }
            assert_eq!(call(format!("lock-lease spin:100:spin-{name} 60000")), "returned nothing");
            let ended = call(format!("unlock spin:100:spin-{name}"));
            let is_as_said =
                if *version == "3.15.6" { ended == "returned nothing" } else { ended.starts_with(cross_slot) };
            assert!(is_as_said, "{version}: {name}: {ended}");
            let ended = call(format!("lock-lease fair:fair-{name} 60000"));
            assert!(ended.starts_with(cross_slot), "{version}: {ended}");
        }
        let at = world.cluster.master_of(slot_of("orders{"));
        let held = || world.cluster.ask(at, cmd("EXISTS").arg("orders{"));
        assert_eq!(held(), Ok(Value::Int(1)), "{version}");
        // Under the watchdog it is free once its lease is over: a release that fails ends the renewals.
        let name = "renewed{";
        let at = world.cluster.master_of(slot_of(name));
        assert_eq!(world.driver.call(&format!("A 1 lock {name}")), "returned nothing");
        let ended = world.driver.call(&format!("A 1 unlock {name}"));
        assert!(ended.starts_with(cross_slot), "{version}: {ended}");
        wait_until("its lease is over", || world.cluster.ask(at, cmd("EXISTS").arg(name)) == Ok(Value::Int(0)));
    });
}
