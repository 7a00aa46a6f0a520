//! A trace file from a user: read, and run again, so that only what the model agrees with is shown or replayed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use lockstep_model::action::Party;
use lockstep_model::config::{Config, MAX_FAULTS, MessageDelay};
use lockstep_model::properties::PropertyKind;
use lockstep_model::trace::{About, BOUNDS, CLIENT_BOUNDS, SCHEMA, Trace};
use lockstep_model::{Action, Property, Verdict};
use serde_json::{Map, Value};

use super::borrowed_name;
use super::interrupt;
use crate::check::Engine;
use crate::check::judge::{self, LassoWitness, Rejection, Witness};
use crate::plain_text::first_hidden;
use crate::recorder::{self, TraceError};
use crate::render::words;
use crate::scenario::{MAX_STORY, is_name};

/// The largest file that is read.
const MOST_BYTES: u64 = 16 << 20;

/// Whether a file is a counterexample of this scenario to this property, as `check --out` writes them. It is not judged:
/// what an earlier version wrote is one as well.
pub(super) fn is_counterexample(file: &Path, scenario: &str, property: Property) -> bool {
    let given = contents(file).ok().and_then(|text| serde_json::from_str::<Value>(&text).ok());
    given.is_some_and(|given| {
        let names_both = given["scenario"] == scenario && given["about"]["property"] == property.id();
        given["schema"] == SCHEMA && names_both && given["config"].is_object() && given["steps"].is_array()
    })
}

/// Why a file is not accepted as a trace: the file, the place, what is wrong there, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{}{}: {what}\n  help: {help}", file.display(), place.as_deref().map(|place| format!(":{place}")).unwrap_or_default())]
pub(super) struct TraceFileError {
    file: PathBuf,
    place: Option<String>,
    what: String,
    help: &'static str,
}

const MAKE_ONE: &str =
    "`lockstep check NAME --out DIR` writes traces, and `lockstep show NAME --format json` prints one";
const WHOLE: &str = "the file is incomplete: copy or write it again";
const UNCHANGED: &str = "a trace must not be edited: make it again with the command under its key `reproduce`";
const UNCHANGED_OR_RENAMED: &str = "a trace must not be edited: make it again with the command under its key `reproduce`; if that names a file of your \
     own, rename the file first";
const SAME_VERSION: &str = "the file was changed, or another version of lockstep wrote it: make it again with \
                            `lockstep show NAME --format json`";

/// The keys that say which variant an object is. `serde` ignores unknown keys beside them. It refuses them in every other
/// object, so a key that is not written again there has its default, or an older name.
const TAGS: [&str; 4] = ["do", "reply", "kind", "type"];

/// How many states the judge stores to confirm that a counterexample is shortest: a file of somebody else must not take
/// the memory of a search.
pub(super) const MOST_STATES: usize = 50_000;

/// A trace that was run again, and what its file claims without proof.
pub(super) struct JudgedTrace {
    pub(super) trace: Trace,
    /// Whether the file claims that it is shortest, and the judge could not confirm that. The trace does not say it then.
    pub(super) is_length_unconfirmed: bool,
}

/// Reads a trace and runs it again.
pub(super) fn read(file: &Path) -> Result<JudgedTrace, TraceFileError> {
    let fail = |place: Option<String>, what: String, help| TraceFileError { file: file.to_owned(), place, what, help };
    let text = contents(file).map_err(|(what, help)| fail(None, what, help))?;
    parse(&text).map_err(|fault| fail(fault.place, fault.what, fault.help))
}

pub(super) struct TraceFileProblem {
    place: Option<String>,
    what: String,
    help: &'static str,
}

impl TraceFileProblem {
    fn of(what: impl Into<String>, help: &'static str) -> Self {
        Self { place: None, what: what.into(), help }
    }
}

fn contents(file: &Path) -> Result<String, (String, &'static str)> {
    let read = || -> std::io::Result<Result<Vec<u8>, (&'static str, &'static str)>> {
        // Checked before the file is opened: opening a pipe waits for a writer.
        let found = std::fs::metadata(file)?;
        if found.is_dir() {
            return Ok(Err(("this is a folder, not a trace", "name one of the .json files in it")));
        }
        if !found.is_file() {
            return Ok(Err(("this is a pipe or a device, not a file", "write the trace to a file and name the file")));
        }
        let mut bytes = Vec::new();
        File::open(file)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        Ok(Ok(bytes))
    };
    let bytes = read()
        .map_err(|error| (format!("cannot read the trace: {error}"), MAKE_ONE))?
        .map_err(|(what, help)| (what.to_owned(), help))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err((format!("larger than {} MiB, the limit for a trace", MOST_BYTES >> 20), MAKE_ONE));
    }
    String::from_utf8(bytes)
        .map_err(|error| (format!("not text: byte {} is not UTF-8", error.utf8_error().valid_up_to() + 1), MAKE_ONE))
}

pub(super) fn parse(text: &str) -> Result<JudgedTrace, TraceFileProblem> {
    // The version first: a newer file may differ in everything else.
    let given: Map<String, Value> = serde_json::from_str(text).map_err(|error| in_json(&error))?;
    match given.get("schema") {
        None => return Err(TraceFileProblem::of("not a trace: the key `schema` is missing", MAKE_ONE)),
        Some(found) if *found == SCHEMA => {}
        Some(found) if found.as_u64().is_some_and(|found| found < SCHEMA.into()) => {
            let what = format!("schema {found} is too old: this version of lockstep reads schema {SCHEMA}");
            return Err(TraceFileProblem::of(what, "make the trace again, with the command under its key `reproduce`"));
        }
        Some(found) => {
            let what = format!("schema {found} is not known: this version of lockstep reads schema {SCHEMA}");
            return Err(TraceFileProblem::of(
                what,
                "use the version of lockstep that wrote it, or make it again with this one",
            ));
        }
    }
    let mut trace: Trace = serde_json::from_str(text).map_err(|error| in_json(&error))?;
    let mine = serde_json::to_value(&trace).map_err(|error| in_json(&error))?;
    if let Some(key) = unknown_key(&Value::Object(given), &mine, "") {
        return Err(TraceFileProblem::of(format!("unknown field {key}"), SAME_VERSION));
    }
    if let Some(what) = unprintable(&mine, "") {
        return Err(TraceFileProblem::of(what, UNCHANGED));
    }
    check_bounds(&trace).map_err(|what| TraceFileProblem::of(what, SAME_VERSION))?;
    check_name(&trace)?;
    check_story(&trace)?;
    check_command(&trace)?;
    borrowed_name::check(&trace).map_err(|what| TraceFileProblem::of(what, UNCHANGED_OR_RENAMED))?;
    recorder::retrace(&trace).map_err(|error| difference(&trace, &mine, &error))?;
    let is_shortest = judged(&trace)?;
    let mut is_length_unconfirmed = false;
    if let About::Counterexample { shortest, .. } = &mut trace.about {
        is_length_unconfirmed = *shortest && !is_shortest;
        *shortest = is_shortest;
    }
    Ok(JudgedTrace { trace, is_length_unconfirmed })
}

/// Judges what a counterexample says of itself. Returns whether it is shortest, as far as the judge can confirm it.
fn judged(trace: &Trace) -> Result<bool, TraceFileProblem> {
    let About::Counterexample { property, verdict, ref engine, shortest } = trace.about else { return Ok(false) };
    check_engine(trace, property, engine)?;
    proves(trace, property).map_err(|rejection| TraceFileProblem::of(rejection.to_string(), SAME_VERSION))?;
    if verdict != Verdict::Violated {
        let what = format!("/about/verdict is {verdict}, but the trace violates {property}");
        return Err(TraceFileProblem::of(what, UNCHANGED));
    }
    // The judge cannot confirm it of what is found in the whole graph, and no engine claims it.
    if is_of_whole_graph(trace, property) {
        return Ok(false);
    }
    let witness = Witness { property, actions: &trace.actions() };
    match judge::judge_within(MOST_STATES, &trace.config, &[witness], &|_| interrupt::is_asked()) {
        Ok(judgement) => Ok(judgement.is_shortest),
        Err(rejection) if shortest => {
            Err(TraceFileProblem::of(format!("/about/shortest is true, but {rejection}"), UNCHANGED))
        }
        // Nobody claims it.
        Err(_) => Ok(false),
    }
}

/// Whether it is a loop, or a state from which nothing leads on: only the pass over the complete graph finds those.
fn is_of_whole_graph(trace: &Trace, property: Property) -> bool {
    trace.loop_start.is_some() || property.kind() == PropertyKind::Possible
}

/// The engine that found it is as the file says: nothing in a trace shows it. But it is one that could.
fn check_engine(trace: &Trace, property: Property, engine: &str) -> Result<(), TraceFileProblem> {
    let known: BTreeSet<_> = Engine::value_variants().iter().map(|engine| engine.finder()).collect();
    let known: Vec<_> = known
        .into_iter()
        .filter(|finder| {
            // The second opinion is about safety alone.
            !is_of_whole_graph(trace, property) || *finder == Engine::Native.finder()
        })
        .collect();
    let shown: String = engine.chars().take(40).collect();
    match known.as_slice() {
        known if known.contains(&engine) => Ok(()),
        [only] => Err(format!("/about/engine is {shown:?}, but only {only} finds such a counterexample")),
        known => Err(format!("/about/engine is {shown:?}, but the engines are {}", known.join(" and "))),
    }
    .map_err(|what| TraceFileProblem::of(what, UNCHANGED))
}

/// The name becomes part of pictures and commands: it is one that a scenario can have.
fn check_name(trace: &Trace) -> Result<(), TraceFileProblem> {
    let name = &trace.scenario;
    if !is_name(name) {
        let shown: String = name.chars().take(40).collect();
        return Err(TraceFileProblem::of(format!("/scenario is {shown:?}, which no scenario can be named"), UNCHANGED));
    }
    Ok(())
}

/// The story is printed beside pictures: it is no longer than that of a scenario. Its other bounds are those of every text.
fn check_story(trace: &Trace) -> Result<(), TraceFileProblem> {
    let length = trace.story.chars().count();
    if length > MAX_STORY {
        let what = format!("/story has {length} characters: it may have {MAX_STORY}");
        return Err(TraceFileProblem::of(what, UNCHANGED));
    }
    Ok(())
}

/// The command that makes it again is passed on to the reader: it is one of ours, and one alone.
fn check_command(trace: &Trace) -> Result<(), TraceFileProblem> {
    let command = &trace.reproduce;
    let is_ours = command.is_empty() || command.starts_with("lockstep ");
    if is_ours && !command.contains([';', '&', '|', '<', '>', '`', '$', '(', ')']) {
        return Ok(());
    }
    let shown: String = command.chars().take(80).collect();
    Err(TraceFileProblem::of(format!("/reproduce is {shown:?}, which is no command of lockstep"), UNCHANGED))
}

/// Whether it breaks the property that it names: the judge decides, as for every witness.
fn proves(trace: &Trace, property: Property) -> Result<(), Rejection> {
    let actions = &trace.actions();
    match trace.loop_start {
        None if property.kind() == PropertyKind::Possible => {
            let witness = Witness { property, actions };
            // What is too large to confirm was not confirmed when the trace was made either.
            judge::judge_dead_end(&trace.config, &witness, &|_| interrupt::is_asked()).map(drop)
        }
        Some(loop_start) => judge::judge_lassos(&trace.config, &[LassoWitness { property, actions, loop_start }]),
        None => judge::execute_all(&trace.config, &[Witness { property, actions }]).map(drop),
    }
}

fn in_json(error: &serde_json::Error) -> TraceFileProblem {
    let full = error.to_string();
    let place = format!("{}:{}", error.line(), error.column());
    let what = full.strip_suffix(&format!(" at line {} column {}", error.line(), error.column())).unwrap_or(&full);
    let (what, help) = match error.classify() {
        serde_json::error::Category::Eof => (format!("the file ends too early: {what}"), WHOLE),
        serde_json::error::Category::Syntax | serde_json::error::Category::Io => {
            (format!("not JSON: {what}"), MAKE_ONE)
        }
        serde_json::error::Category::Data => (format!("not a trace: {what}"), SAME_VERSION),
    };
    TraceFileProblem { place: Some(place), what, help }
}

/// The first key that nothing reads.
fn unknown_key(given: &Value, mine: &Value, path: &str) -> Option<String> {
    match (given, mine) {
        (Value::Object(given), Value::Object(mine)) => {
            let is_tagged = TAGS.iter().any(|tag| mine.contains_key(*tag));
            given.iter().find_map(|(key, value)| {
                let path = format!("{path}/{key}");
                match mine.get(key) {
                    Some(mine) => unknown_key(value, mine, &path),
                    None => is_tagged.then_some(path),
                }
            })
        }
        (Value::Array(given), Value::Array(mine)) => given
            .iter()
            .zip(mine)
            .enumerate()
            .find_map(|(index, (given, mine))| unknown_key(given, mine, &format!("{path}/{index}"))),
        _ => None,
    }
}

/// The first text with a control character, or with one that changes the direction of text or has no width, in words.
/// Traces contain none: names are letters, and a story is one line.
fn unprintable(value: &Value, path: &str) -> Option<String> {
    match value {
        Value::String(text) => first_hidden(text, &[]).map(|hidden| format!("{path} has {hidden}")),
        Value::Object(keys) => keys.iter().find_map(|(key, value)| unprintable(value, &format!("{path}/{key}"))),
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(index, value)| unprintable(value, &format!("{path}/{index}")))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Whether the model can represent the world: the model does not check this itself.
fn check_bounds(trace: &Trace) -> Result<(), String> {
    let config = &trace.config;
    let values = serde_json::to_value(config).map_err(|error| error.to_string())?;
    let within = |key: &str, value: i64, least: i64, most: i64| {
        if (least..=most).contains(&value) {
            Ok(())
        } else {
            Err(format!("/config{key} is {value}: it must be {least} to {most}"))
        }
    };
    for bound in BOUNDS {
        if let Some(value) = values.pointer(bound.pointer).and_then(Value::as_i64) {
            within(bound.pointer, value, bound.least, bound.most)?;
        }
    }
    for client in 0..config.client.len() {
        for bound in CLIENT_BOUNDS {
            let pointer = format!("/client/{client}{}", bound.pointer);
            if let Some(value) = values.pointer(&pointer).and_then(Value::as_i64) {
                within(&pointer, value, bound.least, bound.most)?;
            }
        }
    }
    if config.client.len() > config.clients.count {
        return Err("/config/client has more clients than /config/clients/count says".to_owned());
    }
    let Config { clients, cluster, faults, .. } = config;
    within("/cluster/min_replicas", cluster.min_replicas.into(), 0, cluster.replicas.into())?;
    if clients.names > 1 && !config.lock.facts().names.is_there() {
        return Err(format!("/config/clients/names is {}: this kind of lock has one name", clients.names));
    }
    if config.is_split() && !config.lock.has_split_worlds() {
        return Err("/config/network/mode is split: this kind of lock is modelled in an atomic network only".to_owned());
    }
    if config.asks_if_held() && !config.lock.facts().held_query.is_there() {
        return Err(
            "/config/clients/after_refusal is ask-if-held: that is not modelled for this kind of lock".to_owned()
        );
    }
    if matches!(config.network.delay, MessageDelay::Ticks(_)) && !config.is_split() {
        return Err("/config/network/delay is a number of ticks: that needs the mode split".to_owned());
    }
    for (fault, budget) in faults.budgets() {
        within(&format!("/faults/{}", fault.name()), budget.into(), 0, MAX_FAULTS.into())?;
    }
    let stranger = trace.steps.iter().find(|step| !takes_part(config, step.action));
    if let Some(step) = stranger {
        return Err(format!("step {} is of a party that the scenario does not have", step.number));
    }
    if clients.hold_for_ever && config.some_client(|own| own.time.hold_at_most.is_some()) {
        return Err("/config/clients/hold_for_ever and a hold_at_most exclude each other".to_owned());
    }
    if trace.loop_start.is_some_and(|start| start > trace.steps.len()) {
        return Err("/loop_start is beyond the last step".to_owned());
    }
    Ok(())
}

/// Whether the action's parties exist. It reads the fields of the action: a holder out of bounds cannot be represented.
fn takes_part(config: &Config, action: Action) -> bool {
    let has = |client: u8, thread: u8| client < config.clients.count && thread < config.clients.threads;
    match action {
        Action::Acquire { client, thread }
        | Action::NextPart { client, thread }
        | Action::GiveBack { client, thread }
        | Action::Subscribe { client, thread }
        | Action::SecondAsk { client, thread }
        | Action::WakeByMessage { client, thread }
        | Action::WakeByTimer { client, thread }
        | Action::GiveUp { client, thread }
        | Action::Confirm { client, thread }
        | Action::Undo { client, thread }
        | Action::SetTtl { client, thread }
        | Action::ReadToken { client, thread }
        | Action::AskIfHeld { client, thread }
        | Action::Work { client, thread }
        | Action::Arrive { client, thread }
        | Action::Release { client, thread }
        | Action::CrashThread { client, thread }
        | Action::ForeignRelease { client, thread }
        | Action::Register { client, thread }
        | Action::Unregister { client, thread }
        | Action::Interrupt { client, thread } => has(client, thread),
        Action::Execute { client, slot }
        | Action::Answer { client, slot }
        | Action::Resend { client, slot }
        | Action::Abandon { client, slot }
        | Action::LoseRequest { client, slot }
        | Action::LoseReply { client, slot } => has(client, slot.thread().unwrap_or(0)),
        other => match other.party() {
            Party::Thread(holder) => has(holder.client(), holder.thread()),
            Party::Client(client) => has(client, 0),
            Party::Node(node) => node < config.all_nodes(),
            Party::World => true,
        },
    }
}

fn difference(trace: &Trace, mine: &Value, error: &TraceError) -> TraceFileProblem {
    let what = match error {
        &TraceError::NotEnabled { step, action } => {
            let actor = words::actor(&trace.config, action);
            format!("step {step} cannot happen: \"{actor} {}\" is not possible there", words::does_where(action))
        }
        TraceError::DoesNotClose => "its loop does not end in the state in which it starts".to_owned(),
        &TraceError::Unfair { action } => {
            let actor = words::actor(&trace.config, action);
            format!("its loop is not fair: \"{actor} {}\" is possible and never happens", words::does_where(action))
        }
        TraceError::Differs { step: 0 } => "the first state is not that of the configuration".to_owned(),
        TraceError::Differs { step } => format!("step {step} differs from the model"),
        TraceError::ClaimDiffers { place } => {
            let found = mine.pointer(place).map_or_else(|| "missing".to_owned(), Value::to_string);
            format!("{place} differs from the model: it is {found}")
        }
    };
    TraceFileProblem::of(what, UNCHANGED)
}
