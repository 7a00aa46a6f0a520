//! The stable codes of all possible problems in a scenario, and the explanation that `lockstep explain` gives for each.

use core::fmt;

/// A kind of problem. A number never changes its meaning, and the number of a removed code is not reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    // The text.
    /// S001: not TOML.
    Syntax,
    /// S002: a duplicate key.
    Duplicate,
    /// S003: an unknown key.
    UnknownKey,
    /// S004: a required key is missing.
    MissingKey,
    /// S005: a value of the wrong type, such as a number instead of a word.
    WrongType,
    /// S006: a value that is too small, too large or too long.
    OutOfBounds,
    /// S007: not one of the words that this key accepts.
    UnknownWord,
    // The world.
    /// S008: a key, word or combination that is known, but not modelled yet.
    NotModelled,
    /// S009: two values that are valid alone contradict each other.
    Impossible,
    // The claims.
    /// S010: an unknown property.
    UnknownProperty,
    /// S011: the property does not apply to this scenario.
    DoesNotApply,
    /// S012: not a verdict that can be declared.
    NotAClaim,
    // The file.
    /// S020: the file could not be read.
    Unreadable,
    /// S021: a folder instead of a file.
    IsAFolder,
    /// S022: the file is too large to be a scenario.
    TooBig,
    /// S023: not UTF-8.
    NotUtf8,
    /// S024: the file is empty.
    Empty,
    /// S025: the file's name is not a valid scenario name.
    BadName,
    // The command line.
    /// S026: neither a built-in scenario nor a file.
    UnknownScenario,
    /// S027: two scenarios with the same name.
    SameName,
    /// S028: a folder without scenarios, or with far too many files.
    NoScenarios,
}

impl Code {
    /// All codes, in the order of their numbers.
    pub const ALL: [Self; 21] = [
        Self::Syntax,
        Self::Duplicate,
        Self::UnknownKey,
        Self::MissingKey,
        Self::WrongType,
        Self::OutOfBounds,
        Self::UnknownWord,
        Self::NotModelled,
        Self::Impossible,
        Self::UnknownProperty,
        Self::DoesNotApply,
        Self::NotAClaim,
        Self::Unreadable,
        Self::IsAFolder,
        Self::TooBig,
        Self::NotUtf8,
        Self::Empty,
        Self::BadName,
        Self::UnknownScenario,
        Self::SameName,
        Self::NoScenarios,
    ];

    /// The code's id: `S001` and so on.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Syntax => "S001",
            Self::Duplicate => "S002",
            Self::UnknownKey => "S003",
            Self::MissingKey => "S004",
            Self::WrongType => "S005",
            Self::OutOfBounds => "S006",
            Self::UnknownWord => "S007",
            Self::NotModelled => "S008",
            Self::Impossible => "S009",
            Self::UnknownProperty => "S010",
            Self::DoesNotApply => "S011",
            Self::NotAClaim => "S012",
            Self::Unreadable => "S020",
            Self::IsAFolder => "S021",
            Self::TooBig => "S022",
            Self::NotUtf8 => "S023",
            Self::Empty => "S024",
            Self::BadName => "S025",
            Self::UnknownScenario => "S026",
            Self::SameName => "S027",
            Self::NoScenarios => "S028",
        }
    }

    /// The code with that id, in upper or lower case.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.id().eq_ignore_ascii_case(id))
    }

    /// What the code means, why it is an error, and what to do.
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::Syntax => {
                "The file is not TOML. The marker shows where the parser stopped; the cause may stand a little before \
                 it, most often a missing quote or bracket. Words are written in quotes: lock = \"reentrant\"."
            }
            Self::Duplicate => {
                "A key or a [table] stands twice. TOML allows each only once, because it would not be clear which one \
                 counts. Remove one; all keys of a table stand below one header."
            }
            Self::UnknownKey => {
                "A scenario has no key of that name in that place. An unknown key is an error, because ignoring it \
                 would be dangerous: with a misspelt fault, a world without that fault would be checked, and every \
                 property would hold. reports/keys.md lists every key."
            }
            Self::MissingKey => {
                "Four keys have no sensible default and are required: story, lock, lease in [time] and count in \
                 [clients]. All other keys may be left out."
            }
            Self::WrongType => {
                "The value has the wrong type: for example text where a number is required, or a number where true or \
                 false is required. Numbers are written without quotes and words with quotes. Times are whole \
                 numbers of ticks (lease = 3), or have a unit and stand in quotes (lease = \"30s\"), all of a file in the same \
                 way unless it has a tick_ms; `lockstep explain tick` says more."
            }
            Self::OutOfBounds => {
                "The value is too small or too large. Every value of a scenario is bounded, because every tick, \
                 client, replica and fault multiplies the number of states that must be checked. A smaller world \
                 usually shows the same: most anomalies of locks need two clients and one or two faults. Times are in \
                 ticks: with a tick of 10 s, a lease of 30 s is lease = 3. Where times have units, a tick is the longest time \
                 that all of them have in common: one time that makes it short makes every other one many ticks."
            }
            Self::UnknownWord => {
                "The key accepts only a few words, and this is not one of them. The help line lists them."
            }
            Self::NotModelled => {
                "The scenario asks for something that the model does not contain yet. It is refused rather than ignored, because a verdict \
                 about another world would look like a verdict about yours. Remove the key, or one part of the combination."
            }
            Self::Impossible => {
                "Two values contradict each other, although each is valid alone. For example, a fault can never happen \
                 (lose_message = 1 where no client waits for a message), a key has no effect (lag without a replica), \
                 or a lease ends before its first renewal (renew_every > lease). Both places are marked, and the help \
                 line says which one to change."
            }
            Self::UnknownProperty => {
                "[expect] names a property that does not exist. `lockstep explain PROPERTY` says what a property means."
            }
            Self::DoesNotApply => {
                "The property has no meaning in this scenario, so no verdict can be declared for it: for example, \
                 there is no watchdog whose renewals could be late, no resource that could take effects out of order, \
                 or no client that waits. Remove the line, or add to the scenario what the property is about."
            }
            Self::NotAClaim => {
                "A scenario declares what is true of its world: holds, violated or vacuous. Inconclusive cannot be \
                 declared, because it is a result of a run: a limit ended the run before the verdict was known. If a \
                 world is too large to be checked completely, make it smaller. A file that sets a bound in [bounds] can \
                 claim holds-within-bounds as well; without such a bound there is nothing that the claim could rest on."
            }
            Self::Unreadable => {
                "The file or folder could not be read. The message gives the reason of the operating system."
            }
            Self::IsAFolder => "A scenario is one file. Commands that accept folders read every *.toml file below.",
            Self::TooBig => {
                "A scenario usually has a few hundred bytes. A file of more than 64 KiB is probably something else, so \
                 it is not read."
            }
            Self::NotUtf8 => "TOML files are UTF-8. Save the file in that encoding.",
            Self::Empty => {
                "The file contains only blanks and comments. The smallest scenario has a story, a lock, a lease in \
                 [time] and a count in [clients]."
            }
            Self::BadName => {
                "A scenario has the name of its file. The name becomes part of commands, traces and the names of trace \
                 files, so it consists of at most 120 of the characters a-z, 0-9, - and _, and begins with a letter \
                 or digit. Rename the file."
            }
            Self::UnknownScenario => {
                "The argument is neither the name of a built-in scenario nor a file or folder. `lockstep scenarios` \
                 lists the built-in ones. To name a file that has the name of a built-in scenario, write ./NAME.toml."
            }
            Self::SameName => {
                "Two scenarios of one run have the same name, so their traces and results could not be told apart. \
                 Rename one file, or name only one of them."
            }
            Self::NoScenarios => {
                "No file below the folder has a name that ends in .toml, or there are so many files that it is \
                 probably not a folder of scenarios. Symbolic links to folders are not followed."
            }
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_and_none_is_used_twice() {
        assert!(Code::ALL.is_sorted_by(|a, b| a.id() < b.id()));
    }

    #[test]
    fn a_code_is_found_in_either_case() {
        assert_eq!(Code::from_id("S003"), Some(Code::UnknownKey));
        assert_eq!(Code::from_id("s003"), Some(Code::UnknownKey));
        assert_eq!(Code::from_id("S999"), None);
    }
}
