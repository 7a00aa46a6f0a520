//! The class of a scenario: which types its worlds are made of.

use crate::config::{Config, LockKind};
use crate::locks::{Record, plain::Plain, reentrant::Reentrant};
use crate::receipts::Receipted;

/// Work to be done in the class of a scenario: with the kind's record and the array sizes as types.
pub trait Classified {
    /// What comes out, the same type for every class.
    type Output;

    /// The work.
    fn run<R: Record, const C: usize, const N: usize>(self, config: &Config) -> Self::Output;
}

/// Does the work in the smallest class that holds the scenario's world.
///
/// Few classes: each is a copy of the whole engine in the binary.
pub fn in_class<W: Classified>(config: &Config, work: W) -> W::Output {
    if config.is_split() {
        return match (config.lock, config.clients.count, config.nodes()) {
            (LockKind::Plain, ..) => work.run::<Receipted<Plain>, 4, 3>(config),
            (LockKind::Reentrant, ..=2, ..=1) => work.run::<Receipted<Reentrant>, 2, 1>(config),
            (LockKind::Reentrant, _, _) => work.run::<Receipted<Reentrant>, 4, 3>(config),
        };
    }
    match (config.lock, config.clients.count, config.nodes()) {
        (LockKind::Plain, ..=2, ..=2) => work.run::<Plain, 2, 2>(config),
        (LockKind::Plain, _, _) => work.run::<Plain, 4, 3>(config),
        (LockKind::Reentrant, ..=2, ..=1) => work.run::<Reentrant, 2, 1>(config),
        (LockKind::Reentrant, ..=2, 2) => work.run::<Reentrant, 2, 2>(config),
        (LockKind::Reentrant, ..=2, _) => work.run::<Reentrant, 2, 3>(config),
        (LockKind::Reentrant, _, ..=1) => work.run::<Reentrant, 4, 1>(config),
        (LockKind::Reentrant, _, _) => work.run::<Reentrant, 4, 3>(config),
    }
}
