//! Real Redisson as the clients of a history: the target `redisson`.
//!
//! A step lets one request pass at the gate of its client, or one message, or makes the application do something. So what
//! the history says of the order is what happens; and whatever Redisson sends that the history does not say, or does not send
//! although it does, is a difference. While time passes, nothing may be held: the model's clients do at once what they can.

use std::collections::{BTreeSet, VecDeque};

use lockstep_model::client::Phase;
use lockstep_model::config::{Profile, Resend};
use lockstep_model::limits::RENEWAL_BATCH;
use lockstep_model::trace::{ClientMode, ClientState, NodeRole, SubscriptionState, Trace, client_name};
use lockstep_model::{Action, Config, Reply};
use redis::Cmd;

use super::applications::{Applications, NewClient, ServerReach};
use super::calls::{IS_HELD, READ_TOKEN};
use super::chains::RenewalChains;
use super::client_times::{ClientTimes, ReplicaSync, ToldBy};
use super::deployment::Deployment;
use super::interruption::{Interruption, flagged};
use super::master_calls::{MasterCalls, MastersStep};
use super::open_wait::OpenWait;
use super::overtaking::{GAP_MS, overtaken_clients};
use super::program::RedissonProgram;
use super::pub_sub::PubSubCommands;
use super::refusals::{asks_once, refuse_on_server, refuse_world};
use super::requests::GatedRequests;
use super::semaphore::SemaphoreQueue;
use super::sides::OldEntry;
use crate::replay::error::ReplayError;
use crate::replay::history_step::HistoryStep;
use crate::replay::servers::ServerProgram;
use crate::replay::servers::sentinel::LoneSentinel;
use crate::replay::target::Target;
use crate::replay::testbed::Testbed;
use crate::replay::translate::{ClientPart, ScriptVerb, Translator};

/// Connections of a client on a split network: more than it has requests under way. With fewer than ten, Redisson 4.7 sends the
/// next request over a connection before the reply to the last one.
const CONNECTIONS: u32 = 10;

/// Clients of Redisson.
pub struct RedissonClients {
    pub(super) config: Config,
    pub(super) translator: Translator,
    pub(super) applications: Applications,
    /// The receipts of each client's releases that were answered, and are not dropped yet.
    pub(super) receipts: Vec<Vec<String>>,
    /// The timers of each client's watchdog, for each of its tables.
    pub(super) chains: Vec<Vec<RenewalChains>>,
    /// What each client of an older version renews of a lock with readers.
    pub(super) old_entries: Vec<OldEntry>,
    /// What the messages say that are under way to each client.
    pub(super) messages: Vec<VecDeque<&'static str>>,
    /// The threads of each client that wait for a message.
    waiting: Vec<SemaphoreQueue>,
    /// What is under way on a split network.
    pub(super) in_flight: GatedRequests,
    /// How each server is reached.
    pub(super) reaches: Vec<ServerReach>,
    /// The `WAIT`s that no server has answered.
    pub(super) open_waits: Vec<OpenWait>,
    /// How their servers are set up.
    pub(super) deployment: Deployment,
    /// What they ask for their master, if the deployment has one and it was started.
    sentinel: Option<LoneSentinel>,
    /// By which commands they publish and subscribe.
    pub(super) commands: PubSubCommands,
    /// Whether their servers say the name of an error that a write in a script meets.
    pub(super) names_errors: bool,
    /// How callers give up.
    pub(super) interruption: Interruption,
    /// The steps at which a thread calls whose interrupt flag is set.
    pub(super) flagged: BTreeSet<usize>,
    /// The clients of which a request overtakes the attempt before it in this history.
    pub(super) overtaken: BTreeSet<u8>,
    /// The clients that were granted the first hold of a table at this instant, at which its timer is due; and that table.
    pub(super) granted_when_due: BTreeSet<(u8, usize)>,
    /// Of each client: whether its lock object remembered a lease when each of its threads last had a reason to ask again.
    pub(super) remembered: Vec<Vec<bool>>,
    /// The clients that have ended their subscription.
    pub(super) unsubscribed: BTreeSet<u8>,
    /// The clients of which an acquire was interrupted while it was under way.
    pub(super) interrupted_acquires: BTreeSet<u8>,
    /// The clients whose subscription has ended with a server, and that were not subscribed, nor silent while time passed, since.
    pub(super) lost_subscriptions: BTreeSet<u8>,
    /// The clients that have subscribed, or were sent a message, or whose timer has fired, while their server executes nothing.
    pub(super) asks_unreached: BTreeSet<u8>,
    /// The clients that a `WAIT` which the model does not have has told another number of replicas: they read it anew.
    pub(super) forgotten: BTreeSet<u8>,
    /// The clients whose question about `WAITAOF` a replica has refused: their calls throw before they have sent a script.
    pub(super) refused_probes: BTreeSet<u8>,
    /// The threads whose timers had fired when a message came for their client, and that have not asked since.
    pub(super) woken_twice: BTreeSet<(u8, u8)>,
    /// How many permits the semaphore of each client has that the model does not have.
    pub(super) spare_permits: Vec<u8>,
    /// What they are inside of, where they ask several masters.
    pub(super) master_calls: MasterCalls,
}

impl RedissonClients {
    /// The clients of a scenario, on such servers. `start_ms`: their wall clocks when they are started.
    ///
    /// # Errors
    /// `NotForRedisson`; `NoRedisson` of a client that has a version of its own.
    pub fn new(
        config: &Config,
        translator: Translator,
        program: &RedissonProgram,
        (server, start_ms): (&ServerProgram, i64),
    ) -> Result<Self, ReplayError> {
        let program = &program.of_world(config);
        refuse_world(config, program)?;
        refuse_on_server(config, program, server)?;
        // To wait until one client sends a request again moves the clocks of its JVM. Another client there would time out with it.
        let sends_again = (0..config.clients.count).any(|client| config.of_client(client).calls.resend == Resend::All);
        let interruption = program.interruption();
        let programs = (0..config.clients.count)
            .map(|client| program.for_profile(config.of_client(client).protocol.profile, config.protocol.profile))
            .collect::<Result<Vec<_>, _>>()?;
        let are_of_one_version = programs.iter().all(|one| one.version() == program.version());
        let are_apart = config.faults.pause_client > 0
            || config.faults.client_clock_jump > 0
            || (0..config.clients.count).any(|client| config.clock_ahead_of(client) > 0)
            || config.is_split() && sends_again
            || !are_of_one_version;
        let mut applications = Applications::new(programs, are_apart, config.time.tick_ms, start_ms);
        let are_one = config.shares() || config.has_parts();
        applications.sides = if are_one { config.clients.threads.into() } else { 0 };
        applications.masters = if config.asks_master_locks() { config.cluster.groups.into() } else { 1 };
        Ok(Self {
            config: *config,
            translator,
            applications,
            receipts: Vec::new(),
            chains: Vec::new(),
            old_entries: Vec::new(),
            messages: Vec::new(),
            waiting: Vec::new(),
            in_flight: GatedRequests::default(),
            reaches: Vec::new(),
            open_waits: Vec::new(),
            commands: program.pub_sub_commands(server),
            names_errors: server.names_errors_of_scripts(),
            deployment: program.deployment(),
            sentinel: None,
            interruption,
            flagged: BTreeSet::new(),
            overtaken: BTreeSet::new(),
            granted_when_due: BTreeSet::new(),
            remembered: Vec::new(),
            unsubscribed: BTreeSet::new(),
            lost_subscriptions: BTreeSet::new(),
            interrupted_acquires: BTreeSet::new(),
            asks_unreached: BTreeSet::new(),
            forgotten: BTreeSet::new(),
            refused_probes: BTreeSet::new(),
            woken_twice: BTreeSet::new(),
            spare_permits: Vec::new(),
            master_calls: MasterCalls::default(),
        })
    }

    /// Who tells a client where the master is.
    fn told_by(&self) -> ToldBy {
        let sentinel = usize::from(self.config.nodes());
        match (self.deployment, self.sentinel.as_ref().map(LoneSentinel::announced)) {
            (Deployment::Cluster, _) => ToldBy::Cluster,
            (Deployment::Sentinel, Some(announced)) => ToldBy::Sentinel { announced, sentinel },
            (Deployment::AsScenario | Deployment::Sentinel, _) => ToldBy::Settings,
        }
    }

    /// What it does about replicas, where it does not know of a single server.
    fn sync_of(&self, own: &Config) -> ReplicaSync {
        ReplicaSync { told_by: self.told_by(), ..Self::sync_with_replicas(own) }
    }

    /// Whether a client that starts opens connections to another node than its master, which pass no gate: so does 3.15 in a cluster,
    /// to a node that was not told of the master yet.
    fn connects_to_others(&self, client: u8, step: HistoryStep<'_>) -> bool {
        let is_of_2021 = self.config.of_client(client).protocol.profile == Profile::Redisson315;
        let mut replicas = step.before.nodes.iter().filter(|node| !node.is_master());
        is_of_2021 && self.deployment == Deployment::Cluster && replicas.any(|node| node.role == NodeRole::Unsynced)
    }

    fn times(&self, client: u8) -> ClientTimes {
        let own = self.config.of_client(client);
        let tick_ms = own.time.tick_ms;
        // Without a watchdog every call names its own lease.
        // A release brings the lease by which its lock was granted last, and where it never was, that of the watchdog.
        let lease = if own.asks_master_locks() { own.part_lease() } else { own.time.lease };
        let times = ClientTimes::default_with(i64::from(lease) * i64::from(tick_ms));
        if !own.is_split() {
            let asks_once = asks_once(&own);
            let attempts = if asks_once { 0 } else { times.attempts };
            // What is lost fails at once: its time-out is over within half a tick.
            let answer_within_ms =
                if asks_once { times.answer_within_ms.min(tick_ms / 4) } else { times.answer_within_ms };
            // A reply that is late comes before its time is over.
            let answer_within_ms =
                if own.faults.slow_reply > 0 { ClientTimes::LATE_REPLY_MS } else { answer_within_ms };
            // Where two threads wait, each asks at once when it is subscribed or woken, and a history may take them in either order.
            let may_ask_together = own.clients.threads > 1 && own.waits() && own.cluster.replicas == 0;
            // A thread may ask for its lock while another one waits for replicas.
            let may_wait_beside = own.clients.names > 1 && own.cluster.wait_for > 0;
            // Each side of a lock with readers has a timer, and both may fire at once.
            let may_renew_together = own.shares() && own.time.renew_every.is_some() && own.cluster.replicas == 0;
            // A call about several parts sends its next request at once, and a renewal that is due may come before it.
            let may_ask_beside_renewal = own.has_parts() && own.time.renew_every.is_some() && own.cluster.replicas == 0;
            let is_many = may_ask_together || may_wait_beside || may_renew_together || may_ask_beside_renewal;
            let connections = if is_many { CONNECTIONS } else { times.connections };
            let batch = own.protocol.renewal_batch;
            let renewal_batch = (own.clients.names > 1 && batch != RENEWAL_BATCH).then_some(batch);
            let queue_wait_ms = u64::from(own.time.queue_wait.unwrap_or(0)) * u64::from(tick_ms);
            let times = ClientTimes { renewal_batch, queue_wait_ms, answer_within_ms, attempts, connections, ..times };
            let knows_single_server = own.cluster.replicas == 0 && self.deployment == Deployment::AsScenario;
            let sync = if knows_single_server { None } else { Some(self.sync_of(&own)) };
            return ClientTimes { sync, ..times };
        }
        let answer_within_ms = u32::from(own.calls.answer_within) * tick_ms;
        if own.calls.resend == Resend::All {
            // With a single server it does not send acquires and releases again (docs/facts/redisson.md#resending): this one is
            // a master that has no replicas.
            let sync = Some(self.sync_of(&own));
            let attempts = u32::from(own.calls.retry_attempts);
            let delay_ms = if self.overtaken.contains(&client) { GAP_MS } else { 0 };
            let answer_within_ms = answer_within_ms - delay_ms;
            return ClientTimes { answer_within_ms, attempts, delay_ms, connections: CONNECTIONS, sync, ..times };
        }
        // One attempt, and a delay that makes receipts live as long as the scenario says.
        let delay_ms = (u32::from(own.calls.receipt) * tick_ms).saturating_sub(answer_within_ms);
        ClientTimes { answer_within_ms, attempts: 1, delay_ms, connections: CONNECTIONS, ..times }
    }
}

impl Target for RedissonClients {
    fn setup(&self) -> Vec<Cmd> {
        Vec::new()
    }

    fn end(&mut self) -> Result<(), ReplayError> {
        self.applications.close()
    }

    fn begin(&mut self, trace: &Trace, testbed: &mut Testbed) -> Result<(), ReplayError> {
        self.flagged = flagged(trace, self.interruption);
        self.overtaken = overtaken_clients(trace);
        self.granted_when_due.clear();
        self.unsubscribed.clear();
        self.lost_subscriptions.clear();
        self.interrupted_acquires.clear();
        self.asks_unreached.clear();
        self.refused_probes.clear();
        self.woken_twice.clear();
        let mut sockets: Vec<_> =
            (0..testbed.servers.len()).map(|node| testbed.servers.node(node).socket().to_owned()).collect();
        self.applications.announced = testbed.servers.announced_in_cluster();
        let others = testbed.servers.ways_to_other_masters().map(|(socket, port)| {
            sockets.push(socket.to_owned());
            (sockets.len() - 1, port)
        });
        self.applications.other_masters = others.collect();
        self.forgotten.clear();
        if self.deployment == Deployment::Sentinel {
            let sentinel = match self.sentinel.take() {
                Some(same) => same,
                None => LoneSentinel::start(testbed.servers.server())?,
            };
            sockets.push(self.sentinel.insert(sentinel).socket().to_owned());
        }
        let is_late = |client: u8| trace.state_after(0).clients[usize::from(client)].mode == ClientMode::NotStarted;
        let of = |client| NewClient {
            name: client_name(client).to_string(),
            times: self.times(client),
            is_late: is_late(client),
        };
        let clients: Vec<_> = (0..self.config.clients.count).map(of).collect();
        self.receipts = vec![Vec::new(); clients.len()];
        self.remembered = vec![vec![false; usize::from(self.config.clients.threads)]; clients.len()];
        self.waiting = vec![SemaphoreQueue::default(); clients.len()];
        self.messages = vec![VecDeque::new(); clients.len()];
        self.spare_permits = vec![0; clients.len()];
        self.old_entries = vec![OldEntry::default(); clients.len()];
        self.in_flight = GatedRequests::default();
        self.open_waits.clear();
        self.reaches.clear();
        self.chains =
            (0..self.config.clients.count).map(|client| RenewalChains::of(&self.config.of_client(client))).collect();
        let threads = usize::from(self.config.clients.threads);
        // The first command of a client starts its timer, and that swallows an interrupt
        // (docs/facts/redisson.md#the-interrupt-flag-is-enough). It also shows which connection is for requests.
        let has_asked =
            self.interruption == Interruption::Flag || self.config.can_stall_writes() && !self.config.is_split();
        self.master_calls = MasterCalls::of(&self.config, trace);
        self.applications.connect(clients, threads, &sockets, has_asked)?;
        for client in (0..self.config.clients.count).filter(|client| self.config.clock_ahead_of(*client) > 0) {
            let ms = i64::from(self.config.clock_ahead_of(client)) * i64::from(self.config.time.tick_ms);
            self.applications.jump_wall_clock(client.into(), ms);
        }
        Ok(())
    }

    fn prepare(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        self.end_waits_before(step, testbed)?;
        if testbed.findings.is_over() {
            return Ok(());
        }
        match step.step.action {
            Action::Tick => {
                testbed.send_queued()?;
                self.leave_old_entries(step, testbed);
                if !testbed.findings.is_over() {
                    self.expect_silence(step, testbed)?;
                }
            }
            Action::Demote { node } if !self.config.is_split() => self.begin_waits_at(usize::from(node))?,
            _ => {}
        }
        Ok(())
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each part that a client has in a step")]
    fn act(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<Option<usize>, ReplayError> {
        testbed.send_queued()?;
        if testbed.findings.difference.is_some() {
            return Ok(None);
        }
        if !Self::is_in_order(step, testbed) || !self.follow_servers(step, testbed)? {
            return Ok(None);
        }
        let is_lost = |client: &ClientState| matches!(client.subscription, Some(SubscriptionState::Lost));
        for (client, state) in (0u8..).zip(&step.before.clients) {
            if is_lost(state) {
                self.lost_subscriptions.insert(client);
            } else if matches!(state.subscription, Some(SubscriptionState::Node(_))) {
                self.lost_subscriptions.remove(&client);
            }
        }
        if let MastersStep::Done { executed_by } = self.act_on_masters(step, testbed)? {
            return Ok(executed_by);
        }
        match step.step.action {
            Action::Tick => {
                for (client, state) in (0u8..).zip(&step.before.clients) {
                    let period = self.config.of_client(client).time.renew_every.unwrap_or_default();
                    self.chains[usize::from(client)].iter_mut().for_each(|chains| chains.pass_tick(state, period));
                }
                self.granted_when_due.clear();
                self.woken_twice.clear();
                self.applications.pass_tick()?;
                Ok(None)
            }
            Action::Acquire { client, thread } => self.acquire((client, thread), step, testbed),
            Action::NextPart { client, thread } => self.ask_for_part((client, thread), step, testbed),
            Action::GiveBack { client, thread } => {
                self.ask((client, Some(thread)), ScriptVerb::Release { client, thread }, step, testbed)
            }
            Action::SetTtl { client, thread } => {
                self.ask((client, Some(thread)), ScriptVerb::SetTtl { client, thread }, step, testbed)
            }
            Action::SecondAsk { client, thread }
            | Action::WakeByMessage { client, thread }
            | Action::WakeByTimer { client, thread } => {
                let is_woken = matches!(step.step.action, Action::WakeByMessage { .. });
                if is_woken && self.waiting[usize::from(client)].is_behind(thread) {
                    testbed.findings.leave(
                        "a message wakes the thread that has waited for less time here, and in Redisson the other one",
                    );
                    return Ok(None);
                }
                if is_woken && self.leave_woken_twice((client, thread), step, testbed) {
                    return Ok(None);
                }
                if self.leave_earlier_ask(client, step, testbed) {
                    return Ok(None);
                }
                let asked = usize::from(client);
                let may_have_fired = self.applications.is_late(asked) || self.applications.has_moved_ahead(asked);
                if self.leave_timer_without_holds((client, thread), step, may_have_fired, testbed) {
                    return Ok(None);
                }
                self.ask((client, Some(thread)), ScriptVerb::Acquire { client, thread }, step, testbed)
            }
            Action::Release { client, thread } | Action::ForeignRelease { client, thread } => {
                let before = &step.before.clients[usize::from(client)].threads[usize::from(thread)];
                if self.counts_otherwise((client, thread), before.holds, step) {
                    testbed.findings.leave("Redisson's renewal table counts otherwise after a hold was lost");
                    return Ok(None);
                }
                self.leave_release_of_free_lock(client, step, testbed);
                if testbed.findings.is_over() {
                    return Ok(None);
                }
                self.begin_call((client, thread), before.holds, "unlock", (step, testbed))?;
                let verb = ScriptVerb::Release { client, thread };
                let executed_by = self.ask((client, Some(thread)), verb, step, testbed)?;
                self.leave_early_renewal(client, step, testbed);
                Ok(executed_by)
            }
            Action::ReadToken { client, thread } => {
                let before = &step.before.clients[usize::from(client)].threads[usize::from(thread)];
                self.begin_call((client, thread), before.holds, READ_TOKEN, (step, testbed))?;
                self.ask((client, Some(thread)), ScriptVerb::ReadToken { client, thread }, step, testbed)
            }
            Action::AskIfHeld { client, thread } => {
                self.begin_call((client, thread), 0, IS_HELD, (step, testbed))?;
                self.ask((client, Some(thread)), ScriptVerb::AskIfHeld { client, thread }, step, testbed)
            }
            Action::ForceRelease { client } => {
                let thread = self.config.clients.threads;
                self.begin_call((client, thread), 0, "force-unlock", (step, testbed))?;
                let is_refused = matches!(step.step.answer, Reply::ReadOnly | Reply::NotEnoughReplicas);
                let own = self.config.of_client(client);
                if is_refused && own.is_split() && own.protocol.profile != Profile::Redisson315 {
                    testbed.findings.leave("a server refuses a forced release, and Redisson sends that again");
                    return Ok(None);
                }
                self.ask((client, Some(thread)), ScriptVerb::ForceRelease, step, testbed)
            }
            Action::Renew { client } | Action::RenewAcknowledged { client } => self.renew(client, step, testbed),
            Action::Subscribe { client, .. } | Action::Resubscribe { client } => {
                self.subscribe(client, step, testbed)?;
                Ok(None)
            }
            Action::Deliver { client } | Action::LoseMessage { client } => {
                self.take_message(client, step, testbed)?;
                Ok(None)
            }
            Action::Execute { .. }
            | Action::Register { .. }
            | Action::Unregister { .. }
            | Action::Answer { .. }
            | Action::Abandon { .. }
            | Action::Resend { .. }
            | Action::LoseRequest { .. }
            | Action::LoseReply { .. } => self.move_request(step, testbed),
            Action::GiveUp { client, thread } if self.config.queues() => {
                let verb = ScriptVerb::LeaveQueue { client, thread };
                self.ask((client, Some(thread)), verb, step, testbed)
            }
            Action::GiveUp { client, thread } => {
                self.give_up((client, thread), step, testbed)?;
                Ok(None)
            }
            Action::Interrupt { client, thread } => {
                self.interrupt((client, thread), step, testbed)?;
                if testbed.findings.is_over() {
                    return Ok(None);
                }
                match ClientPart::of_step(&self.config, step.step) {
                    // No version leaves the queue: a model that does is contradicted by the request that does not come.
                    ClientPart::Asks(verb) => self.ask((client, Some(thread)), verb, step, testbed),
                    _ => Ok(None),
                }
            }
            Action::CrashThread { client, thread } => {
                // Its application makes no more calls. One that is inside a call cannot be ended from outside.
                if step.before.clients[usize::from(client)].threads[usize::from(thread)].phase != Phase::Idle {
                    testbed.findings.leave("a thread of a JVM cannot be ended inside a call");
                }
                Ok(None)
            }
            Action::CrashClient { client } => {
                self.applications.kill(usize::from(client));
                Ok(None)
            }
            Action::StartClient { client, node } => {
                if self.connects_to_others(client, step) {
                    testbed.findings.leave(
                        "Redisson of 2021 starts in a cluster, and connects to a node that does not follow the master yet",
                    );
                    return Ok(None);
                }
                self.applications.start_client(usize::from(client), usize::from(node))?;
                Ok(None)
            }
            Action::PauseClient { client } => {
                self.pause(client, testbed);
                Ok(None)
            }
            Action::Resume { client } => {
                let resumed = &step.step.state.clients[usize::from(client)];
                let is_overdue = resumed.renewal_due_in == Some(0)
                    || resumed.threads.iter().any(|thread| thread.wake_in == Some(0) || thread.wait_left == Some(0));
                self.applications.set_paused(usize::from(client), false);
                if !is_overdue {
                    self.applications.catch_up(usize::from(client))?;
                }
                Ok(None)
            }
            Action::ClientClockJump { client } => {
                let threads = &step.before.clients[usize::from(client)].threads;
                let sleeps_on = self.config.lock.facts().spins();
                if !sleeps_on
                    && threads.iter().any(|thread| thread.phase == Phase::Waiting && thread.wait_left.is_some())
                {
                    testbed.findings.leave("a caller of Redisson looks at its wall clock once it has slept");
                    return Ok(None);
                }
                let ms = i64::from(self.config.time.jump) * i64::from(self.config.time.tick_ms);
                self.applications.jump_wall_clock(usize::from(client), ms);
                Ok(None)
            }
            _ => self.act_among_servers(step, testbed),
        }
    }

    fn observe(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        if self.config.asks_master_locks() {
            // Each renewal is a request that a step sends; what waiters hear is as of any lock.
            return if self.config.waits() { self.observe_messages(step, testbed) } else { Ok(()) };
        }
        for (client, (before, after)) in (0u8..).zip(step.before.clients.iter().zip(&step.step.state.clients)) {
            self.follow_timers(client, step);
            self.follow_messages(client, step);
            self.follow_old_entry(client, step);
            self.note_reasons_to_ask(client, step);
            self.waiting[usize::from(client)].follow(step.step.action, before, after, client);
        }
        self.forget_spare_permits(step);
        self.end_subscriptions(step, testbed)?;
        if !testbed.findings.is_over() {
            self.observe_batch_waits(step, testbed)?;
            self.end_renewal_wait(step, testbed)?;
        }
        if !testbed.findings.is_over() {
            self.await_messages(step, testbed)?;
        }
        Ok(())
    }

    fn settle(&mut self, testbed: &mut Testbed) -> Result<(), ReplayError> {
        testbed.send_queued().map(|_| ())
    }
}
