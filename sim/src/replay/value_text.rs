//! A value that Redis answers, as a person would write it.

use redis::Value;

/// The value as text; `None` for a type that no server of a replay answers.
pub fn value_text(value: &Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::SimpleString(text) => Some(text.clone()),
        Value::Int(number) => Some(number.to_string()),
        Value::Okay => Some("OK".to_owned()),
        Value::Nil => Some("nil".to_owned()),
        Value::Array(values) => {
            let values: Option<Vec<_>> = values.iter().map(value_text).collect();
            Some(format!("[{}]", values?.join(", ")))
        }
        Value::ServerError(error) => Some(format!("error: {error}")),
        _ => None,
    }
}
