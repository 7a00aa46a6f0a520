//! The commands against their contract: what they print to which stream, and their exit codes.

use std::fs;
use std::process::Stdio;

use lockstep_model::{ActionKind, Property, Verdict};
use lockstep_sim::exit::Exit;
use lockstep_sim::scenario::{Code, KEYS, TABLES, builtin_files};
use serde_json::Value;
use tempfile::TempDir;

use crate::command::{json, lockstep, run, words};
use crate::traces::kind;

/// The scenario that is usually shown first.
const NAME: &str = "failover-loses-the-grant";
/// The words that are explained although no file and no output has them as a name.
const CONCEPTS: [&str; 7] = ["tick", "fairness", "liveness", "safety", "watchdog", "frontier", "sentinel"];

#[test]
fn only_redisson_has_a_deployment() {
    for command in ["replay", "fuzz"] {
        let ran = run(&[command, NAME, "--deployment", "cluster"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
        assert!(ran.stderr.contains("--deployment says how the servers of Redisson are set up: add --on redisson"));
        let ran = run(&[command, NAME, "--on", "redisson", "--deployment", "replicated"]);
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.contains("[possible values: cluster, sentinel]"), "{}", ran.stderr);
    }
}

#[test]
fn help_names_every_command_and_the_exit_codes() {
    let ran = run(&["--help"]);
    assert_eq!(ran.code, 0);
    for word in ["check", "replay", "fuzz", "show", "scenarios", "explain", "explore", "Exit codes"] {
        assert!(ran.stdout.contains(word), "{word}");
    }
    for exit in Exit::ALL {
        let line = format!("{:>5}  {}", exit.code(), exit.summary());
        assert!(ran.stdout.lines().any(|printed| printed == line), "{line}: {}", ran.stdout);
        assert!(line.len() < 80, "{line}");
    }
}

#[test]
fn a_wrong_command_line_ends_with_2_and_says_why() {
    let wrong: [(&[&str], &str); 12] = [
        (&[], "Usage"),
        (&["chekc"], "check"),
        (&["check", "--threads", "0"], "1..=256"),
        (&["check", "--max-memory", "0"], "not a size"),
        (&["check", "--symmetry", "--engine", "both"], "need the native engine"),
        (&["check", "--timeout", "0"], "not a time"),
        (&["check", "--max-states", "0"], "0"),
        (&["check", NAME, "--no-traces"], "is about --format json"),
        (&["check", "--format", "mermaid"], "human"),
        (&["show", NAME, "--property", "no-such"], "one-believer"),
        (&["show", NAME, "--property", "tokens-increase"], "does not apply to"),
        (&["check", "no-such-scenario"], "no-such-scenario"),
    ];
    for (arguments, says) in wrong {
        let ran = run(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{arguments:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{arguments:?}");
    }
}

#[test]
fn check_ends_with_its_counts_on_the_last_line() {
    let ran = run(&["check", NAME]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout.lines().last(), Some("1 passed, 0 failed, 0 skipped"));
    assert!(ran.stdout.contains(&format!("lockstep show {NAME} --property one-believer")), "{}", ran.stdout);
}

#[test]
fn check_gives_programs_one_object() {
    let found = json(&["check", NAME, "--format", "json"]);
    assert_eq!(found["schema"], 1);
    let scenario = &found["scenarios"][0];
    assert_eq!(scenario["name"], NAME);
    assert_eq!(scenario["complete"], true);
    for key in ["states", "generated", "depth", "seconds", "engine"] {
        assert!(!scenario[key].is_null(), "{key}");
    }
    let properties = scenario["properties"].as_array().expect("a list");
    let broken = properties.iter().find(|property| property["id"] == "one-believer").expect("it applies");
    assert_eq!(broken["verdict"], "violated");
    assert_eq!(broken["as_declared"], true);
    assert_eq!(broken["steps"].as_u64(), broken["trace"]["steps"].as_array().map(|steps| steps.len() as u64));
}

/// In CI the verdicts are enough, and a trace is a page for each violation.
#[test]
fn check_without_traces_is_small_and_says_the_same() {
    let whole = json(&["check", NAME, "--format", "json"]);
    let small = json(&["check", NAME, "--format", "json", "--no-traces"]);
    let of = |found: &Value, key: &str| {
        let properties = found["scenarios"][0]["properties"].as_array().expect("a list");
        properties.iter().map(|property| property[key].clone()).collect::<Vec<_>>()
    };
    for key in ["id", "verdict", "declared", "as_declared", "steps"] {
        assert_eq!(of(&whole, key), of(&small, key), "{key}");
    }
    assert!(of(&small, "trace").iter().all(Value::is_null));
    assert!(small.to_string().len() * 2 < whole.to_string().len());
}

/// A check that stopped early does not know the verdict, and unknown is not "holds".
#[test]
fn a_limit_makes_it_inconclusive() {
    let ran = run(&["check", NAME, "--max-states", "2"]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("inconclusive"));
    assert_eq!(ran.stdout.lines().last(), Some("0 passed, 0 failed, 1 inconclusive, 0 skipped"));
}

#[test]
fn check_writes_a_trace_for_every_violated_property() {
    let folder = TempDir::new().expect("a folder");
    let out = folder.path().join("new").join("traces");
    let out = out.to_str().expect("a path of letters");
    let found = json(&["check", NAME, "--format", "json", "--out", out]);
    let properties = found["scenarios"][0]["properties"].as_array().expect("a list");
    let violated: Vec<_> = properties.iter().filter(|property| property["verdict"] == "violated").collect();
    assert!(!violated.is_empty());
    assert_eq!(fs::read_dir(out).expect("the folder is there").count(), violated.len());
    for property in violated {
        let id = property["id"].as_str().expect("a word");
        let file = format!("{out}/{NAME}.{id}.json");
        let from_file = run(&["show", &file, "--format", "json"]);
        let from_name = run(&["show", NAME, "--property", id, "--format", "json"]);
        assert_eq!(from_file.code, 0, "{}", from_file.stderr);
        assert_eq!(from_file.stdout, from_name.stdout);
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_the_environments_fault() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let inside = file.path().join("traces");
    let ran = run(&["check", NAME, "--out", inside.to_str().expect("a path of letters")]);
    assert_eq!(ran.code, 5);
    assert!(ran.stderr.contains("cannot make the folder"), "{}", ran.stderr);
}

/// The picture that `explore` draws, saved as a file.
#[test]
fn show_writes_a_picture_to_a_file() {
    let folder = TempDir::new().expect("a folder");
    for (name, property) in [(NAME, "one-believer"), ("plain-newcomers-starve-a-waiter", "waiter-served")] {
        let file = folder.path().join(format!("{name}.svg"));
        let path = file.to_str().expect("a path of letters");
        let ran = run(&["show", name, "--property", property, "--format", "svg", "-o", path]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
        let svg = fs::read_to_string(&file).expect("it was written");
        let drawn = roxmltree::Document::parse(&svg).expect("well-formed XML");
        assert_eq!(drawn.root_element().tag_name().name(), "svg");
        let texts: Vec<_> = drawn.descendants().filter_map(|node| node.text()).collect();
        assert!(texts.contains(&name), "{texts:?}");
        assert!(texts.iter().any(|text| text.contains(&format!("{property} violated"))), "{texts:?}");
    }
    let nowhere = folder.path().join("missing/picture.svg");
    let ran = run(&["show", NAME, "--format", "svg", "-o", nowhere.to_str().expect("a path of letters")]);
    assert_eq!(ran.code, 5);
    assert!(ran.stderr.contains("cannot write"), "{}", ran.stderr);
}

#[test]
fn show_does_not_write_over_the_file_that_it_draws() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("mine.toml");
    fs::write(&file, run(&["scenarios", "failover-loses-the-grant"]).stdout).expect("a copy");
    let (path, before) = (file.to_str().expect("a path of letters"), fs::read(&file).expect("a file"));
    let ran = run(&["show", path, "--format", "json", "-o", path]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("name another file"), "{}", ran.stderr);
    assert_eq!(fs::read(&file).expect("a file"), before);
}

#[test]
fn show_draws_in_every_format() {
    for (format, says) in
        [("text", "what happens"), ("short", "acquired"), ("json", "\"schema\": 2"), ("mermaid", "sequenceDiagram")]
    {
        let ran = run(&["show", NAME, "--format", format]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stdout.contains(says), "{format}: {}", ran.stdout);
        assert!(ran.stdout.ends_with('\n'));
    }
    let svg = run(&["show", NAME, "--format", "svg"]).stdout;
    assert!(svg.starts_with("<svg "), "{svg}");
    let text = run(&["show", NAME, "--property", "one-believer"]).stdout;
    assert!(text.contains("VIOLATED, as declared   one-believer"), "{text}");
    assert!(text.contains("both believe they hold; at most 1 may."), "{text}");
    assert!(text.ends_with(&format!("next  lockstep replay {NAME} --property one-believer\n")), "{text}");
}

#[test]
fn colour_is_for_who_asks() {
    assert!(run(&["show", NAME, "--color", "always"]).stdout.contains('\u{1b}'));
    assert!(!run(&["show", NAME, "--color", "never"]).stdout.contains('\u{1b}'));
    assert!(!run(&["show", NAME]).stdout.contains('\u{1b}'), "stdout is no terminal");
}

#[test]
fn two_runs_show_the_same() {
    let show = || run(&["show", NAME, "--format", "json"]).stdout;
    assert_eq!(show(), show());
}

#[test]
fn scenarios_are_listed() {
    let table = run(&["scenarios"]);
    assert_eq!(table.code, 0);
    assert!(table.stdout.contains(NAME));
    let listed = json(&["scenarios", "--format", "json"]);
    let all = listed["scenarios"].as_array().expect("a list");
    let known = all.iter().find(|scenario| scenario["name"] == NAME).expect("it is there");
    assert_eq!(known["lock"], kind(true).name());
    assert_eq!(known["expect"]["one-believer"], "violated");
}

/// A user who wants a similar scenario starts from this file.
#[test]
fn the_file_of_a_built_in_scenario_is_printed_and_is_that_scenario() {
    let folder = TempDir::new().unwrap();
    let mine = folder.path().join("mine.toml");
    let printed = run(&["scenarios", NAME]);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    assert_eq!(json(&["scenarios", NAME, "--format", "json"])["text"], printed.stdout);
    fs::write(&mine, &printed.stdout).unwrap();
    let states = |what: &str| json(&["check", what, "--format", "json"])["scenarios"][0]["states"].clone();
    assert_eq!(states(&mine.display().to_string()), states(NAME));

    let misspelt = run(&["scenarios", "failover-loses-the-grand"]);
    assert_eq!(misspelt.code, 2);
    assert!(misspelt.stderr.contains("did you mean `failover-loses-the-grant`?"), "{}", misspelt.stderr);
    let file = run(&["scenarios", &mine.display().to_string()]);
    assert_eq!(file.code, 2);
    assert!(file.stderr.contains("not a built-in scenario"), "{}", file.stderr);
}

#[test]
fn everything_that_has_a_name_is_explained() {
    for property in Property::ALL {
        let ran = run(&["explain", property.id()]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        // Long sentences are broken between words.
        let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(property.sentence()), "{said}");
        assert!(said.contains(property.source()), "{said}");
    }
    let broken = run(&["explain", "one-believer"]).stdout;
    assert!(broken.contains(NAME), "{broken}");
    for (name, says) in [("exit-4", "real Redis"), ("70", "defect"), ("vacuous", "never tested"), (NAME, "the claims")]
    {
        let ran = run(&["explain", name]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stdout.contains(says), "{name}: {}", ran.stdout);
    }
    assert_eq!(json(&["explain", "exit-4", "--format", "json"])["kind"], "exit code");
    assert_eq!(json(&["explain", "d4", "--format", "json"])["kind"], "exhibit");
    for (topics, names) in
        [(&["explain", "museum"][..], "B8, B8b"), (&["explain", "keys"], "lease"), (&["explain"], "B8, B8b")]
    {
        let ran = run(topics);
        assert_eq!(ran.code, 0, "{topics:?}: {}", ran.stderr);
        assert!(ran.stdout.contains(names), "{topics:?}: {}", ran.stdout);
    }
    let of_version = run(&["explain", "redisson-3.45"]);
    assert!(of_version.stderr.contains("did you mean `redisson-3.43`?"), "{}", of_version.stderr);
    assert_eq!(json(&["explain", "instant-of-a-limit", "--format", "json"])["kind"], "departure");
    let [both, one] = ["delay", "resource.delay"].map(|key| run(&["explain", key]).stdout);
    assert!(both.contains("a key in [network]") && both.contains("a key in [resource]"), "{both}");
    assert!(!one.contains("a key in [network]") && one.contains("a key in [resource]"), "{one}");
    assert_eq!(run(&["explain", "nonsense.delay"]).code, 2);
}

#[test]
fn a_name_misspelt_finds_the_one_that_was_meant() {
    let ran = run(&["explain", "one-beleiver"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("did you mean `one-believer`?"), "{}", ran.stderr);
    let ran = run(&["show", NAME, "--property", "one-beliver"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("a similar value exists: 'one-believer'"), "{}", ran.stderr);
}

/// The list is what a user sees who does not know what can be explained: all of it must be explained.
#[test]
fn an_unknown_topic_is_answered_with_every_topic_there_is() {
    let ran = run(&["explain", "foo"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    let listed: Vec<_> = ran.stderr.split([' ', ',', '\n']).collect();
    let properties = Property::ALL.map(Property::id);
    let verdicts =
        [Verdict::Holds, Verdict::HoldsWithinBounds, Verdict::Violated, Verdict::Vacuous, Verdict::Inconclusive];
    let verdicts = verdicts.map(Verdict::name);
    let exits = Exit::ALL.map(|exit| format!("exit-{}", exit.code()));
    let codes = Code::ALL.map(Code::id);
    let keys = KEYS.iter().map(|key| key.name);
    let tables = TABLES.iter().map(|(table, _)| *table).filter(|table| !table.is_empty());
    let topics = properties.into_iter().chain(verdicts).chain(exits.iter().map(String::as_str)).chain(codes);
    let topics: Vec<_> = topics.chain(keys).chain(tables).chain(CONCEPTS).collect();
    for topic in topics {
        assert!(listed.contains(&topic), "{topic}: {}", ran.stderr);
    }
    assert!(ran.stderr.contains("`lockstep scenarios` lists them"), "{}", ran.stderr);
    let actions = ActionKind::ALL.map(ActionKind::name);
    assert!(actions.iter().all(|action| listed.contains(action)), "{}", ran.stderr);
    for topic in CONCEPTS.into_iter().chain(["S008", "faults", "exit-130"]).chain(actions) {
        assert_eq!(run(&["explain", topic]).code, 0, "{topic}");
    }
}

#[test]
fn an_action_of_a_trace_is_explained_as_the_trace_has_it() {
    let ran = run(&["explain", "extend_at"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for says in [
        "extends its lease on one of several masters",
        "{ \"do\": \"extend_at\", \"client\": 0, \"node\": 0 }",
        "red-extension",
    ] {
        assert!(ran.stdout.contains(says), "{says}: {}", ran.stdout);
    }
    assert_eq!(json(&["explain", "extend_at", "--format", "json"])["kind"], "action");
}

#[test]
fn an_explanation_says_in_what_single_clients_differ() {
    let explained = |topic: &str| {
        let ran = run(&["explain", topic]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for (topic, says) in [
        ("explicit-lease-beside-a-watchdog", "client A differs: a lease is 10 s; no watchdog "),
        ("old-client-beside-a-new-one", "client A differs: the protocol is that of redisson-3.15 "),
        ("lock-delay-shorter-than-one-lease", "client A differs: a lease is 40 s; a holder releases within 40 s "),
        ("lease", "lease: a key in [time], or for one client in [[client]]"),
        ("client", "[[client]]: a table of a scenario's file"),
    ] {
        let text = explained(topic);
        assert!(text.contains(says), "{topic}: {text}");
    }
    assert!(!explained("two-clients-one-node").contains("differs"));
}

#[test]
fn what_never_happens_is_told_in_words() {
    let said = words(&run(&["check", "a-master-and-a-replica"]).stdout);
    let why = "the scenario allows wake_by_timer, but it cannot happen in any state (wake_by_timer: a client is woken by its \
               timer, and asks)";
    assert!(said.contains(why), "{said}");
}

/// The faults that would help are found by the search: they are in no trace.
#[test]
fn show_names_the_faults_that_would_help() {
    let shown = run(&["show", "wait-knows-of-no-replica", "--property", "obtainable"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let said = words(&shown.stdout);
    let (_, why) = said.split_once(" why ").expect("a reason");
    assert!(why.contains("the faults that may still happen"), "{said}");
}

/// Nothing passes from one side of a partition to the other, and who has counted no replica waits for none.
#[test]
fn a_grant_says_which_replicas_have_it() {
    for (name, says) in [
        ("old-master-serves-its-side", "n1 grants; it reaches no replica"),
        ("wait-knows-of-no-replica", "A knows of no replica and waits for none"),
        ("every-replica-is-needed-to-write", "n1 grants; n2 and n3 have it at once"),
    ] {
        let said = words(&run(&["show", name]).stdout);
        assert!(said.contains(says), "{name}: {said}");
    }
}

/// The page and the command are one text.
#[test]
fn the_words_of_the_glossary_are_explained() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/glossary.md")).expect("the glossary");
    for topic in ["fencing token", "fencing-token", "hand-over", "orphan", "lasso", "Renewal Table", "lease"] {
        let said = words(&run(&["explain", topic]).stdout);
        let row = page.lines().find(|line| {
            line.to_lowercase().starts_with(&format!("| {} |", topic.to_lowercase().replace("fencing-", "fencing ")))
        });
        let meaning = row.and_then(|row| row.split('|').nth(2)).expect("a row").trim().replace('*', "");
        assert!(said.contains(&meaning), "{topic}: {said}");
    }
    let misspelt = run(&["explain", "fencing tokn"]);
    assert_eq!(misspelt.code, 2);
    assert!(misspelt.stderr.contains("did you mean `fencing token`?"), "{}", misspelt.stderr);
}

/// What an operator calls a fault leads to its key.
#[test]
fn a_word_that_is_no_topic_leads_to_the_texts_that_mention_it() {
    for (word, key) in [("MISCONF", "refuse_writes"), ("SIGSTOP", "pause_node"), ("sigterm", "shutdown_node")] {
        let ran = run(&["explain", word]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stdout.starts_with(&format!("{word} is no topic of its own")), "{}", ran.stdout);
        assert!(ran.stdout.contains(&format!("{key}: a key in [faults]")), "{}", ran.stdout);
    }
    // A part of a word is no word.
    assert_eq!(run(&["explain", "MISCO"]).code, 2);
}

/// A verdict that rests on a default says so, and names the key.
#[test]
fn what_a_verdict_assumes_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mine.toml");
    let text = "story = \"s\"\nlock = \"reentrant\"\n[time]\nlease = 3\nwait_limit = 0\nhold_at_most = 2\n[clients]\ncount = 2\n\
                acquires = 1\n[cluster]\nreplicas = 2\nlag = 0\nlock_delay = 4\n[faults]\nhand_over = 1\n";
    fs::write(&file, text).expect("it is written");
    let file = file.to_str().expect("a path in UTF-8");
    for command in ["check", "explain"] {
        let ran = run(&[command, file]);
        let said = words(&ran.stdout);
        assert!(said.contains("assumed"), "{said}{}", ran.stderr);
        assert!(
            said.contains("all replicas that run leave an old master at the same time (`replicas_leave`)"),
            "{said}"
        );
    }
}

#[test]
fn an_explanation_says_what_to_do_next() {
    for (topic, says) in [
        ("lease", "a tick is 10 s unless tick_ms in [time] says otherwise"),
        ("lag", "`lockstep explain tick`"),
        ("lease", "\"30sec\", \"0.5m\" and \"0m 30s\" are the same time"),
        ("exit-4", "names the first step"),
        ("holds", "of no larger one"),
        ("vacuous", "declare PROPERTY"),
        ("inconclusive", "Raise the limit"),
        ("inconclusive", "the reason names the key of [bounds]"),
        ("holds-within-bounds", "raise it until no bound is touched"),
        ("effects_under_way", "a key in [bounds]"),
        ("effects_under_way", "a whole number from 1 to 12"),
        ("bounds", "how many effects may be under way to one replica"),
        ("receipts", "a key in [protocol]"),
        ("receipts", "a key in [bounds]"),
        ("waiter-served", "`lockstep explain fairness`"),
        ("waiter-served", "Set a wait limit"),
        ("watchdog", "renew_every in [time]"),
        ("frontier", "begin with --bare --most 1"),
        ("sentinel", "`lockstep replay FILE --sentinel`"),
        ("S008", "clock_jump together with wait_for"),
    ] {
        let said = run(&["explain", topic]).stdout;
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(says), "{topic}: {said}");
    }
    assert!(!run(&["explain", "count"]).stdout.contains("tick"), "the number of clients is no time");
}

/// A name that is broken cannot be copied.
#[test]
fn pages_fit_their_width_and_break_no_name() {
    let scenarios = run(&["scenarios"]).stdout;
    for file in builtin_files() {
        assert!(scenarios.lines().any(|line| line.split(' ').next() == Some(file.name)), "{}", file.name);
    }
    for page in [scenarios, run(&["explain", "one-believer"]).stdout, run(&["explain", "foo"]).stderr] {
        let sentences = page.lines().filter(|line| !line.starts_with("next"));
        let longest = sentences.max_by_key(|line| line.chars().count()).expect("a line");
        assert!(longest.chars().count() <= 100, "{longest}");
    }
    let broken = run(&["explain", "one-believer"]).stdout;
    assert!(broken.split([' ', ',', '\n']).any(|word| word == "two-threads-share-one-watchdog-in-time"), "{broken}");
}

/// A newcomer must understand why a waiter may wait for ever.
#[test]
fn the_loop_of_a_lasso_is_explained_in_sentences() {
    let shown = run(&["show", "newcomers-starve-a-waiter"]).stdout;
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for says in [
        "after step 10 everything is as it was after step 4, so steps 5 to 10 can repeat for ever",
        "each action that must happen sooner or later happens in it, or is impossible at some point of it",
        "see `lockstep explain fairness`",
        "A releases (step 6)",
        "these are impossible after step 4: asks again, now subscribed (A, B)",
    ] {
        assert!(words.contains(says), "{says}: {shown}");
    }
}

#[test]
fn without_a_server_nothing_is_skipped_silently() {
    for command in ["replay", "fuzz"] {
        let ran = run(&[command, NAME, "--server", "/no/such/redis-server"]);
        assert_eq!(ran.code, 5, "{command}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    }
}

#[test]
fn quiet_says_nothing_but_the_result() {
    let ran = run(&["check", NAME, "--quiet"]);
    assert_eq!(ran.code, 0);
    assert_eq!(ran.stderr, "");
}

/// `lockstep … | head` is the usual way to read long output: the exit code still reports the result.
#[test]
fn a_reader_who_leaves_early_is_no_error() {
    let pages = [
        &["show", NAME, "--format", "json"][..],
        &["check", NAME, "two-clients-one-node"],
        &["--help"],
        &["scenarios"],
    ];
    for arguments in pages {
        let mut child = lockstep(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        drop(child.stdout.take());
        let ended = child.wait_with_output().expect("it ends");
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(0), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");
    }
}

/// Stopped after it has found a violation, stateright must still report the steps of the trace.
#[test]
fn a_limit_after_a_violation_keeps_what_was_found_whoever_looks() {
    for engine in ["native", "stateright", "both"] {
        let ran = run(&["check", NAME, "--engine", engine, "--max-states", "500"]);
        assert!([1, 3].contains(&ran.code), "{engine}: {} {}", ran.code, ran.stderr);
        assert!(ran.stdout.contains("one-believer"), "{engine}: {}", ran.stdout);
    }
}
