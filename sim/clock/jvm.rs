//! The clocks that a JVM under replay sees: preloaded into it, and moved only by the harness.
//!
//! A server needs a frozen wall clock only (`lib.rs`). A JVM also waits by the monotonic clock, so here both stand still until
//! the harness moves them. A thread that waits for a time waits for these clocks: `pthread_cond_timedwait` and `epoll_wait` enter
//! their time in the page that the harness reads (`shared.rs`) and then wait without an end. A thread of this library, the
//! waker, sleeps until the time was moved and wakes those that are due. So nothing happens in the JVM by itself: once all its
//! threads sleep, it changes only when the time is moved or bytes arrive.
//!
//! Very short sleeps of the JVM's own (`nanosleep` while it stops its threads) are left to the machine's clock, and counted
//! while they last. Bytes on connections are counted, so that the harness knows when none is on its way.
//!
//! Nothing here allocates. The page is named by `LOCKSTEP_JVM_CLOCK`; without it the library keeps the machine's time.

#![no_std]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "system calls take and give bare words"
)]

mod kernel;
mod shared;
mod sockets;
mod waiters;

use core::ffi::{CStr, c_char, c_int};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use kernel::numbers::{
    SYS_CLOCK_GETTIME, SYS_CLOSE, SYS_EXIT_GROUP, SYS_MMAP, SYS_NANOSLEEP, SYS_OPENAT, SYS_PPOLL, SYS_WRITE,
};
use kernel::{Timespec, Timeval, ask_kernel};
use shared::JvmPage;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    end("lockstep: the clock of this JVM has a defect\n")
}

/// What compiled parts of `core` name for unwinding. Nothing unwinds here: a panic ends the process.
#[unsafe(no_mangle)]
pub extern "C" fn rust_eh_personality() {}

const NS_OF_MS: i64 = 1_000_000;
const NS_OF_SECOND: i64 = 1_000_000_000;

impl Timespec {
    const fn of_ns(ns: i64) -> Self {
        Self { seconds: ns.div_euclid(NS_OF_SECOND), nanoseconds: ns.rem_euclid(NS_OF_SECOND) }
    }

    /// A moment beyond what fits is never.
    const fn as_ns(&self) -> i64 {
        self.seconds.saturating_mul(NS_OF_SECOND).saturating_add(self.nanoseconds)
    }
}

/// # Safety
///
/// As `clock_gettime(2)`: `answer` points to a writable `struct timespec`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: c_int, answer: *mut Timespec) -> c_int {
    const REALTIME: c_int = 0;
    const MONOTONIC: c_int = 1;
    const MONOTONIC_RAW: c_int = 4;
    const REALTIME_COARSE: c_int = 5;
    const MONOTONIC_COARSE: c_int = 6;
    const BOOTTIME: c_int = 7;

    let frozen = page().and_then(|page| match clock {
        REALTIME | REALTIME_COARSE => Some(page.wall_ms.load(Ordering::SeqCst).saturating_mul(NS_OF_MS)),
        MONOTONIC | MONOTONIC_RAW | MONOTONIC_COARSE | BOOTTIME => Some(page.monotonic_ns.load(Ordering::SeqCst)),
        // The time that a process or a thread has used is nobody's wait.
        _ => None,
    });
    if let Some(ns) = frozen
        && !answer.is_null()
    {
        // SAFETY: not null, and the caller guarantees that it is writable.
        unsafe { answer.write(Timespec::of_ns(ns)) };
        return 0;
    }
    // SAFETY: the kernel checks the pointer.
    told(unsafe { ask_kernel(SYS_CLOCK_GETTIME, [clock as usize, answer as usize, 0, 0, 0, 0]) }) as c_int
}

/// # Safety
///
/// As `gettimeofday(2)`: both pointers are null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gettimeofday(answer: *mut Timeval, zone: *mut [c_int; 2]) -> c_int {
    let mut now = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: `now` is writable; the others are checked for null, and the caller guarantees the rest.
    unsafe {
        if !zone.is_null() {
            zone.write([0, 0]);
        }
        let status = clock_gettime(0, &raw mut now);
        if !answer.is_null() {
            answer.write(Timeval { seconds: now.seconds, microseconds: now.nanoseconds / 1000 });
        }
        status
    }
}

/// # Safety
///
/// As `time(2)`: `answer` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn time(answer: *mut i64) -> i64 {
    let mut now = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: `now` is writable; `answer` is checked for null.
    unsafe {
        clock_gettime(0, &raw mut now);
        if !answer.is_null() {
            answer.write(now.seconds);
        }
    }
    now.seconds
}

/// # Safety
///
/// As `nanosleep(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanosleep(asked: *const Timespec, left: *mut Timespec) -> c_int {
    counted_as_sleeper(|| {
        // SAFETY: the kernel checks the pointers.
        told(unsafe { ask_kernel(SYS_NANOSLEEP, [asked as usize, left as usize, 0, 0, 0, 0]) }) as c_int
    })
}

/// # Safety
///
/// As `poll(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn poll(sockets: *mut u8, count: usize, within_ms: c_int) -> c_int {
    let within = Timespec::of_ns(i64::from(within_ms) * NS_OF_MS);
    let wait = |within: *const Timespec| {
        // SAFETY: the kernel checks the pointers.
        told(unsafe { ask_kernel(SYS_PPOLL, [sockets as usize, count, within as usize, 0, 0, 0]) }) as c_int
    };
    match within_ms {
        ..0 => wait(ptr::null()),
        0 => wait(&raw const within),
        1.. => counted_as_sleeper(|| wait(&raw const within)),
    }
}

fn counted_as_sleeper(sleep: impl FnOnce() -> c_int) -> c_int {
    let sleepers = page().map(|page| &page.sleepers);
    if let Some(sleepers) = sleepers {
        sleepers.fetch_add(1, Ordering::SeqCst);
    }
    let status = sleep();
    if let Some(sleepers) = sleepers {
        sleepers.fetch_sub(1, Ordering::SeqCst);
    }
    status
}

#[link(name = "c")]
unsafe extern "C" {
    fn getenv(name: *const c_char) -> *const c_char;
    fn __errno_location() -> *mut c_int;
}

/// What a function of libc returns for an answer of the kernel: -1, and the reason in `errno`, if it refused.
fn told(answer: isize) -> isize {
    if answer >= 0 {
        return answer;
    }
    // SAFETY: libc's errno of this thread is always writable. A system call fails with -errno.
    unsafe { *__errno_location() = -(answer as c_int) };
    -1
}

/// The page that the harness shares with this process; `None`: it shares none.
fn page() -> Option<&'static JvmPage> {
    static PAGE: AtomicPtr<JvmPage> = AtomicPtr::new(ptr::null_mut());

    let mut page = PAGE.load(Ordering::Acquire);
    if page.is_null() {
        page = map_page(c"LOCKSTEP_JVM_CLOCK")?;
        // Two threads may both get here; both mappings show the same file.
        PAGE.store(page, Ordering::Release);
    }
    // SAFETY: a mapping of the whole page, never unmapped, of atomics only.
    Some(unsafe { &*page })
}

fn map_page(variable: &CStr) -> Option<*mut JvmPage> {
    const AT_FDCWD: usize = -100_isize as usize;
    const O_RDWR_CLOEXEC: usize = 0o2_000_002;
    const PROT_READ_WRITE: usize = 3;
    const MAP_SHARED: usize = 1;

    // SAFETY: a zero-terminated string. The result is null before libc is ready; the next call tries again.
    let path = unsafe { getenv(variable.as_ptr()) };
    if path.is_null() {
        return None;
    }
    // SAFETY: the kernel checks all arguments; the mapping is new memory and outlives the descriptor.
    let page = unsafe {
        let file = ask_kernel(SYS_OPENAT, [AT_FDCWD, path as usize, O_RDWR_CLOEXEC, 0, 0, 0]);
        if file < 0 {
            end("lockstep: the file of LOCKSTEP_JVM_CLOCK cannot be opened\n");
        }
        let page = ask_kernel(SYS_MMAP, [0, size_of::<JvmPage>(), PROT_READ_WRITE, MAP_SHARED, file as usize, 0]);
        ask_kernel(SYS_CLOSE, [file as usize, 0, 0, 0, 0, 0]);
        page
    };
    if page <= 0 {
        end("lockstep: the file of LOCKSTEP_JVM_CLOCK cannot be mapped\n");
    }
    Some(ptr::with_exposed_provenance_mut(page as usize))
}

/// Ends the process: a JVM whose time is not ours would be compared with a model that it does not follow.
fn end(message: &str) -> ! {
    loop {
        // SAFETY: the message is readable, and the second call does not return.
        unsafe {
            ask_kernel(SYS_WRITE, [2, message.as_ptr() as usize, message.len(), 0, 0, 0]);
            ask_kernel(SYS_EXIT_GROUP, [70, 0, 0, 0, 0, 0]);
        }
    }
}
