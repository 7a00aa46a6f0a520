//! The lock on several masters: what each of them is asked. Redisson's form of it, `RedissonRedLock`, is another one.

use lockstep_model::config::LockKind;
use lockstep_redis::locks::red::{self, RedAcquireReply, RedExtendReply, RedReleaseReply};

use super::replies::{ACQUIRED, BUSY, NOT_HELD, NOT_RENEWED, RELEASED, RENEWED};
use super::request::ScriptRequest;
use super::translation::{RedissonCalls, RequestContext, ScriptCaller, Translation};

/// Speaks for the clients of a lock on several masters.
pub struct RedTranslation;

impl Translation for RedTranslation {
    fn kind(&self) -> LockKind {
        LockKind::Red
    }

    fn page(&self) -> &'static str {
        include_str!("../../../../docs/locks/red.md")
    }

    fn acquire(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let call = red::acquire(&context.scripts, &context.names, &caller.value(), context.lease);
        ScriptRequest::new(call, |reply| {
            let words = match reply {
                RedAcquireReply::Granted => ACQUIRED,
                RedAcquireReply::Refused => BUSY,
            };
            words.to_owned()
        })
    }

    fn release(&self, context: &RequestContext, caller: &ScriptCaller, _: &str) -> ScriptRequest {
        let call = red::release(&context.scripts, &context.names, &caller.value());
        ScriptRequest::new(call, |reply| {
            let words = match reply {
                RedReleaseReply::Released => RELEASED,
                RedReleaseReply::NotHeld => NOT_HELD,
            };
            words.to_owned()
        })
    }

    fn renew(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let call = red::extend(&context.scripts, &context.names, &caller.value(), context.lease);
        ScriptRequest::new(call, |reply| {
            let words = match reply {
                RedExtendReply::Extended => RENEWED,
                RedExtendReply::NotHeld => NOT_RENEWED,
            };
            words.to_owned()
        })
    }

    fn busy_words(&self, _: Option<i64>) -> String {
        BUSY.to_owned()
    }

    fn redisson(&self) -> RedissonCalls {
        RedissonCalls::none([
            "(none; SET NX PX on each master, as the Redis documentation says)",
            "(none; compare and PEXPIRE on each master)",
            "(none; compare and delete on each master)",
        ])
    }
}
