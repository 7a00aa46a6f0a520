//! One holder, who may enter again: in which words the replies that several kinds have in common are compared.

use lockstep_redis::locks::counted_hold::{AcquireReply, ForceReleaseReply, ReleaseReply, RenewReply};

use super::replies::{
    ACQUIRED, FORCE_RELEASED, NOT_HELD, NOT_RENEWED, NOTHING_TO_RELEASE, RELEASED, RENEWED, STILL_HELD, busy_for,
};

/// The words for the reply to an acquire.
pub fn acquire_words(reply: AcquireReply) -> String {
    match reply {
        AcquireReply::Acquired => ACQUIRED.to_owned(),
        AcquireReply::Busy { ttl_ms } => busy_by_pttl(ttl_ms),
    }
}

/// Another holder has the lock, and `PTTL` answers this: -1 for a key without a TTL.
pub fn busy_by_pttl(ttl_ms: i64) -> String {
    busy_for(Some(ttl_ms).filter(|&ms| ms >= 0))
}

/// The words for the reply to a renewal of one lock.
pub fn renew_words(reply: RenewReply) -> String {
    let words = match reply {
        RenewReply::Renewed => RENEWED,
        RenewReply::NotHeld => NOT_RENEWED,
    };
    words.to_owned()
}

/// The words for the reply to a release.
pub fn release_words(reply: ReleaseReply) -> String {
    let words = match reply {
        ReleaseReply::Released => RELEASED,
        ReleaseReply::StillHeld => STILL_HELD,
        ReleaseReply::NotHeld => NOT_HELD,
    };
    words.to_owned()
}

/// The words for the reply to a forced release.
pub fn force_release_words(reply: ForceReleaseReply) -> String {
    let words = match reply {
        ForceReleaseReply::Released => FORCE_RELEASED,
        ForceReleaseReply::WasFree => NOTHING_TO_RELEASE,
    };
    words.to_owned()
}
