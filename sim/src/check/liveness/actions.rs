//! Sets of actions by their numbers, and which of them are fair.

/// Actions by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActionSet([u64; ActionSet::WORDS]);

impl ActionSet {
    /// Enough for the actions of the largest world.
    const WORDS: usize = 5;
    /// None.
    pub const NONE: Self = Self([0; Self::WORDS]);
    /// Every one there can be.
    pub const ALL: Self = Self([u64::MAX; Self::WORDS]);

    /// Puts one in.
    pub fn insert(&mut self, action: u16) {
        self.0[usize::from(action / 64)] |= 1 << (action % 64);
    }

    /// Whether it is in.
    pub fn has(self, action: u16) -> bool {
        self.0[usize::from(action / 64)] >> (action % 64) & 1 != 0
    }

    /// Whether none is in.
    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// Those of either.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(core::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    /// Those of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(core::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    /// Those that are not in the other.
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

/// What must happen, in a run that is fair. All other actions may happen or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fairness {
    /// Weakly fair: each is taken again and again, or cannot happen again and again.
    pub weak: ActionSet,
    /// Time: taken again and again, whatever else happens in between, unless nothing fair can ever happen again. Weak
    /// fairness would not do: a run in which clients are endlessly busy at one moment would be fair to it.
    pub time: ActionSet,
    /// Strongly fair: each is taken again and again, or from some moment on can never happen. That it cannot happen now
    /// and then is no excuse, as it is to weak fairness. What is strongly fair need not be named weakly fair as well.
    pub strong: ActionSet,
}

impl Fairness {
    /// Everything that is fair in some way.
    pub fn all(self) -> ActionSet {
        self.weak.or(self.time).or(self.strong)
    }

    /// What is weakly fair and no more than that.
    pub(super) fn only_weak(self) -> ActionSet {
        self.weak.without(self.strong)
    }
}
