//! Which faults break which property, and what repairs do: for people, and for programs.

use std::fmt::Write as _;

use lockstep_model::Property;
use serde_json::{Value, json};

use super::table::Rows;
use super::units::duration;
use super::words;
use super::words::hanging;
use crate::check::liveness::Lasting;
use crate::frontier::settings::{FAULTS, Setting};
use crate::frontier::{FaultSet, Frontier, FrontierOptions, HAS_IT, Minimal, Price, RepairEffect, Survey};

/// How to write the page for people.
#[derive(Clone, Copy, Debug)]
pub struct FrontierPage {
    /// Columns of the terminal.
    pub width: usize,
    /// The length of a tick, where the scenario's file has times with units; `None`: it counts in ticks, and so does the page.
    pub tick_ms: Option<u32>,
}

/// The page for people.
pub fn page(name: &str, survey: &Survey, options: FrontierOptions, shape: FrontierPage) -> String {
    let FrontierPage { width, tick_ms } = shape;
    let mut page = within(&format!("{name}   {}\n", bounds(survey, options)), width);
    page.push_str(&within(&incomplete(survey), width));
    page.push_str(&broken(&survey.bare, shape));
    if !survey.repaired.is_empty() {
        let is_whole = survey.unlooked.is_empty() && survey.repaired.iter().all(|frontier| !frontier.is_cut_short);
        let others = if is_whole { "has none" } else { "has none, or was not checked to the end" };
        let heading = within(&format!("effects of repairs; a repair that is not listed {others}\n"), width);
        let _ = write!(page, "\n{heading}{}", repairs(survey, width));
        page.push_str(&within(&unrepaired(survey), width));
        let head = ["", "an acquire can fail", "waits without a fault", "waits with one"];
        let costs = Rows::within(head, &costs(survey, tick_ms), &[], width).text();
        let _ = write!(page, "\ncosts of repairs\n{costs}{}", within(&prices(survey), width));
    }
    page.push('\n');
    page.push_str(&within(&inapplicable(survey), width));
    let key = "key   bare: without any repair; lasts: how long it can stay broken; empty if that is not known, or if it \
               concerns a step or a wait";
    page + &hanging(key, 6, width) + "\n"
}

/// Columns before the further lines of a sentence.
const MARGIN: usize = 4;

/// Each line in so many columns.
fn within(lines: &str, width: usize) -> String {
    lines.lines().map(|line| hanging(line, MARGIN, width) + "\n").collect()
}

/// What was not checked, and why.
fn incomplete(survey: &Survey) -> String {
    let all = || [&survey.bare].into_iter().chain(&survey.repaired);
    if survey.unlooked.is_empty() && all().all(Frontier::is_whole) {
        return String::new();
    }
    let why = match (survey.is_interrupted, survey.is_out_of_time) {
        (true, _) => "interrupted",
        (false, true) => "the time limit was reached",
        (false, false) => "a limit was reached",
    };
    let sum = |count: fn(&Frontier) -> usize| all().map(count).sum::<usize>();
    let line = if survey.unlooked.is_empty() && !all().any(|frontier| frontier.is_cut_short) {
        let (checked, sets) = (sum(Frontier::checked), sum(|frontier| frontier.sets));
        format!("INCOMPLETE: {why}; {checked} of {sets} sets were checked completely\n")
    } else {
        let asked = survey.repaired.len() + survey.unlooked.len();
        let repaired = survey.repaired.iter().filter(|frontier| !frontier.is_cut_short).count();
        let repairs = if asked == 0 { String::new() } else { format!(", and {repaired} of {asked} repairs") };
        let (checked, sets) = (survey.bare.checked(), survey.bare.sets);
        format!("INCOMPLETE: {why}; {checked} of {sets} sets were checked without a repair{repairs}\n")
    };
    line + &unchecked(survey, sum(Frontier::unchecked)) + &first_limit(all().find_map(|all| all.first_limit.as_ref()))
}

/// What there was no time for.
fn unchecked(survey: &Survey, sets: usize) -> String {
    let repairs: Vec<_> = survey.unlooked.iter().map(|repair| repair.name).collect();
    let repairs = (!repairs.is_empty()).then(|| format!("all sets with {}", repairs.join(", ")));
    let sets = (sets > 0).then(|| words::count(sets, "set"));
    let what: Vec<_> = [sets, repairs].into_iter().flatten().collect();
    if what.is_empty() { String::new() } else { format!("not checked: {}\n", what.join(", and ")) }
}

fn first_limit(first: Option<&(FaultSet, String)>) -> String {
    first.map_or_else(String::new, |(set, why)| format!("the first limit, with {}: {why}\n", set.words()))
}

/// What is broken without any fault and by no repair prevented: no row says so.
fn unrepaired(survey: &Survey) -> String {
    let is_as_before = |(property, minimal): &(Property, &Minimal)| {
        let cells = survey.cells(*property, minimal);
        minimal.faults == FaultSet::none() && cells.iter().all(|cell| cell.effect == RepairEffect::Nothing)
    };
    let ids: Vec<_> = survey.anomalies().filter(is_as_before).map(|(property, _)| property.id()).collect();
    if ids.is_empty() {
        return String::new();
    }
    format!("broken without any fault, and no repair that was checked changes it: {}\n", ids.join(", "))
}

/// Repairs and faults that the scenario cannot have, in a line each.
fn inapplicable(survey: &Survey) -> String {
    let line = |what: &str, groups: [(Vec<&str>, &str); 2]| {
        let said = groups.into_iter().filter(|(names, _)| !names.is_empty());
        let said: Vec<_> = said.map(|(names, why)| format!("{} ({why})", names.join(", "))).collect();
        if said.is_empty() { String::new() } else { format!("{what}: {}\n", said.join("; ")) }
    };
    let repairs = |is_there: bool| {
        let all = survey.impossible.iter().filter(|(_, reason)| (reason == HAS_IT) == is_there);
        all.map(|(repair, _)| repair.name).collect()
    };
    let faults = |is_modelled: bool| {
        let all = survey.foreign.iter().filter(|foreign| foreign.is_modelled == is_modelled);
        all.map(|foreign| foreign.fault.name).collect()
    };
    let not_here = "not possible here; --format json says why";
    let not_modelled = "not modelled here, so not checked";
    line("repairs without effect", [(repairs(true), HAS_IT), (repairs(false), not_here)])
        + &line("faults left out", [(faults(true), not_here), (faults(false), not_modelled)])
}

/// The bounds of the claims.
pub fn bounds(survey: &Survey, options: FrontierOptions) -> String {
    let is_left_out = |fault: &&Setting| options.without.contains(fault);
    let known = FAULTS.iter().filter(|fault| !is_left_out(fault)).count() - survey.foreign.len();
    let times = if options.each == 1 { "once".to_owned() } else { format!("{} times", options.each) };
    let alone = options.alone.iter().fold(String::new(), |said, fault| format!("{said}, {} alone only", fault.name));
    let without = options.without.iter().fold(String::new(), |said, fault| said + ", without " + fault.name);
    format!(
        "at most {} of {known} faults, each at most {times}{alone}{without}: {}, {} states",
        options.most,
        words::count(survey.bare.verdicts.len(), "set"),
        words::thousands(survey.bare.states)
    )
}

fn broken(frontier: &Frontier, FrontierPage { width, tick_ms }: FrontierPage) -> String {
    let mut rows = Vec::new();
    for (property, all) in &frontier.broken {
        if all.is_empty() {
            let none = if frontier.is_whole() { "nothing breaks it" } else { "not known: not every set was checked" };
            rows.push([property.id().to_owned(), none.to_owned(), String::new(), String::new()]);
        }
        for minimal in all {
            let doubt = if minimal.is_confirmed { "" } else { "   perhaps not minimal: a limit was reached" };
            let steps = words::count(minimal.steps, "step") + doubt;
            let lasts = minimal.lasts.map_or_else(String::new, |lasting| lasts(lasting, tick_ms));
            rows.push([property.id().to_owned(), minimal.faults.words(), steps, lasts]);
        }
    }
    Rows::within(["property", "broken by", "in", "lasts"], &rows, &[], width).text()
}

/// `for ever`, `at most 2 ticks`; if the length of a tick is given, `at most 20 s`.
pub fn lasts(lasting: Lasting, tick_ms: Option<u32>) -> String {
    match lasting {
        Lasting::ForEver => "for ever".to_owned(),
        Lasting::Ticks(0) => {
            tick_ms.map_or_else(|| "less than a tick".to_owned(), |ms| format!("less than {}", duration(ms.into())))
        }
        Lasting::Ticks(most) => {
            let ticks = || words::count(most as usize, "tick");
            format!("at most {}", tick_ms.map_or_else(ticks, |ms| duration(u64::from(most) * u64::from(ms))))
        }
    }
}

fn repairs(survey: &Survey, width: usize) -> String {
    let mut rows = Vec::new();
    for (property, minimal) in survey.anomalies() {
        for cell in survey.cells(property, minimal).into_iter().filter(|cell| cell.effect != RepairEffect::Nothing) {
            let anomaly = format!("{} by {}", property.id(), minimal.faults.words());
            rows.push([anomaly, cell.repair.name.to_owned(), cell.effect.name().to_owned()]);
        }
    }
    Rows::within(["anomaly", "repair", ""], &rows, &[], width).text()
}

/// What repairs break that was whole before.
fn prices(survey: &Survey) -> String {
    let mut page = String::new();
    for frontier in &survey.repaired {
        let Some(repair) = frontier.repair else { continue };
        for (property, minimal) in survey.price(frontier) {
            let _ = writeln!(page, "{} breaks {}, by {}", repair.name, property.id(), minimal.faults.words());
        }
    }
    page
}

/// The costs, bare and under each repair that makes a difference: with which faults an acquire can fail because too few
/// replicas answer, and the longest wait.
pub fn costs(survey: &Survey, tick_ms: Option<u32>) -> Vec<[String; 4]> {
    let row = |frontier: &Frontier| {
        let failing: Vec<_> = frontier.prices.iter().filter(|(_, price)| price.can_fail).collect();
        let fails = if failing.iter().any(|(set, _)| set.iter().next().is_none()) {
            "even without a fault".to_owned()
        } else if failing.is_empty() {
            "never".to_owned()
        } else {
            format!("with {}", failing.iter().map(|(set, _)| set.words()).collect::<Vec<_>>().join(", "))
        };
        let longest = |with_fault: bool| {
            let of = |(set, _): &(&FaultSet, &Price)| set.iter().next().is_some() == with_fault;
            frontier.prices.iter().filter(of).filter_map(|(_, price)| price.longest_wait).max()
        };
        let says = |longest: Option<Lasting>| {
            longest.map_or_else(|| "no client waits".to_owned(), |lasting| lasts(lasting, tick_ms))
        };
        let name = frontier.repair.map_or("bare", |repair| repair.name);
        [name.to_owned(), fails, says(longest(false)), says(longest(true))]
    };
    let bare = row(&survey.bare);
    let differs = |row: &[String; 4]| row[1..] != bare[1..];
    let repaired: Vec<_> = survey.repaired.iter().map(row).filter(differs).collect();
    [bare].into_iter().chain(repaired).collect()
}

/// The object for programs.
pub fn json(name: &str, survey: &Survey, options: FrontierOptions) -> Value {
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
        "alone": options.alone.iter().map(|fault| fault.name).collect::<Vec<_>>(),
        "without": options.without.iter().map(|fault| fault.name).collect::<Vec<_>>(),
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
        "impossible_faults": survey.foreign.iter().map(|foreign| json!({
            "fault": foreign.fault.name,
            "reason": foreign.reason,
            "modelled": foreign.is_modelled,
        })).collect::<Vec<_>>(),
        "time_limit_reached": survey.is_out_of_time,
        "repairs_not_looked_at": survey.unlooked.iter().map(|repair| repair.name).collect::<Vec<_>>(),
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
        "sets": frontier.sets,
        "checked": frontier.verdicts.len(),
        "states": frontier.states,
        "seconds": frontier.seconds,
        "properties": properties,
        "prices": frontier.prices.iter().map(|(set, price)| json!({
            "faults": faults(set),
            "acquire_can_fail": price.can_fail,
            "longest_wait": lasting(price.longest_wait),
        })).collect::<Vec<_>>(),
        "complete": frontier.is_whole(),
        "inconclusive": frontier.inconclusive.iter().map(faults).collect::<Vec<_>>(),
    })
}

fn lasting(lasting: Option<Lasting>) -> Value {
    match lasting {
        None => Value::Null,
        Some(Lasting::ForEver) => json!("for ever"),
        Some(Lasting::Ticks(most)) => json!({ "at_most_ticks": most }),
    }
}

fn minimal(minimal: &Minimal) -> Value {
    json!({
        "faults": faults(&minimal.faults),
        "steps": minimal.steps,
        "lasts": lasting(minimal.lasts),
        "confirmed": minimal.is_confirmed,
    })
}

fn faults(set: &FaultSet) -> Value {
    set.iter().map(|(fault, budget)| (fault.name.to_owned(), json!(budget))).collect::<serde_json::Map<_, _>>().into()
}
