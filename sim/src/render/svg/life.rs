//! Whether a party runs.

use lockstep_model::trace::{ClientMode, State};

use super::super::rows::Lane;

/// Whether a party runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    Runs,
    Paused,
    IsOver,
}

/// Whether the party of this lane runs in this state.
pub(super) fn life(state: &State, lane: Lane) -> Life {
    match lane {
        Lane::Thread { client, thread } => {
            let client = &state.clients[usize::from(client)];
            let is_dead = client.threads[usize::from(thread)].is_dead();
            match client.mode {
                // Before its start and after its end there is no process.
                ClientMode::Crashed | ClientMode::NotStarted => Life::IsOver,
                ClientMode::Running | ClientMode::Paused if is_dead => Life::IsOver,
                ClientMode::Paused => Life::Paused,
                ClientMode::Running => Life::Runs,
            }
        }
        Lane::Node(node) if state.nodes[usize::from(node)].is_down() => Life::IsOver,
        Lane::Node(node) if state.nodes[usize::from(node)].is_paused => Life::Paused,
        Lane::Node(_) | Lane::Resource => Life::Runs,
    }
}
