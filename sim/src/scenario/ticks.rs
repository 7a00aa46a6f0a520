//! Times with a unit, `lease = "30s"`, in ticks; and advice for a time that was given in another way: `lease = 30000`.

use core::time::Duration;

use lockstep_model::config::MAX_TICKS;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::code::Code;
use super::error::Problem;
use super::keys::{CLIENT, KEYS};

/// The length of a tick on a real server, unless the scenario sets it: a third of Redisson's lease.
pub(super) const TICK_MS: u32 = 10_000;

/// The maximum length of a tick: one hour.
pub const MAX_TICK_MS: u32 = 3_600_000;

/// The longest time that a scenario can have.
const LONGEST: Duration = Duration::from_secs(MAX_TICKS as u64 * MAX_TICK_MS as u64 / 1000);

/// With an fsync every second a write is on the disk after this long: Redis waits one more second for an fsync that is still
/// running (`flushAppendOnlyFile`).
pub(super) const FSYNC_WITHIN_MS: u32 = 2_000;

/// For so long after its limit a master may still count a silent replica: it measures by whole seconds, and counts once a
/// second (docs/facts/redis.md#min-replicas-in-real-time).
pub(super) const MIN_REPLICAS_SLACK_MS: u32 = 2_000;

/// The slack of a master that needs replicas, in ticks of this length, where the file does not say it.
pub fn usual_slack(tick_ms: u32) -> u8 {
    u8::try_from(MIN_REPLICAS_SLACK_MS.div_ceil(tick_ms)).unwrap_or(MAX_TICKS).min(MAX_TICKS)
}

/// A bare number from here on is taken for milliseconds, as Redis and Redisson count them; a smaller one for seconds.
const LEAST_MS: u64 = 1000;

/// How long a tick is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tick {
    pub(super) ms: u32,
    /// Whether it is what the times with units have in common, and stands nowhere in the file.
    pub(super) is_common: bool,
    /// Whether a problem says already that it does not fit the times of the file.
    pub(super) is_refused: bool,
}

/// The longest tick of which all times with units are multiples, where the file does not say how long one is. Two things are a
/// problem, and one for the whole file: a time in ticks beside them, of which nothing would say how long it is, and times
/// that have too little in common. `None`: no time has a unit.
pub(super) fn common(root: &DeTable<'_>) -> (Option<Tick>, Option<Problem>) {
    // What is longer than any tick allows is a problem of its own.
    let times: Vec<_> = timed(root).into_iter().filter(|(.., ms)| is_possible(*ms)).collect();
    let Some(ms) = tick_of(times.iter().map(|(.., ms)| ms.unsigned_abs())) else { return (None, None) };
    let problem = without_unit(root).or_else(|| too_little_in_common(&times, ms));
    let is_refused = problem.is_some();
    (Some(Tick { ms: u32::try_from(ms).unwrap_or(MAX_TICK_MS), is_common: true, is_refused }), problem)
}

/// Whether there is a tick that makes so long a time possible.
pub(super) const fn is_possible(ms: i64) -> bool {
    ms.unsigned_abs() as u128 <= LONGEST.as_millis()
}

/// The longest tick that divides all these times. A tick has a longest length: then the longest time below it that fits.
fn tick_of(times_ms: impl Iterator<Item = u64>) -> Option<u64> {
    let most = u64::from(MAX_TICK_MS);
    let ms = times_ms.filter(|ms| *ms > 0).reduce(common_divisor)?;
    Some(if ms > most { common_divisor(ms, most) } else { ms })
}

fn without_unit(root: &DeTable<'_>) -> Option<Problem> {
    let is_bare = |value: &DeValue<'_>| matches!(value, DeValue::Integer(number) if number.as_str() != "0");
    let (key, value) = times(root).find(|(_, value)| is_bare(value.get_ref()))?;
    let title = format!("`{key}` is a number of ticks, and other times have units: how long is a tick?");
    let problem = Problem::at(Code::WrongType, value.span(), title).label("this time has no unit");
    Some(problem.help(format!("write it with a unit as well, {key} = \"30s\", or add tick_ms to [time]")))
}

/// One problem where the times make a tick so short that one of them is too many ticks: at the time that is to blame, if
/// there is one.
fn too_little_in_common(times: &[TimeWithUnit<'_>], tick_ms: u64) -> Option<Problem> {
    let (longest, at, ms) = times.iter().max_by_key(|(.., ms)| ms.unsigned_abs())?;
    let ticks = ms.unsigned_abs() / tick_ms;
    if ticks <= u64::from(MAX_TICKS) {
        return None;
    }
    let tick = shown_ms(tick_ms);
    let anything = format!("choose times that have a longer one in common: at most {MAX_TICKS} ticks are possible");
    let keys_and_ms: Vec<_> = times.iter().map(|(key, _, ms)| (*key, *ms)).collect();
    let Some(awkward) = awkward(&keys_and_ms, tick_ms) else {
        let title = format!("the times of this file have too little in common: a tick is {tick}");
        let label = format!("this is {ticks} ticks");
        return Some(Problem::at(Code::OutOfBounds, at.span(), title).label(label).help(anything));
    };
    let (key, at, _) = times[awkward.index];
    let title = format!("`{key}` has too little in common with the other times of this file");
    let label = format!("this makes a tick {tick}, and {longest} {ticks} ticks");
    // What would be more than twice as long is another time, and not a rounded one.
    let is_near = awkward.nearest_ms <= 2 * awkward.ms.unsigned_abs();
    let rounded = || {
        format!(
            "write {}: a tick is then {}; at most {MAX_TICKS} are possible",
            awkward.rewritten(),
            shown_ms(awkward.tick_ms)
        )
    };
    let help = if is_near { rounded() } else { anything };
    Some(Problem::at(Code::OutOfBounds, at.span(), title).label(label).help(help))
}

/// A time that makes the tick short.
pub(crate) struct AwkwardTime {
    /// Its place among the times.
    index: usize,
    key: &'static str,
    ms: i64,
    /// The nearest time that does not.
    nearest_ms: u64,
    /// How long a tick is without it.
    pub(crate) tick_ms: u64,
}

impl AwkwardTime {
    /// What to write instead: `wait_limit = "10s" instead of "7s"`.
    pub(crate) fn rewritten(&self) -> String {
        let sign = if self.ms < 0 { "-" } else { "" };
        let typed = |ms: u64| format!("\"{sign}{}\"", shown_ms(ms));
        format!("{} = {} instead of {}", self.key, typed(self.nearest_ms), typed(self.ms.unsigned_abs()))
    }

    /// Whether what ended before a lease, or after it, still does with the nearest time: otherwise the world is another one.
    pub(crate) fn keeps_to_leases(&self, times_ms: &[(&'static str, i64)]) -> bool {
        let from_ms = self.ms.unsigned_abs();
        times_ms.iter().all(|(other, ms)| {
            let (is_of_lease, ms) = ([self.key, other].iter().any(|key| key.ends_with("lease")), ms.unsigned_abs());
            !is_of_lease || ms == from_ms || from_ms.cmp(&ms) == self.nearest_ms.cmp(&ms)
        })
    }
}

/// The one time whose rounding makes the tick longest; `None`: no single one makes it longer.
pub(crate) fn awkward(times_ms: &[(&'static str, i64)], tick_ms: u64) -> Option<AwkwardTime> {
    let without = |(index, (key, ms)): (usize, &(&'static str, i64))| {
        // The same time may stand in the tables of several clients.
        let others = times_ms.iter().map(|(_, other)| other.unsigned_abs()).filter(|other| *other != ms.unsigned_abs());
        let tick = tick_of(others)?;
        let nearest_ms = ((ms.unsigned_abs() + tick / 2) / tick).max(1) * tick;
        Some(AwkwardTime { index, key, ms: *ms, nearest_ms, tick_ms: tick })
    };
    let found = times_ms.iter().enumerate().filter_map(without).max_by_key(|found| found.tick_ms)?;
    (found.tick_ms > tick_ms).then_some(found)
}

fn shown_ms(ms: u64) -> String {
    humantime::format_duration(Duration::from_millis(ms)).to_string()
}

/// Every key of the file whose value is a time.
fn times<'a>(root: &'a DeTable<'a>) -> impl Iterator<Item = (&'static str, &'a Spanned<DeValue<'a>>)> {
    let of_clients = root.get(CLIENT).and_then(|tables| tables.get_ref().as_array());
    let of_clients = move || of_clients.into_iter().flatten().filter_map(|table| table.get_ref().as_table());
    KEYS.iter().filter(|key| key.is_in_ticks()).flat_map(move |key| {
        let common = root.get(key.table).and_then(|table| table.get_ref().as_table());
        let own = of_clients().filter(|_| key.is_of_client);
        common.into_iter().chain(own).filter_map(|table| Some((key.name, table.get(key.name)?)))
    })
}

/// A key whose value has a unit, that value, and the time in ms.
type TimeWithUnit<'a> = (&'static str, &'a Spanned<DeValue<'a>>, i64);

fn timed<'a>(root: &'a DeTable<'a>) -> Vec<TimeWithUnit<'a>> {
    times(root).filter_map(|(key, value)| Some((key, value, in_ms(value.get_ref())?))).collect()
}

/// Every key whose value has a unit, and that time in ms.
pub(super) fn with_units(root: &DeTable<'_>) -> Vec<(&'static str, i64)> {
    timed(root).into_iter().map(|(key, _, ms)| (key, ms)).collect()
}

/// The greatest common divisor.
pub(crate) const fn common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// A time with a unit, in ms: `"30s"`, or `"-20s"` for a jump. `None`: it has none, or is no whole number of ms.
pub(super) fn in_ms(value: &DeValue<'_>) -> Option<i64> {
    ms_of(value.as_str()?)
}

/// The same, of a text.
pub(crate) fn ms_of(text: &str) -> Option<i64> {
    let text = text.trim();
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest.trim_start()));
    let time = parsed(text).filter(|time| time.subsec_nanos() % 1_000_000 == 0)?;
    Some(sign * i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
}

/// A time with a unit; one that is too long to be counted is the longest that can be.
fn parsed(text: &str) -> Option<Duration> {
    match humantime::parse_duration(text) {
        Ok(time) => Some(time),
        // The same error is that of a fraction of a nanosecond.
        Err(humantime::DurationError::NumberOverflow) if !text.contains('.') => Some(Duration::from_secs(u64::MAX)),
        Err(_) => None,
    }
}

/// What a time is counted in, and how to write the one that was probably meant.
pub(super) fn advice(key: &str, value: &DeValue<'_>, tick: Tick) -> String {
    let Tick { ms: tick_ms, is_common, .. } = tick;
    if let Some(given) = value.as_str().and_then(|text| parsed(text.trim().trim_start_matches('-').trim_start())) {
        if given.subsec_nanos() % 1_000_000 != 0 {
            let shown = humantime::format_duration(given);
            return format!("{shown} is not a whole number of milliseconds: the units of times are ms, s, m and h");
        }
        if given > LONGEST {
            let hours = LONGEST.as_secs() / 3600;
            return format!("the longest time is {hours}h: {MAX_TICKS} ticks of an hour, the longest tick");
        }
    }
    let tick = humantime::format_duration(Duration::from_millis(tick_ms.into()));
    if is_common && in_ms(value).is_none() {
        return format!("write a unit, {key} = \"30s\" (ms, s, m or h): the other times of this file have one");
    }
    if is_common {
        return format!(
            "a tick is {tick} here, the longest time of which all times of this file are multiples: choose times that have a \
             longer one in common, so that each is {MAX_TICKS} ticks or less"
        );
    }
    let unit = format!("times are whole numbers of ticks, and a tick is {tick} here (tick_ms = {tick_ms})");
    let Some(meant) = duration(value) else { return format!("{unit}: write {key} = 3 for three ticks") };
    let (ms, tick_ms) = (meant.as_millis(), u128::from(tick_ms));
    let (ticks, shown) = (ms / tick_ms, humantime::format_duration(meant));
    if ms > u128::from(MAX_TICKS) * tick_ms {
        format!("{unit}: {shown} would be {ticks} ticks, so choose a longer tick with tick_ms in [time]")
    } else if ms.is_multiple_of(tick_ms) && meant.subsec_nanos() % 1_000_000 == 0 {
        format!("{unit}: for {shown}, write {key} = {ticks}")
    } else {
        format!("{unit}: {shown} is not a whole number of ticks, so choose a shorter tick with tick_ms in [time]")
    }
}

fn duration(value: &DeValue<'_>) -> Option<Duration> {
    let positive = |duration: &Duration| !duration.is_zero();
    match value {
        DeValue::String(text) => match text.trim().parse::<u64>() {
            Ok(number) => of_number(number),
            Err(_) => humantime::parse_duration(text.trim()).ok(),
        },
        DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok().and_then(of_number),
        _ => None,
    }
    .filter(positive)
}

/// A number within the bounds of ticks is probably meant as ticks.
fn of_number(number: u64) -> Option<Duration> {
    if number <= MAX_TICKS.into() {
        None
    } else if number < LEAST_MS {
        Some(Duration::from_secs(number))
    } else {
        Some(Duration::from_millis(number))
    }
}
