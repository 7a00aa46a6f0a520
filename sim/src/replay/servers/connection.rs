//! A connection to a server: the commands and answers of Redis over a [`PatientStream`].
//!
//! The crate's own connection waits without a deadline while it is set up, and after a deadline it skips answers that come
//! late. Here every exchange has a deadline, and a connection on which one failed is not used again.

use std::fmt;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use redis::{ConnectionLike, Parser, RedisResult, Value};

use super::limits::ANSWER_WAIT;
use super::patient_stream::PatientStream;

/// A connection to one of our servers. Every answer has a deadline and a limit of size.
pub struct ServerConnection {
    stream: PatientStream,
    parser: Parser,
    /// What comes now may be the answer to an earlier question.
    is_broken: bool,
}

impl fmt::Debug for ServerConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerConnection").field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl ServerConnection {
    /// Connects to the server at this socket; `who` names it in errors.
    ///
    /// # Errors
    /// The server does not accept it.
    pub fn open(socket: &Path, who: Arc<str>) -> RedisResult<Self> {
        Self::open_within(socket, who, ANSWER_WAIT)
    }

    /// As `open`, with another deadline for each answer.
    ///
    /// # Errors
    /// As `open`.
    pub fn open_within(socket: &Path, who: Arc<str>, within: Duration) -> RedisResult<Self> {
        let stream = PatientStream::connect(socket, who, within)?;
        Ok(Self { stream, parser: Parser::new(), is_broken: false })
    }

    /// Lets each answer take so long from now on.
    pub fn set_patience(&mut self, within: Duration) {
        self.stream.set_patience(within);
    }

    /// A handle that can end the connection while another thread reads from it.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn handle(&self) -> io::Result<std::os::unix::net::UnixStream> {
        self.stream.try_clone()
    }

    /// Sends a command whose answer is read later.
    ///
    /// # Errors
    /// The connection broke.
    pub fn send_packed_command(&mut self, command: &[u8]) -> RedisResult<()> {
        self.attempt(|connection| {
            connection.stream.begin();
            Ok(connection.stream.write_all(command)?)
        })
    }

    /// Reads the next answer, or the next message of a subscription.
    ///
    /// # Errors
    /// The connection broke; the server did not answer in time.
    pub fn recv_response(&mut self) -> RedisResult<Value> {
        self.stream.begin();
        self.read_next()
    }

    fn read_next(&mut self) -> RedisResult<Value> {
        self.attempt(|connection| connection.parser.parse_value(&mut connection.stream))
    }

    fn attempt<T>(&mut self, act: impl FnOnce(&mut Self) -> RedisResult<T>) -> RedisResult<T> {
        if self.is_broken {
            return Err(io::Error::new(io::ErrorKind::NotConnected, "the connection broke before").into());
        }
        act(self).inspect_err(|_| {
            self.is_broken = true;
            self.stream.close();
        })
    }
}

impl ConnectionLike for ServerConnection {
    fn req_packed_command(&mut self, command: &[u8]) -> RedisResult<Value> {
        self.send_packed_command(command)?;
        self.read_next()
    }

    fn req_packed_commands(&mut self, commands: &[u8], offset: usize, count: usize) -> RedisResult<Vec<Value>> {
        self.send_packed_command(commands)?;
        // All of them are read before one is judged: the next exchange begins with its own answers.
        let mut first = (0..offset + count).map(|_| self.read_next()).collect::<RedisResult<Vec<_>>>()?;
        let asked_for = first.split_off(offset);
        first.into_iter().try_for_each(|answer| answer.extract_error().map(drop))?;
        Ok(asked_for)
    }

    fn get_db(&self) -> i64 {
        0
    }

    fn check_connection(&mut self) -> bool {
        redis::cmd("PING").query::<String>(self).is_ok()
    }

    fn is_open(&self) -> bool {
        !self.is_broken
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::net::UnixListener;
    use std::thread;

    use super::*;
    use crate::replay::error::ReplayError;

    /// Asks a server that answers with this, again and again.
    fn asked(answer: &'static [u8], within: Duration) -> (RedisResult<Value>, ServerConnection) {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("s");
        let listener = UnixListener::bind(&socket).expect("a socket");
        thread::spawn(move || {
            let Ok((mut client, _)) = listener.accept() else { return };
            let _ = client.read(&mut [0; 100]);
            while client.write_all(answer).is_ok() {}
        });
        let mut connection = ServerConnection::open_within(&socket, "the other".into(), within).expect("a connection");
        let answer = redis::cmd("PING").query(&mut connection);
        (answer, connection)
    }

    #[test]
    fn an_answer_without_end_is_given_up_and_the_connection_is_not_used_again() {
        let (answer, mut connection) = asked(&[b'+'; 4096], Duration::from_secs(600));
        let error = ReplayError::redis("PING")(answer.expect_err("it has no end"));
        assert!(error.to_string().contains("the other has answered more than 16777216 bytes"), "{error}");
        let error = redis::cmd("PING").query::<Value>(&mut connection).expect_err("what comes is no answer to it");
        assert!(error.to_string().contains("the connection broke before"), "{error}");
        assert!(!connection.is_open());
    }

    #[test]
    fn garbage_is_no_answer() {
        let (answer, connection) = asked(b"HTTP/1.1 400 Bad Request\r\n", Duration::from_secs(60));
        assert!(answer.is_err());
        assert!(!connection.is_open());
    }

    #[test]
    fn an_error_of_the_server_is_an_answer() {
        let (answer, connection) = asked(b"-ERR no\r\n", Duration::from_secs(60));
        assert!(answer.expect_err("it says so").to_string().contains("no"));
        assert!(connection.is_open());
    }
}
