//! An acquire by two commands: the lock is taken, and then its TTL is set. Between the two the lock has none.
//!
//! The second command looks neither whose the lock is by now nor what it is answered; only an error, or no answer, makes the
//! call fail, and then the lock stays as it is. Where request and answer are one step, each command is one; where they are
//! steps of their own, the second command is sent as soon as the first one is answered.
//!
//! Source: docs/locks/plain.md#setnx-then-expire.

use super::process::Process;
use super::requests::InFlight;
use super::state::Phase;
use crate::reply::Reply;

impl<Q: InFlight> Process<'_, Q> {
    /// A thread has taken the lock, which has no TTL yet.
    pub(super) fn begin_setting_ttl(&mut self, thread: u8, token: u8) {
        let setting = self.thread_mut(thread);
        setting.phase = Phase::SettingTtl;
        setting.token = setting.token.max(token);
    }

    /// Whether a thread is about to set the TTL of the lock that it has taken.
    pub(crate) fn can_set_ttl(&self, thread: u8) -> bool {
        let is_setting = self.thread(thread).phase == Phase::SettingTtl;
        self.client.is_running() && is_setting && self.call_of(thread).is_none()
    }

    /// A thread hears the answer to that: it holds now, as far as it knows, unless the server has refused to write or does not
    /// answer.
    pub(crate) fn hear_ttl(&mut self, thread: u8, reply: Reply) {
        if self.config.has_parts() {
            return self.hear_final_lease(thread, reply);
        }
        if matches!(reply, Reply::TtlSet | Reply::NoTtlSet) {
            let token = self.thread(thread).token;
            self.believe(thread, token);
        } else {
            *self.thread_mut(thread) = self.thread(thread).settled();
        }
    }
}
