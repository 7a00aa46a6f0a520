//! Exhibits of the museum and their examinations: for people, and for programs.

use std::fmt::Write as _;

use lockstep_model::Verdict;
use lockstep_model::config::Profile;
use serde_json::{Value, json};

use super::prose::hanging;
use super::replayed::difference_json;
use super::units::{count, list};
use crate::museum::{Change, Doubt, Examination, Exhibit, ExhibitOutcome, InModel, OnLibrary, OtherHistory};
use crate::replay::Difference;

/// Columns before the text of an exhibit, and of each of its lines.
const MARGIN: usize = 5;
const LABEL: usize = 10;

/// Every exhibit, in two lines each.
pub fn listed(exhibits: &[Exhibit], width: usize) -> String {
    let mut page = String::new();
    for exhibit in exhibits {
        let Exhibit { id, library, title, property, versions, .. } = exhibit;
        let _ = writeln!(page, "{id:<MARGIN$}{}", hanging(title, MARGIN, width));
        let line = format!("breaks {property}; {library} {}", list(&versions.reproduced));
        let _ = writeln!(page, "{:MARGIN$}{}", "", hanging(&line, MARGIN, width));
    }
    page
}

/// An exhibit without its examination, for programs.
pub fn listed_json(exhibit: &Exhibit) -> Value {
    json!({
        "id": exhibit.id,
        "library": exhibit.library.to_string(),
        "title": exhibit.title,
        "scenario": exhibit.scenario,
        "property": exhibit.property,
        "what_breaks": exhibit.what_breaks,
        "today": exhibit.today,
        "report": exhibit.report,
        "reproduced_on": exhibit.versions.reproduced,
        "absent_on": exhibit.versions.absent,
    })
}

/// An exhibit, and what the model, Redis and this version of the library do.
pub fn page(exhibit: &Exhibit, found: &Examination, version: &str, width: usize) -> String {
    let Exhibit { id, library, title, what_breaks, property, scenario, today, repair, control, .. } = exhibit;
    let library = format!("{library} {version}");
    let mut page = format!("{id:<MARGIN$}{}\n", hanging(title, MARGIN, width));
    let _ = writeln!(page, "{:MARGIN$}{}", "", hanging(what_breaks, MARGIN, width));
    let mut line = |label: &str, text: &str| {
        let _ = writeln!(page, "{:MARGIN$}{label:<LABEL$}{}", "", hanging(text, MARGIN + LABEL, width));
    };
    let in_model = match &found.in_model {
        InModel::Violated(trace) => {
            format!("{property} violated in {}; scenario {scenario}", count(trace.steps.len(), "step"))
        }
        InModel::Not(verdict) => {
            format!("{property} {verdict} for clients of this version's profile; scenario {scenario}")
        }
        InModel::NotModelled(reason) => format!("not checked: {reason}; scenario {scenario}"),
    };
    line("model", &in_model);
    if let Some((server, compared, difference)) = &found.on_redis {
        let does = agreement(difference.as_ref(), *compared);
        line("Redis", &format!("{server} with our scripts {does}"));
    }
    line("library", &format!("{library} {}", on_library(&found.on_library)));
    let holds = |verdict: Verdict| format!("{property} {verdict}");
    if matches!(found.in_model, InModel::Violated(_)) {
        line("repair", &format!("{} ({}): {}", repair.sentence, keys(repair), holds(found.repaired)));
    }
    let (played, followed) = found.control.histories;
    let beside = match &found.control.difference {
        None if played == 0 => "was not asked".to_owned(),
        None if followed == played => format!("does the same in {}", counted(played)),
        None => {
            format!("does the same in {followed} of {}, and was not followed to the end of the others", counted(played))
        }
        Some(difference) => format!("differs: {}", difference_line(difference)),
    };
    if matches!(found.in_model, InModel::NotModelled(_)) {
        line("today", today);
        line("result", &format!("not followed on {library}{}", of_file(exhibit, found, version)));
        return page;
    }
    let verdict = holds(found.control.verdict);
    line("control", &format!("{} ({}): {verdict}; {library} {beside}", control.sentence, keys(control)));
    line("today", today);
    let result = match found.outcome() {
        ExhibitOutcome::Reproduced => format!("reproduced on {library}"),
        ExhibitOutcome::AbsentByModel => {
            let profile = Profile::of_redisson(version).map_or("of this version", Profile::name);
            format!("by the model it does not happen with the profile {profile}; {library} was not asked")
        }
        ExhibitOutcome::Absent => format!("does not happen on {library}"),
        ExhibitOutcome::Doubtful(doubt) => {
            format!("happens on {library}, and is not confirmed: {}", doubt_words(doubt))
        }
        ExhibitOutcome::NotFollowed => format!("not followed on {library}"),
        ExhibitOutcome::Inconclusive => "a limit kept the model from a verdict".to_owned(),
    };
    line("result", &format!("{result}{}", of_file(exhibit, found, version)));
    page
}

/// What the exhibit's file says of a version, where that is not what was found.
fn of_file(exhibit: &Exhibit, found: &Examination, version: &str) -> &'static str {
    match exhibit.versions.has(version) {
        Some(true) if found.is_reproduced() => "",
        Some(true) => "; its file says that this version has it",
        Some(false) => "; its file says that this version does not have it",
        None if found.is_reproduced() => {
            "; its file says nothing about this version, where the cause may be another one"
        }
        None => "; its file says nothing about this version",
    }
}

/// What several examinations come to.
#[derive(Debug, Default)]
pub struct Tally {
    all: Vec<(String, ExhibitOutcome)>,
    unexpected: Vec<String>,
}

impl Tally {
    /// Counts one. `is_unexpected`: its file, or the model, says otherwise.
    pub fn add(&mut self, id: &str, outcome: ExhibitOutcome, is_unexpected: bool) {
        self.all.push((id.to_owned(), outcome));
        if is_unexpected {
            self.unexpected.push(id.to_owned());
        }
    }

    /// How many were reproduced on this version, and which were not; `skipped`: so many were not examined.
    pub fn page(&self, version: &str, skipped: usize, width: usize) -> String {
        let ids_with = |is: fn(&ExhibitOutcome) -> bool| {
            let ids = self.all.iter().filter(|(_, outcome)| is(outcome)).map(|(id, _)| id.clone());
            ids.collect::<Vec<_>>()
        };
        let reproduced = ids_with(|outcome| *outcome == ExhibitOutcome::Reproduced).len();
        let mut page = format!("{reproduced} of {} reproduced on Redisson {version}\n", self.all.len());
        let mut line = |label: &str, ids: &[String]| {
            if !ids.is_empty() {
                let label = format!("{label}: ");
                let _ = writeln!(page, "{label}{}", hanging(&list(ids), label.len(), width));
            }
        };
        line("absent", &ids_with(|outcome| *outcome == ExhibitOutcome::Absent));
        let by_model = ids_with(|outcome| *outcome == ExhibitOutcome::AbsentByModel);
        line("not asked, as by the model it does not happen there", &by_model);
        line("not followed", &ids_with(|outcome| *outcome == ExhibitOutcome::NotFollowed));
        line("not confirmed", &ids_with(|outcome| matches!(outcome, ExhibitOutcome::Doubtful(_))));
        line("without a verdict", &ids_with(|outcome| *outcome == ExhibitOutcome::Inconclusive));
        line("not as their files or the model say", &self.unexpected);
        if skipped > 0 {
            let _ = writeln!(page, "{skipped} skipped: interrupted");
        }
        page
    }
}

fn doubt_words(doubt: Doubt) -> &'static str {
    match doubt {
        Doubt::RedisDiffers => "Redis does not do what the model says",
        Doubt::RepairBreaks => "the repair does not prevent it",
        Doubt::ControlBreaks => "the control breaks the property too",
        Doubt::ControlDiffers => "the library does something else in the control",
        Doubt::ControlNotFollowed => "no history of the control was followed to its end",
    }
}

/// An examination, for programs.
pub fn json_of(exhibit: &Exhibit, found: &Examination, version: &str) -> Value {
    let Examination { in_model, repaired, on_redis, on_library, control } = found;
    let mut object = listed_json(exhibit);
    object["version"] = json!(version);
    object["reproduced"] = json!(found.is_reproduced());
    object["model"] = match in_model {
        InModel::Violated(trace) => json!({ "verdict": Verdict::Violated, "steps": trace.steps.len(), "trace": trace }),
        InModel::Not(verdict) => json!({ "verdict": verdict, "steps": null, "trace": null }),
        InModel::NotModelled(_) => json!({ "verdict": Verdict::Inconclusive, "steps": null, "trace": null }),
    };
    object["redis"] = on_redis.as_ref().map_or(Value::Null, |(server, compared, difference)| {
        json!({ "server": server, "compared": compared, "first_difference": difference_json(difference.as_ref()) })
    });
    object["on_library"] = match on_library {
        OnLibrary::Reproduced { times, left, compared, instead } => json!({
            "agrees": true,
            "times": times,
            "other_orders": left,
            "compared": compared,
            "moved": match instead {
                Some(OtherHistory::Moved { from, to }) => json!({ "step": from, "to": to }),
                _ => Value::Null,
            },
            "reordered": match instead {
                Some(OtherHistory::Reordered { steps }) => json!({ "steps": steps }),
                _ => Value::Null,
            },
            "added": match instead {
                Some(OtherHistory::Longer { before, added }) => json!({ "before": before, "steps": added }),
                _ => Value::Null,
            },
        }),
        OnLibrary::Differs { difference, left } => json!({
            "agrees": false,
            "first_difference": difference_json(difference.as_deref()),
            "left": left,
        }),
        OnLibrary::NothingToReplay => Value::Null,
        OnLibrary::NotFollowed(reason) => json!({ "not_followed": reason }),
    };
    object["repair"] = json!({ "keys": exhibit.repair.lines(), "verdict": repaired });
    object["control"] = json!({
        "keys": exhibit.control.lines(),
        "verdict": control.verdict,
        "histories": control.histories.0,
        "followed": control.histories.1,
        "first_difference": difference_json(control.difference.as_deref()),
    });
    object
}

fn on_library(found: &OnLibrary) -> String {
    match found {
        OnLibrary::Reproduced { times: 1, left: 0, compared, instead } => {
            agreement(None, *compared) + &in_which_history(*instead)
        }
        OnLibrary::Reproduced { times, left, compared, instead } => {
            let others = match left {
                0 => String::new(),
                _ => format!(", and took another order {left} more times"),
            };
            let compared = count(*compared, "comparison");
            format!("does the same, {times} of {times} times{others}; {compared} each{}", in_which_history(*instead))
        }
        OnLibrary::Differs { difference, left } => match (difference, left) {
            (Some(difference), _) => format!("differs: {}", difference_line(difference)),
            (None, Some(left)) => format!("was not followed to the end: {left}"),
            (None, None) => "was not followed to the end".to_owned(),
        },
        OnLibrary::NothingToReplay => "was not asked: there is no history to replay".to_owned(),
        OnLibrary::NotFollowed(reason) => format!("was not asked: {reason}"),
    }
}

/// How what was replayed differs from the counterexample: `; with step 8 before step 7`.
fn in_which_history(instead: Option<OtherHistory>) -> String {
    match instead {
        None => String::new(),
        Some(OtherHistory::Moved { from, to }) => {
            let where_to = if to < from { "before" } else { "after" };
            format!("; with step {from} {where_to} step {to}, which leads to the same state")
        }
        Some(OtherHistory::Reordered { steps }) => {
            format!("; with {steps} steps earlier or later, which leads to the same state")
        }
        Some(OtherHistory::Longer { before, added: 1 }) => {
            format!("; with one step more before step {before}, which leads to the same state")
        }
        Some(OtherHistory::Longer { before, added }) => {
            format!("; with {added} steps more before step {before}, which lead to the same state")
        }
    }
}

fn agreement(difference: Option<&Difference>, compared: usize) -> String {
    match difference {
        None => format!("does the same; {}", count(compared, "comparison")),
        Some(difference) => format!("differs: {}", difference_line(difference)),
    }
}

/// `1 random history`, `5 random histories`.
fn counted(histories: u32) -> String {
    format!("{histories} random {}", if histories == 1 { "history" } else { "histories" })
}

/// A difference in one line.
fn difference_line(difference: &Difference) -> String {
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Difference { step, what, model, redis, .. } = difference;
    format!("step {step}, {what}: model {}, real {}", one_line(model), one_line(redis))
}

/// The keys that a change sets.
pub fn keys(change: &Change) -> String {
    list(&change.lines())
}

#[cfg(test)]
mod tests {
    use lockstep_model::Action;
    use lockstep_model::trace::About;

    use super::*;
    use crate::museum::ControlRun;
    use crate::recorder;
    use crate::render::json_page::assert_described;
    use crate::replay::Difference;
    use crate::scenario;

    fn examined(on_library: OnLibrary) -> Examination {
        let scenario = scenario::builtin().swap_remove(0);
        let actions = [Action::Acquire { client: 0, thread: 0 }];
        let trace =
            recorder::record(&scenario.name, "", &scenario.config, About::Drawn, &actions, "").expect("A can ask");
        Examination {
            in_model: InModel::Violated(Box::new(trace)),
            repaired: Verdict::Holds,
            on_redis: Some(("redis 7.0.15".to_owned(), 12, None)),
            on_library,
            control: ControlRun { verdict: Verdict::Holds, histories: (10, 9), difference: None },
        }
    }

    #[test]
    fn the_page_on_json_has_every_key_of_an_exhibit_and_no_other() {
        let reproduced = |instead| OnLibrary::Reproduced { times: 20, left: 1, compared: 12, instead: Some(instead) };
        let all = [
            reproduced(OtherHistory::Moved { from: 3, to: 4 }),
            reproduced(OtherHistory::Reordered { steps: 2 }),
            reproduced(OtherHistory::Longer { before: 3, added: 2 }),
            OnLibrary::Differs { difference: Some(Box::new(Difference::of_a_reply())), left: None },
            OnLibrary::NotFollowed("it sends an acquire again".to_owned()),
        ];
        let exhibit = &Exhibit::all()[0];
        let printed = all.map(|on_library| json_of(exhibit, &examined(on_library), "4.7.0"));
        let as_above = ["redis", "on_library", "control"].map(|part| format!("exhibits[].{part}.first_difference"));
        let object = json!({ "schema": 1, "exhibits": printed });
        assert_described("museum", &as_above.each_ref().map(String::as_str), &[object]);
    }
}
