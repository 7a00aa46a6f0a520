//! The search for the smallest sets of faults, and what each costs.

use std::collections::BTreeMap;
use std::iter;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use lockstep_model::{Property, Verdict};

use super::scenario_edit::ScenarioEdit;
use super::settings::{FAULTS, IDLE, Idle, Setting};
use crate::check::liveness::{Lasting, lasting, longest_wait};
use crate::check::worker_pool::WorkerPool;
use crate::check::{CheckError, CheckOutcome, Engine, How, Limits, check_as};
use crate::scenario::Scenario;

/// The name and story of a scenario that is not shown.
const A_SET: &str = "a-set-of-faults";

/// The bounds of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrontierOptions {
    /// Faults in one set, at most.
    pub most: u8,
    /// How often one fault may happen, at most.
    pub each: u8,
    /// Faults that are checked alone only, because combinations with them become too large.
    pub alone: &'static [&'static Setting],
    /// Faults that are in no set, because the worlds with them become too large.
    pub without: &'static [&'static Setting],
    /// Sets that are checked at the same time.
    pub threads: usize,
}

/// A set of faults: how often each of [`FAULTS`] may happen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FaultSet(Vec<u8>);

/// The frontier of one world.
#[derive(Clone, Debug)]
pub struct Frontier {
    /// The repair; `None`: none.
    pub repair: Option<&'static Setting>,
    /// For each property that applies, the smallest sets that break it, smallest first.
    pub broken: BTreeMap<Property, Vec<Minimal>>,
    /// The verdicts under every set that was checked.
    pub verdicts: BTreeMap<FaultSet, BTreeMap<Property, Verdict>>,
    /// The costs without a fault and with each single one.
    pub prices: BTreeMap<FaultSet, Price>,
    /// Sets whose check reached a limit.
    pub inconclusive: Vec<FaultSet>,
    /// The first of them that had time left, and why it is inconclusive.
    pub first_limit: Option<(FaultSet, String)>,
    /// How many sets there are, checked or not.
    pub sets: usize,
    /// Whether the search was stopped, or had no time left, before every set was checked.
    pub is_cut_short: bool,
    /// Distinct states of all of them.
    pub states: u64,
    /// Wall-clock time.
    pub seconds: f64,
}

/// A smallest set of faults that breaks a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimal {
    /// The set.
    pub faults: FaultSet,
    /// Steps of the trace that breaks it.
    pub steps: usize,
    /// The longest that it can stay broken, if it is one of states; `None` also if a limit was reached.
    pub lasts: Option<Lasting>,
    /// Whether the property was found to hold with any one fault less; false if a limit was reached.
    pub is_confirmed: bool,
}

/// The costs in one world, whether anything is broken or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Whether an acquire can fail because too few replicas acknowledge it.
    pub can_fail: bool,
    /// The longest that a thread can be in `lock()` without being served; `None`: no thread waits, or a limit was reached.
    pub longest_wait: Option<Lasting>,
}

/// A fault that the world cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// Which.
    pub fault: &'static Setting,
    /// Why.
    pub reason: String,
    /// Whether it is modelled but impossible here; if not, it is not modelled.
    pub is_modelled: bool,
}

impl FaultSet {
    /// No fault.
    pub fn none() -> Self {
        Self(vec![0; FAULTS.len()])
    }

    /// One fault more.
    #[must_use]
    pub fn and(&self, fault: usize) -> Self {
        let mut budgets = self.0.clone();
        budgets[fault] += 1;
        Self(budgets)
    }

    /// Every set with one fault less.
    pub fn smaller(&self) -> impl Iterator<Item = Self> {
        (0..self.0.len()).filter(|&fault| self.0[fault] > 0).map(|fault| {
            let mut budgets = self.0.clone();
            budgets[fault] -= 1;
            Self(budgets)
        })
    }

    /// Whether the other has all of these faults.
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(mine, theirs)| mine <= theirs)
    }

    /// Whether this fault is among others.
    pub fn mixes(&self, fault: &Setting) -> bool {
        let (mut with, mut others) = (false, false);
        for (other, _) in self.iter() {
            with |= other == fault;
            others |= other != fault;
        }
        with && others
    }

    /// The faults and how often each may happen.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Setting, u8)> {
        FAULTS.iter().zip(self.0.iter().copied()).filter(|(_, budget)| *budget > 0)
    }

    /// `crash_node + pause_client`, `2 × lose_message`, `no fault`.
    pub fn words(&self) -> String {
        let each = |(fault, budget): (&Setting, u8)| match budget {
            1 => fault.name.to_owned(),
            _ => format!("{budget} × {}", fault.name),
        };
        let all: Vec<_> = self.iter().map(each).collect();
        if all.is_empty() { "no fault".to_owned() } else { all.join(" + ") }
    }

    /// As part of a scenario's name.
    pub fn name(&self) -> String {
        let each = |(fault, budget): (&Setting, u8)| {
            let name = fault.name.replace('_', "-");
            if budget == 1 { name } else { format!("{name}-{budget}") }
        };
        let all: Vec<_> = self.iter().map(each).collect();
        if all.is_empty() { "no-fault".to_owned() } else { all.join("-") }
    }

    /// The edit with these faults, under this repair where it makes a difference: a setting that only matters to other
    /// faults is refused by the scenario's reader, and then everything is as without it. `None`: they do not go together,
    /// or what they do together is not modelled.
    pub fn under(&self, edit: &ScenarioEdit, repair: Option<&Setting>) -> Option<ScenarioEdit> {
        let bare = self.on(edit);
        if let Some(repaired) = repair.map(|repair| bare.with(repair)) {
            match repaired.scenario(A_SET, A_SET) {
                Ok(_) => return Some(repaired),
                Err(error) if error.is_not_modelled() => return None,
                Err(_) => {}
            }
        }
        bare.scenario(A_SET, A_SET).is_ok().then_some(bare)
    }

    /// The edit with these faults. What it says of others is left out: it means nothing without them.
    pub fn on(&self, edit: &ScenarioEdit) -> ScenarioEdit {
        let edit = self.iter().fold(edit.clone(), |edit, (fault, budget)| edit.with_fault(fault, budget));
        let is_idle = |idle: &&Idle| !self.iter().any(|(fault, _)| idle.faults.contains(&fault.name));
        IDLE.iter().filter(is_idle).fold(edit, |edit, idle| edit.without_idle(idle))
    }
}

/// How far a search is, for the progress display.
#[derive(Debug, Default)]
pub struct SetsChecked {
    begun: AtomicUsize,
    all: AtomicUsize,
}

impl SetsChecked {
    /// How many sets were begun, and how many there are.
    pub fn counts(&self) -> (usize, usize) {
        (self.begun.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed))
    }

    fn start(&self, all: usize) {
        self.begun.store(0, Ordering::Relaxed);
        self.all.store(all, Ordering::Relaxed);
    }

    fn begin_one(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
    }
}

/// Searches the frontier of a scenario under a repair, within limits of which that on time is for the whole search; the
/// others are for each set. Faults that its world cannot have are left out and returned.
///
/// # Errors
/// As [`check_as`]: a defect of ours.
///
/// # Panics
/// Where the edit itself, without any fault, is no scenario.
pub fn frontier(
    edit: &ScenarioEdit,
    repair: Option<&'static Setting>,
    options: FrontierOptions,
    limits: &Limits<'_>,
    progress: &SetsChecked,
) -> Result<(Frontier, Vec<Foreign>), CheckError> {
    let started = Instant::now();
    let mut foreign = Vec::new();
    let mut known = Vec::new();
    for (number, fault) in FAULTS.iter().enumerate().filter(|(_, fault)| !options.without.contains(fault)) {
        let alone = FaultSet::none().and(number);
        // Some faults need another: only a crashed node can restart.
        let mut others = (0..FAULTS.len()).filter(|other| *other != number);
        match alone.on(edit).scenario(A_SET, A_SET) {
            Err(error) if !others.any(|other| alone.and(other).on(edit).scenario(A_SET, A_SET).is_ok()) => {
                foreign.push(Foreign { fault, reason: error.first(), is_modelled: !error.is_not_modelled() });
            }
            _ => known.push(number),
        }
    }
    let mut found = Frontier {
        repair,
        broken: BTreeMap::new(),
        verdicts: BTreeMap::new(),
        prices: BTreeMap::new(),
        inconclusive: Vec::new(),
        first_limit: None,
        sets: 0,
        is_cut_short: false,
        states: 0,
        seconds: 0.0,
    };
    let pool = WorkerPool::of(options.threads);
    let by_size = sets_by_size(edit, repair, &known, options);
    found.sets = by_size.iter().map(Vec::len).sum();
    progress.start(found.sets);
    for (size, scenarios) in by_size.iter().enumerate() {
        let outcomes = pool.share(scenarios.len(), |_, number| {
            let (limits, began) = (limits.left(started)?, Instant::now());
            progress.begin_one();
            Some((check_as(&scenarios[number].1, How::by(Engine::Native), &limits), limits.left(began).is_some()))
        });
        let waits = pool.share(scenarios.len(), |_, number| {
            let limits = limits.left(started).filter(|_| size <= 1)?;
            Some(longest_wait(&scenarios[number].1.config, &limits).ok().flatten())
        });
        let mut minimal = Vec::new();
        for (((set, _), outcome), wait) in scenarios.iter().zip(outcomes).zip(waits) {
            let Some((outcome, has_time_left)) = outcome else {
                found.is_cut_short = true;
                continue;
            };
            let outcome = outcome?;
            if has_time_left && found.first_limit.is_none() {
                let why = outcome.properties.iter().find(|found| found.verdict == Verdict::Inconclusive);
                found.first_limit = why.and_then(|found| Some((set.clone(), found.why.clone()?)));
            }
            if let Some(longest_wait) = wait {
                let can_fail = outcome.coverage.fails_for_want_of_replicas();
                found.prices.insert(set.clone(), Price { can_fail, longest_wait });
            }
            found.note(set, &outcome, &mut minimal);
        }
        let lasts = pool.share(minimal.len(), |_, number| {
            let (property, Minimal { faults, .. }) = &minimal[number];
            let (_, scenario) = scenarios.iter().find(|(set, _)| set == faults)?;
            lasting(&scenario.config, *property, &limits.left(started)?).ok().flatten()
        });
        for ((property, minimal), lasts) in minimal.into_iter().zip(lasts) {
            found.broken.entry(property).or_default().push(Minimal { lasts, ..minimal });
        }
    }
    found.seconds = started.elapsed().as_secs_f64();
    Ok((found, foreign))
}

impl Frontier {
    /// Whether every set was checked completely: only then does an unbroken property hold.
    pub fn is_whole(&self) -> bool {
        self.inconclusive.is_empty() && !self.is_cut_short
    }

    /// How many sets were not checked at all.
    pub fn unchecked(&self) -> usize {
        self.sets - self.verdicts.len()
    }

    /// How many sets were checked completely.
    pub fn checked(&self) -> usize {
        self.verdicts.len() - self.inconclusive.len()
    }

    /// Whether this set breaks the property.
    pub fn breaks(&self, property: Property, set: &FaultSet) -> bool {
        self.broken.get(&property).is_some_and(|all| all.iter().any(|minimal| minimal.faults.is_within(set)))
    }

    fn note(&mut self, set: &FaultSet, outcome: &CheckOutcome, minimal: &mut Vec<(Property, Minimal)>) {
        let verdicts = outcome.properties.iter().map(|found| (found.property, found.verdict)).collect();
        self.verdicts.insert(set.clone(), verdicts);
        self.states += outcome.states;
        if outcome.is_inconclusive() {
            self.inconclusive.push(set.clone());
        }
        // Faults cannot break the property that every action is reached.
        for found in outcome.properties.iter().filter(|found| found.property != Property::ActionsReached) {
            let is_new = !self.breaks(found.property, set);
            self.broken.entry(found.property).or_default();
            if found.verdict == Verdict::Violated && is_new {
                let steps = found.trace.as_ref().map_or(0, |trace| trace.steps.len());
                let is_confirmed = set.smaller().all(|smaller| !self.inconclusive.contains(&smaller));
                minimal.push((found.property, Minimal { faults: set.clone(), steps, lasts: None, is_confirmed }));
            }
        }
    }
}

/// Every set of up to the most faults with its scenario, by its number of faults. Faults that do not go together are left
/// out.
fn sets_by_size(
    edit: &ScenarioEdit,
    repair: Option<&Setting>,
    known: &[usize],
    options: FrontierOptions,
) -> Vec<Vec<(FaultSet, Scenario)>> {
    let larger = |sets: &Vec<FaultSet>| Some(larger(sets, known, options));
    let sizes = iter::successors(Some(vec![FaultSet::none()]), larger).take(usize::from(options.most) + 1);
    let world = |set: FaultSet| {
        let scenario = set.under(edit, repair)?.scenario(A_SET, A_SET).ok()?;
        Some((set, scenario))
    };
    sizes.map(|sets| sets.into_iter().filter_map(world).collect()).collect()
}

/// Every set with one fault more, once.
fn larger(sets: &[FaultSet], known: &[usize], options: FrontierOptions) -> Vec<FaultSet> {
    let mut all: Vec<_> = sets
        .iter()
        .flat_map(|set| known.iter().filter(|fault| set.0[**fault] < options.each).map(|fault| set.and(*fault)))
        .filter(|set| !options.alone.iter().any(|fault| set.mixes(fault)))
        .collect();
    all.sort_by(|left, right| right.cmp(left));
    all.dedup();
    all
}
