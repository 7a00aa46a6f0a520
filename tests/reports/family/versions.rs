//! What each version of a library does that has such a lock.

use std::collections::BTreeSet;

use lockstep_model::LockKind;
use lockstep_model::config::{Config, Profile};
use lockstep_sim::museum::Exhibit;
use lockstep_sim::render::words;
use lockstep_sim::replay::translate::translation_of;
use lockstep_tests::page::{NOTHING, table};

use super::judged_world::{JudgedWorld, newest, of_kind, parsed};
use crate::runs::known;

/// What each version of a library does that has such a lock.
pub(super) fn versions(kind: LockKind, worlds: &[&'static JudgedWorld]) -> String {
    let facts = kind.facts();
    let is_of_redisson = translation_of(kind).redisson().object.is_some();
    let has_it = |profile: &Profile| match profile.redisson_version() {
        Some(_) => is_of_redisson,
        None => profile.is_of_one_key() && facts.value.is_there(),
    };
    let exhibits: Vec<_> =
        Exhibit::all().into_iter().filter(|exhibit| known(&exhibit.scenario).0.config.lock == kind).collect();
    let ids = |is_so: bool, version: &str| {
        let those = exhibits.iter().filter(|exhibit| exhibit.versions.has(version) == Some(is_so));
        let those: Vec<_> = those.map(|exhibit| exhibit.id.clone()).collect();
        if those.is_empty() { NOTHING.to_owned() } else { those.join(", ") }
    };
    let row = |profile: Profile| {
        let switches = switches(profile, worlds);
        match profile.redisson_version() {
            Some(version) if !exhibits.is_empty() => {
                vec![format!("Redisson {version}"), ids(true, version), ids(false, version), switches]
            }
            _ => vec![format!("`{}`", profile.name()), profile.source().to_owned(), switches],
        }
    };
    let rows: Vec<_> = Profile::ALL.into_iter().filter(has_it).map(row).collect();
    match exhibits.is_empty() {
        true if rows.is_empty() && translation_of(kind).page().contains("\n## Libraries\n") => {
            let page = format!("../docs/locks/{}.md#libraries", kind.name().replace('-', "_"));
            format!(
                "Profiles of libraries are of a lock on [one master](../docs/facts/libraries.md). [Its page]({page}) says which libraries \
                 have this lock, and in what they differ from it.\n"
            )
        }
        true if rows.is_empty() => "No library that has a profile has such a lock.\n".to_owned(),
        true => table(&["profile", "its rules are from", "switches"], &rows),
        false => table(&["version", "defects that runs show", "that runs contradict", "switches"], &rows),
    }
}

/// The switches that this profile sets otherwise than the newest, as far as a file of the kind may set them.
fn switches(profile: Profile, worlds: &[&'static JudgedWorld]) -> String {
    if profile == newest() {
        return NOTHING.to_owned();
    }
    let name = format!("\"{}\"", profile.name());
    let own_profile = ("protocol", "profile", name.as_str());
    let refusals: Vec<_> = worlds.iter().map_while(|world| parsed(world, &[own_profile]).err()).collect();
    if refusals.len() == worlds.len() {
        let not_modelled = refusals.iter().find(|error| error.is_not_modelled());
        return format!("not modelled: {}", not_modelled.unwrap_or(&refusals[0]).first());
    }
    // The reader refuses a switch that a kind does not have, whichever its value.
    let is_accepted = |switch: &OwnSwitch| {
        let values = || [&switch.value, &switch.usual].into_iter();
        let accepts =
            |world: &JudgedWorld, value: &str| parsed(world, &[own_profile, ("protocol", switch.key, value)]).is_ok();
        worlds.iter().any(|world| values().all(|value| accepts(world, value)))
    };
    let own = own_switches(profile, worlds);
    let differing: BTreeSet<_> = own.iter().filter(|switch| is_accepted(switch)).map(OwnSwitch::words).collect();
    if differing.is_empty() {
        "as in the newest".to_owned()
    } else {
        differing.into_iter().collect::<Vec<_>>().join(", ")
    }
}

/// A switch that a profile sets otherwise than the newest.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct OwnSwitch {
    key: &'static str,
    value: String,
    /// That of the newest.
    usual: String,
}

impl OwnSwitch {
    fn words(&self) -> String {
        format!("`{} = {}`", self.key, self.value)
    }
}

/// What differs in some world between clients of this profile and those of the newest, without another word in its file.
fn own_switches(profile: Profile, worlds: &[&'static JudgedWorld]) -> BTreeSet<OwnSwitch> {
    let with = |world: &JudgedWorld, profile: Profile| {
        let name = format!("\"{}\"", profile.name());
        let Config { protocol, calls, .. } = parsed(world, &[("protocol", "profile", &name)]).ok()?.config;
        let keys = words::switches(protocol).into_iter().chain(words::sending(calls));
        Some(keys.map(|(key, value)| (key, value.to_string())))
    };
    let mut switches = BTreeSet::new();
    for world in worlds {
        let (Some(own), Some(usual)) = (with(world, profile), with(world, newest())) else { continue };
        let differing = own.zip(usual).filter(|((_, value), (_, usual))| value != usual);
        switches.extend(differing.map(|((key, value), (_, usual))| OwnSwitch { key, value, usual }));
    }
    switches
}

#[test]
fn a_switch_of_another_section_and_one_that_is_left_out_are_among_those_of_a_profile() {
    let scenario = "unanswered-ask-is-told-as-refused";
    let kind = known(scenario).0.config.lock;
    let of_version = |version: &str| switches(Profile::of_redisson(version).expect("it is one"), &of_kind(kind));
    assert!(of_version("4.3.1").contains("`unanswered_ask"), "{}", of_version("4.3.1"));
    assert!(of_version("3.52.0").contains("`answered_receipt = \"keep\"`"));
    assert_eq!(of_version("4.7.0"), NOTHING);
}
