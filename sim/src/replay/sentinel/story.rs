//! What the sentinels say while they fail over, and when they say it.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Something that one sentinel published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// How long after the death of the master, by the real clock.
    pub after: Duration,
    /// `s1` for the first sentinel.
    pub by: String,
    /// In Sentinel's own words: `+sdown`, `+switch-master`.
    pub what: String,
    /// Whom it concerns, nodes and sentinels by their names: `n1`.
    pub about: String,
}

impl Said {
    /// Whether it belongs to the story of a failover, as a person would tell it: who thinks that the master is down, who
    /// decides, whom they choose, and whatever keeps them from it.
    pub fn is_telling(&self) -> bool {
        const TELLING: [&str; 9] = [
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
        TELLING.contains(&self.what.as_str()) || self.what.starts_with("-failover-abort")
    }
}

/// What has been heard of all sentinels.
#[derive(Debug, Default)]
pub(super) struct Heard(Mutex<Vec<Raw>>);

#[derive(Clone, Debug)]
struct Raw {
    at: Instant,
    by: usize,
    what: String,
    about: String,
}

impl Heard {
    pub(super) fn note(&self, at: Instant, by: usize, what: String, about: String) {
        // The sentinels' greetings to one another are published too.
        if what.starts_with(['+', '-']) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Raw { at, by, what, about });
        }
    }

    /// All that was said since then, in the order in which it came.
    pub(super) fn since(&self, begin: Instant, names: &Names) -> Vec<Said> {
        let heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut said: Vec<_> = heard
            .iter()
            .filter_map(|raw| {
                Some(Said {
                    after: raw.at.checked_duration_since(begin)?,
                    by: format!("s{}", raw.by + 1),
                    what: raw.what.clone(),
                    about: names.told(&raw.about),
                })
            })
            .collect();
        // Each sentinel has its own thread: what they wrote down may be a little out of turn.
        said.sort_by_key(|said| said.after);
        said
    }
}

/// What we call those whom Sentinel knows by address or by id.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) by_port: Vec<(u16, String)>,
    pub(super) by_id: Vec<(String, String)>,
}

impl Names {
    /// Sentinel says `slave 127.0.0.1:5002 127.0.0.1 5002 @ lockstep 127.0.0.1 5001`; we say `n2`.
    fn told(&self, about: &str) -> String {
        let mut told: Vec<String> = Vec::new();
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
            if told.last() != Some(&name) {
                told.push(name);
            }
        }
        told.join(" ")
    }
}

/// What stands before a name, or is said once more by the name.
fn is_noise(word: &str) -> bool {
    ["master", "slave", "sentinel", super::NAME].contains(&word) || word.starts_with("127.0.0.1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let named = |port, name: &str| (port, name.to_owned());
        Names {
            by_port: vec![named(5001, "n1"), named(5002, "n2"), named(6001, "s1")],
            by_id: vec![("73cc0c".to_owned(), "s1".to_owned())],
        }
    }

    /// In the words of Redis 7.0.15.
    #[test]
    fn whom_sentinel_means_is_told_by_name() {
        for (said, told) in [
            ("master lockstep 127.0.0.1 5001", "n1"),
            ("master lockstep 127.0.0.1 5001 #quorum 2/2", "n1 #quorum 2/2"),
            ("slave 127.0.0.1:5002 127.0.0.1 5002 @ lockstep 127.0.0.1 5001", "n2"),
            ("sentinel 73cc0c 127.0.0.1 6001 @ lockstep 127.0.0.1 5001", "s1"),
            ("lockstep 127.0.0.1 5001 127.0.0.1 5002", "n1 n2"),
            ("73cc0c 1", "s1 1"),
            ("#tilt mode entered", "#tilt mode entered"),
        ] {
            assert_eq!(names().told(said), told);
        }
    }

    #[test]
    fn what_was_said_before_the_death_is_no_part_of_the_story() {
        let heard = Heard::default();
        let say =
            |what: &str| heard.note(Instant::now(), 1, what.to_owned(), "master lockstep 127.0.0.1 5001".to_owned());
        say("+slave");
        let begin = Instant::now();
        say("__sentinel__:hello");
        say("+sdown");
        let said = heard.since(begin, &names());
        assert_eq!(said.len(), 1, "{said:?}");
        assert_eq!((said[0].by.as_str(), said[0].what.as_str(), said[0].about.as_str()), ("s2", "+sdown", "n1"));
    }
}
