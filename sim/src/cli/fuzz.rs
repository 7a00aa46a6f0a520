//! `lockstep fuzz`: random histories on real servers.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use lockstep_model::trace::Trace;
use serde_json::{Value, json};

use super::agreeing;
use super::common::{Ended, Format, Output};
use super::input::{self, Chosen, typed};
use super::interrupt;
use super::out::{OutFolder, write_whole};
use super::progress::{ProgressUnit, watched_as};
use super::replay::{in_the_world_of, report_unsuited};
use super::screen::Screen;
use super::servers::{again, server, server_failed};
use super::target::TargetArgs;
use super::within::MaxMemory;
use crate::check::Limits;
use crate::exit::Exit;
use crate::fuzz::{self, Agreement, FuzzFailure, FuzzOptions, Fuzzed};
use crate::render::json as trace_json;
use crate::render::replayed;
use crate::render::text::{self, Declared};
use crate::render::words::{count, thousands};
use crate::replay::ReplayError;
use crate::replay::redisson::{Departure, has_rules_of_its_version};

#[derive(clap::Args)]
pub(super) struct FuzzArgs {
    /// Scenarios to draw histories from [default: all built-in ones]
    #[arg(value_name = "NAME|FILE")]
    scenarios: Vec<String>,
    /// Number of histories of each scenario
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    cases: u32,
    /// Seed of the random choices [default: a new one, which is printed]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The redis-server or valkey-server to use
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,
    /// The folder for the trace of a divergence, or of a history that could not be replayed [default: none is written]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    memory: MaxMemory,
    #[command(flatten)]
    output: Output,
}

/// The result of one scenario.
struct FuzzedScenario<'a> {
    chosen: &'a Chosen,
    fuzzed: Fuzzed,
    /// The file of the counterexample.
    saved: Option<PathBuf>,
    /// Where Redisson differs: the keys of `[protocol]`, as a file writes them, each with which alone it agrees. `None`: that was
    /// not looked for.
    agrees_with: Option<Vec<(String, Agreement)>>,
    /// Duration, including the start of the servers.
    seconds: f64,
    /// Whether Ctrl-C ended it before all its histories were replayed.
    is_interrupted: bool,
}

pub(super) fn run(args: &FuzzArgs, screen: &Screen) -> Ended<Exit> {
    args.target.refuse_impossible(false, screen)?;
    let chosen = input::scenarios(&args.scenarios, screen)?;
    input::each_name_once(&chosen, screen)?;
    // Before the search: the first divergence may be found only after hours.
    let _made = args.out.as_deref().map(|out| OutFolder::make(out, screen)).transpose()?;
    let server = server(args.server.as_deref(), screen)?;
    let seed = args.seed.unwrap_or_else(a_seed);
    let options = FuzzOptions { cases: args.cases, seed };
    let mut all: Vec<FuzzedScenario> = Vec::new();
    let mut failure: Option<(Exit, Value)> = None;
    let mut unsuited: Option<ReplayError> = None;
    let mut unsaved: Option<Exit> = None;
    for one in &chosen {
        if interrupt::is_asked() {
            break;
        }
        if args.scenarios.is_empty() && args.target.is_redisson() && !has_rules_of_its_version(&one.scenario.config) {
            report_other_rules(&one.scenario.name, screen);
            continue;
        }
        let (cases, tries) = (AtomicU64::new(0), AtomicU64::new(0));
        let started = Instant::now();
        args.target.warn_of_other_version(&one.scenario.name, &one.scenario.config, screen);
        let program = match args.target.program(&one.scenario.config) {
            Ok(program) => program,
            Err(error) => return Err(server_failed(&error, screen)),
        };
        let so_far = || match tries.load(Ordering::Relaxed) {
            0 => ProgressUnit::HISTORIES.words(cases.load(Ordering::Relaxed)),
            tries => format!(
                "history {} differs; making it shorter: {} tried",
                thousands(cases.load(Ordering::Relaxed)),
                ProgressUnit::HISTORIES.words(tries)
            ),
        };
        let fuzzed = watched_as(screen, &one.scenario.name, None, &so_far, || {
            let limits = Limits { tries: Some(&tries), ..args.memory.limits(&cases) };
            fuzz::fuzz(&in_the_world_of(&server, one, screen, "drawn"), &server, program, options, &limits)
        });
        let seconds = started.elapsed().as_secs_f64();
        let fuzzed = match fuzzed {
            Ok(fuzzed) => fuzzed,
            // A system call that a signal interrupts is not a failure of the server.
            Err(_) if interrupt::is_asked() => break,
            // The others may be for it.
            Err(FuzzFailure::AtStart(error @ ReplayError::NotForRedisson { .. })) if chosen.len() > 1 => {
                report_unsuited(&one.scenario.name, &error, screen);
                unsuited = Some(error);
                continue;
            }
            Err(failed) => {
                // The results of the other scenarios are still printed, and a difference that is known.
                let (exit, saved) = report(one, &failed, args, screen)?;
                failure = Some((exit_beside_a_difference(&failed, exit), failure_json(one, &failed, saved.as_deref())));
                if let FuzzFailure::InHistory(failed) = failed
                    && failed.found.counterexample.is_some()
                {
                    let saved = save(one, &failed.found, args, screen).unwrap_or_default();
                    all.push(FuzzedScenario {
                        chosen: one,
                        fuzzed: failed.found,
                        saved,
                        agrees_with: None,
                        seconds,
                        is_interrupted: false,
                    });
                }
                break;
            }
        };
        // A difference is told also where its trace cannot be written.
        let saved = save(one, &fuzzed, args, screen).unwrap_or_else(|exit| {
            unsaved = Some(exit);
            None
        });
        let is_stopped = fuzzed.stopped.is_some();
        let agrees_with = match fuzzed.counterexample {
            Some((ref trace, _)) if args.target.is_redisson() => {
                agreeing::protocols((one, trace), &args.target, (&server, options), &args.memory, screen)?
            }
            _ => None,
        };
        let is_interrupted = interrupt::is_asked() && fuzzed.cases < args.cases;
        all.push(FuzzedScenario { chosen: one, fuzzed, saved, agrees_with, seconds, is_interrupted });
        if is_stopped {
            break;
        }
    }

    if let (true, None, Some(error)) = (all.is_empty() && !interrupt::is_asked(), &failure, &unsuited) {
        return Err(server_failed(error, screen));
    }
    match args.output.format {
        Format::Json => screen.print_json(&json_of(&all, seed, failure.as_ref().map(|(_, failure)| failure)))?,
        Format::Human => screen.print(&page(&all, chosen.len(), args, seed, screen))?,
    }
    let diverged = all.iter().any(FuzzedScenario::is_diverged);
    let is_stopped = all.iter().any(|drawn| drawn.inconclusive_as().is_some());
    let exit = if is_stopped { Exit::Inconclusive } else { Exit::AsDeclared };
    let exit = if diverged { exit.worst(Exit::Diverged) } else { exit };
    let exit = unsaved.filter(|_| !diverged).map_or(exit, |unsaved| exit.worst(unsaved));
    Ok(failure.map_or(exit, |(failure, _)| exit.worst(failure)))
}

/// Says that a built-in scenario is about clients with other rules than any version of Redisson.
fn report_other_rules(scenario: &str, screen: &Screen) {
    if !screen.is_quiet {
        Screen::report(&format!(
            "left out: {scenario}: its clients have rules of no version of Redisson; name it to see what Redisson does instead"
        ));
    }
}

impl FuzzedScenario<'_> {
    fn is_diverged(&self) -> bool {
        self.fuzzed.counterexample.is_some()
    }

    /// The file of the counterexample, as text.
    fn saved_as(&self) -> Option<String> {
        self.saved.as_ref().map(|file| file.to_string_lossy().into_owned())
    }

    fn rate_words(&self) -> String {
        let (histories, steps) = (self.fuzzed.cases as usize, self.fuzzed.steps);
        let (histories, steps) = (rate(histories, self.seconds), rate(steps, self.seconds));
        // Redisson is slow: less than ten are told to a tenth.
        let words = |rate: f64| if rate < 10.0 { format!("{rate:.1}") } else { format!("{rate:.0}") };
        format!("{} histories/s, {} compared steps/s", words(histories), words(steps))
    }

    /// Why nothing is said: a limit ended it before all its histories were replayed, or none was followed to its end.
    fn inconclusive_as(&self) -> Option<String> {
        let is_followed = self.fuzzed.left < self.fuzzed.cases || self.fuzzed.cases == 0 || self.is_diverged();
        let nothing = (!is_followed).then(|| "no history was followed to its end".to_owned());
        let interrupted =
            (self.is_interrupted && !self.is_diverged()).then(|| format!("interrupted after {}", self.histories()));
        self.fuzzed.stopped.map(|stopped| stopped.after(&self.histories())).or(interrupted).or(nothing)
    }

    /// `1 history`, `100 histories`.
    fn histories(&self) -> String {
        let cases = self.fuzzed.cases;
        if cases == 1 { "1 history".to_owned() } else { format!("{} histories", thousands(cases.into())) }
    }

    /// How many of them say something of every step, where that is not all.
    fn followed_words(&self) -> String {
        let Fuzzed { cases, left, .. } = self.fuzzed;
        let followed = thousands((cases - left).into());
        if left == 0 { String::new() } else { format!(", {followed} of them to the end") }
    }

    /// The keys of `[protocol]` with which Redisson does what the model does.
    fn switch_words(&self) -> String {
        let (name, library) = (&self.chosen.scenario.name, self.fuzzed.clients.as_deref().unwrap_or_default());
        self.agrees_with.as_deref().map_or_else(String::new, |found| agreeing::words(name, library, found))
    }

    /// Whether all its histories were replayed.
    fn is_whole(&self, args: &FuzzArgs) -> bool {
        self.fuzzed.cases >= args.cases
    }
}

/// A new seed. It is the only thing that differs between runs, and it is printed.
fn a_seed() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Few digits: a person may have to type them.
    u64::from(since.subsec_micros()) + since.as_secs() % 1000 * 1_000_000
}

/// Keeps the counterexample, if there is one and a folder for it.
fn save(one: &Chosen, fuzzed: &Fuzzed, args: &FuzzArgs, screen: &Screen) -> Ended<Option<PathBuf>> {
    let Some((trace, _)) = &fuzzed.counterexample else { return Ok(None) };
    save_trace(trace, "diverged", (one, fuzzed), args, screen)
}

/// Keeps a history, if there is a folder for it: `ended` says what became of it.
fn save_trace(
    trace: &Trace,
    ended: &str,
    (one, fuzzed): (&Chosen, &Fuzzed),
    args: &FuzzArgs,
    screen: &Screen,
) -> Ended<Option<PathBuf>> {
    let Some(out) = &args.out else { return Ok(None) };
    let file = out.join(format!("{}.{ended}-{}.json", one.scenario.name, fuzzed.seed));
    // The trace does not know the file of its scenario.
    let reproduce = drawn_again(one, fuzzed, args);
    write_whole(&file, &trace_json::document(&Trace { reproduce, ..trace.clone() }), screen)?;
    Ok(Some(file))
}

/// Says why the servers or the harness failed, and in which history, which is kept. Returns the exit code that it leads to, and
/// the file of the history.
fn report(one: &Chosen, failure: &FuzzFailure, args: &FuzzArgs, screen: &Screen) -> Ended<(Exit, Option<PathBuf>)> {
    let name = &one.scenario.name;
    let failed = match failure {
        FuzzFailure::AtStart(error) => {
            Screen::report(&format!("{name}:"));
            return Ok((server_failed(error, screen), None));
        }
        FuzzFailure::InHistory(failed) => failed,
    };
    Screen::report(&format!("{name}: {failed}, on {}", failed.found.server));
    let exit = server_failed(&failed.error, screen);
    let saved = save_trace(&failed.trace, "failed", (one, &failed.found), args, screen)?;
    Screen::report(&format!("next  {}", next(saved.as_deref(), one, &failed.found, args)));
    Ok((exit, saved))
}

/// Where a history differs and only a shorter form of it could not be replayed, the run says that it differs: whoever reads that the
/// servers failed would not look for a defect. A defect of this program is still the worse.
fn exit_beside_a_difference(failure: &FuzzFailure, exit: Exit) -> Exit {
    match failure {
        FuzzFailure::InHistory(failed) if failed.is_shortened && exit == Exit::Environment => Exit::Diverged,
        FuzzFailure::InHistory(_) | FuzzFailure::AtStart(_) => exit,
    }
}

/// The command that replays the history that was kept, or keeps it.
fn next(saved: Option<&Path>, one: &Chosen, fuzzed: &Fuzzed, args: &FuzzArgs) -> String {
    match saved {
        Some(file) => format!(
            "lockstep replay {}{}",
            typed(&file.to_string_lossy()),
            again(args.server.as_deref()) + &args.target.again()
        ),
        None => format!("{} --out DIR, which writes the trace", drawn_again(one, fuzzed, args)),
    }
}

/// The command that draws the same histories again.
fn drawn_again(one: &Chosen, fuzzed: &Fuzzed, args: &FuzzArgs) -> String {
    let server = again(args.server.as_deref());
    let target = args.target.again();
    format!("lockstep fuzz {} --seed {} --cases {}{server}{target}", one.argument, fuzzed.seed, args.cases)
}

fn page(all: &[FuzzedScenario], asked: usize, args: &FuzzArgs, seed: u64, screen: &Screen) -> String {
    let mut page = String::new();
    for drawn in all {
        let FuzzedScenario { chosen, fuzzed, saved, .. } = drawn;
        let why = drawn.inconclusive_as();
        let verdict = match (drawn.is_diverged(), &why) {
            (true, _) => "diverged",
            (false, Some(_)) => "inconclusive",
            (false, None) => "agrees",
        };
        let _ = writeln!(
            page,
            "{}   {verdict}   {}, {} on {}   seed {}   {}",
            chosen.scenario.name,
            drawn.histories() + &drawn.followed_words(),
            count(fuzzed.steps, "step"),
            replayed::servers_and_clients(&fuzzed.server, fuzzed.clients.as_deref()),
            fuzzed.seed,
            drawn.rate_words()
        );
        if fuzzed.left > 0 {
            let left = thousands(fuzzed.left.into());
            let _ = writeln!(page, "{}: {left} of them not followed to their end", chosen.scenario.name);
            for (end, times) in &fuzzed.ends {
                let _ = writeln!(page, "  {:>5}  {}", thousands((*times).into()), replayed::left_words(end));
            }
        }
        if let Some((times, cause)) = fuzzed.known {
            let times = thousands(times.into());
            let _ = writeln!(page, "{}: {times} of them ended at a known difference: {cause}", chosen.scenario.name);
        }
        if let Some(why) = why {
            let _ = writeln!(page, "{}: inconclusive ({why})", chosen.scenario.name);
        }
        let Some((trace, difference)) = &fuzzed.counterexample else { continue };
        let next = Some(next(saved.as_deref(), chosen, fuzzed, args));
        let (paint, width, declared) = (screen.paint(), Screen::width(), Declared::Unknown);
        let options = text::TextOptions { paint, width, declared, next, found: None };
        page += &text::picture(trace, &options);
        let _ = writeln!(page, "{}", replayed::difference(difference, trace, fuzzed.clients.as_deref()));
        let _ = write!(page, "{}", drawn.switch_words());
    }
    let failed = all.iter().filter(|drawn| drawn.is_diverged()).count();
    let is_passed =
        |drawn: &&FuzzedScenario| !drawn.is_diverged() && drawn.is_whole(args) && drawn.inconclusive_as().is_none();
    let passed = all.iter().filter(is_passed).count();
    if interrupt::is_asked() {
        let _ =
            writeln!(page, "interrupted: {} of {asked} scenarios were started; repeat with --seed {seed}", all.len());
    }
    page + &format!("{passed} passed, {failed} failed, {} skipped\n", asked - passed - failed)
}

/// A rate per second; 0 if no time has passed.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn rate(done: usize, seconds: f64) -> f64 {
    if seconds > 0.0 { done as f64 / seconds } else { 0.0 }
}

/// Durations and rates, including the start of the servers: all that differs between two runs of one seed.
fn pace_json(cases: usize, steps: usize, seconds: f64) -> Value {
    json!({
        "seconds": seconds,
        "histories_per_second": rate(cases, seconds),
        "compared_steps_per_second": rate(steps, seconds),
    })
}

/// Why the servers or the harness failed, and where: no histories were drawn after that.
fn failure_json(one: &Chosen, failure: &FuzzFailure, saved: Option<&Path>) -> Value {
    let (error, at) = match failure {
        FuzzFailure::AtStart(error) => (error, None),
        FuzzFailure::InHistory(failed) => (&failed.error, Some(failed)),
    };
    json!({
        "scenario": one.scenario.name,
        "error": error.to_string(),
        "history": at.map(|failed| failed.number()),
        "step": at.map(|failed| failed.step),
        "trace": saved.map(|file| file.to_string_lossy()),
    })
}

/// Whether there is no difference; `null`: nothing is said.
fn agrees_json(is_diverged: bool, is_whole: bool) -> Option<bool> {
    (is_diverged || is_whole).then_some(!is_diverged)
}

/// The object for programs, with each scenario.
fn json_of(all: &[FuzzedScenario], seed: u64, failure: Option<&Value>) -> Value {
    let each = all.iter().map(|drawn| {
        json!({
            "name": drawn.chosen.scenario.name,
            "cases": drawn.fuzzed.cases,
            "steps": drawn.fuzzed.steps,
            "pace": pace_json(drawn.fuzzed.cases as usize, drawn.fuzzed.steps, drawn.seconds),
            "agrees": agrees_json(drawn.is_diverged(), drawn.inconclusive_as().is_none()),
            "left": drawn.fuzzed.left,
            "left_because": drawn.fuzzed.ends.iter().map(|(end, times)| json!({
                "reason": end,
                "departure": Departure::behind(end).map(|departure| departure.id),
                "histories": times,
            })).collect::<Vec<_>>(),
            "known": drawn.fuzzed.known.map(|(histories, cause)| json!({ "histories": histories, "cause": cause })),
            "stopped": drawn.inconclusive_as(),
            "counterexample": drawn.saved_as(),
            "agrees_with": drawn.agrees_with.as_ref().map(|all| all.iter().map(|(line, _)| line).collect::<Vec<_>>()),
            "first_difference": replayed::difference_json(drawn.fuzzed.counterexample.as_ref().map(|(_, difference)| difference)),
        })
    });
    let seconds: f64 = all.iter().map(|drawn| drawn.seconds).sum();
    let cases: usize = all.iter().map(|drawn| drawn.fuzzed.cases as usize).sum();
    let steps: usize = all.iter().map(|drawn| drawn.fuzzed.steps).sum();
    json!({
        "schema": 1,
        "server": all.first().map(|drawn| &drawn.fuzzed.server),
        "clients": all.first().and_then(|drawn| drawn.fuzzed.clients.as_ref()),
        "seed": seed,
        "cases": cases,
        "steps": steps,
        "pace": pace_json(cases, steps, seconds),
        "agrees": agrees_json(
            all.iter().any(FuzzedScenario::is_diverged),
            failure.is_none() && !all.is_empty() && all.iter().all(|drawn| drawn.inconclusive_as().is_none()),
        ),
        "counterexample": all.iter().find_map(FuzzedScenario::saved_as),
        "failure": failure,
        "scenarios": each.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use lockstep_model::Action;
    use lockstep_model::trace::About;

    use super::super::screen::Color;
    use super::*;
    use crate::fuzz::FailedHistory;
    use crate::recorder;
    use crate::render::json_page::assert_described;
    use crate::replay::Difference;
    use crate::scenario;

    fn args() -> FuzzArgs {
        let output = Output { format: Format::Human };
        let memory = MaxMemory::default();
        let (scenarios, target) = (Vec::new(), TargetArgs::default());
        FuzzArgs { scenarios, cases: 100, seed: Some(7), server: None, out: None, target, memory, output }
    }

    fn drawn(chosen: &Chosen, cases: u32, is_diverged: bool) -> FuzzedScenario<'_> {
        let actions = [Action::Acquire { client: 0, thread: 0 }];
        let record =
            || recorder::record("x", "", &chosen.scenario.config, About::Drawn, &actions, "").expect("A can ask");
        let fuzzed = Fuzzed {
            server: "redis 7.0.15".to_owned(),
            clients: None,
            seed: 7,
            cases,
            left: 0,
            ends: BTreeMap::new(),
            known: None,
            steps: 1234,
            counterexample: is_diverged.then(|| (record(), Difference::of_a_reply())),
            stopped: None,
        };
        FuzzedScenario {
            chosen,
            fuzzed,
            saved: is_diverged.then(|| PathBuf::from("it is here.json")),
            agrees_with: None,
            seconds: 2.0,
            is_interrupted: false,
        }
    }

    fn a_scenario() -> Chosen {
        let scenario = scenario::builtin().swap_remove(0);
        let (argument, place) = (scenario.name.clone(), scenario.name.clone());
        Chosen { scenario, argument, place }
    }

    #[test]
    fn a_difference_whose_shorter_form_could_not_be_replayed_is_a_difference_all_the_same() {
        let chosen = a_scenario();
        let exit = |is_shortened| {
            let found = drawn(&chosen, 1, true).fuzzed;
            let (trace, _) = found.counterexample.clone().expect("it differs");
            let failed = FailedHistory { trace, step: 1, is_shortened, error: ReplayError::NothingHeld, found };
            exit_beside_a_difference(&FuzzFailure::InHistory(Box::new(failed)), Exit::Environment)
        };
        assert_eq!(exit(true), Exit::Diverged);
        assert_eq!(exit(false), Exit::Environment);
    }

    #[test]
    fn a_scenario_of_which_nothing_was_followed_to_its_end_is_inconclusive() {
        let chosen = a_scenario();
        let mut none = drawn(&chosen, 100, false);
        none.fuzzed.left = 100;
        let page = page(&[none], 1, &args(), 7, &Screen::new(Color::Never, true));
        assert!(page.contains("   inconclusive   100 histories, 0 of them to the end, "), "{page}");
        assert!(page.contains(": inconclusive (no history was followed to its end)"), "{page}");
        assert!(page.ends_with("0 passed, 0 failed, 1 skipped\n"), "{page}");
    }

    #[test]
    fn the_page_on_json_has_every_key_of_fuzz_and_no_other() {
        let chosen = a_scenario();
        let mut one = drawn(&chosen, 60, true);
        one.fuzzed.known = Some((2, "an old server"));
        one.fuzzed.ends.insert("which of two callbacks runs first is the choice of the JVM", 1);
        one.agrees_with = Some(vec![(
            "profile = \"redisson-3.52\"".to_owned(),
            Agreement { differs_in: None, followed: 9, played: 9 },
        )]);
        let failure = FuzzFailure::AtStart(ReplayError::NothingHeld);
        let failure = failure_json(&chosen, &failure, None);
        let as_above = ["scenarios[].pace", "scenarios[].first_difference"];
        assert_described("fuzz", &as_above, &[json_of(&[one], 7, Some(&failure))]);
    }

    /// A scenario that was stopped halfway has neither passed nor failed.
    #[test]
    fn every_scenario_is_counted_once() {
        let chosen = a_scenario();
        let mut all = [drawn(&chosen, 100, false), drawn(&chosen, 60, true), drawn(&chosen, 10, false)];
        (all[0].fuzzed.left, all[0].fuzzed.known) = (3, Some((2, "an old server")));
        all[0].fuzzed.ends.insert("which of two callbacks runs first is the choice of the JVM", 1);
        let page = page(&all, 4, &args(), 7, &Screen::new(Color::Never, true));
        assert_eq!(page.lines().last(), Some("1 passed, 1 failed, 2 skipped"), "{page}");
        assert!(page.contains("3 of them not followed to their end"), "{page}");
        let end = "    1  which of two callbacks runs first is the choice of the JVM (departure order-inside-the-jvm)";
        assert!(page.contains(end), "{page}");
        assert!(page.contains("2 of them ended at a known difference: an old server"), "{page}");
        assert!(
            page.contains(
                "agrees   100 histories, 97 of them to the end, 1 234 steps on redis 7.0.15   seed 7   50 histories/s, 617 compared steps/s"
            ),
            "{page}"
        );
        assert!(page.contains("next  lockstep replay 'it is here.json'"), "{page}");
        let object = json_of(&all, 7, None);
        assert_eq!(object["agrees"], false);
        assert_eq!(object["pace"]["seconds"], 6.0);
        assert_eq!(object["pace"]["compared_steps_per_second"], 617.0);
        assert_eq!(object["scenarios"][1]["pace"]["histories_per_second"], 30.0);
        assert_eq!(object["counterexample"], "it is here.json");
        assert_eq!(object["scenarios"][0]["left_because"][0]["departure"], "order-inside-the-jvm");
    }
}
