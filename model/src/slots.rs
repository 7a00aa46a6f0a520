//! Arrays whose length is part of a type: worlds of different sizes are different types, so that a small world is a small
//! value.

use core::fmt::Debug;

/// A plain value that a world can be made of.
pub trait Value: Copy + Eq + Ord + Debug + Send + Sync + 'static {}

impl<T: Copy + Eq + Ord + Debug + Send + Sync + 'static> Value for T {}

/// An array of a fixed length.
pub trait Slots<T: Value>: Value + AsRef<[T]> + AsMut<[T]> + IntoIterator<Item = T> {
    /// Its length.
    const LEN: usize;

    /// One with the values that `make` gives for 0, 1, ….
    fn from_fn(make: impl FnMut(usize) -> T) -> Self;
}

impl<T: Value, const LEN: usize> Slots<T> for [T; LEN] {
    const LEN: usize = LEN;

    fn from_fn(make: impl FnMut(usize) -> T) -> Self {
        core::array::from_fn(make)
    }
}
