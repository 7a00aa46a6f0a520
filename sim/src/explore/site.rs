//! What the page says of the scenario as a whole: name, story, world and verdicts.

use std::fmt::Write as _;
use std::sync::OnceLock;

use lockstep_model::properties::PropertyKind;
use lockstep_model::trace::Trace;
use serde_json::Value;

use super::walk::{address_of, arrive};
use crate::check::{CheckOutcome, PropertyOutcome};
use crate::render::{svg, words};
use crate::scenario::Scenario;

const PAGE: &str = include_str!("page/index.html");

/// One scenario, ready to be shown.
pub struct Site {
    scenario: Scenario,
    outcome: OnceLock<CheckOutcome>,
}

impl Site {
    /// Of a scenario that is not checked yet.
    pub fn new(scenario: Scenario) -> Self {
        Self { scenario, outcome: OnceLock::new() }
    }

    /// The verdicts are known. Only the first call counts.
    pub fn set_outcome(&self, outcome: CheckOutcome) {
        let _ = self.outcome.set(outcome);
    }

    /// The whole page, with the verdicts as far as they are known.
    pub(super) fn page(&self) -> String {
        let Scenario { name, story, config, .. } = &self.scenario;
        let mut world = String::new();
        for line in words::world(config) {
            let _ = writeln!(world, "<li>{}</li>", svg::escaped(&line));
        }
        // The story comes last: it may contain anything, even the name of a place on the page.
        PAGE.replace("{{kind}}", config.lock.name())
            .replace("{{name}}", &svg::escaped(name))
            .replace("{{world}}", &world)
            .replace("{{verdicts}}", &self.verdicts())
            .replace("{{story}}", &svg::escaped(story.trim()))
    }

    /// The verdicts, as a piece of the page.
    pub(super) fn verdicts(&self) -> String {
        let Some(outcome) = self.outcome.get() else {
            return "<p data-checked=\"no\">The scenario is being checked; the verdicts appear here.</p>\n".to_owned();
        };
        let states = words::thousands(outcome.states);
        let searched = if outcome.complete {
            format!("all {states} states")
        } else if outcome.is_out_of_room() {
            format!("{states} states, without those behind steps that the model has too little room for")
        } else {
            format!("only the first {states} states")
        };
        let mut html = format!("<p data-checked=\"yes\">Checked: {searched}.</p>\n<table>\n");
        html += "<tr><th>property</th><th>says</th><th>verdict</th><th>counterexample</th></tr>\n";
        for found in &outcome.properties {
            let _ = writeln!(
                html,
                "<tr class=\"{}\"><td>{}</td><td>{}: {}</td><td>{}</td><td>{}</td></tr>",
                found.verdict,
                found.property,
                scope(found.property.kind()),
                svg::escaped(found.property.sentence()),
                svg::escaped(&verdict(found)),
                self.link(found)
            );
        }
        html + "</table>\n"
    }

    /// The end of a path; `None` if one of the choices does not exist.
    pub(super) fn arrive(&self, choices: &[usize]) -> Option<Value> {
        let found = self.outcome.get().into_iter().flat_map(|outcome| &outcome.properties);
        let known: Vec<Trace> = found.filter_map(|found| found.trace.clone()).collect();
        arrive(&self.scenario, choices, &known)
    }

    fn link(&self, found: &PropertyOutcome) -> String {
        let Some(trace) = &found.trace else { return String::new() };
        let Some(address) = address_of(&self.scenario.config, &trace.actions()) else { return String::new() };
        format!("<a href=\"{address}\">{}</a>", words::count(trace.steps.len(), "step"))
    }
}

/// Where a property must be true.
const fn scope(kind: PropertyKind) -> &'static str {
    match kind {
        PropertyKind::Safety => "in every state",
        PropertyKind::Liveness => "on every fair path",
        PropertyKind::Possible => "possible from every state",
        PropertyKind::Reachable => "at least once",
    }
}

fn verdict(found: &PropertyOutcome) -> String {
    let says = words::as_declared(found.verdict, found.declared, found.is_required);
    found.why.as_ref().map_or_else(|| says.clone(), |why| format!("{says} ({why})"))
}
