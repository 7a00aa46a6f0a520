//! What a rule of the server side works on, and how a node executes a request.

use super::group::Group;
use super::layout::ServerLayout;
use crate::config::sections::Config;
use crate::locks::batch::RenewalBatch;
use crate::locks::contract::{HoldMode, Lock, LockReply, LockRequest, Publish, Requester, StoredToken, Writes};
use crate::locks::holder::Holder;
use crate::locks::receipts::{Receipt, ReceiptStore};
use crate::locks::stored::Stored;
use crate::mutants::Mutant;
use crate::notes::{Breach, Capacity, Happening, Notes};
use crate::reply::Reply;
use crate::time::Timer;

/// What a rule of the server side works on: the group, and what is noted. It knows nodes, locks and connections, never a
/// client.
pub(crate) struct Server<'a, Y: ServerLayout> {
    pub(crate) config: &'a Config,
    pub(crate) group: &'a mut Group<Y>,
    pub(crate) notes: &'a mut Notes,
}

/// What a node did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Executed {
    /// What it replies.
    pub(crate) reply: Reply,
    /// Of a grant: whether its holder entered once more.
    pub(crate) is_reentry: bool,
    /// Which unlock message was published on the node.
    pub(crate) published: Option<Publish>,
    /// The fencing token that it issued, where the kind keeps them in Redis.
    pub(crate) token: Option<StoredToken>,
}

/// What a node answers to a renewal of several locks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchAnswer {
    /// What it replies.
    pub(crate) reply: Reply,
    /// Those that are not held any more.
    pub(crate) missed: RenewalBatch,
}

impl Executed {
    const fn replying(reply: Reply) -> Self {
        Self { reply, is_reentry: false, published: None, token: None }
    }
}

impl<Y: ServerLayout> Server<'_, Y> {
    /// One request, executed by one node. `receipt`: the number of the receipt that a release leaves; 0: none. `brings_named`:
    /// it brings the lease that some calls of its client name. `None`: it cannot be executed yet (too many effects are under way, or there is no room
    /// for a receipt).
    pub(crate) fn execute(
        &mut self,
        node: u8,
        request: LockRequest,
        receipt: u8,
        brings_named: bool,
    ) -> Option<Executed> {
        if self.lacks_keys_of(node, request) {
            self.notes.happened(Happening::WriteRefused);
            return Some(Executed::replying(Reply::TryAgain));
        }
        let before = self.group.node(node).stored;
        if let LockRequest::Release(Requester { holder, .. }) = request
            && receipt > 0
            && !self.config.is_mutated(Mutant::ReceiptIgnored)
            && let Some(found) = before.receipts.find(holder, receipt)
        {
            self.notes.happened(Happening::ReceiptFound);
            return Some(Executed::replying(if found.freed { Reply::Released } else { Reply::StillHeld }));
        }
        let outcome = before.lock.execute(self.config.lock_context_for(request, brings_named), request);
        if let LockRequest::SetTtl(requester) | LockRequest::Renew(requester) | LockRequest::Release(requester) =
            request
        {
            self.note_foreign(&before, outcome.stored, request, requester);
        }
        if outcome.writes.is_command()
            && let Some(refusal) = self.refusal(node)
        {
            self.notes.happened(Happening::WriteRefused);
            let published = outcome.publish.filter(|_| outcome.publishes_first);
            if published.is_some() {
                self.notes.happened(Happening::Published);
            }
            return Some(Executed { published, ..Executed::replying(refusal) });
        }
        if outcome.token.is_some_and(|StoredToken(token)| token > self.config.room_for(Capacity::Tokens)) {
            self.notes.exceeded(Capacity::Tokens);
            return None;
        }
        if let LockRequest::Acquire(Requester { holder, .. }) = request
            && outcome.writes.any()
            && outcome.stored.holds_of(holder) > self.config.room_for(Capacity::Holds)
        {
            self.notes.exceeded(Capacity::Holds);
            return None;
        }
        self.note_readers(&before.lock, outcome.reply, request);
        let (reply, happening) = Self::reply_of(outcome.reply);
        // What one of several masters grants is no lock yet, and what it refuses no refusal.
        if let Some(happening) = happening.filter(|_| !Y::Lock::HAS_SEVERAL_MASTERS) {
            self.notes.happened(happening);
        }
        let published = outcome.publish.filter(|_| !self.config.is_mutated(Mutant::ReleaseWithoutMessage));
        self.note_queue(&before.lock, &outcome.stored, request);
        if outcome.writes.any() {
            let receipts = match (request, reply) {
                (LockRequest::Release(Requester { holder, .. }), Reply::Released | Reply::StillHeld) if receipt > 0 => {
                    let freed = reply == Reply::Released;
                    let remaining = Timer::ticks(self.config.settings_of(holder.client()).calls.receipt);
                    let left = Receipt { holder, id: receipt, freed, remaining };
                    let room = self.config.room_for(Capacity::Receipts);
                    let Some(receipts) = before.receipts.without(holder, receipt).with(left, room) else {
                        self.notes.exceeded(Capacity::Receipts);
                        return None;
                    };
                    receipts
                }
                _ => before.receipts,
            };
            self.write_with(node, Stored { lock: outcome.stored, receipts }, outcome.writes, published.is_some())?;
        }
        if published.is_some() {
            self.notes.happened(Happening::Published);
        }
        let is_reentry = outcome.reply == LockReply::Reentered;
        Some(Executed { reply, is_reentry, published, token: outcome.token })
    }

    /// One script that renews these locks of a client, one after the other. One that is no lock ends the script with an error;
    /// what was renewed before it stays renewed (docs/facts/redisson.md#several-locks-in-one-renewal). `None`: it cannot be
    /// executed yet.
    pub(crate) fn renew_batch(&mut self, node: u8, client: u8, batch: RenewalBatch) -> Option<BatchAnswer> {
        let lacks_key = |thread| {
            let request = LockRequest::Renew(Requester::of(Holder::new(client, thread)));
            self.lacks_keys_of(node, request)
        };
        if batch.threads().any(lacks_key) {
            self.notes.happened(Happening::WriteRefused);
            return Some(BatchAnswer { reply: Reply::TryAgain, missed: RenewalBatch::EMPTY });
        }
        let before = self.group.node(node).stored;
        let (mut lock, mut writes) = (before.lock, Writes::NONE);
        let (mut missed, mut failed) = (RenewalBatch::EMPTY, None);
        for thread in batch.threads() {
            let requester = Requester::of(Holder::new(client, thread));
            let request = LockRequest::Renew(requester);
            let outcome = lock.execute(self.config.lock_context_for(request, false), request);
            self.note_foreign(&Stored { lock, ..before }, outcome.stored, request, requester);
            if outcome.writes.is_command()
                && let Some(refusal) = self.refusal(node)
            {
                self.notes.happened(Happening::WriteRefused);
                return Some(BatchAnswer { reply: refusal, missed: RenewalBatch::EMPTY });
            }
            match outcome.reply {
                LockReply::WrongType => {
                    failed = Some(Reply::WrongType);
                    break;
                }
                LockReply::RenewalFailed => {
                    failed = Some(Reply::RenewalFailed);
                    (lock, writes) = (outcome.stored, writes.and(outcome.writes));
                    break;
                }
                LockReply::Renewed => self.notes.happened(Happening::LeaseRenewed),
                _ => {
                    self.notes.happened(Happening::RenewalWasMissed);
                    missed = missed.with(thread);
                }
            }
            (lock, writes) = (outcome.stored, writes.and(outcome.writes));
            if self.config.is_mutated(Mutant::BatchRenewsFirstOnly) {
                break;
            }
        }
        if writes.any() {
            self.write(node, Stored { lock, ..before }, writes)?;
        }
        if let Some(reply) = failed {
            return Some(BatchAnswer { reply, missed: RenewalBatch::EMPTY });
        }
        let reply = match missed.threads().next() {
            None => Reply::Renewed,
            Some(_) if missed == batch => Reply::RenewalMissed,
            Some(missed) => Reply::RenewedInPart { missed },
        };
        Some(BatchAnswer { reply, missed })
    }

    /// What the caller is told, and what is noted.
    const fn reply_of(reply: LockReply) -> (Reply, Option<Happening>) {
        match reply {
            LockReply::Acquired => (Reply::Acquired, Some(Happening::Granted)),
            LockReply::Reentered => (Reply::Acquired, Some(Happening::Reentered)),
            LockReply::Busy { remaining } => {
                (Reply::Busy { remaining_ticks: remaining.left() }, Some(Happening::Refused))
            }
            LockReply::TtlSet => (Reply::TtlSet, None),
            LockReply::NoTtlSet => (Reply::NoTtlSet, None),
            LockReply::Renewed => (Reply::Renewed, Some(Happening::LeaseRenewed)),
            LockReply::RenewalMissed => (Reply::RenewalMissed, Some(Happening::RenewalWasMissed)),
            LockReply::Released => (Reply::Released, None),
            LockReply::StillHeld => (Reply::StillHeld, None),
            LockReply::NotHeld => (Reply::NotHeld, None),
            LockReply::WrongType => (Reply::WrongType, None),
            LockReply::RenewalFailed => (Reply::RenewalFailed, None),
            LockReply::ForceReleased => (Reply::ForceReleased, None),
            LockReply::NothingToRelease => (Reply::NothingToRelease, None),
            LockReply::LeftQueue => (Reply::LeftQueue, None),
            LockReply::SaysHeld => (Reply::SaysHeld, None),
            LockReply::SaysNotHeld => (Reply::SaysNotHeld, None),
        }
    }

    /// A release or a renewal is foreign if the node stores no hold of this holder and acquire. Notes that one was tried, and
    /// whether it changed anything.
    fn note_foreign(
        &mut self,
        before: &Stored<Y::Lock, Y::Receipts>,
        after: Y::Lock,
        request: LockRequest,
        requester: Requester,
    ) {
        if before.lock.has_all_of(self.config.lock_context_for(request, false), requester) {
            return;
        }
        self.notes.happened(Happening::ForeignAttempt);
        // That heads of the queue are removed is no change of the lock.
        if before.lock != after.with_untimed_of(before.lock) {
            self.notes.broke(Breach::ForeignChange);
        }
    }

    /// Notes that a reader was granted the lock beside another one, or refused where it need not be.
    fn note_readers(&mut self, before: &Y::Lock, reply: LockReply, request: LockRequest) {
        if !Y::Lock::FACTS.sharing.is_there() {
            return;
        }
        let LockRequest::Acquire(Requester { holder, .. }) = request else { return };
        if Y::Lock::mode_of(holder) == HoldMode::Exclusive {
            return;
        }
        let mut holders = before.holders().map(|hold| hold.by.holder);
        match reply {
            LockReply::Busy { .. } if before.holders().all(|hold| Y::Lock::go_together(holder, hold.by.holder)) => {
                self.notes.broke(Breach::ReaderRefused);
            }
            LockReply::Acquired | LockReply::Reentered if holders.any(|other| other.client() != holder.client()) => {
                self.notes.happened(Happening::ReadersShared);
            }
            _ => {}
        }
    }

    /// Notes what a request did to the queue, where there is one.
    fn note_queue(&mut self, before: &Y::Lock, after: &Y::Lock, request: LockRequest) {
        let stays =
            |holder: Holder| request.caller() == Some(holder) || after.queue().any(|other| other.holder == holder);
        let clock_ahead_ticks = request.caller().map_or(0, |holder| self.config.clock_ahead_of(holder.client()));
        if before.queue().any(|waiter| waiter.left_ticks <= clock_ahead_ticks && !stays(waiter.holder)) {
            self.notes.happened(Happening::DeadHeadRemoved);
        }
    }
}
