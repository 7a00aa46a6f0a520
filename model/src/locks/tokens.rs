//! Which fencing tokens clients and the resource have seen, where a kind keeps the counter in Redis.
//!
//! A kind without such a counter ([`Facts::tokens`](super::facts::Facts::tokens)) has [`NoTokens`], and its worlds no room
//! for them: there a token is the rank of its grant, and comes from an ideal counter.

use core::fmt::Debug;
use core::hash::{Hash, Hasher};

use super::holder::Holder;
use crate::limits::{MAX_CLIENTS, MAX_THREADS};

/// The tokens that are remembered outside Redis.
pub trait TokenStore:
    Copy + Clone + Debug + Default + PartialEq + Eq + PartialOrd + Ord + Hash + Send + Sync + 'static
{
    /// Whether there can be any.
    const IS_THERE: bool;

    /// The token of a thread; 0: it has none, or the −1 of a grant that was none.
    fn held(&self, holder: Holder) -> u8;

    /// The token of the write of a thread that is under way to the resource; 0: as above.
    fn under_way(&self, holder: Holder) -> u8;

    /// The largest that the resource has accepted; 0: none.
    fn accepted(&self) -> u8;

    /// The largest that a caller was ever told; 0: none.
    fn told(&self) -> u8;

    /// The token that was issued for a thread whose call has not ended yet; 0: as above.
    fn pending(&self, holder: Holder) -> u8;

    /// A token is issued for a thread, or its call has ended.
    fn set_pending(&mut self, holder: Holder, token: u8);

    /// A thread is told its token, or needs it no more.
    fn set_held(&mut self, holder: Holder, token: u8);

    /// A write sets out with this token, or has arrived.
    fn set_under_way(&mut self, holder: Holder, token: u8);

    /// The resource accepts this token.
    fn set_accepted(&mut self, token: u8);

    /// A caller is told this token.
    fn set_told(&mut self, token: u8);

    /// All of them, changed.
    #[must_use]
    fn changed(self, change: impl Fn(u8) -> u8) -> Self;

    /// The same where the client that is at each place was at this one before.
    #[must_use]
    fn reordered(self, order: &[u8]) -> Self;
}

/// None, ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NoTokens;

impl TokenStore for NoTokens {
    const IS_THERE: bool = false;

    fn held(&self, _: Holder) -> u8 {
        0
    }

    fn under_way(&self, _: Holder) -> u8 {
        0
    }

    fn accepted(&self) -> u8 {
        0
    }

    fn told(&self) -> u8 {
        0
    }

    fn pending(&self, _: Holder) -> u8 {
        0
    }

    fn set_pending(&mut self, _: Holder, _: u8) {}

    fn set_held(&mut self, _: Holder, _: u8) {}

    fn set_under_way(&mut self, _: Holder, _: u8) {}

    fn set_accepted(&mut self, _: u8) {}

    fn set_told(&mut self, _: u8) {}

    fn changed(self, _: impl Fn(u8) -> u8) -> Self {
        self
    }

    fn reordered(self, _: &[u8]) -> Self {
        self
    }
}

/// The tokens of one client.
type OfClient = [u8; MAX_THREADS as usize];

/// Those of every thread, and of the resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeldTokens {
    held: [OfClient; MAX_CLIENTS as usize],
    pending: [OfClient; MAX_CLIENTS as usize],
    under_way: [OfClient; MAX_CLIENTS as usize],
    accepted: u8,
    told: u8,
}

impl TokenStore for HeldTokens {
    const IS_THERE: bool = true;

    fn held(&self, holder: Holder) -> u8 {
        self.held[usize::from(holder.client())][usize::from(holder.thread())]
    }

    fn under_way(&self, holder: Holder) -> u8 {
        self.under_way[usize::from(holder.client())][usize::from(holder.thread())]
    }

    fn accepted(&self) -> u8 {
        self.accepted
    }

    fn told(&self) -> u8 {
        self.told
    }

    fn pending(&self, holder: Holder) -> u8 {
        self.pending[usize::from(holder.client())][usize::from(holder.thread())]
    }

    fn set_pending(&mut self, holder: Holder, token: u8) {
        self.pending[usize::from(holder.client())][usize::from(holder.thread())] = token;
    }

    fn set_held(&mut self, holder: Holder, token: u8) {
        self.held[usize::from(holder.client())][usize::from(holder.thread())] = token;
    }

    fn set_under_way(&mut self, holder: Holder, token: u8) {
        self.under_way[usize::from(holder.client())][usize::from(holder.thread())] = token;
    }

    fn set_accepted(&mut self, token: u8) {
        self.accepted = token;
    }

    fn set_told(&mut self, token: u8) {
        self.told = token;
    }

    fn changed(self, change: impl Fn(u8) -> u8) -> Self {
        let of_all = |tokens: [OfClient; MAX_CLIENTS as usize]| tokens.map(|of_client| of_client.map(&change));
        Self {
            held: of_all(self.held),
            pending: of_all(self.pending),
            under_way: of_all(self.under_way),
            accepted: change(self.accepted),
            told: change(self.told),
        }
    }

    fn reordered(self, order: &[u8]) -> Self {
        let mut after = self;
        for (place, &old) in order.iter().enumerate() {
            after.held[place] = self.held[usize::from(old)];
            after.pending[place] = self.pending[usize::from(old)];
            after.under_way[place] = self.under_way[usize::from(old)];
        }
        after
    }
}

impl Hash for HeldTokens {
    // In words, for the reason that `world/hash` gives.
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { held, pending, under_way, accepted, told } = *self;
        const { assert!(MAX_CLIENTS == 4 && MAX_THREADS == 2, "the tokens of all threads make up one word") };
        let word = |tokens: [OfClient; MAX_CLIENTS as usize]| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(tokens.as_flattened());
            u64::from_le_bytes(bytes)
        };
        hasher.write_u64(word(held));
        hasher.write_u64(word(pending));
        hasher.write_u64(word(under_way));
        hasher.write_u32(u32::from_le_bytes([accepted, told, 0, 0]));
    }
}
