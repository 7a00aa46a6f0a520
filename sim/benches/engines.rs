//! Measures the speed and the peak memory of the engines: `make bench`.
//!
//! Every run is a separate process, so that none inherits another's memory. The runs of one size alternate, so that
//! other load on the machine affects all of them. The page shows medians, and ratios of medians.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Instant;
use std::{env, fs, thread};

use clap::{Parser, ValueEnum};
use comfy_table::{Table, presets};
use lockstep_model::properties::Property;
use lockstep_model::{Config, InLayout, Layout, World, in_layout};
use lockstep_sim::check::second_opinion::{self, Counted, SearchOrder};
use lockstep_sim::check::{Engine, How, Limits, check_as, native, search};
use lockstep_sim::render::words::thousands;
use lockstep_sim::scenario::{BuiltIn, Scenario};
use serde::{Deserialize, Serialize};

/// The scenario of the narrow worlds: it has no faults, one node, and many ways to interleave four threads.
const NARROW: &str = "two-threads-one-is-woken";
/// The scenario of the wide world: three clients and two replicas make the layers wide, so many states wait in memory.
const WIDE: &str = "failover-to-the-wrong-replica";
/// Scenarios whose liveness pass is measured: large ones, of different kinds.
const PROMISES: [&str; 4] =
    ["two-threads-one-is-woken", "third-client-is-woken", "failover-while-waiting", "newcomers-starve-a-waiter"];
/// The page that this benchmark writes.
const PAGE: &str = "reports/performance.md";

#[derive(Parser)]
struct BenchArgs {
    /// How often each run is repeated.
    #[arg(long, default_value_t = 5)]
    repeat: usize,
    /// Run only these sizes.
    #[arg(long, value_enum)]
    size: Vec<BenchSize>,
    /// Write the page.
    #[arg(long)]
    write: bool,
    /// Do one run and answer in JSON: used by this program to start itself.
    #[arg(long, hide = true)]
    run: Option<String>,
    /// The flag that `cargo bench` adds.
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
enum BenchSize {
    Small,
    Medium,
    Large,
    Wide,
}

impl BenchSize {
    const ALL: [Self; 4] = [Self::Small, Self::Medium, Self::Large, Self::Wide];

    /// The scenario, with this many acquires for each client; the wide world has a third client.
    fn config(self) -> Config {
        let mut config = builtin(if self == Self::Wide { WIDE } else { NARROW }).config;
        config.clients.acquires = match self {
            Self::Small | Self::Wide => Some(2),
            Self::Medium => Some(3),
            Self::Large => None,
        };
        if self == Self::Wide {
            config.clients.count = 3;
        }
        config
    }

    fn words(self) -> &'static str {
        match self {
            Self::Small => "2 acquires",
            Self::Medium => "3 acquires",
            Self::Large => "unlimited acquires",
            Self::Wide => "wide: 3 clients, 2 acquires, 2 replicas",
        }
    }
}

/// The engine that runs, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Runner {
    /// Every world is kept, as stateright does.
    Native {
        threads: usize,
    },
    /// As `lockstep check` searches by default, on one thread.
    NormalForms,
    Stateright {
        order: Depth,
        threads: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Depth {
    Breadth,
    First,
}

impl Runner {
    const ALL: [Self; 6] = [
        Self::Native { threads: 1 },
        Self::Native { threads: 2 },
        Self::Stateright { order: Depth::Breadth, threads: 1 },
        Self::Stateright { order: Depth::Breadth, threads: 2 },
        Self::NormalForms,
        Self::Stateright { order: Depth::First, threads: 1 },
    ];

    fn words(self) -> String {
        match self {
            Self::Native { threads } => format!("native, {threads} thread{}", plural(threads)),
            Self::NormalForms => "native, 1 thread, normal forms".to_owned(),
            Self::Stateright { order, threads } => {
                let order = if order == Depth::Breadth { "BFS" } else { "DFS" };
                format!("stateright {order}, {threads} thread{}", plural(threads))
            }
        }
    }
}

/// One run, requested as one JSON argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Job {
    size: BenchSize,
    runner: Runner,
}

/// The result of one run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Measured {
    states: u64,
    generated: u64,
    seconds: f64,
    /// Peak memory of the process, less what it used before the run.
    peak_bytes: u64,
}

fn main() -> ExitCode {
    let asked = BenchArgs::parse();
    if let Some(job) = &asked.run {
        let job: Job = serde_json::from_str(job).expect("this program asks itself");
        println!("{}", serde_json::to_string(&run(job)).expect("numbers can be told"));
        return ExitCode::SUCCESS;
    }
    let sizes = if asked.size.is_empty() { BenchSize::ALL.to_vec() } else { asked.size.clone() };
    let measured: Vec<(BenchSize, Vec<Measured>)> =
        sizes.into_iter().map(|size| (size, measure(size, asked.repeat.max(1)))).collect();
    let promises: Vec<_> = PROMISES.into_iter().map(|name| (name, liveness(name, asked.repeat.max(1)))).collect();
    let page = page(&measured, &promises, asked.repeat.max(1));
    if asked.write {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(PAGE);
        fs::write(path, &page).expect("the page can be written");
        eprintln!("{PAGE} is written");
    }
    println!("{page}");
    ExitCode::SUCCESS
}

/// The medians of one size, one for each of [`Runner::ALL`].
fn measure(size: BenchSize, repeat: usize) -> Vec<Measured> {
    let mut runs: Vec<Vec<Measured>> = vec![Vec::new(); Runner::ALL.len()];
    for turn in 1..=repeat {
        for (runner, runs) in Runner::ALL.into_iter().zip(&mut runs) {
            // stateright's DFS did not finish the large size when it was tried.
            if size == BenchSize::Large && matches!(runner, Runner::Stateright { order: Depth::First, .. }) {
                continue;
            }
            let measured = in_a_process(Job { size, runner });
            eprintln!("{turn}/{repeat}  {:40}  {:24}  {:7.2} s", size.words(), runner.words(), measured.seconds);
            runs.push(measured);
        }
    }
    runs.into_iter()
        .filter(|runs| !runs.is_empty())
        .map(|runs| Measured {
            seconds: median(runs.iter().map(|run| run.seconds).collect()),
            peak_bytes: runs.iter().map(|run| run.peak_bytes).max().unwrap_or_default(),
            ..runs[0]
        })
        .collect()
}

fn in_a_process(job: Job) -> Measured {
    let myself = env::current_exe().expect("a program knows where it stands");
    let job = serde_json::to_string(&job).expect("a job can be told");
    let told = Command::new(myself).args(["--run", &job]).output().expect("it can be started again");
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    serde_json::from_slice(&told.stdout).expect("it answers in JSON")
}

fn run(job: Job) -> Measured {
    let config = job.size.config();
    let before = most_bytes();
    let started = Instant::now();
    let Counted { states, generated } = match job.runner {
        Runner::Native { .. } | Runner::NormalForms => {
            let (threads, normal_forms) = match job.runner {
                Runner::Native { threads } => (threads, false),
                Runner::NormalForms | Runner::Stateright { .. } => (1, true),
            };
            let native = native::Options { threads, normal_forms, ..native::Options::default() };
            let how = How { native, ..How::by(Engine::Native) };
            let properties: Vec<_> =
                Property::SAFETY.into_iter().filter(|property| property.applies(&config).is_ok()).collect();
            let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
            let found = search(&config, &properties, how, &no_limits(&stop, &progress));
            Counted { states: found.states, generated: found.generated }
        }
        Runner::Stateright { order, threads } => {
            let order = if order == Depth::Breadth { SearchOrder::Breadth } else { SearchOrder::Depth };
            in_layout(&config, Race { order, threads })
        }
    };
    let seconds = started.elapsed().as_secs_f64();
    Measured { states, generated, seconds, peak_bytes: most_bytes().saturating_sub(before) }
}

struct Race {
    order: SearchOrder,
    threads: usize,
}

impl InLayout for Race {
    type Output = Counted;

    fn run<Y: Layout>(self, config: &Config) -> Counted {
        second_opinion::race::<Y>(config, self.order, self.threads)
    }
}

/// Median seconds of the safety search and of the liveness pass, and the number of states.
fn liveness(name: &str, repeat: usize) -> (u64, f64, f64) {
    let scenario = builtin(name);
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let outcomes: Vec<_> = (0..repeat)
        .map(|_| check_as(&scenario, How::by(Engine::Native), &no_limits(&stop, &progress)).expect("it is checked"))
        .collect();
    let promised = |outcome: &lockstep_sim::check::CheckOutcome| outcome.liveness_seconds.unwrap_or_default();
    let safety = median(outcomes.iter().map(|outcome| outcome.seconds - promised(outcome)).collect());
    (outcomes[0].states, safety, median(outcomes.iter().map(promised).collect()))
}

fn page(measured: &[(BenchSize, Vec<Measured>)], promises: &[(&str, (u64, f64, f64))], repeat: usize) -> String {
    let mut page = format!(
        "# How fast\n\n\
         Made by `make bench`: every run a process of its own, in turns, {repeat} of each; medians. Times are of this \
         machine and of no other; ratios travel better.\n\n{}\n\
         The narrow worlds are of `{NARROW}` with 2, 3, and unlimited acquires per client; the wide one is of \
         `{WIDE}` with a third client. Every engine checks the same properties in every state; stateright gets the \
         model without anything that observes it. Its depth-first search is left out at the largest size: it did not \
         end when it was tried. With normal forms, which `lockstep check` keeps by default, worlds that can never again \
         be told apart, or differ only by the order of alike clients or replicas, are one state: the row has a number of states of its own.\n",
        machine()
    );
    for (size, runs) in measured {
        let Measured { states, generated, .. } = runs[0];
        let counts_all = |(runner, _): &(Runner, &Measured)| *runner != Runner::NormalForms;
        let mut counted = Runner::ALL.into_iter().zip(runs).filter(counts_all);
        assert!(counted.all(|(_, run)| run.states == states), "the engines count the same states");
        write!(
            page,
            "\n## {} distinct states, {} generated ({}; {} bytes a state)\n\n{}",
            thousands(states),
            thousands(generated),
            size.words(),
            in_layout(&size.config(), WorldBytes),
            table(
                &["", "states", "s", "distinct/s", "generated/s", "peak MB", "bytes/state"],
                Runner::ALL.into_iter().zip(runs).map(|(runner, run)| vec![
                    runner.words(),
                    thousands(run.states),
                    format!("{:.2}", run.seconds),
                    rate(run.states, run.seconds),
                    rate(run.generated, run.seconds),
                    format!("{:.0}", mega(run.peak_bytes)),
                    format!("{:.0}", ratio(run.peak_bytes, run.states)),
                ])
            )
        )
        .expect("a string takes everything");
    }
    page.push_str("\n## Ratios\n\n");
    page.push_str(&table(
        &[
            "states",
            "native ÷ stateright BFS, 1 thread",
            "the same, 2 threads",
            "bytes, native ÷ stateright BFS",
            "native, 2 threads ÷ 1",
        ],
        measured.iter().map(|(_, runs)| {
            vec![
                thousands(runs[0].states),
                format!("{:.1} ×", runs[2].seconds / runs[0].seconds),
                format!("{:.1} ×", runs[3].seconds / runs[1].seconds),
                format!("{:.2}", ratio(runs[0].peak_bytes, runs[2].peak_bytes)),
                format!("{:.2} ×", runs[0].seconds / runs[1].seconds),
            ]
        }),
    ));
    page.push_str(
        "\n## Liveness\n\nThe pass over fair paths, beside the safety search of the same scenario, 1 thread.\n\n",
    );
    page.push_str(&table(
        &["scenario", "states", "safety, ms", "liveness, ms", "liveness ÷ safety"],
        promises.iter().map(|&(name, (states, safety, pass))| {
            vec![
                format!("`{name}`"),
                thousands(states),
                format!("{:.1}", safety * 1000.0),
                format!("{:.1}", pass * 1000.0),
                format!("{:.2}", pass / safety),
            ]
        }),
    ));
    page.push_str("\nWritten anew by `make bench`.\n");
    page
}

/// A Markdown table that is also readable as plain text: names left-aligned, numbers right-aligned.
fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(head.iter().copied());
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(comfy_table::CellAlignment::Right);
    }
    format!("{table}\n")
}

struct WorldBytes;

impl InLayout for WorldBytes {
    type Output = usize;

    fn run<Y: Layout>(self, _: &Config) -> usize {
        size_of::<World<Y>>()
    }
}

/// The machine that the benchmark runs on, as far as it matters.
fn machine() -> String {
    let field = |file: &str, name: &str| {
        let text = fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_once(':').map_or("unknown", |(_, value)| value.trim()).to_owned()
    };
    let cores = thread::available_parallelism().map_or(0, usize::from);
    format!(
        "| machine | |\n| --- | --- |\n| processor | {}, {cores} cores |\n| memory | {} |\n| system | {} {} |\n",
        field("/proc/cpuinfo", "model name"),
        field("/proc/meminfo", "MemTotal"),
        env::consts::OS,
        env::consts::ARCH,
    )
}

/// The peak memory of this process, bytes.
fn most_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status.lines().find(|line| line.starts_with("VmHWM")).expect("of a running process");
    let kilobytes: u64 = line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("a number of kB");
    kilobytes * 1024
}

fn builtin(name: &str) -> Scenario {
    BuiltIn::named(name).expect("a built-in scenario").scenario()
}

fn no_limits<'a>(stop: &'a AtomicBool, progress: &'a AtomicU64) -> Limits<'a> {
    Limits::none(stop, progress)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// Formats a number as `1.23 M`.
#[expect(clippy::cast_precision_loss, reason = "three digits are told")]
fn rate(count: u64, seconds: f64) -> String {
    format!("{:.2} M", count as f64 / seconds / 1e6)
}

#[expect(clippy::cast_precision_loss, reason = "three digits are told")]
fn mega(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

#[expect(clippy::cast_precision_loss, reason = "three digits are told")]
fn ratio(bytes: u64, states: u64) -> f64 {
    bytes as f64 / states as f64
}
