//! The exit codes, and which one takes precedence if several apply.

use std::process::ExitCode;

/// How the command ended. The variants are in order of severity: the worst one wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// All verdicts are as declared.
    #[default]
    AsDeclared,
    /// A limit ended the run before everything was known.
    Inconclusive,
    /// A verdict is not as declared.
    NotAsDeclared,
    /// The model and real Redis differ.
    Diverged,
    /// No server, a wrong version, or a full disk.
    Environment,
    /// A defect of Lockstep itself.
    Internal,
    /// A wrong command line or a bad file: nothing was checked.
    Usage,
    /// Ctrl-C.
    Interrupted,
}

impl Exit {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 8] = [
        Self::AsDeclared,
        Self::NotAsDeclared,
        Self::Usage,
        Self::Inconclusive,
        Self::Diverged,
        Self::Environment,
        Self::Internal,
        Self::Interrupted,
    ];

    /// The number that the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::AsDeclared => 0,
            Self::NotAsDeclared => 1,
            Self::Usage => 2,
            Self::Inconclusive => 3,
            Self::Diverged => 4,
            Self::Environment => 5,
            Self::Internal => 70,
            Self::Interrupted => 130,
        }
    }

    /// The meaning of the code.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::AsDeclared => "every verdict is as declared, and real Redis agrees where it was asked",
            Self::NotAsDeclared => {
                "some verdict is not as declared: a property broke that should hold, or a declared violation was not found"
            }
            Self::Usage => "the command line or a file is wrong; nothing was checked",
            Self::Inconclusive => {
                "a limit (--max-states, --max-memory, --timeout) ended the run before everything was known"
            }
            Self::Diverged => "real Redis did something other than the model says",
            Self::Environment => {
                "something in the environment is missing or unusable: no server, a wrong version, a full disk"
            }
            Self::Internal => "a defect of lockstep itself: two engines differ, or a witness was rejected",
            Self::Interrupted => "interrupted (Ctrl-C); what was known by then was printed",
        }
    }

    /// The worse of the two.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        self.max(other)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    /// The documented order is 70, 5, 4, 1, 3.
    #[test]
    fn the_worst_wins() {
        let order = [Exit::Internal, Exit::Environment, Exit::Diverged, Exit::NotAsDeclared, Exit::Inconclusive];
        for (index, worse) in order.iter().enumerate() {
            for better in &order[index + 1..] {
                assert_eq!(worse.worst(*better), *worse);
                assert_eq!(better.worst(*worse), *worse);
            }
        }
    }
}
