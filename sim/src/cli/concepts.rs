//! The concepts that `lockstep explain` explains beside what has a name in a file or an output.

/// Each concept, and what it means.
pub(super) const CONCEPTS: [(&str, &str); 12] = [
    (
        "tick",
        "the unit of time of a scenario. All times in a scenario are whole numbers of ticks, and nothing shorter is \
         distinguished: what happens within a tick can happen in every order. A tick is 10 s unless tick_ms in [time] says \
         otherwise, so a lease of 30 s is lease = 3. Times may have units instead, lease = \"30s\": the tick is then the longest \
         time, up to an hour, of which all of them are multiples, and one time that has little in common with the others makes \
         it short. Choose the tick so that lease, renewal period and hold time are small \
         numbers, because every tick multiplies the number of states. At exactly its deadline a key may still exist (Redis \
         reports 0 ms left) or be gone already, and both are explored: a lease of 3 ticks that begins at 0 s may be over at 30 s, \
         and it is over at 40 s, the first tick after that.",
    ),
    (
        "safety",
        "a safety property must be true in every state. Its counterexample is a trace that ends in a bad state.",
    ),
    (
        "liveness",
        "a liveness property says that something must happen sooner or later, for example that a waiting client is granted \
         the lock. Its counterexample is a trace that ends in a loop in which it never happens. Only fair loops count; \
         `lockstep explain fairness` says which are fair.",
    ),
    (
        "fairness",
        "the assumption that no action is neglected for ever. Without it every liveness property would be violated by a \
         client that simply never continues. Weak fairness, the default: an action that stays possible must happen sooner \
         or later. So a loop is fair if each such action happens in it, or is impossible in at least one of its states. \
         For example, a client that is woken just after another one has taken the lock again is treated fairly, although \
         it waits for ever. Strong fairness (strong = true in [fairness]): an action that is possible again and again must \
         happen, so in a fair loop it happens or is never possible. Under both, time passes. Faults need not happen, a \
         client need not ask for the lock, and with hold_for_ever = true a holder need not release it.",
    ),
    (
        "possibility",
        "a possibility must stay within reach: from every state that can be reached there must be a way to it without another \
         fault, whether or not anybody takes it. Its counterexample is a trace into a state without such a way, and the \
         report says which of the faults that may still happen would help.",
    ),
    (
        "others",
        "a key of [expect]: others = \"holds\" claims of every property that has no line of its own that it holds, or is \
         vacuous. Without it, beside other claims, such a property is reported and fails no run. A file without any claim \
         claims that of all properties.",
    ),
    (
        "normal-forms",
        "states that can never again be told apart count as one: for example, what a replica stores matters no longer when \
         nothing can promote it any more. No verdict and no length of a shortest trace depends on it, and traces are of real \
         steps. `lockstep check --no-normal-forms` keeps every state.",
    ),
    (
        "approximations",
        "where the model and reality are not the same on purpose. Most of them allow more than reality does, so that \"violated\" can \
         be a false alarm: a replica of any offset is promoted (promote = \"any\"), a replica lags without bound (lag), a failover \
         takes no time at all, a late write to the resource may take for ever (delay in [resource]). Give the keys of your \
         deployment, and look at the trace: if it needs what cannot happen to you, narrow that key. What is not modelled at all \
         allows less than reality, and no \"holds\" covers it: for example a fencing counter in the same Redis, clocks that run at \
         different speeds, a resync that takes time, more of Redis Cluster than a slot that is moved. All of them, with the rule and the reason: \
         docs/approximations.md.",
    ),
    (
        "watchdog",
        "the task in a client that renews the leases of the locks that the client holds, so that a lock outlives its lease \
         while its holder works, and is free soon after its holder has crashed. In a scenario, renew_every in [time] is its \
         period in ticks: lease = 3 and renew_every = 1 is what Redisson does when no lease time is given (30 s, renewed \
         every 10 s). Without renew_every there is no watchdog, and a lock whose lease is shorter than its work is lost. \
         Keys of [protocol] say what the watchdog does when a renewal has no answer, or finds another holder.",
    ),
    (
        "deployment",
        "how the servers of real Redisson are set up, which the scenario does not say: --deployment of `lockstep replay` and \
         `lockstep fuzz`, with --on redisson. Without it: a single server, or a master with replicas. In a cluster Redisson \
         publishes by SPUBLISH (from Redis 7.0 and Redisson 3.43 on), sends every request again that has no answer, and a replica \
         takes over by CLUSTER FAILOVER TAKEOVER; restart_node, names = 2 and subscribe_to = \"replica\" are refused, and beside \
         replicas hand_over, cut_link, refuse_writes and pause_node, since an old master of a cluster that runs follows the new \
         one at once. With sentinel a sentinel tells clients where the first master is, and requests are sent again as in a \
         cluster; only subscribe_to = \"replica\" is refused. In both the harness decides when a failover happens and when a client \
         learns of it, as the history says.",
    ),
    (
        "frontier",
        "the smallest sets of faults that break each property. More faults never allow less, so they divide the worlds \
         in which a property holds from those in which it is broken. `lockstep frontier FILE` takes the world of the file \
         without its faults, checks every set of up to --most faults (of all but move_slot), and checks them again under each repair, for \
         example fencing or min-replicas. The number of sets grows fast: begin with --bare --most 1. --max-states and \
         --max-memory bound each check, and --timeout bounds all of them together.",
    ),
    (
        "sentinel",
        "Redis Sentinel watches a master and its replicas. When enough sentinels agree that the master does not answer, one of \
         them promotes a replica, and clients learn of the new master. The model does not contain sentinels: a failover is \
         the promotion of any replica that promote in [cluster] allows, at any time up to failover_within. With \
         their defaults, that covers every choice that sentinels can make. `lockstep replay FILE --sentinel` replays the histories of a scenario with \
         three real sentinels, which decide on every failover in real time.",
    ),
];
