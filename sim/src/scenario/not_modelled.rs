//! Which keys and values are not modelled beside each other yet, although each of them is: for `lockstep explain S008`.

/// Each what, and beside what.
pub const COMBINATIONS: [&str; 33] = [
    "clock_jump together with wait_for or min_replicas",
    "a clock_jump backwards together with fsync = \"everysec\" or pause_node",
    "clock_jump or vanish_key together with the receipts of a split network, where a request may be sent again",
    "reentry_lease together with missed_renewal = \"tell-holder\" or named_lease",
    "lock_objects = \"shared\" without a watchdog or with names = 2",
    "named_lease together with names = 2",
    "acquire = \"setnx-expire\" together with renew_every, wait_for or interrupt",
    "a lock with a queue together with threads = 2, mode = \"split\", persist_key, client_clock_jump, subscribe_to = \
     \"replica\" or profile = \"redisson-3.15\"",
    "a lock with readers together with mode = \"split\", a [resource], wait_for, crash_thread, persist_key, subscribe_to = \
     \"replica\", receipts = false, timers that multiply, lock_objects, named_lease, reentry_lease, hold_for_ever, \
     discovery = \"any-master\", or ttls = \"relative\" beside replicas",
    "a lock that issues fencing tokens together with mode = \"split\", receipts = false or profile = \"redisson-3.15\", \
     and, where a token comes with each grant, together with wait_for without acquires, named_lease, reentry_lease or \
     lock_objects = \"shared\"",
    "a lock that spins together with mode = \"split\", or with a wait_limit of profile = \"redisson-3.15\"",
    "a lock of several parts together with mode = \"split\", a [resource], wait_for, foreign_release, vanish_key, \
     persist_key, overwrite_key, crash_thread, clocks that jump, lock_objects, named_lease, reentry_lease, subscribe_to = \
     \"replica\", timers that multiply, missed_renewal = \"tell-holder\" (also of profile = \"lockstep\"), profile = \
     \"redisson-3.15\", or, beside replicas, a bounded lag or ttls = \"relative\"",
    "a lock over several values together with threads = 2, lock_objects = \"shared\", wait_for, a [resource], named_lease, \
     reentry_lease, receipts = false, subscribe_to = \"replica\", interrupt, or a profile before redisson-3.52",
    "a lock whose scripts are told the time of their caller together with mode = \"split\" or client_clock_jump",
    "a semaphore together with move_slot, named_lease, or a lease in [[client]] that is not that of [time]",
    "a lock on several masters together with count = 4, threads = 2, replicas = 2, replicas = 1 \
     with slow_reply, late_ask, pause_node, wait_for, min_replicas, lock_delay, discovery = \"any-master\", promote \
     = \"coordinated\" or promote = \"forced\", mode = \"split\", named_lease, reentry_lease, lock_objects = \"shared\", \
     interrupted_wait = \"swallow\", crash_thread, start_client, foreign_release, interrupt, client_clock_jump, persist_key \
     or cut_link",
    "Redisson's lock on several masters (redisson-red) together with a wait_limit other than 0 beside replicas or max_holds \
     above 1 of calls that name a lease, with a wait_limit or round_wait that is no multiple of the number of masters where \
     most are needed, late_ask, pause_node, timers that multiply, missed_renewal = \"tell-holder\", stops_at = \"validity\" \
     beside a watchdog, max_holds above 1 beside one with partial_release = \"ignore\" (also of profile = \
     \"redisson-3.43\"), or a profile that is not redisson-3.43, 3.52, 4.3 or 4.7",
    "stops_at = \"validity\" together with named_lease, reentry_lease, hold_for_ever or after_refusal = \"ask-if-held\"",
    "after_refusal = \"ask-if-held\" together with another lock than one over several values",
    "failed_renewal = \"release\" together with another lock than the plain one, mode = \"atomic\", requests that are sent again \
     or wait_after = \"every-call\"",
    "profile = \"redlock-4\" together with renew_every and mode = \"atomic\", with requests that are sent again, or with mode = \"split\" \
     and a wait_limit other than 0",
    "profile = \"spring-integration-7\" together with threads = 2",
    "the profile of a library that is not Redisson together with a lock on several masters, or, in [[client]], with a profile in \
     [protocol] that takes, extends or releases the lock otherwise",
    "interrupted_wait = \"swallow\" together with persist_key, wait_for or a clock that jumps",
    "move_slot together with a lock of several parts or masters, with replicas and a lock that has a queue, readers or \
     fencing tokens, mode = \"split\", names = 2, subscribe_to = \"replica\", replicas = 2, wait_for, min_replicas, \
     restart_node, kill_node, shutdown_node, cut_link, pause_node, hand_over, refuse_writes, break_link, clock_jump, \
     vanish_key, vanish_token or persist_key, and channels = \"sharded\" together with replicas",
    "min_replicas together with ttls = \"relative\"",
    "cut_together together with restart_node or promote = \"most-data\"",
    "shutdown_timeout together with cut_link",
    "names = 2 together with a split network, a wait_limit other than 0, a [resource], force_release, vanish_key, \
     persist_key or clock_jump, or with replicas and a bounded lag, ttls = \"relative\", more than 3 clients or a fault of \
     nodes",
    "wait_after = \"grants-and-renewals\" together with a split network or two replicas",
    "overwrite_key without names = 2",
    "a renewal_batch smaller than names together with timers that multiply",
    "too many fencing tokens or effects under way",
];
