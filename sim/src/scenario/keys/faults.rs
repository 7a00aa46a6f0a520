//! What may go wrong, and what is assumed of the rest.

use super::key::{FLAG, ScenarioKey, key};

const BUDGET: &str = "a whole number from 0 to 8";

pub(super) const KEYS: &[ScenarioKey] = &[
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
        "vanish_token",
        BUDGET,
        "0",
        "a master loses the counter of fencing tokens, and keeps the lock: the counter has no TTL, but an allkeys policy evicts it as \
         well, and somebody may delete it; with fencing = \"stored\"",
    ),
    key(
        "faults",
        "overwrite_key",
        BUDGET,
        "0",
        "another program stores a string under the name of a lock (SET): the lock is gone, and every script that looks into its \
         key fails; with two lock names",
    ),
    key(
        "faults",
        "lose_ask",
        BUDGET,
        "0",
        "a client of a red lock does not reach one of the masters, and goes on without it",
    ),
    key(
        "faults",
        "slow_reply",
        BUDGET,
        "0",
        "a master executes an ask of a red lock, and its reply comes any time later; until then the client waits",
    ),
    key(
        "faults",
        "late_ask",
        BUDGET,
        "0",
        "a client of a red lock gives up on a master while its ask is under way, and that arrives any time later, also when the lock was \
         released",
    ),
    key(
        "faults",
        "move_slot",
        "a whole number from 0 to 1",
        "0",
        "an operator moves the slot of the lock to another master of its cluster (`redis-cli --cluster reshard`): until that is over a \
         request that names several keys of which one does not exist, such as a release, is refused (`TRYAGAIN`; the caller gets an exception, in Redisson \
         after 5 to 6 s), and others are served, such as most acquires and renewals (docs/facts/cluster.md); what is \
         written once the keys have moved does not reach the replica of the old master, which knows nothing of the move if it is promoted. \
         Valkey 9, which tells its replicas of a move, and its moves in one step (`CLUSTER MIGRATESLOTS`) are not modelled",
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
        "\"none\", \"ideal\" or \"stored\"",
        "\"none\"",
        "\"ideal\": the resource refuses a fencing token that is older than one it has seen; the tokens come from an ideal \
         counter outside this Redis, which no fault touches; \"stored\": the same, and the tokens are those that the lock stores in \
         Redis, where a failover can lose the counter, and it counts the same number twice",
    ),
    key(
        "resource",
        "accepts",
        "\"equal-or-newer\" or \"newer\"",
        "\"equal-or-newer\"",
        "which tokens the resource accepts: those that are not smaller than the largest that it has accepted (>=), or those that are \
         larger (>), so that it accepts one write of each holder; with fencing = \"stored\"",
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
    key(
        "bounds",
        "tokens",
        "a whole number from 1 to 60",
        "60",
        "how many fencing tokens one counter may issue; with fencing = \"stored\"",
    ),
    key(
        "bounds",
        "holds",
        "a whole number from 1 to 60",
        "12",
        "how many holds of one thread a node may count, with those that its client has left behind; with a kind of lock that can \
         be entered twice",
    ),
];
