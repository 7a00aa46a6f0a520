//! The lock over several values: the scripts of Redisson's `getMultiLock(group, values)`. They are told the caller's clock.

use lockstep_model::config::{HeldQuery, LockKind};
use lockstep_redis::locks::value_multi::{
    self, ValueHolder, ValueMultiAcquireReply, ValueMultiHeldReply, ValueMultiOnceReply, ValueMultiReleaseReply,
    ValueMultiRenewReply,
};
use lockstep_redis::{HolderId, ReleaseReceipt};

use super::replies::{
    ACQUIRED, NOT_HELD, NOT_RENEWED, RELEASED, RENEWED, SAYS_HELD, SAYS_NOT_HELD, STILL_HELD, busy_for,
};
use super::request::ScriptRequest;
use super::translation::{RedissonCalls, RequestContext, ScriptCaller, Translation, UnlockChannel};

/// Speaks for the clients of a lock over several values.
pub struct ValueMultiTranslation;

/// What Redisson stores for the strings `value1` and `value2`, encoded as text, in the order in which it sends them
/// (docs/facts/family.md#multi-lock-over-values).
const FIELDS: [(&str, &str); 2] = [("value1", "/YwqFQhvfzuu72CqkGvYKw"), ("value2", "80gtIBe7SrjSSYMxM+ScUw")];

/// The values that this caller names, by the names of their fields.
fn fields_of(context: &RequestContext) -> Vec<String> {
    FIELDS.iter().enumerate().filter(|(at, _)| context.values.has(*at)).map(|(_, (_, field))| (*field).into()).collect()
}

/// The caller with its values, by its own clock.
fn caller_of<'a>(context: &RequestContext, caller: &'a ScriptCaller, values: &'a [String]) -> ValueHolder<'a> {
    ValueHolder { holder: &caller.holder, values, now_ms: caller.now_ms + context.clock_ahead_ms }
}

impl Translation for ValueMultiTranslation {
    fn kind(&self) -> LockKind {
        LockKind::ValueMulti
    }

    fn page(&self) -> &'static str {
        include_str!("../../../../docs/locks/value_multi.md")
    }

    fn acquire(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let RequestContext { scripts, names, lease, .. } = context;
        let fields = fields_of(context);
        let caller = caller_of(context, caller, &fields);
        if !context.may_queue {
            let call = value_multi::acquire_once(scripts, names, caller, *lease);
            return ScriptRequest::new(call, |reply| match reply {
                ValueMultiOnceReply::Acquired => ACQUIRED.to_owned(),
                ValueMultiOnceReply::Refused => busy_for(None),
            });
        }
        let call = value_multi::acquire(scripts, names, caller, *lease);
        ScriptRequest::new(call, |reply| match reply {
            ValueMultiAcquireReply::Acquired => ACQUIRED.to_owned(),
            ValueMultiAcquireReply::Busy { deadline_in_ms } => busy_for(Some(deadline_in_ms)),
        })
    }

    fn release(&self, context: &RequestContext, caller: &ScriptCaller, release_id: &str) -> ScriptRequest {
        let RequestContext { scripts, names, lease, .. } = context;
        let fields = fields_of(context);
        let caller = caller_of(context, caller, &fields);
        let receipt = ReleaseReceipt::new(release_id, context.receipt_lease);
        let request = ScriptRequest::new(value_multi::release(scripts, names, caller, *lease, &receipt), release_words);
        if context.deletes_receipts { request.followed_by(receipt.deletion(names)) } else { request }
    }

    fn renew(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let fields = fields_of(context);
        let caller = caller_of(context, caller, &fields);
        let call = value_multi::renew(&context.scripts, &context.names, caller, context.lease);
        ScriptRequest::new(call, |reply| {
            let words = match reply {
                ValueMultiRenewReply::Renewed => RENEWED,
                ValueMultiRenewReply::NotHeld => NOT_RENEWED,
            };
            words.to_owned()
        })
    }

    fn ask_if_held(&self, context: &RequestContext, caller: &ScriptCaller) -> Option<ScriptRequest> {
        let fields = fields_of(context);
        let caller = caller_of(context, caller, &fields);
        let call = match context.held_query {
            HeldQuery::LaterValues => value_multi::is_held_by_later_values(&context.scripts, &context.names, caller),
            HeldQuery::EveryValue => value_multi::is_held(&context.scripts, &context.names, caller),
        };
        Some(ScriptRequest::new(call, |reply| {
            let words = match reply {
                ValueMultiHeldReply::Held => SAYS_HELD,
                ValueMultiHeldReply::NotHeld => SAYS_NOT_HELD,
            };
            words.to_owned()
        }))
    }

    fn unlock_channel(&self, context: &RequestContext, _: &HolderId) -> Option<UnlockChannel> {
        Some(UnlockChannel { name: context.names.channel(), message: value_multi::UNLOCK_MESSAGE })
    }

    fn field_name(&self, field: &str) -> String {
        let found = FIELDS.iter().find_map(|(value, hashed)| Some((hashed, field.strip_prefix(value)?)));
        found.map_or_else(|| field.to_owned(), |(hashed, rest)| format!("{hashed}{rest}"))
    }

    fn busy_words(&self, remaining_ms: Option<i64>) -> String {
        busy_for(remaining_ms)
    }

    fn redisson(&self) -> RedissonCalls {
        RedissonCalls {
            object: Some("RedissonClient.getMultiLock"),
            driver_prefix: "values:",
            acquire: "RedissonFasterMultiLock.tryLockInnerAsync → null | ms; tryLockOnceInnerAsync → 1 | 0",
            release: "RedissonFasterMultiLock.unlockInnerAsync → true | false | null (IllegalMonitorStateException)",
            release_without_receipt: "(none)",
            renew: "FastMultilockTask.renew",
            force_release: "(none that is modelled)",
        }
    }
}

fn release_words(reply: ValueMultiReleaseReply) -> String {
    let words = match reply {
        ValueMultiReleaseReply::Released => RELEASED,
        ValueMultiReleaseReply::StillHeld => STILL_HELD,
        ValueMultiReleaseReply::NotHeld => NOT_HELD,
    };
    words.to_owned()
}
