//! A path from the first state, given as a list of choices: each is an index into the actions that are possible.

use lockstep_model::trace::{About, Trace};
use lockstep_model::{Action, Config, InLayout, Layout, Property, Verdict, World, in_largest_layout, step};
use serde_json::{Value, json};

use crate::any_world::AnyWorld;
use crate::recorder;
use crate::render::{rows, state, svg, words};
use crate::scenario::Scenario;

/// Steps of the longest path that is drawn: every choice brings the picture of the whole path with it.
const MOST_DRAWN: usize = 100;

/// Where a history from the first state ends: the part of the page's address after the host. `None`: it cannot happen.
pub fn address_of(config: &Config, actions: &[Action]) -> Option<String> {
    let all = Action::all(config);
    let mut world = AnyWorld::initial(config);
    let mut choices = Vec::with_capacity(actions.len());
    for &action in actions {
        let mut possible = world.enabled(config, &all);
        let choice = possible.iter().position(|(other, _)| *other == action)?;
        choices.push(choice.to_string());
        world = possible.swap_remove(choice).1.world;
    }
    Some(format!("/#/{}", choices.join("/")))
}

/// The end of a path, for the page: what the last step did, the state, a picture, and what may happen next. `None`:
/// one of the choices does not exist.
pub(super) fn arrive(scenario: &Scenario, choices: &[usize], known: &[Trace]) -> Option<Value> {
    let Scenario { name, story, config, .. } = scenario;
    let Arrived { actions, possible, state, broken } = in_largest_layout(config, Walking { choices })?;
    let mut trace = recorder::record(name, story, config, About::Drawn, &actions, "").ok()?;
    let mut reasons = Vec::new();
    for property in broken {
        trace.about = breaks(property);
        reasons.extend(words::why(&trace).map(|why| format!("{property}: {why}")));
    }
    let ends_here = known.iter().filter(|known| known.loop_start.is_some() && known.actions() == actions);
    for lasso in ends_here {
        let About::Counterexample { property, .. } = lasso.about else { continue };
        let says = [words::why(lasso), words::goes_on(lasso)].into_iter().flatten().collect::<Vec<_>>();
        reasons.push(format!("{property}: {}", says.join(" ")));
    }
    trace.about = About::Drawn;
    let picture = if actions.len() > MOST_DRAWN {
        svg::note(&format!("The path has {} steps; paths of up to {MOST_DRAWN} steps are drawn.", actions.len()))
    } else {
        let caption = format!("the path so far, {}", words::count(actions.len(), "step"));
        svg::picture(&trace, &svg::SvgOptions { caption, broken: reasons.clone(), is_story_claimed: false })
    };
    let deeds = |actions: &[Action]| actions.iter().map(|action| words::deed(config, *action)).collect::<Vec<_>>();
    Some(json!({
        "steps": deeds(&actions),
        "happened": rows::last_sentences(&trace),
        "broken": reasons,
        "state": state,
        "picture": picture,
        "choices": deeds(&possible),
    }))
}

fn breaks(property: Property) -> About {
    About::Counterexample { property, verdict: Verdict::Violated, engine: String::new(), shortest: false }
}

fn possible<Y: Layout>(config: &Config, world: &World<Y>) -> Vec<Action> {
    Action::all(config).into_iter().filter(|action| step(config, world, *action).is_some()).collect()
}

struct Walking<'a> {
    choices: &'a [usize],
}

/// The end of a path.
struct Arrived {
    actions: Vec<Action>,
    /// What may happen next, in the order in which it is chosen from.
    possible: Vec<Action>,
    /// The state in words.
    state: String,
    /// The safety properties that the state breaks.
    broken: Vec<Property>,
}

impl InLayout for Walking<'_> {
    type Output = Option<Arrived>;

    fn run<Y: Layout>(self, config: &Config) -> Self::Output {
        let mut world = World::<Y>::initial(config);
        let mut actions = Vec::with_capacity(self.choices.len());
        for &choice in self.choices {
            let action = *possible(config, &world).get(choice)?;
            actions.push(action);
            world = step(config, &world, action)?.world;
        }
        let applying = Property::SAFETY.into_iter().filter(|property| property.applies(config).is_ok());
        Some(Arrived {
            actions,
            possible: possible(config, &world),
            state: state::parties(config, &world),
            broken: applying.filter(|property| !property.holds(&world)).collect(),
        })
    }
}
