//! What Redisson cannot follow, or this target cannot make it do.

use lockstep_model::Config;
use lockstep_model::config::{
    AnsweredReceipt, Channels, Fault, InterruptedAcquire, Profile, Protocol, RefusedCall, RenewalTimer, Resend,
    StaleRenewal, WaitRule,
};

use super::deployment::Deployment;
use super::interruption::Interruption;
use super::program::RedissonProgram;
use crate::replay::error::ReplayError;
use crate::replay::servers::ServerProgram;
use crate::replay::translate::translation_of;

/// What happens to servers while requests are under way: with a single server its clients wait for its return.
const OF_SERVERS: [Fault; 4] = [Fault::CrashNode, Fault::KillNode, Fault::ShutdownNode, Fault::RestartNode];

/// Whether a client that gets no answer asks once only: in an atomic network what fails fails at once. Its receipts then live for a
/// millisecond (docs/facts/redisson.md#receipt-ttl).
pub fn asks_once(config: &Config) -> bool {
    let may_fail = config.faults.deaths_of_nodes() > 0 || config.can_stall_writes() || config.faults.move_slot > 0;
    !config.is_split() && (config.cluster.replicas > 0 || may_fail)
}

/// For how long a waiter of 3.43 queues that has no limit.
const USUAL_QUEUE_MS: u64 = 300_000;

/// The shortest tick in which its timers can be told from the next one.
const LEAST_TICK_MS: u32 = 1_000;

/// Refuses a world in which the clients cannot be this version of Redisson, or which this target cannot make.
///
/// # Errors
/// `NotForRedisson`.
pub fn refuse_world(config: &Config, program: &RedissonProgram) -> Result<(), ReplayError> {
    let refused = |reason: String| Err(ReplayError::NotForRedisson { version: program.version().to_owned(), reason });
    if translation_of(config.lock).redisson().object.is_none() {
        if config.asks_masters() {
            let other = "its lock on several masters is another one (RedissonRedLock): lock = \"redisson-red\"";
            return refused(other.to_owned());
        }
        return refused(format!("it has no {} lock", config.lock.facts().name));
    }
    if let Some(reason) = refused_masters(config, program) {
        return refused(reason.to_owned());
    }
    let program = &program.of_world(config);
    if let Some(reason) = refused_move(config) {
        return refused(reason.to_owned());
    }
    if config.lock.facts().queue.is_there() {
        refuse_queue(config, program)?;
    }
    let is_of_2021 = |client| config.of_client(client).protocol.profile == Profile::Redisson315;
    if config.has_parts() && program.profile() == Profile::Redisson315 {
        return refused("a multi lock of 3.15 is not replayed yet; use a newer version".to_owned());
    }
    if config.shares() && (program.profile() == Profile::Redisson315 || (0..config.clients.count).any(is_of_2021)) {
        return refused(
            "3.15 releases such a lock by scripts without receipts, which are not modelled; use a newer version"
                .to_owned(),
        );
    }
    if config.issues_tokens() {
        refuse_tokens(config, program)?;
    }
    if config.names_values() {
        refuse_values(program)?;
    }
    let of_split = if config.is_split() { &OF_SERVERS[..] } else { &[] };
    if let Some(fault) = of_split.iter().find(|fault| config.faults.left(**fault) > 0) {
        return refused(format!(
            "requests that are under way to a server that ends are not replayed on it yet; remove {}, or use mode = \"atomic\"",
            fault.name()
        ));
    }
    if let Some(reason) = program.deployment().refused(config) {
        return refused(reason);
    }
    // Where a slot is moved, its servers are asked (`refuse_channels`).
    if program.deployment() == Deployment::Cluster && config.faults.move_slot == 0 {
        refuse_mixed_channels(config, program)?;
    }
    if config.cluster.replicas > 0 {
        refuse_replicas(config, program)?;
    }
    // Its timers are late by up to a tenth of a second, and each renewal is late by that once more.
    if config.time.tick_ms < LEAST_TICK_MS {
        return refused(format!("its timers are too late for so short a tick; set tick_ms to {LEAST_TICK_MS} or more"));
    }
    let has_future = config.time.wait_limit == Some(0) && config.time.renew_every.is_some();
    if program.interruption() == Interruption::Cancel && !has_future {
        return refused("only tryLockAsync() is cancelled: use wait_limit = 0, and a watchdog".to_owned());
    }
    (0..config.clients.count)
        .try_for_each(|client| refuse_client(&config.of_client(client), config.protocol.profile, program))
}

/// Why a lock on several masters is not replayed in this world; `None`: it is, or there is none.
fn refused_masters(config: &Config, program: &RedissonProgram) -> Option<&'static str> {
    if !config.asks_master_locks() {
        return None;
    }
    let timers_multiply = (0..config.clients.count).any(|client| {
        let own = config.of_client(client);
        own.time.renew_every.is_some() && own.protocol.renewal_timer != RenewalTimer::PerLock
    });
    if timers_multiply {
        return Some(
            "the watchdogs of a lock on several masters are replayed with a timer for each lock only yet: use profile = \"redisson-3.43\", \
             or a lease without renew_every",
        );
    }
    if config.cluster.replicas > 0 || config.faults.deaths_of_nodes() > 0 || config.can_stall_writes() {
        return Some(
            "a master that ends, stands still or fails over is replayed by our own scripts only yet, of a lock on several masters; remove \
             that fault, or the replicas",
        );
    }
    let keeps_receipts = |client| config.of_client(client).protocol.answered_receipt == AnsweredReceipt::Keep;
    if config.faults.slow_reply > 0 && (0..config.clients.count).any(keeps_receipts) {
        return Some("the receipts that it leaves live as long as it waits for a late reply: use slow_reply = 0");
    }
    let is_as_scenario =
        program.deployment() == Deployment::AsScenario && program.interruption() == Interruption::Thread;
    (!is_as_scenario).then_some("a lock on several masters is replayed on single servers only")
}

/// Why a slot that is moved is not replayed in this world; `None`: it is, or there is none.
fn refused_move(config: &Config) -> Option<&'static str> {
    if config.faults.move_slot == 0 {
        return None;
    }
    if config.cluster.replicas > 0 {
        return Some("a slot that is moved beside replicas is replayed by our own scripts only yet; use replicas = 0");
    }
    let ends = config.faults.deaths_of_nodes() > 0 || config.can_stall_writes();
    ends.then_some(
        "a master that ends or stands still while its slot is moved is replayed by our own scripts only yet; remove that fault, or move_slot",
    )
}

/// Refuses a world in which the clients do not do on such servers what it says.
///
/// # Errors
/// `NotForRedisson`.
pub fn refuse_on_server(config: &Config, program: &RedissonProgram, server: &ServerProgram) -> Result<(), ReplayError> {
    refuse_channels(config, program, server)?;
    let sends_again = |client| config.of_client(client).retries_refused_calls();
    if server.names_errors_of_scripts() || !config.is_split() || !(0..config.clients.count).any(sends_again) {
        return Ok(());
    }
    Err(ReplayError::NotForRedisson {
        version: program.version().to_owned(),
        reason: format!(
            "{server} answers a script that must not write with an error without a name, because of which Redisson sends nothing again; set \
             refused_call to \"throw\", or use Redis 7.0 or newer"
        ),
    })
}

/// Refuses a world in which a slot is moved whose clients publish by other channels than it says, or by different ones, on such servers.
fn refuse_channels(config: &Config, program: &RedissonProgram, server: &ServerProgram) -> Result<(), ReplayError> {
    if config.faults.move_slot == 0 {
        return Ok(());
    }
    let refused = |reason| Err(ReplayError::NotForRedisson { version: program.version().to_owned(), reason });
    let commands_of = |client| {
        let own = program.for_profile(config.of_client(client).protocol.profile, config.protocol.profile)?;
        Ok(own.of_world(config).pub_sub_commands(server))
    };
    let all = (0..config.clients.count).map(commands_of).collect::<Result<Vec<_>, ReplayError>>()?;
    if all.iter().any(|commands| *commands != all[0]) {
        return refused(format!(
            "3.15 publishes by PUBLISH in a cluster of {server} and its newer versions by SPUBLISH, and one way is modelled; give all clients one \
             profile"
        ));
    }
    let channels = all[0].channels();
    let hears = config.waits() && config.lock.facts().publishes();
    if !hears || config.cluster.channels == channels {
        return Ok(());
    }
    let publish = all[0].publish;
    refused(match channels {
        Channels::Sharded => format!("it publishes by {publish} in a cluster of {server}; set channels to \"sharded\""),
        Channels::Global => format!(
            "it publishes by {publish} in a cluster of {server}; set channels to \"global\", or use Redis 7.0 or newer"
        ),
    })
}

/// What callers of a lock with fencing tokens do that is not followed.
fn refuse_tokens(config: &Config, program: &RedissonProgram) -> Result<(), ReplayError> {
    let refused = |reason: &str| {
        Err(ReplayError::NotForRedisson { version: program.version().to_owned(), reason: reason.to_owned() })
    };
    if program.profile() == Profile::Redisson315 {
        return refused("3.15 has no fenced lock; use a newer version");
    }
    let is_told = |client| config.of_client(client).tokens_come_with_grants();
    if config.faults.interrupt > 0 && (0..config.clients.count).any(is_told) {
        return refused(
            "an interrupted call that returns a token stays subscribed until the next message or its timer, which is not modelled; use \
             token = \"read-later\", or remove interrupt",
        );
    }
    Ok(())
}

/// What clients that name values do that is not followed.
fn refuse_values(program: &RedissonProgram) -> Result<(), ReplayError> {
    let refused = |reason: &str| {
        Err(ReplayError::NotForRedisson { version: program.version().to_owned(), reason: reason.to_owned() })
    };
    match program.profile() {
        Profile::Redisson315 => refused("3.15 has no lock over several values; use a newer version"),
        Profile::Redisson343 => refused(
            "3.43 renews such a lock by a script that takes its arguments in another order; use a newer version",
        ),
        _ => Ok(()),
    }
}

/// What the clients of a lock with a queue do that is not followed.
fn refuse_queue(config: &Config, program: &RedissonProgram) -> Result<(), ReplayError> {
    let refused = |reason: &str| {
        Err(ReplayError::NotForRedisson { version: program.version().to_owned(), reason: reason.to_owned() })
    };
    let all = || (0..config.clients.count).map(|client| config.of_client(client));
    let names_lease = |own: &Config| own.time.renew_every.is_none() || own.time.reentry_lease.is_some();
    if all().any(|own| own.time.wait_limit == Some(0) && names_lease(&own)) {
        return refused(
            "a single try that names its lease is tryLock(0, lease), which joins the queue; use a watchdog (renew_every) and no \
             reentry_lease, or a wait_limit",
        );
    }
    let queue_ms = u64::from(config.time.queue_wait.unwrap_or(0)) * u64::from(config.time.tick_ms);
    if program.profile() == Profile::Redisson315 {
        return refused(
            "3.15 answers whoever queues already in another way, which is not modelled; use a newer version",
        );
    }
    let has_no_setting = |own: &Config| {
        let has_limit = own.time.wait_limit.is_some_and(|limit| limit > 0);
        let is_of_3_43 = own.protocol.profile == Profile::Redisson343 || program.profile() == Profile::Redisson343;
        is_of_3_43 && !has_limit
    };
    if queue_ms != USUAL_QUEUE_MS && all().any(|own| has_no_setting(&own)) {
        return refused(
            "callers of 3.43 that have no limit queue for 300 s, and no setting changes that; use queue_wait = \"300s\", a \
             wait_limit, or a newer profile",
        );
    }
    if config.faults.interrupt > 0 && program.interruption() == Interruption::Cancel {
        return refused("cancelled futures of a lock with a queue are not replayed on it yet");
    }
    Ok(())
}

/// Clients of which some publish in the shard of a lock and others do not never wake each other.
fn refuse_mixed_channels(config: &Config, program: &RedissonProgram) -> Result<(), ReplayError> {
    let of_scenario = config.protocol.profile;
    let publishes_in_shards = |client: u8| -> Result<bool, ReplayError> {
        let own = config.of_client(client).protocol.profile;
        Ok(program.for_profile(own, of_scenario)?.publishes_in_shards())
    };
    let all = (0..config.clients.count).map(publishes_in_shards).collect::<Result<Vec<_>, _>>()?;
    if all.iter().all(|in_shards| *in_shards == all[0]) {
        return Ok(());
    }
    let reason = "its versions from 3.43 on publish by SPUBLISH in a cluster of Redis 7.0 and newer and 3.15 by PUBLISH, so that they \
                  do not wake each other, which is not modelled; give all clients one profile, or remove --deployment cluster";
    Err(ReplayError::NotForRedisson { version: program.version().to_owned(), reason: reason.to_owned() })
}

/// What clients with replicas do that is not followed.
fn refuse_replicas(config: &Config, program: &RedissonProgram) -> Result<(), ReplayError> {
    let refused = |reason: &str| {
        Err(ReplayError::NotForRedisson { version: program.version().to_owned(), reason: reason.to_owned() })
    };
    let cluster = &config.cluster;
    let sends_all_again = |client| config.of_client(client).calls.resend == Resend::All;
    if config.is_split() && !(0..config.clients.count).all(sends_all_again) {
        return refused("beside replicas it sends every request again; set resend to \"all\"");
    }
    if config.is_split() && config.faults.interrupt > 0 {
        return refused(
            "in a split network an interrupted caller beside replicas is not replayed on it yet; remove interrupt, or use mode = \"atomic\"",
        );
    }
    // Where each acquire is one request, the application may wait before it calls: the delay is its own then.
    if cluster.start_delay > 0 || cluster.lock_delay > 0 && config.waits() {
        return refused(
            "a thread that waits asks a new master at once, and it has no setting for a delay after a failover or at its start; use \
             lock_delay = 0, or wait_limit = 0 with an application that waits before it calls, and start_delay = 0",
        );
    }
    if config.subscribes_to_replica() && (cluster.replicas > 1 || config.can_fail_over()) {
        return refused(
            "its load balancer chooses the replica on which it subscribes, and it moves to another one at times of its own; use \
             subscribe_to = \"master\", or one replica, and no fault that takes a node away",
        );
    }
    if cluster.wait_for > 0 && config.protocol.wait_rule == WaitRule::Ignored {
        return refused(
            "a version that does not look at the number of replicas sends no WAIT unless it is given the addresses of replicas, and then \
             moves between them by itself; use wait_for = 0, or a newer version of Redisson",
        );
    }
    let is_of_2021 = |client| config.of_client(client).protocol.profile == Profile::Redisson315;
    let has_one_of_2021 = program.profile() == Profile::Redisson315 || (0..config.clients.count).any(is_of_2021);
    if cluster.wait_for > 0 && has_one_of_2021 {
        return refused("3.15 does not look at how many replicas have a grant; use wait_for = 0, or a newer version");
    }
    if cluster.wait_for > 0 && config.protocol.wait_rule != WaitRule::Any {
        return refused("it is content with one replica that has a grant; use wait_rule = \"any\" and wait_for = 1");
    }
    Ok(())
}

fn refuse_client(own: &Config, profile: Profile, program: &RedissonProgram) -> Result<(), ReplayError> {
    if own.protocol.profile.redisson_version().is_none() && own.protocol.profile != profile {
        let reason = "one of its clients is none of Redisson; give it a profile of Redisson".to_owned();
        return Err(ReplayError::NotForRedisson { version: program.version().to_owned(), reason });
    }
    // Redisson renews when a third of the watchdog's lease is over (docs/facts/redisson.md#watchdog-timeout).
    if own.time.renew_every.is_some_and(|every| u16::from(every) * 3 != u16::from(own.time.lease)) {
        let reason = "it renews at a third of the lease; set lease to three times renew_every".to_owned();
        return Err(ReplayError::NotForRedisson { version: program.version().to_owned(), reason });
    }
    if let Some(reason) = refused_rounds(own) {
        return Err(ReplayError::NotForRedisson { version: program.version().to_owned(), reason });
    }
    if own.time.ask_again_after > 1 && own.waits() {
        let reason =
            "a waiter that is told that the lock has no time left asks again at once; set ask_again_after to one tick";
        return Err(ReplayError::NotForRedisson { version: program.version().to_owned(), reason: reason.to_owned() });
    }
    match refused_calls(own) {
        Some(reason) if own.is_split() => {
            Err(ReplayError::NotForRedisson { version: program.version().to_owned(), reason: reason.to_owned() })
        }
        _ => Ok(()),
    }
}

/// Whether the clients of a world have the rules of the version that their profile is named after. Some worlds say what clients with
/// other rules would do: those are held against Redisson only where somebody asks for that.
pub fn has_rules_of_its_version(config: &Config) -> bool {
    (0..config.clients.count).all(|client| {
        let Config { protocol, calls, .. } = *config.of_client(client);
        // On which node it subscribes and how many locks a script renews are settings, behind which requests it waits is no
        // matter of a profile, and how a caller learns its token is that of the application.
        let Protocol { subscribe_to, renewal_batch, wait_after, token, .. } = protocol;
        let own = Protocol { subscribe_to, renewal_batch, wait_after, token, ..protocol.profile.protocol() };
        let are_its_calls = calls.stale_renewal == StaleRenewal::Believe
            && (config.faults.interrupt == 0 || calls.interrupted_acquire == InterruptedAcquire::Renew);
        // Redisson of 2021 has no exceptions of their own for refusals, and sends nothing again because of one.
        let takes_refusals = calls.refused_call == RefusedCall::Throw || protocol.profile != Profile::Redisson315;
        protocol.profile.redisson_version().is_some() && protocol == own && are_its_calls && takes_refusals
    })
}

/// What it does not send again, and receipts that live for another time than all its attempts
/// (docs/facts/redisson.md#resending, #receipt-ttl).
fn refused_calls(own: &Config) -> Option<&'static str> {
    let calls = own.calls;
    let all_attempts = u16::from(calls.answer_within) * u16::from(calls.retry_attempts);
    match calls.resend {
        Resend::Release => Some(
            "with a single server it sends neither acquires nor releases again, and otherwise both; set resend to \"none\" or \"all\"",
        ),
        Resend::None if own.protocol.receipts && calls.receipt < calls.answer_within => {
            Some("its receipts live for as long as it waits for an answer, or longer; set receipt to answer_within")
        }
        Resend::All if calls.retry_attempts == 0 => {
            Some("it sends a request again at least once; set retry_attempts to 1")
        }
        Resend::All if own.protocol.receipts && u16::from(calls.receipt) != all_attempts => {
            Some("its receipts live for all its attempts; set receipt to answer_within times retry_attempts")
        }
        Resend::All
            if own.resource.is_some() && own.can_refuse_writes() && own.protocol.profile != Profile::Redisson315 =>
        {
            Some("it sends again what a server refuses, which is not modelled beside a resource; remove [resource]")
        }
        Resend::None | Resend::All => None,
    }
}

/// How long one round takes for each part, where the call names no lease (docs/facts/family.md#multi).
const ROUND_MS_PER_PART: u64 = 1_500;

/// Why the rounds of this client are not those of Redisson; `None`: they are, or there are none.
fn refused_rounds(own: &Config) -> Option<String> {
    let ms = |ticks: u8| u64::from(ticks) * u64::from(own.time.tick_ms);
    let round_ms = own.time.round_wait.filter(|_| own.takes_in_rounds()).map(ms)?;
    let usual_ms = ROUND_MS_PER_PART * u64::from(own.joined_locks());
    if own.time.renew_every.is_some() {
        let reason = format!("a round of its calls takes {usual_ms} ms; set round_wait to that");
        return (round_ms != usual_ms).then_some(reason);
    }
    let lease_ms = ms(own.time.lease);
    if lease_ms % 1000 != 0 {
        return Some("such a call names its lease in seconds; use a lease of whole seconds".to_owned());
    }
    let drawn = if lease_ms <= usual_ms { lease_ms / 2..lease_ms } else { usual_ms..lease_ms };
    let reason = format!(
        "it draws the time of a round from {} to less than {} ms where the call names a lease; set round_wait to such a time",
        drawn.start, drawn.end
    );
    (!drawn.contains(&round_ms)).then_some(reason)
}
