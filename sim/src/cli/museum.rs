//! `lockstep museum`: defects of real client libraries, reproduced on them.

use std::path::PathBuf;
use std::sync::atomic::AtomicU64;

use serde_json::json;

use super::common::{Ended, Format, Output};
use super::interrupt;
use super::progress::{ProgressUnit, watched};
use super::screen::Screen;
use super::servers::{server, server_failed};
use super::within::MaxMemory;
use crate::exit::Exit;
use crate::fuzz::FuzzFailure;
use crate::museum::{Examination, ExamineError, Exhibit, ExhibitOutcome, OnLibrary, Servers, examine};
use crate::render::museum::{Tally, json_of, listed, listed_json, page};
use crate::render::words::next;
use crate::replay::redisson::RedissonProgram;

#[derive(clap::Args)]
pub(super) struct MuseumArgs {
    /// The exhibits to reproduce [default: all]
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// List the exhibits, and run nothing
    #[arg(long)]
    list: bool,
    /// The version of Redisson; its driver is built by tools/redisson/install
    #[arg(long, value_name = "VERSION", default_value = "4.7.0", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    redisson: String,
    /// How often each history is replayed on the library
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    times: u32,
    /// The redis-server or valkey-server to use
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,
    #[command(flatten)]
    memory: MaxMemory,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(args: &MuseumArgs, screen: &Screen) -> Ended<Exit> {
    let exhibits = chosen(&args.ids, screen)?;
    if args.list {
        return list(&exhibits, args.output.format, screen);
    }
    let server = server(args.server.as_deref(), screen)?;
    let library = RedissonProgram::find(&args.redisson).map_err(|error| server_failed(&error, screen))?;
    let on = Servers { server: &server, library: &library, times: args.times };
    let mut exit = Exit::AsDeclared;
    let mut results = Vec::new();
    let mut tally = Tally::default();
    for exhibit in &exhibits {
        let done = AtomicU64::new(0);
        let examined = watched(screen, &exhibit.id, ProgressUnit::EXAMINED, &done, || {
            examine(exhibit, &on, &args.memory.limits(&done))
        });
        if interrupt::is_asked() {
            break;
        }
        let found = examined.map_err(|error| failed(exhibit, error, screen))?;
        let leads_to = exit_of(&found, exhibit.versions.has(&args.redisson));
        exit = exit.worst(leads_to);
        tally.add(&exhibit.id, found.outcome(), leads_to != Exit::AsDeclared);
        if args.output.format == Format::Human {
            let gap = if results.is_empty() { "" } else { "\n" };
            screen.print(&format!("{gap}{}", page(exhibit, &found, &args.redisson, Screen::width())))?;
        }
        results.push(json_of(exhibit, &found, &args.redisson));
    }
    if interrupt::is_asked() {
        Screen::report(&format!("interrupted: {} of {} exhibits were examined", results.len(), exhibits.len()));
    }
    match args.output.format {
        Format::Json => screen.print_json(&json!({ "schema": 1, "exhibits": results }))?,
        Format::Human if exhibits.len() == 1 => {}
        Format::Human => {
            let skipped = exhibits.len() - results.len();
            screen.print(&format!("\n{}", tally.page(&args.redisson, skipped, Screen::width())))?;
        }
    }
    Ok(exit)
}

fn list(exhibits: &[Exhibit], format: Format, screen: &Screen) -> Ended<Exit> {
    match format {
        Format::Human => {
            let commands = ["lockstep museum ID", "lockstep museum ID --redisson VERSION --times 20"];
            screen.print(&format!("{}\n{}", listed(exhibits, Screen::width()), next(&commands)))?;
        }
        Format::Json => {
            let exhibits: Vec<_> = exhibits.iter().map(listed_json).collect();
            screen.print_json(&json!({ "schema": 1, "exhibits": exhibits }))?;
        }
    }
    Ok(Exit::AsDeclared)
}

fn chosen(ids: &[String], screen: &Screen) -> Ended<Vec<Exhibit>> {
    if ids.is_empty() {
        return Ok(Exhibit::all());
    }
    let of = |id: &String| {
        Exhibit::named(id).ok_or_else(|| {
            let known: Vec<_> = Exhibit::all().into_iter().map(|exhibit| exhibit.id).collect();
            let text = format!(
                "there is no exhibit `{id}`; `lockstep museum --list` tells what there is: {}",
                known.join(", ")
            );
            screen.fail(Exit::Usage, &text)
        })
    };
    ids.iter().map(of).collect()
}

/// What an examination leads to. `has`: whether the version has the defect by its file.
fn exit_of(found: &Examination, has: Option<bool>) -> Exit {
    let is_other_on_redis = found.on_redis.as_ref().is_some_and(|(_, _, difference)| difference.is_some());
    if found.control.difference.is_some() || is_other_on_redis {
        return Exit::Diverged;
    }
    let differs = matches!(&found.on_library, OnLibrary::Differs { difference: Some(_), .. });
    match (found.outcome(), has) {
        // Neither is a version's: nothing was seen that speaks for the defect, or against it.
        (ExhibitOutcome::Inconclusive, _) | (ExhibitOutcome::NotFollowed, Some(false) | None) => Exit::Inconclusive,
        // The model says that it happens on this version.
        (_, Some(true) | None) if differs => Exit::Diverged,
        (ExhibitOutcome::Reproduced, Some(false)) => Exit::NotAsDeclared,
        (ExhibitOutcome::Reproduced, _) | (_, Some(false) | None) => Exit::AsDeclared,
        (_, Some(true)) => Exit::NotAsDeclared,
    }
}

fn failed(exhibit: &Exhibit, error: ExamineError, screen: &Screen) -> Exit {
    match error {
        ExamineError::Replay(error) | ExamineError::Fuzz(FuzzFailure::AtStart(error)) => server_failed(&error, screen),
        ExamineError::Fuzz(FuzzFailure::InHistory(failed)) => {
            let exit = if failed.error.is_internal() { Exit::Internal } else { Exit::Environment };
            screen.fail(exit, &format!("{}: {failed}: {}", exhibit.id, failed.error))
        }
        // The museum is a part of the binary.
        error @ (ExamineError::World(_) | ExamineError::Check(_)) => {
            screen.fail(Exit::Internal, &format!("{}: {error}", exhibit.id))
        }
    }
}

#[cfg(test)]
mod tests {
    use lockstep_model::Verdict;

    use super::*;
    use crate::museum::{ControlRun, InModel};

    #[test]
    fn what_could_not_be_followed_speaks_neither_for_a_defect_nor_against_it() {
        let control = ControlRun { verdict: Verdict::Holds, histories: (5, 5), difference: None };
        let on_library = OnLibrary::NotFollowed("a reason".to_owned());
        let in_model = InModel::Not(Verdict::Holds);
        let found = Examination { in_model, repaired: Verdict::Holds, on_redis: None, on_library, control };
        assert_eq!(exit_of(&found, None), Exit::Inconclusive);
        assert_eq!(exit_of(&found, Some(false)), Exit::Inconclusive);
        assert_eq!(exit_of(&found, Some(true)), Exit::NotAsDeclared);
        let absent = Examination { on_library: OnLibrary::NothingToReplay, ..found };
        assert_eq!(exit_of(&absent, Some(false)), Exit::AsDeclared);
    }
}
