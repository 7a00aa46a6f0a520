//! A world of any layout, behind a pointer.
//!
//! An engine takes millions of steps, so it is compiled once for each layout. Code that takes a few steps, or looks at some thousands of
//! worlds, uses this type and is compiled once.

use core::any::Any;
use core::fmt;
use core::hash::{Hash, Hasher};

use lockstep_model::notes::{Breaches, Capacities};
use lockstep_model::trace::State;
use lockstep_model::world::LeftOut;
use lockstep_model::{
    Action, Config, Happenings, InLayout, Layout, NormalForm, Prefilter, Property, Reply, World, attempt,
    in_largest_layout,
};

/// A world of the largest layout of its kind and network. Two that have different layouts are never equal.
pub struct AnyWorld(Box<dyn Erased>);

/// What one action leads to.
#[derive(Clone, Debug)]
pub struct AnyStep {
    /// The world after it.
    pub world: AnyWorld,
    /// What the party that acted observes.
    pub reply: Reply,
    /// What else happened.
    pub happenings: Happenings,
}

/// What can be done to a world whose layout is not known.
trait Erased: Any + fmt::Debug + Send + Sync {
    fn attempt(&self, config: &Config, action: Action) -> Result<AnyStep, Capacities>;
    fn state(&self, config: &Config) -> State;
    fn keeps(&self, property: Property) -> bool;
    fn let_through(&self, config: &Config) -> Vec<Action>;
    fn normal(&self, config: &Config) -> (AnyWorld, LeftOut);
    fn canonical(&self, config: &Config) -> AnyWorld;
    fn up_to_token_numbers(&self, config: &Config) -> AnyWorld;
    fn forget_breaches(&mut self);
    fn copied(&self) -> Box<dyn Erased>;
    fn is_same(&self, other: &dyn Erased) -> bool;
    fn feed(&self, hasher: &mut dyn Hasher);
}

impl<Y: Layout> Erased for World<Y> {
    fn attempt(&self, config: &Config, action: Action) -> Result<AnyStep, Capacities> {
        let step = attempt(config, self, action)?;
        Ok(AnyStep { world: AnyWorld::of(step.world), reply: step.reply, happenings: step.happenings })
    }

    fn state(&self, config: &Config) -> State {
        State::of(config, self)
    }

    fn keeps(&self, property: Property) -> bool {
        property.holds(self)
    }

    fn let_through(&self, config: &Config) -> Vec<Action> {
        let mut shown = Vec::new();
        Prefilter::<Y>::new(config).each_possible(self, |_, action| shown.push(action));
        shown
    }

    fn normal(&self, config: &Config) -> (AnyWorld, LeftOut) {
        let mut world = *self;
        let left_out = NormalForm::of(config).apply(config, &mut world);
        (AnyWorld::of(world), left_out)
    }

    fn canonical(&self, config: &Config) -> AnyWorld {
        AnyWorld::of(self.canonical(config))
    }

    fn up_to_token_numbers(&self, config: &Config) -> AnyWorld {
        AnyWorld::of(self.up_to_token_numbers(config))
    }

    fn forget_breaches(&mut self) {
        self.breaches = Breaches::NONE;
    }

    fn copied(&self) -> Box<dyn Erased> {
        Box::new(*self)
    }

    fn is_same(&self, other: &dyn Erased) -> bool {
        (other as &dyn Any).downcast_ref() == Some(self)
    }

    fn feed(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}

impl AnyWorld {
    /// The first moment of a scenario.
    pub fn initial(config: &Config) -> Self {
        struct Initial;

        impl InLayout for Initial {
            type Output = AnyWorld;

            fn run<Y: Layout>(self, config: &Config) -> AnyWorld {
                AnyWorld::of(World::<Y>::initial(config))
            }
        }

        in_largest_layout(config, Initial)
    }

    fn of<Y: Layout>(world: World<Y>) -> Self {
        Self(Box::new(world))
    }

    /// The world in its own layout; `None`: it has another.
    pub fn in_its_layout<Y: Layout>(&self) -> Option<&World<Y>> {
        (&*self.0 as &dyn Any).downcast_ref()
    }

    /// The same, to change it.
    pub fn in_its_layout_mut<Y: Layout>(&mut self) -> Option<&mut World<Y>> {
        (&mut *self.0 as &mut dyn Any).downcast_mut()
    }

    /// The world after an action ([`attempt`]).
    ///
    /// # Errors
    /// Why there is none.
    pub fn attempt(&self, config: &Config, action: Action) -> Result<AnyStep, Capacities> {
        self.0.attempt(config, action)
    }

    /// The world after an action; `None`: it cannot happen.
    pub fn step(&self, config: &Config, action: Action) -> Option<AnyStep> {
        self.attempt(config, action).ok()
    }

    /// What can happen, of these actions and in their order.
    pub fn enabled(&self, config: &Config, actions: &[Action]) -> Vec<(Action, AnyStep)> {
        actions.iter().filter_map(|&action| Some((action, self.step(config, action)?))).collect()
    }

    /// What a trace says of it.
    pub fn state(&self, config: &Config) -> State {
        self.0.state(config)
    }

    /// Whether it keeps a property of single states.
    pub fn keeps(&self, property: Property) -> bool {
        self.0.keeps(property)
    }

    /// The actions that the engine attempts here, because nothing that is seen at a glance rules them out ([`Prefilter`]).
    pub fn let_through(&self, config: &Config) -> Vec<Action> {
        self.0.let_through(config)
    }

    /// The world without what no action depends on any more, and which actions were possible only in that ([`NormalForm`]).
    pub fn normal(&self, config: &Config) -> (Self, LeftOut) {
        self.0.normal(config)
    }

    /// The smallest of the worlds that differ by the order of what is alike ([`World::canonical`]).
    #[must_use]
    pub fn canonical(&self, config: &Config) -> Self {
        self.0.canonical(config)
    }

    /// The same without the numbers of tokens ([`World::up_to_token_numbers`]).
    #[must_use]
    pub fn up_to_token_numbers(&self, config: &Config) -> Self {
        self.0.up_to_token_numbers(config)
    }

    /// The same without what the step into it broke: that is of the step, and says nothing of the future.
    #[must_use]
    pub fn without_breaches(mut self) -> Self {
        self.0.forget_breaches();
        self
    }
}

impl Clone for AnyWorld {
    fn clone(&self) -> Self {
        Self(self.0.copied())
    }
}

impl fmt::Debug for AnyWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for AnyWorld {
    fn eq(&self, other: &Self) -> bool {
        self.0.is_same(&*other.0)
    }
}

impl Eq for AnyWorld {}

impl Hash for AnyWorld {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.feed(hasher);
    }
}
