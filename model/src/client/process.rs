//! What a rule of the client side works on, and what can happen to a process and its threads.
//!
//! A running client is prompt: what it can do at once it does before time passes. Only a pause, or a master that does not
//! answer, makes it late.

use super::requests::{InFlight, Request, Slot};
use super::state::{Client, GroupView, Mode, Phase, Thread};
use crate::config::sections::Config;
use crate::mutants::Mutant;
use crate::notes::Notes;
use crate::time::Timer;

/// What a rule of the client side works on: one process, what it has in flight, and what is noted. It reaches no server:
/// what it wants from one is an output, what it hears of one an input.
pub(crate) struct Process<'a, Q: InFlight> {
    /// As this client sees it: the settings are its own.
    pub(crate) config: &'a Config,
    pub(crate) client: &'a mut Client,
    pub(crate) in_flight: &'a mut Q,
    pub(crate) notes: &'a mut Notes,
    /// Output: its last waiter has left, and it unsubscribes.
    pub(crate) unsubscribes: bool,
}

impl<Q: InFlight> Process<'_, Q> {
    /// One of its threads.
    pub(super) const fn thread(&self, thread: u8) -> &Thread {
        &self.client.threads[thread as usize]
    }

    /// One of its threads.
    pub(super) const fn thread_mut(&mut self, thread: u8) -> &mut Thread {
        &mut self.client.threads[thread as usize]
    }

    /// The call of a thread, if one is in flight.
    pub(super) fn call_of(&self, thread: u8) -> Option<&Request> {
        self.in_flight.requests().get(Slot::of_thread(thread))
    }

    /// The process starts, and takes this node for the master. It has no old master to compare with, so no lock delay begins:
    /// it waits for the delay of a start (docs/facts/redis.md#a-client-that-starts-or-goes-back). From here on it has one. A
    /// process that sleeps before it connects starts when it connects, and has no delay.
    pub(crate) fn start(&mut self, master: u8) -> Option<()> {
        if self.client.mode != Mode::NotStarted {
            return None;
        }
        self.client.mode = Mode::Running;
        self.client.views[0] = GroupView::of(master);
        if !self.config.is_mutated(Mutant::StartDelayIgnored) {
            self.wait_before_asking(self.config.cluster.start_delay);
        }
        Some(())
    }

    /// The process takes another node for the master than before: from here on it delays.
    pub(crate) fn turn_to(&mut self, master: u8) {
        // A change of the master keeps the number of replicas (docs/facts/redisson.md#replica-count).
        let known = self.client.views[0].known_replicas();
        self.client.views[0] = GroupView::of(master);
        self.client.views[0].set_known_replicas(known);
        if !self.config.is_mutated(Mutant::LockDelayIgnored) {
            self.wait_before_asking(self.config.cluster.lock_delay);
        }
    }

    /// It does not ask for so many ticks from now; a longer delay that has begun already goes on.
    fn wait_before_asking(&mut self, ticks: u8) {
        let left = self.client.asks_in.left().unwrap_or(0);
        self.client.asks_in = Timer::optional(Some(left.max(ticks)).filter(|ticks| *ticks > 0));
    }

    /// The process dies. A crashed client is not a believer.
    pub(crate) fn crash(&mut self) -> Option<()> {
        if !self.client.is_alive() {
            return None;
        }
        let threads = self.client.threads.map(Thread::killed);
        *self.client = Client { mode: Mode::Crashed, threads, ..Client::ABSENT };
        if let Some(requests) = self.in_flight.requests_mut() {
            requests.outlive_client();
        }
        self.unsubscribes = true;
        Some(())
    }

    /// A thread dies that holds or calls.
    pub(crate) fn crash_thread(&mut self, thread: u8) -> Option<()> {
        let is_running = self.client.is_running();
        let dying = self.thread(thread);
        let is_holding = dying.phase == Phase::Idle && dying.has_hold();
        // With a request in flight its process hears the reply all the same.
        if !is_running || !(is_holding || dying.is_calling()) {
            return None;
        }
        // Its process keeps the renewal entry: nobody has called unlock. Its place among the waiters is freed.
        if dying.phase == Phase::AskingAgain {
            self.leave(thread);
        }
        *self.thread_mut(thread) = self.thread(thread).killed();
        Some(())
    }

    /// The process stops running for a while.
    pub(crate) fn pause(&mut self) -> Option<()> {
        if !self.client.is_running() {
            return None;
        }
        self.client.mode = Mode::Paused;
        Some(())
    }

    /// The process runs again.
    pub(crate) fn resume(&mut self) -> Option<()> {
        if self.client.mode != Mode::Paused {
            return None;
        }
        self.client.mode = Mode::Running;
        self.look_at_clock();
        Some(())
    }

    /// The wall clock of the process jumps, and with it all its wait limits: Redisson's `tryLock` measures them by
    /// `System.currentTimeMillis`, and everything else by timers that never jump. Simplified: a sleeper whose limit is over
    /// by such a jump leaves at once, and not when it next wakes.
    pub(crate) fn jump_wall_clock(&mut self) -> Option<()> {
        if !self.client.is_alive() || !self.client.threads.iter().any(|thread| thread.wait_left != Timer::OFF) {
            return None;
        }
        for thread in &mut self.client.threads {
            thread.wait_left = thread.wait_left.moved(self.config.time.jump).unwrap_or(Timer::DUE);
        }
        Some(())
    }
}
