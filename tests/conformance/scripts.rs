//! What is true of all scripts: they load, they are taught again, and a replica refuses them.

use lockstep_redis::locks::{plain, reentrant};
use lockstep_redis::{Call, Error, Names, Receipt, Scripts};
use lockstep_tests::servers::{Server, on_every_server};

use crate::{holder, lease};

/// One call of every script, on a lock that `A:1` holds where the verb needs a holder.
fn one_call_of_each(scripts: &Scripts) -> Vec<Call> {
    let (a, ten_seconds) = (holder("A"), lease(10_000));
    let (plain, reentrant) = (Names::of("plain"), Names::of("reentrant"));
    vec![
        plain::acquire(scripts, &plain, &a, ten_seconds),
        plain::extend(scripts, &plain, &a, ten_seconds),
        plain::release(scripts, &plain, &a),
        reentrant::acquire(scripts, &reentrant, &a, ten_seconds),
        reentrant::renew(scripts, [(&reentrant, &a)], ten_seconds),
        reentrant::release(scripts, &reentrant, &a, ten_seconds, &Receipt::new("r1", ten_seconds)),
        reentrant::acquire(scripts, &reentrant, &a, ten_seconds),
        reentrant::release_without_receipt(scripts, &reentrant, &a, ten_seconds),
        reentrant::acquire(scripts, &reentrant, &a, ten_seconds),
        reentrant::force_release(scripts, &reentrant),
    ]
}

#[test]
fn every_script_has_a_call() {
    let scripts = Scripts::built_in();
    let called: std::collections::BTreeSet<_> =
        one_call_of_each(&scripts).iter().map(|call| call.script.name()).collect();
    let known = scripts.iter().map(lockstep_redis::Script::name).collect();
    assert_eq!(called, known);
}

/// Redis finds a script by what it computes itself; if we computed otherwise, no call would arrive.
#[test]
fn every_server_takes_every_script_and_gives_it_our_sha1() {
    on_every_server(|server| {
        for script in Scripts::built_in().iter() {
            let sha1: String =
                script.load().query(&mut server.connect()).unwrap_or_else(|error| panic!("{}: {error}", script.name()));
            assert_eq!(sha1, script.sha1(), "{}", script.name());
        }
    });
}

/// After a failover the new master knows no script.
#[test]
fn a_server_that_has_forgotten_a_script_is_taught_again() {
    on_every_server(|server| {
        let mut connection = server.connect();
        for call in one_call_of_each(&Scripts::built_in()) {
            server.ask::<()>("SCRIPT FLUSH");
            call.run(&mut connection).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(server.ask::<Vec<bool>>(&format!("SCRIPT EXISTS {}", call.script.sha1())), [true]);
        }
    });
}

/// Inside a pipeline nobody can teach: the error is an answer like any other.
#[test]
fn in_a_pipeline_a_forgotten_script_is_an_error_of_that_call_alone() {
    on_every_server(|server| {
        let scripts = Scripts::built_in();
        let calls = one_call_of_each(&scripts);
        let mut connection = server.connect();
        calls[3].run(&mut connection).expect("acquire");
        let mut pipeline = redis::pipe();
        pipeline.add_command(calls[4].evalsha()).add_command(calls[3].evalsha()).ignore_errors();
        let answers: Vec<redis::Value> = pipeline.query(&mut connection).expect("answers");
        let forgotten = calls[4].read::<Vec<reentrant::RenewReply>>(&answers[0]).unwrap_err();
        let Error::Redis { script: "reentrant/renew", source } = forgotten else { panic!("{forgotten}") };
        assert_eq!(source.code(), Some("NOSCRIPT"));
        let entered_again: reentrant::AcquireReply = calls[3].read(&answers[1]).expect("a reply");
        assert_eq!(entered_again, reentrant::AcquireReply::Acquired);
    });
}

fn make_replica(server: &Server) {
    // Of a master that is not there: the role is all that matters.
    server.ask::<()>("REPLICAOF 127.0.0.1 1");
}

#[test]
fn a_replica_is_no_master_whatever_the_script() {
    on_every_server(|server| {
        let mut connection = server.connect();
        for (index, call) in one_call_of_each(&Scripts::built_in()).into_iter().enumerate() {
            make_replica(server);
            let refused = call.run(&mut connection).expect_err(call.script.name());
            assert!(
                matches!(refused, Error::NotMaster { script } if script == call.script.name()),
                "{index}: {refused}"
            );
            server.ask::<()>("REPLICAOF NO ONE");
            call.run(&mut connection).unwrap_or_else(|error| panic!("{error}"));
        }
    });
}

/// Only writes are refused. So whoever still asks an old master that is a replica now is told
/// "busy" or "not yours" from that replica's data, as true or as stale as they are.
#[test]
fn a_replica_still_answers_what_needs_no_write() {
    on_every_server(|server| {
        let (scripts, names) = (Scripts::built_in(), Names::of("lock"));
        let mut connection = server.connect();
        let acquire = |client: &str| reentrant::acquire(&scripts, &names, &holder(client), lease(60_000));
        acquire("A").run(&mut connection).expect("acquire");
        make_replica(server);
        let busy = acquire("B").ask(&mut connection).expect("a reply");
        assert!(matches!(busy, reentrant::AcquireReply::Busy { .. }), "{busy:?}");
        let receipt = Receipt::new("r1", Receipt::LEASE);
        let release = reentrant::release(&scripts, &names, &holder("B"), lease(60_000), &receipt);
        let foreign: reentrant::ReleaseReply = release.ask(&mut connection).expect("a reply");
        assert_eq!(foreign, reentrant::ReleaseReply::NotHeld);
    });
}

/// Why a proof can hand a lock a wrong script: it is that text which then runs.
#[test]
fn a_replaced_script_is_the_one_that_runs() {
    on_every_server(|server| {
        let always_yes = Scripts::built_in().replace("plain/release", "return 1");
        let release = plain::release(&always_yes, &Names::of("lock"), &holder("A"));
        let reply: plain::ReleaseReply = release.ask(&mut server.connect()).expect("a reply");
        assert_eq!(reply, plain::ReleaseReply::Released);
    });
}

/// The outcome of a script that runs into an error is known; no reply at all is another matter.
#[test]
fn a_key_of_another_type_is_redis_talking_and_no_unknown_outcome() {
    on_every_server(|server| {
        server.ask::<()>("SET lock text");
        let acquire = reentrant::acquire(&Scripts::built_in(), &Names::of("lock"), &holder("A"), lease(10_000));
        let error = acquire.run(&mut server.connect()).unwrap_err();
        assert!(matches!(error, Error::Redis { script: "reentrant/acquire", .. }), "{error}");
    });
}

/// Between sending and the reply lies everything that can go wrong with a lock.
#[test]
fn a_server_that_does_not_answer_in_time_leaves_the_outcome_unknown() {
    on_every_server(|server| {
        let (scripts, names) = (Scripts::built_in(), Names::of("lock"));
        let mut connection = server.connect();
        connection.set_read_timeout(Some(std::time::Duration::from_millis(50))).expect("a read limit");
        let acquire = reentrant::acquire(&scripts, &names, &holder("A"), lease(60_000));
        acquire.script.load().query::<()>(&mut connection).expect("SCRIPT LOAD");
        server.ask::<()>("CLIENT PAUSE 300");
        let error = acquire.run(&mut connection).unwrap_err();
        assert!(matches!(error, Error::Unknown { script: "reentrant/acquire", .. }), "{error}");
    });
}
