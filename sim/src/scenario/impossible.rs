//! Values that are fine alone and describe nothing together.

use lockstep_model::LockKind;

use super::code::Code;
use super::error::Problem;
use super::reader::{Parts, Sections};
use super::section::Section;

/// Notes every pair that does not go together. Parts that are wrong in themselves are left out.
pub(super) fn note(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>) {
    let lock = top.span_of("lock");
    if let Some(time) = parts.time
        // At a renewal that is due when the lease is over the key is still there, so equal is possible.
        && time.renew_every.is_some_and(|period| period > time.lease)
    {
        Pair::of(&sections.time, "renew_every", "the lease would run out before its first renewal")
            .with(sections.time.span_of("lease"), "the lease")
            .note("renew at a third of the lease, or leave `renew_every` out: then there is no watchdog");
    }
    if let (Some(time), Some(clients)) = (parts.time, parts.clients)
        && clients.hold_for_ever
        && time.hold_at_most.is_some()
    {
        Pair::of(&sections.clients, "hold_for_ever", "a holder can't both release in time and hold for ever")
            .with(sections.time.span_of("hold_at_most"), "the latest release")
            .note("leave one of the two out");
    }
    if let (Some(LockKind::Plain), Some(clients)) = (parts.lock, parts.clients)
        && clients.max_holds > 1
    {
        Pair::of(&sections.clients, "max_holds", "a plain lock can't be re-entered")
            .with(lock.clone(), "plain: the key is there or not, and counts nothing")
            .note("use max_holds = 1, or lock = \"reentrant\"");
    }
    if let (Some(LockKind::Plain), Some(faults)) = (parts.lock, parts.faults)
        && faults.force_release > 0
    {
        Pair::of(&sections.faults, "force_release", "a plain lock has no forced release")
            .with(lock.clone(), "plain: only its creator deletes the key")
            .note("use force_release = 0, or lock = \"reentrant\"");
    }
    if let Some(faults) = parts.faults
        && faults.lose_message > 0
    {
        let lost = Pair::of(&sections.faults, "lose_message", "no unlock message can be lost: nobody subscribes");
        if let Some(kind) = parts.lock.filter(|kind| !kind.publishes()) {
            lost.with(lock, format!("waiters of a {} lock poll", kind.name()))
                .note("use lose_message = 0, or lock = \"reentrant\"");
        } else if parts.time.is_some_and(|time| time.wait_limit == Some(0)) {
            lost.with(sections.time.span_of("wait_limit"), "who is refused does not wait")
                .note("use lose_message = 0, or a longer wait_limit");
        }
    }
    if let Some(cluster) = parts.cluster
        && cluster.replicas == 0
    {
        for (key, reason) in [
            ("lag", "there is no replica that could lag"),
            ("ttls", "there is no replica that a TTL could travel to"),
            ("promote", "there is no replica that could be promoted"),
            ("failover_within", "there is no replica that could take over"),
        ] {
            Pair::of(&sections.cluster, key, reason)
                .with(sections.cluster.span_of("replicas"), "none")
                .note(&format!("leave `{key}` out, or say how many: replicas = 1"));
        }
    }
}

/// Two places that don't go together; nothing if the first is not in the file.
pub(super) struct Pair<'s, 'a> {
    section: &'s Section<'a>,
    problem: Option<Problem>,
}

impl<'s, 'a> Pair<'s, 'a> {
    pub(super) fn of(section: &'s Section<'a>, key: &str, reason: &str) -> Self {
        let problem = section.span_of(key).map(|span| Problem::at(Code::Impossible, span, reason));
        Self { section, problem }
    }

    pub(super) fn with(self, span: Option<core::ops::Range<usize>>, label: impl Into<String>) -> Self {
        let Some(span) = span else { return self };
        Self { problem: self.problem.map(|problem| problem.also(span, label)), ..self }
    }

    pub(super) fn note(self, help: &str) {
        if let Some(problem) = self.problem {
            self.section.note::<()>(problem.help(help));
        }
    }
}
