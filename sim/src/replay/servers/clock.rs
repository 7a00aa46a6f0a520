//! Time that only the harness moves: one clock per server, read by `sim/clock/lib.rs` inside the server. It stands still
//! until it is set ([`Clock`]), or runs with the machine's until it jumps ([`ClockOffset`]).
//!
//! A clock is an 8-byte file that both sides map into memory, so setting it is one store. `ServerNode::set_clock` sets it
//! and also waits until the server has read it: newer servers cache the time for a moment (Valkey since 9.1, for a
//! millisecond: valkey pull request 3193; Redis since 8.6: redis pull request 14713), and a command in that moment would
//! still run in the past.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::lockfile_dir::LockfileDir;
use crate::replay::error::ReplayError;

// Compiled by build.rs and never here; declared here so that `cargo fmt` finds it.
#[cfg(false)]
#[path = "../../../clock/lib.rs"]
mod preloaded;

/// Names this process to a server that ends with it by itself.
pub(super) const PARENT: &str = "LOCKSTEP_PARENT";

/// The wall clock of one node, in milliseconds since 1970, which stands still until it is set.
#[derive(Debug)]
pub struct Clock(SharedNumber);

impl Clock {
    /// Creates the clock's file in `folder` and maps it.
    ///
    /// # Errors
    /// `System` if the file cannot be created or mapped.
    pub fn create(folder: &Path, start_ms: i64) -> Result<Self, ReplayError> {
        SharedNumber::create(folder.join("clock"), start_ms).map(Self)
    }

    /// The time that the clock shows, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.0.shared().load(Ordering::Acquire)
    }

    /// Sets the time. The server may still use the old one for a moment: see `ServerNode::set_clock`.
    pub fn set_ms(&self, ms: i64) {
        self.0.shared().store(ms, Ordering::Release);
    }

    /// The clock's file.
    pub fn path(&self) -> &Path {
        &self.0.path
    }
}

/// How far the wall clock of one node is ahead of the machine's, in milliseconds. The clock runs.
#[derive(Debug)]
pub struct ClockOffset {
    file: SharedNumber,
    library: Arc<ClockLibrary>,
}

impl ClockOffset {
    /// Creates the file in `folder` and maps it. At first the clock is the machine's.
    ///
    /// # Errors
    /// `System` if the file cannot be created or mapped; as [`ClockLibrary::shared`].
    pub fn create(folder: &Path) -> Result<Self, ReplayError> {
        Ok(Self { file: SharedNumber::create(folder.join("clock-offset"), 0)?, library: ClockLibrary::shared()? })
    }

    /// Makes a program that is started by this command live by this clock.
    pub fn apply_to(&self, command: &mut Command) {
        self.library.apply_to(command);
        command.env("LOCKSTEP_CLOCK_OFFSET", &self.file.path);
    }

    /// The clock jumps: ahead, or back if this is negative. The server may still use the old time for a moment.
    pub fn jump(&self, ms: i64) {
        self.file.shared().fetch_add(ms, Ordering::AcqRel);
    }
}

/// A number in a file that is mapped here and in a server.
#[derive(Debug)]
struct SharedNumber {
    path: PathBuf,
    number: NonNull<AtomicI64>,
}

impl SharedNumber {
    fn create(path: PathBuf, first: i64) -> Result<Self, ReplayError> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(ReplayError::system("create a clock file"))?;
        // Before it is mapped: a mapping beyond the end of the file kills its reader.
        file.write_all(&first.to_ne_bytes()).map_err(ReplayError::system("write a clock file"))?;
        #[expect(unsafe_code, reason = "the kernel offers shared memory as a pointer only")]
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing of ours.
        let page = unsafe {
            mmap(
                std::ptr::null_mut(),
                size_of::<AtomicI64>(),
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                &file,
                0,
            )
        }
        .map_err(|errno| ReplayError::system("map a clock file")(errno.into()))?;
        let number = NonNull::new(page.cast()).ok_or_else(|| ReplayError::link("a clock was mapped at address 0"))?;
        Ok(Self { path, number })
    }

    fn shared(&self) -> &AtomicI64 {
        #[expect(unsafe_code, reason = "the kernel offers shared memory as a pointer only")]
        // SAFETY: mapped until `self` is dropped, aligned to a page, and only read and written atomically.
        unsafe {
            self.number.as_ref()
        }
    }
}

#[expect(unsafe_code, reason = "a raw pointer is not Send and Sync, and an atomic is")]
// SAFETY: the pointer leads to an atomic only, and a mapping belongs to the process and not to a thread.
unsafe impl Send for SharedNumber {}

#[expect(unsafe_code, reason = "a raw pointer is not Send and Sync, and an atomic is")]
// SAFETY: as above.
unsafe impl Sync for SharedNumber {}

impl Drop for SharedNumber {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "the kernel offers shared memory as a pointer only")]
        // SAFETY: mapped in `create`, with this size; nothing borrows from it any more.
        let unmapped = unsafe { munmap(self.number.as_ptr().cast(), size_of::<AtomicI64>()) };
        debug_assert!(unmapped.is_ok(), "a clock cannot be unmapped: {unmapped:?}");
    }
}

/// The preloaded library as a file: one for all nodes of this process, deleted when the last of them is dropped.
#[derive(Debug)]
pub struct ClockLibrary {
    _folder: LockfileDir,
    file: PathBuf,
}

impl ClockLibrary {
    const CODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/lockstep_clock.so"));

    /// The library's file, which is written if no node uses it now.
    ///
    /// # Errors
    ///
    /// `NeedsLinux` on other systems; `System` if the folder of temporary files cannot be written.
    pub fn shared() -> Result<Arc<Self>, ReplayError> {
        static SHARED: Mutex<Weak<ClockLibrary>> = Mutex::new(Weak::new());

        // A weak pointer is valid even if a thread panicked with the lock.
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(library) = shared.upgrade() {
            return Ok(library);
        }
        let library = Arc::new(Self::write()?);
        *shared = Arc::downgrade(&library);
        Ok(library)
    }

    fn write() -> Result<Self, ReplayError> {
        if Self::CODE.is_empty() {
            return Err(ReplayError::NeedsLinux);
        }
        let folder = LockfileDir::new().map_err(ReplayError::system("create a folder"))?;
        let file = folder.path().join("clock.so");
        fs::write(&file, Self::CODE).map_err(ReplayError::system("write the library of clocks"))?;
        Ok(Self { _folder: folder, file })
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// A program that is started by this command lives by the clock that another variable names, and ends with this process.
    pub fn apply_to(&self, command: &mut Command) {
        command.env("LD_PRELOAD", self.path()).env(PARENT, std::process::id().to_string());
    }
}
