//! How much room a scenario gives the model: the section `[bounds]`. What it gets without it follows from the scenario
//! (`derived`).

use serde::{Deserialize, Serialize};

use super::defaults::is_default;
use crate::notes::Capacity;

/// Room that a scenario sets itself, by [`Capacity`]; `None`: as much as it needs, as far as that is known
/// ([`Config::room_for`](super::sections::Config::room_for)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Effects under way to one replica.
    #[serde(default, skip_serializing_if = "is_default")]
    pub effects_under_way: Option<u8>,
    /// Unlock messages under way to one client, and permits that wait for it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub messages: Option<u8>,
    /// Release receipts on one node.
    #[serde(default, skip_serializing_if = "is_default")]
    pub receipts: Option<u8>,
    /// Abandoned requests of one client that are still under way.
    #[serde(default, skip_serializing_if = "is_default")]
    pub late_requests: Option<u8>,
    /// Grants of one thread that its renewal table has not heard of.
    #[serde(default, skip_serializing_if = "is_default")]
    pub registrations: Option<u8>,
    /// Renewal timers of one client.
    #[serde(default, skip_serializing_if = "is_default")]
    pub renewal_timers: Option<u8>,
    /// Fencing tokens that one counter issues.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tokens: Option<u8>,
    /// Holds of one thread that a node counts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub holds: Option<u8>,
}

impl Bounds {
    /// None is set.
    pub const NONE: Self = Self {
        effects_under_way: None,
        messages: None,
        receipts: None,
        late_requests: None,
        registrations: None,
        renewal_timers: None,
        tokens: None,
        holds: None,
    };

    /// The one for this capacity.
    pub const fn of(&self, capacity: Capacity) -> Option<u8> {
        match capacity {
            Capacity::Effects => self.effects_under_way,
            Capacity::Messages => self.messages,
            Capacity::Receipts => self.receipts,
            Capacity::LateRequests => self.late_requests,
            Capacity::Registrations => self.registrations,
            Capacity::RenewalTimers => self.renewal_timers,
            Capacity::Tokens => self.tokens,
            Capacity::Holds => self.holds,
        }
    }
}
