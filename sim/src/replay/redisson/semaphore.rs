//! Which of two waiting threads of one process takes a permit. In the model either may. In Redisson the threads that wait for a lock
//! share a semaphore, whose queue is served in the order in which they came
//! (docs/facts/redisson.md#wake-up-inside-one-process).

use lockstep_model::Action;
use lockstep_model::client::Phase;
use lockstep_model::trace::ClientState;

/// The threads of one client that wait at its semaphore, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct SemaphoreQueue(Vec<u8>);

impl SemaphoreQueue {
    /// Whether another thread has waited for longer than this one.
    pub fn is_behind(&self, thread: u8) -> bool {
        self.0.first().is_some_and(|first| *first != thread)
    }

    /// A step was done.
    pub fn follow(&mut self, action: Action, before: &ClientState, after: &ClientState, client: u8) {
        let has_asked = |thread: u8| match action {
            Action::SecondAsk { client: of, thread: asking }
            | Action::WakeByMessage { client: of, thread: asking }
            | Action::WakeByTimer { client: of, thread: asking } => (of, asking) == (client, thread),
            _ => false,
        };
        for (thread, (before, after)) in (0u8..).zip(before.threads.iter().zip(&after.threads)) {
            let (waited, waits) = (before.phase == Phase::Waiting, after.phase == Phase::Waiting);
            // One that was woken and is refused comes again.
            if waited && (!waits || has_asked(thread)) {
                self.0.retain(|waiting| *waiting != thread);
            }
            if waits && (!waited || has_asked(thread)) {
                self.0.push(thread);
            }
        }
    }
}
