//! Which outcomes the rules have: what each action can be answered, what else can happen, and which switch that shows.
//!
//! An outcome that no run reaches is a rule that nobody has seen at work. So each that can be observed has a name here, with
//! the scenarios in which it is possible at all; engines count them ([`ReplyKind`](crate::reply::ReplyKind),
//! [`Happening`](crate::notes::Happening)), and a test compares the counts with these tables in both directions. A table may
//! allow too much for a single scenario (the search finds out what else it takes), never too little.

mod answers;
mod conditions;
mod happenings;
mod switch_values;

pub use switch_values::{SWITCH_VALUES, SwitchValue};
