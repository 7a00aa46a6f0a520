//! A socket to another process, on which every wait ends: at a deadline, at a limit of size, or when this process is asked
//! to stop.
//!
//! The socket itself waits for a moment only ([`SLICE`]); after each moment the stream decides whether to go on.

use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use super::limits::{MOST_ANSWER, SLICE};
use crate::replay::given_up::GivenUp;
use crate::stop;

/// How long one exchange may still take, and how much may still be read in it.
#[derive(Debug)]
struct Patience {
    who: Arc<str>,
    within: Duration,
    began: Instant,
    most: usize,
    left: usize,
}

impl Patience {
    fn new(who: Arc<str>, within: Duration, most: usize) -> Self {
        Self { who, within, began: Instant::now(), most, left: most }
    }

    fn check(&self) -> Result<(), GivenUp> {
        if stop::is_asked() {
            return Err(GivenUp::Stopped);
        }
        let waited = self.began.elapsed();
        if waited > self.within { Err(GivenUp::NoAnswer { who: Arc::clone(&self.who), waited }) } else { Ok(()) }
    }

    /// Repeats `attempt` while nothing moves and there is patience left.
    fn repeat<T>(&self, mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        if stop::is_asked() {
            return Err(GivenUp::Stopped.into());
        }
        loop {
            match attempt() {
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) =>
                {
                    self.check()?;
                }
                done => return done,
            }
        }
    }
}

/// A connection to another process.
#[derive(Debug)]
pub struct PatientStream {
    stream: UnixStream,
    patience: Patience,
}

impl PatientStream {
    /// Of a socket that is connected already. `who` is the other process, in words.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn of(stream: UnixStream, who: Arc<str>, within: Duration, most: usize) -> io::Result<Self> {
        stream.set_read_timeout(Some(SLICE))?;
        stream.set_write_timeout(Some(SLICE))?;
        Ok(Self { stream, patience: Patience::new(who, within, most) })
    }

    /// Connects to a server.
    ///
    /// # Errors
    /// Nobody listens there; it does not accept; `Stopped`.
    pub fn connect(socket: &Path, who: Arc<str>, within: Duration) -> io::Result<Self> {
        let patience = Patience::new(Arc::clone(&who), within, MOST_ANSWER);
        let address = SocketAddrUnix::new(socket)?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let stream = UnixStream::from(socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?);
        // A server that accepts nobody has a full queue, and a plain `connect` would wait for ever.
        patience.repeat(|| match connect(&stream, &address) {
            Err(Errno::AGAIN) => {
                thread::sleep(SLICE.min(Duration::from_millis(1)));
                Err(ErrorKind::WouldBlock.into())
            }
            connected => Ok(connected?),
        })?;
        stream.set_nonblocking(false)?;
        Self::of(stream, who, within, MOST_ANSWER)
    }

    /// Begins an exchange: from now on it has the whole time and the whole size.
    pub fn begin(&mut self) {
        self.patience.began = Instant::now();
        self.patience.left = self.patience.most;
    }

    /// The socket itself. Reads wait for ever from now on, and writes for a moment ([`SLICE`]).
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn into_socket(self) -> io::Result<UnixStream> {
        self.stream.set_read_timeout(None)?;
        Ok(self.stream)
    }

    /// A second handle to the same connection.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn try_clone(&self) -> io::Result<UnixStream> {
        self.stream.try_clone()
    }

    /// Lets it wait for so long from now on.
    pub fn set_patience(&mut self, within: Duration) {
        self.patience.within = within;
    }

    /// Ends the connection.
    pub fn close(&self) {
        // It may be closed already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl Read for PatientStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Self { stream, patience } = self;
        let most = buffer.len().min(patience.left);
        if most == 0 && !buffer.is_empty() {
            return Err(GivenUp::TooLong { who: Arc::clone(&patience.who), most: patience.most }.into());
        }
        let count = patience.repeat(|| stream.read(&mut buffer[..most]))?;
        patience.left -= count;
        // A server that sends a byte now and then has not answered either.
        patience.check()?;
        Ok(count)
    }
}

impl Write for PatientStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Self { stream, patience } = self;
        patience.repeat(|| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(within: Duration, most: usize) -> (PatientStream, UnixStream) {
        let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
        (PatientStream::of(ours, "the other".into(), within, most).expect("a stream"), theirs)
    }

    fn reason(error: &io::Error) -> &GivenUp {
        GivenUp::cause_of(error).unwrap_or_else(|| panic!("{error}"))
    }

    #[test]
    fn a_silent_peer_is_given_up_and_named() {
        let (mut ours, _theirs) = pair(Duration::from_millis(60), 100);
        let error = ours.read(&mut [0; 10]).expect_err("nothing comes");
        assert!(matches!(reason(&error), GivenUp::NoAnswer { .. }), "{error}");
        assert!(error.to_string().starts_with("the other has not answered for "), "{error}");
    }

    /// Each byte comes in time; the answer does not.
    #[test]
    fn a_peer_that_sends_byte_by_byte_is_given_up() {
        let (mut ours, mut theirs) = pair(Duration::from_millis(200), 1_000_000);
        let error = thread::scope(|scope| {
            scope.spawn(move || {
                while theirs.write_all(b"x").is_ok() {
                    thread::sleep(Duration::from_millis(1));
                }
            });
            let error = io::copy(&mut ours, &mut io::sink()).expect_err("it has no end");
            drop(ours);
            error
        });
        assert!(matches!(reason(&error), GivenUp::NoAnswer { .. }), "{error}");
    }

    #[test]
    fn a_peer_that_reads_nothing_is_given_up() {
        let (mut ours, _theirs) = pair(Duration::from_millis(60), 100);
        let error = ours.write_all(&vec![0; 10_000_000]).expect_err("nobody reads");
        assert!(matches!(reason(&error), GivenUp::NoAnswer { .. }), "{error}");
    }

    #[test]
    fn an_answer_without_end_is_cut_at_the_limit() {
        let (mut ours, mut theirs) = pair(Duration::from_secs(60), 1000);
        theirs.write_all(&[b'x'; 2000]).expect("it fits into the socket");
        let mut read = Vec::new();
        let error = ours.read_to_end(&mut read).expect_err("too long");
        assert_eq!(read.len(), 1000);
        assert_eq!(*reason(&error), GivenUp::TooLong { who: "the other".into(), most: 1000 });
        ours.begin();
        assert_eq!(ours.read(&mut [0; 10]).expect("the next exchange has its own limit"), 10);
    }

    /// The queue of a server that accepts nobody is full after a few connections.
    #[test]
    fn a_server_that_accepts_nobody_is_given_up() {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("s");
        let listener =
            socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).expect("a socket");
        rustix::net::bind(&listener, &SocketAddrUnix::new(&socket).expect("an address")).expect("a free path");
        rustix::net::listen(&listener, 0).expect("a listener");
        let connect = || PatientStream::connect(&socket, "the other".into(), Duration::from_millis(60));
        let queued: Vec<_> = std::iter::repeat_with(connect).take(10).collect();
        let error = queued.into_iter().find_map(Result::err).expect("the queue is full");
        assert!(matches!(reason(&error), GivenUp::NoAnswer { .. }), "{error}");
    }
}
