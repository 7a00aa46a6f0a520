//! SEAM, to be deleted: stand-ins for what others build, with the names and signatures that the commands use.
//!
//! Every command says `use super::seam::{check, fuzz, replay, scenario};`. With the real ones there, replace `super::seam`
//! by `crate` in `cli/*.rs` and delete this file.
#![allow(dead_code, clippy::unnecessary_wraps, clippy::unused_self, clippy::allow_attributes, reason = "stand-ins")]

pub mod scenario {
    use std::collections::BTreeMap;

    use lockstep_model::config::{
        Bound, Clients, Cluster, Config, Faults, MessageDelay, Network, NetworkMode, Profile, PromoteRule, Time,
    };
    use lockstep_model::{LockKind, Property, Verdict};

    pub use crate::scenario::Scenario;

    pub struct Unreadable(String);

    impl Unreadable {
        pub fn report(&self, _color: bool) -> String {
            self.0.clone()
        }
    }

    pub fn resolve(names: &[String]) -> Result<Vec<Scenario>, Unreadable> {
        let find = |name: &String| {
            builtin()
                .into_iter()
                .find(|scenario| scenario.name == *name)
                .ok_or_else(|| Unreadable(format!("error: no scenario and no file is called `{name}`\n")))
        };
        if names.is_empty() { Ok(builtin()) } else { names.iter().map(find).collect() }
    }

    pub fn explain(_code: &str) -> Option<&'static str> {
        None
    }

    pub fn builtin() -> Vec<Scenario> {
        let config = Config {
            lock: LockKind::Reentrant,
            time: Time { tick_ms: 10_000, lease: 3, renew_every: None, wait_limit: Some(0), hold_at_most: None },
            clients: Clients { count: 2, threads: 1, max_holds: 1, acquires: Some(1) },
            cluster: Cluster { replicas: 1, lag: Bound::Any, promote: PromoteRule::Any },
            network: Network { mode: NetworkMode::Atomic, delay: MessageDelay::None },
            protocol: Profile::Redisson47.protocol(),
            faults: Faults { crash_node: 1, ..Faults::default() },
            resource: None,
            #[cfg(feature = "mutants")]
            mutant: None,
        };
        let calm = Config { cluster: Cluster { replicas: 0, ..config.cluster }, faults: Faults::default(), ..config };
        let expect = BTreeMap::from([
            (Property::OneBeliever, Verdict::Violated),
            (Property::GrantSurvives, Verdict::Violated),
            (Property::CountsAgree, Verdict::Violated),
        ]);
        vec![
            Scenario {
                name: "failover-loses-the-grant".to_owned(),
                story: "The grant dies with the master before the replica has seen it.".to_owned(),
                config,
                expect,
            },
            Scenario {
                name: "nothing-goes-wrong".to_owned(),
                story: "Two clients share a lock with a lease, and nothing fails; who works too long still loses it."
                    .to_owned(),
                config: calm,
                expect: BTreeMap::from([
                    (Property::OneBeliever, Verdict::Violated),
                    (Property::CountsAgree, Verdict::Violated),
                ]),
            },
        ]
    }
}

pub mod check {
    use std::collections::{HashMap, VecDeque};
    use std::sync::atomic::Ordering;
    use std::time::Instant;

    use lockstep_model::config::Config;
    use lockstep_model::trace::{About, Trace};
    use lockstep_model::{
        Action, ActionKind, Classified, Happenings, Property, Record, Verdict, World, in_class, step,
    };

    pub use crate::check::{Coverage, Engine, Limits, Outcome, PropertyOutcome};
    use crate::scenario::Scenario;

    #[derive(Debug, thiserror::Error)]
    #[error("the engines differ")]
    pub struct Error;

    struct Search<'a> {
        scenario: &'a Scenario,
        limits: Limits<'a>,
    }

    type Broken = Vec<(Property, Vec<Action>)>;

    impl Classified for Search<'_> {
        type Output = (u64, u64, u32, bool, Broken, Coverage);

        fn run<R: Record, const C: usize, const N: usize>(self, config: &Config) -> Self::Output {
            let actions = Action::all(config);
            let first = World::<R, C, N>::initial(config);
            let mut parents = HashMap::from([(first, None)]);
            let mut queue = VecDeque::from([(first, 0)]);
            let (mut generated, mut depth, mut broken, mut complete) = (1, 0, Broken::new(), true);
            let mut coverage =
                Coverage { taken: [0; ActionKind::ALL.len()], happenings: Happenings::NONE, least_left: config.faults };
            while let Some((world, at)) = queue.pop_front() {
                depth = at;
                for property in Property::SAFETY {
                    let is_new = !broken.iter().any(|(known, _)| *known == property);
                    if is_new && property.applies(config).is_ok() && !property.holds(&world) {
                        let (mut path, mut last) = (Vec::new(), world);
                        while let Some(Some((action, parent))) = parents.get(&last) {
                            path.insert(0, *action);
                            last = *parent;
                        }
                        broken.push((property, path));
                    }
                }
                let full = self.limits.max_states.is_some_and(|most| parents.len() as u64 >= most);
                if full || self.limits.stop.load(Ordering::Relaxed) {
                    complete = false;
                    break;
                }
                for &action in &actions {
                    let Some(next) = step(config, &world, action) else { continue };
                    generated += 1;
                    coverage.taken[action.kind() as usize] += 1;
                    coverage.happenings = coverage.happenings.and(next.happenings);
                    parents.entry(next.world).or_insert_with(|| {
                        queue.push_back((next.world, at + 1));
                        Some((action, world))
                    });
                }
                self.limits.progress.store(parents.len() as u64, Ordering::Relaxed);
            }
            (parents.len() as u64, generated, depth, complete, broken, coverage)
        }
    }

    pub fn check(scenario: &Scenario, engine: Engine, limits: Limits<'_>) -> Result<Outcome, Error> {
        let start = Instant::now();
        let (states, generated, depth, complete, broken, coverage) =
            in_class(&scenario.config, Search { scenario, limits }.checked());
        let properties = Property::SAFETY.into_iter().filter(|property| property.applies(&scenario.config).is_ok());
        let properties = properties.map(|property| {
            let path = broken.iter().find(|(known, _)| *known == property).map(|(_, path)| path);
            let trace = path.map(|path| {
                let about = About::Counterexample {
                    property,
                    verdict: Verdict::Violated,
                    engine: "native".to_owned(),
                    shortest: true,
                };
                let reproduce = format!("lockstep check {}", scenario.name);
                Trace::record(&scenario.name, &scenario.story, &scenario.config, about, path, &reproduce)
                    .expect("found")
            });
            let was_tested = property.antecedent().is_none_or(|happening| coverage.happenings.has(happening));
            let verdict = match (&trace, complete, was_tested) {
                (Some(_), _, _) => Verdict::Violated,
                (None, false, _) => Verdict::Inconclusive,
                (None, true, false) => Verdict::Vacuous,
                (None, true, true) => Verdict::Holds,
            };
            let why = match verdict {
                Verdict::Vacuous => Some(property.antecedent_sentence().to_owned()),
                Verdict::Inconclusive => Some("a limit fired".to_owned()),
                Verdict::Holds | Verdict::Violated => None,
            };
            PropertyOutcome { property, declared: scenario.expect.get(&property).copied(), verdict, why, trace }
        });
        let properties = properties.collect();
        let seconds = start.elapsed().as_secs_f64();
        Ok(Outcome {
            scenario: scenario.name.clone(),
            engine,
            states,
            generated,
            depth,
            complete,
            seconds,
            coverage,
            properties,
        })
    }

    impl Search<'_> {
        fn checked(self) -> Self {
            assert!(!self.scenario.name.is_empty());
            self
        }
    }

    pub fn covering(scenario: &Scenario) -> Vec<Action> {
        struct Walk;
        impl Classified for Walk {
            type Output = Vec<Action>;
            fn run<R: Record, const C: usize, const N: usize>(self, config: &Config) -> Self::Output {
                let mut world = World::<R, C, N>::initial(config);
                let actions = Action::all(config);
                let mut taken: Vec<Action> = Vec::new();
                for _ in 0..20 {
                    let possible: Vec<_> =
                        actions.iter().filter_map(|&action| Some((action, step(config, &world, action)?))).collect();
                    let seldom = possible
                        .iter()
                        .min_by_key(|(action, _)| taken.iter().filter(|other| other.kind() == action.kind()).count());
                    let Some((action, next)) = seldom else { break };
                    taken.push(*action);
                    world = next.world;
                }
                taken
            }
        }
        in_class(&scenario.config, Walk)
    }
}

pub mod replay {
    use std::path::Path;

    use lockstep_model::trace::Trace;
    use lockstep_model::{Action, Config};

    #[derive(Debug, thiserror::Error)]
    #[error("this build cannot start servers yet")]
    pub struct Error;

    impl Error {
        /// Whether it is our own defect, and not the environment's doing.
        pub fn is_internal(&self) -> bool {
            false
        }
    }

    pub struct Server;

    impl Server {
        /// `--server`, or `LOCKSTEP_REDIS_SERVER`, or the first on `PATH`.
        pub fn find(_named: Option<&Path>) -> Result<Self, Error> {
            Err(Error)
        }
    }

    #[derive(Clone, Debug)]
    pub struct Difference {
        pub step: usize,
        pub action: Action,
        pub what: String,
        pub model: String,
        pub redis: String,
    }

    #[derive(Clone, Debug)]
    pub struct Replayed {
        pub server: String,
        pub steps: usize,
        pub compared: usize,
        pub answers: Vec<String>,
        pub difference: Option<Difference>,
    }

    pub struct Replayer;

    impl Replayer {
        pub fn start(_server: &Server, _config: &Config) -> Result<Self, Error> {
            Err(Error)
        }

        pub fn replay(&mut self, _trace: &Trace) -> Result<Replayed, Error> {
            Err(Error)
        }
    }
}

pub mod fuzz {
    use std::sync::atomic::{AtomicBool, AtomicU64};

    use lockstep_model::trace::Trace;

    use super::replay::{Difference, Error, Server};
    use crate::scenario::Scenario;

    #[derive(Clone, Copy, Debug)]
    pub struct FuzzOptions {
        pub cases: u32,
        pub seed: u64,
    }

    #[derive(Clone, Debug)]
    pub struct Fuzzed {
        pub server: String,
        pub seed: u64,
        pub cases: u32,
        pub steps: usize,
        pub counterexample: Option<Trace>,
        pub difference: Option<Difference>,
    }

    pub fn fuzz(
        _scenario: &Scenario,
        _server: &Server,
        _options: FuzzOptions,
        _stop: &AtomicBool,
        _progress: &AtomicU64,
    ) -> Result<Fuzzed, Error> {
        Err(Error)
    }
}
