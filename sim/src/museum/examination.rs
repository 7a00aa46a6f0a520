//! The examination of an exhibit: by the model, on Redis, and on the real library.

use lockstep_model::trace::Trace;
use lockstep_model::{Property, Verdict};
use lockstep_redis::Scripts;

use super::exhibit::Exhibit;
use super::other_histories::{Followed, OtherHistory, one_that_is_followed};
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
    /// The counterexample on Redis, in the history in which the library was followed: the server, the things compared, and the first
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
        /// How what was replayed differs from the counterexample, where the library does not follow that.
        instead: Option<OtherHistory>,
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
        // Of a version about which the exhibit says nothing, there may be no such world.
        Err(error) if error.is_not_modelled() || exhibit.versions.has(on.library.version()).is_none() => {
            return Ok(Examination::of_no_world(error.first()));
        }
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
pub(super) fn found(
    world: &Scenario,
    property: Property,
    limits: &Limits<'_>,
) -> Result<(Verdict, Option<Trace>), ExamineError> {
    let how = How { only: Some(property), ..How::by(Engine::Native) };
    let outcome = check_as(world, how, limits)?;
    let found = outcome.properties.into_iter().find(|found| found.property == property);
    Ok(found.map_or((Verdict::Vacuous, None), |found| (found.verdict, found.trace)))
}

/// What a history does on a server: its name, the things compared, and the first difference.
pub type OnRedis = (String, usize, Option<Difference>);

/// The counterexample on Redis and on the library, or another history with the same end that the library follows.
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
    let other = one_that_is_followed(trace, |trace| player.replay(trace, false).map(|played| Followed::of(&played)))?;
    let (trace, instead) = other.as_ref().map_or((trace, None), |(other, instead)| (other, Some(*instead)));
    Ok((Some(on_redis(trace, on.server)?), on_library(trace, instead, &mut player, on.times, limits)?))
}

fn on_redis(trace: &Trace, server: &ServerProgram) -> Result<OnRedis, ReplayError> {
    let played = Player::start(server, &trace.config, Scripts::built_in())?.replay(trace, false)?;
    Ok((played.server, played.compared, played.difference))
}

fn on_library(
    trace: &Trace,
    instead: Option<OtherHistory>,
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
    Ok(OnLibrary::Reproduced { times, left, compared, instead })
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
