//! Believes no engine: executes every witness again, and looks for a shorter one by itself.
//!
//! It shares nothing with the engines but the model: whole states in the standard library's sets, no fingerprints.

use std::collections::HashSet;

use lockstep_model::{Action, Classified, Config, Property, Record, World, in_class, step};

/// How many states the judge will hold to confirm that no witness is shorter; beyond that it does not say so.
pub const MOST_STATES: usize = 1_500_000;

/// A list of actions that is said to break a property.
#[derive(Clone, Debug)]
pub struct Witness<'a> {
    /// Which property.
    pub property: Property,
    /// How.
    pub actions: &'a [Action],
}

/// What the judge makes of a witness that it accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// No shorter one exists within the scenario.
    pub is_shortest: bool,
}

/// Why a witness is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// It cannot be executed.
    #[error("the witness of {property} cannot be executed: step {step}, {action:?}, is not enabled")]
    NotEnabled {
        /// Of which property.
        property: Property,
        /// 1 for the first.
        step: usize,
        /// What should have happened.
        action: Action,
    },
    /// It breaks nothing.
    #[error("the witness of {property} does not break it: the property holds after its last step")]
    NotBroken {
        /// Of which property.
        property: Property,
    },
    /// There is a shorter one.
    #[error("the witness of {property} has {claimed} steps, but {found} are enough")]
    NotShortest {
        /// Of which property.
        property: Property,
        /// Its length.
        claimed: usize,
        /// The length of a shorter one.
        found: usize,
    },
}

/// Executes the witnesses, which an engine claims to be shortest.
///
/// # Errors
/// [`Rejection`] of the first that is not what it claims to be.
pub fn judge(config: &Config, witnesses: &[Witness<'_>]) -> Result<Judgement, Rejection> {
    in_class(config, Bench { witnesses })
}

/// Executes the witnesses, which nobody claims to be shortest.
///
/// # Errors
/// [`Rejection`] of the first that is not what it claims to be.
pub fn execute_all(config: &Config, witnesses: &[Witness<'_>]) -> Result<Judgement, Rejection> {
    in_class(config, Executing { witnesses })
}

struct Executing<'a> {
    witnesses: &'a [Witness<'a>],
}

impl Classified for Executing<'_> {
    type Output = Result<Judgement, Rejection>;

    fn run<R: Record, const C: usize, const N: usize>(self, config: &Config) -> Self::Output {
        for witness in self.witnesses {
            execute::<R, C, N>(config, witness)?;
        }
        Ok(Judgement { is_shortest: false })
    }
}

struct Bench<'a> {
    witnesses: &'a [Witness<'a>],
}

impl Classified for Bench<'_> {
    type Output = Result<Judgement, Rejection>;

    fn run<R: Record, const C: usize, const N: usize>(self, config: &Config) -> Self::Output {
        for witness in self.witnesses {
            execute::<R, C, N>(config, witness)?;
        }
        seek_shorter::<R, C, N>(config, self.witnesses)
    }
}

fn execute<R: Record, const C: usize, const N: usize>(config: &Config, witness: &Witness<'_>) -> Result<(), Rejection> {
    let property = witness.property;
    let mut world = World::<R, C, N>::initial(config);
    for (number, &action) in (1..).zip(witness.actions) {
        let next = step(config, &world, action).ok_or(Rejection::NotEnabled { property, step: number, action })?;
        world = next.world;
    }
    if property.holds(&world) { Err(Rejection::NotBroken { property }) } else { Ok(()) }
}

/// Every state within fewer steps than the longest witness has, to see that none of them breaks a property too early.
fn seek_shorter<R: Record, const C: usize, const N: usize>(
    config: &Config,
    witnesses: &[Witness<'_>],
) -> Result<Judgement, Rejection> {
    let actions = Action::all(config);
    let longest = witnesses.iter().map(|witness| witness.actions.len()).max().unwrap_or(0);
    let mut met = HashSet::from([World::<R, C, N>::initial(config)]);
    let mut layer: Vec<_> = met.iter().copied().collect();
    for steps in 0..longest {
        for witness in witnesses.iter().filter(|witness| witness.actions.len() > steps) {
            if layer.iter().any(|world| !witness.property.holds(world)) {
                let property = witness.property;
                return Err(Rejection::NotShortest { property, claimed: witness.actions.len(), found: steps });
            }
        }
        let successors = layer
            .iter()
            .flat_map(|world| actions.iter().filter_map(|&action| Some(step(config, world, action)?.world)));
        layer = successors.filter(|world| met.insert(*world)).collect();
        if met.len() > MOST_STATES {
            return Ok(Judgement { is_shortest: false });
        }
    }
    Ok(Judgement { is_shortest: true })
}
