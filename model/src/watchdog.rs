//! What keeps a lock alive: the process's renewal table and its timer.
//!
//! The table counts holds per thread; the watchdog asks for the thread that registered first, whoever of them the server
//! takes for the holder. Source: facts/redisson.md, "renewal timer", "renewal entry"; Redisson's `RenewalTask`,
//! `LockEntry`. One simplification: in 4.7 a timer that is left over from an emptied table runs beside the new one
//! until the process next has nothing to renew; here there is one timer with the older phase, so fewer renewals.

use crate::client;
use crate::config::{Config, FailedRenewal, MissedRenewal, RenewalTimer};
use crate::locks::Record;
use crate::mutants::Mutant;
use crate::step::{Happening, Happenings, Reply};
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
    process.renewal.due_in = period(config);

    let holder = Holder::new(client, process.renewal.first);
    let Some(node) = world.reachable(client) else {
        fail(config, world, client);
        return Some(Reply::Unreachable);
    };
    let before = world.node(node).record;
    let (record, is_renewed) = before.renew(config, holder);
    client::note_foreign(world, seen, before, record, holder);
    if is_renewed && let Some(refusal) = partition::refusal(config, world, node) {
        seen.note(Happening::WriteRefused);
        fail(config, world, client);
        return Some(refusal);
    }
    if is_renewed {
        seen.note(Happening::LeaseRenewed);
        replication::write(config, world, seen, node, record)?;
        return Some(Reply::Renewed);
    }
    seen.note(Happening::RenewalWasMissed);
    miss(config, world, seen, holder);
    Some(Reply::RenewalMissed)
}

/// An acquire was answered: there is one hold more to renew.
pub(crate) fn register(config: &Config, client: &mut Client, thread: u8) {
    if config.time.renew_every.is_none() {
        return;
    }
    let table = &mut client.renewal;
    if table.is_empty() {
        table.first = thread;
        // A timer left over from an emptied table keeps its phase.
        if table.due_in == Timer::OFF {
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

/// The renewal has no answer, or an error for one.
fn fail<R: Record, const C: usize, const N: usize>(config: &Config, world: &mut World<R, C, N>, client: u8) {
    if config.protocol.failed_renewal == FailedRenewal::Forget {
        world.client_mut(client).renewal = RenewalTable::EMPTY;
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
        MissedRenewal::StopTimer => process.renewal.due_in = Timer::OFF,
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
