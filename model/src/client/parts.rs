//! A lock of several parts, as a client takes it and gives it back: one part after the other, in its own order.
//!
//! A part is asked for, and waited for, as any lock is (`wait_loop`). When it is granted, the next one follows; with the last
//! one the client believes. When it is not, everything that was taken is given back, each part by a release whose error nobody
//! looks at, and then the call ends; or it begins anew, if that was an error and there is time left, or if it has no limit.
//!
//! Nobody but the client knows of the whole. So its state stands in the threads of the parts: the one that is
//! [next](Phase::NextPart), [to be given back](Phase::GivingBack), asked for or waited for carries what is left of the time. Where
//! every thread is outside a call, the client has all parts that it holds.
//!
//! The clock is looked at after each grant: what came when the time was over is given back (`RedissonMultiLock.tryLock`,
//! docs/facts/family.md#multi).

use super::process::Process;
use super::requests::InFlight;
use super::state::{Client, Phase, Thread};
use crate::config::clients::PartOrder;
use crate::config::switches::{FailedPart, InterruptedCall};
use crate::limits::MAX_THREADS;
use crate::locks::procedure::{AllParts, Next, Procedure};
use crate::mutants::Mutant;
use crate::notes::Happening;
use crate::reply::Reply;
use crate::time::Timer;

/// What one part hands over to the next one that the call is about.
#[derive(Clone, Copy)]
struct Attempt {
    /// What is left of the time of the call, or of its round; off: it does not wait.
    wait_left: Timer,
    /// Whether its round is a later one.
    is_later: bool,
    /// Whether the call has swallowed an interrupt.
    has_swallowed: bool,
}

impl Client {
    /// Whether it is inside a call of a lock that has parts.
    pub(crate) fn is_in_call(&self) -> bool {
        self.threads.iter().any(|thread| !matches!(thread.phase, Phase::Idle | Phase::Dead))
    }

    /// Whether it is inside a call that waits for them: not one that asks once, nor one that gives all back.
    pub(crate) fn waits_for_parts(&self) -> bool {
        self.threads.iter().any(|thread| match thread.phase {
            Phase::NextPart | Phase::GivingBack => thread.wait_left != Timer::OFF,
            _ => thread.is_waiting(),
        })
    }
}

impl Thread {
    /// In a call of a lock of several parts that has swallowed an interrupt, and whose round is a later one.
    const SWALLOWED_LATER: Timer = Timer::ticks(Self::SWALLOWED + 1);

    /// Whether the round is a later one in which this part of a lock is asked for, or was granted. Such a world has no clock of a client
    /// that jumps, in which something else stands here.
    pub const fn is_in_later_round(&self) -> bool {
        matches!(self.limit_left, Timer::DUE | Self::SWALLOWED_LATER)
    }

    const fn attempt(self) -> Attempt {
        Attempt { wait_left: self.wait_left, is_later: self.is_in_later_round(), has_swallowed: self.has_swallowed() }
    }

    const fn take_over(&mut self, Attempt { wait_left, is_later, has_swallowed }: Attempt) {
        self.wait_left = wait_left;
        self.limit_left = match (has_swallowed, is_later) {
            (false, false) => Timer::OFF,
            (false, true) => Timer::DUE,
            (true, false) => Timer::ticks(Self::SWALLOWED),
            (true, true) => Self::SWALLOWED_LATER,
        };
    }
}

impl Thread {
    /// Whether its part is the next one of a call that does not wait, and there is nobody to ask: the ask fails, and with it the call.
    pub(crate) const fn asks_in_vain(self, is_reached: bool) -> bool {
        matches!((self.phase, self.wait_left), (Phase::NextPart, Timer::OFF)) && !is_reached
    }
}

impl<Q: InFlight> Process<'_, Q> {
    const fn parts(&self) -> PartOrder {
        self.config.clients.parts
    }

    /// What a call of this lock does next, after this answer to its ask for a part.
    pub(super) fn next_of_parts(&self, thread: u8, reply: Reply) -> Next {
        AllParts { order: self.parts(), asked: thread }.next(Some(reply))
    }

    /// A client asks for its next part, or for the first one anew.
    pub(crate) fn begin_next_part(&mut self, thread: u8) -> Option<()> {
        if !self.client.is_running() || self.thread(thread).phase != Phase::NextPart {
            return None;
        }
        let asking = self.thread_mut(thread);
        (asking.phase, asking.wake_in) = (Phase::Idle, Timer::OFF);
        Some(())
    }

    /// Whether a thread is about to give its part back.
    pub(crate) fn can_give_back(&self, thread: u8) -> bool {
        self.client.is_running() && self.thread(thread).phase == Phase::GivingBack
    }

    /// A part was granted. `next`: what the call does then.
    pub(super) fn take_part(&mut self, thread: u8, next: Next) {
        let attempt = self.thread(thread).attempt();
        self.leave(thread);
        let taking = self.thread_mut(thread);
        taking.set_holds(taking.holds() + 1);
        taking.take_over(Attempt { wait_left: Timer::OFF, ..attempt });
        self.count_from_now(thread);
        let looks_at_limit = self.config.takes_several();
        if looks_at_limit && attempt.wait_left.is_due() && !self.config.is_mutated(Mutant::WaitLimitIgnored) {
            self.notes.happened(Happening::LimitReached);
            self.give_back(attempt);
        } else if let Next::Ask { part } = next {
            self.go_to_part(part, attempt, Timer::DUE);
        } else if self.config.sets_final_lease() {
            self.begin_final_lease(self.parts().first(), attempt);
        } else {
            self.have_all();
        }
    }

    /// An ask for a part ends without a grant: what was taken before is given back.
    pub(super) fn refuse_part(&mut self, thread: u8) {
        let attempt = self.thread(thread).attempt();
        self.leave(thread);
        self.give_back(attempt);
    }

    /// A waiter for a part is interrupted. Its call takes that for a refusal, and nobody is told; or it ends, with all that it has
    /// given back.
    pub(super) fn interrupt_part(&mut self, thread: u8) {
        let attempt = self.thread(thread).attempt();
        self.leave(thread);
        match self.config.protocol.interrupted_call {
            InterruptedCall::GoesOn => self.give_back(Attempt { has_swallowed: true, ..attempt }),
            InterruptedCall::Ends => self.give_back(Attempt { wait_left: Timer::OFF, ..attempt }),
        }
    }

    /// The next one to be asked for. `wake_in`: by when.
    fn go_to_part(&mut self, part: u8, attempt: Attempt, wake_in: Timer) {
        let next = self.thread_mut(part);
        next.take_over(attempt);
        (next.phase, next.wake_in) = (Phase::NextPart, wake_in);
    }

    /// The first of the parts that were taken is given back, or the call has none left.
    fn give_back(&mut self, attempt: Attempt) {
        let keeps = self.config.is_mutated(Mutant::PartsKept);
        match self.first_taken().filter(|_| !keeps) {
            Some(part) => {
                self.notes.happened(Happening::PartsGivenUp);
                let giving = self.thread_mut(part);
                giving.take_over(attempt);
                giving.phase = Phase::GivingBack;
            }
            None => self.end_attempt(attempt),
        }
    }

    /// The first part, in the order of this client, that it has taken.
    fn first_taken(&self) -> Option<u8> {
        let order = self.parts();
        let first = order.first();
        let parts = [Some(first), order.after(first)];
        parts.into_iter().flatten().find(|part| self.thread(*part).holds() > 0)
    }

    /// An attempt has failed, and everything is given back: the call ends, or begins anew. After an error it asks at once, as
    /// often as it likes; it need not do so before the next tick, since that could go on for ever.
    fn end_attempt(&mut self, attempt: Attempt) {
        let first = self.parts().first();
        for thread in 0..MAX_THREADS {
            if self.thread(thread).phase != Phase::Dead {
                *self.thread_mut(thread) = self.thread(thread).settled();
            }
        }
        // Its caller is told nothing of an interrupt: the flag stays until the next call begins.
        self.thread_mut(first).take_over(Attempt { wait_left: Timer::OFF, is_later: false, ..attempt });
        match attempt.wait_left {
            // One part alone is a lock like any other, whose call ends with its error.
            _ if !self.config.takes_several() => {}
            Timer::OFF => {}
            left if !left.is_due() => self.go_to_part(first, attempt, Timer::SOON),
            _ if self.config.takes_in_rounds() => {
                let multiplies = self.config.multiplies_round_lease();
                // Its wait is as long as its lease would be: longer than any run.
                let wait_left = if multiplies { Timer::FAR } else { Timer::optional(self.config.call_limit()) };
                self.go_to_part(first, Attempt { wait_left, is_later: multiplies, ..attempt }, Timer::DUE);
            }
            _ => {}
        }
    }

    /// Every part is taken, and the lease that the call names is set, of one part after the other.
    fn begin_final_lease(&mut self, part: u8, attempt: Attempt) {
        let setting = self.thread_mut(part);
        setting.take_over(Attempt { wait_left: Timer::OFF, ..attempt });
        setting.phase = Phase::SettingTtl;
    }

    /// The lease of a part was set, or was not: nobody looks at that. An error ends the call, and leaves all parts as they are until
    /// the lease is over by which they were asked for.
    pub(super) fn hear_final_lease(&mut self, thread: u8, reply: Reply) {
        let attempt = self.thread(thread).attempt();
        let setting = self.thread_mut(thread);
        setting.phase = Phase::Idle;
        if !matches!(reply, Reply::TtlSet | Reply::NoTtlSet) {
            return self.end_attempt(Attempt { wait_left: Timer::OFF, ..attempt });
        }
        if reply == Reply::TtlSet {
            self.extend_validity(thread);
        }
        match self.parts().after(thread) {
            Some(next) => self.begin_final_lease(next, attempt),
            None => self.have_all(),
        }
    }

    /// The client has all parts, as far as it knows, and holds them for as long as it may.
    fn have_all(&mut self) {
        let hold_left = Timer::optional(self.config.time.hold_at_most);
        let first = self.parts().first();
        self.thread_mut(first).hold_left = hold_left;
    }

    /// The release of a part was answered, or could not be sent (`None`). What comes next: the next part, whether it is the client
    /// that calls `unlock()` or a call that has failed; an error ends an `unlock()` only.
    pub(crate) fn hear_part_release(&mut self, thread: u8, reply: Option<Reply>) {
        let attempt = self.thread(thread).attempt();
        let was_giving_back = self.thread(thread).phase == Phase::GivingBack;
        // A call of `unlock()` does not wait, and goes on from the first part to the others.
        let is_failed_call = was_giving_back && (thread == self.parts().first() || attempt.wait_left != Timer::OFF);
        let is_released = matches!(reply, Some(Reply::Released | Reply::StillHeld));
        let settled = self.thread(thread).settled();
        *self.thread_mut(thread) = settled;
        if is_failed_call || is_released || self.goes_on_after_error() {
            match self.first_taken() {
                Some(part) => {
                    let giving = self.thread_mut(part);
                    giving.take_over(attempt);
                    giving.phase = Phase::GivingBack;
                }
                None if is_failed_call => self.end_attempt(attempt),
                None => {}
            }
        } else {
            // The caller gets an exception, and counts on nothing any more. What it has not released is renewed on.
            self.end_attempt(Attempt { wait_left: Timer::OFF, is_later: false, has_swallowed: false });
        }
    }

    fn goes_on_after_error(&self) -> bool {
        matches!(self.config.protocol.failed_part, FailedPart::GoesOn)
    }
}
