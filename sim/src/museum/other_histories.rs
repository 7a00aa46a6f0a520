//! What a library does instead of a counterexample that it cannot be made to follow: the same steps in another order, or a few more.

use lockstep_model::Action;
use lockstep_model::trace::Trace;

use crate::recorder;
use crate::replay::{Played, ReplayError};

/// How many replays in a row must take another order before the counterexample's is given up for another one. By far more than
/// one in three take it on a busy machine too.
const LEFT_EACH_TIME: usize = 3;
/// How many steps are moved at most, each of which makes the library follow further.
const MOST_MOVED: usize = 4;
/// How many steps are added at most.
const MOST_ADDED: usize = 2;

/// How the history that was replayed differs from the counterexample. It ends in the same state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherHistory {
    /// A step comes earlier or later.
    Moved {
        /// Its number in the counterexample.
        from: usize,
        /// Its number in what was replayed; the steps between make room.
        to: usize,
    },
    /// Steps come earlier or later.
    Reordered {
        /// How many times one was moved.
        steps: usize,
    },
    /// There are steps more, as the library cannot leave them out.
    Longer {
        /// The number of the step of the counterexample before which they come.
        before: usize,
        /// How many.
        added: usize,
    },
}

/// How far a replay went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Followed {
    /// To its end, or to a difference: in either case in this order.
    InThisOrder,
    /// The library took another order after so many steps.
    Until(usize),
}

impl Followed {
    pub(super) fn of(result: &Played) -> Self {
        if result.left.is_some() && result.difference.is_none() { Self::Until(result.steps) } else { Self::InThisOrder }
    }
}

/// The library may do what happens at one instant in another order than the counterexample, and there may be steps that it cannot leave
/// out. Where the counterexample is never followed to its end, the step at which that ended is made earlier or later, as little as possible:
/// an equally short history with the same end; and so on, as long as that is followed further. Where none of those is followed to its end
/// either, a step or two are added before that step, with the same end: the shortest history that the library follows. `None`: it follows
/// the counterexample, or no such history.
pub(super) fn one_that_is_followed(
    trace: &Trace,
    mut follow: impl FnMut(&Trace) -> Result<Followed, ReplayError>,
) -> Result<Option<(Trace, OtherHistory)>, ReplayError> {
    let mut ended_at = 0;
    for _ in 0..LEFT_EACH_TIME {
        match follow(trace)? {
            Followed::InThisOrder => return Ok(None),
            // The furthest: an order that depends on the machine may end it earlier.
            Followed::Until(steps) => ended_at = ended_at.max(steps),
        }
    }
    let (mut so_far, mut reached) = (trace.clone(), ended_at);
    for moves in 1..=MOST_MOVED {
        // Of the histories that are not followed to their end, the first one that is followed furthest.
        let mut furthest: Option<(Trace, usize)> = None;
        for (other, moved) in with_one_moved(&so_far, reached).chain(with_a_later_one_first(&so_far, reached)) {
            match follow(&other)? {
                Followed::InThisOrder if moves == 1 => return Ok(Some((other, moved))),
                Followed::InThisOrder => return Ok(Some((other, OtherHistory::Reordered { steps: moves }))),
                Followed::Until(steps) if steps > furthest.as_ref().map_or(reached, |(_, furthest)| *furthest) => {
                    furthest = Some((other, steps));
                }
                Followed::Until(_) => {}
            }
        }
        let Some(next) = furthest else { break };
        (so_far, reached) = next;
    }
    for (other, instead) in with_some_added(trace, ended_at) {
        if follow(&other)? == Followed::InThisOrder {
            return Ok(Some((other, instead)));
        }
    }
    Ok(None)
}

/// The histories in which the step after the first so many comes earlier or later, as long as the model ends in the same state; the
/// smallest change first.
fn with_one_moved(trace: &Trace, ended_at: usize) -> impl Iterator<Item = (Trace, OtherHistory)> {
    let actions = trace.actions();
    let last = actions.len().saturating_sub(1);
    let from = ended_at.min(last);
    // A cycle has no end that could be the same.
    let has_end = trace.loop_start.is_none();
    let places = (1..=last).flat_map(move |by| [from.checked_sub(by), Some(from + by).filter(|to| *to <= last)]);
    places.flatten().filter(move |_| has_end).filter_map(move |to| {
        let mut moved = actions.clone();
        if to < from {
            moved[to..=from].rotate_right(1);
        } else {
            moved[from..=to].rotate_left(1);
        }
        let other = with_same_end(trace, &moved)?;
        Some((other, OtherHistory::Moved { from: from + 1, to: to + 1 }))
    })
}

/// The histories in which a later step comes before the one after the first so many, as long as the model ends in the same state; the nearest
/// first. Each step between makes room.
fn with_a_later_one_first(trace: &Trace, ended_at: usize) -> impl Iterator<Item = (Trace, OtherHistory)> {
    let actions = trace.actions();
    let has_end = trace.loop_start.is_none();
    // The next one comes first where the step itself comes later.
    let later = ended_at + 2..actions.len();
    later.filter(move |_| has_end).filter_map(move |from| {
        let mut moved = actions.clone();
        moved[ended_at..=from].rotate_right(1);
        let other = with_same_end(trace, &moved)?;
        Some((other, OtherHistory::Moved { from: from + 1, to: ended_at + 1 }))
    })
}

/// The histories in which a few steps more come after the first so many, as long as the model ends in the same state; the shortest first.
/// None of them is a fault: its budget would be spent at the end.
fn with_some_added(trace: &Trace, ended_at: usize) -> impl Iterator<Item = (Trace, OtherHistory)> {
    let actions = trace.actions();
    let (before, after) = actions.split_at(ended_at.min(actions.len().saturating_sub(1)));
    let (before, after) = (before.to_vec(), after.to_vec());
    let possible = Action::all(&trace.config);
    let has_end = trace.loop_start.is_none();
    // The beginnings of the last length, each with what was added.
    let mut beginnings = vec![Vec::new()];
    let lengths = (1..=MOST_ADDED).filter(move |_| has_end);
    lengths.flat_map(move |added| {
        let longer = beginnings
            .iter()
            .flat_map(|one: &Vec<Action>| possible.iter().map(move |action| [&one[..], &[*action]].concat()));
        beginnings = longer.filter(|added| recorded(trace, &[&before[..], added].concat()).is_some()).collect();
        let histories =
            beginnings.iter().filter_map(|added| with_same_end(trace, &[&before[..], added, &after].concat()));
        let histories: Vec<_> = histories.collect();
        let instead = OtherHistory::Longer { before: before.len() + 1, added };
        histories.into_iter().map(move |other| (other, instead))
    })
}

/// The history of these actions, if it can happen and ends as that one does.
fn with_same_end(trace: &Trace, actions: &[Action]) -> Option<Trace> {
    let other = recorded(trace, actions)?;
    (other.state_after(actions.len()) == trace.state_after(trace.steps.len())).then_some(other)
}

fn recorded(trace: &Trace, actions: &[Action]) -> Option<Trace> {
    recorder::record(&trace.scenario, &trace.story, &trace.config, trace.about.clone(), actions, "").ok()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU64};

    use lockstep_model::config::Profile;
    use lockstep_model::trace::About;

    use super::super::examination::found;
    use super::super::exhibit::Exhibit;
    use super::*;
    use crate::check::Limits;

    /// The counterexample of I5: a second interrupt is one step, and the message that wakes the waiter another.
    fn counterexample() -> Trace {
        counterexample_of("I5")
    }

    fn counterexample_of(exhibit: &str) -> Trace {
        let exhibit = Exhibit::named(exhibit).expect("it is an exhibit");
        let world = exhibit.world(Profile::Redisson47).expect("it is a scenario");
        let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
        let (_, trace) = found(&world, exhibit.property, &Limits::none(&stop, &progress)).expect("it is checked");
        trace.expect("there is one")
    }

    #[test]
    fn a_step_that_is_moved_leads_to_the_same_end_or_is_left_out() {
        let trace = counterexample();
        let length = trace.steps.len();
        for ended_at in 0..=length {
            for (other, moved) in with_one_moved(&trace, ended_at) {
                let OtherHistory::Moved { from, to } = moved else { panic!("{moved:?}") };
                assert_eq!(from, ended_at.min(length - 1) + 1);
                let mut back = other.actions();
                let (from, to) = (from - 1, to - 1);
                if to < from {
                    back[to..=from].rotate_left(1);
                } else {
                    back[from..=to].rotate_right(1);
                }
                assert_eq!(back, trace.actions());
                assert_eq!(other.state_after(length), trace.state_after(length));
            }
        }
        // The world begins with a thread that asks: nothing comes before that.
        assert_eq!(with_one_moved(&trace, 0).count(), 0);
    }

    #[test]
    fn another_order_is_tried_only_where_this_one_is_never_followed() {
        let trace = counterexample();
        let ended_at = (0..trace.steps.len()).find(|at| with_one_moved(&trace, *at).next().is_some());
        let ended_at = ended_at.expect("some step can be moved");
        let mut asked = Vec::new();
        let mut found_with = |is_followed: &dyn Fn(usize, &Trace) -> bool| {
            asked.clear();
            let found = one_that_is_followed(&trace, |one| {
                asked.push(one.actions());
                let is_followed = is_followed(asked.len(), one);
                Ok(if is_followed { Followed::InThisOrder } else { Followed::Until(ended_at) })
            });
            (found.expect("nothing fails").map(|(other, moved)| (other.actions(), moved)), asked.len())
        };
        assert_eq!(found_with(&|_, _| true), (None, 1));
        assert_eq!(found_with(&|times, _| times == LEFT_EACH_TIME), (None, LEFT_EACH_TIME));
        let (other, times) = found_with(&|_, one| one.actions() != trace.actions());
        let (first, moved) = with_one_moved(&trace, ended_at).next().expect("it can");
        assert_eq!((other, times), (Some((first.actions(), moved)), LEFT_EACH_TIME + 1));
        let others = with_one_moved(&trace, ended_at).count()
            + with_a_later_one_first(&trace, ended_at).count()
            + with_some_added(&trace, ended_at).count();
        assert_eq!(found_with(&|_, _| false), (None, LEFT_EACH_TIME + others));
    }

    /// A lock on several masters, whose lease is set on each of them in an order of the library's own.
    #[test]
    fn a_second_step_is_moved_where_the_first_one_has_led_further() {
        let world =
            Exhibit::named("L4").expect("it is an exhibit").world(Profile::Redisson47).expect("it is a scenario");
        let set_on = |node| Action::SetTtlAt { client: 0, node };
        let granted = [Action::Acquire { client: 0, thread: 0 }]
            .into_iter()
            .chain((0..3).map(|node| Action::AskMaster { client: 0, node }));
        let actions: Vec<_> = granted.clone().chain([2, 1, 0].map(set_on)).collect();
        let in_its_order: Vec<_> = granted.chain([0, 1, 2].map(set_on)).collect();
        let trace =
            recorder::record(&world.name, "", &world.config, About::Drawn, &actions, "").expect("it can happen");
        let found = one_that_is_followed(&trace, |one| {
            let differs = one.actions().iter().zip(&in_its_order).position(|(action, wanted)| action != wanted);
            Ok(differs.map_or(Followed::InThisOrder, Followed::Until))
        });
        let (other, instead) = found.expect("nothing fails").expect("it is found");
        assert_eq!((other.actions(), instead), (in_its_order, OtherHistory::Reordered { steps: 2 }));
    }

    /// Of I4: a waiter is interrupted between two of its requests, and in Redisson it has sent the next one.
    #[test]
    fn steps_that_are_added_lead_to_the_same_end_and_the_fewest_come_first() {
        let trace = counterexample_of("I4");
        let at =
            trace.actions().iter().position(|action| matches!(action, Action::Interrupt { .. })).expect("there is");
        let found: Vec<_> = with_some_added(&trace, at).collect();
        let client = 1;
        let [subscribe, ask] = [Action::Subscribe { client, thread: 0 }, Action::SecondAsk { client, thread: 0 }];
        let asleep = [&trace.actions()[..at], &[subscribe, ask], &trace.actions()[at..]].concat();
        assert!(found.iter().any(|(other, _)| other.actions() == asleep));
        let mut length = trace.steps.len();
        for (other, instead) in found {
            let OtherHistory::Longer { before, added } = instead else { panic!("{instead:?}") };
            assert_eq!((before, other.steps.len()), (at + 1, trace.steps.len() + added));
            assert!((1..=MOST_ADDED).contains(&added) && other.steps.len() >= length);
            length = other.steps.len();
            assert_eq!(other.state_after(length), trace.state_after(trace.steps.len()));
        }
        // A cycle has no end that could be the same.
        let cycle = Trace { loop_start: Some(0), ..trace };
        assert_eq!(with_some_added(&cycle, at).count(), 0);
    }
}
