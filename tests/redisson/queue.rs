//! The fair lock on real Redisson: what an interrupt does to the place of a waiter.

use lockstep_model::Action;
use lockstep_model::trace::About;
use lockstep_sim::recorder;
use lockstep_sim::replay::{Player, suited};
use lockstep_sim::scenario::{BuiltIn, Scenario};
use lockstep_tests::at_once::at_once;
use lockstep_tests::servers::servers;

use crate::redisson;

/// A waiter that is interrupted while it is asleep sends nothing about the queue (docs/facts/family.md#fair). A model in which it leaves
/// the queue is contradicted by each version, by the request that does not come.
#[test]
fn no_version_takes_an_interrupted_waiter_out_of_the_queue() {
    const THREAD: u8 = 0;
    const WAITER: u8 = 1;
    let actions = [
        Action::Acquire { client: 0, thread: THREAD },
        Action::Acquire { client: WAITER, thread: THREAD },
        Action::Subscribe { client: WAITER, thread: THREAD },
        Action::SecondAsk { client: WAITER, thread: THREAD },
        Action::Interrupt { client: WAITER, thread: THREAD },
        Action::Acquire { client: 2, thread: THREAD },
    ];
    let versions = [("redisson-4.7", "4.7.0"), ("redisson-4.3", "4.3.1"), ("redisson-3.52", "3.52.0")];
    at_once(&versions, |(profile, version)| {
        let difference = |rule: &str| {
            let text = BuiltIn::named("fair-interrupted-waiter-keeps-its-place").expect("it is built in").text;
            let protocol = format!("[protocol]\nprofile = \"{profile}\"\n{rule}\n\n[expect]");
            let scenario = Scenario::parse("interrupted-waiter", &text.replacen("[expect]", &protocol, 1));
            let config = suited(&scenario.unwrap_or_else(|error| panic!("{error}")).config, &servers()[0]);
            let trace = recorder::record("interrupted-waiter", "", &config, About::Drawn, &actions, "");
            let mut player = Player::start(&servers()[0], &config, redisson(version)).expect("it starts");
            let result = player.replay(&trace.expect("it can happen"), false).expect("it answers");
            (result.left, result.difference.map(|found| found.what))
        };
        assert_eq!(difference(""), (None, None), "{version}");
        let leaves = difference("interrupted_waiter = \"leaves-queue\"");
        assert_eq!(leaves, (None, Some("request of B".to_owned())), "{version}");
    });
}
