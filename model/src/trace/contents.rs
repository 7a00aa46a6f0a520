//! What a node stores, has under way, or finds on its disk: the keys as Redis has them, and who holds by them.

use serde::{Deserialize, Serialize};

use super::names::holder_name;
use crate::config::sections::Config;
use crate::locks::contract::{Lock, StoredHold};
use crate::locks::keys::{DEADLINE_FIELD, HashValue, Key, KeySlot, KeyValue};
use crate::locks::named::FOREIGN_VALUE;
use crate::locks::receipts::ReceiptStore;
use crate::locks::stored::Stored;
use crate::names::node_name;
use crate::time::Timer;

/// The data of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Contents {
    /// Who holds the lock by these keys: the meaning of the keys, which depends on the kind of lock.
    pub holders: Vec<Hold>,
    /// Every key.
    pub keys: Vec<StoredKey>,
}

/// Somebody who holds the lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Hold {
    /// The client thread, by the name that it has in this trace.
    pub holder: String,
    /// Which of its acquires: the number in the value that the node stores; 0: the value has none. A number is used again once
    /// nothing refers to the earlier acquire.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub value: u8,
    /// How often it entered.
    pub count: u8,
    /// How long the hold lives if nobody renews it, ms; null: without end.
    pub ttl_ms: Option<u64>,
}

/// A key as a node stores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
// Unknown keys cannot be denied beside a flattened value by serde itself: whoever reads a file compares what was read.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct StoredKey {
    /// The node that stores it, or will once the effect is applied.
    pub node: String,
    /// Which of the lock's keys it is.
    pub slot: KeySlot,
    /// Its type and content, as the keys `type` and `content`.
    #[serde(flatten)]
    pub value: KeyValue,
    /// How long it lives, ms; null: it has no TTL, or, in an effect, its TTL is not written by the effect.
    pub ttl_ms: Option<u64>,
}

/// A release receipt, read from its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiptState {
    /// Who released, by the name that it has in this trace.
    pub holder: String,
    /// Which of its releases.
    pub number: u8,
    /// Whether that release freed the lock.
    pub freed: bool,
    /// How long the key lives, ms; `None`: its TTL is not written by the effect.
    pub ttl_ms: Option<u64>,
}

impl Hold {
    /// Its thread, from 0; 0 where clients have one. Where there are several locks, that is the number of the lock.
    pub fn thread(&self) -> u8 {
        match self.holder.rsplit_once(':') {
            Some((_, "second")) => 1,
            Some((_, number)) => number.parse::<u8>().map_or(0, |number| number.saturating_sub(1)),
            None => 0,
        }
    }
}

impl Contents {
    /// What a node stores.
    pub(super) fn of<L: Lock, R: ReceiptStore>(config: &Config, node: u8, stored: &Stored<L, R>) -> Self {
        let hold = |StoredHold { by, mode: _, count, remaining }| Hold {
            holder: holder_name(config, by.holder),
            value: by.value,
            count,
            ttl_ms: ttl_ms(config, remaining),
        };
        let keys = stored.keys();
        let key = |Key { slot, value, ttl }| StoredKey {
            node: node_name(node),
            slot,
            value: in_ms(config, value),
            ttl_ms: ttl_ms(config, ttl),
        };
        Self { holders: stored.holders().map(hold).collect(), keys: keys.into_iter().map(key).collect() }
    }

    /// Whether anybody holds the lock.
    pub fn is_held(&self) -> bool {
        !self.holders.is_empty()
    }

    /// Whether this client thread holds the lock.
    pub fn is_held_by(&self, holder: &str) -> bool {
        self.holders.iter().any(|hold| hold.holder == holder)
    }

    /// The holder; of several the first.
    pub fn holder(&self) -> Option<&Hold> {
        self.holders.first()
    }

    /// The first holder of this lock, where there are several; of any, if none is named.
    pub fn holder_under(&self, name: Option<u8>) -> Option<&Hold> {
        self.holders.iter().find(|hold| name.is_none_or(|name| hold.thread() == name))
    }

    /// Whether another program has stored a value of another type under the name of this lock.
    pub fn is_overwritten(&self, name: u8) -> bool {
        let slot = if name == 0 { KeySlot::Lock } else { KeySlot::NamedLock { number: name + 1 } };
        self.keys.iter().any(|key| key.slot == slot && key.value == KeyValue::String(FOREIGN_VALUE.to_owned()))
    }

    /// Those who stand in a lock that is a sorted set, as Redis stores them: also one whose deadline is over.
    pub fn members(&self) -> impl Iterator<Item = &str> {
        let lock = self.keys.iter().find(|key| key.slot == KeySlot::Lock);
        let members = lock.and_then(|key| match &key.value {
            KeyValue::Zset(members) => Some(members.keys().map(String::as_str)),
            KeyValue::String(_) | KeyValue::Hash(_) | KeyValue::List(_) => None,
        });
        members.into_iter().flatten()
    }

    /// Those who queue for the lock, the first first, as Redis stores them.
    pub fn queue(&self) -> &[String] {
        let queue = self.keys.iter().find(|key| key.slot == KeySlot::Queue);
        match queue.map(|key| &key.value) {
            Some(KeyValue::List(waiters)) => waiters,
            _ => &[],
        }
    }

    /// How long each of them has until its deadline, ms, in that order; 0: it is over.
    pub fn queue_left_ms(&self) -> Vec<i64> {
        let deadlines = self.keys.iter().find(|key| key.slot == KeySlot::Deadlines);
        let Some(KeyValue::Zset(deadlines)) = deadlines.map(|key| &key.value) else { return Vec::new() };
        self.queue().iter().map(|waiter| deadlines.get(waiter).copied().unwrap_or_default()).collect()
    }

    /// The newest fencing token that the counter beside the lock has issued; `None`: there is no counter.
    pub fn token_counter(&self) -> Option<u8> {
        let counter = self.keys.iter().find(|key| key.slot == KeySlot::Token)?;
        let KeyValue::String(number) = &counter.value else { return None };
        number.parse().ok()
    }

    /// The release receipts.
    pub fn receipts(&self, config: &Config) -> Vec<ReceiptState> {
        let receipt = |key: &StoredKey| match key.slot {
            KeySlot::Receipt { holder, number } => Some(ReceiptState {
                holder: holder_name(config, holder),
                number,
                freed: key.value == KeyValue::String("1".to_owned()),
                ttl_ms: key.ttl_ms,
            }),
            KeySlot::Lock
            | KeySlot::NamedLock { .. }
            | KeySlot::Queue
            | KeySlot::Deadlines
            | KeySlot::Hold { .. }
            | KeySlot::Token => None,
        };
        self.keys.iter().filter_map(receipt).collect()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
pub(super) const fn is_zero(number: &u8) -> bool {
    *number == 0
}

/// Deadlines are told in the milliseconds of a real server.
fn in_ms(config: &Config, value: KeyValue) -> KeyValue {
    match value {
        KeyValue::Zset(deadlines) => {
            let ms = |ticks: i64| ticks * i64::from(config.time.tick_ms);
            KeyValue::Zset(deadlines.into_iter().map(|(waiter, ticks)| (waiter, ms(ticks))).collect())
        }
        KeyValue::Hash(fields) => {
            let in_ms = |name: &str, content: HashValue| match content {
                HashValue::Number(ticks) if name.ends_with(DEADLINE_FIELD) => {
                    HashValue::Number(ticks * u64::from(config.time.tick_ms))
                }
                other => other,
            };
            let fields = fields.into_iter().map(|(name, content)| {
                let content = in_ms(&name, content);
                (name, content)
            });
            KeyValue::Hash(fields.collect())
        }
        KeyValue::String(_) | KeyValue::List(_) => value,
    }
}

/// The time left, in the milliseconds of a real server.
fn ttl_ms(config: &Config, timer: Timer) -> Option<u64> {
    timer.left().map(|ticks| u64::from(ticks) * u64::from(config.time.tick_ms))
}
