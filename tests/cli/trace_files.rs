//! Trace files from users: valid ones are printed again byte for byte; others are refused with the place of the error
//! and a hint.

use std::fs;
use std::path::Path;

use lockstep_model::config::{Calls, Cluster, Config, Faults, NetworkMode};
use lockstep_model::locks::StoringMasters;
use lockstep_model::trace::{About, Trace};
use lockstep_model::{Action, LockKind, Property, Verdict};
use lockstep_sim::recorder;
use lockstep_sim::render::json;
use lockstep_sim::scenario::{BuiltIn, Scenario};
use serde_json::{Value, json as value};
use tempfile::TempDir;

use crate::command::{Ran, run};
use crate::traces::{FAILOVER, failover, orphan};

/// Runs `show` on a file with this text.
fn show(text: &str) -> Ran {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("given.json");
    fs::write(&file, text).expect("a file");
    run(&["show", &path(&file), "--format", "json"])
}

fn path(file: &Path) -> String {
    file.to_str().expect("a path of letters").to_owned()
}

/// Asserts that the file is refused as invalid and that the message contains these parts.
fn assert_refused(ran: &Ran, says: &[&str]) {
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
    for part in says.iter().chain(&["given.json", "help: "]) {
        assert!(ran.stderr.contains(part), "no {part:?} in {}", ran.stderr);
    }
}

/// A counterexample of somebody's own scenario.
fn given() -> Trace {
    Trace { scenario: "given".to_owned(), reproduce: "lockstep check given.toml".to_owned(), ..failover() }
}

fn altered(place: &str, new: Value) -> String {
    let mut trace = serde_json::to_value(given()).expect("a trace is JSON");
    *trace.pointer_mut(place).expect("the place is there") = new;
    trace.to_string()
}

#[test]
fn a_trace_comes_back_byte_for_byte() {
    let text = json::document(&given());
    let ran = show(&text);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stdout, text);
}

/// Traces from before there were bounds say nothing of them, and mean the usual room.
#[test]
fn a_trace_says_which_bounds_its_scenario_sets_and_nothing_where_it_sets_none() {
    let mut trace = given();
    assert!(!json::document(&trace).contains("bounds"), "what is usual is left out");
    trace.config.bounds.effects_under_way = Some(6);
    let text = json::document(&trace);
    assert!(text.contains("\"effects_under_way\": 6"), "{text}");
    let ran = show(&text);
    assert_eq!((ran.code, &ran.stdout), (0, &text), "{}", ran.stderr);
    trace.config.bounds.effects_under_way = Some(13);
    let says = "/config/bounds/effects_under_way is 13: it must be 1 to 12";
    assert_refused(&show(&json::document(&trace)), &[says]);
}

#[test]
fn what_its_kind_of_lock_does_not_have_is_refused() {
    let lacks_both = |kind: &&LockKind| !kind.facts().names.is_there() && !kind.has_split_worlds();
    let kind = LockKind::ALL.iter().find(lacks_both).expect("a kind with one name, in atomic networks");
    let with = |change: fn(&mut Config)| {
        let mut trace = given();
        trace.config.lock = *kind;
        change(&mut trace.config);
        show(&json::document(&trace))
    };
    let names = with(|config| config.clients.names = 2);
    assert_refused(&names, &["/config/clients/names is 2: this kind of lock has one name"]);
    let split = with(|config| config.network.mode = NetworkMode::Split);
    assert_refused(&split, &["/config/network/mode is split: this kind of lock is modelled in an atomic network only"]);
}

#[test]
fn what_is_not_json_is_refused_where_it_is_not() {
    assert_refused(&show("{\n  \"schema\": nope }"), &["given.json:2:14", "not JSON"]);
    assert_refused(&show(""), &["ends too early"]);
    assert_refused(&show("[1]"), &["given.json:1:"]);
}

#[test]
fn half_a_trace_is_said_to_be_half() {
    let text = json::document(&given());
    assert_refused(&show(&text[..text.len() / 2]), &["ends too early", "copy or write it again"]);
}

#[test]
fn another_version_is_refused_before_anything_else() {
    assert_refused(&show("{\"schema\": 3, \"new\": true}"), &["schema 3", "reads schema 2"]);
    assert_refused(&show("{\"schema\": 1, \"old\": true}"), &["schema 1 is too old", "reads schema 2", "reproduce"]);
    assert_refused(&show("{\"schema\": \"x\"}"), &["schema \"x\" is not known"]);
    assert_refused(&show("{}"), &["`schema` is missing"]);
}

#[test]
fn unknown_fields_are_refused_wherever_they_are() {
    let text = json::document(&given());
    let top = text.replacen('{', "{\n  \"surprise\": 1,", 1);
    assert_refused(&show(&top), &["unknown field `surprise`", "given.json:2:"]);
    // Deep inside, where the deserializer of an enum variant does not check for other fields.
    let mut trace: Value = serde_json::from_str(&text).expect("JSON");
    trace["steps"][0]["action"]["surprise"] = value!(1);
    assert_refused(&show(&trace.to_string()), &["unknown field", "surprise"]);
}

/// Every object of a file, by its JSON pointer.
fn objects(value: &Value, place: &str, all: &mut Vec<String>) {
    match value {
        Value::Object(keys) => {
            all.push(place.to_owned());
            keys.iter().for_each(|(key, value)| objects(value, &format!("{place}/{key}"), all));
        }
        Value::Array(items) => {
            (0..).zip(items).for_each(|(index, value): (usize, _)| objects(value, &format!("{place}/{index}"), all));
        }
        _ => {}
    }
}

/// A key that nothing reads is refused in every object, also beside those that may be left out.
#[test]
fn an_unknown_field_is_refused_in_every_object_of_a_trace() {
    let trace = serde_json::to_value(given()).expect("a trace is JSON");
    let mut places = Vec::new();
    objects(&trace, "", &mut places);
    assert!(places.len() > 50, "{places:?}");
    for place in places {
        for unread in [value!(0), value!(null)] {
            let mut edited = trace.clone();
            let object = edited.pointer_mut(&place).and_then(Value::as_object_mut).expect("the object is there");
            object.insert("surprise".to_owned(), unread);
            assert_eq!(show(&edited.to_string()).code, 2, "{place}");
        }
    }
}

/// Lockstep leaves these out; another program may write every field.
#[test]
fn a_default_that_is_written_out_is_read() {
    let text = json::document(&given());
    let trace: Value = serde_json::from_str(&text).expect("JSON");
    let calls = serde_json::to_value(Calls::DEFAULT).expect("settings are JSON");
    let fields = [
        ("/config", value!({ "client": [], "calls": calls, "resource": null, "strong_fairness": false, "bounds": {} })),
        ("/config", value!({ "bounds": { "messages": null } })),
        ("/config/time", value!({ "poll_every": 1, "ask_again_after": 1, "jump": 0 })),
        ("/config/cluster", value!({ "fsync": "none", "min_replicas": 0, "wait_for": 0, "lock_delay": 0 })),
        ("/config/faults", value!({ "restart_node": 0, "hand_over": 0 })),
        ("/initial", value!({ "acting_master": null, "failover_left": null })),
        ("/initial/clients/0", value!({ "requests": [], "unregistered": [], "renewal_values": [], "asks_in": null })),
        ("/initial/clients/0/threads/0", value!({ "value": 0, "acknowledged_by": [] })),
        ("/initial/nodes/0", value!({ "is_cut": false, "half_open_to": [], "silent_ticks": 0, "ahead": 0 })),
        ("/steps/0/state/nodes/0/stored/holders/0", value!({ "value": 0 })),
        ("", value!({ "loop_start": null, "fairness": null })),
    ];
    for (place, added) in fields {
        let mut written_out = trace.clone();
        let object = written_out.pointer_mut(place).and_then(Value::as_object_mut).expect("the object is there");
        let before = object.len();
        let added = added.as_object().expect("fields");
        object.extend(added.clone());
        assert_eq!(object.len(), before + added.len(), "{place}: they are left out by us");
        let ran = show(&written_out.to_string());
        assert_eq!((ran.code, &ran.stdout), (0, &text), "{place}: {}", ran.stderr);
    }
}

/// A trace that is shown or replayed must agree with the model: a file can claim anything.
#[test]
fn a_trace_that_did_not_happen_is_refused_with_its_step() {
    let promote_before_crash = altered("/steps/1/action", value!({ "do": "promote", "node": 1 }));
    assert_refused(&show(&promote_before_crash), &["step 2 cannot happen", "n2 is promoted to master"]);
    let another_reply = altered("/steps/4/answer", value!({ "reply": "busy", "remaining_ticks": 3 }));
    assert_refused(&show(&another_reply), &["step 5 differs from the model"]);
    let another_start = altered("/initial/clients/0/permits", value!(1));
    assert_refused(&show(&another_start), &["the first state"]);
}

/// A history of somebody's own scenario.
fn history(config: &Config, actions: &[Action]) -> Trace {
    recorder::record("given", "A story.", config, About::Covering, actions, "lockstep show given.toml")
        .expect("it can happen")
}

/// "No node acts as master" must not look like "the role shows which one": a reader would take the old master for it.
#[test]
fn an_old_master_beside_a_dead_one_is_not_the_acting_master() {
    let config = Config { faults: Faults { cut_link: 1, ..FAILOVER.faults }, ..FAILOVER };
    let actions = [Action::CutLink { node: 0 }, Action::Promote { node: 1 }, Action::CrashNode { node: 1 }];
    let trace = history(&config, &actions);
    let state = trace.state_after(3);
    assert!(state.nodes[0].is_master(), "n1 has not heard of the failover");
    assert_eq!(state.acting_master.as_deref(), Some("n2"));
    assert_eq!(state.acting_master(), None);
    assert_eq!(trace.state_after(2).acting_master().map(|node| node.name.as_str()), Some("n2"));

    let text = json::document(&trace);
    let ran = show(&text);
    assert_eq!((ran.code, &ran.stdout), (0, &text), "{}", ran.stderr);
    let mut edited: Value = serde_json::from_str(&text).expect("JSON");
    edited["steps"][2]["state"].as_object_mut().expect("a state").remove("acting_master").expect("it is named");
    assert_refused(&show(&edited.to_string()), &["step 3 differs from the model"]);
}

/// The same of the second of two groups. The first one has its master, which the roles show.
#[test]
fn of_several_groups_a_trace_names_the_acting_master_of_each_in_which_it_is_not_evident() {
    let has_locks = |kind: &&LockKind| kind.facts().masters == StoringMasters::Locks;
    let kind = LockKind::ALL.iter().find(has_locks).expect("a kind on several masters");
    let text = format!(
        "story = 's'\nlock = '{}'\n[time]\nlease = 3\nwait_limit = 0\n[clients]\ncount = 1\n[cluster]\ngroups = 2\n\
         replicas = 1\n[faults]\nhand_over = 1\ncrash_node = 1\n",
        kind.name()
    );
    let config = Scenario::parse("groups", &text).unwrap_or_else(|error| panic!("{error}")).config;
    let trace = history(&config, &[Action::HandOver { node: 3 }, Action::CrashNode { node: 3 }]);
    let name = |step: usize, node| {
        trace.state_after(step).acting_master_beside(&config, node).map(|master| master.name.clone())
    };
    assert_eq!((name(1, 2).as_deref(), name(1, 0).as_deref()), (Some("n4"), Some("n1")));
    assert_eq!((name(2, 2), name(2, 0).as_deref()), (None, Some("n1")), "n3 has not heard of it");
    assert_eq!(trace.state_after(2).acting_masters, ["n4"]);

    let text = json::document(&trace);
    let ran = show(&text);
    assert_eq!((ran.code, &ran.stdout), (0, &text), "{}", ran.stderr);
    let mut edited: Value = serde_json::from_str(&text).expect("JSON");
    edited["steps"][1]["state"].as_object_mut().expect("a state").remove("acting_masters").expect("they are named");
    assert_refused(&show(&edited.to_string()), &["step 2 differs from the model"]);
}

/// Traces of earlier versions stay readable; what is written has the new name.
#[test]
fn an_older_name_of_a_key_is_read() {
    let cluster = Cluster { min_replicas: 1, min_replicas_max_lag: 1, ..FAILOVER.cluster };
    let trace = history(&Config { cluster, ..FAILOVER }, &[Action::Acquire { client: 0, thread: 0 }]);
    let text = json::document(&trace);
    let older = text.replace("\"min_replicas_max_lag\"", "\"min_replicas_max_lag_ticks\"");
    assert_ne!(older, text);
    let ran = show(&older);
    assert_eq!((ran.code, ran.stdout), (0, text), "{}", ran.stderr);
}

#[test]
fn a_lasso_comes_back_byte_for_byte_and_one_that_is_none_is_refused() {
    let text = json::document(&orphan());
    let ran = show(&text);
    assert_eq!((ran.code, ran.stdout), (0, text), "{}", ran.stderr);
    let altered = |place: &str, new: Value| {
        let mut trace = serde_json::to_value(orphan()).expect("a trace is JSON");
        *trace.pointer_mut(place).expect("the place is there") = new;
        trace.to_string()
    };
    assert_refused(&show(&altered("/loop_start", value!(1))), &["does not end in the state in which it starts"]);
    assert_refused(&show(&altered("/loop_start", value!(4))), &["not fair", "one tick passes"]);
    assert_refused(&show(&altered("/loop_start", value!(5))), &["/loop_start is beyond"]);
    let never = value!({ "disabled_after": 0 });
    assert_refused(&show(&altered("/fairness/0/in_loop", never)), &["differs from the model"]);
    let both =
        altered("/config/clients/hold_for_ever", value!(true)).replace("\"hold_at_most\":null", "\"hold_at_most\":2");
    assert_refused(&show(&both), &["exclude each other"]);
}

/// The model trusts its caller to keep the bounds: an invalid file must not crash it.
#[test]
fn a_world_beyond_the_bounds_is_refused() {
    assert_refused(&show(&altered("/config/clients/count", value!(200))), &["/config/clients/count is 200", "1 to 4"]);
    assert_refused(&show(&altered("/config/clients/threads", value!(0))), &["/config/clients/threads is 0"]);
    assert_refused(&show(&altered("/config/cluster/replicas", value!(255))), &["/config/cluster/replicas"]);
    assert_refused(&show(&altered("/config/time/lease", value!(255))), &["/config/time/lease"]);
    let with_clients = |tables: Value| {
        let mut trace = serde_json::to_value(given()).expect("a trace is JSON");
        trace["config"]["client"] = tables;
        trace.to_string()
    };
    let mut own = serde_json::to_value(given().config.common_settings()).expect("settings are JSON");
    own["lease"] = value!(2);
    assert_refused(&show(&with_clients(value!([null, null, own]))), &["/config/client has more clients"]);
    own["lease"] = value!(200);
    assert_refused(&show(&with_clients(value!([null, own]))), &["/config/client/1/lease is 200", "0 to 60"]);
    let stranger = value!({ "do": "acquire", "client": 255, "thread": 7 });
    assert_refused(&show(&altered("/steps/0/action", stranger)), &["step 1", "does not have"]);
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("given.json");
    fs::File::create(&file).and_then(|file| file.set_len((16 << 20) + 1)).expect("a sparse file");
    assert_refused(&run(&["replay", &path(&file)]), &["larger than 16 MiB"]);
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = TempDir::new().expect("a folder");
    let missing = folder.path().join("given.json");
    assert_refused(&run(&["show", &path(&missing)]), &["cannot read the trace"]);
    fs::create_dir(&missing).expect("a folder");
    assert_refused(&run(&["show", &path(&missing)]), &["this is a folder"]);
}

#[test]
fn nesting_without_end_is_refused() {
    assert_refused(&show(&format!("{{\"schema\": 2, \"x\": {}", "[".repeat(100_000))), &["given.json:1:"]);
}

/// All steps and states may be right and the claim about them false: the judge decides, as for every witness.
#[test]
fn a_trace_that_does_not_break_what_it_says_is_refused() {
    assert_refused(
        &show(&altered("/about/property", value!("wait-limit-kept"))),
        &["wait-limit-kept", "does not break"],
    );
}

/// What a file says of itself is as little to be believed as its steps.
#[test]
fn a_verdict_a_name_and_a_command_that_cannot_be_are_refused() {
    for verdict in ["holds", "vacuous", "inconclusive"] {
        let says = format!("/about/verdict is {verdict}, but the trace violates one-believer");
        assert_refused(&show(&altered("/about/verdict", value!(verdict))), &[&says]);
    }
    for name in ["", "../../etc/passwd", "$(touch x); x", "<script>", &"a".repeat(121)] {
        assert_refused(&show(&altered("/scenario", value!(name))), &["/scenario is", "no scenario can be named"]);
    }
    for command in ["rm -rf ~", "lockstep check x; rm -rf ~", "lockstep check $(rm -rf ~)"] {
        assert_refused(&show(&altered("/reproduce", value!(command))), &["/reproduce is", "no command of lockstep"]);
    }
}

/// All steps may be right and a claim about them false: then the claim is named, and not a step.
#[test]
fn a_claim_that_differs_from_the_model_is_named() {
    for (place, new, says) in [
        ("/claims/believed/0/from_step", value!(2), "/claims/believed/0 differs from the model: it is {"),
        ("/claims/stored/0/holder", value!("B"), "/claims/stored/0 differs from the model: it is {"),
        ("/claims/believed", value!([]), "/claims/believed/0 differs from the model: it is missing"),
    ] {
        let ran = show(&altered(place, new));
        assert_refused(&ran, &[says]);
        assert!(!ran.stderr.contains("step 5"), "{}", ran.stderr);
    }
}

/// A reader knows what a built-in scenario is, and would believe it of every trace that has its name.
#[test]
fn a_trace_with_the_name_of_a_built_in_scenario_has_its_story_and_its_world() {
    const NAME: &str = "failover-loses-the-grant";
    let shown = run(&["show", NAME, "--format", "json"]).stdout;
    assert_eq!(show(&shown).code, 0);
    let built_in: Value = serde_json::from_str(&shown).expect("a trace");

    let mut told = built_in.clone();
    told["story"] = value!("Nothing is lost.");
    assert_refused(&show(&told.to_string()), &["/story is \"Nothing is lost.\"", &format!("scenario {NAME}")]);

    let mut longer = built_in.clone();
    let lease = longer["config"]["time"]["lease"].as_i64().expect("a number");
    longer["config"]["time"]["lease"] = value!(lease + 1);
    let says = format!("/config/time/lease is {}, but {lease} in the built-in scenario {NAME}", lease + 1);
    assert_refused(&show(&longer.to_string()), &[&says]);

    let mut renamed = built_in;
    renamed["scenario"] = value!("plain-newcomers-starve-a-waiter");
    assert_refused(&show(&renamed.to_string()), &["in the built-in scenario plain-newcomers-starve-a-waiter"]);

    // All its steps and states are true, in another world.
    let story = BuiltIn::named(NAME).expect("it is built in").scenario().story;
    let other_world = Trace { story, ..failover() };
    assert_refused(&show(&json::document(&other_world)), &["/config/", &format!("in the built-in scenario {NAME}")]);
}

#[test]
fn an_engine_that_does_not_exist_is_refused() {
    for engine in ["", "both", "guess"] {
        let says = format!("/about/engine is {engine:?}, but the engines are native and stateright");
        assert_refused(&show(&altered("/about/engine", value!(engine))), &[&says]);
    }
    assert_eq!(show(&altered("/about/engine", value!("stateright"))).code, 0);
    // stateright gives no second opinion on liveness.
    let mut lasso = serde_json::to_value(orphan()).expect("a trace is JSON");
    lasso["about"]["engine"] = value!("stateright");
    assert_refused(&show(&lasso.to_string()), &["/about/engine is \"stateright\", but only native finds such"]);
}

/// Nothing in a trace shows whether its story is true: beside a picture it is what the file says.
#[test]
fn the_story_of_a_trace_file_is_printed_as_what_the_file_says() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("given.json");
    let draw = |text: &str| {
        fs::write(&file, text).expect("a file");
        let ran = run(&["show", &path(&file), "--format", "svg"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stdout
    };
    let told = "The grant dies with the master";
    let claimed = draw(&json::document(&given()));
    assert!(claimed.contains(&format!("The trace file says: {told}")), "{claimed}");
    // That of a built-in scenario was compared.
    let built_in = run(&["show", "failover-loses-the-grant", "--format", "json"]).stdout;
    assert!(!draw(&built_in).contains("The trace file says"));

    let long = "x".repeat(501);
    assert_refused(&show(&altered("/story", value!(long))), &["/story has 501 characters: it may have 500"]);
    assert_eq!(show(&altered("/story", value!(long[1..]))).code, 0);
}

/// The same as the given one, with a step that is not needed.
fn detour(shortest: bool) -> Trace {
    let about = About::Counterexample {
        property: Property::OneBeliever,
        verdict: Verdict::Violated,
        engine: "native".to_owned(),
        shortest,
    };
    let Trace { scenario, story, config, reproduce, .. } = given();
    let mut actions = given().actions();
    actions.insert(3, Action::Discover { client: 0 });
    recorder::record(&scenario, &story, &config, about, &actions, &reproduce).expect("A may learn it too")
}

#[test]
fn a_trace_is_called_shortest_only_if_the_judge_confirms_it() {
    assert_refused(&show(&json::document(&detour(true))), &["/about/shortest is true, but", "5 are enough"]);
    let longer = json::document(&detour(false));
    let ran = show(&longer);
    assert_eq!((ran.code, ran.stdout), (0, longer), "{}", ran.stderr);
    // What the file leaves open, the judge decides.
    let ran = show(&altered("/about/shortest", value!(false)));
    assert_eq!((ran.code, ran.stdout), (0, json::document(&given())), "{}", ran.stderr);

    // Of a lasso the judge cannot say it.
    let mut lasso = orphan();
    let unclaimed = json::document(&lasso);
    if let About::Counterexample { shortest, .. } = &mut lasso.about {
        *shortest = true;
    }
    let claimed = json::document(&lasso);
    assert_ne!(claimed, unclaimed);
    let ran = show(&claimed);
    assert_eq!((ran.code, ran.stdout), (0, unclaimed), "{}", ran.stderr);
    assert!(ran.stderr.contains("could not confirm it"), "{}", ran.stderr);
}
