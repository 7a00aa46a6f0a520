//! The fair lock: the scripts of Redisson's `getFairLock`, with release receipts or, as until 3.15, without.

use lockstep_model::config::LockKind;
use lockstep_redis::locks::fair::{self, FairAcquireOnceReply, FairAcquireReply, LeftFairQueue, Queueing};
use lockstep_redis::{HolderId, ReleaseReceipt};

use super::counted_hold::{force_release_words, release_words, renew_words};
use super::replies::{ACQUIRED, LEFT_QUEUE, busy_for};
use super::request::ScriptRequest;
use super::translation::{RedissonCalls, RequestContext, ScriptCaller, Translation, UnlockChannel};

/// Speaks for the clients of a fair lock.
pub struct FairTranslation;

impl Translation for FairTranslation {
    fn kind(&self) -> LockKind {
        LockKind::Fair
    }

    fn page(&self) -> &'static str {
        include_str!("../../../../docs/locks/fair.md")
    }

    fn acquire(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let RequestContext { scripts, names, lease, .. } = context;
        let queueing = Queueing { wait_ms: context.queue_wait_ms, now_ms: caller.now_ms + context.clock_ahead_ms };
        if !context.may_queue {
            let call = fair::acquire_once(scripts, names, &caller.holder, *lease, queueing);
            return ScriptRequest::new(call, |reply| match reply {
                FairAcquireOnceReply::Acquired => ACQUIRED.to_owned(),
                FairAcquireOnceReply::Refused => busy_for(None),
            });
        }
        let call = fair::acquire(scripts, names, &caller.holder, *lease, queueing);
        ScriptRequest::new(call, |reply| match reply {
            FairAcquireReply::Acquired => ACQUIRED.to_owned(),
            FairAcquireReply::Queued { ask_in_ms } => busy_for(Some(ask_in_ms).filter(|&ms| ms >= 0)),
        })
    }

    fn leave_queue(&self, context: &RequestContext, caller: &ScriptCaller) -> Option<ScriptRequest> {
        let call = fair::leave_queue(&context.scripts, &context.names, &caller.holder, context.queue_wait_ms);
        Some(ScriptRequest::new(call, |LeftFairQueue| LEFT_QUEUE.to_owned()))
    }

    fn release(&self, context: &RequestContext, caller: &ScriptCaller, release_id: &str) -> ScriptRequest {
        let RequestContext { scripts, names, lease, .. } = context;
        let holder = (&caller.holder, caller.now_ms + context.clock_ahead_ms);
        if !context.has_receipts {
            return ScriptRequest::new(fair::release_without_receipt(scripts, names, holder, *lease), release_words);
        }
        let receipt = ReleaseReceipt::new(release_id, context.receipt_lease);
        let request = ScriptRequest::new(fair::release(scripts, names, holder, *lease, &receipt), release_words);
        if context.deletes_receipts { request.followed_by(receipt.deletion(names)) } else { request }
    }

    fn renew(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let call = fair::renew(&context.scripts, &context.names, &caller.holder, context.lease);
        ScriptRequest::new(call, renew_words)
    }

    fn force_release(&self, context: &RequestContext, now_ms: u64) -> Option<ScriptRequest> {
        let call = fair::force_release(&context.scripts, &context.names, now_ms);
        Some(ScriptRequest::new(call, force_release_words))
    }

    fn unlock_channel(&self, context: &RequestContext, waiter: &HolderId) -> Option<UnlockChannel> {
        Some(UnlockChannel { name: context.names.channel_of_waiter(waiter), message: fair::UNLOCK_MESSAGE })
    }

    fn busy_words(&self, remaining_ms: Option<i64>) -> String {
        busy_for(remaining_ms)
    }

    fn redisson(&self) -> RedissonCalls {
        RedissonCalls {
            object: Some("RedissonClient.getFairLock"),
            driver_prefix: "fair:",
            acquire: "RedissonFairLock.tryLockInnerAsync → null | ms",
            release: "RedissonFairLock.unlockInnerAsync → true | false | null (IllegalMonitorStateException)",
            release_without_receipt: "RedissonFairLock.unlockInnerAsync until 3.15",
            renew: "LockTask.renew",
            force_release: "RedissonFairLock.forceUnlockAsync → true | false",
        }
    }
}
