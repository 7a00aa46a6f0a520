//! The multi lock: for each part the scripts of Redisson's `RLock`, and in the end one that sets the lease.

use lockstep_model::config::{FinalLease, LockKind};
use lockstep_redis::locks::counted_hold::AcquireReply;
use lockstep_redis::locks::multi::{self, MultiLeaseReply};
use lockstep_redis::{HolderId, Names};

use super::counted_hold::{acquire_words, busy_by_pttl};
use super::reentrant::ReentrantTranslation;
use super::replies::{NO_TTL_SET, TTL_SET};
use super::request::ScriptRequest;
use super::translation::{RedissonCalls, RequestContext, ScriptCaller, Translation, UnlockChannel};

/// Speaks for the clients of a multi lock.
pub struct MultiTranslation;

impl Translation for MultiTranslation {
    fn kind(&self) -> LockKind {
        LockKind::Multi
    }

    fn page(&self) -> &'static str {
        include_str!("../../../../docs/locks/multi.md")
    }

    fn acquire(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let call = multi::acquire(&context.scripts, &context.names, &caller.holder, context.lease);
        let far_ms = context.far_ms;
        ScriptRequest::new(call, move |reply| match reply {
            AcquireReply::Busy { ttl_ms } => busy_by_pttl(ttl_ms.min(far_ms)),
            AcquireReply::Acquired => acquire_words(reply),
        })
    }

    fn set_ttl(&self, context: &RequestContext, caller: &ScriptCaller) -> Option<ScriptRequest> {
        let RequestContext { scripts, names, final_lease, .. } = context;
        let call = match context.final_lease_rule {
            FinalLease::AnyHold => multi::set_lease(scripts, names, *final_lease),
            FinalLease::OwnHold => multi::set_own_lease(scripts, names, &caller.holder, *final_lease),
        };
        Some(ScriptRequest::new(call, |reply| {
            let words = match reply {
                MultiLeaseReply::Set => TTL_SET,
                MultiLeaseReply::NotSet => NO_TTL_SET,
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

    fn renew_several(&self, context: &RequestContext, batch: Vec<(Names, ScriptCaller)>) -> Option<ScriptRequest> {
        ReentrantTranslation.renew_several(context, batch)
    }

    fn unlock_channel(&self, context: &RequestContext, waiter: &HolderId) -> Option<UnlockChannel> {
        ReentrantTranslation.unlock_channel(context, waiter)
    }

    fn busy_words(&self, remaining_ms: Option<i64>) -> String {
        ReentrantTranslation.busy_words(remaining_ms)
    }

    fn redisson(&self) -> RedissonCalls {
        RedissonCalls {
            object: Some("RedissonClient.getMultiLock"),
            driver_prefix: "multi:",
            acquire: "RedissonLock.tryLockInnerAsync of each part, in its turn → null | ttl",
            release: "RedissonLock.unlockInnerAsync of each part → true | false | null (IllegalMonitorStateException)",
            release_without_receipt: "RedissonLock.unlockInnerAsync of each part until 3.15",
            renew: "LockTask.renew",
            force_release: "(none)",
        }
    }
}
