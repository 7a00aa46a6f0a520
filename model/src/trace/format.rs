//! What a trace file contains.

use serde::{Deserialize, Serialize};

use super::state::State;
use crate::action::Action;
use crate::config::sections::Config;
use crate::notes::Happening;
use crate::properties::table::Property;
use crate::properties::verdict::Verdict;
use crate::reply::Reply;

/// The version of this format. Raised when a reader of the older one would misread the newer.
pub const SCHEMA: u32 = 2;

/// A run of one scenario, from its first state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// The version of this format.
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
    pub schema: u32,
    /// The scenario's name.
    pub scenario: String,
    /// What the scenario shows, as its author says.
    pub story: String,
    /// The world it runs in.
    pub config: Config,
    /// What it shows.
    pub about: About,
    /// The state before the first step.
    pub initial: State,
    /// What happened, in order.
    pub steps: Vec<TraceStep>,
    /// Who believed and who was stored, from which step to which.
    pub claims: Claims,
    /// Of a lasso: the number of steps before the loop. If that is all of them, nothing happens any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_start: Option<usize>,
    /// Of a lasso: why the loop is fair, action by action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<Vec<FairAction>>,
    /// The command that finds it again.
    pub reproduce: String,
}

impl Trace {
    /// The actions, in order.
    pub fn actions(&self) -> Vec<Action> {
        self.steps.iter().map(|step| step.action).collect()
    }

    /// The state after so many steps.
    pub fn state_after(&self, steps: usize) -> &State {
        steps.checked_sub(1).and_then(|last| self.steps.get(last)).map_or(&self.initial, |step| &step.state)
    }
}

/// What a trace shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum About {
    /// It breaks a property: in its last state, or, if it is a lasso, by repeating its loop for ever.
    Counterexample {
        /// The property.
        property: Property,
        /// Always violated; written for the reader.
        #[cfg_attr(feature = "schema", schemars(extend("const" = "violated")))]
        verdict: Verdict,
        /// The search engine that found it. Nothing else in the trace shows that: in a file it is only what the file says.
        engine: String,
        /// Whether no shorter one exists within the scenario.
        shortest: bool,
    },
    /// It takes every kind of action that it can.
    Covering,
    /// It was drawn at random.
    Drawn,
}

/// An action that must happen unless something prevents it, and what becomes of it in the loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum InLoop {
    /// Every turn takes it, at this step.
    TakenAt(usize),
    /// Every turn has a state in which it cannot happen: the one after this step.
    DisabledAfter(usize),
    /// It can happen in no state of the loop: for a strongly fair action nothing less is enough.
    NeverPossible,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// What else happened in the step.
    pub happenings: Vec<Happening>,
    /// The world after it.
    pub state: State,
}

/// Who believed and who was stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// Per client thread, when it believed it held.
    pub believed: Vec<ClaimInterval>,
    /// Per node, which holder it stored when.
    pub stored: Vec<ClaimInterval>,
}

/// An interval of steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClaimInterval {
    /// The client thread, or the node.
    pub by: String,
    /// Who holds, as it says.
    pub holder: String,
    /// The first step after which it is so.
    pub from_step: usize,
    /// The step that ended it; `None`: it lasts to the end.
    pub to_step: Option<usize>,
}
