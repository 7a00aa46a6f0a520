//! The faults: what may go wrong, and how often. Declared once, in one table.

use core::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use super::defaults::is_default;

/// Declares the faults: one budget each, named as in scenario files.
macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $(#[serde($serde:meta)])? $field:ident => $fault:ident,)+) => {
        /// What may go wrong, and how often. In a [`World`](crate::World): how often it still may.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields, default)]
        // In the order in which it is hashed: eight bytes are then one word to read.
        #[repr(C)]
        pub struct Faults {
            $($(#[doc = $doc])+ $(#[serde($serde)])? pub $field: u8,)+
        }

        /// One fault. It is spent by the action of the same name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Fault {
            $($(#[doc = $doc])+ $fault,)+
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

            /// What happens, as a sentence for `explain` and the page of keys.
            pub const fn sentence(self) -> &'static str {
                match self {
                    $(Self::$fault => concat!($($doc),+),)+
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
            pub fn least(self, other: Self) -> Self {
                Self { $($field: self.$field.min(other.$field),)+ }
            }

            /// Every budget.
            pub const fn budgets(&self) -> [(Fault, u8); Fault::ALL.len()] {
                [$((Fault::$fault, self.$field)),+]
            }
        }
    };
}

faults! {
    /// A client dies for good.
    crash_client => CrashClient,
    /// A thread that holds dies; its process lives on.
    crash_thread => CrashThread,
    /// A client stops running for a while; its timers become overdue.
    pause_client => PauseClient,
    /// A node dies.
    crash_node => CrashNode,
    /// An unlock message is lost.
    lose_message => LoseMessage,
    /// A thread that does not hold calls release all the same.
    foreign_release => ForeignRelease,
    /// Somebody deletes the lock, whoever holds it.
    force_release => ForceRelease,
    /// A dead node restarts.
    #[serde(skip_serializing_if = "is_default")]
    restart_node => RestartNode,
    /// A node is cut off from the other nodes, and from the authority that decides on failovers.
    #[serde(skip_serializing_if = "is_default")]
    cut_link => CutLink,
    /// A master drops the key without a message: evicted, or deleted by hand.
    #[serde(skip_serializing_if = "is_default")]
    vanish_key => VanishKey,
    /// A request never reaches its node.
    #[serde(skip_serializing_if = "is_default")]
    lose_request => LoseRequest,
    /// A reply never reaches its client.
    #[serde(skip_serializing_if = "is_default")]
    lose_reply => LoseReply,
    /// A thread is interrupted in `lock()` or `unlock()`.
    #[serde(skip_serializing_if = "is_default")]
    interrupt => Interrupt,
    /// The clock of a node jumps.
    #[serde(skip_serializing_if = "is_default")]
    clock_jump => ClockJump,
    /// The wall clock of a client jumps.
    #[serde(skip_serializing_if = "is_default")]
    client_clock_jump => ClientClockJump,
    /// An operator makes a replica the master while the master runs: maintenance, not a defect.
    #[serde(skip_serializing_if = "is_default")]
    hand_over => HandOver,
}

impl Faults {
    /// Spends one of this fault's budget. `None`: nothing is left of it.
    #[must_use]
    pub(crate) fn spend(&mut self, fault: Fault) -> Option<()> {
        let left = self.left_mut(fault);
        *left = left.checked_sub(1)?;
        Some(())
    }
}

impl Hash for Faults {
    // In two words, for the reason that `world/hash` gives.
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let budgets = self.budgets().map(|(_, budget)| budget);
        let (words, rest) = budgets.as_chunks();
        for word in words {
            hasher.write_u64(u64::from_le_bytes(*word));
        }
        debug_assert!(rest.is_empty(), "every budget is hashed");
    }
}
