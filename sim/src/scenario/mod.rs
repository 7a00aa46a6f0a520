//! A scenario: a small world with a story and a declared verdict per property. TOML in, explained errors out.
//!
//! [`Scenario::parse`] reads a text: `syntax` makes it TOML, `section` reads it key by key, `reader` makes it a world
//! and its claims, `impossible` and `calls` refuse keys that contradict each other. Everything that is wrong is a
//! [`Problem`] with a stable [`Code`]; a [`ScenarioError`] shows where. [`builtin()`] are the scenarios that the binary
//! carries, and [`resolve()`] finds the scenarios that a command line names.

mod builtin;
mod calls;
mod code;
mod definition;
mod error;
mod file;
mod impossible;
mod keys;
mod pair;
mod parts;
mod reader;
mod resolve;
mod section;
mod syntax;
#[cfg(test)]
mod tests;

pub use builtin::{BuiltIn, builtin, builtin_files};
pub use code::{Code, explain};
pub use definition::Scenario;
pub use error::{MAX_PROBLEMS, Problem, ScenarioError};
pub use file::{MAX_BYTES, MAX_NAME};
pub use keys::{KEYS, Key, TABLES};
pub use reader::{MAX_STORY, MAX_TICK_MS};
pub use resolve::{located, resolve};
