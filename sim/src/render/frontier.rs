//! Which faults break what, and what repairs do about it: for people, and for programs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::verdicts::{plain_table, trimmed};
use super::words;
use crate::frontier::knobs::FAULTS;
use crate::frontier::survey::is_availability;
use crate::frontier::{Effect, Frontier, Minimal, Options, Survey};

/// The page for people.
pub fn page(name: &str, survey: &Survey, options: Options) -> String {
    let mut page = format!("{name}   {}\n", bounds(survey, options));
    page.push_str(&broken(&survey.bare));
    if !survey.repaired.is_empty() {
        let _ = write!(page, "\nwhat repairs do; what is not listed does nothing\n{}", repairs(survey));
        page.push_str(&prices(survey));
    }
    for (repair, reason) in &survey.impossible {
        let _ = writeln!(page, "{} does not go with it: {reason}", repair.name);
    }
    for foreign in &survey.foreign {
        let _ = writeln!(page, "{} cannot happen there: {}", foreign.fault.name, foreign.reason);
    }
    page
}

/// What the claims are bounded by.
pub fn bounds(survey: &Survey, options: Options) -> String {
    let known = FAULTS.len() - survey.foreign.len();
    let times = if options.each == 1 { "once".to_owned() } else { format!("{} times", options.each) };
    format!(
        "at most {} of {known} faults, each at most {times}: {} sets, {} states",
        words::count(usize::from(options.most), "fault").split(' ').next().unwrap_or_default(),
        survey.bare.verdicts.len(),
        survey.bare.states
    )
}

fn broken(frontier: &Frontier) -> String {
    let mut rows = Vec::new();
    for (property, all) in &frontier.broken {
        if all.is_empty() {
            rows.push([property.id().to_owned(), "nothing breaks it".to_owned(), String::new()]);
        }
        for minimal in all {
            let doubt = if minimal.is_confirmed { "" } else { "   perhaps not minimal: a limit fired" };
            let steps = words::count(minimal.steps, "step") + doubt;
            rows.push([property.id().to_owned(), minimal.faults.words(), steps]);
        }
    }
    trimmed(&plain_table(["property", "broken by", "in"], rows))
}

fn repairs(survey: &Survey) -> String {
    let mut rows = Vec::new();
    for (property, minimal) in survey.anomalies() {
        for cell in survey.cells(property, minimal).into_iter().filter(|cell| cell.effect != Effect::Nothing) {
            let anomaly = format!("{} by {}", property.id(), minimal.faults.words());
            rows.push([anomaly, cell.repair.name.to_owned(), cell.effect.name().to_owned()]);
        }
    }
    trimmed(&plain_table(["anomaly", "repair", ""], rows))
}

fn prices(survey: &Survey) -> String {
    let mut page = String::new();
    for frontier in &survey.repaired {
        let Some(repair) = frontier.repair else { continue };
        for (property, minimal) in survey.price(frontier) {
            let price = if is_availability(property) { "costs" } else { "breaks" };
            let _ = writeln!(page, "{} {price} {}, by {}", repair.name, property.id(), minimal.faults.words());
        }
    }
    if page.is_empty() { page } else { format!("\nwhat they cost\n{page}") }
}

/// The object for programs.
pub fn json(name: &str, survey: &Survey, options: Options) -> Value {
    let variants: Vec<_> = [&survey.bare].into_iter().chain(&survey.repaired).map(variant).collect();
    let cells: Vec<_> = survey
        .anomalies()
        .flat_map(|(property, minimal)| survey.cells(property, minimal))
        .map(|cell| {
            json!({
                "property": cell.property.id(),
                "faults": faults(&cell.faults),
                "repair": cell.repair.name,
                "effect": cell.effect.name(),
            })
        })
        .collect();
    json!({
        "schema": 1,
        "scenario": name,
        "most": options.most,
        "each": options.each,
        "variants": variants,
        "cells": cells,
        "prices": survey.repaired.iter().flat_map(|frontier| {
            survey.price(frontier).map(|(property, minimal)| json!({
                "repair": frontier.repair.map(|repair| repair.name),
                "property": property.id(),
                "faults": faults(&minimal.faults),
            }))
        }).collect::<Vec<_>>(),
        "impossible_repairs": survey.impossible.iter()
            .map(|(repair, reason)| json!({ "repair": repair.name, "reason": reason })).collect::<Vec<_>>(),
        "impossible_faults": survey.foreign.iter()
            .map(|foreign| json!({ "fault": foreign.fault.name, "reason": foreign.reason })).collect::<Vec<_>>(),
    })
}

fn variant(frontier: &Frontier) -> Value {
    let properties: Vec<_> = frontier
        .broken
        .iter()
        .map(|(property, all)| json!({ "id": property.id(), "minimal": all.iter().map(minimal).collect::<Vec<_>>() }))
        .collect();
    json!({
        "repair": frontier.repair.map(|repair| repair.name),
        "checked": frontier.verdicts.len(),
        "states": frontier.states,
        "seconds": frontier.seconds,
        "properties": properties,
        "inconclusive": frontier.inconclusive.iter().map(faults).collect::<Vec<_>>(),
    })
}

fn minimal(minimal: &Minimal) -> Value {
    json!({ "faults": faults(&minimal.faults), "steps": minimal.steps, "confirmed": minimal.is_confirmed })
}

fn faults(set: &crate::frontier::FaultSet) -> Value {
    set.iter().map(|(fault, budget)| (fault.name.to_owned(), json!(budget))).collect::<serde_json::Map<_, _>>().into()
}
