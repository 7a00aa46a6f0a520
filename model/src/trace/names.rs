//! What parties are called in a trace.

use crate::action::Party;
use crate::config::sections::Config;
use crate::locks::holder::Holder;
use crate::names::{client_name, node_name};

/// `A`, or `A:1` where clients have two threads; `A:write` and `A:read` where these are the two sides of one thread of the
/// application; `A:first` and `A:second` where they are the parts of a lock.
pub fn holder_name(config: &Config, holder: Holder) -> String {
    let client = client_name(holder.client());
    if config.shares() {
        return format!("{client}:{}", if holder.thread() == 0 { "write" } else { "read" });
    }
    if config.has_parts() {
        return format!("{client}:{}", if holder.thread() == 0 { "first" } else { "second" });
    }
    if config.clients.threads > 1 { format!("{client}:{}", holder.thread() + 1) } else { client.to_string() }
}

/// The lane of the party that acts: a client thread, a client, a node or `time`.
pub fn lane(config: &Config, party: Party) -> String {
    match party {
        Party::Thread(holder) => holder_name(config, holder),
        Party::Client(client) => client_name(client).to_string(),
        Party::Node(node) => node_name(node),
        Party::World => "time".to_owned(),
    }
}
