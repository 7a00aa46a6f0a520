//! What a CI machine does to the command: servers that hang, print without end or are wrapped in a script, and being told
//! to end at any time. It always ends soon, says why, and leaves neither processes nor folders.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lockstep_tests::command::{Ran, lockstep};
use lockstep_tests::servers::servers;
use rustix::process::{Pid, Signal as Told, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::servers::{children_of, eventually, is_server};

/// Below every deadline of an answer, and far above what an end takes.
const SOON: Duration = Duration::from_secs(8);
/// A world of one node.
const ONE_NODE: &str = "third-client-is-woken";

/// A program that answers `--version` as a server does, and then does this.
fn program(folder: &Path, name: &str, does: &str) -> PathBuf {
    let file = folder.join(name);
    let version = "[ \"$1\" = --version ] && echo 'Redis server v=7.0.15 sha=0' && exit";
    fs::write(&file, format!("#!/bin/sh\n{version}\n{does}\n")).expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("a program");
    file
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// The command with a folder of temporary files of its own: everything that it starts has a file there.
fn in_folder(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = lockstep(arguments);
    command.env("TMPDIR", folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn ended(child: Child) -> Ran {
    let output = child.wait_with_output().expect("our own child");
    let said = |bytes| String::from_utf8(bytes).expect("text");
    let code = output.status.code().unwrap_or_else(|| panic!("it does not end by itself: {}", output.status));
    Ran { code, stdout: said(output.stdout), stderr: said(output.stderr) }
}

/// Nothing that was started with a path in this folder runs any more.
fn assert_nobody_uses(folder: &Path) {
    let folder = text(folder);
    let uses = |process: &fs::DirEntry| {
        let words = fs::read(process.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).contains(folder)
    };
    eventually(&format!("nobody uses {folder}"), || {
        (!fs::read_dir("/proc").expect("Linux").flatten().any(|process| uses(&process))).then_some(())
    });
}

fn assert_no_folder_is_left(below: &Path) {
    let left: Vec<_> = fs::read_dir(below).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    let ours = left.iter().filter(|name| name.to_string_lossy().starts_with("lockstep-")).collect::<Vec<_>>();
    assert!(ours.is_empty(), "{ours:?}");
}

/// A run of `fuzz` that has played histories on one node for some time, and its server.
fn fuzzing(folder: &Path, more: &[&str]) -> (Child, u32) {
    let server = servers().swap_remove(0);
    let arguments = ["fuzz", ONE_NODE, "--cases", "1000000", "--seed", "1", "--server", text(server.path())];
    let harness = in_folder(folder, &[&arguments, more].concat()).spawn().expect("the binary starts");
    // A server that serves says so in its title; the one that was asked for its version has none.
    let is_ready = |child: &u32| {
        let title = fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&title).contains("unixsocket:")
    };
    let node = eventually("a server serves", || children_of(harness.id()).into_iter().find(is_ready));
    // The first histories take milliseconds.
    thread::sleep(Duration::from_secs(1));
    (harness, node)
}

fn tell(process: u32, told: Told) {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(process, told).expect("our own process");
}

/// As on a machine that is suspended: the server exists and answers nothing.
#[test]
fn a_server_that_stops_answering_is_named_and_ends_the_run() {
    let folder = TempDir::new().expect("a folder");
    let (harness, node) = fuzzing(folder.path(), &[]);
    tell(node, Told::STOP);
    let ran = ended(harness);
    assert_eq!(ran.code, 5, "{}", ran.stderr);
    for said in [format!("(process {node}) has not answered for"), "(asked: ".to_owned()] {
        assert!(ran.stderr.contains(&said), "{said:?} is not in\n{}", ran.stderr);
    }
    assert!(ran.stdout.contains("0 passed, 0 failed, 1 skipped"), "{}", ran.stdout);
    assert!(!is_server(node), "it is gone, although it was stopped");
    assert_no_folder_is_left(folder.path());
}

/// A failure of the harness is told with its history, which can be replayed: the same server fails again, or it does not.
#[test]
fn a_server_that_dies_is_told_with_the_history_in_which_it_did() {
    let folder = TempDir::new().expect("a folder");
    let out = folder.path().join("out");
    let (harness, node) = fuzzing(folder.path(), &["--out", text(&out)]);
    tell(node, Told::KILL);
    let ran = ended(harness);
    assert_eq!(ran.code, 5, "{}", ran.stderr);
    let kept = out.join(format!("{ONE_NODE}.failed-1.json"));
    let [place, error, next] = ["could not be replayed", "error: ", "next  "].map(|begins| {
        let lines = || ran.stderr.lines().filter(|line| line.contains(begins));
        assert_eq!(lines().count(), 1, "{begins:?} is not once in\n{}", ran.stderr);
        lines().next().unwrap_or_default()
    });
    assert!(place.starts_with(&format!("{ONE_NODE}: history ")), "{place}");
    assert!(place.contains(" of seed 1 could not be replayed "), "{place}");
    assert!(place.contains(" step"), "{place}");
    assert!(!error.contains("panicked"), "{error}");
    let server = servers().swap_remove(0);
    assert_eq!(next, format!("next  lockstep replay {} --server {}", kept.display(), server.path().display()));
    let again = ended(in_folder(folder.path(), &["replay", text(&kept)]).spawn().expect("the binary starts"));
    assert_eq!(again.code, 0, "a server that lives replays it: {}", again.stderr);
    assert!(again.stdout.contains("agrees: "), "{}", again.stdout);

    let (harness, node) = fuzzing(folder.path(), &["--format", "json"]);
    tell(node, Told::KILL);
    let ran = ended(harness);
    assert_eq!(ran.code, 5, "{}", ran.stderr);
    let told: Value = serde_json::from_str(&ran.stdout).expect("one object");
    let failure = &told["failure"];
    assert_eq!((&failure["scenario"], &failure["trace"]), (&json!(ONE_NODE), &Value::Null), "{told}");
    assert!(failure["history"].as_u64().is_some_and(|number| number > 0), "{told}");
    assert!(failure["error"].as_str().is_some_and(|error| ran.stderr.contains(error)), "{told}");
    assert!(ran.stderr.contains("--seed 1 --cases 1000000"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--out DIR, which writes the trace"), "{}", ran.stderr);
    assert_no_folder_is_left(folder.path());
}

#[test]
fn each_request_to_end_ends_a_wait_for_a_server_and_prints_what_is_known() {
    for told in [Told::INT, Told::TERM, Told::HUP] {
        let folder = TempDir::new().expect("a folder");
        let (harness, node) = fuzzing(folder.path(), &[]);
        tell(node, Told::STOP);
        thread::sleep(Duration::from_millis(200));
        let begin = Instant::now();
        tell(harness.id(), told);
        let ran = ended(harness);
        assert!(begin.elapsed() < SOON, "{told:?} took {:?}", begin.elapsed());
        assert_eq!(ran.code, 130, "{told:?}: {}", ran.stderr);
        assert!(ran.stdout.starts_with(&format!("{ONE_NODE}   inconclusive   ")), "{told:?}: {}", ran.stdout);
        assert!(ran.stdout.contains("interrupted: 1 of 1 scenarios were started"), "{told:?}: {}", ran.stdout);
        assert!(!is_server(node), "{told:?}");
        assert_no_folder_is_left(folder.path());
    }
}

/// Nobody reads the result, so it cannot be printed to its end.
#[test]
fn a_request_to_end_also_ends_a_command_whose_output_nobody_reads() {
    let folder = TempDir::new().expect("a folder");
    let check = ["check", "failover-loses-the-grant", "--format", "json"];
    let mut harness = in_folder(folder.path(), &check).spawn().expect("the binary starts");
    eventually("it waits for a reader", || {
        let waits_in = fs::read_to_string(format!("/proc/{}/wchan", harness.id())).unwrap_or_default();
        let state = fs::read_to_string(format!("/proc/{}/stat", harness.id())).unwrap_or_default();
        (waits_in.contains("pipe") || state.contains(") S ")).then_some(())
    });
    thread::sleep(Duration::from_secs(1));
    assert!(harness.try_wait().expect("our own child").is_none(), "the result fits into the pipe");
    let begin = Instant::now();
    tell(harness.id(), Told::TERM);
    assert_eq!(harness.wait().expect("our own child").code(), Some(130));
    assert!(begin.elapsed() < SOON, "it took {:?}", begin.elapsed());
}

/// What the script has started ends too.
#[test]
fn a_program_that_never_says_its_version_is_given_up() {
    let folder = TempDir::new().expect("a folder");
    let marker = folder.path().join("marker");
    fs::write(&marker, "").expect("a file");
    let sleeps = folder.path().join("sleeps");
    fs::write(&sleeps, format!("#!/bin/sh\ntail -f '{}'\n", marker.display())).expect("a file");
    let prints = folder.path().join("prints");
    fs::write(&prints, "#!/bin/sh\nyes\n").expect("a file");
    for (server, says) in [(&sleeps, "it has not ended within 10 s"), (&prints, "it writes more than 65536 bytes")] {
        fs::set_permissions(server, fs::Permissions::from_mode(0o755)).expect("a program");
        let ran = replay_on(folder.path(), server);
        assert_eq!(ran.code, 5, "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("{}: asked with --version, {says}", server.display())), "{}", ran.stderr);
        assert_nobody_uses(folder.path());
    }
}

#[test]
fn a_program_that_never_serves_is_given_up() {
    let folder = TempDir::new().expect("a folder");
    let marker = folder.path().join("marker");
    fs::write(&marker, "").expect("a file");
    let sleeps = program(folder.path(), "sleeps", &format!("echo no luck; tail -f '{}'", marker.display()));
    let prints = program(folder.path(), "prints", "yes 'no luck'");
    for (server, says) in [(&sleeps, "no answer within 15 s"), (&prints, "it wrote more than 1048576 bytes")] {
        let ran = replay_on(folder.path(), server);
        assert_eq!(ran.code, 5, "{}", ran.stderr);
        for said in [says, "no luck"] {
            assert!(ran.stderr.contains(said), "{said:?} is not in\n{}", ran.stderr);
        }
        assert!(ran.stderr.len() < 10_000, "only the end of it is shown");
        assert_nobody_uses(folder.path());
        assert_no_folder_is_left(folder.path());
    }
}

/// A replay kills its servers. Of a script that runs the server as its child it would kill the script only.
#[test]
fn a_wrapper_must_become_the_server() {
    let folder = TempDir::new().expect("a folder");
    for server in servers() {
        let real = server.path().display();
        for (name, runs, code) in [
            ("child", format!("'{real}' \"$@\""), 5),
            ("other-group", format!("setsid -w '{real}' \"$@\""), 5),
            ("becomes-it", format!("exec '{real}' \"$@\""), 0),
        ] {
            let file = folder.path().join(name);
            fs::write(&file, format!("#!/bin/sh\n{runs}\n")).expect("a file");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("a program");
            let ran = replay_on(folder.path(), &file);
            assert_eq!(ran.code, code, "{server}, {name}: {}", ran.stderr);
            if code != 0 {
                for said in [&format!("{} is a wrapper", file.display()), "let it end with exec"] {
                    assert!(ran.stderr.contains(said), "{server}: {said:?} is not in\n{}", ran.stderr);
                }
            }
            assert_nobody_uses(folder.path());
            assert_no_folder_is_left(folder.path());
        }
    }
}

/// Sentinels have folders of their own, into which they write.
#[test]
fn what_a_killed_replay_under_sentinel_leaves_is_deleted_by_the_next_run() {
    let folder = TempDir::new().expect("a folder");
    let server = servers().swap_remove(0);
    let shown = in_folder(folder.path(), &["show", "failover-loses-the-grant", "--format", "json"]).output();
    let file = folder.path().join("failover.json");
    fs::write(&file, shown.expect("the binary starts").stdout).expect("a file");
    let replay = ["replay", text(&file), "--sentinel", "--server", text(server.path())];
    let mut harness = in_folder(folder.path(), &replay).spawn().expect("the binary starts");
    eventually("two nodes and three sentinels run", || (children_of(harness.id()).len() == 5).then_some(()));
    harness.kill().expect("our own child");
    harness.wait().expect("our own child");
    assert_nobody_uses(&folder.path().join("lockstep-"));
    let left = fs::read_dir(folder.path()).expect("a folder").flatten();
    let sentinels = left.filter(|entry| entry.path().join("sentinel.conf").exists()).count();
    assert_eq!(sentinels, 3, "a killed process deletes nothing");

    let ran = replay_on(folder.path(), server.path());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_no_folder_is_left(folder.path());
}

/// A server without memory refuses every write, and so differs from the model.
#[test]
fn fuzz_writes_only_into_the_folder_that_it_is_told() {
    let folder = TempDir::new().expect("a folder");
    let real = servers().swap_remove(0);
    let server = folder.path().join("without-memory");
    fs::write(&server, format!("#!/bin/sh\nexec '{}' \"$@\" --maxmemory 1\n", real.path().display())).expect("a file");
    fs::set_permissions(&server, fs::Permissions::from_mode(0o755)).expect("a program");
    let (here, out) = (folder.path().join("here"), folder.path().join("out"));
    fs::create_dir(&here).expect("a folder");
    let files = |of: &Path| fs::read_dir(of).map_or(0, Iterator::count);
    let fuzz = |more: &[&str]| {
        let arguments = ["fuzz", ONE_NODE, "--cases", "5", "--seed", "1", "--server", text(&server)];
        let arguments = [&arguments[..], more].concat();
        ended(in_folder(folder.path(), &arguments).current_dir(&here).spawn().expect("the binary starts"))
    };
    let ran = fuzz(&[]);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    assert!(ran.stdout.contains("--out DIR, which writes the trace"), "{}", ran.stdout);
    assert_eq!(files(&here), 0);
    let ran = fuzz(&["--out", text(&out)]);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    assert_eq!((files(&here), files(&out)), (0, 1));
    assert_no_folder_is_left(folder.path());
}

fn replay_on(folder: &Path, server: &Path) -> Ran {
    ended(
        in_folder(folder, &["replay", "foreign-release", "--server", text(server)]).spawn().expect("the binary starts"),
    )
}
