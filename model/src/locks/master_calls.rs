//! What a client remembers of its call where a lock is taken on several masters: whom it has asked, and who has granted.
//!
//! A kind whose lock is stored by one master ([`Facts::masters`](super::facts::Facts::masters)) has [`NoCalls`], and its worlds no room
//! for them.

use core::fmt::Debug;
use core::hash::Hash;

use crate::limits::{MAX_GROUPS, MAX_REPLICAS_OF_MASTERS};
use crate::time::Timer;

/// The call of one client.
pub trait CallStore: Copy + Debug + Default + Eq + Hash + Ord + Send + Sync + 'static {
    /// Whether there can be any.
    const IS_THERE: bool;

    /// The call.
    fn get(self) -> MastersCall;

    /// The same with another call.
    #[must_use]
    fn with(self, call: MastersCall) -> Self;

    /// What the client renews on one master, if it has a watchdog for each.
    fn watchdog(self, master: u8) -> Watchdog {
        let _ = master;
        Watchdog::NONE
    }

    /// The same with another watchdog for this master.
    #[must_use]
    fn with_watchdog(self, master: u8, watchdog: Watchdog) -> Self {
        let _ = (master, watchdog);
        self
    }

    /// The same where the masters are in this order, each a number that a master had before.
    #[must_use]
    fn in_order(self, order: &[u8]) -> Self {
        self.with(self.get().in_order(order))
    }

    /// What it says of one master.
    fn of_master(self, master: u8) -> (u8, Watchdog) {
        (self.get().of_master(master), self.watchdog(master))
    }
}

/// What a client's watchdog renews on one of several masters: a table of the client side, in its four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Watchdog([u8; 4]);

impl Watchdog {
    /// It renews nothing, and no timer of it runs.
    pub const NONE: Self = Self([0, 0, 0, Timer::OFF.byte()]);

    /// The one with these bytes of a table.
    pub(crate) const fn of(bytes: [u8; 4]) -> Self {
        Self(bytes)
    }

    /// The bytes of its table.
    pub(crate) const fn bytes(self) -> [u8; 4] {
        self.0
    }
}

impl Default for Watchdog {
    fn default() -> Self {
        Self::NONE
    }
}

/// None, ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NoCalls;

impl CallStore for NoCalls {
    const IS_THERE: bool = false;

    fn get(self) -> MastersCall {
        MastersCall::default()
    }

    fn with(self, _: MastersCall) -> Self {
        Self
    }
}

/// A call on several masters, and what an earlier one has left under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(clippy::struct_excessive_bools, reason = "one for each fact of a call")]
pub struct MastersCall {
    /// While it takes the lock or extends it: whom it has asked in this round. While it releases, or sets the lease at the end: whom it is
    /// still to ask.
    pub asked: MasterSet,
    /// Who has granted what they were asked for.
    pub granted: MasterSet,
    /// To whom an ask is under way on which its caller has given up.
    pub late: MasterSet,
    /// To whom such an ask of an earlier round is.
    pub late_of_earlier: MasterSet,
    /// Whose reply is under way: one at most.
    pub unheard: MasterSet,
    /// Whether that is a grant.
    pub unheard_is_grant: bool,
    /// Whether it says that somebody else has the lock there: a call that waits waits for that, and for no error.
    pub unheard_is_busy: bool,
    /// Whether its client waits until it has the lock or its wait limit is over. Of a lock in rounds: whether the round in which it is may be
    /// followed by another one.
    pub goes_on: bool,
    /// Of a client that waits for the lock of one master: that one. No other one is waited for.
    pub waits_at: MasterSet,
    /// Of a call that waits at masters: until it leaves, or its round is over. Off: it does not.
    pub left: Timer,
    /// Whether its round is a later one, of a call whose lease is another one from then on.
    pub is_later: bool,
    /// Where its client takes the second node of a group for the master; elsewhere the first one. This outlives the call.
    pub moved: MasterSet,
}

impl CallStore for MastersCall {
    const IS_THERE: bool = true;

    fn get(self) -> MastersCall {
        self
    }

    fn with(self, call: MastersCall) -> Self {
        call
    }
}

/// A call on several masters, each of which stores a lock of its own, and what the client renews there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocksCall {
    call: MastersCall,
    watchdogs: [Watchdog; MAX_GROUPS as usize],
}

impl CallStore for LocksCall {
    const IS_THERE: bool = true;

    fn get(self) -> MastersCall {
        self.call
    }

    fn with(self, call: MastersCall) -> Self {
        Self { call, ..self }
    }

    fn watchdog(self, master: u8) -> Watchdog {
        self.watchdogs[usize::from(master)]
    }

    fn with_watchdog(mut self, master: u8, watchdog: Watchdog) -> Self {
        self.watchdogs[usize::from(master)] = watchdog;
        self
    }

    fn in_order(self, order: &[u8]) -> Self {
        let mut watchdogs = [Watchdog::NONE; MAX_GROUPS as usize];
        for (new, old) in watchdogs.iter_mut().zip(order) {
            *new = self.watchdog(*old);
        }
        Self { call: self.call.in_order(order), watchdogs }
    }
}

impl MastersCall {
    /// What is left of it when its client begins a new round: what is under way belongs to an earlier one from then on.
    #[must_use]
    pub fn ended(self) -> Self {
        let late_of_earlier = self.late_of_earlier.with_all(self.late);
        Self { late_of_earlier, moved: self.moved, ..Self::default() }
    }

    /// The same when its client dies, which knows nothing any more.
    #[must_use]
    pub fn of_dead(self) -> Self {
        Self { moved: MasterSet::NONE, ..self.ended() }
    }

    /// The number that the master of a group has there, as far as the client knows.
    pub const fn master_in(self, group: u8) -> u8 {
        const { assert!(MAX_REPLICAS_OF_MASTERS == 1, "a bit tells two nodes apart") };
        self.moved.has(group) as u8
    }

    /// The same call of a client that has learned which node of a group is the master.
    #[must_use]
    pub const fn turned_to(self, group: u8, master: u8) -> Self {
        let moved = if master == 0 { self.moved.without(group) } else { self.moved.with(group) };
        Self { moved, ..self }
    }

    /// The same call where the masters are in this order, each a number that a master had before.
    #[must_use]
    pub fn in_order(self, order: &[u8]) -> Self {
        let Self { asked, granted, late, late_of_earlier, unheard, waits_at, moved, .. } = self;
        let [asked, granted, late, late_of_earlier, unheard, waits_at, moved] =
            [asked, granted, late, late_of_earlier, unheard, waits_at, moved].map(|set| set.in_order(order));
        Self { asked, granted, late, late_of_earlier, unheard, waits_at, moved, ..self }
    }

    /// What it says of one master: a bit for each set.
    pub const fn of_master(self, master: u8) -> u8 {
        let Self { asked, granted, late, late_of_earlier, unheard, waits_at, moved, .. } = self;
        asked.has(master) as u8
            | (granted.has(master) as u8) << 1
            | (late.has(master) as u8) << 2
            | (late_of_earlier.has(master) as u8) << 3
            | (unheard.has(master) as u8) << 4
            | (moved.has(master) as u8) << 5
            | (waits_at.has(master) as u8) << 6
    }

    /// As two words, for hashing; the second one is that of a call that waits at masters.
    pub(crate) const fn words(self) -> [u64; 2] {
        let Self {
            asked,
            granted,
            late,
            late_of_earlier,
            unheard,
            unheard_is_grant,
            unheard_is_busy,
            goes_on,
            waits_at,
            left,
            is_later,
            moved,
        } = self;
        let first =
            [asked.0, granted.0, late.0, late_of_earlier.0, unheard.0, unheard_is_grant as u8, goes_on as u8, moved.0];
        let second = [unheard_is_busy as u8, waits_at.0, left.byte(), is_later as u8, 0, 0, 0, 0];
        [u64::from_le_bytes(first), u64::from_le_bytes(second)]
    }
}

/// Some masters: a bit each, the first one's is 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MasterSet(u8);

impl MasterSet {
    /// None of them.
    pub const NONE: Self = Self(0);

    /// The first so many.
    pub const fn first(masters: u8) -> Self {
        const { assert!(MAX_GROUPS < 8, "a bit each, in a byte") };
        Self((1 << masters) - 1)
    }

    /// Whether this one is among them.
    pub const fn has(self, master: u8) -> bool {
        self.0 >> master & 1 != 0
    }

    /// With this one.
    #[must_use]
    pub const fn with(self, master: u8) -> Self {
        Self(self.0 | 1 << master)
    }

    /// With those of the other set.
    #[must_use]
    pub const fn with_all(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Without this one.
    #[must_use]
    pub const fn without(self, master: u8) -> Self {
        Self(self.0 & !(1 << master))
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many there are.
    pub const fn count(self) -> u8 {
        #[expect(clippy::cast_possible_truncation, reason = "at most 8")]
        let count = self.0.count_ones() as u8;
        count
    }

    /// Each of them, in their order.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..8).filter(move |master| self.has(*master))
    }

    fn in_order(self, order: &[u8]) -> Self {
        let places = (0_u8..).zip(order).filter(|(_, old)| self.has(**old));
        places.fold(Self::NONE, |all, (new, _)| all.with(new))
    }
}
