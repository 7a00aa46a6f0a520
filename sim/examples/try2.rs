use lockstep_redis::Scripts;
use lockstep_sim::{fuzz::*, replay::*, scenario::*};
use std::sync::atomic::*;
fn main() {
    let only: Vec<String> = std::env::args().skip(2).collect();
    let cases: u32 = std::env::args().nth(1).unwrap().parse().unwrap();
    let server = Server::find(None).unwrap();
    for s in builtin() {
        if !only.is_empty() && !only.contains(&s.name) { continue; }
        let start = std::time::Instant::now();
        let f = fuzz(&s, &server, Scripts::built_in(), Options { cases, seed: 1 }, &AtomicBool::new(false), &AtomicU64::new(0)).unwrap();
        let t = start.elapsed().as_secs_f64();
        println!("{} replicas {} cases {} steps {:.0} steps/s {:.0} cases/min", s.name, s.config.cluster.replicas, f.cases, f.steps as f64 / t, f64::from(f.cases) * 60.0 / t);
        if let Some((trace, d)) = f.counterexample {
            for s in &trace.steps { println!("   {} {:?} -> {:?} {:?}", s.lane, s.action, s.answer, s.happenings); }
            println!("{d:#?}");
        }
    }
}
