//! The frontier bare, and again under each repair: which repair stops which anomaly, and what it costs.

use std::sync::atomic::Ordering;

use lockstep_model::Property;

use super::knobs::{FAULTS, Knob};
use super::{Draft, FaultSet, Foreign, Frontier, Minimal, Options, frontier};
use crate::check::{Error, Limits};

/// What was found, bare and under each repair.
#[derive(Clone, Debug)]
pub struct Survey {
    /// Faults that the world does not know.
    pub foreign: Vec<Foreign>,
    /// Without any repair.
    pub bare: Frontier,
    /// With each of them, in the order asked for.
    pub repaired: Vec<Frontier>,
    /// Repairs that do not go with the world or that it has already, and why.
    pub impossible: Vec<(&'static Knob, String)>,
    /// Repairs that were not looked at: somebody stopped it before.
    pub unlooked: Vec<&'static Knob>,
}

/// What one repair does to one anomaly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// What is broken.
    pub property: Property,
    /// By what.
    pub faults: FaultSet,
    /// Which repair.
    pub repair: &'static Knob,
    /// What it does.
    pub effect: Effect,
}

/// What a repair does to an anomaly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The same faults break it no more.
    Stops,
    /// They do, but it is over sooner.
    Shortens,
    /// They do as before, in as few steps and for as long.
    Nothing,
    /// They do, but it takes more steps to come to.
    Later,
    /// They do, in fewer steps: some that came in between are not needed with it.
    Sooner,
    /// Fewer faults are enough.
    Worse,
    /// With it the property says nothing about this world any more.
    Moot,
    /// The limits kept it from being known.
    Unknown,
    /// Nobody has written the rules of the two together.
    NotModelled,
}

impl Effect {
    /// In a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stops => "stops it",
            Self::Shortens => "shortens it",
            Self::Nothing => "does nothing",
            Self::Later => "makes it longer to come to",
            Self::Sooner => "makes it shorter to come to",
            Self::Worse => "lets fewer faults do it",
            Self::Moot => "leaves nothing to promise",
            Self::Unknown => "unknown",
            Self::NotModelled => "is not modelled with it",
        }
    }
}

/// Looks for the frontier bare and under each repair.
///
/// # Errors
/// A defect of ours.
pub fn survey(
    draft: &Draft,
    repairs: &[&'static Knob],
    options: Options,
    limits: &Limits<'_>,
    mut tell: impl FnMut(&str),
) -> Result<Survey, Error> {
    tell("bare");
    let (bare, foreign) = frontier(draft, None, options, limits)?;
    let mut survey = Survey { foreign, bare, repaired: Vec::new(), impossible: Vec::new(), unlooked: Vec::new() };
    for &repair in repairs {
        if limits.stop.load(Ordering::Relaxed) {
            survey.unlooked.push(repair);
            continue;
        }
        if let Some(reason) = why_not(draft, repair, &survey.foreign) {
            survey.impossible.push((repair, reason));
            continue;
        }
        tell(repair.name);
        let (found, _) = frontier(draft, Some(repair), options, limits)?;
        survey.repaired.push(found);
    }
    Ok(survey)
}

/// Why the repair is none here: it does not go with the world, or the world is the same without it.
fn why_not(draft: &Draft, repair: &Knob, foreign: &[Foreign]) -> Option<String> {
    let is_known = |fault: &usize| foreign.iter().all(|foreign| foreign.fault.name != FAULTS[*fault].name);
    let known = || (0..FAULTS.len()).filter(is_known);
    let read = |draft: &Draft| draft.scenario("a-repair", "A repair.");
    let mut is_possible = false;
    // A repair is for something: for one fault, or for two that go together.
    for (one, other) in known().flat_map(|one| known().map(move |other| (one, other))) {
        let alone = FaultSet::none().and(one);
        let both = if one == other { alone } else { alone.and(other) }.on(draft);
        if let Ok(repaired) = read(&both.with(repair)) {
            is_possible = true;
            if read(&both).map(|scenario| scenario.config).ok() != Some(repaired.config) {
                return None;
            }
        }
    }
    let error = read(&FaultSet::none().on(draft).with(repair)).err().filter(|_| !is_possible);
    Some(error.map_or_else(|| "it is so already".to_owned(), |error| error.first()))
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

fn effect(frontier: &Frontier, property: Property, bare: &Minimal) -> Effect {
    let breaking = frontier.broken.get(&property).into_iter().flatten();
    match breaking.filter(|minimal| minimal.faults.is_within(&bare.faults)).min_by_key(|minimal| minimal.steps) {
        None if frontier.inconclusive.contains(&bare.faults) => Effect::Unknown,
        None => match frontier.verdicts.get(&bare.faults) {
            None if frontier.is_cut_short => Effect::Unknown,
            None => Effect::NotModelled,
            Some(verdicts) if !verdicts.contains_key(&property) => Effect::Moot,
            Some(_) => Effect::Stops,
        },
        Some(repaired) if repaired.faults != bare.faults => Effect::Worse,
        // What has no bound is longer than what has one; of what is not known nothing is said.
        Some(repaired) if repaired.lasts.is_some() && repaired.lasts < bare.lasts => Effect::Shortens,
        Some(repaired) if repaired.steps > bare.steps => Effect::Later,
        Some(repaired) if repaired.steps < bare.steps => Effect::Sooner,
        Some(_) => Effect::Nothing,
    }
}
