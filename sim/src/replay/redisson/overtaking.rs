//! A request that overtakes the attempt before it. Redisson sends the next one over the connection that was given back last, and
//! that is the one on which the attempt before is still under way. So another thread of the application has to ask something in
//! between: its question takes that connection, and the next request another one.

use std::collections::BTreeSet;

use lockstep_model::Action;
use lockstep_model::client::Slot;
use lockstep_model::trace::{State, Trace};

use super::gate::HeldCommand;
use super::wire_words::words_of;
use crate::replay::translate::request_state;

/// The time between the end of an attempt and the next one in which another thread asks: two rounds of the wheel of Redisson's timer.
pub const GAP_MS: u32 = 200;

/// What the other thread asks: it reads the hold count of a thread that holds nothing.
pub const QUESTION: &str = "hold-count";

/// The clients of which an attempt is executed after a later one of the same request in this history.
pub fn overtaken_clients(trace: &Trace) -> BTreeSet<u8> {
    let overtaken = |resent: usize| {
        let Action::Resend { client, slot } = trace.steps[resent].action else { return None };
        let executed = trace.steps[resent + 1..].iter().find_map(|step| match step.action {
            Action::Execute { client: of, slot: executed } if of == client => Some(executed),
            _ => None,
        });
        let is_overtaken =
            executed == Some(slot) && set_aside(trace.state_after(resent), &trace.steps[resent].state, client);
        is_overtaken.then_some(client)
    };
    (0..trace.steps.len()).filter_map(overtaken).collect()
}

/// Whether a request of this client has been given up between two states, and may still be executed: nobody waits for its answer any
/// more.
pub fn set_aside(before: &State, after: &State, client: u8) -> bool {
    let is_there =
        |state, slot: Slot| request_state(state, (client, slot)).is_some_and(|request| request.answer_left.is_none());
    Slot::LATE.into_iter().any(|slot| is_there(after, slot) && !is_there(before, slot))
}

/// Whether this is no part of the history: such a question, or the end of a connection that is one too many after others broke.
pub fn is_aside(held: &HeldCommand) -> bool {
    words_of(held).first().is_some_and(|name| name == "HGET" || name == "QUIT")
}
