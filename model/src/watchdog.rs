//! What keeps a lock alive: the process's renewal table and its timer.
//!
//! The table counts holds per thread; the watchdog asks for the thread that registered first, whoever of them the server
//! takes for the holder. Source: facts/redisson.md, "renewal timer", "renewal entry"; Redisson's `RenewalTask`,
//! `LockEntry`. One simplification: in 4.7 a timer that is left over from an emptied table runs beside the new one
//! until the process next has nothing to renew; here there is one timer with the older phase, so fewer renewals.

use crate::call;
use crate::client;
use crate::config::{Config, FailedRenewal, MissedRenewal, RenewalTimer};
use crate::locks::Record;
use crate::mutants::Mutant;
use crate::step::{Happening, Happenings, Reply};
use crate::wire::Wire;
use crate::world::{Client, Holder, RenewalTable, Thread, Timer, World};
use crate::{partition, replication};

pub(crate) fn renew<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    client: u8,
) -> Option<Reply> {
    let process = world.client_mut(client);
    if !process.is_running() || !process.renewal.due_in.is_due() {
        return None;
    }
    if process.renewal.is_empty() {
        process.renewal.due_in = Timer::OFF;
        return Some(Reply::NothingToRenew);
    }
    // It is set again by the answer, or by the lack of one.
    process.renewal.due_in = Timer::OFF;
    let holder = Holder::new(client, process.renewal.first);
    let Some(node) = world.reachable(client) else {
        abandon_renewal(config, world, client);
        return Some(Reply::Unreachable);
    };
    if R::Wire::IS_SPLIT {
        return call::send_renewal(config, world, holder);
    }
    let reply = execute_renewal(config, world, seen, node, holder)?;
    hear_renewal(config, world, seen, holder, (reply, false));
    Some(reply)
}

/// One renewal on a node.
pub(crate) fn execute_renewal<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    node: u8,
    holder: Holder,
) -> Option<Reply> {
    let before = world.node(node).record;
    let (record, is_renewed) = before.renew(config, holder);
    client::note_foreign(world, seen, before, record, holder);
    if is_renewed && let Some(refusal) = partition::refusal(config, world, node) {
        seen.note(Happening::WriteRefused);
        return Some(refusal);
    }
    if is_renewed {
        seen.note(Happening::LeaseRenewed);
        replication::write(config, world, seen, node, record)?;
        return Some(Reply::Renewed);
    }
    seen.note(Happening::RenewalWasMissed);
    Some(Reply::RenewalMissed)
}

/// What the reply to a renewal does to the table. However late it comes, it is about the thread that was asked for:
/// what that thread has released and taken since is not looked at (Redisson: `LockTask.renew`), unless the protocol says
/// that a stale answer is ignored.
pub(crate) fn hear_renewal<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    holder: Holder,
    (reply, is_stale): (Reply, bool),
) {
    if matches!(reply, Reply::ReadOnly | Reply::NotEnoughReplicas) {
        // An error is no answer.
        return abandon_renewal(config, world, holder.client());
    }
    let is_missed = reply == Reply::RenewalMissed && !is_stale;
    if !is_missed || config.protocol.missed_renewal != MissedRenewal::StopTimer {
        rearm(config, &mut world.client_mut(holder.client()).renewal);
    }
    if is_missed {
        miss(config, world, seen, holder);
    }
}

/// A renewal has no answer.
pub(crate) fn abandon_renewal<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    client: u8,
) {
    let table = &mut world.client_mut(client).renewal;
    match config.protocol.failed_renewal {
        FailedRenewal::Retry => rearm(config, table),
        FailedRenewal::Forget => *table = RenewalTable::EMPTY,
    }
}

/// The next renewal is a period after the answer to this one. A timer of its own for each lock is gone with its entry,
/// and runs if the lock was taken anew meanwhile.
fn rearm(config: &Config, table: &mut RenewalTable) {
    let is_gone = config.protocol.renewal_timer == RenewalTimer::PerLock && table.is_empty();
    if table.due_in == Timer::OFF && !is_gone {
        table.due_in = period(config);
    }
}

/// An acquire was answered: there is one hold more to renew. `is_renewing`: the shared timer waits for an answer.
pub(crate) fn register(config: &Config, client: &mut Client, thread: u8, is_renewing: bool) {
    if config.time.renew_every.is_none() {
        return;
    }
    let table = &mut client.renewal;
    if table.is_empty() {
        table.first = thread;
        // A timer left over from an emptied table keeps its phase; one whose renewal is in flight begins with the answer.
        if table.due_in == Timer::OFF && !is_renewing {
            table.due_in = period(config);
        }
    }
    table.counts[usize::from(thread)] += 1;
}

/// A release was answered: there is one hold less to renew.
pub(crate) fn unregister(config: &Config, client: &mut Client, thread: u8) {
    let left = client.renewal.counts[usize::from(thread)].saturating_sub(1);
    set_count(config, &mut client.renewal, thread, left);
}

/// A thread has nothing left to renew.
pub(crate) fn forget(config: &Config, client: &mut Client, thread: u8) {
    set_count(config, &mut client.renewal, thread, 0);
}

fn set_count(config: &Config, table: &mut RenewalTable, thread: u8, count: u8) {
    table.counts[usize::from(thread)] = count;
    if count == 0 && table.first == thread {
        // With two threads the other one, if it is there, is the first now.
        table.first = if table.is_empty() { 0 } else { 1 - thread };
    }
    if table.is_empty() && config.protocol.renewal_timer == RenewalTimer::PerLock {
        table.due_in = Timer::OFF;
    }
}

/// The server says that the lock is not this thread's any more.
fn miss<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    holder: Holder,
) {
    let process = world.client_mut(holder.client());
    match config.protocol.missed_renewal {
        MissedRenewal::LowerFirst => unregister(config, process, holder.thread()),
        // It was not set again. Where the lock was taken anew meanwhile, the timer of that entry runs on.
        MissedRenewal::StopTimer => {}
        MissedRenewal::TellHolder => {
            forget(config, process, holder.thread());
            let thread = world.thread_mut(holder);
            if thread.believes() {
                seen.note(Happening::HolderTold);
                // A thread that was re-entering goes on waiting: it may yet be granted, as a first hold.
                *thread = Thread { holds: 0, token: 0, hold_left: Timer::OFF, ..*thread };
            }
        }
    }
}

fn period(config: &Config) -> Timer {
    let period = config.time.renew_every;
    if config.is_mutated(Mutant::WatchdogTooSlow) {
        return Timer::ticks(config.time.lease + 1);
    }
    Timer::optional(period)
}
