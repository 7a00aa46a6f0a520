//! A JVM of a history, and where its clocks are beside the instant of the history.

use super::gate::ClientGate;
use super::idle_jvms::UsedJvm;
use crate::replay::error::ReplayError;

/// A JVM with clients of a history.
pub struct StartedJvm {
    pub used: UsedJvm,
    /// The time at which its clocks would be if nothing were late.
    pub due_ns: i64,
    /// How far behind that they are after a tick.
    pub behind_ns: i64,
    /// How far ahead of the instant they were when a reply passed: a timer that this set is late by so much.
    pub late_ns: i64,
    /// Whether its clocks stand still while time passes.
    pub is_paused: bool,
    /// Whether it goes on after a pause, and its clocks are still to jump.
    pub is_late: bool,
}

impl StartedJvm {
    /// One that has no history yet.
    pub const fn new(used: UsedJvm) -> Self {
        Self { used, due_ns: 0, behind_ns: 0, late_ns: 0, is_paused: false, is_late: false }
    }

    /// A history begins: its first instant is now. `start_ms`: the wall clock then.
    pub fn begin(&mut self, start_ms: i64) {
        self.used.jvm.set_wall_clock(start_ms);
        self.due_ns = self.used.jvm.now_ns();
        (self.behind_ns, self.late_ns, self.is_paused, self.is_late) = (0, 0, false, false);
    }

    /// The clocks of a process that goes on after a pause jump to the time that it is.
    ///
    /// # Errors
    /// As `Jvm::jump_to`.
    pub fn catch_up(&mut self, gates: &mut [&mut ClientGate]) -> Result<(), ReplayError> {
        if !std::mem::take(&mut self.is_late) {
            return Ok(());
        }
        self.used.jvm.jump_to(self.due_ns - self.behind_ns, gates)
    }
}
