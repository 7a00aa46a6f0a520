//! Speaks for the clients of one scenario, whatever the kind of their lock.

use std::collections::BTreeMap;

use lockstep_model::client::Verb;
use lockstep_model::config::{AnsweredReceipt, RenewalTimer};
use lockstep_model::locks::CallerClock;
use lockstep_model::trace::{
    Contents, KeySlot, KeyValue, RequestState, State, StoredKey, TraceStep, client_name, lock_name,
};
use lockstep_model::{Action, Config, Reply};
use lockstep_redis::{HolderId, Lease, Names, ReleaseReceipt, Scripts};

use super::client_part::{ClientPart, ScriptVerb};
use super::replies::{
    ACQUIRED, FORCE_RELEASED, LEFT_QUEUE, NO_TTL_SET, NOT_ENOUGH_REPLICAS, NOT_HELD, NOT_RENEWED, NOTHING_TO_RELEASE,
    READ_ONLY, RELEASED, RENEWAL_FAILED, RENEWED, SAVE_FAILED, SAYS_HELD, SAYS_NOT_HELD, STILL_HELD, TRY_AGAIN,
    TTL_SET, WRONG_TYPE, acknowledged, acquired_with, renewed_but_for, token_of,
};
use super::request::ScriptRequest;
use super::translation::{RequestContext, ScriptCaller, Translation, UnlockChannel};
use crate::replay::compare::key_words;
use crate::replay::history_step::{HistoryStep, client_of};
use crate::replay::servers::START_MS;

/// Speaks for the clients of one scenario.
pub struct Translator {
    translation: &'static dyn Translation,
    scripts: Scripts,
    /// What the requests of each client about each lock have in common: all of the first client come first.
    contexts: Vec<RequestContext>,
    /// The same of requests that bring the lease that some calls name.
    named: Vec<RequestContext>,
    /// How many locks there are, each with a name of its own.
    names: u8,
    /// How many locks one renewal of each client carries.
    batches: Vec<usize>,
    /// Says which calls name a lease.
    config: Config,
    /// Whether request and answer are steps of their own; then [`call_of`](Self::call_of) makes the requests.
    is_split: bool,
    /// Whether the acquires of a holder are told apart.
    has_values: bool,
    tick_ms: u32,
}

impl Translator {
    /// For the clients of this scenario, which use these scripts, each with its own lease. `None` if one is longer than Redis can store.
    pub fn new(translation: &'static dyn Translation, config: &Config, scripts: Scripts) -> Option<Self> {
        let tick_ms = config.time.tick_ms;
        let ms_of = |ticks: Option<u8>| u64::from(ticks.unwrap_or(0)) * u64::from(tick_ms);
        let lease_of = |ticks: u8| Lease::from_ms(ms_of(Some(ticks)));
        // By the second round it is taken for seconds, though it is in milliseconds.
        let multiplied = |own: &Config| Lease::from_ms(ms_of(Some(own.time.lease)) * 1000);
        let part_lease = |own: &Config, is_later| if is_later { multiplied(own) } else { lease_of(own.part_lease()) };
        let context = |(client, name): (u8, u8), is_named: bool| {
            let own = config.of_client(client);
            let receipt_lease = if own.is_split() { lease_of(own.calls.receipt)? } else { ReleaseReceipt::LEASE };
            Some(RequestContext {
                scripts: scripts.clone(),
                names: Names::of(lock_name(name)),
                lease: if config.has_parts() || config.asks_master_locks() {
                    part_lease(&own, is_named)?
                } else {
                    lease_of(config.named_lease_of(client).filter(|_| is_named).unwrap_or(own.time.lease))?
                },
                final_lease: if is_named { multiplied(&own)? } else { lease_of(own.time.lease)? },
                final_lease_rule: own.protocol.final_lease,
                far_ms: config.far_ms(),
                receipt_lease,
                queue_wait_ms: ms_of(own.time.wait_limit.filter(|limit| *limit > 0).or(own.time.queue_wait)),
                may_queue: own.asks_as_waiter(config.settings_of(client)),
                has_receipts: own.protocol.receipts,
                acquire: own.protocol.acquire,
                release: own.protocol.release,
                extend: own.protocol.extend,
                token: own.protocol.token,
                read_renewal: own.protocol.read_renewal,
                downgrade: own.protocol.downgrade,
                values: own.clients.values,
                held_query: own.protocol.held_query,
                clock_ahead_ms: ms_of(Some(own.clients.clock_ahead)),
                // Where request and answer are one step nobody reads one, and the model has none.
                deletes_receipts: !own.is_split() || own.protocol.answered_receipt == AnsweredReceipt::Delete,
            })
        };
        let clients = || 0..config.clients.count.max(1);
        let locks = || clients().flat_map(|client| (0..config.clients.names).map(move |name| (client, name)));
        let batch = |client| {
            let protocol = config.of_client(client).protocol;
            let is_alone = protocol.renewal_timer == RenewalTimer::PerLock;
            if is_alone { 1 } else { usize::from(protocol.renewal_batch) }
        };
        Some(Self {
            translation,
            contexts: locks().map(|lock| context(lock, false)).collect::<Option<_>>()?,
            named: locks().map(|lock| context(lock, true)).collect::<Option<_>>()?,
            names: config.clients.names,
            batches: clients().map(batch).collect(),
            config: *config,
            scripts,
            is_split: config.is_split(),
            has_values: config.has_values(),
            tick_ms,
        })
    }

    /// The same for clients whose receipts live so long.
    #[must_use]
    pub fn with_receipts_of(mut self, lease: Lease) -> Self {
        self.contexts.iter_mut().chain(&mut self.named).for_each(|context| context.receipt_lease = lease);
        self
    }

    /// The scripts that every node must know.
    pub const fn scripts(&self) -> &Scripts {
        &self.scripts
    }

    /// How long the receipts of a client live, in milliseconds.
    pub fn receipt_ttl_ms(&self, client: u8) -> u64 {
        self.context(client).receipt_lease.ms()
    }

    /// What the requests of this client have in common, about the first lock.
    fn context(&self, client: u8) -> &RequestContext {
        self.contexts.get(self.place_of(client, 0)).unwrap_or_else(|| self.common())
    }

    /// The same about the lock of a thread, of a request that may bring the lease that some calls name.
    fn context_of(&self, (client, thread): (u8, u8), is_named: bool) -> &RequestContext {
        let contexts = if is_named { &self.named } else { &self.contexts };
        contexts.get(self.place_of(client, thread)).unwrap_or_else(|| self.common())
    }

    /// The place of a client's context about the lock that this thread uses.
    fn place_of(&self, client: u8, thread: u8) -> usize {
        let name = if self.names == 1 { 0 } else { thread };
        usize::from(client) * usize::from(self.names) + usize::from(name)
    }

    /// What stands before the name of a lock in the commands of the driver of Redisson.
    pub fn driver_prefix(&self) -> &'static str {
        self.translation.redisson().driver_prefix
    }

    /// The name of a lock in Redis.
    pub fn lock_name(&self, name: u8) -> &str {
        self.context_of((0, name), false).names.lock()
    }

    /// The name in Redis of the lock that this thread uses.
    pub fn lock_of(&self, thread: u8) -> &str {
        self.lock_name(if self.names == 1 { 0 } else { thread })
    }

    /// Whether a request of this thread brings the lease that some calls name: its call names it, or its lock object remembers it.
    fn brings_named(&self, state: &State, (client, thread): (u8, u8), verb: Verb) -> bool {
        let Some(process) = state.clients.get(usize::from(client)) else { return false };
        let asking = process.threads.get(usize::from(thread));
        if self.config.has_parts() {
            return asking.is_some_and(|thread| thread.in_later_round);
        }
        let holds = asking.map_or(0, |thread| thread.holds);
        let is_shared = self.config.shares_lock_objects();
        let is_named = match verb {
            Verb::Acquire => self.config.names_lease(client, thread, holds),
            Verb::Release => !is_shared && holds > 0 && self.config.names_lease(client, thread, holds - 1),
            Verb::SetTtl | Verb::Undo | Verb::Renew => false,
        };
        is_named || is_shared && verb != Verb::Renew && process.remembers_lease
    }

    /// For what every client does alike.
    fn common(&self) -> &RequestContext {
        self.contexts.first().expect("a scenario has a client")
    }

    /// Where a release publishes, as far as the first thread of this client hears it; `None` for a kind that publishes nothing.
    pub fn unlock_channel(&self, client: u8) -> Option<UnlockChannel> {
        self.translation.unlock_channel(self.common(), &holder(client, 0))
    }

    /// The same for each lock that it uses: one, but for a lock of several parts.
    pub fn unlock_channels(&self, client: u8) -> Vec<UnlockChannel> {
        let names = if self.config.has_parts() { self.names } else { 1 };
        let channel = |name| self.translation.unlock_channel(self.context_of((0, name), false), &holder(client, 0));
        (0..names).filter_map(channel).collect()
    }

    /// What an action publishes; `None`: the message of the channel.
    pub fn message_of(&self, action: Action) -> Option<&'static str> {
        self.translation.message_of(action)
    }

    /// The wall clock of the clients at this step, before time passes in it.
    pub const fn now_ms(&self, step: &TraceStep) -> u64 {
        START_MS.unsigned_abs() + step.at_tick as u64 * self.tick_ms as u64
    }

    /// What is asked of the master that its client knows; `None` if nothing is sent.
    pub fn request(&self, HistoryStep { step, before }: HistoryStep<'_>, verb: ScriptVerb) -> Option<ScriptRequest> {
        let reply = step.answer;
        let now_ms = self.now_ms(step);
        if self.config.asks_masters() {
            return None;
        }
        match verb {
            ScriptVerb::Acquire { client, thread } => self.in_one_step().then(|| {
                // The call has its value from this step on. One that is refused and does not wait has none any more.
                let caller = self.caller(client, thread, value_of(&step.state, client, thread), now_ms);
                let is_named = self.brings_named(before, (client, thread), Verb::Acquire);
                self.translation.acquire(self.context_of((client, thread), is_named), &caller)
            }),
            ScriptVerb::Release { client, thread } => {
                let is_sent = self.in_one_step() && reply != Reply::Unreachable;
                let is_named = self.brings_named(before, (client, thread), Verb::Release);
                is_sent.then(|| self.release(step, before, (client, thread), is_named))
            }
            ScriptVerb::Undo { client, thread } => {
                let is_named = self.brings_named(before, (client, thread), Verb::Undo);
                (reply != Reply::Unreachable).then(|| self.release(step, before, (client, thread), is_named))
            }
            ScriptVerb::SetTtl { client, thread } => {
                let is_sent = reply != Reply::Unreachable;
                let is_named = self.brings_named(before, (client, thread), Verb::SetTtl);
                let caller = self.caller(client, thread, None, now_ms);
                is_sent
                    .then(|| self.translation.set_ttl(self.context_of((client, thread), is_named), &caller))
                    .flatten()
            }
            ScriptVerb::Renew { client } => {
                // Nothing is sent if there is nothing to renew, or no master that answers.
                let is_sent = self.in_one_step() && !matches!(reply, Reply::NothingToRenew | Reply::Unreachable);
                let process = before.clients.get(usize::from(client))?;
                let first = process.renewal_first.filter(|_| is_sent)?;
                if self.names > 1 {
                    return self.renewal_of_several(client, first, &process.renewal_counts);
                }
                // Where the two sides of a lock are renewed apart, the first one is that whose timer fires.
                let value = process.renewal_values.get(usize::from(first)).copied();
                Some(self.translation.renew(self.context(client), &self.caller(client, first, value, now_ms)))
            }
            ScriptVerb::ReadToken { client, thread } => {
                self.translation.read_token(self.context_of((client, thread), false))
            }
            ScriptVerb::AskIfHeld { client, thread } => {
                let caller = self.caller(client, thread, None, now_ms);
                let is_sent = reply != Reply::Unreachable;
                is_sent.then(|| self.translation.ask_if_held(self.context(client), &caller)).flatten()
            }
            ScriptVerb::LeaveQueue { client, thread } => {
                let is_sent = self.in_one_step() && reply != Reply::Unreachable;
                let caller = self.caller(client, thread, None, now_ms);
                is_sent.then(|| self.translation.leave_queue(self.context(client), &caller)).flatten()
            }
            ScriptVerb::ForceRelease => self.translation.force_release(self.common(), now_ms),
        }
    }

    /// What is asked of one of several masters in this round of a client's call; `None` if nothing is sent.
    pub fn request_of_round(
        &self,
        HistoryStep { step, before }: HistoryStep<'_>,
        verb: ScriptVerb,
        round: Option<u8>,
    ) -> Option<ScriptRequest> {
        let client = client_of(step.action).and_then(|client| before.clients.get(client));
        let is_later = client.and_then(|client| client.call.as_ref()).is_some_and(|call| call.in_later_round);
        self.request_at_master(step, verb, round, is_later)
    }

    /// The same with the lease of a later round of a call, or of the first one.
    pub fn request_at_master(
        &self,
        step: &TraceStep,
        verb: ScriptVerb,
        round: Option<u8>,
        is_later: bool,
    ) -> Option<ScriptRequest> {
        let is_sent = !matches!(step.answer, Reply::NothingToRenew | Reply::Unreachable);
        let acquire = Some(round.filter(|_| is_sent)?);
        let caller_of =
            |client, thread| ScriptCaller { acquire, ..self.caller(client, thread, None, self.now_ms(step)) };
        let context = |client: u8| self.context_of((client, 0), is_later);
        match verb {
            ScriptVerb::Acquire { client, thread } => {
                Some(self.translation.acquire(context(client), &caller_of(client, thread)))
            }
            ScriptVerb::Release { client, thread } => {
                let release_id = format!("release-{}", step.number);
                Some(self.translation.release(context(client), &caller_of(client, thread), &release_id))
            }
            ScriptVerb::SetTtl { client, thread } => {
                self.translation.set_ttl(context(client), &caller_of(client, thread))
            }
            ScriptVerb::Renew { client } => Some(self.translation.renew(context(client), &caller_of(client, 0))),
            _ => None,
        }
    }

    /// The renewal of several locks: from the one that is next on, as many as a renewal carries.
    fn renewal_of_several(&self, client: u8, first: u8, counts: &[u8]) -> Option<ScriptRequest> {
        let held = (0u8..).zip(counts).filter(|(thread, count)| *thread >= first && **count > 0);
        let of = |thread| {
            let names = self.context_of((client, thread), false).names.clone();
            (names, self.caller(client, thread, None, 0))
        };
        let batch: Vec<_> = held.take(*self.batches.get(usize::from(client))?).map(|(thread, _)| of(thread)).collect();
        self.translation.renew_several(self.context(client), batch)
    }

    /// The release of an `unlock()` around the one that the step makes: of the hold at this level, from 1.
    pub fn release_around(&self, step: HistoryStep<'_>, (client, thread): (u8, u8), level: u8) -> ScriptRequest {
        let is_named = if self.config.shares_lock_objects() {
            // The release that the step makes has ended in an error by now.
            self.brings_named(&step.step.state, (client, thread), Verb::Release)
        } else {
            self.config.names_lease(client, thread, level - 1)
        };
        self.release(step.step, step.before, (client, thread), is_named)
    }

    /// A request that is sent, as the model describes it in this state.
    pub fn call_of(&self, request: &RequestState, client: u8, state: &State) -> ScriptRequest {
        let threads = &state.clients[usize::from(client)].threads;
        let thread = threads.iter().position(|thread| thread.name == request.holder);
        let thread = thread.and_then(|thread| u8::try_from(thread).ok()).unwrap_or_default();
        // No kind with a queue has a split network yet, and no other one reads the clock.
        let caller = self.caller(client, thread, request.value, 0);
        let context = self.context_of((client, thread), request.names_lease || request.remembers_lease);
        match request.verb {
            Verb::Acquire => self.translation.acquire(context, &caller),
            Verb::Release | Verb::Undo => {
                let release_id = release_id(&caller.holder.to_string(), request.receipt.unwrap_or_default());
                self.translation.release(context, &caller, &release_id)
            }
            Verb::SetTtl => {
                self.translation.set_ttl(context, &caller).expect("a kind whose acquire is two commands has both")
            }
            Verb::Renew => self.translation.renew(self.context(client), &caller),
        }
    }

    /// The answer of this step, in plain words. With a grant comes its token, if the client asks for that: the counter of the node
    /// that has raised it.
    pub fn answer_words(&self, HistoryStep { step, before }: HistoryStep<'_>) -> String {
        if step.answer != Reply::Acquired {
            return self.reply_words(step.answer);
        }
        let ClientPart::Asks(ScriptVerb::Acquire { client, .. }) = ClientPart::of(step.action) else {
            return self.reply_words(step.answer);
        };
        let master = before.clients.get(usize::from(client)).map(|client| client.master.as_str());
        let asked = step.state.nodes.iter().find(|node| Some(node.name.as_str()) == master);
        let counter = asked.and_then(|node| node.stored.token_counter());
        match counter.filter(|_| self.config.of_client(client).tokens_come_with_grants()) {
            Some(token) => acquired_with(token.into()),
            None => ACQUIRED.to_owned(),
        }
    }

    /// The model's reply, in plain words.
    pub fn reply_words(&self, reply: Reply) -> String {
        let words = match reply {
            Reply::Busy { remaining_ticks } => {
                return self.translation.busy_words(remaining_ticks.map(|ticks| self.ms(ticks)));
            }
            Reply::Acknowledged { replicas } | Reply::TooFewReplicas { replicas } => {
                return acknowledged(replicas.into());
            }
            Reply::TokenRead { number } => return token_of(number.into()),
            Reply::Acquired => ACQUIRED,
            Reply::Released => RELEASED,
            Reply::StillHeld => STILL_HELD,
            Reply::NotHeld => NOT_HELD,
            Reply::TtlSet => TTL_SET,
            Reply::NoTtlSet => NO_TTL_SET,
            Reply::Renewed => RENEWED,
            Reply::RenewalMissed => NOT_RENEWED,
            Reply::RenewedInPart { missed } => return renewed_but_for(self.lock_name(missed)),
            Reply::RenewalFailed => RENEWAL_FAILED,
            Reply::WrongType => WRONG_TYPE,
            Reply::NotEnoughReplicas => NOT_ENOUGH_REPLICAS,
            Reply::SaveFailed => SAVE_FAILED,
            Reply::TryAgain => TRY_AGAIN,
            Reply::ReadOnly => READ_ONLY,
            Reply::ForceReleased => FORCE_RELEASED,
            Reply::NothingToRelease => NOTHING_TO_RELEASE,
            Reply::LeftQueue => LEFT_QUEUE,
            Reply::SaysHeld => SAYS_HELD,
            Reply::SaysNotHeld => SAYS_NOT_HELD,
            Reply::Done
            | Reply::NothingToRenew
            | Reply::Unreachable
            | Reply::Accepted
            | Reply::Rejected
            | Reply::Unknown
            | Reply::ToldRefused
            | Reply::Interrupted => "nothing",
        };
        words.to_owned()
    }

    /// What a node should store, in the words of `compare`: one line per key, sorted. `beyond_ms`: how far its clock is beyond
    /// those of the others.
    pub fn stored_words(&self, contents: &Contents, beyond_ms: i64) -> String {
        let mut lines: Vec<_> = contents.keys.iter().map(|key| self.key_words(key, beyond_ms)).collect();
        lines.sort_unstable();
        lines.join("\n")
    }

    /// From which time on what a lock stores of wall clocks is counted: those of a trace are when something ends, and some kinds
    /// store when it began, a lease before ([`CallerClock::Grants`]).
    pub fn counted_from_ms(&self, now_ms: i64) -> i64 {
        match self.config.lock.facts().caller_clock {
            CallerClock::Grants => now_ms - i64::from(self.config.time.lease) * i64::from(self.config.time.tick_ms),
            CallerClock::Unread { .. } | CallerClock::Ends | CallerClock::Queue => now_ms,
        }
    }

    /// The names of these keys in Redis.
    pub fn key_names(&self, contents: &Contents) -> Vec<String> {
        contents.keys.iter().map(|key| self.key_name(&key.slot)).collect()
    }

    fn key_words(&self, key: &StoredKey, beyond_ms: i64) -> String {
        let pair = |(name, number): (&String, String)| [name.clone(), number];
        let (key_type, content) = match &key.value {
            KeyValue::String(value) => ("string", vec![value.clone()]),
            KeyValue::Hash(fields) => {
                let name = |field: &String| self.translation.field_name(field);
                let fields: BTreeMap<_, _> = fields.iter().map(|(field, content)| (name(field), content)).collect();
                ("hash", fields.iter().flat_map(|(field, content)| pair((field, content.to_string()))).collect())
            }
            KeyValue::List(items) => ("list", items.clone()),
            KeyValue::Zset(members) => {
                ("zset", members.iter().flat_map(|(member, score)| pair((member, score.to_string()))).collect())
            }
        };
        let remaining_ms = key.ttl_ms.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
        let remaining_ms = remaining_ms.map(|ms| if ms >= self.config.far_ms() { ms } else { ms - beyond_ms });
        key_words(&self.key_name(&key.slot), key_type, remaining_ms, &content)
    }

    fn key_name(&self, slot: &KeySlot) -> String {
        let names = &self.common().names;
        match slot {
            KeySlot::Lock => names.lock().to_owned(),
            KeySlot::NamedLock { number } => self.lock_name(number - 1).to_owned(),
            KeySlot::Queue => names.queue(),
            KeySlot::Token => names.token_counter(),
            KeySlot::Hold { holder, number } => {
                format!("{}:{number}", names.holds_of_reader(&HolderId::new(client_name(holder.client()), 1)))
            }
            KeySlot::Deadlines => names.queue_deadlines(),
            KeySlot::Receipt { holder, number } => names.receipt(&release_id(&holder.to_string(), *number)),
        }
    }

    /// Whether a request is sent, executed and answered in the step of its action.
    const fn in_one_step(&self) -> bool {
        !self.is_split
    }

    fn release(&self, step: &TraceStep, before: &State, (client, thread): (u8, u8), is_named: bool) -> ScriptRequest {
        let caller = self.caller(client, thread, value_of(before, client, thread), self.now_ms(step));
        let release_id = format!("release-{}", step.number);
        self.translation.release(self.context_of((client, thread), is_named), &caller, &release_id)
    }

    /// A caller, by the acquire that has this number. 0 is of none: no node stores that value.
    fn caller(&self, client: u8, thread: u8, value: Option<u8>, now_ms: u64) -> ScriptCaller {
        let acquire = self.has_values.then(|| value.unwrap_or_default());
        // To Redis a client with several parts is one thread, whichever part it is about.
        let thread = if self.config.has_parts() { 0 } else { thread };
        ScriptCaller { holder: holder(client, thread), acquire, now_ms }
    }

    fn ms(&self, ticks: u8) -> i64 {
        i64::from(ticks) * i64::from(self.tick_ms)
    }
}

/// `A:1` for the first thread of the first client. Redisson's client id is a UUID; any text will do.
fn holder(client: u8, thread: u8) -> HolderId {
    HolderId::new(client_name(client), u64::from(thread) + 1)
}

/// Which of its acquires a thread asks for or holds by.
fn value_of(state: &State, client: u8, thread: u8) -> Option<u8> {
    let threads = &state.clients.get(usize::from(client))?.threads;
    threads.get(usize::from(thread)).map(|thread| thread.value)
}

/// Redisson's is random; the model's number is unique among all releases that a receipt or a request still belongs to.
fn release_id(holder: &str, number: u8) -> String {
    format!("{holder}-{number}")
}
