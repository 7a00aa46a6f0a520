//! The sentinels of one history: started, watched while they fail over, and ended.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use lockstep_model::trace::node_name;

use super::event_log::{EventLog, KnownNames, SentinelEvent};
use super::process::SentinelProcess;
use super::settings::{ACQUAINTED_WITHIN, ELECTION_WITHIN, FAILOVER_WITHIN, PAUSE, RECONFIGURED_WITHIN, SENTINELS};
use crate::replay::error::ReplayError;
use crate::replay::servers::addresses::Addresses;
use crate::replay::servers::node::ServerNode;
use crate::replay::servers::server::ServerProgram;
use crate::stop;

/// The sentinels of one history. Dropping them kills them.
#[derive(Debug)]
pub struct Sentinels {
    all: Vec<SentinelProcess>,
    /// Of the nodes, in their order.
    ports: Vec<u16>,
    names: KnownNames,
    events: Arc<EventLog>,
    /// The master that died last, and when.
    died: Option<(usize, Instant)>,
    /// Since when no promotion is expected.
    settled: Instant,
    patience: Duration,
}

/// One failover that the sentinels made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failover {
    /// The step of the history that promotes; 1 for the first.
    pub step: usize,
    /// The master that died.
    pub died: String,
    /// The replica that became master.
    pub promoted: String,
    /// From the death until every sentinel named the new master.
    pub took: Duration,
    /// What the sentinels published in that time.
    pub events: Vec<SentinelEvent>,
}

impl Sentinels {
    /// Starts three sentinels that are given the master's address only, and waits until each knows the replicas and the
    /// other sentinels. Every wait ends once this process is asked to stop.
    ///
    /// # Errors
    /// `NoSentinelMode`; `WouldNotStart`; `TimedOut` if they do not find one another; `Stopped`; `System`.
    pub fn start(server: &ServerProgram, addresses: &Addresses, master: usize) -> Result<Self, ReplayError> {
        let ports = addresses.ports();
        let events = Arc::new(EventLog::default());
        let start = |index| SentinelProcess::start(server, index, ports[master], &events);
        let all = (0..SENTINELS).map(start).collect::<Result<Vec<_>, _>>()?;
        let nodes = (0u8..).zip(&ports).map(|(node, &port)| (port, node_name(node)));
        let names = KnownNames {
            by_port: nodes.chain(all.iter().map(|one| (one.port(), one.name.clone()))).collect(),
            by_id: all.iter().map(|one| (one.id.clone(), one.name.clone())).collect(),
        };
        let begin = Instant::now();
        let sentinels = Self { all, ports, names, events, died: None, settled: begin, patience: FAILOVER_WITHIN };
        while !sentinels.are_acquainted()? {
            Self::pause()?;
            if begin.elapsed() > ACQUAINTED_WITHIN {
                let awaited = format!("the sentinels to find the nodes and one another\n{}", sentinels.opinions());
                return Err(ReplayError::TimedOut { awaited, waited: begin.elapsed() });
            }
        }
        Ok(sentinels)
    }

    /// Sets how long to wait for a failover; by default a minute.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Kills a sentinel, 0 for the first.
    ///
    /// # Errors
    /// `System` if the kernel refuses.
    pub fn kill(&self, index: usize) -> Result<(), ReplayError> {
        self.all[index].kill()
    }

    /// Records that this master is killed now: from here on a failover is expected.
    ///
    /// # Errors
    /// `Redis` if a sentinel refuses a setting.
    pub fn note_death(&mut self, master: usize) -> Result<(), ReplayError> {
        self.set_patience_of_all(ELECTION_WITHIN)?;
        self.died = Some((master, Instant::now()));
        Ok(())
    }

    /// Whether they have promoted a replica that the history does not promote, or not yet.
    pub fn are_ahead(&self) -> bool {
        self.events.since(self.settled, &self.names).iter().any(|event| event.what == "+promoted-slave")
    }

    /// Waits until the node is master, every sentinel names it, and the other replicas were told to follow it. `nodes` are
    /// those that run, with their indexes.
    ///
    /// # Errors
    /// `SentinelChose` if they promote another one; `NoFailover` with what each sentinel reports; `Stopped`.
    pub fn wait_for_failover(
        &mut self,
        nodes: &[(usize, &ServerNode)],
        wanted: usize,
        step: usize,
    ) -> Result<Failover, ReplayError> {
        let (dead, since) = self.died.ok_or_else(|| ReplayError::link("no master died that could be replaced"))?;
        let name = |node: usize| self.name_of(self.ports[node]);
        let took = loop {
            let is_another = |event: &SentinelEvent| event.what == "+selected-slave" && event.about != name(wanted);
            if let Some(SentinelEvent { about: chosen, by, .. }) =
                self.events_since_death().into_iter().find(is_another)
            {
                return Err(ReplayError::SentinelChose { wanted: name(wanted), chosen, by });
            }
            if self.is_over(nodes, wanted) {
                break since.elapsed();
            }
            Self::pause()?;
            if since.elapsed() > self.patience {
                let opinions = self.opinions();
                return Err(ReplayError::NoFailover { died: name(dead), waited: self.patience, opinions });
            }
        };
        let events = self.events_since_death();
        if nodes.len() > 1 {
            self.set_patience_of_all(RECONFIGURED_WITHIN)?;
        }
        let failover = Failover { step, died: name(dead), promoted: name(wanted), took, events };
        self.died = None;
        self.settled = Instant::now();
        Ok(failover)
    }

    /// A running sentinel's name, and the name of the node that it reports to a client as master. Clients ask different
    /// sentinels.
    ///
    /// # Errors
    /// `Link` if no sentinel runs; `Redis`.
    pub fn ask_for_master(&self, client: usize) -> Result<(String, String), ReplayError> {
        let running: Vec<_> = self.running().collect();
        let asked = client.checked_rem(running.len()).and_then(|index| running.get(index));
        let asked = asked.ok_or_else(|| ReplayError::link("no sentinel is running"))?;
        Ok((asked.name.clone(), self.name_of(asked.master_port()?)))
    }

    fn running(&self) -> impl Iterator<Item = &SentinelProcess> {
        self.all.iter().filter(|one| one.is_running())
    }

    /// What the sentinels have published since the death of the master, if one is dead.
    pub fn events_since_death(&self) -> Vec<SentinelEvent> {
        self.died.map(|(_, since)| self.events.since(since, &self.names)).unwrap_or_default()
    }

    fn name_of(&self, port: u16) -> String {
        let known = self.names.by_port.iter().find(|(known, _)| *known == port);
        known.map_or_else(|| format!("port {port}"), |(_, name)| name.clone())
    }

    fn pause() -> Result<(), ReplayError> {
        if stop::is_asked() {
            return Err(ReplayError::Stopped);
        }
        thread::sleep(PAUSE);
        Ok(())
    }

    fn set_patience_of_all(&self, patience: Duration) -> Result<(), ReplayError> {
        let ms = patience.as_millis().to_string();
        self.running().try_for_each(|one| one.ask("SET", &["failover-timeout", &ms]))
    }

    fn are_acquainted(&self) -> Result<bool, ReplayError> {
        for one in &self.all {
            if !one.is_acquainted(self.ports.len() - 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the failover is complete. Errors are ignored: Sentinel ends the connections of the replica that it promotes,
    /// and the next question gets an answer.
    fn is_over(&self, nodes: &[(usize, &ServerNode)], wanted: usize) -> bool {
        let port = self.ports[wanted];
        let follows = |&(index, node): &(usize, &ServerNode)| {
            let master = node.master_port().ok();
            master == Some(if index == wanted { None } else { Some(port) })
        };
        // The sentinel that was elected names the new master before it has ended the failover; it ends it when all replicas
        // follow, which may be later in the history.
        let events = self.events_since_death();
        let has_switched =
            |one: &SentinelProcess| events.iter().any(|event| event.by == one.name && event.what == "+switch-master");
        nodes.iter().all(follows)
            && self.running().all(|one| one.master_port().ok() == Some(port) && (nodes.len() > 1 || has_switched(one)))
    }

    /// What each sentinel reports of the master, one line each.
    fn opinions(&self) -> String {
        let events = self.events_since_death();
        let opinions = self.all.iter().map(|one| {
            let opinion = one.opinion(|port| self.name_of(port));
            let last = events.iter().rev().find(|event| event.by == one.name && event.is_about_a_failover());
            let last = last.map_or_else(String::new, |event| format!("; last event {} {}", event.what, event.about));
            format!("  {}: {opinion}{last}", one.name)
        });
        opinions.collect::<Vec<_>>().join("\n")
    }
}

impl SentinelProcess {
    fn master_port(&self) -> Result<u16, ReplayError> {
        let (_, port): (String, u16) = self.ask("GET-MASTER-ADDR-BY-NAME", &[])?;
        Ok(port)
    }

    fn is_acquainted(&self, replicas: usize) -> Result<bool, ReplayError> {
        let master: BTreeMap<String, String> = self.ask("MASTER", &[])?;
        let knows = |field: &str, count: usize| master.get(field).is_some_and(|known| *known == count.to_string());
        if !knows("num-slaves", replicas) || !knows("num-other-sentinels", SENTINELS - 1) {
            return Ok(false);
        }
        // A sentinel does not know the priority of a replica that it has not asked yet.
        let of_replicas: Vec<BTreeMap<String, String>> = self.ask("REPLICAS", &[])?;
        let is_asked =
            |replica: &BTreeMap<String, String>| replica.get("master-link-status").is_some_and(|status| status == "ok");
        let is_usable =
            self.ask::<String>("CKQUORUM", &[]).is_ok_and(|answer| answer.starts_with(&format!("OK {SENTINELS}")));
        Ok(of_replicas.iter().all(is_asked) && is_usable)
    }

    fn opinion(&self, name: impl Fn(u16) -> String) -> String {
        if !self.is_running() {
            return "is dead".to_owned();
        }
        let report = || -> Result<String, ReplayError> {
            let master: BTreeMap<String, String> = self.ask("MASTER", &[])?;
            let field = |name: &str| master.get(name).map_or("", String::as_str).to_owned();
            let usable = self.ask::<String>("CKQUORUM", &[]).unwrap_or_else(|error| error.to_string());
            let node = name(self.master_port()?);
            Ok(format!(
                "{node} is {}, with {} replicas and {} other sentinels; {usable}",
                field("flags"),
                field("num-slaves"),
                field("num-other-sentinels")
            ))
        };
        report().unwrap_or_else(|error| error.to_string())
    }
}
