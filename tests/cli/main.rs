//! The `lockstep` command and what it draws: pictures against golden files, the trace against its schema, and the real
//! binary against its contract (exit codes, what goes to stdout and what to stderr, bad files).

mod commands;
mod drawing;
mod edges;
mod explore;
mod schema;
mod servers;
mod states;
mod trace_files;
mod traces;
mod verdicts;

use lockstep_tests::command;
