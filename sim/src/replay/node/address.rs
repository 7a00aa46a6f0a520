//! A node among others: by which address they know it, and what becomes of its connections when Sentinel steps in.

use redis::Value;

use super::{Control, LINK_WAIT, Node, Role, connect};
use crate::replay::{Error, Gate};

impl Node {
    /// As `follow`, by addresses of others' choice: the node announces itself by the one port, and finds its gate, or
    /// whoever leads there, at the other.
    ///
    /// # Errors
    ///
    /// As `follow`.
    pub fn follow_at(&self, gate: &Gate, announced: u16, asked: u16) -> Result<(), Error> {
        let mut master = Control::new(connect(gate.master_socket()).map_err(Error::redis("a new connection"))?);
        let mut control = self.control();
        Self::announce(&mut control, announced)?;
        control.ask::<Value>("REPLICAOF", redis::cmd("REPLICAOF").arg("127.0.0.1").arg(asked))?;
        gate.wait_for_commands()?;
        control.wait(LINK_WAIT, "a replica to load its copy", |control| {
            Ok(control.replication()?.get("master_link_status").is_some_and(|status| status == "up"))
        })?;
        master.wait(LINK_WAIT, "a master to see its replica online", |master| {
            Ok(master.replica_field(announced, "state")?.is_some_and(|state| state == "online"))
        })?;
        gate.attach(Control::new(self.connect()?), master, announced);
        // A master sends commands from the first acknowledgement on that it hears once its side of the
        // copy is done; the replica's own often comes too early, and the next a second later.
        gate.acknowledge()
    }

    /// Hands over to a replica that has everything (`FAILOVER`), by the port that this node announces from now on and the one
    /// that the replica does, and follows it by the gate `back`. What the replica hears comes `through` its gate.
    ///
    /// # Errors
    ///
    /// `TimedOut` if the master waits for its replica in vain, or does not follow it; `Redis`; `Link`.
    pub fn hand_over(
        &self,
        heir: &Self,
        (announced, target): (u16, u16),
        through: &Gate,
        back: &Gate,
    ) -> Result<(), Error> {
        let mut control = self.control();
        Self::announce(&mut control, announced)?;
        through.acknowledge()?;
        let failover = redis::cmd("FAILOVER").arg(&["TO", "127.0.0.1", &target.to_string()]).to_owned();
        control.ask::<Value>("FAILOVER", &failover)?;
        control.wait(LINK_WAIT, "a master to hand over", |control| {
            let replication = control.replication()?;
            let field = |name: &str| replication.get(name).map(String::as_str);
            // It asks its replicas how far they are, and the gate answers for them.
            if field("master_failover_state") == Some("waiting-for-sync") {
                through.acknowledge()?;
            }
            Ok(field("role") == Some("slave") && field("master_link_status") == Some("up"))
        })?;
        back.wait_for_commands()?;
        let mut master = Control::new(heir.connect()?);
        master.wait(LINK_WAIT, "a replica to take over", |master| Ok(master.role()?.0 == Role::Master))?;
        master.wait(LINK_WAIT, "a master to see its replica online", |master| {
            Ok(master.replica_field(announced, "state")?.is_some_and(|state| state == "online"))
        })?;
        back.attach(Control::new(self.connect()?), master, announced);
        back.acknowledge()
    }

    /// Says by which port the others know this node.
    fn announce(control: &mut Control, port: u16) -> Result<(), Error> {
        let port = port.to_string();
        [("replica-announce-ip", "127.0.0.1"), ("replica-announce-port", &port)].into_iter().try_for_each(
            |(setting, value)| {
                control.ask::<Value>("CONFIG SET", redis::cmd("CONFIG").arg(&["SET", setting, value])).map(drop)
            },
        )
    }

    /// Says how early Sentinel shall choose this replica (`replica-priority`): the lowest first, 0 never.
    ///
    /// # Errors
    ///
    /// `Redis` if the node is not running.
    pub fn set_priority(&self, priority: u32) -> Result<(), Error> {
        let setting = ["SET", "replica-priority", &priority.to_string()];
        self.control().ask::<Value>("CONFIG SET", redis::cmd("CONFIG").arg(&setting)).map(drop)
    }

    /// Where the node believes its master to be, if it is a replica. It is asked on a connection of its own: Sentinel ends all
    /// others when it makes a server follow another, or nobody.
    ///
    /// # Errors
    ///
    /// `Redis` if the node is not running, or ends this very connection.
    pub fn master_port(&self) -> Result<Option<u16>, Error> {
        let mut control = Control::new(self.connect()?);
        if control.role()?.0 == Role::Master {
            return Ok(None);
        }
        let port = control.replication()?.get("master_port").and_then(|port| port.parse().ok());
        port.map(Some).ok_or_else(|| Error::link("a replica does not tell its master_port"))
    }

    /// Steers the node by a new connection: the old one was ended by Sentinel (`CLIENT KILL TYPE normal`).
    ///
    /// # Errors
    ///
    /// `Redis` if the node is not running.
    pub fn reconnect(&self) -> Result<(), Error> {
        let connection = self.connect()?;
        *self.control() = Control::new(connection);
        Ok(())
    }
}
