//! A split network: its keys are read, and rejected where they mean nothing.

use lockstep_model::config::{
    Calls, InterruptedAcquire, MessageDelay, NetworkMode, RefusedCall, Registration, RequestId, Resend, StaleRenewal,
    UnansweredAsk,
};

use super::*;

/// A scenario with a split network, and some additional lines in its tables.
fn split_and(time: &str, protocol: &str, faults: &str) -> String {
    format!(
        "story = \"s\"\nlock = \"reentrant\"\n[time]\nlease = 3\n{time}\n[clients]\ncount = 2\nacquires = 2\n[network]\nmode = \
         \"split\"\ndelay = 2\n[protocol]\n{protocol}\n[faults]\n{faults}\n"
    )
}

#[test]
fn every_key_of_a_split_network_is_read() {
    let text = split_and(
        "renew_every = 1\nwait_limit = 1\nanswer_within = 2\nreceipt = 5",
        "resend = \"all\"\nretry_attempts = 3\nrequest_id = \"per-try\"\nregistration = \
         \"unordered\"\ninterrupted_acquire = \"release\"\nstale_renewal = \"ignore\"\nrefused_call = \"retry\"\nunanswered_ask = \"refuse\"",
        "lose_request = 1\nlose_reply = 2\ninterrupt = 3",
    );
    let config = read(&text).config;
    assert_eq!((config.network.mode, config.network.delay), (NetworkMode::Split, MessageDelay::Ticks(2)));
    let expected = Calls {
        answer_within: 2,
        resend: Resend::All,
        retry_attempts: 3,
        request_id: RequestId::PerTry,
        receipt: 5,
        registration: Registration::Unordered,
        interrupted_acquire: InterruptedAcquire::Release,
        stale_renewal: StaleRenewal::Ignore,
        refused_call: RefusedCall::Retry,
        unanswered_ask: UnansweredAsk::Refuse,
    };
    assert_eq!(config.calls, expected);
    let faults = config.faults;
    assert_eq!((faults.lose_request, faults.lose_reply, faults.interrupt), (1, 2, 3));
}

#[test]
fn what_an_unanswered_ask_is_told_as_is_read_where_a_caller_waits_with_a_limit() {
    let of = |profile: &str, limit: &str| read(&split_and(limit, &format!("profile = \"{profile}\""), "")).config.calls;
    assert_eq!(of("redisson-4.7", "wait_limit = 2").unanswered_ask, UnansweredAsk::Refuse);
    for (profile, limit) in
        [("redisson-4.3", "wait_limit = 2"), ("redisson-4.7", "wait_limit = 0"), ("redisson-4.7", "")]
    {
        assert_eq!(of(profile, limit).unanswered_ask, UnansweredAsk::Throw, "{profile} {limit}");
    }
    for limit in ["wait_limit = 0", ""] {
        let error =
            Scenario::parse("x", &split_and(limit, "unanswered_ask = \"refuse\"", "")).expect_err("it has no effect");
        assert!(error.to_string().contains("no caller waits with a limit"), "{error}");
    }
    let plain = split_and("wait_limit = 2", "unanswered_ask = \"refuse\"", "").replace("reentrant", "plain");
    let error = Scenario::parse("x", &plain).expect_err("it has no effect");
    assert!(error.to_string().contains("no waiter of Redisson's"), "{error}");
}

/// Redisson's rule: a receipt lives as long as the release may be sent again.
#[test]
fn a_receipt_lives_for_the_whole_retry_time_unless_the_scenario_says_otherwise() {
    let text = split_and("answer_within = 2", "resend = \"release\"\nretry_attempts = 4", "");
    assert_eq!(read(&text).config.calls.receipt, 8);
    assert_eq!(read(&split_and("", "", "")).config.calls.receipt, 1);
}

#[test]
fn a_profile_brings_its_own_switches_of_a_split_network() {
    let calls = |profile: &str| read(&split_and("", &format!("profile = \"{profile}\""), "")).config.calls;
    assert_eq!(calls("redisson-4.7"), Calls::DEFAULT);
    let of_2021 = calls("redisson-3.15");
    assert_eq!((of_2021.request_id, of_2021.registration), (RequestId::PerTry, Registration::Unordered));
    let ours = calls("lockstep");
    assert_eq!((ours.interrupted_acquire, ours.stale_renewal), (InterruptedAcquire::Release, StaleRenewal::Ignore));
}

/// Settings for something that the network does not do are rejected.
#[test]
fn keys_of_a_split_network_are_refused_where_request_and_answer_are_one_step() {
    for lines in [
        "[protocol]\nresend = \"all\"",
        "[protocol]\nretry_attempts = 2",
        "[protocol]\nrequest_id = \"per-try\"",
        "[protocol]\nregistration = \"unordered\"",
        "[protocol]\ninterrupted_acquire = \"release\"",
        "[protocol]\nstale_renewal = \"ignore\"",
        "[protocol]\nrefused_call = \"retry\"",
        "[cluster]\nreplicas = 1\nwait_for = 1\n[protocol]\nwait_after = \"every-call\"",
        "[network]\ndelay = 3",
        "[faults]\nlose_request = 1",
        "[faults]\nlose_reply = 1",
    ] {
        assert_eq!(codes(&smallest_and(lines)), [Code::Impossible], "{lines}");
    }
    for line in ["answer_within = 2", "receipt = 2", "wait_limit = 0\n[faults]\ninterrupt = 1"] {
        let text = SMALLEST.replace("lease = 3", &format!("lease = 3\n{line}"));
        let text = if line.contains("faults") {
            text.replace("[faults]\ninterrupt = 1", "") + "[faults]\ninterrupt = 1\n"
        } else {
            text
        };
        assert_eq!(codes(&text), [Code::Impossible], "{line}");
    }
    assert_eq!(codes(&smallest_and("[protocol]\nresend = \"none\"\n[faults]\nlose_reply = 0\ninterrupt = 1")), []);
}

#[test]
fn keys_of_a_split_network_that_nothing_could_read_are_refused() {
    for (time, protocol) in [
        ("receipt = 2", "receipts = false"),
        ("", "profile = \"redisson-3.15\"\nrequest_id = \"per-release\""),
        ("", "resend = \"none\"\nretry_attempts = 2"),
        ("", "resend = \"none\"\nrefused_call = \"retry\""),
        ("", "wait_after = \"every-call\""),
        ("", "registration = \"unordered\""),
        ("", "stale_renewal = \"ignore\""),
        ("", "interrupted_acquire = \"release\""),
    ] {
        assert_eq!(codes(&split_and(time, protocol, "")), [Code::Impossible], "{time} {protocol}");
    }
    let plain = split_and("receipt = 2", "", "").replace("reentrant", "plain");
    assert_eq!(codes(&plain), [Code::Impossible]);
}

/// Whose `WAIT` an acknowledgement is for is not told with several threads, and two breaches share a bit.
#[test]
fn what_is_made_again_needs_one_thread_and_no_resource() {
    let waits = |clients: &str| {
        let cluster = "[cluster]\nreplicas = 1\nwait_for = 1\n[network]";
        let text = split_and("", "wait_after = \"every-call\"", "").replace("[network]", cluster);
        codes(&text.replace("count = 2", clients))
    };
    assert_eq!(waits("count = 1"), []);
    for clients in ["count = 2", "count = 1\nthreads = 2"] {
        assert_eq!(waits(clients), [Code::NotModelled], "{clients}");
    }
    let refused = split_and("", "resend = \"all\"\nrefused_call = \"retry\"", "");
    assert_eq!(codes(&refused), []);
    assert_eq!(codes(&format!("{refused}[resource]\nfencing = \"ideal\"\n")), [Code::NotModelled]);
}

/// A renewal's `WAIT` is answered in the same step, and which threads wait for an effect has no room beside its age.
#[test]
fn a_wait_behind_renewals_and_lock_names_beside_replicas_have_limits() {
    let world = |clients: &str, cluster: &str, faults: &str| {
        let text = format!(
            "story = 'Two locks and a replica.'\nlock = 'reentrant'\n[time]\nlease = 3\nrenew_every = 1\nwait_limit = 0\n\
             [clients]\n{clients}\n[cluster]\nwait_for = 1\n{cluster}\n\
             [protocol]\nwait_rule = 'any'\nwait_after = 'grants-and-renewals'\n[faults]\n{faults}\n"
        );
        codes(&text)
    };
    let (two, one) = ("count = 2\nthreads = 2\nnames = 2", "count = 2");
    assert_eq!(world(two, "replicas = 1", ""), []);
    assert_eq!(world(two, "replicas = 1\nlag = 0", ""), []);
    assert_eq!(world(one, "replicas = 1\nlag = 2", "crash_node = 1"), []);
    for (clients, cluster, faults) in [
        (two, "replicas = 1\nlag = 2", ""),
        (two, "replicas = 1\nttls = 'relative'", ""),
        ("count = 4\nthreads = 2\nnames = 2", "replicas = 1", ""),
        (two, "replicas = 1", "crash_node = 1"),
        (two, "replicas = 1", "pause_node = 1"),
        (one, "replicas = 2", ""),
    ] {
        assert_eq!(world(clients, cluster, faults), [Code::NotModelled], "{clients} {cluster} {faults}");
    }
    let split = split_and("", "wait_after = \"grants-and-renewals\"", "");
    let split = split.replace("[network]", "[cluster]\nreplicas = 1\nwait_for = 1\n[network]");
    let renewing = split.replace("lease = 3", "lease = 3\nrenew_every = 1");
    assert_eq!(codes(&renewing), [Code::NotModelled]);
}

#[test]
fn values_of_a_split_network_are_bounded() {
    for (time, protocol) in [
        ("answer_within = 0", ""),
        ("answer_within = 61", ""),
        ("receipt = 0", ""),
        ("", "resend = \"all\"\nretry_attempts = 5"),
    ] {
        assert_eq!(codes(&split_and(time, protocol, "")), [Code::OutOfBounds], "{time} {protocol}");
    }
}

/// Otherwise the hold count of a node would have no bound: found by a walk that sent 256 requests.
#[test]
fn who_may_miss_every_answer_may_not_ask_for_ever() {
    let late = split_and("", "", "");
    assert_eq!(codes(&late), []);
    let for_ever = late.replace("acquires = 2\n", "");
    assert_eq!(codes(&for_ever), [Code::Impossible]);
    assert_eq!(codes(&for_ever.replace("delay = 2", "delay = 0")), []);
    assert_eq!(codes(&for_ever.replace("reentrant", "plain")), [], "a plain lock counts nothing");
    let often = split_and("", "resend = \"all\"\nretry_attempts = 4", "");
    assert_eq!(codes(&often.replace("acquires = 2", "acquires = 51")), []);
    assert_eq!(codes(&often.replace("acquires = 2", "acquires = 52")), [Code::Impossible]);
}

/// A request that a server refuses is sent again by the versions that do so, where anything is sent again.
#[test]
fn what_becomes_of_a_refused_request_is_of_the_profile() {
    let of = |protocol: &str, more: &str| read(&(split_and("", protocol, "") + more)).config.calls.refused_call;
    for profile in ["3.43", "3.52", "4.3", "4.7"] {
        let sends_again = format!("profile = \"redisson-{profile}\"\nresend = \"all\"");
        assert_eq!(of(&sends_again, ""), RefusedCall::Retry, "{profile}");
        assert_eq!(of(&format!("{sends_again}\nrefused_call = \"throw\""), ""), RefusedCall::Throw, "{profile}");
        assert_eq!(of(&sends_again, "[resource]\nfencing = \"ideal\"\n"), RefusedCall::Throw, "{profile}");
        assert_eq!(of(&format!("profile = \"redisson-{profile}\""), ""), RefusedCall::Throw, "{profile}");
    }
    assert_eq!(of("profile = \"redisson-3.15\"\nresend = \"all\"", ""), RefusedCall::Throw);
    let of_client = "[[client]]\nprofile = \"redisson-3.43\"\nresend = \"all\"\n";
    let config =
        read(&split_and("", "profile = \"redisson-3.15\"", "").replace("[network]", &format!("{of_client}[network]")))
            .config;
    let calls = [0, 1].map(|client| config.of_client(client).calls.refused_call);
    assert_eq!(calls, [RefusedCall::Retry, RefusedCall::Throw]);
}

/// redlock 4 sends a release behind an extension that fails, and behind each try of an acquire that fails.
#[test]
fn redlock_4_is_refused_where_what_it_sends_behind_a_failure_is_not_modelled() {
    let plain = |mode: &str, time: &str, protocol: &str, client: &str| {
        format!(
            "story = \"s\"\nlock = \"plain\"\n[time]\nlease = 3\n{time}\n[clients]\ncount = 2\n[network]\nmode = \"{mode}\"\n[protocol]\n\
             {protocol}\n{client}"
        )
    };
    let redlock = "profile = \"redlock-4\"";
    let own = "[[client]]\nprofile = \"redlock-4\"\n[[client]]\n";
    let (extends, tries) = ("renew_every = 1\nwait_limit = 0", "wait_limit = 0");
    for accepted in [
        plain("split", extends, redlock, ""),
        plain("split", extends, "", own),
        plain("split", extends, "failed_renewal = \"release\"", ""),
        plain("atomic", tries, redlock, ""),
        plain("atomic", "wait_limit = 2", redlock, ""),
    ] {
        assert_eq!(codes(&accepted), [], "{accepted}");
    }
    for (refused, part) in [
        (plain("atomic", extends, redlock, ""), "are two requests"),
        (plain("atomic", extends, "", own), "are two requests"),
        (plain("atomic", extends, "failed_renewal = \"release\"", ""), "are two requests"),
        (plain("split", tries, &format!("{redlock}\nresend = \"all\""), ""), "sent again"),
        (plain("split", tries, &format!("{redlock}\nresend = \"release\""), ""), "sent again"),
        (plain("split", tries, "resend = \"all\"", own), "sent again"),
        (plain("split", extends, "failed_renewal = \"release\"\nresend = \"all\"", ""), "sent again"),
        (plain("split", "wait_limit = 2", redlock, ""), "carry the same value"),
        (plain("split", "", redlock, ""), "carry the same value"),
        (plain("split", "wait_limit = 2", "", own), "carry the same value"),
        (
            plain("split", extends, "failed_renewal = \"release\"", "").replace("\"plain\"", "\"reentrant\""),
            "plain lock only",
        ),
    ] {
        assert_eq!(codes(&refused), [Code::NotModelled], "{refused}");
        assert!(picture(&refused).contains(part), "{}", picture(&refused));
    }
}
