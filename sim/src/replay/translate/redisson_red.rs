//! Redisson's lock on several masters: on each of them the scripts of Redisson's `RLock`, and in the end one that sets the lease.

use lockstep_model::config::{FinalLease, LockKind};
use lockstep_redis::HolderId;
use lockstep_redis::locks::counted_hold::AcquireReply;
use lockstep_redis::locks::redisson_red::{self, MasterLeaseReply};

use super::counted_hold::{acquire_words, busy_by_pttl};
use super::reentrant::ReentrantTranslation;
use super::replies::{NO_TTL_SET, TTL_SET};
use super::request::ScriptRequest;
use super::translation::{RedissonCalls, RequestContext, ScriptCaller, Translation, UnlockChannel};

/// Speaks for the clients of Redisson's lock on several masters.
pub struct RedissonRedTranslation;

impl Translation for RedissonRedTranslation {
    fn kind(&self) -> LockKind {
        LockKind::RedissonRed
    }

    fn page(&self) -> &'static str {
        include_str!("../../../../docs/locks/redisson_red.md")
    }

    fn acquire(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let call = redisson_red::acquire(&context.scripts, &context.names, &caller.holder, context.lease);
        let far_ms = context.far_ms;
        ScriptRequest::new(call, move |reply| match reply {
            AcquireReply::Busy { ttl_ms } => busy_by_pttl(ttl_ms.min(far_ms)),
            AcquireReply::Acquired => acquire_words(reply),
        })
    }

    fn set_ttl(&self, context: &RequestContext, caller: &ScriptCaller) -> Option<ScriptRequest> {
        let RequestContext { scripts, names, final_lease, .. } = context;
        let call = match context.final_lease_rule {
            FinalLease::AnyHold => redisson_red::set_lease(scripts, names, *final_lease),
            FinalLease::OwnHold => redisson_red::set_own_lease(scripts, names, &caller.holder, *final_lease),
        };
        Some(ScriptRequest::new(call, |reply| {
            let words = match reply {
                MasterLeaseReply::Set => TTL_SET,
                MasterLeaseReply::NotSet => NO_TTL_SET,
            };
            words.to_owned()
        }))
    }

    fn release(&self, context: &RequestContext, caller: &ScriptCaller, release_id: &str) -> ScriptRequest {
        ReentrantTranslation.release(context, caller, release_id)
    }

    fn renew(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        ReentrantTranslation.renew(context, caller)
    }

    fn unlock_channel(&self, context: &RequestContext, waiter: &HolderId) -> Option<UnlockChannel> {
        ReentrantTranslation.unlock_channel(context, waiter)
    }

    fn busy_words(&self, remaining_ms: Option<i64>) -> String {
        ReentrantTranslation.busy_words(remaining_ms)
    }

    fn redisson(&self) -> RedissonCalls {
        RedissonCalls {
            object: Some("RedissonRedLock"),
            driver_prefix: "",
            acquire: "RedissonLock.tryLockInnerAsync on each master, in its turn → null | ttl",
            release: "RedissonLock.unlockInnerAsync on each master → true | false | null (hidden)",
            release_without_receipt: "RedissonLock.unlockInnerAsync on each master until 3.15",
            renew: "LockTask.renew on each master, by a client of its own",
            force_release: "(none)",
        }
    }
}
