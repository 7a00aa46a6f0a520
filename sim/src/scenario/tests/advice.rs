//! What the messages advise: the word that was meant, and a time in ticks.

use tempfile::TempDir;

use super::*;

/// Users know the names of Redis and Redisson before they know ours.
#[test]
fn a_name_of_redis_or_redisson_leads_to_the_key_or_word_here() {
    for (text, ours) in [
        (smallest_and("[cluster]\nreplicas = 1\nmin-replicas-to-write = 1"), "did you mean `min_replicas`?"),
        (smallest_and("[cluster]\nappendfsync = \"always\""), "did you mean `fsync`?"),
        (smallest_and("min-replicas-to-write = 1"), "did you mean `min_replicas`? it belongs in [cluster]"),
        (SMALLEST.replace("lease = 3", "leaseTime = 3"), "did you mean `lease`?"),
        (SMALLEST.replace("\"reentrant\"", "\"rlock\""), "did you mean \"reentrant\"?"),
        (SMALLEST.replace("\"reentrant\"", "\"RLock\""), "did you mean \"reentrant\"?"),
        (SMALLEST.replace("\"reentrant\"", "\"SETNX\""), "did you mean \"plain\"?"),
    ] {
        let picture = picture(&text);
        assert!(picture.contains(ours), "{ours}: {picture}");
        assert_eq!(codes(&text).len(), 1, "{picture}");
    }
}

/// Users write the version that they have.
#[test]
fn another_version_of_a_library_leads_to_its_profile() {
    for (written, ours) in [
        ("redlock-3", "redlock-5"),
        ("redlock-4.2.0", "redlock-4"),
        ("redsync-3", "redsync-4"),
        ("redis-py", "redis-py-8"),
        ("redislock-0.9.4", "redislock-0.10"),
        ("shedlock-6.3.1", "shedlock-7"),
        ("spring-integration-6.5", "spring-integration-7"),
        ("redisson-4.1", "redisson-3.52"),
    ] {
        let text = smallest_and(&format!("[protocol]\nprofile = \"{written}\""));
        let picture = picture(&text);
        assert!(picture.contains(&format!("did you mean \"{ours}\"?")), "{written}: {picture}");
        assert_eq!(codes(&text), [Code::UnknownWord], "{picture}");
    }
}

#[test]
fn the_accepted_words_are_listed_once() {
    for word in ["mutex", "rlock"] {
        // The list is longer than a line.
        let picture = picture(&SMALLEST.replace("reentrant", word)).split_whitespace().collect::<Vec<_>>().join(" ");
        let kinds: Vec<_> = LockKind::ALL.iter().map(|kind| format!("\"{}\"", kind.name())).collect();
        let (last, others) = kinds.split_last().expect("there are some");
        let words = format!("{} or {last}", others.join(", "));
        assert_eq!(picture.matches(&words).count(), 1, "{picture}");
    }
}

#[test]
fn a_table_and_a_flag_lead_to_the_table_and_the_word_here() {
    for (text, advice) in [
        (smallest_and("[clusters]\nreplicas = 1"), "did you mean [cluster]?"),
        (smallest_and("[clusters]\nreplicas = 1"), "there is no table [clusters]"),
        (smallest_and("[weather]\nrain = 1"), "the tables are [time], [clients], [[client]], [cluster]"),
        (smallest_and("[resource]\nfencing = true"), "write fencing = \"ideal\""),
        (smallest_and("[resource]\nfencing = false"), "write fencing = \"none\""),
    ] {
        let picture = picture(&text);
        assert!(picture.contains(advice), "{advice}: {picture}");
        assert_eq!(codes(&text).len(), 1, "{picture}");
    }
}

/// A name with an ending, or without one, is often that of a file nearby.
#[test]
fn a_file_that_does_not_exist_leads_to_one_nearby_or_a_built_in_one() {
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("my-lock.toml"), SMALLEST).expect("a file");
    let said = |name: &str| {
        let path = folder.path().join(name).display().to_string();
        resolve(&[path]).expect_err("it does not exist").report(false)
    };
    assert!(said("my-lok.toml").contains("my-lock.toml`?"), "{}", said("my-lok.toml"));
    let built_in = said("failover-loses-the-grand.toml");
    assert!(built_in.contains("a built-in scenario `failover-loses-the-grant`"), "{built_in}");
    assert!(!said("quite-another-name.toml").contains("did you mean"));
}

/// Redis and Redisson count in milliseconds, and people in seconds.
#[test]
fn a_time_in_another_unit_is_told_in_ticks() {
    for (given, advice) in [
        ("30000", "a tick is 10s here (tick_ms = 10000): for 30s, write lease = 3"),
        ("90", "for 1m 30s, write lease = 9"),
        ("25_000", "25s is not a whole number of ticks, so choose a shorter tick with tick_ms in [time]"),
        ("\"2h\"\ntick_ms = 10000", "2h would be 720 ticks, so choose a longer tick with tick_ms in [time]"),
        (
            "\"25s\"\ntick_ms = 10000",
            "25s is not a whole number of ticks, so choose a shorter tick with tick_ms in [time]",
        ),
        ("\"500us\"", "500us is not a whole number of milliseconds: the units of times are ms, s, m and h"),
        ("\"1500us\"", "1ms 500us is not a whole number of milliseconds"),
        ("\"100000h\"", "the longest time is 60h: 60 ticks of an hour, the longest tick"),
        ("\"100000h\"", "this time is too long"),
        ("\"99999999999999999h\"", "the longest time is 60h: 60 ticks of an hour, the longest tick"),
        ("\"18446744073709551615ms\"", "this time is too long"),
        ("3.5", "write lease = 3 for three ticks"),
        ("30000\ntick_ms = 500", "a tick is 500ms here (tick_ms = 500): for 30s, write lease = 60"),
    ] {
        let picture = picture(&SMALLEST.replace("lease = 3", &format!("lease = {given}")));
        // The report breaks long lines.
        let line = picture.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(line.contains(advice), "{given}: {picture}");
    }
    // Without quotes it is not even TOML.
    for (given, advice) in [
        ("30s", "write lease = \"30s\""),
        ("30 s", "write lease = \"30 s\""),
        ("30s # as in Redisson", "write lease = \"30s\""),
    ] {
        let text = SMALLEST.replace("lease = 3", &format!("lease = {given}"));
        let picture = picture(&text);
        let line = picture.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(line.contains(advice), "{given}: {picture}");
        assert_eq!(codes(&text), [Code::Syntax], "{picture}");
    }
    let no_time = picture(&SMALLEST.replace("count = 2", "count = 2s"));
    assert!(!no_time.contains("tick"), "{no_time}");
    let elsewhere = picture(&smallest_and("[cluster]\nreplicas = 1\nlag = 20000"));
    assert!(elsewhere.contains("write lag = 2"), "{elsewhere}");
    let no_time = picture(&SMALLEST.replace("count = 2", "count = 5"));
    assert!(!no_time.contains("tick"), "{no_time}");
}

#[test]
fn a_message_about_a_combination_names_both_keys() {
    let waiting = "[cluster]\nreplicas = 1\nwait_for = 1\n[faults]\nclock_jump = 1";
    let text = SMALLEST.replace("lease = 3", "lease = 3\njump = 4") + waiting;
    let picture = picture(&text);
    assert!(picture.contains("`clock_jump` together with `wait_for` is not modelled yet"), "{picture}");
}

#[test]
fn no_line_of_a_report_is_longer_than_a_page() {
    let picture = picture(&smallest_and("[faults]\nearthquake = 1\n[expect]\nno_such = \"holds\""));
    assert!(picture.contains("clock_jump") && picture.contains("waiter-served"), "{picture}");
    assert!(picture.lines().all(|line| line.chars().count() <= 100), "{picture}");
}
