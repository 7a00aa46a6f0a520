//! The frontier bare, and again under each repair: which repair stops which anomaly, and what it costs.

use std::sync::atomic::Ordering;
use std::time::Instant;

use lockstep_model::Property;

use super::scenario_edit::ScenarioEdit;
use super::search::{FaultSet, Foreign, Frontier, FrontierOptions, Minimal, SetsChecked, frontier};
use super::settings::{FAULTS, Setting, WATCHDOG};
use crate::check::{CheckError, Limits};

/// The reason of a repair that changes nothing.
pub const HAS_IT: &str = "the scenario has it already";

/// The reason of a watchdog that would not matter.
const NOTHING_TO_MEND: &str = "without a fault nothing is broken";

/// What was found, bare and under each repair.
#[derive(Clone, Debug)]
pub struct Survey {
    /// Faults that the world cannot have.
    pub foreign: Vec<Foreign>,
    /// Without any repair.
    pub bare: Frontier,
    /// With each of them, in the order asked for.
    pub repaired: Vec<Frontier>,
    /// Repairs that the world cannot have or has already, and why.
    pub impossible: Vec<(&'static Setting, String)>,
    /// Repairs that were not checked because the survey was stopped, or had no time left.
    pub unlooked: Vec<&'static Setting>,
    /// Whether no time was left at the end.
    pub is_out_of_time: bool,
    /// Whether it was told to end.
    pub is_interrupted: bool,
}

/// What one repair does to one anomaly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The broken property.
    pub property: Property,
    /// The faults that break it.
    pub faults: FaultSet,
    /// The repair.
    pub repair: &'static Setting,
    /// What the repair does to it.
    pub effect: RepairEffect,
}

/// What a repair does to an anomaly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairEffect {
    /// The same faults no longer break the property.
    Stops,
    /// They do, but it stays broken for a shorter time.
    Shortens,
    /// They do as before, in as few steps and for as long.
    Nothing,
    /// They do, in more steps.
    Later,
    /// They do, in fewer steps.
    Sooner,
    /// Fewer faults are enough.
    Worse,
    /// With it the property does not apply to this world.
    Moot,
    /// Not known because of a limit.
    Unknown,
    /// The combination is not modelled.
    NotModelled,
}

impl RepairEffect {
    /// The effect as a phrase.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stops => "stops it",
            Self::Shortens => "shortens it",
            Self::Nothing => "does nothing",
            Self::Later => "lengthens the shortest trace",
            Self::Sooner => "shortens the shortest trace",
            Self::Worse => "lets fewer faults break it",
            Self::Moot => "makes the property not apply",
            Self::Unknown => "unknown",
            Self::NotModelled => "is not modelled with it",
        }
    }
}

/// Searches the frontier bare and under each repair, within limits of which that on time is for all of it.
///
/// # Errors
/// A defect of ours.
pub fn survey(
    edit: &ScenarioEdit,
    repairs: &[&'static Setting],
    options: FrontierOptions,
    limits: &Limits<'_>,
    progress: &SetsChecked,
    mut report: impl FnMut(&str),
) -> Result<Survey, CheckError> {
    let started = Instant::now();
    report("bare");
    let (bare, foreign) = frontier(edit, None, options, limits, progress)?;
    let mut survey = Survey {
        foreign,
        bare,
        repaired: Vec::new(),
        impossible: Vec::new(),
        unlooked: Vec::new(),
        is_out_of_time: false,
        is_interrupted: false,
    };
    for &repair in repairs {
        let Some(limits) = limits.left(started) else {
            survey.unlooked.push(repair);
            continue;
        };
        // It mends leases that are too short for the code, which need no fault to break anything; beside that it makes every
        // world much larger.
        if repair.name == WATCHDOG.name && !survey.anomalies().any(|(_, minimal)| minimal.faults == FaultSet::none()) {
            survey.impossible.push((repair, NOTHING_TO_MEND.to_owned()));
            continue;
        }
        if let Some(reason) = why_not(edit, repair, &survey.foreign) {
            survey.impossible.push((repair, reason));
            continue;
        }
        report(repair.name);
        let (found, _) = frontier(edit, Some(repair), options, &limits, progress)?;
        survey.repaired.push(found);
    }
    survey.is_interrupted = limits.stop.load(Ordering::Relaxed);
    survey.is_out_of_time = !survey.is_interrupted && limits.left(started).is_none();
    Ok(survey)
}

/// Why the repair does nothing here: the world cannot have it, or is the same without it.
fn why_not(edit: &ScenarioEdit, repair: &Setting, foreign: &[Foreign]) -> Option<String> {
    let is_known = |fault: &usize| foreign.iter().all(|foreign| foreign.fault.name != FAULTS[*fault].name);
    let known = || (0..FAULTS.len()).filter(is_known);
    let read = |edit: &ScenarioEdit| edit.scenario("a-repair", "A repair.");
    let mut is_possible = false;
    // A repair may matter to one fault only, or to two that go together.
    for (one, other) in known().flat_map(|one| known().map(move |other| (one, other))) {
        let alone = FaultSet::none().and(one);
        let both = if one == other { alone } else { alone.and(other) }.on(edit);
        if let Ok(repaired) = read(&both.with(repair)) {
            is_possible = true;
            if read(&both).map(|scenario| scenario.config).ok() != Some(repaired.config) {
                return None;
            }
        }
    }
    let error = read(&FaultSet::none().on(edit).with(repair)).err().filter(|_| !is_possible);
    Some(error.map_or_else(|| HAS_IT.to_owned(), |error| error.first()))
}

impl Survey {
    /// Every anomaly of the bare world: what is broken, and by which smallest set.
    pub fn anomalies(&self) -> impl Iterator<Item = (Property, &Minimal)> {
        self.bare.broken.iter().flat_map(|(&property, all)| all.iter().map(move |minimal| (property, minimal)))
    }

    /// What each repair does to an anomaly.
    pub fn cells(&self, property: Property, minimal: &Minimal) -> Vec<Cell> {
        self.repaired
            .iter()
            .filter_map(|frontier| {
                let repair = frontier.repair?;
                let effect = effect(frontier, property, minimal);
                Some(Cell { property, faults: minimal.faults.clone(), repair, effect })
            })
            .collect()
    }

    /// What a repair costs: what breaks under it by faults that did not break it before.
    pub fn price<'a>(&'a self, frontier: &'a Frontier) -> impl Iterator<Item = (Property, &'a Minimal)> {
        frontier
            .broken
            .iter()
            .flat_map(|(&property, all)| all.iter().map(move |minimal| (property, minimal)))
            .filter(|(property, minimal)| !self.bare.breaks(*property, &minimal.faults))
    }
}

fn effect(frontier: &Frontier, property: Property, bare: &Minimal) -> RepairEffect {
    let breaking = frontier.broken.get(&property).into_iter().flatten();
    match breaking.filter(|minimal| minimal.faults.is_within(&bare.faults)).min_by_key(|minimal| minimal.steps) {
        None if frontier.inconclusive.contains(&bare.faults) => RepairEffect::Unknown,
        None => match frontier.verdicts.get(&bare.faults) {
            None if frontier.is_cut_short => RepairEffect::Unknown,
            None => RepairEffect::NotModelled,
            Some(verdicts) if !verdicts.contains_key(&property) => RepairEffect::Moot,
            Some(_) => RepairEffect::Stops,
        },
        Some(repaired) if repaired.faults != bare.faults => RepairEffect::Worse,
        // Without a bound is longer than with one; an unknown duration is not compared.
        Some(repaired) if repaired.lasts.is_some() && repaired.lasts < bare.lasts => RepairEffect::Shortens,
        Some(repaired) if repaired.steps > bare.steps => RepairEffect::Later,
        Some(repaired) if repaired.steps < bare.steps => RepairEffect::Sooner,
        Some(_) => RepairEffect::Nothing,
    }
}
