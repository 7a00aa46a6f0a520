//! How the servers of Redisson are set up, where that is not what the scenario says: the same history, and other commands.

use lockstep_model::Config;
use lockstep_model::config::{Fault, Resend};

/// How the servers are set up that Redisson's clients connect to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deployment {
    /// As the scenario says: a single server, or a master with replicas.
    #[default]
    AsScenario,
    /// A cluster of one master, which has every slot.
    Cluster,
}

/// What makes a node of a cluster start again, or ends it.
const OF_NODES: [Fault; 4] = [Fault::CrashNode, Fault::KillNode, Fault::ShutdownNode, Fault::RestartNode];

impl Deployment {
    /// Why a scenario cannot be what happens in this deployment; `None`: it can.
    pub(super) fn refused(self, config: &Config) -> Option<String> {
        if self == Self::AsScenario {
            return None;
        }
        if config.cluster.replicas > 0 {
            return Some(
                "in a cluster its clients hear of a new master from the other nodes, at times of their own; use replicas = 0, or \
                 remove --deployment cluster"
                    .to_owned(),
            );
        }
        if let Some(fault) = OF_NODES.into_iter().find(|fault| config.faults.left(*fault) > 0) {
            return Some(format!(
                "a master of a cluster that starts again executes nothing for 2 s; remove {}, or remove --deployment cluster",
                fault.name()
            ));
        }
        if config.clients.names > 1 {
            return Some(
                "in a cluster it renews the locks of each slot by a script of its own; set names to 1, or remove --deployment cluster"
                    .to_owned(),
            );
        }
        let sends_all_again = |client| config.of_client(client).calls.resend == Resend::All;
        if config.is_split() && !(0..config.clients.count).all(sends_all_again) {
            return Some(
                "in a cluster it sends every request again; set resend to \"all\", or remove --deployment cluster"
                    .to_owned(),
            );
        }
        None
    }
}
