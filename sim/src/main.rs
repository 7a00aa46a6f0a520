//! The `lockstep` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    lockstep_sim::cli::run().into()
}
