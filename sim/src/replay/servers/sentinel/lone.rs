//! A sentinel that clients ask for their master. It is alone, so it has no majority and decides on no failover.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::event_log::EventLog;
use super::process::SentinelProcess;
use crate::replay::error::ReplayError;
use crate::replay::servers::address_proxy::AddressProxy;
use crate::replay::servers::server::ServerProgram;

/// A running sentinel that watches a master. Dropping it ends it.
#[derive(Debug)]
pub struct LoneSentinel {
    sentinel: SentinelProcess,
    /// Where it finds the master, which listens on a Unix socket only. Dropped after the sentinel.
    address: AddressProxy,
    /// The socket of that master.
    master: PathBuf,
}

impl LoneSentinel {
    /// Starts one that watches the master at this socket.
    ///
    /// # Errors
    /// `WouldNotStart`; `NotItself`; `NoSentinelMode`; `System`; `Redis`.
    pub fn start(server: &ServerProgram, master: &Path) -> Result<Self, ReplayError> {
        let address = AddressProxy::open(master)?;
        let sentinel = SentinelProcess::start(server, 0, address.port(), &Arc::new(EventLog::default()))?;
        Ok(Self { sentinel, address, master: master.to_owned() })
    }

    /// Whether it runs, and watches the master at this socket.
    pub fn watches(&self, master: &Path) -> bool {
        self.master == master && self.sentinel.is_running()
    }

    /// The port of the master that it tells clients.
    pub const fn announced(&self) -> u16 {
        self.address.port()
    }

    /// Where it listens.
    pub fn socket(&self) -> &Path {
        self.sentinel.socket()
    }
}
