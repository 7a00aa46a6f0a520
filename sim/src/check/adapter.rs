//! The model in the form that stateright expects. The second opinion searches it; the Explorer shows it.
//!
//! No rule is implemented here. Every listed action is possible (an impossible one would spoil stateright's paths), and
//! the actions are listed in the fixed order of [`Action::all`], because those paths are indices into the list.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lockstep_model::{Action, Config, Layout, Prefilter, Property, World, attempt, step};
use stateright::Model;

use super::coverage::{Coverage, Kinds};

/// The name of a property that no scenario declares: it never fails, and so keeps stateright searching to the last
/// state.
pub(crate) const GO_ON: &str = "every state is looked at";

/// The model of one scenario.
pub(crate) struct Adapter<Y: Layout> {
    config: Config,
    prefilter: Prefilter<Y>,
    asked: AskedProperties,
    /// `None`: only stateright observes the search, so it needs no locking.
    watch: Option<Arc<Watch>>,
}

/// Which properties a run checks.
#[derive(Clone, Copy)]
pub(crate) enum AskedProperties {
    All,
    One(Property),
}

/// What stateright does not report.
pub(crate) struct Watch {
    coverage: Mutex<Coverage>,
    /// Set from outside to stop the search: no more successors are generated.
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
    pub(crate) fn new(config: &Config, asked: AskedProperties, watch: Arc<Watch>) -> Self {
        Self { watch: Some(watch), ..Self::unwatched(config, asked) }
    }

    /// As fast as possible: for benchmarks.
    pub(crate) fn unwatched(config: &Config, asked: AskedProperties) -> Self {
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
        // A second opinion does not use the native engine's prefilter, because the prefilter itself might be wrong.
        if let Some(watch) = &self.watch {
            let mut kinds = Kinds::default();
            let mut coverage = watch.coverage();
            for &action in self.prefilter.actions() {
                let attempted = attempt(&self.config, world, action);
                coverage.note_touched(action.kind(), attempted.map_or_else(|touched| touched, |step| step.touched));
                if attempted.is_ok() {
                    actions.push(action);
                    kinds.insert(action.kind());
                }
            }
            coverage.note_enabled(kinds);
        } else {
            let is_possible = |action: Action| step(&self.config, world, action).is_some();
            self.prefilter
                .each_possible(world, |_, action| actions.extend(Some(action).filter(|_| is_possible(action))));
        }
    }

    fn next_state(&self, world: &Self::State, action: Self::Action) -> Option<Self::State> {
        let next = step(&self.config, world, action)?;
        if let Some(watch) = &self.watch {
            let mut coverage = watch.coverage();
            coverage.note(action.kind(), next.reply, next.happenings);
            coverage.note_left(next.world.faults.all());
        }
        Some(next.world.up_to_token_numbers(&self.config))
    }

    fn properties(&self) -> Vec<stateright::Property<Self>> {
        match self.asked {
            AskedProperties::All => Property::SAFETY
                .into_iter()
                .filter(|property| property.applies(&self.config).is_ok())
                .map(|property| as_stateright(property, property.id()))
                .chain([stateright::Property::always(GO_ON, |_, _| true)])
                .collect(),
            AskedProperties::One(property) => vec![as_stateright(property, property.id())],
        }
    }
}

/// A stateright model that can evaluate our properties.
pub(crate) trait Looks: Model {
    /// Whether the property holds in that state.
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
        Property::GrantAcknowledged => |model, state| model.holds(Property::GrantAcknowledged, state),
        Property::GrantSurvives => |model, state| model.holds(Property::GrantSurvives, state),
        Property::EffectsInOrder => |model, state| model.holds(Property::EffectsInOrder, state),
        Property::TokensIncrease => |model, state| model.holds(Property::TokensIncrease, state),
        Property::OnlyHolderReleases => |model, state| model.holds(Property::OnlyHolderReleases, state),
        Property::CountsAgree => |model, state| model.holds(Property::CountsAgree, state),
        Property::WaitLimitKept => |model, state| model.holds(Property::WaitLimitKept, state),
        Property::InterruptReported => |model, state| model.holds(Property::InterruptReported, state),
        Property::RefusalTrue => |model, state| model.holds(Property::RefusalTrue, state),
        Property::NoSleepingWaiter => |model, state| model.holds(Property::NoSleepingWaiter, state),
        Property::FirstComeFirstServed => |model, state| model.holds(Property::FirstComeFirstServed, state),
        Property::DeadHeadPassed => |model, state| model.holds(Property::DeadHeadPassed, state),
        Property::ReadersShare => |model, state| model.holds(Property::ReadersShare, state),
        Property::ValidAtGrant => |model, state| model.holds(Property::ValidAtGrant, state),
        Property::AllOrNone => |model, state| model.holds(Property::AllOrNone, state),
        Property::RenewedWhileHeld => |model, state| model.holds(Property::RenewedWhileHeld, state),
        Property::RenewalRateBounded => |model, state| model.holds(Property::RenewalRateBounded, state),
        // Evaluated for each state: stateright does not examine cycles (docs/facts/stateright.md#eventually,
        // #no-fairness).
        Property::WaiterServed => |model, state| model.holds(Property::WaiterServed, state),
        Property::FreedAfterCrash => |model, state| model.holds(Property::FreedAfterCrash, state),
        Property::NoOrphan => |model, state| model.holds(Property::NoOrphan, state),
        Property::NoDeadHead => |model, state| model.holds(Property::NoDeadHead, state),
        Property::WriterServed => |model, state| model.holds(Property::WriterServed, state),
        Property::Obtainable => |model, state| model.holds(Property::Obtainable, state),
        Property::ActionsReached => |model, state| model.holds(Property::ActionsReached, state),
    };
    stateright::Property::always(name, condition)
}
