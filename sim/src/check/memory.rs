//! The memory of this process: how much it uses, and how much it may use.
//!
//! What counts is resident memory: when it runs out, the kernel ends the process, and nothing of what was found is printed.

use std::fs;
use std::path::Path;
use std::process;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use sysinfo::{MemoryRefreshKind, Pid, ProcessRefreshKind, ProcessesToUpdate, System};

use super::worker_pool::lock;

/// The part of the machine's memory that may be used if nothing else is said.
pub const DEFAULT_PERCENT: u64 = 60;

/// How long a measurement is used: the limits are checked far more often than memory can change much.
const SAMPLED_EVERY: Duration = Duration::from_millis(10);

/// How much memory this process may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// At most this many bytes of resident memory.
    pub bytes: u64,
    /// Where the number comes from.
    pub source: LimitSource,
}

/// Where a limit of memory comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitSource {
    /// The user has chosen it.
    Given,
    /// A part of the memory of this machine.
    Machine,
    /// A part of what the control group of this process, for example its container, may use.
    ControlGroup,
}

impl MemoryLimit {
    /// A limit that the user has chosen.
    pub const fn given(bytes: u64) -> Self {
        Self { bytes, source: LimitSource::Given }
    }

    /// The limit if the user has chosen none. `None`: the system does not say how much memory there is.
    pub fn by_default() -> Option<Self> {
        static DEFAULT: OnceLock<Option<MemoryLimit>> = OnceLock::new();
        *DEFAULT.get_or_init(|| {
            let mut system = System::new();
            system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
            let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
            Self::part_of(system.total_memory(), group_limit(&groups, Path::new("/sys/fs/cgroup")))
        })
    }

    /// The default where the machine, and perhaps a control group, have this much memory.
    fn part_of(machine: u64, group: Option<u64>) -> Option<Self> {
        let (all, source) = match group.filter(|group| *group < machine) {
            Some(group) => (group, LimitSource::ControlGroup),
            None => (machine, LimitSource::Machine),
        };
        (all > 0).then_some(Self { bytes: all / 100 * DEFAULT_PERCENT, source })
    }
}

/// The smallest limit of the control groups that this process is in, by the lines of `/proc/self/cgroup`. sysinfo 0.38 reads
/// only the group at the root of the mount, which is ours in a container but not in a service of systemd.
fn group_limit(groups: &str, mounted: &Path) -> Option<u64> {
    let of_line = |line: &str| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, group) = (parts.next()?, parts.next()?, parts.next()?);
        let (base, file) = if controllers.is_empty() {
            (mounted.to_owned(), "memory.max")
        } else if controllers.split(',').any(|controller| controller == "memory") {
            (mounted.join("memory"), "memory.limit_in_bytes")
        } else {
            return None;
        };
        // A group may use no more than each of those that it is part of. Where there is no limit, there is no number.
        let limit = |group: &Path| fs::read_to_string(base.join(group).join(file)).ok()?.trim().parse().ok();
        Path::new(group.trim_start_matches('/')).ancestors().filter_map(limit).min()
    };
    groups.lines().filter_map(of_line).min()
}

/// The resident memory of this process in bytes, at most some milliseconds ago; 0 if the system does not say.
pub fn resident() -> u64 {
    let mut sampler = lock(sampler());
    if sampler.at.is_none_or(|at| at.elapsed() >= SAMPLED_EVERY) {
        let Sampler { system, at, resident } = &mut *sampler;
        let us = Pid::from_u32(process::id());
        let what = ProcessRefreshKind::nothing().with_memory().without_tasks();
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&[us]), false, what);
        *resident = system.process(us).map_or(0, sysinfo::Process::memory);
        *at = Some(Instant::now());
    }
    sampler.resident
}

/// Returns memory that is no longer used to the system: what an earlier search has used must not end the next one.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        #[expect(unsafe_code, reason = "the C library offers this to C only")]
        // SAFETY: it takes a number, locks what it works on, and touches only memory that nobody has allocated.
        unsafe {
            libc::malloc_trim(0);
        }
    }
    lock(sampler()).at = None;
}

/// The latest measurement.
struct Sampler {
    system: System,
    at: Option<Instant>,
    resident: u64,
}

fn sampler() -> &'static Mutex<Sampler> {
    static SAMPLER: OnceLock<Mutex<Sampler>> = OnceLock::new();
    SAMPLER.get_or_init(|| Mutex::new(Sampler { system: System::new(), at: None, resident: 0 }))
}

/// A number of bytes as it is typed: in the largest unit in which it is a whole number, `500M`.
pub fn typed(bytes: u64) -> String {
    let units = [(30, "G"), (20, "M"), (10, "K")];
    let unit = units.into_iter().find(|(shift, _)| bytes.is_multiple_of(1 << shift));
    unit.map_or_else(|| bytes.to_string(), |(shift, unit)| format!("{}{unit}", bytes >> shift))
}

/// A number of bytes as it is read: `9.4 GiB`.
pub fn readable(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.into_iter().find(|(shift, _)| bytes >> shift > 0) {
        Some((shift, unit)) => {
            let tenths = (u128::from(bytes) * 10 + (1 << (shift - 1))) >> shift;
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_a_part_of_the_smaller_of_machine_and_control_group() {
        let limit = |machine, group| MemoryLimit::part_of(machine, group).map(|limit| (limit.bytes, limit.source));
        assert_eq!(limit(1000, None), Some((600, LimitSource::Machine)));
        assert_eq!(limit(1000, Some(500)), Some((300, LimitSource::ControlGroup)));
        // What version 1 of control groups says where there is no limit.
        assert_eq!(limit(1000, Some(9_223_372_036_854_771_712)), Some((600, LimitSource::Machine)));
        assert_eq!(limit(0, None), None);
    }

    #[test]
    fn a_control_group_has_the_smallest_limit_of_those_that_it_is_part_of() {
        let mounted = tempfile::TempDir::new().expect("a folder");
        let write = |file: &str, text: &str| {
            let file = mounted.path().join(file);
            fs::create_dir_all(file.parent().expect("it has a folder")).expect("a folder");
            fs::write(file, text).expect("a file");
        };
        let limit = |groups: &str| group_limit(groups, mounted.path());
        write("ci.slice/job/memory.max", "max\n");
        assert_eq!(limit("0::/ci.slice/job\n"), None);
        write("ci.slice/memory.max", "3000\n");
        assert_eq!(limit("0::/ci.slice/job\n"), Some(3000));
        assert_eq!(limit("0::/\n"), None);
        // In a container the path is that of the host, and what is mounted at the root is our own group.
        write("memory/memory.limit_in_bytes", "2000\n");
        assert_eq!(limit("5:cpu:/docker/1\n4:memory:/docker/1\n0::/\n"), Some(2000));
        assert_eq!(limit("5:cpu:/docker/1\n"), None);
    }

    #[test]
    fn more_memory_in_use_is_measured() {
        const MORE: usize = 256 << 20;
        give_back();
        let before = resident();
        let much = vec![1_u8; MORE];
        give_back();
        let after = resident();
        assert!(before > 0);
        assert!(after >= before + MORE as u64 / 2, "{before} {after}");
        assert_eq!(much.len(), MORE);
    }

    #[test]
    fn bytes_are_written_in_a_unit() {
        assert_eq!([1025, 500 << 20, 2 << 30].map(typed), ["1025", "500M", "2G"]);
        let read = [512, 1024, (500 << 20) + (512 << 10), 10_093_173_145].map(readable);
        assert_eq!(read, ["512 bytes", "1.0 KiB", "500.5 MiB", "9.4 GiB"]);
    }
}
