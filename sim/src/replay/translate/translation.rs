//! What a kind of lock must say about itself so that its histories can be replayed.

use lockstep_model::Action;
use lockstep_model::config::{
    AcquireRule, Downgrade, ExtendRule, FinalLease, HeldQuery, LockKind, ReadRenewal, ReleaseRule, TokenRule, ValueSet,
};
use lockstep_redis::{HoldValue, HolderId, Lease, Names, Scripts};

use super::request::ScriptRequest;

/// What all requests of one client have in common.
pub struct RequestContext {
    /// The scripts that the clients use.
    pub scripts: Scripts,
    /// What the lock and what belongs to it are called.
    pub names: Names,
    /// How long a grant lives unrenewed.
    pub lease: Lease,
    /// The lease that an acquire sets when it has every part, in kinds that have some.
    pub final_lease: Lease,
    /// Whose hold gets it.
    pub final_lease_rule: FinalLease,
    /// A TTL of so many ms, or more, is longer than any run: the model tells none of them apart.
    pub far_ms: i64,
    /// How long a release receipt lives.
    pub receipt_lease: Lease,
    /// For how long a caller queues, ms, in kinds with a queue.
    pub queue_wait_ms: u64,
    /// Whether a refused caller queues there, or waits, in kinds that are asked in another way then.
    pub may_queue: bool,
    /// Whether releases leave receipts, in kinds that know them.
    pub has_receipts: bool,
    /// How an acquire takes the lock, in kinds that can be taken in several ways.
    pub acquire: AcquireRule,
    /// How a release finds that the lock is its own, in kinds that have a bare one.
    pub release: ReleaseRule,
    /// How an extension of the lease finds that the lock is its own, in kinds that have a bare one.
    pub extend: ExtendRule,
    /// When a client learns its token, in kinds that issue some.
    pub token: TokenRule,
    /// Which holds the renewal of a reader renews, in kinds with readers.
    pub read_renewal: ReadRenewal,
    /// Whom a writer tells that releases and reads on, in kinds with readers.
    pub downgrade: Downgrade,
    /// Which values the client names, in kinds that have several.
    pub values: ValueSet,
    /// At which of them it looks that asks whether it holds.
    pub held_query: HeldQuery,
    /// How far its wall clock is ahead of the clock of the history, ms; read in such kinds only.
    pub clock_ahead_ms: u64,
    /// Whether a client deletes the receipt of a release that was answered.
    pub deletes_receipts: bool,
}

/// The client thread that makes a request.
pub struct ScriptCaller {
    /// Who.
    pub holder: HolderId,
    /// By which of its acquires; `None` where the scenario does not tell them apart.
    pub acquire: Option<u8>,
    /// Its wall clock, in milliseconds since 1970.
    pub now_ms: u64,
}

impl ScriptCaller {
    /// What a lock stores whose value is unique per acquire. The model's number is unique among all acquires of the holder that
    /// a node or a request still belongs to.
    pub fn value(&self) -> HoldValue {
        match self.acquire {
            Some(number) => HoldValue::of_acquire(&self.holder, number.into()),
            None => HoldValue::of_holder(&self.holder),
        }
    }
}

/// A channel that a waiting client subscribes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlockChannel {
    /// Its name.
    pub name: String,
    /// The message that is published on it, unless [`Translation::message_of`] says another one.
    pub message: &'static str,
}

/// The Redisson method that does what a request does.
pub struct RedissonCalls {
    /// The method of its client that returns such a lock; `None`: it has none.
    pub object: Option<&'static str>,
    /// What stands before the name of such a lock in the commands of its driver (tools/redisson/README.md).
    pub driver_prefix: &'static str,
    /// Takes the lock.
    pub acquire: &'static str,
    /// Gives back one hold.
    pub release: &'static str,
    /// Gives back one hold, where releases leave no receipts.
    pub release_without_receipt: &'static str,
    /// Extends the lease.
    pub renew: &'static str,
    /// Frees the lock, no matter who holds it.
    pub force_release: &'static str,
}

impl RedissonCalls {
    /// Of a kind that Redisson does not have: what acquires, renews and releases it elsewhere.
    pub const fn none([acquire, renew, release]: [&'static str; 3]) -> Self {
        Self {
            object: None,
            driver_prefix: "",
            acquire,
            release,
            release_without_receipt: release,
            renew,
            force_release: "(none)",
        }
    }
}

/// How the model's verbs are asked of Redis for one kind of lock.
pub trait Translation: Sync {
    /// The kind, in the model.
    fn kind(&self) -> LockKind;

    /// The page on the kind, in Markdown.
    fn page(&self) -> &'static str;

    /// Takes the lock.
    fn acquire(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest;

    /// Sets the TTL of the lock that was just taken. `None`: no acquire of the kind does that by a request of its own.
    fn set_ttl(&self, context: &RequestContext, caller: &ScriptCaller) -> Option<ScriptRequest> {
        let _ = (context, caller);
        None
    }

    /// Reads the counter of fencing tokens. `None`: the kind has none.
    fn read_token(&self, context: &RequestContext) -> Option<ScriptRequest> {
        let _ = context;
        None
    }

    /// Asks whether its caller holds. `None`: that is not modelled of this kind.
    fn ask_if_held(&self, context: &RequestContext, caller: &ScriptCaller) -> Option<ScriptRequest> {
        let _ = (context, caller);
        None
    }

    /// Gives back one hold. `release_id` is the same whenever this release is sent again.
    fn release(&self, context: &RequestContext, caller: &ScriptCaller, release_id: &str) -> ScriptRequest;

    /// Extends the lease.
    fn renew(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest;

    /// Extends the leases of several locks by one request, each with its holder. `None`: no request of the kind can do that.
    fn renew_several(&self, context: &RequestContext, batch: Vec<(Names, ScriptCaller)>) -> Option<ScriptRequest> {
        let _ = (context, batch);
        None
    }

    /// Leaves the queue, for a caller that gives up. `None`: the kind has none.
    fn leave_queue(&self, context: &RequestContext, caller: &ScriptCaller) -> Option<ScriptRequest> {
        let _ = (context, caller);
        None
    }

    /// Frees the lock, no matter who holds it. `now_ms`: the caller's wall clock. `None`: the kind has no such request.
    fn force_release(&self, context: &RequestContext, now_ms: u64) -> Option<ScriptRequest> {
        let _ = (context, now_ms);
        None
    }

    /// Where a release publishes, as far as this waiter hears it. `None`: the kind publishes nothing, and its clients do not
    /// subscribe.
    fn unlock_channel(&self, context: &RequestContext, waiter: &HolderId) -> Option<UnlockChannel> {
        let _ = (context, waiter);
        None
    }

    /// What this action publishes, in kinds with more than one message. `None`: the message of the channel.
    fn message_of(&self, action: Action) -> Option<&'static str> {
        let _ = action;
        None
    }

    /// The name in Redis of this field of a hash.
    fn field_name(&self, field: &str) -> String {
        field.to_owned()
    }

    /// The model's reply "busy" in the words of [`replies`](super::replies): with the TTL only where the script answers it.
    fn busy_words(&self, remaining_ms: Option<i64>) -> String;

    /// Which Redisson methods do the same.
    fn redisson(&self) -> RedissonCalls;
}
