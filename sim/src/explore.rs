//! A scenario in stateright's Explorer: the model that the second opinion searches, with texts and pictures for people.
//!
//! The Explorer shows a state by its `Debug` text, an action by [`Model::format_action`], a step by
//! [`Model::format_step`] and a path by [`Model::as_svg`]. Where one is in it is a list of indices, so that the place of
//! a counterexample can be said in advance ([`place`]).

use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lockstep_model::trace::{About, State, Trace, TraceStep, lane};
use lockstep_model::{Action, Config, Happenings, InLayout, Layout, Property, Verdict, World, in_largest_layout, step};
use stateright::{Checker as _, Model, Path};

use crate::check::adapter::{Adapter, Asked, GO_ON, Looks, Watch, as_stateright};
use crate::render::{beats, state, svg, words};
use crate::scenario::Scenario;

/// Steps of the longest path that is drawn: every choice of the page brings the picture of the whole path with it.
const MOST_DRAWN: usize = 100;

/// Serves the scenario there, until the process ends.
///
/// # Panics
/// When the address cannot be had: that is how stateright says so.
pub fn serve(scenario: &Scenario, address: SocketAddr) {
    in_largest_layout(&scenario.config, Serving { scenario, address });
}

/// Where in the Explorer a history from the first state ends: what comes after the address. `None`: it cannot happen.
pub fn place(config: &Config, actions: &[Action]) -> Option<String> {
    let indices = in_largest_layout(config, Placing { actions })?;
    // The first index chooses the first state.
    Some(indices.iter().fold("/#/steps/0".to_owned(), |place, index| format!("{place}/{index}")))
}

struct Serving<'a> {
    scenario: &'a Scenario,
    address: SocketAddr,
}

impl InLayout for Serving<'_> {
    type Output = ();

    fn run<Y: Layout>(self, _: &Config) {
        let checker = Explored::<Y>::new(self.scenario).checker().serve(self.address);
        // It never comes back; if it did, the search would go on for nobody.
        let _ = checker.is_done();
    }
}

struct Placing<'a> {
    actions: &'a [Action],
}

impl InLayout for Placing<'_> {
    type Output = Option<Vec<usize>>;

    fn run<Y: Layout>(self, config: &Config) -> Self::Output {
        let model = adapter::<Y>(config);
        let mut world = World::initial(config);
        let mut indices = Vec::with_capacity(self.actions.len());
        for &action in self.actions {
            let mut possible = Vec::new();
            model.actions(&world, &mut possible);
            indices.push(possible.iter().position(|&other| other == action)?);
            world = model.next_state(&world, action)?;
        }
        Some(indices)
    }
}

fn adapter<Y: Layout>(config: &Config) -> Adapter<Y> {
    Adapter::new(config, Asked::All, Arc::new(Watch::new(config)))
}

/// The model, readable.
struct Explored<Y: Layout> {
    adapter: Adapter<Y>,
    scenario: Arc<Scenario>,
    /// Those that apply, with their titles.
    properties: Vec<(Property, &'static str)>,
    /// Of each property, whether stateright has seen it broken.
    is_told: [AtomicBool; Property::ALL.len()],
}

/// A world that can be read.
#[derive(Clone)]
struct Moment<Y: Layout> {
    world: World<Y>,
    scenario: Arc<Scenario>,
}

/// An action that can be read.
#[derive(Clone, PartialEq)]
struct Choice {
    action: Action,
    says: String,
}

impl<Y: Layout> fmt::Debug for Moment<Y> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&state::page(&self.scenario.config, &self.world))
    }
}

// A moment is its world; the scenario is the same for all.
impl<Y: Layout> PartialEq for Moment<Y> {
    fn eq(&self, other: &Self) -> bool {
        self.world == other.world
    }
}

impl<Y: Layout> Hash for Moment<Y> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.world.hash(hasher);
    }
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.says)
    }
}

impl<Y: Layout> Explored<Y> {
    fn new(scenario: &Scenario) -> Self {
        let titled = |property: Property| {
            let declared = match scenario.expect.get(&property) {
                Some(verdict) => format!(" (declared {verdict})"),
                None => String::new(),
            };
            // stateright wants names that live for ever, and a process serves one scenario.
            let title: &'static str = format!("{property}: {}{declared}", property.sentence()).leak();
            (property, title)
        };
        let applying = Property::SAFETY.into_iter().filter(|property| property.applies(&scenario.config).is_ok());
        Self {
            adapter: adapter(&scenario.config),
            scenario: Arc::new(scenario.clone()),
            properties: applying.map(titled).collect(),
            is_told: Default::default(),
        }
    }

    fn moment(&self, world: World<Y>) -> Moment<Y> {
        Moment { world, scenario: Arc::clone(&self.scenario) }
    }

    fn broken<'a>(&'a self, world: &'a World<Y>) -> impl Iterator<Item = Property> + 'a {
        self.properties.iter().map(|(property, _)| *property).filter(|property| !property.holds(world))
    }

    /// Why each property that is broken in the last state of this trace is broken.
    fn why(&self, trace: &mut Trace, last: &World<Y>) -> Vec<String> {
        let why = |property| {
            trace.about = broken(property);
            Some(format!("{property}: {}", words::why(trace)?))
        };
        self.broken(last).filter_map(why).collect()
    }
}

impl<Y: Layout> Model for Explored<Y> {
    type State = Moment<Y>;
    type Action = Choice;

    fn init_states(&self) -> Vec<Self::State> {
        self.adapter.init_states().into_iter().map(|world| self.moment(world)).collect()
    }

    fn actions(&self, moment: &Self::State, choices: &mut Vec<Self::Action>) {
        let mut possible = Vec::new();
        self.adapter.actions(&moment.world, &mut possible);
        let config = &self.scenario.config;
        choices.extend(possible.into_iter().map(|action| Choice { action, says: words::deed(config, action) }));
    }

    fn next_state(&self, moment: &Self::State, choice: Self::Action) -> Option<Self::State> {
        self.adapter.next_state(&moment.world, choice.action).map(|world| self.moment(world))
    }

    fn format_action(&self, choice: &Self::Action) -> String {
        choice.says.clone()
    }

    /// What the step brings, and below it the state that it leads to.
    fn format_step(&self, before: &Self::State, choice: Self::Action) -> Option<String> {
        let (config, action) = (&self.scenario.config, choice.action);
        let next = step(config, &before.world, action)?;
        let mut trace = Trace::record("", "", config, About::Drawn, &[], "").ok()?;
        trace.initial = State::of(config, &before.world);
        trace.steps = vec![TraceStep {
            number: 1,
            at_tick: 0,
            lane: lane(config, action.party()),
            action,
            answer: next.reply,
            happenings: Happenings::iter(next.happenings).collect(),
            state: State::of(config, &next.world),
        }];
        let mut told = beats::last_told(&trace);
        told.extend(self.why(&mut trace, &next.world).into_iter().map(|why| format!("{}: {why}", state::BROKEN)));
        Some(format!("{}\n\n{}", told.join("\n"), state::parties(config, &next.world)))
    }

    fn as_svg(&self, path: Path<Self::State, Self::Action>) -> Option<String> {
        let last = path.last_state().world;
        let actions: Vec<_> = path.into_actions().into_iter().map(|choice| choice.action).collect();
        if actions.len() > MOST_DRAWN {
            return Some(svg::note(&format!("The path has {} steps: one is drawn up to {MOST_DRAWN}.", actions.len())));
        }
        let Scenario { name, story, config, .. } = &*self.scenario;
        let mut trace = Trace::record(name, story, config, About::Drawn, &actions, "").ok()?;
        let broken = self.why(&mut trace, &last);
        let caption = format!("the path so far, {}", words::count(actions.len(), "step"));
        Some(svg::picture(&trace, &svg::Options { caption, broken }))
    }

    fn properties(&self) -> Vec<stateright::Property<Self>> {
        let ours = self.properties.iter().map(|(property, title)| as_stateright(*property, title));
        ours.chain([stateright::Property::always(GO_ON, |_, _| true)]).collect()
    }
}

impl<Y: Layout> Looks for Explored<Y> {
    /// True again once it was seen broken: with several properties pending each later hit would overwrite the path to
    /// the first (fact 3 of facts/stateright.md), and the first is the shorter.
    fn holds(&self, property: Property, moment: &Self::State) -> bool {
        property.holds(&moment.world) || self.is_told[property as usize].swap(true, Ordering::Relaxed)
    }
}

fn broken(property: Property) -> About {
    About::Counterexample { property, verdict: Verdict::Violated, engine: "stateright".to_owned(), shortest: false }
}
