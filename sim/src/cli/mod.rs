//! The `lockstep` command: one file for each command, with its arguments and its `run`.
//!
//! Results go to stdout, progress and messages to stderr (`screen`). An error ends a command as the
//! [`Exit`](crate::exit::Exit) that it leads to; its message is printed where it occurs.

mod agreeing;
mod borrowed_name;
mod check;
mod command_line;
mod common;
mod concepts;
mod explain;
mod explore;
mod frontier;
mod fuzz;
mod glossary;
mod input;
mod interrupt;
mod kind_pages;
mod museum;
#[cfg(test)]
mod mutated;
mod out;
mod progress;
mod replay;
mod scenarios;
mod screen;
mod servers;
mod show;
mod target;
mod trace_file;
mod within;

pub use command_line::run;
