//! What a master sends to a replica, cut into pieces that mean something. No input or output here:
//! `gate` feeds bytes in and decides what to do with the pieces.
//!
//! The link begins with a conversation by lines, goes on with a full copy of the data or without one
//! (PSYNC), and is then a stream of commands that both ends number by bytes: the replication offset.

use std::fmt::Write as _;

use super::Error;

/// A command, in the words of the wire: its name and arguments.
pub(super) type Command = Vec<Vec<u8>>;

/// The longest line and the longest command taken for real: beyond, the link has lost its frame.
const MAX_LINE: usize = 1024;
const MAX_COMMAND: usize = 512 * 1024 * 1024;
const EOF_MARK: usize = 40;

/// Something a master sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Part of the conversation or of the full copy: for the replica, at once.
    Pass(Vec<u8>),
    /// From here on there are commands, and the first begins at this offset.
    Commands { from: u64 },
    /// The smallest part of the stream that a replica applies as a whole.
    Whole(Whole),
}

/// A command, or a `MULTI … EXEC` block, with the `SELECT` that it is to run under.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Whole {
    pub(super) bytes: Vec<u8>,
    pub(super) commands: Vec<Command>,
    /// The offset of a replica that has applied it.
    pub(super) end: u64,
    /// Whether it leaves the data alone: `PING`, `REPLCONF GETACK`, an empty line.
    pub(super) idle: bool,
}

/// The master's side of a link, as far as it was read.
#[derive(Debug)]
pub(super) struct FromMaster {
    stage: Stage,
    /// Bytes that are not a piece yet.
    unread: Vec<u8>,
    /// The offset a replica has when it asked for the rest only.
    asked_from: Option<u64>,
    /// A whole that is not closed yet.
    open: Whole,
    in_block: bool,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    Conversation,
    BeforeCopy { from: u64 },
    CopyOfLength { left: usize, from: u64 },
    CopyUntil { mark: [u8; EOF_MARK], from: u64 },
    Commands { at: u64 },
}

impl FromMaster {
    pub(super) fn new() -> Self {
        Self {
            stage: Stage::Conversation,
            unread: Vec::new(),
            asked_from: None,
            open: Whole { bytes: Vec::new(), commands: Vec::new(), end: 0, idle: true },
            in_block: false,
        }
    }

    /// Tells what the replica asked for: `+CONTINUE` alone does not say where it continues.
    pub(super) fn asked_from(&mut self, offset: u64) {
        self.asked_from = Some(offset);
    }

    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<Vec<Piece>, Error> {
        self.unread.extend_from_slice(bytes);
        let mut pieces = Vec::new();
        while let Some(piece) = self.next_piece()? {
            pieces.push(piece);
        }
        Ok(pieces)
    }

    fn next_piece(&mut self) -> Result<Option<Piece>, Error> {
        loop {
            let piece = match self.stage {
                Stage::Conversation | Stage::BeforeCopy { .. } => match self.take_line()? {
                    Some(line) => Piece::Pass(line),
                    None => return Ok(None),
                },
                Stage::CopyOfLength { left: 0, from } => self.begin_commands(from),
                Stage::CopyOfLength { left, from } => {
                    let taken = left.min(self.unread.len());
                    if taken == 0 {
                        return Ok(None);
                    }
                    self.stage = Stage::CopyOfLength { left: left - taken, from };
                    Piece::Pass(self.take(taken))
                }
                Stage::CopyUntil { mark, from } => {
                    if let Some(found) = self.unread.windows(EOF_MARK).position(|window| window == mark) {
                        self.stage = Stage::CopyOfLength { left: found + EOF_MARK, from };
                        continue;
                    }
                    // Not the end yet, but the last bytes may be the first ones of the mark.
                    let safe = self.unread.len().saturating_sub(EOF_MARK - 1);
                    if safe == 0 {
                        return Ok(None);
                    }
                    Piece::Pass(self.take(safe))
                }
                Stage::Commands { at } => match self.take_command()? {
                    Some((bytes, command)) => {
                        let end = at + bytes.len() as u64;
                        self.stage = Stage::Commands { at: end };
                        match self.join(&bytes, command, end) {
                            Some(whole) => Piece::Whole(whole),
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

    fn begin_commands(&mut self, from: u64) -> Piece {
        self.stage = Stage::Commands { at: from };
        Piece::Commands { from }
    }

    /// One line of the conversation, which may be what ends it.
    fn take_line(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let Some(length) = self.unread.iter().position(|&byte| byte == b'\n') else {
            return if self.unread.len() > MAX_LINE { Err(nonsense(&self.unread)) } else { Ok(None) };
        };
        let line = self.take(length + 1);
        // A lone newline keeps the link alive while the master prepares the copy.
        let text = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
        match self.stage {
            Stage::BeforeCopy { from } => {
                if let Some(copy) = text.strip_prefix('$') {
                    self.stage = copy_of(copy, from).ok_or_else(|| nonsense(&line))?;
                }
            }
            _ => {
                if let Some(answer) = text.strip_prefix("+FULLRESYNC ") {
                    let from = answer.split(' ').nth(1).and_then(|offset| offset.parse().ok());
                    self.stage = Stage::BeforeCopy { from: from.ok_or_else(|| nonsense(&line))? };
                } else if text.starts_with("+CONTINUE") {
                    let from = self.asked_from.ok_or_else(|| nonsense(&line))?;
                    // An empty copy: the line passes first, then the commands begin.
                    self.stage = Stage::CopyOfLength { left: 0, from };
                }
            }
        }
        Ok(Some(line))
    }

    fn take_command(&mut self) -> Result<Option<(Vec<u8>, Command)>, Error> {
        Ok(command_at_start(&self.unread)?.map(|(command, length)| (self.take(length), command)))
    }

    /// Adds a command to the open whole; gives that back once it is closed.
    fn join(&mut self, bytes: &[u8], command: Command, end: u64) -> Option<Whole> {
        let is = |word: &str| command.first().is_some_and(|name| name.eq_ignore_ascii_case(word.as_bytes()));
        let (opens, closes, selects) = (is("multi"), is("exec"), is("select"));
        let idle = command.is_empty() || is("ping") || is("replconf");
        self.in_block = (self.in_block || opens) && !closes;
        self.open.bytes.extend_from_slice(bytes);
        self.open.commands.extend((!command.is_empty()).then_some(command));
        self.open.end = end;
        self.open.idle &= idle;
        // A SELECT changes nothing by itself and says where the next command belongs.
        if self.in_block || selects {
            return None;
        }
        let next = Whole { bytes: Vec::new(), commands: Vec::new(), end, idle: true };
        Some(std::mem::replace(&mut self.open, next))
    }
}

/// The replica's side of a link, cut into commands.
#[derive(Debug, Default)]
pub(super) struct FromReplica {
    unread: Vec<u8>,
    asked: bool,
}

/// What a replica said.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// For the master, at once.
    pub(super) pass: Vec<u8>,
    /// The offset from which it asks for a continuation.
    pub(super) asked_from: Option<u64>,
}

impl FromReplica {
    /// Passes on all but acknowledgements: a replica sends them once a second of real time, which is by
    /// chance; the gate says the same when the harness wants it said.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<Said, Error> {
        self.unread.extend_from_slice(bytes);
        let mut said = Said::default();
        while let Some((command, length)) = command_at_start(&self.unread)? {
            let bytes: Vec<_> = self.unread.drain(..length).collect();
            let is = |at: usize, word: &str| {
                command.get(at).is_some_and(|other| other.eq_ignore_ascii_case(word.as_bytes()))
            };
            if is(0, "psync") {
                self.asked = true;
                // It names the first byte it lacks. A replica without data asks for byte -1.
                let first = command.get(2).and_then(|first| str::from_utf8(first).ok()?.parse::<u64>().ok());
                said.asked_from = first.and_then(|first| first.checked_sub(1));
            }
            if !(self.asked && is(0, "replconf") && is(1, "ack")) {
                said.pass.extend(bytes);
            }
        }
        Ok(said)
    }
}

fn copy_of(announced: &str, from: u64) -> Option<Stage> {
    if let Some(mark) = announced.strip_prefix("EOF:") {
        return Some(Stage::CopyUntil { mark: mark.as_bytes().try_into().ok()?, from });
    }
    Some(Stage::CopyOfLength { left: announced.parse().ok()?, from })
}

/// The command that `bytes` begin with and its length, or nothing if its end is not there yet.
/// An empty line is a command without words: Redis counts it and does nothing.
pub(super) fn command_at_start(bytes: &[u8]) -> Result<Option<(Command, usize)>, Error> {
    let mut at = 0;
    let Some(head) = line_at(bytes, &mut at)? else { return Ok(None) };
    if head.is_empty() {
        return Ok(Some((Vec::new(), at)));
    }
    let count = number_after(b'*', head).ok_or_else(|| nonsense(bytes))?;
    let mut command = Vec::with_capacity(count.min(64));
    for _ in 0..count {
        let Some(head) = line_at(bytes, &mut at)? else { return Ok(None) };
        let length = number_after(b'$', head).ok_or_else(|| nonsense(&bytes[at - head.len() - 2..]))?;
        let Some(word) = bytes.get(at..at + length) else { return Ok(None) };
        if bytes.len() < at + length + 2 {
            return Ok(None);
        }
        command.push(word.to_vec());
        at += length + 2;
    }
    Ok(Some((command, at)))
}

fn line_at<'bytes>(bytes: &'bytes [u8], at: &mut usize) -> Result<Option<&'bytes [u8]>, Error> {
    let rest = &bytes[*at..];
    let Some(length) = rest.iter().take(MAX_LINE).position(|&byte| byte == b'\n') else {
        return if rest.len() > MAX_LINE { Err(nonsense(rest)) } else { Ok(None) };
    };
    *at += length + 1;
    Ok(Some(rest[..length].strip_suffix(b"\r").unwrap_or(&rest[..length])))
}

fn number_after(sign: u8, line: &[u8]) -> Option<usize> {
    let digits = str::from_utf8(line.strip_prefix(&[sign])?).ok()?;
    digits.parse().ok().filter(|&number| number <= MAX_COMMAND)
}

fn nonsense(bytes: &[u8]) -> Error {
    let start = &bytes[..bytes.len().min(60)];
    Error::link(format!("\"{}\" is not what Redis sends there", start.escape_ascii()))
}

/// A command as a line: words with anything unusual in them are quoted and escaped.
pub(super) fn command_as_text(command: &Command) -> String {
    let mut text = String::new();
    for word in command {
        if !text.is_empty() {
            text.push(' ');
        }
        let plain = !word.is_empty() && word.iter().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(byte));
        let quote = if plain { "" } else { "\"" };
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

    fn texts(pieces: &[Piece]) -> Vec<Vec<String>> {
        let wholes = pieces.iter().filter_map(|piece| match piece {
            Piece::Whole(whole) => Some(whole),
            Piece::Pass(_) | Piece::Commands { .. } => None,
        });
        wholes.map(|whole| whole.commands.iter().map(command_as_text).collect()).collect()
    }

    /// The same bytes in one read, and byte by byte: a cut of the network changes nothing.
    fn read_both_ways(bytes: &[u8]) -> Vec<Piece> {
        let at_once = FromMaster::new().read(bytes).unwrap();
        let mut slowly = FromMaster::new();
        let drop_by_drop: Vec<_> = bytes.iter().flat_map(|byte| slowly.read(&[*byte]).unwrap()).collect();
        let passed = |pieces: &[Piece]| -> Vec<u8> {
            let parts =
                pieces.iter().filter_map(|piece| if let Piece::Pass(part) = piece { Some(&part[..]) } else { None });
            parts.collect::<Vec<_>>().concat()
        };
        assert_eq!(passed(&at_once), passed(&drop_by_drop));
        assert_eq!(texts(&at_once), texts(&drop_by_drop));
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
                pieces.iter().map(|piece| if let Piece::Pass(part) = piece { part.len() } else { 0 }).sum();
            assert_eq!(passed, length);
            assert!(pieces.contains(&Piece::Commands { from: 100 }));
            let Some(Piece::Whole(last)) = pieces.last() else { panic!("{pieces:?}") };
            assert_eq!(last.end, 100 + (bytes.len() - length) as u64);
        }
    }

    #[test]
    fn a_script_is_one_whole_and_its_select_belongs_to_it() {
        let mut bytes = b"+FULLRESYNC abc 0\r\n$0\r\n".to_vec();
        bytes.extend(wire(&["PING", "SELECT 0", "MULTI", "HINCRBY k a 1", "PING", "EXEC", "DEL k"]));
        bytes.extend(b"\n");
        let pieces = read_both_ways(&bytes);
        let expected: [&[&str]; 4] =
            [&["PING"], &["SELECT 0", "MULTI", "HINCRBY k a 1", "PING", "EXEC"], &["DEL k"], &[]];
        assert_eq!(texts(&pieces), expected);
        let idle = pieces.iter().filter(|piece| matches!(piece, Piece::Whole(Whole { idle: true, .. })));
        assert_eq!(idle.count(), 2);
    }

    #[test]
    fn a_continuation_begins_where_the_replica_asked() {
        let said = FromReplica::default().read(&wire(&["REPLCONF capa eof", "PSYNC abc 43"])).unwrap();
        assert_eq!(said.asked_from, Some(42));
        let mut master = FromMaster::new();
        master.asked_from(42);
        let pieces = master.read(b"+CONTINUE abc\r\n").unwrap();
        assert_eq!(pieces.last(), Some(&Piece::Commands { from: 42 }));
        let said = FromReplica::default().read(&wire(&["PSYNC ? -1"])).unwrap();
        assert_eq!(said, Said { pass: wire(&["PSYNC ? -1"]), asked_from: None });
    }

    #[test]
    fn a_replica_acknowledges_nothing_by_itself() {
        let mut replica = FromReplica::default();
        let begin = wire(&["PING", "PSYNC ? -1"]);
        assert_eq!(replica.read(&begin).unwrap().pass, begin);
        let said = replica.read(&wire(&["REPLCONF ACK 5", "REPLCONF version 9", "REPLCONF ACK 6"])).unwrap();
        assert_eq!(said.pass, wire(&["REPLCONF version 9"]));
    }

    #[test]
    fn what_no_master_sends_is_an_error() {
        let mut master = FromMaster::new();
        let error = master.read(b"+FULLRESYNC abc 0\r\n$0\r\nGET / HTTP/1.1\r\n").unwrap_err();
        assert!(error.to_string().contains("is not what Redis sends there"), "{error}");
    }
}
