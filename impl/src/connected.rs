//! What the thin clients of all kinds have in common: one lock, over one connection.

use redis::{ConnectionLike, RedisResult};

use crate::error::Error;
use crate::names::{Names, ReleaseReceipt};
use crate::script::{Call, ScriptReply, Scripts};

/// One lock over one connection. A kind says which call each of its verbs is.
#[derive(Debug)]
pub(crate) struct ConnectedLock<C> {
    connection: C,
    names: Names,
    scripts: Scripts,
}

impl<C: ConnectionLike> ConnectedLock<C> {
    /// The lock with these names. Nothing is sent yet.
    pub(crate) const fn new(connection: C, names: Names, scripts: Scripts) -> Self {
        Self { connection, names, scripts }
    }

    /// Makes one call, and reads its answer.
    pub(crate) fn ask<R: ScriptReply>(&mut self, call: impl FnOnce(&Scripts, &Names) -> Call) -> Result<R, Error> {
        call(&self.scripts, &self.names).ask(&mut self.connection)
    }

    /// The same for a release: once it is answered, its receipt is deleted.
    pub(crate) fn release<R: ScriptReply>(
        &mut self,
        receipt: &ReleaseReceipt,
        call: impl FnOnce(&Scripts, &Names) -> Call,
    ) -> Result<R, Error> {
        let reply = self.ask(call)?;
        // The release is answered, even if its receipt cannot be deleted: the receipt expires.
        let _: RedisResult<()> = receipt.deletion(&self.names).query(&mut self.connection);
        Ok(reply)
    }
}
