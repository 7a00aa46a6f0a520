//! `lockstep check`: checks every state of scenarios.

use std::path::PathBuf;
use std::thread;

use clap::ValueEnum;
use lockstep_model::Property;

use super::borrowed_name;
use super::common::{Ended, Format, Output};
use super::input::{self, Chosen};
use super::interrupt;
use super::out::{TraceFolder, make_folder};
use super::progress::watched_check;
use super::screen::Screen;
use super::show;
use super::within::Within;
use crate::check::native::Options;
use crate::check::{self, Engine, How, Width};
use crate::exit::Exit;
use crate::render::verdicts::{self, CheckedScenario, TracesInJson};
use crate::render::words;

#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own on the command line")]
pub(super) struct CheckArgs {
    /// Scenarios: built-in names, files or folders [default: all built-in ones]
    #[arg(value_name = "NAME|FILE|FOLDER")]
    scenarios: Vec<String>,
    /// Look at this property only, and hold it to its claim, or to hold
    #[arg(long, value_name = "PROPERTY", value_parser = show::property(), hide_possible_values = true)]
    property: Option<Property>,
    /// The search engine
    #[arg(long, value_enum, default_value_t)]
    engine: Engine,
    /// Threads of the native search; results do not depend on it [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Keep every state, also those that can never again be told apart and those that differ only by the order of alike
    /// clients or nodes (native engine; the other one always does)
    #[arg(long)]
    no_normal_forms: bool,
    /// With --no-normal-forms: still treat states that differ only by the order of the clients as one (native engine only)
    #[arg(long)]
    symmetry: bool,
    /// Do not store states in which only time can pass (native engine only). Of a violation the first history is shown that is
    /// found then, which may not be the shortest
    #[arg(long)]
    skip_idle: bool,
    /// Bits of the fingerprints that distinguish states; more of them lower the collision probability
    #[arg(long, value_enum, default_value_t, value_name = "BITS")]
    fingerprint: Width,
    #[command(flatten)]
    within: Within,
    /// Write the trace of every violated property to DIR/<scenario>.<property>.json, and remove those of earlier runs
    /// that are not violated any more
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
    /// Leave the traces out of --format json: they are most of it. docs/json.md describes every key
    #[arg(long)]
    no_traces: bool,
}

pub(super) fn run(args: &CheckArgs, screen: &Screen) -> Ended<Exit> {
    if args.engine != Engine::Native && (args.symmetry || args.skip_idle) {
        let text = "--symmetry and --skip-idle need the native engine: the other one would count differently";
        return Err(screen.fail(Exit::Usage, text));
    }
    if args.no_traces && args.output.format != Format::Json {
        return Err(screen.fail(Exit::Usage, "--no-traces is about --format json: the page for people has no traces"));
    }
    let mut chosen = input::scenarios(&args.scenarios, screen)?;
    if let Some(property) = args.property {
        chosen = speaking_of(property, chosen, screen)?;
    }
    if let Some(folder) = &args.out {
        // Before the search: the first trace may be found only after hours.
        input::each_name_once(&chosen, screen)?;
        make_folder(folder, screen)?;
        for Chosen { scenario, argument, .. } in &chosen {
            TraceFolder(folder).refuse_foreign(&scenario.name, screen)?;
            if borrowed_name::is_borrowed(scenario) {
                screen.warn(&format!(
                    "{argument} has the name of a built-in scenario and another world or story: its traces cannot be \
                     read again\n  help: rename the file"
                ));
            }
        }
    }

    let mut all = Vec::new();
    let mut exit = Exit::AsDeclared;
    for one in &chosen {
        if interrupt::is_asked() {
            break;
        }
        match look(one, args, screen) {
            Ok(found) => {
                exit = exit.worst(exit_of(&found));
                // What is known is printed also if it cannot be written.
                if let Some(Err(worse)) =
                    args.out.as_ref().map(|folder| TraceFolder(folder).keep(&found.outcome, screen))
                {
                    exit = exit.worst(worse);
                }
                all.push(found);
            }
            Err(worse) => exit = exit.worst(worse),
        }
    }

    let traces = if args.no_traces { TracesInJson::LeftOut } else { TracesInJson::Included };
    match args.output.format {
        Format::Json => screen.print_json(&verdicts::json(&all, traces))?,
        Format::Human => screen.print(&human(&all, chosen.len(), args, screen))?,
    }
    Ok(exit)
}

/// The scenarios that the property says something about.
fn speaking_of(property: Property, chosen: Vec<Chosen>, screen: &Screen) -> Ended<Vec<Chosen>> {
    let applies = |one: &Chosen| property.applies(&one.scenario.config);
    let why = chosen.first().and_then(|one| Some((one.argument.clone(), applies(one).err()?)));
    let left: Vec<_> = chosen.into_iter().filter(|one| applies(one).is_ok()).collect();
    match why {
        Some((name, why)) if left.is_empty() => {
            let text = format!(
                "{property} says nothing about {name}: {why}\n  help: `lockstep explain {property}` says what it means"
            );
            Err(screen.fail(Exit::Usage, &text))
        }
        _ => Ok(left),
    }
}

fn look(one: &Chosen, args: &CheckArgs, screen: &Screen) -> Ended<CheckedScenario> {
    let outcome = watched_check(screen, &one.scenario.name, args.within, |limits| {
        check::check_as(&one.scenario, how(args), limits)
    });
    let found = |outcome| CheckedScenario {
        argument: one.argument.clone(),
        limits: args.within.again(),
        outcome: one.reproducible(outcome, &again(args)),
    };
    outcome.map(found).map_err(|error| {
        let text = format!(
            "{}: {error}\n  help: this is a defect of lockstep, not of the scenario; please report it",
            one.scenario.name
        );
        screen.fail(Exit::Internal, &text)
    })
}

fn how(args: &CheckArgs) -> How {
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    let threads = args.threads.map_or_else(processors, usize::from);
    let CheckArgs { symmetry, skip_idle, .. } = *args;
    let native = Options { threads, normal_forms: !args.no_normal_forms, symmetry, skip_idle, until: None };
    How { native, fingerprint: args.fingerprint, only: args.property, ..How::by(args.engine) }
}

/// The options of the search, as they must be typed to get the same traces: their number of threads does not matter.
fn again(args: &CheckArgs) -> String {
    let property = args.property.map(|property| format!(" --property {property}"));
    let engine = (args.engine != Engine::default()).then(|| format!(" --engine {}", named(&args.engine)));
    let full = args.no_normal_forms.then(|| " --no-normal-forms".to_owned());
    let symmetry = args.symmetry.then(|| " --symmetry".to_owned());
    let skip_idle = args.skip_idle.then(|| " --skip-idle".to_owned());
    let width = (args.fingerprint != Width::default()).then(|| format!(" --fingerprint {}", named(&args.fingerprint)));
    [property, engine, full, symmetry, skip_idle, width, Some(args.within.again())].into_iter().flatten().collect()
}

/// A value as it is typed.
fn named(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

fn exit_of(found: &CheckedScenario) -> Exit {
    match found.result() {
        verdicts::Result::Passed => Exit::AsDeclared,
        verdicts::Result::Failed => Exit::NotAsDeclared,
        verdicts::Result::Undecided => Exit::Inconclusive,
    }
}

fn human(all: &[CheckedScenario], asked: usize, args: &CheckArgs, screen: &Screen) -> String {
    let mut parts = Vec::new();
    if !all.is_empty() {
        parts.push(verdicts::page(all, screen.paint(), Screen::width()));
    }
    if interrupt::is_asked() {
        let checked = all.len();
        let text = format!("interrupted: {checked} of {asked} scenarios were checked, the last one perhaps in part");
        parts.push(words::hanging(&text, 0, Screen::width()) + "\n");
    }
    let traces = all.iter().flat_map(|found| &found.outcome.properties).filter(|found| found.trace.is_some()).count();
    if let Some(folder) = args.out.as_ref().filter(|_| traces > 0) {
        let (number, folder) = (words::count(traces, "trace"), folder.display());
        parts.push(format!("{number} in {folder}\nnext  lockstep replay {folder}/SCENARIO.PROPERTY.json\n"));
    }
    let times = |result| all.iter().filter(|found| found.result() == result).count();
    let (passed, failed) = (times(verdicts::Result::Passed), times(verdicts::Result::Failed));
    let undecided = times(verdicts::Result::Undecided);
    let unknown = if undecided > 0 { format!("{undecided} inconclusive, ") } else { String::new() };
    parts.push(format!("{passed} passed, {failed} failed, {unknown}{} skipped\n", asked - passed - failed - undecided));
    parts.join("\n")
}
