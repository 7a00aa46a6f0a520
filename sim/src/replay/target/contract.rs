//! The contract between the player and what plays the clients.

use lockstep_model::trace::Trace;
use redis::Cmd;

use crate::replay::error::ReplayError;
use crate::replay::history_step::HistoryStep;
use crate::replay::testbed::Testbed;

/// The clients of a history, as one program plays them: our scripts, or a client library under test.
///
/// A step has two halves, and between them the player makes what a node wrote an effect for its replicas. In [`act`] the
/// clients do what the action says, and the node executes their request. In [`observe`] they receive what that led to. Both
/// compare with the step what they can see: what the application was told, and what was sent.
///
/// [`act`]: Target::act
/// [`observe`]: Target::observe
pub trait Target {
    /// Commands that every server must be sent whenever it is started.
    fn setup(&self) -> Vec<Cmd>;

    /// Ends the history before: from now on no client holds, waits or listens, and nothing is in flight.
    ///
    /// # Errors
    /// What keeps the clients from ending.
    fn end(&mut self) -> Result<(), ReplayError>;

    /// Begins a history, on servers that store nothing.
    ///
    /// # Errors
    /// What keeps the clients from being started.
    fn begin(&mut self, trace: &Trace, testbed: &mut Testbed) -> Result<(), ReplayError>;

    /// Does what clients still have to do before servers, links and clocks change as the step says.
    ///
    /// # Errors
    /// As `act`.
    fn prepare(&mut self, _step: HistoryStep<'_>, _testbed: &mut Testbed) -> Result<(), ReplayError> {
        Ok(())
    }

    /// Does what the clients do in this step. Returns the node that executed a request, if one did; the request may still be
    /// queued.
    ///
    /// # Errors
    /// What keeps the clients or the servers from being asked. A difference is a finding.
    fn act(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<Option<usize>, ReplayError>;

    /// Receives what comes after the node's write has become an effect, and compares it with the step.
    ///
    /// # Errors
    /// As `act`.
    fn observe(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError>;

    /// Waits until nothing is queued or on its way between clients and servers, but for what the history holds back, and
    /// compares what has arrived. Called before nodes, links or clocks change, and at the end.
    ///
    /// # Errors
    /// As `act`.
    fn settle(&mut self, testbed: &mut Testbed) -> Result<(), ReplayError>;
}
