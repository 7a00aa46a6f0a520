//! The keys of a split network: how long a client waits for a reply, what it sends again, and what a resent request
//! leaves behind.
//!
//! Where request and reply are one step, these keys mean nothing and are rejected.

use core::ops::Range;

use lockstep_model::LockKind;
use lockstep_model::config::{
    Calls, ClientSettings, InterruptedAcquire, MAX_ACQUIRES, MAX_RETRIES, MAX_TICKS, MessageDelay, NetworkMode,
    Profile, RefusedCall, Registration, RequestId, Resend, StaleRenewal, UnansweredAsk, WaitAfter,
};
use lockstep_model::locks::Support;

use super::contradiction::Contradiction;
use super::parts::{Parts, Sections};
use super::places::SettingsPlace;
use super::section::Section;

/// The settings for requests without a reply, in these two tables. `otherwise`: what is not said there. `receipt`: the TTL of
/// a receipt, if it is said elsewhere; otherwise it depends on what is said here. `has_resource`: the scenario has one.
pub(super) fn read(
    (time, protocol): (&Section<'_>, &Section<'_>),
    otherwise: Calls,
    receipt_said: Option<u8>,
    has_resource: bool,
) -> Option<Calls> {
    let answer_within = time.ticks("answer_within", 1..=MAX_TICKS);
    let receipt = time.ticks("receipt", 1..=MAX_TICKS);
    let resend = protocol.word("resend", "resend rule", &RESEND);
    let retry_attempts = protocol.number("retry_attempts", 1..=MAX_RETRIES);
    let request_id = protocol.word("request_id", "form of request id", &REQUEST_IDS);
    let registration = protocol.word("registration", "registration order", &REGISTRATIONS);
    let interrupted =
        protocol.word("interrupted_acquire", "treatment of an interrupted acquire", &INTERRUPTED_ACQUIRES);
    let stale_renewal = protocol.word("stale_renewal", "treatment of a stale renewal", &STALE_RENEWALS);
    let refused_call = protocol.word("refused_call", "reaction to a refused call", &REFUSED_CALLS);
    let unanswered_ask = protocol.word("unanswered_ask", "reaction to an ask without an answer", &UNANSWERED_ASKS);

    let answer_within = answer_within.or(otherwise.answer_within)?;
    let retry_attempts = retry_attempts.or(otherwise.retry_attempts)?;
    let resend = resend.or(otherwise.resend)?;
    // A profile says what becomes of a refused request where its clients send requests again, and the model has that.
    let retries_refused = resend == Resend::All && !has_resource;
    let of_profile = if retries_refused { otherwise.refused_call } else { RefusedCall::Throw };
    let for_all_tries = answer_within.saturating_mul(retry_attempts).min(MAX_TICKS);
    Some(Calls {
        answer_within,
        resend,
        retry_attempts,
        request_id: request_id.or(otherwise.request_id)?,
        // The client's total retry time (docs/facts/redisson.md#receipt-ttl).
        receipt: receipt.or(receipt_said.unwrap_or(for_all_tries))?,
        registration: registration.or(otherwise.registration)?,
        interrupted_acquire: interrupted.or(otherwise.interrupted_acquire)?,
        stale_renewal: stale_renewal.or(otherwise.stale_renewal)?,
        refused_call: refused_call.or(of_profile)?,
        unanswered_ask: unanswered_ask.or(otherwise.unanswered_ask)?,
    })
}

/// The switches of a profile. What is sent again is not one of them: it depends on the deployment, not on the version.
pub(crate) const fn of_profile(profile: Option<Profile>) -> Calls {
    match profile {
        Some(Profile::Redisson315) => {
            Calls { request_id: RequestId::PerTry, registration: Registration::Unordered, ..Calls::DEFAULT }
        }
        Some(Profile::Lockstep) => Calls {
            interrupted_acquire: InterruptedAcquire::Release,
            stale_renewal: StaleRenewal::Ignore,
            ..Calls::DEFAULT
        },
        Some(Profile::Redisson47) => {
            Calls { refused_call: RefusedCall::Retry, unanswered_ask: UnansweredAsk::Refuse, ..Calls::DEFAULT }
        }
        Some(Profile::Redisson343 | Profile::Redisson352 | Profile::Redisson43) => {
            Calls { refused_call: RefusedCall::Retry, ..Calls::DEFAULT }
        }
        // A caller that is interrupted leaves its request behind: nobody releases, and nobody extends.
        Some(
            Profile::RedisPy8
            | Profile::Redlock5
            | Profile::Redlock4
            | Profile::Redsync4
            | Profile::Redislock010
            | Profile::Shedlock7
            | Profile::SpringIntegration7,
        ) => Calls {
            interrupted_acquire: InterruptedAcquire::Keep,
            stale_renewal: StaleRenewal::Ignore,
            ..Calls::DEFAULT
        },
        None => Calls::DEFAULT,
    }
}

/// Records every contradicting pair that involves one of these keys.
pub(super) fn note(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>) {
    let mode = sections.network.span_of("mode");
    if parts.network.is_some_and(|network| network.mode == NetworkMode::Atomic) {
        note_atomic(parts, sections, mode.as_ref());
        return;
    }
    let no_receipts = parts.lock.and_then(|kind| match kind.facts().receipts {
        Support::Yes => None,
        Support::No { why } => Some((kind.name(), why)),
    });
    for place in sections.places(parts) {
        let SettingsPlace { time, protocol, .. } = place;
        for (section, key) in
            [(time, "receipt"), (protocol, "request_id"), (protocol, "answered_receipt"), (protocol, "receipts")]
        {
            if let Some((name, why)) = no_receipts {
                Contradiction::of(section, key, &format!("a release of a {name} lock leaves no receipt"))
                    .with(top.span_of("lock"), format!("{name}: {why}"))
                    .note(&format!("remove `{key}`"));
            } else if key != "receipts" && place.nobody(|own| own.protocol.receipts) {
                let off = protocol.span_of("receipts").or(protocol.span_of("profile"));
                Contradiction::of(section, key, "a release leaves no receipt")
                    .with(off, "receipts are switched off here")
                    .note(&format!("remove `{key}`, or use receipts = true in [protocol]"));
            }
        }
        if place.nobody(|own| own.calls.resend != Resend::None) {
            Contradiction::of(
                protocol,
                "retry_attempts",
                "no request is sent again, so `retry_attempts` has no effect",
            )
            .with(protocol.span_of("resend"), "no request is sent again")
            .note("use resend = \"release\" or \"all\", or remove `retry_attempts`");
        }
        if place.nobody(|own| own.calls.resend != Resend::None) {
            Contradiction::of(protocol, "refused_call", "no request is sent again, so `refused_call` has no effect")
                .with(protocol.span_of("resend"), "no request is sent again")
                .note("use resend = \"all\" with refused_call = \"retry\", or remove `refused_call`");
        }
        if place.nobody(|own| own.renew_every.is_some()) {
            for key in ["registration", "stale_renewal"] {
                Contradiction::of(protocol, key, "no hold is registered and none is renewed: there is no watchdog")
                    .note(&format!("remove `{key}`, or add a watchdog: renew_every = 1 in [time]"));
            }
        }
        if !place.nobody(|own| own.calls.refused_call == RefusedCall::Retry) && sections.resource.span().is_some() {
            let reason = "a refused request that is sent again beside a resource";
            Contradiction::not_yet(protocol, "refused_call", reason)
                .with(sections.resource.span(), "this is the resource")
                .note("use refused_call = \"throw\", or remove [resource]");
        }
        note_unanswered_ask(parts, top, &place);
        if parts.faults.is_some_and(|faults| faults.interrupt == 0) {
            Contradiction::of(
                protocol,
                "interrupted_acquire",
                "no thread is interrupted, so `interrupted_acquire` has no effect",
            )
            .with(sections.faults.span_of("interrupt"), "no thread is interrupted")
            .note("remove `interrupted_acquire`, or let a thread be interrupted: interrupt = 1 in [faults]");
        }
    }
    note_endless_count(parts, sections);
}

/// It is read where a waiter has a limit and is one of Redisson's: it asks again after a message.
fn note_unanswered_ask(parts: &Parts, top: &Section<'_>, place: &SettingsPlace<'_, '_>) {
    let key = "unanswered_ask";
    if let Some(kind) = parts.lock.filter(|kind| !kind.facts().publishes()) {
        let reason = format!("the waiter of a {} lock is no waiter of Redisson's", kind.name());
        Contradiction::of(place.protocol, key, &reason)
            .with(top.span_of("lock"), "it asks again at intervals")
            .note(&format!("remove `{key}`"));
    } else if place.nobody(|own| own.wait_limit.is_some_and(|limit| limit > 0)) {
        Contradiction::of(place.protocol, key, "no caller waits with a limit, so `unanswered_ask` has no effect")
            .with(place.time.span_of("wait_limit"), "a refused caller waits for ever, or not at all")
            .note(&format!("remove `{key}`, or use a wait_limit of 1 tick or more in [time]"));
    }
}

/// A client without a reply sends its request again, and may re-enter a lock that it does not know it holds: the hold
/// count grows with every request, and the number of states with it.
fn note_endless_count(parts: &Parts, sections: &Sections<'_>) {
    let (Some(network), Some(settings)) = (parts.network, &parts.settings) else { return };
    let reenters = parts.lock.is_none_or(|kind| kind.facts().reentry.is_there());
    let most_of = |calls: Calls| {
        let tries = if calls.resend == Resend::All { 1 + u16::from(calls.retry_attempts) } else { 1 };
        (u16::from(u8::MAX) / tries).min(u16::from(MAX_ACQUIRES))
    };
    let is_endless = |own: &ClientSettings| {
        let most = most_of(own.calls);
        network.can_outlast(own.calls) && own.acquires.is_none_or(|acquires| u16::from(acquires) > most)
    };
    if let Some(client) = settings.iter().position(|own| reenters && is_endless(own)) {
        let calls = settings[client].calls;
        let most = most_of(calls);
        let own = sections.client.iter().flatten().nth(client).and_then(|table| table.span_of("acquires"));
        let reason =
            "a client that has no answer in time asks again, and the hold count on the node grows without bound";
        Contradiction::of(&sections.network, "delay", reason)
            .with(
                own.or(sections.clients.span_of("acquires")).or(sections.clients.span()),
                "a client may ask without limit, or too often",
            )
            .note(&format!(
                "limit the acquires of each client: acquires = 2 in [clients] (at most {most} here), or use a delay \
                 below half of answer_within ({})",
                calls.answer_within
            ));
    }
}

fn note_atomic(parts: &Parts, sections: &Sections<'_>, mode: Option<&Range<usize>>) {
    let can_be_split = parts.lock.is_none_or(LockKind::has_split_worlds);
    let refuse = |section: &Section<'_>, key: &str, reason: &str| {
        let help = match parts.lock.map(|kind| (kind.name(), kind.facts())) {
            // What a network does to one ask is a fault there.
            Some((_, facts)) if facts.masters.are_several() => {
                format!("remove `{key}`, or use lose_ask, slow_reply or late_ask in [faults]")
            }
            Some((name, _)) if !can_be_split => {
                format!("remove `{key}`: a split network is not modelled with a {name} lock")
            }
            _ => format!("remove `{key}`, or use mode = \"split\" in [network]"),
        };
        Contradiction::of(section, key, reason)
            .with(mode.cloned(), "with mode = \"atomic\", request and answer are one step")
            .note(&help);
    };
    for SettingsPlace { time, protocol, said, .. } in sections.places(parts) {
        let said = said.as_ref();
        for key in ["answer_within", "receipt"] {
            refuse(time, key, "every request is answered at once");
        }
        let keys = [
            "retry_attempts",
            "request_id",
            "registration",
            "interrupted_acquire",
            "stale_renewal",
            "refused_call",
            "unanswered_ask",
        ];
        for key in keys {
            refuse(protocol, key, "every request is answered at once");
        }
        if said.is_some_and(|said| said.protocol.wait_after == WaitAfter::EveryCall) {
            refuse(protocol, "wait_after", "a call is made again only where requests take time");
        }
        if said.is_some_and(|said| said.calls.resend != Resend::None) {
            refuse(protocol, "resend", "every request is answered at once");
        }
    }
    for key in ["receipts", "late_requests", "registrations"] {
        refuse(&sections.bounds, key, "every request is answered at once");
    }
    if let Some(faults) = parts.faults {
        if faults.lose_request > 0 {
            refuse(&sections.faults, "lose_request", "no request is ever on its way");
        }
        if faults.lose_reply > 0 {
            refuse(&sections.faults, "lose_reply", "no reply is ever on its way");
        }
        // Of callers of several masters no interrupt is modelled, whatever they wait (`several_masters`).
        let is_modelled = parts.lock.is_none_or(|kind| !kind.facts().masters.are_several());
        if is_modelled && faults.interrupt > 0 && parts.nobody(|own| own.wait_limit != Some(0)) {
            Contradiction::of(
                &sections.faults,
                "interrupt",
                "no thread can be interrupted, because a refused client does not wait",
            )
            .with(sections.time.span_of("wait_limit"), "a refused client does not wait")
            .note(if can_be_split {
                "use interrupt = 0, a longer wait_limit, or mode = \"split\" in [network]"
            } else {
                "use interrupt = 0, or a longer wait_limit"
            });
        }
    }
    if parts.network.is_some_and(|network| matches!(network.delay, MessageDelay::Ticks(_))) {
        refuse(
            &sections.network,
            "delay",
            "a delay of some ticks concerns requests and replies, and here these are one step",
        );
    }
}

const RESEND: [(&str, Resend); 3] = [("none", Resend::None), ("release", Resend::Release), ("all", Resend::All)];
const REFUSED_CALLS: [(&str, RefusedCall); 2] = [("throw", RefusedCall::Throw), ("retry", RefusedCall::Retry)];
const UNANSWERED_ASKS: [(&str, UnansweredAsk); 2] =
    [("throw", UnansweredAsk::Throw), ("refuse", UnansweredAsk::Refuse)];
const REQUEST_IDS: [(&str, RequestId); 2] = [("per-release", RequestId::PerRelease), ("per-try", RequestId::PerTry)];
const REGISTRATIONS: [(&str, Registration); 2] =
    [("before-answer", Registration::BeforeAnswer), ("unordered", Registration::Unordered)];
const STALE_RENEWALS: [(&str, StaleRenewal); 2] =
    [("believe", StaleRenewal::Believe), ("ignore", StaleRenewal::Ignore)];
const INTERRUPTED_ACQUIRES: [(&str, InterruptedAcquire); 3] = [
    ("renew", InterruptedAcquire::Renew),
    ("keep", InterruptedAcquire::Keep),
    ("release", InterruptedAcquire::Release),
];
