//! A request of a client: the call of a script, and how its answer is read.

use std::sync::Arc;

use lockstep_redis::{Call, Error as ReplyError, ScriptReply};
use redis::{Cmd, Value};

use super::replies::{NOT_ENOUGH_REPLICAS, READ_ONLY, RENEWAL_FAILED, SAVE_FAILED, TRY_AGAIN, WRONG_TYPE};

/// Reads an answer to a call, in the words of `replies`.
type ReadAnswer = dyn Fn(&Call, &Value) -> Result<String, ReplyError> + Send + Sync;

/// A request to a node, and how to read its answer.
#[derive(Clone)]
pub struct ScriptRequest {
    /// The script call.
    pub call: Call,
    /// A command that the client sends after it has received the answer.
    pub follow_up: Option<Cmd>,
    /// Everything that the script can answer, in words.
    pub answers: &'static str,
    read: Arc<ReadAnswer>,
}

impl ScriptRequest {
    /// A call whose reply means what `words` says.
    pub fn new<R: ScriptReply>(call: Call, words: impl Fn(R) -> String + Send + Sync + 'static) -> Self {
        let read = move |call: &Call, value: &Value| call.read(value).map(&words);
        Self { call, follow_up: None, answers: R::EXPECTED, read: Arc::new(read) }
    }

    /// The same, followed by a command once it is answered.
    #[must_use]
    pub fn followed_by(self, command: Cmd) -> Self {
        Self { follow_up: Some(command), ..self }
    }

    /// The call as a person would write it: `reentrant/acquire lock | 30000 A:1`.
    pub fn call_words(&self) -> String {
        let args: Vec<_> = self.call.args.iter().map(|arg| String::from_utf8_lossy(arg)).collect();
        format!("{} {} | {}", self.call.script.name(), self.call.keys.join(" "), args.join(" "))
    }

    /// Whether the server may refuse a write in these words where the model refuses it in those: after a failed save and for
    /// lack of replicas, and it names the second.
    pub fn is_refused_either_way(model: &str, server: &str) -> bool {
        model == SAVE_FAILED && server == NOT_ENOUGH_REPLICAS
    }

    /// What the answer means, in the words of [`Translator::reply_words`](super::Translator::reply_words).
    ///
    /// # Errors
    /// The script cannot give that answer.
    pub fn answer_words(&self, value: &Value) -> Result<String, ReplyError> {
        // Every write may be refused like this, and then it does not matter what the script had read before.
        if lacks_replicas(value) {
            return Ok(NOT_ENOUGH_REPLICAS.to_owned());
        }
        if let Value::ServerError(error) = value
            && is_of(error, "MISCONF", "-MISCONF ")
        {
            return Ok(SAVE_FAILED.to_owned());
        }
        if let Value::ServerError(error) = value
            && error.code() == "TRYAGAIN"
        {
            return Ok(TRY_AGAIN.to_owned());
        }
        if let Value::ServerError(error) = value
            && is_of(error, "WRONGTYPE", "WRONGTYPE ")
        {
            return Ok(WRONG_TYPE.to_owned());
        }
        // What 3.52 sends for a reader (docs/facts/family.md#older-versions-of-the-read-write-lock); of any other script the model says
        // another reply.
        if let Value::ServerError(error) = value
            && error.details().is_some_and(|details| details.contains("attempt to concatenate"))
        {
            return Ok(RENEWAL_FAILED.to_owned());
        }
        match (self.read)(&self.call, value) {
            Err(ReplyError::NotMaster { .. }) => Ok(READ_ONLY.to_owned()),
            read => read,
        }
    }
}

/// Whether a server refuses a write because it has too few replicas.
pub fn lacks_replicas(answer: &Value) -> bool {
    matches!(answer, Value::ServerError(error) if error.code() == "NOREPLICAS")
}

/// Whether an error has this code; before Redis 7.0 it stands, in these words, inside the error of the script that met it
/// (measured on 6.2.5).
fn is_of(error: &redis::ServerError, code: &str, inside: &str) -> bool {
    error.code() == code || error.details().is_some_and(|details| details.contains(inside))
}
