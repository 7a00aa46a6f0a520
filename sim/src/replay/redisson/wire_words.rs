//! What Redisson and servers send, in words: requests, receipts, replies and messages.

use redis::Value;

use super::gate::HeldCommand;
use super::pub_sub::PubSubCommands;
use crate::replay::translate::{ScriptRequest, ScriptVerb};
use crate::replay::value_text::value_text;

/// What the names of release receipts have in common.
pub const RECEIPTS: &str = "redisson_unlock_latch:";

/// What a client sent, as words.
pub fn words_of(held: &HeldCommand) -> Vec<String> {
    held.words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Whether a script renews: it has the keys and arguments of an acquire, and raises no count.
pub fn is_renewal(held: &HeldCommand) -> bool {
    match words_of(held).as_slice() {
        [name, text, ..] => {
            let looks_at_holder = text.contains("hexists") || text.contains("hget");
            let raises_count = text.to_ascii_lowercase().contains("hincrby");
            name == "EVAL" && text.contains("pexpire") && looks_at_holder && !raises_count
        }
        _ => false,
    }
}

/// Whether a script is about a holder as a writer, of a lock with readers.
pub fn is_of_writer(held: &HeldCommand) -> bool {
    held.words.last().is_some_and(|holder| holder.ends_with(b":write"))
}

/// Whether a client asks what its master knows of replicas, before a script that may wait for them
/// (docs/facts/redisson.md#replica-count): also once which commands that has.
pub fn is_prelude(held: &HeldCommand) -> bool {
    match words_of(held).as_slice() {
        [name, number, _] => name == "WAIT" && number == "0",
        [name, ..] => name == "INFO" || name == "WAITAOF",
        [] => false,
    }
}

/// How many replicas a `WAIT` asks for; `None`: it is another request.
pub fn replicas_asked_for(held: &HeldCommand) -> Option<u8> {
    match words_of(held).as_slice() {
        [name, number, _] if name == "WAIT" => number.parse().ok(),
        _ => None,
    }
}

/// `lock channel | 30000 A:1`: the keys and arguments of our scripts. Of receipts only the kind is shown: their ids are drawn.
pub fn request_words(request: &ScriptRequest) -> String {
    let args: Vec<_> = request.call.args.iter().map(|arg| String::from_utf8_lossy(arg).into_owned()).collect();
    call_words(&request.call.keys, &args)
}

/// The same of a script that Redisson sends, or of `GET`, by which it reads what is a script of ours; `None`: it is neither.
pub fn script_words(words: &[String], commands: PubSubCommands) -> Option<String> {
    let (keys, args) = keys_and_args(words)?;
    // How it publishes is an argument of its scripts, and a part of ours (docs/facts/redisson.md#publish-command). Any other
    // command there is none of ours.
    let mut args: Vec<_> = args.iter().filter(|arg| *arg != commands.publish).cloned().collect();
    if says_how_many_readers(keys, &args) {
        args.remove(1);
    }
    args.extend(forced_mode(&words[1]).map(str::to_owned));
    Some(call_words(keys, &args))
}

/// Whether this renews readers of one lock, and says how many they are before it says who: since 4.7
/// (docs/facts/family.md#read-write). Ours renews one.
fn says_how_many_readers(keys: &[String], args: &[String]) -> bool {
    let is_of_readers = matches!(keys, [lock, holds] if *holds == format!("{{{lock}}}"));
    let readers = args.len().saturating_sub(2);
    is_of_readers && readers > 0 && args[1] == readers.to_string()
}

/// The mode of a lock with readers in which this script frees it, whoever holds it. It is an argument of ours.
fn forced_mode(script: &str) -> Option<&str> {
    let (mode, deletes) =
        script.strip_prefix("if (redis.call('hget', KEYS[1], 'mode') == '")?.split_once("') then ")?;
    deletes.starts_with("redis.call('del', KEYS[1]);").then_some(mode)
}

/// Whether a client asks by a script, or reads a key.
pub fn is_script(words: &[String]) -> bool {
    keys_and_args(words).is_some()
}

fn keys_and_args(words: &[String]) -> Option<(&[String], &[String])> {
    if let [name, key] = words
        && name == "GET"
    {
        return Some((std::slice::from_ref(key), &[]));
    }
    let [name, _, number, rest @ ..] = words else { return None };
    if name != "EVAL" && name != "EVALSHA" {
        return None;
    }
    rest.split_at_checked(number.parse().ok()?)
}

fn call_words(keys: &[String], args: &[String]) -> String {
    let keys: Vec<_> = keys.iter().map(|key| masked(key)).collect();
    format!("{} | {}", keys.join(" "), args.join(" "))
}

fn masked(key: &str) -> String {
    match key.split_once("}:") {
        Some((kind, _)) if key.starts_with(RECEIPTS) => format!("{kind}}}:ID"),
        _ => key.to_owned(),
    }
}

/// What a client sent, without the text of scripts.
pub fn shown(held: &HeldCommand, commands: PubSubCommands) -> String {
    let words = words_of(held);
    script_words(&words, commands).unwrap_or_else(|| words.join(" "))
}

/// The receipt that a release names.
pub fn receipt_of(held: &HeldCommand) -> Option<String> {
    words_of(held).into_iter().find(|word| word.starts_with(RECEIPTS))
}

/// Until 3.44 a renewal is a script for one lock, which replies with a number. `of_one`: ours does so as well.
/// A script of ours reads the counter of tokens, and Redisson sends `GET`.
pub fn in_our_shape(verb: ScriptVerb, reply: Value, of_one: bool) -> Value {
    match (verb, reply) {
        (ScriptVerb::ReadToken { .. }, Value::BulkString(number)) => {
            let token = std::str::from_utf8(&number).ok().and_then(|text| text.parse().ok());
            token.map_or(Value::BulkString(number), Value::Int)
        }
        (ScriptVerb::Renew { .. }, Value::Int(number)) if !of_one => Value::Array(vec![Value::Int(number)]),
        (ScriptVerb::Renew { .. }, Value::Array(mut numbers)) if of_one && numbers.len() == 1 => numbers.remove(0),
        (_, reply) => reply,
    }
}

/// What a message carries.
pub fn payload_of(message: &Value) -> Option<String> {
    let Value::Array(parts) = message else { return None };
    parts.last().and_then(value_text)
}
