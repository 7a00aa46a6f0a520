//! The resource that the lock guards, to which clients write over slow links.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use lockstep_model::Action;
use tempfile::TempDir;

use crate::clock::{MachineClock, OLD_CLOCK_US};
use crate::links::FreeLinks;
use crate::record::{Deed, Event};
use crate::world::{FreeRun, MOST_LATE};

/// One for each client: the resource fetches what it writes from a queue. Dropping it closes the way.
pub struct WriteQueue {
    client: u8,
    queue: UnixStream,
    sent: u32,
    arrived: Arc<AtomicU32>,
}

/// The end of a queue at the resource.
struct QueueEnd {
    client: u8,
    queue: TcpStream,
    arrived: Arc<AtomicU32>,
    _way: FreeLinks,
}

/// A resource that accepts whatever arrives.
pub struct FreeResource {
    ends: Vec<QueueEnd>,
    _folder: TempDir,
}

impl FreeResource {
    /// Opens a queue for each client.
    pub fn start(free_run: FreeRun) -> (Self, Vec<WriteQueue>) {
        let folder = tempfile::tempdir().expect("a folder");
        let open = |client: u8| {
            let socket = folder.path().join(client.to_string());
            let listener = UnixListener::bind(&socket).expect("a socket");
            let way = FreeLinks::open(&socket, free_run.seed ^ u64::from(client));
            way.be_late(MOST_LATE);
            let at_resource = TcpStream::connect((Ipv4Addr::LOCALHOST, way.port())).expect("the proxy listens");
            let (at_client, _) = listener.accept().expect("the proxy connects");
            let arrived = Arc::new(AtomicU32::new(0));
            let end = QueueEnd { client, queue: at_resource, arrived: Arc::clone(&arrived), _way: way };
            (end, WriteQueue { client, queue: at_client, sent: 0, arrived })
        };
        let (ends, queues) = (0..free_run.clients).map(open).unzip();
        (Self { ends, _folder: folder }, queues)
    }

    /// Accepts what arrives until the clients have closed their queues. What arrived, and when: a party for each queue.
    pub fn accept(self, clock: MachineClock) -> Vec<Vec<Event>> {
        std::thread::scope(|scope| {
            let ends: Vec<_> = self.ends.into_iter().map(|end| scope.spawn(move || end.accept(clock))).collect();
            ends.into_iter().map(|end| end.join().expect("a queue ends")).collect()
        })
    }
}

impl QueueEnd {
    fn accept(mut self, clock: MachineClock) -> Vec<Event> {
        let mut events = Vec::new();
        // A queue that was closed ends with an error if something was under way.
        while matches!(self.queue.read(&mut [0]), Ok(1)) {
            let arrived_us = clock.now_us();
            let what = Deed::Did(Action::Arrive { client: self.client, thread: 0 });
            events.push(Event { from_us: arrived_us - OLD_CLOCK_US, to_us: arrived_us, what });
            self.arrived.fetch_add(1, Ordering::SeqCst);
        }
        events
    }
}

impl WriteQueue {
    /// Writes to the resource, if what it wrote before has arrived: the model has one write of a thread under way.
    pub fn write(&mut self, clock: MachineClock) -> Option<Event> {
        if self.arrived.load(Ordering::SeqCst) < self.sent {
            return None;
        }
        let from_us = clock.now_us();
        self.queue.write_all(b"w").expect("the resource reads");
        self.sent += 1;
        let what = Deed::Did(Action::Work { client: self.client, thread: 0 });
        Some(Event { from_us: from_us - OLD_CLOCK_US, to_us: clock.now_us(), what })
    }
}
