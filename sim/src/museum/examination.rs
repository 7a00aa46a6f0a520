//! The examination of an exhibit: by the model, on Redis, and on the real library.

use lockstep_model::trace::Trace;
use lockstep_model::{Property, Verdict};
use lockstep_redis::Scripts;

use super::exhibit::Exhibit;
use crate::check::{CheckError, Engine, How, Limits, check_as};
use crate::fuzz::{FuzzFailure, FuzzOptions, fuzz};
use crate::replay::redisson::RedissonProgram;
use crate::replay::{Difference, Played, Player, ReplayError, ServerProgram};
use crate::scenario::{Scenario, ScenarioError};

/// How many replays the JVM may take another order in, for each that it takes ours in: a caller whose interrupt
/// flag is set throws before its request is written in 3 of 100 replays, and more often on a machine that is busy.
const OTHER_ORDERS: u32 = 20;
/// How many replays in a row must take another order before the counterexample's is given up for another one. By far more than
/// one in three take it on a busy machine too.
const LEFT_EACH_TIME: usize = 3;
/// Random histories of a control, and the seed that draws them.
const CONTROL: FuzzOptions = FuzzOptions { cases: 5, seed: 1 };

/// What an exhibit is replayed on.
pub struct Servers<'a> {
    /// The server.
    pub server: &'a ServerProgram,
    /// The version of the library.
    pub library: &'a RedissonProgram,
    /// How often the counterexample is replayed on the library.
    pub times: u32,
}

/// What was found.
#[derive(Debug)]
pub struct Examination {
    /// What the model says of the world.
    pub in_model: InModel,
    /// The property's verdict with the repair.
    pub repaired: Verdict,
    /// The counterexample on Redis, in the order in which the library was followed: the server, the things compared, and the first
    /// difference. `None`: there is no counterexample.
    pub on_redis: Option<OnRedis>,
    /// The counterexample on the library.
    pub on_library: OnLibrary,
    /// The world beside it.
    pub control: ControlRun,
}

/// What the model says of the world, for clients of the profile of the version.
#[derive(Debug)]
pub enum InModel {
    /// The property breaks, in this shortest history.
    Violated(Box<Trace>),
    /// It does not.
    Not(Verdict),
    /// It does not contain what clients of that version do in this world, for this reason.
    NotModelled(String),
}

/// What the library does.
#[derive(Debug, PartialEq, Eq)]
pub enum OnLibrary {
    /// The same, to the last step, so many times.
    Reproduced {
        /// How often the history was replayed to its end.
        times: u32,
        /// How often it was not, because the JVM had taken another order.
        left: u32,
        /// Things compared in each.
        compared: usize,
        /// The step that was moved, where the library takes another order of the same steps.
        moved: Option<StepMoved>,
    },
    /// Something else, or it cannot be followed.
    Differs {
        /// What differs; `None`: it was not followed to the end.
        difference: Option<Box<Difference>>,
        /// Why it was not followed to the end.
        left: Option<&'static str>,
    },
    /// There is no history to replay: clients of that profile do not break the property.
    NothingToReplay,
    /// The harness cannot follow this version in this world, for this reason.
    NotFollowed(String),
}

/// A step of a counterexample that comes earlier or later in the history that was replayed, which ends in the same state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepMoved {
    /// Its number in the counterexample.
    pub from: usize,
    /// Its number in what was replayed; the steps between make room.
    pub to: usize,
}

/// What the world beside the exhibit does.
#[derive(Debug)]
pub struct ControlRun {
    /// The property's verdict.
    pub verdict: Verdict,
    /// Random histories that were replayed on the library, and those that it could follow to their end.
    pub histories: (u32, u32),
    /// Where the library differs.
    pub difference: Option<Box<Difference>>,
}

/// Why what a library does may not be the defect of an exhibit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Redis does something else than the model.
    RedisDiffers,
    /// The property breaks also with the repair.
    RepairBreaks,
    /// The property breaks also in the control.
    ControlBreaks,
    /// The library does something else than the model in the control.
    ControlDiffers,
    /// No history of the control was followed to its end.
    ControlNotFollowed,
}

/// What an examination comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExhibitOutcome {
    /// The library has the defect, and the model, Redis and the control say the same.
    Reproduced,
    /// The library does something else in that history.
    Absent,
    /// The model has no such history for clients of this version, so that the library was not asked.
    AbsentByModel,
    /// The library does the same, and may not have this defect.
    Doubtful(Doubt),
    /// The library could not be followed through the history.
    NotFollowed,
    /// A limit kept the model from a verdict.
    Inconclusive,
}

/// Why an exhibit could not be examined.
#[derive(Debug, thiserror::Error)]
pub enum ExamineError {
    /// Its file is wrong.
    #[error("{0}")]
    World(#[from] ScenarioError),
    /// The engine is wrong.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// A server or a JVM failed.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// In a random history.
    #[error("{0}")]
    Fuzz(#[from] FuzzFailure),
}

impl Examination {
    /// That of a version whose clients the model does not contain in this world, for this reason.
    fn of_no_world(reason: String) -> Self {
        let unknown = Verdict::Inconclusive;
        Self {
            in_model: InModel::NotModelled(reason.clone()),
            repaired: unknown,
            on_redis: None,
            on_library: OnLibrary::NotFollowed(reason),
            control: ControlRun { verdict: unknown, histories: (0, 0), difference: None },
        }
    }

    /// Whether the library has the defect, and the model, Redis and the control say the same.
    pub fn is_reproduced(&self) -> bool {
        self.outcome() == ExhibitOutcome::Reproduced
    }

    /// What it comes to.
    pub fn outcome(&self) -> ExhibitOutcome {
        match (&self.on_library, self.doubt()) {
            _ if matches!(self.in_model, InModel::NotModelled(_)) => ExhibitOutcome::NotFollowed,
            _ if self.is_inconclusive() => ExhibitOutcome::Inconclusive,
            (OnLibrary::Reproduced { .. }, None) => ExhibitOutcome::Reproduced,
            (OnLibrary::Reproduced { .. }, Some(doubt)) => ExhibitOutcome::Doubtful(doubt),
            (OnLibrary::NothingToReplay, _) => ExhibitOutcome::AbsentByModel,
            (OnLibrary::Differs { difference: Some(_), .. }, _) => ExhibitOutcome::Absent,
            (OnLibrary::Differs { difference: None, .. } | OnLibrary::NotFollowed(_), _) => ExhibitOutcome::NotFollowed,
        }
    }

    /// Whether a limit kept the model from saying something.
    pub fn is_inconclusive(&self) -> bool {
        let is_open = |verdict: Verdict| verdict == Verdict::Inconclusive;
        matches!(self.in_model, InModel::Not(verdict) if is_open(verdict))
            || is_open(self.repaired)
            || is_open(self.control.verdict)
    }

    /// Whether the library does something else, and not only in an order that cannot be followed.
    pub fn is_contradicted(&self) -> bool {
        matches!(self.in_model, InModel::Not(verdict) if verdict != Verdict::Inconclusive)
            || matches!(&self.on_library, OnLibrary::Differs { difference: Some(_), .. })
    }

    /// Why what the library does may not be this defect: it has to stay away with the repair, and in the control, and Redis has to do
    /// what the model says.
    pub fn doubt(&self) -> Option<Doubt> {
        let breaks = |verdict: Verdict| !matches!(verdict, Verdict::Holds | Verdict::HoldsWithinBounds);
        let ControlRun { verdict, histories: (_, followed), difference } = &self.control;
        let agrees_on_redis = self.on_redis.as_ref().is_some_and(|(_, _, difference)| difference.is_none());
        let doubts = [
            (!agrees_on_redis, Doubt::RedisDiffers),
            (breaks(self.repaired), Doubt::RepairBreaks),
            (breaks(*verdict), Doubt::ControlBreaks),
            (difference.is_some(), Doubt::ControlDiffers),
            (*followed == 0, Doubt::ControlNotFollowed),
        ];
        doubts.into_iter().find_map(|(is_there, doubt)| is_there.then_some(doubt))
    }
}

/// Examines an exhibit: checks its world, its repair and its control, and replays them.
///
/// # Errors
/// What keeps it from being examined. That the library behaves is a result.
pub fn examine(exhibit: &Exhibit, on: &Servers<'_>, limits: &Limits<'_>) -> Result<Examination, ExamineError> {
    let profile = on.library.profile();
    let world = match exhibit.world(profile) {
        Err(error) if error.is_not_modelled() => return Ok(Examination::of_no_world(error.first())),
        world => world?,
    };
    let library = on.library.clone().interrupted_by(exhibit.interruption);
    let in_model = match found(&world, exhibit.property, limits)? {
        (Verdict::Violated, Some(trace)) => InModel::Violated(Box::new(trace)),
        (verdict, _) => InModel::Not(verdict),
    };
    let (repaired, _) = found(&exhibit.changed(profile, &exhibit.repair)?, exhibit.property, limits)?;
    let (on_redis, on_library) = match &in_model {
        InModel::Violated(trace) => on_both(trace, on, &library, limits)?,
        InModel::Not(_) | InModel::NotModelled(_) => (None, OnLibrary::NothingToReplay),
    };
    let control = control(exhibit, &exhibit.changed(profile, &exhibit.control)?, on.server, library, limits)?;
    Ok(Examination { in_model, repaired, on_redis, on_library, control })
}

/// The verdict on a property, and its shortest counterexample.
fn found(world: &Scenario, property: Property, limits: &Limits<'_>) -> Result<(Verdict, Option<Trace>), ExamineError> {
    let how = How { only: Some(property), ..How::by(Engine::Native) };
    let outcome = check_as(world, how, limits)?;
    let found = outcome.properties.into_iter().find(|found| found.property == property);
    Ok(found.map_or((Verdict::Vacuous, None), |found| (found.verdict, found.trace)))
}

/// What a history does on a server: its name, the things compared, and the first difference.
pub type OnRedis = (String, usize, Option<Difference>);

/// The counterexample on Redis and on the library, in an order that the library follows.
fn on_both(
    trace: &Trace,
    on: &Servers<'_>,
    library: &RedissonProgram,
    limits: &Limits<'_>,
) -> Result<(Option<OnRedis>, OnLibrary), ReplayError> {
    let mut player = match Player::start(on.server, &trace.config, library.clone()) {
        Ok(player) => player,
        Err(ReplayError::NotForRedisson { reason, .. }) => {
            return Ok((Some(on_redis(trace, on.server)?), OnLibrary::NotFollowed(reason)));
        }
        Err(error) => return Err(error),
    };
    let reordered =
        in_an_order_that_is_followed(trace, |trace| player.replay(trace, false).map(|played| Followed::of(&played)))?;
    let (trace, moved) = reordered.as_ref().map_or((trace, None), |(other, moved)| (other, Some(*moved)));
    Ok((Some(on_redis(trace, on.server)?), on_library(trace, moved, &mut player, on.times, limits)?))
}

fn on_redis(trace: &Trace, server: &ServerProgram) -> Result<OnRedis, ReplayError> {
    let played = Player::start(server, &trace.config, Scripts::built_in())?.replay(trace, false)?;
    Ok((played.server, played.compared, played.difference))
}

fn on_library(
    trace: &Trace,
    moved: Option<StepMoved>,
    player: &mut Player,
    wanted: u32,
    limits: &Limits<'_>,
) -> Result<OnLibrary, ReplayError> {
    let (mut times, mut left, mut compared) = (0, 0, 0);
    while times < wanted {
        if limits.stop.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(ReplayError::Stopped);
        }
        let result = player.replay(trace, false)?;
        if result.difference.is_some() || (result.left.is_some() && left == wanted * OTHER_ORDERS) {
            let difference = result.difference.map(Box::new);
            return Ok(OnLibrary::Differs { difference, left: result.left });
        }
        if result.left.is_some() {
            left += 1;
            continue;
        }
        times += 1;
        compared = result.compared;
        limits.progress.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
    Ok(OnLibrary::Reproduced { times, left, compared, moved })
}

/// How far a replay went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Followed {
    /// To its end, or to a difference: in either case in this order.
    InThisOrder,
    /// The library took another order after so many steps.
    Until(usize),
}

impl Followed {
    fn of(result: &Played) -> Self {
        if result.left.is_some() && result.difference.is_none() { Self::Until(result.steps) } else { Self::InThisOrder }
    }
}

/// The library may do what happens at one instant in another order than the counterexample. Where it is never followed to its end,
/// the step at which that ended is made earlier or later, as little as possible: an equally short history with the same end. `None`:
/// the library follows the counterexample, or no such history.
fn in_an_order_that_is_followed(
    trace: &Trace,
    mut follow: impl FnMut(&Trace) -> Result<Followed, ReplayError>,
) -> Result<Option<(Trace, StepMoved)>, ReplayError> {
    let mut ended_at = 0;
    for _ in 0..LEFT_EACH_TIME {
        match follow(trace)? {
            Followed::InThisOrder => return Ok(None),
            // The furthest: an order that depends on the machine may end it earlier.
            Followed::Until(steps) => ended_at = ended_at.max(steps),
        }
    }
    for (other, moved) in with_one_moved(trace, ended_at) {
        if follow(&other)? == Followed::InThisOrder {
            return Ok(Some((other, moved)));
        }
    }
    Ok(None)
}

/// The histories in which the step after the first so many comes earlier or later, as long as the model ends in the same state; the
/// smallest change first.
fn with_one_moved(trace: &Trace, ended_at: usize) -> impl Iterator<Item = (Trace, StepMoved)> {
    let actions = trace.actions();
    let last = actions.len().saturating_sub(1);
    let from = ended_at.min(last);
    // A cycle has no end that could be the same.
    let has_end = trace.loop_start.is_none();
    let places = (1..=last).flat_map(move |by| [from.checked_sub(by), Some(from + by).filter(|to| *to <= last)]);
    places.flatten().filter(move |_| has_end).filter_map(move |to| {
        let mut moved = actions.clone();
        if to < from {
            moved[to..=from].rotate_right(1);
        } else {
            moved[from..=to].rotate_left(1);
        }
        let about = trace.about.clone();
        let other = Trace::record(&trace.scenario, &trace.story, &trace.config, about, &moved, "").ok()?;
        let is_same = other.state_after(moved.len()) == trace.state_after(actions.len());
        is_same.then_some((other, StepMoved { from: from + 1, to: to + 1 }))
    })
}

/// Random histories of the control on the library: it does what the model says, and there the property holds.
fn control(
    exhibit: &Exhibit,
    world: &Scenario,
    server: &ServerProgram,
    library: RedissonProgram,
    limits: &Limits<'_>,
) -> Result<ControlRun, ExamineError> {
    let (verdict, _) = found(world, exhibit.property, limits)?;
    let fuzzed = match fuzz(world, server, library, CONTROL, limits) {
        Ok(fuzzed) => fuzzed,
        Err(FuzzFailure::AtStart(ReplayError::NotForRedisson { .. })) => {
            return Ok(ControlRun { verdict, histories: (0, 0), difference: None });
        }
        Err(error) => return Err(error.into()),
    };
    let difference = fuzzed.counterexample.map(|(_, difference)| Box::new(difference));
    Ok(ControlRun { verdict, histories: (fuzzed.cases, fuzzed.cases - fuzzed.left), difference })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU64};

    use lockstep_model::config::Profile;

    use super::*;

    #[test]
    fn a_limit_that_kept_the_model_from_a_verdict_contradicts_nobody() {
        let found = |verdict: Verdict| {
            let control = ControlRun { verdict: Verdict::Holds, histories: (5, 5), difference: None };
            let (in_model, on_library) = (InModel::Not(verdict), OnLibrary::NothingToReplay);
            Examination { in_model, repaired: Verdict::Holds, on_redis: None, on_library, control }
        };
        for (verdict, is_inconclusive) in [(Verdict::Inconclusive, true), (Verdict::Holds, false)] {
            let found = found(verdict);
            assert_eq!((found.is_inconclusive(), found.is_contradicted()), (is_inconclusive, !is_inconclusive));
            assert!(!found.is_reproduced());
        }
    }

    /// The counterexample of I5: a second interrupt is one step, and the message that wakes the waiter another.
    fn counterexample() -> Trace {
        let exhibit = Exhibit::named("I5").expect("it is an exhibit");
        let world = exhibit.world(Profile::Redisson47).expect("it is a scenario");
        let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
        let (_, trace) = found(&world, exhibit.property, &Limits::none(&stop, &progress)).expect("it is checked");
        trace.expect("there is one")
    }

    #[test]
    fn a_step_that_is_moved_leads_to_the_same_end_or_is_left_out() {
        let trace = counterexample();
        let length = trace.steps.len();
        for ended_at in 0..=length {
            let from = ended_at.min(length - 1);
            for (other, moved) in with_one_moved(&trace, ended_at) {
                assert_eq!(moved.from, from + 1);
                let mut back = other.actions();
                let (from, to) = (moved.from - 1, moved.to - 1);
                if to < from {
                    back[to..=from].rotate_left(1);
                } else {
                    back[from..=to].rotate_right(1);
                }
                assert_eq!(back, trace.actions());
                assert_eq!(other.state_after(length), trace.state_after(length));
            }
        }
        // The world begins with a thread that asks: nothing comes before that.
        assert_eq!(with_one_moved(&trace, 0).count(), 0);
    }

    #[test]
    fn another_order_is_tried_only_where_this_one_is_never_followed() {
        let trace = counterexample();
        let ended_at = (0..trace.steps.len()).find(|at| with_one_moved(&trace, *at).next().is_some());
        let ended_at = ended_at.expect("some step can be moved");
        let mut asked = Vec::new();
        let mut found_with = |is_followed: &dyn Fn(usize, &Trace) -> bool| {
            asked.clear();
            let found = in_an_order_that_is_followed(&trace, |one| {
                asked.push(one.actions());
                let is_followed = is_followed(asked.len(), one);
                Ok(if is_followed { Followed::InThisOrder } else { Followed::Until(ended_at) })
            });
            (found.expect("nothing fails").map(|(other, moved)| (other.actions(), moved)), asked.len())
        };
        assert_eq!(found_with(&|_, _| true), (None, 1));
        assert_eq!(found_with(&|times, _| times == LEFT_EACH_TIME), (None, LEFT_EACH_TIME));
        let (other, times) = found_with(&|_, one| one.actions() != trace.actions());
        let (first, moved) = with_one_moved(&trace, ended_at).next().expect("it can");
        assert_eq!((other, times), (Some((first.actions(), moved)), LEFT_EACH_TIME + 1));
        let others = with_one_moved(&trace, ended_at).count();
        assert_eq!(found_with(&|_, _| false), (None, LEFT_EACH_TIME + others));
    }
}
