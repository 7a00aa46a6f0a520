//! The keys, in the order of the design page.

use super::key::{FLAG, ScenarioKey};
use super::tables::{CLIENT, TOP};

const BUDGET: &str = "a whole number from 0 to 8";
const TICKS: &str = "a whole number of ticks from 1 to 60";
const TICKS_OR_NONE: &str = "a whole number of ticks from 0 to 60";
const TICKS_OR_ANY: &str = "a whole number of ticks from 0 to 60, or \"any\"";
/// The length of a tick can follow from the other times of the file.
const ONE_TICK: &str = "1: one tick; where times have units, `lockstep explain FILE` says how long that is";
const OF_PROFILE: &str = "the value of the profile";

/// Every key, in the order of the design page. The keys of the claims are the properties' ids.
pub const KEYS: &[ScenarioKey] = &[
    key(TOP, "story", "text in quotes", "", "what happens in this world, in a sentence or two"),
    key(TOP, "lock", "\"plain\" or \"reentrant\"", "", "the lock kind: `SET NX PX`, or Redisson's `RLock`"),
    key(
        "time",
        "tick_ms",
        "a whole number from 1 to 3600000",
        "10000; where times have units, the longest tick of which all are multiples",
        "the length of a tick in ms",
    ),
    of_each(key(
        "time",
        "lease",
        TICKS,
        "",
        "how long a grant lives if it is not renewed; at the instant at which it is due, whoever acts then may still find the \
         key or find it gone, and both are explored",
    )),
    of_each(key(
        "time",
        "reentry_lease",
        TICKS,
        "the same lease as every other, kept by the watchdog if there is one",
        "the lease of a call inside another one of the same thread, which names its own (`lock(lease)`): it replaces the TTL of \
         the whole lock, its release sets it again, and ends the renewal of the hold around it",
    )),
    key(
        "time",
        "named_lease",
        TICKS,
        "no thread names a lease that the others do not",
        "the lease that the first thread of each client names in all its calls (`lock(lease)`), beside other threads that name \
         none and are under the watchdog",
    ),
    of_each(key(
        "time",
        "renew_every",
        TICKS,
        "no watchdog: the lease is fixed",
        "how often the watchdog renews; a renewal that is sent at the very instant at which the lease is due may come too late",
    )),
    of_each(key(
        "time",
        "wait_limit",
        TICKS_OR_NONE,
        "no limit",
        "how long a client waits to acquire the lock; with 0 a refused client does not wait",
    )),
    of_each(key(
        "time",
        "hold_at_most",
        TICKS,
        "no bound",
        "a holder releases after this time at the latest, and then does not believe any more that it holds, whether or not its \
         master answers; if it is inside another lock() or unlock() at that time (max_holds above 1), its code cannot end before \
         that call does: it goes on believing until then, enters no more, and releases",
    )),
    of_each(key("time", "answer_within", TICKS, ONE_TICK, "how long a caller waits for an answer; in a split network")),
    of_each(key(
        "time",
        "receipt",
        TICKS,
        "as long as requests may be sent again",
        "the TTL of a release receipt; in a split network",
    )),
    key(
        "time",
        "poll_every",
        TICKS,
        ONE_TICK,
        "how often a waiter asks again, where no message wakes it (a plain lock)",
    ),
    key(
        "time",
        "ask_again_after",
        TICKS,
        ONE_TICK,
        "how long a waiter sleeps if it was told that the lock has no time left, and its key is still there",
    ),
    key(
        "time",
        "jump",
        "a whole number of ticks from -15 to 15",
        "0",
        "how far a clock jumps when clock_jump or client_clock_jump of [faults] happens: ahead, or back if it is negative \
         (-2, or \"-20s\"); at most 15 ticks",
    ),
    key(
        "clients",
        "count",
        "a whole number from 1 to 4",
        "the number of tables [[client]]; without any it is required",
        "the number of clients (processes)",
    ),
    key(
        "clients",
        "threads",
        "a whole number from 1 to 2",
        "1",
        "the number of threads of each client; a holder is one thread",
    ),
    key(
        "clients",
        "names",
        "a whole number from 1 to 2",
        "1",
        "the number of locks, each with a name of its own; with 2 each of the two threads of a client uses one of them",
    ),
    key(
        "clients",
        "max_holds",
        "a whole number from 1 to 8",
        "1",
        "the largest hold count: how often a holder may have entered",
    ),
    of_each(key(
        "clients",
        "acquires",
        "a whole number from 0 to 100",
        "no limit",
        "how often each client may ask for the lock, all its threads together; with 0 it never asks; it is required if an \
         answer can come too late (delay)",
    )),
    key(
        "clients",
        "hold_for_ever",
        FLAG,
        "false",
        "whether a holder may keep the lock for ever; this matters to liveness only",
    ),
    key(
        "clients",
        "interrupted_wait",
        "\"leave\" or \"swallow\"",
        "\"leave\"",
        "what an interrupt does to a waiter that is asleep: it leaves (`lockInterruptibly()`, `tryLock(wait)`), or the first one of each \
         sleep is swallowed and the sleep begins anew (`lock()`)",
    ),
    key(
        "clients",
        "lock_objects",
        "\"per-call\" or \"shared\"",
        "\"per-call\"",
        "whether the threads of a client share one lock object: it remembers the lease that a granted call has named, and calls that \
         name none, and releases, bring that instead of the watchdog's",
    ),
    key(
        CLIENT,
        "role",
        "nothing yet",
        "no role",
        "whether this client reads or writes; this is reserved for read-write locks",
    ),
    key(
        "cluster",
        "groups",
        "a whole number from 1 to 5",
        "1",
        "the number of independent masters; more than 1 is not modelled yet",
    ),
    key("cluster", "replicas", "a whole number from 0 to 2", "0", "the number of replicas of the master"),
    key(
        "cluster",
        "wait_for",
        "a whole number from 0 to 2",
        "0",
        "how many replicas must have a grant before the client believes it (`WAIT` after an acquire only); if fewer \
         acknowledge than wait_rule demands, the client releases the grant; the answer can arrive at any moment of a \
         tick, and in a split network together with the answer of the acquire",
    ),
    key(
        "cluster",
        "min_replicas",
        "a whole number from 0 to 2",
        "0",
        "a master writes only if it has recently heard of so many replicas (`min-replicas-to-write`); from Redis 7.0 on: \
         before, `SET` is refused and a script writes all the same",
    ),
    key(
        "cluster",
        "min_replicas_max_lag",
        TICKS,
        "1 if min_replicas is set: one tick; where times have units, `lockstep explain FILE` says how long that is",
        "the age up to which such news counts as recent (`min-replicas-max-lag`); a replica that is still copying counts only \
         by what it reported before",
    ),
    key(
        "cluster",
        "min_replicas_slack",
        TICKS_OR_NONE,
        "2 s if min_replicas is set, rounded up to a tick",
        "for how long after min_replicas_max_lag a master may still count a replica: it measures ages in whole seconds, and \
         counts once a second (with 1 s, a write was accepted after 2.1 s of silence); a real master may also refuse up to a \
         second before min_replicas_max_lag, because reports come once a second: that is not explored. Less than 2 s is less \
         than Redis takes",
    ),
    key(
        "cluster",
        "lag",
        TICKS_OR_ANY,
        "\"any\"",
        "how long an effect may take to reach a replica; 0 is synchronous replication to each replica that follows the master: \
         one that does not follow it yet has nothing",
    ),
    key(
        "cluster",
        "ttls",
        "\"absolute\" or \"relative\"",
        "\"absolute\"",
        "how a TTL is replicated: as an absolute time (since Redis 7.0), or as the remaining time",
    ),
    key(
        "cluster",
        "promote",
        "\"any\", \"most-data\", \"priority\", \"coordinated\" or \"forced\"",
        "\"any\"",
        "which replica is promoted. Sentinel chooses, of those that it reaches, by priority, then the largest offset as it \
         last read it, then the smallest run id; \"any\" allows more than that: whatever it chooses is among them. With \
         \"coordinated\", a hand-over waits until the replica has everything (`FAILOVER TO host port`), or is given up; every \
         write waits with it, renewals too (hand_over_timeout). With \"forced\" it waits for its time-out only, and then the \
         replica is promoted with what it has (`FAILOVER TO host port FORCE TIMEOUT ms`): writes that it lacks are lost",
    ),
    key(
        "cluster",
        "replicas_leave",
        "\"together\" or \"one-by-one\"",
        "\"together\"",
        "when the replicas that were not promoted leave the old master: all at once with the promotion, or each when it is \
         told; until then it follows the old master, if that runs: it acknowledges its writes, and the old master counts it \
         (`WAIT`, min_replicas); after a link that was broken, and before it is told, it takes the old master's data at once; \
         a replica that is dead meanwhile is told nothing, whatever this key says, and follows the old master after its restart",
    ),
    key(
        "cluster",
        "cut_together",
        "a list of nodes, for example [\"n2\"]",
        "[]: a node is cut off alone",
        "the replicas that a partition leaves on the side of their master: when the links of a master are cut (cut_link), they \
         go on following it and acknowledge its writes, are not promoted, and are reached again when it is; a partition inside \
         that side is not modelled",
    ),
    key(
        "cluster",
        "failover_within",
        TICKS_OR_ANY,
        "\"any\"",
        "how long a failover takes at most, until every running client knows the new master",
    ),
    key(
        "cluster",
        "fsync",
        "\"none\", \"snapshot\", \"everysec\" or \"always\"",
        "\"none\": the node restarts empty",
        "what a dead node finds on its disk: nothing, its last snapshot of any age (the default of Redis), or its AOF \
         (`appendfsync`); a node that saves nothing may still find the file of its last full copy, and is then one with \
         snapshots",
    ),
    key(
        "cluster",
        "fsync_within",
        TICKS_OR_NONE,
        "2 s with fsync = \"everysec\", rounded up to a tick",
        "with fsync = \"everysec\": how long a write may wait until it is on the disk; more than 1 s says that an fsync may \
         be slow, and then a killed process loses as much as its machine: with ticks of more than 1 s only 0 says that none is",
    ),
    key(
        "cluster",
        "aof_rewrite_within",
        TICKS_OR_NONE,
        "0: it takes no time",
        "with an AOF: how long its rewrite takes at most; until the rewrite after a full copy is over, the disk has the files \
         of before",
    ),
    key(
        "cluster",
        "no_appendfsync_on_rewrite",
        FLAG,
        "false",
        "with an AOF: nothing is synced to the disk while it is rewritten (`no-appendfsync-on-rewrite`)",
    ),
    key(
        "cluster",
        "shutdown_timeout",
        TICKS_OR_NONE,
        "0: it does not wait, as before Redis 7.0",
        "how long a master that is told to end waits for its replicas (`shutdown-timeout`); meanwhile it serves nobody",
    ),
    key(
        "cluster",
        "hand_over_timeout",
        TICKS_OR_ANY,
        "\"any\"",
        "for how long a master that hands over lets every write wait, renewals too (`FAILOVER … TIMEOUT`): then it gives up or, \
         with promote = \"forced\", the replica is promoted with what it has; \"any\": without `TIMEOUT` Redis waits for ever",
    ),
    key("cluster", "restart_after", TICKS_OR_NONE, "0", "how long a crashed node stays down at least"),
    key(
        "cluster",
        "lock_delay",
        TICKS_OR_NONE,
        "0",
        "how long a client that takes another node for the master than before waits before it asks for the lock; a process \
         that starts has no old master to compare with, so no lock delay begins there: see start_delay",
    ),
    key(
        "cluster",
        "start_delay",
        TICKS_OR_NONE,
        "0",
        "how long a client that starts (start_client of [faults]) waits, connected, before it first asks for the lock; with a \
         lock_delay, start_delay should be as long: a failover may have lost a grant just before the start. A failover while it \
         waits begins its lock delay; a program that sleeps before it connects sees none, so for it start_delay is 0",
    ),
    key(
        "cluster",
        "discovery",
        "\"new-master\" or \"any-master\"",
        "\"new-master\": a client that has left an old master never goes back to it",
        "which nodes a client may take for the master; with \"any-master\" it may go back to any node that says it is master, \
         at any moment and however long that node says so: by the answer of a sentinel that is not up to date, by a name or by \
         a fixed address (real sentinels end this sooner: after some seconds an old master that restarts is demoted)",
    ),
    key(
        "network",
        "mode",
        "\"atomic\" or \"split\"",
        "\"atomic\"",
        "whether a request, its execution and its answer are one step (\"atomic\") or three (\"split\")",
    ),
    key(
        "network",
        "delay",
        TICKS_OR_ANY,
        "0",
        "how late a message may arrive; in a split network this includes requests and replies",
    ),
    of_each(key(
        "protocol",
        "profile",
        "\"redisson-3.15\", \"redisson-3.43\", \"redisson-3.52\", \"redisson-4.3\", \"redisson-4.7\" or \"lockstep\"",
        "\"redisson-4.7\"",
        "the client library whose behaviour is modelled; the other switches override single parts of it",
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
        "\"throw\"",
        "what becomes of a request that a server refuses: it fails, or is sent again (Redisson); in a split network",
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
        "\"retry\" or \"forget\"",
        OF_PROFILE,
        "what the client does when a renewal has no answer",
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
        "\"per-acquire\"",
        "what a grant stores, for a kind that stores a value by which a release and a renewal find their own: a value that no \
         other acquire has, or the same for all acquires of a client's thread, so that a late release or renewal of an earlier \
         hold takes effect on the next one",
    ),
    of_each(key(
        "protocol",
        "subscribe_to",
        "\"master\" or \"replica\"",
        "\"master\"",
        "where a waiter subscribes to unlock messages (Redisson's subscriptionMode): on the first replica that runs a message \
         arrives with the replicated release, and never if a full copy of the data takes the place of that",
    )),
    key("faults", "crash_client", BUDGET, "0", "a client crashes for good"),
    key(
        "faults",
        "crash_thread",
        BUDGET,
        "0",
        "a thread that holds or asks for the lock dies, and its process lives on",
    ),
    key("faults", "pause_client", BUDGET, "0", "a client is paused for a while, and its timers become overdue"),
    key(
        "faults",
        "start_client",
        BUDGET,
        "0",
        "a client that was not there at the beginning starts, at any moment: so many clients, the last ones, are not there at \
         the beginning; a crashed client never starts again, and a process started in its place is another client",
    ),
    key(
        "faults",
        "crash_node",
        BUDGET,
        "0",
        "a node crashes with its machine: what is not on the disk is lost, and its master is not told",
    ),
    key(
        "faults",
        "kill_node",
        BUDGET,
        "0",
        "the process of a node is killed: with an AOF it loses nothing that it answered, unless an fsync may be slow \
         (`fsync_within`) or the AOF is being rewritten after a full copy",
    ),
    key(
        "faults",
        "shutdown_node",
        BUDGET,
        "0",
        "a node is told to end (SIGTERM): with snapshots or an AOF it saves everything before it ends",
    ),
    key("faults", "restart_node", BUDGET, "0", "a crashed node restarts with what fsync has saved"),
    key("faults", "cut_link", BUDGET, "0", "a node is cut off from the other nodes, but clients still reach it"),
    key(
        "faults",
        "break_link",
        BUDGET,
        "0",
        "the link between a replica and its master breaks, and both notice; the replica takes a full copy when it follows again, \
         and unlock messages that were under way to it are lost",
    ),
    key(
        "faults",
        "pause_node",
        BUDGET,
        "0",
        "a node stands still for a while and goes on (SIGSTOP, a VM that is paused or moved, swap, a fork, a slow script): in a \
         split network requests to it wait, are executed when it goes on, and before it counts its replicas anew; otherwise \
         it is as one that is down",
    ),
    key("faults", "clock_jump", BUDGET, "0", "the clock of a node jumps by `jump`"),
    key("faults", "lose_request", BUDGET, "0", "a request never reaches its node; in a split network"),
    key("faults", "lose_reply", BUDGET, "0", "a reply never reaches its client; in a split network"),
    key("faults", "lose_message", BUDGET, "0", "an unlock message is lost"),
    key("faults", "foreign_release", BUDGET, "0", "a thread that does not hold the lock sends a release"),
    key("faults", "force_release", BUDGET, "0", "a client deletes the lock, even if another client holds it"),
    key(
        "faults",
        "refuse_writes",
        BUDGET,
        "0",
        "a master refuses every write for a while and answers reads: its last save failed, as on a full disk (`MISCONF`, \
         stop-writes-on-bgsave-error); a refused write has no effect, and the client gets an error; no replica can begin to \
         follow it, and Sentinel may replace it. Memory that is full (`OOM`) is another fault: it lets `DEL` and `PEXPIRE` \
         pass, and is not modelled. Nor is a replica whose save fails: use crash_node for it",
    ),
    key(
        "faults",
        "vanish_key",
        BUDGET,
        "0",
        "the lock's key disappears without a message: it is evicted, or deleted by hand",
    ),
    key(
        "faults",
        "vanish_receipts",
        BUDGET,
        "0",
        "a master evicts the release receipts, all of them at once, and keeps the lock: a release that is sent again is executed \
         again; in a split network with receipts",
    ),
    key(
        "faults",
        "persist_key",
        BUDGET,
        "0",
        "the lock's key loses its TTL: an operator or a script sends PERSIST. It has one again after the next renewal or re-entry",
    ),
    key(
        "faults",
        "overwrite_key",
        BUDGET,
        "0",
        "another program stores a string under the name of a lock (SET): the lock is gone, and every script that looks into its \
         key fails; with two lock names",
    ),
    key("faults", "interrupt", BUDGET, "0", "a thread is interrupted while it waits, asks or releases"),
    key(
        "faults",
        "hand_over",
        BUDGET,
        "0",
        "a replica is promoted while the master still runs, for example for maintenance",
    ),
    key(
        "faults",
        "client_clock_jump",
        BUDGET,
        "0",
        "the wall clock of a client, which measures wait limits, jumps by `jump`",
    ),
    key(
        "resource",
        "fencing",
        "\"none\" or \"ideal\"",
        "\"none\"",
        "\"ideal\": the resource refuses a fencing token that is older than one it has seen; the tokens come from an ideal \
         counter outside this Redis, which no fault touches (one in the same Redis can be lost in a failover, and count the same number twice)",
    ),
    key(
        "resource",
        "delay",
        "\"none\" or \"any\"",
        "\"none\"",
        "\"any\": a write to the resource is sent in one step and arrives in another, after any time or never, also when its \
         client has released the lock, given up or crashed; \"none\": it arrives as it is sent",
    ),
    key(
        "fairness",
        "strong",
        FLAG,
        "false",
        "strong fairness: an action that is possible again and again must happen, even if it is not possible all the \
         time; this matters to liveness only",
    ),
    key(
        "bounds",
        "effects_under_way",
        "a whole number from 1 to 12",
        "4; in a split network with wait_for and relative ttls, as many as the acquires can need, up to 12",
        "how many effects may be under way to one replica",
    ),
    key(
        "bounds",
        "messages",
        "a whole number from 3 to 8",
        "3",
        "how many unlock messages may be under way to one client, and how many permits may wait for it",
    ),
    key(
        "bounds",
        "receipts",
        "a whole number from 1 to 8",
        "6",
        "how many release receipts a node may store at once; in a split network",
    ),
    key(
        "bounds",
        "late_requests",
        "a whole number from 1 to 4",
        "4",
        "how many requests of one client may be under way that their callers have abandoned; in a split network",
    ),
    key(
        "bounds",
        "registrations",
        "a whole number from 1 to 16",
        "3",
        "how many grants of one thread may be missing from its renewal table; in a split network",
    ),
    key(
        "bounds",
        "renewal_timers",
        "a whole number from 1 to 3",
        "3",
        "how many renewal timers of one client may run; with renewal_timer = \"multiplying\"",
    ),
];

const fn key(
    table: &'static str,
    name: &'static str,
    takes: &'static str,
    unless_said: &'static str,
    means: &'static str,
) -> ScenarioKey {
    ScenarioKey { table, name, takes, unless_said, means, is_of_client: false }
}

/// A key that a table of one client may have as well.
const fn of_each(key: ScenarioKey) -> ScenarioKey {
    ScenarioKey { is_of_client: true, ..key }
}
