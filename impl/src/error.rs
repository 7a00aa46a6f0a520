//! Why there is no reply.

use std::time::Duration;

use redis::{ErrorKind, RedisError, ServerErrorKind, Value};

/// Why there is no reply. "The lock is busy" is a reply, so it is not here.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The reply was lost: the script may have run or not.
    #[error("{script}: no reply after {waited:?}, so it may have run or not")]
    Unknown {
        /// Kind and verb, as in the table of scripts.
        script: &'static str,
        /// From sending until the client gave up.
        waited: Duration,
    },
    /// The node refused the write: it is a replica now.
    #[error("{script}: this node is a replica and accepts no writes")]
    NotMaster {
        /// Kind and verb, as in the table of scripts.
        script: &'static str,
    },
    /// Redis refused the call or could not be reached: the script has not run to its end.
    #[error("{script}: {source}")]
    Redis {
        /// Kind and verb, as in the table of scripts.
        script: &'static str,
        /// The error of the server or of the connection.
        source: RedisError,
    },
    /// The server gave an answer that the script cannot give.
    #[error("{script}: expected {expected}, got {value:?}")]
    UnexpectedReply {
        /// Kind and verb, as in the table of scripts.
        script: &'static str,
        /// What the script can answer.
        expected: &'static str,
        /// What it answered.
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

    /// What a value means that is no reply: an error that came as a value, or an answer that the script cannot give.
    pub(crate) fn unexpected(script: &'static str, expected: &'static str, value: &Value) -> Self {
        match value.clone().extract_error() {
            Ok(value) => Self::UnexpectedReply { script, expected, value },
            Err(source) => Self::after_sending(script, Duration::ZERO, source),
        }
    }

    /// Whether the server does not know the script.
    pub(crate) fn is_no_script(&self) -> bool {
        matches!(self, Self::Redis { source, .. } if source.kind() == ErrorKind::Server(ServerErrorKind::NoScript))
    }
}

/// Before 7.0 the refusal of a write inside a script is part of the text of a general error.
fn says_read_only(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly)
        || error.detail().is_some_and(|detail| detail.contains("-READONLY "))
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn after_sending(source: impl Into<RedisError>) -> Error {
        Error::after_sending("kind/acquire", Duration::from_secs(3), source.into())
    }

    /// A lock must never treat a missing answer as a refusal.
    #[test]
    fn silence_and_a_broken_connection_leave_the_outcome_unknown() {
        for kind in [
            io::ErrorKind::TimedOut,
            io::ErrorKind::WouldBlock,
            io::ErrorKind::UnexpectedEof,
            io::ErrorKind::BrokenPipe,
        ] {
            let error = after_sending(io::Error::from(kind));
            assert!(matches!(error, Error::Unknown { script: "kind/acquire", .. }), "{kind}: {error}");
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
            Error::NotMaster { script: "kind/acquire" },
            Error::unexpected("kind/acquire", "nil or a number", &Value::Okay),
        ]
        .map(|error| error.to_string());
        assert_eq!(
            texts,
            [
                "kind/acquire: no reply after 3s, so it may have run or not",
                "kind/acquire: this node is a replica and accepts no writes",
                "kind/acquire: expected nil or a number, got ok",
            ]
        );
    }
}
