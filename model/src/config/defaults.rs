//! Which fields a file leaves out.

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
