//! Which method of Redisson's lock an application calls, and what it is told.

use std::borrow::Cow;

use lockstep_model::client::Phase;
use lockstep_model::config::{InterruptedWait, Profile};
use lockstep_model::trace::ThreadState;
use lockstep_model::{Config, Reply};

use super::interruption::Interruption;
use crate::replay::translate::token_of;

/// What an application is told by a call, in words.
pub type ToldWords = Cow<'static, str>;

/// The call of an acquire, for the driver: a verb, and the times that it names, in milliseconds.
///
/// `own`: the scenario as it is for this client. `names_lease`: the call names a lease that others do not.
pub fn acquire(own: &Config, names_lease: bool, interruption: Interruption) -> String {
    let ms = |ticks: u8| u64::from(ticks) * u64::from(own.time.tick_ms);
    let lease = match own.time.renew_every {
        Some(_) => own.named_lease_of(0).filter(|_| names_lease),
        None => Some(own.named_lease_of(0).filter(|_| names_lease).unwrap_or(own.time.lease)),
    };
    if let Some(call) = acquire_in_rounds(own) {
        return call;
    }
    if own.tokens_come_with_grants() {
        return acquire_with_token(own.time.wait_limit.map(ms), lease.map(ms));
    }
    // `lock()` swallows the first interrupt.
    let can_be_interrupted = own.faults.interrupt > 0 && own.clients.interrupted_wait == InterruptedWait::Leave;
    match (own.time.wait_limit, lease.map(ms)) {
        (Some(0), None) if can_be_interrupted && interruption == Interruption::Cancel => "try-async".to_owned(),
        (Some(0), None) => "try".to_owned(),
        (Some(0), Some(lease_ms)) => format!("try-lease {lease_ms}"),
        (Some(limit), None) => format!("try-wait {}", ms(limit)),
        (Some(limit), Some(lease_ms)) => format!("try-wait-lease {} {lease_ms}", ms(limit)),
        (None, None) if can_be_interrupted => "lock-interruptibly".to_owned(),
        (None, None) => "lock".to_owned(),
        (None, Some(lease_ms)) if can_be_interrupted => format!("lock-interruptibly-lease {lease_ms}"),
        (None, Some(lease_ms)) => format!("lock-lease {lease_ms}"),
    }
}

/// The call of an acquire that takes several locks in rounds and names its lease: in seconds, since it is that unit by which later rounds
/// multiply it. The driver makes it draw the wait of the first round that the scenario says.
fn acquire_in_rounds(own: &Config) -> Option<String> {
    let ms = |ticks: u8| u64::from(ticks) * u64::from(own.time.tick_ms);
    if !own.takes_in_rounds() || own.time.renew_every.is_some() {
        return None;
    }
    let wait_ms = ms(own.time.round_wait?);
    Some(format!("lock-lease-seconds {} {wait_ms} {}", ms(own.time.lease) / 1000, own.joined_locks()))
}

/// The same of a call that returns a token. `tryLockAndGetToken()` waits without a limit, and `lockAndGetToken(lease)` ignores its
/// lease (docs/facts/family.md#fenced-lock): a wait of 0 is a single try, and one of -1 has no limit.
fn acquire_with_token(wait_ms: Option<u64>, lease_ms: Option<u64>) -> String {
    match (wait_ms, lease_ms) {
        (None, None) => "lock-token".to_owned(),
        (Some(wait_ms), None) => format!("try-wait-token {wait_ms}"),
        (None, Some(lease_ms)) => format!("try-wait-lease-token -1 {lease_ms}"),
        (Some(wait_ms), Some(lease_ms)) => format!("try-wait-lease-token {wait_ms} {lease_ms}"),
    }
}

/// What the application should have been told by now of its acquire, as the model has it.
pub fn told_of_acquire(before: &ThreadState, after: &ThreadState) -> &'static str {
    match after.phase {
        Phase::Refused | Phase::Subscribed | Phase::Waiting | Phase::Confirming | Phase::Undoing => INSIDE,
        _ if after.holds > before.holds => GRANTED,
        _ => REFUSED,
    }
}

/// What the application of this version is told where a server does not write; `None`: it does. 3.15 has no exceptions of their own
/// for want of replicas and for a replica, and the others know those errors by their names
/// (docs/facts/redisson.md#noreplicas-and-readonly-are-retried). `names_errors`: the server says the name of an error that a write in a
/// script meets.
pub fn told_of_refusal(answer: Reply, profile: Profile, names_errors: bool) -> Option<&'static str> {
    let knows_names = profile != Profile::Redisson315 && names_errors;
    match answer {
        Reply::NotEnoughReplicas | Reply::ReadOnly if !knows_names => Some(REDISSON_EXCEPTION),
        Reply::NotEnoughReplicas => Some(NO_REPLICAS),
        Reply::ReadOnly => Some(READ_ONLY),
        Reply::TryAgain => Some("RedisTryAgainException"),
        Reply::SaveFailed | Reply::WrongType => Some(REDISSON_EXCEPTION),
        _ => None,
    }
}

/// Still inside the call.
pub const INSIDE: &str = "it is still in the call";
/// It has the lock.
pub const GRANTED: &str = "it has the lock";
/// It has the lock, and this token for the resource.
pub fn granted_with(token: i64) -> String {
    format!("{GRANTED}, with token {token}")
}

/// It does not have the lock.
pub const REFUSED: &str = "it does not have the lock";
/// Its release was accepted.
pub const RELEASED: &str = "it has released";
/// It was no holder.
pub const NOT_ITS_OWN: &str = "IllegalMonitorStateException";
/// It was interrupted for the second time in one sleep of `lock()`.
pub const INTERRUPTED_AGAIN: &str = "IllegalStateException";
/// It was interrupted.
pub const INTERRUPTED: &str = "InterruptedException";

/// The future of its call was cancelled.
pub const CANCELLED: &str = "CancellationException";

/// The call that reads the counter of tokens.
pub const READ_TOKEN: &str = "get-token";
/// The call that asks whether its thread holds.
pub const IS_HELD: &str = "is-held";
/// It is told that it holds.
pub const TOLD_HELD: &str = "it is told that it holds";
/// It is told that it does not.
pub const TOLD_NOT_HELD: &str = "it is told that it does not hold";
/// How the verbs end of those that return a token with a grant.
const WITH_TOKEN: &str = "-token";
/// What these return where there is no token.
const NULL: &str = "null";

/// The script that sets the lease at the end has failed: a future that is joined.
pub const JOINED_IN_VAIN: &str = "CompletionException";

/// Its call has failed, whatever becomes of the request.
pub const REDISSON_EXCEPTION: &str = "RedisException";
/// A server has refused to write: it has too few replicas.
pub const NO_REPLICAS: &str = "RedisNoReplicasException";
/// What it asks about replicas has failed.
pub const WAIT_FAILED: &str = "RedisWaitException";
/// A server has refused to write: it is a replica.
pub const READ_ONLY: &str = "RedisReadonlyException";
/// The server that it knows is down; what became of the request is not known.
pub const NO_SERVER: &str = "no server has answered";
/// No reply came in time.
pub const TIMED_OUT: &str = "RedisResponseTimeoutException";

/// Failures that say that there is no connection. 3.52.0 and 4.1.0 fail on one that a server has closed with the exception of a
/// programming error (docs/facts/redisson.md#a-server-that-is-back).
const IS_OF_CONNECTION: [&str; 5] = [
    "ConnectException",
    "RedisConnectionException",
    "RedisConnectionClosedException",
    "ClosedChannelException",
    "NullPointerException",
];

/// What the driver reports of a call's end, in the same words; an exception by its class.
pub fn told_by(verb: &str, ended: Option<&str>) -> String {
    let Some(ended) = ended else { return INSIDE.to_owned() };
    let (flag, told) = ended.split_once(' ').unwrap_or(("", ended));
    if let Some(thrown) = told.strip_prefix("threw ") {
        let mut classes = thrown.split(' ').next().unwrap_or(thrown).split('<');
        if classes.clone().any(|class| IS_OF_CONNECTION.iter().any(|of| class.ends_with(of))) {
            return NO_SERVER.to_owned();
        }
        let class = classes.next().unwrap_or(thrown);
        return class.rsplit('.').next().unwrap_or(class).to_owned();
    }
    let returned = told.strip_prefix("returned ").unwrap_or(told);
    let token = (verb == READ_TOKEN || verb.ends_with(WITH_TOKEN)).then(|| returned.parse().ok());
    let with_token =
        token.flatten().map(|token| if verb == READ_TOKEN { token_of(token) } else { granted_with(token) });
    let words = match (verb, with_token.as_deref().unwrap_or(returned)) {
        (READ_TOKEN, NULL) => return token_of(0),
        (IS_HELD, "true") => TOLD_HELD,
        (IS_HELD, "false") => TOLD_NOT_HELD,
        ("unlock", "nothing") => RELEASED,
        ("force-unlock", "true") => "it has freed the lock",
        ("force-unlock", "false") => "there was nothing to free",
        (_, "nothing" | "true") => GRANTED,
        (_, "false" | NULL) => REFUSED,
        (_, other) => other,
    };
    // By the flag a call that returns tells of an interrupt; one that throws tells of it by the exception.
    if flag == "interrupted" { format!("{words}, and that it was interrupted") } else { words.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario;

    fn config() -> Config {
        let of = |name: &str| scenario::builtin().into_iter().find(|one| one.name == name).map(|one| one.config);
        of("two-clients-wait").or_else(|| scenario::builtin().into_iter().next().map(|one| one.config)).expect("some")
    }

    #[test]
    fn an_application_calls_the_method_that_waits_and_leases_as_the_scenario_says() {
        let mut own = config();
        own.time.tick_ms = 1000;
        own.time.lease = 3;
        let mut call = |renew_every, wait_limit, interrupt| {
            (own.time.renew_every, own.time.wait_limit, own.faults.interrupt) = (renew_every, wait_limit, interrupt);
            acquire(&own, false, Interruption::Thread)
        };
        assert_eq!(call(Some(1), None, 0), "lock");
        assert_eq!(call(Some(1), None, 1), "lock-interruptibly");
        assert_eq!(call(Some(1), Some(0), 0), "try");
        assert_eq!(call(Some(1), Some(2), 0), "try-wait 2000");
        assert_eq!(call(None, None, 0), "lock-lease 3000");
        assert_eq!(call(None, Some(0), 0), "try-lease 3000");
        assert_eq!(call(None, Some(2), 0), "try-wait-lease 2000 3000");
    }

    /// `tryLockAndGetToken()` would wait, and `lockAndGetToken(lease)` ignore its lease.
    #[test]
    fn an_application_that_is_told_its_token_calls_a_method_that_keeps_limit_and_lease() {
        assert_eq!(acquire_with_token(None, None), "lock-token");
        assert_eq!(acquire_with_token(Some(0), None), "try-wait-token 0");
        assert_eq!(acquire_with_token(None, Some(3000)), "try-wait-lease-token -1 3000");
        assert_eq!(acquire_with_token(Some(2000), Some(3000)), "try-wait-lease-token 2000 3000");
        assert_eq!(told_by("lock-token", Some("clear returned 7")), granted_with(7));
        assert_eq!(told_by("lock-token", Some("clear returned -1")), granted_with(-1));
        assert_eq!(told_by("try-wait-token", Some("clear returned null")), REFUSED);
        assert_eq!(told_by(READ_TOKEN, Some("clear returned 7")), token_of(7));
        assert_eq!(told_by(READ_TOKEN, Some("clear returned null")), token_of(0));
    }

    #[test]
    fn what_a_call_returns_or_throws_is_told_in_the_words_of_the_model() {
        assert_eq!(told_by("lock", None), INSIDE);
        assert_eq!(told_by("lock", Some("clear returned nothing")), GRANTED);
        assert_eq!(
            told_by("lock", Some("interrupted returned nothing")),
            format!("{GRANTED}, and that it was interrupted")
        );
        assert_eq!(told_by("try", Some("clear returned false")), REFUSED);
        assert_eq!(told_by(IS_HELD, Some("clear returned true")), TOLD_HELD);
        assert_eq!(told_by(IS_HELD, Some("clear returned false")), TOLD_NOT_HELD);
        assert_eq!(told_by("unlock", Some("clear returned nothing")), RELEASED);
        let thrown = "clear threw java.lang.IllegalMonitorStateException attempt to unlock lock";
        assert_eq!(told_by("unlock", Some(thrown)), NOT_ITS_OWN);
        let refused = "clear threw org.redisson.client.RedisException<java.net.ConnectException no connection";
        assert_eq!(told_by("unlock", Some(refused)), NO_SERVER);
    }
}
