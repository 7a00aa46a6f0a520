//! The plain lock: `SET NX PX`, and scripts that compare before they write. Redisson has no such lock.

use lockstep_model::config::LockKind;
use lockstep_redis::locks::plain::{self, PlainAcquireReply, PlainExtendReply, PlainReleaseReply};

use super::replies::{ACQUIRED, BUSY, NOT_HELD, NOT_RENEWED, RELEASED, RENEWED};
use super::request::ScriptRequest;
use super::translation::{RedissonCalls, RequestContext, ScriptCaller, Translation, UnlockChannel};

/// Speaks for the clients of a plain lock.
pub struct PlainTranslation;

impl Translation for PlainTranslation {
    fn kind(&self) -> LockKind {
        LockKind::Plain
    }

    fn acquire(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let call = plain::acquire(&context.scripts, &context.names, &caller.value(), context.lease);
        ScriptRequest::new(call, |reply| {
            let words = match reply {
                PlainAcquireReply::Acquired => ACQUIRED,
                PlainAcquireReply::Busy => BUSY,
            };
            words.to_owned()
        })
    }

    fn release(&self, context: &RequestContext, caller: &ScriptCaller, _: &str) -> ScriptRequest {
        ScriptRequest::new(plain::release(&context.scripts, &context.names, &caller.value()), |reply| {
            let words = match reply {
                PlainReleaseReply::Released => RELEASED,
                PlainReleaseReply::NotHeld => NOT_HELD,
            };
            words.to_owned()
        })
    }

    fn renew(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let call = plain::extend(&context.scripts, &context.names, &caller.value(), context.lease);
        ScriptRequest::new(call, |reply| {
            let words = match reply {
                PlainExtendReply::Extended => RENEWED,
                PlainExtendReply::NotHeld => NOT_RENEWED,
            };
            words.to_owned()
        })
    }

    fn force_release(&self, _: &RequestContext) -> Option<ScriptRequest> {
        None
    }

    fn unlock_channel(&self, _: &RequestContext) -> Option<UnlockChannel> {
        None
    }

    fn busy_words(&self, _: Option<i64>) -> String {
        BUSY.to_owned()
    }

    fn redisson(&self) -> RedissonCalls {
        RedissonCalls {
            object: None,
            acquire: "(none; SET NX PX of the Redis documentation)",
            release: "(none; compare and delete)",
            release_without_receipt: "(none; compare and delete)",
            renew: "(none; compare and PEXPIRE)",
            force_release: "(none)",
        }
    }
}
