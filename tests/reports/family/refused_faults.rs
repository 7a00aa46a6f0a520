//! Which faults are in no world of a kind, and why: asked of the reader of scenarios.

use std::collections::BTreeMap;

use lockstep_model::LockKind;
use lockstep_model::config::{Fault, Faults, NetworkMode};
use lockstep_sim::scenario::{Code, ScenarioError};
use lockstep_tests::page::listed;

use super::fault_class::FaultClass;
use super::judged_world::{JudgedWorld, of_class, of_kind, parsed};
use crate::runs::ScenarioLine;

/// What is in no world: what no scenario has alone, and what the reader of scenarios refuses beside this kind.
pub(super) fn absent(worlds: &[&'static JudgedWorld], columns: &[FaultClass]) -> String {
    let probes = FaultProbe::all(worlds);
    let can_be = |class: &FaultClass| probes.iter().any(|probe| probe.class == *class && probe.refused.is_none());
    let missing = FaultClass::COLUMNS.into_iter().filter(|class| !columns.contains(class) && can_be(class));
    let missing: Vec<_> = missing.map(|class| format!("*{}*", class.name())).collect();
    let mut lines = Vec::new();
    if !missing.is_empty() {
        lines.push(format!("- Modelled, but in no built-in scenario alone: {}.\n", listed(&missing)));
    }
    for (is_modelled, words) in [(false, "Not modelled for this kind"), (true, "Impossible for this kind")] {
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for FaultProbe { name, refused, .. } in &probes {
            if let Some(RefusedFault { reason, .. }) =
                refused.as_ref().filter(|refusal| refusal.is_modelled == is_modelled)
            {
                reasons.entry(reason).or_default().push(name);
            }
        }
        let reasons: Vec<_> = reasons.iter().map(|(reason, names)| format!("{} ({reason})", listed(names))).collect();
        if !reasons.is_empty() {
            lines.push(format!("- {words}: {}.\n", reasons.join("; ")));
        }
    }
    lines.concat()
}

/// Whether a fault can be in a world of a kind: asked of the reader of scenarios.
struct FaultProbe {
    /// As a scenario's file has it.
    name: String,
    class: FaultClass,
    /// `None`: it can.
    refused: Option<RefusedFault>,
}

/// Why the reader refuses a fault.
struct RefusedFault {
    /// Whether the world makes no sense; otherwise it is not modelled yet.
    is_modelled: bool,
    reason: String,
}

const SPLIT: ScenarioLine = ("network", "mode", "\"split\"");

/// What a fault may need beside it. The reader refuses what has no effect, so they are tried one after the other.
const NEEDS: [&[ScenarioLine]; 5] = [
    &[],
    &[("cluster", "replicas", "1")],
    &[("cluster", "channels", "\"sharded\"")],
    &[("time", "wait_limit", "2")],
    &[("time", "wait_limit", "2"), SPLIT],
];

impl FaultProbe {
    /// For a split network, and for each fault that has a column.
    fn all(worlds: &[&'static JudgedWorld]) -> Vec<Self> {
        let mut with_a_replica = worlds.first().expect("there is a world").scenario.config;
        with_a_replica.cluster.replicas = 1;
        with_a_replica.faults = Faults::default();
        let of_fault = |fault: Fault| {
            let mut config = with_a_replica;
            *config.faults.left_mut(fault) = 1;
            let has_it = worlds.iter().any(|world| world.scenario.config.faults.left(fault) > 0);
            let refused = if has_it { None } else { refusal(worlds, &lines_of(fault)) };
            Self { name: format!("`{}`", fault.name()), class: FaultClass::of(fault, &config), refused }
        };
        let has_split = worlds.iter().any(|world| world.scenario.config.network.mode == NetworkMode::Split);
        let refused = if has_split { None } else { refusal(worlds, &[SPLIT]) };
        let split = Self { name: "`mode = \"split\"`".to_owned(), class: FaultClass::LateMessage, refused };
        let faults = Fault::ALL.into_iter().map(of_fault).filter(|probe| probe.class != FaultClass::Other);
        std::iter::once(split).chain(faults).collect()
    }
}

/// The budget of a fault, and what it never is without.
fn lines_of(fault: Fault) -> Vec<ScenarioLine> {
    let budget = ("faults", fault.name(), "1");
    match fault {
        Fault::RestartNode => vec![budget, ("faults", "crash_node", "1")],
        Fault::ClockJump | Fault::ClientClockJump => vec![budget, ("time", "jump", "1")],
        Fault::LoseRequest | Fault::LoseReply => vec![budget, SPLIT],
        _ => vec![budget],
    }
}

/// Why no world of the kind without a fault can have these lines; `None`: one can.
fn refusal(worlds: &[&'static JudgedWorld], lines: &[ScenarioLine]) -> Option<RefusedFault> {
    let quiet = of_class(worlds, FaultClass::NoFault);
    assert!(!quiet.is_empty(), "a kind has a built-in scenario in which nothing fails");
    let mut refusals = Vec::new();
    for (world, needs) in quiet.into_iter().flat_map(|world| NEEDS.map(|needs| (world, needs))) {
        match parsed(world, &[lines, needs].concat()) {
            Ok(_) => return None,
            Err(error) => refusals.push(error),
        }
    }
    let is_all = |error: &ScenarioError, code: Code| error.problems().all(|problem| problem.code() == code);
    let of = |code: Code| refusals.iter().find(|error| is_all(error, code)).map(|error| (code, error.first()));
    let found = of(Code::NotModelled).or_else(|| of(Code::Impossible));
    let (code, reason) = found.unwrap_or_else(|| panic!("{lines:?} in no world, for no one reason: {refusals:?}"));
    Some(RefusedFault { is_modelled: code == Code::Impossible, reason })
}

/// What the reader accepts in a built-in scenario it accepts when it is asked for the page.
#[test]
fn no_fault_that_a_scenario_has_is_said_to_be_refused() {
    for kind in LockKind::ALL {
        let worlds = of_kind(*kind);
        for fault in Fault::ALL {
            let has_it = worlds
                .iter()
                .any(|world| world.class != Some(FaultClass::Other) && world.scenario.config.faults.left(fault) > 0);
            if has_it && let Some(refused) = refusal(&worlds, &lines_of(fault)) {
                panic!("{fault:?} of a {} lock: {}", kind.name(), refused.reason);
            }
        }
    }
}
