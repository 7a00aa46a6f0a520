//! What the shared rules must know of a kind of lock: data, so that nothing outside the kind's own files decides by its name.

/// What there is to know of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The word that scenarios use.
    pub name: &'static str,
    /// Names elsewhere, in lower case, by which a user may ask for it.
    pub other_names: &'static [&'static str],
    /// How a refused client waits.
    pub waiting: Waiting,
    /// Whether a holder may enter again.
    pub reentry: Support,
    /// Whether an acquire that finds the lock busy is a write all the same: `SET NX` is refused by a read-only node
    /// before it looks.
    pub busy_is_write: bool,
    /// Whether each client names a set of values, and takes all of them or none. Those of disjoint sets hold at once.
    pub value_sets: Support,
    /// Which stored times its scripts compare with the wall clock of their caller. The clock of a client may be ahead of the right one
    /// (`clock_ahead`).
    pub caller_clock: CallerClock,
    /// Whether a release can leave a receipt (`redisson_unlock_latch:{…}`).
    pub receipts: Support,
    /// Whether clients offer a forced release.
    pub force: Support,
    /// Whether a grant stores a value that is unique per acquire, by which one hold of a holder is told from the next.
    pub value: Support,
    /// Whether an acquire can set the TTL of the lock by a command of its own.
    pub two_commands: Support,
    /// Whether there is a release that does not look whose the lock is.
    pub bare_release: Support,
    /// Whether there is an extension of the lease that does not look whose the lock is.
    pub bare_extend: Support,
    /// Whether one renewal of a client can carry several locks of this kind.
    pub names: Support,
    /// Whether those who are refused and wait stand in a queue in Redis, each with a channel of its own.
    pub queue: Support,
    /// Whether several may hold it at once, as readers do. Each client is then one thread of an application, and its two threads here
    /// are what that thread is to the lock: thread 0 writes, thread 1 reads. While one of the two is inside a call, the other one
    /// begins none, and each is renewed by a timer of its own.
    pub sharing: Support,
    /// Whether its grants raise a counter in Redis, whose number is their fencing token.
    pub tokens: Support,
    /// Whether it is taken in parts, one after the other, each a lock of its own under a name of its own. Each client is then one thread of
    /// an application, and its thread *t* here is what that thread is to part *t*.
    pub parts: Support,
    /// Whether it is taken on several independent masters, and held by whoever has it on most of them.
    pub masters: StoringMasters,
    /// Whether a client can ask if it holds the lock.
    pub held_query: Support,
    /// The calls by which an application uses it.
    pub calls: CallNames,
    /// Those of its readers, if it has any.
    pub reader_calls: Option<CallNames>,
}

/// The calls by which an application uses a kind of lock, as pictures show them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallNames {
    /// Asks for the lock, and waits without limit.
    pub acquire: &'static str,
    /// Asks for the lock, and waits for a limited time or not at all.
    pub try_acquire: &'static str,
    /// Extends the lease.
    pub renew: &'static str,
    /// Gives back one hold.
    pub release: &'static str,
    /// Deletes the lock, no matter who holds it.
    pub force_release: &'static str,
}

/// Whether a kind has something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// It has.
    Yes,
    /// It has not.
    No {
        /// Why, for a reader who asked for it.
        why: &'static str,
    },
}

impl Support {
    /// Whether the kind has it.
    pub const fn is_there(self) -> bool {
        matches!(self, Self::Yes)
    }
}

/// Which masters store a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoringMasters {
    /// One, and its replicas.
    One,
    /// Several, which a client asks in rounds: each brings a value of its own, and counts if most of them have granted in time.
    Rounds,
    /// Several, each of which stores a lock of its own, as one master stores it: with a count of the holder's holds, and a watchdog.
    Locks,
}

impl StoringMasters {
    /// Whether there are several.
    pub const fn are_several(self) -> bool {
        !matches!(self, Self::One)
    }
}

/// The stored times that are read by the wall clocks of callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallerClock {
    /// None: a hold ends by the clock of the node that stores it.
    Unread {
        /// Why, for a reader who asked for it.
        why: &'static str,
    },
    /// When a hold ends.
    Ends,
    /// When a hold was granted or renewed: whoever asks adds a lease of its own. In a trace the time of the end stands there.
    Grants,
    /// From when on a waiter is taken for dead. A hold ends by the clock of the node that stores it.
    Queue,
}

impl CallerClock {
    /// Whether there are any.
    pub const fn is_read(self) -> bool {
        !matches!(self, Self::Unread { .. })
    }

    /// Whether these times decide who holds the lock.
    pub const fn ends_holds(self) -> bool {
        matches!(self, Self::Ends | Self::Grants)
    }
}

/// How a refused client waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// It subscribes to the unlock channel and sleeps until a message comes or the TTL it was told is over.
    Subscribes,
    /// It asks again after a short sleep: a release publishes nothing.
    Polls,
    /// The same, and nothing interrupts that sleep but an interrupt: it asks once more when its wait limit is over, and gives up when
    /// that is refused (docs/facts/family.md#spin).
    Spins,
}

impl Facts {
    /// Whether a release publishes an unlock message that waiters subscribe to.
    pub const fn publishes(&self) -> bool {
        matches!(self.waiting, Waiting::Subscribes)
    }

    /// Whether all its keys are in one slot of one cluster.
    pub const fn has_one_slot(&self) -> bool {
        !self.parts.is_there() && !self.masters.are_several()
    }

    /// Whether that slot may be moved while somebody uses the lock. Not where a script itself removes a holder whose time is over: its next
    /// command fails then, because the key is gone (docs/facts/cluster.md#while-a-slot-is-moved). That is not modelled.
    pub const fn may_be_moved(&self) -> bool {
        self.has_one_slot() && !matches!(self.caller_clock, CallerClock::Grants)
    }

    /// Whether an acquire names one key. Those of other kinds name the keys of a queue, of readers or of a counter too.
    pub const fn acquires_by_one_key(&self) -> bool {
        self.has_one_slot() && !self.queue.is_there() && !self.sharing.is_there() && !self.tokens.is_there()
    }

    /// Whether a release names more keys than that of the lock: its channel, and the receipt that it leaves.
    pub const fn releases_several_keys(&self, leaves_receipt: bool) -> bool {
        self.publishes() || leaves_receipt && self.receipts.is_there()
    }

    /// Whether a waiter looks at its wait limit only when it has been refused.
    pub const fn spins(&self) -> bool {
        matches!(self.waiting, Waiting::Spins)
    }

    /// Whether the lease of a call can become that of its lock object although the call is refused: a spinning client stores it there
    /// when it asks (docs/facts/family.md#spin).
    pub const fn asks_by_object_lease(&self) -> bool {
        self.spins()
    }
}
