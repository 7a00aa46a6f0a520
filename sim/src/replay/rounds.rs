//! By which value each key was stored that a client has taken on one of several masters.
//!
//! Each round of a call brings a value of its own. The model tells those of the round in which a client is from all that are left
//! of earlier ones, and has no more than these two; here every round has a number.

use std::borrow::Cow;
use std::collections::BTreeMap;

use lockstep_model::Action;
use lockstep_model::config::Config;
use lockstep_model::trace::{Contents, KeyValue, client_name};
use lockstep_redis::{HoldValue, HolderId};

use super::history_step::HistoryStep;

/// The rounds of the clients of one history.
#[derive(Debug, Default)]
pub struct CallRounds {
    /// How many each client has begun.
    begun: BTreeMap<u8, u8>,
    /// The round of the ask of a client that is under way to a node although it was given up.
    late: BTreeMap<(u8, usize), u8>,
    /// The round by which a node stores, or stored last, the key of a client.
    stored: BTreeMap<(u8, usize), u8>,
    /// The same of each effect that is under way to a replica, the oldest first; 0: the effect stores no key of the client.
    under_way: BTreeMap<(u8, usize), Vec<u8>>,
}

impl CallRounds {
    /// What the step does to them.
    pub fn follow(&mut self, config: &Config, step: HistoryStep<'_>) {
        if !config.asks_masters() {
            return;
        }
        match step.step.action {
            Action::Acquire { client, .. } | Action::WakeByTimer { client, .. } => {
                *self.begun.entry(client).or_default() += 1;
            }
            Action::LateAsk { client, node } => {
                self.late.insert((client, usize::from(node)), self.of(client));
            }
            _ => {}
        }
        for (number, (before, after)) in step.before.nodes.iter().zip(&step.step.state.nodes).enumerate() {
            for client in 0..config.clients.count {
                let applied = self.follow_effects(step, client, number);
                let Some(value) = value_in(&after.stored, client) else { continue };
                if value == 0 {
                    self.stored.insert((client, number), self.of(client));
                } else if let Some(round) = applied {
                    self.stored.insert((client, number), round);
                } else if value_in(&before.stored, client).is_none()
                    && matches!(step.step.action, Action::ArriveLate { client: of, node } if of == client && usize::from(node) == number)
                {
                    let round = self.late.get(&(client, number)).copied().unwrap_or_default();
                    self.stored.insert((client, number), round);
                }
            }
        }
    }

    /// What the step does to the effects under way to a node, as far as they store a key of this client. The round of the key that it has
    /// applied, if it has.
    fn follow_effects(&mut self, step: HistoryStep<'_>, client: u8, number: usize) -> Option<u8> {
        let old = self.under_way.remove(&(client, number)).unwrap_or_default();
        let has_applied =
            matches!(step.step.action, Action::Replicate { node } if usize::from(node) == number && !old.is_empty());
        let after = step.step.state.nodes[number].under_way.iter();
        let rounds: Vec<_> = after
            .zip(usize::from(has_applied)..)
            .map(|(effect, place)| match value_in(effect, client) {
                None => 0,
                Some(0) => self.of(client),
                // It was under way before, in the round in which it was stored.
                Some(_) => old.get(place).copied().unwrap_or_default(),
            })
            .collect();
        if !rounds.is_empty() {
            self.under_way.insert((client, number), rounds);
        }
        old.first().copied().filter(|round| has_applied && *round > 0)
    }

    /// In which round of all its calls this client is.
    fn of(&self, client: u8) -> u8 {
        self.begun.get(&client).copied().unwrap_or_default()
    }

    /// The round of what a client asks in this step.
    pub fn asked_in(&self, config: &Config, action: Action) -> Option<u8> {
        match action {
            // With its timer a round begins, where masters are asked in rounds, and nobody is asked yet.
            Action::WakeByTimer { .. } if config.extends_in_rounds() => None,
            Action::ArriveLate { client, node } => self.late.get(&(client, usize::from(node))).copied(),
            Action::AskMaster { client, .. }
            | Action::SecondAsk { client, .. }
            | Action::WakeByMessage { client, .. }
            | Action::WakeByTimer { client, .. }
            | Action::ExtendAt { client, .. }
            | Action::SetTtlAt { client, .. }
            | Action::SlowReply { client, .. }
            | Action::ReleaseAt { client, .. } => Some(self.of(client)),
            _ => None,
        }
    }

    /// What a node stores, with the values that its keys have in Redis.
    pub fn in_redis<'a>(&self, config: &Config, node: usize, stored: &'a Contents) -> Cow<'a, Contents> {
        if !config.asks_masters() {
            return Cow::Borrowed(stored);
        }
        let mut contents = stored.clone();
        for hold in &stored.holders {
            let Some(client) = (0..config.clients.count).find(|client| is_of(&hold.holder, *client)) else { continue };
            let round = self.stored.get(&(client, node)).copied().unwrap_or_default();
            for key in &mut contents.keys {
                if matches!(key.value, KeyValue::String(_)) {
                    key.value = KeyValue::String(value_of_round(client, round).to_string());
                }
            }
        }
        Cow::Owned(contents)
    }
}

/// The value that a client brings in this round.
fn value_of_round(client: u8, round: u8) -> HoldValue {
    HoldValue::of_acquire(&HolderId::new(client_name(client), 1), round.into())
}

/// By which value a key of this client is stored; `None`: there is none.
fn value_in(stored: &Contents, client: u8) -> Option<u8> {
    stored.holders.iter().find(|hold| is_of(&hold.holder, client)).map(|hold| hold.value)
}

/// Whether a holder is this client.
fn is_of(holder: &str, client: u8) -> bool {
    holder.starts_with(client_name(client))
}
