//! What Redis is told: the locks of Redisson, in our own scripts.
//!
//! The other half of the story is the model, which says what may happen. The two share no type and
//! do not know each other: each says the rule in its own words, so that their agreement on a real
//! server is evidence. Reading order:
//!
//! - [`names`] — what a lock, its channel and its receipts are called, and who a holder is
//! - [`script`] — the table of all scripts, a [`Call`] of one of them, and how its [`Reply`] is read
//! - [`locks`] — one file a kind, beside the file of the same name in `model/src/locks`
//! - [`Error`] — why Redis gave no answer
//!
//! ```text
//! names, lease, holder ──▶ Call ──▶ EVALSHA ──▶ Value ──▶ reply     "busy" is a reply
//!                            │                     └────▶ Error     Unknown, NotMaster, …
//!                            └── SCRIPT LOAD first, where the server has forgotten the script
//! ```
//!
//! One client takes a lock and gives it back:
//!
//! ```no_run
//! use lockstep_redis::locks::reentrant::{AcquireReply, Reentrant};
//! use lockstep_redis::{Holder, Lease, Names, Receipt, Scripts};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let connection = redis::Client::open("redis://127.0.0.1/")?.get_connection()?;
//! let mut lock = Reentrant::new(connection, Names::of("invoices"), Scripts::built_in());
//! let me = Holder::new("0d8a1a52-7f1c-4e4e-9f0e-1f5b6a1d6f0e", 1);
//! let lease = Lease::from_ms(30_000).ok_or("a lease lasts at least 1 ms")?;
//!
//! match lock.acquire(&me, lease)? {
//!     AcquireReply::Acquired => {
//!         // … the work …
//!         lock.release(&me, lease, &Receipt::new("one-id-per-release", Receipt::LEASE))?;
//!     }
//!     AcquireReply::Busy { ttl_ms } => println!("taken for another {ttl_ms} ms"),
//! }
//! # Ok(())
//! # }
//! ```

mod error;
pub mod locks;
pub mod names;
pub mod script;

pub use error::Error;
pub use names::{Holder, Lease, Names, Receipt};
pub use script::{Call, Reply, Script, Scripts};
