//! The head of a request: read within bounds, and refused unless it comes from a reader of this page.
//!
//! Every web site that a browser shows can send requests to this machine. So a request must name this server (`Host`),
//! and if it names the page that sends it (`Origin`, `Sec-Fetch-Site`), that must be the page of this server.

use httparse::{EMPTY_HEADER, Status};

/// The largest head that is read: a long path fits many times.
pub(super) const MOST_HEAD: usize = 16 << 10;
/// The most headers; browsers send about 20.
const MOST_HEADERS: usize = 100;
/// The largest body that a request may announce. No body is ever read: nothing here needs one.
const MOST_BODY: u64 = 1 << 10;

/// The names of this machine for itself: the server listens nowhere else.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Why a request is not answered: the status, and a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) why: &'static str,
}

impl Refusal {
    const NOT_HTTP: Self = Self { status: 400, why: "this is not a request of HTTP 1" };
    const FOREIGN_HOST: Self = Self {
        status: 403,
        why: "the header Host must name localhost, 127.0.0.1 or [::1], and the port of this server",
    };
    const FOREIGN_ORIGIN: Self =
        Self { status: 403, why: "the request comes from the page of another site, and only this page may send one" };
    const NOT_GET: Self = Self { status: 405, why: "only GET is answered" };
    pub(super) const TOO_SLOW: Self = Self { status: 408, why: "the request did not arrive in time" };
    const LARGE_BODY: Self =
        Self { status: 413, why: "the body may have at most 1024 bytes, and Content-Length must give its size" };
    pub(super) const LONG_PATH: Self = Self { status: 414, why: "a path may have at most 1000 steps" };
    pub(super) const LARGE_HEAD: Self = Self { status: 431, why: "the headers of the request are too large" };
}

/// The target of a request, from the bytes that have arrived; `None`: its head is not complete yet.
pub(super) fn target(bytes: &[u8], port: u16) -> Option<Result<String, Refusal>> {
    let mut headers = [EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(Status::Partial) => None,
        Ok(Status::Complete(_)) => Some(accepted(&request, port)),
        Err(httparse::Error::TooManyHeaders) => Some(Err(Refusal::LARGE_HEAD)),
        Err(_) => Some(Err(Refusal::NOT_HTTP)),
    }
}

fn accepted(request: &httparse::Request<'_, '_>, port: u16) -> Result<String, Refusal> {
    let values = |name: &str| -> Vec<String> {
        let named = request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
        named.map(|header| String::from_utf8_lossy(header.value).trim().to_ascii_lowercase()).collect()
    };
    let hosts = values("host");
    let [host] = hosts.as_slice() else { return Err(Refusal::FOREIGN_HOST) };
    if !is_ours(host, port) {
        return Err(Refusal::FOREIGN_HOST);
    }
    let own_origin = format!("http://{host}");
    if values("origin").iter().any(|origin| *origin != own_origin) {
        return Err(Refusal::FOREIGN_ORIGIN);
    }
    // A picture or a script of another site is asked for without an origin. A link to this page may be followed.
    let is_link = values("sec-fetch-mode").iter().any(|mode| mode == "navigate");
    if !is_link && values("sec-fetch-site").iter().any(|site| site != "same-origin" && site != "none") {
        return Err(Refusal::FOREIGN_ORIGIN);
    }
    if !values("transfer-encoding").is_empty() {
        return Err(Refusal::LARGE_BODY);
    }
    for length in values("content-length") {
        if length.is_empty() || !length.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(Refusal::NOT_HTTP);
        }
        // A number of more than 64 bits is too large as well.
        if length.parse().is_ok_and(|length: u64| length <= MOST_BODY) {
            continue;
        }
        return Err(Refusal::LARGE_BODY);
    }
    if request.method != Some("GET") {
        return Err(Refusal::NOT_GET);
    }
    Ok(request.path.unwrap_or_default().to_owned())
}

/// Whether the value of `Host` names this server. Only the default port of HTTP may be left out.
fn is_ours(host: &str, port: u16) -> bool {
    NAMES.iter().any(|name| *host == format!("{name}:{port}") || (port == 80 && host == *name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(headers: &str) -> Option<Result<String, Refusal>> {
        target(format!("GET /path/1 HTTP/1.1\r\n{headers}\r\n").as_bytes(), 3000)
    }

    #[test]
    fn the_names_of_this_machine_are_answered_with_the_served_port_only() {
        let answered = Some(Ok("/path/1".to_owned()));
        for host in ["localhost:3000", "LocalHost:3000", "127.0.0.1:3000", "[::1]:3000"] {
            assert_eq!(asked(&format!("Host: {host}\r\n")), answered, "{host}");
        }
        for host in ["", "localhost", "localhost:80", "127.0.0.1:30000", "example.org:3000", "localhost.example:3000"] {
            assert_eq!(asked(&format!("Host: {host}\r\n")), Some(Err(Refusal::FOREIGN_HOST)), "{host}");
        }
        assert_eq!(asked(""), Some(Err(Refusal::FOREIGN_HOST)));
        assert_eq!(asked("Host: localhost:3000\r\nHost: localhost:3000\r\n"), Some(Err(Refusal::FOREIGN_HOST)));
        let on_80 = target(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 80);
        assert_eq!(on_80, Some(Ok("/".to_owned())));
    }

    #[test]
    fn only_the_own_page_and_the_reader_may_ask() {
        let asked = |header: &str| asked(&format!("Host: localhost:3000\r\n{header}\r\n"));
        for own in ["Origin: http://localhost:3000", "Sec-Fetch-Site: same-origin", "sec-fetch-site: none"] {
            assert_eq!(asked(own), Some(Ok("/path/1".to_owned())), "{own}");
        }
        assert_eq!(asked("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate"), Some(Ok("/path/1".to_owned())));
        for foreign in [
            "Origin: null",
            "Origin: https://example.org",
            "Origin: http://localhost:4000",
            "Origin: http://127.0.0.1:3000",
            "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors",
            "Sec-Fetch-Site: same-site",
        ] {
            assert_eq!(asked(foreign), Some(Err(Refusal::FOREIGN_ORIGIN)), "{foreign}");
        }
    }

    #[test]
    fn a_body_is_refused_by_what_it_announces() {
        let asked = |header: &str| asked(&format!("Host: localhost:3000\r\n{header}\r\n"));
        assert_eq!(asked("Content-Length: 1024"), Some(Ok("/path/1".to_owned())));
        for large in ["Content-Length: 1025", "Content-Length: 99999999999999999999", "Transfer-Encoding: chunked"] {
            assert_eq!(asked(large), Some(Err(Refusal::LARGE_BODY)), "{large}");
        }
        for wrong in ["Content-Length: -1", "Content-Length:", "Content-Length: 1 2"] {
            assert_eq!(asked(wrong), Some(Err(Refusal::NOT_HTTP)), "{wrong}");
        }
    }

    #[test]
    fn a_head_is_read_when_it_is_complete() {
        assert_eq!(target(b"", 3000), None);
        assert_eq!(target(b"GET / HTTP/1.1\r\nHost: localhost:3000\r\n", 3000), None);
        assert_eq!(target(b"nonsense\x00\r\n\r\n", 3000), Some(Err(Refusal::NOT_HTTP)));
        let many = "x: y\r\n".repeat(MOST_HEADERS + 1);
        assert_eq!(asked(&many), Some(Err(Refusal::LARGE_HEAD)));
    }
}
