//! The scripts, and a call of one of them.
//!
//! A script is a value and not a global: a test can give a lock a set of [`Scripts`] in which one rule is wrong, and so
//! prove that the mistake would be noticed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use redis::{Cmd, ConnectionLike, Value};

use crate::error::Error;

/// One script: its name here, its text, and its name in Redis.
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

    /// The kind of lock and the verb, which is also its path under `scripts/` without the extension.
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

    /// `SCRIPT LOAD`: makes the script known to one server. It may be sent any number of times.
    pub fn load(&self) -> Cmd {
        let mut command = redis::cmd("SCRIPT");
        command.arg("LOAD").arg(self.text.as_bytes());
        command
    }
}

/// A set of scripts, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scripts {
    by_name: BTreeMap<&'static str, Script>,
}

impl Scripts {
    /// Scripts by name and text.
    pub(crate) fn of(named: impl IntoIterator<Item = (&'static str, &'static str)>) -> Self {
        Self { by_name: named.into_iter().map(|(name, text)| (name, Script::new(name, text))).collect() }
    }

    /// The same set with another text for one script.
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

    /// The same scripts, but those that publish do so in the shard of the lock (`SPUBLISH`), as Redisson since 3.43 does in a cluster of Redis
    /// 7.0 and newer (docs/facts/cluster.md#subscriptions).
    #[must_use]
    pub fn publishing_in_shards(mut self) -> Self {
        for script in self.by_name.values_mut() {
            *script = Script::new(script.name, &script.text.replace("call('publish'", "call('spublish'"));
        }
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

fn unknown(name: &str) -> ! {
    panic!("no script is called {name:?}")
}

/// A script with its keys and arguments, ready to be sent any number of times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The script.
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

    /// Runs the script, loads it first where the server does not know it, and reads the answer.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub fn ask<R: ScriptReply>(&self, connection: &mut dyn ConnectionLike) -> Result<R, Error> {
        self.read(&self.run(connection)?)
    }

    /// Reads an answer to this call.
    ///
    /// # Errors
    ///
    /// [`Error::UnexpectedReply`] if the script cannot give this answer; if `value` is an error, what it means.
    pub fn read<R: ScriptReply>(&self, value: &Value) -> Result<R, Error> {
        R::read(self, value).ok_or_else(|| Error::unexpected(self.script.name(), R::EXPECTED, value))
    }

    /// Runs the script as [`ask`](Self::ask) does, and returns the answer as it is.
    ///
    /// # Errors
    ///
    /// Every [`Error`] except [`Error::UnexpectedReply`].
    pub fn run(&self, connection: &mut dyn ConnectionLike) -> Result<Value, Error> {
        let answer = self.send(connection);
        if !answer.as_ref().is_err_and(Error::is_no_script) {
            return answer;
        }
        // Script caches are not replicated: after every failover the new master must be sent the text.
        // If this fails, the script has not run, so the outcome is known.
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

/// What a script replies. Reading is strict: an answer that the script cannot give is not a reply.
pub trait ScriptReply: Sized {
    /// Every answer that the script can give, in words.
    const EXPECTED: &'static str;

    /// The reply that `value` is to `call`; `None` if the script cannot give this answer.
    fn read(call: &Call, value: &Value) -> Option<Self>;
}

/// One of the two replies of a script that answers 1 or 0.
pub(crate) fn one_or_zero<R>(value: &Value, one: R, zero: R) -> Option<R> {
    match value {
        Value::Int(1) => Some(one),
        Value::Int(0) => Some(zero),
        _ => None,
    }
}

/// One of the three replies of a script that answers 1, 0 or nil.
pub(crate) fn one_zero_or_nil<R>(value: &Value, one: R, zero: R, nil: R) -> Option<R> {
    match value {
        Value::Nil => Some(nil),
        _ => one_or_zero(value, one, zero),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_script_has_another_sha1_and_leaves_the_rest_alone() {
        let ours = Scripts::of([("kind/one", "return 0"), ("kind/other", "return 0")]);
        let wrong = ours.clone().replace("kind/one", "return 1");
        assert_eq!(wrong.get("kind/one").text(), "return 1");
        assert_ne!(wrong.get("kind/one").sha1(), ours.get("kind/one").sha1());
        assert_eq!(wrong.get("kind/other"), ours.get("kind/other"));
    }

    #[test]
    fn scripts_that_publish_in_shards_publish_nowhere_else() {
        let publishing = |scripts: &Scripts, word: &str| {
            scripts.iter().filter(|script| script.text().contains(&format!("'{word}'"))).count()
        };
        let (ours, sharded) = (Scripts::built_in(), Scripts::built_in().publishing_in_shards());
        assert!(publishing(&ours, "publish") > 0);
        assert_eq!(publishing(&sharded, "publish"), 0);
        assert_eq!(publishing(&sharded, "spublish"), publishing(&ours, "publish"));
    }

    #[test]
    fn a_call_is_one_evalsha() {
        let call = Scripts::of([("kind/one", "return 0")]).call("kind/one", vec!["lock".into()], vec!["A:1".into()]);
        let sha1 = call.script.sha1();
        let expected = format!("*5\r\n$7\r\nEVALSHA\r\n$40\r\n{sha1}\r\n$1\r\n1\r\n$4\r\nlock\r\n$3\r\nA:1\r\n");
        assert_eq!(String::from_utf8_lossy(&call.evalsha().get_packed_command()), expected);
    }
}
