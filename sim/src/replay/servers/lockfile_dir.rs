//! Temporary folders that show whether their process still runs.
//!
//! A process that is killed cannot delete its folders. So every folder contains a lockfile that its process keeps locked
//! (flock): the kernel ends the lock with the process, and a later run deletes each folder whose lockfile it can lock. A
//! process id would not do: another container may share the folder of temporary files and have the same ids.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;
use tempfile::TempDir;

/// How the names of these folders begin.
const PREFIX: &str = "lockstep-";
/// The name of the lockfile.
const LOCKFILE: &str = "held";
/// Its name before it is locked.
const UNLOCKED: &str = "holding";
/// How long nobody needs to create a folder: a process that was killed meanwhile left one without a lockfile.
const CREATED_WITHIN: Duration = Duration::from_secs(3600);

/// The folders of this process, for [`delete_all`].
static IN_USE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A temporary folder, deleted when this value is dropped, or by a later run if the process is killed.
#[derive(Debug)]
pub struct LockfileDir {
    folder: TempDir,
    lockfile: File,
}

impl LockfileDir {
    /// Creates a folder. The first call in a process also deletes the folders that killed processes left behind.
    pub fn new() -> io::Result<Self> {
        static DELETED: Once = Once::new();
        DELETED.call_once(|| delete_abandoned(&std::env::temp_dir()));
        Self::below(&std::env::temp_dir())
    }

    fn below(parent: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        in_use().insert(folder.path().to_owned());
        // Locked before it gets its name: another process that finds the file finds it locked.
        let unnamed = folder.path().join(UNLOCKED);
        let lockfile = File::create_new(&unnamed)?;
        flock(&lockfile, FlockOperation::NonBlockingLockExclusive)?;
        fs::rename(unnamed, folder.path().join(LOCKFILE))?;
        Ok(Self { folder, lockfile })
    }

    /// The folder's path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for LockfileDir {
    fn drop(&mut self) {
        // The lock is held until here, so that no other process deletes at the same time.
        let _ = delete(self.path());
        let _ = flock(&self.lockfile, FlockOperation::Unlock);
        in_use().remove(self.path());
    }
}

/// Deletes every folder of this process: for an end without clean-up.
pub fn delete_all() {
    for folder in in_use().iter() {
        // A server that was killed just now may still have created a file.
        let _ = delete(folder).or_else(|_| delete(folder));
    }
}

fn in_use() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Deletes a folder, the lockfile last: what a process leaves that is killed meanwhile is still known to be abandoned.
fn delete(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() == LOCKFILE {
            continue;
        }
        if entry.file_type()?.is_dir() { fs::remove_dir_all(entry.path())? } else { fs::remove_file(entry.path())? }
    }
    fs::remove_dir_all(folder)
}

/// Deletes every folder of ours whose process is gone. Entries that cannot be read are left alone: they may belong to
/// another user.
fn delete_abandoned(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        if is_ours(&entry.path()) && (is_abandoned(&entry.path()) || is_half_made(&entry.path())) {
            // Another process may be deleting it at the same time.
            let _ = delete(&entry.path());
        }
    }
}

/// Whether it is a folder (not a link to one) that belongs to the current user.
fn is_ours(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir() && found.uid() == geteuid().as_raw())
}

/// Whether its process is gone. A folder without a lockfile is just being created, or is not one of ours.
fn is_abandoned(folder: &Path) -> bool {
    let path = folder.join(LOCKFILE);
    let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
    is_file && File::open(path).is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok())
}

/// Whether its process was killed before there was a lockfile: nothing is in it, and it is old.
fn is_half_made(folder: &Path) -> bool {
    let is_old = fs::symlink_metadata(folder)
        .and_then(|found| found.modified())
        .is_ok_and(|made| made.elapsed().is_ok_and(|age| age > CREATED_WITHIN));
    let is_empty =
        |mut entries: fs::ReadDir| entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == UNLOCKED));
    is_old && fs::read_dir(folder).is_ok_and(is_empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_killed_process_is_deleted_and_no_other_is() {
        let parent = TempDir::new().expect("a folder");
        let in_use = LockfileDir::below(parent.path()).expect("a folder");
        let abandoned = LockfileDir::below(parent.path()).expect("a folder");
        fs::write(abandoned.path().join("dump"), "data").expect("a file");
        // As if its process had been killed: the flock is gone, the folder is not.
        flock(&abandoned.lockfile, FlockOperation::Unlock).expect("our own lock");
        let path = abandoned.path().to_owned();
        std::mem::forget(abandoned);
        let abandoned = path;
        let half_made = parent.path().join("lockstep-half");
        fs::create_dir(&half_made).expect("a folder");
        let long_ago = std::time::SystemTime::now() - 2 * CREATED_WITHIN;
        File::open(&half_made).and_then(|folder| folder.set_modified(long_ago)).expect("our own folder");
        let making = parent.path().join("lockstep-making");
        let foreign = parent.path().join("other-folder");
        for folder in [&making, &foreign] {
            fs::create_dir(folder).expect("a folder");
        }
        fs::write(foreign.join(LOCKFILE), "").expect("a file");
        let link = parent.path().join("lockstep-link");
        std::os::unix::fs::symlink(&foreign, &link).expect("a link");

        delete_abandoned(parent.path());
        assert!(!abandoned.exists(), "its process is gone");
        assert!(!half_made.exists(), "its process was killed before it made the lockfile");
        for kept in [in_use.path(), &making, &foreign, &link] {
            assert!(kept.exists(), "{}", kept.display());
        }
        assert!(foreign.join(LOCKFILE).exists());
    }

    #[test]
    fn a_folder_is_deleted_when_its_value_is_dropped() {
        let parent = TempDir::new().expect("a folder");
        let path = LockfileDir::below(parent.path()).expect("a folder").path().to_owned();
        assert!(!path.exists());
    }
}
