//! The plain lock: one key, one holder, no re-entry.
//!
//! Read beside `model/src/locks/plain.rs`, which says what may happen. It is the form that the
//! Redis documentation shows and most libraries use; Redisson has none.

use redis::{ConnectionLike, Value};

use crate::{Call, Error, Holder, Lease, Names, Reply, Scripts};

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

impl Reply for AcquireReply {
    const EXPECTED: &'static str = "OK or nil";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        match value {
            Value::Okay => Some(Self::Acquired),
            Value::Nil => Some(Self::Busy),
            _ => None,
        }
    }
}

/// What [`release`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReleaseReply {
    /// The lock is free.
    Released,
    /// It was not the caller's to release: the lease ran out, or it never was.
    NotHeld,
}

impl Reply for ReleaseReply {
    const EXPECTED: &'static str = "1 or 0";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        match value {
            Value::Int(1) => Some(Self::Released),
            Value::Int(0) => Some(Self::NotHeld),
            _ => None,
        }
    }
}

/// What [`extend`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExtendReply {
    /// The lease begins anew.
    Extended,
    /// It was not the caller's to extend: the lease ran out, or it never was.
    NotHeld,
}

impl Reply for ExtendReply {
    const EXPECTED: &'static str = "1 or 0";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        match value {
            Value::Int(1) => Some(Self::Extended),
            Value::Int(0) => Some(Self::NotHeld),
            _ => None,
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
        acquire(&self.scripts, &self.names, holder, lease).ask(&mut self.connection)
    }

    /// Gives the lock back, if it is still this holder's.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] it may be sent again: a second release finds nothing of this holder.
    pub fn release(&mut self, holder: &Holder) -> Result<ReleaseReply, Error> {
        release(&self.scripts, &self.names, holder).ask(&mut self.connection)
    }

    /// Lets the lease begin anew, if the lock is still this holder's.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] count on the older lease.
    pub fn extend(&mut self, holder: &Holder, lease: Lease) -> Result<ExtendReply, Error> {
        extend(&self.scripts, &self.names, holder, lease).ask(&mut self.connection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<R: Reply>(value: &Value) -> Result<R, String> {
        let call = release(&Scripts::built_in(), &Names::of("lock"), &Holder::new("A", 1));
        call.read(value).map_err(|error| error.to_string())
    }

    #[test]
    fn every_reply_reads_what_its_script_can_say() {
        assert_eq!(read(&Value::Okay), Ok(AcquireReply::Acquired));
        assert_eq!(read(&Value::Nil), Ok(AcquireReply::Busy));
        assert_eq!(read(&Value::Int(1)), Ok(ReleaseReply::Released));
        assert_eq!(read(&Value::Int(0)), Ok(ReleaseReply::NotHeld));
        assert_eq!(read(&Value::Int(1)), Ok(ExtendReply::Extended));
        assert_eq!(read(&Value::Int(0)), Ok(ExtendReply::NotHeld));
    }

    #[test]
    fn what_no_script_can_say_is_named_and_not_guessed() {
        let nil = read::<ReleaseReply>(&Value::Nil);
        assert_eq!(nil.unwrap_err(), "plain/release: expected 1 or 0, got nil");
        assert!(read::<AcquireReply>(&Value::Int(1)).is_err());
        assert!(read::<ExtendReply>(&Value::Int(2)).is_err());
    }
}
