//! In which order Redisson turns to several masters: what it orders by itself cannot be had otherwise.
//!
//! An application gives the locks of the masters in some order, and each call of a history has an object of its own. So a call may ask them in
//! any order; but it asks them in that one in each of its rounds, and sets the lease and gives back in the order in which they have granted,
//! which is the same one (docs/facts/family.md#redlock). The model has every order.
//!
//! A history that is drawn for Redisson keeps to it (`fuzz`, by [`is_in_library_order`]), and any other one is left where it does not
//! (`master_locks`).

use lockstep_model::client::Phase;
use lockstep_model::trace::{ClientState, State, node_name};
use lockstep_model::{Action, Config};

/// What a step does that Redisson does in another order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutOfOrder {
    /// It asks a master.
    Asks,
    /// It sets the lease on a master that has granted, or gives back what that has granted.
    TurnsToGranted,
}

/// How a step differs from the order of its call. `order`: the masters as the call turns to them first, or those that it has
/// turned to so far; `before`: its client.
pub(super) fn out_of_order(order: &[u8], before: &ClientState, action: Action) -> Option<OutOfOrder> {
    let named = before.call.as_ref().map_or(&[][..], |call| &call.asked);
    let is_named = |master: &u8| named.iter().any(|name| *name == node_name(*master));
    // While it asks, these are the masters that were asked in this round; afterwards those that it is still to turn to.
    let (next, node, what) = match action {
        Action::AskMaster { node, .. } | Action::SlowReply { node, .. } => {
            (order.iter().find(|master| !is_named(master)), node, OutOfOrder::Asks)
        }
        // A release of `unlock()` has an object of its own, with the masters in the order of its releases.
        Action::ReleaseAt { .. } if before.threads[0].phase != Phase::Undoing => return None,
        Action::SetTtlAt { node, .. } | Action::ReleaseAt { node, .. } => {
            (order.iter().find(|master| is_named(master)), node, OutOfOrder::TurnsToGranted)
        }
        _ => return None,
    };
    next.is_some_and(|next| *next != node).then_some(what)
}

/// The masters in the order in which a client turns to them first, in the call that begins with the first of these actions.
pub(super) fn order_of_call(actions: &[Action], client: u8) -> Vec<u8> {
    let mut order = Vec::new();
    for action in actions.iter().skip(1).take_while(|action| caller_of(**action) != Some(client)) {
        if let Action::AskMaster { client: of, node }
        | Action::SlowReply { client: of, node }
        | Action::ReleaseAt { client: of, node } = *action
            && of == client
            && !order.contains(&node)
        {
            order.push(node);
        }
    }
    order
}

/// The client that begins a call in this step.
pub(super) const fn caller_of(action: Action) -> Option<u8> {
    match action {
        Action::Acquire { client, .. } | Action::Release { client, .. } => Some(client),
        _ => None,
    }
}

/// Whether Redisson may take this step after that history, as far as the order of the masters goes. `state`: after the history.
pub fn is_in_library_order(config: &Config, history: &[Action], state: &State, action: Action) -> bool {
    let (Action::AskMaster { client, .. }
    | Action::SlowReply { client, .. }
    | Action::SetTtlAt { client, .. }
    | Action::ReleaseAt { client, .. }) = action
    else {
        return true;
    };
    if !config.asks_master_locks() {
        return true;
    }
    let begin = history.iter().rposition(|action| caller_of(*action) == Some(client)).unwrap_or(0);
    let order = order_of_call(&history[begin..], client);
    out_of_order(&order, &state.clients[usize::from(client)], action).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::any_world::AnyWorld;
    use crate::fuzz::drawn;
    use crate::scenario::Scenario;

    const A: Action = Action::Acquire { client: 0, thread: 0 };

    fn world() -> Scenario {
        let text = "story = 'Asks.'\nlock = 'redisson-red'\n[time]\nlease = 4\nwait_limit = 3\n[clients]\ncount = 2\n[cluster]\ngroups = 3\n\
                    [faults]\nslow_reply = 1\nrefuse_writes = 2";
        Scenario::parse("order", text).expect("a scenario")
    }

    /// The steps that Redisson takes in another order. `known`: how much of the history is known by then, if that is the step `at`.
    fn out_of_order_in(actions: &[Action], known: impl Fn(usize) -> usize) -> Vec<usize> {
        let config = world().config;
        let mut world = AnyWorld::initial(&config);
        let mut found = Vec::new();
        for (at, action) in actions.iter().enumerate() {
            let client = match *action {
                Action::AskMaster { client, .. }
                | Action::SlowReply { client, .. }
                | Action::SetTtlAt { client, .. }
                | Action::ReleaseAt { client, .. } => Some(client),
                _ => None,
            };
            if let Some(client) = client {
                let begin =
                    actions[..at].iter().rposition(|action| caller_of(*action) == Some(client)).expect("a call");
                let order = order_of_call(&actions[begin..known(at)], client);
                let state = world.state(&config);
                let is_found = out_of_order(&order, &state.clients[usize::from(client)], *action).is_some();
                assert_eq!(is_in_library_order(&config, &actions[..at], &state, *action), !is_found, "step {at}");
                found.extend(is_found.then_some(at));
            }
            world = world.step(&config, *action).unwrap_or_else(|| panic!("{action:?} cannot happen")).world;
        }
        found
    }

    fn asks(client: u8, nodes: [u8; 3]) -> [Action; 3] {
        nodes.map(|node| Action::AskMaster { client, node })
    }

    fn sets_lease(nodes: [u8; 3]) -> [Action; 3] {
        nodes.map(|node| Action::SetTtlAt { client: 0, node })
    }

    fn gives_back(nodes: [u8; 2]) -> [Action; 2] {
        nodes.map(|node| Action::ReleaseAt { client: 0, node })
    }

    fn in_whole(actions: &[Action]) -> Vec<usize> {
        out_of_order_in(actions, |_| actions.len())
    }

    #[test]
    fn the_lease_is_set_in_the_order_of_the_asks_and_an_unlock_has_an_order_of_its_own() {
        let granted = [&[A][..], &asks(0, [1, 2, 0])].concat();
        assert_eq!(in_whole(&[&granted[..], &sets_lease([1, 2, 0])].concat()), [0; 0]);
        assert_eq!(in_whole(&[&granted[..], &sets_lease([1, 0, 2])].concat()), [5]);
        let unlocks = [Action::Release { client: 0, thread: 0 }, Action::ReleaseAt { client: 0, node: 2 }];
        let released = [&granted[..], &sets_lease([1, 2, 0]), &unlocks, &gives_back([0, 1])].concat();
        assert_eq!(in_whole(&released), [0; 0]);
    }

    #[test]
    fn what_was_granted_is_given_back_in_the_order_of_the_asks_and_a_later_round_keeps_it() {
        let refuses = [0, 1].map(|node| Action::RefuseWrites { node });
        let accepts = [0, 1].map(|node| Action::AcceptWrites { node });
        // One of three is not most: with the second failure it gives the first one back, and begins anew.
        let split =
            [&[A][..], &refuses, &asks(0, [2, 1, 0]), &[Action::ReleaseAt { client: 0, node: 2 }], &accepts].concat();
        assert_eq!(in_whole(&[&split[..], &asks(0, [2, 1, 0])].concat()), [0; 0]);
        assert_eq!(in_whole(&[&split[..], &asks(0, [2, 0, 1])].concat()), [10]);
    }

    /// A history that is drawn knows what has happened, and one that is replayed also what will.
    #[test]
    fn what_happens_later_in_a_call_does_not_change_what_is_in_its_order() {
        let scenario = world();
        let mut number: u32 = 1;
        let mut found = 0;
        for _ in 0..200 {
            let draws = std::iter::repeat_with(|| {
                number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                u16::try_from(number >> 16).expect("16 bits")
            });
            let actions = drawn(&scenario, &draws.take(60).collect::<Vec<_>>()).actions();
            let in_part = out_of_order_in(&actions, |at| at);
            assert_eq!(in_part, in_whole(&actions), "{actions:?}");
            found += in_part.len();
        }
        assert!(found > 100, "{found} steps in another order");
    }
}
