//! The second master of a cluster, to which the slot of the lock is moved.

use crate::replay::servers::address_proxy::AddressProxy;
use crate::replay::servers::connection::ServerConnection;
use crate::replay::servers::node::ServerNode;

/// The master to which the slot moves, or moved.
pub(super) struct OtherMaster {
    pub(super) node: ServerNode,
    pub(super) connection: ServerConnection,
    /// Where `MIGRATE` finds it. Where replicas have addresses, this one has one of those instead.
    pub(super) address: Option<AddressProxy>,
    /// What is being moved to it.
    pub(super) moving: Option<Moving>,
}

/// A slot that is being moved.
#[derive(Clone, Copy)]
pub(super) struct Moving {
    pub(super) slot: u16,
    /// The node that gives it up. A replica that takes the place of that knows nothing of the move.
    pub(super) from: usize,
}
