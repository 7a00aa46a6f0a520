//! The protocol between client and server: a value of each switch, and the values in each profile, as data.

use serde::{Deserialize, Serialize};

use super::defaults::{is_default, is_usual_batch, usual_batch};
use super::profiles::Profile;
use super::switches::{
    AcquireRule, AnsweredReceipt, Downgrade, ElapsedTime, ExtendRule, FailedPart, FailedRenewal, FinalLease, HeldQuery,
    InterruptedCall, InterruptedWaiter, MissedRenewal, NeededMasters, NoTtlAnswer, PartialRelease, ReadRelease,
    ReadRenewal, RefusedLease, ReleaseRule, RememberedLease, RenewalTimer, RoundLease, SubscribeTo, TokenRule,
    ValueRule, WaitAfter, WaitRule,
};
use crate::limits::RENEWAL_BATCH;

/// The switches of the protocol between client and server, each read where its rule stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// The profile that the switches were taken from; informative, no rule reads it.
    pub profile: Profile,
    /// Whether a release leaves a short-lived receipt, so that a resent one is harmless.
    pub receipts: bool,
    /// What the client does with a receipt once its release is answered.
    #[serde(default, skip_serializing_if = "is_default")]
    pub answered_receipt: AnsweredReceipt,
    /// What the answer to a release that leaves a hold does to the renewal table.
    #[serde(default, skip_serializing_if = "is_default")]
    pub partial_release: PartialRelease,
    /// Which timer renews.
    pub renewal_timer: RenewalTimer,
    /// How many locks one renewal carries at most. The next one is sent when that is answered, and an error ends them all until
    /// the next period; read where a client has several lock names and one timer for them
    /// (docs/facts/redisson.md#several-locks-in-one-renewal).
    #[serde(default = "usual_batch", skip_serializing_if = "is_usual_batch")]
    pub renewal_batch: u8,
    /// What the client does when a renewal is answered "not yours".
    pub missed_renewal: MissedRenewal,
    /// What the client does when a renewal has no answer.
    pub failed_renewal: FailedRenewal,
    /// For how long a lock object remembers a lease; read where threads share one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub remembered_lease: RememberedLease,
    /// What a lock object remembers of a call that names its lease and is refused; read where threads share one and the lease of an
    /// ask is that of the object ([`Facts::asks_by_object_lease`](crate::locks::Facts::asks_by_object_lease)).
    #[serde(default, skip_serializing_if = "is_default")]
    pub refused_lease: RefusedLease,
    /// By which lease a call goes on in its later rounds; read where a call that names one takes several parts in rounds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub round_lease: RoundLease,
    /// Whose hold gets its lease at the end of an acquire; read where a call that names one takes several parts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub final_lease: FinalLease,
    /// What a release does when that of one part fails; read for a lock of several parts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub failed_part: FailedPart,
    /// How many masters a call needs; read for kinds with a lock on each of several masters
    /// ([`StoringMasters::Locks`](crate::locks::StoringMasters::Locks)).
    #[serde(default, skip_serializing_if = "is_default")]
    pub needed_masters: NeededMasters,
    /// What an interrupt does to a call that waits for a part; read for a lock of several parts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub interrupted_call: InterruptedCall,
    /// Which answer of `WAIT` is sufficient; read where acquires wait for replicas.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wait_rule: WaitRule,
    /// Behind which requests `WAIT` is sent; read where acquires wait for replicas.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wait_after: WaitAfter,
    /// What a grant stores; read for kinds that have it ([`Facts::value`](crate::locks::Facts::value)).
    #[serde(default, skip_serializing_if = "is_default")]
    pub value: ValueRule,
    /// By how many commands an acquire takes the lock; read for kinds that can take it by two
    /// ([`Facts::two_commands`](crate::locks::Facts::two_commands)).
    #[serde(default, skip_serializing_if = "is_default")]
    pub acquire: AcquireRule,
    /// How a release finds that the lock is its own; read for kinds that have a bare release
    /// ([`Facts::bare_release`](crate::locks::Facts::bare_release)).
    #[serde(default, skip_serializing_if = "is_default")]
    pub release: ReleaseRule,
    /// How an extension finds that the lock is its own; read for kinds that have a bare one
    /// ([`Facts::bare_extend`](crate::locks::Facts::bare_extend)).
    #[serde(default, skip_serializing_if = "is_default")]
    pub extend: ExtendRule,
    /// What the release of a reader does to the renewal of a writer that is the same thread; read for kinds that have both.
    #[serde(default, skip_serializing_if = "is_default")]
    pub read_release: ReadRelease,
    /// When a client learns its fencing token; read for kinds that issue some ([`Facts::tokens`](crate::locks::Facts::tokens)).
    #[serde(default, skip_serializing_if = "is_default")]
    pub token: TokenRule,
    /// What a client makes of a holder whose lock has no TTL; read where tokens come with grants.
    #[serde(default, skip_serializing_if = "is_default")]
    pub no_ttl_answer: NoTtlAnswer,
    /// Which values are checked when a client asks whether it holds; read for kinds that answer that
    /// ([`Facts::held_query`](crate::locks::Facts::held_query)).
    #[serde(default, skip_serializing_if = "is_default")]
    pub held_query: HeldQuery,
    /// Which holds the renewal of a reader renews; read for kinds with readers.
    #[serde(default, skip_serializing_if = "is_default")]
    pub read_renewal: ReadRenewal,
    /// Whom a writer tells that releases and reads on; read for kinds that have both.
    #[serde(default, skip_serializing_if = "is_default")]
    pub downgrade: Downgrade,
    /// What a client makes of the time that it took to ask several masters; read for kinds that ask several
    /// ([`Facts::masters`](crate::locks::Facts::masters)).
    #[serde(default, skip_serializing_if = "is_default")]
    pub elapsed_time: ElapsedTime,
    /// What becomes of the place of a waiter that is interrupted; read for kinds with a queue
    /// ([`Facts::queue`](crate::locks::Facts::queue)).
    #[serde(default, skip_serializing_if = "is_default")]
    pub interrupted_waiter: InterruptedWaiter,
    /// On which node clients subscribe to unlock messages.
    #[serde(default, skip_serializing_if = "is_default")]
    pub subscribe_to: SubscribeTo,
}

impl Profile {
    /// The switches of this profile. Source: docs/facts/redisson.md#keys-channels-and-numbers, and runs of each version, which
    /// contradict every other value of a switch that they show (reports/redisson.md).
    pub const fn protocol(self) -> Protocol {
        // Redisson 4.7.
        let newest = Protocol {
            profile: self,
            receipts: true,
            answered_receipt: AnsweredReceipt::Delete,
            partial_release: PartialRelease::Lower,
            renewal_timer: RenewalTimer::Shared,
            renewal_batch: RENEWAL_BATCH,
            missed_renewal: MissedRenewal::LowerFirst,
            failed_renewal: FailedRenewal::Retry,
            remembered_lease: RememberedLease::UntilReleased,
            refused_lease: RefusedLease::Remembered,
            round_lease: RoundLease::Multiplied,
            final_lease: FinalLease::AnyHold,
            failed_part: FailedPart::Stops,
            needed_masters: NeededMasters::Most,
            interrupted_call: InterruptedCall::GoesOn,
            wait_rule: WaitRule::Any,
            // Redisson's is `EveryCall`, which only small worlds can have: the scenario reader says which.
            wait_after: WaitAfter::Grants,
            value: ValueRule::PerAcquire,
            acquire: AcquireRule::SetNxPx,
            release: ReleaseRule::Compare,
            extend: ExtendRule::Compare,
            read_release: ReadRelease::EndsWriteRenewal,
            token: TokenRule::WithGrant,
            no_ttl_answer: NoTtlAnswer::Grant,
            held_query: HeldQuery::LaterValues,
            read_renewal: ReadRenewal::OwnHolds,
            downgrade: Downgrade::Silent,
            elapsed_time: ElapsedTime::Ignored,
            interrupted_waiter: InterruptedWaiter::StaysQueued,
            subscribe_to: SubscribeTo::Master,
        };
        match self {
            Self::Redisson315 => Protocol {
                receipts: false,
                renewal_timer: RenewalTimer::PerLock,
                missed_renewal: MissedRenewal::StopTimer,
                failed_renewal: FailedRenewal::Forget,
                remembered_lease: RememberedLease::ForGood,
                wait_rule: WaitRule::Ignored,
                read_release: ReadRelease::OwnRenewal,
                ..newest
            },
            Self::Redisson343 => Protocol {
                partial_release: PartialRelease::Ignore,
                renewal_timer: RenewalTimer::PerLock,
                missed_renewal: MissedRenewal::Forget,
                failed_renewal: FailedRenewal::Forget,
                read_release: ReadRelease::OwnRenewal,
                read_renewal: ReadRenewal::AllHolds,
                ..newest
            },
            Self::Redisson352 => {
                Protocol { answered_receipt: AnsweredReceipt::Keep, read_renewal: ReadRenewal::FailsNested, ..newest }
            }
            Self::Redisson43 => Protocol { read_renewal: ReadRenewal::AllHolds, ..newest },
            Self::Redisson47 => newest,
            Self::Lockstep => Protocol {
                missed_renewal: MissedRenewal::TellHolder,
                wait_rule: WaitRule::All,
                round_lease: RoundLease::Kept,
                final_lease: FinalLease::OwnHold,
                failed_part: FailedPart::GoesOn,
                interrupted_call: InterruptedCall::Ends,
                elapsed_time: ElapsedTime::Checked,
                held_query: HeldQuery::EveryValue,
                ..newest
            },
            // Who extends by a call is told at once what became of it (docs/facts/libraries.md).
            Self::RedisPy8 | Self::Redlock5 | Self::Redsync4 => Protocol {
                renewal_timer: RenewalTimer::PerLock,
                missed_renewal: MissedRenewal::TellHolder,
                receipts: false,
                ..newest
            },
            // It never extends by itself: its application calls `extend`.
            Self::Redlock4 => Protocol { failed_renewal: FailedRenewal::Release, ..Self::RedisPy8.protocol_of(self) },
            Self::Redislock010 => Protocol { acquire: AcquireRule::OwnOrFree, ..Self::RedisPy8.protocol_of(self) },
            // The task that extends ends, and the holder hears of it when it releases.
            Self::Shedlock7 => Protocol {
                missed_renewal: MissedRenewal::Forget,
                release: ReleaseRule::Delete,
                extend: ExtendRule::Overwrite,
                ..Self::RedisPy8.protocol_of(self)
            },
            Self::SpringIntegration7 => Protocol {
                missed_renewal: MissedRenewal::Forget,
                value: ValueRule::PerClient,
                acquire: AcquireRule::OwnOrFree,
                ..Self::RedisPy8.protocol_of(self)
            },
        }
    }

    /// The switches of this profile, under the name of another one.
    const fn protocol_of(self, profile: Self) -> Protocol {
        Protocol { profile, ..self.protocol() }
    }
}

impl Protocol {
    /// The same, with the rules of the lock itself from another one: all clients of a lock keep to the same.
    #[must_use]
    pub const fn with_rules_of(self, common: Self) -> Self {
        let Self { value, acquire, release, extend, .. } = common;
        Self { value, acquire, release, extend, ..self }
    }
}
