//! The faults: what may go wrong, and how often. Declared once, in one table.

use core::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use super::defaults::is_default;

/// Declares the faults: one budget each, named as in scenario files.
macro_rules! faults {
    ($($(#[serde($serde:meta)])? $field:ident => $fault:ident: $sentence:literal,)+) => {
        /// What may go wrong, and how often. In a [`World`](crate::World): how often it still may.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields, default)]
        // In the order in which it is hashed: eight bytes are then one word to read.
        #[repr(C)]
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
    crash_client => CrashClient: "a client crashes for good",
    crash_thread => CrashThread: "a thread that holds dies and its process lives on",
    pause_client => PauseClient: "a client is paused and its timers become overdue",
    crash_node => CrashNode: "a node crashes",
    lose_message => LoseMessage: "an unlock message is lost",
    foreign_release => ForeignRelease: "a thread releases without holding",
    force_release => ForceRelease: "a client deletes the lock, no matter who holds it",
    #[serde(skip_serializing_if = "is_default")]
    restart_node => RestartNode: "a crashed node restarts",
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
    // In whole words, for the reason that `world/hash` gives. The last one is padded.
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let mut padded = [0; Fault::ALL.len().next_multiple_of(8)];
        for (byte, (_, budget)) in padded.iter_mut().zip(self.budgets()) {
            *byte = budget;
        }
        let (words, _) = padded.as_chunks();
        for word in words {
            hasher.write_u64(u64::from_le_bytes(*word));
        }
    }
}
