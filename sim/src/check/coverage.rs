//! What a run reached, and what it did not reach.
//!
//! In the hot path a step costs one counter update, by kind and reply, and a state one word of bits. Everything else is
//! computed from these when the run is over.

use lockstep_model::Happening;
use lockstep_model::config::{Fault, Faults};
use lockstep_model::notes::{Capacities, Capacity};
use lockstep_model::outcomes::{SWITCH_VALUES, SwitchValue};
use lockstep_model::{ActionKind, Config, Happenings, Reply, ReplyKind};

/// A set of action kinds, one bit each: what can happen in one state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds(u128);

impl Kinds {
    /// Adds a kind.
    pub(crate) const fn insert(&mut self, kind: ActionKind) {
        const { assert!(ActionKind::ALL.len() <= u128::BITS as usize, "a bit each") };
        self.0 |= 1 << kind as u8;
    }

    /// Whether the kind is in the set.
    const fn has(self, kind: ActionKind) -> bool {
        self.0 >> kind as u8 & 1 != 0
    }
}

/// What a run reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// How often an action of each kind got each reply, in the order of [`ActionKind::ALL`] and [`ReplyKind::ALL`].
    pub answers: Vec<[u64; ReplyKind::ALL.len()]>,
    /// In how many states an action of each kind can happen.
    pub enabled: [u64; ActionKind::ALL.len()],
    /// The kinds of actions that were possible in what normal forms leave out: done they change nothing that anybody sees.
    idle: Kinds,
    /// Everything that happened in any step.
    pub happenings: Happenings,
    /// For each fault, the smallest remaining budget in any state.
    pub least_left: Faults,
    /// For each capacity, in the order of [`Capacity::ALL`], the kind of the first action that would have exceeded it.
    pub touched: [Option<ActionKind>; Capacity::ALL.len()],
}

impl Coverage {
    /// Empty coverage.
    pub fn none(config: &Config) -> Self {
        Self {
            answers: vec![[0; _]; ActionKind::ALL.len()],
            enabled: [0; _],
            idle: Kinds::default(),
            happenings: Happenings::NONE,
            least_left: config.faults,
            touched: [None; _],
        }
    }

    /// Records a step: the only counter that is updated for each step.
    pub(super) fn note(&mut self, kind: ActionKind, reply: Reply, happenings: Happenings) {
        self.answers[kind as usize][reply.kind() as usize] += 1;
        self.happenings = self.happenings.and(happenings);
    }

    /// Records actions that were possible only in what a normal form leaves out.
    pub(super) const fn note_idle(&mut self, kinds: Kinds) {
        self.idle.0 |= kinds.0;
    }

    /// Records which capacities an action would have exceeded.
    #[inline]
    pub(super) fn note_touched(&mut self, kind: ActionKind, touched: Capacities) {
        if touched.any() {
            for capacity in touched.iter() {
                self.touched[capacity as usize].get_or_insert(kind);
            }
        }
    }

    /// The capacities that were exceeded, each with the kind of the first action that did.
    pub fn touched(&self) -> impl Iterator<Item = (Capacity, ActionKind)> {
        Capacity::ALL.into_iter().zip(self.touched).filter_map(|(capacity, kind)| Some((capacity, kind?)))
    }

    /// Adds the coverage of another thread or run.
    pub(super) fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.answers.as_flattened_mut().iter_mut().zip(other.answers.as_flattened()) {
            *mine += theirs;
        }
        for (mine, theirs) in self.enabled.iter_mut().zip(other.enabled) {
            *mine += theirs;
        }
        self.note_idle(other.idle);
        self.happenings = self.happenings.and(other.happenings);
        self.note_left(other.least_left);
        for (mine, theirs) in self.touched.iter_mut().zip(other.touched) {
            *mine = mine.or(theirs);
        }
    }

    /// Records the remaining budgets of a state.
    pub(super) fn note_left(&mut self, left: Faults) {
        self.least_left = self.least_left.least(left);
    }

    /// What the scenario allows but the run never did, in words.
    pub(super) fn unreached(&self, config: &Config) -> Vec<String> {
        let never = self
            .never_taken(config)
            .map(|kind| format!("the scenario allows {}, but it cannot happen in any state", kind.name()));
        let unspent = self
            .unspent()
            .filter(|(fault, _)| self.taken(ActionKind::of_fault(*fault)) > 0)
            .map(|(fault, left)| format!("of the budget for {} always {left} are left", fault.name()));
        never.chain(unspent).collect()
    }

    /// The kinds of actions that the scenario allows and that were never taken. Not those that decide a tie: they are always
    /// allowed.
    pub fn never_taken(&self, config: &Config) -> impl Iterator<Item = ActionKind> {
        let is_asked_for = |kind: &ActionKind| !kind.decides_tie() && kind.is_allowed(config);
        ActionKind::ALL.into_iter().filter(move |kind| is_asked_for(kind) && self.taken(*kind) == 0)
    }

    /// The budgets that are never used up, and how much of each always remains.
    pub fn unspent(&self) -> impl Iterator<Item = (Fault, u8)> {
        self.least_left.budgets().into_iter().filter(|(_, left)| *left > 0)
    }
}

impl Coverage {
    /// How often an action of this kind was taken; those that only what is left out allows count as one.
    pub fn taken(&self, kind: ActionKind) -> u64 {
        ReplyKind::ALL.into_iter().map(|reply| self.answered(kind, reply)).sum()
    }

    /// How often an action of this kind got this reply, counted as [`taken`](Self::taken) does.
    pub fn answered(&self, kind: ActionKind, reply: ReplyKind) -> u64 {
        let is_idle = self.idle.has(kind) && matches!(reply, ReplyKind::Done);
        self.answers[kind as usize][reply as usize] + u64::from(is_idle)
    }

    /// Whether a request for the lock was refused because too few replicas acknowledged it.
    pub fn fails_for_want_of_replicas(&self) -> bool {
        let asks = [
            ActionKind::Acquire,
            ActionKind::NextPart,
            ActionKind::SecondAsk,
            ActionKind::WakeByMessage,
            ActionKind::WakeByTimer,
        ];
        let is_refused = |kind: ActionKind| self.answered(kind, ReplyKind::NotEnoughReplicas) > 0;
        // Where request and reply are separate steps, the client learns the result only from the reply.
        let is_told = |reply: ReplyKind| self.answered(ActionKind::Answer, reply) > 0;
        asks.into_iter().any(is_refused)
            || is_told(ReplyKind::NotEnoughReplicas)
            || self.answered(ActionKind::Confirm, ReplyKind::TooFewReplicas) > 0
    }

    /// The total number of steps.
    pub(super) fn steps(&self) -> u64 {
        self.answers.iter().flatten().sum()
    }

    /// Records a tick in a state that is passed through: nothing else can happen there.
    pub(super) fn note_tick_in_passing(&mut self, happenings: Happenings) {
        self.enabled[ActionKind::Tick as usize] += 1;
        self.note(ActionKind::Tick, Reply::Done, happenings);
    }

    /// Records what can happen in a state.
    pub(super) fn note_enabled(&mut self, mut kinds: Kinds) {
        while kinds.0 != 0 {
            self.enabled[kinds.0.trailing_zeros() as usize] += 1;
            kinds.0 &= kinds.0 - 1;
        }
    }

    /// The replies that some similar scenario gives, but that the run never saw.
    pub fn answers_never_given(&self, config: &Config) -> impl Iterator<Item = (ActionKind, ReplyKind)> {
        let pairs = ActionKind::ALL.into_iter().flat_map(|kind| ReplyKind::ALL.map(|reply| (kind, reply)));
        pairs.filter(|&(kind, reply)| kind.can_be_answered(reply, config) && self.answered(kind, reply) == 0)
    }

    /// What happens in some similar scenario, but never happened in the run.
    pub fn never_happened(&self, config: &Config) -> impl Iterator<Item = Happening> {
        Happening::ALL.into_iter().filter(|happening| happening.is_possible(config) && !self.happenings.has(*happening))
    }

    /// Effects of the scenario's switch settings that the run never reached.
    pub fn ways_never_gone(&self, config: &Config) -> impl Iterator<Item = &'static SwitchValue> {
        SWITCH_VALUES.iter().filter(|way| way.is_possible(config) && !self.has_gone(way))
    }

    /// Whether the run, of a scenario with this switch setting, reached a point where the setting matters.
    pub fn has_gone(&self, way: &SwitchValue) -> bool {
        let (kind, reply) = way.shown_by;
        self.answered(kind, reply) > 0
    }
}
