//! The masters of a cluster beside that of the lock: the one to which its slot is moved, and a third one, to which nothing is.

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

/// The third master. It has a slot of its own, knows whose each slot is, and hears what clients publish.
pub(super) struct ThirdMaster {
    pub(super) node: ServerNode,
}

/// A slot that is being moved.
#[derive(Clone, Copy)]
pub(super) struct Moving {
    pub(super) slot: u16,
    /// The node that gives it up. A replica that takes the place of that knows nothing of the move.
    pub(super) from: usize,
}
