//! The model, as a space of states.

use std::sync::atomic::Ordering;
use std::time::Instant;

use lockstep_model::notes::Capacities;
use lockstep_model::{Action, Config, Layout, NormalForm, Prefilter, World, attempt, step};

use super::actions::{ActionSet, Fairness};
use super::graph::{Marks, Space};
use super::reach::ReachMarks;
use crate::check::fingerprint::Fingerprint as _;
use crate::check::limits::{Limits, Stopped};

/// Which of several masters are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToldApart {
    /// Each: a run of states is a run of the model.
    EachMaster,
    /// The first one, from all others: worlds that differ by the order of those are one state ([`orbits`](super::orbits)).
    FirstMaster,
}

/// The model, as a space of states.
pub(super) struct Worlds<'a, Y: Layout> {
    pub(super) config: &'a Config,
    /// What is left out of every world.
    pub(super) form: NormalForm,
    /// Which masters are told apart.
    pub(super) told_apart: ToldApart,
    pub(super) prefilter: &'a Prefilter<Y>,
    /// Computes the properties' marks on a state.
    pub(super) marks: &'a (dyn Fn(&World<Y>) -> Marks + Sync),
    pub(super) limits: &'a Limits<'a>,
    pub(super) started: Instant,
    /// Whether an action is blocked in some state because the model has no room for it. What a run that stays in such a
    /// state owes is then not known: it could leave by the blocked action.
    pub(super) is_touched: bool,
}

impl<Y: Layout> Worlds<'_, Y> {
    fn normal(&self, mut world: World<Y>) -> World<Y> {
        if self.form.is_there() {
            self.form.apply(self.config, &mut world);
        }
        match self.told_apart {
            ToldApart::EachMaster => world,
            ToldApart::FirstMaster => world.with_masters_in_order(self.config, 1),
        }
    }

    fn has_blocked_action(&self, world: &World<Y>) -> bool {
        let is_blocked = |action: &Action| attempt(self.config, world, *action).is_err_and(Capacities::any);
        self.prefilter.actions().iter().any(is_blocked)
    }
}

impl<Y: Layout> Space for Worlds<'_, Y> {
    type State = World<Y>;

    fn initial(&self) -> Self::State {
        self.normal(World::initial(self.config))
    }

    fn identity(&self, world: &Self::State) -> u64 {
        u64::of(world)
    }

    fn marks(&self, world: &Self::State) -> Marks {
        let marks = (self.marks)(world);
        let is_blocked = marks != 0 && self.is_touched && self.has_blocked_action(world);
        if is_blocked { marks & ReachMarks::ALL | ReachMarks::BLOCKED } else { marks }
    }

    fn orbit(&self, world: &Self::State) -> Option<u64> {
        (self.told_apart == ToldApart::FirstMaster).then(|| u64::of(&world.with_masters_in_order(self.config, 0)))
    }

    fn keeps_edges(&self, marks: Marks) -> bool {
        marks & !ReachMarks::COUNT != 0
    }

    fn each_successor(&self, world: &Self::State, mut found: impl FnMut(u16, Self::State)) {
        self.prefilter.each_possible(world, |number, action| {
            if let Some(next) = step(self.config, world, action) {
                found(number, self.normal(next.world));
            }
        });
    }

    fn nth_successor(&self, world: &Self::State, action: u16, _: usize) -> Self::State {
        // An action leads to exactly one world.
        let next = step(self.config, world, self.prefilter.actions()[usize::from(action)]);
        next.map_or(*world, |next| self.normal(next.world))
    }

    fn fairness(&self) -> Fairness {
        let fair = || (0..).zip(self.prefilter.actions()).filter(|(_, action)| action.kind().is_fair(self.config));
        let time: ActionSet = fair().filter(|(_, action)| **action == Action::Tick).map(|(number, _)| number).collect();
        let all: ActionSet = fair().map(|(number, _)| number).collect();
        let strong =
            (0..).zip(self.prefilter.actions()).filter(|(_, action)| action.kind().is_strongly_fair(self.config));
        Fairness { weak: all.without(time), time, strong: strong.map(|(number, _)| number).collect() }
    }

    fn stops(&self, states: usize, bytes: usize, growth: usize) -> Option<Stopped> {
        self.limits.progress.store(states as u64, Ordering::Relaxed);
        let stopped = self.limits.exceeded(states as u64, bytes as u64, self.started);
        stopped.or_else(|| self.limits.lacks_memory(growth as u64))
    }

    fn room(&self) -> u64 {
        self.limits.room()
    }
}
