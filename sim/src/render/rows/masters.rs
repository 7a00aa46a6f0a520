//! A client that asks several independent masters.

use lockstep_model::client::Phase;
use lockstep_model::trace::{CallState, node_name};
use lockstep_model::{Happening, Reply};

use super::super::paint::Tone;
use super::super::units::count;
use super::lane::Lane;
use super::narrator::Narrator;
use super::row::Row;

/// The thread of a client that asks several masters.
pub(super) const fn lane(client: u8) -> Lane {
    Lane::Thread { client, thread: 0 }
}

impl Narrator<'_> {
    /// A round of a call begins.
    pub(super) fn begin_round(&self, client: u8, shows: &str, what: &str) -> Vec<Row> {
        let what = format!("{what}: it will ask each master, and its lease counts from now");
        self.alone(lane(client), shows, Tone::Plain, what)
    }

    /// A holder calls `unlock`.
    pub(super) fn begin_release(&self, client: u8, call: &str) -> Vec<Row> {
        let what =
            format!("{} releases: it counts on nothing from now on, and will release on each master", self.step.lane);
        self.alone(lane(client), call, Tone::Plain, what)
    }

    /// A client asks a master, and is answered.
    pub(super) fn ask_master(&self, client: u8, node: u8) -> Vec<Row> {
        let what = self.asks(client, node);
        let then = self.then(client, self.step.answer == Reply::Acquired);
        if self.step.answer == Reply::Unreachable {
            let what = format!("{what}, which does not answer{then}");
            return vec![self.one_way(lane(client), Lane::Node(node), "ask", what).lost()];
        }
        let (says, tone, answer) = self.answer_of_master(node);
        let (says, tone) = self.shows_decision(client, says, tone);
        self.request(lane(client), node, "ask", what, (says, tone, answer + &then))
    }

    /// A holder's timer fires.
    pub(super) fn begin_extension(&self, client: u8, call: &str) -> Vec<Row> {
        let what = format!(
            "{}'s timer fires: it extends its lease, and will ask each master; that counts from now",
            self.step.lane
        );
        self.alone(lane(client), call, Tone::Plain, what)
    }

    /// A holder asks a master to set its lease anew, and is answered.
    pub(super) fn extend_at(&self, client: u8, node: u8) -> Vec<Row> {
        let what = self.asks(client, node);
        let then = self.then(client, self.step.answer == Reply::Renewed);
        if self.step.answer == Reply::Unreachable {
            let what = format!("{what}, which does not answer{then}");
            return vec![self.one_way(lane(client), Lane::Node(node), "extend", what).lost()];
        }
        let (says, tone, answer) = self.answer_of_master(node);
        self.request(lane(client), node, "extend", what, (says, tone, answer + &then))
    }

    /// A client asks a master, and the answer is late.
    pub(super) fn ask_slowly(&self, client: u8, node: u8) -> Vec<Row> {
        let (_, _, answer) = self.answer_of_master(node);
        let what = format!("{}, and the reply will be late: {answer}", self.asks(client, node));
        vec![self.one_way(lane(client), Lane::Node(node), self.verb(client), what).showing(
            Lane::Node(node),
            self.stored_on(node).unwrap_or_else(|| "empty".to_owned()),
            Tone::Plain,
        )]
    }

    /// A late answer arrives.
    pub(super) fn hear_master(&self, client: u8, node: u8) -> Vec<Row> {
        let is_grant = self.call_before(client).is_some_and(|call| call.unheard_is_grant);
        let says = match (is_grant, self.is_extension(client)) {
            (true, true) => "extended",
            (true, false) => "granted",
            (false, true) => "not extended",
            (false, false) => "refused",
        };
        let then = self.then(client, is_grant);
        let what = format!("the late reply of {} reaches {}: {says}{then}", node_name(node), self.step.lane);
        let (shows, tone) = self.shows_decision(client, says.to_owned(), Tone::Plain);
        vec![Row::of(self.step, what).showing(lane(client), &shows, tone).answering(
            Lane::Node(node),
            lane(client),
            shows.clone(),
        )]
    }

    /// A client does not reach a master.
    pub(super) fn lose_ask(&self, client: u8, node: u8) -> Vec<Row> {
        let then = self.then(client, false);
        let (before, after) = (self.thread_before(client, 0), self.thread_after(client, 0));
        // A call that ends here, or gives back.
        let has_ended = self.config.asks_master_locks()
            && after.holds == before.holds
            && matches!(after.phase, Phase::Idle | Phase::Undoing);
        let goes_on = if has_ended { "" } else { ", and goes on without it" };
        let what = format!("{} does not reach {}{goes_on}{then}", self.step.lane, node_name(node));
        let verb = if before.phase == Phase::SettingTtl { "set lease" } else { self.verb(client) };
        vec![self.one_way(lane(client), Lane::Node(node), verb, what).lost()]
    }

    /// A client gives up on a master while its ask is under way.
    pub(super) fn ask_late(&self, client: u8, node: u8) -> Vec<Row> {
        let then = self.then(client, false);
        let what = format!(
            "{} asks {}, has no answer in time, and gives up on it; the ask is still under way{then}",
            self.step.lane,
            node_name(node)
        );
        vec![self.one_way(lane(client), Lane::Node(node), "ask ..", what)]
    }

    /// An ask arrives on which its client has given up.
    pub(super) fn arrive_late(&self, client: u8, node: u8) -> Vec<Row> {
        let (name, master) = (&self.step.lane, node_name(node));
        let what = format!("the late ask of {name} arrives at {master}");
        if self.step.answer == Reply::Unreachable {
            let what = format!("{what}, which does not run: it is lost");
            return vec![self.one_way(lane(client), Lane::Node(node), "late ask", what).lost()];
        }
        let (_, _, answer) = self.answer_of_master(node);
        let row =
            self.one_way(lane(client), Lane::Node(node), "late ask", format!("{what}: {answer}; nobody hears that"));
        vec![row.showing(Lane::Node(node), self.stored_on(node).unwrap_or_else(|| "empty".to_owned()), Tone::Odd)]
    }

    /// A client releases on a master.
    pub(super) fn release_at(&self, client: u8, node: u8) -> Vec<Row> {
        let (name, master) = (&self.step.lane, node_name(node));
        let after = &self.client_after(client).threads[0];
        let then = match after.phase {
            _ if self.config.asks_master_locks() => self.then_of_release(client),
            Phase::ReleasingMasters => String::new(),
            Phase::Waiting => self.then_sleeps(name, after),
            _ => "; that was the last one".to_owned(),
        };
        let what = format!("{name} releases on {master}");
        let (says, tone, answer) = match self.step.answer {
            Reply::Unreachable => {
                let what = format!("{what}, which does not answer{then}");
                return vec![self.one_way(lane(client), Lane::Node(node), "release", what).lost()];
            }
            _ if self.config.asks_master_locks() => {
                let (says, tone, answer) = self.answer_to_release(client, node);
                (says, tone, answer + &then)
            }
            Reply::Released => ("released".to_owned(), Tone::Plain, format!("{master} deletes the key{then}")),
            Reply::NotEnoughReplicas | Reply::SaveFailed | Reply::ReadOnly => {
                let (says, tone, answer) = self.refuses_to_write(node);
                (says, tone, answer + &then)
            }
            _ => (self.label(), Tone::Plain, format!("{master} finds no key of this round, and changes nothing{then}")),
        };
        self.request(lane(client), node, "release", what, (says, tone, answer))
    }

    /// What a master answers to an ask.
    pub(super) fn answer_of_master(&self, node: u8) -> (String, Tone, String) {
        let master = node_name(node);
        match self.step.answer {
            Reply::Acquired => ("granted".to_owned(), Tone::Plain, format!("{master} grants")),
            Reply::Busy { .. } => {
                let holder = self.holder_on(node).unwrap_or("somebody");
                let stores = if self.config.asks_master_locks() { "a lock" } else { "a key" };
                (self.label(), Tone::Odd, format!("{master} refuses: it stores {stores} of {holder}"))
            }
            Reply::Renewed => ("extended".to_owned(), Tone::Plain, format!("{master} sets the lease anew")),
            Reply::RenewalMissed => {
                (self.label(), Tone::Odd, format!("{master} finds no key of this round, and changes nothing"))
            }
            _ => self.refuses_to_write(node),
        }
    }

    pub(super) fn call_before(&self, client: u8) -> Option<&CallState> {
        self.before.clients[usize::from(client)].call.as_ref()
    }

    /// What a client decides that has heard of the last master.
    pub(super) fn then(&self, client: u8, is_granted: bool) -> String {
        if self.config.asks_master_locks() {
            return self.then_of_locks(client, is_granted);
        }
        let after = self.thread_after(client, 0);
        if self.is_extension(client) {
            return self.then_holds_on(client, is_granted);
        }
        let granted = self.call_before(client).map_or(0, |call| call.granted.len()) + usize::from(is_granted);
        let (name, masters) = (&self.step.lane, self.config.cluster.groups);
        if after.believes() {
            return format!("; {granted} of {masters} masters have granted: {name} holds{}", self.others_believe(name));
        }
        if after.phase != Phase::ReleasingMasters {
            return String::new();
        }
        let have = if granted == 1 { "has" } else { "have" };
        if granted >= usize::from(self.config.majority()) {
            return format!(
                "; {granted} of {masters} masters have granted, and nothing is left of the lease: {name} gives all back"
            );
        }
        format!("; {granted} of {} {have} granted: {name} releases on all of them", count(masters.into(), "master"))
    }

    /// What a holder makes of its extension that has heard of the last master.
    fn then_holds_on(&self, client: u8, is_granted: bool) -> String {
        let before = self.call_before(client);
        let (asked, extended) = before.map_or((0, 0), |call| (call.asked.len(), call.granted.len()));
        let (name, masters) = (&self.step.lane, usize::from(self.config.cluster.groups));
        if asked + 1 < masters {
            return String::new();
        }
        let extended = extended + usize::from(is_granted);
        if extended < usize::from(self.config.majority()) {
            return format!(
                "; {extended} of {masters} masters have extended, which does not count: {name}'s grant is valid for as long as it was"
            );
        }
        if !self.has(Happening::LeaseRenewed) {
            return format!(
                "; {extended} of {masters} masters have extended, and that took as long as a grant is valid: it does not count, and {name}'s \
                 grant is valid for as long as it was"
            );
        }
        format!("; {extended} of {masters} masters have extended")
    }

    /// What a client asks a master for, in a word.
    fn verb(&self, client: u8) -> &'static str {
        if self.is_extension(client) { "extend" } else { "ask" }
    }

    /// Whom a client asks, for the lock or for more time.
    fn asks(&self, client: u8, node: u8) -> String {
        let verb = if self.is_extension(client) { "extends its lease on" } else { "asks" };
        format!("{} {verb} {}", self.step.lane, node_name(node))
    }

    /// Whether a client that asks its masters is a holder, and extends its lease.
    fn is_extension(&self, client: u8) -> bool {
        self.config.extends_in_rounds() && self.before.clients[usize::from(client)].threads[0].holds > 0
    }

    fn shows_decision(&self, client: u8, says: String, tone: Tone) -> (String, Tone) {
        if self.config.asks_master_locks() {
            return self.shows_locks(client, says, tone);
        }
        if self.thread_after(client, 0).believes() && !self.is_extension(client) {
            ("HOLDS".to_owned(), Tone::Good)
        } else {
            (says, tone)
        }
    }
}
