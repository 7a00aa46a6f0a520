//! What must always be so, or come true in the end: one file per property, with its sentence, its source, its predicate and
//! a mutant that breaks it; one table collects them.
//!
//! A property that was never put to the test is vacuous: each names the happening that puts it to the test
//! ([`Property::antecedent`]).

mod actions_reached;
mod all_or_none;
pub mod claim;
mod counts_agree;
mod dead_head_passed;
mod effects_in_order;
mod first_come_first_served;
mod freed_after_crash;
mod grant_acknowledged;
mod grant_survives;
mod interrupt_reported;
mod no_dead_head;
mod no_orphan;
mod no_sleeping_waiter;
mod obtainable;
mod one_believer;
mod one_server_holder;
mod only_holder_releases;
mod readers_share;
mod refusal_true;
mod renewal_rate_bounded;
mod renewed_while_held;
pub mod table;
mod tokens_increase;
mod valid_at_grant;
pub mod verdict;
mod wait_limit_kept;
mod waiter_served;
mod writer_served;

pub use claim::{Claim, PropertyKind};
pub use table::Property;
pub use verdict::Verdict;
