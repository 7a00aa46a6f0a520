//! Temporary folders that say whether anybody still uses them.
//!
//! A process that is killed outright deletes nothing. So every folder of ours holds a file that its process keeps locked:
//! the lock ends with the process, however that ended, and whoever can take it may delete the folder. Process numbers
//! would not do: another container may share the folder of temporary files and have numbers of its own.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Once;

use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;
use tempfile::TempDir;

/// What the folders' names begin with.
const PREFIX: &str = "lockstep-";
/// The locked file.
const HELD: &str = "held";

/// A temporary folder, deleted with this value, or by a later run if the process is killed before.
#[derive(Debug)]
pub(super) struct HeldFolder {
    folder: TempDir,
    _held: File,
}

impl HeldFolder {
    /// A new one. The first of a process clears away what killed ones have left.
    pub(super) fn new() -> io::Result<Self> {
        static CLEARED: Once = Once::new();
        CLEARED.call_once(|| clear(&std::env::temp_dir()));
        Self::below(&std::env::temp_dir())
    }

    fn below(parent: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        // Locked before it has its name: nobody finds it and takes the lock in between.
        let draft = folder.path().join("holding");
        let held = File::create_new(&draft)?;
        flock(&held, FlockOperation::NonBlockingLockExclusive)?;
        fs::rename(draft, folder.path().join(HELD))?;
        Ok(Self { folder, _held: held })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Deletes every folder of ours that nobody holds. What cannot be looked at is left alone: it may be somebody else's.
fn clear(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        if is_ours(&entry.path()) && is_left(&entry.path()) {
            // Somebody else may be clearing it away as well.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether it is a folder, and no link to one, that belongs to the user who asks.
fn is_ours(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir() && found.uid() == geteuid().as_raw())
}

/// Whether its process is gone. A folder without the file is just being made, or not of this kind.
fn is_left(folder: &Path) -> bool {
    let held = folder.join(HELD);
    let is_file = fs::symlink_metadata(&held).is_ok_and(|found| found.is_file());
    is_file && File::open(held).is_ok_and(|held| flock(&held, FlockOperation::NonBlockingLockExclusive).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_nobody_holds_is_cleared_away_and_no_other_is() {
        let parent = TempDir::new().expect("a folder");
        let held = HeldFolder::below(parent.path()).expect("a folder");
        let left = HeldFolder::below(parent.path()).expect("a folder");
        fs::write(left.path().join("dump"), "data").expect("a file");
        // As if its process had been killed: the lock is gone, the folder is not.
        let HeldFolder { folder: left, _held: lock } = left;
        drop(lock);
        let left = left.keep();
        let making = parent.path().join("lockstep-making");
        let foreign = parent.path().join("other-folder");
        for folder in [&making, &foreign] {
            fs::create_dir(folder).expect("a folder");
        }
        fs::write(foreign.join(HELD), "").expect("a file");
        let link = parent.path().join("lockstep-link");
        std::os::unix::fs::symlink(&foreign, &link).expect("a link");

        clear(parent.path());
        assert!(!left.exists(), "nobody holds it");
        for kept in [held.path(), &making, &foreign, &link] {
            assert!(kept.exists(), "{}", kept.display());
        }
        assert!(foreign.join(HELD).exists());
    }

    #[test]
    fn a_folder_goes_with_its_value() {
        let parent = TempDir::new().expect("a folder");
        let path = HeldFolder::below(parent.path()).expect("a folder").path().to_owned();
        assert!(!path.exists());
    }
}
