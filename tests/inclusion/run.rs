//! One free run: real servers, clients that take and release a lock whenever they like, and an operator who does harm. Every
//! request, answer and deed is recorded with the interval in which it happened.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lockstep_model::Action;
use lockstep_model::client::requests::Slot;
use lockstep_redis::{HolderId, Lease, Names, ReleaseReceipt, Scripts};
use lockstep_sim::replay::translate::{KINDS, RequestContext, ScriptCaller, ScriptRequest, Translation};
use lockstep_sim::replay::{ServerConnection, ServerProgram};
use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};
use redis::{ConnectionLike as _, Value, cmd};

use crate::nodes::FreeNode;
use crate::record::{Deed, Event, Interval, Record, SeenHold, ToldAnswer};

/// The length of a tick, ms.
const TICK_MS: u8 = 20;
/// How long a caller waits for an answer, ticks.
const ANSWER_WITHIN: u8 = 15;
/// How long a run lasts, ticks.
const RUN: u8 = 50;
/// The largest hold count of a lock that can be entered again.
const MOST_HOLDS: u8 = 2;
/// A server may use a time that it has read a moment ago.
const OLD_CLOCK_US: i64 = 2000;

/// What happens in a run beside clients that ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// Nothing.
    None,
    /// Somebody deletes the key.
    VanishKey,
    /// The master dies and its replica takes its place.
    Failover,
}

impl Harm {
    /// Every harm.
    pub const ALL: [Self; 3] = [Self::None, Self::VanishKey, Self::Failover];
}

/// What distinguishes one run from another.
#[derive(Clone, Copy)]
pub struct FreeRun {
    /// From which everything is drawn.
    pub seed: u64,
    /// Which kind of lock.
    lock: &'static dyn Translation,
    /// What happens.
    harm: Harm,
    /// The lease, ticks.
    lease: u8,
    /// How many clients.
    clients: u8,
    /// Whether the master has a replica.
    has_replica: bool,
}

impl fmt::Display for FreeRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, harm, lease, clients, .. } = self;
        let lock = self.lock.kind().facts().name;
        write!(f, "seed {seed}: {clients} clients of a {lock} lock, a lease of {lease} ticks, {harm:?}")
    }
}

impl FreeRun {
    /// The run of this seed.
    pub fn drawn(seed: u64) -> Self {
        let mut random = random(seed);
        let harm = Harm::ALL[below(&mut random, 3)];
        Self {
            seed,
            lock: KINDS[below(&mut random, u32::try_from(KINDS.len()).expect("there are few"))],
            harm,
            lease: 2 + u8::try_from(below(&mut random, 4)).expect("it is small"),
            clients: 2 + u8::try_from(below(&mut random, 2)).expect("it is small"),
            has_replica: harm == Harm::Failover || below(&mut random, 2) == 0,
        }
    }

    /// The world in which the model has to find it.
    fn scenario(self) -> String {
        let Self { harm, lease, clients, has_replica, .. } = self;
        let facts = self.lock.kind().facts();
        let (lag, room) =
            if has_replica { ("lag = \"any\"\n", "\n[bounds]\neffects_under_way = 12\n") } else { ("", "") };
        // Where acquires are told apart, effects are few as it is.
        let room = if facts.value.is_there() { "" } else { room };
        let holds = if facts.reentry.is_there() { format!("max_holds = {MOST_HOLDS}\n") } else { String::new() };
        let receipts = if facts.receipts.is_there() { "[protocol]\nreceipts = false\n\n" } else { "" };
        let faults = match harm {
            Harm::None => "",
            Harm::VanishKey => "vanish_key = 8\n",
            Harm::Failover => "crash_node = 1\n",
        };
        format!(
            "story = \"Clients of real servers take and release a lock whenever they like.\"\nlock = \"{}\"\n\n\
             [time]\ntick_ms = {TICK_MS}\nlease = {lease}\nwait_limit = 0\nanswer_within = {ANSWER_WITHIN}\n\n\
             [clients]\ncount = {clients}\n{holds}acquires = 60\n\n\
             [cluster]\nreplicas = {}\n{lag}\n[network]\nmode = \"split\"\ndelay = \"any\"\n\n\
             {receipts}[faults]\n{faults}{room}",
            facts.name,
            u8::from(has_replica)
        )
    }
}

fn random(seed: u64) -> TestRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

fn below(random: &mut TestRng, bound: u32) -> usize {
    (random.next_u32() % bound) as usize
}

/// The clock of the machine, which is that of every server.
#[derive(Clone, Copy)]
struct MachineClock {
    begin_us: i64,
}

fn since_1970() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    i64::try_from(since.as_micros()).expect("it fits for 290 000 years")
}

impl MachineClock {
    /// Ticks begin where Redis counts full milliseconds.
    fn start() -> Self {
        let tick_us = i64::from(TICK_MS) * 1000;
        Self { begin_us: since_1970().div_euclid(tick_us) * tick_us }
    }

    fn now_us(self) -> i64 {
        since_1970() - self.begin_us
    }

    fn is_over(self) -> bool {
        self.now_us() > i64::from(RUN) * i64::from(TICK_MS) * 1000
    }
}

/// Runs real servers. The record ends when the clients do.
pub fn run(server: &ServerProgram, free_run: FreeRun) -> Record {
    let mut nodes = vec![FreeNode::start(server)];
    if free_run.has_replica {
        let replica = FreeNode::start(server);
        replica.follow(&nodes[0]);
        nodes.push(replica);
    }
    let clock = MachineClock::start();
    let (master, is_dead) = (AtomicU8::new(0), AtomicBool::new(false));
    let (first, rest) = nodes.split_at_mut(1);
    let (first, rest) = (Mutex::new(&mut first[0]), &*rest);
    let connect = |node: u8| match node {
        0 if is_dead.load(Ordering::SeqCst) => None,
        0 => first.lock().expect("nobody panics").try_connect(),
        _ => rest[0].try_connect(),
    };
    let connect = &connect;
    let parties = thread::scope(|scope| {
        let clients: Vec<_> = (0..free_run.clients)
            .map(|client| {
                let (master, mut random) = (&master, random(free_run.seed ^ (u64::from(client) + 1) << 32));
                scope.spawn(move || FreeClient::new(client, free_run, clock).live(&mut random, master, connect))
            })
            .collect();
        let mut random = random(free_run.seed ^ 77 << 40);
        let looks = scope.spawn(move || look(free_run, clock, connect));
        let operator = operate(free_run, clock, &mut random, &master, &is_dead, &first, rest);
        let mut parties: Vec<_> = clients.into_iter().map(|client| client.join().expect("a client ends")).collect();
        parties.push(operator);
        parties.push(looks.join().expect("who looks ends"));
        parties
    });
    Record { server: server.to_string(), scenario: free_run.scenario(), parties }
}

/// What an operator does.
fn operate(
    free_run: FreeRun,
    clock: MachineClock,
    random: &mut TestRng,
    master: &AtomicU8,
    is_dead: &AtomicBool,
    first: &Mutex<&mut FreeNode>,
    rest: &[FreeNode],
) -> Vec<Event> {
    let mut events = Vec::new();
    let mut rest_a_while = |most_ms| thread::sleep(Duration::from_millis(below(random, most_ms) as u64));
    match free_run.harm {
        Harm::None => {}
        Harm::VanishKey => {
            for _ in 0..8 {
                rest_a_while(200);
                let from_us = clock.now_us() - OLD_CLOCK_US;
                let deleted = first.lock().expect("nobody panics").ask(cmd("DEL").arg(names().lock()));
                if deleted == Value::Int(1) {
                    let what = Deed::Did(Action::VanishKey { node: 0 });
                    events.push(Event { from_us, to_us: clock.now_us(), what });
                }
            }
        }
        Harm::Failover => {
            rest_a_while(600);
            let from_us = clock.now_us();
            is_dead.store(true, Ordering::SeqCst);
            first.lock().expect("nobody panics").kill();
            rest_a_while(100);
            // Nobody can tell when between these two instants it happened: its last effects may still arrive.
            let to_us = clock.now_us();
            events.push(Event { from_us, to_us, what: Deed::Did(Action::CrashNode { node: 0 }) });
            rest[0].ask(cmd("REPLICAOF").arg("NO").arg("ONE"));
            let what = Deed::Did(Action::Promote { node: 1 });
            events.push(Event { from_us: to_us, to_us: clock.now_us(), what });
            master.store(1, Ordering::SeqCst);
        }
    }
    events
}

/// Looks at the lock on every node that lives, again and again.
fn look(
    free_run: FreeRun,
    clock: MachineClock,
    connect: &(impl Fn(u8) -> Option<ServerConnection> + Sync),
) -> Vec<Event> {
    let mut events = Vec::new();
    while !clock.is_over() {
        for node in 0..=u8::from(free_run.has_replica) {
            let Some(mut connection) = connect(node) else { continue };
            let from_us = clock.now_us() - OLD_CLOCK_US;
            let seen = stored(&mut connection);
            let to_us = clock.now_us();
            let Some((hold, ttl_ms)) = seen else { continue };
            let hold = hold.map(|(client, count)| SeenHold { client, count, until: until(ttl_ms, from_us, to_us) });
            events.push(Event { from_us, to_us, what: Deed::Saw { node, hold } });
        }
        thread::sleep(Duration::from_millis(7));
    }
    events
}

/// Who holds and how often, and what `PTTL` says, read in one transaction; `None`: the connection broke.
fn stored(connection: &mut ServerConnection) -> Option<(Option<(u8, u8)>, i64)> {
    let name = names().lock().to_owned();
    // Of these two one is an error, unless there is no key: a kind stores a hash or a string.
    for asked in [cmd("MULTI"), cmd("HGETALL"), cmd("GET"), cmd("PTTL")] {
        let is_about_the_key = asked.args_iter().next() != cmd("MULTI").args_iter().next();
        let mut asked = asked;
        if is_about_the_key {
            asked.arg(&name);
        }
        connection.req_command(&asked).ok()?;
    }
    let Value::Array(answers) = connection.req_command(&cmd("EXEC")).ok()? else { return None };
    let [hash, string, Value::Int(ttl_ms)] = answers.as_slice() else { return None };
    let hold = match (hash, string) {
        (Value::Array(fields), _) if fields.len() == 2 => Some((client_of(&fields[0])?, number(&fields[1])?)),
        (_, value @ Value::BulkString(_)) => Some((client_of(value)?, 1)),
        _ => None,
    };
    Some((hold, *ttl_ms))
}

fn text(value: &Value) -> Option<String> {
    let Value::BulkString(bytes) = value else { return None };
    String::from_utf8(bytes.clone()).ok()
}

fn number(value: &Value) -> Option<u8> {
    text(value)?.parse().ok()
}

/// When a key expires of which so much is left; nothing: it has no TTL.
fn until(ttl_ms: i64, from_us: i64, to_us: i64) -> Option<Interval> {
    // A TTL is rounded to a millisecond.
    (ttl_ms >= 0).then(|| Interval { from_us: from_us + ttl_ms * 1000, to_us: to_us + (ttl_ms + 1) * 1000 })
}

fn names() -> Names {
    Names::of("free")
}

/// The client that a holder or a value names: the first of the numbers between colons.
fn client_of(holder: &Value) -> Option<u8> {
    text(holder)?.split(':').next()?.parse().ok()
}

/// What became of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RequestOutcome {
    /// The node could not be reached: nothing was sent.
    NotSent,
    /// It may have been executed or not.
    Unknown,
    /// It was answered.
    Told(ToldAnswer),
}

/// A client that takes and releases the lock whenever it likes.
struct FreeClient {
    client: u8,
    free_run: FreeRun,
    clock: MachineClock,
    holds: u8,
    /// Acquires that were sent, which are told apart by their value.
    acquires: u8,
    node: u8,
    events: Vec<Event>,
}

impl FreeClient {
    const fn new(client: u8, free_run: FreeRun, clock: MachineClock) -> Self {
        Self { client, free_run, clock, holds: 0, acquires: 0, node: 0, events: Vec::new() }
    }

    fn live(
        mut self,
        random: &mut TestRng,
        master: &AtomicU8,
        connect: &(impl Fn(u8) -> Option<ServerConnection> + Sync),
    ) -> Vec<Event> {
        let mut connection = None;
        while !self.clock.is_over() && self.acquires < 60 {
            thread::sleep(Duration::from_millis(below(random, 40) as u64));
            let decided_us = self.clock.now_us();
            let known = master.load(Ordering::SeqCst);
            if known != self.node {
                self.node = known;
                connection = None;
                let what = Deed::Did(Action::Discover { client: self.client });
                self.events.push(Event { from_us: decided_us - OLD_CLOCK_US, to_us: self.clock.now_us(), what });
            }
            let Some(open) = connection.take().or_else(|| connect(self.node)) else { continue };
            let can_reenter = self.free_run.lock.kind().facts().reentry.is_there() && self.holds < MOST_HOLDS;
            let wants_more = self.holds == 0 || (can_reenter && below(random, 3) == 0);
            connection = if wants_more { self.acquire(open) } else { self.release(open) };
        }
        self.events
    }

    fn holder(&self) -> HolderId {
        HolderId::new(self.client.to_string(), 1)
    }

    fn lease(&self) -> Lease {
        Lease::from_ms(u64::from(self.free_run.lease) * u64::from(TICK_MS)).expect("it is longer than nothing")
    }

    fn context(&self) -> RequestContext {
        RequestContext {
            scripts: Scripts::built_in(),
            names: names(),
            lease: self.lease(),
            receipt_lease: ReleaseReceipt::LEASE,
            has_receipts: false,
        }
    }

    /// The value of a grant is that of the acquire which was sent last.
    fn caller(&self) -> ScriptCaller {
        ScriptCaller { holder: self.holder(), acquire: Some(self.acquires) }
    }

    fn acquire(&mut self, connection: ServerConnection) -> Option<ServerConnection> {
        self.acquires += 1;
        let asked = self.free_run.lock.acquire(&self.context(), &self.caller());
        let request = Action::Acquire { client: self.client, thread: 0 };
        let (told, connection) = self.ask(connection, &asked, request);
        if told == RequestOutcome::Told(ToldAnswer::Acquired) {
            self.holds += 1;
        }
        connection
    }

    fn release(&mut self, connection: ServerConnection) -> Option<ServerConnection> {
        let asked = self.free_run.lock.release(&self.context(), &self.caller(), "");
        let request = Action::Release { client: self.client, thread: 0 };
        let (told, connection) = self.ask(connection, &asked, request);
        self.holds = match told {
            RequestOutcome::NotSent => self.holds,
            RequestOutcome::Told(ToldAnswer::Released | ToldAnswer::StillHeld) | RequestOutcome::Unknown => {
                self.holds - 1
            }
            RequestOutcome::Told(_) => 0,
        };
        connection
    }

    /// Sends a request and waits for its answer. A caller whose request is not answered in time goes on without it, when the
    /// caller of the model does.
    fn ask(
        &mut self,
        mut connection: ServerConnection,
        asked: &ScriptRequest,
        request: Action,
    ) -> (RequestOutcome, Option<ServerConnection>) {
        let patience = Duration::from_millis(u64::from(ANSWER_WITHIN - 1) * u64::from(TICK_MS));
        connection.set_patience(patience);
        // A script that the server does not know would make two requests of one.
        if connection.req_command(&asked.call.script.load()).is_err() {
            return (RequestOutcome::NotSent, None);
        }
        let (client, node, begin) = (self.client, self.node, Instant::now());
        let from_us = self.clock.now_us();
        let answer = connection.req_command(&asked.call.evalsha());
        let to_us = self.clock.now_us();
        let what = Deed::Sent { request, node };
        self.events.push(Event { from_us: from_us - OLD_CLOCK_US, to_us: from_us, what });
        let told = answer.ok().filter(|_| begin.elapsed() < patience).map(|value| {
            let words = asked.answer_words(&value).unwrap_or_else(|error| panic!("{error}: {value:?}"));
            match words.as_str() {
                "acquired" => ToldAnswer::Acquired,
                "released" => ToldAnswer::Released,
                "still held" => ToldAnswer::StillHeld,
                "not held" => ToldAnswer::NotHeld,
                "read only" => ToldAnswer::ReadOnly,
                _ if words.starts_with("busy") => ToldAnswer::Busy(match value {
                    Value::Int(ttl_ms) => until(ttl_ms, from_us - OLD_CLOCK_US, to_us),
                    _ => None,
                }),
                _ => panic!("the clients of free runs do not expect to be told {words:?}"),
            }
        });
        let Some(told) = told else {
            // Until the caller of the model has given it up.
            let given_up = patience + Duration::from_millis(3 * u64::from(TICK_MS));
            thread::sleep(given_up.saturating_sub(begin.elapsed()));
            return (RequestOutcome::Unknown, None);
        };
        let answer = Action::Answer { client, slot: Slot::of_thread(0) };
        self.events.push(Event { from_us: to_us, to_us, what: Deed::Heard { answer, told } });
        (RequestOutcome::Told(told), Some(connection))
    }
}
