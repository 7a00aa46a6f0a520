//! What is sent to Redis: the locks of Redisson, in our own scripts.
//!
//! The other half of the project is the model, which says what may happen. The two share no type and do not depend on each
//! other: each states the rules in its own words, so that their agreement on a real server is evidence. Reading order:
//!
//! - [`names`] — the names of a lock, its channel and its receipts, and what identifies a holder
//! - [`slots`] — where a key is in a cluster
//! - [`script`] — a [`Call`] of a script, and how its [`ScriptReply`] is read
//! - [`locks`] — one file per kind, each with an example, beside the file of the same name in `model/src/locks`
//! - [`Error`] — why there is no reply
//!
//! ```text
//! names, lease, holder ──▶ Call ──▶ EVALSHA ──▶ Value ──▶ reply     "busy" is a reply
//!                            │                     └────▶ Error     Unknown, NotMaster, …
//!                            └── SCRIPT LOAD first, where the server does not know the script
//! ```

mod connected;
mod error;
pub mod locks;
pub mod names;
pub mod script;
pub mod slots;

pub use error::Error;
pub use names::{HoldValue, HolderId, Lease, Names, ReleaseReceipt};
pub use script::{Call, Script, ScriptReply, Scripts};
