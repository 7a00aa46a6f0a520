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

/// A bare number from here on is taken for milliseconds, as Redis and Redisson count them; a smaller one for seconds.
const LEAST_MS: u64 = 1000;

/// How long a tick is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tick {
    pub(super) ms: u32,
    /// Whether it is what the times with units have in common, and stands nowhere in the file.
    pub(super) is_common: bool,
}

/// The longest tick of which all times with units are multiples, where the file does not say how long one is. A time in ticks
/// beside them is a problem: nothing would say how long it is. `None`: no time has a unit.
pub(super) fn common(root: &DeTable<'_>) -> (Option<Tick>, Option<Problem>) {
    let units = with_units(root).into_iter().map(|(_, ms)| ms.unsigned_abs());
    let Some(ms) = units.filter(|ms| *ms > 0).reduce(common_divisor) else { return (None, None) };
    // A tick has a longest length: then the longest time below it that fits.
    let ms = u32::try_from(ms)
        .ok()
        .filter(|ms| *ms <= MAX_TICK_MS)
        .map_or_else(|| common_divisor(ms, MAX_TICK_MS.into()), u64::from);
    let ms = u32::try_from(ms).unwrap_or(MAX_TICK_MS);
    let is_bare = |value: &DeValue<'_>| matches!(value, DeValue::Integer(number) if number.as_str() != "0");
    let bare = times(root).find(|(_, value)| is_bare(value.get_ref()));
    let problem = bare.map(|(key, value)| {
        let title = format!("`{key}` is a number of ticks, and other times have units: how long is a tick?");
        let problem = Problem::at(Code::WrongType, value.span(), title).label("this time has no unit");
        problem.help(format!("write it with a unit as well, {key} = \"30s\", or add tick_ms to [time]"))
    });
    (Some(Tick { ms, is_common: true }), problem)
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

/// Every key whose value has a unit, and that time in ms.
pub(super) fn with_units(root: &DeTable<'_>) -> Vec<(&'static str, i64)> {
    times(root).filter_map(|(key, value)| Some((key, in_ms(value.get_ref())?))).collect()
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
    let time = humantime::parse_duration(text).ok().filter(|time| time.subsec_nanos() % 1_000_000 == 0)?;
    i64::try_from(time.as_millis()).ok().map(|ms| sign * ms)
}

/// What a time is counted in, and how to write the one that was probably meant.
pub(super) fn advice(key: &str, value: &DeValue<'_>, tick: Tick) -> String {
    let Tick { ms: tick_ms, is_common } = tick;
    if let Some(given) =
        value.as_str().and_then(|text| humantime::parse_duration(text.trim().trim_start_matches('-')).ok())
    {
        let shown = humantime::format_duration(given);
        if given.subsec_nanos() % 1_000_000 != 0 {
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
