//! The columns of the page: what goes wrong in a world.

use std::collections::BTreeSet;

use lockstep_model::config::{Config, Fault, MessageDelay, NetworkMode, Resource};
use lockstep_sim::scenario::BuiltIn;

/// What goes wrong in a world: one column of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FaultClass {
    NoFault,
    Pause,
    ClientCrash,
    Failover,
    Restart,
    WrongClock,
    LateMessage,
    Interrupt,
    SlotMove,
    /// Faults that have no column.
    Other,
}

impl FaultClass {
    /// Those that have a column.
    pub(super) const COLUMNS: [Self; 9] = [
        Self::NoFault,
        Self::Pause,
        Self::ClientCrash,
        Self::Failover,
        Self::Restart,
        Self::WrongClock,
        Self::LateMessage,
        Self::Interrupt,
        Self::SlotMove,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::NoFault => "no fault",
            Self::Pause => "pause",
            Self::ClientCrash => "client crash",
            Self::Failover => "failover",
            Self::Restart => "restart",
            Self::WrongClock => "wrong clock",
            Self::LateMessage => "late message",
            Self::Interrupt => "interrupt",
            Self::SlotMove => "slot moved",
            Self::Other => "other",
        }
    }

    /// The class of a fault in this world.
    pub(super) const fn of(fault: Fault, config: &Config) -> Self {
        match fault {
            Fault::CrashClient | Fault::CrashThread => Self::ClientCrash,
            Fault::PauseClient | Fault::PauseNode => Self::Pause,
            // A node that dies in order to come back.
            Fault::CrashNode | Fault::KillNode | Fault::ShutdownNode if config.faults.restart_node > 0 => Self::Restart,
            Fault::CrashNode
            | Fault::KillNode
            | Fault::ShutdownNode
            | Fault::CutLink
            | Fault::HandOver
            | Fault::RefuseWrites => {
                if config.can_fail_over() {
                    Self::Failover
                } else {
                    Self::Other
                }
            }
            Fault::RestartNode => Self::Restart,
            Fault::ClockJump | Fault::ClientClockJump => Self::WrongClock,
            Fault::LoseMessage
            | Fault::LoseRequest
            | Fault::LoseReply
            | Fault::LoseAsk
            | Fault::SlowReply
            | Fault::LateAsk => Self::LateMessage,
            Fault::Interrupt => Self::Interrupt,
            Fault::MoveSlot => Self::SlotMove,
            Fault::StartClient
            | Fault::ForeignRelease
            | Fault::ForceRelease
            | Fault::VanishKey
            | Fault::BreakLink
            | Fault::PersistKey
            | Fault::VanishReceipts
            | Fault::VanishToken
            | Fault::OverwriteKey => Self::Other,
        }
    }

    /// The one class of all that can go wrong in this world; `None`: several.
    pub(super) fn of_world(config: &Config) -> Option<Self> {
        let faults = config.faults.budgets().into_iter().filter(|(_, budget)| *budget > 0);
        let mut classes: BTreeSet<Self> = faults.map(|(fault, _)| Self::of(fault, config)).collect();
        let is_late = config.network.mode == NetworkMode::Split
            || config.network.delay != MessageDelay::None
            || config.resource.is_some_and(Resource::is_far);
        if is_late {
            classes.insert(Self::LateMessage);
        }
        if (0..config.clients.count).any(|client| config.clock_ahead_of(client) > 0) {
            classes.insert(Self::WrongClock);
        }
        match classes.len() {
            0 => Some(Self::NoFault),
            1 => classes.first().copied(),
            _ => None,
        }
    }
}

#[test]
fn a_world_is_of_the_class_of_all_that_can_go_wrong_in_it() {
    for (name, class) in [
        ("two-clients-one-node", Some(FaultClass::NoFault)),
        ("pause-longer-than-lease", Some(FaultClass::Pause)),
        ("thread-dies-and-the-lease-ends", Some(FaultClass::ClientCrash)),
        ("failover-loses-the-grant", Some(FaultClass::Failover)),
        ("refused-writes-lead-to-a-failover", Some(FaultClass::Failover)),
        ("restart-loses-the-grant", Some(FaultClass::Restart)),
        ("clock-jump-ends-a-lease", Some(FaultClass::WrongClock)),
        ("fair-clock-a-little-ahead", Some(FaultClass::WrongClock)),
        ("a-split-network", Some(FaultClass::LateMessage)),
        ("lost-unlock-message", Some(FaultClass::LateMessage)),
        ("write-arrives-after-the-next-holder", Some(FaultClass::LateMessage)),
        ("interrupted-wait-ends", Some(FaultClass::Interrupt)),
        // There is no replica that could take over.
        ("refused-renewal-ends-the-lease", Some(FaultClass::Other)),
        ("evicted-lock", Some(FaultClass::Other)),
        ("clock-behind-loses-the-grant", None),
        ("interrupted-acquire-stays", None),
    ] {
        let scenario = BuiltIn::named(name).unwrap_or_else(|| panic!("no scenario {name}")).scenario();
        assert_eq!(FaultClass::of_world(&scenario.config), class, "{name}");
    }
}
