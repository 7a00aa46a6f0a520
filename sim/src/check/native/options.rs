//! How the native engine searches: what the caller chooses, and the sizes of its parts.

use lockstep_model::Property;

/// Shards of the table; many more than threads, so that the work is shared evenly. A power of two.
pub(super) const SHARDS: usize = 64;
/// States expanded between two checks of the limits. Bounds the number of candidates on their way to the shards.
pub(super) const BLOCK: usize = 1 << 14;
/// States that a thread processes at once.
pub(super) const CHUNK: usize = 1 << 9;

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many threads search.
    pub threads: usize,
    /// Whether worlds that can never again be told apart are treated as one ([`lockstep_model::NormalForm`]), and worlds that
    /// differ only by the order of their nodes or of their clients.
    pub normal_forms: bool,
    /// Whether worlds that differ only by the order of their clients are treated as one, without normal forms too.
    pub symmetry: bool,
    /// Whether a state in which only time can advance is passed through and not kept.
    ///
    /// Sound for every verdict: such a state has one successor, it is checked in passing like any other, and whatever
    /// can be reached from it can be reached from where the passage ends. Only counts and depths become smaller.
    pub skip_idle: bool,
    /// The search ends once this property is broken: its shortest trace is known then.
    pub until: Option<Property>,
}

impl Options {
    /// One thread, and normal forms.
    pub const DEFAULT: Self = Self { threads: 1, normal_forms: true, symmetry: false, skip_idle: false, until: None };
}

impl Default for Options {
    fn default() -> Self {
        Self::DEFAULT
    }
}
