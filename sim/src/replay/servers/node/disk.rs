//! A node's disk: what a power cut leaves of its AOF.
//!
//! A killed process loses nothing that it wrote to a file: the operating system still has it. A machine that loses power
//! also loses what was not yet synced to the disk. So the harness decides when a sync happens, keeps the files as they
//! were then, and puts them back when the node is killed.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::PoisonError;

use super::files::Files;
use super::server_node::ServerNode;
use crate::replay::error::ReplayError;
use crate::replay::servers::control::Control;
use crate::replay::servers::limits::DISK_WAIT;

/// The names of the AOF: a file up to Redis 6.2, a folder of files since 7.0.
const NAMES: [&str; 2] = ["appendonly.aof", "appendonlydir"];

impl ServerNode {
    /// Syncs what the node wrote so far to its disk. After `kill_without_power` exactly that is left.
    ///
    /// # Errors
    ///
    /// `TimedOut` if it does not finish writing; `Redis` if it is not running; `System`.
    pub fn sync_disk(&self) -> Result<(), ReplayError> {
        self.wait_written()?;
        let files = self.files()?;
        *self.disk.lock().unwrap_or_else(PoisonError::into_inner) = Some(files);
        Ok(())
    }

    /// Waits until all that the node stores is in its AOF: a write is there before it is answered, but after a full copy a
    /// child process rewrites the AOF.
    ///
    /// # Errors
    ///
    /// As `sync_disk`.
    pub fn wait_written(&self) -> Result<(), ReplayError> {
        self.control().wait(DISK_WAIT, "a server to write its AOF", has_written)
    }

    /// Kills the process as a power cut does: of its AOF only what was synced is left.
    ///
    /// # Errors
    ///
    /// As `kill`; `System` if the files cannot be put back.
    pub fn kill_without_power(&self) -> Result<(), ReplayError> {
        self.kill()?;
        let synced = self.disk.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default();
        for file in self.files()?.keys() {
            fs::remove_file(file).map_err(ReplayError::system("delete an AOF"))?;
        }
        for (file, content) in synced {
            fs::write(file, content).map_err(ReplayError::system("put an AOF back"))?;
        }
        Ok(())
    }

    fn files(&self) -> Result<Files, ReplayError> {
        let mut files = Files::new();
        for name in NAMES {
            read_all(&self.home.folder.path().join(name), &mut files).map_err(ReplayError::system("read an AOF"))?;
        }
        Ok(files)
    }
}

fn has_written(control: &mut Control) -> Result<bool, ReplayError> {
    let persistence = control.info("persistence")?;
    let is_idle = |field: &str| persistence.get(field).is_none_or(|number| number == "0");
    Ok(["aof_rewrite_in_progress", "aof_rewrite_scheduled", "aof_buffer_length", "aof_pending_bio_fsync"]
        .into_iter()
        .all(is_idle))
}

fn read_all(path: &Path, files: &mut Files) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            read_all(&entry?.path(), files)?;
        }
    } else if path.is_file() {
        files.insert(path.to_owned(), fs::read(path)?);
    }
    Ok(())
}
