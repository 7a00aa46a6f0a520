//! The answers of the available servers to a history, and how a page shows them: once where all servers agree, by
//! version where they differ.
//!
//! A page names a server by major and minor version, because the patch version depends on the distribution. The answers
//! of a server that the page does not name must be among the answers shown; everything else is compared as usual.

use std::fmt::Write as _;

use lockstep_model::trace::Trace;
use lockstep_redis::Scripts;
use lockstep_sim::recorder;
use lockstep_sim::render::words;
use lockstep_sim::replay::{Player, ServerProgram, suited};
use lockstep_tests::servers::servers;

use lockstep_tests::page::listed;

/// The answers of all available servers to one history, which all agree with the model.
pub struct Answers {
    /// Number of comparisons on each server.
    pub compared: usize,
    /// Each server, sorted by name, with its answers at each step.
    said: Vec<(String, Vec<Vec<String>>)>,
}

/// Replays histories of one world, one after the other, on every available server.
pub fn ask<const HISTORIES: usize>(traces: [&Trace; HISTORIES]) -> [Answers; HISTORIES] {
    let mut all = traces.map(|_| Answers { compared: 0, said: Vec::new() });
    for server in &servers() {
        // Before 7.0 TTLs are replicated as remaining times; the history shows the same answers.
        let config = suited(&traces[0].config, server);
        let mut group = Player::start(server, &config, Scripts::built_in()).expect("servers start");
        for (trace, answers) in traces.iter().zip(&mut all) {
            let Trace { scenario, story, about, reproduce, .. } = trace;
            let trace = recorder::record(scenario, story, &config, about.clone(), &trace.actions(), reproduce)
                .expect("the same can happen there");
            let played = group.replay(&trace, true).expect("servers answer");
            assert_eq!(played.difference, None, "model and {server} differ in {}", trace.scenario);
            assert!([0, played.compared].contains(&answers.compared), "{server} was asked as much as the others");
            answers.compared = played.compared;
            answers.said.push((name(server), played.answers));
        }
    }
    for answers in &mut all {
        answers.said.sort();
        answers.said.dedup();
    }
    all
}

impl Answers {
    /// The names of the servers.
    pub fn servers(&self) -> Vec<&str> {
        self.said.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The requests and answers of each step.
    pub fn picture(&self, trace: &Trace) -> String {
        let mut text = String::new();
        for (index, step) in trace.steps.iter().enumerate() {
            let _ = writeln!(text, "{:>3}  {} {}", step.number, step.lane, words::does(step.action));
            let (_, first) = &self.said[0];
            let most = self.said.iter().map(|(_, answers)| answers[index].len()).max().unwrap_or(0);
            for line in 0..most {
                let says = |answers: &Vec<Vec<String>>| answers[index].get(line).cloned().unwrap_or_default();
                if self.said.iter().all(|(_, answers)| says(answers) == says(first)) {
                    let _ = writeln!(text, "       {}", says(first));
                } else {
                    for (name, answers) in &self.said {
                        let _ = writeln!(text, "       on {name}: {}", says(answers));
                    }
                }
            }
        }
        text
    }

    /// Answers that a picture does not show, because the page was generated with other servers.
    pub fn missing_in(&self, picture: &str) -> Vec<String> {
        let shown = |answer: &str| {
            picture.lines().any(|line| {
                let line = line.trim_start();
                line == answer
                    || line
                        .strip_prefix("on ")
                        .and_then(|rest| rest.split_once(": "))
                        .is_some_and(|(_, said)| said == answer)
            })
        };
        let all =
            self.said.iter().flat_map(|(name, answers)| answers.iter().flatten().map(move |answer| (name, answer)));
        all.filter(|(_, answer)| !shown(answer)).map(|(name, answer)| format!("{name}: {answer}")).collect()
    }
}

/// The sentence on the page that names the servers.
pub fn asked(servers: &[&str]) -> String {
    format!("Asked: {}.", listed(servers))
}

/// The name as on the page: `Redis 7.0`.
fn name(server: &ServerProgram) -> String {
    let version = server.version();
    format!("{} {}.{}", server.flavour(), version.major, version.minor)
}

#[test]
fn an_answer_that_a_picture_does_not_show_is_noticed() {
    let said =
        |answer: &str| Answers { compared: 1, said: vec![("Redis 9.9".to_owned(), vec![vec![answer.to_owned()]])] };
    let picture = "  1  A asks for the lock\n       n1 stores nothing\n       on Redis 7.0: n1: PING → PONG\n";
    assert!(said("n1 stores nothing").missing_in(picture).is_empty());
    assert!(said("n1: PING → PONG").missing_in(picture).is_empty());
    assert_eq!(said("n2 stores nothing").missing_in(picture), ["Redis 9.9: n2 stores nothing"]);
}
