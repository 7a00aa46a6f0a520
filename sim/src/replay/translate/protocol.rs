//! The dictionary of three languages: what an action of the model is in our scripts and commands, and in Redisson. The page
//! `docs/protocol.md` is made of it.

use lockstep_model::config::{
    AcquireRule, Downgrade, ExtendRule, FinalLease, HeldQuery, ReadRenewal, ReleaseRule, TokenRule, ValueSet,
};
use lockstep_model::locks::StoringMasters;
use lockstep_model::{Action, ActionKind};
use lockstep_redis::{HolderId, Lease, Names, ReleaseReceipt, Scripts};

use super::request::ScriptRequest;
use super::translation::{RequestContext, ScriptCaller, Translation};

/// One line of the dictionary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtocolRow {
    /// The actions of the model, by their names in traces.
    pub actions: Vec<&'static str>,
    /// What the harness does for them: a script with its keys and arguments and what it can answer, or a command.
    pub asked: String,
    /// What Redisson does.
    pub redisson: &'static str,
}

/// What an action is part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProtocolPart {
    Acquire,
    SetTtl,
    Release,
    Renew,
    /// A request only where tokens are read.
    ReadToken,
    /// A request only of kinds that are asked whether they are held.
    AskIfHeld,
    /// A request only where there is a queue to leave.
    GiveUp,
    ForceRelease,
    Subscribe,
    Message,
    /// The same for every kind of lock: what the harness does, and what Redisson does.
    Shared(&'static str, &'static str),
    /// Inside a client's process: the harness sends nothing.
    Internal,
}

/// What clients of this kind send and receive.
///
/// # Panics
/// If half a minute is not a lease: a defect of ours.
pub fn rows_of(translation: &dyn Translation) -> Vec<ProtocolRow> {
    let (with_receipts, without_receipts) = (context(true), context(false));
    let bare = RequestContext { release: ReleaseRule::Delete, ..context(false) };
    let caller = ScriptCaller { holder: HolderId::new("A", 1), acquire: Some(1), now_ms: NOW_MS };
    let redisson = translation.redisson();
    let row = |part, asked, redisson| ProtocolRow { actions: actions_of(part), asked, redisson };

    let facts = translation.kind().facts();
    let acquire = words(&translation.acquire(&with_receipts, &caller));
    let mut rows = vec![row(ProtocolPart::Acquire, acquire, redisson.acquire)];
    let apart = RequestContext { acquire: AcquireRule::SetnxExpire, ..context(false) };
    let sets_it_last = facts.parts.is_there() || facts.masters == StoringMasters::Locks;
    if let Some(set_ttl) = translation.set_ttl(&apart, &caller).filter(|_| sets_it_last) {
        rows.push(row(ProtocolPart::SetTtl, words(&set_ttl), "RedissonExpirable.expireAsync of each part"));
        let own = RequestContext { final_lease_rule: FinalLease::OwnHold, ..context(true) };
        let asked = translation.set_ttl(&own, &caller).map(|own| words(&own)).unwrap_or_default();
        rows.push(row(ProtocolPart::SetTtl, format!("final_lease = \"own-hold\": {asked}"), "(none)"));
    } else if let Some(set_ttl) = translation.set_ttl(&apart, &caller) {
        let take = words(&translation.acquire(&apart, &caller));
        rows.push(row(ProtocolPart::Acquire, format!("acquire = \"setnx-expire\": {take}"), "(none; SETNX)"));
        rows.push(row(ProtocolPart::SetTtl, words(&set_ttl), "(none; PEXPIRE)"));
    }
    let own = RequestContext { acquire: AcquireRule::OwnOrFree, ..context(false) };
    let own = words(&translation.acquire(&own, &caller));
    if translation.kind().facts().two_commands.is_there() {
        rows.push(row(
            ProtocolPart::Acquire,
            format!("acquire = \"own-or-free\": {own}"),
            "(none; a script that looks first)",
        ));
    }
    let releases =
        [&with_receipts, &without_receipts, &bare].map(|context| words(&translation.release(context, &caller, "ID")));
    // Those of a lock with readers always leave one.
    let shares = translation.kind().facts().sharing.is_there();
    let are_alike = releases[0] == releases[1] || shares;
    let [with, without, bare] = releases;
    let has_bare = bare != without;
    rows.push(row(ProtocolPart::Release, with, redisson.release));
    if !are_alike {
        rows.push(row(ProtocolPart::Release, format!("without receipts: {without}"), redisson.release_without_receipt));
    }
    if has_bare {
        rows.push(row(ProtocolPart::Release, format!("release = \"delete\": {bare}"), "(none; DEL)"));
    }
    // What a round asks of each master to extend a lease stands in docs/locks/red.md.
    if facts.masters != StoringMasters::Rounds {
        let renew = words(&translation.renew(&with_receipts, &caller));
        let overwrite = RequestContext { extend: ExtendRule::Overwrite, ..context(true) };
        let overwrite = words(&translation.renew(&overwrite, &caller));
        let has_bare = overwrite != renew;
        rows.push(row(ProtocolPart::Renew, renew, redisson.renew));
        if has_bare {
            rows.push(row(ProtocolPart::Renew, format!("extend = \"overwrite\": {overwrite}"), "(none; SET XX PX)"));
        }
    }
    if shares {
        rows.extend(rows_of_readers(translation));
    }
    let later = RequestContext { token: TokenRule::ReadLater, ..context(true) };
    if let Some(request) = translation.read_token(&later) {
        let acquire = words(&translation.acquire(&later, &caller));
        rows.insert(
            1,
            row(
                ProtocolPart::Acquire,
                format!("token = \"read-later\": {acquire}"),
                "RedissonFencedLock.tryLockInnerAsync → null | ttl",
            ),
        );
        rows.insert(2, row(ProtocolPart::ReadToken, words(&request), "RedissonFencedLock.getTokenAsync"));
    }
    if translation.kind().facts().value_sets.is_there() {
        let once = RequestContext { may_queue: false, ..context(true) };
        let once = words(&translation.acquire(&once, &caller));
        rows.insert(1, row(ProtocolPart::Acquire, format!("wait_limit = 0: {once}"), redisson.acquire));
    }
    rows.extend(rows_of_questions(translation, &caller));
    if let Some(request) = translation.leave_queue(&with_receipts, &caller) {
        let once = RequestContext { may_queue: false, ..context(true) };
        let once = words(&translation.acquire(&once, &caller));
        rows.insert(1, row(ProtocolPart::Acquire, format!("wait_limit = 0: {once}"), redisson.acquire));
        rows.push(row(ProtocolPart::GiveUp, words(&request), "RedissonFairLock.acquireFailedAsync"));
        rows.push(ProtocolRow {
            actions: vec![ActionKind::Interrupt.name()],
            asked: format!("interrupted_waiter = \"leaves-queue\": {}", words(&request)),
            redisson: "(none; the place stays)",
        });
    }
    if let Some(request) = translation.force_release(&with_receipts, NOW_MS) {
        rows.push(row(ProtocolPart::ForceRelease, words(&request), redisson.force_release));
    }
    if let Some(channel) = translation.unlock_channel(&with_receipts, &caller.holder) {
        rows.push(row(ProtocolPart::Subscribe, format!("SUBSCRIBE {}", channel.name), "LockPubSub.subscribe"));
        let message = format!("the message {:?} on that channel", channel.message);
        rows.push(row(ProtocolPart::Message, message, "LockPubSub.onMessage with UNLOCK_MESSAGE"));
        let of_reader = Action::Release { client: 0, thread: 1 };
        if let Some(message) = translation.message_of(of_reader).filter(|message| *message != channel.message) {
            let message = format!("of a reader: the message {message:?} on that channel");
            rows.push(row(ProtocolPart::Message, message, "LockPubSub.onMessage"));
        }
    }
    rows
}

/// What a client asks that wants to know whether it holds, of kinds that are asked it.
fn rows_of_questions(translation: &dyn Translation, caller: &ScriptCaller) -> Vec<ProtocolRow> {
    let asked = |held_query| {
        let context = RequestContext { held_query, ..context(true) };
        translation.ask_if_held(&context, caller).map(|request| words(&request))
    };
    let row = |asked, redisson| ProtocolRow { actions: actions_of(ProtocolPart::AskIfHeld), asked, redisson };
    let later = asked(HeldQuery::LaterValues).map(|asked| row(asked, "RLock.isHeldByCurrentThread → true | false"));
    let every =
        asked(HeldQuery::EveryValue).map(|asked| row(format!("held_query = \"every-value\": {asked}"), "(none)"));
    later.into_iter().chain(every).collect()
}

/// What the readers of a kind with readers send and receive, and what a writer sends that tells them of a downgrade.
fn rows_of_readers(translation: &dyn Translation) -> Vec<ProtocolRow> {
    let redisson = translation.redisson();
    let row = |part, asked, redisson| ProtocolRow { actions: actions_of(part), asked, redisson };
    let caller = |thread| ScriptCaller { holder: HolderId::new("A", thread), acquire: Some(1), now_ms: NOW_MS };
    let (writer, reader, plain) = (caller(1), caller(2), context(true));
    let telling = RequestContext { downgrade: Downgrade::Publishes, ..context(true) };
    let telling = words(&translation.release(&telling, &writer, "ID"));
    let of_reader =
        |part, request: &ScriptRequest, redisson| row(part, format!("as a reader: {}", words(request)), redisson);
    let mut rows = vec![
        row(ProtocolPart::Release, format!("downgrade = \"publishes\": {telling}"), "(none; it tells nobody)"),
        of_reader(ProtocolPart::Acquire, &translation.acquire(&plain, &reader), redisson.acquire),
        of_reader(ProtocolPart::Release, &translation.release(&plain, &reader, "ID"), redisson.release),
        of_reader(ProtocolPart::Renew, &translation.renew(&plain, &reader), redisson.renew),
    ];
    for (word, read_renewal) in [("all-holds", ReadRenewal::AllHolds), ("fails-nested", ReadRenewal::FailsNested)] {
        let older = RequestContext { read_renewal, ..context(true) };
        let renewal = words(&translation.renew(&older, &reader));
        let asked = format!("as a reader, read_renewal = \"{word}\": {renewal}");
        rows.push(row(ProtocolPart::Renew, asked, "ReadLockTask.renew of older versions"));
    }
    rows
}

/// What all requests of a client have in common.
///
/// # Panics
/// If half a minute is not a lease: a defect of ours.
fn context(has_receipts: bool) -> RequestContext {
    RequestContext {
        scripts: Scripts::built_in(),
        names: Names::of("lock"),
        lease: Lease::from_ms(30_000).expect("half a minute is a lease"),
        final_lease: Lease::from_ms(30_000).expect("half a minute is a lease"),
        final_lease_rule: FinalLease::AnyHold,
        far_ms: i64::MAX,
        receipt_lease: ReleaseReceipt::LEASE,
        queue_wait_ms: 300_000,
        may_queue: true,
        has_receipts,
        acquire: AcquireRule::SetNxPx,
        release: ReleaseRule::Compare,
        extend: ExtendRule::Compare,
        token: TokenRule::WithGrant,
        read_renewal: ReadRenewal::OwnHolds,
        downgrade: Downgrade::Silent,
        values: ValueSet::ALL,
        held_query: HeldQuery::LaterValues,
        clock_ahead_ms: 0,
        deletes_receipts: has_receipts,
    }
}

/// What is the same for every kind of lock.
pub fn shared_rows() -> Vec<ProtocolRow> {
    let mut rows: Vec<ProtocolRow> = Vec::new();
    for kind in ActionKind::ALL {
        let ProtocolPart::Shared(asked, redisson) = part_of(kind) else { continue };
        match rows.iter_mut().find(|row| row.asked == asked) {
            Some(row) => row.actions.push(kind.name()),
            None => rows.push(ProtocolRow { actions: vec![kind.name()], asked: asked.to_owned(), redisson }),
        }
    }
    rows
}

/// Actions for which nothing is sent, by their names in traces; where there is a queue, giving up is a request.
pub fn internal_actions() -> Vec<&'static str> {
    let mut internal = actions_of(ProtocolPart::Internal);
    internal.extend(actions_of(ProtocolPart::GiveUp));
    internal
}

fn actions_of(part: ProtocolPart) -> Vec<&'static str> {
    ActionKind::ALL.into_iter().filter(|kind| part_of(*kind) == part).map(ActionKind::name).collect()
}

/// `reentrant/acquire lock | 30000 A:1 → nil or a TTL`.
fn words(request: &ScriptRequest) -> String {
    let follow_up = request.follow_up.as_ref().map_or_else(String::new, |command| {
        let words: Vec<_> = command
            .args_iter()
            .filter_map(|word| match word {
                redis::Arg::Simple(word) => Some(String::from_utf8_lossy(word).into_owned()),
                _ => None,
            })
            .collect();
        format!("; then {}", words.join(" "))
    });
    format!("{} → {}{follow_up}", request.call_words(), request.answers)
}

/// What a hand-over is on the wire: its beginning and its two ends.
const fn part_of_hand_over(kind: ActionKind) -> ProtocolPart {
    if matches!(kind, ActionKind::FinishHandOver) {
        return ProtocolPart::Shared(
            "the gate passes what the replica acknowledges; forced: the master's clock comes to the time-out",
            "(Redis itself); changeMaster",
        );
    }
    if matches!(kind, ActionKind::GiveUpHandOver) {
        return ProtocolPart::Shared("FAILOVER ABORT, which is what the master does at its time-out", "(Redis itself)");
    }
    ProtocolPart::Shared(
        "coordinated: FAILOVER TO the replica's address, through a gate that passes no acknowledgement; forced: the same with \
         FORCE TIMEOUT; otherwise REPLICAOF NO ONE while the master runs",
        "(an operator's action); changeMaster",
    )
}

/// A wall clock, for requests that bring one.
const NOW_MS: u64 = 1_704_067_200_000;

const RESTART: &str = "the process is started again, with the AOF that was on its disk";

#[expect(clippy::too_many_lines, reason = "one arm for each action")]
const fn part_of(kind: ActionKind) -> ProtocolPart {
    use ProtocolPart::{
        Acquire, AskIfHeld, ForceRelease, GiveUp, Internal, Message, ReadToken, Release, Renew, SetTtl, Shared,
        Subscribe,
    };
    match kind {
        ActionKind::Acquire
        | ActionKind::NextPart
        | ActionKind::SecondAsk
        | ActionKind::WakeByMessage
        | ActionKind::WakeByTimer
        | ActionKind::AskMaster
        | ActionKind::SlowReply
        | ActionKind::ArriveLate => Acquire,
        ActionKind::Release
        | ActionKind::GiveBack
        | ActionKind::ReleaseAt
        | ActionKind::ForeignRelease
        | ActionKind::Undo => Release,
        ActionKind::SetTtl | ActionKind::SetTtlAt => SetTtl,
        ActionKind::ReadToken => ReadToken,
        ActionKind::AskIfHeld => AskIfHeld,
        ActionKind::Renew | ActionKind::RenewAcknowledged | ActionKind::ExtendAt => Renew,
        ActionKind::ForceRelease => ForceRelease,
        ActionKind::Subscribe | ActionKind::Resubscribe => Subscribe,
        ActionKind::Deliver | ActionKind::LoseMessage => Message,
        ActionKind::Confirm => Shared(
            "WAIT on the connection that acquired; CLIENT UNBLOCK … TIMEOUT ends it, since the server's clock stands still",
            "WAIT in one batch with the script; NoSyncedSlavesException",
        ),
        ActionKind::Execute | ActionKind::LoseRequest => {
            Shared("the bytes of the request reach the node, or never do", "RedisExecutor: the command is written")
        }
        ActionKind::Answer | ActionKind::LoseReply => Shared(
            "the bytes of the answer reach the client, or never do",
            "RedisExecutor: the command's promise is completed",
        ),
        ActionKind::Resend => Shared(
            "the same request again; a release with the same receipt",
            "retryAttempts; the latch id of unlockInnerAsync",
        ),
        ActionKind::HearMaster => Shared("the reply is read", "(the client's own)"),
        ActionKind::LoseAsk | ActionKind::LateAsk => Shared("nothing is sent", "(the client's own)"),
        ActionKind::Abandon => Shared("nothing more is read", "(an exception; from tryLock() of 4.7 false)"),
        ActionKind::Replicate => Shared("the gate of a replica releases one effect", "(Redis itself)"),
        ActionKind::Resync => Shared("REPLICAOF a gate to the new master", "(Redis itself)"),
        ActionKind::LeaveMaster => {
            Shared("REPLICAOF a port that nobody listens on", "(Sentinel's reconfiguration of the replicas)")
        }
        ActionKind::CrashNode => Shared("SIGKILL", "(a crash)"),
        ActionKind::RestartNode => Shared(RESTART, "(Redis itself)"),
        ActionKind::Promote => Shared("REPLICAOF NO ONE", "(Sentinel's failover); changeMaster"),
        ActionKind::HandOver | ActionKind::FinishHandOver | ActionKind::GiveUpHandOver => part_of_hand_over(kind),
        ActionKind::Demote => {
            Shared("REPLICAOF a port that nobody listens on; CLIENT KILL TYPE pubsub", "(Sentinel's fix-slave-config)")
        }
        ActionKind::KillNode => Shared(
            "SIGKILL; what was not yet on the disk is taken away where the scenario lets a killed process lose it",
            "(a crash)",
        ),
        ActionKind::ShutdownNode => Shared("SIGTERM", "(an operator's action, a container that is stopped)"),
        ActionKind::FinishShutdown => Shared("the process ends by itself", "(Redis itself)"),
        ActionKind::Snapshot => Shared("BGSAVE", "(Redis itself)"),
        ActionKind::Fsync => Shared("the AOF as it is now survives the next power cut", "(Redis itself)"),
        ActionKind::CutLink | ActionKind::Heal => {
            Shared("the node's gates pass nothing and stay open; then new gates", "(a network partition)")
        }
        ActionKind::RefuseWrites => Shared(
            "CONFIG SET save; BGSAVE fails, because a folder has the name of the dump (stop-writes-on-bgsave-error)",
            "(Redis itself)",
        ),
        ActionKind::AcceptWrites => Shared("the folder is removed, and BGSAVE succeeds", "(Redis itself)"),
        ActionKind::Recount => {
            Shared("CONFIG SET min-replicas-max-lag: the master counts its replicas", "(Redis itself)")
        }
        ActionKind::NoticeDeath => Shared("the gate of the dead replica is closed", "(Redis itself: repl-timeout)"),
        ActionKind::BreakLink => {
            Shared("the gate of the replica is closed; a new one comes with the resync", "(the network)")
        }
        ActionKind::MoveSlot => {
            Shared("CLUSTER SETSLOT IMPORTING, MIGRATING", "(an operator: redis-cli --cluster reshard)")
        }
        ActionKind::MoveKeys => Shared("MIGRATE of the lock's key", "(the same)"),
        ActionKind::FinishMove => {
            Shared("MIGRATE, where the key is not moved yet; CLUSTER SETSLOT NODE at both masters", "(the same)")
        }
        ActionKind::PauseNode => Shared("SIGSTOP", "(a paused machine, a fork, a slow script)"),
        ActionKind::ResumeNode => Shared(
            "SIGCONT; a master that needs replicas is held at its last count (CONFIG SET min-replicas-to-write)",
            "(the machine goes on)",
        ),
        ActionKind::CountReplicas => Shared(
            "CONFIG SET min-replicas-to-write and min-replicas-max-lag; its replicas acknowledge",
            "(Redis itself: replicationCron)",
        ),
        ActionKind::VanishKey => Shared("CONFIG SET maxmemory 1, until one key is evicted", "(Redis itself)"),
        ActionKind::PersistKey => Shared("PERSIST of the lock's key", "(an operator's command)"),
        ActionKind::OverwriteKey => Shared("SET of the lock's key", "(another program's command)"),
        ActionKind::VanishToken => Shared("UNLINK of the counter: what an eviction replicates", "(Redis itself)"),
        ActionKind::VanishReceipts => Shared("UNLINK of each receipt: what an eviction replicates", "(Redis itself)"),
        ActionKind::ClockJump => Shared(
            "the clock of that server is set; then EXISTS on every master, which deletes what has expired",
            "(the machine's clock)",
        ),
        ActionKind::Expire | ActionKind::ExpireReceipts => Shared(
            "the clock of that server is set 1 ms further, then EXISTS, which deletes the key, and the clock is set back; a \
             replica, which only hides it, stays 1 ms further until the next tick",
            "(time)",
        ),
        ActionKind::ExpirePart => Shared(
            "UNLINK of that key: what its expiry replicates; the keys of both end in the same millisecond",
            "(time)",
        ),
        ActionKind::Tick => Shared("the clock of every server is set", "(time)"),
        ActionKind::GoBack | ActionKind::StartClient => {
            Shared("ROLE: the node says that it is master", "(a stale answer about the master); the start of a process")
        }
        ActionKind::GiveUp => GiveUp,
        ActionKind::Work
        | ActionKind::Arrive
        | ActionKind::Discover
        | ActionKind::DiscoverMaster
        | ActionKind::Resume
        | ActionKind::Register
        | ActionKind::Unregister
        | ActionKind::CrashClient
        | ActionKind::CrashThread
        | ActionKind::PauseClient
        | ActionKind::Interrupt
        | ActionKind::ClientClockJump => Internal,
    }
}
