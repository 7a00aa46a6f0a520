//! Who does what, in words: the lines of every list of actions.

use lockstep_model::action::Party;
use lockstep_model::client::Slot;
use lockstep_model::trace::{lane, node_name};
use lockstep_model::{Action, Config};

use super::units::time;

/// The name of the party that acts; time is a party too.
pub fn actor(config: &Config, action: Action) -> String {
    match action.party() {
        Party::World => "time".to_owned(),
        party => lane(config, party),
    }
}

/// What the party does, as it follows its name: `A | asks for the lock`.
#[expect(clippy::too_many_lines, reason = "one arm for each action")]
pub const fn does(action: Action) -> &'static str {
    match action {
        Action::Acquire { .. } => "asks for the lock",
        Action::NextPart { .. } => "asks for its next part",
        Action::GiveBack { .. } => "gives back its next part",
        Action::Subscribe { .. } => "subscribes to the unlock channel",
        Action::SecondAsk { .. } => "asks again, now subscribed",
        Action::WakeByMessage { .. } => "is woken by a message, and asks",
        Action::WakeByTimer { .. } => "is woken by its timer, and asks",
        Action::GiveUp { .. } => "gives up: its wait limit is over",
        Action::Confirm { .. } => "has its WAIT answered",
        Action::Undo { .. } => "releases its grant: too few replicas have it",
        Action::SetTtl { .. } => "sets the TTL of the lock",
        Action::ReadToken { .. } => "reads its fencing token",
        Action::AskIfHeld { .. } => "asks whether it holds",
        Action::Work { .. } => "works on the resource",
        Action::Arrive { .. } => "has its late write arrive at the resource",
        Action::Release { .. } => "releases",
        Action::AskMaster { .. } => "asks a master",
        Action::ExtendAt { .. } => "extends its lease on a master",
        Action::SetTtlAt { .. } => "sets its lease on a master",
        Action::HearMaster { .. } => "hears the late reply of a master",
        Action::ReleaseAt { .. } => "releases on a master",
        Action::ArriveLate { .. } => "has a late ask arrive at a master",
        Action::Discover { .. } => "learns which node is the master",
        Action::DiscoverMaster { .. } => "learns which node of a group is the master",
        Action::GoBack { .. } => "goes back to an old master",
        Action::Resubscribe { .. } => "subscribes again, on the new master",
        Action::Resume { .. } => "resumes",
        Action::Deliver { .. } => "receives an unlock message",
        Action::Execute { slot, .. } => match slot {
            Slot::Call1 | Slot::Call2 => "has its request executed",
            Slot::Renewal => "has its renewal executed",
            Slot::Late | Slot::Late2 | Slot::Late3 | Slot::Late4 => "has an abandoned request executed",
        },
        Action::Register { .. } => "has its hold registered for renewal",
        Action::Unregister { .. } => "has its hold removed from the renewals",
        Action::Answer { slot, .. } => match slot {
            Slot::Call1 | Slot::Call2 => "receives the answer",
            Slot::Renewal => "receives the answer to its renewal",
            Slot::Late | Slot::Late2 | Slot::Late3 | Slot::Late4 => "receives the answer to an abandoned request",
        },
        Action::Resend { slot, .. } => match slot {
            Slot::Call1 | Slot::Call2 | Slot::Late | Slot::Late2 | Slot::Late3 | Slot::Late4 => {
                "has no answer, and sends the request again"
            }
            Slot::Renewal => "has no answer to its renewal, and sends it again",
        },
        Action::Abandon { slot, .. } => match slot {
            Slot::Call1 | Slot::Call2 | Slot::Late | Slot::Late2 | Slot::Late3 | Slot::Late4 => {
                "has no answer, and stops waiting"
            }
            Slot::Renewal => "has no answer to its renewal, and stops waiting",
        },
        Action::Renew { .. } => "renews by its watchdog",
        Action::RenewAcknowledged { .. } => "renews by its watchdog, and a late replica acknowledges it",
        Action::Replicate { .. } => "applies the next effect",
        Action::Promote { .. } => "is promoted to master",
        Action::Resync { .. } => "follows the master, and takes its data",
        Action::LeaveMaster { .. } => "is told of the new master, and leaves the old one",
        Action::Demote { .. } => "is demoted: it is told to follow the new master",
        Action::Fsync { .. } => "writes its data to disk",
        Action::Snapshot { .. } => "saves a snapshot of its data",
        Action::FinishShutdown { .. } => "ends, as it was told to",
        Action::FinishHandOver { .. } => "takes over from the master that waited for it",
        Action::GiveUpHandOver { .. } => "gives up the hand-over, and executes writes again",
        Action::Heal { .. } => "is connected to the other nodes again",
        Action::Recount { .. } => "counts its replicas, and drops those that are silent",
        Action::NoticeDeath { .. } => "is found to be dead by its master",
        Action::AcceptWrites { .. } => "accepts writes again",
        Action::Expire { .. } => "finds at the very instant that the key's time is over",
        Action::ExpirePart { .. } => "expires one of two keys that end together, before the other one",
        Action::ExpireReceipts { .. } => "finds at the very instant that the time of a receipt is over",
        Action::ResumeNode { .. } => "goes on after it stood still",
        Action::CountReplicas { .. } => "counts its replicas anew",
        Action::CrashClient { .. } => "crashes for good",
        Action::CrashThread { .. } => "dies while its process lives on",
        Action::PauseClient { .. } => "is paused",
        Action::StartClient { .. } => "starts",
        Action::CrashNode { .. } => "crashes",
        Action::HandOver { .. } => "is to take over while the master runs",
        Action::LoseMessage { .. } => "loses an unlock message on its way",
        Action::LoseRequest { slot, .. } => match slot {
            Slot::Call1 | Slot::Call2 => "has its request lost",
            Slot::Renewal => "has its renewal lost",
            Slot::Late | Slot::Late2 | Slot::Late3 | Slot::Late4 => "has an abandoned request lost",
        },
        Action::LoseReply { slot, .. } => match slot {
            Slot::Call1 | Slot::Call2 => "has the answer to its request lost",
            Slot::Renewal => "has the answer to its renewal lost",
            Slot::Late | Slot::Late2 | Slot::Late3 | Slot::Late4 => "has the answer to an abandoned request lost",
        },
        Action::LoseAsk { .. } => "does not reach a master that it asks",
        Action::SlowReply { .. } => "asks a master, whose reply is late",
        Action::LateAsk { .. } => "gives up on a master while its ask is under way",
        Action::Interrupt { .. } => "is interrupted",
        Action::ForeignRelease { .. } => "releases without holding",
        Action::ForceRelease { .. } => "deletes the lock, no matter who holds it",
        Action::RestartNode { .. } => "restarts",
        Action::KillNode { .. } => "has its process killed",
        Action::ShutdownNode { .. } => "is told to end",
        Action::PauseNode { .. } => "stands still",
        Action::CutLink { .. } => "is cut off from the other nodes",
        Action::RefuseWrites { .. } => "refuses every write: its last save failed",
        Action::MoveSlot { .. } => "begins to give up the slot of the lock to another master",
        Action::MoveKeys { .. } => "has the keys of the slot moved to the other master",
        Action::FinishMove { .. } => "becomes the new master of the slot",
        Action::BreakLink { .. } => "loses its link to the master",
        Action::VanishKey { .. } => "loses the lock's key",
        Action::PersistKey { .. } => "is told that the lock's key has no TTL any more (PERSIST)",
        Action::VanishReceipts { .. } => "evicts the release receipts",
        Action::VanishToken { .. } => "loses the counter of fencing tokens",
        Action::OverwriteKey { .. } => "has the key of a lock overwritten with a string (SET)",
        Action::ClockJump { .. } => "has its clock jump",
        Action::ClientClockJump { .. } => "has its wall clock jump",
        Action::Tick => "one tick passes",
    }
}

/// The same, with the master that is meant where a client asks several.
pub fn does_where(action: Action) -> String {
    match action.asked_master() {
        Some(node) => format!("{} ({})", does(action), node_name(node)),
        None => does(action).to_owned(),
    }
}

/// Party and action: `A asks for the lock`, `one tick passes: 10 s`.
pub fn deed(config: &Config, action: Action) -> String {
    match action.party() {
        Party::World => format!("{}: {}", does(action), time(config, 1)),
        _ => format!("{} {}", actor(config, action), does_where(action)),
    }
}
