//! Accepted texts, rejected texts, and the reports that users see.

use lockstep_model::config::{
    Bound, ExtendRule, FailedRenewal, Fsync, LockKind, MessageDelay, MissedRenewal, Profile, PromoteRule, ReleaseRule,
    RenewalTimer, ValueRule, WaitRule,
};
use lockstep_model::{Property, Verdict};

use super::keys::{CLIENT, KEYS, ScenarioKey, header};
use super::*;

mod advice;
mod any_text;
mod bounds;
mod calls;
mod clients;
mod files;
mod held_query;
mod several_masters;
mod slot_move;
mod units;
mod wrong_clocks;

/// Four keys have no default; this text sets them and nothing else.
const SMALLEST: &str = "story = \"s\"\nlock = \"reentrant\"\n[time]\nlease = 3\n[clients]\ncount = 2\n";

/// Every key, each with an accepted value.
const EVERYTHING: &str = r#"
story = """
The grant dies with the master
before the replica has seen it."""
lock = "reentrant"

[time]
tick_ms = 2_000
lease = 3
renew_every = 1
wait_limit = 6
hold_at_most = 4
jump = -4

[clients]
count = 3
threads = 2
max_holds = 2
acquires = 2
hold_for_ever = false

[cluster]
groups = 1
replicas = 1
wait_for = 0
min_replicas = 1
lag = 2
promote = "most-data"
min_replicas_max_lag = 2
min_replicas_slack = 3
fsync = "everysec"
restart_after = 3
lock_delay = 4

[network]
mode = "atomic"
delay = "any"

[protocol]
profile = "redisson-3.15"
receipts = true
resend = "none"
renewal_timer = "shared"
missed_renewal = "tell-holder"
failed_renewal = "retry"

[faults]
crash_client = 1
crash_thread = 2
pause_client = 3
crash_node = 4
restart_node = 2
cut_link = 3
refuse_writes = 1
clock_jump = 0
client_clock_jump = 2
lose_request = 0
lose_reply = 0
lose_message = 5
foreign_release = 6
force_release = 7
vanish_key = 8
persist_key = 1
break_link = 2

[resource]
fencing = "ideal"

[expect]
one-believer = "violated"
tokens-increase = "holds"
actions-reached = "vacuous"
"#;

fn read(text: &str) -> Scenario {
    Scenario::parse("example", text).unwrap_or_else(|error| panic!("{error}"))
}

/// The smallest scenario with some additional lines.
fn smallest_and(lines: &str) -> String {
    format!("{SMALLEST}{lines}\n")
}

fn codes(text: &str) -> Vec<Code> {
    Scenario::parse("example", text)
        .err()
        .map(|error| error.problems().map(Problem::code).collect())
        .unwrap_or_default()
}

fn picture(text: &str) -> String {
    Scenario::parse("example", text).expect_err("it is wrong").to_string()
}

#[test]
fn what_is_left_out_has_the_defaults_of_the_design() {
    let Scenario { name, story, config, expect, others, units } = read(SMALLEST);
    assert_eq!(units, TimesWithUnits::default());
    assert_eq!((name.as_str(), story.as_str()), ("example", "s"));
    assert_eq!(config.lock, LockKind::Reentrant);
    assert_eq!(config.time.tick_ms, 10_000);
    assert_eq!(config.time.lease, 3);
    assert_eq!((config.time.renew_every, config.time.wait_limit, config.time.hold_at_most), (None, None, None));
    assert_eq!((config.clients.count, config.clients.threads, config.clients.max_holds), (2, 1, 1));
    assert_eq!(config.clients.acquires, None);
    assert_eq!((config.cluster.replicas, config.cluster.lag), (0, Bound::Any));
    assert_eq!(config.cluster.promote, PromoteRule::Any);
    assert_eq!(config.network.delay, MessageDelay::None);
    assert_eq!(config.protocol, Profile::Redisson47.protocol());
    assert_eq!(config.faults, lockstep_model::config::Faults::default());
    assert_eq!(config.resource, None);
    assert!(expect.is_empty());
    assert_eq!(others, Others::Hold, "a file that claims nothing claims that all is well");
}

#[test]
fn what_is_not_claimed_beside_a_claim_is_only_reported_unless_the_file_says_otherwise() {
    let others = |lines: &str| read(&smallest_and(&format!("[expect]\n{lines}"))).others;
    assert_eq!(others(""), Others::Hold);
    assert_eq!(others("one-believer = \"holds\""), Others::Reported);
    assert_eq!(others("one-believer = \"holds\"\nothers = \"holds\""), Others::Hold);
    for wrong in ["\"violated\"", "\"vacuous\"", "true", "1"] {
        assert_eq!(codes(&smallest_and(&format!("[expect]\nothers = {wrong}"))), [Code::NotAClaim], "{wrong}");
    }
}

#[test]
fn every_key_is_read() {
    let Scenario { story, config, expect, .. } = read(EVERYTHING);
    assert_eq!(story, "The grant dies with the master before the replica has seen it.");
    assert_eq!(config.time.tick_ms, 2_000);
    assert_eq!((config.time.renew_every, config.time.wait_limit), (Some(1), Some(6)));
    assert_eq!(config.time.hold_at_most, Some(4));
    assert_eq!((config.clients.count, config.clients.threads, config.clients.max_holds), (3, 2, 2));
    assert_eq!(config.clients.acquires, Some(2));
    assert_eq!((config.cluster.replicas, config.cluster.lag), (1, Bound::Ticks(2)));
    assert_eq!(config.cluster.promote, PromoteRule::MostData);
    assert_eq!(config.network.delay, MessageDelay::Any);
    let faults = config.faults;
    assert_eq!((faults.crash_client, faults.crash_thread, faults.pause_client, faults.crash_node), (1, 2, 3, 4));
    assert_eq!((faults.lose_message, faults.foreign_release, faults.force_release), (5, 6, 7));
    assert_eq!((faults.restart_node, faults.cut_link, faults.vanish_key), (2, 3, 8));
    assert_eq!((faults.persist_key, faults.break_link, faults.vanish_receipts), (1, 2, 0));
    assert_eq!((config.cluster.fsync, config.cluster.restart_after), (Fsync::EverySecond, 3));
    assert_eq!(config.cluster.lock_delay, 4);
    assert_eq!((config.time.jump, faults.clock_jump, faults.client_clock_jump), (-4, 0, 2));
    assert_eq!((config.cluster.min_replicas, config.cluster.min_replicas_max_lag), (1, 2));
    assert_eq!((config.cluster.min_replicas_slack, faults.refuse_writes), (3, 1));
    assert!(config.resource.expect("there is a resource").is_fenced());
    assert_eq!(expect.len(), 3);
    assert_eq!(expect[&Property::OneBeliever], Verdict::Violated);
}

#[test]
fn a_switch_that_is_given_overrides_the_profile() {
    let protocol = read(EVERYTHING).config.protocol;
    assert_eq!(protocol.profile, Profile::Redisson315);
    assert!(protocol.receipts);
    assert_eq!(protocol.renewal_timer, RenewalTimer::Shared);
    assert_eq!(protocol.missed_renewal, MissedRenewal::TellHolder);
    assert_eq!(protocol.failed_renewal, FailedRenewal::Retry);
}

#[test]
fn how_renewals_are_done_is_refused_where_nothing_renews() {
    for line in ["renewal_timer = \"shared\"", "missed_renewal = \"tell-holder\"", "failed_renewal = \"retry\""] {
        let text = smallest_and(&format!("[protocol]\n{line}"));
        assert_eq!(codes(&text), [Code::Impossible], "{line}");
        assert_eq!(codes(&text.replace("lease = 3", "lease = 3\nrenew_every = 1")), [], "{line}");
    }
    assert_eq!(codes(&smallest_and("[protocol]\nprofile = \"lockstep\"")), [], "a profile is of no world");
}

/// A file that asks for a safeguard which the client does not have must say that it knows.
#[test]
fn a_profile_that_ignores_the_answer_to_wait_is_named_where_a_scenario_waits() {
    let of_2021 = "[cluster]\nreplicas = 1\nwait_for = 1\n[protocol]\nprofile = \"redisson-3.15\"\n";
    let refusal = picture(&smallest_and(of_2021)).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(refusal.contains("send WAIT but ignore the answer"), "{refusal}");
    assert!(refusal.contains("wait_rule = \"ignored\""), "{refusal}");
    for (word, rule) in [("any", WaitRule::Any), ("all", WaitRule::All), ("ignored", WaitRule::Ignored)] {
        let config = read(&smallest_and(&format!("{of_2021}wait_rule = \"{word}\""))).config;
        assert_eq!(config.protocol.wait_rule, rule);
    }
    let without = read(&smallest_and("[protocol]\nprofile = \"redisson-3.15\"")).config;
    assert_eq!(without.protocol.wait_rule, WaitRule::Ignored);
}

#[test]
fn a_value_is_of_one_acquire_unless_the_scenario_says_otherwise() {
    let plain = SMALLEST.replace("reentrant", "plain");
    let rule = |lines: &str| read(&format!("{plain}{lines}")).config.protocol.value;
    assert_eq!(rule(""), ValueRule::PerAcquire);
    assert_eq!(rule("[protocol]\nvalue = \"per-acquire\""), ValueRule::PerAcquire);
    assert_eq!(rule("[protocol]\nvalue = \"per-client\""), ValueRule::PerClient);
    assert_eq!(codes(&(plain + "[protocol]\nvalue = \"per-thread\"")), [Code::UnknownWord]);
}

/// Traces take the spelling of `"lower-first"` from the model, scenarios take it from the reader.
#[test]
fn scenarios_and_traces_spell_the_switches_alike() {
    for profile in Profile::ALL {
        let spelt = serde_json::to_value(profile.protocol()).expect("a protocol is JSON");
        // The plain lock has no receipts; and a release behind a renewal that has failed is a request of its own.
        let (kind, receipts, mode) =
            if profile.is_of_one_key() { ("plain", None, "split") } else { ("reentrant", Some("receipts"), "atomic") };
        let keys = ["profile", "renewal_timer", "missed_renewal", "failed_renewal"].into_iter().chain(receipts);
        let lines = keys.map(|key| format!("{key} = {}\n", spelt[key])).collect::<Vec<_>>().concat();
        let text = smallest_and(&format!("[protocol]\n{lines}[network]\nmode = \"{mode}\"\n"));
        let text = text.replace("lease = 3", "lease = 3\nrenew_every = 1\nwait_limit = 0");
        let text = text.replace("\"reentrant\"", &format!("\"{kind}\""));
        assert_eq!(read(&text).config.protocol, profile.protocol());
    }
    for rule in [PromoteRule::Any, PromoteRule::MostData, PromoteRule::Priority] {
        let spelt = serde_json::to_value(rule).expect("a rule is JSON");
        let text = smallest_and(&format!("[cluster]\nreplicas = 1\npromote = {spelt}"));
        assert_eq!(read(&text).config.cluster.promote, rule);
    }
}

#[test]
fn a_scenario_says_whether_fairness_is_strong() {
    assert!(!read(SMALLEST).config.strong_fairness);
    assert!(!read(&smallest_and("[fairness]")).config.strong_fairness);
    assert!(read(&smallest_and("[fairness]\nstrong = true")).config.strong_fairness);
    assert_eq!(codes(&smallest_and("[fairness]\nstrong = \"renew\"")), [Code::WrongType]);
}

/// The rules of the lock are those of all its clients.
#[test]
fn a_profile_of_a_library_is_for_its_kind_of_lock_and_for_all_clients() {
    let plain = |rest: &str| smallest_and(rest).replace("lock = \"reentrant\"", "lock = \"plain\"");
    let shedlock = "[protocol]\nprofile = \"shedlock-7\"";
    assert_eq!(codes(&smallest_and(shedlock)), [Code::Impossible]);
    let protocol = read(&plain(shedlock)).config.protocol;
    assert_eq!(protocol, Profile::Shedlock7.protocol());
    assert_eq!((protocol.release, protocol.extend), (ReleaseRule::Delete, ExtendRule::Overwrite));
    let safe = read(&plain(&format!("{shedlock}\nrelease = \"compare\""))).config.protocol;
    assert_eq!((safe.release, safe.extend), (ReleaseRule::Compare, ExtendRule::Overwrite));
    assert_eq!(codes(&plain("[[client]]\nprofile = \"shedlock-7\"")), [Code::NotModelled]);
    let both = read(&plain(&format!("{shedlock}\n[[client]]\nprofile = \"shedlock-7\"\nlease = 2")));
    assert_eq!(both.config.of_client(0).protocol, Profile::Shedlock7.protocol());
    let other = read(&plain("[[client]]\nprofile = \"redis-py-8\""));
    assert_eq!(other.config.of_client(0).protocol, Profile::RedisPy8.protocol());
}

/// Each of the three looks at a lock that has no TTL yet in a way that the model does not have.
#[test]
fn an_acquire_by_two_commands_stands_beside_no_watchdog_no_wait_and_no_interrupt() {
    let plain = |rest: &str| {
        let text = smallest_and(&format!("[protocol]\nacquire = \"setnx-expire\"\n{rest}"));
        text.replace("lock = \"reentrant\"", "lock = \"plain\"")
    };
    assert!(read(&plain("")).config.sets_ttl_apart());
    assert_eq!(codes(&plain("[faults]\ninterrupt = 1")), [Code::NotModelled]);
    assert_eq!(codes(&plain("[cluster]\nreplicas = 1\nwait_for = 1")), [Code::NotModelled]);
    assert_eq!(codes(&plain("[[client]]\nrenew_every = 1")), [Code::NotModelled]);
    let reentrant = smallest_and("[protocol]\nacquire = \"setnx-expire\"\nrelease = \"delete\"");
    assert_eq!(codes(&reentrant), [Code::Impossible, Code::Impossible]);
}

/// A key that is in the list of known keys but is not read would be accepted and ignored.
#[test]
fn every_known_key_is_looked_at() {
    let everywhere = KEYS.iter().flat_map(|key| {
        [key.table].into_iter().chain(key.is_of_client.then_some(CLIENT)).map(move |table| (table, key))
    });
    for (table, ScenarioKey { name, takes, .. }) in everywhere {
        let header = if table.is_empty() { String::new() } else { header(table) };
        let text = format!("{header}\n{name} = 1979-05-27\n");
        let at_the_date = |problem: &&Problem| matches!(problem.code(), Code::WrongType | Code::NotModelled);
        let error = Scenario::parse("example", &text).expect_err("no key takes a date");
        assert_eq!(error.problems().filter(at_the_date).count(), 1, "{table}.{name}: {error}");
        // The documentation of a key matches what its reader expects.
        let is_told = error.report(false).contains(&format!("must be {takes}"));
        assert!(is_told, "{table}.{name}: {}", error.report(false));
    }
}

#[test]
fn equal_lease_and_renewal_period_are_possible_because_a_key_with_nothing_left_is_still_there() {
    assert_eq!(codes(&SMALLEST.replace("lease = 3", "lease = 3\nrenew_every = 3")), []);
    assert_eq!(codes(&SMALLEST.replace("lease = 3", "lease = 3\nrenew_every = 4")), [Code::Impossible]);
}

#[test]
fn what_the_model_does_not_know_is_refused_and_not_ignored() {
    let waiting = "[cluster]\nreplicas = 1\nwait_for = 1\n";
    let split = "[network]\nmode = \"split\"\n[faults]\n";
    for text in [
        SMALLEST.replace("lease = 3", "lease = 3\njump = 4")
            + "[cluster]\nreplicas = 1\nmin_replicas = 1\n[faults]\nclock_jump = 1",
        SMALLEST.replace("lease = 3", "lease = 3\njump = -4")
            + "[cluster]\nfsync = \"everysec\"\n[faults]\nclock_jump = 1\ncrash_node = 1\nrestart_node = 1",
        SMALLEST.replace("lease = 3", "lease = 3\njump = 4") + waiting + "[faults]\nclock_jump = 1",
        smallest_and(split) + "vanish_key = 1",
        SMALLEST.replace("lease = 3", "lease = 3\nreentry_lease = 1\nrenew_every = 1")
            + "max_holds = 2\n[protocol]\nmissed_renewal = \"tell-holder\"",
        SMALLEST.replace("lease = 3", "lease = 3\njump = 4") + split + "clock_jump = 1",
    ] {
        assert_eq!(codes(&text), [Code::NotModelled], "{text}");
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let plain = SMALLEST.replace("reentrant", "plain");
    for text in [
        plain.clone() + "max_holds = 2",
        plain.clone() + "[faults]\nforce_release = 1",
        plain.clone() + "[faults]\nlose_message = 1",
        plain.clone() + "[cluster]\nreplicas = 1\n[protocol]\nsubscribe_to = \"replica\"",
        plain.replace("lease = 3", "lease = 3\nreentry_lease = 1"),
        SMALLEST.replace("lease = 3", "lease = 3\nreentry_lease = 1"),
        smallest_and("[protocol]\nsubscribe_to = \"replica\""),
        smallest_and("[faults]\nvanish_receipts = 1"),
        smallest_and("[faults]\nbreak_link = 1"),
        smallest_and("[protocol]\nvalue = \"per-acquire\""),
        SMALLEST.replace("lease = 3", "lease = 3\nwait_limit = 0") + "[faults]\nlose_message = 1",
        SMALLEST.replace("lease = 3", "lease = 3\nhold_at_most = 2") + "hold_for_ever = true",
        smallest_and("[cluster]\nlag = 0"),
        smallest_and("[cluster]\nreplicas = 0\npromote = \"any\""),
        smallest_and("[faults]\nclock_jump = 1"),
        SMALLEST.replace("lease = 3", "lease = 3\njump = 0") + "[faults]\nclock_jump = 1",
        SMALLEST.replace("lease = 3", "lease = 3\njump = 4"),
        SMALLEST.replace("lease = 3", "lease = 3\njump = 4") + "[faults]\nclient_clock_jump = 1",
        smallest_and("[faults]\nrestart_node = 1"),
        smallest_and("[faults]\ncut_link = 1"),
        smallest_and("[faults]\ncrash_node = 1\n[cluster]\nfsync = \"always\""),
        smallest_and("[faults]\ncrash_node = 1\nrestart_node = 0\n[cluster]\nrestart_after = 4"),
        smallest_and("[cluster]\nlock_delay = 1"),
        smallest_and("[cluster]\nreplicas = 1\nlock_delay = 1"),
        smallest_and("[cluster]\nstart_delay = 1"),
        smallest_and("[cluster]\ndiscovery = \"any-master\""),
        smallest_and("[cluster]\nreplicas = 1\ndiscovery = \"any-master\"\n[faults]\ncrash_node = 1"),
        SMALLEST.replace("count = 2", "count = 1") + "[faults]\nstart_client = 1",
        smallest_and("[cluster]\nmin_replicas = 1"),
        smallest_and("[cluster]\nreplicas = 1\nmin_replicas = 2"),
        smallest_and("[cluster]\nwait_for = 1"),
        smallest_and("[faults]\nhand_over = 1"),
        smallest_and("[cluster]\nreplicas = 1\npromote = \"coordinated\""),
        smallest_and("[cluster]\nreplicas = 1\nhand_over_timeout = 1\n[faults]\ncrash_node = 1"),
        smallest_and("[cluster]\nreplicas = 1\nwait_for = 2"),
        smallest_and("[cluster]\nreplicas = 2\nwait_for = 2\n[protocol]\nwait_rule = \"any\""),
        smallest_and("[cluster]\nreplicas = 1\nwait_for = 1\n[protocol]\nprofile = \"redisson-3.15\""),
        smallest_and("[faults]\ncrash_node = 1\nrestart_node = 2"),
    ] {
        assert_eq!(codes(&text), [Code::Impossible], "{text}");
    }
    assert_eq!(codes(&(plain + "max_holds = 1\nthreads = 2\n[faults]\ncrash_thread = 1\nlose_message = 0")), []);
}

/// Two keys for the same thing could contradict each other.
#[test]
fn a_key_that_was_given_up_says_which_to_use() {
    for (line, instead) in [
        ("returns = \"empty\"", "use restart_node in [faults] and fsync in [cluster]"),
        ("min_replicas_max_lag_ticks = 1", "write min_replicas_max_lag instead"),
    ] {
        let picture = picture(&smallest_and(&format!("[cluster]\n{line}")));
        assert!(picture.contains(instead), "{picture}");
    }
}

#[test]
fn a_holder_that_need_not_release_is_a_claim_about_liveness() {
    let text = SMALLEST.to_owned() + "hold_for_ever = true\n[expect]\nwaiter-served = \"violated\"";
    assert!(read(&text).config.clients.hold_for_ever);
    assert!(!read(SMALLEST).config.clients.hold_for_ever);
}

#[test]
fn every_value_is_bounded() {
    for (line, wrong) in [
        ("lease = 3", ["lease = 0", "lease = 61", "lease = -1", "lease = 99999999999999999999999"].as_slice()),
        ("lease = 3", &["lease = 3\ntick_ms = 0", "lease = 3\ntick_ms = 3600001", "lease = 3\nhold_at_most = 0"]),
        ("lease = 3", &["lease = 3\njump = 16", "lease = 3\njump = -16"]),
        ("lease = 3", &["lease = 3\nrenew_every = 0", "lease = 3\nwait_limit = 61"]),
        ("count = 2", &["count = 0", "count = 5", "count = 2\nthreads = 3", "count = 2\nmax_holds = 9"]),
        ("count = 2", &["count = 2\nacquires = -1", "count = 2\nacquires = 101"]),
        ("count = 2", &["count = 2\n[cluster]\nreplicas = 3", "count = 2\n[cluster]\nlag = 61\nreplicas = 1"]),
        ("count = 2", &["count = 2\n[faults]\ncrash_node = 9", "count = 2\n[faults]\ncut_link = 9"]),
        ("story = \"s\"", &["story = \"\"", "story = \" \\n\"", "story = \"\\u001b[31mred\""]),
    ] {
        for wrong in wrong {
            assert_eq!(codes(&SMALLEST.replace(line, wrong)), [Code::OutOfBounds], "{wrong}");
        }
    }
    let long = "é".repeat(MAX_STORY);
    assert_eq!(codes(&SMALLEST.replace("\"s\"", &format!("\"{long}\""))), []);
    assert_eq!(codes(&SMALLEST.replace("\"s\"", &format!("\"{long}!\""))), [Code::OutOfBounds]);
}

/// One mistake is one error: a misspelt or misplaced key is not also reported as missing.
#[test]
fn a_misspelt_key_is_not_missed_as_well() {
    assert_eq!(codes(&SMALLEST.replace("lease", "leese")), [Code::UnknownKey]);
    assert_eq!(codes(&SMALLEST.replace("[clients]", "[clinets]")), [Code::UnknownKey]);
    assert_eq!(codes(&smallest_and("[cluster]\nreplica = 1\nlag = 0")), [Code::UnknownKey]);
    assert_eq!(codes(&smallest_and("replicas = 1\n[cluster]\nlag = 0")), [Code::UnknownKey]);
    assert_eq!(
        codes(&SMALLEST.replace("story", "story = \"s\"\nlease = 3\nstory").replace("[time]\nlease = 3", "")),
        [Code::UnknownKey, Code::Duplicate]
    );
}

#[test]
fn a_claim_about_a_property_that_does_not_apply_is_refused_with_the_reason() {
    insta::assert_snapshot!(picture(&smallest_and("[expect]\nrenewed-while-held = \"holds\"")));
}

#[test]
fn inconclusive_is_no_claim() {
    assert_eq!(codes(&smallest_and("[expect]\none-believer = \"inconclusive\"")), [Code::NotAClaim]);
    assert_eq!(codes(&smallest_and("[expect]\none-believer = \"vacuous\"")), []);
}

// The reports.

#[test]
fn picture_of_an_unknown_key() {
    insta::assert_snapshot!(picture(&smallest_and("[faults]\ncrash_nod = 1")));
}

#[test]
fn picture_of_a_key_in_the_wrong_table() {
    insta::assert_snapshot!(picture(&smallest_and("replicas = 1")));
}

#[test]
fn picture_of_a_word_without_quotes() {
    insta::assert_snapshot!(picture(&SMALLEST.replace("\"reentrant\"", "reentrant")));
}

#[test]
fn picture_of_a_number_in_quotes() {
    insta::assert_snapshot!(picture(&SMALLEST.replace("lease = 3", "lease = \"3\"")));
}

#[test]
fn picture_of_a_number_out_of_bounds() {
    insta::assert_snapshot!(picture(&SMALLEST.replace("count = 2", "count = 12")));
}

#[test]
fn picture_of_a_lock_on_masters_that_are_not_there() {
    insta::assert_snapshot!(picture(&SMALLEST.replace("reentrant", "red")));
}

#[test]
fn picture_of_a_lease_that_is_over_before_its_first_renewal() {
    insta::assert_snapshot!(picture(&SMALLEST.replace("lease = 3", "lease = 3\nrenew_every = 4")));
}

#[test]
fn picture_of_a_key_that_stands_twice() {
    insta::assert_snapshot!(picture(&SMALLEST.replace("count = 2", "count = 2\nthreads = 2\ncount = 3")));
}

#[test]
fn picture_of_what_is_missing() {
    insta::assert_snapshot!(picture("lock = \"plain\"\n[time]\nrenew_every = 1\n"));
}

#[test]
fn picture_of_several_mistakes() {
    insta::assert_snapshot!(picture(
        "story = \"s\"\nlock = \"reentrent\"\n[time]\nlease = 3\nrenew_every = 9\n[clients]\ncount = 2\n[expect]\n\
         one_believer = \"broken\"\nvalid-at-grant = \"holds\"\n"
    ));
}

#[test]
fn picture_of_a_trace_given_for_a_scenario() {
    insta::assert_snapshot!(picture("{\n  \"schema\": 1\n}\n"));
}

#[test]
fn picture_of_a_scenario_that_does_not_exist() {
    let error = resolve(&["two-client-one-node".into()]).expect_err("it is misspelt");
    insta::assert_snapshot!(error.to_string());
}

#[test]
fn a_report_is_coloured_only_when_asked() {
    let error = Scenario::parse("example", "lock = 1").expect_err("it is wrong");
    assert!(!error.report(false).contains('\u{1b}'));
    assert!(error.report(true).contains('\u{1b}'));
}

/// A file name from another person must not control the reader's terminal.
#[test]
fn a_report_holds_no_control_characters_of_the_file_or_its_name() {
    let unknown = resolve(&["a\u{1b}[31mb".into()]).expect_err("there is no such scenario");
    let in_text = Scenario::parse("example", "\u{1b}[31m = \"\u{1b}[31m\"\n").expect_err("it is wrong");
    let in_story = Scenario::parse("example", "\"\\u001b[31m\" = 1\n").expect_err("there is no such key");
    for error in [unknown, in_text, in_story] {
        assert!(!error.to_string().contains('\u{1b}'), "{error:?}");
    }
}
