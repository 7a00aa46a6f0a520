//! The page over HTTP, on an address of this machine.
//!
//! The server has one thread: the longest path takes it some milliseconds, and the search needs the other processors. Each
//! connection carries one request. What connections may cost is bounded: their number, the size of a head, the steps of a
//! path, and how long any wait may take. However many connections are opened and left silent, a request is answered: one more
//! takes the place of the one that has been silent longest.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::ready;
use std::io::{self, ErrorKind};
use std::net;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt as _, copy, sink};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime;
use tokio::task::{AbortHandle, JoinSet, yield_now};
use tokio::time::{sleep, timeout};

use super::request::{Refusal, accepted};
use super::site::Site;

const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// Connections at the same time; browsers open about 6.
const MOST_CONNECTIONS: usize = 32;
/// The largest head that is read: a long path fits many times.
const MOST_HEAD: usize = 16 << 10;
/// How long the head of a request may take to arrive.
const HEAD_WAIT: Duration = Duration::from_secs(5);
/// How long a request may take from the first byte to the last byte of its answer.
const REQUEST_WAIT: Duration = Duration::from_secs(30);
/// How long it waits for a file that it may open, and the errors that say that there is none.
const FILES_WAIT: Duration = Duration::from_millis(100);
const EMFILE: i32 = rustix::io::Errno::MFILE.raw_os_error();
const ENFILE: i32 = rustix::io::Errno::NFILE.raw_os_error();
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

const TEXT: &str = "text/plain; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";

/// Answers requests until the process ends.
///
/// # Errors
/// The listener cannot be used.
pub fn serve(listener: net::TcpListener, site: &Arc<Site>) -> io::Result<Infallible> {
    let port = listener.local_addr()?.port();
    listener.set_nonblocking(true)?;
    runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let listener = TcpListener::from_std(listener)?;
        let mut connections = PageConnections::default();
        loop {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                // The other side may have gone meanwhile.
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => continue,
                // The process may open no more files until another connection ends.
                Err(error) if [Some(EMFILE), Some(ENFILE)].contains(&error.raw_os_error()) => {
                    sleep(FILES_WAIT).await;
                    continue;
                }
                Err(error) => return Err(error),
            };
            connections.make_room().await;
            connections.open(Arc::clone(site), stream, port);
            // It reads its request before further connections can take its place.
            yield_now().await;
        }
    })
}

/// The open connections.
#[derive(Default)]
struct PageConnections {
    tasks: JoinSet<()>,
    /// Oldest first.
    open: VecDeque<PageConnection>,
}

struct PageConnection {
    task: AbortHandle,
    /// Whether its request has arrived and is being answered.
    is_answering: Arc<AtomicBool>,
}

impl PageConnections {
    /// Ends the connection that has waited longest for its request or for its end, if there is no room for one more. While all
    /// are being answered, it waits until one of them ends.
    async fn make_room(&mut self) {
        loop {
            while self.tasks.try_join_next().is_some() {}
            self.open.retain(|connection| !connection.task.is_finished());
            if self.open.len() < MOST_CONNECTIONS {
                return;
            }
            let idle = self.open.iter().position(|connection| !connection.is_answering.load(Ordering::Relaxed));
            match idle.and_then(|oldest| self.open.remove(oldest)) {
                Some(connection) => connection.task.abort(),
                None => drop(self.tasks.join_next().await),
            }
        }
    }

    fn open(&mut self, site: Arc<Site>, stream: TcpStream, port: u16) {
        let is_answering = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_answering);
        let task = self.tasks.spawn(async move { converse(&site, stream, port, &seen).await });
        self.open.push_back(PageConnection { task, is_answering });
    }
}

/// Reads one request, answers it, and ends the connection.
async fn converse(site: &Site, mut stream: TcpStream, port: u16, is_answering: &AtomicBool) {
    let answers = service_fn(|request: Request<Incoming>| {
        is_answering.store(true, Ordering::Relaxed);
        ready(Ok::<_, Infallible>(response(site, &request, port)))
    });
    let connection = http1::Builder::new()
        .keep_alive(false)
        .half_close(true)
        .max_buf_size(MOST_HEAD)
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WAIT)
        .serve_connection(TokioIo::new(&mut stream), answers);
    // A browser that goes away or is too slow is no error of ours.
    let _ = timeout(REQUEST_WAIT, connection).await;
    is_answering.store(false, Ordering::Relaxed);
    let _ = timeout(LAST_WAIT, copy(&mut stream.take(MOST_UNREAD), &mut sink())).await;
}

fn response(site: &Site, request: &Request<impl Body>, port: u16) -> Response<String> {
    let answered = accepted(request, port).and_then(|()| answer(site, request.uri().path()));
    let (status, kind, body) = match answered {
        Ok((kind, body)) => (StatusCode::OK, kind, body),
        Err(Refusal { status, why }) => (status, TEXT, format!("{why}\n")),
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    for (name, value) in [
        (CONTENT_TYPE, kind),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CACHE_CONTROL, "no-store"),
        (ALLOW, "GET, HEAD"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// What is at an address: its type and its text.
fn answer(site: &Site, address: &str) -> Result<(&'static str, String), Refusal> {
    Ok(match address {
        "/" => (HTML, site.page()),
        "/page.css" => ("text/css; charset=utf-8", STYLE.to_owned()),
        "/page.js" => ("text/javascript; charset=utf-8", SCRIPT.to_owned()),
        "/verdicts" => (HTML, site.verdicts()),
        _ => {
            let choices = path(address).ok_or(Refusal::NOT_FOUND)?;
            if choices.len() > MOST_STEPS {
                return Err(Refusal::LONG_PATH);
            }
            ("application/json", site.arrive(&choices).ok_or(Refusal::NOT_FOUND)?.to_string())
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
