//! What clients and nodes are called in every text: `A`, `B`, … and `n1`, `n2`, …

/// The name of a client: `A` for client 0.
pub fn client_name(client: u8) -> char {
    char::from(b'A' + client)
}

/// The name of a node: `n1` for node 0.
pub fn node_name(node: u8) -> String {
    format!("n{}", node + 1)
}
