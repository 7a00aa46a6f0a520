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
    /// S008: known, but not modelled yet.
    NotModelled,
    /// S009: two values that are valid alone, but contradict each other.
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
                "The file is not TOML. The marker shows where reading stopped making sense; the cause may stand a \
                 little before it, most often a missing quote or bracket. Words are written in quotes: \
                 lock = \"reentrant\"."
            }
            Self::Duplicate => {
                "A key or a [table] stands twice. TOML allows each once, so it cannot be known which is meant. Keep \
                 one; a table's keys all go below one header."
            }
            Self::UnknownKey => {
                "No scenario has a key of that name in that place. An unknown key is an error and not ignored, \
                 because a misspelt fault would otherwise be checked as a world without it, and everything would hold."
            }
            Self::MissingKey => {
                "Four things have no sensible default and must be said: story, lock, lease in [time] and count in \
                 [clients]. Everything else may be left out."
            }
            Self::WrongType => {
                "The value is of another sort than the key takes: a string where a number is meant, a number where \
                 true or false is meant, or a value where a table is meant. Numbers stand without quotes, words with."
            }
            Self::OutOfBounds => {
                "The value is too small or too large. Every value of a scenario is bounded, because every tick, \
                 client, replica and fault multiplies the states that are looked at, one by one. A smaller world \
                 usually shows the same: anomalies of locks need two clients and one or two faults."
            }
            Self::UnknownWord => {
                "The key takes one of a few words, and this is none of them. The help line lists them."
            }
            Self::NotModelled => {
                "The key or word has a meaning, but no rule of the model reads it yet. It is refused rather than \
                 ignored: a verdict about a world without it would look like a verdict about yours. Where the key \
                 has a harmless value (no such fault, one group, atomic requests) that value is accepted."
            }
            Self::Impossible => {
                "Each value is fine alone, but together they describe nothing, or not what you mean: a fault that can \
                 never happen, or a lease that runs out before its first renewal. The two places are marked."
            }
            Self::UnknownProperty => {
                "[expect] names a property that does not exist. `lockstep explain PROPERTY` says what each one means."
            }
            Self::DoesNotApply => {
                "The property says nothing about this scenario, so no verdict about it can be declared: there is no \
                 watchdog whose renewals could be late, no resource that could take effects out of order, or nobody \
                 who waits. Take the line out, or give the scenario what the property speaks of."
            }
            Self::NotAClaim => {
                "A scenario declares what is true of its world: holds, violated, or vacuous. Inconclusive means that \
                 a limit ended the run before anything was known; that is a result of a run and never a claim. A world too \
                 big to exhaust needs smaller bounds."
            }
            Self::Unreadable => "The file or folder could not be read; the message is the operating system's.",
            Self::IsAFolder => "A scenario is one file. Commands that take folders read every *.toml below.",
            Self::TooBig => {
                "A scenario is a paragraph, a few hundred bytes. A file of more than 64 KiB is something else, so it \
                 is not read any further."
            }
            Self::NotUtf8 => "TOML is UTF-8. Save the file in that encoding.",
            Self::Empty => {
                "There is nothing in the file but blanks and comments. The smallest scenario has a story, a lock, a \
                 lease in [time] and a count in [clients]."
            }
            Self::BadName => {
                "A scenario is called like its file. The name appears in commands, traces and file names of traces, so \
                 it is made of a-z, 0-9 and hyphens, at most 60 of them. Rename the file."
            }
            Self::UnknownScenario => {
                "The argument is neither the name of a built-in scenario nor a file or folder. `lockstep scenarios` \
                 lists the built-in ones. A file beside a built-in scenario of the same name is reached by ./NAME.toml."
            }
            Self::SameName => {
                "Two scenarios of one run have one name, so their traces and results could not be told apart. Rename \
                 one file, or name each only once."
            }
            Self::NoScenarios => {
                "No file below the folder ends in .toml, or it holds so many files that it can't be a folder of \
                 scenarios. Folders that are links are not followed."
            }
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

/// The explanation of a code, for `lockstep explain S001`; `None`: there is no such code.
pub fn explain(code: &str) -> Option<&'static str> {
    Code::from_id(code).map(Code::explanation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_and_none_is_used_twice() {
        assert!(Code::ALL.is_sorted_by(|a, b| a.id() < b.id()));
    }

    #[test]
    fn a_code_is_explained_in_either_case() {
        assert_eq!(explain("S003"), Some(Code::UnknownKey.explanation()));
        assert_eq!(explain("s003"), explain("S003"));
        assert_eq!(explain("S999"), None);
    }
}
