//! Scenarios that a server cannot run as they say. A difference between versions that is known is refused before the first
//! step, so that it is not found again as a difference between model and server.

use lockstep_model::Config;
use lockstep_model::config::{Channels, Ttls, WaitAfter};

use crate::replay::error::ReplayError;
use crate::replay::servers::server::ServerProgram;

/// Refuses a scenario that this server would run in another way.
///
/// # Errors
/// `NoShardedChannels`, `TellsReplicasOfMoves`, `KeysNeedAbsoluteTtls`, `OtherTtls`, `ScriptsNeedNoReplicas`, `EndsAtOnce`, `WaitsForOwnWrites`, `HandOverNeedsOneId`.
pub fn refuse_unsuited(server: &ServerProgram, config: &Config) -> Result<(), ReplayError> {
    refuse_sharded_channels(server, config)?;
    refuse_told_replicas(server, config)?;
    refuse_several_keys_beside_relative_ttls(server, config)?;
    refuse_other_ttls(server, config)?;
    refuse_uncounted_replicas(server, config)?;
    refuse_end_at_once(server, config)?;
    refuse_waits_for_own_writes(server, config)?;
    refuse_second_replica(server, config)
}

/// Before 7.0 there were none (measured on 6.2.5).
fn refuse_sharded_channels(server: &ServerProgram, config: &Config) -> Result<(), ReplayError> {
    if config.cluster.channels == Channels::Global || server.has_sharded_channels() {
        return Ok(());
    }
    Err(ReplayError::NoShardedChannels { server: server.to_string() })
}

fn refuse_told_replicas(server: &ServerProgram, config: &Config) -> Result<(), ReplayError> {
    if config.faults.move_slot == 0 || config.cluster.replicas == 0 || !server.tells_replicas_of_moves() {
        return Ok(());
    }
    Err(ReplayError::TellsReplicasOfMoves { server: server.to_string() })
}

/// Whether a TTL was written is told for the one key of a lock, and not for each of several.
fn refuse_several_keys_beside_relative_ttls(server: &ServerProgram, config: &Config) -> Result<(), ReplayError> {
    let has_several = (config.clients.names > 1 || config.shares()) && config.cluster.replicas > 0;
    if !has_several || server.ttls() == Ttls::Absolute {
        return Ok(());
    }
    Err(ReplayError::KeysNeedAbsoluteTtls { server: server.to_string() })
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

/// Before 7.0 a master that was told to end did not wait for its replicas (measured on 6.2.5).
fn refuse_end_at_once(server: &ServerProgram, config: &Config) -> Result<(), ReplayError> {
    if config.cluster.shutdown_timeout == 0 || server.waits_for_replicas_when_it_ends() {
        return Ok(());
    }
    Err(ReplayError::EndsAtOnce { server: server.to_string() })
}

/// Behind a call that writes nothing it matters for what a `WAIT` is.
fn refuse_waits_for_own_writes(server: &ServerProgram, config: &Config) -> Result<(), ReplayError> {
    if config.cluster.wait_for == 0 || config.protocol.wait_after == WaitAfter::Grants || server.waits_for_all_writes()
    {
        return Ok(());
    }
    Err(ReplayError::WaitsForOwnWrites { server: server.to_string() })
}

/// Where a resync must be a full copy, it changes the master's replication id (`ServerGroup::resync`), and a master hands
/// over only to a node with its own id (measured on 6.2.5).
fn refuse_second_replica(server: &ServerProgram, config: &Config) -> Result<(), ReplayError> {
    let is_by_the_master = config.faults.hand_over > 0 && config.cluster.promote.is_by_the_master();
    if !is_by_the_master || config.cluster.replicas < 2 || !needs_full_copies(config, server.ttls()) {
        return Ok(());
    }
    Err(ReplayError::HandOverNeedsOneId { server: server.to_string() })
}

/// Whether a resync must be a full copy, as the model's is: a partial one sends old writes again. So TTLs that travel as
/// relative times would count from then, and replicas on which clients subscribe would publish the messages in them.
pub(super) fn needs_full_copies(config: &Config, ttls: Ttls) -> bool {
    ttls == Ttls::Relative || config.subscribes_to_replica() || config.faults.break_link > 0
}
