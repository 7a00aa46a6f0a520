//! A client that asks several masters, each of which stores a lock of its own.

use lockstep_model::client::Phase;
use lockstep_model::config::{FailedPart, NeededMasters};
use lockstep_model::trace::node_name;
use lockstep_model::{Happening, Reply};

use super::super::paint::Tone;
use super::super::units::{count, time};
use super::calls::GIVES_UP;
use super::lane::Lane;
use super::masters::lane;
use super::narrator::Narrator;
use super::row::Row;

impl Narrator<'_> {
    /// A call begins.
    pub(super) fn begin_asking_locks(&self, client: u8, call: &str) -> Vec<Row> {
        let asks = if self.thread_before(client, 0).holds > 0 { "asks to enter again" } else { "asks for the lock" };
        let what = format!("{} {asks}: it will ask the masters, each for a lock of its own", self.step.lane);
        self.alone(lane(client), call, Tone::Plain, what)
    }

    /// A waiter asks the master again for whose lock it waits.
    pub(super) fn ask_again_at_master(&self, client: u8, call: &str, what: &str) -> Vec<Row> {
        let node = self.asked(client);
        let (name, after) = (&self.step.lane, self.thread_after(client, 0));
        let then = match self.step.answer {
            Reply::Busy { .. } => self.then_sleeps(name, after),
            _ => self.then(client, self.step.answer == Reply::Acquired),
        };
        let what = format!("{what} {} again", node_name(node));
        if self.step.answer == Reply::Unreachable {
            let what = format!("{what}, which does not answer{then}");
            return vec![self.one_way(lane(client), Lane::Node(node), call, what).lost()];
        }
        let (says, tone, answer) = self.answer_of_master(node);
        let (says, tone) = self.shows_locks(client, says, tone);
        self.request(lane(client), node, call, what, (says, tone, answer + &then))
    }

    /// A refused client subscribes at the master that has refused it.
    pub(super) fn subscribe_at_master(&self, client: u8) -> Vec<Row> {
        let node = self.asked(client);
        let what = format!("{} subscribes to the unlock channel on {}", self.step.lane, node_name(node));
        if self.step.answer == Reply::Unreachable {
            let what = format!("{what}, which does not answer{}", self.then_of_locks(client, false));
            return vec![self.one_way(lane(client), Lane::Node(node), "subscribe", what).lost()];
        }
        vec![self.one_way(lane(client), Lane::Node(node), "subscribe", what)]
    }

    /// The time is over for which a call waits for one master.
    pub(super) fn give_up_at_master(&self, client: u8) -> Vec<Row> {
        let then = self.then_of_locks(client, false);
        let what = format!("{} waits no more for {}{then}", self.step.lane, node_name(self.asked(client)));
        self.alone(lane(client), GIVES_UP, Tone::Odd, what)
    }

    /// A holder calls `unlock()`.
    pub(super) fn begin_release_of_locks(&self, client: u8, call: &str) -> Vec<Row> {
        let counts_on = match self.thread_after(client, 0).holds {
            0 => "it counts on nothing from now on",
            _ => "it counts on one hold less from now on",
        };
        let on = if self.stops_at_an_error(client) {
            "one master after the other, up to the first error"
        } else {
            "each master"
        };
        let what = format!("{} releases: {counts_on}, and will release on {on}", self.step.lane);
        self.alone(lane(client), call, Tone::Plain, what)
    }

    /// A client that has the masters that it needs sets its lease on one of them.
    pub(super) fn set_ttl_at(&self, client: u8, node: u8) -> Vec<Row> {
        let (name, master) = (&self.step.lane, node_name(node));
        let what = format!("{name} sets its lease on {master}");
        let then = self.then_of_locks(client, false);
        let (says, tone, answer) = match self.step.answer {
            Reply::Unreachable => {
                let what = format!("{what}, which does not answer{then}");
                return vec![self.one_way(lane(client), Lane::Node(node), "set lease", what).lost()];
            }
            Reply::TtlSet => match self.holder_on(node).filter(|holder| holder != name) {
                Some(holder) => {
                    ("set".to_owned(), Tone::Bad, format!("{master} sets that of {holder}, which has the lock there"))
                }
                None => ("set".to_owned(), Tone::Plain, format!("{master} sets it")),
            },
            Reply::NoTtlSet => match self.holder_on(node).filter(|holder| holder != name) {
                Some(holder) => (
                    "not its own".to_owned(),
                    Tone::Odd,
                    format!("{master} stores the lock of {holder}, and changes nothing"),
                ),
                None => (self.label(), Tone::Odd, format!("{master} finds no lock, and changes nothing")),
            },
            _ => self.refuses_to_write(node),
        };
        let (says, tone) = self.shows_locks(client, says, tone);
        self.request(lane(client), node, "set lease", what, (says, tone, answer + &then))
    }

    /// The timer of a client for one master fires.
    pub(super) fn renew_lock_at(&self, client: u8, node: u8, call: &str) -> Vec<Row> {
        let (name, master) = (&self.step.lane, node_name(node));
        let what = format!("{name}'s timer for {master} fires");
        let (says, tone, answer) = match self.step.answer {
            Reply::NothingToRenew => {
                return self.alone(
                    lane(client),
                    call,
                    Tone::Plain,
                    format!("{what}: there is nothing to renew, and it stops"),
                );
            }
            Reply::Unreachable => {
                let what = format!("{what}, and {master} does not answer");
                return vec![self.one_way(lane(client), Lane::Node(node), call, what).lost()];
            }
            Reply::Renewed => ("renewed".to_owned(), Tone::Plain, format!("{master} renews")),
            Reply::RenewalMissed => {
                let answer = format!("{master} stores no lock of {name}, which is not told");
                (self.label(), Tone::Odd, answer)
            }
            _ => self.refuses_to_write(node),
        };
        self.request(lane(client), node, call, what, (says, tone, answer))
    }

    /// What a client decides that has heard of a master, or does not reach it.
    pub(super) fn then_of_locks(&self, client: u8, is_granted: bool) -> String {
        let (before, after) = (self.thread_before(client, 0), self.thread_after(client, 0));
        let call = self.call_before(client);
        let (name, masters) = (&self.step.lane, self.config.cluster.groups);
        let granted = call.map_or(0, |call| call.granted.len()) + usize::from(is_granted);
        let have = if granted == 1 { "has" } else { "have" };
        let needs_all = self.config.of_client(client).protocol.needed_masters == NeededMasters::All;
        let is_over = call.is_some_and(|call| call.goes_on && call.left == Some(0));
        let why = match (is_over, needs_all) {
            (true, _) if self.config.of_client(client).takes_in_rounds() => "and the time of the round is over",
            (true, _) => "and the wait is over",
            (false, true) => "and it needs every one",
            (false, false) => "and too many have not",
        };
        let asks = matches!(
            before.phase,
            Phase::AskingMasters | Phase::HearingMaster | Phase::Refused | Phase::Subscribed | Phase::Waiting
        );
        if after.holds > before.holds {
            let others = self.others_believe(name);
            return match before.phase {
                Phase::SettingTtl => format!("; that was the last one: {name} holds{others}"),
                _ if before.holds > 0 => {
                    format!("; {granted} of {masters} masters have granted: {name} has entered again")
                }
                _ => format!("; {granted} of {masters} masters have granted: {name} holds{others}"),
            };
        }
        match (before.phase, after.phase) {
            (Phase::SettingTtl, Phase::Idle) => {
                format!("; the error ends the call of {name}, which {}, and gives nothing back", holds(after.holds))
            }
            (_, Phase::Refused) if asks => {
                let left = after
                    .wait_left
                    .map_or_else(String::new, |left| format!(", for {} at most", time(self.config, left.into())));
                format!("; {name} waits for it{left}")
            }
            (_, Phase::AskingMasters) if asks && self.begins_anew(client) => {
                format!("; {granted} of {masters} {have} granted, {why}: {name} begins anew")
            }
            (_, Phase::SettingTtl) if asks => {
                format!("; {granted} of {masters} masters have granted: {name} sets its lease on them")
            }
            (_, Phase::Undoing) if asks => {
                format!("; {granted} of {masters} {have} granted, {why}: {name} gives back what it was granted")
            }
            (_, Phase::Idle) if asks => {
                format!("; {granted} of {masters} {have} granted, {why}: {name} {}", holds(after.holds))
            }
            _ => String::new(),
        }
    }

    /// Whether the call of a client begins anew with this step: it has asked none of its masters then.
    fn begins_anew(&self, client: u8) -> bool {
        let call = self.client_after(client).call.as_ref();
        call.is_none_or(|call| call.asked.is_empty()) && self.thread_after(client, 0).phase == Phase::AskingMasters
    }

    /// What a picture shows of an answer, or that its client holds.
    pub(super) fn shows_locks(&self, client: u8, says: String, tone: Tone) -> (String, Tone) {
        let (before, after) = (self.thread_before(client, 0), self.thread_after(client, 0));
        let has_entered = self.has(Happening::Granted) || self.has(Happening::Reentered);
        if after.holds > before.holds && has_entered { ("HOLDS".to_owned(), Tone::Good) } else { (says, tone) }
    }

    /// Whether what a master answers to this release may end it.
    fn looks_at_answer(&self, client: u8) -> bool {
        self.stops_at_an_error(client) && self.thread_before(client, 0).phase == Phase::ReleasingMasters
    }

    /// Whether `unlock()` of this client ends with the first master that fails.
    fn stops_at_an_error(&self, client: u8) -> bool {
        let protocol = self.config.of_client(client).protocol;
        protocol.needed_masters == NeededMasters::All && protocol.failed_part == FailedPart::Stops
    }

    /// What becomes of a release of a lock on each master when one of them has answered.
    pub(super) fn then_of_release(&self, client: u8) -> String {
        let (before, after) = (self.thread_before(client, 0), self.thread_after(client, 0));
        let left = self.call_before(client).map_or(0, |call| call.asked.len()).saturating_sub(1);
        let has_failed = !matches!(self.step.answer, Reply::Released | Reply::StillHeld);
        match left {
            _ if after.phase == before.phase => String::new(),
            0 if has_failed && self.looks_at_answer(client) => {
                format!("; that was the last one, and {} is told the error", self.step.lane)
            }
            0 if self.begins_anew(client) => format!("; that was the last one: {} begins anew", self.step.lane),
            0 => "; that was the last one".to_owned(),
            _ => format!("; the error ends the release of {}, which leaves {}", self.step.lane, count(left, "master")),
        }
    }

    /// What a master answers to a release.
    pub(super) fn answer_to_release(&self, client: u8, node: u8) -> (String, Tone, String) {
        let master = node_name(node);
        match self.step.answer {
            Reply::Released => ("released".to_owned(), Tone::Plain, format!("{master} deletes the lock")),
            Reply::StillHeld => ("still held".to_owned(), Tone::Plain, format!("{master} counts one hold less")),
            Reply::NotHeld => {
                let then = if self.looks_at_answer(client) { "" } else { ", which looks at no answer" };
                (self.label(), Tone::Odd, format!("{master} stores no lock of {}{then}", self.step.lane))
            }
            _ => self.refuses_to_write(node),
        }
    }
}

/// What a client has whose call has failed.
const fn holds(outer: u8) -> &'static str {
    if outer > 0 { "has not entered again, and holds as before" } else { "does not hold" }
}
