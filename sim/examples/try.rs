use lockstep_model::config::*;
use lockstep_model::*;
use lockstep_redis::Scripts;
use lockstep_sim::{fuzz::*, replay::*, scenario::Scenario};
use std::sync::atomic::*;
fn main() {
    let base = Config {
        lock: LockKind::Reentrant,
        time: Time { tick_ms: 10000, lease: 3, renew_every: Some(1), wait_limit: None, hold_at_most: Some(4) },
        clients: Clients { count: 2, threads: 2, max_holds: 2, acquires: None },
        cluster: Cluster { replicas: 0, lag: Bound::Any, promote: PromoteRule::Any },
        network: Network { mode: NetworkMode::Atomic, delay: MessageDelay::Any },
        protocol: Profile::Redisson47.protocol(),
        faults: Faults { foreign_release: 2, force_release: 1, lose_message: 1, pause_client: 1, crash_thread: 1, ..Faults::default() },
        resource: None,
    };
    let server = Server::find(None).unwrap();
    let go = |config: Config, cases| {
        let s = Scenario { name: "x".into(), story: "s".into(), config, expect: Default::default() };
        let start = std::time::Instant::now();
        let f = fuzz(&s, &server, Scripts::built_in(), Options { cases, seed: 1 }, &AtomicBool::new(false), &AtomicU64::new(0)).unwrap();
        let t = start.elapsed().as_secs_f64();
        println!("{:?} replicas {} {} cases {} steps {:.2}s {:.0} steps/s {:.0} cases/min", config.lock, config.cluster.replicas, f.cases, f.steps, t, f.steps as f64 / t, f64::from(f.cases) * 60.0 / t);
        if let Some((trace, d)) = f.counterexample {
            for s in &trace.steps { println!("   {} {:?} -> {:?} {:?}", s.lane, s.action, s.answer, s.happenings); }
            println!("{d:#?}");
        }
    };
    go(base, 1000);
    let mut p = base; p.lock = LockKind::Plain; p.clients.max_holds = 1; p.faults.force_release = 0; p.faults.lose_message = 0;
    go(p, 1000);
    let mut r = base; r.cluster.replicas = 1; r.faults.crash_node = 1;
    go(r, 60);
    r.cluster.replicas = 2;
    go(r, 60);
    r.cluster.lag = Bound::Ticks(0);
    go(r, 60);
}
