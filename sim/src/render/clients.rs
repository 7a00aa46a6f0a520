//! What clients have in common, and what single ones have of their own, in phrases.

use lockstep_model::config::{Calls, ClientRole, Config, PartOrder, Protocol};
use lockstep_model::trace::client_name;
use serde_json::{Value, json};

use super::units::{count, time};
use crate::replay::translate::translation_of;

/// `a lease is 30 s`.
pub(super) fn lease(config: &Config) -> String {
    format!("a lease is {}", time(config, config.time.lease.into()))
}

/// `the watchdog renews every 10 s`.
pub(super) fn renewal(config: &Config) -> String {
    let every = |period: u8| format!("the watchdog renews every {}", time(config, period.into()));
    config.time.renew_every.map_or_else(|| "no watchdog".to_owned(), every)
}

/// `a call inside another one has a lease of 10 s`.
pub(super) fn reentry(config: &Config) -> String {
    let own = |lease: u8| format!("a call inside another one has a lease of {}", time(config, lease.into()));
    config.time.reentry_lease.map_or_else(|| "a call inside another one has no lease of its own".to_owned(), own)
}

/// `a refused client waits at most 20 s`.
pub(super) fn wait(config: &Config) -> String {
    match config.time.wait_limit {
        None => "a refused client waits without limit".to_owned(),
        Some(0) => "a refused client does not wait".to_owned(),
        Some(limit) => format!("a refused client waits at most {}", time(config, limit.into())),
    }
}

/// `a holder releases within 20 s`.
pub(super) fn hold(config: &Config) -> String {
    match config.time.hold_at_most {
        Some(most) => format!("a holder releases within {}", time(config, most.into())),
        None if config.clients.hold_for_ever => "a holder releases at any time, or never".to_owned(),
        None => "a holder releases at any time".to_owned(),
    }
}

/// `the protocol is that of redisson-4.7`, or where Redisson has no such lock, what that says of one.
pub(super) fn profile(config: &Config) -> String {
    let of_profile = config.protocol.profile.protocol();
    let overridden: Vec<_> = different(switches(config.protocol), switches(of_profile)).collect();
    let but = if overridden.is_empty() { String::new() } else { format!(", but for {}", overridden.join(", ")) };
    let name = config.protocol.profile.name();
    let is_redissons = config.protocol.profile.redisson_version().is_some();
    if is_redissons && translation_of(config.lock).redisson().object.is_none() {
        // Redisson has no such lock.
        return format!("no library is named; what all kinds of lock have in common is as in {name}{but}");
    }
    format!("the protocol is that of {name}{but}")
}

/// A line for each client that has settings of its own: what is different.
pub(super) fn unlike_clients(config: &Config) -> impl Iterator<Item = String> {
    (0..config.clients.count).filter_map(|client| {
        let own = config.of_client(client);
        let mut differences = Vec::new();
        if own.clients.acquires != config.clients.acquires {
            differences.push(match own.clients.acquires {
                None => "it may ask any number of times".to_owned(),
                Some(0) => "it never asks".to_owned(),
                Some(times) => format!("it asks at most {}", count(times.into(), "time")),
            });
        }
        if own.clients.role != config.clients.role {
            differences.push(match own.clients.role {
                ClientRole::Both => "it reads and writes".to_owned(),
                ClientRole::Reader => "it only reads".to_owned(),
                ClientRole::Writer => "it only writes".to_owned(),
            });
        }
        if own.clients.parts != config.clients.parts {
            differences.push(match own.clients.parts {
                PartOrder::InOrder => "it takes the first part, then the second one".to_owned(),
                PartOrder::Reversed => "it takes the second part, then the first one".to_owned(),
                PartOrder::FirstOnly => "it takes the first part only".to_owned(),
                PartOrder::SecondOnly => "it takes the second part only".to_owned(),
            });
        }
        if own.clients.values != config.clients.values {
            let named: Vec<_> = own.clients.values.numbers().map(|number| number.to_string()).collect();
            differences.push(match named.as_slice() {
                [one] => format!("it names value {one} only"),
                several => format!("it names the values {}", several.join(" and ")),
            });
        }
        if own.clients.clock_ahead != config.clients.clock_ahead {
            differences.push(match own.clients.clock_ahead {
                0 => "its clock is right".to_owned(),
                ahead => format!("its clock is {} ahead", time(config, ahead.into())),
            });
        }
        let phrases = [lease, reentry, renewal, wait, hold, profile].map(|phrase| (phrase(&own), phrase(config)));
        differences.extend(phrases.into_iter().filter(|(own, common)| own != common).map(|(own, _)| own));
        let has_other_profile = own.protocol.profile != config.protocol.profile;
        let common = if has_other_profile { own.protocol.profile.protocol() } else { config.protocol };
        differences.extend(different(switches(own.protocol), switches(common)));
        differences.extend(different(sending(own.calls), sending(config.calls)));
        let differences = differences.join("; ");
        (!differences.is_empty()).then(|| format!("client {} differs: {differences}", client_name(client)))
    })
}

/// A key of a scenario and its value.
pub type KeyAndValue = (&'static str, Value);

/// The switches of a protocol but for its profile, as a scenario would write them.
pub fn switches(protocol: Protocol) -> Vec<KeyAndValue> {
    let Protocol {
        profile: _,
        receipts,
        answered_receipt,
        partial_release,
        renewal_timer,
        renewal_batch,
        missed_renewal,
        failed_renewal,
        remembered_lease,
        refused_lease,
        round_lease,
        final_lease,
        failed_part,
        needed_masters,
        interrupted_call,
        wait_rule,
        wait_after,
        value,
        acquire,
        release,
        extend,
        read_release,
        token,
        no_ttl_answer,
        held_query,
        read_renewal,
        downgrade,
        elapsed_time,
        interrupted_waiter,
        subscribe_to,
    } = protocol;
    vec![
        ("receipts", json!(receipts)),
        ("answered_receipt", json!(answered_receipt)),
        ("partial_release", json!(partial_release)),
        ("renewal_timer", json!(renewal_timer)),
        ("renewal_batch", json!(renewal_batch)),
        ("missed_renewal", json!(missed_renewal)),
        ("failed_renewal", json!(failed_renewal)),
        ("remembered_lease", json!(remembered_lease)),
        ("refused_lease", json!(refused_lease)),
        ("round_lease", json!(round_lease)),
        ("final_lease", json!(final_lease)),
        ("failed_part", json!(failed_part)),
        ("needed_masters", json!(needed_masters)),
        ("interrupted_call", json!(interrupted_call)),
        ("wait_rule", json!(wait_rule)),
        ("wait_after", json!(wait_after)),
        ("value", json!(value)),
        ("acquire", json!(acquire)),
        ("release", json!(release)),
        ("extend", json!(extend)),
        ("read_release", json!(read_release)),
        ("token", json!(token)),
        ("no_ttl_answer", json!(no_ttl_answer)),
        ("held_query", json!(held_query)),
        ("read_renewal", json!(read_renewal)),
        ("downgrade", json!(downgrade)),
        ("elapsed_time", json!(elapsed_time)),
        ("interrupted_waiter", json!(interrupted_waiter)),
        ("subscribe_to", json!(subscribe_to)),
    ]
}

/// How requests are sent, as a scenario would write it.
pub fn sending(calls: Calls) -> Vec<KeyAndValue> {
    let Calls {
        answer_within,
        resend,
        retry_attempts,
        request_id,
        receipt,
        registration,
        interrupted_acquire,
        stale_renewal,
        refused_call,
        unanswered_ask,
    } = calls;
    vec![
        ("answer_within", json!(answer_within)),
        ("resend", json!(resend)),
        ("retry_attempts", json!(retry_attempts)),
        ("request_id", json!(request_id)),
        ("receipt", json!(receipt)),
        ("registration", json!(registration)),
        ("interrupted_acquire", json!(interrupted_acquire)),
        ("stale_renewal", json!(stale_renewal)),
        ("refused_call", json!(refused_call)),
        ("unanswered_ask", json!(unanswered_ask)),
    ]
}

/// Those that have another value: `failed_renewal = "forget"`.
fn different(own: Vec<KeyAndValue>, common: Vec<KeyAndValue>) -> impl Iterator<Item = String> {
    own.into_iter()
        .zip(common)
        .filter(|(own, common)| own != common)
        .map(|((key, value), _)| format!("{key} = {value}"))
}
