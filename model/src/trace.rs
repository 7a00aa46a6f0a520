//! A trace: steps with states, seen from inside. The only thing other tools read.
//!
//! It holds the whole configuration, so that anybody can run it again ([`Trace::record`]) and find the same states
//! ([`Trace::retrace`]). No machine paths and no wall-clock times: two runs compare byte for byte.

mod in_flight;
mod state;

use serde::{Deserialize, Serialize};

use crate::action::{Action, Party};
use crate::config::Config;
use crate::locks::Record;
use crate::properties::{Property, Verdict};
use crate::step::{Happening, Happenings, Reply, step};
use crate::world::{Holder, World};
use crate::{Classified, in_class};

pub use in_flight::{RequestState, StoredReceipt};
pub use state::{ClientState, Disk, NodeState, State, StoredLock, ThreadState};

/// The version of this format. Raised when a reader of the older one would misread the newer.
pub const SCHEMA: u32 = 1;

/// A run of one scenario, from its first state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The scenario's name.
    pub scenario: String,
    /// What it shows.
    pub story: String,
    /// The world it runs in.
    pub config: Config,
    /// What it is a trace of.
    pub about: About,
    /// Where everything starts.
    pub initial: State,
    /// What happened, in order.
    pub steps: Vec<TraceStep>,
    /// Who believed and who was stored, from which step to which.
    pub claims: Claims,
    /// Of a lasso: the number of steps before the loop. All of them: nothing happens any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_start: Option<usize>,
    /// Of a lasso: why nobody can object that something else would have happened in the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<Vec<FairAction>>,
    /// The command that finds it again.
    pub reproduce: String,
}

/// What a trace is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum About {
    /// It breaks a property: in its last state, or, of a lasso, by going round for ever.
    Counterexample {
        /// Which.
        property: Property,
        /// Always violated; written for the reader.
        verdict: Verdict,
        /// Who found it.
        engine: String,
        /// No shorter one exists within the scenario.
        shortest: bool,
    },
    /// It takes every kind of action that it can.
    Covering,
    /// It was drawn at random.
    Drawn,
}

/// An action that must happen where nothing prevents it, and what becomes of it in the loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FairAction {
    /// Who would act.
    pub lane: String,
    /// What it would do.
    pub action: Action,
    /// Why the loop is fair to it.
    pub in_loop: InLoop,
}

/// Why a loop is fair to an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum InLoop {
    /// It is taken in every turn, at this step.
    TakenAt(usize),
    /// In every turn there is a state, the one after this step, in which it cannot happen.
    DisabledAfter(usize),
    /// It can happen in no state of the loop: the only excuse of what is strongly fair.
    NeverPossible,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceStep {
    /// 1 for the first.
    pub number: usize,
    /// Ticks since the start, before this step.
    pub at_tick: u32,
    /// Who acts: a client (`A`, or `A:1` where clients have two threads), a node (`n1`), or `time`.
    pub lane: String,
    /// What it does.
    pub action: Action,
    /// What it observes.
    pub answer: Reply,
    /// What else happened.
    pub happenings: Vec<Happening>,
    /// The world after it.
    pub state: State,
}

/// Who believed and who was stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// Per client thread, when it believed it held.
    pub believed: Vec<Claim>,
    /// Per node, which holder it stored when.
    pub stored: Vec<Claim>,
}

/// An interval of steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The client thread, or the node.
    pub by: String,
    /// Who holds, as it says.
    pub holder: String,
    /// The first step after which it is so.
    pub from_step: usize,
    /// The step that ended it; `None`: it lasts to the end.
    pub to_step: Option<usize>,
}

/// Why a list of actions is no trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Untrue {
    /// That step cannot happen where it stands.
    NotEnabled {
        /// 1 for the first.
        step: usize,
        /// What should have happened.
        action: Action,
    },
    /// The file says something else of that step than the model does. 0: of the first state.
    Differs {
        /// 1 for the first.
        step: usize,
    },
    /// What is said to be a loop does not end where it starts.
    DoesNotClose,
    /// The loop is not fair: this action could happen in each of its states, or, if it is strongly fair, in one, and never
    /// does.
    Unfair {
        /// What should have happened.
        action: Action,
    },
}

/// `A` for client 0.
pub fn client_name(client: u8) -> char {
    char::from(b'A' + client)
}

/// `n1` for node 0.
pub fn node_name(node: u8) -> String {
    format!("n{}", node + 1)
}

/// `A`, or `A:1` where clients have two threads.
pub fn holder_name(config: &Config, holder: Holder) -> String {
    let client = client_name(holder.client());
    if config.clients.threads > 1 { format!("{client}:{}", holder.thread() + 1) } else { client.to_string() }
}

/// The lane of whoever acts.
pub fn lane(config: &Config, party: Party) -> String {
    match party {
        Party::Thread(holder) => holder_name(config, holder),
        Party::Client(client) => client_name(client).to_string(),
        Party::Node(node) => node_name(node),
        Party::World => "time".to_owned(),
    }
}

impl Trace {
    /// Runs the actions from the first state and writes down what happens.
    ///
    /// # Errors
    /// [`Untrue::NotEnabled`] at the first action that cannot happen where it stands.
    pub fn record(
        scenario: &str,
        story: &str,
        config: &Config,
        about: About,
        actions: &[Action],
        reproduce: &str,
    ) -> Result<Self, Untrue> {
        Self::recorded(scenario, story, config, about, actions, None, reproduce)
    }

    /// The same of a lasso: the actions of the stem and of one turn of the loop, which starts after so many of them.
    ///
    /// # Errors
    /// [`Untrue`] as well if the loop does not close or is not fair.
    pub fn record_lasso(
        scenario: &str,
        story: &str,
        config: &Config,
        about: About,
        (actions, loop_start): (&[Action], usize),
        reproduce: &str,
    ) -> Result<Self, Untrue> {
        Self::recorded(scenario, story, config, about, actions, Some(loop_start), reproduce)
    }

    fn recorded(
        scenario: &str,
        story: &str,
        config: &Config,
        about: About,
        actions: &[Action],
        loop_start: Option<usize>,
        reproduce: &str,
    ) -> Result<Self, Untrue> {
        let Recorded { initial, steps, fairness } = in_class(config, Recorder { actions, loop_start })?;
        let claims = Claims::of(&steps);
        Ok(Self {
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

    /// What happened, without what came of it.
    pub fn actions(&self) -> Vec<Action> {
        self.steps.iter().map(|step| step.action).collect()
    }

    /// Runs the trace's actions again and compares every reply and state with what the trace says.
    ///
    /// # Errors
    /// [`Untrue`], with the first step that is not so.
    pub fn retrace(&self) -> Result<(), Untrue> {
        let actions = self.actions();
        let recorder = Recorder { actions: &actions, loop_start: self.loop_start };
        let Recorded { initial, steps, fairness } = in_class(&self.config, recorder)?;
        if initial != self.initial {
            return Err(Untrue::Differs { step: 0 });
        }
        match steps.iter().zip(&self.steps).position(|(mine, theirs)| mine != theirs) {
            Some(index) => Err(Untrue::Differs { step: index + 1 }),
            None if Claims::of(&steps) != self.claims || fairness != self.fairness => {
                Err(Untrue::Differs { step: steps.len() })
            }
            None => Ok(()),
        }
    }

    /// The state after so many steps.
    pub fn state_after(&self, steps: usize) -> &State {
        steps.checked_sub(1).and_then(|last| self.steps.get(last)).map_or(&self.initial, |step| &step.state)
    }
}

struct Recorder<'a> {
    actions: &'a [Action],
    loop_start: Option<usize>,
}

struct Recorded {
    initial: State,
    steps: Vec<TraceStep>,
    fairness: Option<Vec<FairAction>>,
}

impl Classified for Recorder<'_> {
    type Output = Result<Recorded, Untrue>;

    fn run<R: Record, const C: usize, const N: usize>(self, config: &Config) -> Self::Output {
        let mut world = World::<R, C, N>::initial(config);
        let initial = State::of(config, &world);
        let mut worlds = vec![world];
        let mut at_tick = 0;
        let mut steps = Vec::with_capacity(self.actions.len());
        for (index, &action) in self.actions.iter().enumerate() {
            let number = index + 1;
            let next = step(config, &world, action).ok_or(Untrue::NotEnabled { step: number, action })?;
            world = next.world;
            worlds.push(world);
            steps.push(TraceStep {
                number,
                at_tick,
                lane: lane(config, action.party()),
                action,
                answer: next.reply,
                happenings: Happenings::iter(next.happenings).collect(),
                state: State::of(config, &world),
            });
            at_tick += u32::from(action == Action::Tick);
        }
        let fairness = self.loop_start.map(|start| fairness(config, &worlds, self.actions, start)).transpose()?;
        Ok(Recorded { initial, steps, fairness })
    }
}

/// What becomes of every fair action in the loop that starts after so many steps and ends with the last.
fn fairness<R: Record, const C: usize, const N: usize>(
    config: &Config,
    worlds: &[World<R, C, N>],
    actions: &[Action],
    start: usize,
) -> Result<Vec<FairAction>, Untrue> {
    if worlds.get(start) != worlds.last() {
        return Err(Untrue::DoesNotClose);
    }
    let fair = Action::all(config).into_iter().filter(|action| action.kind().is_fair(config));
    fair.map(|action| {
        let taken = (start..actions.len()).find(|&at| actions[at] == action).map(|at| InLoop::TakenAt(at + 1));
        // That a moment comes in which time cannot pass is no reason for it to stand still: unless nothing happens at all.
        let may_be_disabled = action != Action::Tick || start == actions.len();
        let is_disabled = |&after: &usize| may_be_disabled && step(config, &worlds[after], action).is_none();
        let disabled = || -> Option<InLoop> {
            if action.kind().is_strongly_fair(config) {
                return (start..worlds.len()).all(|after| is_disabled(&after)).then_some(InLoop::NeverPossible);
            }
            (start..worlds.len()).find(is_disabled).map(InLoop::DisabledAfter)
        };
        let in_loop = taken.or_else(disabled).ok_or(Untrue::Unfair { action })?;
        Ok(FairAction { lane: lane(config, action.party()), action, in_loop })
    })
    .collect()
}

impl Claims {
    fn of(steps: &[TraceStep]) -> Self {
        let mut claims = Self::default();
        for step in steps {
            let believed = step.state.believers().map(|thread| (thread.name.clone(), thread.name.clone()));
            extend(&mut claims.believed, step.number, believed.collect());
            let stored = step
                .state
                .nodes
                .iter()
                .filter_map(|node| Some((node.name.clone(), node.lock.as_ref()?.holder.clone())));
            extend(&mut claims.stored, step.number, stored.collect());
        }
        claims
    }
}

/// Ends the open claims that are not true any more, and opens those that are new.
fn extend(claims: &mut Vec<Claim>, step: usize, now: Vec<(String, String)>) {
    for claim in claims.iter_mut().filter(|claim| claim.to_step.is_none()) {
        if !now.iter().any(|(by, holder)| *by == claim.by && *holder == claim.holder) {
            claim.to_step = Some(step);
        }
    }
    for (by, holder) in now {
        let is_open = |claim: &Claim| claim.to_step.is_none() && claim.by == by && claim.holder == holder;
        if !claims.iter().any(is_open) {
            claims.push(Claim { by, holder, from_step: step, to_step: None });
        }
    }
}
