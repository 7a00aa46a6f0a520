//! How time passes for the applications of a history: in ticks, and within an instant until what is due has happened.

use super::applications::Applications;
use super::gate::{ClientGate, HeldCommand};
use super::jvm::{Jvm, NS_OF_MS};
use super::started_jvm::StartedJvm;
use crate::replay::error::ReplayError;

/// By how much the clocks of a JVM fall behind those of the servers in each tick: what is due at that instant has not happened
/// yet, also if its time began to run some ticks ago, and the history says when it does. So many ticks do not make half a tick.
const BEHIND_NS: i64 = NS_OF_MS;

/// Two rounds of the wheel of Redisson's timer.
const ROUNDS_NS: i64 = 200 * NS_OF_MS;

impl Applications {
    /// A client stands still, or goes on.
    pub fn set_paused(&mut self, client: usize, is_paused: bool) {
        let started = &mut self.jvms[self.clients[client].jvm];
        started.is_paused = is_paused;
        started.is_late = !is_paused;
    }

    /// The clocks of a client that goes on after a pause jump to the time that it is. Otherwise they do once something that is
    /// overdue is to happen: what a thread does before that comes first.
    ///
    /// # Errors
    /// As [`Jvm::wait_until_quiet`].
    pub fn catch_up(&mut self, client: usize) -> Result<(), ReplayError> {
        self.in_jvm(self.clients[client].jvm, StartedJvm::catch_up)
    }

    /// Whether a client goes on after a pause, and its clocks have not caught up yet.
    pub fn is_late(&self, client: usize) -> bool {
        self.jvms[self.clients[client].jvm].is_late
    }

    /// Whether a client's clocks have moved ahead at this instant: what is due may have happened.
    pub fn has_moved_ahead(&self, client: usize) -> bool {
        let started = &self.jvms[self.clients[client].jvm];
        started.used.jvm.now_ns() > started.due_ns - started.behind_ns
    }

    /// Whether a timer that a reply has set may be due only after half a tick: each renewal is late by as much as the one before it, and
    /// by a round of the wheel.
    pub fn has_late_timers(&self, client: usize) -> bool {
        self.jvms[self.clients[client].jvm].late_ns + ROUNDS_NS / 2 > self.tick_ns / 2
    }

    /// Whether the clocks of a client have moved beyond this instant, because something that is due was waited for.
    pub fn is_ahead(&self, client: usize) -> bool {
        let started = &self.jvms[self.clients[client].jvm];
        started.used.jvm.now_ns() >= started.due_ns
    }

    /// The wall clock of a client jumps.
    pub fn jump_wall_clock(&mut self, client: usize, ms: i64) {
        self.jvms[self.clients[client].jvm].used.jvm.jump_wall_clock(ms);
    }

    /// A tick passes.
    ///
    /// # Errors
    /// As [`Jvm::wait_until_quiet`].
    pub fn pass_tick(&mut self) -> Result<(), ReplayError> {
        for jvm in 0..self.jvms.len() {
            let tick_ns = self.tick_ns;
            self.in_jvm(jvm, |started, gates| {
                started.due_ns += tick_ns;
                started.behind_ns += BEHIND_NS;
                let until_ns = started.due_ns - started.behind_ns;
                if started.is_paused {
                    return Ok(());
                }
                if started.is_late {
                    return started.catch_up(gates);
                }
                started.used.jvm.pass_until(until_ns, gates, |_, _| false).map(|_| ())
            })?;
        }
        Ok(())
    }

    /// Waits until a client has sent such a request. Timers of Redisson are late by up to a tenth of a second, and what is due
    /// at this instant is still to happen: its clocks move ahead, by half a tick at most, until it has.
    ///
    /// # Errors
    /// As [`Jvm::wait_until_quiet`].
    pub fn await_request(
        &mut self,
        client: usize,
        is_wanted: impl Fn(&HeldCommand) -> bool,
    ) -> Result<Option<HeldCommand>, ReplayError> {
        let (jvm, place) = self.place(client);
        self.move_ahead(jvm, |_, gates| gates[place].held().iter().any(&is_wanted))?;
        Ok(self.held(client).into_iter().find(is_wanted))
    }

    /// Waits until a thread's call has ended, as `await_request`.
    ///
    /// # Errors
    /// As [`Jvm::wait_until_quiet`].
    pub fn await_end(&mut self, client: usize, thread: usize) -> Result<(), ReplayError> {
        let Some((number, _)) = self.clients[client].calls.get(thread).cloned().flatten() else { return Ok(()) };
        self.move_ahead(self.clients[client].jvm, |jvm, _| jvm.has_ended(number))
    }

    /// Lets every timer fire that is due at this instant.
    ///
    /// # Errors
    /// As [`Jvm::wait_until_quiet`].
    pub fn pass_what_is_due(&mut self, client: usize) -> Result<(), ReplayError> {
        self.pass_time(client, |_| ROUNDS_NS)
    }

    /// The same, also for timers that were set while the clocks were ahead.
    ///
    /// # Errors
    /// As [`Jvm::wait_until_quiet`].
    pub fn pass_late_timers(&mut self, client: usize) -> Result<(), ReplayError> {
        self.pass_time(client, |started| started.late_ns + ROUNDS_NS)
    }

    /// The same, also for the time-out of a request that was sent again so often, each time somewhat late.
    ///
    /// # Errors
    /// As [`Jvm::wait_until_quiet`].
    pub fn pass_late_attempts(&mut self, client: usize, resends: u8) -> Result<(), ReplayError> {
        let half_ns = self.tick_ns / 2;
        self.pass_time(client, |_| half_ns.min(ROUNDS_NS * (i64::from(resends) + 1)))
    }

    /// The same, however late they are: nothing else is to happen at this instant.
    ///
    /// # Errors
    /// As [`Jvm::wait_until_quiet`].
    pub fn pass_half_a_tick(&mut self, client: usize) -> Result<(), ReplayError> {
        let half_ns = self.tick_ns / 2;
        self.pass_time(client, |_| half_ns)
    }

    fn pass_time(&mut self, client: usize, ahead_ns: impl Fn(&StartedJvm) -> i64) -> Result<(), ReplayError> {
        self.in_jvm(self.clients[client].jvm, |started, gates| {
            started.catch_up(gates)?;
            let until_ns = started.due_ns + ahead_ns(started);
            started.used.jvm.pass_until(until_ns, gates, |_, _| false).map(|_| ())
        })
    }

    /// The JVM of a client, and the place of its gate among those of that JVM.
    fn place(&self, client: usize) -> (usize, usize) {
        let jvm = self.clients[client].jvm;
        (jvm, self.clients[..client].iter().filter(|other| other.jvm == jvm).count())
    }

    fn move_ahead(
        &mut self,
        jvm: usize,
        mut is_done: impl FnMut(&mut Jvm, &[&mut ClientGate]) -> bool,
    ) -> Result<(), ReplayError> {
        let tick_ns = self.tick_ns;
        self.in_jvm(jvm, |started, gates| {
            if is_done(&mut started.used.jvm, gates) {
                return Ok(());
            }
            started.catch_up(gates)?;
            let until_ns = started.due_ns + tick_ns / 2;
            started.used.jvm.pass_until(until_ns, gates, is_done).map(|_| ())
        })
    }
}
