//! `reports/lock-loss.md`: two believers after a failover, from the verdict to the answers of real servers.

use std::fmt::Write as _;

use lockstep_model::config::{Bound, PromoteRule};
use lockstep_model::trace::{About, Trace};
use lockstep_model::{Action, Property, Verdict};
use lockstep_sim::check::judge::MOST_STATES;
use lockstep_sim::render::text::{Declared, TextOptions, picture};
use lockstep_sim::render::words;
use lockstep_sim::scenario::Scenario;

use crate::runs::{self, ScenarioLine, edited, exhaust, found, known, verdict_words};
use crate::{answers, minimal};
use lockstep_tests::page::{self, NOTHING, table, thousands};

const PAGE: &str = "reports/lock-loss.md";
const LOSES: &str = "failover-loses-the-grant";
const KEEPS: &str = "failover-keeps-the-grant";
const SLOW: &str = "failover-slower-than-the-lease";
const PROPERTY: Property = Property::OneBeliever;
/// The text between these two headings depends on which servers were used.
const ANSWERS: &str = "## What real servers answer\n";
const AFTER_ANSWERS: &str = "## What prevents it\n";

#[test]
fn the_page_on_a_lost_lock_says_what_its_runs_say() {
    let scenario = &known(LOSES).0;
    let trace = loss();
    let saved = saved(scenario, &trace);
    let [lost_asked, saved_asked] = answers::ask([&trace, &saved]);
    let servers = lost_asked.servers();
    let block = |asked: &answers::Answers, trace: &Trace| {
        let (steps, compared) = (words::count(trace.steps.len(), "step"), words::count(asked.compared, "comparison"));
        format!(
            "```text\n{}```\n\nEvery server agrees with the model: {steps}, {compared} on each.\n",
            asked.picture(trace)
        )
    };

    let mut answered = format!(
        "{ANSWERS}\n{} Each runs with a frozen clock, a gate between master and replica, and `SIGKILL` for a crash.\n\n",
        answers::asked(&servers)
    );
    let _ = writeln!(answered, "The trace above:\n\n{}", block(&lost_asked, &trace));
    let _ = writeln!(
        answered,
        "With one more step the lock is safe: the replica applies the grant before the master crashes.\n\n{}",
        block(&saved_asked, &saved)
    );

    let before = [headline(&trace), world(scenario), shortest(scenario, &trace), reproduce()].concat();
    let after = [prevents(), not_claimed()].concat();

    let committed = page::committed(PAGE);
    let is_named = committed.contains(&answers::asked(&servers));
    if page::is_writing() || is_named || committed.is_empty() {
        page::keep(PAGE, &[before, answered, after].concat());
        return;
    }
    // The page does not name these servers: its text must be up to date, and its answers must include theirs.
    let (_, rest) = committed.split_once(ANSWERS).expect("the page has its answers");
    let (shown, _) = rest.split_once(AFTER_ANSWERS).expect("the page goes on after its answers");
    let kept = [&before, ANSWERS, shown, &after].concat();
    page::keep(PAGE, &kept);
    let missing = [lost_asked.missing_in(shown), saved_asked.missing_in(shown)].concat();
    assert!(missing.is_empty(), "{PAGE} was made on other servers and does not show:\n{}", missing.join("\n"));
    println!("{PAGE} names other servers than {}, and shows all their answers", page::listed(&servers));
}

/// The counterexample, judged.
fn loss() -> Trace {
    let found = found(&known(LOSES).1, PROPERTY);
    assert_eq!((found.verdict, found.declared), (Verdict::Violated, Some(Verdict::Violated)));
    found.trace.clone().expect("what is violated has a trace")
}

/// The same history, except that the replica applies the grant in time, so B is refused.
fn saved(scenario: &Scenario, trace: &Trace) -> Trace {
    let mut actions = trace.actions();
    actions.insert(1, Action::Replicate { node: 1 });
    let saved = runs::history(scenario, &actions).expect("the replica can be faster");
    let last = saved.steps.last().expect("it has steps");
    assert_eq!(last.state.believers().count(), 1, "A alone believes");
    saved
}

fn headline(trace: &Trace) -> String {
    let steps = words::count(trace.steps.len(), "step");
    format!(
        "# A failover grants the lock twice\n\n\
         Made by `make reports` from real runs; a test fails when it is stale.\n\n\
         ## Result\n\n\
         In the scenario `{LOSES}` the property `{PROPERTY}` is **violated**, as declared, after {steps}. \
         No shorter history within the scenario breaks it, and real servers behave the same at every step.\n\n\
         > `{PROPERTY}`: {}.\n\nSource: {}.\n\n",
        PROPERTY.sentence(),
        PROPERTY.source()
    )
}

fn world(scenario: &Scenario) -> String {
    let lines = words::world(&scenario.config).into_iter().map(|line| format!("- {line}\n"));
    format!("## The world\n\n{}\n", lines.collect::<String>())
}

fn shortest(scenario: &Scenario, trace: &Trace) -> String {
    let options = TextOptions { declared: Declared::As(Some(Verdict::Violated)), ..TextOptions::default() };
    let About::Counterexample { shortest, .. } = trace.about else { panic!("a counterexample") };
    assert!(shortest, "the judge visited every shorter history");
    let (outcome, actions, config) = (&known(LOSES).1, trace.actions(), &scenario.config);
    let steps = actions.len();
    let mut text = format!("## The shortest trace\n\n```text\n{}```\n\n", picture(trace, &options));

    let shorter: Vec<_> = (0..steps).map(|steps| minimal::count(config, PROPERTY, steps)).collect();
    assert!(shorter.iter().all(|count| count.breaking.is_empty()));
    let as_long = minimal::count(config, PROPERTY, steps);
    let _ = write!(
        text,
        "## Why it is the shortest\n\n\
         - Two engines that share only the model, our own and stateright, visited the same {} states, found the same depth, \
         {}, and found the property first broken after {steps} steps.\n\
         - The judge, which has a search of its own, executed the trace, found the property broken by its last step, and \
         visited every state within {} steps: it is broken in none of them.\n\
         - All histories were also enumerated, without a search: of {} shorter ones none breaks the property; of {} with \
         {steps} steps these {} do:\n",
        thousands(outcome.states),
        outcome.depth,
        steps - 1,
        thousands(shorter.iter().map(|count| count.all).sum()),
        thousands(as_long.all),
        as_long.breaking.len()
    );
    for breaking in &as_long.breaking {
        let _ = writeln!(text, "  - {}", minimal::on_one_line(config, breaking));
    }
    let rows: Vec<_> = trace
        .steps
        .iter()
        .enumerate()
        .map(|(index, step)| {
            let what = minimal::without(scenario, &actions, index).expect("each step of a shortest trace is needed");
            vec![step.number.to_string(), format!("{} {}", step.lane, words::does(step.action)), what]
        })
        .collect();
    let _ = writeln!(
        text,
        "\nEach step is needed. Without it, the remaining steps were executed again:\n\n{}",
        table(&["step#", "what happens", "without it"], &rows)
    );
    text
}

fn reproduce() -> String {
    format!(
        "## Reproduce it\n\n```sh\nlockstep show {LOSES} --property {PROPERTY}   # this picture\n\
         lockstep check {LOSES} --engine both             # the verdicts, by both engines\n\
         lockstep replay {LOSES}                          # on the redis-server of this machine\n```\n\n"
    )
}

/// A row of the table of repairs: a built-in scenario, possibly with some lines changed.
fn row(name: &str, lines: &[ScenarioLine], expected: Verdict) -> Vec<String> {
    let scenario = edited(name, lines);
    let outcome = exhaust(&scenario);
    let cluster = &scenario.config.cluster;
    let bound = |bound: Bound| match bound {
        Bound::Ticks(0) => "at once".to_owned(),
        Bound::Ticks(ticks) => format!("within {}", words::time(&scenario.config, ticks.into())),
        Bound::Any => "at any time".to_owned(),
    };
    let chosen = match cluster.promote {
        PromoteRule::Any => "any",
        PromoteRule::MostData => "one with the most data",
        PromoteRule::Priority => "the first one that runs",
        PromoteRule::Coordinated => "any; a hand-over waits until it has everything",
        PromoteRule::Forced => "any; a hand-over waits for its time-out at most",
    };
    let called = runs::same_world(&scenario).map_or_else(|| NOTHING.to_owned(), |name| format!("`{name}`"));
    let verdict = found(&outcome, PROPERTY);
    assert_eq!(verdict.verdict, expected, "the page says so of {name} with {lines:?}");
    let verdict = verdict_words(verdict);
    vec![
        scenario.config.protocol.profile.name().to_owned(),
        cluster.replicas.to_string(),
        bound(cluster.lag),
        chosen.to_owned(),
        bound(cluster.failover_within),
        verdict,
        called,
    ]
}

fn prevents() -> String {
    let (at_once, bounded) = (("cluster", "lag", "0"), ("cluster", "failover_within", "0"));
    // This is the only switch that the page calls "retries a failed renewal".
    let of_2021 = ("protocol", "profile", "\"redisson-3.15\"");
    let retried = edited(KEEPS, &[of_2021, ("protocol", "failed_renewal", "\"retry\"")]);
    assert_eq!(found(&exhaust(&retried), PROPERTY).verdict, Verdict::Holds);
    let forgotten = edited(KEEPS, &[("protocol", "failed_renewal", "\"forget\"")]);
    assert_eq!(found(&exhaust(&forgotten), PROPERTY).verdict, Verdict::Violated);

    let one_tick = ("cluster", "failover_within", "1");
    let rows = [
        row(LOSES, &[], Verdict::Violated),
        row(LOSES, &[bounded], Verdict::Violated),
        row(LOSES, &[at_once], Verdict::Violated),
        row(LOSES, &[at_once, bounded], Verdict::Holds),
        row(LOSES, &[at_once, one_tick], Verdict::Violated),
        row(SLOW, &[], Verdict::Violated),
        row("failover-to-the-wrong-replica", &[], Verdict::Violated),
        row("failover-to-the-fullest-replica", &[], Verdict::Violated),
        row("failover-to-the-fullest-replica", &[at_once, bounded], Verdict::Holds),
        row(KEEPS, &[of_2021], Verdict::Violated),
    ];
    assert_eq!(found(&known(KEEPS).1, PROPERTY).verdict, Verdict::Holds);
    let head = [
        "client",
        "replicas#",
        "replicas have a write",
        "the failover promotes",
        "and ends",
        "`one-believer`",
        "built in as",
    ];
    format!(
        "{AFTER_ANSWERS}\nThree things together: every replica has a write before the client is answered, the failover ends early enough, \
         and the client retries a failed renewal, which Redisson 3.15 does not. None of them is enough alone, and \
         promoting the replica with the most data is not enough either.\n\n{}\n\
         A failover ends when every running client knows the new master. How early is early enough? If every write is \
         replicated at once, this is the longest failover for which `{PROPERTY}` still holds:\n\n{}\n\
         A renewal that finds no master is retried one period later, and one that is sent at the very instant at which the \
         lease is due may come too late. So the last one that surely counts is at the last multiple of the period before the \
         lease is over. The master may have died just before the first renewal: the failover must end earlier than one \
         period before that last one. With Redisson's defaults (a lease of 30 s, renewed every 10 s) less than 10 s may \
         pass between the crash and the moment when every client knows the new master.\n\n",
        table(&head, &rows),
        table(&["lease, ticks#", "renewed every, ticks#", "failover within, ticks#"], &longest_failovers())
    )
}

/// For small leases and renewal periods: the longest failover without a lost lock.
fn longest_failovers() -> Vec<Vec<String>> {
    const WORLDS: [(u8, &str, u8, &str); 9] = [
        (3, "3", 1, "1"),
        (4, "4", 1, "1"),
        (5, "5", 1, "1"),
        (6, "6", 1, "1"),
        (5, "5", 2, "2"),
        (6, "6", 2, "2"),
        (7, "7", 2, "2"),
        (8, "8", 2, "2"),
        (10, "10", 3, "3"),
    ];
    const BOUNDS: [&str; 7] = ["0", "1", "2", "3", "4", "5", "6"];
    let longest = |lease: &'static str, period: &'static str| {
        let holds = |within: &&&'static str| {
            let lines =
                [("time", "lease", lease), ("time", "renew_every", period), ("cluster", "failover_within", **within)];
            found(&exhaust(&edited(KEEPS, &lines)), PROPERTY).verdict == Verdict::Holds
        };
        BOUNDS.iter().take_while(holds).count()
    };
    WORLDS
        .map(|(lease, lease_text, period, period_text)| {
            let bounds = longest(lease_text, period_text);
            assert!(bounds > 0 && bounds < BOUNDS.len(), "the bound lies within what was tried");
            let last_in_time = (lease - 1) / period * period;
            assert_eq!(bounds, usize::from(last_in_time - period), "lease {lease}, period {period}: the page's rule");
            vec![lease_text, period_text, BOUNDS[bounds - 1]].into_iter().map(str::to_owned).collect()
        })
        .into()
}

fn not_claimed() -> String {
    format!(
        "## What this page does not claim\n\n\
         - Larger worlds: \"holds\" means that every state of the world above was visited. Where the model has too little \
         room for one, a verdict is inconclusive and says so.\n\
         - A network that loses or delays: here a request is sent, executed and answered in one step.\n\
         - `WAIT`: Redisson sends it after an acquire by default (`checkLockSyncedSlaves`); the clients of this page do not. \
         Its effect: `wait-for-the-replica`, `wait-does-not-cover-renewals` and [repairs.md](repairs.md). \"Replicas have a \
         write at once\" is stronger: no client sees a write before every replica has it.\n\
         - Elections of Sentinel or of a cluster: the harness promotes with `REPLICAOF NO ONE`, and a client learns of the \
         new master at any later step.\n\
         - That replicas *can* have every write at once: no setting of Redis gives exactly that.\n\
         - A judge without limits: it stores at most {} states and says so if that is not enough. Here it was enough.\n\
         - Engines without error: they identify states by fingerprints of 64 bits, each engine by its own.\n\n\
         Updated by `make reports`.\n",
        thousands(MOST_STATES as u64)
    )
}
