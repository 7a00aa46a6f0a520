//! The lock over several values: whoever names some takes all of them or none; Redisson's `getMultiLock(group, values)`.
//!
//! `model/src/locks/value_multi.rs` says what may happen to it. This file contains what one request says and what its answer
//! means; how clients wait and when they renew is not here.
//!
//! Deadlines are by the clocks of the callers, which must agree: one that is ahead takes what others hold.

use redis::{ConnectionLike, Value};

use crate::error::Error;
use crate::names::{HolderId, Lease, Names, ReleaseReceipt};
use crate::script::{Call, ScriptReply, Scripts, one_or_zero, one_zero_or_nil};

/// The scripts, by kind and verb.
pub(super) const SCRIPTS: [(&str, &str); 6] = [
    ("value_multi/acquire", include_str!("../../scripts/value_multi/acquire.lua")),
    ("value_multi/acquire_once", include_str!("../../scripts/value_multi/acquire_once.lua")),
    ("value_multi/renew", include_str!("../../scripts/value_multi/renew.lua")),
    ("value_multi/release", include_str!("../../scripts/value_multi/release.lua")),
    ("value_multi/is_held", include_str!("../../scripts/value_multi/is_held.lua")),
    ("value_multi/is_held_by_later_values", include_str!("../../scripts/value_multi/is_held_by_later_values.lua")),
];

/// The message that is published when values may be free: one waiter may try to take its own.
pub const UNLOCK_MESSAGE: &str = "0";

/// A caller: its holder, the values that it names, and its wall clock.
#[derive(Clone, Copy, Debug)]
pub struct ValueHolder<'a> {
    /// The holder.
    pub holder: &'a HolderId,
    /// The values, by the names of their fields: Redisson's is a hash code of 128 bits of the encoded value, in Base64.
    pub values: &'a [String],
    /// The caller's wall clock, in milliseconds since 1970.
    pub now_ms: u64,
}

impl ValueHolder<'_> {
    fn followed_by_values<const N: usize>(&self, args: [String; N]) -> Vec<String> {
        args.into_iter().chain(self.values.iter().cloned()).collect()
    }
}

/// Takes all values, or enters them once more. A caller that is refused is told how long it may have to wait.
pub fn acquire(scripts: &Scripts, names: &Names, caller: ValueHolder<'_>, lease: Lease) -> Call {
    let args = [lease.ms().to_string(), caller.now_ms.to_string(), caller.holder.to_string()];
    scripts.call("value_multi/acquire", vec![names.lock().into()], caller.followed_by_values(args))
}

/// Takes all values, or enters them once more, for a caller that does not wait.
pub fn acquire_once(scripts: &Scripts, names: &Names, caller: ValueHolder<'_>, lease: Lease) -> Call {
    let args = [caller.now_ms.to_string(), lease.ms().to_string(), caller.holder.to_string()];
    scripts.call("value_multi/acquire_once", vec![names.lock().into()], caller.followed_by_values(args))
}

/// Sets the lease to its full length again, if this holder still has all values.
pub fn renew(scripts: &Scripts, names: &Names, caller: ValueHolder<'_>, lease: Lease) -> Call {
    let args = [lease.ms().to_string(), caller.now_ms.to_string(), caller.holder.to_string()];
    scripts.call("value_multi/renew", vec![names.lock().into()], caller.followed_by_values(args))
}

/// Releases one hold of each value, and stores a receipt. If holds remain, their lease is set to `lease`.
pub fn release(
    scripts: &Scripts,
    names: &Names,
    caller: ValueHolder<'_>,
    lease: Lease,
    receipt: &ReleaseReceipt,
) -> Call {
    let args = [
        caller.holder.to_string(),
        UNLOCK_MESSAGE.to_owned(),
        lease.ms().to_string(),
        receipt.lease().ms().to_string(),
        caller.now_ms.to_string(),
    ];
    let args = args.into_iter().chain(caller.values.iter().cloned()).collect();
    scripts.call(
        "value_multi/release",
        vec![names.lock().into(), names.channel(), names.receipt(receipt.release_id())],
        args,
    )
}

/// Asks whether this holder has all its values.
pub fn is_held(scripts: &Scripts, names: &Names, caller: ValueHolder<'_>) -> Call {
    let args = [caller.now_ms.to_string(), caller.holder.to_string()];
    scripts.call("value_multi/is_held", vec![names.lock().into()], caller.followed_by_values(args))
}

/// Asks whether this holder has its values from the second one on, as Redisson's `isHeldByCurrentThread()` does. Of one value the answer
/// is yes for everybody while anybody has a value.
pub fn is_held_by_later_values(scripts: &Scripts, names: &Names, caller: ValueHolder<'_>) -> Call {
    let args = [caller.now_ms.to_string(), caller.holder.to_string()];
    scripts.call("value_multi/is_held_by_later_values", vec![names.lock().into()], caller.followed_by_values(args))
}

/// What [`acquire`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueMultiAcquireReply {
    /// The caller holds all its values, for the first time or once more.
    Acquired,
    /// Another holder has one of them.
    Busy {
        /// How long until the last deadline in the way, in milliseconds.
        deadline_in_ms: i64,
    },
}

impl ScriptReply for ValueMultiAcquireReply {
    const EXPECTED: &'static str = "nil or the time until a deadline";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        match value {
            Value::Nil => Some(Self::Acquired),
            // A deadline that is over is not in the way.
            &Value::Int(deadline_in_ms) if deadline_in_ms > 0 => Some(Self::Busy { deadline_in_ms }),
            _ => None,
        }
    }
}

/// What [`acquire_once`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueMultiOnceReply {
    /// The caller holds all its values, for the first time or once more.
    Acquired,
    /// Another holder has one of them.
    Refused,
}

impl ScriptReply for ValueMultiOnceReply {
    const EXPECTED: &'static str = "1 or 0";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        one_or_zero(value, Self::Acquired, Self::Refused)
    }
}

/// What [`renew`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueMultiRenewReply {
    /// The lease of every value has its full length again.
    Renewed,
    /// The holder does not have one of them any more.
    NotHeld,
}

impl ScriptReply for ValueMultiRenewReply {
    const EXPECTED: &'static str = "1 or 0";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        one_or_zero(value, Self::Renewed, Self::NotHeld)
    }
}

/// What [`is_held`] replies, and [`is_held_by_later_values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueMultiHeldReply {
    /// The caller has all values that were looked at.
    Held,
    /// It does not have one of them, or nobody has a value.
    NotHeld,
}

impl ScriptReply for ValueMultiHeldReply {
    const EXPECTED: &'static str = "1 or 0";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        one_or_zero(value, Self::Held, Self::NotHeld)
    }
}

/// What [`release`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueMultiReleaseReply {
    /// The last hold of each value is gone.
    Released,
    /// Holds remain.
    StillHeld,
    /// The deadline of a value is over, or the caller never held it. Others of its values may be free now.
    NotHeld,
}

impl ScriptReply for ValueMultiReleaseReply {
    const EXPECTED: &'static str = "1, 0 or nil";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        one_zero_or_nil(value, Self::Released, Self::StillHeld, Self::NotHeld)
    }
}

/// Some values of one lock over one connection.
#[derive(Debug)]
pub struct ValueMultiLock<C> {
    connection: C,
    names: Names,
    values: Vec<String>,
    scripts: Scripts,
}

impl<C: ConnectionLike> ValueMultiLock<C> {
    /// These values of the lock with these names. Nothing is sent yet.
    pub const fn new(connection: C, names: Names, values: Vec<String>, scripts: Scripts) -> Self {
        Self { connection, names, values, scripts }
    }

    fn ask<R: ScriptReply>(
        &mut self,
        (holder, now_ms): (&HolderId, u64),
        call: impl FnOnce(&Scripts, &Names, ValueHolder<'_>) -> Call,
    ) -> Result<R, Error> {
        let caller = ValueHolder { holder, values: &self.values, now_ms };
        call(&self.scripts, &self.names, caller).ask(&mut self.connection)
    }

    /// Tries once to take the values, and is told how long to wait otherwise. `now_ms`: the caller's wall clock.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] the caller may hold the values, with one hold more than before.
    pub fn acquire(&mut self, caller: (&HolderId, u64), lease: Lease) -> Result<ValueMultiAcquireReply, Error> {
        self.ask(caller, |scripts, names, caller| acquire(scripts, names, caller, lease))
    }

    /// Tries once to take the values. `now_ms`: the caller's wall clock.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] the caller may hold the values, with one hold more than before.
    pub fn acquire_once(&mut self, caller: (&HolderId, u64), lease: Lease) -> Result<ValueMultiOnceReply, Error> {
        self.ask(caller, |scripts, names, caller| acquire_once(scripts, names, caller, lease))
    }

    /// Sets the lease to its full length again, if this holder still has all values. `now_ms`: the caller's wall clock.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] rely only on the older lease; renewing again is harmless.
    pub fn renew(&mut self, caller: (&HolderId, u64), lease: Lease) -> Result<ValueMultiRenewReply, Error> {
        self.ask(caller, |scripts, names, caller| renew(scripts, names, caller, lease))
    }

    /// Asks whether this holder has all its values. `now_ms`: the caller's wall clock.
    ///
    /// # Errors
    ///
    /// It writes nothing, so after an error it may be asked again.
    pub fn is_held(&mut self, caller: (&HolderId, u64)) -> Result<ValueMultiHeldReply, Error> {
        self.ask(caller, is_held)
    }

    /// Releases one hold of each value, then deletes the receipt. `now_ms`: the caller's wall clock.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] call it again with the same receipt: the hold is released once only.
    pub fn release(
        &mut self,
        caller: (&HolderId, u64),
        lease: Lease,
        receipt: &ReleaseReceipt,
    ) -> Result<ValueMultiReleaseReply, Error> {
        let reply = self.ask(caller, |scripts, names, caller| release(scripts, names, caller, lease, receipt))?;
        // The release is answered, even if its receipt cannot be deleted: the receipt expires.
        let _: redis::RedisResult<()> = receipt.deletion(&self.names).query(&mut self.connection);
        Ok(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<R: ScriptReply>(value: &Value) -> Result<R, String> {
        let holder = HolderId::new("A", 1);
        let caller = ValueHolder { holder: &holder, values: &[], now_ms: 0 };
        let call = acquire(&Scripts::built_in(), &Names::of("lock"), caller, ReleaseReceipt::LEASE);
        call.read(value).map_err(|error| error.to_string())
    }

    #[test]
    fn every_answer_of_a_script_is_read_as_its_reply() {
        assert_eq!(read(&Value::Nil), Ok(ValueMultiAcquireReply::Acquired));
        assert_eq!(read(&Value::Int(7)), Ok(ValueMultiAcquireReply::Busy { deadline_in_ms: 7 }));
        assert_eq!(read(&Value::Int(1)), Ok(ValueMultiOnceReply::Acquired));
        assert_eq!(read(&Value::Int(0)), Ok(ValueMultiOnceReply::Refused));
        assert_eq!(read(&Value::Int(1)), Ok(ValueMultiRenewReply::Renewed));
        assert_eq!(read(&Value::Int(0)), Ok(ValueMultiRenewReply::NotHeld));
        assert_eq!(read(&Value::Int(1)), Ok(ValueMultiHeldReply::Held));
        assert_eq!(read(&Value::Int(0)), Ok(ValueMultiHeldReply::NotHeld));
        assert_eq!(read(&Value::Int(1)), Ok(ValueMultiReleaseReply::Released));
        assert_eq!(read(&Value::Int(0)), Ok(ValueMultiReleaseReply::StillHeld));
        assert_eq!(read(&Value::Nil), Ok(ValueMultiReleaseReply::NotHeld));
    }

    #[test]
    fn an_answer_that_no_script_gives_is_an_error() {
        assert!(read::<ValueMultiAcquireReply>(&Value::Int(0)).is_err());
        assert!(read::<ValueMultiOnceReply>(&Value::Nil).is_err());
        assert!(read::<ValueMultiRenewReply>(&Value::Int(2)).is_err());
        assert!(read::<ValueMultiReleaseReply>(&Value::Int(-1)).is_err());
        assert!(read::<ValueMultiHeldReply>(&Value::Nil).is_err());
    }

    fn said(call: &Call) -> String {
        let command = call.evalsha();
        let words = command.args_iter().map(|arg| match arg {
            redis::Arg::Simple(word) => String::from_utf8_lossy(word).into_owned(),
            _ => String::new(),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// The values come last, in the order in which they are given.
    #[test]
    fn a_request_names_its_values_behind_everything_else() {
        let (holder, values) = (HolderId::new("A", 1), ["x".to_owned(), "y".to_owned()]);
        let caller = ValueHolder { holder: &holder, values: &values, now_ms: 5 };
        let (scripts, names, lease) = (Scripts::built_in(), Names::of("lock"), ReleaseReceipt::LEASE);
        let once = acquire_once(&scripts, &names, caller, lease);
        assert!(said(&once).ends_with("1 lock 5 20000 A:1 x y"), "{}", said(&once));
        let asked = is_held_by_later_values(&scripts, &names, caller);
        assert!(said(&asked).ends_with("1 lock 5 A:1 x y"), "{}", said(&asked));
        let release = release(&scripts, &names, caller, lease, &ReleaseReceipt::new("r1", lease));
        assert!(said(&release).ends_with("A:1 0 20000 20000 5 x y"), "{}", said(&release));
    }
}
