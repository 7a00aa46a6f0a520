//! What clients, nodes and locks are called in every text: `A`, `B`, …; `n1`, `n2`, …; and `lock`.

/// The name of a client: `A` for client 0.
pub fn client_name(client: u8) -> char {
    char::from(b'A' + client)
}

/// The name of a node: `n1` for node 0.
pub fn node_name(node: u8) -> String {
    format!("n{}", node + 1)
}

/// The name of a lock: `lock`, or `lock#2` for the second of several. Redisson's renewal carries them in this order, which is
/// that of a hash table (docs/facts/redisson.md#several-locks-in-one-renewal).
pub fn lock_name(name: u8) -> String {
    if name == 0 { "lock".to_owned() } else { format!("lock#{}", name + 1) }
}
