//! The words in which the replies of both sides are compared.

/// The lock is the caller's now.
pub const ACQUIRED: &str = "acquired";
/// Another holder has the lock, and the answer contains no TTL.
pub const BUSY: &str = "busy";
/// The lock is free.
pub const RELEASED: &str = "released";
/// One hold was given back, and others remain.
pub const STILL_HELD: &str = "still held";
/// The caller did not hold the lock.
pub const NOT_HELD: &str = "not held";
/// The lock that was just taken has its TTL.
pub const TTL_SET: &str = "ttl set";
/// There is no lock whose TTL could be set.
pub const NO_TTL_SET: &str = "no ttl set";
/// The lease was extended.
pub const RENEWED: &str = "renewed";
/// The lease was not extended: the caller does not hold the lock.
pub const NOT_RENEWED: &str = "not renewed";
/// The key is no lock: a script that looks into it fails.
pub const WRONG_TYPE: &str = "the key is of a wrong type";
/// A script joins a name to nothing, which ends it; what it has written stays.
pub const RENEWAL_FAILED: &str = "the script of the renewal fails";
/// The lock was deleted.
pub const FORCE_RELEASED: &str = "force released";
/// There was no lock to delete.
pub const NOTHING_TO_RELEASE: &str = "nothing to release";
/// The caller is not in the queue any more.
pub const LEFT_QUEUE: &str = "left the queue";
/// The caller is told that it holds.
pub const SAYS_HELD: &str = "it holds";
/// The caller is told that it does not hold.
pub const SAYS_NOT_HELD: &str = "it does not hold";
/// The answer of a master to a write while too few replicas are linked.
pub const NOT_ENOUGH_REPLICAS: &str = "not enough replicas";
/// The answer of a master to a write after a failed save.
pub const SAVE_FAILED: &str = "no writes after a failed save";
/// The answer of a node of a cluster to a request of several keys whose slot is being moved.
pub const TRY_AGAIN: &str = "try again";
/// The answer of a replica to a write.
pub const READ_ONLY: &str = "read only";

/// Another holder has the lock; its key lives for so long, or for ever.
pub fn busy_for(remaining_ms: Option<i64>) -> String {
    match remaining_ms {
        Some(remaining_ms) => format!("busy, {remaining_ms} ms left"),
        None => "busy for ever".to_owned(),
    }
}

/// The lock is the caller's now, with this fencing token.
pub fn acquired_with(token: i64) -> String {
    format!("{ACQUIRED} with token {token}")
}

/// The counter of fencing tokens has this number; 0: there is none.
pub fn token_of(number: i64) -> String {
    if number == 0 { "no token".to_owned() } else { format!("token {number}") }
}

/// Of several locks, the leases of all but these were extended.
pub fn renewed_but_for(missed: &str) -> String {
    format!("{RENEWED} but for {missed}")
}

/// The answer to `WAIT`.
pub fn acknowledged(replicas: i64) -> String {
    format!("{replicas} have it")
}
