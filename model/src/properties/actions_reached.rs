//! Everything that the scenario allows happens. About whole runs: the engines count what is taken.

use super::claim::{Claim, PropertyKind, always};
use crate::mutants::Mutant;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "actions-reached",
    kind: PropertyKind::Reachable,
    sentence: "every action that the scenario allows is taken on some path, every budget can be spent",
    source: "a verdict about things that never happen says nothing",
    antecedent: None,
    untested: "something that the scenario allows never happens",
    mutant: Mutant::MessagesNeverArrive,
    applies: always,
};
