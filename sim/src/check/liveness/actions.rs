//! Sets of actions by their numbers, and which actions are fair.

use lockstep_model::limits::MAX_ACTIONS;

/// A set of actions by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActionSet([u64; ActionSet::WORDS]);

impl ActionSet {
    /// Enough words for the actions of the largest world.
    const WORDS: usize = MAX_ACTIONS / u64::BITS as usize;
    /// The empty set.
    pub const NONE: Self = Self([0; Self::WORDS]);
    /// The set of all possible actions.
    pub const ALL: Self = Self([u64::MAX; Self::WORDS]);

    /// Adds an action.
    pub fn insert(&mut self, action: u16) {
        self.0[usize::from(action / 64)] |= 1 << (action % 64);
    }

    /// Whether the action is in the set.
    pub fn has(self, action: u16) -> bool {
        self.0[usize::from(action / 64)] >> (action % 64) & 1 != 0
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// The union.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(core::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    /// The intersection.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(core::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    /// The difference: actions that are not in the other set.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(core::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    /// Their numbers, in order.
    pub fn iter(self) -> impl Iterator<Item = u16> {
        (0..u16::MAX)
            .zip(0..Self::WORDS * u64::BITS as usize)
            .map(|(action, _)| action)
            .filter(move |action| self.has(*action))
    }
}

impl FromIterator<u16> for ActionSet {
    fn from_iter<I: IntoIterator<Item = u16>>(actions: I) -> Self {
        let mut set = Self::NONE;
        for action in actions {
            set.insert(action);
        }
        set
    }
}

/// Which actions a fair run must take. All other actions may happen or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fairness {
    /// Weakly fair: each is taken infinitely often, or is disabled infinitely often.
    pub weak: ActionSet,
    /// Time: taken infinitely often, whatever else happens in between, unless nothing fair can ever happen again. Weak
    /// fairness is not enough: it would accept a run in which clients are endlessly busy at one moment.
    pub time: ActionSet,
    /// Strongly fair: each is taken infinitely often, or from some moment on can never happen. Being disabled now and
    /// then is no excuse, as it is for weak fairness. A strongly fair action need not be listed as weakly fair as well.
    pub strong: ActionSet,
}

impl Fairness {
    /// All actions that are fair in some way.
    pub fn all(self) -> ActionSet {
        self.weak.or(self.time).or(self.strong)
    }

    /// Actions that are weakly fair but not strongly fair.
    pub(super) fn only_weak(self) -> ActionSet {
        self.weak.without(self.strong)
    }
}
