//! Plays a history step by step on a testbed, and compares after each step.
//!
//! The player walks the trace. Faults and other changes of nodes, links and clocks it makes itself, on the servers; what the
//! clients do it leaves to the target. After each step it compares what every running node stores, and its role.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use lockstep_model::Happening;
use lockstep_model::config::Cluster;
use lockstep_model::locks::named::FOREIGN_VALUE;
use lockstep_model::trace::{Contents, KeySlot, NodeRole, State, Trace, TraceStep};
use lockstep_model::{Action, Config};
use lockstep_redis::Scripts;

use super::compare::{Difference, role_words};
use super::error::ReplayError;
use super::history_step::{HistoryStep, client_of};
use super::node_names::name_of_node;
use super::redisson::RedissonClients;
use super::servers::sentinel::{Failover, refuse_world};
use super::servers::{START_MS, SentinelWatch, ServerGroups, ServerProgram, refuse_unsuited};
use super::target::{ScriptClients, Target};
use super::target_program::TargetProgram;
use super::testbed::Testbed;
use super::translate::replies::READ_ONLY;
use super::translate::{Translator, translation_of};

/// How long after its connections the process of a server has ended, at most.
const ENDS_WITHIN: Duration = Duration::from_millis(500);

/// What a replay found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// Flavour and version: `redis 7.0.15`.
    pub server: String,
    /// The client library that was replayed, and its version: `redisson 4.7.0`; `None`: our scripts.
    pub clients: Option<String>,
    /// Steps played.
    pub steps: usize,
    /// Things compared: replies, the contents and roles of nodes, messages.
    pub compared: usize,
    /// Per step, what was asked of real Redis and what it answered; empty unless asked for.
    pub answers: Vec<Vec<String>>,
    /// The first place where model and Redis disagree.
    pub difference: Option<Difference>,
    /// Why the history was not followed beyond `steps`, although nothing differs: the target cannot do what comes then.
    pub left: Option<&'static str>,
    /// What real sentinels did, if they were asked for.
    pub failovers: Vec<Failover>,
}

/// Plays the histories of one scenario.
pub struct Player {
    config: Config,
    target: Box<dyn Target>,
    testbed: Testbed,
    /// Says what nodes should store.
    translator: Translator,
    /// The client library that is replayed, and its version; `None`: our scripts.
    clients: Option<String>,
    /// Every key that the history has stored so far, where masters must find at once what has expired.
    seen_keys: BTreeSet<String>,
    /// The last step that was begun.
    step: usize,
}

impl Player {
    /// Starts the scenario's servers, whose clients are played by this target.
    ///
    /// # Errors
    /// Whatever keeps a server, or a JVM, from running under our clock and behind our gates; `NotForRedisson`.
    pub fn start(
        server: &ServerProgram,
        config: &Config,
        target: impl Into<TargetProgram>,
    ) -> Result<Self, ReplayError> {
        Self::start_watched(server, config, target.into(), None)
    }

    /// As `start`, but three real sentinels decide which replica takes the place of a dead master.
    ///
    /// # Errors
    /// As `start`; `NotForSentinel`.
    pub fn start_under_sentinel(
        server: &ServerProgram,
        config: &Config,
        scripts: Scripts,
    ) -> Result<Self, ReplayError> {
        refuse_world(config)?;
        Self::start_watched(server, config, scripts.into(), Some(SentinelWatch::default()))
    }

    fn start_watched(
        server: &ServerProgram,
        config: &Config,
        target: TargetProgram,
        watch: Option<SentinelWatch>,
    ) -> Result<Self, ReplayError> {
        let clients = target.name(config);
        let scripts = target.scripts();
        let receipt_lease = target.receipt_lease(config);
        let is_cluster = target.is_in_cluster();
        let translate = || {
            let translator = Translator::new(translation_of(config.lock), config, scripts.clone());
            let translator = translator.ok_or(ReplayError::LeaseTooLong)?;
            Ok::<_, ReplayError>(match receipt_lease {
                Some(lease) => translator.with_receipts_of(lease),
                None => translator,
            })
        };
        let target: Box<dyn Target> = match target {
            TargetProgram::Scripts(_) => Box::new(ScriptClients::new(config, translate()?)),
            TargetProgram::Redisson(program) => {
                Box::new(RedissonClients::new(config, translate()?, &program, (server, START_MS))?)
            }
        };
        refuse_unsuited(server, config)?;
        let mut setup = target.setup();
        setup.push(Testbed::setup_command());
        let servers = ServerGroups::start((server, is_cluster), config, &setup, watch)?;
        Ok(Self {
            config: *config,
            target,
            testbed: Testbed::new(servers),
            translator: translate()?,
            clients,
            seen_keys: BTreeSet::new(),
            step: 0,
        })
    }

    /// The client library that is replayed, and its version: `redisson 4.7.0`; `None`: our scripts.
    pub fn clients(&self) -> Option<&str> {
        self.clients.as_deref()
    }

    /// Flavour and version of the servers.
    pub fn server(&self) -> String {
        self.testbed.servers.server().to_string()
    }

    /// The last step that was begun in the current history; 0: none.
    pub const fn step(&self) -> usize {
        self.step
    }

    /// What was asked and answered in the steps of the current history, where answers are kept.
    pub fn answers(&self) -> &[Vec<String>] {
        &self.testbed.findings.answers
    }

    /// Plays a trace from its first state, and compares until its end or the first difference.
    ///
    /// # Errors
    /// What keeps the servers from being asked. A difference is a result.
    pub fn replay(&mut self, trace: &Trace, keeps_answers: bool) -> Result<Played, ReplayError> {
        self.replay_on_running_servers(trace, keeps_answers).map_err(|error| self.with_cause(error))
    }

    /// A server that has ended, or stands still, fails whatever is asked of it, with errors that do not say so.
    fn with_cause(&self, error: ReplayError) -> ReplayError {
        if matches!(error, ReplayError::Stopped) {
            return error;
        }
        // Its connections end a moment before its process has ended.
        let begin = Instant::now();
        let ended = loop {
            let ended = self.testbed.servers.unasked_end();
            if ended.is_some() || begin.elapsed() > ENDS_WITHIN {
                break ended;
            }
            thread::sleep(Duration::from_millis(1));
        };
        let error = Box::new(error);
        let named = |name, process| format!("{name} (process {process})");
        match (ended, self.testbed.servers.unasked_stop()) {
            (Some((name, process, status)), _) => {
                ReplayError::ServerEnded { server: named(name, process), status, error }
            }
            (None, Some((name, process))) => ReplayError::ServerStopped { server: named(name, process), error },
            (None, None) => *error,
        }
    }

    fn replay_on_running_servers(&mut self, trace: &Trace, keeps_answers: bool) -> Result<Played, ReplayError> {
        self.target.end()?;
        self.step = 0;
        self.seen_keys.clear();
        self.testbed.reset()?;
        self.target.begin(trace, &mut self.testbed)?;
        self.testbed.servers.start_sentinels(trace)?;
        let played = self.play_all(trace, keeps_answers);
        let (played, failovers) = self.end_sentinels(played)?;
        let findings = std::mem::take(&mut self.testbed.findings);
        let difference = findings.difference.map(|found| Difference { known: self.known(&found, trace), ..found });
        Ok(Played {
            server: self.server(),
            clients: self.clients.clone(),
            steps: difference.as_ref().map_or(played, |difference| difference.step),
            compared: findings.compared,
            answers: findings.answers,
            difference,
            left: findings.left,
            failovers,
        })
    }

    /// Ends the sentinels. If they did more than the history says, a difference or an error was caused by that.
    fn end_sentinels(&mut self, played: Result<usize, ReplayError>) -> Result<(usize, Vec<Failover>), ReplayError> {
        let (failovers, are_ahead) = self.testbed.servers.end_sentinels();
        let is_unexplained = match &played {
            Ok(_) => self.testbed.findings.difference.is_some(),
            Err(error) => !error.is_of_sentinel(),
        };
        if is_unexplained && are_ahead {
            return Err(ReplayError::SentinelIsAhead);
        }
        Ok((played?, failovers))
    }

    /// A likely cause of the difference: something that this server is known to do and the model does not.
    fn known(&self, difference: &Difference, trace: &Trace) -> Option<&'static str> {
        let before = trace.state_after(difference.step.checked_sub(1)?);
        let asked = &before.clients.get(client_of(difference.action)?)?.master;
        let is_replica = before.nodes.iter().any(|node| node.name == *asked && !node.is_master());
        let shows_expired = self.testbed.servers.server().shows_scripts_what_has_expired();
        // Who finds the key writes where the model does not, and the reverse.
        let refuses_once = (difference.model == READ_ONLY) != (difference.redis == READ_ONLY);
        let is_known = is_replica && difference.what == "reply" && refuses_once && shows_expired;
        is_known.then_some(
            "before Redis 7.0 a script on a replica still sees a key that has expired, until the master deletes it; the \
             model hides it. Use Redis 7.0 or newer for worlds in which clients ask a master that was demoted",
        )
    }

    /// Plays steps until the first difference. Returns how many.
    fn play_all(&mut self, trace: &Trace, keeps_answers: bool) -> Result<usize, ReplayError> {
        let mut played = 0;
        for step in &trace.steps {
            if keeps_answers {
                self.testbed.findings.answers.push(Vec::new());
            }
            self.step = step.number;
            self.play(HistoryStep { step, before: trace.state_after(step.number - 1) })?;
            if self.testbed.findings.left.is_some() {
                break;
            }
            played = step.number;
            if self.testbed.findings.difference.is_some() {
                break;
            }
        }
        self.target.settle(&mut self.testbed)?;
        Ok(played)
    }

    fn play(&mut self, step: HistoryStep<'_>) -> Result<(), ReplayError> {
        self.target.prepare(step, &mut self.testbed)?;
        if self.testbed.findings.is_over() {
            return Ok(());
        }
        self.change_servers(step)?;
        // Answers read on the way may already differ: then nothing more can be expected of the servers.
        if self.testbed.findings.difference.is_some() {
            return Ok(());
        }
        self.testbed.rounds.follow(&self.config, step);
        let executed_by = self.target.act(step, &mut self.testbed)?;
        if self.testbed.findings.left.is_some() {
            return Ok(());
        }
        let is_followed = |node: usize| self.testbed.servers.followed_masters().contains(&node);
        if step.has(Happening::Wrote) && executed_by.is_some_and(is_followed) {
            self.mark_effect()?;
        }
        if matches!(step.step.action, Action::RenewAcknowledged { .. }) {
            self.apply_all()?;
        }
        self.target.observe(step, &mut self.testbed)?;
        self.merge_effects(step)?;
        let state = &step.step.state;
        if self.config.counts_deletions() {
            let stored = state.nodes.iter().flat_map(|node| self.translator.key_names(&node.stored));
            self.seen_keys.extend(stored);
        }
        let servers = &self.testbed.servers;
        let beyond_ms: Vec<_> = (0..servers.len()).map(|node| servers.ms_beyond_tie(node)).collect();
        let now_ms = START_MS + i64::from(step.ticks_after()) * i64::from(self.config.time.tick_ms);
        let (rounds, config) = (&self.testbed.rounds, &self.config);
        let words: Vec<_> = (0..state.nodes.len().min(servers.len()))
            .map(|node| {
                let stored = rounds.in_redis(config, node, &state.nodes[node].stored);
                self.translator.stored_words(&stored, beyond_ms[node])
            })
            .collect();
        self.testbed.queue_comparison((step.place(), now_ms), state, |node| words[node].clone());
        Ok(())
    }

    /// Makes one effect of those that are one in the model after this step.
    fn merge_effects(&mut self, step: HistoryStep<'_>) -> Result<(), ReplayError> {
        if self.testbed.servers.has_one_effect() {
            return Ok(());
        }
        let has_written = usize::from(step.has(Happening::Wrote));
        for (node, (before, after)) in step.before.nodes.iter().zip(&step.step.state.nodes).enumerate() {
            let is_applied = step.step.action == Action::Replicate { node: u8::try_from(node).unwrap_or(u8::MAX) };
            let before = before.under_way.get(usize::from(is_applied)..).unwrap_or_default();
            let after = &after.under_way;
            // What is deleted because it has expired is an effect as well, and marked already.
            let marked = self.testbed.servers.effects_under_way(node).max(before.len() + has_written);
            if after.is_empty() || after.len() >= marked {
                continue;
            }
            self.target.settle(&mut self.testbed)?;
            let merged = before.iter().zip(after).take_while(|(before, after)| before == after).count();
            self.testbed.servers.merge_effects(node, merged, after.len());
        }
        Ok(())
    }

    /// The replicas apply all that is under way to them.
    fn apply_all(&mut self) -> Result<(), ReplayError> {
        self.target.settle(&mut self.testbed)?;
        for node in 0..self.testbed.servers.len() {
            while self.testbed.servers.effects_under_way(node) > 0 {
                self.testbed.servers.replicate(node)?;
            }
        }
        Ok(())
    }

    /// What a client made the acting master write is one effect for its replicas.
    fn mark_effect(&mut self) -> Result<(), ReplayError> {
        if !self.testbed.servers.has_replicas() {
            return Ok(());
        }
        let is_queued = self.testbed.mark_effect()?;
        if is_queued && self.config.cluster.lag.is_zero() {
            self.target.settle(&mut self.testbed)?;
            self.testbed.servers.release_if_without_lag()?;
        }
        Ok(())
    }

    /// Changes nodes, links and clocks as the step does.
    #[expect(clippy::too_many_lines, reason = "one arm for each action")]
    fn change_servers(&mut self, step: HistoryStep<'_>) -> Result<(), ReplayError> {
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

/// The scenario in the variant that this server runs: TTLs reach its replicas in the way of its version.
pub fn suited(config: &Config, server: &ServerProgram) -> Config {
    Config { cluster: Cluster { ttls: server.ttls(), ..config.cluster }, ..*config }
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
