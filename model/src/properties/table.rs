//! The table of the properties.
//!
//! A predicate looks at one state; that of a liveness property says what is still owed there. A rule about a step marks the
//! state that the step leads to ([`Breach`](crate::notes::Breach)), so that any checker of states can see it.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::claim::{Claim, PropertyKind};
use super::{
    actions_reached, all_or_none, counts_agree, dead_head_passed, effects_in_order, first_come_first_served,
    freed_after_crash, grant_acknowledged, grant_survives, interrupt_reported, no_dead_head, no_orphan,
    no_sleeping_waiter, obtainable, one_believer, one_server_holder, only_holder_releases, readers_share, refusal_true,
    renewal_rate_bounded, renewed_while_held, tokens_increase, valid_at_grant, wait_limit_kept, waiter_served,
    writer_served,
};
use crate::config::sections::Config;
use crate::locks::holder::Holder;
use crate::mutants::Mutant;
use crate::notes::Happening;
use crate::world::layout::Layout;
use crate::world::state::World;

/// Collects the properties from their files.
macro_rules! properties {
    (
        safety { $($(#[$safety_doc:meta])* $safety:ident => $safety_file:ident,)+ }
        liveness { $($(#[$liveness_doc:meta])* $liveness:ident => $liveness_file:ident,)+ }
        possible { $($(#[$possible_doc:meta])* $possible:ident => $possible_file:ident,)+ }
        reachable { $($(#[$reachable_doc:meta])* $reachable:ident => $reachable_file:ident,)+ }
    ) => {
        /// A property.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        pub enum Property {
            $($(#[$safety_doc])* $safety,)+
            $($(#[$liveness_doc])* $liveness,)+
            $($(#[$possible_doc])* $possible,)+
            $($(#[$reachable_doc])* $reachable,)+
        }

        impl Property {
            /// Those that say something about every state.
            pub const SAFETY: [Self; [$(Self::$safety),+].len()] = [$(Self::$safety),+];

            /// Those that say something about every fair path: what is pending does not stay so for ever.
            pub const LIVENESS: [Self; [$(Self::$liveness),+].len()] = [$(Self::$liveness),+];

            /// Those that say something about what can still happen after every state.
            pub const POSSIBLE: [Self; [$(Self::$possible),+].len()] = [$(Self::$possible),+];

            const REACHABLE: [Self; [$(Self::$reachable),+].len()] = [$(Self::$reachable),+];

            /// Every property, in the order of the table.
            pub const ALL: [Self; Self::SAFETY.len()
                + Self::LIVENESS.len()
                + Self::POSSIBLE.len()
                + Self::REACHABLE.len()] =
                [$(Self::$safety,)+ $(Self::$liveness,)+ $(Self::$possible,)+ $(Self::$reachable),+];

            /// What it claims.
            pub const fn claim(self) -> &'static Claim {
                match self {
                    $(Self::$safety => &$safety_file::CLAIM,)+
                    $(Self::$liveness => &$liveness_file::CLAIM,)+
                    $(Self::$possible => &$possible_file::CLAIM,)+
                    $(Self::$reachable => &$reachable_file::CLAIM,)+
                }
            }

            /// Whether it is so in this state. Properties about whole runs are true of each state.
            #[inline]
            pub fn holds<Y: Layout>(self, world: &World<Y>) -> bool {
                match self {
                    $(Self::$safety => $safety_file::holds(world),)+
                    $(Self::$liveness => true,)+
                    $(Self::$possible => true,)+
                    $(Self::$reachable => true,)+
                }
            }

            /// Whether, in this state, what a liveness property promises to this thread is still owed. The property is
            /// broken by a fair path on which, from some state on, it is owed to the same thread for ever.
            pub fn pending<Y: Layout>(self, world: &World<Y>, holder: Holder) -> bool {
                match self {
                    $(Self::$liveness => $liveness_file::pending(world, holder),)+
                    $(Self::$safety => false,)+
                    $(Self::$possible => false,)+
                    $(Self::$reachable => false,)+
                }
            }

            /// Whether, in this state, what a property calls possible must be possible still: some step after it, without
            /// a fault, makes somebody believe that did not.
            pub fn is_wanted<Y: Layout>(self, world: &World<Y>) -> bool {
                match self {
                    $(Self::$possible => $possible_file::is_wanted(world),)+
                    $(Self::$safety => false,)+
                    $(Self::$liveness => false,)+
                    $(Self::$reachable => false,)+
                }
            }

            /// Whether it may come about from this state at all: nothing needs to be searched behind the others.
            pub fn is_pursued<Y: Layout>(self, world: &World<Y>) -> bool {
                match self {
                    $(Self::$possible => $possible_file::is_pursued(world),)+
                    $(Self::$safety => false,)+
                    $(Self::$liveness => false,)+
                    $(Self::$reachable => false,)+
                }
            }
        }
    };
}

properties! {
    safety {
        /// At most one believer: mutual exclusion as a user of the lock sees it.
        OneBeliever => one_believer,
        /// At most one stored holder among the nodes that accept writes: mutual exclusion as Redis sees it.
        OneServerHolder => one_server_holder,
        /// The check of replicas is made.
        GrantAcknowledged => grant_acknowledged,
        /// Grants do not vanish.
        GrantSurvives => grant_survives,
        /// The resource sees holders in the order of their grants.
        EffectsInOrder => effects_in_order,
        /// Fencing tokens grow.
        TokensIncrease => tokens_increase,
        /// A release or renewal by anyone but the holder changes nothing.
        OnlyHolderReleases => only_holder_releases,
        /// Client and master agree on hold counts.
        CountsAgree => counts_agree,
        /// Wait limits are kept.
        WaitLimitKept => wait_limit_kept,
        /// An interrupt is not swallowed.
        InterruptReported => interrupt_reported,
        /// A refusal that a caller is told of is none that a grant follows.
        RefusalTrue => refusal_true,
        /// No waiter sleeps beside a free lock.
        NoSleepingWaiter => no_sleeping_waiter,
        /// Nobody is served before one who came earlier.
        FirstComeFirstServed => first_come_first_served,
        /// A waiter that does not come back holds up the others until its deadline, and no longer.
        DeadHeadPassed => dead_head_passed,
        /// Readers do not exclude each other.
        ReadersShare => readers_share,
        /// A grant of most masters is one.
        ValidAtGrant => valid_at_grant,
        /// A call that has ended leaves no part of a lock behind.
        AllOrNone => all_or_none,
        /// The watchdog keeps the lease.
        RenewedWhileHeld => renewed_while_held,
        /// The watchdog does not renew more often than it is set to.
        RenewalRateBounded => renewal_rate_bounded,
    }
    liveness {
        /// Nobody waits for ever.
        WaiterServed => waiter_served,
        /// A crashed holder does not keep the lock.
        FreedAfterCrash => freed_after_crash,
        /// A lock that nobody believes in does not stay.
        NoOrphan => no_orphan,
        /// A waiter that does not come back does not keep a free lock from the others.
        NoDeadHead => no_dead_head,
        /// A writer does not wait for ever while readers come and go.
        WriterServed => writer_served,
    }
    possible {
        /// The lock can still be had.
        Obtainable => obtainable,
    }
    reachable {
        /// Everything that the scenario allows happens.
        ActionsReached => actions_reached,
    }
}

impl Property {
    /// The word that scenarios and reports use.
    pub const fn id(self) -> &'static str {
        self.claim().id
    }

    /// What it says.
    pub const fn sentence(self) -> &'static str {
        self.claim().sentence
    }

    /// Where the claim comes from.
    pub const fn source(self) -> &'static str {
        self.claim().source
    }

    /// What sort of claim it is.
    pub const fn kind(self) -> PropertyKind {
        self.claim().kind
    }

    /// What must happen for a "holds" to say anything: the property's reachable twin. That of a liveness property is that
    /// something is [`pending`](Self::pending) at all, that of a possibility that it is [wanted](Self::is_wanted).
    pub const fn antecedent(self) -> Option<Happening> {
        self.claim().antecedent
    }

    /// That the antecedent never came true, in words, for a verdict of vacuous.
    pub const fn antecedent_sentence(self) -> &'static str {
        self.claim().untested
    }

    /// A wrong rule by which it fails.
    pub const fn mutant(self) -> Mutant {
        self.claim().mutant
    }

    /// The property with that id.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|property| property.id() == id)
    }

    /// Whether the scenario is one that it speaks of.
    ///
    /// # Errors
    /// Why it says nothing about this scenario, for a reader who declared it.
    pub fn applies(self, config: &Config) -> Result<(), &'static str> {
        (self.claim().applies)(config)
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}
