//! What a server answers, in words that are compared with the model's, to the last field and millisecond.

use lockstep_model::Action;
use lockstep_model::locks::keys::{DEADLINE_FIELD, DEADLINE_OVER};
use redis::Value;

use super::error::ReplayError;
use super::value_text::value_text;

/// The script that reads everything that a server stores.
pub const READ_ALL_KEYS: &str = include_str!("read_all_keys.lua");

/// The first place where model and Redis disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// 1 for the first.
    pub step: usize,
    /// The action of that step.
    pub action: Action,
    /// What was compared: `reply`, `keys on n1`, `messages to A`, `role of n2`.
    pub what: String,
    /// What the model says.
    pub model: String,
    /// What Redis says.
    pub redis: String,
    /// A likely cause, where this server is known to do what the model does not.
    pub known: Option<&'static str>,
    /// Where a client library differs: what our scripts do in this place. `None`: they are the ones that differ, or nobody asked
    /// them.
    pub scripts: Option<String>,
}

#[cfg(test)]
impl Difference {
    /// One for tests that show it: a reply to the first request.
    pub fn of_a_reply() -> Self {
        Self {
            step: 1,
            action: Action::Acquire { client: 0, thread: 0 },
            what: "reply".to_owned(),
            model: "acquired".to_owned(),
            redis: "busy".to_owned(),
            known: None,
            scripts: None,
        }
    }
}

/// One key in words.
pub fn key_words(key: &str, key_type: &str, remaining_ms: Option<i64>, content: &[String]) -> String {
    let life = match remaining_ms {
        Some(remaining_ms) => format!("{remaining_ms} ms left"),
        None => "no TTL".to_owned(),
    };
    format!("{key}: {key_type} {} ({life})", content.join(" "))
}

/// Everything that a server stores, in words: one line per key, sorted. `now_ms`: the wall clock of the clients, by which deadlines
/// are told. `far_ms`: a TTL of that length or more is longer than any run, and is told as that.
///
/// # Errors
/// `Unexpected` if the script cannot answer that.
pub fn stored_words(answer: &Value, now_ms: i64, far_ms: i64) -> Result<String, ReplayError> {
    let unexpected =
        || ReplayError::Unexpected { asked: "for everything that it stores", answer: format!("{answer:?}") };
    let Value::Array(keys) = answer else { return Err(unexpected()) };
    let mut lines =
        keys.iter().map(|key| key_line(key, now_ms, far_ms).ok_or_else(unexpected)).collect::<Result<Vec<_>, _>>()?;
    lines.sort_unstable();
    Ok(lines.join("\n"))
}

fn key_line(key: &Value, now_ms: i64, far_ms: i64) -> Option<String> {
    let Value::Array(parts) = key else { return None };
    let [name, key_type, Value::Int(remaining_ms), Value::Array(content)] = parts.as_slice() else { return None };
    let mut content = content.iter().map(value_text).collect::<Option<Vec<_>>>()?;
    let key_type = value_text(key_type)?;
    if key_type == "hash" {
        // Redis answers the fields of a hash in any order.
        let mut fields: Vec<_> = content.chunks(2).map(<[String]>::to_vec).collect();
        for field in &mut fields {
            let [name, content] = field.as_mut_slice() else { return None };
            if name.ends_with(DEADLINE_FIELD) {
                // By how much one is over nobody reads.
                let left_ms = content.parse::<i64>().ok()? - now_ms;
                *content = if left_ms < 0 { DEADLINE_OVER.to_owned() } else { left_ms.to_string() };
            }
        }
        fields.sort_unstable();
        content = fields.concat();
    }
    if key_type == "zset" {
        // Deadlines, in the order of their members as in a trace. By how much one is over nobody reads.
        let mut deadlines = Vec::new();
        for deadline in content.chunks(2) {
            let [waiter, score] = deadline else { return None };
            let left_ms = (score.parse::<i64>().ok()? - now_ms).max(0);
            deadlines.push([waiter.clone(), left_ms.to_string()]);
        }
        deadlines.sort_unstable();
        content = deadlines.concat();
    }
    let remaining_ms = Some((*remaining_ms).min(far_ms)).filter(|&ms| ms >= 0);
    Some(key_words(&value_text(name)?, &key_type, remaining_ms, &content))
}

/// How many bytes a master has written to its replicas, by its `INFO replication`.
///
/// # Errors
/// `Unexpected`.
pub fn replication_offset(info: &Value) -> Result<u64, ReplayError> {
    number_in(info, "master_repl_offset:")
}

/// How many replicas a master considers connected, by its `INFO replication`.
///
/// # Errors
/// `Unexpected`.
pub fn connected_replicas(info: &Value) -> Result<u64, ReplayError> {
    number_in(info, "connected_slaves:")
}

fn number_in(info: &Value, field: &str) -> Result<u64, ReplayError> {
    let missing = || ReplayError::Unexpected { asked: "INFO replication", answer: format!("no {field} in {info:?}") };
    let info = value_text(info).ok_or_else(missing)?;
    let number = info.lines().find_map(|line| line.strip_prefix(field));
    number.and_then(|number| number.trim().parse().ok()).ok_or_else(missing)
}

/// The role that a node reports, in our words.
///
/// # Errors
/// `Unexpected`.
pub fn role_words(role: &Value) -> Result<String, ReplayError> {
    let unexpected = || ReplayError::Unexpected { asked: "ROLE", answer: format!("{role:?}") };
    let Value::Array(parts) = role else { return Err(unexpected()) };
    match parts.first().and_then(value_text).ok_or_else(unexpected)?.as_str() {
        "slave" => Ok("replica".to_owned()),
        other => Ok(other.to_owned()),
    }
}
