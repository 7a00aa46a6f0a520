//! Fixed traces to draw, and random walks to draw.

use lockstep_model::config::{
    AcceptedTokens, AfterRefusal, Bound, Bounds, Calls, Channels, ClientRole, ClientTables, Clients, Cluster, Config,
    Discovery, Faults, Fencing, Fsync, InterruptedWait, LockObjects, MessageDelay, Network, NetworkMode, NodeSet,
    PartOrder, Profile, PromoteRule, ReplicasLeave, Resend, Resource, StopsAt, Time, Ttls, ValueSet, WriteDelay,
};
use lockstep_model::trace::{About, Trace};
use lockstep_model::{Action, LockKind, Property, Verdict};
use lockstep_sim::any_world::AnyWorld;
use lockstep_sim::recorder;

/// The first lock kind that is re-entrant, or that is not.
pub const fn kind(reenters: bool) -> LockKind {
    let mut index = 0;
    while LockKind::ALL[index].facts().reentry.is_there() != reenters {
        index += 1;
    }
    LockKind::ALL[index]
}

/// Two clients, a master, a lease, no watchdog, no fault; a refused client does not wait.
pub const SMALL: Config = Config {
    lock: kind(true),
    time: Time {
        tick_ms: 10_000,
        lease: 3,
        reentry_lease: None,
        named_lease: None,
        renew_every: None,
        wait_limit: Some(0),
        hold_at_most: None,
        poll_every: 1,
        ask_again_after: 1,
        queue_wait: None,
        round_wait: None,
        drift: 0,
        jump: 0,
    },
    clients: Clients {
        count: 2,
        threads: 1,
        names: 1,
        max_holds: 2,
        acquires: None,
        hold_for_ever: false,
        lock_objects: LockObjects::PerCall,
        interrupted_wait: InterruptedWait::Leave,
        after_refusal: AfterRefusal::Leave,
        stops_at: StopsAt::Never,
        role: ClientRole::Both,
        parts: PartOrder::InOrder,
        values: ValueSet::ALL,
        clock_ahead: 0,
    },
    client: ClientTables::NONE,
    cluster: Cluster {
        groups: 1,
        replicas: 0,
        lag: Bound::Any,
        ttls: Ttls::Absolute,
        promote: PromoteRule::Any,
        replicas_leave: ReplicasLeave::Together,
        channels: Channels::Global,
        cut_together: NodeSet::from_bits(0),
        failover_within: Bound::Any,
        fsync: Fsync::None,
        fsync_within: 0,
        aof_rewrite_within: 0,
        no_appendfsync_on_rewrite: false,
        shutdown_timeout: 0,
        hand_over_timeout: Bound::Any,
        restart_after: 0,
        min_replicas: 0,
        min_replicas_max_lag: 0,
        min_replicas_slack: 0,
        wait_for: 0,
        lock_delay: 0,
        start_delay: 0,
        discovery: Discovery::NewMaster,
    },
    network: Network { mode: NetworkMode::Atomic, delay: MessageDelay::None },
    protocol: Profile::Redisson47.protocol(),
    calls: Calls::DEFAULT,
    faults: Faults {
        crash_client: 0,
        crash_thread: 0,
        pause_client: 0,
        start_client: 0,
        crash_node: 0,
        lose_message: 0,
        foreign_release: 0,
        force_release: 0,
        restart_node: 0,
        kill_node: 0,
        shutdown_node: 0,
        cut_link: 0,
        pause_node: 0,
        vanish_key: 0,
        lose_request: 0,
        lose_reply: 0,
        interrupt: 0,
        clock_jump: 0,
        client_clock_jump: 0,
        hand_over: 0,
        refuse_writes: 0,
        break_link: 0,
        persist_key: 0,
        vanish_receipts: 0,
        vanish_token: 0,
        overwrite_key: 0,
        lose_ask: 0,
        slow_reply: 0,
        late_ask: 0,
        move_slot: 0,
    },
    resource: None,
    strong_fairness: false,
    bounds: Bounds::NONE,
    mutant: None,
};

/// A master that may crash, and a replica.
pub const FAILOVER: Config = Config {
    time: Time { wait_limit: None, ..SMALL.time },
    cluster: Cluster { replicas: 1, ..SMALL.cluster },
    faults: Faults { crash_node: 1, ..SMALL.faults },
    ..SMALL
};

/// Everything at once: processes with two threads, three nodes, a watchdog, a fenced resource, every fault.
pub const EVERYTHING: Config = Config {
    time: Time {
        tick_ms: 10_000,
        lease: 3,
        reentry_lease: None,
        named_lease: None,
        renew_every: Some(1),
        wait_limit: Some(6),
        hold_at_most: None,
        poll_every: 1,
        ask_again_after: 1,
        queue_wait: None,
        round_wait: None,
        drift: 0,
        jump: 2,
    },
    clients: Clients { threads: 2, ..SMALL.clients },
    cluster: Cluster {
        groups: 1,
        replicas: 2,
        fsync: Fsync::EverySecond,
        fsync_within: 0,
        aof_rewrite_within: 1,
        no_appendfsync_on_rewrite: true,
        shutdown_timeout: 1,
        hand_over_timeout: Bound::Ticks(1),
        restart_after: 2,
        min_replicas: 1,
        min_replicas_max_lag: 1,
        min_replicas_slack: 1,
        wait_for: 1,
        lock_delay: 2,
        start_delay: 1,
        discovery: Discovery::AnyMaster,
        ..SMALL.cluster
    },
    faults: Faults {
        crash_client: 1,
        crash_thread: 1,
        pause_client: 2,
        start_client: 1,
        crash_node: 2,
        lose_message: 1,
        foreign_release: 1,
        force_release: 1,
        restart_node: 1,
        kill_node: 1,
        shutdown_node: 1,
        cut_link: 1,
        pause_node: 1,
        vanish_key: 1,
        lose_request: 0,
        lose_reply: 0,
        interrupt: 1,
        clock_jump: 1,
        client_clock_jump: 1,
        hand_over: 1,
        refuse_writes: 1,
        break_link: 1,
        persist_key: 1,
        vanish_receipts: 0,
        vanish_token: 0,
        overwrite_key: 0,
        lose_ask: 0,
        slow_reply: 0,
        late_ask: 0,
        move_slot: 0,
    },
    resource: Some(Resource { fencing: Fencing::Ideal, delay: WriteDelay::Any, accepts: AcceptedTokens::EqualOrNewer }),
    ..SMALL
};

/// The same with requests in flight; every message may be late or lost.
pub const IN_FLIGHT: Config = Config {
    network: Network { mode: NetworkMode::Split, delay: MessageDelay::Ticks(2) },
    calls: Calls { resend: Resend::All, retry_attempts: 2, receipt: 3, ..Calls::DEFAULT },
    faults: Faults { lose_request: 2, lose_reply: 2, vanish_receipts: 1, ..EVERYTHING.faults },
    ..EVERYTHING
};

/// Two locks that one renewal carries, and another program that stores a string under the name of one.
pub const NAMED: Config = Config {
    time: Time { renew_every: Some(1), ..SMALL.time },
    clients: Clients { threads: 2, names: 2, ..SMALL.clients },
    faults: Faults { overwrite_key: 1, foreign_release: 1, ..SMALL.faults },
    ..SMALL
};

const A: u8 = 0;
const B: u8 = 1;

fn broken(property: Property) -> About {
    About::Counterexample { property, verdict: Verdict::Violated, engine: "native".to_owned(), shortest: true }
}

/// The grant dies with the master; the replica grants the lock to another client.
pub fn failover() -> Trace {
    let actions = [
        Action::Acquire { client: A, thread: 0 },
        Action::CrashNode { node: 0 },
        Action::Promote { node: 1 },
        Action::Discover { client: B },
        Action::Acquire { client: B, thread: 0 },
    ];
    let story = "The grant dies with the master before the replica has seen it.";
    let reproduce = "lockstep check failover-loses-the-grant";
    recorder::record("failover-loses-the-grant", story, &FAILOVER, broken(Property::OneBeliever), &actions, reproduce)
        .expect("it can happen")
}

/// A waiter sleeps, is woken by the unlock message and gets the lock.
pub fn wakeup() -> Trace {
    let config = Config { time: Time { wait_limit: None, ..SMALL.time }, ..SMALL };
    let actions = [
        Action::Acquire { client: A, thread: 0 },
        Action::Tick,
        Action::Acquire { client: B, thread: 0 },
        Action::Subscribe { client: B, thread: 0 },
        Action::SecondAsk { client: B, thread: 0 },
        Action::Acquire { client: A, thread: 0 },
        Action::Release { client: A, thread: 0 },
        Action::Release { client: A, thread: 0 },
        Action::Deliver { client: B },
        Action::WakeByMessage { client: B, thread: 0 },
    ];
    recorder::record("woken", "A release wakes a waiter.", &config, About::Covering, &actions, "lockstep show woken")
        .expect("it can happen")
}

/// A stale holder's work reaches a resource that does not check tokens.
pub fn stale_effect() -> Trace {
    let config = Config {
        faults: Faults { pause_client: 1, ..SMALL.faults },
        resource: Some(Resource {
            fencing: Fencing::None,
            delay: WriteDelay::None,
            accepts: AcceptedTokens::EqualOrNewer,
        }),
        ..SMALL
    };
    let actions = [
        Action::Acquire { client: A, thread: 0 },
        Action::PauseClient { client: A },
        Action::Tick,
        Action::Tick,
        Action::Tick,
        Action::Tick,
        Action::Acquire { client: B, thread: 0 },
        Action::Work { client: B, thread: 0 },
        Action::Resume { client: A },
        Action::Work { client: A, thread: 0 },
    ];
    let reproduce = "lockstep check pause-outlives-the-lease";
    recorder::record("pause-outlives-the-lease", "", &config, broken(Property::EffectsInOrder), &actions, reproduce)
        .expect("it can happen")
}

/// A thread crashes while it holds the lock, and its process renews for ever.
pub fn orphan() -> Trace {
    let config = Config {
        time: Time { renew_every: Some(1), ..SMALL.time },
        faults: Faults { crash_thread: 1, ..SMALL.faults },
        ..SMALL
    };
    let actions = [
        Action::Acquire { client: A, thread: 0 },
        Action::CrashThread { client: A, thread: 0 },
        Action::Tick,
        Action::Renew { client: A },
    ];
    let About::Counterexample { property, verdict, engine, .. } = broken(Property::NoOrphan) else { unreachable!() };
    let about = About::Counterexample { property, verdict, engine, shortest: false };
    recorder::record_lasso("orphan", "", &config, about, (&actions, 2), "lockstep check orphan").expect("it goes round")
}

/// A walk through a world. The same seed gives the same walk; it prefers the actions it has taken least often.
pub fn walk(config: &Config, steps: usize, seed: u64) -> Trace {
    let actions = walked(config, steps, seed);
    recorder::record("walk", "A walk.", config, About::Drawn, &actions, "lockstep fuzz walk").expect("it has happened")
}

fn walked(config: &Config, steps: usize, mut seed: u64) -> Vec<Action> {
    let all = Action::all(config);
    let mut world = AnyWorld::initial(config);
    let mut taken: Vec<Action> = Vec::new();
    while taken.len() < steps {
        let mut possible = world.enabled(config, &all);
        possible.sort_by_key(|(action, _)| taken.iter().filter(|other| other.kind() == action.kind()).count());
        // Knuth's multiplier: any distribution over the first few actions is good enough.
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let Some(most) = possible.len().checked_sub(1) else { break };
        let pick = usize::try_from(seed >> 60).expect("4 bits").min(most) % 4;
        let (action, next) = possible.swap_remove(pick.min(most));
        taken.push(action);
        world = next.world;
    }
    taken
}
