//! The life of a request on the client side, where request and answer are steps of their own.
//!
//! ```text
//!   send ──▶ Sent ──Execute──▶ Executed ──Register──▶ heard ──Answer──▶ the caller knows
//!             │ LoseRequest       │ LoseReply
//!             ▼                   ▼
//!            Lost ◀───────────────┘        after `answer_within`: Resend, or Abandon (the outcome is unknown)
//! ```
//!
//! Subscriptions, forced releases and the `DEL` of a receipt stay one step each. What is made again because of an answer (too few
//! replicas, or a server that refuses) is `Lost` and overdue from then on, so that it is sent again like any other.
//!
//! Source: docs/facts/redisson.md#command-timeout-and-retries, #resending, #undone-tries-lower-the-renewal-count,
//! #noreplicas-and-readonly-are-retried; Redisson's
//! `RedisExecutor`, `RedissonLock.tryAcquireAsync`, `RedissonBaseLock.unlockAsync0`.

use super::process::Process;
use super::requests::{BatchWait, BroughtLease, InFlight, Request, Slot, Stage, Verb};
use super::state::{Mode, Phase};
use crate::config::calls::{InterruptedAcquire, RefusedCall, Registration, Resend, StaleRenewal};
use crate::config::sections::Config;
use crate::config::switches::WaitAfter;
use crate::mutants::Mutant;
use crate::notes::{Capacity, Happening};
use crate::reply::Reply;
use crate::time::Timer;

/// What a request is sent with besides its verb.
#[derive(Clone, Copy)]
pub(crate) struct Sending {
    /// The number of the value that it carries; 0: none.
    pub(crate) value: u8,
    /// The node it goes to.
    pub(crate) node: u8,
    /// Of a release: the number of its receipt; 0: none.
    pub(crate) receipt: u8,
    /// How many replicas its `WAIT` asks for; 0: there is none.
    pub(crate) asks_for: u8,
    /// Which lease it brings.
    pub(crate) lease: BroughtLease,
}

/// What an answered request leads to, beyond the process itself.
pub(crate) enum Answered {
    /// Nothing.
    Heard,
    /// A grant that nobody waits for is given back.
    MustRelease,
    /// Too few replicas have the grant: it is given back.
    MustUndo,
    /// The lock that was taken has no TTL yet.
    MustSetTtl,
    /// Its caller is told of an exception, whatever was executed.
    Failed,
    /// A renewal has failed.
    RenewalFailed,
    /// The receipt of this release is not needed any more.
    DropReceipt {
        /// Its number.
        receipt: u8,
    },
}

impl<Q: InFlight> Process<'_, Q> {
    /// A request sets out. `None`: the slot is taken.
    pub(crate) fn send(&mut self, thread: u8, slot: Slot, verb: Verb, sending: Sending) -> Option<()> {
        let config = self.config;
        let in_slot = self.in_flight.requests_mut()?.slot_mut(slot);
        if in_slot.is_some() {
            return None;
        }
        *in_slot = Some(Request {
            verb,
            thread,
            value: sending.value,
            node: sending.node,
            stage: Stage::Sent,
            id: sending.receipt,
            token: 0,
            age: 0,
            retries_left: if is_resent(config, verb) { config.calls.retry_attempts } else { 0 },
            answer_left: Timer::ticks(config.calls.answer_within),
            is_heard: false,
            must_undo: false,
            is_stale: false,
            lease: sending.lease,
            wait: BatchWait::new(sending.asks_for, repeats_of(config, verb)),
        });
        Some(())
    }

    /// A thread's request has set out. Until it is answered the thread does nothing else.
    pub(crate) fn begin_call(&mut self, thread: u8, verb: Verb) {
        let calling = self.thread_mut(thread);
        calling.phase = match (verb, calling.phase) {
            (Verb::Release, _) => Phase::Releasing,
            (Verb::Undo, _) => Phase::Undoing,
            (Verb::SetTtl, _) => Phase::SettingTtl,
            (Verb::Acquire | Verb::Renew, Phase::Idle) => Phase::Asking,
            (Verb::Acquire | Verb::Renew, _) => Phase::AskingAgain,
        };
        calling.wake_in = Timer::OFF;
        if verb == Verb::Acquire {
            self.count_from_ask(thread);
        }
    }

    /// Whether the reply to a request will be awaited once a node has executed it.
    pub(crate) fn awaits_reply(&self, slot: Slot, request: &Request, must_undo: bool) -> bool {
        self.client.mode != Mode::Crashed && (request.is_awaited(slot) || must_undo)
    }

    /// The process hears of a grant, and enters the hold into its renewal table.
    pub(crate) fn register(&mut self, thread: u8) -> Option<()> {
        self.config.time.renew_every?;
        if !self.client.is_running() {
            return None;
        }
        let requests = self.in_flight.requests_mut()?;
        let owed = &mut requests.owed[usize::from(thread)];
        if *owed > 0 {
            *owed -= 1;
        } else {
            let call = requests.slot_mut(Slot::of_thread(thread)).as_mut()?;
            if call.is_heard || !call.is_granted() || call.lease == BroughtLease::Named {
                return None;
            }
            call.is_heard = true;
        }
        self.register_hold(thread);
        Some(())
    }

    /// The process hears of a release, and removes the hold from its renewal table, also where it was no holder's (Redisson:
    /// `cancelExpirationRenewal` before the check).
    pub(crate) fn unregister(&mut self, thread: u8) -> Option<()> {
        self.config.time.renew_every?;
        if !self.client.is_running() {
            return None;
        }
        let call = self.in_flight.requests_mut()?.slot_mut(Slot::of_thread(thread)).as_mut()?;
        let (false, Verb::Release, Stage::Executed(reply)) = (call.is_heard, call.verb, call.stage) else {
            return None;
        };
        if is_sent_again(self.config, call, reply) {
            return None;
        }
        call.is_heard = true;
        // Each time that it is made, also if it will be made again (docs/facts/redisson.md#undone-tries-lower-the-renewal-count).
        let is_told = !call.wait.has_failed() && !matches!(reply, Reply::TooFewReplicas { .. });
        self.hear_release_in_table(thread, Some(reply).filter(|_| is_told), false);
        self.note_stale_renewal(thread);
        Some(())
    }

    /// If all holds of the thread are gone, the answer to a renewal that was sent for them is stale.
    fn note_stale_renewal(&mut self, thread: u8) {
        let is_gone = self.client.renewal.count(thread) == 0;
        if self.config.calls.stale_renewal == StaleRenewal::Ignore
            && is_gone
            && let Some(requests) = self.in_flight.requests_mut()
            && let Some(renewal) = requests.slot_mut(Slot::Renewal)
        {
            renewal.is_stale |= renewal.thread == thread;
        }
    }

    /// The caller sees the reply.
    pub(crate) fn answer(&mut self, slot: Slot) -> Option<(Reply, Answered)> {
        let request = *self.in_flight.requests().get(slot)?;
        let Stage::Executed(reply) = request.stage else { return None };
        if !self.client.is_running() {
            return None;
        }
        let thread = request.thread;
        if slot.is_late() {
            *self.in_flight.requests_mut()?.slot_mut(slot) = None;
            return Some((reply, self.hear_late(&request, reply)));
        }
        if is_sent_again(self.config, &request, reply) {
            // Whether a `WAIT` was sent or not, and whatever it was answered (tests/redisson/replicas.rs).
            let is_kept = reply == Reply::ReadOnly;
            let has_failed = is_kept || self.config.is_mutated(Mutant::RefusalRemembered);
            let wait = request.wait.without_question();
            let wait = if has_failed { wait.failed() } else { wait };
            self.make_again(slot, Request { wait, ..request })?;
            return Some((reply, Answered::Heard));
        }
        self.note_registration(&request)?;
        *self.in_flight.requests_mut()?.slot_mut(slot) = None;
        let is_alive = self.thread(thread).phase != Phase::Dead;
        self.note_wait(request.node, reply);
        if let Some(replicas) = request.wait.acknowledged() {
            self.note_wait(request.node, Reply::Acknowledged { replicas });
        }
        let leads_to = match request.verb {
            _ if request.wait.has_failed() => {
                self.hear_failure(&request);
                Answered::Failed
            }
            Verb::Release if matches!(reply, Reply::TooFewReplicas { .. }) => {
                if is_alive && request.wait.repeats_left() > 0 {
                    // With all its attempts anew, of which the next one takes the first.
                    let retries_left = self.config.calls.retry_attempts + 1;
                    let wait = request.wait.repeated().without_question();
                    self.make_again(slot, Request { is_heard: false, retries_left, wait, ..request })?;
                } else if is_alive {
                    self.abandon_release(thread);
                }
                Answered::Failed
            }
            Verb::Undo if matches!(reply, Reply::TooFewReplicas { .. }) => {
                if is_alive {
                    self.leave_unconfirmed(thread);
                }
                Answered::Failed
            }
            Verb::Acquire if matches!(reply, Reply::TooFewReplicas { .. }) => {
                if is_alive {
                    self.leave(thread);
                    self.leave_unconfirmed(thread);
                }
                Answered::MustUndo
            }
            Verb::Acquire => {
                if request.is_granted() && request.lease == BroughtLease::Named {
                    self.remember_lease();
                }
                if is_alive {
                    if request.is_granted() {
                        self.extend_validity_by(thread, &request);
                    }
                    self.hear_acquire(thread, reply, request.token);
                    if self.config.is_mutated(Mutant::AnswerBelievedPerTry) && reply == Reply::Acquired {
                        let retries = self.config.calls.retry_attempts - request.retries_left;
                        let holding = self.thread_mut(thread);
                        holding.set_holds(holding.holds() + retries);
                    }
                }
                let must_set_ttl = is_alive && self.thread(thread).phase == Phase::SettingTtl;
                if must_set_ttl { Answered::MustSetTtl } else { Answered::Heard }
            }
            Verb::SetTtl => {
                if is_alive {
                    self.hear_ttl(thread, reply);
                }
                Answered::Heard
            }
            Verb::Release | Verb::Undo => {
                if is_alive && request.verb == Verb::Undo {
                    self.leave_unconfirmed(thread);
                } else if is_alive {
                    self.hear_release(thread, reply);
                    self.note_stale_renewal(thread);
                }
                Answered::DropReceipt { receipt: request.id }
            }
            Verb::Renew => {
                if reply == Reply::Renewed {
                    self.extend_validity_by(thread, &request);
                }
                self.hear_renewal(thread, reply, request.is_stale);
                if reply == Reply::Renewed { Answered::Heard } else { Answered::RenewalFailed }
            }
        };
        Some((reply, leads_to))
    }

    /// A request was answered, and is sent again at once: `Resend` finds it overdue.
    fn make_again(&mut self, slot: Slot, request: Request) -> Option<()> {
        let answer_left = Timer::ticks(0);
        *self.in_flight.requests_mut()?.slot_mut(slot) =
            Some(Request { stage: Stage::Lost, age: 0, answer_left, ..request });
        Some(())
    }

    /// A caller is told of an exception, whatever has become of its request.
    fn hear_failure(&mut self, request: &Request) {
        let thread = request.thread;
        match request.verb {
            Verb::Acquire | Verb::SetTtl => self.abandon_acquire(thread),
            Verb::Release => self.abandon_release(thread),
            Verb::Undo if self.thread(thread).phase != Phase::Dead => self.leave_unconfirmed(thread),
            Verb::Undo => {}
            Verb::Renew => self.renewal_failed(),
        }
    }

    /// The process hears the reply to a request whose caller does not wait any more.
    fn hear_late(&mut self, request: &Request, reply: Reply) -> Answered {
        match request.verb {
            Verb::Release => {
                // An interrupt changes what the caller is told and nothing else.
                self.hear_release_in_table(request.thread, Some(reply), true);
                self.note_stale_renewal(request.thread);
                Answered::DropReceipt { receipt: request.id }
            }
            Verb::Acquire if !request.must_undo => {
                // The grant of an interrupted caller is renewed like any other, and its lease remembered.
                match request.lease {
                    _ if !request.is_granted() => {}
                    BroughtLease::Named => self.remember_lease(),
                    BroughtLease::Common | BroughtLease::Remembered => self.register_hold(request.thread),
                }
                Answered::Heard
            }
            Verb::Acquire | Verb::SetTtl | Verb::Renew | Verb::Undo => Answered::MustRelease,
        }
    }

    /// With a watchdog the renewal table hears of a grant or release as well: before the caller, or (2021) at any time.
    /// `None`: the caller has to wait for that.
    fn note_registration(&mut self, request: &Request) -> Option<()> {
        if self.config.time.renew_every.is_none() || request.is_heard {
            return Some(());
        }
        if request.is_granted() {
            if request.lease == BroughtLease::Named {
                // It names its own lease, and the watchdog does not hear of it.
                return Some(());
            }
            let registration = self.config.calls.registration;
            let room = self.config.room_for(Capacity::Registrations);
            let owed = &mut self.in_flight.requests_mut()?.owed[usize::from(request.thread)];
            if registration == Registration::BeforeAnswer {
                return None;
            }
            if *owed >= room {
                self.notes.exceeded(Capacity::Registrations);
                return None;
            }
            *owed += 1;
        }
        (!request.is_answered_release()).then_some(())
    }

    /// The same request sets out once more.
    pub(crate) fn resend(&mut self, slot: Slot, request: Request, sending: Sending) -> Option<()> {
        let retries_left = request.retries_left.checked_sub(1)?;
        self.abandon_attempt(request)?;
        let answer_left = Timer::ticks(self.config.calls.answer_within);
        *self.in_flight.requests_mut()?.slot_mut(slot) = Some(Request {
            node: sending.node,
            stage: Stage::Sent,
            id: sending.receipt,
            token: 0,
            age: 0,
            retries_left,
            answer_left,
            wait: request.wait.asking(sending.asks_for),
            ..request
        });
        Some(())
    }

    /// No answer came in time, and nothing is resent. Returns what the caller is told: that the outcome is unknown, or that it does
    /// not have the lock.
    pub(crate) fn abandon(&mut self, slot: Slot, request: Request) -> Option<Reply> {
        if request.retries_left > 0 {
            return None;
        }
        let is_later_ask = request.verb == Verb::Acquire && self.thread(request.thread).phase == Phase::AskingAgain;
        let is_refused = is_later_ask && !slot.is_late() && self.config.refuses_unanswered_asks();
        *self.in_flight.requests_mut()?.slot_mut(slot) = None;
        self.abandon_attempt(request)?;
        if !is_refused {
            self.notes.happened(Happening::OutcomeUnknown);
        }
        if matches!(request.verb, Verb::Acquire | Verb::SetTtl) && !slot.is_late() {
            self.notes.happened(Happening::AcquireFailed);
        }
        let thread = request.thread;
        match request.verb {
            Verb::Acquire | Verb::SetTtl if slot.is_late() => {}
            Verb::Acquire | Verb::SetTtl => self.abandon_acquire(thread),
            Verb::Undo if self.thread(thread).phase != Phase::Dead => self.leave_unconfirmed(thread),
            Verb::Undo => {}
            Verb::Release => {
                // Redisson removes the entry on an error too.
                self.hear_release_in_table(thread, None, slot.is_late());
                self.note_stale_renewal(thread);
                if !slot.is_late() {
                    self.abandon_release(thread);
                }
            }
            Verb::Renew => self.renewal_failed(),
        }
        Some(if is_refused { Reply::ToldRefused } else { Reply::Unknown })
    }

    /// Nobody waits for this attempt any more. If it is still on its way it may be executed late; a reply finds nobody.
    fn abandon_attempt(&mut self, request: Request) -> Option<()> {
        if request.stage != Stage::Sent {
            return Some(());
        }
        self.put_aside(Request { retries_left: 0, answer_left: Timer::OFF, ..request })
    }

    /// A request whose caller does not wait any more is kept apart. `None`: there is no room for it.
    fn put_aside(&mut self, request: Request) -> Option<()> {
        let free = self.free_late_slot()?;
        *self.in_flight.requests_mut()?.slot_mut(free) = Some(Request { wait: BatchWait::NONE, ..request });
        Some(())
    }

    /// Where there is room for a request whose answer nobody waits for; `None`: nowhere, which is noted.
    pub(crate) fn free_late_slot(&mut self) -> Option<Slot> {
        let requests = self.in_flight.requests();
        let mut slots = Slot::late(self.config.late_requests()).iter().copied();
        let free = slots.find(|slot| requests.get(*slot).is_none());
        if free.is_none() {
            self.notes.exceeded(Capacity::LateRequests);
        }
        free
    }

    /// A thread waits for its call no longer, whatever becomes of it. `must_undo`: a grant is to be released. Of a release the
    /// process still awaits the answer, and renews until it has it or the timeout is over
    /// (docs/facts/redisson.md#an-interrupted-release-that-is-lost); of an acquire too, where it renews the grant.
    pub(crate) fn cancel(&mut self, thread: u8, must_undo: bool) -> Option<()> {
        let mut call = self.in_flight.requests_mut()?.slot_mut(Slot::of_thread(thread)).take()?;
        if let Stage::Confirming(reply) = call.stage {
            (call.stage, call.wait) = (Stage::Executed(reply), BatchWait::NONE);
        }
        let is_awaited = match call.verb {
            Verb::Release => !self.config.is_mutated(Mutant::InterruptedReleaseForgotten),
            Verb::Acquire => {
                let is_noted = call.lease != BroughtLease::Named || self.config.shares_lock_objects();
                let is_kept = self.config.renews_interrupted_acquires() && is_noted;
                // What is sent again, is so for a caller that was interrupted as well.
                is_kept || self.config.calls.interrupted_acquire == InterruptedAcquire::Renew && call.retries_left > 0
            }
            Verb::SetTtl | Verb::Renew | Verb::Undo => false,
        };
        if is_awaited {
            return self.put_aside(call);
        }
        if call.stage == Stage::Sent || (must_undo && call.has_grant()) {
            self.put_aside(Request { retries_left: 0, answer_left: Timer::OFF, must_undo, ..call })?;
        }
        Some(())
    }

    /// Request or reply is lost.
    pub(crate) fn lose(&mut self, slot: Slot, is_there: impl Fn(&Request) -> bool) -> Option<()> {
        let is_alive = self.client.mode != Mode::Crashed;
        let in_slot = self.in_flight.requests_mut()?.slot_mut(slot);
        let request = in_slot.filter(is_there)?;
        let is_awaited = is_alive && request.is_awaited(slot);
        let wait = request.wait.without_question();
        *in_slot = Some(Request { stage: Stage::Lost, age: 0, wait, ..request }).filter(|_| is_awaited);
        Some(())
    }

    /// What was on its way to a dead node is lost, and costs no budget.
    pub(crate) fn lose_all_to(&mut self, node: u8) {
        for slot in Slot::ALL {
            self.lose(slot, |request| request.node == node && request.stage == Stage::Sent);
        }
    }

    /// The node has answered this thread's `WAIT`.
    pub(crate) fn wait_answered(&mut self, thread: u8, reply: Reply) -> Option<()> {
        let call = self.in_flight.requests_mut()?.slot_mut(Slot::of_thread(thread)).as_mut()?;
        let Stage::Confirming(executed) = call.stage else { return None };
        let wait = call.wait.without_question();
        let (stage, wait) = match reply {
            // What was executed is told, unless that is a grant: it is the number that tells of it.
            Reply::Acknowledged { replicas } if executed != Reply::Acquired => (executed, wait.answered_by(replicas)),
            reply => (reply, wait),
        };
        *call = Request { stage: Stage::Executed(stage), age: 0, wait, ..*call };
        Some(())
    }

    /// The connection over which this thread's `WAIT` was sent is gone.
    pub(crate) fn wait_lost(&mut self, thread: u8) -> Option<()> {
        let call = self.in_flight.requests_mut()?.slot_mut(Slot::of_thread(thread)).as_mut()?;
        *call = Request { stage: Stage::Lost, age: 0, wait: call.wait.without_question(), ..*call };
        Some(())
    }

    /// One tick for everything in flight.
    pub(crate) fn tick_in_flight(&mut self) {
        // Without a bound, or where nothing in flight outlives the moment, no age is read.
        let most = self.config.network.delay.most().unwrap_or(0);
        let messages = usize::from(self.client.wakeup.messages());
        let looks = self.config.looks_at_clock();
        let Some(requests) = self.in_flight.requests_mut() else { return };
        for request in requests.slots.iter_mut().flatten() {
            request.answer_left =
                if looks { request.answer_left.later_or_overdue() } else { request.answer_left.later() };
            if request.stage != Stage::Lost {
                request.age = most.min(request.age + 1);
            }
        }
        for age in &mut requests.message_ages[..messages] {
            *age = most.min(*age + 1);
        }
    }
}

/// How often a call is made again that too few replicas acknowledge. An acquire is given back first, and its caller decides.
const fn repeats_of(config: &Config, verb: Verb) -> u8 {
    let is_repeated = matches!((config.protocol.wait_after, verb), (WaitAfter::EveryCall, Verb::Release));
    if is_repeated && is_resent(config, verb) { config.calls.retry_attempts } else { 0 }
}

/// Whether this reply makes the client send a request again: the server refuses.
fn is_sent_again(config: &Config, request: &Request, reply: Reply) -> bool {
    config.calls.refused_call == RefusedCall::Retry
        && matches!(reply, Reply::NotEnoughReplicas | Reply::ReadOnly)
        && request.retries_left > 0
}

const fn is_resent(config: &Config, verb: Verb) -> bool {
    match (config.calls.resend, verb) {
        (Resend::None, _) | (Resend::Release, Verb::Acquire | Verb::SetTtl) => false,
        (Resend::Release, Verb::Release | Verb::Undo | Verb::Renew) | (Resend::All, _) => true,
    }
}
