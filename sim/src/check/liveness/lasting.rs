//! How long a condition can last: the longest run of ticks through states in which it holds.
//!
//! Only a violated property of states can last. A property that a step breaks is broken at that moment only.

use std::time::Instant;

use lockstep_model::Holder;
use lockstep_model::{Action, Config, InLayout, Layout, NormalForm, Prefilter, Property, World, in_largest_layout};

use super::components::Components;
use super::graph::{Graph, Marks};
use super::worlds::{ToldApart, Worlds};
use crate::check::limits::{Limits, Stopped};

/// How long a condition lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lasting {
    /// It ends after this many ticks at the latest; 0: before time moves.
    Ticks(u32),
    /// It may last for ever.
    ForEver,
}

/// The longest time that the property can stay broken. `None`: it is never broken, or is not a property of states.
///
/// # Errors
/// The reason why not every state was visited.
pub fn lasting(config: &Config, property: Property, limits: &Limits<'_>) -> Result<Option<Lasting>, Stopped> {
    if !is_of_states(property) {
        return Ok(None);
    }
    in_largest_layout(config, Measuring { of: What::Broken(property), limits })
}

/// The longest time that a thread of a running client can be in `lock()` without being served. `None`: no thread ever
/// waits.
///
/// # Errors
/// The reason why not every state was visited.
pub fn longest_wait(config: &Config, limits: &Limits<'_>) -> Result<Option<Lasting>, Stopped> {
    // All clients start alike and are treated alike, so what can happen to one can happen to any of them.
    in_largest_layout(config, Measuring { of: What::Waits(Holder::new(0, 0)), limits })
}

/// Whether it is a property of states: one state can break it, and the next one need not.
const fn is_of_states(property: Property) -> bool {
    matches!(
        property,
        Property::OneBeliever | Property::OneServerHolder | Property::CountsAgree | Property::NoSleepingWaiter
    )
}

impl Graph {
    /// The most edges of some kind on one path through the selected states; `None`: no state is selected.
    pub fn most(&self, is_in: impl Fn(u32) -> bool, is_counted: impl Fn(u16) -> bool) -> Option<Lasting> {
        // By component. They are completed in an order in which every component comes after those that it leads to.
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

/// The condition whose duration is measured.
#[derive(Clone, Copy)]
enum What {
    Broken(Property),
    Waits(Holder),
}

struct Measuring<'a> {
    of: What,
    limits: &'a Limits<'a>,
}

impl InLayout for Measuring<'_> {
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
        let (form, started) = (NormalForm::of(config), Instant::now());
        let told_apart = ToldApart::EachMaster;
        let space = Worlds {
            config,
            form,
            told_apart,
            prefilter: &prefilter,
            marks: &marks,
            limits,
            started,
            is_touched: false,
        };
        limits.begin();
        let graph = Graph::of(&space, 1)?;
        if let Some(stopped) = limits.lacks_memory(graph.bytes_of_a_search()) {
            return Err(stopped);
        }
        let tick = prefilter.actions().iter().position(|action| *action == Action::Tick);
        let is_tick = |action: u16| Some(usize::from(action)) == tick;
        Ok(graph.most(|state| graph.marks(state) != 0, is_tick))
    }
}
