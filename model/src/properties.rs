//! What must always be so, or come true in the end: every property with its name, its sentence, its source and its
//! predicate.
//!
//! A predicate looks at one state; that of a liveness property says what is still owed there. A rule about a step marks
//! the state that the step leads to ([`Breach`]), so that any checker of states can see it. A property that was never
//! put to the test is vacuous: each names the happening that puts it there ([`Property::antecedent`]).

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::locks::Record;
use crate::step::Happening;
use crate::world::{Breach, Holder, Mode, Node, Phase, Timer, World};

/// A property: a name that is stable across versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Property {
    /// At most one believer.
    OneBeliever,
    /// At most one stored holder among nodes that accept writes.
    OneServerHolder,
    /// Grants do not vanish.
    GrantSurvives,
    /// The resource sees holders in the order of their grants.
    EffectsInOrder,
    /// Fencing tokens grow.
    TokensIncrease,
    /// Nobody else's release or renewal changes anything.
    OnlyHolderReleases,
    /// Client and master count alike.
    CountsAgree,
    /// Wait limits are kept.
    WaitLimitKept,
    /// Nobody sleeps beside a free lock.
    NoSleepingWaiter,
    /// The watchdog keeps the lease.
    RenewedWhileHeld,
    /// Nobody waits for ever.
    WaiterServed,
    /// A crashed holder does not keep the lock.
    FreedAfterCrash,
    /// A lock nobody believes in does not stay.
    NoOrphan,
    /// Everything the scenario allows happens.
    ActionsReached,
}

/// What sort of claim a property is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PropertyKind {
    /// In every state.
    Safety,
    /// On every fair path.
    Liveness,
    /// At least once.
    Reachable,
}

/// What is known of a property after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every reachable state was looked at, and it is so in each.
    Holds,
    /// A trace breaks it.
    Violated,
    /// It was never put to the test: an antecedent never true, an allowed action never taken.
    Vacuous,
    /// A limit fired before either was known.
    Inconclusive,
}

impl Property {
    /// Every property, in the order of the design page.
    pub const ALL: [Self; 14] = [
        Self::OneBeliever,
        Self::OneServerHolder,
        Self::GrantSurvives,
        Self::EffectsInOrder,
        Self::TokensIncrease,
        Self::OnlyHolderReleases,
        Self::CountsAgree,
        Self::WaitLimitKept,
        Self::NoSleepingWaiter,
        Self::RenewedWhileHeld,
        Self::WaiterServed,
        Self::FreedAfterCrash,
        Self::NoOrphan,
        Self::ActionsReached,
    ];

    /// Those that say something about every state.
    pub const SAFETY: [Self; 10] = [
        Self::OneBeliever,
        Self::OneServerHolder,
        Self::GrantSurvives,
        Self::EffectsInOrder,
        Self::TokensIncrease,
        Self::OnlyHolderReleases,
        Self::CountsAgree,
        Self::WaitLimitKept,
        Self::NoSleepingWaiter,
        Self::RenewedWhileHeld,
    ];

    /// Those that say something about every fair path: what is pending does not stay so for ever.
    pub const LIVENESS: [Self; 3] = [Self::WaiterServed, Self::FreedAfterCrash, Self::NoOrphan];

    /// The word scenarios and reports use.
    pub const fn id(self) -> &'static str {
        match self {
            Self::OneBeliever => "one-believer",
            Self::OneServerHolder => "one-server-holder",
            Self::GrantSurvives => "grant-survives",
            Self::EffectsInOrder => "effects-in-order",
            Self::TokensIncrease => "tokens-increase",
            Self::OnlyHolderReleases => "only-holder-releases",
            Self::CountsAgree => "counts-agree",
            Self::WaitLimitKept => "wait-limit-kept",
            Self::NoSleepingWaiter => "no-sleeping-waiter",
            Self::RenewedWhileHeld => "renewed-while-held",
            Self::WaiterServed => "waiter-served",
            Self::FreedAfterCrash => "freed-after-crash",
            Self::NoOrphan => "no-orphan",
            Self::ActionsReached => "actions-reached",
        }
    }

    /// What it says.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::OneBeliever => "at most one holder (one thread of one client) believes it holds",
            Self::OneServerHolder => "no two nodes that accept writes store different unexpired holders",
            Self::GrantSurvives => {
                "a grant that is neither released nor expired does not vanish from the acting master"
            }
            Self::EffectsInOrder => "the resource never accepts an effect of a holder after one of a later holder",
            Self::TokensIncrease => "every new grant has a fencing token greater than all before",
            Self::OnlyHolderReleases => "a release, renewal or extension by anyone else changes nothing",
            Self::CountsAgree => "with no request in flight, a believer's hold count is what the master stores for it",
            Self::WaitLimitKept => "a client with a wait limit has its answer when the limit is over",
            Self::NoSleepingWaiter => {
                "no waiter sleeps with the lock free and nothing under way that will wake it but the TTL timer"
            }
            Self::RenewedWhileHeld => "a running, connected believer with a watchdog never loses its lease to expiry",
            Self::WaiterServed => "who waits is at some time granted, gives up by its own limit, or crashes",
            Self::FreedAfterCrash => "after its holder crashed the lock becomes free",
            Self::NoOrphan => "a lock that nobody believes in becomes free",
            Self::ActionsReached => {
                "every action that the scenario allows is taken on some path, every budget can be spent"
            }
        }
    }

    /// Where the claim comes from.
    pub const fn source(self) -> &'static str {
        match self {
            Self::OneBeliever => "mutual exclusion, seen from the clients: what a user of RLock relies on",
            Self::OneServerHolder => "mutual exclusion, seen from Redis: one hash field `holder` under one key",
            Self::GrantSurvives => "Redis documentation, replication: an acknowledged write can be lost in a failover",
            Self::EffectsInOrder | Self::TokensIncrease => {
                "Kleppmann 2016, How to do distributed locking: fencing tokens; Redisson's RFencedLock"
            }
            Self::OnlyHolderReleases => {
                "Redisson unlockInner, renew: `hexists` before every write; Redis documentation, SET: compare-and-delete"
            }
            Self::CountsAgree => "Redisson RLock.getHoldCount",
            Self::WaitLimitKept => "Redisson RLock.tryLock(waitTime)",
            Self::NoSleepingWaiter => "Redisson LockPubSub: a release wakes a waiter, the TTL timer is the fallback",
            Self::RenewedWhileHeld => {
                "Redisson lockWatchdogTimeout, LockRenewalScheduler: renewal at a third of the lease"
            }
            Self::WaiterServed => {
                "Redisson RLock.lock: waits until the lock is there; RLock is not fair, so newcomers may always be faster"
            }
            Self::FreedAfterCrash => {
                "Redis documentation, SET: the lock is released after the expire time is reached; Redisson RLock: the \
                 watchdog renews only while the holder's process is alive"
            }
            Self::NoOrphan => {
                "Redisson lockWatchdogTimeout: the watchdog serves the process, not the thread that holds"
            }
            Self::ActionsReached => "a verdict about things that never happen says nothing",
        }
    }

    /// The property with that id.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|property| property.id() == id)
    }

    /// What sort of claim it is.
    pub const fn kind(self) -> PropertyKind {
        match self {
            Self::ActionsReached => PropertyKind::Reachable,
            Self::WaiterServed | Self::FreedAfterCrash | Self::NoOrphan => PropertyKind::Liveness,
            _ => PropertyKind::Safety,
        }
    }

    /// Whether the scenario is one that it speaks of.
    ///
    /// # Errors
    /// Why it says nothing about this scenario, for a reader who declared it.
    pub fn applies(self, config: &Config) -> Result<(), &'static str> {
        match self {
            Self::EffectsInOrder if config.resource.is_none() => Err("the scenario has no [resource]"),
            Self::TokensIncrease if !config.resource.is_some_and(|resource| resource.fenced) => {
                Err("the scenario has no [resource] with fenced = true")
            }
            Self::WaitLimitKept if config.time.wait_limit.is_none_or(|limit| limit == 0) => {
                Err("no client waits with a limit: wait_limit in [time] is left out or 0")
            }
            Self::NoSleepingWaiter if !config.lock.publishes() => Err("clients of this lock kind poll; none sleeps"),
            Self::NoSleepingWaiter | Self::WaiterServed if !config.waits() => {
                Err("no client waits: wait_limit in [time] is 0")
            }
            Self::RenewedWhileHeld if config.time.renew_every.is_none() => {
                Err("there is no watchdog: renew_every in [time] is left out")
            }
            Self::FreedAfterCrash if config.faults.crash_client == 0 => {
                Err("no client crashes: crash_client in [faults] is 0")
            }
            Self::NoOrphan if config.is_split() => Ok(()),
            // A failover can forget a release, and so can a disk; nothing else leaves a lock behind whose holder does not
            // believe.
            Self::NoOrphan
                if config.faults.crash_client == 0
                    && config.faults.crash_thread == 0
                    && !config.can_fail_over()
                    && !config.has_late_disk() =>
            {
                Err("no holder dies and no failover forgets a release: the stored holder always believes")
            }
            _ => Ok(()),
        }
    }

    /// What must happen for a "holds" to say anything: the property's reachable twin. That of a liveness property is
    /// that something is [`pending`](Self::pending) at all.
    pub const fn antecedent(self) -> Option<Happening> {
        match self {
            Self::OneBeliever | Self::CountsAgree => Some(Happening::Granted),
            Self::OneServerHolder => Some(Happening::TwoMasters),
            Self::GrantSurvives => Some(Happening::GrantAtRisk),
            Self::EffectsInOrder => Some(Happening::AnotherHoldersEffect),
            Self::TokensIncrease => Some(Happening::LaterToken),
            Self::OnlyHolderReleases => Some(Happening::ForeignAttempt),
            Self::WaitLimitKept => Some(Happening::LimitReached),
            Self::NoSleepingWaiter => Some(Happening::FellAsleep),
            Self::RenewedWhileHeld => Some(Happening::LeaseRenewed),
            Self::WaiterServed | Self::FreedAfterCrash | Self::NoOrphan | Self::ActionsReached => None,
        }
    }

    /// The antecedent in words, for a verdict of vacuous.
    pub const fn antecedent_sentence(self) -> &'static str {
        match self {
            Self::OneBeliever | Self::CountsAgree => "nobody is ever granted the lock",
            Self::OneServerHolder => "no two nodes ever take themselves for the master",
            Self::GrantSurvives => "no master is ever lost with a grant, or drops its key",
            Self::EffectsInOrder => "no second holder ever works on the resource",
            Self::TokensIncrease => "there is never a second grant",
            Self::OnlyHolderReleases => "nobody but the stored holder ever releases or renews",
            Self::WaitLimitKept => "no wait ever reaches its limit",
            Self::NoSleepingWaiter => "no waiter ever sleeps",
            Self::RenewedWhileHeld => "the watchdog never renews",
            Self::WaiterServed => "nobody ever waits",
            Self::FreedAfterCrash => "no client ever crashes while it holds",
            Self::NoOrphan => "the stored holder always believes",
            Self::ActionsReached => "something that the scenario allows never happens",
        }
    }

    /// Whether it is so in this state. Liveness and `ActionsReached` are about whole runs and true of each state.
    pub fn holds<R: Record, const C: usize, const N: usize>(self, world: &World<R, C, N>) -> bool {
        match self {
            Self::OneBeliever => world.believers().count() <= 1,
            Self::OneServerHolder => one_server_holder(world),
            Self::GrantSurvives => !world.breaches.has(Breach::GrantVanished),
            Self::EffectsInOrder => !world.breaches.has(Breach::EffectOutOfOrder),
            Self::TokensIncrease => !world.breaches.has(Breach::TokenNotGreater),
            Self::OnlyHolderReleases => !world.breaches.has(Breach::ForeignChange),
            Self::CountsAgree => counts_agree(world),
            Self::WaitLimitKept => !world.breaches.has(Breach::WaitLimitOverrun),
            Self::NoSleepingWaiter => no_sleeping_waiter(world),
            Self::RenewedWhileHeld => !world.breaches.has(Breach::LeaseLost),
            Self::WaiterServed | Self::FreedAfterCrash | Self::NoOrphan | Self::ActionsReached => true,
        }
    }

    /// Whether, in this state, what a liveness property promises to this thread is still owed. The property is broken by
    /// a fair path on which, from some state on, it is owed to the same thread for ever.
    pub fn pending<R: Record, const C: usize, const N: usize>(self, world: &World<R, C, N>, holder: Holder) -> bool {
        let is_stored = || world.acting_master().is_some_and(|master| master.record.holder() == Some(holder));
        match self {
            // Who has its first answer still to come was not refused.
            Self::WaiterServed => {
                let thread = world.thread(holder);
                thread.is_waiting() && thread.phase != Phase::Asking
            }
            // What a dead master stored is not there, whoever held it.
            Self::FreedAfterCrash => world.client(holder.client()).mode == Mode::Crashed && is_stored(),
            Self::NoOrphan => !world.thread(holder).believes() && is_stored(),
            Self::OneBeliever
            | Self::OneServerHolder
            | Self::GrantSurvives
            | Self::EffectsInOrder
            | Self::TokensIncrease
            | Self::OnlyHolderReleases
            | Self::CountsAgree
            | Self::WaitLimitKept
            | Self::NoSleepingWaiter
            | Self::RenewedWhileHeld
            | Self::ActionsReached => false,
        }
    }
}

fn one_server_holder<R: Record, const C: usize, const N: usize>(world: &World<R, C, N>) -> bool {
    let mut holders = world.group.nodes.iter().filter(|node| node.is_master()).filter_map(|node| node.record.holder());
    let first = holders.next();
    holders.all(|holder| Some(holder) == first)
}

/// Between promotion and discovery the client cannot know better; what counts is what the acting master would answer.
fn counts_agree<R: Record, const C: usize, const N: usize>(world: &World<R, C, N>) -> bool {
    let Some(record) = world.acting_master().map(|master| master.record) else { return true };
    world.believers().all(|(holder, _, thread)| {
        world.requests(holder.client()).is_calling(holder.thread())
            || thread.is_confirming()
            || (record.holder() == Some(holder) && record.hold_count() == thread.holds)
    })
}

/// Only a running client's waiter is meant: a paused one sleeps for another reason. What may be under way: a permit, a
/// message, the waiter's own limit or timer that is due.
fn no_sleeping_waiter<R: Record, const C: usize, const N: usize>(world: &World<R, C, N>) -> bool {
    let is_free = world.acting_master().is_some_and(|master: &Node<R>| master.record.holder().is_none());
    !is_free
        || world.threads().all(|(_, client, thread)| {
            let sleeps = client.is_running() && thread.phase == Phase::Waiting && thread.wake_in != Timer::DUE;
            let will_be_woken = client.wakeup.permits > 0 || client.wakeup.messages > 0 || thread.wait_left.is_due();
            !sleeps || will_be_woken
        })
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

impl Verdict {
    /// The word scenarios and reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Violated => "violated",
            Self::Vacuous => "vacuous",
            Self::Inconclusive => "inconclusive",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
