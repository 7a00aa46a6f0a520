//! What is true of the step function in every scenario, checked along random histories.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::action::Party;
use lockstep_model::client::{Phase, Slot, Stage};
use lockstep_model::config::{Bound, WaitAfter};
use lockstep_model::limits::MAX_ACTIONS;
use lockstep_model::locks::StoringMasters;
use lockstep_model::{
    Action, Config, Holder, InLayout, Layout, LockKind, Property, Verdict, World, in_largest_layout, in_layout,
};
use lockstep_sim::any_world::{AnyStep, AnyWorld};
use lockstep_sim::check::{Engine, Limits, check};
use lockstep_sim::fuzz::drawn;
use lockstep_sim::recorder;
use lockstep_sim::scenario::{BuiltIn, Scenario, builtin};
use lockstep_tests::drawn::worlds_at_random;
use proptest::prelude::*;

use crate::{exhaust, verdict};

fn any_scenario() -> impl Strategy<Value = Scenario> {
    proptest::sample::select(builtin())
}

/// A small world is a small value, for every lock kind: two clients, a master and a replica fit into two cache lines, and a byte more for
/// each thread.
#[test]
fn a_small_world_is_hardly_more_than_two_cache_lines() {
    let mut config = BuiltIn::named("failover-loses-the-grant").expect("it is built in").scenario().config;
    // The others have worlds of the largest size only.
    let is_small = |kind: &&LockKind| kind.has_small_worlds();
    for &lock in LockKind::ALL.iter().filter(is_small) {
        config.lock = lock;
        assert!(in_layout(&config, Size) <= 128 + 4, "{}", lock.name());
    }
}

struct Size;

impl InLayout for Size {
    type Output = usize;

    fn run<Y: Layout>(self, _: &Config) -> usize {
        size_of::<World<Y>>()
    }
}

/// The largest world, in a split network with every fault, has more actions than one byte can number.
#[test]
fn the_largest_world_has_a_number_for_each_of_its_actions() {
    let text = "story = \"x\"\nlock = \"reentrant\"\n[time]\nlease = 2\nrenew_every = 1\nwait_limit = 2\n\
                jump = 1\n[clients]\ncount = 4\nthreads = 2\nacquires = 1\n[cluster]\nreplicas = 2\n\
                discovery = \"any-master\"\n\
                [network]\nmode = \"split\"\n[protocol]\nresend = \"release\"\nreceipts = false\n[faults]\n\
                crash_client = 1\ncrash_thread = 1\npause_client = 1\nstart_client = 1\n\
                crash_node = 1\nlose_message = 1\nforeign_release = 1\nforce_release = 1\nrestart_node = 1\nkill_node = 1\n\
                shutdown_node = 1\ncut_link = 1\npause_node = 1\n\
                vanish_key = 1\nlose_request = 1\nlose_reply = 1\ninterrupt = 1\nhand_over = 1\n\
                clock_jump = 1\nclient_clock_jump = 1\nrefuse_writes = 1\nbreak_link = 1\npersist_key = 1\n";
    let scenario = Scenario::parse("largest", text).unwrap_or_else(|error| panic!("{error:?}"));
    assert!(Action::all(&scenario.config).len() > 256, "{}", Action::all(&scenario.config).len());
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits { max_states: Some(20_000), ..Limits::none(&stop, &progress) };
    let outcome = check(&scenario, Engine::Native, &limits).expect("the engine has no defect");
    assert!(outcome.states >= 20_000, "{}", outcome.states);
    let traces = outcome.properties.iter().filter_map(|found| found.trace.as_ref());
    assert!(traces.map(recorder::retrace).all(|judged| judged.is_ok()), "each witness can be executed");
}

/// So have the largest ones on several masters: there is a bit for each action.
#[test]
fn the_largest_worlds_on_several_masters_have_a_number_for_each_of_their_actions() {
    let without_replicas =
        "lose_ask = 1\nslow_reply = 1\nlate_ask = 1\npause_node = 1\nclock_jump = 1\nvanish_key = 1\n";
    let with_replicas = "lose_ask = 1\nvanish_key = 1\nclock_jump = 1\nhand_over = 1\nbreak_link = 1\n";
    let on_masters = || LockKind::ALL.iter().filter(|kind| kind.facts().masters.are_several());
    let of_rounds = |kind: &LockKind| kind.facts().masters == StoringMasters::Rounds;
    let mut most = 0;
    let late = on_masters().filter(|kind| of_rounds(kind)).map(|kind| (kind, 0, without_replicas));
    for (kind, replicas, faults) in on_masters().map(|kind| (kind, 1, with_replicas)).chain(late) {
        let lock = kind.name();
        let profile = if of_rounds(kind) { "lockstep" } else { "redisson-4.7" };
        let text = format!(
            "story = \"x\"\nlock = \"{lock}\"\n[time]\nlease = 2\nrenew_every = 1\nwait_limit = 0\njump = 1\n[clients]\ncount = 3\n\
             acquires = 1\n[cluster]\ngroups = 5\nreplicas = {replicas}\nfsync = \"everysec\"\n[protocol]\nprofile = \"{profile}\"\n[faults]\ncrash_client = 1\npause_client = 1\n\
             crash_node = 1\nkill_node = 1\nshutdown_node = 1\nrestart_node = 1\nrefuse_writes = 1\n{faults}"
        );
        let scenario = Scenario::parse("largest", &text).unwrap_or_else(|error| panic!("{error:?}"));
        let actions = Action::all(&scenario.config).len();
        assert!(actions <= MAX_ACTIONS, "{actions}");
        most = most.max(actions);
        let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
        let limits = Limits { max_states: Some(5_000), ..Limits::none(&stop, &progress) };
        let outcome = check(&scenario, Engine::Native, &limits).expect("the engine has no defect");
        assert!(outcome.states >= 5_000, "{}", outcome.states);
    }
    assert!(most > 320, "{most}: as many as five words have bits");
}

proptest! {
    #![proptest_config(worlds_at_random(300))]

    /// Time passes only when no immediate action is pending.
    #[test]
    fn time_waits_for_whoever_is_due(scenario in any_scenario(), draws in prop::collection::vec(any::<u16>(), 1..60)) {
        let actions = drawn(&scenario, &draws).actions();
        assert_time_waits(&scenario.config, &actions);
    }

    /// A trace can be replayed with the same result, and the replay detects tampering.
    #[test]
    fn a_trace_can_be_run_again(scenario in any_scenario(), draws in prop::collection::vec(any::<u16>(), 1..40)) {
        let mut trace = drawn(&scenario, &draws);
        prop_assert_eq!(recorder::retrace(&trace), Ok(()));
        let text = serde_json::to_string(&trace).unwrap();
        prop_assert_eq!(&serde_json::from_str::<lockstep_model::trace::Trace>(&text).unwrap(), &trace);
        let last = trace.steps.len() - 1;
        trace.steps[last].state.faults_left.crash_node ^= 1;
        prop_assert!(recorder::retrace(&trace).is_err());
    }
}

proptest! {
    #![proptest_config(worlds_at_random(400))]

    /// No world is stuck while somebody is waiting for time: if time cannot pass, some process can take a fair action.
    #[test]
    fn where_time_waits_in_worlds_that_nobody_thought_of_somebody_acts(scenario in lockstep_tests::drawn::any_scenario()) {
        assert_somebody_acts(&scenario.config);
    }
}

#[test]
fn where_time_waits_in_a_built_in_scenario_somebody_acts() {
    for scenario in builtin() {
        assert_somebody_acts(&scenario.config);
    }
}

/// Messages that the new master published are not published again. After the demotion no client can learn from the old
/// master what it granted on its own, and after the resync it has forgotten it.
#[test]
fn nobody_hears_of_a_demoted_master_any_more_and_then_it_stores_what_the_new_one_stores() {
    let mut seen = 0;
    for scenario in builtin().into_iter().filter(|scenario| scenario.config.faults.cut_link > 0) {
        seen += demotions(&scenario.config);
    }
    assert!(seen > 0, "an old master that had a lock of its own was demoted");
}

/// A cut closes no link, so a master still counts replicas that it cannot reach. A node that was handed over or
/// demoted, or whose partition ended after it was replaced, counts none (module doc of `partition`).
#[test]
fn only_an_acting_master_or_one_that_is_cut_off_takes_a_silent_link_for_open() {
    let mut seen = 0;
    let counts = |config: &Config| config.faults.cut_link > 0 && config.cluster.wait_for > 0;
    for scenario in builtin().into_iter().filter(|scenario| counts(&scenario.config)) {
        seen += half_open_links(&scenario.config);
    }
    assert!(seen > 0, "a link was half-open");
}

/// `WAIT` ends with the acknowledgement that reaches the required number, before time passes. No effect stays marked as
/// awaited when no request waits for it: a stale mark would hide an acknowledgement from the next request that waits
/// (module doc of `wait_for`).
#[test]
fn nobody_waits_for_replicas_that_have_the_grant_and_no_effect_is_awaited_by_nobody() {
    let (mut confirming, mut awaited) = (0, 0);
    for scenario in builtin().into_iter().filter(|scenario| scenario.config.cluster.wait_for > 0) {
        let seen = waits(&scenario.config);
        confirming += seen.0;
        awaited += seen.1;
    }
    assert!(confirming > 0, "a request waited for replicas");
    assert!(awaited > 0, "a grant was under way to one");
}

/// A demoted master closes the connections of clients waiting there: no message was lost, and still an answer is
/// missing.
#[test]
fn who_waited_on_a_master_that_was_demoted_gives_up_in_time() {
    let text = "story = \"x\"\nlock = \"reentrant\"\n[time]\nlease = 2\nwait_limit = 0\n[clients]\ncount = 1\n\
                acquires = 1\n[cluster]\nreplicas = 2\nwait_for = 2\npromote = \"coordinated\"\n[network]\n\
                mode = \"split\"\n[protocol]\nwait_rule = \"all\"\n[faults]\nhand_over = 1\n";
    let scenario = Scenario::parse("demoted", text).expect("it is a scenario");
    let outcome = exhaust(&scenario, Engine::Native);
    assert_eq!(verdict(&outcome, Property::NoOrphan), Verdict::Holds);
    assert!(outcome.coverage.taken(lockstep_model::ActionKind::Abandon) > 0);
}

/// The lock delay goes on when its limit is over, and its call ends there. Time once waited for that: the action that ends it was
/// missing.
#[test]
fn who_spins_and_must_not_ask_yet_gives_up_in_time() {
    let text = "story = \"x\"\nlock = \"spin\"\n[time]\nlease = 2\nwait_limit = 1\n[clients]\ncount = 2\nacquires = 1\n\
                [cluster]\nreplicas = 1\nlock_delay = 3\n[faults]\nhand_over = 1\n";
    let scenario = Scenario::parse("delayed", text).expect("it is a scenario");
    assert_somebody_acts(&scenario.config);
    let outcome = exhaust(&scenario, Engine::Native);
    assert_eq!(verdict(&outcome, Property::WaiterServed), Verdict::Holds);
    assert!(outcome.coverage.taken(lockstep_model::ActionKind::GiveUp) > 0);
}

/// A resent acquire is a re-entry for the node and a grant for its caller, which does not make the caller a stale
/// holder.
#[test]
fn who_was_not_told_of_a_grant_takes_the_reentry_for_one() {
    let text = BuiltIn::named("renewals-on-a-split-network").expect("it is built in").text;
    let text = text.replace("[resource]", "[resource]\n\n[faults]\nlose_reply = 1");
    let scenario = Scenario::parse("resent", &text).expect("it is a scenario");
    let outcome = exhaust(&scenario, Engine::Native);
    assert_eq!(verdict(&outcome, Property::CountsAgree), Verdict::Violated, "it entered twice");
    assert_eq!(verdict(&outcome, Property::EffectsInOrder), Verdict::Holds);
}

/// Explores at most this many states, depth first.
fn assert_somebody_acts(config: &Config) {
    const MOST_STATES: usize = 4_000;
    let all = Action::all(config);
    let first = AnyWorld::initial(config);
    let (mut met, mut open) = (HashSet::from([first.clone()]), vec![first]);
    while let Some(world) = open.pop() {
        let (mut acts, mut is_full) = (false, false);
        for &action in &all {
            let next = match world.attempt(config, action) {
                Ok(next) => next,
                Err(touched) => {
                    is_full |= touched.any();
                    continue;
                }
            };
            acts |= action.kind().is_fair(config);
            if met.len() < MOST_STATES && met.insert(next.world.clone()) {
                open.push(next.world);
            }
        }
        // Where the model has no room for what would happen, the verdict is inconclusive.
        assert!(acts || is_full, "nobody acts, and time waits: {world:?}");
    }
}

/// One step between two worlds, to be looked at in their layout.
struct Taken<'a> {
    before: &'a AnyWorld,
    action: Action,
    after: &'a AnyWorld,
}

impl Taken<'_> {
    fn worlds<Y: Layout>(&self) -> [&World<Y>; 2] {
        [self.before, self.after].map(|world| world.in_its_layout().expect("the layout of its scenario"))
    }
}

/// Explores every state, and counts the copies that erased something.
fn demotions(config: &Config) -> usize {
    struct Erases<'a>(Taken<'a>);

    impl InLayout for Erases<'_> {
        type Output = bool;

        fn run<Y: Layout>(self, config: &Config) -> bool {
            let [world, next] = self.0.worlds::<Y>();
            match self.0.action {
                Action::Resync { node } => {
                    let master = next.acting_master().expect("somebody to follow");
                    assert_eq!(next.node(node).stored, master.stored);
                    world.node(node).stored != master.stored
                }
                Action::Demote { node } => {
                    assert_eq!(next.node(node).stored, world.node(node).stored);
                    let hears = |client| next.group().connection(client).subscription() == Some(node);
                    assert!(!(0..config.clients.count).any(hears));
                    false
                }
                _ => false,
            }
        }
    }

    let mut erased = 0;
    each_step(config, |taken| erased += usize::from(in_largest_layout(config, Erases(taken))));
    erased
}

/// Explores every state, and counts the half-open links of masters that are not cut off.
fn half_open_links(config: &Config) -> usize {
    struct HalfOpen<'a>(Taken<'a>);

    impl InLayout for HalfOpen<'_> {
        type Output = usize;

        fn run<Y: Layout>(self, config: &Config) -> usize {
            let [_, next] = self.0.worlds::<Y>();
            let mut seen = 0;
            for (index, node) in next.group().numbered() {
                let is_half_open = (0..config.nodes()).any(|other| node.links.is_half_open_to(other));
                let is_late = node.is_paused() || node.is_uncounted();
                let may_be = node.is_master() && (node.is_cut() || is_late || index == next.group().master());
                assert!(may_be || !is_half_open, "after {:?}: {next:?}", self.0.action);
                seen += usize::from(is_half_open && !node.is_cut());
            }
            seen
        }
    }

    let mut seen = 0;
    each_step(config, |taken| seen += in_largest_layout(config, HalfOpen(taken)));
    seen
}

/// Explores every state, and counts the requests that wait for replicas and the effects that are awaited.
fn waits(config: &Config) -> (usize, usize) {
    struct Waits<'a>(Taken<'a>);

    impl InLayout for Waits<'_> {
        type Output = (usize, usize);

        fn run<Y: Layout>(self, config: &Config) -> (usize, usize) {
            let mut seen = (0, 0);
            let [world, next] = self.0.worlds::<Y>();
            let action = self.0.action;
            let call = |world: &World<Y>, holder: Holder| {
                let call = world.requests(holder.client()).get(Slot::of_thread(holder.thread())).copied();
                call.filter(|call| matches!(call.stage, Stage::Confirming(_)))
            };
            for holder in threads(config) {
                let Some(call) = call(next, holder) else { continue };
                let connection = next.group().connection(holder.client());
                let have =
                    (0..config.nodes()).filter(|&node| connection.is_acknowledged_by(holder.thread(), node)).count();
                assert!(have < usize::from(call.wait.asks_for()), "after {action:?}: {next:?}");
                seen.0 += 1;
            }
            if action == Action::Tick {
                assert!(threads(config).all(|holder| call(world, holder).is_none()), "time passed in {world:?}");
            }
            for effect in next.group().numbered().flat_map(|(_, node)| node.queue.effects()) {
                if !effect.is_awaited() {
                    continue;
                }
                // Behind every call there is one thread, and what it waits for may leave no holder.
                let is_alone = config.protocol.wait_after == WaitAfter::EveryCall;
                let waits =
                    |holder: Holder| call(next, holder).is_some() || next.thread(holder).phase == Phase::Confirming;
                let is_awaited = if is_alone {
                    waits(Holder::new(0, 0))
                } else {
                    effect.stored.holders().any(|hold| waits(hold.by.holder))
                };
                assert!(is_awaited, "after {action:?}: {next:?}");
                seen.1 += 1;
            }
            seen
        }
    }

    let mut seen = (0, 0);
    each_step(config, |taken| {
        let (confirming, awaited) = in_largest_layout(config, Waits(taken));
        seen = (seen.0 + confirming, seen.1 + awaited);
    });
    seen
}

fn threads(config: &Config) -> impl Iterator<Item = Holder> + use<> {
    let threads = config.clients.threads;
    (0..config.clients.count).flat_map(move |client| (0..threads).map(move |thread| Holder::new(client, thread)))
}

/// Calls `show` with every step that can be taken from any reachable state.
fn each_step(config: &Config, mut show: impl FnMut(Taken<'_>)) {
    let all = Action::all(config);
    let first = AnyWorld::initial(config);
    let (mut met, mut open) = (HashSet::from([first.clone()]), vec![first]);
    while let Some(before) = open.pop() {
        for &action in &all {
            let Some(AnyStep { world: after, .. }) = before.step(config, action) else { continue };
            show(Taken { before: &before, action, after: &after });
            if met.insert(after.clone()) {
                open.push(after);
            }
        }
    }
}

fn assert_time_waits(config: &Config, actions: &[Action]) {
    let all = Action::all(config);
    let mut world = AnyWorld::initial(config);
    for &action in actions {
        let shown = world.let_through(config);
        for &ruled_out in all.iter().filter(|action| !shown.contains(action)) {
            assert!(world.step(config, ruled_out).is_none(), "{ruled_out:?} can happen in {world:?}");
        }
        assert!(shown.is_sorted_by_key(|shown| all.iter().position(|action| action == shown)), "in their order");
        let can_tick = world.step(config, Action::Tick).is_some();
        let is_urgent = |action| in_largest_layout(config, IsUrgent(&world, action));
        let urgent: Vec<_> =
            all.iter().filter(|&&action| is_urgent(action) && world.step(config, action).is_some()).collect();
        assert!(!can_tick || urgent.is_empty(), "time could pass before {urgent:?} in {world:?}");
        world = world.step(config, action).expect("drawn among what can happen").world;
    }
}

/// What a prompt client, an undelayed message or a bounded lag requires to happen before time passes.
struct IsUrgent<'a>(&'a AnyWorld, Action);

impl InLayout for IsUrgent<'_> {
    type Output = bool;

    fn run<Y: Layout>(self, config: &Config) -> bool {
        let Self(world, action) = self;
        is_urgent(config, world.in_its_layout::<Y>().expect("the layout of its scenario"), action)
    }
}

fn is_urgent<Y: Layout>(config: &Config, world: &World<Y>, action: Action) -> bool {
    match action {
        Action::Subscribe { .. }
        | Action::SecondAsk { .. }
        | Action::WakeByMessage { .. }
        | Action::GiveUp { .. }
        | Action::Renew { .. }
        | Action::RenewAcknowledged { .. }
        | Action::Confirm { .. }
        | Action::Undo { .. }
        | Action::SetTtl { .. } => true,
        // One that was told 0 may ask at any time of this instant, and need not.
        Action::WakeByTimer { client, thread } => world.thread(Holder::new(client, thread)).wake_in.is_due(),
        Action::Fsync { node } => {
            let (age, cluster) = (world.group().node(node).disk_age, &config.cluster);
            let without_fsync = if cluster.no_appendfsync_on_rewrite { cluster.aof_rewrite_within } else { 0 };
            let within = cluster.fsync_within + without_fsync;
            age.ticks() >= if age.is_rewriting() { cluster.aof_rewrite_within } else { within }
        }
        Action::FinishShutdown { node } => world.group().node(node).down_ticks >= config.cluster.shutdown_timeout,
        Action::GiveUpHandOver { .. } | Action::FinishHandOver { .. } => {
            let waited =
                world.group().nodes.as_ref().iter().filter(|node| node.hands_over()).map(|node| node.down_ticks);
            matches!(config.cluster.hand_over_timeout, Bound::Ticks(most) if waited.max() >= Some(most))
        }
        Action::Deliver { .. } => config.network.delay == lockstep_model::config::MessageDelay::None,
        Action::Release { .. } => match action.party() {
            Party::Thread(holder) => world.thread(holder).hold_left.is_due() || world.thread(holder).has_stopped(),
            _ => false,
        },
        _ => false,
    }
}

/// An effect that takes the place of an older one has to arrive as early as that one.
#[test]
fn a_replica_lags_no_longer_than_it_may_however_much_is_written() {
    /// Whether nothing is under way to the replica.
    struct IsLevel<'a>(&'a AnyWorld);

    impl InLayout for IsLevel<'_> {
        type Output = bool;

        fn run<Y: Layout>(self, _: &Config) -> bool {
            let world = self.0.in_its_layout::<Y>().expect("the layout of its scenario");
            world.node(1).queue.is_empty()
        }
    }

    fn walked(config: &Config) -> usize {
        let Bound::Ticks(lag) = config.cluster.lag else { panic!("a bounded lag") };
        let all = Action::all(config);
        let first = (AnyWorld::initial(config), 0);
        let (mut met, mut open) = (HashSet::from([first.clone()]), vec![first]);
        while let Some((world, behind_ticks)) = open.pop() {
            for &action in &all {
                let Some(AnyStep { world: next, .. }) = world.step(config, action) else { continue };
                let is_level = in_largest_layout(config, IsLevel(&next)) || matches!(action, Action::Replicate { .. });
                let passed = u8::from(action == Action::Tick);
                let behind_ticks = if is_level { 0 } else { behind_ticks + passed };
                assert!(behind_ticks <= lag, "behind for {behind_ticks} ticks, lag = {lag}: {next:?}");
                if met.insert((next.clone(), behind_ticks)) {
                    open.push((next, behind_ticks));
                }
            }
        }
        met.len()
    }
    for (lag, ttls) in [(1, "absolute"), (2, "absolute"), (1, "relative"), (2, "relative")] {
        let text = format!(
            "story = 'It renews at every tick.'\nlock = 'reentrant'\n[time]\nlease = 2\nrenew_every = 1\n\
             [clients]\ncount = 1\n[cluster]\nreplicas = 1\nlag = {lag}\nttls = '{ttls}'\n"
        );
        let scenario = Scenario::parse("a-lag", &text).unwrap_or_else(|error| panic!("{}", error.report(false)));
        assert!(walked(&scenario.config) > 10, "{lag}, {ttls}");
    }
}
