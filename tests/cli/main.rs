//! The `lockstep` command and its pictures: pictures against golden files, the trace against its schema, and the real
//! binary against its contract (exit codes, output on stdout and stderr, invalid files).

mod claims;
mod commands;
mod drawing;
mod edges;
mod explore;
mod frontier;
mod interrupted;
mod memory;
mod museum;
mod out_folders;
mod outside;
mod redisson;
mod schema;
mod servers;
mod states;
mod trace_files;
mod traces;
mod verdicts;
mod widths;

use lockstep_tests::command;
