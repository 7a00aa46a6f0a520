//! Where model and implementation meet: what each action of the model asks of Redis, and what the answer means.
//!
//! The two sides share no type. Both are put into the same plain words here, and the words are compared. Each kind of lock
//! has one file here, with a [`Translation`].

mod client_part;
mod counted_hold;
mod fair;
mod fenced;
mod multi;
mod plain;
pub mod protocol;
mod read_write;
mod red;
mod redisson_red;
mod reentrant;
pub mod replies;
mod request;
mod semaphore;
mod spin;
#[cfg(feature = "toy")]
mod toy;
mod translation;
mod translator;
mod value_multi;

use lockstep_model::config::LockKind;

pub use client_part::{ClientPart, RequestKey, ScriptVerb, count_of, request_state};
pub use replies::{acknowledged, token_of};
pub use request::{ScriptRequest, lacks_replicas};
pub use translation::{RequestContext, ScriptCaller, Translation, UnlockChannel};
pub use translator::Translator;

/// Every kind that can be replayed.
pub const KINDS: &[&dyn Translation] = &[
    &plain::PlainTranslation,
    &reentrant::ReentrantTranslation,
    &fair::FairTranslation,
    &read_write::ReadWriteTranslation,
    &fenced::FencedTranslation,
    &spin::SpinTranslation,
    &multi::MultiTranslation,
    &value_multi::ValueMultiTranslation,
    &red::RedTranslation,
    &redisson_red::RedissonRedTranslation,
    &semaphore::SemaphoreTranslation,
    #[cfg(feature = "toy")]
    &toy::ToyTranslation,
];

/// How this kind is translated.
///
/// # Panics
/// If the kind is not in [`KINDS`]: a defect of ours.
pub fn translation_of(kind: LockKind) -> &'static dyn Translation {
    let found = KINDS.iter().find(|translation| translation.kind() == kind);
    *found.unwrap_or_else(|| panic!("{kind:?} is missing in the table of translations"))
}
