//! Sentences that more than one part of the program shows. Each stands here once.

use lockstep_model::ActionKind;

/// What a fault does, as a sentence without a full stop. Of an action that is no fault: its name.
pub const fn fault_sentence(fault: ActionKind) -> &'static str {
    match fault {
        ActionKind::CrashClient => "a client crashes for good",
        ActionKind::CrashThread => "a thread that holds dies and its process lives on",
        ActionKind::PauseClient => "a client is paused and its timers become overdue",
        ActionKind::CrashNode => "a node crashes",
        ActionKind::LoseMessage => "an unlock message is lost",
        ActionKind::ForeignRelease => "a thread releases without holding",
        ActionKind::ForceRelease => "a client deletes the lock, no matter who holds it",
        ActionKind::RestartNode => "a crashed node restarts",
        ActionKind::CutLink => "a node is cut off from the other nodes",
        ActionKind::VanishKey => "a master loses the lock's key: evicted, or deleted by hand",
        ActionKind::LoseRequest => "a request is lost",
        ActionKind::LoseReply => "a reply is lost",
        ActionKind::Interrupt => "a thread is interrupted in lock() or unlock()",
        ActionKind::ClockJump => "the clock of a node jumps",
        ActionKind::ClientClockJump => "the wall clock of a client jumps",
        ActionKind::HandOver => "a replica is made the master while the master runs",
        other => other.name(),
    }
}
