//! What distinguishes one free run from another, and the world in which the model has to find it.

use std::fmt;
use std::time::Duration;

use lockstep_model::config::Ttls;
use lockstep_model::locks::Facts;
use lockstep_sim::replay::ServerProgram;
use lockstep_sim::replay::translate::{KINDS, Translation};
use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};

/// The largest hold count of a lock that can be entered again.
pub const MOST_HOLDS: u8 = 2;
/// How often a client asks for the lock at most.
pub const MOST_ACQUIRES: u8 = 60;
/// `min-replicas-max-lag` where replicas are counted, in seconds.
pub const MAX_LAG_S: u64 = 2;

/// The longest delay of what a master sends over a slow link.
pub const MOST_LATE: Duration = Duration::from_millis(300);

/// What happens in a run beside clients that ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// Nothing.
    None,
    /// Somebody deletes the key.
    VanishKey,
    /// Somebody takes the TTL of the key away.
    PersistKey,
    /// The master dies and a replica takes its place; another one is told later.
    Failover,
    /// A master or its replica stands still for a while.
    Pause,
    /// The master stands still, its replica takes its place, and it goes on.
    PauseAndReplace,
    /// The save of the master fails: it refuses writes for a while.
    RefuseWrites,
    /// The master hands over to its replica (`FAILOVER`).
    HandOver,
    /// The master is told to end (`SIGTERM`), and its replica takes its place.
    Shutdown,
    /// The process of the master is killed and started again, with an AOF.
    RestartWithAof,
    /// The same with a snapshot.
    RestartWithSnapshot,
    /// The replica that the master needs to write stands still for seconds.
    SilentReplica,
    /// The master dies or stands still, and three sentinels promote one of its two replicas.
    Sentinels,
    /// The master is cut off from its replicas, one of them takes its place, and clients use both. Then it is reached again and
    /// demoted.
    CutLink,
    /// The link between a master and the replica that it needs to write is cut for seconds. It may be replaced meanwhile.
    CutNeededLink,
    /// What the master sends to its replica is late; then it dies, and the replica takes its place.
    SlowLink,
    /// The clock of a node jumps.
    ClockJump,
    /// The clock of the master or of its replica jumps; then the master dies, and the replica takes its place.
    ClockJumpAndFailover,
    /// The master hands over to its replica (`FAILOVER`). Then it is killed and started again, and clients use both.
    HandOverAndRestart,
    /// A replica is made a master beside the one that there is, which the other replica follows, and clients use both masters.
    SecondMaster,
    /// A replica is dead while another one is made a master beside the first, and starts with a file that names the first, which
    /// it follows until it is told.
    ReplicaReturns,
    /// What the master sends to its replica is late, and it hands over to it by force.
    ForcedHandOver,
    /// The only node is told to end (`SIGTERM`), saves a snapshot, and is started again.
    ShutdownAndRestart,
    /// Clients write to the resource that the lock guards, and what they send arrives late.
    LateWrites,
}

impl Harm {
    /// Every harm.
    pub const ALL: [Self; 24] = [
        Self::None,
        Self::VanishKey,
        Self::PersistKey,
        Self::Failover,
        Self::Pause,
        Self::PauseAndReplace,
        Self::RefuseWrites,
        Self::HandOver,
        Self::Shutdown,
        Self::RestartWithAof,
        Self::RestartWithSnapshot,
        Self::SilentReplica,
        Self::Sentinels,
        Self::CutLink,
        Self::CutNeededLink,
        Self::SlowLink,
        Self::ClockJump,
        Self::ClockJumpAndFailover,
        Self::HandOverAndRestart,
        Self::SecondMaster,
        Self::ShutdownAndRestart,
        Self::ReplicaReturns,
        Self::ForcedHandOver,
        Self::LateWrites,
    ];

    /// A replica that may be there, or must be.
    fn replicas(self, random: &mut TestRng) -> u8 {
        match self {
            Self::Failover | Self::CutLink | Self::SlowLink => one_of(random, 1, 2),
            Self::PauseAndReplace
            | Self::HandOver
            | Self::Shutdown
            | Self::SilentReplica
            | Self::CutNeededLink
            | Self::ClockJumpAndFailover
            | Self::HandOverAndRestart
            | Self::ForcedHandOver => 1,
            Self::RestartWithAof | Self::RestartWithSnapshot | Self::ShutdownAndRestart => 0,
            Self::Sentinels | Self::SecondMaster | Self::ReplicaReturns => 2,
            Self::None
            | Self::VanishKey
            | Self::PersistKey
            | Self::Pause
            | Self::RefuseWrites
            | Self::ClockJump
            | Self::LateWrites => one_of(random, 0, 1),
        }
    }

    /// The length of a tick in ms, and how many a run lasts: as long as servers take that count by seconds.
    const fn ticks(self) -> (u16, u8) {
        match self {
            Self::SilentReplica | Self::CutNeededLink => (200, 45),
            Self::Sentinels => (50, 130),
            Self::SecondMaster | Self::ReplicaReturns => (200, 25),
            Self::Shutdown => (20, 80),
            Self::HandOver | Self::HandOverAndRestart | Self::ForcedHandOver => (20, 120),
            Self::CutLink => (20, 70),
            Self::RestartWithAof | Self::RestartWithSnapshot | Self::ShutdownAndRestart => (50, 30),
            _ => (20, 50),
        }
    }

    /// The keys of the faults in a scenario.
    const fn faults(self) -> &'static str {
        match self {
            Self::None | Self::LateWrites => "",
            Self::VanishKey => "vanish_key = 8\n",
            Self::PersistKey => "persist_key = 8\n",
            Self::Failover | Self::SlowLink => "crash_node = 1\n",
            Self::Pause => "pause_node = 2\n",
            Self::PauseAndReplace | Self::SilentReplica => "pause_node = 1\n",
            Self::RefuseWrites => "refuse_writes = 1\n",
            Self::HandOver | Self::SecondMaster | Self::ForcedHandOver => "hand_over = 1\n",
            Self::HandOverAndRestart | Self::ReplicaReturns => "hand_over = 1\nkill_node = 1\nrestart_node = 1\n",
            Self::ShutdownAndRestart => "shutdown_node = 1\nrestart_node = 1\n",
            Self::Shutdown => "shutdown_node = 1\n",
            Self::RestartWithAof | Self::RestartWithSnapshot => "kill_node = 1\nrestart_node = 1\n",
            Self::Sentinels => "crash_node = 1\npause_node = 1\n",
            Self::CutLink | Self::CutNeededLink => "cut_link = 1\n",
            Self::ClockJump => "clock_jump = 2\n",
            Self::ClockJumpAndFailover => "clock_jump = 1\ncrash_node = 1\n",
        }
    }

    /// What it says of the nodes in a scenario.
    fn cluster(self, waits_when_it_ends: bool) -> String {
        match self {
            Self::HandOver => "promote = \"coordinated\"\n".to_owned(),
            Self::ForcedHandOver => "promote = \"forced\"\n".to_owned(),
            Self::HandOverAndRestart => "promote = \"coordinated\"\ndiscovery = \"any-master\"\n".to_owned(),
            Self::SecondMaster | Self::ReplicaReturns => {
                self.counting() + "discovery = \"any-master\"\nreplicas_leave = \"one-by-one\"\n"
            }
            Self::Shutdown if waits_when_it_ends => format!("shutdown_timeout = {}\n", 1000 / self.ticks().0),
            Self::RestartWithAof => "fsync = \"everysec\"\n".to_owned(),
            Self::RestartWithSnapshot | Self::ShutdownAndRestart => "fsync = \"snapshot\"\n".to_owned(),
            Self::SilentReplica => self.counting(),
            Self::CutNeededLink => self.counting() + "discovery = \"any-master\"\n",
            Self::PauseAndReplace | Self::CutLink => "discovery = \"any-master\"\n".to_owned(),
            // Others are told after the one that is promoted.
            Self::Sentinels => "replicas_leave = \"one-by-one\"\n".to_owned(),
            _ => String::new(),
        }
    }
}

impl Harm {
    /// Whether a master needs a replica to write.
    pub const fn needs_replica(self) -> bool {
        matches!(self, Self::SilentReplica | Self::CutNeededLink | Self::SecondMaster | Self::ReplicaReturns)
    }

    /// Whether each node has a clock of its own.
    pub const fn jumps_clocks(self) -> bool {
        matches!(self, Self::ClockJump | Self::ClockJumpAndFailover)
    }

    /// A real master may refuse a second before max-lag is over, as reports come once a second: less max-lag and more slack says
    /// so (docs/facts/redis.md#min-replicas-in-real-time).
    fn counting(self) -> String {
        let second = 1000 / u64::from(self.ticks().0);
        let (least, most) = ((MAX_LAG_S - 1) * second, (MAX_LAG_S + 2) * second);
        format!("min_replicas = 1\nmin_replicas_max_lag = {least}\nmin_replicas_slack = {}\n", most - least)
    }

    /// Whether every request waits for a while, until a replica has taken over.
    const fn ends_by_hand_over(self) -> bool {
        matches!(self, Self::HandOver | Self::HandOverAndRestart | Self::ForcedHandOver)
    }

    /// Whether something happens to the links between nodes.
    pub const fn is_of_links(self) -> bool {
        matches!(self, Self::CutLink | Self::CutNeededLink | Self::SlowLink | Self::ForcedHandOver)
    }

    /// Whether replicas may be late by more than a moment, as seen by somebody who looks at them.
    pub const fn makes_replicas_late(self) -> bool {
        matches!(self, Self::SilentReplica | Self::CutNeededLink | Self::SlowLink | Self::ForcedHandOver)
    }

    /// The harm that this server can be done in the place of this one.
    fn suited(self, server: &ServerProgram) -> Self {
        match self {
            Self::SilentReplica if !server.counts_replicas_in_scripts() => Self::Pause,
            Self::SecondMaster | Self::ReplicaReturns if !server.counts_replicas_in_scripts() => Self::Failover,
            Self::CutNeededLink if !server.counts_replicas_in_scripts() => Self::CutLink,
            // Before 7.0 a late replica's key may end early, and a partial resync counts a lease anew.
            Self::SlowLink | Self::ForcedHandOver if server.ttls() == Ttls::Relative => Self::Failover,
            // Scripts of 6.2 see a key that has expired where it may not be deleted (docs/approximations.md#servers).
            Self::HandOver | Self::HandOverAndRestart | Self::RefuseWrites
                if server.shows_scripts_what_has_expired() =>
            {
                Self::Pause
            }
            _ => self,
        }
    }
}

/// What distinguishes one run from another.
#[derive(Clone, Copy)]
pub struct FreeRun {
    /// From which everything is drawn.
    pub seed: u64,
    /// Which kind of lock.
    pub lock: &'static dyn Translation,
    /// What happens.
    pub harm: Harm,
    /// The lease, ticks.
    pub lease: u8,
    /// The lease of a re-entry, in ticks; `None`: that of the first acquire.
    pub reentry_lease: Option<u8>,
    /// How many clients.
    pub clients: u8,
    /// Whether the last one starts later.
    pub is_one_late: bool,
    /// How many replicas the master has.
    pub replicas: u8,
    /// How far a clock jumps, ticks: ahead, or back if it is negative.
    pub jump: i8,
    /// Whether a master that is told to end waits for its replicas.
    waits_when_it_ends: bool,
    /// How TTLs are replicated.
    pub ttls: Ttls,
}

impl fmt::Display for FreeRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, harm, lease, clients, replicas, .. } = self;
        let lock = self.lock.kind().facts().name;
        write!(
            f,
            "seed {seed}: {clients} clients of a {lock} lock, a lease of {lease} ticks, {replicas} replicas, {harm:?}"
        )
    }
}

impl FreeRun {
    /// The run of this seed. One harm follows the other.
    pub fn drawn(seed: u64, server: &ServerProgram) -> Self {
        let mut random = random(seed);
        let harm = Harm::ALL[usize::try_from(seed % Harm::ALL.len() as u64).expect("it is small")];
        let harm = harm.suited(server);
        // What is late in these runs is late in a split network, which is not modelled beside every kind.
        let is_split = |kind: &Facts| {
            !kind.queue.is_there()
                && !kind.sharing.is_there()
                && !kind.tokens.is_there()
                && !kind.parts.is_there()
                && !kind.caller_clock.is_read()
                && !kind.masters.are_several()
                && !kind.spins()
        };
        let kinds: Vec<_> = KINDS.iter().filter(|kind| is_split(kind.kind().facts())).collect();
        let lock = *kinds[below(&mut random, u32::try_from(kinds.len()).expect("there are few"))];
        let lease = 2 + u8::try_from(below(&mut random, 4)).expect("it is small");
        // While a master hands over, every request waits: those of many clients have too many orders. And the model numbers the
        // grants of few clients whose writes are late.
        let has_two = harm.ends_by_hand_over() || harm == Harm::LateWrites;
        let clients = one_of(&mut random, 2, if has_two { 2 } else { 3 });
        // A master that waits for its replicas before it ends still says that it is one; the model's clients do not find it.
        let is_one_late = below(&mut random, 3) == 0 && harm != Harm::Shutdown;
        let replicas = harm.replicas(&mut random);
        // A replica that is told to follow another master gets a partial resync: see `suited`.
        let replicas = if harm == Harm::CutLink && server.ttls() == Ttls::Relative { 1 } else { replicas };
        let can_reenter = lock.kind().facts().reentry.is_there() && below(&mut random, 3) == 0;
        let reentry_lease = can_reenter.then(|| one_of(&mut random, 1, lease + 1));
        let jump = if harm.jumps_clocks() { drawn_jump(&mut random, lease) } else { 0 };
        let (waits_when_it_ends, ttls) = (server.waits_for_replicas_when_it_ends(), server.ttls());
        Self { seed, lock, harm, lease, reentry_lease, clients, is_one_late, replicas, jump, waits_when_it_ends, ttls }
    }

    /// The length of a tick.
    pub const fn tick_ms(self) -> u16 {
        self.harm.ticks().0
    }

    /// How long a caller waits for an answer, ticks. A hand-over takes up to two seconds, and the model has room for few requests
    /// that nobody waits for any more.
    pub const fn answer_within(self) -> u8 {
        if self.harm.ends_by_hand_over() { 60 } else { 15 }
    }

    /// When the run is over, µs.
    pub fn end_us(self) -> i64 {
        let (tick_ms, ticks) = self.harm.ticks();
        i64::from(tick_ms) * i64::from(ticks) * 1000
    }

    /// The world in which the model has to find it.
    pub fn scenario(self) -> String {
        let Self { harm, lease, clients, replicas, .. } = self;
        let facts = self.lock.kind().facts();
        let lag = match (replicas, self.ttls) {
            (0, _) => "",
            (_, Ttls::Absolute) => "lag = \"any\"\n",
            (_, Ttls::Relative) => "lag = \"any\"\nttls = \"relative\"\n",
        };
        let room = if replicas > 0 { "\n[bounds]\neffects_under_way = 12\n" } else { "" };
        // Where acquires are told apart, effects are few as it is.
        let room = if facts.value.is_there() { "" } else { room };
        let holds = if facts.reentry.is_there() { format!("max_holds = {MOST_HOLDS}\n") } else { String::new() };
        let receipts = if facts.receipts.is_there() { "[protocol]\nreceipts = false\n\n" } else { "" };
        let reentry = self.reentry_lease.map_or_else(String::new, |lease| format!("reentry_lease = {lease}\n"));
        let jump = if self.jump == 0 { String::new() } else { format!("jump = {}\n", self.jump) };
        let late = if self.is_one_late { "start_client = 1\n" } else { "" };
        let (tick_ms, answer_within) = (self.tick_ms(), self.answer_within());
        let (cluster, faults) = (harm.cluster(self.waits_when_it_ends), harm.faults());
        let resource =
            if harm == Harm::LateWrites { "[resource]\nfencing = \"none\"\ndelay = \"any\"\n\n" } else { "" };
        format!(
            "story = \"Clients of real servers take and release a lock whenever they like.\"\nlock = \"{}\"\n\n\
             [time]\ntick_ms = {tick_ms}\nlease = {lease}\n{jump}{reentry}wait_limit = 0\nanswer_within = {answer_within}\n\n\
             [clients]\ncount = {clients}\n{holds}acquires = {MOST_ACQUIRES}\n\n\
             [cluster]\nreplicas = {replicas}\n{lag}{cluster}\n[network]\nmode = \"split\"\ndelay = \"any\"\n\n\
             {resource}{receipts}[faults]\n{late}{faults}{room}",
            facts.name,
        )
    }
}

/// Random choices that are the same for the same seed.
pub fn random(seed: u64) -> TestRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

/// A number below the bound.
pub fn below(random: &mut TestRng, bound: u32) -> usize {
    (random.next_u32() % bound) as usize
}

/// A number between the two, both included.
fn one_of(random: &mut TestRng, least: u8, most: u8) -> u8 {
    least + u8::try_from(below(random, u32::from(most - least) + 1)).expect("it is small")
}

fn drawn_jump(random: &mut TestRng, lease: u8) -> i8 {
    let ticks = i8::try_from(one_of(random, 1, lease + 1)).expect("it is small");
    if below(random, 2) == 0 { ticks } else { -ticks }
}
