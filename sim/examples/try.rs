use lockstep_model::*;
use lockstep_sim::{check::*, scenario::*};
use std::sync::atomic::*;
fn main() {
    let only: Vec<String> = std::env::args().skip(1).collect();
    let mut total = 0.0;
    for s in builtin() {
        if !only.is_empty() && !only.contains(&s.name) {
            continue;
        }
        let stop = AtomicBool::new(false);
        let progress = AtomicU64::new(0);
        let l = Limits { max_states: Some(20_000_000), timeout: None, stop: &stop, progress: &progress };
        match check(&s, Engine::Native, &l) {
            Err(e) => println!("{e}"),
            Ok(o) => {
                total += o.seconds;
                println!("# {} {} states {} gen depth {} {:.2}s", s.name, o.states, o.generated, o.depth, o.seconds);
                for p in &o.properties {
                    println!(
                        "{} = \"{}\" # {} {}",
                        p.property,
                        p.verdict,
                        p.trace.as_ref().map_or(0, |t| t.steps.len()),
                        p.why.as_deref().unwrap_or("")
                    );
                    if !only.is_empty() {
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
        }
    }
    println!("# total {total:.2}");
}
