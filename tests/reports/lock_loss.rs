//! `reports/lock-loss.md`: two believers after a failover, from the verdict to what real Redis answers.

use std::fmt::Write as _;

use lockstep_model::config::{Bound, MAX_EFFECTS_UNDER_WAY, PromoteRule};
use lockstep_model::trace::{About, Trace};
use lockstep_model::{Action, Property, Verdict};
use lockstep_sim::check::judge::MOST_STATES;
use lockstep_sim::render::text::{Declared, Options, picture};
use lockstep_sim::render::words;
use lockstep_sim::scenario::Scenario;

use crate::page::{self, table, thousands};
use crate::runs::{self, Line, edited, exhaust, found, known, verdict_words};
use crate::{answers, minimal};

const PAGE: &str = "reports/lock-loss.md";
const LOSES: &str = "failover-loses-the-grant";
const KEEPS: &str = "failover-keeps-the-grant";
const SLOW: &str = "failover-slower-than-the-lease";
const PROPERTY: Property = Property::OneBeliever;
/// What is between these depends on which servers were asked.
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
        "{ANSWERS}\n{} Each with a frozen clock, a gate between master and replica, and `SIGKILL` for a crash.\n\n",
        answers::asked(&servers)
    );
    let _ = writeln!(answered, "The trace above:\n\n{}", block(&lost_asked, &trace));
    let _ = writeln!(
        answered,
        "One step more, and the lock is safe: the replica applies the grant before the master dies.\n\n{}",
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
    // Other servers than the page names: its text must be what it would be, and its answers must cover theirs.
    let (_, rest) = committed.split_once(ANSWERS).expect("the page has its answers");
    let (shown, _) = rest.split_once(AFTER_ANSWERS).expect("the page goes on after its answers");
    let kept = [&before, ANSWERS, shown, &after].concat();
    page::keep(PAGE, &kept);
    let missing = [lost_asked.missing_in(shown), saved_asked.missing_in(shown)].concat();
    assert!(missing.is_empty(), "{PAGE} was made on other servers, and does not show:\n{}", missing.join("\n"));
    println!("{PAGE} names other servers than {}: their answers are all on it", page::listed(&servers));
}

/// The counterexample, judged.
fn loss() -> Trace {
    let found = found(&known(LOSES).1, PROPERTY);
    assert_eq!((found.verdict, found.declared), (Verdict::Violated, Some(Verdict::Violated)));
    found.trace.clone().expect("what is violated has a trace")
}

/// The same history, but that the replica sees the grant in time: B is refused.
fn saved(scenario: &Scenario, trace: &Trace) -> Trace {
    let mut actions = trace.actions();
    actions.insert(1, Action::Replicate { node: 1 });
    let saved = runs::history(scenario, &actions).expect("the replica can be quicker");
    let last = saved.steps.last().expect("it has steps");
    assert_eq!(last.state.believers().count(), 1, "A alone believes");
    saved
}

fn headline(trace: &Trace) -> String {
    let steps = words::count(trace.steps.len(), "step");
    format!(
        "# A failover gives the lock away twice\n\n\
         Made by `make reports` from real runs; a test fails when it is stale.\n\n\
         ## Result\n\n\
         In the scenario `{LOSES}` the property `{PROPERTY}` is **violated**, as declared, after {steps}. \
         No shorter history within the scenario breaks it, and real servers do the same at every step.\n\n\
         > `{PROPERTY}`: {}.\n\nSource: {}.\n\n",
        PROPERTY.sentence(),
        PROPERTY.source()
    )
}

fn world(scenario: &Scenario) -> String {
    let lines = words::world(&scenario.config).into_iter().map(|line| format!("- {line}\n"));
    format!("## The world it happens in\n\n{}\n", lines.collect::<String>())
}

fn shortest(scenario: &Scenario, trace: &Trace) -> String {
    let options = Options { declared: Declared::As(Some(Verdict::Violated)), ..Options::default() };
    let About::Counterexample { shortest, .. } = trace.about else { panic!("a counterexample") };
    assert!(shortest, "the judge looked at every shorter history");
    let (outcome, actions, config) = (&known(LOSES).1, trace.actions(), &scenario.config);
    let steps = actions.len();
    let mut text = format!("## The shortest trace\n\n```text\n{}```\n\n", picture(trace, &options));

    let shorter: Vec<_> = (0..steps).map(|steps| minimal::count(config, PROPERTY, steps)).collect();
    assert!(shorter.iter().all(|count| count.breaking.is_empty()));
    let as_long = minimal::count(config, PROPERTY, steps);
    let _ = write!(
        text,
        "## Why it is the shortest\n\n\
         - Two engines that share nothing but the model, our own and stateright, met the same {} states, found the same \
         depth, {}, and the property first broken after {steps} steps.\n\
         - The judge, which shares no search with them, executed the trace, saw the property broken by its last step, \
         and looked at every state within {} steps: it is broken in none.\n\
         - Counted one by one, without any search: of {} histories of fewer steps none breaks it; of {} of {steps} steps \
         {} do:\n",
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
        "\nEach step is needed. Left out, the rest was executed again:\n\n{}",
        table(&["step#", "what it is", "without it"], &rows)
    );
    text
}

fn reproduce() -> String {
    format!(
        "## See it yourself\n\n```sh\nlockstep show {LOSES} --property {PROPERTY}   # this picture\n\
         lockstep check {LOSES} --engine both             # the verdicts, by both engines\n\
         lockstep replay {LOSES}                          # on the redis-server of this machine\n```\n\n"
    )
}

/// A row of what prevents it: a built-in scenario, or one with lines of its file changed.
fn row(name: &str, lines: &[Line], expected: Verdict) -> Vec<String> {
    let scenario = edited(name, lines);
    let outcome = exhaust(&scenario);
    let cluster = &scenario.config.cluster;
    let bound = |bound: Bound| match bound {
        Bound::Ticks(0) => "at once".to_owned(),
        Bound::Ticks(ticks) => format!("within {}", words::time(&scenario.config, ticks.into())),
        Bound::Any => "some time".to_owned(),
    };
    let chosen = match cluster.promote {
        PromoteRule::Any => "any",
        PromoteRule::MostData => "one that lost least",
        PromoteRule::Priority => "the first that runs",
        PromoteRule::Coordinated => "any; a hand-over waits for it",
    };
    let called = runs::same_world(&scenario).map_or_else(|| "–".to_owned(), |name| format!("`{name}`"));
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
    let (at_once, bounded) = (("cluster", "lag", "0"), ("cluster", "failover_within", "1"));
    // That switch and no other is what the page calls "tries a failed renewal again".
    let of_2021 = ("protocol", "profile", "\"redisson-3.15\"");
    let retried = edited(KEEPS, &[of_2021, ("protocol", "failed_renewal", "\"retry\"")]);
    assert_eq!(found(&exhaust(&retried), PROPERTY).verdict, Verdict::Holds);
    let forgotten = edited(KEEPS, &[("protocol", "failed_renewal", "\"forget\"")]);
    assert_eq!(found(&exhaust(&forgotten), PROPERTY).verdict, Verdict::Violated);

    let two_ticks = ("cluster", "failover_within", "2");
    let rows = [
        row(LOSES, &[], Verdict::Violated),
        row(LOSES, &[bounded], Verdict::Violated),
        row(LOSES, &[at_once], Verdict::Violated),
        row(LOSES, &[at_once, bounded], Verdict::Holds),
        row(LOSES, &[at_once, two_ticks], Verdict::Violated),
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
        "a replica has a write",
        "a failover chooses",
        "and is over",
        "`one-believer`",
        "built in as",
    ];
    format!(
        "{AFTER_ANSWERS}\nEvery replica has the write before anybody is answered, **and** the failover is over soon, **and** the client \
         tries a failed renewal again, which Redisson 3.15 does not. None is enough without the others; a replica that lost fewest effects is not \
         enough either.\n\n{}\n\
         A failover is over when every running client knows the new master. How soon is soon? With every write \
         replicated at once, the longest bound for which `{PROPERTY}` still holds:\n\n{}\n\
         That is one tick less than the last retry: a renewal that finds no master is tried again one period later, and \
         a lease of *n* whole periods allows for *n* − 1 of them. With Redisson's defaults, a lease of 30 s renewed every \
         10 s, that leaves less than 20 s between the crash and the moment when every client knows the new master.\n\n",
        table(&head, &rows),
        table(&["lease, ticks#", "renewed every#", "failover within#"], &longest_failovers())
    )
}

/// For small leases and periods: the longest failover that loses nothing.
fn longest_failovers() -> Vec<Vec<String>> {
    const WORLDS: [(u8, &str, u8, &str); 9] = [
        (2, "2", 1, "1"),
        (3, "3", 1, "1"),
        (4, "4", 1, "1"),
        (5, "5", 1, "1"),
        (4, "4", 2, "2"),
        (5, "5", 2, "2"),
        (6, "6", 2, "2"),
        (7, "7", 2, "2"),
        (9, "9", 3, "3"),
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
            let last_retry = usize::from((lease / period - 1) * period);
            assert_eq!(bounds, last_retry, "lease {lease}, period {period}: the page's rule");
            vec![lease_text, period_text, BOUNDS[bounds - 1]].into_iter().map(str::to_owned).collect()
        })
        .into()
}

fn not_claimed() -> String {
    format!(
        "## What this page does not claim\n\n\
         - More than its bounds: the world above, and at most {MAX_EFFECTS_UNDER_WAY} effects under way to a replica \
         (a write that would be one more waits). \"Holds\" means that every state of that world was looked at, not that \
         a larger one was.\n\
         - Anything about a network that loses or delays: a request is asked, executed and answered in one step.\n\
         - Anything about `WAIT`: Redisson asks for it after an acquire by default (`checkLockSyncedSlaves`); the clients \
         here do not, so this is the lock without that check. What it does: `wait-for-the-replica`, \
         `wait-does-not-cover-renewals` and [repairs.md](repairs.md). \"Has a write at once\" is stronger: no write is seen \
         by anybody before every replica has it.\n\
         - Anything about Sentinel's or a cluster's own election: the harness promotes by `REPLICAOF NO ONE`, and a \
         client learns of the new master at any later step.\n\
         - That a replica *can* have every write at once: no setting of Redis gives just that.\n\
         - That the judge's word has no limit: it holds at most {} states, and says so when that is not enough; here it \
         was.\n\
         - That the engines cannot be fooled: they tell states apart by fingerprints of 64 bits, each by its own.\n\n\
         Written anew by `make reports`.\n",
        thousands(MOST_STATES as u64)
    )
}
