//! The fenced lock: the scripts of Redisson's `RFencedLock`. Its token comes with the grant, or is read later.

use lockstep_model::config::{LockKind, TokenRule};
use lockstep_redis::locks::fenced::{self, FencedTokenReply, NewestFencedToken};
use lockstep_redis::{HolderId, ReleaseReceipt};

use super::counted_hold::{acquire_words, busy_by_pttl, force_release_words, release_words, renew_words};
use super::replies::{acquired_with, busy_for, token_of};
use super::request::ScriptRequest;
use super::translation::{RedissonCalls, RequestContext, ScriptCaller, Translation, UnlockChannel};

/// Speaks for the clients of a fenced lock.
pub struct FencedTranslation;

impl Translation for FencedTranslation {
    fn kind(&self) -> LockKind {
        LockKind::Fenced
    }

    fn page(&self) -> &'static str {
        include_str!("../../../../docs/locks/fenced.md")
    }

    fn acquire(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let RequestContext { scripts, names, lease, token, .. } = context;
        match token {
            TokenRule::WithGrant => {
                let call = fenced::acquire_with_token(scripts, names, &caller.holder, *lease);
                ScriptRequest::new(call, |reply| match reply {
                    FencedTokenReply::Acquired { token } => acquired_with(token),
                    FencedTokenReply::Busy { ttl_ms } => busy_by_pttl(ttl_ms),
                })
            }
            TokenRule::ReadLater => {
                let call = fenced::acquire(scripts, names, &caller.holder, *lease);
                ScriptRequest::new(call, acquire_words)
            }
        }
    }

    fn read_token(&self, context: &RequestContext) -> Option<ScriptRequest> {
        let call = fenced::read_token(&context.scripts, &context.names);
        Some(ScriptRequest::new(call, |reply| match reply {
            NewestFencedToken::Token(token) => token_of(token),
            NewestFencedToken::None => token_of(0),
        }))
    }

    fn release(&self, context: &RequestContext, caller: &ScriptCaller, release_id: &str) -> ScriptRequest {
        let RequestContext { scripts, names, lease, .. } = context;
        let holder = &caller.holder;
        let receipt = ReleaseReceipt::new(release_id, context.receipt_lease);
        let request = ScriptRequest::new(fenced::release(scripts, names, holder, *lease, &receipt), release_words);
        if context.deletes_receipts { request.followed_by(receipt.deletion(names)) } else { request }
    }

    fn renew(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let call = fenced::renew(&context.scripts, &context.names, &caller.holder, context.lease);
        ScriptRequest::new(call, renew_words)
    }

    fn force_release(&self, context: &RequestContext, _: u64) -> Option<ScriptRequest> {
        let call = fenced::force_release(&context.scripts, &context.names);
        Some(ScriptRequest::new(call, force_release_words))
    }

    fn unlock_channel(&self, context: &RequestContext, _: &HolderId) -> Option<UnlockChannel> {
        Some(UnlockChannel { name: context.names.channel(), message: fenced::UNLOCK_MESSAGE })
    }

    fn busy_words(&self, remaining_ms: Option<i64>) -> String {
        busy_for(remaining_ms)
    }

    fn redisson(&self) -> RedissonCalls {
        RedissonCalls {
            object: Some("RedissonClient.getFencedLock"),
            driver_prefix: "fenced:",
            acquire: "RedissonFencedLock.tryLockAndGetTokenInnerAsync → [-1, token] | [ttl, -1]",
            release: "RedissonLock.unlockInnerAsync → true | false | null (IllegalMonitorStateException)",
            release_without_receipt: "(none)",
            renew: "LockTask.renew",
            force_release: "RedissonLock.forceUnlockAsync → true | false",
        }
    }
}
