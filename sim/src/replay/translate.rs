//! Where model and implementation meet: what each action of the model tells Redis, and what Redis's answer means.
//!
//! The two sides share no type. Both are put into the same plain words here, and the words are compared.

use lockstep_model::client::Verb;
use lockstep_model::config::LockKind;
use lockstep_model::trace::{Contents, KeySlot, KeyValue, RequestState, State, StoredKey};
use lockstep_model::{Action, Config, Reply};
use lockstep_redis::locks::{plain, reentrant};
use lockstep_redis::{Call, Error as ReplyError, Holder, Lease, Names, Receipt, Scripts};
use redis::{Cmd, Value};

/// A row of the dictionary between the three.
pub struct Row {
    /// The model's action and replies.
    pub model: &'static str,
    /// The script, its arguments and its replies.
    pub told: &'static str,
    /// Redisson's word for it.
    pub redisson: &'static str,
}

/// The dictionary: what is the same thing in the model, in our scripts and in Redisson.
pub const TABLE: [Row; 24] = [
    Row {
        model: "acquire, second_ask, wake_by_message, wake_by_timer → acquired | busy",
        told: "reentrant/acquire lock | lease, holder → nil | PTTL",
        redisson: "tryLockInnerAsync → null | ttl",
    },
    Row {
        model: "release, foreign_release → released | still_held | not_held",
        told: "reentrant/release lock, channel, receipt | 0, lease, holder, receipt lease → 1 | 0 | nil; then DEL receipt",
        redisson: "unlockInnerAsync → true | false | null (IllegalMonitorStateException)",
    },
    Row {
        model: "the same without receipts",
        told: "reentrant/release_without_receipt lock, channel | 0, lease, holder → 1 | 0 | nil",
        redisson: "unlockInnerAsync of 2021",
    },
    Row {
        model: "renew → renewed | renewal_missed",
        told: "reentrant/renew lock | lease, holder → [1] | [0]",
        redisson: "LockTask.renew",
    },
    Row {
        model: "force_release → force_released | nothing_to_release",
        told: "reentrant/force_release lock, channel | 0 → 1 | 0",
        redisson: "forceUnlockAsync → true | false",
    },
    Row {
        model: "acquire, wake_by_timer of a plain lock → acquired | busy",
        told: "plain/acquire lock | lease, holder → OK | nil",
        redisson: "(none; SET NX PX of the Redis documentation)",
    },
    Row {
        model: "release, foreign_release of a plain lock → released | not_held",
        told: "plain/release lock | holder → 1 | 0",
        redisson: "(none; compare-and-delete)",
    },
    Row {
        model: "renew of a plain lock → renewed | renewal_missed",
        told: "plain/extend lock | lease, holder → 1 | 0",
        redisson: "(none; compare-and-pexpire)",
    },
    Row {
        model: "subscribe, resubscribe",
        told: "SUBSCRIBE redisson_lock__channel:{lock}",
        redisson: "LockPubSub.subscribe",
    },
    Row { model: "deliver", told: "the message 0 on that channel", redisson: "LockPubSub.onMessage, UNLOCK_MESSAGE" },
    Row {
        model: "execute, answer of a split network",
        told: "the bytes of the call reach the node; the bytes of its answer reach the client",
        redisson: "RedisExecutor: the command is written; its promise is completed",
    },
    Row {
        model: "resend of a release",
        told: "the same call with the same receipt",
        redisson: "retryAttempts; the latch id of unlockInnerAsync",
    },
    Row {
        model: "replicate, resync",
        told: "the gate hands one effect over; REPLICAOF a gate to the new master",
        redisson: "(Redis's own)",
    },
    Row {
        model: "crash_node, promote",
        told: "SIGKILL; REPLICAOF NO ONE",
        redisson: "(Sentinel's failover; Redisson: changeMaster)",
    },
    Row {
        model: "confirm → acknowledged | too_few_replicas",
        told: "WAIT of the connection that acquired; where it blocks, CLIENT UNBLOCK … TIMEOUT: its clock stands still",
        redisson: "WAIT in one batch with the script; NoSyncedSlavesException",
    },
    Row { model: "undo", told: "as release", redisson: "handleNoSync: unlockInnerAsync" },
    Row {
        model: "any write → not_enough_replicas",
        told: "NOREPLICAS of a master with min-replicas-to-write, min-replicas-max-lag",
        redisson: "RedisNoReplicasException, thrown to the caller",
    },
    Row {
        model: "any write → read_only",
        told: "READONLY of a replica",
        redisson: "RedisReadonlyException, thrown to the caller",
    },
    Row {
        model: "cut_link, heal",
        told: "the gates of the node say nothing more to either side; new gates",
        redisson: "(a partition)",
    },
    Row {
        model: "hand_over",
        told: "coordinated: FAILOVER TO a door of the replica, through a gate; else REPLICAOF NO ONE while the master runs",
        redisson: "(an operator's; Redisson: changeMaster)",
    },
    Row {
        model: "demote",
        told: "REPLICAOF a gate to the new master; CLIENT KILL TYPE pubsub",
        redisson: "(Sentinel's fix-slave-config)",
    },
    Row {
        model: "fsync, restart_node",
        told: "appendfsync always | everysec, the AOF cut to what was on the disk, the process started again",
        redisson: "(Redis's own)",
    },
    Row {
        model: "clock_jump",
        told: "the clock of that server; then EXISTS on every master, to which a key that ran out is a key to delete",
        redisson: "(the machine's clock)",
    },
    Row { model: "vanish_key", told: "maxmemory 1, one eviction, maxmemory 0", redisson: "(Redis's own)" },
];

/// What a master answers that has heard of too few replicas to write.
const NOT_ENOUGH_REPLICAS: &str = "not enough replicas";
/// What a replica answers to a write.
const READ_ONLY: &str = "read only";

/// A request to a node, and how to read its answer.
#[derive(Clone)]
pub struct Request {
    /// The script call.
    pub call: Call,
    /// A command that the client sends once it has the answer.
    pub afterwards: Option<Cmd>,
    read: fn(&Call, &Value, LockKind) -> Result<String, ReplyError>,
}

impl Request {
    /// The call as a person would write it: `reentrant/acquire lock | 30000 A:1`.
    pub fn asked_words(&self) -> String {
        let args: Vec<_> = self.call.args.iter().map(|arg| String::from_utf8_lossy(arg)).collect();
        format!("{} {} | {}", self.call.script.name(), self.call.keys.join(" "), args.join(" "))
    }

    /// What the answer means, in the words of [`Interpreter::reply_words`].
    ///
    /// # Errors
    /// The answer is none that the script of this verb can give.
    pub fn answer_words(&self, value: &Value, lock: LockKind) -> Result<String, ReplyError> {
        // Any write may be refused so, and what a script had read by then does not matter.
        if let Value::ServerError(error) = value
            && error.code() == "NOREPLICAS"
        {
            return Ok(NOT_ENOUGH_REPLICAS.to_owned());
        }
        match (self.read)(&self.call, value, lock) {
            Err(ReplyError::NotMaster { .. }) => Ok(READ_ONLY.to_owned()),
            read => read,
        }
    }
}

/// Speaks for the clients of one scenario.
pub struct Interpreter {
    lock: LockKind,
    receipts: bool,
    /// Whether a request is three steps; then it is sent by [`call_of`](Self::call_of).
    is_split: bool,
    receipt_lease: Lease,
    tick_ms: u32,
    lease: Lease,
    names: Names,
    scripts: Scripts,
}

impl Interpreter {
    /// For the clients of this scenario, who use these scripts. `None` if the lease is beyond what Redis can store.
    pub fn new(config: &Config, scripts: Scripts) -> Option<Self> {
        Some(Self {
            lock: config.lock,
            receipts: config.protocol.receipts,
            is_split: config.is_split(),
            receipt_lease: if config.is_split() {
                Lease::from_ms(u64::from(config.calls.receipt) * u64::from(config.time.tick_ms))?
            } else {
                Receipt::LEASE
            },
            tick_ms: config.time.tick_ms,
            lease: Lease::from_ms(u64::from(config.time.lease) * u64::from(config.time.tick_ms))?,
            names: Names::of("lock"),
            scripts,
        })
    }

    /// The scripts that must be known to every node.
    pub const fn scripts(&self) -> &Scripts {
        &self.scripts
    }

    /// The lock's key.
    pub fn lock_key(&self) -> &str {
        self.names.lock()
    }

    /// The channel that waiters subscribe to.
    pub fn channel(&self) -> String {
        self.names.channel()
    }

    /// What the action tells the master that its client knows; `None` if it tells it nothing.
    pub fn request(&self, step: usize, action: Action, before: &State, reply: Reply) -> Option<Request> {
        match action {
            // They set out: what the node is told, it is told when it executes them.
            Action::Acquire { .. }
            | Action::SecondAsk { .. }
            | Action::WakeByMessage { .. }
            | Action::WakeByTimer { .. }
            | Action::Release { .. }
            | Action::ForeignRelease { .. }
            | Action::Renew { .. }
                if self.is_split =>
            {
                None
            }
            Action::Acquire { client, thread }
            | Action::SecondAsk { client, thread }
            | Action::WakeByMessage { client, thread }
            | Action::WakeByTimer { client, thread } => Some(self.acquire(&holder(client, thread))),
            Action::Undo { .. } if reply == Reply::Unreachable => None,
            Action::Release { client, thread }
            | Action::Undo { client, thread }
            | Action::ForeignRelease { client, thread } => {
                Some(self.release(&format!("release-{step}"), &holder(client, thread)))
            }
            Action::Renew { client } => match reply {
                // Nothing is sent: there is nothing to renew, or nobody to send it to.
                Reply::NothingToRenew | Reply::Unreachable => None,
                _ => {
                    let first = before.clients.get(usize::from(client))?.renewal_first?;
                    Some(self.renew(&holder(client, first)))
                }
            },
            Action::ForceRelease { .. } => Some(self.force_release()),
            Action::Subscribe { .. }
            | Action::GiveUp { .. }
            | Action::Confirm { .. }
            | Action::Work { .. }
            | Action::Discover { .. }
            | Action::Resubscribe { .. }
            | Action::Resume { .. }
            | Action::Deliver { .. }
            | Action::Replicate { .. }
            | Action::Promote { .. }
            | Action::Resync { .. }
            | Action::Demote { .. }
            | Action::Fsync { .. }
            | Action::Heal { .. }
            | Action::RestartNode { .. }
            | Action::CutLink { .. }
            | Action::VanishKey { .. }
            | Action::ClockJump { .. }
            | Action::ClientClockJump { .. }
            | Action::CrashClient { .. }
            | Action::CrashThread { .. }
            | Action::PauseClient { .. }
            | Action::CrashNode { .. }
            | Action::HandOver { .. }
            | Action::LoseMessage { .. }
            | Action::Execute { .. }
            | Action::Register { .. }
            | Action::Unregister { .. }
            | Action::Answer { .. }
            | Action::Resend { .. }
            | Action::Abandon { .. }
            | Action::LoseRequest { .. }
            | Action::LoseReply { .. }
            | Action::Interrupt { .. }
            | Action::Tick => None,
        }
    }

    /// The model's reply, in plain words.
    pub fn reply_words(&self, reply: Reply) -> String {
        match reply {
            // The plain lock's script does not say for how long.
            Reply::Busy { .. } if self.lock == LockKind::Plain => "busy".to_owned(),
            Reply::Busy { remaining_ticks } => busy(remaining_ticks.map(|ticks| self.ms(ticks))),
            Reply::Acquired => "acquired".to_owned(),
            Reply::Released => "released".to_owned(),
            Reply::StillHeld => "still held".to_owned(),
            Reply::NotHeld => "not held".to_owned(),
            Reply::Renewed => "renewed".to_owned(),
            Reply::RenewalMissed => "not renewed".to_owned(),
            Reply::Acknowledged { replicas } | Reply::TooFewReplicas { replicas } => acknowledged(replicas.into()),
            Reply::NotEnoughReplicas => NOT_ENOUGH_REPLICAS.to_owned(),
            Reply::ReadOnly => READ_ONLY.to_owned(),
            Reply::ForceReleased => "force released".to_owned(),
            Reply::NothingToRelease => "nothing to release".to_owned(),
            Reply::Done
            | Reply::NothingToRenew
            | Reply::Unreachable
            | Reply::Accepted
            | Reply::Rejected
            | Reply::Unknown
            | Reply::Interrupted => "nothing".to_owned(),
        }
    }

    /// What a node should store, in the words of [`compare`](super::compare).
    pub fn stored_words(&self, contents: &Contents) -> String {
        let mut lines: Vec<_> = contents.keys.iter().map(|key| self.key_words(key)).collect();
        lines.sort_unstable();
        lines.join("\n")
    }

    fn key_words(&self, key: &StoredKey) -> String {
        let name = match key.slot {
            KeySlot::Lock => self.names.lock().to_owned(),
            KeySlot::Receipt { holder, number } => self.names.receipt(&Self::receipt_id(&holder.to_string(), number)),
        };
        let pair = |(name, number): (&String, String)| [name.clone(), number];
        let (kind, content) = match &key.value {
            KeyValue::String(value) => ("string", vec![value.clone()]),
            KeyValue::Hash(fields) => {
                ("hash", fields.iter().flat_map(|(field, number)| pair((field, number.to_string()))).collect())
            }
            KeyValue::List(items) => ("list", items.clone()),
            KeyValue::Zset(members) => {
                ("zset", members.iter().flat_map(|(member, score)| pair((member, score.to_string()))).collect())
            }
        };
        let remaining_ms = key.ttl_ms.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
        super::compare::key_words(&name, kind, remaining_ms, &content)
    }

    /// A request that sets out, by what the model says of it.
    pub fn call_of(&self, request: &RequestState, client: u8, thread: u8) -> Request {
        let holder = holder(client, thread);
        match request.verb {
            Verb::Acquire => self.acquire(&holder),
            Verb::Release | Verb::Undo => {
                self.release(&Self::receipt_id(&holder.to_string(), request.receipt.unwrap_or_default()), &holder)
            }
            Verb::Renew => self.renew(&holder),
        }
    }

    /// Redisson's is random; the model's number is unique among all that anybody remembers.
    fn receipt_id(holder: &str, number: u8) -> String {
        format!("{holder}-{number}")
    }

    fn ms(&self, ticks: u8) -> i64 {
        i64::from(ticks) * i64::from(self.tick_ms)
    }

    fn acquire(&self, holder: &Holder) -> Request {
        let call = match self.lock {
            LockKind::Plain => plain::acquire(&self.scripts, &self.names, holder, self.lease),
            LockKind::Reentrant => reentrant::acquire(&self.scripts, &self.names, holder, self.lease),
        };
        Request { call, afterwards: None, read: read_acquire }
    }

    fn release(&self, id: &str, holder: &Holder) -> Request {
        let receipt = Receipt::new(id, self.receipt_lease);
        let (scripts, names) = (&self.scripts, &self.names);
        let (call, afterwards) = match (self.lock, self.receipts) {
            (LockKind::Plain, _) => (plain::release(scripts, names, holder), None),
            (LockKind::Reentrant, true) => (
                reentrant::release(scripts, names, holder, self.lease, &receipt),
                Some(reentrant::drop_receipt(names, &receipt)),
            ),
            (LockKind::Reentrant, false) => {
                (reentrant::release_without_receipt(scripts, names, holder, self.lease), None)
            }
        };
        Request { call, afterwards, read: read_release }
    }

    fn renew(&self, holder: &Holder) -> Request {
        let call = match self.lock {
            LockKind::Plain => plain::extend(&self.scripts, &self.names, holder, self.lease),
            LockKind::Reentrant => reentrant::renew(&self.scripts, [(&self.names, holder)], self.lease),
        };
        Request { call, afterwards: None, read: read_renew }
    }

    fn force_release(&self) -> Request {
        let call = reentrant::force_release(&self.scripts, &self.names);
        Request { call, afterwards: None, read: read_force_release }
    }
}

/// `A:1` for the first thread of the first client. Redisson's client id is a UUID; any text will do.
fn holder(client: u8, thread: u8) -> Holder {
    Holder::new(lockstep_model::trace::client_name(client), u64::from(thread) + 1)
}

/// What `WAIT` answers.
pub(super) fn acknowledged(replicas: i64) -> String {
    format!("{replicas} have it")
}

fn busy(remaining_ms: Option<i64>) -> String {
    match remaining_ms {
        Some(remaining_ms) => format!("busy, {remaining_ms} ms left"),
        None => "busy for ever".to_owned(),
    }
}

fn read_acquire(call: &Call, value: &Value, lock: LockKind) -> Result<String, ReplyError> {
    Ok(match lock {
        LockKind::Plain => match call.read(value)? {
            plain::AcquireReply::Acquired => "acquired".to_owned(),
            plain::AcquireReply::Busy => "busy".to_owned(),
        },
        LockKind::Reentrant => match call.read(value)? {
            reentrant::AcquireReply::Acquired => "acquired".to_owned(),
            // PTTL is -1 for a key that lives for ever.
            reentrant::AcquireReply::Busy { ttl_ms } => busy(Some(ttl_ms).filter(|&ms| ms >= 0)),
        },
    })
}

fn read_release(call: &Call, value: &Value, lock: LockKind) -> Result<String, ReplyError> {
    let words = match lock {
        LockKind::Plain => match call.read(value)? {
            plain::ReleaseReply::Released => "released",
            plain::ReleaseReply::NotHeld => "not held",
        },
        LockKind::Reentrant => match call.read(value)? {
            reentrant::ReleaseReply::Released => "released",
            reentrant::ReleaseReply::StillHeld => "still held",
            reentrant::ReleaseReply::NotHeld => "not held",
        },
    };
    Ok(words.to_owned())
}

fn read_renew(call: &Call, value: &Value, lock: LockKind) -> Result<String, ReplyError> {
    let is_renewed = match lock {
        LockKind::Plain => call.read::<plain::ExtendReply>(value)? == plain::ExtendReply::Extended,
        LockKind::Reentrant => call.read::<Vec<reentrant::RenewReply>>(value)? == [reentrant::RenewReply::Renewed],
    };
    Ok(if is_renewed { "renewed" } else { "not renewed" }.to_owned())
}

fn read_force_release(call: &Call, value: &Value, _: LockKind) -> Result<String, ReplyError> {
    let words = match call.read(value)? {
        reentrant::ForceReleaseReply::Released => "force released",
        reentrant::ForceReleaseReply::WasFree => "nothing to release",
    };
    Ok(words.to_owned())
}
