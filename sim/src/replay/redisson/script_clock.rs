//! The wall clock that a script brings (docs/facts/family.md#fair). The clocks of a JVM are a little behind an instant of the
//! history, or ahead of it by what its timers needed, and a deadline would keep that difference for good: so the gate puts the
//! time of the history in its place.

use crate::replay::servers::replication_stream::WireCommand;

/// The time of the history, and how far that of a JVM may be away from it.
#[derive(Clone, Copy, Debug)]
pub struct ScriptClock {
    /// The wall clock, in milliseconds since 1970.
    pub now_ms: u64,
    /// So far before and after it.
    pub within_ms: u64,
}

impl ScriptClock {
    /// A request with this time, where it brings one that is as near.
    pub fn set(self, words: &WireCommand) -> WireCommand {
        let set = |word: &Vec<u8>| {
            let time = str::from_utf8(word).ok().and_then(|word| word.parse::<u64>().ok());
            let is_near = time.is_some_and(|time| time.abs_diff(self.now_ms) <= self.within_ms);
            if is_near { self.now_ms.to_string().into_bytes() } else { word.clone() }
        };
        words.iter().map(set).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_time_that_is_as_near_is_set() {
        let clock = ScriptClock { now_ms: 1_704_067_210_000, within_ms: 500 };
        let words = |words: &[&str]| words.iter().map(|word| word.as_bytes().to_vec()).collect::<WireCommand>();
        let command = words(&["EVAL", "30000", "A:1", "1704067209999", "1704067210500", "1704067210501"]);
        let expected = words(&["EVAL", "30000", "A:1", "1704067210000", "1704067210000", "1704067210501"]);
        assert_eq!(clock.set(&command), expected);
    }
}
