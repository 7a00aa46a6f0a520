//! A sentinel that clients ask for their master, and that does nothing else: it knows the master's address and reaches nobody there,
//! so it sends the nodes nothing, and it is alone, so it decides on no failover.

use std::path::Path;
use std::sync::Arc;

use super::event_log::EventLog;
use super::process::SentinelProcess;
use crate::replay::error::ReplayError;
use crate::replay::servers::reserved_port::ReservedPort;
use crate::replay::servers::server::ServerProgram;

/// A running sentinel that names a master. Dropping it ends it.
#[derive(Debug)]
pub struct LoneSentinel {
    sentinel: SentinelProcess,
    /// The master's, at which nobody listens.
    port: ReservedPort,
}

impl LoneSentinel {
    /// Starts one.
    ///
    /// # Errors
    /// `WouldNotStart`; `NotItself`; `NoSentinelMode`; `System`; `Redis`.
    pub fn start(server: &ServerProgram) -> Result<Self, ReplayError> {
        let port = ReservedPort::any().map_err(ReplayError::system("reserve a port of the loopback interface"))?;
        let sentinel = SentinelProcess::start(server, 0, port.number(), &Arc::new(EventLog::default()))?;
        Ok(Self { sentinel, port })
    }

    /// The port of the master that it tells clients.
    pub const fn announced(&self) -> u16 {
        self.port.number()
    }

    /// Where it listens.
    pub fn socket(&self) -> &Path {
        self.sentinel.socket()
    }
}
