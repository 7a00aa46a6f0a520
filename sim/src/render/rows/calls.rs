//! Requests to a node and what it answers, where both are one step.

use lockstep_model::client::Phase;
use lockstep_model::config::{FailedRenewal, HeldQuery, MissedRenewal, Resource};
use lockstep_model::trace::{NodeRole, SlotMove, lock_name, node_name};
use lockstep_model::{Action, Happening, Reply};

use super::super::holds::{lock, overwritten};
use super::super::paint::Tone;
use super::super::replies::{enough, reply, too_few};
use super::super::units::{count, lasting_ticks, time};
use super::lane::Lane;
use super::narrator::Narrator;
use super::row::Row;

/// The second command of an acquire by two.
pub(super) const SET_TTL: &str = "PEXPIRE";
/// The question whether a thread holds.
const IS_HELD: &str = "isHeldByCurrentThread()";
/// What a waiter does whose limit is over.
pub(super) const GIVES_UP: &str = "gives up";

impl Narrator<'_> {
    /// One request for the lock, and its answer.
    pub(super) fn ask(&self, client: u8, thread: u8, call: &str, what: String) -> Vec<Row> {
        let (caller, node) = (Lane::Thread { client, thread }, self.asked(client));
        let (name, master) = (&self.step.lane, self.answering(node));
        let after = self.thread_after(client, thread);
        let (says, tone, answer) = match self.step.answer {
            Reply::Acquired if after.phase == Phase::Confirming => {
                let answer = format!("{master} grants{}; {name} asks how many replicas have it", self.replicas_know());
                ("granted".to_owned(), Tone::Plain, answer)
            }
            Reply::Acquired if self.config.has_parts() && !after.believes() => {
                let then = self.after_part(client, thread);
                let says = if after.phase == Phase::GivingBack { "too late" } else { "has a part" };
                (says.to_owned(), Tone::Plain, format!("{master} grants{then}{}", self.replicas_know()))
            }
            Reply::Acquired if after.phase == Phase::SettingTtl => {
                let answer = format!("{master} grants, and the lock has no TTL yet{}", self.replicas_know());
                ("granted".to_owned(), Tone::Plain, answer)
            }
            Reply::Acquired if self.has(Happening::Reentered) && self.config.shares() => {
                let stores = lock(self.config, &self.node_after(node).stored);
                let answer = format!("{master} counts one hold more, and stores {stores}{}", self.replicas_know());
                (format!("HOLDS x{}", after.holds), Tone::Good, answer)
            }
            Reply::Acquired if self.has(Happening::Reentered) => {
                let answer = format!(
                    "{master} counts {} and restarts the lease",
                    count(self.hold_count_on(node).into(), "hold")
                );
                let answer = answer + &self.token_granted(client, node);
                (format!("HOLDS x{}", after.holds), Tone::Good, answer + &self.replicas_know())
            }
            Reply::Acquired => {
                let waits_for = self.waits_for_none(client, name);
                let token = self.token_granted(client, node);
                let removes = self.removes_by_clock(client, node).map(|removes| format!("{removes}, and "));
                let answer = format!(
                    "{master} {}grants{token}{}{waits_for}{}",
                    removes.unwrap_or_default(),
                    self.replicas_know(),
                    self.others_believe(name)
                );
                ("HOLDS".to_owned(), Tone::Good, answer)
            }
            Reply::Busy { .. } if after.believes() && !self.thread_before(client, thread).believes() => {
                let holder = self.holder_on(node).unwrap_or("somebody");
                let answer = format!(
                    "{master} answers -1, the TTL of {holder}'s lock, which has none; {name} takes that for a grant with the token -1"
                );
                ("HOLDS".to_owned(), Tone::Bad, answer)
            }
            Reply::Busy { remaining_ticks } => {
                let why = self.why_busy(node, remaining_ticks);
                let then = self.then_sleeps(name, after);
                (self.label(), Tone::Odd, format!("{master} refuses: {why}{then}"))
            }
            Reply::NotEnoughReplicas | Reply::SaveFailed | Reply::TryAgain | Reply::ReadOnly => {
                self.refuses_to_write(node)
            }
            Reply::WrongType => self.finds_no_lock(node),
            other => (reply(self.config, other), Tone::Plain, format!("{master} answers")),
        };
        self.request(caller, node, call, what, (says, tone, answer))
    }

    /// A client asks for its next part of the lock.
    pub(super) fn next_part(&self, client: u8, thread: u8) -> Vec<Row> {
        let (name, before) = (&self.step.lane, self.thread_before(client, thread));
        let again = match (before.in_later_round, before.wait_left) {
            (true, None) => ", in a later round of its call, which does not end by itself",
            (true, Some(_)) => ", in a later round of its call",
            (false, _) => "",
        };
        self.ask(client, thread, "next part", format!("{name} is the next part, and is asked for{again}"))
    }

    /// A client gives back its next part of the lock.
    pub(super) fn give_back(&self, client: u8, thread: u8) -> Vec<Row> {
        self.release(client, thread, "give back", format!("{} is the next part, and is given back", self.step.lane))
    }

    /// A waiter's limit is over; where there is a queue it leaves that.
    pub(super) fn give_up(&self, client: u8, thread: u8) -> Vec<Row> {
        let before = self.thread_before(client, thread);
        let what = if before.phase == Phase::NextPart && before.wait_left.is_none() {
            format!("{}'s master does not answer: the call ends without the lock", self.step.lane)
        } else if self.own().takes_in_rounds() {
            format!("{}'s round is over: it stops waiting for this part", self.step.lane)
        } else {
            format!("{}'s wait limit is over: it stops waiting", self.step.lane)
        };
        if self.step.answer == Reply::Done {
            return self.alone(Lane::Thread { client, thread }, GIVES_UP, Tone::Odd, what);
        }
        self.leave_queue((client, thread), GIVES_UP, what)
    }

    /// A waiter that stops waiting takes its place out of the queue.
    pub(super) fn leave_queue(&self, (client, thread): (u8, u8), shows: &'static str, what: String) -> Vec<Row> {
        let (caller, node) = (Lane::Thread { client, thread }, self.asked(client));
        let master = node_name(node);
        let (says, tone, answer) = match self.step.answer {
            Reply::Unreachable => {
                let vain =
                    format!("{what}; {master} does not answer, so its place in the queue stays until its deadline");
                return vec![self.one_way(caller, Lane::Node(node), shows, vain).lost()];
            }
            Reply::NotEnoughReplicas | Reply::SaveFailed | Reply::TryAgain | Reply::ReadOnly => {
                self.refuses_to_write(node)
            }
            _ => {
                let answer = format!("{master} takes it out of the queue{}", self.replicas_know());
                (self.label(), Tone::Plain, answer)
            }
        };
        self.request(caller, node, shows, what, (says, tone, answer))
    }

    /// What a call does after it was granted a part, and has not all of them.
    fn after_part(&self, client: u8, thread: u8) -> String {
        let threads = &self.client_after(client).threads;
        let is_in = |phase: Phase| threads.iter().any(|one| one.phase == phase);
        if is_in(Phase::GivingBack) {
            return "; the time of the call is over, and all is given back".to_owned();
        }
        if is_in(Phase::SettingTtl) {
            return "; that was the last part, and the lease of each is set now".to_owned();
        }
        let next = threads
            .iter()
            .enumerate()
            .find(|(number, one)| *number != usize::from(thread) && one.phase == Phase::NextPart);
        next.map_or_else(String::new, |(_, next)| format!("; {} is next", next.name))
    }

    /// Why a node refuses an acquire.
    fn why_busy(&self, node: u8, remaining_ticks: Option<u8>) -> String {
        let Some(holder) = self.holder_on(node) else {
            let first = self.node_after(node).stored.queue().first();
            return first
                .map_or_else(|| "the lock is free".to_owned(), |first| format!("{first} is next in the queue"));
        };
        let left_ms = self.hold_on(node).and_then(|hold| hold.ttl_ms);
        let ticks_left = left_ms.map(|ms| ms.div_ceil(self.config.time.tick_ms.into()));
        match remaining_ticks {
            // Whoever is behind others in a queue is told of the last deadline there.
            Some(ticks) if self.config.lock.facts().queue.is_there() && ticks_left != Some(ticks.into()) => {
                format!(
                    "{holder} has it; the last one before it in the queue may wait for {}",
                    time(self.config, ticks.into())
                )
            }
            Some(ticks) => {
                format!("{holder} has it, for {} more unless renewed", lasting_ticks(self.config, ticks.into()))
            }
            // A caller of a queue that does not wait is told no time.
            None if self.hold_on(node).is_some_and(|hold| hold.ttl_ms.is_some()) => format!("{holder} has it"),
            None => format!("{holder} has it, and it has no TTL"),
        }
    }

    /// The token that comes with a grant of this node, if the client asks for that.
    fn token_granted(&self, client: u8, node: u8) -> String {
        let token = self.node_after(node).stored.token_counter();
        // Ideal tokens are others than those that the lock stores.
        let is_ideal = self.config.resource.is_some_and(Resource::is_fenced) && !self.config.has_stored_tokens();
        let is_told = self.config.of_client(client).tokens_come_with_grants() && !is_ideal;
        token.filter(|_| is_told).map_or_else(String::new, |token| format!(" with token {token}"))
    }

    /// A holder reads its token from the counter.
    pub(super) fn read_token(&self, client: u8, thread: u8) -> Vec<Row> {
        let (caller, node) = (Lane::Thread { client, thread }, self.asked(client));
        let (name, master) = (&self.step.lane, self.answering(node));
        let what = format!("{name} reads its fencing token");
        let is_foreign = self.holder_on(node).is_none_or(|holder| holder != name);
        let says = reply(self.config, self.step.answer);
        let (tone, whose) = if is_foreign { (Tone::Odd, ", which is not of its own grant") } else { (Tone::Plain, "") };
        let answer = format!("{master} answers {says}{whose}");
        self.request(caller, node, "getToken()", what, (says, tone, answer))
    }

    /// A thread that was refused asks whether it holds all the same.
    pub(super) fn ask_if_held(&self, client: u8, thread: u8) -> Vec<Row> {
        let (caller, node) = (Lane::Thread { client, thread }, self.asked(client));
        let (name, master) = (&self.step.lane, self.answering(node));
        let what = format!("{name} asks whether it holds");
        if self.step.answer == Reply::Unreachable {
            let vain = format!("{what}: {master} does not answer, and {name} goes on without the lock");
            return vec![self.one_way(caller, Lane::Node(node), IS_HELD, vain).lost()];
        }
        let (says, tone, answer) = match self.step.answer {
            Reply::SaysHeld => {
                let checks_none = match self.own().protocol.held_query {
                    HeldQuery::LaterValues => self.own().clients.values.numbers().count() == 1,
                    HeldQuery::EveryValue => false,
                };
                let why = if checks_none { ", because it does not check the first value" } else { "" };
                (
                    "HOLDS".to_owned(),
                    Tone::Good,
                    format!("{master} says that it does{why}{}", self.others_believe(name)),
                )
            }
            _ => ("not held".to_owned(), Tone::Plain, format!("{master} says that it does not")),
        };
        self.request(caller, node, IS_HELD, what, (says, tone, answer))
    }

    /// The second command of an acquire, and its answer.
    pub(super) fn set_ttl(&self, client: u8, thread: u8) -> Vec<Row> {
        let (caller, node) = (Lane::Thread { client, thread }, self.asked(client));
        let (name, master) = (&self.step.lane, self.answering(node));
        let what = format!("{name} sets the TTL of the lock");
        let (says, tone, answer) = match self.step.answer {
            Reply::TtlSet => {
                let whose = match self.holder_on(node) {
                    Some(holder) if holder != name => format!("sets the TTL of {holder}'s lock"),
                    _ => "sets it".to_owned(),
                };
                if self.config.has_parts() && !self.thread_after(client, thread).believes() {
                    return self.request(
                        caller,
                        node,
                        SET_TTL,
                        what,
                        ("lease set".to_owned(), Tone::Plain, format!("{master} {whose}")),
                    );
                }
                ("HOLDS".to_owned(), Tone::Good, format!("{master} {whose}{}", self.others_believe(name)))
            }
            Reply::NoTtlSet if self.config.has_parts() && !self.thread_after(client, thread).believes() => {
                let answer = format!("{master} stores no such lock; {name} does not look at the answer");
                ("none set".to_owned(), Tone::Odd, answer)
            }
            Reply::NoTtlSet => {
                let others = self.others_believe(name);
                let answer = format!(
                    "{master} stores no lock; {name} does not look at the answer, and believes it holds{others}"
                );
                ("HOLDS".to_owned(), Tone::Odd, answer)
            }
            Reply::NotEnoughReplicas | Reply::SaveFailed | Reply::TryAgain | Reply::ReadOnly => {
                self.refuses_to_write(node)
            }
            other => {
                (reply(self.config, other), Tone::Odd, format!("{master} does not answer: the call of {name} fails"))
            }
        };
        self.request(caller, node, SET_TTL, what, (says, tone, answer))
    }

    /// That a client which is to confirm its grants does not, since it knows of no replica.
    fn waits_for_none(&self, client: u8, name: &str) -> String {
        let known = self.step.state.clients.get(usize::from(client)).and_then(|client| client.replicas_known);
        if known == Some(0) { format!("; {name} knows of no replica and waits for none") } else { String::new() }
    }

    /// `WAIT` and its answer.
    pub(super) fn confirm(&self, client: u8, thread: u8) -> Vec<Row> {
        let (caller, node) = (Lane::Thread { client, thread }, self.asked(client));
        let (name, master) = (&self.step.lane, self.answering(node));
        let what = format!("{name} asks {master} how many replicas have the grant");
        let answer = match self.step.answer {
            Reply::Acknowledged { replicas } => {
                let have = enough(self.config, client, replicas) + &self.others_believe(name);
                ("HOLDS".to_owned(), Tone::Good, have)
            }
            Reply::TooFewReplicas { replicas } => {
                let have = too_few(replicas);
                let then = if self.own().keeps_unacknowledged_grants() {
                    format!("{name}'s call fails, and the lock stays as it is until its lease ends")
                } else {
                    format!("{name} must release it")
                };
                (self.label(), Tone::Odd, format!("{have} acknowledged the grant: {then}"))
            }
            other => (reply(self.config, other), Tone::Plain, format!("{master} answers")),
        };
        self.request(caller, node, "WAIT", what, answer)
    }

    /// Who answers a request that was sent to a node: of a slot that is being moved the one to which the client is sent on.
    fn answering(&self, node: u8) -> String {
        let has_moved = self.node_after(node).slot_move == Some(SlotMove::KeysMoved);
        if has_moved { "the other master".to_owned() } else { node_name(node) }
    }

    /// A node refuses to write.
    pub(super) fn refuses_to_write(&self, node: u8) -> (String, Tone, String) {
        let why = match self.step.answer {
            Reply::ReadOnly => "it is a replica now",
            Reply::SaveFailed => "its last save failed",
            Reply::TryAgain if matches!(self.step.action, Action::Renew { .. } | Action::RenewAcknowledged { .. }) => {
                "the slot is being moved, and not all keys of the request are there"
            }
            Reply::TryAgain => {
                "the slot is being moved, and not all keys of the request are there; the call ends with an exception, and nothing changes"
            }
            _ => "it has not heard of enough replicas recently",
        };
        (self.label(), Tone::Odd, format!("{} does not write: {why}{}", self.answering(node), self.then_publishes()))
    }

    /// A node finds a key of another type where a lock should be.
    pub(super) fn finds_no_lock(&self, node: u8) -> (String, Tone, String) {
        let found = overwritten(self.config, &self.node_after(node).stored);
        let found = found.unwrap_or_else(|| "a key is a string".to_owned());
        (self.label(), Tone::Odd, format!("{} fails: {found}, and no lock", node_name(node)))
    }

    /// One release request and its answer.
    pub(super) fn release(&self, client: u8, thread: u8, call: &str, what: String) -> Vec<Row> {
        let (caller, node) = (Lane::Thread { client, thread }, self.asked(client));
        let (name, master) = (&self.step.lane, self.answering(node));
        let is_dead = self.before.nodes[usize::from(node)].role == NodeRole::Down;
        if self.step.answer == Reply::Unreachable {
            let vain = format!(
                "{what}: {master} does not answer, so what is stored stays; {name} does not count on it any more"
            );
            return vec![self.one_way(caller, Lane::Node(node), call, vain).lost()];
        }
        if self.step.answer == Reply::Done && is_dead {
            return vec![self.one_way(caller, Lane::Node(node), call, format!("{what}: {master} is dead")).lost()];
        }
        let (says, tone, answer) = match self.step.answer {
            Reply::Released if self.config.shares() && self.node_after(node).stored.is_held() => {
                let stores = lock(self.config, &self.node_after(node).stored);
                let answer = format!("{master} now stores {stores}; readers may join, but nothing is published");
                (self.label(), Tone::Good, answer + &self.replicas_know())
            }
            Reply::Released if self.config.names_values() && self.node_after(node).stored.is_held() => {
                let stores = lock(self.config, &self.node_after(node).stored);
                let answer =
                    format!("{master} frees the values that {name} names, stores {stores}{}", self.then_publishes());
                (self.label(), Tone::Good, answer + &self.replicas_know())
            }
            Reply::Released | Reply::ForceReleased => {
                let answer = format!("{master} deletes the lock{}{}", self.then_publishes(), self.replicas_know());
                (self.label(), Tone::Good, answer)
            }
            Reply::StillHeld if self.config.shares() => {
                let stores = lock(self.config, &self.node_after(node).stored);
                let answer = format!("{master} counts one hold less, and stores {stores}{}", self.replicas_know());
                ("one less".to_owned(), Tone::Good, answer)
            }
            Reply::StillHeld => {
                let left = count(self.hold_count_on(node).into(), "hold");
                let answer = format!("{master} keeps {left}, and restarts the lease{}", self.replicas_know());
                (format!("keeps x{}", self.hold_count_on(node)), Tone::Good, answer)
            }
            Reply::NotHeld => {
                let stores = self
                    .holder_on(node)
                    .map_or_else(|| "stores no lock".to_owned(), |holder| format!("stores {holder}"));
                let then = if self.thread_before(client, thread).holds > 0 {
                    format!("; {name} is notified and drops its belief")
                } else {
                    String::new()
                };
                (self.label(), Tone::Odd, format!("{master} {stores}: nothing changes{then}"))
            }
            Reply::NothingToRelease => (self.label(), Tone::Plain, format!("{master} stores no lock: nothing changes")),
            Reply::NotEnoughReplicas | Reply::SaveFailed | Reply::TryAgain | Reply::ReadOnly => {
                self.refuses_to_write(node)
            }
            Reply::WrongType => self.finds_no_lock(node),
            other => (reply(self.config, other), Tone::Plain, format!("{master} answers")),
        };
        self.request(caller, node, call, what, (says, tone, answer))
    }

    pub(super) fn renew(&self, client: u8) -> Vec<Row> {
        let (name, node) = (&self.step.lane, self.asked(client));
        let thread = self.renewed_thread(client);
        let (caller, master) = (Lane::Thread { client, thread }, self.answering(node));
        let (call, sent) = (self.own().call_names(thread).renew, format!("{name}'s watchdog renews"));
        match self.step.answer {
            Reply::NothingToRenew => self.alone(
                caller,
                self.label(),
                Tone::Plain,
                format!("{name}'s watchdog has nothing to renew, and stops"),
            ),
            Reply::Unreachable => {
                let then = match self.own().protocol.failed_renewal {
                    FailedRenewal::Retry => "the watchdog will try again",
                    FailedRenewal::Release => "the client will try again",
                    FailedRenewal::Forget => "the watchdog forgets the lock and never renews it again",
                };
                vec![self.one_way(caller, Lane::Node(node), call, format!("{sent}: no answer; {then}")).lost()]
            }
            Reply::RenewalMissed => {
                let stores =
                    self.holder_on(node).map_or_else(|| "no lock".to_owned(), |holder| format!("{holder} as holder"));
                let then = match self.own().protocol.missed_renewal {
                    MissedRenewal::LowerFirst => "the watchdog lowers its count and notifies nobody".to_owned(),
                    MissedRenewal::StopTimer => "the watchdog stops and notifies nobody".to_owned(),
                    MissedRenewal::Forget => "the watchdog forgets every thread's holds and notifies nobody".to_owned(),
                    MissedRenewal::TellHolder if self.has(Happening::HolderTold) => {
                        format!("{name} is notified and drops its belief")
                    }
                    MissedRenewal::TellHolder => "the watchdog forgets it".to_owned(),
                };
                let answer = match self.removes_by_clock(client, node) {
                    Some(removes) => format!("{master} {removes}, and finds no lock of {name}; {then}"),
                    None => format!("{master} stores {stores}: nothing changes; {then}"),
                };
                self.request(caller, node, call, sent, (self.label(), Tone::Odd, answer))
            }
            Reply::NotEnoughReplicas
            | Reply::SaveFailed
            | Reply::TryAgain
            | Reply::ReadOnly
            | Reply::WrongType
            | Reply::RenewalFailed => {
                let (says, tone, answer) = match self.step.answer {
                    Reply::WrongType => self.finds_no_lock(node),
                    Reply::RenewalFailed => {
                        let what = format!(
                            "{master} restarts the lease of the lock, and the script fails at a reader or writer who has entered twice"
                        );
                        (self.label(), Tone::Odd, what)
                    }
                    _ => self.refuses_to_write(node),
                };
                let then = match self.own().protocol.failed_renewal {
                    FailedRenewal::Retry => "the watchdog will try again",
                    FailedRenewal::Release => "the client will try again",
                    FailedRenewal::Forget => "the watchdog forgets the lock",
                };
                self.request(caller, node, call, sent, (says, tone, format!("{answer}; {then}")))
            }
            Reply::RenewedInPart { missed } => {
                let gone = lock_name(missed);
                let answer = format!("{master} restarts the lease of the other lock; {gone} is not {name}'s any more");
                self.request(caller, node, call, sent, (self.label(), Tone::Odd, answer))
            }
            other if self.has(Happening::RenewalUnacknowledged) => {
                let then = match self.own().protocol.failed_renewal {
                    FailedRenewal::Retry | FailedRenewal::Release => {
                        "the watchdog takes it for failed, and ends its round"
                    }
                    FailedRenewal::Forget => "the watchdog takes it for failed, and forgets the lock",
                };
                let answer = format!("{master} restarts the lease, and too few replicas acknowledge that: {then}");
                self.request(caller, node, call, sent, (reply(self.config, other), Tone::Odd, answer))
            }
            other => {
                let answer = format!("{master} {}{}", self.extends(node), self.replicas_know());
                self.request(caller, node, call, sent, (reply(self.config, other), Tone::Good, answer))
            }
        }
    }
}
