//! `lockstep check`: looks at every state of scenarios.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use super::input::{self, Chosen};
use super::progress::watched;
use super::screen::Screen;
use super::{Ended, Format, Output, interrupt};
use crate::check::{self, Engine, Limits};
use crate::exit::Exit;
use crate::render::verdicts::{self, Found};
use crate::render::{json, words};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Scenarios: names of built-in ones, files, folders; none: all built-in ones
    #[arg(value_name = "NAME|FILE|FOLDER")]
    scenarios: Vec<String>,
    /// Who looks
    #[arg(long, value_enum, default_value_t)]
    engine: Engine,
    /// Threads of the search; only 1 for now
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = one_thread)]
    threads: u32,
    /// Stop a scenario after so many distinct states
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_states: Option<u64>,
    /// Stop a scenario after so long: 30, 30s, 5m, 1h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    timeout: Option<Duration>,
    /// Write the trace of every violated property to DIR/<scenario>.<property>.json
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(args: &Args, screen: &Screen) -> Ended<Exit> {
    debug_assert_eq!(args.threads, 1, "the parser has seen to it");
    let chosen = input::scenarios(&args.scenarios, screen)?;
    if let Some(folder) = &args.out {
        // Now, and not when the first trace is there: that may be hours later.
        make_folder(folder, screen)?;
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
                if let Some(folder) = &args.out {
                    write_traces(folder, &found, screen)?;
                }
                all.push(found);
            }
            Err(worse) => exit = exit.worst(worse),
        }
    }

    match args.output.format {
        Format::Json => screen.print_json(&verdicts::json(&all))?,
        Format::Human => screen.print(&human(&all, chosen.len(), args, screen))?,
    }
    Ok(exit)
}

fn look(one: &Chosen, args: &Args, screen: &Screen) -> Ended<Found> {
    let states = AtomicU64::new(0);
    let limits =
        Limits { max_states: args.max_states, time_limit: args.timeout, stop: &interrupt::STOP, progress: &states };
    let outcome =
        watched(screen, &one.scenario.name, "states", &states, || check::check(&one.scenario, args.engine, &limits));
    outcome.map(|outcome| Found { argument: one.argument.clone(), outcome }).map_err(|error| {
        let text = format!(
            "{}: {error}\n  help: this is a defect of lockstep, not of the scenario; please report it",
            one.scenario.name
        );
        screen.fail(Exit::Internal, &text)
    })
}

fn exit_of(found: &Found) -> Exit {
    match found.result() {
        verdicts::Result::Passed => Exit::AsDeclared,
        verdicts::Result::Failed => Exit::NotAsDeclared,
        verdicts::Result::Undecided => Exit::Inconclusive,
    }
}

fn human(all: &[Found], asked: usize, args: &Args, screen: &Screen) -> String {
    let mut parts = Vec::new();
    if !all.is_empty() {
        parts.push(verdicts::page(all, screen.paint(), Screen::width()));
    }
    if interrupt::is_asked() {
        let looked = all.len();
        parts
            .push(format!("interrupted: {looked} of {asked} scenarios were looked at, the last one perhaps in part\n"));
    }
    let traces = all.iter().flat_map(|found| &found.outcome.properties).filter(|found| found.trace.is_some()).count();
    if let Some(folder) = args.out.as_ref().filter(|_| traces > 0) {
        let (number, folder) = (words::count(traces, "trace"), folder.display());
        parts.push(format!("{number} in {folder}\nnext  lockstep replay {folder}/SCENARIO.PROPERTY.json\n"));
    }
    let times = |result| all.iter().filter(|found| found.result() == result).count();
    let (passed, failed) = (times(verdicts::Result::Passed), times(verdicts::Result::Failed));
    parts.push(format!("{passed} passed, {failed} failed, {} skipped\n", asked - passed - failed));
    parts.join("\n")
}

fn write_traces(folder: &Path, found: &Found, screen: &Screen) -> Ended<()> {
    for property in &found.outcome.properties {
        if let Some(trace) = &property.trace {
            let name = format!("{}.{}.json", found.outcome.scenario, property.property);
            write_whole(&folder.join(name), &json::document(trace), screen)?;
        }
    }
    Ok(())
}

/// Makes a folder and those above it.
pub(super) fn make_folder(folder: &Path, screen: &Screen) -> Ended<()> {
    std::fs::create_dir_all(folder).map_err(|error| {
        screen.fail(Exit::Environment, &format!("cannot make the folder {}: {error}", folder.display()))
    })
}

/// Writes a file at once: who looks finds the old one or the new one, never half of it.
pub(super) fn write_whole(file: &Path, text: &str, screen: &Screen) -> Ended<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        let mut draft = tempfile::Builder::new().permissions(readable()).tempfile_in(folder)?;
        draft.write_all(text.as_bytes())?;
        draft.as_file().sync_all()?;
        draft.persist(file)?;
        Ok(())
    };
    write().map_err(|error| screen.fail(Exit::Environment, &format!("cannot write {}: {error}", file.display())))
}

/// As any new file, and not for its owner only as temporary ones are. The umask takes its part.
fn readable() -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::Permissions::from_mode(0o666)
}

fn one_thread(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(1) => Ok(1),
        Ok(_) => Err("the search runs on 1 thread for now".to_owned()),
        Err(_) => Err("not a number of threads".to_owned()),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let (number, seconds) = match text.char_indices().next_back() {
        Some((end, 's')) => (&text[..end], 1),
        Some((end, 'm')) => (&text[..end], 60),
        Some((end, 'h')) => (&text[..end], 3600),
        _ => (text, 1),
    };
    let wrong = || format!("`{text}` is no time: write a whole number above 0 and s, m or h, such as 30s");
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number.checked_mul(seconds).filter(|seconds| *seconds > 0).map(Duration::from_secs).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_and_a_unit() {
        assert_eq!(duration("30"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        for wrong in ["", "0", "-1", "1.5", "s", "3 s", "9999999999999999999h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
