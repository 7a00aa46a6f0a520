//! How long something can last: the longest run of ticks through states in which it is so.
//!
//! Of what is broken only a property of states lasts. One that a step breaks is broken at that moment, and never undone.

use std::time::Instant;

use lockstep_model::Holder;
use lockstep_model::{Action, Config, InLayout, Layout, Prefilter, Property, World, in_largest_layout};

use super::components::Components;
use super::graph::{Graph, Marks};
use super::worlds::Worlds;
use crate::check::limits::{Limits, Stopped};

/// How long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lasting {
    /// It is over after so many ticks at the latest; 0: before time moves.
    Ticks(u32),
    /// It need never be over.
    ForEver,
}

/// The longest that the property can stay broken. `None`: it is never broken, or is none of states.
///
/// # Errors
/// Why it could not look at every state.
pub fn lasting(config: &Config, property: Property, limits: &Limits<'_>) -> Result<Option<Lasting>, Stopped> {
    if !is_of_states(property) {
        return Ok(None);
    }
    in_largest_layout(config, Looking { of: What::Broken(property), limits })
}

/// The longest that a thread of a running client can be in `lock()` without being served. `None`: nobody ever waits.
///
/// # Errors
/// Why it could not look at every state.
pub fn longest_wait(config: &Config, limits: &Limits<'_>) -> Result<Option<Lasting>, Stopped> {
    // All clients start alike and are treated alike, so what can happen to one can happen to each.
    in_largest_layout(config, Looking { of: What::Waits(Holder::new(0, 0)), limits })
}

/// Whether a state as such can break it, and the next one not.
const fn is_of_states(property: Property) -> bool {
    matches!(
        property,
        Property::OneBeliever | Property::OneServerHolder | Property::CountsAgree | Property::NoSleepingWaiter
    )
}

impl Graph {
    /// The most edges of some kind on one run through states that are in; `None`: no state is in.
    pub fn most(&self, is_in: impl Fn(u32) -> bool, is_counted: impl Fn(u16) -> bool) -> Option<Lasting> {
        // By component. They are complete in an order in which all that one leads to is before it.
        let mut most: Vec<Lasting> = vec![Lasting::Ticks(0)];
        Components::of(self, is_in, |components, number, members| {
            let mut of_this = Lasting::Ticks(0);
            for edge in members.iter().flat_map(|&state| self.moves(state)) {
                let to = components.component(edge.to);
                let counted = u32::from(is_counted(edge.action));
                let on_this_way = match (to == number, most.get(to as usize)) {
                    (true, _) if counted > 0 => Lasting::ForEver,
                    (false, Some(Lasting::ForEver)) => Lasting::ForEver,
                    (false, Some(Lasting::Ticks(further))) => Lasting::Ticks(counted + further),
                    (true | false, _) => Lasting::Ticks(0),
                };
                of_this = of_this.max(on_this_way);
            }
            most.push(of_this);
        });
        most.into_iter().skip(1).max()
    }
}

/// What may last.
#[derive(Clone, Copy)]
enum What {
    Broken(Property),
    Waits(Holder),
}

struct Looking<'a> {
    of: What,
    limits: &'a Limits<'a>,
}

impl InLayout for Looking<'_> {
    type Output = Result<Option<Lasting>, Stopped>;

    fn run<Y: Layout>(self, config: &Config) -> Self::Output {
        let prefilter = Prefilter::<Y>::new(config);
        let Self { of, limits } = self;
        let marks = |world: &World<Y>| {
            Marks::from(match of {
                What::Broken(property) => !property.holds(world),
                What::Waits(holder) => {
                    let thread = world.thread(holder);
                    world.client(holder.client()).is_running() && (thread.is_waiting() || thread.is_confirming())
                }
            })
        };
        let space = Worlds { config, prefilter: &prefilter, marks: &marks, limits, started: Instant::now() };
        let graph = Graph::of(&space, 1)?;
        let tick = prefilter.actions().iter().position(|action| *action == Action::Tick);
        let is_tick = |action: u16| Some(usize::from(action)) == tick;
        Ok(graph.most(|state| graph.marks(state) != 0, is_tick))
    }
}
