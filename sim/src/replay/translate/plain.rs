//! The plain lock: `SET NX PX`, and scripts that compare before they write. Redisson has no such lock.

use lockstep_model::config::{AcquireRule, ExtendRule, LockKind, ReleaseRule};
use lockstep_redis::locks::plain::{self, PlainAcquireReply, PlainExpireReply, PlainExtendReply, PlainReleaseReply};

use super::replies::{ACQUIRED, BUSY, NO_TTL_SET, NOT_HELD, NOT_RENEWED, RELEASED, RENEWED, TTL_SET};
use super::request::ScriptRequest;
use super::translation::{RedissonCalls, RequestContext, ScriptCaller, Translation};

/// Speaks for the clients of a plain lock.
pub struct PlainTranslation;

impl Translation for PlainTranslation {
    fn kind(&self) -> LockKind {
        LockKind::Plain
    }

    fn page(&self) -> &'static str {
        include_str!("../../../../docs/locks/plain.md")
    }

    fn acquire(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let (scripts, names, value) = (&context.scripts, &context.names, caller.value());
        let call = match context.acquire {
            AcquireRule::SetNxPx => plain::acquire(scripts, names, &value, context.lease),
            AcquireRule::SetnxExpire => plain::acquire_without_ttl(scripts, names, &value),
            AcquireRule::OwnOrFree => plain::acquire_own_or_free(scripts, names, &value, context.lease),
        };
        ScriptRequest::new(call, |reply| {
            let words = match reply {
                PlainAcquireReply::Acquired => ACQUIRED,
                PlainAcquireReply::Busy => BUSY,
            };
            words.to_owned()
        })
    }

    fn set_ttl(&self, context: &RequestContext, _: &ScriptCaller) -> Option<ScriptRequest> {
        let call = plain::set_ttl(&context.scripts, &context.names, context.lease);
        Some(ScriptRequest::new(call, |reply| {
            let words = match reply {
                PlainExpireReply::Set => TTL_SET,
                PlainExpireReply::NoLock => NO_TTL_SET,
            };
            words.to_owned()
        }))
    }

    fn release(&self, context: &RequestContext, caller: &ScriptCaller, _: &str) -> ScriptRequest {
        let call = if context.release == ReleaseRule::Delete {
            plain::delete(&context.scripts, &context.names)
        } else {
            plain::release(&context.scripts, &context.names, &caller.value())
        };
        ScriptRequest::new(call, |reply| {
            let words = match reply {
                PlainReleaseReply::Released => RELEASED,
                PlainReleaseReply::NotHeld => NOT_HELD,
            };
            words.to_owned()
        })
    }

    fn renew(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let (scripts, names, value) = (&context.scripts, &context.names, caller.value());
        let call = match context.extend {
            ExtendRule::Compare => plain::extend(scripts, names, &value, context.lease),
            ExtendRule::Overwrite => plain::overwrite(scripts, names, &value, context.lease),
        };
        ScriptRequest::new(call, |reply| {
            let words = match reply {
                PlainExtendReply::Extended => RENEWED,
                PlainExtendReply::NotHeld => NOT_RENEWED,
            };
            words.to_owned()
        })
    }

    fn busy_words(&self, _: Option<i64>) -> String {
        BUSY.to_owned()
    }

    fn redisson(&self) -> RedissonCalls {
        RedissonCalls::none([
            "(none; SET NX PX of the Redis documentation)",
            "(none; compare and PEXPIRE)",
            "(none; compare and delete)",
        ])
    }
}
