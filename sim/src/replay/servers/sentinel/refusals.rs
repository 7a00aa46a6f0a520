//! Which histories real sentinels can take part in.

use lockstep_model::Action;
use lockstep_model::config::Config;
use lockstep_model::trace::{Trace, TraceStep, node_name};

use super::priorities::heirs;
use crate::replay::error::ReplayError;

/// Refuses a scenario whose histories give Sentinel nothing to do.
///
/// # Errors
/// `NotForSentinel`, with the reason.
pub fn refuse_world(config: &Config) -> Result<(), ReplayError> {
    let reason = if config.cluster.groups > 1 {
        "the scenario has several masters, and Sentinel is started for one"
    } else if config.cluster.replicas == 0 {
        "the scenario has no replica that could be promoted; say replicas = 1 or 2 in [cluster]"
    } else if config.faults.deaths_of_nodes() == 0 {
        "no node of the scenario dies; say crash_node = 1 in [faults]"
    } else {
        return Ok(());
    };
    Err(ReplayError::NotForSentinel { reason: reason.to_owned() })
}

/// Refuses a history in which Sentinel would act on its own.
///
/// # Errors
/// `NotForSentinel`, with the reason.
#[expect(clippy::too_many_lines, reason = "one arm for each action")]
pub fn refuse_trace(trace: &Trace) -> Result<(), ReplayError> {
    refuse_world(&trace.config)?;
    let refused = |reason: String| Err(ReplayError::NotForSentinel { reason });
    for TraceStep { number, action, .. } in &trace.steps {
        match *action {
            Action::RestartNode { node } | Action::Demote { node } => {
                let node = node_name(node);
                return refused(format!(
                    "in step {number} {node} returns, and from then on Sentinel decides on its role"
                ));
            }
            Action::HandOver { node } | Action::FinishHandOver { node } | Action::GiveUpHandOver { node } => {
                let node = node_name(node);
                return refused(format!(
                    "in step {number} an operator makes {node} the master, unknown to the sentinels"
                ));
            }
            Action::CutLink { node } | Action::Heal { node } | Action::BreakLink { node } => {
                let node = node_name(node);
                return refused(format!(
                    "in step {number} a link of {node} is cut, broken or healed, and the sentinels would still reach the node"
                ));
            }
            Action::GoBack { node, .. } => {
                let node = node_name(node);
                return refused(format!(
                    "in step {number} a client goes back to {node}, which no sentinel that is up to date names"
                ));
            }
            Action::FinishShutdown { node } => {
                let node = node_name(node);
                return refused(format!(
                    "before step {number} {node} waits for its replicas, and the sentinels may take it for dead or not"
                ));
            }
            Action::RefuseWrites { node } | Action::AcceptWrites { node } | Action::Recount { node } => {
                let node = node_name(node);
                return refused(format!(
                    "in step {number} {node} begins or ends to refuse writes, and Sentinel would act by its own clock"
                ));
            }
            Action::PauseNode { node } | Action::ResumeNode { node } | Action::CountReplicas { node } => {
                let node = node_name(node);
                return refused(format!(
                    "in step {number} {node} stands still or goes on, and the sentinels would decide by real time whether it is \
                     down"
                ));
            }
            Action::NoticeDeath { node } => {
                let node = node_name(node);
                return refused(format!("in step {number} a master is told late that {node} is dead"));
            }
            Action::MoveSlot { .. } | Action::MoveKeys { .. } | Action::FinishMove { .. } => {
                return refused(format!("in step {number} a slot is moved, and sentinels watch no cluster"));
            }
            // What the history's failover consists of, and what Sentinel allows at any time.
            Action::CrashNode { .. }
            | Action::KillNode { .. }
            | Action::ShutdownNode { .. }
            | Action::Promote { .. }
            | Action::Discover { .. }
            | Action::DiscoverMaster { .. }
            | Action::Resync { .. }
            | Action::LeaveMaster { .. }
            | Action::Replicate { .. }
            // What concerns a node's data, disk or clock, of which Sentinel sees nothing.
            | Action::Fsync { .. } | Action::Snapshot { .. } | Action::VanishKey { .. } | Action::PersistKey { .. } | Action::OverwriteKey { .. }
            | Action::VanishReceipts { .. } | Action::VanishToken { .. } | Action::ClockJump { .. } | Action::Tick | Action::Expire { .. } | Action::ExpirePart { .. }
            | Action::ExpireReceipts { .. }
            // What clients do, or what happens to them and to their requests.
            | Action::Acquire { .. }
            | Action::NextPart { .. }
            | Action::AskMaster { .. }
            | Action::ExtendAt { .. }
            | Action::SetTtlAt { .. }
            | Action::HearMaster { .. }
            | Action::ReleaseAt { .. }
            | Action::ArriveLate { .. }
            | Action::LoseAsk { .. }
            | Action::SlowReply { .. }
            | Action::LateAsk { .. }
            | Action::GiveBack { .. }
            | Action::Subscribe { .. }
            | Action::SecondAsk { .. }
            | Action::WakeByMessage { .. }
            | Action::WakeByTimer { .. }
            | Action::GiveUp { .. }
            | Action::Confirm { .. }
            | Action::Undo { .. }
            | Action::SetTtl { .. }
            | Action::ReadToken { .. }
            | Action::AskIfHeld { .. }
            | Action::Work { .. }
            | Action::Arrive { .. }
            | Action::Release { .. }
            | Action::Resubscribe { .. }
            | Action::Resume { .. }
            | Action::Deliver { .. }
            | Action::Renew { .. }
            | Action::RenewAcknowledged { .. }
            | Action::CrashClient { .. }
            | Action::CrashThread { .. }
            | Action::PauseClient { .. }
            | Action::StartClient { .. }
            | Action::LoseMessage { .. }
            | Action::ForeignRelease { .. }
            | Action::ForceRelease { .. }
            | Action::ClientClockJump { .. }
            | Action::Execute { .. }
            | Action::Register { .. }
            | Action::Unregister { .. }
            | Action::Answer { .. }
            | Action::Resend { .. }
            | Action::Abandon { .. }
            | Action::LoseRequest { .. }
            | Action::LoseReply { .. }
            | Action::Interrupt { .. } => {}
        }
    }
    if heirs(trace).next().is_none() {
        return refused("nobody is promoted in it, so there is nothing for Sentinel to do".to_owned());
    }
    Ok(())
}
