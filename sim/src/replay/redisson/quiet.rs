//! Whether a JVM can do nothing more by itself: all its threads sleep, none of them because a short time has to pass, and
//! nothing is on its way to it.
//!
//! The threads are read twice, one after the other. A thread that sleeps at both times, and was not switched in between, slept
//! at every moment between the two passes: so there is a moment at which all of them slept. From then on nothing happens
//! until the time is moved, or bytes arrive.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use super::jvm_clock::JvmPage;

/// The threads of a JVM, each with the file in which the kernel says what it does. The files are kept open: to open one takes
/// longer than to read it.
#[derive(Debug)]
pub struct WatchedThreads {
    folder: PathBuf,
    /// All of them but the waker, as they were when they were last listed; first the one that was last found awake, which most
    /// likely is so still: to read the others would be in vain.
    threads: Vec<WatchedThread>,
}

#[derive(Debug)]
struct WatchedThread {
    id: u32,
    status: File,
    /// How often it was switched, when it was last found asleep.
    switches: u64,
}

impl WatchedThreads {
    /// Of this process.
    pub fn of(process: u32) -> Self {
        Self { folder: PathBuf::from(format!("/proc/{process}/task")), threads: Vec::new() }
    }

    /// Looks once. `is_silent` says whether nothing is on its way: it is asked first, since that takes little time, and again
    /// between the two passes.
    pub fn are_quiet(&mut self, page: &JvmPage, mut is_silent: impl FnMut() -> bool) -> bool {
        let is_waiting = || {
            page.sleepers.load(Ordering::SeqCst) == 0 && page.next_due_ns() > page.monotonic_ns.load(Ordering::SeqCst)
        };
        if !is_waiting() || !is_silent() {
            return false;
        }
        let waker = page.waker.load(Ordering::SeqCst);
        self.sleep(waker, false) && is_waiting() && is_silent() && self.sleep(waker, true)
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

    /// Whether all threads but the waker sleep now; `unswitched`: and none of them was switched since they were last asked.
    fn sleep(&mut self, waker: u32, unswitched: bool) -> bool {
        if !self.are_all(waker) && (unswitched || self.list(waker).is_none()) {
            return false;
        }
        self.do_sleep(unswitched)
    }

    fn do_sleep(&mut self, unswitched: bool) -> bool {
        let mut buffer = [0; 4096];
        for at in 0..self.threads.len() {
            let thread = &mut self.threads[at];
            // A thread that has ended does not sleep. Its file can be read no more, also if another one gets its id.
            let Ok(length) = thread.status.read_at(&mut buffer, 0) else {
                self.threads.remove(at);
                return false;
            };
            let switches = str::from_utf8(&buffer[..length]).ok().and_then(switches_of_sleeper);
            match switches {
                Some(switches) if !unswitched || switches == thread.switches => thread.switches = switches,
                _ => {
                    self.threads.swap(0, at);
                    return false;
                }
            }
        }
        true
    }

    /// Whether there are as many threads as were listed. Where each of those is there still, no other one is.
    fn are_all(&self, waker: u32) -> bool {
        let listed = self.threads.len() + usize::from(waker != 0);
        // The folder has a link for each thread, and two of its own; if some kernel does not count them so, they are counted.
        let links = fs::metadata(&self.folder).ok().and_then(|folder| folder.nlink().checked_sub(2));
        links == Some(listed as u64) || fs::read_dir(&self.folder).is_ok_and(|threads| threads.count() == listed)
    }

    /// Lists them anew; `None`: that does not succeed, as they come and go.
    fn list(&mut self, waker: u32) -> Option<()> {
        let mut ids = Vec::with_capacity(self.threads.len() + 8);
        for entry in fs::read_dir(&self.folder).ok()? {
            ids.push(entry.ok()?.file_name().to_str()?.parse().ok()?);
        }
        ids.retain(|id| *id != waker);
        self.threads.retain(|thread| ids.contains(&thread.id));
        for id in ids {
            if self.threads.iter().all(|thread| thread.id != id) {
                let status = File::open(self.folder.join(format!("{id}/status"))).ok()?;
                self.threads.push(WatchedThread { id, status, switches: 0 });
            }
        }
        Some(())
    }
}

/// How often a thread was switched, if it sleeps: `/proc/PID/task/ID/status`.
fn switches_of_sleeper(status: &str) -> Option<u64> {
    // The state is among the first lines, both numbers are among the last.
    let sleeps = status.split_once("\nState:")?.1.trim_start().starts_with('S');
    let number = |name: &str| {
        let (_, rest) = status.rsplit_once(name)?;
        rest.split('\n').next()?.trim().parse::<u64>().ok()
    };
    sleeps.then_some(())?;
    Some(number("\nvoluntary_ctxt_switches:")? + number("\nnonvoluntary_ctxt_switches:")?)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    /// The kernel's own number of the thread that asks.
    fn own_id() -> u32 {
        let status = fs::read_to_string("/proc/thread-self/status").expect("a status");
        let id = status.lines().find_map(|line| line.strip_prefix("Pid:")).map(|id| id.trim().parse());
        id.expect("an id").expect("a number")
    }

    #[test]
    fn a_thread_that_has_run_between_the_passes_and_one_that_is_new_are_seen() {
        let (say_id, id) = mpsc::channel();
        let (wake, woken) = mpsc::channel::<()>();
        let thread = thread::spawn(move || {
            say_id.send(own_id()).expect("it is read");
            while woken.recv().is_ok() {}
        });
        let id = id.recv().expect("an id");
        let mut all = WatchedThreads::of(std::process::id());
        assert!(!all.are_all(0), "nothing was listed");
        all.list(0).expect("they are listed");
        let mut watched = WatchedThreads { folder: all.folder.clone(), threads: Vec::new() };
        watched.threads.extend(all.threads.into_iter().find(|thread| thread.id == id));
        let mut sleeps = |unswitched| watched.do_sleep(unswitched);
        while !sleeps(false) {}
        assert!(sleeps(true));
        wake.send(()).expect("it waits");
        while !sleeps(false) {}
        wake.send(()).expect("it waits");
        thread::sleep(std::time::Duration::from_millis(50));
        assert!(!sleeps(true), "it has run");
        drop(wake);
        thread.join().expect("it ends");
        assert!(!sleeps(false), "it has ended");
    }

    #[test]
    fn only_a_thread_that_sleeps_is_counted() {
        let status = |state: &str| {
            format!("Name:\tx\nState:\t{state}\nvoluntary_ctxt_switches:\t4\nnonvoluntary_ctxt_switches:\t3\n")
        };
        assert_eq!(switches_of_sleeper(&status("S (sleeping)")), Some(7));
        assert_eq!(switches_of_sleeper(&status("R (running)")), None);
        assert_eq!(switches_of_sleeper(&status("D (disk sleep)")), None);
        assert_eq!(switches_of_sleeper("Name:\tx\nState:\tS (sleeping)\n"), None);
    }
}
