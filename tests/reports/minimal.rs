//! Why a trace is minimal: the result without each of its steps, and a count of all histories of the same length.

use lockstep_model::{Action, Config, Property};
use lockstep_sim::any_world::AnyWorld;
use lockstep_sim::recorder::TraceError;
use lockstep_sim::render::words;
use lockstep_sim::scenario::Scenario;

use crate::runs;
use lockstep_tests::page::listed;

/// The histories of one length.
pub struct Count {
    /// The number of histories.
    pub all: u64,
    /// The histories whose last state violates the property.
    pub breaking: Vec<Vec<Action>>,
}

/// Enumerates all histories with this many steps one by one, without a state set and without a search.
pub fn count(config: &Config, property: Property, steps: usize) -> Count {
    let counting = Counting { config, actions: Action::all(config), property, steps };
    let mut count = Count { all: 0, breaking: Vec::new() };
    counting.go_on(&AnyWorld::initial(config), &mut Vec::new(), &mut count);
    count
}

struct Counting<'a> {
    config: &'a Config,
    actions: Vec<Action>,
    property: Property,
    steps: usize,
}

impl Counting<'_> {
    fn go_on(&self, world: &AnyWorld, done: &mut Vec<Action>, count: &mut Count) {
        if done.len() == self.steps {
            count.all += 1;
            if !world.keeps(self.property) {
                count.breaking.push(done.clone());
            }
            return;
        }
        for &action in &self.actions {
            if let Some(next) = world.step(self.config, action) {
                done.push(action);
                self.go_on(&next.world, done, count);
                done.pop();
            }
        }
    }
}

/// The result when one step is left out of a trace that violates one-believer; `None` if it still violates it.
pub fn without(scenario: &Scenario, actions: &[Action], left_out: usize) -> Option<String> {
    let mut rest = actions.to_vec();
    rest.remove(left_out);
    match runs::history(scenario, &rest) {
        Err(TraceError::NotEnabled { step, .. }) => {
            let number = if step > left_out { step + 1 } else { step };
            let action = rest[step - 1];
            let (who, does) = (words::actor(&scenario.config, action), words::does(action));
            Some(format!("step {number} cannot happen: {who} {does}"))
        }
        Err(
            TraceError::Differs { .. }
            | TraceError::ClaimDiffers { .. }
            | TraceError::DoesNotClose
            | TraceError::Unfair { .. },
        ) => {
            unreachable!("nothing was claimed that could differ, and no loop")
        }
        Ok(trace) => {
            let last = trace.steps.last().expect("a step is left");
            let believers: Vec<_> = last.state.believers().map(|thread| thread.name.as_str()).collect();
            let reply = words::reply(&scenario.config, last.answer);
            let answered =
                if reply.is_empty() { String::new() } else { format!(", {} is answered “{reply}”", last.lane) };
            let alone = if believers.len() == 1 { "alone believes" } else { "believe" };
            (believers.len() < 2)
                .then(|| format!("all the others can happen{answered}; {} {alone}", listed(&believers)))
        }
    }
}

/// A history on one line: `A asks for the lock · n1 crashes`.
pub fn on_one_line(config: &Config, actions: &[Action]) -> String {
    let each = actions.iter().map(|&action| format!("{} {}", words::actor(config, action), words::does(action)));
    each.collect::<Vec<_>>().join(" · ")
}
