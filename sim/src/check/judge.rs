//! Trusts no engine: executes every witness again, and searches for a shorter one independently.
//!
//! It shares only the model with the engines: it keeps whole states in sets, not fingerprints.

use foldhash::HashSet;
use lockstep_model::Holder;
use lockstep_model::notes::Capacities;
use lockstep_model::{Action, ActionKind, Config, InLayout, Layout, Property, World, attempt, in_largest_layout, step};

/// How many states the judge stores to confirm that no witness is shorter; beyond that it does not confirm it.
pub const MOST_STATES: usize = 1_500_000;

/// A list of actions that is claimed to break a property.
#[derive(Clone, Debug)]
pub struct Witness<'a> {
    /// The property.
    pub property: Property,
    /// The actions.
    pub actions: &'a [Action],
}

/// A list of actions that is claimed to break a liveness property by repeating a loop for ever.
#[derive(Clone, Debug)]
pub struct LassoWitness<'a> {
    /// The property.
    pub property: Property,
    /// The actions: the stem, and one turn of the loop.
    pub actions: &'a [Action],
    /// How many of the actions are the stem.
    pub loop_start: usize,
}

/// The judge's statement about a witness that it accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// No shorter one exists within the scenario.
    pub is_shortest: bool,
}

/// Why a witness is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// It cannot be executed.
    #[error("the witness of {property} cannot be executed: step {step}, {action:?}, is not enabled")]
    NotEnabled {
        /// The property.
        property: Property,
        /// 1 for the first.
        step: usize,
        /// The action that is not enabled.
        action: Action,
    },
    /// It breaks nothing.
    #[error("the witness of {property} does not break it: the property holds after its last step")]
    NotBroken {
        /// The property.
        property: Property,
    },
    /// There is a shorter one.
    #[error("the witness of {property} has {claimed} steps, but {found} are enough")]
    NotShortest {
        /// The property.
        property: Property,
        /// Its length.
        claimed: usize,
        /// The length of a shorter one.
        found: usize,
    },
    /// The claimed loop is not a loop.
    #[error("the lasso of {property} does not close: its last state is not the one the loop starts in")]
    NotClosed {
        /// The property.
        property: Property,
    },
    /// The loop fulfils the property.
    #[error("the lasso of {property} does not break it: nobody is owed it in every state of the loop")]
    NotOwed {
        /// The property.
        property: Property,
    },
    /// What is claimed to be out of reach is not.
    #[error("the witness of {property} does not break it: after {steps} more steps without a fault the lock is got")]
    StillPossible {
        /// The property.
        property: Property,
        /// How many steps are enough.
        steps: usize,
    },
    /// The loop is not fair.
    #[error("the lasso of {property} is not fair: {action:?} could happen and never does")]
    NotFair {
        /// The property.
        property: Property,
        /// The action that a fair loop would take.
        action: Action,
    },
}

/// Executes the witnesses, which an engine claims to be shortest.
///
/// If asked to stop, it ends the search for a shorter one, and the result says so. `must_stop` receives the number of bytes
/// that the search will take at once if it goes on.
///
/// # Errors
/// [`Rejection`] of the first witness that is not what it claims to be.
pub fn judge(
    config: &Config,
    witnesses: &[Witness<'_>],
    must_stop: &dyn Fn(u64) -> bool,
) -> Result<Judgement, Rejection> {
    judge_within(MOST_STATES, config, witnesses, must_stop)
}

/// The same, where so many states are stored at most.
///
/// # Errors
/// As [`judge`].
pub fn judge_within(
    most_states: usize,
    config: &Config,
    witnesses: &[Witness<'_>],
    must_stop: &dyn Fn(u64) -> bool,
) -> Result<Judgement, Rejection> {
    in_largest_layout(config, Bench { witnesses, most_states, must_stop })
}

/// Executes the witnesses, which are not claimed to be shortest.
///
/// # Errors
/// [`Rejection`] of the first witness that is not what it claims to be.
pub fn execute_all(config: &Config, witnesses: &[Witness<'_>]) -> Result<Judgement, Rejection> {
    in_largest_layout(config, Executing { witnesses })
}

struct Executing<'a> {
    witnesses: &'a [Witness<'a>],
}

impl InLayout for Executing<'_> {
    type Output = Result<Judgement, Rejection>;

    fn run<Y: Layout>(self, config: &Config) -> Self::Output {
        for witness in self.witnesses {
            execute::<Y>(config, witness)?;
        }
        Ok(Judgement { is_shortest: false })
    }
}

/// Executes lassos. It does not confirm that the stem is shortest, and no report claims so.
///
/// # Errors
/// [`Rejection`] of the first witness that is not what it claims to be.
pub fn judge_lassos(config: &Config, witnesses: &[LassoWitness<'_>]) -> Result<(), Rejection> {
    witnesses.iter().try_for_each(|witness| in_largest_layout(config, witness))
}

impl InLayout for &LassoWitness<'_> {
    type Output = Result<(), Rejection>;

    fn run<Y: Layout>(self, config: &Config) -> Self::Output {
        let property = self.property;
        let worlds = worlds::<Y>(config, property, self.actions)?;
        let (Some(turn), Some(last)) = (worlds.get(self.loop_start..), worlds.last()) else {
            return Err(Rejection::NotClosed { property });
        };
        // The counter of fencing tokens may have grown meanwhile, where that can make no difference.
        let alike = |world: &World<Y>| world.up_to_token_numbers(config);
        if turn.first().map(alike) != Some(alike(last)) {
            return Err(Rejection::NotClosed { property });
        }
        let mut threads = (0..config.clients.count)
            .flat_map(|client| (0..config.clients.threads).map(move |thread| Holder::new(client, thread)));
        if !threads.any(|thread| turn.iter().all(|world| property.pending(world, thread))) {
            return Err(Rejection::NotOwed { property });
        }
        let taken = &self.actions[self.loop_start..];
        let unfair = Action::all(config).into_iter().find(|action| {
            // What only the model has no room for could happen.
            let can = |world| attempt(config, world, *action).map_or_else(Capacities::any, |_| true);
            // Strong fairness allows only one excuse: the action can never happen in the loop.
            let could = if config.strong_fairness { turn.iter().any(can) } else { turn.iter().all(can) };
            // A loop in which something happens must take time: otherwise infinitely many actions would happen at one
            // moment.
            let takes_time = *action == Action::Tick && !taken.is_empty();
            must_happen(config, *action) && !taken.contains(action) && (could || takes_time)
        });
        unfair.map_or(Ok(()), |action| Err(Rejection::NotFair { property, action }))
    }
}

/// What every fair run must take: all actions but faults, ties and a client's free choices. Stated again here rather than
/// read from the model's own list, which the engine uses.
fn must_happen(config: &Config, action: Action) -> bool {
    match action.kind() {
        ActionKind::Acquire
        | ActionKind::Expire
        | ActionKind::ExpirePart
        | ActionKind::ExpireReceipts
        | ActionKind::CrashClient
        | ActionKind::CrashThread
        | ActionKind::PauseClient
        | ActionKind::StartClient
        | ActionKind::GoBack
        | ActionKind::CrashNode
        | ActionKind::HandOver
        | ActionKind::LoseMessage
        | ActionKind::LoseRequest
        | ActionKind::LoseReply
        | ActionKind::LoseAsk
        | ActionKind::SlowReply
        | ActionKind::LateAsk
        | ActionKind::Interrupt
        | ActionKind::ForeignRelease
        | ActionKind::ForceRelease
        | ActionKind::RestartNode
        | ActionKind::KillNode
        | ActionKind::ShutdownNode
        | ActionKind::Snapshot
        | ActionKind::CutLink
        | ActionKind::RefuseWrites
        | ActionKind::PauseNode
        | ActionKind::VanishKey
        | ActionKind::BreakLink
        | ActionKind::MoveSlot
        | ActionKind::PersistKey
        | ActionKind::VanishReceipts
        | ActionKind::VanishToken
        | ActionKind::OverwriteKey
        | ActionKind::ClockJump
        | ActionKind::ClientClockJump
        // A late write may be lost.
        | ActionKind::Arrive => false,
        ActionKind::Release => !config.clients.hold_for_ever,
        ActionKind::NextPart
        | ActionKind::GiveBack
        | ActionKind::AskMaster
        | ActionKind::ExtendAt
        | ActionKind::SetTtlAt
        | ActionKind::HearMaster
        | ActionKind::ReleaseAt
        | ActionKind::ArriveLate
        | ActionKind::Subscribe
        | ActionKind::SecondAsk
        | ActionKind::WakeByMessage
        | ActionKind::WakeByTimer
        | ActionKind::GiveUp
        | ActionKind::Confirm
        | ActionKind::Undo
        | ActionKind::SetTtl
        | ActionKind::ReadToken
        | ActionKind::AskIfHeld
        | ActionKind::Work
        | ActionKind::Discover
        | ActionKind::DiscoverMaster
        | ActionKind::Resubscribe
        | ActionKind::Resume
        | ActionKind::Deliver
        | ActionKind::Execute
        | ActionKind::Register
        | ActionKind::Unregister
        | ActionKind::Answer
        | ActionKind::Resend
        | ActionKind::Abandon
        | ActionKind::Renew
        | ActionKind::RenewAcknowledged
        | ActionKind::Replicate
        | ActionKind::Promote
        | ActionKind::Resync
        | ActionKind::LeaveMaster
        | ActionKind::Demote
        | ActionKind::Fsync
        | ActionKind::FinishShutdown
        | ActionKind::FinishHandOver
        | ActionKind::GiveUpHandOver
        | ActionKind::Heal
        | ActionKind::Recount
        | ActionKind::NoticeDeath
        | ActionKind::AcceptWrites
        | ActionKind::MoveKeys
        | ActionKind::FinishMove
        | ActionKind::ResumeNode
        | ActionKind::CountReplicas
        | ActionKind::Tick => true,
    }
}

/// Executes actions that are claimed to lead into a state from which nobody can get the lock any more without a fault, and
/// searches anew from there. False: there are more states behind it than the judge stores, or the model has no room for one
/// of the actions, so it does not confirm the claim.
///
/// # Errors
/// [`Rejection`], if the actions are not what they are claimed to be.
pub fn judge_dead_end(
    config: &Config,
    witness: &Witness<'_>,
    must_stop: &dyn Fn(u64) -> bool,
) -> Result<bool, Rejection> {
    in_largest_layout(config, DeadEndBench { witness, must_stop })
}

struct DeadEndBench<'a> {
    witness: &'a Witness<'a>,
    must_stop: &'a dyn Fn(u64) -> bool,
}

impl InLayout for DeadEndBench<'_> {
    type Output = Result<bool, Rejection>;

    fn run<Y: Layout>(self, config: &Config) -> Self::Output {
        let property = self.witness.property;
        let worlds = worlds::<Y>(config, property, self.witness.actions)?;
        let Some(end) = worlds.last().filter(|world| property.is_wanted(world)) else {
            return Err(Rejection::NotBroken { property });
        };
        let free: Vec<_> = Action::all(config).into_iter().filter(|action| action.kind().fault().is_none()).collect();
        let believers = |world: &World<Y>| world.believers().map(|(holder, ..)| holder).collect::<Vec<_>>();
        let mut layer = vec![*end];
        let mut met: HashSet<_> = layer.iter().copied().collect();
        for steps in 1.. {
            let mut next = Vec::new();
            for (number, world) in layer.iter().enumerate() {
                let is_full = met.len() + free.len() > met.capacity();
                let growth = if is_full { 2 * met.capacity() * size_of::<World<Y>>() } else { 0 };
                if met.len() > MOST_STATES || ((is_full || number % 1024 == 0) && (self.must_stop)(growth as u64)) {
                    return Ok(false);
                }
                let before = believers(world);
                for &action in &free {
                    // Who asks whether it holds has asked for no lock.
                    let may_grant = !matches!(action, Action::AskIfHeld { .. });
                    match attempt(config, world, action) {
                        Ok(step)
                            if may_grant && believers(&step.world).iter().any(|holder| !before.contains(holder)) =>
                        {
                            return Err(Rejection::StillPossible { property, steps });
                        }
                        Ok(step) => next.extend(Some(step.world).filter(|world| met.insert(*world))),
                        Err(touched) if touched.any() => return Ok(false),
                        Err(_) => {}
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            layer = next;
        }
        Ok(true)
    }
}

struct Bench<'a> {
    witnesses: &'a [Witness<'a>],
    most_states: usize,
    must_stop: &'a dyn Fn(u64) -> bool,
}

impl InLayout for Bench<'_> {
    type Output = Result<Judgement, Rejection>;

    fn run<Y: Layout>(self, config: &Config) -> Self::Output {
        for witness in self.witnesses {
            execute::<Y>(config, witness)?;
        }
        seek_shorter::<Y>(config, &self)
    }
}

fn execute<Y: Layout>(config: &Config, witness: &Witness<'_>) -> Result<(), Rejection> {
    let property = witness.property;
    let worlds = worlds::<Y>(config, property, witness.actions)?;
    let is_broken = worlds.last().is_some_and(|world| !property.holds(world));
    if is_broken { Ok(()) } else { Err(Rejection::NotBroken { property }) }
}

/// The first state, and the state after each action.
fn worlds<Y: Layout>(config: &Config, property: Property, actions: &[Action]) -> Result<Vec<World<Y>>, Rejection> {
    let mut world = World::initial(config);
    let mut worlds = vec![world];
    for (number, &action) in (1..).zip(actions) {
        let next = step(config, &world, action).ok_or(Rejection::NotEnabled { property, step: number, action })?;
        world = next.world;
        worlds.push(world);
    }
    Ok(worlds)
}

/// Visits every state within fewer steps than the longest witness has, to confirm that none of them already breaks a
/// property.
fn seek_shorter<Y: Layout>(config: &Config, bench: &Bench<'_>) -> Result<Judgement, Rejection> {
    let Bench { witnesses, most_states, must_stop } = *bench;
    let actions = Action::all(config);
    let longest = witnesses.iter().map(|witness| witness.actions.len()).max().unwrap_or(0);
    let mut layer = vec![World::<Y>::initial(config)];
    let mut met: HashSet<_> = layer.iter().copied().collect();
    let mut is_shortest = true;
    for steps in 0..longest {
        for witness in witnesses.iter().filter(|witness| witness.actions.len() > steps) {
            if layer.iter().any(|world| !witness.property.holds(world)) {
                let property = witness.property;
                return Err(Rejection::NotShortest { property, claimed: witness.actions.len(), found: steps });
            }
        }
        let mut next = Vec::new();
        for (number, world) in layer.iter().enumerate() {
            // A set that is full grows to twice its size at once, and for a moment exists three times.
            let is_full = met.len() + actions.len() > met.capacity();
            let growth = if is_full { 2 * met.capacity() * size_of::<World<Y>>() } else { 0 };
            if met.len() > most_states || ((is_full || number % 1024 == 0) && must_stop(growth as u64)) {
                return Ok(Judgement { is_shortest: false });
            }
            for &action in &actions {
                let (world, touched) = match attempt(config, world, action) {
                    Ok(step) => (Some(step.world), step.touched),
                    Err(touched) => (None, touched),
                };
                // Behind a step that the model has no room for there may be a shorter one.
                is_shortest &= !touched.any();
                next.extend(world.filter(|world| met.insert(*world)));
            }
        }
        layer = next;
    }
    Ok(Judgement { is_shortest })
}
