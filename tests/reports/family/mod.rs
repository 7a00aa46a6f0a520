//! `reports/family.md`: each kind of lock under each class of faults, as the built-in scenarios say, and beside it what each
//! version of a library does.

mod fault_class;
mod judged_world;
mod refused_faults;
mod versions;

use std::collections::BTreeSet;

use lockstep_model::properties::PropertyKind;
use lockstep_model::{LockKind, Property, Verdict};
use lockstep_sim::check::CheckOutcome;
use lockstep_sim::scenario::Scenario;
use lockstep_tests::page::{self, NOTHING, table};

use crate::runs::{ALL, found};
use fault_class::FaultClass;
use judged_world::{JudgedWorld, newest, of_class, of_kind};
use refused_faults::absent;
use versions::versions;

#[test]
fn the_page_on_the_family_says_what_its_runs_say() {
    let sections: String = LockKind::ALL.iter().map(|kind| section(*kind)).collect();
    let newest = newest().name();
    let page = format!(
        "# The family of locks\n\n\
         Made by `make reports` from real runs; a test fails when it is stale.\n\n\
         For each kind of lock: which property holds while nothing fails, or while one sort of fault happens, and what versions \
         of libraries do. Every verdict is that of a built-in scenario, judged when this page is made.\n\n\
         **\"Holds\" means: in these small worlds, within their bounds** (clients, ticks, how often a fault may happen). It does \
         not mean that the lock keeps the property under such faults: another world of the same sort may break it, and so may \
         two sorts of faults together. A \"broken\" is one for good, but need not happen in each world of that sort: a holder \
         without a watchdog outlives its lease while nothing fails.\n\n\
         | column | what can go wrong in its worlds, and nothing else |\n| --- | --- |\n\
         | no fault | nothing; leases still end, and waiters still overtake each other |\n\
         | pause | a client or a node stands still for a while; a replica may take over from the node |\n\
         | client crash | a client dies, or a thread whose process lives on |\n\
         | failover | a replica can take over: the master dies, is cut off, refuses writes or hands over |\n\
         | restart | a node dies and comes back; a replica may take over meanwhile |\n\
         | wrong clock | the clock of a node or of a client jumps, or that of a client is ahead all the time |\n\
         | late message | requests, replies, messages or writes to the resource are late or lost |\n\
         | interrupt | a thread is interrupted |\n\
         | slot moved | the slot of the lock moves to another master of a Redis Cluster |\n\n\
         - **N steps** (a of b): broken. The linked scenario breaks it in the fewest steps, N (`lockstep show SCENARIO` draws \
         them; of a liveness property up to the end of one turn of the loop), and a of the b scenarios of that kind and column \
         break it that put it to the test.\n\
         - holds (b): none of the b scenarios breaks it; the largest is linked. \"Holds within bounds\": that one sets bounds \
         of the model in `[bounds]`, and claims no more than that.\n\
         - †: in scenarios whose files set switches that are not those of the profile `{newest}`, which are counted apart: an \
         older version, another library, a repair or a rule of no library. Below the table stands which.\n\
         - –: no built-in scenario says anything. Columns without any scenario are named below the table.\n\n\
         `lockstep explain PROPERTY` says what a property means; `actions-reached`, which is about the scenarios themselves, is \
         left out. The tables of versions have the defects of [the museum](museum.md) in a world of that kind, and the switches \
         of `[protocol]` that the version's profile sets to another value than `{newest}`, as far as a file of that kind may set \
         them. A defect in neither column is one of which no run of that version says anything.\n{sections}",
    );
    page::keep("reports/family.md", &page);
}

fn section(kind: LockKind) -> String {
    let name = kind.name();
    let title = name[..1].to_uppercase() + &name[1..];
    let worlds = of_kind(kind);
    if worlds.is_empty() {
        return format!("\n## {title}\n\nThere is no built-in scenario of this kind yet, so nothing is known.\n");
    }
    format!(
        "\n## {title}\n\nThe rules: [docs/locks/{0}.md](../docs/locks/{0}.md). {1}\n### {title}: library versions\n\n{2}",
        folder(kind),
        verdicts(&worlds),
        versions(kind, &worlds)
    )
}

fn folder(kind: LockKind) -> String {
    kind.name().replace('-', "_")
}

fn verdicts(worlds: &[&'static JudgedWorld]) -> String {
    let has_world = |class: FaultClass| worlds.iter().any(|world| world.class == Some(class));
    let columns: Vec<_> = FaultClass::COLUMNS.into_iter().filter(|class| has_world(*class)).collect();
    let mut cited = BTreeSet::new();
    let mut rows = Vec::new();
    for property in Property::ALL {
        let cells: Vec<_> = columns.iter().map(|class| cell(property, &of_class(worlds, *class), &mut cited)).collect();
        if property.kind() != PropertyKind::Reachable && cells.iter().any(|cell| cell != NOTHING) {
            rows.push(std::iter::once(format!("`{property}`")).chain(cells).collect());
        }
    }
    let head: Vec<_> = std::iter::once("property").chain(columns.iter().map(|class| class.name())).collect();
    let unusual = cited.iter().map(|name| {
        let world = worlds.iter().find(|world| world.scenario.name == *name).expect("it is one of them");
        format!("`{name}`: {}", world.unusual.join(", "))
    });
    let unusual: Vec<_> = unusual.collect();
    let unusual = if unusual.is_empty() { String::new() } else { format!("- † {}\n", unusual.join("; ")) };
    let count = worlds.len();
    let in_columns = worlds.iter().filter(|world| world.class.is_some_and(|class| columns.contains(&class))).count();
    let (several, other) = (worlds.iter().filter(|world| world.class.is_none()).count(), Some(FaultClass::Other));
    let other = worlds.iter().filter(|world| world.class == other).count();
    format!(
        "{count} built-in scenarios: {in_columns} in the table, {several} with several sorts of faults, {other} with a fault that \
         has no column.\n\n{}\n{unusual}{}",
        table(&head, &rows),
        absent(worlds, &columns)
    )
}

fn cell(property: Property, worlds: &[&'static JudgedWorld], cited: &mut BTreeSet<&'static str>) -> String {
    let (usual, unusual) = ColumnVerdict::apart(property, worlds);
    let mark = |judged: &ColumnVerdict| format!("{} †", judged.words());
    let is_broken = |judged: &ColumnVerdict| judged.steps.is_some();
    // Beside a verdict on usual clients, others are shown where they break what those keep.
    let shown = unusual.filter(|other| usual.as_ref().is_none_or(|usual| is_broken(other) && !is_broken(usual)));
    if let Some(other) = &shown {
        cited.insert(&other.shown.scenario.name);
    }
    let cells: Vec<_> = usual.iter().map(ColumnVerdict::words).chain(shown.iter().map(mark)).collect();
    if cells.is_empty() { NOTHING.to_owned() } else { cells.join("<br>") }
}

/// What some worlds say of a property.
struct ColumnVerdict {
    /// The one that is shown: it breaks it in the fewest steps; or the largest.
    shown: &'static JudgedWorld,
    /// `None`: none breaks it.
    steps: Option<usize>,
    broken: usize,
    tested: usize,
    is_within_bounds: bool,
}

impl ColumnVerdict {
    /// What the worlds say that put the property to the test: those of usual clients, and the others.
    fn apart(property: Property, worlds: &[&'static JudgedWorld]) -> (Option<Self>, Option<Self>) {
        let tested = worlds.iter().copied().filter(|world| world.has_tested(property));
        let (usual, unusual): (Vec<_>, Vec<_>) = tested.partition(|world| world.unusual.is_empty());
        (Self::of(property, &usual), Self::of(property, &unusual))
    }

    /// `None`: there are no worlds.
    fn of(property: Property, worlds: &[&'static JudgedWorld]) -> Option<Self> {
        let steps = |world: &JudgedWorld| found(world.outcome, property).trace.as_ref().map(|trace| trace.steps.len());
        let broken = worlds.iter().copied().filter(|world| found(world.outcome, property).verdict == Verdict::Violated);
        let shortest = broken.clone().min_by_key(|world| (steps(world), &world.scenario.name));
        let largest = worlds.iter().copied().max_by_key(|world| (world.outcome.states, &world.scenario.name));
        let shown = shortest.or(largest)?;
        Some(Self {
            shown,
            steps: shortest.map(|world| steps(world).expect("a trace breaks it")),
            broken: broken.count(),
            tested: worlds.len(),
            is_within_bounds: found(shown.outcome, property).verdict == Verdict::HoldsWithinBounds,
        })
    }

    fn words(&self) -> String {
        let Self { shown, steps, broken, tested, is_within_bounds } = self;
        let (name, folder) = (&shown.scenario.name, folder(shown.scenario.config.lock));
        let link = |words: &str| format!("[{words}](../sim/scenarios/{folder}/{name}.toml)");
        match steps {
            Some(1) => format!("{} ({broken} of {tested})", link("**1 step**")),
            Some(steps) => format!("{} ({broken} of {tested})", link(&format!("**{steps} steps**"))),
            None if *is_within_bounds => format!("{} ({tested})", link("holds within bounds")),
            None => format!("{} ({tested})", link("holds")),
        }
    }
}

/// A verdict that is not counted would make the page say less, or "holds" where something breaks.
#[test]
fn every_verdict_of_a_world_with_one_sort_of_faults_is_counted_once() {
    let (mut counted, mut broken) = (0, 0);
    for (kind, class) in LockKind::ALL.iter().flat_map(|kind| FaultClass::COLUMNS.map(|class| (*kind, class))) {
        for property in Property::ALL {
            let (usual, unusual) = ColumnVerdict::apart(property, &of_class(&of_kind(kind), class));
            for judged in usual.iter().chain(&unusual) {
                counted += judged.tested;
                broken += judged.broken;
            }
        }
    }
    let verdicts = |is_meant: fn(Verdict) -> bool| {
        let of_world = |(scenario, outcome): &(Scenario, CheckOutcome)| {
            let class = FaultClass::of_world(&scenario.config);
            let is_in_column = class.is_some_and(|class| class != FaultClass::Other);
            if is_in_column { outcome.properties.iter().filter(|found| is_meant(found.verdict)).count() } else { 0 }
        };
        ALL.iter().map(of_world).sum::<usize>()
    };
    assert_eq!(counted, verdicts(|verdict| verdict != Verdict::Vacuous));
    assert_eq!(broken, verdicts(|verdict| verdict == Verdict::Violated));
    assert!(broken < counted);
}
