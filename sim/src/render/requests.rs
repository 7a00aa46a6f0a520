//! Requests in flight, in words.

use std::fmt::Write as _;

use lockstep_model::client::Verb;
use lockstep_model::trace::{ClientState, RequestStage, RequestState};
use lockstep_model::{Config, Reply};

use super::replies::reply;
use super::units::{count, list, time};

/// The requests of a client in flight, and what it has not processed yet: one line each.
pub fn requests(config: &Config, client: &ClientState) -> Vec<String> {
    let mut lines: Vec<_> = client.requests.iter().map(|request| in_flight(config, request)).collect();
    if !client.unregistered.is_empty() {
        let threads: Vec<_> = client.unregistered.iter().map(|thread| format!("thread {}", thread + 1)).collect();
        lines.push(format!("not registered yet: a hold of {}", list(&threads)));
    }
    if let Some(age) = client.message_age {
        lines.push(format!("its oldest message has been under way for {}", time(config, age.into())));
    }
    lines
}

fn in_flight(config: &Config, request: &RequestState) -> String {
    let what = verb(request.verb);
    let (given_up, waiter) = match (request.slot.is_late(), request.answer_left) {
        (false, _) => ("", "caller"),
        (true, Some(_)) => (", whose caller was interrupted", "process"),
        (true, None) => (", abandoned", "process"),
    };
    let number = request.receipt.map_or_else(String::new, |number| format!(" {number}"));
    let value = match request.value {
        None => String::new(),
        Some(0) => " by no acquire".to_owned(),
        Some(value) => format!(" by acquire {value}"),
    };
    let mut says = format!("in flight: {what}{number} of {}{value} to {}{given_up}, ", request.holder, request.node);
    let answer = request.answer.map_or_else(String::new, |answer| reply(config, answer));
    match request.stage {
        RequestStage::Sent => says += "sent",
        RequestStage::Confirming if request.answer == Some(Reply::Acquired) => {
            says += "granted, waiting for its replicas";
        }
        RequestStage::Confirming => {
            let _ = write!(says, "executed, \"{answer}\", waiting for the replicas");
        }
        RequestStage::Executed if request.heard => {
            let _ = write!(says, "answered \"{answer}\", which the process has received");
        }
        RequestStage::Executed => {
            let _ = write!(says, "executed, \"{answer}\"");
        }
        RequestStage::Lost => says += "lost",
    }
    if let Some(replicas) = request.asks_for {
        let _ = write!(says, "; WAIT for {}", count(replicas.into(), "replica"));
    }
    if let Some(replicas) = request.acknowledged_by {
        let _ = write!(says, "; acknowledged by {}", count(replicas.into(), "replica"));
    }
    if request.age > 0 {
        let _ = write!(says, " for {}", time(config, request.age.into()));
    }
    if request.token > 0 {
        let _ = write!(says, ", with token {}", request.token);
    }
    if let Some(left) = request.answer_left {
        let waits =
            if left == 0 { "waits no longer".to_owned() } else { format!("waits {} more", time(config, left.into())) };
        let _ = write!(says, "; its {waiter} {waits}");
    }
    if request.retries_left > 0 {
        let _ = write!(says, ", may be sent again {}", count(request.retries_left.into(), "time"));
    }
    if request.repeats_left > 0 {
        let _ = write!(says, ", its call may be made again {}", count(request.repeats_left.into(), "time"));
    }
    if request.has_failed {
        says += "; its caller will be told that a server refused to write";
    }
    if request.stale {
        says += "; the holds it was sent for are gone";
    }
    if request.must_undo {
        says += "; to be released if granted";
    }
    says
}

/// The name of a kind of request.
pub const fn verb(verb: Verb) -> &'static str {
    match verb {
        Verb::Acquire => "acquire",
        Verb::Release => "release",
        Verb::Renew => "renewal",
        Verb::Undo => "undo",
        Verb::SetTtl => "PEXPIRE",
    }
}
