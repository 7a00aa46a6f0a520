//! A node saves a snapshot; or its save fails, and succeeds again: `MISCONF` (docs/facts/redis.md#a-failed-save).

use std::fs;
use std::io;
use std::path::PathBuf;

use redis::Value;

use super::server_node::ServerNode;
use crate::replay::error::ReplayError;
use crate::replay::servers::control::Control;
use crate::replay::servers::limits::DISK_WAIT;

/// A point at which a server saves, without which it accepts writes after a failed save. No history comes to it.
const SAVE_POINT: &str = "3600 1000000";

impl ServerNode {
    /// Saves a snapshot (`BGSAVE`), and waits until it is saved.
    ///
    /// # Errors
    ///
    /// `TimedOut` if it is not saved; `Redis` if the node is not running.
    pub fn save_snapshot(&self) -> Result<(), ReplayError> {
        save(&mut self.control())
    }

    /// Makes a save of the node fail, so that it refuses every write: a folder has the name of its dump. The snapshot that it
    /// saved before, if it saves any, is kept as on a full disk.
    ///
    /// # Errors
    ///
    /// `TimedOut` if the save does not fail; `Redis` if the node is not running; `System`.
    pub fn refuse_writes(&self) -> Result<(), ReplayError> {
        let dump = self.home.data();
        if self.settings.has_snapshots && dump.is_file() {
            fs::rename(&dump, self.kept()).map_err(ReplayError::system("keep a snapshot"))?;
        }
        self.delete_dump()?;
        fs::create_dir(dump).map_err(ReplayError::system("make a folder"))?;
        let mut control = self.control();
        if !self.settings.has_snapshots {
            set(&mut control, "save", SAVE_POINT)?;
        }
        set(&mut control, "stop-writes-on-bgsave-error", "yes")?;
        save_with(&mut control, "err")
    }

    /// Makes a save of the node succeed, so that it accepts writes. Of the dump something is left only where it saves
    /// snapshots.
    ///
    /// # Errors
    ///
    /// As `refuse_writes`.
    pub fn accept_writes(&self) -> Result<(), ReplayError> {
        self.delete_dump()?;
        let mut control = self.control();
        save_with(&mut control, "ok")?;
        if self.settings.has_snapshots {
            return delete(fs::remove_file(self.kept()));
        }
        set(&mut control, "save", "")?;
        self.delete_dump()
    }

    /// Makes the node write whatever it is sent, or refuse as before after a failed save. For lack of replicas it refuses once it
    /// is told again how many it needs.
    ///
    /// # Errors
    ///
    /// `Redis` if the node is not running.
    pub fn accept_every_write(&self, accepts: bool) -> Result<(), ReplayError> {
        let mut control = self.control();
        if accepts {
            set(&mut control, "min-replicas-to-write", "0")?;
        }
        set(&mut control, "stop-writes-on-bgsave-error", if accepts { "no" } else { "yes" })
    }

    /// If saves of the node fail, they do not any more, and the snapshot from before is back.
    pub(super) fn end_failing_saves(&self) -> Result<(), ReplayError> {
        if !self.home.data().is_dir() {
            return Ok(());
        }
        self.delete_dump()?;
        let kept = self.kept();
        if !kept.is_file() {
            return Ok(());
        }
        fs::rename(kept, self.home.data()).map_err(ReplayError::system("put a snapshot back"))
    }

    /// Deletes the dump, or what stands in its place.
    pub(super) fn delete_dump(&self) -> Result<(), ReplayError> {
        let dump = self.home.data();
        delete(if dump.is_dir() { fs::remove_dir(dump) } else { fs::remove_file(dump) })
    }

    /// Where the last snapshot is while saves fail.
    fn kept(&self) -> PathBuf {
        self.home.folder.path().join("kept.rdb")
    }
}

/// What was there is deleted, if anything was.
fn delete(deleted: io::Result<()>) -> Result<(), ReplayError> {
    match deleted {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(ReplayError::system("delete old data")(error)),
        _ => Ok(()),
    }
}

fn set(control: &mut Control, setting: &str, value: &str) -> Result<(), ReplayError> {
    control.ask::<Value>("CONFIG SET", redis::cmd("CONFIG").arg(&["SET", setting, value])).map(drop)
}

/// Saves, and waits until the save has ended so.
fn save_with(control: &mut Control, status: &str) -> Result<(), ReplayError> {
    save(control)?;
    control.wait(DISK_WAIT, "a server to save its data", |control| {
        Ok(control.info("persistence")?.get("rdb_last_bgsave_status").is_some_and(|last| last == status))
    })
}

/// Saves, and waits until the save has ended, well or not.
///
/// A server has one child process at a time, and refuses to save while it rewrites its AOF, as after a full copy. `BGSAVE
/// SCHEDULE` would not be refused, but after a failed save the server lets five seconds of its clock pass before it begins
/// one that is scheduled, and here its clock stands still.
fn save(control: &mut Control) -> Result<(), ReplayError> {
    control.wait(DISK_WAIT, "a server to end the save or the rewrite before", has_no_child)?;
    control.ask::<Value>("BGSAVE", &redis::cmd("BGSAVE"))?;
    control.wait(DISK_WAIT, "a server to end its save", has_no_child)
}

/// Whether the server neither saves nor rewrites its AOF, nor is about to.
fn has_no_child(control: &mut Control) -> Result<bool, ReplayError> {
    let persistence = control.info("persistence")?;
    let is_idle = |field: &&str| persistence.get(*field).is_none_or(|number| number == "0");
    Ok(["rdb_bgsave_in_progress", "aof_rewrite_in_progress", "aof_rewrite_scheduled"].iter().all(is_idle))
}
