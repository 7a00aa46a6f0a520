//! Clients of Redisson whose master has replicas: they wait for them, and take another server for the master.
//!
//! Redisson sends `WAIT` behind every script, in one batch, where it knows of replicas
//! (docs/facts/redisson.md#wait-follows-every-script); the model only behind an acquire that is granted. The others are
//! answered before time passes, servers change or their client goes on: where one would fail then, the history is left.

use lockstep_model::client::Phase;
use lockstep_model::config::{Profile, WaitRule};
use lockstep_model::trace::{ClientState, ThreadState, client_name};
use lockstep_model::{Action, Config, Reply};
use redis::Value;

use super::applications::ServerReach;
use super::calls::{self, NO_SERVER};
use super::client_times::{ReplicaCheck, ReplicaSync};
use super::clients::RedissonClients;
use super::gate::HeldCommand;
use super::open_wait::{OpenWait, ThreadTold};
use super::told::{compare_words, gives_up_at_its_limit};
use super::wire_words::{is_prelude, replicas_asked_for, shown, words_of};
use crate::replay::error::ReplayError;
use crate::replay::history_step::{HistoryStep, client_of};
use crate::replay::target::{BEHIND_RENEWAL, end_wait};
use crate::replay::testbed::Testbed;
use crate::replay::translate::{ScriptVerb, acknowledged};

const AN_ERROR: &str = "an error";

/// Where a thread waits for a message.
const WAITING: [Phase; 3] = [Phase::Refused, Phase::Subscribed, Phase::Waiting];

impl RedissonClients {
    /// What a client is told of its replicas, or that there are none.
    pub(super) fn sync_with_replicas(own: &Config) -> ReplicaSync {
        if own.cluster.replicas == 0 {
            return ReplicaSync::with(ReplicaCheck::Alone);
        }
        let is_checked = own.cluster.wait_for > 0 && own.protocol.wait_rule != WaitRule::Ignored;
        let check = if is_checked { ReplicaCheck::Checked } else { ReplicaCheck::Unchecked };
        // There is one replica (`refuse_world`).
        let messages_from = own.subscribes_to_replica().then_some(1);
        ReplicaSync { messages_from, ..ReplicaSync::with(check) }
    }

    /// What a client does because its master has replicas. Returns the node that executed a request.
    pub(super) fn act_among_servers(
        &mut self,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<Option<usize>, ReplayError> {
        match step.step.action {
            // On a split network it is observed (`batch_wait`).
            Action::Confirm { client, thread } if !self.config.is_split() => {
                self.confirm((client, thread), step, testbed)?;
            }
            Action::Undo { client, thread } => {
                return self.ask((client, Some(thread)), ScriptVerb::Undo { client, thread }, step, testbed);
            }
            Action::Demote { node } if !self.config.is_split() => {
                self.lose_waits(usize::from(node), step, testbed)?;
            }
            Action::Discover { client } | Action::GoBack { client, .. } => {
                self.turn_to_master(client, step, testbed)?;
            }
            // Inside an application, at the resource, or on the servers alone. What this target cannot follow was refused.
            _ => {}
        }
        Ok(None)
    }

    /// Lets pass what a client asks about replicas before its scripts.
    pub(super) fn pass_preludes(&mut self, client: u8, testbed: &mut Testbed) -> Result<(), ReplayError> {
        let asked = usize::from(client);
        let next = |clients: &Self| {
            let held = clients.applications.held(asked).into_iter();
            held.filter(is_prelude).find(|held| clients.is_first(asked, held))
        };
        while let Some(held) = next(self) {
            self.pass_prelude(client, &held, testbed)?;
            if testbed.findings.is_over() {
                break;
            }
        }
        Ok(())
    }

    /// Lets one such question pass, if the server can answer it.
    pub(super) fn pass_prelude(
        &mut self,
        client: u8,
        prelude: &HeldCommand,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        let asked = usize::from(client);
        let server = self.node_of(self.applications.server_of(asked, prelude.connection));
        if testbed.servers.is_paused(server) {
            testbed.findings.leave("the server that Redisson asks about its replicas stands still");
            return Ok(());
        }
        let reply = self.applications.pass_request(asked, prelude.connection)?;
        testbed.findings.note(|| format!("{}: {}", client_name(client), shown(prelude, self.commands)));
        // It takes the error of a replica for a failed call.
        let is_of_3_43 = self.config.of_client(client).protocol.profile == Profile::Redisson343;
        if is_of_3_43 && words_of(prelude)[0] == "WAIT" && matches!(reply, Value::ServerError(_)) {
            testbed.findings.leave(
                "a server that is a replica answers what Redisson asks about WAIT with an error, and the call throws",
            );
        }
        if words_of(prelude)[0] == "WAITAOF" {
            if is_refused_by_replica(&reply) {
                self.refused_probes.insert(client);
            } else {
                self.refused_probes.remove(&client);
            }
        }
        Ok(())
    }

    /// A script was answered. If the client has sent a `WAIT` behind it, that begins. Returns whether it is still open.
    pub(super) fn begin_wait(
        &mut self,
        (client, connection): (u8, usize),
        told: Option<ThreadTold>,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<bool, ReplayError> {
        let asked = usize::from(client);
        let threads = &step.step.state.clients[asked].threads;
        let is_confirming =
            |thread: &u8| threads.get(usize::from(*thread)).is_some_and(|one| one.phase == Phase::Confirming);
        let confirming = told.as_ref().map(|((_, thread), _)| *thread).filter(is_confirming);
        let first = self.applications.first_held(asked, connection);
        let Some(replicas) = first.as_ref().and_then(replicas_asked_for) else {
            if confirming.is_some() && self.forgotten.contains(&client) {
                leave_at_new_count(testbed);
            } else if confirming.is_some() {
                let sent = first.map_or_else(|| "nothing".to_owned(), |held| shown(&held, self.commands));
                testbed.findings.compare(step.place(), || "behind the acquire".to_owned(), "WAIT", &sent);
            }
            return Ok(false);
        };
        testbed.findings.note(|| format!("{}: WAIT {replicas}", client_name(client)));
        // The answer that the model sees is the one of its time-out: this one is sent when the history comes to that.
        if confirming.is_none() {
            self.applications.begin_request(asked, connection)?;
        }
        if let (Some(_), Some((asking, inside))) = (confirming, &told) {
            self.compare_told(*asking, inside, step.place(), testbed);
        }
        for receipt in &self.receipts[asked] {
            testbed.hide_key(receipt.clone());
        }
        let is_behind_error = self.told_of_refusal(client, step.step.answer).is_some();
        let at = step.place();
        let asking =
            told.as_ref().and_then(|((_, thread), _)| step.before.clients[asked].threads.get(usize::from(*thread)));
        let is_at_limit = asking.is_some_and(|thread| thread.wait_left == Some(0));
        self.open_waits.push(OpenWait {
            client,
            connection,
            replicas,
            confirming,
            told,
            granted: self.told_of_grant(client, step),
            is_at_limit,
            is_behind_error,
            at,
        });
        // Nobody looks at the answer.
        if self.config.cluster.wait_for == 0 {
            self.end_waits_of(client, testbed)?;
        }
        Ok(true)
    }

    /// Answers the `WAIT`s that the model does not have, before something happens that would come too early for them.
    pub(super) fn end_waits_before(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        let clients: Vec<_> = match (step.step.action, client_of(step.step.action)) {
            (Action::Replicate { .. }, _) => return Ok(()),
            (_, Some(client)) => vec![u8::try_from(client).unwrap_or(u8::MAX)],
            (_, None) => (0..self.config.clients.count).collect(),
        };
        clients.into_iter().try_for_each(|client| self.end_waits_of(client, testbed))
    }

    /// The same of one client.
    pub(super) fn end_waits_of(&mut self, client: u8, testbed: &mut Testbed) -> Result<(), ReplayError> {
        let is_extra = |wait: &OpenWait| wait.client == client && wait.confirming.is_none();
        while let Some(at) = self.open_waits.iter().position(is_extra) {
            let wait = self.open_waits.swap_remove(at);
            let replicas = self.end_wait(&wait, testbed)?;
            // 3.43 throws the error of the WAIT, others that of the script before it.
            let is_of_3_43 = self.config.of_client(client).protocol.profile == Profile::Redisson343;
            if replicas.is_none() && (!wait.is_behind_error || is_of_3_43) {
                testbed
                    .findings
                    .leave("a server that has become a replica answers a WAIT with an error, and the call throws");
                return Ok(());
            }
            if replicas == Some(0) && self.config.cluster.wait_for > 0 {
                testbed
                    .findings
                    .leave("Redisson waits after every request, and here no replica has what this one wrote");
                return Ok(());
            }
            if replicas.is_some_and(|number| number != i64::from(wait.replicas)) {
                self.forgotten.insert(client);
            }
            self.clear_up(client, testbed)?;
            let server = self.applications.server_of(usize::from(client), wait.connection);
            if self.config.cluster.wait_for > 0 {
                testbed.servers.extend_last_effect(server)?;
            }
            if let Some((asking, model)) = wait.told {
                let told = self.told(asking, testbed);
                if !gives_up_at_its_limit(wait.is_at_limit, &model, &told, testbed) {
                    compare_words(asking, (&model, &told), wait.at, testbed);
                }
            }
        }
        Ok(())
    }

    /// The `WAIT` behind a renewal is answered in the same step, and the client takes the renewal for failed if no replica has it.
    pub(super) fn end_renewal_wait(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        let Some(client) = step.renewal_that_waits(&self.config) else { return Ok(()) };
        let is_its = |wait: &OpenWait| wait.client == client && wait.told.is_none() && wait.confirming.is_none();
        let have = step.replicas_with_all_of(&step.before.clients[usize::from(client)].master);
        let words = acknowledged(i64::try_from(have).unwrap_or(i64::MAX));
        let told = match self.open_waits.iter().position(is_its) {
            Some(at) => {
                let wait = self.open_waits.swap_remove(at);
                let replicas = self.end_wait(&wait, testbed)?;
                self.clear_up(client, testbed)?;
                let server = self.applications.server_of(usize::from(client), wait.connection);
                testbed.servers.extend_last_effect(server)?;
                replicas.map_or_else(|| AN_ERROR.to_owned(), acknowledged)
            }
            None => "no WAIT".to_owned(),
        };
        testbed.findings.compare(step.place(), || BEHIND_RENEWAL.to_owned(), &words, &told);
        Ok(())
    }

    /// A server answers a `WAIT`: with what it has counted, or at its time-out. Returns the number; `None`: it answers with an error.
    fn end_wait(&mut self, wait: &OpenWait, testbed: &mut Testbed) -> Result<Option<i64>, ReplayError> {
        let asked = usize::from(wait.client);
        let server = self.applications.server_of(asked, wait.connection);
        let id = self.applications.id_of(asked, wait.connection)?;
        testbed.servers.wait_acknowledged(server)?;
        end_wait(&mut testbed.servers, server, id)?;
        let reply = self.applications.finish_request(asked, wait.connection)?;
        let replicas: Option<i64> = redis::from_redis_value(reply).ok();
        let told = replicas.map_or_else(|| AN_ERROR.to_owned(), |number| number.to_string());
        testbed.findings.note(|| format!("{}: WAIT {} → {told}", client_name(wait.client), wait.replicas));
        Ok(replicas)
    }

    /// A thread has the answer to its `WAIT`.
    pub(super) fn confirm(
        &mut self,
        (client, thread): (u8, u8),
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        let is_its = |wait: &OpenWait| wait.client == client && wait.confirming == Some(thread);
        let at = self.open_waits.iter().position(is_its).ok_or(ReplayError::NothingInFlight)?;
        let wait = self.open_waits.swap_remove(at);
        let known = step.before.clients[usize::from(client)].replicas_known;
        let (model, asked) = (known.unwrap_or(wait.replicas), wait.replicas);
        if self.forgotten.contains(&client) && model != asked {
            leave_at_new_count(testbed);
            return Ok(());
        }
        let what = || format!("replicas that {} waits for", client_name(client));
        testbed.findings.compare(step.place(), what, &model.to_string(), &asked.to_string());
        self.applications.begin_request(usize::from(client), wait.connection)?;
        let replicas = self.end_wait(&wait, testbed)?;
        let words = self.translator.reply_words(step.step.answer);
        testbed.findings.compare(
            step.place(),
            || "reply".to_owned(),
            &words,
            &replicas.map_or_else(|| AN_ERROR.to_owned(), acknowledged),
        );
        if self.keeps_what_is_unconfirmed(client, step, testbed) {
            return Ok(());
        }
        let is_granted = matches!(step.step.answer, Reply::Acknowledged { .. });
        let after = &step.step.state.clients[usize::from(client)].threads[usize::from(thread)];
        let told = match after.phase {
            _ if is_granted => wait.granted,
            Phase::Undoing => calls::INSIDE.into(),
            // The calls that return a token give nothing back.
            _ => calls::REDISSON_EXCEPTION.into(),
        };
        self.compare_told((client, thread), &told, step.place(), testbed);
        // It is subscribed until its call is over.
        self.clear_up(client, testbed)
    }

    /// A version that neither repeats nor gives back what no replica has acknowledged: the history is left. Returns whether it is.
    pub(super) fn keeps_what_is_unconfirmed(&self, client: u8, step: HistoryStep<'_>, testbed: &mut Testbed) -> bool {
        let own = self.config.of_client(client);
        // No version gives back what a call that returns a token was granted (docs/facts/family.md#fenced-lock).
        let differs = own.protocol.profile == Profile::Redisson343 && !own.tokens_come_with_grants();
        let leaves = differs && matches!(step.step.answer, Reply::TooFewReplicas { .. });
        if leaves {
            testbed.findings.leave("Redisson 3.43 neither repeats nor gives back what no replica has acknowledged");
        }
        leaves
    }

    /// Servers that are down by now close their connections, and refuse new ones. Where request and answer are one step, a server
    /// that stands still or hands over is as one that is down (`model/src/redis/pause.rs`), but for its messages. Returns whether the
    /// history can be followed.
    pub(super) fn follow_servers(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<bool, ReplayError> {
        self.reaches.resize(testbed.servers.len(), ServerReach::Reached);
        for server in 0..testbed.servers.len() {
            let reach = if testbed.servers.is_dead(server) {
                ServerReach::Down
            } else if self.config.is_split() || testbed.servers.executes_writes(server) {
                ServerReach::Reached
            } else {
                ServerReach::MessagesOnly
            };
            if self.reaches[server] == reach {
                continue;
            }
            if reach == ServerReach::Reached && self.has_lost_subscription(server, step, testbed) {
                testbed.findings.leave("Redisson connects for messages to a master that is back at times of its own");
                return Ok(false);
            }
            for client in 0..self.config.clients.count {
                let asked = usize::from(client);
                let stays = |held: &HeldCommand| {
                    replicas_asked_for(held).is_some()
                        || reach == ServerReach::MessagesOnly && words_of(held)[0] == self.commands.subscribe
                };
                let held = self.unsent(asked).into_iter().filter(|held| !stays(held));
                let mut lost = held.filter(|held| self.applications.server_of(asked, held.connection) == server);
                if reach != ServerReach::Reached && self.applications.runs(asked) && lost.next().is_some() {
                    testbed.findings.leave("a request of Redisson is on its way to a server that goes down");
                    return Ok(false);
                }
            }
            self.reaches[server] = reach;
            if !self.applications.set_server(server, reach)? {
                testbed
                    .findings
                    .leave("a server lets requests wait, and which connections of Redisson are for them is not known");
                return Ok(false);
            }
            self.lose_waits(server, step, testbed)?;
        }
        if step.step.action == Action::Tick {
            let is_cut_off = |master: &str| self.applications.is_down(testbed.servers.index_of(master));
            let mut cut_off = (0u8..).zip(&step.before.clients).filter(|(_, client)| is_cut_off(&client.master));
            let asks = cut_off.any(|(number, client)| {
                let has_asked = self.asks_unreached.contains(&number);
                let is_due = |wake: Option<u8>, may: bool| wake == Some(0) || may;
                has_asked || client.threads.iter().any(|thread| is_due(thread.wake_in, thread.may_wake_now))
            });
            if asks {
                testbed.findings.leave("a waiter of Redisson asks while no server answers, and its call fails");
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a client that takes this server for its master was subscribed there when it went down, and nothing makes it subscribe
    /// again.
    fn has_lost_subscription(&self, server: usize, step: HistoryStep<'_>, testbed: &Testbed) -> bool {
        let waits = |client: &ClientState| client.threads.iter().any(|thread| WAITING.contains(&thread.phase));
        let is_its = |client: &&ClientState| testbed.servers.index_of(&client.master) == server;
        let has_replicas = self.config.cluster.replicas > 0;
        has_replicas
            && self.reaches[server] == ServerReach::Down
            && step.before.clients.iter().filter(is_its).any(waits)
    }

    /// A server that becomes a replica closes the connections on which clients wait for replicas: it has received their `WAIT`s by
    /// then (docs/facts/redis.md#wait).
    pub(super) fn begin_waits_at(&mut self, server: usize) -> Result<(), ReplayError> {
        for wait in &self.open_waits {
            let asked = usize::from(wait.client);
            if wait.confirming.is_some() && self.applications.server_of(asked, wait.connection) == server {
                self.applications.begin_request(asked, wait.connection)?;
            }
        }
        Ok(())
    }

    /// The callers of open `WAIT`s on a server that is down do not know what became of their requests, once their time is over.
    fn lose_waits(&mut self, server: usize, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        for at in (0..self.open_waits.len()).rev() {
            let wait = &self.open_waits[at];
            if self.applications.server_of(usize::from(wait.client), wait.connection) != server {
                continue;
            }
            let wait = self.open_waits.swap_remove(at);
            if let Some(((client, thread), _)) = wait.told {
                let threads = &step.step.state.clients[usize::from(client)].threads;
                if threads.get(usize::from(thread)).is_some_and(|one| one.phase == Phase::Confirming) {
                    testbed.findings.leave("the server that Redisson waits on behind its script stands still");
                    return Ok(());
                }
                self.applications.await_end(usize::from(client), usize::from(thread))?;
                let told = self.told((client, thread), testbed);
                let told = if told == calls::TIMED_OUT { NO_SERVER } else { &told };
                let what = || format!("what {}:{} is told", client_name(client), thread + 1);
                testbed.findings.compare(step.place(), what, NO_SERVER, told);
            }
        }
        Ok(())
    }

    /// A call, or the watchdog, asks a server that is down.
    pub(super) fn hear_of_no_server(
        &mut self,
        (client, thread): (u8, Option<u8>),
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        if step.step.answer != Reply::Unreachable {
            return Ok(());
        }
        let master = testbed.servers.index_of(&step.before.clients[usize::from(client)].master);
        if !self.applications.is_down(master) {
            testbed.findings.leave("requests of Redisson reach a server here that the model does not reach");
            return Ok(());
        }
        match thread {
            Some(thread) => {
                self.applications.await_end(usize::from(client), usize::from(thread))?;
                self.compare_told((client, thread), NO_SERVER, step.place(), testbed);
            }
            None => self.applications.pass_what_is_due(usize::from(client))?,
        }
        self.note_waiters_that_have_asked(step, testbed);
        Ok(())
    }

    /// The clocks of a JVM have moved while a server is down, and it may be that of several clients: a waiter of another one whose timer is due at
    /// this instant has asked as well.
    fn note_waiters_that_have_asked(&mut self, step: HistoryStep<'_>, testbed: &Testbed) {
        for (client, state) in (0u8..).zip(&step.before.clients) {
            let is_due = |thread: &ThreadState| thread.wake_in == Some(0) || thread.may_wake_now;
            let has_fired = self.applications.is_ahead(client.into()) && state.threads.iter().any(is_due);
            if has_fired && self.applications.is_down(testbed.servers.index_of(&state.master)) {
                self.asks_unreached.insert(client);
            }
        }
    }

    /// A client learns that another server is the master.
    pub(super) fn turn_to_master(
        &mut self,
        client: u8,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        if self.open_waits.iter().any(|wait| wait.client == client) {
            testbed
                .findings
                .leave("Redisson waits for replicas on a connection to the old master, and is answered there");
            return Ok(());
        }
        let asked = usize::from(client);
        let server = testbed.servers.index_of(&step.step.state.clients[asked].master);
        if !self.unsent(asked).is_empty() || self.in_flight.has_under_way(client) {
            testbed.findings.leave("a request of Redisson is on its way to the old master");
            return Ok(());
        }
        if self.reaches[server] != ServerReach::Reached || testbed.servers.is_paused(server) {
            testbed.findings.leave("Redisson stays with the old master while it cannot connect to the new one");
            return Ok(());
        }
        self.applications.change_master(asked, server)
    }
}

/// A client knows of another number of replicas than the model's: a `WAIT` that the model does not have made it read that anew.
pub(super) fn leave_at_new_count(testbed: &mut Testbed) {
    testbed
        .findings
        .leave("Redisson has read the number of replicas anew, since the WAIT behind another request told another one");
}

/// Whether a server refuses a command because it is a replica, and not because it does not know it.
fn is_refused_by_replica(reply: &Value) -> bool {
    let Value::ServerError(error) = reply else { return false };
    error.details().is_some_and(|details| details.contains("replica"))
}
