//! The re-entrant lock: one holder, who may enter again; Redisson's `RLock`.
//!
//! Read beside `model/src/locks/reentrant.rs`, which says what may happen. Waiting is not here, nor
//! when to renew: this is what one request says and what its answer means.

use redis::{ConnectionLike, Value};

use crate::{Call, Error, Holder, Lease, Names, Receipt, Reply, Scripts};

/// What is published when the lock becomes free: one waiter may try.
pub const UNLOCK_MESSAGE: &str = "0";

/// How many locks Redisson renews with one script.
pub const RENEWAL_BATCH: usize = 100;

/// Takes the lock, or takes it once more.
pub fn acquire(scripts: &Scripts, names: &Names, holder: &Holder, lease: Lease) -> Call {
    scripts.call("reentrant/acquire", vec![names.lock().into()], vec![lease.ms().to_string(), holder.to_string()])
}

/// Lets the lease of each lock begin anew that its holder still has.
pub fn renew<'a>(scripts: &Scripts, batch: impl IntoIterator<Item = (&'a Names, &'a Holder)>, lease: Lease) -> Call {
    let mut keys = Vec::new();
    let mut args = vec![lease.ms().to_string()];
    for (names, holder) in batch {
        keys.push(names.lock().into());
        args.push(holder.to_string());
    }
    scripts.call("reentrant/renew", keys, args)
}

/// Takes back one hold, and leaves a receipt. `lease` is what remaining holds get.
pub fn release(scripts: &Scripts, names: &Names, holder: &Holder, lease: Lease, receipt: &Receipt) -> Call {
    scripts.call(
        "reentrant/release",
        vec![names.lock().into(), names.channel(), names.receipt(receipt.release_id())],
        vec![UNLOCK_MESSAGE.into(), lease.ms().to_string(), holder.to_string(), receipt.lease().ms().to_string()],
    )
}

/// Takes back one hold as Redisson did until 3.15: sent again, it takes back another.
pub fn release_without_receipt(scripts: &Scripts, names: &Names, holder: &Holder, lease: Lease) -> Call {
    scripts.call(
        "reentrant/release_without_receipt",
        vec![names.lock().into(), names.channel()],
        vec![UNLOCK_MESSAGE.into(), lease.ms().to_string(), holder.to_string()],
    )
}

/// Frees the lock, whoever holds it.
pub fn force_release(scripts: &Scripts, names: &Names) -> Call {
    scripts.call("reentrant/force_release", vec![names.lock().into(), names.channel()], vec![UNLOCK_MESSAGE.into()])
}

/// Throws a receipt away: the release was answered, so it will not be sent again.
pub fn drop_receipt(names: &Names, receipt: &Receipt) -> redis::Cmd {
    let mut command = redis::cmd("DEL");
    command.arg(names.receipt(receipt.release_id()));
    command
}

/// What [`acquire`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AcquireReply {
    /// The lock is taken, or taken once more.
    Acquired,
    /// Somebody else has it.
    Busy {
        /// How long until the lease in the way runs out; −1, as Redis says it, if it never will.
        ttl_ms: i64,
    },
}

impl Reply for AcquireReply {
    const EXPECTED: &'static str = "nil or a TTL";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        match value {
            Value::Nil => Some(Self::Acquired),
            // −2 would say that there is no such key, and then the lock would have been taken.
            &Value::Int(ttl_ms) if ttl_ms >= -1 => Some(Self::Busy { ttl_ms }),
            _ => None,
        }
    }
}

/// What [`renew`] replies for one lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RenewReply {
    /// The lease begins anew.
    Renewed,
    /// The holder has it no more: the lease ran out, or the grant was lost.
    NotHeld,
}

impl Reply for Vec<RenewReply> {
    const EXPECTED: &'static str = "1 or 0 for each lock";

    fn read(call: &Call, value: &Value) -> Option<Self> {
        let Value::Array(answers) = value else {
            return None;
        };
        let read_one = |answer: &Value| match answer {
            Value::Int(1) => Some(RenewReply::Renewed),
            Value::Int(0) => Some(RenewReply::NotHeld),
            _ => None,
        };
        let one_each = answers.len() == call.keys.len();
        if one_each { answers.iter().map(read_one).collect() } else { None }
    }
}

/// What [`release`] and [`release_without_receipt`] reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReleaseReply {
    /// The last hold is gone and the lock is free.
    Released,
    /// Holds remain.
    StillHeld,
    /// It was not the caller's to release: the lease ran out, or it never was.
    NotHeld,
}

impl Reply for ReleaseReply {
    const EXPECTED: &'static str = "1, 0 or nil";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        match value {
            Value::Int(1) => Some(Self::Released),
            Value::Int(0) => Some(Self::StillHeld),
            Value::Nil => Some(Self::NotHeld),
            _ => None,
        }
    }
}

/// What [`force_release`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ForceReleaseReply {
    /// Somebody held it, and now nobody does.
    Released,
    /// Nobody held it.
    WasFree,
}

impl Reply for ForceReleaseReply {
    const EXPECTED: &'static str = "1 or 0";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        match value {
            Value::Int(1) => Some(Self::Released),
            Value::Int(0) => Some(Self::WasFree),
            _ => None,
        }
    }
}

/// One re-entrant lock over one connection.
#[derive(Debug)]
pub struct Reentrant<C> {
    connection: C,
    names: Names,
    scripts: Scripts,
}

impl<C: ConnectionLike> Reentrant<C> {
    /// The lock with these names; nothing is sent yet.
    pub const fn new(connection: C, names: Names, scripts: Scripts) -> Self {
        Self { connection, names, scripts }
    }

    /// Asks once.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] the lock may be held, once or once more.
    pub fn acquire(&mut self, holder: &Holder, lease: Lease) -> Result<AcquireReply, Error> {
        acquire(&self.scripts, &self.names, holder, lease).ask(&mut self.connection)
    }

    /// Lets the lease begin anew, if the lock is still this holder's.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] count on the older lease; asking again does no harm.
    pub fn renew(&mut self, holder: &Holder, lease: Lease) -> Result<RenewReply, Error> {
        let call = renew(&self.scripts, [(&self.names, holder)], lease);
        let replies: Vec<RenewReply> = call.ask(&mut self.connection)?;
        Ok(replies[0])
    }

    /// Takes back one hold, then drops the receipt.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] call it again with the same receipt: the hold is taken back once.
    pub fn release(&mut self, holder: &Holder, lease: Lease, receipt: &Receipt) -> Result<ReleaseReply, Error> {
        let call = release(&self.scripts, &self.names, holder, lease, receipt);
        let reply = call.ask(&mut self.connection)?;
        // The release is answered whatever becomes of its receipt, which expires by itself.
        let _: redis::RedisResult<()> = drop_receipt(&self.names, receipt).query(&mut self.connection);
        Ok(reply)
    }

    /// Frees the lock, whoever holds it.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] asking again frees also what was taken since.
    pub fn force_release(&mut self) -> Result<ForceReleaseReply, Error> {
        force_release(&self.scripts, &self.names).ask(&mut self.connection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As if two locks had been renewed; the other replies do not ask which call it was.
    fn read<R: Reply>(value: &Value) -> Result<R, String> {
        let (names, holder) = (Names::of("lock"), Holder::new("A", 1));
        let call = renew(&Scripts::built_in(), [(&names, &holder), (&names, &holder)], Receipt::LEASE);
        call.read(value).map_err(|error| error.to_string())
    }

    #[test]
    fn every_reply_reads_what_its_script_can_say() {
        assert_eq!(read(&Value::Nil), Ok(AcquireReply::Acquired));
        assert_eq!(read(&Value::Int(0)), Ok(AcquireReply::Busy { ttl_ms: 0 }));
        assert_eq!(read(&Value::Int(-1)), Ok(AcquireReply::Busy { ttl_ms: -1 }));
        assert_eq!(read(&Value::Int(1)), Ok(ReleaseReply::Released));
        assert_eq!(read(&Value::Int(0)), Ok(ReleaseReply::StillHeld));
        assert_eq!(read(&Value::Nil), Ok(ReleaseReply::NotHeld));
        assert_eq!(read(&Value::Int(1)), Ok(ForceReleaseReply::Released));
        assert_eq!(read(&Value::Int(0)), Ok(ForceReleaseReply::WasFree));
        let answers = Value::Array(vec![Value::Int(1), Value::Int(0)]);
        assert_eq!(read(&answers), Ok(vec![RenewReply::Renewed, RenewReply::NotHeld]));
    }

    #[test]
    fn what_no_script_can_say_is_named_and_not_guessed() {
        let one_of_two = read::<Vec<RenewReply>>(&Value::Array(vec![Value::Int(1)]));
        assert_eq!(one_of_two.unwrap_err(), "reentrant/renew: expected 1 or 0 for each lock, got array([int(1)])");
        assert!(read::<Vec<RenewReply>>(&Value::Array(vec![Value::Int(1), Value::Nil])).is_err());
        assert!(read::<Vec<RenewReply>>(&Value::Int(1)).is_err());
        assert!(read::<AcquireReply>(&Value::Int(-2)).is_err());
        assert!(read::<ReleaseReply>(&Value::Int(-1)).is_err());
        assert!(read::<ForceReleaseReply>(&Value::Nil).is_err());
    }
}
