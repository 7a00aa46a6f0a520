//! What other versions of servers make of the calls of Redisson: the model speaks of one of them.

use lockstep_model::Action::{Acquire, Demote, HandOver, Promote, RefuseWrites, Release};
use lockstep_model::trace::{About, Trace};
use lockstep_model::{Action, Config, Reply};
use lockstep_sim::recorder;
use lockstep_sim::replay::{Flavour, Played, Player, ServerProgram, refuse_unsuited, suited};
use lockstep_tests::servers::servers;

use crate::scenarios::{built_in, version_of};

/// B calls, which is the second client.
const CLIENT: u8 = 1;
const THREAD: u8 = 0;
/// n1 hands over to n2, and is its replica.
const N1_IS_A_REPLICA: [Action; 2] = [HandOver { node: 1 }, Demote { node: 0 }];

fn config_on(server: &ServerProgram, name: &str) -> Config {
    suited(&built_in(name).config, server)
}

fn recorded(config: &Config, actions: &[Action]) -> Trace {
    recorder::record("other-servers", "", config, About::Drawn, actions, "").expect("it can happen")
}

/// The replay, and what it says that B was told last.
fn played_on(server: &ServerProgram, trace: &Trace) -> (Played, Option<String>) {
    let mut clients = Player::start(server, &trace.config, version_of(&trace.config)).expect("they start");
    let played = clients.replay(trace, true).unwrap_or_else(|error| panic!("{server}: {error}"));
    let told = played.answers.iter().flatten().rev().find_map(|line| line.strip_prefix("B:1: ")).map(str::to_owned);
    (played, told)
}

fn answer_of_last_step(trace: &Trace) -> Reply {
    trace.steps.last().expect("a step").answer
}

/// docs/facts/redis.md#errors-of-scripts: where an error has no name, Redisson does not know it.
#[test]
fn a_release_at_a_replica_throws_by_the_name_of_the_error_where_the_server_gives_it_one() {
    for server in servers() {
        let config = config_on(&server, "hand-over-loses-the-grant");
        let acquired = [Acquire { client: CLIENT, thread: THREAD }];
        let released = [Release { client: CLIENT, thread: THREAD }];
        let trace = recorded(&config, &[&acquired[..], &N1_IS_A_REPLICA, &released].concat());
        assert_eq!(answer_of_last_step(&trace), Reply::ReadOnly);
        let (played, told) = played_on(&server, &trace);
        assert_eq!((played.difference, played.left), (None, None), "{server}");
        let thrown = if server.names_errors_of_scripts() { "RedisReadonlyException" } else { "RedisException" };
        assert_eq!(told.as_deref(), Some(thrown), "{server}");
    }
}

/// docs/facts/redisson.md#replica-count.
#[test]
fn the_first_call_at_a_replica_throws_before_its_script_is_sent_where_the_server_knows_waitaof() {
    for server in servers() {
        let config = config_on(&server, "hand-over-loses-the-grant");
        let asked = [Acquire { client: CLIENT, thread: THREAD }];
        let trace = recorded(&config, &[&N1_IS_A_REPLICA[..], &asked].concat());
        assert_eq!(answer_of_last_step(&trace), Reply::ReadOnly);
        let (played, told) = played_on(&server, &trace);
        assert_eq!(played.difference, None, "{server}");
        if server.knows_waitaof() {
            let why = "a server that is a replica answers what Redisson asks about WAITAOF with an error, and the call throws";
            assert_eq!(played.left, Some(why));
            assert_eq!(told.as_deref(), Some("RedisWaitException"));
        } else {
            assert_eq!(played.left, None, "{server}");
            assert_ne!(told.as_deref(), Some("RedisWaitException"), "{server}");
        }
    }
}

/// docs/facts/redis.md#a-failed-save: of two reasons to refuse a write, Valkey names the other one.
#[test]
fn a_call_that_is_refused_for_two_reasons_throws_by_the_one_that_the_server_names() {
    let mut named = Vec::new();
    for server in servers() {
        let config = config_on(&server, "refused-writes-are-outwaited");
        if refuse_unsuited(&server, &config).is_err() {
            continue;
        }
        let acquire = Acquire { client: CLIENT, thread: THREAD };
        let refused = [RefuseWrites { node: 0 }, Promote { node: 1 }, acquire];
        // Here the client knows of a replica, and waits for it behind the refused call.
        let held = [acquire, RefuseWrites { node: 0 }, Release { client: CLIENT, thread: THREAD }];
        let refused_later = [&held[..], &[Promote { node: 1 }, acquire]].concat();
        for actions in [&refused[..], &refused_later] {
            let trace = recorded(&config, actions);
            assert_eq!(answer_of_last_step(&trace), Reply::SaveFailed);
            let (played, told) = played_on(&server, &trace);
            assert_eq!((played.difference, played.left), (None, None), "{server}");
            named.push((server.flavour(), told.unwrap_or_default()));
        }
    }
    let of = |flavour, thrown: &str| vec![(flavour, thrown.to_owned()); 2];
    let each = [of(Flavour::Redis, "RedisException"), of(Flavour::Valkey, "RedisNoReplicasException")];
    assert_eq!(named, each.concat());
}
