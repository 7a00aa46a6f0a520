//! The keys of a drawn scenario: which values, how often, and beside what.

use super::said::Said;

/// How a key is generated.
#[derive(Clone, Copy)]
pub(super) struct DrawnKey {
    pub(super) key: &'static str,
    /// The values as written in the file; a value listed twice is twice as frequent.
    pub(super) values: &'static [&'static str],
    /// The percentage of scenarios that contain the key, among those in which it has a meaning.
    pub(super) often: u16,
    /// Whether the key has a meaning beside the keys chosen so far.
    pub(super) goes_with: fn(&Said) -> bool,
}

pub(super) const fn always(key: &'static str, values: &'static [&'static str]) -> DrawnKey {
    row(key, values, 100, |_| true)
}

pub(super) const fn row(
    key: &'static str,
    values: &'static [&'static str],
    often: u16,
    goes_with: fn(&Said) -> bool,
) -> DrawnKey {
    DrawnKey { key, values, often, goes_with }
}

const FLAG: &[&str] = &["false", "true"];
const TICKS: &[&str] = &["1", "2", "3"];
const TICKS_OR_NONE: &[&str] = &["0", "1", "2", "3"];
const TICKS_OR_ANY: &[&str] = &["0", "1", "2", "\"any\""];
const BUDGET: &[&str] = &["1", "1", "2"];

const OF_ONE_KEY: &[&str] = &[
    "\"redis-py-8\"",
    "\"redlock-5\"",
    "\"redsync-4\"",
    "\"redislock-0.10\"",
    "\"shedlock-7\"",
    "\"spring-integration-7\"",
];

/// Those that know a lock of several parts and are modelled beside it.
pub(super) const OF_PARTS: &[&str] =
    &["\"redisson-3.43\"", "\"redisson-3.52\"", "\"redisson-4.3\"", "\"redisson-4.7\""];

const PROFILES: &[&str] = &[
    "\"redisson-3.15\"",
    "\"redisson-3.43\"",
    "\"redisson-3.52\"",
    "\"redisson-4.3\"",
    "\"redisson-4.7\"",
    "\"lockstep\"",
];

/// Every key, each after the keys it depends on.
pub(super) const ROWS: &[DrawnKey] = &[
    always("story", &["\"A world that nobody thought of.\""]),
    // The words are the names of the kinds: see `lock_words`.
    always("lock", &[]),
    row("mode", &["\"split\"", "\"split\"", "\"split\"", "\"atomic\""], 50, |said| {
        !said.queues() && !said.shares() && !said.issues_tokens() && !said.spins() && !said.reads_caller_clock()
    }),
    row("delay", &["0", "\"any\"", "\"any\""], 30, |_| true),
    row("delay", &["1", "2"], 15, Said::is_split),
    row("profile", &["\"redlock-4\""], 10, |said| said.lock().value.is_there()),
    row("profile", OF_ONE_KEY, 20, |said| said.lock().value.is_there() && !said.has("profile")),
    row("profile", OF_PARTS, 60, Said::has_parts),
    row("profile", &["\"lockstep\""], 100, Said::asks_in_rounds),
    row("profile", OF_PARTS, 60, Said::asks_master_locks),
    row("profile", PROFILES, 60, |said| !said.names_values() && !said.has_parts() && !said.asks_masters()),
    row(
        "profile",
        &["\"redisson-3.52\"", "\"redisson-4.3\"", "\"redisson-4.7\"", "\"lockstep\""],
        60,
        Said::names_values,
    ),
    // Clients and their times.
    always("count", &["1", "2", "2", "2", "2", "3", "4"]),
    row("threads", &["1", "2", "2", "2"], 20, |said| !said.queues() && !said.shares() && !said.names_values()),
    row("threads", &["2"], 100, Said::shares),
    row("threads", &["2"], 30, Said::spins),
    row("max_holds", &["1", "2", "2", "3"], 30, Said::reenters),
    row("acquires", TICKS, 100, Said::names_values),
    row("acquires", TICKS, 80, Said::has_parts),
    row("acquires", TICKS, 40, |_| true),
    row("acquires", TICKS, 90, |said| said.is_split() && said.some("delay")),
    row("tick_ms", &["1", "1000", "2000", "60000", "3600000"], 8, |_| true),
    always("lease", &["1", "2", "2", "3", "3", "4"]),
    row("reentry_lease", TICKS, 40, |said| {
        said.has("max_holds")
            && !said.is("max_holds", "1")
            && !said.shares()
            && !said.issues_tokens()
            && !said.names_values()
    }),
    row("renew_every", &["1"], 35, |_| true),
    row("renew_every", &["2", "3"], 15, |said| !said.is("lease", "1")),
    row("named_lease", TICKS, 30, |said| {
        said.is("threads", "2")
            && said.has("renew_every")
            && !said.has("reentry_lease")
            && !said.has_names()
            && !said.shares()
            && !said.issues_tokens()
            && !said.stores_grants()
    }),
    // What a refused call leaves in one is of this kind alone.
    row("named_lease", TICKS, 60, |said| {
        said.spins() && said.is("threads", "2") && said.has("renew_every") && !said.has("reentry_lease")
    }),
    row("lock_objects", &["\"shared\""], 80, |said| {
        said.spins() && said.has("renew_every") && (said.has("named_lease") || said.has("reentry_lease"))
    }),
    row("lock_objects", &["\"shared\"", "\"shared\"", "\"per-call\""], 60, |said| {
        said.has("renew_every") && !said.has_names() && (said.has("named_lease") || said.has("reentry_lease"))
    }),
    row("remembered_lease", &["\"until-released\"", "\"for-good\""], 40, |said| said.is("lock_objects", "\"shared\"")),
    row("refused_lease", &["\"remembered\"", "\"ignored\""], 80, |said| {
        said.is("lock_objects", "\"shared\"") && said.spins()
    }),
    // A call waits at each master for its share, in whole ticks. Without a limit it has rounds.
    row("wait_limit", &["0", "0", "0", "6"], 85, |said| said.asks_master_locks() && !said.has("max_holds")),
    row("wait_limit", &["0"], 100, |said| said.asks_master_locks() && said.has("max_holds")),
    row("wait_limit", &["0", "0", "1", "2", "3", "4"], 70, |said| !said.spins() && !said.asks_master_locks()),
    row("wait_limit", &["0", "1", "2", "3", "4"], 80, |said| said.spins() && !said.is("profile", "\"redisson-3.15\"")),
    row("hold_at_most", TICKS, 40, |_| true),
    row("poll_every", TICKS, 20, |said| !said.publishes() && !said.spins()),
    row("poll_every", TICKS, 60, Said::spins),
    row("ask_again_after", TICKS, 8, Said::publishes),
    row("queue_wait", &["1", "2", "3", "5"], 100, Said::queues),
    row("round_wait", &["1", "1", "2", "3"], 100, |said| said.takes_in_rounds() && said.has_parts()),
    row("round_wait", &["6"], 100, |said| said.takes_in_rounds() && said.asks_master_locks()),
    row("round_lease", &["\"multiplied\"", "\"kept\"", "\"kept\""], 60, |said| {
        said.takes_in_rounds() && !said.has("renew_every")
    }),
    row("final_lease", &["\"any-hold\"", "\"own-hold\""], 40, |said| {
        (said.has_parts() || said.asks_master_locks()) && !said.has("renew_every")
    }),
    row("needed_masters", &["\"most\"", "\"all\"", "\"all\""], 40, Said::asks_master_locks),
    row("failed_part", &["\"stops\"", "\"goes-on\""], 40, |said| {
        said.has_parts() || said.is("needed_masters", "\"all\"")
    }),
    row("hold_for_ever", FLAG, 5, |said| !said.has("hold_at_most") && !said.shares()),
    // Nodes and their faults.
    row("groups", &["2", "3", "3", "3", "3", "5"], 100, |said| said.asks_masters() && !said.waits_at_masters()),
    row("groups", &["2", "3"], 100, Said::waits_at_masters),
    row("groups", &["1"], 2, |said| !said.asks_masters()),
    // Five masters with replicas are left out for their size.
    row("replicas", &["1"], 25, |said| said.asks_masters() && !said.is("groups", "5") && !said.waits_at_masters()),
    row("drift", &["0", "1"], 40, |said| said.asks_masters() && !said.is("lease", "1")),
    row("elapsed_time", &["\"checked\"", "\"ignored\""], 40, Said::asks_masters),
    row("lose_ask", BUDGET, 30, Said::asks_masters),
    row("slow_reply", BUDGET, 30, Said::asks_masters),
    row("late_ask", BUDGET, 30, Said::asks_masters),
    row("replicas", &["0", "1", "1", "1", "2", "2"], 70, |said| !said.asks_masters()),
    row("crash_node", BUDGET, 30, Said::may_lose_a_release),
    row("kill_node", BUDGET, 15, Said::may_lose_a_release),
    row("shutdown_node", BUDGET, 15, Said::may_lose_a_release),
    row("shutdown_timeout", TICKS, 40, |said| {
        said.some("shutdown_node") && said.some("replicas") && !said.has("tick_ms")
    }),
    row("restart_node", &["1"], 40, |said| {
        said.some("crash_node") || said.some("kill_node") || said.some("shutdown_node")
    }),
    row("restart_node", &["2"], 10, |said| said.some("crash_node")),
    row("cut_link", BUDGET, 25, |said| said.some("replicas") && said.may_lose_a_release()),
    row("break_link", BUDGET, 12, |said| said.some("replicas") && said.may_lose_a_release()),
    row("pause_node", BUDGET, 15, Said::may_lose_a_release),
    row("hand_over", BUDGET, 20, |said| said.some("replicas") && said.may_lose_a_release()),
    row("lag", TICKS_OR_ANY, 40, |said| said.some("replicas")),
    row("ttls", &["\"absolute\"", "\"relative\""], 15, |said| said.some("replicas") && !said.shares()),
    row("promote", &["\"any\"", "\"most-data\"", "\"priority\""], 30, |said| said.some("replicas")),
    row("promote", &["\"coordinated\"", "\"forced\""], 40, |said| said.some("hand_over") && !said.asks_masters()),
    row("hand_over_timeout", TICKS_OR_ANY, 40, |said| {
        said.is("promote", "\"coordinated\"") || said.is("promote", "\"forced\"")
    }),
    row("replicas_leave", &["\"one-by-one\"", "\"one-by-one\"", "\"together\""], 40, |said| {
        let is_left_alive = said.some("cut_link")
            || said.some("hand_over") && !said.is("promote", "\"coordinated\"") && !said.is("promote", "\"forced\"");
        said.is("replicas", "2") && (is_left_alive || said.some("restart_node"))
    }),
    row("cut_together", &["[\"n2\"]", "[\"n3\"]", "[\"n2\", \"n3\"]"], 30, |said| {
        let is_ranked = said.is("promote", "\"most-data\"");
        said.is("replicas", "2") && said.some("cut_link") && !said.some("restart_node") && !is_ranked
    }),
    row("failover_within", TICKS_OR_ANY, 25, |said| said.some("replicas")),
    row(
        "fsync",
        &["\"none\"", "\"snapshot\"", "\"everysec\"", "\"everysec\"", "\"always\"", "\"always\""],
        70,
        |said| said.some("restart_node"),
    ),
    row("fsync_within", TICKS_OR_NONE, 20, |said| said.is("fsync", "\"everysec\"")),
    row("aof_rewrite_within", TICKS, 30, |said| {
        said.some("replicas") && (said.is("fsync", "\"everysec\"") || said.is("fsync", "\"always\""))
    }),
    row("no_appendfsync_on_rewrite", FLAG, 30, |said| said.some("aof_rewrite_within")),
    row("restart_after", TICKS_OR_NONE, 30, |said| said.some("restart_node")),
    row("lock_delay", TICKS_OR_NONE, 25, |said| {
        said.some("replicas")
            && ["crash_node", "kill_node", "shutdown_node", "cut_link", "pause_node", "hand_over"]
                .iter()
                .any(|fault| said.some(fault))
    }),
    row("discovery", &["\"new-master\""], 3, |said| said.some("replicas")),
    row("discovery", &["\"any-master\""], 40, |said| {
        let is_left = said.some("hand_over") && !said.is("promote", "\"coordinated\"");
        let has_end = said.has("acquires") || said.stores_values();
        said.some("replicas") && has_end && (said.some("restart_node") || said.some("cut_link") || is_left)
    }),
    row("min_replicas", &["0", "1", "1", "1"], 30, |said| {
        said.some("replicas") && !said.is("tick_ms", "1") && !said.is("ttls", "\"relative\"")
    }),
    row("min_replicas", &["2"], 15, |said| {
        said.is("replicas", "2") && !said.is("tick_ms", "1") && !said.is("ttls", "\"relative\"")
    }),
    row("min_replicas_max_lag", TICKS, 40, |said| said.some("min_replicas")),
    row("min_replicas_slack", TICKS_OR_NONE, 30, |said| said.some("min_replicas")),
    row("wait_for", &["0", "1", "1", "1"], 30, |said| said.some("replicas") && !said.shares() && !said.names_values()),
    row("wait_rule", &["\"any\"", "\"all\"", "\"ignored\""], 60, |said| said.some("wait_for")),
    // Where the profile ignores the answer to `WAIT`, the file has to say what it means.
    row("wait_rule", &["\"all\"", "\"ignored\""], 100, |said| {
        said.some("wait_for") && said.is("profile", "\"redisson-3.15\"") && !said.has("wait_rule")
    }),
    row("wait_for", &["2"], 30, |said| {
        said.is("replicas", "2") && said.waits_for_all() && !said.shares() && !said.names_values()
    }),
    // Several locks, and what does not say which of them.
    row("names", &["2"], 70, |said| {
        let is_alone = !said.is_split() && !said.waits() && !said.some("replicas");
        is_alone && said.is("threads", "2") && said.lock().names.is_there()
    }),
    row("overwrite_key", BUDGET, 60, Said::has_names),
    row("renew_every", &["1"], 80, |said| said.has_names() && !said.has("renew_every")),
    // Other faults.
    row("crash_client", BUDGET, 12, |_| true),
    row("crash_thread", BUDGET, 12, |said| !said.shares()),
    row("pause_client", BUDGET, 12, |_| true),
    row("start_client", &["1"], 15, |said| !said.is("count", "1")),
    row("start_client", &["2"], 5, |said| said.is("count", "3")),
    row("start_delay", TICKS_OR_NONE, 40, |said| said.some("start_client")),
    row("lose_request", BUDGET, 25, Said::is_split),
    row("lose_reply", BUDGET, 25, Said::is_split),
    row("lose_message", BUDGET, 12, |said| said.publishes() && said.waits()),
    row("foreign_release", BUDGET, 12, |_| true),
    row("force_release", BUDGET, 12, |said| said.can_be_forced() && !said.has_names()),
    row("interrupt", BUDGET, 15, |said| {
        (said.is_split() || said.waits()) && said.may_lose_a_release() && !said.names_values()
    }),
    row("interrupted_wait", &["\"leave\"", "\"swallow\"", "\"swallow\""], 50, |said| {
        said.some("interrupt")
            && said.publishes()
            && !said.has("wait_limit")
            && !said.some("wait_for")
            && !said.has("jump")
    }),
    row("vanish_key", BUDGET, 8, |said| !said.has_names()),
    row("refuse_writes", BUDGET, 12, Said::may_lose_a_release),
    row("persist_key", BUDGET, 10, |said| !said.has_names() && !said.queues() && !said.shares()),
    row("clock_jump", BUDGET, 8, |said| !said.has_names()),
    row("client_clock_jump", BUDGET, 10, |said| {
        said.has("wait_limit") && said.waits() && !said.queues() && !said.reads_caller_clock()
    }),
    row("after_refusal", &["\"leave\"", "\"ask-if-held\"", "\"ask-if-held\""], 50, |said| {
        said.names_values() && said.has("wait_limit")
    }),
    row("held_query", &["\"later-values\"", "\"every-value\""], 50, |said| said.is("after_refusal", "\"ask-if-held\"")),
    row("stops_at", &["\"never\"", "\"validity\"", "\"validity\""], 20, |said| {
        let others = ["named_lease", "reentry_lease", "hold_for_ever"];
        let has_watchdogs = said.asks_master_locks() && said.has("renew_every");
        let asks = said.is("after_refusal", "\"ask-if-held\"");
        !others.iter().any(|key| said.has(key)) && !has_watchdogs && !asks
    }),
    row("jump", &["1", "2", "4", "-1", "-2", "-4", "15", "-15"], 100, |said| {
        said.some("clock_jump") || said.some("client_clock_jump")
    }),
    row("fencing", &["\"none\"", "\"ideal\""], 30, |said| {
        !said.has_names() && !said.shares() && !said.issues_tokens() && !said.names_values()
    }),
    row("fencing", &["\"stored\"", "\"stored\"", "\"none\"", "\"ideal\""], 60, Said::issues_tokens),
    row("accepts", &["\"equal-or-newer\"", "\"newer\""], 40, Said::checks_tokens),
    row("vanish_token", BUDGET, 25, Said::checks_tokens),
    row("resource.delay", &["\"none\"", "\"any\""], 50, |said| said.has("fencing")),
    row("strong", FLAG, 5, |_| true),
    // Protocol profile and overrides.
    row("receipts", FLAG, 25, |said| {
        (said.can_leave_receipts() || !said.is_split()) && !said.shares() && !said.names_values()
    }),
    row("receipts", &["true"], 100, |said| said.shares() && said.is("profile", "\"redisson-3.15\"")),
    row("vanish_receipts", BUDGET, 20, |said| said.is_split() && said.can_leave_receipts() && said.has_receipts()),
    row("resend", &["\"none\""], 10, |_| true),
    row("resend", &["\"release\"", "\"all\"", "\"all\""], 60, |said| {
        said.is_split() && !said.is("profile", "\"redlock-4\"")
    }),
    row("refused_call", &["\"throw\"", "\"retry\"", "\"retry\""], 40, |said| {
        said.is_split() && said.has("resend") && !said.is("resend", "\"none\"") && !said.has("fencing")
    }),
    row("unanswered_ask", &["\"throw\"", "\"refuse\""], 30, |said| {
        said.is_split() && said.waits() && said.has("wait_limit") && !said.is("lock", "\"plain\"")
    }),
    row("wait_after", &["\"every-call\"", "\"every-call\""], 100, |said| {
        said.is_split() && said.some("wait_for") && said.is("count", "1") && !said.is("threads", "2")
    }),
    row("wait_after", &["\"grants-and-renewals\"", "\"grants-and-renewals\"", "\"grants\""], 60, |said| {
        !said.is_split() && said.some("wait_for") && said.has("renew_every") && said.is("replicas", "1")
    }),
    row("retry_attempts", TICKS, 40, |said| said.has("resend") && !said.is("resend", "\"none\"")),
    row("answer_within", TICKS, 25, Said::is_split),
    row("receipt", &["1", "1", "2", "3", "4"], 20, |said| said.is_split() && said.has_receipts()),
    row("request_id", &["\"per-release\"", "\"per-try\""], 25, |said| said.is_split() && said.has_receipts()),
    row("renewal_timer", &["\"per-lock\"", "\"shared\""], 20, |said| said.has("renew_every")),
    row("renewal_batch", &["1", "2"], 80, |said| {
        let is_shared = said.is("renewal_timer", "\"shared\"") || !said.has("renewal_timer") && said.shares_a_timer();
        said.has("renew_every") && said.has_names() && is_shared
    }),
    row("renewal_timer", &["\"multiplying\""], 10, |said| {
        said.has("renew_every") && !said.is_split() && !said.shares() && !said.asks_master_locks()
    }),
    row("read_release", &["\"ends-write-renewal\"", "\"own-renewal\""], 40, |said| {
        said.has("renew_every") && said.shares()
    }),
    row("read_renewal", &["\"own-holds\"", "\"all-holds\"", "\"fails-nested\""], 50, |said| {
        said.has("renew_every") && said.shares()
    }),
    row("downgrade", &["\"silent\"", "\"publishes\"", "\"publishes\""], 40, Said::shares),
    row("interrupted_waiter", &["\"stays-queued\"", "\"leaves-queue\"", "\"leaves-queue\""], 40, |said| {
        said.queues() && said.some("interrupt")
    }),
    row("interrupted_call", &["\"goes-on\"", "\"ends\"", "\"ends\""], 50, |said| {
        said.has_parts() && said.some("interrupt")
    }),
    row("missed_renewal", &["\"lower-first\"", "\"stop-timer\"", "\"forget\"", "\"tell-holder\""], 25, |said| {
        said.has("renew_every")
    }),
    row("partial_release", &["\"lower\"", "\"ignore\""], 20, |said| {
        said.has("renew_every") && !(said.asks_master_locks() && said.has("max_holds"))
    }),
    row("answered_receipt", &["\"delete\"", "\"keep\""], 20, |said| said.is_split() && said.has_receipts()),
    row("failed_renewal", &["\"retry\"", "\"forget\""], 20, |said| said.has("renew_every")),
    row("failed_renewal", &["\"release\"", "\"retry\""], 50, |said| {
        said.has("renew_every") && said.is_split() && said.is("lock", "\"plain\"")
    }),
    row("registration", &["\"before-answer\"", "\"unordered\""], 30, |said| said.is_split() && said.has("renew_every")),
    row("stale_renewal", &["\"believe\"", "\"ignore\""], 30, |said| said.is_split() && said.has("renew_every")),
    row("interrupted_acquire", &["\"keep\"", "\"release\"", "\"renew\""], 50, |said| {
        said.is_split() && said.some("interrupt")
    }),
    row("subscribe_to", &["\"replica\"", "\"replica\"", "\"master\""], 15, |said| {
        let is_unwilling = said.queues() || said.shares() || said.names_values();
        !is_unwilling && said.publishes() && said.waits() && said.some("replicas")
    }),
    row("token", &["\"with-grant\"", "\"read-later\""], 60, Said::issues_tokens),
    row("no_ttl_answer", &["\"grant\"", "\"refusal\""], 40, |said| {
        said.issues_tokens() && !said.is("token", "\"read-later\"") && said.some("persist_key")
    }),
    row("value", &["\"per-acquire\"", "\"per-client\"", "\"per-client\""], 40, Said::stores_values),
    row("acquire", &["\"set-nx-px\"", "\"setnx-expire\"", "\"own-or-free\""], 40, Said::has_two_commands),
    row("release", &["\"compare\"", "\"delete\"", "\"delete\""], 30, Said::has_bare_release),
    row("extend", &["\"compare\"", "\"overwrite\"", "\"overwrite\""], 30, |said| {
        said.lock().bare_extend.is_there() && said.has("renew_every")
    }),
    row("move_slot", &["1"], 40, Said::can_be_moved),
    row("channels", &["\"global\""], 100, |said| {
        let is_global = said.some("replicas") || said.is("profile", "\"redisson-3.15\"");
        said.some("move_slot") && said.publishes() && said.waits() && is_global
    }),
    row("channels", &["\"sharded\"", "\"global\""], 100, |said| {
        said.some("move_slot") && said.publishes() && said.waits() && !said.has("channels")
    }),
    // Room: not less than usual, for a world in which a step is not explored may stand still.
    row("effects_under_way", &["4", "6"], 3, |said| said.some("replicas")),
    row("messages", &["3", "4"], 3, |_| true),
    row("bounds.receipts", &["6", "8"], 4, Said::is_split),
    row("late_requests", &["4"], 4, Said::is_split),
    row("registrations", &["3", "4"], 4, Said::is_split),
    row("renewal_timers", &["3"], 20, |said| said.is("renewal_timer", "\"multiplying\"")),
    row("tokens", &["20", "60"], 10, Said::checks_tokens),
    row("holds", &["12", "20", "60"], 10, |said| said.reenters() || said.has_parts()),
];

/// What client A may have of its own, in a scenario where it has a table; `goes_with` is about what all clients have.
pub(super) const OWN_ROWS: &[DrawnKey] = &[
    row("lease", TICKS, 40, |said| {
        !said.is("renew_every", "2") && !said.is("renew_every", "3") && !said.stores_grants()
    }),
    row("renew_every", &["1", "\"none\""], 30, |_| true),
    row("wait_limit", &["0", "1", "2", "\"none\""], 30, |said| {
        // Whoever waits hears of a slot that is moved by channels that the file names.
        let has_no_channels = said.some("move_slot") && !said.has("channels");
        !said.has_parts() && !said.asks_master_locks() && !has_no_channels
    }),
    // Without a limit it makes rounds, and their length is said for all.
    row("wait_limit", &["0", "1", "2"], 30, Said::has_parts),
    row("hold_at_most", TICKS, 30, |said| !said.is("hold_for_ever", "true")),
    row("acquires", &["0", "1", "2"], 40, |_| true),
    row("role", &["\"reader\"", "\"writer\"", "\"both\""], 60, Said::shares),
    row(
        "parts",
        &["\"reversed\"", "\"reversed\"", "\"first-only\"", "\"second-only\"", "\"in-order\""],
        90,
        Said::has_parts,
    ),
    row("values", &["[1]", "[1]", "[2]", "[1, 2]"], 60, Said::names_values),
    row("clock_ahead", &["0", "1", "2", "3", "4"], 40, Said::reads_caller_clock),
    row("profile", OF_PARTS, 40, Said::has_parts),
    row("profile", PROFILES, 40, |said| !said.shares() && !said.spins() && !said.names_values() && !said.has_parts()),
];
