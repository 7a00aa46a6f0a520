//! The arguments of the command line, and the command that they choose.

use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::{Parser, Subcommand};

use super::screen::{Color, Screen};
use super::{check, explain, explore, frontier, fuzz, interrupt, museum, replay, scenarios, show};
use crate::exit::Exit;

/// When can two clients hold a Redis lock at once, when can nobody get it, and is that what real Redis does?
#[derive(Parser)]
#[command(name = "lockstep", version, arg_required_else_help = true, after_help = exit_codes())]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
    /// Print only results and errors
    #[arg(long, short, global = true)]
    quiet: bool,
}

/// One line for each, short enough for any terminal.
fn exit_codes() -> String {
    let lines = Exit::ALL.map(|exit| format!("{:>5}  {}\n", exit.code(), exit.summary()));
    let width = "Pages are as wide as the terminal, or as COLUMNS says; without both, 100 columns.";
    format!("Exit codes:\n{}`lockstep explain exit-4` says more.\n{width}", lines.concat())
}

#[derive(Subcommand)]
enum Command {
    /// Check every state of scenarios (default: all built-in ones)
    Check(check::CheckArgs),
    /// Replay histories on real servers, step by step
    Replay(replay::ReplayArgs),
    /// Replay random histories on real servers
    Fuzz(fuzz::FuzzArgs),
    /// Draw a trace
    Show(show::ShowArgs),
    /// List the built-in scenarios with their stories and claims
    Scenarios(scenarios::ScenariosArgs),
    /// Explain a property, scenario, key, verdict, exhibit, exit code or error code
    Explain(explain::ExplainArgs),
    /// Walk through the states of a scenario in the browser
    Explore(explore::ExploreArgs),
    /// Reproduce defects of real Redisson, each beside a world in which it behaves
    Museum(museum::MuseumArgs),
    /// Find the smallest sets of faults that break a scenario, and the effect of repairs
    Frontier(frontier::FrontierArgs),
}

/// Runs the command line of this process.
pub fn run() -> Exit {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let is_printed = match error.print() {
                // A closed pipe is no failure: the reader has read enough.
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
        Command::Museum(args) => museum::run(args, &screen),
        Command::Frontier(args) => frontier::run(args, &screen),
    };
    // The panic hook has printed the message; a panic is a defect of ours and has its own exit code.
    let ended = catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Exit::Internal));
    let exit = ended.unwrap_or_else(|exit| exit);
    if interrupt::is_asked() { Exit::Interrupted } else { exit }
}
