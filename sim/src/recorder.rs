//! A trace is made by running its actions, and believed only after its actions have been run again.

use lockstep_model::trace::{About, Claims, FairAction, InLoop, SCHEMA, State, Trace, TraceStep, lane};
use lockstep_model::{Action, Config};

use crate::any_world::AnyWorld;

/// Why actions, or a file, are not a trace of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceError {
    /// That step cannot happen where it stands.
    NotEnabled {
        /// 1 for the first.
        step: usize,
        /// What should have happened.
        action: Action,
    },
    /// The file and the model differ in that step. 0: in the first state.
    Differs {
        /// 1 for the first.
        step: usize,
    },
    /// What the file says of the whole run is not what the model says: who believed and who was stored, or why its loop is
    /// fair.
    ClaimDiffers {
        /// The JSON pointer of the claim: `/claims/believed/0`.
        place: String,
    },
    /// The loop does not end in the state in which it starts.
    DoesNotClose,
    /// The loop is not fair: it never takes this action, which is possible in each of its states (or in one of them, if
    /// the action is strongly fair).
    Unfair {
        /// What should have happened.
        action: Action,
    },
}

/// Runs the actions from the first state and records what happens.
///
/// # Errors
/// [`TraceError::NotEnabled`] at the first action that cannot happen where it stands.
pub fn record(
    scenario: &str,
    story: &str,
    config: &Config,
    about: About,
    actions: &[Action],
    reproduce: &str,
) -> Result<Trace, TraceError> {
    recorded(scenario, story, config, about, actions, None, reproduce)
}

/// Records a lasso: the actions of the stem and of one turn of the loop, which starts after so many of them.
///
/// # Errors
/// As [`record`], and if the loop does not close or is not fair.
pub fn record_lasso(
    scenario: &str,
    story: &str,
    config: &Config,
    about: About,
    (actions, loop_start): (&[Action], usize),
    reproduce: &str,
) -> Result<Trace, TraceError> {
    recorded(scenario, story, config, about, actions, Some(loop_start), reproduce)
}

fn recorded(
    scenario: &str,
    story: &str,
    config: &Config,
    about: About,
    actions: &[Action],
    loop_start: Option<usize>,
    reproduce: &str,
) -> Result<Trace, TraceError> {
    let Recorded { initial, steps, fairness } = run(config, actions, loop_start)?;
    let claims = Claims::of(&steps);
    Ok(Trace {
        schema: SCHEMA,
        scenario: scenario.to_owned(),
        story: story.to_owned(),
        config: *config,
        about,
        initial,
        steps,
        claims,
        loop_start,
        fairness,
        reproduce: reproduce.to_owned(),
    })
}

/// Runs the actions again and compares every reply and state with those of the trace.
///
/// # Errors
/// The first step that differs, or cannot happen; then the first claim that differs.
pub fn retrace(trace: &Trace) -> Result<(), TraceError> {
    let actions = trace.actions();
    let Recorded { initial, steps, fairness } = run(&trace.config, &actions, trace.loop_start)?;
    if initial != trace.initial {
        return Err(TraceError::Differs { step: 0 });
    }
    if let Some(index) = first_difference(&steps, &trace.steps) {
        return Err(TraceError::Differs { step: index + 1 });
    }
    let Claims { believed, stored } = Claims::of(&steps);
    same_claims("/claims/believed", &believed, &trace.claims.believed)?;
    same_claims("/claims/stored", &stored, &trace.claims.stored)?;
    match (&fairness, &trace.fairness) {
        (Some(mine), Some(theirs)) => same_claims("/fairness", mine, theirs),
        (None, None) => Ok(()),
        _ => Err(TraceError::ClaimDiffers { place: "/fairness".to_owned() }),
    }
}

/// The first place at which two lists differ. It may lie beyond the end of one of them.
fn first_difference<T: PartialEq>(mine: &[T], theirs: &[T]) -> Option<usize> {
    let differs = mine.iter().zip(theirs).position(|(mine, theirs)| mine != theirs);
    differs.or_else(|| (mine.len() != theirs.len()).then(|| mine.len().min(theirs.len())))
}

fn same_claims<T: PartialEq>(list: &str, mine: &[T], theirs: &[T]) -> Result<(), TraceError> {
    let differs = |index| Err(TraceError::ClaimDiffers { place: format!("{list}/{index}") });
    first_difference(mine, theirs).map_or(Ok(()), differs)
}

struct Recorded {
    initial: State,
    steps: Vec<TraceStep>,
    fairness: Option<Vec<FairAction>>,
}

fn run(config: &Config, actions: &[Action], loop_start: Option<usize>) -> Result<Recorded, TraceError> {
    let mut world = AnyWorld::initial(config);
    let initial = world.state(config);
    let mut worlds = vec![world.clone()];
    let mut at_tick = 0;
    let mut steps = Vec::with_capacity(actions.len());
    for (index, &action) in actions.iter().enumerate() {
        let number = index + 1;
        let next = world.step(config, action).ok_or(TraceError::NotEnabled { step: number, action })?;
        world = next.world;
        worlds.push(world.clone());
        steps.push(TraceStep {
            number,
            at_tick,
            lane: lane(config, action.party()),
            action,
            answer: next.reply,
            happenings: next.happenings.iter().collect(),
            state: world.state(config),
        });
        at_tick += u32::from(action == Action::Tick);
    }
    let fairness = loop_start.map(|start| fairness(config, &worlds, actions, start)).transpose()?;
    Ok(Recorded { initial, steps, fairness })
}

/// What becomes of every fair action in the loop, which starts after so many steps and ends with the last one.
fn fairness(
    config: &Config,
    worlds: &[AnyWorld],
    actions: &[Action],
    start: usize,
) -> Result<Vec<FairAction>, TraceError> {
    // The counter of fencing tokens may have grown meanwhile, where that can make no difference.
    let alike = |world: &AnyWorld| world.up_to_token_numbers(config);
    if worlds.get(start).map(alike) != worlds.last().map(alike) {
        return Err(TraceError::DoesNotClose);
    }
    let fair = Action::all(config).into_iter().filter(|action| action.kind().is_fair(config));
    fair.map(|action| {
        let taken = (start..actions.len()).find(|&at| actions[at] == action).map(|at| InLoop::TakenAt(at + 1));
        // That time cannot pass in some state is no excuse for a loop in which it never passes, unless nothing happens
        // at all.
        let may_be_disabled = action != Action::Tick || start == actions.len();
        let is_disabled = |&after: &usize| may_be_disabled && worlds[after].step(config, action).is_none();
        let disabled = || -> Option<InLoop> {
            if action.kind().is_strongly_fair(config) {
                return (start..worlds.len()).all(|after| is_disabled(&after)).then_some(InLoop::NeverPossible);
            }
            (start..worlds.len()).find(is_disabled).map(InLoop::DisabledAfter)
        };
        let in_loop = taken.or_else(disabled).ok_or(TraceError::Unfair { action })?;
        Ok(FairAction { lane: lane(config, action.party()), action, in_loop })
    })
    .collect()
}
