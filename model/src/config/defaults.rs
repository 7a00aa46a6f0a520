//! Which fields a file leaves out.

use crate::limits::RENEWAL_BATCH;

/// Whether a value is its type's default, and so is not written.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// One tick: the default of the times that are too short to be anything else.
pub(super) const fn one_tick() -> u8 {
    1
}

/// Whether a time is one tick, and so is not written.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
pub(super) const fn is_one_tick(ticks: &u8) -> bool {
    *ticks == one_tick()
}

/// One lock name: the usual world.
pub(super) const fn one_name() -> u8 {
    1
}

/// Whether there is one lock name, and so its number is not written.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
pub(super) const fn is_one_name(names: &u8) -> bool {
    *names == one_name()
}

/// As many locks in one renewal as Redisson's watchdog carries.
pub(super) const fn usual_batch() -> u8 {
    RENEWAL_BATCH
}

/// Whether a renewal carries the usual number of locks, and so that is not written.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
pub(super) const fn is_usual_batch(batch: &u8) -> bool {
    *batch == usual_batch()
}

/// One master, and its replicas.
pub(super) const fn one_group() -> u8 {
    1
}

/// Whether there is one master, and so that is not written.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
pub(super) const fn is_one_group(groups: &u8) -> bool {
    *groups == one_group()
}
