//! The names of nodes by their numbers among all nodes of a scenario.

use lockstep_model::trace::node_name;

/// `n1` for the first node.
pub fn name_of_node(index: usize) -> String {
    node_name(u8::try_from(index).unwrap_or(u8::MAX))
}
