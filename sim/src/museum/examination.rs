//! The examination of an exhibit: by the model, on Redis, and on the real library.

use lockstep_model::trace::Trace;
use lockstep_model::{Property, Verdict};
use lockstep_redis::Scripts;

use super::exhibit::Exhibit;
use crate::check::{CheckError, Engine, How, Limits, check_as};
use crate::fuzz::{FuzzFailure, FuzzOptions, fuzz};
use crate::replay::redisson::RedissonProgram;
use crate::replay::{Difference, Player, ReplayError, ServerProgram};
use crate::scenario::{Scenario, ScenarioError};

/// How many replays the JVM may take another order in, for each that it takes ours in: a caller whose interrupt
/// flag is set throws before its request is written in 3 of 100 replays, and more often on a machine that is busy.
const OTHER_ORDERS: u32 = 20;
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
    /// The shortest counterexample on Redis: the server, the things compared, and the first difference. `None`: there is none.
    pub on_redis: Option<(String, usize, Option<Difference>)>,
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
    /// Whether the library has the defect, and the model, Redis and the control say the same.
    pub fn is_reproduced(&self) -> bool {
        matches!(self.in_model, InModel::Violated(_))
            && matches!(self.on_library, OnLibrary::Reproduced { .. })
            && self.on_redis.as_ref().is_some_and(|(_, _, difference)| difference.is_none())
            && self.is_bounded()
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

    /// Whether the repair stops it, and the control behaves: in the model, and on the library.
    pub fn is_bounded(&self) -> bool {
        let holds = |verdict: Verdict| matches!(verdict, Verdict::Holds | Verdict::HoldsWithinBounds);
        let ControlRun { verdict, histories: (_, followed), difference } = &self.control;
        holds(self.repaired) && holds(*verdict) && *followed > 0 && difference.is_none()
    }
}

/// Examines an exhibit: checks its world, its repair and its control, and replays them.
///
/// # Errors
/// What keeps it from being examined. That the library behaves is a result.
pub fn examine(exhibit: &Exhibit, on: &Servers<'_>, limits: &Limits<'_>) -> Result<Examination, ExamineError> {
    let profile = on.library.profile();
    let world = exhibit.world(profile)?;
    let library = on.library.clone().interrupted_by(exhibit.interruption);
    let in_model = match found(&world, exhibit.property, limits)? {
        (Verdict::Violated, Some(trace)) => InModel::Violated(Box::new(trace)),
        (verdict, _) => InModel::Not(verdict),
    };
    let (repaired, _) = found(&exhibit.changed(profile, &exhibit.repair)?, exhibit.property, limits)?;
    let (on_redis, on_library) = match &in_model {
        InModel::Violated(trace) => (Some(on_redis(trace, on.server)?), on_library(trace, on, &library, limits)?),
        InModel::Not(_) => (None, OnLibrary::NothingToReplay),
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

fn on_redis(trace: &Trace, server: &ServerProgram) -> Result<(String, usize, Option<Difference>), ReplayError> {
    let played = Player::start(server, &trace.config, Scripts::built_in())?.replay(trace, false)?;
    Ok((played.server, played.compared, played.difference))
}

fn on_library(
    trace: &Trace,
    on: &Servers<'_>,
    library: &RedissonProgram,
    limits: &Limits<'_>,
) -> Result<OnLibrary, ReplayError> {
    let mut player = match Player::start(on.server, &trace.config, library.clone()) {
        Ok(player) => player,
        Err(ReplayError::NotForRedisson { reason, .. }) => return Ok(OnLibrary::NotFollowed(reason)),
        Err(error) => return Err(error),
    };
    let in_its_order = in_an_order_of(trace, &mut player)?;
    let trace = in_its_order.as_ref().unwrap_or(trace);
    let (mut times, mut left, mut compared) = (0, 0, 0);
    while times < on.times {
        if limits.stop.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(ReplayError::Stopped);
        }
        let result = player.replay(trace, false)?;
        if result.difference.is_some() || (result.left.is_some() && left == on.times * OTHER_ORDERS) {
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
    Ok(OnLibrary::Reproduced { times, left, compared })
}

/// The library may do what happens at one instant in another order than the counterexample. So where it is not followed to its end,
/// the step at which that ended is made earlier: an equally short counterexample that the library follows. `None`: it follows this
/// one, or none of those.
fn in_an_order_of(trace: &Trace, player: &mut Player) -> Result<Option<Trace>, ReplayError> {
    let result = player.replay(trace, false)?;
    if result.left.is_none() || result.difference.is_some() || trace.loop_start.is_some() {
        return Ok(None);
    }
    let actions = trace.actions();
    // The step after those that were followed.
    let ended_at = result.steps.min(actions.len().saturating_sub(1));
    for place in (0..ended_at).rev() {
        let mut moved = actions.clone();
        moved[place..=ended_at].rotate_right(1);
        let about = trace.about.clone();
        let Ok(other) = Trace::record(&trace.scenario, &trace.story, &trace.config, about, &moved, "") else {
            continue;
        };
        if other.state_after(moved.len()) != trace.state_after(actions.len()) {
            continue;
        }
        let result = player.replay(&other, false)?;
        if result.left.is_none() && result.difference.is_none() {
            return Ok(Some(other));
        }
    }
    Ok(None)
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
}
