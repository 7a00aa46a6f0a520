//! Replication one effect at a time: a replica receives a write only when the harness releases it.
//!
//! The gate is a proxy between a replica and its master; its port is the address that the replica was given. What the
//! replica sends passes at once, and so do the handshake and the full copy that begin a link. Only its acknowledgements do
//! not pass, since the replica sends them by real time: the gate sends them itself, after each release. The stream of
//! commands is held. After each step that wrote, the harness marks the master's offset; the bytes up to a mark are one
//! effect, and `release_one` releases the oldest.
//!
//! What a master writes without being asked (the `DEL` of a key that it found expired) has no mark of its own and travels
//! with the next effect. Where TTLs travel as absolute times nobody can see a difference: until then the replica's own
//! clock hides the key from its readers, and after a promotion too; where a `WAIT` may be for it, the model has it as an effect
//! (`Config::counts_deletions`). Before Redis 7.0 a key can live longer on a late
//! replica than on its master, and such a `DEL` would end it early: that is not modelled, and here the `DEL` comes with the
//! next effect.

use std::collections::VecDeque;
use std::fmt;
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::connection::ServerConnection;
use super::control::Control;
use super::limits::{LINK_WAIT, MOST_HELD, SLICE};
use super::replication_stream::{MasterStream, ReplicaStream, StreamPiece, StreamUnit, WireCommand, command_as_text};
use super::tcp_proxy::{Relay, Relayed, TcpProxy, connect_server, read_available, set_up_client, write_all};
use crate::replay::error::ReplayError;
use crate::stop;

/// What one step wrote, as it was sent to the replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicatedEffect {
    /// The commands in order, each with its name and arguments, and with `SELECT`, `MULTI` and `EXEC`.
    pub commands: Vec<WireCommand>,
    /// The replication offset of a replica that has applied it, in bytes.
    pub end_offset: u64,
}

impl fmt::Display for ReplicatedEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Sentinels publish greetings through the master's link, at random times, and they concern nobody else.
        let is_greeting =
            |command: &&WireCommand| command.get(1).is_some_and(|channel| channel == b"__sentinel__:hello");
        let commands: Vec<_> =
            self.commands.iter().filter(|command| !is_greeting(command)).map(command_as_text).collect();
        f.write_str(&commands.join("; "))
    }
}

/// The only link from a master to one replica. Dropping it loses what it holds.
#[derive(Debug)]
pub struct Gate {
    master_socket: PathBuf,
    shared: Arc<Shared>,
    proxy: Option<TcpProxy>,
    ends: Mutex<Option<GateControls>>,
}

/// The connections by which both ends are asked for their offsets.
#[derive(Debug)]
struct GateControls {
    replica: Control,
    master: Control,
    /// The port by which the master knows the replica.
    announced: u16,
}

impl Gate {
    /// Opens a gate in front of a master. `ServerNode::follow` leads a replica to it.
    ///
    /// # Errors
    ///
    /// `System` if there is no free port on the loopback interface, or no thread can be started.
    pub fn open(master_socket: &Path) -> Result<Self, ReplayError> {
        let shared = Arc::new(Shared::default());
        let proxy = start_proxy(master_socket, &shared)?;
        Ok(Self { master_socket: master_socket.to_owned(), shared, proxy: Some(proxy), ends: Mutex::new(None) })
    }

    /// Declares what the master wrote up to this offset, and was not marked before, to be one effect. An offset that is
    /// marked already adds no effect: a step that wrote nothing may be marked too.
    pub fn mark(&self, end_offset: u64) {
        let mut state = self.shared.lock();
        if end_offset > state.last_mark {
            state.last_mark = end_offset;
            state.marks.push_back(end_offset);
        }
    }

    /// Declares what the master wrote up to this offset to be part of the newest effect that is not released, if there is one.
    pub fn extend(&self, end_offset: u64) {
        let mut state = self.shared.lock();
        if end_offset > state.last_mark && state.marks.pop_back().is_some() {
            state.last_mark = end_offset;
            state.marks.push_back(end_offset);
        }
        drop(state);
        self.mark(end_offset);
    }

    /// Makes effects part of the ones behind them until this many are left. The first that is: `index`, counted from the
    /// oldest.
    pub fn merge(&self, index: usize, left: usize) {
        let marks = &mut self.shared.lock().marks;
        while marks.len() > left.max(1) {
            marks.remove(index.min(marks.len() - 2));
        }
    }

    /// The number of effects that are marked and not released.
    pub fn held(&self) -> usize {
        self.shared.lock().marks.len()
    }

    /// Releases the oldest effect to the replica and waits until the replica has applied it.
    ///
    /// # Errors
    ///
    /// `NothingHeld`; `NotAnEffect` if its mark is in the middle of a command; `Link` or `TimedOut` if the master did not
    /// send it or the replica did not apply it.
    pub fn release_one(&self) -> Result<ReplicatedEffect, ReplayError> {
        let effect = self.release_unacknowledged()?;
        // A sync wait is answered by this. If the master is gone, the effect is applied all the same.
        let _ = self.send_acknowledgement(effect.end_offset);
        Ok(effect)
    }

    /// As `release_one`, and the master hears nothing of it yet: it stands still.
    ///
    /// # Errors
    ///
    /// As `release_one`.
    pub fn release_unacknowledged(&self) -> Result<ReplicatedEffect, ReplayError> {
        let effect = self.send_oldest()?;
        self.with_ends(|ends| ends.replica.wait_offset(effect.end_offset))?;
        Ok(effect)
    }

    /// Releases all effects that are marked, oldest first.
    ///
    /// # Errors
    ///
    /// As `release_one`, at the first that fails; those before it are released.
    pub fn release_all(&self) -> Result<Vec<ReplicatedEffect>, ReplayError> {
        (0..self.held()).map(|_| self.release_one()).collect()
    }

    /// Acknowledges what the replica has applied, and makes the master count its good replicas. Each release acknowledges
    /// already; but a master that requires replicas (`ServerNode::require_replicas`) considers one late whose last
    /// acknowledgement is older than the last movement of its clock.
    ///
    /// # Errors
    ///
    /// `Link` if the replica does not follow; `TimedOut`; `Redis` if one of the two is not running.
    pub fn acknowledge(&self) -> Result<(), ReplayError> {
        self.with_ends(|ends| {
            self.acknowledge_applied(ends)?;
            ends.master.recount_replicas()
        })
    }

    /// Acknowledges what the replica has applied, and waits until the master has received it: `WAIT` does not count an
    /// acknowledgement that is still on its way.
    ///
    /// # Errors
    ///
    /// As `acknowledge`.
    pub fn wait_acknowledged(&self) -> Result<(), ReplayError> {
        self.with_ends(|ends| self.acknowledge_applied(ends))
    }

    /// Waits until the master has sent all effects that are marked: one that stands still sends nothing, and it may have answered
    /// its client first. `replica_runs`: whether the replica can acknowledge a copy.
    ///
    /// # Errors
    ///
    /// `TimedOut` if the master does not send them.
    pub fn wait_marked(&self, replica_runs: bool) -> Result<(), ReplayError> {
        let Some(mark) = self.shared.lock().marks.back().copied() else { return Ok(()) };
        if replica_runs {
            self.with_ends(|ends| self.wait_arrived(mark, Some(ends)).map(drop))
        } else {
            self.wait_arrived(mark, None).map(drop)
        }
    }

    /// Acknowledges no more than this offset, whatever the replica has; `None`: all of it. A master that hands over to the
    /// replica waits until everything is acknowledged.
    pub fn limit_acknowledgements(&self, most: Option<u64>) {
        self.shared.lock().most_acknowledged = most;
    }

    /// What the master has sent up to this offset, and was not marked, is no effect: it asked what its replicas have.
    pub fn skip(&self, end_offset: u64) {
        let mut state = self.shared.lock();
        state.last_mark = state.last_mark.max(end_offset);
    }

    /// Passes what writes nothing and stands before the next effect, and acknowledges what the replica has applied, as a
    /// replica does every second. Nothing happens where an end of the link is gone.
    pub fn answer_idle(&self) {
        if let Some(link) = &mut self.shared.lock().link {
            let _ = link.send_idle();
        }
        let _ = self.with_ends(|ends| {
            let applied = ends.replica.applied_offset()?;
            self.send_acknowledgement(applied)
        });
    }

    /// Breaks the link until `heal` is called. The master keeps what was marked.
    pub fn cut(&mut self) {
        self.proxy = None;
    }

    /// Passes nothing more in either direction and keeps both connections open, as a network partition does. The master
    /// lists its replica as linked until the last acknowledgement is too old, even if the replica has left; dropping the
    /// gate ends that.
    pub fn silence(&self) {
        self.shared.lock().is_silent = true;
    }

    /// Whether it was silenced.
    pub fn is_silent(&self) -> bool {
        self.shared.lock().is_silent
    }

    /// Makes a link possible again; then `ServerNode::follow` leads the replica back. The gate has a new port, since a
    /// replica ignores the order to follow the master that it follows already. If the master still has what was cut off,
    /// the marks continue as they were; if it sends a full copy, the marks that the copy contains are gone.
    ///
    /// # Errors
    ///
    /// As `open`.
    pub fn heal(&mut self) -> Result<(), ReplayError> {
        // The old proxy ends first: it must not mistake the new link for its own.
        self.proxy = None;
        self.proxy = Some(start_proxy(&self.master_socket, &self.shared)?);
        Ok(())
    }

    /// Ends the link. What is held is lost, as when the master dies.
    pub fn close(self) {
        drop(self);
    }

    /// The port where the replica reaches its master; `None` while the link is cut.
    pub fn port(&self) -> Option<u16> {
        self.proxy.as_ref().map(TcpProxy::port)
    }

    /// A new connection to the master behind the gate.
    ///
    /// # Errors
    /// `Redis` if it is not running.
    pub(super) fn connect_master(&self) -> Result<ServerConnection, ReplayError> {
        ServerConnection::open(&self.master_socket, "the master behind a gate".into())
            .map_err(ReplayError::redis("a new connection"))
    }

    /// The master behind the gate.
    pub fn master_socket(&self) -> &Path {
        &self.master_socket
    }

    /// The port by which the master knows the replica; `None` before there is one.
    pub fn announced(&self) -> Option<u16> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|ends| ends.announced)
    }

    /// Sets the connections by which both ends are asked for their offsets.
    pub fn attach(&self, replica: Control, master: Control, announced: u16) {
        *self.ends.lock().unwrap_or_else(PoisonError::into_inner) = Some(GateControls { replica, master, announced });
    }

    /// Waits until the replica has its copy and the stream of commands has begun.
    ///
    /// # Errors
    /// `TimedOut`.
    pub fn wait_for_commands(&self) -> Result<(), ReplayError> {
        let has_begun = |state: &GateState| state.link.as_ref().is_some_and(|link| link.sent.is_some());
        self.shared.wait_until(has_begun, || "a replica to be given its copy through the gate".to_owned()).map(drop)
    }

    fn with_ends<T>(&self, act: impl FnOnce(&mut GateControls) -> Result<T, ReplayError>) -> Result<T, ReplayError> {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        act(ends.as_mut().ok_or_else(|| ReplayError::link("no replica follows this gate"))?)
    }

    fn acknowledge_applied(&self, ends: &mut GateControls) -> Result<(), ReplayError> {
        self.wait_for_what_passes(ends)?;
        let applied = self.shared.lock().acknowledged_of(ends.replica.applied_offset()?);
        self.send_acknowledgement(applied)?;
        ends.master.wait_acknowledged(ends.announced, applied)
    }

    /// Waits until the replica has applied all that the master has written and no effect stands in front of. A `WAIT` asks the
    /// replicas what they have, and this request is a part of the stream: the next `WAIT` on its connection is for it too, and it
    /// may still be on its way to the gate.
    fn wait_for_what_passes(&self, ends: &mut GateControls) -> Result<(), ReplayError> {
        let written = ends.master.replication_offset()?;
        let sent = self.wait_arrived(written, Some(ends))?.link.as_ref().and_then(|link| link.sent);
        sent.map_or(Ok(()), |sent| ends.replica.wait_offset(sent))
    }

    /// Waits until the master has sent what it wrote up to this offset, unless nothing passes. `ends`: `None` where the replica
    /// stands still, and acknowledges no copy.
    fn wait_arrived(
        &self,
        written: u64,
        ends: Option<&mut GateControls>,
    ) -> Result<MutexGuard<'_, GateState>, ReplayError> {
        let arrived = |state: &GateState| match &state.link {
            Some(link) if !state.is_silent => link.arrived() >= written,
            Some(_) | None => true,
        };
        let has_arrived = arrived(&self.shared.lock());
        // What a master writes after it has begun a copy, it sends once the copy is acknowledged: a sentinel's greeting may be
        // among that. A replica that is not linked yet has nothing to acknowledge.
        if !has_arrived
            && let Some(ends) = ends
            && let Ok(applied) = ends.replica.applied_offset()
        {
            self.send_acknowledgement(applied)?;
        }
        let awaited = || {
            let copy = if has_arrived {
                ""
            } else {
                " (a master sends what it wrote during a full copy once that is acknowledged)"
            };
            format!("the master to send its stream up to offset {written}{copy}")
        };
        self.shared.wait_until(arrived, awaited)
    }

    /// Sends in the replica's place what the replica would send. Its own bytes do not count in any offset.
    fn send_acknowledgement(&self, applied: u64) -> Result<(), ReplayError> {
        let mut state = self.shared.lock();
        let offset = state.acknowledged_of(applied).to_string();
        let command = format!("*3\r\n$8\r\nREPLCONF\r\n$3\r\nACK\r\n${}\r\n{offset}\r\n", offset.len());
        let link = state.link.as_mut().ok_or_else(|| ReplayError::link("the link broke"))?;
        write_all(&mut link.master, command.as_bytes(), "master")
    }

    fn send_oldest(&self) -> Result<ReplicatedEffect, ReplayError> {
        let mark = *self.shared.lock().marks.front().ok_or(ReplayError::NothingHeld)?;
        let arrived = |state: &GateState| state.link.as_ref().is_some_and(|link| link.arrived() >= mark);
        let mut state =
            self.shared.wait_until(arrived, || format!("the master to send its effect up to offset {mark}"))?;
        // A full copy on a new link may have contained the effect in the meantime.
        if state.marks.front() != Some(&mark) {
            return Err(ReplayError::link("the effect came with a full copy"));
        }
        let link = state.link.as_mut().ok_or_else(|| ReplayError::link("the link broke"))?;
        let units = link.take_up_to(mark)?;
        link.send(&units)?;
        link.send_idle()?;
        state.marks.pop_front();
        let commands = units.into_iter().flat_map(|unit| unit.commands).collect();
        Ok(ReplicatedEffect { commands, end_offset: mark })
    }
}

fn start_proxy(master_socket: &Path, shared: &Arc<Shared>) -> Result<TcpProxy, ReplayError> {
    TcpProxy::start(GateRelay { master_socket: master_socket.to_owned(), shared: Arc::clone(shared) })
}

/// What the harness and the proxy's thread share.
#[derive(Debug, Default)]
struct Shared {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct GateState {
    link: Option<ReplicaLink>,
    marks: VecDeque<u64>,
    last_mark: u64,
    /// Why the last link ended.
    trouble: Option<String>,
    /// Nothing passes any more, and both connections stay open.
    is_silent: bool,
    /// The largest offset that is acknowledged, whatever the replica has.
    most_acknowledged: Option<u64>,
}

impl GateState {
    /// What is acknowledged of what the replica has.
    fn acknowledged_of(&self, applied: u64) -> u64 {
        self.most_acknowledged.map_or(applied, |most| applied.min(most))
    }
}

/// A replica that is connected now.
#[derive(Debug)]
struct ReplicaLink {
    replica: TcpStream,
    master: UnixStream,
    /// The offset up to which everything was sent to the replica, once its copy is complete.
    sent: Option<u64>,
    held: VecDeque<StreamUnit>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, GateState> {
        // A thread that panicked with the lock left a link that may be broken, and any link may be broken.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_until(
        &self,
        reached: impl Fn(&GateState) -> bool,
        awaited: impl Fn() -> String,
    ) -> Result<MutexGuard<'_, GateState>, ReplayError> {
        let begin = Instant::now();
        let mut state = self.lock();
        while begin.elapsed() <= LINK_WAIT {
            let waited = self.changed.wait_timeout_while(state, SLICE, |state| !reached(state));
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if reached(&state) {
                return Ok(state);
            }
            if stop::is_asked() {
                return Err(ReplayError::Stopped);
            }
        }
        let trouble = state.trouble.as_ref().filter(|_| state.link.is_none());
        let why = trouble.map_or_else(String::new, |trouble| format!(" ({trouble})"));
        Err(ReplayError::TimedOut { awaited: awaited() + &why, waited: LINK_WAIT })
    }

    fn change(&self, change: impl FnOnce(&mut GateState)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Takes one piece of what the master sent: passes it on, or holds it.
    fn take(&self, piece: StreamPiece) -> Result<(), ReplayError> {
        let mut state = self.lock();
        let GateState { link: Some(link), marks, last_mark, .. } = &mut *state else { return Ok(()) };
        match piece {
            StreamPiece::Pass(bytes) => link.write(&bytes)?,
            StreamPiece::Commands { from } => {
                link.sent = Some(from);
                // What the copy contains does not come again as an effect.
                marks.retain(|&mark| mark > from);
                *last_mark = from.max(*last_mark);
            }
            StreamPiece::Unit(unit) => {
                link.held.push_back(unit);
                link.send_idle()?;
                if link.arrived() - link.sent.unwrap_or_default() > MOST_HELD {
                    return Err(ReplayError::link(format!(
                        "the master has sent more than {MOST_HELD} bytes that no step released"
                    )));
                }
            }
        }
        drop(state);
        self.changed.notify_all();
        Ok(())
    }
}

impl ReplicaLink {
    fn arrived(&self) -> u64 {
        self.held.back().map(|unit| unit.end).or(self.sent).unwrap_or(0)
    }

    fn take_up_to(&mut self, mark: u64) -> Result<Vec<StreamUnit>, ReplayError> {
        let count = self.held.partition_point(|unit| unit.end <= mark);
        let before = count.checked_sub(1).map_or(self.sent, |last| Some(self.held[last].end)).unwrap_or(0);
        match self.held.get(count) {
            Some(cut) if before != mark => Err(ReplayError::NotAnEffect { mark, before, after: cut.end }),
            Some(_) | None => Ok(self.held.drain(..count).collect()),
        }
    }

    fn send(&mut self, units: &[StreamUnit]) -> Result<(), ReplayError> {
        let bytes: Vec<_> = units.iter().flat_map(|unit| &unit.bytes).copied().collect();
        self.write(&bytes)?;
        self.sent = units.last().map(|unit| unit.end).or(self.sent);
        Ok(())
    }

    /// What changes no data passes once nothing is held in front of it (a `WAIT` sends such a request): while nothing is
    /// held, the replica's offset is the master's.
    fn send_idle(&mut self) -> Result<(), ReplayError> {
        let count = self.held.iter().take_while(|unit| unit.is_idle).count();
        let idle: Vec<_> = self.held.drain(..count).collect();
        self.send(&idle)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ReplayError> {
        write_all(&mut self.replica, bytes, "replica")
    }
}

impl Drop for ReplicaLink {
    fn drop(&mut self) {
        // The proxy's thread has handles to both sockets too, and the servers shall see the end now.
        let _ = self.replica.shutdown(Shutdown::Both);
        let _ = self.master.shutdown(Shutdown::Both);
    }
}

/// The proxy of a gate.
struct GateRelay {
    master_socket: PathBuf,
    shared: Arc<Shared>,
}

impl Relay for GateRelay {
    type Connection = GatedConnection;

    fn accept(&mut self, replica: TcpStream, open: &mut Vec<GatedConnection>) -> Result<(), ReplayError> {
        // A replica has one link: a new connection means that it has given the old one up.
        open.clear();
        self.shared.change(|state| state.link = None);
        let master = connect_server(&self.master_socket)?;
        set_up_client(&replica)?;
        let link = ReplicaLink {
            replica: replica.try_clone().map_err(ReplayError::system("set up a link"))?,
            master: master.try_clone().map_err(ReplayError::system("set up a link"))?,
            sent: None,
            held: VecDeque::new(),
        };
        self.shared.change(|state| state.link = Some(link));
        let (from_replica, from_master) = (ReplicaStream::default(), MasterStream::new());
        open.push(GatedConnection { replica, master, from_replica, from_master, shared: Arc::clone(&self.shared) });
        Ok(())
    }

    fn ended(&mut self, why: &str) {
        self.shared.change(|state| {
            state.link = None;
            state.trouble = Some(why.to_owned());
        });
    }

    fn is_silent(&self) -> bool {
        self.shared.lock().is_silent
    }
}

/// Both ends of a replica's link, and how far each was read.
struct GatedConnection {
    replica: TcpStream,
    master: UnixStream,
    from_replica: ReplicaStream,
    from_master: MasterStream,
    shared: Arc<Shared>,
}

impl Relayed for GatedConnection {
    fn ends(&self) -> [BorrowedFd<'_>; 2] {
        [self.replica.as_fd(), self.master.as_fd()]
    }

    fn read_client(&mut self) -> Result<(), ReplayError> {
        let bytes = read_available(&mut self.replica, "replica")?;
        let output = self.from_replica.read(&bytes)?;
        if let Some(offset) = output.asked_from {
            self.from_master.asked_from(offset);
        }
        write_all(&mut self.master, &output.pass, "master")
    }

    fn read_server(&mut self) -> Result<(), ReplayError> {
        let bytes = read_available(&mut self.master, "master")?;
        self.from_master.read(&bytes)?.into_iter().try_for_each(|piece| self.shared.take(piece))
    }
}
