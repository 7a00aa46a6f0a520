//! A history of a fair lock in which a server refuses a release after it has published the message: by hand, as random histories
//! seldom come to it.

use lockstep_model::Action::{Acquire, ForceRelease, RefuseWrites, Release, Subscribe};
use lockstep_model::Config;
use lockstep_model::trace::{About, Trace};
use lockstep_sim::recorder;
use lockstep_sim::scenario::Scenario;

const WORLD: &str = "story = \"s\"\nlock = \"fair\"\n[time]\nlease = 3\nrenew_every = 1\nhold_at_most = 2\nqueue_wait = 5\n\
                     [clients]\ncount = 2\nacquires = 1\n[faults]\nrefuse_writes = 1\nforce_release = 1\n";

/// The lock of A is deleted while B queues; then A releases on a server that refuses writes.
pub fn refused_release(suited: impl Fn(&Config) -> Config) -> Trace {
    let scenario = Scenario::parse("refused-release", WORLD).unwrap_or_else(|error| panic!("{error}"));
    let thread = 0;
    let actions = [
        Acquire { client: 0, thread },
        Acquire { client: 1, thread },
        ForceRelease { client: 0 },
        RefuseWrites { node: 0 },
        Subscribe { client: 1, thread },
        Release { client: 0, thread },
    ];
    recorder::record(&scenario.name, "", &suited(&scenario.config), About::Drawn, &actions, "").expect("it can happen")
}
