//! `lockstep replay`: runs a history on real servers step by step, and compares.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use lockstep_model::trace::Trace;
use lockstep_model::{Config, Property};
use lockstep_redis::Scripts;
use serde_json::Value;

use super::agreeing;
use super::common::{Ended, Format, Output};
use super::input::{self, Chosen, Input, typed};
use super::interrupt;
use super::progress::{ProgressUnit, watched};
use super::screen::Screen;
use super::servers::{server, server_failed};
use super::show::{self, checked, covering, undecided};
use super::target::TargetArgs;
use super::within::Within;
use crate::exit::Exit;
use crate::fuzz::FuzzOptions;
use crate::render::replayed;
use crate::render::text::{self, Declared};
use crate::render::words;
use crate::replay::sentinel::refuse_trace;
use crate::replay::{Difference, Played, Player, ReplayError, ServerProgram, suited};
use crate::scenario::Scenario;

#[derive(clap::Args)]
pub(super) struct ReplayArgs {
    /// A trace file (.json), or a scenario: its counterexamples and a covering history
    #[arg(value_name = "TRACE|NAME|FILE")]
    what: String,
    /// The redis-server or valkey-server to use
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,
    #[command(flatten)]
    target: TargetArgs,
    /// Let three real sentinels decide on every failover, in real time; `replica-priority 0` of all others makes them
    /// choose the replica of the history
    #[arg(long)]
    sentinel: bool,
    /// For a scenario: replay the counterexample of this property, and nothing else
    #[arg(long, value_name = "PROPERTY", value_parser = show::property(), hide_possible_values = true)]
    property: Option<Property>,
    #[command(flatten)]
    within: Within,
    #[command(flatten)]
    output: Output,
}

/// Random histories of each other protocol with which a version of Redisson is compared that differs.
const HISTORIES_OF_OTHERS: u32 = 12;

/// A history to replay.
struct History {
    trace: Trace,
    declared: Declared,
    /// The argument that replays it again.
    argument: String,
    /// The scenario that it is a history of; `None`: it is from a trace file.
    of: Option<Rc<Chosen>>,
}

impl History {
    const fn is_from_trace(&self) -> bool {
        self.of.is_none()
    }
}

/// What is still to be replayed.
enum PendingReplay {
    History(Box<History>),
    /// The histories that take every kind of action: to find them takes long in a large world, so they come last.
    Covering(Rc<Chosen>),
}

pub(super) fn run(args: &ReplayArgs, screen: &Screen) -> Ended<Exit> {
    args.target.refuse_impossible(args.sentinel, screen)?;
    let what = input::trace_or_scenarios(&args.what, screen)?;
    let server = server(args.server.as_deref(), screen)?;
    let (mut waiting, mut exit, mut left_out) = waiting(what, args, &server, screen)?;
    if args.sentinel {
        // Whether there is one for Sentinel must be known before the first is replayed.
        let mut all = Vec::new();
        for one in waiting.drain(..) {
            match one {
                PendingReplay::History(history) => all.push(*history),
                PendingReplay::Covering(one) => all.extend(covering_histories(&one, args, &mut exit, screen)?),
            }
        }
        let number = all.len();
        let suited = suited_for_sentinel(all, screen)?;
        left_out = number - suited.len();
        waiting = suited.into_iter().map(|history| PendingReplay::History(Box::new(history))).collect();
    }
    let mut results = Vec::new();
    let done = AtomicU64::new(0);
    // Histories of the same world share its servers.
    let mut running: Option<(Config, Player)> = None;
    // The scenarios in which Redisson does something else, with its name, and in which history.
    let mut differing: Vec<(Rc<Chosen>, String, Trace)> = Vec::new();
    // The last scenario that the target cannot follow, and why.
    let mut unsuited: Option<(String, ReplayError)> = None;
    while !interrupt::is_asked()
        && let Some(next) = waiting.pop_front()
    {
        let history = match next {
            PendingReplay::History(history) => history,
            PendingReplay::Covering(one) => {
                let found = covering_histories(&one, args, &mut exit, screen)?;
                if interrupt::is_asked() {
                    waiting.push_front(PendingReplay::Covering(one));
                } else {
                    let found = found.into_iter().map(|history| PendingReplay::History(Box::new(history)));
                    found.rev().for_each(|history| waiting.push_front(history));
                }
                continue;
            }
        };
        let trace = &history.trace;
        let run = || -> Result<Played, ReplayError> {
            let (_, player) = match running.take().filter(|(config, _)| *config == trace.config) {
                Some(same) => running.insert(same),
                None => running.insert((trace.config, player(&server, trace, args, screen)?)),
            };
            Ok(beside_scripts(player.replay(trace, true)?, &server, trace))
        };
        let replay = match watched(screen, &trace.scenario, ProgressUnit::HISTORIES, &done, run) {
            Ok(replay) => replay,
            // A system call that a signal interrupts is not a failure of the server.
            Err(_) if interrupt::is_asked() => {
                waiting.push_front(PendingReplay::History(history));
                break;
            }
            // Those of another scenario may be for it.
            Err(error @ ReplayError::NotForRedisson { .. }) => {
                left_out += 1;
                if unsuited.as_ref().is_none_or(|(scenario, _)| *scenario != trace.scenario) {
                    report_unsuited(&trace.scenario, &error, screen);
                }
                unsuited = Some((trace.scenario.clone(), error));
                continue;
            }
            Err(error) => {
                if let Some((_, player)) = running.as_ref().filter(|_| args.output.format == Format::Human) {
                    let options = drawing(&history, None, args, screen);
                    screen.print(&replayed::page_of_failed(trace, player.answers(), &options))?;
                }
                return Err(server_failed(&error, screen));
            }
        };
        done.fetch_add(1, Ordering::Relaxed);
        if replay.difference.is_some() {
            exit = exit.worst(Exit::Diverged);
            let is_new = |one: &Rc<Chosen>| differing.iter().all(|(known, ..)| !Rc::ptr_eq(known, one));
            if let (true, Some(one)) = (args.target.is_redisson(), history.of.as_ref().filter(|one| is_new(one))) {
                differing.push((one.clone(), replay.clients.clone().unwrap_or_default(), trace.clone()));
            }
        }
        if args.output.format == Format::Human {
            let gap = if results.is_empty() { "" } else { "\n" };
            let page = replayed::page(trace, &replay, &drawing(&history, Some(&replay), args, screen));
            screen.print(&format!("{gap}{page}"))?;
        }
        results.push(replayed::json(trace, &replay));
    }
    if let (true, Some((_, error))) = (results.is_empty() && waiting.is_empty(), &unsuited) {
        return Err(server_failed(error, screen));
    }
    if args.output.format == Format::Human {
        print_agreeing(&differing, &server, args, screen)?;
    }
    print_results(&results, (waiting.len(), left_out), args, screen)?;
    let says_nothing = !results.is_empty() && results.iter().all(is_cut);
    Ok(exit.worst(if says_nothing { Exit::Inconclusive } else { Exit::AsDeclared }))
}

/// Where a client library differs, with what our scripts do there.
fn beside_scripts(played: Played, server: &ServerProgram, trace: &Trace) -> Played {
    let is_of_library = played.clients.is_some();
    let beside = |found: Difference| if is_of_library { found.beside_scripts(server, trace) } else { found };
    Played { difference: played.difference.map(beside), ..played }
}

/// For programs all that was found, and for people the sums, where there is more than one history. Of the others, `waiting` were not
/// begun, and `left_out` cannot be replayed.
fn print_results(
    results: &[Value],
    (waiting, left_out): (usize, usize),
    args: &ReplayArgs,
    screen: &Screen,
) -> Ended<()> {
    match (args.output.format, results.len() + waiting) {
        (Format::Json, 1) => screen.print_json(results.first().unwrap_or(&Value::Null)),
        (Format::Json, _) => screen.print_json(&replayed::together(results)),
        (Format::Human, 0 | 1) if waiting + left_out == 0 => Ok(()),
        (Format::Human, _) => screen.print(&format!("\n{}\n", tally(results, waiting, left_out, args.sentinel))),
    }
}

/// Whether a history agrees as far as it was followed, and that is not to its end.
fn is_cut(result: &Value) -> bool {
    result["agrees"] == true && result.get("left").is_some_and(|left| !left.is_null())
}

/// How many histories agree, and how many were not replayed. `waiting`: so many were not begun; `left_out`: so many cannot be
/// replayed.
fn tally(results: &[Value], waiting: usize, left_out: usize, has_sentinel: bool) -> String {
    let diverged = results.iter().filter(|result| result["agrees"] == false).count();
    let agree = results.len() - diverged;
    let why = match (waiting == 0, left_out) {
        (true, 0) => "",
        (true, _) if has_sentinel => ": Sentinel has no part in them",
        (true, _) => ": Redisson cannot follow them",
        (false, 0) => ": interrupted",
        (false, _) if has_sentinel => ": interrupted, or Sentinel has no part in them",
        (false, _) => ": interrupted, or Redisson cannot follow them",
    };
    let cut = results.iter().filter(|result| is_cut(result)).count();
    let followed = if cut == 0 { String::new() } else { format!(" ({cut} not followed to the end)") };
    format!("{agree} agree{followed}, {diverged} diverged, {} skipped{why}", waiting + left_out)
}

/// Says with which other protocol Redisson agrees, in each scenario in which it differs. With them: the name of its version.
fn print_agreeing(
    differing: &[(Rc<Chosen>, String, Trace)],
    server: &ServerProgram,
    args: &ReplayArgs,
    screen: &Screen,
) -> Ended<()> {
    let options = FuzzOptions { cases: HISTORIES_OF_OTHERS, seed: 1 };
    for (one, library, trace) in differing {
        let found = agreeing::protocols((one, trace), &args.target, (server, options), &args.within.memory, screen)?;
        let words = match found {
            Some(found) => Some(agreeing::words(&one.scenario.name, library, &found)),
            None if interrupt::is_asked() => Some(format!(
                "{}: interrupted: which switch of [protocol] differs was not found out\n",
                one.scenario.name
            )),
            None => None,
        };
        words.map_or(Ok(()), |words| screen.print(&format!("\n{words}")))?;
    }
    Ok(())
}

/// Says that Redisson cannot follow a scenario, among others that it can.
pub(super) fn report_unsuited(scenario: &str, error: &ReplayError, screen: &Screen) {
    if !screen.is_quiet {
        Screen::report(&format!("left out: {scenario}: {error}"));
    }
}

fn player(server: &ServerProgram, trace: &Trace, args: &ReplayArgs, screen: &Screen) -> Result<Player, ReplayError> {
    let config = &trace.config;
    args.target.warn_of_other_version(&trace.scenario, config, screen);
    if args.sentinel {
        Player::start_under_sentinel(server, config, Scripts::built_in())
    } else {
        Player::start(server, config, args.target.program(config)?)
    }
}

/// The scenario as this server makes it: before Redis 7.0 TTLs travel to replicas in another way. `done` says what happens
/// to its histories.
pub(super) fn in_the_world_of(server: &ServerProgram, one: &Chosen, screen: &Screen, done: &str) -> Scenario {
    let config = suited(&one.scenario.config, server);
    if config != one.scenario.config && one.scenario.config.cluster.replicas > 0 && !screen.is_quiet {
        let name = &one.scenario.name;
        Screen::report(&format!(
            "{name}: {server} sends TTLs to its replicas in another way; the histories are {done} accordingly"
        ));
    }
    Scenario { config, ..one.scenario.clone() }
}

/// What to replay, whether a limit kept other histories from being found, and how many scenarios the target cannot follow.
fn waiting(
    what: Input,
    args: &ReplayArgs,
    server: &ServerProgram,
    screen: &Screen,
) -> Ended<(VecDeque<PendingReplay>, Exit, usize)> {
    let chosen = match what {
        Input::Trace(trace) => {
            show::refuse_property_of_trace(args.property, &args.what, screen)?;
            let declared = input::declared(&trace);
            let history = History { declared, trace: *trace, argument: typed(&args.what), of: None };
            return Ok((VecDeque::from([PendingReplay::History(Box::new(history))]), Exit::AsDeclared, 0));
        }
        Input::Scenarios(chosen) => chosen,
    };
    let mut waiting = VecDeque::new();
    let (mut exit, mut left_out, is_only) = (Exit::AsDeclared, 0, chosen.len() == 1);
    for one in chosen {
        let one = Rc::new(Chosen { scenario: in_the_world_of(server, &one, screen, "replayed"), ..one });
        show::refuse_foreign_property(args.property, &one.scenario, screen)?;
        // Before the search, which may take long.
        if let Some(error) = args.target.refusal(&one.scenario.config) {
            if is_only {
                return Err(server_failed(&error, screen));
            }
            report_unsuited(&one.scenario.name, &error, screen);
            left_out += 1;
            continue;
        }
        let outcome = checked(&one, args.within, args.property, screen)?;
        if let Some(property) = args.property {
            let Some(found) = outcome.found(property) else {
                return Err(show::no_counterexample(&outcome, property, "replay", screen));
            };
            let (declared, trace) = (Declared::of(found), found.trace.clone());
            let history = |trace| History { trace, declared, argument: one.argument.clone(), of: Some(one.clone()) };
            waiting.extend(trace.map(|trace| PendingReplay::History(Box::new(history(trace)))));
            continue;
        }
        // Who interrupts the search wants no replay either.
        if let Some(why) = undecided(&outcome).filter(|_| !interrupt::is_asked()) {
            let name = &one.scenario.name;
            screen.warn(&format!("{name}: inconclusive ({why}): only what was found so far is replayed"));
            exit = exit.worst(Exit::Inconclusive);
        }
        for found in outcome.properties {
            let declared = Declared::of(&found);
            let history = |trace| History { trace, declared, argument: one.argument.clone(), of: Some(one.clone()) };
            waiting.extend(found.trace.map(|trace| PendingReplay::History(Box::new(history(trace)))));
        }
        waiting.push_back(PendingReplay::Covering(one));
        if interrupt::is_asked() {
            break;
        }
    }
    Ok((waiting, exit, left_out))
}

/// The histories of a scenario that together take every kind of action. Where a limit keeps one from being found, `exit`
/// and a warning say so.
fn covering_histories(one: &Rc<Chosen>, args: &ReplayArgs, exit: &mut Exit, screen: &Screen) -> Ended<Vec<History>> {
    let history =
        |trace| History { trace, declared: Declared::Unknown, argument: one.argument.clone(), of: Some(one.clone()) };
    let (histories, stopped) = covering(one, args.within, screen)?;
    if let Some(why) = stopped.filter(|_| !interrupt::is_asked()) {
        let name = &one.scenario.name;
        screen.warn(&format!("{name}: some actions are in no history ({why})"));
        *exit = exit.worst(Exit::Inconclusive);
    }
    Ok(histories.into_iter().map(history).collect())
}

/// How the history is drawn, with the command that comes next.
fn drawing(history: &History, replay: Option<&Played>, args: &ReplayArgs, screen: &Screen) -> text::TextOptions {
    let next = if replay.is_some_and(|replay| replay.difference.is_some()) {
        let limits = if history.is_from_trace() { String::new() } else { args.within.again() };
        let property = if history.is_from_trace() { String::new() } else { show::option_of(&history.trace) };
        format!("lockstep show {}{property} --format short{limits}", history.argument)
    } else {
        explained(history)
    };
    text::TextOptions {
        paint: screen.paint(),
        width: Screen::width(),
        declared: history.declared,
        next: Some(next),
        found: None,
    }
}

/// The command that explains the world of the history, if there is one: a trace names its scenario, but not where the file is.
fn explained(history: &History) -> String {
    let name = &history.trace.scenario;
    if crate::scenario::BuiltIn::named(name).is_some() {
        format!("lockstep explain {name}")
    } else if history.is_from_trace() {
        format!("lockstep show {}", history.argument)
    } else {
        format!("lockstep explain {}", history.argument)
    }
}

/// Leaves out the histories in which Sentinel has nothing to do, with a message. It is an error if none is left.
fn suited_for_sentinel(histories: Vec<History>, screen: &Screen) -> Ended<Vec<History>> {
    let (mut suited, mut left_out) = (Vec::new(), Vec::new());
    for history in histories {
        match refuse_trace(&history.trace) {
            Ok(()) => suited.push(history),
            Err(error) => left_out.push((history, error)),
        }
    }
    if let (true, Some((_, error))) = (suited.is_empty(), left_out.first()) {
        return Err(server_failed(error, screen));
    }
    for (History { trace, .. }, error) in left_out.iter().filter(|_| !screen.is_quiet) {
        Screen::report(&format!("left out: {}, {}: {error}", trace.scenario, words::about(&trace.about)));
    }
    Ok(suited)
}
