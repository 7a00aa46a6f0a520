//! Whether a JVM can do nothing more by itself: all its threads sleep, none of them because a short time has to pass, and
//! nothing is on its way to it.
//!
//! The threads are read twice, one after the other. A thread that sleeps at both times, and was not switched in between, slept
//! at every moment between the two passes: so there is a moment at which all of them slept. From then on nothing happens
//! until the time is moved, or bytes arrive.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use super::jvm_clock::JvmPage;

/// How often each thread was switched, by its id.
type SleepingThreads = Vec<(u32, u64)>;

/// The threads of a JVM, each with the file in which the kernel says what it does. The files are kept open: to open one takes
/// longer than to read it.
#[derive(Debug)]
pub struct WatchedThreads {
    folder: PathBuf,
    files: BTreeMap<u32, File>,
}

impl WatchedThreads {
    /// Of this process.
    pub fn of(process: u32) -> Self {
        Self { folder: PathBuf::from(format!("/proc/{process}/task")), files: BTreeMap::new() }
    }

    /// Looks once. `is_silent` says whether nothing is on its way, and is asked between the two passes.
    pub fn are_quiet(&mut self, page: &JvmPage, mut is_silent: impl FnMut() -> bool) -> bool {
        let is_waiting = || {
            page.sleepers.load(Ordering::SeqCst) == 0 && page.next_due_ns() > page.monotonic_ns.load(Ordering::SeqCst)
        };
        if !is_waiting() {
            return false;
        }
        let waker = page.waker.load(Ordering::SeqCst);
        let Some(before) = self.sleeping(waker) else { return false };
        is_waiting() && is_silent() && self.sleeping(waker) == Some(before)
    }

    /// The names of those that do not sleep now, but for the waker.
    pub fn awake(&self, page: &JvmPage) -> Vec<String> {
        let waker = page.waker.load(Ordering::SeqCst).to_string();
        let ids = fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let awake = ids.filter(|id| *id != waker).filter_map(|id| {
            let status = fs::read_to_string(self.folder.join(id).join("status")).ok()?;
            let name = status.lines().find_map(|line| line.strip_prefix("Name:"))?.trim().to_owned();
            switches_of_sleeper(&status).is_none().then_some(name)
        });
        awake.collect()
    }

    /// All threads but the waker; `None` if one of them does not sleep.
    fn sleeping(&mut self, waker: u32) -> Option<SleepingThreads> {
        let mut threads = Vec::with_capacity(self.files.len());
        let mut buffer = [0; 4096];
        for entry in fs::read_dir(&self.folder).ok()? {
            let id: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            if id == waker {
                continue;
            }
            // A thread that ends meanwhile does not sleep. Its file can be read no more, also if another one gets its id.
            let switches = self.switches(id, &mut buffer);
            if switches.is_none() {
                self.files.remove(&id);
            }
            threads.push((id, switches?));
        }
        self.files.retain(|id, _| threads.iter().any(|(there, _)| there == id));
        Some(threads)
    }

    /// How often a thread was switched, if it sleeps.
    fn switches(&mut self, id: u32, buffer: &mut [u8]) -> Option<u64> {
        if !self.files.contains_key(&id) {
            let file = File::open(self.folder.join(format!("{id}/status"))).ok()?;
            self.files.insert(id, file);
        }
        let length = self.files.get(&id)?.read_at(buffer, 0).ok()?;
        switches_of_sleeper(str::from_utf8(&buffer[..length]).ok()?)
    }
}

/// How often a thread was switched, if it sleeps: `/proc/PID/task/ID/status`.
fn switches_of_sleeper(status: &str) -> Option<u64> {
    let value = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let number = |name: &str| value(name)?.parse::<u64>().ok();
    let sleeps = value("State:")?.starts_with('S');
    sleeps.then_some(number("voluntary_ctxt_switches:")? + number("nonvoluntary_ctxt_switches:")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_thread_that_sleeps_is_counted() {
        let status = |state: &str| {
            format!("Name:\tx\nState:\t{state}\nvoluntary_ctxt_switches:\t4\nnonvoluntary_ctxt_switches:\t3\n")
        };
        assert_eq!(switches_of_sleeper(&status("S (sleeping)")), Some(7));
        assert_eq!(switches_of_sleeper(&status("R (running)")), None);
        assert_eq!(switches_of_sleeper(&status("D (disk sleep)")), None);
        assert_eq!(switches_of_sleeper("State:\tS (sleeping)\n"), None);
    }
}
