//! Lines of a scenario's file that repair it.

use crate::runs::ScenarioLine;

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
const EVERY_VALUE: ScenarioLine = ("protocol", "held_query", "\"every-value\"");
const LEASE_KEPT: ScenarioLine = ("protocol", "round_lease", "\"kept\"");
const OF_ITS_OWN_HOLD: ScenarioLine = ("protocol", "final_lease", "\"own-hold\"");
const GOES_ON: ScenarioLine = ("protocol", "failed_part", "\"goes-on\"");
const ENDS: ScenarioLine = ("protocol", "interrupted_call", "\"ends\"");
const AWAY_FOR_A_LEASE: ScenarioLine = ("cluster", "restart_after", "4");
const CHECKED: ScenarioLine = ("protocol", "elapsed_time", "\"checked\"");
const ALLOWED_FOR: ScenarioLine = ("time", "drift", "1");
const TRIED_AGAIN: ScenarioLine = ("protocol", "failed_renewal", "\"retry\"");
const LONG_REENTRY: ScenarioLine = ("time", "reentry_lease", "3");

/// Scenarios, each with the lines that repair it.
pub(super) const REPAIRS: [(&str, &[ScenarioLine]); 65] = [
    ("redisson-red-failover-of-one-master", &[AT_ONCE]),
    ("redisson-red-late-refusal-after-the-wait", &[BY_ITS_CLOCK]),
    ("redisson-red-release-stops", &[GOES_ON]),
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
    ("multi-later-rounds-keep-each-other-out", &[LEASE_KEPT]),
    ("multi-final-lease-cuts-another-hold", &[OF_ITS_OWN_HOLD]),
    ("multi-unlock-stops-at-a-refused-part", &[GOES_ON]),
    ("multi-interrupt-is-swallowed", &[ENDS]),
    ("value-multi-asks-if-it-holds", &[EVERY_VALUE]),
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
    ("plain-spring-late-copy-of-an-unlock", &[ONE_PER_ACQUIRE]),
    ("plain-redlock-takes-a-late-grant", &[BY_ITS_CLOCK]),
    ("plain-redlock-4-extension-fails", &[TRIED_AGAIN]),
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
    ("fair-clock-ahead-drops-a-waiter", &[LONG_QUEUE]),
    ("fair-message-for-a-dead-waiter", &[LONG_QUEUE]),
    ("fair-interrupted-waiter-keeps-its-place", &[LEAVES_QUEUE]),
    ("read-write-read-release-ends-renewal", &[OWN_RENEWAL, BY_ITS_CLOCK]),
    ("read-write-nested-reads-are-not-renewed", &[RENEWS_OWN]),
    ("read-write-downgrade-tells-nobody", &[TOLD]),
    ("read-write-reader-waits-for-itself", &[WAIT_LIMIT]),
    ("spin-lease-ends-while-holder-works", &[WATCHDOG]),
    ("spin-refused-call-leaves-its-lease", &[OWN_OBJECTS]),
];
