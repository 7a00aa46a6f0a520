//! Code shared by the tests.

pub mod command;
pub mod drawn;
pub mod page;
pub mod servers;
