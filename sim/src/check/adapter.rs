//! The model, as stateright wants it. The second opinion searches it; the Explorer shows it.
//!
//! Nothing of a rule is here. What is listed as an action is always possible (a refused one would spoil stateright's
//! paths), in the one order of [`Action::all`], because those paths are indices into the list.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lockstep_model::{Action, Config, Layout, Prefilter, Property, World, step};
use stateright::Model;

use super::coverage::{Coverage, Kinds};

/// The name of a property of no scenario: it never fails, and so keeps stateright going to the last state.
pub(crate) const GO_ON: &str = "every state is looked at";

/// The model of one scenario.
pub(crate) struct Adapter<Y: Layout> {
    config: Config,
    prefilter: Prefilter<Y>,
    asked: Asked,
    /// `None`: nobody looks but stateright itself, and it need not wait for anybody.
    watch: Option<Arc<Watch>>,
}

/// Which properties a run looks at.
#[derive(Clone, Copy)]
pub(crate) enum Asked {
    All,
    One(Property),
}

/// What stateright does not tell.
pub(crate) struct Watch {
    coverage: Mutex<Coverage>,
    /// Set from outside: no more successors.
    pub(crate) must_stop: AtomicBool,
}

impl Watch {
    pub(crate) fn new(config: &Config) -> Self {
        Self { coverage: Mutex::new(Coverage::none(config)), must_stop: AtomicBool::new(false) }
    }

    pub(crate) fn coverage(&self) -> MutexGuard<'_, Coverage> {
        self.coverage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Y: Layout> Adapter<Y> {
    pub(crate) fn new(config: &Config, asked: Asked, watch: Arc<Watch>) -> Self {
        Self { watch: Some(watch), ..Self::unwatched(config, asked) }
    }

    /// As fast as it can be: for who measures.
    pub(crate) fn unwatched(config: &Config, asked: Asked) -> Self {
        Self { config: *config, prefilter: Prefilter::new(config), asked, watch: None }
    }
}

impl<Y: Layout> Model for Adapter<Y> {
    type State = World<Y>;
    type Action = Action;

    fn init_states(&self) -> Vec<Self::State> {
        vec![World::initial(&self.config)]
    }

    fn actions(&self, world: &Self::State, actions: &mut Vec<Self::Action>) {
        if self.watch.as_ref().is_some_and(|watch| watch.must_stop.load(Ordering::Relaxed)) {
            return;
        }
        let is_possible = |action: Action| step(&self.config, world, action).is_some();
        // A second opinion does without the prefilter that the native engine begins with: it might be what is wrong.
        if let Some(watch) = &self.watch {
            actions.extend(self.prefilter.actions().iter().filter(|action| is_possible(**action)));
            let mut kinds = Kinds::default();
            for action in &*actions {
                kinds.insert(action.kind());
            }
            watch.coverage().note_enabled(kinds);
        } else {
            self.prefilter
                .each_possible(world, |_, action| actions.extend(Some(action).filter(|_| is_possible(action))));
        }
    }

    fn next_state(&self, world: &Self::State, action: Self::Action) -> Option<Self::State> {
        let next = step(&self.config, world, action)?;
        if let Some(watch) = &self.watch {
            let mut coverage = watch.coverage();
            coverage.note(action.kind(), next.reply, next.happenings);
            coverage.note_left(next.world.faults);
        }
        Some(next.world)
    }

    fn properties(&self) -> Vec<stateright::Property<Self>> {
        match self.asked {
            Asked::All => Property::SAFETY
                .into_iter()
                .filter(|property| property.applies(&self.config).is_ok())
                .map(|property| as_stateright(property, property.id()))
                .chain([stateright::Property::always(GO_ON, |_, _| true)])
                .collect(),
            Asked::One(property) => vec![as_stateright(property, property.id())],
        }
    }
}

/// A model of stateright's that can look at our properties.
pub(crate) trait Looks: Model {
    /// Whether it is so in that state.
    fn holds(&self, property: Property, state: &Self::State) -> bool;
}

impl<Y: Layout> Looks for Adapter<Y> {
    fn holds(&self, property: Property, world: &Self::State) -> bool {
        property.holds(world)
    }
}

/// stateright takes plain functions, so each property is written out.
pub(crate) fn as_stateright<M: Looks>(property: Property, name: &'static str) -> stateright::Property<M> {
    let condition: fn(&M, &M::State) -> bool = match property {
        Property::OneBeliever => |model, state| model.holds(Property::OneBeliever, state),
        Property::OneServerHolder => |model, state| model.holds(Property::OneServerHolder, state),
        Property::GrantSurvives => |model, state| model.holds(Property::GrantSurvives, state),
        Property::EffectsInOrder => |model, state| model.holds(Property::EffectsInOrder, state),
        Property::TokensIncrease => |model, state| model.holds(Property::TokensIncrease, state),
        Property::OnlyHolderReleases => |model, state| model.holds(Property::OnlyHolderReleases, state),
        Property::CountsAgree => |model, state| model.holds(Property::CountsAgree, state),
        Property::WaitLimitKept => |model, state| model.holds(Property::WaitLimitKept, state),
        Property::NoSleepingWaiter => |model, state| model.holds(Property::NoSleepingWaiter, state),
        Property::RenewedWhileHeld => |model, state| model.holds(Property::RenewedWhileHeld, state),
        // True of each state: stateright looks at no cycles (docs/facts/stateright.md#eventually, #no-fairness).
        Property::WaiterServed => |model, state| model.holds(Property::WaiterServed, state),
        Property::FreedAfterCrash => |model, state| model.holds(Property::FreedAfterCrash, state),
        Property::NoOrphan => |model, state| model.holds(Property::NoOrphan, state),
        Property::ActionsReached => |model, state| model.holds(Property::ActionsReached, state),
    };
    stateright::Property::always(name, condition)
}
