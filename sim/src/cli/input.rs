//! The arguments of a command: names, files, folders, traces.

use std::collections::BTreeMap;
use std::path::Path;

use lockstep_model::trace::{About, Trace};

use super::common::Ended;
use super::screen::Screen;
use super::trace_file::{self, JudgedTrace, MOST_STATES};
use crate::check::CheckOutcome;
use crate::exit::Exit;
use crate::render::text::Declared;
use crate::render::words::{self, hanging};
use crate::scenario;
use crate::scenario::{BuiltIn, Scenario};

/// A scenario, and the argument that named it.
pub(super) struct Chosen {
    pub(super) scenario: Scenario,
    /// A name or a path, as it can be typed again.
    pub(super) argument: String,
    /// The same as it is.
    pub(super) place: String,
}

/// What one argument means to a command that takes scenarios and traces.
pub(super) enum Input {
    Trace(Box<Trace>),
    Scenarios(Vec<Chosen>),
}

/// The scenarios of these arguments; of none: all built-in ones.
pub(super) fn scenarios(arguments: &[String], screen: &Screen) -> Ended<Vec<Chosen>> {
    if arguments.is_empty() {
        let named = |scenario: Scenario| {
            let (argument, place) = (scenario.name.clone(), scenario.name.clone());
            Chosen { scenario, argument, place }
        };
        return Ok(scenario::builtin().into_iter().map(named).collect());
    }
    let mut chosen: Vec<Chosen> = Vec::new();
    let mut exit = None;
    for argument in arguments {
        // One by one, so that every bad file is reported and the source of every scenario is known.
        match scenario::located(std::slice::from_ref(argument)) {
            Ok(found) => {
                let called = found.into_iter().map(|(place, scenario)| {
                    let place = called(argument, &place);
                    Chosen { argument: typed(&place), place, scenario }
                });
                for one in called {
                    if !chosen.iter().any(|other| other.argument == one.argument) {
                        chosen.push(one);
                    }
                }
            }
            Err(error) => {
                Screen::report(&error.report_in(screen.colours_messages(), Screen::width()));
                exit = Some(Exit::Usage);
            }
        }
    }
    if let Some(exit) = exit {
        return Err(exit);
    }
    // Nothing in the file says how long a tick is, and the size of the world depends on it.
    for Chosen { scenario, .. } in &chosen {
        for fact in words::tick_length(scenario) {
            screen.tell(&hanging(&format!("{}: {fact}", scenario.name), 2, Screen::width()));
        }
    }
    Ok(chosen)
}

/// A trace file, or scenarios.
pub(super) fn trace_or_scenarios(argument: &str, screen: &Screen) -> Ended<Input> {
    if Path::new(argument).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
        let read = trace_file::read(Path::new(argument));
        return read
            .map(|JudgedTrace { trace, is_length_unconfirmed }| {
                if is_length_unconfirmed {
                    screen.warn(&format!(
                        "{argument} claims that no counterexample is shorter; within {MOST_STATES} states the judge could \
                         not confirm it"
                    ));
                }
                Input::Trace(Box::new(trace))
            })
            .map_err(|error| screen.fail(Exit::Usage, &error.to_string()));
    }
    Ok(Input::Scenarios(scenarios(&[argument.to_owned()], screen)?))
}

/// What the built-in scenario of a trace declares, if its world is still the same.
pub(super) fn declared(trace: &Trace) -> Declared {
    let About::Counterexample { property, .. } = trace.about else { return Declared::Unknown };
    scenario::builtin()
        .into_iter()
        .find(|scenario| scenario.name == trace.scenario && scenario.config == trace.config)
        .map_or(Declared::Unknown, |scenario| Declared::As(scenario.expect.get(&property).copied()))
}

/// An argument as it can be typed again: quoted if a shell would split it.
pub(super) fn typed(argument: &str) -> String {
    let is_safe = |character: char| character.is_ascii_alphanumeric() || "-_./+:@%,".contains(character);
    if !argument.is_empty() && argument.chars().all(is_safe) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

/// A built-in scenario takes precedence over a folder of the same name, as in the search for it.
fn called(argument: &str, place: &str) -> String {
    let is_below = BuiltIn::named(argument).is_none() && Path::new(argument).is_dir();
    if is_below { place.to_owned() } else { argument.to_owned() }
}

/// Refuses two scenarios of one name: the files of one would overwrite those of the other.
pub(super) fn each_name_once(chosen: &[Chosen], screen: &Screen) -> Ended<()> {
    let mut met: BTreeMap<&str, &str> = BTreeMap::new();
    for Chosen { scenario, argument, .. } in chosen {
        if let Some(first) = met.insert(&scenario.name, argument) {
            let text = format!(
                "{first} and {argument} are both called {}: with --out the traces of one would overwrite those of the \
                 other\n  help: check them separately, each with its own folder, or rename one",
                scenario.name
            );
            return Err(screen.fail(Exit::Usage, &text));
        }
    }
    Ok(())
}

impl Chosen {
    /// The text of its file.
    pub(super) fn text(&self, screen: &Screen) -> Ended<String> {
        match BuiltIn::named(&self.place) {
            Some(file) => Ok(file.text.to_owned()),
            None => std::fs::read_to_string(&self.place)
                .map_err(|error| screen.fail(Exit::Usage, &format!("{} cannot be read: {error}", self.place))),
        }
    }

    /// The outcome, with commands in its traces that reproduce it: an outcome knows the name of a scenario, not its file
    /// and not the options of the run.
    pub(super) fn reproducible(&self, mut outcome: CheckOutcome, options: &str) -> CheckOutcome {
        for trace in outcome.properties.iter_mut().filter_map(|found| found.trace.as_mut()) {
            trace.reproduce = format!("lockstep check {}{options}", self.argument);
        }
        outcome
    }
}
