//! What the sentinels publish while they fail over, and when.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// One event that a sentinel published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentinelEvent {
    /// How long after the death of the master, by the real clock.
    pub after: Duration,
    /// `s1` for the first sentinel.
    pub by: String,
    /// In Sentinel's own words: `+sdown`, `+switch-master`.
    pub what: String,
    /// The nodes and sentinels that it concerns, by their names: `n1`.
    pub about: String,
}

impl SentinelEvent {
    /// Whether it is one of the main events of a failover: a sentinel considers the master down, one is elected, a replica
    /// is chosen and promoted, or something prevents that.
    pub fn is_about_a_failover(&self) -> bool {
        const EVENTS: [&str; 9] = [
            "+sdown",
            "+odown",
            "+try-failover",
            "+elected-leader",
            "+selected-slave",
            "+promoted-slave",
            "+slave-reconf-sent",
            "+switch-master",
            "+tilt",
        ];
        EVENTS.contains(&self.what.as_str()) || self.what.starts_with("-failover-abort")
    }
}

/// The events of all sentinels.
#[derive(Debug, Default)]
pub struct EventLog(Mutex<Vec<RawEvent>>);

#[derive(Clone, Debug)]
struct RawEvent {
    at: Instant,
    by: usize,
    what: String,
    about: String,
}

impl EventLog {
    /// Records an event, unless it is a greeting.
    pub fn record(&self, at: Instant, by: usize, what: String, about: String) {
        // The greetings of the sentinels are published too; the names of events begin with a sign.
        if what.starts_with(['+', '-']) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(RawEvent { at, by, what, about });
        }
    }

    /// The events since then, in the order of their arrival.
    pub fn since(&self, begin: Instant, names: &KnownNames) -> Vec<SentinelEvent> {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut events: Vec<_> = log
            .iter()
            .filter_map(|raw| {
                Some(SentinelEvent {
                    after: raw.at.checked_duration_since(begin)?,
                    by: format!("s{}", raw.by + 1),
                    what: raw.what.clone(),
                    about: names.replace_in(&raw.about),
                })
            })
            .collect();
        // Each sentinel has its own thread, so records may be slightly out of order.
        events.sort_by_key(|event| event.after);
        events
    }
}

/// Our names of the nodes and sentinels that Sentinel knows by address or by id.
#[derive(Debug, Default)]
pub struct KnownNames {
    /// By port.
    pub by_port: Vec<(u16, String)>,
    /// By the id of a sentinel.
    pub by_id: Vec<(String, String)>,
}

impl KnownNames {
    /// `n2` for `slave 127.0.0.1:5002 127.0.0.1 5002 @ lockstep 127.0.0.1 5001`.
    fn replace_in(&self, about: &str) -> String {
        let mut words: Vec<String> = Vec::new();
        let subject = about.split(" @ ").next().unwrap_or_default();
        for word in subject.split(' ') {
            let port = word.parse().ok();
            let by_port = self.by_port.iter().find(|(known, _)| Some(*known) == port);
            let by_id = self.by_id.iter().find(|(known, _)| known == word);
            let name = match (by_port, by_id) {
                (Some((_, name)), _) | (None, Some((_, name))) => name.clone(),
                (None, None) if is_noise(word) => continue,
                (None, None) => word.to_owned(),
            };
            if words.last() != Some(&name) {
                words.push(name);
            }
        }
        words.join(" ")
    }
}

/// A word before a name, or one that the name repeats.
fn is_noise(word: &str) -> bool {
    ["master", "slave", "sentinel", super::settings::MASTER_NAME].contains(&word) || word.starts_with("127.0.0.1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> KnownNames {
        let named = |port, name: &str| (port, name.to_owned());
        KnownNames {
            by_port: vec![named(5001, "n1"), named(5002, "n2"), named(6001, "s1")],
            by_id: vec![("73cc0c".to_owned(), "s1".to_owned())],
        }
    }

    /// As Redis 7.0.15 publishes them.
    #[test]
    fn addresses_and_ids_in_events_are_replaced_by_names() {
        for (published, expected) in [
            ("master lockstep 127.0.0.1 5001", "n1"),
            ("master lockstep 127.0.0.1 5001 #quorum 2/2", "n1 #quorum 2/2"),
            ("slave 127.0.0.1:5002 127.0.0.1 5002 @ lockstep 127.0.0.1 5001", "n2"),
            ("sentinel 73cc0c 127.0.0.1 6001 @ lockstep 127.0.0.1 5001", "s1"),
            ("lockstep 127.0.0.1 5001 127.0.0.1 5002", "n1 n2"),
            ("73cc0c 1", "s1 1"),
            ("#tilt mode entered", "#tilt mode entered"),
        ] {
            assert_eq!(names().replace_in(published), expected);
        }
    }

    #[test]
    fn events_before_the_death_and_greetings_are_left_out() {
        let log = EventLog::default();
        let publish =
            |what: &str| log.record(Instant::now(), 1, what.to_owned(), "master lockstep 127.0.0.1 5001".to_owned());
        publish("+slave");
        let begin = Instant::now();
        publish("__sentinel__:hello");
        publish("+sdown");
        let events = log.since(begin, &names());
        assert_eq!(events.len(), 1, "{events:?}");
        assert_eq!((events[0].by.as_str(), events[0].what.as_str(), events[0].about.as_str()), ("s2", "+sdown", "n1"));
    }
}
