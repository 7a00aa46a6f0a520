//! The page over HTTP, on an address of this machine.
//!
//! Each connection carries one request and has a thread of its own. What it may cost is bounded: their number, the size
//! of a head, the steps of a path, and how long any wait may take.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::request::{self, MOST_HEAD, Refusal};
use super::site::Site;

const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// How often the server looks whether it must stop.
const STOP_CHECK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// Connections at the same time; browsers open about 6. One more is closed at once.
const MOST_CONNECTIONS: usize = 32;
/// How long a request may take to arrive.
const REQUEST_WAIT: Duration = Duration::from_secs(5);
/// How long a browser may take to read an answer.
const ANSWER_WAIT: Duration = Duration::from_secs(30);
/// How long, and for how many bytes, the server reads on after its answer: a connection that is closed with unread bytes
/// is reset, and the other side may lose the answer.
const LAST_WAIT: Duration = Duration::from_secs(1);
const MOST_UNREAD: u64 = 256 << 10;
/// Steps of the longest path: the cost of a request grows with them.
const MOST_STEPS: usize = 1000;

/// Browsers may load nothing for this page from anywhere else, and show it in no other page. Pictures carry their own
/// styles.
const POLICY: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; \
                      frame-ancestors 'none'";

/// Answers requests until `stop` is set.
///
/// # Errors
/// The listener cannot be used.
pub fn serve(listener: &TcpListener, site: &Site, stop: &AtomicBool) -> io::Result<()> {
    let port = listener.local_addr()?.port();
    listener.set_nonblocking(true)?;
    let open = AtomicUsize::new(0);
    thread::scope(|scope| {
        while !stop.load(Ordering::Relaxed) {
            let Some(stream) = accepted(listener)? else { continue };
            let place = OpenConnection::of(&open);
            if open.load(Ordering::Relaxed) > MOST_CONNECTIONS {
                continue;
            }
            // Without a thread for it the connection is closed, and the browser may try again.
            let _ = thread::Builder::new().name("connection".to_owned()).spawn_scoped(scope, move || {
                let _place = place;
                // A browser that goes away before it has read everything is no error of ours.
                let _ = converse(site, &stream, port);
            });
        }
        Ok(())
    })
}

/// A connection is counted for as long as this exists.
struct OpenConnection<'a>(&'a AtomicUsize);

impl<'a> OpenConnection<'a> {
    fn of(open: &'a AtomicUsize) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        Self(open)
    }
}

impl Drop for OpenConnection<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The next connection; `None`: there was none for a moment.
fn accepted(listener: &TcpListener) -> io::Result<Option<TcpStream>> {
    match poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&STOP_CHECK)) {
        Ok(0) | Err(Errno::INTR) => return Ok(None),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    match listener.accept() {
        Ok((stream, _)) => {
            stream.set_nonblocking(false)?;
            Ok(Some(stream))
        }
        // The other side may have gone meanwhile.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionAborted
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Reads one request, answers it, and ends the connection.
fn converse(site: &Site, stream: &TcpStream, port: u16) -> io::Result<()> {
    let Some(asked) = asked(stream, port)? else { return Ok(()) };
    let answer = asked.and_then(|target| answer(site, &target)).unwrap_or_else(PageAnswer::from);
    Until::after(stream, ANSWER_WAIT).write_all(&answer.bytes())?;
    stream.shutdown(Shutdown::Write)?;
    io::copy(&mut Until::after(stream, LAST_WAIT).take(MOST_UNREAD), &mut io::sink()).map(drop)
}

/// What the connection asks for; `None`: it ends before it asks.
fn asked(stream: &TcpStream, port: u16) -> io::Result<Option<Result<String, Refusal>>> {
    let mut until = Until::after(stream, REQUEST_WAIT);
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    while head.len() < MOST_HEAD {
        match until.read(&mut piece) {
            Ok(0) => return Ok(None),
            Ok(count) => head.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock) => {
                // Browsers open connections ahead of time, and expect no answer on those.
                return Ok((!head.is_empty()).then_some(Err(Refusal::TOO_SLOW)));
            }
            Err(error) => return Err(error),
        }
        if let Some(target) = request::target(&head, port) {
            return Ok(Some(target));
        }
    }
    Ok(Some(Err(Refusal::LARGE_HEAD)))
}

/// A connection until a moment: what is read or written later fails, however little was missing.
struct Until<'a> {
    stream: &'a TcpStream,
    moment: Instant,
}

impl<'a> Until<'a> {
    fn after(stream: &'a TcpStream, wait: Duration) -> Self {
        Self { stream, moment: Instant::now() + wait }
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.moment.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        self.stream.read(buffer)
    }
}

impl Write for Until<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

struct PageAnswer {
    status: u16,
    kind: &'static str,
    body: String,
}

impl PageAnswer {
    fn ok(kind: &'static str, body: impl Into<String>) -> Self {
        Self { status: 200, kind, body: body.into() }
    }

    fn bytes(&self) -> Vec<u8> {
        let Self { status, kind, body } = self;
        // The phrase after the status may be empty, and nobody reads it.
        let head = format!(
            "HTTP/1.1 {status} \r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\nContent-Security-Policy: \
             {POLICY}\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body.as_bytes()].concat()
    }
}

impl From<Refusal> for PageAnswer {
    fn from(Refusal { status, why }: Refusal) -> Self {
        Self { status, kind: "text/plain", body: format!("{why}\n") }
    }
}

fn answer(site: &Site, target: &str) -> Result<PageAnswer, Refusal> {
    const NOTHING: Refusal = Refusal { status: 404, why: "there is nothing at this address" };
    Ok(match target {
        "/" => PageAnswer::ok("text/html", site.page()),
        "/page.css" => PageAnswer::ok("text/css", STYLE),
        "/page.js" => PageAnswer::ok("text/javascript", SCRIPT),
        "/verdicts" => PageAnswer::ok("text/html", site.verdicts()),
        _ => {
            let choices = path(target).ok_or(NOTHING)?;
            if choices.len() > MOST_STEPS {
                return Err(Refusal::LONG_PATH);
            }
            PageAnswer::ok("application/json", site.arrive(&choices).ok_or(NOTHING)?.to_string())
        }
    })
}

/// The choices of `/path/3/1`; `/path` is the first state.
fn path(url: &str) -> Option<Vec<usize>> {
    let choices = url.strip_prefix("/path")?;
    if choices.is_empty() {
        return Some(Vec::new());
    }
    choices.strip_prefix('/')?.split('/').map(|choice| choice.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn a_path_is_a_list_of_numbers() {
        assert_eq!(path("/path"), Some(vec![]));
        assert_eq!(path("/path/3/1"), Some(vec![3, 1]));
        for wrong in ["/", "/path/", "/path/x", "/path/-1", "/path/1/", "/paths", "/path3"] {
            assert_eq!(path(wrong), None, "{wrong}");
        }
    }
}
