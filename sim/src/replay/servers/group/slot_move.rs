//! An operator moves the slot of the lock to another master of the cluster, which has another slot before. A third master stands by, as in a
//! cluster that somebody runs: fewer than three never agree on a failover.
//!
//! The history has one node for both. Until the move is over that is the old master, and the new one is a server beside it. Then they change
//! places. A request that the old master answers with `ASK` is sent to the new one, as a client of a cluster does.

use std::path::Path;

use redis::{Cmd, ConnectionLike as _, Value};

use super::members::{START_MS, ServerGroup};
use super::other_master::{Moving, OtherMaster, ThirdMaster};
use crate::replay::error::ReplayError;
use crate::replay::servers::address_proxy::AddressProxy;
use crate::replay::servers::node::{ClusterPlace, ClusterPorts, NodeSettings, ServerNode, SlotState};

/// The slot that the other master has before: clients know no master without one.
const OTHER_SLOT: u16 = 0;
/// And the third one.
const THIRD_SLOT: u16 = 1;

impl ServerGroup {
    /// Starts the masters beside that of the lock, where the scenario has a slot moved.
    pub(super) fn start_other_masters(&mut self, settings: NodeSettings) -> Result<(), ReplayError> {
        (self.other_master, self.third_master) = (None, None);
        if self.config.faults.move_slot == 0 {
            return Ok(());
        }
        let start = |place| {
            let settings = NodeSettings { in_cluster: Some(place), ..settings };
            ServerNode::start_with(&self.server, START_MS, settings)
        };
        let node = start(ClusterPlace::OtherMaster)?;
        let connection = self.connect(&node)?;
        self.third_master = Some(ThirdMaster { node: start(ClusterPlace::ThirdMaster)? });
        self.other_master = Some(OtherMaster { node, connection, address: None, moving: None });
        Ok(())
    }

    /// The node of the other master, if there is one.
    pub(super) fn other_node(&self) -> Option<&ServerNode> {
        self.other_master.as_ref().map(|other| &other.node)
    }

    /// The masters beside that of the lock, each with its name; none: no slot is moved.
    pub(super) fn named_other_masters(&self) -> impl Iterator<Item = (String, &ServerNode)> {
        let third = self.third_master.as_ref().map(|third| ("the third master".to_owned(), &third.node));
        self.other_node().map(|node| ("the other master".to_owned(), node)).into_iter().chain(third)
    }

    /// Where clients reach the masters beside that of the lock, and the port that each announces to them; none: there are none.
    pub fn ways_to_other_masters(&self) -> impl Iterator<Item = (&Path, u16)> {
        self.named_other_masters()
            .filter_map(|(_, node)| Some((node.socket(), node.in_cluster().map(ClusterPorts::announced)?)))
    }

    /// The nodes of the cluster are there, and learn of the masters beside that of the lock, and of their slots.
    pub(super) fn meet_other_masters(&mut self) -> Result<(), ReplayError> {
        let (Some(other), Some(third)) = (&self.other_master, &self.third_master) else { return Ok(()) };
        let first = &self.members[0].node;
        for (slot, node) in [(OTHER_SLOT, &other.node), (THIRD_SLOT, &third.node)] {
            self.members.iter().try_for_each(|member| member.node.meet(node))?;
            node.join(first, START_MS)?;
            // One that imports it tells all others at once.
            node.set_slot(slot, SlotState::Importing, first)?;
            [node, first].into_iter().try_for_each(|told| told.set_slot(slot, SlotState::Owned, node))?;
        }
        third.node.meet(&other.node)?;
        third.node.set_slot(OTHER_SLOT, SlotState::Owned, &other.node)?;
        other.node.set_slot(THIRD_SLOT, SlotState::Owned, &third.node)?;
        let address = if self.addresses.is_some() { None } else { Some(AddressProxy::open_for(&other.node)?) };
        if let Some(other) = &mut self.other_master {
            other.address = address;
        }
        Ok(())
    }

    /// Whether what a node stores may be at the other master.
    pub fn has_keys_elsewhere(&self, node: usize) -> bool {
        self.other_master.as_ref().and_then(|other| other.moving).is_some_and(|moving| moving.from == node)
    }

    /// Whether messages reach those who are subscribed on a node through the cluster, and so a moment later.
    pub fn has_other_master(&self) -> bool {
        self.other_master.is_some()
    }

    /// The replicas know which slots the masters beside that of the lock have: one that is promoted would take all that it believes to be its
    /// master's, and a master that loses its only slot becomes a replica.
    pub(super) fn tell_replicas_of_slots(&self) -> Result<(), ReplayError> {
        let (Some(other), Some(third)) = (&self.other_master, &self.third_master) else { return Ok(()) };
        for member in &self.members[1..] {
            member.node.wait_until_slot_is_known(OTHER_SLOT, &other.node)?;
            member.node.wait_until_slot_is_known(THIRD_SLOT, &third.node)?;
        }
        Ok(())
    }

    /// Waits until each of the masters, which have no replicas, has heard what was published at the others.
    ///
    /// # Errors
    /// `Redis`; `TimedOut`.
    pub fn settle_messages(&self) -> Result<(), ReplayError> {
        let others: Vec<_> = self.named_other_masters().map(|(_, node)| node).collect();
        if others.is_empty() { Ok(()) } else { self.members[0].node.wait_until_all_have_heard(&others) }
    }

    /// Begins to move the slot of the lock with this name. Returns what was done, in words.
    ///
    /// # Errors
    /// `Redis`.
    pub fn move_slot(&mut self, node: usize, lock: &str) -> Result<String, ReplayError> {
        self.is_worn = true;
        let old = &self.members[node].node;
        let slot = old.slot_of(lock)?;
        if slot == OTHER_SLOT || slot == THIRD_SLOT {
            return Err(ReplayError::link(format!("{lock} is in a slot that is not moved")));
        }
        let other = self.other_master.as_mut().ok_or_else(no_other_master)?;
        other.node.set_slot(slot, SlotState::Importing, old)?;
        old.set_slot(slot, SlotState::Migrating, &other.node)?;
        other.moving = Some(Moving { slot, from: node });
        Ok(format!("CLUSTER SETSLOT {slot} IMPORTING, MIGRATING"))
    }

    /// Moves the keys of the slot. Returns what was done, in words.
    ///
    /// # Errors
    /// `Redis`; as [`mark_now`](Self::mark_now).
    pub fn move_keys(&mut self, node: usize) -> Result<String, ReplayError> {
        let other = self.other_master.as_ref().ok_or_else(no_other_master)?;
        let old = &self.members[node].node;
        old.delete_expired()?;
        let moved = old.migrate_keys(other.moving.ok_or_else(no_other_master)?.slot, &other.node)?;
        if moved > 0 {
            self.mark_now()?;
        }
        Ok(format!("keys moved by MIGRATE: {moved}"))
    }

    /// Ends the move: the other master takes the place of this one, and its replica follows it. Returns what was done, in words.
    ///
    /// # Errors
    /// `Redis`; `TimedOut` if the replica does not follow.
    pub fn finish_move(&mut self, node: usize) -> Result<String, ReplayError> {
        let moved = self.move_keys(node)?;
        let other = self.other_master.as_mut().ok_or_else(no_other_master)?;
        let Moving { slot, .. } = other.moving.take().ok_or_else(no_other_master)?;
        let member = &mut self.members[node];
        // The new master first, so that each request has somebody who answers it.
        other.node.set_slot(slot, SlotState::Owned, &other.node)?;
        member.node.set_slot(slot, SlotState::Owned, &other.node)?;
        std::mem::swap(&mut member.node, &mut other.node);
        std::mem::swap(&mut member.connection, &mut other.connection);
        if let Some(addresses) = &mut self.addresses {
            addresses.exchange_last(node);
        }
        for replica in (0..self.members.len()).filter(|other| *other != node) {
            if !self.is_dead(replica) {
                self.follow_master(replica)?;
            }
        }
        Ok(format!("{moved}; CLUSTER SETSLOT {slot} NODE"))
    }

    /// Both masters of a slot that is being moved delete the keys that have expired, as in production ten times a second.
    pub(super) fn delete_expired_of_slot(&self, node: usize) -> Result<(), ReplayError> {
        self.members[node].node.delete_expired()?;
        self.other_master.as_ref().map_or(Ok(()), |other| other.node.delete_expired())
    }

    /// Moves the clock of the other master, as that of the master.
    pub(super) fn advance_other_master(&self, by_ms: i64) -> Result<(), ReplayError> {
        self.other_node().map_or(Ok(()), |node| node.advance_clock(by_ms))
    }

    /// Moves the clocks of all masters beside that of the lock.
    pub(super) fn advance_other_masters(&self, by_ms: i64) -> Result<(), ReplayError> {
        self.named_other_masters().try_for_each(|(_, node)| node.advance_clock(by_ms))
    }

    /// Sends a command to a node, and, if this answers `ASK`, to the other master. Returns the answer, and whether the other one gave it.
    ///
    /// # Errors
    /// `Redis`, which says what was `asked`.
    pub fn ask_and_follow(
        &mut self,
        node: usize,
        command: &Cmd,
        asked: &'static str,
    ) -> Result<(Value, bool), ReplayError> {
        let answer = self.members[node].connection.req_command(command).map_err(ReplayError::redis(asked))?;
        let must_ask = matches!(&answer, Value::ServerError(error) if error.code() == "ASK");
        if must_ask && self.has_keys_elsewhere(node) {
            return Ok((self.ask_other_master(command)?, true));
        }
        Ok((answer, false))
    }

    /// Sends a command to the other master, as a client does after `ASK`.
    ///
    /// # Errors
    /// `Redis`.
    pub fn ask_other_master(&mut self, command: &Cmd) -> Result<Value, ReplayError> {
        let other = self.other_master.as_mut().ok_or_else(no_other_master)?;
        other.connection.req_command(&redis::cmd("ASKING")).map_err(ReplayError::redis("ASKING"))?;
        other.connection.req_command(command).map_err(ReplayError::redis("a request of the other master"))
    }
}

fn no_other_master() -> ReplayError {
    ReplayError::link("no slot is moved here")
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::thread;
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal, kill_process};

    use super::*;
    use crate::replay::servers::limits::LINK_WAIT;
    use crate::replay::servers::server::ServerProgram;
    use crate::scenario::builtin;

    const LOCK: &str = "lock";

    /// Servers of a scenario in which a slot is moved, and nothing else happens.
    fn start(program: &ServerProgram) -> ServerGroup {
        let scenario = builtin().into_iter().find(|scenario| scenario.config.faults.move_slot > 0).expect("a scenario");
        let mut config = scenario.config;
        config.cluster.replicas = 0;
        let started = ServerGroup::start((program, false), (&config, 0), Vec::new(), None);
        started.unwrap_or_else(|error| panic!("{program}: {error}"))
    }

    fn ask(group: &mut ServerGroup, words: &[&str]) -> (Value, bool) {
        group.ask_and_follow(0, redis::cmd(words[0]).arg(&words[1..]), "a command").expect("it answers")
    }

    #[test]
    fn a_request_that_is_answered_ask_is_sent_to_the_other_master() {
        for program in ServerProgram::all_of_tests() {
            let mut group = start(&program);
            assert_eq!(ask(&mut group, &["SET", LOCK, "A"]), (Value::Okay, false));
            group.move_slot(0, LOCK).unwrap();
            assert_eq!(ask(&mut group, &["STRLEN", LOCK]), (Value::Int(1), false), "{program}: it is here still");
            group.move_keys(0).unwrap();
            assert_eq!(ask(&mut group, &["STRLEN", LOCK]), (Value::Int(1), true), "{program}");
            group.finish_move(0).unwrap();
            assert_eq!(ask(&mut group, &["STRLEN", LOCK]), (Value::Int(1), false), "{program}: it has changed places");
        }
    }

    #[test]
    fn another_master_that_somebody_else_kills_is_named() {
        let group = start(&ServerProgram::all_of_tests()[0]);
        assert_eq!(group.unasked_end(), None);
        let pid = group.other_node().expect("it is there").pid();
        kill_process(Pid::from_raw(pid.cast_signed()).expect("it is not 0"), Signal::KILL).expect("it is there");
        let begin = Instant::now();
        while group.unasked_end().is_none() && begin.elapsed() < LINK_WAIT {
            thread::sleep(Duration::from_millis(1));
        }
        let (name, ended, _) = group.unasked_end().expect("it has ended");
        assert_eq!((name.as_str(), ended), ("the other master", pid));
    }

    /// Each says the same of the three slots, before a move and after it.
    #[test]
    fn three_masters_agree_on_whose_each_slot_is() {
        for program in ServerProgram::all_of_tests() {
            let mut group = start(&program);
            let first = group.members[0].node.in_cluster().expect("it is in one").announced();
            let ways: Vec<_> = group.ways_to_other_masters().map(|(_, port)| port).collect();
            let [other, third] = ways[..] else { panic!("{program}: {ways:?}") };
            assert_slots(&group, [first, other, third], &program);
            let epochs = BTreeMap::from_iter(group.members[0].node.config_epochs().unwrap());
            let different: BTreeSet<_> = epochs.values().collect();
            assert_eq!((epochs.len(), different.len()), (3, 3), "{program}: {epochs:?}");
            assert!(epochs[&first] < epochs[&other].min(epochs[&third]), "{program}: {epochs:?}");
            assert_eq!(ask(&mut group, &["SET", LOCK, "A"]), (Value::Okay, false));
            group.move_slot(0, LOCK).unwrap();
            group.finish_move(0).unwrap();
            // The word of the new master counts for more than that of any other: nobody takes the slot from it, and its keys with it.
            let epochs = BTreeMap::from_iter(group.members[0].node.config_epochs().unwrap());
            assert!(
                epochs.iter().all(|(port, epoch)| *port == other || *epoch < epochs[&other]),
                "{program}: {epochs:?}"
            );
            assert_slots(&group, [other, other, third], &program);
            assert_eq!(ask(&mut group, &["STRLEN", LOCK]), (Value::Int(1), false), "{program}");
        }
    }

    /// The ports of the masters that have the slot of the lock, and those of the two that are not moved.
    fn assert_slots(group: &ServerGroup, wanted: [u16; 3], program: &ServerProgram) {
        let slot = group.members[0].node.slot_of(LOCK).unwrap();
        let masters =
            [("the master".to_owned(), &group.members[0].node)].into_iter().chain(group.named_other_masters());
        for (name, node) in masters {
            let begin = Instant::now();
            loop {
                let told = [slot, OTHER_SLOT, THIRD_SLOT].map(|slot| node.port_of_slot(slot).unwrap());
                if told == wanted.map(Some) {
                    break;
                }
                assert!(begin.elapsed() < LINK_WAIT, "{program}: {name} says {told:?}, and not {wanted:?}");
                thread::sleep(Duration::from_millis(5));
            }
        }
    }
}
