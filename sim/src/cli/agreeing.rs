//! Where Redisson does something else than a scenario says: with which other value of one key of `[protocol]` it agrees.

use std::sync::atomic::AtomicU64;

use lockstep_model::trace::Trace;

use super::common::Ended;
use super::input::Chosen;
use super::interrupt;
use super::progress::{ProgressUnit, watched};
use super::screen::Screen;
use super::servers::server_failed;
use super::target::TargetArgs;
use super::within::MaxMemory;
use crate::fuzz::{Agreement, FuzzOptions};
use crate::other_protocols::{agreeing, every_other_protocol};
use crate::replay::ServerProgram;

/// The keys of `[protocol]`, as a file writes them, each with which alone Redisson agrees, also in the history in which it differs.
/// `None`: that was not found out.
pub(super) fn protocols(
    (one, differing): (&Chosen, &Trace),
    target: &TargetArgs,
    (server, options): (&ServerProgram, FuzzOptions),
    memory: &MaxMemory,
    screen: &Screen,
) -> Ended<Option<Vec<(String, Agreement)>>> {
    if interrupt::is_asked() {
        return Ok(None);
    }
    let others = every_other_protocol(&one.scenario, &one.text(screen)?);
    let library = target.redisson(&one.scenario.config).map_err(|error| server_failed(&error, screen))?;
    let label = format!("{}: which switch of [protocol] differs", one.scenario.name);
    let replayed = AtomicU64::new(0);
    let found = watched(screen, &label, ProgressUnit::HISTORIES, &replayed, || {
        agreeing(others, Some(differing), (server, &library), options, &memory.limits(&replayed))
    });
    match found {
        Ok(found) => Ok(Some(found.into_iter().map(|(other, found)| (other.line, found)).collect())),
        Err(_) if interrupt::is_asked() => Ok(None),
        // The difference itself is known.
        Err(error) => {
            screen.warn(&format!("{label}: that could not be found out: {error}"));
            Ok(None)
        }
    }
}

/// The same in a line. `library`: its name and version.
pub(super) fn words(scenario: &str, library: &str, found: &[(String, Agreement)]) -> String {
    let line = |(line, found): &(String, Agreement)| match (found.followed, found.played) {
        (followed, played) if followed < played => format!("{line} ({followed} of {played} followed to the end)"),
        _ => line.clone(),
    };
    let lines = found.iter().map(line).collect::<Vec<_>>().join(", or ");
    if found.is_empty() {
        format!(
            "{scenario}: neither another value of a single key of [protocol], but for `resend`, which the library is told, nor those \
             of the profile make the model agree with {library}; what stands in a table [[client]] was left as it is\n"
        )
    } else {
        format!("{scenario}: with other values in [protocol] {library} agrees: {lines}\n")
    }
}
