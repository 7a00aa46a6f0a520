//! What is seen of a request that is three steps: it is executed, answered, lost, sent again, given up.

use lockstep_model::client::{Slot, Verb};
use lockstep_model::config::MissedRenewal;
use lockstep_model::trace::RequestState;
use lockstep_model::{Happening, Reply};

use super::super::paint::Tone;
use super::super::words::{count, reply, time};
use super::{Beat, Lane, Teller, node_name};

impl Teller<'_> {
    /// The node does what it is asked; who asked does not know yet.
    pub(super) fn execute(&self, client: u8, slot: Slot) -> Vec<Beat> {
        let Some(request) = self.request_before(client, slot) else { return Vec::new() };
        let (node, whose) = (self.node_of(request), whose(request, slot));
        let master = node_name(node);
        let answer = self.step.answer;
        let done = match (request.verb, answer) {
            (Verb::Release | Verb::Undo, _) if self.has(Happening::ReceiptFound) => {
                format!("finds the receipt, and answers what it did: {}", reply(self.config, answer))
            }
            (Verb::Acquire, Reply::Acquired) if self.has(Happening::Reentered) => {
                format!("counts {} and makes the lease whole", count(self.hold_count_on(node).into(), "hold"))
            }
            (Verb::Acquire, Reply::Acquired) if request.asks_for.is_some() && slot != Slot::Late => {
                "grants, and asks its replicas".to_owned()
            }
            (Verb::Acquire, Reply::Acquired) => "grants".to_owned(),
            (Verb::Acquire, _) => {
                format!("refuses: {} has it", self.holder_on(node).unwrap_or("somebody"))
            }
            (Verb::Release | Verb::Undo, Reply::Released) => format!("deletes the lock{}", self.then_publishes()),
            (Verb::Release | Verb::Undo, Reply::StillHeld) => {
                format!("keeps {}, and makes the lease whole", count(self.hold_count_on(node).into(), "hold"))
            }
            (Verb::Renew, Reply::Renewed) => "makes the lease whole".to_owned(),
            (Verb::Release | Verb::Renew | Verb::Undo, _) => match self.holder_on(node) {
                Some(holder) => format!("stores {holder}: nothing changes"),
                None => "stores no lock: nothing changes".to_owned(),
            },
        };
        let what = format!("{master} executes {whose}: it {done}{}", self.replicas_know());
        let shows = self.stored_on(node).unwrap_or_else(|| "empty".to_owned());
        self.alone(Lane::Node(node), shows, Tone::Plain, what)
    }

    /// The node waits for its replicas no longer; who asked does not know yet.
    pub(super) fn end_wait(&self, client: u8, thread: u8) -> Vec<Beat> {
        let Some(request) = self.request_before(client, Slot::of_thread(thread)) else { return Vec::new() };
        let answer = self.step.answer;
        let (Reply::Acknowledged { replicas } | Reply::TooFewReplicas { replicas }) = answer else { return Vec::new() };
        let says = reply(self.config, answer);
        let what = format!("{} waits no longer for who has the grant of {}: {says}", request.node, request.holder);
        self.alone(Lane::Node(self.node_of(request)), format!("{replicas} have it"), Tone::Plain, what)
    }

    /// Whoever asked sees the reply.
    pub(super) fn answer(&self, client: u8, slot: Slot) -> Vec<Beat> {
        let Some(request) = self.request_before(client, slot) else { return Vec::new() };
        let (node, caller) = (self.node_of(request), self.caller(client, slot));
        if slot == Slot::Late {
            let hears = format!("{} hears of a grant that nobody waits for", self.step.lane);
            let sends = self.step.state.clients[usize::from(client)].requests.iter().any(|sent| sent.slot == slot);
            if !sends {
                return self.alone(caller, "x", Tone::Odd, format!("{hears}, and no master is there to take it back"));
            }
            let what = format!("{hears}, and sends a release");
            return vec![self.one_way(caller, Lane::Node(node), "unlock()", what)];
        }
        let name = &request.holder;
        let is_heard = self.thread_is_there(client, request);
        let (says, tone, what) = match (request.verb, self.step.answer) {
            _ if !is_heard => {
                ("x".to_owned(), Tone::Odd, format!("the answer reaches {name}'s process, and {name} is dead"))
            }
            (Verb::Acquire, Reply::Acquired | Reply::Acknowledged { .. }) => {
                let says = match slot.thread().map(|thread| self.thread_after(client, thread).holds) {
                    Some(holds) if holds > 1 => format!("HOLDS x{holds}"),
                    _ => "HOLDS".to_owned(),
                };
                let hears = match self.step.answer {
                    Reply::Acknowledged { replicas } => {
                        format!("hears that {} acknowledged the grant", count(replicas.into(), "replica"))
                    }
                    _ => "gets the answer".to_owned(),
                };
                (says, Tone::Good, format!("{name} {hears}, and believes it holds{}", self.others_believe(name)))
            }
            (Verb::Acquire, Reply::TooFewReplicas { replicas }) => {
                let have = match replicas {
                    0 => "no replica".to_owned(),
                    _ => count(replicas.into(), "replica") + " only",
                };
                let then = if self.gives_back(client, slot) {
                    ""
                } else {
                    ": this attempt fails, and no master is there to take that back"
                };
                (
                    format!("{replicas} have it"),
                    Tone::Odd,
                    format!("{name} hears that {have} acknowledged the grant{then}"),
                )
            }
            (Verb::Undo, other) => {
                let says = reply(self.config, other);
                (
                    says.clone(),
                    Tone::Plain,
                    format!("{name} hears of what it gave back: {says}; this attempt has failed"),
                )
            }
            (Verb::Acquire, Reply::Busy { remaining_ticks }) => {
                let says = remaining_ticks
                    .map_or_else(|| "busy".to_owned(), |ticks| format!("busy {}", time(self.config, ticks.into())));
                let after = self.thread_after(client, slot.thread().unwrap_or(0));
                (says, Tone::Odd, format!("{name} gets the answer: refused{}", self.then_sleeps(name, after)))
            }
            (Verb::Release, Reply::NotHeld) => {
                ("not held".to_owned(), Tone::Odd, format!("{name} is told that it does not hold"))
            }
            (Verb::Renew, Reply::RenewalMissed) => {
                let then = match self.config.protocol.missed_renewal {
                    MissedRenewal::LowerFirst => "lowers its count by one, and tells nobody",
                    MissedRenewal::StopTimer => "sets no timer any more, and tells nobody",
                    MissedRenewal::TellHolder => "forgets the holds, and tells the holder",
                };
                (
                    "missed".to_owned(),
                    Tone::Odd,
                    format!("{}'s watchdog hears \"not yours\": it {then}", self.step.lane),
                )
            }
            (_, other) => {
                let says = reply(self.config, other);
                (says.clone(), Tone::Good, format!("{} gets the answer: {says}", self.step.lane))
            }
        };
        let beat = Beat::of(self.step, what).showing(caller, &says, tone).answering(Lane::Node(node), caller, says);
        let gives_back = || {
            let what = format!("{name} gives that back");
            self.one_way(caller, Lane::Node(self.asked(client)), verb(Verb::Undo), what)
        };
        [beat].into_iter().chain(self.gives_back(client, slot).then(gives_back)).collect()
    }

    /// Whether the step sends a grant back that too few replicas have.
    fn gives_back(&self, client: u8, slot: Slot) -> bool {
        let requests = &self.step.state.clients[usize::from(client)].requests;
        let is_refused = matches!(self.step.answer, Reply::TooFewReplicas { .. });
        is_refused && requests.iter().any(|request| request.slot == slot && request.verb == Verb::Undo)
    }

    pub(super) fn resend(&self, client: u8, slot: Slot) -> Vec<Beat> {
        let Some(request) = self.request_before(client, slot) else { return Vec::new() };
        let what = format!("{} has no answer, and sends the same {} again", self.step.lane, verb(request.verb));
        vec![self.one_way(self.caller(client, slot), Lane::Node(self.asked(client)), "again", what)]
    }

    pub(super) fn abandon(&self, client: u8, slot: Slot) -> Vec<Beat> {
        let name = &self.step.lane;
        let Some(request) = self.request_before(client, slot) else { return Vec::new() };
        let what = match request.verb {
            Verb::Acquire => {
                format!("{name} has no answer in time: its lock() fails, and it does not know whether it holds")
            }
            Verb::Release => {
                format!("{name} has no answer in time: its unlock() fails, and it counts on that hold no more")
            }
            Verb::Renew => format!("{name}'s watchdog has no answer in time, and waits no longer"),
            Verb::Undo => {
                format!(
                    "{name} has no answer in time: this attempt fails, and whether its grant is still there it does not know"
                )
            }
        };
        self.alone(self.caller(client, slot), "unknown", Tone::Odd, what)
    }

    pub(super) fn lose_request(&self, client: u8, slot: Slot) -> Vec<Beat> {
        let Some(request) = self.request_before(client, slot) else { return Vec::new() };
        let what = format!("{} never reaches {}: it is lost", whose(request, slot), request.node);
        let caller = self.caller(client, slot);
        vec![lost(self.one_way(caller, Lane::Node(self.node_of(request)), verb(request.verb), what))]
    }

    pub(super) fn lose_reply(&self, client: u8, slot: Slot) -> Vec<Beat> {
        let Some(request) = self.request_before(client, slot) else { return Vec::new() };
        let (caller, node) = (self.caller(client, slot), self.node_of(request));
        let says = request.answer.map_or_else(String::new, |answer| reply(self.config, answer));
        let what = format!("the answer \"{says}\" to {} is lost", whose(request, slot));
        vec![lost(Beat::of(self.step, what).answering(Lane::Node(node), caller, says))]
    }

    pub(super) fn interrupt(&self, client: u8, thread: u8) -> Vec<Beat> {
        let name = &self.step.lane;
        let what = match self.request_before(client, Slot::of_thread(thread)).map(|request| request.verb) {
            None => format!("{name} is interrupted while it waits, and goes away"),
            Some(Verb::Release) => {
                format!("{name} is interrupted in unlock(): what it sent may be executed all the same")
            }
            Some(Verb::Acquire | Verb::Renew | Verb::Undo) => {
                format!("{name} is interrupted in lock(): what it sent may be executed all the same")
            }
        };
        self.alone(Lane::Thread { client, thread }, "interrupted", Tone::Odd, what)
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
            Slot::Late => of_late().unwrap_or(0),
        };
        Lane::Thread { client, thread }
    }

    /// Whether the thread that asked still lives; a watchdog does with its process.
    fn thread_is_there(&self, client: u8, request: &RequestState) -> bool {
        let threads = &self.before.clients[usize::from(client)].threads;
        request.verb == Verb::Renew || threads.iter().any(|thread| thread.name == request.holder && !thread.is_dead())
    }
}

/// `A's acquire`, `the renewal for A`, `A's earlier acquire`: one that was given up or sent again.
fn whose(request: &RequestState, slot: Slot) -> String {
    let name = &request.holder;
    match slot {
        Slot::Call1 | Slot::Call2 => format!("{name}'s {}", verb(request.verb)),
        Slot::Renewal => format!("the renewal for {name}"),
        Slot::Late => format!("{name}'s earlier {}", verb(request.verb)),
    }
}

const fn verb(verb: Verb) -> &'static str {
    match verb {
        Verb::Acquire => "acquire",
        Verb::Release => "release",
        Verb::Renew => "renewal",
        Verb::Undo => "undo",
    }
}

fn lost(mut beat: Beat) -> Beat {
    if let Some(arrow) = &mut beat.arrow {
        arrow.arrives = false;
    }
    beat
}
