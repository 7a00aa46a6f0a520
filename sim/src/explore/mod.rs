//! A scenario in the browser: its verdicts, and a walk from state to state with a picture of the path.
//!
//! [`server`] answers the requests that [`request`] accepts, [`site`] makes the page and [`walk`] runs a path. Where a reader is stands in the
//! address as a list of choices, so the address of a counterexample is known in advance ([`address_of`]).

mod request;
mod server;
mod site;
mod walk;

pub use server::serve;
pub use site::Site;
pub use walk::address_of;
