//! The scenarios that are built in, by their names.

use lockstep_sim::scenario::{BuiltIn, Scenario};

/// The built-in scenario with that name.
///
/// # Panics
/// There is none.
pub fn scenario(name: &str) -> Scenario {
    BuiltIn::named(name).unwrap_or_else(|| panic!("no scenario {name}")).scenario()
}
