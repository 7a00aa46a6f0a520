//! What a run came to see, and what it never did.
//!
//! In the hot path a step costs one count, of its kind and its answer, and a state a word of bits. Everything else is
//! made of these when the run is over.

use lockstep_model::Happening;
use lockstep_model::outcomes::{SWITCH_VALUES, SwitchValue};
use lockstep_model::{ActionKind, Config, Happenings, Reply, ReplyKind};

use super::Coverage;

/// Kinds of action, a bit each: what can happen in one state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kinds(u64);

impl Kinds {
    /// Puts one in.
    pub(crate) const fn insert(&mut self, kind: ActionKind) {
        const { assert!(ActionKind::ALL.len() <= u64::BITS as usize, "a bit each") };
        self.0 |= 1 << kind as u8;
    }
}

impl Coverage {
    /// How often an action of this kind was taken.
    pub fn taken(&self, kind: ActionKind) -> u64 {
        self.answers[kind as usize].iter().sum()
    }

    /// How often an action of this kind was answered so.
    pub const fn answered(&self, kind: ActionKind, reply: ReplyKind) -> u64 {
        self.answers[kind as usize][reply as usize]
    }

    /// Whether a request for the lock was refused because too few replicas heard of it.
    pub fn fails_for_want_of_replicas(&self) -> bool {
        let asks = [ActionKind::Acquire, ActionKind::SecondAsk, ActionKind::WakeByMessage, ActionKind::WakeByTimer];
        let is_refused = |kind: ActionKind| self.answered(kind, ReplyKind::NotEnoughReplicas) > 0;
        // Where request and answer are steps of their own, nobody is told before.
        let is_told = |reply: ReplyKind| self.answered(ActionKind::Answer, reply) > 0;
        asks.into_iter().any(is_refused)
            || is_told(ReplyKind::NotEnoughReplicas)
            || self.answered(ActionKind::Confirm, ReplyKind::TooFewReplicas) > 0
    }

    /// How often anything was taken.
    pub(super) fn steps(&self) -> u64 {
        self.answers.iter().flatten().sum()
    }

    /// Notes a tick in a state that is passed through: there nothing else can happen.
    pub(super) fn note_tick_in_passing(&mut self, happenings: Happenings) {
        self.enabled[ActionKind::Tick as usize] += 1;
        self.note(ActionKind::Tick, Reply::Done, happenings);
    }

    /// Notes what can happen in a state.
    pub(super) fn note_enabled(&mut self, mut kinds: Kinds) {
        while kinds.0 != 0 {
            self.enabled[kinds.0.trailing_zeros() as usize] += 1;
            kinds.0 &= kinds.0 - 1;
        }
    }

    /// The answers that some scenario like this one gives, and the run never saw.
    pub fn answers_never_given(&self, config: &Config) -> impl Iterator<Item = (ActionKind, ReplyKind)> {
        let pairs = ActionKind::ALL.into_iter().flat_map(|kind| ReplyKind::ALL.map(|reply| (kind, reply)));
        pairs.filter(|&(kind, reply)| kind.can_be_answered(reply, config) && self.answered(kind, reply) == 0)
    }

    /// What happens in some scenario like this one, and never did in the run.
    pub fn never_happened(&self, config: &Config) -> impl Iterator<Item = Happening> {
        Happening::ALL.into_iter().filter(|happening| happening.is_possible(config) && !self.happenings.has(*happening))
    }

    /// Ways that the scenario's switches stand, and that the run never came to.
    pub fn ways_never_gone(&self, config: &Config) -> impl Iterator<Item = &'static SwitchValue> {
        SWITCH_VALUES.iter().filter(|way| way.is_possible(config) && !self.has_gone(way))
    }

    /// Whether the run, of a scenario whose switch stands so, came to where it matters.
    pub fn has_gone(&self, way: &SwitchValue) -> bool {
        let (kind, reply) = way.shown_by;
        self.answered(kind, reply) > 0
    }
}
