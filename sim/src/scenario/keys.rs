//! Every key of a scenario file: the accepted values, the meaning, and the default.

/// A key of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScenarioKey {
    /// The table that contains it; empty: before the first table.
    pub table: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The accepted values, in the same words as the reader's errors.
    pub takes: &'static str,
    /// The default; empty: the key is required.
    pub unless_said: &'static str,
    /// The meaning.
    pub means: &'static str,
}

/// Every table, in the order of the design page. The first one is the file itself.
pub const TABLES: [(&str, &str); 10] = [
    (TOP, "the scenario"),
    ("time", "leases, limits and periods, in ticks"),
    ("clients", "who asks"),
    ("cluster", "who stores"),
    ("network", "what lies between"),
    ("protocol", "in which dialect they speak: a profile, and switches that override it"),
    ("faults", "what may go wrong, and how often"),
    ("resource", "what the lock guards; without this table nobody looks, and no token is counted"),
    ("fairness", "what must happen at last"),
    ("expect", "what is claimed: for each property \"holds\", \"violated\" or \"vacuous\""),
];

/// The name of the part before the first table.
pub(super) const TOP: &str = "";

const BUDGET: &str = "a whole number from 0 to 8";
const TICKS: &str = "a whole number from 1 to 60";
const TICKS_OR_NONE: &str = "a whole number from 0 to 60";
const TICKS_OR_ANY: &str = "a whole number from 0 to 60, or \"any\"";
const FLAG: &str = "true or false";
const OF_PROFILE: &str = "as the profile says";

/// Every key, in the order of the design page. The keys of the claims are the properties' ids.
pub const KEYS: &[ScenarioKey] = &[
    key(TOP, "story", "text in quotes", "", "what happens there, in a sentence or two"),
    key(TOP, "lock", "\"plain\" or \"reentrant\"", "", "whose rules: `SET NX PX`, or Redisson's `RLock`"),
    key("time", "tick_ms", "a whole number from 1 to 3600000", "10000", "how long a tick is on a real server, ms"),
    key("time", "lease", TICKS, "", "how long a grant lives that is not renewed"),
    key("time", "renew_every", TICKS, "no watchdog: the caller has said how long", "how often the watchdog renews"),
    key("time", "wait_limit", TICKS_OR_NONE, "for ever", "how long a client waits to acquire; 0: it asks once"),
    key("time", "hold_at_most", TICKS, "at any time", "a holder releases at the latest after so long"),
    key("time", "answer_within", TICKS, "1", "how long a caller waits for an answer; of a split network"),
    key(
        "time",
        "receipt",
        TICKS,
        "as long as requests may be sent again",
        "TTL of a release receipt; of a split network",
    ),
    key("time", "jump", "a whole number from -15 to 15", "0", "how far a clock jumps ahead, or back below 0"),
    key("clients", "count", "a whole number from 1 to 4", "", "how many processes ask"),
    key("clients", "threads", "a whole number from 1 to 2", "1", "threads of each; a thread is what holds"),
    key("clients", "max_holds", "a whole number from 1 to 8", "1", "how often a thread may have entered at once"),
    key(
        "clients",
        "acquires",
        "a whole number from 1 to 100",
        "for ever",
        "how often each client may ask; it must be said where an answer can come too late (delay)",
    ),
    key("clients", "hold_for_ever", FLAG, "false", "a holder need never release; it matters to liveness only"),
    key("clients", "roles", "nothing yet", "all alike", "readers and writers, once there are read-write locks"),
    key("cluster", "groups", "a whole number from 1 to 5", "1", "independent masters; more than 1 is not modelled yet"),
    key("cluster", "replicas", "a whole number from 0 to 2", "0", "replicas of the master"),
    key(
        "cluster",
        "wait_for",
        "a whole number from 0 to 2",
        "0",
        "an acquire, and nothing else, asks how many replicas have its grant (`WAIT`), and gives it back if too few \
         (wait_rule) do; the answer comes at any moment of a tick, in a split network with that of the acquire",
    ),
    key(
        "cluster",
        "min_replicas",
        "a whole number from 0 to 2",
        "0",
        "a master writes only if it has heard of so many replicas lately (`min-replicas-to-write`)",
    ),
    key(
        "cluster",
        "min_replicas_max_lag_ticks",
        TICKS,
        "1 where min_replicas counts",
        "how long ago that may have been (`min-replicas-max-lag`)",
    ),
    key(
        "cluster",
        "lag",
        TICKS_OR_ANY,
        "\"any\"",
        "how long an effect may wait before its replica has it; 0: synchronous",
    ),
    key(
        "cluster",
        "ttls",
        "\"absolute\" or \"relative\"",
        "\"absolute\"",
        "how a TTL travels to a replica: as a time of day (since Redis 7.0), or as what is left of it",
    ),
    key(
        "cluster",
        "promote",
        "\"any\", \"most-data\", \"priority\" or \"coordinated\"",
        "\"any\"",
        "which replica takes over; coordinated: a hand-over waits until it has everything (`FAILOVER`)",
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
        "\"none\", \"everysec\" or \"always\"",
        "\"none\": it comes back empty",
        "what a node that died finds on its disk (`appendfsync`)",
    ),
    key("cluster", "restart_after", TICKS_OR_NONE, "0", "a node that died comes back after so long at the earliest"),
    key(
        "cluster",
        "lock_delay",
        TICKS_OR_NONE,
        "0",
        "a client that learns of a new master asks for the lock only after so long",
    ),
    key(
        "network",
        "mode",
        "\"atomic\" or \"split\"",
        "\"atomic\"",
        "whether a request, its execution and its answer are one step or three",
    ),
    key(
        "network",
        "delay",
        TICKS_OR_ANY,
        "0",
        "how late a message may be; of a split network also requests and replies",
    ),
    key(
        "protocol",
        "profile",
        "\"redisson-3.15\", \"redisson-4.7\" or \"lockstep\"",
        "\"redisson-4.7\"",
        "the set of switches that those below override",
    ),
    key("protocol", "receipts", FLAG, OF_PROFILE, "a release leaves a receipt, so that one sent again does no harm"),
    key(
        "protocol",
        "resend",
        "\"none\", \"release\" or \"all\"",
        "\"none\"",
        "which unanswered requests are sent again; of a split network",
    ),
    key("protocol", "retry_attempts", "a whole number from 1 to 4", "1", "how often; of a split network"),
    key(
        "protocol",
        "request_id",
        "\"per-release\" or \"per-try\"",
        OF_PROFILE,
        "whether a release that is sent again is known to be the same; of a split network",
    ),
    key(
        "protocol",
        "wait_rule",
        "\"any\" or \"all\"",
        OF_PROFILE,
        "how many must have acknowledged a grant: one, if the client knows of any replica (Redisson), or all of wait_for",
    ),
    key(
        "protocol",
        "renewal_timer",
        "\"per-lock\" or \"shared\"",
        OF_PROFILE,
        "whose timer renews: the lock's, the client's",
    ),
    key(
        "protocol",
        "missed_renewal",
        "\"lower-first\", \"stop-timer\" or \"tell-holder\"",
        OF_PROFILE,
        "what is done when a renewal is answered \"not yours\"",
    ),
    key(
        "protocol",
        "failed_renewal",
        "\"retry\" or \"forget\"",
        OF_PROFILE,
        "what is done when a renewal has no answer",
    ),
    key(
        "protocol",
        "registration",
        "\"before-answer\" or \"unordered\"",
        OF_PROFILE,
        "when a hold gets into the renewal table: before its caller hears of it, or as it happens; of a split network",
    ),
    key(
        "protocol",
        "interrupted_acquire",
        "\"keep\" or \"release\"",
        OF_PROFILE,
        "what becomes of a grant whose caller was interrupted; of a split network",
    ),
    key(
        "protocol",
        "stale_renewal",
        "\"believe\" or \"ignore\"",
        OF_PROFILE,
        "what the answer to a renewal does to holds that were registered after it was sent; of a split network",
    ),
    key("faults", "crash_client", BUDGET, "0", "a client dies for good"),
    key("faults", "crash_thread", BUDGET, "0", "a thread that holds or asks dies, its process lives"),
    key("faults", "pause_client", BUDGET, "0", "a client stands still for a while; its timers go overdue"),
    key("faults", "crash_node", BUDGET, "0", "a node dies"),
    key("faults", "restart_node", BUDGET, "0", "a node that died comes back, with what fsync left it"),
    key("faults", "cut_link", BUDGET, "0", "a node is cut off from the others; clients reach it"),
    key("faults", "clock_jump", BUDGET, "0", "the clock of a node jumps, by jump"),
    key("faults", "lose_request", BUDGET, "0", "a request never reaches its node; of a split network"),
    key("faults", "lose_reply", BUDGET, "0", "a reply never reaches its client; of a split network"),
    key("faults", "lose_message", BUDGET, "0", "an unlock message is lost"),
    key("faults", "foreign_release", BUDGET, "0", "a thread that does not hold releases all the same"),
    key("faults", "force_release", BUDGET, "0", "somebody deletes the lock whoever holds it"),
    key("faults", "vanish_key", BUDGET, "0", "the lock's key vanishes without a word: evicted, or deleted by hand"),
    key("faults", "interrupt", BUDGET, "0", "a thread is interrupted while it waits, asks or releases"),
    key("faults", "hand_over", BUDGET, "0", "a replica is made the master while the master runs: maintenance"),
    key(
        "faults",
        "client_clock_jump",
        BUDGET,
        "0",
        "the wall clock of a client jumps, by jump: it measures wait limits",
    ),
    key("resource", "fenced", FLAG, "false", "it refuses a fencing token older than one it has seen"),
    key(
        "fairness",
        "strong",
        FLAG,
        "false",
        "what can happen again and again must happen, even if it cannot all the time; it matters to liveness only",
    ),
];

const fn key(
    table: &'static str,
    name: &'static str,
    takes: &'static str,
    unless_said: &'static str,
    means: &'static str,
) -> ScenarioKey {
    ScenarioKey { table, name, takes, unless_said, means }
}

/// The keys allowed in that table; before the first table, table names as well.
pub(super) fn known(table: &str) -> Vec<&'static str> {
    let keys = KEYS.iter().filter(|key| key.table == table).map(|key| key.name);
    let tables = TABLES.iter().map(|(name, _)| *name).filter(|name| table == TOP && *name != TOP);
    keys.chain(tables).collect()
}
