//! `reports/family.md`: each kind of lock under each class of faults, as the built-in scenarios say, and beside it what each
//! version of a library does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use lockstep_model::config::{Config, Fault, Faults, MessageDelay, NetworkMode, Profile, Resource};
use lockstep_model::properties::PropertyKind;
use lockstep_model::{LockKind, Property, Verdict};
use lockstep_sim::check::CheckOutcome;
use lockstep_sim::museum::Exhibit;
use lockstep_sim::replay::translate::translation_of;
use lockstep_sim::scenario::{BuiltIn, Code, KEYS, Scenario, ScenarioError};
use toml::{Table, Value};

use crate::runs::{ALL, ScenarioLine, found, known};
use lockstep_tests::page::{self, listed, table};

/// What goes wrong in a world: one column of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FaultClass {
    NoFault,
    Pause,
    ClientCrash,
    Failover,
    Restart,
    ClockJump,
    LateMessage,
    Interrupt,
    /// Faults that have no column.
    Other,
}

impl FaultClass {
    /// Those that have a column.
    const COLUMNS: [Self; 8] = [
        Self::NoFault,
        Self::Pause,
        Self::ClientCrash,
        Self::Failover,
        Self::Restart,
        Self::ClockJump,
        Self::LateMessage,
        Self::Interrupt,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::NoFault => "no fault",
            Self::Pause => "pause",
            Self::ClientCrash => "client crash",
            Self::Failover => "failover",
            Self::Restart => "restart",
            Self::ClockJump => "clock jump",
            Self::LateMessage => "late message",
            Self::Interrupt => "interrupt",
            Self::Other => "other",
        }
    }

    /// The class of a fault in this world.
    const fn of(fault: Fault, config: &Config) -> Self {
        match fault {
            Fault::CrashClient | Fault::CrashThread => Self::ClientCrash,
            Fault::PauseClient | Fault::PauseNode => Self::Pause,
            // A node that dies in order to come back.
            Fault::CrashNode | Fault::KillNode | Fault::ShutdownNode if config.faults.restart_node > 0 => Self::Restart,
            Fault::CrashNode
            | Fault::KillNode
            | Fault::ShutdownNode
            | Fault::CutLink
            | Fault::HandOver
            | Fault::RefuseWrites => {
                if config.can_fail_over() {
                    Self::Failover
                } else {
                    Self::Other
                }
            }
            Fault::RestartNode => Self::Restart,
            Fault::ClockJump | Fault::ClientClockJump => Self::ClockJump,
            Fault::LoseMessage | Fault::LoseRequest | Fault::LoseReply => Self::LateMessage,
            Fault::Interrupt => Self::Interrupt,
            Fault::StartClient
            | Fault::ForeignRelease
            | Fault::ForceRelease
            | Fault::VanishKey
            | Fault::BreakLink
            | Fault::PersistKey
            | Fault::VanishReceipts
            | Fault::VanishToken
            | Fault::OverwriteKey => Self::Other,
        }
    }

    /// The one class of all that can go wrong in this world; `None`: several.
    fn of_world(config: &Config) -> Option<Self> {
        let faults = config.faults.budgets().into_iter().filter(|(_, budget)| *budget > 0);
        let mut classes: BTreeSet<Self> = faults.map(|(fault, _)| Self::of(fault, config)).collect();
        let is_late = config.network.mode == NetworkMode::Split
            || config.network.delay != MessageDelay::None
            || config.resource.is_some_and(Resource::is_far);
        if is_late {
            classes.insert(Self::LateMessage);
        }
        match classes.len() {
            0 => Some(Self::NoFault),
            1 => classes.first().copied(),
            _ => None,
        }
    }
}

/// A built-in scenario with its verdicts.
struct JudgedWorld {
    scenario: &'static Scenario,
    outcome: &'static CheckOutcome,
    /// `None`: several classes at once.
    class: Option<FaultClass>,
    /// The lines of `[protocol]` by which its clients differ from those of the newest profile.
    unusual: Vec<String>,
}

impl JudgedWorld {
    /// Whether it says something of this property: it applies there, and was put to the test.
    fn has_tested(&self, property: Property) -> bool {
        let of_property = self.outcome.properties.iter().find(|found| found.property == property);
        of_property.is_some_and(|found| match found.verdict {
            Verdict::Holds | Verdict::HoldsWithinBounds | Verdict::Violated => true,
            Verdict::Vacuous | Verdict::Inconclusive => false,
        })
    }
}

/// Every built-in scenario.
static WORLDS: LazyLock<Vec<JudgedWorld>> = LazyLock::new(|| {
    let judged = ALL.iter().map(|(scenario, outcome)| JudgedWorld {
        scenario,
        outcome,
        class: FaultClass::of_world(&scenario.config),
        unusual: unusual_switches(scenario),
    });
    judged.collect()
});

/// Keys of `[protocol]` that say how a client is deployed and set up, and not how its library works.
const OF_DEPLOYMENT: [&str; 2] = ["resend", "retry_attempts"];

fn text_of(name: &str) -> &'static str {
    BuiltIn::named(name).unwrap_or_else(|| panic!("no scenario {name}")).text
}

fn file_of(name: &str) -> Table {
    text_of(name).parse().expect("the reader of scenarios has read it")
}

/// The switches that the file sets, if its world is another one without them.
fn unusual_switches(scenario: &Scenario) -> Vec<String> {
    let mut file = file_of(&scenario.name);
    file.remove("expect");
    let is_switch = |key: &str| {
        KEYS.iter().any(|known| known.table == "protocol" && known.name == key) && !OF_DEPLOYMENT.contains(&key)
    };
    let mut removed = Vec::new();
    let mut without = |table: &mut Table| {
        let keys: Vec<String> = table.keys().filter(|key| is_switch(key)).cloned().collect();
        for key in keys {
            let value = table.remove(&key).expect("it is there");
            removed.push(format!("`{key} = {value}`"));
        }
    };
    if let Some(protocol) = file.get_mut("protocol").and_then(Value::as_table_mut) {
        without(protocol);
    }
    for client in file.get_mut("client").and_then(Value::as_array_mut).into_iter().flatten() {
        without(client.as_table_mut().expect("a client is a table"));
    }
    let profile = scenario.config.protocol.profile;
    let is_same = Scenario::parse(&scenario.name, &file.to_string()).is_ok_and(|mut usual| {
        usual.config.protocol.profile = profile;
        usual.config == scenario.config
    });
    removed.sort();
    removed.dedup();
    if is_same { Vec::new() } else { removed }
}

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
         | clock jump | the clock of a node or of a client jumps |\n\
         | late message | requests, replies, messages or writes to the resource are late or lost |\n\
         | interrupt | a thread is interrupted |\n\n\
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

fn newest() -> Profile {
    let mut versions = Profile::ALL.into_iter().filter(|profile| profile.redisson_version().is_some());
    versions.next_back().expect("there is a version of Redisson")
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

fn of_class(worlds: &[&'static JudgedWorld], class: FaultClass) -> Vec<&'static JudgedWorld> {
    worlds.iter().copied().filter(|world| world.class == Some(class)).collect()
}

fn of_kind(kind: LockKind) -> Vec<&'static JudgedWorld> {
    WORLDS.iter().filter(|world| world.scenario.config.lock == kind).collect()
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

/// A cell without a verdict.
const NOTHING: &str = "–";

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

/// What is in no world: what no scenario has alone, and what the reader of scenarios refuses beside this kind.
fn absent(worlds: &[&'static JudgedWorld], columns: &[FaultClass]) -> String {
    let probes = FaultProbe::all(worlds);
    let can_be = |class: &FaultClass| probes.iter().any(|probe| probe.class == *class && probe.refused.is_none());
    let missing = FaultClass::COLUMNS.into_iter().filter(|class| !columns.contains(class) && can_be(class));
    let missing: Vec<_> = missing.map(|class| format!("*{}*", class.name())).collect();
    let mut lines = Vec::new();
    if !missing.is_empty() {
        lines.push(format!("- Modelled, but in no built-in scenario alone: {}.\n", listed(&missing)));
    }
    for (is_modelled, words) in [(false, "Not modelled for this kind"), (true, "Impossible for this kind")] {
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for FaultProbe { name, refused, .. } in &probes {
            if let Some(RefusedFault { reason, .. }) =
                refused.as_ref().filter(|refusal| refusal.is_modelled == is_modelled)
            {
                reasons.entry(reason).or_default().push(name);
            }
        }
        let reasons: Vec<_> = reasons.iter().map(|(reason, names)| format!("{} ({reason})", listed(names))).collect();
        if !reasons.is_empty() {
            lines.push(format!("- {words}: {}.\n", reasons.join("; ")));
        }
    }
    lines.concat()
}

/// Whether a fault can be in a world of a kind: asked of the reader of scenarios.
struct FaultProbe {
    /// As a scenario's file has it.
    name: String,
    class: FaultClass,
    /// `None`: it can.
    refused: Option<RefusedFault>,
}

/// Why the reader refuses a fault.
struct RefusedFault {
    /// Whether the world makes no sense; otherwise it is not modelled yet.
    is_modelled: bool,
    reason: String,
}

const SPLIT: ScenarioLine = ("network", "mode", "\"split\"");

/// What a fault may need beside it. The reader refuses what has no effect, so they are tried one after the other.
const NEEDS: [&[ScenarioLine]; 4] =
    [&[], &[("cluster", "replicas", "1")], &[("time", "wait_limit", "2")], &[("time", "wait_limit", "2"), SPLIT]];

impl FaultProbe {
    /// For a split network, and for each fault that has a column.
    fn all(worlds: &[&'static JudgedWorld]) -> Vec<Self> {
        let mut with_a_replica = worlds.first().expect("there is a world").scenario.config;
        with_a_replica.cluster.replicas = 1;
        with_a_replica.faults = Faults::default();
        let of_fault = |fault: Fault| {
            let mut config = with_a_replica;
            *config.faults.left_mut(fault) = 1;
            let has_it = worlds.iter().any(|world| world.scenario.config.faults.left(fault) > 0);
            let refused = if has_it { None } else { refusal(worlds, &lines_of(fault)) };
            Self { name: format!("`{}`", fault.name()), class: FaultClass::of(fault, &config), refused }
        };
        let has_split = worlds.iter().any(|world| world.scenario.config.network.mode == NetworkMode::Split);
        let refused = if has_split { None } else { refusal(worlds, &[SPLIT]) };
        let split = Self { name: "`mode = \"split\"`".to_owned(), class: FaultClass::LateMessage, refused };
        let faults = Fault::ALL.into_iter().map(of_fault).filter(|probe| probe.class != FaultClass::Other);
        std::iter::once(split).chain(faults).collect()
    }
}

/// The budget of a fault, and what it never is without.
fn lines_of(fault: Fault) -> Vec<ScenarioLine> {
    let budget = ("faults", fault.name(), "1");
    match fault {
        Fault::RestartNode => vec![budget, ("faults", "crash_node", "1")],
        Fault::ClockJump | Fault::ClientClockJump => vec![budget, ("time", "jump", "1")],
        Fault::LoseRequest | Fault::LoseReply => vec![budget, SPLIT],
        _ => vec![budget],
    }
}

/// Why no world of the kind without a fault can have these lines; `None`: one can.
fn refusal(worlds: &[&'static JudgedWorld], lines: &[ScenarioLine]) -> Option<RefusedFault> {
    let quiet = of_class(worlds, FaultClass::NoFault);
    assert!(!quiet.is_empty(), "a kind has a built-in scenario in which nothing fails");
    let mut refusals = Vec::new();
    for (world, needs) in quiet.into_iter().flat_map(|world| NEEDS.map(|needs| (world, needs))) {
        match parsed(world, &[lines, needs].concat()) {
            Ok(_) => return None,
            Err(error) => refusals.push(error),
        }
    }
    let is_all = |error: &ScenarioError, code: Code| error.problems().all(|problem| problem.code() == code);
    let of = |code: Code| refusals.iter().find(|error| is_all(error, code)).map(|error| (code, error.first()));
    let found = of(Code::NotModelled).or_else(|| of(Code::Impossible));
    let (code, reason) = found.unwrap_or_else(|| panic!("{lines:?} in no world, for no one reason: {refusals:?}"));
    Some(RefusedFault { is_modelled: code == Code::Impossible, reason })
}

/// The world with these lines instead of its own.
fn parsed(world: &JudgedWorld, lines: &[(&str, &str, &str)]) -> Result<Scenario, ScenarioError> {
    let mut file = file_of(&world.scenario.name);
    file.remove("expect");
    for (table, key, value) in lines {
        set(&mut file, table, key, value);
    }
    Scenario::parse(&world.scenario.name, &file.to_string())
}

fn set(file: &mut Table, table: &str, key: &str, value: &str) {
    let parsed: Table = format!("value = {value}").parse().expect("a value is written as one");
    let entry = file.entry(table).or_insert_with(|| Value::Table(Table::new()));
    entry.as_table_mut().expect("the section of a file is a table").insert(key.to_owned(), parsed["value"].clone());
}

/// What each version of a library does that has such a lock.
fn versions(kind: LockKind, worlds: &[&'static JudgedWorld]) -> String {
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
        let values = || switch.value.iter().chain(&switch.usual);
        let accepts =
            |world: &JudgedWorld, value: &str| parsed(world, &[own_profile, ("protocol", &switch.key, value)]).is_ok();
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

/// A switch that a profile sets otherwise than the newest. A value of `None` is the default, which is not written.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct OwnSwitch {
    key: String,
    value: Option<String>,
    /// That of the newest.
    usual: Option<String>,
}

impl OwnSwitch {
    fn words(&self) -> String {
        let Self { key, value, usual } = self;
        match (value, usual) {
            (Some(value), _) => format!("`{key} = {value}`"),
            (None, usual) => format!("not `{key} = {}`", usual.as_ref().expect("the two differ")),
        }
    }
}

/// What differs in some world between clients of this profile and those of the newest, without another word in its file.
fn own_switches(profile: Profile, worlds: &[&'static JudgedWorld]) -> BTreeSet<OwnSwitch> {
    let with = |world: &JudgedWorld, profile: Profile| {
        let name = format!("\"{}\"", profile.name());
        let Config { protocol, calls, .. } = parsed(world, &[("protocol", "profile", &name)]).ok()?.config;
        let sections = [serde_json::to_value(protocol), serde_json::to_value(calls)];
        let sections = sections.map(|section| section.expect("a section is data"));
        let keys = sections.iter().filter_map(|section| section.as_object().cloned()).flatten();
        let keys = keys.filter(|(key, _)| key != "profile").map(|(key, value)| (key, value.to_string()));
        Some(keys.collect::<BTreeMap<String, String>>())
    };
    let mut switches = BTreeSet::new();
    for world in worlds {
        let (Some(own), Some(usual)) = (with(world, profile), with(world, newest())) else { continue };
        let keys: BTreeSet<&String> = own.keys().chain(usual.keys()).collect();
        for key in keys.into_iter().filter(|key| own.get(*key) != usual.get(*key)) {
            let (value, usual) = (own.get(key).cloned(), usual.get(key).cloned());
            switches.insert(OwnSwitch { key: key.clone(), value, usual });
        }
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

#[test]
fn a_world_is_of_the_class_of_all_that_can_go_wrong_in_it() {
    for (name, class) in [
        ("two-clients-one-node", Some(FaultClass::NoFault)),
        ("pause-longer-than-lease", Some(FaultClass::Pause)),
        ("thread-dies-and-the-lease-ends", Some(FaultClass::ClientCrash)),
        ("failover-loses-the-grant", Some(FaultClass::Failover)),
        ("refused-writes-lead-to-a-failover", Some(FaultClass::Failover)),
        ("restart-loses-the-grant", Some(FaultClass::Restart)),
        ("clock-jump-ends-a-lease", Some(FaultClass::ClockJump)),
        ("a-split-network", Some(FaultClass::LateMessage)),
        ("lost-unlock-message", Some(FaultClass::LateMessage)),
        ("write-arrives-after-the-next-holder", Some(FaultClass::LateMessage)),
        ("interrupted-wait-ends", Some(FaultClass::Interrupt)),
        // There is no replica that could take over.
        ("refused-renewal-ends-the-lease", Some(FaultClass::Other)),
        ("evicted-lock", Some(FaultClass::Other)),
        ("clock-behind-loses-the-grant", None),
        ("interrupted-acquire-stays", None),
    ] {
        let scenario = BuiltIn::named(name).unwrap_or_else(|| panic!("no scenario {name}")).scenario();
        assert_eq!(FaultClass::of_world(&scenario.config), class, "{name}");
    }
}

/// What the reader accepts in a built-in scenario it accepts when it is asked for the page.
#[test]
fn no_fault_that_a_scenario_has_is_said_to_be_refused() {
    for kind in LockKind::ALL {
        let worlds = of_kind(*kind);
        for fault in Fault::ALL {
            let has_it = worlds
                .iter()
                .any(|world| world.class != Some(FaultClass::Other) && world.scenario.config.faults.left(fault) > 0);
            if has_it && let Some(refused) = refusal(&worlds, &lines_of(fault)) {
                panic!("{fault:?} of a {} lock: {}", kind.name(), refused.reason);
            }
        }
    }
}

#[test]
fn clients_with_another_switch_are_told_from_usual_ones() {
    let unusual = |name: &str| unusual_switches(&BuiltIn::named(name).expect("it is built in").scenario());
    assert_eq!(unusual("two-clients-one-node"), [""; 0]);
    // How a client is set up is no rule of its library.
    assert_eq!(unusual("resent-acquire-counts-twice"), [""; 0]);
    // What the newest profile says, too.
    assert_eq!(unusual("one-renewal-timer"), [""; 0]);
    assert_eq!(unusual("missed-renewal-is-told"), ["`profile = \"lockstep\"`"]);
}
