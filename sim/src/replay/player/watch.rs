//! A history under real sentinels: where it kills the master we kill it, and where it promotes we wait until they have.

use std::sync::atomic::AtomicBool;

use lockstep_model::config::Config;
use lockstep_model::trace::{State, Trace};
use lockstep_redis::Scripts;

use super::{Error, Place, Player, Role, Server};
use crate::replay::sentinel::{self, Addresses, Failover, Sentinels};
use crate::replay::{Gate, Node};

/// What a replay under sentinels has beside its nodes.
pub(super) struct Watch {
    stop: &'static AtomicBool,
    sentinels: Option<Sentinels>,
    failovers: Vec<Failover>,
}

impl Player {
    /// As [`Player::start`], but three real sentinels decide who takes the place of a dead master. What `stop` says is
    /// looked at whenever they are waited for.
    ///
    /// # Errors
    /// As `start`; `NotForSentinel`.
    pub fn start_under_sentinel(
        server: &Server,
        config: &Config,
        scripts: Scripts,
        stop: &'static AtomicBool,
    ) -> Result<Self, Error> {
        sentinel::refuse_world(config)?;
        let watch = Watch { stop, sentinels: None, failovers: Vec::new() };
        Self::start_watched(server, config, scripts, Some(watch))
    }

    /// Gives new nodes their addresses, where somebody is to find them: a sentinel, or a master that hands over.
    pub(super) fn open_addresses(&mut self) -> Result<(), Error> {
        if let Some(watch) = &mut self.watch {
            watch.sentinels = None;
        } else if self.config.faults.hand_over == 0 {
            return Ok(());
        }
        self.addresses = Some(Addresses::open(self.members.iter().map(|member| &member.node))?);
        Ok(())
    }

    /// Leads a replica to its master: by the gate's address, or by the master's if there are such.
    pub(super) fn lead(&self, replica: usize, gate: &Gate) -> Result<(), Error> {
        let node = &self.members[replica].node;
        match &self.addresses {
            Some(addresses) => addresses.follow(node, replica, self.master, gate),
            None => node.follow(gate),
        }
    }

    /// Starts the sentinels of a history.
    pub(super) fn begin_watch(&mut self, trace: &Trace) -> Result<(), Error> {
        let Some(watch) = &mut self.watch else { return Ok(()) };
        sentinel::refuse_trace(trace)?;
        watch.failovers.clear();
        for (member, priority) in self.members.iter().zip(sentinel::priorities(trace)) {
            member.node.set_priority(priority)?;
        }
        if let Some(addresses) = &self.addresses {
            watch.sentinels = Some(Sentinels::start(&self.server, addresses, self.master, watch.stop)?);
        }
        self.is_worn = true;
        Ok(())
    }

    /// Ends them, and says what they did: if it was more than the history says, a difference or an error comes of that.
    pub(super) fn end_watch(&mut self, played: Result<usize, Error>) -> Result<(usize, Vec<Failover>), Error> {
        let sentinels = self.watch.as_mut().and_then(|watch| watch.sentinels.take());
        let is_unexplained = match &played {
            Ok(_) => self.told.difference.is_some(),
            Err(Error::SentinelChose { .. } | Error::NoFailover { .. } | Error::Stopped) => false,
            Err(_) => true,
        };
        if is_unexplained && sentinels.is_some_and(|sentinels| sentinels.are_ahead()) {
            return Err(Error::SentinelIsAhead);
        }
        let failovers = self.watch.as_mut().map(|watch| std::mem::take(&mut watch.failovers));
        Ok((played?, failovers.unwrap_or_default()))
    }

    /// Says that this node is killed now.
    pub(super) fn note_death(&mut self, node: usize) -> Result<(), Error> {
        let sentinels = self.watch.as_mut().and_then(|watch| watch.sentinels.as_mut());
        sentinels.filter(|_| node == self.master).map_or(Ok(()), |sentinels| sentinels.note_death(node))
    }

    /// Makes a replica master, or waits until the sentinels have. Answers how that is told.
    pub(super) fn make_master(&mut self, node: usize, step: usize) -> Result<String, Error> {
        let Some(watch) = &mut self.watch else {
            self.members[node].node.promote()?;
            return Ok("REPLICAOF NO ONE → OK".to_owned());
        };
        let sentinels = watch.sentinels.as_mut().ok_or_else(|| Error::link("no sentinel watches"))?;
        let running: Vec<(usize, &Node)> = self
            .members
            .iter()
            .enumerate()
            .filter(|(_, member)| member.role != Role::Dead)
            .map(|(index, member)| (index, &member.node))
            .collect();
        let failover = sentinels.wait_for_failover(&running, node, step)?;
        let told =
            format!("Sentinel has promoted it, {} ms after the death of {}", failover.took.as_millis(), failover.died);
        watch.failovers.push(failover);
        for index in 0..self.members.len() {
            if self.members[index].role != Role::Dead {
                self.members[index].node.reconnect()?;
                self.members[index].connection = self.connect(&self.members[index].node)?;
            }
        }
        Ok(told)
    }

    /// A client learns of the master; under sentinels by asking one.
    pub(super) fn discover(&mut self, at: Place, client: u8, after: &State) -> Result<(), Error> {
        let client = usize::from(client);
        let Some(sentinels) = self.watch.as_ref().and_then(|watch| watch.sentinels.as_ref()) else { return Ok(()) };
        let (asked, named) = sentinels.ask_for_master(client)?;
        self.told.note(|| format!("{asked}: SENTINEL GET-MASTER-ADDR-BY-NAME → {named}"));
        let master = after.clients.get(client).map_or("", |client| client.master.as_str());
        self.told.compare(at, || format!("the master that {asked} names"), master, &named);
        Ok(())
    }
}
