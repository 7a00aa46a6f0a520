//! A client of a free run, which takes and releases the lock whenever it likes.

use std::thread;
use std::time::{Duration, Instant};

use lockstep_model::Action;
use lockstep_model::client::requests::Slot;
use lockstep_model::config::{
    AcquireRule, Downgrade, ExtendRule, FinalLease, HeldQuery, ReadRenewal, ReleaseRule, TokenRule, ValueSet,
};
use lockstep_redis::{HolderId, Lease, ReleaseReceipt, Scripts};
use lockstep_sim::replay::ServerConnection;
use lockstep_sim::replay::translate::{RequestContext, ScriptCaller, ScriptRequest, replies};
use proptest::test_runner::TestRng;
use redis::{ConnectionLike as _, Value};

use crate::clock::{MachineClock, OLD_CLOCK_US, until};
use crate::record::{Deed, Event, ToldAnswer};
use crate::resource::WriteQueue;
use crate::run::{FreeCluster, names};
use crate::world::{FreeRun, Harm, MOST_ACQUIRES, MOST_HOLDS, below};

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
pub struct FreeClient {
    client: u8,
    free_run: FreeRun,
    clock: MachineClock,
    holds: u8,
    /// Acquires that were sent, which are told apart by their value.
    acquires: u8,
    node: u8,
    /// The way to the resource, if the run has one.
    queue: Option<WriteQueue>,
    events: Vec<Event>,
}

impl FreeClient {
    /// One that is there from the beginning. `queue`: the way to the resource, if the run has one.
    pub const fn new(client: u8, free_run: FreeRun, clock: MachineClock, queue: Option<WriteQueue>) -> Self {
        Self { client, free_run, clock, holds: 0, acquires: 0, node: 0, queue, events: Vec::new() }
    }

    /// Asks until the run is over. What it did and was told.
    pub fn live(mut self, random: &mut TestRng, cluster: &FreeCluster) -> Vec<Event> {
        let tick_ms = u32::from(self.free_run.tick_ms());
        if self.free_run.is_one_late && self.client == self.free_run.clients - 1 {
            thread::sleep(Duration::from_millis(below(random, 30 * tick_ms) as u64));
            self.start(cluster);
        }
        let mut connection = None;
        while !self.clock.is_over() && self.acquires < MOST_ACQUIRES {
            thread::sleep(Duration::from_millis(below(random, 2 * tick_ms) as u64));
            let decided_us = self.clock.now_us();
            let has_old_master = cluster.has_old_master();
            // Only to a node that says it is master.
            let goes_back = *has_old_master && below(random, 3) == 0 && cluster.nodes[0].is_master() == Some(true);
            let known = if goes_back { 0 } else { cluster.master() };
            if known != self.node {
                self.node = known;
                connection = None;
                let client = self.client;
                let deed = if goes_back { Action::GoBack { client, node: 0 } } else { Action::Discover { client } };
                self.note(decided_us, deed);
            }
            let Some(open) = connection.take().or_else(|| cluster.connect(self.node)) else { continue };
            let can_reenter = self.free_run.lock.kind().facts().reentry.is_there() && self.holds < MOST_HOLDS;
            let wants_more = self.holds == 0 || (can_reenter && below(random, 3) == 0);
            let is_new = self.holds == 0;
            let asking = cluster.ask();
            connection = if wants_more { self.acquire(open) } else { self.release(open) };
            drop(asking);
            if is_new && self.holds > 0 {
                self.write_to_resource();
            }
            // Whether the last request of a node that ends was executed nobody knows: what this client believes is open.
            if connection.is_none() && self.free_run.harm == Harm::Shutdown {
                break;
            }
        }
        self.events
    }

    /// It was not there at the beginning, and looks for a node that says it is master.
    fn start(&mut self, cluster: &FreeCluster) {
        while !self.clock.is_over() {
            let (decided_us, node) = (self.clock.now_us(), cluster.master());
            if cluster.nodes[usize::from(node)].is_master() == Some(true) {
                self.node = node;
                self.note(decided_us, Action::StartClient { client: self.client, node });
                return;
            }
        }
    }

    fn note(&mut self, decided_us: i64, deed: Action) {
        let (from_us, to_us) = (decided_us - OLD_CLOCK_US, self.clock.now_us());
        self.events.push(Event { from_us, to_us, what: Deed::Did(deed) });
    }

    /// Writes once for each grant, as a second write of it changes nothing in the model.
    fn write_to_resource(&mut self) {
        let sent = self.queue.as_mut().and_then(|queue| queue.write(self.clock));
        self.events.extend(sent);
    }

    fn holder(&self) -> HolderId {
        HolderId::new(self.client.to_string(), 1)
    }

    /// The lease of the next request, which is sent with so many holds around it: its call's own.
    fn lease(&self, outer_holds: u8) -> Lease {
        let own = self.free_run.reentry_lease.filter(|_| self.holds > outer_holds);
        let ticks = own.unwrap_or(self.free_run.lease);
        Lease::from_ms(u64::from(ticks) * u64::from(self.free_run.tick_ms())).expect("it is longer than nothing")
    }

    fn context(&self, outer_holds: u8) -> RequestContext {
        RequestContext {
            scripts: Scripts::built_in(),
            names: names(),
            lease: self.lease(outer_holds),
            final_lease: self.lease(outer_holds),
            final_lease_rule: FinalLease::AnyHold,
            far_ms: i64::MAX,
            receipt_lease: ReleaseReceipt::LEASE,
            queue_wait_ms: 0,
            may_queue: false,
            has_receipts: false,
            acquire: AcquireRule::SetNxPx,
            release: ReleaseRule::Compare,
            extend: ExtendRule::Compare,
            token: TokenRule::WithGrant,
            read_renewal: ReadRenewal::OwnHolds,
            downgrade: Downgrade::Silent,
            values: ValueSet::ALL,
            held_query: HeldQuery::LaterValues,
            clock_ahead_ms: 0,
            deletes_receipts: false,
        }
    }

    /// The value of a grant is that of the acquire which was sent last.
    fn caller(&self) -> ScriptCaller {
        ScriptCaller { holder: self.holder(), acquire: Some(self.acquires), now_ms: 0 }
    }

    fn acquire(&mut self, connection: ServerConnection) -> Option<ServerConnection> {
        self.acquires += 1;
        let asked = self.free_run.lock.acquire(&self.context(0), &self.caller());
        let request = Action::Acquire { client: self.client, thread: 0 };
        let (told, connection) = self.ask(connection, &asked, request);
        if told == RequestOutcome::Told(ToldAnswer::Acquired) {
            self.holds += 1;
        }
        connection
    }

    fn release(&mut self, connection: ServerConnection) -> Option<ServerConnection> {
        let asked = self.free_run.lock.release(&self.context(1), &self.caller(), "");
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
        let patience =
            Duration::from_millis(u64::from(self.free_run.answer_within() - 1) * u64::from(self.free_run.tick_ms()));
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
                replies::ACQUIRED => ToldAnswer::Acquired,
                replies::RELEASED => ToldAnswer::Released,
                replies::STILL_HELD => ToldAnswer::StillHeld,
                replies::NOT_HELD => ToldAnswer::NotHeld,
                replies::READ_ONLY => ToldAnswer::ReadOnly,
                replies::SAVE_FAILED => ToldAnswer::SaveFailed,
                replies::NOT_ENOUGH_REPLICAS => ToldAnswer::NotEnoughReplicas,
                _ if words.starts_with(replies::BUSY) => ToldAnswer::Busy(match value {
                    Value::Int(ttl_ms) => until(ttl_ms, from_us - OLD_CLOCK_US, to_us),
                    _ => None,
                }),
                _ => panic!("the clients of free runs do not expect to be told {words:?}"),
            }
        });
        let Some(told) = told else {
            // Until the caller of the model has given it up.
            let given_up = patience + Duration::from_millis(3 * u64::from(self.free_run.tick_ms()));
            thread::sleep(given_up.saturating_sub(begin.elapsed()));
            return (RequestOutcome::Unknown, None);
        };
        let answer = Action::Answer { client, slot: Slot::of_thread(0) };
        self.events.push(Event { from_us: to_us, to_us, what: Deed::Heard { answer, told } });
        (RequestOutcome::Told(told), Some(connection))
    }
}
