//! The `WAIT`s of Redisson's clients that are not answered.

use super::calls::ToldWords;
use crate::replay::history_step::StepPlace;

/// A thread of a client, and what it is told when its call goes on.
pub type ThreadTold = ((u8, u8), ToldWords);

/// A `WAIT` that is not answered.
pub struct OpenWait {
    /// From 0.
    pub client: u8,
    /// The connection that it was sent over.
    pub connection: usize,
    /// How many replicas it asks for.
    pub replicas: u8,
    /// The thread that waits for a step of its own; `None`: the model does not have this one.
    pub confirming: Option<u8>,
    /// The thread that waits for the answer, and what its call returns or throws then. `None`: no thread waits.
    pub told: Option<ThreadTold>,
    /// What a thread is told that waits for a step of its own, once enough replicas have its grant.
    pub granted: ToldWords,
    /// Whether that thread asked at its wait limit.
    pub is_at_limit: bool,
    /// Whether the script before it was answered with an error, which its caller is told whatever becomes of the `WAIT`.
    pub is_behind_error: bool,
    /// The step that sent it.
    pub at: StepPlace,
}
