//! Threads that wait for a time, and the thread that wakes them when the harness has moved the clock.
//!
//! A thread that waits enters its time in the page first and reads the clock afterwards; the waker reads the clock first and
//! the page afterwards. So one of the two always sees the other, and no wait outlasts its time.

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::kernel::numbers::{
    SYS_EPOLL_PWAIT, SYS_FUTEX, SYS_GETPID, SYS_GETTID, SYS_NANOSLEEP, SYS_PRCTL, SYS_RT_SIGPROCMASK, SYS_TGKILL,
};
use crate::kernel::{Timespec, ask_kernel};
use crate::shared::{JvmPage, MOST_WAITERS, NOBODY};
use crate::{NS_OF_MS, end, page, told};

/// What the waker sends a thread that waits for sockets: nobody else uses this number, and it does nothing but end the wait.
const WAKE_NUMBER: usize = 50;
/// The set of only that, as the kernel takes it.
const WAKE_SET: u64 = 1 << (WAKE_NUMBER - 1);
/// A time on the wall clock is beyond this, and one on the monotonic clock below it: three hundred days and thirty years.
const FIRST_WALL_NS: i64 = 1_000_000_000_000_000_000;
const INTERRUPTED: isize = -4;
const TIMED_OUT: c_int = 110;

/// How a waiter is woken.
#[derive(Clone, Copy)]
enum WaitPlace {
    Nobody,
    /// In `pthread_cond_wait`, with its condition and its lock.
    Condition(*mut c_void, *mut c_void),
    /// In `epoll_pwait`: the thread.
    Sockets(usize),
}

/// What only this library knows of each place in the page.
struct WaitTable {
    is_taken: AtomicBool,
    places: UnsafeCell<[WaitPlace; MOST_WAITERS]>,
}

// SAFETY: `places` is only used by the thread that has set `is_taken`.
unsafe impl Sync for WaitTable {}

static TABLE: WaitTable =
    WaitTable { is_taken: AtomicBool::new(false), places: UnsafeCell::new([WaitPlace::Nobody; MOST_WAITERS]) };

impl WaitTable {
    /// Runs `edit` while no other thread does. It is short, and never waits.
    fn with<T>(&self, edit: impl FnOnce(&mut [WaitPlace; MOST_WAITERS]) -> T) -> T {
        while self.is_taken.swap(true, Ordering::SeqCst) {
            sleep_ns(20_000);
        }
        // SAFETY: until `is_taken` is false again, nobody else gets here.
        let result = edit(unsafe { &mut *self.places.get() });
        self.is_taken.store(false, Ordering::SeqCst);
        result
    }
}

/// A place in the page, for as long as a wait lasts.
struct TimedWait {
    page: &'static JvmPage,
    index: usize,
}

impl TimedWait {
    fn begin(page: &'static JvmPage, due_ns: i64, place: WaitPlace) -> Self {
        start_waker(page);
        let is_wheel = is_wheel();
        let index = TABLE.with(|places| {
            let free = places.iter().position(|place| matches!(place, WaitPlace::Nobody));
            let Some(index) = free else { end("lockstep: more threads of this JVM wait than can be woken\n") };
            places[index] = place;
            page.places_used.fetch_max(index as u64 + 1, Ordering::SeqCst);
            page.are_wheels[index].store(is_wheel, Ordering::SeqCst);
            page.waiters[index].store(due_ns, Ordering::SeqCst);
            index
        });
        Self { page, index }
    }
}

/// Whether this thread is the wheel of a timer of Redisson: by its name.
fn is_wheel() -> bool {
    const PR_GET_NAME: usize = 16;
    let mut name = [0_u8; 16];
    // SAFETY: the kernel writes at most 16 bytes.
    unsafe { ask_kernel(SYS_PRCTL, [PR_GET_NAME, (&raw mut name) as usize, 0, 0, 0, 0]) };
    name.starts_with(b"redisson-timer")
}

impl Drop for TimedWait {
    fn drop(&mut self) {
        TABLE.with(|places| {
            places[self.index] = WaitPlace::Nobody;
            self.page.waiters[self.index].store(NOBODY, Ordering::SeqCst);
        });
    }
}

/// # Safety
///
/// As `pthread_cond_timedwait(3)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_timedwait(
    condition: *mut c_void,
    lock: *mut c_void,
    at: *const Timespec,
) -> c_int {
    let Some(page) = page() else { end("lockstep: a JVM under our clock has no page\n") };
    // SAFETY: the caller guarantees that it is readable.
    let at_ns = unsafe { &*at }.as_ns();
    let due_ns = if at_ns < FIRST_WALL_NS {
        at_ns
    } else {
        let wall_ns = page.wall_ms.load(Ordering::SeqCst) * NS_OF_MS;
        page.monotonic_ns.load(Ordering::SeqCst).saturating_add(at_ns - wall_ns)
    };
    let is_over = || page.monotonic_ns.load(Ordering::SeqCst) >= due_ns;
    let wait = TimedWait::begin(page, due_ns, WaitPlace::Condition(condition, lock));
    // SAFETY: as the caller guarantees for this call.
    let status = if is_over() { TIMED_OUT } else { unsafe { pthread_cond_wait(condition, lock) } };
    drop(wait);
    if status == 0 && is_over() { TIMED_OUT } else { status }
}

/// # Safety
///
/// As `epoll_wait(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn epoll_wait(poll: c_int, events: *mut c_void, most: c_int, within_ms: c_int) -> c_int {
    let ask = |within_ms: c_int, set: *const u64| {
        let arguments =
            [poll as usize, events as usize, most as usize, within_ms as usize, set as usize, size_of::<u64>()];
        // SAFETY: the kernel checks the pointers.
        unsafe { ask_kernel(SYS_EPOLL_PWAIT, arguments) }
    };
    let Some(page) = page().filter(|_| within_ms > 0) else {
        return told(ask(within_ms, ptr::null())) as c_int;
    };
    let due_ns = page.monotonic_ns.load(Ordering::SeqCst).saturating_add(i64::from(within_ms) * NS_OF_MS);
    // Blocked outside of the wait, so that it cannot come a moment too early and be lost.
    let outside = block_wake();
    let inside = outside & !WAKE_SET;
    // SAFETY: no argument is a pointer.
    let thread = unsafe { ask_kernel(SYS_GETTID, [0; 6]) } as usize;
    let _wait = TimedWait::begin(page, due_ns, WaitPlace::Sockets(thread));
    loop {
        if page.monotonic_ns.load(Ordering::SeqCst) >= due_ns {
            return told(ask(0, ptr::null())) as c_int;
        }
        match ask(-1, &raw const inside) {
            INTERRUPTED => {}
            answer => return told(answer) as c_int,
        }
    }
}

/// Keeps this thread from being woken outside of its wait. Returns what is blocked from now on.
fn block_wake() -> u64 {
    const SIG_BLOCK: usize = 0;
    let set = WAKE_SET;
    let mut before = 0_u64;
    // SAFETY: both sets are ours.
    unsafe {
        let pointers = [SIG_BLOCK, (&raw const set) as usize, (&raw mut before) as usize, size_of::<u64>(), 0, 0];
        ask_kernel(SYS_RT_SIGPROCMASK, pointers);
    }
    before | WAKE_SET
}

/// Starts the waker with the first wait.
fn start_waker(page: &'static JvmPage) {
    static IS_STARTED: AtomicBool = AtomicBool::new(false);
    if IS_STARTED.swap(true, Ordering::SeqCst) {
        return;
    }
    let mut id = 0_usize;
    // SAFETY: the handler does nothing; the thread gets a page that is never unmapped.
    let status = unsafe {
        signal(WAKE_NUMBER as c_int, ignore_wake as *const c_void);
        siginterrupt(WAKE_NUMBER as c_int, 1);
        pthread_create(&raw mut id, ptr::null(), wake_for_ever, ptr::from_ref(page).cast_mut().cast())
    };
    if status != 0 {
        end("lockstep: the thread that moves the clock of this JVM does not start\n");
    }
}

extern "C" fn ignore_wake(_: c_int) {}

extern "C" fn wake_for_ever(page: *mut c_void) -> *mut c_void {
    const FUTEX_WAIT: usize = 0;
    const SIG_SETMASK: usize = 2;
    let all = u64::MAX;
    // SAFETY: the page is never unmapped; the set is ours. What is sent to the process is for the JVM's own threads.
    let (page, process) = unsafe {
        ask_kernel(SYS_RT_SIGPROCMASK, [SIG_SETMASK, (&raw const all) as usize, 0, size_of::<u64>(), 0, 0]);
        (&*page.cast::<JvmPage>(), ask_kernel(SYS_GETPID, [0; 6]) as usize)
    };
    // SAFETY: no argument is a pointer.
    page.waker.store(unsafe { ask_kernel(SYS_GETTID, [0; 6]) } as u32, Ordering::SeqCst);
    loop {
        let moves = page.moves.load(Ordering::SeqCst);
        while wake_due(page, process) {
            sleep_ns(30_000);
        }
        // SAFETY: the word is in the page. It returns at once if the time was moved meanwhile.
        unsafe {
            ask_kernel(SYS_FUTEX, [(&raw const page.moves) as usize, FUTEX_WAIT, moves as usize, 0, 0, 0]);
        }
    }
}

/// Wakes every thread whose time has come. Whether some had not left their wait yet.
fn wake_due(page: &JvmPage, process: usize) -> bool {
    let now_ns = page.monotonic_ns.load(Ordering::SeqCst);
    if page.next_due_ns() > now_ns {
        return false;
    }
    // While the table is ours no waiter leaves its wait, so its condition and its lock still exist.
    TABLE.with(|places| {
        for (place, due_ns) in places.iter().zip(&page.waiters) {
            if due_ns.load(Ordering::SeqCst) > now_ns {
                continue;
            }
            match *place {
                WaitPlace::Nobody => {}
                // SAFETY: as said above. If another thread has the lock, the next round tries again.
                WaitPlace::Condition(condition, lock) => unsafe {
                    if pthread_mutex_trylock(lock) == 0 {
                        pthread_cond_broadcast(condition);
                        pthread_mutex_unlock(lock);
                    }
                },
                // SAFETY: no argument is a pointer.
                WaitPlace::Sockets(thread) => unsafe {
                    ask_kernel(SYS_TGKILL, [process, thread, WAKE_NUMBER, 0, 0, 0]);
                },
            }
        }
    });
    true
}

fn sleep_ns(ns: i64) {
    let asked = Timespec::of_ns(ns);
    // SAFETY: `asked` is readable.
    unsafe { ask_kernel(SYS_NANOSLEEP, [(&raw const asked) as usize, 0, 0, 0, 0, 0]) };
}

#[link(name = "c")]
unsafe extern "C" {
    fn pthread_cond_wait(condition: *mut c_void, lock: *mut c_void) -> c_int;
    fn pthread_cond_broadcast(condition: *mut c_void) -> c_int;
    fn pthread_mutex_trylock(lock: *mut c_void) -> c_int;
    fn pthread_mutex_unlock(lock: *mut c_void) -> c_int;
    fn pthread_create(
        id: *mut usize,
        attributes: *const c_void,
        run: extern "C" fn(*mut c_void) -> *mut c_void,
        argument: *mut c_void,
    ) -> c_int;
    fn signal(number: c_int, handler: *const c_void) -> *const c_void;
    fn siginterrupt(number: c_int, interrupts: c_int) -> c_int;
}
