//! Plays a history step by step on a testbed, and compares after each step.
//!
//! The player walks the trace. Faults and other changes of nodes, links and clocks it makes itself, on the servers; what the
//! clients do it leaves to the target. After each step it compares what every running node stores, and its role.

use std::collections::BTreeSet;

use lockstep_model::Happening;
use lockstep_model::config::Cluster;
use lockstep_model::trace::{Contents, Trace, TraceStep};
use lockstep_model::{Action, Config};
use lockstep_redis::Scripts;

use super::compare::Difference;
use super::error::ReplayError;
use super::history_step::{HistoryStep, client_of};
use super::servers::sentinel::{Failover, refuse_world};
use super::servers::{SentinelWatch, ServerGroup, ServerProgram, refuse_unsuited};
use super::target::{ScriptClients, Target};
use super::testbed::Testbed;
use super::translate::{Translator, translation_of};

/// What a replay found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// Flavour and version: `redis 7.0.15`.
    pub server: String,
    /// Steps played.
    pub steps: usize,
    /// Things compared: replies, the contents and roles of nodes, messages.
    pub compared: usize,
    /// Per step, what was asked of real Redis and what it answered; empty unless asked for.
    pub answers: Vec<Vec<String>>,
    /// The first place where model and Redis disagree.
    pub difference: Option<Difference>,
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
    /// Every key that the history has stored so far, where clocks jump and masters must find what has expired.
    seen_keys: BTreeSet<String>,
}

impl Player {
    /// Starts the scenario's servers, whose clients use these scripts.
    ///
    /// # Errors
    /// Whatever keeps a server from running under our clock and behind our gates.
    pub fn start(server: &ServerProgram, config: &Config, scripts: Scripts) -> Result<Self, ReplayError> {
        Self::start_watched(server, config, scripts, None)
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
        Self::start_watched(server, config, scripts, Some(SentinelWatch::default()))
    }

    fn start_watched(
        server: &ServerProgram,
        config: &Config,
        scripts: Scripts,
        watch: Option<SentinelWatch>,
    ) -> Result<Self, ReplayError> {
        let translate =
            |scripts| Translator::new(translation_of(config.lock), config, scripts).ok_or(ReplayError::LeaseTooLong);
        let target = Box::new(ScriptClients::new(config, translate(scripts.clone())?));
        refuse_unsuited(server, config)?;
        let mut setup = target.setup();
        setup.push(Testbed::setup_command());
        let servers = ServerGroup::start(server, config, setup, watch)?;
        Ok(Self {
            config: *config,
            target,
            testbed: Testbed::new(servers),
            translator: translate(scripts)?,
            seen_keys: BTreeSet::new(),
        })
    }

    /// Flavour and version of the servers.
    pub fn server(&self) -> String {
        self.testbed.servers.server().to_string()
    }

    /// Plays a trace from its first state, and compares until its end or the first difference.
    ///
    /// # Errors
    /// What keeps the servers from being asked. A difference is a result.
    pub fn replay(&mut self, trace: &Trace, keeps_answers: bool) -> Result<Played, ReplayError> {
        self.target.begin();
        self.seen_keys.clear();
        self.testbed.reset()?;
        self.testbed.servers.start_sentinels(trace)?;
        let played = self.play_all(trace, keeps_answers);
        let (played, failovers) = self.end_sentinels(played)?;
        let findings = std::mem::take(&mut self.testbed.findings);
        let difference = findings.difference.map(|found| Difference { known: self.known(&found, trace), ..found });
        Ok(Played {
            server: self.server(),
            steps: difference.as_ref().map_or(played, |difference| difference.step),
            compared: findings.compared,
            answers: findings.answers,
            difference,
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
        let is_known = is_replica && difference.what == "reply" && shows_expired;
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
            self.play(HistoryStep { step, before: trace.state_after(step.number - 1) })?;
            played = step.number;
            if self.testbed.findings.difference.is_some() {
                break;
            }
        }
        self.target.settle(&mut self.testbed)?;
        Ok(played)
    }

    fn play(&mut self, step: HistoryStep<'_>) -> Result<(), ReplayError> {
        self.change_servers(step)?;
        // Answers read on the way may already differ: then nothing more can be expected of the servers.
        if self.testbed.findings.difference.is_some() {
            return Ok(());
        }
        let executed_by = self.target.act(step, &mut self.testbed)?;
        if step.has(Happening::Wrote) && executed_by == Some(self.testbed.servers.master()) {
            self.mark_effect()?;
        }
        self.target.observe(step, &mut self.testbed)?;
        self.merge_effects(step)?;
        let state = &step.step.state;
        if self.config.faults.clock_jump > 0 {
            let stored = state.nodes.iter().flat_map(|node| self.translator.key_names(&node.stored));
            self.seen_keys.extend(stored);
        }
        self.testbed
            .queue_comparison(step.place(), state, |node| self.translator.stored_words(&state.nodes[node].stored));
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
    fn change_servers(&mut self, step: HistoryStep<'_>) -> Result<(), ReplayError> {
        let index = usize::from;
        // Every clock that moves, and every node that becomes master, may find keys expired.
        match step.step.action {
            Action::Tick => self.change(true, |servers| servers.pass_tick().map(|()| None)),
            Action::ClockJump { node } => self.change(true, |servers| servers.jump(index(node)).map(Some)),
            Action::HandOver { node } => {
                self.change(true, |servers| servers.hand_over(index(node), step.step.number).map(Some))
            }
            Action::Promote { node } => {
                self.change(true, |servers| servers.promote(index(node), step.step.number).map(Some))
            }
            Action::RestartNode { node } => {
                let (is_master, finds_data) = restarted(step, index(node));
                self.change(true, |servers| servers.restart(index(node), is_master, finds_data).map(Some))
            }
            Action::Replicate { node } => self.change(false, |servers| servers.replicate(index(node)).map(Some)),
            Action::CrashNode { node } => self.change(false, |servers| servers.crash(index(node)).map(Some)),
            Action::Resync { node } => self.change(false, |servers| servers.resync(index(node)).map(Some)),
            Action::Demote { node } => self.change(false, |servers| servers.demote(index(node)).map(Some)),
            Action::Fsync { node } => self.change(false, |servers| servers.fsync(index(node)).map(Some)),
            Action::CutLink { node } => self.change(false, |servers| Ok(Some(servers.cut(index(node))))),
            Action::Heal { node } => self.change(false, |servers| servers.heal(index(node)).map(Some)),
            Action::PauseNode { node } => self.change(false, |servers| servers.pause(index(node)).map(Some)),
            Action::ResumeNode { node } => {
                let resumed = &step.step.state.nodes[index(node)];
                let counts = !(resumed.is_master() && self.config.counts_replicas_late());
                self.change(true, |servers| servers.resume(index(node), resumed.last_count, counts).map(Some))
            }
            Action::CountReplicas { node } => {
                let is_cut = step.step.state.nodes[index(node)].is_cut;
                self.change(false, |servers| servers.count_anew(index(node), is_cut).map(Some))
            }
            Action::VanishKey { node } => self.change(false, |servers| servers.drop_key(index(node)).map(Some)),
            Action::Discover { client } => self.compare_sentinels_answer(step, index(client)),
            // The clients and their requests: the target plays them.
            Action::Acquire { .. }
            | Action::Subscribe { .. }
            | Action::SecondAsk { .. }
            | Action::WakeByMessage { .. }
            | Action::WakeByTimer { .. }
            | Action::GiveUp { .. }
            | Action::Confirm { .. }
            | Action::Undo { .. }
            | Action::Work { .. }
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

    /// Changes the servers once nothing is on its way to them.
    fn change(
        &mut self,
        may_expire: bool,
        change: impl FnOnce(&mut ServerGroup) -> Result<Option<String>, ReplayError>,
    ) -> Result<(), ReplayError> {
        self.target.settle(&mut self.testbed)?;
        if self.testbed.findings.difference.is_some() {
            return Ok(());
        }
        if let Some(done) = change(&mut self.testbed.servers)? {
            self.testbed.findings.note(|| done);
        }
        if may_expire { self.testbed.servers.delete_expired(&self.seen_keys) } else { Ok(()) }
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

/// Whether a node that is started again is a master, and whether its disk has data.
fn restarted(HistoryStep { step: TraceStep { state, .. }, before }: HistoryStep<'_>, node: usize) -> (bool, bool) {
    let finds_lock = before.nodes[node].on_disk.as_ref().is_some_and(Contents::is_held);
    (state.nodes[node].is_master(), finds_lock)
}
