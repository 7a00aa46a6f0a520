//! A thread that asks whether it holds the lock: which kinds can be asked, and what is not modelled beside that yet.

use lockstep_model::config::{AfterRefusal, StopsAt};
use lockstep_model::locks::Support;

use super::contradiction::{Contradiction, kinds_with};
use super::parts::{Parts, Sections};
use super::section::Section;

const HABIT: &str = "after_refusal";
const RULE: &str = "held_query";

/// Records every contradicting pair.
pub(super) fn note(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>) {
    let (Some(kind), Some(clients)) = (parts.lock, parts.clients) else { return };
    let asks = clients.after_refusal == AfterRefusal::AskIfHeld;
    if let Support::No { why } = kind.facts().held_query {
        let name = kind.name();
        let other = kinds_with(|facts| facts.held_query.is_there());
        let label = format!("{name}: {why}");
        if asks {
            let reason = format!("a client that asks whether it holds a {name} lock is not modelled yet");
            Contradiction::not_yet(&sections.clients, HABIT, &reason)
                .with(top.span_of("lock"), label.clone())
                .note(&format!("use after_refusal = \"leave\", or {other}"));
        }
        for place in sections.places(parts) {
            Contradiction::of(place.protocol, RULE, &format!("no client asks whether it holds a {name} lock"))
                .with(top.span_of("lock"), label.clone())
                .note(&format!("remove `{RULE}`, or use {other} and after_refusal = \"ask-if-held\" in [clients]"));
        }
        return;
    }
    if !asks {
        for place in sections.places(parts) {
            Contradiction::of(place.protocol, RULE, "no client asks whether it holds the lock")
                .note(&format!("remove `{RULE}`, or use after_refusal = \"ask-if-held\" in [clients]"));
        }
        return;
    }
    // A server that does not write ends a call as well.
    let may_refuse = parts.cluster.is_none_or(|cluster| cluster.replicas > 0)
        || parts.faults.is_none_or(|faults| faults.refuse_writes > 0);
    if !may_refuse && parts.nobody(|own| own.wait_limit.is_some()) {
        Contradiction::of(&sections.clients, HABIT, "no call ends without the lock: a refused caller waits for ever")
            .with(sections.time.span_of("wait_limit"), "there is no limit")
            .note("use after_refusal = \"leave\", or a wait_limit in [time] or [[client]], for example wait_limit = 0");
    }
    if clients.stops_at == StopsAt::Validity {
        let reason = "a caller that looks at its clock, and asks whether it holds, is not modelled yet";
        Contradiction::not_yet(&sections.clients, HABIT, reason)
            .with(sections.clients.span_of("stops_at"), "it does not know when a hold ends that it was not granted")
            .note("use after_refusal = \"leave\", or remove `stops_at`");
    }
}
