//! What a command was given: names, files, folders, traces.

use std::collections::BTreeMap;
use std::path::Path;

use lockstep_model::trace::{About, Trace};

use super::screen::Screen;
use super::{Ended, trace_file};
use crate::check::Outcome;
use crate::exit::Exit;
use crate::render::text::Declared;
use crate::scenario;
use crate::scenario::Scenario;

/// A scenario, and how the user calls it.
pub(super) struct Chosen {
    pub(super) scenario: Scenario,
    /// A name or a path: what to type to mean it again.
    pub(super) argument: String,
}

/// What one argument means where a trace will do as well.
pub(super) enum Input {
    Trace(Box<Trace>),
    Scenarios(Vec<Chosen>),
}

/// The scenarios of these arguments; of none: all built-in ones.
pub(super) fn scenarios(arguments: &[String], screen: &Screen) -> Ended<Vec<Chosen>> {
    if arguments.is_empty() {
        let named = |scenario: Scenario| Chosen { argument: scenario.name.clone(), scenario };
        return Ok(scenario::builtin().into_iter().map(named).collect());
    }
    let mut chosen: Vec<Chosen> = Vec::new();
    let mut exit = None;
    for argument in arguments {
        // One by one, so that every bad file is reported and every scenario knows where it came from.
        match scenario::located(std::slice::from_ref(argument)) {
            Ok(found) => {
                let called =
                    found.into_iter().map(|(place, scenario)| Chosen { argument: called(argument, &place), scenario });
                for one in called {
                    if !chosen.iter().any(|other| other.argument == one.argument) {
                        chosen.push(one);
                    }
                }
            }
            Err(error) => {
                Screen::report(&error.report(screen.colours_messages()));
                exit = Some(Exit::Usage);
            }
        }
    }
    exit.map_or(Ok(chosen), Err)
}

/// A trace file, or scenarios.
pub(super) fn trace_or_scenarios(argument: &str, screen: &Screen) -> Ended<Input> {
    if Path::new(argument).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
        let read = trace_file::read(Path::new(argument));
        return read
            .map(|trace| Input::Trace(Box::new(trace)))
            .map_err(|error| screen.fail(Exit::Usage, &error.to_string()));
    }
    Ok(Input::Scenarios(scenarios(&[argument.to_owned()], screen)?))
}

/// What the built-in scenario that a trace names says of it, if it is still the same world.
pub(super) fn declared(trace: &Trace) -> Declared {
    let About::Counterexample { property, .. } = trace.about else { return Declared::Unknown };
    scenario::builtin()
        .into_iter()
        .find(|scenario| scenario.name == trace.scenario && scenario.config == trace.config)
        .map_or(Declared::Unknown, |scenario| Declared::As(scenario.expect.get(&property).copied()))
}

/// An argument as it can be typed again: quoted where a shell would take it apart.
pub(super) fn typed(argument: &str) -> String {
    let is_safe = |character: char| character.is_ascii_alphanumeric() || "-_./+:@%,".contains(character);
    if !argument.is_empty() && argument.chars().all(is_safe) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

/// A built-in scenario wins over a folder of its name, as it does when it is looked for.
fn called(argument: &str, place: &str) -> String {
    let is_below = scenario::BuiltIn::named(argument).is_none() && Path::new(argument).is_dir();
    typed(if is_below { place } else { argument })
}

/// Refuses two scenarios of one name: what is written of one would be written over the other's.
pub(super) fn each_name_once(chosen: &[Chosen], screen: &Screen) -> Ended<()> {
    let mut met: BTreeMap<&str, &str> = BTreeMap::new();
    for Chosen { scenario, argument } in chosen {
        if let Some(first) = met.insert(&scenario.name, argument) {
            let text = format!(
                "{first} and {argument} are both called {}: with --out the traces of one would take the place of the \
                 other's\n  help: check them one by one, each with a folder of its own, or give one another name",
                scenario.name
            );
            return Err(screen.fail(Exit::Usage, &text));
        }
    }
    Ok(())
}

impl Chosen {
    /// What was found of it, with commands in its traces that find it again: they know its name, and not where it is.
    pub(super) fn reproducible(&self, mut outcome: Outcome) -> Outcome {
        for trace in outcome.properties.iter_mut().filter_map(|found| found.trace.as_mut()) {
            trace.reproduce = format!("lockstep check {}", self.argument);
        }
        outcome
    }
}
