//! The frontier agrees with single checks: a fault set that it calls minimal breaks the property, and with one fault
//! less the property holds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::config::Faults;
use lockstep_model::{Property, Verdict};
use lockstep_sim::check::native::Options;
use lockstep_sim::check::{CheckOutcome, Limits};
use lockstep_sim::frontier::settings::{FAULTS, LATENESS, PAUSE_NODE, REPAIRS, Setting};
use lockstep_sim::frontier::{
    FaultSet, FrontierOptions, Minimal, RepairEffect, ScenarioEdit, SetsChecked, Survey, survey,
};
use lockstep_sim::render::frontier::{self, FrontierPage};
use lockstep_sim::scenario::BuiltIn;
use lockstep_tests::drawn::from_environment;

use crate::exhaust_as;

// In a split network every request may wait in a node that stands still: too many states to survey.
const OPTIONS: FrontierOptions = FrontierOptions { most: 2, each: 1, alone: &[], without: &[&PAUSE_NODE], threads: 2 };

const ATOMIC: &str = "a-master-and-a-replica";
/// No line of a page is broken.
const WIDE: FrontierPage = FrontierPage { width: 200, tick_ms: None };
const SPLIT: &str = "a-split-network";
const RENEWALS: &str = "renewals-on-a-split-network";

const SINGLE: FrontierOptions = FrontierOptions { most: 1, ..OPTIONS };

/// Every single fault of one atomic world, beside the repair that a test below looks at.
static OF_ATOMIC: LazyLock<Survey> = LazyLock::new(|| surveyed(&[repair("fencing")], SINGLE));
/// Those faults of one split network that the repairs below are held against, beside each of these.
static OF_SPLIT: LazyLock<Survey> =
    LazyLock::new(|| surveyed_of(&draft_of(SPLIT), &REPAIRS_OF_SPLIT.map(repair), only(&OTHERS_THAN_REPAIRED)));

const REPAIRED: [&str; 3] = ["lose_request", "lose_reply", "interrupt"];
static OTHERS_THAN_REPAIRED: LazyLock<Vec<&Setting>> = LazyLock::new(|| all_but(&REPAIRED));

/// All faults but for these.
fn all_but(names: &[&str]) -> Vec<&'static Setting> {
    FAULTS.iter().filter(|fault| !names.contains(&fault.name)).collect()
}

/// Single faults but for these.
fn only(without: &'static [&'static Setting]) -> FrontierOptions {
    FrontierOptions { without, ..SINGLE }
}

const REPAIRS_OF_SPLIT: [&str; 5] =
    ["receipts", "receipts-with-an-id-per-try", "resend-releases", "resend-nothing", "interrupted-acquire-released"];

/// The effect of one of them on one anomaly.
fn effect_on_split(name: &str, property: Property, faults: &str) -> RepairEffect {
    let at = REPAIRS_OF_SPLIT.iter().position(|repair| *repair == name).expect("it is surveyed");
    effects(&OF_SPLIT, property, faults)[at]
}

fn draft_of(world: &str) -> ScenarioEdit {
    ScenarioEdit::new(BuiltIn::named(world).expect("it is built in").text)
}

fn draft() -> ScenarioEdit {
    draft_of(ATOMIC)
}

fn surveyed(repairs: &[&'static Setting], options: FrontierOptions) -> Survey {
    surveyed_of(&draft(), repairs, options)
}

fn surveyed_of(draft: &ScenarioEdit, repairs: &[&'static Setting], options: FrontierOptions) -> Survey {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits::none(&stop, &progress);
    survey(draft, repairs, options, &limits, &SetsChecked::default(), |_| ()).unwrap_or_else(|error| panic!("{error}"))
}

/// The effects of the repairs on one anomaly, in the order in which the repairs were passed.
fn effects(found: &Survey, property: Property, faults: &str) -> Vec<RepairEffect> {
    let is_meant = |(broken, minimal): &(Property, &Minimal)| *broken == property && minimal.faults.words() == faults;
    let (property, minimal) = found.anomalies().find(is_meant).unwrap_or_else(|| panic!("{faults} breaks {property}"));
    found.cells(property, minimal).into_iter().map(|cell| cell.effect).collect()
}

fn repair(name: &str) -> &'static Setting {
    REPAIRS.iter().find(|repair| repair.name == name).expect("it is known")
}

/// The worlds of sets that were checked, by the words of the set: many anomalies have the same one.
type Checked = BTreeMap<String, Option<CheckOutcome>>;

fn verdict(set: &FaultSet, property: Property, checked: &mut Checked) -> Option<Verdict> {
    let outcome = checked.entry(set.words()).or_insert_with(|| {
        let scenario = set.on(&draft()).scenario("a-set", "A set of faults.").ok()?;
        Some(exhaust_as(&scenario, Options::default()))
    });
    outcome.as_ref()?.properties.iter().find(|found| found.property == property).map(|found| found.verdict)
}

/// Faults that are looked at alone, and in no pair, to save time. `make soak` looks at every pair (`LOCKSTEP_ALL_PAIRS=1`).
const IN_NO_PAIR: [&str; 10] = [
    "cut_link",
    "refuse_writes",
    "persist_key",
    "restart_node",
    "kill_node",
    "shutdown_node",
    "break_link",
    "hand_over",
    "client_clock_jump",
    "force_release",
];
static ALONE: LazyLock<Vec<&Setting>> = LazyLock::new(|| {
    let named: &[_] = if from_environment("LOCKSTEP_ALL_PAIRS", 0) > 0 { &[] } else { &IN_NO_PAIR };
    let fault = |name: &&str| FAULTS.iter().find(|fault| fault.name == *name).expect("it is known");
    named.iter().map(fault).collect()
});

#[test]
fn every_smallest_set_breaks_its_property_and_with_any_one_fault_less_nothing_does() {
    let found = surveyed(&[], FrontierOptions { alone: &ALONE, ..OPTIONS });
    let (mut anomalies, mut checked) = (0, Checked::new());
    for (property, minimal) in found.anomalies() {
        assert!(minimal.is_confirmed, "{property} by {}", minimal.faults.words());
        assert_eq!(verdict(&minimal.faults, property, &mut checked), Some(Verdict::Violated), "{property}");
        for smaller in minimal.faults.smaller() {
            assert_ne!(
                verdict(&smaller, property, &mut checked),
                Some(Verdict::Violated),
                "{property} by {}",
                smaller.words()
            );
        }
        anomalies += 1;
    }
    assert!(anomalies > 10, "{anomalies} anomalies");
}

#[test]
fn fencing_keeps_stale_effects_out_and_mends_no_lock() {
    assert_eq!(effects(&OF_ATOMIC, Property::EffectsInOrder, "crash_node"), [RepairEffect::Stops]);
    assert_eq!(effects(&OF_ATOMIC, Property::OneBeliever, "crash_node"), [RepairEffect::Nothing]);
}

#[test]
fn the_frontier_is_the_same_on_any_number_of_threads() {
    let told = |found: &Survey| format!("{:?}", found.bare.broken);
    for threads in [1, SINGLE.threads + 1] {
        assert_eq!(told(&surveyed(&[], FrontierOptions { threads, ..SINGLE })), told(&OF_ATOMIC), "{threads} threads");
    }
}

#[test]
fn every_fault_is_turned_and_those_that_the_world_does_not_know_are_named() {
    let turned: BTreeSet<_> = FAULTS.iter().map(|fault| fault.name).collect();
    let mut known: BTreeSet<_> = Faults::default().budgets().map(|(kind, _)| kind.name()).into();
    known.insert(LATENESS.name);
    // Of worlds without `acquires` nothing would be known beside it.
    assert!(known.remove("move_slot"));
    assert_eq!(turned, known);

    let foreign: Vec<_> = OF_ATOMIC.foreign.iter().map(|foreign| foreign.fault.name).collect();
    let of_split_network = ["vanish_receipts", "lose_request", "lose_reply", "delay"];
    let others: Vec<_> = foreign.iter().filter(|fault| !of_split_network.contains(fault)).collect();
    assert_eq!(foreign.len(), of_split_network.len() + others.len(), "{foreign:?}");
    // What they need besides: several lock names, tokens and several masters.
    assert_eq!(others, [&"overwrite_key", &"vanish_token", &"lose_ask", &"slow_reply", &"late_ask"]);
}

/// Without a receipt, a resent release also removes the remaining hold. The same happens with a receipt that is stored
/// under the id of another try. A receipt under the same id prevents it, unless it is due with the last try, as by default: then
/// it may be gone.
#[test]
fn receipts_put_off_the_second_believer_of_a_lost_reply_if_every_try_has_the_same_id() {
    let effects = ["receipts", "receipts-with-an-id-per-try", "resend-releases", "resend-nothing"]
        .map(|name| effect_on_split(name, Property::OneBeliever, "lose_reply"));
    assert_eq!(effects, [RepairEffect::Later, RepairEffect::Nothing, RepairEffect::Nothing, RepairEffect::Stops]);
    // A hold left behind by a resent acquire cannot be repaired by the receipt of a release.
    assert_eq!(effect_on_split("receipts", Property::CountsAgree, "lose_reply"), RepairEffect::Nothing);
}

#[test]
fn what_is_sent_again_saves_a_lost_request_and_what_is_not_does_not() {
    let repaired = OF_SPLIT
        .repaired
        .iter()
        .find(|one| one.repair.is_some_and(|one| one.name == "resend-nothing"))
        .expect("it is surveyed");
    let anew: Vec<_> = OF_SPLIT.price(repaired).map(|(property, minimal)| (property, minimal.faults.words())).collect();
    assert!(anew.contains(&(Property::CountsAgree, "lose_request".to_owned())), "{anew:?}");
}

#[test]
fn an_interrupted_acquire_that_is_given_back_leaves_no_hold_behind() {
    let effect_of_repair = |faults| effect_on_split("interrupted-acquire-released", Property::CountsAgree, faults);
    assert_eq!(effect_of_repair("interrupt"), RepairEffect::Stops);
    assert_eq!(effect_of_repair("lose_reply"), RepairEffect::Nothing);
}

/// A clock that jumps ahead shows the anomaly soonest: the entry that a stale answer removed would have been renewed in
/// time.
#[test]
fn each_repair_of_the_renewal_table_stops_its_own_anomaly_and_not_the_other_s() {
    let repairs = ["registration-before-the-answer", "stale-renewals-ignored"].map(repair);
    let found = surveyed_of(&draft_of(RENEWALS), &repairs, SINGLE);
    assert_eq!(effects(&found, Property::NoOrphan, "lose_reply"), [RepairEffect::Stops, RepairEffect::Nothing]);
    assert_eq!(effects(&found, Property::RenewedWhileHeld, "clock_jump"), [RepairEffect::Nothing, RepairEffect::Stops]);
}

/// Its column would show no effect on any anomaly.
#[test]
fn a_repair_of_the_split_network_is_impossible_where_request_and_answer_are_one_step() {
    let split: Vec<_> = REPAIRS.iter().skip_while(|repair| repair.name != "receipts").collect();
    assert_eq!(split.len(), 10);
    let found = surveyed(&split, FrontierOptions { most: 0, ..OPTIONS });
    assert_eq!(found.repaired.len(), 0);
    for (repair, reason) in &found.impossible {
        let expected = if repair.name == "resend-nothing" {
            "the scenario has it already"
        } else {
            "every request is answered at once"
        };
        assert_eq!(reason, expected, "{}", repair.name);
    }
    assert_eq!(found.impossible.len(), split.len());
}

#[test]
fn what_a_world_has_already_is_no_repair_of_it() {
    let repairs = ["explicit-lease", "told-holder", "resend-all"].map(repair);
    let told = |world| {
        let found = surveyed_of(&draft_of(world), &repairs, FrontierOptions { most: 0, ..OPTIONS });
        found.impossible.iter().map(|(repair, reason)| format!("{}: {reason}", repair.name)).collect::<Vec<_>>()
    };
    assert_eq!(
        told(SPLIT),
        [
            "explicit-lease: the scenario has it already",
            "told-holder: nothing is renewed: there is no watchdog",
            "resend-all: the scenario has it already"
        ]
    );
    assert_eq!(told(RENEWALS), ["resend-all: the scenario has it already"]);
}

/// The lateness that the file itself allows is left out, just as its faults are: otherwise no fault set would break
/// what lateness breaks.
#[test]
fn lateness_is_a_fault_of_a_split_network_whatever_its_file_says() {
    let text = BuiltIn::named(SPLIT).expect("it is built in").text;
    let late = text.replace("mode = \"split\"", "mode = \"split\"\ndelay = 2");
    assert_ne!(late, text);
    let told = |found: &Survey| {
        let all = found.bare.broken[&Property::OneBeliever].iter();
        all.map(|minimal| minimal.faults.words()).collect::<Vec<_>>()
    };
    let (plain, late) =
        (surveyed_of(&draft_of(SPLIT), &[], SINGLE), surveyed_of(&ScenarioEdit::new(&late), &[], SINGLE));
    assert_eq!(told(&plain), ["pause_client", "force_release", "vanish_key", "lose_reply", "delay"]);
    assert_eq!(told(&late), told(&plain));
}

#[test]
fn a_fault_that_is_looked_at_alone_is_in_no_set_with_another() {
    static OTHERS: LazyLock<Vec<&Setting>> =
        LazyLock::new(|| all_but(&["lose_reply", "clock_jump", "interrupt", LATENESS.name]));
    let sets = |alone: &'static [&'static Setting]| {
        let found = surveyed_of(&draft_of(RENEWALS), &[], FrontierOptions { alone, without: &OTHERS, ..OPTIONS });
        found.bare.verdicts.into_keys().map(|set| set.words()).collect::<BTreeSet<_>>()
    };
    let (all, apart) = (sets(&[]), sets(&[&LATENESS]));
    let mixed: BTreeSet<_> = all.iter().filter(|set| set.contains(" + delay")).cloned().collect();
    assert_eq!(mixed.len(), 3);
    assert_eq!(&all - &mixed, apart);
    assert!(apart.contains("delay"));
}

/// Otherwise every fault set without that fault would be rejected, and the properties it breaks would seem to hold.
#[test]
fn what_a_file_says_of_one_fault_does_not_keep_the_others_from_being_looked_at() {
    let broken = |found: &Survey| {
        assert_eq!(found.foreign.len(), 9);
        let all = found.bare.broken.iter();
        all.map(|(property, all)| (*property, all.iter().map(|minimal| minimal.faults.words()).collect::<Vec<_>>()))
            .collect::<Vec<_>>()
    };
    let text = BuiltIn::named(ATOMIC).expect("it is built in").text;
    let said = text
        .replace("[cluster]", "[cluster]\nfsync = \"always\"\nrestart_after = 4\npromote = \"coordinated\"")
        .replace("[time]", "[time]\njump = 1")
        .replace("[resource]", "[faults]\nclock_jump = 1\ncrash_node = 1\nrestart_node = 1\nhand_over = 1\n[resource]");
    let bare = broken(&OF_ATOMIC);
    let with_keys = broken(&surveyed_of(&ScenarioEdit::new(&said), &[], SINGLE));
    let named = |all: &[(Property, Vec<String>)], fault: &str| {
        all.iter()
            .filter(|(_, sets)| sets.iter().any(|set| set == fault))
            .map(|(property, _)| *property)
            .collect::<Vec<_>>()
    };
    for fault in ["pause_client", "crash_node", "force_release", "cut_link", "vanish_key"] {
        assert_eq!(named(&with_keys, fault), named(&bare, fault), "{fault}");
    }
    assert!(named(&with_keys, "hand_over").len() < named(&bare, "hand_over").len(), "it waits for its replica");
}

#[test]
fn what_a_limit_kept_from_being_known_is_not_said_to_hold() {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits { max_states: Some(1), ..Limits::none(&stop, &progress) };
    let found = survey(&draft(), &[repair("fencing")], SINGLE, &limits, &SetsChecked::default(), |_| ());
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    assert!(!found.bare.is_whole());
    let page = frontier::page(ATOMIC, &found, OPTIONS, WIDE);
    assert!(!page.contains("nothing breaks it"), "{page}");
    let (checked, all) = (found.bare.checked() + found.repaired[0].checked(), found.bare.sets + found.repaired[0].sets);
    assert_eq!(checked, 0);
    let header = format!("INCOMPLETE: a limit was reached; 0 of {all} sets were checked completely");
    assert_eq!(page.lines().nth(1), Some(header.as_str()));

    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let found = survey(&draft(), &[repair("fencing")], OPTIONS, &limits, &SetsChecked::default(), |_| ())
        .unwrap_or_else(|error| panic!("{error}"));
    let page = frontier::page(ATOMIC, &found, OPTIONS, WIDE);
    let header = format!(
        "INCOMPLETE: interrupted; 0 of {} sets were checked without a repair, and 0 of 1 repairs",
        found.bare.sets
    );
    assert!(found.bare.sets > 10, "{page}");
    assert_eq!(page.lines().nth(1), Some(header.as_str()));
    assert_eq!(page.matches("not modelled").count(), 1, "{page}");
    assert!(page.contains("overwrite_key (not modelled here"), "{page}");
}

#[test]
fn progress_counts_every_set_once() {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits::none(&stop, &progress);
    let sets = SetsChecked::default();
    let found = survey(&draft(), &[], SINGLE, &limits, &sets, |_| ());
    let all = found.unwrap_or_else(|error| panic!("{error}")).bare.sets;
    assert_eq!(sets.counts(), (all, all));
    assert!(all > 1);
}

/// A repair changes what all clients have in common: it says whom it does not reach.
#[test]
fn a_repair_names_the_clients_that_have_the_key_of_their_own() {
    let overridden = |world: &str, name: &str| draft_of(world).overridden(repair(name));
    assert_eq!(overridden("explicit-lease-beside-a-watchdog", "watchdog"), ["renew_every (client A)"]);
    assert_eq!(overridden("explicit-lease-beside-a-watchdog", "fencing"), Vec::<String>::new());
    // A profile brings all switches.
    let both = ["missed_renewal (client A)", "missed_renewal (client B)"];
    assert_eq!(overridden("old-client-beside-a-new-one", "told-holder"), both);
    assert_eq!(overridden(ATOMIC, "watchdog"), Vec::<String>::new());
}

#[test]
fn a_repair_by_the_longest_lease_looks_at_every_client() {
    let repaired = draft_of("lock-delay-shorter-than-one-lease").with(repair("lock-delay"));
    let text = repaired.text("A longer delay.", &BTreeMap::new());
    assert!(text.contains("lock_delay = 5"), "{text}");
}

/// An old master grants for as long as it may count a replica that it does not hear of.
#[test]
fn a_repair_by_a_lock_delay_covers_the_slack_of_an_old_master() {
    let text_of = |world: &str| {
        let repaired = draft_of(world).with(repair("min-replicas-and-lock-delay"));
        repaired.text("A longer delay.", &BTreeMap::new())
    };
    // The lease, max-lag, the slack (2 s, rounded up to a tick), and one tick more.
    for world in ["old-master-is-stopped-too-late", "old-master-serves-its-side"] {
        assert!(text_of(world).contains("lock_delay = 6"), "{}", text_of(world));
    }
}

/// A fault that is left out is in no set, and the page says so.
#[test]
fn a_fault_that_is_left_out_is_in_no_set() {
    static OTHERS: LazyLock<Vec<&Setting>> = LazyLock::new(|| all_but(&[PAUSE_NODE.name]));
    let with = surveyed(&[], only(&OTHERS));
    let has = |found: &Survey| found.bare.verdicts.keys().any(|set| set.words() == "pause_node");
    assert!(!has(&OF_ATOMIC) && has(&with));
    assert!(frontier::page(ATOMIC, &OF_ATOMIC, SINGLE, WIDE).contains(", without pause_node: "));
}
