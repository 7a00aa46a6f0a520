//! The fenced lock: one holder, which may enter again, and a token that grows with every grant; Redisson's `getFencedLock`.
//!
//! `model/src/locks/fenced.rs` says what may happen to it. This file contains what one request says and what its answer
//! means; how clients wait and when they renew is not here.
//!
//! A holder sends its token with each write, and the resource refuses one that is older than one it has seen. The counter is a
//! key in the same Redis: a failover that loses a grant loses its token as well, and issues it a second time.

use redis::{ConnectionLike, Value};

use super::counted_hold::{
    AcquireReply, ForceReleaseReply, ReleaseReply, RenewReply, call_of_holder, force_release_and_publish,
    release_and_publish,
};
use crate::connected::ConnectedLock;
use crate::error::Error;
use crate::names::{HolderId, Lease, Names, ReleaseReceipt};
use crate::script::{Call, ScriptReply, Scripts};

pub use super::counted_hold::UNLOCK_MESSAGE;

/// The scripts, by kind and verb.
pub(super) const SCRIPTS: [(&str, &str); 6] = [
    ("fenced/acquire", include_str!("../../scripts/fenced/acquire.lua")),
    ("fenced/acquire_with_token", include_str!("../../scripts/fenced/acquire_with_token.lua")),
    ("fenced/read_token", include_str!("../../scripts/fenced/read_token.lua")),
    ("fenced/renew", include_str!("../../scripts/fenced/renew.lua")),
    ("fenced/release", include_str!("../../scripts/fenced/release.lua")),
    ("fenced/force_release", include_str!("../../scripts/fenced/force_release.lua")),
];

/// Takes the lock, or enters it once more. Its token is read later ([`read_token`]).
pub fn acquire(scripts: &Scripts, names: &Names, holder: &HolderId, lease: Lease) -> Call {
    scripts.call("fenced/acquire", lock_and_counter(names), vec![lease.ms().to_string(), holder.to_string()])
}

/// Takes the lock, or enters it once more, and asks for the token of this grant.
pub fn acquire_with_token(scripts: &Scripts, names: &Names, holder: &HolderId, lease: Lease) -> Call {
    scripts.call("fenced/acquire_with_token", lock_and_counter(names), vec![lease.ms().to_string(), holder.to_string()])
}

/// Reads the counter: the newest token that was issued to any client. A client that has lost the lock reads the token of a later
/// holder.
pub fn read_token(scripts: &Scripts, names: &Names) -> Call {
    scripts.call("fenced/read_token", vec![names.token_counter()], vec![])
}

/// Sets the lease to its full length again, if this holder still has the lock.
pub fn renew(scripts: &Scripts, names: &Names, holder: &HolderId, lease: Lease) -> Call {
    call_of_holder(scripts, "fenced/renew", names, holder, lease)
}

/// Releases one hold, and stores a receipt. If holds remain, their lease is set to `lease`.
pub fn release(scripts: &Scripts, names: &Names, holder: &HolderId, lease: Lease, receipt: &ReleaseReceipt) -> Call {
    release_and_publish(scripts, "fenced/release", names, (holder, lease), receipt)
}

/// Frees the lock, no matter who holds it. The counter stays.
pub fn force_release(scripts: &Scripts, names: &Names) -> Call {
    force_release_and_publish(scripts, "fenced/force_release", names)
}

fn lock_and_counter(names: &Names) -> Vec<String> {
    vec![names.lock().into(), names.token_counter()]
}

/// What [`acquire`] replies.
pub type FencedAcquireReply = AcquireReply;

/// What [`acquire_with_token`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FencedTokenReply {
    /// The caller holds the lock, for the first time or once more.
    Acquired {
        /// The token of this grant.
        token: i64,
    },
    /// Another holder has it.
    Busy {
        /// The remaining lease of that holder in milliseconds; −1, as Redis answers it, if the key has no TTL. Redisson takes that
        /// for a grant with the token −1.
        ttl_ms: i64,
    },
}

impl ScriptReply for FencedTokenReply {
    const EXPECTED: &'static str = "-1 and a token, or a TTL and -1";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        let Value::Array(parts) = value else { return None };
        match parts.as_slice() {
            // The counter was raised, so it is not −1.
            [Value::Int(-1), Value::Int(token)] if *token != -1 => Some(Self::Acquired { token: *token }),
            [Value::Int(ttl_ms), Value::Int(-1)] if *ttl_ms >= -1 => Some(Self::Busy { ttl_ms: *ttl_ms }),
            _ => None,
        }
    }
}

/// What [`read_token`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NewestFencedToken {
    /// The newest token that was issued.
    Token(i64),
    /// None was issued, or the counter was lost.
    None,
}

impl ScriptReply for NewestFencedToken {
    const EXPECTED: &'static str = "a token or nil";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        match value {
            &Value::Int(token) => Some(Self::Token(token)),
            Value::Nil => Some(Self::None),
            _ => None,
        }
    }
}

/// What [`renew`] replies.
pub type FencedRenewReply = RenewReply;

/// What [`release`] replies.
pub type FencedReleaseReply = ReleaseReply;

/// What [`force_release`] replies.
pub type FencedForceReleaseReply = ForceReleaseReply;

/// One fenced lock over one connection.
#[derive(Debug)]
pub struct FencedLock<C> {
    lock: ConnectedLock<C>,
}

impl<C: ConnectionLike> FencedLock<C> {
    /// The lock with these names. Nothing is sent yet.
    pub const fn new(connection: C, names: Names, scripts: Scripts) -> Self {
        Self { lock: ConnectedLock::new(connection, names, scripts) }
    }

    /// Tries once to take the lock, and is told the token of the grant.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] the caller may hold the lock, with one hold more than before.
    pub fn acquire(&mut self, holder: &HolderId, lease: Lease) -> Result<FencedTokenReply, Error> {
        self.lock.ask(|scripts, names| acquire_with_token(scripts, names, holder, lease))
    }

    /// Tries once to take the lock, and is told no token.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] the caller may hold the lock, with one hold more than before.
    pub fn acquire_without_token(&mut self, holder: &HolderId, lease: Lease) -> Result<FencedAcquireReply, Error> {
        self.lock.ask(|scripts, names| acquire(scripts, names, holder, lease))
    }

    /// Reads the newest token that was issued, to whomever.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] nothing has changed.
    pub fn read_token(&mut self) -> Result<NewestFencedToken, Error> {
        self.lock.ask(read_token)
    }

    /// Sets the lease to its full length again, if this holder still has the lock.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] rely only on the older lease; renewing again is harmless.
    pub fn renew(&mut self, holder: &HolderId, lease: Lease) -> Result<FencedRenewReply, Error> {
        self.lock.ask(|scripts, names| renew(scripts, names, holder, lease))
    }

    /// Releases one hold, then deletes the receipt.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] call it again with the same receipt: the hold is released once only.
    pub fn release(
        &mut self,
        holder: &HolderId,
        lease: Lease,
        receipt: &ReleaseReceipt,
    ) -> Result<FencedReleaseReply, Error> {
        self.lock.release(receipt, |scripts, names| release(scripts, names, holder, lease, receipt))
    }

    /// Frees the lock, no matter who holds it.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] a second call also frees a lock that was taken in between.
    pub fn force_release(&mut self) -> Result<FencedForceReleaseReply, Error> {
        self.lock.ask(force_release)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<R: ScriptReply>(value: &Value) -> Result<R, String> {
        let call = force_release(&Scripts::built_in(), &Names::of("lock"));
        call.read(value).map_err(|error| error.to_string())
    }

    fn pair(first: i64, second: i64) -> Value {
        Value::Array(vec![Value::Int(first), Value::Int(second)])
    }

    #[test]
    fn every_answer_of_a_script_is_read_as_its_reply() {
        assert_eq!(read(&pair(-1, 7)), Ok(FencedTokenReply::Acquired { token: 7 }));
        assert_eq!(read(&pair(900, -1)), Ok(FencedTokenReply::Busy { ttl_ms: 900 }));
        assert_eq!(read(&pair(-1, -1)), Ok(FencedTokenReply::Busy { ttl_ms: -1 }), "no grant");
        assert_eq!(read(&Value::Int(7)), Ok(NewestFencedToken::Token(7)));
        assert_eq!(read(&Value::Nil), Ok(NewestFencedToken::None));
    }

    #[test]
    fn an_answer_that_no_script_gives_is_an_error() {
        let refused = read::<FencedTokenReply>(&pair(-2, -1)).unwrap_err();
        assert_eq!(
            refused,
            "fenced/force_release: expected -1 and a token, or a TTL and -1, got array([int(-2), int(-1)])"
        );
        assert!(read::<FencedTokenReply>(&Value::Int(1)).is_err());
        assert!(read::<NewestFencedToken>(&Value::Okay).is_err());
    }
}
