//! What tells one grant from another: fencing tokens, and the values that acquires store.

use crate::config::sections::{Config, Fsync, Resource};
use crate::config::switches::{NoTtlAnswer, TokenRule, ValueRule};
use crate::reply::Reply;

impl Config {
    /// Whether the lock raises a counter in Redis with each grant.
    pub const fn issues_tokens(&self) -> bool {
        self.lock.facts().tokens.is_there()
    }

    /// Whether a resource checks the tokens that the lock stores in Redis.
    #[inline]
    pub fn has_stored_tokens(&self) -> bool {
        self.resource.is_some_and(Resource::is_fenced_by_stored) && self.issues_tokens()
    }

    /// Whether a client of this scenario is told its token with its grant.
    pub const fn tokens_come_with_grants(&self) -> bool {
        self.issues_tokens() && matches!(self.protocol.token, TokenRule::WithGrant)
    }

    /// Whether a client of this scenario reads its token from the counter after it was granted the lock.
    pub fn reads_tokens(&self) -> bool {
        self.has_stored_tokens() && matches!(self.protocol.token, TokenRule::ReadLater)
    }

    /// Whether the counter of tokens may be smaller than it was: lost with its node or by eviction, or behind on a replica that
    /// is promoted.
    pub(crate) const fn may_set_counter_back(&self) -> bool {
        self.can_fail_over() || self.can_restart() || self.faults.vanish_token > 0
    }

    /// Whether the numbers of tokens can make no difference beyond their order.
    pub(crate) fn leaves_out_token_numbers(&self) -> bool {
        self.issues_tokens() && !self.may_set_counter_back()
    }

    /// Whether a client takes this answer to its acquire for a grant that is none: where a token comes with each grant, a TTL of
    /// -1 looks like one (docs/facts/family.md#a-holder-without-a-ttl-looks-like-a-grant).
    pub(crate) const fn takes_for_grant(&self, reply: Reply) -> bool {
        matches!(reply, Reply::Busy { remaining_ticks: None })
            && self.tokens_come_with_grants()
            && matches!(self.protocol.no_ttl_answer, NoTtlAnswer::Grant)
    }

    /// Whether a caller may wait for replicas that has written nothing: it was refused, and takes that for a grant.
    pub(crate) const fn waits_for_nothing_of_its_own(&self) -> bool {
        self.cluster.wait_for > 0
            && self.faults.persist_key > 0
            && self.takes_for_grant(Reply::Busy { remaining_ticks: None })
    }

    /// Whether a grant that too few replicas have acknowledged stays as it is, and its caller is told an error: the calls that
    /// answer a token do not undo it (docs/facts/family.md#fenced-lock).
    pub const fn keeps_unacknowledged_grants(&self) -> bool {
        self.tokens_come_with_grants()
    }

    /// Whether it is remembered which of a holder's acquires a grant, a request or a hold is of. Elsewhere the number is 0: it
    /// could not be told.
    ///
    /// A holder asks again only when it has no hold. So a release, a renewal or a grant of an *earlier* acquire can meet a
    /// later one only
    /// - on its way, where requests are steps of their own;
    /// - in the data of a second node that becomes the master: the replica may not have heard of the release, nor of the new
    ///   grant, and its late effects are of either;
    /// - in the data that a node finds after a restart.
    ///
    /// With one node, requests in one step and no disk, what the node stores for a holder is always of its last acquire; nor
    /// does a thread without a hold find anything of its own there. And if each client acquires once, all values of a holder
    /// are one, unless a thread calls release without a hold: it then has no value to send.
    pub fn has_values(&self) -> bool {
        let is_unique = self.lock.facts().value.is_there() && matches!(self.protocol.value, ValueRule::PerAcquire);
        let finds_data = self.can_restart() && !matches!(self.cluster.fsync, Fsync::None);
        let is_late = self.is_split() || self.can_fail_over() || finds_data;
        let asks_again = self.some_client(|own| !matches!(own.clients.acquires, Some(..=1)));
        let has_several = asks_again || self.faults.foreign_release > 0;
        is_unique && is_late && has_several
    }
}
