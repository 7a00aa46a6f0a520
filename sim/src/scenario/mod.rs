//! A scenario: a small world with a story and a declared verdict per property. TOML in, explained errors out.
//!
//! [`Scenario::parse`] reads a text: `syntax` parses it as TOML, `section` reads it key by key, `reader` turns it into
//! a world and its claims, `impossible` and `calls` reject keys that contradict each other. Every error is a
//! [`Problem`] with a stable [`Code`]; a [`ScenarioError`] shows where it is. [`builtin()`] returns the scenarios that
//! the binary embeds, and [`resolve()`] finds the scenarios that a command line names.

mod builtin;
mod caller_clock;
mod calls;
mod clients;
mod clocks;
mod code;
mod contradiction;
mod definition;
mod error;
mod file;
mod held_query;
mod impossible;
mod keys;
mod lock_objects;
mod master_locks;
mod names;
mod no_replicas;
mod not_modelled;
mod parts;
mod places;
mod queues;
mod reader;
mod renewals;
mod resolve;
mod section;
mod several_masters;
mod several_parts;
mod sharing;
mod slot_move;
mod spelling;
mod spins;
mod syntax;
#[cfg(test)]
mod tests;
mod ticks;
mod tokens;
mod value_sets;
mod waits;

pub use builtin::{BuiltIn, builtin, builtin_files};
pub(crate) use calls::of_profile as calls_of_profile;
pub use code::Code;
pub use definition::{Others, Scenario, TimesWithUnits};
pub use error::{MAX_PROBLEMS, Problem, ScenarioError};
pub use file::{MAX_BYTES, MAX_NAME, is_name};
pub use keys::{CLIENT, KEYS, ScenarioKey, TABLES, header};
pub use not_modelled::COMBINATIONS;
pub use reader::MAX_STORY;
pub use resolve::{located, resolve};
pub(crate) use spelling::removed;
pub use ticks::MAX_TICK_MS;
pub(crate) use ticks::{awkward, common_divisor, ms_of, usual_slack};
