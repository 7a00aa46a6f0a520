//! The applications of a history: clients of Redisson with their threads, in one JVM, each behind a gate.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use lockstep_model::config::Profile;
use redis::Value;

use super::client_times::{ClientTimes, ReplicaSync, ToldBy};
use super::gate::{ClientGate, HeldCommand};
use super::jvm::NS_OF_MS;
use super::program::RedissonProgram;
use super::started_jvm::StartedJvm;
use crate::replay::error::ReplayError;

/// How clients reach a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerReach {
    /// It executes what it is sent.
    Reached,
    /// It executes nothing, and its connections for messages stay: it stands still, or lets requests wait.
    MessagesOnly,
    /// It is down: its connections are closed.
    Down,
}

/// The applications of a history.
pub struct Applications {
    /// The version of each client; of the first one, where they share a JVM.
    programs: Vec<RedissonProgram>,
    /// Whether each has a JVM of its own, and so its own clocks: where one can stand still alone.
    are_apart: bool,
    pub(super) tick_ns: i64,
    start_ms: i64,
    pub(super) jvms: Vec<StartedJvm>,
    pub(super) clients: Vec<Application>,
    /// Whether each client asks its server something as soon as it is connected.
    has_asked: bool,
    /// The ports that the servers announce to the clients of their cluster; none: there is no cluster.
    pub(super) announced: Vec<u16>,
    /// The entrances to masters beside these, and the port that each announces.
    pub(super) other_masters: Vec<(usize, u16)>,
    /// So many threads of each client of the model, from the first, are one thread of its application; 0: none are.
    pub(super) sides: usize,
    /// How many masters each application has a client of Redisson for.
    pub(super) masters: usize,
    /// Whether a JVM has failed, or did not do what it was told: it is of no use to others.
    has_failed: bool,
}

/// A client of a history.
pub struct NewClient {
    /// The first half of its holders.
    pub name: String,
    /// How it reaches its server.
    pub times: ClientTimes,
    /// Whether it is not there at the beginning.
    pub is_late: bool,
}

/// One of them.
pub(super) struct Application {
    name: String,
    times: ClientTimes,
    pub(super) jvm: usize,
    gate: ClientGate,
    /// The call that each thread is in, and the verb.
    pub(super) calls: Vec<Option<(u64, String)>>,
    /// Whether it has started.
    is_connected: bool,
    /// Whether it has died: nothing reaches it, and nothing that it sends reaches anybody.
    is_dead: bool,
}

impl Applications {
    /// None yet. `programs`: the version of each client. `tick_ms`: the length of a tick.
    pub fn new(programs: Vec<RedissonProgram>, are_apart: bool, tick_ms: u32, start_ms: i64) -> Self {
        let tick = i64::from(tick_ms) * NS_OF_MS;
        Self {
            programs,
            are_apart,
            tick_ns: tick,
            start_ms,
            jvms: Vec::new(),
            clients: Vec::new(),
            has_asked: false,
            announced: Vec::new(),
            other_masters: Vec::new(),
            sides: 0,
            masters: 1,
            has_failed: false,
        }
    }

    /// Makes these clients, each with so many threads and a way to the servers and sentinels at these sockets, and connects all to the
    /// first one, but those that are late. `has_asked`: each has asked it something before the history begins.
    ///
    /// # Errors
    /// As [`Jvm::start`] and [`Jvm::command`].
    pub fn connect(
        &mut self,
        clients: Vec<NewClient>,
        threads: usize,
        servers: &[PathBuf],
        has_asked: bool,
    ) -> Result<(), ReplayError> {
        self.has_asked = has_asked;
        self.start_jvms(if self.are_apart { clients.len() } else { 1 })?;
        for (index, NewClient { name, times, is_late }) in clients.into_iter().enumerate() {
            let jvm = if self.are_apart { index } else { 0 };
            let gate = ClientGate::open_to(servers.to_vec())?;
            let calls = vec![None; threads];
            self.clients.push(Application { name, times, jvm, gate, calls, is_connected: false, is_dead: false });
            if !is_late {
                self.connect_to(index, 0, false)?;
            }
        }
        (0..self.jvms.len()).try_for_each(|jvm| self.wait_until_quiet_in(jvm))?;
        self.clients.iter_mut().for_each(|client| client.gate.set_open(false));
        let start_ms = self.start_ms;
        self.jvms.iter_mut().for_each(|jvm| jvm.begin(start_ms));
        Ok(())
    }

    /// A client that is late starts, and takes this server for the master.
    ///
    /// # Errors
    /// As [`Jvm::command`] and [`Jvm::wait_until_quiet`].
    pub fn start_client(&mut self, client: usize, server: usize) -> Result<(), ReplayError> {
        self.clients[client].gate.set_open(true);
        self.connect_to(client, server, true)?;
        self.wait_until_quiet(client)?;
        self.clients[client].gate.set_open(false);
        Ok(())
    }

    /// `is_begun`: the history has begun, and moves the clocks.
    fn connect_to(&mut self, client: usize, server: usize, is_begun: bool) -> Result<(), ReplayError> {
        let Application { name, times, jvm, gate, is_connected, .. } = &mut self.clients[client];
        *is_connected = true;
        let port = gate.port_of(server);
        let ClientTimes {
            watchdog_ms,
            renewal_batch,
            queue_wait_ms,
            answer_within_ms,
            attempts,
            delay_ms,
            connections,
            sync,
        } = times;
        let batch = match (renewal_batch, queue_wait_ms) {
            (None, 0) => String::new(),
            (Some(locks), 0) => format!("/{locks}"),
            (locks, queue_ms) => format!("/{}/{queue_ms}", locks.unwrap_or(0)),
        };
        let sync = sync.map_or_else(String::new, |ReplicaSync { within_ms, check, messages_from, told_by }| {
            let of_entrance = |entrance: usize| format!("redis://127.0.0.1:{}", gate.port_of(entrance));
            let others = match (told_by, messages_from) {
                (ToldBy::Cluster, _) => {
                    let of = |(entrance, announced): &(usize, u16)| {
                        format!(",127.0.0.1:{announced}=127.0.0.1:{}", gate.port_of(*entrance))
                    };
                    let others: String = self.other_masters.iter().map(of).collect();
                    format!(" cluster 127.0.0.1:{}{others}", self.announced[server])
                }
                (ToldBy::Sentinel { announced, sentinel }, _) => {
                    format!(" sentinel 127.0.0.1:{announced} {}", of_entrance(sentinel))
                }
                (ToldBy::Settings, Some(replica)) => format!(" replica {}", of_entrance(replica)),
                (ToldBy::Settings, None) => String::new(),
            };
            format!(" {within_ms} {}{others}", check.word())
        });
        let settings_of = |port: u16| {
            format!(
                "{name} redis://127.0.0.1:{port} {answer_within_ms} {attempts} {delay_ms} {watchdog_ms}{batch} {connections}{sync}"
            )
        };
        let beside = (1..self.masters).map(|master| format!("beside {}", settings_of(gate.port_of(master))));
        let commands: Vec<_> = [format!("client {}", settings_of(port))].into_iter().chain(beside).collect();
        let question = format!("call {name} 1 is-held nothing");
        let (jvm, has_asked) = (*jvm, self.has_asked);
        self.in_jvm(jvm, |started, gates| {
            for command in &commands {
                if is_begun {
                    started.used.jvm.command(command, gates)?;
                } else {
                    started.used.jvm.command_over_time(command, gates)?;
                }
            }
            if has_asked {
                let number = started.used.jvm.command(&question, gates)?;
                // Its reply passes by itself, and later than the JVM is quiet where the server is slow.
                started.used.jvm.wait_for_end(number, gates)?;
            }
            Ok(())
        })
    }

    fn start_jvms(&mut self, number: usize) -> Result<(), ReplayError> {
        for (at, program) in self.programs.iter().take(number).enumerate() {
            if self.jvms.get(at).is_some_and(|started| started.used.is_young()) {
                continue;
            }
            let used = program.take_jvm(self.start_ms)?;
            match self.jvms.get_mut(at) {
                Some(old) => *old = StartedJvm::new(used),
                None => self.jvms.push(StartedJvm::new(used)),
            }
        }
        self.jvms.iter_mut().for_each(|started| started.used.histories += 1);
        Ok(())
    }

    /// Closes every client.
    ///
    /// # Errors
    /// As [`Jvm::close`].
    pub fn close(&mut self) -> Result<(), ReplayError> {
        self.clients.iter_mut().for_each(|client| client.gate.set_open(true));
        let connected = self.clients.iter().filter(|client| client.is_connected);
        let names: Vec<_> = connected.map(|client| (client.jvm, client.name.clone())).collect();
        let closed = names
            .into_iter()
            .try_for_each(|(jvm, name)| self.in_jvm(jvm, |started, gates| started.used.jvm.close(&name, gates)));
        self.clients.clear();
        if closed.is_err() {
            self.jvms.clear();
        }
        match closed {
            // It is over with its JVM.
            Err(ReplayError::EndlessCall) => Ok(()),
            closed => closed,
        }
    }

    pub(super) fn in_jvm<T>(
        &mut self,
        jvm: usize,
        act: impl FnOnce(&mut StartedJvm, &mut [&mut ClientGate]) -> Result<T, ReplayError>,
    ) -> Result<T, ReplayError> {
        let own = self.clients.iter_mut().filter(|client| client.jvm == jvm);
        let mut gates: Vec<_> = own.map(|client| &mut client.gate).collect();
        let done = act(&mut self.jvms[jvm], &mut gates);
        self.has_failed |= done.is_err();
        done
    }

    fn wait_until_quiet_in(&mut self, jvm: usize) -> Result<(), ReplayError> {
        self.in_jvm(jvm, |started, gates| started.used.jvm.wait_until_quiet(gates))
    }

    /// Waits until the client can do nothing more by itself.
    ///
    /// # Errors
    /// As [`Jvm::wait_until_quiet`].
    pub fn wait_until_quiet(&mut self, client: usize) -> Result<(), ReplayError> {
        self.wait_until_quiet_in(self.clients[client].jvm)
    }

    /// A thread begins a call: a verb of tools/redisson/README.md with what follows it. `is_flagged`: its interrupt flag is set.
    ///
    /// # Errors
    /// As [`Jvm::command`].
    pub fn begin_call(
        &mut self,
        client: usize,
        thread: usize,
        call: &str,
        is_flagged: bool,
    ) -> Result<(), ReplayError> {
        let flag = if is_flagged { "flagged " } else { "" };
        let Application { name, jvm, .. } = &self.clients[client];
        let (command, jvm) = (format!("call {name} {} {flag}{call}", self.number_of(thread)), *jvm);
        // A call that waits for a while reads the clock.
        if call.starts_with("try-wait") {
            self.in_jvm(jvm, StartedJvm::catch_up)?;
        }
        let number = self.in_jvm(jvm, |started, gates| started.used.jvm.command(&command, gates))?;
        let verb = call.split(' ').next().unwrap_or_default().to_owned();
        let calls = &mut self.clients[client].calls;
        if calls.len() <= thread {
            calls.resize(thread + 1, None);
        }
        calls[thread] = Some((number, verb));
        self.wait_until_quiet(client)
    }

    /// The number in the JVM of a thread of the model, or of the one beside them that releases by force.
    fn number_of(&self, thread: usize) -> usize {
        if thread < self.sides { 1 } else { thread + 1 }
    }

    /// Interrupts a thread.
    ///
    /// # Errors
    /// As [`Jvm::command`].
    pub fn interrupt(&mut self, client: usize, thread: usize) -> Result<(), ReplayError> {
        self.give_up("interrupt", client, thread)
    }

    /// Cancels the future that a thread's call waits for.
    ///
    /// # Errors
    /// As [`Jvm::command`].
    pub fn cancel(&mut self, client: usize, thread: usize) -> Result<(), ReplayError> {
        self.give_up("cancel", client, thread)
    }

    fn give_up(&mut self, verb: &str, client: usize, thread: usize) -> Result<(), ReplayError> {
        let Application { name, jvm, .. } = &self.clients[client];
        let (command, jvm) = (format!("{verb} {name} {}", self.number_of(thread)), *jvm);
        self.in_jvm(jvm, |started, gates| started.used.jvm.command(&command, gates))?;
        self.wait_until_quiet(client)
    }

    /// What the thread's last call was, and how it ended; `None` after the verb: the thread is still inside.
    pub fn end_of(&mut self, client: usize, thread: usize) -> Option<(String, Option<String>)> {
        let client = &mut self.clients[client];
        let (number, verb) = client.calls.get(thread)?.clone()?;
        let ended = self.jvms[client.jvm].used.jvm.end_of(number);
        if ended.is_some() {
            client.calls[thread] = None;
        }
        Some((verb, ended))
    }

    /// The requests that a client has sent and no server has received.
    pub fn held(&self, client: usize) -> Vec<HeldCommand> {
        self.clients[client].gate.held()
    }

    /// A request that is held has the words of this one from now on.
    pub fn replace(&mut self, client: usize, request: &HeldCommand) {
        self.clients[client].gate.replace(request);
    }

    /// The first of them on this connection.
    pub fn first_held(&self, client: usize, connection: usize) -> Option<HeldCommand> {
        self.held(client).into_iter().find(|held| held.connection == connection)
    }

    /// How many messages wait at the gate of a client.
    pub fn messages(&self, client: usize) -> usize {
        self.clients[client].gate.messages()
    }

    /// Whether it has started and lives, and its clocks run.
    pub fn runs(&self, client: usize) -> bool {
        let client = &self.clients[client];
        client.is_connected && !client.is_dead && !self.jvms[client.jvm].is_paused
    }

    /// Lets the first request of a connection pass, and its reply. Returns the reply.
    ///
    /// # Errors
    /// As [`ClientGate::pass_request`]; as [`Jvm::wait_until_quiet`].
    pub fn pass_request(&mut self, client: usize, connection: usize) -> Result<Value, ReplayError> {
        let reply = self.clients[client].gate.pass_request(connection)?;
        let started = &mut self.jvms[self.clients[client].jvm];
        started.late_ns = started.late_ns.max(started.used.jvm.now_ns() - started.due_ns);
        self.wait_until_quiet(client)?;
        Ok(reply)
    }

    /// Lets the first request of a connection pass, and holds its reply. Returns that. The client hears nothing.
    ///
    /// # Errors
    /// As [`ClientGate::execute_request`].
    pub fn execute_request(&mut self, client: usize, connection: usize) -> Result<Value, ReplayError> {
        self.clients[client].gate.execute_request(connection)
    }

    /// The server that a connection of a client leads to.
    pub fn server_of(&self, client: usize, connection: usize) -> usize {
        self.clients[client].gate.server_of(connection)
    }

    /// The same of all its connections, in their order.
    pub fn servers_of_connections(&self, client: usize) -> Vec<usize> {
        self.clients[client].gate.servers_of_connections()
    }

    /// What that server calls the connection.
    ///
    /// # Errors
    /// As [`ClientGate::id_of`].
    pub fn id_of(&mut self, client: usize, connection: usize) -> Result<i64, ReplayError> {
        self.clients[client].gate.id_of(connection)
    }

    /// Whether a connection of a client is open still.
    pub fn is_connected(&self, client: usize, connection: usize) -> bool {
        self.clients[client].gate.is_connected(connection)
    }

    /// Lets the first request of a connection pass, to which a server may reply later.
    ///
    /// # Errors
    /// As [`ClientGate::begin_request`].
    pub fn begin_request(&mut self, client: usize, connection: usize) -> Result<(), ReplayError> {
        self.clients[client].gate.begin_request(connection)
    }

    /// Waits for the reply to such a request, and holds it. Returns that.
    ///
    /// # Errors
    /// As [`ClientGate::finish_request`].
    pub fn hold_reply(&mut self, client: usize, connection: usize) -> Result<Value, ReplayError> {
        self.clients[client].gate.finish_request(connection)
    }

    /// Lets the reply to such a request pass. Returns it.
    ///
    /// # Errors
    /// As [`ClientGate::finish_request`] and `pass_reply`.
    pub fn finish_request(&mut self, client: usize, connection: usize) -> Result<Value, ReplayError> {
        let reply = self.clients[client].gate.finish_request(connection)?;
        self.pass_reply(client, connection)?;
        Ok(reply)
    }

    /// Every client learns that a server is down, or there again, as its connections to it tell. Returns whether each is told: a
    /// connection for messages that nobody has used yet cannot be told from one for requests.
    ///
    /// # Errors
    /// As [`ClientGate::open_entrance`] and [`Jvm::wait_until_quiet`].
    pub fn set_server(&mut self, server: usize, reach: ServerReach) -> Result<bool, ReplayError> {
        let mut are_told = true;
        for client in &mut self.clients {
            match (client.gate.is_shut(server), reach) {
                (true, ServerReach::Reached) => client.gate.open_entrance(server)?,
                (false, ServerReach::Reached) => {}
                (_, ServerReach::MessagesOnly) => are_told &= client.gate.shut_for_requests(server),
                (_, ServerReach::Down) => client.gate.shut_entrance(server),
            }
        }
        (0..self.jvms.len()).try_for_each(|jvm| self.wait_until_quiet_in(jvm))?;
        Ok(are_told)
    }

    /// Whether no server executes the requests of clients that take this one for the master.
    pub fn is_down(&self, server: usize) -> bool {
        self.clients.iter().any(|client| client.gate.is_shut(server))
    }

    /// Whether a connection of a client to a server over which it has asked something is open.
    pub fn has_connection_for_requests(&self, client: usize, server: usize) -> bool {
        self.clients[client].gate.has_connection_for_requests(server)
    }

    /// Whether one that may have been for requests has ended.
    pub fn has_lost_connection(&self, client: usize, server: usize) -> bool {
        self.clients[client].gate.has_lost_connection(server)
    }

    /// A client takes another server for the master.
    ///
    /// # Errors
    /// As [`Jvm::command`].
    pub fn change_master(&mut self, client: usize, server: usize) -> Result<(), ReplayError> {
        let Application { name, jvm, gate, .. } = &self.clients[client];
        let (command, jvm) = (format!("master {name} redis://127.0.0.1:{}", gate.port_of(server)), *jvm);
        self.in_jvm(jvm, |started, gates| started.used.jvm.command(&command, gates))?;
        self.wait_until_quiet(client)
    }

    /// A connection breaks, with what is under way over it.
    ///
    /// # Errors
    /// As [`Jvm::wait_until_quiet`].
    pub fn break_connection(&mut self, client: usize, connection: usize) -> Result<(), ReplayError> {
        self.clients[client].gate.break_connection(connection);
        self.wait_until_quiet(client)
    }

    /// Lets the oldest reply of a connection pass.
    ///
    /// # Errors
    /// As [`ClientGate::pass_reply`]; as [`Jvm::wait_until_quiet`].
    pub fn pass_reply(&mut self, client: usize, connection: usize) -> Result<(), ReplayError> {
        self.clients[client].gate.pass_reply(connection)?;
        self.wait_until_quiet(client)
    }

    /// Lets the oldest message pass.
    ///
    /// # Errors
    /// As [`ClientGate::pass_message`]; as [`Jvm::wait_until_quiet`].
    pub fn pass_message(&mut self, client: usize) -> Result<Value, ReplayError> {
        let message = self.clients[client].gate.pass_message()?;
        self.wait_until_quiet(client)?;
        Ok(message)
    }

    /// Whether a client has closed the connection over which its oldest message comes.
    pub fn has_closed_behind_message(&self, client: usize) -> bool {
        self.clients[client].gate.has_closed_behind_message()
    }

    /// Drops the oldest message: a message that is lost.
    ///
    /// # Errors
    /// `NothingHeld`.
    pub fn drop_message(&mut self, client: usize) -> Result<Value, ReplayError> {
        self.clients[client].gate.drop_message()
    }

    /// Lets a client hear that a server has ended subscriptions of its, once it has done so as often as expected or that has taken too
    /// long. Returns how often it has.
    ///
    /// # Errors
    /// As [`ClientGate::pass_ends`]; as [`Jvm::wait_until_quiet`].
    pub fn pass_ends(&mut self, client: usize, expected: usize, within: Duration) -> Result<usize, ReplayError> {
        let begin = Instant::now();
        self.take_arrived()?;
        while self.clients[client].gate.ends() < expected && begin.elapsed() < within {
            std::thread::yield_now();
            self.take_arrived()?;
        }
        let ended = self.clients[client].gate.ends();
        self.clients[client].gate.pass_ends()?;
        self.wait_until_quiet(client)?;
        Ok(ended)
    }

    /// Takes what servers have sent meanwhile.
    ///
    /// # Errors
    /// As [`ClientGate::take_arrived`].
    pub fn take_arrived(&mut self) -> Result<(), ReplayError> {
        self.clients.iter_mut().try_for_each(|client| client.gate.take_arrived().map(|_| ()))
    }

    /// A client dies.
    pub fn kill(&mut self, client: usize) {
        self.clients[client].is_dead = true;
    }
}

/// The JVMs are kept for the next world, without clients.
impl Drop for Applications {
    fn drop(&mut self) {
        let has_waits = self.clients.iter().any(|client| client.times.sync.is_some());
        if self.has_failed || std::thread::panicking() || self.close().is_err() {
            return;
        }
        // 3.43 asks once in a JVM whether its server knows WAIT (`CommandAsyncService.WAIT_SUPPORTED`).
        let asks_once = |program: &RedissonProgram| program.profile() == Profile::Redisson343;
        for (program, started) in self.programs.iter().zip(self.jvms.drain(..)) {
            if !(has_waits && asks_once(program)) {
                program.keep_jvm(started.used);
            }
        }
    }
}
