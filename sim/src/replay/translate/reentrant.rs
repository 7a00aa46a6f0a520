//! The re-entrant lock: the scripts of Redisson's `RLock`, with release receipts or, as until 3.15, without.

use lockstep_model::config::LockKind;
use lockstep_redis::locks::reentrant::{self, ReentrantRenewReply};
use lockstep_redis::{HolderId, Names, ReleaseReceipt};

use super::counted_hold::{acquire_words, force_release_words, release_words};
use super::replies::{NOT_RENEWED, RENEWED, busy_for, renewed_but_for};
use super::request::ScriptRequest;
use super::translation::{RedissonCalls, RequestContext, ScriptCaller, Translation, UnlockChannel};

/// Speaks for the clients of a re-entrant lock.
pub struct ReentrantTranslation;

impl Translation for ReentrantTranslation {
    fn kind(&self) -> LockKind {
        LockKind::Reentrant
    }

    fn page(&self) -> &'static str {
        include_str!("../../../../docs/locks/reentrant.md")
    }

    fn acquire(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let call = reentrant::acquire(&context.scripts, &context.names, &caller.holder, context.lease);
        ScriptRequest::new(call, acquire_words)
    }

    fn release(&self, context: &RequestContext, caller: &ScriptCaller, release_id: &str) -> ScriptRequest {
        let RequestContext { scripts, names, lease, .. } = context;
        let holder = &caller.holder;
        if !context.has_receipts {
            return ScriptRequest::new(
                reentrant::release_without_receipt(scripts, names, holder, *lease),
                release_words,
            );
        }
        let receipt = ReleaseReceipt::new(release_id, context.receipt_lease);
        let request = ScriptRequest::new(reentrant::release(scripts, names, holder, *lease, &receipt), release_words);
        if context.deletes_receipts { request.followed_by(receipt.deletion(names)) } else { request }
    }

    fn renew(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let call = reentrant::renew(&context.scripts, [(&context.names, &caller.holder)], context.lease);
        ScriptRequest::new(call, |replies: Vec<ReentrantRenewReply>| {
            let words = if replies == [ReentrantRenewReply::Renewed] { RENEWED } else { NOT_RENEWED };
            words.to_owned()
        })
    }

    fn renew_several(&self, context: &RequestContext, batch: Vec<(Names, ScriptCaller)>) -> Option<ScriptRequest> {
        let locks = batch.iter().map(|(names, caller)| (names, &caller.holder));
        let call = reentrant::renew(&context.scripts, locks, context.lease);
        Some(ScriptRequest::new(call, move |replies: Vec<ReentrantRenewReply>| {
            let answered = batch.iter().zip(&replies);
            let missed = answered.filter(|(_, reply)| **reply == ReentrantRenewReply::NotHeld);
            let missed: Vec<_> = missed.map(|((names, _), _)| names.lock()).collect();
            match missed.as_slice() {
                [] => RENEWED.to_owned(),
                all if all.len() == batch.len() => NOT_RENEWED.to_owned(),
                some => renewed_but_for(&some.join(", ")),
            }
        }))
    }

    fn force_release(&self, context: &RequestContext, _: u64) -> Option<ScriptRequest> {
        let call = reentrant::force_release(&context.scripts, &context.names);
        Some(ScriptRequest::new(call, force_release_words))
    }

    fn unlock_channel(&self, context: &RequestContext, _: &HolderId) -> Option<UnlockChannel> {
        Some(UnlockChannel { name: context.names.channel(), message: reentrant::UNLOCK_MESSAGE })
    }

    fn busy_words(&self, remaining_ms: Option<i64>) -> String {
        busy_for(remaining_ms)
    }

    fn redisson(&self) -> RedissonCalls {
        RedissonCalls {
            object: Some("RedissonClient.getLock"),
            driver_prefix: "",
            acquire: "RedissonLock.tryLockInnerAsync → null | ttl",
            release: "RedissonLock.unlockInnerAsync → true | false | null (IllegalMonitorStateException)",
            release_without_receipt: "RedissonLock.unlockInnerAsync until 3.15",
            renew: "LockTask.renew",
            force_release: "RedissonLock.forceUnlockAsync → true | false",
        }
    }
}
