//! Replication one effect at a time: a replica hears of a write when the harness says so.
//!
//! The gate stands between a replica and its master, as the address the replica was told. What the
//! replica says passes at once, and so do the conversation and the full copy that begin a link; only
//! its acknowledgements, which come by real time, are said by the gate instead, after each release. The
//! stream of commands is held. After each step that wrote, the harness marks the master's offset;
//! the bytes up to a mark are one effect, and `release_one` hands over the oldest.
//!
//! What a master sends without being asked (the `DEL` of a key that it found expired) has no mark of
//! its own and travels with the next effect. That hides nothing where TTLs travel as absolute
//! times: until then the replica's own clock hides the key from its readers, and after a promotion too.
//! Before Redis 7.0 a late replica's key outlives its master's, and such a `DEL` would end it early:
//! that is not modelled, and here it comes with the next effect.

use std::collections::VecDeque;
use std::fmt;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rustix::event::{PollFd, PollFlags, poll};

use super::Error;
use super::node::{Control, LINK_WAIT};
use super::stream::{Command, FromMaster, FromReplica, Piece, Whole, command_as_text};

/// What one step wrote, as it went to the replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The commands in order, each its name and arguments, with `SELECT`, `MULTI` and `EXEC`.
    pub commands: Vec<Command>,
    /// The replication offset of a replica that has applied it.
    pub end_offset: u64,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Sentinels greet one another by way of the master's link; that is told by chance, and concerns nobody else.
        let is_greeting = |command: &&Command| command.get(1).is_some_and(|channel| channel == b"__sentinel__:hello");
        let commands: Vec<_> =
            self.commands.iter().filter(|command| !is_greeting(command)).map(command_as_text).collect();
        f.write_str(&commands.join("; "))
    }
}

/// The only way from a master to one replica. Dropping it loses what it holds.
#[derive(Debug)]
pub struct Gate {
    master_socket: PathBuf,
    shared: Arc<Shared>,
    relay: Option<Relay>,
    ends: Mutex<Option<Controls>>,
}

/// Whom to ask how far the link has come.
#[derive(Debug)]
struct Controls {
    replica: Control,
    master: Control,
    /// The port by which the master knows the replica.
    announced: u16,
}

impl Gate {
    /// Opens a gate in front of a master. `Node::follow` leads a replica to it.
    ///
    /// # Errors
    ///
    /// `System` if the loopback interface gives no port or no thread starts.
    pub fn open(master_socket: &Path) -> Result<Self, Error> {
        let shared = Arc::new(Shared::default());
        let relay = Relay::start(master_socket, &shared)?;
        Ok(Self { master_socket: master_socket.to_owned(), shared, relay: Some(relay), ends: Mutex::new(None) })
    }

    /// Says that what the master wrote up to this offset, and was not marked before, is one effect.
    /// An offset that is marked already makes no effect: a step that wrote nothing may be marked too.
    pub fn mark(&self, end_offset: u64) {
        let mut state = self.shared.lock();
        if end_offset > state.last_mark {
            state.last_mark = end_offset;
            state.marks.push_back(end_offset);
        }
    }

    /// How many effects are marked and not released.
    pub fn held(&self) -> usize {
        self.shared.lock().marks.len()
    }

    /// Hands the oldest effect to the replica and waits until it is applied there.
    ///
    /// # Errors
    ///
    /// `NothingHeld`; `NotAnEffect` if its mark is in the middle of a command; `Link` or `TimedOut` if
    /// the master did not send it or the replica did not apply it.
    pub fn release_one(&self) -> Result<Effect, Error> {
        let effect = self.hand_over()?;
        self.with_ends(|ends| ends.replica.wait_offset(effect.end_offset))?;
        // A sync wait is answered by this. A master that does not listen any more changes nothing about
        // the effect.
        let _ = self.send_acknowledgement(effect.end_offset);
        Ok(effect)
    }

    /// Hands over all effects that are marked, oldest first.
    ///
    /// # Errors
    ///
    /// As `release_one`, at the first that fails; those before it are released.
    pub fn release_all(&self) -> Result<Vec<Effect>, Error> {
        (0..self.held()).map(|_| self.release_one()).collect()
    }

    /// Lets the replica acknowledge what it has applied, and waits until the master has heard it. After
    /// each release that is done already; but a master that requires replicas (`Node::require_replicas`)
    /// finds one lagging when its own clock has moved on since.
    ///
    /// # Errors
    ///
    /// `Link` if the replica does not follow; `TimedOut`; `Redis` if one of the two is not running.
    pub fn acknowledge(&self) -> Result<(), Error> {
        self.with_ends(|ends| {
            self.say_applied(ends)?;
            ends.master.recount_replicas()
        })
    }

    /// Lets the replica acknowledge what it has applied, and waits until the master has heard it: what is on its way
    /// `WAIT` does not count.
    ///
    /// # Errors
    ///
    /// As `acknowledge`.
    pub fn wait_heard(&self) -> Result<(), Error> {
        self.with_ends(|ends| self.say_applied(ends))
    }

    /// Breaks the link for as long as `heal` is not called. The master keeps what was marked.
    pub fn cut(&mut self) {
        self.relay = None;
    }

    /// Says nothing more to either side, and lets neither know: as a partition does. The master believes that its replica
    /// is there until its last word is too old, even if the replica has left; dropping the gate ends that.
    pub fn silence(&self) {
        self.shared.lock().is_silent = true;
    }

    /// Whether it was silenced.
    pub fn is_silent(&self) -> bool {
        self.shared.lock().is_silent
    }

    /// Makes a link possible again; then `Node::follow` leads the replica back, to a new port, since a
    /// replica told to follow whom it follows already does nothing. If the master still has what was
    /// cut off, the marks go on as they were; if it sends a full copy, the marks in it are gone.
    ///
    /// # Errors
    ///
    /// As `open`.
    pub fn heal(&mut self) -> Result<(), Error> {
        // The old one first: it must not take the new link for its own.
        self.relay = None;
        self.relay = Some(Relay::start(&self.master_socket, &self.shared)?);
        Ok(())
    }

    /// Ends the link. What is held is lost, as when the master dies.
    pub fn close(self) {
        drop(self);
    }

    /// Where the replica finds its master; none while the link is cut.
    pub fn port(&self) -> Option<u16> {
        self.relay.as_ref().map(|relay| relay.port)
    }

    /// The master behind the gate.
    pub fn master_socket(&self) -> &Path {
        &self.master_socket
    }

    /// The port by which the master knows the replica; none before there is one.
    pub(super) fn announced(&self) -> Option<u16> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|ends| ends.announced)
    }

    /// Says whom to ask how far the link has come.
    pub(super) fn attach(&self, replica: Control, master: Control, announced: u16) {
        *self.ends.lock().unwrap_or_else(PoisonError::into_inner) = Some(Controls { replica, master, announced });
    }

    fn with_ends<T>(&self, act: impl FnOnce(&mut Controls) -> Result<T, Error>) -> Result<T, Error> {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        act(ends.as_mut().ok_or_else(|| Error::link("no replica was told to follow this gate"))?)
    }

    fn say_applied(&self, ends: &mut Controls) -> Result<(), Error> {
        let applied = ends.replica.applied_offset()?;
        self.send_acknowledgement(applied)?;
        ends.master.wait_acknowledged(ends.announced, applied)
    }

    /// Speaks for the replica, and says what it would: no offset counts what a replica says.
    fn send_acknowledgement(&self, applied: u64) -> Result<(), Error> {
        let offset = applied.to_string();
        let words = format!("*3\r\n$8\r\nREPLCONF\r\n$3\r\nACK\r\n${}\r\n{offset}\r\n", offset.len());
        let mut state = self.shared.lock();
        let link = state.link.as_mut().ok_or_else(|| Error::link("the link broke"))?;
        link.master.write_all(words.as_bytes()).map_err(Error::system("write to the master"))
    }

    /// Waits until the replica has its copy and listens to the stream.
    pub(super) fn wait_for_commands(&self) -> Result<(), Error> {
        let listens = |state: &State| state.link.as_ref().is_some_and(|link| link.sent.is_some());
        self.shared.wait_until(listens, || "a replica to be given its copy through the gate".to_owned()).map(drop)
    }

    fn hand_over(&self) -> Result<Effect, Error> {
        let mark = *self.shared.lock().marks.front().ok_or(Error::NothingHeld)?;
        let arrived = |state: &State| state.link.as_ref().is_some_and(|link| link.arrived() >= mark);
        let mut state =
            self.shared.wait_until(arrived, || format!("the master to send its effect up to offset {mark}"))?;
        // A full copy on a new link may have brought the effect while we waited.
        if state.marks.front() != Some(&mark) {
            return Err(Error::link("the effect came with a full copy"));
        }
        let link = state.link.as_mut().ok_or_else(|| Error::link("the link broke"))?;
        let wholes = link.take_up_to(mark)?;
        link.send(&wholes)?;
        link.send_idle()?;
        state.marks.pop_front();
        let commands = wholes.into_iter().flat_map(|whole| whole.commands).collect();
        Ok(Effect { commands, end_offset: mark })
    }
}

/// What the harness and the relaying thread both touch.
#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    link: Option<Link>,
    marks: VecDeque<u64>,
    last_mark: u64,
    /// Why the last link ended.
    trouble: Option<String>,
    /// Nothing passes any more, and no end is told.
    is_silent: bool,
}

/// A replica that is connected now.
#[derive(Debug)]
struct Link {
    replica: TcpStream,
    master: UnixStream,
    /// The offset up to which the replica was sent all, once it listens to the stream.
    sent: Option<u64>,
    held: VecDeque<Whole>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Whoever panicked with the lock left a link that may be broken, and a link may always be that.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_until(
        &self,
        reached: impl Fn(&State) -> bool,
        awaited: impl Fn() -> String,
    ) -> Result<MutexGuard<'_, State>, Error> {
        let (state, _) = self
            .changed
            .wait_timeout_while(self.lock(), LINK_WAIT, |state| !reached(state))
            .unwrap_or_else(PoisonError::into_inner);
        if reached(&state) {
            return Ok(state);
        }
        let trouble = state.trouble.as_ref().filter(|_| state.link.is_none());
        let why = trouble.map_or_else(String::new, |trouble| format!(" ({trouble})"));
        Err(Error::TimedOut { awaited: awaited() + &why, waited: LINK_WAIT })
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Takes one piece of what the master sent: sends it on, or holds it.
    fn take(&self, piece: Piece) -> Result<(), Error> {
        let mut state = self.lock();
        let State { link: Some(link), marks, last_mark, .. } = &mut *state else { return Ok(()) };
        match piece {
            Piece::Pass(bytes) => link.write(&bytes)?,
            Piece::Commands { from } => {
                link.sent = Some(from);
                // What the copy contains will not come again as an effect.
                marks.retain(|&mark| mark > from);
                *last_mark = from.max(*last_mark);
            }
            Piece::Whole(whole) => {
                link.held.push_back(whole);
                link.send_idle()?;
            }
        }
        drop(state);
        self.changed.notify_all();
        Ok(())
    }
}

impl Link {
    fn arrived(&self) -> u64 {
        self.held.back().map(|whole| whole.end).or(self.sent).unwrap_or(0)
    }

    fn take_up_to(&mut self, mark: u64) -> Result<Vec<Whole>, Error> {
        let count = self.held.partition_point(|whole| whole.end <= mark);
        let before = count.checked_sub(1).map_or(self.sent, |last| Some(self.held[last].end)).unwrap_or(0);
        match self.held.get(count) {
            Some(cut) if before != mark => Err(Error::NotAnEffect { mark, before, after: cut.end }),
            _ => Ok(self.held.drain(..count).collect()),
        }
    }

    fn send(&mut self, wholes: &[Whole]) -> Result<(), Error> {
        let bytes: Vec<_> = wholes.iter().flat_map(|whole| &whole.bytes).copied().collect();
        self.write(&bytes)?;
        self.sent = wholes.last().map(|whole| whole.end).or(self.sent);
        Ok(())
    }

    /// What leaves the data alone passes once nothing is held in front of it (a WAIT sends such a
    /// question): with nothing held, the replica's offset is the master's.
    fn send_idle(&mut self) -> Result<(), Error> {
        let count = self.held.iter().take_while(|whole| whole.idle).count();
        let idle: Vec<_> = self.held.drain(..count).collect();
        self.send(&idle)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.replica.write_all(bytes).map_err(|error| Error::link(format!("the replica does not listen: {error}")))
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The relaying thread has a handle to both too, and the servers shall see the end now.
        let _ = self.replica.shutdown(Shutdown::Both);
        let _ = self.master.shutdown(Shutdown::Both);
    }
}

/// The thread that moves bytes, and what ends it.
#[derive(Debug)]
struct Relay {
    port: u16,
    /// The thread reads its other end: closing it is the signal.
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Relay {
    fn start(master_socket: &Path, shared: &Arc<Shared>) -> Result<Self, Error> {
        // The kernel chooses a port that is free, and it stays ours as long as the listener lives.
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(Error::system("listen on the loopback interface"))?;
        let port = listener.local_addr().map_err(Error::system("learn the gate's port"))?.port();
        let (stop, stopped) = UnixStream::pair().map_err(Error::system("make a pair of sockets"))?;
        let (master_socket, shared) = (master_socket.to_owned(), Arc::clone(shared));
        let thread = thread::Builder::new()
            .name(format!("gate-{port}"))
            .spawn(move || {
                let ended = relay(&listener, &stopped, &master_socket, &shared);
                shared.change(|state| {
                    state.link = None;
                    state.trouble = Some(ended.err().map_or("the link is cut".to_owned(), |error| error.to_string()));
                });
            })
            .map_err(Error::system("start the gate's thread"))?;
        Ok(Self { port, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was told on stderr, and the link is gone all the same.
            let _ = thread.join();
        }
    }
}

/// Both ends of a link, and how far each was read.
struct Ends {
    replica: TcpStream,
    master: UnixStream,
    from_replica: FromReplica,
    from_master: FromMaster,
}

/// Moves bytes until `stopped` is closed. One thread for all, asleep in `poll` when nothing moves.
fn relay(listener: &TcpListener, stopped: &UnixStream, master_socket: &Path, shared: &Shared) -> Result<(), Error> {
    let mut ends: Option<Ends> = None;
    loop {
        let mut sockets = vec![watch(stopped), watch(listener)];
        if let Some(ends) = &ends {
            sockets.extend([watch(&ends.replica), watch(&ends.master)]);
        }
        match poll(&mut sockets, None) {
            Err(rustix::io::Errno::INTR) => continue,
            polled => polled.map_err(|errno| Error::system("poll the gate's sockets")(errno.into()))?,
        };
        let ready: Vec<bool> = sockets.iter().map(|socket| !socket.revents().is_empty()).collect();
        if ready[0] {
            return Ok(());
        }
        if shared.lock().is_silent {
            // Both ends stay open until the gate is dropped, whatever they do.
            return wait_for_end(stopped);
        }
        if let Some(open) = &mut ends {
            let moved = (if ready[2] { open.move_up() } else { Ok(()) })
                .and_then(|()| if ready[3] { open.move_down(shared) } else { Ok(()) });
            if let Err(error) = moved {
                ends = None;
                shared.change(|state| {
                    state.link = None;
                    state.trouble = Some(error.to_string());
                });
            }
        }
        if ready[1] {
            let (replica, _) = listener.accept().map_err(Error::system("accept a replica"))?;
            // A replica has one link: a new connection means that it gave the old one up.
            shared.change(|state| state.link = None);
            ends = match Ends::join(replica, master_socket) {
                Ok((new, link)) => {
                    shared.change(|state| state.link = Some(link));
                    Some(new)
                }
                Err(error) => {
                    shared.change(|state| state.trouble = Some(error.to_string()));
                    None
                }
            };
        }
    }
}

fn wait_for_end(stopped: &UnixStream) -> Result<(), Error> {
    loop {
        match poll(&mut [watch(stopped)], None) {
            Err(rustix::io::Errno::INTR) => {}
            polled => return polled.map(drop).map_err(|errno| Error::system("poll the gate's sockets")(errno.into())),
        }
    }
}

fn watch(socket: &impl AsFd) -> PollFd<'_> {
    PollFd::new(socket, PollFlags::IN)
}

impl Ends {
    fn join(replica: TcpStream, master_socket: &Path) -> Result<(Self, Link), Error> {
        let master = UnixStream::connect(master_socket).map_err(Error::system("reach the master"))?;
        replica.set_nodelay(true).map_err(Error::system("set up the link"))?;
        // A server that stopped reading must not stop us with it.
        replica.set_write_timeout(Some(LINK_WAIT)).map_err(Error::system("set up the link"))?;
        master.set_write_timeout(Some(LINK_WAIT)).map_err(Error::system("set up the link"))?;
        let link = Link {
            replica: replica.try_clone().map_err(Error::system("set up the link"))?,
            master: master.try_clone().map_err(Error::system("set up the link"))?,
            sent: None,
            held: VecDeque::new(),
        };
        let (from_replica, from_master) = (FromReplica::default(), FromMaster::new());
        Ok((Self { replica, master, from_replica, from_master }, link))
    }

    fn move_up(&mut self) -> Result<(), Error> {
        let mut buffer = [0; 4096];
        let count = self.replica.read(&mut buffer).map_err(Error::system("read from the replica"))?;
        if count == 0 {
            return Err(Error::link("the replica left"));
        }
        let said = self.from_replica.read(&buffer[..count])?;
        if let Some(offset) = said.asked_from {
            self.from_master.asked_from(offset);
        }
        self.master.write_all(&said.pass).map_err(Error::system("write to the master"))
    }

    fn move_down(&mut self, shared: &Shared) -> Result<(), Error> {
        let mut buffer = [0; 16384];
        let count = self.master.read(&mut buffer).map_err(Error::system("read from the master"))?;
        if count == 0 {
            return Err(Error::link("the master left"));
        }
        self.from_master.read(&buffer[..count])?.into_iter().try_for_each(|piece| shared.take(piece))
    }
}
