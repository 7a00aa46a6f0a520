//! The Explorer: the real binary on a free port, asked over plain HTTP as a browser does.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use roxmltree::Document;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::command::{lockstep, run};

const NAME: &str = "failover-loses-the-grant";

/// An Explorer that runs; it ends with its test.
struct Explorer {
    child: Child,
    stdout: BufReader<ChildStdout>,
    /// `127.0.0.1:4321`.
    address: String,
}

impl Drop for Explorer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Started, and ready to answer.
fn explorer() -> Explorer {
    let mut child = lockstep(&["explore", NAME, "--port", "0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    stdout.read_line(&mut line).expect("a line");
    let address = line.trim_end().strip_prefix(&format!("{NAME}   http://")).expect("where to look").to_owned();
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    Explorer { child, stdout, address }
}

impl Explorer {
    /// One request; the status and the body.
    fn ask(&self, method: &str, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        // Version 1.0 has no chunks.
        write!(stream, "{method} {path} HTTP/1.0\r\nContent-Length: 0\r\n\r\n").expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers in text");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, body.to_owned())
    }

    fn json(&self, path: &str) -> Value {
        let (status, body) = self.ask("GET", path);
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).expect("JSON")
    }

    /// The links to counterexamples: what they say, and the path of indices they lead to.
    fn links(&mut self, most: usize) -> Vec<(String, String)> {
        let mut links = Vec::new();
        for _ in 0..most {
            let mut line = String::new();
            self.stdout.read_line(&mut line).expect("a line");
            let (says, place) =
                line.trim_end().split_once(&format!("   http://{}/#/steps", self.address)).expect("a link");
            links.push((says.to_owned(), place.to_owned()));
        }
        links
    }

    /// The step that a path of indices ends with.
    fn step(&self, path: &str) -> Value {
        let (before, index) = path.rsplit_once('/').expect("an index");
        let index: u64 = index.parse().expect("an index");
        let choices = self.json(&format!("/.states{before}"));
        let mut choices = choices.as_array().expect("a list").iter();
        choices.find(|choice| choice["actionIndex"] == index).expect("the step can happen").clone()
    }

    fn ends(mut self) -> Option<i32> {
        let since = Instant::now();
        while since.elapsed() < Duration::from_secs(10) {
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
    let (status, page) = explorer.ask("GET", "/");
    assert_eq!(status, 200);
    assert!(page.contains("Stateright Explorer"), "{page}");
    let first = &explorer.json("/.states")[0];
    insta::assert_snapshot!(text(first, "state"));
    Document::parse(text(first, "svg")).expect("well-formed XML");
}

#[test]
fn the_status_names_every_property_that_applies() {
    let explorer = explorer();
    let status = explorer.json("/.status");
    let properties: Vec<_> = status["properties"].as_array().expect("a list").iter().collect();
    let names: Vec<_> = properties.iter().map(|property| property[1].as_str().expect("a name")).collect();
    let says = "one-believer: at most one holder (one thread of one client) believes it holds (declared violated)";
    assert!(names.contains(&says), "{names:?}");
    // There is no resource.
    assert!(!names.iter().any(|name| name.starts_with("tokens-increase")), "{names:?}");
}

/// From the first state to two believers, step by step, as one clicks.
#[test]
fn a_link_leads_to_the_violation_step_by_step() {
    let mut explorer = explorer();
    let links = explorer.links(4);
    let (says, path) = &links[0];
    assert_eq!(says, "one-believer: violated, as declared, after 5 steps");
    let ends = path.match_indices('/').map(|(at, _)| at).skip(2).chain([path.len()]);
    let steps: Vec<_> = ends.map(|end| explorer.step(&path[..end])).collect();
    let actions: Vec<_> = steps.iter().map(|step| text(step, "action")).collect();
    let told = [
        "A asks for the lock",
        "n1 crashes",
        "n2 is promoted to master",
        "B learns which node is the master",
        "B asks for the lock",
    ];
    assert_eq!(actions, told);
    let last = &steps[4];
    insta::assert_snapshot!(text(last, "outcome"));
    assert!(text(last, "state").contains("BROKEN    one-believer: "), "{last}");
    assert!(!steps[3]["state"].to_string().contains("one-believer"), "{}", steps[3]);

    let drawn = Document::parse(text(last, "svg")).expect("well-formed XML");
    let texts: Vec<_> = drawn.descendants().filter_map(|node| node.text()).collect();
    for says in [NAME, "MASTER", "HOLDS", "one-believer: A and B both believe they hold; at most 1 may."] {
        assert!(texts.contains(&says), "no {says:?} in {texts:?}");
    }
}

/// stateright's own search sees what `lockstep check` sees, and tells the first counterexample rather than the last.
#[test]
fn run_to_completion_finds_what_check_finds() {
    let mut explorer = explorer();
    let (_, path) = explorer.links(4).swap_remove(0);
    assert_eq!(explorer.ask("POST", "/.runtocompletion").0, 200);
    let since = Instant::now();
    let status = loop {
        let status = explorer.json("/.status");
        if status["done"] == true {
            break status;
        }
        assert!(since.elapsed() < Duration::from_secs(60), "{status}");
        sleep(Duration::from_millis(50));
    };
    let checked = run(&["check", NAME, "--format", "json"]);
    let checked: Value = serde_json::from_str(&checked.stdout).expect("JSON");
    assert_eq!(status["unique_state_count"], checked["scenarios"][0]["states"]);
    let found = status["properties"][0][2].as_str().expect("it is found");
    assert_eq!(format!("/{found}"), path);
}

#[test]
fn a_path_to_nowhere_is_no_error_of_the_server() {
    let explorer = explorer();
    for path in ["/.states/7", "/.states/0/99", "/.states/0/x", "/nothing", "/../../etc/passwd"] {
        assert_eq!(explorer.ask("GET", path).0, 404, "{path}");
    }
    assert_eq!(explorer.ask("GET", "/.states/0").0, 200);
}

#[test]
fn ctrl_c_ends_it_at_once() {
    let mut explorer = explorer();
    explorer.links(4);
    let process = Pid::from_child(&explorer.child);
    kill_process(process, Signal::INT).expect("it is ours");
    assert_eq!(explorer.ends(), Some(130));
}

/// Programs get the same, in one object.
#[test]
fn where_to_look_is_said_to_programs() {
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
    assert!(text(&said["counterexamples"][0], "url").starts_with(&format!("{url}/#/steps/0/")), "{said}");
    assert_eq!((ended.status.code(), ended.stderr), (Some(130), Vec::new()));
}

#[test]
fn a_port_that_somebody_has_is_said_with_what_to_do() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = taken.local_addr().expect("it is bound").port().to_string();
    let ran = run(&["explore", NAME, "--port", &port]);
    assert_eq!(ran.code, 5, "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
    for says in [&port, "somebody else uses it", "--port 0"] {
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
