//! The plain lock: one key, one holder, no re-entry.
//!
//! Read beside `model/src/locks/plain.rs`, which says what may happen. It is the form that the
//! Redis documentation shows and most libraries use; Redisson has none.

use redis::{ConnectionLike, Value};

use crate::{Call, Error, Holder, Lease, Names, Scripts};

/// Takes the lock if nobody has it.
pub fn acquire(scripts: &Scripts, names: &Names, holder: &Holder, lease: Lease) -> Call {
    scripts.call("plain/acquire", vec![names.lock().into()], vec![lease.ms().to_string(), holder.to_string()])
}

/// Gives the lock back.
pub fn release(scripts: &Scripts, names: &Names, holder: &Holder) -> Call {
    scripts.call("plain/release", vec![names.lock().into()], vec![holder.to_string()])
}

/// Lets the lease begin anew.
pub fn extend(scripts: &Scripts, names: &Names, holder: &Holder, lease: Lease) -> Call {
    scripts.call("plain/extend", vec![names.lock().into()], vec![lease.ms().to_string(), holder.to_string()])
}

/// What [`acquire`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AcquireReply {
    /// The lock is taken.
    Acquired,
    /// Somebody has it; the plain lock does not say for how long.
    Busy,
}

impl AcquireReply {
    /// Reads the answer to a call of [`acquire`].
    ///
    /// # Errors
    ///
    /// [`Error::UnexpectedReply`] for anything but OK or nil; the error itself where `value` is one.
    pub fn read(value: &Value) -> Result<Self, Error> {
        match value {
            Value::Okay => Ok(Self::Acquired),
            Value::Nil => Ok(Self::Busy),
            other => Err(Error::unexpected("plain/acquire", "OK or nil", other)),
        }
    }
}

/// What [`release`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReleaseReply {
    /// The lock is free.
    Released,
    /// It was not his to release: the lease ran out, or it never was.
    NotHeld,
}

impl ReleaseReply {
    /// Reads the answer to a call of [`release`].
    ///
    /// # Errors
    ///
    /// [`Error::UnexpectedReply`] for anything but 1 or 0; the error itself where `value` is one.
    pub fn read(value: &Value) -> Result<Self, Error> {
        match value {
            Value::Int(1) => Ok(Self::Released),
            Value::Int(0) => Ok(Self::NotHeld),
            other => Err(Error::unexpected("plain/release", "1 or 0", other)),
        }
    }
}

/// What [`extend`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExtendReply {
    /// The lease begins anew.
    Extended,
    /// It was not his to extend: the lease ran out, or it never was.
    NotHeld,
}

impl ExtendReply {
    /// Reads the answer to a call of [`extend`].
    ///
    /// # Errors
    ///
    /// [`Error::UnexpectedReply`] for anything but 1 or 0; the error itself where `value` is one.
    pub fn read(value: &Value) -> Result<Self, Error> {
        match value {
            Value::Int(1) => Ok(Self::Extended),
            Value::Int(0) => Ok(Self::NotHeld),
            other => Err(Error::unexpected("plain/extend", "1 or 0", other)),
        }
    }
}

/// One plain lock over one connection.
#[derive(Debug)]
pub struct Plain<C> {
    connection: C,
    names: Names,
    scripts: Scripts,
}

impl<C: ConnectionLike> Plain<C> {
    /// The lock with these names; nothing is sent yet.
    pub const fn new(connection: C, names: Names, scripts: Scripts) -> Self {
        Self { connection, names, scripts }
    }

    /// Asks once.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] the lock may be held: [`release`](Self::release) it.
    pub fn acquire(&mut self, holder: &Holder, lease: Lease) -> Result<AcquireReply, Error> {
        let call = acquire(&self.scripts, &self.names, holder, lease);
        AcquireReply::read(&call.run(&mut self.connection)?)
    }

    /// Gives the lock back, if it is still this holder's.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] it may be sent again: a second release finds nothing of this holder.
    pub fn release(&mut self, holder: &Holder) -> Result<ReleaseReply, Error> {
        let call = release(&self.scripts, &self.names, holder);
        ReleaseReply::read(&call.run(&mut self.connection)?)
    }

    /// Lets the lease begin anew, if the lock is still this holder's.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] count on the older lease.
    pub fn extend(&mut self, holder: &Holder, lease: Lease) -> Result<ExtendReply, Error> {
        let call = extend(&self.scripts, &self.names, holder, lease);
        ExtendReply::read(&call.run(&mut self.connection)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reply_reads_what_its_script_can_say() {
        assert_eq!(AcquireReply::read(&Value::Okay).unwrap(), AcquireReply::Acquired);
        assert_eq!(AcquireReply::read(&Value::Nil).unwrap(), AcquireReply::Busy);
        assert_eq!(ReleaseReply::read(&Value::Int(1)).unwrap(), ReleaseReply::Released);
        assert_eq!(ReleaseReply::read(&Value::Int(0)).unwrap(), ReleaseReply::NotHeld);
        assert_eq!(ExtendReply::read(&Value::Int(1)).unwrap(), ExtendReply::Extended);
        assert_eq!(ExtendReply::read(&Value::Int(0)).unwrap(), ExtendReply::NotHeld);
    }

    #[test]
    fn what_no_script_can_say_is_named_and_not_guessed() {
        let errors = [
            AcquireReply::read(&Value::Int(1)).unwrap_err(),
            ReleaseReply::read(&Value::Nil).unwrap_err(),
            ExtendReply::read(&Value::Int(2)).unwrap_err(),
        ]
        .map(|error| error.to_string());
        assert_eq!(
            errors,
            [
                "plain/acquire: expected OK or nil, got int(1)",
                "plain/release: expected 1 or 0, got nil",
                "plain/extend: expected 1 or 0, got int(2)",
            ]
        );
    }
}
