//! The page over HTTP, on an address of this machine.

use std::io;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tiny_http::{Header, Method, Response, ResponseBox, Server};

use super::site::Site;

const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// How often the server looks whether it must stop.
const STOP_CHECK: Duration = Duration::from_millis(100);

/// Browsers may load nothing for this page from anywhere else. Pictures carry their own styles.
const POLICY: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'";

/// Answers requests until `stop` is set.
///
/// # Errors
/// The listener cannot be used.
pub fn serve(listener: TcpListener, site: &Site, stop: &AtomicBool) -> io::Result<()> {
    let server = Server::from_listener(listener, None).map_err(io::Error::other)?;
    while !stop.load(Ordering::Relaxed) {
        let Some(request) = server.recv_timeout(STOP_CHECK)? else { continue };
        let response = answer(site, request.method(), request.url());
        // A browser that goes away before it has read everything is no error of ours.
        let _ = request.respond(response);
    }
    Ok(())
}

fn answer(site: &Site, method: &Method, url: &str) -> ResponseBox {
    if *method != Method::Get {
        return text(405, "text/plain", "only GET is answered\n");
    }
    match url {
        "/" => text(200, "text/html", site.page()),
        "/page.css" => text(200, "text/css", STYLE),
        "/page.js" => text(200, "text/javascript", SCRIPT),
        "/verdicts" => text(200, "text/html", site.verdicts()),
        _ => match path(url).and_then(|choices| site.arrive(&choices)) {
            Some(end) => text(200, "application/json", end.to_string()),
            None => text(404, "text/plain", "there is nothing at this address\n"),
        },
    }
}

/// The choices of `/path/3/1`; `/path` is the first state.
fn path(url: &str) -> Option<Vec<usize>> {
    let choices = url.strip_prefix("/path")?;
    if choices.is_empty() {
        return Some(Vec::new());
    }
    choices.strip_prefix('/')?.split('/').map(|choice| choice.parse().ok()).collect()
}

fn text(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> ResponseBox {
    let header = |name: &str, value: &str| Header::from_bytes(name, value).expect("our headers are plain ASCII");
    Response::from_data(body)
        .with_status_code(status)
        .with_header(header("Content-Type", &format!("{kind}; charset=utf-8")))
        .with_header(header("Content-Security-Policy", POLICY))
        .with_header(header("Cache-Control", "no-store"))
        .boxed()
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
