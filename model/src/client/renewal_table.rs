//! What the watchdog of a process renews, and when its timers fire, in four bytes.
//!
//! A world is full to the last byte, so the timers behind the first one lie in bits that counts do not need, and so does what
//! the client's lock object remembers. Without these the bytes are two counts, the first thread and one timer.

use crate::limits::{MAX_HOLDS, MAX_REGISTRATIONS, MAX_RENEWAL_PERIOD, MAX_RENEWAL_TIMERS, MAX_THREADS, REGISTRATIONS};
use crate::locks::master_calls::Watchdog;
use crate::time::Timer;

/// Holds of one thread that the table counts where nothing else is said: more than it ever has at once.
pub(super) const MAX_REGISTERED: u8 = 2 * MAX_HOLDS;

/// How many timers can run behind the first one.
const LATER: usize = MAX_RENEWAL_TIMERS as usize - 1;

/// What the process's watchdog renews: a count per thread for the one lock, and the timers that make it do so. The timers are in
/// the order in which they fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(C)]
pub struct RenewalTable {
    /// Per thread a count in five bits, and above it half of the last timer.
    counts: [u8; MAX_THREADS as usize],
    /// The thread that registered first in one bit, above it the timer in the middle, and whether the lock object that the threads
    /// share remembers a lease.
    first: u8,
    /// Until the first timer fires.
    due_in: Timer,
}

/// A timer that fires after the first one, in six bits: five for when, and one for whether it has renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LaterTimer(u8);

impl LaterTimer {
    const BITS: u8 = 6;
    const HAS_RENEWED: u8 = 1 << (Self::BITS - 1);
    /// Not running.
    const OFF: Self = Self(0);
    const OVERDUE: u8 = 1;
    const DUE: u8 = 2;

    const fn new(due_in: Timer, has_renewed: bool) -> Self {
        const { assert!(Self::DUE + MAX_RENEWAL_PERIOD < Self::HAS_RENEWED, "a period has five bits") };
        let when = match (due_in.left(), due_in) {
            (None, _) => return Self::OFF,
            (_, Timer::OVERDUE) => Self::OVERDUE,
            (Some(left), _) => Self::DUE + left,
        };
        debug_assert!(when < Self::HAS_RENEWED, "a longer period than the reader lets pass");
        // What was renewed a whole period ago makes no renewal too early.
        Self(if has_renewed && when > Self::DUE { when | Self::HAS_RENEWED } else { when })
    }

    const fn due_in(self) -> Timer {
        match self.0 & !Self::HAS_RENEWED {
            0 => Timer::OFF,
            Self::OVERDUE => Timer::OVERDUE,
            when => Timer::ticks(when - Self::DUE),
        }
    }

    const fn has_renewed(self) -> bool {
        self.0 & Self::HAS_RENEWED != 0
    }
}

impl RenewalTable {
    /// Nothing to renew.
    pub const EMPTY: Self = Self { counts: [0; MAX_THREADS as usize], first: 0, due_in: Timer::OFF };

    const COUNT_BITS: u8 = 5;
    const COUNT: u8 = (1 << Self::COUNT_BITS) - 1;
    const HALF_BITS: u8 = LaterTimer::BITS / 2;
    const HALF: u8 = (1 << Self::HALF_BITS) - 1;
    const FIRST: u8 = 1;
    const REMEMBERS: u8 = 1 << 7;

    /// Holds of each thread: raised by each answered acquire, lowered by each answered release.
    pub const fn counts(&self) -> [u8; MAX_THREADS as usize] {
        let [one, other] = self.counts;
        [one & Self::COUNT, other & Self::COUNT]
    }

    /// Holds of one thread.
    pub(crate) const fn count(self, thread: u8) -> u8 {
        self.counts()[thread as usize]
    }

    pub(super) fn set_count(&mut self, thread: u8, count: u8) {
        const { assert!(MAX_REGISTERED + MAX_REGISTRATIONS - REGISTRATIONS <= Self::COUNT, "a count has five bits") };
        let byte = &mut self.counts[usize::from(thread)];
        *byte = *byte & !Self::COUNT | count;
    }

    /// Whether there is nothing to renew.
    pub fn is_empty(&self) -> bool {
        self.counts() == [0; MAX_THREADS as usize]
    }

    /// The thread that registered first: the watchdog renews on its behalf. 0 when the table is empty.
    pub const fn first(&self) -> u8 {
        self.first & Self::FIRST
    }

    pub(super) const fn set_first(&mut self, thread: u8) {
        const { assert!(MAX_THREADS <= Self::FIRST + 1, "a thread in one bit") };
        self.first = self.first & !Self::FIRST | thread;
    }

    /// Whether the lock object that the threads share remembers the lease that a call has named.
    pub const fn remembers_lease(&self) -> bool {
        self.first & Self::REMEMBERS != 0
    }

    pub(super) const fn set_remembers_lease(&mut self, does: bool) {
        const { assert!(1 + LaterTimer::BITS < 8, "a thread, a timer and a bit share a byte") };
        self.first = self.first & !Self::REMEMBERS | if does { Self::REMEMBERS } else { 0 };
    }

    /// Whether there is nothing to renew, and no timer runs.
    pub(super) fn is_at_rest(mut self) -> bool {
        self.set_remembers_lease(false);
        self == Self::EMPTY
    }

    /// Until the first timer fires.
    pub const fn due_in(&self) -> Timer {
        self.due_in
    }

    /// Until each timer behind the first one fires.
    pub fn later_due_in(&self) -> impl Iterator<Item = Timer> {
        self.later().into_iter().map(LaterTimer::due_in).filter(|due_in| *due_in != Timer::OFF)
    }

    /// How many timers run.
    pub(super) fn timers(self) -> usize {
        usize::from(self.due_in != Timer::OFF) + self.later_due_in().count()
    }

    /// Whether another timer than the first one has renewed less than a period ago. A timer that has renewed is set for a whole
    /// period: while it has time left, that is not over.
    pub(super) fn has_renewed_lately(self) -> bool {
        self.later().into_iter().any(|timer| timer.has_renewed() && !timer.due_in().is_due())
    }

    /// The first timer runs from now on for so long, and is the only one; off: none runs.
    pub(super) fn set_only_timer(&mut self, due_in: Timer) {
        self.due_in = due_in;
        self.set_later([LaterTimer::OFF; LATER]);
    }

    /// One more timer starts, for a whole period: none fires after it. False: there is no room for it.
    pub(super) fn add_timer(&mut self, period: Timer, has_renewed: bool) -> bool {
        if self.due_in == Timer::OFF {
            self.due_in = period;
            return true;
        }
        let mut later = self.later();
        let Some(free) = later.iter_mut().find(|timer| **timer == LaterTimer::OFF) else { return false };
        *free = LaterTimer::new(period, has_renewed);
        self.set_later(later);
        true
    }

    /// The first timer has fired; the next one is the first now.
    pub(super) fn take_first_timer(&mut self) {
        let [next, last] = self.later();
        self.due_in = next.due_in();
        self.set_later([last, LaterTimer::OFF]);
    }

    /// A tick passes.
    pub(crate) fn tick(&mut self) {
        self.due_in = self.due_in.later_or_overdue();
        let later = self.later();
        if later != [LaterTimer::OFF; LATER] {
            let tick = |timer: LaterTimer| LaterTimer::new(timer.due_in().later_or_overdue(), timer.has_renewed());
            self.set_later(later.map(tick));
        }
    }

    /// The table of a client's watchdog on one of several masters.
    pub(crate) const fn of(watchdog: Watchdog) -> Self {
        let [one, other, first, due_in] = watchdog.bytes();
        Self { counts: [one, other], first, due_in: Timer::of_byte(due_in) }
    }

    /// The same, to be kept with the call of the client.
    pub(crate) const fn watchdog(self) -> Watchdog {
        Watchdog::of(self.bytes())
    }

    /// As bytes, for hashing.
    pub(crate) const fn bytes(self) -> [u8; 4] {
        let Self { counts: [one, other], first, due_in } = self;
        [one, other, first, due_in.byte()]
    }

    const fn later(self) -> [LaterTimer; LATER] {
        let [low, high] = self.counts;
        let last = low >> Self::COUNT_BITS | high >> Self::COUNT_BITS << Self::HALF_BITS;
        [LaterTimer((self.first & !Self::REMEMBERS) >> 1), LaterTimer(last)]
    }

    fn set_later(&mut self, [next, last]: [LaterTimer; LATER]) {
        let [low, high] = self.counts();
        self.first = self.first & (Self::FIRST | Self::REMEMBERS) | next.0 << 1;
        let (low_half, high_half) = (last.0 & Self::HALF, last.0 >> Self::HALF_BITS);
        self.counts = [low | low_half << Self::COUNT_BITS, high | high_half << Self::COUNT_BITS];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dues(table: RenewalTable) -> Vec<u8> {
        [table.due_in()].into_iter().chain(table.later_due_in()).filter_map(Timer::left).collect()
    }

    /// What shares a byte does not disturb what it shares it with.
    #[test]
    fn counts_and_timers_that_share_bytes_are_apart() {
        let mut table = RenewalTable::EMPTY;
        table.set_count(0, 29);
        table.set_count(1, 17);
        table.set_first(1);
        table.set_remembers_lease(true);
        assert!(table.add_timer(Timer::ticks(1), false));
        assert!(table.add_timer(Timer::ticks(MAX_RENEWAL_PERIOD), true));
        assert!(table.add_timer(Timer::ticks(MAX_RENEWAL_PERIOD), false));
        assert!(!table.add_timer(Timer::ticks(MAX_RENEWAL_PERIOD), false), "there is room for three");
        assert_eq!((table.counts(), table.first(), table.timers(), table.remembers_lease()), ([29, 17], 1, 3, true));
        assert_eq!(dues(table), [1, MAX_RENEWAL_PERIOD, MAX_RENEWAL_PERIOD]);
        table.set_count(0, 0);
        table.set_count(1, 0);
        table.set_first(0);
        assert_eq!(dues(table), [1, MAX_RENEWAL_PERIOD, MAX_RENEWAL_PERIOD]);
        assert!(table.is_empty());
        table.set_only_timer(Timer::OFF);
        assert!(table.remembers_lease() && table.is_at_rest());
        table.set_remembers_lease(false);
        assert_eq!(table, RenewalTable::EMPTY);
    }

    /// A timer that was set again by its renewal tells for a whole period that it has renewed, and no longer.
    #[test]
    fn a_timer_that_has_renewed_is_known_for_one_period() {
        let mut table = RenewalTable::EMPTY;
        assert!(table.add_timer(Timer::ticks(2), false));
        table.tick();
        assert!(table.add_timer(Timer::ticks(2), false));
        table.tick();
        assert!(!table.has_renewed_lately(), "the other timer is a new one");
        table.take_first_timer();
        assert!(table.add_timer(Timer::ticks(2), true));
        assert_eq!(dues(table), [1, 2]);
        table.tick();
        assert!(table.has_renewed_lately(), "one tick ago, of two");
        table.tick();
        assert!(!table.has_renewed_lately(), "a whole period ago");
    }

    /// A process that stands still finds every timer overdue.
    #[test]
    fn timers_that_are_due_become_overdue_one_and_all() {
        let mut table = RenewalTable::EMPTY;
        assert!(table.add_timer(Timer::ticks(1), false));
        assert!(table.add_timer(Timer::ticks(1), false));
        table.tick();
        table.tick();
        assert_eq!(table.due_in(), Timer::OVERDUE);
        assert_eq!(table.later_due_in().collect::<Vec<_>>(), [Timer::OVERDUE]);
    }
}
