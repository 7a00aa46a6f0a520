//! Real servers keep the rules.
//!
//! One file a lock kind, named as in `model/src/locks` and `impl/src/locks`; before them what is
//! true of all scripts. Every proof runs on every server version at hand.

mod plain;
mod reentrant;
mod scripts;

use lockstep_redis::{Holder, Lease};

/// A holder: thread 1 of the client with this id.
fn holder(client: &str) -> Holder {
    Holder::new(client, 1)
}

fn lease(ms: u64) -> Lease {
    Lease::from_ms(ms).expect("a lease that Redis takes")
}

/// Real time runs here, so a TTL is compared with room for a slow machine: what was just set to
/// `lease_ms` has lost less than 10 s since.
fn assert_ttl(ttl_ms: i64, lease_ms: i64) {
    assert!(ttl_ms <= lease_ms, "{ttl_ms} ms left of {lease_ms} ms");
    assert!(ttl_ms > lease_ms - 10_000, "{ttl_ms} ms left of {lease_ms} ms");
}
