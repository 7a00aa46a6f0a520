//! Steps of a node: replication, failover, crash and restart, partition, disk, clock, a lost key.

use std::fmt::Write as _;

use lockstep_model::Happening;
use lockstep_model::trace::{ClientState, NodeRole, NodeState, lock_name, node_name};

use super::super::holds::lock;
use super::super::paint::Tone;
use super::super::units::{count, jump, list};
use super::lane::Lane;
use super::narrator::Narrator;
use super::row::Row;

impl Narrator<'_> {
    pub(super) fn replicate(&self, node: u8) -> Row {
        let text = self.stored_on(node).unwrap_or_else(|| "empty".to_owned());
        let left = match self.node_after(node).under_way.len() {
            0 => String::new(),
            left => format!("; {} still under way to it", count(left, "effect")),
        };
        let name = &self.step.lane;
        let old = self.node_after(node).follows.as_ref();
        let old = old.and_then(|old| (0..self.config.all_nodes()).find(|node| node_name(*node) == *old));
        let Some(master) = old.or_else(|| self.acting_master_beside(node)) else {
            return Row::of(self.step, format!("{name} applies the next effect{left}")).showing(
                Lane::Node(node),
                text,
                Tone::Plain,
            );
        };
        let what = format!("{name} applies the next effect of {}{left}", node_name(master));
        self.one_way(Lane::Node(master), Lane::Node(node), "effect", what).showing(Lane::Node(node), text, Tone::Plain)
    }

    pub(super) fn promote(&self, node: u8) -> Vec<Row> {
        self.taken_over(node, "is promoted")
    }

    pub(super) fn taken_over(&self, node: u8, how: &str) -> Vec<Row> {
        let name = &self.step.lane;
        let stored = self.stored_on(node);
        let knows = match (&stored, self.has(Happening::GrantLost)) {
            (Some(_), false) => ", and stores the lock",
            (Some(_), true) => ": the newest grant is lost, it stores an older one",
            // It may be at the other master, to which nobody is sent any more.
            (None, true) if self.config.faults.move_slot > 0 => ", and does not have the grant",
            (None, true) => ": the grant is lost",
            (None, false) => ", and stores no lock",
        };
        let text = format!("MASTER {}", stored.as_deref().unwrap_or("(empty)"));
        self.alone(Lane::Node(node), text, Tone::Strong, format!("{name} {how}{knows}"))
    }

    pub(super) fn hand_over(&self, node: u8) -> Vec<Row> {
        if !self.config.cluster.promote.is_by_the_master() {
            return self.taken_over(node, "is promoted while the master runs");
        }
        let master = self.before.acting_master().map_or("", |master| master.name.as_str());
        let heir = &self.step.lane;
        let what = format!("{master} begins to hand over to {heir}: from now on every write waits, renewals too");
        self.alone(Lane::Node(node), "heir", Tone::Odd, what)
    }

    pub(super) fn finish_hand_over(&self, node: u8) -> Vec<Row> {
        let how = if self.has(Happening::EffectsLost) {
            "takes over at the time-out with what it has: the old master follows it, and loses its own writes"
        } else {
            "has all data and takes over: the old master follows it"
        };
        self.taken_over(node, how)
    }

    pub(super) fn give_up_hand_over(&self, node: u8) -> Vec<Row> {
        let what = format!("{} gives up the hand-over: it executes writes again", self.step.lane);
        self.alone(Lane::Node(node), "gives up", Tone::Plain, what)
    }

    pub(super) fn crash_node(&self, node: u8) -> Vec<Row> {
        self.death(node, "x crash", "crashes")
    }

    pub(super) fn kill_node(&self, node: u8) -> Vec<Row> {
        self.death(node, "x killed", "is killed, and its machine goes on")
    }

    pub(super) fn shutdown_node(&self, node: u8) -> Vec<Row> {
        if self.node_after(node).role == NodeRole::Stopping {
            let what = format!("the master {} is told to end, and waits for its replicas", self.step.lane);
            return self.alone(Lane::Node(node), "SIGTERM", Tone::Odd, what);
        }
        self.death(node, "x ends", "is told to end, and ends")
    }

    pub(super) fn finish_shutdown(&self, node: u8) -> Vec<Row> {
        self.death(node, "x ends", "ends, as it was told to")
    }

    fn death(&self, node: u8, shows: &'static str, dies: &str) -> Vec<Row> {
        let was = self.before.nodes[usize::from(node)].role;
        let role = if matches!(was, NodeRole::Master | NodeRole::Stopping) { "master" } else { "replica" };
        let mut what = format!("the {role} {} {dies}", self.step.lane);
        if self.has(Happening::EffectsLost) {
            what += ", and writes that no replica has applied are lost";
        }
        if self.has(Happening::SubscriptionLost) {
            let lost = |(before, after): (&ClientState, &ClientState)| {
                (before.subscription != after.subscription).then(|| after.name.clone())
            };
            let lost: Vec<_> = self.before.clients.iter().zip(&self.step.state.clients).filter_map(lost).collect();
            let _ = write!(what, "; the subscription of {} ends with it", list(&lost));
        }
        self.alone(Lane::Node(node), shows, Tone::Odd, what)
    }

    pub(super) fn resync(&self, node: u8) -> Vec<Row> {
        let (name, had) = (&self.step.lane, &self.before.nodes[usize::from(node)]);
        let is_erased = had.stored.is_held() && had.stored.holders != self.node_after(node).stored.holders;
        let loses = if is_erased { ": what it had is erased" } else { "" };
        let what = format!("{name} follows the master, and copies its data{loses}");
        self.alone(Lane::Node(node), self.synced(node), Tone::Plain, what)
    }

    pub(super) fn leave_master(&self, node: u8) -> Vec<Row> {
        let (name, had) = (&self.step.lane, &self.before.nodes[usize::from(node)]);
        let old = had.follows.as_deref().unwrap_or("the old master");
        let what =
            format!("{name} is told of the new master: it leaves {old}, and does not have the new one's data yet");
        self.alone(Lane::Node(node), self.stored_on(node).as_deref().unwrap_or("(empty)"), Tone::Plain, what)
    }

    pub(super) fn restart_node(&self, node: u8) -> Vec<Row> {
        let name = &self.step.lane;
        let lost = if self.has(Happening::GrantLost) { ": the grant is lost" } else { "" };
        let stored = self.stored_on(node);
        let finds = stored.as_deref().unwrap_or("(empty)");
        if !self.node_after(node).is_master() {
            let restarted = self.node_after(node);
            let what = match &restarted.follows {
                Some(old) if restarted.role == NodeRole::Replica => {
                    format!("{name} restarts, and follows {old}, as its file says: it copies its data")
                }
                Some(old) => {
                    format!("{name} restarts, and is to follow {old}, as its file says, which it does not reach")
                }
                None => format!("{name} restarts, and has not copied its master's data yet"),
            };
            return self.alone(Lane::Node(node), finds, Tone::Plain, what);
        }
        let is_old = self.step.state.acting_master_beside(self.config, node).is_none_or(|acting| acting.name != *name);
        let what = if is_old {
            format!("{name} restarts, and still believes it is the master")
        } else {
            format!("{name} restarts as the master{lost}")
        };
        self.alone(Lane::Node(node), format!("MASTER {finds}"), Tone::Strong, what)
    }

    pub(super) fn cut_link(&self, node: u8) -> Vec<Row> {
        let name = &self.step.lane;
        let goes_on =
            if self.node_after(node).is_master() { "; it still serves the clients that reach it" } else { "" };
        let is_new = |(before, after): &(&NodeState, &NodeState)| after.is_cut && !before.is_cut && after.name != *name;
        let changed = self.before.nodes.iter().zip(&self.step.state.nodes).filter(is_new);
        let together: Vec<_> = changed.map(|(_, after)| after.name.clone()).collect();
        let with = if together.is_empty() { String::new() } else { format!(", together with {}", list(&together)) };
        let what = format!("{name} is cut off from the other nodes{with}{goes_on}");
        self.alone(Lane::Node(node), "x cut", Tone::Odd, what)
    }

    pub(super) fn break_link(&self, node: u8) -> Vec<Row> {
        let what = format!("{} loses its link to the master, and with it what was under way", self.step.lane);
        self.alone(Lane::Node(node), "x link", Tone::Odd, what)
    }

    pub(super) fn demote(&self, node: u8) -> Vec<Row> {
        let what = format!("{} is demoted: it is told to follow the new master, and refuses writes", self.step.lane);
        self.alone(Lane::Node(node), "demoted", Tone::Odd, what)
    }

    pub(super) fn heal(&self, node: u8) -> Vec<Row> {
        let what = format!("{} is connected to the other nodes again", self.step.lane);
        self.alone(Lane::Node(node), "healed", Tone::Plain, what)
    }

    pub(super) fn expire(&self, node: u8) -> Vec<Row> {
        let had = Self::hold_gone_from(&self.before.nodes[usize::from(node)], self.node_after(node));
        let holder = had.map_or("the holder", |hold| hold.holder.as_str());
        let gone = if self.node_after(node).is_master() { "the lock expires" } else { "it hides the key" };
        if self.config.shares() && self.node_after(node).stored.is_held() {
            let what = format!(
                "holds of readers are due on {}, and over at this very instant; the lock lives on",
                self.step.lane
            );
            return self.alone(Lane::Node(node), "holds over", Tone::Odd, what);
        }
        let what = format!("the lease of {holder} is due on {}, and {gone} at this very instant", self.step.lane);
        if self.config.has_parts() && self.node_after(node).stored.is_held() {
            let left = lock(self.config, &self.node_after(node).stored);
            return self.alone(
                Lane::Node(node),
                format!("left: {left}"),
                Tone::Odd,
                what + "; the other part is there still",
            );
        }
        self.alone(Lane::Node(node), "expired", Tone::Odd, what)
    }

    pub(super) fn expire_receipts(&self, node: u8) -> Vec<Row> {
        let what = format!("a receipt on {} is due, and it is gone at this very instant", self.step.lane);
        self.alone(Lane::Node(node), "x receipt", Tone::Odd, what)
    }

    pub(super) fn refuse_writes(&self, node: u8) -> Vec<Row> {
        let what = format!("the save of {} fails: it refuses every write, and answers reads", self.step.lane);
        self.alone(Lane::Node(node), "x writes", Tone::Odd, what)
    }

    pub(super) fn move_slot(&self, node: u8) -> Vec<Row> {
        let what = format!(
            "an operator begins to move the slot of the lock from {} to another master: requests of several keys are refused meanwhile",
            self.step.lane
        );
        self.alone(Lane::Node(node), "x slot", Tone::Odd, what)
    }

    pub(super) fn move_keys(&self, node: u8) -> Vec<Row> {
        let moved =
            if self.node_after(node).stored.keys.is_empty() { "the slot has no key" } else { "its key is moved" };
        let what = format!("{moved}; from here on the other master has what {} is said to store", self.step.lane);
        self.alone(Lane::Node(node), "keys moved", Tone::Plain, what)
    }

    pub(super) fn finish_move(&self, node: u8) -> Vec<Row> {
        let clients = self.before.clients.iter().zip(&self.step.state.clients);
        let ended = clients.filter(|(before, after)| before.subscription != after.subscription);
        let ended: Vec<_> = ended.map(|(_, after)| after.name.clone()).collect();
        let mut what = format!("the slot has moved: from here on {} stands for its new master", self.step.lane);
        if !ended.is_empty() {
            let _ = write!(what, "; the subscription of {} ends, and is not made anew", list(&ended));
        }
        self.alone(Lane::Node(node), "slot moved", Tone::Plain, what)
    }

    pub(super) fn accept_writes(&self, node: u8) -> Vec<Row> {
        let what = format!("a save of {} succeeds: it accepts writes again", self.step.lane);
        self.alone(Lane::Node(node), "writes", Tone::Plain, what)
    }

    pub(super) fn recount(&self, node: u8) -> Vec<Row> {
        let what = format!("{} counts its replicas, and does not count those that are silent", self.step.lane);
        self.alone(Lane::Node(node), "counts", Tone::Plain, what)
    }

    pub(super) fn notice_death(&self, node: u8) -> Vec<Row> {
        let what = format!("nothing has come from {} for long: its master closes the link to it", self.step.lane);
        self.alone(Lane::Node(node), "noticed", Tone::Plain, what)
    }

    pub(super) fn pause_node(&self, node: u8) -> Vec<Row> {
        let what = format!("{} stands still: it answers nothing, and its clock goes on", self.step.lane);
        self.alone(Lane::Node(node), "x still", Tone::Odd, what)
    }

    pub(super) fn resume_node(&self, node: u8) -> Vec<Row> {
        let now = self.node_after(node);
        let is_replaced =
            self.step.state.acting_master_beside(self.config, node).is_some_and(|acting| acting.name != self.step.lane);
        let mut what = format!("{} goes on", self.step.lane);
        if now.is_master() && is_replaced {
            what += ", and still believes it is the master";
        }
        if let Some(has_enough) = now.last_count {
            let enough = if has_enough { "enough" } else { "too few" };
            let _ = write!(what, "; it had {enough} replicas when it counted last");
        }
        self.alone(Lane::Node(node), "goes on", Tone::Plain, what)
    }

    pub(super) fn count_replicas(&self, node: u8) -> Vec<Row> {
        let what = format!("{} counts its replicas, the first time since it stood still", self.step.lane);
        self.alone(Lane::Node(node), "counts", Tone::Plain, what)
    }

    pub(super) fn fsync(&self, node: u8) -> Vec<Row> {
        self.alone(Lane::Node(node), "fsync", Tone::Plain, format!("{} writes its data to disk", self.step.lane))
    }

    pub(super) fn snapshot(&self, node: u8) -> Vec<Row> {
        self.alone(
            Lane::Node(node),
            "snapshot",
            Tone::Plain,
            format!("{} saves a snapshot of its data", self.step.lane),
        )
    }

    pub(super) fn vanish_key(&self, node: u8) -> Vec<Row> {
        let what = format!("{} loses the lock's key{}", self.step.lane, self.replicas_know());
        self.alone(Lane::Node(node), "x key", Tone::Odd, what)
    }

    pub(super) fn persist_key(&self, node: u8) -> Vec<Row> {
        let what = format!("PERSIST on {}: the lock's key has no TTL any more{}", self.step.lane, self.replicas_know());
        self.alone(Lane::Node(node), "x ttl", Tone::Odd, what)
    }

    pub(super) fn overwrite_key(&self, node: u8, name: u8) -> Vec<Row> {
        let what = format!(
            "SET on {}: {} is a string now, and no lock{}",
            self.step.lane,
            lock_name(name),
            self.replicas_know()
        );
        self.alone(Lane::Node(node), "x type", Tone::Odd, what)
    }

    pub(super) fn vanish_receipts(&self, node: u8) -> Vec<Row> {
        let what =
            format!("{} evicts the release receipts, and keeps the lock{}", self.step.lane, self.replicas_know());
        self.alone(Lane::Node(node), "x receipts", Tone::Odd, what)
    }

    pub(super) fn vanish_token(&self, node: u8) -> Vec<Row> {
        let what = format!(
            "{} loses the counter of fencing tokens{}{}",
            self.step.lane,
            if self.node_after(node).stored.is_held() { ", and keeps the lock" } else { "" },
            self.replicas_know()
        );
        self.alone(Lane::Node(node), "x token", Tone::Odd, what)
    }

    pub(super) fn clock_jump(&self, node: u8) -> Vec<Row> {
        let what = format!("the clock of {} jumps {}{}", self.step.lane, jump(self.config), self.runs_out());
        self.alone(Lane::Node(node), "x clock", Tone::Odd, what)
    }

    pub(super) fn client_clock_jump(&self, client: u8) -> Vec<Row> {
        let what =
            format!("{}'s wall clock jumps {}: its wait limit follows that clock", self.step.lane, jump(self.config));
        self.alone(Lane::Thread { client, thread: 0 }, "x clock", Tone::Odd, what)
    }

    fn synced(&self, node: u8) -> String {
        self.stored_on(node).map_or_else(|| "synced: empty".to_owned(), |lock| format!("synced: {lock}"))
    }
}
