//! The rule of a scenario that is wrong on purpose.

use crate::config::sections::Config;
use crate::mutants::{ActiveMutant, Mutant};

impl Config {
    /// The rule that is wrong on purpose.
    #[cfg(feature = "mutants")]
    pub(super) const fn active_mutant(&self) -> ActiveMutant {
        ActiveMutant::new(self.mutant)
    }

    /// The rule that is wrong on purpose: none, in a build without mutants.
    #[cfg(not(feature = "mutants"))]
    #[expect(clippy::unused_self, reason = "the call sites are the same in both builds")]
    pub(super) const fn active_mutant(&self) -> ActiveMutant {
        ActiveMutant {}
    }

    /// Whether the rule of this mutant is the one that is wrong.
    pub(crate) fn is_mutated(&self, mutant: Mutant) -> bool {
        self.active_mutant().is(mutant)
    }

    /// The same world with one wrong rule.
    #[cfg(feature = "mutants")]
    #[must_use]
    pub const fn with_mutant(self, mutant: Mutant) -> Self {
        Self { mutant: Some(mutant), ..self }
    }
}
