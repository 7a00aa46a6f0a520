//! The world of a scenario in sentences.

use lockstep_model::config::{
    AcceptedTokens, AcquireRule, Bound, Channels, Config, Faults, Fencing, Fsync, InterruptedWait, MessageDelay,
    PromoteRule, RefusedLease, ReleaseRule, RememberedLease, ReplicasLeave, Resend, ValueRule, WaitRule,
};
use lockstep_model::notes::Capacity;
use lockstep_model::trace::node_name;

use super::clients::{hold, lease, profile, renewal, unlike_clients, wait};
use super::units::{count, jump, list, time};

/// A scenario's world in sentences, one a line.
pub fn world(config: &Config) -> Vec<String> {
    let ticks = |ticks: u8| time(config, ticks.into());
    let mut lines = Vec::new();

    let clients = count(config.clients.count.into(), "client");
    let threads = if config.has_parts() {
        format!(", and a lock of {} parts", config.clients.names)
    } else if config.clients.threads > 1 {
        format!(" of {} threads", config.clients.threads)
    } else {
        String::new()
    };
    let asks = match config.clients.acquires {
        None => "each may ask any number of times".to_owned(),
        Some(0) => "none ever asks".to_owned(),
        Some(times) => format!("each asks at most {}", count(times.into(), "time")),
    };
    let holds = match config.clients.max_holds {
        1 => String::new(),
        most => format!(", and may enter {most} times at once"),
    };
    lines.push(format!("{clients}{threads}; {asks}{holds}"));

    lines.push(nodes(config));
    if config.cluster.replicas_leave == ReplicasLeave::OneByOne {
        lines.push("a replica that was not promoted follows the old master until it is told of the new one".to_owned());
    }
    if config.cluster.channels == Channels::Sharded {
        lines.push("unlock messages are published to channels of one slot (SPUBLISH)".to_owned());
    }
    if !config.cluster.cut_together.is_empty() {
        let together: Vec<_> = config.cluster.cut_together.iter().map(node_name).collect();
        lines.push(format!("a master that is cut off keeps those of its replicas: {}", list(&together)));
    }
    if config.can_fail_over()
        && let Bound::Ticks(most) = config.cluster.failover_within
    {
        lines.push(match most {
            0 => "a failover is complete, and every client knows it, before time moves".to_owned(),
            most => format!("a failover is complete, and every client knows it, within {}", ticks(most)),
        });
    }
    lines.extend(safeguards(config));

    let [lease, renewal, wait, hold] = [lease, renewal, wait, hold].map(|times| times(config));
    lines.push(format!("{lease}; {renewal}; {wait}; {hold}"));
    lines.push(format!("a tick is {} ms; {}", config.time.tick_ms, profile(config)));
    lines.extend(calls_of_applications(config));
    lines.extend(waiting_and_values(config));
    lines.extend(unlike_clients(config));
    if let Some(resource) = config.resource {
        lines.push(
            match resource.fencing {
                Fencing::Ideal => {
                    "the resource rejects an effect whose fencing token is older than one it has seen; the tokens are ideal: \
                     they come from a counter outside this Redis, which no fault touches"
                }
                Fencing::Stored => match resource.accepts {
                    AcceptedTokens::EqualOrNewer => {
                        "the resource rejects an effect whose fencing token is smaller than one it has seen; the tokens come from \
                         a counter in this Redis, which faults can set back"
                    }
                    AcceptedTokens::Newer => {
                        "the resource accepts an effect only if its fencing token is larger than all it has seen; the tokens \
                         come from a counter in this Redis, which faults can set back"
                    }
                },
                Fencing::None => "the resource accepts every effect: it does not check fencing tokens",
            }
            .to_owned(),
        );
        if resource.is_far() {
            lines.push("a write to the resource may arrive after any time, or never".to_owned());
        }
    }
    if config.time.jump != 0 {
        lines.push(format!("a clock that jumps moves {}", jump(config)));
    }
    if config.strong_fairness {
        lines.push("fairness is strong: an action that is possible again and again happens".to_owned());
    }
    lines.extend(network(config));
    lines.extend(bounds(config));
    lines.push(faults(config));
    lines
}

/// Which calls name a lease, what lock objects remember of it, and what an interrupt does to a waiter.
fn calls_of_applications(config: &Config) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(lease) = config.time.named_lease {
        let lease = time(config, lease.into());
        lines.push(format!(
            "the first thread of each client names a lease of {lease} in its calls, and nothing renews that"
        ));
    }
    if config.shares_lock_objects() {
        let end = match config.protocol.remembered_lease {
            RememberedLease::UntilReleased => "until a release leaves no hold or fails",
            RememberedLease::ForGood => "for good",
        };
        lines.push(format!(
            "the threads of a client share one lock object: calls that name no lease take over the last one that was named, {end}"
        ));
        if config.lock.facts().asks_by_object_lease() {
            lines.push(
                match config.protocol.refused_lease {
                    RefusedLease::Remembered => "a call that is refused leaves its lease in the lock object",
                    RefusedLease::Ignored => "a call that is refused leaves nothing in the lock object",
                }
                .to_owned(),
            );
        }
    }
    if config.asks_if_held() {
        lines.push(
            "a caller that has no hold, and whose call ends without the lock, asks whether it holds, and goes by the answer"
                .to_owned(),
        );
    }
    if config.looks_at_clock() {
        lines
            .push("a caller looks at its own clock: it stops, and releases, when its lease is over by that".to_owned());
    }
    if config.clients.interrupted_wait == InterruptedWait::Swallow {
        lines.push("a waiter swallows the first interrupt of each sleep, and sleeps anew".to_owned());
    }
    lines
}

/// How often a waiter asks, and what an acquire stores: of kinds that poll, or store values.
fn waiting_and_values(config: &Config) -> Vec<String> {
    let facts = config.lock.facts();
    let mut lines = Vec::new();
    if config.waits() && !facts.publishes() {
        lines.push(format!("a waiter asks again every {}", time(config, config.time.poll_every.into())));
        if facts.spins() && config.time.wait_limit.is_some() {
            lines.push(
                "a waiter looks at its limit only when it is refused, and so asks once more after that".to_owned(),
            );
        }
    }
    if config.waits() && config.time.ask_again_after > 1 {
        let after = time(config, config.time.ask_again_after.into());
        lines.push(format!("a waiter that is told that the lock has no time left asks again after {after}"));
    }
    if facts.value.is_there() {
        lines.push(
            match config.protocol.value {
                ValueRule::PerAcquire => {
                    "each acquire stores a value of its own: a late release of another one finds nothing"
                }
                ValueRule::PerClient => {
                    "all acquires of a thread store the same value: a late release of one can delete the next"
                }
            }
            .to_owned(),
        );
    }
    if config.sets_ttl_apart() {
        lines.push("an acquire takes the lock by SETNX, and then sets its TTL by PEXPIRE".to_owned());
    }
    if config.protocol.acquire == AcquireRule::OwnOrFree {
        lines.push("an acquire takes a free lock, and one that has its own value already".to_owned());
    }
    if config.has_bare_extend() {
        lines.push("an extension of the lease stores its own value, whoever holds the lock".to_owned());
    }
    if config.protocol.release == ReleaseRule::Delete {
        lines.push("a release deletes the key, whoever holds the lock".to_owned());
    }
    lines
}

/// What the deployment does against lost writes, one line for each measure.
fn safeguards(config: &Config) -> Vec<String> {
    let ticks = |ticks: u8| time(config, ticks.into());
    let mut lines = Vec::new();
    if config.cluster.min_replicas > 0 {
        let most = ticks(config.cluster.min_replicas_max_lag);
        let needed = count(config.cluster.min_replicas.into(), "replica");
        let slack = match config.cluster.min_replicas_slack {
            0 => String::new(),
            slack => format!(", and may count one that is silent for {} longer", ticks(slack)),
        };
        lines.push(format!("a master accepts writes only if it heard of {needed} within {most}{slack}"));
    }
    if config.cluster.wait_for > 0 {
        let asked = count(config.cluster.wait_for.into(), "replica");
        lines.push(match config.protocol.wait_rule {
            _ if config.keeps_unacknowledged_grants() => format!(
                "a grant counts only when {} acknowledged it; otherwise its caller is told an error, and it stays until its lease ends",
                if config.protocol.wait_rule == WaitRule::All { asked } else { "a replica".to_owned() }
            ),
            WaitRule::All => format!("a grant counts only when {asked} acknowledged it, and is released otherwise"),
            WaitRule::Any => {
                "a grant counts only when a replica acknowledged it, if the client knows of any, and is released \
                 otherwise"
                    .to_owned()
            }
            WaitRule::Ignored => {
                format!(
                    "a client asks whether {asked} acknowledged its grant (WAIT), and believes it whatever the answer"
                )
            }
        });
    }
    if config.cluster.lock_delay > 0 {
        let delay = ticks(config.cluster.lock_delay);
        lines.push(format!("a client that learns of a new master waits {delay} before it asks for the lock"));
    }
    if config.cluster.start_delay > 0 {
        let delay = ticks(config.cluster.start_delay);
        lines.push(format!("a client that starts connects, and waits {delay} before it asks for the lock"));
    }
    if config.can_go_back() {
        lines.push("a client may go back to an old master, for as long as that says it is one".to_owned());
    }
    if config.can_restart() {
        let finds = match config.cluster.fsync {
            Fsync::None => "without data: it has no AOF".to_owned(),
            Fsync::Snapshot => "with its last snapshot, which may be of any age".to_owned(),
            Fsync::EverySecond => {
                let most = ticks(config.cluster.fsync_within);
                format!("with the data on its disk, which may lack the writes of the last {most}")
            }
            Fsync::Always => "with all its data, which are on disk before each reply".to_owned(),
        };
        let when = match config.cluster.restart_after {
            0 => String::new(),
            after => format!(", after {} at the earliest", ticks(after)),
        };
        lines.push(format!("a crashed node restarts{when}, {finds}"));
    }
    if config.has_slow_rewrites() {
        let most = ticks(config.cluster.aof_rewrite_within);
        lines.push(format!("for at most {most} after a full copy, the disk of a replica has its files of before"));
    }
    if config.can_restart() && config.cluster.no_appendfsync_on_rewrite {
        lines.push("nothing is synced to a disk while an AOF is rewritten".to_owned());
    }
    if config.cluster.shutdown_timeout > 0 {
        let most = ticks(config.cluster.shutdown_timeout);
        lines.push(format!("a master that is told to end waits for its replicas for at most {most}"));
    }
    if config.hands_over_by_the_master()
        && let Bound::Ticks(most) = config.cluster.hand_over_timeout
    {
        lines.push(format!("a master that hands over lets writes wait for at most {}", ticks(most)));
    }
    lines
}

/// Of a split network: how late what is sent may be, and what becomes of a request that is not answered.
fn network(config: &Config) -> Option<String> {
    if !config.is_split() {
        return None;
    }
    let late = match config.network.delay {
        MessageDelay::None => "requests and replies arrive before time moves".to_owned(),
        MessageDelay::Ticks(most) => format!("requests and replies may be late by {}", time(config, most.into())),
        MessageDelay::Any => "requests and replies may be late without bound".to_owned(),
    };
    let calls = config.calls;
    let times = count(calls.retry_attempts.into(), "time");
    let waits = format!("a caller waits {} for an answer", time(config, calls.answer_within.into()));
    let again = match calls.resend {
        Resend::None => "nothing is sent again".to_owned(),
        Resend::Release => format!("then a release is sent again, at most {times}"),
        Resend::All => format!("then the request is sent again, at most {times}"),
    };
    let receipts = if config.leaves_receipts() {
        format!("; a receipt lives {}", time(config, calls.receipt.into()))
    } else {
        "; no receipts".to_owned()
    };
    Some(format!("a request, its execution and its answer are three steps; {late}; {waits}, {again}{receipts}"))
}

/// The bounds that the scenario sets itself.
fn bounds(config: &Config) -> Option<String> {
    let set = Capacity::ALL.into_iter().filter_map(|capacity| {
        let room = config.bounds.of(capacity)?;
        Some(format!("{room} {}", capacity.noun()))
    });
    let set: Vec<_> = set.collect();
    (!set.is_empty()).then(|| format!("nothing is explored beyond {}", set.join("; ")))
}

/// The faults of a scenario: `faults: a node crashes (at most 1 time)`.
fn faults(config: &Config) -> String {
    let allowed = faults_allowed(config.faults);
    if allowed.is_empty() { "no faults".to_owned() } else { format!("faults: {}", allowed.join(", ")) }
}

/// The faults of a budget, each with its number: `a node crashes (at most 1 time)`.
pub fn faults_allowed(faults: Faults) -> Vec<String> {
    let budgets = faults.budgets().into_iter().filter(|(_, budget)| *budget > 0);
    budgets.map(|(fault, budget)| format!("{} (at most {})", fault.sentence(), count(budget.into(), "time"))).collect()
}

/// How many nodes there are, and what each of them is.
fn nodes(config: &Config) -> String {
    let ticks = |ticks: u8| time(config, ticks.into());
    let masters = match config.cluster.groups {
        1 => "1 master".to_owned(),
        several => format!("{several} independent masters, each"),
    };
    match config.cluster.replicas {
        0 if config.cluster.groups > 1 => format!("{} independent masters without replicas", config.cluster.groups),
        0 => format!("{masters} without replicas"),
        replicas => {
            let lag = match config.cluster.lag {
                Bound::Ticks(0) => "with synchronous replication".to_owned(),
                Bound::Ticks(lag) => format!("that receive a write within {}", ticks(lag)),
                Bound::Any => "that may lag without bound".to_owned(),
            };
            let chosen = match config.cluster.promote {
                PromoteRule::Any => "a failover may promote any",
                PromoteRule::MostData => "a failover promotes one that lost least",
                PromoteRule::Priority => "a failover promotes the first that runs",
                PromoteRule::Coordinated => "a hand-over waits until the replica has everything",
                PromoteRule::Forced => {
                    "a hand-over waits until its time-out, and then promotes the replica with what it has"
                }
            };
            let with = if config.cluster.groups > 1 { "with" } else { "and" };
            format!("{masters} {with} {} {lag}; {chosen}", count(replicas.into(), "replica"))
        }
    }
}
