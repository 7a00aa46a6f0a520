//! What a node stores, in words.

use lockstep_model::Config;
use lockstep_model::trace::{Contents, Hold, ReceiptState, lock_name};

use super::units::{duration, lasting, list};

/// A stored hold: `A:1 ttl 30 s`, `A:1 x2 ttl 30 s`, `A:1:2 ttl 30 s`. The holder is client and thread, and the acquire where
/// these are told apart, as Redis stores it.
pub fn stored(config: &Config, hold: &Hold) -> String {
    let thread = if config.clients.threads > 1 { "" } else { ":1" };
    let value = if hold.value == 0 { String::new() } else { format!(":{}", hold.value) };
    let count = if hold.count == 1 { String::new() } else { format!(" x{}", hold.count) };
    let life = hold.ttl_ms.map_or_else(|| "no ttl".to_owned(), |ms| format!("ttl {}", lasting(config, ms)));
    format!("{}{thread}{value}{count} {life}", hold.holder)
}

/// Everybody who holds by these keys, or `None` if nobody does.
pub fn all_stored(config: &Config, contents: &Contents) -> Option<String> {
    let holds: Vec<_> = contents.holders.iter().map(|hold| stored(config, hold)).collect();
    (!holds.is_empty()).then(|| list(&holds))
}

/// The same, with `no lock` if nobody holds.
pub fn lock(config: &Config, contents: &Contents) -> String {
    all_stored(config, contents).unwrap_or_else(|| "no lock".to_owned())
}

/// Those who queue: `; queue A:1 (50 s), B:1 (over)`. Empty if nobody does.
pub fn queue(contents: &Contents) -> String {
    let each = contents.queue().iter().zip(contents.queue_left_ms()).map(|(waiter, left_ms)| {
        let left = u64::try_from(left_ms).ok().filter(|left| *left > 0);
        format!("{waiter} ({})", left.map_or_else(|| "over".to_owned(), duration))
    });
    let all: Vec<_> = each.collect();
    if all.is_empty() { String::new() } else { format!("; queue {}", all.join(", ")) }
}

/// The receipts: `; receipts A 1 (still held) ttl 10 s`. Empty if there are none.
pub fn receipts(config: &Config, contents: &Contents) -> String {
    let each = contents.receipts(config).into_iter().map(|ReceiptState { holder, number, freed, ttl_ms }| {
        let says = if freed { "released" } else { "still held" };
        let life = ttl_ms.map_or_else(String::new, |left| format!(" ttl {}", duration(left)));
        format!("{holder} {number} ({says}){life}")
    });
    let all: Vec<_> = each.collect();
    if all.is_empty() { String::new() } else { format!("; receipts {}", list(&all)) }
}

/// The keys that are no locks any more: `lock#2 is a string`. `None` if there are none.
pub fn overwritten(config: &Config, contents: &Contents) -> Option<String> {
    let names: Vec<_> =
        (0..config.clients.names).filter(|name| contents.is_overwritten(*name)).map(lock_name).collect();
    match names.as_slice() {
        [] => None,
        [_] => Some(format!("{} is a string", list(&names))),
        _ => Some(format!("{} are strings", list(&names))),
    }
}
