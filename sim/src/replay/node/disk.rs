//! A node's disk: what a power cut leaves of its AOF.
//!
//! A killed process loses nothing that it wrote to a file: the operating system has it. What a machine without power
//! loses is what was not yet forced to the disk. So the harness says when that happens, keeps the files as they were
//! then, and puts them back when the node is killed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use super::{Control, LINK_WAIT, Node};
use crate::replay::Error;

/// Files and their content.
pub(super) type Files = BTreeMap<PathBuf, Vec<u8>>;

/// What the AOF is called: a file until Redis 6.2, a folder of files since 7.0.
const NAMES: [&str; 2] = ["appendonly.aof", "appendonlydir"];

impl Node {
    /// Says that what the node wrote so far is on its disk. From then on only that outlives `kill_without_power`.
    ///
    /// # Errors
    ///
    /// `TimedOut` if it does not come to an end with writing; `Redis` if it is not running; `System`.
    pub fn note_disk(&self) -> Result<(), Error> {
        self.wait_written()?;
        let files = self.files()?;
        *self.disk.lock().unwrap_or_else(PoisonError::into_inner) = Some(files);
        Ok(())
    }

    /// Waits until all that the node stores is in its AOF: an answered write is written, but after a copy the AOF is
    /// made anew by a child.
    ///
    /// # Errors
    ///
    /// As `note_disk`.
    pub fn wait_written(&self) -> Result<(), Error> {
        self.control().wait(LINK_WAIT, "a server to write its AOF", Control::has_written)
    }

    /// Kills the process and takes its machine the power: of its AOF there is what was noted.
    ///
    /// # Errors
    ///
    /// As `kill`; `System` if the files cannot be put back.
    pub fn kill_without_power(&self) -> Result<(), Error> {
        self.kill()?;
        let noted = self.disk.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default();
        for file in self.files()?.keys() {
            fs::remove_file(file).map_err(Error::system("delete an AOF"))?;
        }
        for (file, content) in noted {
            fs::write(file, content).map_err(Error::system("put an AOF back"))?;
        }
        Ok(())
    }

    fn files(&self) -> Result<Files, Error> {
        let mut files = Files::new();
        for name in NAMES {
            read_all(&self.home.folder.path().join(name), &mut files).map_err(Error::system("read an AOF"))?;
        }
        Ok(files)
    }
}

impl Control {
    fn has_written(&mut self) -> Result<bool, Error> {
        let said = self.info("persistence")?;
        let is_idle = |field: &str| said.get(field).is_none_or(|number| number == "0");
        Ok(["aof_rewrite_in_progress", "aof_rewrite_scheduled", "aof_buffer_length", "aof_pending_bio_fsync"]
            .into_iter()
            .all(is_idle))
    }
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
