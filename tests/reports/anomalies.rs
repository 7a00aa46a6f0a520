//! `reports/anomalies.md`: every built-in scenario that violates a property, grouped by cause, with a repair where one
//! is known. A repair consists of lines of the scenario file; its effect is found by running the edited file.

use std::collections::BTreeSet;

use lockstep_model::{Property, Verdict};
use lockstep_sim::check::{CheckOutcome, PropertyOutcome};
use lockstep_sim::scenario::Scenario;

use crate::runs::{ALL, ScenarioLine, edited, exhaust, known, same_world};
use lockstep_tests::page::{self, NOTHING, listed, table};

/// A topic under which a reader looks for an anomaly.
struct AnomalyGroup {
    heading: &'static str,
    about: &'static str,
    scenarios: &'static [&'static str],
}

/// Every scenario that violates a property belongs to one of these groups, which the page shows in this order.
const GROUPS: [AnomalyGroup; 16] = [
    AnomalyGroup {
        heading: "Fencing tokens in Redis",
        about: "The counter of a fenced lock is lost, evicted or set back, is read too late, or a refusal looks like a grant.",
        scenarios: &[
            "fenced-failover-repeats-a-token",
            "fenced-strict-resource-after-failover",
            "fenced-restart-loses-the-counter",
            "fenced-counter-is-evicted",
            "fenced-token-is-read-late",
            "fenced-holder-without-ttl",
            "fenced-no-ttl-read-as-refusal",
            "fenced-stored-token-stops-late-writer",
            "fenced-force-release",
        ],
    },
    AnomalyGroup {
        heading: "A slot that is moved",
        about: "An operator moves the slot of the lock to another master of its cluster: releases are refused, subscriptions end unnoticed, \
                and a replica that is promoted meanwhile has no key.",
        scenarios: &[
            "failover-while-the-slot-moves",
            "moved-slot-silences-its-waiters",
            "moved-slot-refuses-the-release",
            "spin-moved-slot-refuses-the-release",
        ],
    },
    AnomalyGroup {
        heading: "Failover",
        about: "A replica takes the place of the master: grants that it has not received, two masters at once, hand-overs \
                for maintenance, and `WAIT`.",
        scenarios: &[
            "failover-loses-the-grant",
            "failover-to-the-wrong-replica",
            "failover-to-the-fullest-replica",
            "failover-slower-than-the-lease",
            "failover-of-half-a-renewal-period",
            "failover-of-one-renewal-period",
            "failover-while-waiting",
            "failover-keeps-the-grant",
            "plain-failover-loses-the-grant",
            "fair-failover-forgets-the-queue",
            "hand-over-loses-the-grant",
            "hand-over-waits-for-the-replica",
            "hand-over-holds-up-renewals",
            "hand-over-of-one-renewal-period",
            "forced-hand-over-loses-the-grant",
            "forced-hand-over-behind-a-wait",
            "old-master-serves-its-side",
            "plain-old-master-serves-its-side",
            "old-master-returns",
            "old-master-returns-to-nobody",
            "old-master-is-stopped-too-late",
            "old-master-counts-too-late",
            "old-master-is-outwaited",
            "dead-machine-is-still-counted",
            "dead-machine-acknowledges-nothing",
            "replicas-leave-one-by-one",
            "one-replica-acknowledges-to-two-masters",
            "replica-returns-to-the-old-master",
            "replica-returns-after-a-failover-command",
            "every-replica-acknowledges-to-one-master",
            "partition-keeps-a-replica",
            "partition-of-a-minority",
            "refused-writes-lead-to-a-failover",
            "refused-writes-are-outwaited",
            "old-master-stands-still",
            "old-master-stands-still-and-waits-for-all",
            "master-stands-still",
            "master-stands-still-and-is-outwaited",
            "replica-stands-still",
            "lock-delay-after-failover",
            "lock-delay-shorter-than-one-lease",
            "lock-delay-beside-an-old-master",
            "late-client-knows-no-lock-delay",
            "late-client-waits-at-its-start",
            "client-goes-back-to-the-old-master",
            "client-goes-back-and-is-refused",
            "wait-for-the-replica",
            "plain-wait-for-the-replica",
            "wait-for-one-of-two",
            "wait-for-both-of-two",
            "wait-for-a-replica-that-is-away",
            "wait-for-a-reentry",
            "wait-does-not-cover-renewals",
            "wait-of-2021-is-ignored",
            "wait-that-fails-keeps-the-lock",
            "wait-in-one-batch",
            "wait-knows-of-no-replica",
            "no-wait-after-a-failover",
            "no-wait-once-there-was-no-replica",
            "no-wait-after-a-refused-write",
            "release-is-made-again",
            "refused-acquire-is-granted-later",
            "refused-acquire-is-sent-again",
            "wait-behind-a-partition",
            "wait-for-all-behind-a-partition",
        ],
    },
    AnomalyGroup {
        heading: "Lease and pause",
        about: "The lease expires while its holder still works: no watchdog, a pause, or renewals that do not arrive.",
        scenarios: &[
            "lease-ends-while-holder-works",
            "lease-ends-fenced",
            "lease-ends-a-hold-for-ever",
            "held-for-exactly-the-lease",
            "plain-held-for-exactly-the-lease",
            "renewed-exactly-at-the-lease",
            "plain-lease-ends-while-holder-works",
            "plain-validity-ends-the-work",
            "plain-pause-beside-a-validity",
            "pause-longer-than-lease",
            "paused-client-loses-one-of-two-locks",
            "missed-renewal-of-2021",
            "missed-renewal-of-2026",
            "missed-renewal-is-told",
            "nested-release-of-3-43",
            "nested-holds-that-are-lost",
            "stale-holds-starve-another-thread",
            "failed-renewal-of-2021",
            "refused-renewal-ends-the-lease",
            "refused-renewal-and-a-bounded-hold",
            "explicit-lease-beside-a-watchdog",
            "reentry-with-a-shorter-lease",
            "reentry-ends-the-renewal",
            "renewal-timers-multiply",
            "shared-lock-object",
            "old-client-beside-a-new-one",
            "late-replica-ends-other-renewals",
            "unacknowledged-renewal-is-the-last-one",
        ],
    },
    AnomalyGroup {
        heading: "Network",
        about: "Requests, replies, messages and writes to the resource are lost, late, or sent again.",
        scenarios: &[
            "write-arrives-after-the-next-holder",
            "plain-write-after-the-look",
            "slow-reply-outlives-the-lease",
            "plain-slow-reply-outlives-the-lease",
            "resent-acquire-counts-twice",
            "given-up-acquire-is-executed-late",
            "unanswered-ask-is-told-as-refused",
            "lost-reply-of-a-release",
            "receipt-is-due-with-the-last-attempt",
            "lost-reply-of-a-release-without-receipt",
            "lost-reply-of-a-release-with-an-id-per-try",
            "late-release-takes-the-next-grant",
            "late-copy-of-a-release",
            "late-copy-finds-its-receipt",
            "late-copy-of-a-resent-release",
            "resent-requests",
            "plain-release-by-delete",
            "plain-shedlock-frees-the-next-lock",
            "plain-late-extension-takes-the-next-lock",
            "plain-late-expire-meets-another-lock",
            "plain-late-release-takes-the-next-grant",
            "requests-served-in-another-order",
            "resent-release-after-failover",
            "lost-undo",
            "lost-renewals",
            "renewals-that-fail",
            "late-renewal-after-release",
            "lost-unlock-message",
            "lost-unlock-message-costs-time",
            "message-lost-with-a-broken-link",
        ],
    },
    AnomalyGroup {
        heading: "Clock",
        about: "The clock of a node or of a client jumps.",
        scenarios: &[
            "clock-jump-ends-a-lease",
            "clock-jump-ends-a-lease-fenced",
            "plain-clock-jump-ends-a-lease",
            "plain-clock-jump-beside-a-validity",
            "clock-behind-loses-the-grant",
            "clock-behind-and-relative-ttls",
            "client-clock-goes-back",
        ],
    },
    AnomalyGroup {
        heading: "Restart and memory",
        about: "A node restarts without its latest data, or drops the key.",
        scenarios: &[
            "restart-loses-the-grant",
            "plain-restart-loses-the-grant",
            "fsync-every-second-loses-the-grant",
            "fsync-keeps-the-grant",
            "restart-from-an-older-snapshot",
            "killed-process-keeps-the-grant",
            "killed-beside-a-slow-disk",
            "shutdown-keeps-the-grant",
            "shutdown-loses-the-grant",
            "rewrite-without-fsync-loses-the-grant",
            "unfinished-rewrite-loses-the-grant",
            "unfinished-rewrite-is-outwaited",
            "delayed-restart-outlives-the-lease",
            "empty-master-wipes-its-replica",
            "evicted-lock",
            "evicted-lock-fenced",
            "evicted-receipt-of-a-release",
            "evicted-receipt-and-no-resend",
            "overwritten-lock-ends-other-renewals",
            "overwritten-lock-and-a-timer-per-lock",
            "persisted-lock-is-never-freed",
            "plain-setnx-then-expire",
            "plain-persisted-lock-is-never-freed",
            "persisted-lock-outlives-a-failover",
            "lost-unlock-message-of-a-persisted-lock",
            "wait-limit-beside-a-persisted-lock",
        ],
    },
    AnomalyGroup {
        heading: "Client code",
        about: "Holders that crash or never release, interrupted threads, and what a client's watchdog makes of them.",
        scenarios: &[
            "holder-crashes",
            "plain-holder-crashes",
            "holder-never-releases",
            "force-release",
            "fair-force-release",
            "interrupted-acquire-stays",
            "interrupted-acquire-is-renewed-for-ever",
            "interrupted-wait-is-swallowed",
            "registration-of-2021",
            "thread-dies-and-its-process-renews",
            "plain-thread-dies-and-its-process-renews",
            "fair-thread-dies-and-its-process-renews",
            "thread-dies-while-it-asks",
            "orphan-starves-a-waiter",
            "two-threads-share-one-watchdog",
            "two-threads-share-one-watchdog-in-time",
        ],
    },
    AnomalyGroup {
        heading: "Waiting",
        about: "Nothing fails, but the locks are not fair: a waiter can be overtaken without end.",
        scenarios: &[
            "newcomers-starve-a-waiter",
            "plain-newcomers-starve-a-waiter",
            "two-clients-one-node",
            "plain-two-clients-one-node",
            "third-client-is-woken",
        ],
    },
    AnomalyGroup {
        heading: "Queue",
        about: "Waiters of a fair lock that no message wakes, or that are taken for dead.",
        scenarios: &[
            "fair-deadlines-stand-still",
            "fair-waiters-give-up",
            "fair-message-for-a-dead-waiter",
            "fair-interrupted-waiter-keeps-its-place",
            "fair-interrupted-waiter-leaves-queue",
            "fair-waiter-outlives-its-deadline",
            "fair-late-waiters-starve",
        ],
    },
    AnomalyGroup {
        heading: "Readers and writers",
        about: "A writer that waits for ever, a reader that nobody wakes, and holds that end while others go on.",
        scenarios: &[
            "read-write-readers-starve-a-writer",
            "read-write-reader-waits-for-itself",
            "read-write-downgrade-tells-nobody",
            "read-write-read-release-ends-renewal",
            "read-write-validity-ends-the-work",
            "read-write-nested-reads-are-not-renewed",
            "read-write-dead-reader-is-renewed",
            "read-write-a-reader-with-a-shorter-lease",
            "read-write-crashed-reader-is-kept",
            "read-write-release-of-an-expired-lock",
            "read-write-renewed-in-vain",
            "read-write-force-release",
            "read-write-failover-loses-a-reader",
        ],
    },
    AnomalyGroup {
        heading: "Several parts",
        about: "A lock whose parts are taken and given back one after the other: in opposite orders, by a lease that is set at the end, and by a \
                release that stops.",
        scenarios: &[
            "multi-opposite-orders-for-ever",
            "multi-lease-times-a-thousand",
            "multi-lease-of-a-later-round-is-kept",
            "multi-final-lease-cuts-another-hold",
            "multi-final-lease-of-its-own-hold",
            "multi-unlock-stops-at-a-refused-part",
            "multi-unlock-goes-on-after-a-refused-part",
            "multi-interrupt-is-swallowed",
            "multi-pause-longer-than-lease",
            "multi-validity-ends-the-work",
            "multi-lost-message",
            "multi-failover-loses-a-part",
        ],
    },
    AnomalyGroup {
        heading: "Several masters",
        about: "A lock on several independent masters (RedLock): what was published against it, and what repairs it.",
        scenarios: &[
            "red-restart-without-data",
            "red-five-masters-restart-without-data",
            "red-restart-delayed",
            "red-restart-delayed-too-little",
            "red-restart-with-fsync",
            "red-clock-jump",
            "red-evicted-key",
            "red-pause-before-the-look",
            "red-pause-before-the-look-unchecked",
            "red-pause-after-the-look",
            "red-write-arrives-after-the-next-holder-s",
            "red-reply-past-validity",
            "red-reply-past-validity-unchecked",
            "red-reply-past-validity-never-stops",
            "red-reply-past-validity-drift",
            "red-late-ask",
            "red-late-asks-block",
            "red-split-vote-for-ever",
            "red-split-vote-of-three-clients",
            "red-split-vote-of-four-masters",
            "red-most-masters-dead",
            "red-master-stands-still",
            "red-master-refuses-writes",
            "red-extension-loses-majority-never-stops",
            "red-failover-of-one-master",
            "red-failover-without-lag",
            "red-three-masters-two-clients",
            "red-five-masters-two-clients",
            "red-three-masters-three-clients",
        ],
    },
    AnomalyGroup {
        heading: "A lock on each of several masters",
        about: "Redisson's lock on several masters (`RedissonRedLock`), which looks at no elapsed time and releases everywhere.",
        scenarios: &[
            "redisson-red-reply-past-the-lease",
            "redisson-red-lease-cuts-another-hold",
            "redisson-red-lease-of-its-own-hold",
            "redisson-red-error-at-the-end",
            "redisson-red-one-master-dies",
            "redisson-red-inner-release-takes-more",
            "redisson-red-restart-without-data",
            "redisson-red-restart-with-fsync",
            "redisson-red-clock-jump",
            "redisson-red-failover-of-one-master",
            "redisson-red-pause-longer-than-lease",
            "redisson-red-master-refuses-writes",
        ],
    },
    AnomalyGroup {
        heading: "Spinning",
        about: "Waiters that no message wakes and that sleep through their limit, and a lock object that remembers a refused call.",
        scenarios: &[
            "spin-two-clients-one-node",
            "spin-client-clock-goes-back",
            "spin-refused-call-leaves-its-lease",
            "spin-holder-crashes",
            "spin-persisted-lock-is-never-freed",
            "spin-lease-ends-while-holder-works",
            "spin-pause-longer-than-lease",
            "spin-late-release-without-receipts",
            "spin-force-release",
            "spin-failover-loses-the-grant",
            "spin-waiter-without-a-master",
        ],
    },
    AnomalyGroup {
        heading: "Several values",
        about: "Deadlines by the clocks of the clients, fields that outlive a hold, and a hash that ends with a new grant in it.",
        scenarios: &[
            "value-multi-clock-ahead-takes-a-value",
            "value-multi-clock-ahead-takes-a-part",
            "value-multi-taken-as-it-ends",
            "value-multi-persisted-lock",
            "value-multi-lease-ends-at-work",
            "value-multi-single-try",
            "value-multi-old-hold-counts-on",
            "value-multi-pause-longer-than-lease",
            "value-multi-lost-unlock-message",
            "value-multi-thread-dies",
            "value-multi-evicted-lock",
            "value-multi-failover-loses-the-grant",
            "value-multi-failover-keeps-the-grant",
            "value-multi-old-master-serves-its-side",
        ],
    },
];

const AT_ONCE: ScenarioLine = ("cluster", "lag", "0");
const SOON: ScenarioLine = ("cluster", "failover_within", "0");
const FENCED: ScenarioLine = ("resource", "fencing", "\"ideal\"");
const COORDINATED: ScenarioLine = ("cluster", "promote", "\"coordinated\"");
const NO_TICK: ScenarioLine = ("cluster", "hand_over_timeout", "0");
const A_PERIOD_MORE: ScenarioLine = ("time", "lease", "4");
const WATCHDOG: ScenarioLine = ("time", "renew_every", "1");
const HELD_FOR_LESS: ScenarioLine = ("time", "hold_at_most", "2");
const ONE_PER_ACQUIRE: ScenarioLine = ("protocol", "value", "\"per-acquire\"");
const AS_ONE_COMMAND: ScenarioLine = ("protocol", "acquire", "\"set-nx-px\"");
const COMPARED: ScenarioLine = ("protocol", "release", "\"compare\"");
const EXTENDED_IF_OWN: ScenarioLine = ("protocol", "extend", "\"compare\"");
const BY_ITS_CLOCK: ScenarioLine = ("clients", "stops_at", "\"validity\"");
const LONG_QUEUE: ScenarioLine = ("time", "queue_wait", "9");
const OF_2026: ScenarioLine = ("protocol", "profile", "\"redisson-4.7\"");

const SENT_ONCE: ScenarioLine = ("protocol", "resend", "\"none\"");
const WAIT_LIMIT: ScenarioLine = ("time", "wait_limit", "4");
const RECEIPT_STAYS: ScenarioLine = ("protocol", "answered_receipt", "\"keep\"");
const ON_THE_MASTER: ScenarioLine = ("protocol", "subscribe_to", "\"master\"");
const OWN_RENEWAL: ScenarioLine = ("protocol", "read_release", "\"own-renewal\"");
const RENEWS_OWN: ScenarioLine = ("protocol", "read_renewal", "\"own-holds\"");
const LEAVES_QUEUE: ScenarioLine = ("protocol", "interrupted_waiter", "\"leaves-queue\"");
const TOLD: ScenarioLine = ("protocol", "downgrade", "\"publishes\"");
const OWN_OBJECTS: ScenarioLine = ("clients", "lock_objects", "\"per-call\"");
const WITH_GRANT: ScenarioLine = ("protocol", "token", "\"with-grant\"");
const NO_TTL_REFUSED: ScenarioLine = ("protocol", "no_ttl_answer", "\"refusal\"");
const LEASE_KEPT: ScenarioLine = ("protocol", "round_lease", "\"kept\"");
const OF_ITS_OWN_HOLD: ScenarioLine = ("protocol", "final_lease", "\"own-hold\"");
const GOES_ON: ScenarioLine = ("protocol", "failed_part", "\"goes-on\"");
const ENDS: ScenarioLine = ("protocol", "interrupted_call", "\"ends\"");
const AWAY_FOR_A_LEASE: ScenarioLine = ("cluster", "restart_after", "4");
const CHECKED: ScenarioLine = ("protocol", "elapsed_time", "\"checked\"");
const ALLOWED_FOR: ScenarioLine = ("time", "drift", "1");
const LONG_REENTRY: ScenarioLine = ("time", "reentry_lease", "3");

/// Scenarios, each with the lines that repair it.
const REPAIRS: [(&str, &[ScenarioLine]); 57] = [
    ("redisson-red-failover-of-one-master", &[AT_ONCE]),
    ("redisson-red-lease-cuts-another-hold", &[OF_ITS_OWN_HOLD]),
    ("red-write-arrives-after-the-next-holder-s", &[FENCED]),
    ("red-extension-loses-majority-never-stops", &[BY_ITS_CLOCK]),
    ("red-failover-of-one-master", &[AT_ONCE]),
    ("red-restart-without-data", &[AWAY_FOR_A_LEASE]),
    ("red-restart-delayed-too-little", &[AWAY_FOR_A_LEASE]),
    ("red-pause-before-the-look-unchecked", &[CHECKED]),
    ("red-reply-past-validity-unchecked", &[CHECKED, ALLOWED_FOR]),
    ("red-reply-past-validity-never-stops", &[ALLOWED_FOR]),
    ("multi-lease-times-a-thousand", &[LEASE_KEPT]),
    ("multi-final-lease-cuts-another-hold", &[OF_ITS_OWN_HOLD]),
    ("multi-unlock-stops-at-a-refused-part", &[GOES_ON]),
    ("multi-interrupt-is-swallowed", &[ENDS]),
    ("fenced-token-is-read-late", &[WITH_GRANT]),
    ("fenced-holder-without-ttl", &[NO_TTL_REFUSED]),
    ("plain-failover-loses-the-grant", &[AT_ONCE, SOON]),
    ("plain-lease-ends-while-holder-works", &[FENCED]),
    ("plain-lease-ends-while-holder-works", &[BY_ITS_CLOCK]),
    ("plain-slow-reply-outlives-the-lease", &[BY_ITS_CLOCK]),
    ("plain-write-after-the-look", &[FENCED]),
    ("lost-renewals", &[BY_ITS_CLOCK]),
    ("plain-release-by-delete", &[COMPARED]),
    ("plain-shedlock-frees-the-next-lock", &[COMPARED]),
    ("plain-late-extension-takes-the-next-lock", &[EXTENDED_IF_OWN]),
    ("plain-setnx-then-expire", &[AS_ONE_COMMAND]),
    ("plain-late-expire-meets-another-lock", &[AS_ONE_COMMAND]),
    ("plain-late-release-takes-the-next-grant", &[ONE_PER_ACQUIRE]),
    ("failover-loses-the-grant", &[AT_ONCE, SOON]),
    ("failover-slower-than-the-lease", &[SOON]),
    ("failover-to-the-fullest-replica", &[AT_ONCE, SOON]),
    ("failover-to-the-wrong-replica", &[AT_ONCE, SOON]),
    ("lease-ends-while-holder-works", &[FENCED]),
    ("lease-ends-while-holder-works", &[WATCHDOG]),
    ("evicted-receipt-of-a-release", &[SENT_ONCE]),
    ("late-copy-of-a-release", &[RECEIPT_STAYS]),
    ("held-for-exactly-the-lease", &[HELD_FOR_LESS]),
    ("plain-held-for-exactly-the-lease", &[HELD_FOR_LESS]),
    ("renewed-exactly-at-the-lease", &[WATCHDOG]),
    ("lost-unlock-message-of-a-persisted-lock", &[WAIT_LIMIT]),
    ("message-lost-with-a-broken-link", &[ON_THE_MASTER]),
    ("missed-renewal-of-2021", &[OF_2026]),
    ("nested-release-of-3-43", &[OF_2026]),
    ("pause-longer-than-lease", &[FENCED]),
    ("reentry-with-a-shorter-lease", &[LONG_REENTRY]),
    ("write-arrives-after-the-next-holder", &[FENCED]),
    ("forced-hand-over-loses-the-grant", &[COORDINATED]),
    ("hand-over-holds-up-renewals", &[NO_TICK, A_PERIOD_MORE]),
    ("fair-waiter-outlives-its-deadline", &[LONG_QUEUE]),
    ("fair-message-for-a-dead-waiter", &[LONG_QUEUE]),
    ("fair-interrupted-waiter-keeps-its-place", &[LEAVES_QUEUE]),
    ("read-write-read-release-ends-renewal", &[OWN_RENEWAL, BY_ITS_CLOCK]),
    ("read-write-nested-reads-are-not-renewed", &[RENEWS_OWN]),
    ("read-write-downgrade-tells-nobody", &[TOLD]),
    ("read-write-reader-waits-for-itself", &[WAIT_LIMIT]),
    ("spin-lease-ends-while-holder-works", &[WATCHDOG]),
    ("spin-refused-call-leaves-its-lease", &[OWN_OBJECTS]),
];

#[test]
fn the_page_on_anomalies_says_what_its_runs_say() {
    page::keep("reports/anomalies.md", &anomalies());
}

/// Generates the page.
fn anomalies() -> String {
    let contents: Vec<_> = GROUPS
        .iter()
        .map(|AnomalyGroup { heading, about, .. }| {
            let anchor = heading.to_lowercase().replace(' ', "-");
            format!("- [{heading}](#{anchor}): {about}\n")
        })
        .collect();
    format!(
        "# Anomalies\n\n\
         Made by `make reports` from real runs; a test fails when it is stale.\n\n\
         Every built-in scenario in which a property is violated, grouped by cause. `lockstep show SCENARIO` draws the \
         trace, `lockstep replay SCENARIO` executes it on a real server, `lockstep explain PROPERTY` says what a property \
         means and where it comes from.\n\n\
         *Breaks* lists the violated properties with the number of steps: of a safety property the length of a shortest \
         trace, of a liveness property the length of a way into a loop and one turn of it. *Repairs* are lines of the \
         scenario file: with them the named properties hold in that world. \"–\": no repair is tried here.\n\n\
         {}\n{}\
         ## The repairs\n\n\
         - `lag = 0`: every replica has a write before the client is answered. No setting of Redis gives exactly that.\n\
         - `failover_within = 1`: every client knows the new master within one tick, here 10 s.\n\
         - `renew_every = 1`: a watchdog.\n\
         - `fencing = \"ideal\"`: the resource refuses a fencing token older than one it has seen; the tokens come from a \
         counter outside this Redis that no fault touches. This repairs no lock: two clients still believe that they hold it, but the stale \
         one can do no harm.\n\
         - `promote = \"coordinated\"`: `FAILOVER` without `FORCE`, which waits until the replica has everything.\n\
         - `resend = \"none\"`: nothing is sent again, and a caller without an answer gets an error.\n\
         - `answered_receipt = \"keep\"`: the receipt of a release that was answered stays until its TTL ends.\n\
         - `wait_limit = 4`: a waiter gives up, whatever it was told about the TTL.\n\
         - `subscribe_to = \"master\"`: unlock messages come from the master itself.\n\
         - `reentry_lease = 3`: the lease of a nested call is no shorter than the time for which its holder holds.\n\
         - `queue_wait = 9`: a waiter queues for longer than anybody holds.\n\
         - `read_renewal = \"own-holds\"`: a reader renews its own holds, as in Redisson 4.7.\n\
         - `token = \"with-grant\"`: a client is told its fencing token with its grant.\n\
         - `no_ttl_answer = \"refusal\"`: an answer without a TTL is no grant.\n\
         - `interrupted_waiter = \"leaves-queue\"`: a waiter that is interrupted takes its place out of the queue.\n\
         - `downgrade = \"publishes\"`: a writer that releases and reads on tells all who wait.\n\
         - `profile = \"redisson-4.7\"`: the client behaves as Redisson of 2026.\n\n\
         More repairs, and what they cost: [repairs.md](repairs.md). How many states stand behind each verdict: \
         [state-space.md](state-space.md).\n",
        contents.concat(),
        GROUPS.iter().map(part).collect::<String>(),
    )
}

/// Generates one group.
fn part(AnomalyGroup { heading, about, scenarios }: &AnomalyGroup) -> String {
    let rows: Vec<_> = scenarios.iter().map(|name| row(known(name))).collect();
    let head = ["scenario", "what happens", "breaks, after so many steps", "what repairs it in this world"];
    format!("## {heading}\n\n{about}\n\n{}\n", table(&head, &rows))
}

fn row((scenario, outcome): &(Scenario, CheckOutcome)) -> Vec<String> {
    let steps = |found: &PropertyOutcome| {
        format!("`{}` {}", found.property, found.trace.as_ref().map_or(0, |trace| trace.steps.len()))
    };
    let violated = outcome.properties.iter().filter(|found| found.verdict == Verdict::Violated);
    let violated: Vec<_> = violated.map(steps).collect();
    let repairs = REPAIRS.iter().filter(|(name, _)| *name == scenario.name);
    let repairs: Vec<_> = repairs.map(|(name, lines)| repair(name, lines)).collect();
    let repairs = if repairs.is_empty() { NOTHING.to_owned() } else { repairs.join("<br>") };
    vec![format!("`{}`", scenario.name), scenario.story.clone(), violated.join("<br>"), repairs]
}

/// The properties that these lines repair, and those that they do not.
fn repair(name: &str, lines: &[ScenarioLine]) -> String {
    let before = broken(&known(name).1);
    let after_scenario = edited(name, lines);
    let after = broken(&exhaust(&after_scenario));
    let ids = |properties: Vec<Property>| {
        listed(&properties.iter().map(|property| format!("`{property}`")).collect::<Vec<_>>())
    };
    let (stay, repaired): (Vec<_>, Vec<_>) = before.iter().partition(|property| after.contains(property));
    assert!(!repaired.is_empty(), "{lines:?} repairs nothing in {name}");
    assert!(after.iter().all(|property| before.contains(property)), "{lines:?} breaks something else in {name}");

    let keys: Vec<_> = lines.iter().map(|(_, key, value)| format!("`{key} = {value}`")).collect();
    let what = if stay.is_empty() { "all".to_owned() } else { format!("{}, not {}", ids(repaired), ids(stay)) };
    let is = same_world(&after_scenario).map_or_else(String::new, |name| format!(" (`{name}`)"));
    format!("{}: {what}{is}", keys.join(", "))
}

fn broken(outcome: &CheckOutcome) -> Vec<Property> {
    let violated = outcome.properties.iter().filter(|found| found.verdict == Verdict::Violated);
    violated.map(|found| found.property).collect()
}

#[test]
fn every_repair_is_of_a_scenario_that_is_broken() {
    for (name, _) in REPAIRS {
        assert!(!broken(&known(name).1).is_empty(), "{name} breaks nothing");
    }
}

/// A new anomaly is missing from the page until it is assigned to a group.
#[test]
fn every_scenario_that_is_broken_stands_in_one_group() {
    let grouped: Vec<&str> = GROUPS.iter().flat_map(|group| group.scenarios).copied().collect();
    let distinct: BTreeSet<&str> = grouped.iter().copied().collect();
    assert_eq!(distinct.len(), grouped.len(), "a scenario stands in two groups");
    let violated: BTreeSet<&str> =
        ALL.iter().filter(|(_, outcome)| !broken(outcome).is_empty()).map(|(scenario, _)| &*scenario.name).collect();
    assert_eq!(distinct, violated);
}
