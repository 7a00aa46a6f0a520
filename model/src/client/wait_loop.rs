//! `lock()` and `unlock()` as a thread goes through them: ask, subscribe, ask again, sleep until a message or the timer,
//! ask again; believe, and give back.
//!
//! The order of acts is Redisson's (docs/facts/redisson.md#lock-and-trylock, #wake-up-inside-one-process). Pub/sub is at
//! most once and not stored, and expiry publishes nothing (docs/facts/redis.md#delivery, #expiry-is-silent): a waiter of an expired lock wakes by
//! its own timer only.
//!
//! At the instant its wait limit is due a client may still ask, or already give up: how its clock reads then nobody knows. A
//! request that it sends at that instant is awaited, however late its answer is.
//!
//! A client that spins looks at its limit only when it was refused: it sleeps through the instant at which that is due, asks once
//! more, and only then gives up (docs/facts/family.md#spin).

use super::process::Process;
use super::requests::InFlight;
use super::state::{Mode, Phase, WakeupEntry};
use crate::config::switches::PartialRelease;
use crate::limits::MAX_THREADS;
use crate::locks::procedure::{Next, OnePart, Procedure};
use crate::mutants::Mutant;
use crate::notes::{Capacity, Happening};
use crate::reply::Reply;
use crate::time::Timer;

/// What a subscribed thread does.
pub(crate) enum SecondAsk {
    /// It asks again: the lock may have been freed before the subscription was there.
    Asks,
    /// It goes to sleep without asking: a wrong rule.
    Skips(Reply),
}

impl<Q: InFlight> Process<'_, Q> {
    /// A thread calls `lock()`, or enters once more.
    pub(crate) fn begin_acquire(&mut self, thread: u8) -> Option<()> {
        if !self.client.is_running() {
            return None;
        }
        self.client.acquires_left = self.client.acquires_left.one_less()?;
        let config = self.config;
        if self.is_busy_beside(thread) || !config.may_ask_as(thread) {
            return None;
        }
        let beginning = self.thread_mut(thread);
        if beginning.phase != Phase::Idle || beginning.holds() >= config.clients.max_holds {
            return None;
        }
        // A call in which the limit passes ends late, and then the code ends: otherwise one call after the other would keep it
        // going. Code that has stopped begins nothing either.
        if beginning.hold_left == Timer::OVERDUE || beginning.has_stopped() {
            return None;
        }
        // A client that asks once does not wait: it has its answer when that comes.
        beginning.wait_left = Timer::optional(config.call_limit());
        // An interrupt that an earlier call has swallowed is not of this one.
        beginning.forget_limit();
        if config.faults.client_clock_jump > 0 {
            beginning.limit_left = beginning.wait_left;
        }
        Some(())
    }

    /// Whether the other thread of its client is inside a call, where both are one thread of the application.
    fn is_busy_beside(&self, thread: u8) -> bool {
        (self.config.shares() || self.config.has_parts()) && self.client.is_calling_beside(thread)
    }

    /// Whether a thread may ask for the lock now. After a failover it waits for the lock delay; a holder that would enter
    /// once more waits as well: the new master may have lost its hold.
    pub(crate) fn may_ask(&self) -> bool {
        self.client.asks_in == Timer::OFF
    }

    /// A refused thread is about to subscribe.
    pub(crate) fn can_subscribe(&self, thread: u8) -> bool {
        let refused = self.thread(thread);
        self.client.is_running() && refused.phase == Phase::Refused
    }

    /// Whether a waiter must not ask any more because its limit is due: never, but for a wrong rule.
    fn is_stopped_by_limit(&self, thread: u8) -> bool {
        self.thread(thread).wait_left.is_due() && self.config.is_mutated(Mutant::LimitComesFirst)
    }

    /// It is subscribed.
    pub(crate) fn subscribed(&mut self, thread: u8) {
        self.thread_mut(thread).phase = Phase::Subscribed;
    }

    /// A subscribed thread is about to ask again.
    pub(crate) fn begin_second_ask(&mut self, thread: u8) -> Option<SecondAsk> {
        let asking = self.thread(thread);
        if !self.client.is_running() || asking.phase != Phase::Subscribed || self.is_stopped_by_limit(thread) {
            return None;
        }
        if self.config.is_mutated(Mutant::NoSecondAsk) {
            let lease = Timer::ticks(self.config.time.lease);
            self.refuse(thread, lease);
            return Some(SecondAsk::Skips(Reply::Busy { remaining_ticks: lease.left() }));
        }
        Some(SecondAsk::Asks)
    }

    /// A waiter takes a permit that a message brought.
    pub(crate) fn wake_by_message(&mut self, thread: u8) -> Option<()> {
        let waiting = self.thread(thread);
        let is_due = waiting.phase == Phase::Waiting && self.client.wakeup.permits > 0;
        if !self.client.is_running() || !is_due || self.is_stopped_by_limit(thread) {
            return None;
        }
        self.client.wakeup.permits -= 1;
        Some(())
    }

    /// A waiter's own timer wakes it.
    pub(crate) fn wake_by_timer(&self, thread: u8) -> Option<()> {
        let waiting = self.thread(thread);
        // With a permit available the semaphore returns that, and the timer goes unnoticed.
        let is_due = waiting.phase == Phase::Waiting && waiting.wake_in.may_fire() && self.client.wakeup.permits == 0;
        (self.client.is_running() && is_due && !self.is_stopped_by_limit(thread)).then_some(())
    }

    /// A waiter's limit is over, and it leaves without the lock, or a client that does not wait finds nobody to ask for its next part
    /// (`is_reached`: its master answers). One that spins leaves so only where it can ask nobody: its call
    /// ends with an error.
    pub(crate) fn give_up(&mut self, thread: u8, can_ask: bool, is_reached: bool) -> Option<()> {
        let waiting = self.thread(thread);
        if self.client.is_running() && waiting.asks_in_vain(is_reached) {
            self.end_call(thread);
            return Some(());
        }
        if self.config.lock.facts().spins() && (can_ask || !waiting.wake_in.is_due()) {
            return None;
        }
        self.reach_limit(thread)?;
        self.end_call(thread);
        Some(())
    }

    /// A waiter's limit is over, and it is about to leave.
    pub(crate) fn reach_limit(&mut self, thread: u8) -> Option<()> {
        let waiting = self.thread(thread);
        // A request in flight is awaited: Redisson checks the limit when it has the reply.
        let is_due = waiting.is_waiting() && !waiting.is_calling() && waiting.wait_left.is_due();
        if !self.client.is_running() || !is_due || self.config.is_mutated(Mutant::WaitLimitIgnored) {
            return None;
        }
        self.notes.happened(Happening::LimitReached);
        Some(())
    }

    /// Whether a thread can release.
    pub(crate) fn can_release(&self, thread: u8) -> bool {
        let releasing = self.thread(thread);
        self.client.is_running()
            && (releasing.phase == Phase::Idle || self.config.extends_in_rounds() && releasing.extends())
            && releasing.has_hold()
            && !self.is_busy_beside(thread)
            && self.config.may_release_as(thread)
    }

    /// Whether a thread can call release although it does not believe it holds.
    pub(crate) fn can_release_foreign(&self, thread: u8) -> bool {
        let releasing = self.thread(thread);
        self.client.is_running()
            && releasing.phase == Phase::Idle
            && !releasing.has_hold()
            && self.config.may_ask_as(thread)
            && !self.is_busy_beside(thread)
    }

    /// A thread hears the reply to its acquire. True: it holds now, as far as it knows.
    pub(crate) fn hear_acquire(&mut self, thread: u8, reply: Reply, token: u8) -> bool {
        let counted = self.thread(thread).valid_left;
        let next = if self.config.has_parts() { self.next_of_parts(thread, reply) } else { OnePart.next(Some(reply)) };
        match next {
            Next::Wait { .. } if self.believes_refusals() || self.config.takes_for_grant(reply) => {
                self.leave(thread);
                self.count_grant(thread, counted);
                self.believe(thread, token);
                return true;
            }
            Next::Wait { remaining } => self.refuse(thread, remaining),
            Next::GiveUp => self.end_call(thread),
            Next::Ask { .. } | Next::Believe if self.config.has_parts() => {
                self.take_part(thread, next);
                return true;
            }
            Next::Believe => {
                let has_swallowed = self.thread(thread).has_swallowed();
                self.leave(thread);
                self.count_grant(thread, counted);
                if self.config.sets_ttl_apart() {
                    self.begin_setting_ttl(thread, token);
                    return false;
                }
                self.believe(thread, token);
                if has_swallowed {
                    // Its caller has the lock, and is told of no interrupt.
                    self.thread_mut(thread).swallow();
                }
                return true;
            }
            Next::Ask { .. } => unreachable!("a lock of one part is decided by one answer"),
        }
        false
    }

    /// Never, but for a wrong rule that reads a number of the scenario.
    fn believes_refusals(&self) -> bool {
        let clients = &self.config.clients;
        (clients.acquires == Some(1) && self.config.is_mutated(Mutant::OnlyRefusalBelieved))
            || (clients.count > 2 && self.config.is_mutated(Mutant::CrowdBelievesRefusals))
    }

    /// The thread holds, as far as it knows. Where it did not wait for replicas it relies on the master alone: from here on
    /// a failover can make it wrong.
    pub(super) fn believe(&mut self, thread: u8, token: u8) {
        let hold_left = Timer::optional(self.config.time.hold_at_most);
        let holding = self.thread_mut(thread);
        if !holding.has_hold() {
            holding.hold_left = hold_left;
        }
        holding.phase = Phase::Idle;
        holding.set_holds(holding.holds() + 1);
        if token > 0 {
            holding.token = token;
        }
        self.look_at_clock();
    }

    /// An acquire whose outcome is unknown: the exception leaves `lock()`.
    pub(crate) fn abandon_acquire(&mut self, thread: u8) {
        if self.thread(thread).phase != Phase::Dead {
            self.leave(thread);
        }
    }

    /// A thread hears the reply to its release.
    pub(crate) fn hear_release(&mut self, thread: u8, reply: Reply) {
        if self.config.has_parts() {
            return self.hear_part_release(thread, Some(reply));
        }
        let holding = self.thread_mut(thread);
        holding.phase = Phase::Idle;
        if matches!(reply, Reply::Released | Reply::StillHeld) {
            // If it is not a holder's release, or the watchdog has notified the thread meanwhile, there is nothing to lower.
            holding.set_holds(holding.holds().saturating_sub(1));
        } else {
            // The client raises, and the exception unwinds every `unlock` of the thread: each lowers the count. What an interrupted
            // acquire has entered stays (docs/facts/redisson.md#an-interrupted-acquire-is-renewed-for-ever).
            let around = holding.holds().saturating_sub(1);
            holding.set_holds(0);
            if self.config.protocol.partial_release == PartialRelease::Lower {
                (0..around).for_each(|_| self.unregister_release(thread));
            }
        }
        self.settle(thread);
    }

    /// A release whose outcome is unknown: the exception leaves this `unlock`, and the hold with it. Holds that are left are
    /// released by their own calls.
    pub(crate) fn abandon_release(&mut self, thread: u8) {
        let releasing = self.thread_mut(thread);
        if releasing.phase != Phase::Releasing {
            return;
        }
        releasing.phase = Phase::Idle;
        self.drop_hold(thread);
    }

    /// The thread counts on one hold less, whatever the node stores.
    pub(crate) fn drop_hold(&mut self, thread: u8) {
        if self.config.has_parts() {
            return self.hear_part_release(thread, None);
        }
        let holding = self.thread_mut(thread);
        holding.set_holds(holding.holds().saturating_sub(1));
        self.settle(thread);
    }

    /// A thread that does not believe any more remembers nothing.
    fn settle(&mut self, thread: u8) {
        let settling = self.thread_mut(thread);
        if !settling.has_hold() {
            *settling = settling.settled();
        }
    }

    /// A thread was refused: what it does next depends on how far it had come.
    pub(crate) fn refuse(&mut self, thread: u8, remaining: Timer) {
        let config = self.config;
        let publishes = config.lock.facts().publishes();
        let swallows_interrupts = config.swallows_interrupts() && publishes;
        if self.has_spun_enough(thread) {
            self.notes.happened(Happening::LimitReached);
            self.leave(thread);
            return;
        }
        let refused = self.thread_mut(thread);
        refused.forget_validity();
        if !config.waits() {
            refused.phase = Phase::Idle;
            refused.wait_left = Timer::OFF;
            refused.forget_limit();
            if config.has_parts() {
                self.refuse_part(thread);
            } else {
                self.doubt(thread);
            }
            return;
        }
        if matches!(refused.phase, Phase::Idle | Phase::Asking) && publishes {
            refused.phase = Phase::Refused;
            return;
        }
        refused.phase = Phase::Waiting;
        if let (true, Some(ticks)) = (swallows_interrupts, remaining.left()) {
            refused.note_sleep(ticks);
        }
        refused.wake_in = match remaining.left() {
            _ if config.is_mutated(Mutant::NoWakeTimer) => Timer::OFF,
            _ if !publishes => Timer::ticks(config.time.poll_every),
            // A key whose remaining time is 0 may go at any moment of this instant, and the waiter asks again at once, as often
            // as it likes. It need not ask before the next tick: that could go on for ever.
            Some(0) if config.time.ask_again_after == 1 => Timer::SOON,
            Some(0) => Timer::ticks(config.time.ask_again_after),
            Some(_) => remaining,
            // No TTL: only a message wakes it.
            None => Timer::OFF,
        };
        self.notes.happened(Happening::FellAsleep);
    }

    /// Whether a thread that spins and is refused now finds that its limit is over.
    fn has_spun_enough(&self, thread: u8) -> bool {
        self.config.lock.facts().spins()
            && self.thread(thread).wait_left.is_due()
            && !self.config.is_mutated(Mutant::WaitLimitIgnored)
    }

    /// The call of a thread ends without the lock; or, where the lock has parts, its attempt to take them does.
    fn end_call(&mut self, thread: u8) {
        if self.config.has_parts() {
            self.refuse_part(thread);
        } else {
            self.leave(thread);
            self.doubt(thread);
        }
    }

    /// A call has ended without the lock. Its caller may want to know whether it has taken it all the same.
    fn doubt(&mut self, thread: u8) {
        let asks = self.config.asks_if_held();
        let refused = self.thread_mut(thread);
        if asks && !refused.has_hold() {
            refused.phase = Phase::Doubting;
        }
    }

    /// Whether a thread is about to ask if it holds.
    pub(crate) fn can_ask_if_held(&self, thread: u8) -> bool {
        self.client.is_running() && self.thread(thread).phase == Phase::Doubting
    }

    /// A thread hears whether it holds, or that nobody answers, and goes by that. Nothing renews what it has not been granted
    /// (docs/facts/family.md#multi-lock-over-values).
    pub(crate) fn hear_if_held(&mut self, thread: u8, reply: Reply) {
        self.thread_mut(thread).phase = Phase::Idle;
        if reply == Reply::SaysHeld {
            self.believe(thread, 0);
        }
    }

    /// A thread leaves `lock()`, with the lock or without. With the last waiter the process's subscription ends, and with it
    /// the messages under way and the permits that nobody took.
    pub(crate) fn leave(&mut self, thread: u8) {
        let leaving = self.thread_mut(thread);
        leaving.phase = Phase::Idle;
        leaving.wait_left = Timer::OFF;
        leaving.forget_limit();
        leaving.wake_in = Timer::OFF;
        if !self.client.uses_wakeup_entry() {
            self.client.wakeup = WakeupEntry::NONE;
            if let Some(requests) = self.in_flight.requests_mut() {
                requests.forget_messages();
            }
            self.unsubscribes = true;
        }
    }

    /// An unlock message reaches the process.
    pub(crate) fn deliver(&mut self) -> Option<()> {
        if !self.client.is_running() || self.config.is_mutated(Mutant::MessagesNeverArrive) {
            return None;
        }
        let for_all = self.take_message()?;
        let is_heard = self.client.threads.iter().any(|thread| thread.phase == Phase::Waiting);
        if !is_heard {
            self.notes.happened(Happening::MessageUnheard);
        }
        // A message for all brings a permit for each who sleeps: of the threads of a client at most one is inside a call, and one for
        // whom there is a permit sleeps no more.
        if for_all && (!is_heard || self.client.wakeup.permits > 0) {
            return Some(());
        }
        let room = self.config.room_for(Capacity::Messages);
        if self.client.wakeup.permits < room {
            self.client.wakeup.permits += 1;
        } else if !self.wakes_at_once() {
            self.notes.exceeded(Capacity::Messages);
        }
        Some(())
    }

    /// An unlock message sets out to the process. One more than there is room for takes the place of the newest: a waiter
    /// that is woken, refused and woken once more within one moment is where it would be without the first of the two, and
    /// as many wake-ups as there are threads and one more are never too few. Where a wake-up can take time, between two of
    /// them a timer may fire, and the difference could be seen.
    /// `for_all`: it is for those who sleep when it arrives.
    pub(crate) fn send_message(&mut self, for_all: bool) {
        const { assert!(Capacity::Messages.least() > MAX_THREADS, "among the wake-ups, one thread has two") };
        let room = self.config.room_for(Capacity::Messages);
        let wakeup = &mut self.client.wakeup;
        if wakeup.messages() < room {
            wakeup.add_message(for_all);
            return;
        }
        wakeup.replace_newest(for_all);
        if !self.wakes_at_once() {
            self.notes.exceeded(Capacity::Messages);
        }
        if let Some(requests) = self.in_flight.requests_mut() {
            requests.renew_newest_message(room);
        }
    }

    /// Whether a waiter that is woken has its answer before time passes.
    fn wakes_at_once(&self) -> bool {
        !Q::IS_SPLIT && self.config.network.delay.most() == Some(0)
    }

    /// The oldest unlock message is not under way any more: it has arrived, or is lost.
    /// Whether it was for all who sleep.
    pub(crate) fn take_message(&mut self) -> Option<bool> {
        let for_all = self.client.wakeup.take_message()?;
        if let Some(requests) = self.in_flight.requests_mut() {
            requests.drop_message();
        }
        Some(for_all)
    }

    /// One tick on the process's timers. True: time went past a running waiter's limit.
    pub(crate) fn tick(&mut self) -> bool {
        let mut is_overrun = false;
        let may_enter_again = self.config.clients.max_holds > 1;
        let swallows_interrupts = self.config.swallows_interrupts();
        let keeps_on = self.keeps_on_beyond_validity();
        // A round that is over is followed by the next one, or by the release of what was taken.
        let (has_limit, has_parts) = (self.config.time.wait_limit.is_some(), self.config.has_parts());
        let (spins, back_off) = (self.config.lock.facts().spins(), Timer::ticks(self.config.time.poll_every));
        let client = &mut *self.client;
        if !client.is_alive() {
            return false;
        }
        for thread in &mut client.threads {
            let has_no_limit = thread.limit_left == Timer::OFF || swallows_interrupts || has_parts;
            let limit = if has_no_limit { thread.wait_left } else { thread.limit_left };
            // One that spins may be asleep when its limit is due; it does not fall asleep after that.
            let is_late = !spins || thread.phase == Phase::Waiting && thread.wake_in == back_off;
            is_overrun |= has_limit && client.mode == Mode::Running && thread.is_waiting() && limit.is_due() && is_late;
            thread.wait_left = thread.wait_left.later();
            thread.validity_passes(client.mode, keeps_on, self.notes);
            if !swallows_interrupts && !has_parts {
                thread.limit_left = thread.limit_left.later();
            }
            thread.wake_in = thread.wake_in.later();
            thread.hold_left =
                if may_enter_again { thread.hold_left.later_or_overdue() } else { thread.hold_left.later() };
        }
        client.renewal.tick();
        client.asks_in = client.asks_in.later();
        if client.asks_in.is_due() {
            client.asks_in = Timer::OFF;
        }
        is_overrun
    }
}
