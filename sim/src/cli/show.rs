//! `lockstep show`: draws a trace, or the first counterexample of a scenario.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use lockstep_model::trace::{About, Trace};
use lockstep_model::{Action, Property, Verdict};

use super::common::Ended;
use super::input::{self, Chosen, Input, typed};
use super::interrupt;
use super::progress::{ProgressUnit, watched, watched_check};
use super::screen::Screen;
use super::within::Within;
use crate::check::native::Options;
use crate::check::{self, CheckOutcome, Engine, How};
use crate::exit::Exit;
use crate::recorder;
use crate::render::Paint;
use crate::render::text::Declared;
use crate::render::{json, mermaid, short, svg, text, words};
use crate::scenario::{BuiltIn, Scenario};

#[derive(clap::Args)]
pub(super) struct ShowArgs {
    /// A trace file (.json), a built-in scenario or a scenario file
    #[arg(value_name = "TRACE|NAME|FILE")]
    what: String,
    /// How to draw it
    #[arg(long, value_enum, default_value_t)]
    format: Picture,
    /// Write to this file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// For a scenario: draw the counterexample of this property
    #[arg(long, value_name = "PROPERTY", value_parser = property())]
    property: Option<Property>,
    #[command(flatten)]
    within: Within,
}

/// How to draw a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Picture {
    /// One lane per party; where the terminal is too narrow for the lanes, one event per line. COLUMNS=200 sets a width,
    /// also for a file or a pipe (else 100)
    #[default]
    #[value(alias = "human")]
    Text,
    /// One line per step
    Short,
    /// The trace itself
    Json,
    /// A Mermaid sequence diagram
    Mermaid,
    /// A picture, as an SVG file
    Svg,
}

pub(super) fn run(args: &ShowArgs, screen: &Screen) -> Ended<Exit> {
    let mut options = String::new();
    let ShownTrace { trace, declared, found, is_story_claimed } = match input::trace_or_scenarios(&args.what, screen)? {
        Input::Trace(trace) => {
            refuse_property_of_trace(args.property, &args.what, screen)?;
            // The story of a built-in scenario was compared with its file.
            let is_story_claimed = BuiltIn::named(&trace.scenario).is_none();
            ShownTrace { declared: input::declared(&trace), trace: *trace, found: None, is_story_claimed }
        }
        Input::Scenarios(chosen) => {
            let shown = of_scenario(&only(chosen, &args.what, screen)?, args, screen)?;
            options = option_of(&shown.trace) + &args.within.again();
            shown
        }
    };
    let picture = match args.format {
        Picture::Text => {
            let next = Some(format!("lockstep replay {}{options}", typed(&args.what)));
            // A file must not contain the control sequences of a terminal.
            let paint = if args.output.is_some() { Paint::Plain } else { screen.paint() };
            let options = text::TextOptions { paint, width: Screen::width(), declared, next, found };
            text::picture(&trace, &options)
        }
        Picture::Short => short::list(&trace),
        Picture::Json => json::document(&trace),
        Picture::Mermaid => mermaid::diagram(&trace),
        Picture::Svg => svg::picture(&trace, &svg::SvgOptions { is_story_claimed, ..svg::SvgOptions::of(&trace) }),
    };
    match &args.output {
        None => screen.print(&picture)?,
        Some(file) if has_ending_of_another(file, args.format) => {
            let text = format!(
                "{} is the name of an SVG picture, and --format is another: add --format svg, or name another file",
                file.display()
            );
            return Err(screen.fail(Exit::Usage, &text));
        }
        Some(file) if is_same(file, &args.what) => {
            let text = format!("{} is what is drawn: name another file for the result", file.display());
            return Err(screen.fail(Exit::Usage, &text));
        }
        Some(file) => std::fs::write(file, picture)
            .map_err(|error| screen.fail(Exit::Environment, &format!("cannot write {}: {error}", file.display())))?,
    }
    Ok(Exit::AsDeclared)
}

/// Whether a file is called as a picture is that opens in a browser, and this is another one.
fn has_ending_of_another(file: &Path, format: Picture) -> bool {
    format != Picture::Svg && file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg"))
}

/// A trace to draw, and what is known of it.
struct ShownTrace {
    trace: Trace,
    declared: Declared,
    /// What the search found beside it.
    found: Option<String>,
    /// Whether only a file tells its story.
    is_story_claimed: bool,
}

impl ShownTrace {
    /// A trace that was found in a scenario just now.
    const fn of_scenario(trace: Trace, declared: Declared, found: Option<String>) -> Self {
        Self { trace, declared, found, is_story_claimed: false }
    }
}

/// The option that chooses the counterexample, as it can be typed again.
pub(super) fn option_of(trace: &Trace) -> String {
    match trace.about {
        About::Counterexample { property, .. } => format!(" --property {property}"),
        About::Covering | About::Drawn => String::new(),
    }
}

/// A trace breaks the property that it breaks.
pub(super) fn refuse_property_of_trace(property: Option<Property>, file: &str, screen: &Screen) -> Ended<()> {
    if property.is_none() {
        return Ok(());
    }
    let text = format!("{file} is a trace: --property chooses one of the counterexamples of a scenario");
    Err(screen.fail(Exit::Usage, &text))
}

/// A property must mean something in a scenario.
pub(super) fn refuse_foreign_property(property: Option<Property>, scenario: &Scenario, screen: &Screen) -> Ended<()> {
    match property.map(|property| (property, property.applies(&scenario.config))) {
        Some((id, Err(why))) => {
            Err(screen.fail(Exit::Usage, &format!("{id} does not apply to {}: {why}", scenario.name)))
        }
        _ => Ok(()),
    }
}

/// Whether the result would take the place of what it is made from.
fn is_same(output: &Path, input: &str) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(output).is_some_and(|output| real(Path::new(input)) == Some(output))
}

/// The one scenario that an argument means.
pub(super) fn only(mut chosen: Vec<Chosen>, argument: &str, screen: &Screen) -> Ended<Chosen> {
    match (chosen.pop(), chosen.len()) {
        (Some(one), 0) => Ok(one),
        (_, others) => {
            let number = if others == 0 { 0 } else { others + 1 };
            Err(screen.fail(Exit::Usage, &format!("{argument} has {number} scenarios: name one of them")))
        }
    }
}

/// The requested counterexample, or the first one; if there is none, a history that takes every kind of action.
fn of_scenario(one: &Chosen, args: &ShowArgs, screen: &Screen) -> Ended<ShownTrace> {
    let property = args.property;
    let scenario = &one.scenario;
    refuse_foreign_property(property, scenario, screen)?;
    let mut outcome = checked(one, args.within, property, screen)?;
    let wanted = outcome
        .properties
        .iter()
        .position(|found| found.trace.is_some() && property.is_none_or(|property| property == found.property));
    if let Some(index) = wanted {
        let found = outcome.properties.swap_remove(index);
        let (declared, why) = (Declared::of(&found), found.why);
        return found.trace.map(|trace| ShownTrace::of_scenario(trace, declared, why)).ok_or(Exit::Internal);
    }
    if interrupt::is_asked() {
        let what = property.map_or_else(String::new, |property| format!(" to {property}"));
        let (name, states) = (&scenario.name, words::thousands(outcome.states));
        Screen::report(&format!("{name}: interrupted after {states} states: no counterexample{what} so far"));
        return Err(Exit::Interrupted);
    }
    if let Some(property) = property {
        return Err(no_counterexample(&outcome, property, "show", screen));
    }
    if let Some(why) = undecided(&outcome) {
        let text = format!("{}: inconclusive ({why}): no violation was found so far", scenario.name);
        return Err(screen.fail(Exit::Inconclusive, &text));
    }
    let (histories, stopped) = covering(one, args.within, screen)?;
    match histories.into_iter().next() {
        Some(trace) => Ok(ShownTrace::of_scenario(trace, Declared::Unknown, None)),
        None if interrupt::is_asked() => {
            Screen::report(&format!("{}: interrupted: no property is violated", scenario.name));
            Err(Exit::Interrupted)
        }
        None => Err(match stopped {
            Some(why) => {
                let text =
                    format!("{}: no property is violated, but no history to draw was found ({why})", scenario.name);
                screen.fail(Exit::Inconclusive, &text)
            }
            None => screen.fail(Exit::Internal, &format!("{}: it allows no action", scenario.name)),
        }),
    }
}

/// The limit that kept a verdict from being known, if any.
pub(super) fn undecided(outcome: &CheckOutcome) -> Option<&str> {
    let unknown = outcome.properties.iter().find(|found| found.verdict == Verdict::Inconclusive)?;
    Some(unknown.why.as_deref().unwrap_or("it was stopped early"))
}

/// Checks a scenario within limits; if a property is named, until that is broken. Ctrl-C leaves what is known by then.
pub(super) fn checked(one: &Chosen, within: Within, until: Option<Property>, screen: &Screen) -> Ended<CheckOutcome> {
    let how = How { native: Options { until, ..Options::default() }, ..How::by(Engine::default()) };
    let outcome =
        watched_check(screen, &one.scenario.name, within, |limits| check::check_as(&one.scenario, how, limits));
    let outcome = outcome.map_err(|error| {
        screen.fail(
            Exit::Internal,
            &format!(
                "{}: {error}\n  help: this is a defect of lockstep, not of the scenario; please report it",
                one.scenario.name
            ),
        )
    })?;
    Ok(one.reproducible(outcome, &within.again()))
}

/// Histories that together take every kind of action; most often one is enough. With them comes the limit, in words, that
/// kept others from being found.
pub(super) fn covering(one: &Chosen, within: Within, screen: &Screen) -> Ended<(Vec<Trace>, Option<String>)> {
    let Scenario { name, story, config, .. } = &one.scenario;
    let reproduce = format!("lockstep show {}{}", one.argument, within.again());
    let record = |actions: Vec<Action>| {
        recorder::record(name, story, config, About::Covering, &actions, &reproduce).map_err(|error| {
            screen.fail(Exit::Internal, &format!("{name}: a covering history cannot happen: {error:?}"))
        })
    };
    let states = AtomicU64::new(0);
    let counted = ProgressUnit::states(within);
    let found = watched(screen, name, counted, &states, || check::covering(config, &within.limits(&states)));
    let stopped = found.stopped.map(|(stopped, states)| stopped.words(states));
    Ok((found.histories.into_iter().map(record).collect::<Ended<_>>()?, stopped))
}

/// Reports that there is nothing to `show` or `replay`. Returns the exit code that it leads to.
pub(super) fn no_counterexample(outcome: &CheckOutcome, property: Property, verb: &str, screen: &Screen) -> Exit {
    let found = outcome.properties.iter().find(|found| found.property == property);
    let verdict = found.map_or(Verdict::Inconclusive, |found| found.verdict);
    let why = found.and_then(|found| found.why.as_deref()).map_or_else(String::new, |why| format!(" ({why})"));
    let is = if matches!(verdict, Verdict::Holds | Verdict::HoldsWithinBounds) { "" } else { "is " };
    let text = format!("{property} {is}{verdict}{why} in {}: there is no counterexample to {verb}", outcome.scenario);
    screen.fail(if verdict == Verdict::Inconclusive { Exit::Inconclusive } else { Exit::Usage }, &text)
}

/// Clap lists the properties in the help, and suggests the one that a misspelt word means.
pub(super) fn property() -> impl TypedValueParser<Value = Property> {
    PossibleValuesParser::new(Property::ALL.map(Property::id))
        .map(|id| Property::from_id(&id).expect("only ids of properties are possible"))
}
