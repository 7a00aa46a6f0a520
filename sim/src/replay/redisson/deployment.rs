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
    /// As the scenario says, and a sentinel tells clients that start where the master is. Of the next master they are told as a
    /// watcher of Sentinel would tell them.
    Sentinel,
}

/// What makes a node start again, or ends it.
const OF_NODES: [Fault; 4] = [Fault::CrashNode, Fault::KillNode, Fault::ShutdownNode, Fault::RestartNode];

impl Deployment {
    /// The option of the command line that asks for it; `None`: none is needed.
    pub const fn option(self) -> Option<&'static str> {
        match self {
            Self::AsScenario => None,
            Self::Cluster => Some("--deployment cluster"),
            Self::Sentinel => Some("--deployment sentinel"),
        }
    }

    /// The words for it behind a version of Redisson.
    pub const fn words(self) -> &'static str {
        match self {
            Self::AsScenario => "",
            Self::Cluster => " in a cluster",
            Self::Sentinel => " under a sentinel",
        }
    }

    /// Why a scenario cannot be what happens in this deployment, and what to change; `None`: it can.
    pub(super) fn refused(self, config: &Config) -> Option<String> {
        let option = self.option()?;
        let reason = self.what_it_cannot_show(config)?;
        Some(format!("{reason}, or remove {option}"))
    }

    fn what_it_cannot_show(self, config: &Config) -> Option<String> {
        if self == Self::Cluster && config.cluster.replicas > 0 {
            let reason = "a replay has no cluster with replicas, whose nodes tell clients of a new master at times of their own; \
                          use replicas = 0";
            return Some(reason.to_owned());
        }
        if config.subscribes_to_replica() {
            return Some("the sentinel of a replay knows of no replica; use subscribe_to = \"master\"".to_owned());
        }
        if self == Self::Cluster
            && let Some(fault) = OF_NODES.into_iter().find(|fault| config.faults.left(*fault) > 0)
        {
            let fault = fault.name();
            return Some(format!("a master of a cluster that starts again executes nothing for 2 s; remove {fault}"));
        }
        if self == Self::Cluster && config.clients.names > 1 {
            return Some(
                "in a cluster it renews the locks of each slot by a script of its own; set names to 1".to_owned(),
            );
        }
        let sends_all_again = |client| config.of_client(client).calls.resend == Resend::All;
        if config.is_split() && !(0..config.clients.count).all(sends_all_again) {
            return Some("unlike with a single server it sends every request again; set resend to \"all\"".to_owned());
        }
        None
    }
}
