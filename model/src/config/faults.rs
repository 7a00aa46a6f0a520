//! What may go wrong, and how often: in a scenario, and in a world what is left of it.

use core::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use super::is_default;
use crate::action::ActionKind;

/// What may go wrong, and how often. In a [`World`](crate::World): how often it still may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
// In the order in which it is hashed: eight bytes are then one word to read.
#[repr(C)]
pub struct Faults {
    /// A client dies for good.
    pub crash_client: u8,
    /// A thread that holds dies; its process lives on.
    pub crash_thread: u8,
    /// A client stands still; its timers go overdue.
    pub pause_client: u8,
    /// A node dies.
    pub crash_node: u8,
    /// An unlock message is lost.
    pub lose_message: u8,
    /// A thread that does not hold calls release all the same.
    pub foreign_release: u8,
    /// Somebody deletes the lock whoever holds it.
    pub force_release: u8,
    /// A node that died comes back.
    #[serde(skip_serializing_if = "is_default")]
    pub restart_node: u8,
    /// A node is cut off from the other nodes, and from who decides on a failover.
    #[serde(skip_serializing_if = "is_default")]
    pub cut_link: u8,
    /// A master drops the key without a word: evicted, or deleted by hand.
    #[serde(skip_serializing_if = "is_default")]
    pub vanish_key: u8,
    /// A request never reaches its node.
    #[serde(skip_serializing_if = "is_default")]
    pub lose_request: u8,
    /// A reply never reaches its client.
    #[serde(skip_serializing_if = "is_default")]
    pub lose_reply: u8,
    /// A thread is interrupted in `lock()` or `unlock()`.
    #[serde(skip_serializing_if = "is_default")]
    pub interrupt: u8,
    /// The clock of a node jumps.
    #[serde(skip_serializing_if = "is_default")]
    pub clock_jump: u8,
    /// The wall clock of a client jumps.
    #[serde(skip_serializing_if = "is_default")]
    pub client_clock_jump: u8,
    /// Somebody makes a replica the master while the master runs: maintenance, no defect.
    #[serde(skip_serializing_if = "is_default")]
    pub hand_over: u8,
}

impl Hash for Faults {
    // In two words, for the reason that `world` gives.
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

impl Faults {
    /// Of each budget the smaller one.
    #[must_use]
    pub fn least(self, other: Self) -> Self {
        Self {
            crash_client: self.crash_client.min(other.crash_client),
            crash_thread: self.crash_thread.min(other.crash_thread),
            pause_client: self.pause_client.min(other.pause_client),
            crash_node: self.crash_node.min(other.crash_node),
            lose_message: self.lose_message.min(other.lose_message),
            foreign_release: self.foreign_release.min(other.foreign_release),
            force_release: self.force_release.min(other.force_release),
            restart_node: self.restart_node.min(other.restart_node),
            cut_link: self.cut_link.min(other.cut_link),
            vanish_key: self.vanish_key.min(other.vanish_key),
            lose_request: self.lose_request.min(other.lose_request),
            lose_reply: self.lose_reply.min(other.lose_reply),
            interrupt: self.interrupt.min(other.interrupt),
            clock_jump: self.clock_jump.min(other.clock_jump),
            client_clock_jump: self.client_clock_jump.min(other.client_clock_jump),
            hand_over: self.hand_over.min(other.hand_over),
        }
    }

    /// Every budget, and the action that spends it.
    pub const fn budgets(&self) -> [(ActionKind, u8); 16] {
        let Self {
            crash_client,
            crash_thread,
            pause_client,
            crash_node,
            lose_message,
            foreign_release,
            force_release,
            restart_node,
            cut_link,
            vanish_key,
            lose_request,
            lose_reply,
            interrupt,
            clock_jump,
            client_clock_jump,
            hand_over,
        } = *self;
        [
            (ActionKind::CrashClient, crash_client),
            (ActionKind::CrashThread, crash_thread),
            (ActionKind::PauseClient, pause_client),
            (ActionKind::CrashNode, crash_node),
            (ActionKind::LoseMessage, lose_message),
            (ActionKind::ForeignRelease, foreign_release),
            (ActionKind::ForceRelease, force_release),
            (ActionKind::RestartNode, restart_node),
            (ActionKind::CutLink, cut_link),
            (ActionKind::VanishKey, vanish_key),
            (ActionKind::LoseRequest, lose_request),
            (ActionKind::LoseReply, lose_reply),
            (ActionKind::Interrupt, interrupt),
            (ActionKind::ClockJump, clock_jump),
            (ActionKind::ClientClockJump, client_clock_jump),
            (ActionKind::HandOver, hand_over),
        ]
    }
}
