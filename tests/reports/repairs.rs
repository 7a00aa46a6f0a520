//! `reports/repairs.md`: which repair stops which anomaly, and its cost.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::{Property, Verdict};
use lockstep_sim::check::{Engine, How, Limits, check_as};
use lockstep_sim::frontier::settings::{
    BREAK_LINK, CUT_LINK, HAND_OVER, KILL_NODE, LATENESS, PAUSE_NODE, PERSIST_KEY, REFUSE_WRITES, REPAIRS,
    SHUTDOWN_NODE, START_CLIENT, Setting, VANISH_RECEIPTS,
};
use lockstep_sim::frontier::{
    Cell, FaultSet, FrontierOptions, Minimal, RepairEffect, ScenarioEdit, SetsChecked, Survey, survey,
};
use lockstep_sim::render::frontier::{bounds, costs, lasts};
use lockstep_sim::render::words;
use lockstep_sim::scenario::{BuiltIn, Scenario};

use lockstep_tests::drawn::from_environment;
use lockstep_tests::page::{self, NOTHING, table};

/// A world on the page, and how it is surveyed.
struct SurveyedWorld {
    name: &'static str,
    options: FrontierOptions,
    waiting: WaitsShown,
    /// Whether `make test` surveys it. `make soak` surveys every world, and so does `make reports`.
    is_always_surveyed: bool,
    survey: LazyLock<Survey>,
}

/// The waits that the page shows.
enum WaitsShown {
    /// Waits in the same world without a wait limit.
    Patient,
    /// Waits in the world itself.
    AsItIs,
}

/// Each world is surveyed once.
static WORLDS: [SurveyedWorld; 3] = [
    // The most common deployment.
    SurveyedWorld {
        name: "a-master-and-a-replica",
        options: OPTIONS,
        waiting: WaitsShown::Patient,
        is_always_surveyed: true,
        survey: LazyLock::new(|| surveyed(&draft("a-master-and-a-replica"), OPTIONS)),
    },
    // Late messages alone give as many states as all other faults together, and break nearly every property. More than half of all states
    // of these surveys are those of this one.
    SurveyedWorld {
        name: "a-split-network",
        options: LATE_ALONE,
        waiting: WaitsShown::AsItIs,
        is_always_surveyed: false,
        survey: LazyLock::new(|| surveyed(&draft("a-split-network"), LATE_ALONE)),
    },
    SurveyedWorld {
        name: "renewals-on-a-split-network",
        options: LATE_ALONE,
        waiting: WaitsShown::AsItIs,
        is_always_surveyed: true,
        survey: LazyLock::new(|| surveyed(&draft("renewals-on-a-split-network"), LATE_ALONE)),
    },
];

// A death of the machine takes at least what the other deaths take, and a client that starts late needs a world of its own.
// Faults that are looked at alone would multiply the time that this page takes: cut links and hand-overs by three.
const OPTIONS: FrontierOptions = FrontierOptions {
    most: 2,
    each: 1,
    alone: &[&PAUSE_NODE, &REFUSE_WRITES, &PERSIST_KEY, &VANISH_RECEIPTS, &BREAK_LINK, &CUT_LINK, &HAND_OVER],
    without: &[&KILL_NODE, &SHUTDOWN_NODE, &START_CLIENT],
    threads: 2,
};
// Where a node may stand still, every request may wait in it: these worlds are too large for thirty repairs.
const LATE_ALONE: FrontierOptions = FrontierOptions {
    alone: &[&LATENESS, &REFUSE_WRITES, &PERSIST_KEY, &VANISH_RECEIPTS, &BREAK_LINK, &CUT_LINK, &HAND_OVER],
    without: &[&KILL_NODE, &SHUTDOWN_NODE, &START_CLIENT, &PAUSE_NODE],
    ..OPTIONS
};

/// Of the repairs that apply to a world, one of so many is surveyed again, and the page is compared without the others, and without one
/// of its worlds. `make soak` sets `LOCKSTEP_REPAIRS_EVERY` to 1, and surveys all, as whoever writes the page does.
const REPAIRS_EVERY: usize = 24;

fn repairs_every() -> usize {
    if page::is_writing() { 1 } else { from_environment("LOCKSTEP_REPAIRS_EVERY", REPAIRS_EVERY) }
}

/// The worlds that are surveyed this time.
fn surveyed_worlds() -> impl Iterator<Item = &'static SurveyedWorld> {
    WORLDS.iter().filter(|world| world.is_always_surveyed || repairs_every() == 1)
}

fn surveyed(draft: &ScenarioEdit, options: FrontierOptions) -> Survey {
    survey_without(draft, &left_out(draft, options), options)
}

fn survey_without(draft: &ScenarioEdit, left_out: &BTreeSet<&str>, options: FrontierOptions) -> Survey {
    let repairs: Vec<_> = REPAIRS.iter().filter(|repair| !left_out.contains(repair.name)).collect();
    survey_of(draft, &repairs, options)
}

fn survey_of(draft: &ScenarioEdit, repairs: &[&'static Setting], options: FrontierOptions) -> Survey {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    survey(draft, repairs, options, &no_limits(&stop, &progress), &SetsChecked::default(), |_| ())
        .expect("the world can be surveyed")
}

/// The repairs that apply to a world and are not surveyed again.
fn left_out(draft: &ScenarioEdit, options: FrontierOptions) -> BTreeSet<&'static str> {
    let all: Vec<_> = REPAIRS.iter().collect();
    let without_a_fault = survey_of(draft, &all, FrontierOptions { most: 0, ..options });
    let apply = without_a_fault.repaired.iter().filter_map(|frontier| frontier.repair);
    let every = repairs_every();
    apply.enumerate().filter(|(at, _)| at % every != 0).map(|(_, repair)| repair.name).collect()
}

/// What the page says of a world, without what it says of these repairs: columns, and rows that begin with one.
fn without(section: &str, left_out: &BTreeSet<&str>) -> String {
    let is_left_out = |cell: &str| left_out.contains(cell.trim_matches('`'));
    let mut kept = String::new();
    let mut columns: Option<Vec<bool>> = None;
    for line in section.lines() {
        let Some(cells) = line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |")) else {
            columns = None;
            kept += line;
            kept.push('\n');
            continue;
        };
        let cells: Vec<_> = cells.split(" | ").collect();
        let columns = columns.get_or_insert_with(|| cells.iter().map(|cell| !is_left_out(cell)).collect());
        if !is_left_out(cells[0]) {
            let row: Vec<_> =
                cells.iter().zip(columns).filter(|(_, is_kept)| **is_kept).map(|(cell, _)| *cell).collect();
            let _ = writeln!(kept, "| {} |", row.join(" | "));
        }
    }
    if !section.ends_with('\n') {
        kept.pop();
    }
    kept
}

/// Scenarios of anomalies that no world above can show, and the repairs that were made for them.
const SINGLE: &[(&str, &[&str])] = &[
    ("replicas-leave-one-by-one", &["lock-delay", "min-replicas-and-lock-delay", "every-replica-is-needed-to-write"]),
    ("late-client-knows-no-lock-delay", &["start-delay", "synchronous-replication"]),
    ("client-goes-back-to-the-old-master", &["newest-master-only", "min-replicas-and-lock-delay"]),
    ("shutdown-loses-the-grant", &["shutdown-timeout", "wait-for-all"]),
    ("killed-beside-a-slow-disk", &["fsync-always", "delayed-restart"]),
    ("restart-from-an-older-snapshot", &["fsync-everysec", "fsync-always", "delayed-restart"]),
    ("unfinished-rewrite-loses-the-grant", &["fsync-always", "delayed-restart"]),
    ("rewrite-without-fsync-loses-the-grant", &["fsync-always", "delayed-restart"]),
    ("refused-renewal-ends-the-lease", &["explicit-lease", "hold-less-than-the-lease"]),
    ("write-arrives-after-the-next-holder", &["fencing", "hold-less-than-the-lease"]),
    ("persisted-lock-is-never-freed", &["explicit-lease", "wait-limit"]),
    ("evicted-receipt-of-a-release", &["resend-nothing", "resend-releases"]),
    ("reentry-with-a-shorter-lease", &["one-lease"]),
    ("reentry-ends-the-renewal", &["one-lease", "explicit-lease"]),
    ("message-lost-with-a-broken-link", &["subscribe-to-the-master", "wait-limit"]),
];

/// A row for each scenario and repair: which of the properties that break there hold with it.
fn singles() -> String {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut rows = Vec::new();
    for (name, repairs) in SINGLE {
        let built_in = BuiltIn::named(name).unwrap_or_else(|| panic!("there is no scenario {name}"));
        let edit = ScenarioEdit::with_its_faults(built_in.text);
        let broken: Vec<_> = Property::ALL
            .into_iter()
            .filter(|property| built_in.scenario().expect.get(property) == Some(&Verdict::Violated))
            .collect();
        for repair in *repairs {
            let repair = REPAIRS.iter().find(|one| one.name == *repair).unwrap_or_else(|| panic!("no repair {repair}"));
            let scenario = edit.with(repair).scenario(name, edit.story());
            let scenario = scenario.unwrap_or_else(|error| panic!("{name} with {}: {error}", repair.name));
            let outcome =
                check_as(&scenario, How::by(Engine::Native), &no_limits(&stop, &progress)).expect("it is checked");
            assert!(outcome.properties.iter().all(|found| found.verdict != Verdict::Inconclusive), "{name}");
            let with = |wanted: &[Verdict]| {
                let found = outcome.properties.iter();
                let found = found.filter(|found| broken.contains(&found.property) && wanted.contains(&found.verdict));
                let found: Vec<_> = found.map(|found| format!("`{}`", found.property)).collect();
                if found.is_empty() { NOTHING.to_owned() } else { found.join(", ") }
            };
            let holding = with(&[Verdict::Holds, Verdict::HoldsWithinBounds, Verdict::Vacuous]);
            rows.push(vec![format!("`{name}`"), format!("`{}`", repair.name), holding, with(&[Verdict::Violated])]);
        }
    }
    table(&["scenario", "repair", "hold with it", "break all the same"], &rows)
}

#[test]
fn the_page_on_repairs_says_what_the_frontier_says() {
    let repairs: Vec<_> = REPAIRS
        .iter()
        .map(|repair| vec![format!("`{}`", repair.name), repair.sentence.to_owned(), written(repair)])
        .collect();
    let page = format!(
        "# Repairs\n\n\
         Made by `make reports` from real runs; a test fails when it is stale.\n\n\
         Each part shows one world, and what faults do to it. An anomaly is a property and a smallest set of faults that \
         breaks it: with any one fault less the property holds. Every cell is a scenario of its own: \
         `lockstep frontier WORLD --out DIR` writes them all, with the verdicts that were found as `[expect]`, so that they \
         can be checked, shown and replayed (`DIR/WORLD--PROPERTY--FAULTS--REPAIR.toml`).\n\n\
         In the tables: ✓ prevents the anomaly · < the anomaly ends sooner · + it takes more steps · − it takes fewer steps · \
         ! fewer faults are enough · ∅ the property becomes vacuous · ? not modelled together · blank: no effect. *Lasts* is \
         the longest time that the property can stay broken; a property of steps is broken for one moment. ✓ is said of \
         these faults alone: one more fault may break the property again, and another property may still be broken. \
         `lockstep frontier WORLD --format json` has every set. `delay` is not a budget: with it every request and reply may \
         be late by one tick. In the column `fencing` the tokens come from an ideal counter outside this Redis: one in the \
         same Redis can be lost in a failover, and count the same number twice. Below each world stands which \
         faults are looked at alone (`--alone`), and which are left out (`--without`) because the page would take too long: a \
         node that dies with its machine loses at least as much as one whose process is killed or told to end, and a client \
         that starts late is in scenarios of its own.\n\n\
         ## The repairs\n\n{}\n{}\
         ## Other anomalies\n\n\
         Built-in scenarios of anomalies that the worlds above cannot show, each with the repairs that one would try. A line \
         names the properties that are violated in the scenario itself: those that hold with the repair, and those that do not. \
         `lockstep frontier SCENARIO` tries every repair.\n\n{}\n\
         Updated by `make reports`.\n",
        table(&["repair", "means", "lines of the file"], &repairs),
        surveyed_worlds().map(SurveyedWorld::part).collect::<String>(),
        singles(),
    );
    if repairs_every() == 1 {
        page::keep("reports/repairs.md", &page);
        return;
    }
    let committed = page::committed("reports/repairs.md");
    let is_of = |section: &str, world: &SurveyedWorld| section.starts_with(&format!("`{}`\n", world.name));
    let compared = committed.split_inclusive("\n## ").filter_map(|section| {
        if let Some(world) = surveyed_worlds().find(|world| is_of(section, world)) {
            return Some(without(section, &left_out(&draft(world.name), world.options)));
        }
        let is_left_out = WORLDS.iter().any(|world| is_of(section, world));
        (!is_left_out).then(|| section.to_owned())
    });
    let compared: String = compared.collect();
    if let Some(stale) = page::stale("reports/repairs.md", &compared, &page) {
        panic!("{stale}");
    }
}

#[test]
fn a_page_without_some_repairs_has_neither_their_columns_nor_their_rows() {
    let section = "a\n\n| property | b | c |\n| --- | --- | --- |\n| `p` | ✓ |  |\n\n| repair | d |\n| --- | --- |\n| b | x |\n| `c` | y |\n";
    let told = |left_out: &[&'static str]| without(section, &left_out.iter().copied().collect());
    assert_eq!(told(&[]), section);
    let without_b = "a\n\n| property | c |\n| --- | --- |\n| `p` |  |\n\n| repair | d |\n| --- | --- |\n| `c` | y |\n";
    assert_eq!(told(&["b"]), without_b);
    assert!(!told(&["b", "c"]).contains('✓'));
}

fn written(repair: &Setting) -> String {
    repair.lines().map(|line| format!("`{line}`")).collect::<Vec<_>>().join("<br>")
}

impl SurveyedWorld {
    /// The section of the page about one world.
    fn part(&self) -> String {
        let story = draft(self.name).story().to_owned();
        let config = BuiltIn::named(self.name).expect("a built-in scenario").scenario().config;
        // Faults are left out, because the survey varies them.
        let is_told = |line: &&String| *line != "nothing goes wrong";
        let world: Vec<_> = words::world(&config).iter().filter(is_told).map(|line| format!("- {line}")).collect();
        let world = world.join("\n") + "\n";
        let (whose, costs) = match self.waiting {
            WaitsShown::Patient => {
                let draft = draft(self.name);
                let options = FrontierOptions { most: 1, ..self.options };
                let patient =
                    survey_without(&draft.without("time", "wait_limit"), &left_out(&draft, self.options), options);
                ("In the same world, where clients wait without a limit", costs(&patient, None))
            }
            WaitsShown::AsItIs => ("In this world", costs(&self.survey, None)),
        };
        format!(
            "## `{}`\n\n{story}\n\n{world}\nSurveyed: {}.\n\n\
             ### Effects\n\n{}\n{}\
             ### Costs\n\n{}\n\
             {whose}: *fails* names the faults, one at most, with which an acquire can fail because too few replicas \
             acknowledge it; *waits* is the longest time that a thread can be in `lock()` without a result. Repairs that \
             change neither are left out.\n\n{}\n",
            self.name,
            bounds(&self.survey, self.options),
            self.effects(),
            self.impossible(),
            table(
                &["repair", "an acquire fails", "waits without a fault", "waits with one"],
                &costs.into_iter().map(Vec::from).collect::<Vec<_>>()
            ),
            self.broken_anew(),
        )
    }

    /// A row for each anomaly and a column for each repair that applies to the world.
    fn effects(&self) -> String {
        let repairs = self.survey.repaired.iter().filter_map(|frontier| frontier.repair);
        let head: Vec<_> =
            ["property", "broken by", "lasts"].into_iter().chain(repairs.map(|repair| repair.name)).collect();
        let rows: Vec<_> = self.survey.anomalies().map(|(property, minimal)| self.row(property, minimal)).collect();
        table(&head, &rows)
    }

    fn row(&self, property: Property, minimal: &Minimal) -> Vec<String> {
        let cells = self.survey.cells(property, minimal);
        let sign = |effect: RepairEffect| match effect {
            RepairEffect::Stops => "✓",
            RepairEffect::Shortens => "<",
            RepairEffect::Nothing => "",
            RepairEffect::Later => "+",
            RepairEffect::Sooner => "−",
            RepairEffect::Worse => "!",
            RepairEffect::Moot => "∅",
            RepairEffect::Unknown | RepairEffect::NotModelled => "?",
        };
        let signs = cells.iter().map(|cell| sign(cell.effect).to_owned());
        let lasting = minimal.lasts.map_or_else(String::new, |lasting| lasts(lasting, None));
        [format!("`{}`", property.id()), minimal.faults.words(), lasting].into_iter().chain(signs).collect()
    }

    /// The repairs without a column, grouped by the reason why they do not apply.
    fn impossible(&self) -> String {
        let mut by_reason: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (repair, reason) in &self.survey.impossible {
            by_reason.entry(reason).or_default().push(format!("`{}`", repair.name));
        }
        let told = by_reason.iter().map(|(reason, repairs)| format!("- {}: {reason}\n", page::listed(repairs)));
        format!("Repairs that do not apply to this world:\n\n{}\n", told.collect::<String>())
    }

    /// The properties that break with a repair and held before.
    fn broken_anew(&self) -> String {
        let rows: Vec<_> = self
            .survey
            .repaired
            .iter()
            .flat_map(|frontier| self.survey.price(frontier).map(move |price| (frontier, price)))
            .map(|(frontier, (property, minimal))| {
                let repair = frontier.repair.map_or("bare", |repair| repair.name);
                vec![format!("`{repair}`"), format!("`{}`", property.id()), minimal.faults.words()]
            })
            .collect();
        format!(
            "### Side effects\n\nProperties that hold under these faults without the repair, and break with it; where there is no row, \
             no repair breaks what held before.\n\n{}",
            table(&["repair", "property", "by"], &rows)
        )
    }
}

/// Cells with a single fault are checked again, in the way a reader would check their files: one file of so many. `make soak` sets
/// `LOCKSTEP_CELLS_EVERY` to 1, and checks all.
const CELLS_EVERY: usize = 24;

#[test]
fn every_cell_of_one_fault_is_as_its_scenario_says() {
    let every = from_environment("LOCKSTEP_CELLS_EVERY", CELLS_EVERY);
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = no_limits(&stop, &progress);
    let of_one = |(_, minimal): &(Property, &Minimal)| minimal.faults.iter().map(|(_, budget)| budget).sum::<u8>() == 1;
    for world in surveyed_worlds() {
        let bare = draft(world.name);
        // The cells with the same fault and the same repair are claims of one file.
        let mut files: BTreeMap<(FaultSet, &str), Vec<Cell>> = BTreeMap::new();
        let mut checked = 0;
        for (property, minimal) in world.survey.anomalies().filter(of_one) {
            for cell in
                world.survey.cells(property, minimal).into_iter().filter(|cell| cell.effect != RepairEffect::Moot)
            {
                files.entry((cell.faults.clone(), cell.repair.name)).or_default().push(cell);
            }
        }
        for ((faults, repair), cells) in files.into_iter().step_by(every) {
            let told = format!("{}: {} under {repair}", world.name, faults.words());
            let Some(draft) = faults.under(&bare, Some(cells[0].repair)) else {
                assert!(cells.iter().all(|cell| cell.effect == RepairEffect::NotModelled), "{told}");
                continue;
            };
            let holds = |cell: &Cell| cell.effect == RepairEffect::Stops;
            let claim = |cell: &Cell| if holds(cell) { Verdict::Holds } else { Verdict::Violated };
            let claims = cells.iter().map(|cell| (cell.property, claim(cell))).collect();
            let scenario = Scenario::parse("a-cell", &draft.text("A cell.", &claims)).expect("a cell is a scenario");
            let outcome = check_as(&scenario, How::by(Engine::Native), &limits).expect("it is checked");
            for cell in &cells {
                let verdict = outcome.properties.iter().find(|found| found.property == cell.property);
                let verdict = verdict.map(|found| found.verdict);
                // A repair may make the property vacuous.
                let is_so = verdict == Some(claim(cell)) || (holds(cell) && verdict == Some(Verdict::Vacuous));
                assert!(is_so, "{told}: {} {verdict:?}", cell.property);
                checked += 1;
            }
        }
        assert!(checked * every * repairs_every() > 100, "{}: {checked} cells", world.name);
    }
}

fn draft(world: &str) -> ScenarioEdit {
    ScenarioEdit::new(BuiltIn::named(world).expect("a built-in scenario").text)
}

fn no_limits<'a>(stop: &'a AtomicBool, progress: &'a AtomicU64) -> Limits<'a> {
    Limits::none(stop, progress)
}
