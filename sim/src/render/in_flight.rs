//! What is in flight, in words: of a scenario what may become of it, of a state what there is.

use std::fmt::Write as _;

use lockstep_model::client::{Slot, Verb};
use lockstep_model::config::{Config, MessageDelay, Resend};
use lockstep_model::trace::{ClientState, ReceiptState, RequestStage, RequestState};

use super::words::{count, duration, list, reply, time};

/// Of a split network: how late what is sent may be, and what becomes of a request that is not answered.
pub fn network(config: &Config) -> Option<String> {
    if !config.is_split() {
        return None;
    }
    let late = match config.network.delay {
        MessageDelay::None => "what is sent arrives before time moves".to_owned(),
        MessageDelay::Ticks(most) => format!("what is sent may be late by {}", time(config, most.into())),
        MessageDelay::Any => "what is sent may be late without bound".to_owned(),
    };
    let calls = config.calls;
    let waits = format!("an answer is waited for during {}", time(config, calls.answer_within.into()));
    let again = match calls.resend {
        Resend::None => "nothing is sent again".to_owned(),
        Resend::Release => format!("then a release is sent again, at most {}", times(calls.retry_attempts)),
        Resend::All => format!("then the same is sent again, at most {}", times(calls.retry_attempts)),
    };
    let receipts = if config.leaves_receipts() {
        format!("; a receipt lives {}", time(config, calls.receipt.into()))
    } else {
        "; no receipts".to_owned()
    };
    Some(format!("a request, its execution and its answer are a step each; {late}; {waits}, {again}{receipts}"))
}

fn times(number: u8) -> String {
    count(number.into(), "time")
}

/// What a client has in flight, one line a request.
pub fn requests(config: &Config, client: &ClientState) -> Vec<String> {
    let mut lines: Vec<_> = client.requests.iter().map(|request| in_flight(config, request)).collect();
    if !client.unregistered.is_empty() {
        let threads: Vec<_> = client.unregistered.iter().map(|thread| format!("thread {}", thread + 1)).collect();
        lines.push(format!("not registered yet: a hold of {}", list(&threads)));
    }
    if let Some(age) = client.message_age {
        lines.push(format!("its oldest message is under way for {}", time(config, age.into())));
    }
    lines
}

fn in_flight(config: &Config, request: &RequestState) -> String {
    let what = match request.verb {
        Verb::Acquire => "acquire",
        Verb::Release => "release",
        Verb::Renew => "renewal",
        Verb::Undo => "undo",
    };
    let given_up = if request.slot == Slot::Late { ", given up" } else { "" };
    let number = request.receipt.map_or_else(String::new, |number| format!(" {number}"));
    let mut says = format!("in flight: {what}{number} of {} to {}{given_up}, ", request.holder, request.node);
    let answer = request.answer.map_or_else(String::new, |answer| reply(config, answer));
    match request.stage {
        RequestStage::Sent => says += "sent",
        RequestStage::Confirming => says += "granted, and its replicas are asked",
        RequestStage::Executed if request.heard => {
            let _ = write!(says, "answered \"{answer}\", which the process has heard");
        }
        RequestStage::Executed => {
            let _ = write!(says, "executed, \"{answer}\"");
        }
        RequestStage::Lost => says += "lost",
    }
    if let Some(replicas) = request.asks_for {
        let _ = write!(says, "; WAIT for {}", count(replicas.into(), "replica"));
    }
    if request.age > 0 {
        let _ = write!(says, " for {}", time(config, request.age.into()));
    }
    if request.token > 0 {
        let _ = write!(says, ", with token {}", request.token);
    }
    if let Some(left) = request.answer_left {
        let when = if left == 0 { "no longer".to_owned() } else { format!("for {}", time(config, left.into())) };
        let _ = write!(says, "; waited for {when}");
    }
    if request.retries_left > 0 {
        let _ = write!(says, ", may be sent again {}", times(request.retries_left));
    }
    if request.stale {
        says += "; the holds it was sent for are gone";
    }
    if request.must_undo {
        says += "; to be released if granted";
    }
    says
}

/// The receipts of a node or an effect: `receipts A 1 (still held) ttl 10 s`. Empty where there are none.
pub fn receipts(receipts: &[ReceiptState]) -> String {
    if receipts.is_empty() {
        return String::new();
    }
    let each = receipts.iter().map(|receipt| {
        let says = if receipt.freed { "released" } else { "still held" };
        let life = receipt.ttl_ms.map_or_else(String::new, |left| format!(" ttl {}", duration(left)));
        format!("{} {} ({says}){life}", receipt.holder, receipt.number)
    });
    format!("; receipts {}", list(&each.collect::<Vec<_>>()))
}
