//! Puts into the binary what is data in the tree.

#[path = "build/scenarios.rs"]
mod scenarios;

fn main() {
    scenarios::embed();
}
