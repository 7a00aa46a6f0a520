//! The kinds of lock, registered: the one place of this crate outside the kinds' own files that names them.

use serde::{Deserialize, Serialize};

use super::contract::Lock;
use super::facts::Facts;
use super::named::Named;
use super::{fair, fenced, multi, plain, read_write, red, redisson_red, reentrant, semaphore, spin, value_multi};

/// Something to be done with the type of a kind.
pub trait WithKind {
    /// What comes out, the same type for every kind.
    type Output;

    /// Does it.
    fn run<L: Lock>(self) -> Self::Output;
}

/// Registers the kinds: a variant, the type that implements its contract.
macro_rules! kinds {
    ($($(#[$meta:meta])* $kind:ident => $lock:ty,)+) => {
        /// The kinds of lock that are modelled.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        pub enum LockKind {
            $($(#[$meta])* #[doc = concat!("[`", stringify!($lock), "`]")] $kind,)+
        }

        impl LockKind {
            /// Every kind, in the order of the design page.
            pub const ALL: &[Self] = &[$($(#[$meta])* Self::$kind),+];

            /// What the shared rules must know of it.
            pub const fn facts(self) -> &'static Facts {
                match self {
                    $($(#[$meta])* Self::$kind => &<$lock as Lock>::FACTS,)+
                }
            }

            /// Whether it has worlds of every size ([`Lock::HAS_SMALL_WORLDS`]).
            pub const fn has_small_worlds(self) -> bool {
                match self {
                    $($(#[$meta])* Self::$kind => <$lock as Lock>::HAS_SMALL_WORLDS,)+
                }
            }

            /// Whether it has worlds with a split network ([`Lock::HAS_SPLIT_WORLDS`]).
            pub const fn has_split_worlds(self) -> bool {
                match self {
                    $($(#[$meta])* Self::$kind => <$lock as Lock>::HAS_SPLIT_WORLDS,)+
                }
            }

            /// Does something with its type.
            pub fn with<W: WithKind>(self, work: W) -> W::Output {
                match self {
                    $($(#[$meta])* Self::$kind => work.run::<$lock>(),)+
                }
            }
        }
    };
}

kinds! {
    Plain => plain::Plain,
    Reentrant => reentrant::Reentrant,
    Fair => fair::Fair,
    ReadWrite => read_write::ReadWrite,
    Fenced => fenced::Fenced,
    Spin => spin::Spin,
    Multi => Named<multi::Part>,
    ValueMulti => value_multi::ValueMulti,
    Red => red::Red,
    RedissonRed => redisson_red::MasterLock,
    Semaphore => semaphore::Semaphore,
    #[cfg(feature = "toy")]
    Toy => super::toy::Toy,
}

impl LockKind {
    /// The word scenarios use.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }
}
