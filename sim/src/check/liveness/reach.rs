//! What can still be reached: from each state that wants it, somebody must be able to get the lock without another fault.

use std::collections::{BTreeSet, VecDeque};

use lockstep_model::limits::{MAX_CLIENTS, MAX_THREADS};
use lockstep_model::{Layout, Property, World};

use super::graph::{Graph, Marks, Move};

/// A mark for each in the largest world.
const _: () = assert!(Property::LIVENESS.len() <= 5 && MAX_CLIENTS * MAX_THREADS <= 8, "five times eight marks");

/// The marks of this question, above those of liveness.
pub(super) struct ReachMarks;

impl ReachMarks {
    /// Above a mark for each liveness property and each thread.
    const COUNT_AT: u32 = 40;
    /// How many believe that they hold.
    pub(super) const COUNT: Marks = 0xF << Self::COUNT_AT;
    /// Somebody may still come to believe.
    const PURSUED: Marks = 1 << (Self::COUNT_AT + 4);
    /// It must be possible that somebody does.
    const WANTED: Marks = 1 << (Self::COUNT_AT + 5);
    /// An action is blocked because the model has no room for it: nobody knows what lies behind.
    pub(super) const BLOCKED: Marks = 1 << (Self::COUNT_AT + 6);
    /// All of them.
    pub(super) const ALL: Marks = Self::COUNT | Self::PURSUED | Self::WANTED | Self::BLOCKED;
    /// How many marks are left for others.
    pub(super) const OTHERS: usize = Self::COUNT_AT as usize;

    /// The marks of a state.
    pub(super) fn of<Y: Layout>(property: Property, world: &World<Y>) -> Marks {
        let believers = Marks::try_from(world.believers().count()).unwrap_or(Marks::MAX);
        let flag = |is_so: bool, mark: Marks| if is_so { mark } else { 0 };
        (believers << Self::COUNT_AT) & Self::COUNT
            | flag(property.is_pursued(world), Self::PURSUED)
            | flag(property.is_wanted(world), Self::WANTED)
    }

    /// Whether somebody believes after this step that did not before it, and has not only asked whether it holds (`is_question`). In
    /// one step at most one begins to, and then nobody else stops.
    const fn is_gain(before: Marks, after: Marks, is_question: bool) -> bool {
        !is_question && after & Self::COUNT > before & Self::COUNT
    }
}

/// A state from which nobody can get the lock any more without a fault.
pub(super) struct OutOfReach {
    /// The first one in the order of the search.
    pub(super) state: u32,
    /// The faults, by the numbers of their actions, after which somebody could.
    pub(super) helped_by: BTreeSet<u16>,
}

impl Graph {
    /// Searches for a state that wants it and from which no step without a fault is left, or ever comes, by which somebody
    /// gets the lock. `None`: there is none. `is_question`: whether who believes by that action has asked for no lock.
    pub(super) fn out_of_reach(
        &self,
        is_fault: impl Fn(u16) -> bool,
        is_question: impl Fn(u16) -> bool,
    ) -> Option<OutOfReach> {
        let gains = |from: u32, edge: Move| {
            ReachMarks::is_gain(self.marks(from), self.marks(edge.to), is_question(edge.action))
        };
        let states = 0..u32::try_from(self.states()).unwrap_or(u32::MAX);
        let mut can = vec![false; self.states()];
        // Most steps lead to a state with a higher number, so a few rounds from the last to the first are enough.
        let mut is_news = true;
        while is_news {
            is_news = false;
            for state in states.clone().rev().filter(|state| !can_of(&can, *state)).collect::<Vec<_>>() {
                let marks = self.marks(state);
                let leads_there = |edge: Move| !is_fault(edge.action) && (gains(state, edge) || can_of(&can, edge.to));
                if marks & ReachMarks::BLOCKED != 0 || self.moves(state).any(leads_there) {
                    can[state as usize] = true;
                    is_news = true;
                }
            }
        }
        let is_lost = |state: &u32| self.marks(*state) & ReachMarks::WANTED != 0 && !can_of(&can, *state);
        let state = states.clone().find(is_lost)?;
        Some(OutOfReach { state, helped_by: self.helped_by(state, &can, is_fault, gains) })
    }

    /// The faults that lead from here, sooner or later, to a state from which somebody can get the lock.
    fn helped_by(
        &self,
        from: u32,
        can: &[bool],
        is_fault: impl Fn(u16) -> bool,
        gains: impl Fn(u32, Move) -> bool,
    ) -> BTreeSet<u16> {
        let mut met = BTreeSet::from([from]);
        let mut open = VecDeque::from([from]);
        let mut helped_by = BTreeSet::new();
        while let Some(state) = open.pop_front() {
            for edge in self.moves(state) {
                if is_fault(edge.action) {
                    helped_by.extend(Some(edge.action).filter(|_| gains(state, edge) || can_of(can, edge.to)));
                } else if met.insert(edge.to) {
                    open.push_back(edge.to);
                }
            }
        }
        helped_by
    }
}

fn can_of(can: &[bool], state: u32) -> bool {
    can[state as usize]
}
