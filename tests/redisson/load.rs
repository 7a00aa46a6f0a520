//! How often the defects of the museum happen without a gate: real clients of Redisson under the clocks of the machine, a real
//! server, and a load as applications make it (tools/redisson/README.md, "Loads").
//!
//! An ordinary test runs each load once and asserts what does not depend on chance. `make soak` runs them at length and writes
//! `reports/load.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::num::NonZero;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lockstep_sim::museum::Exhibit;
use lockstep_sim::replay::OwnProcess;
use lockstep_tests::drawn::from_environment;
use lockstep_tests::free_nodes::{Disk, FreeNode};
use lockstep_tests::page::{self, table};
use lockstep_tests::servers::servers;
use serde::Deserialize;
use tempfile::TempDir;

use crate::redisson;

/// For how many seconds each load is run that depends on chance, by `make soak`; without it `reports/load.md` is not written.
const ASKED: &str = "LOCKSTEP_LOAD_SECONDS";
/// The watchdog of these loads, in milliseconds.
const ASKED_WATCHDOG: &str = "LOCKSTEP_LOAD_WATCHDOG_MS";
/// Short, so that a minute has many leases.
const WATCHDOG_MS: u64 = 600;
/// What Redisson has by default.
const DEFAULT_WATCHDOG_MS: u64 = 30_000;
/// For how many seconds a load makes renewal timers, or a control begins anew.
const SHORT_SECONDS: u64 = 20;
/// The versions on the page: the newest and the oldest, and two between them whose renewal tables differ from theirs.
const VERSIONS: [&str; 4] = ["4.7.0", "3.52.0", "3.43.0", "3.15.6"];
/// In an ordinary test, on a machine that does much else: a renewal may be late by two thirds of it, and nothing is lost.
const TEST_WATCHDOG_MS: u64 = 5_000;
/// How much longer than its times a load may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a load is to its exhibit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoadRole {
    /// It shows the defect.
    Shows,
    /// The same without what sets the defect off.
    Control,
}

/// What a load needs for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    /// A server, which other loads may use too.
    Server,
    /// A server that nobody else uses: its commands are counted.
    OwnServer,
    /// A master that nobody else uses, and a server that becomes its replica.
    Replica,
}

/// A load, as a row of the page.
struct PlainLoad {
    exhibit: &'static str,
    /// Its name on the command line.
    name: &'static str,
    role: LoadRole,
    needs: Needs,
    /// Whether more of it tells more.
    is_chance: bool,
    /// Nothing: as asked for.
    watchdog_ms: Option<u64>,
    /// What the application does.
    does: &'static str,
    /// What is seen in some of the attempts.
    counts: &'static str,
}

const fn shows(
    exhibit: &'static str,
    name: &'static str,
    needs: Needs,
    does: &'static str,
    counts: &'static str,
) -> PlainLoad {
    PlainLoad { exhibit, name, role: LoadRole::Shows, needs, is_chance: false, watchdog_ms: None, does, counts }
}

impl PlainLoad {
    const fn beside(self) -> Self {
        Self { role: LoadRole::Control, ..self }
    }

    const fn by_chance(self) -> Self {
        Self { is_chance: true, ..self }
    }

    const fn by_default(self) -> Self {
        Self { watchdog_ms: Some(DEFAULT_WATCHDOG_MS), ..self }
    }

    /// As the first columns of its row.
    fn row(&self) -> [String; 3] {
        let beside = if self.role == LoadRole::Control { "*beside it*: " } else { "" };
        let watchdog = self.watchdog_ms.map_or_else(String::new, |ms| format!("; watchdog {} s", ms / 1000));
        [self.exhibit.to_owned(), format!("{beside}{}{watchdog}", self.does), self.counts.to_owned()]
    }
}

const QUICK: &str = "eight clients of one thread each (30 with a watchdog of 30 s) take and release a lock, 20 holds of 0 to 4 ms and then one of \
                     1¼ leases";
const RATE: &str = "a client of one thread takes and releases a lock, holds of 20 ms, and then holds it for two leases";

const LOADS: [PlainLoad; 23] = [
    shows("B8b", "late-replica", Needs::Replica, "a client takes its first lock, and then the replica comes", ACQUIRES),
    shows(
        "B8m",
        "late-replica-refused",
        Needs::Replica,
        "the same, and the master needs a replica to write (min-replicas-to-write): the first acquire is refused",
        ACQUIRES,
    ),
    shows(
        "D13",
        "overwritten-key",
        Needs::Server,
        "ten clients hold ten locks each, and somebody stores a string under the name of one of each ten, drawn at random",
        "another one of the ten is lost after 1¼ leases",
    ),
    shows("D13", "no-overwritten-key", Needs::Server, "nobody does", "the same").beside(),
    shows(
        "D19",
        "shared-object-late",
        Needs::Server,
        "threads share a lock object; one names a lease of a fifth of the watchdog's and releases after twice that, the other calls lock()",
        "the other one's hold is lost after 1¼ leases",
    ),
    shows("D19", "shared-object-in-time", Needs::Server, "the first one releases at once", "the same").beside(),
    shows(
        "D20",
        "refused-spin",
        Needs::Server,
        "a thread names a lease of a fifth of the watchdog's, is refused by a spin lock, and calls lock() by the same object when it is free",
        "its hold is lost after 1¼ leases",
    ),
    shows("D20", "refused-lock", Needs::Server, "the lock is one of getLock()", "the same").beside(),
    shows("D4", "quick-holds", Needs::Server, QUICK, "a long hold is lost").by_chance(),
    shows("D4", "quick-holds", Needs::Server, QUICK, "a long hold is lost").by_chance().by_default(),
    shows("D4", "quick-holds-with-lease", Needs::Server, "each names a lease of an hour", "the same").beside(),
    shows(
        "I1",
        "interrupted-acquire",
        Needs::Server,
        "calls of lock() on free locks, interrupted at a random moment within twice the time that an acquire takes, beside a thread \
         that takes and releases another lock",
        "the call threw, and the lock is held after 1¼ leases",
    )
    .by_chance(),
    shows(
        "I2",
        "flag-set",
        Needs::Server,
        "calls of lock() on free locks, by a thread whose interrupt flag is set",
        "the call threw, and the lock is held after 1¼ leases",
    ),
    shows("I2", "no-flag-set", Needs::Server, "the flag is not set, and the thread releases", "the same").beside(),
    shows(
        "I3",
        "cancelled-try",
        Needs::Server,
        "futures of tryLockAsync() on free locks, cancelled at a random moment within twice the time that an acquire takes, beside a \
         thread that takes and releases another lock",
        "it was cancelled, and the lock is held after 1¼ leases",
    )
    .by_chance(),
    shows("I3", "cancelled-lock", Needs::Server, "futures of lockAsync()", "the same").beside(),
    shows(
        "I5",
        "interrupted-wait",
        Needs::Server,
        "threads that wait in lock() are interrupted, and then the lock is released",
        "lock() returned, and the interrupt flag is clear",
    ),
    shows("I5", "interruptible-wait", Needs::Server, "they wait in lockInterruptibly()", "the same").beside(),
    shows("N1", "renewal-rate", Needs::OwnServer, RATE, RENEWALS),
    shows("N1", "renewal-rate", Needs::OwnServer, RATE, RENEWALS).by_default(),
    shows("N1", "renewal-rate-after-rest", Needs::OwnServer, "before the long hold it has no lock for a lease", RENEWALS)
        .beside(),
    shows(
        "N2",
        "nested-holds",
        Needs::Server,
        "a thread takes a lock twice and releases it twice, and then another one holds it for 1¼ leases",
        "that hold is lost",
    ),
    shows(
        "N4",
        "deleted-key",
        Needs::Server,
        "a thread takes a lock three times, somebody deletes the key, and then another one holds it for 1¼ leases",
        "that hold is lost",
    ),
];

const ACQUIRES: &str = "a later acquire of that client is granted, and its master was sent no WAIT";
const RENEWALS: &str = "renewals of the long hold, beside as many as one timer can send";

/// Why a load without a fault shows nothing of an exhibit.
const NEED_A_FAULT: [(&str, &str); 29] = [
    ("B8", "a failover, and a client that asks for the number of replicas while the new master has none yet"),
    (
        "C8",
        "a reply has to be later than the response timeout (3 s by default), and the first copy of the release later than the reply to \
         the second and the next acquire",
    ),
    (
        "D13b",
        "no replica may acknowledge renewals for about a lease, of a client that holds more locks than one script renews (100 by \
         default)",
    ),
    (
        "D14",
        "no fault, but a write lock that is held for a whole lockWatchdogTimeout after the release of a read inside it: 30 s by default",
    ),
    (
        "D21",
        "no fault, but a read lock that a thread has taken twice and holds for a whole lockWatchdogTimeout: 30 s by default",
    ),
    (
        "E9",
        "no fault, but a reader that asks while a writer reads inside its lock, and that writer releases the write lock first",
    ),
    ("F6", "the process of a first waiter has to die, and its deadline to come while the next one sleeps"),
    (
        "F7",
        "no fault, but time: a fair lock has to be under load without a pause for fairLockWaitTimeout and a lease, 330 s by default",
    ),
    ("F8", "a release has to come at the moment at which the limit of the first waiter is over"),
    (
        "H10",
        "no fault, but a call that names its lease in seconds has to wait for one of its locks for longer than its first round",
    ),
    ("I4", "the first waiter has to be interrupted, and its deadline to come while the next one sleeps"),
    ("FR", "somebody has to take the TTL of a held lock away"),
    ("I6", "a thread that waits for one of the locks has to be interrupted"),
    ("K2", "no replica may acknowledge a release within the time that Redisson waits for it (1 s by default)"),
    ("K3", "the master has to become a replica while an acquire is on its way there"),
    ("L1", "the reply of one master has to be later than the lease that the call names"),
    ("L2", "two masters, one after the other, have to refuse or to be away while a thread that holds enters again"),
    ("L3", "a master has to refuse or to end between its grant and the end of the same call"),
    ("L4", "the refusal of one master has to be later than twice the wait of the call"),
    (
        "N3",
        "a renewal and all its further attempts have to be lost, or to stay without an answer: some 10 s by default",
    ),
    ("N5", "no replica may acknowledge a renewal within the time that Redisson waits for it (1 s by default)"),
    (
        "N6",
        "the reply to an ask of tryLock(waitTime) that follows a refusal has to be lost, or later than the response timeout",
    ),
    (
        "H12",
        "the clock of a client has to be ahead by more than what is left of a lease that is renewed, 20 s by default",
    ),
    (
        "H12b",
        "no fault, but a client of one value that asks whether it holds while another client holds a value: it is told yes every time",
    ),
    (
        "V1",
        "no fault, but a lease that ends while another client waits: its holder dies, or holds for longer; then 109 of 300 waiters of a \
         loop by hand lost what they were granted",
    ),
    ("S1", "an operator has to move the slot of the lock while it is held"),
    ("S2", "an operator has to move the slot of the lock while a thread waits for it"),
    (
        "S3",
        "the slot of the lock has to be moving for longer than the watchdog timeout while somebody reads (30 s by default; in 3.43 for as long as one renewal is tried)",
    ),
    ("R1", "the reply to an acquire that Redis has executed has to be lost, or later than the response timeout"),
];

/// What a load has counted: a line of the program.
#[derive(Clone, Debug, Deserialize)]
struct LoadCounts {
    load: String,
    redisson: String,
    attempts: u64,
    seen: u64,
    more: BTreeMap<String, u64>,
}

impl LoadCounts {
    fn more(&self, key: &str) -> u64 {
        *self.more.get(key).unwrap_or_else(|| panic!("{} counts no {key}: {self:?}", self.load))
    }

    /// As a cell of the page.
    fn cell(&self, of: &PlainLoad) -> String {
        let Self { attempts, seen, .. } = self;
        let cell = match of.name {
            "renewal-rate" | "renewal-rate-after-rest" => format!("**{seen}**, one timer at most {attempts}"),
            _ => format!("**{seen}** of {attempts}{}", share(*seen, *attempts)),
        };
        let beside = self.more.iter().filter_map(|(key, number)| match key.as_str() {
            "threw" => Some(format!("{number} threw")),
            "cancelled" => Some(format!("{number} were cancelled")),
            "cycles" => Some(format!("after {number} holds")),
            "later_client" => Some(format!("of a client that is started later {number} of {attempts}")),
            "first_believed" => Some("the refused lock() returned as if it were granted".to_owned()),
            "steady_lost" if *number > 0 => {
                Some("the machine was slow: another client lost a lock that it held throughout".to_owned())
            }
            "late_all_the_same" => Some(format!("the machine was slow: {number} released too late")),
            _ => None,
        });
        beside.fold(cell, |cell, more| format!("{cell}; {more}"))
    }
}

/// ` (0.5 %)`, where it is neither none nor all.
fn share(seen: u64, attempts: u64) -> String {
    if seen == 0 || seen == attempts {
        return String::new();
    }
    let thousandths = (seen * 1000 + attempts / 2) / attempts;
    format!(" ({}.{} %)", thousandths / 10, thousandths % 10)
}

/// Runs loads at the same time, in one JVM and on servers of their own, and returns what each has counted.
fn run(version: &str, loads: &[&PlainLoad], watchdog_ms: u64, seconds: u64) -> Vec<LoadCounts> {
    let server = &servers()[0];
    let needs_replica = loads.iter().any(|load| load.needs == Needs::Replica);
    let master = FreeNode::start(server, Disk::None, |_| None);
    let replica = needs_replica.then(|| FreeNode::start(server, Disk::None, |_| None));
    let address = |node: &FreeNode| format!("127.0.0.1:{}", node.port());
    let replica = replica.as_ref().map_or_else(|| "none".to_owned(), address);
    let folder = TempDir::new().expect("a folder");
    let [output, errors] = ["output", "errors"].map(|name| folder.path().join(name));
    let program = redisson(version);
    let driver = program.driver();
    let mut command = Command::new(&driver.java);
    command
        .args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-XX:-UsePerfData"])
        .arg(format!("-XX:ErrorFile={}", folder.path().join("hs_err.log").display()))
        .args(["--add-opens", "java.base/java.nio=ALL-UNNAMED", "--add-opens", "java.base/java.lang=ALL-UNNAMED"])
        .args(["-cp", &driver.class_path(), "lockstep.Load"])
        .args([&watchdog_ms.to_string(), &seconds.to_string(), &address(&master), &replica])
        .args(loads.iter().map(|load| load.name))
        .stdin(Stdio::null())
        .stdout(File::create(&output).expect("a file"))
        .stderr(File::create(&errors).expect("a file"));
    let process = OwnProcess::start(command).expect("a JVM starts");
    // A round can begin at the last moment, and the longest ends four leases later.
    let most = PATIENCE + Duration::from_secs(seconds) + Duration::from_millis(4 * watchdog_ms);
    let begin = Instant::now();
    while process.is_running() {
        let written = || read(&errors);
        assert!(begin.elapsed() < most, "the loads have not ended after {} s:\n{}", most.as_secs(), written());
        thread::sleep(Duration::from_millis(20));
    }
    let lines = read(&output);
    let counted: Vec<LoadCounts> =
        lines.lines().map(|line| serde_json::from_str(line).expect("a line of a load")).collect();
    let find = |load: &&PlainLoad| {
        let found = counted.iter().find(|counted| counted.load == load.name && counted.redisson == version);
        found
            .cloned()
            .unwrap_or_else(|| panic!("{} on {version} has counted nothing:\n{lines}\n{}", load.name, read(&errors)))
    };
    loads.iter().map(find).collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Short runs on Redisson of today. What depends on chance is counted only. A machine may be slow: a hold that has to last does so if
/// its renewal comes within three seconds of its time.
#[test]
fn what_happens_without_a_gate_each_time_and_what_never_does() {
    let loads: Vec<_> = LOADS.iter().filter(|load| load.watchdog_ms.is_none()).collect();
    let (shared, alone): (Vec<_>, Vec<_>) = loads.into_iter().partition(|load| load.needs == Needs::Server);
    // Of the loads that share a server each has locks of its own.
    let groups: Vec<Vec<&PlainLoad>> = [shared].into_iter().chain(alone.into_iter().map(|load| vec![load])).collect();
    let counted: BTreeMap<String, LoadCounts> = thread::scope(|scope| {
        let run_group = |group: &Vec<&PlainLoad>| {
            // These hold for two leases.
            let is_rate = group.iter().any(|load| load.needs == Needs::OwnServer);
            run("4.7.0", group, if is_rate { TEST_WATCHDOG_MS / 3 } else { TEST_WATCHDOG_MS }, 1)
        };
        let started: Vec<_> = groups.iter().map(|group| scope.spawn(move || run_group(group))).collect();
        let ended = started.into_iter().flat_map(|group| group.join().expect("the loads run"));
        ended.map(|counted| (counted.load.clone(), counted)).collect()
    });
    for counted in counted.values() {
        println!("{counted:?}");
        assert!(counted.attempts > 0, "{counted:?}");
    }
    let of = |load: &str| &counted[load];
    for load in ["late-replica", "late-replica-refused"] {
        assert_eq!(of(load).seen, of(load).attempts, "{load}");
        assert_eq!(of(load).more("later_client"), 0, "{load}");
    }
    assert_eq!(of("late-replica").more("first_granted"), 1);
    // Before Redis 7.0 a script writes without the replicas that the master needs.
    let first = if servers()[0].counts_replicas_in_scripts() { "first_refused" } else { "first_granted" };
    assert_eq!(of("late-replica-refused").more(first), 1);
    for load in ["overwritten-key", "shared-object-late", "refused-spin", "deleted-key"] {
        assert!(of(load).seen > 0, "{:?}", of(load));
    }
    let never = [
        "no-overwritten-key",
        "no-flag-set",
        "quick-holds-with-lease",
        "cancelled-lock",
        "interruptible-wait",
        "nested-holds",
        "refused-lock",
    ];
    for load in never {
        assert_eq!(of(load).seen, 0, "{:?}", of(load));
    }
    let (flag_set, in_time) = (of("flag-set"), of("shared-object-in-time"));
    // A few calls throw before their request is sent, and a few have their reply before they look at the flag
    // (docs/facts/redisson.md#the-interrupt-flag-is-enough).
    assert!(0 < flag_set.seen && flag_set.seen <= flag_set.more("threw"), "{flag_set:?}");
    assert!(in_time.seen <= in_time.more.get("late_all_the_same").copied().unwrap_or(0), "{in_time:?}");
    assert_eq!(of("interrupted-wait").seen, of("interrupted-wait").attempts);
    assert_eq!(of("interruptible-wait").more("left"), of("interruptible-wait").attempts);
    // Timers that have multiplied renew too often, unless the answer to a late renewal has ended all renewal of the last hold (exhibit D4).
    let rate = of("renewal-rate");
    assert!(rate.seen == 0 || rate.seen > rate.attempts, "{rate:?}");
    let rested = of("renewal-rate-after-rest");
    assert!(rested.seen <= rested.attempts, "{rested:?}");
}

#[test]
fn every_exhibit_has_a_load_or_a_reason_why_there_is_none() {
    let exhibits: BTreeSet<_> = Exhibit::all().into_iter().map(|exhibit| exhibit.id).collect();
    let measured: BTreeSet<_> = LOADS.iter().map(|load| load.exhibit.to_owned()).collect();
    let unmeasured: BTreeSet<_> = NEED_A_FAULT.iter().map(|(id, _)| (*id).to_owned()).collect();
    assert!(measured.is_disjoint(&unmeasured), "{measured:?} and {unmeasured:?}");
    assert_eq!(measured.union(&unmeasured).cloned().collect::<BTreeSet<_>>(), exhibits);
}

/// `reports/load.md`. Its figures are made by `make soak`, in half an hour; here its rows are those of today.
#[test]
fn the_page_on_loads_has_a_row_for_every_load() {
    if env::var_os(ASKED).is_some() {
        page::write("reports/load.md", &page_on_loads(from_environment(ASKED, 0)));
    }
    let page = page::committed("reports/load.md");
    for load in &LOADS {
        let row = load.row().join(" | ");
        assert!(page.contains(&format!("| {row} |")), "reports/load.md lacks {row}: run `make soak`");
    }
    for (exhibit, why) in NEED_A_FAULT {
        assert!(page.contains(&format!("| {exhibit} | {why} |")), "reports/load.md lacks {exhibit}: run `make soak`");
    }
}

/// One load after the other, so that none disturbs another.
fn page_on_loads(seconds: u64) -> String {
    let watchdog_ms = from_environment(ASKED_WATCHDOG, WATCHDOG_MS);
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    let rows: Vec<Vec<String>> = LOADS
        .iter()
        .map(|load| {
            let average = load_average();
            (least, most) = (least.min(average), most.max(average));
            let watchdog_ms = load.watchdog_ms.unwrap_or(watchdog_ms);
            let seconds = if load.is_chance { seconds } else { SHORT_SECONDS };
            let cells = VERSIONS.map(|version| run(version, &[load], watchdog_ms, seconds)[0].cell(load));
            // On a page that takes so long one wants to see how far it is.
            println!("{} {}: {cells:?}", load.exhibit, load.name);
            load.row().into_iter().chain(cells).collect()
        })
        .collect();
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let mut made = String::from(INTRODUCTION);
    let _ = write!(
        made,
        "The figures are of {cores} cores, whose load average was between {least:.1} and {most:.1}, {server} and its clients on the \
         loopback interface of one machine, Java 17, and a `lockWatchdogTimeout` of {watchdog_ms} ms where no other is named, so that \
         there are many leases in little time; all other settings are those that Redisson has by default. What depends on chance ran for {seconds} s on each version. Another machine gives other shares.\n\n",
        server = servers()[0],
    );
    let head: Vec<_> = ["id", "load", "seen"].into_iter().chain(VERSIONS).collect();
    made += &table(&head, &rows);
    made += "\n## What needs a fault\n\nOf these a load on a healthy network and healthy servers shows nothing: each begins with a fault, and \
             how often that happens is a fact about an installation, and not about Redisson.\n\n";
    let reasons: Vec<Vec<String>> =
        NEED_A_FAULT.iter().map(|(id, why)| vec![(*id).to_owned(), (*why).to_owned()]).collect();
    made + &table(&["id", "what it begins with"], &reasons)
}

/// Of the last minute: other programs on the machine make requests and answers late.
fn load_average() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").expect("tests with real servers need Linux");
    text.split(' ').next().and_then(|first| first.parse().ok()).expect("it begins with a number")
}

const INTRODUCTION: &str = "# How likely the defects of the museum are

Made by `make soak` from runs of the unmodified library; `make test` runs each load once on 4.7.0, asserts what does not depend on
chance, and compares the rows of this page.

[The museum](museum.md) shows each defect step by step, with clocks that stand still and requests that wait at a gate. Here there
is no gate: real clients under the clocks of the machine use a real server as applications do. Whether a lock is held is read in
Redis by a connection of its own, and not asked of Redisson. A hold is \"lost\" if the key is gone, or names another holder, while
the thread is between lock() and unlock() and was told nothing. Each cell is how often something was seen, of how many attempts.
*Beside it* is the same load without what sets the defect off.

";
