//! Which switch of the protocol a client library has, where it does something else than the model: the worlds that differ in one
//! switch, and those with which it agrees.

use std::sync::atomic::Ordering;

use lockstep_model::trace::Trace;
use toml_edit::{DocumentMut, Item, Table, Value};

use crate::check::Limits;
use crate::fuzz::{Agreement, FuzzOptions, agreement, agrees_in_history};
use crate::replay::redisson::RedissonProgram;
use crate::replay::{ReplayError, ServerProgram, suited};
use crate::scenario::{KEYS, Scenario};

/// The table of the switches.
const PROTOCOL: &str = "protocol";
/// Keys of it that no profile has: what is sent again depends on the deployment, and the replay sets the library up as it says;
/// `EveryCall` and `Retry` are what each version of Redisson does, and not every world can have them; and by which calls an application
/// learns its token is its own choice, which the replay follows.
const OF_NO_PROFILE: [&str; 4] = [RESEND, "wait_after", "refused_call", "token"];
const RESEND: &str = "resend";

/// A world that differs from a scenario in one key of `[protocol]`.
#[derive(Clone, Debug)]
pub struct OtherProtocol {
    /// The key as a file writes it: `renewal_timer = "per-lock"`.
    pub line: String,
    /// The world.
    pub scenario: Scenario,
    /// Its file.
    pub text: String,
}

/// Every world that differs from a scenario in one key of `[protocol]`, the profile first. `text`: the scenario's file. What
/// changes nothing there, or the reader refuses, is left out.
pub fn other_protocols(scenario: &Scenario, text: &str) -> Vec<OtherProtocol> {
    differing_in(scenario, text, |key| !OF_NO_PROFILE.contains(&key))
}

/// The same, and those that no profile has; but for what is sent again: the library is set up as the scenario says.
pub fn every_other_protocol(scenario: &Scenario, text: &str) -> Vec<OtherProtocol> {
    let of_profile = without_overrides(scenario, text);
    of_profile.into_iter().chain(differing_in(scenario, text, |key| key != RESEND)).collect()
}

/// The world with the values of its profile, where its file overrides several of them. `text`: the file.
fn without_overrides(scenario: &Scenario, text: &str) -> Option<OtherProtocol> {
    let mut document: DocumentMut = text.parse().expect("the scenario's reader has read it");
    document.remove("expect");
    let table = document.get_mut(PROTOCOL)?.as_table_mut()?;
    let profile = scenario.config.protocol.profile.name();
    let own: Vec<_> = table.iter().map(|(key, _)| key.to_owned()).collect();
    let removed: Vec<_> =
        own.into_iter().filter(|key| key != "profile" && !OF_NO_PROFILE.contains(&key.as_str())).collect();
    for key in &removed {
        table.remove(key);
    }
    let text = document.to_string();
    let other = Scenario::parse(&scenario.name, &text).ok()?;
    let line = format!("{} as profile = \"{profile}\" has them", removed.join(", "));
    (removed.len() > 1).then_some(OtherProtocol { line, scenario: other, text })
}

fn differing_in(scenario: &Scenario, text: &str, is_meant: impl Fn(&str) -> bool) -> Vec<OtherProtocol> {
    let keys = KEYS.iter().filter(|key| key.table == PROTOCOL && is_meant(key.name));
    let written = keys.flat_map(|key| key.words().into_iter().map(|word| (key.name, word)));
    let others = written.filter_map(|(key, word)| other_protocol(&scenario.name, text, key, &word));
    others.filter(|other| other.scenario.config != scenario.config).collect()
}

/// The world with this value of a key of `[protocol]`, written as in a file; `None`: the reader refuses it. `text`: the file.
///
/// # Panics
/// If `text` is no TOML, or `word` no value of it.
pub fn other_protocol(name: &str, text: &str, key: &str, word: &str) -> Option<OtherProtocol> {
    let mut document: DocumentMut = text.parse().expect("the scenario's reader has read it");
    // What is claimed of the world need not be so of another one.
    document.remove("expect");
    let value: Value = word.parse().expect("the catalogue writes words as a file does");
    document.entry(PROTOCOL).or_insert(Item::Table(Table::new()))[key] = toml_edit::value(value);
    let text = document.to_string();
    let scenario = Scenario::parse(name, &text).ok()?;
    Some(OtherProtocol { line: format!("{key} = {word}"), scenario, text })
}

/// Those worlds with which a version of the library agrees: in the history in which the scenario differs from it, if one is given and
/// can happen there, and in so many random histories of each, and how far. What it cannot follow is left out.
///
/// # Errors
/// What keeps the servers from being asked; `Stopped`.
pub fn agreeing(
    others: Vec<OtherProtocol>,
    differing: Option<&Trace>,
    (server, library): (&ServerProgram, &RedissonProgram),
    options: FuzzOptions,
    limits: &Limits<'_>,
) -> Result<Vec<(OtherProtocol, Agreement)>, ReplayError> {
    let mut found = Vec::new();
    for mut other in others {
        other.scenario.config = suited(&other.scenario.config, server);
        if limits.stop.load(Ordering::Relaxed) {
            return Err(ReplayError::Stopped);
        }
        let actions: Option<Vec<_>> = differing.map(|trace| trace.steps.iter().map(|step| step.action).collect());
        let in_history =
            actions.map_or(Ok(None), |actions| agrees_in_history(&other.scenario, server, library.clone(), &actions));
        match in_history {
            Ok(Some(false)) | Err(ReplayError::NotForRedisson { .. }) => continue,
            Ok(Some(true) | None) => {}
            Err(error) => return Err(error),
        }
        match agreement(&other.scenario, server, library.clone(), options, limits) {
            Ok(agreement) if agreement.is_there() => found.push((other, agreement)),
            Ok(_) | Err(ReplayError::NotForRedisson { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::BuiltIn;

    #[test]
    fn every_other_world_differs_in_its_key_and_what_changes_nothing_is_left_out() {
        let file = BuiltIn::named("missed-renewal-of-2026").expect("it is built in");
        let scenario = file.scenario();
        let others = other_protocols(&scenario, file.text);
        let lines: Vec<_> = others.iter().map(|other| other.line.as_str()).collect();
        assert!(lines.contains(&"profile = \"redisson-3.15\"") && lines.contains(&"renewal_timer = \"per-lock\""));
        assert!(lines.contains(&"missed_renewal = \"stop-timer\""), "{lines:?}");
        assert!(!lines.iter().any(|line| line.starts_with("stale_renewal")), "one step: {lines:?}");
        assert!(others.iter().all(|other| other.scenario.config != scenario.config));
    }

    #[test]
    fn where_several_switches_are_overridden_the_profile_without_them_is_tried_too() {
        let file = BuiltIn::named("missed-renewal-of-2026").expect("it is built in");
        let with = |lines: &str| {
            let text = file.text.replace("[protocol]\n", &format!("[protocol]\n{lines}"));
            let scenario = Scenario::parse("overridden", &text).unwrap_or_else(|error| panic!("{error}"));
            without_overrides(&scenario, &text)
        };
        assert!(with("failed_renewal = \"forget\"\n").is_none(), "one is among the others");
        let found = with("failed_renewal = \"forget\"\npartial_release = \"ignore\"\n").expect("two are not");
        assert_eq!(found.scenario.config.protocol, found.scenario.config.protocol.profile.protocol());
    }
}
