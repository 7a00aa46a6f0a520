//! What is noted about a step beside its reply: what happened in it, and which rules about steps it broke.

use serde::{Deserialize, Serialize};

use crate::limits::{
    EFFECTS_UNDER_WAY, HOLDS_COUNTED, LATE_REQUESTS, MAX_EFFECTS_UNDER_WAY, MAX_HOLDS_COUNTED, MAX_MESSAGES,
    MAX_RECEIPTS, MAX_REGISTRATIONS, MAX_RENEWAL_TIMERS, MAX_TOKENS, MESSAGES, RECEIPTS, REGISTRATIONS,
};

/// Everything that is noted while one step is executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// What happened.
    pub happenings: Happenings,
    /// Which rules about a step were broken.
    pub breaches: Breaches,
    /// Which capacities of the model were exceeded.
    pub touched: Capacities,
}

impl Notes {
    /// Notes a happening.
    pub(crate) const fn happened(&mut self, happening: Happening) {
        self.happenings.note(happening);
    }

    /// Notes that a rule about a step was broken.
    pub(crate) const fn broke(&mut self, breach: Breach) {
        self.breaches.note(breach);
    }

    /// Notes that the model has no room for what would happen.
    pub(crate) const fn exceeded(&mut self, capacity: Capacity) {
        self.touched.note(capacity);
    }
}

/// Declares a set of the variants of an enum, by the bit of each.
macro_rules! bit_set {
    ($(#[$doc:meta])* $set:ident($bits:ty) of $item:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $set($bits);

        const _: () = {
            let mut at = 0;
            while at < $item::ALL.len() {
                assert!(($item::ALL[at].bit() as u32) < <$bits>::BITS, "a bit each");
                at += 1;
            }
        };

        impl $set {
            /// Nothing.
            pub const NONE: Self = Self(0);

            /// Notes one.
            pub const fn note(&mut self, item: $item) {
                self.0 |= 1 << item.bit();
            }

            /// Whether it is noted.
            pub const fn has(self, item: $item) -> bool {
                self.0 >> item.bit() & 1 != 0
            }

            /// Whether any is noted.
            pub const fn any(self) -> bool {
                self.0 != 0
            }

            /// The union of both.
            #[must_use]
            pub const fn and(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            /// Those that are noted, in the order of the enum.
            pub fn iter(self) -> impl Iterator<Item = $item> {
                $item::ALL.into_iter().filter(move |item| self.has(*item))
            }
        }
    };
}

bit_set! {
    /// What happened in a step beside its reply: for pictures, for coverage, for the antecedents of properties.
    Happenings(u64) of Happening
}

bit_set! {
    /// Rules about a step that a step broke.
    Breaches(u8) of Breach
}

bit_set! {
    /// Capacities of the model that a step would have exceeded.
    Capacities(u8) of Capacity
}

/// Declares the happenings: one bit and one word each.
macro_rules! happenings {
    ($($(#[$doc:meta])* $happening:ident = $name:literal,)+) => {
        /// One thing that happened in a step.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "snake_case")]
        #[repr(u8)]
        pub enum Happening {
            $($(#[$doc])* $happening,)+
        }

        impl Happening {
            /// Every one, in the order of their bits.
            pub const ALL: [Self; [$(Self::$happening),+].len()] = [$(Self::$happening),+];

            /// The word for it in traces and reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$happening => $name,)+
                }
            }
        }
    };
}

happenings! {
    /// A thread was granted a free lock.
    Granted = "granted",
    /// A holder entered once more.
    Reentered = "reentered",
    /// A thread was refused.
    Refused = "refused",
    /// A master wrote: its replicas will be sent one effect.
    Wrote = "wrote",
    /// An unlock message was published.
    Published = "published",
    /// A waiter went to sleep.
    FellAsleep = "fell_asleep",
    /// A waiter was interrupted while it was asleep.
    WaiterInterrupted = "waiter_interrupted",
    /// A waiter gave up because its wait limit was over.
    LimitReached = "limit_reached",
    /// The lease was renewed.
    LeaseRenewed = "lease_renewed",
    /// A renewal found another holder, or none.
    RenewalWasMissed = "renewal_was_missed",
    /// Too few replicas have acknowledged a renewal, and its client takes it for failed.
    RenewalUnacknowledged = "renewal_unacknowledged",
    /// A key of the acting master expired.
    Expired = "expired",
    /// Somebody who is not a stored holder tried to release or renew.
    ForeignAttempt = "foreign_attempt",
    /// A failover lost effects.
    EffectsLost = "effects_lost",
    /// The acting master lost a grant that was neither released nor expired.
    GrantLost = "grant_lost",
    /// A grant was issued a token while an older one is remembered.
    LaterToken = "later_token",
    /// The resource accepted an effect of another grant than before.
    AnotherHoldersEffect = "another_holders_effect",
    /// The resource saw an effect with an older token than one it has seen.
    StaleEffect = "stale_effect",
    /// A message arrived where nobody waited.
    MessageUnheard = "message_unheard",
    /// A subscription ended with its connection.
    SubscriptionLost = "subscription_lost",
    /// A believer was notified that its lock is gone.
    HolderTold = "holder_told",
    /// A node refused to write: it is a replica, its last save failed, or too few replicas have reported to it lately.
    WriteRefused = "write_refused",
    /// A release was sent again, and its receipt told what the first one was answered.
    ReceiptFound = "receipt_found",
    /// A request was executed that its caller had abandoned.
    ExecutedLate = "executed_late",
    /// A client heard that a server refuses to write its acquire, or no answer to it came in time.
    AcquireFailed = "acquire_failed",
    /// A caller was told that the outcome is unknown.
    OutcomeUnknown = "outcome_unknown",
    /// Two nodes act as master.
    TwoMasters = "two_masters",
    /// A grant was stored when the acting master died, was cut off or handed over, or lost its key.
    GrantAtRisk = "grant_at_risk",
    /// A free lock was granted to one of those who queue for it, while another one queued.
    QueueServed = "queue_served",
    /// Somebody whose deadline was over was removed from the head of the queue.
    DeadHeadRemoved = "dead_head_removed",
    /// A caller found that its grant is over by its own clock, and stopped.
    ValidityOver = "validity_over",
    /// A reader was granted the lock beside another one.
    ReadersShared = "readers_shared",
    /// A call did not get all parts of a lock, and gives back those that it has.
    PartsGivenUp = "parts_given_up",
}

/// Declares the rules about a step.
macro_rules! breaches {
    ($($(#[$doc:meta])* $breach:ident,)+) => {
        /// One rule about a step.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        #[repr(u8)]
        pub enum Breach {
            $($(#[$doc])* $breach,)+
        }

        impl Breach {
            /// Every one.
            pub const ALL: [Self; [$(Self::$breach),+].len()] = [$(Self::$breach),+];
        }
    };
}

breaches! {
    /// A grant vanished from the acting master without release or expiry.
    GrantVanished,
    /// The resource accepted an effect after one of a later holder.
    EffectOutOfOrder,
    /// A new grant has no greater token.
    TokenNotGreater,
    /// Somebody who does not hold changed the lock.
    ForeignChange,
    /// Time went past a running client's wait limit.
    WaitLimitOverrun,
    /// A running, connected believer with a watchdog lost its lease to expiry.
    LeaseLost,
    /// A client renewed less than a period after it last had.
    RenewedTooSoon,
    /// A client that waits for replicas was granted what none has, and its master had one.
    GrantUnacknowledged,
    /// A caller was told that it does not have the lock, and had been granted it.
    RefusedAndGranted,
    /// A lock was granted past somebody who is alive and queues for it longer.
    Overtaken,
    /// A reader was refused, and nobody else had the lock for writing.
    ReaderRefused,
    /// A call has ended, and left a part of the lock stored for its client, which counts on none.
    PartLeft,
    /// Two clients believe that they have the same value.
    ValueShared,
    /// A client begins to believe although nothing is left of its lease, or fewer than most masters store what it was granted.
    GrantInvalid,
    /// A call has ended, and left a key of its last round on one of several masters.
    KeyLeft,
}

impl Breach {
    /// Which bit of a set it is. A world is full to the last byte, and beside a resource neither refusals nor places in a queue are
    /// counted, and there are no readers, no parts and no sets of values: they share theirs with what only a resource shows.
    const fn bit(self) -> u8 {
        match self {
            Self::RefusedAndGranted => Self::TokenNotGreater as u8,
            // A client of several masters never sends `WAIT`, and a key that one master loses is not a lost grant.
            Self::GrantInvalid => Self::GrantUnacknowledged as u8,
            Self::KeyLeft => Self::GrantVanished as u8,
            Self::Overtaken | Self::ReaderRefused | Self::PartLeft | Self::ValueShared => Self::EffectOutOfOrder as u8,
            other => other as u8,
        }
    }
}

impl Happening {
    const fn bit(self) -> u8 {
        self as u8
    }
}

impl Capacity {
    const fn bit(self) -> u8 {
        self as u8
    }
}

impl Breaches {
    /// As a byte, for hashing.
    pub(crate) const fn byte(self) -> u8 {
        self.0
    }
}

/// Declares the capacities: what there is too much of, the key that bounds it with its usual and its largest value, and what
/// else a scenario can do about it.
macro_rules! capacities {
    ($($(#[$doc:meta])* $capacity:ident = $name:literal, $key:literal, $usual:expr, $most:expr, $noun:literal, $advice:literal;)+) => {
        /// Something the model has limited room for. A step that would need more than that is not explored, so that nothing
        /// can be said of what lies behind it: a verdict that rests on every state is then inconclusive.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        #[repr(u8)]
        pub enum Capacity {
            $($(#[$doc])* $capacity,)+
        }

        impl Capacity {
            /// Every one, in the order of their bits.
            pub const ALL: [Self; [$(Self::$capacity),+].len()] = [$(Self::$capacity),+];

            /// The word for it in reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$capacity => $name,)+
                }
            }

            /// The key of `[bounds]` that sets it.
            pub const fn key(self) -> &'static str {
                match self {
                    $(Self::$capacity => $key,)+
                }
            }

            /// The room where the scenario says nothing.
            pub const fn usual(self) -> u8 {
                match self {
                    $(Self::$capacity => $usual,)+
                }
            }

            /// The largest room that a scenario may set.
            pub const fn most(self) -> u8 {
                match self {
                    $(Self::$capacity => $most,)+
                }
            }

            /// What is limited, in the words that follow the number.
            pub const fn noun(self) -> &'static str {
                match self {
                    $(Self::$capacity => $noun,)+
                }
            }

            /// What to change in a scenario so that it needs less.
            pub const fn advice(self) -> &'static str {
                match self {
                    $(Self::$capacity => $advice,)+
                }
            }
        }
    };
}

capacities! {
    /// Effects under way to one replica.
    Effects = "effects", "effects_under_way", EFFECTS_UNDER_WAY, MAX_EFFECTS_UNDER_WAY,
        "effects under way to one replica",
        "use a shorter lag, fewer acquires or a longer renew_every";
    /// Unlock messages under way to one process, and permits that nobody has taken.
    Messages = "messages", "messages", MESSAGES, MAX_MESSAGES,
        "unlock messages under way to one client, or permits that wait for it",
        "set acquires in [clients], or use a shorter delay";
    /// Receipts of releases on one node.
    Receipts = "receipts", "receipts", RECEIPTS, MAX_RECEIPTS, "release receipts on one node",
        "use a shorter receipt in [time], or fewer acquires and lost replies";
    /// Requests of one client that their callers have abandoned.
    LateRequests = "late-requests", "late_requests", LATE_REQUESTS, LATE_REQUESTS,
        "abandoned requests of one client that are still under way",
        "use a shorter delay in [network], or fewer faults";
    /// Grants of one thread that the renewal table has not heard of.
    Registrations = "registrations", "registrations", REGISTRATIONS, MAX_REGISTRATIONS,
        "grants of one thread that its renewal table has not heard of",
        "set acquires in [clients], or use registration = \"before-answer\" in [protocol]";
    /// Renewal timers of one client, where they multiply.
    RenewalTimers = "renewal-timers", "renewal_timers", MAX_RENEWAL_TIMERS, MAX_RENEWAL_TIMERS,
        "renewal timers of one client",
        "use fewer acquires, or a shorter renew_every";
    /// Fencing tokens that a counter in Redis has issued.
    Tokens = "tokens", "tokens", MAX_TOKENS, MAX_TOKENS, "fencing tokens from one counter",
        "set acquires in [clients]";
    /// Holds of one thread that a node counts.
    Holds = "holds", "holds", HOLDS_COUNTED, MAX_HOLDS_COUNTED,
        "holds of one thread that a node counts, with those that its client has left behind",
        "set acquires in [clients]";
}

impl Capacity {
    /// The smallest room that a scenario may set.
    pub const fn least(self) -> u8 {
        match self {
            // Fewer could not take the place of more: a thread would miss a wake-up that it gets in truth.
            Self::Messages => MESSAGES,
            Self::Effects
            | Self::Receipts
            | Self::LateRequests
            | Self::Registrations
            | Self::RenewalTimers
            | Self::Tokens
            | Self::Holds => 1,
        }
    }
}
