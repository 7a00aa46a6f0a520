//! The addresses of a group's nodes, where somebody must find them by address: a sentinel, a master that hands over, or the
//! other nodes of a cluster.

use super::address_proxy::AddressProxy;
use super::gate::Gate;
use super::node::{FailoverCommand, ServerNode};
use crate::replay::error::ReplayError;

/// One address for each node of a group, in their order.
#[derive(Debug)]
pub struct Addresses {
    proxies: Vec<AddressProxy>,
}

impl Addresses {
    /// Gives each node an address.
    ///
    /// # Errors
    /// `System` if the loopback interface has no free port, or no thread can be started.
    pub fn open<'a>(nodes: impl IntoIterator<Item = &'a ServerNode>) -> Result<Self, ReplayError> {
        let proxies = nodes.into_iter().map(AddressProxy::open_for).collect::<Result<_, _>>()?;
        Ok(Self { proxies })
    }

    /// The ports, in the order of the nodes.
    pub fn ports(&self) -> Vec<u16> {
        self.proxies.iter().map(AddressProxy::port).collect()
    }

    /// The last node and this one exchange their addresses.
    pub fn exchange_last(&mut self, node: usize) {
        let last = self.proxies.len() - 1;
        self.proxies.swap(node, last);
    }

    /// Makes a replica follow a master at its address, and still through this gate.
    ///
    /// # Errors
    /// As [`ServerNode::follow`].
    pub fn follow(&self, node: &ServerNode, replica: usize, master: usize, gate: &Gate) -> Result<(), ReplayError> {
        let (replica, master) = (&self.proxies[replica], &self.proxies[master]);
        master.lead(replica.port(), gate.port().ok_or_else(|| ReplayError::link("the gate is cut"))?);
        node.follow_at(gate, replica.port(), master.port())
    }

    /// As [`ServerNode::begin_hand_over`].
    ///
    /// # Errors
    /// As [`ServerNode::begin_hand_over`].
    pub fn begin_hand_over(&self, master: &ServerNode, of_heir: usize, through: &Gate) -> Result<(), ReplayError> {
        master.begin_hand_over(self.proxies[of_heir].port(), through)
    }

    /// Makes a master hand over to its replica (`FAILOVER`), which is reached `through` that gate. From then on the old master
    /// follows the new one through the gate `back`.
    ///
    /// # Errors
    /// As [`ServerNode::finish_hand_over`].
    pub fn finish_hand_over(
        &self,
        (master, of_master): (&ServerNode, usize),
        (heir, of_heir): (&ServerNode, usize),
        (through, back): (&Gate, &Gate),
        how: FailoverCommand,
    ) -> Result<(), ReplayError> {
        let (master_proxy, heir_proxy) = (&self.proxies[of_master], &self.proxies[of_heir]);
        heir_proxy.lead(master_proxy.port(), back.port().ok_or_else(|| ReplayError::link("the gate is cut"))?);
        master.finish_hand_over(heir, (master_proxy.port(), heir_proxy.port()), (through, back), how)
    }
}
