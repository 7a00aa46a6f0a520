//! Where a key is in a Redis Cluster: docs/facts/cluster.md#names-and-slots.

use crc::{CRC_16_XMODEM, Crc};

/// How many slots a cluster has.
pub const SLOTS: u16 = 16_384;

const CRC: Crc<u16> = Crc::<u16>::new(&CRC_16_XMODEM);

/// The slot of a key, or of a sharded channel: below [`SLOTS`]. Only its hash tag counts, if it has one.
pub fn slot_of(key: &str) -> u16 {
    CRC.checksum(hashed_part(key).as_bytes()) % SLOTS
}

/// What of a key its slot depends on.
pub(crate) fn hashed_part(key: &str) -> &str {
    hash_tag(key).unwrap_or(key)
}

/// What is between the first brace and the first closing one after it, unless that is nothing.
fn hash_tag(key: &str) -> Option<&str> {
    let (_, after) = key.split_once('{')?;
    let (tag, _) = after.split_once('}')?;
    (!tag.is_empty()).then_some(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the specification of Redis Cluster: the checksum of "123456789" is 0x31C3.
    #[test]
    fn the_slot_is_the_checksum_of_the_specification() {
        assert_eq!(slot_of("123456789"), 0x31C3);
    }

    /// The examples of the specification.
    #[test]
    fn only_the_first_pair_of_braces_with_something_between_them_is_a_hash_tag() {
        assert_eq!(hash_tag("{user1000}.following"), Some("user1000"));
        assert_eq!(hash_tag("foo{}{bar}"), None);
        assert_eq!(hash_tag("foo{{bar}}zap"), Some("{bar"));
        assert_eq!(hash_tag("foo{bar}{zap}"), Some("bar"));
        assert_eq!(hash_tag("a}b{c"), None);
    }
}
