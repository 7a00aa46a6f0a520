//! What every property says of itself.

use serde::{Deserialize, Serialize};

use crate::config::sections::Config;
use crate::mutants::Mutant;
use crate::notes::Happening;

/// What a property says of itself.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// The word that scenarios and reports use; stable across versions.
    pub id: &'static str,
    /// What sort of claim it is.
    pub kind: PropertyKind,
    /// What it says.
    pub sentence: &'static str,
    /// Where the claim comes from.
    pub source: &'static str,
    /// What must happen for a "holds" to say anything: the property's reachable twin. `None`: something must be pending.
    pub antecedent: Option<Happening>,
    /// That the antecedent never came true, in words, for a verdict of vacuous.
    pub untested: &'static str,
    /// A wrong rule by which it fails: the proof that it can.
    pub mutant: Mutant,
    /// Whether it says anything about such a scenario; if not, why, for a reader who declared it.
    pub applies: fn(&Config) -> Result<(), &'static str>,
}

/// What sort of claim a property is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PropertyKind {
    /// In every state.
    Safety,
    /// On every fair path.
    Liveness,
    /// On some path from every state.
    Possible,
    /// At least once.
    Reachable,
}

/// It says something about every scenario.
#[expect(clippy::unnecessary_wraps, reason = "others may say no")]
pub(super) const fn always(_: &Config) -> Result<(), &'static str> {
    Ok(())
}

/// A property of renewals applies where there are any.
pub(super) fn has_watchdog(config: &Config) -> Result<(), &'static str> {
    if !config.some_client(|own| own.time.renew_every.is_some()) {
        return Err("there is no watchdog: renew_every in [time] is left out");
    }
    Ok(())
}

/// A property of what the acting master stores.
///
/// # Errors
/// Several masters store the lock.
pub(super) fn of_one_master(config: &Config) -> Result<(), &'static str> {
    if config.asks_masters() {
        return Err("several masters store the lock: what one of them stores, or loses, is not the lock");
    }
    Ok(())
}
