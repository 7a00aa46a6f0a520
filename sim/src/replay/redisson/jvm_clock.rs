//! The time of a JVM, as the harness moves it: the page that `sim/clock/jvm.rs` reads inside the JVM.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::replay::error::ReplayError;

#[path = "../../../clock/shared.rs"]
mod shared;

// Compiled by build.rs and never here; declared here so that `cargo fmt` finds it.
#[cfg(false)]
#[path = "../../../clock/jvm.rs"]
mod preloaded;

pub use shared::JvmPage;

const CODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/lockstep_jvm_clock.so"));
const NS_OF_MS: i64 = 1_000_000;

/// Both clocks of one JVM. They stand still until they are moved.
#[derive(Debug)]
pub struct JvmClock {
    library: PathBuf,
    file: PathBuf,
    page: NonNull<JvmPage>,
}

#[expect(unsafe_code, reason = "a pointer says nothing of threads")]
// SAFETY: the page is of atomics only, and mapped until `self` is dropped, on whatever thread that is.
unsafe impl Send for JvmClock {}

impl JvmClock {
    /// Creates the page in `folder`.
    ///
    /// # Errors
    /// `NeedsLinux` on other systems; `System` if a file cannot be created or mapped.
    pub fn create(folder: &Path, start_ms: i64) -> Result<Self, ReplayError> {
        /// The JVM sees a machine that has run for a while: a deadline in the past is then no negative number.
        const FIRST_NS: i64 = 1_000_000 * NS_OF_MS;

        if CODE.is_empty() {
            return Err(ReplayError::NeedsLinux);
        }
        let library = folder.join("jvm-clock.so");
        fs::write(&library, CODE).map_err(ReplayError::system("write the library of clocks"))?;
        let file = folder.join("jvm-clock");
        let open = OpenOptions::new().read(true).write(true).create_new(true).open(&file);
        let opened = open.map_err(ReplayError::system("create a clock file"))?;
        // With its blocks: to write to a page that a full disk has no room for would end this process (SIGBUS).
        fallocate(&opened, FallocateFlags::empty(), 0, size_of::<JvmPage>() as u64)
            .map_err(|errno| ReplayError::system("write a clock file")(errno.into()))?;
        let flags = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        #[expect(unsafe_code, reason = "the kernel offers shared memory as a pointer only")]
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing of ours.
        let page = unsafe { mmap(std::ptr::null_mut(), size_of::<JvmPage>(), flags.0, flags.1, &opened, 0) }
            .map_err(|errno| ReplayError::system("map a clock file")(errno.into()))?;
        let page = NonNull::new(page.cast()).ok_or_else(|| ReplayError::link("a clock was mapped at address 0"))?;
        let clock = Self { library, file, page };
        clock.page().wall_ms.store(start_ms, Ordering::SeqCst);
        clock.page().monotonic_ns.store(FIRST_NS, Ordering::SeqCst);
        Ok(clock)
    }

    /// Makes a JVM that is started by this command live by these clocks.
    pub fn apply_to(&self, command: &mut Command) {
        command.env("LD_PRELOAD", &self.library).env("LOCKSTEP_JVM_CLOCK", &self.file);
    }

    /// What the JVM and the harness share.
    pub fn page(&self) -> &JvmPage {
        #[expect(unsafe_code, reason = "the kernel offers shared memory as a pointer only")]
        // SAFETY: mapped until `self` is dropped, aligned to a page, and of atomics only.
        unsafe {
            self.page.as_ref()
        }
    }

    /// The monotonic clock, in nanoseconds.
    pub fn now_ns(&self) -> i64 {
        self.page().monotonic_ns.load(Ordering::SeqCst)
    }

    /// Moves both clocks, so that the monotonic one shows `to_ns`, and wakes the thread of the JVM that wakes the others.
    pub fn move_to(&self, to_ns: i64) {
        let page = self.page();
        // Whole milliseconds that begin in this stretch: moved in many small stretches, the wall clock keeps up.
        let passed_ms = to_ns.div_euclid(NS_OF_MS) - self.now_ns().div_euclid(NS_OF_MS);
        page.wall_ms.fetch_add(passed_ms, Ordering::SeqCst);
        page.monotonic_ns.store(to_ns, Ordering::SeqCst);
        page.moves.fetch_add(1, Ordering::SeqCst);
        #[expect(unsafe_code, reason = "a futex is a system call on a pointer")]
        // SAFETY: the word is in the page, which is mapped; waking changes no memory.
        unsafe {
            libc::syscall(libc::SYS_futex, page.moves.as_ptr(), libc::FUTEX_WAKE, i32::MAX);
        }
    }
}

impl Drop for JvmClock {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "the kernel offers shared memory as a pointer only")]
        // SAFETY: mapped in `create`, with this size; nothing borrows from it any more.
        let unmapped = unsafe { munmap(self.page.as_ptr().cast(), size_of::<JvmPage>()) };
        debug_assert!(unmapped.is_ok(), "a clock cannot be unmapped: {unmapped:?}");
    }
}
