//! What the party that acts in a step observes.

use serde::{Deserialize, Serialize};

/// Declares the replies, once with what they tell and once without.
macro_rules! replies {
    ($($(#[$doc:meta])* $reply:ident $({ $(#[$field_doc:meta])* $field:ident: $type:ty })? = $name:literal,)+) => {
        /// What the party that acted observes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(tag = "reply", rename_all = "snake_case", deny_unknown_fields)]
        pub enum Reply {
            $($(#[$doc])* $reply $({ $(#[$field_doc])* $field: $type })?,)+
        }

        /// A reply without its numbers: what coverage counts.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum ReplyKind {
            $($(#[$doc])* $reply,)+
        }

        impl ReplyKind {
            /// Every kind, in the order of [`Reply`].
            pub const ALL: [Self; [$(Self::$reply),+].len()] = [$(Self::$reply),+];

            /// The word for it in traces and reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$reply => $name,)+
                }
            }
        }

        impl Reply {
            /// Which reply it is.
            pub const fn kind(self) -> ReplyKind {
                match self {
                    $(Self::$reply { .. } => ReplyKind::$reply,)+
                }
            }
        }
    };
}

replies! {
    /// Nothing to observe.
    Done = "done",
    /// The caller holds the lock now.
    Acquired = "acquired",
    /// Somebody else holds the lock.
    Busy {
        /// Until the key expires if nobody does anything; `None`: it has no TTL.
        remaining_ticks: Option<u8>
    } = "busy",
    /// The lock is free.
    Released = "released",
    /// One hold less, but not the last.
    StillHeld = "still_held",
    /// The caller does not hold it; nothing was changed.
    NotHeld = "not_held",
    /// The lock has its TTL.
    TtlSet = "ttl_set",
    /// There was no lock whose TTL could be set, and its caller does not look.
    NoTtlSet = "no_ttl_set",
    /// The lease is complete again.
    Renewed = "renewed",
    /// The caller does not hold the lock any more; nothing was changed.
    RenewalMissed = "renewal_missed",
    /// The script of a renewal ended with an error: what it had renewed by then stays renewed, and its client learns nothing of it.
    RenewalFailed = "renewal_failed",
    /// Of the locks that one renewal carried, the lease of one is complete again.
    RenewedInPart {
        /// Whose lock was not held any more: the thread, from 0.
        missed: u8
    } = "renewed_in_part",
    /// A key is no lock: another program has stored a value of another type under its name. Of the locks that one renewal
    /// carried, those before it were renewed.
    WrongType = "wrong_type",
    /// There was nothing to renew; the timer stops.
    NothingToRenew = "nothing_to_renew",
    /// The master that this client knows does not answer.
    Unreachable = "unreachable",
    /// There was a lock, and it was deleted.
    ForceReleased = "force_released",
    /// There was no lock to delete.
    NothingToRelease = "nothing_to_release",
    /// The caller is not in the queue any more, if it was.
    LeftQueue = "left_queue",
    /// Enough replicas have the grant.
    Acknowledged {
        /// How many.
        replicas: u8
    } = "acknowledged",
    /// Too few replicas have the grant.
    TooFewReplicas {
        /// How many.
        replicas: u8
    } = "too_few_replicas",
    /// The counter of fencing tokens, as it is now.
    TokenRead {
        /// Its number; 0: there is none.
        number: u8
    } = "token_read",
    /// The caller is told that it holds the lock.
    SaysHeld = "says_held",
    /// The caller is told that it does not hold the lock.
    SaysNotHeld = "says_not_held",
    /// The resource accepted the effect.
    Accepted = "accepted",
    /// The resource rejected the effect: it has seen a newer token.
    Rejected = "rejected",
    /// The master refused to write: too few replicas have reported to it lately.
    NotEnoughReplicas = "not_enough_replicas",
    /// The master refused to write: its last save failed.
    SaveFailed = "save_failed",
    /// The node refused: the slot of the lock is being moved, and not all keys of the request are there.
    TryAgain = "try_again",
    /// The node refused to write: it is a replica now.
    ReadOnly = "read_only",
    /// No answer came in time: the request may have been executed or not.
    Unknown = "unknown",
    /// No answer came in time, and the caller is told that it does not have the lock, although the request may have been executed.
    ToldRefused = "told_refused",
    /// The thread was interrupted; it does not know the outcome.
    Interrupted = "interrupted",
}

impl Reply {
    /// Whether a node has refused to write: nothing was executed.
    pub(crate) const fn is_refusal_to_write(self) -> bool {
        matches!(self, Self::NotEnoughReplicas | Self::SaveFailed | Self::TryAgain | Self::ReadOnly)
    }
}
