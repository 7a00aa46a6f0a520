//! How much room the server side has: which lock it stores, and for how many nodes and connections.

use core::fmt::Debug;
use core::hash::Hash;

use crate::locks::contract::Lock;
use crate::locks::receipts::ReceiptStore;
use crate::locks::stored::Stored;
use crate::slots::{Slots, Value};

/// The types that a [`Group`](super::group::Group) is made of.
pub trait ServerLayout: Copy + Default + Eq + Ord + Hash + Debug + Send + Sync + 'static {
    /// The kind of lock.
    type Lock: Lock;
    /// The release receipts that a node keeps beside it.
    type Receipts: ReceiptStore;
    /// One value per node.
    type Nodes<T: Value>: Slots<T>;
    /// One value per effect that may be under way to a replica; none where there are no replicas.
    type Queue<T: Value>: Slots<T>;
    /// One value per client process that is connected.
    type Connections<T: Value>: Slots<T>;
}

/// What one node stores in this layout.
pub type StoredIn<Y> = Stored<<Y as ServerLayout>::Lock, <Y as ServerLayout>::Receipts>;
