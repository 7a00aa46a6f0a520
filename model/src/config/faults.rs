//! The faults: what may go wrong, and how often. Declared once, in one table.

use core::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use super::defaults::is_default;
use crate::limits::MAX_FAULTS;

/// Declares the faults: one budget each, named as in scenario files.
macro_rules! faults {
    ($($(#[serde($serde:meta)])? $field:ident => $fault:ident: $sentence:literal,)+) => {
        /// What may go wrong, and how often. In a [`World`](crate::World): how often it still may.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields, default)]
        pub struct Faults {
            $(#[doc = concat!("How often: ", $sentence, ".")] $(#[serde($serde)])? pub $field: u8,)+
        }

        /// One fault. It is spent by the action of the same name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Fault {
            $(#[doc = concat!("What happens: ", $sentence, ".")] $fault,)+
        }

        impl Fault {
            /// Every fault, in the order of the fields of [`Faults`].
            pub const ALL: [Self; [$(Self::$fault),+].len()] = [$(Self::$fault),+];

            /// The key of its budget in scenario files.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$fault => stringify!($field),)+
                }
            }

            /// What happens, as a sentence without a full stop: the one place where texts take it from.
            pub const fn sentence(self) -> &'static str {
                match self {
                    $(Self::$fault => $sentence,)+
                }
            }
        }

        impl Faults {
            /// What is left of one budget.
            pub const fn left(&self, fault: Fault) -> u8 {
                match fault {
                    $(Fault::$fault => self.$field,)+
                }
            }

            /// One budget, to change it.
            pub const fn left_mut(&mut self, fault: Fault) -> &mut u8 {
                match fault {
                    $(Fault::$fault => &mut self.$field,)+
                }
            }

            /// The smaller of both budgets for each fault.
            #[must_use]
            #[inline]
            pub fn least(self, other: Self) -> Self {
                Self { $($field: self.$field.min(other.$field),)+ }
            }

            /// Every budget.
            pub const fn budgets(&self) -> [(Fault, u8); Fault::ALL.len()] {
                [$((Fault::$fault, self.$field)),+]
            }
        }

        impl FaultsLeft {
            /// Every budget; two that share their bits as one and as the other.
            // Field by field: asked of every state, and every place is known to the compiler.
            #[inline]
            pub const fn all(self) -> Faults {
                Faults { $($field: self.of(Fault::$fault),)+ }
            }
        }
    };
}

faults! {
    crash_client => CrashClient: "a client crashes for good",
    crash_thread => CrashThread: "a thread that holds dies and its process lives on",
    pause_client => PauseClient: "a client is paused and its timers become overdue",
    #[serde(skip_serializing_if = "is_default")]
    start_client => StartClient: "a client that was not there at the beginning starts",
    crash_node => CrashNode: "a node crashes",
    lose_message => LoseMessage: "an unlock message is lost",
    foreign_release => ForeignRelease: "a thread releases without holding",
    force_release => ForceRelease: "a client deletes the lock, no matter who holds it",
    #[serde(skip_serializing_if = "is_default")]
    restart_node => RestartNode: "a crashed node restarts",
    #[serde(skip_serializing_if = "is_default")]
    kill_node => KillNode: "the process of a node is killed, and its machine goes on",
    #[serde(skip_serializing_if = "is_default")]
    shutdown_node => ShutdownNode: "a node is told to end (SIGTERM)",
    #[serde(skip_serializing_if = "is_default")]
    cut_link => CutLink: "a node is cut off from the other nodes",
    #[serde(skip_serializing_if = "is_default")]
    pause_node => PauseNode: "a node stands still for a while",
    #[serde(skip_serializing_if = "is_default")]
    vanish_key => VanishKey: "a master loses the lock's key: evicted, or deleted by hand",
    #[serde(skip_serializing_if = "is_default")]
    lose_request => LoseRequest: "a request is lost",
    #[serde(skip_serializing_if = "is_default")]
    lose_reply => LoseReply: "a reply is lost",
    #[serde(skip_serializing_if = "is_default")]
    interrupt => Interrupt: "a thread is interrupted in lock() or unlock()",
    #[serde(skip_serializing_if = "is_default")]
    clock_jump => ClockJump: "the clock of a node jumps",
    #[serde(skip_serializing_if = "is_default")]
    client_clock_jump => ClientClockJump: "the wall clock of a client jumps",
    #[serde(skip_serializing_if = "is_default")]
    hand_over => HandOver: "a replica is made the master while the master runs",
    #[serde(skip_serializing_if = "is_default")]
    refuse_writes => RefuseWrites: "a master refuses every write for a while: its last save failed",
    #[serde(skip_serializing_if = "is_default")]
    break_link => BreakLink: "the link of a replica to its master breaks, and a full copy replaces its data",
    #[serde(skip_serializing_if = "is_default")]
    persist_key => PersistKey: "the lock's key loses its TTL: somebody sends PERSIST",
    #[serde(skip_serializing_if = "is_default")]
    vanish_receipts => VanishReceipts: "a master evicts the release receipts, and keeps the lock",
    #[serde(skip_serializing_if = "is_default")]
    vanish_token => VanishToken: "a master loses the counter of fencing tokens: evicted, or deleted by hand",
    #[serde(skip_serializing_if = "is_default")]
    overwrite_key => OverwriteKey: "another program stores a string under the name of a lock (SET)",
    #[serde(skip_serializing_if = "is_default")]
    lose_ask => LoseAsk: "a client that asks several masters does not reach one of them",
    #[serde(skip_serializing_if = "is_default")]
    slow_reply => SlowReply: "the reply of one master to a client that asks several is late",
    #[serde(skip_serializing_if = "is_default")]
    late_ask => LateAsk: "a client that asks several masters gives up on one of them, which is asked later all the same",
    #[serde(skip_serializing_if = "is_default")]
    move_slot => MoveSlot: "an operator moves the slot of the lock to another master of its cluster",
}

impl Faults {
    /// How many nodes may still die, in whichever way.
    pub const fn deaths_of_nodes(&self) -> u8 {
        self.crash_node.saturating_add(self.kill_node).saturating_add(self.shutdown_node)
    }

    /// How many holds of one thread a node may store, where a thread believes in at most `max_holds`: as many again for each fault that
    /// can leave holds behind, because a release failed or a failover forgot it.
    pub fn most_holds(&self, max_holds: u8) -> u32 {
        let left_behind = [
            self.deaths_of_nodes(),
            self.restart_node,
            self.pause_node,
            self.cut_link,
            self.break_link,
            self.refuse_writes,
            self.move_slot,
            self.hand_over,
            self.interrupt,
        ];
        u32::from(max_holds) * (1 + left_behind.into_iter().map(u32::from).sum::<u32>())
    }
}

/// What is left of every budget, in four bits each: a small world is a small value. Faults that no world has together share
/// theirs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FaultsLeft([u8; Self::PLACES.div_ceil(2)]);

impl FaultsLeft {
    /// How many faults have a place of their own: those behind them share one.
    const PLACES: usize = Fault::VanishToken as usize;
    const BITS: u32 = 4;
    const MOST: u8 = (1 << Self::BITS) - 1;

    /// Nothing is spent yet.
    pub(crate) fn new(faults: Faults) -> Self {
        const { assert!(MAX_FAULTS <= Self::MOST, "a budget fits") };
        let mut left = Self::default();
        for (fault, budget) in faults.budgets().into_iter().filter(|(_, budget)| *budget > 0) {
            left.set(fault, budget.min(Self::MOST));
        }
        left
    }

    /// What is left of every budget of a scenario.
    #[inline]
    pub fn within(self, budgets: Faults) -> Faults {
        self.all().least(budgets)
    }

    /// What is left of one budget, in a scenario that has it.
    #[inline]
    pub const fn of(self, fault: Fault) -> u8 {
        let (place, shift) = Self::at(fault);
        self.0[place] >> shift & Self::MOST
    }

    /// Spends one of this fault's budget. `None`: nothing is left of it.
    #[must_use]
    pub(crate) fn spend(&mut self, fault: Fault) -> Option<()> {
        self.set(fault, self.of(fault).checked_sub(1)?);
        Some(())
    }

    const fn set(&mut self, fault: Fault, budget: u8) {
        let (place, shift) = Self::at(fault);
        self.0[place] = self.0[place] & !(Self::MOST << shift) | budget << shift;
    }

    #[inline]
    const fn at(fault: Fault) -> (usize, u32) {
        let index = match fault {
            // A key is overwritten where there are several lock names, and loses its TTL where there is one (S008).
            Fault::OverwriteKey => Fault::PersistKey as usize,
            // Receipts are evicted in a split network, where no lock issues tokens yet (S008).
            Fault::VanishToken => Fault::VanishReceipts as usize,
            // A client that asks several masters has an atomic network (S008). A late ask takes the place of a lost message: no kind has both
            // (S008).
            Fault::LoseAsk => Fault::LoseRequest as usize,
            Fault::SlowReply => Fault::LoseReply as usize,
            Fault::LateAsk => Fault::LoseMessage as usize,
            // A slot is moved by a master whose saves succeed (S008).
            Fault::MoveSlot => Fault::RefuseWrites as usize,
            other => {
                debug_assert!((other as usize) < Self::PLACES, "a place of its own");
                other as usize
            }
        };
        (index / 2, if index.is_multiple_of(2) { 0 } else { Self::BITS })
    }
}

impl Hash for FaultsLeft {
    // In whole words, for the reason that `world/hash` gives.
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let (words, rest) = self.0.as_chunks::<8>();
        for word in words {
            hasher.write_u64(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        hasher.write_u64(u64::from_le_bytes(last));
    }
}
