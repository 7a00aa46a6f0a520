//! Which values of a lock over several a client names.

use serde::{Deserialize, Serialize};

use crate::limits::MAX_SET_VALUES;

/// Some of the values of a lock over several, in one byte: a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "Vec<u8>", try_from = "Vec<u8>")]
#[cfg_attr(feature = "schema", schemars(with = "Vec<u8>"))]
pub struct ValueSet(u8);

impl ValueSet {
    /// All values that there are.
    pub const ALL: Self = Self((1 << MAX_SET_VALUES) - 1);

    /// Those with these numbers, from 1; `None`: it names none, one twice, or one that there is not.
    pub fn of(numbers: &[u8]) -> Option<Self> {
        let mut set = Self(0);
        for number in numbers {
            let bit = number.checked_sub(1).filter(|at| *at < MAX_SET_VALUES).map(|at| 1 << at)?;
            if set.0 & bit != 0 {
                return None;
            }
            set.0 |= bit;
        }
        (set.0 != 0).then_some(set)
    }

    /// Whether the value at this place is among them.
    pub const fn has(self, at: usize) -> bool {
        self.0 >> at & 1 != 0
    }

    /// Whether both name a value.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Their numbers, from 1.
    pub fn numbers(self) -> impl Iterator<Item = u8> {
        (0..MAX_SET_VALUES).filter(move |at| self.has(usize::from(*at))).map(|at| at + 1)
    }
}

impl Default for ValueSet {
    fn default() -> Self {
        Self::ALL
    }
}

impl From<ValueSet> for Vec<u8> {
    fn from(set: ValueSet) -> Self {
        set.numbers().collect()
    }
}

impl TryFrom<Vec<u8>> for ValueSet {
    type Error = String;

    fn try_from(numbers: Vec<u8>) -> Result<Self, String> {
        Self::of(&numbers).ok_or_else(|| format!("{numbers:?} are not some of the values 1 to {MAX_SET_VALUES}"))
    }
}
