//! How a lock is lost: first of all, proof that the ground under a replay is solid.

mod nodes;
mod sentinel;
mod servers;
