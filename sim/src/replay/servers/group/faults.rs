//! What happens to single nodes: they crash and restart, lose keys, and their clocks jump.

use std::cell::Cell;
use std::thread;
use std::time::{Duration, Instant};

use redis::Value;

use super::members::{HalfOpenLink, MemberRole, ServerGroup};
use crate::replay::error::ReplayError;
use crate::replay::servers::gate::Gate;

/// How long a replica's answer is on its way to a master that was told to end. That one may wait for another replica, so this is no
/// deadline.
const ANSWERED_WITHIN: Duration = Duration::from_millis(100);

impl ServerGroup {
    /// Kills a node with everything that it has not replicated, as its machine dies: nobody is told. Returns what was done, in
    /// words.
    ///
    /// # Errors
    /// `System` if the kernel refuses; `Redis` if a sentinel refuses a setting.
    pub fn crash(&mut self, node: usize) -> Result<String, ReplayError> {
        if let Some(gate) = &self.members[node].gate {
            gate.silence();
        }
        self.end_without_sync(node, false)
    }

    /// Kills a node with everything that it has not replicated, and that is not on its disk.
    fn end_without_sync(&mut self, node: usize, is_noticed: bool) -> Result<String, ReplayError> {
        self.expect_failover_of(node)?;
        self.hold_end_of_link(node);
        let dying = &self.members[node];
        let loses = self.config.has_late_disk() || dying.is_rewriting;
        if loses {
            dying.node.kill_without_power()?;
        } else {
            dying.node.kill()?;
        }
        self.bury(node, is_noticed)?;
        let lost = if loses { "; what was not on its disk is taken away" } else { "" };
        Ok(format!("SIGKILL to {}{lost}", self.name_of(node)))
    }

    /// Kills the process of a node; its files stay as they are, unless the scenario lets a killed process lose what is not on
    /// the disk, or its AOF is being rewritten. `is_noticed`: its master is reached, and told. Returns what was done, in words.
    ///
    /// # Errors
    /// As `crash`.
    pub fn kill(&mut self, node: usize, is_noticed: bool) -> Result<String, ReplayError> {
        let keeps_files = self.config.writes_before_replies() && !self.members[node].is_rewriting;
        if !keeps_files || !self.config.has_late_disk() {
            return self.end_without_sync(node, is_noticed);
        }
        self.expect_failover_of(node)?;
        self.hold_end_of_link(node);
        let dying = &self.members[node].node;
        if !dying.is_paused() {
            dying.wait_written()?;
        }
        dying.kill()?;
        self.bury(node, is_noticed)?;
        Ok(format!("SIGKILL to {}, whose files stay as they are", self.name_of(node)))
    }

    /// Tells a node to end, and waits until it has ended, unless it waits for its replicas. `is_noticed`: as for `kill`. Returns
    /// what was done, in words.
    ///
    /// # Errors
    /// `TimedOut` if it does not end; `System` if the kernel refuses.
    pub fn shut_down(
        &mut self,
        node: usize,
        waits_for_replicas: bool,
        is_noticed: bool,
    ) -> Result<String, ReplayError> {
        if waits_for_replicas {
            self.members[node].node.begin_shutdown()?;
            self.members[node].node.await_begun_shutdown()?;
            // It serves nobody any more, and may end as soon as its replicas have everything.
            let wait_ms = i64::from(self.config.cluster.shutdown_timeout) * i64::from(self.config.time.tick_ms);
            let member = &mut self.members[node];
            member.role = MemberRole::Dead;
            member.ends_at_ms = Some(member.node.clock().now_ms() + wait_ms);
            self.is_worn = true;
            return Ok(format!("SIGTERM to {}, which waits for its replicas", self.name_of(node)));
        }
        self.expect_failover_of(node)?;
        self.hold_end_of_link(node);
        // One that stood still has noticed by now that its replicas have left, or it would wait for them.
        let left = self.take_half_open(|link| link.master == node);
        self.end_links(left)?;
        self.members[node].node.begin_shutdown()?;
        self.members[node].node.wait_shutdown(|| ())?;
        self.bury(node, is_noticed)?;
        Ok(format!("SIGTERM to {}", self.name_of(node)))
    }

    /// Waits until a node that was told to end has ended. `has_sent_all`: nothing that a rule reads is under way to its replicas.
    /// Returns what was done, in words.
    ///
    /// # Errors
    /// `TimedOut` if it does not end.
    pub fn finish_shutdown(&mut self, node: usize, has_sent_all: bool) -> Result<String, ReplayError> {
        // It would wait for a dead replica of which nobody told it; the model's master has noticed by now.
        let noticed = self.take_half_open(|link| link.master == node);
        self.end_links(noticed)?;
        if has_sent_all {
            // Effects that took each other's place may still be held. Until its clock goes on it waits for their acknowledgement.
            self.release_rest_of(node)?;
        }
        self.members[node].catch_up()?;
        if has_sent_all
            && let Err(error) = self.release_rest_of(node)
            // The deletion of what has expired, which is none here: it may end before that is sent, and has nothing more then.
            && self.members[node].node.is_running()
        {
            return Err(error);
        }
        let ending = &self.members[node].node;
        let is_its_own = |gate: &&Gate| gate.master_socket() == ending.socket() && !gate.is_silent();
        let gates = || self.members.iter().filter_map(|member| member.gate.as_ref()).filter(is_its_own);
        // What it sends while it waits, such as its question what its replicas have, has an answer of its own.
        ending.wait_shutdown(|| {
            if has_sent_all {
                gates().for_each(Gate::answer_idle);
            }
        })?;
        // It was a master, and has none.
        self.bury(node, true)?;
        Ok(format!("{} has ended", self.name_of(node)))
    }

    /// A node saves a snapshot. Returns what was done, in words.
    ///
    /// # Errors
    /// As [`crate::replay::ServerNode::save_snapshot`].
    pub fn snapshot(&mut self, node: usize) -> Result<String, ReplayError> {
        self.members[node].node.save_snapshot()?;
        self.is_worn = true;
        Ok(format!("{}: BGSAVE", self.name_of(node)))
    }

    /// Passes to the replicas of a master all that it has written by now. One that has ended has nothing more to send.
    fn release_rest_of(&self, node: usize) -> Result<(), ReplayError> {
        let master = &self.members[node].node;
        if let Ok(offset) = master.offset() {
            self.mark(node, offset);
        }
        let is_its_own = |gate: &&Gate| gate.master_socket() == master.socket() && !gate.is_silent();
        let mut gates = self.members.iter().filter_map(|member| member.gate.as_ref()).filter(is_its_own);
        gates.try_for_each(|gate| gate.release_all().map(drop))
    }

    /// Before a node dies: a master that was replaced, and that stood still, reads the end of the link when it counts its
    /// replicas anew. Until then its gate holds that end back.
    fn hold_end_of_link(&self, node: usize) {
        let Some(gate) = &self.members[node].gate else { return };
        let is_late = |master: &usize| *master != self.master && self.counts_late(*master);
        if self.master_behind(gate).is_some_and(|master| is_late(&master)) {
            gate.silence();
        }
    }

    /// A node is dead: its links end, or its master has not noticed yet.
    fn bury(&mut self, node: usize, is_noticed: bool) -> Result<(), ReplayError> {
        let dead = &mut self.members[node];
        dead.role = MemberRole::Dead;
        (dead.is_uncounted, dead.is_behind, dead.lets_writes_wait) = (false, Cell::new(false), false);
        dead.catch_up()?;
        let to_master = dead.gate.take();
        // The links of its replicas, silent ones included.
        let socket = dead.node.socket().to_owned();
        self.half_open.retain(|link| link.master != node);
        for member in &mut self.members {
            member.gate.take_if(|gate| gate.master_socket() == socket);
        }
        if let Some(gate) = to_master {
            let master = self.master_behind(&gate).unwrap_or(self.master);
            let link = HalfOpenLink { master, replica: node, gate };
            // A master that was replaced reads it later (`hold_end_of_link`).
            let notices = is_noticed && (master == self.master || !link.gate.is_silent());
            if notices { self.end_links(vec![link])? } else { self.half_open.push(link) }
        }
        if is_noticed {
            // Also a link of before an earlier death.
            let acting = self.master;
            let noticed = self.take_half_open(|link| link.replica == node && link.master == acting);
            self.end_links(noticed)?;
        }
        self.is_worn = true;
        Ok(())
    }

    /// Starts a dead node again, as a master or a replica, with the data that it finds. `reached`: the nodes that notice by now
    /// that their links to it are from before its death. Returns what was done, in words.
    ///
    /// # Errors
    /// As [`crate::replay::ServerNode::restart`].
    pub fn restart(
        &mut self,
        node: usize,
        is_master: bool,
        finds_data: bool,
        reached: &[usize],
    ) -> Result<String, ReplayError> {
        let reset = self.take_half_open(|link| link.replica == node && reached.contains(&link.master));
        self.end_links(reset)?;
        self.members[node].node.restart()?;
        self.members[node].connection = self.connect(&self.members[node].node)?;
        self.require_replicas(&self.members[node].node)?;
        self.members[node].limit = None;
        if !is_master {
            // As its configuration says, but the master named there is not reachable yet.
            self.members[node].node.follow_nobody()?;
        }
        self.members[node].role = if is_master { MemberRole::Master } else { MemberRole::Replica };
        self.members[node].is_rewriting = false;
        self.sync_disk(node)?;
        let finds = if finds_data { "finds its data" } else { "finds nothing" };
        Ok(format!("{} is started again, and {finds}", self.name_of(node)))
    }

    /// The masters of a dead node close their links to it, unless they stand still. Returns what was done, in words.
    ///
    /// # Errors
    /// `TimedOut` if a master does not notice.
    pub fn notice_death(&mut self, node: usize) -> Result<String, ReplayError> {
        let masters: Vec<_> = (0..self.members.len()).filter(|master| !self.is_paused(*master)).collect();
        let noticed = self.take_half_open(|link| link.replica == node && masters.contains(&link.master));
        self.end_links(noticed)?;
        Ok(format!("the links to {} are closed", self.name_of(node)))
    }

    /// What a node has written so far reaches its disk. Returns what was done, in words.
    ///
    /// # Errors
    /// As [`crate::replay::ServerNode::sync_disk`].
    pub fn fsync(&mut self, node: usize) -> Result<String, ReplayError> {
        self.members[node].is_rewriting = false;
        self.sync_disk(node)?;
        Ok(format!("the AOF of {} is on its disk", self.name_of(node)))
    }

    /// The save of a node fails: it refuses every write. Returns what was done, in words.
    ///
    /// # Errors
    /// As [`crate::replay::ServerNode::refuse_writes`].
    pub fn refuse_writes(&mut self, node: usize) -> Result<String, ReplayError> {
        self.is_worn = true;
        self.members[node].node.refuse_writes()?;
        Ok(format!("{}: BGSAVE fails", self.name_of(node)))
    }

    /// A save of the node succeeds: it accepts writes again. Returns what was done, in words.
    ///
    /// # Errors
    /// As [`crate::replay::ServerNode::accept_writes`].
    pub fn accept_writes(&mut self, node: usize) -> Result<String, ReplayError> {
        self.members[node].node.accept_writes()?;
        Ok(format!("{}: BGSAVE succeeds", self.name_of(node)))
    }

    /// A node stands still: it executes nothing, and its connections stay open. Returns what was done, in words.
    ///
    /// # Errors
    /// As [`crate::replay::ServerNode::pause`].
    pub fn pause(&mut self, node: usize) -> Result<String, ReplayError> {
        self.acknowledge_to_ending(node);
        self.await_effects_of(node)?;
        self.members[node].node.pause()?;
        self.is_worn = true;
        Ok(format!("SIGSTOP to {}", self.name_of(node)))
    }

    /// Waits until a master that is about to stand still has sent its effects: the answer to the client that wrote may leave first
    /// (seen on 6.2.5, where a busy machine stopped the master in between).
    fn await_effects_of(&self, master: usize) -> Result<(), ReplayError> {
        if self.is_paused(master) || self.is_dead(master) {
            return Ok(());
        }
        let links = self.members.iter().filter_map(|member| Some((member.link()?, !member.is_paused())));
        let mut its_own = links.filter(|(gate, _)| self.master_behind(gate) == Some(master));
        its_own.try_for_each(|(gate, replica_runs)| gate.wait_marked(replica_runs))
    }

    /// A master that was told to end has asked what this replica has. One that has everything answers before it stands still: then
    /// the master ends, unless it waits for another one too.
    fn acknowledge_to_ending(&self, replica: usize) {
        let Some(gate) = self.members[replica].link().filter(|gate| gate.held() == 0) else { return };
        let Some(master) = self.master_behind(gate).filter(|master| self.is_dead(*master)) else { return };
        let begin = Instant::now();
        while self.members[master].node.is_running() && begin.elapsed() < ANSWERED_WITHIN {
            gate.answer_idle();
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// A node that stood still goes on. Until a master counts its replicas anew, it goes by its last count; by its own time it
    /// would count within a second. Returns what was done, in words.
    ///
    /// # Errors
    /// As [`crate::replay::ServerNode::resume`].
    pub fn resume(&mut self, node: usize, counts_late: Option<bool>, counts: bool) -> Result<String, ReplayError> {
        let resuming = &self.members[node].node;
        resuming.resume()?;
        if let Some(has_enough) = counts_late {
            resuming.hold_count(has_enough)?;
        }
        self.members[node].is_uncounted = !counts;
        let link = self.members[node].link().filter(|_| self.config.cluster.min_replicas > 0);
        // A master that was told to end may have ended by now: this replica had what it waited for.
        let counts = |master: usize| !self.is_paused(master) && !self.is_dead(master);
        if let Some(gate) = link.filter(|gate| self.master_behind(gate).is_some_and(counts)) {
            gate.acknowledge()?;
        }
        Ok(format!("SIGCONT to {}", self.name_of(node)))
    }

    /// A master that stood still counts its replicas anew. Returns what was done, in words.
    ///
    /// # Errors
    /// `TimedOut` if it does not notice that its replicas have left; `Redis`.
    pub fn count_anew(&mut self, node: usize, is_cut: bool) -> Result<String, ReplayError> {
        let counts = format!("{} counts its replicas", self.name_of(node));
        // One that was told to end may have ended, and accepts no writes any more.
        if self.is_dead(node) {
            self.members[node].is_uncounted = false;
            return Ok(counts);
        }
        let is_left = node != self.master && !is_cut;
        self.end_last_count(node)?;
        if is_left {
            self.notice_left(node)?;
        }
        let socket = self.members[node].node.socket();
        let links = self.working_links().filter(|gate| gate.master_socket() == socket);
        links.into_iter().try_for_each(Gate::acknowledge)?;
        Ok(counts)
    }

    /// A node does not go by its last count of replicas any more.
    pub(super) fn end_last_count(&mut self, node: usize) -> Result<(), ReplayError> {
        if std::mem::take(&mut self.members[node].is_uncounted) {
            self.require_as_before(node)?;
        }
        Ok(())
    }

    /// The node runs out of memory and evicts every key that has a TTL. Returns what was done, in words.
    ///
    /// # Errors
    /// As [`crate::replay::ServerNode::drop_keys`].
    pub fn drop_key(&mut self, node: usize) -> Result<String, ReplayError> {
        self.members[node].node.drop_keys()?;
        if self.followed_masters().contains(&node) {
            self.mark_now()?;
        }
        Ok(format!("{}: its keys are evicted", self.name_of(node)))
    }

    /// One command with these keys, as an operator sends it; their master then tells its replicas. Returns what was done, in
    /// words.
    ///
    /// # Errors
    /// `Redis` if the node does not answer; `Unexpected` if the command did not apply to every key.
    pub fn change_keys(&mut self, node: usize, command: &'static str, keys: &[String]) -> Result<String, ReplayError> {
        let answer = self.ask(node, redis::cmd(command).arg(keys), command)?;
        if !matches!(answer, Value::Int(changed) if usize::try_from(changed) == Ok(keys.len())) {
            return Err(ReplayError::Unexpected { asked: command, answer: format!("{answer:?}") });
        }
        if self.followed_masters().contains(&node) {
            self.mark_now()?;
        }
        Ok(format!("{}: {command} {}", self.name_of(node), keys.join(" ")))
    }

    /// A master is told to store a string under this key, as another program does. Returns what was done, in words.
    ///
    /// # Errors
    /// `Redis` if the node does not answer; `Unexpected` if it does not store it.
    pub fn overwrite_key(&mut self, node: usize, key: &str, value: &str) -> Result<String, ReplayError> {
        const COMMAND: &str = "SET";
        let answer = self.ask(node, redis::cmd(COMMAND).arg(key).arg(value), COMMAND)?;
        if answer != Value::Okay {
            return Err(ReplayError::Unexpected { asked: COMMAND, answer: format!("{answer:?}") });
        }
        if self.followed_masters().contains(&node) {
            self.mark_now()?;
        }
        Ok(format!("{}: {COMMAND} {key} {value}", self.name_of(node)))
    }

    /// A node drops these keys and no others, also while it refuses the writes of clients. Returns what was done, in words.
    ///
    /// # Errors
    /// As `change_keys`.
    pub fn unlink(&mut self, node: usize, keys: &[String]) -> Result<String, ReplayError> {
        self.members[node].node.accept_every_write(true)?;
        let done = self.change_keys(node, "UNLINK", keys);
        self.members[node].node.accept_every_write(false)?;
        self.require_as_before(node)?;
        done
    }

    /// The clock of one node jumps. Returns what was done, in words.
    ///
    /// # Errors
    /// As [`crate::replay::ServerNode::advance_clock`].
    pub fn jump(&mut self, node: usize) -> Result<String, ReplayError> {
        let by_ms = i64::from(self.config.time.jump) * i64::from(self.config.time.tick_ms);
        self.members[node].node.advance_clock(by_ms)?;
        self.is_worn = true;
        Ok(format!("the clock of {} jumps by {by_ms} ms", self.name_of(node)))
    }
}
