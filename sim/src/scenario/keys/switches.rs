//! The client library: its profile and its switches.

use super::key::{FLAG, ScenarioKey, key, of_each};

const OF_PROFILE: &str = "the value of the profile";

pub(super) const KEYS: &[ScenarioKey] = &[
    of_each(key(
        "protocol",
        "profile",
        "\"redisson-3.15\", \"redisson-3.43\", \"redisson-3.52\", \"redisson-4.3\", \"redisson-4.7\", \"lockstep\", \"redis-py-8\", \
         \"redlock-5\", \"redlock-4\", \"redsync-4\", \"redislock-0.10\", \"shedlock-7\" or \"spring-integration-7\"",
        "\"redisson-4.7\"",
        "the client library whose behaviour is modelled; the other switches override single parts of it. Those that are neither \
         Redisson nor ours have the plain lock only (docs/locks/plain.md#what-libraries-do)",
    )),
    of_each(key(
        "protocol",
        "receipts",
        FLAG,
        OF_PROFILE,
        "whether a release leaves a receipt, which makes a resent release harmless",
    )),
    of_each(key(
        "protocol",
        "answered_receipt",
        "\"delete\" or \"keep\"",
        OF_PROFILE,
        "whether a client deletes the receipt of a release that was answered, or it stays until its TTL ends (Redisson 3.52, which \
         deletes a key of another name); nobody reads one where request and answer are one step",
    )),
    of_each(key(
        "protocol",
        "resend",
        "\"none\", \"release\" or \"all\"",
        "\"none\"",
        "which unanswered requests are sent again; in a split network",
    )),
    of_each(key(
        "protocol",
        "retry_attempts",
        "a whole number from 1 to 4",
        "1",
        "how often a request is sent again; in a split network",
    )),
    of_each(key(
        "protocol",
        "request_id",
        "\"per-release\" or \"per-try\"",
        OF_PROFILE,
        "whether a resent release has the same id as the first one; in a split network",
    )),
    of_each(key(
        "protocol",
        "wait_rule",
        "\"any\", \"all\" or \"ignored\"",
        OF_PROFILE,
        "how many replicas must have a grant: one, if any is known (Redisson 4.7), all of wait_for, or none (3.15)",
    )),
    of_each(key(
        "protocol",
        "wait_after",
        "\"grants\", \"grants-and-renewals\" or \"every-call\"",
        "\"grants\"",
        "behind which requests WAIT is sent: acquires; also renewals (atomic network, one replica); every request of a call (split network)",
    )),
    of_each(key(
        "protocol",
        "refused_call",
        "\"throw\" or \"retry\"",
        "the value of the profile where resend is \"all\" and there is no [resource], else \"throw\"",
        "what becomes of a request that a server refuses (NOREPLICAS, READONLY): it fails, or is sent again (Redisson since 3.43); in \
         a split network",
    )),
    of_each(key(
        "protocol",
        "unanswered_ask",
        "\"throw\" or \"refuse\"",
        OF_PROFILE,
        "what a caller with a wait_limit is told when it was refused once, asks again and has no answer in time: an exception, or \
         that it does not have the lock (Redisson 4.7); in a split network",
    )),
    of_each(key(
        "protocol",
        "renewal_timer",
        "\"per-lock\", \"shared\" or \"multiplying\"",
        OF_PROFILE,
        "whether each lock has its own renewal timer, all locks of a client share one, or one more starts whenever there is something \
         to renew again (Redisson since 3.44), which renews more often and loses nothing",
    )),
    of_each(key(
        "protocol",
        "renewal_batch",
        "a whole number from 1 to 100",
        OF_PROFILE,
        "with two lock names and one timer: how many locks one renewal carries before it is answered",
    )),
    of_each(key(
        "protocol",
        "missed_renewal",
        "\"lower-first\", \"stop-timer\", \"forget\" or \"tell-holder\"",
        OF_PROFILE,
        "what the client does when a renewal is answered with \"not the holder\"",
    )),
    of_each(key(
        "protocol",
        "failed_renewal",
        "\"retry\", \"forget\" or \"release\"",
        OF_PROFILE,
        "what the client does when a renewal has no answer, or an error: it tries again, never renews the lock again, or sends a release of it \
         and tries again (redlock 4: the plain lock on a split network)",
    )),
    of_each(key(
        "protocol",
        "remembered_lease",
        "\"until-released\" or \"for-good\"",
        OF_PROFILE,
        "for how long a lock object that threads share remembers a lease: until one of its releases leaves no hold, finds none or \
         ends in an error, or for good (Redisson 3.15)",
    )),
    of_each(key(
        "protocol",
        "refused_lease",
        "\"remembered\" or \"ignored\"",
        OF_PROFILE,
        "what a lock object that threads share remembers of a call that names its lease and is refused, where clients spin: that lease \
         (Redisson), or nothing",
    )),
    of_each(key(
        "protocol",
        "round_lease",
        "\"multiplied\" or \"kept\"",
        OF_PROFILE,
        "by which lease a call of a multi or redisson-red lock goes on after its first round, if it names one and has no wait_limit: a thousand times \
         as long, which a round then also takes, so that it does not end by itself here (Redisson, of a lease that is named in seconds), or the \
         one that it names",
    )),
    of_each(key(
        "protocol",
        "final_lease",
        "\"any-hold\" or \"own-hold\"",
        OF_PROFILE,
        "whose hold of a part gets the lease that a call of a multi lock names, when it has all parts (of a redisson-red lock: on a master, when \
         it has those that it needs): whatever hold is there by then \
         (Redisson), or its own only",
    )),
    of_each(key(
        "protocol",
        "failed_part",
        "\"stops\" or \"goes-on\"",
        OF_PROFILE,
        "what unlock() of a multi lock does when the release of one part fails: it leaves the parts that come after (Redisson), or \
         releases them all the same; so of a lock on several masters that needs all of them (needed_masters)",
    )),
    of_each(key(
        "protocol",
        "needed_masters",
        "\"most\" or \"all\"",
        "\"most\"",
        "on how many masters a call of a redisson-red lock must have it: most of them (RedissonRedLock), or every one (RedissonMultiLock \
         over clients of several masters), whose unlock() stops at the first master that fails (failed_part)",
    )),
    of_each(key(
        "protocol",
        "interrupted_call",
        "\"goes-on\" or \"ends\"",
        OF_PROFILE,
        "what an interrupt does to a call of a multi lock that waits for a part: the call takes it for a refusal, and tells nobody \
         (Redisson), or gives back what it has, and ends with an exception",
    )),
    of_each(key(
        "protocol",
        "elapsed_time",
        "\"checked\" or \"ignored\"",
        OF_PROFILE,
        "whether a client of a red lock that most masters have granted looks at the time that this took: it holds only if something is left \
         of the lease without the drift (the algorithm as published), or in any case (Redisson)",
    )),
    of_each(key(
        "protocol",
        "partial_release",
        "\"lower\" or \"ignore\"",
        OF_PROFILE,
        "whether a release that leaves a hold lowers the count in the renewal table, or the table goes on to count a hold that is \
         gone (Redisson 3.43), and renews on behalf of its thread instead of the one that holds",
    )),
    of_each(key(
        "protocol",
        "registration",
        "\"before-answer\" or \"unordered\"",
        OF_PROFILE,
        "whether a hold is in the renewal table before its caller has the answer, or possibly later; in a split \
         network",
    )),
    of_each(key(
        "protocol",
        "interrupted_acquire",
        "\"renew\", \"keep\" or \"release\"",
        OF_PROFILE,
        "whether a grant whose caller was interrupted is renewed for ever (Redisson), kept until its lease ends, or released; in a \
         split network",
    )),
    of_each(key(
        "protocol",
        "stale_renewal",
        "\"believe\" or \"ignore\"",
        OF_PROFILE,
        "whether the answer to a renewal counts for holds that were registered after it was sent; in a split network",
    )),
    key(
        "protocol",
        "value",
        "\"per-acquire\" or \"per-client\"",
        OF_PROFILE,
        "what a grant stores, for a kind that stores a value by which a release and a renewal find their own: a value that no \
         other acquire has, or the same for all acquires of a client's thread, so that a late release or renewal of an earlier \
         hold takes effect on the next one",
    ),
    key(
        "protocol",
        "acquire",
        "\"set-nx-px\", \"setnx-expire\" or \"own-or-free\"",
        OF_PROFILE,
        "how an acquire takes the lock, for a kind that can be taken in several ways: one command writes the key and its TTL; or \
         SETNX writes the key and a PEXPIRE after its answer the TTL, so that the lock of a client that ends in between has none; \
         or a script takes a free lock, and one that has the caller's own value already, so that an acquire may be sent again",
    ),
    key(
        "protocol",
        "release",
        "\"compare\" or \"delete\"",
        OF_PROFILE,
        "how a release finds that the lock is its own, for a kind with a bare release: it compares the value that its acquire has \
         stored, or it does not, and deletes the lock of whoever holds it",
    ),
    key(
        "protocol",
        "extend",
        "\"compare\" or \"overwrite\"",
        OF_PROFILE,
        "how an extension of the lease finds that the lock is its own, for a kind with a bare one: it compares the value that its \
         acquire has stored, or it does not, and stores its own value and lease in the lock of whoever holds it",
    ),
    key(
        "protocol",
        "read_release",
        "\"ends-write-renewal\" or \"own-renewal\"",
        OF_PROFILE,
        "what the release of a reader does to the renewal of the write lock that the same thread has: it takes one hold of that out of \
         the table of the watchdog as well (Redisson 3.52 to 4.7), or nothing",
    ),
    key(
        "protocol",
        "read_renewal",
        "\"own-holds\", \"all-holds\" or \"fails-nested\"",
        OF_PROFILE,
        "which holds the renewal of a reader renews beside the lock: its own (Redisson 4.7), those of all readers (3.43 and 4.3), or those \
         of all readers up to the first who has entered twice, where its script ends with an error (3.52)",
    ),
    key(
        "protocol",
        "downgrade",
        "\"silent\" or \"publishes\"",
        OF_PROFILE,
        "whom a writer tells that releases the write lock and reads on, so that other readers may join it: nobody (Redisson), or all who \
         wait, by the message of a release",
    ),
    key(
        "protocol",
        "interrupted_waiter",
        "\"stays-queued\" or \"leaves-queue\"",
        OF_PROFILE,
        "what becomes of the place in the queue of a waiter that is interrupted and leaves, for a kind with a queue: it stays until its \
         deadline (Redisson), or the waiter takes it away, as one whose limit is over",
    ),
    of_each(key(
        "protocol",
        "token",
        "\"with-grant\" or \"read-later\"",
        OF_PROFILE,
        "when a client learns its fencing token, for a kind that stores some: with its grant (lockAndGetToken), or by a request of its \
         own before its first write (getToken), which reads the newest one, of whomever",
    )),
    of_each(key(
        "protocol",
        "no_ttl_answer",
        "\"grant\" or \"refusal\"",
        OF_PROFILE,
        "what a client makes of the answer that somebody holds the lock, and that it has no TTL, where a token comes with each grant: \
         a grant with the token -1 (Redisson), or a refusal",
    )),
    of_each(key(
        "protocol",
        "held_query",
        "\"later-values\" or \"every-value\"",
        OF_PROFILE,
        "which values are checked when a client asks whether it holds a lock over several (after_refusal): those from the second one on in \
         the order in which they are sent, so that a client of one value is told yes as soon as anybody has a value (Redisson), or every one",
    )),
    of_each(key(
        "protocol",
        "subscribe_to",
        "\"master\" or \"replica\"",
        "\"master\"",
        "where a waiter subscribes to unlock messages (Redisson's subscriptionMode): on the first replica that runs a message \
         arrives with the replicated release, and never if a full copy of the data takes the place of that",
    )),
];
