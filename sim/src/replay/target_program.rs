//! Which program plays the clients of a history.

use lockstep_model::Config;
use lockstep_model::config::Channels;
use lockstep_model::trace::client_name;
use lockstep_redis::{Lease, Scripts};

use super::redisson::{ClientTimes, Deployment, RedissonProgram, asks_once};

/// The program that plays the clients.
#[derive(Clone)]
pub enum TargetProgram {
    /// Our own scripts.
    Scripts(Scripts),
    /// The same, where clients of an atomic network send each release once more that has left a receipt, as if its reply had been
    /// lost: the reply is to be the same, and nothing else may change.
    ScriptsSentAgain(Scripts),
    /// Real Redisson, of one version.
    Redisson(RedissonProgram),
}

impl From<Scripts> for TargetProgram {
    fn from(scripts: Scripts) -> Self {
        Self::Scripts(scripts)
    }
}

impl From<RedissonProgram> for TargetProgram {
    fn from(program: RedissonProgram) -> Self {
        Self::Redisson(program)
    }
}

impl TargetProgram {
    /// The client library, its version, the clients of this scenario that have another one and, if it is none of the scenario, the
    /// deployment; `None`: our scripts.
    pub fn name(&self, config: &Config) -> Option<String> {
        let Self::Redisson(program) = self else { return None };
        let version_of =
            |client| program.version_of(config.of_client(client).protocol.profile, config.protocol.profile);
        let others: Vec<_> = (0..config.clients.count)
            .filter(|client| version_of(*client) != program.version())
            .map(|client| format!("{}: {}", client_name(client), version_of(client)))
            .collect();
        let others = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
        Some(format!("redisson {}{others}{}", program.version(), program.of_world(config).deployment().words()))
    }

    /// Whether its server is a cluster of its own.
    pub fn is_in_cluster(&self) -> bool {
        matches!(self, Self::Redisson(program) if program.deployment() == Deployment::Cluster)
    }

    /// How long its release receipts live, where the scenario does not say.
    pub fn receipt_lease(&self, config: &Config) -> Option<Lease> {
        match self {
            // The time for no second attempt is the least there is (docs/facts/redisson.md#receipt-ttl).
            Self::Redisson(_) if asks_once(config) => Lease::from_ms(1),
            Self::Redisson(_) if config.faults.slow_reply > 0 => {
                Lease::from_ms(ClientTimes::RECEIPT_BESIDE_LATE_REPLIES_MS)
            }
            Self::Redisson(_) | Self::Scripts(_) | Self::ScriptsSentAgain(_) => None,
        }
    }

    /// The scripts by which the requests of this program are understood.
    pub fn scripts(&self, config: &Config) -> Scripts {
        match self {
            Self::Scripts(scripts) | Self::ScriptsSentAgain(scripts)
                if config.cluster.channels == Channels::Sharded =>
            {
                scripts.clone().publishing_in_shards()
            }
            Self::Scripts(scripts) | Self::ScriptsSentAgain(scripts) => scripts.clone(),
            Self::Redisson(_) => Scripts::built_in(),
        }
    }
}
