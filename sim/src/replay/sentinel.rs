//! Real sentinels: who decides on a failover where `lockstep replay --sentinel` is asked for.
//!
//! Three processes watch the nodes, by the real clock and with nothing but Sentinel's own rules. We kill the master and
//! wait until they have noticed, agreed, chosen and promoted. What they say on the way is written down (`story`).
//!
//! Sentinel knows servers by address, and the servers of a replay have none: each gets a `door`. To find out that a
//! master is down Sentinel counts the time on its own clock and asks nodes for nothing but an answer, so theirs may
//! stand still (measured on Redis 6.2.5 and 7.0.15 and Valkey 9.1.2): TTLs agree to the millisecond here too.

mod door;
mod process;
mod story;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lockstep_model::Action;
use lockstep_model::config::Config;
use lockstep_model::trace::{Trace, TraceStep, node_name};

use super::{Error, Gate, Node, Server};
use door::Door;
use process::Sentinel;
pub use story::Said;
use story::{Heard, Names};

/// How many sentinels watch: the least of which one may fail (Redis documentation, "High availability with Sentinel").
pub const SENTINELS: usize = 3;
/// How many must agree that the master is down.
pub const QUORUM: usize = 2;
/// How long a master must be silent until a sentinel takes it for down (`down-after-milliseconds`). Longer than the second
/// in which a sentinel does not connect anew: a promotion ends all connections, and with 500 ms the sentinels took the new
/// master for down as well and promoted another beside it (measured on Redis 7.0.15 with two replicas).
pub const DOWN_AFTER: Duration = Duration::from_secs(2);
/// What the master is called among sentinels.
const NAME: &str = "lockstep";
/// `failover-timeout`: so long an election may take, and after twice that the next is begun.
const ELECTION_WITHIN: Duration = Duration::from_secs(3);
/// `failover-timeout` once a replica is promoted: whether and when the others follow is for the history to say, and a
/// sentinel that lost its patience would tell them again.
const RECONFIGURED_WITHIN: Duration = Duration::from_secs(3600);
/// How long sentinels may take to find one another: they greet every two seconds.
const ACQUAINTED_WITHIN: Duration = Duration::from_secs(30);
/// How long a failover may take: several elections, and half a minute in which a sentinel that was kept from running
/// trusts nothing (tilt).
const FAILOVER_WITHIN: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(5);

/// The addresses of a scenario's nodes, in their order.
#[derive(Debug)]
pub struct Addresses {
    doors: Vec<Door>,
}

/// The sentinels of one history. Dropping them kills them.
#[derive(Debug)]
pub struct Sentinels {
    all: Vec<Sentinel>,
    /// Of the nodes, in their order.
    ports: Vec<u16>,
    names: Names,
    heard: Arc<Heard>,
    /// The master that died last, and when.
    died: Option<(usize, Instant)>,
    /// From when on nobody should have been promoted.
    settled: Instant,
    patience: Duration,
    stop: &'static AtomicBool,
}

/// One failover, as the sentinels made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failover {
    /// The step that promotes, in the history; 1 for the first.
    pub step: usize,
    /// Who died.
    pub died: String,
    /// Who took its place.
    pub promoted: String,
    /// From the death until every sentinel named the new master.
    pub took: Duration,
    /// All that they said in that time.
    pub said: Vec<Said>,
}

/// Says why no history of this world gives Sentinel anything to do.
///
/// # Errors
/// `NotForSentinel`.
pub fn refuse_world(config: &Config) -> Result<(), Error> {
    let reason = if config.cluster.replicas == 0 {
        "the scenario has no replica that could be promoted; say replicas = 1 or 2 in [cluster]"
    } else if config.faults.crash_node == 0 {
        "no node of the scenario dies; say crash_node = 1 in [faults]"
    } else {
        return Ok(());
    };
    Err(Error::NotForSentinel { reason: reason.to_owned() })
}

/// Says why Sentinel would not do what this history says.
///
/// # Errors
/// `NotForSentinel`.
pub fn refuse_trace(trace: &Trace) -> Result<(), Error> {
    refuse_world(&trace.config)?;
    let refused = |reason: String| Err(Error::NotForSentinel { reason });
    for TraceStep { number, action, .. } in &trace.steps {
        match *action {
            Action::RestartNode { node } | Action::Demote { node } => {
                let node = node_name(node);
                return refused(format!(
                    "in step {number} {node} returns, and from then on Sentinel itself says when it is what"
                ));
            }
            Action::HandOver { node } => {
                let node = node_name(node);
                return refused(format!(
                    "in step {number} somebody makes {node} the master, and the sentinels would not know it"
                ));
            }
            Action::CutLink { node } | Action::Heal { node } => {
                let node = node_name(node);
                return refused(format!(
                    "in step {number} a link of {node} is cut or healed, and the sentinels would not see it"
                ));
            }
            Action::Acquire { .. }
            | Action::Subscribe { .. }
            | Action::SecondAsk { .. }
            | Action::WakeByMessage { .. }
            | Action::WakeByTimer { .. }
            | Action::GiveUp { .. }
            | Action::Confirm { .. }
            | Action::Undo { .. }
            | Action::Work { .. }
            | Action::Release { .. }
            | Action::Discover { .. }
            | Action::Resubscribe { .. }
            | Action::Resume { .. }
            | Action::Deliver { .. }
            | Action::Renew { .. }
            | Action::Replicate { .. }
            | Action::Promote { .. }
            | Action::Resync { .. }
            | Action::Fsync { .. }
            | Action::CrashClient { .. }
            | Action::CrashThread { .. }
            | Action::PauseClient { .. }
            | Action::CrashNode { .. }
            | Action::LoseMessage { .. }
            | Action::ForeignRelease { .. }
            | Action::ForceRelease { .. }
            | Action::VanishKey { .. }
            | Action::ClockJump { .. }
            | Action::ClientClockJump { .. }
            | Action::Execute { .. }
            | Action::Register { .. }
            | Action::Unregister { .. }
            | Action::Answer { .. }
            | Action::Resend { .. }
            | Action::Abandon { .. }
            | Action::LoseRequest { .. }
            | Action::LoseReply { .. }
            | Action::Interrupt { .. }
            | Action::Tick => {}
        }
    }
    if promoted(trace).next().is_none() {
        return refused("nobody is promoted in it, so there is nothing for Sentinel to do".to_owned());
    }
    Ok(())
}

/// Per node, the `replica-priority` by which Sentinel promotes in the order of the history. The setting is a real one,
/// and the only one: among equals Sentinel looks at offsets and then at run ids, which are drawn.
pub fn priorities(trace: &Trace) -> Vec<u32> {
    const BY_DEFAULT: u32 = 100;
    let mut priorities = vec![BY_DEFAULT; usize::from(trace.config.nodes())];
    for (rank, node) in (1..).zip(promoted(trace)) {
        if let Some(priority) = priorities.get_mut(usize::from(node)).filter(|priority| **priority == BY_DEFAULT) {
            *priority = rank;
        }
    }
    priorities
}

fn promoted(trace: &Trace) -> impl Iterator<Item = u8> {
    trace.steps.iter().filter_map(|step| if let Action::Promote { node } = step.action { Some(node) } else { None })
}

impl Addresses {
    /// Gives each node an address.
    ///
    /// # Errors
    /// `System` if the loopback interface gives no port or no thread starts.
    pub fn open<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> Result<Self, Error> {
        let doors = nodes.into_iter().map(|node| Door::open(node.socket())).collect::<Result<_, _>>()?;
        Ok(Self { doors })
    }

    /// Makes a replica follow a master at its address, and yet through this gate.
    ///
    /// # Errors
    /// As [`Node::follow`].
    pub fn follow(&self, node: &Node, replica: usize, master: usize, gate: &Gate) -> Result<(), Error> {
        let (replica, master) = (&self.doors[replica], &self.doors[master]);
        master.lead(replica.port(), gate.port().ok_or_else(|| Error::link("the gate is cut"))?);
        node.follow_at(gate, replica.port(), master.port())
    }

    /// Makes a master hand over to its replica (`FAILOVER`), which has everything and which it hears `through` that gate;
    /// from then on it follows that by the gate `back`.
    ///
    /// # Errors
    /// As [`Node::hand_over`].
    pub fn hand_over(
        &self,
        (master, of_master): (&Node, usize),
        (heir, of_heir): (&Node, usize),
        through: &Gate,
        back: &Gate,
    ) -> Result<(), Error> {
        let (master_door, heir_door) = (&self.doors[of_master], &self.doors[of_heir]);
        heir_door.lead(master_door.port(), back.port().ok_or_else(|| Error::link("the gate is cut"))?);
        master.hand_over(heir, (master_door.port(), heir_door.port()), through, back)
    }
}

impl Sentinels {
    /// Starts three, tells them of nobody but the master, and waits until each knows the replicas and the others.
    /// What `stop` says is looked at in every wait.
    ///
    /// # Errors
    /// `NoSentinelMode`; `WouldNotStart`; `TimedOut` if they do not find together; `Stopped`; `System`.
    pub fn start(
        server: &Server,
        addresses: &Addresses,
        master: usize,
        stop: &'static AtomicBool,
    ) -> Result<Self, Error> {
        let ports: Vec<_> = addresses.doors.iter().map(Door::port).collect();
        let heard = Arc::new(Heard::default());
        let start = |index| Sentinel::start(server, index, ports[master], &heard);
        let all = (0..SENTINELS).map(start).collect::<Result<Vec<_>, _>>()?;
        let nodes = (0u8..).zip(&ports).map(|(node, &port)| (port, node_name(node)));
        let names = Names {
            by_port: nodes.chain(all.iter().map(|one| (one.port(), one.name.clone()))).collect(),
            by_id: all.iter().map(|one| (one.id.clone(), one.name.clone())).collect(),
        };
        let begin = Instant::now();
        let sentinels = Self { all, ports, names, heard, died: None, settled: begin, patience: FAILOVER_WITHIN, stop };
        while !sentinels.are_acquainted()? {
            sentinels.pause()?;
            if begin.elapsed() > ACQUAINTED_WITHIN {
                let awaited = format!("the sentinels to find the nodes and one another\n{}", sentinels.opinions());
                return Err(Error::TimedOut { awaited, waited: begin.elapsed() });
            }
        }
        Ok(sentinels)
    }

    /// For how long a failover is waited for: a minute, unless said otherwise.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Kills a sentinel, 0 for the first.
    ///
    /// # Errors
    /// `System` if the kernel refuses.
    pub fn kill(&self, index: usize) -> Result<(), Error> {
        self.all[index].kill()
    }

    /// Says that this master dies now: from here on a failover is under way.
    ///
    /// # Errors
    /// `Redis` if a sentinel does not take its setting.
    pub fn note_death(&mut self, master: usize) -> Result<(), Error> {
        self.set_patience_of_all(ELECTION_WITHIN)?;
        self.died = Some((master, Instant::now()));
        Ok(())
    }

    /// Whether they have promoted somebody of whom the history does not say so, or not yet.
    pub fn are_ahead(&self) -> bool {
        self.heard.since(self.settled, &self.names).iter().any(|said| said.what == "+promoted-slave")
    }

    /// Waits until the node is master, every sentinel names it, and the other replicas were told to follow it.
    /// `nodes` are those that run, by index.
    ///
    /// # Errors
    /// `SentinelChose` if it is another that they promote; `NoFailover` with what each sentinel thinks; `Stopped`.
    pub fn wait_for_failover(
        &mut self,
        nodes: &[(usize, &Node)],
        wanted: usize,
        step: usize,
    ) -> Result<Failover, Error> {
        let (dead, since) = self.died.ok_or_else(|| Error::link("nobody died that could be replaced"))?;
        let name = |node: usize| self.name_of(self.ports[node]);
        let took = loop {
            let chosen =
                self.said().into_iter().find(|said| said.what == "+selected-slave" && said.about != name(wanted));
            if let Some(Said { about: chosen, by, .. }) = chosen {
                return Err(Error::SentinelChose { wanted: name(wanted), chosen, by });
            }
            if self.is_over(nodes, wanted) {
                break since.elapsed();
            }
            self.pause()?;
            if since.elapsed() > self.patience {
                let opinions = self.opinions();
                return Err(Error::NoFailover { died: name(dead), waited: self.patience, opinions });
            }
        };
        let said = self.said();
        if nodes.len() > 1 {
            self.set_patience_of_all(RECONFIGURED_WITHIN)?;
        }
        let failover = Failover { step, died: name(dead), promoted: name(wanted), took, said };
        self.died = None;
        self.settled = Instant::now();
        Ok(failover)
    }

    /// Whom a running sentinel names as master to a client, and which sentinel that is. Clients ask different ones.
    ///
    /// # Errors
    /// `Link` if no sentinel runs; `Redis`.
    pub fn ask_for_master(&self, client: usize) -> Result<(String, String), Error> {
        let running: Vec<_> = self.running().collect();
        let asked = client.checked_rem(running.len()).and_then(|index| running.get(index));
        let asked = asked.ok_or_else(|| Error::link("no sentinel runs that could be asked"))?;
        Ok((asked.name.clone(), self.name_of(asked.master_port()?)))
    }

    fn running(&self) -> impl Iterator<Item = &Sentinel> {
        self.all.iter().filter(|one| one.is_running())
    }

    fn said(&self) -> Vec<Said> {
        self.died.map(|(_, since)| self.heard.since(since, &self.names)).unwrap_or_default()
    }

    fn name_of(&self, port: u16) -> String {
        let known = self.names.by_port.iter().find(|(known, _)| *known == port);
        known.map_or_else(|| format!("port {port}"), |(_, name)| name.clone())
    }

    fn pause(&self) -> Result<(), Error> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        thread::sleep(PAUSE);
        Ok(())
    }

    fn set_patience_of_all(&self, patience: Duration) -> Result<(), Error> {
        let ms = patience.as_millis().to_string();
        self.running().try_for_each(|one| one.ask("SET", &["failover-timeout", &ms]))
    }

    fn are_acquainted(&self) -> Result<bool, Error> {
        for one in &self.all {
            if !one.is_acquainted(self.ports.len() - 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Errors are looks that came to nothing: Sentinel ends the connections of whom it promotes.
    fn is_over(&self, nodes: &[(usize, &Node)], wanted: usize) -> bool {
        let port = self.ports[wanted];
        let is_led = |&(index, node): &(usize, &Node)| {
            let master = node.master_port().ok();
            master == Some(if index == wanted { None } else { Some(port) })
        };
        // The one that leads names the new master before it has ended the failover; it ends it when all replicas
        // follow, which may be later in the history.
        let said = self.said();
        let has_switched =
            |one: &Sentinel| said.iter().any(|said| said.by == one.name && said.what == "+switch-master");
        nodes.iter().all(is_led)
            && self.running().all(|one| one.master_port().ok() == Some(port) && (nodes.len() > 1 || has_switched(one)))
    }

    /// What each sentinel thinks of the master, in lines.
    fn opinions(&self) -> String {
        let said = self.said();
        let opinions = self.all.iter().map(|one| {
            let opinion = one.opinion(|port| self.name_of(port));
            let last = said.iter().rev().find(|said| said.by == one.name && said.is_telling());
            let last = last.map_or_else(String::new, |said| format!("; last said {} {}", said.what, said.about));
            format!("  {}: {opinion}{last}", one.name)
        });
        opinions.collect::<Vec<_>>().join("\n")
    }
}

impl Sentinel {
    fn master_port(&self) -> Result<u16, Error> {
        let (_, port): (String, u16) = self.ask("GET-MASTER-ADDR-BY-NAME", &[])?;
        Ok(port)
    }

    fn is_acquainted(&self, replicas: usize) -> Result<bool, Error> {
        let master: BTreeMap<String, String> = self.ask("MASTER", &[])?;
        let knows = |field: &str, count: usize| master.get(field).is_some_and(|known| *known == count.to_string());
        if !knows("num-slaves", replicas) || !knows("num-other-sentinels", SENTINELS - 1) {
            return Ok(false);
        }
        // Of a replica that it has not asked yet it does not know the priority.
        let of_replicas: Vec<BTreeMap<String, String>> = self.ask("REPLICAS", &[])?;
        let is_asked =
            |replica: &BTreeMap<String, String>| replica.get("master-link-status").is_some_and(|status| status == "ok");
        let is_usable =
            self.ask::<String>("CKQUORUM", &[]).is_ok_and(|said| said.starts_with(&format!("OK {SENTINELS}")));
        Ok(of_replicas.iter().all(is_asked) && is_usable)
    }

    fn opinion(&self, name: impl Fn(u16) -> String) -> String {
        if !self.is_running() {
            return "is dead".to_owned();
        }
        let told = || -> Result<String, Error> {
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
        told().unwrap_or_else(|error| error.to_string())
    }
}
