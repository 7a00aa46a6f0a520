//! An address for whoever lives behind a socket: Sentinel knows servers by address only.
//!
//! A door listens on a port that the kernel chose and leads each visitor to the socket. A replica that comes to its
//! master is led to its gate instead, and away again while it has none: so everybody knows the master by one address,
//! and what a replica hears is up to its gate all the same.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use rustix::event::{PollFd, PollFlags, poll};

use crate::replay::Error;
use crate::replay::node::LINK_WAIT;
use crate::replay::stream::command_at_start;

/// A port of ours that leads to a socket. Dropping it shuts everybody out.
#[derive(Debug)]
pub(super) struct Door {
    port: u16,
    inside: Arc<Inside>,
    /// The thread reads its other end: closing it tells it to end.
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

/// Where visitors are led.
#[derive(Debug)]
struct Inside {
    socket: PathBuf,
    /// By the port that a replica announces: the port of its gate.
    gates: Mutex<BTreeMap<u16, u16>>,
}

impl Door {
    /// Opens a door to this socket. Whether anybody is behind it is seen when somebody comes.
    pub(super) fn open(socket: &Path) -> Result<Self, Error> {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(Error::system("listen on the loopback interface"))?;
        let port = listener.local_addr().map_err(Error::system("learn the door's port"))?.port();
        let (stop, stopped) = UnixStream::pair().map_err(Error::system("make a pair of sockets"))?;
        let inside = Arc::new(Inside { socket: socket.to_owned(), gates: Mutex::default() });
        let of_thread = Arc::clone(&inside);
        let thread = thread::Builder::new()
            .name(format!("door-{port}"))
            .spawn(move || keep(&listener, &stopped, &of_thread))
            .map_err(Error::system("start the door's thread"))?;
        Ok(Self { port, inside, stop: Some(stop), thread: Some(thread) })
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    /// Leads the replica that announces itself as `announced` to this gate, from its next visit on.
    pub(super) fn lead(&self, announced: u16, gate: u16) {
        self.inside.gates.lock().unwrap_or_else(PoisonError::into_inner).insert(announced, gate);
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was told on stderr, and nobody passes any more all the same.
            let _ = thread.join();
        }
    }
}

/// Serves the door until `stopped` is closed. One thread for all visitors, asleep in `poll` when nobody speaks.
fn keep(listener: &TcpListener, stopped: &UnixStream, inside: &Inside) {
    let mut visits: Vec<Visit> = Vec::new();
    loop {
        let mut sockets = vec![watch(stopped.as_fd()), watch(listener.as_fd())];
        for visit in &visits {
            sockets.extend([watch(visit.visitor.as_fd()), watch(visit.host.as_fd())]);
        }
        match poll(&mut sockets, None) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
            Ok(_) => {}
        }
        let ready: Vec<bool> = sockets.iter().map(|socket| !socket.revents().is_empty()).collect();
        if ready[0] {
            return;
        }
        let mut of_visits = ready[2..].chunks(2);
        // Whoever leaves, or cannot be led, takes the other end along: that is all that either is told.
        visits.retain_mut(|visit| {
            let Some([speaks, is_answered]) = of_visits.next() else { return true };
            // The answer first: what is said next may be for another host.
            (!is_answered || visit.pass_out().is_some()) && (!speaks || visit.pass_in(inside).is_some())
        });
        if ready[1]
            && let Ok((visitor, _)) = listener.accept()
        {
            visits.extend(Visit::begin(visitor, inside));
        }
    }
}

fn watch(socket: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::from_borrowed_fd(socket, PollFlags::IN)
}

/// One connection through the door.
struct Visit {
    visitor: TcpStream,
    host: Host,
    /// What was said so far, until it is clear who speaks.
    unread: Option<Vec<u8>>,
}

/// The other end: the server, or a gate of it.
enum Host {
    Server(UnixStream),
    Gate(TcpStream),
}

/// Who speaks, by a command.
enum Visitor {
    Anybody,
    Replica { announced: u16 },
    NotClear,
}

impl Visit {
    fn begin(visitor: TcpStream, inside: &Inside) -> Option<Self> {
        let host = UnixStream::connect(&inside.socket).ok()?;
        visitor.set_nodelay(true).ok()?;
        // A server that stopped reading must not stop us with it.
        visitor.set_write_timeout(Some(LINK_WAIT)).ok()?;
        host.set_write_timeout(Some(LINK_WAIT)).ok()?;
        Some(Self { visitor, host: Host::Server(host), unread: Some(Vec::new()) })
    }

    fn pass_in(&mut self, inside: &Inside) -> Option<()> {
        let said = receive(|buffer| self.visitor.read(buffer))?;
        let Some(mut unread) = self.unread.take() else { return self.host.write(&said) };
        unread.extend(said);
        while let Some((command, length)) = command_at_start(&unread).ok()? {
            match who_says(&command) {
                Visitor::NotClear => self.host.write(&unread.drain(..length).collect::<Vec<_>>())?,
                Visitor::Anybody => return self.host.write(&unread),
                Visitor::Replica { announced } => {
                    let gate = *inside.gates.lock().unwrap_or_else(PoisonError::into_inner).get(&announced)?;
                    let gate = TcpStream::connect((Ipv4Addr::LOCALHOST, gate)).ok()?;
                    gate.set_nodelay(true).ok()?;
                    gate.set_write_timeout(Some(LINK_WAIT)).ok()?;
                    self.host = Host::Gate(gate);
                    return self.host.write(&unread);
                }
            }
        }
        self.unread = Some(unread);
        Some(())
    }

    fn pass_out(&mut self) -> Option<()> {
        let said = match &mut self.host {
            Host::Server(host) => receive(|buffer| host.read(buffer)),
            Host::Gate(host) => receive(|buffer| host.read(buffer)),
        }?;
        self.visitor.write_all(&said).ok()
    }
}

impl Host {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Server(host) => host.as_fd(),
            Self::Gate(host) => host.as_fd(),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Option<()> {
        match self {
            Self::Server(host) => host.write_all(bytes).ok(),
            Self::Gate(host) => host.write_all(bytes).ok(),
        }
    }
}

/// What there is to read; none at the end.
fn receive(read: impl FnOnce(&mut [u8]) -> std::io::Result<usize>) -> Option<Vec<u8>> {
    let mut buffer = [0; 16384];
    let count = read(&mut buffer).ok().filter(|&count| count > 0)?;
    Some(buffer[..count].to_vec())
}

/// A replica says PING, and then what it announces (seen with Redis 6.2.5 and 7.0.15 and Valkey 9.1.2); Sentinel gives
/// itself a name first.
fn who_says(command: &[Vec<u8>]) -> Visitor {
    let is = |at: usize, word: &str| {
        command.get(at).is_some_and(|other: &Vec<u8>| other.eq_ignore_ascii_case(word.as_bytes()))
    };
    if is(0, "replconf") && is(1, "listening-port") {
        let announced = command.get(2).and_then(|port| str::from_utf8(port).ok()?.parse().ok());
        return announced.map_or(Visitor::Anybody, |announced| Visitor::Replica { announced });
    }
    if is(0, "ping") { Visitor::NotClear } else { Visitor::Anybody }
}
