//! Worlds that real Redisson may follow: with a lock that it has, clients that have the rules of their version, and times that its
//! options can have. What it cannot follow besides is refused by the replay, and another world is drawn.

use proptest::option::{Probability, weighted};
use proptest::prelude::*;

use super::rows::{DrawnKey, OF_PARTS, OWN_ROWS, ROWS, always, row};
use super::said::Said;
use super::{UNLIKE, WILD, text, values};

/// Rules of the protocol that each version has by itself, and what is not of Redisson.
const LEFT_OUT: &[&str] = &[
    "tick_ms",
    "role",
    "groups",
    "fencing",
    "resource.delay",
    "strong",
    "receipts",
    "receipt",
    "request_id",
    "renewal_timer",
    "missed_renewal",
    "partial_release",
    "answered_receipt",
    "failed_renewal",
    "registration",
    "stale_renewal",
    "interrupted_acquire",
    "interrupted_waiter",
    "downgrade",
    "read_release",
    "read_renewal",
    "remembered_lease",
    "refused_lease",
    "round_lease",
    "final_lease",
    "failed_part",
    "needed_masters",
    "interrupted_call",
    "unanswered_ask",
    "refused_call",
    "no_ttl_answer",
    "held_query",
    "lock_delay",
    "start_delay",
];

const PROFILES: &[&str] = &[
    "\"redisson-3.15\"",
    "\"redisson-3.43\"",
    "\"redisson-3.43\"",
    "\"redisson-3.52\"",
    "\"redisson-4.3\"",
    "\"redisson-4.7\"",
    "\"redisson-4.7\"",
    "\"redisson-4.7\"",
];

/// What stands in the place of the rows of other worlds: a watchdog renews at a third of the lease, a client without replicas sends
/// either nothing again or everything, and one beside replicas everything.
const OF_REDISSON: &[DrawnKey] = &[
    always(
        "lock",
        &[
            "\"reentrant\"",
            "\"reentrant\"",
            "\"reentrant\"",
            "\"fair\"",
            "\"read-write\"",
            "\"fenced\"",
            "\"spin\"",
            "\"multi\"",
            "\"value-multi\"",
        ],
    ),
    row("profile", OF_PARTS, 100, Said::has_parts),
    row("profile", PROFILES, 100, |said| !said.names_values() && !said.has_parts()),
    row("profile", &["\"redisson-3.52\"", "\"redisson-4.3\"", "\"redisson-4.7\""], 100, Said::names_values),
    always("lease", &["1", "2", "3", "3", "3", "4", "6"]),
    row("renew_every", &["1"], 65, |said| said.is("lease", "3")),
    row("renew_every", &["2"], 100, |said| said.is("lease", "6")),
    row("mode", &["\"split\"", "\"split\"", "\"atomic\""], 100, |said| {
        !said.queues() && !said.shares() && !said.issues_tokens() && !said.spins() && !said.reads_caller_clock()
    }),
    row("resend", &["\"all\"", "\"all\"", "\"none\""], 100, |said| said.is_split() && !said.some("replicas")),
    row("resend", &["\"all\""], 100, Said::is_split),
    row("wait_after", &["\"every-call\""], 100, |said| {
        said.is_split() && said.some("wait_for") && said.is("count", "1") && !said.is("threads", "2")
    }),
    row("wait_after", &["\"grants-and-renewals\"", "\"grants\""], 60, |said| {
        !said.is_split() && said.some("wait_for") && said.has("renew_every") && said.is("replicas", "1")
    }),
    row("hold_at_most", &["1", "2", "2", "3", "4"], 80, |_| true),
    row("promote", &["\"any\"", "\"most-data\"", "\"priority\""], 30, |said| said.some("replicas")),
    row("renewal_timer", &["\"multiplying\""], 10, |said| {
        said.has("renew_every") && !said.is_split() && !said.shares()
    }),
];

/// The rows in their order, with those of Redisson where the others stood.
fn rows() -> Vec<DrawnKey> {
    let is_left_out = |row: &&DrawnKey| !LEFT_OUT.contains(&row.key);
    let is_replaced = |row: &&DrawnKey| OF_REDISSON.iter().any(|own| own.key == row.key);
    let mut rows = Vec::new();
    for row in ROWS.iter().filter(is_left_out) {
        if !is_replaced(&row) {
            rows.push(*row);
        } else if rows.iter().all(|known| known.key != row.key) {
            rows.extend(OF_REDISSON.iter().filter(|own| own.key == row.key));
        }
    }
    rows
}

/// The text of a small world, of which Redisson can follow most.
pub fn any_text_for_redisson() -> impl Strategy<Value = String> {
    let own = weighted(Probability::new(f64::from(UNLIKE) / 100.0), values(OWN_ROWS, 1));
    let rows = rows();
    (prop_oneof![3 => values(&rows, 1), 1 => values(&rows, WILD)], own)
        .prop_map(move |(values, own)| text(&rows, &values, &own.unwrap_or_default(), false))
}
