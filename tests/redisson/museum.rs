//! The museum: what it says of versions is what they do.

use std::collections::BTreeSet;
use std::env;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_sim::check::Limits;
use lockstep_sim::museum::{
    Change, Examination, Exhibit, ExhibitOutcome, InModel, OnLibrary, Servers, Versions, examine,
};
use lockstep_sim::render::museum::{self, keys};
use lockstep_tests::at_once::at_once;
use lockstep_tests::drawn::from_environment;
use lockstep_tests::page::{self, NOTHING, table};
use lockstep_tests::servers::servers;

use crate::redisson;

/// The versions on which every exhibit is examined, beside the newest one that has it; `LOCKSTEP_MUSEUM_VERSIONS` adds more, with
/// blanks between them.
const ALWAYS: [&str; 2] = ["4.7.0", "3.15.6"];
/// How often each history is replayed; `LOCKSTEP_MUSEUM_TIMES` asks for another number.
const TIMES: u32 = 1;

fn examined(exhibit: &Exhibit, version: &str, times: u32) -> Examination {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let on = Servers { server: &servers()[0], library: &redisson(version), times };
    examine(exhibit, &on, &Limits::none(&stop, &progress))
        .unwrap_or_else(|error| panic!("{} on {version}: {error}", exhibit.id))
}

/// The newest version that has it: it is in no museum if none has.
fn newest(exhibit: &Exhibit) -> &str {
    exhibit.versions.reproduced.last().expect("a version has it")
}

/// Every exhibit, examined on the newest version that has it.
static ON_NEWEST: LazyLock<Vec<(Exhibit, Examination)>> = LazyLock::new(|| {
    let times = from_environment("LOCKSTEP_MUSEUM_TIMES", TIMES);
    let exhibits = Exhibit::all();
    let examinations = at_once(&exhibits, |exhibit| examined(exhibit, newest(exhibit), times));
    exhibits.into_iter().zip(examinations).collect()
});

/// Also the control behaves, and the repair repairs: see [`Examination::is_reproduced`].
#[test]
fn every_exhibit_is_reproduced_on_the_versions_that_have_it_and_not_on_those_that_do_not() {
    let more = env::var("LOCKSTEP_MUSEUM_VERSIONS").unwrap_or_default();
    let times = from_environment("LOCKSTEP_MUSEUM_TIMES", TIMES);
    at_once(&ON_NEWEST, |(exhibit, on_newest)| {
        let newest = newest(exhibit);
        let versions: BTreeSet<_> = ALWAYS.into_iter().chain([newest]).chain(more.split_whitespace()).collect();
        for version in versions {
            let Some(has) = exhibit.versions.has(version) else { continue };
            let now;
            let found = if version == newest {
                on_newest
            } else {
                now = examined(exhibit, version, times);
                &now
            };
            let said = museum::page(exhibit, found, version, 120);
            assert_eq!(found.is_reproduced(), has, "{} on {version}: museum/ says otherwise\n{said}", exhibit.id);
            assert_eq!(found.is_contradicted(), !has, "{} on {version}: museum/ says otherwise\n{said}", exhibit.id);
            assert_eq!(found.control.difference, None, "{} on {version}", exhibit.id);
        }
    });
}

/// An exhibit that says what is not so is found out: one whose world does not break the property, and one whose repair repairs
/// nothing.
#[test]
fn an_exhibit_that_is_wrong_is_not_reproduced() {
    let exhibit = Exhibit::named("D4").expect("it is in the museum");
    let Exhibit { repair, control, .. } = exhibit.clone();
    let tame =
        Exhibit { id: "tame".to_owned(), property: lockstep_model::Property::OnlyHolderReleases, ..exhibit.clone() };
    let found = examined(&tame, "4.7.0", 1);
    assert!(!found.is_reproduced());
    assert!(matches!(found.in_model, InModel::Not(_)) && found.on_library == OnLibrary::NothingToReplay);
    let unrepaired = Exhibit { repair: Change::none(), ..exhibit };
    assert!(!examined(&unrepaired, "4.7.0", 1).is_reproduced());
    assert_ne!((keys(&repair), keys(&control)), (String::new(), String::new()));
}

/// It is neither reproduced nor contradicted, and the other exhibits are examined all the same.
#[test]
fn an_exhibit_that_cannot_be_followed_on_a_version_says_why() {
    let found = examined(&Exhibit::named("B8").expect("it is in the museum"), "3.43.0", 1);
    let OnLibrary::Differs { difference: None, left: Some(reason) } = found.on_library else { panic!("{found:?}") };
    assert!(reason.contains("a server that is a replica answers"), "{reason}");
    assert_eq!(found.outcome(), ExhibitOutcome::NotFollowed);
    assert!(!found.is_reproduced() && !found.is_contradicted());
    // That of 2021 has rules in a queue that the model does not contain.
    let exhibit = Exhibit::named("F6").expect("it is in the museum");
    let found = examined(&exhibit, "3.15.6", 1);
    assert_eq!(found.outcome(), ExhibitOutcome::NotFollowed);
    let page = museum::page(&exhibit, &found, "3.15.6", 120);
    assert!(page.contains("is not modelled yet") && page.contains("not followed on Redisson 3.15.6"), "{page}");
}

/// `reports/museum.md`.
#[test]
fn the_page_on_the_museum_says_what_runs_say() {
    let mut made = String::from(INTRODUCTION);
    let rows: Vec<_> = ON_NEWEST.iter().map(row).collect();
    made += &table(&["id", "what breaks", "property", "steps#", "reproduced on", "not on"], &rows);
    made.extend(ON_NEWEST.iter().map(|(exhibit, _)| section(exhibit)));
    page::keep("reports/museum.md", &made);
}

const INTRODUCTION: &str = "# The museum

Defects of real client libraries, each reproduced step by step on the real library by one command. The model finds the shortest
history in which the property breaks; that history is then replayed on Redis with our scripts and on the unmodified library,
whose clocks stand still and whose requests wait at a gate until the history lets them pass. Everything is compared after each
step. Beside it stands a control: a world that differs in a key or two, in which the property holds and the library agrees.

Versions come from runs: `make test` replays on the newest that has it and on 3.15.6, `make soak` on each, 20 times. \"Not on\" means that
clients of that version do something else in that world: the history differs there, or clients with its profile have no such
history. They may have other ways to fail. A version that is not named is one of which a run said neither, or that has another cause for the same.

How likely each is without a gate, where it happens under plain load: [load.md](load.md).

";

fn section(exhibit: &Exhibit) -> String {
    let Exhibit { id, title, what_breaks, today, report, repair, control, scenario, .. } = exhibit;
    let (stops, beside, file) = (keys(repair), keys(control), id.to_lowercase());
    format!(
        "\n## {id}: {title}\n\n{what_breaks}\n\n\
         - **Reproduce it**: `lockstep museum {id}`; its world is `museum/{file}.toml`, on the built-in scenario `{scenario}`.\n\
         - **What stops it in the model**: {} (`{stops}`).\n\
         - **Beside it**: {} (`{beside}`), and the library does what it promises.\n\
         - **What a user can do today**: {today}\n- **For its developers**: {report}\n",
        repair.sentence, control.sentence
    )
}

fn row((exhibit, on_newest): &(Exhibit, Examination)) -> Vec<String> {
    let Versions { reproduced, absent } = &exhibit.versions;
    let InModel::Violated(trace) = &on_newest.in_model else { panic!("{} is in no world", exhibit.id) };
    let listed = |versions: &[String]| if versions.is_empty() { NOTHING.to_owned() } else { versions.join(", ") };
    vec![
        exhibit.id.clone(),
        exhibit.title.clone(),
        format!("`{}`", exhibit.property),
        trace.steps.len().to_string(),
        listed(reproduced),
        listed(absent),
    ]
}
