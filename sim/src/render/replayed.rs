//! What a replay found: for people, and for programs.

use std::fmt::Write as _;

use lockstep_model::trace::Trace;
use serde_json::{Value, json};

use super::actions::{actor, does};
use super::units::count;
use super::{sentinel, text};
use crate::replay::redisson::Departure;
use crate::replay::{Difference, Played};

/// The picture of a history, what the servers were asked and answered, and whether that agrees with the model.
pub fn page(trace: &Trace, replayed: &Played, options: &text::TextOptions) -> String {
    let mut page = text::picture(trace, options);
    page.push('\n');
    page += &answers_section(&replayed.answers);
    page.push('\n');
    page += &sentinel::section(replayed, &trace.config);
    match &replayed.difference {
        None => {
            let (steps, compared) = (count(replayed.steps, "step"), count(replayed.compared, "comparison"));
            let watched = sentinel::watched(replayed);
            let _ = writeln!(
                page,
                "agrees: {steps}, {compared}, on {}{watched}",
                servers_and_clients(&replayed.server, replayed.clients.as_deref())
            );
            if let Some(left) = replayed.left {
                let _ = writeln!(page, "not followed beyond step {}: {}", replayed.steps, left_words(left));
            }
        }
        Some(found) => {
            let _ = write!(
                page,
                "diverged: on {}, at {}",
                servers_and_clients(&replayed.server, replayed.clients.as_deref()),
                difference(found, trace, replayed.clients.as_deref())
            );
        }
    }
    page
}

/// What the servers were asked and answered, step by step.
fn answers_section(answers: &[Vec<String>]) -> String {
    let mut page = "requests to the servers, and their answers\n".to_owned();
    let digits = answers.len().to_string().len();
    for (index, answers) in answers.iter().enumerate() {
        let mut number = (index + 1).to_string();
        for answer in answers.iter().flat_map(|answer| answer.lines()) {
            let _ = writeln!(page, "  {number:>digits$}  {answer}");
            number.clear();
        }
    }
    page
}

/// The same of a history that something has kept from being replayed to its end. `answers`: what is known until then.
pub fn page_of_failed(trace: &Trace, answers: &[Vec<String>], options: &text::TextOptions) -> String {
    let mut page = text::picture(trace, options);
    page.push('\n');
    page += &answers_section(answers);
    let _ = writeln!(page, "\nnot replayed beyond step {} of {}", answers.len(), trace.steps.len());
    page
}

/// Why a history was not followed to its end, and the departure that says more.
pub fn left_words(end: &str) -> String {
    match Departure::behind(end) {
        Some(departure) => format!("{end} (departure {})", departure.id),
        None => end.to_owned(),
    }
}

/// `redis 7.0.15`, and the client library if one was replayed.
pub fn servers_and_clients(server: &str, clients: Option<&str>) -> String {
    clients.map_or_else(|| server.to_owned(), |clients| format!("{server} with {clients}"))
}

/// A difference, with the model's value above that of Redis, and between them what our scripts do where a library differs.
/// `clients`: the library whose clients did something else; `None`: our scripts were asked.
pub fn difference(difference: &Difference, trace: &Trace, clients: Option<&str>) -> String {
    let actor = actor(&trace.config, difference.action);
    let mut page =
        format!("step {}, {actor} {}: {} differs\n", difference.step, does(difference.action), difference.what);
    // A library is called by its name: `redisson 4.7.0`.
    let other = clients.and_then(|clients| clients.split(' ').next()).unwrap_or("redis");
    let scripts = difference.scripts.as_ref().map(|scripts| ("scripts", scripts));
    let rows: Vec<_> =
        [("model", &difference.model)].into_iter().chain(scripts).chain([(other, &difference.redis)]).collect();
    let width = rows.iter().map(|(who, _)| who.len()).max().unwrap_or_default();
    for (who, says) in rows {
        let mut lines = says.lines();
        let _ = writeln!(page, "  {who:width$}  {}", lines.next().unwrap_or_default());
        for line in lines {
            let _ = writeln!(page, "  {:width$}  {line}", "");
        }
    }
    if let Some(known) = difference.known {
        let _ = writeln!(page, "  {:width$}  {known}", "known");
    }
    page
}

/// A difference, for programs.
pub fn difference_json(difference: Option<&Difference>) -> Value {
    difference.map_or(Value::Null, |difference| {
        json!({
            "step": difference.step,
            "action": difference.action,
            "what": difference.what,
            "model": difference.model,
            "redis": difference.redis,
            "known": difference.known,
            "scripts": difference.scripts,
        })
    })
}

/// A replay, for programs.
pub fn json(trace: &Trace, replayed: &Played) -> Value {
    let mut object = json!({
        "schema": 1,
        "trace": trace,
        "server": replayed.server,
        "steps": replayed.steps,
        "compared": replayed.compared,
        "agrees": replayed.difference.is_none(),
        "first_difference": difference_json(replayed.difference.as_ref()),
    });
    if let Some(clients) = &replayed.clients {
        object["clients"] = json!(clients);
        object["left"] = json!(replayed.left);
        object["departure"] = json!(replayed.left.and_then(Departure::behind).map(|departure| departure.id));
    }
    if !replayed.failovers.is_empty() {
        object["sentinel"] = sentinel::json_of(replayed, &trace.config);
    }
    object
}

/// Several replays, for programs: the sums under the same keys, and each replay.
pub fn together(results: &[Value]) -> Value {
    let sum = |key: &str| results.iter().filter_map(|result| result[key].as_u64()).sum::<u64>();
    let first = results.iter().find(|result| result["agrees"] == false);
    json!({
        "schema": 1,
        "trace": first.map(|result| &result["trace"]),
        "server": results.first().map(|result| &result["server"]),
        "steps": sum("steps"),
        "compared": sum("compared"),
        "agrees": first.is_none(),
        "first_difference": first.map(|result| &result["first_difference"]),
        "replays": results,
    })
}

#[cfg(test)]
mod tests {
    use lockstep_model::Action;
    use lockstep_model::trace::About;

    use super::*;
    use crate::recorder;
    use crate::render::json_page::assert_described;
    use crate::scenario;

    fn history() -> Trace {
        let scenario = scenario::builtin().swap_remove(0);
        let actions = [Action::Acquire { client: 0, thread: 0 }];
        recorder::record(&scenario.name, "", &scenario.config, About::Drawn, &actions, "").expect("A can ask")
    }

    fn replayed(difference: Option<Difference>) -> Played {
        let answers = vec![vec!["EVALSHA acquire -> nil".to_owned()]];
        Played {
            server: "redis 7.0.15".to_owned(),
            clients: None,
            steps: 1,
            compared: 12,
            answers,
            difference,
            left: None,
            failovers: Vec::new(),
        }
    }

    fn a_difference() -> Difference {
        Difference {
            what: "lock on n1".to_owned(),
            model: "A:1 ttl 30000 ms".to_owned(),
            redis: "A:1 ttl 29999 ms\nof type hash".to_owned(),
            ..Difference::of_a_reply()
        }
    }

    #[test]
    fn what_agrees_ends_with_what_was_compared_and_with_whom() {
        let says = page(&history(), &replayed(None), &text::TextOptions::default());
        assert!(says.contains("  1  EVALSHA acquire -> nil\n"), "{says}");
        assert!(says.ends_with("\nagrees: 1 step, 12 comparisons, on redis 7.0.15\n"), "{says}");
    }

    #[test]
    fn a_difference_shows_model_and_redis_one_below_the_other() {
        let says = page(&history(), &replayed(Some(a_difference())), &text::TextOptions::default());
        let told = "diverged: on redis 7.0.15, at step 1, A asks for the lock: lock on n1 differs\n  \
                    model  A:1 ttl 30000 ms\n  redis  A:1 ttl 29999 ms\n         of type hash\n";
        assert!(says.ends_with(told), "{says}");
    }

    #[test]
    fn a_difference_of_a_library_is_labelled_with_its_name() {
        let of_redisson = Played { clients: Some("redisson 4.7.0".to_owned()), ..replayed(Some(a_difference())) };
        let says = page(&history(), &of_redisson, &text::TextOptions::default());
        let told = "\n  model     A:1 ttl 30000 ms\n  redisson  A:1 ttl 29999 ms\n            of type hash\n";
        assert!(says.ends_with(told), "{says}");
    }

    #[test]
    fn a_difference_of_a_library_has_our_scripts_between_it_and_the_model() {
        let scripts = Some("do what the model does\nn1: EVALSHA acquire → nil".to_owned());
        let differs = Difference { scripts, ..a_difference() };
        let told = "lock on n1 differs\n  model     A:1 ttl 30000 ms\n  scripts   do what the model does\n            \
                    n1: EVALSHA acquire → nil\n  redisson  A:1 ttl 29999 ms\n            of type hash\n";
        let says = difference(&differs, &history(), Some("redisson 4.7.0"));
        assert!(says.ends_with(told), "{says}");
    }

    #[test]
    fn the_page_on_json_has_every_key_of_a_replay_and_no_other() {
        let of_redisson = Played {
            clients: Some("Redisson 4.7.0".to_owned()),
            left: Some("which of two callbacks runs first is the choice of the JVM"),
            ..replayed(Some(a_difference()))
        };
        let one = json(&history(), &of_redisson);
        let several = together(&[one.clone(), json(&history(), &replayed(None))]);
        assert_described("replay", &["replays[]"], &[one, several]);
    }

    #[test]
    fn several_replays_are_summed_and_the_first_difference_stands_out() {
        let all = [json(&history(), &replayed(None)), json(&history(), &replayed(Some(a_difference())))];
        let both = together(&all);
        assert_eq!(both["compared"], 24);
        assert_eq!(both["agrees"], false);
        assert_eq!(both["first_difference"]["what"], "lock on n1");
        assert_eq!(together(&all[..1])["first_difference"], Value::Null);
    }
}
