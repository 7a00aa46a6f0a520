//! A lock on several independent masters.

use super::*;

fn with(time: &str, clients: &str, cluster: &str, rest: &str) -> String {
    format!(
        "story = \"s\"\nlock = \"red\"\n[time]\nlease = 3\n{time}\n[clients]\ncount = 2\n{clients}\n\
         [cluster]\ngroups = 3\n{cluster}\n[protocol]\nprofile = \"lockstep\"\n{rest}"
    )
}

#[test]
fn a_lock_on_several_masters_is_read_with_what_belongs_to_it() {
    let text = with(
        "drift = 1",
        "stops_at = \"validity\"",
        "",
        "elapsed_time = \"ignored\"\n[faults]\nlose_ask = 1\nslow_reply = 2\nlate_ask = 3",
    );
    let config = read(&text).config;
    assert_eq!((config.cluster.groups, config.time.drift), (3, 1));
    assert_eq!((config.faults.lose_ask, config.faults.slow_reply, config.faults.late_ask), (1, 2, 3));
    assert_eq!(config.protocol.elapsed_time, lockstep_model::config::ElapsedTime::Ignored);
    assert_eq!((config.all_nodes(), config.majority(), config.validity_ticks()), (3, 2, 2));
}

#[test]
fn it_needs_several_masters_and_a_drift_that_leaves_something_of_the_lease() {
    assert_eq!(codes(&with("", "", "", "").replace("groups = 3", "")), [Code::MissingKey]);
    assert_eq!(codes(&with("", "", "", "").replace("groups = 3", "groups = 1")), [Code::Impossible]);
    assert_eq!(codes(&with("", "", "", "").replace("groups = 3", "groups = 6")), [Code::OutOfBounds]);
    for (drift, expected) in [(2, vec![]), (3, vec![Code::Impossible])] {
        assert_eq!(codes(&with(&format!("drift = {drift}"), "", "", "")), expected, "{drift}");
    }
}

#[test]
fn what_belongs_to_it_is_refused_beside_a_lock_on_one_master() {
    for (place, line) in [
        ("[cluster]", "groups = 3"),
        ("[time]\nlease = 3", "drift = 1"),
        ("[protocol]", "elapsed_time = \"checked\""),
        ("[faults]", "lose_ask = 1"),
        ("[faults]", "slow_reply = 1"),
        ("[faults]", "late_ask = 1"),
    ] {
        let text = if place.starts_with("[time]") {
            SMALLEST.replace("lease = 3", &format!("lease = 3\n{line}"))
        } else {
            smallest_and(&format!("{place}\n{line}"))
        };
        assert_eq!(codes(&text), [Code::Impossible], "{line}");
    }
    assert_eq!(codes(&smallest_and("[cluster]\ngroups = 1\n[faults]\nlose_ask = 0")), []);
}

#[test]
fn what_is_not_modelled_beside_it_is_refused() {
    for text in [
        with("", "threads = 2", "", ""),
        with("", "", "", "").replace("count = 2", "count = 4"),
        with("", "", "replicas = 2", ""),
        with("", "", "replicas = 1\nwait_for = 1", ""),
        with("", "", "replicas = 1\nmin_replicas = 1\nmin_replicas_slack = 0", ""),
        with("", "", "replicas = 1\nlock_delay = 1", "[faults]\ncrash_node = 1"),
        with("", "", "replicas = 1", "[faults]\nslow_reply = 1"),
        with("", "", "replicas = 1", "[faults]\nlate_ask = 1"),
        with("", "", "replicas = 1", "[faults]\npause_node = 1"),
        with("", "", "replicas = 1\npromote = \"coordinated\"", "[faults]\nhand_over = 1"),
        with("", "", "replicas = 1\npromote = \"forced\"", "[faults]\nhand_over = 1"),
        with(
            "",
            "acquires = 1",
            "replicas = 1\ndiscovery = \"any-master\"",
            "[faults]\ncrash_node = 1\nrestart_node = 1",
        ),
        with("", "", "replicas = 1", "[faults]\ncut_link = 1"),
        with("", "", "", "[network]\nmode = \"split\""),
        with("", "", "", "[faults]\ncrash_thread = 1"),
        with("", "", "", "[faults]\nstart_client = 1"),
        with("", "", "", "[faults]\nforeign_release = 1"),
        with("", "", "", "[faults]\ninterrupt = 1"),
        with("", "", "", "[faults]\npersist_key = 1"),
    ] {
        assert_eq!(codes(&text), [Code::NotModelled], "{text}");
    }
}

#[test]
fn a_replica_of_each_of_several_masters_goes_with_what_happens_to_nodes() {
    for faults in ["crash_node = 1\nrestart_node = 1", "refuse_writes = 1", "break_link = 1", "hand_over = 1"] {
        assert_eq!(codes(&with("", "", "replicas = 1", &format!("[faults]\n{faults}"))), [], "{faults}");
    }
}

#[test]
fn each_of_two_to_five_masters_may_have_a_replica() {
    for groups in 2..=5 {
        let text = with("", "", "replicas = 1", "[faults]\ncrash_node = 1")
            .replace("groups = 3", &format!("groups = {groups}"));
        assert_eq!(codes(&text), [], "{groups}");
    }
}

/// The algorithm as it was published is no library's: Redisson's lock is a kind of its own, and a message says which.
#[test]
fn the_published_algorithm_has_no_profile_of_a_library() {
    let of_library = with("", "", "", "").replace("lockstep", "redisson-4.7");
    let usual = with("", "", "", "").replace("[protocol]\nprofile = \"lockstep\"\n", "");
    for text in [of_library, usual] {
        assert_eq!(codes(&text), [Code::Impossible], "{text}");
        assert!(picture(&text).contains("lock = \"redisson-red\""), "{}", picture(&text));
    }
}

/// Nobody is sent in a circle: from the plain lock of a library to the red one, and from there back.
#[test]
fn a_library_s_lock_on_several_masters_is_refused_with_what_to_use_instead() {
    let red = with("", "", "", "").replace("profile = \"lockstep\"", "profile = \"redlock-5\"");
    let redisson_red = of_redisson("", "", "[protocol]\nprofile = \"redsync-4\"");
    for text in [&red, &redisson_red] {
        assert_eq!(codes(text), [Code::NotModelled], "{}", picture(text));
        let help = "use lock = \"red\" with profile = \"lockstep\"";
        assert!(picture(text).contains(help), "{}", picture(text));
    }
    let plain = "story = \"s\"\nlock = \"plain\"\n[time]\nlease = 3\n[clients]\ncount = 2\n[protocol]\nprofile = \"redlock-5\"\n\
                 [cluster]\ngroups = 3";
    assert_eq!(codes(plain), [Code::Impossible]);
    let help = "use lock = \"red\" with profile = \"lockstep\": redlock-5 is modelled";
    assert!(picture(plain).contains(help), "{}", picture(plain));
}

/// The help of one refusal does not lead to the next one.
#[test]
fn what_is_not_modelled_on_several_masters_or_on_one_is_not_suggested() {
    let old_master = with("", "", "discovery = \"any-master\"", "");
    assert_eq!(codes(&old_master), [Code::Impossible], "{}", picture(&old_master));
    assert!(!picture(&old_master).contains("add a replica"), "{}", picture(&old_master));
    let plain = "story = \"s\"\nlock = \"plain\"\n[time]\nlease = 3\ndrift = 1\n[clients]\ncount = 2\n[protocol]\nprofile = \"redlock-5\"";
    assert_eq!(codes(plain), [Code::NotModelled], "{}", picture(plain));
    let of_no_library = plain.replace("redlock-5", "redisson-4.7");
    assert!(picture(&of_no_library).contains("use lock = \"red\""), "{}", picture(&of_no_library));
}

/// Redisson's lock on several masters, whose calls ask each of them once.
fn of_redisson(time: &str, clients: &str, rest: &str) -> String {
    format!(
        "story = \"s\"\nlock = \"redisson-red\"\n[time]\nlease = 3\nwait_limit = 0\n{time}\n[clients]\ncount = 2\n{clients}\n\
         [cluster]\ngroups = 3\n{rest}"
    )
}

#[test]
fn redisson_s_lock_on_several_masters_is_read_with_what_belongs_to_it() {
    let text = of_redisson(
        "",
        "max_holds = 2",
        "[protocol]\nfinal_lease = \"own-hold\"\n[faults]\nlose_ask = 1\nslow_reply = 1",
    );
    let config = read(&text).config;
    assert_eq!((config.cluster.groups, config.majority(), config.clients.max_holds), (3, 2, 2));
    assert!(config.sets_lease_at_masters());
    let watched =
        read(&of_redisson("renew_every = 1", "", "replicas = 1\n[protocol]\nfailed_renewal = \"forget\"")).config;
    assert!(!watched.sets_lease_at_masters());
    let every = read(&of_redisson("", "", "[protocol]\nneeded_masters = \"all\"\nfailed_part = \"goes-on\"")).config;
    assert_eq!((every.majority(), every.needed_masters()), (2, 3));
    assert_eq!(watched.all_nodes(), 6);
}

/// The same, whose calls wait.
fn waiting(time: &str, clients: &str, rest: &str) -> String {
    of_redisson("", clients, rest).replace("wait_limit = 0", time)
}

#[test]
fn a_call_waits_at_each_master_for_its_share_or_makes_rounds() {
    let limited = read(&waiting("wait_limit = 6", "", "")).config;
    assert!(limited.waits() && !limited.takes_in_rounds());
    // Asked by twice the wait, so that no grant ends during the call.
    assert_eq!(limited.part_lease(), 12);
    assert!(read(&waiting("round_wait = 3\nrenew_every = 1", "max_holds = 2", "")).config.takes_in_rounds());
    // Where every master is needed a call waits for as long as it has.
    assert_eq!(codes(&waiting("wait_limit = 2", "", "[protocol]\nneeded_masters = \"all\"")), []);
    assert_eq!(codes(&of_redisson("", "", "").replace("wait_limit = 0\n", "")), [Code::MissingKey]);
    assert_eq!(codes(&waiting("wait_limit = 3\nround_wait = 3", "", "")), [Code::Impossible]);
    assert_eq!(codes(&waiting("wait_limit = 3", "", "[protocol]\nround_lease = \"kept\"")), [Code::Impossible]);
    assert!(picture(&waiting("wait_limit = 4", "", "")).contains("use a multiple of 3 ticks: wait_limit = "));
    // What each client says for itself counts.
    let [all, most] = ["all", "most"].map(|needed| format!("[[client]]\nneeded_masters = \"{needed}\"\n"));
    let of_each = |protocol: &str, clients: &str| {
        waiting("wait_limit = 2", "", &format!("[protocol]\nneeded_masters = \"{protocol}\"\n{clients}"))
    };
    assert_eq!(codes(&of_each("most", &[&all[..], &all].concat())), []);
    assert_eq!(codes(&of_each("all", &[&all[..], &most].concat())), [Code::NotModelled]);
}

#[test]
fn what_has_no_effect_on_redisson_s_lock_on_several_masters_is_refused() {
    for text in [
        of_redisson("drift = 1", "", ""),
        of_redisson("", "", "[protocol]\nelapsed_time = \"checked\""),
        of_redisson("renew_every = 1", "", "[protocol]\nfinal_lease = \"own-hold\""),
        of_redisson("", "", "[protocol]\nfailed_part = \"goes-on\""),
        of_redisson("", "", "[protocol]\nneeded_masters = \"most\"\nfailed_part = \"stops\""),
        of_redisson("", "", "").replace("groups = 3", "groups = 1"),
    ] {
        assert_eq!(codes(&text), [Code::Impossible], "{text}");
    }
}

#[test]
fn what_is_not_modelled_beside_redisson_s_lock_on_several_masters_is_refused() {
    for text in [
        waiting("wait_limit = 2", "", ""),
        waiting("round_wait = 4", "", ""),
        waiting("wait_limit = 3", "", "replicas = 1"),
        waiting("round_wait = 3", "", "replicas = 1"),
        waiting("wait_limit = 3", "max_holds = 2", ""),
        of_redisson("", "", "[protocol]\nprofile = \"redisson-3.15\""),
        of_redisson("", "", "[protocol]\nprofile = \"lockstep\""),
        of_redisson("", "", "[faults]\nlate_ask = 1"),
        of_redisson("", "", "[faults]\npause_node = 1"),
        of_redisson("renew_every = 1", "max_holds = 2", "[protocol]\nprofile = \"redisson-3.43\""),
        of_redisson("renew_every = 1", "max_holds = 2", "[protocol]\npartial_release = \"ignore\""),
        of_redisson("renew_every = 1", "", "[protocol]\nmissed_renewal = \"tell-holder\""),
        of_redisson("renew_every = 1", "", "[protocol]\nrenewal_timer = \"multiplying\""),
        of_redisson("renew_every = 1", "stops_at = \"validity\"", ""),
        of_redisson("", "threads = 2", ""),
        of_redisson("", "", "[network]\nmode = \"split\""),
    ] {
        assert_eq!(codes(&text), [Code::NotModelled], "{text}");
    }
    for waits in ["wait_limit = 3", "round_wait = 3"] {
        assert_eq!(codes(&waiting(waits, "stops_at = \"validity\"", "")), [], "{waits}");
    }
    let each_by_itself = of_redisson("", "", "[[client]]\nwait_limit = 0\n[[client]]\nwait_limit = 0");
    assert_eq!(codes(&each_by_itself.replacen("wait_limit = 0\n", "", 1)), []);
}

/// An ideal counter is not one of the masters.
#[test]
fn a_resource_may_be_guarded_with_an_ideal_counter_or_without_tokens() {
    for (fencing, expected) in [("none", vec![]), ("ideal", vec![]), ("stored", vec![Code::Impossible])] {
        let text = with("", "", "", &format!("[resource]\nfencing = \"{fencing}\"\ndelay = \"any\""));
        assert_eq!(codes(&text), expected, "{fencing}");
    }
}

#[test]
fn a_holder_extends_and_each_master_may_have_a_replica() {
    let config = read(&with("renew_every = 1", "", "replicas = 1", "[faults]\ncrash_node = 1\nlose_ask = 1")).config;
    assert_eq!((config.time.renew_every, config.all_nodes()), (Some(1), 6));
}

/// What the watchdog of one master's lock does after an answer has no effect where most masters count.
#[test]
fn a_switch_of_renewals_by_one_master_is_refused() {
    for line in [
        "renewal_timer = \"shared\"",
        "missed_renewal = \"forget\"",
        "failed_renewal = \"forget\"",
        "partial_release = \"lower\"",
    ] {
        assert_eq!(codes(&with("renew_every = 1", "", "", line)), [Code::Impossible], "{line}");
    }
}

/// A holder that has stopped extends nothing. One that never looks at its clock extends late, as some clients do.
#[test]
fn an_extension_after_the_holder_has_stopped_is_refused() {
    let stops = "stops_at = \"validity\"";
    assert_eq!(codes(&with("renew_every = 2", stops, "", "")), []);
    assert_eq!(codes(&with("renew_every = 3", stops, "", "")), [Code::Impossible]);
    assert_eq!(codes(&with("renew_every = 2\ndrift = 1", stops, "", "")), [Code::Impossible]);
    assert_eq!(codes(&with("renew_every = 3", "", "", "")), []);
    let own = "[[client]]\nlease = 2\n[[client]]";
    assert_eq!(codes(&with("renew_every = 2", stops, "", own)), [Code::Impossible]);
}
