//! Temporary folders that show whether their process still runs.
//!
//! A process that is killed cannot delete its folders. So every folder contains a lockfile that its process keeps locked
//! (flock): the kernel ends the lock with the process, and a later run deletes each folder whose lockfile it can lock. A
//! process id would not do: another container may share the folder of temporary files and have the same ids.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Once;

use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;
use tempfile::TempDir;

/// How the names of these folders begin.
const PREFIX: &str = "lockstep-";
/// The name of the lockfile.
const LOCKFILE: &str = "held";

/// A temporary folder, deleted when this value is dropped, or by a later run if the process is killed.
#[derive(Debug)]
pub struct LockfileDir {
    folder: TempDir,
    _lockfile: File,
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
        // Locked before it gets its name: another process that finds the file finds it locked.
        let unnamed = folder.path().join("holding");
        let lockfile = File::create_new(&unnamed)?;
        flock(&lockfile, FlockOperation::NonBlockingLockExclusive)?;
        fs::rename(unnamed, folder.path().join(LOCKFILE))?;
        Ok(Self { folder, _lockfile: lockfile })
    }

    /// The folder's path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Deletes every folder of ours whose process is gone. Entries that cannot be read are left alone: they may belong to
/// another user.
fn delete_abandoned(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        if is_ours(&entry.path()) && is_abandoned(&entry.path()) {
            // Another process may be deleting it at the same time.
            let _ = fs::remove_dir_all(entry.path());
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
        let LockfileDir { folder, _lockfile: lockfile } = abandoned;
        drop(lockfile);
        let abandoned = folder.keep();
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
