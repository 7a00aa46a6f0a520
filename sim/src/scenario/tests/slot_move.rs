//! A slot that is moved.

use super::*;

fn with(time: &str, clients: &str, cluster: &str, rest: &str) -> String {
    format!(
        "story = \"s\"\nlock = \"reentrant\"\n[time]\nlease = 3\n{time}\n[clients]\ncount = 2\n{clients}\n\
         [cluster]\n{cluster}\n[faults]\nmove_slot = 1\n{rest}"
    )
}

#[test]
fn a_slot_is_moved_with_the_channels_that_the_file_names() {
    use lockstep_model::config::Channels;

    let config = read(&with("", "", "channels = \"global\"", "")).config;
    assert_eq!((config.faults.move_slot, config.cluster.channels), (1, Channels::Global));
    let config = read(&with("", "", "channels = \"sharded\"", "")).config;
    assert_eq!(config.cluster.channels, Channels::Sharded);
    let config = read(&with("wait_limit = 0", "", "replicas = 1", "crash_node = 1")).config;
    assert!(config.refuses_releases_while_moving() && config.can_fail_over());
}

#[test]
fn channels_are_refused_where_none_could_end() {
    assert_eq!(codes(&smallest_and("[cluster]\nchannels = \"sharded\"")), [Code::Impossible]);
    assert_eq!(codes(&with("wait_limit = 0", "", "channels = \"sharded\"", "")), [Code::Impossible]);
    let polls = LockKind::ALL.iter().filter(|kind| kind.facts().may_be_moved() && !kind.facts().publishes());
    for kind in polls.map(|kind| kind.name()) {
        let text = with("", "", "channels = \"sharded\"", "").replace("reentrant", kind);
        assert_eq!(codes(&text), [Code::Impossible], "{kind}");
    }
}

#[test]
fn who_waits_for_messages_says_by_which_channels_they_come() {
    assert_eq!(codes(&with("", "", "", "")), [Code::MissingKey]);
    let otherwise_wrong = with("wait_limit = 0", "", "", "").replace("count = 2", "count = 9");
    assert_eq!(codes(&otherwise_wrong), [Code::OutOfBounds], "nobody knows then who waits");
    assert_eq!(codes(&with("wait_limit = 0", "", "", "")), []);
    let of_2021 = |channels: &str| with("", "", channels, "[protocol]\nprofile = \"redisson-3.15\"");
    assert_eq!(codes(&of_2021("channels = \"sharded\"")), [Code::Impossible]);
    assert_eq!(codes(&of_2021("channels = \"global\"")), []);
}

#[test]
fn what_is_not_modelled_beside_it_is_refused() {
    for text in [
        with("wait_limit = 0", "", "", "[network]\nmode = \"split\""),
        with("wait_limit = 0\nrenew_every = 1", "threads = 2\nnames = 2", "", ""),
        with("wait_limit = 0", "", "replicas = 2", ""),
        with("wait_limit = 0", "", "replicas = 1\nwait_for = 1", ""),
        with("wait_limit = 0", "", "replicas = 1\nmin_replicas = 1\nmin_replicas_slack = 0", ""),
        with("", "", "replicas = 1\nchannels = \"sharded\"", ""),
        with("", "", "replicas = 1\nchannels = \"global\"", "[protocol]\nsubscribe_to = \"replica\""),
        with("wait_limit = 0", "", "", "crash_node = 1\nrestart_node = 1"),
        with("wait_limit = 0", "", "", "kill_node = 1"),
        with("wait_limit = 0", "", "", "shutdown_node = 1"),
        with("wait_limit = 0", "", "replicas = 1", "cut_link = 1"),
        with("wait_limit = 0", "", "", "pause_node = 1"),
        with("wait_limit = 0", "", "replicas = 1", "hand_over = 1"),
        with("wait_limit = 0", "", "", "refuse_writes = 1"),
        with("wait_limit = 0", "", "replicas = 1", "break_link = 1"),
        with("wait_limit = 0\njump = 1", "", "", "clock_jump = 1"),
        with("wait_limit = 0", "", "", "vanish_key = 1"),
        with("wait_limit = 0", "", "", "persist_key = 1"),
    ] {
        assert_eq!(codes(&text), [Code::NotModelled], "{text}");
    }
}

#[test]
fn only_locks_whose_keys_are_in_one_slot_are_moved_and_those_of_one_key_beside_a_replica() {
    for kind in LockKind::ALL {
        let text = |cluster| with("wait_limit = 0", "", cluster, "").replace("reentrant", kind.name());
        assert_eq!(codes(&text("")).contains(&Code::NotModelled), !kind.facts().may_be_moved(), "{}", kind.name());
        let beside = codes(&text("replicas = 1"));
        let may_be = kind.facts().may_be_moved() && kind.facts().acquires_by_one_key();
        assert_eq!(beside.contains(&Code::NotModelled), !may_be, "{}", kind.name());
    }
}
