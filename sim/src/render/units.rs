//! Numbers, times and lists as a person writes them.

use lockstep_model::Config;

use crate::plain_text::thousands;

/// A number of ticks as a time: `250 ms`, `30 s`, `1.5 s`.
pub fn time(config: &Config, ticks: u32) -> String {
    duration(u64::from(ticks) * u64::from(config.time.tick_ms))
}

/// How long something will last, in milliseconds, as a time: `30 s`. The model tells none apart that are longer than any run: `over 2500 s`.
pub fn lasting(config: &Config, ms: u64) -> String {
    let is_far = i64::try_from(ms).is_ok_and(|ms| ms >= config.far_ms());
    let time = duration(ms);
    if is_far { format!("over {time}") } else { time }
}

/// Milliseconds as a time: `250 ms`, `30 s`, `1.5 s`.
pub fn duration(ms: u64) -> String {
    match ms {
        0 => "0 s".to_owned(),
        1..1000 => format!("{ms} ms"),
        _ if ms.is_multiple_of(1000) => format!("{} s", ms / 1000),
        _ => {
            let fraction = format!("{:03}", ms % 1000);
            format!("{}.{} s", ms / 1000, fraction.trim_end_matches('0'))
        }
    }
}

/// The same of ticks.
pub fn lasting_ticks(config: &Config, ticks: u32) -> String {
    lasting(config, u64::from(ticks) * u64::from(config.time.tick_ms))
}

/// `A`, `A and B`, `A, B and C`.
pub fn list<S: AsRef<str>>(names: &[S]) -> String {
    match names {
        [] => "nobody".to_owned(),
        [only] => only.as_ref().to_owned(),
        [rest @ .., last] => {
            format!("{} and {}", rest.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", "), last.as_ref())
        }
    }
}

/// `1 step`, `2 steps`, `12 345 steps`.
pub fn count(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", thousands(number as u64))
}

/// How far a clock jumps: `ahead by 40 s`, `back by 40 s`.
pub fn jump(config: &Config) -> String {
    let by = time(config, config.time.jump.unsigned_abs().into());
    if config.time.jump < 0 { format!("back by {by}") } else { format!("ahead by {by}") }
}
