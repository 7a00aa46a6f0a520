//! Faults and other changes of nodes, links and clocks, made on real servers as a step says.

use lockstep_model::locks::named::FOREIGN_VALUE;
use lockstep_model::trace::{Contents, KeySlot, NodeRole, State, TraceStep};
use lockstep_model::{Action, Config};

use super::Player;
use crate::replay::compare::role_words;
use crate::replay::error::ReplayError;
use crate::replay::history_step::HistoryStep;
use crate::replay::node_names::name_of_node;
use crate::replay::servers::ServerGroups;

impl Player {
    /// Changes nodes, links and clocks as the step does.
    #[expect(clippy::too_many_lines, reason = "one arm for each action")]
    pub(super) fn change_servers(&mut self, step: HistoryStep<'_>) -> Result<(), ReplayError> {
        let index = usize::from;
        let shown = self.testbed.servers.beyond_tie_no_longer(&step.step.state.nodes);
        if step.step.action != Action::Tick && !shown.is_empty() {
            self.change(false, |servers| {
                shown.into_iter().try_for_each(|node| servers.return_to_tie(node)).map(|()| None)
            })?;
        }
        // Every clock that moves, and every node that becomes master, may find keys expired.
        match step.step.action {
            Action::Tick => self.change(true, |servers| servers.pass_tick().map(|()| None)),
            Action::ClockJump { node } => self.change(true, |servers| servers.jump(index(node)).map(Some)),
            Action::HandOver { node } => {
                self.change_and_rejoin(true, step, |servers| servers.hand_over(index(node), step.step.number))
            }
            Action::FinishHandOver { node } => {
                let lacks_some = !step.before.nodes[index(node)].under_way.is_empty();
                self.change(true, |servers| servers.finish_hand_over(index(node), lacks_some).map(Some))
            }
            Action::GiveUpHandOver { node } => {
                self.change_and_rejoin(true, step, |servers| servers.give_up_hand_over(index(node)))
            }
            Action::Promote { node }
                if step.before.acting_master_beside(&self.config, node).is_some_and(|master| !master.is_cut) =>
            {
                self.change(true, |servers| {
                    let is_paused = servers.is_paused(servers.master_beside(index(node)));
                    let replace = if is_paused { ServerGroups::replace_paused } else { ServerGroups::replace };
                    replace(servers, index(node), step.step.number).map(Some)
                })
            }
            Action::Promote { node } => {
                self.change(true, |servers| servers.promote(index(node), step.step.number).map(Some))
            }
            Action::RestartNode { node } => {
                let (is_master, finds_data) = restarted(step, index(node));
                let reached: Vec<_> = reached(step, index(node)).collect();
                self.change_and_rejoin(true, step, |servers| {
                    servers.restart(index(node), is_master, finds_data, &reached)
                })
            }
            Action::Replicate { node } => self.change(false, |servers| servers.replicate(index(node)).map(Some)),
            Action::CrashNode { node } => self.change(false, |servers| servers.crash(index(node)).map(Some)),
            Action::Resync { node } => self.change(false, |servers| servers.resync(index(node)).map(Some)),
            Action::LeaveMaster { node } => {
                self.change(false, |servers| servers.leave_old_master(index(node)).map(Some))
            }
            Action::Demote { node } => self.change(false, |servers| servers.demote(index(node)).map(Some)),
            Action::Fsync { node } => self.change(false, |servers| servers.fsync(index(node)).map(Some)),
            Action::KillNode { node } => {
                let is_noticed = reaches_its_master(&self.config, step, node);
                self.change(false, |servers| servers.kill(index(node), is_noticed).map(Some))
            }
            Action::ShutdownNode { node } => {
                let waits = step.step.state.nodes[index(node)].role == NodeRole::Stopping;
                let is_noticed = reaches_its_master(&self.config, step, node);
                self.change(false, |servers| servers.shut_down(index(node), waits, is_noticed).map(Some))
            }
            Action::FinishShutdown { node } => {
                let mut beside = self.testbed.servers.nodes_beside(index(node));
                let has_sent_all = beside.all(|other| step.before.nodes[other].under_way.is_empty());
                self.change(false, |servers| servers.finish_shutdown(index(node), has_sent_all).map(Some))
            }
            Action::Snapshot { node } => self.change(false, |servers| servers.snapshot(index(node)).map(Some)),
            Action::CutLink { node } => self.change(false, |servers| servers.cut(index(node)).map(Some)),
            Action::Heal { node } => self.change_and_rejoin(false, step, |servers| servers.heal(index(node))),
            Action::PauseNode { node } => self.change(false, |servers| servers.pause(index(node)).map(Some)),
            Action::ResumeNode { node } => {
                let resumed = &step.step.state.nodes[index(node)];
                let counts = !(resumed.is_master() && self.config.counts_replicas_late());
                self.change_and_rejoin(true, step, |servers| servers.resume(index(node), resumed.last_count, counts))
            }
            Action::CountReplicas { node } => {
                let is_cut = step.step.state.nodes[index(node)].is_cut;
                self.change(false, |servers| servers.count_anew(index(node), is_cut).map(Some))
            }
            Action::BreakLink { node } => self.change(false, |servers| servers.break_link(index(node)).map(Some)),
            Action::RefuseWrites { node } => self.change(false, |servers| servers.refuse_writes(index(node)).map(Some)),
            Action::AcceptWrites { node } => {
                self.change_and_rejoin(false, step, |servers| servers.accept_writes(index(node)))
            }
            Action::Recount { node } => self.change(false, |servers| servers.recount(index(node)).map(Some)),
            Action::NoticeDeath { node } => self.change(false, |servers| servers.notice_death(index(node)).map(Some)),
            Action::Expire { node } | Action::ExpireReceipts { node } => self.expire(step, index(node)),
            Action::ExpirePart { node, name } => {
                let names = vec![self.translator.lock_name(name).to_owned()];
                self.change(false, |servers| servers.unlink(index(node), &names).map(Some))
            }
            Action::VanishKey { node } => self.vanish_key(step, node),
            Action::MoveSlot { node } => {
                let lock = self.translator.lock_name(0).to_owned();
                self.change(false, |servers| servers.move_slot(index(node), &lock).map(Some))
            }
            Action::MoveKeys { node } => self.change(false, |servers| servers.move_keys(index(node)).map(Some)),
            Action::FinishMove { node } => self.change(false, |servers| servers.finish_move(index(node)).map(Some)),
            Action::PersistKey { node } => {
                let names = self.names_on(step, node, |slot| matches!(slot, KeySlot::Lock));
                self.change(false, |servers| servers.change_keys(index(node), "PERSIST", &names).map(Some))
            }
            Action::OverwriteKey { node, name } => {
                let name = self.translator.lock_name(name).to_owned();
                self.change(false, |servers| servers.overwrite_key(index(node), &name, FOREIGN_VALUE).map(Some))
            }
            Action::VanishReceipts { node } => {
                let names = self.names_on(step, node, |slot| matches!(slot, KeySlot::Receipt { .. }));
                self.change(false, |servers| servers.unlink(index(node), &names).map(Some))
            }
            Action::VanishToken { node } => {
                let names = self.names_on(step, node, |slot| matches!(slot, KeySlot::Token));
                self.change(false, |servers| servers.unlink(index(node), &names).map(Some))
            }
            Action::Discover { client } => self.compare_sentinels_answer(step, index(client)),
            Action::GoBack { node, .. } | Action::StartClient { node, .. } | Action::DiscoverMaster { node, .. } => {
                self.compare_claim(step, index(node))
            }
            // The clients and their requests: the target plays them.
            Action::Acquire { .. }
            | Action::NextPart { .. }
            | Action::AskMaster { .. }
            | Action::ExtendAt { .. }
            | Action::SetTtlAt { .. }
            | Action::HearMaster { .. }
            | Action::ReleaseAt { .. }
            | Action::ArriveLate { .. }
            | Action::LoseAsk { .. }
            | Action::SlowReply { .. }
            | Action::LateAsk { .. }
            | Action::GiveBack { .. }
            | Action::Subscribe { .. }
            | Action::SecondAsk { .. }
            | Action::WakeByMessage { .. }
            | Action::WakeByTimer { .. }
            | Action::GiveUp { .. }
            | Action::Confirm { .. }
            | Action::Undo { .. }
            | Action::SetTtl { .. }
            | Action::ReadToken { .. }
            | Action::AskIfHeld { .. }
            | Action::Work { .. }
            | Action::Arrive { .. }
            | Action::Release { .. }
            | Action::Resubscribe { .. }
            | Action::Resume { .. }
            | Action::Deliver { .. }
            | Action::Execute { .. }
            | Action::Register { .. }
            | Action::Unregister { .. }
            | Action::Answer { .. }
            | Action::Resend { .. }
            | Action::Abandon { .. }
            | Action::Renew { .. }
            | Action::RenewAcknowledged { .. }
            | Action::CrashClient { .. }
            | Action::CrashThread { .. }
            | Action::PauseClient { .. }
            | Action::LoseMessage { .. }
            | Action::LoseRequest { .. }
            | Action::LoseReply { .. }
            | Action::Interrupt { .. }
            | Action::ForeignRelease { .. }
            | Action::ForceRelease { .. }
            | Action::ClientClockJump { .. } => Ok(()),
        }
    }

    /// The names in Redis of the keys of one family that this node stored before the step.
    fn names_on(&self, step: HistoryStep<'_>, node: u8, is_meant: impl Fn(&KeySlot) -> bool) -> Vec<String> {
        let mut meant = step.before.nodes[usize::from(node)].stored.clone();
        meant.keys.retain(|key| is_meant(&key.slot));
        self.testbed.newest_names_in_redis(self.translator.key_names(&meant))
    }

    /// The lock is evicted, where an eviction takes nothing else and finds it; or deleted by hand, which comes to the same.
    fn vanish_key(&mut self, step: HistoryStep<'_>, node: u8) -> Result<(), ReplayError> {
        let keys = &step.before.nodes[usize::from(node)].stored.keys;
        if keys.iter().all(|key| matches!(key.slot, KeySlot::Lock) && key.ttl_ms.is_some()) {
            return self.change(false, |servers| servers.drop_key(usize::from(node)).map(Some));
        }
        let names = self.names_on(step, node, |slot| matches!(slot, KeySlot::Lock));
        self.change(false, |servers| servers.unlink(usize::from(node), &names).map(Some))
    }

    /// Changes the servers as `change` does; then replicas follow a master again that was replaced, those that do so after the
    /// step.
    fn change_and_rejoin(
        &mut self,
        may_expire: bool,
        step: HistoryStep<'_>,
        change: impl FnOnce(&mut ServerGroups) -> Result<String, ReplayError>,
    ) -> Result<(), ReplayError> {
        let rejoining = rejoining(step);
        self.change(may_expire, |servers| {
            let done = change(servers)?;
            servers.rejoin(&rejoining).map(|()| Some(done))
        })
    }

    /// Changes the servers once nothing is on its way to them.
    fn change(
        &mut self,
        may_expire: bool,
        change: impl FnOnce(&mut ServerGroups) -> Result<Option<String>, ReplayError>,
    ) -> Result<(), ReplayError> {
        self.target.settle(&mut self.testbed)?;
        if self.testbed.findings.difference.is_some() {
            return Ok(());
        }
        if let Some(done) = change(&mut self.testbed.servers)? {
            self.testbed.findings.note(|| done);
        }
        self.testbed.servers.delete_hidden()?;
        if may_expire {
            let keys = self.testbed.names_in_redis(self.seen_keys.iter().cloned().collect());
            return self.testbed.servers.delete_expired(&keys);
        }
        Ok(())
    }

    /// A client takes a node for the master because the node says so: a new connection must find that it does (`ROLE`).
    fn compare_claim(&mut self, step: HistoryStep<'_>, node: usize) -> Result<(), ReplayError> {
        self.target.settle(&mut self.testbed)?;
        let mut connection = self.testbed.servers.node(node).connect()?;
        let role = redis::cmd("ROLE").query(&mut connection).map_err(ReplayError::redis("ROLE"))?;
        let says = role_words(&role)?;
        let name = name_of_node(node);
        let findings = &mut self.testbed.findings;
        findings.note(|| format!("{name}: ROLE → {says}"));
        findings.compare(step.place(), || format!("what {name} says it is"), "master", &says);
        Ok(())
    }

    /// The keys of a node that have no time left are gone: those that the node has no more after the step.
    fn expire(&mut self, step: HistoryStep<'_>, node: usize) -> Result<(), ReplayError> {
        let names = |state: &State| self.translator.key_names(&state.nodes[node].stored);
        let left = names(&step.step.state);
        let gone = names(step.before).into_iter().filter(|name| !left.contains(name)).collect();
        let gone = self.testbed.names_in_redis(gone);
        self.change(false, |servers| servers.expire(node, gone).map(Some))
    }

    /// A client learns which node is the master; where sentinels decide, by asking one of them.
    fn compare_sentinels_answer(&mut self, step: HistoryStep<'_>, client: usize) -> Result<(), ReplayError> {
        let Some((asked, named)) = self.testbed.servers.ask_sentinel(client)? else { return Ok(()) };
        let findings = &mut self.testbed.findings;
        findings.note(|| format!("{asked}: SENTINEL GET-MASTER-ADDR-BY-NAME → {named}"));
        let master = step.step.state.clients.get(client).map_or("", |client| client.master.as_str());
        findings.compare(step.place(), || format!("the master that {asked} names"), master, &named);
        Ok(())
    }
}

/// The replicas that follow a master again that was replaced, each with that master.
fn rejoining(HistoryStep { step: TraceStep { state, .. }, before }: HistoryStep<'_>) -> Vec<(usize, usize)> {
    let number = |name: &str| state.nodes.iter().position(|node| node.name == name);
    let nodes = before.nodes.iter().zip(&state.nodes).enumerate();
    let rejoining = nodes.filter(|(_, (before, after))| {
        let was_away = matches!(before.role, NodeRole::Unsynced | NodeRole::Down);
        was_away && after.role == NodeRole::Replica && after.follows.is_some()
    });
    rejoining.filter_map(|(node, (_, after))| Some((node, number(after.follows.as_deref()?)?))).collect()
}

/// The nodes on the same side of a partition as this one, after the step.
fn reached(step: HistoryStep<'_>, node: usize) -> impl Iterator<Item = usize> {
    let nodes = &step.step.state.nodes;
    (0..nodes.len()).filter(move |other| *other != node && nodes[*other].is_cut == nodes[node].is_cut)
}

/// Whether a node reached the master that it belonged to before the step.
fn reaches_its_master(config: &Config, HistoryStep { before, .. }: HistoryStep<'_>, node: u8) -> bool {
    let own = &before.nodes[usize::from(node)];
    let old = own.follows.as_ref().and_then(|old| before.nodes.iter().find(|other| other.name == *old));
    old.or_else(|| before.acting_master_beside(config, node)).is_none_or(|master| master.is_cut == own.is_cut)
}

/// Whether a node that is started again is a master, and whether its disk has data.
fn restarted(HistoryStep { step: TraceStep { state, .. }, before }: HistoryStep<'_>, node: usize) -> (bool, bool) {
    let finds_lock = before.nodes[node].on_disk.as_ref().is_some_and(Contents::is_held);
    (state.nodes[node].is_master(), finds_lock)
}
