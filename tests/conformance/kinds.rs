//! What each kind of lock brings to the proofs that are the same for every kind.

use lockstep_model::LockKind;
use lockstep_redis::{Call, Scripts};
use lockstep_sim::scenario::Scenario;

/// One kind of lock.
pub struct KindProofs {
    /// The kind in the model.
    pub kind: LockKind,
    /// One call of every script, in an order in which each succeeds on an empty server.
    pub calls: fn(&Scripts) -> Vec<Call>,
    /// The scripts that write nothing, so that a replica executes them too.
    pub reading: &'static [&'static str],
    /// The rules that are made wrong, one at a time.
    pub wrong_scripts: &'static [WrongScript],
    /// The scenario with this name, where it is no built-in one.
    pub scenario: fn(&str) -> Option<Scenario>,
    /// Whether its scenarios may have every fault.
    pub has_every_fault: bool,
}

/// One rule of a script, made wrong.
pub struct WrongScript {
    /// The script.
    pub script: &'static str,
    /// What is wrong.
    pub rule: &'static str,
    /// In the script's own text this …
    pub right: &'static str,
    /// … becomes that.
    pub instead: &'static str,
    /// The scenario in which it shows.
    pub scenario: &'static str,
    /// What differs first, in the shortest history.
    pub caught_by: &'static str,
}

/// A rule that several kinds have in the same words, made wrong.
pub struct WrongRule {
    /// What is wrong.
    pub rule: &'static str,
    /// In the text of each of their scripts this …
    pub right: &'static str,
    /// … becomes that.
    pub instead: &'static str,
    /// What differs first, in the shortest history.
    pub caught_by: &'static str,
}

impl WrongRule {
    /// This rule, made wrong in one script.
    pub const fn of(self, script: &'static str, scenario: &'static str) -> WrongScript {
        let Self { rule, right, instead, caught_by } = self;
        WrongScript { script, rule, right, instead, scenario, caught_by }
    }
}
