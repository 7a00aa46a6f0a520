//! `lockstep explain`: what a property, a scenario, a key of its file, an exit code, a verdict, an error code, an exhibit, a
//! departure or a concept means, and the words of the glossary.

use std::fmt::Write as _;
use std::path::Path;

use lockstep_model::config::Profile;
use lockstep_model::properties::PropertyKind;
use lockstep_model::{ActionKind, LockKind, Property, Verdict};
use serde_json::json;

use super::common::{Ended, Format, Output};
use super::concepts::CONCEPTS;
use super::glossary::{self, GlossaryTerm};
use super::input::typed;
use super::kind_pages;
use super::screen::Screen;
use crate::exit::Exit;
use crate::museum::Exhibit;
use crate::render::words;
use crate::render::words::{hanging, next};
use crate::replay::redisson::Departure;
use crate::scenario;
use crate::scenario::{BuiltIn, CLIENT, KEYS, Others, Scenario, ScenarioKey, TABLES, calls_of_profile, header};

#[derive(clap::Args)]
pub(super) struct ExplainArgs {
    /// A property, a scenario, a kind of lock, a key or table of a scenario's file, `exit-4`, a verdict, `S003`, a concept such as
    /// tick, or a word of the glossary such as lease or "fencing token"
    #[arg(value_name = "TOPIC")]
    what: Option<String>,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(args: &ExplainArgs, screen: &Screen) -> Ended<Exit> {
    let (kind, text) = match &args.what {
        Some(what) => found(what, screen)?,
        None => ("topics", format!("What can be explained:{}\n", list_of_topics())),
    };
    match args.output.format {
        Format::Human => screen.print(&text)?,
        Format::Json => {
            screen.print_json(&json!({ "schema": 1, "name": args.what, "kind": kind, "text": text }))?;
        }
    }
    Ok(Exit::AsDeclared)
}

fn found(what: &str, screen: &Screen) -> Ended<(&'static str, String)> {
    let found = match explained(what, screen)? {
        // Only names of files have capitals that matter.
        None => explained(&what.to_lowercase(), screen)?,
        found => found,
    };
    let found = found.or_else(|| Some(("topics", of_kind(&what.to_lowercase())?)));
    let found = found.or_else(|| Some(("mentions", mentions(what)?)));
    found.ok_or_else(|| unknown(what, screen))
}

fn explained(what: &str, screen: &Screen) -> Ended<Option<(&'static str, String)>> {
    // A table is copied from a file with its brackets.
    let table = what.trim_matches(['[', ']']);
    let what = if TABLES.iter().any(|(name, _)| *name == table) { table } else { what };
    if let Some(property) = Property::from_id(what) {
        return Ok(Some(("property", of_property(property))));
    }
    if let Some((_, text)) = CONCEPTS.into_iter().find(|(name, _)| *name == what) {
        let table = TABLES.iter().find(|(table, _)| *table == what);
        let table = table.map_or_else(String::new, |(table, means)| format!("\n{}", of_table(table, means)));
        return Ok(Some(("concept", paragraph(&format!("{what}: {text}")) + &table)));
    }
    if let Some(exit) = Exit::ALL.into_iter().find(|exit| exit_name(*exit) == what || exit.code().to_string() == what) {
        return Ok(Some(("exit code", of_exit(exit))));
    }
    if let Some(verdict) = VERDICTS.into_iter().find(|verdict| verdict.name() == what) {
        return Ok(Some(("verdict", of_verdict(verdict))));
    }
    // Two tables may have a key of the same name: `resource.delay` is one of them.
    let is_meant = |key: &&ScenarioKey| match what.split_once('.') {
        Some((table, name)) => key.name == name && key.stands_in(table),
        None => key.name == what,
    };
    let keys: Vec<_> = KEYS.iter().filter(is_meant).map(of_key).collect();
    if !keys.is_empty() {
        return Ok(Some(("key", keys.join("\n"))));
    }
    if let Some((table, means)) = TABLES.iter().find(|(table, _)| !table.is_empty() && *table == what) {
        return Ok(Some(("table", of_table(table, means))));
    }
    if let Some(code) = scenario::Code::from_id(what) {
        return Ok(Some(("error code", of_code(code))));
    }
    if let Some(term) = glossary::term(what) {
        return Ok(Some(("word of the glossary", of_term(&term))));
    }
    if let Some(action) = ActionKind::ALL.into_iter().find(|action| action.name() == what) {
        return Ok(Some(("action", of_action(action))));
    }
    if let Some(exhibit) = Exhibit::named(what) {
        return Ok(Some(("exhibit", of_exhibit(&exhibit))));
    }
    if let Some(departure) = Departure::named(what) {
        return Ok(Some(("departure", of_departure(&departure))));
    }
    if let Some(known) = BuiltIn::named(what) {
        return Ok(Some(("scenario", of_scenario(&known.scenario(), what))));
    }
    if let Some(kind) = kind_pages::kind(what) {
        return Ok(Some(("kind of lock", of_lock(kind))));
    }
    let was_removed =
        || scenario::removed(what).map(|instead| paragraph(&format!("{what}: this key was removed: {instead}")));
    if !Path::new(what).exists() {
        // A value explains itself beside the others of its key.
        let quoted = format!("\"{what}\"");
        let keys: Vec<_> = KEYS.iter().filter(|key| key.takes.contains(&quoted)).map(of_key).collect();
        let profile = Profile::ALL.into_iter().find(|profile| profile.name() == what);
        let sets = profile.map_or_else(String::new, of_profile);
        let of_value = (!keys.is_empty()).then(|| keys.join("\n") + &sets);
        return Ok(of_value.or_else(was_removed).map(|text| ("key", text)));
    }
    match scenario::located(&[what.to_owned()]) {
        Ok(scenarios) => {
            let texts: Vec<_> = scenarios.iter().map(|(place, scenario)| of_scenario(scenario, place)).collect();
            Ok(Some(("scenario", texts.join("\n"))))
        }
        Err(error) => {
            Screen::report(&error.report_in(screen.colours_messages(), Screen::width()));
            Err(Exit::Usage)
        }
    }
}

const VERDICTS: [Verdict; 5] =
    [Verdict::Holds, Verdict::HoldsWithinBounds, Verdict::Violated, Verdict::Vacuous, Verdict::Inconclusive];

/// What a code means; of what is not modelled also which combinations are not, each as a line of its own.
fn of_code(code: scenario::Code) -> String {
    let means = paragraph(&format!("{}: {}", code.id(), code.explanation()));
    if code != scenario::Code::NotModelled {
        return means;
    }
    let lines = scenario::COMBINATIONS.map(|line| format!("  {}\n", hanging(line, 4, Screen::width())));
    means + "\n" + &paragraph("These combinations are not modelled, although each part is:") + &lines.concat()
}

/// The topics of a kind that is called so: `keys`, `exhibits` or `museum`.
fn of_kind(what: &str) -> Option<String> {
    let is_meant = |kind: &str| kind.split(' ').next() == Some(what) || kind.rsplit(' ').next() == Some(what);
    let (kind, names) = topics().into_iter().find(|(kind, _)| is_meant(kind))?;
    let more = if kind == EXHIBITS { "`lockstep museum` reproduces them" } else { "`lockstep explain` takes each" };
    Some(paragraph(&format!("{kind}: {}", names.join(", "))) + "\n" + &paragraph(more))
}

/// The keys and words of the glossary whose text has this word, which is no topic itself: for example an operator's name of a
/// fault. `None`: there are none.
fn mentions(what: &str) -> Option<String> {
    let word = what.to_lowercase();
    let is_edge = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric() && letter != '_');
    let has = |text: &str| {
        let text = text.to_lowercase();
        text.match_indices(&word)
            .any(|(at, _)| is_edge(text[..at].chars().next_back()) && is_edge(text[at + word.len()..].chars().next()))
    };
    if word.chars().count() < 3 {
        return None;
    }
    let terms = glossary::terms().filter(|term| has(&term.elsewhere) || has(&term.means));
    let keys = KEYS.iter().filter(|key| has(key.means) || has(key.takes));
    let texts: Vec<_> = keys.map(of_key).chain(terms.map(|term| of_term(&term))).collect();
    let first = paragraph(&format!("{what} is no topic of its own; these texts mention it:"));
    (!texts.is_empty()).then(|| first + "\n" + &texts.join("\n"))
}

fn of_term(term: &GlossaryTerm) -> String {
    let text = paragraph(&format!("{}: {}", term.names.join(", "), term.means));
    if term.elsewhere.is_empty() { text } else { text + "\n" + &row("known as", &term.elsewhere) }
}

/// Scenarios in which an action can happen, so many at most.
const SHOWN_IN: usize = 3;

fn of_action(action: ActionKind) -> String {
    let fields = action.fields().iter().map(|field| format!(", \"{field}\": 0"));
    let in_trace = format!("{{ \"do\": \"{}\"{} }}", action.name(), fields.collect::<String>());
    let mut text = paragraph(&format!("{}: {}", action.name(), action.meaning()));
    text += &row("trace", &format!("{in_trace}; every number counts from 0"));
    if let Some(fault) = action.fault() {
        text += &row("fault", &format!("it spends one of the budget `{}` in [faults]", fault.name()));
    }
    let builtin = scenario::builtin();
    let shown = builtin.iter().filter(|scenario| action.is_allowed(&scenario.config)).take(SHOWN_IN);
    let shown: Vec<_> = shown.map(|scenario| scenario.name.as_str()).collect();
    if !shown.is_empty() {
        text += &row("see", &format!("{}: `lockstep show NAME` draws a history", shown.join(", ")));
    }
    text
}

/// A kind of lock: what it is for, and where it can be seen.
fn of_lock(kind: LockKind) -> String {
    let name = kind.name();
    let paragraphs: Vec<_> = kind_pages::purpose(kind).iter().map(|text| paragraph(text)).collect();
    let builtin = scenario::builtin();
    let of_kind = || builtin.iter().filter(|scenario| scenario.config.lock == kind);
    let some: Vec<_> = of_kind().take(SHOWN_IN).map(|scenario| scenario.name.as_str()).collect();
    let mut text =
        format!("{}\n{}\n", paragraph(&format!("{name}: a kind of lock, `lock = \"{name}\"`")), paragraphs.join("\n"));
    text +=
        &row("page", &format!("docs/locks/{}.md: its keys, commands, rules and properties", name.replace('-', "_")));
    if !some.is_empty() {
        text += &row("see", &format!("{} built-in scenarios: {} …", of_kind().count(), some.join(", ")));
    }
    text
}

/// What each key of `[protocol]` is where a scenario sets only its profile.
fn of_profile(profile: Profile) -> String {
    const OF_A_KEY: [&str; 4] = ["value", "acquire", "release", "extend"];
    // Those of locks of several parts or on several masters too.
    const OF_REDISSON: [&str; 21] = [
        "round_lease",
        "final_lease",
        "failed_part",
        "needed_masters",
        "interrupted_call",
        "elapsed_time",
        "receipts",
        "answered_receipt",
        "partial_release",
        "renewal_batch",
        "remembered_lease",
        "refused_lease",
        "read_release",
        "wait_rule",
        "request_id",
        "token",
        "no_ttl_answer",
        "held_query",
        "read_renewal",
        "downgrade",
        "interrupted_waiter",
    ];
    // No profile sets these two: what is sent again, and where one subscribes, is of the deployment; nor what only some worlds can have.
    const OF_NONE: [&str; 6] = ["subscribe_to", "wait_after", "answer_within", "resend", "retry_attempts", "receipt"];
    let is_of_redisson = !profile.is_of_one_key();
    let not_its_own = if is_of_redisson { &OF_A_KEY[..] } else { &OF_REDISSON[..] };
    let switches =
        words::switches(profile.protocol()).into_iter().chain(words::sending(calls_of_profile(Some(profile))));
    let switches = switches.filter(|(key, _)| !not_its_own.contains(key) && !OF_NONE.contains(key));
    let lines = switches.map(|(key, value)| format!("  {key} = {value}\n"));
    let source = paragraph(&format!("Its rules come from {}.", profile.source()));
    let validity = match profile {
        _ if !profile.tells_validity() => String::new(),
        _ if profile.returns_late_grants() => paragraph(
            "The library tells how long a grant is valid. With `stops_at = \"validity\"` in [clients] an application stops by that, and a \
             grant that is answered later is given back; without it every grant is taken. The library itself returns such a grant: \
             `using` begins its routine, with its signal aborted. Say `stops_at = \"validity\"` only of an application that looks at the \
             signal, or at `expiration`, before it does anything.",
        ),
        _ => paragraph(
            "The library tells how long a grant is valid, and gives back one that is answered later than that. Here it is given back \
             with `stops_at = \"validity\"` in [clients], by which an application also stops when its time is over; without it every grant is \
             taken, which this library does not do.",
        ),
    };
    format!("\nprofile = \"{}\" sets\n{}{source}{validity}", profile.name(), lines.collect::<String>())
}

fn of_property(property: Property) -> String {
    let kind = match property.kind() {
        PropertyKind::Safety => "safety: it must be true in every state",
        PropertyKind::Liveness => "liveness: it must become true on every fair path, again and again",
        PropertyKind::Possible => "possibility: from every state there must be a way to it without another fault",
        PropertyKind::Reachable => "reachable: it must happen at least once",
    };
    let mut text = paragraph(&format!("{property}: {}", property.sentence())) + "\n";
    text += &row("kind", kind);
    text += &row("source", property.source());
    text += &row("vacuous", &format!("when {}", property.antecedent_sentence()));
    if property.kind() == PropertyKind::Liveness {
        text += &row("fair", "`lockstep explain fairness` says which paths are fair");
    }
    if property == Property::WaiterServed {
        text += &row("advice", STARVATION);
    }
    let names_it = |one: &Departure| one.consequence.contains(property.id());
    for Departure { id, title, consequence, .. } in Departure::all().into_iter().filter(names_it) {
        text += &row("Redisson", &format!("{title}: {consequence} `lockstep explain {id}` says more"));
    }
    let builtin = scenario::builtin();
    let violated = builtin.iter().filter(|scenario| scenario.expect.get(&property) == Some(&Verdict::Violated));
    let violated: Vec<_> = violated.map(|scenario| scenario.name.as_str()).collect();
    let Some(first) = violated.first() else {
        return text + &row("broken", "in no built-in scenario");
    };
    text += &row("broken", &format!("as declared, in {}", violated.join(", ")));
    let _ = writeln!(text, "\nnext  lockstep show {first} --property {property}");
    text
}

fn of_scenario(scenario: &Scenario, argument: &str) -> String {
    let story = paragraph(scenario.story.trim());
    let title = paragraph(&format!("{}: a {} lock", scenario.name, scenario.config.lock.name()));
    let mut text = format!("{title}\n{story}\n");
    text += "the world\n";
    for line in words::world(&scenario.config).into_iter().chain(words::tick_length(scenario)) {
        let _ = writeln!(text, "  {}", hanging(&line, 2, Screen::width()));
    }
    let assumed = words::assumptions(&scenario.config);
    if !assumed.is_empty() {
        text += "\nassumed, unless a key says otherwise\n";
        for line in assumed {
            let _ = writeln!(text, "  {}", hanging(&line, 2, Screen::width()));
        }
    }
    text += "\nthe claims\n";
    for property in Property::ALL {
        let claim = match (scenario.expect.get(&property), property.applies(&scenario.config)) {
            (Some(verdict), _) => format!("declared {verdict}"),
            (None, Ok(())) if scenario.others == Others::Hold => "must hold, or be vacuous".to_owned(),
            (None, Ok(())) => "not claimed: it is reported, and fails no run".to_owned(),
            (None, Err(why)) => format!("does not apply: {why}"),
        };
        let _ = writeln!(text, "  {property:<20}  {}", hanging(&claim, 24, Screen::width()));
    }
    let argument = typed(argument);
    text + "\n" + &next(&[format!("lockstep check {argument}"), format!("lockstep show {argument}")])
}

fn of_key(key: &ScenarioKey) -> String {
    let ScenarioKey { table, name, takes, unless_said, means, is_of_client } = key;
    let mut place =
        if table.is_empty() { "before the first table".to_owned() } else { format!("in {}", header(table)) };
    if *is_of_client {
        let _ = write!(place, ", or for one client in {}", header(CLIENT));
    }
    let left_out = if unless_said.is_empty() { "required" } else { unless_said };
    let mut text = format!("{}\n{}\n", paragraph(&format!("{name}: a key {place}")), paragraph(means));
    text += &row("takes", takes);
    text += &row("default", left_out);
    if let Some(term) = glossary::term(name) {
        text += &row("glossary", &format!("{}: {}", term.names.join(", "), term.means));
    }
    if key.is_in_ticks() {
        text += &row(
            "ticks",
            "a tick is 10 s unless tick_ms in [time] says otherwise: 3 is 30 s, and so is \"30s\". The units are ms, s, m and h, \
             or their names: \"30sec\", \"0.5m\" and \"0m 30s\" are the same time. Without tick_ms the tick is then what all times of \
             the file have in common; the longest tick is 1h, and the longest time 60h; see `lockstep explain tick`",
        );
    }
    text
}

fn of_exhibit(exhibit: &Exhibit) -> String {
    let Exhibit { id, title, library, what_breaks, today, scenario, property, .. } = exhibit;
    let next = format!("lockstep museum {id}, which reproduces it on real {library}");
    paragraph(&format!("{id}: an exhibit of the museum: {title}"))
        + "\n"
        + &paragraph(what_breaks)
        + "\n"
        + &row("breaks", &format!("{property}, in the scenario {scenario}"))
        + &row("today", today)
        + &row("next", &next)
}

fn of_departure(departure: &Departure) -> String {
    let Departure { id, title, model, redisson, reason, consequence, followed_by, .. } = departure;
    let mut text = paragraph(&format!("{id}: a departure of the model from Redisson: {title}")) + "\n";
    text += &row("model", model);
    text += &row("Redisson", redisson);
    text += &row("reason", reason);
    text += &row("verdicts", consequence);
    if let Some(key) = followed_by {
        text += &row("with", &format!("{key} the model does the same"));
    }
    text
}

fn of_table(table: &str, means: &str) -> String {
    let text = format!("{}: a table of a scenario's file\n\n{}", header(table), paragraph(means));
    let keys: Vec<_> = KEYS.iter().filter(|key| key.stands_in(table)).collect();
    let width = keys.iter().map(|key| key.name.len()).max().unwrap_or_default();
    let lines = keys
        .into_iter()
        .map(|key| format!("{:width$}  {}\n", key.name, hanging(key.means, width + 2, Screen::width())));
    let lines = lines.collect::<String>();
    if lines.is_empty() { text } else { text + "\n" + &lines }
}

fn of_exit(exit: Exit) -> String {
    paragraph(&format!("exit code {}: {}", exit.code(), exit.meaning())) + "\n" + &row("next", exit.advice())
}

fn of_verdict(verdict: Verdict) -> String {
    let (meaning, next) = match verdict {
        Verdict::Holds => (
            "every reachable state was checked, and the property is true in each of them; a liveness property is true on \
             every fair path. This is said of the world in the file, with its clients, times and fault budgets, and of no \
             larger one.",
            "Add the faults that your deployment can have, one at a time. `lockstep frontier FILE` tries which faults \
             break which property.",
        ),
        Verdict::HoldsWithinBounds => (
            "the property is true in every state that can be reached within the bounds that the table [bounds] of the file \
             sets, and some step was not explored because it would exceed one of them: nothing is known of what lies behind \
             it. This is said only where the file claims PROPERTY = \"holds-within-bounds\" in [expect]; otherwise the \
             verdict is inconclusive. If no bound was touched the property holds outright, and that is as declared too.",
            "`lockstep check FILE` names the bound, a step that needs more, and the key that raises it: raise it until no \
             bound is touched, if the world then stays small enough. `lockstep explain bounds` lists the keys.",
        ),
        Verdict::Violated => (
            "a trace breaks the property. Lockstep ran the trace again before showing it. Of a safety property, no \
             shorter one exists in the world of the file; that of a liveness property ends in a loop, and a shorter one \
             may exist.",
            "`lockstep show FILE --property PROPERTY` draws it, and `lockstep replay FILE` runs it on a real server. If \
             the violation is expected, declare PROPERTY = \"violated\" in [expect].",
        ),
        Verdict::Vacuous => (
            "the property was never tested: the situation that it is about never occurs in this world, so \"holds\" \
             would say nothing. For example, no client ever waits where wait_limit = 0.",
            "`lockstep explain PROPERTY` says when it is vacuous. If the situation is possible in your deployment, add \
             what leads to it: a fault, a second client, a wait limit. If not, declare PROPERTY = \"vacuous\" in \
             [expect].",
        ),
        Verdict::Inconclusive => (
            "a limit (--max-states, --max-memory, --timeout) or Ctrl-C ended the run before the verdict was known, or the \
             model has too little room for some step, for example for one more effect under way. The states that were \
             checked do not break the property; the others were not checked.",
            "Raise the limit, or make the world smaller: fewer clients, smaller fault budgets, shorter times, or a bound \
             on acquires. Where the room is too small, the reason names the key of [bounds] that gives more; a file that \
             sets [bounds] can accept them with PROPERTY = \"holds-within-bounds\".",
        ),
    };
    paragraph(&format!("{verdict}: {meaning}")) + "\n" + &row("next", next)
}

/// What a user needs to know whose first world has this violation.
const STARVATION: &str = "A lock of Redis or Redisson is not fair: without wait_limit in [time] a client waits for ever, and \
                          another one can be faster each time. Set a wait limit, let each client ask only so often \
                          (acquires in [clients]), or declare waiter-served = \"violated\" in [expect].";

fn paragraph(text: &str) -> String {
    hanging(text, 0, Screen::width()) + "\n"
}

/// A line with a label.
fn row(label: &str, text: &str) -> String {
    format!("{label:<9}{}\n", hanging(text, 9, Screen::width()))
}

fn exit_name(exit: Exit) -> String {
    format!("exit-{}", exit.code())
}

fn unknown(what: &str, screen: &Screen) -> Exit {
    let topics = topics();
    // A value is explained by its key.
    let values: Vec<_> =
        KEYS.iter().flat_map(|key| key.takes.split('"').skip(1).step_by(2)).map(str::to_owned).collect();
    let names = topics.iter().flat_map(|(_, names)| names).chain(&values);
    let scored = names.map(|name| (strsim::jaro_winkler(what, name), name));
    // Three letters are near to every name that begins with two of them.
    let is_near = |score: f64| score > 0.75 && what.chars().count() > 3;
    let nearest = scored.max_by(|(one, _), (other, _)| one.total_cmp(other)).filter(|(score, _)| is_near(*score));
    let of_version = what.strip_prefix("redisson-").and_then(Profile::of_redisson).map(Profile::name);
    let of_version = of_version.or_else(|| Profile::of_library(&what.to_lowercase()).map(Profile::name));
    let nearest = of_version.or(nearest.map(|(_, name)| name.as_str()));
    let hint =
        nearest.map_or_else(|| format!("the topics are{}", list_of_topics()), |name| format!("did you mean `{name}`?"));
    screen.fail(Exit::Usage, &format!("there is nothing to explain that is called `{what}`\n  help: {hint}"))
}

/// Each kind of topic with its names, on lines of its own.
fn list_of_topics() -> String {
    let listed = topics().into_iter().map(|(kind, names)| {
        let names = if kind == SCENARIOS { "`lockstep scenarios` lists them".to_owned() } else { names.join(", ") };
        format!("\n    {}", hanging(&format!("{kind}: {names}"), 6, Screen::width()))
    });
    listed.collect()
}

const SCENARIOS: &str = "built-in scenarios";
const EXHIBITS: &str = "exhibits of the museum";

/// Everything that can be explained, by kind.
fn topics() -> [(&'static str, Vec<String>); 13] {
    let owned = |name: &str| name.to_owned();
    [
        ("concepts", CONCEPTS.iter().map(|(name, _)| owned(name)).collect()),
        ("kinds of lock", LockKind::ALL.iter().map(|kind| owned(kind.name())).collect()),
        ("properties", Property::ALL.into_iter().map(|property| owned(property.id())).collect()),
        ("verdicts", VERDICTS.into_iter().map(|verdict| owned(verdict.name())).collect()),
        ("exit codes", Exit::ALL.into_iter().map(exit_name).collect()),
        ("error codes", scenario::Code::ALL.into_iter().map(|code| owned(code.id())).collect()),
        (
            "tables of a scenario",
            TABLES.iter().filter(|(table, _)| !table.is_empty()).map(|(table, _)| owned(table)).collect(),
        ),
        ("keys of a scenario", KEYS.iter().map(|key| owned(key.name)).collect()),
        ("words of the glossary", glossary::terms().flat_map(|term| term.names).map(owned).collect()),
        ("actions of a trace", ActionKind::ALL.into_iter().map(|action| owned(action.name())).collect()),
        (EXHIBITS, Exhibit::all().into_iter().map(|exhibit| exhibit.id).collect()),
        ("departures from Redisson", Departure::all().into_iter().map(|departure| departure.id).collect()),
        (SCENARIOS, scenario::builtin_files().iter().map(|file| owned(file.name)).collect()),
    ]
}
