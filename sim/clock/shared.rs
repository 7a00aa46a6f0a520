//! What a JVM under replay and the harness see of each other: one file that both map into memory.
//!
//! Compiled twice: into the library that is preloaded into the JVM (`jvm.rs`), and into the harness
//! (`sim/src/replay/redisson/jvm_clock.rs`). The harness moves the time. The library says which threads wait for a time, and
//! how many bytes have passed on each connection.

use core::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};

/// Threads that can wait for a time at once. A client of Redisson has about five.
pub const MOST_WAITERS: usize = 4096;
/// Connections that can be open at once. A client of Redisson has two.
pub const MOST_SOCKETS: usize = 1024;
/// A place in [`JvmPage::waiters`] where nobody waits.
pub const NOBODY: i64 = i64::MAX;

/// The page. All zeros is a page that the harness has not set up yet.
#[repr(C)]
pub struct JvmPage {
    /// The wall clock, in milliseconds since 1970.
    pub wall_ms: AtomicI64,
    /// The monotonic clock, in nanoseconds. It begins far below the wall clock, so that a moment shows which clock it is of.
    pub monotonic_ns: AtomicI64,
    /// How often the time was moved; the thread that wakes waiters sleeps on this word.
    pub moves: AtomicU32,
    /// The thread that wakes waiters; 0: not started.
    pub waker: AtomicU32,
    /// Threads that sleep by the machine's clock now. They go on by themselves.
    pub sleepers: AtomicI64,
    /// How many places of `waiters` were ever used, from the first.
    pub places_used: AtomicU64,
    /// For each thread that waits for a time: the time, in nanoseconds of the monotonic clock; else [`NOBODY`].
    pub waiters: [AtomicI64; MOST_WAITERS],
    /// Whether the one that waits there is the wheel of a timer: it wakes up every tenth of a second, and mostly finds nothing.
    pub are_wheels: [AtomicBool; MOST_WAITERS],
    /// Each connection that is open.
    pub sockets: [CountedSocket; MOST_SOCKETS],
}

/// A connection of the JVM, with the bytes that have passed.
#[repr(C)]
pub struct CountedSocket {
    /// The JVM's own port; 0: no connection.
    pub port: AtomicU64,
    /// Bytes that the JVM has read.
    pub read: AtomicU64,
    /// Bytes that the JVM has written.
    pub written: AtomicU64,
}

impl JvmPage {
    /// When the next thread that waits for a time is due; [`NOBODY`] if none waits.
    pub fn next_due_ns(&self) -> i64 {
        self.next_due_of(|_| true)
    }

    /// The same of those that are no wheel of a timer.
    pub fn next_due_beside_wheels_ns(&self) -> i64 {
        self.next_due_of(|is_wheel| !is_wheel)
    }

    fn next_due_of(&self, is_meant: impl Fn(bool) -> bool) -> i64 {
        let used = usize::try_from(self.places_used.load(Ordering::SeqCst)).unwrap_or(MOST_WAITERS).min(MOST_WAITERS);
        let places = self.waiters[..used].iter().zip(&self.are_wheels);
        let meant = places.filter(|(_, is_wheel)| is_meant(is_wheel.load(Ordering::SeqCst)));
        meant.map(|(waiter, _)| waiter.load(Ordering::SeqCst)).min().unwrap_or(NOBODY)
    }
}
