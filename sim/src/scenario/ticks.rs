//! Advice for a time that was given in another unit than ticks: `lease = 30000`, `lease = "30s"`.

use core::time::Duration;

use lockstep_model::config::MAX_TICKS;
use toml::de::DeValue;

/// The length of a tick on a real server, unless the scenario sets it: a third of Redisson's lease.
pub(super) const TICK_MS: u32 = 10_000;

/// A bare number from here on is taken for milliseconds, as Redis and Redisson count them; a smaller one for seconds.
const LEAST_MS: u64 = 1000;

/// What a time is counted in, and how to write the one that was probably meant.
pub(super) fn advice(key: &str, value: &DeValue<'_>, tick_ms: u32) -> String {
    let tick = humantime::format_duration(Duration::from_millis(tick_ms.into()));
    let unit = format!("times are whole numbers of ticks, and a tick is {tick} here (tick_ms = {tick_ms})");
    let Some(meant) = duration(value) else { return format!("{unit}: write {key} = 3 for three ticks") };
    let (ms, tick_ms) = (meant.as_millis(), u128::from(tick_ms));
    let (ticks, shown) = (ms / tick_ms, humantime::format_duration(meant));
    if ms > u128::from(MAX_TICKS) * tick_ms {
        format!("{unit}: {shown} would be {ticks} ticks, so choose a longer tick with tick_ms in [time]")
    } else if ms.is_multiple_of(tick_ms) {
        format!("{unit}: for {shown}, write {key} = {ticks}")
    } else {
        format!("{unit}: {shown} is not a whole number of ticks, so choose a shorter tick with tick_ms in [time]")
    }
}

/// Whether the value is a time in another unit than ticks.
pub(super) fn is_duration(value: &DeValue<'_>) -> bool {
    duration(value).is_some()
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
