//! `WAIT` on the client side: a grant is believed once replicas have it.
//!
//! The master has stored the grant, and its holder asks how many replicas have acknowledged it (`WAIT k t`). Where too few
//! have it the holder gives the grant back by a release, which can fail as any request can. Then the lock stays as it is
//! until its lease ends.
//!
//! Where request and answer are one step, an acquire, its `WAIT` and the undo are three. Where they are steps of their own,
//! `WAIT` travels with the acquire in one batch (Redisson: `RedissonBaseLock.evalWriteSynced`): a client that loses the
//! answer to one loses both, the renewal table hears of the grant after both, and the undo is a request like any other. The
//! node answers as soon as enough replicas have it; `Confirm` is its time-out.
//!
//! The number of replicas is read before each script of the lock whose client does not know it, whatever the script is
//! answered. Redisson also waits after every script, and repeats an acquire that too few replicas have; here only a granted
//! acquire waits unless `wait_after` says more, and a client that was refused so may ask again.
//!
//! Source: docs/facts/redisson.md#replica-check, #replica-count, #redisson-315-does-not-check.

use super::process::Process;
use super::requests::InFlight;
use super::state::{Phase, Thread};
use crate::config::sections::Config;
use crate::config::switches::WaitRule;
use crate::mutants::Mutant;
use crate::reply::Reply;

impl<Q: InFlight> Process<'_, Q> {
    /// How many replicas an acquire waits for now; 0: it sends no `WAIT`. `connected` counts the master's replicas
    /// (`INFO`), if the client does not remember their number.
    pub(crate) fn replicas_to_wait_for(&mut self, connected: impl FnOnce() -> u8) -> u8 {
        match self.config.protocol.wait_rule {
            _ if self.config.cluster.wait_for == 0 => 0,
            WaitRule::Any => {
                let view = &mut self.client.views[0];
                let known = view.known_replicas().unwrap_or_else(connected);
                view.set_known_replicas(Some(known));
                known
            }
            WaitRule::All | WaitRule::Ignored => self.config.cluster.wait_for,
        }
    }

    /// A thread was granted the lock, and waits for the answer to its `WAIT` before it believes.
    pub(crate) fn begin_confirming(&mut self, thread: u8, token: u8) {
        self.leave(thread);
        self.count_from_now(thread);
        let confirming = self.thread_mut(thread);
        confirming.phase = Phase::Confirming;
        confirming.token = confirming.token.max(token);
    }

    /// A thread hears the answer to its `WAIT`, where it does nothing else meanwhile. True: it holds now, as far as it
    /// knows.
    pub(crate) fn hear_wait(&mut self, thread: u8, reply: Reply) -> bool {
        self.note_wait(self.client.master(), reply);
        if matches!(reply, Reply::TooFewReplicas { .. }) {
            self.begin_undo(thread);
            return false;
        }
        let token = self.thread(thread).token;
        self.believe(thread, token);
        true
    }

    /// A number other than the one that the client knew is not kept: it reads the number before its next script, which may
    /// be the undo.
    pub(crate) fn note_wait(&mut self, node: u8, reply: Reply) {
        if self.client.master() == node && self.is_news(reply) {
            self.client.views[0].set_known_replicas(None);
        }
    }

    /// Whether a `WAIT` answered another number than the client remembers.
    fn is_news(&self, reply: Reply) -> bool {
        let (Reply::Acknowledged { replicas } | Reply::TooFewReplicas { replicas }) = reply else { return false };
        self.config.protocol.wait_rule == WaitRule::Any && self.client.views[0].known_replicas() != Some(replicas)
    }

    /// Time passes. A paused client has its answer by now, and hears it when it runs again.
    pub(crate) fn note_too_few(&mut self, thread: u8, reply: Reply) {
        self.note_wait(self.client.master(), reply);
        self.begin_undo(thread);
    }

    /// Too few replicas have the grant: it is given back, or stays as it is until its lease ends.
    fn begin_undo(&mut self, thread: u8) {
        if self.config.keeps_unacknowledged_grants() {
            self.leave_unconfirmed(thread);
        } else {
            self.thread_mut(thread).phase = Phase::Undoing;
        }
    }

    /// The acquire has failed. A thread that held before holds as before.
    pub(crate) fn leave_unconfirmed(&mut self, thread: u8) {
        let leaving = self.thread_mut(thread);
        *leaving = if leaving.has_hold() { Thread { phase: Phase::Idle, ..*leaving } } else { leaving.settled() };
    }

    /// Whether a thread is about to give its grant back.
    pub(crate) fn can_undo(&self, thread: u8) -> bool {
        self.client.is_running() && self.thread(thread).phase == Phase::Undoing
    }
}

/// What a number of replicas means by the rule of the client whose scenario this is.
pub(crate) fn verdict_on(config: &Config, replicas: u8) -> Reply {
    let needed = match config.protocol.wait_rule {
        WaitRule::Any => 1,
        WaitRule::All => config.cluster.wait_for,
        WaitRule::Ignored => 0,
    };
    if replicas >= needed || config.is_mutated(Mutant::WaitIgnored) {
        Reply::Acknowledged { replicas }
    } else {
        Reply::TooFewReplicas { replicas }
    }
}
