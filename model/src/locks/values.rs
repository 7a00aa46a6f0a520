//! What a process remembers of the values of its acquires, where a kind stores values that are unique per acquire.
//!
//! A value is a small number. A kind whose grants store none ([`Facts::value`](super::facts::Facts::value)) has
//! [`NoValues`], and its worlds no room for them.

use core::fmt::Debug;

use crate::limits::MAX_THREADS;

/// The values that one process remembers.
pub trait ValueStore:
    Copy + Clone + Debug + Default + PartialEq + Eq + PartialOrd + Ord + Send + Sync + 'static
{
    /// Whether there can be any.
    const IS_THERE: bool;

    /// The value by which a thread asks for the lock or holds it; 0: none.
    fn own(&self, thread: u8) -> u8;

    /// The value with which the watchdog renews for a thread: that of its newest grant; 0: none.
    fn renewed(&self, thread: u8) -> u8;

    /// A thread begins to ask, or neither asks nor holds any more.
    fn set_own(&mut self, thread: u8, value: u8);

    /// The watchdog has heard of a grant, or has nothing left to renew.
    fn set_renewed(&mut self, thread: u8, value: u8);
}

/// None, ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct NoValues;

impl ValueStore for NoValues {
    const IS_THERE: bool = false;

    fn own(&self, _: u8) -> u8 {
        0
    }

    fn renewed(&self, _: u8) -> u8 {
        0
    }

    fn set_own(&mut self, _: u8, _: u8) {}

    fn set_renewed(&mut self, _: u8, _: u8) {}
}

/// Those of each thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HoldValues {
    own: [u8; MAX_THREADS as usize],
    renewed: [u8; MAX_THREADS as usize],
}

impl ValueStore for HoldValues {
    const IS_THERE: bool = true;

    fn own(&self, thread: u8) -> u8 {
        self.own[usize::from(thread)]
    }

    fn renewed(&self, thread: u8) -> u8 {
        self.renewed[usize::from(thread)]
    }

    fn set_own(&mut self, thread: u8, value: u8) {
        self.own[usize::from(thread)] = value;
    }

    fn set_renewed(&mut self, thread: u8, value: u8) {
        self.renewed[usize::from(thread)] = value;
    }
}
