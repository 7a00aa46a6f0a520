//! `lockstep explain`: what a property, a scenario, a key of its file, an exit code, a verdict or an error code means.

use std::fmt::Write as _;
use std::path::Path;

use lockstep_model::properties::PropertyKind;
use lockstep_model::{Property, Verdict};
use serde_json::json;

use super::common::{Ended, Format, Output};
use super::input::typed;
use super::screen::Screen;
use crate::exit::Exit;
use crate::render::words;
use crate::scenario;
use crate::scenario::{KEYS, Scenario, ScenarioKey, TABLES};

#[derive(clap::Args)]
pub(super) struct ExplainArgs {
    /// A property, a scenario, a key or table of its file, `exit-4`, a verdict, or the code of an error
    #[arg(value_name = "CODE|PROPERTY|NAME|KEY")]
    what: String,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(args: &ExplainArgs, screen: &Screen) -> Ended<Exit> {
    let Some((kind, text)) = explained(&args.what, screen)? else { return Err(unknown(&args.what, screen)) };
    match args.output.format {
        Format::Human => screen.print(&text)?,
        Format::Json => {
            screen.print_json(&json!({ "schema": 1, "name": args.what, "kind": kind, "text": text }))?;
        }
    }
    Ok(Exit::AsDeclared)
}

fn explained(what: &str, screen: &Screen) -> Ended<Option<(&'static str, String)>> {
    if let Some(property) = Property::from_id(what) {
        return Ok(Some(("property", of_property(property))));
    }
    if let Some(exit) = Exit::ALL.into_iter().find(|exit| exit_name(*exit) == what || exit.code().to_string() == what) {
        return Ok(Some(("exit code", of_exit(exit))));
    }
    if let Some(verdict) = VERDICTS.into_iter().find(|verdict| verdict.name() == what) {
        return Ok(Some(("verdict", of_verdict(verdict))));
    }
    if let Some(key) = KEYS.iter().find(|key| key.name == what) {
        return Ok(Some(("key", of_key(key))));
    }
    if let Some((table, means)) = TABLES.iter().find(|(table, _)| !table.is_empty() && *table == what) {
        return Ok(Some(("table", of_table(table, means))));
    }
    if let Some(text) = scenario::explain(what) {
        return Ok(Some(("error code", format!("{}\n", text.trim_end()))));
    }
    let mut known = scenario::builtin().into_iter().filter(|scenario| scenario.name == what);
    if let Some(scenario) = known.next() {
        return Ok(Some(("scenario", of_scenario(&scenario, what))));
    }
    if !Path::new(what).exists() {
        return Ok(None);
    }
    match scenario::located(&[what.to_owned()]) {
        Ok(scenarios) => {
            let texts: Vec<_> = scenarios.iter().map(|(place, scenario)| of_scenario(scenario, place)).collect();
            Ok(Some(("scenario", texts.join("\n"))))
        }
        Err(error) => {
            Screen::report(&error.report(screen.colours_messages()));
            Err(Exit::Usage)
        }
    }
}

const VERDICTS: [Verdict; 4] = [Verdict::Holds, Verdict::Violated, Verdict::Vacuous, Verdict::Inconclusive];

fn of_property(property: Property) -> String {
    let kind = match property.kind() {
        PropertyKind::Safety => "safety: it must be true in every state",
        PropertyKind::Liveness => "liveness: it must become true on every fair path, again and again",
        PropertyKind::Reachable => "reachable: it must happen at least once",
    };
    let mut text = format!("{property}: {}\n\n", property.sentence());
    let _ = writeln!(text, "kind     {kind}");
    let _ = writeln!(text, "source   {}", property.source());
    let _ = writeln!(text, "vacuous  when {}", property.antecedent_sentence());
    let builtin = scenario::builtin();
    let violated = builtin.iter().filter(|scenario| scenario.expect.get(&property) == Some(&Verdict::Violated));
    let violated: Vec<_> = violated.map(|scenario| scenario.name.as_str()).collect();
    let Some(first) = violated.first() else {
        return text + "broken   in no built-in scenario\n";
    };
    let _ = writeln!(text, "broken   as declared, in {}", violated.join(", "));
    let _ = writeln!(text, "\nnext  lockstep show {first} --property {property}");
    text
}

fn of_scenario(scenario: &Scenario, argument: &str) -> String {
    let mut text =
        format!("{}: a {} lock\n\n{}\n\n", scenario.name, scenario.config.lock.name(), scenario.story.trim());
    text += "the world\n";
    for line in words::world(&scenario.config) {
        let _ = writeln!(text, "  {line}");
    }
    text += "\nthe claims\n";
    for property in Property::ALL {
        let claim = match (scenario.expect.get(&property), property.applies(&scenario.config)) {
            (Some(verdict), _) => format!("declared {verdict}"),
            (None, Ok(())) => "must not be violated".to_owned(),
            (None, Err(why)) => format!("does not apply: {why}"),
        };
        let _ = writeln!(text, "  {property:<20}  {claim}");
    }
    let argument = typed(argument);
    let _ = writeln!(text, "\nnext  lockstep check {argument}, lockstep show {argument}");
    text
}

fn of_key(key: &ScenarioKey) -> String {
    let ScenarioKey { table, name, takes, unless_said, means } = key;
    let place = if table.is_empty() { "before the first table".to_owned() } else { format!("in [{table}]") };
    let left_out = if unless_said.is_empty() { "required" } else { unless_said };
    format!("{name}: a key {place}\n\n{means}\n\ntakes     {takes}\nleft out  {left_out}\n")
}

fn of_table(table: &str, means: &str) -> String {
    let text = format!("[{table}]: a table of a scenario's file\n\n{means}\n");
    let keys: Vec<_> = KEYS.iter().filter(|key| key.table == table).collect();
    let width = keys.iter().map(|key| key.name.len()).max().unwrap_or_default();
    let lines = keys.into_iter().map(|key| format!("{:width$}  {}\n", key.name, key.means));
    let lines = lines.collect::<String>();
    if lines.is_empty() { text } else { text + "\n" + &lines }
}

fn of_exit(exit: Exit) -> String {
    format!("exit code {}: {}\n", exit.code(), exit.meaning())
}

fn of_verdict(verdict: Verdict) -> String {
    let meaning = match verdict {
        Verdict::Holds => {
            "every reachable state was checked, and the property is true in each (liveness: on every fair path)"
        }
        Verdict::Violated => "a trace breaks the property; it was run again before it was shown",
        Verdict::Vacuous => {
            "the property was never tested: the situation that it is about never occurs in this scenario"
        }
        Verdict::Inconclusive => "a limit was reached before the verdict was known",
    };
    format!("{verdict}: {meaning}\n")
}

fn exit_name(exit: Exit) -> String {
    format!("exit-{}", exit.code())
}

fn unknown(what: &str, screen: &Screen) -> Exit {
    let names = Property::ALL.into_iter().map(|property| property.id().to_owned());
    let names = names.chain(scenario::builtin().into_iter().map(|scenario| scenario.name));
    let names = names.chain(VERDICTS.into_iter().map(|verdict| verdict.name().to_owned()));
    let names = names.chain(Exit::ALL.into_iter().map(exit_name));
    let names = names.chain(KEYS.iter().map(|key| key.name.to_owned()));
    let scored = names.map(|name| (strsim::jaro_winkler(what, &name), name));
    let nearest = scored.max_by(|(one, _), (other, _)| one.total_cmp(other)).filter(|(score, _)| *score > 0.75);
    let hint = nearest.map_or_else(
        || "`lockstep scenarios` lists the scenarios, `lockstep check` names the properties".to_owned(),
        |(_, name)| format!("did you mean `{name}`?"),
    );
    screen.fail(Exit::Usage, &format!("there is no property, scenario, key, verdict or code `{what}`\n  help: {hint}"))
}
