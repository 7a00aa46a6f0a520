//! Requests that are three steps: each goes its own way ([`Line`]), and leaves the other steps' stretch where it is
//! executed.

use lockstep_model::Action;
use lockstep_model::client::Slot;
use lockstep_model::trace::{RequestStage, RequestState, State, SubscriptionState, TraceStep, client_name};
use lockstep_model::{Happening, Reply};
use redis::{ConnectionLike as _, Value};

use super::super::translate::acknowledged;
use super::waits::wait_for;
use super::{Error, Expected, Place, Player, node_name_of};
use crate::replay::line::Line;

/// Whose request, and which.
type Key = (u8, Slot);

/// What the clients have in flight.
#[derive(Default)]
pub(super) struct InFlight {
    lines: Vec<(Key, Line)>,
}

impl InFlight {
    /// Whether a node has still to say who has a grant.
    pub(super) fn waits(&self) -> bool {
        self.lines.iter().any(|(_, line)| line.waits())
    }

    fn get(&mut self, key: Key) -> Result<&mut Line, Error> {
        self.lines.iter_mut().find(|(at, _)| *at == key).map(|(_, line)| line).ok_or(Error::NothingInFlight)
    }

    fn take(&mut self, key: Key) -> Option<Line> {
        let index = self.lines.iter().position(|(at, _)| *at == key)?;
        Some(self.lines.swap_remove(index).1)
    }
}

impl Player {
    /// What the step does to requests in flight. Where it does nothing to them, nothing is done.
    pub(super) fn play_in_flight(&mut self, step: &TraceStep, before: &State) -> Result<(), Error> {
        match step.action {
            Action::Execute { client, slot } => self.execute(step, before, (client, slot))?,
            Action::Answer { client, slot } => {
                self.flush()?;
                let mut line = self.in_flight.take((client, slot)).ok_or(Error::NothingInFlight)?;
                self.hear_answer(step, client, &mut line)?;
                if slot != Slot::Late {
                    self.drop_receipt(step, before, client, &line)?;
                }
            }
            _ => {}
        }
        self.follow_waits(step)?;
        self.follow_requests(step, before)
    }

    /// Hears what nodes answer to a `WAIT`, in the step in which they do; a step that says so is its time-out.
    fn follow_waits(&mut self, step: &TraceStep) -> Result<(), Error> {
        let at = Place { step: step.number, action: step.action };
        let mut lines = std::mem::take(&mut self.in_flight.lines);
        for (key, line) in lines.iter_mut().filter(|(_, line)| line.waits()) {
            let request = state_of(&step.state, *key).filter(|_| is_counted(&step.state, *key));
            if let Some((request, reply)) = request.and_then(|request| Some((request, request.answer?))) {
                let is_over = matches!(step.action, Action::Confirm { .. });
                let redis = self.hear_wait(self.index_of(&request.node), line, is_over)?;
                self.told.note(|| format!("{}: WAIT → {redis}", request.node));
                let words = self.interpreter.reply_words(reply);
                self.told.compare(at, || "reply to WAIT".to_owned(), &words, &redis);
            } else if !waits_after(&step.state, *key) {
                line.drop_wait();
            }
        }
        self.in_flight.lines = lines;
        Ok(())
    }

    fn hear_wait(&mut self, node: usize, line: &mut Line, is_over: bool) -> Result<String, Error> {
        self.flush()?;
        self.wait_heard(node)?;
        if is_over {
            self.end_wait(node, line.connection)?;
        } else if self.is_blocked_in_wait(node, line.connection)? {
            line.drop_wait();
            return Ok("it waits on".to_owned());
        }
        let value = line.end_wait()?;
        redis::from_redis_value(value).map(acknowledged).map_err(|error| Error::link(error.to_string()))
    }

    /// The node gets what the client wrote, and what it answers is held.
    fn execute(&mut self, step: &TraceStep, before: &State, key: Key) -> Result<(), Error> {
        self.flush()?;
        let at = Place { step: step.number, action: step.action };
        let request = state_of(before, key).ok_or(Error::NothingInFlight)?;
        let node = self.index_of(&request.node);
        let line = self.in_flight.get(key)?;
        let socket = self.members[node].node.socket();
        let value = if waits_after(&step.state, key) || is_counted(&step.state, key) {
            line.execute_and_wait(socket)?
        } else {
            line.execute(socket)?
        };
        let words = self.interpreter.reply_words(step.answer);
        let expected = Expected::Reply { at, words, request: line.request.clone() };
        self.told.hear(node, self.config.lock, &expected, &value)?;
        self.note_writes(step, before, node)?;
        if step.happenings.contains(&Happening::Published) { self.read_messages() } else { Ok(()) }
    }

    /// The client reads what had been held, and it means what the model says.
    fn hear_answer(&mut self, step: &TraceStep, client: u8, line: &mut Line) -> Result<(), Error> {
        let at = Place { step: step.number, action: step.action };
        let values = line.answers()?;
        let heard = match (values.as_slice(), step.answer) {
            ([_, Value::Int(replicas)], Reply::Acknowledged { .. } | Reply::TooFewReplicas { .. }) => {
                acknowledged(*replicas)
            }
            ([value, ..], _) => {
                line.request.answer_words(value, self.config.lock).unwrap_or_else(|error| error.to_string())
            }
            ([], _) => return Err(Error::NothingInFlight),
        };
        let words = self.interpreter.reply_words(step.answer);
        self.told.note(|| format!("{} reads: {heard}", client_name(client)));
        self.told.compare(at, || "answer".to_owned(), &words, &heard);
        Ok(())
    }

    /// The client throws the receipt of an answered release away.
    fn drop_receipt(&mut self, step: &TraceStep, before: &State, client: u8, line: &Line) -> Result<(), Error> {
        let Some(command) = line.request.afterwards.clone() else { return Ok(()) };
        let node = self.index_of(&before.clients[usize::from(client)].master);
        if self.members[node].role == super::Role::Master {
            let deleted = self.members[node].connection.req_command(&command);
            deleted.map_err(Error::redis("DEL of a receipt"))?;
            self.note_writes(step, before, node)?;
        }
        Ok(())
    }

    /// Sends what the step has sent, and lets go of what is lost, answered or waited for no longer.
    fn follow_requests(&mut self, step: &TraceStep, before: &State) -> Result<(), Error> {
        for client in 0..self.config.clients.count {
            // What its caller has given up goes on under another name.
            let late = (client, Slot::Late);
            if state_of(&step.state, late).is_some() && state_of(before, late).is_none() {
                let given_up = match step.action {
                    Action::Resend { slot, .. } | Action::Abandon { slot, .. } => Some(slot),
                    Action::Interrupt { thread, .. } => Some(Slot::of_thread(thread)),
                    _ => None,
                };
                if let Some(mut line) = given_up.and_then(|slot| self.in_flight.take((client, slot))) {
                    line.drop_wait();
                    self.in_flight.lines.push((late, line));
                }
            }
            for slot in Slot::ALL {
                let key = (client, slot);
                match state_of(&step.state, key) {
                    Some(request) if request.stage == RequestStage::Sent && is_sent_now(step, before, key) => {
                        self.in_flight.take(key);
                        let thread = thread_of(&step.state, client, request);
                        let wait = request.asks_for.map(wait_for);
                        let line = Line::send(self.interpreter.call_of(request, client, thread), wait.as_ref())?;
                        let then = request.asks_for.map_or_else(String::new, |replicas| format!(", WAIT {replicas}"));
                        let asked = line.request.asked_words();
                        self.told.note(|| format!("{} writes {asked}{then}", client_name(client)));
                        self.in_flight.lines.push((key, line));
                    }
                    Some(request) if request.stage != RequestStage::Lost => {}
                    Some(_) | None => drop(self.in_flight.take(key)),
                }
            }
        }
        Ok(())
    }

    /// What a node wrote and published at once: an effect to its replicas, and messages to who is subscribed there.
    fn note_writes(&mut self, step: &TraceStep, before: &State, node: usize) -> Result<(), Error> {
        let at = Place { step: step.number, action: step.action };
        if step.happenings.contains(&Happening::Published) {
            let name = node_name_of(node);
            for (listener, client) in self.listeners.iter_mut().zip(&before.clients) {
                if client.subscription.as_ref().and_then(SubscriptionState::node) == Some(&name) {
                    listener.awaited.push(at);
                }
            }
        }
        let has_replicas = self.members.iter().any(|member| member.gate.is_some());
        if node != self.master || !has_replicas || !step.happenings.contains(&Happening::Wrote) {
            return Ok(());
        }
        self.mark_now()
    }
}

fn state_of(state: &State, (client, slot): Key) -> Option<&RequestState> {
    state.clients[usize::from(client)].requests.iter().find(|request| request.slot == slot)
}

/// Whether its node has still to say who has the grant.
fn waits_after(state: &State, key: Key) -> bool {
    state_of(state, key).is_some_and(|request| request.stage == RequestStage::Confirming)
}

/// Whether its node has said so.
fn is_counted(state: &State, key: Key) -> bool {
    let answer = state_of(state, key).and_then(|request| request.answer);
    matches!(answer, Some(Reply::Acknowledged { .. } | Reply::TooFewReplicas { .. }))
}

/// Whether it was this step that sent it: there was none before, or the step sends again.
fn is_sent_now(step: &TraceStep, before: &State, key: Key) -> bool {
    let is_again = match step.action {
        Action::Resend { client, slot } | Action::Answer { client, slot } => (client, slot) == key,
        _ => false,
    };
    let was_given_up = key.1 == Slot::Late && !is_again;
    !was_given_up && (is_again || state_of(before, key).is_none())
}

fn thread_of(state: &State, client: u8, request: &RequestState) -> u8 {
    let threads = &state.clients[usize::from(client)].threads;
    let index = threads.iter().position(|thread| thread.name == request.holder);
    index.and_then(|index| u8::try_from(index).ok()).unwrap_or(0)
}
