//! What is seen of a trace, line by line: a request is two beats (it is sent, it is answered), everything else is one,
//! and time that passes without anything happening is one beat however long it is. Where the network is split its two
//! beats are steps of their own, with what happens in between (`in_flight`).

mod in_flight;

use lockstep_model::Holder;
use lockstep_model::action::Action;
use lockstep_model::client::Phase;
use lockstep_model::config::{Config, FailedRenewal, MissedRenewal, PromoteRule};
use lockstep_model::trace::{
    ClientState, Hold, NodeRole, NodeState, State, ThreadState, Trace, TraceStep, client_name, holder_name, node_name,
};
use lockstep_model::{Happening, Reply};

use super::paint::Tone;
use super::words::{count, list, stored, time};

mod nodes;

/// A column of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// A client's thread.
    Thread {
        /// Its client.
        client: u8,
        /// Which of its threads.
        thread: u8,
    },
    /// A node, whatever its role.
    Node(u8),
    /// What the lock guards.
    Resource,
}

impl Lane {
    /// The lanes of a scenario, from left to right: half of the clients, what they ask, the other half.
    pub fn all(config: &Config) -> Vec<Self> {
        let left = config.clients.count.div_ceil(2);
        let threads = |clients: core::ops::Range<u8>| {
            clients.flat_map(|client| (0..config.clients.threads).map(move |thread| Self::Thread { client, thread }))
        };
        threads(0..left)
            .chain((0..config.nodes()).map(Self::Node))
            .chain(config.resource.map(|_| Self::Resource))
            .chain(threads(left..config.clients.count))
            .collect()
    }

    /// Its name: `A`, `A:1`, `n1`, `resource`.
    pub fn name(self, config: &Config) -> String {
        match self {
            Self::Thread { client, thread } => holder_name(config, Holder::new(client, thread)),
            Self::Node(node) => node_name(node),
            Self::Resource => "resource".to_owned(),
        }
    }
}

/// One line of the picture.
#[derive(Clone, Debug)]
pub struct Beat {
    /// The number of its first step.
    pub first: usize,
    /// The number of its last step.
    pub last: usize,
    /// Whether it begins these steps, so that their number stands here.
    pub opens: bool,
    /// Whether it ends these steps, so that their state is reached here.
    pub closes: bool,
    /// Ticks since the start.
    pub at_tick: u32,
    /// What some lanes show.
    pub(crate) cells: Vec<(Lane, String, Tone)>,
    /// What is sent.
    pub arrow: Option<Arrow>,
    /// What happens, in a sentence.
    pub what: String,
}

/// Something sent from one lane to another.
#[derive(Clone, Debug)]
pub struct Arrow {
    /// The sender.
    pub from: Lane,
    /// The receiver.
    pub to: Lane,
    /// What is sent, in a word or two.
    pub says: String,
    /// Whether it is an answer.
    pub is_answer: bool,
    /// Whether it gets there.
    pub arrives: bool,
}

impl Beat {
    fn of(step: &TraceStep, what: String) -> Self {
        Self {
            first: step.number,
            last: step.number,
            opens: true,
            closes: true,
            at_tick: step.at_tick,
            cells: Vec::new(),
            arrow: None,
            what,
        }
    }

    fn showing(mut self, lane: Lane, text: impl Into<String>, tone: Tone) -> Self {
        self.cells.push((lane, text.into(), tone));
        self
    }

    fn sending(mut self, from: Lane, to: Lane, says: impl Into<String>) -> Self {
        self.arrow = Some(Arrow { from, to, says: says.into(), is_answer: false, arrives: true });
        self
    }

    fn answering(mut self, from: Lane, to: Lane, says: impl Into<String>) -> Self {
        self.arrow = Some(Arrow { from, to, says: says.into(), is_answer: true, arrives: true });
        self
    }
}

/// The lines of the picture, from the first step to the last.
pub fn beats(trace: &Trace) -> Vec<Beat> {
    let mut beats: Vec<Beat> = Vec::new();
    let mut quiet_since = None;
    for step in &trace.steps {
        let teller = Teller { config: &trace.config, before: trace.state_after(step.number - 1), step };
        let starts_loop = trace.loop_start == Some(step.number - 1);
        if step.action == Action::Tick {
            let goes_on = beats.pop_if(|last| quiet_since == Some(last.last) && !starts_loop);
            beats.push(teller.passing(goes_on.as_ref()));
            // Once something happens the clock is read anew: the reader must see when it was.
            quiet_since = step.happenings.is_empty().then_some(step.number);
        } else {
            beats.extend(teller.beats());
        }
    }
    beats
}

/// What the last step of a trace brings, in sentences. How long it is since the start is left out.
pub fn last_told(trace: &Trace) -> Vec<String> {
    let Some(step) = trace.steps.last() else { return Vec::new() };
    let teller = Teller { config: &trace.config, before: trace.state_after(step.number - 1), step };
    if step.action == Action::Tick {
        return vec![format!("{} pass{}", time(&trace.config, 1), teller.runs_out())];
    }
    teller.beats().into_iter().map(|beat| beat.what).collect()
}

struct Teller<'a> {
    config: &'a Config,
    before: &'a State,
    step: &'a TraceStep,
}

impl Teller<'_> {
    #[expect(clippy::too_many_lines, reason = "an arm an action")]
    fn beats(&self) -> Vec<Beat> {
        let name = &self.step.lane;
        match self.step.action {
            Action::Acquire { client, thread } => {
                let verb = if self.config.time.wait_limit.is_some() { "tryLock()" } else { "lock()" };
                let holds = self.thread_before(client, thread).holds;
                let what = if holds > 0 { format!("{name} asks to enter once more") } else { format!("{name} asks") };
                self.ask(client, thread, verb, what)
            }
            Action::SecondAsk { client, thread } => {
                self.ask(client, thread, "ask again", format!("{name}, subscribed now, asks again"))
            }
            Action::WakeByMessage { client, thread } => {
                self.ask(client, thread, "woken", format!("{name} is woken by the message, and asks"))
            }
            Action::WakeByTimer { client, thread } => {
                self.ask(client, thread, "timer", format!("{name}'s timer fires, and it asks"))
            }
            Action::Subscribe { client, thread } => {
                let node = self.asked(client);
                let what = format!("{name} subscribes to the unlock channel on {}", node_name(node));
                vec![self.one_way(Lane::Thread { client, thread }, Lane::Node(node), "subscribe", what)]
            }
            Action::Resubscribe { client } => {
                let node = self.asked(client);
                let what = format!("{name} lost its subscription with its node, and subscribes on {}", node_name(node));
                vec![self.one_way(Lane::Thread { client, thread: 0 }, Lane::Node(node), "subscribe", what)]
            }
            Action::GiveUp { client, thread } => self.alone(
                Lane::Thread { client, thread },
                "gives up",
                Tone::Odd,
                format!("{name}'s wait limit is over: it goes away"),
            ),
            Action::Confirm { client, thread } if self.config.is_split() => self.end_wait(client, thread),
            Action::Confirm { client, thread } => self.confirm(client, thread),
            Action::Undo { client, thread } => {
                self.release(client, thread, "give back", format!("{name} gives back what too few replicas have"))
            }
            Action::Work { client, thread } => vec![self.work(Lane::Thread { client, thread })],
            Action::Release { client, thread } => {
                let holds = self.thread_before(client, thread).holds;
                let what = if holds > 1 {
                    format!("{name} releases one of {holds} holds")
                } else {
                    format!("{name} releases")
                };
                self.release(client, thread, "unlock()", what)
            }
            Action::ForeignRelease { client, thread } => {
                self.release(client, thread, "unlock()", format!("{name} releases, though it does not hold"))
            }
            Action::ForceRelease { client } => {
                self.release(client, 0, "forceUnlock()", format!("{name} deletes the lock, whoever holds it"))
            }
            Action::Discover { client } => {
                let master = &self.client_after(client).master;
                let what = format!("{name} learns that {master} is the master");
                self.alone(Lane::Thread { client, thread: 0 }, format!("finds {master}"), Tone::Plain, what)
            }
            Action::Resume { client } => self.alone(
                Lane::Thread { client, thread: 0 },
                "resumes",
                Tone::Plain,
                format!("{name} goes on where it stood"),
            ),
            Action::Deliver { client } => {
                let unheard = if self.has(Happening::MessageUnheard) { ", where nobody sleeps" } else { "" };
                let what = format!("the unlock message reaches {name}{unheard}");
                self.alone(Lane::Thread { client, thread: 0 }, "message", Tone::Good, what)
            }
            Action::LoseMessage { client } => {
                let what = format!("an unlock message for {name} is lost");
                self.alone(Lane::Thread { client, thread: 0 }, "x message", Tone::Odd, what)
            }
            Action::Renew { client } => self.renew(client),
            Action::Execute { client, slot } => self.execute(client, slot),
            Action::Register { client, thread } => {
                let what = format!("the grant reaches {name}'s process: the watchdog will renew it");
                self.alone(Lane::Thread { client, thread }, "registered", Tone::Plain, what)
            }
            Action::Unregister { client, thread } => {
                let what = format!("the answer reaches {name}'s process: the watchdog renews one hold less");
                self.alone(Lane::Thread { client, thread }, "unregistered", Tone::Plain, what)
            }
            Action::Answer { client, slot } => self.answer(client, slot),
            Action::Resend { client, slot } => self.resend(client, slot),
            Action::Abandon { client, slot } => self.abandon(client, slot),
            Action::LoseRequest { client, slot } => self.lose_request(client, slot),
            Action::LoseReply { client, slot } => self.lose_reply(client, slot),
            Action::Interrupt { client, thread } => self.interrupt(client, thread),
            Action::Replicate { node } => vec![self.replicate(node)],
            Action::Promote { node } => self.promote(node),
            Action::Resync { node } => self.resync(node),
            Action::Demote { node } => self.demote(node),
            Action::Fsync { node } => self.fsync(node),
            Action::Heal { node } => self.heal(node),
            Action::CrashClient { client } => {
                let mut beat = Beat::of(self.step, format!("{name} crashes, for good{}", self.left_behind(client)));
                for thread in 0..self.config.clients.threads {
                    beat = beat.showing(Lane::Thread { client, thread }, "x crash", Tone::Odd);
                }
                vec![beat]
            }
            Action::CrashThread { client, thread } => {
                let what = format!("the thread {name} dies without a release; its process lives on");
                self.alone(Lane::Thread { client, thread }, "x thread", Tone::Odd, what)
            }
            Action::PauseClient { client } => {
                let what = format!("{name} stands still; its timers go overdue");
                self.alone(Lane::Thread { client, thread: 0 }, "paused", Tone::Odd, what)
            }
            Action::CrashNode { node } => self.crash_node(node),
            Action::HandOver { node } => self.hand_over(node),
            Action::RestartNode { node } => self.restart_node(node),
            Action::CutLink { node } => self.cut_link(node),
            Action::VanishKey { node } => self.vanish_key(node),
            Action::ClockJump { node } => self.clock_jump(node),
            Action::ClientClockJump { client } => self.client_clock_jump(client),
            Action::Tick => vec![self.passing(None)],
        }
    }

    /// One request for the lock and its answer.
    fn ask(&self, client: u8, thread: u8, verb: &str, what: String) -> Vec<Beat> {
        let (caller, node) = (Lane::Thread { client, thread }, self.asked(client));
        let (name, master) = (&self.step.lane, node_name(node));
        let after = self.thread_after(client, thread);
        let (says, tone, answer) = match self.step.answer {
            Reply::Acquired if after.phase == Phase::Confirming => {
                let answer = format!("{master} grants{}; {name} asks how many have it", self.replicas_know());
                ("granted".to_owned(), Tone::Plain, answer)
            }
            Reply::Acquired if self.has(Happening::Reentered) => {
                let answer = format!(
                    "{master} counts {} and makes the lease whole",
                    count(self.hold_count_on(node).into(), "hold")
                );
                (format!("HOLDS x{}", after.holds), Tone::Good, answer + &self.replicas_know())
            }
            Reply::Acquired => {
                let answer = format!("{master} grants{}{}", self.replicas_know(), self.others_believe(name));
                ("HOLDS".to_owned(), Tone::Good, answer)
            }
            Reply::Busy { remaining_ticks } => {
                let holder = self.holder_on(node).unwrap_or("somebody");
                let (says, life) = match remaining_ticks {
                    Some(ticks) => {
                        let left = time(self.config, ticks.into());
                        (format!("busy {left}"), format!("for {left} more unless renewed"))
                    }
                    None => ("busy".to_owned(), "and it has no TTL".to_owned()),
                };
                (says, Tone::Odd, format!("{master} refuses: {holder} has it, {life}{}", self.then_sleeps(name, after)))
            }
            Reply::NotEnoughReplicas | Reply::ReadOnly => self.refuses_to_write(node),
            other => (super::words::reply(self.config, other), Tone::Plain, format!("{master} answers")),
        };
        self.request(caller, node, verb, what, (says, tone, answer))
    }

    /// `WAIT` and its answer.
    fn confirm(&self, client: u8, thread: u8) -> Vec<Beat> {
        let (caller, node) = (Lane::Thread { client, thread }, self.asked(client));
        let (name, master) = (&self.step.lane, node_name(node));
        let what = format!("{name} hears from {master}");
        let told = match self.step.answer {
            Reply::Acknowledged { replicas } => {
                let have = format!(
                    "{} acknowledged the grant{}",
                    count(replicas.into(), "replica"),
                    self.others_believe(name)
                );
                ("HOLDS".to_owned(), Tone::Good, have)
            }
            Reply::TooFewReplicas { replicas } => {
                let have =
                    if replicas == 0 { "no replica".to_owned() } else { count(replicas.into(), "replica") + " only" };
                (
                    format!("{replicas} have it"),
                    Tone::Odd,
                    format!("{have} acknowledged the grant: {name} must give it back"),
                )
            }
            other => (super::words::reply(self.config, other), Tone::Plain, format!("{master} answers")),
        };
        self.request(caller, node, "WAIT", what, told)
    }

    /// A node that does not write.
    fn refuses_to_write(&self, node: u8) -> (String, Tone, String) {
        let name = node_name(node);
        if self.step.answer == Reply::ReadOnly {
            return ("read only".to_owned(), Tone::Odd, format!("{name} writes nothing: it is a replica by now"));
        }
        let answer = format!("{name} writes nothing: it has heard of too few replicas lately");
        ("no replicas".to_owned(), Tone::Odd, answer)
    }

    /// One release request and its answer.
    fn release(&self, client: u8, thread: u8, verb: &str, what: String) -> Vec<Beat> {
        let (caller, node) = (Lane::Thread { client, thread }, self.asked(client));
        let (name, master) = (&self.step.lane, node_name(node));
        let (says, tone, answer) = match self.step.answer {
            Reply::Released | Reply::ForceReleased => {
                let answer = format!("{master} deletes the lock{}{}", self.then_publishes(), self.replicas_know());
                ("released".to_owned(), Tone::Good, answer)
            }
            Reply::StillHeld => {
                let left = count(self.hold_count_on(node).into(), "hold");
                let answer = format!("{master} keeps {left}, and makes the lease whole{}", self.replicas_know());
                (format!("keeps x{}", self.hold_count_on(node)), Tone::Good, answer)
            }
            Reply::NotHeld => {
                let stores = self
                    .holder_on(node)
                    .map_or_else(|| "stores no lock".to_owned(), |holder| format!("stores {holder}"));
                let told = if self.thread_before(client, thread).holds > 0 {
                    format!("; {name} is told, and believes no more")
                } else {
                    String::new()
                };
                ("not held".to_owned(), Tone::Odd, format!("{master} {stores}: nothing changes{told}"))
            }
            Reply::NothingToRelease => {
                ("no lock".to_owned(), Tone::Plain, format!("{master} stores no lock: nothing changes"))
            }
            Reply::NotEnoughReplicas | Reply::ReadOnly => self.refuses_to_write(node),
            other => (super::words::reply(self.config, other), Tone::Plain, format!("{master} answers")),
        };
        self.request(caller, node, verb, what, (says, tone, answer))
    }

    fn renew(&self, client: u8) -> Vec<Beat> {
        let (name, node) = (&self.step.lane, self.asked(client));
        let thread = self.renewed_thread(client);
        let (caller, master) = (Lane::Thread { client, thread }, node_name(node));
        let sent = format!("{name}'s watchdog renews");
        match self.step.answer {
            Reply::NothingToRenew => self.alone(
                caller,
                "timer ends",
                Tone::Plain,
                format!("{name}'s watchdog has nothing to renew, and stops"),
            ),
            Reply::Unreachable => {
                let then = match self.config.protocol.failed_renewal {
                    FailedRenewal::Retry => "it will try again",
                    FailedRenewal::Forget => "it forgets the lock, and never renews it again",
                };
                let mut beat = self.one_way(caller, Lane::Node(node), "renew", format!("{sent}: no answer; {then}"));
                if let Some(arrow) = &mut beat.arrow {
                    arrow.arrives = false;
                }
                vec![beat]
            }
            Reply::RenewalMissed => {
                let stores =
                    self.holder_on(node).map_or_else(|| "no lock".to_owned(), |holder| format!("{holder} as holder"));
                let then = match self.config.protocol.missed_renewal {
                    MissedRenewal::LowerFirst => "the watchdog lowers its count, and tells nobody".to_owned(),
                    MissedRenewal::StopTimer => "the watchdog stops, and tells nobody".to_owned(),
                    MissedRenewal::TellHolder if self.has(Happening::HolderTold) => {
                        format!("{name} is told, and believes no more")
                    }
                    MissedRenewal::TellHolder => "the watchdog forgets it".to_owned(),
                };
                let answer = format!("{master} stores {stores}: nothing changes; {then}");
                self.request(caller, node, "renew", sent, ("missed".to_owned(), Tone::Odd, answer))
            }
            Reply::NotEnoughReplicas | Reply::ReadOnly => {
                let (says, tone, answer) = self.refuses_to_write(node);
                let then = match self.config.protocol.failed_renewal {
                    FailedRenewal::Retry => "the watchdog will try again",
                    FailedRenewal::Forget => "the watchdog forgets the lock",
                };
                self.request(caller, node, "renew", sent, (says, tone, format!("{answer}; {then}")))
            }
            other => {
                let answer = format!("{master} makes the lease whole{}", self.replicas_know());
                self.request(caller, node, "renew", sent, (super::words::reply(self.config, other), Tone::Good, answer))
            }
        }
    }

    /// The thread whose lane shows what the watchdog does.
    fn renewed_thread(&self, client: u8) -> u8 {
        let first = self.before.clients[usize::from(client)].renewal_counts.iter().position(|count| *count > 0);
        first.and_then(|thread| u8::try_from(thread).ok()).unwrap_or(0)
    }

    fn work(&self, caller: Lane) -> Beat {
        let name = &self.step.lane;
        let is_stale = self.has(Happening::StaleEffect);
        let (shows, tone, what) = match self.step.answer {
            Reply::Rejected => (
                "REFUSES",
                Tone::Odd,
                format!("the resource refuses {name}'s effect: it has seen a newer fencing token"),
            ),
            _ if is_stale => {
                ("ACCEPTS", Tone::Bad, format!("the resource accepts {name}'s effect after one of a later holder"))
            }
            _ => ("accepts", Tone::Good, format!("the resource accepts {name}'s effect")),
        };
        self.one_way(caller, Lane::Resource, "work()", what).showing(Lane::Resource, shows, tone)
    }

    fn replicate(&self, node: u8) -> Beat {
        let text = self.stored_on(node).unwrap_or_else(|| "empty".to_owned());
        let left = match self.node_after(node).under_way.len() {
            0 => String::new(),
            left => format!("; {} still under way to it", count(left, "effect")),
        };
        let name = &self.step.lane;
        let Some(master) = self.acting_master() else {
            return Beat::of(self.step, format!("{name} applies the next effect{left}")).showing(
                Lane::Node(node),
                text,
                Tone::Plain,
            );
        };
        let what = format!("{name} applies the next effect of {}{left}", node_name(master));
        self.one_way(Lane::Node(master), Lane::Node(node), "effect", what).showing(Lane::Node(node), text, Tone::Plain)
    }

    fn promote(&self, node: u8) -> Vec<Beat> {
        self.taken_over(node, "is promoted")
    }

    fn taken_over(&self, node: u8, how: &str) -> Vec<Beat> {
        let name = &self.step.lane;
        let stored = self.stored_on(node);
        let knows = match (&stored, self.has(Happening::GrantLost)) {
            (Some(_), false) => ", and has the lock stored",
            (Some(_), true) => ": the newest grant is gone, it stores an older one",
            (None, true) => ": the grant is gone",
            (None, false) => ", and stores no lock",
        };
        let text = format!("MASTER {}", stored.as_deref().unwrap_or("(empty)"));
        self.alone(Lane::Node(node), text, Tone::Strong, format!("{name} {how}{knows}"))
    }

    fn hand_over(&self, node: u8) -> Vec<Beat> {
        if self.config.cluster.promote == PromoteRule::Coordinated {
            return self.taken_over(node, "has everything and takes over: the old master follows it");
        }
        self.taken_over(node, "is promoted while the master runs")
    }

    /// Time passes; `earlier` is the beat of the ticks just before, when nothing happened in them.
    fn passing(&self, earlier: Option<&Beat>) -> Beat {
        let first = earlier.map_or(self.step.number, |beat| beat.first);
        let from = earlier.map_or(self.step.at_tick, |beat| beat.at_tick);
        let (to, runs_out) = (self.step.at_tick + 1, self.runs_out());
        let what = format!("{} → {}{runs_out}", time(self.config, from), time(self.config, to));
        let mut beat = Beat { first, at_tick: from, ..Beat::of(self.step, what) };
        for node in 0..self.config.nodes() {
            let was_stored = self.before.nodes[usize::from(node)].stored.is_held();
            if let Some(lock) = self.stored_on(node) {
                beat = beat.showing(Lane::Node(node), lock, Tone::Plain);
            } else if was_stored {
                beat = beat.showing(Lane::Node(node), "expired", Tone::Odd);
            }
        }
        beat
    }

    /// Of a tick: whose lease it ends.
    fn runs_out(&self) -> String {
        if !self.has(Happening::Expired) {
            return String::new();
        }
        let holder = self.before.nodes.iter().find_map(|node| Some(node.stored.holder()?.holder.as_str()));
        format!(": the lease of {} runs out, the lock expires", holder.unwrap_or("the holder"))
    }

    /// A request to a node, and its answer.
    fn request(&self, caller: Lane, node: u8, verb: &str, what: String, answer: (String, Tone, String)) -> Vec<Beat> {
        if self.step.answer == Reply::Done {
            // It is on its way: what comes of it are steps of their own.
            return vec![self.one_way(caller, Lane::Node(node), verb, what)];
        }
        let (says, tone, answered) = answer;
        let shows = self.stored_on(node).unwrap_or_else(|| "empty".to_owned());
        let sent = Beat { closes: false, ..self.one_way(caller, Lane::Node(node), verb, what) };
        let answered = Beat { opens: false, ..Beat::of(self.step, answered) }
            .showing(caller, &says, tone)
            .showing(Lane::Node(node), shows, Tone::Plain)
            .answering(Lane::Node(node), caller, says);
        vec![sent, answered]
    }

    fn one_way(&self, from: Lane, to: Lane, says: &str, what: String) -> Beat {
        let beat = Beat::of(self.step, what).sending(from, to, says);
        // A node sends its effects without a word.
        if matches!(from, Lane::Node(_)) { beat } else { beat.showing(from, says, Tone::Plain) }
    }

    fn alone(&self, lane: Lane, text: impl Into<String>, tone: Tone, what: String) -> Vec<Beat> {
        vec![Beat::of(self.step, what).showing(lane, text, tone)]
    }

    /// What the replicas have of what the master has just written.
    fn replicas_know(&self) -> String {
        if !self.has(Happening::Wrote) {
            return String::new();
        }
        let replicas: Vec<_> = self.step.state.nodes.iter().filter(|node| node.role == NodeRole::Replica).collect();
        let late: Vec<_> =
            replicas.iter().filter(|node| !node.under_way.is_empty()).map(|node| node.name.as_str()).collect();
        let have = if late.len() == 1 { "has" } else { "have" };
        match (replicas.len(), late.len()) {
            (0, _) => String::new(),
            (_, 0) => "; the replicas have it at once".to_owned(),
            (_, _) => format!("; {} {have} not seen it", list(&late)),
        }
    }

    /// Who else thinks that it holds.
    fn others_believe(&self, name: &str) -> String {
        let others: Vec<_> =
            self.step.state.believers().map(|thread| thread.name.as_str()).filter(|other| *other != name).collect();
        match others.as_slice() {
            [] => String::new(),
            [_] => format!("; {} still believes it holds", list(&others)),
            _ => format!("; {} still believe they hold", list(&others)),
        }
    }

    fn then_sleeps(&self, name: &str, after: &ThreadState) -> String {
        if !self.has(Happening::FellAsleep) {
            return if self.config.waits() { String::new() } else { format!("; {name} goes away") };
        }
        let message = if self.config.lock.facts().publishes() { "until a message comes" } else { "" };
        match after.wake_in.map(|ticks| time(self.config, ticks.into())) {
            Some(left) if message.is_empty() => format!("; {name} sleeps for {left}"),
            Some(left) => format!("; {name} sleeps {message}, or for {left}"),
            None => format!("; {name} sleeps {message}"),
        }
    }

    fn then_publishes(&self) -> String {
        if !self.has(Happening::Published) {
            return String::new();
        }
        let gets = |(before, after): (&ClientState, &ClientState)| {
            (after.messages > before.messages).then(|| after.name.clone())
        };
        let to: Vec<_> = self.before.clients.iter().zip(&self.step.state.clients).filter_map(gets).collect();
        if to.is_empty() {
            ", and publishes it to nobody".to_owned()
        } else {
            format!(", and a message sets out to {}", list(&to))
        }
    }

    /// What a crashed client leaves in Redis.
    fn left_behind(&self, client: u8) -> String {
        let name = client_name(client);
        let mut holders = self.step.state.nodes.iter().flat_map(|node| &node.stored.holders);
        let is_stored = holders.any(|hold| hold.holder.starts_with(name));
        if is_stored { "; what it holds stays until it expires".to_owned() } else { String::new() }
    }

    fn has(&self, happening: Happening) -> bool {
        self.step.happenings.contains(&happening)
    }

    /// The node that a client's request goes to.
    fn asked(&self, client: u8) -> u8 {
        let name = &self.before.clients[usize::from(client)].master;
        (0..self.config.nodes()).find(|node| node_name(*node) == *name).unwrap_or(0)
    }

    fn acting_master(&self) -> Option<u8> {
        let acting = &self.step.state.acting_master()?.name;
        (0..self.config.nodes()).find(|node| node_name(*node) == *acting)
    }

    fn stored_on(&self, node: u8) -> Option<String> {
        self.hold_on(node).map(|hold| stored(self.config, hold))
    }

    fn holder_on(&self, node: u8) -> Option<&str> {
        self.hold_on(node).map(|hold| hold.holder.as_str())
    }

    fn hold_count_on(&self, node: u8) -> u8 {
        self.hold_on(node).map_or(0, |hold| hold.count)
    }

    fn hold_on(&self, node: u8) -> Option<&Hold> {
        self.node_after(node).stored.holder()
    }

    fn node_after(&self, node: u8) -> &NodeState {
        &self.step.state.nodes[usize::from(node)]
    }

    fn client_after(&self, client: u8) -> &ClientState {
        &self.step.state.clients[usize::from(client)]
    }

    fn thread_after(&self, client: u8, thread: u8) -> &ThreadState {
        &self.client_after(client).threads[usize::from(thread)]
    }

    fn thread_before(&self, client: u8, thread: u8) -> &ThreadState {
        &self.before.clients[usize::from(client)].threads[usize::from(thread)]
    }
}
