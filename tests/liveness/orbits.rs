//! Random worlds of a few masters that are alike: what can be said of their runs where only one master is told apart is what can be
//! said where each has its place.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Instant;

use lockstep_model::Property;
use lockstep_sim::check::liveness::{ActionSet, Fairness, Found, Graph, LivenessQuestion, Marks, Space, Whom, look};
use lockstep_sim::check::{Limits, Stopped};
use lockstep_tests::built_in::scenario;
use lockstep_tests::drawn::from_environment;
use proptest::prelude::*;

/// Random worlds on which the two are compared; `LOCKSTEP_GRAPHS` asks for another number.
const GRAPHS: u32 = 6_000;
const MASTERS: usize = 3;
/// States of one master, and states that a world has beside its masters.
const STATES: u8 = 3;
/// Kinds of actions.
const KINDS: usize = 4;
const OWED: Marks = 1;

/// A step of one master, or of none: from this state of the master and of the rest to that.
#[derive(Clone, Copy, Debug)]
struct Rule {
    kind: usize,
    of_a_master: bool,
    from: (u8, u8),
    to: (u8, u8),
    /// In how many masters' state 1 it can happen: as a set of bits.
    when: u8,
}

#[derive(Clone, Debug)]
struct Alike {
    rules: Vec<Rule>,
    /// Kinds that are weakly fair.
    weak: Vec<usize>,
    /// Whether the last kind, which names no master, is time.
    has_time: bool,
    /// Where nothing is owed: the state beside the masters, and how many masters are in state 1.
    fulfilled: Vec<(u8, usize)>,
    first_is_told_apart: bool,
}

/// The rest, and each master.
type PlacedMasters = (u8, [u8; MASTERS]);

impl Alike {
    fn number(kind: usize, master: Option<usize>) -> u16 {
        u16::try_from(kind * (MASTERS + 1) + master.map_or(MASTERS, |master| master)).expect("few")
    }

    fn successors(&self, (rest, masters): PlacedMasters) -> Vec<(u16, PlacedMasters)> {
        let ones = ones(masters);
        let mut found: Vec<(u16, PlacedMasters)> = Vec::new();
        for rule in &self.rules {
            let places: Vec<_> = if rule.of_a_master { (0..MASTERS).map(Some).collect() } else { vec![None] };
            for place in places {
                let own = place.map_or(rule.from.0, |place| masters[place]);
                let number = Self::number(rule.kind, place);
                let happens = rule.when >> ones & 1 != 0 && (own, rest) == rule.from;
                if !happens || found.iter().any(|(other, _)| *other == number) {
                    continue;
                }
                let mut next = masters;
                if let Some(place) = place {
                    next[place] = rule.to.0;
                }
                found.push((number, self.put_in_order((rule.to.1, next))));
            }
        }
        found
    }

    fn put_in_order(&self, (rest, mut masters): PlacedMasters) -> PlacedMasters {
        if self.first_is_told_apart {
            masters[1..].sort_unstable();
        }
        (rest, masters)
    }

    fn graph(&self) -> Graph {
        Graph::of(self, 1).unwrap_or_else(|stopped| panic!("{stopped:?}"))
    }
}

/// How many masters are in state 1.
fn ones(masters: [u8; MASTERS]) -> usize {
    masters.iter().map(|state| usize::from(*state == 1)).sum()
}

fn number_of((rest, masters): PlacedMasters) -> u64 {
    let number = masters.iter().fold(u64::from(rest), |number, state| number * u64::from(STATES) + u64::from(*state));
    (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl Space for Alike {
    type State = PlacedMasters;

    fn initial(&self) -> PlacedMasters {
        (0, [0; MASTERS])
    }

    fn identity(&self, state: &PlacedMasters) -> u64 {
        number_of(*state)
    }

    fn marks(&self, (rest, masters): &PlacedMasters) -> Marks {
        let ones = ones(*masters);
        if self.fulfilled.contains(&(*rest, ones)) { 0 } else { OWED }
    }

    fn orbit(&self, (rest, masters): &PlacedMasters) -> Option<u64> {
        let mut all = *masters;
        all.sort_unstable();
        self.first_is_told_apart.then(|| number_of((*rest, all)))
    }

    fn each_successor(&self, state: &PlacedMasters, mut found: impl FnMut(u16, PlacedMasters)) {
        self.successors(*state).into_iter().for_each(|(action, next)| found(action, next));
    }

    fn nth_successor(&self, state: &PlacedMasters, _: u16, nth: usize) -> PlacedMasters {
        self.successors(*state)[nth].1
    }

    fn fairness(&self) -> Fairness {
        let of_kind = |kind: usize| (0..MASTERS).map(Some).chain([None]).map(move |place| Self::number(kind, place));
        let time = Self::number(KINDS - 1, None);
        let weak = self.weak.iter().flat_map(|kind| of_kind(*kind)).filter(|number| *number != time).collect();
        let time = if self.has_time { [time].into_iter().collect() } else { ActionSet::NONE };
        Fairness { weak, time, strong: ActionSet::NONE }
    }

    fn stops(&self, _: usize, _: usize, _: usize) -> Option<Stopped> {
        None
    }
}

fn any_world() -> impl Strategy<Value = Alike> {
    let place = || (0..STATES, 0..STATES);
    let rule = (0..KINDS, prop::bool::weighted(0.7), place(), place(), 1..1u8 << (MASTERS + 1));
    let rule = rule.prop_map(|(kind, of_a_master, from, to, when)| Rule { kind, of_a_master, from, to, when });
    let fulfilled = prop::collection::vec((0..STATES, 0..=MASTERS), 0..4);
    let weak = prop::sample::subsequence((0..KINDS).collect::<Vec<_>>(), 1..=KINDS);
    (prop::collection::vec(rule, 3..9), weak, any::<bool>(), fulfilled).prop_map(
        |(rules, weak, has_time, fulfilled)| Alike { rules, weak, has_time, fulfilled, first_is_told_apart: false },
    )
}

/// By the graph in which each master has its place, and by the one in which only the first has.
fn both(world: &Alike) -> (bool, bool) {
    let each = world.graph().always_eventually(|marks| marks & OWED == 0).is_some();
    let world = Alike { first_is_told_apart: true, ..world.clone() };
    let of_the_first = (0..KINDS).flat_map(|kind| [Some(0), None].map(|place| Alike::number(kind, place)));
    (each, world.graph().can_stay_in_orbits(OWED, of_the_first.collect()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(from_environment("LOCKSTEP_GRAPHS", GRAPHS)))]

    #[test]
    fn one_master_told_apart_says_what_each_in_its_place_says(world in any_world()) {
        let (each, orbits) = both(&world);
        prop_assert_eq!(each, orbits);
    }
}

/// One master waits to be served, which is fair and always possible. The others go up and down, so that in the order of the masters the one that
/// waits is now the first and now a later one: a graph of orbits, in which nobody sees which master an edge means, would take that for a time
/// in which neither can be served.
#[test]
fn a_master_that_is_never_served_makes_a_run_unfair_whatever_its_place() {
    let rule = |kind, from, to| Rule { kind, of_a_master: true, from, to, when: u8::MAX };
    let (begins_to_wait, serve) = (rule(2, (0, 0), (1, 1)), rule(0, (1, 1), (0, 0)));
    let (up, down) = (rule(1, (0, 1), (2, 1)), rule(1, (2, 1), (0, 1)));
    let nobody_waits = (0..=MASTERS).map(|ones| (0, ones)).collect();
    let served = Alike {
        rules: vec![begins_to_wait, serve, up, down],
        weak: vec![0],
        has_time: false,
        fulfilled: nobody_waits,
        first_is_told_apart: false,
    };
    assert_eq!(both(&served), (false, false));
    let not_fair = Alike { weak: vec![2], ..served };
    assert_eq!(both(&not_fair), (true, true));
}

/// Masters are served in turn, each when it is its turn, which is fair to all. The lower of two others, seen from the third, is never the one that is
/// served: it is not the same one all the time, so nothing may be made of that.
#[test]
fn masters_that_are_served_in_turn_are_served() {
    let rule = |kind, from, to| Rule { kind, of_a_master: true, from, to, when: u8::MAX };
    let begin = Rule { of_a_master: false, ..rule(2, (0, 0), (0, 1)) };
    let its_turn = Rule { when: 1, ..rule(1, (0, 1), (1, 1)) };
    let (serve, end) = (rule(0, (1, 1), (0, 1)), rule(0, (0, 1), (0, 0)));
    let world = Alike {
        rules: vec![begin, its_turn, serve, end],
        weak: vec![0],
        has_time: false,
        fulfilled: (0..=MASTERS).map(|ones| (0, ones)).collect(),
        first_is_told_apart: false,
    };
    assert_eq!(both(&world), (true, true));
}

/// The graph of orbits is small, and what holds in it is said also where the graph in which a history is looked for is too large.
#[test]
fn what_holds_of_all_orders_is_said_though_a_history_is_not_found() {
    let scenario = scenario("red-three-masters-two-clients");
    let look_within = |max_states| {
        let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
        let limits = Limits { max_states, ..Limits::none(&stop, &progress) };
        let asked = LivenessQuestion { properties: &Property::LIVENESS, whom: Whom::OneClient, normal_forms: true };
        look(&scenario.config, asked, 1, &limits, Instant::now(), false).expect("the graph of orbits is complete")
    };
    let whole = look_within(None);
    let cut = look_within(Some(whole.states - 1));
    let mut stopped = 0;
    for (whole, cut) in whole.found.iter().zip(&cut.found) {
        if matches!(cut, Found::Stopped(Stopped::MaxStates(_))) {
            assert!(matches!(whole, Found::Violated(_)), "{whole:?}");
            stopped += 1;
        } else {
            assert_eq!(whole, cut);
        }
    }
    assert_eq!(stopped, 1, "{:?}", cut.found);
    assert!(cut.states < whole.states);
    assert!(cut.found.contains(&Found::Holds), "{:?}", cut.found);
}
