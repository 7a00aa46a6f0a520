//! A lock on several independent masters, in worlds whose verdicts can be worked out by hand.

use std::collections::{HashSet, VecDeque};

use lockstep_model::locks::CallStore;
use lockstep_model::{Action, Config, InLayout, Layout, Property, Verdict, in_largest_layout};
use lockstep_sim::any_world::AnyWorld;
use lockstep_sim::check::native::Options;
use lockstep_sim::check::{CheckOutcome, Engine};
use lockstep_sim::scenario::Scenario;

use crate::{exhaust, exhaust_as, scenario, verdict, verdict_on};

/// Two clients on so many masters. With `stops_at = 'validity'` they hold for as long as that, unless the times say less.
fn world_of(groups: u8, stops_at: &str, time: &str, cluster: &str, faults: &str) -> Scenario {
    let text = format!(
        "story = 'Masters.'\nlock = 'red'\n[time]\nlease = 4\n{time}\n[clients]\ncount = 2\nacquires = 1\nstops_at = '{stops_at}'\n\
         [cluster]\ngroups = {groups}\n{cluster}\n[protocol]\nprofile = 'lockstep'\n[faults]\n{faults}"
    );
    Scenario::parse("masters", &text).unwrap_or_else(|error| panic!("{}", error.report(false)))
}

fn on_masters(groups: u8, time: &str, cluster: &str, faults: &str) -> CheckOutcome {
    exhaust(&world_of(groups, "validity", time, cluster, faults), Engine::Native)
}

const RESTART: &str = "crash_node = 1\nrestart_node = 1\n";

/// Two majorities of an odd number have one master in common, and of an even number two: one that forgets is then not enough.
#[test]
fn one_master_that_forgets_is_enough_for_two_majorities_of_an_odd_number_of_masters_only() {
    for (groups, expected) in [(2, Verdict::Holds), (3, Verdict::Violated), (4, Verdict::Holds), (5, Verdict::Violated)]
    {
        let time = "hold_at_most = 1";
        let restart = world_of(groups, "validity", time, "", RESTART);
        assert_eq!(verdict_on(&restart, Property::OneBeliever), expected, "{groups} restart");
        let jump = world_of(groups, "validity", "hold_at_most = 1\njump = 4", "", "clock_jump = 1\n");
        assert_eq!(verdict_on(&jump, Property::OneBeliever), expected, "{groups} jump");
    }
}

/// What a holder may rely on ends with the lease without the drift: a master that stays away for so long has granted nothing by then that
/// still counts.
#[test]
fn a_delayed_restart_must_be_as_long_as_the_validity() {
    for (drift, delay, expected) in
        [(0, 3, Verdict::Violated), (0, 4, Verdict::Holds), (1, 2, Verdict::Violated), (1, 3, Verdict::Holds)]
    {
        let found = on_masters(3, &format!("drift = {drift}"), &format!("restart_after = {delay}"), RESTART);
        assert_eq!(verdict(&found, Property::OneBeliever), expected, "drift {drift}, delay {delay}");
    }
}

/// A late ask leaves a key behind a call that has ended, and none behind a client that is dead.
#[test]
fn a_late_ask_leaves_a_key_behind_a_call_and_nobody_holds_twice() {
    let found = on_masters(3, "hold_at_most = 1", "", "late_ask = 1\n");
    assert_eq!(verdict(&found, Property::AllOrNone), Verdict::Violated);
    assert_eq!(verdict(&found, Property::OneBeliever), Verdict::Holds);
    assert_eq!(verdict(&found, Property::NoOrphan), Verdict::Holds, "the key ends with its lease");
}

/// What only a look at the clock can stop is violated without one; what no look can stop is violated with it as well.
#[test]
fn each_attack_has_the_verdict_that_its_client_s_look_at_the_clock_gives_it() {
    const SHORT: &str = "hold_at_most = 1";
    let (holds, violated) = (Verdict::Holds, Verdict::Violated);
    for (what, time, faults, looking, not_looking) in [
        ("restart", SHORT, RESTART, violated, violated),
        ("jump", "hold_at_most = 1\njump = 4", "clock_jump = 1\n", violated, violated),
        ("evicted key", SHORT, "vanish_key = 1\n", violated, violated),
        ("pause", SHORT, "pause_client = 1\n", violated, violated),
        ("slow reply", SHORT, "slow_reply = 1\n", holds, violated),
        ("late ask", SHORT, "late_ask = 1\n", holds, holds),
        ("long work", "hold_at_most = 5", "", holds, violated),
        ("lost extension", "renew_every = 2\nhold_at_most = 5", "lose_ask = 2\n", holds, violated),
        // Of three masters that may be one which makes the majority: another one has refused.
        ("one lost extension", "renew_every = 2\nhold_at_most = 5", "lose_ask = 1\n", holds, violated),
        ("late extension", "renew_every = 2\nhold_at_most = 5", "slow_reply = 1\n", holds, violated),
    ] {
        for (stops_at, expected) in [("validity", looking), ("never", not_looking)] {
            let found = exhaust(&world_of(3, stops_at, time, "", faults), Engine::Native);
            assert_eq!(verdict(&found, Property::OneBeliever), expected, "{what}, stops_at {stops_at}");
        }
    }
}

/// Worlds that differ by which master is which, or which client, are one.
#[test]
fn every_order_of_masters_and_clients_has_the_same_canonical_form() {
    const ORDERS: [[u8; 5]; 5] = [[0, 2, 1, 3, 4], [1, 0, 2, 3, 4], [1, 2, 0, 3, 4], [2, 0, 1, 3, 4], [2, 1, 0, 3, 4]];

    /// Puts the masters in another order.
    struct Reordering<'a>(&'a mut AnyWorld, [u8; 5]);

    impl InLayout for Reordering<'_> {
        type Output = ();

        fn run<Y: Layout>(self, _: &Config) {
            let Self(world, order) = self;
            let world = world.in_its_layout_mut::<Y>().expect("the layout of its scenario");
            let old = world.groups;
            for (place, &from) in order.iter().enumerate() {
                world.groups.as_mut()[place] = old.as_ref()[usize::from(from)];
            }
            for call in world.calls.as_mut() {
                let old = *call;
                *call = call.in_order(&order);
                for (place, from) in (0u8..).zip(order) {
                    assert_eq!(call.watchdog(place), old.watchdog(from), "each master has its own");
                }
            }
        }
    }

    fn orders(config: &Config) -> usize {
        const WORLDS: usize = 3_000;
        let all = Action::all(config);
        let first = AnyWorld::initial(config);
        let (mut met, mut open) = (HashSet::from([first.clone()]), VecDeque::from([first]));
        // Deep worlds as well as shallow ones: every second one that is looked at is the newest.
        while let Some(world) = if met.len() % 2 == 0 { open.pop_back() } else { open.pop_front() } {
            for &action in &all {
                let Some(next) = world.step(config, action) else { continue };
                if met.len() < WORLDS && met.insert(next.world.clone()) {
                    open.push_back(next.world);
                }
            }
        }
        // Whatever the order of the masters, as much can happen, and it leads to the same.
        let successors = |world: &AnyWorld| {
            let steps = all.iter().filter_map(|action| {
                world.step(config, *action).map(|next| (action.kind(), next.world.canonical(config)))
            });
            let mut steps: Vec<_> = steps.map(|(kind, next)| format!("{kind:?} {next:?}")).collect();
            steps.sort_unstable();
            steps
        };
        for (place, world) in met.iter().enumerate() {
            let canonical = world.canonical(config);
            for order in ORDERS {
                let mut other = world.clone();
                in_largest_layout(config, Reordering(&mut other, order));
                assert_eq!(other.canonical(config), canonical, "masters in the order {order:?}: {world:?}");
                if met.len() > WORLDS / 2 && order == ORDERS[place % ORDERS.len()] {
                    assert_eq!(successors(&other), successors(world), "masters in the order {order:?}: {world:?}");
                }
            }
            assert_eq!(canonical.canonical(config), canonical);
        }
        met.len()
    }

    let many_faults =
        "late_ask = 2\nslow_reply = 1\nlose_ask = 1\ncrash_node = 1\nrestart_node = 1\npause_client = 1\n";
    let worlds = [
        world_of(3, "validity", "renew_every = 2\nhold_at_most = 3", "", many_faults),
        world_of(3, "never", "hold_at_most = 1", "replicas = 1", "crash_node = 1\nlose_ask = 1\n"),
        scenario("red-three-masters-three-clients"),
        scenario("redisson-red-three-masters-two-clients"),
        scenario("redisson-red-inner-release-takes-more"),
    ];
    for world in worlds {
        assert!(orders(&world.config) >= 1_000);
    }
}

/// A failover inside one group is as a restart without data: enough where two majorities have one master in common. Where a replica has
/// everything before the answer, nothing is lost.
#[test]
fn a_failover_that_loses_the_key_of_one_master_is_enough_for_a_second_majority() {
    for (groups, cluster, expected) in [
        (2, "replicas = 1", Verdict::Holds),
        (3, "replicas = 1", Verdict::Violated),
        (3, "replicas = 1\nlag = 0", Verdict::Holds),
        (4, "replicas = 1", Verdict::Holds),
        (5, "replicas = 1", Verdict::Violated),
        (5, "replicas = 1\nlag = 0", Verdict::Holds),
    ] {
        let world = world_of(groups, "validity", "hold_at_most = 1\nwait_limit = 0", cluster, "crash_node = 1\n");
        let found = exhaust_as(&world, Options::default());
        assert!(found.complete, "{groups}, {cluster}");
        assert_eq!(verdict(&found, Property::OneBeliever), expected, "{groups}, {cluster}");
        for promise in [Property::NoOrphan, Property::Obtainable] {
            assert_eq!(verdict(&found, promise), Verdict::Holds, "{promise}: {groups}, {cluster}");
        }
    }
}

/// Neither the published delay nor a replica that has everything helps: the old master serves those who have not heard of the failover.
#[test]
fn a_master_that_serves_beside_its_promoted_replica_is_enough_for_a_second_majority() {
    let time = "hold_at_most = 1\nwait_limit = 0";
    for (cluster, faults) in
        [("replicas = 1\nlag = 0", "hand_over = 1\n"), ("replicas = 1\nlag = 0\nrestart_after = 4", RESTART)]
    {
        let found = on_masters(3, time, cluster, faults);
        assert_eq!(verdict(&found, Property::OneBeliever), Verdict::Violated, "{cluster}, {faults}");
    }
}

/// Code goes on beside an extension, until its holder releases.
#[test]
fn a_holder_writes_to_the_resource_while_it_extends() {
    let (client, thread) = (0, 0);
    let resource = "[resource]\nfencing = 'none'\n";
    let config = world_of(3, "validity", "renew_every = 1\nhold_at_most = 2", "", resource).config;
    let granted = [0, 1, 2].map(|node| Action::AskMaster { client, node });
    let extending = [Action::Tick, Action::Renew { client }, Action::ExtendAt { client, node: 0 }];
    let all = [&[Action::Acquire { client, thread }][..], &granted, &extending].concat();
    let after = |world: &AnyWorld, action| world.step(&config, action).map(|step| step.world);
    let then = |world: &AnyWorld, action| after(world, action).unwrap_or_else(|| panic!("{action:?} cannot happen"));
    let extending = all.into_iter().fold(AnyWorld::initial(&config), |world, action| then(&world, action));
    let work = Action::Work { client, thread };
    assert!(extending.let_through(&config).contains(&work), "the engine tries it");
    let written = then(&extending, work);
    let extended = [1, 2].into_iter().fold(written, |world, node| then(&world, Action::ExtendAt { client, node }));
    assert!(after(&extended, work).is_none(), "the grant is the same, so a second write shows nothing new");
    let releasing = after(&extending, Action::Release { client, thread }).expect("its code may end meanwhile");
    assert!(after(&releasing, work).is_none(), "it counts on nothing any more");
}
