//! Plays a history step by step on a testbed, and compares after each step.
//!
//! The player walks the trace. Faults and other changes of nodes, links and clocks it makes itself, on the servers (`server_changes`);
//! what the clients do it leaves to the target. After each step it compares what every running node stores, and its role.

mod server_changes;

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use lockstep_model::Happening;
use lockstep_model::config::Cluster;
use lockstep_model::trace::Trace;
use lockstep_model::{Action, Config};
use lockstep_redis::Scripts;

use super::compare::Difference;
use super::error::ReplayError;
use super::history_step::{HistoryStep, client_of};
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
        let scripts = target.scripts(config);
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
            TargetProgram::ScriptsSentAgain(_) => Box::new(ScriptClients::new(config, translate()?).sending_again()),
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
            match self.play(HistoryStep { step, before: trace.state_after(step.number - 1) }) {
                // Any part of a step may find it: each waits until the clients can do nothing more.
                Err(ReplayError::EndlessCall) => {
                    if self.testbed.findings.difference.is_none() {
                        self.testbed.findings.leave("Redisson begins anew without end while no time passes");
                    }
                }
                played => played?,
            }
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
        if let Some(node) = executed_by.filter(|node| step.has(Happening::Wrote) && is_followed(*node)) {
            self.mark_effect(node)?;
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
        let since_ms = self.translator.counted_from_ms(now_ms);
        self.testbed.queue_comparison((step.place(), since_ms), state, |node| words[node].clone());
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
    fn mark_effect(&mut self, node: usize) -> Result<(), ReplayError> {
        if !self.testbed.servers.has_replicas() {
            return Ok(());
        }
        let is_queued = self.testbed.mark_effect(node)?;
        if is_queued && self.config.cluster.lag.is_zero() {
            self.target.settle(&mut self.testbed)?;
            self.testbed.servers.release_if_without_lag()?;
        }
        Ok(())
    }
}

/// The scenario in the variant that this server runs: TTLs reach its replicas in the way of its version.
pub fn suited(config: &Config, server: &ServerProgram) -> Config {
    Config { cluster: Cluster { ttls: server.ttls(), ..config.cluster }, ..*config }
}
