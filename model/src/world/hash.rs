//! How a world is hashed: states are hashed more often than anything else is done to them.
//!
//! Written by hand, and only here, because derived hashes go byte by byte: small fields make up whole words, and every field
//! is named by a pattern without `..`, so that none can be forgotten.

use core::hash::{Hash, Hasher};

use super::layout::Layout;
use super::state::{ResourceLog, World};
use crate::client::state::{Client, Thread};
use crate::limits::MAX_GROUPS;
use crate::locks::contract::Lock as _;
use crate::locks::master_calls::CallStore as _;
use crate::locks::stored::Stored;
use crate::locks::tokens::TokenStore as _;
use crate::locks::values::ValueStore as _;
use crate::redis::connections::Connection;
use crate::redis::group::{Group, Node};
use crate::redis::layout::ServerLayout;
use crate::time::Timer;

/// Small fields in one word.
const fn word(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(bytes)
}

impl<Y: Layout> Hash for World<Y> {
    // Loops, because a derived hash of an array is a call and not inlined. What has a length of its own comes last: how
    // everything before is packed is then known when this is compiled.
    #[expect(clippy::inline_always, reason = "measured: words are mixed where they are read")]
    #[inline(always)]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self {
            clients,
            in_flight,
            values,
            calls,
            groups,
            resource: ResourceLog { newest },
            tokens,
            faults,
            breaches,
        } = self;
        for (index, client) in clients.as_ref().iter().enumerate() {
            hash_client(client, hasher);
            for Group { connections, .. } in groups.as_ref() {
                hash_connection(client, connections.as_ref()[index], hasher);
            }
        }
        for Group { nodes, .. } in groups.as_ref() {
            for node in nodes.as_ref() {
                hash_standing(node, hasher);
            }
        }
        faults.hash(hasher);
        for Group { masters, failover_left, nodes: _, connections: _ } in groups.as_ref() {
            hasher.write_u32(u32::from_le_bytes([masters.byte(), failover_left.byte(), *newest, breaches.byte()]));
        }
        for Group { nodes, .. } in groups.as_ref() {
            for node in nodes.as_ref() {
                hash_rest(node, hasher);
            }
        }
        if Y::Calls::IS_THERE {
            for call in calls.as_ref() {
                let [word, _] = call.get().words();
                hasher.write_u64(word);
            }
        }
        if Y::Lock::HAS_MASTER_LOCKS {
            for call in calls.as_ref() {
                let [_, of_wait] = call.get().words();
                hasher.write_u64(of_wait);
                for master in 0..MAX_GROUPS {
                    hasher.write_u32(u32::from_le_bytes(call.watchdog(master).bytes()));
                }
            }
        }
        for requests in in_flight.as_ref() {
            requests.hash(hasher);
        }
        // Last, and only where there are any: what comes before says how long it is.
        if Y::Values::IS_THERE && values.as_ref().iter().any(|values| *values != Y::Values::default()) {
            for values in values.as_ref() {
                let of_thread = |thread| [values.own(thread), values.renewed(thread)];
                let [[own, renewed], [other_own, other_renewed]] = [of_thread(0), of_thread(1)];
                hasher.write_u32(u32::from_le_bytes([own, renewed, other_own, other_renewed]));
            }
        }
        if Y::Tokens::IS_THERE && *tokens != Y::Tokens::default() {
            tokens.hash(hasher);
        }
    }
}

#[expect(clippy::inline_always, reason = "as for the world")]
#[inline(always)]
fn hash_client<H: Hasher>(client: &Client, hasher: &mut H) {
    let Client { mode, views: [view], acquires_left, asks_in, renewal, wakeup: _, threads } = *client;
    let (acquires_left, asks_in) = (acquires_left.byte(), asks_in.byte());
    let [first_count, second_count, first, due_in] = renewal.bytes();
    hasher.write_u64(word([mode as u8, view.byte(), acquires_left, asks_in, first_count, second_count, first, due_in]));
    let [one, other] = threads;
    hash_thread(one, hasher);
    hash_thread(other, hasher);
}

/// What the nodes keep for a client, and what it has heard of them.
#[expect(clippy::inline_always, reason = "as for the world")]
#[inline(always)]
fn hash_connection<H: Hasher>(client: &Client, connection: Connection, hasher: &mut H) {
    let [permits, messages] = client.wakeup.bytes();
    let [places, acknowledged] = connection.bytes();
    hasher.write_u32(u32::from_le_bytes([places, acknowledged, permits, messages]));
}

#[expect(clippy::inline_always, reason = "as for the world")]
#[inline(always)]
fn hash_thread<H: Hasher>(thread: Thread, hasher: &mut H) {
    let Thread { phase, counts, token, wait_left, limit_left, wake_in, hold_left, valid_left } = thread;
    let [wait_left, limit_left, wake_in, hold_left, valid_left] =
        [wait_left, limit_left, wake_in, hold_left, valid_left].map(Timer::byte);
    hasher.write_u64(word([phase as u8, counts.byte(), token, wait_left, limit_left, wake_in, hold_left, valid_left]));
}

/// What every node has.
#[expect(clippy::inline_always, reason = "as for the world")]
#[inline(always)]
fn hash_standing<Y: ServerLayout, H: Hasher>(node: &Node<Y>, hasher: &mut H) {
    let Node { role, stored, queue, links, pace, disk, disk_age, silent_ticks, down_ticks, ahead } = node;
    stored.hash(hasher);
    // A disk that no rule reads is in its default.
    let has_disk = *disk != Stored::default();
    let [ahead] = ahead.to_le_bytes();
    hasher.write_u64(word([
        *role as u8,
        links.byte(),
        queue.len() << 1 | u8::from(has_disk),
        *silent_ticks,
        *down_ticks,
        ahead,
        disk_age.byte(),
        *pace as u8,
    ]));
}

/// What most nodes do not have: a disk that is read, effects under way.
#[inline]
fn hash_rest<Y: ServerLayout, H: Hasher>(node: &Node<Y>, hasher: &mut H) {
    if node.disk != Stored::default() {
        node.disk.hash(hasher);
    }
    // The cells behind are in their default.
    for effect in node.queue.effects() {
        effect.stored.hash(hasher);
        hasher.write_u32(u32::from(effect.byte()));
    }
}
