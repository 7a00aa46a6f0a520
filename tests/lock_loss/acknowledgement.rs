//! A master hears from its replicas what they have, for `WAIT` and for `min-replicas`, only as far as our gate allows.

use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use lockstep_sim::replay::{Gate, ServerConnection};
use lockstep_tests::servers::for_every_version as on_every_server;
use redis::{Commands, cmd};

use crate::harness::{ReplicatedPair, get, pair, set, start};

/// A client that has written, and whose write is an effect that the gate holds.
fn write_one_effect(pair: &ReplicatedPair) -> ServerConnection {
    let mut client = pair.master.connect().unwrap();
    let _: () = client.set("lock", "a").unwrap();
    pair.gate.mark(pair.master.offset().unwrap());
    client
}

/// What a client's `WAIT` for one replica is answered. It has no answer before `until` is done.
fn answer_to_wait(client: &mut ServerConnection, at_most_ms: u32, until: impl FnOnce()) -> i64 {
    thread::scope(|scope| {
        let waiting = scope.spawn(|| cmd("WAIT").arg(1).arg(at_most_ms).query::<i64>(client).unwrap());
        thread::sleep(Duration::from_millis(50));
        assert!(!waiting.is_finished(), "WAIT is answered too early");
        until();
        waiting.join().unwrap()
    })
}

/// A sync wait asks the replica for its offset through the stream, and the gate must not hold this request back.
#[test]
fn a_wait_is_answered_once_the_effect_is_released() {
    on_every_server(|server| {
        let pair = pair(server);
        let mut client = write_one_effect(&pair);
        let replicas = answer_to_wait(&mut client, 60_000, || drop(pair.gate.release_one().unwrap()));
        assert_eq!(replicas, 1);
    });
}

/// The timeout of WAIT is measured on the server's clock, which only the harness moves.
#[test]
fn a_wait_ends_when_the_clock_says_so() {
    on_every_server(|server| {
        let pair = pair(server);
        let mut client = write_one_effect(&pair);
        let replicas = answer_to_wait(&mut client, 1000, || pair.master.advance_clock(1001).unwrap());
        assert_eq!(replicas, 0);
    });
}

/// Two effects are held, and a client waits for the first: the request for the offset must not queue behind the second.
#[test]
fn a_wait_for_the_first_effect_needs_no_second_one() {
    on_every_server(|server| {
        let pair = pair(server);
        let mut client = write_one_effect(&pair);
        pair.write(&set("other", "b"));
        let replicas = answer_to_wait(&mut client, 60_000, || drop(pair.gate.release_one().unwrap()));
        assert_eq!(replicas, 1);
        assert_eq!(get(&pair.replica, "other"), None);
    });
}

/// A socket in `folder` that leads to the one of a master, and all that the master sends is late there, piece by piece.
fn slow_path_to(master: &Path, folder: &Path) -> PathBuf {
    const LATE_MS: u64 = 100;
    let path = folder.join("slow.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let master = master.to_owned();
    thread::spawn(move || {
        while let Ok((client, _)) = listener.accept() {
            let server = UnixStream::connect(&master).unwrap();
            let (from_client, to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || carry(from_client, to_server, Duration::ZERO));
            thread::spawn(move || carry(server, client, Duration::from_millis(LATE_MS)));
        }
    });
    path
}

fn carry(mut from: UnixStream, mut to: UnixStream, late: Duration) {
    let mut bytes = [0; 8_192];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        thread::sleep(late);
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
}

/// A `WAIT` asks the replicas what they have, and this question is a part of the stream: the next `WAIT` on the connection is for it
/// too. It is often still on its way to the gate when the effect that was waited for is released.
#[test]
fn what_a_replica_has_is_acknowledged_up_to_a_question_that_is_still_on_its_way() {
    on_every_server(|server| {
        let folder = tempfile::tempdir().unwrap();
        let (master, replica) = (start(server), start(server));
        let gate = Gate::open(&slow_path_to(master.socket(), folder.path())).unwrap();
        replica.follow(&gate).unwrap();
        let pair = ReplicatedPair { master, replica, gate };
        let mut client = write_one_effect(&pair);
        let effect_ends = pair.master.offset().unwrap();
        let replicas = answer_to_wait(&mut client, 60_000, || drop(pair.gate.release_one().unwrap()));
        assert_eq!(replicas, 1, "{server}");
        let question_ends = pair.master.offset().unwrap();
        assert!(question_ends > effect_ends, "{server}: the master asked nothing");
        pair.gate.wait_acknowledged().unwrap();
        let acknowledged: String = cmd("INFO").arg("replication").query(&mut client).unwrap();
        assert!(acknowledged.contains(&format!(",offset={question_ends},")), "{server}: {acknowledged}");
    });
}

/// The master counts a replica as good while its last acknowledgement is recent by the master's clock. Real time does not
/// matter, though servers count and acknowledge by real seconds.
#[test]
fn a_replica_is_good_for_ten_seconds_after_it_acknowledged() {
    on_every_server(|server| {
        let pair = pair(server);
        pair.master.require_replicas(1, 10).unwrap();
        let mut client = pair.master.connect().unwrap();
        let mut write = || client.set::<_, _, ()>("lock", "a");
        for _ in 0..10 {
            write().unwrap();
            pair.master.advance_clock(10_000).unwrap();
            write().unwrap();
            pair.master.advance_clock(1000).unwrap();
            let refused = write().unwrap_err();
            assert_eq!(refused.code(), Some("NOREPLICAS"), "{server}");
            pair.gate.acknowledge().unwrap();
        }
        pair.master.advance_clock(11_000).unwrap();
        thread::sleep(Duration::from_millis(1500));
        assert!(write().is_err(), "{server}: the replica acknowledged by itself");
    });
}
