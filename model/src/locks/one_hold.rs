//! The kinds whose lock is one [`CountedHold`] and nothing else: what is the same for each of them.

use core::fmt::Debug;
use core::hash::Hash;
use core::marker::PhantomData;

use super::contract::{KeyFamily, Lapsed, Lock, LockContext, LockRequest, Outcome, StoredHold};
use super::counted_hold::CountedHold;
use super::facts::Facts;
use super::holder::Holder;
use super::keys::Key;
use super::master_calls::CallStore;
use super::tokens::NoTokens;
use super::values::NoValues;

/// What makes such a kind another one than the rest of them.
pub trait OneHoldKind: Copy + Debug + Default + Eq + Hash + Ord + Send + Sync + 'static {
    /// [`Lock::FACTS`].
    const FACTS: Facts;

    /// [`Lock::HAS_SMALL_WORLDS`].
    const HAS_SMALL_WORLDS: bool = true;

    /// [`Lock::HAS_SPLIT_WORLDS`].
    const HAS_SPLIT_WORLDS: bool = true;

    /// [`Lock::Several`].
    type Several: Lock;

    /// [`Lock::Calls`].
    type Calls: CallStore;

    /// [`Lock::execute`].
    fn execute(hold: CountedHold, context: LockContext, request: LockRequest) -> Outcome<CountedHold> {
        hold.execute(context, request)
    }

    /// As whom Redis knows a holder.
    fn stored_as(holder: Holder) -> Holder {
        holder
    }
}

/// The hash under the lock's key, and the key's TTL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct OneHold<K>(CountedHold, PhantomData<K>);

impl<K: OneHoldKind> From<CountedHold> for OneHold<K> {
    fn from(hold: CountedHold) -> Self {
        Self(hold, PhantomData)
    }
}

impl<K: OneHoldKind> Lock for OneHold<K> {
    const FACTS: Facts = K::FACTS;
    const HAS_SMALL_WORLDS: bool = K::HAS_SMALL_WORLDS;
    const HAS_SPLIT_WORLDS: bool = K::HAS_SPLIT_WORLDS;

    type Values = NoValues;
    type Calls = K::Calls;
    type Tokens = NoTokens;
    type Several = K::Several;

    fn execute(self, context: LockContext, request: LockRequest) -> Outcome<Self> {
        K::execute(self.0, context, request).map(Self::from)
    }

    fn holders(&self) -> impl Iterator<Item = StoredHold> {
        self.0.holders()
    }

    fn pass(self, context: LockContext, ticks: i8) -> (Self, Lapsed) {
        let (hold, lapsed) = self.0.pass(context, ticks);
        (hold.into(), lapsed)
    }

    fn without(self, slot: KeyFamily) -> Self {
        match slot {
            KeyFamily::Lock => Self::default(),
            KeyFamily::Receipt | KeyFamily::Queue | KeyFamily::Hold | KeyFamily::Token => self,
        }
    }

    fn without_ttl(self) -> Self {
        self.0.without_ttl().into()
    }

    fn persisted(self) -> Self {
        self.0.persisted().into()
    }

    fn with_ttl_of(self, own: Self) -> Self {
        self.0.with_ttl_of(own.0).into()
    }

    fn keys(&self) -> Vec<Key> {
        self.0.renamed(K::stored_as).keys()
    }

    fn renamed(self, rename: impl Fn(Holder) -> Holder) -> Self {
        self.0.renamed(rename).into()
    }
}
