//! Why Redis gave no answer.

use std::time::Duration;

use redis::{ErrorKind, RedisError, ServerErrorKind, Value};

/// Why Redis gave no answer. "The lock is busy" is an answer, so it is not here.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The reply was lost: the script may have run or not.
    #[error("{script}: no reply after {waited:?}, so it may have run or not")]
    Unknown {
        /// Kind and verb, as in the table of scripts.
        script: &'static str,
        /// From sending until we gave up.
        waited: Duration,
    },
    /// The node refused: it is a replica now.
    #[error("{script}: this node is a replica and takes no writes")]
    NotMaster {
        /// Kind and verb, as in the table of scripts.
        script: &'static str,
    },
    /// Redis refused or could not be reached: the script has not run to its end.
    #[error("{script}: {source}")]
    Redis {
        /// Kind and verb, as in the table of scripts.
        script: &'static str,
        /// What the server or the connection said.
        source: RedisError,
    },
    /// The server answered what no script of that verb can say.
    #[error("{script}: expected {expected}, got {value:?}")]
    UnexpectedReply {
        /// Kind and verb, as in the table of scripts.
        script: &'static str,
        /// What the verb can reply.
        expected: &'static str,
        /// What came instead.
        value: Value,
    },
}

impl Error {
    /// What an error means for a script that was sent `waited` ago.
    pub(crate) fn after_sending(script: &'static str, waited: Duration, source: RedisError) -> Self {
        let never_left = source.is_connection_refusal();
        let reply_is_lost = matches!(source.kind(), ErrorKind::Io | ErrorKind::Parse) && !never_left;
        if reply_is_lost {
            return Self::Unknown { script, waited };
        }
        if says_read_only(&source) {
            return Self::NotMaster { script };
        }
        Self::Redis { script, source }
    }

    /// What a value means that the verb can't reply: an error that came as a value, or nonsense.
    pub(crate) fn unexpected(script: &'static str, expected: &'static str, value: &Value) -> Self {
        match value.clone().extract_error() {
            Ok(value) => Self::UnexpectedReply { script, expected, value },
            Err(source) => Self::after_sending(script, Duration::ZERO, source),
        }
    }

    /// Whether the server does not know the script (yet, or any more).
    pub(crate) fn is_no_script(&self) -> bool {
        matches!(self, Self::Redis { source, .. } if source.kind() == ErrorKind::Server(ServerErrorKind::NoScript))
    }
}

/// Before 7.0 the refusal of a write inside a script comes wrapped into the text of a general error.
fn says_read_only(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly)
        || error.detail().is_some_and(|detail| detail.contains("-READONLY "))
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn after_sending(source: impl Into<RedisError>) -> Error {
        Error::after_sending("reentrant/acquire", Duration::from_secs(3), source.into())
    }

    /// The one mistake a lock must not make: taking silence for a refusal.
    #[test]
    fn silence_and_a_broken_connection_leave_the_outcome_unknown() {
        for kind in [
            io::ErrorKind::TimedOut,
            io::ErrorKind::WouldBlock,
            io::ErrorKind::UnexpectedEof,
            io::ErrorKind::BrokenPipe,
        ] {
            let error = after_sending(io::Error::from(kind));
            assert!(matches!(error, Error::Unknown { script: "reentrant/acquire", .. }), "{kind}: {error}");
        }
    }

    #[test]
    fn a_refused_connection_is_no_unknown_outcome() {
        let error = after_sending(io::Error::from(io::ErrorKind::ConnectionRefused));
        assert!(matches!(error, Error::Redis { .. }), "{error}");
    }

    #[test]
    fn a_refused_write_means_the_node_is_no_master() {
        let read_only = (ErrorKind::Server(ServerErrorKind::ReadOnly), "the node refuses", String::from("writes"));
        assert!(matches!(after_sending(read_only), Error::NotMaster { .. }));
        let wrapped = (
            ErrorKind::Extension,
            "ERR",
            String::from("Error running script: @user_script: 12: -READONLY You can't write"),
        );
        assert!(matches!(after_sending(wrapped), Error::NotMaster { .. }));
    }

    #[test]
    fn every_message_names_its_script() {
        let texts = [
            after_sending(io::Error::from(io::ErrorKind::TimedOut)),
            Error::NotMaster { script: "reentrant/acquire" },
            Error::unexpected("reentrant/acquire", "nil or a number", &Value::Okay),
        ]
        .map(|error| error.to_string());
        assert_eq!(
            texts,
            [
                "reentrant/acquire: no reply after 3s, so it may have run or not",
                "reentrant/acquire: this node is a replica and takes no writes",
                "reentrant/acquire: expected nil or a number, got ok",
            ]
        );
    }
}
