//! A client that asks several masters, each of which stores a lock of its own.

use lockstep_model::client::Phase;
use lockstep_model::config::{FailedPart, NeededMasters};
use lockstep_model::trace::node_name;
use lockstep_model::{Happening, Reply};

use super::super::paint::Tone;
use super::super::units::count;
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
        let why = if needs_all { "and it needs every one" } else { "and too many have not" };
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
            (Phase::AskingMasters | Phase::HearingMaster, Phase::SettingTtl) => {
                format!("; {granted} of {masters} masters have granted: {name} sets its lease on them")
            }
            (Phase::AskingMasters | Phase::HearingMaster, Phase::Undoing) => {
                format!("; {granted} of {masters} {have} granted, {why}: {name} gives back what it was granted")
            }
            (Phase::AskingMasters | Phase::HearingMaster, Phase::Idle) => {
                format!("; {granted} of {masters} {have} granted, {why}: {name} {}", holds(after.holds))
            }
            _ => String::new(),
        }
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
