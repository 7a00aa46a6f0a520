//! Which requests are answered: those of a reader of this page.
//!
//! Every web site that a browser shows can send requests to this machine. So a request must name this server (`Host`),
//! and if it names the page that sends it (`Origin`, `Sec-Fetch-Site`), that must be the page of this server.

use hyper::body::Body;
use hyper::header::{HOST, ORIGIN};
use hyper::{Method, Request, StatusCode};

/// The largest body that a request may announce. It is dropped unread: nothing here needs one.
const MOST_BODY: u64 = 1 << 10;

/// The names of this machine for itself: the server listens nowhere else.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Why a request is not answered: the status, and a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) why: &'static str,
}

impl Refusal {
    const FOREIGN_HOST: Self = Self {
        status: StatusCode::FORBIDDEN,
        why: "the header Host must name localhost, 127.0.0.1 or [::1], and the port of this server",
    };
    const FOREIGN_ORIGIN: Self = Self {
        status: StatusCode::FORBIDDEN,
        why: "the request comes from the page of another site, and only this page may send one",
    };
    pub(super) const NOT_FOUND: Self = Self { status: StatusCode::NOT_FOUND, why: "there is nothing at this address" };
    const NOT_GET: Self = Self { status: StatusCode::METHOD_NOT_ALLOWED, why: "only GET and HEAD are answered" };
    const LARGE_BODY: Self = Self {
        status: StatusCode::PAYLOAD_TOO_LARGE,
        why: "the body may have at most 1024 bytes, and Content-Length must give its size",
    };
    pub(super) const LONG_PATH: Self =
        Self { status: StatusCode::URI_TOO_LONG, why: "a path may have at most 1000 steps" };
}

/// Whether a request to the server on this port is answered.
pub(super) fn accepted(request: &Request<impl Body>, port: u16) -> Result<(), Refusal> {
    let values = |name: &str| -> Vec<String> {
        let named = request.headers().get_all(name).iter();
        named.map(|value| String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase()).collect()
    };
    let hosts = values(HOST.as_str());
    let [host] = hosts.as_slice() else { return Err(Refusal::FOREIGN_HOST) };
    if !is_ours(host, port) {
        return Err(Refusal::FOREIGN_HOST);
    }
    // The address of a request may name a host of its own, which then counts in place of the header (RFC 9112, 3.2.2).
    if request.uri().authority().is_some_and(|authority| !is_ours(&authority.as_str().to_ascii_lowercase(), port)) {
        return Err(Refusal::FOREIGN_HOST);
    }
    let own_origin = format!("http://{host}");
    if values(ORIGIN.as_str()).iter().any(|origin| *origin != own_origin) {
        return Err(Refusal::FOREIGN_ORIGIN);
    }
    // A picture or a script of another site is asked for without an origin. A link to this page may be followed.
    let is_link = values("sec-fetch-mode").iter().any(|mode| mode == "navigate");
    if !is_link && values("sec-fetch-site").iter().any(|site| site != "same-origin" && site != "none") {
        return Err(Refusal::FOREIGN_ORIGIN);
    }
    // A body in chunks has no size that is known in advance.
    if request.body().size_hint().upper().is_none_or(|size| size > MOST_BODY) {
        return Err(Refusal::LARGE_BODY);
    }
    if matches!(*request.method(), Method::GET | Method::HEAD) { Ok(()) } else { Err(Refusal::NOT_GET) }
}

/// Whether the value of `Host` names this server. Only the default port of HTTP may be left out.
fn is_ours(host: &str, port: u16) -> bool {
    NAMES.iter().any(|name| *host == format!("{name}:{port}") || (port == 80 && host == *name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(headers: &[(&str, &str)], port: u16) -> Result<(), Refusal> {
        let request =
            headers.iter().fold(Request::get("/path/1"), |request, (name, value)| request.header(*name, *value));
        accepted(&request.body(String::new()).expect("a request"), port)
    }

    #[test]
    fn the_names_of_this_machine_are_answered_with_the_served_port_only() {
        for host in ["localhost:3000", "LocalHost:3000", "127.0.0.1:3000", "[::1]:3000"] {
            assert_eq!(asked(&[("Host", host)], 3000), Ok(()), "{host}");
        }
        for host in ["", "localhost", "localhost:80", "127.0.0.1:30000", "example.org:3000", "localhost.example:3000"] {
            assert_eq!(asked(&[("Host", host)], 3000), Err(Refusal::FOREIGN_HOST), "{host}");
        }
        assert_eq!(asked(&[], 3000), Err(Refusal::FOREIGN_HOST));
        assert_eq!(asked(&[("Host", "localhost:3000"); 2], 3000), Err(Refusal::FOREIGN_HOST));
        assert_eq!(asked(&[("Host", "localhost")], 80), Ok(()));
    }

    #[test]
    fn only_the_own_page_and_the_reader_may_ask() {
        let host = ("Host", "localhost:3000");
        for own in [("Origin", "http://localhost:3000"), ("Sec-Fetch-Site", "same-origin"), ("sec-fetch-site", "none")]
        {
            assert_eq!(asked(&[host, own], 3000), Ok(()), "{own:?}");
        }
        let cross_site = ("Sec-Fetch-Site", "cross-site");
        assert_eq!(asked(&[host, cross_site, ("Sec-Fetch-Mode", "navigate")], 3000), Ok(()));
        assert_eq!(asked(&[host, cross_site, ("Sec-Fetch-Mode", "no-cors")], 3000), Err(Refusal::FOREIGN_ORIGIN));
        for foreign in [
            ("Origin", "null"),
            ("Origin", "https://example.org"),
            ("Origin", "http://localhost:4000"),
            ("Origin", "http://127.0.0.1:3000"),
            ("Sec-Fetch-Site", "same-site"),
        ] {
            assert_eq!(asked(&[host, foreign], 3000), Err(Refusal::FOREIGN_ORIGIN), "{foreign:?}");
        }
    }
}
