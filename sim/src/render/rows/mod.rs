//! What is shown of a trace, line by line.
//!
//! A request is two rows (it is sent, it is answered), everything else is one, and time that passes without an event is
//! one row however long it is. Where the network is split, sending and answering are steps of their own, with what
//! happens in between ([`split`]).

mod calls;
mod lane;
mod master_locks;
mod masters;
mod narrator;
mod nodes;
mod row;
mod split;
mod steps;

pub use lane::Lane;
pub use row::{Arrow, Row};
pub use steps::{last_sentences, rows};
