//! Real servers keep the rules.
//!
//! One file a lock kind, named as in `model/src/locks` and `impl/src/locks`; before them what is
//! true of all scripts. Every proof runs on every server version at hand.

mod drawn;
mod histories;
mod plain;
mod reentrant;
mod scripts;
mod wrong_scripts;

use lockstep_redis::{Holder, Lease};

/// A holder: thread 1 of the client with this id.
fn holder(client: &str) -> Holder {
    Holder::new(client, 1)
}

fn lease(ms: u64) -> Lease {
    Lease::from_ms(ms).expect("a lease that Redis takes")
}
