//! What a server says, put into words that can be held beside the model's, to the last field and millisecond.

use lockstep_model::Action;
use redis::Value;

use super::Error;

/// The script that tells all a server stores.
pub const DUMP: &str = include_str!("dump.lua");

/// The first place where model and Redis say different things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// 1 for the first.
    pub step: usize,
    /// What was done.
    pub action: Action,
    /// What was compared: `reply`, `keys on n1`, `messages to A`, `role of n2`.
    pub what: String,
    /// What the model says.
    pub model: String,
    /// What Redis says.
    pub redis: String,
    /// What may be behind it, where this server is known to do what the model does not.
    pub known: Option<&'static str>,
}

/// One key in words.
pub fn key_words(key: &str, kind: &str, remaining_ms: Option<i64>, content: &[String]) -> String {
    let life = match remaining_ms {
        Some(remaining_ms) => format!("{remaining_ms} ms left"),
        None => "no TTL".to_owned(),
    };
    format!("{key}: {kind} {} ({life})", content.join(" "))
}

/// All that a server stores, in words: one line a key, in order.
pub fn dump_words(dump: &Value) -> Result<String, Error> {
    let unexpected = || Error::Unexpected { asked: "for all it stores", answer: format!("{dump:?}") };
    let Value::Array(keys) = dump else { return Err(unexpected()) };
    let mut lines = keys.iter().map(|key| key_line(key).ok_or_else(unexpected)).collect::<Result<Vec<_>, _>>()?;
    lines.sort_unstable();
    Ok(lines.join("\n"))
}

fn key_line(key: &Value) -> Option<String> {
    let Value::Array(parts) = key else { return None };
    let [name, kind, Value::Int(remaining_ms), Value::Array(content)] = parts.as_slice() else { return None };
    let mut content = content.iter().map(text).collect::<Option<Vec<_>>>()?;
    let kind = text(kind)?;
    if kind == "hash" {
        // Redis tells fields in any order.
        let mut fields: Vec<_> = content.chunks(2).map(<[String]>::to_vec).collect();
        fields.sort_unstable();
        content = fields.concat();
    }
    let remaining_ms = Some(*remaining_ms).filter(|&ms| ms >= 0);
    Some(key_words(&text(name)?, &kind, remaining_ms, &content))
}

/// A value as a person would write it.
pub fn text(value: &Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::SimpleString(text) => Some(text.clone()),
        Value::Int(number) => Some(number.to_string()),
        Value::Okay => Some("OK".to_owned()),
        Value::Nil => Some("nil".to_owned()),
        Value::Array(values) => {
            let values: Option<Vec<_>> = values.iter().map(text).collect();
            Some(format!("[{}]", values?.join(", ")))
        }
        Value::ServerError(error) => Some(format!("error: {error}")),
        _ => None,
    }
}

/// How far a master has written, by its `INFO replication`.
pub fn replication_offset(info: &Value) -> Result<u64, Error> {
    number_in(info, "master_repl_offset:")
}

/// How many replicas a master takes for connected, by its `INFO replication`.
pub fn connected_replicas(info: &Value) -> Result<u64, Error> {
    number_in(info, "connected_slaves:")
}

fn number_in(info: &Value, field: &str) -> Result<u64, Error> {
    let missing = || Error::Unexpected { asked: "INFO replication", answer: format!("no {field} in {info:?}") };
    let info = text(info).ok_or_else(missing)?;
    let number = info.lines().find_map(|line| line.strip_prefix(field));
    number.and_then(|number| number.trim().parse().ok()).ok_or_else(missing)
}

/// The role that a node tells of itself, in the words of the dictionary.
pub fn role_words(role: &Value) -> Result<String, Error> {
    let unexpected = || Error::Unexpected { asked: "ROLE", answer: format!("{role:?}") };
    let Value::Array(parts) = role else { return Err(unexpected()) };
    match parts.first().and_then(text).ok_or_else(unexpected)?.as_str() {
        "slave" => Ok("replica".to_owned()),
        other => Ok(other.to_owned()),
    }
}
