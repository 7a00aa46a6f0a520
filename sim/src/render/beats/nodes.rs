//! What becomes of a node: it dies and comes back, is cut off, is demoted, loses a key.

use std::fmt::Write as _;

use lockstep_model::Happening;
use lockstep_model::trace::ClientState;

use super::super::paint::Tone;
use super::super::words::{jump, list};
use super::{Beat, Lane, Teller};

impl Teller<'_> {
    pub(super) fn crash_node(&self, node: u8) -> Vec<Beat> {
        let role = if self.before.nodes[usize::from(node)].is_master() { "master" } else { "replica" };
        let mut what = format!("the {role} {} dies", self.step.lane);
        if self.has(Happening::EffectsLost) {
            what += ", and with it what no replica has applied";
        }
        if self.has(Happening::SubscriptionLost) {
            let lost = |(before, after): (&ClientState, &ClientState)| {
                (before.subscription != after.subscription).then(|| after.name.clone())
            };
            let lost: Vec<_> = self.before.clients.iter().zip(&self.step.state.clients).filter_map(lost).collect();
            let _ = write!(what, "; the subscription of {} dies too", list(&lost));
        }
        self.alone(Lane::Node(node), "x crash", Tone::Odd, what)
    }

    pub(super) fn resync(&self, node: u8) -> Vec<Beat> {
        let what = format!("{} follows the master, and takes its data", self.step.lane);
        self.alone(Lane::Node(node), self.synced(node), Tone::Plain, what)
    }

    pub(super) fn restart_node(&self, node: u8) -> Vec<Beat> {
        let name = &self.step.lane;
        let lost = if self.has(Happening::GrantLost) { ": the grant is gone" } else { "" };
        let stored = self.stored_on(node);
        let finds = stored.as_deref().unwrap_or("(empty)");
        if !self.node_after(node).is_master() {
            return self.alone(
                Lane::Node(node),
                finds,
                Tone::Plain,
                format!("{name} comes back, and follows nobody yet"),
            );
        }
        let is_old = self.step.state.acting_master().is_none_or(|acting| acting.name != *name);
        let what = if is_old {
            format!("{name} comes back, and takes itself for the master still")
        } else {
            format!("{name} comes back as the master{lost}")
        };
        self.alone(Lane::Node(node), format!("MASTER {finds}"), Tone::Strong, what)
    }

    pub(super) fn cut_link(&self, node: u8) -> Vec<Beat> {
        let name = &self.step.lane;
        let goes_on =
            if self.node_after(node).is_master() { "; its clients reach it, and it goes on serving them" } else { "" };
        let what = format!("{name} is cut off from the other nodes{goes_on}");
        self.alone(Lane::Node(node), "x cut", Tone::Odd, what)
    }

    pub(super) fn demote(&self, node: u8) -> Vec<Beat> {
        let had = &self.before.nodes[usize::from(node)].stored;
        let loses = if had.is_held() && had.holders != self.node_after(node).stored.holders {
            ": its own are erased"
        } else {
            ""
        };
        let what = format!("{} is demoted: it follows the new master, and takes its data{loses}", self.step.lane);
        self.alone(Lane::Node(node), self.synced(node), Tone::Odd, what)
    }

    pub(super) fn heal(&self, node: u8) -> Vec<Beat> {
        let what = format!("{} reaches the other nodes again", self.step.lane);
        self.alone(Lane::Node(node), "healed", Tone::Plain, what)
    }

    pub(super) fn fsync(&self, node: u8) -> Vec<Beat> {
        self.alone(
            Lane::Node(node),
            "fsync",
            Tone::Plain,
            format!("what {} has written is on its disk", self.step.lane),
        )
    }

    pub(super) fn vanish_key(&self, node: u8) -> Vec<Beat> {
        let what = format!("{} drops the key without a word{}", self.step.lane, self.replicas_know());
        self.alone(Lane::Node(node), "x key", Tone::Odd, what)
    }

    pub(super) fn clock_jump(&self, node: u8) -> Vec<Beat> {
        let what = format!("the clock of {} jumps {}{}", self.step.lane, jump(self.config), self.runs_out());
        self.alone(Lane::Node(node), "x clock", Tone::Odd, what)
    }

    pub(super) fn client_clock_jump(&self, client: u8) -> Vec<Beat> {
        let what = format!("{}'s wall clock jumps {}: it waits by that", self.step.lane, jump(self.config));
        self.alone(Lane::Thread { client, thread: 0 }, "x clock", Tone::Odd, what)
    }

    fn synced(&self, node: u8) -> String {
        self.stored_on(node).map_or_else(|| "synced: empty".to_owned(), |lock| format!("synced: {lock}"))
    }
}
