//! Rules that can be taken from the model: without one of them a record of a real run has no explanation, which shows that the
//! rule is needed.

use lockstep_model::ActionKind;
use serde::{Deserialize, Serialize};

/// A rule of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// A replica applies effects late.
    Replicate,
    /// A failover may lose what the replica had not applied: here none may happen at all.
    Promote,
    /// A key may be gone at the very instant at which its lease is over.
    Expire,
    /// A key may be deleted by somebody who does not hold it.
    VanishKey,
    /// A request whose caller has given it up may have been executed or not.
    Abandon,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 5] = [Self::Replicate, Self::Promote, Self::Expire, Self::VanishKey, Self::Abandon];

    /// Its name, also that of the file of its record.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Replicate => "replicate",
            Self::Promote => "promote",
            Self::Expire => "expire",
            Self::VanishKey => "vanish_key",
            Self::Abandon => "abandon",
        }
    }

    /// The action that cannot happen without it.
    pub const fn forbids(self) -> ActionKind {
        match self {
            Self::Replicate => ActionKind::Replicate,
            Self::Promote => ActionKind::Promote,
            Self::Expire => ActionKind::Expire,
            Self::VanishKey => ActionKind::VanishKey,
            Self::Abandon => ActionKind::Abandon,
        }
    }
}
