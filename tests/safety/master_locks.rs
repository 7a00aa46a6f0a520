//! Redisson's lock on several masters, step by step, as runs of it went (docs/facts/family.md#redlock), and in worlds whose verdicts can be
//! worked out by hand.

use lockstep_model::{Action, Config, Property, Verdict};
use lockstep_sim::any_world::AnyWorld;
use lockstep_sim::scenario::Scenario;

use crate::verdict_on;

/// The client that these histories are about, and the thread that it has.
const CLIENT: u8 = 0;
const A: Action = Action::Acquire { client: CLIENT, thread: 0 };
const UNLOCK: Action = Action::Release { client: CLIENT, thread: 0 };

fn world_of(groups: u8, time: &str, clients: &str, faults: &str) -> Scenario {
    let text = format!(
        "story = 'Masters.'\nlock = 'redisson-red'\n[time]\nlease = 3\nwait_limit = 0\n{time}\n[clients]\n{clients}\n\
         [cluster]\ngroups = {groups}\n[faults]\n{faults}"
    );
    Scenario::parse("masters", &text).unwrap_or_else(|error| panic!("{}", error.report(false)))
}

/// A history, and what can be seen after it.
struct MastersHistory {
    config: Config,
    world: AnyWorld,
}

impl MastersHistory {
    fn of(scenario: &Scenario) -> Self {
        Self { config: scenario.config, world: AnyWorld::initial(&scenario.config) }
    }

    fn then(mut self, actions: impl IntoIterator<Item = Action>) -> Self {
        for action in actions {
            assert!(self.can(action), "{action:?} cannot happen");
            self.world = self.world.step(&self.config, action).expect("it can happen").world;
        }
        self
    }

    /// Whether it can go on like this; also the engine must try what can.
    fn can(&self, action: Action) -> bool {
        let can = self.world.step(&self.config, action).is_some();
        assert!(!can || self.world.let_through(&self.config).contains(&action), "{action:?} is ruled out");
        can
    }

    /// How often each master stores the client.
    fn counts(&self) -> Vec<u8> {
        let of_client = |holder: &str| holder.starts_with('A');
        let state = self.world.state(&self.config);
        let count = |holds: &[lockstep_model::trace::Hold]| {
            holds.iter().find(|hold| of_client(&hold.holder)).map_or(0, |hold| hold.count)
        };
        state.nodes.iter().map(|node| count(&node.stored.holders)).collect()
    }

    /// How often the client believes that it holds.
    fn holds(&self) -> u8 {
        self.world.state(&self.config).clients[0].threads[0].holds
    }

    /// The masters on which the client renews something.
    fn renewed_on(&self) -> Vec<String> {
        let call = self.world.state(&self.config).clients[0].call.clone().unwrap_or_default();
        call.watchdogs.into_iter().filter(|watchdog| watchdog.holds > 0).map(|watchdog| watchdog.node).collect()
    }

    fn keeps(&self, property: Property) -> bool {
        self.world.keeps(property)
    }
}

const fn ask(node: u8) -> Action {
    Action::AskMaster { client: CLIENT, node }
}

const fn lose(node: u8) -> Action {
    Action::LoseAsk { client: CLIENT, node }
}

const fn set_lease(node: u8) -> Action {
    Action::SetTtlAt { client: CLIENT, node }
}

const fn release(node: u8) -> Action {
    Action::ReleaseAt { client: CLIENT, node }
}

fn releases() -> impl Iterator<Item = Action> {
    [UNLOCK].into_iter().chain((0..3).map(release))
}

/// Of five, m1 to m3 have granted and m4 has failed: m5 is not asked.
#[test]
fn a_master_that_fails_when_most_have_granted_ends_the_asking() {
    let five = MastersHistory::of(&world_of(5, "renew_every = 1", "count = 1", "lose_ask = 2\n"));
    let asked = five.then([A, ask(0), ask(1), ask(2)]);
    assert_eq!(asked.holds(), 0, "two more are to be asked: each may grant");
    let ended = asked.then([lose(3)]);
    assert_eq!((ended.holds(), ended.counts()), (1, vec![1, 1, 1, 0, 0]));
    assert!(!ended.can(ask(4)));
    // A failure before that is passed over.
    let passed_over = MastersHistory::of(&world_of(5, "", "count = 1", "lose_ask = 2\n")).then([A, lose(0), lose(1)]);
    let all_others = passed_over.then([ask(2), ask(3), ask(4)]);
    assert_eq!(all_others.counts(), [0, 0, 1, 1, 1]);
}

/// A lock that needs every master: the first one that does not grant ends the call.
#[test]
fn where_every_master_is_needed_the_first_failure_gives_all_back() {
    let every = |failed: &str| {
        let faults = format!("lose_ask = 1\nrefuse_writes = 1\n[protocol]\nneeded_masters = 'all'\n{failed}");
        MastersHistory::of(&world_of(3, "renew_every = 1", "count = 1\nmax_holds = 2", &faults))
    };
    let refused = every("").then([A, ask(0), lose(1)]);
    assert!(!refused.can(ask(2)) && refused.holds() == 0);
    let ended = refused.then([release(0)]);
    assert_eq!((ended.counts(), ended.renewed_on()), (vec![0, 0, 0], vec![]));
    assert!(ended.keeps(Property::AllOrNone));

    // What a call gives back goes on after an error, also where `unlock()` does not.
    let inner = every("").then([A, ask(2), ask(1), ask(0), A, ask(2), ask(1), lose(0)]);
    let given_back = inner.then([Action::RefuseWrites { node: 2 }, release(2), release(1)]);
    assert_eq!((given_back.holds(), given_back.counts()), (1, vec![1, 1, 2]));

    // `unlock()` ends at the second master. The third one keeps the lock, and its watchdog goes on.
    let held = |failed| every(failed).then([A, ask(0), ask(1), ask(2), Action::RefuseWrites { node: 1 }, UNLOCK]);
    let stopped = held("").then([release(0), release(1)]);
    assert!(!stopped.can(release(2)) && stopped.can(A), "the call is over");
    assert_eq!((stopped.holds(), stopped.counts(), stopped.renewed_on()), (0, vec![0, 1, 1], vec!["n3".to_owned()]));
    assert!(!stopped.keeps(Property::AllOrNone));
    let went_on = held("failed_part = 'goes-on'").then([release(0), release(1), release(2)]);
    assert_eq!((went_on.counts(), went_on.renewed_on()), (vec![0, 1, 0], vec![]));
}

/// One failure more than may be: what was granted is given back, and the others are neither asked nor released.
#[test]
fn a_failure_too_many_gives_back_what_was_granted_and_asks_nobody_else() {
    let gives_up =
        MastersHistory::of(&world_of(3, "", "count = 1", "lose_ask = 2\n")).then([A, lose(0), ask(1), lose(2)]);
    assert!(!gives_up.can(release(0)) && !gives_up.can(release(2)));
    let ended = gives_up.then([release(1)]);
    assert_eq!((ended.holds(), ended.counts()), (0, vec![0, 0, 0]));
    assert!(ended.keeps(Property::AllOrNone));
    let early = MastersHistory::of(&world_of(3, "", "count = 1", "lose_ask = 2\n")).then([A, lose(0), lose(1)]);
    assert!(!early.can(ask(2)) && early.can(A), "nothing was granted: the call is over");
}

/// The table of docs/facts/family.md#a-release-of-every-part.
#[test]
fn an_inner_release_takes_back_more_than_the_inner_call_took() {
    let world = world_of(3, "renew_every = 1", "count = 2\nmax_holds = 2", "lose_ask = 2\n");
    let outer = MastersHistory::of(&world).then([A, ask(0), ask(1), ask(2)]);
    assert_eq!(outer.counts(), [1, 1, 1]);
    let inner = outer.then([A, lose(0), ask(1), ask(2)]);
    assert_eq!((inner.holds(), inner.counts()), (2, vec![1, 2, 2]));
    let released = inner.then(releases());
    assert_eq!((released.holds(), released.counts()), (1, vec![0, 1, 1]));
    assert_eq!(released.renewed_on(), ["n2", "n3"]);
    let second = released.then([A, ask(0), lose(1), ask(2)]).then(releases());
    assert_eq!((second.holds(), second.counts()), (1, vec![0, 0, 1]));
    let [first, other] = [0, 1].map(|node| Action::AskMaster { client: 1, node });
    let both =
        second.then([Action::Acquire { client: 1, thread: 0 }, first, other, Action::AskMaster { client: 1, node: 2 }]);
    assert!(!both.keeps(Property::OneBeliever), "no master lost data, no lease was over, and no clock moved");
}

/// A call that names a lease sets it on each master that has granted; an error there ends the call, and leaves what it was granted.
#[test]
fn an_error_at_the_end_ends_the_call_and_gives_nothing_back() {
    let has_most =
        MastersHistory::of(&world_of(3, "", "count = 1", "lose_ask = 1\n")).then([A, ask(0), ask(1), ask(2)]);
    assert_eq!(has_most.holds(), 0, "it sets its lease first");
    let thrown = has_most.then([set_lease(1), lose(0)]);
    assert_eq!((thrown.holds(), thrown.counts()), (0, vec![1, 1, 1]));
    assert!(!thrown.can(set_lease(2)) && !thrown.keeps(Property::AllOrNone));
    // The control: without a lease there is no end to fail.
    let watched = MastersHistory::of(&world_of(3, "renew_every = 1", "count = 1", "lose_ask = 1\n"));
    let held = watched.then([A, ask(0), ask(1), lose(2)]);
    assert_eq!((held.holds(), held.keeps(Property::AllOrNone)), (1, true));
}

/// Each master has a watchdog of its own: one whose lock is gone tells nobody, and the others go on.
#[test]
fn each_master_is_renewed_by_a_watchdog_of_its_own() {
    let world = world_of(3, "renew_every = 1", "count = 1", "crash_node = 1\nrestart_node = 1\nlose_ask = 1\n");
    let held = MastersHistory::of(&world).then([A, ask(0), ask(1), lose(2)]);
    assert_eq!(held.renewed_on(), ["n1", "n2"]);
    let forgotten = held.then([Action::CrashNode { node: 0 }, Action::RestartNode { node: 0 }, Action::Tick]);
    assert!(!forgotten.can(Action::Tick), "its timers fire before time passes");
    let renew = |node| Action::ExtendAt { client: CLIENT, node };
    let renewed = forgotten.then([renew(0), renew(1)]);
    assert!(!renewed.can(renew(2)));
    assert_eq!((renewed.counts(), renewed.holds()), (vec![0, 1, 0], 1), "it counts on a lock that one master stores");
    assert_eq!(renewed.renewed_on(), ["n2"]);
}

/// Two majorities have a master in common: of an even number two, so that one that forgets is not enough.
#[test]
fn one_master_that_forgets_is_enough_for_two_majorities_of_an_odd_number_of_masters_only() {
    const RESTART: &str = "crash_node = 1\nrestart_node = 1\n";
    for (groups, expected) in [(2, Verdict::Holds), (3, Verdict::Violated), (4, Verdict::Holds)] {
        let world = world_of(groups, "hold_at_most = 1", "count = 2\nacquires = 1", RESTART);
        assert_eq!(verdict_on(&world, Property::OneBeliever), expected, "{groups} masters");
    }
}

/// The steps of a waiter.
const SUBSCRIBE: Action = Action::Subscribe { client: CLIENT, thread: 0 };
const ASK_AGAIN: Action = Action::SecondAsk { client: CLIENT, thread: 0 };
const GIVE_UP: Action = Action::GiveUp { client: CLIENT, thread: 0 };

fn waiting(groups: u8, waits: &str, faults: &str) -> MastersHistory {
    waiting_of("count = 2", groups, waits, faults)
}

fn waiting_of(clients: &str, groups: u8, waits: &str, faults: &str) -> MastersHistory {
    let text = format!(
        "story = 'Waits.'\nlock = 'redisson-red'\n[time]\nlease = 9\n{waits}\n[clients]\n{clients}\n[cluster]\ngroups = {groups}\n\
         [faults]\ncrash_client = 1\n{faults}"
    );
    MastersHistory::of(&Scenario::parse("waits", &text).unwrap_or_else(|error| panic!("{}", error.report(false))))
}

/// The other client has these masters, and dies.
fn taken(nodes: &[u8]) -> impl Iterator<Item = Action> {
    let ask = |node: &u8| Action::AskMaster { client: 1, node: *node };
    let asks = nodes.iter().map(ask);
    [Action::Acquire { client: 1, thread: 0 }].into_iter().chain(asks).chain([Action::CrashClient { client: 1 }])
}

/// Of six ticks two at each of three masters; the one that is not refused then is asked at once.
#[test]
fn a_call_waits_at_each_master_for_its_share_and_turns_to_the_next_one() {
    let refused = waiting(3, "wait_limit = 6", "").then(taken(&[0])).then([A, ask(0), SUBSCRIBE, ASK_AGAIN]);
    assert!(!refused.can(ask(1)), "it waits for one at a time");
    let at_its_share = refused.then([Action::Tick, Action::Tick]);
    assert!(!at_its_share.can(Action::Tick), "its share is over");
    let next = at_its_share.then([GIVE_UP, ask(1), ask(2), set_lease(1), set_lease(2)]);
    assert_eq!((next.holds(), next.counts()), (1, vec![0, 1, 1]));
}

/// With one failure too many it gives back what it has and begins anew, for as long as its wait lasts; then it ends.
#[test]
fn a_call_begins_anew_until_its_wait_is_over() {
    let wait = |node| [ask(node), SUBSCRIBE, ASK_AGAIN, Action::Tick, GIVE_UP];
    let split = waiting(3, "wait_limit = 3", "").then(taken(&[0, 1])).then([A, ask(2)]);
    let given_back = split.then(wait(0)).then(wait(1)).then([release(2)]);
    assert_eq!((given_back.holds(), given_back.counts()), (0, vec![0, 0, 0]));
    // A third of the wait is left, and is waited for at the master that it asks first.
    let ended = given_back.then(wait(0));
    assert!(!ended.can(ask(1)) && ended.can(A), "it has ended, with nothing to give back");
    // In rounds it goes on.
    let rounds = waiting(3, "round_wait = 3\nrenew_every = 3", "").then(taken(&[0, 1])).then([A, ask(2)]);
    let later = rounds.then(wait(0)).then(wait(1)).then([release(2)]).then(wait(0));
    assert!(later.can(ask(0)) && !later.can(A));
}

/// The clock is looked at after each master, but not after the one whose failure ends the asking.
#[test]
fn a_late_refusal_makes_a_call_hold_whose_wait_and_leases_are_over() {
    let slow = |node| Action::SlowReply { client: CLIENT, node };
    let hear = |node| Action::HearMaster { client: CLIENT, node };
    let late = |needed: &str| {
        let faults = format!("slow_reply = 1\n[protocol]\nneeded_masters = '{needed}'");
        let asked = waiting(3, "wait_limit = 3", &faults).then(taken(&[2])).then([A, ask(0), ask(1), slow(2)]);
        // What they have granted ends with six ticks: twice the wait.
        asked.then([Action::Tick; 7]).then([hear(2)])
    };
    let most = late("most").then([set_lease(0), set_lease(1)]);
    assert_eq!((most.holds(), most.counts()), (1, vec![0, 0, 0]));
    assert!(!most.keeps(Property::ValidAtGrant));
    let every = late("all");
    assert!(!every.can(set_lease(0)));
    let ended = every.then([release(0), release(1)]);
    assert_eq!((ended.holds(), ended.counts()), (0, vec![0, 0, 0]));
}

/// A caller that looks at its own clock sees one call: it counts from its beginning, whatever the call waits for and however often it begins anew.
#[test]
fn a_caller_that_looks_at_its_clock_counts_from_the_beginning_of_a_call_that_waits() {
    let counted = |history: &MastersHistory| {
        let thread = &history.world.state(&history.config).clients[0].threads[0];
        (thread.valid_left, thread.has_stopped)
    };
    let wait = |node, ticks| [ask(node), SUBSCRIBE, ASK_AGAIN].into_iter().chain(vec![Action::Tick; ticks]);
    let looks = |waits: &str, faults: &str| waiting_of("count = 2\nstops_at = 'validity'", 3, waits, faults);
    let waited = looks("wait_limit = 6", "").then(taken(&[0])).then([A]).then(wait(0, 2));
    assert_eq!(counted(&waited), (Some(7), false), "nine ticks, two of them over");
    let granted = waited.then([GIVE_UP, ask(1), ask(2), set_lease(1), set_lease(2)]);
    assert_eq!((granted.holds(), counted(&granted)), (1, (Some(7), false)));
    // Two masters refuse: it gives back what it has, and begins anew.
    let anew = |waits: &str| {
        let split = looks(waits, "").then(taken(&[0, 1])).then([A, ask(2)]).then(wait(0, 1));
        split.then([GIVE_UP]).then(wait(1, 1)).then([GIVE_UP, release(2)])
    };
    assert_eq!(counted(&anew("wait_limit = 3")), (Some(7), false));
    assert_eq!(counted(&anew("round_wait = 3")), (Some(7), false));
    // A call that has ended leaves nothing for the next one.
    let ended = anew("wait_limit = 3").then(wait(0, 1)).then([GIVE_UP]);
    assert!(ended.can(A) && counted(&ended) == (None, false));
    assert_eq!(counted(&ended.then([A])), (Some(9), false));
    // The refusal that ends the asking comes when the lease is over: the caller does not begin its work.
    let late = looks("wait_limit = 6", "slow_reply = 1").then(taken(&[2])).then([A, ask(0), ask(1)]);
    let heard = [Action::HearMaster { client: CLIENT, node: 2 }, set_lease(0), set_lease(1)];
    let over = late.then([Action::SlowReply { client: CLIENT, node: 2 }]).then([Action::Tick; 9]).then(heard);
    assert_eq!((over.holds(), counted(&over).1), (1, true));
    assert!(over.can(UNLOCK) && !over.can(A));
}

/// A client that stands still does nothing, also when the master for whose lock it waits is back.
#[test]
fn a_paused_waiter_does_not_subscribe_anew() {
    let faults = "crash_node = 1\nrestart_node = 1\npause_client = 1";
    let waits = waiting(3, "wait_limit = 6", faults).then(taken(&[0])).then([A, ask(0), SUBSCRIBE, ASK_AGAIN]);
    let back = waits.then([Action::CrashNode { node: 0 }, Action::RestartNode { node: 0 }]);
    let again = Action::Resubscribe { client: CLIENT };
    assert!(back.can(again));
    assert!(!back.then([Action::PauseClient { client: CLIENT }]).can(again));
}

/// A master that dies fails as soon as the waiter asks it, and so does its subscription.
#[test]
fn a_waiter_at_a_dead_master_turns_to_the_next_one_when_it_asks_again() {
    let dead = Action::CrashNode { node: 0 };
    let refused = waiting(3, "wait_limit = 6", "crash_node = 1").then(taken(&[0])).then([A, ask(0)]);
    let at_once = refused.then([dead, SUBSCRIBE]);
    assert!(at_once.can(ask(1)) && !at_once.can(ask(0)));
    let subscribed = waiting(3, "wait_limit = 6", "crash_node = 1").then(taken(&[0])).then([A, ask(0), SUBSCRIBE]);
    assert!(subscribed.then([dead, ASK_AGAIN]).can(ask(1)));
}
