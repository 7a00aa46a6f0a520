//! The spin lock: the scripts of Redisson's `RedissonSpinLock`, which publish nothing, with release receipts or, as until 3.15,
//! without.

use lockstep_model::config::LockKind;
use lockstep_redis::ReleaseReceipt;
use lockstep_redis::locks::spin;

use super::counted_hold::{acquire_words, force_release_words, release_words, renew_words};
use super::replies::busy_for;
use super::request::ScriptRequest;
use super::translation::{RedissonCalls, RequestContext, ScriptCaller, Translation};

/// Speaks for the clients of a spin lock.
pub struct SpinTranslation;

impl Translation for SpinTranslation {
    fn kind(&self) -> LockKind {
        LockKind::Spin
    }

    fn page(&self) -> &'static str {
        include_str!("../../../../docs/locks/spin.md")
    }

    fn acquire(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let call = spin::acquire(&context.scripts, &context.names, &caller.holder, context.lease);
        ScriptRequest::new(call, acquire_words)
    }

    fn release(&self, context: &RequestContext, caller: &ScriptCaller, release_id: &str) -> ScriptRequest {
        let RequestContext { scripts, names, lease, .. } = context;
        let holder = &caller.holder;
        if !context.has_receipts {
            return ScriptRequest::new(spin::release_without_receipt(scripts, names, holder, *lease), release_words);
        }
        let receipt = ReleaseReceipt::new(release_id, context.receipt_lease);
        let request = ScriptRequest::new(spin::release(scripts, names, holder, *lease, &receipt), release_words);
        if context.deletes_receipts { request.followed_by(receipt.deletion(names)) } else { request }
    }

    fn renew(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let call = spin::renew(&context.scripts, &context.names, &caller.holder, context.lease);
        ScriptRequest::new(call, renew_words)
    }

    fn force_release(&self, context: &RequestContext, _: u64) -> Option<ScriptRequest> {
        let call = spin::force_release(&context.scripts, &context.names);
        Some(ScriptRequest::new(call, force_release_words))
    }

    fn busy_words(&self, remaining_ms: Option<i64>) -> String {
        busy_for(remaining_ms)
    }

    fn redisson(&self) -> RedissonCalls {
        RedissonCalls {
            object: Some("RedissonClient.getSpinLock"),
            driver_prefix: "spin:",
            acquire: "RedissonSpinLock.tryLockInnerAsync → null | ttl",
            release: "RedissonSpinLock.unlockInnerAsync → true | false | null (IllegalMonitorStateException)",
            release_without_receipt: "RedissonSpinLock.unlockInnerAsync until 3.15",
            renew: "LockTask.renew",
            force_release: "RedissonSpinLock.forceUnlockAsync → true | false",
        }
    }
}
