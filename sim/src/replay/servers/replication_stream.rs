//! What a master and a replica send to each other, parsed. No input or output here: `gate` supplies the bytes and decides
//! what to do with the pieces.
//!
//! The link begins with a handshake in lines, continues with a full copy of the data or without one (PSYNC), and is then a
//! stream of commands whose bytes both ends count: the replication offset.

use std::fmt::Write as _;

use crate::replay::error::ReplayError;

/// A command as it is sent: its name and arguments.
pub type WireCommand = Vec<Vec<u8>>;

/// The longest line and the longest command that are accepted, in bytes: beyond that the stream was misread.
const MAX_LINE: usize = 1024;
const MAX_COMMAND: usize = 16 * 1024 * 1024;
const EOF_MARK: usize = 40;

/// Something a master sent.
#[derive(Debug, PartialEq, Eq)]
pub enum StreamPiece {
    /// Part of the handshake or of the full copy: for the replica, at once.
    Pass(Vec<u8>),
    /// From here on there are commands.
    Commands {
        /// The offset at which the first command begins.
        from: u64,
    },
    /// The smallest part of the stream that a replica applies atomically.
    Unit(StreamUnit),
}

/// A command, or a `MULTI … EXEC` block, with the `SELECT` that applies to it.
#[derive(Debug, PartialEq, Eq)]
pub struct StreamUnit {
    /// As it was sent.
    pub bytes: Vec<u8>,
    /// The commands in it.
    pub commands: Vec<WireCommand>,
    /// The offset of a replica that has applied it.
    pub end: u64,
    /// Whether it changes no data: `PING`, `REPLCONF GETACK`, an empty line.
    pub is_idle: bool,
}

/// What a master sends, as far as it was read.
#[derive(Debug)]
pub struct MasterStream {
    stage: StreamStage,
    /// Bytes that are not a whole piece yet.
    unread: Vec<u8>,
    /// The offset of the replica, if it asked for the rest only.
    asked_from: Option<u64>,
    /// A unit that is not complete yet.
    open: StreamUnit,
    in_block: bool,
}

#[derive(Clone, Copy, Debug)]
enum StreamStage {
    Handshake,
    BeforeCopy { from: u64 },
    CopyOfLength { left: usize, from: u64 },
    CopyUntil { mark: [u8; EOF_MARK], from: u64 },
    Commands { at: u64 },
}

impl MasterStream {
    /// The stream of a new link.
    pub fn new() -> Self {
        Self {
            stage: StreamStage::Handshake,
            unread: Vec::new(),
            asked_from: None,
            open: StreamUnit { bytes: Vec::new(), commands: Vec::new(), end: 0, is_idle: true },
            in_block: false,
        }
    }

    /// Sets the offset that the replica asked to continue from: the answer `+CONTINUE` does not contain it.
    pub fn asked_from(&mut self, offset: u64) {
        self.asked_from = Some(offset);
    }

    /// The pieces that are complete with these bytes.
    ///
    /// # Errors
    /// `Link` if no master sends such bytes.
    pub fn read(&mut self, bytes: &[u8]) -> Result<Vec<StreamPiece>, ReplayError> {
        self.unread.extend_from_slice(bytes);
        let mut pieces = Vec::new();
        while let Some(piece) = self.next_piece()? {
            pieces.push(piece);
        }
        Ok(pieces)
    }

    fn next_piece(&mut self) -> Result<Option<StreamPiece>, ReplayError> {
        loop {
            let piece = match self.stage {
                StreamStage::Handshake | StreamStage::BeforeCopy { .. } => match self.take_line()? {
                    Some(line) => StreamPiece::Pass(line),
                    None => return Ok(None),
                },
                StreamStage::CopyOfLength { left: 0, from } => self.begin_commands(from),
                StreamStage::CopyOfLength { left, from } => {
                    let taken = left.min(self.unread.len());
                    if taken == 0 {
                        return Ok(None);
                    }
                    self.stage = StreamStage::CopyOfLength { left: left - taken, from };
                    StreamPiece::Pass(self.take(taken))
                }
                StreamStage::CopyUntil { mark, from } => {
                    if let Some(found) = self.unread.windows(EOF_MARK).position(|window| window == mark) {
                        self.stage = StreamStage::CopyOfLength { left: found + EOF_MARK, from };
                        continue;
                    }
                    // The end has not come, but the last bytes may be the beginning of the mark.
                    let safe = self.unread.len().saturating_sub(EOF_MARK - 1);
                    if safe == 0 {
                        return Ok(None);
                    }
                    StreamPiece::Pass(self.take(safe))
                }
                StreamStage::Commands { at } => match self.take_command()? {
                    Some((bytes, command)) => {
                        let end = at + bytes.len() as u64;
                        self.stage = StreamStage::Commands { at: end };
                        match self.join(&bytes, command, end) {
                            Some(unit) => StreamPiece::Unit(unit),
                            None => continue,
                        }
                    }
                    None => return Ok(None),
                },
            };
            return Ok(Some(piece));
        }
    }

    fn take(&mut self, count: usize) -> Vec<u8> {
        let rest = self.unread.split_off(count);
        std::mem::replace(&mut self.unread, rest)
    }

    fn begin_commands(&mut self, from: u64) -> StreamPiece {
        self.stage = StreamStage::Commands { at: from };
        StreamPiece::Commands { from }
    }

    /// One line of the handshake, which may be the last one.
    fn take_line(&mut self) -> Result<Option<Vec<u8>>, ReplayError> {
        let Some(length) = self.unread.iter().position(|&byte| byte == b'\n') else {
            return if self.unread.len() > MAX_LINE { Err(not_redis(&self.unread)) } else { Ok(None) };
        };
        let line = self.take(length + 1);
        // A lone newline keeps the link alive while the master prepares the copy.
        let text = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
        match self.stage {
            StreamStage::BeforeCopy { from } => {
                if let Some(copy) = text.strip_prefix('$') {
                    self.stage = copy_of(copy, from).ok_or_else(|| not_redis(&line))?;
                }
            }
            StreamStage::Handshake
            | StreamStage::CopyOfLength { .. }
            | StreamStage::CopyUntil { .. }
            | StreamStage::Commands { .. } => {
                if let Some(answer) = text.strip_prefix("+FULLRESYNC ") {
                    let from = answer.split(' ').nth(1).and_then(|offset| offset.parse().ok());
                    self.stage = StreamStage::BeforeCopy { from: from.ok_or_else(|| not_redis(&line))? };
                } else if text.starts_with("+CONTINUE") {
                    let from = self.asked_from.ok_or_else(|| not_redis(&line))?;
                    // An empty copy: the line passes first, then the commands begin.
                    self.stage = StreamStage::CopyOfLength { left: 0, from };
                }
            }
        }
        Ok(Some(line))
    }

    fn take_command(&mut self) -> Result<Option<(Vec<u8>, WireCommand)>, ReplayError> {
        Ok(command_at_start(&self.unread)?.map(|(command, length)| (self.take(length), command)))
    }

    /// Adds a command to the open unit; returns the unit once it is complete.
    fn join(&mut self, bytes: &[u8], command: WireCommand, end: u64) -> Option<StreamUnit> {
        let is = |word: &str| command.first().is_some_and(|name| name.eq_ignore_ascii_case(word.as_bytes()));
        let (opens, closes, selects) = (is("MULTI"), is("EXEC"), is("SELECT"));
        let is_idle = command.is_empty() || is("ping") || is("replconf");
        self.in_block = (self.in_block || opens) && !closes;
        self.open.bytes.extend_from_slice(bytes);
        self.open.commands.extend((!command.is_empty()).then_some(command));
        self.open.end = end;
        self.open.is_idle &= is_idle;
        // A SELECT changes no data; it belongs to the next command.
        if self.in_block || selects {
            return None;
        }
        let next = StreamUnit { bytes: Vec::new(), commands: Vec::new(), end, is_idle: true };
        Some(std::mem::replace(&mut self.open, next))
    }
}

/// What a replica sends, as far as it was read.
#[derive(Debug, Default)]
pub struct ReplicaStream {
    unread: Vec<u8>,
    asked: bool,
}

/// What came from a replica.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ReplicaOutput {
    /// For the master, at once.
    pub pass: Vec<u8>,
    /// The offset from which it asks for a continuation.
    pub asked_from: Option<u64>,
}

impl ReplicaStream {
    /// Passes everything but acknowledgements: a replica sends them once a second of real time, and the gate sends them
    /// instead when the harness says so.
    ///
    /// # Errors
    /// `Link` if no replica sends such bytes.
    pub fn read(&mut self, bytes: &[u8]) -> Result<ReplicaOutput, ReplayError> {
        self.unread.extend_from_slice(bytes);
        let mut output = ReplicaOutput::default();
        while let Some((command, length)) = command_at_start(&self.unread)? {
            let bytes: Vec<_> = self.unread.drain(..length).collect();
            let is = |at: usize, word: &str| {
                command.get(at).is_some_and(|other| other.eq_ignore_ascii_case(word.as_bytes()))
            };
            if is(0, "psync") {
                self.asked = true;
                // It names the first byte it lacks. A replica without data asks for byte -1.
                let first = command.get(2).and_then(|first| str::from_utf8(first).ok()?.parse::<u64>().ok());
                output.asked_from = first.and_then(|first| first.checked_sub(1));
            }
            if !(self.asked && is(0, "replconf") && is(1, "ack")) {
                output.pass.extend(bytes);
            }
        }
        Ok(output)
    }
}

fn copy_of(announced: &str, from: u64) -> Option<StreamStage> {
    if let Some(mark) = announced.strip_prefix("EOF:") {
        return Some(StreamStage::CopyUntil { mark: mark.as_bytes().try_into().ok()?, from });
    }
    Some(StreamStage::CopyOfLength { left: announced.parse().ok()?, from })
}

/// The command that `bytes` begin with and its length in bytes; `None` if it is not complete yet. An empty line is a command
/// without words: Redis counts its bytes and does nothing.
///
/// # Errors
/// `Link` if the bytes are no command.
pub fn command_at_start(bytes: &[u8]) -> Result<Option<(WireCommand, usize)>, ReplayError> {
    let mut at = 0;
    let Some(head) = line_at(bytes, &mut at)? else { return Ok(None) };
    if head.is_empty() {
        return Ok(Some((Vec::new(), at)));
    }
    let count = number_after(b'*', head).ok_or_else(|| not_redis(bytes))?;
    let mut command = Vec::with_capacity(count.min(64));
    for _ in 0..count {
        let Some(head) = line_at(bytes, &mut at)? else { return Ok(None) };
        let length = number_after(b'$', head).ok_or_else(|| not_redis(&bytes[at - head.len() - 2..]))?;
        let Some(word) = bytes.get(at..at + length) else { return Ok(None) };
        if bytes.len() < at + length + 2 {
            return Ok(None);
        }
        command.push(word.to_vec());
        at += length + 2;
    }
    Ok(Some((command, at)))
}

fn line_at<'bytes>(bytes: &'bytes [u8], at: &mut usize) -> Result<Option<&'bytes [u8]>, ReplayError> {
    let rest = &bytes[*at..];
    let Some(length) = rest.iter().take(MAX_LINE).position(|&byte| byte == b'\n') else {
        return if rest.len() > MAX_LINE { Err(not_redis(rest)) } else { Ok(None) };
    };
    *at += length + 1;
    Ok(Some(rest[..length].strip_suffix(b"\r").unwrap_or(&rest[..length])))
}

fn number_after(sign: u8, line: &[u8]) -> Option<usize> {
    let digits = str::from_utf8(line.strip_prefix(&[sign])?).ok()?;
    digits.parse().ok().filter(|&number| number <= MAX_COMMAND)
}

fn not_redis(bytes: &[u8]) -> ReplayError {
    let start = &bytes[..bytes.len().min(60)];
    ReplayError::link(format!("\"{}\" is not what Redis sends there", start.escape_ascii()))
}

/// A command as one line of text: words with unusual characters are quoted and escaped.
pub fn command_as_text(command: &WireCommand) -> String {
    let mut text = String::new();
    for word in command {
        if !text.is_empty() {
            text.push(' ');
        }
        let is_simple = !word.is_empty() && word.iter().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(byte));
        let quote = if is_simple { "" } else { "\"" };
        // Writing to a string cannot fail.
        let _ = write!(text, "{quote}{}{quote}", word.escape_ascii());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(commands: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for command in commands {
            let words: Vec<_> = command.split(' ').collect();
            bytes.extend(format!("*{}\r\n", words.len()).bytes());
            for word in words {
                bytes.extend(format!("${}\r\n{word}\r\n", word.len()).bytes());
            }
        }
        bytes
    }

    fn texts(pieces: &[StreamPiece]) -> Vec<Vec<String>> {
        let units = pieces.iter().filter_map(|piece| match piece {
            StreamPiece::Unit(unit) => Some(unit),
            StreamPiece::Pass(_) | StreamPiece::Commands { .. } => None,
        });
        units.map(|unit| unit.commands.iter().map(command_as_text).collect()).collect()
    }

    /// The same bytes in one read, and byte by byte: where the network cuts them changes nothing.
    fn read_both_ways(bytes: &[u8]) -> Vec<StreamPiece> {
        let at_once = MasterStream::new().read(bytes).unwrap();
        let mut slowly = MasterStream::new();
        let byte_by_byte: Vec<_> = bytes.iter().flat_map(|byte| slowly.read(&[*byte]).unwrap()).collect();
        let passed = |pieces: &[StreamPiece]| -> Vec<u8> {
            let parts = pieces
                .iter()
                .filter_map(|piece| if let StreamPiece::Pass(part) = piece { Some(&part[..]) } else { None });
            parts.collect::<Vec<_>>().concat()
        };
        assert_eq!(passed(&at_once), passed(&byte_by_byte));
        assert_eq!(texts(&at_once), texts(&byte_by_byte));
        at_once
    }

    #[test]
    fn a_full_copy_passes_and_commands_begin_at_its_offset() {
        let mark = "e".repeat(EOF_MARK);
        for copy in ["$4\r\nREDI".to_owned(), format!("\n\n$EOF:{mark}\r\nREDIS{mark}")] {
            let mut bytes = format!("+PONG\r\n+FULLRESYNC abc 100\r\n{copy}").into_bytes();
            let length = bytes.len();
            bytes.extend(wire(&["SELECT 0", "SET k v"]));
            let pieces = read_both_ways(&bytes);
            let passed: usize =
                pieces.iter().map(|piece| if let StreamPiece::Pass(part) = piece { part.len() } else { 0 }).sum();
            assert_eq!(passed, length);
            assert!(pieces.contains(&StreamPiece::Commands { from: 100 }));
            let Some(StreamPiece::Unit(last)) = pieces.last() else { panic!("{pieces:?}") };
            assert_eq!(last.end, 100 + (bytes.len() - length) as u64);
        }
    }

    #[test]
    fn a_script_is_one_unit_and_its_select_belongs_to_it() {
        let mut bytes = b"+FULLRESYNC abc 0\r\n$0\r\n".to_vec();
        bytes.extend(wire(&["PING", "SELECT 0", "MULTI", "HINCRBY k a 1", "PING", "EXEC", "DEL k"]));
        bytes.extend(b"\n");
        let pieces = read_both_ways(&bytes);
        let expected: [&[&str]; 4] =
            [&["PING"], &["SELECT 0", "MULTI", "HINCRBY k a 1", "PING", "EXEC"], &["DEL k"], &[]];
        assert_eq!(texts(&pieces), expected);
        let idle = pieces.iter().filter(|piece| matches!(piece, StreamPiece::Unit(StreamUnit { is_idle: true, .. })));
        assert_eq!(idle.count(), 2);
    }

    #[test]
    fn a_continuation_begins_where_the_replica_asked() {
        let said = ReplicaStream::default().read(&wire(&["REPLCONF capa eof", "PSYNC abc 43"])).unwrap();
        assert_eq!(said.asked_from, Some(42));
        let mut master = MasterStream::new();
        master.asked_from(42);
        let pieces = master.read(b"+CONTINUE abc\r\n").unwrap();
        assert_eq!(pieces.last(), Some(&StreamPiece::Commands { from: 42 }));
        let said = ReplicaStream::default().read(&wire(&["PSYNC ? -1"])).unwrap();
        assert_eq!(said, ReplicaOutput { pass: wire(&["PSYNC ? -1"]), asked_from: None });
    }

    #[test]
    fn a_replica_acknowledges_nothing_by_itself() {
        let mut replica = ReplicaStream::default();
        let begin = wire(&["PING", "PSYNC ? -1"]);
        assert_eq!(replica.read(&begin).unwrap().pass, begin);
        let said = replica.read(&wire(&["REPLCONF ACK 5", "REPLCONF version 9", "REPLCONF ACK 6"])).unwrap();
        assert_eq!(said.pass, wire(&["REPLCONF version 9"]));
    }

    #[test]
    fn bytes_that_no_master_sends_are_an_error() {
        let mut master = MasterStream::new();
        let error = master.read(b"+FULLRESYNC abc 0\r\n$0\r\nGET / HTTP/1.1\r\n").unwrap_err();
        assert!(error.to_string().contains("is not what Redis sends there"), "{error}");
    }
}
