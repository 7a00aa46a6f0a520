//! What there is: times, clients, nodes and the network.

use super::key::{FLAG, ScenarioKey, key, of_each};
use super::kinds::KINDS;
use super::tables::{CLIENT, TOP};

const TICKS: &str = "a whole number of ticks from 1 to 60";
const TICKS_OR_NONE: &str = "a whole number of ticks from 0 to 60";
const TICKS_OR_ANY: &str = "a whole number of ticks from 0 to 60, or \"any\"";
/// The length of a tick can follow from the other times of the file.
const ONE_TICK: &str = "1: one tick; where times have units, `lockstep explain FILE` says how long that is";

pub(super) const KEYS: &[ScenarioKey] = &[
    key(TOP, "story", "text in quotes", "", "what happens in this world, in a sentence or two"),
    key(
        TOP,
        "lock",
        KINDS,
        "",
        "the lock kind: each has a page in `docs/locks`, which says what Redis is told and what it does not do",
    ),
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
        "how long a client waits to acquire the lock; with 0 a refused client does not wait; of a redisson-red lock that needs most of its masters \
         a multiple of their number in ticks, and at each of them it waits for its share",
    )),
    of_each(key(
        "time",
        "hold_at_most",
        TICKS,
        "no bound",
        "a holder releases after this time at the latest, and then does not believe any more that it holds, whether or not its \
         master answers; if it is inside another lock() or unlock() at that time (max_holds above 1, or of the other side of a lock that has readers), its code cannot end before \
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
        "how often a waiter asks again, where no message wakes it (a plain lock), and the back-off of a spin lock",
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
        "queue_wait",
        TICKS,
        "none; a lock with a queue needs it, unless every client has a wait_limit",
        "for how long a waiter of a fair lock queues that has no wait_limit of its own: its deadline is so much later than that of \
         the one before it, and whoever acts after the deadline of a first one that is dead removes that (Redisson: \
         fairLockWaitTimeout, 300 s)",
    ),
    key(
        "time",
        "round_wait",
        TICKS,
        "none; a lock of several parts, or a redisson-red lock, needs it, unless every client that takes several has a wait_limit",
        "how long one round of a call takes that takes several parts, or asks several masters (redisson-red), and has no wait_limit: then it gives \
         back what it has, and begins anew (Redisson: 1.5 s for each part or master; of a call that names a lease a random time, \
         and after its first round a thousand times as long: see round_lease)",
    ),
    key(
        "time",
        "drift",
        TICKS_OR_NONE,
        "0",
        "by how much clocks may differ at the end of a lease: a red lock is valid for so much less, counted from when its client began to ask",
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
        "after_refusal",
        "\"leave\" or \"ask-if-held\"",
        "\"leave\"",
        "what a thread does that has no hold and whose call ends without the lock, because it is refused, its wait is over or a server does \
         not write: it goes on without the lock, or it asks first whether it holds (`isHeldByCurrentThread()`), and goes by the answer",
    ),
    key(
        "clients",
        "stops_at",
        "\"never\" or \"validity\"",
        "\"never\"",
        "whether a caller looks at its own clock: it never stops before its code ends, or it stops, and releases, when its lease is over \
         by a clock that never jumps (monotonic), counted from when it asked for the grant or sent the last renewal that \
         succeeded. A paused client looks when it runs again. It helps against a lease that ends, a slow reply and lost \
         renewals, and not against a pause, a write that is under way, a server's clock that jumps, or a server that loses the \
         lock (`lockstep explain plain-pause-beside-a-validity`)",
    ),
    key(
        "clients",
        "lock_objects",
        "\"per-call\" or \"shared\"",
        "\"per-call\"",
        "whether the threads of a client share one lock object: it remembers the lease that a granted call has named, and calls that \
         name none, and releases, bring that instead of the watchdog's",
    ),
    of_each(key(
        "clients",
        "parts",
        "\"in-order\", \"reversed\", \"first-only\" or \"second-only\"",
        "\"in-order\"",
        "which parts of a multi lock a client takes, and which one first; a client that takes one part uses it as a lock of its own",
    )),
    key(
        CLIENT,
        "role",
        "\"both\", \"reader\" or \"writer\"",
        "\"both\"",
        "whether this client of a read-write lock reads, writes, or does both with one thread of its application",
    ),
    key(
        CLIENT,
        "values",
        "a list of values, for example [1, 2]",
        "[1, 2]",
        "which values this client of a lock over several names: it takes all of them or none, and those that name different ones hold at once",
    ),
    key(
        CLIENT,
        "clock_ahead",
        TICKS_OR_NONE,
        "0",
        "how far the wall clock of this client is ahead of the right one, in a lock whose scripts are told what time it is there, and judge by \
         that whether the hold of another one is over, or its place in a queue",
    ),
    key(
        "cluster",
        "groups",
        "a whole number from 1 to 5",
        "1",
        "the number of independent masters on which a red lock is taken; other kinds have one",
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
         last read it, then the smallest run id, and passes over one that is slow to answer just then: whatever it chooses is \
         among what \"any\" allows, while \"most-data\" and \"priority\" are choices that an operator makes. With \
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
        "channels",
        "\"global\" or \"sharded\"",
        "none: required where a slot is moved and clients wait for messages",
        "to which channels unlock messages are published, where a slot is moved (move_slot): global ones (PUBLISH), whose subscriptions \
         outlive the move (Redisson 3.15, and each version on a server before Redis 7.0), or sharded ones (SPUBLISH; Redisson since 3.43 \
         on Redis 7.0 or newer): the old master ends the subscriptions, and clients that wait at that moment are not subscribed anew",
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
];
