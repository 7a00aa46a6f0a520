//! The clock that a server under replay sees: preloaded into the server, and moved only by the harness.
//!
//! `sim/build.rs` compiles this file to a separate shared library; `sim/src/replay/clock.rs` embeds that library and
//! writes the file that is read here. The library answers `clock_gettime` for the wall clock, `gettimeofday` and `time`
//! from the 8 bytes (milliseconds since 1970) of the file that `LOCKSTEP_CLOCK` names: a clock that stands still. Or the
//! 8 bytes of the file that `LOCKSTEP_CLOCK_OFFSET` names are added to the machine's clock (milliseconds, ahead or back): a
//! clock that runs, and jumps when the harness writes another number. Every other clock is left to the kernel: Redis drives
//! its event loop by the monotonic clock, and with a frozen clock the loop would never run.
//!
//! When it first looks at such a clock, the server asks the kernel to kill it once the process that `LOCKSTEP_PARENT` names has ended, if
//! that is its parent. The harness could ask for this only between `fork` and `exec`, and a `fork` takes longer the larger the harness
//! is: it was a fifth of the CPU time of the longest tests.
//!
//! Nothing here allocates or calls libc for the time. The server's allocator reads the clock while it initialises
//! itself, so an allocation would call this code again and hang (as Debian's `faketime` does). For the same reason
//! there is no initialiser: the file is mapped on first use.

#![no_std]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::many_single_char_names,
    reason = "system calls take and give bare words"
)]

use core::ffi::{CStr, c_char, c_int, c_long};
use core::ptr;
use core::sync::atomic::{AtomicI64, AtomicPtr, Ordering};

use kernel::numbers::{
    SYS_CLOCK_GETTIME, SYS_CLOSE, SYS_EXIT_GROUP, SYS_GETPPID, SYS_KILL, SYS_MMAP, SYS_OPENAT, SYS_PRCTL,
};
use kernel::{Timespec, Timeval, ask_kernel};

#[expect(dead_code, reason = "the library for JVMs needs more of the kernel")]
mod kernel;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

const CLOCK_REALTIME: c_int = 0;
const CLOCK_REALTIME_COARSE: c_int = 5;
const NS_OF_MS: c_long = 1_000_000;
const NS_OF_SECOND: c_long = 1_000_000_000;

/// # Safety
///
/// As `clock_gettime(2)`: `answer` points to a writable `struct timespec`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: c_int, answer: *mut Timespec) -> c_int {
    let is_wall_clock = matches!(clock, CLOCK_REALTIME | CLOCK_REALTIME_COARSE) && !answer.is_null();
    if is_wall_clock && let Some(ms) = FROZEN.read() {
        // SAFETY: not null, and the caller guarantees that it is writable.
        unsafe {
            answer.write(Timespec { seconds: ms.div_euclid(1000), nanoseconds: ms.rem_euclid(1000) * NS_OF_MS });
        }
        return 0;
    }
    // SAFETY: the kernel checks the pointer.
    let status = unsafe { ask_kernel(SYS_CLOCK_GETTIME, [clock as usize, answer as usize, 0, 0, 0, 0]) };
    if status < 0 {
        // SAFETY: libc's errno of this thread is always writable. A system call fails with -errno.
        unsafe { *__errno_location() = -(status as c_int) };
        return -1;
    }
    if is_wall_clock && let Some(ahead_ms) = OFFSET.read() {
        // SAFETY: not null, and the kernel has just written it.
        unsafe { answer.write(shifted(&answer.read(), ahead_ms)) };
    }
    0
}

fn shifted(now: &Timespec, ahead_ms: i64) -> Timespec {
    // Less than two seconds: no overflow.
    let nanoseconds = now.nanoseconds + ahead_ms.rem_euclid(1000) * NS_OF_MS;
    let seconds = now.seconds + ahead_ms.div_euclid(1000) + nanoseconds / NS_OF_SECOND;
    Timespec { seconds, nanoseconds: nanoseconds % NS_OF_SECOND }
}

/// # Safety
///
/// As `gettimeofday(2)`: both pointers are null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gettimeofday(answer: *mut Timeval, zone: *mut [c_int; 2]) -> c_int {
    if !zone.is_null() {
        // SAFETY: not null, and the caller guarantees that it is writable. Linux also fills in an empty zone.
        unsafe { zone.write([0, 0]) };
    }
    if answer.is_null() {
        return 0;
    }
    let mut now = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: `now` is writable.
    let status = unsafe { clock_gettime(CLOCK_REALTIME, &raw mut now) };
    // SAFETY: not null, and the caller guarantees that it is writable.
    unsafe { answer.write(Timeval { seconds: now.seconds, microseconds: now.nanoseconds / 1000 }) };
    status
}

/// # Safety
///
/// As `time(2)`: `answer` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn time(answer: *mut i64) -> i64 {
    let mut now = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: `now` is writable.
    unsafe { clock_gettime(CLOCK_REALTIME, &raw mut now) };
    if !answer.is_null() {
        // SAFETY: not null, and the caller guarantees that it is writable.
        unsafe { answer.write(now.seconds) };
    }
    now.seconds
}

#[link(name = "c")]
unsafe extern "C" {
    fn getenv(name: *const c_char) -> *const c_char;
    fn __errno_location() -> *mut c_int;
}

/// A clock that stands still, in milliseconds since 1970.
static FROZEN: MappedNumber = MappedNumber::of(c"LOCKSTEP_CLOCK");
/// How far a clock that runs is ahead of the machine's, in milliseconds.
static OFFSET: MappedNumber = MappedNumber::of(c"LOCKSTEP_CLOCK_OFFSET");

/// A number in a file that an environment variable names, mapped when it is first read.
struct MappedNumber {
    variable: &'static CStr,
    page: AtomicPtr<AtomicI64>,
}

impl MappedNumber {
    const fn of(variable: &'static CStr) -> Self {
        Self { variable, page: AtomicPtr::new(ptr::null_mut()) }
    }

    /// `None` when there is none. Where a clock is to stand still, the harness checks the server's time and rejects the server.
    fn read(&self) -> Option<i64> {
        let mut page = self.page.load(Ordering::Acquire);
        if page.is_null() {
            page = map_number(self.variable)?;
            end_with_parent();
            // Two threads may both get here; both mappings show the same file.
            self.page.store(page, Ordering::Release);
        }
        // SAFETY: a page-aligned mapping of the file, never unmapped; the harness only writes it as a whole.
        Some(unsafe { (*page).load(Ordering::Acquire) })
    }
}

/// The kernel ends this process with its parent. If the parent has ended already, so does this one.
fn end_with_parent() {
    const PR_SET_PDEATHSIG: usize = 1;
    const SIGKILL: usize = 9;
    const NO_SUCH_PROCESS: isize = -3;

    let Some(parent) = number_of(c"LOCKSTEP_PARENT") else { return };
    // SAFETY: the kernel checks all arguments; signal 0 is not sent.
    unsafe {
        if ask_kernel(SYS_GETPPID, [0; 6]) == parent as isize {
            ask_kernel(SYS_PRCTL, [PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0]);
        }
        // Asked for last: it may have ended meanwhile. Another parent, a script that starts the server, is none of ours.
        if ask_kernel(SYS_KILL, [parent, 0, 0, 0, 0, 0]) == NO_SUCH_PROCESS {
            ask_kernel(SYS_EXIT_GROUP, [70, 0, 0, 0, 0, 0]);
        }
    }
}

/// The number in an environment variable. The text is read here: what `core` has for that names code for unwinding.
fn number_of(variable: &CStr) -> Option<usize> {
    // SAFETY: a zero-terminated string.
    let mut text = unsafe { getenv(variable.as_ptr()) };
    if text.is_null() {
        return None;
    }
    let mut number = 0_usize;
    loop {
        // SAFETY: not beyond the zero at its end.
        let digit = unsafe { *text } as u8;
        if !digit.is_ascii_digit() {
            return (digit == 0).then_some(number);
        }
        number = number.wrapping_mul(10).wrapping_add((digit - b'0') as usize);
        // SAFETY: the zero is still to come.
        text = unsafe { text.add(1) };
    }
}

fn map_number(variable: &CStr) -> Option<*mut AtomicI64> {
    const AT_FDCWD: usize = -100_isize as usize;
    const O_RDONLY_CLOEXEC: usize = 0o2_000_000;
    const PROT_READ: usize = 1;
    const MAP_SHARED: usize = 1;

    // SAFETY: a zero-terminated string. The result is null before libc is ready; the next call tries again.
    let path = unsafe { getenv(variable.as_ptr()) };
    if path.is_null() {
        return None;
    }
    // SAFETY: the kernel checks all arguments; the mapping is new memory and outlives the descriptor.
    unsafe {
        let file = ask_kernel(SYS_OPENAT, [AT_FDCWD, path as usize, O_RDONLY_CLOEXEC, 0, 0, 0]);
        if file < 0 {
            return None;
        }
        let size = size_of::<AtomicI64>();
        let page = ask_kernel(SYS_MMAP, [0, size, PROT_READ, MAP_SHARED, file as usize, 0]);
        ask_kernel(SYS_CLOSE, [file as usize, 0, 0, 0, 0, 0]);
        (page > 0).then_some(ptr::with_exposed_provenance_mut(page as usize))
    }
}
