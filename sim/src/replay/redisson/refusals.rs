//! What Redisson cannot follow, or this target cannot make it do.

use lockstep_model::Config;
use lockstep_model::config::Fault;

use super::interruption::Interruption;
use super::jvm::RedissonProgram;
use crate::replay::error::ReplayError;
use crate::replay::translate::translation_of;

/// What happens to servers and to the way to them: this target has one server that always runs.
const OF_SERVERS: [Fault; 11] = [
    Fault::CrashNode,
    Fault::KillNode,
    Fault::ShutdownNode,
    Fault::RestartNode,
    Fault::CutLink,
    Fault::BreakLink,
    Fault::PauseNode,
    Fault::RefuseWrites,
    Fault::HandOver,
    Fault::LoseRequest,
    Fault::LoseReply,
];

/// The shortest tick in which its timers can be told from the next one.
const LEAST_TICK_MS: u32 = 1_000;

/// Refuses a world in which the clients cannot be this version of Redisson, or which this target cannot make.
///
/// # Errors
/// `NotForRedisson`.
pub fn refuse_world(config: &Config, program: &RedissonProgram) -> Result<(), ReplayError> {
    let refused = |reason: String| Err(ReplayError::NotForRedisson { version: program.version().to_owned(), reason });
    if translation_of(config.lock).redisson().object.is_none() {
        return refused(format!("it has no {} lock", config.lock.facts().name));
    }
    if let Some(fault) = OF_SERVERS.into_iter().find(|fault| config.faults.left(*fault) > 0) {
        return refused(format!("faults of servers and links are not replayed on it yet; remove {}", fault.name()));
    }
    if config.faults.start_client > 0 {
        return refused("clients that start later are not replayed on it yet; remove start_client".to_owned());
    }
    if config.cluster.replicas > 0 {
        return refused("replicas are not replayed on it yet; use replicas = 0".to_owned());
    }
    if config.clients.threads > 1 && config.waits() {
        return refused(
            "which of two waiting threads takes a message is the choice of the JVM; use threads = 1, or wait_limit = 0"
                .to_owned(),
        );
    }
    // Its timers are late by up to a tenth of a second, and each renewal is late by that once more.
    if config.time.tick_ms < LEAST_TICK_MS {
        return refused(format!("its timers are too late for so short a tick; set tick_ms to {LEAST_TICK_MS} or more"));
    }
    let has_future = config.time.wait_limit == Some(0) && config.time.renew_every.is_some();
    if program.interruption() == Interruption::Cancel && !has_future {
        return refused("only tryLockAsync() is cancelled: use wait_limit = 0, and a watchdog".to_owned());
    }
    (0..config.clients.count).try_for_each(|client| refuse_client(&config.of_client(client), program))
}

fn refuse_client(own: &Config, program: &RedissonProgram) -> Result<(), ReplayError> {
    // Redisson renews when a third of the watchdog's lease is over (docs/facts/redisson.md#watchdog-timeout).
    if own.time.renew_every.is_some_and(|every| u16::from(every) * 3 != u16::from(own.time.lease)) {
        let reason = "it renews at a third of the lease; set lease to three times renew_every".to_owned();
        return Err(ReplayError::NotForRedisson { version: program.version().to_owned(), reason });
    }
    // A receipt lives for the time of all attempts (docs/facts/redisson.md#receipt-ttl).
    if own.is_split() && own.protocol.receipts && own.calls.receipt < own.calls.answer_within {
        let reason = "its receipts live for as long as it waits for an answer, or longer; set receipt to answer_within"
            .to_owned();
        return Err(ReplayError::NotForRedisson { version: program.version().to_owned(), reason });
    }
    Ok(())
}
