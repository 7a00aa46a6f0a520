//! One free run: real servers, clients that take and release a lock whenever they like, and an operator who does harm. Every
//! request, answer and deed is recorded with the interval in which it happened.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lockstep_model::Action;
use lockstep_model::client::requests::Slot;
use lockstep_redis::locks::reentrant::{self, ReentrantAcquireReply, ReentrantReleaseReply};
use lockstep_redis::{Call, Error, HolderId, Lease, Names, ScriptReply, Scripts};
use lockstep_sim::replay::{ServerConnection, ServerProgram};
use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};
use redis::{ConnectionLike as _, Value, cmd};

use crate::nodes::FreeNode;
use crate::record::{Event, Interval, Record, SeenHold, Told, What};

/// The length of a tick, ms.
const TICK_MS: u8 = 20;
/// How long a caller waits for an answer, ticks.
const ANSWER_WITHIN: u8 = 15;
/// How long a run lasts, ticks.
const RUN: u8 = 50;
/// The largest hold count.
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
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// From which everything is drawn.
    pub seed: u64,
    /// What happens.
    pub harm: Harm,
    /// The lease, ticks.
    pub lease: u8,
    /// How many clients.
    pub clients: u8,
    /// Whether the master has a replica.
    pub has_replica: bool,
}

impl Plan {
    /// The run of this number.
    pub fn drawn(seed: u64) -> Self {
        let mut random = random(seed);
        let harm = Harm::ALL[below(&mut random, 3)];
        Self {
            seed,
            harm,
            lease: 2 + u8::try_from(below(&mut random, 4)).expect("it is small"),
            clients: 2 + u8::try_from(below(&mut random, 2)).expect("it is small"),
            has_replica: harm == Harm::Failover || below(&mut random, 2) == 0,
        }
    }

    /// The world in which the model has to find it.
    fn scenario(self) -> String {
        let Self { harm, lease, clients, has_replica, .. } = self;
        let faults = match harm {
            Harm::None => "",
            Harm::VanishKey => "vanish_key = 8\n",
            Harm::Failover => "crash_node = 1\n",
        };
        let room = if has_replica { "\n[bounds]\neffects_under_way = 12\n" } else { "" };
        format!(
            "story = \"Clients of real servers take and release a lock whenever they like.\"\nlock = \"reentrant\"\n\n\
             [time]\ntick_ms = {TICK_MS}\nlease = {lease}\nwait_limit = 0\nanswer_within = {ANSWER_WITHIN}\n\n\
             [clients]\ncount = {clients}\nmax_holds = {MOST_HOLDS}\nacquires = 60\n\n\
             [cluster]\nreplicas = {}\nlag = \"any\"\n\n[network]\nmode = \"split\"\ndelay = \"any\"\n\n\
             [protocol]\nreceipts = false\n\n[faults]\n{faults}{room}",
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
struct Clock {
    begin_us: i64,
}

fn since_1970() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    i64::try_from(since.as_micros()).expect("it fits for 290 000 years")
}

impl Clock {
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

/// Runs real servers as planned. The record ends when the clients do.
pub fn run(server: &ServerProgram, plan: Plan) -> Record {
    let mut nodes = vec![FreeNode::start(server)];
    if plan.has_replica {
        let replica = FreeNode::start(server);
        replica.follow(&nodes[0]);
        nodes.push(replica);
    }
    let clock = Clock::start();
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
        let clients: Vec<_> = (0..plan.clients)
            .map(|client| {
                let (master, mut random) = (&master, random(plan.seed ^ (u64::from(client) + 1) << 32));
                scope.spawn(move || FreeClient::new(client, plan, clock).live(&mut random, master, connect))
            })
            .collect();
        let mut random = random(plan.seed ^ 77 << 40);
        let looks = scope.spawn(move || look(plan, clock, connect));
        let operator = operate(plan, clock, &mut random, &master, &is_dead, &first, rest);
        let mut parties: Vec<_> = clients.into_iter().map(|client| client.join().expect("a client ends")).collect();
        parties.push(operator);
        parties.push(looks.join().expect("who looks ends"));
        parties
    });
    Record { server: server.to_string(), scenario: plan.scenario(), parties }
}

/// What an operator does.
fn operate(
    plan: Plan,
    clock: Clock,
    random: &mut TestRng,
    master: &AtomicU8,
    is_dead: &AtomicBool,
    first: &Mutex<&mut FreeNode>,
    rest: &[FreeNode],
) -> Vec<Event> {
    let mut events = Vec::new();
    let mut rest_a_while = |most_ms| thread::sleep(Duration::from_millis(below(random, most_ms) as u64));
    match plan.harm {
        Harm::None => {}
        Harm::VanishKey => {
            for _ in 0..8 {
                rest_a_while(200);
                let from_us = clock.now_us() - OLD_CLOCK_US;
                let deleted = first.lock().expect("nobody panics").ask(cmd("DEL").arg(names().lock()));
                if deleted == Value::Int(1) {
                    let what = What::Did(Action::VanishKey { node: 0 });
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
            events.push(Event { from_us, to_us, what: What::Did(Action::CrashNode { node: 0 }) });
            rest[0].ask(cmd("REPLICAOF").arg("NO").arg("ONE"));
            let what = What::Did(Action::Promote { node: 1 });
            events.push(Event { from_us: to_us, to_us: clock.now_us(), what });
            master.store(1, Ordering::SeqCst);
        }
    }
    events
}

/// Looks at the lock on every node that lives, again and again.
fn look(plan: Plan, clock: Clock, connect: &(impl Fn(u8) -> Option<ServerConnection> + Sync)) -> Vec<Event> {
    let mut events = Vec::new();
    while !clock.is_over() {
        for node in 0..=u8::from(plan.has_replica) {
            let Some(mut connection) = connect(node) else { continue };
            let from_us = clock.now_us() - OLD_CLOCK_US;
            let mut asked = redis::pipe();
            asked.atomic().cmd("HGETALL").arg(names().lock()).cmd("PTTL").arg(names().lock());
            let answer: redis::RedisResult<(Vec<(String, u8)>, i64)> = asked.query(&mut connection);
            let to_us = clock.now_us();
            let Ok((holds, ttl_ms)) = answer else { continue };
            let hold = holds.first().map(|(holder, count)| SeenHold {
                client: client_of(holder),
                count: *count,
                until: until(ttl_ms, from_us, to_us),
            });
            events.push(Event { from_us, to_us, what: What::Saw { node, hold } });
        }
        thread::sleep(Duration::from_millis(7));
    }
    events
}

/// When a key expires of which so much is left; nothing: it has no TTL.
fn until(ttl_ms: i64, from_us: i64, to_us: i64) -> Option<Interval> {
    // A TTL is rounded to a millisecond.
    (ttl_ms >= 0).then(|| Interval { from_us: from_us + ttl_ms * 1000, to_us: to_us + (ttl_ms + 1) * 1000 })
}

fn names() -> Names {
    Names::of("free")
}

fn client_of(holder: &str) -> u8 {
    holder.split(':').next().and_then(|client| client.parse().ok()).expect("our own holder")
}

/// A client that takes and releases the lock whenever it likes.
struct FreeClient {
    client: u8,
    plan: Plan,
    clock: Clock,
    holds: u8,
    node: u8,
    events: Vec<Event>,
}

impl FreeClient {
    const fn new(client: u8, plan: Plan, clock: Clock) -> Self {
        Self { client, plan, clock, holds: 0, node: 0, events: Vec::new() }
    }

    fn live(
        mut self,
        random: &mut TestRng,
        master: &AtomicU8,
        connect: &(impl Fn(u8) -> Option<ServerConnection> + Sync),
    ) -> Vec<Event> {
        let mut connection = None;
        while !self.clock.is_over() && self.events.len() < 100 {
            thread::sleep(Duration::from_millis(below(random, 40) as u64));
            let decided_us = self.clock.now_us();
            let known = master.load(Ordering::SeqCst);
            if known != self.node {
                self.node = known;
                connection = None;
                let what = What::Did(Action::Discover { client: self.client });
                self.events.push(Event { from_us: decided_us - OLD_CLOCK_US, to_us: self.clock.now_us(), what });
            }
            let Some(open) = connection.take().or_else(|| connect(self.node)) else { continue };
            let wants_more = self.holds == 0 || (self.holds < MOST_HOLDS && below(random, 3) == 0);
            connection = if wants_more { self.acquire(open) } else { self.release(open) };
        }
        self.events
    }

    fn holder(&self) -> HolderId {
        HolderId::new(self.client.to_string(), 1)
    }

    fn lease(&self) -> Lease {
        Lease::from_ms(u64::from(self.plan.lease) * u64::from(TICK_MS)).expect("it is longer than nothing")
    }

    fn acquire(&mut self, connection: ServerConnection) -> Option<ServerConnection> {
        let call = reentrant::acquire(&Scripts::built_in(), &names(), &self.holder(), self.lease());
        let request = Action::Acquire { client: self.client, thread: 0 };
        let (told, connection) = self.ask(connection, &call, request, |reply, from_us, to_us| match reply {
            ReentrantAcquireReply::Acquired => Told::Acquired,
            ReentrantAcquireReply::Busy { ttl_ms } => Told::Busy(until(ttl_ms, from_us, to_us)),
        });
        if told == Some(Told::Acquired) {
            self.holds += 1;
        }
        connection
    }

    fn release(&mut self, connection: ServerConnection) -> Option<ServerConnection> {
        let call = reentrant::release_without_receipt(&Scripts::built_in(), &names(), &self.holder(), self.lease());
        let request = Action::Release { client: self.client, thread: 0 };
        let (told, connection) = self.ask(connection, &call, request, |reply, _, _| match reply {
            ReentrantReleaseReply::Released => Told::Released,
            ReentrantReleaseReply::StillHeld => Told::StillHeld,
            ReentrantReleaseReply::NotHeld => Told::NotHeld,
        });
        self.holds = match told {
            Some(Told::NotHeld | Told::ReadOnly) => 0,
            _ => self.holds - 1,
        };
        connection
    }

    /// Sends a request and waits for its answer. A caller whose request is not answered in time goes on without it, when the
    /// caller of the model does.
    fn ask<R: ScriptReply>(
        &mut self,
        mut connection: ServerConnection,
        call: &Call,
        request: Action,
        read: impl FnOnce(R, i64, i64) -> Told,
    ) -> (Option<Told>, Option<ServerConnection>) {
        let patience = Duration::from_millis(u64::from(ANSWER_WITHIN - 1) * u64::from(TICK_MS));
        connection.set_patience(patience);
        // A script that the server does not know would make two requests of one.
        if connection.req_command(&call.script.load()).is_err() {
            return (None, None);
        }
        let (client, node, begin) = (self.client, self.node, Instant::now());
        let from_us = self.clock.now_us();
        let answer = call.ask::<R>(&mut connection);
        let to_us = self.clock.now_us();
        let what = What::Sent { request, node };
        self.events.push(Event { from_us: from_us - OLD_CLOCK_US, to_us: from_us, what });
        let told = match answer {
            Ok(reply) if begin.elapsed() < patience => Some(read(reply, from_us - OLD_CLOCK_US, to_us)),
            Err(Error::NotMaster { .. }) => Some(Told::ReadOnly),
            Ok(_) | Err(_) => None,
        };
        let Some(told) = told else {
            // Until the caller of the model has given it up.
            let given_up = patience + Duration::from_millis(3 * u64::from(TICK_MS));
            thread::sleep(given_up.saturating_sub(begin.elapsed()));
            return (None, None);
        };
        let answer = Action::Answer { client, slot: Slot::of_thread(0) };
        self.events.push(Event { from_us: to_us, to_us, what: What::Heard { answer, told } });
        (Some(told), Some(connection))
    }
}
