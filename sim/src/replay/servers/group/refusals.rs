//! Scenarios that a server cannot run as they say. A difference between versions that is known is refused before the first
//! step, so that it is not found again as a difference between model and server.

use lockstep_model::Config;
use lockstep_model::config::{PromoteRule, Ttls};

use crate::replay::error::ReplayError;
use crate::replay::servers::server::ServerProgram;

/// Refuses a scenario that this server would run in another way.
///
/// # Errors
/// `OtherTtls`, `ScriptsNeedNoReplicas`, `HandOverNeedsOneId`.
pub fn refuse_unsuited(server: &ServerProgram, config: &Config) -> Result<(), ReplayError> {
    refuse_other_ttls(server, config)?;
    refuse_uncounted_replicas(server, config)?;
    refuse_second_replica(server, config)
}

fn refuse_other_ttls(server: &ServerProgram, config: &Config) -> Result<(), ReplayError> {
    if config.cluster.replicas == 0 || config.cluster.ttls == server.ttls() {
        return Ok(());
    }
    let server = server.to_string();
    Err(match config.cluster.ttls {
        Ttls::Absolute => {
            ReplayError::OtherTtls { server, sends: "relative", says: "absolute", other: "of Redis 7.0 or newer" }
        }
        Ttls::Relative => {
            ReplayError::OtherTtls { server, sends: "absolute", says: "relative", other: "older than 7.0" }
        }
    })
}

/// Before 7.0 `min-replicas-to-write` did not apply to the writes of a script (measured on 6.2.5: EVAL writes where SET is
/// refused).
fn refuse_uncounted_replicas(server: &ServerProgram, config: &Config) -> Result<(), ReplayError> {
    if config.cluster.min_replicas == 0 || server.counts_replicas_in_scripts() {
        return Ok(());
    }
    Err(ReplayError::ScriptsNeedNoReplicas { server: server.to_string() })
}

/// Where a resync must be a full copy, it changes the master's replication id (`ServerGroup::resync`), and a master hands
/// over only to a node with its own id (measured on 6.2.5).
fn refuse_second_replica(server: &ServerProgram, config: &Config) -> Result<(), ReplayError> {
    let needs_full_copies =
        server.ttls() == Ttls::Relative || config.subscribes_to_replica() || config.faults.break_link > 0;
    let is_coordinated = config.faults.hand_over > 0 && config.cluster.promote == PromoteRule::Coordinated;
    if !is_coordinated || config.cluster.replicas < 2 || !needs_full_copies {
        return Ok(());
    }
    Err(ReplayError::HandOverNeedsOneId { server: server.to_string() })
}
