//! Who uses the lock: `[clients]`, and what single clients have of their own, `[[client]]`.

use core::ops::Range;

use lockstep_model::config::{
    AcquireRule, AfterRefusal, AnsweredReceipt, Calls, ClientRole, ClientSettings, Clients, Downgrade, ElapsedTime,
    ExtendRule, FailedPart, FailedRenewal, FinalLease, HeldQuery, InterruptedCall, InterruptedWait, InterruptedWaiter,
    LockKind, LockObjects, MAX_ACQUIRES, MAX_CLIENTS, MAX_HOLDS, MAX_THREADS, MAX_TICKS, MissedRenewal, NeededMasters,
    NoTtlAnswer, PartOrder, PartialRelease, Profile, Protocol, ReadRelease, ReadRenewal, RefusedLease, ReleaseRule,
    RememberedLease, RenewalTimer, Resend, RoundLease, StopsAt, SubscribeTo, Time, TokenRule, ValueRule, ValueSet,
    WaitAfter, WaitRule,
};
use lockstep_model::limits::{MAX_NAMES, RENEWAL_BATCH};

use super::calls;
use super::code::Code;
use super::contradiction::Contradiction;
use super::error::Problem;
use super::parts::{Parts, Sections};
use super::places::common;
use super::section::{Entry, Section};

impl Sections<'_> {
    /// `[clients]`.
    pub(super) fn clients(&self, kind: Option<LockKind>) -> Option<Clients> {
        let clients = &self.clients;
        let count = clients.number("count", 1..=MAX_CLIENTS);
        let threads = clients.number("threads", 1..=MAX_THREADS);
        let names = clients.number("names", 1..=MAX_NAMES);
        let max_holds = clients.number("max_holds", 1..=MAX_HOLDS);
        let acquires = clients.number("acquires", 0..=MAX_ACQUIRES);
        let hold_for_ever = clients.flag("hold_for_ever");
        let interrupted_wait = clients.word("interrupted_wait", "effect of an interrupt", &INTERRUPTED_WAITS);
        let lock_objects = clients.word("lock_objects", "use of lock objects", &LOCK_OBJECTS);
        let parts = clients.word("parts", "order of the parts", &PART_ORDERS);
        let after_refusal = clients.word("after_refusal", "reaction to a refusal", &AFTER_REFUSALS);
        let stops_at = clients.word("stops_at", "rule for stopping", &STOPS_AT);
        // A lock of two parts has two names, and each client a thread for each.
        let usual = if kind.is_some_and(|kind| kind.facts().parts.is_there()) { MAX_NAMES } else { 1 };
        Some(Clients {
            count: self.count(&count)?,
            threads: threads.or(usual)?,
            names: names.or(usual)?,
            max_holds: max_holds.or(1)?,
            acquires: acquires.optional().or(None)?,
            hold_for_ever: hold_for_ever.or(false)?,
            lock_objects: lock_objects.or(LockObjects::PerCall)?,
            interrupted_wait: interrupted_wait.or(InterruptedWait::Leave)?,
            after_refusal: after_refusal.or(AfterRefusal::Leave)?,
            stops_at: stops_at.or(StopsAt::Never)?,
            role: ClientRole::Both,
            parts: parts.or(PartOrder::InOrder)?,
            values: ValueSet::ALL,
            clock_ahead: 0,
        })
    }

    /// How many clients there are: as many as there are tables, unless the file says it.
    fn count(&self, said: &Entry<u8>) -> Option<u8> {
        let tables = self.client.as_ref()?;
        if let Entry::Absent = said
            && tables.is_empty()
        {
            let example = "`count = 2`, the number of processes that use the lock";
            return self.clients.require("count", said.clone(), example).or(0);
        }
        let count = said.optional().or(None)?;
        let most = count.unwrap_or(MAX_CLIENTS);
        if let Some(excess) = tables.get(usize::from(most)) {
            let tables = tables.len();
            let span = excess.span().unwrap_or_default();
            let problem = if let Some((count, said)) = said.given() {
                let title = format!("there are {tables} tables [[client]], but `count` is {count}");
                Problem::at(Code::Impossible, span, title)
                    .label("this client is one too many")
                    .also(said, "this is the number of clients")
                    .help("raise `count` in [clients], leave it out, or remove a table")
            } else {
                let title = format!("there are {tables} tables [[client]], and at most {MAX_CLIENTS} clients");
                Problem::at(Code::OutOfBounds, span, title).label("this client is one too many")
            };
            self.clients.note::<()>(problem);
            return None;
        }
        count.or_else(|| u8::try_from(tables.len()).ok())
    }

    /// What each client has: the common settings, and what its table says otherwise.
    pub(super) fn settings(
        &self,
        time: Option<Time>,
        clients: Option<Clients>,
        protocol: Option<Protocol>,
        calls: Option<Calls>,
    ) -> Option<Vec<ClientSettings>> {
        let common = common(time, clients, protocol, calls);
        // Every table is read before any is needed, so that all their problems are found.
        let own: Vec<_> = self.client.iter().flatten().map(|table| self.own(table, common)).collect();
        let (count, common) = (usize::from(clients?.count), common?);
        let mut settings = own.into_iter().collect::<Option<Vec<_>>>()?;
        settings.resize(count, common);
        Some(settings)
    }

    /// What one client has.
    fn own(&self, table: &Section<'_>, common: Option<ClientSettings>) -> Option<ClientSettings> {
        let lease = table.ticks("lease", 1..=MAX_TICKS);
        let reentry_lease = table.ticks_or_none("reentry_lease", 1..=MAX_TICKS);
        let renew_every = table.ticks_or_none("renew_every", 1..=MAX_TICKS);
        let wait_limit = table.ticks_or_none("wait_limit", 0..=MAX_TICKS);
        let hold_at_most = table.ticks_or_none("hold_at_most", 1..=MAX_TICKS);
        let acquires = table.number("acquires", 0..=MAX_ACQUIRES);
        let role = table.word("role", "role", &ROLES);
        let parts = table.word("parts", "order of the parts", &PART_ORDERS);
        let values = table.values("values");
        let clock_ahead = table.ticks("clock_ahead", 0..=MAX_TICKS);
        let otherwise = common.map_or(Profile::Redisson47.protocol(), |common| common.protocol);
        let protocol = protocol(table, otherwise).map(|own| own.with_rules_of(otherwise));
        let common_calls = common.map_or(Calls::DEFAULT, |common| common.calls);
        // A profile brings its own switches. What is sent again, and when, is of the deployment.
        let otherwise = match table.span_of("profile").and(protocol) {
            Some(protocol) => Calls {
                answer_within: common_calls.answer_within,
                resend: common_calls.resend,
                retry_attempts: common_calls.retry_attempts,
                ..calls::of_profile(Some(protocol.profile))
            },
            // Those that send nothing again have no reaction to a refusal.
            None if common_calls.resend != Resend::All => {
                let Calls { refused_call, .. } = calls::of_profile(protocol.map(|protocol| protocol.profile));
                Calls { refused_call, ..common_calls }
            }
            None => common_calls,
        };
        let receipt_said = self.time.span_of("receipt").map(|_| common_calls.receipt);
        let calls = calls::read((table, table), otherwise, receipt_said, self.resource.span().is_some());
        let common = common?;
        Some(ClientSettings {
            lease: lease.or(common.lease)?,
            reentry_lease: reentry_lease.or(common.reentry_lease)?,
            renew_every: renew_every.or(common.renew_every)?,
            wait_limit: wait_limit.or(common.wait_limit)?,
            hold_at_most: hold_at_most.or(common.hold_at_most)?,
            acquires: acquires.optional().or(common.acquires)?,
            role: role.or(common.role)?,
            parts: parts.or(common.parts)?,
            values: values.or(common.values)?,
            clock_ahead: clock_ahead.or(common.clock_ahead)?,
            protocol: protocol?,
            calls: calls?,
        })
    }
}

/// The switches in this table. `otherwise`: what they are without a profile.
pub(super) fn protocol(section: &Section<'_>, otherwise: Protocol) -> Option<Protocol> {
    let profiles = Profile::ALL.map(|profile| (profile.name(), profile));
    let profile = section.word_or_near("profile", "profile", &profiles, |word| {
        let version = word.strip_prefix("redisson-");
        version.map_or_else(|| Profile::of_library(word), Profile::of_redisson).map(Profile::name)
    });
    let receipts = section.flag("receipts");
    let answered_receipt = section.word("answered_receipt", "end of a receipt", &ANSWERED_RECEIPTS);
    let partial_release = section.word("partial_release", "effect of a partial release", &PARTIAL_RELEASES);
    let renewal_timer = section.word("renewal_timer", "renewal timer", &RENEWAL_TIMERS);
    let renewal_batch = section.number("renewal_batch", 1..=RENEWAL_BATCH);
    let missed_renewal = section.word("missed_renewal", "reaction to a missed renewal", &MISSED_RENEWALS);
    let failed_renewal = section.word("failed_renewal", "reaction to a failed renewal", &FAILED_RENEWALS);
    let remembered_lease = section.word("remembered_lease", "memory of a lock object", &REMEMBERED_LEASES);
    let wait_rules = [("any", WaitRule::Any), ("all", WaitRule::All), ("ignored", WaitRule::Ignored)];
    let wait_rule = section.word("wait_rule", "rule for WAIT", &wait_rules);
    let wait_after = section.word("wait_after", "place of a WAIT", &WAIT_AFTER);
    let value = section.word("value", "rule for values", &VALUE_RULES);
    let acquire = section.word("acquire", "rule for acquires", &ACQUIRE_RULES);
    let release = section.word("release", "rule for releases", &RELEASE_RULES);
    let extend = section.word("extend", "rule for extensions", &EXTEND_RULES);
    let refused_lease = section.word("refused_lease", "memory of a refused call", &REFUSED_LEASES);
    let round_lease = section.word("round_lease", "lease of a later round", &ROUND_LEASES);
    let final_lease = section.word("final_lease", "lease at the end of an acquire", &FINAL_LEASES);
    let failed_part = section.word("failed_part", "effect of a failed release of a part", &FAILED_PARTS);
    let needed_masters = section.word("needed_masters", "number of masters that a call needs", &NEEDED_MASTERS);
    let interrupted_call = section.word("interrupted_call", "effect of an interrupt on a call", &INTERRUPTED_CALLS);
    let read_release = section.word("read_release", "effect of a read release", &READ_RELEASES);
    let token = section.word("token", "rule for tokens", &TOKEN_RULES);
    let no_ttl_answer = section.word("no_ttl_answer", "reading of an answer without a TTL", &NO_TTL_ANSWERS);
    let held_query = section.word("held_query", "question whether it is held", &HELD_QUERIES);
    let read_renewal = section.word("read_renewal", "renewal of a reader", &READ_RENEWALS);
    let downgrade = section.word("downgrade", "message of a downgrade", &DOWNGRADES);
    let elapsed_time = section.word("elapsed_time", "use of the elapsed time", &ELAPSED_TIMES);
    let interrupted_waiter = section.word("interrupted_waiter", "place of an interrupted waiter", &INTERRUPTED_WAITERS);
    let subscribe_to = section.word("subscribe_to", "place of a subscription", &SUBSCRIBE_TO);
    let switches = profile.optional().or(None)?.map_or(otherwise, Profile::protocol);
    Some(Protocol {
        profile: switches.profile,
        receipts: receipts.or(switches.receipts)?,
        answered_receipt: answered_receipt.or(switches.answered_receipt)?,
        partial_release: partial_release.or(switches.partial_release)?,
        renewal_timer: renewal_timer.or(switches.renewal_timer)?,
        renewal_batch: renewal_batch.or(switches.renewal_batch)?,
        missed_renewal: missed_renewal.or(switches.missed_renewal)?,
        failed_renewal: failed_renewal.or(switches.failed_renewal)?,
        remembered_lease: remembered_lease.or(switches.remembered_lease)?,
        wait_rule: wait_rule.or(switches.wait_rule)?,
        // No profile sets it: only some worlds can have what Redisson does.
        wait_after: wait_after.or(otherwise.wait_after)?,
        value: value.or(switches.value)?,
        acquire: acquire.or(switches.acquire)?,
        release: release.or(switches.release)?,
        extend: extend.or(switches.extend)?,
        refused_lease: refused_lease.or(switches.refused_lease)?,
        round_lease: round_lease.or(switches.round_lease)?,
        final_lease: final_lease.or(switches.final_lease)?,
        failed_part: failed_part.or(switches.failed_part)?,
        needed_masters: needed_masters.or(switches.needed_masters)?,
        interrupted_call: interrupted_call.or(switches.interrupted_call)?,
        read_release: read_release.or(switches.read_release)?,
        token: token.or(switches.token)?,
        no_ttl_answer: no_ttl_answer.or(switches.no_ttl_answer)?,
        held_query: held_query.or(switches.held_query)?,
        read_renewal: read_renewal.or(switches.read_renewal)?,
        downgrade: downgrade.or(switches.downgrade)?,
        elapsed_time: elapsed_time.or(switches.elapsed_time)?,
        interrupted_waiter: interrupted_waiter.or(switches.interrupted_waiter)?,
        // Nor this: it is of the deployment.
        subscribe_to: subscribe_to.or(otherwise.subscribe_to)?,
    })
}

/// Records what contradicts itself in the settings of one client. What concerns requests is with the other contradictions of
/// such keys (`calls`, `impossible`).
pub(super) fn note(parts: &Parts, sections: &Sections<'_>) {
    let (Some(settings), Some(clients)) = (&parts.settings, parts.clients) else { return };
    for (own, table) in settings.iter().zip(sections.client.iter().flatten()) {
        let either = |key: &str| -> Option<Range<usize>> { table.span_of(key).or(sections.time.span_of(key)) };
        // As for all clients, equal values are allowed (`impossible`). Two values of [time] are reported there.
        if own.renew_every.is_some_and(|period| period > own.lease) {
            let (key, other, label) = if table.span_of("renew_every").is_some() {
                ("renew_every", "lease", "the lease is shorter than the renewal period")
            } else {
                ("lease", "renew_every", "the renewal period is longer than the lease")
            };
            Contradiction::of(table, key, "the lease of this client would expire before its first renewal")
                .with(either(other), label)
                .note("renew at a third of the lease, or use renew_every = \"none\" for this client: no watchdog");
        }
        if clients.hold_for_ever && own.hold_at_most.is_some() {
            Contradiction::of(table, "hold_at_most", "a holder cannot both release in time and hold for ever")
                .with(sections.clients.span_of("hold_for_ever"), "a holder may hold for ever")
                .note("remove one of the two keys");
        }
    }
}

const RENEWAL_TIMERS: [(&str, RenewalTimer); 3] =
    [("per-lock", RenewalTimer::PerLock), ("shared", RenewalTimer::Shared), ("multiplying", RenewalTimer::Multiplying)];
const WAIT_AFTER: [(&str, WaitAfter); 3] = [
    ("grants", WaitAfter::Grants),
    ("grants-and-renewals", WaitAfter::GrantsAndRenewals),
    ("every-call", WaitAfter::EveryCall),
];
const ANSWERED_RECEIPTS: [(&str, AnsweredReceipt); 2] =
    [("delete", AnsweredReceipt::Delete), ("keep", AnsweredReceipt::Keep)];
const PARTIAL_RELEASES: [(&str, PartialRelease); 2] =
    [("lower", PartialRelease::Lower), ("ignore", PartialRelease::Ignore)];
const MISSED_RENEWALS: [(&str, MissedRenewal); 4] = [
    ("lower-first", MissedRenewal::LowerFirst),
    ("stop-timer", MissedRenewal::StopTimer),
    ("forget", MissedRenewal::Forget),
    ("tell-holder", MissedRenewal::TellHolder),
];
const REMEMBERED_LEASES: [(&str, RememberedLease); 2] =
    [("until-released", RememberedLease::UntilReleased), ("for-good", RememberedLease::ForGood)];
const LOCK_OBJECTS: [(&str, LockObjects); 2] = [("per-call", LockObjects::PerCall), ("shared", LockObjects::Shared)];
const INTERRUPTED_WAITS: [(&str, InterruptedWait); 2] =
    [("leave", InterruptedWait::Leave), ("swallow", InterruptedWait::Swallow)];
const AFTER_REFUSALS: [(&str, AfterRefusal); 2] =
    [("leave", AfterRefusal::Leave), ("ask-if-held", AfterRefusal::AskIfHeld)];
const HELD_QUERIES: [(&str, HeldQuery); 2] =
    [("later-values", HeldQuery::LaterValues), ("every-value", HeldQuery::EveryValue)];
const STOPS_AT: [(&str, StopsAt); 2] = [("never", StopsAt::Never), ("validity", StopsAt::Validity)];
const VALUE_RULES: [(&str, ValueRule); 2] =
    [("per-acquire", ValueRule::PerAcquire), ("per-client", ValueRule::PerClient)];
const ACQUIRE_RULES: [(&str, AcquireRule); 3] = [
    ("set-nx-px", AcquireRule::SetNxPx),
    ("setnx-expire", AcquireRule::SetnxExpire),
    ("own-or-free", AcquireRule::OwnOrFree),
];
const RELEASE_RULES: [(&str, ReleaseRule); 2] = [("compare", ReleaseRule::Compare), ("delete", ReleaseRule::Delete)];
const EXTEND_RULES: [(&str, ExtendRule); 2] = [("compare", ExtendRule::Compare), ("overwrite", ExtendRule::Overwrite)];
const REFUSED_LEASES: [(&str, RefusedLease); 2] =
    [("remembered", RefusedLease::Remembered), ("ignored", RefusedLease::Ignored)];
const ROUND_LEASES: [(&str, RoundLease); 2] = [("multiplied", RoundLease::Multiplied), ("kept", RoundLease::Kept)];
const FINAL_LEASES: [(&str, FinalLease); 2] = [("any-hold", FinalLease::AnyHold), ("own-hold", FinalLease::OwnHold)];
const FAILED_PARTS: [(&str, FailedPart); 2] = [("stops", FailedPart::Stops), ("goes-on", FailedPart::GoesOn)];
const NEEDED_MASTERS: [(&str, NeededMasters); 2] = [("most", NeededMasters::Most), ("all", NeededMasters::All)];
const INTERRUPTED_CALLS: [(&str, InterruptedCall); 2] =
    [("goes-on", InterruptedCall::GoesOn), ("ends", InterruptedCall::Ends)];
const PART_ORDERS: [(&str, PartOrder); 4] = [
    ("in-order", PartOrder::InOrder),
    ("reversed", PartOrder::Reversed),
    ("first-only", PartOrder::FirstOnly),
    ("second-only", PartOrder::SecondOnly),
];
const READ_RELEASES: [(&str, ReadRelease); 2] =
    [("ends-write-renewal", ReadRelease::EndsWriteRenewal), ("own-renewal", ReadRelease::OwnRenewal)];
const TOKEN_RULES: [(&str, TokenRule); 2] =
    [("with-grant", TokenRule::WithGrant), ("read-later", TokenRule::ReadLater)];
const NO_TTL_ANSWERS: [(&str, NoTtlAnswer); 2] = [("grant", NoTtlAnswer::Grant), ("refusal", NoTtlAnswer::Refusal)];
const READ_RENEWALS: [(&str, ReadRenewal); 3] = [
    ("own-holds", ReadRenewal::OwnHolds),
    ("all-holds", ReadRenewal::AllHolds),
    ("fails-nested", ReadRenewal::FailsNested),
];
const DOWNGRADES: [(&str, Downgrade); 2] = [("silent", Downgrade::Silent), ("publishes", Downgrade::Publishes)];
const ELAPSED_TIMES: [(&str, ElapsedTime); 2] = [("checked", ElapsedTime::Checked), ("ignored", ElapsedTime::Ignored)];
const INTERRUPTED_WAITERS: [(&str, InterruptedWaiter); 2] =
    [("stays-queued", InterruptedWaiter::StaysQueued), ("leaves-queue", InterruptedWaiter::LeavesQueue)];
const ROLES: [(&str, ClientRole); 3] =
    [("both", ClientRole::Both), ("reader", ClientRole::Reader), ("writer", ClientRole::Writer)];
const SUBSCRIBE_TO: [(&str, SubscribeTo); 2] = [("master", SubscribeTo::Master), ("replica", SubscribeTo::Replica)];
const FAILED_RENEWALS: [(&str, FailedRenewal); 3] =
    [("retry", FailedRenewal::Retry), ("forget", FailedRenewal::Forget), ("release", FailedRenewal::Release)];
