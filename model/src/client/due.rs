//! What a process will do before time passes.
//!
//! A running client is prompt: what it can do at once it does before the next tick. Only a pause, or a master that does not
//! answer, makes it late.

use super::requests::{InFlight, Request, Requests, Slot, Stage};
use super::state::{Client, Phase};
use crate::config::sections::Config;
use crate::mutants::Mutant;
use crate::time::Timer;

/// One process and what it has in flight, to look at.
#[derive(Clone, Copy)]
pub(crate) struct ProcessView<'a, Q: InFlight> {
    pub(crate) config: &'a Config,
    pub(crate) client: &'a Client,
    pub(crate) in_flight: &'a Q,
}

/// What a process reaches of the servers.
#[derive(Clone, Copy)]
pub(crate) struct Reach {
    /// The master that it knows answers what writes nothing.
    pub(crate) answers: bool,
    /// And takes requests.
    pub(crate) is_up: bool,
    /// It answers, and says that it is master.
    pub(crate) is_master: bool,
}

impl<Q: InFlight> ProcessView<'_, Q> {
    /// Whether it will act before time passes. Without a master it only gives up, and finds that a renewal has no answer.
    /// `can_execute`: whether a request can be executed by its node; `is_held`: whether its answer may wait in a node that
    /// stands still; `is_muted`: whether an unlock message may.
    #[inline]
    pub(crate) fn is_due(
        &self,
        reach: Reach,
        can_execute: impl Fn(&Request) -> bool,
        is_held: impl Fn(&Request) -> bool,
        is_muted: bool,
    ) -> bool {
        self.has_due_request(reach, can_execute, is_held)
            || self.has_due_act(reach)
            || (!is_muted && self.has_due_message())
    }

    #[inline]
    fn has_due_act(&self, reach: Reach) -> bool {
        let client = self.client;
        if !client.is_running() {
            return false;
        }
        let requests = self.in_flight.requests();
        let may_ask = reach.is_up && client.asks_in == Timer::OFF;
        (client.renewal.due_in().is_due() && requests.get(Slot::Renewal).is_none())
            || (0u8..).zip(&client.threads).any(|(number, thread)| {
                let is_at_limit = thread.wait_left.is_due() && !self.config.is_mutated(Mutant::WaitLimitIgnored);
                match thread.phase {
                    Phase::Refused => is_at_limit || reach.is_master,
                    Phase::Subscribed => is_at_limit || may_ask,
                    Phase::Waiting => {
                        let is_woken = client.wakeup.permits > 0 || thread.wake_in.is_due();
                        // One that spins sleeps on, whatever its limit says.
                        let is_leaving = is_at_limit && (is_woken || !self.config.lock.facts().spins());
                        is_leaving || (may_ask && is_woken)
                    }
                    // In a nested call the code goes on, limit or not, and so does the belief: only code that runs can end.
                    Phase::Idle => {
                        let is_over = thread.hold_left.is_due() || thread.has_stopped();
                        let is_one_caller = self.config.shares() || self.config.has_parts();
                        thread.has_hold() && is_over && !(is_one_caller && client.is_calling_beside(number))
                    }
                    Phase::Confirming => reach.answers,
                    // A request in flight is waited for where the network is.
                    Phase::NextPart => {
                        is_at_limit || (may_ask && thread.wake_in.is_due()) || thread.asks_in_vain(reach.is_up)
                    }
                    // A round that begins anew after errors need not do so before the next tick.
                    Phase::AskingMasters => thread.wake_in != Timer::SOON,
                    Phase::GivingBack | Phase::ReleasingMasters | Phase::Doubting => true,
                    Phase::Undoing | Phase::SettingTtl => requests.get(Slot::of_thread(number)).is_none(),
                    // The code that a late reply extends goes on, and may end.
                    Phase::HearingMaster => {
                        let is_over = thread.hold_left.is_due() || thread.has_stopped();
                        self.config.extends_in_rounds() && thread.has_hold() && is_over
                    }
                    Phase::Asking | Phase::AskingAgain | Phase::Releasing | Phase::Dead => false,
                }
            })
    }

    /// Whether time must wait for a message.
    #[inline]
    fn has_due_message(&self) -> bool {
        let age = self.in_flight.requests().message_age();
        self.config.network.delay.most().is_some_and(|most| age >= most)
            && self.client.is_running()
            && self.client.wakeup.messages() > 0
            && !self.config.is_mutated(Mutant::MessagesNeverArrive)
    }

    /// Whether time must wait for something in flight.
    #[inline]
    fn has_due_request(
        &self,
        reach: Reach,
        can_execute: impl Fn(&Request) -> bool,
        is_held: impl Fn(&Request) -> bool,
    ) -> bool {
        let requests = self.in_flight.requests();
        let is_running = self.client.is_running();
        requests.iter().any(|(slot, request)| match request.stage {
            Stage::Sent if request.is_due(self.config) && can_execute(request) => true,
            Stage::Confirming(_) if can_execute(request) => true,
            Stage::Executed(_) if is_running && request.is_heard => true,
            Stage::Executed(_) if is_running && request.is_due(self.config) && !is_held(request) => true,
            Stage::Sent | Stage::Confirming(_) | Stage::Executed(_) | Stage::Lost => {
                self.will_act_on(slot, request, reach)
            }
        }) || (is_running && requests.owed != Requests::NONE.owed)
    }

    /// Whether the caller of an overdue request will do something about it before time passes.
    fn will_act_on(&self, slot: Slot, request: &Request, reach: Reach) -> bool {
        let can_resend = request.retries_left == 0 || reach.is_up;
        self.overdue(slot).is_some() && can_resend
    }

    /// The request in that slot, if its caller's timeout is over.
    pub(crate) fn overdue(&self, slot: Slot) -> Option<Request> {
        let request = self.in_flight.requests().get(slot)?;
        let is_waiting = request.is_awaited(slot) && self.client.is_running() && !request.is_heard;
        (is_waiting && request.answer_left.is_due()).then_some(*request)
    }
}
