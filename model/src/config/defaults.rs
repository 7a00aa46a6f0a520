//! Which fields a file leaves out.

/// Whether a value is its type's default, and so is not written.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
