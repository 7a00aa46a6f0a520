//! A thread that asks whether it holds: where that can be said, and where it is refused or has no effect.

use lockstep_model::LockKind;
use lockstep_model::config::{AfterRefusal, HeldQuery};

use super::*;

const ASKS: &str = "after_refusal = \"ask-if-held\"";

/// A lock that is asked, or another kind, with these keys in `[time]`, `[clients]` and `[protocol]`.
fn world(is_asked: bool, [time, clients, protocol]: [&str; 3]) -> String {
    let is_meant = |kind: &&LockKind| kind.facts().held_query.is_there() == is_asked && kind.facts().publishes();
    let kind = LockKind::ALL.iter().find(is_meant).expect("there are both").name();
    format!(
        "story = \"s\"\nlock = \"{kind}\"\n[time]\nlease = 3\n{time}\n[clients]\ncount = 2\nacquires = 2\n{clients}\n[protocol]\n{protocol}\n"
    )
}

#[test]
fn a_client_asks_only_if_its_file_says_so_and_as_its_profile_does() {
    let said = |clients: &str, protocol: &str| read(&world(true, ["wait_limit = 0", clients, protocol])).config;
    assert_eq!(said("", "").clients.after_refusal, AfterRefusal::Leave);
    let asking = said(ASKS, "");
    assert_eq!(
        (asking.clients.after_refusal, asking.protocol.held_query),
        (AfterRefusal::AskIfHeld, HeldQuery::LaterValues)
    );
    assert_eq!(said(ASKS, "held_query = \"every-value\"").protocol.held_query, HeldQuery::EveryValue);
    assert_eq!(said(ASKS, "profile = \"redisson-4.3\"").protocol.held_query, HeldQuery::LaterValues);
}

#[test]
fn a_question_that_nobody_asks_or_that_is_not_modelled_is_refused() {
    let every = "held_query = \"every-value\"";
    let cases = [
        (true, ["wait_limit = 0", "", every], Code::Impossible),
        (true, ["", ASKS, ""], Code::Impossible),
        (true, ["wait_limit = 0", "stops_at = \"validity\"\nafter_refusal = \"ask-if-held\"", ""], Code::NotModelled),
        (false, ["wait_limit = 0", ASKS, ""], Code::NotModelled),
        (false, ["wait_limit = 0", "", every], Code::Impossible),
    ];
    assert_eq!(codes(&(world(true, ["", ASKS, ""]) + "[faults]\nrefuse_writes = 1")), [], "such a call ends");
    for (is_asked, keys, code) in cases {
        assert_eq!(codes(&world(is_asked, keys)), [code], "{is_asked}: {keys:?}");
    }
    assert_eq!(codes(&world(true, ["", ASKS, ""]).replace("count = 2", "count = 1")), [Code::Impossible]);
}
