//! The page of `explore`: the real binary on a free port, queried over plain HTTP as a browser does.

use std::fs;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use roxmltree::Document;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::{lockstep, run};
use crate::interrupted::LARGE;

const NAME: &str = "failover-loses-the-grant";

/// How long the end may take after the first signal. Documented is a second. A machine that is busy with other tests may
/// need more, but less than the 5 s after which the server gives up a silent client.
const END_WAIT: Duration = Duration::from_secs(4);

/// Connections that the server accepts at the same time.
const PLACES: usize = 32;

/// A running server, killed at the end of its test.
struct Explorer {
    child: Child,
    stdout: BufReader<ChildStdout>,
    /// The address with the port, for example `127.0.0.1:4321`.
    address: String,
}

impl Drop for Explorer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts the server and waits until it is ready to answer.
fn explorer() -> Explorer {
    started(&["explore", NAME, "--port", "0"], NAME)
}

/// Starts the server on a world of many millions of states.
fn large_explorer(options: &[&str]) -> Explorer {
    file_explorer(LARGE, options)
}

/// Starts the server on a scenario file of this text.
fn file_explorer(text: &str, options: &[&str]) -> Explorer {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("large.toml");
    fs::write(&file, text).expect("a file");
    let file = file.to_str().expect("a path of letters");
    // The address is printed after the file has been read.
    started(&[&["explore", file, "--port", "0"], options].concat(), "large")
}

fn started(arguments: &[&str], name: &str) -> Explorer {
    let mut child = lockstep(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    stdout.read_line(&mut line).expect("a line");
    let address = line.trim_end().strip_prefix(&format!("{name}   http://")).expect("an address").to_owned();
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    Explorer { child, stdout, address }
}

impl Explorer {
    /// Sends one request and returns the status and the body.
    fn ask(&self, method: &str, path: &str) -> (u16, String) {
        self.send(method, path, &format!("Host: {}\r\nContent-Length: 0\r\n", self.address))
    }

    /// Sends one request with these headers and no body.
    fn send(&self, method: &str, path: &str, headers: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        write!(stream, "{method} {path} HTTP/1.1\r\n{headers}\r\n").expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers in text");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, body.to_owned())
    }

    /// Connections whose clients send half a request, and then nothing more.
    fn silent_clients(&self, count: usize) -> Vec<TcpStream> {
        let half = || {
            let mut stream = TcpStream::connect(&self.address).expect("it listens");
            write!(stream, "GET / HTTP/1.1\r\nHost:").expect("it reads");
            stream
        };
        std::iter::repeat_with(half).take(count).collect()
    }

    fn json(&self, path: &str) -> Value {
        let (status, body) = self.ask("GET", path);
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).expect("JSON")
    }

    /// The links to counterexamples: the text and the path of each.
    fn links(&mut self, most: usize) -> Vec<(String, String)> {
        let mut links = Vec::new();
        for _ in 0..most {
            let mut line = String::new();
            self.stdout.read_line(&mut line).expect("a line");
            let (says, place) = line.trim_end().split_once(&format!("   http://{}/#", self.address)).expect("a link");
            links.push((says.to_owned(), place.to_owned()));
        }
        links
    }

    /// The last state of a path.
    fn end_of(&self, path: &str) -> Value {
        self.json(&format!("/path{}", path.trim_end_matches('/')))
    }

    /// The page, as soon as it contains the verdicts.
    fn checked_page(&self) -> String {
        let since = Instant::now();
        loop {
            let (status, page) = self.ask("GET", "/");
            assert_eq!(status, 200, "{page}");
            if page.contains("data-checked=\"yes\"") {
                return page;
            }
            assert!(since.elapsed() < Duration::from_secs(60), "{page}");
            sleep(Duration::from_millis(20));
        }
    }

    /// The exit code after this first signal.
    fn ends_by(mut self, sent: Signal) -> Option<i32> {
        kill_process(Pid::from_child(&self.child), sent).expect("it is ours");
        let since = Instant::now();
        while since.elapsed() < END_WAIT {
            if let Some(status) = self.child.try_wait().expect("it is ours") {
                return status.code();
            }
            sleep(Duration::from_millis(10));
        }
        panic!("it does not end");
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no {key} in {value}"))
}

#[test]
fn the_first_state_reads_like_a_page() {
    let explorer = explorer();
    let first = explorer.end_of("");
    insta::assert_snapshot!(text(&first, "state"));
    assert_eq!(first["steps"], json!([]));
    Document::parse(text(&first, "picture")).expect("well-formed XML");
}

/// The page shows name, story, world, and a verdict with its claim for every applicable property, including liveness.
#[test]
fn the_page_says_what_the_scenario_is_and_what_was_found() {
    let explorer = explorer();
    let page = explorer.checked_page();
    for says in [
        &format!("<title>{NAME} - Lockstep</title>"),
        &format!("<h1><a href=\"#/\">{NAME}</a></h1>"),
        "a reentrant lock",
        "<li>2 clients",
        "<td>one-believer</td><td>in every state: at most one holder",
        "<td>violated, as declared</td><td><a href=\"/#/",
        "<td>no-orphan</td><td>on every fair path: ",
    ] {
        assert!(page.contains(says), "no {says:?} in {page}");
    }
    // This property does not apply, because the scenario has no resource.
    assert!(!page.contains("tokens-increase"), "{page}");
    for internal in ["Explored", "stateright", "Stateright", "Searching", "&lt;"] {
        assert!(!page.contains(internal), "{internal} in {page}");
    }
    let fragment = explorer.ask("GET", "/verdicts").1;
    assert!(page.contains(&fragment), "{fragment}");
    Document::parse(&format!("<section>{fragment}</section>")).expect("well-formed XML");
}

/// Everything that the page loads comes from its own server.
#[test]
fn the_page_is_complete() {
    let explorer = explorer();
    let page = explorer.ask("GET", "/").1;
    for file in ["page.css", "page.js"] {
        assert!(page.contains(&format!("\"{file}\"")), "{page}");
        assert_eq!(explorer.ask("GET", &format!("/{file}")).0, 200, "{file}");
    }
    assert!(!page.contains("http"), "{page}");
}

/// From the first state to two believers, step by step, as a reader would click.
#[test]
fn a_link_leads_to_the_violation_step_by_step() {
    let mut explorer = explorer();
    let links = explorer.links(4);
    let (says, path) = &links[0];
    assert_eq!(says, "one-believer: violated, as declared, after 5 steps");
    assert!(explorer.checked_page().contains(&format!("<a href=\"/#{path}\">5 steps</a>")));
    let choices: Vec<usize> = path.split('/').skip(1).map(|choice| choice.parse().expect("a number")).collect();
    let mut clicked = Vec::new();
    let mut here = String::new();
    for choice in choices {
        clicked.push(explorer.end_of(&here)["choices"][choice].clone());
        here = format!("{here}/{choice}");
    }
    let told = json!([
        "A asks for the lock",
        "n1 crashes",
        "n2 is promoted to master",
        "B learns which node is the master",
        "B asks for the lock",
    ]);
    assert_eq!(Value::from(clicked), told);
    let last = explorer.end_of(path);
    assert_eq!(last["steps"], told);
    insta::assert_snapshot!(format!("{:#}\n{:#}\n{}", last["happened"], last["broken"], text(&last, "state")));
    let (before, _) = path.rsplit_once('/').expect("a step");
    assert!(!explorer.end_of(before)["broken"].to_string().contains("one-believer"));

    let drawn = Document::parse(text(&last, "picture")).expect("well-formed XML");
    let texts: Vec<_> = drawn.descendants().filter_map(|node| node.text()).collect();
    for says in [NAME, "MASTER", "HOLDS", "one-believer: A and B both believe they hold; at most 1 may."] {
        assert!(texts.contains(&says), "no {says:?} in {texts:?}");
    }
}

#[test]
fn a_path_to_nowhere_is_no_error_of_the_server() {
    let explorer = explorer();
    for path in ["/path/99", "/path/0/99", "/path/x", "/nothing", "/../../etc/passwd"] {
        assert_eq!(explorer.ask("GET", path).0, 404, "{path}");
    }
    assert_eq!(explorer.ask("POST", "/"), (405, "only GET and HEAD are answered\n".to_owned()));
    assert_eq!(explorer.ask("GET", "/path/0").0, 200);
}

#[test]
fn head_is_answered_like_get_but_without_a_body() {
    let explorer = explorer();
    for (path, status) in [("/", 200), ("/path", 200), ("/nothing", 404)] {
        assert_eq!(explorer.ask("HEAD", path), (status, String::new()), "{path}");
    }
}

/// No byte of these bodies is sent: the answer needs none, and no memory is set aside for them.
#[test]
fn a_body_is_refused_by_its_announced_length_alone() {
    let explorer = explorer();
    let host = format!("Host: {}\r\n", explorer.address);
    for length in ["1025", "1000000000000000"] {
        let (status, why) = explorer.send("POST", "/", &format!("{host}Content-Length: {length}\r\n"));
        assert_eq!(status, 413, "{length}: {why}");
        assert!(why.contains("at most 1024 bytes"), "{why}");
        assert_eq!(explorer.ask("GET", "/path").0, 200, "it goes on after {length}");
    }
    assert_eq!(explorer.send("GET", "/", &format!("{host}Transfer-Encoding: chunked\r\n")).0, 413);
    // These are no sizes, and the HTTP library refuses them: 431 for the largest number of 64 bits, 400 for the others.
    for (length, refused) in [("18446744073709551615", 431), ("99999999999999999999", 400), ("some", 400), ("", 400)] {
        assert_eq!(explorer.send("GET", "/", &format!("{host}Content-Length: {length}\r\n")).0, refused, "{length}");
        assert_eq!(explorer.ask("GET", "/path").0, 200, "it goes on after {length}");
    }
    assert_eq!(explorer.send("GET", "/path", &format!("{host}Content-Length: 1024\r\n")).0, 200);
}

/// The name of another site may lead to this machine: then its page would be of the same origin as this server.
#[test]
fn a_foreign_or_missing_host_is_refused() {
    let explorer = explorer();
    let (_, port) = explorer.address.rsplit_once(':').expect("a port");
    assert_eq!(explorer.send("GET", "/", &format!("Host: localhost:{port}\r\n")).0, 200);
    for host in [format!("evil.example:{port}"), "localhost".to_owned(), "127.0.0.1:1".to_owned(), String::new()] {
        for path in ["/", "/path", "/verdicts"] {
            let (status, why) = explorer.send("GET", path, &format!("Host: {host}\r\n"));
            assert_eq!(status, 403, "{host}{path}");
            assert!(why.contains("Host must name localhost"), "{why}");
        }
    }
    assert_eq!(explorer.send("GET", "/", "").0, 403);
}

#[test]
fn the_page_of_another_site_is_refused() {
    let explorer = explorer();
    let host = format!("Host: {}\r\n", explorer.address);
    let own = format!("{host}Origin: http://{}\r\nSec-Fetch-Site: same-origin\r\n", explorer.address);
    assert_eq!(explorer.send("GET", "/path", &own).0, 200);
    for header in ["Origin: https://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site"] {
        let (status, why) = explorer.send("GET", "/path/0", &format!("{host}{header}\r\n"));
        assert_eq!(status, 403, "{header}");
        assert!(why.contains("another site"), "{why}");
    }
}

#[test]
fn a_request_cannot_be_larger_than_the_page_needs() {
    let explorer = explorer();
    let host = format!("Host: {}\r\n", explorer.address);
    assert_eq!(explorer.send("GET", "/", &format!("{host}X: {}\r\n", "x".repeat(20_000))).0, 431);
    assert_eq!(explorer.send("GET", "/", &format!("{host}{}", "x: y\r\n".repeat(101))).0, 431);
    assert_eq!(explorer.ask("GET", &format!("/path{}", "/0".repeat(1001))).0, 414);
    // So long a path is walked, and does not exist.
    assert_eq!(explorer.ask("GET", &format!("/path{}", "/99".repeat(1000))).0, 404);
}

/// Clients that send nothing more hold up neither others nor the end, by whichever signal.
#[test]
fn silent_clients_hold_up_nobody() {
    for sent in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut explorer = explorer();
        explorer.links(4);
        let silent = explorer.silent_clients(8);
        assert_eq!(explorer.ask("GET", "/path").0, 200);
        assert_eq!(explorer.ends_by(sent), Some(130), "{sent:?}");
        drop(silent);
    }
}

#[test]
fn a_client_that_has_asked_may_close_its_half_of_the_connection() {
    let explorer = explorer();
    let mut stream = TcpStream::connect(&explorer.address).expect("it listens");
    write!(stream, "GET /path HTTP/1.1\r\nHost: {}\r\n\r\n", explorer.address).expect("it reads");
    stream.shutdown(Shutdown::Write).expect("it is ours");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers in text");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

/// The number of connections is bounded. Whoever sends nothing loses the place to those who come later, and nobody waits for
/// the time after which a silent client is given up.
#[test]
fn a_request_takes_the_place_of_the_client_that_was_silent_longest() {
    let explorer = explorer();
    let silent = explorer.silent_clients(200);
    assert_eq!(explorer.ask("GET", "/path").0, 200);
    let is_given_up = |mut client: &TcpStream| {
        client.set_nonblocking(true).expect("it is ours");
        match client.read(&mut [0]) {
            Ok(bytes) => bytes == 0,
            // Closed before the server had read everything.
            Err(error) => error.kind() == ErrorKind::ConnectionReset,
        }
    };
    let given_up: Vec<_> = silent.iter().map(is_given_up).collect();
    let (older, newer) = given_up.split_at(200 - (PLACES - 1));
    assert!(older.iter().all(|is_given_up| *is_given_up), "{PLACES} places are all: {given_up:?}");
    assert!(!newer.iter().any(|is_given_up| *is_given_up), "one place was needed: {given_up:?}");
}

#[test]
fn requests_and_ctrl_c_are_answered_during_the_search() {
    let explorer = large_explorer(&["--max-states", "1000000000"]);
    assert!(explorer.ask("GET", "/verdicts").1.contains("data-checked=\"no\""));
    assert_eq!(explorer.ask("GET", "/path").0, 200);
    let silent = explorer.silent_clients(8);
    assert_eq!(explorer.ends_by(Signal::INT), Some(130));
    drop(silent);
}

/// The only free text of a scenario is its story: a name consists of letters, digits, hyphens and underscores.
#[test]
fn a_story_cannot_change_the_page() {
    let story = "<script>alert('{{verdicts}}')</script> & \"{{world}}\"";
    let explorer = file_explorer(&LARGE.replace("\"Two clients.\"", &format!("{story:?}")), &["--max-states", "1000"]);
    let page = explorer.checked_page();
    let escaped = "<p>&lt;script&gt;alert(&#39;{{verdicts}}&#39;)&lt;/script&gt; &amp; &quot;{{world}}&quot;</p>";
    assert!(page.contains(escaped), "no {escaped} in {page}");
    assert_eq!(page.matches("<script").count(), 1, "the page has one script: {page}");
    let picture = explorer.end_of("/0")["picture"].to_string();
    assert!(!picture.contains("<script"), "{picture}");
    // Every other text is inserted by the script as text, not as HTML.
    let script = explorer.ask("GET", "/page.js").1;
    let as_html: Vec<_> = script.lines().filter(|line| line.contains("HTML")).map(str::trim).collect();
    assert_eq!(
        as_html,
        ["byId('picture').innerHTML = end.picture;", "byId('verdicts').innerHTML = await answer.text();"]
    );
}

#[test]
fn the_search_ends_at_its_limit_and_the_page_says_so() {
    for limit in [["--max-states", "1000"], ["--max-memory", "1M"], ["--timeout", "1s"]] {
        let explorer = large_explorer(&limit);
        let page = explorer.checked_page();
        assert!(!page.contains("Checked: all "), "{limit:?}: {page}");
    }
}

/// Programs get the same information, in one object.
#[test]
fn the_address_is_given_to_programs() {
    let mut child = lockstep(&["explore", NAME, "--port", "0", "--format", "json", "--quiet"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let said = serde_json::Deserializer::from_reader(child.stdout.take().expect("piped")).into_iter::<Value>().next();
    kill_process(Pid::from_child(&child), Signal::TERM).expect("it is ours");
    let ended = child.wait_with_output().expect("it ends");
    let said = said.expect("an object").expect("JSON");
    assert_eq!(said["schema"], 1);
    assert_eq!(said["scenario"], NAME);
    let url = text(&said, "url");
    assert!(text(&said["counterexamples"][0], "url").starts_with(&format!("{url}/#/")), "{said}");
    assert_eq!((ended.status.code(), ended.stderr), (Some(130), Vec::new()));
}

#[test]
fn a_port_in_use_is_reported_with_what_to_do() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = taken.local_addr().expect("it is bound").port().to_string();
    let ran = run(&["explore", NAME, "--port", &port]);
    assert_eq!(ran.code, 5, "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
    for says in [&port, "another program uses it", "--port 0"] {
        assert!(ran.stderr.contains(says), "no {says:?} in {}", ran.stderr);
    }
}

#[test]
fn what_is_no_scenario_is_not_explored() {
    let wrong: [(&[&str], &str); 4] = [
        (&["explore", "no-such-scenario"], "no-such-scenario"),
        (&["explore"], "NAME|FILE"),
        (&["explore", NAME, "--port", "70000"], "70000"),
        (&["explore", NAME, "--port", "x"], "--port"),
    ];
    for (arguments, says) in wrong {
        let ran = run(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{arguments:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
}
