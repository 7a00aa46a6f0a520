//! What is left of a lock of several parts when a call has ended. Observed from outside the rules, so that no rule can forget to say so.

use super::layout::Layout;
use super::state::World;
use crate::client::state::Client;
use crate::limits::MAX_THREADS;
use crate::locks::holder::Holder;
use crate::notes::{Breach, Notes};

/// A call has ended, and its client has no part, as far as it knows: the acting master stores one for it all the same.
///
/// An acquire that has failed has given back what it had, and a release has released every part. What a client did not get back from a
/// release, it may find in a later call: it is noted then again.
pub(crate) fn note_left<Y: Layout>(before: &World<Y>, after: &World<Y>, notes: &mut Notes) {
    let Some(master) = after.acting_master() else { return };
    let has_none = |client: &Client| client.threads.iter().all(|thread| thread.holds() == 0);
    for (number, is) in after.clients() {
        let was = before.client(number);
        let was_calling = was.is_in_call() || !has_none(was);
        let has_ended = is.is_running() && was_calling && !is.is_in_call() && has_none(is);
        let mut parts = (0..MAX_THREADS).map(|thread| Holder::new(number, thread));
        if has_ended && parts.any(|part| master.stored.is_held_by(part)) {
            notes.broke(Breach::PartLeft);
        }
    }
}
