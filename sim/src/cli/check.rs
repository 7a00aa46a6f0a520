//! `lockstep check`: looks at every state of scenarios.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::thread;
use std::time::Duration;

use super::input::{self, Chosen};
use super::progress::watched;
use super::screen::Screen;
use super::{Ended, Format, Output, interrupt};
use crate::check::native::Options;
use crate::check::{self, Engine, How, Limits, Width};
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
    /// Threads of the native search; what it finds does not depend on it [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Take worlds that differ only by the order of their clients for one (native engine only)
    #[arg(long)]
    symmetry: bool,
    /// Pass through states in which nothing can happen but time, and do not keep them (native engine only)
    #[arg(long)]
    skip_idle: bool,
    /// How wide the fingerprints are by which states are told apart, bits
    #[arg(long, value_enum, default_value_t, value_name = "BITS")]
    fingerprint: Width,
    /// Stop a scenario when its tables take so much memory: 500M, 2G
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    max_memory: Option<u64>,
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
    if args.engine != Engine::Native && (args.symmetry || args.skip_idle) {
        let text = "--symmetry and --skip-idle are the native engine's: the two engines would count other things";
        return Err(screen.fail(Exit::Usage, text));
    }
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
    let limits = Limits {
        max_states: args.max_states,
        max_bytes: args.max_memory,
        time_limit: args.timeout,
        stop: &interrupt::STOP,
        progress: &states,
    };
    let outcome =
        watched(screen, &one.scenario.name, "states", &states, || check::check_as(&one.scenario, how(args), &limits));
    outcome.map(|outcome| Found { argument: one.argument.clone(), outcome }).map_err(|error| {
        let text = format!(
            "{}: {error}\n  help: this is a defect of lockstep, not of the scenario; please report it",
            one.scenario.name
        );
        screen.fail(Exit::Internal, &text)
    })
}

fn how(args: &Args) -> How {
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    let threads = args.threads.map_or_else(processors, usize::from);
    let native = Options { threads, symmetry: args.symmetry, skip_idle: args.skip_idle };
    How { engine: args.engine, native, fingerprint: args.fingerprint }
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

/// A size of memory: `500M`, `2G`, or plain bytes; K, M and G are powers of 1024.
fn bytes(text: &str) -> Result<u64, String> {
    let (number, shift) = match text.char_indices().next_back() {
        Some((end, 'K' | 'k')) => (&text[..end], 10),
        Some((end, 'M' | 'm')) => (&text[..end], 20),
        Some((end, 'G' | 'g')) => (&text[..end], 30),
        _ => (text, 0),
    };
    let wrong = || format!("`{text}` is no size: write a whole number above 0 and K, M or G, such as 500M");
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).filter(|bytes| *bytes > 0).ok_or_else(wrong)
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
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

    #[test]
    fn a_size_is_a_number_and_a_unit() {
        assert_eq!(bytes("30"), Ok(30));
        assert_eq!(bytes("500M"), Ok(500 << 20));
        for wrong in ["", "0", "-1", "1.5", "M", "3 M", "99999999999999999999G", "9999999999G9"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
