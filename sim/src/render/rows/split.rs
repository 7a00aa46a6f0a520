//! Requests of a split network: executed, answered, lost, sent again, abandoned.

use lockstep_model::client::{Phase, Slot, Verb};
use lockstep_model::config::{InterruptedAcquire, MissedRenewal, WaitAfter};
use lockstep_model::trace::{RequestStage, RequestState, node_name};
use lockstep_model::{Happening, Reply};

use super::super::paint::Tone;
use super::super::replies::{enough, label, reply, too_few};
use super::super::requests::verb;
use super::super::units::count;
use super::lane::Lane;
use super::narrator::Narrator;
use super::row::Row;

impl Narrator<'_> {
    /// The node executes a request; the caller does not know it yet.
    pub(super) fn execute(&self, client: u8, slot: Slot) -> Vec<Row> {
        let Some(request) = self.request_before(client, slot) else { return Vec::new() };
        let (node, whose) = (self.node_of(request), whose(request, slot));
        let master = node_name(node);
        let answer = self.step.answer;
        let done = match (request.verb, answer) {
            (Verb::Release | Verb::Undo, _) if self.has(Happening::ReceiptFound) => {
                format!("finds the receipt, and repeats its answer: {}", reply(self.config, answer))
            }
            (Verb::Acquire, Reply::Acquired) if self.has(Happening::Reentered) => {
                format!("counts {} and restarts the lease", count(self.hold_count_on(node).into(), "hold"))
            }
            (Verb::Acquire, Reply::Acquired) if request.asks_for.is_some() && !slot.is_late() => {
                "grants, and asks its replicas".to_owned()
            }
            (Verb::Acquire, Reply::Acquired) => "grants".to_owned(),
            (_, Reply::ReadOnly | Reply::NotEnoughReplicas | Reply::SaveFailed | Reply::TryAgain) => {
                format!("refuses to write: {}", reply(self.config, answer))
            }
            (Verb::Acquire, _) => {
                format!("refuses: {} has it", self.holder_on(node).unwrap_or("somebody"))
            }
            (Verb::Release | Verb::Undo, Reply::Released) => format!("deletes the lock{}", self.then_publishes()),
            (Verb::Release | Verb::Undo, Reply::StillHeld) => {
                format!("keeps {}, and restarts the lease", count(self.hold_count_on(node).into(), "hold"))
            }
            (Verb::Renew, Reply::Renewed) => self.extends(node),
            (Verb::SetTtl, Reply::TtlSet) => match self.holder_on(node) {
                Some(holder) if *holder != *request.holder => format!("sets the TTL of {holder}'s lock"),
                _ => "sets the TTL".to_owned(),
            },
            (Verb::Release | Verb::Renew | Verb::Undo | Verb::SetTtl, _) => match self.holder_on(node) {
                Some(holder) => format!("stores {holder}: nothing changes"),
                None => "stores no lock: nothing changes".to_owned(),
            },
        };
        let what = format!("{master} executes {whose}: it {done}{}", self.replicas_know());
        let shows = self.stored_on(node).unwrap_or_else(|| "empty".to_owned());
        self.alone(Lane::Node(node), shows, Tone::Plain, what)
    }

    /// The node stops waiting for its replicas; the caller does not know it yet.
    pub(super) fn end_wait(&self, client: u8, thread: u8) -> Vec<Row> {
        let Some(request) = self.request_before(client, Slot::of_thread(thread)) else { return Vec::new() };
        let answer = self.step.answer;
        if !matches!(answer, Reply::Acknowledged { .. } | Reply::TooFewReplicas { .. }) {
            return Vec::new();
        }
        let says = reply(self.config, answer);
        let of = if request.answer == Some(Reply::Acquired) { "grant" } else { verb(request.verb) };
        let what = format!("{} stops waiting for the replicas of {}'s {of}: {says}", request.node, request.holder);
        self.alone(Lane::Node(self.node_of(request)), self.label(), Tone::Plain, what)
    }

    /// A process receives the reply to a request whose caller was interrupted, or has given it up.
    fn late_answer(&self, client: u8, slot: Slot, request: &RequestState) -> Vec<Row> {
        let (node, caller) = (self.node_of(request), self.caller(client, slot));
        if request.verb == Verb::Release {
            let says = reply(self.config, self.step.answer);
            let what = format!("{}'s process receives the answer to its interrupted release: {says}", request.holder);
            return vec![Row::of(self.step, what).answering(Lane::Node(node), caller, says)];
        }
        if self.config.of_client(client).calls.interrupted_acquire == InterruptedAcquire::Renew {
            let says = reply(self.config, self.step.answer);
            let then = if self.step.answer == Reply::Acquired {
                "its watchdog will renew the grant, on behalf of nobody"
            } else {
                "it is refused"
            };
            let what = format!("{}'s process receives the answer to its interrupted acquire: {then}", request.holder);
            return vec![Row::of(self.step, what).answering(Lane::Node(node), caller, says)];
        }
        let receives = format!("{} receives a grant that no thread waits for", self.step.lane);
        let sends = self.step.state.clients[usize::from(client)].requests.iter().any(|sent| sent.slot == slot);
        if !sends {
            return self.alone(caller, "x", Tone::Odd, format!("{receives}, and there is no master to release it on"));
        }
        let what = format!("{receives}, and sends a release");
        vec![self.one_way(caller, Lane::Node(node), self.config.call_names(0).release, what)]
    }

    /// The caller receives the reply.
    pub(super) fn answer(&self, client: u8, slot: Slot) -> Vec<Row> {
        let Some(request) = self.request_before(client, slot) else { return Vec::new() };
        let (node, caller) = (self.node_of(request), self.caller(client, slot));
        if slot.is_late() {
            return self.late_answer(client, slot, request);
        }
        let name = &request.holder;
        let is_alive = self.thread_is_alive(client, request);
        let (says, tone, what) = match (request.verb, self.step.answer) {
            _ if !is_alive => {
                ("x".to_owned(), Tone::Odd, format!("the answer reaches {name}'s process, and {name} is dead"))
            }
            (Verb::Acquire, Reply::Acquired) if self.config.sets_ttl_apart() => {
                let what = format!("{name} receives the answer, and sets the TTL of the lock");
                ("granted".to_owned(), Tone::Plain, what)
            }
            (Verb::SetTtl, Reply::TtlSet | Reply::NoTtlSet) => {
                let what = format!("{name} receives the answer, and believes it holds{}", self.others_believe(name));
                ("HOLDS".to_owned(), Tone::Good, what)
            }
            (Verb::Acquire, Reply::Acquired | Reply::Acknowledged { .. }) => {
                let says = match slot.thread().map(|thread| self.thread_after(client, thread).holds) {
                    Some(holds) if holds > 1 => format!("HOLDS x{holds}"),
                    _ => "HOLDS".to_owned(),
                };
                let receives = match self.step.answer {
                    Reply::Acknowledged { replicas } => {
                        format!("receives the answer: {}", enough(self.config, client, replicas))
                    }
                    _ => "receives the answer".to_owned(),
                };
                let is_over = slot.thread().is_some_and(|thread| self.thread_after(client, thread).has_stopped);
                if is_over {
                    ("too late".to_owned(), Tone::Odd, format!("{name} {receives}"))
                } else {
                    (says, Tone::Good, format!("{name} {receives}, and believes it holds{}", self.others_believe(name)))
                }
            }
            (Verb::Acquire, Reply::TooFewReplicas { replicas }) => {
                let have = too_few(replicas);
                let then = if self.gives_back(client, slot) {
                    ""
                } else {
                    ": this attempt fails, and there is no master to release the grant on"
                };
                (self.label(), Tone::Odd, format!("{name} receives the answer: {have} acknowledged the grant{then}"))
            }
            (Verb::Undo, other) => {
                let says = reply(self.config, other);
                (
                    says.clone(),
                    Tone::Plain,
                    format!("{name} receives the answer to its undo: {says}; this attempt has failed"),
                )
            }
            (Verb::Acquire, Reply::Busy { .. }) => {
                let after = self.thread_after(client, slot.thread().unwrap_or(0));
                (
                    self.label(),
                    Tone::Odd,
                    format!("{name} receives the answer: refused{}", self.then_sleeps(name, after)),
                )
            }
            (Verb::Release, Reply::NotHeld) => {
                (self.label(), Tone::Odd, format!("{name} receives the answer: it does not hold"))
            }
            (Verb::Renew, Reply::RenewalMissed) => {
                let then = match self.own().protocol.missed_renewal {
                    MissedRenewal::LowerFirst => "lowers its count by one and notifies nobody",
                    MissedRenewal::StopTimer => "stops its timer and notifies nobody",
                    MissedRenewal::Forget => "forgets every thread's holds and notifies nobody",
                    MissedRenewal::TellHolder => "forgets the holds and notifies the holder",
                };
                (
                    self.label(),
                    Tone::Odd,
                    format!("{}'s watchdog receives the answer \"not yours\": it {then}", self.step.lane),
                )
            }
            (_, other) => {
                let says = reply(self.config, other);
                (says.clone(), Tone::Good, format!("{} receives the answer: {says}", self.step.lane))
            }
        };
        let again = self.made_again(client, slot, request).filter(|_| is_alive);
        let (says, tone, what) = again.unwrap_or((says, tone, what));
        let row = Row::of(self.step, what).showing(caller, &says, tone).answering(Lane::Node(node), caller, says);
        let gives_back = || {
            let what = format!("{name} releases the grant");
            self.one_way(caller, Lane::Node(self.asked(client)), verb(Verb::Undo), what)
        };
        let freed = self.freed_after_failed_renewal(client, slot);
        [row].into_iter().chain(self.gives_back(client, slot).then(gives_back)).chain(freed).collect()
    }

    /// What an answer leads to that does not end the call, or ends it with an exception although something was executed.
    fn made_again(&self, client: u8, slot: Slot, request: &RequestState) -> Option<(String, Tone, String)> {
        let requests = &self.step.state.clients[usize::from(client)].requests;
        let is_made_again = requests.iter().any(|after| after.slot == slot && after.stage == RequestStage::Lost);
        let (says, answer) = (reply(self.config, self.step.answer), self.step.answer);
        let then = match (request.verb, answer) {
            (_, Reply::TooFewReplicas { replicas }) if is_made_again => {
                format!("{} acknowledged its release, and it will be sent again", too_few(replicas))
            }
            _ if is_made_again => format!("{says}; its request will be sent again"),
            _ if request.has_failed => {
                format!("{says}; it is told of an exception all the same, since an earlier attempt was refused")
            }
            (Verb::Release, Reply::TooFewReplicas { replicas }) => {
                format!("{} acknowledged its release, and it is told of an exception", too_few(replicas))
            }
            _ => return None,
        };
        Some((self.label(), Tone::Odd, format!("{} receives the answer: {then}", request.holder)))
    }

    /// Whether the step sends the release of a grant that too few replicas have.
    fn gives_back(&self, client: u8, slot: Slot) -> bool {
        let requests = &self.step.state.clients[usize::from(client)].requests;
        let is_refused = matches!(self.step.answer, Reply::TooFewReplicas { .. });
        is_refused && requests.iter().any(|request| request.slot == slot && request.verb == Verb::Undo)
    }

    /// The release that follows a renewal which has failed, if the step sends one.
    fn freed_after_failed_renewal(&self, client: u8, slot: Slot) -> Option<Row> {
        let releases = |requests: &[RequestState]| {
            requests.iter().filter(|request| request.slot.is_late() && request.verb == Verb::Release).count()
        };
        let [before, after] = [self.before, &self.step.state].map(|state| &state.clients[usize::from(client)].requests);
        let is_sent = slot == Slot::Renewal && releases(after) > releases(before);
        is_sent.then(|| {
            let what = format!("{}'s client gives the lock back: it sends a release, and tells nobody", self.step.lane);
            self.one_way(self.caller(client, slot), Lane::Node(self.asked(client)), verb(Verb::Release), what)
        })
    }

    pub(super) fn resend(&self, client: u8, slot: Slot) -> Vec<Row> {
        let Some(request) = self.request_before(client, slot) else { return Vec::new() };
        // It may have one, and makes its call again because of that.
        let own = self.config.of_client(client);
        let may_have_one = own.protocol.wait_after == WaitAfter::EveryCall || own.retries_refused_calls();
        let why = if may_have_one { "" } else { "has no answer, and " };
        let what = format!("{} {why}sends the {} again", self.step.lane, verb(request.verb));
        vec![self.one_way(self.caller(client, slot), Lane::Node(self.asked(client)), "again", what)]
    }

    pub(super) fn abandon(&self, client: u8, slot: Slot) -> Vec<Row> {
        let name = &self.step.lane;
        let Some(request) = self.request_before(client, slot) else { return Vec::new() };
        let what = match request.verb {
            Verb::Acquire if self.step.answer == Reply::ToldRefused => {
                format!("{name} has no answer in time: it is told that it does not have the lock, and stops waiting")
            }
            Verb::SetTtl => {
                format!("{name} has no answer in time: its call fails, and its lock may have no TTL")
            }
            Verb::Acquire => {
                format!("{name} has no answer in time: its call fails, and it does not know whether it holds")
            }
            Verb::Release if slot.is_late() => {
                format!("{name}'s process has no answer to its interrupted release, and stops renewing that hold")
            }
            Verb::Release => {
                format!("{name} has no answer in time: its release fails, and it drops that hold")
            }
            Verb::Renew => format!("{name}'s watchdog has no answer in time, and stops waiting"),
            Verb::Undo => {
                format!(
                    "{name} has no answer in time: this attempt fails, and it does not know whether its grant is still stored"
                )
            }
        };
        let mut rows = self.alone(self.caller(client, slot), label(self.config, self.step.answer), Tone::Odd, what);
        rows.extend(self.freed_after_failed_renewal(client, slot));
        rows
    }

    pub(super) fn lose_request(&self, client: u8, slot: Slot) -> Vec<Row> {
        let Some(request) = self.request_before(client, slot) else { return Vec::new() };
        let what = format!("{} is lost on its way to {}", whose(request, slot), request.node);
        let caller = self.caller(client, slot);
        vec![self.one_way(caller, Lane::Node(self.node_of(request)), verb(request.verb), what).lost()]
    }

    pub(super) fn lose_reply(&self, client: u8, slot: Slot) -> Vec<Row> {
        let Some(request) = self.request_before(client, slot) else { return Vec::new() };
        let (caller, node) = (self.caller(client, slot), self.node_of(request));
        let says = request.answer.map_or_else(String::new, |answer| reply(self.config, answer));
        let what = format!("the answer \"{says}\" to {} is lost", whose(request, slot));
        vec![Row::of(self.step, what).answering(Lane::Node(node), caller, says).lost()]
    }

    pub(super) fn interrupt(&self, client: u8, thread: u8) -> Vec<Row> {
        let name = &self.step.lane;
        let what = match self.request_before(client, Slot::of_thread(thread)).map(|request| request.verb) {
            None if self.thread_after(client, thread).phase == Phase::Waiting => {
                format!("{name} is interrupted while it waits: lock() swallows that, and sleeps anew")
            }
            None => format!("{name} is interrupted while it waits, and stops waiting"),
            Some(Verb::Release) => {
                format!("{name} is interrupted in unlock(): its request may still be executed")
            }
            Some(Verb::Acquire | Verb::SetTtl | Verb::Renew | Verb::Undo) => {
                format!("{name} is interrupted in lock(): its request may still be executed")
            }
        };
        if self.step.answer == Reply::Interrupted {
            return self.alone(Lane::Thread { client, thread }, "interrupted", Tone::Odd, what);
        }
        self.leave_queue((client, thread), "interrupted", what)
    }

    fn request_before(&self, client: u8, slot: Slot) -> Option<&RequestState> {
        self.before.clients[usize::from(client)].requests.iter().find(|request| request.slot == slot)
    }

    fn node_of(&self, request: &RequestState) -> u8 {
        (0..self.config.nodes()).find(|node| node_name(*node) == request.node).unwrap_or(0)
    }

    fn caller(&self, client: u8, slot: Slot) -> Lane {
        let of_late = || {
            let holder = &self.request_before(client, slot)?.holder;
            let threads = &self.before.clients[usize::from(client)].threads;
            u8::try_from(threads.iter().position(|thread| thread.name == *holder)?).ok()
        };
        let thread = match slot {
            Slot::Call1 | Slot::Call2 => slot.thread().unwrap_or(0),
            Slot::Renewal => self.renewed_thread(client),
            Slot::Late | Slot::Late2 | Slot::Late3 | Slot::Late4 => of_late().unwrap_or(0),
        };
        Lane::Thread { client, thread }
    }

    /// Whether the calling thread is alive; a watchdog lives with its process.
    fn thread_is_alive(&self, client: u8, request: &RequestState) -> bool {
        let threads = &self.before.clients[usize::from(client)].threads;
        request.verb == Verb::Renew || threads.iter().any(|thread| thread.name == request.holder && !thread.is_dead())
    }
}

/// `A's acquire`, `the renewal for A`, `A's abandoned acquire`.
fn whose(request: &RequestState, slot: Slot) -> String {
    let name = &request.holder;
    match slot {
        Slot::Call1 | Slot::Call2 => format!("{name}'s {}", verb(request.verb)),
        Slot::Renewal => format!("the renewal for {name}"),
        Slot::Late | Slot::Late2 | Slot::Late3 | Slot::Late4 => {
            let how = if request.answer_left.is_some() {
                "interrupted"
            } else if request.verb == Verb::Release {
                // Abandoned, or sent after a renewal has failed.
                "late"
            } else {
                "abandoned"
            };
            format!("{name}'s {how} {}", verb(request.verb))
        }
    }
}
