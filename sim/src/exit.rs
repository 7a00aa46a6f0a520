//! The exit codes, and which one takes precedence if several apply.

use std::process::ExitCode;

/// How the command ended. The variants are in order of severity: the worst one wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// All verdicts are as declared.
    #[default]
    AsDeclared,
    /// A limit ended the run before everything was known, or the model had too little room.
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
            Self::AsDeclared => {
                "`check`: every verdict is as declared; `replay`, `fuzz`, `museum`: real Redis or Redisson does what the model says, \
                 whatever the verdicts are"
            }
            Self::NotAsDeclared => {
                "`check`: some verdict is not as declared: a property broke that should hold, or a declared violation was not found; \
                 `museum`: a version has a defect that it is said not to have, or the other way round"
            }
            Self::Usage => "the command line or a file is wrong; nothing was checked",
            Self::Inconclusive => {
                "a limit (--max-states, --max-memory, --timeout) ended the run before everything was known, a bound of the file \
                 ([bounds]) left the model too little room for a verdict, or Redisson could follow no history to its end (`museum`: \
                 not that of some exhibit)"
            }
            Self::Diverged => "real Redis, or Redisson, did something other than the model says",
            Self::Environment => {
                "something in the environment is missing or unusable: no server, a wrong version, a full disk"
            }
            Self::Internal => "a defect of lockstep itself: two engines differ, or a witness was rejected",
            Self::Interrupted => "interrupted (Ctrl-C, SIGTERM); what was known by then was printed",
        }
    }

    /// The meaning in a few words, for a list.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::AsDeclared => "every verdict is as declared",
            Self::NotAsDeclared => "some verdict is not as declared",
            Self::Usage => "the command line or a file is wrong",
            Self::Inconclusive => "inconclusive: a limit or bound hid something, or no history was followed",
            Self::Diverged => "real Redis diverged from the model",
            Self::Environment => "the environment is unusable, for example there is no server",
            Self::Internal => "internal: a defect of lockstep",
            Self::Interrupted => "interrupted (Ctrl-C, SIGTERM)",
        }
    }

    /// What to do next.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::AsDeclared => {
                "There is nothing to do. A declared violation that was found counts as declared, so 0 does not mean that \
                 the lock is safe: read the verdicts."
            }
            Self::NotAsDeclared => {
                "Look at the counterexample: `lockstep show SCENARIO --property PROPERTY`. If the violation is a defect \
                 of your design, change the world in the file; `lockstep frontier` tries repairs. If it is a known \
                 limitation, declare it: PROPERTY = \"violated\" in [expect]. If a declared violation was not found, \
                 the world does not allow it any more: declare \"holds\"."
            }
            Self::Usage => {
                "Correct what the message names. `lockstep COMMAND --help` describes the arguments, `lockstep explain \
                 S003` an error code of a scenario file, and `lockstep explain KEY` a key."
            }
            Self::Inconclusive => {
                "Raise the limit, or make the world smaller: fewer clients, smaller fault budgets, shorter times, or a \
                 bound on acquires. Where the output says that the model has too little room, raise the bound that it names in \
                 [bounds]. What was found before the limit is valid: a violation stays a violation. Where Redisson could not \
                 follow, the output says why: replay more histories (`fuzz --cases`), or another scenario. What `museum` does \
                 not follow on a version is neither seen there nor refuted."
            }
            Self::Diverged => {
                "The output names the first step at which a request, a reply, a key or a TTL differs. Either the model is wrong, \
                 or the server is not one that lockstep knows (Redis 6.2, Redis 7.0, Valkey 9.1). Repeat the replay with \
                 --server, and report a difference that remains: it is a defect of lockstep. With --on redisson its version \
                 may have another profile than the scenario: `lockstep fuzz SCENARIO --on redisson` says with which values \
                 of [protocol] it agrees, and `lockstep explain departures` where the model differs on purpose."
            }
            Self::Environment => {
                "The message names what is missing. Replays need Linux and redis-server or valkey-server, 6.2 or later, \
                 on PATH or given with --server. A file or folder for output must be writable."
            }
            Self::Internal => {
                "This is not a problem of your scenario. Please report it with the command, the scenario file and the \
                 message. The verdicts of this run cannot be trusted."
            }
            Self::Interrupted => {
                "Verdicts that were printed are valid; all others are inconclusive. Use --timeout to end a run at a \
                 fixed time."
            }
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
