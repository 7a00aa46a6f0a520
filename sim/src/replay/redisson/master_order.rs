//! In which order Redisson turns to several masters: what it orders by itself cannot be had otherwise.
//!
//! An application gives the locks of the masters in some order, and each call of a history has an object of its own. So a call may ask them in
//! any order; but it asks them in that one in each of its rounds, and sets the lease and gives back in the order in which they have granted
//! (docs/facts/family.md#redlock). The model has every order.

use lockstep_model::client::Phase;
use lockstep_model::trace::{State, node_name};
use lockstep_model::{Action, Config};

/// Whether Redisson may take this step after that history, as far as the order of the masters goes. `state`: after the history.
pub fn is_in_library_order(config: &Config, history: &[Action], state: &State, action: Action) -> bool {
    if !config.asks_master_locks() {
        return true;
    }
    let (Action::AskMaster { client, node }
    | Action::SlowReply { client, node }
    | Action::SetTtlAt { client, node }
    | Action::ReleaseAt { client, node }) = action
    else {
        return true;
    };
    let before = &state.clients[usize::from(client)];
    let asked = before.call.as_ref().map_or(&[][..], |call| &call.asked);
    let is_in = |master: u8| asked.iter().any(|name| *name == node_name(master));
    let order = order_of_call(history, client);
    match action {
        Action::AskMaster { .. } | Action::SlowReply { .. } => {
            order.into_iter().find(|master| !is_in(*master)).is_none_or(|next| next == node)
        }
        // A release of `unlock()` has an object of its own.
        Action::ReleaseAt { .. } if before.threads[0].phase != Phase::Undoing => true,
        _ => order.into_iter().find(|master| is_in(*master)).is_none_or(|next| next == node),
    }
}

/// The masters that the call of this client has asked, in the order of its first asks.
fn order_of_call(history: &[Action], client: u8) -> Vec<u8> {
    let is_begin = |action: &Action| matches!(action, Action::Acquire { client: of, .. } if *of == client);
    let begin = history.iter().rposition(is_begin).unwrap_or(0);
    let mut order = Vec::new();
    for action in &history[begin..] {
        if let Action::AskMaster { client: of, node } | Action::SlowReply { client: of, node } = *action
            && of == client
            && !order.contains(&node)
        {
            order.push(node);
        }
    }
    order
}
