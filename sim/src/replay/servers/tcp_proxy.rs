//! A TCP port of ours in front of a server that listens on a Unix socket: one thread accepts connections and moves bytes
//! between each client and its server. What a proxy does with the bytes is up to its [`Relay`]: the gate of a replica holds
//! replicated writes back (`gate`), and the address of a node leads replicas to their gates (`address_proxy`).

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::limits::{LINK_WAIT, SLICE};
use super::patient_stream::PatientStream;
use crate::replay::error::ReplayError;
use crate::stop;

/// A proxy that runs. Dropping it ends its connections.
#[derive(Debug)]
pub struct TcpProxy {
    port: u16,
    /// The thread polls its other end: a byte makes it look again, and closing this one stops it.
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

/// What a proxy does with its connections.
pub trait Relay: Send + 'static {
    /// One connection.
    type Connection: Relayed;

    /// A client has connected. Earlier connections may be removed from `open`; the new one is added.
    ///
    /// # Errors
    /// The connection cannot be relayed; the client's end is closed.
    fn accept(&mut self, client: TcpStream, open: &mut Vec<Self::Connection>) -> Result<(), ReplayError>;

    /// A connection has ended, or could not be relayed, or the proxy was stopped.
    fn ended(&mut self, why: &str);

    /// Whether nothing is moved and nobody accepted: until this changes and the proxy is told so ([`TcpProxy::wake`]).
    /// Connections stay open meanwhile.
    fn is_silent(&self) -> bool {
        false
    }
}

/// One connection through a proxy.
pub trait Relayed {
    /// The sockets of the client and of the server, to be polled.
    fn ends(&self) -> [BorrowedFd<'_>; 2];

    /// The client's end can be read.
    ///
    /// # Errors
    /// One of the two has closed its end, or sent what it never sends: the connection ends.
    fn read_client(&mut self) -> Result<(), ReplayError>;

    /// The server's end can be read.
    ///
    /// # Errors
    /// As `read_client`.
    fn read_server(&mut self) -> Result<(), ReplayError>;

    /// When it is to pass on what it was late with; nothing: it holds nothing back by time.
    fn next_due(&self) -> Option<Instant> {
        None
    }

    /// Passes on what is due.
    ///
    /// # Errors
    /// As `read_client`.
    fn pass_due(&mut self) -> Result<(), ReplayError> {
        Ok(())
    }
}

impl TcpProxy {
    /// Opens a port on the loopback interface and starts the thread.
    ///
    /// # Errors
    /// `System` if there is no free port, or no thread can be started.
    pub fn start(relay: impl Relay) -> Result<Self, ReplayError> {
        Self::start_at(Self::any_port()?, relay)
    }

    /// A port of the loopback interface: the kernel chooses a free one, which stays ours while the listener lives.
    ///
    /// # Errors
    /// `System` if there is none.
    pub fn any_port() -> Result<TcpListener, ReplayError> {
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(ReplayError::system("listen on the loopback interface"))
    }

    /// The same at this port.
    ///
    /// # Errors
    /// `System` if no thread can be started.
    pub fn start_at(listener: TcpListener, mut relay: impl Relay) -> Result<Self, ReplayError> {
        let port = listener.local_addr().map_err(ReplayError::system("learn the port of a proxy"))?.port();
        let (stop, stopped) = UnixStream::pair().map_err(ReplayError::system("make a pair of sockets"))?;
        let thread = thread::Builder::new()
            .name(format!("proxy-{port}"))
            .spawn(move || {
                let ended = relay_until_stopped(&listener, &stopped, &mut relay);
                relay.ended(&ended.err().map_or("the link is cut".to_owned(), |error| error.to_string()));
            })
            .map_err(ReplayError::system("start the thread of a proxy"))?;
        Ok(Self { port, stop: Some(stop), thread: Some(thread) })
    }

    /// The port that clients connect to.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Makes the proxy look again: whether its relay is silent has changed.
    pub fn wake(&self) {
        // If the thread is gone, there is nobody to look.
        let _ = self.stop.as_ref().map(|mut stop| stop.write(&[0]));
    }
}

impl Drop for TcpProxy {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported on stderr, and its connections are gone either way.
            let _ = thread.join();
        }
    }
}

/// Sets a proxied connection up: small writes leave at once, and a peer that stopped reading does not stop us for ever.
///
/// # Errors
/// `System`.
pub fn set_up_client(client: &TcpStream) -> Result<(), ReplayError> {
    client.set_nodelay(true).map_err(ReplayError::system("set up a link"))?;
    client.set_write_timeout(Some(SLICE)).map_err(ReplayError::system("set up a link"))
}

/// A connection to the server behind a proxy, whose writes wait for a moment only.
///
/// # Errors
/// `System` if the server does not accept it.
pub fn connect_server(socket: &std::path::Path) -> Result<UnixStream, ReplayError> {
    let who = "the server behind a proxy".into();
    let server = PatientStream::connect(socket, who, LINK_WAIT).map_err(ReplayError::system("reach a server"))?;
    server.into_socket().map_err(ReplayError::system("set up a link"))
}

/// The bytes that can be read now.
///
/// # Errors
/// `Link` if this end was closed; `System`.
pub fn read_available(from: &mut impl std::io::Read, whose: &'static str) -> Result<Vec<u8>, ReplayError> {
    let mut buffer = vec![0; 16384];
    let count = from.read(&mut buffer).map_err(ReplayError::system("read from a link"))?;
    if count == 0 {
        return Err(ReplayError::link(format!("the {whose} closed the connection")));
    }
    buffer.truncate(count);
    Ok(buffer)
}

/// Writes all of the bytes to a socket that waits for no more than [`SLICE`].
///
/// # Errors
/// `Link` if the other end does not read them; `Stopped`.
pub fn write_all(to: &mut impl std::io::Write, bytes: &[u8], whose: &'static str) -> Result<(), ReplayError> {
    let begin = Instant::now();
    let mut left = bytes;
    while !left.is_empty() {
        match to.write(left) {
            Ok(0) => return Err(ReplayError::link(format!("the {whose} closed the connection"))),
            Ok(count) => left = &left[count..],
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) =>
            {
                if stop::is_asked() {
                    return Err(ReplayError::Stopped);
                }
                if begin.elapsed() > LINK_WAIT {
                    return Err(ReplayError::link(format!("the {whose} has not read for {} s", LINK_WAIT.as_secs())));
                }
            }
            Err(error) => return Err(ReplayError::link(format!("the {whose} does not read: {error}"))),
        }
    }
    Ok(())
}

/// Moves bytes until `stopped` is closed. One thread serves all connections, and sleeps in `poll` while nothing comes.
fn relay_until_stopped<R: Relay>(
    listener: &TcpListener,
    stopped: &UnixStream,
    relay: &mut R,
) -> Result<(), ReplayError> {
    let mut open: Vec<R::Connection> = Vec::new();
    loop {
        let mut sockets = vec![watch(stopped.as_fd())];
        if !relay.is_silent() {
            sockets.push(watch(listener.as_fd()));
            sockets.extend(open.iter().flat_map(Relayed::ends).map(watch));
        }
        let next_due = if relay.is_silent() { None } else { open.iter().filter_map(Relayed::next_due).min() };
        match poll(&mut sockets, next_due.map(left_until).as_ref()) {
            Err(rustix::io::Errno::INTR) => continue,
            polled => polled.map_err(|errno| ReplayError::system("poll the sockets of a proxy")(errno.into()))?,
        };
        let ready: Vec<bool> = sockets.iter().map(|socket| !socket.revents().is_empty()).collect();
        if ready[0] && is_closed(stopped)? {
            return Ok(());
        }
        // The relay may have fallen silent during the poll: from then on nothing is read. Or it is silent no more, and the
        // next poll looks at its sockets.
        if relay.is_silent() || ready.len() == 1 {
            continue;
        }
        let mut of_connections = ready[2..].chunks(2);
        open.retain_mut(|connection| {
            let Some([client, server]) = of_connections.next() else { return true };
            // Answers first: the next request may be for another server.
            let moved = (if *server { connection.read_server() } else { Ok(()) })
                .and_then(|()| if *client { connection.read_client() } else { Ok(()) })
                .and_then(|()| connection.pass_due());
            moved.inspect_err(|error| relay.ended(&error.to_string())).is_ok()
        });
        if ready[1] {
            let accepted = listener.accept().map_err(ReplayError::system("accept a connection"));
            let relayed = accepted.and_then(|(client, _)| relay.accept(client, &mut open));
            relayed.unwrap_or_else(|error| relay.ended(&error.to_string()));
        }
    }
}

/// Reads what [`TcpProxy::wake`] has sent. Whether the other end is closed.
fn is_closed(mut stopped: &UnixStream) -> Result<bool, ReplayError> {
    let count = stopped.read(&mut [0; 64]).map_err(ReplayError::system("look whether a proxy is to stop"))?;
    Ok(count == 0)
}

fn left_until(due: Instant) -> Timespec {
    // A poll that ends a moment too early would only poll again.
    let left = due.saturating_duration_since(Instant::now());
    Timespec { tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX), tv_nsec: left.subsec_nanos().into() }
}

fn watch(socket: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::from_borrowed_fd(socket, PollFlags::IN)
}
