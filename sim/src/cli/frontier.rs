//! `lockstep frontier`: which faults break which property, and which repair prevents it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use lockstep_model::Property;

use super::common::{Ended, Format, Output};
use super::out::{AnomalyFolder, make_folder};
use super::progress::watched_as;
use super::screen::Screen;
use super::within::{MaxMemory, duration};
use crate::check::Limits;
use crate::exit::Exit;
use crate::frontier::settings::{FAULTS, REPAIRS, Setting};
use crate::frontier::{FaultSet, Frontier, FrontierOptions, ScenarioEdit, SetsChecked, Survey, survey};
use crate::render::frontier::{FrontierPage, json, page};
use crate::render::words::thousands;
use crate::scenario::Scenario;

/// The scenario that is searched unless another is named: what most teams run.
const BASE: &str = "a-master-and-a-replica";

#[derive(clap::Args)]
pub(super) struct FrontierArgs {
    /// The scenario: a built-in name or a file; its faults and claims are ignored
    #[arg(value_name = "NAME|FILE", default_value = BASE)]
    scenario: String,
    /// Faults in one set, at most
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=6))]
    most: u8,
    /// How often one fault may happen, at most
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=8))]
    each: u8,
    /// A fault that is checked alone only: `delay`, if combinations become too large; may be repeated
    #[arg(long, value_name = "FAULT", value_parser = fault)]
    alone: Vec<&'static Setting>,
    /// A fault that is in no set, if worlds with it become too large; may be repeated
    #[arg(long, value_name = "FAULT", value_parser = fault)]
    without: Vec<&'static Setting>,
    /// Only these repairs [default: all]
    #[arg(long, value_name = "NAME", value_parser = repair, conflicts_with = "bare")]
    repair: Vec<&'static Setting>,
    /// Check no repairs, only which faults break which property
    #[arg(long)]
    bare: bool,
    /// Number of sets checked at the same time; results do not depend on it [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Stop the check of a set after this number of distinct states
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_states: Option<u64>,
    #[command(flatten)]
    memory: MaxMemory,
    /// Stop after this time, and say which sets were not checked: 30, 30s, 5m, 1h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    timeout: Option<Duration>,
    /// Write every anomaly, bare and under each repair, to DIR/<world>--<property>--<faults>--<repair>.toml, a scenario
    /// that can be checked and replayed
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(args: &FrontierArgs, screen: &Screen) -> Ended<Exit> {
    let FrontierBase { name, edit, tick_ms } = base(&args.scenario, screen)?;
    let out = args.out.as_ref().map(|folder| AnomalyFolder { folder, world: &name });
    if let Some(out) = &out {
        // Before the search, which may take hours.
        make_folder(out.folder, screen)?;
        out.refuse_foreign(screen)?;
    }
    let repairs: Vec<&'static Setting> = match (args.bare, args.repair.is_empty()) {
        (true, _) => Vec::new(),
        (false, true) => REPAIRS.iter().collect(),
        (false, false) => args.repair.clone(),
    };
    for repair in &repairs {
        let overridden = edit.overridden(repair);
        if !overridden.is_empty() {
            let name = repair.name;
            let keys = overridden.join(", ");
            screen.tell(&format!("{name} changes what all clients have in common, but [[client]] has its own {keys}"));
        }
    }
    let threads = args.threads.map_or_else(|| thread::available_parallelism().map_or(1, usize::from), usize::from);
    // The options are copied freely and live as long as the process.
    let (alone, without) = (args.alone.clone().leak(), args.without.clone().leak());
    let options = FrontierOptions { most: args.most, each: args.each, alone, without, threads };
    let states = AtomicU64::new(0);
    let limits = Limits { max_states: args.max_states, time_limit: args.timeout, ..args.memory.limits(&states) };
    let sets = SetsChecked::default();
    let searched = watched_as(screen, &name, None, &|| so_far(&sets, &states), || {
        survey(&edit, &repairs, options, &limits, &sets, |what| screen.tell(&format!("{name}: {what}")))
    });
    let found = searched.map_err(|error| screen.fail(Exit::Internal, &format!("{name}: {error}")))?;
    // What was found is printed also if it cannot be written.
    let written = out.map_or(Ok(()), |out| write(&out, &edit, &found, screen));
    match args.output.format {
        Format::Json => screen.print_json(&json(&name, &found, options))?,
        Format::Human => {
            let shape = FrontierPage { width: Screen::width(), tick_ms };
            screen.print(&page(&name, &found, options, shape))?;
        }
    }
    written?;
    let is_known = found.bare.is_whole() && found.repaired.iter().all(Frontier::is_whole) && found.unlooked.is_empty();
    Ok(if is_known { Exit::AsDeclared } else { Exit::Inconclusive })
}

/// How far the search is: `set 12 of 93, 4 567 states of one set`.
fn so_far(sets: &SetsChecked, states: &AtomicU64) -> String {
    let (begun, all) = sets.counts();
    format!("set {begun} of {all}, {} states of one set", thousands(states.load(Ordering::Relaxed)))
}

/// The scenario that is searched.
struct FrontierBase {
    name: String,
    edit: ScenarioEdit,
    /// The length of a tick, where the file has times with units.
    tick_ms: Option<u32>,
}

/// The text of a scenario, by name or file.
fn base(argument: &str, screen: &Screen) -> Ended<FrontierBase> {
    let chosen = super::input::scenarios(&[argument.to_owned()], screen)?;
    let [one] = chosen.as_slice() else {
        return Err(screen.fail(Exit::Usage, &format!("{argument} is {} scenarios; name one", chosen.len())));
    };
    let text = one.text(screen)?;
    let Scenario { name, config, units, .. } = &one.scenario;
    let tick_ms = units.has_units().then_some(config.time.tick_ms);
    Ok(FrontierBase { name: name.clone(), edit: ScenarioEdit::new(&text), tick_ms })
}

fn write(out: &AnomalyFolder<'_>, edit: &ScenarioEdit, survey: &Survey, screen: &Screen) -> Ended<()> {
    let (mut number, mut unknown) = (0, 0);
    let mut keep = |frontier: &Frontier, property: Property, faults: &FaultSet| {
        let variant = frontier.repair.map_or("bare", |repair| repair.name);
        let Some(edit) = faults.under(edit, frontier.repair) else { return Ok(()) };
        // The set itself may not have been checked: then a smaller one breaks the same.
        let Some(verdicts) = frontier.verdicts.get(faults) else { return Ok(()) };
        if frontier.inconclusive.contains(faults) {
            // The claims of an incomplete check would not be as declared.
            unknown += 1;
            return Ok(());
        }
        let story = format!("{}, by {}, {variant}.", property.id(), faults.words());
        let text = edit.text(&story, verdicts);
        debug_assert!(Scenario::parse("written", &text).is_ok(), "what was read can be read again: {text}");
        number += 1;
        out.keep((property, &faults.name(), variant), &text, screen)
    };
    for (property, minimal) in survey.anomalies() {
        for frontier in [&survey.bare].into_iter().chain(&survey.repaired) {
            keep(frontier, property, &minimal.faults)?;
        }
    }
    for frontier in &survey.repaired {
        for (property, minimal) in survey.price(frontier) {
            keep(frontier, property, &minimal.faults)?;
        }
    }
    screen.tell(&format!("{number} scenarios in {}", out.folder.display()));
    if unknown > 0 {
        screen.tell(&format!("{unknown} were not written: a limit was reached before all their verdicts were known"));
    }
    Ok(())
}

fn repair(name: &str) -> Result<&'static Setting, String> {
    setting("repair", REPAIRS, name)
}

fn fault(name: &str) -> Result<&'static Setting, String> {
    setting("fault", FAULTS, name)
}

fn setting(what: &str, all: &'static [Setting], name: &str) -> Result<&'static Setting, String> {
    all.iter().find(|setting| setting.name == name).ok_or_else(|| {
        let known: Vec<_> = all.iter().map(|setting| setting.name).collect();
        format!("there is no {what} `{name}`; known: {}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_says_which_set_of_how_many_is_checked() {
        let said = so_far(&SetsChecked::default(), &AtomicU64::new(4567));
        assert_eq!(said, "set 0 of 0, 4 567 states of one set");
    }
}
