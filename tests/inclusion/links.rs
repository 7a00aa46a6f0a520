//! The links of replicas to their master, which can be cut as by a partition, and be late.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use lockstep_sim::replay::ReplayError;
use lockstep_sim::replay::tcp_proxy::{
    Relay, Relayed, TcpProxy, connect_server, read_available, set_up_client, write_all,
};
use proptest::test_runner::TestRng;

use crate::world::{below, random};

/// The way to a master for all its replicas. Dropping it ends their connections.
pub struct FreeLinks {
    proxy: TcpProxy,
    state: Arc<LinkTrouble>,
}

/// What is wrong with the links now.
#[derive(Default)]
struct LinkTrouble {
    /// Nothing passes in either direction, and no connection ends.
    is_cut: AtomicBool,
    /// The longest delay of what the master sends.
    most_late_ms: AtomicU32,
}

impl FreeLinks {
    /// Opens a port that leads to the socket of a master. `seed`: of the delays.
    pub fn open(master: &Path, seed: u64) -> Self {
        let state = Arc::new(LinkTrouble::default());
        let relay = LinkRelay { master: master.to_owned(), state: Arc::clone(&state), random: random(seed) };
        Self { proxy: TcpProxy::start(relay).expect("a free port"), state }
    }

    /// The port at which replicas find the master.
    pub const fn port(&self) -> u16 {
        self.proxy.port()
    }

    /// Lets nothing pass. What has passed by then may still be read by its receiver.
    pub fn cut(&self) {
        self.state.is_cut.store(true, Ordering::SeqCst);
    }

    /// Lets everything pass again: first what was sent meanwhile.
    pub fn heal(&self) {
        self.state.is_cut.store(false, Ordering::SeqCst);
        self.proxy.wake();
    }

    /// From now on, what the master sends is delayed by a random time up to this one.
    pub fn be_late(&self, most: Duration) {
        let most_ms = u32::try_from(most.as_millis()).expect("it is short");
        self.state.most_late_ms.store(most_ms, Ordering::SeqCst);
    }
}

struct LinkRelay {
    master: PathBuf,
    state: Arc<LinkTrouble>,
    random: TestRng,
}

impl Relay for LinkRelay {
    type Connection = FreeLink;

    fn accept(&mut self, replica: TcpStream, open: &mut Vec<FreeLink>) -> Result<(), ReplayError> {
        let master = connect_server(&self.master)?;
        set_up_client(&replica)?;
        let (state, random) = (Arc::clone(&self.state), self.random.clone());
        open.push(FreeLink { replica, master, late: VecDeque::new(), state, random });
        Ok(())
    }

    // Both ends see that the connection has ended; nobody else asks why.
    fn ended(&mut self, _: &str) {}

    fn is_silent(&self) -> bool {
        self.state.is_cut.load(Ordering::SeqCst)
    }
}

/// The link of one replica.
struct FreeLink {
    replica: TcpStream,
    master: UnixStream,
    /// What the master has sent and the replica has not received, and when it will.
    late: VecDeque<(Instant, Vec<u8>)>,
    state: Arc<LinkTrouble>,
    random: TestRng,
}

impl FreeLink {
    /// Whether the replica has closed its end.
    fn has_left(&self) -> Result<bool, ReplayError> {
        let look = || {
            self.replica.set_nonblocking(true)?;
            let seen = self.replica.peek(&mut [0]);
            self.replica.set_nonblocking(false)?;
            match seen {
                Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
                seen => seen.map(|count| count == 0),
            }
        };
        look().map_err(|source| ReplayError::System { attempted: "look at a link", source })
    }
}

impl Relayed for FreeLink {
    fn ends(&self) -> [BorrowedFd<'_>; 2] {
        [self.replica.as_fd(), self.master.as_fd()]
    }

    fn read_client(&mut self) -> Result<(), ReplayError> {
        let bytes = read_available(&mut self.replica, "replica")?;
        // What a replica has sent before it left counts as new to its master when a partition ends; in the model a report is as
        // old as its sending (docs/approximations.md#servers).
        if self.has_left()? {
            return Ok(());
        }
        write_all(&mut self.master, &bytes, "master")
    }

    fn read_server(&mut self) -> Result<(), ReplayError> {
        let bytes = read_available(&mut self.master, "master")?;
        let most_ms = self.state.most_late_ms.load(Ordering::SeqCst);
        let late_ms = below(&mut self.random, most_ms + 1) as u64;
        let due = Instant::now() + Duration::from_millis(late_ms);
        // What is sent first arrives first.
        let due = self.late.back().map_or(due, |(before, _)| due.max(*before));
        self.late.push_back((due, bytes));
        self.pass_due()
    }

    fn next_due(&self) -> Option<Instant> {
        self.late.front().map(|(due, _)| *due)
    }

    fn pass_due(&mut self) -> Result<(), ReplayError> {
        while self.next_due().is_some_and(|due| due <= Instant::now()) {
            let Some((_, bytes)) = self.late.pop_front() else { break };
            write_all(&mut self.replica, &bytes, "replica")?;
        }
        Ok(())
    }
}
