//! A node's save fails, and succeeds again: `MISCONF` (docs/facts/redis.md#a-failed-save).

use std::fs;
use std::io;

use redis::Value;

use super::server_node::ServerNode;
use crate::replay::error::ReplayError;
use crate::replay::servers::control::Control;
use crate::replay::servers::limits::LINK_WAIT;

/// A point at which a server saves, without which it accepts writes after a failed save. No history comes to it.
const SAVE_POINT: &str = "3600 1000000";

impl ServerNode {
    /// Makes a save of the node fail, so that it refuses every write: a folder has the name of its dump.
    ///
    /// # Errors
    ///
    /// `TimedOut` if the save does not fail; `Redis` if the node is not running; `System`.
    pub fn refuse_writes(&self) -> Result<(), ReplayError> {
        self.delete_dump()?;
        fs::create_dir(self.home.data()).map_err(ReplayError::system("make a folder"))?;
        let mut control = self.control();
        set(&mut control, "save", SAVE_POINT)?;
        set(&mut control, "stop-writes-on-bgsave-error", "yes")?;
        save(&mut control, "err")
    }

    /// Makes a save of the node succeed, so that it accepts writes. Nothing is left of the dump.
    ///
    /// # Errors
    ///
    /// As `refuse_writes`.
    pub fn accept_writes(&self) -> Result<(), ReplayError> {
        self.delete_dump()?;
        let mut control = self.control();
        save(&mut control, "ok")?;
        set(&mut control, "save", "")?;
        self.delete_dump()
    }

    /// Deletes the dump, or what stands in its place.
    pub(super) fn delete_dump(&self) -> Result<(), ReplayError> {
        let dump = self.home.data();
        let deleted = if dump.is_dir() { fs::remove_dir(dump) } else { fs::remove_file(dump) };
        match deleted {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(ReplayError::system("delete old data")(error)),
            _ => Ok(()),
        }
    }
}

fn set(control: &mut Control, setting: &str, value: &str) -> Result<(), ReplayError> {
    control.ask::<Value>("CONFIG SET", redis::cmd("CONFIG").arg(&["SET", setting, value])).map(drop)
}

/// Saves, and waits until the save has ended so.
fn save(control: &mut Control, status: &str) -> Result<(), ReplayError> {
    control.ask::<Value>("BGSAVE", &redis::cmd("BGSAVE"))?;
    control.wait(LINK_WAIT, "a server to save its data", |control| {
        let persistence = control.info("persistence")?;
        let field = |name: &str| persistence.get(name).map(String::as_str);
        let is_over = field("rdb_bgsave_in_progress") == Some("0");
        Ok(is_over && field("rdb_last_bgsave_status") == Some(status))
    })
}
