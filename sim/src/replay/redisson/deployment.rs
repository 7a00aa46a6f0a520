//! How the servers of Redisson are set up, where that is not what the scenario says: the same history, and other commands.

use lockstep_model::Config;
use lockstep_model::config::{Fault, Resend};

/// How the servers are set up that Redisson's clients connect to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deployment {
    /// As the scenario says: a single server, or a master with replicas.
    #[default]
    AsScenario,
    /// A cluster of one master, which has every slot, with its replicas. Of the next master clients are told as their look at the
    /// cluster would tell them.
    Cluster,
    /// As the scenario says, and a sentinel tells clients that start where the master is. Of the next master they are told as a
    /// watcher of Sentinel would tell them.
    Sentinel,
}

/// What replaces a master that other nodes reach then, or later.
const OF_OLD_MASTERS: [Fault; 4] = [Fault::CutLink, Fault::PauseNode, Fault::HandOver, Fault::RefuseWrites];

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
        if config.is_split() && !every_call_is(config, Resend::All) {
            // With a single server it sends neither acquires nor releases again, or both.
            let other =
                if every_call_is(config, Resend::None) { format!(", or remove {option}") } else { String::new() };
            let reason =
                "unlike with a single server it sends every request again that has no answer; set resend to \"all\"";
            return Some(format!("{reason}{other}"));
        }
        let reason = self.what_it_cannot_show(config)?;
        Some(format!("{reason}, or remove {option}"))
    }

    fn what_it_cannot_show(self, config: &Config) -> Option<String> {
        if config.faults.move_slot > 0 && self == Self::Sentinel {
            return Some("sentinels watch no cluster, and only a cluster has slots; remove move_slot".to_owned());
        }
        if config.subscribes_to_replica() {
            let told = match self {
                Self::Cluster => "the clients of a replay use the master of a cluster only",
                Self::Sentinel | Self::AsScenario => "the sentinel of a replay knows of no replica",
            };
            return Some(format!("{told}; use subscribe_to = \"master\""));
        }
        if self == Self::Cluster
            && let Some((reason, fault)) = fault_of_no_cluster(config)
        {
            let name = fault.name();
            return Some(format!("{name}: {reason}; remove {name}"));
        }
        if self == Self::Cluster && config.clients.names > 1 {
            return Some(
                "in a cluster it renews the locks of each slot by a script of its own; set names to 1".to_owned(),
            );
        }
        None
    }
}

fn every_call_is(config: &Config, resend: Resend) -> bool {
    (0..config.clients.count).all(|client| config.of_client(client).calls.resend == resend)
}

/// A fault of the scenario that has another course in a cluster, and which.
fn fault_of_no_cluster(config: &Config) -> Option<(&'static str, Fault)> {
    let is_allowed = |fault: &Fault| config.faults.left(*fault) > 0;
    if is_allowed(&Fault::RestartNode) {
        return Some(("a master of a cluster that starts again executes nothing for 2 s", Fault::RestartNode));
    }
    let fault = OF_OLD_MASTERS.into_iter().filter(|_| config.cluster.replicas > 0).find(is_allowed)?;
    Some((
        "it may replace a master that runs, and in a cluster that follows the new one at once and sends clients there (MOVED)",
        fault,
    ))
}
