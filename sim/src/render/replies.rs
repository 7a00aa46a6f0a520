//! What is replied to a request: as a phrase in a sentence, and as a label in a picture.

use lockstep_model::config::WaitRule;
use lockstep_model::trace::lock_name;
use lockstep_model::{Config, Reply};

use super::units::{count, lasting_ticks};

/// The reply as a phrase; empty where there is nothing to observe.
pub fn reply(config: &Config, reply: Reply) -> String {
    match reply {
        Reply::Done => String::new(),
        Reply::Acquired => "acquired".to_owned(),
        Reply::Busy { remaining_ticks: Some(ticks) } => format!("busy for {}", lasting_ticks(config, ticks.into())),
        Reply::Busy { remaining_ticks: None } => "busy, no ttl".to_owned(),
        Reply::Released => "released".to_owned(),
        Reply::StillHeld => "one hold released, still held".to_owned(),
        Reply::NotHeld => "not held".to_owned(),
        Reply::TtlSet => "ttl set".to_owned(),
        Reply::NoTtlSet => "no key, no ttl set".to_owned(),
        Reply::Renewed => "renewed".to_owned(),
        Reply::RenewalMissed => "renewal missed".to_owned(),
        Reply::RenewedInPart { missed } => format!("renewed but for {}", lock_name(missed)),
        Reply::WrongType => "error: the key is no lock".to_owned(),
        Reply::RenewalFailed => "error: the script fails".to_owned(),
        Reply::NothingToRenew => "nothing to renew".to_owned(),
        Reply::Unreachable => "no answer".to_owned(),
        Reply::ForceReleased => "deleted".to_owned(),
        Reply::NothingToRelease => "nothing to delete".to_owned(),
        Reply::LeftQueue => "out of the queue".to_owned(),
        Reply::Acknowledged { replicas } => format!("acknowledged by {}", count(replicas.into(), "replica")),
        Reply::TooFewReplicas { replicas } => format!("acknowledged by {}", too_few(replicas)),
        Reply::SaysHeld => "told that it holds".to_owned(),
        Reply::SaysNotHeld => "told that it does not hold".to_owned(),
        Reply::TokenRead { number: 0 } => "no token".to_owned(),
        Reply::TokenRead { number } => format!("token {number}"),
        Reply::Accepted => "accepted".to_owned(),
        Reply::Rejected => "rejected".to_owned(),
        Reply::NotEnoughReplicas => "not enough replicas".to_owned(),
        Reply::SaveFailed => "no writes: a save failed".to_owned(),
        Reply::TryAgain => "try again: the slot is moved".to_owned(),
        Reply::ReadOnly => "read only: a replica".to_owned(),
        Reply::Unknown => "outcome unknown".to_owned(),
        Reply::ToldRefused => "no answer, told as a refusal".to_owned(),
        Reply::Interrupted => "interrupted".to_owned(),
    }
}

/// The reply as a label of an arrow or a lane: shorter than the phrase, which stands beside it.
pub fn label(config: &Config, answer: Reply) -> String {
    match answer {
        Reply::Busy { remaining_ticks: Some(ticks) } => format!("busy {}", lasting_ticks(config, ticks.into())),
        Reply::Busy { remaining_ticks: None } => "busy".to_owned(),
        Reply::ForceReleased => reply(config, Reply::Released),
        Reply::RenewalMissed => "missed".to_owned(),
        Reply::RenewedInPart { .. } => "in part".to_owned(),
        Reply::WrongType => "wrong type".to_owned(),
        Reply::RenewalFailed => "fails".to_owned(),
        Reply::NothingToRenew => "timer ends".to_owned(),
        Reply::NothingToRelease | Reply::NoTtlSet => "no lock".to_owned(),
        Reply::Acknowledged { replicas } | Reply::TooFewReplicas { replicas } => format!("{replicas} have it"),
        Reply::NotEnoughReplicas => "no replicas".to_owned(),
        Reply::SaveFailed => "no writes".to_owned(),
        Reply::TryAgain => "try again".to_owned(),
        Reply::ReadOnly => "read only".to_owned(),
        Reply::Unknown => "unknown".to_owned(),
        Reply::SaysHeld => "holds it".to_owned(),
        Reply::SaysNotHeld => "not held".to_owned(),
        Reply::ToldRefused => "refused".to_owned(),
        Reply::Done
        | Reply::Acquired
        | Reply::Released
        | Reply::StillHeld
        | Reply::NotHeld
        | Reply::Renewed
        | Reply::TtlSet
        | Reply::Unreachable
        | Reply::LeftQueue
        | Reply::TokenRead { .. }
        | Reply::Accepted
        | Reply::Rejected
        | Reply::Interrupted => reply(config, answer),
    }
}

/// The answer to a `WAIT` after which the client believes its grant.
pub fn enough(config: &Config, client: u8, replicas: u8) -> String {
    let have = format!("{} acknowledged the grant", count(replicas.into(), "replica"));
    match config.settings_of(client).protocol.wait_rule {
        WaitRule::Any | WaitRule::All => have,
        WaitRule::Ignored => format!("{have}, which this client does not check"),
    }
}

/// A number of replicas that acknowledged too little: `no replica`, `1 replica only`.
pub fn too_few(replicas: u8) -> String {
    if replicas == 0 { "no replica".to_owned() } else { format!("{} only", count(replicas.into(), "replica")) }
}
