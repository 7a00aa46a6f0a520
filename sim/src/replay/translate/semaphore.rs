//! The semaphore of one permit: the scripts of redis-semaphore. They are told the caller's clock.

use lockstep_model::config::LockKind;
use lockstep_redis::locks::semaphore::{
    self, PermitHolder, SemaphoreAcquireReply, SemaphoreReleaseReply, SemaphoreRenewReply,
};

use super::replies::{ACQUIRED, BUSY, NOT_HELD, NOT_RENEWED, RELEASED, RENEWED};
use super::request::ScriptRequest;
use super::translation::{RedissonCalls, RequestContext, ScriptCaller, Translation};

/// Speaks for the clients of a semaphore.
pub struct SemaphoreTranslation;

/// As many as the model has.
const PERMITS: u32 = 1;

fn holder_of<'a>(context: &RequestContext, caller: &'a ScriptCaller) -> PermitHolder<'a> {
    PermitHolder { holder: &caller.holder, lease: context.lease, now_ms: caller.now_ms + context.clock_ahead_ms }
}

impl Translation for SemaphoreTranslation {
    fn kind(&self) -> LockKind {
        LockKind::Semaphore
    }

    fn page(&self) -> &'static str {
        include_str!("../../../../docs/locks/semaphore.md")
    }

    fn acquire(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let call = semaphore::acquire(&context.scripts, &context.names, PERMITS, holder_of(context, caller));
        ScriptRequest::new(call, |reply| {
            let words = match reply {
                SemaphoreAcquireReply::Acquired => ACQUIRED,
                SemaphoreAcquireReply::Busy => BUSY,
            };
            words.to_owned()
        })
    }

    fn release(&self, context: &RequestContext, caller: &ScriptCaller, _: &str) -> ScriptRequest {
        let call = semaphore::release(&context.scripts, &context.names, &caller.holder);
        ScriptRequest::new(call, |reply| {
            let words = match reply {
                SemaphoreReleaseReply::Released => RELEASED,
                SemaphoreReleaseReply::NotHeld => NOT_HELD,
            };
            words.to_owned()
        })
    }

    fn renew(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let call = semaphore::renew(&context.scripts, &context.names, holder_of(context, caller));
        ScriptRequest::new(call, |reply| {
            let words = match reply {
                SemaphoreRenewReply::Renewed => RENEWED,
                SemaphoreRenewReply::NotHeld => NOT_RENEWED,
            };
            words.to_owned()
        })
    }

    fn busy_words(&self, _: Option<i64>) -> String {
        BUSY.to_owned()
    }

    fn redisson(&self) -> RedissonCalls {
        RedissonCalls::none([
            "(none; acquireLua of redis-semaphore)",
            "(none; refreshLua of redis-semaphore)",
            "(none; ZREM)",
        ])
    }
}
