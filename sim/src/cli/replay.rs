//! `lockstep replay`: does a history on real servers, step by step, and compares.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use lockstep_model::Config;
use lockstep_model::trace::Trace;
use lockstep_redis::Scripts;
use serde_json::{Value, json};

use super::input::{self, Chosen, Input, typed};
use super::progress::watched;
use super::screen::Screen;
use super::show::{checked, covering, undecided};
use super::within::Within;
use super::{Ended, Format, Output, interrupt};
use crate::exit::Exit;
use crate::render::text::{self, Declared};
use crate::render::words;
use crate::replay::{Difference, Error, Played, Player, Server, suited};
use crate::scenario::Scenario;

mod sentinel;

#[derive(clap::Args)]
pub(super) struct Args {
    /// A trace file (.json), or a scenario: its counterexamples and a covering history
    #[arg(value_name = "TRACE|NAME|FILE")]
    what: String,
    /// The redis-server or valkey-server to use
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,
    /// Let three real sentinels decide on every failover, in their own time; among several replicas they are told by
    /// `replica-priority` which one the history takes
    #[arg(long)]
    sentinel: bool,
    #[command(flatten)]
    within: Within,
    #[command(flatten)]
    output: Output,
}

/// A history to replay.
struct History {
    trace: Trace,
    declared: Declared,
    /// What to type to replay it again.
    argument: String,
    /// Whether that is a trace, and not a scenario.
    is_from_trace: bool,
}

pub(super) fn run(args: &Args, screen: &Screen) -> Ended<Exit> {
    let what = input::trace_or_scenarios(&args.what, screen)?;
    let server = server(args.server.as_deref(), screen)?;
    let (mut histories, mut exit) = histories(what, args, &server, screen)?;
    let mut left_out = 0;
    if args.sentinel {
        let all = histories.len();
        histories = sentinel::suited(histories, screen)?;
        left_out = all - histories.len();
    }
    let mut results = Vec::new();
    let done = AtomicU64::new(0);
    // Histories of one world share its servers.
    let mut running: Option<(Config, Player)> = None;
    for history in &histories {
        if interrupt::is_asked() {
            break;
        }
        let trace = &history.trace;
        let replay = || -> Result<Played, Error> {
            let (_, player) = match running.take().filter(|(config, _)| *config == trace.config) {
                Some(same) => running.insert(same),
                None => running.insert((trace.config, player(&server, &trace.config, args.sentinel)?)),
            };
            player.replay(trace, true)
        };
        let replayed = match watched(screen, &trace.scenario, "histories", &done, replay) {
            Ok(replayed) => replayed,
            // The system call that a signal interrupts is no server's fault.
            Err(_) if interrupt::is_asked() => break,
            Err(error) => return Err(server_failed(&error, screen)),
        };
        done.fetch_add(1, Ordering::Relaxed);
        if replayed.difference.is_some() {
            exit = exit.worst(Exit::Diverged);
        }
        match args.output.format {
            Format::Human => {
                let gap = if results.is_empty() { "" } else { "\n" };
                screen.print(&format!("{gap}{}", page(history, &replayed, screen)))?;
            }
            Format::Json => {}
        }
        results.push(json_of(history, &replayed));
    }
    match (args.output.format, histories.len()) {
        (Format::Json, 1) => screen.print_json(results.first().unwrap_or(&Value::Null))?,
        (Format::Json, _) => screen.print_json(&together(&results))?,
        (Format::Human, 0 | 1) if left_out == 0 => {}
        (Format::Human, all) => {
            let diverged = results.iter().filter(|result| result["agrees"] == false).count();
            let (agree, left) = (results.len() - diverged, all + left_out - results.len());
            screen.print(&format!("\n{agree} agree, {diverged} diverged, {left} skipped\n"))?;
        }
    }
    Ok(exit)
}

fn player(server: &Server, config: &Config, sentinel: bool) -> Result<Player, Error> {
    if sentinel {
        Player::start_under_sentinel(server, config, Scripts::built_in(), &interrupt::STOP)
    } else {
        Player::start(server, config, Scripts::built_in())
    }
}

/// The server to use.
pub(super) fn server(named: Option<&Path>, screen: &Screen) -> Ended<Server> {
    Server::find(named).map_err(|error| server_failed(&error, screen))
}

/// The scenario as this server makes it: before Redis 7.0 TTLs travel to replicas in another way. `done` is what is done
/// with its histories.
pub(super) fn in_the_world_of(server: &Server, one: &Chosen, screen: &Screen, done: &str) -> Scenario {
    let config = suited(&one.scenario.config, server);
    if config != one.scenario.config && one.scenario.config.cluster.replicas > 0 && !screen.is_quiet {
        let name = &one.scenario.name;
        Screen::report(&format!("{name}: {server} tells its replicas TTLs in another way; {done} in that world"));
    }
    Scenario { config, ..one.scenario.clone() }
}

/// Says what went wrong with a server, and how the command ends by it.
pub(super) fn server_failed(error: &Error, screen: &Screen) -> Exit {
    let exit = match error {
        Error::NotForSentinel { .. } => Exit::Usage,
        _ if error.is_internal() => Exit::Internal,
        _ => Exit::Environment,
    };
    screen.fail(exit, &error.to_string())
}

/// The first difference, model and Redis one below the other.
pub(super) fn difference_told(difference: &Difference, trace: &Trace) -> String {
    let actor = words::actor(&trace.config, difference.action);
    let mut told =
        format!("step {}, {actor} {}: {} differs\n", difference.step, words::does(difference.action), difference.what);
    for (who, says) in [("model", &difference.model), ("redis", &difference.redis)] {
        let mut lines = says.lines();
        let _ = writeln!(told, "  {who}  {}", lines.next().unwrap_or_default());
        for line in lines {
            let _ = writeln!(told, "         {line}");
        }
    }
    if let Some(known) = difference.known {
        let _ = writeln!(told, "  known  {known}");
    }
    told
}

/// The first difference, for programs.
pub(super) fn difference_json(difference: Option<&Difference>) -> Value {
    difference.map_or(Value::Null, |difference| {
        json!({
            "step": difference.step,
            "action": difference.action,
            "what": difference.what,
            "model": difference.model,
            "redis": difference.redis,
            "known": difference.known,
        })
    })
}

/// What there is to replay, and whether more might have been found.
fn histories(what: Input, args: &Args, server: &Server, screen: &Screen) -> Ended<(Vec<History>, Exit)> {
    let chosen = match what {
        Input::Trace(trace) => {
            let declared = input::declared(&trace);
            let history = History { declared, trace: *trace, argument: typed(&args.what), is_from_trace: true };
            return Ok((vec![history], Exit::AsDeclared));
        }
        Input::Scenarios(chosen) => chosen,
    };
    let mut histories = Vec::new();
    let mut exit = Exit::AsDeclared;
    for one in chosen {
        let one = &Chosen { scenario: in_the_world_of(server, &one, screen, "replayed"), ..one };
        let outcome = checked(one, args.within, screen)?;
        if let Some(why) = undecided(&outcome) {
            let name = &one.scenario.name;
            exit =
                exit.worst(screen.fail(
                    Exit::Inconclusive,
                    &format!("{name}: inconclusive ({why}): what was found so far is replayed"),
                ));
        }
        for found in outcome.properties {
            let declared = Declared::As(found.declared);
            histories.extend(found.trace.map(|trace| History {
                trace,
                declared,
                argument: one.argument.clone(),
                is_from_trace: false,
            }));
        }
        histories.extend(covering(one, screen)?.into_iter().map(|trace| History {
            trace,
            declared: Declared::Unknown,
            argument: one.argument.clone(),
            is_from_trace: false,
        }));
    }
    Ok((histories, exit))
}

fn page(history: &History, replayed: &Played, screen: &Screen) -> String {
    let trace = &history.trace;
    let next = if replayed.difference.is_some() {
        format!("lockstep show {} --format short", history.argument)
    } else {
        explained(history)
    };
    let options =
        text::Options { paint: screen.paint(), width: Screen::width(), declared: history.declared, next: Some(next) };
    let mut page = text::picture(trace, &options);
    page += "\nwhat real Redis was asked, and answered\n";
    let digits = replayed.answers.len().to_string().len();
    for (index, answers) in replayed.answers.iter().enumerate() {
        let mut number = (index + 1).to_string();
        for answer in answers.iter().flat_map(|answer| answer.lines()) {
            let _ = writeln!(page, "  {number:>digits$}  {answer}");
            number.clear();
        }
    }
    page.push('\n');
    page += &sentinel::section(replayed, &trace.config);
    match &replayed.difference {
        None => {
            let (steps, compared) =
                (words::count(replayed.steps, "step"), words::count(replayed.compared, "comparison"));
            let watched = sentinel::watched(replayed);
            let _ = writeln!(page, "agrees: {steps}, {compared}, on {}{watched}", replayed.server);
        }
        Some(difference) => {
            let _ = write!(page, "diverged: on {}, at {}", replayed.server, difference_told(difference, trace));
        }
    }
    page
}

/// The world of the history in words, where that can be asked for: a trace holds a name, not where the scenario is.
fn explained(history: &History) -> String {
    let name = &history.trace.scenario;
    if crate::scenario::BuiltIn::named(name).is_some() {
        format!("lockstep explain {name}")
    } else if history.is_from_trace {
        format!("lockstep show {}", history.argument)
    } else {
        format!("lockstep explain {}", history.argument)
    }
}

fn json_of(history: &History, replayed: &Played) -> Value {
    let mut object = json!({
        "schema": 1,
        "trace": history.trace,
        "server": replayed.server,
        "steps": replayed.steps,
        "compared": replayed.compared,
        "agrees": replayed.difference.is_none(),
        "first_difference": difference_json(replayed.difference.as_ref()),
    });
    if !replayed.failovers.is_empty() {
        object["sentinel"] = sentinel::json_of(replayed, &history.trace.config);
    }
    object
}

/// Of several histories: the sums under the same keys, and each of them.
fn together(results: &[Value]) -> Value {
    let sum = |key: &str| results.iter().filter_map(|result| result[key].as_u64()).sum::<u64>();
    let first = results.iter().find(|result| result["agrees"] == false);
    json!({
        "schema": 1,
        "trace": first.map(|result| &result["trace"]),
        "server": results.first().map(|result| &result["server"]),
        "steps": sum("steps"),
        "compared": sum("compared"),
        "agrees": first.is_none(),
        "first_difference": first.map(|result| &result["first_difference"]),
        "replays": results,
    })
}

#[cfg(test)]
mod tests {
    use lockstep_model::Action;
    use lockstep_model::trace::About;

    use super::super::screen::Color;
    use super::*;
    use crate::scenario;

    fn history() -> History {
        let scenario = scenario::builtin().swap_remove(0);
        let actions = [Action::Acquire { client: 0, thread: 0 }];
        let trace = Trace::record(&scenario.name, "", &scenario.config, About::Drawn, &actions, "").expect("A can ask");
        History { trace, declared: Declared::Unknown, argument: "given.json".to_owned(), is_from_trace: true }
    }

    fn replayed(difference: Option<Difference>) -> Played {
        let answers = vec![vec!["EVALSHA acquire -> nil".to_owned()]];
        Played { server: "redis 7.0.15".to_owned(), steps: 1, compared: 12, answers, difference, failovers: Vec::new() }
    }

    fn difference() -> Difference {
        Difference {
            step: 1,
            action: Action::Acquire { client: 0, thread: 0 },
            what: "lock on n1".to_owned(),
            model: "A:1 ttl 30000 ms".to_owned(),
            redis: "A:1 ttl 29999 ms\nof type hash".to_owned(),
            known: None,
        }
    }

    #[test]
    fn what_agrees_ends_with_what_was_compared_and_with_whom() {
        let page = page(&history(), &replayed(None), &Screen::new(Color::Never, true));
        assert!(page.contains("  1  EVALSHA acquire -> nil\n"), "{page}");
        assert!(page.ends_with("\nagrees: 1 step, 12 comparisons, on redis 7.0.15\n"), "{page}");
    }

    #[test]
    fn a_difference_shows_model_and_redis_one_below_the_other() {
        let page = page(&history(), &replayed(Some(difference())), &Screen::new(Color::Never, true));
        let told = "diverged: on redis 7.0.15, at step 1, A asks for the lock: lock on n1 differs\n  \
                    model  A:1 ttl 30000 ms\n  redis  A:1 ttl 29999 ms\n         of type hash\n";
        assert!(page.ends_with(told), "{page}");
    }

    #[test]
    fn several_replays_are_summed_and_the_first_difference_stands_out() {
        let all = [json_of(&history(), &replayed(None)), json_of(&history(), &replayed(Some(difference())))];
        let both = together(&all);
        assert_eq!(both["compared"], 24);
        assert_eq!(both["agrees"], false);
        assert_eq!(both["first_difference"]["what"], "lock on n1");
        assert_eq!(together(&all[..1])["first_difference"], Value::Null);
    }
}
