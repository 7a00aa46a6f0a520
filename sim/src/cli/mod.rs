//! The `lockstep` command: one file per command, each with its arguments and its `run`.
//!
//! Results go to stdout, progress and messages to stderr ([`screen`]). An error ends a command as the [`Exit`] it leads
//! to, said already.

mod check;
mod explain;
mod explore;
mod frontier;
mod fuzz;
mod input;
mod interrupt;
mod progress;
mod replay;
mod scenarios;
mod screen;
mod show;
mod trace_file;
mod within;

use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::{Parser, Subcommand, ValueEnum};

use crate::exit::Exit;
use screen::{Color, Screen};

/// When can two clients hold a Redis lock at once, when can nobody get it, and is that what real Redis does?
#[derive(Parser)]
#[command(name = "lockstep", version, arg_required_else_help = true, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Whether to colour
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
    /// Say nothing but results and errors
    #[arg(long, short, global = true)]
    quiet: bool,
}

const EXIT_CODES: &str = "\
Exit codes: 0 all as declared, 1 some verdict not as declared, 2 usage or a bad file, 3 inconclusive,
4 diverged from real Redis, 5 environment, 70 internal, 130 interrupted. `lockstep explain exit-4` says more.";

#[derive(Subcommand)]
enum Command {
    /// Look at every state of scenarios (all built-in ones by default)
    Check(check::Args),
    /// Replay histories on real servers, step by step
    Replay(replay::Args),
    /// Replay random histories on real servers
    Fuzz(fuzz::Args),
    /// Draw a trace
    Show(show::Args),
    /// List the built-in scenarios, their stories and their claims
    Scenarios(scenarios::Args),
    /// Explain a property, a scenario, an exit code or an error code
    Explain(explain::Args),
    /// Walk through a scenario in the browser
    Explore(explore::Args),
    /// Find the smallest sets of faults that break a world, and what repairs do about them
    Frontier(frontier::Args),
}

/// For whom the result is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Human,
    /// For programs: one JSON object
    Json,
}

/// What every command but `show` takes.
#[derive(clap::Args)]
struct Output {
    /// For whom the result is
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// A command that has ended early, and has said why.
type Ended<T> = Result<T, Exit>;

/// Runs the command line of this process.
pub fn run() -> Exit {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let is_printed = match error.print() {
                // A closed pipe is no reason to fail: whoever asked has read enough.
                Err(failed) => failed.kind() == std::io::ErrorKind::BrokenPipe,
                Ok(()) => true,
            };
            return match (error.use_stderr(), is_printed) {
                (true, _) => Exit::Usage,
                (false, true) => Exit::AsDeclared,
                (false, false) => Exit::Environment,
            };
        }
    };
    let screen = Screen::new(cli.color, cli.quiet);
    interrupt::listen();
    let work = || match &cli.command {
        Command::Check(args) => check::run(args, &screen),
        Command::Replay(args) => replay::run(args, &screen),
        Command::Fuzz(args) => fuzz::run(args, &screen),
        Command::Show(args) => show::run(args, &screen),
        Command::Scenarios(args) => scenarios::run(args, &screen),
        Command::Explain(args) => explain::run(args, &screen),
        Command::Explore(args) => explore::run(args, &screen),
        Command::Frontier(args) => frontier::run(args, &screen),
    };
    // A panic has said its word by its hook; here it gets the exit code of a defect of ours.
    let ended = catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Exit::Internal));
    let exit = ended.unwrap_or_else(|exit| exit);
    if interrupt::is_asked() { Exit::Interrupted } else { exit }
}
