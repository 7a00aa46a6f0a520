use lockstep_model::config::*;
use lockstep_model::*;
use lockstep_sim::{check::*, scenario::Scenario};
use std::sync::atomic::*;
fn main() {
    let base = Config {
        lock: LockKind::Reentrant,
        time: Time { tick_ms: 10000, lease: 3, renew_every: Some(1), wait_limit: None, hold_at_most: Some(4) },
        clients: Clients { count: 2, threads: 1, max_holds: 1, acquires: Some(2) },
        cluster: Cluster { replicas: 1, lag: Bound::Any, promote: PromoteRule::Any },
        network: Network { mode: NetworkMode::Atomic, delay: MessageDelay::None },
        protocol: Profile::Redisson47.protocol(),
        faults: Faults { crash_node: 1, ..Faults::default() },
        resource: None,
    };
    println!("world {} bytes", std::mem::size_of::<World<lockstep_model::locks::reentrant::Reentrant, 2, 3>>());
    let s = Scenario { name: "x".into(), story: "s".into(), config: base, expect: Default::default() };
    let go = |s: &Scenario| {
        let stop = AtomicBool::new(false);
        let progress = AtomicU64::new(0);
        let l = Limits { max_states: None, timeout: None, stop: &stop, progress: &progress };
        match check(s, Engine::Both, &l) {
            Err(e) => println!("{e}"),
            Ok(o) => {
                println!("{} states {} gen depth {} {:.2}s", o.states, o.generated, o.depth, o.seconds);
                for p in &o.properties {
                    println!("  {:22} {} {:?}", p.property, p.verdict, p.why);
                    if let Some(t) = &p.trace {
                        for s in &t.steps {
                            println!(
                                "      {:2} {} {:?} -> {:?} {:?}",
                                s.at_tick, s.lane, s.action, s.answer, s.happenings
                            );
                        }
                    }
                }
            }
        }
    };
    go(&s);
    let mut t = s.clone();
    t.config.cluster.replicas = 0;
    t.config.faults = Faults::default();
    t.config.clients.threads = 2;
    t.config.clients.max_holds = 2;
    t.config.clients.acquires = Some(3);
    go(&t);
}
