//! The scripts, and a call of one of them.
//!
//! A script is a value, not a global: a test may hand a lock a [`Scripts`] in which one rule is
//! wrong, and so prove that somebody would notice.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use redis::{Cmd, ConnectionLike, Value};

use crate::Error;

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../scripts/", $name, ".lua")))),*]
    };
}

/// Kind and verb, and the text: every file under `scripts/`.
const BUILT_IN: [(&str, &str); 8] = built_in![
    "plain/acquire",
    "plain/release",
    "plain/extend",
    "reentrant/acquire",
    "reentrant/renew",
    "reentrant/release",
    "reentrant/release_without_receipt",
    "reentrant/force_release",
];

/// One script: what it is called here, its text, and what Redis calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    name: &'static str,
    text: Arc<str>,
    sha1: Arc<str>,
}

impl Script {
    fn new(name: &'static str, text: &str) -> Self {
        Self { name, text: text.into(), sha1: redis::Script::new(text).get_hash().into() }
    }

    /// Kind and verb: `reentrant/acquire`.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The Lua that Redis runs.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The SHA-1 of the text, by which Redis finds it.
    pub fn sha1(&self) -> &str {
        &self.sha1
    }

    /// `SCRIPT LOAD`: teaches one server the text. It may be taught as often as one likes.
    pub fn load(&self) -> Cmd {
        let mut command = redis::cmd("SCRIPT");
        command.arg("LOAD").arg(self.text.as_bytes());
        command
    }
}

/// The scripts that a lock uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scripts {
    by_name: BTreeMap<&'static str, Script>,
}

impl Scripts {
    /// Those of this crate: Redisson's protocol.
    pub fn built_in() -> Self {
        let by_name = BUILT_IN.into_iter().map(|(name, text)| (name, Script::new(name, text))).collect();
        Self { by_name }
    }

    /// The same, but for one script that says something else.
    ///
    /// # Panics
    ///
    /// If no script is called `name`.
    #[must_use]
    pub fn replace(mut self, name: &str, text: &str) -> Self {
        let script = self.by_name.get_mut(name).unwrap_or_else(|| unknown(name));
        *script = Script::new(script.name, text);
        self
    }

    /// The script that is called `name`.
    ///
    /// # Panics
    ///
    /// If none is.
    pub fn get(&self, name: &str) -> &Script {
        self.by_name.get(name).unwrap_or_else(|| unknown(name))
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Script> {
        self.by_name.values()
    }

    /// A call of the script that is called `name`.
    pub(crate) fn call(&self, name: &str, keys: Vec<String>, args: Vec<String>) -> Call {
        let args = args.into_iter().map(String::into_bytes).collect();
        Call { script: self.get(name).clone(), keys, args }
    }
}

impl Default for Scripts {
    fn default() -> Self {
        Self::built_in()
    }
}

fn unknown(name: &str) -> ! {
    panic!("no script is called {name:?}")
}

/// A script with all it needs, ready to be sent, and to be sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// What runs.
    pub script: Script,
    /// Its `KEYS`.
    pub keys: Vec<String>,
    /// Its `ARGV`.
    pub args: Vec<Vec<u8>>,
}

impl Call {
    /// The call as a command, for a pipeline. The server must know the script: see [`Script::load`].
    pub fn evalsha(&self) -> Cmd {
        let mut command = redis::cmd("EVALSHA");
        command.arg(self.script.sha1()).arg(self.keys.len()).arg(&self.keys).arg(&self.args);
        command
    }

    /// Runs the script, teaching it to the server first where that is needed, and reads the answer.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub fn ask<R: Reply>(&self, connection: &mut dyn ConnectionLike) -> Result<R, Error> {
        self.read(&self.run(connection)?)
    }

    /// Reads an answer to this call, from wherever it came.
    ///
    /// # Errors
    ///
    /// [`Error::UnexpectedReply`] if the verb can't say that; if `value` is an error, what it means.
    pub fn read<R: Reply>(&self, value: &Value) -> Result<R, Error> {
        R::read(self, value).ok_or_else(|| Error::unexpected(self.script.name(), R::EXPECTED, value))
    }

    /// Runs the script like [`ask`](Self::ask) and leaves the answer as it is.
    ///
    /// # Errors
    ///
    /// All but [`Error::UnexpectedReply`].
    pub fn run(&self, connection: &mut dyn ConnectionLike) -> Result<Value, Error> {
        let answer = self.send(connection);
        if !answer.as_ref().is_err_and(Error::is_no_script) {
            return answer;
        }
        // Caches are not replicated: after every failover the new master has to be taught.
        // Whatever goes wrong here, the script has not run, so nothing is unknown.
        let script = self.script.name();
        let loaded: redis::RedisResult<()> = self.script.load().query(connection);
        loaded.map_err(|source| Error::Redis { script, source })?;
        self.send(connection)
    }

    fn send(&self, connection: &mut dyn ConnectionLike) -> Result<Value, Error> {
        let sent_at = Instant::now();
        self.evalsha()
            .query(connection)
            .map_err(|source| Error::after_sending(self.script.name(), sent_at.elapsed(), source))
    }
}

/// What a verb replies, read strictly: what no script of that verb can say is no reply.
pub trait Reply: Sized {
    /// All that the verb can say, in words.
    const EXPECTED: &'static str;

    /// The reply that `value` is to `call`; none if the verb can't say that.
    fn read(call: &Call, value: &Value) -> Option<Self>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_script_has_another_sha1_and_leaves_the_rest_alone() {
        let ours = Scripts::built_in();
        let wrong = ours.clone().replace("reentrant/release", "return 1");
        assert_eq!(wrong.get("reentrant/release").text(), "return 1");
        assert_ne!(wrong.get("reentrant/release").sha1(), ours.get("reentrant/release").sha1());
        assert_eq!(wrong.get("reentrant/acquire"), ours.get("reentrant/acquire"));
    }

    #[test]
    fn a_call_is_one_evalsha() {
        let call = Scripts::built_in().call("plain/release", vec!["lock".into()], vec!["A:1".into()]);
        let sha1 = call.script.sha1();
        let expected = format!("*5\r\n$7\r\nEVALSHA\r\n$40\r\n{sha1}\r\n$1\r\n1\r\n$4\r\nlock\r\n$3\r\nA:1\r\n");
        assert_eq!(String::from_utf8_lossy(&call.evalsha().get_packed_command()), expected);
    }
}
