//! How requests are answered, resent and abandoned where request and answer are steps of their own.

use serde::{Deserialize, Serialize};

use super::defaults::is_default;

/// How requests are answered, resent and abandoned, and what is done on an answer. Source: docs/facts/redisson.md#command-timeout-and-retries, #resending, #receipt-ttl.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Calls {
    /// The caller's timeout, ticks; at least 1.
    pub answer_within: u8,
    /// Which unanswered requests are resent.
    pub resend: Resend,
    /// How often one request is resent.
    pub retry_attempts: u8,
    /// Whether a node can recognize a resent release.
    pub request_id: RequestId,
    /// TTL of a release receipt, ticks; at least 1.
    pub receipt: u8,
    /// When a granted hold enters the renewal table.
    pub registration: Registration,
    /// What happens to an acquire that is granted although its caller was interrupted.
    pub interrupted_acquire: InterruptedAcquire,
    /// What the answer to a renewal does to holds that were registered after it was sent.
    pub stale_renewal: StaleRenewal,
    /// What a client does when a server refuses to write.
    #[serde(default, skip_serializing_if = "is_default")]
    pub refused_call: RefusedCall,
    /// What a waiter is told when it asks again and has no answer in time; read where waiters have a limit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unanswered_ask: UnansweredAsk,
}

impl Calls {
    /// Nothing is resent, and the timeout is the shortest that the model can express (Redisson: 3 s, less than a tick).
    pub const DEFAULT: Self = Self {
        answer_within: 1,
        resend: Resend::None,
        retry_attempts: 1,
        request_id: RequestId::PerRelease,
        receipt: 1,
        registration: Registration::BeforeAnswer,
        interrupted_acquire: InterruptedAcquire::Renew,
        stale_renewal: StaleRenewal::Believe,
        refused_call: RefusedCall::Throw,
        unanswered_ask: UnansweredAsk::Throw,
    };

    pub(super) fn is_default(&self) -> bool {
        *self == Self::DEFAULT
    }
}

impl Default for Calls {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Which unanswered requests are resent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Resend {
    /// None: after the timeout the caller gets an unknown outcome.
    None,
    /// Releases and renewals: harmless with a receipt, or by their nature.
    Release,
    /// Acquires as well: what Redisson does outside single-server mode, where its mark "do not retry" is lost.
    All,
}

/// Whether a node can recognize a resent release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RequestId {
    /// Every attempt of one release carries the same id (Redisson 3.43 to 4.7; docs/facts/redisson.md#release-receipt).
    PerRelease,
    /// Every attempt carries its own id, so no receipt is ever found: what happens otherwise.
    PerTry,
}

/// When a granted hold enters the renewal table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Registration {
    /// Before the caller has its answer (Redisson 4.7: the caller waits for the stage behind `scheduleExpirationRenewal`).
    BeforeAnswer,
    /// Before or after, in either order: both wait for the same reply (2021: `onComplete` beside the caller's `await`).
    Unordered,
}

/// What the answer to a renewal does to holds that were registered after it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StaleRenewal {
    /// It applies to them too: the table remembers threads, not grants (Redisson, `LockTask`).
    Believe,
    /// Nothing: once all holds of the thread are gone, an earlier renewal's answer is ignored.
    Ignore,
}

/// What happens to an acquire that is granted although its caller was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum InterruptedAcquire {
    /// It stays in Redis until its lease ends, and nobody renews it: the process has forgotten the call.
    Keep,
    /// The process still awaits the reply, sends the request again like any other, and renews the grant from then on, on behalf
    /// of nobody. At the last timeout it forgets the call (Redisson: docs/facts/redisson.md#an-interrupted-acquire-is-renewed-for-ever).
    Renew,
    /// When the reply arrives, a release is sent (Redisson `lockAsync`: the result cannot be completed any more).
    Release,
}

/// What a client does when a server refuses to write with `NOREPLICAS` or `READONLY`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RefusedCall {
    /// Its caller is told at once.
    #[default]
    Throw,
    /// It is sent again, as often as a request that has no answer. Its caller is told of `READONLY`
    /// in the end, whatever the last attempt was answered (Redisson;
    /// docs/facts/redisson.md#noreplicas-and-readonly-are-retried, #readonly-can-leave-an-orphan).
    Retry,
}

/// What a waiter with a limit is told when it was refused once, asks again and has no answer in time. Of its first ask every
/// caller is told an exception.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum UnansweredAsk {
    /// An exception: the outcome is unknown (Redisson up to 4.3).
    #[default]
    Throw,
    /// That it does not have the lock, whatever has become of the request (Redisson 4.7, `tryLock(waitTime)`;
    /// docs/facts/redisson.md#a-later-ask-that-is-not-answered).
    Refuse,
}
