//! The network between clients and servers: the only room that distinguishes its two modes.
//!
//! In an atomic network request and answer are one step. In a split network a request is sent, executed and answered, each
//! a step, and things happen in between. Merging the modes would make atomic worlds larger and change their counts, so they
//! stay two, behind one question: [`Asked`].

mod asked;
mod calls;
mod due;
mod split;
mod sync_waits;

pub(super) use asked::Asked;
pub(super) use due::is_due;
