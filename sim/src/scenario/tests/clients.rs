//! Clients that differ: what their tables say, and what is refused.

use lockstep_model::config::{Calls, ClientSettings, ClientTables, RequestId, Resend};

use super::*;

/// A watchdog for all, a limit for all, and these tables.
fn unlike(tables: &str) -> String {
    SMALLEST.replace("lease = 3", "lease = 3\nrenew_every = 1\nwait_limit = 4\nhold_at_most = 5") + tables
}

fn settings(text: &str) -> Vec<ClientSettings> {
    let config = read(text).config;
    (0..config.clients.count).map(|client| config.settings_of(client)).collect()
}

#[test]
fn a_client_has_what_its_table_says_and_otherwise_what_all_have() {
    let all = settings(&unlike(""))[0];
    let tables =
        "[[client]]\nlease = 1\nrenew_every = \"none\"\nhold_at_most = 2\n[[client]]\nwait_limit = 0\nacquires = 0\n";
    let [a, b] = settings(&unlike(tables))[..] else { panic!("two clients") };
    assert_eq!(a, ClientSettings { lease: 1, renew_every: None, hold_at_most: Some(2), ..all });
    assert_eq!(b, ClientSettings { wait_limit: Some(0), acquires: Some(0), ..all });
    let tables = "[[client]]\nwait_limit = \"none\"\nhold_at_most = \"none\"\n";
    let [a, b] = settings(&unlike(tables))[..] else { panic!("two clients") };
    assert_eq!(a, ClientSettings { wait_limit: None, hold_at_most: None, ..all });
    assert_eq!(b, all, "the client without a table");
}

#[test]
fn clients_are_alike_unless_something_differs() {
    let alike = |tables: &str| read(&unlike(tables)).config;
    for tables in
        ["", "[[client]]\n[[client]]\n", "[[client]]\nlease = 3\n", "[[client]]\nlease = 2\n[[client]]\nlease = 2\n"]
    {
        assert!(alike(tables).clients_are_alike(), "{tables}");
        assert_eq!(alike(tables).client, ClientTables::NONE, "{tables}");
    }
    assert_eq!(alike("[[client]]\nlease = 2\n[[client]]\nlease = 2\n").time.lease, 2, "what all have is common");
    for tables in
        ["[[client]]\nlease = 2\n", "[[client]]\n[[client]]\nprofile = \"lockstep\"\n", "[[client]]\nacquires = 0\n"]
    {
        assert!(!alike(tables).clients_are_alike(), "{tables}");
    }
}

#[test]
fn there_are_as_many_clients_as_tables_unless_the_file_says_how_many() {
    let without_count = |tables: &str| SMALLEST.replace("[clients]\ncount = 2\n", "") + tables;
    let table = "[[client]]\nacquires = 1\n";
    assert_eq!(read(&without_count(&table.repeat(3))).config.clients.count, 3);
    assert_eq!(read(&smallest_and(table)).config.clients.count, 2);
    assert_eq!(codes(&without_count("")), [Code::MissingKey]);
    assert_eq!(codes(&without_count(&table.repeat(5))), [Code::OutOfBounds]);
    let too_many = smallest_and(&table.repeat(3));
    assert_eq!(codes(&too_many), [Code::Impossible]);
    let report = picture(&too_many);
    assert!(report.contains("there are 3 tables [[client]], but `count` is 2"), "{report}");
    assert_eq!(codes(&smallest_and("[client]\nlease = 1\n")), [Code::WrongType], "one table is no list");
}

/// What is sent again, and when, depends on the deployment and not on the version.
#[test]
fn a_profile_of_one_client_brings_its_switches_and_no_other() {
    let common = "[network]\nmode = \"split\"\n[protocol]\nreceipts = false\nresend = \"all\"\nretry_attempts = 3\n";
    let [a, b] = settings(&smallest_and(&format!("{common}[[client]]\nprofile = \"redisson-3.15\"\n")))[..] else {
        panic!("two clients")
    };
    assert_eq!(a.protocol, Profile::Redisson315.protocol());
    assert_eq!((a.calls.request_id, a.calls.resend, a.calls.retry_attempts), (RequestId::PerTry, Resend::All, 3));
    assert_eq!((b.protocol.profile, b.protocol.receipts), (Profile::Redisson47, false));
    let [a, _] = settings(&smallest_and(&format!("{common}[[client]]\nprofile = \"redisson-4.7\"\n")))[..] else {
        panic!("two clients")
    };
    assert!(a.protocol.receipts, "what [protocol] overrides is not overridden for a client with its own profile");
}

#[test]
fn the_receipts_of_a_client_live_as_long_as_it_may_send_again() {
    let split = "[network]\nmode = \"split\"\n[protocol]\nresend = \"release\"\n";
    let receipts = |text: &str| settings(text).iter().map(|own| own.calls.receipt).collect::<Vec<_>>();
    let own = format!("{split}[[client]]\nanswer_within = 2\nretry_attempts = 3\n");
    assert_eq!(receipts(&smallest_and(&own)), [6, 1]);
    let said = SMALLEST.replace("lease = 3", "lease = 3\nreceipt = 4") + &own;
    assert_eq!(receipts(&said), [4, 4]);
}

/// In an atomic network nobody reads how requests are sent, so it makes no client unlike.
#[test]
fn what_only_a_split_network_reads_makes_no_difference_in_an_atomic_one() {
    let config = read(&smallest_and("[[client]]\nprofile = \"redisson-3.15\"\n")).config;
    assert_eq!(config.settings_of(0).calls, Calls::DEFAULT);
}

#[test]
fn the_times_of_single_clients_are_multiples_of_the_tick_as_well() {
    let text = SMALLEST.replace("lease = 3", "lease = \"30s\"") + "[[client]]\nhold_at_most = \"25s\"\n";
    let config = read(&text).config;
    assert_eq!((config.time.tick_ms, config.time.lease, config.settings_of(0).hold_at_most), (5_000, 6, Some(5)));
    assert_eq!(codes(&text.replace("\"25s\"", "25")), [Code::WrongType], "how long is a tick?");
}

#[test]
fn what_contradicts_itself_for_one_client_is_refused_at_its_place() {
    for (tables, place) in [
        ("[[client]]\n[[client]]\nlease = 1\nrenew_every = 2\n", "renew_every = 2"),
        ("[[client]]\nrenew_every = 4\n", "renew_every = 4"),
        ("[[client]]\nrenew_every = \"none\"\nfailed_renewal = \"forget\"\n", "failed_renewal"),
        ("[[client]]\nwait_rule = \"all\"\n", "wait_rule"),
        ("[[client]]\nresend = \"all\"\n", "resend"),
        ("[[client]]\nanswer_within = 2\n", "answer_within"),
    ] {
        assert_eq!(codes(&unlike(tables)), [Code::Impossible], "{tables}");
        let report = picture(&unlike(tables));
        assert!(report.contains(place), "{report}");
    }
    let slow = SMALLEST.replace("lease = 3", "lease = 3\nrenew_every = 2") + "[[client]]\nlease = 1\n";
    assert_eq!(codes(&slow), [Code::Impossible]);
    let report = picture(&slow);
    assert!(report.contains("the renewal period is longer than the lease"), "{report}");
    let for_ever = SMALLEST.to_owned() + "hold_for_ever = true\n[[client]]\nhold_at_most = 2\n";
    assert_eq!(codes(&for_ever), [Code::Impossible]);
}

/// One client that does what a key is about is enough for the key to have a meaning.
#[test]
fn a_common_key_has_a_meaning_if_it_has_one_for_some_client() {
    let watchdog = smallest_and("[protocol]\nfailed_renewal = \"forget\"\n[[client]]\nrenew_every = 1\n");
    assert_eq!(codes(&watchdog), []);
    let nobody_waits = SMALLEST.replace("lease = 3", "lease = 3\nwait_limit = 0") + "[faults]\nlose_message = 1\n";
    assert_eq!(codes(&nobody_waits), [Code::Impossible]);
    assert_eq!(codes(&(nobody_waits + "[[client]]\nwait_limit = 2\n")), []);
}

#[test]
fn one_client_that_may_ask_for_ever_is_enough_for_an_endless_count() {
    let late = "acquires = 2\n[network]\nmode = \"split\"\ndelay = 2\n[[client]]\n";
    assert_eq!(codes(&smallest_and(&format!("{late}acquires = 0\n"))), []);
    assert_eq!(
        codes(&smallest_and(&format!("{late}acquires = 100\nresend = \"all\"\nretry_attempts = 4\n"))),
        [Code::Impossible]
    );
}

#[test]
fn roles_are_given_in_the_tables_of_clients() {
    let report = picture(&smallest_and("roles = [\"reader\"]"));
    assert!(report.contains("describe each client in a table of its own, [[client]]"), "{report}");
    assert_eq!(codes(&smallest_and("roles = [\"reader\"]")), [Code::UnknownKey]);
    assert_eq!(codes(&smallest_and("[[client]]\njump = 2")), [Code::UnknownKey], "clocks are of the scenario");
}

#[test]
fn a_key_that_stands_twice_in_a_table_of_a_client_is_shown_with_its_first_place() {
    let report = picture(&smallest_and("[[client]]\nlease = 1\nlease = 2\n"));
    assert!(report.contains("it stands here first") && report.contains("lease = 1"), "{report}");
}

/// A client that never asks is no mistake: it may crash, and a bounded failover waits for it.
#[test]
fn a_client_may_have_no_acquires() {
    assert_eq!(read(&SMALLEST.replace("count = 2", "count = 2\nacquires = 0")).config.clients.acquires, Some(0));
}

/// In front of the lock of Spring Integration stands one of the process, which is not modelled: its threads would seem to compete in Redis.
#[test]
fn a_library_with_a_lock_for_its_threads_has_clients_of_one_thread() {
    let text = |profile: &str, threads: u8| {
        format!(
            "story = \"s\"\nlock = \"plain\"\n[time]\nlease = 3\n[clients]\ncount = 1\nthreads = {threads}\n[protocol]\n\
             profile = \"{profile}\""
        )
    };
    assert_eq!(codes(&text("spring-integration-7", 2)), [Code::NotModelled]);
    assert_eq!(codes(&text("spring-integration-7", 1)), []);
    assert_eq!(codes(&text("redis-py-8", 2)), []);
}
