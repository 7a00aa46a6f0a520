//! The state of the servers: one master with its replicas, and who is connected to them.

use super::connections::Connection;
use super::disk_age::DiskAge;
use super::layout::{ServerLayout, StoredIn};
use super::link_state::LinkState;
use super::masters::Masters;
use super::queue::Queue;
use crate::config::sections::Config;
use crate::limits::MAX_REPLICAS;
use crate::locks::holder::Holder;
use crate::locks::stored::Stored;
use crate::slots::Slots;
use crate::time::Timer;

/// One master and its replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group<Y: ServerLayout> {
    /// Which node is the master, and which replicas restart as one.
    pub masters: Masters,
    /// Until the failover under way must be over; off: there is none, or there is no bound.
    pub failover_left: Timer,
    /// Every node.
    pub nodes: Y::Nodes<Node<Y>>,
    /// What the nodes keep for each client process.
    pub connections: Y::Connections<Connection>,
}

/// One Redis process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node<Y: ServerLayout> {
    /// What it is now.
    pub role: Role,
    /// What it stores. Of a dead master: what it stored, until a replica takes its place.
    pub stored: StoredIn<Y>,
    /// What its master has written and it has not applied yet.
    pub queue: Queue<Y>,
    /// What is on its disk, where that may differ from what it stores.
    pub disk: StoredIn<Y>,
    /// For how long its disk has lacked a write.
    pub disk_age: DiskAge,
    /// Its links to the other nodes.
    pub links: LinkState,
    /// Whether it stands still, and whether it has counted its replicas since.
    pub pace: Pace,
    /// Ticks of silence. Of a replica: since its last report to its master, also if its machine has died since, of which nobody
    /// is told. Of a master that was replaced: since it last had enough replicas. Counted as far as a rule reads it.
    pub silent_ticks: u8,
    /// Ticks since it died, or since it was told to end or to hand over. Counted as far as a rule reads it.
    pub down_ticks: u8,
    /// Ticks by which its clock is ahead of the clocks that never jumped; negative: behind.
    pub ahead: i8,
}

/// What a node is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Role {
    /// The scenario has no such node.
    Absent,
    /// It accepts writes.
    Master,
    /// It follows the master.
    Replica,
    /// It runs, but does not follow the new master yet.
    Unsynced,
    /// It still follows a master that was replaced (docs/facts/redis.md#who-follows-whom-after-a-promotion). With at most two replicas there
    /// is one such master: the node that is neither this one nor the acting master.
    OldReplica,
    /// It is to follow a master that was replaced, and does not reach it, or that one is dead.
    OldUnsynced,
    /// A master that was told to end: it serves nobody, and waits until its replicas have everything.
    Stopping,
    /// It is dead.
    Down,
    /// It is dead, and will follow the acting master after a restart. Distinguished only where a node may restart.
    DownReplica,
    /// It is dead, and its file names a master that was replaced since: it will follow that one after a restart.
    DownOldReplica,
    /// It is a master, and refuses every write for now: its last save failed.
    Refusing,
    /// It is a master, and lets every write wait: it was told to hand over, and its heir has not everything yet.
    HandingOver,
    /// It is a master, and the slot of the lock is being moved to another one. Its keys are still here, where it has some.
    MovingSlot,
    /// The same, and its keys are at the other one, where new ones are made as well. What this node stores here is there.
    KeysMoved,
}

/// What a node dies of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Death {
    /// Its process ends, and the machine closes its connections: whoever reaches it is told at once.
    OfProcess,
    /// Its machine dies, and sends nothing more: nobody is told.
    OfMachine,
}

/// Whether a node stands still, and by which count of its replicas a master goes that did
/// (docs/facts/redis.md#a-server-that-stands-still).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Pace {
    /// It runs, and what it knows of its replicas is new.
    Runs,
    /// It stands still. By its last count it has too few replicas, or it counts none.
    Still,
    /// It stands still. By its last count it has enough replicas.
    StillWithEnough,
    /// It runs again and has not counted anew: too few, by its last count.
    Uncounted,
    /// It runs again and has not counted anew: enough, by its last count.
    UncountedWithEnough,
}

impl Pace {
    /// Whether the last count is enough, where that is older than the pause; `None`: the count is new.
    pub const fn last_count(self) -> Option<bool> {
        match self {
            Self::Runs => None,
            Self::Still | Self::Uncounted => Some(false),
            Self::StillWithEnough | Self::UncountedWithEnough => Some(true),
        }
    }
}

impl<Y: ServerLayout> Node<Y> {
    /// A node that the scenario does not have.
    pub fn absent() -> Self {
        Self {
            role: Role::Absent,
            stored: Stored::default(),
            queue: Queue::empty(),
            disk: Stored::default(),
            disk_age: DiskAge::default(),
            links: LinkState::CONNECTED,
            pace: Pace::Runs,
            silent_ticks: 0,
            down_ticks: 0,
            ahead: 0,
        }
    }

    /// Whether it is cut off from the other nodes, and from the authority that decides on failovers. Clients still reach
    /// it.
    pub const fn is_cut(&self) -> bool {
        self.links.is_cut()
    }

    /// Whether its process stands still: it executes, applies and answers nothing.
    pub const fn is_paused(&self) -> bool {
        matches!(self.pace, Pace::Still | Pace::StillWithEnough)
    }

    /// Whether it stood still, and goes by a count of its replicas that is older.
    pub const fn is_uncounted(&self) -> bool {
        matches!(self.pace, Pace::Uncounted | Pace::UncountedWithEnough)
    }

    /// Whether the other nodes, and the authority that decides on failovers, do not reach it: it is cut off, or stands
    /// still.
    pub const fn is_away(&self) -> bool {
        self.is_cut() || self.is_paused()
    }

    /// Whether it runs, and answers what writes nothing.
    pub const fn answers(&self) -> bool {
        self.is_up() && !self.is_paused()
    }

    /// Whether it executes what it is asked.
    pub const fn is_working(&self) -> bool {
        self.answers() && !self.hands_over()
    }

    /// Whether it takes itself for a master, also while it refuses writes or lets them wait.
    pub const fn is_master(&self) -> bool {
        matches!(self.role, Role::Master | Role::Refusing | Role::HandingOver) || self.moves_slot()
    }

    /// Whether it is a master that lets every write wait, because it hands over.
    pub const fn hands_over(&self) -> bool {
        matches!(self.role, Role::HandingOver)
    }

    /// Whether it is a master whose slot is being moved to another one.
    pub const fn moves_slot(&self) -> bool {
        matches!(self.role, Role::MovingSlot | Role::KeysMoved)
    }

    /// Whether it is a master that refuses every write for now.
    pub const fn refuses_writes(&self) -> bool {
        matches!(self.role, Role::Refusing)
    }

    /// Whether it is a replica, of whichever master.
    pub const fn is_replica(&self) -> bool {
        matches!(self.role, Role::Replica | Role::Unsynced) || self.is_old_replica()
    }

    /// Whether it was not told of the acting master yet, and belongs to the one before it.
    pub const fn is_old_replica(&self) -> bool {
        matches!(self.role, Role::OldReplica | Role::OldUnsynced)
    }

    /// Whether it belongs to the acting master, whether it follows it already or not.
    pub const fn is_own_replica(&self) -> bool {
        self.is_replica() && !self.is_old_replica()
    }

    /// Whether its process runs and serves.
    pub const fn is_up(&self) -> bool {
        self.is_master() || self.is_replica()
    }

    /// Whether it was told to end, and has not ended yet.
    pub fn is_stopping(&self) -> bool {
        self.role == Role::Stopping
    }

    /// Whether its process is dead.
    pub const fn is_dead(&self) -> bool {
        matches!(self.role, Role::Down | Role::DownReplica | Role::DownOldReplica)
    }

    /// Whether a failover may promote it.
    pub const fn is_candidate(&self) -> bool {
        self.is_replica() && !self.is_away()
    }
}

impl<Y: ServerLayout> Group<Y> {
    /// The first moment: the first node is the master, nothing is stored, nobody is connected. `is_there`: whether the scenario has it.
    pub fn initial(config: &Config, is_there: bool) -> Self {
        let nodes = Y::Nodes::from_fn(|node| {
            let role = match node {
                _ if !is_there => Role::Absent,
                0 => Role::Master,
                _ if node < usize::from(config.nodes()) => Role::Replica,
                _ => Role::Absent,
            };
            Node { role, ..Node::absent() }
        });
        let connections = Y::Connections::from_fn(|_| Connection::NONE);
        Self { masters: Masters::FIRST, failover_left: Timer::OFF, nodes, connections }
    }

    /// The acting master, or the last one if that is down.
    pub const fn master(&self) -> u8 {
        self.masters.acting()
    }

    /// A node.
    pub fn node(&self, node: u8) -> &Node<Y> {
        &self.nodes.as_ref()[usize::from(node)]
    }

    /// A node.
    pub fn node_mut(&mut self, node: u8) -> &mut Node<Y> {
        &mut self.nodes.as_mut()[usize::from(node)]
    }

    /// Every node with its number.
    pub fn numbered(&self) -> impl Iterator<Item = (u8, &Node<Y>)> {
        (0u8..).zip(self.nodes.as_ref())
    }

    /// The acting master; `None` while there is none.
    pub fn acting_master(&self) -> Option<&Node<Y>> {
        Some(self.node(self.master())).filter(|node| node.is_master())
    }

    /// Whether a node follows this master, and what passes between them arrives: both are on one side of a partition.
    pub fn follows(&self, node: u8, master: u8) -> bool {
        const { assert!(MAX_REPLICAS == 2, "of three nodes one at most is a master that was replaced, and is followed") };
        let role = if master == self.master() { Role::Replica } else { Role::OldReplica };
        let follower = self.node(node);
        node != master && follower.role == role && follower.is_cut() == self.node(master).is_cut()
    }

    /// The master that a node follows, whether it reaches it or not.
    pub fn master_of(&self, node: u8) -> Option<u8> {
        match self.node(node).role {
            Role::Replica => Some(self.master()),
            Role::OldReplica => self.old_master_of(node),
            Role::Absent
            | Role::Master
            | Role::Refusing
            | Role::HandingOver
            | Role::MovingSlot
            | Role::KeysMoved
            | Role::Stopping
            | Role::Unsynced
            | Role::OldUnsynced
            | Role::Down
            | Role::DownReplica
            | Role::DownOldReplica => None,
        }
    }

    /// Of a node that was not told of the acting master: the master that it belongs to.
    pub(crate) fn old_master_of(&self, node: u8) -> Option<u8> {
        let is_old = |index: u8, other: &Node<Y>| index != node && index != self.master() && other.is_master();
        self.numbered().find(|(index, other)| is_old(*index, other)).map(|(index, _)| index)
    }

    /// What the nodes keep for a client process.
    pub fn connection(&self, client: u8) -> &Connection {
        &self.connections.as_ref()[usize::from(client)]
    }

    /// What the nodes keep for a client process.
    pub(crate) fn connection_mut(&mut self, client: u8) -> &mut Connection {
        &mut self.connections.as_mut()[usize::from(client)]
    }

    /// The node at which this holder's `WAIT` is open.
    pub fn waits_at(&self, holder: Holder) -> Option<u8> {
        self.connection(holder.client()).waits_at(holder.thread())
    }

    /// The replicas that a master considers connected: what `INFO` counts, and whom `WAIT` asks.
    pub fn connected_replicas(&self, master: u8) -> impl Iterator<Item = u8> {
        let links = self.node(master).links;
        let is_connected = move |(index, _): &(u8, &Node<Y>)| {
            *index != master && (self.follows(*index, master) || links.is_half_open_to(*index))
        };
        self.numbered().filter(is_connected).map(|(index, _)| index)
    }

    /// The same with the nodes in this order, each a number that a node had before.
    #[must_use]
    pub(crate) fn with_nodes_in(&self, order: &[u8]) -> Self {
        let mut group = *self;
        group.masters = self.masters.renamed(|node| new_number(order, node));
        for (node, &old) in group.nodes.as_mut().iter_mut().zip(order) {
            *node = *self.node(old);
            node.links = node.links.renamed(|node| new_number(order, node));
        }
        for connection in group.connections.as_mut() {
            *connection = connection.renamed(|node| new_number(order, node));
        }
        group
    }

    /// How many replicas a master considers connected.
    pub fn count_connected(&self, master: u8) -> u8 {
        u8::try_from(self.connected_replicas(master).count()).unwrap_or(u8::MAX)
    }
}

/// The number of a node after all were put in this order.
pub(crate) fn new_number(order: &[u8], old: u8) -> u8 {
    order.iter().position(|&number| number == old).and_then(|place| u8::try_from(place).ok()).unwrap_or(old)
}
