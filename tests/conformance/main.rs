//! Real servers keep the rules.
//!
//! One file per kind of lock, named as in `model/src/locks` and `impl/src/locks`, and files for what is true of several kinds
//! or of every one. Every proof runs on every server version at hand.

mod branches;
mod cluster;
mod counted_hold;
mod drawn;
mod fair;
mod fenced;
mod histories;
mod kinds;
mod multi;
mod plain;
mod read_write;
mod red;
mod redisson_red;
mod reentrant;
mod scripts;
mod semaphore;
mod spin;
#[cfg(feature = "toy")]
mod toy;
mod value_multi;
mod worlds;
mod wrong_scripts;

use lockstep_redis::{HolderId, Lease};

/// Every kind.
const KINDS: &[kinds::KindProofs] = &[
    plain::PROOFS,
    reentrant::PROOFS,
    fair::PROOFS,
    read_write::PROOFS,
    fenced::PROOFS,
    spin::PROOFS,
    multi::PROOFS,
    value_multi::PROOFS,
    red::PROOFS,
    redisson_red::PROOFS,
    semaphore::PROOFS,
    #[cfg(feature = "toy")]
    toy::PROOFS,
];

/// A holder: thread 1 of the client with this id.
fn holder(client: &str) -> HolderId {
    HolderId::new(client, 1)
}

fn lease(ms: u64) -> Lease {
    Lease::from_ms(ms).expect("a lease that Redis accepts")
}
