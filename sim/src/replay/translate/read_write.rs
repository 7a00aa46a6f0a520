//! The read-write lock: the scripts of Redisson's `getReadWriteLock`.
//!
//! A client of the model is one thread of an application, and its two threads there are what that is as a writer and as a
//! reader: Redis knows both by the same client and thread.

use lockstep_model::Action;
use lockstep_model::config::{Downgrade, LockKind, ReadRenewal};
use lockstep_redis::locks::read_write::{
    self, Access, DowngradeMessage, READ_UNLOCK_MESSAGE, ReadWriteAcquireReply, ReadWriteForceReleaseReply,
    ReadWriteReleaseReply, ReadWriteRenewReply, RenewedHolds, WRITE_UNLOCK_MESSAGE,
};
use lockstep_redis::{HolderId, ReleaseReceipt};

use super::replies::{
    ACQUIRED, FORCE_RELEASED, NOT_HELD, NOT_RENEWED, NOTHING_TO_RELEASE, RELEASED, RENEWED, STILL_HELD, busy_for,
};
use super::request::ScriptRequest;
use super::translation::{RedissonCalls, RequestContext, ScriptCaller, Translation, UnlockChannel};

/// Speaks for the clients of a read-write lock.
pub struct ReadWriteTranslation;

/// The thread that writes, as the model numbers it; the other one reads.
const WRITER: u64 = 1;

/// How this caller uses the lock, and who it is to Redis.
fn access_of(caller: &ScriptCaller) -> (Access, HolderId) {
    let access = if caller.holder.thread() == WRITER { Access::Write } else { Access::Read };
    (access, HolderId::new(caller.holder.client(), WRITER))
}

impl Translation for ReadWriteTranslation {
    fn kind(&self) -> LockKind {
        LockKind::ReadWrite
    }

    fn page(&self) -> &'static str {
        include_str!("../../../../docs/locks/read_write.md")
    }

    fn acquire(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let (access, holder) = access_of(caller);
        let call = read_write::acquire(&context.scripts, &context.names, access, &holder, context.lease);
        ScriptRequest::new(call, |reply| match reply {
            ReadWriteAcquireReply::Acquired => ACQUIRED.to_owned(),
            ReadWriteAcquireReply::Busy { ttl_ms } => busy_for(Some(ttl_ms).filter(|&ms| ms >= 0)),
        })
    }

    fn release(&self, context: &RequestContext, caller: &ScriptCaller, release_id: &str) -> ScriptRequest {
        let RequestContext { scripts, names, lease, .. } = context;
        let (access, holder) = access_of(caller);
        let words = |reply| {
            let words = match reply {
                ReadWriteReleaseReply::Released => RELEASED,
                ReadWriteReleaseReply::StillHeld => STILL_HELD,
                ReadWriteReleaseReply::NotHeld => NOT_HELD,
            };
            words.to_owned()
        };
        let receipt = ReleaseReceipt::new(release_id, context.receipt_lease);
        let message = match context.downgrade {
            Downgrade::Silent => DowngradeMessage::None,
            Downgrade::Publishes => DowngradeMessage::ToAll,
        };
        let call = read_write::release(scripts, names, access, &holder, *lease, &receipt, message);
        let request = ScriptRequest::new(call, words);
        if context.deletes_receipts { request.followed_by(receipt.deletion(names)) } else { request }
    }

    fn renew(&self, context: &RequestContext, caller: &ScriptCaller) -> ScriptRequest {
        let (access, holder) = access_of(caller);
        let holds = match context.read_renewal {
            ReadRenewal::OwnHolds => RenewedHolds::Own,
            ReadRenewal::AllHolds => RenewedHolds::OfAll,
            ReadRenewal::FailsNested => RenewedHolds::UntilNested,
        };
        let call = read_write::renew(&context.scripts, &context.names, access, &holder, context.lease, holds);
        ScriptRequest::new(call, |reply| {
            let words = match reply {
                ReadWriteRenewReply::Renewed => RENEWED,
                ReadWriteRenewReply::NotHeld => NOT_RENEWED,
            };
            words.to_owned()
        })
    }

    fn force_release(&self, context: &RequestContext, _now_ms: u64) -> Option<ScriptRequest> {
        let call = read_write::force_release(&context.scripts, &context.names, Access::Write);
        Some(ScriptRequest::new(call, |reply| {
            let words = match reply {
                ReadWriteForceReleaseReply::Released => FORCE_RELEASED,
                ReadWriteForceReleaseReply::WasNot => NOTHING_TO_RELEASE,
            };
            words.to_owned()
        }))
    }

    fn unlock_channel(&self, context: &RequestContext, _waiter: &HolderId) -> Option<UnlockChannel> {
        Some(UnlockChannel { name: context.names.read_write_channel(), message: WRITE_UNLOCK_MESSAGE })
    }

    fn message_of(&self, action: Action) -> Option<&'static str> {
        let is_reader = matches!(action, Action::Release { thread: 1, .. } | Action::ForeignRelease { thread: 1, .. });
        Some(if is_reader { READ_UNLOCK_MESSAGE } else { WRITE_UNLOCK_MESSAGE })
    }

    fn busy_words(&self, remaining_ms: Option<i64>) -> String {
        busy_for(remaining_ms)
    }

    fn redisson(&self) -> RedissonCalls {
        RedissonCalls {
            object: Some("RedissonClient.getReadWriteLock"),
            driver_prefix: "rw:",
            acquire: "RedissonReadLock, RedissonWriteLock.tryLockInnerAsync → null | ms",
            release: "RedissonReadLock, RedissonWriteLock.unlockInnerAsync → true | false | null \
                      (IllegalMonitorStateException)",
            release_without_receipt: "the same until 3.15",
            renew: "ReadLockTask.renew, LockTask.renew",
            force_release: "RedissonWriteLock.forceUnlockAsync → true | false",
        }
    }
}
