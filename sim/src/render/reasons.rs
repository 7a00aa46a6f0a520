//! Why a trace breaks its property: who does what in its last state, or in its loop.

use std::collections::BTreeSet;

use lockstep_model::client::Phase;
use lockstep_model::trace::{
    About, ClientMode, ClientState, Hold, NodeState, State, ThreadState, Trace, TraceStep, lock_name,
};
use lockstep_model::{Config, Property, Reply};

use super::units::{count, list, time};

/// Why the last state, or the loop, breaks the property of the trace, as a sentence. `None`: the trace is no
/// counterexample.
#[expect(clippy::too_many_lines, reason = "one arm for each property")]
pub fn why(trace: &Trace) -> Option<String> {
    let About::Counterexample { property, .. } = trace.about else { return None };
    let last = trace.state_after(trace.steps.len());
    let before = trace.state_after(trace.steps.len().saturating_sub(1));
    let actor = trace.steps.last().map_or_else(String::new, |step| step.lane.clone());
    let says = match property {
        Property::OneBeliever if trace.config.clients.names > 1 => believers_in_one(&trace.config, last),
        Property::OneBeliever if trace.config.shares() => believers_beside_a_writer(last),
        Property::OneBeliever => believers(last),
        Property::OneServerHolder => {
            let stores = last.nodes.iter().filter(|node| node.is_master()).filter_map(|node| {
                let lock = node.stored.holder()?;
                Some(format!("{} stores {}", node.name, holder_of(lock)))
            });
            format!(
                "{}, and each of them acts as master; at most 1 holder may be stored",
                list(&stores.collect::<Vec<_>>())
            )
        }
        Property::GrantAcknowledged => unacknowledged(trace),
        Property::GrantSurvives => match (vanished_holder(trace), acting_master(last)) {
            (Some(holder), Some(master)) => {
                format!("{holder}'s grant vanished: it was neither released nor expired, and {master} does not have it")
            }
            _ => "a grant vanished that was neither released nor expired".to_owned(),
        },
        Property::EffectsInOrder => {
            format!("the resource accepted {actor}'s effect after one of a later holder")
        }
        Property::TokensIncrease => repeated_token(trace, &actor),
        Property::OnlyHolderReleases => {
            format!("{actor} is not the stored holder, but its request changed the lock")
        }
        Property::CountsAgree => counts_differ(&trace.config, last),
        Property::WaitLimitKept => {
            let late = threads(last).filter(|thread| thread.is_in_lock() && thread.wait_left == Some(0));
            let late: Vec<_> = late.map(|thread| thread.name.as_str()).collect();
            let waits = if late.len() == 1 { "waits" } else { "wait" };
            format!("{} still {waits} although the wait limit is over", list(&late))
        }
        Property::InterruptReported => {
            format!("{actor} was interrupted while it waited: its call returns, and says nothing of that")
        }
        Property::RefusalTrue if trace.steps.last().is_some_and(|step| step.answer == Reply::ToldRefused) => {
            format!("{actor} is told that it does not have the lock, and a server has granted it")
        }
        Property::RefusalTrue => {
            format!("{actor} is told that a server refuses to write, and a later attempt of the same call was granted")
        }
        Property::ValidAtGrant => grant_is_invalid(trace, last, &actor),
        Property::AllOrNone if trace.config.asks_masters() => key_left(last, &actor),
        Property::AllOrNone => parts_left(last, &actor),
        Property::NoSleepingWaiter => sleepers(&trace.config, last),
        Property::FirstComeFirstServed => {
            let queue = acting_queue(before);
            let ahead: Vec<_> = queue.iter().take_while(|waiter| **waiter != actor_of_queue(&actor)).cloned().collect();
            format!("{actor} is granted the lock, and {} came earlier, wait, and have time left", list(&ahead))
        }
        Property::DeadHeadPassed => {
            let queue = acting_queue(last);
            let dead = queue.first().map_or("the first one", String::as_str);
            format!("the deadline of {dead}, which is dead, is over; {}", sleepers(&trace.config, last))
        }
        Property::ReadersShare => format!("{actor} is refused, and nobody else has the lock for writing"),
        Property::RenewedWhileHeld => {
            let first = || acting_master_lock(before).map(|lock| lock.holder.as_str());
            let holder = expired_holder(&trace.config, before, last).or_else(first).unwrap_or("the holder");
            format!("{holder} runs, reaches the master and has a watchdog, but its lease expired")
        }
        Property::RenewalRateBounded => renewed_again(trace, &actor),
        Property::WaiterServed | Property::WriterServed => {
            let waiting = always(trace, |state| {
                let live = state.clients.iter().filter(|client| client.mode.is_alive());
                if trace.config.has_parts() {
                    // Such a client waits now for one part and now for another one.
                    let is_calling = |thread: &ThreadState| !matches!(thread.phase, Phase::Idle | Phase::Dead);
                    let waiting = live.filter(|client| client.threads.iter().any(is_calling));
                    return waiting.map(|client| client.name.clone()).collect();
                }
                if trace.config.asks_masters() {
                    // Such a client asks, releases what it was granted, and asks again.
                    let goes_on = |client: &ClientState| {
                        let is_calling = client.threads.iter().any(ThreadState::is_in_lock);
                        is_calling || client.call.as_ref().is_some_and(|call| call.goes_on)
                    };
                    return live.filter(|client| goes_on(client)).map(|client| client.name.clone()).collect();
                }
                let waiting = live.flat_map(|client| &client.threads).filter(|thread| thread.is_in_lock());
                waiting.map(|thread| thread.name.clone()).collect()
            });
            let waits = if waiting.len() == 1 { "waits" } else { "wait" };
            format!(
                "{} {waits} in every state of the loop, and no action that must happen ends the wait",
                list(&waiting)
            )
        }
        Property::FreedAfterCrash | Property::NoOrphan => {
            let stored = always(trace, |state| {
                let believes = |lock: &Hold| {
                    state.believers().any(|thread| thread.name == lock.holder && thread.value == lock.value)
                };
                let masters = state.nodes.iter().filter(|node| node.is_master() && trace.config.asks_masters());
                let stored = masters.chain(state.acting_master()).flat_map(|master| &master.stored.holders);
                let mut holders: Vec<_> =
                    stored.filter(|lock| !believes(lock)).map(|lock| lock.holder.clone()).collect();
                // Of several masters more than one may store it.
                holders.sort();
                holders.dedup();
                holders
            });
            let holder = list(&stored);
            if stored.len() > 1 {
                return Some(format!(
                    "masters store the lock for {holder} in every state of the loop, and none of these will release it"
                ));
            }
            format!("the lock stays {holder}'s in every state of the loop, and {holder} will not release it")
        }
        Property::NoDeadHead => {
            let queue = always(trace, acting_queue);
            let first = queue.first().map_or("nobody who will ask", String::as_str);
            format!("the lock is free in every state of the loop, and the first in its queue is {first}")
        }
        Property::Obtainable => format!(
            "whatever happens from here on without another fault, no client gets the lock{}",
            limits_of_grants(&trace.config)
        ),
        Property::ActionsReached => property.sentence().to_owned(),
    };
    Some(format!("{says}."))
}

/// Why a client that begins to believe has no valid grant of most masters.
fn grant_is_invalid(trace: &Trace, last: &State, actor: &str) -> String {
    let is_own = |hold: &Hold| lane_of(&hold.holder) == lane_of(actor) && hold.value == 0;
    // A master that was replaced, and runs, stores nothing that counts.
    let acts = |number: u8, node: &NodeState| {
        last.acting_master_beside(&trace.config, number).is_some_and(|acting| acting.name == node.name)
    };
    let nodes = (0u8..).zip(&last.nodes);
    let stores = nodes.filter(|(number, node)| acts(*number, node) && node.stored.holders.iter().any(is_own)).count();
    let masters = trace.config.cluster.groups;
    let client = last.clients.iter().position(|client| client.name == lane_of(actor));
    let own = client.and_then(|client| u8::try_from(client).ok()).map(|client| trace.config.of_client(client));
    let needed = own.map_or(trace.config.needed_masters(), |own| own.needed_masters());
    if stores < usize::from(needed) {
        return format!(
            "{actor} begins to believe that it holds, and {stores} of {masters} masters store the lock for it; {needed} must"
        );
    }
    format!("{actor} begins to believe that it holds, and nothing is left of its lease")
}

/// Whose lease has expired although it runs and believes: of several holders not any.
fn expired_holder<'a>(config: &Config, before: &'a State, last: &State) -> Option<&'a str> {
    let is_stored = |holder: &str| last.acting_master().is_some_and(|node| has_holder(node, holder));
    // One that renews: beside it another client may hold whose lease has ended as it should.
    let is_meant = |(number, client): &(u8, &ClientState)| {
        client.mode == ClientMode::Running && config.of_client(*number).time.renew_every.is_some()
    };
    let running = || (0u8..).zip(&before.clients).filter(is_meant);
    let believes = |holder: &str| {
        running().flat_map(|(_, client)| &client.threads).any(|thread| thread.believes() && thread.name == holder)
    };
    let holders = before.acting_master()?.stored.holders.iter().map(|lock| lock.holder.as_str());
    holders.into_iter().find(|holder| believes(holder) && !is_stored(holder))
}

fn has_holder(node: &NodeState, holder: &str) -> bool {
    node.stored.holders.iter().any(|lock| lock.holder == holder)
}

/// The client of a party: `A` of `A:first`.
fn lane_of(party: &str) -> &str {
    party.split_once(':').map_or(party, |(client, _)| client)
}

/// Which masters store the lock for a client that does not hold it.
fn key_left(last: &State, actor: &str) -> String {
    let is_own = |hold: &Hold| lane_of(&hold.holder) == lane_of(actor);
    let keep = last.nodes.iter().filter(|node| node.is_master() && node.stored.holders.iter().any(is_own));
    let names: Vec<_> = keep.map(|node| node.name.as_str()).collect();
    let stores = if names.len() == 1 { "stores" } else { "store" };
    format!("{} {stores} the lock for {actor}, whose call is over", list(&names))
}

/// Who sleeps beside a free lock, and what wakes it.
fn sleepers(config: &Config, last: &State) -> String {
    // Of several masters, the one for whose lock a client waits.
    let free_master = |client: &ClientState| {
        let is_asleep = client.mode == ClientMode::Running && client.permits == 0 && client.messages == 0;
        let waited = client.call.as_ref().filter(|_| is_asleep)?.waits_at.clone()?;
        let is_free = |node: &NodeState| node.name == waited && node.is_master() && !node.stored.is_held();
        last.nodes.iter().any(is_free).then_some(waited)
    };
    let asleep = last
        .clients
        .iter()
        .filter(|client| client.mode == ClientMode::Running && client.permits == 0 && client.messages == 0)
        .filter(|client| !config.asks_master_locks() || free_master(client).is_some())
        .flat_map(|client| &client.threads)
        .filter(|thread| thread.phase == Phase::Waiting && thread.wake_in != Some(0) && thread.wait_left != Some(0))
        .map(|thread| match thread.wake_in {
            Some(ticks) if thread.wait_left.is_some_and(|limit| limit <= ticks) => {
                let left = time(config, thread.wait_left.unwrap_or(ticks).into());
                format!("{} sleeps, and nothing wakes it before it gives up in {left}", thread.name)
            }
            Some(ticks) => {
                format!("{} sleeps, with only its timer to wake it in {}", thread.name, time(config, ticks.into()))
            }
            None => format!("{} sleeps, with nothing to wake it", thread.name),
        });
    if config.asks_master_locks() {
        let masters: BTreeSet<_> = last.clients.iter().filter_map(free_master).collect();
        let masters: Vec<_> = masters.into_iter().collect();
        return format!("the lock of {} is free, and {}", list(&masters), list(&asleep.collect::<Vec<_>>()));
    }
    let is_free = last.acting_master().is_none_or(|master| !master.stored.is_held());
    let state = match (is_free, config.has_parts()) {
        (true, _) => "the lock is free",
        (false, true) => "its part is free",
        (false, false) => "readers hold the lock and others may join them",
    };
    format!("{state}, and {}", list(&asleep.collect::<Vec<_>>()))
}

/// Who queues at the acting master, as Redis stores it.
fn acting_queue(state: &State) -> Vec<String> {
    state.acting_master().map_or_else(Vec::new, |master| master.stored.queue().to_vec())
}

/// A thread as the queue has it: clients of one thread are told without its number.
fn actor_of_queue(actor: &str) -> String {
    if actor.contains(':') { actor.to_owned() } else { format!("{actor}:1") }
}

/// Who believes.
fn believers(last: &State) -> String {
    let believers: Vec<_> = last.believers().map(|thread| thread.name.as_str()).collect();
    believers_text(&believers, "they hold")
}

/// Who believes, where readers may hold at once.
fn believers_beside_a_writer(last: &State) -> String {
    let believers: Vec<_> = last.believers().map(|thread| thread.name.as_str()).collect();
    let all = if believers.len() == 2 { "both" } else { "all" };
    format!("{} {all} believe they hold; whoever writes must be alone", list(&believers))
}

/// Which parts of the lock a client has left behind, whose call has ended.
fn parts_left(last: &State, actor: &str) -> String {
    let client = actor.split(':').next().unwrap_or(actor);
    let stored = last.acting_master().into_iter().flat_map(|master| &master.stored.holders);
    let left: Vec<_> = stored
        .filter(|hold| hold.holder.split(':').next() == Some(client))
        .map(|hold| format!("its {} part", hold.holder.split(':').nth(1).unwrap_or("only")))
        .collect();
    let are = if left.len() == 1 { "is" } else { "are" };
    format!("the call of {client} has ended, and {} {are} still stored for it", list(&left))
}

/// Who believes that they hold one and the same of several locks.
fn believers_in_one(config: &Config, last: &State) -> String {
    let believers: Vec<_> = last.believers().map(|thread| thread.name.as_str()).collect();
    let of_lock = |name: u8| -> Vec<_> {
        let numbered = last.clients.iter().filter_map(|client| client.threads.get(usize::from(name)));
        numbered.map(|thread| thread.name.as_str()).filter(|thread| believers.contains(thread)).collect()
    };
    let contested = (0..config.clients.names).map(|name| (name, of_lock(name))).find(|(_, holders)| holders.len() > 1);
    let Some((name, holders)) = contested else { return believers_text(&believers, "they hold") };
    believers_text(&holders, &format!("they hold {}", lock_name(name)))
}

fn believers_text(believers: &[&str], what: &str) -> String {
    let all = if believers.len() == 2 { "both" } else { "all" };
    format!("{} {all} believe {what}; at most 1 may", list(believers))
}

/// Who was granted what no replica has: by the answer to its `WAIT`, or without one.
fn unacknowledged(trace: &Trace) -> String {
    let Some(step) = trace.steps.last() else { return Property::GrantAcknowledged.sentence().to_owned() };
    let (last, holder) = (trace.state_after(trace.steps.len()), &step.lane);
    let master = last.nodes.iter().find(|node| node.stored.holder().is_some_and(|lock| lock.holder == *holder));
    let master = master.map_or("its master", |node| node.name.as_str());
    if matches!(step.answer, Reply::Acknowledged { .. }) {
        return format!("{holder} is content with 0 acknowledgements, and {master} has a replica");
    }
    format!("{holder} sends no WAIT with its grant, and {master} has a replica, which does not have the grant")
}

/// How long after its last renewal a client has renewed again.
fn renewed_again(trace: &Trace, client: &str) -> String {
    let since = trace.steps.split_last().and_then(|(last, earlier)| {
        let is_one = |step: &&TraceStep| {
            step.action == last.action && !matches!(step.answer, Reply::NothingToRenew | Reply::Unreachable)
        };
        Some(last.at_tick - earlier.iter().rev().find(is_one)?.at_tick)
    });
    match since {
        None | Some(0) => format!("{client} renews twice at one instant"),
        Some(ticks) => format!("{client} renews only {} after its last renewal", time(&trace.config, ticks)),
    }
}

/// What keeps a master from granting the lock, or a client from getting it.
fn limits_of_grants(config: &Config) -> String {
    let mut needs = String::new();
    if config.cluster.min_replicas > 0 {
        let replicas = count(config.cluster.min_replicas.into(), "replica");
        needs = format!("; a master that has not heard of {replicas} refuses to write (min_replicas)");
    }
    if config.faults.refuse_writes > 0 {
        needs += "; a master whose last save failed refuses to write (refuse_writes)";
    }
    if config.can_lack_replicas() {
        needs += "; a grant that too few replicas acknowledge is undone (wait_for)";
    }
    if config.some_client(|own| own.clients.acquires.is_some()) {
        needs += "; only the acquires that are left count (acquires)";
    }
    needs
}

/// The names that are present in every state of the loop.
fn always(trace: &Trace, names: impl Fn(&State) -> Vec<String>) -> Vec<String> {
    let start = trace.loop_start.unwrap_or(trace.steps.len());
    let mut always = names(trace.state_after(start));
    for after in start..=trace.steps.len() {
        let here = names(trace.state_after(after));
        always.retain(|name| here.contains(name));
    }
    always
}

fn counts_differ(config: &Config, state: &State) -> String {
    let number_of = |thread: &ThreadState| {
        let client = state.clients.iter().find(|client| client.threads.iter().any(|one| one.name == thread.name));
        let number = client.and_then(|client| client.threads.iter().position(|one| one.name == thread.name));
        number.and_then(|number| u8::try_from(number).ok()).unwrap_or_default()
    };
    let Some(master) = state.acting_master() else {
        return "there is no master to compare with".to_owned();
    };
    let is_its_own = |lock: &Hold, thread: &ThreadState| lock.holder == thread.name && lock.value == thread.value;
    let stored_for = |thread: &ThreadState| {
        let own = master.stored.holders.iter().find(|lock| is_its_own(lock, thread));
        // Another holder of the same lock, where there are several.
        own.or_else(|| {
            master.stored.holder_under(if config.clients.names > 1 { Some(number_of(thread)) } else { None })
        })
    };
    let differing = state
        .believers()
        .find(|thread| stored_for(thread).is_none_or(|lock| !is_its_own(lock, thread) || lock.count != thread.holds));
    let found = differing.map_or_else(|| master.stored.holder(), stored_for);
    let stores = match (found, differing) {
        (None, _) => "stores no lock".to_owned(),
        (Some(lock), Some(thread)) if lock.holder == thread.name && lock.value != thread.value => {
            format!("stores what {} acquired earlier", lock.holder)
        }
        (Some(lock), Some(thread)) if lock.holder == thread.name => format!("stores {}", lock.count),
        (Some(lock), _) => format!("stores {} as holder", lock.holder),
    };
    let believes = differing.map_or_else(String::new, |thread| {
        format!("{} believes it holds {}; ", thread.name, count(thread.holds.into(), "time"))
    });
    format!("{believes}{} {stores}", master.name)
}

/// A stored holder, with its acquire where these are told apart.
fn holder_of(lock: &Hold) -> String {
    if lock.value == 0 { lock.holder.clone() } else { format!("{} by its acquire {}", lock.holder, lock.value) }
}

fn threads(state: &State) -> impl Iterator<Item = &ThreadState> {
    state.clients.iter().flat_map(|client| &client.threads)
}

fn acting_master(state: &State) -> Option<&str> {
    state.acting_master().map(|node| node.name.as_str())
}

fn acting_master_lock(state: &State) -> Option<&Hold> {
    state.acting_master()?.stored.holder()
}

/// Whose token is no larger than one that was told before.
fn repeated_token(trace: &Trace, actor: &str) -> String {
    let last = trace.state_after(trace.steps.len());
    match threads(last).find(|thread| thread.name == actor) {
        Some(thread) if trace.config.has_stored_tokens() => {
            let token = if thread.stored_token == 0 { "-1".to_owned() } else { thread.stored_token.to_string() };
            format!("{actor}'s new fencing token is {token}, and one that is not smaller was told before")
        }
        _ => format!("{actor}'s new fencing token is not greater than all before"),
    }
}

/// The holder before the last step; if there was no master then, the holder before the master crashed.
fn vanished_holder(trace: &Trace) -> Option<&str> {
    let last = trace.state_after(trace.steps.len());
    if (trace.config.clients.names > 1 || trace.config.shares())
        && let Some(before) = trace.steps.len().checked_sub(1).map(|steps| trace.state_after(steps))
    {
        let both = before.nodes.iter().zip(&last.nodes);
        let gone =
            both.flat_map(|(was, is)| was.stored.holders.iter().filter(|hold| !is.stored.is_held_by(&hold.holder)));
        return gone.map(|hold| hold.holder.as_str()).next();
    }
    let earlier = (0..trace.steps.len()).rev().map(|steps| trace.state_after(steps));
    let mut with_master = earlier.filter(|state| acting_master(state).is_some());
    with_master.find_map(acting_master_lock).map(|lock| lock.holder.as_str())
}
