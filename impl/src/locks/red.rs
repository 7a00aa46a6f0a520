//! A lock on several independent masters, as the Redis documentation publishes it (RedLock): a key on each of them, and whoever has
//! most of them holds, while something is left of the lease.
//!
//! `model/src/locks/red.rs` and `model/src/client/masters.rs` say what may happen to it, and what breaks it: a master that restarts
//! without its data, a clock that jumps, a holder that works beyond its validity.

use std::time::{Duration, Instant};

use redis::{ConnectionLike, Value};

use crate::connected::ConnectedLock;
use crate::names::{HoldValue, Lease, Names};
use crate::script::{Call, ScriptReply, Scripts, one_or_zero};

/// The scripts, by kind and verb.
pub(super) const SCRIPTS: [(&str, &str); 3] = [
    ("red/acquire", include_str!("../../scripts/red/acquire.lua")),
    ("red/extend", include_str!("../../scripts/red/extend.lua")),
    ("red/release", include_str!("../../scripts/red/release.lua")),
];

/// Takes the lock on one master if no key is there, by the value of a round.
pub fn acquire(scripts: &Scripts, names: &Names, value: &HoldValue, lease: Lease) -> Call {
    scripts.call("red/acquire", vec![names.lock().into()], vec![lease.ms().to_string(), value.to_string()])
}

/// Sets the lease to its full length again on one master, if it was taken there by the value of this round.
pub fn extend(scripts: &Scripts, names: &Names, value: &HoldValue, lease: Lease) -> Call {
    scripts.call("red/extend", vec![names.lock().into()], vec![lease.ms().to_string(), value.to_string()])
}

/// Releases the lock on one master, if it was taken by the value of this round.
pub fn release(scripts: &Scripts, names: &Names, value: &HoldValue) -> Call {
    scripts.call("red/release", vec![names.lock().into()], vec![value.to_string()])
}

/// What [`acquire`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RedAcquireReply {
    /// The master has granted.
    Granted,
    /// A key is there.
    Refused,
}

impl ScriptReply for RedAcquireReply {
    const EXPECTED: &'static str = "OK or nil";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        match value {
            Value::Okay => Some(Self::Granted),
            Value::Nil => Some(Self::Refused),
            _ => None,
        }
    }
}

/// What [`extend`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RedExtendReply {
    /// The lease has its full length again.
    Extended,
    /// There is no key of this round.
    NotHeld,
}

impl ScriptReply for RedExtendReply {
    const EXPECTED: &'static str = "1 or 0";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        one_or_zero(value, Self::Extended, Self::NotHeld)
    }
}

/// What [`release`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RedReleaseReply {
    /// The key is deleted.
    Released,
    /// There is no key of this round.
    NotHeld,
}

impl ScriptReply for RedReleaseReply {
    const EXPECTED: &'static str = "1 or 0";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        one_or_zero(value, Self::Released, Self::NotHeld)
    }
}

/// What came of an acquire on all masters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedReply {
    /// The caller holds the lock for so long, counted from now by its own clock. Whoever works longer works beside another holder.
    Valid {
        /// What is left of the lease without the drift.
        left: Duration,
    },
    /// The caller does not hold it: fewer than most masters have granted, or that took longer than the lease. It has released it
    /// on every master by then.
    NotValid {
        /// How many masters have granted.
        granted: usize,
    },
}

/// What came of an extension on all masters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedExtensionReply {
    /// The caller holds the lock for so long, counted from now by its own clock.
    Extended {
        /// What is left of the lease without the drift.
        left: Duration,
    },
    /// It does not count: fewer than most masters have extended, or that took longer than the lease. The caller holds for as long as
    /// it knew before, and no longer; nothing was released.
    NotExtended {
        /// How many masters have extended.
        extended: usize,
    },
}

/// One lock on several masters, over one connection to each.
#[derive(Debug)]
pub struct RedLock<C> {
    masters: Vec<ConnectedLock<C>>,
    drift: Duration,
}

impl<C: ConnectionLike> RedLock<C> {
    /// The lock with these names on the masters of these connections. `drift`: by how much clocks may differ at the end of a lease; the
    /// documentation takes a few milliseconds, libraries 1 % of the lease and 2 ms. Nothing is sent yet.
    pub fn new(connections: impl IntoIterator<Item = C>, names: &Names, scripts: &Scripts, drift: Duration) -> Self {
        let lock = |connection| ConnectedLock::new(connection, names.clone(), scripts.clone());
        Self { masters: connections.into_iter().map(lock).collect(), drift }
    }

    /// How many masters are most of them.
    pub fn majority(&self) -> usize {
        self.masters.len() / 2 + 1
    }

    /// Asks every master once, one after the other. Each round needs a value that no other one has: by an older one a late release would free
    /// this lock. Connections need a timeout that is short beside the lease: a master that does not answer in that time counts as one that
    /// refuses.
    pub fn acquire(&mut self, value: &HoldValue, lease: Lease) -> RedReply {
        let begun = Instant::now();
        let is_granted = |master: &mut ConnectedLock<C>| {
            matches!(master.ask(|scripts, names| acquire(scripts, names, value, lease)), Ok(RedAcquireReply::Granted))
        };
        let granted = self.masters.iter_mut().map(is_granted).filter(|granted| *granted).count();
        if let Some(left) = self.validity_of(granted, lease, begun) {
            return RedReply::Valid { left };
        }
        self.release(value);
        RedReply::NotValid { granted }
    }

    /// Sets the lease to its full length again on every master that stores the value of this round, one after the other. It counts only if
    /// most of them did so within the time of a lease; else the caller must stop when its old validity is over. The documentation
    /// advises to limit how often a holder extends: a lock that is extended for ever is never free.
    pub fn extend(&mut self, value: &HoldValue, lease: Lease) -> RedExtensionReply {
        let begun = Instant::now();
        let is_extended = |master: &mut ConnectedLock<C>| {
            matches!(master.ask(|scripts, names| extend(scripts, names, value, lease)), Ok(RedExtendReply::Extended))
        };
        let extended = self.masters.iter_mut().map(is_extended).filter(|extended| *extended).count();
        match self.validity_of(extended, lease, begun) {
            Some(left) => RedExtensionReply::Extended { left },
            None => RedExtensionReply::NotExtended { extended },
        }
    }

    /// What is left of the lease without the drift, if so many masters are most of them and something is.
    fn validity_of(&self, masters: usize, lease: Lease, begun: Instant) -> Option<Duration> {
        let validity = Duration::from_millis(lease.ms()).checked_sub(self.drift)?;
        let left = validity.checked_sub(begun.elapsed()).filter(|left| !left.is_zero())?;
        (masters >= self.majority()).then_some(left)
    }

    /// Releases the lock on every master, also on those that have not granted it: an answer may have been lost. What they answer does not
    /// matter: a key that stays ends with its lease.
    pub fn release(&mut self, value: &HoldValue) {
        for master in &mut self.masters {
            let _: Result<RedReleaseReply, _> = master.ask(|scripts, names| release(scripts, names, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::HolderId;

    fn read<R: ScriptReply>(answer: &Value) -> Result<R, String> {
        let value = HoldValue::of_acquire(&HolderId::new("A", 1), 1);
        release(&Scripts::built_in(), &Names::of("lock"), &value).read(answer).map_err(|error| error.to_string())
    }

    #[test]
    fn every_answer_of_a_master_is_read_as_its_reply() {
        assert_eq!(read(&Value::Okay), Ok(RedAcquireReply::Granted));
        assert_eq!(read(&Value::Nil), Ok(RedAcquireReply::Refused));
        assert_eq!(read(&Value::Int(1)), Ok(RedExtendReply::Extended));
        assert_eq!(read(&Value::Int(0)), Ok(RedExtendReply::NotHeld));
        assert_eq!(read(&Value::Int(1)), Ok(RedReleaseReply::Released));
        assert_eq!(read(&Value::Int(0)), Ok(RedReleaseReply::NotHeld));
        assert!(read::<RedAcquireReply>(&Value::Int(1)).is_err());
        assert!(read::<RedReleaseReply>(&Value::Nil).is_err());
    }
}
