//! What is true of all scripts: servers load them, load them again when they have forgotten them, and replicas refuse them.

use std::time::Duration;

use lockstep_redis::{Call, Error, Scripts};
use lockstep_tests::servers::on_every_server;

use crate::KINDS;

/// One call of every script, in an order in which each succeeds on an empty server.
fn one_call_of_each(scripts: &Scripts) -> Vec<Call> {
    KINDS.iter().flat_map(|kind| (kind.calls)(scripts)).collect()
}

#[test]
fn every_script_has_a_call() {
    let scripts = Scripts::built_in();
    let called: std::collections::BTreeSet<_> =
        one_call_of_each(&scripts).iter().map(|call| call.script.name()).collect();
    let known = scripts.iter().map(lockstep_redis::Script::name).collect();
    assert_eq!(called, known);
}

/// Redis finds a script by the hash that it computes itself: if ours were different, no call would find its script.
#[test]
fn every_server_loads_every_script_under_our_sha1() {
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
fn a_call_loads_a_script_that_the_server_has_forgotten() {
    on_every_server(|server| {
        let mut connection = server.connect();
        for call in one_call_of_each(&Scripts::built_in()) {
            server.ask::<()>("SCRIPT FLUSH");
            call.run(&mut connection).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(server.ask::<Vec<bool>>(&format!("SCRIPT EXISTS {}", call.script.sha1())), [true]);
        }
    });
}

/// A script cannot be loaded in the middle of a pipeline: the error is an answer like any other.
#[test]
fn in_a_pipeline_a_forgotten_script_is_an_error_of_that_call_alone() {
    on_every_server(|server| {
        let calls = one_call_of_each(&Scripts::built_in());
        let known = &calls[0];
        let forgotten = calls.iter().find(|call| call.script != known.script).expect("another script");
        let mut connection = server.connect();
        known.run(&mut connection).expect("it is loaded");
        let mut pipeline = redis::pipe();
        pipeline.add_command(forgotten.evalsha()).add_command(known.evalsha()).ignore_errors();
        let answers: Vec<redis::Value> = pipeline.query(&mut connection).expect("answers");
        let redis::Value::ServerError(error) = &answers[0] else { panic!("{answers:?}") };
        assert_eq!(error.code(), "NOSCRIPT");
        assert!(!matches!(answers[1], redis::Value::ServerError(_)), "{answers:?}");
    });
}

#[test]
fn a_replica_refuses_every_script_that_writes() {
    on_every_server(|server| {
        let mut connection = server.connect();
        for (index, call) in one_call_of_each(&Scripts::built_in()).into_iter().enumerate() {
            server.make_replica();
            if KINDS.iter().any(|kind| kind.reading.contains(&call.script.name())) {
                call.run(&mut connection).unwrap_or_else(|error| panic!("{error}"));
                server.ask::<()>("REPLICAOF NO ONE");
                continue;
            }
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

/// So a proof can give a lock a wrong script, and the server runs that text.
#[test]
fn a_replaced_script_is_the_one_that_runs() {
    on_every_server(|server| {
        let name = one_call_of_each(&Scripts::built_in())[0].script.name();
        let replaced = Scripts::built_in().replace(name, "return 'replaced'");
        let answer = one_call_of_each(&replaced)[0].run(&mut server.connect()).expect("an answer");
        assert_eq!(answer, redis::Value::BulkString(b"replaced".to_vec()));
    });
}

/// A client must not conclude anything from an answer that does not come.
#[test]
fn a_server_that_does_not_answer_in_time_leaves_the_outcome_unknown() {
    on_every_server(|server| {
        let call = one_call_of_each(&Scripts::built_in()).swap_remove(0);
        let mut connection = server.connect();
        call.script.load().query::<()>(&mut connection).expect("SCRIPT LOAD");
        connection.set_patience(Duration::from_millis(50));
        server.ask::<()>("CLIENT PAUSE 300");
        let error = call.run(&mut connection).unwrap_err();
        assert!(matches!(error, Error::Unknown { script, .. } if script == call.script.name()), "{error}");
    });
}
