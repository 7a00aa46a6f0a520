//! A node among others: how it begins to follow a master, hands over, and is found by Sentinel.

use redis::Value;

use super::cluster::{self, SlotState};
use super::server_node::ServerNode;
use crate::replay::error::ReplayError;
use crate::replay::servers::control::{Control, ServerRole};
use crate::replay::servers::gate::Gate;
use crate::replay::servers::limits::LINK_WAIT;

/// How a master hands over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailoverCommand {
    /// `FAILOVER TO host port`: it waits until the replica has everything.
    Wait,
    /// The same with `FORCE TIMEOUT 1`: after a millisecond the replica takes over with what it has.
    Force,
}

impl ServerNode {
    /// As `follow`, with ports that the caller chooses: the node announces itself as `announced`, and connects to `asked`,
    /// which leads to its gate.
    ///
    /// # Errors
    ///
    /// As `follow`.
    pub fn follow_at(&self, gate: &Gate, announced: u16, asked: u16) -> Result<(), ReplayError> {
        let mut master = Control::new(gate.connect_master()?);
        let mut control = self.control();
        announce(&mut control, announced)?;
        let is_in_cluster = self.settings.in_cluster.is_some();
        if is_in_cluster {
            // The cluster tells it where the master is: at the same port.
            cluster::follow(&mut control, &mut master)?;
        } else {
            control.ask::<Value>("REPLICAOF", redis::cmd("REPLICAOF").arg("127.0.0.1").arg(asked))?;
        }
        gate.wait_for_commands()?;
        control.wait(LINK_WAIT, "a replica to load its copy", |control| {
            Ok(control.replication()?.get("master_link_status").is_some_and(|status| status == "up"))
        })?;
        master.wait_online(announced)?;
        if is_in_cluster {
            cluster::wait_until_followed(&mut control, &mut master)?;
        }
        gate.attach(Control::new(self.connect()?), master, announced);
        // A master sends commands only after an acknowledgement that it receives once its side of the copy is done. The
        // replica's own often comes too early, and its next one a second later.
        gate.acknowledge()
    }

    /// Two nodes that have just started learn of each other, if they are in a cluster.
    ///
    /// # Errors
    /// `Redis`; `TimedOut` if they do not meet.
    pub fn meet(&self, other: &Self) -> Result<(), ReplayError> {
        let Some(ports) = &other.home.ports else { return Ok(()) };
        cluster::meet(&mut self.control(), &mut other.control(), ports)
    }

    /// Waits until this node, which has no slot yet and has met the others, among them the first `master`, executes what clients of the cluster ask,
    /// from this time on: some seconds after it has heard of a majority.
    ///
    /// # Errors
    /// `TimedOut`; `Redis`.
    pub fn join(&self, master: &Self, start_ms: i64) -> Result<(), ReplayError> {
        if let Some(ports) = &self.home.ports {
            cluster::wait_until_slots_are_known(&mut self.control(), &mut master.control(), ports)?;
        }
        self.set_clock(start_ms)?;
        cluster::wait_until_ready(&mut self.control())
    }

    /// Waits until each node of a cluster, of this one and those beside it, has received what clients have published at the others.
    ///
    /// # Errors
    /// `TimedOut`; `Redis`.
    pub fn wait_until_all_have_heard(&self, beside: &[&Self]) -> Result<(), ReplayError> {
        let mut others: Vec<_> = beside.iter().map(|node| node.control()).collect();
        let others: Vec<&mut Control> = others.iter_mut().map(|control| &mut **control).collect();
        cluster::wait_until_all_have_heard(&mut self.control(), others)
    }

    /// Waits until this node of a cluster knows that another one has a slot.
    ///
    /// # Errors
    /// `TimedOut`; `Redis`.
    pub fn wait_until_slot_is_known(&self, slot: u16, of: &Self) -> Result<(), ReplayError> {
        let (Some(own), Some(ports)) = (&self.home.ports, &of.home.ports) else { return Ok(()) };
        cluster::wait_until_slot_is_known(&mut self.control(), own, (&mut of.control(), ports.announced()), slot)
    }

    /// The config epochs of the masters that this node knows, with its own, by the ports that they announce.
    ///
    /// # Errors
    /// `Redis`.
    #[cfg(test)]
    pub fn config_epochs(&self) -> Result<Vec<(u16, u64)>, ReplayError> {
        cluster::config_epochs(&mut self.control())
    }

    /// The port that the master of a slot announces, as this node says; `None`: it knows of none.
    ///
    /// # Errors
    /// `Redis`.
    #[cfg(test)]
    pub fn port_of_slot(&self, slot: u16) -> Result<Option<u16>, ReplayError> {
        cluster::port_of_slot(&mut self.control(), slot)
    }

    /// The slot of a key, as the node says.
    ///
    /// # Errors
    /// `Redis`.
    pub fn slot_of(&self, key: &str) -> Result<u16, ReplayError> {
        self.control().ask("CLUSTER KEYSLOT", redis::cmd("CLUSTER").arg("KEYSLOT").arg(key))
    }

    /// Tells a node of a cluster whose a slot is, or that it is being moved.
    ///
    /// # Errors
    /// `Redis`.
    pub fn set_slot(&self, slot: u16, state: SlotState, other: &Self) -> Result<(), ReplayError> {
        let name = cluster::name_of(&mut other.control())?;
        cluster::set_slot(&mut self.control(), slot, state, &name)
    }

    /// Moves the keys of a slot to another node of the cluster, at the address that this announces. Returns how many.
    ///
    /// # Errors
    /// `Redis`.
    pub fn migrate_keys(&self, slot: u16, to: &Self) -> Result<usize, ReplayError> {
        // Longer than any answer.
        const WITHIN_MS: u32 = 60_000;
        const MOST: u32 = 1_000;

        let port = to.in_cluster().ok_or_else(|| ReplayError::link("the node is in no cluster"))?.announced();
        let mut control = self.control();
        let find = redis::cmd("CLUSTER").arg("GETKEYSINSLOT").arg(slot).arg(MOST).to_owned();
        let keys: Vec<String> = control.ask("CLUSTER GETKEYSINSLOT", &find)?;
        for key in &keys {
            let migrate = redis::cmd("MIGRATE").arg("127.0.0.1").arg(port).arg(key).arg(0).arg(WITHIN_MS).to_owned();
            control.ask::<Value>("MIGRATE", &migrate)?;
        }
        Ok(keys.len())
    }

    /// Begins to hand over to a replica (`FAILOVER`), which announces this port and is reached through this gate. The gate
    /// acknowledges nothing more, until the hand-over is finished or given up; what the replica has acknowledged is not
    /// everything, or the master would hand over at once.
    ///
    /// # Errors
    /// `TimedOut` if the master does not begin; `Redis`; `Link`.
    pub fn begin_hand_over(&self, target: u16, through: &Gate) -> Result<(), ReplayError> {
        let written = self.offset()?;
        through.limit_acknowledgements(Some(written));
        // A `WAIT` for more replicas than there are asks all for their offsets, and that request counts in the master's.
        let mut asking = self.connect()?;
        asking
            .send_packed_command(&redis::cmd("WAIT").arg(9).arg(0).get_packed_command())
            .map_err(ReplayError::redis("WAIT"))?;
        let mut control = self.control();
        control.wait(LINK_WAIT, "a master to ask its replicas for their offsets", |control| {
            Ok(control.replication_offset()? > written)
        })?;
        drop(asking);
        let failover = ["TO", "127.0.0.1", &target.to_string()];
        control.ask::<Value>("FAILOVER", redis::cmd("FAILOVER").arg(&failover))?;
        control.wait(LINK_WAIT, "a master to let writes wait", |control| {
            let replication = control.replication()?;
            Ok(replication.get("master_failover_state").is_some_and(|state| state == "waiting-for-sync"))
        })
    }

    /// Gives up what `begin_hand_over` began (`FAILOVER ABORT`), as the master does at its time-out.
    ///
    /// # Errors
    /// `TimedOut`; `Redis`.
    pub fn give_up_hand_over(&self) -> Result<(), ReplayError> {
        let mut control = self.control();
        control.ask::<Value>("FAILOVER ABORT", redis::cmd("FAILOVER").arg("ABORT"))?;
        control.wait(LINK_WAIT, "a master to give up", |control| {
            let replication = control.replication()?;
            Ok(replication.get("master_failover_state").is_none_or(|state| state == "no-failover"))
        })
    }

    /// Hands over to a replica, as `begin_hand_over` has begun to, and follows it through the gate `back`. From now on this
    /// node announces the first port; the replica announces the second, and is reached `through` its gate until then. Forced,
    /// the command is given anew with a time-out that comes at once.
    ///
    /// # Errors
    ///
    /// `TimedOut` if the master does not hand over, or does not follow the new one; `Redis`; `Link`.
    pub fn finish_hand_over(
        &self,
        heir: &Self,
        (announced, target): (u16, u16),
        (through, back): (&Gate, &Gate),
        how: FailoverCommand,
    ) -> Result<(), ReplayError> {
        let mut control = self.control();
        announce(&mut control, announced)?;
        through.limit_acknowledgements(None);
        if how == FailoverCommand::Force {
            control.ask::<Value>("FAILOVER ABORT", redis::cmd("FAILOVER").arg("ABORT"))?;
            let failover = ["TO", "127.0.0.1", &target.to_string(), "FORCE", "TIMEOUT", "1"];
            control.ask::<Value>("FAILOVER", redis::cmd("FAILOVER").arg(&failover))?;
        }
        // The time-out is measured by the wall clock, which stands still: docs/facts/redis.md#failover-with-force.
        let now = self.clock().now_ms();
        if how == FailoverCommand::Force {
            self.clock().set_ms(now + 1);
        }
        control.wait(LINK_WAIT, "a master to hand over", |control| {
            let replication = control.replication()?;
            let field = |name: &str| replication.get(name).map(String::as_str);
            // The master asks its replicas for their offsets, and the gate answers for them.
            if how == FailoverCommand::Wait && field("master_failover_state") == Some("waiting-for-sync") {
                through.answer_idle();
            }
            Ok(field("role") == Some("slave") && field("master_link_status") == Some("up"))
        })?;
        if how == FailoverCommand::Force {
            self.clock().set_ms(now);
            control.wait(LINK_WAIT, "a node to see its clock", |control| Ok(control.time_ms()? == now))?;
        }
        back.wait_for_commands()?;
        let mut master = Control::new(heir.connect()?);
        master.wait(LINK_WAIT, "a replica to take over", |master| Ok(master.role()?.0 == ServerRole::Master))?;
        master.wait_online(announced)?;
        back.attach(Control::new(self.connect()?), master, announced);
        back.acknowledge()
    }

    /// Sets how early Sentinel chooses this replica (`replica-priority`): the lowest number first, 0 never.
    ///
    /// # Errors
    ///
    /// `Redis` if the node is not running.
    pub fn set_priority(&self, priority: u32) -> Result<(), ReplayError> {
        let setting = ["SET", "replica-priority", &priority.to_string()];
        self.control().ask::<Value>("CONFIG SET", redis::cmd("CONFIG").arg(&setting)).map(drop)
    }

    /// The port at which a replica looks for its master; `None` for a master. Asked on a new connection: Sentinel ends all
    /// others when it changes what a server follows.
    ///
    /// # Errors
    ///
    /// `Redis` if the node is not running, or ends this connection too.
    pub fn master_port(&self) -> Result<Option<u16>, ReplayError> {
        let mut control = Control::new(self.connect()?);
        if control.role()?.0 == ServerRole::Master {
            return Ok(None);
        }
        let port = control.replication()?.get("master_port").and_then(|port| port.parse().ok());
        port.map(Some).ok_or_else(|| ReplayError::link("a replica does not report its master_port"))
    }
}

/// Sets the port by which other servers know this node.
fn announce(control: &mut Control, port: u16) -> Result<(), ReplayError> {
    let port = port.to_string();
    [("replica-announce-ip", "127.0.0.1"), ("replica-announce-port", &port)].into_iter().try_for_each(
        |(setting, value)| {
            control.ask::<Value>("CONFIG SET", redis::cmd("CONFIG").arg(&["SET", setting, value])).map(drop)
        },
    )
}
