//! Whether a JVM can do nothing more by itself: all its threads sleep, none of them because a short time has to pass, and
//! nothing is on its way to it.
//!
//! How much each thread has run is read before and after, and in between whether it sleeps. A thread that slept then, and has run
//! as much after as before, has done nothing from the one to the other: whatever would have woken it, it had not gone on yet.
//! Where that is so of all of them, none could wake another from the last of the first looks to the first of the last ones, so at
//! the end of the looks between all of them slept. From then on nothing happens until the time is moved, or bytes arrive.
//!
//! Both are read from the files that cost least: `/proc/PID/task/ID/status` says both, and takes five times as long as the other two
//! together.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use super::jvm_clock::JvmPage;

/// The threads of a JVM, each with the files in which the kernel says what it does. The files are kept open: to open one takes
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
    /// `stat`: whether it sleeps.
    stat: File,
    runs: RunsFile,
    /// What that said before it was looked whether the thread sleeps.
    runs_before: Runs,
}

/// How much a thread has run: the time, how long it waited for a processor, and how often it got one; or, of a kernel that does not
/// count these, how often it left one by itself and not by itself.
type Runs = [u64; 3];

/// Where the kernel says that.
#[derive(Debug)]
enum RunsFile {
    Schedstat(File),
    Status(File),
}

impl WatchedThreads {
    /// Of this process.
    pub fn of(process: u32) -> Self {
        Self { folder: PathBuf::from(format!("/proc/{process}/task")), threads: Vec::new() }
    }

    /// Looks once. `is_silent` says whether nothing is on its way: it is asked when all were seen asleep.
    pub fn are_quiet(&mut self, page: &JvmPage, is_silent: impl FnOnce() -> bool) -> bool {
        let is_waiting = || {
            page.sleepers.load(Ordering::SeqCst) == 0 && page.next_due_ns() > page.monotonic_ns.load(Ordering::SeqCst)
        };
        if !is_waiting() {
            return false;
        }
        let waker = page.waker.load(Ordering::SeqCst);
        if !self.are_all(waker) && self.list(waker).is_none() {
            return false;
        }
        // The one that was awake the last time is asked alone first.
        self.sleep(1) && self.note_runs() && self.sleep(usize::MAX) && is_waiting() && is_silent() && {
            self.are_all(waker) && self.have_not_run()
        }
    }

    /// The names of those that do not sleep now, but for the waker.
    pub fn awake(&self, page: &JvmPage) -> Vec<String> {
        let waker = page.waker.load(Ordering::SeqCst).to_string();
        let ids = fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let awake = ids.filter(|id| *id != waker).filter_map(|id| {
            let stat = fs::read_to_string(self.folder.join(id).join("stat")).ok()?;
            let (_, name) = stat.rsplit_once(") ")?.0.split_once(" (")?;
            (!is_of_sleeper(&stat)).then(|| name.to_owned())
        });
        awake.collect()
    }

    /// Notes how much each has run.
    fn note_runs(&mut self) -> bool {
        self.all(usize::MAX, |thread| {
            let runs = thread.runs.read()?;
            thread.runs_before = runs;
            Some(true)
        })
    }

    /// Whether the first of them sleep now, so many.
    fn sleep(&mut self, first: usize) -> bool {
        self.all(first, |thread| read::<SHORT, _>(&thread.stat, is_of_sleeper))
    }

    /// Whether none has run since that was noted.
    fn have_not_run(&mut self) -> bool {
        self.all(usize::MAX, |thread| Some(thread.runs.read()? == thread.runs_before))
    }

    /// Whether that is true of so many of them. `None` is said of a thread that has ended: its files can be read no more, also if
    /// another one gets its id.
    fn all(&mut self, first: usize, is_true: impl Fn(&mut WatchedThread) -> Option<bool>) -> bool {
        for at in 0..self.threads.len().min(first) {
            match is_true(&mut self.threads[at]) {
                Some(true) => {}
                Some(false) => {
                    self.threads.swap(0, at);
                    return false;
                }
                None => {
                    self.threads.remove(at);
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
                let own = self.folder.join(id.to_string());
                let stat = File::open(own.join("stat")).ok()?;
                let runs = RunsFile::open(&own)?;
                self.threads.push(WatchedThread { id, stat, runs, runs_before: [0; 3] });
            }
        }
        Some(())
    }
}

impl RunsFile {
    /// The one that the kernel has, of the thread in this folder.
    fn open(thread: &Path) -> Option<Self> {
        let schedstat = File::open(thread.join("schedstat")).ok();
        // A kernel that does not count answers zeros; each thread has got a processor once before it can be listed, or soon will.
        let counts =
            |file: &File| read::<SHORT, _>(file, runs_of_schedstat).flatten().is_some_and(|[.., times]| times > 0);
        match schedstat.filter(counts) {
            Some(file) => Some(Self::Schedstat(file)),
            None => File::open(thread.join("status")).ok().map(Self::Status),
        }
    }

    fn read(&self) -> Option<Runs> {
        match self {
            Self::Schedstat(file) => read::<SHORT, _>(file, runs_of_schedstat).flatten(),
            Self::Status(file) => read::<LONG, _>(file, runs_of_status).flatten(),
        }
    }
}

/// Room for `stat` up to the state behind the name, which has 15 bytes at most; and for all of `schedstat`.
const SHORT: usize = 128;
/// Room for all of `status`.
const LONG: usize = 4096;

/// What is read from such a file; `None`: the thread has ended.
fn read<const ROOM: usize, T>(file: &File, of: impl FnOnce(&str) -> T) -> Option<T> {
    let mut buffer = [0; ROOM];
    let length = file.read_at(&mut buffer, 0).ok()?;
    // The name of a thread may be any bytes, and stands before everything else in both files that have it.
    let text = buffer[..length].utf8_chunks().last().map_or("", |chunk| chunk.valid());
    Some(of(text))
}

/// `/proc/PID/task/ID/stat`: the state follows the name, which is in brackets and may contain some.
fn is_of_sleeper(stat: &str) -> bool {
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S'))
}

/// `/proc/PID/task/ID/schedstat`.
fn runs_of_schedstat(schedstat: &str) -> Option<Runs> {
    let mut numbers = schedstat.split_ascii_whitespace().map(|number| number.parse().ok());
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}

/// `/proc/PID/task/ID/status`: both numbers are among the last lines.
fn runs_of_status(status: &str) -> Option<Runs> {
    let number = |name: &str| {
        let (_, rest) = status.rsplit_once(name)?;
        rest.split('\n').next()?.trim().parse::<u64>().ok()
    };
    Some([number("\nvoluntary_ctxt_switches:")?, number("\nnonvoluntary_ctxt_switches:")?, 0])
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// The kernel's own number of the thread that asks.
    fn own_id() -> u32 {
        let status = fs::read_to_string("/proc/thread-self/status").expect("a status");
        let id = status.lines().find_map(|line| line.strip_prefix("Pid:")).map(|id| id.trim().parse());
        id.expect("an id").expect("a number")
    }

    #[test]
    fn a_thread_that_has_run_between_the_looks_and_one_that_is_new_are_seen() {
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
        let own = watched.folder.join(id.to_string());
        let of_other_kernel = File::open(own.join("status")).expect("a status");
        for other in [None, Some(RunsFile::Status(of_other_kernel))] {
            if let Some(other) = other {
                watched.threads[0].runs = other;
            }
            let asleep = |watched: &mut WatchedThreads| watched.note_runs() && watched.sleep(usize::MAX);
            while !asleep(&mut watched) || !watched.have_not_run() {}
            assert!(watched.have_not_run());
            wake.send(()).expect("it waits");
            thread::sleep(Duration::from_millis(50));
            assert!(watched.sleep(usize::MAX), "it sleeps again");
            assert!(!watched.have_not_run(), "it has run");
        }
        drop(wake);
        thread.join().expect("it ends");
        assert!(!watched.sleep(usize::MAX), "it has ended");
        assert!(watched.threads.is_empty());
    }

    #[test]
    fn a_thread_that_runs_does_not_sleep() {
        let own = PathBuf::from("/proc/thread-self");
        let stat = File::open(own.join("stat")).expect("a file of the kernel");
        let runs = RunsFile::open(&own).expect("a file of the kernel");
        let running = WatchedThread { id: own_id(), stat, runs, runs_before: [0; 3] };
        let mut watched = WatchedThreads { folder: own, threads: vec![running] };
        assert!(!watched.sleep(1));
    }

    #[test]
    fn only_a_thread_that_sleeps_is_counted() {
        assert!(is_of_sleeper("7 (x) S 1 7"));
        assert!(is_of_sleeper("7 (R) R) S 1 7"));
        assert!(!is_of_sleeper("7 (S) S) R 1 7"));
        assert!(!is_of_sleeper("7 (x) D 1 7"));
        assert!(!is_of_sleeper("7 (x"));
    }

    #[test]
    fn what_a_kernel_counts_is_read_from_either_file() {
        assert_eq!(runs_of_schedstat("114834 9212251 2\n"), Some([114_834, 9_212_251, 2]));
        assert_eq!(runs_of_schedstat("114834 9212251\n"), None);
        let status = "Name:\tx\nState:\tS (sleeping)\nvoluntary_ctxt_switches:\t4\nnonvoluntary_ctxt_switches:\t3\n";
        assert_eq!(runs_of_status(status), Some([4, 3, 0]));
        assert_eq!(runs_of_status("Name:\tx\nState:\tS (sleeping)\n"), None);
    }
}
