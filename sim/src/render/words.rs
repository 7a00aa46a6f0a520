//! The phrases of the pictures, in the words of the dictionary.

use lockstep_model::Reply;
use lockstep_model::action::{Action, Party};
use lockstep_model::client::Phase;
use lockstep_model::client::Slot;
use lockstep_model::config::{Bound, Config, Fault, Faults, Fsync, PromoteRule, WaitRule};
use lockstep_model::trace::{About, ClientMode, Hold, InLoop, State, Trace, lane};
use lockstep_model::{Property, Verdict};

/// A number of ticks as a person says it: `250 ms`, `30 s`, `1.5 s`.
pub fn time(config: &Config, ticks: u32) -> String {
    duration(u64::from(ticks) * u64::from(config.time.tick_ms))
}

/// Milliseconds as a person says them: `250 ms`, `30 s`, `1.5 s`.
pub fn duration(ms: u64) -> String {
    match ms {
        0 => "0 s".to_owned(),
        1..1000 => format!("{ms} ms"),
        _ if ms.is_multiple_of(1000) => format!("{} s", ms / 1000),
        _ => {
            let fraction = format!("{:03}", ms % 1000);
            format!("{}.{} s", ms / 1000, fraction.trim_end_matches('0'))
        }
    }
}

/// A stored lock: `A:1 ttl 30 s`, `A:1 x2 ttl 30 s`. The holder is client and thread, as Redis stores it.
pub fn stored(config: &Config, lock: &Hold) -> String {
    let thread = if config.clients.threads > 1 { "" } else { ":1" };
    let count = if lock.count == 1 { String::new() } else { format!(" x{}", lock.count) };
    let life = match lock.ttl_ms {
        Some(ms) => format!("ttl {}", duration(ms)),
        None => "no ttl".to_owned(),
    };
    format!("{}{thread}{count} {life}", lock.holder)
}

/// `A`, `A and B`, `A, B and C`.
pub fn list<S: AsRef<str>>(names: &[S]) -> String {
    match names {
        [] => "nobody".to_owned(),
        [only] => only.as_ref().to_owned(),
        [rest @ .., last] => {
            format!("{} and {}", rest.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", "), last.as_ref())
        }
    }
}

/// `12 345`: a long number that can be read.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(" ")
}

/// `1 step`, `2 steps`.
pub fn count(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// What a picture's key says of a thread that believes.
pub const BELIEVES: &str = "believes it holds";
/// Of one that is in `lock()`.
pub const WAITS: &str = "waits for the lock, or for an answer";
/// Of one whose client stands still.
pub const STANDS_STILL: &str = "paused";

/// Who does it.
pub fn actor(config: &Config, action: Action) -> String {
    match action.party() {
        Party::World => "time".to_owned(),
        party => lane(config, party),
    }
}

/// What it does, after its name: `A | asks for the lock`.
pub const fn does(action: Action) -> &'static str {
    match action {
        Action::Acquire { .. } => "asks for the lock",
        Action::Subscribe { .. } => "subscribes to the unlock channel",
        Action::SecondAsk { .. } => "asks again, now subscribed",
        Action::WakeByMessage { .. } => "wakes by a message, and asks",
        Action::WakeByTimer { .. } => "wakes by its timer, and asks",
        Action::GiveUp { .. } => "gives up: its wait limit is over",
        Action::Confirm { .. } => "has its WAIT answered",
        Action::Undo { .. } => "gives its grant back: too few replicas have it",
        Action::Work { .. } => "works on the resource",
        Action::Release { .. } => "releases",
        Action::Discover { .. } => "learns which node is the master",
        Action::Resubscribe { .. } => "subscribes again, on the new master",
        Action::Resume { .. } => "resumes",
        Action::Deliver { .. } => "gets an unlock message",
        Action::Execute { slot, .. } => match slot {
            Slot::Call1 | Slot::Call2 => "has its request executed",
            Slot::Renewal => "has its renewal executed",
            Slot::Late => "has a request executed that it had given up",
        },
        Action::Register { .. } => "has its hold registered for renewal",
        Action::Unregister { .. } => "has its hold taken out of the renewals",
        Action::Answer { slot, .. } => match slot {
            Slot::Call1 | Slot::Call2 => "gets the answer",
            Slot::Renewal => "gets the answer to its renewal",
            Slot::Late => "gives back what it was granted too late",
        },
        Action::Resend { slot, .. } => match slot {
            Slot::Call1 | Slot::Call2 | Slot::Late => "has no answer, and asks the same again",
            Slot::Renewal => "has no answer to its renewal, and renews again",
        },
        Action::Abandon { slot, .. } => match slot {
            Slot::Call1 | Slot::Call2 | Slot::Late => "has no answer, and waits no longer",
            Slot::Renewal => "has no answer to its renewal, and waits no longer",
        },
        Action::Renew { .. } => "renews by its watchdog",
        Action::Replicate { .. } => "applies the next effect",
        Action::Promote { .. } => "is promoted to master",
        Action::Resync { .. } => "follows the master, and takes its data",
        Action::Demote { .. } => "is demoted: it follows the new master, and takes its data",
        Action::Fsync { .. } => "has what it wrote on its disk",
        Action::Heal { .. } => "reaches the other nodes again",
        Action::CrashClient { .. } => "crashes, for good",
        Action::CrashThread { .. } => "dies, its process lives on",
        Action::PauseClient { .. } => "is paused",
        Action::CrashNode { .. } => "crashes",
        Action::HandOver { .. } => "takes over from the master, which runs",
        Action::LoseMessage { .. } => "never gets an unlock message: it is lost",
        Action::LoseRequest { slot, .. } => match slot {
            Slot::Call1 | Slot::Call2 => "has its request lost",
            Slot::Renewal => "has its renewal lost",
            Slot::Late => "has a request lost that it had given up",
        },
        Action::LoseReply { slot, .. } => match slot {
            Slot::Call1 | Slot::Call2 => "never gets the answer: it is lost",
            Slot::Renewal => "never gets the answer to its renewal: it is lost",
            Slot::Late => "never gets the answer to what it had given up: it is lost",
        },
        Action::Interrupt { .. } => "is interrupted",
        Action::ForeignRelease { .. } => "releases without holding",
        Action::ForceRelease { .. } => "deletes the lock, whoever holds it",
        Action::RestartNode { .. } => "comes back",
        Action::CutLink { .. } => "is cut off from the other nodes",
        Action::VanishKey { .. } => "drops the key without a word",
        Action::ClockJump { .. } => "has its clock jump",
        Action::ClientClockJump { .. } => "has its wall clock jump",
        Action::Tick => "one tick passes",
    }
}

/// Who does what: `A asks for the lock`, `one tick passes: 10 s`.
pub fn deed(config: &Config, action: Action) -> String {
    match action.party() {
        Party::World => format!("{}: {}", does(action), time(config, 1)),
        _ => format!("{} {}", actor(config, action), does(action)),
    }
}

/// What is answered; empty where there is nothing to observe.
pub fn reply(config: &Config, reply: Reply) -> String {
    match reply {
        Reply::Done => String::new(),
        Reply::Acquired => "acquired".to_owned(),
        Reply::Busy { remaining_ticks: Some(ticks) } => format!("busy for {}", time(config, ticks.into())),
        Reply::Busy { remaining_ticks: None } => "busy, no ttl".to_owned(),
        Reply::Released => "released".to_owned(),
        Reply::StillHeld => "one hold less, still held".to_owned(),
        Reply::NotHeld => "not held".to_owned(),
        Reply::Renewed => "renewed".to_owned(),
        Reply::RenewalMissed => "renewal missed".to_owned(),
        Reply::NothingToRenew => "nothing to renew".to_owned(),
        Reply::Unreachable => "no answer".to_owned(),
        Reply::ForceReleased => "deleted".to_owned(),
        Reply::NothingToRelease => "nothing to delete".to_owned(),
        Reply::Acknowledged { replicas } => format!("acknowledged by {}", count(replicas.into(), "replica")),
        Reply::TooFewReplicas { replicas: 0 } => "acknowledged by no replica".to_owned(),
        Reply::TooFewReplicas { replicas } => format!("acknowledged by {} only", count(replicas.into(), "replica")),
        Reply::Accepted => "accepted".to_owned(),
        Reply::Rejected => "rejected".to_owned(),
        Reply::NotEnoughReplicas => "not enough replicas".to_owned(),
        Reply::ReadOnly => "a replica: reads only".to_owned(),
        Reply::Unknown => "outcome unknown".to_owned(),
        Reply::Interrupted => "interrupted".to_owned(),
    }
}

/// What a trace is of: `one-believer violated`, `a covering history`, `a drawn history`.
pub fn about(about: &About) -> String {
    match about {
        About::Counterexample { property, verdict, .. } => format!("{property} {verdict}"),
        About::Covering => "a covering history".to_owned(),
        About::Drawn => "a drawn history".to_owned(),
    }
}

/// Why the last state breaks the property the trace is about: who, and what the rule is. `None`: it is about none.
pub fn why(trace: &Trace) -> Option<String> {
    let About::Counterexample { property, .. } = trace.about else { return None };
    let last = trace.state_after(trace.steps.len());
    let before = trace.state_after(trace.steps.len().saturating_sub(1));
    let actor = trace.steps.last().map_or_else(String::new, |step| step.lane.clone());
    let told = match property {
        Property::OneBeliever => {
            let believers: Vec<_> = last.believers().map(|thread| thread.name.as_str()).collect();
            let all = if believers.len() == 2 { "both" } else { "all" };
            format!("{} {all} believe they hold; at most 1 may", list(&believers))
        }
        Property::OneServerHolder => {
            let says = last.nodes.iter().filter(|node| node.is_master()).filter_map(|node| {
                let lock = node.stored.holder()?;
                Some(format!("{} stores {}", node.name, lock.holder))
            });
            format!(
                "{}, and all of them accept writes; at most 1 holder may be stored",
                list(&says.collect::<Vec<_>>())
            )
        }
        Property::GrantSurvives => match (vanished_holder(trace), acting_master(last)) {
            (Some(holder), Some(master)) => {
                format!("{holder}'s grant vanished: it was neither released nor expired, and {master} does not have it")
            }
            _ => "a grant vanished that was neither released nor expired".to_owned(),
        },
        Property::EffectsInOrder => {
            format!("the resource accepted {actor}'s effect after one of a later holder")
        }
        Property::TokensIncrease => format!("{actor}'s new fencing token is not greater than all before"),
        Property::OnlyHolderReleases => {
            format!("{actor} is not the stored holder, and what it sent changed the lock")
        }
        Property::CountsAgree => counts_differ(last),
        Property::WaitLimitKept => {
            let late = threads(last).filter(|thread| thread.is_in_lock() && thread.wait_left == Some(0));
            let late: Vec<_> = late.map(|thread| thread.name.as_str()).collect();
            let waits = if late.len() == 1 { "waits" } else { "wait" };
            format!("{} still {waits}, and the wait limit is over", list(&late))
        }
        Property::NoSleepingWaiter => {
            let asleep = last
                .clients
                .iter()
                .filter(|client| client.mode == ClientMode::Running && client.permits == 0 && client.messages == 0)
                .flat_map(|client| &client.threads)
                .filter(|thread| {
                    thread.phase == Phase::Waiting && thread.wake_in != Some(0) && thread.wait_left != Some(0)
                })
                .map(|thread| match thread.wake_in {
                    Some(ticks) => {
                        format!(
                            "{} sleeps, with only its timer to wake it in {}",
                            thread.name,
                            time(&trace.config, ticks.into())
                        )
                    }
                    None => format!("{} sleeps, with nothing to wake it", thread.name),
                });
            format!("the lock is free, and {}", list(&asleep.collect::<Vec<_>>()))
        }
        Property::RenewedWhileHeld => {
            let holder = acting_master_lock(before).map_or("the holder", |lock| lock.holder.as_str());
            format!("{holder} runs, reaches the master and has a watchdog, and yet its lease ran out")
        }
        Property::WaiterServed => {
            let waiting = always(trace, |state| {
                let live = state.clients.iter().filter(|client| client.mode != ClientMode::Crashed);
                let waiting = live.flat_map(|client| &client.threads).filter(|thread| thread.is_in_lock());
                waiting.map(|thread| thread.name.clone()).collect()
            });
            let waits = if waiting.len() == 1 { "waits" } else { "wait" };
            format!("{} {waits} in every state of the loop, and nothing that must happen ends it", list(&waiting))
        }
        Property::FreedAfterCrash | Property::NoOrphan => {
            let stored = always(trace, |state| {
                let believes = |name: &str| state.believers().any(|thread| thread.name == name);
                let lock = acting_master_lock(state).filter(|lock| !believes(&lock.holder));
                lock.map(|lock| lock.holder.clone()).into_iter().collect()
            });
            let holder = list(&stored);
            format!("the lock stays {holder}'s in every state of the loop, and {holder} is not there to give it back")
        }
        Property::ActionsReached => property.sentence().to_owned(),
    };
    Some(format!("{told}."))
}

/// Of a lasso: where it goes on after its last step.
pub fn goes_on(trace: &Trace) -> Option<String> {
    let (start, last) = (trace.loop_start?, trace.steps.len());
    Some(if start == last {
        format!("after step {last} nothing happens any more that must")
    } else {
        format!("after step {last} it goes on with step {}, for ever", start + 1)
    })
}

/// Of a lasso: for every fair action why nobody can object that it would have happened in the end. One line a reason.
pub fn fairness(trace: &Trace) -> Vec<String> {
    let mut reasons: Vec<(InLoop, Vec<String>)> = Vec::new();
    for fair in trace.fairness.iter().flatten() {
        let mut verb = fair.action.kind().name().replace('_', " ");
        if let Some(slot) = fair.action.slot() {
            verb = format!("{verb} {}", slot.name());
        }
        let does = if fair.action == Action::Tick { verb } else { format!("{} {verb}", fair.lane) };
        match reasons.iter_mut().find(|(reason, _)| *reason == fair.in_loop) {
            Some((_, actions)) => actions.push(does),
            None => reasons.push((fair.in_loop, vec![does])),
        }
    }
    reasons.sort_by_key(|(reason, _)| match *reason {
        InLoop::TakenAt(step) => (0, step),
        InLoop::DisabledAfter(step) => (1, step),
        InLoop::NeverPossible => (2, 0),
    });
    let lines = reasons.into_iter().map(|(reason, actions)| match reason {
        InLoop::TakenAt(step) => format!("taken at step {step}: {}", actions.join(", ")),
        InLoop::DisabledAfter(step) => format!("disabled after step {step}: {}", actions.join(", ")),
        InLoop::NeverPossible => format!("never possible in the loop: {}", actions.join(", ")),
    });
    lines.collect()
}

/// A scenario's world in sentences, one a line.
pub fn world(config: &Config) -> Vec<String> {
    let ticks = |ticks: u8| time(config, ticks.into());
    let mut lines = Vec::new();

    let clients = count(config.clients.count.into(), "client");
    let threads =
        if config.clients.threads > 1 { format!(" of {} threads", config.clients.threads) } else { String::new() };
    let asks = config.clients.acquires.map_or_else(
        || "each asks as often as it likes".to_owned(),
        |times| format!("each asks at most {}", count(times.into(), "time")),
    );
    let holds = match config.clients.max_holds {
        1 => String::new(),
        most => format!(", and may hold {most} times at once"),
    };
    lines.push(format!("{clients}{threads}; {asks}{holds}"));

    let nodes = match config.cluster.replicas {
        0 => "1 master without replicas".to_owned(),
        replicas => {
            let lag = match config.cluster.lag {
                Bound::Ticks(0) => "that have every write at once".to_owned(),
                Bound::Ticks(lag) => format!("that have a write after {} at the latest", ticks(lag)),
                Bound::Any => "that may lag without bound".to_owned(),
            };
            let chosen = match config.cluster.promote {
                PromoteRule::Any => "a failover may choose any",
                PromoteRule::MostData => "a failover chooses one that lost least",
                PromoteRule::Priority => "a failover chooses the first that runs",
                PromoteRule::Coordinated => "a hand-over waits until the replica has everything",
            };
            format!("1 master and {} {lag}; {chosen}", count(replicas.into(), "replica"))
        }
    };
    lines.push(nodes);
    if config.can_fail_over()
        && let Bound::Ticks(most) = config.cluster.failover_within
    {
        lines.push(match most {
            0 => "a failover is over, and every client knows, before time moves".to_owned(),
            most => format!("a failover is over, and every client knows, within {}", ticks(most)),
        });
    }
    lines.extend(safeguards(config));

    let renewal = config
        .time
        .renew_every
        .map_or_else(|| "no watchdog".to_owned(), |period| format!("the watchdog renews every {}", ticks(period)));
    let wait = match config.time.wait_limit {
        None => "who is refused waits for ever".to_owned(),
        Some(0) => "who is refused goes away".to_owned(),
        Some(limit) => format!("who is refused waits at most {}", ticks(limit)),
    };
    let hold = config.time.hold_at_most.map_or_else(
        || {
            let when = if config.clients.hold_for_ever { "when it likes, or never" } else { "when it likes" };
            format!("a holder releases {when}")
        },
        |most| format!("a holder releases after {} at the latest", ticks(most)),
    );
    lines.push(format!("a lease is {}; {renewal}; {wait}; {hold}", ticks(config.time.lease)));
    lines.push(format!(
        "a tick is {} ms; the protocol is that of {}",
        config.time.tick_ms,
        config.protocol.profile.name()
    ));
    if let Some(resource) = config.resource {
        lines.push(
            if resource.fenced {
                "the resource refuses an effect with an older fencing token than one it has seen"
            } else {
                "the resource accepts every effect: it does not look at fencing tokens"
            }
            .to_owned(),
        );
    }
    if config.time.jump != 0 {
        lines.push(format!("a clock that jumps goes {}", jump(config)));
    }
    if config.strong_fairness {
        lines.push("what must happen happens even where it is only possible now and then".to_owned());
    }
    lines.extend(super::in_flight::network(config));
    lines.push(faults(config));
    lines
}

/// What a deployment does against lost writes, a line each.
fn safeguards(config: &Config) -> Vec<String> {
    let ticks = |ticks: u8| time(config, ticks.into());
    let mut lines = Vec::new();
    if config.cluster.min_replicas > 0 {
        let most = ticks(config.cluster.min_replicas_max_lag_ticks);
        let needed = count(config.cluster.min_replicas.into(), "replica");
        lines.push(format!("a master writes only if it heard of {needed} within {most}"));
    }
    if config.cluster.wait_for > 0 {
        let asked = count(config.cluster.wait_for.into(), "replica");
        lines.push(match config.protocol.wait_rule {
            WaitRule::All => format!("a grant is believed when {asked} acknowledged it, and given back if not"),
            WaitRule::Any => {
                "a grant is believed when a replica acknowledged it, if the client knows of any, and given \
                              back if not"
                    .to_owned()
            }
        });
    }
    if config.cluster.lock_delay > 0 {
        let delay = ticks(config.cluster.lock_delay);
        lines.push(format!("who learns of a new master asks for the lock only {delay} later"));
    }
    if config.can_restart() {
        let finds = match config.cluster.fsync {
            Fsync::None => "empty: it has no AOF",
            Fsync::EverySecond => "with what was on its disk: that is written to once a second",
            Fsync::Always => "with all its data: they are on its disk before the reply",
        };
        let when = match config.cluster.restart_after {
            0 => String::new(),
            after => format!(", after {} at the earliest", ticks(after)),
        };
        lines.push(format!("a node that died comes back{when}, {finds}"));
    }
    lines
}

/// How far a clock jumps: `ahead by 40 s`, `back by 40 s`.
pub fn jump(config: &Config) -> String {
    let by = time(config, config.time.jump.unsigned_abs().into());
    if config.time.jump < 0 { format!("back by {by}") } else { format!("ahead by {by}") }
}

/// `what may go wrong: a node crashes (at most 1 time)`, or that nothing does.
fn faults(config: &Config) -> String {
    let allowed = faults_allowed(config.faults);
    if allowed.is_empty() {
        "nothing goes wrong".to_owned()
    } else {
        format!("what may go wrong: {}", allowed.join(", "))
    }
}

/// What a budget allows: `a node crashes (at most 1 time)`.
pub(crate) fn faults_allowed(faults: Faults) -> Vec<String> {
    let allowed = |fault: Fault| match fault {
        Fault::CrashClient => "a client crashes",
        Fault::CrashThread => "a thread dies",
        Fault::PauseClient => "a client is paused",
        Fault::CrashNode => "a node crashes",
        Fault::LoseMessage => "an unlock message is lost",
        Fault::ForeignRelease => "somebody releases without holding",
        Fault::ForceRelease => "somebody deletes the lock",
        Fault::RestartNode => "a dead node comes back",
        Fault::CutLink => "a node is cut off",
        Fault::VanishKey => "the key vanishes",
        Fault::LoseRequest => "a request is lost",
        Fault::LoseReply => "a reply is lost",
        Fault::Interrupt => "a thread is interrupted",
        Fault::ClockJump => "a node's clock jumps",
        Fault::ClientClockJump => "a client's clock jumps",
        Fault::HandOver => "somebody makes a replica the master",
    };
    let budgets = faults.budgets().into_iter().filter(|(_, budget)| *budget > 0);
    budgets.map(|(fault, budget)| format!("{} (at most {})", allowed(fault), count(budget.into(), "time"))).collect()
}

/// `violated`, and whether that is what the scenario says.
pub fn as_declared(verdict: Verdict, declared: Option<Verdict>) -> String {
    match declared {
        Some(declared) if declared == verdict => format!("{verdict}, as declared"),
        Some(declared) => format!("{verdict}, but declared {declared}"),
        None if matches!(verdict, Verdict::Holds | Verdict::Vacuous) => verdict.to_string(),
        None => format!("{verdict}, and not declared so"),
    }
}

/// The names that are there in every state of the loop.
fn always(trace: &Trace, names: impl Fn(&State) -> Vec<String>) -> Vec<String> {
    let start = trace.loop_start.unwrap_or(trace.steps.len());
    let mut always = names(trace.state_after(start));
    for after in start..=trace.steps.len() {
        let here = names(trace.state_after(after));
        always.retain(|name| here.contains(name));
    }
    always
}

fn counts_differ(state: &State) -> String {
    let Some(master) = state.acting_master() else {
        return "there is no master to agree with".to_owned();
    };
    let differing = state.believers().find(|thread| {
        master.stored.holder().is_none_or(|lock| lock.holder != thread.name || lock.count != thread.holds)
    });
    let stores = match (master.stored.holder(), differing) {
        (None, _) => "stores no lock".to_owned(),
        (Some(lock), Some(thread)) if lock.holder == thread.name => format!("stores {}", lock.count),
        (Some(lock), _) => format!("stores {} as holder", lock.holder),
    };
    let believes = differing.map_or_else(String::new, |thread| {
        format!("{} believes it holds {}; ", thread.name, count(thread.holds.into(), "time"))
    });
    format!("{believes}{} {stores}", master.name)
}

fn threads(state: &State) -> impl Iterator<Item = &lockstep_model::trace::ThreadState> {
    state.clients.iter().flat_map(|client| &client.threads)
}

fn acting_master(state: &State) -> Option<&str> {
    state.acting_master().map(|node| node.name.as_str())
}

fn acting_master_lock(state: &State) -> Option<&Hold> {
    state.acting_master()?.stored.holder()
}

/// Who held before the last step, or, if no master was there to say, before its crash.
fn vanished_holder(trace: &Trace) -> Option<&str> {
    let earlier = (0..trace.steps.len()).rev().map(|steps| trace.state_after(steps));
    let mut with_master = earlier.filter(|state| acting_master(state).is_some());
    with_master.find_map(acting_master_lock).map(|lock| lock.holder.as_str())
}

#[cfg(test)]
mod tests {
    use super::thousands;

    #[test]
    fn long_numbers_are_grouped_from_the_right() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1 000", "1 234 567"]);
    }
}
