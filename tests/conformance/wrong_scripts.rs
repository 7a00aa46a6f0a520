//! The replay has teeth: a script with one rule wrong is caught, on the real server, in the scenario that speaks of the
//! rule, and by what is named here.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_redis::Scripts;
use lockstep_sim::fuzz::{Options, fuzz};
use lockstep_sim::replay::Server;
use lockstep_sim::scenario::builtin;
use lockstep_tests::servers::servers;

/// One rule made wrong.
struct Wrong {
    script: &'static str,
    /// What is wrong.
    rule: &'static str,
    /// In the script's own text: this …
    right: &'static str,
    /// … becomes that.
    instead: &'static str,
    /// Where it shows.
    scenario: &'static str,
    /// What differs first, once the history is as short as it gets.
    caught_by: &'static str,
}

const WRONG: [Wrong; 26] = [
    // Plain.
    Wrong {
        script: "plain/acquire",
        rule: "taken from whoever has it",
        right: "'nx', ",
        instead: "",
        scenario: "plain-two-clients-one-node",
        caught_by: "reply",
    },
    Wrong {
        script: "plain/acquire",
        rule: "no TTL",
        right: ", 'px', lease_ms",
        instead: "",
        scenario: "plain-two-clients-one-node",
        caught_by: "keys on n1",
    },
    Wrong {
        script: "plain/extend",
        rule: "extended by anybody",
        right: "if not is_mine then",
        instead: "if redis.call('exists', lock) == 0 then",
        scenario: "missed-renewal",
        caught_by: "reply",
    },
    Wrong {
        script: "plain/extend",
        rule: "a lost lock is made anew",
        right: "if not is_mine then\n  return 0\nend",
        instead: "if not is_mine then\n  redis.call('set', lock, holder)\nend",
        scenario: "missed-renewal",
        caught_by: "reply",
    },
    Wrong {
        script: "plain/extend",
        rule: "the lease is not extended",
        right: "redis.call('pexpire', lock, lease_ms)",
        instead: "",
        scenario: "plain-two-clients-one-node",
        caught_by: "keys on n1",
    },
    Wrong {
        script: "plain/release",
        rule: "a plain DEL",
        right: "if not is_mine then",
        instead: "if false then",
        scenario: "plain-foreign-release",
        caught_by: "reply",
    },
    Wrong {
        script: "plain/release",
        rule: "nothing is deleted",
        right: "redis.call('del', lock)",
        instead: "",
        scenario: "plain-foreign-release",
        caught_by: "keys on n1",
    },
    // Reentrant: acquire.
    Wrong {
        script: "reentrant/acquire",
        rule: "taken beside whoever has it",
        right: "if not (is_free or is_mine) then",
        instead: "if false then",
        scenario: "two-clients-one-node",
        caught_by: "reply",
    },
    Wrong {
        script: "reentrant/acquire",
        rule: "no re-entry",
        right: "if not (is_free or is_mine) then",
        instead: "if not is_free then",
        scenario: "reentry-and-partial-release",
        caught_by: "reply",
    },
    Wrong {
        script: "reentrant/acquire",
        rule: "a re-entry does not count",
        right: "redis.call('hincrby', lock, holder, 1)",
        instead: "redis.call('hset', lock, holder, 1)",
        scenario: "reentry-and-partial-release",
        caught_by: "keys on n1",
    },
    Wrong {
        script: "reentrant/acquire",
        rule: "a re-entry does not reset the TTL",
        right: "redis.call('pexpire', lock, lease_ms)",
        instead: "if is_free then redis.call('pexpire', lock, lease_ms) end",
        scenario: "reentry-and-partial-release",
        caught_by: "keys on n1",
    },
    Wrong {
        script: "reentrant/acquire",
        rule: "the TTL is told in seconds",
        right: "redis.call('pttl', lock)",
        instead: "redis.call('ttl', lock)",
        scenario: "two-clients-one-node",
        caught_by: "reply",
    },
    // Reentrant: renew.
    Wrong {
        script: "reentrant/renew",
        rule: "a lost lock is made anew",
        right: "local is_held = redis.call('hexists', lock, holder) == 1",
        instead: "local is_held = redis.call('hsetnx', lock, holder, 1) >= 0",
        scenario: "pause-longer-than-lease",
        caught_by: "reply",
    },
    Wrong {
        script: "reentrant/renew",
        rule: "renewed for anybody",
        right: "redis.call('hexists', lock, holder) == 1",
        instead: "redis.call('exists', lock) == 1",
        scenario: "pause-longer-than-lease",
        caught_by: "reply",
    },
    Wrong {
        script: "reentrant/renew",
        rule: "the lease is not renewed",
        right: "redis.call('pexpire', lock, lease_ms)",
        instead: "",
        scenario: "two-clients-one-node",
        caught_by: "keys on n1",
    },
    // Reentrant: release.
    Wrong {
        script: "reentrant/release",
        rule: "released by anybody",
        right: "if not is_mine then",
        instead: "if redis.call('exists', lock) == 0 then",
        scenario: "foreign-release",
        caught_by: "reply",
    },
    Wrong {
        script: "reentrant/release",
        rule: "deleted before the count reaches 0",
        right: "if holds > 0 then",
        instead: "if false then",
        scenario: "reentry-and-partial-release",
        caught_by: "reply",
    },
    Wrong {
        script: "reentrant/release",
        rule: "a partial release leaves the lease as it was",
        right: "  redis.call('pexpire', lock, lease_ms)\n",
        instead: "",
        scenario: "reentry-and-partial-release",
        caught_by: "keys on n1",
    },
    Wrong {
        script: "reentrant/release",
        rule: "nothing is published",
        right: "redis.call('publish', channel, message)",
        instead: "",
        scenario: "two-clients-one-node",
        caught_by: "messages to B",
    },
    Wrong {
        script: "reentrant/release",
        rule: "published on another channel",
        right: "redis.call('publish', channel, message)",
        instead: "redis.call('publish', lock, message)",
        scenario: "two-clients-one-node",
        caught_by: "messages to B",
    },
    Wrong {
        script: "reentrant/release",
        rule: "another message",
        right: "redis.call('publish', channel, message)",
        instead: "redis.call('publish', channel, '1')",
        scenario: "two-clients-one-node",
        caught_by: "messages to B",
    },
    Wrong {
        script: "reentrant/release",
        rule: "the key stays, empty of meaning",
        right: "redis.call('del', lock)",
        instead: "",
        scenario: "two-clients-one-node",
        caught_by: "keys on n1",
    },
    // Reentrant: the release of 2021.
    Wrong {
        script: "reentrant/release_without_receipt",
        rule: "released by anybody",
        right: "if not is_mine then",
        instead: "if redis.call('exists', lock) == 0 then",
        scenario: "missed-renewal-of-2021",
        caught_by: "reply",
    },
    Wrong {
        script: "reentrant/release_without_receipt",
        rule: "a receipt all the same",
        right: "redis.call('del', lock)",
        instead: "redis.call('del', lock) redis.call('set', 'receipt', 1)",
        scenario: "missed-renewal-of-2021",
        caught_by: "keys on n1",
    },
    // Reentrant: force release.
    Wrong {
        script: "reentrant/force_release",
        rule: "nothing is published",
        right: "redis.call('publish', channel, message)",
        instead: "",
        scenario: "force-release",
        caught_by: "messages to B",
    },
    Wrong {
        script: "reentrant/force_release",
        rule: "it always says that something was there",
        right: "  return 0\n",
        instead: "  return 1\n",
        scenario: "force-release",
        caught_by: "reply",
    },
];

/// Histories drawn before a wrong script counts as not caught.
const MOST_CASES: u32 = 2_000;

#[test]
fn every_wrong_script_is_caught_by_the_replay() {
    let version = servers().swap_remove(0);
    let missed: Vec<String> = WRONG.iter().filter_map(|wrong| not_caught(wrong, &version)).collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn every_script_is_made_wrong_somehow() {
    let made_wrong: BTreeSet<_> = WRONG.iter().map(|wrong| wrong.script).collect();
    let known: BTreeSet<_> = Scripts::built_in().iter().map(lockstep_redis::Script::name).collect();
    assert_eq!(made_wrong, known);
}

/// Why this one is not caught as it should be, if so.
fn not_caught(wrong: &Wrong, version: &Server) -> Option<String> {
    let Wrong { script, rule, right, instead, scenario, caught_by } = wrong;
    let text = Scripts::built_in().get(script).text().to_owned();
    assert!(text.contains(right), "{script} does not say {right:?} any more");
    let scripts = Scripts::built_in().replace(script, &text.replacen(right, instead, 1));
    let scenario = scenario_of(script, scenario);
    let options = Options { cases: MOST_CASES, seed: 1 };
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let found = fuzz(&scenario, version, scripts, options, &stop, &progress)
        .unwrap_or_else(|error| panic!("{script}, {rule}: {error}"));
    let by = found.counterexample.map(|(_, difference)| difference.what);
    (by.as_deref() != Some(caught_by)).then(|| format!("{script}, {rule}: {by:?} and not {caught_by:?}"))
}

/// The built-in scenario; or, for the plain lock, the reentrant one of that name with the lock changed.
fn scenario_of(script: &str, name: &str) -> lockstep_sim::scenario::Scenario {
    let find = |name: &str| builtin().into_iter().find(|scenario| scenario.name == name);
    if script.starts_with("plain/") && name == "missed-renewal" {
        let mut paused = find("missed-renewal-of-2026").expect("a built-in scenario");
        paused.config.lock = lockstep_model::LockKind::Plain;
        paused.config.clients.count = 2;
        return paused;
    }
    find(name).unwrap_or_else(|| panic!("no scenario {name}"))
}
