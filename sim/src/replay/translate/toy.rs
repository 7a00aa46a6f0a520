//! The toy lock, for tests only.

use lockstep_model::LockKind;
use lockstep_redis::locks::toy::{self, ToyReply};

use super::replies::{ACQUIRED, BUSY, NOT_HELD, NOT_RENEWED, RELEASED, RENEWED};
use super::request::ScriptRequest;
use super::translation::{RedissonCalls, RequestContext, ScriptCaller, Translation};

/// Speaks for the clients of a toy lock.
pub struct ToyTranslation;

impl Translation for ToyTranslation {
    fn kind(&self) -> LockKind {
        LockKind::Toy
    }

    fn page(&self) -> &'static str {
        include_str!("../../../../docs/locks/toy.md")
    }

    fn acquire(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let call = toy::acquire(&context.scripts, &context.names, &caller.holder, context.lease);
        ScriptRequest::new(call, |reply| words(reply, ACQUIRED, BUSY))
    }

    fn release(&self, context: &RequestContext, caller: &ScriptCaller, _: &str) -> ScriptRequest {
        let call = toy::release(&context.scripts, &context.names, &caller.holder);
        ScriptRequest::new(call, |reply| words(reply, RELEASED, NOT_HELD))
    }

    fn renew(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let call = toy::renew(&context.scripts, &context.names, &caller.holder, context.lease);
        ScriptRequest::new(call, |reply| words(reply, RENEWED, NOT_RENEWED))
    }

    fn busy_words(&self, _: Option<i64>) -> String {
        BUSY.to_owned()
    }

    fn redisson(&self) -> RedissonCalls {
        RedissonCalls::none(["(none)", "(none)", "(none)"])
    }
}

fn words(reply: ToyReply, done: &str, refused: &str) -> String {
    let words = match reply {
        ToyReply::Done => done,
        ToyReply::Refused => refused,
    };
    words.to_owned()
}
