//! JVMs that have no clients now, and may get those of the next world: to start one takes a second.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::jvm::Jvm;

/// What each history leaves in its JVM (threads that never end, classes that are compiled) is small; a new JVM has none of it.
const MOST_HISTORIES: u32 = 100;
/// Each has up to a quarter of a gigabyte.
const MOST_JVMS: usize = 4;

/// JVMs without clients. They end with the last value that knows them.
#[derive(Clone, Debug)]
pub struct IdleJvms {
    all: Arc<Mutex<Vec<IdleJvm>>>,
    most: usize,
}

impl Default for IdleJvms {
    fn default() -> Self {
        Self::of_at_most(MOST_JVMS)
    }
}

#[derive(Debug)]
struct IdleJvm {
    version: PathBuf,
    jvm: UsedJvm,
}

/// A JVM, and how many histories it has begun.
#[derive(Debug)]
pub struct UsedJvm {
    pub jvm: Jvm,
    pub histories: u32,
}

impl UsedJvm {
    /// Whether it may begin another history.
    pub const fn is_young(&self) -> bool {
        self.histories < MOST_HISTORIES
    }
}

impl IdleJvms {
    /// None yet, and later not more than so many: for worlds that are replayed at the same time.
    pub fn of_at_most(most: usize) -> Self {
        Self { all: Arc::default(), most }
    }

    /// One with the version in this folder that lives, if there is one.
    pub fn take(&self, version: &Path) -> Option<UsedJvm> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|idle| idle.jvm.jvm.is_running());
        // The one that was used last, so that those that nobody needs any more are the first to end.
        let at = all.iter().rposition(|idle| idle.version == version)?;
        Some(all.remove(at).jvm)
    }

    /// Keeps one for others. Where there are too many, the one that was kept first ends.
    pub fn keep(&self, version: &Path, jvm: UsedJvm) {
        if !jvm.is_young() {
            return;
        }
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(IdleJvm { version: version.to_owned(), jvm });
        let first = (all.len() > self.most).then(|| all.remove(0));
        drop(all);
        drop(first);
    }
}
